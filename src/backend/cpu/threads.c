/* backend/cpu/threads.c: how kernels cut their work into parts.
 *
 * base/pool.h runs them. Parts are numbered, so what a part does follows from its
 * number and never from which thread does it. */
#include "backend/cpu/internal.h"

#define PART_COST  2e6       /* nanoseconds after which a thread asks whether to stop */
#define PART_LIMIT (1 << 28) /* parts */

static void run(const tn_kernel_call *call, int threads, int pieces, double cost, tn_cpu_job job,
                void *context) {
  if (threads < 1) threads = 1;
  tn_pool_run(call->pool, &(tn_work){ .run = job,
                                      .context = context,
                                      .cost = cost,
                                      .threads = threads,
                                      .pieces = pieces,
                                      .stop = pieces > 1 ? call->stop : NULL });
}

void tn_cpu_parallel(const tn_kernel_call *call, int threads, double cost, tn_cpu_job job, void *context) {
  run(call, threads, 1, cost, job, context);
}

void tn_cpu_run(const tn_kernel_call *call, int threads, double cost, tn_cpu_job job, void *context) {
  if (threads < 1) threads = 1;
  double pieces = call->stop ? cost / (threads * PART_COST) : 1;
  int most = PART_LIMIT / threads;
  run(call, threads, pieces < 2 ? 1 : pieces < most ? (int)pieces : most, cost, job, context);
}
