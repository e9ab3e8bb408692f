/* What a text of Ninth costs, counted: for each shape a text that is twice as long costs about twice as much,
 * in requests for memory, in bytes, and in bytes that were read to find places. */
#include "ninth_support.h"

typedef struct {
  const char *name, *before, *words, *after; /* # is a number */
} shape;

static const shape shapes[] = {
  { "stray )", "", ")", "" },
  { "stray ]", "", "]", "" },
  { "stray }", "", "}", "" },
  { "open (", "", "(", "" },
  { "open [", "", "[", "" },
  { "open {", "", "{", "" },
  { "commas", "", ",", "" },
  { "arrows", "", "->", "" },
  { "invalid words", "", "$ ", "" },
  { "unknown opcodes", "", "[RELUX]", "" },
  { "stray [ENDIF]", "", "[ENDIF]", "" },
  { "starts", "", "[PROGRAM_START]", "" },
  { "unknown names", "", "name# ", "" },
  { "unknown state", "", "@name# ", "" },
  { "unknown names in memory", "", "\"name#\" [LOAD] ", "" },
  { "unknown names in a shape", "[", "name# ", "]" },
  { "unknown modules", "", "{Name#} ", "" },
  { "keys", "{M [", "key#->1 ", "]}" },
  { "modules in modules", "", "\"M\" [MODULE] ", "" },
  { "values that are not the last", "", "{M [k->1] 2 ", "" },
  { "functions", "", "[DEF] \"f#\" 1 [RET] ", "" },
  { "rows", "((1) ", "(1 2) ", ")" },
};

static void add(tn_text *out, const char *words, int number) {
  for (; *words; words++) {
    if (*words == '#')
      tn_text_int(out, number);
    else
      tn_text_byte(out, *words);
  }
}

typedef struct {
  uint64_t requests, bytes, looked;
} cost;

/* All on one line: there a place costs most. Checked, and what was found shown in both ways. */
static cost cost_of(const shape *s, int n) {
  world w;
  tn_text text;
  world_open(&w);
  tn_text_init(&text, &w.heap);
  add(&text, s->before, 0);
  for (int i = 0; i < n; i++) add(&text, s->words, 100000 + i);
  add(&text, s->after, 0);
  uint32_t file = tn_sources_add(&w.sources, TN_LIT("test.nth"), tn_text_str(&text));
  tn_text_free(&text);
  uint64_t before = w.heap.requests;
  tn_lang_ninth()->check(&(tn_unit){ .host = &w.host, .file = file });
  tn_diags_sort(&w.diags);
  tn_diags_render_text(&w.diags, (tn_diag_style){ 0 }, &text);
  tn_text_free(&text);
  tn_json_writer json = tn_json_writer_on(&text);
  tn_diags_render_json(&w.diags, &json);
  tn_text_free(&text);
  cost c = { w.heap.requests - before, w.heap.peak, w.sources.looked };
  world_close(&w);
  return c;
}

static void assert_doubles(const char *name, const char *what, uint64_t once, uint64_t twice) {
  if (twice <= 2 * once + once / 4 + 20000) return;
  fail_msg("%s: %s went from %llu to %llu", name, what, (unsigned long long)once, (unsigned long long)twice);
}

static void twice_the_text_costs_twice_as_much(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    cost once = cost_of(&shapes[i], 5000), twice = cost_of(&shapes[i], 10000);
    assert_doubles(shapes[i].name, "requests", once.requests, twice.requests);
    assert_doubles(shapes[i].name, "bytes", once.bytes, twice.bytes);
    assert_doubles(shapes[i].name, "bytes that were looked at", once.looked, twice.looked);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = { cmocka_unit_test(twice_the_text_costs_twice_as_much) };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
