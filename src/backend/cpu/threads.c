/* backend/cpu/threads.c: the only place where a second thread begins.
 *
 * OpenMP keeps one pool for the process and starts it at the first parallel
 * region; a program whose kernels are all small never reaches one. Parts are
 * numbered, so what a part does follows from its number and never from which
 * thread came first. */
#include "backend/cpu/internal.h"

#ifdef _OPENMP
#include <omp.h>

void tn_cpu_parallel(int threads, tn_cpu_job job, void *context) {
  if (threads <= 1) {
    job(context, 0, 1);
    return;
  }
  /* The runtime may give fewer than asked for; the parts are those that came. */
#pragma omp parallel num_threads(threads)
  job(context, omp_get_thread_num(), omp_get_num_threads());
}
#else
void tn_cpu_parallel(int threads, tn_cpu_job job, void *context) {
  (void)threads;
  job(context, 0, 1);
}
#endif
