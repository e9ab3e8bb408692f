/* lang/ninth/meant.h: suggestions for an undefined name or an unknown word. */
#ifndef TN_LANG_NINTH_MEANT_H
#define TN_LANG_NINTH_MEANT_H

#include "base/text.h"
#include "lang/ninth/lexer.h"

/* The wrong name, and the names that have a value there. Borrowed. */
typedef struct {
  bool function, module;
  const tn_str *variables;
  size_t variable_count;
} tn_ninth_known;

/* As it is to be written: [ADD], [CALL] "f", {Linear}, or a variable. Nothing when none is close. */
void tn_ninth_put_meant(tn_text *out, tn_str name, const tn_ninth_known *known);
/* For a word that is no token, such as `+` or `=`; empty when there is nothing to say. Static. */
tn_str tn_ninth_word_hint(tn_str word);
#endif
