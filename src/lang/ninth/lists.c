/* lang/ninth/lists.c: looking into lists, strings and instances. */
#include "base/utf8.h"
#include "lang/ninth/vm.h"

/* Rows of a tensor: a single number has none. */
static bool count_rows(tn_ninth_vm *m, int64_t *out) {
  tn_shape shape = tn_ninth_shape_at(m, 0);
  if (shape.rank == 0)
    return tn_ninth_wrong_shape(m, &shape, "has no dimension 0", "a single number has no length");
  *out = shape.dim[0];
  return true;
}

static bool length_on_top(tn_ninth_vm *m, int64_t *out) {
  tn_ninth_value top = m->top[-1];
  switch ((tn_ninth_kind)top.kind) {
    case TN_NINTH_NUMBER:
    case TN_NINTH_TENSOR: return count_rows(m, out);
    case TN_NINTH_STRING: *out = (int64_t)tn_utf8_count(tn_names_text(m->host->names, top.name)); return true;
    case TN_NINTH_SHAPE_VALUE:
    case TN_NINTH_LIST_VALUE: *out = tn_ninth_object_of(m, top.object)->count; return true;
    default: return tn_ninth_wrong_kind(m, "list, shape, string or tensor", top);
  }
}

/* Puts a number in the place of the top items; `emit` records numbers too. */
static bool replace_by_number(tn_ninth_vm *m, size_t count, int64_t number) {
  tn_value value = tn_eager_number(m->eager, (float)number);
  return value != TN_ERROR_VALUE ? tn_ninth_finish(m, count, value) : tn_ninth_no_room(m);
}

bool tn_ninth_run_length(tn_ninth_vm *m) {
  int64_t length = 0;
  return length_on_top(m, &length) && replace_by_number(m, 1, length);
}

bool tn_ninth_run_state(tn_ninth_vm *m) {
  tn_ninth_value instance = m->top[-2], name = m->top[-1];
  uint16_t hint = 0;
  if (name.kind != TN_NINTH_STRING) return tn_ninth_wrong_kind(m, "string", name);
  if (instance.kind != TN_NINTH_INSTANCE) return tn_ninth_wrong_kind(m, "instance", instance);
  const tn_ninth_object *object = tn_ninth_object_of(m, instance.object);
  const tn_ninth_entry *entry = tn_ninth_state_find(object, name.name, &hint);
  if (!entry || entry->value.kind == TN_NINTH_UNBOUND) return tn_ninth_no_state(m, object, name.name);
  tn_ninth_value value = entry->value;
  tn_ninth_hold(m, value);
  tn_ninth_replace(m, 2, value);
  return true;
}
