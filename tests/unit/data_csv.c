/* tests/unit/data_csv.c: CSV files become columns, or one fault with line and column.
 *
 * Every file is read several times, in pieces of different sizes: where a piece
 * ends must not matter. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/csv.h"

static const size_t piece_sizes[] = { 0, 1, 2, 3, 7, 64 };
#define SIZES (sizeof piece_sizes / sizeof *piece_sizes)

typedef struct {
  tn_heap heap;
  tn_columns columns;
  tn_data_fault fault;
  tn_file_faults files;
  char path[64];
} room;

static void room_open(room *r, const char *text, size_t length) {
  memset(r, 0, sizeof *r);
  strcpy(r->path, "tern-csv-XXXXXX");
  int file = mkstemp(r->path);
  assert_true(file >= 0);
  assert_true(write(file, text, length) == (ssize_t)length);
  close(file);
}

static bool read_again(room *r, tn_csv_request request, size_t piece) {
  tn_columns_free(&r->columns);
  assert_int_equal(r->heap.used, 0);
  request.path = r->path;
  r->files = (tn_file_faults){ .most_bytes = piece };
  request.faults = &r->files;
  if (request.delimiter == 0) request.delimiter = ',';
  return tn_csv_read(&r->heap, &request, &r->columns, &r->fault);
}

static void room_close(room *r) {
  unlink(r->path);
  tn_columns_free(&r->columns);
  assert_int_equal(r->heap.used, 0);
}

/* All cells as texts, joined: a cell ends with '|', a row with '/'. */
static void assert_cells(const char *text, size_t length, bool header, const char *expected) {
  tn_csv_column all = { .kind = TN_COLUMN_TEXT };
  room r;
  room_open(&r, text, length);
  for (size_t i = 0; i < SIZES; i++) {
    char seen[512] = "";
    assert_true(read_again(&r, (tn_csv_request){ .header = header, .columns = &all, .column_count = 1 },
                           piece_sizes[i]));
    const tn_column *column = &r.columns.at[0];
    for (size_t item = 0; item < r.columns.rows * column->width; item++) {
      tn_str cell = tn_column_text(column, item);
      strncat(seen, cell.at, cell.len);
      strcat(seen, (item + 1) % column->width == 0 ? "|/" : "|");
    }
    assert_string_equal(seen, expected);
  }
  room_close(&r);
}

/* The class a name has, or -1. */
static int32_t class_of(const tn_column *column, tn_str name) {
  return (int32_t)tn_names_find(column->classes, name) - 1;
}

static void cells_may_be_quoted(void **state) {
  (void)state;
  static const struct {
    const char *text, *cells;
  } cases[] = {
    { "a,b\n1,2\n", "a|b|/1|2|/" },
    { "a,b\r\n1,2\r\n", "a|b|/1|2|/" },
    { "a,b\r1,2\r", "a|b|/1|2|/" },
    { "a,b\n1,2", "a|b|/1|2|/" },
    { "\n\na,b\n\r\n\n1,2\n\n", "a|b|/1|2|/" },
    { "\"a\",\"b\"\n\"1\",\"2\"\n", "a|b|/1|2|/" },
    { "\"a,b\",\"c\nd\"\n\"e\r\nf\",\"\"\n", "a,b|c\nd|/e\r\nf||/" },
    { "\"say \"\"hi\"\"\",x\n\"\"\"\",\"\"\"\"\"\"\n", "say \"hi\"|x|/\"|\"\"|/" },
    { "a\"b,\"c\"\n d\",e\n", "a\"b|c|/ d\"|e|/" },
    { "a,\n,b\n", "a||/|b|/" },
    { ",\n", "||/" },
    { "\"\"\n", "|/" },
    { "\xef\xbb\xbf"
      "a\nb\n",
      "a|/b|/" },
    { "\xef\xbb\xbf\"a\"\n", "a|/" },
    { "\xc3\xa4,\xe2\x82\xac\n", "\xc3\xa4|\xe2\x82\xac|/" },
    { " a , b \n", " a | b |/" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_cells(cases[i].text, strlen(cases[i].text), false, cases[i].cells);
}

static void a_header_is_not_a_row(void **state) {
  (void)state;
  assert_cells("x,y\n1,2\n", 8, true, "1|2|/");
  assert_cells("\"x\ny\",z\n1,2\n", 12, true, "1|2|/");
}

static void columns_are_picked_by_name_number_and_range(void **state) {
  (void)state;
  static const char text[] = "id,age,kind,income,city\n7,31,cat,1.5,Bern\n8,,dog,-2e3, Ulm\n9,4,cat,0,\n";
  const tn_csv_pick x[] = { { .name = TN_LIT("income") }, { .name = TN_LIT("age") } };
  static const tn_csv_pick id[] = { { .first = 0, .last = 0 } }, kind[] = { { .first = 2, .last = 2 } };
  const tn_csv_pick range[] = { { .first = 3, .last = 4 } }, again[] = { { .name = TN_LIT("id") } };
  const tn_csv_column columns[] = {
    { .kind = TN_COLUMN_F32, .picks = x, .pick_count = 2, .may_miss = true, .fill = 50 },
    { .kind = TN_COLUMN_I32, .picks = id, .pick_count = 1 },
    { .kind = TN_COLUMN_CLASS, .picks = kind, .pick_count = 1 },
    { .kind = TN_COLUMN_TEXT, .picks = range, .pick_count = 1 },
    { .kind = TN_COLUMN_F32, .picks = again, .pick_count = 1 },
  };
  static const float reals[] = { 1.5f, 31, -2000, 50, 0, 4 };
  room r;
  room_open(&r, text, strlen(text));
  for (size_t i = 0; i < SIZES; i++) {
    tn_csv_request request = { .header = true, .columns = columns, .column_count = 5 };
    assert_true(read_again(&r, request, piece_sizes[i]));
    const tn_column *c = r.columns.at;
    assert_int_equal(r.columns.rows, 3);
    assert_int_equal(c[0].width, 2);
    assert_memory_equal(c[0].reals.at, reals, sizeof reals);
    assert_int_equal(c[1].ints.at[2], 9);
    assert_true(c[4].reals.at[0] == 7 && c[4].reals.at[1] == 8 && c[4].reals.at[2] == 9);
    assert_int_equal(class_of(&c[2], TN_LIT("cat")), 0);
    assert_int_equal(c[2].ints.at[1], 1);
    assert_int_equal(c[3].width, 2);
    assert_true(tn_str_is(tn_column_text(&c[3], 3), " Ulm"));
    assert_int_equal(r.columns.lines.at[2], 4);
  }
  room_close(&r);
}

/* Columns that are not named go to the one that picks nothing. */
static void a_column_without_a_choice_gets_the_rest(void **state) {
  (void)state;
  static const tn_csv_pick last[] = { { .first = 2, .last = 2 } };
  const tn_csv_column columns[] = { { .kind = TN_COLUMN_F32 },
                                    { .kind = TN_COLUMN_CLASS, .picks = last, .pick_count = 1 } };
  room r;
  room_open(&r, "1,2,0\n3,4,1\n", 12);
  assert_true(read_again(&r, (tn_csv_request){ .columns = columns, .column_count = 2 }, 0));
  assert_int_equal(r.columns.at[0].width, 2);
  assert_true(r.columns.at[0].reals.at[3] == 4);
  assert_int_equal(r.columns.at[1].ints.at[1], 1);
  assert_null(r.columns.at[1].classes);
  room_close(&r);
}

/* Class numbers do not depend on the order of the rows. */
static void class_names_are_numbered_by_their_bytes(void **state) {
  (void)state;
  const tn_csv_column columns[] = { { .kind = TN_COLUMN_CLASS } };
  static const char *const orders[] = { "b\na\nc\n\xc3\xa4\na\n", "c\n\xc3\xa4\na\na\nb\n" };
  for (size_t i = 0; i < 2; i++) {
    room r;
    room_open(&r, orders[i], strlen(orders[i]));
    assert_true(read_again(&r, (tn_csv_request){ .columns = columns, .column_count = 1 }, 3));
    assert_int_equal(r.columns.at[0].class_count, 4);
    assert_int_equal(class_of(&r.columns.at[0], TN_LIT("a")), 0);
    assert_int_equal(class_of(&r.columns.at[0], TN_LIT("c")), 2);
    assert_int_equal(class_of(&r.columns.at[0], TN_LIT("\xc3\xa4")), 3);
    assert_int_equal(class_of(&r.columns.at[0], TN_LIT("d")), -1);
    assert_int_equal(r.columns.at[0].ints.at[i == 0 ? 0 : 4], 1);
    room_close(&r);
  }
}

static void every_form_of_a_number_is_read(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double value;
  } cases[] = {
    { "0", 0 },           { "-0", 0 },           { "5", 5 },         { "-5", -5 },
    { "+5", 5 },          { "007", 7 },          { "5.", 5 },        { ".5", 0.5 },
    { "-.5", -0.5 },      { "1e3", 1000 },       { "1E-3", 0.001 },  { " 2 ", 2 },
    { "\t2", 2 },         { "\"2\"", 2 },        { "\" 2\"", 2 },    { "12345678", 12345678 },
    { "123456789", 123456789 }, { "1234567.5", 1234567.5 }, { "12345678.25", 12345678.25 },
    { "0.1234567", 0.1234567 }, { "0.12345678", 0.12345678 }, { "-0.123456789012", -0.123456789012 },
    { "123456789.1234567", 123456789.1234567 }, { "3.14159265358979323846", 3.14159265358979323846 },
    { "0000000000000001", 1 }, { "1e38", 1e38 }, { "1e-50", 0 },
  };
  const tn_csv_column columns[] = { { .kind = TN_COLUMN_F32 } };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[128];
    snprintf(text, sizeof text, "%s,%s\n%s,%s\n", cases[i].text, cases[i].text, cases[i].text, cases[i].text);
    room r;
    room_open(&r, text, strlen(text));
    for (size_t k = 0; k < SIZES; k++) {
      assert_true(read_again(&r, (tn_csv_request){ .columns = columns, .column_count = 1 }, piece_sizes[k]));
      for (int item = 0; item < 4; item++)
        assert_true(r.columns.at[0].reals.at[item] == (float)cases[i].value);
    }
    room_close(&r);
  }
}

/* The quick way and the general one must agree to the bit; the general one gets the cell in quotes. */
static void quick_numbers_equal_the_others(void **state) {
  (void)state;
  static const char alphabet[] = "0123456789..--e+ 0123456789";
  const tn_csv_column columns[] = { { .kind = TN_COLUMN_F32 } };
  uint64_t random = 1;
  size_t numbers = 0;
  for (int i = 0; i < 4000; i++) {
    char cell[24], text[2][64];
    size_t length = 0;
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
    size_t wanted = 1 + (random >> 33) % 18;
    while (length < wanted) {
      random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
      cell[length++] = alphabet[(random >> 33) % (sizeof alphabet - 1)];
    }
    cell[length] = '\0';
    snprintf(text[0], sizeof text[0], "%s,1\n", cell);
    snprintf(text[1], sizeof text[1], "\"%s\",1\n", cell);
    float value[2] = { 0 };
    tn_data_problem problem[2];
    for (int k = 0; k < 2; k++) {
      room r;
      room_open(&r, text[k], strlen(text[k]));
      bool ok = read_again(&r, (tn_csv_request){ .columns = columns, .column_count = 1 }, 0);
      problem[k] = r.fault.problem;
      if (ok) value[k] = r.columns.at[0].reals.at[0];
      room_close(&r);
    }
    assert_int_equal(problem[0], problem[1]);
    assert_memory_equal(&value[0], &value[1], sizeof(float));
    numbers += problem[0] == TN_DATA_OK;
  }
  assert_true(numbers > 500);
}

typedef struct {
  const char *text;
  tn_column_kind kind;
  tn_data_problem problem;
  uint64_t line, col;
  const char *column, *value;
} bad_file;

/* ---- rows of numbers, many at a time ---- */

#define MANY_ROWS 2600 /* more than two chunks */

typedef struct {
  char text[MANY_ROWS * 64];
  size_t length;
  float numbers[2 * MANY_ROWS];
  uint32_t lines[MANY_ROWS];
} many;

static void write_cell(char *to, size_t size, unsigned form, double number) {
  switch (form) {
    case 0: snprintf(to, size, "%d", (int)number); break;
    case 1: snprintf(to, size, "%.1f", number); break;
    case 2: snprintf(to, size, "%.3f", number); break;
    case 3: snprintf(to, size, "%.7f", number); break;
    case 4: snprintf(to, size, "\"%d\"", (int)number); break;
    case 5: snprintf(to, size, " %.2f ", number); break;
    case 6: snprintf(to, size, "%e", number); break;
    default: snprintf(to, size, "%d0000000", (int)number); break;
  }
}

/* Ordinary numbers of every length, and now and then a row of another form: quotes, spaces, exponents, other
 * line ends, empty lines. What they are comes from strtof. */
static void write_many(many *m, unsigned seed) {
  static const char *const ends[] = { "\n", "\r\n", "\r", "\n\n", "\r\n\n" };
  uint32_t line = 1;
  m->length = 0;
  for (int row = 0; row < MANY_ROWS; row++) {
    m->lines[row] = line;
    for (int i = 0; i < 2; i++) {
      unsigned draw = (seed = seed * 1664525u + 1013904223u) >> 16;
      char cell[48], *from = cell;
      double number = ((int)(draw % 2001) - 1000) / (draw % 7 ? 1.0 : 977.0);
      write_cell(cell, sizeof cell, draw % 101 < 97 ? draw % 4 : 4 + draw % 4, number);
      while (*from == '"' || *from == ' ') from++;
      m->numbers[2 * row + i] = strtof(from, NULL);
      m->length += (size_t)sprintf(m->text + m->length, "%s%s", i ? "," : "", cell);
    }
    const char *end = ends[seed >> 8 & 63 ? seed >> 14 & 1 : 2 + (seed >> 14) % 3];
    m->length += (size_t)sprintf(m->text + m->length, "%s", end);
    line += 1 + (end[1] == '\n' && end[0] == '\n') + (end[0] == '\r' && end[1] == '\n' && end[2] == '\n');
  }
}

typedef struct {
  const many *wanted;
  size_t rows;
} comparison;

static bool compare_many(void *context, tn_columns *rows) {
  comparison *c = context;
  for (size_t i = 0; i < rows->rows; i++, c->rows++) {
    assert_memory_equal(rows->at[0].reals.at + 2 * i, c->wanted->numbers + 2 * c->rows, 2 * sizeof(float));
    assert_int_equal(rows->lines.at[i], c->wanted->lines[c->rows]);
  }
  return true;
}

static void rows_of_any_form_are_read_in_order(void **state) {
  (void)state;
  static many m;
  tn_csv_column all = { .kind = TN_COLUMN_F32 };
  for (unsigned seed = 1; seed <= 4; seed++) {
    write_many(&m, seed);
    room r;
    room_open(&r, m.text, m.length);
    for (size_t i = 0; i < SIZES; i++) {
      tn_csv_request request = { .columns = &all, .column_count = 1 };
      comparison whole = { .wanted = &m }, chunks = { .wanted = &m };
      assert_true(read_again(&r, request, piece_sizes[i]));
      compare_many(&whole, &r.columns);
      request.take = compare_many, request.context = &chunks;
      assert_true(read_again(&r, request, piece_sizes[i]));
      assert_int_equal(whole.rows, MANY_ROWS);
      assert_int_equal(chunks.rows, MANY_ROWS);
    }
    room_close(&r);
  }
}

/* The row that is wrong is named, whatever was taken before it. */
static void a_mistake_after_many_rows_has_its_line(void **state) {
  (void)state;
  static const char *const wrong[] = { "1,x\n", "1\n", "1,2,3\n", "1,\n", ",2\n", "1,1e99\n" };
  static char text[8 * 1500];
  tn_csv_column all = { .kind = TN_COLUMN_F32 };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    size_t length = 0;
    for (int row = 0; row < 1500; row++)
      length += (size_t)sprintf(text + length, "%s", row == 1400 ? wrong[i] : "1,2\n");
    room r;
    room_open(&r, text, length);
    assert_false(read_again(&r, (tn_csv_request){ .columns = &all, .column_count = 1 }, 0));
    assert_int_equal(r.fault.line, 1401);
    room_close(&r);
  }
}

static void a_bad_file_is_one_fault_with_its_place(void **state) {
  (void)state;
  static const bad_file cases[] = {
    { "", TN_COLUMN_TEXT, TN_DATA_EMPTY, 0, 0, "", "" },
    { "\n\n", TN_COLUMN_TEXT, TN_DATA_EMPTY, 0, 0, "", "" },
    { "a,b\n", TN_COLUMN_TEXT, TN_DATA_EMPTY, 0, 0, "", "" },
    { "a,b\n1,\"2\n3", TN_COLUMN_TEXT, TN_DATA_OPEN_QUOTE, 2, 3, "", "" },
    { "a,b\n\"1\n\",\"2\n3", TN_COLUMN_TEXT, TN_DATA_OPEN_QUOTE, 3, 3, "", "" },
    { "\"a", TN_COLUMN_TEXT, TN_DATA_OPEN_QUOTE, 1, 1, "", "" },
    { "a,b\n\"1\"2,3\n", TN_COLUMN_TEXT, TN_DATA_AFTER_QUOTE, 2, 4, "", "" },
    { "a,b\n\"\xc3\xa4\" ,3\n", TN_COLUMN_TEXT, TN_DATA_AFTER_QUOTE, 2, 4, "", "" },
    { "a,b\n1\n", TN_COLUMN_TEXT, TN_DATA_ROW_LENGTH, 2, 0, "", "" },
    { "a,b\n1,2\n\n1,2,3\n", TN_COLUMN_F32, TN_DATA_ROW_LENGTH, 4, 0, "", "" },
    { "a,b\n1,2,\n", TN_COLUMN_F32, TN_DATA_ROW_LENGTH, 2, 0, "", "" },
    { "a,b\n1\n", TN_COLUMN_F32, TN_DATA_ROW_LENGTH, 2, 0, "", "" },
    { "a,b\n1,\xff\n", TN_COLUMN_F32, TN_DATA_UTF8, 2, 3, "", "" },
    { "a,b\n1,\"x\n\xff\"\n", TN_COLUMN_TEXT, TN_DATA_UTF8, 2, 3, "", "" },
    { "a,b\n1,two\n", TN_COLUMN_F32, TN_DATA_NUMBER, 2, 3, "b", "two" },
    { "a,b\n1,\"two\"\n", TN_COLUMN_F32, TN_DATA_NUMBER, 2, 3, "b", "two" },
    { "a,b\n1,1e99\n", TN_COLUMN_F32, TN_DATA_FINITE, 2, 3, "b", "1e99" },
    { "a,b\n-Infinity,1\n", TN_COLUMN_F32, TN_DATA_FINITE, 2, 1, "a", "-Infinity" },
    { "a,b\n1,2\n3,\n", TN_COLUMN_F32, TN_DATA_MISSING, 3, 3, "b", "" },
    { "a,b\n1,2\n, 3\n", TN_COLUMN_F32, TN_DATA_MISSING, 3, 1, "a", "" },
    { "a,b\n1,NA\n", TN_COLUMN_F32, TN_DATA_MISSING, 2, 3, "b", "NA" },
    { "a,b\n1,nan\n", TN_COLUMN_I32, TN_DATA_MISSING, 2, 3, "b", "nan" },
    { "a,b\n1,2.5\n", TN_COLUMN_I32, TN_DATA_WHOLE, 2, 3, "b", "2.5" },
    { "a,b\n1,2147483648\n", TN_COLUMN_I32, TN_DATA_WHOLE, 2, 3, "b", "2147483648" },
    { "a\n1\ncat\n", TN_COLUMN_CLASS, TN_DATA_WHOLE, 3, 1, "a", "cat" },
    { "a\ncat\n\"\"\n", TN_COLUMN_CLASS, TN_DATA_MISSING, 3, 1, "a", "" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tn_csv_column all = { .kind = cases[i].kind };
    room r;
    room_open(&r, cases[i].text, strlen(cases[i].text));
    for (size_t k = 0; k < SIZES; k++) {
      tn_csv_request request = { .header = true, .columns = &all, .column_count = 1 };
      assert_false(read_again(&r, request, piece_sizes[k]));
      assert_int_equal(r.fault.problem, cases[i].problem);
      assert_int_equal(r.fault.line, cases[i].line);
      assert_int_equal(r.fault.col, cases[i].col);
      assert_string_equal(r.fault.column, cases[i].column);
      assert_string_equal(r.fault.value, cases[i].value);
    }
    room_close(&r);
  }
}

static void a_column_that_is_not_there_is_named(void **state) {
  (void)state;
  const struct {
    tn_csv_pick pick;
    bool header;
    tn_data_problem problem;
    const char *column, *value;
  } cases[] = {
    { { .name = TN_LIT("aeg") }, true, TN_DATA_NO_COLUMN, "aeg", "age" },
    { { .name = TN_LIT("zzz") }, true, TN_DATA_NO_COLUMN, "zzz", "" },
    { { .name = TN_LIT("age") }, false, TN_DATA_NO_COLUMN, "age", "" },
    { { .first = 1, .last = 4 }, true, TN_DATA_NO_COLUMN, "4", "" },
    { { .name = TN_LIT("x") }, true, TN_DATA_SAME_NAME, "x", "" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tn_csv_column column = { .kind = TN_COLUMN_TEXT, .picks = &cases[i].pick, .pick_count = 1 };
    room r;
    room_open(&r, "age,x,y,x\n1,2,3,4\n", 18);
    tn_csv_request request = { .header = cases[i].header, .columns = &column, .column_count = 1 };
    assert_false(read_again(&r, request, 0));
    assert_int_equal(r.fault.problem, cases[i].problem);
    assert_string_equal(r.fault.column, cases[i].column);
    assert_string_equal(r.fault.value, cases[i].value);
    room_close(&r);
  }
}

/* One row is all that memory holds beside the columns, and there is a limit to it. */
static void a_row_without_end_is_refused(void **state) {
  (void)state;
  size_t size = TN_CSV_ROW_BYTES + ((size_t)3 << 20);
  char *text = malloc(size);
  assert_non_null(text);
  memset(text, 'x', size);
  memcpy(text, "a\n1\n\"", 5);
  tn_csv_column all = { .kind = TN_COLUMN_TEXT };
  room r;
  room_open(&r, text, size);
  assert_false(read_again(&r, (tn_csv_request){ .header = true, .columns = &all, .column_count = 1 }, 0));
  assert_int_equal(r.fault.problem, TN_DATA_LONG_ROW);
  assert_int_equal(r.fault.line, 3);
  assert_true(r.heap.peak < 8 * TN_CSV_ROW_BYTES);
  room_close(&r);
  free(text);
}

static void memory_is_bounded_by_the_columns(void **state) {
  (void)state;
  size_t rows = 60000, size = 0;
  char *text = malloc(rows * 64);
  assert_non_null(text);
  for (size_t i = 0; i < rows; i++)
    size += (size_t)sprintf(text + size, "skipped text of this row %05zu,%zu\n", i, i);
  static const tn_csv_pick second[] = { { .first = 1, .last = 1 } };
  tn_csv_column column = { .kind = TN_COLUMN_I32, .picks = second, .pick_count = 1 };
  room r;
  room_open(&r, text, size);
  assert_true(read_again(&r, (tn_csv_request){ .columns = &column, .column_count = 1 }, 4096));
  assert_int_equal(r.columns.at[0].ints.at[rows - 1], rows - 1);
  assert_true(r.heap.peak < rows * 8 * 2 + ((size_t)1 << 20) + ((size_t)1 << 19)); /* twice, and a piece */
  room_close(&r);
  free(text);
}

static void other_delimiters_separate_too(void **state) {
  (void)state;
  static const char delimiters[] = { ';', '\t', '|', ' ', ':' };
  const tn_csv_column columns[] = { { .kind = TN_COLUMN_F32 } };
  for (size_t i = 0; i < sizeof delimiters; i++) {
    char text[64];
    snprintf(text, sizeof text, "1.5%c2\n3%c4\n", delimiters[i], delimiters[i]);
    room r;
    room_open(&r, text, strlen(text));
    assert_true(read_again(
        &r, (tn_csv_request){ .delimiter = delimiters[i], .columns = columns, .column_count = 1 }, 2));
    assert_true(r.columns.at[0].reals.at[0] == 1.5f && r.columns.at[0].reals.at[3] == 4);
    room_close(&r);
  }
}

/* The n-th allocation fails, for every n: a fault, and nothing is left. */
static void running_out_of_memory_is_a_fault(void **state) {
  (void)state;
  static const char text[] = "a,b,c\n1,x,\"p\"\"q\"\n2,y,r\n";
  static const tn_csv_pick a[] = { { .first = 0, .last = 0 } }, b[] = { { .first = 1, .last = 1 } };
  const tn_csv_column columns[] = { { .kind = TN_COLUMN_F32, .picks = a, .pick_count = 1 },
                                    { .kind = TN_COLUMN_CLASS, .picks = b, .pick_count = 1 },
                                    { .kind = TN_COLUMN_TEXT } };
  const tn_csv_request request = { .header = true, .columns = columns, .column_count = 3 };
  room r;
  room_open(&r, text, strlen(text));
  uint64_t fail_at = 1;
  for (;; fail_at++) {
    r.heap.requests = 0;
    r.heap.fail_at = fail_at;
    if (read_again(&r, request, 0)) break;
    assert_int_equal(r.fault.problem, TN_DATA_MEMORY);
  }
  assert_true(fail_at > 10);
  r.heap.fail_at = 0;
  room_close(&r);
}

static void a_file_that_cannot_be_read_is_a_fault(void **state) {
  (void)state;
  tn_csv_column all = { .kind = TN_COLUMN_TEXT };
  room r;
  room_open(&r, "a\n", 2);
  unlink(r.path);
  assert_false(read_again(&r, (tn_csv_request){ .columns = &all, .column_count = 1 }, 0));
  assert_int_equal(r.fault.problem, TN_DATA_FILE);
  assert_int_equal(r.fault.file, TN_FILE_NOT_FOUND);
  room_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(cells_may_be_quoted),
    cmocka_unit_test(a_header_is_not_a_row),
    cmocka_unit_test(columns_are_picked_by_name_number_and_range),
    cmocka_unit_test(a_column_without_a_choice_gets_the_rest),
    cmocka_unit_test(class_names_are_numbered_by_their_bytes),
    cmocka_unit_test(every_form_of_a_number_is_read),
    cmocka_unit_test(quick_numbers_equal_the_others),
    cmocka_unit_test(rows_of_any_form_are_read_in_order),
    cmocka_unit_test(a_mistake_after_many_rows_has_its_line),
    cmocka_unit_test(a_bad_file_is_one_fault_with_its_place),
    cmocka_unit_test(a_column_that_is_not_there_is_named),
    cmocka_unit_test(a_row_without_end_is_refused),
    cmocka_unit_test(memory_is_bounded_by_the_columns),
    cmocka_unit_test(other_delimiters_separate_too),
    cmocka_unit_test(running_out_of_memory_is_a_fault),
    cmocka_unit_test(a_file_that_cannot_be_read_is_a_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
