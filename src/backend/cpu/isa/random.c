/* backend/cpu/isa/random.c: random numbers, each addressed by its place. */
#include "backend/cpu/isa/isa.h"
#include "backend/cpu/walk.h"
#include "base/rng.h"

#define BATCH 512   /* words drawn at once */

typedef struct {
  const tn_kernel_call *call;
  tn_rng_key key;
  tn_cpu_walk out;
  int64_t count;
} random_job;

static void uniform_batch(const random_job *job, int64_t first, int64_t count, float *to) {
  uint32_t words[BATCH];
  tn_rng_words(&job->key, job->call->attrs->index + (uint64_t)first, (size_t)count, words);
  for (int64_t i = 0; i < count; i++) to[i] = tn_rng_uniform_of(words[i]);
}

static void normal_batch(const random_job *job, int64_t first, int64_t count, float *to) {
  uint32_t words[2 * BATCH];
  tn_rng_words(&job->key, job->call->attrs->index + 2 * (uint64_t)first, 2 * (size_t)count, words);
  for (int64_t i = 0; i < count; i++) to[i] = tn_rng_normal_of(words[2 * i], words[2 * i + 1]);
}

static void random_share(void *context, int part, int parts) {
  const random_job *job = context;
  int64_t begin, end;
  tn_cpu_walk out = job->out;
  tn_cpu_share(job->count, BATCH, part, parts, &begin, &end);
  if (begin >= end) return;
  tn_cpu_walk_seek(&out, out.rank, begin);
  for (int64_t i = begin; i < end; i += BATCH) {
    float batch[BATCH];
    int64_t count = tn_cpu_min(end - i, BATCH);
    if (job->call->op == TN_OP_UNIFORM) uniform_batch(job, i, count, batch);
    else normal_batch(job, i, count, batch);
    for (int64_t k = 0; k < count; k++, tn_cpu_walk_next(&out, out.rank))
      ((float *)job->call->out->data)[out.offset[0]] = batch[k];
  }
}

static bool draw(const tn_kernel_call *call, double cost) {
  random_job job = { .call = call, .count = tn_view_count(call->out) };
  if (job.count == 0) return true;
  job.key = tn_rng_key_of((uint64_t) * (const int64_t *)call->in[0].data);
  tn_cpu_walk_init(&job.out, call->out);
  tn_cpu_walk_add(&job.out, call->out);
  tn_cpu_walk_merge(&job.out);
  tn_cpu_parallel(tn_cpu_threads_for(cost * (double)job.count, call->threads), random_share, &job);
  return true;
}

bool cpu_uniform(const tn_kernel_call *call) { return draw(call, 3); }
bool cpu_normal(const tn_kernel_call *call) { return draw(call, 40); }
