/* attack/mutate.h: seeds, and inputs that are made of them.
 *
 * A seed is a file of the project that tern accepts or refuses for a known reason: programs of tests/ and
 * examples/, inputs that fuzz/corpus keeps. An input is a seed after a few random changes. Everything is a
 * function of the generator, so that an input can be reproduced from its number alone. */
#ifndef TN_ATTACK_MUTATE_H
#define TN_ATTACK_MUTATE_H

#include "base/rng.h"
#include "runner/run.h"

typedef struct {
  text *at;
  size_t count;
} seeds;

/* Every file below `folder` whose name ends in `ending` ("": all) and that has at most 64 KiB, in the order
 * of their names. */
void seeds_add(seeds *to, const char *folder, const char *ending);
/* Of a pool that is not empty. Borrowed. */
text seed_pick(const seeds *from, tn_rng *rng);

/* One to eight changes. The result belongs to the caller. */
text mutate_text(text seed, const seeds *pool, tn_rng *rng);
/* The same for bytes that are not text: also numbers of 4 and 8 bytes, and no tokens. */
text mutate_bytes(text seed, tn_rng *rng);
/* Each line of a session has a time limit of its own, so the number of lines bounds the time of the whole. */
enum { SESSION_LINES = 64 };
/* Lines of several seeds in any order, some of them changed or repeated, with a session's own commands. At
 * most SESSION_LINES lines. */
text mutate_session(const seeds *pool, tn_rng *rng);
#endif
