/* cli/confine.c: passes the grants and paths of the command line to the session before anything is
 * parsed. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* "fileread=DIR" is a capability and a folder. */
static tern_status allow_word(tn_run *run, const char *word) {
  const char *equals = strchr(word, '=');
  if (!equals) return tern_allow(run->session, word, NULL);
  size_t length = (size_t)(equals - word);
  char *capability = malloc(length + 1);
  if (!capability) return tern_report_usage(run->session, "out of memory", NULL);
  memcpy(capability, word, length);
  capability[length] = 0;
  tern_status status = tern_allow(run->session, capability, equals + 1);
  free(capability);
  return status;
}

tern_status tn_cli_allow(tn_run *run) {
  const tn_command *command = run->command;
  for (size_t i = 0; i < command->setting_count; i++) {
    if (command->settings[i].option != TN_OPTION_ALLOW) continue;
    tern_status status = allow_word(run, command->settings[i].name);
    if (status != TERN_OK) return tn_cli_failed(run, status);
  }
  return TERN_OK;
}

/* --weights FILE, --input NAME=@FILE, --param NAME=@FILE. */
static tern_status name_files(tn_run *run) {
  const tn_command *command = run->command;
  const char *weights = command->value[TN_OPTION_WEIGHTS];
  tern_status status = weights ? tern_sandbox_path(run->session, weights, TERN_SANDBOX_LOAD) : TERN_OK;
  for (size_t i = 0; i < command->setting_count && status == TERN_OK; i++) {
    if (command->settings[i].value) status = tern_sandbox_value(run->session, command->settings[i].value);
  }
  return status;
}

bool tn_cli_confine(tn_run *run, tern_status *status) {
  *status = name_files(run);
  if (*status == TERN_OK) *status = tern_sandbox_enter(run->session);
  if (*status != TERN_OK) tn_cli_failed(run, *status);
  return *status == TERN_OK;
}
