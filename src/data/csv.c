/* data/csv.c: reads a CSV file into columns.
 *
 * A window holds bytes that have been read and not yet used. Rows are taken from its start; an
 * incomplete row is tried again when the window has doubled, so the work stays linear in the file,
 * however long a row is.
 *
 * The position of a cell in its row determines its use (`use`). Ordinary numbers are parsed in
 * place: the ends of cells are found for 64 bytes at once, and there is no loop over digits. For
 * that the window has readable bytes before its start, and zeros past its end. Every other cell is
 * first copied without its quotes, then interpreted (csv_cell.c). */
#include "data/csv.h"

#include <string.h>

#include "base/number_take.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "data/csv_internal.h"

#define BLOCK 64
#define BEFORE_WINDOW TN_DECIMAL_BYTES
#define AFTER_WINDOW (2 * BLOCK)
#define FILE_LIMIT ((uint64_t)1 << 46)

typedef enum { ROW_DONE, ROW_UNFINISHED, ROW_FAILED } outcome;

/* ---- faults ---- */

bool tn_csv_fail(tn_csv *csv, tn_data_problem problem) {
  csv->fault->problem = problem;
  return false;
}

/* The place of a byte of the window. */
static bool fail_at(tn_csv *csv, tn_data_problem problem, const char *at) {
  tn_str before = { csv->line_start, (size_t)(at - csv->line_start) };
  csv->fault->line = csv->line;
  csv->fault->col = tn_utf8_count(before) + 1;
  return tn_csv_fail(csv, problem);
}

/* ---- cells ---- */

static bool ends_row(char byte) { return byte == '\n' || byte == '\r'; }

/* A line end within quotes was passed. CRLF counts once, by its LF. */
static void count_line(tn_csv *csv, const char *at) {
  if (*at == '\r' && at + 1 < csv->end && at[1] == '\n') return;
  csv->line++;
  csv->line_start = at + 1;
}

/* csv->at is at an opening quote. Its end is the byte after the closing one. */
static outcome cut_quoted(tn_csv *csv, tn_str *cell) {
  const char *start = csv->at + 1, *from = start, *p = start, *open_line = csv->line_start;
  uint64_t line = csv->line;
  tn_text_clear(&csv->cell);
  for (; p < csv->end; p++) {
    if (ends_row(*p)) count_line(csv, p);
    if (*p != '"') continue;
    if (p + 1 == csv->end && !csv->last) return ROW_UNFINISHED;
    if (p + 1 == csv->end || p[1] != '"') break;
    tn_text_add(&csv->cell, (tn_str){ from, (size_t)(p + 1 - from) });
    from = ++p + 1;
  }
  if (p == csv->end && !csv->last) return ROW_UNFINISHED;
  if (p == csv->end) {
    csv->line = line, csv->line_start = open_line;
    fail_at(csv, TN_DATA_OPEN_QUOTE, start - 1);
    return ROW_FAILED;
  }
  *cell = (tn_str){ start, (size_t)(p - start) };
  csv->at = p + 1;
  if (from == start) return ROW_DONE;
  tn_text_add(&csv->cell, (tn_str){ from, (size_t)(p - from) });
  if (csv->cell.failed) return tn_csv_fail(csv, TN_DATA_MEMORY), ROW_FAILED;
  *cell = tn_text_str(&csv->cell);
  return ROW_DONE;
}

static void cut_plain(tn_csv *csv, tn_str *cell) {
  const char *p = csv->at, delimiter = csv->request->delimiter;
  while (p < csv->end && *p != delimiter && !ends_row(*p)) p++;
  *cell = (tn_str){ csv->at, (size_t)(p - csv->at) };
  csv->at = p;
}

/* The text of the next cell; csv->at is then at what ends it. */
static outcome cut_cell(tn_csv *csv, tn_str *cell) {
  const char *start = csv->at, *line_start = csv->line_start;
  uint64_t line = csv->line;
  if (start < csv->end && *start == '"') {
    outcome result = cut_quoted(csv, cell);
    if (result != ROW_DONE) return result;
  } else {
    cut_plain(csv, cell);
  }
  if (csv->at == csv->end) {
    if (!csv->last) return ROW_UNFINISHED;
  } else if (*csv->at != csv->request->delimiter && !ends_row(*csv->at)) {
    return fail_at(csv, TN_DATA_AFTER_QUOTE, csv->at), ROW_FAILED;
  }
  if (tn_utf8_valid(*cell)) return ROW_DONE;
  csv->line = line, csv->line_start = line_start;
  return fail_at(csv, TN_DATA_UTF8, start), ROW_FAILED;
}

/* ---- rows ---- */

/* csv->at is at a line end, or at the end of the file. */
static outcome end_line(tn_csv *csv) {
  const char *p = csv->at;
  if (p < csv->end && *p == '\r' && p + 1 == csv->end && !csv->last) return ROW_UNFINISHED;
  if (p < csv->end) p += *p == '\r' && p + 1 < csv->end && p[1] == '\n' ? 2 : 1;
  csv->at = csv->line_start = p;
  csv->line++;
  return ROW_DONE;
}

/* The highest bit of each byte that is 0. */
static inline uint64_t zero_bytes(uint64_t x) {
  return ~(((x & TN_EACH_BYTE * 0x7f) + TN_EACH_BYTE * 0x7f) | x) & TN_EACH_BYTE * 0x80;
}

/* Bit i is set where byte i may end a cell: a delimiter, or one of the first 16 characters, among which
 * are the line ends and the zeros past the window. */
static uint64_t find_marks(const char *block, char delimiter) {
  uint64_t marks = 0, pattern = TN_EACH_BYTE * (unsigned char)delimiter;
  for (int i = 0; i < BLOCK / 8; i++) {
    uint64_t x = tn_load_le64(block + 8 * i);
    uint64_t found = zero_bytes(x ^ pattern) | zero_bytes(x & TN_EACH_BYTE * 0xf0);
    marks |= ((found >> 7) * UINT64_C(0x0102040810204080) >> 56) << 8 * i; /* one bit of each byte */
  }
  return marks;
}

/* Where a number goes. */
typedef struct {
  tn_csv_place to;
  bool real;
} target;

/* `row`: counted from the next that is kept. */
static inline target target_of(const tn_csv *csv, const tn_csv_use *use, size_t row) {
  tn_csv_place to = csv->to[use->column];
  size_t item = use->item + row * use->items;
  if (use->real)
    to.reals += item;
  else
    to.ints += item;
  return (target){ to, use->real };
}

/* A number is as often negative as not, so its sign takes no branch. */
static inline float with_sign(float number, bool negative) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  bits |= (uint32_t)negative << 31;
  memcpy(&number, &bits, sizeof bits);
  return number;
}

static inline bool keep_number(const tn_decimal *decimal, target t) {
  if (t.real) {
    float number;
    if (!tn_number_exact_f32(decimal->digits, -decimal->fraction, &number)) return false;
    *t.to.reals = with_sign(number, decimal->negative);
    return true;
  }
  if (decimal->fraction > 0 || decimal->digits > INT32_MAX) return false;
  *t.to.ints = (int32_t)(decimal->negative ? -(int64_t)decimal->digits : (int64_t)decimal->digits);
  return true;
}

/* A number of more digits, or with an exponent. */
static TN_OWN_FRAME bool take_long(const char *from, const char *stop, target t) {
  float number;
  if (!t.real || !tn_take_f32(&from, stop, &number) || from != stop) return false;
  if (number - number != 0) return false; /* infinite */
  *t.to.reals = number;
  return true;
}

/* Up to eight digits and nothing else, without a branch on their number, which would be
 * mispredicted in every other cell. */
static inline bool take_digits(const char *from, const char *stop, target t) {
  size_t length = (size_t)(stop - from);
  if (length - 1 >= 8) return false;
  uint64_t word = tn_decimal_word(stop, length);
  if (tn_digits_others(word)) return false;
  int32_t number = (int32_t)tn_digits_value(word, 8);
  if (t.real)
    *t.to.reals = (float)number; /* rounded to nearest, as the decimal would be */
  else
    *t.to.ints = number;
  return true;
}

static TN_OWN_FRAME bool take_decimal(const char *from, const char *stop, target t) {
  tn_decimal decimal;
  if (stop == from) return false;
  if (tn_take_decimal(stop, (size_t)(stop - from), &decimal) && keep_number(&decimal, t)) return true;
  return take_long(from, stop, t);
}

static inline bool take_number(const char *from, const char *stop, target t) {
  return take_digits(from, stop, t) || take_decimal(from, stop, t);
}

/* Takes cells from number `index` on, as long as they are for numbers and hold ordinary ones, and the
 * delimiters after them; at the end of the row, the line end stays. Gives the number of the first cell that
 * was not taken. The ends of cells in a block are found once, also where it has several rows. */
static size_t take_numbers(tn_csv *csv, size_t index) {
  const char *from = csv->at, *block = csv->block, delimiter = csv->request->delimiter;
  const tn_csv_use *use = &csv->uses[index];
  const size_t width = csv->width;
  uint64_t all = csv->marks, marks;
  if (!use->quick) return index;
  if ((size_t)(from - block) >= BLOCK) all = find_marks(block = from, delimiter);
  for (marks = all >> (from - block) << (from - block);; marks &= marks - 1) {
    while (marks == 0) marks = all = find_marks(block += BLOCK, delimiter); /* the zeros are marks */
    const char *stop = block + tn_lowest_bit(marks);
    bool ends = index + 1 == width ? ends_row(*stop) : *stop == delimiter;
    if (!ends || !take_number(from, stop, target_of(csv, use, 0))) break;
    from = stop + (++index < width);
    if (index == width || !(++use)->quick) break;
  }
  csv->at = from;
  csv->block = block;
  csv->marks = all;
  return index;
}

/* ---- many rows at once ---- */

/* The next byte that may end a cell. */
typedef struct {
  const char *block;
  uint64_t all, left; /* of the block, and of it what comes next */
  char delimiter;
} mark_reader;

static inline const char *next_mark(mark_reader *m) {
  while (m->left == 0) m->left = m->all = find_marks(m->block += BLOCK, m->delimiter); /* zeros are marks */
  const char *mark = m->block + tn_lowest_bit(m->left);
  m->left &= m->left - 1;
  return mark;
}

/* A row of ordinary numbers that a line end follows; NULL: of another form. Gives where the next begins. */
static inline const char *take_row(const tn_csv *csv, mark_reader *m, const char *from, size_t row) {
  const tn_csv_use *use = csv->uses, *last = use + csv->width - 1;
  for (;; use++) {
    const char *stop = next_mark(m);
    bool ends = use == last ? ends_row(*stop) : *stop == m->delimiter;
    if (!ends || !take_number(from, stop, target_of(csv, use, row))) return NULL;
    from = stop + 1;
    if (use < last) continue;
    if (*stop == '\n') return from;
    return *from == '\n' && next_mark(m) == from ? from + 1 : NULL;
  }
}

/* Rows of only ordinary numbers, up to the first of another form. The work per row dominates short
 * rows, so it is kept minimal. */
static bool take_rows(tn_csv *csv) {
  size_t most = tn_csv_rows_ahead(csv), rows = 0;
  const char *from = csv->at, *next;
  mark_reader m = { csv->block, csv->marks, 0, csv->request->delimiter };
  if ((size_t)(from - m.block) >= BLOCK) m.all = find_marks(m.block = from, m.delimiter);
  m.left = m.all >> (from - m.block) << (from - m.block);
  while (rows < most && (next = take_row(csv, &m, from, rows)) != NULL) {
    from = next;
    rows++;
  }
  csv->at = csv->line_start = from;
  csv->block = m.block;
  csv->marks = m.all;
  csv->row_line = csv->line;
  csv->line += rows;
  return rows == 0 || tn_csv_keep_rows(csv, rows);
}

/* ---- single rows ---- */

/* A cell of any form. */
static outcome read_cell(tn_csv *csv, size_t index, bool used) {
  const char *start = csv->at, *line_start = csv->line_start;
  uint64_t line = csv->line;
  tn_str cell;
  outcome result = cut_cell(csv, &cell);
  if (result != ROW_DONE || !used || tn_csv_take_cell(csv, index, cell)) return result;
  csv->line = line, csv->line_start = line_start;
  return fail_at(csv, csv->fault->problem, start), ROW_FAILED;
}

static outcome read_row(tn_csv *csv) {
  size_t count = 0;
  for (bool more = true; more; csv->at += more) {
    if (count < csv->width && (count = take_numbers(csv, count)) == csv->width) return end_line(csv);
    outcome result = read_cell(csv, count, count < csv->width && csv->uses[count].used);
    if (result != ROW_DONE) return result;
    count++;
    more = csv->at < csv->end && *csv->at == csv->request->delimiter;
  }
  if (count == csv->width) return end_line(csv);
  csv->fault->expected = (int64_t)csv->width;
  csv->fault->received = (int64_t)count;
  csv->fault->line = csv->row_line;
  return tn_csv_fail(csv, TN_DATA_ROW_LENGTH), ROW_FAILED;
}

/* The cells of the first row, to count them, and to know their names if it is the header. */
static outcome read_first(tn_csv *csv) {
  tn_str cell;
  csv->names.count = 0;
  for (;;) {
    outcome result = cut_cell(csv, &cell);
    if (result != ROW_DONE) return result;
    if (csv->names.count == TN_CSV_COLUMN_LIMIT) {
      csv->fault->expected = TN_CSV_COLUMN_LIMIT;
      return fail_at(csv, TN_DATA_MANY_COLUMNS, csv->at), ROW_FAILED;
    }
    cell = csv->request->header ? tn_arena_str(&csv->arena, cell) : (tn_str){ "", 0 };
    if (csv->arena.failed || !tn_vec_push(csv->heap, &csv->names, cell))
      return tn_csv_fail(csv, TN_DATA_MEMORY), ROW_FAILED;
    if (csv->at == csv->end || *csv->at != csv->request->delimiter) return end_line(csv);
    csv->at++;
  }
}

/* The start of a row, to return to if it is incomplete. Texts of such a row are dropped. */
static void put_back(tn_csv *csv, const char *start, uint64_t line) {
  csv->at = csv->line_start = start;
  csv->line = line;
  for (size_t i = 0; i < csv->out->count; i++) {
    tn_column *column = &csv->out->at[i];
    if (column->kind != TN_COLUMN_TEXT) continue;
    size_t kept = csv->out->rows * column->width;
    column->ends.count = kept;
    if (column->text.at) column->text.len = kept > 0 ? (size_t)column->ends.at[kept - 1] : 0;
  }
}

/* Room for one more row, and where its numbers go. */
static bool begin_row(tn_csv *csv) {
  tn_columns *out = csv->out;
  if (csv->room > 0) return true;
  if (!tn_columns_reserve(out, 1)) return tn_csv_fail(csv, TN_DATA_MEMORY);
  csv->room = tn_columns_room(out);
  for (size_t i = 0; i < out->count; i++) {
    tn_column *column = &out->at[i];
    if (column->width == 0) continue; /* it has no memory, either */
    if (column->kind == TN_COLUMN_F32) csv->to[i].reals = column->reals.at + column->reals.count;
    if (column->kind == TN_COLUMN_I32) csv->to[i].ints = column->ints.at + column->ints.count;
  }
  return true;
}

/* One line: a row, the header, or nothing. */
static outcome read_line(tn_csv *csv) {
  const char *start = csv->at;
  uint64_t line = csv->row_line = csv->line;
  if (ends_row(*start)) return end_line(csv);
  bool first = csv->width == 0;
  if (!first && !begin_row(csv)) return ROW_FAILED;
  if (csv->all_quick) {
    if (!take_rows(csv)) return ROW_FAILED;
    if (csv->at != start) return ROW_DONE;
  }
  outcome result = first ? read_first(csv) : read_row(csv);
  if (result == ROW_FAILED) return result;
  if (first && result == ROW_DONE && !tn_csv_plan(csv)) return ROW_FAILED;
  if (result == ROW_UNFINISHED || (first && !csv->request->header)) put_back(csv, start, line);
  if (result == ROW_DONE && !first && !tn_csv_keep_rows(csv, 1)) return ROW_FAILED;
  return result;
}

/* ---- the window ---- */

static bool skip_mark(tn_csv *csv) {
  tn_str text = tn_utf8_unmarked((tn_str){ csv->at, (size_t)(csv->end - csv->at) });
  csv->at = csv->line_start = text.at;
  return csv->begun = true;
}

/* All rows that are whole. What is left moves to the front. */
static bool read_window(tn_csv *csv) {
  csv->at = csv->line_start = csv->window + BEFORE_WINDOW;
  csv->end = csv->at + csv->filled;
  csv->block = csv->at;
  csv->marks = find_marks(csv->block, csv->request->delimiter);
  if (!csv->begun && csv->filled < 3 && !csv->last) return true;
  if (!csv->begun) skip_mark(csv);
  outcome result = ROW_DONE;
  while (csv->at < csv->end && result == ROW_DONE) result = read_line(csv);
  if (result == ROW_FAILED) return false;
  size_t left = (size_t)(csv->end - csv->at);
  memmove(csv->window + BEFORE_WINDOW, csv->at, left);
  csv->filled = left;
  csv->wanted = 2 * left <= TN_CSV_ROW_BYTES ? 2 * left : TN_CSV_ROW_BYTES + 1;
  if (left <= TN_CSV_ROW_BYTES) return true;
  csv->at = csv->line_start = csv->window + BEFORE_WINDOW;
  csv->fault->expected = (int64_t)TN_CSV_ROW_BYTES;
  return fail_at(csv, TN_DATA_LONG_ROW, csv->at);
}

static bool add_piece(tn_csv *csv, tn_str piece) {
  size_t need = BEFORE_WINDOW + csv->filled + piece.len + AFTER_WINDOW;
  if (need > csv->capacity) {
    char *moved = tn_heap_resize(csv->heap, csv->window, csv->capacity, need + need / 2);
    if (!moved) return tn_csv_fail(csv, TN_DATA_MEMORY);
    csv->window = moved;
    csv->capacity = need + need / 2;
  }
  char *free = csv->window + BEFORE_WINDOW + csv->filled;
  memcpy(free, piece.at, piece.len);
  memset(free + piece.len, 0, AFTER_WINDOW);
  csv->filled += piece.len;
  return true;
}

static bool take_piece(void *context, tn_str piece) {
  tn_csv *csv = context;
  if (csv->request->sha256) tn_sha256_update(&csv->hash, piece.at, piece.len);
  if (tn_stop_asked(csv->heap->stop)) return tn_csv_fail(csv, TN_DATA_STOPPED);
  return add_piece(csv, piece) && (csv->filled < csv->wanted || read_window(csv));
}

static bool read_file(tn_csv *csv) {
  const tn_csv_request *request = csv->request;
  tn_file_status status = tn_file_read_pieces(csv->heap, request->path, request->resolved, FILE_LIMIT,
                                              request->faults, take_piece, csv);
  if (csv->fault->problem != TN_DATA_OK) return false;
  if (status == TN_FILE_NO_MEMORY) return tn_csv_fail(csv, TN_DATA_MEMORY);
  csv->fault->file = status;
  if (status != TN_FILE_OK) return tn_csv_fail(csv, TN_DATA_FILE);
  csv->last = true;
  if (!add_piece(csv, TN_LIT("")) || !read_window(csv)) return false;
  if (!csv->any) return tn_csv_fail(csv, TN_DATA_EMPTY);
  if (!request->take) return tn_columns_name_classes(csv->out) ? true : tn_csv_fail(csv, TN_DATA_MEMORY);
  return csv->out->rows == 0 || tn_csv_hand_over(csv);
}

bool tn_csv_read(tn_heap *heap, const tn_csv_request *request, tn_columns *out, tn_data_fault *fault) {
  tn_csv csv = { .heap = heap, .request = request, .out = out, .fault = fault, .line = 1 };
  *fault = (tn_data_fault){ .problem = TN_DATA_OK };
  tn_arena_init(&csv.arena, heap);
  tn_text_init(&csv.cell, heap);
  tn_sha256_init(&csv.hash);
  bool ok = tn_columns_init(out, heap, request->column_count) ? read_file(&csv)
                                                              : tn_csv_fail(&csv, TN_DATA_MEMORY);
  if (request->sha256) tn_sha256_final(&csv.hash, request->sha256);
  tn_heap_free(heap, csv.window, csv.capacity);
  tn_vec_free(heap, &csv.names);
  tn_text_free(&csv.cell);
  tn_arena_free(&csv.arena);
  if (!ok) tn_columns_free(out);
  if (!ok && heap->stopped) fault->problem = TN_DATA_STOPPED; /* it refuses memory, too */
  return ok;
}

static bool is_header(const tn_data_fault *fault) {
  bool no_number = fault->problem == TN_DATA_NUMBER || fault->problem == TN_DATA_MISSING;
  return no_number && fault->line == 1 && strcmp(fault->column, "0") == 0;
}

bool tn_csv_read_guessed(tn_heap *heap, tn_csv_request *request, tn_columns *out, tn_data_fault *fault) {
  if (tn_csv_read(heap, request, out, fault)) return true;
  if (request->header || !is_header(fault)) return false;
  request->header = true;
  return tn_csv_read(heap, request, out, fault);
}

char tn_csv_delimiter(tn_str path) {
  tn_str end = path.len > 4 ? (tn_str){ path.at + path.len - 4, 4 } : TN_LIT("");
  return tn_str_is(end, ".csv") ? ',' : tn_str_is(end, ".tsv") ? '\t' : 0;
}
