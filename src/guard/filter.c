/* guard/filter.c: a small assembler for seccomp filters.
 *
 * A filter is a classic BPF program that the kernel runs at every system call: it loads words of
 * the call's description and jumps forward. Each rule is a separate block that ends in a verdict or
 * falls through to the next, so blocks can be read, and left out, one by one. */
#include "guard/internal.h"

#if TN_GUARD_HAS_FILTER
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#define X32_CALLS   0x40000000u /* the same instruction set, with numbers of its own */
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#define NATIVE_ARCH AUDIT_ARCH_RISCV64
#endif

#define NUMBER_AT 0u
#define ARCH_AT   4u
#define HALF_AT(argument, high)                                                                              \
  (16u + 8u * (unsigned)(argument) + ((__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != (high) ? 4u : 0u))

static void add(tn_filter *filter, unsigned code, uint32_t constant, int if_true, int if_false) {
  if (filter->count == TN_FILTER_MOST || if_true > 255 || if_false > 255) {
    filter->overflow = true;
    return;
  }
  filter->code[filter->count++] = (struct sock_filter){
    .code = (unsigned short)code, .jt = (unsigned char)if_true, .jf = (unsigned char)if_false, .k = constant
  };
}

static void load(tn_filter *filter, uint32_t at) { add(filter, BPF_LD | BPF_W | BPF_ABS, at, 0, 0); }
static void verdict(tn_filter *filter, uint32_t what) { add(filter, BPF_RET | BPF_K, what, 0, 0); }
static void if_equal(tn_filter *filter, uint32_t constant, int if_true, int if_false) {
  add(filter, BPF_JMP | BPF_JEQ | BPF_K, constant, if_true, if_false);
}

static uint32_t refusal(int error) { return SECCOMP_RET_ERRNO | ((uint32_t)error & SECCOMP_RET_DATA); }

void tn_filter_begin(tn_filter *filter) {
  filter->count = 0;
  filter->overflow = false;
  load(filter, ARCH_AT);
  if_equal(filter, NATIVE_ARCH, 1, 0);
  verdict(filter, refusal(EPERM));
  load(filter, NUMBER_AT);
#ifdef X32_CALLS
  add(filter, BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1);
  verdict(filter, refusal(EPERM));
#endif
}

void tn_filter_allow(tn_filter *filter, long call) {
  if_equal(filter, (uint32_t)call, 0, 1);
  verdict(filter, SECCOMP_RET_ALLOW);
}

void tn_filter_refuse(tn_filter *filter, long call, int error) {
  if_equal(filter, (uint32_t)call, 0, 1);
  verdict(filter, refusal(error));
}

/* load, and, then a comparison for each value: equal jumps past the refusal that follows the last. */
static void add_test(tn_filter *filter, const tn_filter_test *test) {
  load(filter, HALF_AT(test->argument, test->high));
  add(filter, BPF_ALU | BPF_AND | BPF_K, test->mask, 0, 0);
  for (int i = 0; i < test->count; i++) if_equal(filter, test->values[i], test->count - i, 0);
  verdict(filter, refusal(EPERM));
}

static int length_of(const tn_filter_test *tests, int count) {
  int length = 1; /* the verdict after the tests */
  for (int i = 0; i < count; i++) length += 3 + tests[i].count;
  return length;
}

void tn_filter_allow_if(tn_filter *filter, long call, const tn_filter_test *tests, int count) {
  if_equal(filter, (uint32_t)call, 0, length_of(tests, count));
  for (int i = 0; i < count; i++) add_test(filter, &tests[i]);
  verdict(filter, SECCOMP_RET_ALLOW);
}

void tn_filter_allow_masked(tn_filter *filter, long call, int argument, uint32_t mask, uint32_t value) {
  if_equal(filter, (uint32_t)call, 0, 5);
  load(filter, HALF_AT(argument, false));
  add(filter, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
  if_equal(filter, value, 0, 1);
  verdict(filter, SECCOMP_RET_ALLOW);
  load(filter, NUMBER_AT);
}

void tn_filter_end(tn_filter *filter) { verdict(filter, refusal(EPERM)); }
#endif
