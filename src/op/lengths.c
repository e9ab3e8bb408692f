/* op/lengths.c: arithmetic of lengths that may be symbolic or unknown.
 *
 * Two different names may have the same length when the program runs, but a rule that assumed so
 * would accept programs that usually fail. So names are equal only to themselves. An unknown length
 * is accepted everywhere: it is checked again when the symbols are bound and types are inferred
 * again. */
#include "op/internal.h"

bool tn_dim_join(int64_t a, int64_t b, int64_t *out) {
  if (a != b && a != TN_DIM_UNKNOWN && b != TN_DIM_UNKNOWN) return false;
  *out = a == TN_DIM_UNKNOWN ? b : a;
  return true;
}

int64_t tn_dim_add(int64_t a, int64_t b) {
  if (tn_dim_is_known(a) && tn_dim_is_known(b)) return a + b;
  if (a == 0) return b;
  return b == 0 ? a : TN_DIM_UNKNOWN;
}

bool tn_shape_join(const tn_shape *a, const tn_shape *b, tn_shape *out, int *dimension) {
  tn_shape result = { .rank = a->rank };
  int rank = a->rank < b->rank ? a->rank : b->rank;
  for (int i = 0; i < rank; i++) {
    if (!tn_dim_join(a->dim[i], b->dim[i], &result.dim[i])) {
      *dimension = i;
      return false;
    }
  }
  *dimension = rank;
  if (a->rank != b->rank) return false;
  *out = result;
  return true;
}

static void add_symbol(tn_product *product, int64_t symbol) {
  int at = product->symbol_count++;
  for (; at > 0 && product->symbol[at - 1] > symbol; at--) product->symbol[at] = product->symbol[at - 1];
  product->symbol[at] = symbol;
}

bool tn_product_of(const tn_shape *shape, tn_product *out) {
  tn_product product = { .known = 1 };
  for (int i = 0; i < shape->rank; i++) {
    int64_t dim = shape->dim[i];
    if (dim == TN_DIM_UNKNOWN) product.unknown = true;
    else if (tn_dim_is_symbol(dim)) add_symbol(&product, dim);
    else if (dim == 0) product.empty = true;
    else if (dim > (TN_ELEMENT_LIMIT - 1) / product.known) return false;
    else product.known *= dim;
  }
  *out = product;
  return true;
}

/* Both lists ascend, so one pass over them finds the common part. */
void tn_product_cancel(tn_product *a, tn_product *b) {
  int from_a = 0, from_b = 0, kept_a = 0, kept_b = 0;
  while (from_a < a->symbol_count && from_b < b->symbol_count) {
    int64_t in_a = a->symbol[from_a], in_b = b->symbol[from_b];
    if (in_a == in_b) from_a++, from_b++;
    else if (in_a < in_b) a->symbol[kept_a++] = a->symbol[from_a++];
    else b->symbol[kept_b++] = b->symbol[from_b++];
  }
  while (from_a < a->symbol_count) a->symbol[kept_a++] = a->symbol[from_a++];
  while (from_b < b->symbol_count) b->symbol[kept_b++] = b->symbol[from_b++];
  a->symbol_count = kept_a;
  b->symbol_count = kept_b;
}
