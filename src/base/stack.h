/* base/stack.h: how much of the thread's stack is left.
 *
 * Programs nest, and the code that walks them is recursive. The stack of the
 * calling thread, which may have 8 MB or 128 kB, decides how deep that may go.
 * So the system is asked where the stack ends, and every recursive function
 * checks that there is room before it continues. Deeper nesting is refused with
 * E_NESTING_LIMIT; it never ends the process.
 *
 * The lowest address belongs to a session. base/heap.h holds it, so that all
 * code that can allocate can check the stack. It is found again whenever the
 * session is entered, because another thread may be the caller. A stack of all
 * zeros has not been measured and always has room. tools/check_recursion.sh
 * lists the recursive functions and refuses one that does not check. */
#ifndef TN_BASE_STACK_H
#define TN_BASE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uintptr_t lowest; /* frames of recursive functions must be above it; 0: not known */
  size_t size;      /* bytes of the whole stack, for diagnostics */
  bool exceeded;    /* a check has failed since the stack was found */
} tn_stack;

/* For helpers of a recursive function: not inlined, so that their variables stay out of its frame. */
#define TN_OWN_FRAME __attribute__((noinline))

/* Finds the stack of the calling thread, and clears `exceeded`. */
void tn_stack_find(tn_stack *stack);

/* Whether the caller may call itself once more. After false it fails in whatever way it can: `exceeded` is
 * set, and the function that entered the session reports E_NESTING_LIMIT if nothing else has. */
static inline bool tn_stack_room(tn_stack *stack) {
  if ((uintptr_t)__builtin_frame_address(0) > stack->lowest) return true;
  stack->exceeded = true;
  return false;
}
#endif
