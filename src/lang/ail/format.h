/* lang/ail/format.h: programs in their canonical form. */
#ifndef TN_LANG_AIL_FORMAT_H
#define TN_LANG_AIL_FORMAT_H

#include "lang/lang.h"

/* Appends the program as `tern fmt` writes it. False after reporting, for a text that cannot be
 * read; nothing is appended then. Formatting a formatted program changes nothing. */
bool tn_ail_format_text(tn_host *host, uint32_t file, tn_text *out);
#endif
