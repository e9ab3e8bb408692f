/* train/rows_text.c: tokenizes a column of texts.
 *
 * The vocabulary comes from the training rows only. Every row then has as many tokens as the input
 * declares or, if that is a name, as the longest training row: longer texts are truncated, shorter
 * ones padded at their end. */
#include "base/sha256.h"
#include "base/utf8.h"
#include "train/rows_internal.h"

/* ---- tokenizer.json ---- */

static const char *reason_of(const tn_bpe_fault *fault) {
  if (fault->problem == TN_BPE_MERGE) return "a merge has parts or a result that are not in the vocabulary";
  return "it is missing, or not of the form that the format has";
}

/* The file is not JSON: where. */
static bool report_json(const tn_rows_source *source, const tn_dataset_feed *feed, const tn_bpe_fault *fault,
                        tn_str file) {
  size_t at = fault->at < file.len ? (size_t)fault->at : file.len, start = 0;
  int64_t line = 1;
  for (size_t i = 0; i < at; i++) {
    if (file.at[i] == '\n') start = i + 1, line++;
  }
  int64_t col = (int64_t)tn_utf8_count((tn_str){ file.at + start, at - start }) + 1;
  return tn_report(source->host->diags, TN_DIAG_E_TOKENIZER_INVALID, feed->at,
                   TN_TEXT("path", feed->tokenizer), TN_STR("part", "the JSON text"),
                   TN_STR("reason", fault->detail), TN_INT("line", line), TN_INT("col", col));
}

static bool report_fault(const tn_rows_source *source, const tn_dataset_feed *feed,
                         const tn_bpe_fault *fault, tn_str file) {
  tn_diags *diags = source->host->diags;
  tn_field path = TN_TEXT("path", feed->tokenizer);
  if (fault->problem == TN_BPE_MEMORY) return tn_rows_stopped(source);
  if (fault->problem == TN_BPE_JSON) return report_json(source, feed, fault, file);
  if (fault->problem == TN_BPE_UNSUPPORTED)
    return tn_report(diags, TN_DIAG_E_TOKENIZER_UNSUPPORTED, feed->at, path, TN_STR("part", fault->part),
                     TN_STR("kind", fault->detail));
  return tn_report(diags, TN_DIAG_E_TOKENIZER_INVALID, feed->at, path,
                   TN_STR("part", fault->part), TN_STR("reason", reason_of(fault)));
}

/* Tokens depend on the tokenizer as on the data, so its hash becomes part of the data's. */
static void add_hash(tn_str file, uint8_t sha256[TN_SHA256_BYTES]) {
  tn_sha256 hash;
  tn_sha256_init(&hash);
  tn_sha256_update(&hash, sha256, TN_SHA256_BYTES);
  tn_sha256_update(&hash, file.at, file.len);
  tn_sha256_final(&hash, sha256);
}

tn_vocab *tn_rows_read_tokenizer(const tn_rows_source *source, const tn_dataset_feed *feed, tn_rows *rows) {
  tn_host *host = source->host;
  const char *problem = "";
  tn_bpe_fault fault;
  tn_str file;
  if (!host->read_file(host, feed->tokenizer, source->arena, &file, &problem)) {
    if (source->arena->failed) return tn_rows_stopped(source), NULL;
    if (tn_str_is(tn_str_of(problem), "not_found"))
      tn_report(host->diags, TN_DIAG_E_FILE_NOT_FOUND, feed->at, TN_TEXT("path", feed->tokenizer));
    else
      tn_report(host->diags, TN_DIAG_E_FILE_IO_ERROR, feed->at, TN_TEXT("path", feed->tokenizer),
                TN_STR("io_error_kind", problem));
    return NULL;
  }
  if (source->hashed) add_hash(file, rows->sha256);
  rows->tokenizer = file;
  tn_vocab *vocab = tn_vocab_new_bpe(host->heap, file, &fault);
  if (!vocab) report_fault(source, feed, &fault, file);
  return vocab;
}

/* ---- vocabularies ---- */

tn_vocab_kind tn_rows_vocab_kind(tn_dataset_tokens tokens) {
  return tokens == TN_TOKENS_WORDS   ? TN_VOCAB_WORDS
         : tokens == TN_TOKENS_CHARS ? TN_VOCAB_CHARS
                                     : TN_VOCAB_BYTES;
}

static bool make_vocab(const tn_rows_source *source, const tn_dataset_feed *feed, const tn_column *texts,
                       tn_rows *rows) {
  if (feed->tokens == TN_TOKENS_BPE) {
    rows->vocab = tn_rows_read_tokenizer(source, feed, rows);
    return rows->vocab != NULL;
  }
  rows->vocab = tn_vocab_new(source->host->heap, tn_rows_vocab_kind(feed->tokens));
  bool ok = rows->vocab != NULL;
  for (size_t i = 0; ok && i < rows->train_count; i++)
    ok = tn_vocab_count(rows->vocab, tn_column_text(texts, rows->order[i]));
  ok = ok && tn_vocab_number(rows->vocab, (size_t)feed->size);
  return ok ? true : tn_rows_stopped(source);
}

/* ---- rows ---- */

/* The longest row for training; 1 at least. */
static bool longest(tn_rows *rows, const tn_column *texts, tn_i32s *tokens, size_t *out) {
  *out = 1;
  for (size_t i = 0; i < rows->train_count; i++) {
    tokens->count = 0;
    if (!tn_vocab_encode(rows->vocab, tn_column_text(texts, rows->order[i]), SIZE_MAX, tokens)) return false;
    if (tokens->count > *out) *out = tokens->count;
  }
  return true;
}

/* All rows, `width` tokens each. */
static bool encode(tn_vocab *vocab, const tn_column *texts, size_t rows, size_t width, tn_heap *heap,
                   tn_i32s *out) {
  size_t all;
  if (!tn_size_mul(rows, width, &all) || !tn_vec_reserve(heap, out, all)) return false;
  for (size_t row = 0; row < rows; row++) {
    if (tn_stop_asked(heap->stop)) return false;
    if (!tn_vocab_encode(vocab, tn_column_text(texts, row), width, out)) return false;
    while (out->count < (row + 1) * width) out->at[out->count++] = tn_vocab_padding(vocab);
  }
  return true;
}

bool tn_rows_encode(tn_vocab *vocab, tn_column *column, size_t rows, size_t width, tn_heap *heap) {
  tn_i32s tokens = { 0 };
  bool ok = encode(vocab, column, rows, width, heap, &tokens);
  tn_text_free(&column->text);
  tn_vec_free(heap, &column->ends);
  tn_vec_free(heap, &column->ints);
  column->ints = tokens;
  column->kind = TN_COLUMN_I32;
  column->width = width;
  return ok;
}

static bool fill(const tn_rows_source *source, const tn_dataset_feed *feed, tn_rows *rows,
                 tn_column *column) {
  tn_heap *heap = source->host->heap;
  int64_t declared = tn_rows_declared_width(&source->program->specs.inputs[feed->input]);
  size_t width = declared > 0 ? (size_t)declared : 1;
  tn_i32s tokens = { 0 };
  bool ok = declared > 0 || longest(rows, column, &tokens, &width);
  tn_vec_free(heap, &tokens);
  ok = ok && tn_rows_encode(rows->vocab, column, rows->count, width, heap);
  return ok ? true : tn_rows_stopped(source);
}

bool tn_rows_tokenize(const tn_rows_source *source, const tn_dataset_feed *feed, tn_rows *rows) {
  tn_column *column = &rows->columns.at[rows->column_of[feed->input]];
  tn_phase before = tn_diags_enter(source->host->diags, TN_PHASE_DATA);
  bool ok = make_vocab(source, feed, column, rows) && fill(source, feed, rows, column);
  tn_diags_enter(source->host->diags, before);
  return ok;
}
