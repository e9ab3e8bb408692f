/* cli/devices.c: --device and TERN_DEVICE, and the verb devices. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* The command line takes precedence over the environment. NULL: neither is set. */
static const char *wanted(const tn_command *command) {
  const char *name = command->value[TN_OPTION_DEVICE], *usual = getenv("TERN_DEVICE");
  return name ? name : usual && *usual ? usual : NULL;
}

bool tn_cli_device(tn_run *run, tern_status *status) {
  const char *name = wanted(run->command);
  *status = name ? tern_device(run->session, name) : TERN_OK;
  if (*status != TERN_OK) tn_cli_failed(run, *status);
  return *status == TERN_OK;
}

bool tn_cli_wants_card(const tn_command *command) {
  const char *name = wanted(command);
  return name && strcmp(name, "cuda") == 0;
}

tern_status tn_cli_devices(tn_run *run) {
  tern_status status;
  if (!tn_cli_no_words(run, &status)) return status;
  const char *text = run->command->json ? tern_devices_json(run->session) : tern_devices_text(run->session);
  if (!text) return tn_cli_failed(run, TERN_FAILED);
  fputs(text, stdout);
  if (run->command->json) putchar('\n');
  return TERN_OK;
}
