/* lang/ail/walk_layers.c: walks uses of layers, and names their params.
 *
 * A layer is a function with params: every use has its own. They are named after the enclosing
 * uses, joined by dots: block.0.attention.Wq. A use has a number if the enclosing body uses the
 * layer at more than one place or in a loop, counted there from 0; so the names follow from the
 * program's text, and saved weights match their params again.
 *
 * The check of the model visits the uses in the same order as every other walk, declares their
 * params after those of the program and records the first param of each use. */
#include "lang/ail/declare.h"
#include "lang/ail/walk.h"

static bool out_of_memory(tn_ail_walk *w) {
  w->failed = w->stopped = w->program->arena.failed = true;
  return false;
}

/* ---- numbers that a layer is given ---- */

#define EXACT_F32 0x1p24f /* up to here f32 holds every whole number */

static void const_of(const tn_ail_operand *operand, tn_ail_const *out) {
  float number = operand->number;
  *out = (tn_ail_const){ .kind = TN_AIL_CONST_NUMBER, .number = (double)number };
  bool exact = number >= -EXACT_F32 && number <= EXACT_F32 && (float)(int64_t)number == number;
  out->is_integer = operand->whole || exact;
  if (out->is_integer) out->integer = operand->whole ? operand->integer : (int64_t)number;
  if (out->is_integer) out->number = (double)out->integer;
}

/* A name in the frame of the walk. One that was reported says nothing more. */
static bool bound_in_frame(const void *context, tn_name name, tn_ail_const *out, bool *hidden) {
  const tn_ail_operand *operand = tn_ail_lookup(context, name);
  *out = (tn_ail_const){ .kind = TN_AIL_CONST_BROKEN };
  if (!operand) return false;
  if (operand->wrong) return true;
  *hidden = !operand->constant || operand->kind != TN_DATA_TENSOR;
  if (!*hidden) const_of(operand, out);
  return !*hidden;
}

tn_ail_constants tn_ail_scope_of(const tn_ail_walk *w) {
  return (tn_ail_constants){ .program = w->program, .bound = bound_in_frame, .context = w };
}

tn_ail_operand tn_ail_layer_argument(tn_ail_walk *w, const tn_ail_expr *expr) {
  const tn_ail_constants scope = tn_ail_scope_of(w);
  tn_ail_no_constant why;
  tn_ail_const value;
  bool known = tn_ail_constant(&scope, expr, &value, &why);
  return known && value.is_integer ? tn_ail_of_integer(value.integer) : tn_ail_evaluate(w, expr);
}

/* ---- names ---- */

/* `before`, then a point and a word, or a number where there is no word. */
static tn_name joined(tn_ail_walk *w, tn_name before, tn_name word, uint64_t number) {
  tn_text text;
  tn_text_init(&text, w->program->host->heap);
  if (before) tn_text_add(&text, tn_ail_text_of(w->program, before)), tn_text_byte(&text, '.');
  if (word)
    tn_text_add(&text, tn_ail_text_of(w->program, word));
  else
    tn_text_int(&text, (int64_t)number);
  tn_name name = text.failed ? 0 : tn_names_intern(w->program->host->names, tn_text_str(&text));
  tn_text_free(&text);
  return name;
}

static tn_name path_of(tn_ail_walk *w, const tn_ail_fn *fn, tn_ail_layer_use *outer) {
  uint64_t layer = (uint64_t)(fn - w->program->fn_list), number = 0;
  tn_name path = joined(w, outer->path, fn->decl->name, 0);
  if (!path || !tn_map_get(&w->program->numbered, (uint64_t)outer->body << 32 | layer)) return path;
  const uint64_t *next = tn_map_get(&outer->next, layer);
  if (next) number = *next;
  return tn_map_put(&outer->next, layer, number + 1) ? joined(w, path, 0, number) : 0;
}

/* ---- params ---- */

/* In the check of the model: params that nothing has declared yet. A layer with a wrong one is not used
 * again, so that it is reported once. */
static bool declare(tn_ail_walk *w, const tn_ail_fn *fn, tn_ail_layer_use *use) {
  tn_ail *program = w->program;
  const tn_ail_constants scope = tn_ail_scope_of(w);
  if (!tn_vec_push(program->host->heap, &program->uses, (uint32_t)program->param_count))
    return out_of_memory(w);
  for (uint32_t i = 0; i < fn->decl->body.count; i++) {
    const tn_ail_statement *decl = &fn->decl->body.statements[i];
    if (decl->kind != TN_AIL_PARAM) continue;
    tn_name name = joined(w, use->path, decl->name, 0);
    if (!name || !tn_ail_declare_param(program, &scope, decl, name)) return out_of_memory(w);
    const tn_tensor_spec *spec = &program->params[program->param_count - 1];
    if (spec->broken) program->fn_list[fn - program->fn_list].refused = w->failed = true;
  }
  return true;
}

/* Of a layer that nothing uses: its params are checked, and have no values. */
static void check_params(tn_ail_walk *w, const tn_ail_fn *fn) {
  const tn_ail_constants scope = tn_ail_scope_of(w);
  for (uint32_t i = 0; i < fn->decl->body.count; i++) {
    const tn_ail_statement *decl = &fn->decl->body.statements[i];
    if (decl->kind == TN_AIL_PARAM && !w->quiet && !tn_ail_check_param(w->program, &scope, decl))
      w->program->fn_list[fn - w->program->fn_list].refused = w->failed = true;
  }
}

/* Params are declared before any is bound: a shape knows the arguments of its layer and no other name. */
static void bind_params(tn_ail_walk *w, const tn_ail_fn *fn, size_t first, bool known) {
  for (uint32_t i = 0, k = 0; i < fn->decl->body.count; i++) {
    const tn_ail_statement *decl = &fn->decl->body.statements[i];
    tn_ail_operand operand = tn_ail_wrong();
    if (decl->kind != TN_AIL_PARAM) continue;
    const tn_tensor_spec *spec = known ? &w->program->params[first + k++] : NULL;
    const tn_ail_operand *made = spec && !w->records ? tn_ail_bound_anywhere(w, spec->name) : NULL;
    if (made)
      operand = *made;
    else if (spec)
      operand = tn_ail_make_spec(w, spec, &spec->type.shape, true, 0);
    tn_ail_bind(w, decl->name, &operand);
  }
}

bool tn_ail_open_use(tn_ail_walk *w, const tn_ail_fn *fn, tn_ail_layer_use *use) {
  tn_ail *program = w->program;
  tn_ail_layer_use *outer = w->use ? w->use : &w->model;
  *use = (tn_ail_layer_use){ .body = (uint32_t)(fn - program->fn_list) + 1 };
  tn_map_init(&use->next, program->host->heap);
  w->use = use;
  bool checks = w->records && w->typer, known = checks || !w->typer;
  if (checks) use->path = path_of(w, fn, outer);
  if (checks && !use->path) return out_of_memory(w);
  if (checks && !declare(w, fn, use)) return false;
  if (!checks && known && w->use_count >= program->uses.count) return out_of_memory(w); /* never */
  if (!known) check_params(w, fn);
  size_t first = known ? program->uses.at[w->use_count++] : 0;
  bind_params(w, fn, first, known);
  return true;
}

void tn_ail_close_use(tn_ail_walk *w, tn_ail_layer_use *use, tn_ail_layer_use *outer) {
  tn_map_free(&use->next);
  w->use = outer;
}
