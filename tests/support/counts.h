/* tests/support/counts.h: what a process that split off has counted, for `make coverage`.
 *
 * Such a process ends without writing its counts. It leaves them in memory that its parent sees, and the
 * parent continues from there: a child begins with its parent's counts, so nothing is counted twice. Without
 * counters there is nothing to do. */
#ifndef TN_TEST_COUNTS_H
#define TN_TEST_COUNTS_H

#ifdef TN_COVERAGE
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS 0x20 /* of Linux; POSIX does not have it */
#endif

char *__llvm_profile_begin_counters(void), *__llvm_profile_end_counters(void);
char *__llvm_profile_begin_bitmap(void), *__llvm_profile_end_bitmap(void);

typedef struct {
  char *at;
  size_t bytes;
} counts_part;

static inline void counts_parts(counts_part part[2]) {
  part[0].at = __llvm_profile_begin_counters();
  part[0].bytes = (size_t)(__llvm_profile_end_counters() - part[0].at);
  part[1].at = __llvm_profile_begin_bitmap();
  part[1].bytes = (size_t)(__llvm_profile_end_bitmap() - part[1].at);
}

static inline char *counts_shared(void) {
  static char *shared;
  counts_part part[2];
  counts_parts(part);
  if (!shared) {
    shared =
        mmap(NULL, part[0].bytes + part[1].bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
  }
  return shared;
}

/* In the parent, before it forks. */
static inline void counts_share(void) { (void)counts_shared(); }

/* In the child, as the last thing. */
static inline void counts_leave(void) {
  char *to = counts_shared();
  counts_part part[2];
  counts_parts(part);
  memcpy(to, part[0].at, part[0].bytes);
  memcpy(to + part[0].bytes, part[1].at, part[1].bytes);
}

/* In the parent, when the child has ended as it should. */
static inline void counts_take(void) {
  char *from = counts_shared();
  counts_part part[2];
  counts_parts(part);
  memcpy(part[0].at, from, part[0].bytes);
  memcpy(part[1].at, from + part[0].bytes, part[1].bytes);
}
#else
static inline void counts_share(void) {}
static inline void counts_leave(void) {}
static inline void counts_take(void) {}
#endif

#endif
