/* op/describe.c: describes an operation, for `tern ops NAME` and `:help`. */
#include "op/op.h"

/* "x y" as (x, y). */
static void put_operands(const char *operands, tn_text *out) {
  tn_text_byte(out, '(');
  for (; *operands; operands++) {
    if (*operands == ' ')
      tn_text_puts(out, ", ");
    else
      tn_text_byte(out, *operands);
  }
  tn_text_byte(out, ')');
}

void tn_op_describe(const tn_op_sig *sig, tn_text *out) {
  tn_text_puts(out, sig->name);
  put_operands(sig->operands, out);
  tn_text_puts(out, "\n  ");
  tn_text_puts(out, sig->doc);
  tn_text_puts(out, "\n  result: ");
  tn_text_puts(out, sig->result);
  tn_text_byte(out, '\n');
}

tn_str tn_op_suggest(tn_str wrong) {
  tn_str names[TN_OP_COUNT];
  for (int op = 1; op < TN_OP_COUNT; op++) names[op - 1] = tn_str_of(tn_op_sig_of((tn_op)op)->name);
  return tn_str_suggest(wrong, names, TN_OP_COUNT - 1);
}
