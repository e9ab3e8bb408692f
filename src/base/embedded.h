/* base/embedded.h: a file that is part of the program, as cmake/embed.cmake writes it into C. */
#ifndef TN_BASE_EMBEDDED_H
#define TN_BASE_EMBEDDED_H

#include <stddef.h>

typedef struct {
  const char *name; /* "nn" */
  const char *file; /* "nn.nth" */
  const unsigned char *text;
  size_t length;
} tn_embedded;
#endif
