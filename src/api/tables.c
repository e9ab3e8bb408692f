/* api/tables.c: the tables of operations and codes, and suggestions. */
#include <string.h>

#include "ad/ad.h"
#include "api/internal.h"
#include "base/json.h"
#include "lang/ail/ail.h"

/* Text for the caller, outside every session: a block of exactly its length. */
static char *hand_over(tn_text *text) {
  tn_heap *heap = text->heap;
  char *copy = text->failed || !text->at ? NULL : tn_heap_alloc(heap, text->len + 1);
  if (copy) memcpy(copy, text->at, text->len + 1);
  tn_text_free(text);
  return copy;
}

void tern_free_text(char *text) {
  if (!text) return;
  tn_heap heap = { .used = strlen(text) + 1 };
  tn_heap_free(&heap, text, heap.used);
}

static const char *derivative_name(tn_derivative derivative) {
  static const char *const names[] = {
    [TN_DERIVATIVE_YES] = "yes", [TN_DERIVATIVE_ZERO] = "zero", [TN_DERIVATIVE_NONE] = "none"
  };
  return names[derivative];
}

static bool is_composed(const tn_op_sig *sig) { return sig->kind == TN_KIND_COMPOSED; }

/* A composed operation has the derivatives of its parts. */
static const char *vjp_name(const tn_op_sig *sig) {
  return is_composed(sig) ? "parts" : derivative_name(tn_ad_has_vjp(sig->op));
}
static const char *jvp_name(const tn_op_sig *sig) {
  return is_composed(sig) ? "parts" : derivative_name(tn_ad_has_jvp(sig->op));
}

static void pad_to(tn_text *out, size_t start, size_t width) {
  size_t used = out->len - start;
  tn_text_repeat(out, ' ', used < width ? width - used : 1);
}

static void print_dtypes(tn_dtype_set set, const char *between, tn_text *out) {
  bool any = false;
  for (int d = 0; d < TN_DTYPE_COUNT; d++) {
    if (!tn_dtype_in((tn_dtype)d, set)) continue;
    if (any) tn_text_puts(out, between);
    tn_text_puts(out, tn_dtype_name((tn_dtype)d));
    any = true;
  }
}

static void print_op(const tn_op_sig *sig, tn_text *out) {
  size_t start = out->len;
  tn_text_puts(out, "  ");
  tn_text_puts(out, sig->name);
  pad_to(out, start, 18);
  tn_text_puts(out, sig->operands ? sig->operands : "-");
  pad_to(out, start, 36);
  tn_text_puts(out, vjp_name(sig));
  pad_to(out, start, 43);
  tn_text_puts(out, jvp_name(sig));
  pad_to(out, start, 50);
  if (sig->dtypes == TN_ANY_DTYPE)
    tn_text_puts(out, "any");
  else
    print_dtypes(sig->dtypes, " ", out);
  pad_to(out, start, 72);
  tn_text_puts(out, sig->doc);
  tn_text_byte(out, '\n');
}

static bool group_stands_before(int op) {
  for (int i = 1; i < op; i++) {
    if (strcmp(tn_op_sig_of((tn_op)i)->group, tn_op_sig_of((tn_op)op)->group) == 0) return true;
  }
  return false;
}

char *tern_ops_text(void) {
  tn_heap heap = { 0 };
  tn_text out;
  tn_text_init(&out, &heap);
  tn_text_puts(&out, "  operation       operands          vjp    jvp    dtypes                meaning\n");
  for (int g = 1; g < TN_OP_COUNT; g++) {
    const char *group = tn_op_sig_of((tn_op)g)->group;
    if (group_stands_before(g)) continue;
    tn_text_byte(&out, '\n');
    tn_text_puts(&out, group);
    tn_text_byte(&out, '\n');
    for (int i = g; i < TN_OP_COUNT; i++) {
      if (strcmp(tn_op_sig_of((tn_op)i)->group, group) == 0) print_op(tn_op_sig_of((tn_op)i), &out);
    }
  }
  tn_text_puts(
      &out,
      "\nBack ends: every operation runs on ref and cpu, with the same bits. \"parts\": composed of other\n"
      "operations, and differentiated through them. bf16 and f16 are computed in f32.\n");
  return hand_over(&out);
}

static void print_derivatives(const tn_op_sig *sig, tn_text *out) {
  tn_text_puts(out, "  gradient: ");
  tn_text_puts(out, vjp_name(sig));
  tn_text_puts(out, " (vjp), ");
  tn_text_puts(out, jvp_name(sig));
  tn_text_puts(out, " (jvp)\n  dtypes: ");
  print_dtypes(sig->dtypes, " ", out);
  tn_text_byte(out, '\n');
}

char *tern_op_text(const char *name) {
  tn_op op = tn_op_find(tn_str_of(name));
  if (op == TN_OP_ERROR) return NULL;
  tn_heap heap = { 0 };
  tn_text out;
  tn_text_init(&out, &heap);
  tn_op_describe(tn_op_sig_of(op), &out);
  print_derivatives(tn_op_sig_of(op), &out);
  return hand_over(&out);
}

const char *tern_op_name(size_t index) {
  return index + 1 < TN_OP_COUNT ? tn_op_sig_of((tn_op)(index + 1))->name : NULL;
}

const char *tern_code_name(size_t index) {
  return index + 1 < TN_DIAG_COUNT ? tn_diag_info_of((tn_diag_code)(index + 1))->code : NULL;
}

static void op_json(tn_json_writer *json, const tn_op_sig *sig) {
  tn_json_object_begin(json);
  tn_json_key(json, "name"), tn_json_string(json, tn_str_of(sig->name));
  tn_json_key(json, "group"), tn_json_string(json, tn_str_of(sig->group));
  tn_json_key(json, "operands"), tn_json_string(json, tn_str_of(sig->operands));
  tn_json_key(json, "arity");
  if (sig->arity == TN_VARIADIC)
    tn_json_null(json);
  else
    tn_json_int(json, sig->arity);
  tn_json_key(json, "composed"), tn_json_bool(json, is_composed(sig));
  tn_json_key(json, "forward"), tn_json_bool(json, true);
  tn_json_key(json, "vjp"), tn_json_string(json, tn_str_of(vjp_name(sig)));
  tn_json_key(json, "jvp"), tn_json_string(json, tn_str_of(jvp_name(sig)));
  tn_json_key(json, "dtypes"), tn_json_array_begin(json);
  for (int d = 0; d < TN_DTYPE_COUNT; d++) {
    if (tn_dtype_in((tn_dtype)d, sig->dtypes)) tn_json_string(json, tn_str_of(tn_dtype_name((tn_dtype)d)));
  }
  tn_json_array_end(json);
  tn_json_key(json, "backends"), tn_json_array_begin(json);
  tn_json_string(json, TN_LIT("ref")), tn_json_string(json, TN_LIT("cpu"));
  tn_json_array_end(json);
  tn_json_key(json, "result"), tn_json_string(json, tn_str_of(sig->result));
  tn_json_key(json, "doc"), tn_json_string(json, tn_str_of(sig->doc));
  tn_json_object_end(json);
}

/* The operations from `first` up to `end`. */
static char *ops_json(int first, int end) {
  tn_heap heap = { 0 };
  tn_text out;
  tn_text_init(&out, &heap);
  tn_json_writer json = tn_json_writer_on(&out);
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok"), tn_json_bool(&json, true);
  tn_json_key(&json, "ops"), tn_json_array_begin(&json);
  for (int i = first; i < end; i++) op_json(&json, tn_op_sig_of((tn_op)i));
  tn_json_array_end(&json);
  tn_json_object_end(&json);
  return hand_over(&out);
}

char *tern_ops_json(void) { return ops_json(1, TN_OP_COUNT); }

char *tern_op_json(const char *name) {
  int op = (int)tn_op_find(tn_str_of(name));
  return op == TN_OP_ERROR ? NULL : ops_json(op, op + 1);
}

char *tern_explain(const char *code, int color) {
  tn_diag_code found = tn_diag_find(tn_str_of(code));
  if (found == TN_DIAG_NONE) return NULL;
  tn_heap heap = { 0 };
  tn_text out;
  tn_text_init(&out, &heap);
  tn_diag_explain(found, &out, color != 0);
  return hand_over(&out);
}

char *tern_explain_json(const char *code) {
  tn_diag_code found = tn_diag_find(tn_str_of(code));
  if (found == TN_DIAG_NONE) return NULL;
  tn_heap heap = { 0 };
  tn_text out;
  tn_text_init(&out, &heap);
  tn_json_writer json = tn_json_writer_on(&out);
  tn_diag_explain_json(found, &json);
  return hand_over(&out);
}

char *tern_codes(void) {
  tn_heap heap = { 0 };
  tn_text out;
  tn_text_init(&out, &heap);
  tn_diag_list(&out, false);
  return hand_over(&out);
}

#define TN_SUGGEST_LIMIT 1024

const char *tern_suggest(const char *wrong, const char *const *candidates, size_t count) {
  tn_str list[TN_SUGGEST_LIMIT];
  if (count > TN_SUGGEST_LIMIT) count = TN_SUGGEST_LIMIT;
  for (size_t i = 0; i < count; i++) list[i] = tn_str_of(candidates[i]);
  tn_str best = tn_str_suggest(tn_str_of(wrong), list, count);
  for (size_t i = 0; i < count; i++) {
    if (best.len > 0 && list[i].at == best.at) return candidates[i];
  }
  return NULL;
}

const char *tern_suggest_code(const char *wrong) {
  tn_str best = tn_diag_suggest(tn_str_of(wrong));
  return best.len > 0 ? best.at : NULL;
}

const char *tern_suggest_op(const char *wrong) {
  tn_str best = tn_op_suggest(tn_str_of(wrong));
  return best.len > 0 ? best.at : NULL;
}

const char *tern_suggest_field(const char *word) {
  const char *field;
  tn_str name = tn_str_of(word), synonym = tn_ail_field_synonym(name);
  for (size_t i = 0; (field = tn_ail_train_field(i)) != NULL; i++) {
    if (tn_str_is(name, field) || tn_str_is(synonym, field)) return field;
  }
  return NULL;
}

const char *tern_dtype_name(tern_dtype dtype) { return tn_dtype_name((tn_dtype)dtype); }
size_t tern_dtype_size(tern_dtype dtype) { return tn_dtype_bytes((tn_dtype)dtype); }
