/* train/rows_facts.c: data.json of a run's folder: what a model needs to know of its training data.
 *
 *   {"inputs":[{"name":"x","mean":[55.5,2.5],"deviation":[11.2,0.5]},
 *              {"name":"labels","classes":["cooking","sport"]},
 *              {"name":"tokens","tokens":"words","length":7,"vocabulary":["the","them"]}],
 *    "tern.sha256":"..."}
 *
 * An input that needs nothing has its name alone. The vocabulary begins with
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

static void write_vocabulary(tn_json_writer *json, const tn_rows *rows, const tn_dataset_feed *feed,
                             size_t length) {
  static const char *const kinds[] = { "", "words", "chars", "bytes", "bpe" };
  if (feed->tokens == TN_TOKENS_NUMBERS) return;
  tn_json_key(json, "tokens"), tn_json_string(json, tn_str_of(kinds[feed->tokens]));
  tn_json_key(json, "length"), tn_json_uint(json, length);
  if (feed->tokens == TN_TOKENS_BPE) tn_json_key(json, "tokenizer"), tn_json_string(json, rows->tokenizer);
  if (feed->tokens > TN_TOKENS_CHARS) return;
  tn_json_key(json, "vocabulary");
  tn_json_array_begin(json);
  for (size_t i = TN_VOCAB_FIRST; i < tn_vocab_size(rows->vocab); i++)
    tn_json_string(json, tn_vocab_text(rows->vocab, i));
  tn_json_array_end(json);
}

void tn_rows_write_facts(const tn_rows *rows, const tn_training *program, const tn_names *names,
                         tn_text *out) {
  const tn_dataset_block *data = program->dataset;
  tn_json_writer json = tn_json_writer_on(out);
  tn_json_object_begin(&json);
  tn_json_key(&json, "inputs");
  tn_json_array_begin(&json);
  for (size_t i = 0; i < data->feed_count; i++) {
    const tn_column *column = &rows->columns.at[i];
    const tn_row_statistics *statistics = &rows->statistics[i];
    tn_json_object_begin(&json);
    tn_json_key(&json, "name");
    tn_json_string(&json, tn_names_text(names, program->specs.inputs[data->feeds[i].input].name));
    if (column->kind == TN_COLUMN_F32) write_fill(&json, data, statistics->fill, column->width);
    write_numbers(&json, "mean", statistics->mean, column->width);
    write_numbers(&json, "deviation", statistics->deviation, column->width);
    write_classes(&json, column);
    write_vocabulary(&json, rows, &data->feeds[i], column->width);
    tn_json_object_end(&json);
  }
  tn_json_array_end(&json);
  size_t digits = tn_seal_reserve(out, false);
  if (digits > 0) tn_seal_close(out->at, out->len, out->at + digits);
}
