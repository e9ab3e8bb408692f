/* guard/internal.h: the two halves of the guard, and the assembler of filters. */
#ifndef TN_GUARD_INTERNAL_H
#define TN_GUARD_INTERNAL_H

#include <stdint.h>

#include "guard/guard.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__) || defined(__riscv))
#define TN_GUARD_HAS_FILTER 1
#include <linux/filter.h>
#else
#define TN_GUARD_HAS_FILTER 0
#endif

/* Files (landlock.c). The numbers of the calls are the same on every processor. */
#define TN_GUARD_CREATE_RULESET 444L
#define TN_GUARD_ADD_RULE       445L
#define TN_GUARD_RESTRICT_SELF  446L
int tn_guard_landlock_version(void);
/* The rights that an interface of this version knows, of all that are there to be taken away. */
uint64_t tn_guard_file_rights(int version);
uint64_t tn_guard_rights_of(tn_guard_access access, bool folder);
bool tn_guard_restrict_files(const tn_guard_policy *policy, int version);

/* Whether a path takes part under the grants of the policy. */
static inline bool tn_guard_takes_part(const tn_guard_policy *policy, const tn_guard_path *path) {
  return path->access != TN_GUARD_NAMED || (policy->grants & TN_GUARD_FILEREAD);
}

/* System calls (calls.c). */
bool tn_guard_has_seccomp(void);
bool tn_guard_restrict_calls(const tn_guard_policy *policy);

#if TN_GUARD_HAS_FILTER
/* A filter in the making (filter.c). A call is checked by number first; what no rule allows is refused
 * with EPERM. Running out of room sets `overflow`, and the filter cannot be used. */
#define TN_FILTER_MOST 1024

typedef struct {
  struct sock_filter code[TN_FILTER_MOST];
  unsigned short count;
  bool overflow;
} tn_filter;

/* One test of an argument: (argument & mask) must be one of the values. `high` tests its upper half. */
typedef struct {
  int argument;
  bool high;
  uint32_t mask;
  const uint32_t *values;
  int count;
} tn_filter_test;

/* Refuses the calls of other instruction sets. */
void tn_filter_begin(tn_filter *filter);
void tn_filter_allow(tn_filter *filter, long call);
/* Allowed when every test holds. */
void tn_filter_allow_if(tn_filter *filter, long call, const tn_filter_test *tests, int count);
/* Allowed when the argument's lower half, masked, is the value; if not, later rules decide. */
void tn_filter_allow_masked(tn_filter *filter, long call, int argument, uint32_t mask, uint32_t value);
/* Refused with an error of its own, such as ENOSYS, after which the caller tries another way. */
void tn_filter_refuse(tn_filter *filter, long call, int error);
void tn_filter_end(tn_filter *filter);

/* The whole filter of a policy, for the process with this id. */
void tn_guard_write_filter(const tn_guard_policy *policy, int process, tn_filter *filter);
#endif
#endif
