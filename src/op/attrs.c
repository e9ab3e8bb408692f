/* op/attrs.c: prints, compares and hashes attributes.
 *
 * One list of attributes drives printing, comparing and hashing, so that none
 * of the three can forget one. Comparing looks only at what the operation
 * reads. The text is canonical: equal attributes print alike, in the order of
 * the list. */
#include <string.h>

#include "base/bytes.h"
#include "op/internal.h"
#include "tensor/print.h"

/* ---- what is worth saying ---- */

/* low, high and step have no count: they extend to the last axis with a value that is not the
 * default. Normalised slices have a step everywhere; windows are always pairs. */
static int extent(tn_op op, const tn_attrs *attrs) {
  if (tn_op_sig_of(op)->attrs & (TN_ATTR_WINDOW | TN_ATTR_SAME)) return 2;
  int count = TN_RANK_LIMIT;
  while (count && !attrs->low[count - 1] && !attrs->high[count - 1] && !attrs->step[count - 1]) count--;
  return count;
}

static bool all_are(const int64_t *numbers, int count, int64_t wanted) {
  for (int i = 0; i < count; i++) {
    if (numbers[i] != wanted) return false;
  }
  return true;
}

/* Left out, a low is 0 everywhere; so is a high, except that a slice without one would end
 * at once; a step is 1 where 0 would make no sense. */
static bool says_range(tn_op op, const tn_attrs *attrs, tn_attr_set which) {
  int count = extent(op, attrs);
  if (which == TN_ATTR_LOW) return !all_are(attrs->low, count, 0);
  if (which == TN_ATTR_HIGH) return op == TN_OP_SLICE ? count > 0 : !all_are(attrs->high, count, 0);
  return !all_are(attrs->step, count, 0) && (op == TN_OP_PAD || !all_are(attrs->step, count, 1));
}

/* In the order in which they are printed. */
static const tn_attr_set printed[] = {
  TN_ATTR_NAME, TN_ATTR_DTYPE, TN_ATTR_SHAPE, TN_ATTR_AXIS, TN_ATTR_AXES, TN_ATTR_KEEPDIMS,
  TN_ATTR_WINDOW, TN_ATTR_LOW, TN_ATTR_HIGH, TN_ATTR_STEP, TN_ATTR_NUMBER, TN_ATTR_INDEX,
  TN_ATTR_REVERSE, TN_ATTR_EXCLUSIVE, TN_ATTR_SAME, TN_ATTR_CAUSAL, TN_ATTR_LITERAL,
};
#define PRINTED_COUNT (sizeof printed / sizeof *printed)

static bool says(tn_op op, const tn_attrs *attrs, tn_attr_set which) {
  if (!(tn_op_sig_of(op)->attrs & which)) return false;
  switch (which) {
    case TN_ATTR_NAME: return attrs->name != 0 || attrs->argument != 0;
    case TN_ATTR_AXES: return attrs->axis_count >= 0;
    case TN_ATTR_KEEPDIMS: return attrs->keepdims;
    case TN_ATTR_LOW:
    case TN_ATTR_HIGH:
    case TN_ATTR_STEP: return says_range(op, attrs, which);
    case TN_ATTR_INDEX: return attrs->index != 0;
    case TN_ATTR_REVERSE: return attrs->reverse;
    case TN_ATTR_EXCLUSIVE: return attrs->exclusive;
    case TN_ATTR_SAME: return attrs->same;
    case TN_ATTR_CAUSAL: return attrs->causal;
    case TN_ATTR_LITERAL: return attrs->literal != NULL;
    case TN_ATTR_REGIONS:
    case TN_ATTR_PROGRAM: return false;
    default: return true;   /* dtype, shape, axis, window, number: no value goes without saying */
  }
}

bool tn_attrs_are_default(tn_op op, const tn_attrs *attrs) {
  for (size_t i = 0; i < PRINTED_COUNT; i++) {
    if (says(op, attrs, printed[i])) return false;
  }
  return true;
}

/* ---- text ---- */

static void print_numbers(const char *key, const int64_t *numbers, int count, tn_text *out) {
  tn_text_puts(out, key);
  tn_text_byte(out, '[');
  for (int i = 0; i < count; i++) {
    if (i) tn_text_puts(out, ", ");
    tn_text_int(out, numbers[i]);
  }
  tn_text_byte(out, ']');
}

static void print_small_numbers(const char *key, const int32_t *numbers, int count, tn_text *out) {
  int64_t wide[TN_RANK_LIMIT];
  for (int i = 0; i < count; i++) wide[i] = numbers[i];
  print_numbers(key, wide, count, out);
}

static void print_quoted(const char *key, tn_str text, tn_text *out) {
  tn_text_puts(out, key);
  tn_text_quoted(out, text);
}

static void print_names(const tn_attrs *attrs, const tn_names *names, tn_text *out) {
  if (attrs->name) print_quoted("name=", names ? tn_names_text(names, attrs->name) : TN_LIT("?"), out);
  if (!attrs->argument) return;
  if (attrs->name) tn_text_puts(out, ", ");
  print_quoted("argument=", names ? tn_names_text(names, attrs->argument) : TN_LIT("?"), out);
}

static void print_literal(const tn_view *view, tn_text *out) {
  tn_type type = { view->dtype, tn_view_shape(view) };
  tn_text_puts(out, "value=");
  tn_type_print(&type, NULL, out);
  tn_text_byte(out, ' ');
  tn_view_print_json_data(view, out);
}

static void print_shape(const tn_shape *shape, const tn_names *names, tn_text *out) {
  tn_text_puts(out, "shape=");
  tn_shape_print(shape, names, TN_SHAPE_COMMA, out);
}

static void print_dtype(tn_dtype dtype, tn_text *out) {
  tn_text_puts(out, "dtype=");
  tn_text_puts(out, tn_dtype_name(dtype));
}

static void print_axis(int axis, tn_text *out) {
  tn_text_puts(out, "axis=");
  tn_text_int(out, axis);
}

static void print_number(double number, tn_text *out) {
  tn_text_puts(out, "number=");
  tn_text_f64(out, number);
}

/* Words are printed as signed: an index that still counts from the end prints as -1. */
static void print_index(uint64_t index, tn_text *out) {
  tn_text_puts(out, "index=");
  if (index > INT64_MAX) tn_text_int(out, -(int64_t)(UINT64_MAX - index) - 1);
  else tn_text_uint(out, index);
}

static void print_one(tn_op op, const tn_attrs *attrs, tn_attr_set which, const tn_names *names,
                      tn_text *out) {
  switch (which) {
    case TN_ATTR_NAME: print_names(attrs, names, out); break;
    case TN_ATTR_DTYPE: print_dtype(attrs->dtype, out); break;
    case TN_ATTR_SHAPE: print_shape(&attrs->shape, names, out); break;
    case TN_ATTR_AXIS: print_axis(attrs->axis, out); break;
    case TN_ATTR_AXES: print_small_numbers("axes=", attrs->axes, attrs->axis_count, out); break;
    case TN_ATTR_KEEPDIMS: tn_text_puts(out, "keepdims=true"); break;
    case TN_ATTR_WINDOW: print_small_numbers("window=", attrs->window, 2, out); break;
    case TN_ATTR_LOW: print_numbers("low=", attrs->low, extent(op, attrs), out); break;
    case TN_ATTR_HIGH: print_numbers("high=", attrs->high, extent(op, attrs), out); break;
    case TN_ATTR_STEP: print_numbers("step=", attrs->step, extent(op, attrs), out); break;
    case TN_ATTR_NUMBER: print_number(attrs->number, out); break;
    case TN_ATTR_INDEX: print_index(attrs->index, out); break;
    case TN_ATTR_REVERSE: tn_text_puts(out, "reverse=true"); break;
    case TN_ATTR_EXCLUSIVE: tn_text_puts(out, "exclusive=true"); break;
    case TN_ATTR_SAME: tn_text_puts(out, "same=true"); break;
    case TN_ATTR_CAUSAL: tn_text_puts(out, "causal=true"); break;
    case TN_ATTR_LITERAL: print_literal(&attrs->literal->view, out); break;
    case TN_ATTR_REGIONS:
    case TN_ATTR_PROGRAM: break;
  }
}

void tn_attrs_print(tn_op op, const tn_attrs *attrs, const tn_names *names, tn_text *out) {
  const char *before = "{";
  for (size_t i = 0; i < PRINTED_COUNT; i++) {
    if (!says(op, attrs, printed[i])) continue;
    tn_text_puts(out, before);
    print_one(op, attrs, printed[i], names, out);
    before = ", ";
  }
  if (*before == ',') tn_text_byte(out, '}');
}

/* ---- meaning ---- */

/* The members an attribute stands for, as runs of bytes without padding. `literal` is
 * apart, because it is compared by content. */
typedef struct {
  const void *at;
  size_t bytes;
} part;

#define PART(member) ((part){ &(member), sizeof(member) })

static int parts_of(const tn_attrs *a, tn_attr_set which, part out[2]) {
  int count = 1;
  switch (which) {
    case TN_ATTR_DTYPE: out[0] = PART(a->dtype); break;
    case TN_ATTR_SHAPE:
      out[0] = PART(a->shape.rank);
      out[1] = (part){ a->shape.dim, (size_t)a->shape.rank * sizeof *a->shape.dim };
      count = 2;
      break;
    case TN_ATTR_AXIS: out[0] = PART(a->axis); break;
    case TN_ATTR_AXES:
      out[0] = PART(a->axis_count);
      out[1] = (part){ a->axes, a->axis_count > 0 ? (size_t)a->axis_count * sizeof *a->axes : 0 };
      count = 2;
      break;
    case TN_ATTR_KEEPDIMS: out[0] = PART(a->keepdims); break;
    case TN_ATTR_LOW: out[0] = PART(a->low); break;
    case TN_ATTR_HIGH: out[0] = PART(a->high); break;
    case TN_ATTR_STEP: out[0] = PART(a->step); break;
    case TN_ATTR_WINDOW: out[0] = PART(a->window); break;
    case TN_ATTR_NUMBER: out[0] = PART(a->number); break;
    case TN_ATTR_INDEX: out[0] = PART(a->index); break;
    case TN_ATTR_NAME:
      out[0] = PART(a->name);
      out[1] = PART(a->argument);
      count = 2;
      break;
    case TN_ATTR_REVERSE: out[0] = PART(a->reverse); break;
    case TN_ATTR_EXCLUSIVE: out[0] = PART(a->exclusive); break;
    case TN_ATTR_SAME: out[0] = PART(a->same); break;
    case TN_ATTR_CAUSAL: out[0] = PART(a->causal); break;
    case TN_ATTR_REGIONS: out[0] = PART(a->region); break;
    case TN_ATTR_PROGRAM: out[0] = PART(a->program); break;
    case TN_ATTR_LITERAL: count = 0; break;
  }
  return count;
}

static bool literals_equal(const tn_tensor *a, const tn_tensor *b) {
  if (a == b) return true;
  return a && b && tn_view_equal(&a->view, &b->view);
}

bool tn_attrs_equal(tn_op op, const tn_attrs *a, const tn_attrs *b) {
  uint32_t set = tn_op_sig_of(op)->attrs;
  part in_a[2], in_b[2];
  for (uint32_t which = 1; which <= TN_ATTR_CAUSAL; which <<= 1) {
    if (!(set & which)) continue;
    int count = parts_of(a, (tn_attr_set)which, in_a);
    parts_of(b, (tn_attr_set)which, in_b);
    for (int i = 0; i < count; i++) {
      if (in_a[i].bytes != in_b[i].bytes || memcmp(in_a[i].at, in_b[i].at, in_a[i].bytes) != 0) return false;
    }
  }
  return !(set & TN_ATTR_LITERAL) || literals_equal(a->literal, b->literal);
}

static uint64_t mix(uint64_t hash, uint64_t more) {
  hash = (hash ^ more) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

/* The digest depends on contents alone, so equal ones hash alike whatever their strides. */
static uint64_t hash_literal(uint64_t hash, const tn_view *view) {
  uint8_t digest[32];
  tn_view_sha256(view, digest);
  hash = mix(mix(hash, view->dtype), tn_load_le64(digest));
  for (int i = 0; i < view->rank; i++) hash = mix(hash, (uint64_t)view->dim[i]);
  return hash;
}

uint64_t tn_attrs_hash(tn_op op, const tn_attrs *attrs) {
  uint32_t set = tn_op_sig_of(op)->attrs;
  uint64_t hash = mix(0, (uint64_t)op);
  part parts[2];
  for (uint32_t which = 1; which <= TN_ATTR_CAUSAL; which <<= 1) {
    if (!(set & which)) continue;
    int count = parts_of(attrs, (tn_attr_set)which, parts);
    for (int i = 0; i < count; i++) hash = mix(hash, tn_str_hash((tn_str){ parts[i].at, parts[i].bytes }));
  }
  if (set & TN_ATTR_LITERAL && attrs->literal) hash = hash_literal(hash, &attrs->literal->view);
  return hash;
}
