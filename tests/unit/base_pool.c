/* tests/unit/base_pool.c: threads that help, and when they are left alone.
 *
 * What kernels compute with them is the business of tests/ops. Here every part must run exactly once however
 * many helpers come, and none may be woken, waited for or left spinning without need. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/pool.h"

#ifndef TN_HAVE_THREADS
#define TN_HAVE_THREADS 0
#endif

/* That sanitizer does not let a child of a process with threads start any. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHILD_HAS_THREADS 0
#endif
#endif
#ifndef CHILD_HAS_THREADS
#define CHILD_HAS_THREADS TN_HAVE_THREADS
#endif

enum { MOST_PARTS = 4096, MOST_THREADS = 64 };

typedef struct {
  atomic_int done[MOST_PARTS], busy[MOST_THREADS], count, wrong;
  int threads;
} attendance;

static void attend(void *context, const tn_part *part) {
  attendance *list = context;
  if (part->thread < 0 || part->thread >= list->threads || part->number >= part->count) list->wrong++;
  if (atomic_fetch_add(&list->busy[part->thread], 1) != 0) list->wrong++; /* its scratch is not its own */
  list->done[part->number]++;
  list->count = part->count;
  list->busy[part->thread]--;
}

/* Runs a job of `threads` times `pieces` parts; returns how many there were. */
static int run_and_check(tn_pool *pool, int threads, int pieces, double cost) {
  static attendance list;
  memset(&list, 0, sizeof list);
  list.threads = threads > 1 ? threads : 1;
  tn_work work = { .run = attend, .context = &list, .cost = cost, .threads = threads, .pieces = pieces };
  tn_pool_run(pool, &work);
  assert_int_equal(list.wrong, 0);
  assert_in_range(list.count, pieces, list.threads * pieces);
  for (int i = 0; i < MOST_PARTS; i++) assert_int_equal(list.done[i], i < list.count);
  return list.count;
}

static void without_a_pool_the_caller_does_the_parts_of_all_threads(void **state) {
  (void)state;
  assert_int_equal(tn_pool_threads(NULL), 1);
  assert_int_equal(run_and_check(NULL, 1, 1, 1e9), 1);
  assert_int_equal(run_and_check(NULL, 7, 3, 1e9), 21);
  assert_int_equal(run_and_check(NULL, 0, 3, 1e9), 3);
}

static void a_pool_that_cannot_be_allocated_is_null(void **state) {
  (void)state;
  tn_heap heap = { .fail_at = 1 };
  assert_null(tn_pool_new(&heap, 4));
  tn_pool_free(NULL);
  assert_int_equal(heap.used, 0);
}

typedef struct {
  tn_stop stop;
  atomic_int done;
} stopping;

static void stop_after_five(void *context, const tn_part *part) {
  stopping *s = context;
  (void)part;
  if (atomic_fetch_add(&s->done, 1) == 4) tn_stop_ask(&s->stop);
}

static void a_stop_leaves_out_the_parts_that_have_not_begun(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_pool *pools[] = { NULL, tn_pool_new(&heap, 1), tn_pool_new(&heap, 3) };
  for (int i = 0; i < 3; i++) {
    stopping s = { .done = 0 };
    if (pools[i]) tn_pool_assume_wake(pools[i], 0);
    tn_pool_run(pools[i], &(tn_work){ .run = stop_after_five,
                                      .context = &s,
                                      .cost = 1e9,
                                      .threads = 3,
                                      .pieces = 1000,
                                      .stop = &s.stop });
    assert_in_range(s.done, 5, 7); /* each of the others may have been in the middle of one */
    tn_pool_free(pools[i]);
  }
  assert_int_equal(heap.used, 0);
}

#if TN_HAVE_THREADS
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void sleep_for(double seconds) {
  struct timespec time = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
  while (nanosleep(&time, &time) != 0 && errno == EINTR) continue;
}

/* Helpers go to sleep by themselves; only a hang keeps them. */
static void await_sleep(const tn_pool *pool) {
  for (int i = 0; i < 60000; i++) {
    tn_pool_facts facts = tn_pool_state(pool);
    if (facts.asleep == facts.helpers) return;
    sleep_for(0.001);
  }
  fail_msg("a helper does not go to sleep");
}

static void every_part_runs_once_however_many_help(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  static const int sizes[] = { 1, 2, 3, 8, 17 };
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    tn_pool *pool = tn_pool_new(&heap, sizes[s]);
    assert_int_equal(tn_pool_threads(pool), sizes[s]);
    tn_pool_assume_wake(pool, 0);
    for (int threads = 0; threads <= 20; threads += threads < 4 ? 1 : 8) {
      for (int pieces = 1; pieces <= 100; pieces *= 10) {
        int count = run_and_check(pool, threads, pieces, 1e6);
        int expected = threads < 1 ? 1 : threads < sizes[s] ? threads : sizes[s];
        assert_int_equal(count, expected * pieces);
      }
    }
    tn_pool_free(pool);
  }
  assert_int_equal(heap.used, 0);
}

/* Where a call could be lost: helpers that are about to sleep, sleep, or are taken back. */
static void no_job_is_lost_between_sleeping_and_waking(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_pool *pool = tn_pool_new(&heap, 5);
  for (int i = 0; i < 3000; i++) {
    if (i % 100 == 0) tn_pool_assume_wake(pool, i % 200 == 0 ? 0 : 1e-4);
    (void)run_and_check(pool, 2 + i % 4, 1 + i % 3, 1e4 * (i % 50));
    if (i % 20 == 0) sleep_for(1e-5 * (i % 13));
  }
  tn_pool_free(pool);
  assert_int_equal(heap.used, 0);
}

/* ---- who is woken ---- */

static void start_and_sleep(tn_pool *pool, int threads) {
  (void)run_and_check(pool, threads, 1, 1e3);
  await_sleep(pool);
}

static uint64_t wakes_of(tn_pool *pool, int threads, double cost) {
  uint64_t before = tn_pool_state(pool).wakes;
  sleep_for(0.001); /* a job for itself */
  await_sleep(pool);
  (void)run_and_check(pool, threads, 1, cost);
  return tn_pool_state(pool).wakes - before;
}

static void as_many_are_woken_as_the_work_is_worth(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_pool *pool = tn_pool_new(&heap, 16);
  assert_int_equal(tn_pool_state(pool).helpers, 0); /* none has started */
  start_and_sleep(pool, 16);
  assert_int_equal(tn_pool_state(pool).helpers, 15);
  tn_pool_assume_wake(pool, 30e-6);
  assert_int_equal(wakes_of(pool, 16, 10e3), 0); /* 10 microseconds wake no thread */
  assert_int_equal(wakes_of(pool, 16, 59e3), 0);
  assert_int_equal(wakes_of(pool, 16, 61e3), 1);
  assert_int_equal(wakes_of(pool, 16, 200e3), 5);
  assert_int_equal(wakes_of(pool, 16, 1e9), 15);
  assert_int_equal(wakes_of(pool, 2, 1e9), 1);
  tn_pool_free(pool);
}

static void do_nothing(void *context, const tn_part *part) { (void)context, (void)part; }

/* Helpers that stay awake between jobs are worth waking once, if the jobs follow one another. */
static void many_short_jobs_wake_a_helper_that_one_would_not(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_pool *pool = tn_pool_new(&heap, 2);
  start_and_sleep(pool, 2);
  tn_pool_assume_wake(pool, 1e-3);
  tn_work job = { .run = do_nothing, .cost = 100e3, .threads = 2, .pieces = 1 };
  uint64_t before = tn_pool_state(pool).wakes;
  for (int i = 0; i < 1000000 && tn_pool_state(pool).wakes == before; i++)
    tn_pool_run(pool, &job); /* 20 of them are worth a wake, if nobody interrupts us */
  assert_true(tn_pool_state(pool).wakes > before);
  await_sleep(pool);
  before = tn_pool_state(pool).wakes;
  for (int i = 0; i < 40; i++) {
    tn_pool_run(pool, &job);
    sleep_for(0.001); /* so far apart that it would sleep again */
  }
  assert_int_equal(tn_pool_state(pool).wakes, before);
  tn_pool_free(pool);
}

static void waking_is_measured(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_pool *pool = tn_pool_new(&heap, 2);
  start_and_sleep(pool, 2);
  double assumed = tn_pool_state(pool).wake_seconds;
  for (int i = 0; i < 60000 && tn_pool_state(pool).wake_seconds == assumed; i++) (void)wakes_of(pool, 2, 1e9);
  assert_true(tn_pool_state(pool).wake_seconds != assumed);
  assert_true(tn_pool_state(pool).wake_seconds > 0);
  tn_pool_free(pool);
}

static double processor_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void helpers_that_have_nothing_to_do_take_no_time(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_pool *pool = tn_pool_new(&heap, 4);
  start_and_sleep(pool, 4);
  double before = processor_seconds();
  sleep_for(0.2);
  assert_true(processor_seconds() - before < 0.02); /* three that spin would take up to 0.6 */
  tn_pool_free(pool);
}

/* ---- who is waited for ---- */

typedef struct {
  atomic_int by_caller, by_helper;
  int parts;
} delay;

/* A helper that is in the middle of a part until all others are done. */
static void hold_helpers_up(void *context, const tn_part *part) {
  delay *d = context;
  if (part->thread == 0) {
    d->by_caller++;
    if (part->number == 0) /* give it time to come; without it there is nothing to see */
      for (int i = 0; i < 60000 && d->by_helper == 0; i++) sleep_for(0.001);
    return;
  }
  d->by_helper++;
  while (d->by_caller + d->by_helper < d->parts) sched_yield();
}

/* ---- while some sleep ---- */
enum { PIECES = 8 };

/* Which thread did the part. */
static void sign(void *context, const tn_part *part) {
  int *by = context;
  by[part->number] = part->thread;
  sleep_for(20e-6); /* so that others come, on one core too */
}

/* Helper 1 is up and helper 2 sleeps: 1 does parts of 2 also of a short job. It may come late, so there are
 * many tries. */
static void helpers_that_are_up_do_the_parts_of_those_that_sleep(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_pool *pool = tn_pool_new(&heap, 3);
  bool helped = false;
  run_and_check(pool, 3, 1, 1e9);
  for (int try = 0; try < 2000 && !helped; try++) {
    int by[3 * PIECES] = { 0 };
    await_sleep(pool);
    tn_pool_assume_wake(pool, 0);
    run_and_check(pool, 2, 1, 1e9);
    tn_pool_assume_wake(pool, 1e3);
    tn_pool_run(pool, &(tn_work){ .run = sign, .context = by, .cost = 1e3, .threads = 3, .pieces = PIECES });
    for (int i = 2 * PIECES; i < 3 * PIECES; i++) helped = helped || by[i] == 1;
    for (int i = 0; i < 3 * PIECES; i++) assert_int_not_equal(by[i], 2);
  }
  assert_true(helped);
  tn_pool_free(pool);
  assert_int_equal(heap.used, 0);
}

static void a_helper_that_is_held_up_keeps_only_the_part_it_has_begun(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_pool *pool = tn_pool_new(&heap, 2);
  tn_pool_assume_wake(pool, 0);
  delay d = { .parts = 20 };
  tn_pool_run(pool,
              &(tn_work){ .run = hold_helpers_up, .context = &d, .cost = 1e9, .threads = 2, .pieces = 10 });
  assert_int_equal(d.by_helper, 1);
  assert_int_equal(d.by_caller, 19);
  tn_pool_free(pool);
}

static void helpers_that_are_not_worth_waking_are_not_waited_for(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_pool *pool = tn_pool_new(&heap, 8);
  start_and_sleep(pool, 8);
  tn_pool_assume_wake(pool, 1e9);
  uint64_t calls = tn_pool_state(pool).calls;
  for (int i = 0; i < 100; i++) assert_int_equal(run_and_check(pool, 8, 2, 1e6), 16);
  assert_int_equal(tn_pool_state(pool).calls, calls);
  assert_int_equal(tn_pool_state(pool).wakes, 0);
  tn_pool_free(pool);
}

/* ---- processes ---- */

static void a_child_has_helpers_of_its_own(void **state) {
  (void)state;
  if (!CHILD_HAS_THREADS) skip();
  tn_heap heap = { 0 };
  tn_pool *pool = tn_pool_new(&heap, 3);
  tn_pool_assume_wake(pool, 0);
  (void)run_and_check(pool, 3, 4, 1e9);
  for (int used = 0; used < 2; used++) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      for (int i = 0; used && i < 10; i++) (void)run_and_check(pool, 3, 4, 1e9);
      bool right = !used || tn_pool_state(pool).helpers == 2;
      tn_pool_free(pool); /* also where it has started none */
      _exit(right && heap.used == 0 ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    (void)run_and_check(pool, 3, 4, 1e9);
  }
  tn_pool_free(pool);
  assert_int_equal(heap.used, 0);
}

typedef struct {
  tn_heap heap;
  int failed;
} host;

static void *run_many(void *context) {
  host *h = context;
  tn_pool *pool = tn_pool_new(&h->heap, 4);
  tn_pool_assume_wake(pool, 20e-6);
  for (int i = 0; i < 500; i++) {
    attendance *list = tn_heap_alloc(&h->heap, sizeof *list);
    list->threads = 4;
    tn_pool_run(pool,
                &(tn_work){ .run = attend, .context = list, .cost = 2e5, .threads = 4, .pieces = 1 + i % 5 });
    h->failed += list->wrong;
    for (int k = 0; k < list->count; k++) h->failed += list->done[k] != 1;
    tn_heap_free(&h->heap, list, sizeof *list);
  }
  tn_pool_free(pool);
  return NULL;
}

static void pools_of_two_threads_of_a_host_do_not_meet(void **state) {
  (void)state;
  static host hosts[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_many, &hosts[i]), 0);
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(hosts[i].failed, 0);
    assert_int_equal(hosts[i].heap.used, 0);
  }
}

static void look_at_signals(void *context, const tn_part *part) {
  atomic_int *open = context;
  sigset_t blocked;
  if (part->thread == 0) {
    sleep_for(0.001);
    return;
  }
  if (pthread_sigmask(SIG_SETMASK, NULL, &blocked) != 0 || !sigismember(&blocked, SIGINT) ||
      !sigismember(&blocked, SIGTERM))
    ++*open;
}

static void signals_are_for_the_threads_of_the_program(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  sigset_t blocked;
  atomic_int open = 0;
  tn_pool *pool = tn_pool_new(&heap, 3);
  tn_pool_assume_wake(pool, 0);
  tn_pool_run(pool,
              &(tn_work){ .run = look_at_signals, .context = &open, .cost = 1e9, .threads = 3, .pieces = 5 });
  assert_int_equal(open, 0);
  assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
  assert_false(sigismember(&blocked, SIGINT)); /* and the caller's are as they were */
  tn_pool_free(pool);
}
#endif

#if TN_HAVE_THREADS && defined(__linux__) && defined(__x86_64__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static bool refuse_threads(void) {
  struct sock_filter code[] = {
    { BPF_LD | BPF_W | BPF_ABS, 0, 0, 0 },
    { BPF_JMP | BPF_JEQ | BPF_K, 1, 0, SYS_clone },
    { BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_clone3 },
    { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EAGAIN },
    { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
  };
  struct sock_fprog program = { sizeof code / sizeof *code, code };
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void where_threads_cannot_start_the_caller_does_it_all(void **state) {
  (void)state;
  if (!CHILD_HAS_THREADS) skip();
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    tn_heap heap = { 0 };
    tn_pool *pool = tn_pool_new(&heap, 4);
    if (!refuse_threads()) _exit(0); /* nothing to test */
    for (int i = 0; i < 3; i++) assert_int_equal(run_and_check(pool, 4, 5, 1e9), 5);
    bool right = tn_pool_state(pool).helpers == 0;
    tn_pool_free(pool);
    _exit(right && heap.used == 0 ? 0 : 1);
  }
  int status = 1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(without_a_pool_the_caller_does_the_parts_of_all_threads),
    cmocka_unit_test(a_pool_that_cannot_be_allocated_is_null),
    cmocka_unit_test(a_stop_leaves_out_the_parts_that_have_not_begun),
#if TN_HAVE_THREADS
    cmocka_unit_test(every_part_runs_once_however_many_help),
    cmocka_unit_test(no_job_is_lost_between_sleeping_and_waking),
    cmocka_unit_test(as_many_are_woken_as_the_work_is_worth),
    cmocka_unit_test(many_short_jobs_wake_a_helper_that_one_would_not),
    cmocka_unit_test(waking_is_measured),
    cmocka_unit_test(helpers_that_have_nothing_to_do_take_no_time),
    cmocka_unit_test(helpers_that_are_up_do_the_parts_of_those_that_sleep),
    cmocka_unit_test(a_helper_that_is_held_up_keeps_only_the_part_it_has_begun),
    cmocka_unit_test(helpers_that_are_not_worth_waking_are_not_waited_for),
    cmocka_unit_test(a_child_has_helpers_of_its_own),
    cmocka_unit_test(pools_of_two_threads_of_a_host_do_not_meet),
    cmocka_unit_test(signals_are_for_the_threads_of_the_program),
#endif
#if TN_HAVE_THREADS && defined(__linux__) && defined(__x86_64__)
    cmocka_unit_test(where_threads_cannot_start_the_caller_does_it_all),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
