/* lang/ail/sizes.c: determines the lengths of named dimensions.
 *
 * In this order: constants (already replaced by numbers in the declarations), supplied values, the
 * data set, the batch, and the defaults of a run in which nothing is supplied. Parameters come last
 * and use only known lengths. */
#include "lang/ail/internal.h"
#include "tensor/shape_field.h"

typedef struct {
  const tn_ail *program;
  const tn_size_request *request;
  tn_map index; /* name -> position in names */
  tn_binding *names;
  size_t count;
  tn_shape *inputs, *params;
  bool failed; /* memory ran out */
} sizing;

#define UNBOUND ((int64_t)-1)

static tn_diags *diags_of(const sizing *s) { return s->program->host->diags; }
static tn_str text_of(const sizing *s, tn_name name) { return tn_ail_text_of(s->program, name); }

/* ---- binding ---- */

static int64_t *length_of(sizing *s, tn_name name) {
  const uint64_t *at = tn_map_get(&s->index, name);
  return at ? &s->names[*at].length : NULL;
}

static bool add_names(sizing *s, const tn_tensor_spec *specs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (int k = 0; k < specs[i].type.shape.rank; k++) {
      int64_t dim = specs[i].type.shape.dim[k];
      if (!tn_dim_is_symbol(dim) || tn_map_get(&s->index, tn_dim_name(dim))) continue;
      s->names[s->count] = (tn_binding){ tn_dim_name(dim), UNBOUND };
      if (!tn_map_put(&s->index, tn_dim_name(dim), s->count++)) return false;
    }
  }
  return true;
}

static bool bind_dim(sizing *s, const tn_tensor_spec *spec, int i, int64_t length) {
  int64_t dim = spec->type.shape.dim[i];
  tn_str input = text_of(s, spec->name);
  if (dim == TN_DIM_UNKNOWN || dim == length) return true;
  if (tn_dim_is_known(dim)) {
    return tn_report(diags_of(s), TN_DIAG_E_INPUT_DIM_MISMATCH, spec->at, TN_TEXT("input", input),
                     TN_INT("dimension", i), TN_INT("expected", dim), TN_INT("received", length));
  }
  int64_t *bound = length_of(s, tn_dim_name(dim));
  if (*bound == UNBOUND) *bound = length;
  if (*bound == length) return true;
  return tn_report(diags_of(s), TN_DIAG_E_NAMED_DIM_CONFLICT, spec->at,
                   TN_TEXT("named_dim", text_of(s, tn_dim_name(dim))), TN_INT("previous_value", *bound),
                   TN_INT("new_value", length), TN_TEXT("input", input));
}

/* An input that gets a value of this shape. */
static bool bind_input(sizing *s, size_t index, const tn_shape *shape) {
  const tn_tensor_spec *spec = &s->program->inputs[index];
  bool ok = true;
  if (shape->rank != spec->type.shape.rank) {
    return tn_report(diags_of(s), TN_DIAG_E_INPUT_RANK_MISMATCH, spec->at,
                     TN_TEXT("input", text_of(s, spec->name)), TN_INT("expected_rank", spec->type.shape.rank),
                     TN_INT("received_rank", shape->rank));
  }
  for (int i = 0; i < shape->rank; i++) ok = bind_dim(s, spec, i, shape->dim[i]) && ok;
  s->inputs[index] = *shape;
  return ok;
}

const tn_given *tn_ail_given(const tn_ail *program, size_t input) {
  const tn_host *host = program->host;
  return tn_given_find(host->inputs, host->input_count,
                       tn_ail_text_of(program, program->inputs[input].name));
}

static bool bind_supplied(sizing *s) {
  bool ok = true;
  for (size_t i = 0; i < s->program->input_count; i++) {
    const tn_given *given = tn_ail_given(s->program, i);
    tn_shape shape = given ? tn_view_shape(&given->data.view) : TN_SCALAR_SHAPE;
    if (given) ok = bind_input(s, i, &shape) && ok;
  }
  return ok;
}

static bool bind_given(sizing *s) {
  bool ok = true;
  const tn_shape *given = s->request->given;
  for (size_t i = 0; given && i < s->program->input_count; i++) {
    if (given[i].rank >= 0 && !tn_ail_given(s->program, i)) ok = bind_input(s, i, &given[i]) && ok;
  }
  return ok;
}

/* ---- defaults ---- */

/* The name of the dimension that counts rows: the leading one of `labels`, else of `tokens`, else B
 * where an input has it, else the leading one of the first input. 0 when that is no name. */
static tn_name batch_name(const tn_ail *program) {
  const tn_tensor_spec *best = NULL;
  for (size_t i = 0; i < program->input_count; i++) {
    const tn_tensor_spec *spec = &program->inputs[i];
    if (spec->kind == TN_DATA_LABELS) best = spec;
    if (spec->kind == TN_DATA_TOKEN_IDS && !best) best = spec;
  }
  if (!best && tn_map_get(&program->dims, program->known.b)) return program->known.b;
  if (!best && program->input_count > 0) best = &program->inputs[0];
  if (!best || best->type.shape.rank == 0 || !tn_dim_is_symbol(best->type.shape.dim[0])) return 0;
  return tn_dim_name(best->type.shape.dim[0]);
}

#define DEFAULT_LENGTH 2
#define DEFAULT_TIME   6 /* the second dimension of tokens */

/* B = 2, a second dimension of tokens = 6, any other = 2. */
static int64_t default_length(const sizing *s, const tn_tensor_spec *spec, int i) {
  int64_t dim = spec->type.shape.dim[i];
  bool named_b = tn_dim_is_symbol(dim) && tn_dim_name(dim) == s->program->known.b;
  bool free_dim = dim == TN_DIM_UNKNOWN;
  return spec->kind == TN_DATA_TOKEN_IDS && i == 1 && !named_b && !free_dim ? DEFAULT_TIME : DEFAULT_LENGTH;
}

/* Inputs that have no value yet. Tokens first: where their second dimension has a name, that name
 * is 6 for the other inputs, too. */
static void bind_defaults(sizing *s) {
  for (int pass = 0; pass < 2; pass++) {
    for (size_t k = 0; k < s->program->input_count; k++) {
      const tn_tensor_spec *spec = &s->program->inputs[k];
      if ((spec->kind == TN_DATA_TOKEN_IDS) != (pass == 0)) continue;
      for (int i = 0; i < spec->type.shape.rank; i++) {
        int64_t dim = spec->type.shape.dim[i];
        int64_t *bound = tn_dim_is_symbol(dim) ? length_of(s, tn_dim_name(dim)) : NULL;
        if (bound && *bound == UNBOUND) *bound = default_length(s, spec, i);
      }
    }
  }
}

static void bind_batch(sizing *s) {
  tn_name name = s->request->batch > 0 ? batch_name(s->program) : 0;
  int64_t *bound = name ? length_of(s, name) : NULL;
  if (bound && *bound == UNBOUND) *bound = s->request->batch;
}

/* ---- shapes ---- */

static bool check_count(const sizing *s, const tn_tensor_spec *spec, const tn_shape *shape) {
  if (tn_shape_count(shape) >= 0) return true;
  return tn_report(diags_of(s), TN_DIAG_E_TOO_LARGE, spec->at, TN_STR("what", "the number of elements"),
                   TN_INT("limit", TN_ELEMENT_LIMIT),
                   tn_shape_field("requested", shape, s->program->host->names, TN_SHAPE_COMMA));
}

static bool resolve_inputs(sizing *s) {
  bool ok = true;
  for (size_t k = 0; k < s->program->input_count; k++) {
    const tn_tensor_spec *spec = &s->program->inputs[k];
    tn_shape *shape = &s->inputs[k];
    for (int i = 0; shape->rank < 0 && i < spec->type.shape.rank; i++) {
      int64_t dim = spec->type.shape.dim[i];
      shape->dim[i] = tn_dim_is_known(dim)    ? dim
                      : dim == TN_DIM_UNKNOWN ? default_length(s, spec, i)
                                              : *length_of(s, tn_dim_name(dim));
    }
    shape->rank = spec->type.shape.rank;
    ok = check_count(s, spec, shape) && ok;
  }
  return ok;
}

/* A name that nothing has bound: in a bare run any other = 2. */
static bool resolve_param_dim(sizing *s, const tn_tensor_spec *spec, int64_t dim, int64_t *out) {
  int64_t *bound = length_of(s, tn_dim_name(dim));
  bool bare = s->program->host->input_count == 0 && !s->request->no_defaults;
  if (*bound == UNBOUND && bare) *bound = DEFAULT_LENGTH;
  *out = *bound;
  if (*bound != UNBOUND) return true;
  const tn_map *const maps[] = { &s->program->dims, &s->program->consts };
  tn_text context;
  tn_text_init(&context, s->program->host->heap);
  tn_text_puts(&context, "param ");
  tn_text_add(&context, text_of(s, spec->name));
  tn_report(diags_of(s), TN_DIAG_E_DIM_UNBOUND, spec->at, TN_TEXT("name", text_of(s, tn_dim_name(dim))),
            TN_TEXT("context", tn_text_str(&context)),
            TN_TEXT("suggestion", tn_ail_suggest(s->program, tn_dim_name(dim), maps, 2)));
  tn_text_free(&context);
  return false;
}

static bool resolve_params(sizing *s) {
  bool ok = true;
  for (size_t k = 0; k < s->program->param_count; k++) {
    const tn_tensor_spec *spec = &s->program->params[k];
    bool found = true;
    s->params[k] = spec->type.shape;
    for (int i = 0; i < spec->type.shape.rank; i++) {
      int64_t dim = spec->type.shape.dim[i];
      if (tn_dim_is_symbol(dim)) found = resolve_param_dim(s, spec, dim, &s->params[k].dim[i]) && found;
    }
    ok = found && check_count(s, spec, &s->params[k]) && ok;
  }
  return ok;
}

static bool prepare(sizing *s, tn_arena *arena) {
  const tn_ail *program = s->program;
  size_t most = 0;
  for (size_t i = 0; i < program->input_count; i++) most += (size_t)program->inputs[i].type.shape.rank;
  for (size_t i = 0; i < program->param_count; i++) most += (size_t)program->params[i].type.shape.rank;
  s->names = tn_arena_array(arena, most, sizeof *s->names);
  s->inputs = tn_arena_array(arena, program->input_count, sizeof *s->inputs);
  s->params = tn_arena_array(arena, program->param_count, sizeof *s->params);
  if (!s->names || !s->inputs || !s->params) return false;
  for (size_t i = 0; i < program->input_count; i++) s->inputs[i].rank = -1;
  return add_names(s, program->inputs, program->input_count) &&
         add_names(s, program->params, program->param_count);
}

static bool resolve(sizing *s) {
  bool ok = bind_supplied(s);
  ok = bind_given(s) && ok;
  if (!ok) return false;
  bind_batch(s);
  bind_defaults(s);
  ok = resolve_inputs(s);
  return resolve_params(s) && ok;
}

bool tn_ail_size(const tn_ail *program, const tn_size_request *request, tn_arena *arena, tn_sizes *out) {
  sizing s = { .program = program, .request = request };
  tn_map_init(&s.index, program->host->heap);
  bool ok = prepare(&s, arena);
  ok = ok ? resolve(&s) : tn_ail_out_of_memory(program);
  tn_map_free(&s.index);
  *out = (tn_sizes){ s.inputs, s.params, s.names, s.count };
  return ok;
}

/* ---- what lengths say about values ---- */

/* The smallest of the lengths, so that an index fits every table; -1 when none is known. */
static int64_t smallest(const tn_ail_lengths *lengths, const tn_sizes *sizes) {
  int64_t least = -1;
  for (size_t i = 0; i < lengths->count; i++) {
    int64_t length = lengths->at[i];
    for (size_t k = 0; tn_dim_is_symbol(length) && k < sizes->name_count; k++) {
      if (sizes->names[k].symbol == tn_dim_name(length)) length = sizes->names[k].length;
    }
    if (tn_dim_is_known(length) && (least < 0 || length < least)) least = length;
  }
  return least;
}

#define DEFAULT_VOCABULARY 20
#define DEFAULT_CLASSES    2

int64_t tn_ail_vocabulary(const tn_ail *program, const tn_sizes *sizes) {
  int64_t rows = smallest(&program->embedding_rows, sizes), gathered = smallest(&program->gather_rows, sizes);
  if (rows < 0) rows = DEFAULT_VOCABULARY;
  return gathered >= 0 && gathered < rows ? gathered : rows;
}

int64_t tn_ail_classes(const tn_ail *program, const tn_sizes *sizes) {
  int64_t classes = smallest(&program->classes, sizes);
  return classes < 0 ? DEFAULT_CLASSES : classes;
}
