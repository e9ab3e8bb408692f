/* cli/evaluate.c: the metrics of a trained run on a file. */
#include "cli/cli.h"

static tern_status evaluate(tn_run *run) {
  const tn_command *command = run->command;
  tern_status status;
  if (!tn_cli_confine(run, &status)) return status;
  tern_program *program = tern_load_run(run->session, command->words[0], &status);
  if (!program) return tn_cli_failed(run, status);
  status = tn_cli_give(run, program);
  status = status == TERN_OK ? tn_cli_show(run, program, tern_evaluate(program, command->words[1]))
                             : tn_cli_failed(run, status);
  tern_program_free(program);
  return status;
}

tern_status tn_cli_evaluate(tn_run *run) {
  const tn_command *command = run->command;
  if (command->word_count != 2)
    return tn_cli_usage(run, "tern evaluate needs a run and a file: tern evaluate RUN DATA", NULL);
  tern_status status;
  if (!tn_cli_device(run, &status)) return status;
  status = tern_sandbox_path(run->session, command->words[0], TERN_SANDBOX_LOAD);
  if (status == TERN_OK) status = tern_sandbox_path(run->session, command->words[1], TERN_SANDBOX_READ);
  return status == TERN_OK ? evaluate(run) : tn_cli_failed(run, status);
}
