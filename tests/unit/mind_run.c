/* Whole programs in process: memory that runs out anywhere, and the numbers of scalars. */
#include "lang/mind/internal.h"
#include "mind_support.h"

/* A program that touches everything that asks for memory. */
static const char *const everything =
    "import lib.math\n"
    "import lib.math as m\n"
    "let w: Tensor[f32,(2,2)] = [[1, 2], [3, 4]]\n"
    "let open: Tensor[f32,(N,2)] = 2\n"
    "let two: Tensor[f32,(2,2)] = open\n"
    "let noise: Tensor[f32,(K,2)] = rand((B,2))\n"
    "fn f(x: Tensor[f32,(N,M)], k: f32) -> (Tensor[f32,(N,M)], f32) !io {\n"
    "  print(\"in\", x)\n"
    "  let y = if k > 1.0 { x * k } else { x }\n"
    "  (y, sum(y))\n"
    "}\n"
    "let (a, b) = f(w, 2.0)\n"
    "let c = |x, y| x @ y + concat([x, y]).slice(0, 0, 2)\n"
    "let g = grad(sum(w * w), wrt=[w])\n"
    "let s = 3.0\n"
    "s = s + m.twice(s)\n"
    "let parts = [s, 1.0, b]\n"
    "print(c(w, a), g, jacobian(|x| x * x)([1, 2]), hessian(|x| sum(x * x))([1, 2]))\n"
    "let (y, pull) = vjp(|x| softmax(x), [1, 2])\n"
    "print(pull([1, 0]), jvp(|x, y| x * y, (w, w), (w, 1)), read(\"notes.txt\"), now() > 1.0)\n"
    "print(open * 3, flatten(open), shape(open), math.twice(1.0), noise)\n"
    "export { w }\n"
    "(w.sum(axes=0), stack([w, a]), two, \"text\", g.w, gather(w, [1, 0]), parts)\n";

static const char *const wrong = "import absent.module\n"
                                 "let a: Tensor[f32,(2,3)] = ones((2,4))\n"
                                 "let b: Tensor[q,(2)] = 1\n"
                                 "fn f(x: i32, y: i32) -> i32 = zz + x\n"
                                 "f(1)\nf(q=1, x=2)\nsumm([1])\n[[1, 2], [3]]\n"
                                 "ones((2,3)) + ones((3,4))\n"
                                 "let x = [1.5]\ngrad(x, wrt=[x, nn])\n"
                                 "if [1, 2] { 1 } else { \"a\" }\n";

static const char *const unreadable = "let = 1\nf(1,,\nlet y = \"a\nlet z = 12x\n(((\n";
static const char *const no_derivative = "let x = [1.5]\nlet y = x % 2.0\ngrad(sum(y), wrt=[x])\n";
static const char *const fails_late =
    "print(1)\nlet z = 0\nlet t: Tensor[i32,(2)] = [1, z]\nprint(t)\nt / t\n";

typedef bool (*door)(mind_session *s, const char *text);

/* Every request fails once; nothing leaks, and a failure is reported. */
static void survives(door enter, const char *text, bool sound) {
  for (uint64_t n = 1;; n++) {
    mind_session s = { .heap = { .fail_at = n } };
    bool ok = mind_open(&s);
    if (ok) {
      ok = enter(&s, text);
      bool added = s.sources.files.count > 0;
      if (!ok && added) assert_true(s.diags.errors > 0 || s.diags.out_of_memory);
    }
    bool reached = s.heap.failed;
    mind_close(&s);
    assert_int_equal(s.heap.used, 0);
    if (!reached) {
      assert_int_equal(ok, sound);
      return;
    }
  }
}

static void every_failed_allocation_is_survived(void **state) {
  (void)state;
  survives(mind_check, everything, true);
  survives(mind_run, everything, true);
}

static void errors_survive_failed_allocations_too(void **state) {
  (void)state;
  survives(mind_check, wrong, false);
  survives(mind_check, unreadable, false);
  survives(mind_check, no_derivative, false);
  survives(mind_run, fails_late, false);
}

static tn_mind_number whole(tn_dtype dtype, int64_t x) {
  return (tn_mind_number){ .dtype = dtype, .integer = x };
}

static void integers_wrap_in_both_widths(void **state) {
  (void)state;
  tn_mind_number out;
  assert_true(tn_mind_number_binary(TN_OP_ADD, whole(TN_I32, INT32_MAX), whole(TN_I32, 1), &out));
  assert_true(out.integer == INT32_MIN);
  assert_true(tn_mind_number_binary(TN_OP_MUL, whole(TN_I64, INT64_MIN), whole(TN_I64, -1), &out));
  assert_true(out.integer == INT64_MIN);
  assert_true(tn_mind_number_binary(TN_OP_DIV, whole(TN_I32, INT32_MIN), whole(TN_I32, -1), &out));
  assert_true(out.integer == INT32_MIN);
  assert_true(tn_mind_number_binary(TN_OP_REM, whole(TN_I64, INT64_MIN), whole(TN_I64, -1), &out));
  assert_true(out.integer == 0);
  assert_false(tn_mind_number_binary(TN_OP_DIV, whole(TN_I32, 1), whole(TN_I32, 0), &out));
}

/* Folding is exact or skipped. */
static void what_overflows_is_not_exact(void **state) {
  (void)state;
  assert_true(tn_mind_number_exact(TN_OP_MUL, whole(TN_I32, 46340), whole(TN_I32, 46340)));
  assert_false(tn_mind_number_exact(TN_OP_MUL, whole(TN_I32, 46341), whole(TN_I32, 46341)));
  assert_false(tn_mind_number_exact(TN_OP_ADD, whole(TN_I64, INT64_MAX), whole(TN_I64, 1)));
  assert_false(tn_mind_number_exact(TN_OP_SUB, whole(TN_I64, INT64_MIN), whole(TN_I64, 1)));
  assert_false(tn_mind_number_exact(TN_OP_DIV, whole(TN_I64, INT64_MIN), whole(TN_I64, -1)));
  assert_false(tn_mind_number_exact(TN_OP_DIV, whole(TN_I32, 7), whole(TN_I32, 0)));
  assert_true(tn_mind_number_exact(TN_OP_DIV, whole(TN_I32, -7), whole(TN_I32, 2)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_failed_allocation_is_survived),
    cmocka_unit_test(errors_survive_failed_allocations_too),
    cmocka_unit_test(integers_wrap_in_both_widths),
    cmocka_unit_test(what_overflows_is_not_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
