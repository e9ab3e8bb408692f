/* train/batch.c: what a step is given.
 *
 * One generator draws everything for training, step after step. With a data set
 * it draws the rows of a batch, with replacement. Without one it draws token
 * ids, then labels. What is left over, tensor inputs that no row gives, is drawn
 * behind that, in order of declaration. An input given on the command line has
 * its value in every step and draws nothing. */
#include <string.h>

#include "train/loop_internal.h"

bool tn_loop_is_fed(const tn_loop *loop, size_t input) {
  if (!loop->rows.present || tn_ail_is_supplied(loop->program, input)) return false;
  const tn_ail_dataset *data = tn_ail_dataset_of(loop->program);
  return (int)input == data->features_input || (int)input == data->labels_input;
}

bool tn_loop_make_inputs(tn_loop *loop, const tn_ail_sizes *sizes, const bool *wanted, tn_tensor **inputs) {
  size_t count = tn_ail_input_count(loop->program);
  *inputs = tn_arena_array(loop->arena, count + 1, sizeof **inputs);
  if (!*inputs) return tn_loop_out_of_memory(loop);
  for (size_t i = 0; i < count; i++) {
    if (wanted && !wanted[i]) continue;
    if (tn_ail_is_supplied(loop->program, i)) {
      if (!tn_ail_supplied(loop->program, i, sizes, &(*inputs)[i])) return false;
      continue;
    }
    tn_dtype dtype = tn_ail_kind_dtype(tn_ail_input(loop->program, i)->kind);
    if (!tn_tensor_zeros(loop->host->heap, dtype, &sizes->inputs[i], &(*inputs)[i]))
      return tn_loop_out_of_memory(loop);
  }
  return true;
}

/* Where rows of an input go; NULL: nowhere. */
static void *rows_of(const tn_loop *loop, const tn_tensor *inputs, int input) {
  return input >= 0 && tn_loop_is_fed(loop, (size_t)input) ? inputs[input].view.data : NULL;
}

static void copy_row(tn_loop *loop, const tn_tensor *inputs, size_t place, size_t row) {
  const tn_ail_dataset *data = tn_ail_dataset_of(loop->program);
  const tn_table *table = &loop->rows.table;
  size_t width = table->width > 0 ? (size_t)table->width : 0;
  char *features = rows_of(loop, inputs, data->features_input);
  int32_t *labels = rows_of(loop, inputs, data->labels_input);
  if (features) memcpy(features + place * width * 4, tn_table_row(table, row), width * 4);
  if (labels) labels[place] = table->labels.at[row];
}

void tn_loop_fill_rows(tn_loop *loop, const tn_tensor *inputs, size_t first, size_t count) {
  for (size_t i = 0; i < count; i++) copy_row(loop, inputs, i, loop->rows.order[first + i]);
}

static void draw_kind(tn_loop *loop, tn_rng *rng, const tn_ail_sizes *sizes, const tn_tensor *inputs,
                      tn_ail_kind kind) {
  int64_t limit = kind == TN_AIL_TOKEN_IDS ? tn_ail_vocabulary(loop->program, sizes)
                  : kind == TN_AIL_LABELS  ? tn_ail_classes(loop->program, sizes)
                                           : 0;
  for (size_t i = 0; i < tn_ail_input_count(loop->program); i++) {
    bool draws = tn_ail_input(loop->program, i)->kind == kind && !tn_loop_is_fed(loop, i) &&
                 !tn_ail_is_supplied(loop->program, i);
    if (draws) tn_ail_draw(rng, kind, limit, &inputs[i].view);
  }
}

/* Inputs that no row gives, without a data set: from the generator. */
static void draw_others(tn_loop *loop, tn_rng *rng, const tn_ail_sizes *sizes, const tn_tensor *inputs) {
  draw_kind(loop, rng, sizes, inputs, TN_AIL_TOKEN_IDS);
  draw_kind(loop, rng, sizes, inputs, TN_AIL_LABELS);
  draw_kind(loop, rng, sizes, inputs, TN_AIL_TENSOR);
}

/* trunc(u * n) with u in f32, as exact as f64 makes it. */
static size_t draw_index(tn_rng *rng, size_t count) {
  return (size_t)((double)tn_rng_uniform(rng) * (double)count);
}

bool tn_loop_draw_batch(tn_loop *loop) {
  if (loop->rows.present) {
    for (int64_t i = 0; i < loop->train->batch; i++) {
      size_t row = loop->rows.order[draw_index(&loop->rng, loop->rows.train_count)];
      copy_row(loop, loop->inputs, (size_t)i, row);
    }
  }
  draw_others(loop, &loop->rng, &loop->sizes, loop->inputs);
  return true;
}
