/* bench/limits.c: the machine's own side of the benchmarks: what no program can beat.
 *
 *   bench_limits THREADS
 *
 * Answers requests as bench/tern.c does, with seconds for one operation or one byte:
 *
 *   SECONDS fma            a multiply-add in registers counts two operations
 *   SECONDS read BYTES     reading a block of so many bytes again and again
 *   SECONDS triad BYTES    a[i] = b[i] + 3 c[i]; 12 bytes an element
 *   SECONDS stream BYTES   the same, written around the caches */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/pool.h"
#include "limits.h"

static int threads;
static tn_heap heap;
static tn_pool *pool;
static clockid_t stopwatch = CLOCK_PROCESS_CPUTIME_ID;

static double now(void) {
  struct timespec t;
  clock_gettime(stopwatch, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct {
  float *memory;
  size_t count; /* floats, all three arrays together */
  void (*part)(float *a, const float *b, const float *c, size_t count);
  int is_one_array;
} block;

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void read_avx512(float *a, const float *b, const float *c,
                                                           size_t count) {
  (void)c;
  __m512 s[8];
  for (int k = 0; k < 8; k++) s[k] = _mm512_setzero_ps();
  for (size_t i = 0; i + 128 <= count; i += 128)
    for (int k = 0; k < 8; k++) s[k] = _mm512_add_ps(s[k], _mm512_loadu_ps(b + i + 16 * (size_t)k));
  for (int k = 1; k < 8; k++) s[0] = _mm512_add_ps(s[0], s[k]);
  *a += _mm512_reduce_add_ps(s[0]) * 1e-30f;
}

__attribute__((target("avx512f"))) static void stream_avx512(float *a, const float *b, const float *c,
                                                             size_t count) {
  __m512 three = _mm512_set1_ps(3);
  for (size_t i = 0; i + 16 <= count; i += 16)
    _mm512_stream_ps(a + i, _mm512_fmadd_ps(_mm512_loadu_ps(c + i), three, _mm512_loadu_ps(b + i)));
  _mm_sfence();
}
#endif

static void read_plain(float *a, const float *b, const float *c, size_t count) {
  float s[64] = { 0 };
  (void)c;
  for (size_t i = 0; i + 64 <= count; i += 64)
    for (int k = 0; k < 64; k++) s[k] += b[i + (size_t)k];
  for (int k = 1; k < 64; k++) s[0] += s[k];
  *a += s[0] * 1e-30f;
}

static void triad_plain(float *restrict a, const float *restrict b, const float *restrict c, size_t count) {
  for (size_t i = 0; i < count; i++) a[i] = b[i] + 3.0f * c[i];
}

/* All threads, whatever the work is worth. */
static void run_together(tn_job job, const void *context) {
  tn_work work = { .run = job, .context = (void *)context, .cost = 1e9, .threads = threads, .pieces = 1 };
  tn_pool_run(pool, &work);
}

/* Each thread has a third of its part for each array. */
static void run_part(void *context, const tn_part *part) {
  const block *b = context;
  size_t mine = b->count / (size_t)part->count / 48 * 48, each = mine / 3;
  size_t number = (size_t)part->number;
  float *at = b->memory + mine * number, *own = b->memory + b->count + 64 * number;
  if (b->is_one_array)
    b->part(own, at, at, mine);
  else
    b->part(at, at + each, at + 2 * each, each);
}

static double measure_memory(const char *kind, size_t bytes, double seconds, int wide) {
  block b = { .count = bytes / 4 / 48 * 48 };
  size_t room = (b.count + 64 * (size_t)(threads + 1)) * 4;
  b.memory = aligned_alloc(1 << 21, (room + (1 << 21) - 1) >> 21 << 21);
  if (!b.memory) exit(1);
#if defined(MADV_HUGEPAGE)
  (void)madvise(b.memory, (room + (1 << 21) - 1) >> 21 << 21, MADV_HUGEPAGE); /* as tern does for its own */
#endif
  for (size_t i = 0; i < room / 4; i++) b.memory[i] = (float)(i & 255);
  int reads = strcmp(kind, "read") == 0, streams = strcmp(kind, "stream") == 0;
  b.part = reads ? read_plain : triad_plain;
#if defined(__x86_64__)
  if (wide && reads) b.part = read_avx512;
  if (wide && streams) b.part = stream_avx512;
#endif
  (void)wide, (void)streams;
  b.is_one_array = reads;
  run_together(run_part, &b);
  long rounds = 0;
  double start = now(), spent;
  do run_together(run_part, &b), rounds++;
  while ((spent = now() - start) < seconds);
  free(b.memory);
  return spent / ((double)rounds * (double)b.count * 4);
}

static void run_peak(void *context, const tn_part *part) {
  const peak_loop *peak = context;
  float sink[PEAK_SINK];
  (void)part;
  for (int i = 0; i < 20; i++) peak->loop(sink);
}

static double measure_fma(double seconds, const char *isa) {
  peak_loop peak = peak_of(isa);
  long rounds = 0;
  double start = now(), spent;
  do {
    run_together(run_peak, &peak);
    rounds += 20;
  } while ((spent = now() - start) < seconds);
  return spent / ((double)rounds * peak.operations * threads);
}

int main(int argc, char **argv) {
  char kind[32];
  double seconds, bytes;
  char line[256];
  const char *isa = "plain";
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) isa = "avx2";
  if (__builtin_cpu_supports("avx512f")) isa = "avx512";
#endif
  threads = argc > 1 ? atoi(argv[1]) : 1;
  if (threads > 1) stopwatch = CLOCK_MONOTONIC;
  pool = tn_pool_new(&heap, threads);
  if (!pool) return 1;
  while (fgets(line, sizeof line, stdin)) {
    bytes = 0;
    if (sscanf(line, "%lf %31s %lf", &seconds, kind, &bytes) < 2) continue;
    int wide = strcmp(isa, "avx512") == 0;
    printf("%.9g\n", strcmp(kind, "fma") == 0 ? measure_fma(seconds, isa)
                                              : measure_memory(kind, (size_t)bytes, seconds, wide));
    fflush(stdout);
  }
  tn_pool_free(pool);
  return 0;
}
