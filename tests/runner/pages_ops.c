/* runner/pages_ops.c: writes operations.md: every operation of op/ops.def, and what each language calls it.
 *
 * The names come from the languages' own tables, operators from ops.def. Only forms of the grammar are listed
 * here. */
#include <stdlib.h>
#include <string.h>

#include "ad/ad.h"
#include "lang/ail/library.h"
#include "lang/mind/library.h"
#include "runner/pages.h"

static const char intro[] =
    "# Operations\n"
    "\n"
    "Programs of all three languages become graphs of these operations; what one of them computes, and to\n"
    "which bit, does not depend on the language that asks for it. The page is written from\n"
    "`src/op/ops.def` and the tables of the languages by `make test-update`, and `make test` fails when\n"
    "it says anything else. `tern ops` shows a shorter form of it, `tern ops --json` one for programs,\n"
    "and [numerics.md](../numerics.md) says how results are rounded and in which order sums are added.\n"
    "\n"
    "How to read an entry:\n"
    "\n"
    "- The first line names the operands, then in braces the attributes: what is fixed when the graph is\n"
    "  made. `x...` stands for any number of operands. [Attributes](#attributes) says what each means.\n"
    "- *Result* is the shape and, after the semicolon, the dtype. Shapes that broadcast are matched from\n"
    "  the right; a length of 1 stretches.\n"
    "- *Dtypes* are those that the first operand, or the result of an operation without operands, may\n"
    "  have. bf16 and f16 are for storage; arithmetic on them is done in f32 and rounded when stored.\n"
    "- *Gradient*: `yes`; `0`, the derivative is zero everywhere; `none`, an error on the way of a\n"
    "  gradient; `of its parts`, the operation is replaced by others and differentiated through them.\n"
    "  Forward and reverse derivatives are both there wherever one is.\n"
    "- In AILang, arguments in brackets may be left out; in MIND, those with a default. MIND's functions\n"
    "  can also be called as methods and as `tensor.NAME`. An operation without a name in a language is\n"
    "  one that it does not offer by itself, or that only the compiler makes.\n"
    "\n";

/* What a language writes without a name of a table. */
static const struct {
  tn_op op;
  const char *ail, *mind, *ninth;
} forms[] = {
  { TN_OP_INPUT, "x [B, 2]", NULL, "[INPUT]" },
  { TN_OP_PARAM, "param W [2, 3]", NULL, "[VAR]" },
  { TN_OP_CONST, NULL, "[1, 2, 3]", "(1 2 3)" },
  { TN_OP_FILL, "0.5", "0.5", "0.5" },
  { TN_OP_HOST, NULL, "now()", NULL },
  { TN_OP_INDEX, NULL, "x[i]", NULL },
  { TN_OP_STACK, "for i in range(0, 3) do i end", NULL, NULL },
  { TN_OP_IF, "if c then a else b", "if c { a } else { b }", NULL },
};
#define FORM_COUNT (sizeof forms / sizeof *forms)

static const struct {
  tn_attr_set bit;
  const char *name, *meaning;
} attributes[] = {
  { TN_ATTR_NAME, "name", "what an input or a parameter is called; for `host`, what the host is asked for" },
  { TN_ATTR_DTYPE, "dtype", "the dtype of the result" },
  { TN_ATTR_SHAPE, "shape", "the shape of the result; lengths may be names" },
  { TN_ATTR_AXIS, "axis", "one axis, counted from 0, from the end when negative" },
  { TN_ATTR_AXES, "axes", "several; for reductions all when left out" },
  { TN_ATTR_KEEPDIMS, "keepdims", "reduced axes stay, with length 1" },
  { TN_ATTR_WINDOW, "window", "height and width of a window" },
  { TN_ATTR_LOW, "low",
    "`slice`: where to begin; `pad`: zeros before; windows: zeros above and to the left" },
  { TN_ATTR_HIGH, "high",
    "`slice`: where to end, exclusive; `pad`: zeros after; windows: zeros below and to the right" },
  { TN_ATTR_STEP, "step",
    "`slice`: from one place to the next; `pad`: zeros between elements; windows: the stride" },
  { TN_ATTR_NUMBER, "number", "`fill`: the number; `layer_norm`: eps; `dropout`: the probability of 0" },
  { TN_ATTR_INDEX, "index",
    "`index`: the place; `one_hot`: the number of classes; `attention`: the number of heads, 1 when left "
    "out; `pick`: which result; random numbers: the first word of the generator" },
  { TN_ATTR_REVERSE, "reverse", "from the end to the beginning" },
  { TN_ATTR_EXCLUSIVE, "exclusive", "each place without itself" },
  { TN_ATTR_SAME, "same", "padding that keeps height and width; without it there is none" },
  { TN_ATTR_CAUSAL, "causal", "a query sees no key after its own place" },
  { TN_ATTR_LITERAL, "value", "the tensor itself" },
  { TN_ATTR_REGIONS, "regions", "what runs when the condition is true, and what runs when it is not" },
  { TN_ATTR_PROGRAM, "program", "the operations that run together" },
};
#define ATTRIBUTE_COUNT (sizeof attributes / sizeof *attributes)

/* ---- names ---- */

/* Code in a cell of a table: a bar in it is marked. */
static void put_name(text *cell, const char *name) {
  text_addf(cell, "%s`", cell->length ? ", " : "");
  for (; *name; name++) text_addf(cell, *name == '|' ? "\\|" : "%c", *name);
  text_addf(cell, "`");
}

/* A function belongs to the operation of its own name, or else to the one it asks for. */
static bool belongs(const char *name, tn_op asks, tn_op op) {
  tn_op own = tn_op_find(tn_str_of(name));
  return (own != TN_OP_ERROR ? own : asks) == op;
}

static void put_ail_names(text *cell, tn_op op) {
  size_t count;
  const tn_ail_builtin *all = tn_ail_builtins(&count);
  for (size_t i = 0; i < count; i++) {
    if (!belongs(all[i].name, all[i].op, op)) continue;
    text call = text_of(all[i].name);
    text_addf(&call, "(");
    for (int p = 0; p < TN_AIL_PARAM_LIMIT && all[i].params[p].name; p++) {
      const tn_ail_param_spec *param = &all[i].params[p];
      text_addf(&call, param->optional ? "%s[%s]" : "%s%s", p ? ", " : "", param->name);
    }
    text_addf(&call, ")");
    put_name(cell, call.bytes);
    free(call.bytes);
  }
}

static void put_mind_names(text *cell, tn_op op) {
  size_t count;
  const tn_mind_entry *all = tn_mind_library(&count);
  for (size_t i = 0; i < count; i++) {
    if (all[i].special >= TN_MIND_FOLD || !belongs(all[i].name, all[i].op, op)) continue; /* a loop */
    tn_heap heap = { 0 };
    tn_text call;
    tn_text_init(&call, &heap);
    tn_mind_entry_print(&all[i], &call);
    if (call.failed) die("out of memory");
    put_name(cell, call.at);
    tn_text_free(&call);
  }
}

static void put_ninth_names(text *cell, tn_op op) {
  static const struct {
    const char *name;
    tn_op op;
  } all[] = {
#define TN_NINTH_OPCODE(name, takes, gives, group, effect, doc, how, operation) \
  { "[" #name "]", TN_OP_##operation },
#include "lang/ninth/opcodes.def"
#undef TN_NINTH_OPCODE
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].op == op) put_name(cell, all[i].name);
}

/* `word` before x, or between two operands. */
static void put_operators(text cells[3], tn_op op) {
  static const struct {
    tn_op op;
    const char *ail, *mind;
  } all[] = {
#define TN_OP(id, ...)          __VA_ARGS__
#define TN_AIL(...)             __VA_ARGS__
#define TN_MIND(...)            __VA_ARGS__
#define AIL_PREFIX(id, word)    { TN_OP_##id, word "x", NULL },
#define AIL_OPERATOR(id, word)  { TN_OP_##id, "a " word " b", NULL },
#define MIND_PREFIX(id, word)   { TN_OP_##id, NULL, word "x" },
#define MIND_OPERATOR(id, word) { TN_OP_##id, NULL, "x " word " y" },
#include "op/ops.def"
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i].op != op) continue;
    if (all[i].ail) put_name(&cells[0], all[i].ail);
    if (all[i].mind) put_name(&cells[1], all[i].mind);
  }
}

/* ---- an entry ---- */

static const char *derivative_of(const tn_op_sig *sig) {
  static const char *const words[] = {
    [TN_DERIVATIVE_YES] = "yes", [TN_DERIVATIVE_ZERO] = "0", [TN_DERIVATIVE_NONE] = "none"
  };
  if (sig->arity == 0) return "–"; /* where gradients end */
  if (sig->kind == TN_KIND_COMPOSED) return "of its parts";
  if (tn_ad_has_vjp(sig->op) != tn_ad_has_jvp(sig->op)) die("%s: forward and reverse differ", sig->name);
  return words[tn_ad_has_vjp(sig->op)];
}

static void put_dtypes(text *page, tn_dtype_set set) {
  const char *gap = "";
  if (set == TN_ANY_DTYPE) {
    text_addf(page, "any");
    return;
  }
  for (int d = 0; d < TN_DTYPE_COUNT; d++) {
    if (!tn_dtype_in((tn_dtype)d, set)) continue;
    text_addf(page, "%s%s", gap, tn_dtype_name((tn_dtype)d));
    gap = " ";
  }
}

static void put_attributes(text *page, const tn_op_sig *sig) {
  const char *before = " {";
  uint32_t named = 0;
  for (size_t i = 0; i < ATTRIBUTE_COUNT; i++) {
    named |= attributes[i].bit;
    if (!(sig->attrs & attributes[i].bit)) continue;
    text_addf(page, "%s%s", before, attributes[i].name);
    before = ", ";
  }
  if (sig->attrs & ~named) die("%s has an attribute that this page does not explain", sig->name);
  if (sig->attrs) text_addf(page, "}");
}

static void put_names(text *page, tn_op op) {
  text cells[3] = { text_of(""), text_of(""), text_of("") };
  for (size_t i = 0; i < FORM_COUNT; i++) {
    if (forms[i].op != op) continue;
    if (forms[i].ail) put_name(&cells[0], forms[i].ail);
    if (forms[i].mind) put_name(&cells[1], forms[i].mind);
    if (forms[i].ninth) put_name(&cells[2], forms[i].ninth);
  }
  put_operators(cells, op);
  put_ail_names(&cells[0], op);
  put_mind_names(&cells[1], op);
  put_ninth_names(&cells[2], op);
  for (int i = 0; i < 3; i++) {
    text_addf(page, " %s |", cells[i].length ? cells[i].bytes : "–");
    free(cells[i].bytes);
  }
}

static void put_operation(text *page, const tn_op_sig *sig) {
  if (!sig->doc || !*sig->doc || !sig->result) die("%s is not described", sig->name);
  text_addf(page, "### %s\n\n`%s%s%s", sig->name, sig->name, sig->operands ? " " : "",
            sig->operands ? sig->operands : "");
  put_attributes(page, sig);
  text_addf(page, "`: %s.\n\n| result | dtypes | gradient | AILang | MIND | Ninth |\n", sig->doc);
  text_addf(page, "|---|---|---|---|---|---|\n| %s | ", sig->result);
  put_dtypes(page, sig->dtypes);
  text_addf(page, " | %s |", derivative_of(sig));
  put_names(page, sig->op);
  text_addf(page, "\n\n");
}

/* ---- the page ---- */

static bool group_stands_before(int op) {
  for (int i = 1; i < op; i++)
    if (strcmp(tn_op_sig_of((tn_op)i)->group, tn_op_sig_of((tn_op)op)->group) == 0) return true;
  return false;
}

static bool in_group(int op, const char *group) { return strcmp(tn_op_sig_of((tn_op)op)->group, group) == 0; }

static void put_contents(text *page) {
  text_addf(page, "| group | operations |\n|---|---|\n");
  for (int g = 1; g < TN_OP_COUNT; g++) {
    const char *group = tn_op_sig_of((tn_op)g)->group;
    if (group_stands_before(g)) continue;
    text_addf(page, "| %s |", group);
    for (int i = g; i < TN_OP_COUNT; i++) {
      const char *name = tn_op_sig_of((tn_op)i)->name;
      if (in_group(i, group)) text_addf(page, " [%s](#%s)", name, name);
    }
    text_addf(page, " |\n");
  }
  text_addf(page, "\n");
}

text operations_page(void) {
  text page = text_of(intro);
  put_contents(&page);
  for (int g = 1; g < TN_OP_COUNT; g++) {
    const char *group = tn_op_sig_of((tn_op)g)->group;
    if (group_stands_before(g)) continue;
    text_addf(&page, "## %c%s\n\n", group[0] - 'a' + 'A', group + 1);
    for (int i = g; i < TN_OP_COUNT; i++)
      if (in_group(i, group)) put_operation(&page, tn_op_sig_of((tn_op)i));
  }
  text_addf(&page, "## Attributes\n\n| attribute | |\n|---|---|\n");
  for (size_t i = 0; i < ATTRIBUTE_COUNT; i++)
    text_addf(&page, "| `%s` | %s |\n", attributes[i].name, attributes[i].meaning);
  return page;
}
