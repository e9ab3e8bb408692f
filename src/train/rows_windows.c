/* train/rows_windows.c: reads a text as rows: windows of its tokens, with the next token as label.
 *
 * The text becomes one run of tokens. Row r of `tokens` is the window that begins
 * at token r, and row r of `labels` the one that begins at token r + 1, so windows
 * cost no memory beyond the text. The first floor(n * split) tokens are for
 * training: any window inside them can be drawn, and the vocabulary comes from
 * them alone; the last floor(n * test) are for the test. Evaluation uses adjacent windows. */
#include <string.h>

#include "base/sha256.h"
#include "base/utf8.h"
#include "data/report.h"
#include "data/table.h"
#include "train/rows_internal.h"

#define TOKEN_LIMIT ((size_t)1 << 31)

typedef struct {
  const tn_rows_source *source;
  const tn_rows_request *request; /* NULL: to train on */
  const tn_dataset_feed *feed;
  tn_file_bytes file;
  tn_str text;
  tn_vocab *vocab;
  tn_i32s tokens;
  tn_vec(uint32_t) lines; /* the first token of each line; none for byte pairs */
  size_t train;           /* tokens for training */
  size_t window;
  tn_rows *rows;
} reading;

static tn_heap *heap_of(const reading *r) { return r->source->host->heap; }

static tn_span place_of(const reading *r) {
  return r->request ? TN_NOWHERE : r->source->program->dataset->path_at;
}

/* ---- the file ---- */

static bool read_file(reading *r) {
  const tn_rows_source *source = r->source;
  if (!tn_rows_read_file(source, r->request != NULL, &r->file)) return false;
  r->text = tn_utf8_unmarked((tn_str){ r->file.at, r->file.len });
  if (source->hashed) tn_sha256_of(r->file.at, r->file.len, r->rows->sha256);
  if (r->feed->tokens == TN_TOKENS_BYTES || tn_utf8_valid(r->text)) return true;
  return tn_report(source->host->diags, TN_DIAG_E_FILE_INVALID_UTF8, place_of(r),
                   TN_STR("path", source->path),
                   TN_INT("offset", (int64_t)tn_utf8_first_invalid(r->text)), TN_DURING(TN_PHASE_DATA));
}

/* ---- the vocabulary ---- */

/* The bytes of the text that the first tokens of it are made of. */
static size_t bytes_of(const reading *r, tn_vocab_kind kind, size_t tokens) {
  size_t at = 0;
  tn_str piece;
  if (kind == TN_VOCAB_BYTES) return tokens;
  for (size_t i = 0; i < tokens; i++) (void)tn_vocab_next(kind, r->text, &at, &piece);
  return at;
}

static size_t count_tokens(const reading *r, tn_vocab_kind kind) {
  size_t at = 0, count = 0;
  tn_str piece;
  if (kind == TN_VOCAB_BYTES) return r->text.len;
  while (tn_vocab_next(kind, r->text, &at, &piece)) count++;
  return count;
}

static size_t share_of(const reading *r, size_t tokens) {
  return (size_t)((double)tokens * r->source->program->dataset->split);
}

/* Of words, characters and bytes: from the part of the text that is trained on. */
static bool build_vocab(reading *r) {
  tn_vocab_kind kind = tn_rows_vocab_kind(r->feed->tokens);
  size_t train = share_of(r, count_tokens(r, kind));
  tn_str part = { r->text.at, bytes_of(r, kind, train) };
  r->rows->vocab = tn_vocab_new(heap_of(r), kind);
  bool ok = r->rows->vocab && tn_vocab_count(r->rows->vocab, part) &&
            tn_vocab_number(r->rows->vocab, (size_t)r->feed->size);
  return ok || tn_rows_stopped(r->source);
}

static bool make_vocab(reading *r) {
  if (r->request) {
    r->vocab = r->request->facts->inputs[r->feed->input].vocab;
    if (r->vocab) return true;
    return tn_host_usage(r->source->host, "the run has no vocabulary for ", tn_str_of(r->source->path), "");
  }
  if (r->feed->tokens == TN_TOKENS_BPE)
    r->rows->vocab = tn_rows_read_tokenizer(r->source, r->feed, r->rows);
  else if (!build_vocab(r))
    return false;
  r->vocab = r->rows->vocab;
  return r->vocab != NULL;
}

/* ---- tokens ---- */

/* Tokens of words, characters and bytes do not reach over the end of a line. */
static bool encode_lines(reading *r) {
  for (size_t at = 0; at < r->text.len;) {
    const char *end = memchr(r->text.at + at, '\n', r->text.len - at);
    size_t length = end ? (size_t)(end + 1 - (r->text.at + at)) : r->text.len - at;
    if (tn_stop_asked(heap_of(r)->stop) || r->tokens.count > TOKEN_LIMIT) return false;
    if (!tn_vec_push(heap_of(r), &r->lines, (uint32_t)r->tokens.count)) return false;
    if (!tn_vocab_encode(r->vocab, (tn_str){ r->text.at + at, length }, SIZE_MAX, &r->tokens)) return false;
    at += length;
  }
  return true;
}

static bool encode(reading *r) {
  bool ok = r->feed->tokens == TN_TOKENS_BPE ? tn_vocab_encode(r->vocab, r->text, SIZE_MAX, &r->tokens)
                                             : encode_lines(r);
  if (r->tokens.count > TOKEN_LIMIT)
    return tn_report(r->source->host->diags, TN_DIAG_E_TOO_LARGE, place_of(r), TN_STR("what", "the text"),
                     TN_INT("limit", (int64_t)TOKEN_LIMIT));
  return ok || tn_rows_stopped(r->source);
}

/* ---- rows ---- */

static bool make_columns(reading *r) {
  const tn_training *program = r->source->program;
  size_t inputs = program->specs.input_count;
  int *column_of = tn_arena_array(r->source->arena, inputs + 1, sizeof *column_of);
  tn_columns *columns = &r->rows->columns;
  if (!column_of || !tn_columns_init(columns, heap_of(r), 2)) return tn_rows_stopped(r->source);
  for (size_t i = 0; i < inputs; i++) column_of[i] = -1;
  column_of[r->feed->input] = TN_TABLE_FEATURES;
  if (program->dataset->labels_input >= 0) column_of[program->dataset->labels_input] = TN_TABLE_LABELS;
  tn_column *tokens = &columns->at[TN_TABLE_FEATURES], *labels = &columns->at[TN_TABLE_LABELS];
  tokens->kind = labels->kind = TN_COLUMN_I32;
  tokens->width = labels->width = r->window;
  tokens->ints = r->tokens;
  tokens->windows = r->tokens.at;
  labels->windows = r->tokens.at + 1;
  columns->lines.at = r->lines.at;
  columns->lines.count = r->lines.count;
  columns->lines.capacity = r->lines.capacity;
  r->tokens = (tn_i32s){ 0 };
  memset(&r->lines, 0, sizeof r->lines);
  r->rows->column_of = column_of;
  return true;
}

/* How many windows lie side by side from a token on, each with a token after it. */
static size_t side_by_side(const reading *r, size_t from, size_t to) {
  return to > from ? (to - from - 1) / r->window : 0;
}

static void add_windows(tn_rows *rows, size_t from, size_t count, size_t step) {
  for (size_t i = 0; i < count; i++) rows->order[rows->order_count++] = (uint32_t)(from + i * step);
}

static bool too_short(const reading *r) {
  return tn_report(r->source->host->diags, TN_DIAG_E_DATASET_EMPTY, place_of(r),
                   TN_STR("path", r->source->path), TN_INT("tokens", (int64_t)r->train),
                   TN_INT("window", (int64_t)r->window), TN_DURING(TN_PHASE_DATA));
}

static bool put_in_order(reading *r) {
  tn_rows *rows = r->rows;
  size_t all = r->tokens.count;
  r->train = r->request ? all : share_of(r, all);
  size_t test_from = all - tn_rows_test_share(r->source->program->dataset, all, r->train);
  size_t train = side_by_side(r, 0, r->train), held = side_by_side(r, r->train, test_from);
  size_t drawn = r->request ? 0 : r->train - r->window;
  if (train == 0) return too_short(r);
  rows->test_count = side_by_side(r, test_from, all);
  rows->order = tn_heap_alloc(heap_of(r), (drawn + held + rows->test_count + train) * sizeof *rows->order);
  if (!rows->order) return tn_rows_stopped(r->source);
  add_windows(rows, 0, drawn, 1);
  add_windows(rows, r->train, held, r->window);
  add_windows(rows, test_from, rows->test_count, r->window);
  rows->train_count = drawn;
  rows->count = drawn + held + rows->test_count;
  add_windows(rows, 0, train, r->window);
  if (r->request) rows->count = rows->train_count = train;
  return true;
}

static bool read_rows(reading *r) {
  if (!read_file(r) || !make_vocab(r) || !encode(r) || !put_in_order(r) || !make_columns(r)) return false;
  r->rows->columns.rows = r->rows->count;
  return true;
}

bool tn_rows_read_text(const tn_rows_source *source, const tn_rows_request *request, tn_rows *rows) {
  const tn_dataset_feed *feed = &source->program->dataset->feeds[0];
  int64_t window = tn_rows_declared_width(&source->program->specs.inputs[feed->input]);
  reading r = { .source = source, .request = request, .feed = feed, .rows = rows, .window = (size_t)window };
  *rows = (tn_rows){ .columns.heap = source->host->heap };
  tn_phase before = tn_diags_enter(source->host->diags, TN_PHASE_DATA);
  rows->present = true;
  bool ok = read_rows(&r);
  tn_file_release(source->host->heap, &r.file);
  tn_vec_free(source->host->heap, &r.tokens);
  tn_vec_free(source->host->heap, &r.lines);
  tn_diags_enter(source->host->diags, before);
  if (!ok) tn_rows_free(rows);
  return ok;
}
