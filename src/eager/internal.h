/* eager/internal.h: slots, as the files of eager/ share them. */
#ifndef TN_EAGER_INTERNAL_H
#define TN_EAGER_INTERNAL_H

#include <string.h>

#include "backend/backend.h"
#include "eager/eager.h"

#define TN_SLOT_FEW    16  /* elements that live inside a slot; a whole number of TN_SLOT_LANES */
#define TN_SLOT_LANES  8   /* elements that the short path takes together */
#define TN_SLOT_INPUTS 3   /* operands that do */
#define TN_SLOT_CHUNK  256 /* slots that are asked for together */

typedef struct {
  uint32_t references; /* 0: free */
  uint8_t variable;    /* names `value` */
  uint8_t needs_grad;  /* depends on a variable */
  uint8_t leaf;        /* the value of a variable */
  uint8_t small;       /* the elements are in `few`, f32, row-major without gaps */
  tn_op op;            /* what made it; TN_OP_ERROR when that is not remembered */
  int32_t count;       /* remembered operands */
  uint64_t serial;     /* order of creation, for the backward pass */
  uint32_t mark;       /* the backward pass that has met it */
  tn_value value;      /* variable: its value now. leaf: its variable, 0 when that is gone */
  tn_value grad;       /* variable: accumulated. others: during a backward pass */
  tn_value next;       /* free list, and work lists */
  tn_value in[TN_SLOT_INPUTS];
  tn_value *more;    /* when there are more operands than fit */
  tn_attrs *attrs;   /* remembered; NULL when they were all zero */
  tn_buffer *buffer; /* NULL for small ones */
  uint32_t elements; /* of a small one: how many */
  tn_type type;
  tn_view view;
  _Alignas(64) float few[TN_SLOT_FEW];
} tn_slot;

typedef tn_vec(tn_value) tn_values;

struct tn_eager {
  tn_builder builder; /* first, so that a builder is an eager */
  tn_heap *heap;
  const tn_backend *backend;
  int threads;
  bool recording;
  bool everything; /* records what no gradient flows through, too */
  tn_vec(tn_slot *) chunks;
  tn_value free; /* head of the free slots */
  size_t live;
  uint64_t serial;
  uint32_t mark;
  tn_values owned; /* what the builder has made since the scope began */
  tn_values order; /* a backward pass's work space */
  tn_values stack;
  tn_values leaves; /* the values of variables that it has met */
  tn_vec(tn_attrs *) spare_attrs;
  void *scratch;
  size_t scratch_bytes;
};

static inline tn_slot *tn_slot_of(const tn_eager *eager, tn_value value) {
  return &eager->chunks.at[value / TN_SLOT_CHUNK][value % TN_SLOT_CHUNK];
}
/* The value that operations use: a variable's value now, else the slot itself. */
static inline tn_value tn_slot_value(const tn_eager *eager, tn_value value) {
  const tn_slot *slot = tn_slot_of(eager, value);
  return slot->variable ? slot->value : value;
}
static inline const tn_value *tn_slot_inputs(const tn_slot *slot) {
  return slot->more ? slot->more : slot->in;
}

/* Takes over the shape of another small slot. Only what differs from a number is written: most are. */
static inline void tn_slot_shape_like(tn_slot *slot, const tn_slot *like) {
  int32_t rank = like->type.shape.rank;
  slot->small = 1;
  slot->elements = like->elements;
  for (int32_t i = rank; i < slot->type.shape.rank; i++) slot->type.shape.dim[i] = 0;
  for (int32_t i = 0; i < rank; i++) {
    slot->type.shape.dim[i] = slot->view.dim[i] = like->type.shape.dim[i];
    slot->view.stride[i] = like->view.stride[i];
  }
  slot->type.dtype = slot->view.dtype = TN_F32;
  slot->type.shape.rank = slot->view.rank = rank;
  slot->view.data = slot->few;
}
static inline bool tn_slot_same_shape(const tn_slot *a, const tn_slot *b) {
  int32_t rank = a->type.shape.rank;
  bool same = rank == b->type.shape.rank;
  for (int32_t i = 0; same && i < rank; i++) same = a->type.shape.dim[i] == b->type.shape.dim[i];
  return same;
}

/* Whole groups of lanes, every NaN made the one that may be stored. Integers, so that compilers see that
 * it is the same for each lane. */
static inline void tn_slot_store_lanes(float *restrict to, const float *restrict from, uint32_t count) {
  for (uint32_t at = 0; at < count; at += TN_SLOT_LANES) {
    uint32_t bits[TN_SLOT_LANES];
    memcpy(bits, from + at, sizeof bits);
    for (int i = 0; i < TN_SLOT_LANES; i++) {
      uint32_t nan = (uint32_t) - (int32_t)((int32_t)(bits[i] & 0x7fffffffu) > 0x7f800000);
      bits[i] = (bits[i] & ~nan) | (0x7fc00000u & nan);
    }
    memcpy(to + at, bits, sizeof bits);
  }
}

/* A slot with one reference, type, view and room for its elements; 0 when memory runs out. */
tn_value tn_slot_new(tn_eager *eager, const tn_type *type);
/* The same with nothing in it. */
tn_value tn_slot_blank(tn_eager *eager);
/* Remembers where it came from and holds the operands; whether a gradient flows is the caller's to say.
 * False when memory runs out. */
bool tn_slot_remember(tn_eager *eager, tn_value value, tn_op op, const tn_value *in, int count,
                      const tn_attrs *attrs);
tn_value tn_eager_out_of_memory(tn_eager *eager);
/* The last step of making a value: remembers where it came from if a gradient can flow
 * there. Gives it back and yields 0 when memory runs out. */
tn_value tn_eager_finish(tn_eager *eager, tn_value value, tn_op op, const tn_value *in, int count,
                         const tn_attrs *attrs);
/* The same, when it is known whether one can. */
tn_value tn_eager_remember(tn_eager *eager, tn_value value, tn_op op, const tn_value *in, int count,
                           const tn_attrs *attrs, bool gradient);
/* Hands a value's reference to the open scope. */
tn_value tn_eager_own(tn_eager *eager, tn_value value);

/* Sorts values, newest first; eager->stack is its work space. False when memory runs out. */
bool tn_eager_sort_by_age(tn_eager *eager, tn_values *values);

/* Whether a gradient can flow through the operation to what it was given. */
bool tn_eager_flows(const tn_eager *eager, tn_op op, const tn_value *in, int count, tn_dtype dtype);

/* The short path (quick.c): elementwise operations on a few f32 elements, of one shape or
 * with a single number. The reference is the caller's; 0 when it does not apply. With `reuse` the result
 * may take the place of an operand that has no other reference; that is then the caller's, too. */
tn_value tn_eager_quick(tn_eager *eager, tn_op op, const tn_value *in, int count, bool reuse);
/* Shorter still: two operands, the second added to (and so on) the first in its own place. False when it does
 * not apply. */
bool tn_eager_in_place(tn_eager *eager, tn_op op, const tn_value *in);
/* The same backward (quick_grad.c): the gradients of the operands of a slot, passed on at once; its own may
 * be gone then. False when it does not apply; *ok is false when memory ran out. */
bool tn_eager_quick_grad(tn_eager *eager, tn_slot *slot, bool *ok);
/* The long path (run.c): any primitive operation, through the back end. */
tn_value tn_eager_run(tn_eager *eager, tn_op op, const tn_value *in, int count, const tn_attrs *attrs,
                      const tn_type *type);
#endif
