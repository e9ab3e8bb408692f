/* cli/hints.c: hints for errors on the command line, from the table of verbs and options. */
#include <string.h>

#include "cli/cli.h"

void tn_cli_hint_verb(tn_verb verb, char *room, size_t size) {
  const tn_verb_info *info = tn_verb_info_of(verb);
  int length = (int)strcspn(info->examples, "\n");
  snprintf(room, size, "such as `%.*s`; `tern help %s` shows its options", length, info->examples,
           info->name);
}

void tn_cli_hint_option(tn_option option, char *room, size_t size) {
  const tn_option_info *info = tn_option_info_of(option);
  snprintf(room, size, "--%s%s%s: %s", info->name, info->argument ? " " : "",
           info->argument ? info->argument : "", info->help);
}

/* The verbs that take an option, with commas between; "" when they are too many to be named. */
static void list_verbs(const tn_option_info *option, char *room, size_t size) {
  size_t used = 0;
  room[0] = 0;
  for (int i = 0; i < TN_VERB_COUNT; i++) {
    if (!(option->verbs >> i & 1)) continue;
    int more = snprintf(room + used, size - used, "%stern %s", used > 0 ? ", " : "",
                        tn_verb_info_of((tn_verb)i)->name);
    used += (size_t)more;
    if (used >= size) {
      room[0] = 0;
      return;
    }
  }
}

void tn_cli_hint_elsewhere(tn_option option, tn_verb verb, char *room, size_t size) {
  const tn_option_info *info = tn_option_info_of(option);
  const char *name = tn_verb_info_of(verb)->name;
  char takers[64];
  list_verbs(info, takers, sizeof takers);
  if (takers[0])
    snprintf(room, size, "--%s is for %s; `tern help %s` lists the options of tern %s", info->name, takers,
             name, name);
  else
    snprintf(room, size, "`tern help %s` lists the options of tern %s", name, name);
}
