/* base/pool.c: helpers, and when they are called.
 *
 * Each helper has a state of its own, on a cache line of its own:
 *
 *   IDLE      between jobs, looking for one          -> ASLEEP by itself, CALLED by the caller
 *   ASLEEP    in the kernel                          -> CALLED, or DRAWN when somebody else is to wake it
 *   CALLED    there is a job for it                  -> RUNNING by itself, IDLE when the caller takes it back
 *   DRAWN     the same, but it still sleeps          -> CALLED by its waker, ASLEEP when taken back
 *   RUNNING   it takes parts                         -> IDLE by itself, AWAITED by the caller
 *   AWAITED   the same, and the caller sleeps        -> IDLE by itself, which wakes the caller
 *   LEAVING   the pool is being freed
 *
 * A helper reads the job only between CALLED and IDLE, and the caller writes the next one only when none is
 * RUNNING, so the states are all the synchronisation there is. Parts have a home, the thread that takes them
 * first, so that the same thread meets the same data in the next job; a thread whose home is empty takes from
 * the others.
 *
 * Waking many threads one after another takes long, so the caller wakes two, and each that wakes two more.
 *
 * Whoever waits spins for a short time and yields now and then. A yield that takes long has let somebody else
 * run: then cores are contended, spinning takes time away from others, and waiting is done in the kernel. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* syscall */
#endif
#include "base/pool.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"

#ifndef TN_HAVE_THREADS
#define TN_HAVE_THREADS 0
#endif
#ifndef TN_POOL_FUTEX /* a test tries the other way to sleep where there is this one */
#if defined(__linux__)
#define TN_POOL_FUTEX 1
#else
#define TN_POOL_FUTEX 0
#endif
#endif

/* All parts on this thread. */
static void run_alone(const tn_work *work, int threads) {
  tn_part part = { .count = threads * work->pieces };
  for (; part.number < part.count; part.number++) {
    if (part.number > 0 && tn_stop_asked(work->stop)) return;
    work->run(work->context, &part);
  }
}

#if TN_HAVE_THREADS
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#define CACHE_LINES    128        /* bytes that processors fetch together */
#define STACK_BYTES    (1 << 20)  /* of a helper */
#define SPIN_SECONDS   50e-6      /* for the next job, and for a helper in the middle of a part */
#define SPIN_LOOKS     64         /* between two yields */
#define YIELD_SECONDS  10e-6      /* a yield that takes longer has let somebody else run */
#define CROWDED_JOBS   64         /* for which nobody spins after such a yield */
#define WAKE_SECONDS   30e-6      /* what waking takes, until it has been measured */
#define WAKES_EACH     2          /* that a thread wakes before it works */

enum { IDLE, ASLEEP, CALLED, DRAWN, RUNNING, AWAITED, LEAVING };

typedef struct {
  _Alignas(CACHE_LINES) atomic_uint state;
  atomic_int next; /* of the parts that have their home here, how many are taken */
  pthread_t thread;
  tn_pool *pool;
  int index;  /* from 1; 0 is the caller's */
  bool woken; /* for this job; the caller's */
#if !TN_POOL_FUTEX
  pthread_mutex_t lock;
  pthread_cond_t changed;
#endif
} helper;

struct tn_pool {
  tn_heap *heap;
  int threads;          /* with the caller's */
  int begun;            /* helpers that run */
  pid_t process;        /* in which they do; 0: they have not been started */
  double missed, ended; /* seconds of work lately without helpers that slept; when the last job ended */
  bool assumed;         /* the cost of waking is given, not measured */
  tn_pool_facts facts;
  /* the job */
  tn_work work;
  int homes;
  double called_at;
  /* shared by all */
  _Alignas(CACHE_LINES) atomic_int drawn; /* the next helper to look at for one that must be woken */
  atomic_int crowded;                     /* jobs for which nobody spins */
  _Atomic float wake;                     /* seconds */
  helper at[];                            /* by thread */
};

/* ---- sleeping ---- */
#if TN_POOL_FUTEX
#include <linux/futex.h>
#include <sys/syscall.h>

/* Sleeps while the state is `as_seen`; may return earlier. */
static void park(helper *h, unsigned as_seen) {
  (void)syscall(SYS_futex, &h->state, FUTEX_WAIT_PRIVATE, as_seen, NULL, NULL, 0);
}
static void unpark(helper *h) { (void)syscall(SYS_futex, &h->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }
static bool prepare_parking(helper *h) { return h != NULL; }
static void end_parking(helper *h) { (void)h; }
#else
static void park(helper *h, unsigned as_seen) {
  pthread_mutex_lock(&h->lock);
  while (atomic_load(&h->state) == as_seen) pthread_cond_wait(&h->changed, &h->lock);
  pthread_mutex_unlock(&h->lock);
}
static void unpark(helper *h) {
  pthread_mutex_lock(&h->lock);
  pthread_cond_signal(&h->changed);
  pthread_mutex_unlock(&h->lock);
}
static bool prepare_parking(helper *h) {
  if (pthread_mutex_init(&h->lock, NULL) != 0) return false;
  if (pthread_cond_init(&h->changed, NULL) == 0) return true;
  pthread_mutex_destroy(&h->lock);
  return false;
}
static void end_parking(helper *h) {
  pthread_cond_destroy(&h->changed);
  pthread_mutex_destroy(&h->lock);
}
#endif

/* ---- spinning ---- */
static inline void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* The state as soon as it is not `as_seen`, or `as_seen` after a while. */
static unsigned spin(helper *h, unsigned as_seen) {
  tn_pool *pool = h->pool;
  double start = 0, before, after = 0;
  unsigned state = as_seen;
  do {
    for (int i = 0; i < SPIN_LOOKS; i++) {
      state = atomic_load_explicit(&h->state, memory_order_acquire);
      if (state != as_seen) return state;
      pause_briefly();
    }
    if (atomic_load_explicit(&pool->crowded, memory_order_relaxed) > 0) return as_seen;
    before = tn_clock_steady();
    if (start == 0) start = before;
    sched_yield();
    after = tn_clock_steady();
    if (after - before > YIELD_SECONDS)
      atomic_store_explicit(&pool->crowded, CROWDED_JOBS, memory_order_relaxed);
  } while (after - start < SPIN_SECONDS);
  return state;
}

/* ---- parts ---- */

/* Takes parts, first those at home and then those of others, until none is left. */
static void take_parts(tn_pool *pool, int thread) {
  const tn_work *work = &pool->work;
  tn_part part = { .count = pool->homes * work->pieces, .thread = thread };
  bool first = true;
  for (int i = 0, home = thread; i < pool->homes; i++, home = home + 1 < pool->homes ? home + 1 : 0) {
    atomic_int *next = &pool->at[home].next;
    while (atomic_load_explicit(next, memory_order_relaxed) < work->pieces) {
      int piece = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
      if (piece >= work->pieces) break;
      if (!first && tn_stop_asked(work->stop)) return;
      first = false;
      part.number = home * work->pieces + piece;
      work->run(work->context, &part);
    }
  }
}

/* Wakes up to `count` of the helpers that sleep although they are called. */
static void wake_drawn(tn_pool *pool, int count) {
  while (count > 0) {
    int i = atomic_load_explicit(&pool->drawn, memory_order_acquire);
    if (i >= pool->homes) return;
    if (!atomic_compare_exchange_strong(&pool->drawn, &i, i + 1)) continue;
    unsigned drawn = DRAWN;
    if (!atomic_compare_exchange_strong(&pool->at[i].state, &drawn, CALLED)) continue;
    unpark(&pool->at[i]);
    count--;
  }
}

/* ---- a helper ---- */

/* A running mean: one slow wake is chance, many are the machine. `unfinished`: it takes at least so long. */
static void note_wake(tn_pool *pool, bool unfinished) {
  float taken = (float)(tn_clock_steady() - pool->called_at);
  float known = atomic_load_explicit(&pool->wake, memory_order_relaxed);
  if (pool->assumed || (unfinished && taken < known)) return;
  atomic_store_explicit(&pool->wake, known + (taken - known) * 0.125f, memory_order_relaxed);
}

/* Waits for a call: CALLED, DRAWN or LEAVING. *slept says whether it took sleep. */
static unsigned await_call(helper *h, bool *slept) {
  *slept = false;
  for (;;) {
    unsigned state = spin(h, IDLE), idle = IDLE;
    if (state != IDLE) return state;
    if (!atomic_compare_exchange_strong(&h->state, &idle, ASLEEP)) continue;
    do park(h, ASLEEP);
    while ((state = atomic_load_explicit(&h->state, memory_order_acquire)) == ASLEEP);
    *slept = true;
    if (state != IDLE) return state; /* else it was called, and came too late */
  }
}

static void *help(void *context) {
  helper *h = context;
  tn_pool *pool = h->pool;
  for (bool slept;;) {
    unsigned state = await_call(h, &slept);
    if (state == LEAVING) return NULL;
    if (!atomic_compare_exchange_strong(&h->state, &state, RUNNING)) continue;
    if (slept) note_wake(pool, false);
    wake_drawn(pool, WAKES_EACH);
    take_parts(pool, h->index);
    if (atomic_exchange(&h->state, IDLE) == AWAITED) unpark(h);
  }
}

/* ---- the caller ---- */

static bool start_helper(tn_pool *pool, int index) {
  pthread_attr_t attributes;
  helper *h = &pool->at[index];
  h->pool = pool;
  h->index = index;
  atomic_store(&h->state, IDLE);
  if (!prepare_parking(h)) return false;
  bool started = pthread_attr_init(&attributes) == 0;
  if (started) {
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    started = pthread_create(&h->thread, &attributes, help, h) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (!started) end_parking(h);
  return started;
}

/* Signals are for the threads that the program has itself. What cannot be started is done without. */
static void start_helpers(tn_pool *pool) {
  sigset_t all, before;
  sigfillset(&all);
  pool->process = getpid();
  pool->begun = 0;
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return;
  while (pool->begun + 1 < pool->threads && start_helper(pool, pool->begun + 1)) pool->begun++;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Calls the helpers that are awake; returns how many of the others there are. */
static int call_awake(tn_pool *pool) {
  int asleep = 0;
  for (int i = 1; i < pool->homes; i++) {
    unsigned idle = IDLE;
    pool->at[i].woken = false;
    if (atomic_compare_exchange_strong(&pool->at[i].state, &idle, CALLED))
      pool->facts.calls++;
    else
      asleep++;
  }
  return asleep;
}

/* How many of the helpers that sleep to wake: a thread for each time of waking that the work of this job
 * takes, and of jobs before it that went without, if they followed so closely that helpers would have stayed
 * awake. */
static int worth_waking(tn_pool *pool, int asleep) {
  double wake = (double)atomic_load_explicit(&pool->wake, memory_order_relaxed);
  if (pool->called_at - pool->ended > SPIN_SECONDS) pool->missed = 0;
  if (asleep > 0) pool->missed += pool->work.cost * 1e-9;
  double most = pool->missed / wake - (pool->homes - asleep);
  if (most < 1) return 0;
  pool->missed = 0;
  return most < asleep ? (int)most : asleep;
}

static void wake_asleep(tn_pool *pool, int count) {
  for (int i = 1; i < pool->homes && count > 0; i++) {
    unsigned asleep = ASLEEP;
    if (!atomic_compare_exchange_strong(&pool->at[i].state, &asleep, DRAWN)) continue;
    pool->at[i].woken = true;
    pool->facts.wakes++;
    count--;
  }
  atomic_store_explicit(&pool->drawn, 1, memory_order_release);
  wake_drawn(pool, WAKES_EACH);
}

static void call_helpers(tn_pool *pool, int homes) {
  pool->homes = homes;
  pool->called_at = tn_clock_steady();
  atomic_store_explicit(&pool->drawn, homes, memory_order_relaxed); /* none */
  for (int i = 0; i < homes; i++) atomic_store_explicit(&pool->at[i].next, 0, memory_order_relaxed);
  int count = worth_waking(pool, call_awake(pool));
  pool->facts.jobs++;
  if (count > 0) wake_asleep(pool, count);
}

/* Takes back a call that the helper has not followed; else waits until it has done its part. One that was
 * woken and has not come yet has taken at least so long. */
static void settle(helper *h) {
  unsigned state = atomic_load_explicit(&h->state, memory_order_acquire);
  while (state != IDLE && state != ASLEEP) {
    if (state == CALLED || state == DRAWN) {
      bool late = state == CALLED && h->woken;
      if (!atomic_compare_exchange_strong(&h->state, &state, state == CALLED ? IDLE : ASLEEP)) continue;
      if (late) note_wake(h->pool, true);
      return;
    } else if ((state = spin(h, RUNNING)) == RUNNING &&
               atomic_compare_exchange_strong(&h->state, &state, AWAITED)) {
      park(h, AWAITED);
      while ((state = atomic_load_explicit(&h->state, memory_order_acquire)) == AWAITED) park(h, AWAITED);
    }
  }
}

static void run_together(tn_pool *pool, const tn_work *work, int homes) {
  pool->work = *work;
  call_helpers(pool, homes);
  take_parts(pool, 0);
  atomic_store_explicit(&pool->drawn, homes, memory_order_relaxed);
  for (int i = 1; i < homes; i++) settle(&pool->at[i]);
  int crowded = atomic_load_explicit(&pool->crowded, memory_order_relaxed);
  if (crowded > 0) atomic_store_explicit(&pool->crowded, crowded - 1, memory_order_relaxed);
  pool->ended = tn_clock_steady();
}

void tn_pool_run(tn_pool *pool, const tn_work *work) {
  if (!pool || work->threads <= 1) {
    run_alone(work, work->threads > 1 ? work->threads : 1);
    return;
  }
  if (pool->process != getpid()) start_helpers(pool); /* for the first time, or in a child */
  int homes = work->threads <= pool->begun ? work->threads : pool->begun + 1;
  if (homes > 1)
    run_together(pool, work, homes);
  else
    run_alone(work, 1);
}

static size_t bytes_of(int threads) { return sizeof(tn_pool) + (size_t)threads * sizeof(helper); }

tn_pool *tn_pool_new(tn_heap *heap, int threads) {
  if (threads < 1) threads = 1;
  tn_pool *pool = tn_heap_alloc_aligned(heap, bytes_of(threads), CACHE_LINES);
  if (!pool) return NULL;
  memset(pool, 0, bytes_of(threads));
  pool->heap = heap;
  pool->threads = threads;
  atomic_init(&pool->wake, (float)WAKE_SECONDS);
  return pool;
}

/* In a child of the process in which they were started there are none. */
static void end_helpers(tn_pool *pool) {
  if (pool->process != getpid()) return;
  for (int i = 1; i <= pool->begun; i++) {
    if (atomic_exchange(&pool->at[i].state, LEAVING) == ASLEEP) unpark(&pool->at[i]);
  }
  for (int i = 1; i <= pool->begun; i++) {
    (void)pthread_join(pool->at[i].thread, NULL);
    end_parking(&pool->at[i]);
  }
}

void tn_pool_free(tn_pool *pool) {
  if (!pool) return;
  end_helpers(pool);
  tn_heap_free_aligned(pool->heap, pool, bytes_of(pool->threads));
}

int tn_pool_threads(const tn_pool *pool) { return pool ? pool->threads : 1; }

tn_pool_facts tn_pool_state(const tn_pool *pool) {
  if (!pool) return (tn_pool_facts){ 0 };
  tn_pool_facts facts = pool->facts;
  facts.helpers = pool->begun;
  for (int i = 1; i <= pool->begun; i++) facts.asleep += atomic_load(&pool->at[i].state) == ASLEEP;
  facts.wake_seconds = (double)atomic_load_explicit(&pool->wake, memory_order_relaxed);
  return facts;
}

void tn_pool_assume_wake(tn_pool *pool, double seconds) {
  pool->assumed = true;
  atomic_store(&pool->wake, seconds > 1e-12 ? (float)seconds : 1e-12f);
}

#else /* one thread is all there is */
struct tn_pool {
  tn_heap *heap;
};

tn_pool *tn_pool_new(tn_heap *heap, int threads) {
  (void)threads;
  tn_pool *pool = tn_heap_alloc(heap, sizeof *pool);
  if (pool) pool->heap = heap;
  return pool;
}
void tn_pool_free(tn_pool *pool) {
  if (pool) tn_heap_free(pool->heap, pool, sizeof *pool);
}
int tn_pool_threads(const tn_pool *pool) {
  (void)pool;
  return 1;
}
void tn_pool_run(tn_pool *pool, const tn_work *work) {
  run_alone(work, pool || work->threads < 1 ? 1 : work->threads);
}
tn_pool_facts tn_pool_state(const tn_pool *pool) {
  (void)pool;
  return (tn_pool_facts){ 0 };
}
void tn_pool_assume_wake(tn_pool *pool, double seconds) { (void)pool, (void)seconds; }
#endif
