/* lang/ninth/gradients.c: opcodes for gradients and parameters.
 *
 * The eager builder keeps the gradients of its variables. Here instances are walked to find their
 * variables: depth first, in the order of first binding, each once, with an explicit list instead
 * of recursion. */
#include "lang/ninth/vm.h"

bool tn_ninth_run_var(tn_ninth_vm *m) {
  tn_ninth_operand x;
  if (!tn_ninth_operand_at(m, 0, &x)) return false;
  tn_value variable = tn_eager_variable(m->eager, x.value);
  tn_ninth_operand_end(m, &x);
  if (variable == TN_ERROR_VALUE) return tn_ninth_no_room(m);
  tn_ninth_replace(m, 1, (tn_ninth_value){ .kind = TN_NINTH_TENSOR, .tensor = variable });
  return true;
}

/* For `emit`: it becomes the last of what was noted. */
static bool note_loss(tn_ninth_vm *m, tn_value loss) {
  if (!tn_vec_push(m->heap, &m->noted, loss)) return tn_ninth_no_room(m);
  tn_eager_ref(m->eager, loss);
  m->loss = m->noted.count;
  return true;
}

bool tn_ninth_run_backward(tn_ninth_vm *m) {
  tn_ninth_operand loss;
  if (tn_ninth_interrupted(m)) return tn_ninth_report_stop(m);
  if (!tn_ninth_operand_at(m, 0, &loss)) return false;
  bool ok = tn_eager_backward(m->eager, loss.value) || tn_ninth_fault(m, NULL, NULL);
  if (ok && m->everything) ok = note_loss(m, loss.value);
  tn_ninth_operand_end(m, &loss);
  if (ok) tn_ninth_drop(m, 1);
  return ok;
}

/* The top item, or what is stored under the name it is. */
static bool named_value(tn_ninth_vm *m, tn_ninth_value *out) {
  *out = m->top[-1];
  if (out->kind != TN_NINTH_STRING) return true;
  const tn_ninth_symbol *symbol = tn_ninth_symbol_of(m, out->name);
  if (symbol->memory.kind == TN_NINTH_UNBOUND) return tn_ninth_undefined(m, out->name);
  *out = symbol->memory;
  return true;
}

bool tn_ninth_run_grad(tn_ninth_vm *m) {
  tn_ninth_value value;
  tn_ninth_operand w;
  if (!named_value(m, &value) || !tn_ninth_operand_of(m, value, &w)) return false;
  tn_value grad = tn_eager_grad(m->eager, w.value);
  tn_ninth_operand_end(m, &w);
  return tn_ninth_finish(m, 1, grad);
}

bool tn_ninth_run_sub_assign_grad(tn_ninth_vm *m) {
  tn_ninth_value w = m->top[-3];
  tn_shape left = tn_ninth_shape_at(m, 2), right = tn_ninth_shape_at(m, 0);
  tn_ninth_operand rate, grad;
  bool variable = w.kind == TN_NINTH_TENSOR && tn_eager_is_variable(m->eager, w.tensor);
  if (!variable) return tn_ninth_wrong_kind(m, "trainable tensor", w);
  if (!tn_ninth_operand_at(m, 1, &rate)) return false;
  bool ok = tn_ninth_operand_at(m, 0, &grad);
  if (ok) {
    ok = tn_eager_sub_assign(m->eager, w.tensor, rate.value, grad.value) || tn_ninth_fault(m, &left, &right);
    tn_ninth_operand_end(m, &grad);
  }
  tn_ninth_operand_end(m, &rate);
  if (ok) tn_ninth_drop(m, 3);
  return ok;
}

/* ---- walking instances ---- */

typedef struct {
  uint32_t object, entry; /* an instance or a list, and where to continue */
} place;

typedef struct {
  tn_vec(place) places;
  tn_ninth_params params;
  tn_map seen;  /* variables */
  bool named;   /* their names are wanted */
  tn_name root; /* of the value that is followed; 0: the state of the main program */
} walk;

/* "layer.W": the path of the value that is visited. */
static tn_str path_of(tn_ninth_vm *m, const walk *w) {
  tn_names *names = m->host->names;
  tn_text path;
  tn_text_init(&path, m->heap);
  if (w->root) tn_text_add(&path, tn_names_text(names, w->root));
  for (size_t i = 0; i < w->places.count; i++) {
    const tn_ninth_object *object = tn_ninth_object_of(m, w->places.at[i].object);
    uint32_t entry = w->places.at[i].entry - 1;
    if (path.len > 0) tn_text_byte(&path, '.');
    if (object->kind == TN_NINTH_LIST_VALUE)
      tn_text_int(&path, entry);
    else
      tn_text_add(&path, tn_names_text(names, object->entries[entry].name));
  }
  tn_name name = path.failed ? 0 : tn_names_intern(names, tn_text_str(&path));
  tn_text_free(&path);
  return name ? tn_names_text(names, name) : (tn_str){ 0 };
}

static bool add_parameter(tn_ninth_vm *m, walk *w, tn_value variable) {
  tn_ninth_param param = { .variable = variable, .name = w->named ? path_of(m, w) : (tn_str){ 0 } };
  return (!w->named || param.name.at) && tn_vec_push(m->heap, &w->params, param);
}

static bool enter(tn_ninth_vm *m, walk *w, uint32_t number) {
  tn_ninth_object *object = tn_ninth_object_of(m, number);
  if (object->mark == m->mark) return true;
  object->mark = m->mark;
  return tn_vec_push(m->heap, &w->places, ((place){ number, 0 }));
}

/* What [PARAMS] listed belongs to another instance, wherever the list is kept. */
static bool is_entered(const tn_ninth_vm *m, tn_ninth_value value) {
  if (value.kind == TN_NINTH_INSTANCE) return true;
  return value.kind == TN_NINTH_LIST_VALUE && tn_ninth_object_of(m, value.object)->literal;
}

static bool visit(tn_ninth_vm *m, walk *w, tn_ninth_value value) {
  if (is_entered(m, value)) return enter(m, w, value.object);
  if (value.kind != TN_NINTH_TENSOR || !tn_eager_is_variable(m->eager, value.tensor)) return true;
  if (tn_map_get(&w->seen, value.tensor)) return true;
  return tn_map_put(&w->seen, value.tensor, 1) && add_parameter(m, w, value.tensor);
}

static void begin_walk(tn_ninth_vm *m, walk *w) {
  *w = (walk){ 0 };
  tn_map_init(&w->seen, m->heap);
  m->mark++;
}

/* What a value leads to. False when memory runs out. */
static bool follow(tn_ninth_vm *m, walk *w, tn_ninth_value value) {
  bool ok = visit(m, w, value);
  while (ok && w->places.count > 0) {
    place *here = &tn_vec_last(&w->places);
    const tn_ninth_object *object = tn_ninth_object_of(m, here->object);
    if (here->entry == object->count) {
      w->places.count--;
      continue;
    }
    uint32_t entry = here->entry++;
    bool list = object->kind == TN_NINTH_LIST_VALUE;
    ok = visit(m, w, list ? object->items[entry] : object->entries[entry].value);
  }
  return ok;
}

/* Of an instance, or of what a list holds. */
static bool find_parameters(tn_ninth_vm *m, walk *w, uint32_t object) {
  begin_walk(m, w);
  bool ok = enter(m, w, object);
  return ok && follow(m, w, (tn_ninth_value){ 0 });
}

static void end_walk(tn_ninth_vm *m, walk *w) {
  tn_vec_free(m->heap, &w->places);
  tn_vec_free(m->heap, &w->params);
  tn_map_free(&w->seen);
}

bool tn_ninth_named_params(tn_ninth_vm *m, uint32_t object, tn_ninth_params *out) {
  walk w;
  begin_walk(m, &w);
  w.named = true;
  bool ok = enter(m, &w, object) && follow(m, &w, (tn_ninth_value){ 0 });
  *out = w.params;
  w.params = (tn_ninth_params){ 0 };
  end_walk(m, &w);
  return ok || tn_ninth_no_room(m);
}

/* A list of these parameters; 0 when memory runs out. */
static uint32_t list_of(tn_ninth_vm *m, const tn_ninth_params *params) {
  uint32_t number = tn_ninth_list_new(m, params->count);
  tn_ninth_object *list = number != 0 ? tn_ninth_object_of(m, number) : NULL;
  for (size_t i = 0; list && i < params->count; i++) {
    list->items[i] = (tn_ninth_value){ .kind = TN_NINTH_TENSOR, .tensor = params->at[i].variable };
    tn_ninth_hold(m, list->items[i]);
  }
  return number;
}

bool tn_ninth_run_params(tn_ninth_vm *m) {
  tn_ninth_value top = m->top[-1];
  walk w;
  if (top.kind != TN_NINTH_INSTANCE) return tn_ninth_wrong_kind(m, "instance", top);
  uint32_t list = find_parameters(m, &w, top.object) ? list_of(m, &w.params) : 0;
  end_walk(m, &w);
  if (list == 0) return tn_ninth_no_room(m);
  tn_ninth_replace(m, 1, (tn_ninth_value){ .kind = TN_NINTH_LIST_VALUE, .object = list });
  return true;
}

static bool clear_object(tn_ninth_vm *m, uint32_t object) {
  walk w;
  bool ok = find_parameters(m, &w, object);
  for (size_t i = 0; ok && i < w.params.count; i++)
    ok = tn_eager_clear_grad(m->eager, w.params.at[i].variable);
  end_walk(m, &w);
  return ok || tn_ninth_no_room(m);
}


bool tn_ninth_run_zero_grad(tn_ninth_vm *m) {
  tn_ninth_value value;
  if (!named_value(m, &value)) return false;
  switch ((tn_ninth_kind)value.kind) {
    case TN_NINTH_INSTANCE:
    case TN_NINTH_LIST_VALUE:
      if (!clear_object(m, value.object)) return false;
      break;
    case TN_NINTH_TENSOR:
      if (!tn_eager_clear_grad(m->eager, value.tensor)) return tn_ninth_no_room(m);
      break;
    case TN_NINTH_NUMBER:
    case TN_NINTH_SHAPE_VALUE: break; /* tensors that have no gradient */
    default: return tn_ninth_wrong_kind(m, "instance, list or tensor", value);
  }
  tn_ninth_drop(m, 1);
  return true;
}

/* ---- after the program ---- */

static bool follow_everything(tn_ninth_vm *m, walk *w) {
  bool ok = true;
  for (size_t i = 0; ok && i < m->locals.count; i++) {
    w->root = m->scope.names.at[i];
    ok = follow(m, w, m->locals.at[i]);
  }
  w->root = 0;
  if (ok && m->self)
    ok = follow(m, w, (tn_ninth_value){ .kind = TN_NINTH_INSTANCE, .object = m->self });
  for (size_t i = 0; ok && i < m->symbols.count; i++) {
    w->root = (tn_name)i;
    ok = follow(m, w, m->symbols.at[i].memory);
  }
  return ok;
}

bool tn_ninth_keep_params(tn_ninth_vm *m, tn_unit *unit) {
  walk w;
  begin_walk(m, &w);
  w.named = true;
  bool ok = follow_everything(m, &w);
  for (size_t i = 0; ok && i < w.params.count; i++) {
    tn_tensor now = tn_eager_share(m->eager, w.params.at[i].variable);
    ok = now.buffer && tn_unit_keep_param_take(unit, w.params.at[i].name, &now);
  }
  end_walk(m, &w);
  return ok || tn_ninth_report_memory(m->heap, m->host->diags, TN_NOWHERE);
}
