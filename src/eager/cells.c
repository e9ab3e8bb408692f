/* eager/cells.c: allocates and frees the cells of eager values.
 *
 * Cells come in chunks that never move. Freeing one may free a whole chain of recorded operands;
 * that uses a work list, not recursion, because a chain can be millions long. */
#include <string.h>

#include "eager/internal.h"

tn_value tn_eager_out_of_memory(tn_eager *eager) {
  return tn_build_fault(&eager->builder, TN_OP_ERROR, (tn_fault){ .kind = TN_FAULT_MEMORY });
}

/* Cell 0 is the error value and is never given out. */
static bool add_chunk(tn_eager *eager) {
  tn_cell *chunk = tn_heap_alloc_aligned(eager->heap, TN_CELL_CHUNK * sizeof *chunk, 64);
  if (!chunk) return false;
  if (!tn_vec_push(eager->heap, &eager->chunks, chunk)) {
    tn_heap_free_aligned(eager->heap, chunk, TN_CELL_CHUNK * sizeof *chunk);
    return false;
  }
  memset(chunk, 0, TN_CELL_CHUNK * sizeof *chunk);
  tn_value first = (tn_value)((eager->chunks.count - 1) * TN_CELL_CHUNK);
  for (tn_value i = TN_CELL_CHUNK; i-- > 0;) {
    if (first + i == TN_ERROR_VALUE) continue;
    chunk[i].next = eager->free;
    eager->free = first + i;
  }
  return true;
}

tn_value tn_cell_blank(tn_eager *eager) {
  if (eager->free == TN_ERROR_VALUE && !add_chunk(eager)) return tn_eager_out_of_memory(eager);
  tn_value value = eager->free;
  tn_cell *cell = tn_cell_of(eager, value);
  eager->free = cell->next;
  eager->live++;
  cell->mark = 0;
  cell->references = 1;
  cell->serial = ++eager->serial;
  return value;
}

/* ---- layouts ---- */

/* Shapes of at least one and at most TN_CELL_FEW elements: rank and lengths in four bits each. */
static uint64_t shape_key(const tn_shape *shape) {
  uint64_t key = (uint64_t)shape->rank;
  for (int i = 0; i < shape->rank; i++) key = key << 4 | (uint64_t)(shape->dim[i] - 1);
  return key;
}

/* The layout that all small cells of a shape have; NULL when memory runs out. */
static tn_layout *shared_layout(tn_eager *eager, const tn_shape *shape) {
  if (shape->rank == 0 && eager->single) return eager->single;
  uint64_t key = shape_key(shape), *known = tn_map_get(&eager->layouts, key);
  if (known) return (tn_layout *)(uintptr_t)*known;
  tn_layout *layout = tn_heap_alloc(eager->heap, sizeof *layout);
  if (!layout) return NULL;
  *layout = (tn_layout){ .type = { TN_F32, *shape }, .view = tn_view_make(NULL, TN_F32, shape) };
  if (tn_map_put(&eager->layouts, key, (uint64_t)(uintptr_t)layout)) return layout;
  tn_heap_free(eager->heap, layout, sizeof *layout);
  return NULL;
}

bool tn_cell_prepare(tn_eager *eager) {
  tn_map_init(&eager->layouts, eager->heap);
  eager->single = shared_layout(eager, &TN_SCALAR_SHAPE);
  return eager->single != NULL;
}

static void drop_layout(tn_eager *eager, tn_layout *layout) {
  tn_buffer_unref(layout->buffer);
  if (!tn_vec_push(eager->heap, &eager->spare_layouts, layout))
    tn_heap_free(eager->heap, layout, sizeof *layout);
}

/* Forgets everything but the free list; the elements need not be cleared. */
static void release(tn_eager *eager, tn_value value) {
  tn_cell *cell = tn_cell_of(eager, value);
  if (cell->layout && !cell->small) drop_layout(eager, cell->layout);
  cell->variable = cell->needs_grad = cell->leaf = cell->small = 0;
  cell->op = TN_OP_ERROR;
  cell->count = 0;
  cell->value = cell->grad = TN_ERROR_VALUE;
  cell->layout = NULL;
  cell->rest = NULL;
  cell->next = eager->free;
  eager->free = value;
  eager->live--;
}

tn_value tn_cell_over(tn_eager *eager, const tn_type *type, const tn_view *view, tn_buffer *buffer) {
  tn_layout *layout = eager->spare_layouts.count > 0 ? tn_vec_pop(&eager->spare_layouts)
                                                     : tn_heap_alloc(eager->heap, sizeof *layout);
  tn_value value = layout ? tn_cell_blank(eager) : tn_eager_out_of_memory(eager);
  if (value == TN_ERROR_VALUE) {
    tn_buffer_unref(buffer);
    tn_heap_free(eager->heap, layout, sizeof *layout);
    return value;
  }
  *layout = (tn_layout){ *type, *view, buffer };
  tn_cell_of(eager, value)->layout = layout;
  return value;
}

static tn_value small_cell(tn_eager *eager, const tn_type *type, int64_t count) {
  tn_layout *layout = shared_layout(eager, &type->shape);
  tn_value value = layout ? tn_cell_blank(eager) : tn_eager_out_of_memory(eager);
  if (value == TN_ERROR_VALUE) return value;
  tn_cell *cell = tn_cell_of(eager, value);
  cell->small = 1;
  cell->elements = (uint8_t)count;
  cell->layout = layout;
  return value;
}

tn_value tn_cell_new(tn_eager *eager, const tn_type *type) {
  int64_t count = tn_shape_count(&type->shape);
  size_t bytes;
  if (type->dtype == TN_F32 && count > 0 && count <= TN_CELL_FEW) return small_cell(eager, type, count);
  bool fits = count >= 0 && tn_size_mul((size_t)count, tn_dtype_bytes(type->dtype), &bytes);
  tn_buffer *buffer = fits ? tn_buffer_new(eager->heap, bytes) : NULL;
  if (!buffer) return tn_eager_out_of_memory(eager);
  tn_view view = tn_view_make(buffer->data, type->dtype, &type->shape);
  return tn_cell_over(eager, type, &view, buffer);
}

/* ---- what is remembered ---- */

static void drop_rest(tn_eager *eager, tn_cell_rest *rest, int count) {
  if (rest->in) tn_heap_free(eager->heap, rest->in, (size_t)count * sizeof *rest->in);
  if (!tn_vec_push(eager->heap, &eager->spare_rests, rest)) tn_heap_free(eager->heap, rest, sizeof *rest);
}

/* NULL when memory runs out. */
static tn_cell_rest *new_rest(tn_eager *eager, int count, const tn_attrs *attrs) {
  tn_cell_rest *rest = eager->spare_rests.count > 0 ? tn_vec_pop(&eager->spare_rests)
                                                    : tn_heap_alloc(eager->heap, sizeof *rest);
  if (!rest) return NULL;
  *rest = (tn_cell_rest){ 0 };
  if (attrs) rest->attrs = *attrs;
  if (count <= TN_CELL_INPUTS) return rest;
  rest->in = tn_heap_alloc(eager->heap, (size_t)count * sizeof *rest->in);
  if (rest->in) return rest;
  drop_rest(eager, rest, 0);
  return NULL;
}

bool tn_cell_remember(tn_eager *eager, tn_value value, tn_op op, const tn_value *in, int count,
                      const tn_attrs *attrs) {
  tn_cell *cell = tn_cell_of(eager, value);
  tn_value *inputs = cell->in;
  bool special = attrs && tn_op_sig_of(op)->attrs != 0;
  if (special || count > TN_CELL_INPUTS) {
    cell->rest = new_rest(eager, count, special ? attrs : NULL);
    if (!cell->rest) return false;
    if (count > TN_CELL_INPUTS) inputs = cell->rest->in;
  }
  for (int i = 0; i < count; i++) {
    inputs[i] = in[i];
    tn_cell_of(eager, in[i])->references++;
  }
  cell->op = (uint16_t)op;
  cell->count = count;
  return true;
}

void tn_eager_ref(tn_eager *eager, tn_value value) {
  if (value != TN_ERROR_VALUE) tn_cell_of(eager, value)->references++;
}

/* Takes a reference away; a cell without any joins the work list. */
static void drop(tn_eager *eager, tn_value value, tn_value *work) {
  if (value == TN_ERROR_VALUE) return;
  tn_cell *cell = tn_cell_of(eager, value);
  if (--cell->references > 0) return;
  cell->next = *work;
  *work = value;
}

static void finish(tn_eager *eager, tn_value value, tn_value *work) {
  tn_cell *cell = tn_cell_of(eager, value);
  const tn_value *inputs = tn_cell_inputs(cell);
  for (int i = 0; i < cell->count; i++) drop(eager, inputs[i], work);
  if (cell->rest) drop_rest(eager, cell->rest, cell->count);
  if (cell->grad != TN_ERROR_VALUE) drop(eager, cell->grad, work);
  if (cell->variable) {
    tn_cell_of(eager, cell->value)->value = TN_ERROR_VALUE;
    drop(eager, cell->value, work);
  }
  release(eager, value);
}

void tn_eager_unref(tn_eager *eager, tn_value value) {
  tn_value work = TN_ERROR_VALUE;
  if (value != TN_ERROR_VALUE && tn_cell_of(eager, value)->references > 1) {
    tn_cell_of(eager, value)->references--;
    return;
  }
  drop(eager, value, &work);
  while (work != TN_ERROR_VALUE) {
    tn_value next = work;
    work = tn_cell_of(eager, next)->next;
    finish(eager, next, &work);
  }
}

/* Cells are freed chunk by chunk, after the memory that they hold elsewhere. */
static void free_cell(tn_eager *eager, tn_cell *cell) {
  if (cell->rest) drop_rest(eager, cell->rest, cell->count);
  if (cell->layout && !cell->small) drop_layout(eager, cell->layout);
}

void tn_cells_free(tn_eager *eager) {
  tn_heap *heap = eager->heap;
  for (size_t c = 0; c < eager->chunks.count; c++) {
    for (size_t i = 0; i < TN_CELL_CHUNK; i++) free_cell(eager, &eager->chunks.at[c][i]);
    tn_heap_free_aligned(heap, eager->chunks.at[c], TN_CELL_CHUNK * sizeof(tn_cell));
  }
  for (size_t i = 0; i < eager->spare_rests.count; i++)
    tn_heap_free(heap, eager->spare_rests.at[i], sizeof(tn_cell_rest));
  for (size_t i = 0; i < eager->spare_layouts.count; i++)
    tn_heap_free(heap, eager->spare_layouts.at[i], sizeof(tn_layout));
  for (size_t i = 0; i < eager->layouts.count; i++)
    tn_heap_free(heap, (void *)(uintptr_t)eager->layouts.entries[i].value, sizeof(tn_layout));
  tn_map_free(&eager->layouts);
  tn_vec_free(heap, &eager->spare_rests);
  tn_vec_free(heap, &eager->spare_layouts);
  tn_vec_free(heap, &eager->chunks);
}

size_t tn_eager_live(const tn_eager *eager) { return eager->live; }
