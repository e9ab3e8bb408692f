/* A build without clang-19 (modules.c is compiled here as it is there) on a machine that has a GPU: it says
 * what it lacks, and computes on the CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tern/tern.h"

static const char missing[] = "this build has no GPU kernels: clang-19 was missing";

static tern_session *open_session(void) {
  tern_session *session = tern_session_new(&(tern_options){ 0 }, NULL);
  assert_non_null(session);
  return session;
}

static void cuda_is_refused_with_the_reason(void **state) {
  (void)state;
  tern_session *session = open_session();
  assert_false(tern_has_gpu_part());
  assert_int_not_equal(tern_device(session, "cuda"), TERN_OK);
  const char *text = tern_diagnostics_text(session, 0);
  assert_non_null(strstr(text, "error[E_DEVICE]"));
  assert_non_null(strstr(text, missing));
  tern_session_free(session);
}

static void the_list_of_devices_says_so(void **state) {
  (void)state;
  tern_session *session = open_session();
  const char *text = tern_devices_text(session);
  assert_memory_equal(text, "cpu ", 4);
  assert_non_null(strstr(text, missing));
  assert_non_null(strstr(tern_devices_json(session), missing));
  tern_session_free(session);
}

static void auto_computes_on_the_cpu(void **state) {
  (void)state;
  static const char text[] = "graph(%x: f32[3]) {\n  %1 = sum %x\n  return %1\n}\n";
  tern_session *session = open_session();
  if (tern_device(session, "auto") != TERN_OK) fail_msg("%s", tern_diagnostics_text(session, 0));
  tern_program *program = tern_load(session, TERN_LANG_GRAPH, "sum.graph", text, strlen(text));
  assert_non_null(program);
  const int64_t dims[] = { 3 };
  float x[] = { 1, 2, 4 };
  tern_tensor sum;
  assert_int_equal(tern_set_input(program, "x", &(tern_tensor){ .dtype = TERN_F32, .rank = 1, .dims = dims,
                                                                .data = x }), TERN_OK);
  assert_int_equal(tern_run(program), TERN_OK);
  assert_int_equal(tern_output(program, 0, &sum), TERN_OK);
  assert_true(*(const float *)sum.data == 7);
  assert_string_equal(tern_device_name(session), "cpu");
  tern_program_free(program);
  tern_session_free(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(cuda_is_refused_with_the_reason),
    cmocka_unit_test(the_list_of_devices_says_so),
    cmocka_unit_test(auto_computes_on_the_cpu),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
