/* base/embedded.h: a file that is part of the program, as cmake/embed.cmake writes it into C. */
#ifndef TN_BASE_EMBEDDED_H
#define TN_BASE_EMBEDDED_H

#include <stddef.h>

typedef struct {
  const char *name; /* "nn" */
  const char *file; /* "nn.nth" */
  const char *text; /* a zero follows, which the length does not count */
  size_t length;
} tn_embedded;
#endif
