/* train/batch.c: what a step is given.
 *
 * One generator draws everything for training, step after step. With a data set
 * it draws the rows of a batch, with replacement. Without one it draws token
 * ids, then labels. What is left over, tensor inputs that no row gives, is drawn
 * after that, in order of declaration. An input given on the command line has
 * its value in every step and draws nothing. */
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

static void draw_kind(tn_loop *loop, tn_data_kind kind) {
  const tn_training *program = &loop->program;
  for (size_t i = 0; i < program->specs.input_count; i++) {
    if (program->specs.inputs[i].kind != kind || tn_loop_is_fed(loop, i) || tn_loop_is_supplied(loop, i))
      continue;
    program->doors->draw(program->model, i, &loop->sizes, &loop->rng, &loop->inputs[i].view);
  }
}

/* Inputs that no row gives, without a data set: from the generator. */
static void draw_others(tn_loop *loop) {
  draw_kind(loop, TN_DATA_TOKEN_IDS);
  draw_kind(loop, TN_DATA_LABELS);
  draw_kind(loop, TN_DATA_TENSOR);
}

/* trunc(u * n) with u in f32, as exact as f64 makes it. */
static size_t draw_index(tn_rng *rng, size_t count) {
  return (size_t)((double)tn_rng_uniform(rng) * (double)count);
}

bool tn_loop_draw_batch(tn_loop *loop) {
  if (loop->rows.present) {
    for (int64_t i = 0; i < loop->program.train->batch; i++) {
      size_t row = loop->rows.order[draw_index(&loop->rng, loop->rows.train_count)];
      if (i >= loop->first_row && i < loop->end_row) copy_row(loop, loop->inputs, (size_t)i, row);
    }
  }
  draw_others(loop);
  return true;
}
