/* cli/runs.c: the verb runs. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "track/track.h"

const char *tn_cli_store(const tn_command *command, char *room, size_t size) {
  const char *given = command->value[TN_OPTION_STORE];
  if (given) return given;
  const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
  int length = -1;
  if (data && data[0] == '/')
    length = snprintf(room, size, "%s/tern/runs.db", data);
  else if (home && home[0])
    length = snprintf(room, size, "%s/.local/share/tern/runs.db", home);
  return length > 0 && (size_t)length < size ? room : NULL;
}

/* The conditions are among the settings, whole. */
static const char *list(tn_run *run, const char *store) {
  const tn_command *command = run->command;
  const char **conditions = malloc((command->setting_count + 1) * sizeof *conditions);
  if (!conditions) return NULL;
  tn_track_query query = { .store = store, .conditions = conditions, .sort = command->value[TN_OPTION_SORT] };
  for (size_t i = 0; i < command->setting_count; i++) {
    if (command->settings[i].option == TN_OPTION_WHERE)
      conditions[query.condition_count++] = command->settings[i].name;
  }
  if (command->value[TN_OPTION_LIMIT])
    query.limit = (int64_t)strtoull(command->value[TN_OPTION_LIMIT], NULL, 10);
  const char *text = tn_track_list(run->session, &query, command->json);
  free(conditions);
  return text;
}

static const char *show(tn_run *run, const char *store) {
  return tn_track_show(run->session, store, run->command->words[1], run->command->json);
}

static const char *compare(tn_run *run, const char *store) {
  const char **words = run->command->words;
  return tn_track_compare(run->session, store, words[1], words[2], run->command->json);
}

static const char *forget(tn_run *run, const char *store) {
  return tn_track_remove(run->session, store, run->command->words[1], run->command->json);
}

static const struct {
  const char *name, *usage, *takes;
  size_t words;
  const char *(*answer)(tn_run *run, const char *store);
} questions[] = {
  { "list", "tern runs [--where CONDITION] [--sort COLUMN] [--limit N]", "no arguments", 1, list },
  { "show", "tern runs show RUN", "one run", 2, show },
  { "compare", "tern runs compare RUN RUN", "two runs", 3, compare },
  { "rm", "tern runs rm RUN", "one run", 2, forget },
};

/* "tern runs show takes one run". */
static tern_status misuse(tn_run *run, size_t question) {
  char after[64];
  snprintf(after, sizeof after, " takes %s: a number, `last` or a folder", questions[question].takes);
  if (questions[question].words == 1) snprintf(after, sizeof after, " takes no arguments");
  return tn_cli_usage_about(run, "tern runs ", questions[question].name, after, questions[question].usage);
}

tern_status tn_cli_runs(tn_run *run) {
  const tn_command *command = run->command;
  const char *wanted = command->word_count > 0 ? command->words[0] : "list", *names[4];
  char room[4096];
  const char *store = tn_cli_store(command, room, sizeof room);
  if (!store)
    return tn_cli_usage(run, "there is no data folder: HOME is not set", "name a file with --store");
  for (size_t i = 0; i < 4; i++) {
    names[i] = questions[i].name;
    if (strcmp(wanted, questions[i].name) != 0) continue;
    if (command->word_count != questions[i].words && command->word_count > 0) return misuse(run, i);
    const char *text = questions[i].answer(run, store);
    if (!text) return tn_cli_failed(run, tern_failure_status(run->session));
    fputs(text, stdout);
    if (command->json) putchar('\n');
    return TERN_OK;
  }
  const char *close = tern_suggest(wanted, names, 4);
  char hint[64];
  snprintf(hint, sizeof hint, "did you mean tern runs %s?", close ? close : "show");
  return tn_cli_usage_about(run, "tern runs has no ", wanted, "; there are list, show, compare and rm",
                            close ? hint : NULL);
}
