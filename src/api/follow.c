/* api/follow.c: reports a training run to its followers. */
#include "api/internal.h"
#include "base/sha256.h"

/* A digest as the public header shows it. */
typedef char hexadecimal[2 * TN_SHA256_BYTES + 1];

static const char *hex(const uint8_t digest[TN_SHA256_BYTES], hexadecimal out) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < TN_SHA256_BYTES; i++) {
    out[2 * i] = digits[digest[i] >> 4];
    out[2 * i + 1] = digits[digest[i] & 15];
  }
  out[2 * TN_SHA256_BYTES] = 0;
  return out;
}

/* ---- what decides the bits besides program, data and seed ---- */

static void hash_str(tn_sha256 *hash, tn_str text) {
  uint64_t length = text.len;
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(length >> (8 * i));
  tn_sha256_update(hash, bytes, sizeof bytes);
  tn_sha256_update(hash, text.at, text.len);
}

static void hash_givens(tn_sha256 *hash, const char *kind, const tn_given *givens, size_t count) {
  for (size_t i = 0; i < count; i++) {
    hash_str(hash, tn_str_of(kind));
    hash_str(hash, givens[i].name);
    hash_str(hash, givens[i].json);
    if (givens[i].data.buffer) tn_view_sha256_update(&givens[i].data.view, hash);
  }
}

/* NULL where nothing was given. */
static const char *hash_given(const tn_host *host, hexadecimal out) {
  tn_sha256 hash;
  uint8_t digest[TN_SHA256_BYTES];
  if (host->input_count + host->param_count + host->weight_count == 0) return NULL;
  tn_sha256_init(&hash);
  hash_givens(&hash, "input", host->inputs, host->input_count);
  hash_givens(&hash, "param", host->params, host->param_count);
  hash_givens(&hash, "weights", host->weights, host->weight_count);
  tn_sha256_final(&hash, digest);
  return hex(digest, out);
}

/* ---- the three moments ---- */

/* NULL when there are none, or no memory for them. */
static tern_hyperparameter *tell_hypers(tn_heap *heap, const tn_run_facts *facts) {
  tern_hyperparameter *told = tn_heap_alloc(heap, facts->hyper_count * sizeof *told);
  for (size_t i = 0; told && i < facts->hyper_count; i++)
    told[i] = (tern_hyperparameter){ facts->hypers[i].name.at, facts->hypers[i].value.at };
  return told;
}

static void begin(void *context, const tn_run_facts *facts) {
  tn_followed *followed = context;
  tn_heap *heap = &followed->session->heap;
  hexadecimal source, data, given;
  tern_hyperparameter *hypers = tell_hypers(heap, facts);
  tern_run_facts told = { .program = facts->program.at,
                          .source = facts->source.at,
                          .source_length = facts->source.len,
                          .data = facts->data.len > 0 ? facts->data.at : NULL,
                          .source_sha256 = hex(facts->source_sha256, source),
                          .data_sha256 = facts->data.len > 0 ? hex(facts->data_sha256, data) : NULL,
                          .given_sha256 = hash_given(&followed->session->host, given),
                          .seed = facts->seed,
                          .step = facts->step,
                          .steps = facts->steps,
                          .ranks = facts->ranks,
                          .device = facts->device,
                          .hyperparameters = hypers,
                          .hyperparameter_count = hypers ? facts->hyper_count : 0 };
  followed->steps = facts->steps;
  followed->epochs_per_step = facts->epochs_per_step;
  followed->data_format = facts->data_format;
  followed->metrics = facts->metrics;
  followed->metric_count = facts->metric_count;
  for (size_t i = 0; i < followed->run->follower_count; i++) {
    const tern_follower *f = &followed->run->followers[i];
    if (f->begin) f->begin(f->context, &told);
  }
  tn_heap_free(heap, hypers, facts->hyper_count * sizeof *hypers);
}

static void step(void *context, const tn_history_row *row) {
  tn_followed *followed = context;
  tern_metric metrics[TN_METRIC_LIMIT], tests[TN_METRIC_LIMIT];
  tern_step told = { .step = row->step,
                     .steps = followed->steps,
                     .loss = row->loss,
                     .evaluated = row->evaluated,
                     .eval_loss = row->eval_loss,
                     .eval_accuracy = (double)__builtin_nanf(""),
                     .metrics = metrics,
                     .test_metrics = tests,
                     .epoch = (double)(row->step + 1) * followed->epochs_per_step,
                     .epochs = (double)followed->steps * followed->epochs_per_step };
  for (size_t i = 0; row->evaluated && i < followed->metric_count; i++) {
    const tn_metric *metric = &followed->metrics[i];
    metrics[told.metric_count++] = (tern_metric){ metric->name.at, row->values[i] };
    if (metric->kind == TN_METRIC_ACCURACY) told.eval_accuracy = row->values[i];
  }
  for (size_t i = 0; row->tested && i < followed->metric_count; i++)
    tests[told.test_metric_count++] = (tern_metric){ followed->metrics[i].name.at, row->test_values[i] };
  for (size_t i = 0; i < followed->run->follower_count; i++) {
    const tern_follower *f = &followed->run->followers[i];
    if (f->step) f->step(f->context, &told);
  }
}

static void end(void *context, const char *status, int64_t at, const uint8_t weights_sha256[32]) {
  tn_followed *followed = context;
  hexadecimal weights;
  tern_run_end told = { .status = status,
                        .step = at,
                        .weights_sha256 = hex(weights_sha256, weights),
                        .data_format = followed->data_format };
  for (size_t i = 0; i < followed->run->follower_count; i++) {
    const tern_follower *f = &followed->run->followers[i];
    if (f->end) f->end(f->context, &told);
  }
}

tn_loop_watch tn_api_watch(tn_followed *followed) {
  tn_loop_watch watch = { .context = followed };
  for (size_t i = 0; i < followed->run->follower_count; i++) {
    const tern_follower *f = &followed->run->followers[i];
    watch.begin = begin; /* it learns how many steps there are */
    if (f->step) watch.step = step;
    if (f->end) watch.end = end;
    watch.wants_hashes = watch.wants_hashes || f->begin;
  }
  return watch;
}
