/* bench/blas.c: OpenBLAS and oneDNN on the products that bench/tern.c multiplies.
 *
 *   SECONDS openblas M N K AT BT
 *   SECONDS onednn M N K AT BT
 *
 * Both take row-major matrices; AT and BT say that the operand is stored transposed. How many threads they
 * use follows from OMP_NUM_THREADS: Debian's OpenMP variants of both share one pool. */
#include <cblas.h>
#include <dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static clockid_t stopwatch = CLOCK_PROCESS_CPUTIME_ID;

static double now(void) {
  struct timespec t;
  clock_gettime(stopwatch, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *matrix(long rows, long columns, unsigned state) {
  size_t bytes = ((size_t)(rows * columns) * sizeof(float) + 127) / 64 * 64;
  float *at = aligned_alloc(64, bytes);
  if (!at) exit(1);
  for (long i = 0; i < rows * columns; i++) {
    state = state * 1664525u + 1013904223u;
    at[i] = (float)(state >> 8) * 0x1p-23f - 1;
  }
  return at;
}

static void multiply(int onednn, long m, long n, long k, int at, int bt, const float *a, const float *b,
                     float *c) {
  long lda = at ? m : k, ldb = bt ? k : n;
  if (onednn) {
    if (dnnl_sgemm(at ? 'T' : 'N', bt ? 'T' : 'N', m, n, k, 1, a, lda, b, ldb, 0, c, n) != dnnl_success)
      exit(1);
    return;
  }
  cblas_sgemm(CblasRowMajor, at ? CblasTrans : CblasNoTrans, bt ? CblasTrans : CblasNoTrans, (int)m, (int)n,
              (int)k, 1, a, (int)lda, b, (int)ldb, 0, c, (int)n);
}

int main(int argc, char **argv) {
  char line[256], who[32];
  if (argc > 1 && atoi(argv[1]) > 1) stopwatch = CLOCK_MONOTONIC;
  while (fgets(line, sizeof line, stdin)) {
    double seconds, spent;
    long m, n, k, rounds = 0, batch = 1;
    int at, bt;
    if (sscanf(line, "%lf %31s %ld %ld %ld %d %d", &seconds, who, &m, &n, &k, &at, &bt) != 7) continue;
    int onednn = strcmp(who, "onednn") == 0;
    float *a = matrix(m, k, 1), *b = matrix(k, n, 2), *c = matrix(m, n, 3);
    multiply(onednn, m, n, k, at, bt, a, b, c);
    multiply(onednn, m, n, k, at, bt, a, b, c);
    if ((double)m * (double)n * (double)k < 1e6) batch = 100;
    double start = now();
    do {
      for (long i = 0; i < batch; i++) multiply(onednn, m, n, k, at, bt, a, b, c);
      rounds += batch;
    } while ((spent = now() - start) < seconds);
    printf("%.9g\n", spent / (double)rounds);
    fflush(stdout);
    free(a), free(b), free(c);
  }
  return 0;
}
