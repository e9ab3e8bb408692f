/* lang/ail/declare.c: reads declarations: names, shapes, and the initialisation of parameters.
 *
 * A declaration of the model is read once. One in a layer is read for every use of the layer, with
 * the numbers passed to this use, so it needs a scope. After an error the spec is marked broken,
 * and later passes report nothing for it. */
#include "lang/ail/declare.h"

#include <string.h>

#include "tensor/shape_field.h"

/* One declaration that is being read. */
typedef struct {
  const tn_ail *program;
  const tn_ail_constants *scope;
  const tn_ail_statement *decl;
} reading;

static tn_diags *diags_of(const reading *r) { return r->program->host->diags; }

/* ---- dimensions ---- */

static bool bad_dim(const reading *r, tn_span at, const char *reason) {
  return tn_report(diags_of(r), TN_DIAG_E_INVALID_DIM_SPEC, at,
                   TN_TEXT("name", tn_ail_text_of(r->program, r->decl->name)), TN_STR("reason", reason));
}

static bool compute_dim(const reading *r, const tn_ail_dim *dim, int64_t *out) {
  tn_ail_no_constant why;
  tn_ail_const value;
  *out = TN_DIM_UNKNOWN;
  if (!tn_ail_constant(r->scope, dim->value, &value, &why))
    return why.spoken_for ? false : bad_dim(r, why.at, why.reason);
  *out = value.integer;
  if (!value.is_integer) return bad_dim(r, dim->at, "it is not a whole number");
  return value.integer >= 1 ? true : bad_dim(r, dim->at, "it is not positive");
}

/* A name is what a layer was given, a constant, or the name of a length. */
static bool resolve_name(const reading *r, const tn_ail_dim *dim, int64_t *out) {
  tn_ail_const given;
  bool hidden = false;
  bool known = r->scope->bound && r->scope->bound(r->scope->context, dim->name, &given, &hidden);
  *out = TN_DIM_SYMBOL(dim->name);
  if (hidden) return bad_dim(r, dim->at, "what the layer was given is not a number that is known");
  const tn_ail_const *constant = known ? &given : tn_ail_find_const(r->program, dim->name);
  if (!constant || constant->kind == TN_AIL_CONST_BROKEN) return true;
  if (!constant->is_integer) return bad_dim(r, dim->at, "the constant is not a whole number");
  *out = constant->integer;
  return *out >= 1 ? true : bad_dim(r, dim->at, "the constant is not positive");
}

/* The dimension as a length, a name, or unknown where it is free. */
static bool resolve_dim(const reading *r, const tn_ail_dim *dim, int64_t *out) {
  if (dim->value) return compute_dim(r, dim, out);
  if (dim->name) return resolve_name(r, dim, out);
  *out = dim->length;
  if (*out >= 1) return true;
  if (*out != TN_DIM_UNKNOWN) return bad_dim(r, dim->at, "a dimension is at least 1");
  if (r->decl->kind == TN_AIL_INPUT) return true;
  return bad_dim(r, dim->at, "a param cannot have a free dimension");
}

static bool resolve_shape(const reading *r, tn_shape *out) {
  const tn_ail_statement *decl = r->decl;
  bool ok = true;
  int free_dims = 0;
  *out = (tn_shape){ .rank = 0 };
  if (decl->rank > TN_RANK_LIMIT) {
    return tn_report(diags_of(r), TN_DIAG_E_RANK_LIMIT, decl->at, TN_INT("rank", decl->rank),
                     TN_INT("limit", TN_RANK_LIMIT));
  }
  for (uint32_t i = 0; i < decl->rank; i++) {
    const tn_ail_dim *dim = &decl->dims[i];
    int64_t length;
    ok = resolve_dim(r, dim, &length) && ok;
    bool is_free = !dim->name && !dim->value && dim->length == -1 && decl->kind == TN_AIL_INPUT;
    if (is_free && ++free_dims == 2) ok = bad_dim(r, dim->at, "only one dimension can be free");
    out->dim[out->rank++] = length;
  }
  if (ok && tn_shape_count(out) == -2) {
    return tn_report(diags_of(r), TN_DIAG_E_TOO_LARGE, decl->at, TN_STR("what", "the number of elements"),
                     TN_INT("limit", TN_ELEMENT_LIMIT),
                     tn_shape_field("requested", out, r->program->host->names, TN_SHAPE_COMMA));
  }
  return ok;
}

/* ---- how parameters start ---- */

static bool bad_init(const reading *r, tn_span at, const char *reason, tn_str suggestion) {
  return tn_report(diags_of(r), TN_DIAG_E_INIT_INVALID, at,
                   TN_TEXT("name", tn_ail_text_of(r->program, r->decl->name)), TN_STR("reason", reason),
                   TN_TEXT("suggestion", suggestion));
}

/* The arguments: at most two numbers, by position. */
static bool read_numbers(const reading *r, const tn_ail_call *call, double out[2], uint32_t *count) {
  *count = call ? call->count : 0;
  for (uint32_t i = 0; i < *count && i < 2; i++) {
    const tn_ail_arg *arg = &call->args[i];
    tn_ail_no_constant why;
    tn_ail_const value;
    if (arg->key) return bad_init(r, arg->key_at, "its numbers are given by position", TN_LIT(""));
    if (!tn_ail_constant(r->scope, arg->value, &value, &why))
      return why.spoken_for ? false : bad_init(r, why.at, why.reason, TN_LIT(""));
    if (value.kind != TN_AIL_CONST_NUMBER || !__builtin_isfinite((float)value.number))
      return bad_init(r, arg->value->at, "it is not a finite number of f32", TN_LIT(""));
    out[i] = value.number;
  }
  return true;
}

static bool read_normal(const reading *r, const double given[2], uint32_t count, tn_ail_start *out) {
  tn_span at = r->decl->init->at;
  if (count != 1 && count != 2)
    return bad_init(r, at, "it is `normal(deviation)` or `normal(mean, deviation)`", TN_LIT(""));
  *out = (tn_ail_start){ TN_AIL_START_NORMAL, count == 2 ? given[0] : 0, given[count - 1] };
  return out->b >= 0 ? true : bad_init(r, at, "a standard deviation is at least 0", TN_LIT(""));
}

static bool read_uniform(const reading *r, const double given[2], uint32_t count, tn_ail_start *out) {
  tn_span at = r->decl->init->at;
  if (count > 2) return bad_init(r, at, "it is `uniform(limit)` or `uniform(low, high)`", TN_LIT(""));
  if (count == 0) return true; /* as usual */
  *out = (tn_ail_start){ TN_AIL_START_UNIFORM, count == 2 ? given[0] : -given[0], given[count - 1] };
  if (out->a < out->b) return true;
  return bad_init(r, at, count == 2 ? "low is below high" : "the limit is above 0", TN_LIT(""));
}

static bool read_plain(const reading *r, tn_str name, uint32_t count, tn_ail_start *out) {
  tn_span at = r->decl->init->at;
  const tn_str known[] = { TN_LIT("normal"), TN_LIT("zeros"), TN_LIT("ones"), TN_LIT("uniform"),
                           TN_LIT("glorot") };
  bool zeros = tn_str_is(name, "zeros"), ones = tn_str_is(name, "ones"), glorot = tn_str_is(name, "glorot");
  *out = (tn_ail_start){ glorot ? TN_AIL_START_GLOROT : TN_AIL_START_ALL, ones, 0 };
  if (!zeros && !ones && !glorot)
    return bad_init(r, at, "it is one of normal, zeros, ones, uniform and glorot",
                    tn_str_suggest(name, known, sizeof known / sizeof known[0]));
  if (count > 0) return bad_init(r, at, "it takes no numbers", TN_LIT(""));
  if (!glorot || r->decl->rank >= 2) return true;
  return bad_init(r, at, "glorot needs at least 2 dimensions: the last two are fan in and fan out",
                  TN_LIT(""));
}

static bool read_start(const reading *r, tn_ail_start *out) {
  const tn_ail_expr *init = r->decl->init;
  double given[2] = { 0, 0 };
  uint32_t count = 0;
  *out = (tn_ail_start){ .kind = TN_AIL_START_USUAL };
  if (!init) return true;
  bool call = init->form == TN_AIL_EXPR_CALL;
  tn_str name = tn_ail_text_of(r->program, call ? init->as.call->name : init->as.name);
  if (!read_numbers(r, call ? init->as.call : NULL, given, &count)) return false;
  if (tn_str_is(name, "normal")) return read_normal(r, given, count, out);
  return tn_str_is(name, "uniform") ? read_uniform(r, given, count, out) : read_plain(r, name, count, out);
}

/* ---- specs ---- */

static bool make_room(tn_ail *program) {
  if (program->param_count < program->param_room) return true;
  size_t room = program->param_room * 2 + 16, count = program->param_count;
  tn_tensor_spec *params = tn_arena_array(&program->arena, room, sizeof *params);
  tn_ail_start *starts = tn_arena_array(&program->arena, room, sizeof *starts);
  if (!params || !starts) return false;
  if (count > 0) memcpy(params, program->params, count * sizeof *params);
  if (count > 0) memcpy(starts, program->starts, count * sizeof *starts);
  program->params = params;
  program->starts = starts;
  program->param_room = room;
  return true;
}

bool tn_ail_declare_param(tn_ail *program, const tn_ail_constants *scope, const tn_ail_statement *decl,
                          tn_name name) {
  const reading r = { program, scope, decl };
  tn_tensor_spec spec = { .name = name, .kind = TN_DATA_TENSOR, .at = decl->name_at };
  tn_ail_start start;
  spec.type.dtype = TN_F32;
  spec.broken = !resolve_shape(&r, &spec.type.shape);
  spec.broken = !read_start(&r, &start) || spec.broken;
  if (!make_room(program)) return false;
  size_t index = program->param_count++;
  program->params[index] = spec;
  program->starts[index] = start;
  return tn_map_put(&program->specs, name, ~(uint64_t)index);
}

bool tn_ail_check_param(const tn_ail *program, const tn_ail_constants *scope, const tn_ail_statement *decl) {
  const reading r = { program, scope, decl };
  tn_shape shape;
  tn_ail_start start;
  bool ok = resolve_shape(&r, &shape);
  return read_start(&r, &start) && ok;
}

static tn_data_kind kind_by_name(const tn_ail *program, tn_name name) {
  if (name == program->known.tokens) return TN_DATA_TOKEN_IDS;
  return name == program->known.labels ? TN_DATA_LABELS : TN_DATA_TENSOR;
}

static bool add_dims(tn_ail *program, const tn_shape *shape) {
  for (int i = 0; i < shape->rank; i++) {
    if (tn_dim_is_symbol(shape->dim[i]) && !tn_map_put(&program->dims, tn_dim_name(shape->dim[i]), 1))
      return false;
  }
  return true;
}

static bool declare_input(tn_ail *program, const tn_ail_constants *scope, const tn_ail_statement *decl) {
  const reading r = { program, scope, decl };
  tn_tensor_spec spec = { .name = decl->name, .at = decl->name_at };
  spec.kind = kind_by_name(program, decl->name);
  spec.type.dtype = tn_data_kind_dtype(spec.kind);
  spec.broken = !resolve_shape(&r, &spec.type.shape);
  if (!add_dims(program, &spec.type.shape)) return false;
  size_t index = program->input_count++;
  program->inputs[index] = spec;
  return tn_map_put(&program->specs, decl->name, index);
}

bool tn_ail_declare(tn_ail *program, const tn_ail_statement *decl) {
  const tn_ail_constants all = { .program = program };
  bool input = decl->kind == TN_AIL_INPUT;
  if (!input && decl->kind != TN_AIL_PARAM) return true;
  if (tn_map_get(&program->specs, decl->name)) {
    tn_ail_report_syntax(program, decl->name_at, "an input or a param of this name is already declared");
    return true;
  }
  return input ? declare_input(program, &all, decl) : tn_ail_declare_param(program, &all, decl, decl->name);
}
