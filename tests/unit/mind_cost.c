/* What a text of MIND costs, counted: for each shape a text that is twice as long costs about twice as much,
 * in requests for memory, in bytes and in names, nodes and pieces that were looked at. */
#include "base/text.h"
#include "mind_support.h"

typedef void (*shape)(tn_text *out, int n);

/* ---- texts ---- */

static void add(tn_text *out, const char *words, int number) {
  for (; *words; words++) {
    if (*words == '#')
      tn_text_int(out, number);
    else
      tn_text_byte(out, *words);
  }
}

static void repeat(tn_text *out, const char *words, int n) {
  for (int i = 0; i < n; i++) add(out, words, i);
}

static void tuples_in_tuples(tn_text *out, int n) {
  add(out, "let t = 1\n", 0);
  repeat(out, "let t = (t,)\n", n / 4); /* below the limit of levels */
}

static void tuples_past_the_limit(tn_text *out, int n) {
  add(out, "let t = 1\n", 0);
  repeat(out, "let t = (t, t)\n", n);
}

/* Each pair is shared by the next, up to its limit, repeatedly. */
static void shared_pairs(tn_text *out, int n) {
  for (int i = 0; i < n / 10; i++) {
    add(out, "let t = (1, 2.5)\n", 0);
    repeat(out, "let t = (t, t)\n", 9);
    add(out, "let u = if true { t } else { t }\nlet f = |x| (x.0, x)\nf(t)\n", 0);
  }
}

static void near_misses(tn_text *out, int n) {
  repeat(out, "let name# = #\n", n);
  repeat(out, "name#x\n", n);
}

static void unknown_functions(tn_text *out, int n) {
  repeat(out, "fn f#() -> i32 = 1\n", n);
  repeat(out, "f#x()\n", n);
}

static void parameters(tn_text *out, int n) {
  add(out, "fn f(", 0);
  repeat(out, "p#: i32, ", n);
  add(out, "last: i32) -> i32 = last", 0);
  repeat(out, " + p#", n);
  add(out, "\nf(", 0);
  repeat(out, "#, ", n);
  add(out, "1)\nf(last=1", 0);
  for (int i = n; i-- > 0;) add(out, ", p#=1", i); /* in the order that is worst for a search */
  add(out, ")\n", 0);
}

static void closure_parameters(tn_text *out, int n) {
  add(out, "let f = |", 0);
  repeat(out, "p#, ", n);
  add(out, "last| last\nf(", 0);
  repeat(out, "#, ", n);
  add(out, "1)\n", 0);
}

static void locals(tn_text *out, int n) {
  add(out, "fn f(x: i32) -> i32 {\n", 0);
  repeat(out, "let a# = x + #\n", n);
  repeat(out, "a#\n", n);
  add(out, "x\n}\nf(1)\n", 0);
}

static void open_records(tn_text *out, int n) {
  add(out, "let x = [1.5]\n", 0);
  repeat(out, "let g = grad(sum(x * x))\n", n);
}

static void closures_of_many_types(tn_text *out, int n) {
  add(out, "let f = |x| sum(x)\n", 0);
  for (int i = 0; i < n; i++) add(out, "let a = f(zeros((#,)))\n", i + 1);
}

/* Closures and functions see the binding before them, however often the name is bound after it. */
static void closures_of_one_name(tn_text *out, int n) {
  add(out, "let f = |x| x\n", 0);
  repeat(out, "let f = |x| f(x)\n", n);
}

static void functions_before_and_after_bindings(tn_text *out, int n) {
  repeat(out, "fn g#() -> i32 = x\nlet x = #\nfn h#() -> i32 = x\nlet c# = |y| x + y\n", n);
}

static void methods(tn_text *out, int n) {
  add(out, "let x = [1.5]\nx", 0);
  repeat(out, ".relu()", n);
  add(out, "\n", 0);
}

static void indices(tn_text *out, int n) {
  add(out, "let x = [1.5]\nx", 0);
  repeat(out, "[0]", n);
  add(out, "\n", 0);
}

static void calls_of_calls(tn_text *out, int n) {
  add(out, "let f = |x| x\nf", 0);
  repeat(out, "(f)", n);
  add(out, "\n", 0);
}

/* ---- counting ---- */

typedef struct {
  uint64_t requests, bytes, looked_at;
} cost;

typedef bool (*door)(mind_session *s, const char *text);

static bool format(mind_session *s, const char *text) {
  tn_text out;
  uint32_t file = mind_add(s, text);
  tn_text_init(&out, &s->heap);
  bool ok = file && tn_lang_mind()->format(&(tn_unit){ .host = &s->host, .file = file }, &out);
  tn_text_free(&out);
  return ok;
}

static cost cost_of(door enter, shape write, int n, bool sound) {
  mind_session s = { .heap = { .piecewise = true } };
  tn_heap heap = { 0 };
  tn_text text;
  tn_text_init(&text, &heap);
  write(&text, n);
  tn_text_byte(&text, '\0');
  assert_false(text.failed);
  assert_true(mind_open(&s));
  uint64_t requests = s.heap.requests, used = s.heap.used;
  assert_int_equal(enter(&s, text.at), sound);
  cost found = { s.heap.requests - requests, s.heap.peak - used, s.host.looked_at };
  mind_close(&s);
  tn_text_free(&text);
  return found;
}

/* Twice, with room for what grows by steps; four times is what is to be found out. */
static void is_about_twice(const char *what, uint64_t once, uint64_t twice) {
  if (twice * 10 > once * 26 + 10000) print_error("%s: %llu, then %llu\n", what, (unsigned long long)once,
                                                  (unsigned long long)twice);
  assert_true(twice * 10 <= once * 26 + 10000);
}

#define SMALL 1000

static void is_linear(door enter, shape write, bool sound) {
  cost once = cost_of(enter, write, SMALL, sound), twice = cost_of(enter, write, 2 * SMALL, sound);
  is_about_twice("requests", once.requests, twice.requests);
  is_about_twice("bytes", once.bytes, twice.bytes);
  is_about_twice("looked at", once.looked_at, twice.looked_at);
}

#define CHECKED(name, sound)                        \
  static void checking_##name(void **state) {       \
    (void)state;                                    \
    is_linear(mind_check, name, sound);             \
  }
CHECKED(tuples_in_tuples, true)
CHECKED(tuples_past_the_limit, false)
CHECKED(shared_pairs, true)
CHECKED(near_misses, false)
CHECKED(unknown_functions, false)
CHECKED(parameters, true)
CHECKED(closure_parameters, true)
CHECKED(locals, true)
CHECKED(open_records, true)
CHECKED(closures_of_many_types, true)
CHECKED(closures_of_one_name, true)
CHECKED(functions_before_and_after_bindings, true)

#define FORMATTED(name)                         \
  static void formatting_##name(void **state) { \
    (void)state;                                \
    is_linear(format, name, true);              \
  }
FORMATTED(methods)
FORMATTED(indices)
FORMATTED(calls_of_calls)
FORMATTED(locals)

/* Thirty lines whose last type has a billion parts. */
static void types_that_double_are_shared(void **state) {
  (void)state;
  cost found = cost_of(mind_check, tuples_past_the_limit, 30, false);
  assert_true(found.bytes < 200000);
}

/* Names that were not found leave nothing behind. */
static void twenty_thousand_unknown_names_take_little_memory(void **state) {
  (void)state;
  cost found = cost_of(mind_check, near_misses, 10000, false);
  assert_true(found.bytes < 60000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(checking_tuples_in_tuples),
    cmocka_unit_test(checking_tuples_past_the_limit),
    cmocka_unit_test(checking_shared_pairs),
    cmocka_unit_test(checking_near_misses),
    cmocka_unit_test(checking_unknown_functions),
    cmocka_unit_test(checking_parameters),
    cmocka_unit_test(checking_closure_parameters),
    cmocka_unit_test(checking_locals),
    cmocka_unit_test(checking_open_records),
    cmocka_unit_test(checking_closures_of_many_types),
    cmocka_unit_test(checking_closures_of_one_name),
    cmocka_unit_test(checking_functions_before_and_after_bindings),
    cmocka_unit_test(formatting_methods),
    cmocka_unit_test(formatting_indices),
    cmocka_unit_test(formatting_calls_of_calls),
    cmocka_unit_test(formatting_locals),
    cmocka_unit_test(types_that_double_are_shared),
    cmocka_unit_test(twenty_thousand_unknown_names_take_little_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
