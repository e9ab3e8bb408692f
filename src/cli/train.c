/* cli/train.c: training an .ail program with its own blocks. */
#include <stdlib.h>

#include "cli/progress.h"

/* The command line has checked that they are numbers. */
static int64_t number_of(const tn_command *command, tn_option option) {
  return command->value[option] ? (int64_t)strtoull(command->value[option], NULL, 10) : 0;
}

static tern_status train(tn_run *run, tern_program *program, const tern_train_run *wanted,
                         tn_progress *progress) {
  tern_status status = tn_cli_give(run, program);
  if (status != TERN_OK) return tn_cli_failed(run, status);
  status = tern_train(program, wanted);
  tn_progress_end(progress, run);
  if (progress->to_json) run->command->json = true; /* the log ends with the answer */
  return tn_cli_show(run, program, status);
}

tern_status tn_cli_train(tn_run *run) {
  tern_status status;
  const tn_command *command = run->command;
  if (!tn_cli_one_word(run, "a file", &status)) return status;
  tern_program *program = tern_load_file(run->session, command->language, command->words[0], &status);
  if (!program) return tn_cli_failed(run, status);
  tn_progress progress;
  if (!tn_progress_begin(&progress, run, &status)) {
    tern_program_free(program);
    return status;
  }
  tern_train_run wanted = { .out = command->value[TN_OPTION_OUT],
                            .resume = command->value[TN_OPTION_RESUME],
                            .checkpoint_every = number_of(command, TN_OPTION_CHECKPOINT_EVERY),
                            .steps = number_of(command, TN_OPTION_STEPS),
                            .brief = tn_given_option(command, TN_OPTION_QUIET) };
  if (wanted.resume && !wanted.out) wanted.out = wanted.resume; /* the run goes on where it is */
  /* A run with a folder is remembered; so is any other when that is asked for. */
  char room[4096];
  wanted.must_record = tn_given_option(command, TN_OPTION_STORE);
  if (wanted.out || wanted.must_record) wanted.store = tn_cli_store(command, room, sizeof room);
  status = tern_sandbox_run(run->session, &wanted);
  if (status != TERN_OK)
    status = tn_cli_failed(run, status);
  else if (tn_cli_confine(run, &status))
    status = train(run, program, &wanted, &progress);
  tern_program_free(program);
  return status;
}
