/* What `emit` writes when it is stopped: nothing, and it says so. */
#include "base/text.h"
#include "mind_support.h"

static const char *const program = "let k = sum([1, 2])\n"
                                   "fn f(x: Tensor[f32,(2)]) -> Tensor[f32,(2)] = x * k\n"
                                   "fn g(x: Tensor[f32,(2)]) -> Tensor[f32,()] = sum(f(f(x)))\n"
                                   "fn h(x: Tensor[f32,(2)]) -> Tensor[f32,(2)] = f(x) + f(x)\n"
                                   "grad(g)\n";

static bool emit(mind_session *s, tn_emit_kind kind, tn_text *out) {
  uint32_t file = mind_add(s, program);
  tn_text_init(out, &s->heap);
  return file && tn_lang_mind()->emit(&(tn_unit){ .host = &s->host, .file = file }, kind, out);
}

/* At each question whether to stop the answer is yes once. */
static void a_stop_anywhere_is_reported(void **state) {
  (void)state;
  const tn_emit_kind kinds[] = { TN_EMIT_MLIR, TN_EMIT_GRAPH };
  for (size_t k = 0; k < 2; k++) {
    mind_session whole = { 0 };
    tn_text expected, out;
    assert_true(mind_open(&whole) && emit(&whole, kinds[k], &expected));
    bool stopped = true;
    for (unsigned n = 1; stopped; n++) {
      tn_stop stop = { .stop_at = n };
      mind_session s = { 0 };
      assert_true(mind_open(&s));
      s.heap.stop = &stop;
      bool ok = emit(&s, kinds[k], &out);
      stopped = atomic_load(&stop.noticed);
      if (stopped && !ok) assert_true(s.diags.errors > 0 || s.diags.out_of_memory);
      if (ok) assert_true(tn_str_equal(tn_text_str(&out), tn_text_str(&expected)));
      if (!stopped) assert_true(ok && n > 5);
      tn_text_free(&out);
      mind_close(&s);
    }
    tn_text_free(&expected);
    mind_close(&whole);
  }
}

/* Memory that runs out anywhere is no reason to leave a function out. */
static void memory_that_runs_out_is_reported(void **state) {
  (void)state;
  mind_session whole = { 0 };
  tn_text expected, out;
  assert_true(mind_open(&whole) && emit(&whole, TN_EMIT_MLIR, &expected));
  for (uint64_t n = 1;; n++) {
    mind_session s = { .heap = { .fail_at = n } };
    bool ok = mind_open(&s) && emit(&s, TN_EMIT_MLIR, &out), reached = s.heap.failed;
    if (ok) assert_true(tn_str_equal(tn_text_str(&out), tn_text_str(&expected)));
    if (s.sources.files.count) tn_text_free(&out);
    mind_close(&s);
    assert_int_equal(s.heap.used, 0);
    if (!reached) break;
  }
  tn_text_free(&expected);
  mind_close(&whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_stop_anywhere_is_reported),
    cmocka_unit_test(memory_that_runs_out_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
