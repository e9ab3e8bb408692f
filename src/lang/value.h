/* lang/value.h: the results of a program in any language.
 *
 * A tree in an arena; tensors share their buffers and are released with the
 * list they are in. JSON is rendered here, once; each language has its own
 * text form for people. */
#ifndef TN_LANG_VALUE_H
#define TN_LANG_VALUE_H

#include "tensor/tensor.h"

typedef enum {
  TN_VALUE_UNIT,
  TN_VALUE_TENSOR,
  TN_VALUE_INT,   /* i32, i64 */
  TN_VALUE_FLOAT, /* f32, f64 */
  TN_VALUE_BOOL,
  TN_VALUE_STRING,
  TN_VALUE_SHAPE,
  TN_VALUE_TUPLE,
  TN_VALUE_LIST,
  TN_VALUE_GRAD,     /* items with names, sorted by name */
  TN_VALUE_INSTANCE, /* text is the module */
  TN_VALUE_BLOCK,    /* text is its source */
  TN_VALUE_FUNCTION  /* text is its name */
} tn_value_kind;

typedef struct tn_datum {
  tn_value_kind kind;
  tn_str name;      /* where it has one */
  tn_dtype dtype;   /* tensor, int, float */
  tn_shape shape;   /* tensor, shape; may hold symbols, and then there is no data */
  tn_tensor tensor; /* buffer NULL: data not known */
  bool has_fill;    /* a tensor whose data is not known but uniform */
  double number;    /* float, fill */
  int64_t integer;  /* int, bool */
  tn_str text;
  struct tn_datum *items; /* tuple, list, grad; a shape of plain numbers, instead of `shape` */
  size_t count;
  struct tn_datum *next; /* of those that are being released */
} tn_datum;

/* As CONTRACT.md writes a VALUE. */
void tn_datum_json(const tn_datum *datum, const tn_names *names, tn_text *out);
/* Releases the buffers of the whole tree; the nodes belong to their arena. */
void tn_datum_release(tn_datum *datum);
#endif
