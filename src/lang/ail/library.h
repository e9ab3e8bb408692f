/* lang/ail/library.h: calls of built-in operations.
 *
 * library.c holds the table and reads arguments; library_make.c builds the
 * operations; walk_reshape.c computes shapes that a program writes. */
#ifndef TN_LANG_AIL_LIBRARY_H
#define TN_LANG_AIL_LIBRARY_H

#include "lang/ail/walk.h"

#define TN_AIL_PARAM_LIMIT 6 /* one more than any operation has: the one after the last has no name */

typedef enum {
  TN_AIL_ARG_NONE,
  TN_AIL_ARG_TENSOR,
  TN_AIL_ARG_IDS,    /* token ids; an undeclared name is of kind unknown */
  TN_AIL_ARG_LABELS, /* the same for labels */
  TN_AIL_ARG_BOOLEAN,
  TN_AIL_ARG_INT,
  TN_AIL_ARG_NUMBER,
  TN_AIL_ARG_FLAG,
  TN_AIL_ARG_TEXT,
  TN_AIL_ARG_SHAPE, /* a list */
  TN_AIL_ARG_INTS   /* a list of whole numbers, or one */
} tn_ail_arg_kind;

typedef struct {
  const char *name;
  tn_ail_arg_kind kind;
  bool optional;
} tn_ail_param_spec;

typedef struct tn_ail_make tn_ail_make;
typedef tn_ail_operand (*tn_ail_maker)(tn_ail_make *m);

typedef struct {
  const char *name;
  tn_op op;
  tn_ail_maker make;
  tn_ail_param_spec params[TN_AIL_PARAM_LIMIT];
} tn_ail_builtin;

/* All of them, in the order of the documentation. */
const tn_ail_builtin *tn_ail_builtins(size_t *count);

/* One call whose arguments have been evaluated, none of them wrong. */
struct tn_ail_make {
  tn_ail_walk *w;
  const tn_ail_builtin *builtin;
  tn_ail_site site;
  const tn_ail_expr *given[TN_AIL_PARAM_LIMIT]; /* NULL: left out */
  size_t first;                                 /* of its operands on the stack */
};

static inline const tn_ail_operand *tn_ail_make_operand(const tn_ail_make *m, int i) {
  return &m->w->stack.at[m->first + (size_t)i];
}
/* The argument as a tensor; reports what it is instead. */
tn_value tn_ail_make_tensor(tn_ail_make *m, int i);
/* The argument as a number that is known now; `fallback` where it is left out. */
bool tn_ail_make_int(tn_ail_make *m, int i, int64_t fallback, int64_t *out);
bool tn_ail_make_number(tn_ail_make *m, int i, double fallback, double *out);
bool tn_ail_make_flag(tn_ail_make *m, int i, bool *out);
bool tn_ail_make_text(tn_ail_make *m, int i, tn_str *out);
/* At most TN_RANK_LIMIT numbers; *count is -1 where the argument is left out. */
bool tn_ail_make_ints(tn_ail_make *m, int i, int64_t *out, int *count);
/* E_INVALID_ARGUMENTS. False. */
bool tn_ail_make_refuse(tn_ail_make *m, const char *expected, tn_str got);
/* A list of lengths without -1 and references. */
bool tn_ail_make_shape(tn_ail_make *m, int i, tn_shape *out);
tn_ail_operand tn_ail_make_reshape(tn_ail_make *m);

/* The makers that the table names (library_make.c, library_compose.c). */
#define TN_AIL_MAKERS(X)                                                                                     \
  X(plain)                                                                                                   \
  X(compare)                                                                                                 \
  X(along)                                                                                                   \
  X(embedding) X(linear) X(dropout) X(pool) X(cross_entropy) X(concat) X(slice_rows) X(gather_rows)          \
      X(reshape) X(now) X(read_file_text) X(reduce) X(argmax) X(scan) X(transpose) X(squeeze) X(expand_dims) \
          X(broadcast_to) X(pad) X(slice) X(index) X(gather) X(one_hot) X(conv2d) X(layer_norm) X(select)    \
              X(fill) X(iota) X(scatter_add) X(random) X(patches) X(mae) X(huber) X(rms_norm) X(group_norm)  \
                  X(instance_norm) X(maxpool) X(maxpool2d) X(meanpool2d) X(causal) X(attention)
#define TN_AIL_DECLARE_MAKER(name) tn_ail_operand tn_ail_make_##name(tn_ail_make *m);
TN_AIL_MAKERS(TN_AIL_DECLARE_MAKER)
#undef TN_AIL_DECLARE_MAKER
#endif
