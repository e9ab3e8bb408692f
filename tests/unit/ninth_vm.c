/* tests/unit/ninth_vm.c: memory, limits, interruptions and failures of the VM. */
#include "ninth_support.h"

/* Everything the VM has an opinion on, in one program. */
static const char everything[] =
    "\"nn\" [USE]\n"
    "\"Pair\" [MODULE] [INIT] -> in [in 2] -> @w [2] [ZEROS] [VAR] -> @b [RET]\n"
    "  [FORWARD] @w [MATMUL] @b [ADD] [RET] [END_MODULE]\n"
    "3 {Pair [std->0.5]} -> layer\n"
    "[DEF] \"twice\" -> x x x [ADD] [RET]\n"
    "((1 2 3) (4 5 6)) layer [CALL] [CALL] \"twice\" [SUM] [BACKWARD]\n"
    "layer [PARAMS] { -> w w 0.1 w [GRAD] [SUB_ASSIGN_GRAD] } [FOREACH]\n"
    "layer [ZERO_GRAD]\n"
    "[1 2 3 4 5 6 7 8 9] -> many many [SUM] \"sum\" [STORE] \"sum\" [LOAD] [DROP]\n"
    "[20 20] [ONES] [DUP] [TRANSPOSE] [MATMUL] [SOFTMAX] [MAX] [DROP]\n"
    "[40] [RANDN] 0 [UNSQUEEZE] [SQUEEZE] [FLATTEN] [4 10] [RESHAPE] [SHAPE] [DROP]\n"
    "2 [REPEAT] 1 [IF] 1 -> a [ELSE] 2 -> a [ENDIF] [END]\n"
    "[NO_GRAD] layer [PARAMS] { [EXP] [DROP] } [FOREACH] [END_NO_GRAD]\n"
    "((1 2) (3 4)) (0 1) [CROSS_ENTROPY] [PRINT]\n"
    "1 4 2 {MLP} -> net 0.9 0.1 net {Momentum} -> opt\n"
    "net opt ((0 1)) ((1)) 2 \"mse\" [CALL] \"fit\" [DROP]\n"
    "layer (1 2) \"text\" { 1 } [2 3]\n";

static void every_failed_allocation_is_a_diagnostic(void **state) {
  (void)state;
  for (uint64_t n = 1;; n++) {
    world w;
    bool opened = world_try_open(&w, n);
    bool ok = opened && run(&w, everything);
    bool refused = w.heap.failed;
    if (opened && !ok && w.sources.files.count > 0) assert_true(w.diags.errors > 0 || w.diags.out_of_memory);
    world_close(&w);
    if (!refused) {
      assert_true(ok);
      break;
    }
  }
}

static void checking_and_formatting_survive_failed_allocations(void **state) {
  (void)state;
  for (uint64_t n = 1;; n++) {
    world w;
    bool opened = world_try_open(&w, n);
    uint32_t file = opened ? file_of(&w, everything) : 0;
    tn_text out;
    tn_text_init(&out, &w.heap);
    bool checked = file && tn_lang_ninth()->check(&(tn_unit){ .host = &w.host, .file = file });
    bool formatted = file && tn_lang_ninth()->format(&(tn_unit){ .host = &w.host, .file = file }, &out);
    bool emitted =
        file && tn_lang_ninth()->emit(&(tn_unit){ .host = &w.host, .file = file }, TN_EMIT_GRAPH, &out);
    bool refused = w.heap.failed;
    tn_text_free(&out);
    world_close(&w);
    if (!refused) {
      assert_true(checked && formatted && emitted);
      break;
    }
  }
}

/* The memory after many rounds is that after a few. */
static void a_training_loop_runs_in_constant_memory(void **state) {
  (void)state;
  size_t peaks[2];
  const char *rounds[2] = { "0050", "5000" }; /* texts of one length */
  for (int i = 0; i < 2; i++) {
    char text[1000];
    world w;
    world_open(&w);
    strcpy(text, "\"nn\" [USE] 1 4 2 {MLP} -> net 0.01 net {Adam} -> opt ((0 1) (1 0)) -> x ((1) (0)) -> y ");
    strcat(text, rounds[i]);
    strcat(text, " [REPEAT] x net [CALL] y [MSE_LOSS] -> loss loss [BACKWARD] opt [CALL] \"l\" loss [DROP] "
                 "[DROP] [END]");
    assert_true(run(&w, text));
    peaks[i] = w.heap.peak;
    world_close(&w);
  }
  assert_int_equal(peaks[0], peaks[1]);
}

static void instances_that_hold_themselves_are_freed(void **state) {
  (void)state;
  assert_prints("\"Node\" [MODULE] [INIT] 1 [VAR] -> @w [RET] [FORWARD] -> @me [RET] [END_MODULE]\n"
                "{Node} -> a a a [CALL] a [PARAMS] [PRINT]",
                "{1}\n");
}

/* A chain of instances is neither freed nor walked by recursion. */
static void a_long_chain_of_instances_is_freed(void **state) {
  (void)state;
  assert_prints("\"Node\" [MODULE] [INIT] -> @next 1 [VAR] -> @w [RET] [END_MODULE]\n"
                "0 50000 [REPEAT] {Node} [END] [DUP] [ZERO_GRAD] [PARAMS] -> list 0 -> @n\n"
                "list { [DROP] @n 1 [ADD] -> @n } [FOREACH] @n [PRINT]",
                "50000\n");
}

static void a_large_state_is_found_by_name(void **state) {
  (void)state;
  world w;
  world_open(&w);
  tn_text text;
  tn_text_init(&text, &w.heap);
  for (int i = 0; i < 3000; i++) {
    tn_text_int(&text, i), tn_text_puts(&text, " -> @v"), tn_text_int(&text, i), tn_text_byte(&text, ' ');
  }
  tn_text_puts(&text, "0 -> @v7 @v0 @v7 @v2999 [PRINT] [PRINT] [PRINT] v1500 [PRINT]");
  assert_true(run(&w, text.at));
  assert_string_equal(printed(&w), "2999\n0\n0\n1500\n");
  tn_text_free(&text);
  world_close(&w);
}

static void an_interruption_ends_the_program_at_its_place(void **state) {
  (void)state;
  world w;
  world_open(&w);
  w.stop.stop_at = 1000;
  assert_false(run(&w, "1e9 [REPEAT] 1 [DROP] [END]"));
  assert_int_equal(w.diags.list.count, 1);
  assert_int_equal(w.diags.list.at[0].code, TN_DIAG_E_INTERRUPTED);
  assert_true(w.diags.list.at[0].at.start > 0);
  world_close(&w);
}

static void the_stack_has_a_limit(void **state) {
  (void)state;
  world w;
  world_open(&w);
  assert_false(run(&w, "1e9 [REPEAT] 1 [END]"));
  assert_int_equal(w.diags.list.at[0].code, TN_DIAG_E_TOO_LARGE);
  world_close(&w);
}

static void steps_are_counted_exactly(void **state) {
  (void)state;
  for (uint64_t limit = 1; limit < 200; limit++) {
    world w;
    world_open(&w);
    w.host.max_steps = limit;
    /* 2 + 20 * 4 steps, of which [END] is one */
    assert_int_equal(run(&w, "20 [REPEAT] 1 2 [DROP] [END]"), limit >= 82);
    world_close(&w);
  }
}

static void two_runs_draw_the_same_numbers(void **state) {
  (void)state;
  world w;
  world_open(&w);
  assert_true(run(&w, "[3] [RANDN] [PRINT]"));
  assert_true(run(&w, "[1] [RANDN] [PRINT] [2] [RANDN] [PRINT]"));
  assert_string_equal(printed(&w),
                      "(-0.71772873 1.8654591 -0.6455701)\n(-0.71772873)\n(1.8654591 -0.6455701)\n");
  world_close(&w);
}

static void a_failed_program_leaves_recording_on(void **state) {
  (void)state;
  world w;
  world_open(&w);
  assert_false(run(&w, "[NO_GRAD] [ADD] [END_NO_GRAD]"));
  assert_true(run(&w, "3 [VAR] -> x x x [MUL] [BACKWARD] x [GRAD] [PRINT]"));
  assert_string_equal(printed(&w), "6\n");
  world_close(&w);
}

static void large_tensors_are_shortened_for_people_only(void **state) {
  (void)state;
  world w;
  world_open(&w);
  assert_true(run(&w, "[2000] [ONES] [PRINT]"));
  assert_int_equal(w.printed.len, 2 * 2000 + 2);
  tn_text_clear(&w.printed);
  w.host.shorten = true;
  assert_true(run(&w, "[2000] [ONES] [PRINT] [1000] [ZEROS] [SHAPE] [PRINT] [2 3] [ZEROS] [PRINT]"));
  assert_string_equal(printed(&w), "(1 1 1 ... 1 1 1)\n[1000]\n((0 0 0) (0 0 0))\n");
  world_close(&w);
}

static void what_a_program_computed_can_be_written_as_a_graph(void **state) {
  (void)state;
  world w;
  world_open(&w);
  tn_text out;
  tn_text_init(&out, &w.heap);
  uint32_t file = file_of(&w, "(1 2) [VAR] -> w w 3 [MUL] 1 2 [ADD] [SUB] [SUM]");
  assert_true(tn_lang_ninth()->emit(&(tn_unit){ .host = &w.host, .file = file }, TN_EMIT_GRAPH, &out));
  assert_string_equal(out.at, "graph(param %v0: f32[2]) {\n"
                              "  %1 = fill {dtype=f32, shape=[], number=3} : f32[]\n"
                              "  %2 = mul %v0, %1 : f32[2]\n"
                              "  %3 = fill {dtype=f32, shape=[], number=1} : f32[]\n"
                              "  %4 = fill {dtype=f32, shape=[], number=2} : f32[]\n"
                              "  %5 = add %3, %4 : f32[]\n"
                              "  %6 = sub %2, %5 : f32[2]\n"
                              "  %7 = sum %6 {axes=[0]} : f32[]\n"
                              "  return %7\n}\n");
  tn_text_clear(&out);
  assert_true(tn_lang_ninth()->emit(&(tn_unit){ .host = &w.host, .file = file }, TN_EMIT_GRAD, &out));
  assert_non_null(strstr(out.at, "return v0=%"));
  tn_text_clear(&out);
  assert_true(tn_lang_ninth()->emit(&(tn_unit){ .host = &w.host, .file = file }, TN_EMIT_DOT, &out));
  assert_non_null(strstr(out.at, "digraph"));
  tn_text_free(&out);
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_failed_allocation_is_a_diagnostic),
    cmocka_unit_test(checking_and_formatting_survive_failed_allocations),
    cmocka_unit_test(a_training_loop_runs_in_constant_memory),
    cmocka_unit_test(instances_that_hold_themselves_are_freed),
    cmocka_unit_test(a_long_chain_of_instances_is_freed),
    cmocka_unit_test(a_large_state_is_found_by_name),
    cmocka_unit_test(an_interruption_ends_the_program_at_its_place),
    cmocka_unit_test(the_stack_has_a_limit),
    cmocka_unit_test(steps_are_counted_exactly),
    cmocka_unit_test(two_runs_draw_the_same_numbers),
    cmocka_unit_test(a_failed_program_leaves_recording_on),
    cmocka_unit_test(large_tensors_are_shortened_for_people_only),
    cmocka_unit_test(what_a_program_computed_can_be_written_as_a_graph),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
