/* base/unicode.c: looks up the class of a character in a table of runs. */
#include "base/unicode.h"

#include <stddef.h>

/* The first character of the run and its kind, in one word. */
#define O(first) (uint32_t)(first) << 3 | TN_UNICODE_OTHER,
#define L(first) (uint32_t)(first) << 3 | TN_UNICODE_LETTER,
#define N(first) (uint32_t)(first) << 3 | TN_UNICODE_NUMBER,
#define M(first) (uint32_t)(first) << 3 | TN_UNICODE_MARK,
#define S(first) (uint32_t)(first) << 3 | TN_UNICODE_SPACE,
static const uint32_t runs[] = {
#include "base/unicode_runs.inc.h"
};
#define RUNS (sizeof runs / sizeof *runs)

static tn_unicode_kind find_kind(uint32_t code) {
  size_t low = 0, high = RUNS; /* runs[low] begins at or before it, runs[high] after */
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (runs[middle] >> 3 <= code)
      low = middle;
    else
      high = middle;
  }
  return (tn_unicode_kind)(runs[low] & 7);
}

tn_unicode_kind tn_unicode_kind_of(uint32_t code) {
  if ((code | 0x20) - 'a' < 26) return TN_UNICODE_LETTER; /* most are */
  if (code == ' ') return TN_UNICODE_SPACE;
  return find_kind(code);
}
