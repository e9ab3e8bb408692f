#include "runner/example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void put_file(const char *folder, const char *name, const char *content) {
  text path = { 0 };
  const char *slash = strchr(name, '/');
  if (slash) {
    text_addf(&path, "%s/%.*s", folder, (int)(slash - name), name);
    mkdir(path.bytes, 0777);
    free(path.bytes);
    path = (text){ 0 };
  }
  text_addf(&path, "%s/%s", folder, name);
  if (content) {
    text whole = text_of(content);
    write_file(path.bytes, whole);
    free(whole.bytes);
  } else {
    remove(path.bytes);
  }
  free(path.bytes);
}

outcome run_example(const tn_diag_info *info, const char *folder, bool right, const char *more) {
  const char *command = right && info->right_command ? info->right_command : info->command;
  text line = { 0 }, file = { 0 };
  text_addf(&file, "example.%s", info->lang);
  put_file(folder, file.bytes, right && info->right ? info->right : info->wrong);
  if (info->data) put_file(folder, info->data, right ? info->right_data : info->wrong_data);
  text_addf(&line, "tern %s %s%s", command ? command : "run", file.bytes, more);
  outcome done = run_shell(line.bytes, folder, NULL, 60, 0);
  free(line.bytes);
  free(file.bytes);
  return done;
}
