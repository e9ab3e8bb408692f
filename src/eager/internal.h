/* eager/internal.h: slots, as the files of eager/ share them. */
#ifndef TN_EAGER_INTERNAL_H
#define TN_EAGER_INTERNAL_H

#include "backend/backend.h"
#include "eager/eager.h"

#define TN_SLOT_FEW    16  /* elements that live inside a slot */
#define TN_SLOT_INPUTS 3   /* operands that do */
#define TN_SLOT_CHUNK  256 /* slots that are asked for together */

typedef struct {
  uint32_t references; /* 0: free */
  uint8_t variable;    /* names `value` */
  uint8_t needs_grad;  /* depends on a variable */
  uint8_t leaf;        /* the value of a variable */
  uint8_t small;       /* the elements are in `few` */
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
  tn_type type;
  tn_view view;
  _Alignas(64) float few[TN_SLOT_FEW];
} tn_slot;

struct tn_eager {
  tn_builder builder; /* first, so that a builder is an eager */
  tn_heap *heap;
  const tn_backend *backend;
  int threads;
  bool recording;
  bool everything;              /* records what no gradient flows through, too */
  tn_vec(tn_slot *) chunks;
  tn_value free; /* head of the free slots */
  size_t live;
  uint64_t serial;
  uint32_t mark;
  tn_vec(tn_value) owned; /* what the builder has made since the scope began */
  tn_vec(tn_value) order; /* a backward pass's work space */
  tn_vec(tn_value) stack;
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
/* Hands a value's reference to the open scope. */
tn_value tn_eager_own(tn_eager *eager, tn_value value);

/* Sorts eager->order, newest first. False when memory runs out. */
bool tn_eager_sort_by_age(tn_eager *eager);

/* The short path (quick.c): elementwise operations on a few f32 elements, of one shape or
 * with a single number. The reference is the caller's; 0 when it does not apply. */
tn_value tn_eager_quick(tn_eager *eager, tn_op op, const tn_value *in, int count);
/* The long path (run.c): any primitive operation, through the back end. */
tn_value tn_eager_run(tn_eager *eager, tn_op op, const tn_value *in, int count, const tn_attrs *attrs,
                      const tn_type *type);
#endif
