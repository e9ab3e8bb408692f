/* train/rows_facts.c: writes data.json of a run's folder: facts about the training data that a
 * model needs.
 *
 *   {"inputs":[{"name":"x","width":2,"mean":[55.5,2.5],"deviation":[11.2,0.5]},
 *              {"name":"labels","width":1,"classes":["cooking","sport"]},
 *              {"name":"tokens","width":7,"tokens":"words","vocabulary":["the","them"]}],
 *    "tern.sha256":"..."}
 *
 * `width` is how many numbers of a row an input takes; one that needs nothing
 * else has nothing else. The vocabulary begins with
 * token 2; byte pairs have the whole text of their file as `tokenizer`. The text
 * is canonical and sealed (base/seal.h), so `tern verify` compares it by bytes. */
#include "base/json.h"
#include "base/seal.h"
#include "train/rows.h"

static void write_numbers(tn_json_writer *json, const char *key, const double *numbers, size_t count) {
  if (!numbers) return;
  tn_json_key(json, key);
  tn_json_array_begin(json);
  for (size_t i = 0; i < count; i++) tn_json_f64(json, numbers[i]);
  tn_json_array_end(json);
}

static void write_fill(tn_json_writer *json, const tn_dataset_block *data, const float *fill, size_t count) {
  if (data->missing == TN_MISSING_REFUSED) return;
  tn_json_key(json, "fill");
  tn_json_array_begin(json);
  for (size_t i = 0; i < count; i++) tn_json_f32(json, fill ? fill[i] : (float)data->missing_number);
  tn_json_array_end(json);
}

static void write_classes(tn_json_writer *json, const tn_column *column) {
  if (!column->classes) return;
  tn_json_key(json, "classes");
  tn_json_array_begin(json);
  for (size_t i = 0; i < column->class_count; i++)
    tn_json_string(json, tn_names_text(column->classes, (tn_name)i + 1));
  tn_json_array_end(json);
}

static void write_vocabulary(tn_json_writer *json, const tn_rows *rows, const tn_dataset_feed *feed) {
  static const char *const kinds[] = { "", "words", "chars", "bytes", "bpe" };
  if (feed->tokens == TN_TOKENS_NUMBERS) return;
  tn_json_key(json, "tokens"), tn_json_string(json, tn_str_of(kinds[feed->tokens]));
  if (feed->tokens == TN_TOKENS_BPE) tn_json_key(json, "tokenizer"), tn_json_string(json, rows->tokenizer);
  if (feed->tokens > TN_TOKENS_CHARS) return;
  tn_json_key(json, "vocabulary");
  tn_json_array_begin(json);
  for (size_t i = TN_VOCAB_FIRST; i < tn_vocab_size(rows->vocab); i++)
    tn_json_string(json, tn_vocab_text(rows->vocab, i));
  tn_json_array_end(json);
}

/* What the feed of a CSV column adds; NULL: the format has no feeds. */
static const tn_dataset_feed *feed_of(const tn_dataset_block *data, size_t input) {
  for (size_t i = 0; i < data->feed_count; i++) {
    if (data->feeds[i].input == input) return &data->feeds[i];
  }
  return NULL;
}

static void write_input(tn_json_writer *json, const tn_rows *rows, const tn_training *program, size_t input,
                        tn_str name) {
  int index = rows->column_of[input];
  const tn_column *column = &rows->columns.at[index];
  const tn_dataset_feed *feed = feed_of(program->dataset, input);
  tn_json_object_begin(json);
  tn_json_key(json, "name"), tn_json_string(json, name);
  tn_json_key(json, "width"), tn_json_uint(json, column->width);
  if (feed && rows->statistics) {
    const tn_row_statistics *statistics = &rows->statistics[index];
    if (column->kind == TN_COLUMN_F32) write_fill(json, program->dataset, statistics->fill, column->width);
    write_numbers(json, "mean", statistics->mean, column->width);
    write_numbers(json, "deviation", statistics->deviation, column->width);
    write_classes(json, column);
  }
  if (feed) write_vocabulary(json, rows, feed);
  tn_json_object_end(json);
}

void tn_rows_write_facts(const tn_rows *rows, const tn_training *program, const tn_names *names,
                         tn_text *out) {
  tn_json_writer json = tn_json_writer_on(out);
  tn_json_object_begin(&json);
  tn_json_key(&json, "inputs");
  tn_json_array_begin(&json);
  for (size_t i = 0; i < program->specs.input_count; i++) {
    if (rows->column_of[i] >= 0)
      write_input(&json, rows, program, i, tn_names_text(names, program->specs.inputs[i].name));
  }
  tn_json_array_end(&json);
  size_t digits = tn_seal_reserve(out, false);
  if (digits > 0) tn_seal_close(out->at, out->len, out->at + digits);
}
