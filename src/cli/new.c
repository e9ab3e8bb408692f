/* cli/new.c: the verb new: creates a small project that runs. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

typedef struct {
  tern_language language;
  const char *file, *text;
  const char *verb, *options; /* how it is tried; options begin with a blank */
  const char *data, *rows;    /* a file of data beside it; NULL: none */
  const char *next;           /* what else its README names; NULL: nothing */
} sample;

static const sample samples[] = {
  { TERN_LANG_MIND, "main.mind",
    "// A line through four points, by gradient descent.\n"
    "let x = [[0.0], [1.0], [2.0], [3.0]]\n"
    "let y = [[1.0], [3.0], [5.0], [7.0]]\n"
    "fn loss(w: Tensor[f32,(1,1)], b: Tensor[f32,(1)]) -> Tensor[f32,()] = mse_loss(x @ w + b, y)\n"
    "\n"
    "fn descend(\n"
    "  w: Tensor[f32,(1,1)],\n"
    "  b: Tensor[f32,(1)],\n"
    "  steps: i32\n"
    ") -> (Tensor[f32,(1,1)], Tensor[f32,(1)]) {\n"
    "  let (gw, gb) = grad(loss)(w, b)\n"
    "  if steps == 0 { (w, b) } else { descend(w - 0.1 * gw, b - 0.1 * gb, steps - 1) }\n"
    "}\n"
    "\n"
    "let (w, b) = descend([[0.0]], [0.0], 100)\n"
    "print(\"y = w x + b with w and b near 2 and 1:\")\n"
    "(w, b)\n",
    "run", "", NULL, NULL, NULL },
  { TERN_LANG_NINTH, "main.nth",
    "// The square root of 2, by Newton's method.\n"
    "1 -> x\n"
    "6 [REPEAT]\n"
    "  x 2 x [DIV] [ADD] 2 [DIV] -> x\n"
    "[END]\n"
    "\"the square root of 2:\" [PRINT]\n"
    "x [PRINT]\n",
    "run", "", NULL, NULL, NULL },
  { TERN_LANG_AIL, "main.ail",
    "# Which of two subjects a sentence is about. A sentence is four token ids: see data.jsonl.\n"
    "const V = 20\n"
    "const D = 8\n"
    "\n"
    "model {\n"
    "  tokens [B, T]\n"
    "  labels [B]\n"
    "  param E [V, D]\n"
    "  param W [D, 2]\n"
    "  h = meanpool(embedding(tokens, E))\n"
    "  logits = linear(h, W)\n"
    "}\n"
    "\n"
    "train {\n"
    "  loss = cross_entropy(logits, labels)\n"
    "  steps = 100\n"
    "  lr = 0.5\n"
    "}\n"
    "\n"
    "dataset {\n"
    "  format = \"jsonl\"\n"
    "  path = \"data.jsonl\"\n"
    "  shuffle = true\n"
    "  split = 0.75\n"
    "}\n"
    "\n"
    "eval {\n"
    "  metrics = [loss, accuracy]\n"
    "  every = 50\n"
    "}\n",
    "train", " --allow fileread", "data.jsonl",
    "{\"tokens\": [0, 3, 5, 9], \"label\": 0}\n"
    "{\"tokens\": [1, 4, 2, 18], \"label\": 0}\n"
    "{\"tokens\": [12, 15, 11, 9], \"label\": 1}\n"
    "{\"tokens\": [10, 14, 13, 18], \"label\": 1}\n"
    "{\"tokens\": [2, 0, 4, 19], \"label\": 0}\n"
    "{\"tokens\": [13, 11, 16, 19], \"label\": 1}\n"
    "{\"tokens\": [5, 1, 3, 8], \"label\": 0}\n"
    "{\"tokens\": [16, 10, 12, 8], \"label\": 1}\n"
    "{\"tokens\": [3, 2, 1, 9], \"label\": 0}\n"
    "{\"tokens\": [14, 12, 10, 18], \"label\": 1}\n"
    "{\"tokens\": [4, 5, 0, 19], \"label\": 0}\n"
    "{\"tokens\": [11, 16, 15, 8], \"label\": 1}\n",
    "\n"
    "Keep the weights, classify a sentence, repeat the run and compare every bit:\n"
    "\n"
    "    tern train main.ail --allow fileread --out run\n"
    "    tern run main.ail --weights run/weights.safetensors --input tokens='[[3, 1, 4, 18]]'\n"
    "    tern verify run --allow fileread\n" },
};

static bool write_in(tn_run *run, const char *name, const char *text) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", run->command->words[0], name);
  return tern_write_file(run->session, path, text, strlen(text)) == TERN_OK;
}

/* An existing folder may hold any file except those that we write. */
static bool is_free(tn_run *run, const sample *chosen, tern_status *status) {
  const char *const names[] = { chosen->file, "README.md", chosen->data };
  const char *folder = run->command->words[0];
  char path[1024];
  for (size_t i = 0; i < 3; i++) {
    if (!names[i]) continue;
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    if (access(path, F_OK) != 0) continue;
    *status = tn_cli_usage_about(run, "", path, " exists; nothing was changed",
                                 "choose another name, or an empty folder");
    return false;
  }
  return true;
}

static bool make_folder(tn_run *run, const sample *chosen, tern_status *status) {
  const char *folder = run->command->words[0];
  struct stat facts;
  if (mkdir(folder, 0777) == 0) return true;
  int problem = errno;
  bool folder_is_there = problem == EEXIST && stat(folder, &facts) == 0 && S_ISDIR(facts.st_mode);
  if (folder_is_there) return is_free(run, chosen, status);
  errno = problem;
  *status = tn_cli_cannot(run, "make", folder);
  return false;
}

/* What to type next; the name may need quotes. */
static void say_next(const sample *chosen, const char *folder) {
  bool here = strcmp(folder, ".") == 0;
  printf(here ? "made %s; try it:\n" : "made ", chosen->file);
  if (!here) {
    tn_cli_put_quoted(stdout, folder);
    fputs("; try it:\n  cd ", stdout);
    tn_cli_put_quoted(stdout, folder);
    putchar('\n');
  }
  printf("  tern %s %s%s\n", chosen->verb, chosen->file, chosen->options);
}

tern_status tn_cli_new(tn_run *run) {
  tern_status status;
  if (!tn_cli_one_word(run, "a name", &status)) return status;
  const char *folder = run->command->words[0];
  tern_language language = run->command->language != TERN_LANG_AUTO ? run->command->language : TERN_LANG_MIND;
  const sample *chosen = &samples[0];
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    if (samples[i].language == language) chosen = &samples[i];
  }
  char readme[1024];
  snprintf(readme, sizeof readme, "# %.200s\n\n    tern %s %s%s\n%s", folder, chosen->verb, chosen->file,
           chosen->options, chosen->next ? chosen->next : "");
  if (!*folder) return tn_cli_usage(run, "a project needs a name", NULL);
  if (strlen(folder) > 900) return tn_cli_usage(run, "that name is too long", NULL);
  if (!make_folder(run, chosen, &status)) return status;
  if (!write_in(run, chosen->file, chosen->text) || !write_in(run, "README.md", readme) ||
      (chosen->data && !write_in(run, chosen->data, chosen->rows)))
    return tn_cli_failed(run, tern_failure_status(run->session));
  if (!tn_given_option(run->command, TN_OPTION_QUIET)) say_next(chosen, folder);
  return TERN_OK;
}
