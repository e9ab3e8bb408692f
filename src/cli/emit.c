/* cli/emit.c: what the compiler made of a program. */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"

static tern_status write_out(tn_run *run, const char *path, const char *bytes, size_t length) {
  if (tn_cli_write_file(path, bytes, length)) return TERN_OK;
  return tn_cli_usage_about(run, "cannot write ", path, "", strerror(errno));
}

static tern_status failed(tn_run *run) {
  tern_status status = tern_failure_status(run->session);
  tn_cli_failed(run, status);
  return status;
}

/* With --json the form is a member of the object; with -o it is in the file. */
static tern_status emit(tn_run *run, tern_program *program, const char *kind) {
  const char *path = run->command->value[TN_OPTION_OUTPUT];
  size_t length;
  if (run->command->json && !path) {
    const char *json = tern_emit_json(program, kind, NULL);
    if (!json) return failed(run);
    puts(json);
    return TERN_OK;
  }
  const char *bytes = tern_emit_bytes(program, kind, &length);
  if (!bytes) return failed(run);
  if (!path) {
    fwrite(bytes, 1, length, stdout);
    return TERN_OK;
  }
  tern_status status = write_out(run, path, bytes, length);
  const char *json = status == TERN_OK && run->command->json ? tern_emit_json(program, kind, path) : NULL;
  if (json) puts(json);
  return status;
}

tern_status tn_cli_emit(tn_run *run) {
  tern_status status;
  if (!tn_cli_one_word(run, "a file", &status)) return status;
  const char *kind = run->command->value[TN_OPTION_AS];
  if (!kind) return tn_cli_usage(run, "tern emit needs --as graph, grad, mlir, dot, svg, onnx or npz", NULL);
  tern_program *program =
      tern_load_file(run->session, run->command->language, run->command->words[0], &status);
  if (!program) return tn_cli_failed(run, status);
  status = tn_cli_give(run, program);
  status = status == TERN_OK ? emit(run, program, kind) : failed(run);
  tern_program_free(program);
  return status;
}
