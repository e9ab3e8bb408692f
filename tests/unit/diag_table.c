/* diag.def keeps its promises: what is true of every code. */
#include "base/utf8.h"
#include "diag_support.h"

static tn_diag_code code_at(int i) {
  return (tn_diag_code)i;
}

#define EACH_CODE(info)                                                               \
  for (int code_ = TN_DIAG_NONE + 1; code_ < TN_DIAG_COUNT; code_++)                  \
    for (const tn_diag_info *info = tn_diag_info_of(code_at(code_)); info; info = NULL)

/* Fails with the name of the code that is wrong. */
#define CHECK(info, condition) \
  do { if (!(condition)) fail_msg("%s: %s", (info)->code, #condition); } while (0)

static bool is_name(tn_str name) {
  for (size_t i = 0; i < name.len; i++)
    if (!strchr("abcdefghijklmnopqrstuvwxyz_0123456789T", name.at[i])) return false;
  return name.len > 0;
}

static void check_names(const tn_diag_info *info, const char *list) {
  tn_str name, other;
  for (const char *at = list; tn_diag_next_name(&at, &name);) {
    CHECK(info, is_name(name));
    for (const char *rest = at; tn_diag_next_name(&rest, &other);) CHECK(info, !tn_str_equal(name, other));
  }
}

static void every_code_is_found_by_its_text(void **state) {
  (void)state;
  EACH_CODE(info) {
    CHECK(info, (int)tn_diag_find(tn_str_of(info->code)) == code_);   /* so no code stands twice */
    CHECK(info, info->code[0] == 'E' && (info->code[1] == '_' || strlen(info->code) == 5));
  }
  assert_int_equal(tn_diag_find(TN_LIT("e_shape_mismatch")), TN_DIAG_E_SHAPE_MISMATCH);
  assert_int_equal(tn_diag_find(TN_LIT("e2101")), TN_DIAG_E2101);
  assert_int_equal(tn_diag_find(TN_LIT("E_SHAPE")), TN_DIAG_NONE);
  assert_int_equal(tn_diag_find(TN_LIT("")), TN_DIAG_NONE);
}

static void a_misspelt_code_has_a_suggestion(void **state) {
  (void)state;
  assert_true(tn_str_is(tn_diag_suggest(TN_LIT("E_SHAPE_MISSMATCH")), "E_SHAPE_MISMATCH"));
  assert_int_equal(tn_diag_suggest(TN_LIT("banana")).len, 0);
}

static void every_code_has_title_explanation_and_fields(void **state) {
  (void)state;
  EACH_CODE(info) {
    CHECK(info, info->title && info->title[0] && info->title[strlen(info->title) - 1] != '.');
    CHECK(info, !(info->title[0] >= 'A' && info->title[0] <= 'Z'));
    CHECK(info, info->explanation && strlen(info->explanation) > 40);
    CHECK(info, info->explanation[strlen(info->explanation) - 1] == '.');
    CHECK(info, info->fields != NULL);
    check_names(info, info->fields);
    check_names(info, info->optional);
    tn_str name;
    for (const char *at = info->optional; tn_diag_next_name(&at, &name);) {
      char copy[64];
      CHECK(info, name.len < sizeof copy);
      memcpy(copy, name.at, name.len);
      copy[name.len] = 0;
      CHECK(info, !tn_diag_names_contain(info->fields, copy));
    }
  }
}

/* Failures without anything a user could do have no hint, nor has MIND's grammar, whose message says
 * what was expected. */
static void every_code_has_a_hint_unless_nothing_helps(void **state) {
  (void)state;
  static const tn_diag_code without[] = {
    TN_DIAG_E_EXECUTION_FAILURE, TN_DIAG_E_GRAPH_TYPE, TN_DIAG_E_STACK_EMPTY, TN_DIAG_E_STACK_AXIS_INVALID,
    TN_DIAG_E1001,
  };
  EACH_CODE(info) {
    bool excused = false;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) excused |= (int)without[i] == code_;
    CHECK(info, (info->hint == NULL) == excused);
  }
}

static bool contains(const char *list, tn_str name) {
  tn_str each;
  while (tn_diag_next_name(&list, &each))
    if (tn_str_equal(each, name)) return true;
  return false;
}

/* Outside of [[ ]] a template may rely on required fields only. */
static void check_template(const tn_diag_info *info, const char *template) {
  tn_str name;
  bool inside = false;
  if (!template) return;
  CHECK(info, !strstr(template, "[[[") && !strstr(template, "]]]") && !strchr(template, '\n'));
  for (const char *at = template; tn_diag_next_field(&at, &name, &inside);)
    CHECK(info, contains(info->fields, name) || (inside && contains(info->optional, name)));
  CHECK(info, tn_diag_outline(template, info->fields, NULL) < 400);
}

static void templates_use_fields_that_exist(void **state) {
  (void)state;
  EACH_CODE(info) {
    check_template(info, info->title);
    check_template(info, info->label);
    check_template(info, info->hint);
    CHECK(info, tn_diag_outline(info->title, info->fields, NULL) > 0);
  }
}

/* The title of E_OUT_OF_MEMORY is expanded into a buffer on the stack, with no fields. */
static void the_title_for_no_memory_is_short(void **state) {
  (void)state;
  assert_true(tn_diag_expand(tn_diag_info_of(TN_DIAG_E_OUT_OF_MEMORY)->title, NULL, 0, NULL) < 200);
  assert_null(strstr(tn_diag_info_of(TN_DIAG_E_OUT_OF_MEMORY)->hint, "[["));
}

/* Examples are shown and run as they stand. */
static void check_program(const tn_diag_info *info, const char *program) {
  size_t len = program ? strlen(program) : 0;
  if (!program) return;
  CHECK(info, len > 0 && program[len - 1] == '\n');
  CHECK(info, !strchr(program, '\t') && !strstr(program, " \n") && tn_utf8_valid(tn_str_of(program)));
}

static void every_code_has_an_example_or_a_reason(void **state) {
  (void)state;
  EACH_CODE(info) {
    CHECK(info, (info->wrong == NULL) == (info->no_example != NULL));
    if (!info->wrong) continue;
    CHECK(info, info->lang && contains("ail mind nth graph", tn_str_of(info->lang)));
    bool fixed_elsewhere = info->right_command || info->right_data;
    CHECK(info, info->right || fixed_elsewhere);
    CHECK(info, !info->right || strcmp(info->right, info->wrong) != 0);
    CHECK(info, (info->wrong_data || info->right_data) == (info->data != NULL));
    check_program(info, info->wrong);
    check_program(info, info->right);
  }
}

/* So that nobody adds a code without an example in passing. */
static void few_codes_have_no_example(void **state) {
  (void)state;
  static const char *const without =
    "E_UNSUPPORTED E_OUT_OF_MEMORY E_INTERRUPTED E_INTERNAL E_WEIGHTS_MISMATCH E_CHECKPOINT_MISMATCH "
    "E_VERIFY_DIFFERS E_VERIFY_UNCHECKED E_RUN_IN_USE E_STORE E_RUN_NOT_RECORDED E_NO_STEPS_LEFT "
    "E_RUN_NOT_FOUND E_STACK_EMPTY E_RANK_LOST E_RANKS_DIFFER E_RANKS_IDLE E_RANKS_START "
    "E_STACK_AXIS_INVALID E_SANDBOX_UNAVAILABLE E_BOARD E3001 E_TOKENIZER_UNSUPPORTED E_TOKENIZER_INVALID "
    "E_ROWS_NOT_INDEPENDENT E_DATASET_ARRAY E_CANNOT_GENERATE E_DEVICE";
  EACH_CODE(info) CHECK(info, !info->no_example == !contains(without, tn_str_of(info->code)));
}

static void only_our_own_faults_and_the_command_line_have_a_status(void **state) {
  (void)state;
  EACH_CODE(info) {
    bool bug = code_ == TN_DIAG_E_INTERNAL || code_ == TN_DIAG_E3001;
    CHECK(info, info->status == (bug ? 3 : code_ == TN_DIAG_E_USAGE ? 2 : 0));
  }
}

/* The two documents that programs rely on name these, in this order. */
static void the_documented_fields_are_there(void **state) {
  (void)state;
  static const struct { tn_diag_code code; const char *fields; } documented[] = {
    { TN_DIAG_E_SYNTAX_ERROR, "line col message" },
    { TN_DIAG_E_MODEL_EMPTY, "block" },
    { TN_DIAG_E_TRAIN_REQUIRES_LOSS, "block" },
    { TN_DIAG_E_RETURN_NOT_FOUND, "name" },
    { TN_DIAG_E_IDENTIFIER_NOT_FOUND, "name" },
    { TN_DIAG_E_CONST_REDECLARED, "name" },
    { TN_DIAG_E_EMBEDDING_REQUIRES_TOKEN_IDS, "input_name received_dtype" },
    { TN_DIAG_E_LABELS_REQUIRED, "input_name received_dtype" },
    { TN_DIAG_E_DIM_UNBOUND, "name context" },
    { TN_DIAG_E_INPUT_RANK_MISMATCH, "input expected_rank received_rank" },
    { TN_DIAG_E_INPUT_DIM_MISMATCH, "input dimension expected received" },
    { TN_DIAG_E_NAMED_DIM_CONFLICT, "named_dim previous_value new_value input" },
    { TN_DIAG_E_RESHAPE_REF_OUT_OF_BOUNDS, "reference_index input_rank" },
    { TN_DIAG_E_RESHAPE_NAMED_DIM_NOT_FOUND, "named_dim" },
    { TN_DIAG_E_RESHAPE_NAMED_DIM_NO_BINDINGS, "named_dim" },
    { TN_DIAG_E_RESHAPE_CANNOT_INFER, "reason" },
    { TN_DIAG_E_RESHAPE_ELEMENT_MISMATCH, "input_elements resolved_elements" },
    { TN_DIAG_E_INVALID_ARGUMENTS, "function expected got" },
    { TN_DIAG_E_INDEX_OUT_OF_RANGE, "function index limit" },
    { TN_DIAG_E_LOSS_NOT_SCALAR, "shape" },
    { TN_DIAG_E_EVAL_UNKNOWN_METRIC, "metric" },
    { TN_DIAG_E_EVAL_INVALID_SPLIT, "split" },
    { TN_DIAG_E_DATASET_UNKNOWN_FORMAT, "format" },
    { TN_DIAG_E_DATASET_JSONL_PARSE_ERROR, "path line reason" },
    { TN_DIAG_E_DATASET_SCHEMA_MISSING_FIELD, "path line field" },
    { TN_DIAG_E_DATASET_SCHEMA_WRONG_TYPE, "path line field" },
    { TN_DIAG_E_DATASET_DIM_MISMATCH, "path line expected_T received_T" },
    { TN_DIAG_E_DATASET_LABEL_OUT_OF_RANGE, "path line label num_classes" },
    { TN_DIAG_E_DATASET_EMPTY, "path" },
    { TN_DIAG_E_DATASET_CAPABILITY_DENIED, "capability attempted_action path" },
    { TN_DIAG_E_DATASET_MAP_NOT_FOUND, "function_name stage dataset_path" },
    { TN_DIAG_E_DATASET_FILTER_NOT_FOUND, "function_name stage dataset_path" },
    { TN_DIAG_E_CAPABILITY_DENIED, "capability op attempted_action" },
    { TN_DIAG_E_FILE_NOT_FOUND, "path" },
    { TN_DIAG_E_FILE_INVALID_UTF8, "path" },
    { TN_DIAG_E_FILE_IO_ERROR, "path io_error_kind" },
    { TN_DIAG_E_EXECUTION_FAILURE, "message" },
    { TN_DIAG_E_IF_NOT_ALLOWED_IN_BLOCK, "block" },
    { TN_DIAG_E_LOOP_NOT_ALLOWED_IN_BLOCK, "block" },
    { TN_DIAG_E_LOOP_VAR_OUT_OF_SCOPE, "name" },
    { TN_DIAG_E_LOOP_UNROLL_LIMIT_EXCEEDED, "limit requested context" },
    { TN_DIAG_E_FUNCTION_NOT_FOUND, "function_name" },
    { TN_DIAG_E_FUNCTION_DUPLICATE_NAME, "function_name" },
    { TN_DIAG_E_FUNCTION_ARITY_MISMATCH, "expected received" },
    { TN_DIAG_E_FUNCTION_RECURSION, "function_name call_site" },
    { TN_DIAG_E_FUNCTION_INVALID_CONTEXT, "function_name context" },
    { TN_DIAG_E_FUNCTION_EMPTY_BODY, "function_name" },
    { TN_DIAG_E_STATE_DUPLICATE, "state_name" },
    { TN_DIAG_E_STATE_UNREACHABLE, "state_name" },
    { TN_DIAG_E_STATE_NO_TRANSITION, "state_name" },
    { TN_DIAG_E_STATE_NOT_FOUND, "state_name target transition_index" },
    { TN_DIAG_E_TRANSITION_CONFLICT, "state_name transition_index" },
    { TN_DIAG_E_INVALID_EVENT, "event_name state_name" },
    { TN_DIAG_E_STATE_REDECLARED, "var_name" },
    { TN_DIAG_E_STATE_NOT_DECLARED, "var_name" },
    { TN_DIAG_E_STATE_TYPE_INVALID, "type" },
    { TN_DIAG_E_EVENT_DUPLICATE, "event_name" },
    { TN_DIAG_E_EVENT_NOT_DEFINED, "event_name emitted_event" },
    { TN_DIAG_E_EVENT_CYCLE_DETECTED, "cycle" },
    { TN_DIAG_E_EVENT_HANDLER_NOT_FOUND, "event_name" },
    { TN_DIAG_E2101, "op left right dimension" },
    { TN_DIAG_E2103, "left right" },
    { TN_DIAG_E4001, "op" },
    { TN_DIAG_E4003, "name" },
    { TN_DIAG_E7001, "module searched" },
    { TN_DIAG_E7002, "cycle" },
    { TN_DIAG_E7003, "name" },
    { TN_DIAG_E8001, "effect" },
    { TN_DIAG_E_UNKNOWN_OPCODE, "opcode" },
    { TN_DIAG_E_UNCLOSED_BLOCK, "block" },
    { TN_DIAG_E_UNKNOWN_FUNCTION, "name" },
    { TN_DIAG_E_UNDEFINED_VARIABLE, "name" },
    { TN_DIAG_E_UNKNOWN_MODULE, "name" },
    { TN_DIAG_E_UNKNOWN_LIBRARY, "name" },
    { TN_DIAG_E_CONDITION_NOT_SCALAR, "opcode shape" },
    { TN_DIAG_E_LOOP_LIMIT, "limit" },
    { TN_DIAG_E_TYPE, "opcode expected got" },
    { TN_DIAG_E_STACK_UNDERFLOW, "opcode needed have" },
  };
  for (size_t i = 0; i < sizeof documented / sizeof *documented; i++)
    assert_string_equal(tn_diag_info_of(documented[i].code)->fields, documented[i].fields);
}

/* One code serves AILang (function, left, right, dimension) and Ninth (opcode, left, right). */
static void a_shared_code_requires_what_both_languages_give(void **state) {
  (void)state;
  const tn_diag_info *info = tn_diag_info_of(TN_DIAG_E_SHAPE_MISMATCH);
  assert_string_equal(info->fields, "left"); /* a single shape may be wrong by itself */
  assert_true(tn_diag_names_contain(info->optional, "right"));
  assert_true(tn_diag_names_contain(info->optional, "function"));
  assert_true(tn_diag_names_contain(info->optional, "opcode"));
  assert_true(tn_diag_names_contain(info->optional, "dimension"));
}

static void an_unknown_number_reads_as_a_bug(void **state) {
  (void)state;
  assert_string_equal(tn_diag_info_of(TN_DIAG_NONE)->code, "E_INTERNAL");
  assert_string_equal(tn_diag_info_of(TN_DIAG_COUNT)->code, "E_INTERNAL");
}

RUN_TESTS(
  cmocka_unit_test(every_code_is_found_by_its_text),
  cmocka_unit_test(a_misspelt_code_has_a_suggestion),
  cmocka_unit_test(every_code_has_title_explanation_and_fields),
  cmocka_unit_test(every_code_has_a_hint_unless_nothing_helps),
  cmocka_unit_test(templates_use_fields_that_exist),
  cmocka_unit_test(the_title_for_no_memory_is_short),
  cmocka_unit_test(every_code_has_an_example_or_a_reason),
  cmocka_unit_test(few_codes_have_no_example),
  cmocka_unit_test(only_our_own_faults_and_the_command_line_have_a_status),
  cmocka_unit_test(the_documented_fields_are_there),
  cmocka_unit_test(a_shared_code_requires_what_both_languages_give),
  cmocka_unit_test(an_unknown_number_reads_as_a_bug))
