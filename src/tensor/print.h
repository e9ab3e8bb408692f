/* tensor/print.h: tensors as text, in the spellings of the three languages. */
#ifndef TN_TENSOR_PRINT_H
#define TN_TENSOR_PRINT_H

#include "tensor/tensor.h"

typedef struct {
  const char *open, *close, *between;   /* "[" "]" ", " or "(" ")" " " */
  int64_t edge;                         /* past 2*edge items an axis is shortened in the middle; 0: never */
} tn_print_style;

/* "[[1, 2], [3, 4]]". For people (`shorten`) a tensor of more than 1,000 elements is cut in the middle. */
tn_print_style tn_print_list(const tn_view *view, bool shorten);

/* A 0-d tensor prints as its number. */
void tn_view_print(const tn_view *view, const tn_print_style *style, tn_text *out);
/* One element as JSON: a number, true/false, or "NaN" "Infinity" "-Infinity". */
void tn_view_print_json_data(const tn_view *view, tn_text *out);   /* [1,2,3], row-major, flat */
#endif
