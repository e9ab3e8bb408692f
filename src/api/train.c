/* api/train.c: what a program reads, and training step by step. */
#include "api/internal.h"
#include "base/sha256.h"

static tern_slot slot_of(const tn_graph *graph, tn_value value) {
  const tn_node *node = tn_graph_node(graph, value);
  const tn_shape *shape = &node->type.shape;
  tern_slot slot = { .name = tn_names_text(graph->names, node->attrs->name).at,
                     .dtype = (tern_dtype)node->type.dtype,
                     .rank = shape->rank };
  for (int i = 0; i < shape->rank; i++) {
    bool symbol = tn_dim_is_symbol(shape->dim[i]);
    slot.dims[i] = tn_dim_is_known(shape->dim[i]) ? shape->dim[i] : -1;
    slot.dim_names[i] = symbol ? tn_names_text(graph->names, tn_dim_name(shape->dim[i])).at : NULL;
  }
  return slot;
}

static const tn_graph *graph_of(const tern_program *program) {
  return program->graph ? tn_graph_program_source(program) : NULL;
}

size_t tern_input_count(const tern_program *program) {
  return program->graph ? graph_of(program)->inputs.count : 0;
}
size_t tern_param_count(const tern_program *program) {
  return program->graph ? graph_of(program)->params.count : 0;
}

tern_slot tern_input_at(const tern_program *program, size_t index) {
  if (index >= tern_input_count(program)) return (tern_slot){ .name = "" };
  return slot_of(graph_of(program), graph_of(program)->inputs.at[index]);
}

tern_slot tern_param_at(const tern_program *program, size_t index) {
  if (index >= tern_param_count(program)) return (tern_slot){ .name = "" };
  return slot_of(graph_of(program), graph_of(program)->params.at[index]);
}

static tern_status only_graphs(tern_program *program) {
  tn_api_usage(program->session, "", TN_LIT("step by step"), " training is for programs written as graphs");
  return TERN_USAGE;
}

static tern_status outcome(tern_session *session, bool ok) {
  if (ok) return TERN_OK;
  tern_status status = tn_api_status(session);
  return status == TERN_OK ? TERN_FAILED : status;
}

tern_status tern_train_begin(tern_program *program, const tern_training *training) {
  if (tern_check(program) != TERN_OK) return program->status;
  if (!program->graph) return only_graphs(program);
  return outcome(program->session, tn_graph_program_train(program, training));
}

tern_status tern_train_step(tern_program *program, double *loss) {
  if (!program->graph) return only_graphs(program);
  return outcome(program->session, tn_graph_program_step(program, loss));
}

/* Of the elements as they are stored in files: row-major, little-endian. */
const char *tern_params_sha256(tern_program *program) {
  tern_session *session = program->session;
  tn_sha256 hash;
  uint8_t digest[32];
  tn_sha256_init(&hash);
  for (size_t i = 0; i < tern_param_count(program); i++) {
    const tn_view *view = tn_graph_program_param(program, i);
    if (!view) return NULL;
    tn_view_sha256_update(view, &hash);
  }
  tn_sha256_final(&hash, digest);
  tn_text_clear(&session->text);
  tn_text_hex(&session->text, digest, sizeof digest);
  return tn_api_text(session);
}
