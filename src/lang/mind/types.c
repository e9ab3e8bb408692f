/* lang/mind/types.c: types, their notation, and how dimensions meet.
 *
 * Unification is the draft's, left-biased: equal lengths stay, a length beats a
 * name, the left name beats the right one. An annotation is the left side, and
 * there a name that stands twice must meet one size. */
#include "lang/mind/type.h"

#include <string.h>

#include "base/map.h"
#include "lang/mind/internal.h"

/* ---- making ---- */

const tn_mind_type tn_mind_type_error = { .kind = TN_MIND_T_ERROR };
const tn_mind_type tn_mind_type_unit = { .kind = TN_MIND_T_UNIT };
const tn_mind_type tn_mind_type_string = { .kind = TN_MIND_T_STRING };

#define SCALAR(id, ...)  { .kind = TN_MIND_T_SCALAR, .dtype = TN_##id },
#define LITERAL(id, ...) { .kind = TN_MIND_T_SCALAR, .dtype = TN_##id, .literal = true },
#define DTYPE(id, ...)   { .kind = TN_MIND_T_DTYPE, .dtype = TN_##id },
static const tn_mind_type scalars[] = { TN_DTYPES(SCALAR) };
static const tn_mind_type literals[] = { TN_DTYPES(LITERAL) };
static const tn_mind_type dtypes[] = { TN_DTYPES(DTYPE) };
static const tn_mind_type devices[] = { { .kind = TN_MIND_T_DEVICE, .device = TN_MIND_CPU },
                                        { .kind = TN_MIND_T_DEVICE, .device = TN_MIND_GPU } };

const tn_mind_type *tn_mind_type_scalar(tn_dtype dtype) { return &scalars[dtype]; }
const tn_mind_type *tn_mind_type_literal(tn_dtype dtype) { return &literals[dtype]; }
const tn_mind_type *tn_mind_type_dtype(tn_dtype dtype) { return &dtypes[dtype]; }
const tn_mind_type *tn_mind_type_device(tn_mind_device device) { return &devices[device]; }

/* Most types need only the front of the struct. */
#define FRONT_BYTES (offsetof(tn_mind_type, hash) + sizeof(uint64_t))

const tn_mind_type *tn_mind_type_keep(tn_arena *arena, const tn_mind_type *type) {
  bool whole = type->kind == TN_MIND_T_TENSOR || type->kind == TN_MIND_T_SHAPE;
  const tn_mind_type *kept = tn_arena_copy(arena, type, whole ? sizeof *type : FRONT_BYTES);
  return kept ? kept : &tn_mind_type_error;
}

/* Made where it is kept: every number of a program has one. Without its value yet. */
static tn_mind_type *known_scalar(tn_arena *arena, tn_dtype dtype, bool literal) {
  tn_mind_type *type = tn_arena_alloc(arena, FRONT_BYTES);
  if (!type) return NULL;
  type->kind = TN_MIND_T_SCALAR;
  type->dtype = (uint8_t)dtype;
  type->known = true;
  type->literal = literal;
  return type;
}

const tn_mind_type *tn_mind_type_known(tn_arena *arena, tn_dtype dtype, int64_t value, bool literal) {
  tn_mind_type *type = known_scalar(arena, dtype, literal);
  if (!type) return &tn_mind_type_error;
  type->integer = value;
  return type;
}

const tn_mind_type *tn_mind_type_known_float(tn_arena *arena, tn_dtype dtype, double value, bool literal) {
  tn_mind_type *type = known_scalar(arena, dtype, literal);
  if (!type) return &tn_mind_type_error;
  type->number = value;
  return type;
}

const tn_mind_type *tn_mind_type_text(tn_arena *arena, tn_str text) {
  return tn_mind_type_keep(arena, &(tn_mind_type){ .kind = TN_MIND_T_STRING, .known = true, .text = text });
}

const tn_mind_type *tn_mind_type_tensor(tn_arena *arena, tn_dtype dtype, const tn_shape *shape,
                                        tn_mind_device device) {
  tn_mind_type type = { .kind = TN_MIND_T_TENSOR, .device = (uint8_t)device, .shape = *shape };
  type.dtype = (uint8_t)dtype;
  return tn_mind_type_keep(arena, &type);
}

const tn_mind_type *tn_mind_type_shape(tn_arena *arena, const tn_shape *shape) {
  return tn_mind_type_keep(arena, &(tn_mind_type){ .kind = TN_MIND_T_SHAPE, .shape = *shape });
}

/* ---- hashes ---- */

static uint64_t mix(uint64_t hash, uint64_t more) { return (hash ^ more) * UINT64_C(0x9E3779B97F4A7C15); }

/* recursion: types of functions as they are written, TN_MIND_NESTING_LIMIT deep. */
static uint64_t hash_declared(const tn_mind_callable *callable) {
  uint64_t hash = mix(callable->param_count, tn_mind_type_hash(callable->result));
  for (uint32_t i = 0; i < callable->param_count; i++)
    hash = mix(hash, tn_mind_type_hash(callable->params[i]));
  return hash;
}

static uint64_t hash_function(const tn_mind_callable *callable) {
  if (callable->kind == TN_MIND_C_DECLARED) return hash_declared(callable);
  bool named = callable->kind == TN_MIND_C_FUNCTION || callable->kind == TN_MIND_C_LIBRARY;
  if (!named) return (uint64_t)(uintptr_t)callable;
  return (uint64_t)(uintptr_t)callable->function ^ (uint64_t)(uintptr_t)callable->entry;
}

static uint64_t hash_shape(uint64_t hash, const tn_shape *shape) {
  for (int i = 0; i < shape->rank; i++) hash = mix(hash, (uint64_t)shape->dim[i]);
  return hash;
}

uint64_t tn_mind_type_hash(const tn_mind_type *type) {
  uint64_t hash = mix(type->kind, 0);
  switch (type->kind) {
    case TN_MIND_T_SCALAR:
    case TN_MIND_T_DTYPE: return mix(hash, type->dtype);
    case TN_MIND_T_DEVICE: return mix(hash, type->device);
    case TN_MIND_T_TENSOR: return hash_shape(mix(mix(hash, type->dtype), type->device), &type->shape);
    case TN_MIND_T_SHAPE: return hash_shape(hash, &type->shape);
    case TN_MIND_T_TUPLE:
    case TN_MIND_T_LIST:
    case TN_MIND_T_GRAD: return type->hash;
    case TN_MIND_T_FN: return mix(hash, hash_function(type->callable));
    default: return hash;
  }
}

/* ---- compound types ---- */

bool tn_mind_type_has_items(const tn_mind_type *type) {
  return type->kind == TN_MIND_T_TUPLE || type->kind == TN_MIND_T_LIST || type->kind == TN_MIND_T_GRAD;
}

/* Sums up what the items are; those have done so themselves. */
static void measure(tn_mind_type *type) {
  uint64_t parts = 1;
  type->settled = true;
  type->hash = mix(type->kind, type->count);
  for (uint32_t i = 0; i < type->count; i++) {
    const tn_mind_type *item = type->items[i];
    bool inner = tn_mind_type_has_items(item);
    parts += inner ? item->parts : 1;
    if (inner && item->depth > type->depth) type->depth = item->depth;
    type->settled &= inner ? item->settled : !item->literal && !item->fresh;
    type->hash = mix(type->hash, tn_mind_type_hash(item));
    if (type->names) type->hash = mix(type->hash, type->names[i]);
  }
  type->parts = parts < UINT32_MAX ? (uint32_t)parts : UINT32_MAX;
  type->depth++;
}

/* The plain form is found once, when the type is made, so that asking for it costs nothing.
 * recursion: once, because the plain form of that is itself. */
static bool make_plain(tn_arena *arena, tn_mind_type *type) {
  const tn_mind_type **items = NULL;
  type->plain = type;
  for (uint32_t i = 0; i < type->count; i++) {
    const tn_mind_type *plain = tn_mind_type_plain(arena, type->items[i]);
    if (plain == type->items[i]) continue;
    if (!items) items = tn_arena_copy(arena, type->items, type->count * sizeof *items);
    if (!items) return false;
    items[i] = plain;
  }
  if (items)
    type->plain = tn_mind_type_record(arena, type->kind, items, type->names, type->count, type->open);
  return type->plain->kind != TN_MIND_T_ERROR;
}

const tn_mind_type *tn_mind_type_record(tn_arena *arena, tn_mind_type_kind kind,
                                        const tn_mind_type *const *items, const tn_name *names,
                                        uint32_t count, bool open) {
  tn_mind_type *type = tn_arena_alloc(arena, FRONT_BYTES);
  if (!type) return &tn_mind_type_error;
  type->kind = (uint8_t)kind;
  type->open = open;
  type->count = count;
  type->items = tn_arena_copy(arena, items, count * sizeof *items);
  if (names) type->names = tn_arena_copy(arena, names, count * sizeof *names);
  if (arena->failed) return &tn_mind_type_error;
  measure(type);
  return make_plain(arena, type) ? type : &tn_mind_type_error;
}

const tn_mind_type *tn_mind_type_items(tn_arena *arena, tn_mind_type_kind kind,
                                       const tn_mind_type *const *items, const tn_name *names,
                                       uint32_t count) {
  return tn_mind_type_record(arena, kind, items, names, count, false);
}

const tn_mind_type *tn_mind_type_fn(tn_arena *arena, const struct tn_mind_callable *callable) {
  return tn_mind_type_keep(arena, &(tn_mind_type){ .kind = TN_MIND_T_FN, .callable = callable });
}

const tn_mind_type *tn_mind_type_plain(tn_arena *arena, const tn_mind_type *type) {
  if (type->kind == TN_MIND_T_SCALAR) return &scalars[type->dtype];
  if (type->kind == TN_MIND_T_STRING) return &tn_mind_type_string;
  if (type->kind == TN_MIND_T_TENSOR && type->fresh) {
    return tn_mind_type_tensor(arena, type->dtype, &type->shape, type->device);
  }
  return tn_mind_type_has_items(type) ? type->plain : type;
}

/* ---- copying ---- */

typedef struct {
  tn_arena *arena;
  tn_map copies; /* by original: of compound types */
} copier;

static const tn_mind_type *copy(copier *c, const tn_mind_type *type);

/* Out of memory for the table only: then the copy shares less. */
static const tn_mind_type *copy_items(copier *c, const tn_mind_type *type) {
  uint64_t key = (uint64_t)(uintptr_t)type, *found = tn_map_get(&c->copies, key);
  if (found) return (const tn_mind_type *)(uintptr_t)*found;
  if (!tn_arena_room(c->arena)) return &tn_mind_type_error;
  const tn_mind_type **items = tn_arena_array(c->arena, type->count, sizeof *items);
  if (!items) return &tn_mind_type_error;
  for (uint32_t i = 0; i < type->count; i++) items[i] = copy(c, type->items[i]);
  const tn_mind_type *made =
      tn_mind_type_record(c->arena, type->kind, items, type->names, type->count, type->open);
  if (made->kind == TN_MIND_T_ERROR) return made;
  tn_map_put(&c->copies, key, (uint64_t)(uintptr_t)made);
  return made;
}

static const tn_mind_type *copy(copier *c, const tn_mind_type *type) {
  tn_arena *arena = c->arena;
  switch (type->kind) {
    case TN_MIND_T_SCALAR: /* a float's number is the same bytes */
      return type->known     ? tn_mind_type_known(arena, type->dtype, type->integer, type->literal)
             : type->literal ? &literals[type->dtype]
                             : &scalars[type->dtype];
    case TN_MIND_T_STRING:
      return type->known ? tn_mind_type_text(arena, tn_arena_str(arena, type->text)) : &tn_mind_type_string;
    case TN_MIND_T_TENSOR: return tn_mind_type_tensor(arena, type->dtype, &type->shape, type->device);
    case TN_MIND_T_SHAPE: return tn_mind_type_shape(arena, &type->shape);
    case TN_MIND_T_TUPLE:
    case TN_MIND_T_LIST:
    case TN_MIND_T_GRAD: return copy_items(c, type);
    case TN_MIND_T_FN: return tn_mind_type_fn(arena, type->callable);
    case TN_MIND_T_UNIT: return &tn_mind_type_unit;
    case TN_MIND_T_DTYPE: return &dtypes[type->dtype];
    case TN_MIND_T_DEVICE: return &devices[type->device];
    default: return &tn_mind_type_error;
  }
}

const tn_mind_type *tn_mind_type_copy(tn_arena *arena, const tn_mind_type *type) {
  copier c = { .arena = arena };
  tn_map_init(&c.copies, arena->heap);
  const tn_mind_type *made = copy(&c, type);
  tn_map_free(&c.copies);
  return made;
}

/* ---- looking ---- */

const char *tn_mind_device_name(tn_mind_device device) { return device == TN_MIND_GPU ? "gpu" : "cpu"; }

bool tn_mind_device_find(tn_str name, tn_mind_device *out) {
  bool cpu = tn_str_is(name, "cpu"), gpu = tn_str_is(name, "gpu");
  if (cpu || gpu) *out = gpu ? TN_MIND_GPU : TN_MIND_CPU;
  return cpu || gpu;
}

static bool items_equal(tn_stack *stack, const tn_mind_type *a, const tn_mind_type *b) {
  if (a->count != b->count || a->parts != b->parts || a->depth != b->depth) return false;
  if (!tn_stack_room(stack)) return false;
  for (uint32_t i = 0; i < a->count; i++) {
    if (!tn_mind_type_equal(stack, a->items[i], b->items[i])) return false;
    if (a->names && b->names && a->names[i] != b->names[i]) return false;
  }
  return true;
}

/* recursion: types of functions as they are written, TN_MIND_NESTING_LIMIT deep. */
static bool same_signature(tn_stack *stack, const tn_mind_callable *a, const tn_mind_callable *b) {
  if (a->param_count != b->param_count || !tn_mind_type_equal(stack, a->result, b->result)) return false;
  for (uint32_t i = 0; i < a->param_count; i++) {
    if (!tn_mind_type_equal(stack, a->params[i], b->params[i])) return false;
  }
  return true;
}

/* Functions that have a name are the same wherever they are named. */
static bool same_function(tn_stack *stack, const tn_mind_callable *a, const tn_mind_callable *b) {
  if (a->kind == TN_MIND_C_DECLARED && b->kind == TN_MIND_C_DECLARED) return same_signature(stack, a, b);
  bool named = a->kind == TN_MIND_C_FUNCTION || a->kind == TN_MIND_C_LIBRARY;
  return a == b || (named && a->kind == b->kind && a->function == b->function && a->entry == b->entry);
}

bool tn_mind_type_equal(tn_stack *stack, const tn_mind_type *a, const tn_mind_type *b) {
  if (a == b) return true;
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case TN_MIND_T_SCALAR:
    case TN_MIND_T_DTYPE: return a->dtype == b->dtype;
    case TN_MIND_T_DEVICE: return a->device == b->device;
    case TN_MIND_T_TENSOR:
      return a->dtype == b->dtype && a->device == b->device && tn_shape_equal(&a->shape, &b->shape);
    case TN_MIND_T_SHAPE: return tn_shape_equal(&a->shape, &b->shape);
    case TN_MIND_T_TUPLE:
    case TN_MIND_T_LIST:
    case TN_MIND_T_GRAD: return items_equal(stack, a, b);
    case TN_MIND_T_FN: return same_function(stack, a->callable, b->callable);
    default: return true;
  }
}

bool tn_mind_type_is_value(const tn_mind_type *type) {
  return type->kind == TN_MIND_T_SCALAR || type->kind == TN_MIND_T_TENSOR;
}

bool tn_mind_type_is_single(const tn_mind_type *type) {
  return type->kind == TN_MIND_T_SCALAR || (type->kind == TN_MIND_T_TENSOR && type->shape.rank == 0);
}

bool tn_mind_type_is_float(const tn_mind_type *type) {
  return tn_mind_type_is_value(type) && tn_dtype_in(type->dtype, TN_FLOATS | TN_STORAGE);
}

void tn_mind_shape_print(const tn_shape *shape, const tn_names *names, tn_text *out) {
  tn_text_byte(out, '(');
  for (int i = 0; i < shape->rank; i++) {
    if (i) tn_text_byte(out, ',');
    if (tn_dim_is_known(shape->dim[i]))
      tn_text_int(out, shape->dim[i]);
    else if (tn_dim_is_symbol(shape->dim[i]))
      tn_text_add(out, tn_names_text(names, tn_dim_name(shape->dim[i])));
    else
      tn_text_puts(out, "UNK");
  }
  tn_text_byte(out, ')');
}

static void print_tensor(const tn_mind_type *type, const tn_names *names, tn_text *out) {
  tn_text_puts(out, "Tensor[");
  tn_text_puts(out, tn_dtype_name(type->dtype));
  tn_text_byte(out, ',');
  tn_mind_shape_print(&type->shape, names, out);
  tn_text_byte(out, ']');
  if (type->device == TN_MIND_GPU) tn_text_puts(out, "@gpu");
}

static void print_items(const tn_mind_type *type, const char *open, const char *close, const tn_names *names,
                        tn_text *out) {
  if (!tn_text_room(out)) return;
  tn_text_puts(out, open);
  for (uint32_t i = 0; i < type->count; i++) {
    if (i) tn_text_puts(out, ", ");
    tn_mind_type_print(type->items[i], names, out);
  }
  tn_text_puts(out, close);
}

/* A function that was defined is `fn`; a type that was written stands for any, so it is written out.
 * recursion: types of functions as they are written, TN_MIND_NESTING_LIMIT deep. */
static void print_function(const tn_mind_callable *callable, const tn_names *names, tn_text *out) {
  tn_text_puts(out, "fn");
  if (callable->kind != TN_MIND_C_DECLARED) return;
  tn_text_byte(out, '(');
  for (uint32_t i = 0; i < callable->param_count; i++) {
    if (i) tn_text_puts(out, ", ");
    tn_mind_type_print(callable->params[i], names, out);
  }
  tn_text_puts(out, ") -> ");
  tn_mind_type_print(callable->result, names, out);
}

void tn_mind_type_print(const tn_mind_type *type, const tn_names *names, tn_text *out) {
  switch (type->kind) {
    case TN_MIND_T_ERROR: tn_text_puts(out, "error"); break;
    case TN_MIND_T_UNIT: tn_text_puts(out, "unit"); break;
    case TN_MIND_T_SCALAR: tn_text_puts(out, tn_dtype_name(type->dtype)); break;
    case TN_MIND_T_TENSOR: print_tensor(type, names, out); break;
    case TN_MIND_T_STRING: tn_text_puts(out, "string"); break;
    case TN_MIND_T_SHAPE: tn_text_puts(out, "shape"); break;
    case TN_MIND_T_DTYPE: tn_text_puts(out, "dtype"); break;
    case TN_MIND_T_DEVICE: tn_text_puts(out, "device"); break;
    case TN_MIND_T_TUPLE: print_items(type, "(", type->count == 1 ? ",)" : ")", names, out); break;
    case TN_MIND_T_LIST: print_items(type, "[", "]", names, out); break;
    case TN_MIND_T_GRAD: tn_text_puts(out, "grad"); break;
    case TN_MIND_T_FN: print_function(type->callable, names, out); break;
  }
}

/* ---- dimensions ---- */

/* Nothing happens when memory runs out; the arena says so. */
static void bind(tn_mind_bindings *bindings, tn_name symbol, int64_t dim) {
  if (bindings->count == bindings->capacity) {
    uint32_t room = bindings->capacity ? bindings->capacity * 2 : 4;
    tn_mind_binding *moved = tn_arena_array(bindings->arena, room, sizeof *moved);
    if (!moved) return;
    if (bindings->count) memcpy(moved, bindings->at, bindings->count * sizeof *moved);
    bindings->at = moved;
    bindings->capacity = room;
  }
  bindings->at[bindings->count++] = (tn_mind_binding){ symbol, dim };
}

static tn_mind_binding *find_binding(const tn_mind_bindings *bindings, tn_name symbol) {
  for (uint32_t i = 0; i < bindings->count; i++) {
    if (bindings->at[i].symbol == symbol) return &bindings->at[i];
  }
  return NULL;
}

int64_t tn_mind_bound(const tn_mind_bindings *bindings, int64_t dim) {
  if (!tn_dim_is_symbol(dim)) return dim;
  const tn_mind_binding *found = find_binding(bindings, tn_dim_name(dim));
  return found && found->dim != TN_DIM_UNKNOWN ? found->dim : dim;
}

bool tn_mind_meets(const tn_mind_bindings *bindings, tn_name symbol, int64_t dim) {
  const tn_mind_binding *found = find_binding(bindings, symbol);
  return found && found->dim == dim;
}

void tn_mind_bind_shape(const tn_mind_bindings *bindings, tn_shape *shape) {
  for (int i = 0; i < shape->rank; i++) shape->dim[i] = tn_mind_bound(bindings, shape->dim[i]);
}

static bool has_name(const tn_mind_sizes *sizes, tn_name name) {
  uint32_t low = 0, high = sizes->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (sizes->names[middle] < name)
      low = middle + 1;
    else
      high = middle;
  }
  return low < sizes->count && sizes->names[low] == name;
}

bool tn_mind_is_size(const tn_mind_sizes *sizes, int64_t dim) {
  if (!tn_dim_is_symbol(dim)) return false;
  while (sizes && !has_name(sizes, tn_dim_name(dim))) sizes = sizes->outer;
  return sizes != NULL;
}

bool tn_mind_unify_dim(const tn_mind_sizes *sizes, int64_t left, int64_t right, int64_t *out) {
  bool unknown = left == TN_DIM_UNKNOWN || right == TN_DIM_UNKNOWN;
  if (unknown || left == right) {
    *out = left == TN_DIM_UNKNOWN ? right : left;
    return true;
  }
  if (tn_dim_is_known(left) && tn_dim_is_known(right)) return false;
  if (tn_mind_is_size(sizes, left) || tn_mind_is_size(sizes, right)) return false;
  *out = tn_dim_is_known(left) || !tn_dim_is_known(right) ? left : right;
  return true;
}

bool tn_mind_shapes_agree(const tn_mind_sizes *sizes, const tn_shape *left, const tn_shape *right) {
  bool agree = left->rank == right->rank;
  int64_t dim;
  for (int i = 0; agree && i < left->rank; i++)
    agree = tn_mind_unify_dim(sizes, left->dim[i], right->dim[i], &dim);
  return agree;
}

/* A symbol takes what it meets first; meeting a name again, or a length after a name, is fine. A size of the
 * function around stays what it is. */
static bool bind_symbol(tn_mind_bindings *bindings, tn_name symbol, int64_t value, int64_t *out) {
  tn_mind_binding *found = find_binding(bindings, symbol);
  int64_t dim = value;
  if (found && !tn_mind_unify_dim(bindings->sizes, found->dim, value, &dim)) return false;
  if (found)
    found->dim = dim;
  else
    bind(bindings, symbol, dim);
  bool fixed = tn_dim_is_known(dim) || tn_mind_is_size(bindings->sizes, dim);
  *out = fixed ? dim : TN_DIM_SYMBOL(symbol);
  return true;
}

bool tn_mind_unify_annotation(const tn_shape *annotation, const tn_shape *value, tn_mind_bindings *bindings,
                              tn_shape *out, int *dimension, tn_name *symbol) {
  tn_shape result = { .rank = annotation->rank };
  *symbol = 0;
  *dimension = annotation->rank < value->rank ? annotation->rank : value->rank;
  if (annotation->rank != value->rank) return false;
  for (int i = 0; i < result.rank; i++) {
    int64_t dim = annotation->dim[i];
    bool own = !bindings->foreign && tn_mind_is_size(bindings->sizes, dim);
    bool fits = tn_dim_is_symbol(dim) && !own
                    ? bind_symbol(bindings, tn_dim_name(dim), value->dim[i], &result.dim[i])
                    : tn_mind_unify_dim(bindings->sizes, dim, value->dim[i], &result.dim[i]);
    if (fits) continue;
    *dimension = i;
    if (tn_dim_is_symbol(dim)) *symbol = tn_dim_name(dim);
    return false;
  }
  *out = result;
  return true;
}

bool tn_mind_unify_branches(const tn_mind_sizes *sizes, const tn_shape *left, const tn_shape *right,
                            tn_shape *out, int *dimension) {
  bool equal = left->rank == right->rank;
  tn_shape result = { .rank = left->rank > right->rank ? left->rank : right->rank };
  for (int i = 0; i < result.rank; i++) {
    bool in_both = i < left->rank && i < right->rank;
    bool open = in_both && (left->dim[i] == TN_DIM_UNKNOWN || right->dim[i] == TN_DIM_UNKNOWN);
    result.dim[i] = TN_DIM_UNKNOWN;
    if (!in_both || open || tn_mind_unify_dim(sizes, left->dim[i], right->dim[i], &result.dim[i])) continue;
    *dimension = i;
    if (equal) return false;
    result.dim[i] = TN_DIM_UNKNOWN;
  }
  *out = result;
  return true;
}
