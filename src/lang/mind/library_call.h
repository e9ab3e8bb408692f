/* lang/mind/library_call.h: one call of the library, checked or run.
 *
 * What an argument must be, which dtype scalars take beside tensors, and what is
 * handed to the lowering is read in one place, library_call.c. It is read twice:
 * the checker has types, in which some numbers are known; the evaluator has
 * values. What differs between the two is a tn_mind_reader: check_library.c has
 * one with the builder that only infers types, eval_library.c one with the
 * builder of the graph. */
#ifndef TN_LANG_MIND_LIBRARY_CALL_H
#define TN_LANG_MIND_LIBRARY_CALL_H

#include "lang/mind/check.h"
#include "lang/mind/eval.h"

typedef struct tn_mind_call tn_mind_call;

typedef struct {
  tn_mind_node *node;       /* where it is written; NULL: elsewhere */
  const tn_mind_type *type; /* what is known of it; NULL: it has not been looked at */
  tn_mind_value value;      /* in a run */
  tn_mind_type own;         /* in a run: what `type` points to */
} tn_mind_operand;

typedef struct {
  bool runs; /* values are there, and the first mistake ends it */
  /* Finds out what an argument is that has a node. False after reporting. */
  bool (*look)(tn_mind_call *call, tn_mind_operand *arg);
  /* One item of a tuple or a list. */
  void (*item)(tn_mind_call *call, const tn_mind_operand *of, uint32_t index, tn_mind_operand *out);
  /* The number of a single one that its type does not know, or *known is false: it has none yet. False after
   * reporting. Only in a run. */
  bool (*force)(tn_mind_call *call, const tn_mind_operand *arg, tn_mind_number *out, bool *known);
  /* Whether a name is not a variable but the word itself: f32, gpu. */
  bool (*is_word)(const tn_mind_call *call, const tn_mind_node *node);
  /* Whether a name in a shape is that of a dimension; *dim is its size or its symbol. */
  bool (*is_dimension)(tn_mind_call *call, tn_mind_node *node, int64_t *dim);
  /* All arguments have been read: makes call->builder ready. False after reporting. */
  bool (*begin)(tn_mind_call *call);
  /* A value of the builder; TN_ERROR_VALUE after reporting, or with its fault kept. */
  tn_value (*operand)(tn_mind_call *call, const tn_mind_operand *arg, tn_dtype dtype);
  /* Of random numbers: the key is `value`, and `integer` words were used before. False as above. */
  bool (*draw)(tn_mind_call *call, tn_mind_arg *out);
  /* The rest may be NULL: nothing is to be done. */
  /* Whether a scalar may become call->dtype; false after reporting. */
  bool (*adapt)(tn_mind_call *call, const tn_mind_operand *arg, int index);
  /* A list of integers that is written where indices are wanted. */
  void (*settle_indices)(tn_mind_call *call, tn_mind_operand *arg);
  /* What an argument that has no value was read as. */
  void (*note)(tn_mind_call *call, tn_mind_operand *arg, const tn_mind_type *type);
} tn_mind_reader;

/* Large, and alive while arguments are looked at: so it does not lie in the frames of calls within calls. */
struct tn_mind_call {
  const tn_mind_reader *as;
  tn_mind *mind;
  const tn_mind_entry *entry;
  tn_span at;
  const tn_mind_node *call;     /* as it is written; NULL: arguments are given by parameter alone */
  tn_mind_checker *checker;     /* in a check */
  tn_mind_evaluator *evaluator; /* in a run, */
  tn_mind_frame *frame;         /* and where */
  tn_builder *builder;
  tn_mind_operand *given; /* by parameter */
  tn_mind_arg *args;      /* as the lowering sees them, with one for a key */
  tn_mind_operand *list;                          /* the items of a list of tensors, */
  tn_value *values;                               /* and what they are in the builder */
  uint32_t list_count;
  tn_dtype dtype;                            /* that tensors and scalars share */
  bool any_tensor;
  tn_mind_device device;
  bool has_device;
  bool unknown;       /* sizes of the result are not known */
  bool unknown_place; /* those along `axis` are not */
  bool unknown_shape; /* the shape that is wanted is not known as a whole */
  bool by_node;       /* in a run: the place of an index is a node without a number */
};

/* A call without arguments; NULL after reporting that memory ran out. */
tn_mind_call *tn_mind_call_new(tn_mind *mind, const tn_mind_reader *as, const tn_mind_entry *entry,
                               tn_span at);
void tn_mind_call_free(tn_mind_call *call);

/* Looks at every argument. False after reporting. */
bool tn_mind_read_arguments(tn_mind_call *call);
/* And makes the builder's values of them, so that the lowering can be called. False after reporting, or with
 * the builder's fault kept. */
bool tn_mind_read_operands(tn_mind_call *call);
static inline tn_value tn_mind_lower_call(tn_mind_call *call) {
  return call->entry->lower(call->builder, call->entry, call->args);
}
/* Whether the operation gives a scalar, because it was given nothing but scalars. */
bool tn_mind_gives_scalar(const tn_mind_call *call);
/* What shape, rank and dtype give. */
tn_mind_type tn_mind_fact(const tn_mind_call *call);
#endif
