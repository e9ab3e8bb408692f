/* train/predict.c: runs a trained model on new rows.
 *
 * The program is lowered for a few rows first, to see what the prediction needs: which inputs, the
 * limits of token ids, the form of the answers, and whether rows are independent. Then the rows are
 * read in chunks, and a plan for a whole chunk computes them. The last chunk has a separate plan. */
#include "train/predict.h"

#include <string.h>

#include "data/table.h"
#include "graph/builder.h"
#include "train/indices.h"
#include "train/predict_internal.h"
#include "train/rows.h"

/* The model for a number of rows. */
typedef struct {
  size_t rows; /* 0: none yet */
  tn_sizes sizes;
  tn_lowered lowered;
  tn_plan *plan;
  tn_tensor *inputs; /* by input; those that the answer does not need are empty */
} batch;

typedef struct {
  tn_trained trained;
  const tn_predict_options *options;
  bool *wanted;    /* by input: the answer needs it */
  int64_t *limits; /* by input: every number of it is below; INT64_MAX: any */
  tn_str *tables;  /* by input: the function that looks it up */
  batch batch;
  tn_answer_kind kind;
  tn_answer_writer writer;
} predictor;

static bool out_of_memory(const predictor *p) { return tn_trained_no_memory(&p->trained); }

static bool report_fault(const predictor *p, const tn_fault *fault) {
  return tn_trained_fault(&p->trained, fault);
}

static tn_str input_name(const predictor *p, size_t input) { return tn_trained_input(&p->trained, input); }

static bool is_given(const predictor *p, size_t input) { return tn_trained_is_given(&p->trained, input); }

/* ---- a batch ---- */

/* Whether other inputs have all lengths of this one, as tokens [B, T] have those of labels [B, T]. */
static bool follows_others(const predictor *p, size_t input) {
  const tn_specs *specs = &p->trained.program.specs;
  const tn_shape *shape = &specs->inputs[input].type.shape;
  for (int d = 1; d < shape->rank; d++) {
    bool found = tn_dim_is_known(shape->dim[d]);
    for (size_t i = 0; !found && i < specs->input_count; i++) {
      const tn_shape *other = &specs->inputs[i].type.shape;
      for (int k = 0; i != input && k < other->rank; k++) found = found || other->dim[k] == shape->dim[d];
    }
    if (!found) return false;
  }
  return shape->rank > 1;
}

/* What so many rows are for an input; rank -1: only the command line says, or other inputs. */
static tn_shape shape_of(const predictor *p, size_t input, int64_t rows, const tn_rows *read) {
  const tn_input_facts *facts = &p->trained.facts.inputs[input];
  size_t width = facts->width;
  bool label = p->trained.program.specs.inputs[input].kind == TN_DATA_LABELS;
  if (!facts->known || (label && follows_others(p, input))) return (tn_shape){ .rank = -1 };
  if (read && p->wanted[input] && read->column_of[input] >= 0)
    width = read->columns.at[read->column_of[input]].width;
  tn_shape shape = p->trained.program.specs.inputs[input].type.shape;
  if (shape.rank > 0) shape.dim[0] = rows;
  bool divides = shape.rank > 0 && tn_shape_count(&shape) == rows * (int64_t)width;
  return divides ? shape : tn_shape_make(2, rows, (int64_t)width);
}

static bool size(predictor *p, size_t rows, const tn_rows *read, tn_sizes *out) {
  size_t count = p->trained.program.specs.input_count;
  tn_shape *given = tn_arena_array(p->trained.arena, count + 1, sizeof *given);
  if (!given) return out_of_memory(p);
  for (size_t i = 0; i < count; i++) given[i] = shape_of(p, i, (int64_t)rows, read);
  tn_size_request request = { .given = given,
                              .batch = (int64_t)rows,
                              .no_defaults = p->trained.program.dataset != NULL };
  return p->trained.program.doors->size(p->trained.program.model, &request, p->trained.arena, out);
}

static bool lower(predictor *p, size_t rows, const tn_rows *read, tn_sizes *sizes, tn_lowered *out) {
  return size(p, rows, read, sizes) &&
         p->trained.program.doors->lower(p->trained.program.model, sizes, TN_LOWER_INFERENCE, out);
}

static void free_batch(predictor *p) {
  batch *b = &p->batch;
  tn_plan_free(b->plan);
  for (size_t i = 0; b->inputs && i < p->trained.program.specs.input_count; i++) {
    if (b->inputs[i].buffer) tn_tensor_unref(&b->inputs[i]);
  }
  tn_lowered_free(&b->lowered, p->trained.host->heap);
  *b = (batch){ 0 };
}

/* Only the answer stays an output: probabilities where labels are compared with it. */
static bool keep_answer(predictor *p, tn_lowered *lowered) {
  tn_graph *graph = &lowered->graph;
  tn_value value = graph->outputs.at[lowered->logits].value;
  if (lowered->classifies) {
    tn_graph_builder builder;
    tn_graph_builder_init(&builder, graph);
    value = tn_build(&builder.base, TN_OP_SOFTMAX, &value, 1, &(tn_attrs){ .axis = -1 });
    if (!tn_build_ok(&builder.base)) return report_fault(p, &builder.base.fault);
  }
  graph->outputs.at[0] = (tn_output){ graph->outputs.at[lowered->logits].name, value };
  graph->outputs.count = 1;
  return true;
}

/* The values of --input are in the units of the data; the model's are normalized. */
static bool take_given(predictor *p, size_t input, tn_tensor *out) {
  const tn_input_facts *facts = &p->trained.facts.inputs[input];
  tn_tensor value;
  if (!p->trained.program.doors->supplied(p->trained.program.model, input, &value)) return false;
  if (!facts->mean || tn_view_count(&value.view) % (int64_t)facts->width != 0) return *out = value, true;
  tn_shape shape = tn_view_shape(&value.view);
  bool ok = tn_tensor_new(p->trained.host->heap, TN_F32, &shape, out) || out_of_memory(p);
  for (int64_t i = 0; ok && i < tn_view_count(&value.view); i++) {
    size_t item = (size_t)i % facts->width;
    double number = tn_view_get_f64(&value.view, i);
    tn_view_set_f64(&out->view, i, (number - facts->mean[item]) / facts->deviation[item]);
  }
  tn_tensor_unref(&value);
  return ok;
}

static bool make_input(predictor *p, batch *b, size_t input) {
  if (is_given(p, input)) return take_given(p, input, &b->inputs[input]);
  tn_dtype dtype = p->trained.program.specs.inputs[input].type.dtype;
  return tn_tensor_zeros(p->trained.host->heap, dtype, &b->sizes.inputs[input], &b->inputs[input]) ||
         out_of_memory(p);
}

/* Inputs that the answer does not need have a place among those of the plan, and are never read. */
static bool make_inputs(predictor *p, batch *b) {
  size_t count = p->trained.program.specs.input_count;
  b->inputs = tn_arena_array(p->trained.arena, count + 1, sizeof *b->inputs);
  if (!b->inputs) return out_of_memory(p);
  for (size_t i = 0; i < count; i++) {
    if (!p->wanted[i]) continue;
    if (!make_input(p, b, i)) return false;
    tn_plan_bind_input(b->plan, (int)i, &b->inputs[i].view);
  }
  return true;
}

/* The model for the rows that were read, unless the last ones were as many. */
static bool make_batch(predictor *p, size_t rows, const tn_rows *read) {
  batch *b = &p->batch;
  if (b->rows == rows) return true;
  free_batch(p);
  bool ok = lower(p, rows, read, &b->sizes, &b->lowered) && keep_answer(p, &b->lowered) &&
            p->trained.program.doors->allow(p->trained.program.model, &b->lowered.graph) &&
            tn_trained_params(&p->trained, &b->sizes) &&
            (b->plan = tn_trained_plan(&p->trained, &b->lowered.graph, NULL)) != NULL && make_inputs(p, b);
  if (ok) b->rows = rows;
  return ok;
}

/* ---- what the answer needs ---- */

static bool note_limit(void *context, const tn_node *node, int64_t limit, size_t input) {
  predictor *p = context;
  if (limit >= p->limits[input]) return true;
  p->limits[input] = limit;
  p->tables[input] = p->trained.program.doors->called(p->trained.program.model, node->op, node->at);
  return true;
}

/* What is predicted, if it is an input of numbers that the loss compares the answer with: the data has its
 * units. */
static void find_units(predictor *p, const tn_graph *graph, const bool *of_loss) {
  const tn_input_facts *found = NULL;
  size_t targets = 0;
  for (size_t i = 0; i < p->trained.program.specs.input_count; i++) {
    if (!of_loss[graph->inputs.at[i]] || p->wanted[i]) continue;
    targets++;
    if (p->trained.facts.inputs[i].mean) found = &p->trained.facts.inputs[i];
  }
  if (targets != 1 || !found || p->kind.classifies || found->width != p->kind.width) return;
  p->kind.mean = found->mean;
  p->kind.deviation = found->deviation;
}

static void find_classes(predictor *p) {
  for (size_t i = 0; p->kind.classifies && i < p->trained.program.specs.input_count; i++) {
    if (p->trained.program.specs.inputs[i].kind != TN_DATA_LABELS) continue;
    p->kind.classes = p->trained.facts.inputs[i].classes;
    p->kind.class_count = p->trained.facts.inputs[i].class_count;
  }
}

/* "the answer of row i alone" */
static bool joins_rows(predictor *p) {
  return tn_report(p->trained.host->diags, TN_DIAG_E_ROWS_NOT_INDEPENDENT, TN_NOWHERE,
                   TN_TEXT("output", p->kind.name));
}

static bool find_kind(predictor *p, const tn_lowered *lowered, size_t rows) {
  const tn_output *output = &lowered->graph.outputs.at[lowered->logits];
  const tn_shape *shape = &tn_graph_type(&lowered->graph, output->value)->shape;
  p->kind.name = tn_names_text(p->trained.host->names, output->name);
  p->kind.classifies = lowered->classifies;
  if (shape->rank < 1 || shape->dim[0] != (int64_t)rows) return joins_rows(p);
  p->kind.shape.rank = shape->rank - 1;
  p->kind.groups = 1;
  for (int i = 1; i < shape->rank; i++) p->kind.shape.dim[i - 1] = shape->dim[i];
  p->kind.width = (size_t)tn_shape_count(&p->kind.shape);
  if (!lowered->classifies || shape->rank < 2) return true;
  p->kind.width = (size_t)shape->dim[shape->rank - 1];
  for (int i = 1; i + 1 < shape->rank; i++) p->kind.groups *= (size_t)shape->dim[i];
  return true;
}

static bool find_needs(predictor *p, const tn_lowered *lowered, size_t rows) {
  const tn_graph *graph = &lowered->graph;
  size_t count = p->trained.program.specs.input_count;
  bool *of_answer = tn_graph_needed(graph, graph->outputs.at[lowered->logits].value, p->trained.arena);
  bool *of_loss = tn_graph_needed(graph, graph->outputs.at[lowered->loss].value, p->trained.arena);
  if (!of_answer || !of_loss) return out_of_memory(p);
  if (!find_kind(p, lowered, rows)) return false;
  for (size_t i = 0; i < count; i++) {
    p->wanted[i] = of_answer[graph->inputs.at[i]];
    p->limits[i] = INT64_MAX;
  }
  tn_indices_visit(graph, of_answer, count, note_limit, p);
  find_units(p, graph, of_loss);
  find_classes(p);
  return true;
}

/* The answer of a row must not depend on the other rows. */
static bool is_by_row(predictor *p, tn_lowered *few, tn_lowered *more, size_t rows) {
  tn_row_pieces pieces;
  if (!keep_answer(p, few) || !keep_answer(p, more)) return false;
  bool *fed = tn_arena_array(p->trained.arena, p->trained.program.specs.input_count + 1, sizeof *fed);
  if (!fed) return out_of_memory(p);
  for (size_t i = 0; i < p->trained.program.specs.input_count; i++) fed[i] = p->wanted[i] && !is_given(p, i);
  if (!tn_opt_divide_rows(&more->graph, &few->graph, (int64_t)(2 * rows), (int64_t)rows, fed, &pieces))
    return out_of_memory(p);
  bool alone = pieces.divided;
  if (alone) {
    const tn_graph *rest = &pieces.rest;
    alone = tn_graph_node(rest, rest->outputs.at[0].value)->op == TN_OP_INPUT;
  }
  tn_row_pieces_free(p->trained.host->heap, &pieces);
  return alone || joins_rows(p);
}

#define PROBE_ROWS 3

/* Lowers the program for a few rows. `rows`: as many as the command line gives; 0: they will be read. */
static bool probe(predictor *p, size_t rows) {
  tn_lowered few = { 0 }, more = { 0 };
  tn_sizes sizes;
  size_t count = rows > 0 ? rows : PROBE_ROWS;
  bool ok = lower(p, count, NULL, &sizes, &few) && find_needs(p, &few, count);
  if (ok && rows == 0) ok = lower(p, 2 * count, NULL, &sizes, &more) && is_by_row(p, &few, &more, count);
  tn_lowered_free(&few, p->trained.host->heap);
  tn_lowered_free(&more, p->trained.host->heap);
  return ok;
}

/* ---- rows ---- */

static bool is_in_table(predictor *p, const tn_rows *rows, size_t input) {
  const tn_column *column = &rows->columns.at[rows->column_of[input]];
  tn_table_index index = { .path = p->options->data ? p->options->data : "--text",
                           .at = TN_NOWHERE,
                           .limit = p->limits[input],
                           .function = p->tables[input] };
  if (column->kind == TN_COLUMN_F32 || index.limit == INT64_MAX) return true;
  return tn_columns_check_features(&rows->columns, column, &index, p->trained.host->diags);
}

static bool run_batch(predictor *p, size_t rows) {
  tn_fault fault;
  if (!tn_plan_run(p->batch.plan, &fault)) return report_fault(p, &fault);
  tn_view answers = tn_plan_output(p->batch.plan, 0);
  if (tn_answers_add(&p->writer, &answers, rows)) return true;
  return p->writer.text.failed ? out_of_memory(p) : false;
}

static bool answer_rows(void *context, const tn_rows *rows) {
  predictor *p = context;
  if (rows->count == 0) return true;
  if (!make_batch(p, rows->count, rows)) return false;
  for (size_t i = 0; i < p->trained.program.specs.input_count; i++) {
    if (!p->wanted[i] || is_given(p, i)) continue;
    if (!is_in_table(p, rows, i)) return false;
    const tn_column *column = &rows->columns.at[rows->column_of[i]];
    memcpy(p->batch.inputs[i].view.data, tn_column_row(column, 0),
           rows->count * column->width * TN_COLUMN_ITEM);
  }
  return run_batch(p, rows->count);
}

/* ---- where rows come from ---- */

static bool needs_input(predictor *p, size_t input, const char *how) {
  return tn_host_usage(p->trained.host, "the answer needs the input `", input_name(p, input), how);
}

/* Every input that the answer needs comes from somewhere. */
static bool check_sources(predictor *p, bool file, bool text) {
  for (size_t i = 0; i < p->trained.program.specs.input_count; i++) {
    if (!p->wanted[i] || is_given(p, i)) continue;
    bool fed = file && p->trained.facts.inputs[i].known;
    bool told = text && p->trained.facts.inputs[i].vocab;
    if (!fed && !told) return needs_input(p, i, file ? "`, which the data does not feed: give it by --input"
                                                     : "`: name a file of rows, or give it by --input");
  }
  return true;
}

static bool continues_texts(const predictor *p) {
  return p->trained.program.dataset && p->trained.program.dataset->format == TN_DATASET_TEXT;
}

static bool refuse_text(predictor *p, tn_str what) {
  return tn_host_usage(p->trained.host, "there are no answers for ", what,
                       ": the model continues a text, which `tern generate` does");
}

static bool answer_file(predictor *p) {
  tn_rows_request request = { .path = p->options->data,
                              .facts = &p->trained.facts,
                              .wanted = p->wanted,
                              .take = answer_rows,
                              .context = p };
  if (!p->trained.program.dataset)
    return tn_host_usage(p->trained.host, "the program has no dataset block, so ",
                         tn_str_of(p->options->data), " has no format: give rows by --input");
  if (continues_texts(p)) return refuse_text(p, tn_str_of(p->options->data));
  return probe(p, 0) && check_sources(p, true, false) &&
         tn_rows_read_given(p->trained.host, &p->trained.program, p->options->trained.backend, &request,
                            p->trained.arena, NULL);
}

/* One row with a column for each input. */
static bool begin_row(predictor *p, tn_rows *rows) {
  size_t inputs = p->trained.program.specs.input_count;
  int *column_of = tn_arena_array(p->trained.arena, inputs + 1, sizeof *column_of);
  *rows = (tn_rows){ .present = true, .column_of = column_of, .count = 1 };
  if (!column_of || !tn_columns_init(&rows->columns, p->trained.host->heap, inputs)) return out_of_memory(p);
  rows->columns.rows = 1;
  for (size_t i = 0; i < inputs; i++) column_of[i] = (int)i;
  return tn_vec_push(p->trained.host->heap, &rows->columns.lines, 1) || out_of_memory(p);
}

static tn_input_facts *texts_of(predictor *p, size_t *input) {
  for (size_t i = 0; i < p->trained.facts.count; i++) {
    if (p->trained.facts.inputs[i].vocab && p->wanted[i]) return *input = i, &p->trained.facts.inputs[i];
  }
  return NULL;
}

static bool put_text(predictor *p, const char *text, const tn_input_facts *facts, tn_column *column) {
  column->kind = TN_COLUMN_TEXT;
  column->width = 1;
  tn_text_puts(&column->text, text);
  bool ok = !column->text.failed && tn_vec_push(p->trained.host->heap, &column->ends, column->text.len) &&
            tn_rows_encode(facts->vocab, column, 1, facts->width, p->trained.host->heap);
  return ok || out_of_memory(p);
}

static bool answer_text(predictor *p) {
  size_t input = 0;
  tn_rows rows;
  if (continues_texts(p)) return refuse_text(p, TN_LIT("--text"));
  if (!probe(p, 1)) return false;
  const tn_input_facts *facts = texts_of(p, &input);
  if (!facts)
    return tn_host_usage(p->trained.host, "", TN_LIT("--text"),
                         " is for a program whose data is text: tokens = words(...), chars, bytes or bpe");
  if (!check_sources(p, false, true)) return false;
  bool ok = true;
  for (size_t i = 0; ok && i < p->options->text_count; i++) { /* one by one: none depends on the others */
    ok = begin_row(p, &rows) && put_text(p, p->options->texts[i], facts, &rows.columns.at[input]) &&
         answer_rows(p, &rows);
    tn_columns_free(&rows.columns);
  }
  return ok;
}

/* ---- rows of --input ---- */

/* How many rows --input gives: of the inputs that rows of data would feed, or else of the first. */
static bool count_given(predictor *p, size_t *rows) {
  bool known = false;
  *rows = 1;
  for (size_t i = 0; !known && i < p->trained.program.specs.input_count; i++) {
    tn_tensor value;
    if (!is_given(p, i)) continue;
    if (!p->trained.program.doors->supplied(p->trained.program.model, i, &value)) return false;
    known = p->trained.facts.inputs[i].known;
    if (value.view.rank > 0 && value.view.dim[0] > 0 && (known || *rows == 1))
      *rows = (size_t)value.view.dim[0];
    tn_tensor_unref(&value);
  }
  return true;
}

static bool answer_inputs(predictor *p) {
  size_t rows;
  return count_given(p, &rows) && probe(p, rows) && check_sources(p, false, false) &&
         make_batch(p, rows, NULL) && run_batch(p, rows);
}

/* ---- all of it ---- */

static bool prepare(predictor *p) {
  size_t count = p->trained.program.specs.input_count + 1;
  p->wanted = tn_arena_array(p->trained.arena, count, sizeof *p->wanted);
  p->limits = tn_arena_array(p->trained.arena, count, sizeof *p->limits);
  p->tables = tn_arena_array(p->trained.arena, count, sizeof *p->tables);
  if (!p->wanted || !p->limits || !p->tables) return out_of_memory(p);
  tn_answers_begin(&p->writer, p->trained.host->heap, p->options, &p->kind);
  return true;
}

static bool answer(predictor *p) {
  bool ok = p->options->data   ? answer_file(p)
            : p->options->text_count ? answer_text(p)
                               : answer_inputs(p);
  return ok && tn_answers_end(&p->writer);
}

bool tn_predict(tn_unit *unit, const tn_training_doors *doors, const tn_predict_options *options,
                tn_arena *arena, size_t *rows) {
  predictor p = { .options = options };
  bool ok = tn_trained_open(&p.trained, unit, doors, &options->trained, arena) && prepare(&p) && answer(&p);
  *rows = p.writer.rows;
  free_batch(&p);
  tn_answers_free(&p.writer);
  tn_trained_close(&p.trained);
  return ok;
}
