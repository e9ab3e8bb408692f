/* lang/ninth/value.c: objects and their state, and values as text and as data.
 *
 * Objects come in chunks that never move. Releasing one may free a long chain of instances that
 * hold each other; that uses a work list, not recursion. Instances in a reference cycle are freed
 * with the VM. */
#include <string.h>

#include "lang/ninth/vm.h"

#define INDEXED_STATE 16   /* entries from which on a state has an index */
#define SHORTEN_FROM  1000 /* elements of a tensor that is shortened for people */
#define SHORTEN_EDGE  3    /* items that are left at each end */

const char *tn_ninth_kind_name(tn_ninth_kind kind) {
  static const char *const names[] = { "nothing", "tensor", "tensor", "string",
                                       "block",   "shape",  "list",   "instance" };
  return names[kind];
}

/* ---- objects ---- */

tn_ninth_object *tn_ninth_object_of(const tn_ninth_vm *m, uint32_t object) {
  return &m->chunks.at[object / TN_NINTH_OBJECT_CHUNK][object % TN_NINTH_OBJECT_CHUNK];
}

/* Object 0 is never given out. */
static bool add_chunk(tn_ninth_vm *m) {
  tn_ninth_object *chunk = tn_heap_alloc(m->heap, TN_NINTH_OBJECT_CHUNK * sizeof *chunk);
  if (!chunk) return false;
  if (!tn_vec_push(m->heap, &m->chunks, chunk)) {
    tn_heap_free(m->heap, chunk, TN_NINTH_OBJECT_CHUNK * sizeof *chunk);
    return false;
  }
  uint32_t first = (uint32_t)(m->chunks.count - 1) * TN_NINTH_OBJECT_CHUNK;
  for (uint32_t i = TN_NINTH_OBJECT_CHUNK; i-- > 0;) {
    if (first + i == 0) continue;
    chunk[i].next = m->free_object;
    m->free_object = first + i;
  }
  return true;
}

uint32_t tn_ninth_object_new(tn_ninth_vm *m, tn_ninth_kind kind) {
  if (m->free_object == 0 && !add_chunk(m)) return 0;
  uint32_t number = m->free_object;
  tn_ninth_object *object = tn_ninth_object_of(m, number);
  m->free_object = object->next;
  object->references = 1;
  object->turn = m->turn.number;
  object->kind = (uint8_t)kind;
  return number;
}

void tn_ninth_hold_object(tn_ninth_vm *m, uint32_t object) {
  tn_ninth_object_of(m, object)->references++;
}

void tn_ninth_hold_counted(tn_ninth_vm *m, tn_ninth_value value) {
  if (value.kind == TN_NINTH_BLOCK)
    tn_ninth_hold_program(m->units.at[value.unit]->program);
  else
    tn_ninth_hold_object(m, value.object);
}

void tn_ninth_release_counted(tn_ninth_vm *m, tn_ninth_value value) {
  if (value.kind == TN_NINTH_BLOCK)
    tn_ninth_release_program(m, m->units.at[value.unit]->program);
  else
    tn_ninth_release_object(m, value.object);
}

static size_t item_bytes(const tn_ninth_object *object) {
  switch (object->kind) {
    case TN_NINTH_SHAPE_VALUE: return sizeof *object->dims;
    case TN_NINTH_LIST_VALUE: return sizeof *object->items;
    default: return sizeof *object->entries;
  }
}

static void free_contents(tn_ninth_vm *m, tn_ninth_object *object) {
  if (object->dims != object->few) tn_heap_free(m->heap, object->dims, object->capacity * item_bytes(object));
  if (object->index) {
    tn_map_free(object->index);
    tn_heap_free(m->heap, object->index, sizeof *object->index);
  }
  *object = (tn_ninth_object){ .mark = object->mark };
}

static void drop(tn_ninth_vm *m, tn_ninth_value value, uint32_t *work) {
  if (value.kind == TN_NINTH_TENSOR) tn_eager_unref(m->eager, value.tensor);
  if (value.kind == TN_NINTH_BLOCK) tn_ninth_release_program(m, m->units.at[value.unit]->program);
  if (value.kind < TN_NINTH_SHAPE_VALUE) return;
  tn_ninth_object *object = tn_ninth_object_of(m, value.object);
  if (--object->references > 0) return;
  object->next = *work;
  *work = value.object;
}

static void drop_contents(tn_ninth_vm *m, tn_ninth_object *object, uint32_t *work) {
  if (object->kind == TN_NINTH_SHAPE_VALUE) return;
  bool list = object->kind == TN_NINTH_LIST_VALUE;
  if (object->kind == TN_NINTH_INSTANCE && object->module)
    tn_ninth_release_program(m, object->module->program);
  for (uint32_t i = 0; i < object->count; i++)
    drop(m, list ? object->items[i] : object->entries[i].value, work);
}

void tn_ninth_release_object(tn_ninth_vm *m, uint32_t object) {
  uint32_t work = 0;
  drop(m, (tn_ninth_value){ .kind = tn_ninth_object_of(m, object)->kind, .object = object }, &work);
  while (work != 0) {
    uint32_t number = work;
    tn_ninth_object *dead = tn_ninth_object_of(m, number);
    work = dead->next;
    drop_contents(m, dead, &work);
    free_contents(m, dead);
    dead->next = m->free_object;
    m->free_object = number;
  }
}

/* What is still alive now holds itself. */
void tn_ninth_objects_free(tn_ninth_vm *m) {
  for (size_t c = 0; c < m->chunks.count; c++) {
    for (size_t i = 0; i < TN_NINTH_OBJECT_CHUNK; i++) {
      tn_ninth_object *object = &m->chunks.at[c][i];
      bool list = object->kind == TN_NINTH_LIST_VALUE, holds = list || object->kind == TN_NINTH_INSTANCE;
      for (uint32_t k = 0; object->references > 0 && holds && k < object->count; k++) {
        tn_ninth_value value = list ? object->items[k] : object->entries[k].value;
        if (value.kind == TN_NINTH_TENSOR) tn_eager_unref(m->eager, value.tensor);
      }
      if (object->references > 0) free_contents(m, object);
    }
    tn_heap_free(m->heap, m->chunks.at[c], TN_NINTH_OBJECT_CHUNK * sizeof(tn_ninth_object));
  }
  tn_vec_free(m->heap, &m->chunks);
}

uint32_t tn_ninth_shape_new(tn_ninth_vm *m, const int64_t *dims, size_t count) {
  uint32_t number = tn_ninth_object_new(m, TN_NINTH_SHAPE_VALUE);
  if (number == 0) return 0;
  tn_ninth_object *shape = tn_ninth_object_of(m, number);
  shape->dims = shape->few;
  if (count > TN_NINTH_FEW_DIMS) {
    shape->dims = tn_heap_alloc(m->heap, count * sizeof *dims);
    if (!shape->dims) {
      tn_ninth_release_object(m, number);
      return 0;
    }
    shape->capacity = (uint32_t)count;
  }
  shape->count = (uint32_t)count;
  if (count > 0) memcpy(shape->dims, dims, count * sizeof *dims);
  return number;
}

uint32_t tn_ninth_list_new(tn_ninth_vm *m, size_t count) {
  uint32_t number = tn_ninth_object_new(m, TN_NINTH_LIST_VALUE);
  if (number == 0) return 0;
  tn_ninth_object *list = tn_ninth_object_of(m, number);
  list->items = tn_heap_alloc(m->heap, count * sizeof *list->items);
  if (count > 0 && !list->items) {
    tn_ninth_release_object(m, number);
    return 0;
  }
  list->count = list->capacity = (uint32_t)count;
  return number;
}

/* ---- state ---- */

tn_ninth_entry *tn_ninth_state_find(const tn_ninth_object *instance, tn_name name, uint16_t *hint) {
  if (*hint < instance->count && instance->entries[*hint].name == name) return &instance->entries[*hint];
  uint32_t at = 0;
  if (instance->index) {
    const uint64_t *known = tn_map_get(instance->index, name);
    at = known ? (uint32_t)*known : instance->count;
  } else {
    while (at < instance->count && instance->entries[at].name != name) at++;
  }
  if (at == instance->count) return NULL;
  if (at <= UINT16_MAX) *hint = (uint16_t)at;
  return &instance->entries[at];
}

static bool build_index(tn_ninth_vm *m, tn_ninth_object *instance) {
  tn_map *index = tn_heap_alloc(m->heap, sizeof *index);
  if (!index) return false;
  tn_map_init(index, m->heap);
  for (uint32_t i = 0; i < instance->count; i++) {
    if (tn_map_put(index, instance->entries[i].name, i)) continue;
    tn_map_free(index);
    tn_heap_free(m->heap, index, sizeof *index);
    return false;
  }
  instance->index = index;
  return true;
}

static bool grow_state(tn_ninth_vm *m, tn_ninth_object *instance) {
  if (instance->count < instance->capacity) return true;
  uint32_t capacity = instance->capacity ? instance->capacity * 2 : 4;
  tn_ninth_entry *entries = tn_heap_resize(m->heap, instance->entries, instance->capacity * sizeof *entries,
                                           capacity * sizeof *entries);
  if (!entries) return false;
  instance->entries = entries;
  instance->capacity = capacity;
  return true;
}

tn_ninth_entry *tn_ninth_state_make(tn_ninth_vm *m, tn_ninth_object *instance, tn_name name,
                                    uint16_t *hint) {
  tn_ninth_entry *known = tn_ninth_state_find(instance, name, hint);
  if (known) return known;
  if (!grow_state(m, instance)) return NULL;
  if (!instance->index && instance->count >= INDEXED_STATE && !build_index(m, instance)) return NULL;
  if (instance->index && !tn_map_put(instance->index, name, instance->count)) return NULL;
  tn_ninth_entry *entry = &instance->entries[instance->count++];
  *entry = (tn_ninth_entry){ .name = name };
  return entry;
}

/* The index holds the entries in their order. */
void tn_ninth_state_pop(tn_ninth_object *instance) {
  instance->count--;
  if (instance->index) tn_map_rewind(instance->index, instance->count);
}

/* ---- as text ---- */

static void show_number(float number, tn_text *out) {
  if (number != number)
    tn_text_puts(out, "nan");
  else if (number - number != 0)
    tn_text_puts(out, number > 0 ? "inf" : "-inf");
  else
    tn_text_f32(out, number);
}

/* What lies after `axis`, from `at` on.
 * recursion: TN_RANK_LIMIT deep. */
static void show_axis(const tn_view *view, int axis, const float *at, int64_t edge, tn_text *out) {
  if (axis == view->rank) {
    show_number(*at, out);
    return;
  }
  int64_t count = view->dim[axis];
  tn_text_byte(out, '(');
  for (int64_t i = 0; i < count && !out->failed; i++) {
    if (i > 0) tn_text_byte(out, ' ');
    if (edge > 0 && count > 2 * edge && i == edge) {
      tn_text_puts(out, "... ");
      i = count - edge;
    }
    show_axis(view, axis + 1, at + i * view->stride[axis], edge, out);
  }
  tn_text_byte(out, ')');
}

static void show_dims(const int64_t *dims, size_t count, tn_text *out) {
  tn_text_byte(out, '[');
  for (size_t i = 0; i < count; i++) {
    if (i > 0) tn_text_byte(out, ' ');
    tn_text_int(out, dims[i]);
  }
  tn_text_byte(out, ']');
}

/* Brackets cannot say how long the axes after an empty one are. */
static bool hides_axes(const tn_view *view) {
  for (int axis = 0; axis + 1 < view->rank; axis++) {
    if (view->dim[axis] == 0) return true;
  }
  return false;
}

static TN_OWN_FRAME void show_tensor(tn_view view, bool shorten, tn_text *out) {
  if (hides_axes(&view)) {
    show_dims(view.dim, (size_t)view.rank, out);
    tn_text_puts(out, " [ZEROS]");
    return;
  }
  bool large = shorten && tn_view_count(&view) > SHORTEN_FROM;
  show_axis(&view, 0, view.data, large ? SHORTEN_EDGE : 0, out);
}

static void show_list(const tn_ninth_vm *m, const tn_ninth_object *list, bool shorten, tn_text *out) {
  if (!tn_text_room(out)) return;
  tn_text_byte(out, '{');
  for (uint32_t i = 0; i < list->count && !out->failed; i++) {
    if (i > 0) tn_text_byte(out, ' ');
    tn_ninth_show(m, list->items[i], shorten, out);
  }
  tn_text_byte(out, '}');
}

static const tn_ninth_object *object_of(const tn_ninth_vm *m, tn_ninth_value value) {
  return tn_ninth_object_of(m, value.object);
}

void tn_ninth_show(const tn_ninth_vm *m, tn_ninth_value value, bool shorten, tn_text *out) {
  switch ((tn_ninth_kind)value.kind) {
    case TN_NINTH_NUMBER: show_number(value.number, out); break;
    case TN_NINTH_TENSOR: show_tensor(tn_eager_view(m->eager, value.tensor), shorten, out); break;
    case TN_NINTH_STRING: tn_text_add(out, tn_names_text(m->host->names, value.name)); break;
    case TN_NINTH_BLOCK:
      tn_text_add(out, tn_span_text(m->host->sources, m->units.at[value.unit]->text));
      break;
    case TN_NINTH_SHAPE_VALUE: show_dims(object_of(m, value)->dims, object_of(m, value)->count, out); break;
    case TN_NINTH_LIST_VALUE: show_list(m, tn_ninth_object_of(m, value.object), shorten, out); break;
    case TN_NINTH_INSTANCE:
      tn_text_byte(out, '<');
      tn_text_add(out, tn_names_text(m->host->names, tn_ninth_object_of(m, value.object)->name));
      tn_text_byte(out, '>');
      break;
    case TN_NINTH_UNBOUND: break;
  }
}

/* ---- as data ---- */

static TN_OWN_FRAME bool tensor_datum(tn_ninth_vm *m, tn_ninth_value value, tn_datum *out) {
  *out = (tn_datum){ .kind = TN_VALUE_TENSOR, .dtype = TN_F32 };
  if (value.kind == TN_NINTH_NUMBER) {
    if (!tn_tensor_scalar(m->heap, TN_F32, (double)value.number, &out->tensor)) return false;
  } else {
    out->tensor = tn_eager_share(m->eager, value.tensor);
    if (!out->tensor.buffer) return false;
  }
  out->shape = tn_view_shape(&out->tensor.view);
  return true;
}

/* Written as numbers, because a -1 among them is a number, not an unknown length. */
static bool shape_datum(const tn_ninth_object *shape, tn_arena *arena, tn_datum *out) {
  *out = (tn_datum){ .kind = TN_VALUE_SHAPE };
  out->items = tn_arena_array(arena, shape->count + 1, sizeof *out->items);
  if (!out->items) return false;
  out->count = shape->count;
  for (uint32_t i = 0; i < shape->count; i++) {
    out->items[i] = (tn_datum){ .kind = TN_VALUE_INT, .dtype = TN_I64, .integer = shape->dims[i] };
  }
  return true;
}

static bool list_datum(tn_ninth_vm *m, const tn_ninth_object *list, tn_arena *arena, tn_datum *out) {
  *out = (tn_datum){ .kind = TN_VALUE_LIST };
  if (!tn_arena_room(arena)) return false;
  out->items = tn_arena_array(arena, list->count + 1, sizeof *out->items);
  if (!out->items) return false;
  while (out->count < list->count) { /* one that fails may hold a part of itself */
    size_t i = out->count++;
    if (!tn_ninth_datum(m, list->items[i], arena, &out->items[i])) return false;
  }
  return true;
}

bool tn_ninth_datum(tn_ninth_vm *m, tn_ninth_value value, tn_arena *arena, tn_datum *out) {
  const tn_ninth_object *object =
      value.kind >= TN_NINTH_SHAPE_VALUE ? tn_ninth_object_of(m, value.object) : NULL;
  switch ((tn_ninth_kind)value.kind) {
    case TN_NINTH_NUMBER:
    case TN_NINTH_TENSOR: return tensor_datum(m, value, out);
    case TN_NINTH_SHAPE_VALUE: return shape_datum(object, arena, out);
    case TN_NINTH_LIST_VALUE: return list_datum(m, object, arena, out);
    case TN_NINTH_STRING:
      *out = (tn_datum){ .kind = TN_VALUE_STRING, .text = tn_names_text(m->host->names, value.name) };
      return true;
    case TN_NINTH_INSTANCE:
      *out = (tn_datum){ .kind = TN_VALUE_INSTANCE, .text = tn_names_text(m->host->names, object->name) };
      return true;
    case TN_NINTH_BLOCK:
      *out = (tn_datum){ .kind = TN_VALUE_BLOCK,
                         .text = tn_span_text(m->host->sources, m->units.at[value.unit]->text) };
      return true;
    case TN_NINTH_UNBOUND: break;
  }
  *out = (tn_datum){ .kind = TN_VALUE_UNIT };
  return true;
}
