/* cli/evaluate.c: the verb evaluate: metrics of a trained run on a file. */
#include "cli/cli.h"

/* `record` is NULL where nothing is recorded: then the run's folder stays read-only. */
static tern_status compute(tern_program *program, const char *data, tern_target *record) {
  return record ? tern_evaluate_record(program, data, record) : tern_evaluate(program, data);
}

static tern_status evaluate(tn_run *run, tern_target *record) {
  const tn_command *command = run->command;
  tern_status status;
  if (!tn_cli_confine(run, &status)) return status;
  tern_program *program = tern_load_run(run->session, command->words[0], &status);
  if (!program) return tn_cli_failed(run, status);
  status = tn_cli_give(run, program);
  status = status == TERN_OK ? tn_cli_show(run, program, compute(program, command->words[1], record))
                             : tn_cli_failed(run, status);
  tern_program_free(program);
  return status;
}

static tern_status evaluate_and_record(tn_run *run) {
  tern_target *record = tern_evaluation_open(run->session, run->command->words[0]);
  if (!record) return tn_cli_failed(run, tern_failure_status(run->session));
  tern_status status = evaluate(run, record);
  tern_target_free(record);
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
  if (status != TERN_OK) return tn_cli_failed(run, status);
  return tn_given_option(command, TN_OPTION_RECORD) ? evaluate_and_record(run) : evaluate(run, NULL);
}
