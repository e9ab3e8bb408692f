/* backend/cpu/isa/random.c: random numbers, each addressed by its index.
 *
 * Blocks of the generator differ in their counter alone, so as many are made
 * side by side as a vector has lanes: word w of all of them is one vector. At
 * the end squares of vectors are transposed, which puts each block's words
 * one after the other. */
#include "backend/cpu/isa/transpose.h"
#include "backend/cpu/iterator.h"
#include "base/rng.h"

#define BLOCK_WORDS 16
#define GROUP_WORDS (BLOCK_WORDS * TN_LANES) /* words made at once */
#define ROUNDS      8
#define BATCH       1024 /* words drawn at once: whole groups for every width */

/* ---- words ---- */
static inline VI rotated(VI v, int bits) { return vi_or(vi_shl(v, bits), vi_shr(v, 32 - bits)); }

TN_ALWAYS_INLINE void quarter_round(VI *a, VI *b, VI *c, VI *d) {
  *a = vi_add(*a, *b), *d = rotated(vi_xor(*d, *a), 16);
  *c = vi_add(*c, *d), *b = rotated(vi_xor(*b, *c), 12);
  *a = vi_add(*a, *b), *d = rotated(vi_xor(*d, *a), 8);
  *c = vi_add(*c, *d), *b = rotated(vi_xor(*b, *c), 7);
}

/* Constants, key, 64-bit block counter, stream 0; lane l has counter + l. Words are numbered in 64 bits, so
 * blocks in 60: after the last one comes the first. */
static inline void start(const tn_rng_key *key, uint64_t counter, VI *state) {
  static const uint32_t constant[4] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 };
  int32_t low[TN_LANES], high[TN_LANES];
  for (int l = 0; l < TN_LANES; l++) {
    uint64_t number = (counter + (uint64_t)l) & (UINT64_MAX / BLOCK_WORDS);
    low[l] = (int32_t)(uint32_t)number;
    high[l] = (int32_t)(uint32_t)(number >> 32);
  }
  for (int w = 0; w < 4; w++) state[w] = vi_set((int32_t)constant[w]);
  for (int w = 0; w < 8; w++) state[4 + w] = vi_set((int32_t)key->word[w]);
  state[12] = vi_load(low);
  state[13] = vi_load(high);
  state[14] = state[15] = vi_set(0);
}

/* Words of TN_LANES blocks from `block` on. */
static void draw_group(const tn_rng_key *key, uint64_t block, uint32_t *out) {
  VI first[BLOCK_WORDS], s[BLOCK_WORDS];
  start(key, block, first);
  for (int w = 0; w < BLOCK_WORDS; w++) s[w] = first[w];
  for (int r = 0; r < ROUNDS; r += 2) {
    quarter_round(&s[0], &s[4], &s[8], &s[12]), quarter_round(&s[1], &s[5], &s[9], &s[13]);
    quarter_round(&s[2], &s[6], &s[10], &s[14]), quarter_round(&s[3], &s[7], &s[11], &s[15]);
    quarter_round(&s[0], &s[5], &s[10], &s[15]), quarter_round(&s[1], &s[6], &s[11], &s[12]);
    quarter_round(&s[2], &s[7], &s[8], &s[13]), quarter_round(&s[3], &s[4], &s[9], &s[14]);
  }
  for (int w = 0; w < BLOCK_WORDS; w += TN_LANES) {
    VF square[TN_LANES];
    for (int i = 0; i < TN_LANES; i++) square[i] = vi_as_float(vi_add(s[w + i], first[w + i]));
    tn_transpose(square);
    for (int l = 0; l < TN_LANES; l++) vi_store((int32_t *)out + l * BLOCK_WORDS + w, vf_as_int(square[l]));
  }
}

/* At most BATCH words from word `first` on, wherever that is in its block; there is room for two groups
 * more. */
static const uint32_t *draw(const tn_rng_key *key, uint64_t first, int64_t count, uint32_t *room) {
  uint64_t skip = first % BLOCK_WORDS, block = first / BLOCK_WORDS;
  for (int64_t made = 0; made < (int64_t)skip + count; made += GROUP_WORDS, block += TN_LANES)
    draw_group(key, block, room + made);
  return room + skip;
}

/* ---- numbers ---- */
typedef struct random_job random_job;
typedef void (*batch_of)(const random_job *job, int64_t first, int64_t count, float *to);

struct random_job {
  const tn_kernel_call *call;
  batch_of make;
  tn_rng_key key;
  tn_cpu_iterator out;
  int64_t count;
};

static void uniform_batch(const random_job *job, int64_t first, int64_t count, float *to) {
  uint32_t room[BATCH + 2 * GROUP_WORDS];
  const uint32_t *word = draw(&job->key, job->call->attrs->index + (uint64_t)first, count, room);
  for (int64_t i = 0; i < count; i++) to[i] = tn_rng_uniform_of(word[i]);
}

static void normal_batch(const random_job *job, int64_t first, int64_t count, float *to) {
  uint32_t room[2 * BATCH + 2 * GROUP_WORDS];
  const uint32_t *word = draw(&job->key, job->call->attrs->index + 2 * (uint64_t)first, 2 * count, room);
  for (int64_t i = 0; i < count; i++) to[i] = tn_rng_normal_of(word[2 * i], word[2 * i + 1]);
}

/* A batch to where it belongs, by runs along the last axis. */
static void put(const random_job *job, tn_cpu_iterator *out, const float *batch, int64_t count) {
  int last = out->rank - 1;
  for (int64_t done = 0; done < count;) {
    int64_t run = tn_cpu_min(out->dim[last] - out->at[last], count - done), step = out->stride[0][last];
    float *to = (float *)job->call->out->data + out->offset[0];
    for (int64_t i = 0; i < run; i++) to[i * step] = batch[done + i];
    out->at[last] += run - 1;
    out->offset[0] += (run - 1) * step;
    tn_cpu_iterator_next(out, out->rank);
    done += run;
  }
}

static void random_share(void *context, const tn_cpu_part *part) {
  const random_job *job = context;
  int64_t begin, end;
  tn_cpu_iterator out;
  tn_cpu_iterator_copy(&out, &job->out);
  tn_cpu_share(job->count, BATCH, part, &begin, &end);
  if (begin >= end) return;
  tn_cpu_iterator_seek(&out, out.rank, begin);
  for (int64_t i = begin; i < end; i += BATCH) {
    float batch[BATCH];
    int64_t count = tn_cpu_min(end - i, BATCH);
    job->make(job, i, count, batch);
    put(job, &out, batch, count);
  }
}

static bool fill_with_random(const tn_kernel_call *call, batch_of make, double each) {
  random_job job = { .call = call, .make = make, .count = tn_cpu_elements(call->out) };
  if (job.count == 0) return true;
  job.key = tn_rng_key_of((uint64_t) * (const int64_t *)call->in[0].data);
  tn_cpu_iterator_one(&job.out, call->out);
  double cost = each * (double)job.count;
  tn_cpu_run_evenly(call, tn_cpu_threads_for(cost, call->threads), job.count / BATCH, cost, random_share,
                    &job);
  return true;
}

bool TN_CPU_NAME(uniform)(const tn_kernel_call *call) { return fill_with_random(call, uniform_batch, 1); }
bool TN_CPU_NAME(normal)(const tn_kernel_call *call) { return fill_with_random(call, normal_batch, 30); }
