/* lang/ninth/opcodes.c: looks up opcodes by name. */
#include <string.h>

#include "lang/ninth/lexer.h"

static const tn_ninth_opcode_info table[TN_NINTH_OPCODE_COUNT] = {
#define TN_NINTH_OPCODE(id, in, out, heading, stack, text, ...)                                              \
  [TN_NINTH_##id] = { .name = #id,                                                                           \
                      .length = sizeof #id - 1,                                                              \
                      .group = heading,                                                                      \
                      .effect = stack,                                                                       \
                      .doc = text,                                                                           \
                      .takes = in,                                                                           \
                      .gives = out },
#include "lang/ninth/opcodes.def"
};

const tn_ninth_opcode_info *tn_ninth_opcode_info_of(tn_ninth_opcode opcode) { return &table[opcode]; }

/* Length and first letter rule out nearly all. */
tn_ninth_opcode tn_ninth_opcode_find(tn_str name) {
  for (int i = 0; i < TN_NINTH_OPCODE_COUNT; i++) {
    const tn_ninth_opcode_info *info = &table[i];
    if (info->length != name.len || name.len == 0 || info->name[0] != name.at[0]) continue;
    if (memcmp(info->name, name.at, name.len) == 0) return (tn_ninth_opcode)i;
  }
  return TN_NINTH_OPCODE_COUNT;
}

tn_str tn_ninth_opcode_suggest(tn_str wrong) {
  tn_str names[TN_NINTH_OPCODE_COUNT];
  for (int i = 0; i < TN_NINTH_OPCODE_COUNT; i++) names[i] = tn_str_of(table[i].name);
  return tn_str_suggest(wrong, names, TN_NINTH_OPCODE_COUNT);
}
