/* graph/typer.c: the builder that only infers types. */
#include "graph/typer.h"

static tn_value fail(tn_typer *typer) {
  bool full = typer->types.count >= TN_NODE_LIMIT;
  tn_fault limit = { .kind = TN_FAULT_TOO_LARGE, .expected = TN_NODE_LIMIT, .reason = "the graph" };
  return tn_build_fault(&typer->base, TN_OP_ERROR, full ? limit : (tn_fault){ .kind = TN_FAULT_MEMORY });
}

static tn_value keep(tn_typer *typer, const tn_type *type) {
  tn_heap *heap = typer->base.heap;
  bool room = typer->types.count > 0 || tn_vec_push(heap, &typer->types, (tn_type){ 0 });
  room = room && typer->types.count < TN_NODE_LIMIT && tn_vec_push(heap, &typer->types, *type);
  return room ? (tn_value)(typer->types.count - 1) : fail(typer);
}

static tn_value typer_add(tn_builder *builder, tn_op op, const tn_value *in, int count, const tn_attrs *attrs,
                          const tn_type *type) {
  (void)op, (void)in, (void)count, (void)attrs;
  return keep((tn_typer *)builder, type);
}

static const tn_type *typer_type(const tn_builder *builder, tn_value value) {
  static const tn_type nothing;
  const tn_typer *typer = (const tn_typer *)builder;
  return value < typer->types.count ? &typer->types.at[value] : &nothing;
}

static const tn_builder_methods methods = { .add = typer_add, .type = typer_type };

void tn_typer_init(tn_typer *typer, tn_heap *heap, tn_names *names) {
  *typer = (tn_typer){ .base = { .methods = &methods, .heap = heap, .names = names } };
}

void tn_typer_free(tn_typer *typer) { tn_vec_free(typer->base.heap, &typer->types); }

tn_value tn_typer_value(tn_typer *typer, tn_dtype dtype, const tn_shape *shape) {
  return keep(typer, &(tn_type){ dtype, *shape });
}

void tn_typer_reset(tn_typer *typer) {
  typer->types.count = 0;
  tn_build_forget(&typer->base);
}
