/* cli/main.c: parses the command line and calls a verb. */
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/resource.h>
#endif
#include <unistd.h>

#include "cli/cli.h"
#include "cli/terminal.h"

static const tn_verb_info verbs[] = {
#define TN_VERB(id, name, arguments, help, examples) { TN_VERB_##id, name, arguments, help, examples },
#include "cli/options.def"
};

static const tn_option_info options[] = {
#define TN_OPTION(id, name, letter, argument, verbs, help)                                                   \
  { TN_OPTION_##id, name, letter, argument, (unsigned)(verbs), help },
#include "cli/options.def"
};

static tern_status (*const handlers[])(tn_run *run) = {
  [TN_VERB_RUN] = tn_cli_run,         [TN_VERB_EVAL] = tn_cli_eval,
  [TN_VERB_TRAIN] = tn_cli_train,     [TN_VERB_APP] = tn_cli_app,
  [TN_VERB_CHECK] = tn_cli_check,     [TN_VERB_REPL] = tn_cli_repl,
  [TN_VERB_FMT] = tn_cli_fmt,         [TN_VERB_EMIT] = tn_cli_emit,
  [TN_VERB_EXPLAIN] = tn_cli_explain, [TN_VERB_OPS] = tn_cli_ops,
  [TN_VERB_VERSION] = tn_cli_version, [TN_VERB_HELP] = tn_cli_help,
  [TN_VERB_RUNS] = tn_cli_runs,       [TN_VERB_VERIFY] = tn_cli_verify,
  [TN_VERB_BOARD] = tn_cli_board,     [TN_VERB_DOCTOR] = tn_cli_doctor,
  [TN_VERB_NEW] = tn_cli_new,         [TN_VERB_COMPLETION] = tn_cli_completion,
  [TN_VERB_MAN] = tn_cli_man,         [TN_VERB_PLOT] = tn_cli_plot,
  [TN_VERB_PREDICT] = tn_cli_predict, [TN_VERB_EVALUATE] = tn_cli_evaluate,
  [TN_VERB_GENERATE] = tn_cli_generate, [TN_VERB_DEVICES] = tn_cli_devices,
};

const tn_verb_info *tn_verb_info_of(tn_verb verb) { return &verbs[verb]; }
const tn_option_info *tn_option_info_of(tn_option option) { return &options[option]; }

/* ---- reading words ---- */

/* An error on the command line; kept until there is a session to report it to. */
typedef struct {
  tn_command *command;
  char **words;
  int count, at;
  int verb_at; /* the place of the verb; 0: there is none */
  bool plain;  /* after "--" everything is a word */
  char message[512];
  char hint[256]; /* "": the message says all there is to say */
} reader;

static bool complain(reader *r, const char *before, const char *word, const char *after) {
  snprintf(r->message, sizeof r->message, "%s%.200s%s", before, word, after);
  return false;
}

/* "--seed takes a whole number from 0 up, not -1", with what the option means. */
static bool refuse_value(reader *r, tn_option option, const char *takes) {
  snprintf(r->message, sizeof r->message, "--%s takes %s, not %.200s", options[option].name, takes,
           r->command->value[option]);
  tn_cli_hint_option(option, r->hint, sizeof r->hint);
  return false;
}

static bool is_verb(const char *word, tn_verb *out) {
  for (size_t i = 0; i < TN_VERB_COUNT; i++) {
    if (strcmp(word, verbs[i].name) == 0) {
      *out = verbs[i].verb;
      return true;
    }
  }
  return false;
}

/* The reference's own spelling of verbs: --run F, --train F, --validate F, --run-app F. */
static bool is_old_verb(const char *word, tn_verb *out) {
  static const struct {
    const char *name;
    tn_verb verb;
  } old[] = {
    { "--run", TN_VERB_RUN },
    { "--train", TN_VERB_TRAIN },
    { "--validate", TN_VERB_CHECK },
    { "--run-app", TN_VERB_APP },
  };
  for (size_t i = 0; i < sizeof old / sizeof old[0]; i++) {
    if (strcmp(word, old[i].name) == 0) {
      *out = old[i].verb;
      return true;
    }
  }
  return false;
}

static const tn_option_info *find_option(const char *name, size_t length) {
  for (size_t i = 0; i < TN_OPTION_COUNT; i++) {
    if (strlen(options[i].name) == length && strncmp(options[i].name, name, length) == 0) return &options[i];
  }
  return NULL;
}

static void hint_options(reader *r) {
  const char *verb = verbs[r->command->verb].name;
  if (r->verb_at > 0)
    snprintf(r->hint, sizeof r->hint, "`tern help %s` lists the options of tern %s", verb, verb);
  else
    snprintf(r->hint, sizeof r->hint, "`tern help` lists the verbs, and `tern help VERB` their options");
}

static bool unknown_option(reader *r, const char *word) {
  const char *names[TN_OPTION_COUNT];
  size_t count = 0;
  for (size_t i = 0; i < TN_OPTION_COUNT; i++) {
    if (options[i].verbs >> r->command->verb & 1) names[count++] = options[i].name;
  }
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
  const char *close = tern_suggest(name, names, count);
  for (char *c = name; *c; c++) {
    if (*c == '-') *c = '_';
  }
  const char *field = r->command->verb == TN_VERB_TRAIN ? tern_suggest_field(name) : NULL;
  if (field)
    snprintf(r->hint, sizeof r->hint,
             "`%s` is a field of the train block; --set %s=VALUE replaces it for one run", field, field);
  else if (close)
    snprintf(r->hint, sizeof r->hint, "did you mean --%s?", close);
  else
    hint_options(r);
  return complain(r, "there is no option ", word, "");
}

/* Whether it is written NAME=VALUE. */
static bool takes_names(tn_option option) {
  return option != TN_OPTION_EVENT && option != TN_OPTION_ALLOW && option != TN_OPTION_WHERE &&
         option != TN_OPTION_TEXT;
}

static bool add_setting(reader *r, tn_option option, const char *value) {
  tn_command *c = r->command;
  tn_setting setting = { .option = option, .name = value };
  const char *equals = strchr(value, '=');
  if (takes_names(option)) {
    if (!equals || equals == value) return refuse_value(r, option, options[option].argument);
    size_t length = (size_t)(equals - value);
    char *name = malloc(length + 1);
    if (!name) return complain(r, "out of memory", "", "");
    memcpy(name, value, length);
    name[length] = 0;
    setting.name = name;
    setting.value = equals + 1;
  }
  tn_setting *more = realloc(c->settings, (c->setting_count + 1) * sizeof *more);
  if (!more) return complain(r, "out of memory", "", "");
  c->settings = more;
  c->settings[c->setting_count++] = setting;
  return true;
}

static bool is_repeatable(tn_option option) {
  return option == TN_OPTION_INPUT || option == TN_OPTION_PARAM || option == TN_OPTION_SET ||
         option == TN_OPTION_SWEEP || option == TN_OPTION_EVENT || option == TN_OPTION_ALLOW ||
         option == TN_OPTION_WHERE || option == TN_OPTION_TEXT;
}

static bool take_option(reader *r, const tn_option_info *info, const char *value) {
  tn_command *c = r->command;
  if (!(info->verbs >> c->verb & 1)) {
    snprintf(r->message, sizeof r->message, "--%s is not an option of tern %s", info->name,
             verbs[c->verb].name);
    tn_cli_hint_elsewhere(info->option, c->verb, r->hint, sizeof r->hint);
    return false;
  }
  if (!info->argument) {
    if (value) {
      tn_cli_hint_option(info->option, r->hint, sizeof r->hint);
      return complain(r, "--", info->name, " takes no value");
    }
    c->value[info->option] = "";
    return true;
  }
  if (!value) {
    if (r->at >= r->count) {
      snprintf(r->message, sizeof r->message, "--%s needs a value: --%s %s", info->name, info->name,
               info->argument);
      tn_cli_hint_option(info->option, r->hint, sizeof r->hint);
      return false;
    }
    value = r->words[r->at++];
  }
  c->value[info->option] = value;
  return !is_repeatable(info->option) || add_setting(r, info->option, value);
}

static bool take_long(reader *r, const char *word) {
  size_t length = strcspn(word + 2, "=");
  const tn_option_info *info = find_option(word + 2, length);
  if (!info) return unknown_option(r, word);
  return take_option(r, info, word[2 + length] == '=' ? word + 2 + length + 1 : NULL);
}

static bool take_letter(reader *r, const char *word) {
  for (size_t i = 0; i < TN_OPTION_COUNT; i++) {
    if (options[i].letter && options[i].letter == word[1])
      return take_option(r, &options[i], word[2] ? word + 2 : NULL);
  }
  hint_options(r);
  return complain(r, "there is no option ", word, "");
}

static bool add_word(reader *r, const char *word) {
  tn_command *c = r->command;
  const char **more = realloc(c->words, (c->word_count + 1) * sizeof *more);
  if (!more) return complain(r, "out of memory", "", "");
  c->words = more;
  c->words[c->word_count++] = word;
  return true;
}

static bool take_word(reader *r, const char *word) {
  if (!r->plain && strcmp(word, "--") == 0) {
    r->plain = true;
    return true;
  }
  bool option = !r->plain && word[0] == '-' && word[1];
  if (!option) return add_word(r, word);
  return word[1] == '-' ? take_long(r, word) : take_letter(r, word);
}

/* How many words an option before the verb takes: 2 when its value is the next word, 0 when no verb has such
 * an option. */
static int option_words(const char *word) {
  size_t length = strcspn(word + 2, "=");
  if (word[1] != '-') {
    for (size_t i = 0; i < TN_OPTION_COUNT; i++) {
      if (options[i].letter && options[i].letter == word[1]) return options[i].argument && !word[2] ? 2 : 1;
    }
    return 0;
  }
  const tn_option_info *info = find_option(word + 2, length);
  return !info ? 0 : info->argument && !word[2 + length] ? 2 : 1;
}

/* The first word that is not an option decides; a file alone means run. */
static void find_verb(reader *r) {
  tn_command *c = r->command;
  c->verb = r->count < 2 ? TN_VERB_HELP : TN_VERB_RUN;
  int at = 1, words;
  while (at < r->count) {
    const char *word = r->words[at];
    if (is_verb(word, &c->verb) || is_old_verb(word, &c->verb)) {
      r->verb_at = at;
      return;
    }
    bool option = word[0] == '-' && word[1] && strcmp(word, "--") != 0;
    if (!option || (words = option_words(word)) == 0) return;
    at += words;
  }
}

static bool looks_like_a_file(const char *word) {
  return strchr(word, '.') || strchr(word, '/') || strcmp(word, "-") == 0 || access(word, F_OK) == 0;
}

static bool check_first_word(reader *r) {
  const tn_command *c = r->command;
  if (r->verb_at > 0 || c->word_count == 0 || looks_like_a_file(c->words[0])) return true;
  const char *names[TN_VERB_COUNT];
  for (size_t i = 0; i < TN_VERB_COUNT; i++) names[i] = verbs[i].name;
  const char *close = tern_suggest(c->words[0], names, TN_VERB_COUNT);
  if (close)
    snprintf(r->hint, sizeof r->hint, "did you mean tern %s?", close);
  else
    snprintf(r->hint, sizeof r->hint, "`tern help` lists the verbs; `tern FILE` runs a program");
  return complain(r, "there is no verb ", c->words[0], "");
}

static bool read_words(reader *r) {
  find_verb(r);
  for (r->at = 1; r->at < r->count;) {
    bool verb = r->at == r->verb_at;
    const char *word = r->words[r->at++];
    if (!verb && !take_word(r, word)) return false;
    if (!verb || r->command->verb != TN_VERB_EVAL || r->at == r->count) continue;
    /* The word after eval is the source, even if it begins with a minus. */
    if (!add_word(r, r->words[r->at++])) return false;
  }
  return check_first_word(r);
}

/* ---- options of the session ---- */

static bool read_number(const char *text, uint64_t *out) {
  char *end;
  if (text[0] < '0' || text[0] > '9') return false;
  unsigned long long number = strtoull(text, &end, 10);
  *out = number;
  char back[32];
  snprintf(back, sizeof back, "%llu", number);
  while (text[0] == '0' && text[1]) text++;
  return *end == 0 && strcmp(back, text) == 0; /* an overflow does not read back */
}

static bool read_size(const char *text, uint64_t *out) {
  char digits[32];
  size_t length = strspn(text, "0123456789");
  if (length == 0 || length >= sizeof digits) return false;
  memcpy(digits, text, length);
  digits[length] = 0;
  static const char units[] = "KMGT";
  const char *unit = text[length] ? strchr(units, text[length]) : NULL;
  if (text[length] && (!unit || text[length + 1])) return false;
  int shift = unit ? 10 * (int)(unit - units + 1) : 0;
  return read_number(digits, out) && *out <= UINT64_MAX >> shift && (*out <<= shift, *out > 0);
}

static bool option_number(reader *r, tn_option option, uint64_t least, uint64_t *out) {
  const char *text = r->command->value[option];
  if (!text) return true;
  if (read_number(text, out) && *out >= least) return true;
  bool long_number = strlen(text) >= 20 && strspn(text, "0123456789") == strlen(text);
  return refuse_value(r, option,
                      long_number ? "a whole number below 2^64"
                      : least > 0 ? "a whole number from 1 up"
                                  : "a whole number from 0 up");
}

static bool read_seconds(reader *r) {
  const char *text = r->command->value[TN_OPTION_MAX_TIME];
  if (!text) return true;
  char *end;
  double seconds = strtod(text, &end);
  r->command->session.max_seconds = seconds;
  return (end != text && *end == 0 && seconds > 0 && seconds < 1e12) ||
         refuse_value(r, TN_OPTION_MAX_TIME, "a number of seconds above 0");
}

static bool read_temperature(reader *r) {
  const char *text = r->command->value[TN_OPTION_TEMPERATURE];
  if (!text) return true;
  char *end;
  double temperature = strtod(text, &end);
  return (end != text && *end == 0 && temperature >= 0 && temperature <= 1e6) ||
         refuse_value(r, TN_OPTION_TEMPERATURE, "a number from 0 to 1000000");
}

static bool read_color(reader *r) {
  const char *when = r->command->value[TN_OPTION_COLOR];
  r->command->color = tn_terminal_has_color(2);
  r->command->color_out = tn_terminal_has_color(1);
  if (!when || strcmp(when, "auto") == 0) return true;
  r->command->color = r->command->color_out = strcmp(when, "always") == 0;
  return r->command->color || strcmp(when, "never") == 0 ||
         complain(r, "--color takes auto, always or never, not ", when, "");
}

static bool read_language(reader *r) {
  const char *name = r->command->value[TN_OPTION_LANG];
  if (!name) return true;
  r->command->language = tern_language_named(name);
  return r->command->language != TERN_LANG_AUTO ||
         complain(r, "there is no language ", name, "; there are ail, mind and ninth");
}

static bool read_sandbox(reader *r) {
  static const char *const modes[] = { "off", "auto", "require" };
  const char *mode = r->command->value[TN_OPTION_SANDBOX];
  bool runs = options[TN_OPTION_SANDBOX].verbs >> r->command->verb & 1;
  r->command->sandbox = runs ? TERN_SANDBOX_AUTO : TERN_SANDBOX_OFF;
  if (!mode) return true;
  for (int i = 0; i < 3; i++) {
    if (strcmp(mode, modes[i]) != 0) continue;
    r->command->sandbox = (tern_sandbox_mode)i;
    return true;
  }
  return complain(r, "--sandbox takes off, auto or require, not ", mode, "");
}

static bool read_session(reader *r) {
  tn_command *c = r->command;
  tern_options *o = &c->session;
  uint64_t threads = 0, unused = 0;
  o->has_seed = tn_given_option(c, TN_OPTION_SEED);
  if (!option_number(r, TN_OPTION_SEED, 0, &o->seed) || !option_number(r, TN_OPTION_THREADS, 1, &threads) ||
      !option_number(r, TN_OPTION_MAX_STEPS, 1, &o->max_steps) ||
      !option_number(r, TN_OPTION_STEPS, 1, &unused) || !option_number(r, TN_OPTION_LIMIT, 1, &unused) ||
      !option_number(r, TN_OPTION_CHECKPOINT_EVERY, 1, &unused) ||
      !option_number(r, TN_OPTION_SMOOTH, 1, &unused) || !option_number(r, TN_OPTION_TOKENS, 0, &unused) ||
      !option_number(r, TN_OPTION_TOP_K, 1, &unused)) {
    return false;
  }
  uint64_t ranks = 0;
  if (!option_number(r, TN_OPTION_RANKS, 1, &ranks)) return false;
  if (ranks > TN_LAUNCH_MOST)
    return complain(r, "--ranks takes at most 64, not ", c->value[TN_OPTION_RANKS], "; more need mpirun");
  if (threads == 0 && c->verb == TN_VERB_TRAIN)
    threads = (uint64_t)tn_launch_threads(tn_launch_origin_of(), (int)ranks);
  uint64_t port = 0;
  if (!option_number(r, TN_OPTION_PORT, 0, &port)) return false;
  if (port > 65535) return refuse_value(r, TN_OPTION_PORT, "at most 65535");
  if (threads > 1024) return refuse_value(r, TN_OPTION_THREADS, "at most 1024");
  o->threads = (int)threads;
  const char *memory = c->value[TN_OPTION_MAX_MEM];
  if (memory && !read_size(memory, &o->max_memory))
    return refuse_value(r, TN_OPTION_MAX_MEM, "a size such as 512M");
  o->without = c->value[TN_OPTION_WITHOUT];
  o->isa = getenv("TERN_ISA");
  if (o->isa && !*o->isa) o->isa = NULL;
  const char *cores = getenv("TERN_CORES");
  o->cores = cores ? atoi(cores) : 0;
  return read_seconds(r) && read_temperature(r) && read_color(r) && read_language(r) && read_sandbox(r);
}

/* ---- the verb ---- */

static void free_command(tn_command *c) {
  for (size_t i = 0; i < c->setting_count; i++) {
    if (c->settings[i].value) free((char *)(uintptr_t)c->settings[i].name);
  }
  free(c->settings);
  free(c->words);
}

/* A session without options, to say what is wrong with them. */
static int refuse(tn_command *command, const char *message, const char *hint) {
  tn_run run = { .command = command, .session = tern_session_new(NULL, NULL) };
  if (!run.session) {
    fprintf(stderr, "tern: %s\n", message);
    return TERN_USAGE;
  }
  command->silent = command->verb == TN_VERB_TRAIN && tn_launch_is_quiet();
  tern_status status = tn_cli_usage(&run, message, hint);
  tern_session_free(run.session);
  return status;
}

static int run_verb(tn_command *command) {
  const char *problem = NULL;
  command->silent = command->verb == TN_VERB_TRAIN && tn_launch_is_quiet();
  if (command->silent) command->session.max_seconds = 0; /* rank 0 has the clock of all */
  tn_run run = { .command = command, .session = tern_session_new(&command->session, &problem) };
  if (!run.session) {
    char message[256];
    bool isa = command->session.isa && strstr(problem, "instruction set");
    snprintf(message, sizeof message, "%s%s%s%s", isa ? "TERN_ISA=" : "", isa ? command->session.isa : "",
             isa ? ": " : "", problem);
    return refuse(command, message, isa ? "`tern doctor` lists the instruction sets of this machine" : "");
  }
  tern_sandbox(run.session, command->sandbox);
  tn_cli_interrupts(run.session);
  if (command->verb != TN_VERB_REPL) tern_start_clock(run.session); /* there each line has its time */
  tern_status status = tern_check_limits(run.session);
  if (status != TERN_OK) tn_cli_failed(&run, status);
  if (status == TERN_OK) status = tn_cli_allow(&run);
  if (status == TERN_OK) status = handlers[command->verb](&run);
  bool ran = options[TN_OPTION_SANDBOX].verbs >> command->verb & 1;
  if (ran && tn_given_option(command, TN_OPTION_VERBOSE) && !command->silent) tn_cli_say_sandbox(&run);
  tn_cli_interrupts(NULL);
  tern_session_free(run.session);
  return tn_cli_flush() ? (int)status : TERN_FAILED;
}

/* Parsing stops at the first error; options that decide how to show it may follow. */
static bool names_json(int count, char **words) {
  for (int i = 1; i < count; i++) {
    if (strcmp(words[i], "--json") == 0) return true;
  }
  return false;
}

/* Deep programs need a deep stack; unused pages cost nothing. If the system does not grant it, the
 * library works with the stack it has. */
static void ask_for_stack(void) {
#if defined(__linux__)
  struct rlimit limit;
  const rlim_t wanted = (rlim_t)64 << 20;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
  (void)setrlimit(RLIMIT_STACK, &limit);
#endif
}

int main(int count, char **words) {
  tn_command command = { .arguments = words };
  reader r = { .command = &command, .words = words, .count = count };
  int status;
  ask_for_stack();
  bool ok = read_words(&r);
  command.json = tn_given_option(&command, TN_OPTION_JSON) || (!ok && names_json(count, words));
  ok = ok && read_session(&r);
  if (!ok) {
    status = refuse(&command, r.message, r.hint);
  } else {
    if (tn_given_option(&command, TN_OPTION_HELP)) {
      command.word_count = 0; /* help is about the verb */
      if (r.verb_at > 0) add_word(&r, verbs[command.verb].name);
      command.verb = TN_VERB_HELP;
    } else if (tn_given_option(&command, TN_OPTION_VERSION)) {
      command.verb = TN_VERB_VERSION;
    }
    status = run_verb(&command);
  }
  free_command(&command);
  return status;
}
