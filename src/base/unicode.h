/* base/unicode.h: classes of characters. */
#ifndef TN_BASE_UNICODE_H
#define TN_BASE_UNICODE_H

#include <stdint.h>

/* General categories L, N and M, the property White_Space, and everything else. After Unicode 16. */
typedef enum {
  TN_UNICODE_OTHER,
  TN_UNICODE_LETTER,
  TN_UNICODE_NUMBER,
  TN_UNICODE_MARK,
  TN_UNICODE_SPACE
} tn_unicode_kind;

tn_unicode_kind tn_unicode_kind_of(uint32_t code);
#endif
