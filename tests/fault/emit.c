/* A program is shown in every form while memory runs out at one request after another: it ends with a
 * diagnostic, nothing is lost, and the same program can be shown afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/internal.h"

static const char mind[] =
    "let w = [[1, 2], [3, 4]]\n"
    "fn layer(x: Tensor[f32,(N,2)]) -> Tensor[f32,(N,2)] = if sum(x) > 0 { relu(x @ w) } else { x }\n"
    "let x = [[1, -1]]\n"
    "sum(layer(x)) + 2 * 3\n";
/* A model with numbers that the program computed; a function has no gradient of its own. */
static const char function[] =
    "let w = exp([[1, 2], [3, 4]]) @ [[1, 0], [2, 1]]\n"
    "fn layer(x: Tensor[f32,(N,2)]) -> Tensor[f32,(N,2)] = if sum(x) > 0 { x @ (w * 2) } else { x }\n"
    "layer\n";
static const char ail[] = "model { x [B, 2] param W [2, 3] y = softmax(if sum(x) < 1 then matmul(x, W) else "
                          "matmul(x * 2, W)) }\n"
                          "train { loss = sum(y) }\n";
static const char ninth[] = "(1 2) [VAR] -> w  w w [MUL] [SUM] [BACKWARD] w 2 [MUL]\n";

static const char *const forms[] = { "graph", "grad", "mlir", "dot", "svg", "onnx" };

static void try_all(tern_language language, const char *text, const char *but) {
  tern_session *session = tern_session_new(NULL, NULL);
  assert_non_null(session);
  tern_program *program = tern_load(session, language, "program", text, strlen(text));
  assert_non_null(program);
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
    size_t length;
    bool done = but && strcmp(forms[f], but) == 0;
    for (uint64_t n = 1; !done; n += 1 + n / 40) {
      session->heap.fail_at = session->heap.requests + n;
      const char *made = tern_emit_bytes(program, forms[f], &length);
      done = session->heap.requests < session->heap.fail_at;
      session->heap.fail_at = 0;
      if (!made) assert_true(tern_diagnostic_count(session) > 0);
      if (done) assert_non_null(made);
    }
  }
  tern_program_free(program);
  tern_session_free(session);
}

static void a_mind_program(void **state) {
  (void)state;
  try_all(TERN_LANG_MIND, mind, NULL);
}

static void a_mind_function(void **state) {
  (void)state;
  try_all(TERN_LANG_MIND, function, "grad");
}

static void an_ail_model(void **state) {
  (void)state;
  try_all(TERN_LANG_AIL, ail, NULL);
}

static void a_ninth_program(void **state) {
  (void)state;
  try_all(TERN_LANG_NINTH, ninth, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = { cmocka_unit_test(a_mind_program), cmocka_unit_test(a_mind_function),
                                      cmocka_unit_test(an_ail_model), cmocka_unit_test(a_ninth_program) };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
