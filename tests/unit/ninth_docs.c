/* tests/unit/ninth_docs.c: docs/ninth.md says of every opcode what the table says. */
#include <stdio.h>
#include <stdlib.h>

#include "ninth_support.h"

static char *read_document(void) {
  FILE *file = fopen(TN_SOURCE_DIR "/docs/ninth.md", "rb");
  assert_non_null(file);
  char *text = calloc(1, 1 << 20);
  assert_non_null(text);
  assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
  fclose(file);
  return text;
}

static void the_reference_has_every_opcode_as_the_table_has_it(void **state) {
  (void)state;
  char *text = read_document();
  for (int i = 0; i < TN_NINTH_OPCODE_COUNT; i++) {
    const tn_ninth_opcode_info *info = tn_ninth_opcode_info_of((tn_ninth_opcode)i);
    char line[400];
    snprintf(line, sizeof line, "| `[%s]` | `%s` | %s |\n", info->name, info->effect, info->doc);
    if (!strstr(text, line)) fail_msg("docs/ninth.md lacks the line: %s", line);
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = { cmocka_unit_test(the_reference_has_every_opcode_as_the_table_has_it) };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
