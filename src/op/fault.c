/* op/fault.c: reports faults with the common codes (E2xxx).
 *
 * A fault says what is wrong; a diagnostic needs a code and fields. AILang and Ninth have their own
 * codes for the same errors; MIND, graph text and the C API use these. */
#include <string.h>

#include "base/number.h"
#include "op/fault.h"
#include "op/internal.h"
#include "tensor/shape_field.h"

typedef struct {
  const tn_fault *fault;
  const tn_names *names;
  tn_diags *diags;
} report;

static const char *op_name(const report *r) { return tn_op_sig_of(r->fault->op)->name; }

static tn_field shape_field(const report *r, const char *name, const tn_type *type) {
  return tn_shape_field(name, &type->shape, r->names, TN_SHAPE_COMMA);
}

/* A number of elements, or the shape itself if it has named dimensions. */
static tn_field count_field(const report *r, const char *name, const tn_type *type) {
  int64_t count = tn_shape_count(&type->shape);
  return count >= 0 ? TN_INT(name, count) : shape_field(r, name, type);
}

/* One operand of a dtype that the operation does not take, or two that differ. */
static bool report_dtype(const report *r) {
  const tn_fault *f = r->fault;
  const char *left = tn_dtype_name(f->left.dtype), *right = tn_dtype_name(f->right.dtype);
  if (f->reason) {
    return tn_report(r->diags, TN_DIAG_E2006, f->at, TN_STR("op", op_name(r)), TN_STR("expected", f->reason),
                     TN_STR("got", left));
  }
  return tn_report(r->diags, TN_DIAG_E2006, f->at, TN_STR("op", op_name(r)), TN_STR("left", left),
                   TN_STR("right", right));
}

static bool report_broadcast(const report *r) {
  const tn_fault *f = r->fault;
  return tn_report(r->diags, TN_DIAG_E2101, f->at, TN_STR("op", op_name(r)), shape_field(r, "left", &f->left),
                   shape_field(r, "right", &f->right), TN_INT("dimension", f->dimension));
}

static bool report_misfit(const report *r) {
  const tn_fault *f = r->fault;
  return tn_report(r->diags, TN_DIAG_E2103, f->at, shape_field(r, "left", &f->left),
                   shape_field(r, "right", &f->right), TN_STR("op", op_name(r)),
                   TN_INT("dimension", f->dimension));
}

/* The hint of the code speaks of annotations, which are not at fault here. */
static bool report_rank(const report *r) {
  const tn_fault *f = r->fault;
  const char *expected = f->reason ? f->reason : "of another rank";
  return tn_report(r->diags, TN_DIAG_E2102, f->at, TN_STR("expected", expected),
                   shape_field(r, "got", &f->left), TN_STR("op", op_name(r)),
                   TN_HINT(TN_LIT("reshape it, or give it another axis with expand_dims")));
}

bool tn_fault_repeats(const tn_fault *fault) {
  return fault->reason && strcmp(fault->reason, TN_AXIS_TWICE) == 0;
}

static bool report_axis(const report *r) {
  const tn_fault *f = r->fault;
  return tn_report(r->diags, TN_DIAG_E2106, f->at, TN_INT("axis", f->axis),
                   TN_INT("rank", f->left.shape.rank), TN_STR("op", op_name(r)),
                   tn_fault_repeats(f) ? TN_INT("repeated", f->axis) : TN_STR("repeated", ""));
}

static bool report_count(const report *r) {
  const tn_fault *f = r->fault;
  return tn_report(r->diags, TN_DIAG_E2104, f->at, count_field(r, "expected", &f->left),
                   count_field(r, "got", &f->right), TN_STR("op", op_name(r)));
}

/* Axes are plain numbers: -2 among them is no name. */
static tn_field axes_field(const tn_shape *axes) {
  tn_field field = { .kind = TN_FIELD_TEXT, .name = "axes" };
  char digits[TN_NUMBER_BYTES], *at = field.inline_text;
  *at++ = '[';
  for (int i = 0; i < axes->rank; i++) {
    size_t len = tn_number_print_i64(axes->dim[i], digits);
    for (size_t k = 0; i && k < 2; k++) *at++ = ", "[k];
    for (size_t k = 0; k < len; k++) *at++ = digits[k];
  }
  *at++ = ']';
  *at = 0;
  return field;
}

static bool report_permutation(const report *r) {
  const tn_fault *f = r->fault;
  return tn_report(r->diags, TN_DIAG_E2107, f->at, axes_field(&f->right.shape),
                   TN_INT("rank", f->left.shape.rank));
}

static tn_field length_field(const report *r, const char *name, int64_t dim) {
  if (tn_dim_is_known(dim)) return TN_INT(name, dim);
  bool named = tn_dim_is_symbol(dim) && r->names;
  return TN_TEXT(name, named ? tn_names_text(r->names, tn_dim_name(dim)) : TN_LIT("?"));
}

static bool report_squeeze(const report *r) {
  const tn_fault *f = r->fault;
  int axis;
  int64_t size = tn_shape_axis(f->left.shape.rank, f->axis, &axis) ? f->left.shape.dim[axis] : f->got;
  return tn_report(r->diags, TN_DIAG_E2108, f->at, TN_INT("axis", f->axis), length_field(r, "size", size));
}

static bool report_bounds(const report *r) {
  const tn_fault *f = r->fault;
  if (f->reason)
    return tn_report(r->diags, TN_DIAG_E2109, f->at, TN_INT("index", f->got), TN_INT("limit", f->expected),
                     TN_STR("op", op_name(r)), TN_INT("axis", f->axis),
                     TN_INT("start", f->right.shape.dim[0]), TN_INT("end", f->right.shape.dim[1]));
  return tn_report(r->diags, TN_DIAG_E2109, f->at, TN_INT("index", f->got), TN_INT("limit", f->expected),
                   TN_STR("op", op_name(r)));
}

static bool report_argument(const report *r) {
  const tn_fault *f = r->fault;
  const char *expected = f->reason ? f->reason : "another value";
  return tn_report(r->diags, TN_DIAG_E2001, f->at, TN_STR("expected", expected), TN_INT("got", f->got),
                   TN_STR("op", op_name(r)));
}

static bool report_size(const report *r) {
  const tn_type *type = &r->fault->left;   /* of rank 0: the tensor is unknown */
  if (r->fault->reason) {   /* not a tensor but the graph itself */
    return tn_report(r->diags, TN_DIAG_E_TOO_LARGE, r->fault->at, TN_STR("what", r->fault->reason),
                     TN_INT("limit", r->fault->expected));
  }
  return tn_report(r->diags, TN_DIAG_E_TOO_LARGE, r->fault->at, TN_STR("what", "the number of elements"),
                   TN_INT("limit", TN_ELEMENT_LIMIT),
                   type->shape.rank ? shape_field(r, "requested", type) : TN_STR("requested", ""));
}

static bool report_op(const report *r, tn_diag_code code) {
  return tn_report(r->diags, code, r->fault->at, TN_STR("op", op_name(r)));
}

static bool report_internal(const report *r) {
  const char *reason = r->fault->reason ? r->fault->reason : "a fault without a reason";
  return tn_report(r->diags, TN_DIAG_E_INTERNAL, r->fault->at, TN_STR("message", reason));
}

bool tn_fault_report(const tn_fault *f, const tn_names *names, tn_diags *diags) {
  report r = { f, names, diags };
  switch (f->kind) {
    case TN_FAULT_NONE: return report_internal(&r);
    case TN_FAULT_ARITY:
      return tn_report(diags, TN_DIAG_E2005, f->at, TN_STR("function", op_name(&r)),
                       TN_INT("expected", f->expected), TN_INT("got", f->got));
    case TN_FAULT_DTYPE: return report_dtype(&r);
    case TN_FAULT_BROADCAST: return report_broadcast(&r);
    case TN_FAULT_INNER:
    case TN_FAULT_JOIN:
    case TN_FAULT_SHAPE: return report_misfit(&r);
    case TN_FAULT_RANK: return report_rank(&r);
    case TN_FAULT_AXIS: return report_axis(&r);
    case TN_FAULT_COUNT:
    case TN_FAULT_INFER: return report_count(&r);
    case TN_FAULT_PERMUTATION: return report_permutation(&r);
    case TN_FAULT_SQUEEZE: return report_squeeze(&r);
    case TN_FAULT_BOUNDS: return report_bounds(&r);
    case TN_FAULT_ARGUMENT: return report_argument(&r);
    case TN_FAULT_RANK_LIMIT:
      return tn_report(diags, TN_DIAG_E_RANK_LIMIT, f->at, TN_INT("rank", f->got),
                       TN_INT("limit", TN_RANK_LIMIT));
    case TN_FAULT_TOO_LARGE: return report_size(&r);
    case TN_FAULT_NO_GRADIENT: return report_op(&r, TN_DIAG_E4001);
    case TN_FAULT_DIVIDE: return report_op(&r, TN_DIAG_E6001);
    case TN_FAULT_HOST: return false;   /* it has reported itself */
    case TN_FAULT_MEMORY: return tn_report_plain(diags, TN_DIAG_E_OUT_OF_MEMORY, f->at);
    case TN_FAULT_INTERRUPTED: return tn_report_plain(diags, TN_DIAG_E_INTERRUPTED, f->at);
    case TN_FAULT_DEVICE:
      return tn_report(diags, TN_DIAG_E_DEVICE, f->at, TN_STR("device", "cuda"),
                       TN_STR("problem", f->reason));
    case TN_FAULT_INTERNAL: return report_internal(&r);
  }
  return report_internal(&r);
}
