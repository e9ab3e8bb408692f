/* cli/check.c: the verb check: reports everything about programs that can be found without running
 * them. */
#include "cli/cli.h"

static tern_status check_file(tn_run *run, const char *path) {
  tern_status status;
  tern_program *program = tern_load_file(run->session, run->command->language, path, &status);
  if (!program) return status;
  status = tern_check(program);
  tern_program_free(program);
  return status;
}

/* One file: the answer of a program. Several: all diagnostics in one list. */
static tern_status check_as_json(tn_run *run) {
  const tn_command *command = run->command;
  tern_status status;
  if (command->word_count == 1) {
    tern_program *program = tern_load_file(run->session, command->language, command->words[0], &status);
    if (!program) return tn_cli_failed(run, status);
    status = tern_check(program);
    const char *json = tern_result_json(program);
    puts(json ? json : "{\"ok\":false,\"diagnostics\":[]}");
    tern_program_free(program);
    return status;
  }
  tern_status worst = TERN_OK;
  tn_json_list list = { 0 };
  fputs("{\"diagnostics\":[", stdout);
  for (size_t i = 0; i < command->word_count; i++) {
    status = check_file(run, command->words[i]);
    if (status > worst) worst = status;
    tn_cli_add_json(&list, run);
  }
  fputs("],", stdout);
  if (list.omitted > 0) printf("\"omitted\":%zu,", list.omitted);
  printf("\"ok\":%s}\n", worst == TERN_OK ? "true" : "false");
  return worst;
}

tern_status tn_cli_check(tn_run *run) {
  const tn_command *command = run->command;
  if (command->word_count == 0) return tn_cli_usage(run, "tern check needs a file: tern check FILE...", NULL);
  tern_status worst = TERN_OK;
  for (size_t i = 0; i < command->word_count && worst == TERN_OK; i++)
    worst = tern_sandbox_program(run->session, command->language, command->words[i]);
  if (worst != TERN_OK) return tn_cli_failed(run, worst);
  if (!tn_cli_confine(run, &worst)) return worst;
  if (command->json) return check_as_json(run);
  for (size_t i = 0; i < command->word_count; i++) {
    tern_status status = check_file(run, command->words[i]);
    if (status > worst) worst = status;
    if (status != TERN_OK)
      tn_cli_failed(run, status);
    else
      tn_cli_warnings(run);
    bool say = status == TERN_OK && !tn_given_option(command, TN_OPTION_QUIET);
    if (say) printf("%s: ok\n", tn_cli_shown(run, command->words[i]));
  }
  return worst;
}
