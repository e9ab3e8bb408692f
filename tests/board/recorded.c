/* What `tern evaluate --record` left in a run's folder, as the board serves it: also when it is damaged, or
 * was never written by tern. */
#define _DEFAULT_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>

#include "base/file.h"
#include "base/seal.h"
#include "support/served.h"

#define GOOD                                                                                                 \
  "{\"data\":\"a.csv\",\"rows\":3,\"metrics\":{\"loss\":0.5},\"class_count\":2,\"classes\":[\"a\",\"b\"],"  \
  "\"confusion\":[[1,0],[1,1]],\"worst\":[{\"row\":2,\"line\":3,\"class\":\"b\",\"predicted\":\"a\","        \
  "\"probability\":0.25,\"loss\":1.3862944}]"

static char body[1 << 20];

static int fetch_evaluation(const served *s, int64_t run) {
  char path[64];
  snprintf(path, sizeof path, "/api/runs/%d/evaluation", (int)run);
  return fetch_with(s, path, "", body, sizeof body);
}

static void write_bytes(served *s, int64_t run, tn_str bytes) {
  char room[128];
  tn_heap heap = { 0 }; /* the server's own is for its thread */
  assert_int_equal(tn_file_replace(&heap, served_file(s, run, "evaluation.json", room), bytes, NULL),
                   TN_FILE_OK);
}

/* An object that is still open gets a seal that holds: anybody can compute one. */
static void write_sealed(served *s, int64_t run, const char *open) {
  tn_heap heap = { 0 };
  tn_text text;
  tn_text_init(&text, &heap);
  tn_text_puts(&text, open);
  size_t digits = tn_seal_reserve(&text, false);
  assert_int_not_equal(digits, 0);
  tn_seal_close(text.at, text.len, text.at + digits);
  write_bytes(s, run, tn_text_str(&text));
  tn_text_free(&text);
}

static void prepare(served *s, int runs) {
  for (int i = 0; i < runs; i++) assert_int_not_equal(served_add_run(s, "x", NULL, 0), 0);
  assert_true(served_start(s));
}

static void a_run_without_the_file_has_none(void **state) {
  served *s = *state;
  prepare(s, 1);
  assert_int_equal(fetch_evaluation(s, 1), 200);
  assert_non_null(strstr(body, "{\"ok\":true,\"evaluation\":null}"));
  assert_int_equal(fetch_evaluation(s, 2), 404); /* there is no such run */
  write_sealed(s, 1, GOOD);
  assert_int_equal(fetch_evaluation(s, 1), 200);
  assert_non_null(strstr(body, "\"evaluation\":" GOOD "}"));
}

static void a_new_file_replaces_the_old_one(void **state) {
  served *s = *state;
  prepare(s, 1);
  write_sealed(s, 1, GOOD);
  assert_int_equal(fetch_evaluation(s, 1), 200);
  write_sealed(s, 1, "{\"data\":\"b.csv\",\"rows\":0,\"metrics\":{\"loss\":\"NaN\"}");
  assert_int_equal(fetch_evaluation(s, 1), 200);
  assert_non_null(strstr(body, "{\"data\":\"b.csv\",\"rows\":0,\"metrics\":{\"loss\":\"NaN\"}}"));
}

/* Unknown members are left out, and text stays text. */
static void what_is_not_known_is_left_out(void **state) {
  served *s = *state;
  prepare(s, 1);
  write_sealed(s, 1, "{\"x\":[[{\"y\":[1,{}]}]],\"data\":\"</script>\\u0000\",\"rows\":1,\"metrics\":{}");
  assert_int_equal(fetch_evaluation(s, 1), 200);
  assert_non_null(strstr(body, "{\"data\":\"</script>\\u0000\",\"rows\":1,\"metrics\":{}}"));
}

static void damage_is_one_message(void **state) {
  served *s = *state;
  prepare(s, 1);
  static const char *const files[] = { "", "{}", "nonsense", "{\"data\":", GOOD "}",
                                       GOOD ",\"tern.sha256\":\"00\"}" };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    write_bytes(s, 1, tn_str_of(files[i]));
    assert_int_equal(fetch_evaluation(s, 1), 404);
    assert_non_null(strstr(body, "evaluation.json is damaged: its hash does not match"));
  }
}

static void hostile_members_are_refused(void **state) {
  served *s = *state;
  static const struct {
    const char *file, *reason;
  } cases[] = {
    { "{\"rows\":1,\"metrics\":{}", "a member is missing" },
    { "{\"data\":1,\"rows\":1,\"metrics\":{}", "a text is missing" },
    { "{\"data\":\"a\",\"rows\":-1,\"metrics\":{}", "a count is not" },
    { "{\"data\":\"a\",\"rows\":1.5,\"metrics\":{}", "a count is not" },
    { "{\"data\":\"a\",\"rows\":1e400,\"metrics\":{}", "a count is not" },
    { "{\"data\":\"a\",\"rows\":1,\"rows\":1,\"metrics\":{}", "repeated" },
    { "{\"data\":\"a\",\"rows\":1,\"metrics\":[]", "the metrics are missing" },
    { "{\"data\":\"a\",\"rows\":1,\"metrics\":{\"loss\":\"<b>\"}", "a value is not a number" },
    { "{\"data\":\"a\",\"rows\":1,\"metrics\":{\"loss\":[[[1]]]}", "a value is not a number" },
    { "{\"data\":\"a\",\"rows\":1,\"metrics\":{},\"classes\":{}", "a list is missing" },
    { "{\"data\":\"a\",\"rows\":1,\"metrics\":{},\"confusion\":[[1]]", "a column per class" },
    { "{\"data\":\"a\",\"rows\":1,\"metrics\":{},\"classes\":[\"a\"],\"confusion\":[[1],[1]]",
      "a row per class" },
    { "{\"data\":\"a\",\"rows\":1,\"metrics\":{},\"classes\":[\"a\",\"b\"],\"confusion\":[[1,2],[1]]",
      "a column per class" },
    { "{\"data\":\"a\",\"rows\":1,\"metrics\":{},\"worst\":[1]", "an object is missing" },
    { "{\"data\":\"a\",\"rows\":1,\"metrics\":{},\"worst\":[{}]", "a member is missing" },
    { "{\"data\":\"a\",\"rows\":1,\"metrics\":{},\"worst\":[{\"row\":1,\"class\":null}]",
      "a text is missing" },
    { "{\"data\":\"a\",\"rows\":1,\"metrics\":{},\"worst\":[}", "it is not JSON" },
    { "{\"data\":\"a\",\"rows\":1,\"metrics\":{\"loss\":1},,", "it is not JSON" },
  };
  prepare(s, 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_sealed(s, 1, cases[i].file);
    assert_int_equal(fetch_evaluation(s, 1), 404);
    assert_non_null(strstr(body, "evaluation.json is damaged: "));
    if (!strstr(body, cases[i].reason)) fail_msg("%s: %s", cases[i].file, body);
  }
}

/* `count` times `item` with commas, between `before` and `after`. */
static void write_many(served *s, const char *before, const char *item, int count, const char *after) {
  tn_heap heap = { 0 };
  tn_text text;
  tn_text_init(&text, &heap);
  tn_text_puts(&text, "{\"data\":\"a\",\"rows\":1,\"metrics\":{},");
  tn_text_puts(&text, before);
  for (int i = 0; i < count; i++) {
    if (i > 0) tn_text_byte(&text, ',');
    tn_text_puts(&text, item);
  }
  tn_text_puts(&text, after);
  write_sealed(s, 1, text.at);
  tn_text_free(&text);
}

static void sizes_are_bounded(void **state) {
  served *s = *state;
  static const struct {
    const char *before, *item;
    int most;
    const char *after;
  } lists[] = { { "\"worst\":[", "{\"row\":1}", 50, "]" }, { "\"classes\":[", "\"a\"", 100, "]" } };
  prepare(s, 1);
  for (int i = 0; i < 2; i++) {
    write_many(s, lists[i].before, lists[i].item, lists[i].most, lists[i].after);
    assert_int_equal(fetch_evaluation(s, 1), 200);
    write_many(s, lists[i].before, lists[i].item, lists[i].most + 1, lists[i].after);
    assert_int_equal(fetch_evaluation(s, 1), 404);
    assert_non_null(strstr(body, "a list is too long"));
  }
  write_many(s, "\"x\":", "[", 1, "");
  assert_int_equal(fetch_evaluation(s, 1), 404);
  write_many(s, "\"x\":[", "1", 600000, "]"); /* over 1 MiB */
  assert_int_equal(fetch_evaluation(s, 1), 404);
  assert_non_null(strstr(body, "evaluation.json is too large"));
}

/* Not a plain file: opening a FIFO would wait for its other end forever. */
static void odd_files_are_not_opened(void **state) {
  served *s = *state;
  char room[128];
  prepare(s, 5);
  assert_int_equal(mkfifo(served_file(s, 1, "evaluation.json", room), 0600), 0);
  assert_int_equal(mkdir(served_file(s, 2, "evaluation.json", room), 0700), 0);
  assert_int_equal(symlink("/etc/passwd", served_file(s, 3, "evaluation.json", room)), 0);
  assert_int_equal(symlink("/dev/zero", served_file(s, 4, "evaluation.json", room)), 0);
  for (int i = 1; i <= 4; i++) {
    assert_int_equal(fetch_evaluation(s, i), 404);
    assert_non_null(strstr(body, "evaluation.json cannot be read"));
  }
  assert_int_equal(rmdir(served_file(s, 5, "", room)), 0);
  assert_int_equal(fetch_evaluation(s, 5), 200);
  assert_non_null(strstr(body, "null"));
}

/* Whatever memory is refused, the server answers something or nothing, ends well and keeps nothing. */
static void every_failed_allocation_is_survived(void **state) {
  served *s = *state;
  prepare(s, 1);
  write_sealed(s, 1, GOOD);
  served_join(s);
  for (uint64_t n = 1; n < 400; n++) {
    size_t held = s->heap.used;
    s->heap.requests = 0;
    s->heap.fail_at = n;
    assert_true(served_start(s));
    (void)fetch_evaluation(s, 1);
    served_join(s);
    uint64_t requests = s->heap.requests;
    tn_diags_clear(&s->diags);
    assert_int_equal(s->heap.used, held);
    if (requests < n) break;
  }
  s->heap.fail_at = 0;
  assert_true(served_start(s));
  assert_int_equal(fetch_evaluation(s, 1), 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    SERVED(a_run_without_the_file_has_none, served_set_up),
    SERVED(a_new_file_replaces_the_old_one, served_set_up),
    SERVED(what_is_not_known_is_left_out, served_set_up),
    SERVED(damage_is_one_message, served_set_up),
    SERVED(hostile_members_are_refused, served_set_up),
    SERVED(sizes_are_bounded, served_set_up),
    SERVED(odd_files_are_not_opened, served_set_up),
    SERVED(every_failed_allocation_is_survived, served_set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
