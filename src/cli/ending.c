/* cli/ending.c: the messages at the end of a training run.
 *
 * Stopping a run with Ctrl-C is not an error. Both messages name a command that can be copied and
 * run as it is: the words of this command, except for those that name the folder of the run. */
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"

void tn_cli_put_quoted(FILE *to, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
  if (*word && strspn(word, plain) == strlen(word)) {
    fputs(word, to);
    return;
  }
  putc('\'', to);
  for (; *word; word++) {
    if (*word == '\'')
      fputs("'\\''", to);
    else
      putc(*word, to);
  }
  putc('\'', to);
}

/* How many words of the command line say where the run is kept, from this one on: --out DIR, --out=DIR. */
static int words_of_place(const char *word) {
  static const char *const options[] = { "--out", "--resume" };
  for (size_t i = 0; i < 2; i++) {
    size_t length = strlen(options[i]);
    if (strncmp(word, options[i], length) != 0) continue;
    if (word[length] == '=') return 1;
    if (!word[length]) return 2;
  }
  return 0;
}

/* This command again, with another place. */
static void put_command(tn_run *run, const char *option, const char *folder, FILE *to) {
  char **word = run->command->arguments;
  while (*word) {
    int skipped = words_of_place(*word);
    if (skipped == 0) {
      if (word != run->command->arguments) putc(' ', to);
      tn_cli_put_quoted(to, *word);
      skipped = 1;
    }
    for (; skipped > 0 && *word; skipped--) word++;
  }
  fprintf(to, " %s ", option);
  tn_cli_put_quoted(to, folder);
}

/* What can be done with a trained model depends on what it was trained on. */
static void put_next(tn_run *run, const tn_progress *progress, const char *out) {
  const char *format = progress->data_format, *verb = "plot", *rest = "";
  if (format && strcmp(format, "text") == 0)
    verb = "generate", rest = " --prompt TEXT";
  else if (format)
    verb = "predict", rest = " NEW_DATA";
  fprintf(stderr, "Next: %s %s ", run->command->arguments[0], verb);
  tn_cli_put_quoted(stderr, out);
  fprintf(stderr, "%s\n", rest);
}

void tn_ending_completed(tn_run *run, const tn_progress *progress, const char *out) {
  char steps[TN_GROUPED_BYTES], took[32];
  int64_t done = progress->first < 0 ? 0 : progress->steps - progress->first;
  fflush(stdout);
  fprintf(stderr, "%s step%s in %s; ", tn_progress_grouped(done, steps), done == 1 ? "" : "s",
          tn_progress_duration(progress->seconds, took, sizeof took));
  if (out) {
    fprintf(stderr, "saved in %s: weights.safetensors, checkpoint, history.jsonl\n", tn_cli_shown(run, out));
    put_next(run, progress, out);
    return;
  }
  fputs("nothing was saved\nTo keep the weights: ", stderr);
  put_command(run, "--out", "run", stderr);
  putc('\n', stderr);
}

static void put_stopped(tn_run *run, const tn_progress *progress, const char *out, FILE *to) {
  char steps[TN_GROUPED_BYTES];
  if (!progress->ended || progress->steps == 0)
    fputs("Stopped before the first step", to);
  else
    fprintf(to, "Stopped after step %s", tn_progress_grouped(progress->steps, steps));
  if (!progress->ended || !out) {
    fputs("; nothing was saved\n", to);
    return;
  }
  fprintf(to, "; saved in %s. Resume: ", tn_cli_shown(run, out));
  put_command(run, "--resume", out, to);
  putc('\n', to);
}

char *tn_ending_stopped(tn_run *run, const tn_progress *progress, const char *out) {
  char *text = NULL;
  size_t length;
  FILE *to = open_memstream(&text, &length);
  if (!to) return NULL;
  put_stopped(run, progress, out, to);
  if (fclose(to) == 0) return text;
  free(text);
  return NULL;
}
