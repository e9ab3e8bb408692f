/* train/batch.c: draws the batches of a training.
 *
 * One generator draws everything for training, step after step. With a data set
 * it draws the rows of a batch, with replacement; a program that counts epochs
 * takes all rows in an order drawn for each of them. Without a data set it draws token
 * ids, then labels. Tensor inputs that no row provides are drawn after that, in order of
 * declaration. An input given on the command line has its value in every step and draws nothing. */
#include <string.h>

#include "train/loop_internal.h"

bool tn_loop_is_supplied(const tn_loop *loop, size_t input) {
  tn_str name = tn_names_text(loop->host->names, loop->program.specs.inputs[input].name);
  return tn_given_find(loop->host->inputs, loop->host->input_count, name) != NULL;
}

bool tn_loop_is_fed(const tn_loop *loop, size_t input) {
  return loop->rows.present && loop->rows.column_of[input] >= 0 && !tn_loop_is_supplied(loop, input);
}

bool tn_loop_make_inputs(tn_loop *loop, const tn_sizes *sizes, const bool *wanted, tn_tensor **inputs) {
  size_t count = loop->program.specs.input_count;
  *inputs = tn_arena_array(loop->arena, count + 1, sizeof **inputs);
  if (!*inputs) return tn_loop_out_of_memory(loop);
  for (size_t i = 0; i < count; i++) {
    if (wanted && !wanted[i]) continue;
    if (tn_loop_is_supplied(loop, i)) {
      if (!loop->program.doors->supplied(loop->program.model, i, &(*inputs)[i])) return false;
      continue;
    }
    tn_dtype dtype = loop->program.specs.inputs[i].type.dtype;
    if (!tn_tensor_zeros(loop->host->heap, dtype, &sizes->inputs[i], &(*inputs)[i]))
      return tn_loop_out_of_memory(loop);
  }
  return true;
}

static void copy_row(tn_loop *loop, const tn_tensor *inputs, size_t place, size_t row) {
  for (size_t i = 0; i < loop->program.specs.input_count; i++) {
    if (!tn_loop_is_fed(loop, i) || !inputs[i].buffer) continue;
    const tn_column *column = &loop->rows.columns.at[loop->rows.column_of[i]];
    size_t bytes = column->width * TN_COLUMN_ITEM;
    memcpy((char *)inputs[i].view.data + place * bytes, tn_column_row(column, row), bytes);
  }
}

void tn_loop_fill_rows(tn_loop *loop, const tn_tensor *inputs, size_t first, size_t count) {
  for (size_t i = 0; i < count; i++) copy_row(loop, inputs, i, loop->rows.order[first + i]);
}

static void draw_kind(tn_loop *loop, tn_data_kind kind, tn_rng *rng) {
  const tn_training *program = &loop->program;
  for (size_t i = 0; i < program->specs.input_count; i++) {
    if (program->specs.inputs[i].kind != kind || tn_loop_is_fed(loop, i) || tn_loop_is_supplied(loop, i))
      continue;
    program->doors->draw(program->model, i, &loop->sizes, rng, &loop->inputs[i].view);
  }
}

/* Inputs that no row gives, without a data set: from the generator. */
static void draw_others(tn_loop *loop, tn_rng *rng) {
  draw_kind(loop, TN_DATA_TOKEN_IDS, rng);
  draw_kind(loop, TN_DATA_LABELS, rng);
  draw_kind(loop, TN_DATA_TENSOR, rng);
}

/* trunc(u * n) with u in f32, as exact as f64 makes it. */
static size_t draw_index(tn_rng *rng, size_t count) {
  return (size_t)((double)tn_rng_uniform(rng) * (double)count);
}

/* The order of an epoch depends only on the seed and its number, so that a run can be resumed
 * anywhere. */
static void shuffle_epoch(tn_loop *loop, uint64_t epoch) {
  tn_rng rng;
  uint32_t count = (uint32_t)loop->rows.train_count;
  for (uint32_t i = 0; i < count; i++) loop->epoch_order[i] = i;
  tn_rng_init(&rng, tn_rng_mix(loop->host->seed + 2000, epoch));
  tn_rng_shuffle(&rng, loop->epoch_order, count);
  loop->epoch = epoch;
}

/* The row at a place of the sequence of all epochs. */
static size_t epoch_index(tn_loop *loop, uint64_t place) {
  uint64_t epoch = place / loop->rows.train_count;
  if (epoch != loop->epoch) shuffle_epoch(loop, epoch);
  return loop->epoch_order[place % loop->rows.train_count];
}

static bool make_epochs(tn_loop *loop) {
  if (loop->program.train->epochs == 0 || loop->epoch_order) return true;
  loop->epoch = UINT64_MAX; /* none yet */
  loop->epoch_order = tn_arena_array(loop->arena, loop->rows.train_count, sizeof *loop->epoch_order);
  return loop->epoch_order || tn_loop_out_of_memory(loop);
}

static void draw_rows(tn_loop *loop, int64_t step, tn_rng *rng) {
  int64_t batch = loop->program.train->batch;
  uint64_t place = (uint64_t)step * (uint64_t)batch;
  for (int64_t i = 0; i < batch; i++) {
    size_t index = loop->epoch_order ? epoch_index(loop, place + (uint64_t)i)
                                     : draw_index(rng, loop->rows.train_count);
    if (i >= loop->first_row && i < loop->end_row)
      copy_row(loop, loop->inputs, (size_t)i, loop->rows.order[index]);
  }
}

static void draw(tn_loop *loop, int64_t step, tn_rng *rng) {
  if (loop->rows.present) draw_rows(loop, step, rng);
  draw_others(loop, rng);
  tn_trainer_prepare(loop->trainer, step);
}

/* Whether the batch that was drawn ahead is the one that would be drawn now: the loop may have gone back. */
static bool take_ahead(tn_loop *loop, int64_t step) {
  bool same = loop->ahead.drawn && loop->ahead.step == step && loop->ahead.from == loop->rng.position;
  loop->ahead.drawn = false;
  if (same) loop->rng = loop->ahead.rng;
  return same;
}

bool tn_loop_draw_batch(tn_loop *loop) {
  int64_t step = tn_trainer_step_number(loop->trainer);
  if (take_ahead(loop, step)) return true;
  if (!make_epochs(loop)) return false;
  draw(loop, step, &loop->rng);
  return true;
}

void tn_loop_draw_ahead(tn_loop *loop) {
  int64_t step = tn_trainer_step_number(loop->trainer) + 1;
  if (!tn_trainer_works_ahead(loop->trainer) || step >= loop->steps) return;
  loop->ahead.drawn = true;
  loop->ahead.step = step;
  loop->ahead.from = loop->rng.position;
  loop->ahead.rng = loop->rng;
  draw(loop, step, &loop->ahead.rng);
}
