/* What an editor shows when the pointer rests on a name: tern_type_at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tern/tern.h"

static const char text[] = "let x = [[1, 2, 3], [4, 5, 6]]\n"
                           "fn f(a: Tensor[f32,(N,3)], k: f32) -> Tensor[f32,(N,3)] = a * k\n"
                           "let y = f(x, 2) + 1 // \xc3\xa4\n"
                           "let h = |v| v.sum()\n"
                           "let (n, t) = (7, \"s\")\n"
                           "if n > 3 { h(x) } else { 0.0 }\n";

static void assert_type(tern_program *program, uint32_t line, uint32_t column, const char *wanted) {
  const char *got = tern_type_at(program, line, column);
  if (!wanted) {
    assert_null(got);
    return;
  }
  assert_non_null(got);
  assert_string_equal(got, wanted);
}

static void every_expression_and_name_has_its_type(void **unused) {
  (void)unused;
  tern_session *session = tern_session_new(NULL, NULL);
  tern_program *p = tern_load(session, TERN_LANG_MIND, "p.mind", text, strlen(text));
  assert_type(p, 1, 5, "Tensor[f32,(2,3)]"); /* x */
  assert_type(p, 1, 9, "Tensor[f32,(2,3)]"); /* [[ */
  assert_type(p, 2, 4, "fn f(a: Tensor[f32,(N,3)], k: f32) -> Tensor[f32,(N,3)]");
  assert_type(p, 2, 6, "Tensor[f32,(N,3)]"); /* a */
  assert_type(p, 2, 63, "f32");              /* k */
  assert_type(p, 3, 9, "fn f(a: Tensor[f32,(N,3)], k: f32) -> Tensor[f32,(N,3)]");
  assert_type(p, 3, 17, "Tensor[f32,(2,3)]"); /* + */
  assert_type(p, 4, 13, "Tensor[f32,(2,3)]"); /* v, as h was called */
  assert_type(p, 5, 6, "i32");
  assert_type(p, 5, 9, "string");
  assert_type(p, 6, 6, "bool"); /* n > 3 */
  assert_type(p, 3, 24, NULL);  /* a comment */
  assert_type(p, 9, 1, NULL);
  assert_type(p, 1, 500, NULL);
  assert_int_equal(tern_diagnostic_count(session), 0);
  tern_program_free(p);
  tern_session_free(session);
}

static void mistakes_elsewhere_do_not_matter(void **unused) {
  (void)unused;
  static const char broken[] = "let x = [1, 2]\nlet y = x + nothing\nlet z = x * 2\n";
  tern_session *session = tern_session_new(NULL, NULL);
  tern_program *p = tern_load(session, TERN_LANG_MIND, "p.mind", broken, strlen(broken));
  assert_type(p, 3, 9, "Tensor[f32,(2)]");
  assert_type(p, 2, 13, NULL);
  assert_int_equal(tern_diagnostic_count(session), 0);
  tern_program_free(p);
  p = tern_load(session, TERN_LANG_NINTH, "p.nth", "1 2 [ADD]", 9);
  assert_type(p, 1, 1, NULL);
  tern_program_free(p);
  tern_session_free(session);
}

/* Wherever an expression may stand: beside &&, in brackets, in a branch, after a field. */
static void types_stand_in_every_corner(void **unused) {
  (void)unused;
  static const char corners[] = "let x = [[1, 2], [3, 4]]\n"
                                "let b = x[0, 1] > 1 && sum(x) > 2\n"
                                "x = x * 2\n"
                                "let idle = |q| q + 1\n"
                                "let t = if b { (x, 1) } else { (x, 2) }\n"
                                "fn twice(a: f32) -> f32 = a * 2\n"
                                "fn twice(a: f64) -> f64 = a * 2\n"
                                "t.0.sum(axes=[0])\n"
                                "let s = shape(x)[1]\n"
                                "twice(2)\n"
                                "-x\n";
  tern_session *session = tern_session_new(NULL, NULL);
  tern_program *p = tern_load(session, TERN_LANG_MIND, "p.mind", corners, strlen(corners));
  assert_type(p, 2, 11, "i32");               /* x[0 */
  assert_type(p, 2, 24, "fn");                /* sum is the library's */
  assert_type(p, 2, 28, "Tensor[f32,(2,2)]"); /* the right side of && */
  assert_type(p, 3, 1, "Tensor[f32,(2,2)]");
  assert_type(p, 4, 13, "fn"); /* q, which is never called: the closure */
  assert_type(p, 5, 17, "Tensor[f32,(2,2)]");
  assert_type(p, 6, 10, "f32");
  assert_type(p, 7, 10, "f64");
  assert_type(p, 8, 15, "i32"); /* the axis */
  assert_type(p, 9, 5, "i32");
  assert_type(p, 10, 1, "fn twice(a: f64) -> f64");
  assert_type(p, 11, 1, "Tensor[f32,(2,2)]");
  tern_program_free(p);
  tern_session_free(session);
}

static void an_imported_module_is_not_the_one_in_question(void **unused) {
  (void)unused;
  static const char importing[] = "import not.there\nlet y = 2.5\nfn\n";
  tern_session *session = tern_session_new(NULL, NULL);
  tern_program *p = tern_load(session, TERN_LANG_MIND, "p.mind", importing, strlen(importing));
  assert_type(p, 2, 5, "f64");
  assert_type(p, 3, 1, NULL);
  tern_program_free(p);
  tern_session_free(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(types_stand_in_every_corner),
    cmocka_unit_test(an_imported_module_is_not_the_one_in_question),
    cmocka_unit_test(every_expression_and_name_has_its_type),
    cmocka_unit_test(mistakes_elsewhere_do_not_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
