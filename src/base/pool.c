/* base/pool.c: the threads of a pool (helpers), and when they are woken.
 *
 * A call is one store: the number of a job and how many threads it is for, in a word that every helper which
 * is awake looks at. The job itself lies on the same cache line. So calling fifteen helpers takes the caller
 * no longer than calling one, and a helper fetches one line before it begins. Everything that differs between
 * helpers is on a line of the helper's own:
 *
 *   turn    the last job that it was let into, and whether it still works on it. A helper enters a job by
 *           writing its number here; the caller writes it where it has done without the helper, which then
 *           comes too late. Both compare and swap, so one of them wins.
 *   taken   of the parts that have their home here, how many are taken, with the number of the job: what an
 *           earlier job left needs no clearing
 *   bed     UP, ASLEEP in the kernel, or DRAWN: asleep, and somebody is about to wake it
 *
 * The caller writes the next job only when every helper that it called has done its turn or lost it, so a job
 * is only read while it stands. Parts have a home, the thread that takes them first, so that the same thread
 * meets the same data in the next job; a thread whose home is empty takes from the others. Looking there is a
 * cache miss for every other thread, so of a short job only the caller does, unless helpers sleep: if the
 * caller did all that theirs is, it would take so long that the others fell asleep too.
 *
 * Waking many threads one after another is slow, so the caller wakes two, and each of those wakes
 * two more.
 *
 * Whoever waits spins as long as it has worked before, within limits: so a helper whose part was short does
 * not sleep while others finish theirs, and no more time is spun away than used. It yields now and then. A
 * yield that takes long and in which the system ran another thread says that cores are contended: then
 * spinning takes time away from others, and waiting is done in the kernel. (One that takes long by itself
 * does not: on a virtual machine each thread has hundreds of those per second. Nor does a short one: that was
 * the kernel's own work.) */
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
#ifndef TN_POOL_FUTEX /* a test selects the other way to sleep where this one exists */
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
#include <sys/resource.h>
#include <unistd.h>

#define CACHE_LINES    128        /* bytes that the hardware prefetches together */
#define STACK_BYTES    (1 << 20)  /* of a helper */
#define SPIN_SECONDS   200e-6     /* at least, for the next job or for a helper in the middle of a part */
#define SPIN_MOST      2e-3
#define SPIN_LOOKS     64         /* between two looks at the clock */
#define YIELD_AFTER    5e-6       /* seconds of spinning */
#define YIELD_SECONDS  100e-6     /* a yield that takes longer may have let another program run */
#define CROWDED_JOBS   64         /* for which nobody spins after such a yield */
#define WAKE_SECONDS   30e-6      /* what waking takes, until it has been measured */
#define WAKES_EACH     2          /* that a thread wakes before it works */
#define LONG_PART      20e3       /* nanoseconds of a thread's share from which on helpers help one another */

/* Where a thread sleeps. */
enum { UP, ASLEEP, DRAWN };
typedef struct {
  atomic_uint state;
#if !TN_POOL_FUTEX
  pthread_mutex_t lock;
  pthread_cond_t changed;
#endif
} bed;

/* What a turn says beside the number of a job. */
enum { DONE, RUNNING, AWAITED /* the same, and the caller sleeps */, PHASES = 4 };

typedef struct {
  _Alignas(CACHE_LINES) _Atomic uint64_t turn; /* PHASES * number of a job + phase */
  _Atomic uint64_t taken;                      /* the lower half of that number, and how many parts */
  bed bed;
  int index;     /* 0 is the caller's */
  bool woken;    /* for this job; the caller's to know */
  double since;  /* when it began to wait, once it has looked at the clock; else 0 */
  double worked; /* seconds, in the last job */
  long switches; /* how often the system has run something else in its place, when last looked at */
  tn_pool *pool;
  pthread_t thread;
} helper;

/* The word that calls: the number of a job and for how many threads it is. */
#define MOST_HOMES 0xffff
#define LEAVE      UINT64_MAX

struct tn_pool {
  tn_heap *heap;
  int threads;          /* with the caller's */
  int begun;            /* helpers that run */
  pid_t process;        /* the process of the helpers; 0: not started yet */
  double missed, ended; /* seconds of recent work done without sleeping helpers; when the last job ended */
  bool assumed;         /* the cost of waking is given, not measured */
  tn_pool_facts facts;
  /* the job */
  _Alignas(CACHE_LINES) _Atomic uint64_t call;
  uint64_t number;
  tn_work work;
  int homes;
  bool wakes;       /* some of its helpers */
  bool some_asleep; /* when it was called */
  double called_at;
  /* shared by all, and rarely written */
  _Alignas(CACHE_LINES) atomic_int drawn; /* the next helper to look at for one that must be woken */
  atomic_int crowded;                     /* jobs in which no thread spins */
  _Atomic float wake;                     /* seconds */
  helper at[];                            /* by thread */
};

/* ---- sleeping ---- */
#if TN_POOL_FUTEX
#include <linux/futex.h>
#include <sys/syscall.h>

/* Sleeps while the state is `as_seen`; may return earlier. */
static void park(bed *b, unsigned as_seen) {
  (void)syscall(SYS_futex, &b->state, FUTEX_WAIT_PRIVATE, as_seen, NULL, NULL, 0);
}
static void unpark(bed *b) { (void)syscall(SYS_futex, &b->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }
static bool prepare_bed(bed *b) { return b != NULL; }
static void end_bed(bed *b) { (void)b; }
#else
static void park(bed *b, unsigned as_seen) {
  pthread_mutex_lock(&b->lock);
  while (atomic_load(&b->state) == as_seen) pthread_cond_wait(&b->changed, &b->lock);
  pthread_mutex_unlock(&b->lock);
}
static void unpark(bed *b) {
  pthread_mutex_lock(&b->lock);
  pthread_cond_signal(&b->changed);
  pthread_mutex_unlock(&b->lock);
}
static bool prepare_bed(bed *b) {
  if (pthread_mutex_init(&b->lock, NULL) != 0) return false;
  if (pthread_cond_init(&b->changed, NULL) == 0) return true;
  pthread_mutex_destroy(&b->lock);
  return false;
}
static void end_bed(bed *b) {
  pthread_cond_destroy(&b->changed);
  pthread_mutex_destroy(&b->lock);
}
#endif

/* Until somebody sets it UP. */
static void sleep_in(bed *b) {
  for (unsigned state; (state = atomic_load_explicit(&b->state, memory_order_acquire)) != UP;) park(b, state);
}

static bool change(bed *b, unsigned from, unsigned to) {
  return atomic_compare_exchange_strong(&b->state, &from, to);
}

/* ---- spinning ---- */
static inline void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Whether the system has run something else in place of this thread since the last question. */
static bool was_switched(helper *self) {
#ifdef RUSAGE_THREAD
  struct rusage used;
  if (getrusage(RUSAGE_THREAD, &used) != 0) return true;
  bool more = used.ru_nivcsw != self->switches;
  self->switches = used.ru_nivcsw;
  return more;
#else
  (void)self;
  return true;
#endif
}

/* Returns the time after it. */
static double yield(helper *self, double before) {
  sched_yield();
  double after = tn_clock_steady();
  if (after - before > YIELD_SECONDS && was_switched(self))
    atomic_store_explicit(&self->pool->crowded, CROWDED_JOBS, memory_order_relaxed);
  return after;
}

/* The word as soon as it is not `as_seen`, or `as_seen` after a while. */
static uint64_t spin(helper *self, const _Atomic uint64_t *word, uint64_t as_seen) {
  const double most = self->worked > SPIN_MOST ? SPIN_MOST : self->worked;
  double rested = 0;
  for (;;) {
    for (int i = 0; i < SPIN_LOOKS; i++) {
      uint64_t seen = atomic_load_explicit(word, memory_order_acquire);
      if (seen != as_seen) return seen;
      pause_briefly();
    }
    if (atomic_load_explicit(&self->pool->crowded, memory_order_relaxed) > 0) return as_seen;
    double now = tn_clock_steady();
    if (self->since == 0) self->since = now;
    if (rested == 0) rested = now;
    if (now - self->since > SPIN_SECONDS && now - self->since > most) return as_seen;
    if (now - rested > YIELD_AFTER) rested = yield(self, now);
  }
}

/* ---- parts ---- */

/* A part that has its home there and that nobody has taken, from 0; -1: all are taken. */
static int64_t take_part(tn_pool *pool, int home) {
  _Atomic uint64_t *taken = &pool->at[home].taken;
  const uint64_t none = pool->number << 32;
  uint64_t seen = atomic_load_explicit(taken, memory_order_relaxed), now;
  do {
    now = seen >> 32 == none >> 32 ? seen : none;
    if ((int64_t)(uint32_t)now >= pool->work.pieces) return -1;
  } while (!atomic_compare_exchange_weak_explicit(taken, &seen, now + 1, memory_order_relaxed,
                                                  memory_order_relaxed));
  return (int64_t)(uint32_t)now;
}

/* Takes parts, first those at home and then those of others, until none is left. */
static void take_parts(tn_pool *pool, int thread) {
  const tn_work *work = &pool->work;
  tn_part part = { .count = pool->homes * work->pieces, .thread = thread };
  bool first = true;
  bool everywhere = thread == 0 || pool->some_asleep || work->cost > LONG_PART * pool->homes;
  int homes = everywhere ? pool->homes : 1;
  for (int i = 0, home = thread; i < homes; i++, home = home + 1 < pool->homes ? home + 1 : 0) {
    for (int64_t piece; (piece = take_part(pool, home)) >= 0;) {
      if (!first && tn_stop_asked(work->stop)) return;
      first = false;
      part.number = home * work->pieces + (int)piece;
      work->run(work->context, &part);
    }
  }
}

/* Wakes up to `count` of the helpers that are DRAWN. */
static void wake_drawn(tn_pool *pool, int count) {
  while (count > 0) {
    int i = atomic_load_explicit(&pool->drawn, memory_order_acquire);
    if (i >= pool->homes) return;
    if (!atomic_compare_exchange_strong(&pool->drawn, &i, i + 1)) continue;
    if (!change(&pool->at[i].bed, DRAWN, UP)) continue;
    unpark(&pool->at[i].bed);
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

/* Waits for a call that is not `seen`. *slept says whether it took sleep. A helper that goes to bed looks for
 * a call once more. The caller of a job may still take it to be up, and then does without it; who ends the
 * pool writes first and looks into the beds then, so one of the two sees the other. */
static uint64_t await_call(helper *h, uint64_t seen, bool *slept) {
  tn_pool *pool = h->pool;
  for (*slept = false;;) {
    uint64_t call = spin(h, &pool->call, seen);
    if (call != seen) return call;
    atomic_store(&h->bed.state, ASLEEP);
    if (atomic_load(&pool->call) != seen) {
      atomic_store(&h->bed.state, UP);
      continue;
    }
    sleep_in(&h->bed);
    h->since = h->worked = 0;
    *slept = true;
  }
}

/* Whether the helper may take part in the job that was called. */
static bool enter(helper *h, uint64_t call) {
  uint64_t number = call >> 16, turn = atomic_load_explicit(&h->turn, memory_order_relaxed);
  return h->index < (int)(call & MOST_HOMES) && turn < number * PHASES &&
         atomic_compare_exchange_strong(&h->turn, &turn, number * PHASES + RUNNING);
}

static void *help(void *context) {
  helper *h = context;
  tn_pool *pool = h->pool;
  uint64_t call = 0;
  for (bool slept;;) {
    call = await_call(h, call, &slept);
    if (call == LEAVE) return NULL;
    if (!enter(h, call)) continue;
    if (slept) note_wake(pool, false);
    if (pool->wakes) wake_drawn(pool, WAKES_EACH);
    double began = tn_clock_steady();
    take_parts(pool, h->index);
    h->since = 0;
    uint64_t number = call >> 16;
    if (atomic_exchange(&h->turn, number * PHASES + DONE) == number * PHASES + AWAITED) {
      atomic_store(&pool->at[0].bed.state, UP);
      unpark(&pool->at[0].bed);
    }
    h->worked = tn_clock_steady() - began;
  }
}

/* ---- the caller ---- */

static bool start_helper(tn_pool *pool, int index) {
  pthread_attr_t attributes;
  helper *h = &pool->at[index];
  atomic_store(&h->bed.state, UP);
  atomic_store(&h->turn, pool->number * PHASES + DONE); /* of the job before, if any */
  h->index = index;
  if (!prepare_bed(&h->bed)) return false;
  bool started = pthread_attr_init(&attributes) == 0;
  if (started) {
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    started = pthread_create(&h->thread, &attributes, help, h) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (!started) end_bed(&h->bed);
  return started;
}

/* Helpers block all signals, which the program's own threads handle. If a helper cannot be started,
 * the pool works without it. */
static void start_helpers(tn_pool *pool) {
  sigset_t all, before;
  sigfillset(&all);
  pool->process = getpid();
  pool->begun = 0;
  if (!prepare_bed(&pool->at[0].bed) || pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return;
  while (pool->begun + 1 < pool->threads && start_helper(pool, pool->begun + 1)) pool->begun++;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int count_asleep(tn_pool *pool) {
  int asleep = 0;
  for (int i = 1; i < pool->homes; i++)
    asleep += atomic_load_explicit(&pool->at[i].bed.state, memory_order_relaxed) != UP;
  pool->facts.calls += (uint64_t)(pool->homes - 1 - asleep);
  return asleep;
}

/* How many sleeping helpers to wake: one for each wake-up time that the work of this job is worth,
 * plus that of recent jobs without them, if they followed so closely that helpers would have stayed
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

/* Whom to wake; nobody does it yet. */
static void draw(tn_pool *pool, int count) {
  for (int i = 1; i < pool->homes; i++) {
    pool->at[i].woken = count > 0 && change(&pool->at[i].bed, ASLEEP, DRAWN);
    if (!pool->at[i].woken) continue;
    pool->facts.wakes++;
    count--;
  }
  atomic_store_explicit(&pool->drawn, 1, memory_order_relaxed);
}

/* Once in many hours the lower half of the number of a job comes again. */
static void count_job(tn_pool *pool) {
  pool->facts.jobs++;
  if ((uint32_t)++pool->number != 0) return;
  for (int i = 0; i < pool->threads; i++) atomic_store(&pool->at[i].taken, 0);
}

static void call_helpers(tn_pool *pool, const tn_work *work, int homes) {
  count_job(pool);
  pool->work = *work;
  pool->homes = homes;
  pool->called_at = tn_clock_steady();
  int asleep = count_asleep(pool), count = worth_waking(pool, asleep);
  pool->some_asleep = asleep > 0;
  pool->wakes = count > 0;
  if (pool->wakes) draw(pool, count);
  atomic_store_explicit(&pool->call, pool->number << 16 | (uint64_t)homes, memory_order_release);
  if (pool->wakes) wake_drawn(pool, WAKES_EACH);
}

/* One that was to be woken may go on sleeping; if it was woken and has not come yet, that takes at least so
 * long. */
static void do_without(tn_pool *pool, helper *h) {
  if (pool->wakes && h->woken && !change(&h->bed, DRAWN, ASLEEP)) note_wake(pool, true);
}

static void sleep_until_done(tn_pool *pool, helper *h, uint64_t running) {
  bed *own = &pool->at[0].bed;
  atomic_store(&own->state, ASLEEP);
  if (atomic_compare_exchange_strong(&h->turn, &running, running - RUNNING + AWAITED))
    sleep_in(own);
  else
    atomic_store(&own->state, UP);
}

/* Does without a helper that has not come; else waits until it has done its part. */
static void settle(tn_pool *pool, helper *h) {
  const uint64_t done = pool->number * PHASES + DONE;
  uint64_t turn = atomic_load_explicit(&h->turn, memory_order_acquire);
  if (turn < done && atomic_compare_exchange_strong(&h->turn, &turn, done)) {
    do_without(pool, h);
    return;
  }
  for (pool->at[0].since = 0; turn != done; turn = atomic_load_explicit(&h->turn, memory_order_acquire)) {
    turn = spin(&pool->at[0], &h->turn, turn);
    if (turn != done) sleep_until_done(pool, h, turn);
  }
}

static void run_together(tn_pool *pool, const tn_work *work, int homes) {
  call_helpers(pool, work, homes);
  take_parts(pool, 0);
  pool->at[0].worked = tn_clock_steady() - pool->called_at;
  if (pool->wakes) atomic_store_explicit(&pool->drawn, homes, memory_order_relaxed);
  for (int i = 1; i < homes; i++) settle(pool, &pool->at[i]);
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
  threads = threads < 1 ? 1 : threads < MOST_HOMES ? threads : MOST_HOMES;
  tn_pool *pool = tn_heap_alloc_aligned(heap, bytes_of(threads), CACHE_LINES);
  if (!pool) return NULL;
  memset(pool, 0, bytes_of(threads));
  pool->heap = heap;
  pool->threads = threads;
  for (int i = 0; i < threads; i++) pool->at[i].pool = pool;
  atomic_init(&pool->wake, (float)WAKE_SECONDS);
  return pool;
}

/* A forked child has no helpers. */
static void end_helpers(tn_pool *pool) {
  if (pool->process != getpid()) return;
  atomic_store(&pool->call, LEAVE);
  for (int i = 1; i <= pool->begun; i++) {
    if (atomic_exchange(&pool->at[i].bed.state, UP) != UP) unpark(&pool->at[i].bed);
  }
  for (int i = 1; i <= pool->begun; i++) {
    (void)pthread_join(pool->at[i].thread, NULL);
    end_bed(&pool->at[i].bed);
  }
  end_bed(&pool->at[0].bed);
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
  for (int i = 1; i <= pool->begun; i++) facts.asleep += atomic_load(&pool->at[i].bed.state) != UP;
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
