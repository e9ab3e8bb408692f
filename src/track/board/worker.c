/* track/board/worker.c: the job queue, its thread, and the cache of answers. */
#include "track/board/internal.h"

#ifdef TN_HAVE_MICROHTTPD
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "track/board/worker.h"

/* ---- jobs ---- */

static void add_text(tn_sha256 *hash, tn_str text) {
  uint64_t length = text.len;
  tn_sha256_update(hash, &length, sizeof length);
  tn_sha256_update(hash, text.at, text.len);
}

static void key_of(const tn_order *order, unsigned char key[TN_SHA256_BYTES]) {
  tn_sha256 hash;
  int64_t numbers[] = { order->kind, order->run, order->other };
  tn_sha256_init(&hash);
  tn_sha256_update(&hash, numbers, sizeof numbers);
  add_text(&hash, order->name), add_text(&hash, order->text), add_text(&hash, order->stamp);
  tn_sha256_final(&hash, key);
}

static void free_job(tn_worker *w, tn_job *job) {
  tn_answer_end(&job->answer);
  tn_sources_free(&job->sources);
  tn_heap_free(w->options->heap, job, sizeof *job);
}

/* Links and unlinks under the lock. */
static void unlink_job(tn_worker *w, const tn_job *job) {
  tn_job **at = &w->jobs;
  while (*at && *at != job) at = &(*at)->next;
  if (*at) *at = job->next;
}

static tn_job *new_job(tn_worker *w, const tn_order *order, const unsigned char key[TN_SHA256_BYTES]) {
  tn_job *job = tn_heap_alloc(w->options->heap, sizeof *job);
  if (!job) return NULL;
  *job = (tn_job){ .heap = { .limit = w->limits->job_bytes }, .order = *order };
  job->heap.stop = &job->stop;
  tn_sources_init(&job->sources, &job->heap);
  tn_answer_begin(&job->answer, w->options, &job->heap, &job->sources);
  memcpy(job->key, key, sizeof job->key);
  tn_arena *arena = &job->answer.arena;
  job->order.name = tn_arena_str(arena, order->name);
  job->order.text = tn_arena_str(arena, order->text);
  job->order.stamp = tn_arena_str(arena, order->stamp);
  if (!arena->failed) return job;
  free_job(w, job);
  return NULL;
}

/* ---- the thread ---- */

/* The oldest that waits. */
static tn_job *next_job(tn_worker *w) {
  tn_job *next = NULL;
  for (tn_job *job = w->jobs; job; job = job->next) {
    if (job->state == TN_JOB_WAITS) next = job;
  }
  return next;
}

static void run_job(tn_worker *w, tn_job *job) {
  tn_stop_limit(&job->stop, w->limits->job_seconds);
  tn_stack_find(&job->heap.stack);
  tn_answer_order(&job->answer, &job->order);
  if (tn_stop_asked(&job->stop) && job->answer.status != 200)
    tn_answer_refuse(&job->answer, 503, "it takes too long");
  tn_arena_free(&job->answer.arena); /* the answer is in its body, and that is what is kept */
}

/* A full pipe rings already. */
static void ring(tn_worker *w) {
  while (write(w->bell[1], "", 1) < 0 && errno == EINTR) continue;
}

static void *work(void *context) {
  tn_worker *w = context;
  pthread_mutex_lock(&w->lock);
  while (!w->ending) {
    tn_job *job = next_job(w);
    if (!job) {
      pthread_cond_wait(&w->work, &w->lock);
      continue;
    }
    job->state = TN_JOB_RUNS;
    pthread_mutex_unlock(&w->lock);
    run_job(w, job);
    pthread_mutex_lock(&w->lock);
    job->state = TN_JOB_DONE;
    ring(w);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

/* ---- beginning and ending ---- */

static bool prepare_end(int descriptor) {
  return fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 && fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0;
}

bool tn_worker_init(tn_worker *w, const tn_board_options *options, const tn_board_limits *limits) {
  *w = (tn_worker){ .options = options, .limits = limits, .bell = { -1, -1 } };
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->work, NULL);
  return pipe(w->bell) == 0 && prepare_end(w->bell[0]) && prepare_end(w->bell[1]);
}

/* Signals are for the thread that serves: they end its wait. */
bool tn_worker_start(tn_worker *w) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  w->started = pthread_create(&w->thread, NULL, work, w) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return w->started;
}

static void stop_all(tn_worker *w) {
  pthread_mutex_lock(&w->lock);
  w->ending = true;
  for (tn_job *job = w->jobs; job; job = job->next) tn_stop_ask(&job->stop);
  pthread_cond_signal(&w->work);
  pthread_mutex_unlock(&w->lock);
}

void tn_worker_end(tn_worker *w) {
  if (w->started) {
    stop_all(w);
    pthread_join(w->thread, NULL);
  }
  while (w->jobs) {
    tn_job *job = w->jobs;
    w->jobs = job->next;
    free_job(w, job);
  }
  if (w->bell[0] >= 0) close(w->bell[0]), close(w->bell[1]);
  pthread_cond_destroy(&w->work);
  pthread_mutex_destroy(&w->lock);
}

/* ---- asking ---- */

static tn_job *find_job(const tn_worker *w, const unsigned char key[TN_SHA256_BYTES]) {
  for (tn_job *job = w->jobs; job; job = job->next) {
    if (memcmp(job->key, key, sizeof job->key) == 0) return job;
  }
  return NULL;
}

static int count_waiting(const tn_worker *w) {
  int count = 0;
  for (const tn_job *job = w->jobs; job; job = job->next) count += job->state != TN_JOB_DONE;
  return count;
}

/* The answer that was asked for longest ago, where more are kept than may be; else NULL. */
static tn_job *surplus(const tn_worker *w) {
  tn_job *oldest = NULL;
  int count = 0;
  size_t bytes = 0;
  for (tn_job *job = w->jobs; job; job = job->next) {
    if (job->state != TN_JOB_DONE || job->users > 0) continue;
    count++;
    bytes += job->heap.used;
    if (!oldest || job->turn < oldest->turn) oldest = job;
  }
  return count > w->limits->kept || bytes > w->limits->kept_bytes ? oldest : NULL;
}

static void drop_surplus(tn_worker *w) {
  tn_job *job;
  while ((job = surplus(w))) {
    unlink_job(w, job);
    free_job(w, job);
  }
}

static tn_job *add_job(tn_worker *w, const tn_order *order, const unsigned char key[TN_SHA256_BYTES]) {
  if (!w->started || count_waiting(w) >= w->limits->jobs) return NULL;
  tn_job *job = new_job(w, order, key);
  if (!job) return NULL;
  job->next = w->jobs;
  w->jobs = job;
  pthread_cond_signal(&w->work);
  return job;
}

tn_job *tn_worker_ask(tn_worker *w, const tn_order *order) {
  unsigned char key[TN_SHA256_BYTES];
  key_of(order, key);
  pthread_mutex_lock(&w->lock);
  tn_job *job = find_job(w, key);
  if (!job) job = add_job(w, order, key);
  if (job) job->users++, job->turn = ++w->turns;
  drop_surplus(w);
  pthread_mutex_unlock(&w->lock);
  return job;
}

bool tn_worker_is_done(tn_worker *w, const tn_job *job) {
  pthread_mutex_lock(&w->lock);
  bool done = job->state == TN_JOB_DONE;
  pthread_mutex_unlock(&w->lock);
  return done;
}

void tn_worker_leave(tn_worker *w, tn_job *job) {
  if (!job) return;
  pthread_mutex_lock(&w->lock);
  job->users--;
  drop_surplus(w);
  pthread_mutex_unlock(&w->lock);
}

int tn_worker_bell(const tn_worker *w) { return w->bell[0]; }

void tn_worker_hear(tn_worker *w) {
  char rings[64];
  while (read(w->bell[0], rings, sizeof rings) > 0) continue;
}
#endif
