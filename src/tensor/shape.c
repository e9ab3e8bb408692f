/* tensor/shape.c: counting, broadcasting and printing of shapes.
 *
 * A count refuses early: the product of the lengths that are not 0 must stay
 * within TN_ELEMENT_LIMIT even when another length is 0. An empty tensor needs no memory, but its
 * strides are such products; with this check nothing downstream can overflow. */
#include "tensor/shape.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "tensor/shape_field.h"

tn_shape tn_shape_of(const int64_t *dims, int rank) {
  assert(rank >= 0 && rank <= TN_RANK_LIMIT);
  tn_shape shape = { .rank = rank };
  for (int i = 0; i < rank; i++) shape.dim[i] = dims[i];
  return shape;
}

bool tn_shape_equal(const tn_shape *a, const tn_shape *b) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++) {
    if (a->dim[i] != b->dim[i]) return false;
  }
  return true;
}

bool tn_shape_is_known(const tn_shape *shape) {
  for (int i = 0; i < shape->rank; i++) {
    if (!tn_dim_is_known(shape->dim[i])) return false;
  }
  return true;
}

int64_t tn_shape_count(const tn_shape *shape) {
  if (!tn_shape_is_known(shape)) return -1;
  int64_t count = 1;
  bool empty = false;
  for (int i = 0; i < shape->rank; i++) {
    if (shape->dim[i] == 0) empty = true;
    else if (shape->dim[i] > (TN_ELEMENT_LIMIT - 1) / count) return -2;
    else count *= shape->dim[i];
  }
  return empty ? 0 : count;
}

/* An unknown length may turn out to be 1, so beside a symbol nothing is learned:
 * the symbol may be 1 as well. A known length other than 1 decides. */
static bool broadcast_dims(int64_t a, int64_t b, int64_t *out) {
  if (a == b || b == 1) *out = a;
  else if (a == 1) *out = b;
  else if (a == TN_DIM_UNKNOWN) *out = tn_dim_is_known(b) ? b : TN_DIM_UNKNOWN;
  else if (b == TN_DIM_UNKNOWN) *out = tn_dim_is_known(a) ? a : TN_DIM_UNKNOWN;
  else return false;
  return true;
}

bool tn_shape_broadcast(const tn_shape *a, const tn_shape *b, tn_shape *out, int *axis) {
  tn_shape result = { .rank = a->rank > b->rank ? a->rank : b->rank };
  for (int i = 0; i < result.rank; i++) {
    int at_a = i - (result.rank - a->rank), at_b = i - (result.rank - b->rank);
    int64_t dim_a = at_a >= 0 ? a->dim[at_a] : 1, dim_b = at_b >= 0 ? b->dim[at_b] : 1;
    if (!broadcast_dims(dim_a, dim_b, &result.dim[i])) {
      *axis = i;
      return false;
    }
  }
  *out = result;
  return true;
}

bool tn_shape_axis(int rank, int64_t axis, int *out) {
  if (axis < -(int64_t)rank || axis >= rank) return false;
  *out = (int)(axis < 0 ? axis + rank : axis);
  return true;
}

typedef struct {
  const char *open, *between, *close;
} shape_marks;

static shape_marks marks_of(tn_shape_style style) {
  switch (style) {
    case TN_SHAPE_SPACE: return (shape_marks){ "[", " ", "]" };
    case TN_SHAPE_TUPLE: return (shape_marks){ "(", ",", ")" };
    case TN_SHAPE_COMMA: break;
  }
  return (shape_marks){ "[", ", ", "]" };
}

/* The text of one dimension; a length is written into `digits`. */
static tn_str dim_text(int64_t dim, const tn_names *names, char digits[TN_NUMBER_BYTES]) {
  if (tn_dim_is_known(dim)) return (tn_str){ digits, tn_number_print_i64(dim, digits) };
  if (dim == TN_DIM_UNKNOWN || !names) return TN_LIT("?");
  tn_str name = tn_names_text(names, tn_dim_name(dim));
  return name.len ? name : TN_LIT("?");
}

void tn_shape_print(const tn_shape *shape, const tn_names *names, tn_shape_style style, tn_text *out) {
  shape_marks marks = marks_of(style);
  char digits[TN_NUMBER_BYTES];
  tn_text_puts(out, marks.open);
  for (int i = 0; i < shape->rank; i++) {
    if (i) tn_text_puts(out, marks.between);
    tn_text_add(out, dim_text(shape->dim[i], names, digits));
  }
  tn_text_puts(out, marks.close);
}

/* Long names are truncated so that every dimension is shown: eight of these, the separators and a
 * NUL fit into a field. */
#define FIELD_DIM_BYTES 22

static char *put(char *at, tn_str text) {
  memcpy(at, text.at, text.len);
  return at + text.len;
}

/* Never cuts a UTF-8 sequence in two. */
static char *put_dim(char *at, tn_str text, size_t most) {
  if (text.len <= most) return put(at, text);
  text.len = most - 3;
  while (text.len && ((unsigned char)text.at[text.len] & 0xc0) == 0x80) text.len--;
  return put(put(at, text), TN_LIT("..."));
}

/* name=length. The longest length of a tensor has 13 digits; a longer one stands alone. */
static char *put_bound(char *at, tn_str text, int64_t length) {
  char digits[TN_NUMBER_BYTES];
  tn_str number = dim_text(length, NULL, digits);
  if (number.len > 13) return put(at, number);
  return put(put(put_dim(at, text, FIELD_DIM_BYTES - number.len - 1), TN_LIT("=")), number);
}

tn_field tn_shape_field(const char *name, const tn_shape *shape, const tn_names *names,
                        tn_shape_style style) {
  return tn_shape_field_bound(name, shape, shape, names, style);
}

tn_field tn_shape_field_bound(const char *name, const tn_shape *shape, const tn_shape *lengths,
                              const tn_names *names, tn_shape_style style) {
  _Static_assert(TN_RANK_LIMIT * (FIELD_DIM_BYTES + 2) + 3 <= sizeof((tn_field){ 0 }.inline_text),
                 "a shape fits into a field");
  tn_field field = { .kind = TN_FIELD_TEXT, .name = name };
  shape_marks marks = marks_of(style);
  char digits[TN_NUMBER_BYTES], *at = put(field.inline_text, tn_str_of(marks.open));
  for (int i = 0; i < shape->rank; i++) {
    if (i) at = put(at, tn_str_of(marks.between));
    tn_str text = dim_text(shape->dim[i], names, digits);
    bool bound = tn_dim_is_symbol(shape->dim[i]) && tn_dim_is_known(lengths->dim[i]);
    at = bound ? put_bound(at, text, lengths->dim[i]) : put_dim(at, text, FIELD_DIM_BYTES);
  }
  *put(at, tn_str_of(marks.close)) = 0;
  return field;
}
