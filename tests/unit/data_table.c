/* tests/unit/data_table.c: data files become columns, or one diagnostic with file and line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/table.h"

typedef struct {
  tn_heap heap;
  tn_sources sources;
  tn_diags diags;
  tn_table table;
  tn_columns columns;
  char path[64];
} room;

static void room_open(room *r, const char *text, size_t length) {
  memset(r, 0, sizeof *r);
  tn_sources_init(&r->sources, &r->heap);
  tn_diags_init(&r->diags, &r->heap, &r->sources);
  strcpy(r->path, "tern-data-XXXXXX");
  int file = mkstemp(r->path);
  assert_true(file >= 0);
  assert_true(write(file, text, length) == (ssize_t)length);
  close(file);
}

static void room_close(room *r) {
  unlink(r->path);
  tn_table_free(&r->table);
  if (r->columns.count > 0) tn_columns_free(&r->columns);
  tn_diags_free(&r->diags);
  tn_sources_free(&r->sources);
  assert_int_equal(r->heap.used, 0);
}

/* The rows stay columns from then on. */
static bool check(room *r, int column, const tn_table_index *index) {
  if (r->columns.count == 0) assert_true(tn_table_take(&r->table, &r->columns));
  return (column == TN_TABLE_LABELS ? tn_columns_check_labels : tn_columns_check_features)(
      &r->columns, &r->columns.at[column], index, &r->diags);
}

static tn_table_request jsonl(const room *r) {
  return (tn_table_request){ .path = r->path,
                             .format = TN_TABLE_JSONL,
                             .wants_features = true,
                             .wants_labels = true,
                             .width = -1,
                             .feature_key = TN_LIT("tokens"),
                             .label_key = TN_LIT("label") };
}

static tn_table_request tsv(const room *r) {
  tn_table_request request = jsonl(r);
  request.format = TN_TABLE_TSV;
  return request;
}

static const char *field(const room *r, const char *name) {
  static char text[256];
  const tn_diag *diag = &r->diags.list.at[0];
  for (size_t i = 0; i < diag->field_count; i++) {
    if (strcmp(diag->fields[i].name, name) != 0) continue;
    snprintf(text, sizeof text, "%.*s", (int)diag->fields[i].value.len, diag->fields[i].value.at);
    return text;
  }
  return "";
}

static void rows_of_jsonl_become_columns(void **state) {
  (void)state;
  static const char text[] = "{\"tokens\":[1,2,3],\"label\":0}\n\n  {\"id\": {\"a\": [1]}, \"labels\": 1, "
                             "\"tokens\": [4, -5, 6]}\r\n";
  room r;
  room_open(&r, text, strlen(text));
  tn_table_request request = jsonl(&r);
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.table.rows, 2);
  assert_int_equal(r.table.width, 3);
  assert_int_equal(r.table.ints.at[4], -5);
  assert_int_equal(r.table.labels.at[1], 1);
  assert_int_equal(r.table.lines.at[1], 3);
  room_close(&r);
}

static void the_exact_key_wins_over_its_alternative(void **state) {
  (void)state;
  static const char text[] =
      "{\"tokens\":[1],\"label\":3,\"labels\":4}\n{\"tokens\":[1],\"labels\":4,\"label\":3}\n";
  room r;
  room_open(&r, text, strlen(text));
  tn_table_request request = jsonl(&r);
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.table.labels.at[0], 3);
  assert_int_equal(r.table.labels.at[1], 3);
  room_close(&r);
}

static void features_may_be_real_numbers(void **state) {
  (void)state;
  static const char text[] = "{\"x\":[0.5,-2e3],\"label\":1}";
  room r;
  room_open(&r, text, strlen(text));
  tn_table_request request = jsonl(&r);
  request.floats = true;
  request.feature_key = TN_LIT("x");
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_true(r.table.reals.at[0] == 0.5f && r.table.reals.at[1] == -2000);
  room_close(&r);
}

static void tsv_has_the_label_last_unless_columns_are_named(void **state) {
  (void)state;
  static const char text[] = "1,2\t3\t0\n4,5\t6\t1\n";
  static const int32_t first[] = { 0 }, last[] = { 2 };
  room r;
  room_open(&r, text, strlen(text));
  tn_table_request request = tsv(&r);
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.table.width, 3);
  assert_int_equal(r.table.ints.at[5], 6);
  assert_int_equal(r.table.labels.at[1], 1);
  tn_table_free(&r.table);
  request.feature_columns = first, request.feature_column_count = 1;
  request.label_columns = last, request.label_column_count = 1;
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.table.width, 2);
  assert_int_equal(r.table.ints.at[3], 5);
  room_close(&r);
}

static void columns_that_are_not_there_are_missed(void **state) {
  (void)state;
  static const int32_t far[] = { 9 }, first[] = { 0 };
  for (int k = 0; k < 3; k++) {
    room r;
    room_open(&r, "1\tx\n", 4);
    tn_table_request request = tsv(&r);
    request.feature_columns = k == 0 ? far : k == 2 ? (const int32_t[]){ 1 } : first;
    request.label_columns = k == 1 ? far : first;
    request.feature_column_count = request.label_column_count = 1;
    assert_false(tn_table_read(&r.heap, &request, &r.diags, &r.table));
    assert_int_equal(r.diags.list.at[0].code, TN_DIAG_E_DATASET_PARSE_ERROR);
    room_close(&r);
  }
}

static void a_row_of_tsv_has_a_limit_of_columns(void **state) {
  (void)state;
  enum { COLUMNS = 65537 };
  char *text = malloc(2 * COLUMNS);
  assert_non_null(text);
  for (size_t i = 0; i < COLUMNS; i++) memcpy(text + 2 * i, "1\t", 2);
  for (int k = 0; k < 2; k++) { /* 65,536 columns, and one more */
    room r;
    room_open(&r, text, 2 * (COLUMNS - 1 + (size_t)k) - 1);
    tn_table_request request = tsv(&r);
    assert_int_equal(tn_table_read(&r.heap, &request, &r.diags, &r.table), k == 0);
    if (k == 1) assert_int_equal(r.diags.list.at[0].code, TN_DIAG_E_DATASET_PARSE_ERROR);
    room_close(&r);
  }
  free(text);
}

/* What a program has no input for is not read. */
static void features_or_labels_may_be_left_alone(void **state) {
  (void)state;
  static const char rows[] = " 1.5 , 2 \t3 \r\n4,5\t6\n",
                    objects[] = "{\"tokens\":[1,2],\"labels\":1,\"labels\":2}\n";
  room r;
  room_open(&r, rows, strlen(rows));
  tn_table_request request = tsv(&r);
  request.floats = true;
  request.wants_labels = false;
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.table.width, 2);
  assert_true(r.table.reals.at[0] == 1.5f && r.table.reals.at[3] == 5);
  assert_int_equal(r.table.labels.count, 0);
  tn_table_free(&r.table);
  request.wants_labels = true;
  request.wants_features = false;
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.table.labels.at[1], 6);
  room_close(&r);
  room_open(&r, objects, strlen(objects));
  request = jsonl(&r);
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table)); /* the last of two counts */
  assert_int_equal(r.table.labels.at[0], 2);
  tn_table_free(&r.table);
  request.wants_features = false;
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.table.ints.count, 0);
  tn_table_free(&r.table);
  request.wants_features = true;
  request.wants_labels = false;
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.table.labels.count, 0);
  room_close(&r);
}

static void real_numbers_are_numbers(void **state) {
  (void)state;
  room r;
  room_open(&r, "1.5,x\t0\n", 8);
  tn_table_request request = tsv(&r);
  request.floats = true;
  assert_false(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.diags.list.at[0].code, TN_DIAG_E_DATASET_PARSE_ERROR);
  room_close(&r);
}

typedef struct {
  const char *text;
  bool is_tsv;
  tn_diag_code code;
  const char *line, *name, *value; /* a field and what it says; NULL: not looked at */
} broken;

static void every_mistake_in_a_file_names_its_line(void **state) {
  (void)state;
  static const broken cases[] = {
    { "", false, TN_DIAG_E_DATASET_EMPTY, NULL, NULL, NULL },
    { "\n \n", false, TN_DIAG_E_DATASET_EMPTY, NULL, NULL, NULL },
    { "{\"tokens\":[1],\"label\":0}\n{\"tokens\":[1],", false, TN_DIAG_E_DATASET_JSONL_PARSE_ERROR, "2", NULL,
      NULL },
    { "[1]", false, TN_DIAG_E_DATASET_JSONL_PARSE_ERROR, "1", NULL, NULL },
    { "{\"tokens\":[1],\"label\":0} x", false, TN_DIAG_E_DATASET_JSONL_PARSE_ERROR, "1", NULL, NULL },
    { "{\"tokens\":[1,\"label\":0}", false, TN_DIAG_E_DATASET_JSONL_PARSE_ERROR, "1", NULL, NULL },
    { "{\"tokens\":[1,]}", false, TN_DIAG_E_DATASET_JSONL_PARSE_ERROR, "1", NULL, NULL },
    { "{\"label\":0}", false, TN_DIAG_E_DATASET_SCHEMA_MISSING_FIELD, "1", "field", "tokens" },
    { "{\"tokens\":[0]}", false, TN_DIAG_E_DATASET_SCHEMA_MISSING_FIELD, "1", "field", "label" },
    { "{\"tokens\":3,\"label\":0}", false, TN_DIAG_E_DATASET_SCHEMA_WRONG_TYPE, "1", "field", "tokens" },
    { "{\"tokens\":[1,\"a\"],\"label\":0}", false, TN_DIAG_E_DATASET_SCHEMA_WRONG_TYPE, "1", "field",
      "tokens" },
    { "{\"tokens\":[1.5],\"label\":0}", false, TN_DIAG_E_DATASET_SCHEMA_WRONG_TYPE, "1", "field", "tokens" },
    { "{\"tokens\":[99999999999],\"label\":0}", false, TN_DIAG_E_DATASET_SCHEMA_WRONG_TYPE, "1", "field",
      "tokens" },
    { "{\"tokens\":[1],\"label\":\"a\"}", false, TN_DIAG_E_DATASET_SCHEMA_WRONG_TYPE, "1", "field", "label" },
    { "{\"tokens\":[1],\"label\":[0]}", false, TN_DIAG_E_DATASET_SCHEMA_WRONG_TYPE, "1", "field", "label" },
    { "{\"tokens\":[1,2],\"label\":0}\n{\"tokens\":[1],\"label\":0}", false, TN_DIAG_E_DATASET_DIM_MISMATCH,
      "2", "received_T", "1" },
    { "1\t2\t0\n1\t0", true, TN_DIAG_E_DATASET_DIM_MISMATCH, "2", "expected_T", "2" },
    { "1\tx\t0", true, TN_DIAG_E_DATASET_PARSE_ERROR, "1", NULL, NULL },
    { "1\t2\tx", true, TN_DIAG_E_DATASET_PARSE_ERROR, "1", NULL, NULL },
    { "1,,2\t0", true, TN_DIAG_E_DATASET_PARSE_ERROR, "1", NULL, NULL },
    { "7", true, TN_DIAG_E_DATASET_PARSE_ERROR, "1", NULL, NULL },
    { "3000000000\t0", true, TN_DIAG_E_DATASET_PARSE_ERROR, "1", NULL, NULL },
    { "-3000000000\t0", true, TN_DIAG_E_DATASET_PARSE_ERROR, "1", NULL, NULL },
    { "1\t3000000000", true, TN_DIAG_E_DATASET_PARSE_ERROR, "1", NULL, NULL },
    { "1\t-3000000000", true, TN_DIAG_E_DATASET_PARSE_ERROR, "1", NULL, NULL },
    { "\t\r\n \t\n1\t\n", true, TN_DIAG_E_DATASET_PARSE_ERROR, "3", NULL, NULL },
    { "{\"tokens\":[1],\"label\":0.5}", false, TN_DIAG_E_DATASET_SCHEMA_WRONG_TYPE, "1", "field", "label" },
    { "{\"tokens\":[1],\"label\":3000000000}", false, TN_DIAG_E_DATASET_SCHEMA_WRONG_TYPE, "1", "field",
      "label" },
    { "{\"tokens\":[1],\"label\":-3000000000}", false, TN_DIAG_E_DATASET_SCHEMA_WRONG_TYPE, "1", "field",
      "label" },
    { "{\"tokens\":[1],\"label\":1,\"labels\":[1,}", false, TN_DIAG_E_DATASET_JSONL_PARSE_ERROR, "1", NULL,
      NULL },
    { "{\"tokens\":[1],\"label\":1,\"other\":[1,}", false, TN_DIAG_E_DATASET_JSONL_PARSE_ERROR, "1", NULL,
      NULL },
    { "{\"tokens\":}", false, TN_DIAG_E_DATASET_JSONL_PARSE_ERROR, "1", NULL, NULL },
    { "{\"label\":}", false, TN_DIAG_E_DATASET_JSONL_PARSE_ERROR, "1", NULL, NULL },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    room r;
    room_open(&r, cases[i].text, strlen(cases[i].text));
    tn_table_request request = cases[i].is_tsv ? tsv(&r) : jsonl(&r);
    assert_false(tn_table_read(&r.heap, &request, &r.diags, &r.table));
    assert_int_equal(r.diags.list.count, 1);
    if (r.diags.list.at[0].code != cases[i].code)
      fail_msg("case %zu gave %s", i, tn_diag_info_of(r.diags.list.at[0].code)->code);
    assert_int_equal(r.diags.list.at[0].phase, TN_PHASE_DATA);
    if (cases[i].line) assert_string_equal(field(&r, "line"), cases[i].line);
    if (cases[i].name) assert_string_equal(field(&r, cases[i].name), cases[i].value);
    room_close(&r);
  }
}

static void files_that_cannot_be_read_have_codes_of_their_own(void **state) {
  (void)state;
  room r;
  room_open(&r, "\xff\n", 2);
  tn_table_request request = jsonl(&r);
  assert_false(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.diags.list.at[0].code, TN_DIAG_E_FILE_INVALID_UTF8);
  tn_diags_clear(&r.diags);
  request.path = "/nonexistent/tern";
  assert_false(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.diags.list.at[0].code, TN_DIAG_E_FILE_NOT_FOUND);
  tn_diags_clear(&r.diags);
  request.path = ".";
  assert_false(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.diags.list.at[0].code, TN_DIAG_E_FILE_IO_ERROR);
  assert_string_equal(field(&r, "io_error_kind"), "is_a_directory");
  tn_diags_clear(&r.diags);
  request.path = "/proc/self/mem"; /* which cannot be read at its beginning */
  assert_false(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.diags.list.at[0].code, TN_DIAG_E_FILE_IO_ERROR);
  assert_string_equal(field(&r, "io_error_kind"), "io_error");
  room_close(&r);
}

static void a_label_outside_the_classes_is_found_with_its_line(void **state) {
  (void)state;
  static const char text[] = "{\"tokens\":[1],\"label\":0}\n\n{\"tokens\":[1],\"label\":2}\n";
  room r;
  room_open(&r, text, strlen(text));
  tn_table_request request = jsonl(&r);
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_true(check(&r, TN_TABLE_LABELS, &(tn_table_index){ .path = "p", .limit = 3 }));
  assert_false(check(&r, TN_TABLE_LABELS, &(tn_table_index){ .path = "p", .limit = 2 }));
  assert_string_equal(field(&r, "line"), "3");
  assert_string_equal(field(&r, "num_classes"), "2");
  room_close(&r);
}

static void a_token_outside_its_table_is_found_with_its_line(void **state) {
  (void)state;
  static const char text[] = "{\"tokens\":[1,0],\"label\":0}\n\n{\"tokens\":[2,-1],\"label\":2}\n";
  room r;
  room_open(&r, text, strlen(text));
  tn_table_request request = jsonl(&r);
  tn_table_index index = { .path = "p", .limit = 2, .function = TN_LIT("embedding") };
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_false(check(&r, TN_TABLE_FEATURES, &index));
  assert_int_equal(r.diags.list.at[0].code, TN_DIAG_E_INDEX_OUT_OF_RANGE);
  assert_int_equal(r.diags.list.at[0].phase, TN_PHASE_DATA);
  assert_string_equal(field(&r, "line"), "3");
  assert_string_equal(field(&r, "index"), "2");
  tn_diags_clear(&r.diags);
  index.limit = 3; /* a negative one is outside every table */
  assert_false(check(&r, TN_TABLE_FEATURES, &index));
  assert_string_equal(field(&r, "index"), "-1");
  room_close(&r);
}

static void the_last_column_of_tsv_is_not_a_feature_where_nothing_reads_labels(void **state) {
  (void)state;
  static const char text[] = "1\t2\tblue\n";
  room r;
  room_open(&r, text, strlen(text));
  tn_table_request request = tsv(&r);
  request.wants_labels = false;
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.table.width, 2);
  room_close(&r);
  room_open(&r, "7\n", 2);
  request = tsv(&r);
  request.wants_labels = false;
  assert_false(tn_table_read(&r.heap, &request, &r.diags, &r.table)); /* the only one is the label */
  assert_int_equal(r.diags.list.at[0].code, TN_DIAG_E_DATASET_PARSE_ERROR);
  tn_diags_clear(&r.diags);
  request.feature_columns = (const int32_t[]){ 0 };
  request.feature_column_count = 1;
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.table.ints.at[0], 7);
  room_close(&r);
}

static void reads_or_says_so(const char *text, bool is_tsv, bool floats) {
  for (uint64_t n = 1;; n++) {
    room r;
    room_open(&r, text, strlen(text));
    tn_table_request request = is_tsv ? tsv(&r) : jsonl(&r);
    request.floats = floats;
    r.heap.fail_at = n;
    r.heap.fail_onwards = false;
    bool ok = tn_table_read(&r.heap, &request, &r.diags, &r.table);
    bool reached = r.heap.failed;
    assert_true(ok || r.diags.errors > 0);
    room_close(&r);
    if (!reached) {
      assert_true(ok);
      break;
    }
  }
}

static void every_failed_allocation_is_a_diagnostic(void **state) {
  (void)state;
  reads_or_says_so("{\"tokens\":[1,2,3],\"l\\u0061bel\":0}\n{\"tokens\":[4,5,6],\"label\":1}\n", false,
                   false);
  reads_or_says_so("1\t2,3\t0\n4\t5,6\t1", true, false);
  reads_or_says_so("1\t2.5,3\t0\n4\t5,6\t1", true, true);
}

/* More than one piece of a file: 4 MiB. */
#define LONG_ROWS 131072
#define LONG_LINE "{\"tokens\": [1, 2], \"label\": 0   }\n"

static void open_long(room *r) {
  size_t length = strlen(LONG_LINE);
  char *text = malloc(length * LONG_ROWS);
  assert_non_null(text);
  for (size_t i = 0; i < LONG_ROWS; i++) memcpy(text + i * length, LONG_LINE, length);
  room_open(r, text, length * LONG_ROWS);
  free(text);
}

static void lines_continue_across_pieces(void **state) {
  (void)state;
  room r;
  uint8_t hash[32] = { 0 }, again[32] = { 0 };
  open_long(&r);
  tn_table_request request = jsonl(&r);
  request.sha256 = hash;
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.table.rows, LONG_ROWS);
  assert_int_equal(r.table.ints.count, 2 * LONG_ROWS);
  assert_int_equal(r.table.lines.at[LONG_ROWS - 1], LONG_ROWS);
  tn_table_free(&r.table);
  request.sha256 = again;
  assert_true(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_memory_equal(hash, again, sizeof hash);
  room_close(&r);
}

static bool shrink(void *context, tn_table *table) {
  const room *r = context;
  (void)table;
  assert_int_equal(truncate(r->path, 40), 0);
  return true;
}

static void a_file_may_shrink_while_it_is_read(void **state) {
  (void)state;
  room r;
  open_long(&r);
  tn_table_request request = jsonl(&r);
  request.take = shrink;
  request.context = &r;
  /* The first piece was read; its last line lacks its end. */
  assert_false(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.diags.list.at[0].code, TN_DIAG_E_DATASET_JSONL_PARSE_ERROR);
  room_close(&r);
}

static void reading_can_be_stopped(void **state) {
  (void)state;
  room r;
  open_long(&r);
  tn_table_request request = jsonl(&r);
  tn_stop stop = { .asked = true };
  r.heap.stop = &stop;
  assert_false(tn_table_read(&r.heap, &request, &r.diags, &r.table));
  assert_int_equal(r.diags.errors, 0);
  room_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(lines_continue_across_pieces),
    cmocka_unit_test(a_file_may_shrink_while_it_is_read),
    cmocka_unit_test(reading_can_be_stopped),
    cmocka_unit_test(rows_of_jsonl_become_columns),
    cmocka_unit_test(the_exact_key_wins_over_its_alternative),
    cmocka_unit_test(features_may_be_real_numbers),
    cmocka_unit_test(tsv_has_the_label_last_unless_columns_are_named),
    cmocka_unit_test(the_last_column_of_tsv_is_not_a_feature_where_nothing_reads_labels),
    cmocka_unit_test(a_token_outside_its_table_is_found_with_its_line),
    cmocka_unit_test(every_mistake_in_a_file_names_its_line),
    cmocka_unit_test(columns_that_are_not_there_are_missed),
    cmocka_unit_test(a_row_of_tsv_has_a_limit_of_columns),
    cmocka_unit_test(features_or_labels_may_be_left_alone),
    cmocka_unit_test(real_numbers_are_numbers),
    cmocka_unit_test(files_that_cannot_be_read_have_codes_of_their_own),
    cmocka_unit_test(a_label_outside_the_classes_is_found_with_its_line),
    cmocka_unit_test(every_failed_allocation_is_a_diagnostic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
