/* eager/slots.c: where eager values live and when they go.
 *
 * Slots come in chunks that never move. Giving one back may free a whole chain
 * of remembered operands; that is done with a work list, not by recursion,
 * because a chain can be millions long. */
#include <string.h>

#include "eager/internal.h"

tn_value tn_eager_out_of_memory(tn_eager *eager) {
  return tn_build_fault(&eager->builder, TN_OP_ERROR, (tn_fault){ .kind = TN_FAULT_MEMORY });
}

/* Slot 0 is the error value and is never given out. */
static bool add_chunk(tn_eager *eager) {
  tn_slot *chunk = tn_heap_alloc_aligned(eager->heap, TN_SLOT_CHUNK * sizeof *chunk, 64);
  if (!chunk) return false;
  if (!tn_vec_push(eager->heap, &eager->chunks, chunk)) {
    tn_heap_free_aligned(eager->heap, chunk, TN_SLOT_CHUNK * sizeof *chunk);
    return false;
  }
  memset(chunk, 0, TN_SLOT_CHUNK * sizeof *chunk);
  tn_value first = (tn_value)((eager->chunks.count - 1) * TN_SLOT_CHUNK);
  for (tn_value i = TN_SLOT_CHUNK; i-- > 0;) {
    if (first + i == TN_ERROR_VALUE) continue;
    chunk[i].next = eager->free;
    eager->free = first + i;
  }
  return true;
}

tn_value tn_slot_blank(tn_eager *eager) {
  if (eager->free == TN_ERROR_VALUE && !add_chunk(eager)) return tn_eager_out_of_memory(eager);
  tn_value value = eager->free;
  tn_slot *slot = tn_slot_of(eager, value);
  eager->free = slot->next;
  eager->live++;
  slot->references = 1;
  slot->serial = ++eager->serial;
  return value;
}

/* Forgets everything but the free list; the elements need not be cleared. */
static void clear(tn_slot *slot) {
  slot->variable = slot->needs_grad = slot->leaf = slot->small = 0;
  slot->op = TN_OP_ERROR;
  slot->count = 0;
  slot->value = slot->grad = TN_ERROR_VALUE;
  slot->more = NULL;
  slot->attrs = NULL;
  slot->buffer = NULL;
}

static void release(tn_eager *eager, tn_value value) {
  tn_slot *slot = tn_slot_of(eager, value);
  clear(slot);
  slot->next = eager->free;
  eager->free = value;
  eager->live--;
}

tn_value tn_slot_new(tn_eager *eager, const tn_type *type) {
  tn_value value = tn_slot_blank(eager);
  if (value == TN_ERROR_VALUE) return value;
  tn_slot *slot = tn_slot_of(eager, value);
  int64_t count = tn_shape_count(&type->shape);
  void *data = slot->few;
  slot->type = *type;
  slot->small = type->dtype == TN_F32 && count <= TN_SLOT_FEW;
  slot->elements = slot->small ? (uint32_t)count : 0;
  if (!slot->small) {
    size_t bytes;
    bool fits = count >= 0 && tn_size_mul((size_t)count, tn_dtype_bytes(type->dtype), &bytes);
    slot->buffer = fits ? tn_buffer_new(eager->heap, bytes) : NULL;
    if (!slot->buffer) {
      release(eager, value);
      return tn_eager_out_of_memory(eager);
    }
    data = slot->buffer->data;
  }
  slot->view = tn_view_make(data, type->dtype, &type->shape);
  return value;
}

static tn_attrs *copy_attrs(tn_eager *eager, const tn_attrs *attrs) {
  tn_attrs *copy = eager->spare_attrs.count > 0 ? tn_vec_pop(&eager->spare_attrs)
                                                : tn_heap_alloc(eager->heap, sizeof *copy);
  if (copy) *copy = *attrs;
  return copy;
}

static void drop_attrs(tn_eager *eager, tn_attrs *attrs) {
  if (!tn_vec_push(eager->heap, &eager->spare_attrs, attrs)) tn_heap_free(eager->heap, attrs, sizeof *attrs);
}

bool tn_slot_remember(tn_eager *eager, tn_value value, tn_op op, const tn_value *in, int count,
                      const tn_attrs *attrs) {
  tn_slot *slot = tn_slot_of(eager, value);
  tn_value *inputs = slot->in;
  if (count > TN_SLOT_INPUTS) {
    slot->more = inputs = tn_heap_alloc(eager->heap, (size_t)count * sizeof *inputs);
    if (!inputs) return false;
    slot->count = count;
  }
  if (attrs && tn_op_sig_of(op)->attrs != 0) {
    slot->attrs = copy_attrs(eager, attrs);
    if (!slot->attrs) {
      if (slot->more) tn_heap_free(eager->heap, slot->more, (size_t)count * sizeof *inputs);
      slot->more = NULL;
      slot->count = 0;
      return false;
    }
  }
  for (int i = 0; i < count; i++) {
    inputs[i] = in[i];
    tn_slot_of(eager, in[i])->references++;
  }
  slot->op = op;
  slot->count = count;
  return true;
}

void tn_eager_ref(tn_eager *eager, tn_value value) {
  if (value != TN_ERROR_VALUE) tn_slot_of(eager, value)->references++;
}

/* Takes a reference away; a slot without any joins the work list. */
static void drop(tn_eager *eager, tn_value value, tn_value *work) {
  if (value == TN_ERROR_VALUE) return;
  tn_slot *slot = tn_slot_of(eager, value);
  if (--slot->references > 0) return;
  slot->next = *work;
  *work = value;
}

static void finish(tn_eager *eager, tn_value value, tn_value *work) {
  tn_slot *slot = tn_slot_of(eager, value);
  const tn_value *inputs = tn_slot_inputs(slot);
  for (int i = 0; i < slot->count; i++) drop(eager, inputs[i], work);
  if (slot->more) tn_heap_free(eager->heap, slot->more, (size_t)slot->count * sizeof *slot->more);
  if (slot->attrs) drop_attrs(eager, slot->attrs);
  if (slot->grad != TN_ERROR_VALUE) drop(eager, slot->grad, work);
  if (slot->variable) {
    tn_slot_of(eager, slot->value)->value = TN_ERROR_VALUE;
    drop(eager, slot->value, work);
  }
  tn_buffer_unref(slot->buffer);
  release(eager, value);
}

void tn_eager_unref(tn_eager *eager, tn_value value) {
  tn_value work = TN_ERROR_VALUE;
  if (value != TN_ERROR_VALUE && tn_slot_of(eager, value)->references > 1) {
    tn_slot_of(eager, value)->references--;
    return;
  }
  drop(eager, value, &work);
  while (work != TN_ERROR_VALUE) {
    tn_value next = work;
    work = tn_slot_of(eager, next)->next;
    finish(eager, next, &work);
  }
}

size_t tn_eager_live(const tn_eager *eager) { return eager->live; }
