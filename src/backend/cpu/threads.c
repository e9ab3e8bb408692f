/* backend/cpu/threads.c: the only place where a second thread begins.
 *
 * OpenMP keeps one pool for the process and starts it at the first parallel
 * region; a program whose kernels are all small never reaches one. Parts are
 * numbered, so what a part does follows from its number and never from which
 * thread came first. */
#include "backend/cpu/internal.h"

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
void tn_backend_prepare_threads(void) {}

void tn_cpu_parallel(int threads, tn_cpu_job job, void *context) {
  (void)threads;
  job(context, 0, 1);
}
#endif
