/* lang/ninth/lists.c: opcodes on lists, strings and the state of instances. */
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

/* ---- text ---- */

bool tn_ninth_run_chars(tn_ninth_vm *m) {
  tn_ninth_value top = m->top[-1];
  if (top.kind != TN_NINTH_STRING) return tn_ninth_wrong_kind(m, "string", top);
  tn_str text = tn_names_text(m->host->names, top.name);
  tn_shape shape = tn_shape_make(1, (int64_t)tn_utf8_count(text));
  tn_tensor tensor;
  if (!tn_tensor_new(m->heap, TN_F32, &shape, &tensor)) return tn_ninth_no_room(m);
  float *out = tensor.view.data;
  for (size_t at = 0, i = 0; i < (size_t)shape.dim[0]; i++) {
    uint32_t code = 0;
    at += tn_utf8_decode(text, at, &code);
    out[i] = (float)code;
  }
  tn_value value = tn_eager_tensor(m->eager, &tensor);
  tn_tensor_unref(&tensor);
  return value != TN_ERROR_VALUE ? tn_ninth_finish(m, 1, value) : tn_ninth_no_room(m);
}

/* Surrogates and numbers past the last character are none. */
static bool add_character(tn_ninth_vm *m, double number, tn_text *out) {
  char bytes[4];
  uint32_t code = number >= 0 && number <= 0x10ffff ? (uint32_t)number : UINT32_MAX;
  if ((double)code == number && (code < 0xd800 || code > 0xdfff)) {
    tn_text_add(out, (tn_str){ bytes, tn_utf8_encode(code, bytes) });
    return true;
  }
  tn_text shown;
  tn_text_init(&shown, m->heap);
  tn_text_f32(&shown, (float)number);
  tn_ninth_error(m, TN_DIAG_E_TYPE, TN_STR("opcode", tn_ninth_opcode_here(m)),
                 TN_STR("expected", "code points of characters"), TN_TEXT("got", tn_text_str(&shown)));
  tn_text_free(&shown);
  return false;
}

static bool spell(tn_ninth_vm *m, tn_value codes, tn_text *out) {
  tn_view view = tn_eager_view(m->eager, codes);
  int64_t count = tn_view_count(&view);
  for (int64_t i = 0; i < count; i++) {
    if (!add_character(m, tn_view_get_f64(&view, i), out)) return false;
  }
  return true;
}

bool tn_ninth_run_text(tn_ninth_vm *m) {
  tn_ninth_operand codes;
  tn_text text;
  if (!tn_ninth_operand_at(m, 0, &codes)) return false;
  tn_text_init(&text, m->heap);
  bool ok = spell(m, codes.value, &text);
  tn_ninth_operand_end(m, &codes);
  tn_name name = ok && !text.failed ? tn_names_intern(m->host->names, tn_text_str(&text)) : 0;
  tn_text_free(&text);
  if (!ok) return false;
  if (name == 0) return tn_ninth_no_room(m);
  tn_ninth_replace(m, 1, (tn_ninth_value){ .kind = TN_NINTH_STRING, .name = name });
  return true;
}
