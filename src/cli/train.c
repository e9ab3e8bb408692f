/* cli/train.c: training an .ail program with its own blocks. */
#include "cli/cli.h"

tern_status tn_cli_train(tn_run *run) {
  tern_status status;
  if (!tn_cli_one_word(run, "a file", &status)) return status;
  tern_program *program = tern_load_file(run->session, run->command->language, run->command->words[0], &status);
  if (!program) return tn_cli_failed(run, status);
  if (!run->command->json) tern_on_print(run->session, tn_cli_print, NULL);
  status = tn_cli_give(run, program);
  status = status == TERN_OK ? tn_cli_show(run, program, tern_train(program)) : tn_cli_failed(run, status);
  tern_program_free(program);
  return status;
}
