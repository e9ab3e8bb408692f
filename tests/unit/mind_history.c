/* Programs that are long enough to forget: what a later statement can ask for is still there, and what a
 * training needs is linear in its steps. */
#include "base/text.h"
#include "mind_support.h"

/* ---- what is still there ---- */

/* Every so many statements the graph is compacted; the filler makes that happen several times. */
#define FILLER 500
static const char *const filler = "z = z * 0.5 + 0.5 * z\n";

static void repeat(tn_text *out, const char *words, int n) {
  for (int i = 0; i < n; i++) tn_text_puts(out, words);
}

/* The program with the filler in place of its `...`. */
static void gives(const char *before, const char *after, const char *expected) {
  mind_session s = { 0 };
  tn_text text;
  assert_true(mind_open(&s));
  tn_text_init(&text, &s.heap);
  tn_text_puts(&text, "let z = [1.5]\n");
  tn_text_puts(&text, before);
  repeat(&text, filler, FILLER);
  tn_text_puts(&text, after);
  tn_text_byte(&text, '\0');
  bool ok = mind_run(&s, text.at);
  assert_true(ok);
  assert_string_equal(s.outcome.text.at, expected);
  for (size_t i = 0; i < s.outcome.count; i++) tn_datum_release(&s.outcome.values[i]);
  tn_text_free(&text);
  mind_close(&s);
}

static void gradients_flow_through_earlier_lets(void **state) {
  (void)state;
  gives("let a = [2]\nlet b = a * a\nlet c = b * a\n", "grad(sum(c), wrt=[a, b])\n",
        "grad{ a: Tensor[f32,(1)] [12], b: Tensor[f32,(1)] [2] }\n");
  gives("let a = [2]\nlet b = a * a\n", "grad(sum(b * b))\n",
        "grad{ a: Tensor[f32,(1)] [32], b: Tensor[f32,(1)] [8] }\n");
  gives("let a = [2]\nz = z + a\n", "grad(sum(z - z + a * 3), wrt=[a])\n",
        "grad{ a: Tensor[f32,(1)] [3] }\n");
  gives("let x = 3.0\nlet y = x * x\n", "grad(y * y, wrt=[x, y])\n", "grad{ x: 108, y: 18 }\n");
}

/* z is made of a, hundreds of times over. */
static void gradients_flow_through_all_of_it(void **state) {
  (void)state;
  gives("let a = [5]\nz = a\n", "grad(sum(z * a), wrt=[a])\n",
        "grad{ a: Tensor[f32,(1)] [10] }\n");
  gives("let a = [5]\nlet k = a\n", "k = k * a\ngrad(sum(k), wrt=[a])\n",
        "grad{ a: Tensor[f32,(1)] [10] }\n");
}

static void functions_reach_what_they_name(void **state) {
  (void)state;
  gives("let a = [2]\nlet b = a * 3\nfn f() -> Tensor[f32,()] = sum(b)\n", "f()\n", "Tensor[f32,()] 6\n");
  gives("let a = [2]\nlet b = a * 3\n"
        "fn f() -> Tensor[f32,(1)] {\n  let g = grad(sum(b), wrt=[a])\n  g.a\n}\n",
        "f()\n", "Tensor[f32,(1)] [3]\n");
}

static void closures_remember(void **state) {
  (void)state;
  gives("let make = |w| |x| sum(w * x)\nlet f = make([2, 3])\n", "f([10, 100])\n", "Tensor[f32,()] 320\n");
  gives("let make = |w| |v| |x| sum(w * x) + sum(v)\nlet f = make([2, 3])([1])\n", "f([10, 100])\n",
        "Tensor[f32,()] 321\n");
  gives("let make = |w| |x| sum(w * w * x)\nlet t = (1, (2, make([2, 3])))\n", "t.1.1([10, 100])\n",
        "Tensor[f32,()] 940\n");
  gives("let n: Tensor[f32,(N)] = 1\nlet s = max(n)\nlet make = |w| |x| w * x\n",
        "let f = make([4])\nlet y = if s > 0.5 { f([2]) } else { make([5])([3]) }\ny + f([1])\n",
        "Tensor[f32,(1)] [12]\n");
  gives("let make = |w| |x| grad(sum(w * w * x), wrt=[w])\nlet f = make([2, 3])\n", "f([10, 100])\n",
        "grad{ w: Tensor[f32,(2)] [40, 600] }\n");
}

static void pullbacks_keep_their_way(void **state) {
  (void)state;
  gives("let (y, pull) = vjp(|x| x * x, [3])\n", "pull([1])\n", "Tensor[f32,(1)] [6]\n");
  gives("let t = (vjp(|x| x * x, [3]), 1)\n", "let p = t.0.1\np([1])\n", "Tensor[f32,(1)] [6]\n");
}

static void tuples_and_records_are_kept(void **state) {
  (void)state;
  gives("let a = [2]\nlet g = grad(sum(a * a), wrt=[a])\n", "g.a\n", "Tensor[f32,(1)] [4]\n");
  gives("let a = [2]\nlet t = ((a, a * 2), [a + 1, a])\n", "t.0.1 + t.1[0]\n", "Tensor[f32,(1)] [7]\n");
  gives("let a: Tensor[f32,(N,2)] = 3\nlet b = a * 2\n", "b\n", "Tensor[f32,(N,2)] fill=6\n");
}

/* ---- what it costs ---- */

typedef struct {
  uint64_t requests, bytes, looked_at;
  int computed;
} cost;

static cost cost_of(const char *first, const char *step, int n) {
  mind_session s = { 0 };
  tn_heap heap = { 0 };
  tn_text text;
  assert_true(mind_open(&s));
  tn_text_init(&text, &heap);
  tn_text_puts(&text, first);
  repeat(&text, step, n);
  tn_text_byte(&text, '\0');
  assert_true(mind_run(&s, text.at));
  for (size_t i = 0; i < s.outcome.count; i++) tn_datum_release(&s.outcome.values[i]);
  cost found = { s.heap.requests, s.heap.peak, s.host.looked_at, s.computed };
  tn_text_free(&text);
  mind_close(&s);
  return found;
}

static void is_linear(const char *first, const char *step) {
  cost once = cost_of(first, step, 200), twice = cost_of(first, step, 400);
  assert_true(twice.requests * 10 <= once.requests * 26);
  assert_true(twice.looked_at * 10 <= once.looked_at * 26);
  assert_true(twice.computed <= 3 * once.computed + 3);
  assert_true(twice.bytes * 10 <= once.bytes * 24);
}

#define NETWORK                            \
  "let x = [[1, 2], [3, 4]]\n"             \
  "let y = [[1], [0]]\n"                   \
  "let w: Tensor[f32,(2,1)] = 0.1\n"       \
  "let b: Tensor[f32,(1)] = 0\n"           \
  "fn loss(w: Tensor[f32,(2,1)]) -> Tensor[f32,()] = mse_loss(tanh(x @ w), y)\n"

#define GRADIENT "let g = grad(mse_loss(tanh(x @ w + b), y), wrt=[w, b])\n"

static void training_is_linear_in_its_steps(void **state) {
  (void)state;
  is_linear(NETWORK, GRADIENT "w = w - 0.1 * g.w\nb = b - 0.1 * g.b\n");
  is_linear(NETWORK, GRADIENT "let w = w - 0.1 * g.w\nlet b = b - 0.1 * g.b\n");
  is_linear(NETWORK, "w = w - 0.1 * grad(loss)(w)\n");
  is_linear(NETWORK, "let (l, g) = value_and_grad(loss)(w)\nlet w = w - 0.1 * g\n");
}

/* A step has some hundred bytes of text, some thousand of a tree, and nothing else that stays. */
static void training_keeps_no_history(void **state) {
  (void)state;
  cost once = cost_of(NETWORK, "w = w - 0.1 * grad(loss)(w)\n", 500);
  cost twice = cost_of(NETWORK, "w = w - 0.1 * grad(loss)(w)\n", 1000);
  assert_true((twice.bytes - once.bytes) / 500 < 6000);
}

static void conditions_are_linear(void **state) {
  (void)state;
  is_linear("let s = sum([1, 2])\n", "s = if s > 1.0 { s * 0.5 } else { s + 1 }\n");
  is_linear("let x = [1.5]\n", "let g = grad(sum(x * x))\n");
}

/* Both branches are traced; what they change is taken back without a copy of everything else. */
static void conditions_without_data_are_linear(void **state) {
  (void)state;
  is_linear("let x: Tensor[f32,(N)] = 1\nlet s = sum(x)\n", "let a = if s > 1.0 { s } else { s + 1.0 }\n");
  is_linear("let x: Tensor[f32,(N)] = 1\nlet s = sum(x)\nlet b = 1.0\n", "if s > 1.0 { b = b * 2.0 }\n");
}

/* Each function calls the one before it twice: sixteen thousand calls. */
static void calls_leave_nothing_behind(void **state) {
  (void)state;
  mind_session s = { 0 };
  tn_text text;
  assert_true(mind_open(&s));
  tn_text_init(&text, &s.heap);
  tn_text_puts(&text, "fn f0(x: i32) -> i32 = x + 1\n");
  for (int i = 1; i <= 14; i++) {
    tn_text_puts(&text, "fn f");
    tn_text_int(&text, i);
    tn_text_puts(&text, "(x: i32) -> i32 = f");
    tn_text_int(&text, i - 1);
    tn_text_puts(&text, "(f");
    tn_text_int(&text, i - 1);
    tn_text_puts(&text, "(x))\n");
  }
  tn_text_puts(&text, "f14(0)\n");
  tn_text_byte(&text, '\0');
  assert_true(mind_run(&s, text.at));
  assert_string_equal(s.outcome.text.at, "16384\n");
  assert_true(s.heap.peak < 500000);
  tn_text_free(&text);
  mind_close(&s);
}

/* fi decides and calls f(i-1) in both branches: `emit` shows all of them, and decides where it can. */
static uint64_t cost_of_emitting(int levels) {
  mind_session s = { 0 };
  tn_text text, out;
  assert_true(mind_open(&s));
  tn_text_init(&text, &s.heap);
  tn_text_init(&out, &s.heap);
  tn_text_puts(&text, "fn f0(x: Tensor[f32,()]) -> Tensor[f32,()] = x\n");
  for (int i = 1; i <= levels; i++) {
    tn_text_puts(&text, "fn f");
    tn_text_int(&text, i);
    tn_text_puts(&text, "(x: Tensor[f32,()]) -> Tensor[f32,()] = if x > 0.5 { f");
    tn_text_int(&text, i - 1);
    tn_text_puts(&text, "(x) } else { f");
    tn_text_int(&text, i - 1);
    tn_text_puts(&text, "(x + 1.0) }\n");
  }
  tn_text_puts(&text, "let y: Tensor[f32,()] = 1.5\nf");
  tn_text_int(&text, levels);
  tn_text_puts(&text, "(y)\n");
  uint32_t file = tn_sources_add(&s.sources, TN_LIT("test.mind"), tn_text_str(&text));
  assert_true(file && tn_lang_mind()->emit(&(tn_unit){ .host = &s.host, .file = file }, TN_EMIT_GRAPH, &out));
  uint64_t looked_at = s.host.looked_at;
  tn_text_free(&out);
  tn_text_free(&text);
  mind_close(&s);
  return looked_at;
}

static void the_cost_of_emitting_depends_on_the_emitted_part(void **state) {
  (void)state;
  assert_true(cost_of_emitting(9) * 10 <= cost_of_emitting(8) * 26);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(gradients_flow_through_earlier_lets),
    cmocka_unit_test(gradients_flow_through_all_of_it),
    cmocka_unit_test(functions_reach_what_they_name),
    cmocka_unit_test(closures_remember),
    cmocka_unit_test(pullbacks_keep_their_way),
    cmocka_unit_test(tuples_and_records_are_kept),
    cmocka_unit_test(training_is_linear_in_its_steps),
    cmocka_unit_test(training_keeps_no_history),
    cmocka_unit_test(conditions_are_linear),
    cmocka_unit_test(conditions_without_data_are_linear),
    cmocka_unit_test(calls_leave_nothing_behind),
    cmocka_unit_test(the_cost_of_emitting_depends_on_the_emitted_part),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
