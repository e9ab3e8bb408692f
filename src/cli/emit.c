/* cli/emit.c: what the compiler made of a program. */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"

static tern_status deliver(tn_run *run, const char *text) {
  const char *path = run->command->value[TN_OPTION_OUTPUT];
  if (!path) {
    fputs(text, stdout);
    return TERN_OK;
  }
  if (tn_cli_write_file(path, text)) return TERN_OK;
  return tn_cli_usage_about(run, "cannot write ", path, "", strerror(errno));
}

tern_status tn_cli_emit(tn_run *run) {
  tern_status status;
  if (!tn_cli_one_word(run, "a file", &status)) return status;
  const char *kind = run->command->value[TN_OPTION_AS];
  if (!kind) return tn_cli_usage(run, "tern emit needs --as graph, grad, mlir or dot", NULL);
  tern_program *program =
      tern_load_file(run->session, run->command->language, run->command->words[0], &status);
  if (!program) return tn_cli_failed(run, status);
  status = tn_cli_give(run, program);
  const char *text = status == TERN_OK ? tern_emit(program, kind) : NULL;
  if (text) {
    status = deliver(run, text);
  } else {
    status = tern_failure_status(run->session);
    tn_cli_failed(run, status);
  }
  tern_program_free(program);
  return status;
}
