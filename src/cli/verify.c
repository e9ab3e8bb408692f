/* cli/verify.c: the verb verify. */
#include "cli/cli.h"

tern_status tn_cli_verify(tn_run *run) {
  tern_status status;
  if (!tn_cli_one_word(run, "a folder", &status) || !tn_cli_device(run, &status)) return status;
  const char *text = tern_verify(run->session, run->command->words[0], run->command->json);
  if (!text) return tn_cli_failed(run, tern_failure_status(run->session));
  fputs(text, stdout);
  if (run->command->json) putchar('\n');
  return TERN_OK;
}
