/* cli/train.c: the verb train. */
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "track/track.h"

/* The command line has checked that they are numbers. */
static int64_t number_of(const tn_command *command, tn_option option) {
  return command->value[option] ? (int64_t)strtoull(command->value[option], NULL, 10) : 0;
}

static bool is_interrupted(tn_run *run, tern_status status) {
  for (size_t i = 0; status != TERN_OK && i < tern_diagnostic_count(run->session); i++) {
    if (strcmp(tern_diagnostic_at(run->session, i).code, "E_INTERRUPTED") == 0) return true;
  }
  return false;
}

static tern_status train(tn_run *run, tern_program *program, const tern_train_run *wanted,
                         tn_progress *progress) {
  tern_status status = tern_train(program, wanted);
  tn_progress_end(progress);
  if (progress->to_json) run->command->json = true; /* the log ends with the answer */
  char *stopped = is_interrupted(run, status) ? tn_ending_stopped(run, progress, wanted->out) : NULL;
  if (progress->line) run->instead = stopped; /* stopping is not an error */
  status = tn_cli_show(run, program, status);
  run->instead = NULL;
  if (stopped && !progress->line && !run->command->json && !run->command->silent) fputs(stopped, stderr);
  if (status == TERN_OK && progress->screen) tn_ending_completed(run, progress, wanted->out);
  free(stopped);
  return status;
}

/* Followed by the terminal and, with a path, by the history there. */
static tern_status train_followed(tn_run *run, tern_program *program, tern_train_run *wanted,
                                  tn_progress *progress, const char *store) {
  tern_follower followers[2];
  wanted->followers = followers;
  followers[wanted->follower_count++] = tn_progress_follower(progress);
  if (!store) return train(run, program, wanted, progress);
  tn_recorder recorder;
  bool required = tn_given_option(run->command, TN_OPTION_STORE);
  bool open = tn_recorder_open(&recorder, run->session, store, wanted->out, required);
  followers[wanted->follower_count++] = tn_recorder_follower(&recorder);
  tern_status status = open ? train(run, program, wanted, progress)
                            : tn_cli_failed(run, tern_failure_status(run->session));
  tn_recorder_close(&recorder);
  return status;
}

static tern_status give_and_train(tn_run *run, tern_program *program, tern_train_run *wanted,
                                  tn_progress *progress, const char *store) {
  tern_status status = tn_cli_give(run, program);
  return status == TERN_OK ? train_followed(run, program, wanted, progress, store)
                           : tn_cli_failed(run, status);
}

/* In this process: alone, or as a rank. Only rank 0 has a folder and a history. */
static tern_status train_here(tn_run *run) {
  tern_status status;
  const tn_command *command = run->command;
  bool kept = command->value[TN_OPTION_OUT] || command->value[TN_OPTION_RESUME];
  if (tn_given_option(command, TN_OPTION_CHECKPOINT_EVERY) && !kept)
    return tn_cli_usage(run, "--checkpoint-every needs a folder for checkpoints",
                        "name one with --out or --resume");
  if (!tn_cli_device(run, &status)) return status;
  tern_program *program = tern_load_file(run->session, command->language, command->words[0], &status);
  if (!program) return tn_cli_failed(run, status);
  tn_progress progress;
  if (!tn_progress_begin(&progress, run, &status)) {
    tern_program_free(program);
    return status;
  }
  bool writes = !command->silent;
  tern_train_run wanted = { .out = writes ? command->value[TN_OPTION_OUT] : NULL,
                            .resume = writes ? command->value[TN_OPTION_RESUME] : NULL,
                            .recorded = command->value[TN_OPTION_RESUME],
                            .checkpoint_every = number_of(command, TN_OPTION_CHECKPOINT_EVERY),
                            .steps = number_of(command, TN_OPTION_STEPS),
                            .brief = tn_given_option(command, TN_OPTION_QUIET),
                            .no_steps = progress.screen };
  if (wanted.resume && !wanted.out) wanted.out = wanted.resume; /* the run continues in its folder */
  /* A run with a folder is recorded; so is any other when that is asked for. */
  char room[4096];
  bool recorded = wanted.out || (writes && tn_given_option(command, TN_OPTION_STORE));
  const char *store = recorded ? tn_cli_store(command, room, sizeof room) : NULL;
  status = tern_sandbox_run(run->session, &wanted);
  if (status == TERN_OK && !tn_track_name_store(run->session, store, true)) status = TERN_FAILED;
  if (status != TERN_OK)
    status = tn_cli_failed(run, status);
  else if (tn_cli_confine(run, &status))
    status = give_and_train(run, program, &wanted, &progress, store);
  tern_program_free(program);
  return status;
}

static tern_status train_with_ranks(tn_run *run, tn_launch_origin origin, int ranks) {
  run->launch = tn_launch_begin(run->session, origin, ranks, run->command->arguments);
  if (!run->launch) return tn_cli_failed(run, tern_failure_status(run->session));
  tn_cli_interrupts_of_ranks(run->launch, !run->command->silent);
  tern_status status = train_here(run);
  if (!tn_cli_flush()) { /* now, because the other ranks may take their time to end */
    clearerr(stdout);    /* it has been said */
    if (status == TERN_OK) status = TERN_FAILED;
  }
  tn_cli_interrupts_of_ranks(NULL, !run->command->silent);
  tn_launch_end(run->launch, status);
  run->launch = NULL;
  return status;
}

tern_status tn_cli_train(tn_run *run) {
  tern_status status;
  const tn_command *command = run->command;
  tn_launch_origin origin = tn_launch_origin_of();
  int ranks = (int)number_of(command, TN_OPTION_RANKS);
  if (!tn_cli_one_word(run, "a file", &status)) return status;
  if (tn_given_option(command, TN_OPTION_SWEEP)) return tn_cli_sweep(run);
  if (origin == TN_LAUNCH_FREE && ranks < 2) return train_here(run);
  if (tn_cli_wants_card(command))
    return tn_cli_usage(run, "a training in several processes runs on the CPU",
                        "leave --device cuda out, or let one process train on the GPU");
  if (origin == TN_LAUNCH_MPI && ranks > 0)
    return tn_cli_usage(run, "--ranks starts processes, and here mpirun or srun has started them",
                        "leave --ranks out; the number of ranks is that of the launcher");
  if (strcmp(command->words[0], "-") == 0)
    return tn_cli_usage(run, "all ranks read the program, so it cannot come from standard input",
                        "name a file");
  return train_with_ranks(run, origin, ranks);
}
