/* lang/mind/report.c: mistakes in the words of MIND.
 *
 * Operations fail with faults, which know types but not the program. Here they
 * become diagnostics: with the name the program used for the operation, and for
 * operands that do not fit each other with notes that show where each came from. */
#include "lang/mind/internal.h"
#include "op/fault.h"

tn_str tn_mind_kept_text(tn_mind *mind, tn_text *text) {
  tn_str result = tn_arena_str(mind->arena, tn_text_str(text));
  tn_text_free(text);
  return result;
}

/* A function of the program, with its signature. */
static tn_mind_callable declared(const tn_mind_function *f) {
  return (tn_mind_callable){
    .kind = TN_MIND_C_DECLARED, .params = f->param_types, .param_count = f->param_count, .result = f->result
  };
}

tn_str tn_mind_describe(tn_mind *mind, const tn_mind_type *type) {
  tn_text text;
  tn_mind_callable callable;
  tn_mind_type function = { .kind = TN_MIND_T_FN, .callable = &callable };
  tn_text_init(&text, mind->host->heap);
  if (type->kind == TN_MIND_T_FN && type->callable->kind == TN_MIND_C_FUNCTION) {
    callable = declared(type->callable->function);
    type = &function;
  }
  tn_mind_type_print(type, mind->host->names, &text);
  return tn_mind_kept_text(mind, &text);
}

/* A size that is not known is UNK, as in types. */
tn_str tn_mind_describe_shape(tn_mind *mind, const tn_shape *shape) {
  tn_text text;
  tn_text_init(&text, mind->host->heap);
  tn_text_byte(&text, '[');
  for (int i = 0; i < shape->rank; i++) {
    int64_t dim = shape->dim[i];
    if (i) tn_text_puts(&text, ", ");
    if (tn_dim_is_known(dim))
      tn_text_int(&text, dim);
    else if (tn_dim_is_symbol(dim))
      tn_text_add(&text, tn_names_text(mind->host->names, tn_dim_name(dim)));
    else
      tn_text_puts(&text, "UNK");
  }
  tn_text_byte(&text, ']');
  return tn_mind_kept_text(mind, &text);
}

bool tn_mind_expected(tn_mind *mind, tn_span at, const char *expected, const tn_mind_type *got) {
  if (got->kind == TN_MIND_T_ERROR) return false;
  return tn_report(mind->host->diags, TN_DIAG_E2001, at, TN_STR("expected", expected),
                   TN_TEXT("got", tn_mind_describe(mind, got)));
}

bool tn_mind_refuse_empty(tn_mind *mind, const tn_shape *shape, tn_span at) {
  for (int i = 0; i < shape->rank; i++) {
    if (shape->dim[i] != 0) continue;
    return tn_report(mind->host->diags, TN_DIAG_E2105, at,
                     TN_TEXT("shape", tn_mind_describe_shape(mind, shape)));
  }
  return true;
}

bool tn_mind_refuse_rank(tn_mind *mind, int64_t rank, tn_span at) {
  return rank <= TN_RANK_LIMIT || tn_report(mind->host->diags, TN_DIAG_E_RANK_LIMIT, at, TN_INT("rank", rank),
                                            TN_INT("limit", TN_RANK_LIMIT));
}

bool tn_mind_refuse_many(tn_mind *mind, const tn_shape *shape, tn_span at) {
  return shape->rank == 0 || tn_report(mind->host->diags, TN_DIAG_E4002, at,
                                       TN_TEXT("shape", tn_mind_describe_shape(mind, shape)));
}

bool tn_mind_refuse_dtype(tn_mind *mind, tn_span at, const char *op, const char *expected, tn_dtype got) {
  return tn_report(mind->host->diags, TN_DIAG_E2006, at, TN_STR("op", op), TN_STR("expected", expected),
                   TN_STR("got", tn_dtype_name(got)));
}

bool tn_mind_unknown_word(tn_mind *mind, tn_span at, const char *expected, tn_str got, const tn_str *known,
                          size_t count) {
  return tn_report(mind->host->diags, TN_DIAG_E2001, at, TN_STR("expected", expected), TN_TEXT("got", got),
                   TN_TEXT("suggestion", tn_str_suggest(got, known, count)));
}

bool tn_mind_read_dtype(tn_mind *mind, tn_str word, tn_span at, tn_dtype *out) {
  static const tn_str known[] = { { "i32", 3 },  { "i64", 3 },  { "f32", 3 }, { "f64", 3 },
                                  { "bool", 4 }, { "bf16", 4 }, { "f16", 3 } };
  return tn_dtype_find(word, out) ||
         tn_mind_unknown_word(mind, at, "a dtype", word, known, sizeof known / sizeof *known);
}

bool tn_mind_read_device(tn_mind *mind, tn_str word, tn_span at, tn_mind_device *out) {
  static const tn_str known[] = { { "cpu", 3 }, { "gpu", 3 } };
  return tn_mind_device_find(word, out) || tn_mind_unknown_word(mind, at, "cpu or gpu", word, known, 2);
}

static bool takes_shape(const tn_mind_entry *entry) {
  for (int i = 0; i < entry->count; i++) {
    if (entry->params[i].kind == TN_MIND_P_SHAPE) return true;
  }
  return false;
}

tn_str tn_mind_call_hint(tn_mind *mind, const tn_mind_entry *entry) {
  tn_text text;
  tn_text_init(&text, mind->host->heap);
  if (takes_shape(entry)) {
    tn_text_puts(&text, "a shape is one argument: `");
    tn_text_puts(&text, entry->name);
    tn_text_puts(&text, "([2, 3])`; ");
  }
  tn_text_puts(&text, "it is called as `");
  tn_mind_entry_print(entry, &text);
  tn_text_byte(&text, '`');
  return tn_mind_kept_text(mind, &text);
}

static tn_str name_text(const tn_mind *mind, tn_name name) {
  return name ? tn_names_text(mind->host->names, name) : TN_LIT("");
}

bool tn_mind_types_differ(tn_mind *mind, tn_span at, const tn_mind_type *wanted, const tn_mind_type *got,
                          tn_name name, tn_str hint) {
  return tn_report(mind->host->diags, TN_DIAG_E2001, at, TN_TEXT("expected", tn_mind_describe(mind, wanted)),
                   TN_TEXT("got", tn_mind_describe(mind, got)), TN_TEXT("name", name_text(mind, name)),
                   TN_HINT(hint));
}

bool tn_mind_shapes_differ(tn_mind *mind, tn_span at, const tn_shape *wanted, const tn_shape *got,
                           tn_name symbol, int dimension, tn_str hint) {
  return tn_report(
      mind->host->diags, TN_DIAG_E2102, at, TN_TEXT("expected", tn_mind_describe_shape(mind, wanted)),
      TN_TEXT("got", tn_mind_describe_shape(mind, got)), TN_TEXT("name", name_text(mind, symbol)),
      wanted->rank == got->rank ? TN_INT("dimension", dimension) : TN_STR("dimension", ""), TN_HINT(hint));
}

bool tn_mind_devices_differ(tn_mind *mind, tn_span at, tn_mind_device left, tn_mind_device right,
                            const char *op) {
  return tn_report(mind->host->diags, TN_DIAG_E5002, at, TN_STR("left", tn_mind_device_name(left)),
                   TN_STR("right", tn_mind_device_name(right)), TN_STR("op", op));
}

static bool is_number(const tn_mind_type *type) {
  return type->kind == TN_MIND_T_SCALAR && tn_dtype_in(type->dtype, TN_NUMBERS);
}

tn_str tn_mind_conversion_hint(const tn_mind_type *wanted, const tn_mind_type *got) {
  if (!is_number(wanted) || !is_number(got)) return (tn_str){ 0 };
  if (tn_dtype_in(wanted->dtype, TN_FLOATS) && tn_dtype_in(got->dtype, TN_FLOATS))
    return TN_LIT("a number with a point is f64 by itself; "
                  "`let x: f32 = 0.5` and `cast(x, f32)` make it f32");
  return TN_LIT("integers and floats do not mix; `cast` converts, as in `cast(x, f64)`");
}

bool tn_mind_position(tn_mind *mind, int64_t index, int64_t count, tn_span at, int64_t *out) {
  if (index < -count || index >= count)
    return tn_report(mind->host->diags, TN_DIAG_E2109, at, TN_INT("index", index), TN_INT("limit", count));
  *out = index < 0 ? index + count : index;
  return true;
}

bool tn_mind_size_fits(tn_mind *mind, int64_t size, const tn_shape *of, tn_name name, tn_span at) {
  bool known = tn_dim_is_known(size);
  if (known && size <= INT32_MAX) return true;
  return tn_report(
      mind->host->diags, TN_DIAG_E2001, at,
      TN_STR("expected", known ? "a size that fits i32" : "a dimension with a size"),
      TN_TEXT("got", of ? tn_mind_describe_shape(mind, of) : tn_names_text(mind->host->names, name)));
}

bool tn_mind_join_steps(tn_mind *mind, int64_t rows, tn_span at, int64_t *steps) {
  if (tn_dim_is_known(rows) && tn_dim_is_known(*steps) && rows != *steps) {
    tn_shape wanted = tn_shape_make(1, *steps), got = tn_shape_make(1, rows);
    return tn_mind_shapes_differ(mind, at, &wanted, &got, 0, 0, TN_LIT("a loop takes one row of each"));
  }
  if (tn_dim_is_known(rows) || *steps == TN_DIM_UNKNOWN) *steps = rows;
  return true;
}

bool tn_mind_out_of_memory(tn_mind *mind) {
  return tn_report_plain(mind->host->diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE);
}

/* ---- faults ---- */

typedef struct {
  tn_mind *mind;
  const tn_fault *fault;
  const char *op;
  const tn_mind_origin *operands;
  int count;
} report;

static tn_field shape_field(const report *r, const char *name, const tn_type *type) {
  return TN_TEXT(name, tn_mind_describe_shape(r->mind, &type->shape));
}

static const char *note_text(bool left, bool named) {
  if (left)
    return named ? "the left side, of shape {left}, was bound here" : "the left side has shape {left}";
  return named ? "the right side, of shape {right}, was bound here" : "the right side has shape {right}";
}

static int add_note(const report *r, tn_field *fields, int count, int operand, bool left) {
  if (operand < 0 || operand >= r->count || !r->operands[operand].at.file) return count;
  fields[count] = TN_NOTE(r->operands[operand].at, note_text(left, r->operands[operand].named));
  return count + 1;
}

/* Two shapes that do not fit each other. */
static bool report_shapes(const report *r, tn_diag_code code) {
  const tn_fault *f = r->fault;
  tn_field fields[6] = { TN_STR("op", r->op), shape_field(r, "left", &f->left),
                         shape_field(r, "right", &f->right), TN_INT("dimension", f->dimension) };
  int count = 4;
  if (r->count == 2) { /* of more than two it is not known here which they were */
    count = add_note(r, fields, count, 0, true);
    count = add_note(r, fields, count, 1, false);
  }
  return tn_diags_report(r->mind->host->diags, code, f->at, fields, (size_t)count);
}

static bool report_dtype(const report *r) {
  const tn_fault *f = r->fault;
  tn_diags *diags = r->mind->host->diags;
  const char *left = tn_dtype_name(f->left.dtype), *right = tn_dtype_name(f->right.dtype);
  if (f->reason) return tn_mind_refuse_dtype(r->mind, f->at, r->op, f->reason, f->left.dtype);
  return tn_report(diags, TN_DIAG_E2006, f->at, TN_STR("op", r->op), TN_STR("left", left),
                   TN_STR("right", right));
}

static bool report_argument(const report *r) {
  const tn_fault *f = r->fault;
  return tn_report(r->mind->host->diags, TN_DIAG_E2001, f->at,
                   TN_STR("expected", f->reason ? f->reason : "another value"), TN_INT("got", f->got),
                   TN_STR("op", r->op));
}

static bool report_axis(const report *r) {
  return tn_report(r->mind->host->diags, TN_DIAG_E2106, r->fault->at, TN_INT("axis", r->fault->axis),
                   TN_INT("rank", r->fault->left.shape.rank), TN_STR("op", r->op),
                   tn_fault_repeats(r->fault) ? TN_INT("repeated", r->fault->axis) : TN_STR("repeated", ""));
}

static bool report_bounds(const report *r) {
  const tn_fault *f = r->fault;
  tn_field fields[6] = { TN_INT("index", f->got), TN_INT("limit", f->expected), TN_STR("op", r->op) };
  if (f->reason) { /* an empty slice */
    fields[3] = TN_INT("axis", f->axis);
    fields[4] = TN_INT("start", f->right.shape.dim[0]);
    fields[5] = TN_INT("end", f->right.shape.dim[1]);
  }
  return tn_diags_report(r->mind->host->diags, TN_DIAG_E2109, f->at, fields, f->reason ? 6 : 3);
}

bool tn_mind_report_fault(tn_mind *mind, const tn_fault *fault, const char *op,
                          const tn_mind_origin *operands, int count) {
  report r = { mind, fault, op ? op : tn_op_sig_of(fault->op)->name, operands, operands ? count : 0 };
  switch (fault->kind) {
    case TN_FAULT_BROADCAST: return report_shapes(&r, TN_DIAG_E2101);
    case TN_FAULT_INNER:
    case TN_FAULT_JOIN:
    case TN_FAULT_SHAPE: return report_shapes(&r, TN_DIAG_E2103);
    case TN_FAULT_DTYPE: return report_dtype(&r);
    case TN_FAULT_ARGUMENT: return report_argument(&r);
    case TN_FAULT_AXIS: return report_axis(&r);
    case TN_FAULT_BOUNDS: return report_bounds(&r);
    default: break; /* nobody's mistake: memory, a limit, an interruption, a bug */
  }
  tn_host *host = mind->host;
  return tn_host_fault(host, fault);
}
