/* cli/emit.c: the verb emit: exports the compiled program. */
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static tern_status failed(tn_run *run) {
  tern_status status = tern_failure_status(run->session);
  tn_cli_failed(run, status);
  return status;
}

/* With --json the form is a member of the object. A terminal can do nothing with anything but text. */
static tern_status emit_here(tn_run *run, tern_program *program, const char *kind) {
  bool bytes_only = strcmp(kind, "onnx") == 0 || strcmp(kind, "npz") == 0;
  size_t length;
  if (bytes_only && isatty(1))
    return tn_cli_usage_about(run, "", kind, " is not text for a terminal; give a file with -o", "");
  if (run->command->json) {
    const char *json = tern_emit_json(program, kind, NULL);
    if (!json) return failed(run);
    puts(json);
    return TERN_OK;
  }
  const char *bytes = tern_emit_bytes(program, kind, &length);
  if (!bytes) return failed(run);
  fwrite(bytes, 1, length, stdout);
  return TERN_OK;
}

static tern_status emit_there(tn_run *run, tern_program *program, const char *kind, tern_target *target) {
  const char *path = run->command->value[TN_OPTION_OUTPUT];
  size_t length;
  const char *bytes = tern_emit_bytes(program, kind, &length);
  if (!bytes || tern_target_write(target, bytes, length) != TERN_OK) return failed(run);
  const char *json = run->command->json ? tern_emit_json(program, kind, path) : NULL;
  if (json) puts(json);
  return TERN_OK;
}

/* The file to write is found first: inside the sandbox no other can be. */
static tern_status emit(tn_run *run, tern_program *program, const char *kind) {
  const char *path = run->command->value[TN_OPTION_OUTPUT];
  bool here = tn_cli_to_standard_output(path);
  tern_target *target = here ? NULL : tern_target_open(run->session, path);
  tern_status status;
  if (!here && !target) return failed(run);
  if (tn_cli_confine(run, &status)) {
    status = tn_cli_give(run, program);
    if (status != TERN_OK)
      status = failed(run);
    else
      status = here ? emit_here(run, program, kind) : emit_there(run, program, kind, target);
  }
  tern_target_free(target);
  return status;
}

tern_status tn_cli_emit(tn_run *run) {
  tern_status status;
  if (!tn_cli_one_word(run, "a file", &status)) return status;
  const char *kind = run->command->value[TN_OPTION_AS];
  if (!kind)
    return tn_cli_usage(run, "tern emit needs --as graph, grad, mlir, dot, svg, onnx, npz or plan", NULL);
  if (!tn_cli_device(run, &status)) return status;
  tern_program *program =
      tern_load_file(run->session, run->command->language, run->command->words[0], &status);
  if (!program) return tn_cli_failed(run, status);
  status = emit(run, program, kind);
  tern_program_free(program);
  return status;
}
