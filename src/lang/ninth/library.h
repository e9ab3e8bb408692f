/* lang/ninth/library.h: the texts of std/ninth, as cmake/embed.cmake writes them into C. */
#ifndef TN_LANG_NINTH_LIBRARY_H
#define TN_LANG_NINTH_LIBRARY_H

#include <stddef.h>

typedef struct {
  const char *name; /* "nn" */
  const char *file; /* "nn.nth", for diagnostics */
  const unsigned char *text;
  size_t length;
} tn_ninth_library_text;

extern const tn_ninth_library_text tn_ninth_library_texts[];
extern const size_t tn_ninth_library_count;
#endif
