/* eager/internal.h: the cells that hold eager values. */
#ifndef TN_EAGER_INTERNAL_H
#define TN_EAGER_INTERNAL_H

#include <string.h>

#include "backend/backend.h"
#include "base/map.h"
#include "eager/eager.h"

#define TN_CELL_FEW    16  /* elements that live inside a cell; a whole number of TN_CELL_LANES */
#define TN_CELL_LANES  8   /* elements that the short path takes together */
#define TN_CELL_INPUTS 3   /* operands that do */
#define TN_CELL_CHUNK  256 /* cells that are allocated together */

/* How elements are laid out, and where. Small cells of one shape share theirs, whose view has no data and
 * which has no buffer; any other cell has its own. */
typedef struct {
  tn_type type;
  tn_view view;
  tn_buffer *buffer;
} tn_layout;

/* The parts of a record that few operations need. */
typedef struct {
  tn_attrs attrs;
  tn_value *in; /* operands, when there are more than fit into the cell */
} tn_cell_rest;

/* One cache line describes the value, the next holds a few elements: a long tape is read and
 * written from end to end, and its size decides the cost. */
typedef struct {
  uint32_t references;    /* 0: free */
  uint16_t op;            /* tn_op that made it; TN_OP_ERROR when that is not remembered */
  uint8_t elements;       /* of a small one: how many */
  uint8_t variable : 1;   /* names `value` */
  uint8_t needs_grad : 1; /* depends on a variable */
  uint8_t leaf : 1;       /* the value of a variable */
  uint8_t small : 1;      /* the elements are in `few`, f32, row-major without gaps, at least one */
  int32_t count;          /* remembered operands */
  union {
    uint32_t mark; /* the backward pass that has met it */
    tn_value next; /* without references: link in the free list and in work lists */
  };
  uint64_t serial; /* order of creation, for the backward pass */
  tn_value value;  /* variable: its value now. leaf: its variable, 0 when that is gone */
  tn_value grad;   /* variable: accumulated. others: during a backward pass */
  tn_value in[TN_CELL_INPUTS];
  uint32_t turn; /* variable: when its state before a change was kept last; see tn_eager_changes_begin */
  tn_layout *layout;  /* NULL for a variable */
  tn_cell_rest *rest; /* NULL: no attributes, and no more operands than fit */
  _Alignas(64) float few[TN_CELL_FEW];
} tn_cell;

_Static_assert(sizeof(tn_cell) == 128, "a cell is two lines of memory");

typedef tn_vec(tn_value) tn_values;

/* The previous state of a variable. */
typedef struct {
  tn_value variable, value, grad;
} tn_kept_variable;

struct tn_eager {
  tn_builder builder; /* first, so that a builder is an eager */
  tn_heap *heap;
  const tn_backend *backend;
  int threads;
  bool recording;
  bool everything; /* records what no gradient flows through, too */
  tn_vec(tn_cell *) chunks;
  tn_value free; /* head of the free cells */
  size_t live;
  uint64_t serial;
  uint32_t mark;
  tn_values owned; /* what the builder has made since the scope began */
  tn_values order; /* a backward pass's work space */
  tn_values stack;
  tn_values leaves;  /* the values of variables that it has met */
  tn_layout *single; /* of a number */
  tn_map layouts;    /* of small cells, by shape */
  tn_vec(tn_layout *) spare_layouts;
  tn_vec(tn_cell_rest *) spare_rests;
  tn_vec(tn_kept_variable) kept;
  uint32_t turn;  /* of tn_eager_changes_begin */
  uint64_t since; /* variables that are older are kept before they change; 0: none */
  void *scratch;
  size_t scratch_bytes;
};

static inline tn_cell *tn_cell_of(const tn_eager *eager, tn_value value) {
  return &eager->chunks.at[value / TN_CELL_CHUNK][value % TN_CELL_CHUNK];
}
/* The value that operations use: a variable's value now, else the cell itself. */
static inline tn_value tn_cell_value(const tn_eager *eager, tn_value value) {
  const tn_cell *cell = tn_cell_of(eager, value);
  return cell->variable ? cell->value : value;
}
static inline const tn_value *tn_cell_inputs(const tn_cell *cell) {
  return cell->count > TN_CELL_INPUTS ? cell->rest->in : cell->in;
}
static inline tn_view tn_cell_view(tn_cell *cell) {
  tn_view view = cell->layout->view;
  if (cell->small) view.data = cell->few;
  return view;
}
static inline bool tn_cell_is_single(const tn_cell *cell) { return cell->layout->type.shape.rank == 0; }

/* Takes over the shape of another small cell. */
static inline void tn_cell_shape_like(tn_cell *cell, const tn_cell *like) {
  cell->small = 1;
  cell->elements = like->elements;
  cell->layout = like->layout;
}
/* Of two small cells. */
static inline bool tn_cell_same_shape(const tn_cell *a, const tn_cell *b) { return a->layout == b->layout; }

/* Makes every NaN of whole groups of lanes canonical. In integers, so that compilers vectorise it. */
static inline void tn_cell_store_lanes(float *restrict to, const float *restrict from, uint32_t count) {
  for (uint32_t at = 0; at < count; at += TN_CELL_LANES) {
    uint32_t bits[TN_CELL_LANES];
    memcpy(bits, from + at, sizeof bits);
    for (int i = 0; i < TN_CELL_LANES; i++) {
      uint32_t nan = (uint32_t) - (int32_t)((int32_t)(bits[i] & 0x7fffffffu) > 0x7f800000);
      bits[i] = (bits[i] & ~nan) | (0x7fc00000u & nan);
    }
    memcpy(to + at, bits, sizeof bits);
  }
}

/* A cell with one reference, type, view and room for its elements; 0 when memory runs out. */
tn_value tn_cell_new(tn_eager *eager, const tn_type *type);
/* The same with nothing in it. */
tn_value tn_cell_blank(tn_eager *eager);
/* A cell that views elements elsewhere; takes the reference to the buffer. 0 when memory runs out. */
tn_value tn_cell_over(tn_eager *eager, const tn_type *type, const tn_view *view, tn_buffer *buffer);
/* The layout of a number; called once. False when memory runs out. */
bool tn_cell_prepare(tn_eager *eager);
void tn_cells_free(tn_eager *eager);
/* Remembers where it came from and holds the operands; whether a gradient flows is the caller's to say.
 * False when memory runs out. */
bool tn_cell_remember(tn_eager *eager, tn_value value, tn_op op, const tn_value *in, int count,
                      const tn_attrs *attrs);
tn_value tn_eager_out_of_memory(tn_eager *eager);
/* The last step of making a value: records where it came from if a gradient can flow there (`gradient`).
 * Frees it and yields 0 when memory runs out. */
tn_value tn_eager_remember(tn_eager *eager, tn_value value, tn_op op, const tn_value *in, int count,
                           const tn_attrs *attrs, bool gradient);
/* Hands a value's reference to the open scope. */
tn_value tn_eager_own(tn_eager *eager, tn_value value);

/* Whether the variable that a leaf was a value of is still there. */
bool tn_eager_has_variable(const tn_eager *eager, const tn_cell *leaf);

/* Called before a variable changes: keeps what it is if that may be undone. False when memory runs out. */
bool tn_eager_keep(tn_eager *eager, tn_value variable);

/* Sorts values, newest first; eager->stack is its work space. False when memory runs out. */
bool tn_eager_sort_by_age(tn_eager *eager, tn_values *values);

/* Whether a gradient can flow through the operation to what it was given. */
bool tn_eager_flows(const tn_eager *eager, tn_op op, const tn_value *in, int count, tn_dtype dtype);

/* The short path (quick.c): elementwise operations on a few f32 elements, of one shape or
 * with a single number. The reference is the caller's; 0 when it does not apply. With `reuse` the result
 * may take the place of an operand that has no other reference; that is then the caller's, too. */
tn_value tn_eager_quick(tn_eager *eager, tn_op op, const tn_value *in, int count, bool reuse);
/* The same backward (quick_grad.c): the gradients of the operands of a cell, passed on at once; its own may
 * be gone then. False when it does not apply; *ok is false when memory ran out. */
bool tn_eager_quick_grad(tn_eager *eager, tn_cell *cell, bool *ok);
/* The long path (run.c): any primitive operation, through the back end. */
tn_value tn_eager_run(tn_eager *eager, tn_op op, const tn_value *in, int count, const tn_attrs *attrs,
                      const tn_type *type);
#endif
