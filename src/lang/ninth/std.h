/* lang/ninth/std.h: the texts of std/ninth, which are part of the program. */
#ifndef TN_LANG_NINTH_STD_H
#define TN_LANG_NINTH_STD_H

#include "base/embedded.h"

extern const tn_embedded tn_ninth_library_files[];
extern const size_t tn_ninth_library_file_count;
#endif
