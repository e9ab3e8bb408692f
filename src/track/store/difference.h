/* track/store/difference.h: in which lines two texts differ. */
#ifndef TN_STORE_DIFFERENCE_H
#define TN_STORE_DIFFERENCE_H

#include "base/heap.h"
#include "base/str.h"

/* A line that only one of the texts has. Those of one change follow each other. */
typedef struct {
  bool is_new;          /* of the second text */
  bool first_of_change;
  size_t a_number, b_number; /* of this line, and where it would be in the other text; from 1 */
  tn_str text;          /* without its end */
} tn_text_line;

/* A shortest list of such lines, in order. Texts that differ in more than some two thousand lines in one
 * piece are taken to differ there in every line, so that the cost stays bounded. False when memory ran
 * out. */
bool tn_text_difference(tn_heap *heap, tn_str a, tn_str b,
                        void (*take)(void *context, const tn_text_line *line), void *context);
#endif
