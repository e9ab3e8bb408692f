/* ad/transform.h: shared by reverse and forward mode.
 *
 * A transform walks the existing nodes and appends new ones. A frame is one such
 * walk: at the top over the nodes of the program, and, for each branch of an `if`
 * that derivatives flow through, over the nodes of that branch.
 *
 * Nothing outside of a branch can use what the branch has computed, so the
 * derivative of an `if` is a second `if` on the same condition whose branches
 * recompute what they need. Inside such a branch every value of the original one
 * has a copy, made on first use; at the top, a value is its own copy. The values
 * that a branch captures from outside have their copies before the branch is
 * opened.
 *
 * A value is active when it depends on a variable of differentiation. */
#ifndef TN_AD_TRANSFORM_H
#define TN_AD_TRANSFORM_H

#include "ad/internal.h"
#include "base/map.h"

typedef struct {
  const tn_value *at;      /* in the order of first use */
  size_t count;
} tn_ad_captures;

typedef struct {
  tn_graph_builder *builder;
  tn_ad_policy policy;
  bool forward;            /* forward mode: jvp rules count */
  tn_arena arena;          /* for as long as the transform runs */
  tn_map captures;         /* `if` -> a tn_ad_captures in the arena */
} tn_ad_transform;

typedef struct {
  tn_ad_transform *transform;
  const tn_value *nodes;   /* to be visited, ascending */
  size_t count;
  bool top;
  tn_map stand_ins;        /* unused at the top */
  tn_map active;           /* value -> 1, or 2 where derivatives end: a leaf */
  tn_map derivatives;      /* value or tn_ad_result_key -> gradient or tangent */
  /* At the top, where the nodes are most of the graph, the same by value - first: */
  tn_value first, last;
  uint8_t *active_at;      /* 0: not */
  tn_value *derivative_at; /* 0: none */
} tn_ad_frame;

/* Finds the captures of every `if` from the value `first` to `last`, and of those in them. False when memory
 * runs out. */
bool tn_ad_transform_init(tn_ad_transform *transform, tn_graph_builder *builder, tn_ad_policy policy,
                          bool forward, tn_value first, tn_value last);
void tn_ad_transform_free(tn_ad_transform *transform);
tn_ad_captures tn_ad_captures_of(const tn_ad_transform *transform, tn_value branch);
/* Keeps TN_FAULT_MEMORY in the builder and returns false. */
bool tn_ad_no_memory(tn_ad_transform *transform);

void tn_ad_frame_init(tn_ad_frame *frame, tn_ad_transform *transform);
void tn_ad_frame_free(tn_ad_frame *frame);
/* The nodes from `first` to `last` that the builder can see where it is. */
bool tn_ad_frame_top(tn_ad_frame *frame, tn_value first, tn_value last);
/* The nodes of one region of `branch`, a node of the frame `outer`: `stand_ins` are those of its
 * captures, and those that are active are the leaves. */
bool tn_ad_frame_branch(tn_ad_frame *frame, const tn_ad_frame *outer, tn_value branch, int which,
                        const tn_value *stand_ins);

bool tn_ad_add_leaf(tn_ad_frame *frame, tn_value value);
/* Marks what depends on the leaves. */
bool tn_ad_mark_active(tn_ad_frame *frame);
bool tn_ad_is_active(const tn_ad_frame *frame, tn_value value);
bool tn_ad_is_leaf(const tn_ad_frame *frame, tn_value value);

/* The copy of `value` at the builder's position; TN_ERROR_VALUE with a fault kept. */
tn_value tn_ad_stand_in(tn_ad_frame *frame, tn_value value);
/* The stand-ins of the captures of an `if`, in the arena. NULL with a fault kept. */
tn_value *tn_ad_capture_stand_ins(tn_ad_frame *frame, tn_value branch);

/* Result `index` of an `if` as a key; a value itself is the key of a value. */
static inline uint64_t tn_ad_result_key(tn_value branch, uint64_t index) {
  return (index + 1) << 32 | branch;
}
/* TN_NO_VALUE where there is none. */
tn_value tn_ad_derivative(const tn_ad_frame *frame, uint64_t key);
bool tn_ad_set_derivative(tn_ad_frame *frame, uint64_t key, tn_value derivative);

/* The operation of `value` has no derivative, and the policy is strict. Returns false. */
bool tn_ad_no_derivative(tn_ad_transform *transform, tn_value value);

/* Room for the operands of most operations; larger ones take it from the arena. */
#define TN_AD_FEW 8
/* `few`, or room for `count` values in the arena. NULL with a fault kept. */
tn_value *tn_ad_values(tn_ad_transform *transform, tn_value *few, size_t count);
/* Stand-ins for the operands of a node and for the node itself. False on failure. */
bool tn_ad_stand_in_all(tn_ad_frame *frame, tn_value value, const tn_node *node, tn_value *in, tn_value *out);

/* The derivative of an `if` is an `if`: `build` makes one of its regions (0 on failure), then both are
 * joined under the stand-in of the condition. TN_ERROR_VALUE on failure. */
typedef uint32_t (*tn_ad_branch)(const void *request, int which);
tn_value tn_ad_join(tn_ad_frame *outer, tn_value branch, tn_ad_branch build, const void *request);
/* Result `index` of such an `if`, which has the type of `like`. */
tn_value tn_ad_pick(tn_builder *builder, tn_value joined, size_t index, tn_value like);

/* What a transform puts back: the place always, the graph and the region when it failed. */
typedef struct {
  tn_span at;
  tn_graph_mark mark;
  uint32_t region;
} tn_ad_saved;
tn_ad_saved tn_ad_save(const tn_graph_builder *builder);
bool tn_ad_restore(const tn_ad_saved *saved, tn_graph_builder *builder, bool ok);
#endif
