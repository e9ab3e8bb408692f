/* tests/unit/base_stack.c: where a stack ends, on threads of several sizes. */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/resource.h>

#include "base/arena.h"
#include "base/text.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LARGE_FRAMES 1
#endif
#endif
#ifdef LARGE_FRAMES
#define SIZES { 1 << 20, 2 << 20, 8 << 20 }
#else
#define SIZES { 128 << 10, 256 << 10, 1 << 20, 8 << 20 }
#endif

typedef struct {
  tn_stack stack;
  int levels;
  bool room_first, room_last;
} seen;

/* Half a kilobyte of each frame is really used. */
static int descend(tn_stack *stack, int level) {
  volatile char block[512];
  memset((char *)block, level, sizeof block);
  if (!tn_stack_room(stack)) return level;
  int reached = descend(stack, level + 1);
  return reached + (block[0] - block[511]);
}

static void *look(void *context) {
  seen *s = context;
  tn_stack_find(&s->stack);
  s->room_first = tn_stack_room(&s->stack);
  s->levels = descend(&s->stack, 0);
  s->room_last = tn_stack_room(&s->stack);
  return NULL;
}

static seen on_thread(size_t bytes) {
  seen s = { 0 };
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  assert_int_equal(pthread_attr_setstacksize(&attributes, bytes), 0);
  assert_int_equal(pthread_create(&thread, &attributes, look, &s), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  return s;
}

static void an_unmeasured_stack_has_room(void **state) {
  (void)state;
  tn_stack stack = { 0 };
  assert_true(tn_stack_room(&stack));
  assert_false(stack.exceeded);
}

static void a_thread_is_used_up_to_a_reserve_and_no_further(void **state) {
  (void)state;
  static const size_t sizes[] = SIZES;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    seen s = on_thread(sizes[i]);
    assert_true(s.room_first);
    assert_true(s.stack.exceeded);
    assert_true(s.room_last); /* it asks of here, not of what was once the deepest */
    assert_in_range(s.stack.size, sizes[i] / 2, sizes[i] + (64 << 10));
    assert_true(s.levels > 16);
    assert_true((size_t)s.levels * 512 < sizes[i]);
  }
}

static void finding_the_stack_again_forgets_a_refusal(void **state) {
  (void)state;
  tn_stack stack = { 0 };
  tn_stack_find(&stack);
  stack.exceeded = true;
  tn_stack_find(&stack);
  assert_false(stack.exceeded);
}

/* The first thread may use what RLIMIT_STACK allows, which can change while it runs. */
static void the_first_thread_follows_the_limit(void **state) {
  (void)state;
  struct rlimit before, smaller;
  tn_stack stack = { 0 };
  assert_int_equal(getrlimit(RLIMIT_STACK, &before), 0);
  smaller = before;
  smaller.rlim_cur = (rlim_t)4 << 20;
  if (before.rlim_max != RLIM_INFINITY && before.rlim_max < smaller.rlim_cur) skip();
  assert_int_equal(setrlimit(RLIMIT_STACK, &smaller), 0);
  tn_stack_find(&stack);
  assert_int_equal(setrlimit(RLIMIT_STACK, &before), 0);
  assert_int_equal(stack.size, 4 << 20);
  assert_true(tn_stack_room(&stack));
}

static void arenas_and_texts_fail_without_room(void **state) {
  (void)state;
  tn_heap heap = { .stack = { .lowest = UINTPTR_MAX } };
  tn_arena arena;
  tn_text text;
  tn_arena_init(&arena, &heap);
  tn_text_init(&text, &heap);
  assert_false(tn_arena_room(&arena));
  assert_true(arena.failed);
  assert_false(tn_text_room(&text));
  assert_true(text.failed);
  assert_true(heap.stack.exceeded);
  tn_text_free(&text);
  tn_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_unmeasured_stack_has_room),
    cmocka_unit_test(a_thread_is_used_up_to_a_reserve_and_no_further),
    cmocka_unit_test(finding_the_stack_again_forgets_a_refusal),
    cmocka_unit_test(the_first_thread_follows_the_limit),
    cmocka_unit_test(arenas_and_texts_fail_without_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
