/* How diagnostics look: exact text for every kind of place, and JSON. */
#include "base/utf8.h"
#include "diag_support.h"

static void report_name(fixture *f, tn_span at) {
  tn_report(&f->diags, TN_DIAG_E2002, at, TN_STR("name", "x"));
}

#define HEAD "error[E2002]: there is nothing named `x` here\n"
#define TAIL "   = name: x\n   = hint: bind it first: `let x = ...`\n\n"

static void the_example_of_the_contract(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "\n\nmodel {\n  x [B, T]\n  param E [20, 8]\n  h = embedding(x, E)\n}\n");
  tn_span call = find_span(&f, "(x, E)");
  tn_span at = { f.file, call.start + 1, call.start + 2 };
  tn_report(&f.diags, TN_DIAG_E_EMBEDDING_REQUIRES_TOKEN_IDS, at, TN_STR("input_name", "x"),
            TN_STR("received_dtype", "tensor"));
  assert_string_equal(rendered(&f),
    "error[E_EMBEDDING_REQUIRES_TOKEN_IDS]: embedding needs token ids as its first argument\n"
    "  --> m.ail:6:17\n"
    "   |\n"
    " 6 |   h = embedding(x, E)\n"
    "   |                 ^ dtype tensor\n"
    "   = input_name: x\n"
    "   = received_dtype: tensor\n"
    "   = hint: an input named `tokens` has dtype token_ids\n"
    "\n");
  close_fixture(&f);
}

static void a_warning_says_so(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "for i in range(0, 2)\n");
  tn_report(&f.diags, TN_DIAG_E_LOOP_VAR_REDECLARED, find_span(&f, "i"), TN_STR("name", "i"));
  f.diags.list.at[0].at = find_span(&f, "i in");
  assert_string_equal(rendered(&f),
    "warning[E_LOOP_VAR_REDECLARED]: the inner loop's `i` hides the outer loop's\n"
    "  --> m.ail:1:5\n"
    "   |\n"
    " 1 | for i in range(0, 2)\n"
    "   |     ^^^^ the same name again\n"
    "   = name: i\n"
    "   = hint: give the inner variable another name\n"
    "\n");
  close_fixture(&f);
}

static void without_a_place_there_is_no_snippet(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "x\n");
  report_name(&f, TN_NOWHERE);
  assert_string_equal(rendered(&f), HEAD TAIL);
  report_name(&f, (tn_span){ 99, 0, 1 });   /* an unknown file */
  assert_string_equal(rendered(&f), HEAD TAIL HEAD TAIL);
  close_fixture(&f);
}

static void the_margin_is_as_wide_as_the_line_number(void **state) {
  (void)state;
  fixture f;
  char program[1100];
  memset(program, '\n', 1000);
  strcpy(program + 1000, "y = x");
  open_fixture(&f, program);
  report_name(&f, find_span(&f, "x"));
  assert_string_equal(rendered(&f),
    HEAD
    "     --> m.ail:1001:5\n"
    "      |\n"
    " 1001 | y = x\n"
    "      |     ^ unknown name\n"
    "      = name: x\n"
    "      = hint: bind it first: `let x = ...`\n"
    "\n");
  close_fixture(&f);
}

/* Renders one span of one program and compares the lines between title and fields. */
static void assert_snippet(const char *program, uint32_t start, uint32_t end, const char *expected) {
  fixture f;
  char whole[4096];
  open_fixture(&f, program);
  report_name(&f, (tn_span){ f.file, start, end });
  assert_true(strlen(expected) + sizeof HEAD + sizeof TAIL < sizeof whole);
  strcpy(whole, HEAD);
  strcat(whole, expected);
  strcat(whole, TAIL);
  assert_string_equal(rendered(&f), whole);
  close_fixture(&f);
}

static void tabs_go_to_the_next_multiple_of_four(void **state) {
  (void)state;
  assert_snippet("\ty =\tx\n", 5, 6,
    "  --> m.ail:1:6\n"
    "   |\n"
    " 1 |     y = x\n"
    "   |         ^ unknown name\n");
  assert_snippet("a\t\tx\ty\n", 1, 5,   /* a tab inside the span is underlined whole */
    "  --> m.ail:1:2\n"
    "   |\n"
    " 1 | a       x   y\n"
    "   |  ^^^^^^^^^^^ unknown name\n");
}

static void wide_characters_take_two_columns(void **state) {
  (void)state;
  assert_snippet("\xE5\x90\x8D\xE5\x89\x8D = x + y\n", 9, 10,   /* two ideographs */
    "  --> m.ail:1:6\n"
    "   |\n"
    " 1 | \xE5\x90\x8D\xE5\x89\x8D = x + y\n"
    "   |        ^ unknown name\n");
  assert_snippet("\xF0\x9F\x8E\x89x\n", 0, 4,   /* an emoji, underlined itself */
    "  --> m.ail:1:1\n"
    "   |\n"
    " 1 | \xF0\x9F\x8E\x89x\n"
    "   | ^^ unknown name\n");
}

static void combining_marks_take_no_column(void **state) {
  (void)state;
  assert_snippet("e\xCC\x81 = x\n", 6, 7,
    "  --> m.ail:1:6\n"
    "   |\n"
    " 1 | e\xCC\x81 = x\n"
    "   |     ^ unknown name\n");
  assert_snippet("xe\xCC\x81\n", 2, 4,   /* nothing but a mark: still one caret */
    "  --> m.ail:1:3\n"
    "   |\n"
    " 1 | xe\xCC\x81\n"
    "   |   ^ unknown name\n");
}

static void control_characters_never_reach_the_terminal(void **state) {
  (void)state;
  assert_snippet("\x1b[2J\x07 x\r\n", 6, 7,
    "  --> m.ail:1:7\n"
    "   |\n"
    " 1 | \\x1b[2J\\x07 x\n"
    "   |             ^ unknown name\n");
  assert_snippet("\xC2\x9B x \x7F\n", 3, 4,   /* C1 and DEL */
    "  --> m.ail:1:3\n"
    "   |\n"
    " 1 | \\u{9b} x \\x7f\n"
    "   |        ^ unknown name\n");
  assert_snippet("a\rb x\n", 4, 5,   /* a lone carriage return would overwrite the line */
    "  --> m.ail:1:5\n"
    "   |\n"
    " 1 | a\\rb x\n"
    "   |      ^ unknown name\n");
}

/* Text that is shown in another order than it is read could hide what a program does. */
static void bidirectional_marks_are_shown(void **state) {
  (void)state;
  assert_snippet("a \xE2\x80\xAE x\n", 6, 7,
    "  --> m.ail:1:5\n"
    "   |\n"
    " 1 | a \\u{202e} x\n"
    "   |            ^ unknown name\n");
  assert_snippet("\xE2\x80\x8Bx\xEF\xBB\xBF\n", 3, 4,
    "  --> m.ail:1:2\n"
    "   |\n"
    " 1 | \\u{200b}x\\u{feff}\n"
    "   |         ^ unknown name\n");
}

static void bytes_that_are_not_utf8_are_shown(void **state) {
  (void)state;
  assert_snippet("\xFF\xC3 x\n", 3, 4,
    "  --> m.ail:1:4\n"
    "   |\n"
    " 1 | \\xff\\xc3 x\n"
    "   |          ^ unknown name\n");
}

static void an_empty_span_has_one_caret(void **state) {
  (void)state;
  assert_snippet("y = \n", 4, 4,   /* after the last character of its line; no space at the line's end */
    "  --> m.ail:1:5\n"
    "   |\n"
    " 1 | y =\n"
    "   |     ^ unknown name\n");
  assert_snippet("y = x\n", 4, 2,   /* reversed reads as empty */
    "  --> m.ail:1:5\n"
    "   |\n"
    " 1 | y = x\n"
    "   |     ^ unknown name\n");
}

static void the_end_of_the_text_shows_what_precedes_it(void **state) {
  (void)state;
  assert_snippet("model {\n  y = relu(x\n\n  \n", 24, 24,
    "  --> m.ail:4:3\n"
    "   |\n"
    " 2 |   y = relu(x\n"
    " 4 |\n"
    "   |   ^ unknown name\n");
  assert_snippet("y = relu(x", 10, 10,   /* no line break at the end */
    "  --> m.ail:1:11\n"
    "   |\n"
    " 1 | y = relu(x\n"
    "   |           ^ unknown name\n");
  assert_snippet("y = relu(x", 400, 500,
    "  --> m.ail:1:11\n"
    "   |\n"
    " 1 | y = relu(x\n"
    "   |           ^ unknown name\n");
  assert_snippet("", 0, 0,
    "  --> m.ail:1:1\n"
    "   |\n"
    " 1 |\n"
    "   | ^ unknown name\n");
  assert_snippet("\n\n", 2, 2,
    "  --> m.ail:3:1\n"
    "   |\n"
    " 3 |\n"
    "   | ^ unknown name\n");
}

static void a_span_that_takes_in_the_line_break_stays_on_its_line(void **state) {
  (void)state;
  assert_snippet("y = x\r\nz\n", 4, 7,
    "  --> m.ail:1:5\n"
    "   |\n"
    " 1 | y = x\n"
    "   |     ^ unknown name\n");
  assert_snippet("y = x\nz\n", 5, 6,   /* the line break alone */
    "  --> m.ail:1:6\n"
    "   |\n"
    " 1 | y = x\n"
    "   |      ^ unknown name\n");
}

static void a_span_of_two_lines_is_joined(void **state) {
  (void)state;
  assert_snippet("y = relu(\n  x)\n", 4, 14,
    "  --> m.ail:1:5\n"
    "   |\n"
    " 1 |   y = relu(\n"
    "   |  _____^\n"
    " 2 | |   x)\n"
    "   | |____^ unknown name\n");
}

static void a_line_between_is_shown_and_several_are_not(void **state) {
  (void)state;
  assert_snippet("f(\n  1,\n)\n", 0, 9,
    "  --> m.ail:1:1\n"
    "   |\n"
    " 1 |   f(\n"
    "   |  _^\n"
    " 2 | |   1,\n"
    " 3 | | )\n"
    "   | |_^ unknown name\n");
  assert_snippet("f(\n  1,\n\n  2,\n)\n", 0, 15,
    "  --> m.ail:1:1\n"
    "   |\n"
    " 1 |   f(\n"
    "   |  _^\n"
    "...| |\n"
    " 5 | | )\n"
    "   | |_^ unknown name\n");
}

static void joined_lines_keep_their_columns(void **state) {
  (void)state;
  assert_snippet("\tf(\n\xE5\x90\x8D)\n", 1, 8,   /* a tab above, a wide character below */
    "  --> m.ail:1:2\n"
    "   |\n"
    " 1 |       f(\n"
    "   |  _____^\n"
    " 2 | | \xE5\x90\x8D)\n"
    "   | |___^ unknown name\n");
  assert_snippet("f(\n\n1\n", 0, 5,   /* an empty line between */
    "  --> m.ail:1:1\n"
    "   |\n"
    " 1 |   f(\n"
    "   |  _^\n"
    " 2 | |\n"
    " 3 | | 1\n"
    "   | |_^ unknown name\n");
}

static void the_margin_of_a_joined_span_fits_its_last_line(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "\n\n\n\n\n\n\n\nf(\n\n\n)\n");
  report_name(&f, (tn_span){ f.file, 8, 14 });
  assert_string_equal(rendered(&f),
    HEAD
    "   --> m.ail:9:1\n"
    "    |\n"
    "  9 |   f(\n"
    "    |  _^\n"
    "... | |\n"
    " 12 | | )\n"
    "    | |_^ unknown name\n"
    "    = name: x\n"
    "    = hint: bind it first: `let x = ...`\n"
    "\n");
  close_fixture(&f);
}

/* A line of `a`s with `piece` at a column. */
static const char *long_line(char *buffer, size_t len, size_t at, const char *piece) {
  memset(buffer, 'a', len);
  memcpy(buffer + at, piece, strlen(piece));
  buffer[len] = 0;
  return buffer;
}

static void assert_long(const char *program, uint32_t start, uint32_t end, uint32_t column,
                        const char *before, int left, const char *span, int right, const char *after,
                        int margin) {
  char expected[1024] = { 0 };
  static const char as[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  tn_heap heap = { 0 };
  tn_text text;
  tn_text_init(&text, &heap);
  tn_text_puts(&text, "  --> m.ail:1:");
  tn_text_uint(&text, column);
  tn_text_puts(&text, "\n   |\n 1 | ");
  tn_text_puts(&text, before);
  tn_text_add(&text, (tn_str){ as, (size_t)left });
  tn_text_puts(&text, span);
  tn_text_add(&text, (tn_str){ as, (size_t)right });
  tn_text_puts(&text, after);
  tn_text_puts(&text, "\n   | ");
  tn_text_repeat(&text, ' ', (size_t)margin);
  tn_text_repeat(&text, '^', strlen(span));
  tn_text_puts(&text, " unknown name\n");
  assert_true(text.len < sizeof expected);
  memcpy(expected, text.at, text.len);
  tn_text_free(&text);
  assert_snippet(program, start, end, expected);
}

static void of_a_long_line_the_part_around_the_span_is_shown(void **state) {
  (void)state;
  char line[1001];
  assert_long(long_line(line, 1000, 500, "X+Y"), 500, 503, 501, "...", 30, "X+Y", 67, "...", 33);
  assert_long(long_line(line, 1000, 3, "X+Y"), 3, 6, 4, "", 3, "X+Y", 94, "...", 3);
  assert_long(long_line(line, 1000, 97, "X+Y"), 97, 100, 98, "", 97, "X+Y", 0, "...", 97);
  assert_long(long_line(line, 1000, 997, "X+Y"), 997, 1000, 998, "...", 97, "X+Y", 0, "", 100);
  assert_long(long_line(line, 100, 97, "X+Y"), 97, 100, 98, "", 97, "X+Y", 0, "", 97);
}

static void a_span_longer_than_the_window_is_cut(void **state) {
  (void)state;
  fixture f;
  char line[2001];
  open_fixture(&f, long_line(line, 2000, 0, ""));
  report_name(&f, (tn_span){ f.file, 100, 1900 });
  const char *text = rendered(&f), *carets = strchr(text, '^');
  assert_int_equal(strspn(carets, "^"), 70);
  close_fixture(&f);
}

static void the_end_of_a_long_line_can_be_marked(void **state) {
  (void)state;
  fixture f;
  char line[2001];
  open_fixture(&f, long_line(line, 2000, 0, ""));
  report_name(&f, (tn_span){ f.file, 2000, 2000 });
  const char *text = rendered(&f), *shown = strstr(text, "...aaa"), *caret = strchr(text, '^');
  assert_int_equal(strchr(shown, '\n') - shown, 103);
  assert_int_equal(caret[1], ' ');
  while (caret[-1] != '|') caret--;
  assert_int_equal(strspn(caret, " "), 104);   /* the margin's space, and one column after the line */
  close_fixture(&f);
}

/* Only some thousand bytes around the span are read, whatever they hold. */
static void of_a_huge_line_the_window_is_shown_like_any(void **state) {
  (void)state;
  static char line[100001];
  assert_long(long_line(line, 100000, 50000, "X+Y"), 50000, 50003, 50001, "...", 30, "X+Y", 67, "...", 33);
  assert_long(long_line(line, 100000, 99997, "X+Y"), 99997, 100000, 99998, "...", 97, "X+Y", 0, "", 100);
  assert_long(long_line(line, 100000, 4000, "X+Y"), 4000, 4003, 4001, "...", 30, "X+Y", 67, "...", 33);
  assert_long(long_line(line, 100000, 4001, "X+Y"), 4001, 4004, 4002, "...", 30, "X+Y", 67, "...", 33);
}

/* Bytes that continue no character, and marks without a width, fill the window of 4000 bytes. */
static void a_window_of_odd_bytes_is_marked_as_cut(void **state) {
  (void)state;
  static char line[20001];
  fixture f;
  memset(line, '\x80', 20000);
  open_fixture(&f, line);
  report_name(&f, (tn_span){ f.file, 10000, 20000 });
  assert_non_null(strstr(rendered(&f), "\n 1 | ...  \\x80\\x80"));
  close_fixture(&f);
  for (int i = 0; i < 20000; i += 2) memcpy(line + i, "\xCC\x81", 2);
  memcpy(line + 10000, "xy", 2);
  open_fixture(&f, line);
  report_name(&f, (tn_span){ f.file, 10000, 10002 });
  const char *text = rendered(&f), *shown = strstr(text, "\n 1 | ...\xCC\x81");
  assert_non_null(shown);
  assert_non_null(strstr(shown, "\xCC\x81...\n   |    ^^ unknown name\n"));
  close_fixture(&f);
}

static void columns_are_right_in_any_order_of_asking(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "\xE5\x90\x8D" "a\xC3\xA9" "b\x80" "c\nd\xC3\xA9" "e\n");
  for (uint32_t i = 0; i < 15 * 15; i++) {
    uint32_t offset = i * 7 % 15 ^ i / 15;   /* each offset after each other one */
    tn_sources fresh;
    tn_sources_init(&fresh, &f.heap);
    tn_sources_add(&fresh, TN_LIT("m.ail"), tn_sources_get(&f.sources, f.file)->text);
    tn_place cold = tn_place_of(&fresh, 1, offset);
    tn_place warm = tn_place_of(&f.sources, f.file, offset);
    assert_int_equal(warm.line, cold.line);
    assert_int_equal(warm.column, cold.column);
    tn_sources_free(&fresh);
  }
  close_fixture(&f);
}

/* The window may begin in the middle of a wide character. */
static void a_wide_character_at_the_cut_becomes_a_space(void **state) {
  (void)state;
  char line[1000] = "aa";
  fixture f;
  for (int i = 0; i < 200; i++) strcat(line, "\xE5\x90\x8D");
  strcat(line, "b");
  open_fixture(&f, line);
  report_name(&f, (tn_span){ f.file, 602, 603 });   /* the end: 403 columns, shown from 303 */
  assert_non_null(strstr(rendered(&f), "... \xE5\x90\x8D"));
  close_fixture(&f);
}

static void values_and_names_are_harmless_too(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  uint32_t file = tn_sources_add(&f.sources, TN_LIT("a\x1b[31m.ail"), TN_LIT("x\n"));
  tn_report(&f.diags, TN_DIAG_E2002, ((tn_span){ file, 0, 1 }), TN_STR("name", "a\n\t\x1b[0m\xFF"));
  assert_string_equal(rendered(&f),
    "error[E2002]: there is nothing named `a\\n\\t\\x1b[0m\\xff` here\n"
    "  --> a\\x1b[31m.ail:1:1\n"
    "   |\n"
    " 1 | x\n"
    "   | ^ unknown name\n"
    "   = name: a\\n\\t\\x1b[0m\\xff\n"
    "   = hint: bind it first: `let a\\n\\t\\x1b[0m\\xff = ...`\n"
    "\n");
  close_fixture(&f);
}

static void a_long_value_is_cut_in_text_and_whole_in_json(void **state) {
  (void)state;
  fixture f;
  char value[1001];
  open_fixture(&f, "");
  tn_report(&f.diags, TN_DIAG_E_LOOP_LIMIT, TN_NOWHERE, TN_STR("limit", long_line(value, 1000, 0, "")));
  const char *text = rendered(&f), *field = strstr(text, "= limit: ");
  assert_int_equal(strspn(field + 9, "a"), 200);
  assert_memory_equal(field + 209, "...\n", 4);
  assert_non_null(strstr(rendered_json(&f), value));
  close_fixture(&f);
}

static void a_suggestion_is_shown_once(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "rleu\n");
  tn_report(&f.diags, TN_DIAG_E2003, find_span(&f, "rleu"), TN_STR("name", "rleu"),
            TN_STR("suggestion", "relu"));
  assert_string_equal(rendered(&f),
    "error[E2003]: there is no function `rleu`\n"
    "  --> m.ail:1:1\n"
    "   |\n"
    " 1 | rleu\n"
    "   | ^^^^ unknown function\n"
    "   = name: rleu\n"
    "   = hint: did you mean `relu`?\n"
    "\n");
  assert_non_null(strstr(rendered_json(&f), "\"fields\":{\"name\":\"rleu\",\"suggestion\":\"relu\"}"));
  close_fixture(&f);
}

static void notes_show_other_places(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "\n\n\n\n\n\n\n\n\na = ones\na + b\n");
  tn_report(&f.diags, TN_DIAG_E2101, find_span(&f, "a + b"), TN_STR("op", "add"), TN_STR("left", "[2]"),
            TN_STR("right", "[3]"), TN_INT("dimension", 0),
            TN_NOTE(find_span(&f, "ones"), "left has shape {left}"),
            TN_NOTE(((tn_span){ f.file, 1, 1 }), "right comes from here"),
            TN_NOTE(TN_NOWHERE, "and that is all"));
  assert_string_equal(rendered(&f),
    "error[E2101]: add: shapes [2] and [3] do not broadcast\n"
    "   --> m.ail:11:1\n"
    "    |\n"
    " 11 | a + b\n"
    "    | ^^^^^ dimension 0 differs\n"
    "    = op: add\n"
    "    = left: [2]\n"
    "    = right: [3]\n"
    "    = dimension: 0\n"
    "    = hint: shapes are compared from the right; dimensions must be equal, or one of them 1\n"
    "note: left has shape [2]\n"
    "   --> m.ail:10:5\n"
    "    |\n"
    " 10 | a = ones\n"
    "    |     ^^^^\n"
    "note: right comes from here\n"
    "   --> m.ail:2:1\n"
    "    |\n"
    "  2 |\n"
    "    | ^\n"
    "    = note: and that is all\n"
    "\n");
  close_fixture(&f);
}

static void colour_is_only_added(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "f(\n x)\ny\n");
  report_name(&f, find_span(&f, "y"));
  report_name(&f, find_span(&f, "f(\n x)"));
  tn_report(&f.diags, TN_DIAG_E_LOOP_VAR_REDECLARED, find_span(&f, "x"), TN_STR("name", "x"),
            TN_NOTE(find_span(&f, "y"), "here"));
  char plain[2048], stripped[2048] = { 0 };
  assert_true(strlen(rendered(&f)) < sizeof plain);
  strcpy(plain, f.out.at);

  tn_text_clear(&f.out);
  tn_diags_render_text(&f.diags, (tn_diag_style){ .color = true }, &f.out);
  assert_non_null(strstr(f.out.at, "\x1b[1;31merror[E2002]\x1b[0m\x1b[1m: there"));
  assert_non_null(strstr(f.out.at, "\x1b[1;33mwarning["));
  assert_non_null(strstr(f.out.at, "\x1b[1;31m^ unknown name\x1b[0m\n"));
  size_t len = 0;
  for (const char *at = f.out.at; *at; at++) {
    if (*at == '\x1b') while (*at != 'm') at++;
    else stripped[len++] = *at;
  }
  assert_string_equal(stripped, plain);
  close_fixture(&f);
}

static void json_has_the_members_of_the_contract_in_order(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "\n\xC3\xA4 = x\nz\n");
  tn_diags_enter(&f.diags, TN_PHASE_CHECK);
  tn_span at = find_span(&f, "x");
  tn_report(&f.diags, TN_DIAG_E_INDEX_OUT_OF_RANGE, at, TN_STR("function", "a\"b\\\x01"), TN_INT("index", 7),
            TN_INT("limit", 5));
  assert_string_equal(rendered_json(&f),
    "[{\"code\":\"E_INDEX_OUT_OF_RANGE\",\"severity\":\"error\",\"phase\":\"check\","
    "\"title\":\"index 7 in a\\\"b\\\\\\u0001 is outside [0, 5)\","
    "\"fields\":{\"function\":\"a\\\"b\\\\\\u0001\",\"index\":\"7\",\"limit\":\"5\"},"
    "\"span\":{\"file\":\"m.ail\",\"line\":2,\"col\":5,\"end_line\":2,\"end_col\":6},"
    "\"hint\":\"indices count from 0, so the largest is one less than the number of rows\"}]");
  close_fixture(&f);
}

static void json_says_null_where_there_is_nothing(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  tn_diags_enter(&f.diags, TN_PHASE_DATA);
  tn_report(&f.diags, TN_DIAG_E_EXECUTION_FAILURE, TN_NOWHERE, TN_STR("message", "no"));
  assert_string_equal(rendered_json(&f),
    "[{\"code\":\"E_EXECUTION_FAILURE\",\"severity\":\"error\",\"phase\":\"data\","
    "\"title\":\"the program failed: no\",\"fields\":{\"message\":\"no\"},\"span\":null,\"hint\":null}]");
  tn_diags_clear(&f.diags);
  assert_string_equal(rendered_json(&f), "[]");
  assert_string_equal(rendered(&f), "");
  close_fixture(&f);
}

static void json_spans_end_after_the_last_character(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "f(\n x)\n");
  tn_diags_enter(&f.diags, TN_PHASE_RUN);
  report_name(&f, find_span(&f, "f(\n x)"));
  report_name(&f, (tn_span){ f.file, 3, 3 });
  tn_report(&f.diags, TN_DIAG_E_LOOP_VAR_REDECLARED, ((tn_span){ f.file, 4, 99 }), TN_STR("name", "x"));
  const char *json = rendered_json(&f);
  assert_non_null(strstr(json, "\"line\":1,\"col\":1,\"end_line\":2,\"end_col\":4}"));
  assert_non_null(strstr(json, "\"line\":2,\"col\":1,\"end_line\":2,\"end_col\":1}"));
  assert_non_null(strstr(json, "\"severity\":\"warning\",\"phase\":\"run\""));
  assert_non_null(strstr(json, "\"line\":2,\"col\":2,\"end_line\":3,\"end_col\":1}"));
  close_fixture(&f);
}

static void json_is_valid_whatever_the_program_contains(void **state) {
  (void)state;
  for (int byte = 1; byte < 256; byte++) {
    fixture f;
    char program[] = { 'a', (char)byte, (char)(byte ^ 0x80), 'x', '\n', 0 };
    open_fixture(&f, program);
    tn_report(&f.diags, TN_DIAG_E2002, ((tn_span){ f.file, 0, 4 }), TN_STR("name", program));
    assert_json(&f.heap, tn_str_of(rendered_json(&f)));
    const char *text = rendered(&f);
    for (const char *at = text; *at; at++) assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
    close_fixture(&f);
  }
}

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525 + 1013904223;
  return *seed >> 16;
}

/* Whatever stands in the text and wherever the span lies: harmless, UTF-8, and marked. */
static void any_span_of_any_text_can_be_shown(void **state) {
  (void)state;
  static const char *const pieces[] = {
    "\n", "\r\n", "\t", "\x1b[31m", "\xFF", "\xE2\x80", "e\xCC\x81", "\xE5\x90\x8D",
    "\xF0\x9F\x8E\x89", "\xE2\x80\xAE", "name", " ",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "x = y",
  };
  uint32_t seed = 1;
  for (int round = 0; round < 3000; round++) {
    char program[2000] = { 0 };
    fixture f;
    for (uint32_t i = next_random(&seed) % 20; i > 0; i--)
      strcat(program, pieces[next_random(&seed) % (sizeof pieces / sizeof *pieces)]);
    open_fixture(&f, program);
    uint32_t len = (uint32_t)strlen(program) + 2, start = next_random(&seed) % len;
    report_name(&f, (tn_span){ f.file, start, start + next_random(&seed) % (len - start + 1) });
    const char *text = rendered(&f);
    assert_true(tn_utf8_valid(tn_str_of(text)));
    assert_non_null(strchr(text, '^'));
    assert_null(strstr(text, " \n"));
    for (const char *at = text; *at; at++) assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
    assert_json(&f.heap, tn_str_of(rendered_json(&f)));
    close_fixture(&f);
  }
}

static void lost_reports_show_as_out_of_memory(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "x\n");
  report_name(&f, find_span(&f, "x"));
  f.diags.out_of_memory = true;
  tn_diags_clear(&f.diags);
  f.diags.out_of_memory = true;
  assert_string_equal(rendered(&f),
    "error[E_OUT_OF_MEMORY]: there is not enough memory\n"
    "   = hint: use a smaller batch or smaller tensors, or close other programs\n"
    "\n");
  assert_string_equal(rendered_json(&f),
    "[{\"code\":\"E_OUT_OF_MEMORY\",\"severity\":\"error\",\"phase\":\"parse\","
    "\"title\":\"there is not enough memory\",\"fields\":{},\"span\":null,"
    "\"hint\":\"use a smaller batch or smaller tensors, or close other programs\"}]");
  assert_int_equal(tn_diags_status(&f.diags), 1);
  tn_report_plain(&f.diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE);
  assert_null(strstr(strstr(rendered(&f), "E_OUT_OF_MEMORY") + 1, "E_OUT_OF_MEMORY"));   /* once */
  close_fixture(&f);
}

static void reports_past_the_limit_are_counted(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "x y z\n");
  f.diags.limit = 1;
  report_name(&f, find_span(&f, "x"));
  report_name(&f, find_span(&f, "y"));
  report_name(&f, find_span(&f, "z"));
  assert_non_null(strstr(rendered(&f), "\n\n2 more not shown\n\n"));
  close_fixture(&f);
}

static void rendering_survives_every_failed_allocation(void **state) {
  (void)state;
  for (uint64_t n = 1;; n++) {
    fixture f;
    open_fixture(&f, "f(\n x)\n");
    report_name(&f, find_span(&f, "f(\n x)"));
    f.heap.fail_at = f.heap.requests + n;
    tn_json_writer json = tn_json_writer_on(&f.out);
    tn_diags_render_text(&f.diags, (tn_diag_style){ 0 }, &f.out);
    tn_diags_render_json(&f.diags, &json);
    bool done = !f.heap.failed;
    if (!f.out.failed) assert_non_null(strstr(f.out.at, " 2 | |  x)\n"));   /* only the line table failed */
    close_fixture(&f);
    if (done) break;
  }
}

RUN_TESTS(
  cmocka_unit_test(the_example_of_the_contract),
  cmocka_unit_test(a_warning_says_so),
  cmocka_unit_test(without_a_place_there_is_no_snippet),
  cmocka_unit_test(the_margin_is_as_wide_as_the_line_number),
  cmocka_unit_test(tabs_go_to_the_next_multiple_of_four),
  cmocka_unit_test(wide_characters_take_two_columns),
  cmocka_unit_test(combining_marks_take_no_column),
  cmocka_unit_test(control_characters_never_reach_the_terminal),
  cmocka_unit_test(bidirectional_marks_are_shown),
  cmocka_unit_test(bytes_that_are_not_utf8_are_shown),
  cmocka_unit_test(an_empty_span_has_one_caret),
  cmocka_unit_test(the_end_of_the_text_shows_what_precedes_it),
  cmocka_unit_test(a_span_that_takes_in_the_line_break_stays_on_its_line),
  cmocka_unit_test(a_span_of_two_lines_is_joined),
  cmocka_unit_test(a_line_between_is_shown_and_several_are_not),
  cmocka_unit_test(joined_lines_keep_their_columns),
  cmocka_unit_test(the_margin_of_a_joined_span_fits_its_last_line),
  cmocka_unit_test(of_a_long_line_the_part_around_the_span_is_shown),
  cmocka_unit_test(a_span_longer_than_the_window_is_cut),
  cmocka_unit_test(the_end_of_a_long_line_can_be_marked),
    cmocka_unit_test(of_a_huge_line_the_window_is_shown_like_any),
    cmocka_unit_test(a_window_of_odd_bytes_is_marked_as_cut),
    cmocka_unit_test(columns_are_right_in_any_order_of_asking),
  cmocka_unit_test(a_wide_character_at_the_cut_becomes_a_space),
  cmocka_unit_test(values_and_names_are_harmless_too),
  cmocka_unit_test(a_long_value_is_cut_in_text_and_whole_in_json),
  cmocka_unit_test(a_suggestion_is_shown_once),
  cmocka_unit_test(notes_show_other_places),
  cmocka_unit_test(colour_is_only_added),
  cmocka_unit_test(json_has_the_members_of_the_contract_in_order),
  cmocka_unit_test(json_says_null_where_there_is_nothing),
  cmocka_unit_test(json_spans_end_after_the_last_character),
  cmocka_unit_test(json_is_valid_whatever_the_program_contains),
  cmocka_unit_test(any_span_of_any_text_can_be_shown),
  cmocka_unit_test(lost_reports_show_as_out_of_memory),
  cmocka_unit_test(reports_past_the_limit_are_counted),
  cmocka_unit_test(rendering_survives_every_failed_allocation))
