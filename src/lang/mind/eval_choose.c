/* lang/mind/eval_choose.c: which copy of a closure runs.
 *
 * A closure is checked as a copy for each combination of types it is called with.
 * Where a call is written out, the checker has chosen the copy. After a parameter
 * of type fn(f32) -> f32 may be any closure: here the values decide. The checker
 * has made a copy for them where the closure was handed over. */
#include "lang/mind/eval.h"

static bool admits(tn_mind_evaluator *e, const tn_mind_type *type, const tn_mind_value *value) {
  static const tn_shape none;
  switch ((tn_mind_value_kind)value->kind) {
    case TN_MIND_V_SCALAR:
    case TN_MIND_V_TENSOR: {
      if (!tn_mind_type_is_value(type)) return false;
      tn_type of = tn_mind_value_type(e, value);
      const tn_shape *shape = type->kind == TN_MIND_T_TENSOR ? &type->shape : &none;
      return of.dtype == type->dtype && tn_mind_shapes_agree(NULL, shape, &of.shape);
    }
    case TN_MIND_V_STRING: return type->kind == TN_MIND_T_STRING;
    case TN_MIND_V_SHAPE:
      return type->kind == TN_MIND_T_SHAPE && tn_mind_shapes_agree(NULL, &type->shape, value->shape);
    case TN_MIND_V_FN: {
      bool declared = type->kind == TN_MIND_T_FN && type->callable->kind == TN_MIND_C_DECLARED;
      const tn_mind_type *own = tn_mind_type_of(e, value);
      return declared || tn_mind_type_equal(&e->host->heap->stack, type, own);
    }
    case TN_MIND_V_TUPLE:
      if (type->kind != TN_MIND_T_TUPLE || type->count != value->count) return false;
      if (!tn_mind_room(e->mind)) return false;
      for (uint32_t i = 0; i < value->count; i++) {
        if (!admits(e, type->items[i], &value->items[i])) return false;
      }
      return true;
    default: return type->kind == TN_MIND_T_UNIT;
  }
}

static bool was_sound(const tn_mind_function *f) { return f->gives && f->gives->kind != TN_MIND_T_ERROR; }

static const tn_mind_fn *innermost(const tn_mind_fn *fn) {
  while (fn->inner) fn = fn->inner;
  return fn;
}

static bool admits_all(tn_mind_evaluator *e, const tn_mind_function *f, const tn_mind_value *args) {
  for (uint32_t i = 0; i < f->param_count; i++) {
    if (!admits(e, f->param_types[i], &args[i])) return false;
  }
  return was_sound(f);
}

const tn_mind_function *tn_mind_choose(tn_mind_evaluator *e, const tn_mind_fn *fn, const tn_mind_value *args,
                                       uint32_t count) {
  fn = innermost(fn);
  if (fn->callable->kind == TN_MIND_C_FUNCTION) return fn->callable->function;
  if (fn->callable->kind != TN_MIND_C_CLOSURE || fn->callable->closure->closure.count != count) return NULL;
  if (fn->chosen) return fn->chosen;
  const tn_mind_function *f = fn->callable->closure->closure.state->instances;
  while (f && !admits_all(e, f, args)) f = f->next;
  return f;
}

/* ---- by type ---- */

/* Whether the copy takes all that the type says: a length of its own would be one of many. */
static bool takes_all(const tn_mind_type *own, const tn_mind_type *declared) {
  if (own->kind != declared->kind || own->dtype != declared->dtype) return false;
  if (own->kind != TN_MIND_T_TENSOR) return true;
  if (own->shape.rank != declared->shape.rank) return false;
  for (int i = 0; i < own->shape.rank; i++) {
    int64_t dim = own->shape.dim[i];
    if (tn_dim_is_known(dim) && dim != declared->shape.dim[i]) return false;
  }
  return true;
}

static bool is_for(const tn_mind_function *f, const tn_mind_callable *declared) {
  for (uint32_t i = 0; i < f->param_count; i++) {
    if (!takes_all(f->param_types[i], declared->params[i])) return false;
  }
  return was_sound(f);
}

const tn_mind_function *tn_mind_choose_for(const tn_mind_fn *fn, const tn_mind_callable *declared) {
  bool closure = fn->callable->kind == TN_MIND_C_CLOSURE &&
                 fn->callable->closure->closure.count == declared->param_count;
  const tn_mind_function *f = closure ? fn->callable->closure->closure.state->instances : NULL;
  while (f && !is_for(f, declared)) f = f->next;
  return f;
}
