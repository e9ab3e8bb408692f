/* Programs as graphs: aliases, lengths, dropout, losses, stages, effects; and the interface that a
 * training loop uses. */
#include "unit/ail_support.h"

#include "lang/ail/walk.h"

#define CLASSIFIER                                                                                           \
  "const V = 20\nconst D = 8\nconst C = 2\n"                                                                 \
  "model {\n  tokens [B, T]\n  labels [B]\n"                                                                 \
  "  param E [V, D]\n  param W [D, C]\n"                                                                     \
  "  logits = linear(meanpool(embedding(tokens, E)), W)\n}\n"
#define TRAIN "train {\n  loss = xent(logits, labels)\n}\n"

typedef struct {
  ail_session session;
  tn_ail *program;
  tn_sizes sizes;
} compiled;

static void compile(compiled *c, const char *text) {
  memset(c, 0, sizeof *c);
  assert_true(ail_open(&c->session));
  c->program = tn_ail_compile(&c->session.host, ail_add(&c->session, text));
  assert_non_null(c->program);
}

static void sized(compiled *c, int64_t batch) {
  tn_size_request request = { .batch = batch };
  assert_true(tn_ail_size(c->program, &request, &c->session.arena, &c->sizes));
}

static void finish(compiled *c) {
  tn_ail_free(c->program);
  ail_close(&c->session);
  assert_int_equal(c->session.heap.used, 0);
}

/* The graph as text, at the end of `model { ... }`. */
static void graph_of(const char *text, char *out, size_t size) {
  ail_session s = { 0 };
  tn_text graph;
  assert_true(ail_open(&s));
  tn_text_init(&graph, &s.heap);
  assert_true(
      tn_lang_ail()->emit(&(tn_unit){ .host = &s.host, .file = ail_add(&s, text) }, TN_EMIT_GRAPH, &graph));
  assert_true(graph.len < size);
  memcpy(out, graph.at, graph.len + 1);
  tn_text_free(&graph);
  ail_close(&s);
}

static void same_graph(const char *a, const char *b) {
  static char first[4096], second[4096];
  graph_of(a, first, sizeof first);
  graph_of(b, second, sizeof second);
  assert_string_equal(first, second);
}

static void aliases_make_the_graph_of_what_they_stand_for(void **state) {
  (void)state;
  same_graph("model { x [B, T, D] y = meanpool(x) }", "model { x [B, T, D] y = mean_pool_time(x) }");
  same_graph("model { x [B, C] labels [B] y = xent(x, labels) }",
             "model { x [B, C] labels [B] y = cross_entropy(x, labels) }");
  same_graph("model { x [B, 3] param W [3, 2] param b [2] y = linear(x, W, b) }",
             "model { x [B, 3] param W [3, 2] param b [2] y = matmul(x, W) + b }");
  same_graph("model { x [2] y = add(x, mul(x, x)) }", "model { x [2] y = x + x * x }");
}

static void functions_leave_no_trace(void **state) {
  (void)state;
  same_graph("fn f(a) { b = relu(a)\n b + 1 } model { x [2] y = f(f(x)) }",
             "model { x [2] y = relu(relu(x) + 1) + 1 }");
}

static void loops_are_unrolled(void **state) {
  (void)state;
  same_graph("model { x [2] y = repeat 3 times init x do relu(y) end }",
             "model { x [2] y = relu(relu(relu(x))) }");
  same_graph("model { x [2] y = reduce add over range(1, 4) do x * i end }",
             "model { x [2] y = x * 1 + x * 2 + x * 3 }");
}

static void a_constant_condition_leaves_one_branch(void **state) {
  (void)state;
  same_graph("const DEBUG = false model { x [2] y = if DEBUG or 1 > 2 then matmul(x, x) else relu(x) }",
             "model { x [2] y = relu(x) }");
}

static void names_that_may_be_equal_are_shown_with_lengths(void **state) {
  (void)state;
  static char text[2048];
  graph_of("model { x [B, D] w [K, 2] y = matmul(x, w) }", text, sizeof text);
  assert_non_null(strstr(text, "%x: f32[2, 2]"));
}

/* ---- lengths ---- */

static void the_batch_is_the_leading_dimension_of_labels(void **state) {
  (void)state;
  compiled c;
  compile(&c, CLASSIFIER TRAIN);
  sized(&c, 5);
  tn_shape tokens = tn_shape_make(2, 5, 6), labels = tn_shape_make(1, 5);
  assert_true(tn_shape_equal(&c.sizes.inputs[0], &tokens));
  assert_true(tn_shape_equal(&c.sizes.inputs[1], &labels));
  assert_int_equal(tn_ail_vocabulary(c.program, &c.sizes), 20);
  assert_int_equal(tn_ail_classes(c.program, &c.sizes), 2);
  finish(&c);
}

static void without_tables_and_logits_there_are_defaults(void **state) {
  (void)state;
  compiled c;
  compile(&c, "model { tokens [B, T] labels [B] y = mean(tokens) + mean(labels) }");
  sized(&c, 0);
  assert_int_equal(tn_ail_vocabulary(c.program, &c.sizes), 20);
  assert_int_equal(tn_ail_classes(c.program, &c.sizes), 2);
  finish(&c);
}

static void given_shapes_bind_names_and_are_checked(void **state) {
  (void)state;
  compiled c;
  compile(&c, CLASSIFIER TRAIN);
  tn_shape given[2] = { tn_shape_make(2, 3, 7), tn_shape_make(1, 3) };
  tn_size_request request = { .given = given, .batch = 4, .no_defaults = true };
  assert_true(tn_ail_size(c.program, &request, &c.session.arena, &c.sizes));
  assert_int_equal(c.sizes.inputs[0].dim[1], 7);
  given[1].dim[0] = 4;
  assert_false(tn_ail_size(c.program, &request, &c.session.arena, &c.sizes));
  assert_int_equal(ail_reported(&c.session, TN_DIAG_E_NAMED_DIM_CONFLICT), 1);
  finish(&c);
}

static void a_param_needs_its_names_where_there_is_data(void **state) {
  (void)state;
  compiled c;
  compile(&c, "model { x [B, 4] param W [4, K] y = matmul(x, W) }");
  sized(&c, 0);
  assert_int_equal(c.sizes.params[0].dim[1], 2);
  tn_size_request request = { .no_defaults = true };
  assert_false(tn_ail_size(c.program, &request, &c.session.arena, &c.sizes));
  assert_int_equal(ail_reported(&c.session, TN_DIAG_E_DIM_UNBOUND), 1);
  finish(&c);
}

/* ---- what a training loop gets ---- */

static void a_lowered_loss_has_all_inputs_and_params_in_order(void **state) {
  (void)state;
  compiled c;
  tn_lowered lowered = { 0 };
  compile(&c, CLASSIFIER TRAIN);
  sized(&c, 4);
  assert_true(tn_ail_lower(c.program, &c.sizes, TN_LOWER_TRAINING, &lowered));
  assert_int_equal(lowered.graph.inputs.count, 2);
  assert_int_equal(lowered.graph.params.count, 2);
  assert_int_equal(lowered.loss, 0);
  assert_int_equal(lowered.logits, 1);
  assert_int_equal(tn_graph_type(&lowered.graph, lowered.graph.outputs.at[0].value)->shape.rank, 0);
  tn_shape logits = tn_shape_make(2, 4, 2);
  assert_true(
      tn_shape_equal(&tn_graph_type(&lowered.graph, lowered.graph.outputs.at[1].value)->shape, &logits));
  assert_null(tn_graph_verify(&lowered.graph, &(tn_value){ 0 }));
  tn_graph_free(&lowered.graph);
  finish(&c);
}

static void dropout_draws_only_in_training_and_each_from_its_own_words(void **state) {
  (void)state;
  compiled c;
  tn_lowered lowered = { 0 };
  uint64_t seen[4] = { 0 };
  int found = 0;
  compile(&c, "model { x [B, 4] h = dropout(x, 0.5) y = mean(dropout(h, 0.25)) } train { loss = y }");
  sized(&c, 2);
  assert_true(tn_ail_lower(c.program, &c.sizes, TN_LOWER_INFERENCE, &lowered));
  assert_int_equal(lowered.graph.inputs.count, 1);
  tn_graph_free(&lowered.graph);
  assert_true(tn_ail_lower(c.program, &c.sizes, TN_LOWER_TRAINING, &lowered));
  assert_int_equal(lowered.graph.inputs.count, 2); /* the key comes after the program's own */
  for (size_t v = 1; v < lowered.graph.nodes.count; v++) {
    const tn_node *node = tn_graph_node(&lowered.graph, (tn_value)v);
    if (node->op == TN_OP_UNIFORM) seen[found++] = node->attrs->index;
  }
  assert_int_equal(found, 2);
  assert_true(seen[0] != seen[1]);
  tn_graph_free(&lowered.graph);
  finish(&c);
}

/* The door that a training goes through. */
static void open_door(ail_session *session, const char *text, uint32_t capabilities, bool opens,
                      tn_training *training) {
  memset(session, 0, sizeof *session);
  assert_true(ail_open(session));
  session->host.capabilities = capabilities;
  tn_unit unit = { .host = &session->host, .file = ail_add(session, text) };
  assert_int_equal(tn_lang_ail()->training->open(&unit, training), opens);
}

static void close_door(ail_session *session, tn_model *model) {
  tn_lang_ail()->training->close(model);
  ail_close(session);
  assert_int_equal(session->heap.used, 0);
}

static void blocks_have_their_defaults(void **state) {
  (void)state;
  ail_session session;
  tn_training training;
  open_door(&session,
            CLASSIFIER TRAIN
            "eval { metrics = [acc, loss, \"accuracy\"] }"
            "dataset { format = \"tsv\" path = \"x.tsv\" tokens = \"0-2,5\" labels = 7 batch 16 }",
            TN_CAP_FILEREAD, true, &training);
  const tn_train_block *train = training.train;
  const tn_eval_block *eval = training.eval;
  const tn_dataset_block *dataset = training.dataset;
  assert_int_equal(training.specs.input_count, 2);
  assert_int_equal(training.specs.inputs[0].kind, TN_DATA_TOKEN_IDS);
  assert_int_equal(training.specs.inputs[1].type.dtype, TN_I32);
  assert_int_equal(training.specs.param_count, 2);
  assert_true(tn_str_is(tn_names_text(session.names, training.specs.params[1].name), "W"));
  assert_int_equal(train->options.steps, 200);
  assert_int_equal(train->batch, 16); /* the pipeline's */
  assert_true(train->options.lr == 0.1);
  assert_int_equal(train->options.optimizer, TN_OPTIMIZER_SGD);
  assert_int_equal(eval->every, 20);
  assert_false(eval->on_train);
  assert_int_equal(eval->metric_count, 2);
  assert_int_equal(eval->metrics[0].kind, TN_METRIC_ACCURACY);
  assert_int_equal(dataset->format, TN_DATASET_TSV);
  assert_int_equal(dataset->features.column_count, 4);
  assert_int_equal(dataset->features.columns[3], 5);
  assert_int_equal(dataset->labels.columns[0], 7);
  assert_int_equal(dataset->features_input, 0);
  assert_int_equal(dataset->labels_input, 1);
  assert_true(dataset->split == 1);
  close_door(&session, training.model);
}

static void what_a_program_does_not_say_is_not_there(void **state) {
  (void)state;
  ail_session session;
  tn_training training;
  open_door(&session,
            CLASSIFIER "train { loss = xent(logits, labels) optimizer = \"adamw\" schedule = \"linear\" }", 0,
            true, &training);
  assert_null(training.eval);
  assert_null(training.dataset);
  assert_int_equal(training.train->options.optimizer, TN_OPTIMIZER_ADAMW);
  assert_int_equal(training.train->options.schedule, TN_SCHEDULE_LINEAR);
  close_door(&session, training.model);
}

static void a_program_that_cannot_train_is_not_opened(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tn_diag_code code;
  } refused[] = {
    { CLASSIFIER, TN_DIAG_E_TRAIN_REQUIRES_LOSS },
    { CLASSIFIER TRAIN "dataset { format = \"tsv\" path = \"x.tsv\" }", TN_DIAG_E_DATASET_CAPABILITY_DENIED },
    { CLASSIFIER "train { loss = xent(logits, labels) optimizer = \"none\" }", TN_DIAG_E_SYNTAX_ERROR },
    { "model {", TN_DIAG_E_SYNTAX_ERROR },
  };
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    ail_session session;
    tn_training training;
    open_door(&session, refused[i].text, 0, false, &training);
    assert_true(ail_reported(&session, refused[i].code) > 0);
    close_door(&session, NULL);
  }
}

static void a_word_that_selects_no_column_means_the_default_layout(void **state) {
  (void)state;
  static const char *const words[] = { "tokens", "", "1-", "-1", "3-1", "a,1", "1,,2" };
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    compiled c;
    char text[512] = CLASSIFIER "data { format = \"tsv\" path = \"x\" tokens = \"";
    strcat(text, words[i]);
    strcat(text, "\" }");
    compile(&c, text);
    assert_int_equal(c.program->dataset.features.column_count, 0);
    finish(&c);
  }
}

static void stages_are_graphs_for_one_row(void **state) {
  (void)state;
  compiled c;
  tn_graph graph;
  tn_fault fault;
  int32_t row[3] = { 1, 2, 3 }, label = 5;
  compile(&c, "fn next(row) { row * 2 + 1 } fn known(label) { label < 5 }" CLASSIFIER
              "data { format = \"jsonl\" path = \"x\" filter known(labels) map next(tokens) }");
  const tn_dataset_block *dataset = &c.program->dataset;
  assert_int_equal(dataset->stage_count, 2);
  assert_int_equal(dataset->stages[0].kind, TN_STAGE_MAP); /* maps come first */
  tn_shape shape = tn_shape_make(1, 3);
  tn_view input = tn_view_make(row, TN_I32, &shape);
  tn_tensor output = { 0 };
  assert_true(tn_ail_lower_stage(c.program, 0, &shape, &graph));
  assert_true(language_compute(&c.session.host, &graph, &input, NULL, &output, &fault));
  assert_int_equal(output.view.dtype, TN_I32);
  assert_int_equal(tn_view_get_i64(&output.view, 2), 7);
  tn_tensor_unref(&output);
  tn_graph_free(&graph);
  input = tn_view_make(&label, TN_I32, &TN_SCALAR_SHAPE);
  assert_true(tn_ail_lower_stage(c.program, 1, &TN_SCALAR_SHAPE, &graph));
  assert_true(language_compute(&c.session.host, &graph, &input, NULL, &output, &fault));
  assert_int_equal(output.view.dtype, TN_BOOL);
  assert_int_equal(tn_view_get_i64(&output.view, 0), 0);
  tn_tensor_unref(&output);
  tn_graph_free(&graph);
  finish(&c);
}

static void drawing_follows_the_rules_of_the_language(void **state) {
  (void)state;
  compiled c;
  float numbers[2];
  int32_t ids[4];
  tn_rng rng;
  compile(&c, "model { x [2] tokens [1, 4] y = sum(x) + sum(tokens) }");
  sized(&c, 0);
  tn_shape two = tn_shape_make(1, 2), four = tn_shape_make(1, 4);
  tn_view tensor = tn_view_make(numbers, TN_F32, &two), tokens = tn_view_make(ids, TN_I32, &four);
  tn_rng_init(&rng, 2042);
  tn_ail_draw(c.program, 0, &c.sizes, &rng, &tensor);
  assert_true(numbers[0] == 0.4169424772262573f && numbers[1] == -0.4344710111618042f);
  tn_rng_init(&rng, 1042);
  tn_ail_draw(c.program, 1, &c.sizes, &rng, &tokens);
  assert_int_equal(ids[0], 4);
  assert_int_equal(ids[1], 15);
  assert_int_equal(ids[3], 12);
  finish(&c);
}

static void parameters_start_in_order_and_weights_replace_them(void **state) {
  (void)state;
  compiled c;
  tn_tensor params[2] = { 0 };
  float weights[2] = { 7, 8 };
  tn_given file[2] = { { .name = TN_LIT("a") }, { .name = TN_LIT("b") } };
  tn_shape two = tn_shape_make(1, 2), three = tn_shape_make(1, 3);
  compile(&c, "model { param b [3] y = a + sum(b) } param a [2]");
  sized(&c, 0);
  assert_true(tn_ail_init_params(c.program, &c.sizes, params));
  assert_true(tn_view_get_f64(&params[0].view, 0) == (double)-0.9558123350143433f); /* top level first */
  assert_true(tn_view_get_f64(&params[1].view, 0) == (double)-1.0001708269119263f);
  tn_tensor_unref(&params[0]);
  tn_tensor_unref(&params[1]);
  file[0].data.view = tn_view_make(weights, TN_F32, &two);
  file[1].data.view = tn_view_make(weights, TN_F32, &two);
  c.session.host.weights = file;
  c.session.host.weight_count = 2;
  c.session.host.has_weights = true;
  assert_false(tn_ail_init_params(c.program, &c.sizes, params)); /* b has another shape */
  assert_int_equal(ail_reported(&c.session, TN_DIAG_E_WEIGHTS_MISMATCH), 1);
  float more[3] = { 1, 2, 3 };
  file[1].data.view = tn_view_make(more, TN_F32, &three);
  assert_true(tn_ail_init_params(c.program, &c.sizes, params));
  assert_true(tn_view_get_f64(&params[0].view, 1) == 8 && tn_view_get_f64(&params[1].view, 2) == 3);
  tn_tensor_unref(&params[0]);
  tn_tensor_unref(&params[1]);
  finish(&c);
}

static void training_needs_a_train_block(void **state) {
  (void)state;
  compiled c;
  compile(&c, CLASSIFIER "loss { let l = xent(logits, labels) return l }");
  assert_false(tn_ail_require_loss(c.program));
  assert_int_equal(ail_reported(&c.session, TN_DIAG_E_TRAIN_REQUIRES_LOSS), 1);
  finish(&c);
}

/* ---- stacking ---- */

static void only_a_program_in_c_can_stack_nothing_or_along_another_axis(void **state) {
  (void)state;
  compiled c;
  tn_typer typer;
  tn_ail_walk walk;
  compile(&c, "model { x [2] y = relu(x) }");
  tn_typer_init(&typer, &c.session.heap, c.session.names);
  tn_ail_walk_init(&walk, c.program, &typer.base);
  walk.typer = &typer;
  tn_value value = tn_typer_value(&typer, TN_F32, &TN_SCALAR_SHAPE);
  assert_int_equal(tn_ail_stack(&walk, &value, 0, 0, TN_NOWHERE), TN_ERROR_VALUE);
  assert_int_equal(ail_reported(&c.session, TN_DIAG_E_STACK_EMPTY), 1);
  assert_int_equal(tn_ail_stack(&walk, &value, 1, 1, TN_NOWHERE), TN_ERROR_VALUE);
  assert_int_equal(ail_reported(&c.session, TN_DIAG_E_STACK_AXIS_INVALID), 1);
  assert_int_not_equal(tn_ail_stack(&walk, &value, 1, 0, TN_NOWHERE), TN_ERROR_VALUE);
  tn_ail_walk_free(&walk);
  tn_typer_free(&typer);
  finish(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(aliases_make_the_graph_of_what_they_stand_for),
    cmocka_unit_test(functions_leave_no_trace),
    cmocka_unit_test(loops_are_unrolled),
    cmocka_unit_test(a_constant_condition_leaves_one_branch),
    cmocka_unit_test(names_that_may_be_equal_are_shown_with_lengths),
    cmocka_unit_test(the_batch_is_the_leading_dimension_of_labels),
    cmocka_unit_test(without_tables_and_logits_there_are_defaults),
    cmocka_unit_test(given_shapes_bind_names_and_are_checked),
    cmocka_unit_test(a_param_needs_its_names_where_there_is_data),
    cmocka_unit_test(a_lowered_loss_has_all_inputs_and_params_in_order),
    cmocka_unit_test(dropout_draws_only_in_training_and_each_from_its_own_words),
    cmocka_unit_test(blocks_have_their_defaults),
    cmocka_unit_test(what_a_program_does_not_say_is_not_there),
    cmocka_unit_test(a_program_that_cannot_train_is_not_opened),
    cmocka_unit_test(a_word_that_selects_no_column_means_the_default_layout),
    cmocka_unit_test(stages_are_graphs_for_one_row),
    cmocka_unit_test(drawing_follows_the_rules_of_the_language),
    cmocka_unit_test(parameters_start_in_order_and_weights_replace_them),
    cmocka_unit_test(training_needs_a_train_block),
    cmocka_unit_test(only_a_program_in_c_can_stack_nothing_or_along_another_axis),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
