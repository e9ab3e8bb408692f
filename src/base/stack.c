/* base/stack.c: finds the end of the calling thread's stack.
 *
 * The system reports it for threads that it created. The stack of the first thread is different: it
 * grows on demand, down from an address in the auxiliary vector, as far as RLIMIT_STACK allows at
 * that moment. Any other stack (a coroutine's, or on a system that does not say) is assumed to have
 * the small size that is usual there. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* pthread_getattr_np */
#endif
#include "base/stack.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define TN_LARGE_FRAMES 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TN_LARGE_FRAMES 1
#endif

/* Reserve below the last function that checked the stack: for the longest chain of calls that do
 * not check, including kernels with large frames (up to 33 kB), and the C library. */
#ifdef TN_LARGE_FRAMES
#define RESERVE ((size_t)384 << 10)
#else
#define RESERVE ((size_t)56 << 10)
#endif
/* Assumed size of an unknown stack: a coroutine's, or on a system that does not say. */
#ifdef __linux__
#define ASSUMED (RESERVE + ((size_t)64 << 10))
#else
#define ASSUMED ((size_t)1 << 20)
#endif

static void use(tn_stack *stack, uintptr_t bottom, uintptr_t top) {
  stack->size = (size_t)(top - bottom);
  stack->lowest = bottom + RESERVE;
}

static void assume(tn_stack *stack, uintptr_t here) { use(stack, here > ASSUMED ? here - ASSUMED : 0, here); }

#if defined(__linux__)
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>

/* The kernel keeps 128 MB below the first thread's stack free, so an address in the upper half of
 * that is on this stack. */
#define FIRST_MOST ((size_t)64 << 20)

static bool is_first(tn_stack *stack, uintptr_t here) {
  struct rlimit limit;
  uintptr_t top = (uintptr_t)getauxval(AT_EXECFN);
  if (here >= top || top - here > FIRST_MOST || getrlimit(RLIMIT_STACK, &limit) != 0) return false;
  size_t size = limit.rlim_cur < FIRST_MOST ? (size_t)limit.rlim_cur : FIRST_MOST;
  use(stack, size < top ? top - size : 0, top);
  return true;
}

static bool is_known(tn_stack *stack, uintptr_t here) {
  pthread_attr_t attributes;
  void *bottom = NULL;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  bool known = pthread_attr_getstack(&attributes, &bottom, &size) == 0;
  (void)pthread_attr_destroy(&attributes);
  uintptr_t low = (uintptr_t)bottom;
  if (!known || here <= low || here - low > size) return false;
  use(stack, low, low + size);
  return true;
}

void tn_stack_find(tn_stack *stack) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  stack->exceeded = false;
  if (!is_first(stack, here) && !is_known(stack, here)) assume(stack, here);
}

#else
void tn_stack_find(tn_stack *stack) {
  stack->exceeded = false;
  assume(stack, (uintptr_t)__builtin_frame_address(0));
}
#endif
