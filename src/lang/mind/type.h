/* lang/mind/type.h: the static type of a value.
 *
 * A type is immutable and lives in an arena, or is one of a few static ones. It
 * says what MIND's notation can say (Tensor[f32,(N,3)]@gpu) and a little more,
 * for the checker's own use: that a scalar is made of literals and adapts, that
 * an integer, a boolean or a string is known already (so that it may be part of a
 * shape), and which function a value is.
 *
 * Types share their items: `let t = (t, t)` adds one type, however large the one
 * below it is. Written out it doubles, and so does the text of its value, so the
 * checker refuses a type of more than TN_MIND_PARTS_LIMIT parts; every walk over
 * a type or a value is bounded by that. */
#ifndef TN_LANG_MIND_TYPE_H
#define TN_LANG_MIND_TYPE_H

#include "base/arena.h"
#include "op/op.h"

/* Parts that a tuple has when it is written out, and levels of tuples in tuples. */
#define TN_MIND_PARTS_LIMIT  65536
#define TN_MIND_LEVELS_LIMIT 1000

typedef enum {
  TN_MIND_T_ERROR, /* of what was reported; everything fits it */
  TN_MIND_T_UNIT,
  TN_MIND_T_SCALAR,
  TN_MIND_T_TENSOR,
  TN_MIND_T_STRING,
  TN_MIND_T_SHAPE,  /* what shape(x) gives */
  TN_MIND_T_DTYPE,  /* f32 as an argument */
  TN_MIND_T_DEVICE, /* cpu as an argument */
  TN_MIND_T_TUPLE,
  TN_MIND_T_LIST, /* of tensors, as concat takes it */
  TN_MIND_T_GRAD, /* the record of gradients */
  TN_MIND_T_FN
} tn_mind_type_kind;

typedef enum { TN_MIND_CPU, TN_MIND_GPU } tn_mind_device;
const char *tn_mind_device_name(tn_mind_device device);
bool tn_mind_device_find(tn_str name, tn_mind_device *out);

typedef struct tn_mind_type tn_mind_type;
struct tn_mind_callable;

struct tn_mind_type {
  uint8_t kind;   /* tn_mind_type_kind */
  uint8_t dtype;  /* tn_dtype; scalar, tensor, dtype */
  uint8_t device; /* tn_mind_device; tensor, device */
  bool literal;   /* scalar: adapts to what its context needs */
  bool known;     /* scalar: `integer` or, of a float, `number` is its value; string: `text` */
  bool open;      /* grad: there may be fewer entries when it runs */
  bool fresh;     /* tensor: made here, so an annotation may place it */
  bool settled;   /* tuple, list, grad: nothing in it is a literal or fresh */
  uint32_t count; /* of items */
  uint32_t parts; /* tuple, list, grad: as it is written out, itself included; UINT32_MAX for any more */
  uint32_t depth; /* tuple, list, grad: levels of items */
  union {
    int64_t integer; /* of a boolean: 0 or 1 */
    double number;
    tn_str text;
    tn_shape shape; /* tensor, shape */
    struct {
      const tn_mind_type *const *items; /* tuple, list, grad */
      const tn_name *names;             /* grad: sorted by text */
      const tn_mind_type *plain;        /* what tn_mind_type_plain gives; itself where nothing changes */
      uint64_t hash;                    /* what tn_mind_type_hash gives */
    };
    const struct tn_mind_callable *callable; /* fn */
  };
};

/* ---- making them; NULL never: out of memory gives the error type and the arena says so ---- */

/* A copy of a type that is not made of others. */
const tn_mind_type *tn_mind_type_keep(tn_arena *arena, const tn_mind_type *type);
extern const tn_mind_type tn_mind_type_error, tn_mind_type_unit, tn_mind_type_string;
const tn_mind_type *tn_mind_type_scalar(tn_dtype dtype);  /* nothing more is known */
const tn_mind_type *tn_mind_type_literal(tn_dtype dtype); /* i32, i64 or f64, of literals */
const tn_mind_type *tn_mind_type_known(tn_arena *arena, tn_dtype dtype, int64_t value, bool literal);
const tn_mind_type *tn_mind_type_known_float(tn_arena *arena, tn_dtype dtype, double value, bool literal);
const tn_mind_type *tn_mind_type_text(tn_arena *arena, tn_str text);
const tn_mind_type *tn_mind_type_tensor(tn_arena *arena, tn_dtype dtype, const tn_shape *shape,
                                        tn_mind_device device);
const tn_mind_type *tn_mind_type_shape(tn_arena *arena, const tn_shape *shape);
const tn_mind_type *tn_mind_type_dtype(tn_dtype dtype);
const tn_mind_type *tn_mind_type_device(tn_mind_device device);
/* Tuples, lists and records; items and names are copied. names may be NULL. */
const tn_mind_type *tn_mind_type_items(tn_arena *arena, tn_mind_type_kind kind,
                                       const tn_mind_type *const *items, const tn_name *names,
                                       uint32_t count);
/* The same; `open`: there may be fewer when it runs. */
const tn_mind_type *tn_mind_type_record(tn_arena *arena, tn_mind_type_kind kind,
                                        const tn_mind_type *const *items, const tn_name *names,
                                        uint32_t count, bool open);
const tn_mind_type *tn_mind_type_fn(tn_arena *arena, const struct tn_mind_callable *callable);
/* The same without what only the checker knows: literal, known, fresh. */
const tn_mind_type *tn_mind_type_plain(tn_arena *arena, const tn_mind_type *type);
/* A copy that lives in another arena. Callables are shared, and what the original shares the copy shares. */
const tn_mind_type *tn_mind_type_copy(tn_arena *arena, const tn_mind_type *type);

/* ---- looking at them ---- */

/* Plainly. Where the stack has no room, false. */
bool tn_mind_type_equal(tn_stack *stack, const tn_mind_type *a, const tn_mind_type *b);
/* Equal types have equal hashes. */
uint64_t tn_mind_type_hash(const tn_mind_type *type);
/* A tuple, a list or a record. */
bool tn_mind_type_has_items(const tn_mind_type *type);
/* A scalar or a tensor. */
bool tn_mind_type_is_value(const tn_mind_type *type);
/* A scalar, or a tensor without dimensions, which converts to one. */
bool tn_mind_type_is_single(const tn_mind_type *type);
bool tn_mind_type_is_float(const tn_mind_type *type); /* a scalar or tensor of floats, storage included */
/* As the language writes it: i32, Tensor[f32,(N,3)]@gpu, (i32, f64), string, unit, fn, grad. */
void tn_mind_type_print(const tn_mind_type *type, const tn_names *names, tn_text *out);
/* (2,3), a name for each symbol, UNK for what is not known. */
void tn_mind_shape_print(const tn_shape *shape, const tn_names *names, tn_text *out);

/* ---- how they meet ---- */

/* The names of dimensions that a function's parameters have: inside it each is a size of its own, which fits
 * itself and no other. */
typedef struct tn_mind_sizes {
  const tn_name *names; /* ascending */
  uint32_t count;
  const struct tn_mind_sizes *outer; /* of a closure: of the function it stands in; NULL: none */
} tn_mind_sizes;
/* Whether the dimension is one of them; `sizes` may be NULL. */
bool tn_mind_is_size(const tn_mind_sizes *sizes, int64_t dim);

/* Sizes that symbols have taken, in one annotation or one signature. */
typedef struct {
  tn_name symbol;
  int64_t dim;
} tn_mind_binding;

typedef struct {
  tn_arena *arena;
  tn_mind_binding *at;
  uint32_t count, capacity;
  const tn_mind_sizes *sizes; /* of the function in which this is; NULL: none */
  bool foreign;               /* the symbols are those of another signature, even if the names are the same */
} tn_mind_bindings;

/* What a symbol stands for: its size, or the symbol itself where it met none or an unknown one. */
int64_t tn_mind_bound(const tn_mind_bindings *bindings, int64_t dim);
/* Whether the symbol has met that dimension. */
bool tn_mind_meets(const tn_mind_bindings *bindings, tn_name symbol, int64_t dim);
void tn_mind_bind_shape(const tn_mind_bindings *bindings, tn_shape *shape);

/* Left-biased unification of two dimensions: equal lengths stay, a length beats a name, the left name
 * beats the right one. False for two different lengths, and for a size of the function beside another. */
bool tn_mind_unify_dim(const tn_mind_sizes *sizes, int64_t left, int64_t right, int64_t *out);
/* Whether one shape may be the other: as many dimensions, and none that cannot be unified. */
bool tn_mind_shapes_agree(const tn_mind_sizes *sizes, const tn_shape *left, const tn_shape *right);
/* An annotation meets a value: as above, where a symbol that stands twice must meet the same. False for
 * another rank or a length that differs; *dimension is the first, and a symbol that would have two sizes
 * is in *symbol (else 0). */
bool tn_mind_unify_annotation(const tn_shape *annotation, const tn_shape *value, tn_mind_bindings *bindings,
                              tn_shape *out, int *dimension, tn_name *symbol);
/* The branches of an if: dimensions that only one of them has, or whose size one of them does not know, are
 * unknown. False as above; ranks may differ. */
bool tn_mind_unify_branches(const tn_mind_sizes *sizes, const tn_shape *left, const tn_shape *right,
                            tn_shape *out, int *dimension);
#endif
