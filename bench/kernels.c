/* bench/kernels.c: how fast the kernels of `cpu` are, as a share of what the machine can do.
 *
 *   bench_kernels [--isa NAME] [--threads N] [--seconds S] [WORD...]
 *
 * Runs the workloads whose name contains one of the words (all without words).
 * The limits come first, measured by the same program: fused multiply-adds per
 * second in registers, and bytes per second from caches and memory. A figure is
 * the best of several repetitions, with the median beside it: on a machine that
 * does other things too the best says what the kernel can do and the distance
 * between the two how noisy the machine is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/backend.h"
#include "limits.h"

/* One thread is measured by the time it was given, so that what else the machine does counts little. */
static clockid_t watch = CLOCK_PROCESS_CPUTIME_ID;

static double now(void) {
  struct timespec t;
  clock_gettime(watch, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct {
  const tn_backend *backend;
  int threads;
  double seconds; /* for one workload */
  char **words;
  int word_count;
  double peak;   /* floating-point operations per second, one thread */
  double memory; /* bytes per second, read and written, one thread */
} bench;

/* ---- measuring ---- */
typedef struct {
  double best, median; /* seconds for one repetition */
  double share;        /* median of (the yardstick's time / the work's time), samples in turn */
} timing;

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct {
  void (*work)(void *);
  void *context;
} task;

static double time_of(const task *t, long repeat) {
  double start = now();
  for (long i = 0; i < repeat; i++) t->work(t->context);
  return (now() - start) / (double)repeat;
}

/* So many repetitions that the clock is good enough. */
static long repetitions(const task *t, double seconds) {
  long repeat = 1;
  while (time_of(t, repeat) * (double)repeat < (seconds < 4e-4 ? seconds : 2e-4)) repeat *= 4;
  return repeat;
}

/* Samples of the work and of a yardstick take turns, so that both see the same machine. */
#define SAMPLES 64
static timing measure(task work, const task *yardstick, double seconds) {
  double sample[SAMPLES], share[SAMPLES], end = now() + seconds;
  int samples = 0;
  long repeat = repetitions(&work, seconds);
  while (samples < SAMPLES && (samples < 5 || now() < end)) {
    double measure_by = yardstick ? time_of(yardstick, 1) : 0;
    sample[samples] = time_of(&work, repeat);
    share[samples] = measure_by / sample[samples];
    samples++;
  }
  qsort(sample, (size_t)samples, sizeof sample[0], by_size);
  qsort(share, (size_t)samples, sizeof share[0], by_size);
  return (timing){ sample[0], sample[samples / 2], share[samples / 2] };
}

/* ---- limits ---- */
/* The loop that does nothing but fused multiply-adds, and how many operations that is. */
static task peak_task(const bench *b, double *operations) {
  static float sink[PEAK_SINK];
  peak_loop peak = peak_of(b->backend->isa);
  *operations = peak.operations;
  return (task){ peak.loop, sink };
}

static double measure_peak(const bench *b) {
  double operations;
  task t = peak_task(b, &operations);
  return operations / measure(t, NULL, b->seconds).best;
}

typedef struct {
  float *a, *b, *c;
  long count;
} triad;

static void run_triad(void *context) {
  triad *t = context;
  float *restrict a = t->a;
  const float *restrict b = t->b, *restrict c = t->c;
  for (long i = 0; i < t->count; i++) a[i] = b[i] + 3.0f * c[i];
}

/* Bytes per second of a[i] = b[i] + 3 c[i], counting what is read and written by the program. */
static double measure_triad(const bench *b, long bytes) {
  triad t = { .count = bytes / 12 };
  float *memory = aligned_alloc(64, (size_t)(t.count / 16 + 1) * 64 * 3);
  if (!memory) return 1;
  t.a = memory, t.b = memory + t.count, t.c = memory + 2 * t.count;
  for (long i = 0; i < 3 * t.count; i++) memory[i] = (float)(i & 255);
  double rate = (double)t.count * 12 / measure((task){ run_triad, &t }, NULL, b->seconds).best;
  free(memory);
  return rate;
}

/* ---- one call of a kernel ---- */
#define OPERANDS 8
typedef struct {
  const bench *bench;
  tn_kernel_call call;
  tn_attrs attrs;
  tn_view in[OPERANDS], out;
  tn_fault fault;
  void *memory[OPERANDS + 2];
  int memories;
  size_t flush;
} workload;

static void *memory_for(workload *w, size_t bytes) {
  void *at = aligned_alloc(64, (bytes + 127) / 64 * 64);
  if (!at) exit(1);
  memset(at, 0, bytes);
  return w->memory[w->memories++] = at;
}

static tn_view tensor(workload *w, tn_dtype dtype, int rank, const int64_t *dims) {
  tn_shape shape = tn_shape_of(dims, rank);
  int64_t count = tn_shape_count(&shape);
  tn_view view = tn_view_make(memory_for(w, (size_t)count * tn_dtype_bytes(dtype)), dtype, &shape);
  uint32_t state = 12345;
  for (int64_t i = 0; i < count && dtype == TN_F32; i++) {
    state = state * 1664525u + 1013904223u;
    ((float *)view.data)[i] = (float)(state >> 8) * 0x1p-23f - 1.0f;
  }
  return view;
}

#define DIMS(...)                                                                                            \
  (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / 8), (int64_t[]) { __VA_ARGS__ }

static void operand(workload *w, tn_view view) { w->in[w->call.count++] = view; }

static void begin(workload *w, const bench *b, tn_op op) {
  memset(w, 0, sizeof *w);
  w->bench = b;
  w->call = (tn_kernel_call){
    .op = op, .attrs = &w->attrs, .in = w->in, .out = &w->out, .threads = b->threads, .fault = &w->fault
  };
}

static void run_call(void *context) {
  workload *w = context;
  if (!tn_backend_run(w->bench->backend, &w->call)) exit(1);
}

static bool wanted(const bench *b, const char *name) {
  for (int i = 0; i < b->word_count; i++)
    if (strstr(name, b->words[i])) return true;
  return b->word_count == 0;
}

/* `operations` and `bytes` of one call; the larger share is the bound that matters. */
static void finish(workload *w, const char *name, double operations, double bytes) {
  const bench *b = w->bench;
  if (wanted(b, name)) {
    size_t scratch =
        b->backend->scratch(b->backend, w->call.op, &w->attrs, w->in, w->call.count, &w->out, b->threads);
    if (scratch) w->call.scratch = memory_for(w, scratch);
    run_call(w);
    double peak_operations;
    task peak = peak_task(b, &peak_operations);
    timing t = measure((task){ run_call, w }, operations > 0 ? &peak : NULL, b->seconds);
    printf("%-34s %11.3f us  (median %11.3f)", name, t.best * 1e6, t.median * 1e6);
    if (operations > 0)
      printf("  %8.2f GFLOP/s %5.1f%% of peak", operations / t.best * 1e-9,
             100 * t.share * operations / peak_operations / b->threads);
    if (bytes > 0)
      printf("  %7.2f GB/s %5.1f%% of memory", bytes / t.best * 1e-9, 100 * bytes / t.best / b->memory);
    printf("\n");
    fflush(stdout);
  }
  for (int i = 0; i < w->memories; i++) free(w->memory[i]);
}

/* ---- workloads ---- */
static void matmul(const bench *b, int64_t m, int64_t n, int64_t k, bool ta, bool tb) {
  workload w;
  char name[128];
  snprintf(name, sizeof name, "matmul %ldx%ldx%ld%s%s", (long)m, (long)n, (long)k, ta ? " xT" : "",
           tb ? " yT" : "");
  if (!wanted(b, name)) return;
  begin(&w, b, TN_OP_MATMUL);
  int swap[] = { 1, 0 };
  tn_view x = ta ? tensor(&w, TN_F32, DIMS(k, m)) : tensor(&w, TN_F32, DIMS(m, k));
  tn_view y = tb ? tensor(&w, TN_F32, DIMS(n, k)) : tensor(&w, TN_F32, DIMS(k, n));
  operand(&w, ta ? tn_view_permute(&x, swap) : x);
  operand(&w, tb ? tn_view_permute(&y, swap) : y);
  w.out = tensor(&w, TN_F32, DIMS(m, n));
  finish(&w, name, 2.0 * (double)m * (double)n * (double)k, 0);
}

static void elementwise(const bench *b, tn_op op, int operands, int64_t count) {
  workload w;
  char name[128];
  snprintf(name, sizeof name, "%s %ld", tn_op_sig_of(op)->name, (long)count);
  if (!wanted(b, name)) return;
  begin(&w, b, op);
  for (int k = 0; k < operands; k++) operand(&w, tensor(&w, TN_F32, DIMS(count)));
  w.out = tensor(&w, TN_F32, DIMS(count));
  finish(&w, name, 0, 4.0 * (double)count * (operands + 1));
}

static void bias(const bench *b, int64_t rows, int64_t columns) {
  workload w;
  char name[128];
  snprintf(name, sizeof name, "add bias %ldx%ld", (long)rows, (long)columns);
  if (!wanted(b, name)) return;
  begin(&w, b, TN_OP_ADD);
  operand(&w, tensor(&w, TN_F32, DIMS(rows, columns)));
  operand(&w, tensor(&w, TN_F32, DIMS(columns)));
  w.out = tensor(&w, TN_F32, DIMS(rows, columns));
  finish(&w, name, 0, 8.0 * (double)rows * (double)columns);
}

/* relu(a * b + c) * d - e */
static void fused(const bench *b, int64_t count) {
  workload w;
  char name[128];
  snprintf(name, sizeof name, "fused relu(a*b+c)*d-e %ld", (long)count);
  if (!wanted(b, name)) return;
  begin(&w, b, TN_OP_FUSED);
  for (int k = 0; k < 5; k++) operand(&w, tensor(&w, TN_F32, DIMS(count)));
  w.out = tensor(&w, TN_F32, DIMS(count));
  tn_fused *program = memory_for(&w, sizeof(tn_fused) + 5 * sizeof(tn_fused_step));
  program->operand_count = 5;
  program->step_count = 5;
  program->step[0] = (tn_fused_step){ .op = TN_OP_MUL, .in = { 0, 1 } };
  program->step[1] = (tn_fused_step){ .op = TN_OP_ADD, .in = { 5, 2 } };
  program->step[2] = (tn_fused_step){ .op = TN_OP_RELU, .in = { 6 } };
  program->step[3] = (tn_fused_step){ .op = TN_OP_MUL, .in = { 7, 3 } };
  program->step[4] = (tn_fused_step){ .op = TN_OP_SUB, .in = { 8, 4 } };
  w.attrs.program = program;
  finish(&w, name, 0, 24.0 * (double)count);
}

static void reduction(const bench *b, tn_op op, int64_t rows, int64_t columns, int axis) {
  workload w;
  char name[128];
  snprintf(name, sizeof name, "%s %ldx%ld axis %d", tn_op_sig_of(op)->name, (long)rows, (long)columns, axis);
  if (!wanted(b, name)) return;
  begin(&w, b, op);
  operand(&w, tensor(&w, TN_F32, DIMS(rows, columns)));
  w.attrs.axis_count = axis == 2 ? 2 : 1;
  w.attrs.axes[0] = axis == 2 ? 0 : axis;
  w.attrs.axes[1] = 1;
  w.attrs.axis = axis;
  tn_dtype dtype = op == TN_OP_ARGMAX ? TN_I32 : TN_F32;
  if (axis == 2)
    w.out = tensor(&w, dtype, 0, NULL);
  else
    w.out = tensor(&w, dtype, DIMS(axis ? rows : columns));
  finish(&w, name, 0, 4.0 * (double)rows * (double)columns);
}

static void along(const bench *b, tn_op op, int64_t rows, int64_t columns, int axis) {
  workload w;
  char name[128];
  snprintf(name, sizeof name, "%s %ldx%ld axis %d", tn_op_sig_of(op)->name, (long)rows, (long)columns, axis);
  if (!wanted(b, name)) return;
  begin(&w, b, op);
  operand(&w, tensor(&w, TN_F32, DIMS(rows, columns)));
  w.attrs.axis = axis;
  w.out = tensor(&w, TN_F32, DIMS(rows, columns));
  finish(&w, name, 0, 8.0 * (double)rows * (double)columns);
}

static void transposition(const bench *b, int64_t rows, int64_t columns) {
  workload w;
  char name[128];
  snprintf(name, sizeof name, "transpose %ldx%ld", (long)rows, (long)columns);
  if (!wanted(b, name)) return;
  begin(&w, b, TN_OP_TRANSPOSE);
  operand(&w, tensor(&w, TN_F32, DIMS(rows, columns)));
  w.attrs.axis_count = 2;
  w.attrs.axes[0] = 1;
  w.out = tensor(&w, TN_F32, DIMS(columns, rows));
  finish(&w, name, 0, 8.0 * (double)rows * (double)columns);
}

static void rows_by_index(const bench *b, tn_op op, int64_t table, int64_t width, int64_t indices) {
  workload w;
  char name[128];
  snprintf(name, sizeof name, "%s %ldx%ld by %ld", tn_op_sig_of(op)->name, (long)table, (long)width,
           (long)indices);
  if (!wanted(b, name)) return;
  begin(&w, b, op);
  operand(&w, tensor(&w, TN_F32, DIMS(table, width)));
  tn_view index = tensor(&w, TN_I32, DIMS(indices));
  for (int64_t i = 0; i < indices; i++)
    ((int32_t *)index.data)[i] = (int32_t)((uint64_t)i * 2654435761u % (uint64_t)table);
  operand(&w, index);
  if (op == TN_OP_GATHER)
    w.out = tensor(&w, TN_F32, DIMS(indices, width));
  else {
    operand(&w, tensor(&w, TN_F32, DIMS(indices, width)));
    if (op == TN_OP_ROW_UPDATE) operand(&w, tensor(&w, TN_F32, 0, NULL));
    w.out = w.in[0];
  }
  finish(&w, name, 0, 8.0 * (double)indices * (double)width);
}

static void loss(const bench *b, int64_t rows, int64_t classes) {
  workload w;
  char name[128];
  snprintf(name, sizeof name, "cross_entropy %ldx%ld", (long)rows, (long)classes);
  if (!wanted(b, name)) return;
  begin(&w, b, TN_OP_CROSS_ENTROPY);
  operand(&w, tensor(&w, TN_F32, DIMS(rows, classes)));
  operand(&w, tensor(&w, TN_I32, DIMS(rows)));
  w.out = tensor(&w, TN_F32, 0, NULL);
  finish(&w, name, 0, 4.0 * (double)rows * (double)classes);
}

static void random_numbers(const bench *b, tn_op op, int64_t count) {
  workload w;
  char name[128];
  snprintf(name, sizeof name, "%s %ld", tn_op_sig_of(op)->name, (long)count);
  if (!wanted(b, name)) return;
  begin(&w, b, op);
  operand(&w, tensor(&w, TN_I64, 0, NULL));
  w.out = tensor(&w, TN_F32, DIMS(count));
  finish(&w, name, 0, 4.0 * (double)count);
}

static void run_all(const bench *b) {
  matmul(b, 4, 2, 8, false, false);
  matmul(b, 8, 2, 4, true, false);
  matmul(b, 4, 8, 2, false, true);
  matmul(b, 1, 1, 8, false, false);
  for (int64_t s = 16; s <= 2048; s *= 2) matmul(b, s, s, s, false, false);
  for (int64_t s = 256; s <= 1024; s *= 2) matmul(b, s, s, s, true, false), matmul(b, s, s, s, false, true);
  for (int64_t batch = 32; batch <= 256; batch = batch == 32 ? 64 : batch * 4) {
    matmul(b, batch, 512, 784, false, false);
    matmul(b, batch, 512, 512, false, false);
    matmul(b, batch, 10, 512, false, false);
    matmul(b, batch, 512, 512, false, true);
    matmul(b, batch, 512, 10, false, true);
    matmul(b, 784, 512, batch, true, false);
    matmul(b, 512, 512, batch, true, false);
    matmul(b, 512, 10, batch, true, false);
  }
  matmul(b, 256, 4096, 1024, false, false);
  matmul(b, 1, 4096, 4096, false, false);
  matmul(b, 4096, 1, 4096, false, false);
  matmul(b, 1, 1024, 1024, false, false);
  matmul(b, 1024, 1, 1024, false, false);
  for (int64_t n = 8; n <= 10000000; n *= n < 10000 ? 8 : n < 100000 ? 10 : 25)
    elementwise(b, TN_OP_ADD, 2, n);
  elementwise(b, TN_OP_ADD, 2, 10000000);
  elementwise(b, TN_OP_RELU, 1, 10000);
  elementwise(b, TN_OP_EXP, 1, 64000);
  elementwise(b, TN_OP_LOG, 1, 64000);
  elementwise(b, TN_OP_TANH, 1, 64000);
  elementwise(b, TN_OP_SIGMOID, 1, 64000);
  elementwise(b, TN_OP_ERF, 1, 64000);
  elementwise(b, TN_OP_SIN, 1, 64000);
  elementwise(b, TN_OP_POW, 2, 64000);
  bias(b, 4, 2), bias(b, 64, 10), bias(b, 64, 512), bias(b, 4096, 1024);
  fused(b, 16), fused(b, 1000), fused(b, 10000), fused(b, 10000000);
  reduction(b, TN_OP_SUM, 4096, 4096, 2), reduction(b, TN_OP_SUM, 1, 1000, 2),
      reduction(b, TN_OP_SUM, 4, 2, 2);
  reduction(b, TN_OP_SUM, 4096, 1024, 1), reduction(b, TN_OP_SUM, 4096, 1024, 0);
  reduction(b, TN_OP_SUM, 64, 512, 1), reduction(b, TN_OP_SUM, 64, 512, 0),
      reduction(b, TN_OP_SUM, 64, 10, 0);
  reduction(b, TN_OP_SUM, 4, 2, 0), reduction(b, TN_OP_MAX, 64, 1000, 1),
      reduction(b, TN_OP_MAX, 64, 1000, 0);
  reduction(b, TN_OP_MAX, 4096, 1024, 1), reduction(b, TN_OP_ARGMAX, 64, 10, 1),
      reduction(b, TN_OP_ARGMAX, 64, 1000, 1);
  along(b, TN_OP_SOFTMAX, 4096, 4096, 1), along(b, TN_OP_SOFTMAX, 64, 1000, 1),
      along(b, TN_OP_SOFTMAX, 64, 10, 1);
  along(b, TN_OP_SOFTMAX, 4, 2, 1), along(b, TN_OP_SOFTMAX, 1024, 128, 1),
      along(b, TN_OP_SOFTMAX, 1000, 64, 0);
  along(b, TN_OP_LOG_SOFTMAX, 64, 1000, 1);
  loss(b, 4, 2), loss(b, 64, 10), loss(b, 64, 1000);
  along(b, TN_OP_CUMSUM, 1000, 1000, 0), along(b, TN_OP_CUMSUM, 1000, 1000, 1);
  transposition(b, 64, 64), transposition(b, 1024, 1024), transposition(b, 4096, 4096);
  rows_by_index(b, TN_OP_GATHER, 10000, 64, 4096), rows_by_index(b, TN_OP_GATHER, 20, 8, 24);
  rows_by_index(b, TN_OP_SCATTER_ADD, 10000, 64, 4096), rows_by_index(b, TN_OP_ROW_UPDATE, 10000, 64, 4096);
  rows_by_index(b, TN_OP_ROW_UPDATE, 20, 8, 24);
  random_numbers(b, TN_OP_UNIFORM, 64000), random_numbers(b, TN_OP_NORMAL, 64000);
}

int main(int argc, char **argv) {
  bench b = { .threads = 1, .seconds = 0.1 };
  const char *isa = NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--isa") == 0 && i + 1 < argc)
      isa = argv[++i];
    else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
      b.threads = atoi(argv[++i]);
    else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
      b.seconds = atof(argv[++i]);
    else
      argv[b.word_count++] = argv[i];
  }
  b.words = argv;
  if (b.threads > 1) watch = CLOCK_MONOTONIC;
  b.backend = tn_backend_cpu(isa);
  if (!b.backend) {
    fprintf(stderr, "this machine has no %s\n", isa);
    return 2;
  }
  b.peak = measure_peak(&b);
  b.memory = measure_triad(&b, 200000000);
  printf("%s, %d thread%s; one thread: %.1f GFLOP/s, triad %.1f GB/s in L1, %.1f in L2, %.1f in L3, %.1f in "
         "memory\n",
         b.backend->isa, b.threads, b.threads == 1 ? "" : "s", b.peak * 1e-9, measure_triad(&b, 24000) * 1e-9,
         measure_triad(&b, 600000) * 1e-9, measure_triad(&b, 8000000) * 1e-9, b.memory * 1e-9);
  run_all(&b);
  return 0;
}
