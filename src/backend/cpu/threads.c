/* backend/cpu/threads.c: the only place where a second thread begins.
 *
 * OpenMP keeps one pool for the process and starts it at the first parallel
 * region; a program whose kernels are all small never reaches one. Parts are
 * numbered, so what a part does follows from its number and never from which
 * thread came first. */
#include "backend/cpu/internal.h"

#define PART_COST  2e6       /* nanoseconds after which a thread asks whether to stop */
#define PART_LIMIT (1 << 28) /* parts */

#ifdef _OPENMP
#include <omp.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"

/* clang's library marks its process in shared memory, to find a second copy of itself, and takes the mark
 * away at the end. Neither can be done any more once a program is guarded; asking it anything brings the
 * first about, and the mark has then served. */
void tn_backend_prepare_threads(void) {
  static const char name[] = "/dev/shm/__KMP_REGISTERED_LIB_";
  char mark[sizeof name + 2 * TN_NUMBER_BYTES] = { 0 };
  (void)omp_get_num_procs();
  memcpy(mark, name, sizeof name - 1);
  size_t length = sizeof name - 1;
  length += tn_number_print_u64((uint64_t)getpid(), mark + length);
  mark[length++] = '_';
  length += tn_number_print_u64((uint64_t)getuid(), mark + length);
  mark[length] = 0;
  (void)unlink(mark);
}

#else
void tn_backend_prepare_threads(void) {}
#endif

/* Some parts of a job, one after another. The first is not asked about: most jobs have no second. */
static void run_parts(tn_stop *stop, int pieces, int thread, int threads, tn_cpu_job job, void *context) {
  tn_cpu_part part = { .number = thread * pieces, .count = threads * pieces, .thread = thread };
  for (int left = pieces; left > 0; left--, part.number++) {
    if (left < pieces && tn_stop_asked(stop)) return;
    job(context, &part);
  }
}

/* Each thread gets so many parts; the runtime may give fewer threads than asked for. */
static void run(tn_stop *stop, int threads, int pieces, tn_cpu_job job, void *context) {
#ifdef _OPENMP
  if (threads > 1) {
#pragma omp parallel num_threads(threads)
    run_parts(stop, pieces, omp_get_thread_num(), omp_get_num_threads(), job, context);
    return;
  }
#endif
  (void)threads;
  run_parts(stop, pieces, 0, 1, job, context);
}

void tn_cpu_parallel(int threads, tn_cpu_job job, void *context) { run(NULL, threads, 1, job, context); }

void tn_cpu_run(const tn_kernel_call *call, int threads, double cost, tn_cpu_job job, void *context) {
  double pieces = call->stop ? cost / ((threads > 1 ? threads : 1) * PART_COST) : 1;
  int most = PART_LIMIT / (threads > 1 ? threads : 1);
  run(call->stop, threads, pieces < 2 ? 1 : pieces < most ? (int)pieces : most, job, context);
}
