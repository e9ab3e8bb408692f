/* lang/mind/check_weights.c: the types of save and load.
 *
 * What is saved is named by variables, as what is differentiated by is. Loading
 * gives values of the types that the same variables have. */
#include "lang/mind/check.h"

static const tn_mind_type *named_type(tn_mind_checker *c, tn_mind_node *node) {
  const tn_mind_type *type = tn_mind_check_expression(c, node);
  bool variable = node->kind == TN_MIND_NAME && node->name.variable;
  if (type->kind == TN_MIND_T_ERROR || (variable && tn_mind_type_is_state(type)))
    return tn_mind_type_plain(c->mind->arena, type);
  const char *expected = variable ? "a number, a tensor or a tuple of them" : "the name of a variable";
  return tn_mind_wrong(tn_mind_expected(c->mind, tn_mind_at(c->unit, node->from, node->to), expected, type));
}

/* Of one name its type, of a list of names a tuple. */
static const tn_mind_type *named_types(tn_mind_checker *c, tn_mind_node *names) {
  bool list = tn_mind_is_list(names), ok = true;
  if (!list) return named_type(c, names);
  uint32_t count = 0;
  const tn_mind_type **items = tn_arena_array(c->mind->arena, names->list.count, sizeof *items);
  if (!items) return &tn_mind_type_error;
  for (tn_mind_node *item = names->list.items; item; item = item->next) {
    items[count] = named_type(c, item);
    ok &= items[count++]->kind != TN_MIND_T_ERROR;
  }
  names->type = &tn_mind_type_unit; /* an argument, not a value */
  if (!ok) return &tn_mind_type_error;
  return count == 1 ? items[0] : tn_mind_type_items(c->mind->arena, TN_MIND_T_TUPLE, items, NULL, count);
}

const tn_mind_type *tn_mind_check_weights(tn_mind_checker *c, const tn_mind_entry *entry, tn_mind_given *args,
                                          tn_span at) {
  tn_mind_node *names = args[1].node;
  bool none = !names || (tn_mind_is_list(names) && !names->list.count);
  if (none) {
    return tn_mind_wrong(tn_report(tn_mind_diags(c), TN_DIAG_E2001, tn_mind_given_span(c, &args[1], at),
                                   TN_STR("expected", "names that are written out, as in `[W, b]`"),
                                   TN_STR("got", "none")));
  }
  const tn_mind_type *types = named_types(c, names);
  if (args[0].type->kind == TN_MIND_T_ERROR || types->kind == TN_MIND_T_ERROR) return &tn_mind_type_error;
  if (args[0].type->kind != TN_MIND_T_STRING)
    return tn_mind_wrong(
        tn_mind_expected(c->mind, tn_mind_given_span(c, &args[0], at), "a string", args[0].type));
  return entry->special == TN_MIND_LOAD ? types : &tn_mind_type_unit;
}
