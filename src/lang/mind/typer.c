/* lang/mind/typer.c: a builder that infers types and makes nothing.
 *
 * It lets the checker ask every rule of every operation, composed ones too, by
 * the same calls with which the evaluator makes them. Values are numbers of a
 * list of types that is forgotten after each question. */
#include "lang/mind/mind.h"

/* Value 0 is the error value of every builder. */
static tn_value keep(tn_mind_typer *typer, const tn_type *type) {
  bool has_error = typer->types.count > 0 || tn_vec_push(typer->base.heap, &typer->types, (tn_type){ 0 });
  if (!has_error || !tn_vec_push(typer->base.heap, &typer->types, *type)) {
    return tn_build_fault(&typer->base, TN_OP_ERROR, (tn_fault){ .kind = TN_FAULT_MEMORY });
  }
  return (tn_value)(typer->types.count - 1);
}

static tn_value typer_add(tn_builder *builder, tn_op op, const tn_value *in, int count, const tn_attrs *attrs,
                          const tn_type *type) {
  (void)op, (void)in, (void)count, (void)attrs;
  return keep((tn_mind_typer *)builder, type);
}

static const tn_type *typer_type(const tn_builder *builder, tn_value value) {
  static const tn_type nothing;
  const tn_mind_typer *typer = (const tn_mind_typer *)builder;
  return value < typer->types.count ? &typer->types.at[value] : &nothing;
}

static const tn_builder_methods methods = { .add = typer_add, .type = typer_type };

void tn_mind_typer_init(tn_mind_typer *typer, tn_heap *heap, tn_names *names) {
  *typer = (tn_mind_typer){ .base = { .methods = &methods, .heap = heap, .names = names } };
}

void tn_mind_typer_free(tn_mind_typer *typer) { tn_vec_free(typer->base.heap, &typer->types); }

tn_value tn_mind_typer_value(tn_mind_typer *typer, tn_dtype dtype, const tn_shape *shape) {
  return keep(typer, &(tn_type){ dtype, *shape });
}

void tn_mind_typer_reset(tn_mind_typer *typer) {
  if (typer->types.count > 1) typer->types.count = 1;
  tn_build_forget(&typer->base);
}
