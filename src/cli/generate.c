/* cli/generate.c: completions for shells and the manual page, from the table in options.def. */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "track/track.h"

#define EACH_VERB(verb)                                                                                      \
  for (const tn_verb_info *verb = tn_verb_info_of(0); verb < tn_verb_info_of(0) + TN_VERB_COUNT; verb++)
#define EACH_OPTION(option)                                                                                  \
  for (const tn_option_info *option = tn_option_info_of(0); option < tn_option_info_of(0) + TN_OPTION_COUNT; \
       option++)

static bool takes(const tn_verb_info *verb, const tn_option_info *option) {
  return option->verbs >> verb->verb & 1;
}

/* The words an argument can be; NULL: anything, a file perhaps. */
static const char *choices(const tn_option_info *option) {
  switch (option->option) {
    case TN_OPTION_LANG: return "ail mind ninth";
    case TN_OPTION_ALLOW: return "fileread filewrite clock network";
    case TN_OPTION_AS: return "graph grad mlir dot svg onnx npz plan";
    case TN_OPTION_COLOR: return "auto always never";
    case TN_OPTION_METRIC: return "loss train_loss eval_loss accuracy";
    case TN_OPTION_SCALE: return "auto linear log";
    case TN_OPTION_SANDBOX: return "off auto require";
    case TN_OPTION_LOG: return "text steps json";
    default: return NULL;
  }
}

/* What a verb's own words can be, if not files; those of help are the verbs. */
static const char *words_of(const tn_verb_info *verb) {
  switch (verb->verb) {
    case TN_VERB_COMPLETION: return "bash zsh fish";
    case TN_VERB_RUNS: return "show compare rm";
    case TN_VERB_EVAL:
    case TN_VERB_REPL:
    case TN_VERB_BOARD:
    case TN_VERB_DOCTOR:
    case TN_VERB_MAN:
    case TN_VERB_VERSION:
    case TN_VERB_NEW: return "";
    default: return NULL;
  }
}

/* What a verb's own words can be that only tern knows: `tern completion LIST` says. NULL: nothing. */
static const char *list_of(const tn_verb_info *verb) {
  switch (verb->verb) {
    case TN_VERB_EXPLAIN: return "codes";
    case TN_VERB_OPS: return "operations";
    case TN_VERB_PLOT:
    case TN_VERB_RUNS: return "recorded";
    case TN_VERB_VERIFY:
    case TN_VERB_PREDICT:
    case TN_VERB_EVALUATE:
    case TN_VERB_GENERATE: return "runs";
    default: return NULL;
  }
}

static bool is_run(const tn_option_info *option) { return option->option == TN_OPTION_RESUME; }

static void print_verbs(void) { EACH_VERB(verb) printf("%s%s", verb->verb ? " " : "", verb->name); }

/* Between `before` and `after`; nothing when the verb takes files, or no words. */
static bool print_words(const tn_verb_info *verb, const char *before, const char *after) {
  const char *words = words_of(verb);
  bool verbs = verb->verb == TN_VERB_HELP;
  if (!verbs && (!words || !words[0])) return false;
  fputs(before, stdout);
  if (verbs)
    print_verbs();
  else
    fputs(words, stdout);
  fputs(after, stdout);
  return true;
}

/* ---- bash ---- */

static void bash(void) {
  printf("# bash completion for tern\n"
         "_tern() {\n"
         "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
         "  local verb=\"${COMP_WORDS[1]}\" options= words= list= IFS=$' \\t\\n'\n"
         "  COMPREPLY=()\n"
         "  case \"$before\" in\n");
  EACH_OPTION(option) {
    if (choices(option))
      printf("    --%s) COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", option->name,
             choices(option));
    if (is_run(option)) printf("    --%s) list=runs; verb= ;;\n", option->name);
  }
  printf("  esac\n  case \"$verb\" in\n");
  EACH_VERB(verb) {
    printf("    %s) options='", verb->name);
    EACH_OPTION(option) {
      if (takes(verb, option)) printf("--%s ", option->name);
    }
    printf("'");
    if (!print_words(verb, "; words='", "'") && words_of(verb)) printf("; words=' '");
    if (list_of(verb)) printf("; list=%s", list_of(verb));
    printf(" ;;\n");
  }
  printf("  esac\n"
         "  if [[ $COMP_CWORD == 1 && $word != -* ]]; then\n"
         "    COMPREPLY=($(compgen -W '");
  print_verbs();
  printf("' -- \"$word\") $(compgen -f -- \"$word\"))\n"
         "  elif [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  elif [[ $list == recorded && $verb == runs && $COMP_CWORD == 2 ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  elif [[ -n $list && ($list != runs || $COMP_CWORD == 2 || -z $verb) ]]; then\n"
         "    IFS=$'\\n'\n"
         "    COMPREPLY=($(compgen -W \"$(\"${COMP_WORDS[0]}\" completion $list \"$word\" 2>/dev/null)\" "
         "-- \"$word\"))\n"
         "    [[ $list != r* || ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "  elif [[ -n $words ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _tern tern\n");
}

/* ---- zsh ---- */

/* Text in single quotes for zsh's _arguments and for fish: no quotes, brackets or colons. */
static void plain(const char *text) {
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", stdout);
    else
      putchar(strchr("[]:", *text) ? ' ' : *text);
  }
}

static void zsh_option(const tn_option_info *option) {
  printf("        '--%s[", option->name);
  plain(option->help);
  putchar(']');
  if (option->argument && choices(option))
    printf(":%s:(%s)", option->argument, choices(option));
  else if (is_run(option))
    printf(":%s:_tern_runs", option->argument);
  else if (option->argument)
    printf(":%s:_files", option->argument);
  printf("' \\\n");
}

static void zsh(void) {
  printf("#compdef tern\n"
         "_tern_list() {\n"
         "  local -a found\n"
         "  found=(${(f)\"$(tern completion $1 $PREFIX 2>/dev/null)\"})\n"
         "  (( $#found )) && compadd -- $found\n"
         "}\n"
         "_tern_runs() { _tern_list runs || _files }\n"
         "_tern_recorded() { _tern_list recorded || _files }\n"
         "_tern() {\n  local -a verbs\n  verbs=(\n");
  EACH_VERB(verb) {
    printf("    '%s:", verb->name);
    plain(verb->help);
    printf("'\n");
  }
  printf("  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe verb verbs\n    _files\n    return\n  fi\n"
         "  case $words[2] in\n");
  EACH_VERB(verb) {
    printf("    %s)\n      _arguments \\\n", verb->name);
    EACH_OPTION(option) {
      if (takes(verb, option)) zsh_option(option);
    }
    const char *list = list_of(verb);
    bool only = !list && print_words(verb, "        '*:word:(", ")' ;;\n");
    if (only) continue;
    if (list) print_words(verb, "        '2:word:(", ")' \\\n");
    if (list && strcmp(list, "recorded") == 0)
      printf("        '*:run:_tern_recorded' ;;\n");
    else if (list && strcmp(list, "runs") == 0)
      printf("        '2:run:_tern_runs' '*:file:_files' ;;\n");
    else if (list)
      printf("        '*:word: _tern_list %s' ;;\n", list);
    else
      printf("        '*:file:%s' ;;\n", words_of(verb) ? "" : "_files");
  }
  printf("  esac\n}\n_tern \"$@\"\n");
}

/* ---- fish ---- */

static void fish(void) {
  printf("# fish completion for tern\n");
  EACH_VERB(verb) {
    printf("complete -c tern -n __fish_use_subcommand -a %s -d '", verb->name);
    plain(verb->help);
    printf("'\n");
    const char *list = list_of(verb), *first = words_of(verb);
    if (list)
      printf("complete -c tern %s-n '__fish_seen_subcommand_from %s%s%s' "
             "-a '(tern completion %s (commandline -ct))'\n",
             strcmp(list, "runs") == 0 ? "" : "-f ", verb->name,
             first ? "; and __fish_seen_subcommand_from " : "", first ? first : "", list);
    if (!first && verb->verb != TN_VERB_HELP) continue;
    printf("complete -c tern -f -n '__fish_seen_subcommand_from %s%s%s'", verb->name,
           list ? "; and not __fish_seen_subcommand_from " : "", list ? first : "");
    print_words(verb, " -a '", "'");
    printf("\n");
  }
  EACH_OPTION(option) {
    printf("complete -c tern -n '__fish_seen_subcommand_from");
    EACH_VERB(verb) {
      if (takes(verb, option)) printf(" %s", verb->name);
    }
    printf("' -l %s", option->name);
    if (option->letter) printf(" -s %c", option->letter);
    if (option->argument && choices(option))
      printf(" -x -a '%s'", choices(option));
    else if (is_run(option))
      printf(" -x -a '(tern completion runs (commandline -ct))'");
    else if (option->argument)
      printf(" -r");
    printf(" -d '");
    plain(option->help);
    printf("'\n");
  }
}

/* ---- lists that the shells ask for: `tern completion LIST [WORD]` ---- */

static void list_names(const char *(*name_of)(size_t index)) {
  const char *name;
  for (size_t i = 0; (name = name_of(i)) != NULL; i++) puts(name);
}

static bool has_run(const char *folder) {
  char path[4096];
  int length = snprintf(path, sizeof path, "%s/run.json", folder);
  return length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0;
}

/* The folders of runs in a folder, "" or a name with a slash at its end, and in the folders there.
 * recursion: 2 deep. */
static void list_runs(const char *above, int depth) {
  DIR *folder = opendir(*above ? above : ".");
  const struct dirent *entry;
  while (folder && (entry = readdir(folder)) != NULL) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s%s", above, entry->d_name);
    if (entry->d_name[0] == '.' || length < 0 || (size_t)length + 2 > sizeof path) continue;
    if (has_run(path)) {
      puts(path);
    } else if (depth > 0) {
      memcpy(path + length, "/", 2);
      list_runs(path, depth - 1);
    }
  }
  if (folder) closedir(folder);
}

#define LISTED_NUMBERS 100

static void list_numbers(tn_run *run) {
  char room[4096];
  const char *store = tn_cli_store(run->command, room, sizeof room);
  const char *numbers = store ? tn_track_numbers(run->session, store, LISTED_NUMBERS) : NULL;
  if (numbers) fputs(numbers, stdout);
}

/* The folders of runs below the one that `word` names so far. */
static void list_folders(const char *word) {
  char above[4096];
  const char *slash = strrchr(word, '/');
  snprintf(above, sizeof above, "%.*s", slash ? (int)(slash - word + 1) : 0, word);
  list_runs(above, 1);
}

static bool list_words(tn_run *run, const char *name, const char *word) {
  if (strcmp(name, "codes") == 0) {
    list_names(tern_code_name);
  } else if (strcmp(name, "operations") == 0) {
    list_names(tern_op_name);
  } else if (strcmp(name, "runs") == 0) {
    list_folders(word);
  } else if (strcmp(name, "recorded") == 0) {
    list_folders(word); /* first: asking the history enters the sandbox */
    list_numbers(run);
  } else {
    return false;
  }
  return true;
}

tern_status tn_cli_completion(tn_run *run) {
  tern_status status;
  const tn_command *command = run->command;
  const char *begun = command->word_count > 1 ? command->words[1] : "";
  if (command->word_count > 0 && list_words(run, command->words[0], begun)) return TERN_OK;
  if (!tn_cli_one_word(run, "a shell", &status)) return status;
  const char *shell = command->words[0];
  if (strcmp(shell, "bash") == 0)
    bash();
  else if (strcmp(shell, "zsh") == 0)
    zsh();
  else if (strcmp(shell, "fish") == 0)
    fish();
  else
    return tn_cli_usage_about(run, "there are completions for bash, zsh and fish, not for ", shell, "", NULL);
  return TERN_OK;
}

/* ---- the manual page ---- */

/* In roff a backslash, a minus and a point at the start of a line mean something. */
static void roff(const char *text) {
  for (bool start = true; *text; start = *text++ == '\n') {
    if (start && *text == ' ') {
      while (*text == ' ') text++;
      if (!*text) return;
    }
    if (start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
    if (*text == '\\')
      fputs("\\e", stdout);
    else if (*text == '-')
      fputs("\\-", stdout);
    else
      putchar(*text);
  }
}

static void man_option(const tn_option_info *option) {
  printf(".TP\n.B ");
  if (option->letter) printf("\\-%c, ", option->letter);
  printf("\\-\\-");
  roff(option->name);
  if (option->argument) printf(" \\fI%s\\fR", option->argument);
  printf("\n");
  roff(option->help);
  printf("\n");
}

tern_status tn_cli_man(tn_run *run) {
  tern_status status;
  if (!tn_cli_no_words(run, &status)) return status;
  printf(
      ".TH TERN 1 \"\" \"tern %s\" \"User Commands\"\n"
      ".SH NAME\ntern \\- three small languages for tensors, one set of kernels, the same bits everywhere\n"
      ".SH SYNOPSIS\n.B tern\n.I FILE\n.br\n.B tern\n.I VERB\n[\\fIOPTION\\fR]...\n.SH VERBS\n",
      tern_version());
  EACH_VERB(verb) {
    printf(".TP\n.B %s", verb->name);
    if (verb->arguments[0]) printf(" \\fI"), roff(verb->arguments), printf("\\fR");
    printf("\n");
    roff(verb->help);
    printf(".\n");
  }
  printf(".SH OPTIONS\n");
  EACH_OPTION(option) man_option(option);
  printf(".SH EXIT STATUS\n"
         "0 success; 1 the program was rejected or failed; 2 the command line is wrong or a file on it "
         "cannot be\n"
         "read; 3 a bug in tern.\n.SH EXAMPLES\n");
  EACH_VERB(verb) {
    printf(".nf\n");
    roff(verb->examples);
    printf("\n.fi\n");
  }
  return TERN_OK;
}
