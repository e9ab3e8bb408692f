/* train/lasting.c: memory for parameters and optimiser state, of this process or shared by all
 * ranks. */
#include "train/lasting.h"

#include "cluster/tree.h"

static size_t bytes_of(const tn_type *type) {
  return (size_t)tn_shape_count(&type->shape) * tn_dtype_bytes(type->dtype);
}

static char *copy_at(const tn_lasting *l, int copy) { return l->window + (size_t)copy * l->copy; }

static void point_to_current(tn_lasting *l) {
  for (int i = 0; i < l->count; i++) l->tensors[i].view.data = copy_at(l, l->current) + l->start[i];
}

/* Every tensor begins at a chunk, so that no two ranks write to the same cache line. */
static bool take_window(tn_lasting *l, const tn_type *types, tn_transport *transport, int ranks) {
  size_t chunks = 0, bytes;
  for (int i = 0; i < l->count; i++) {
    l->start[i] = chunks * TN_TREE_CHUNK;
    chunks += tn_tree_chunks(bytes_of(&types[i]));
  }
  l->copy = chunks * TN_TREE_CHUNK;
  if (!tn_size_mul(2, l->copy, &bytes)) return false;
  l->window = tn_transport_share(transport, bytes);
  if (!l->window) return true;
  if (!tn_heap_count(l->heap, 0, bytes / (size_t)ranks)) return false;
  l->counted = bytes / (size_t)ranks;
  for (int i = 0; i < l->count; i++)
    l->tensors[i].view = tn_view_make(NULL, types[i].dtype, &types[i].shape);
  point_to_current(l);
  return true;
}

bool tn_lasting_make(tn_lasting *l, tn_heap *heap, tn_arena *arena, const tn_type *types, int count,
                     tn_transport *transport, int ranks) {
  *l = (tn_lasting){ .heap = heap };
  l->tensors = tn_arena_array(arena, (size_t)count + 1, sizeof *l->tensors);
  l->start = tn_arena_array(arena, (size_t)count + 1, sizeof *l->start);
  if (!l->tensors || !l->start) return false;
  l->count = count;
  if (transport && !take_window(l, types, transport, ranks)) return false;
  for (int i = 0; i < count && !l->window; i++)
    if (!tn_tensor_zeros(heap, types[i].dtype, &types[i].shape, &l->tensors[i])) return false;
  return true;
}

void tn_lasting_free(tn_lasting *l) {
  for (int i = 0; i < l->count; i++) tn_tensor_unref(&l->tensors[i]);
  if (l->counted > 0) (void)tn_heap_count(l->heap, l->counted, 0);
}

bool tn_lasting_share(const tn_lasting *l, int index, tn_tensor *out) {
  if (l->window) return tn_tensor_copy(l->heap, &l->tensors[index].view, out);
  *out = tn_tensor_ref(&l->tensors[index]);
  return true;
}

static tn_view piece_in(const tn_lasting *l, int copy, int index, tn_elements piece) {
  tn_dtype dtype = l->tensors[index].view.dtype;
  tn_shape shape = tn_shape_make(1, piece.count);
  size_t from = l->start[index] + (size_t)piece.first * tn_dtype_bytes(dtype);
  return tn_view_make(copy_at(l, copy) + from, dtype, &shape);
}

tn_view tn_lasting_now(const tn_lasting *l, int index, tn_elements piece) {
  return piece_in(l, l->current, index, piece);
}

tn_view tn_lasting_next(const tn_lasting *l, int index, tn_elements piece) {
  return piece_in(l, 1 - l->current, index, piece);
}

void tn_lasting_swap(tn_lasting *l) {
  l->current = 1 - l->current;
  point_to_current(l);
}
