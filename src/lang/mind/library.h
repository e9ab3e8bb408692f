/* lang/mind/library.h: the functions that every program has.
 *
 * One table says for each its name, its parameters with names and defaults, and
 * how it is made of operations. The checker and the evaluator both make a call
 * with the same functions (library_call.h) and different builders: one that only
 * infers types and one that appends to a graph, so a rule exists once.
 *
 * Whatever is not an operation (shape, print, grad, ...) has a `special` instead,
 * which the checker and the evaluator treat each in its own way. */
#ifndef TN_LANG_MIND_LIBRARY_H
#define TN_LANG_MIND_LIBRARY_H

#include "graph/builder.h"
#include "lang/mind/ast.h"

/* What a parameter takes. */
typedef enum {
  TN_MIND_P_NONE,
  TN_MIND_P_TENSOR,  /* a tensor, or a scalar, which takes the dtype of the tensors beside it */
  TN_MIND_P_INDICES, /* a tensor of integers; a list of integers becomes i32 */
  TN_MIND_P_TENSORS, /* a list of tensors */
  TN_MIND_P_SCALAR,  /* a number that may be differentiated by */
  TN_MIND_P_INT,     /* an integer that says where or how many */
  TN_MIND_P_INTS,    /* an integer or a list of them */
  TN_MIND_P_NUMBER,  /* a number that is part of the operation */
  TN_MIND_P_TRUTH,
  TN_MIND_P_SHAPE,
  TN_MIND_P_DTYPE,
  TN_MIND_P_DEVICE,
  TN_MIND_P_TEXT,
  TN_MIND_P_FUNCTION,
  TN_MIND_P_NAMES, /* wrt=[x, W] */
  TN_MIND_P_ANY
} tn_mind_parameter_kind;

typedef struct {
  const char *name;
  tn_mind_parameter_kind kind;
  const char *otherwise; /* the default, for people; NULL: must be given */
} tn_mind_parameter;

typedef enum {
  TN_MIND_ORDINARY,
  TN_MIND_SHAPE_OF,
  TN_MIND_RANK_OF,
  TN_MIND_DTYPE_OF,
  TN_MIND_TO_DEVICE,
  TN_MIND_PRINT,
  TN_MIND_READ,
  TN_MIND_READ_BYTES, /* and these, which give tensors */
  TN_MIND_READ_CSV,
  TN_MIND_READ_NPY,
  TN_MIND_NOW,
  TN_MIND_GRAD,
  TN_MIND_VALUE_AND_GRAD,
  TN_MIND_JACOBIAN,
  TN_MIND_HESSIAN, /* give functions */
  TN_MIND_VJP,
  TN_MIND_JVP,
  TN_MIND_FOLD,
  TN_MIND_SCAN,
  TN_MIND_SAVE,
  TN_MIND_LOAD
} tn_mind_special;

#define TN_MIND_PARAMETER_LIMIT 5
/* After the shape of rand and randn: the key as a value, and the words that were drawn before. */
#define TN_MIND_KEY 1

/* An argument as a lowering sees it. */
typedef struct {
  bool given;
  tn_value value;  /* tensor, indices, scalar */
  bool plain;      /* scalar: `number` is all there is to it */
  double number;   /* scalar, number */
  int64_t integer; /* int */
  tn_name symbol;  /* int, in the checker: the name of the dimension whose size it is; 0: none */
  bool truth;
  tn_dtype dtype;
  tn_mind_device device;
  tn_str text;
  const tn_value *values;          /* tensors */
  int count;                       /* of values, and of integers */
  union {
    int64_t integers[TN_RANK_LIMIT]; /* the first of them */
    tn_shape shape;                  /* TN_DIM_UNKNOWN: -1, or not known yet */
  };
} tn_mind_arg;

typedef struct tn_mind_entry tn_mind_entry;
/* Makes the operation; TN_ERROR_VALUE with the builder's fault kept. */
typedef tn_value (*tn_mind_lowering)(tn_builder *builder, const tn_mind_entry *entry,
                                     const tn_mind_arg *args);

struct tn_mind_entry {
  const char *name;
  const char *doc;
  tn_mind_lowering lower;
  tn_op op; /* for lowerings that several share, and for diagnostics */
  tn_mind_special special;
  uint32_t effects;
  bool elementwise;   /* of scalars it gives a scalar */
  bool makes;         /* a new tensor, which an annotation may place */
  bool leading_dtype; /* zeros(dtype, shape) and zeros(shape) */
  uint8_t count;      /* of parameters */
  tn_mind_parameter params[TN_MIND_PARAMETER_LIMIT];
};

/* NULL when there is none of that name. */
const tn_mind_entry *tn_mind_library_find(tn_str name);
/* An operator on tensors, as if it were a function of one or two of them. */
tn_mind_entry tn_mind_operator_entry(tn_op op, int count);
/* All of them. */
const tn_mind_entry *tn_mind_library(size_t *count);
/* The names of those that open files. */
#define TN_MIND_OPENER_COUNT 6
void tn_mind_openers(tn_names *names, tn_name *out);
static inline bool tn_mind_is_opener(const tn_name *openers, tn_name name) {
  bool found = false;
  for (int i = 0; i < TN_MIND_OPENER_COUNT; i++) found |= openers[i] == name;
  return found && name;
}
int tn_mind_entry_required(const tn_mind_entry *entry);
/* The parameter that the argument at this position of `count` is for: zeros(shape), zeros(dtype, shape). */
static inline uint32_t tn_mind_entry_place(const tn_mind_entry *entry, uint32_t position, uint32_t count) {
  return position + (entry->leading_dtype && count == 1);
}
/* Its operation is one of floats alone, so integers that are written out become floats. */
bool tn_mind_entry_needs_floats(const tn_mind_entry *entry);
/* The position of the parameter of that name, or -1. */
int tn_mind_entry_parameter(const tn_mind_entry *entry, tn_str name);
/* What conv2d may be told to do at the edges. */
#define TN_MIND_PADDINGS "\"valid\" or \"same\""
bool tn_mind_is_padding(tn_str text);
/* sum(x, axes=all, keepdims=false) */
void tn_mind_entry_print(const tn_mind_entry *entry, tn_text *out);
#endif
