/* attack/judge.h: runs one attempt and says what was wrong with how it ended.
 *
 * tern may refuse anything, but never by a signal, by status 3 (a bug in tern), by a status of its own that
 * the contract does not name (a sanitizer's), without a word, or after its time. With --json it always
 * answers with one JSON object. What it writes is there whole: no temporary file stays. */
#ifndef TN_ATTACK_JUDGE_H
#define TN_ATTACK_JUDGE_H

#include "attack/cases.h"

typedef enum {
  JUDGED_FINE,
  JUDGED_SIGNAL,
  JUDGED_HANG,
  JUDGED_BUG,
  JUDGED_STATUS,
  JUDGED_SILENT,
  JUDGED_JSON,
  JUDGED_LEFTOVER
} judged;
enum { JUDGED_COUNT = JUDGED_LEFTOVER + 1 };
const char *judged_name(judged what);

/* Starts the attempt in its folder. `accepted`: it ended with status 0. */
judged judge(const attempt *a, const char *folder, bool *accepted);
/* Removes everything below a folder, which stays. */
void empty_folder(const char *folder);
#endif
