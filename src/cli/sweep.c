/* cli/sweep.c: `tern train --sweep`: one training for every combination of values.
 *
 * Every run is a separate process with its own folder below --out, named after its values, and with
 * the options of this command except those that the sweep sets. So a run of a sweep is an ordinary
 * run: it can be verified, resumed and compared. Repeating the command keeps the runs that are done
 * and resumes the others.
 *
 * Errors in the program or in a value are found before the first run, in a process that enters the
 * sandbox and reports to this one; this one starts processes and stays outside until the end. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/jobs.h"
#include "track/track.h"

#define MOST_RUNS 1000
#define MOST_AXES 16
#define NAME_BYTES 200 /* of a folder's last part */

/* One --sweep: a name and its values. */
typedef struct {
  const char *name;
  char **values;
  size_t count;
} axis;

typedef struct {
  tn_run *run;
  axis axes[MOST_AXES];
  size_t axis_count;
  size_t count;        /* of runs */
  const char *out;
  const char **set_names;  /* of --set, then of the axes except the seed */
  size_t set_count, own_count; /* all of them, and those of --set */
  tn_sweep_run *runs;
  tn_sweep_state *states;
  tn_job *jobs;        /* of the runs that are not done */
  size_t *run_of;      /* the run of each job */
  size_t job_count, ended;
  int threads;
  bool shows;          /* progress, on a terminal */
  tn_job *mistaken;    /* a run that could not begin: the others could not either; NULL: none */
  bool interrupted;
} sweep;

/* ---- the values ---- */

static char *copy(const char *text, size_t length) {
  char *out = malloc(length + 1);
  if (out) memcpy(out, text, length), out[length] = 0;
  return out;
}

static bool add_value(axis *a, char *value) {
  char **more = value ? realloc(a->values, (a->count + 1) * sizeof *more) : NULL;
  if (!more) {
    free(value);
    return false;
  }
  a->values = more;
  a->values[a->count++] = value;
  return true;
}

/* "1..5": whole numbers, both ends included. */
static bool read_range(const char *text, size_t length, long long *from, long long *to) {
  char room[64], *end;
  if (length >= sizeof room) return false;
  memcpy(room, text, length);
  room[length] = 0;
  char *dots = strstr(room, "..");
  if (!dots || dots == room || !dots[2]) return false;
  *from = strtoll(room, &end, 10);
  if (end != dots) return false;
  *to = strtoll(dots + 2, &end, 10);
  return *end == 0;
}

static bool add_range(axis *a, long long from, long long to) {
  for (long long i = from; i <= to; i++) {
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", i);
    if (!add_value(a, copy(digits, (size_t)length))) return false;
  }
  return true;
}

static tern_status no_memory(sweep *s) { return tn_cli_usage(s->run, "out of memory", ""); }

static tern_status too_many(sweep *s) {
  char hint[64];
  snprintf(hint, sizeof hint, "at most %d runs", MOST_RUNS);
  return tn_cli_usage(s->run, "the sweep has too many runs", hint);
}

/* The length of a value: up to a comma outside of brackets and quotes. */
static size_t value_length(const char *text) {
  int depth = 0;
  bool quoted = false;
  size_t i = 0;
  for (; text[i] && (quoted || depth > 0 || text[i] != ','); i++) {
    if (text[i] == '"') quoted = !quoted;
    if (!quoted) depth += (text[i] == '[' || text[i] == '(') - (text[i] == ']' || text[i] == ')');
  }
  return i;
}

static tern_status read_values(sweep *s, axis *a, const char *text) {
  for (;;) {
    size_t length = value_length(text);
    long long from, to;
    bool range = read_range(text, length, &from, &to);
    if (length == 0 || (range && from > to))
      return tn_cli_usage_about(s->run, "--sweep ", a->name, " takes values with commas between, or a range",
                                "--sweep lr=0.1,0.03 or --sweep seed=1..5");
    if (range && (unsigned long long)to - (unsigned long long)from >= MOST_RUNS) return too_many(s);
    if (!(range ? add_range(a, from, to) : add_value(a, copy(text, length)))) return no_memory(s);
    if (a->count > MOST_RUNS) return too_many(s);
    if (!text[length]) return TERN_OK;
    text += length + 1;
  }
}

static tern_status check_values(sweep *s, const axis *a) {
  for (size_t i = 0; i < a->count; i++) {
    for (size_t k = 0; k < i; k++) {
      if (strcmp(a->values[i], a->values[k]) == 0)
        return tn_cli_usage_about(s->run, "--sweep has a value twice: ", a->values[i], "", NULL);
    }
    char *end;
    (void)strtoull(a->values[i], &end, 10);
    bool number = *end == 0 && a->values[i][0] != '-' && a->values[i][0] != '+';
    if (strcmp(a->name, "seed") == 0 && !number)
      return tn_cli_usage_about(s->run, "a seed is a whole number, not ", a->values[i], "", NULL);
  }
  return TERN_OK;
}

static bool is_set(const tn_command *command, tn_option option, const char *name, size_t before) {
  for (size_t i = 0; i < command->setting_count && i < before; i++) {
    if (command->settings[i].option == option && strcmp(command->settings[i].name, name) == 0) return true;
  }
  return false;
}

static tern_status read_axis(sweep *s, size_t setting) {
  const tn_command *command = s->run->command;
  const tn_setting *given = &command->settings[setting];
  if (s->axis_count == MOST_AXES) return too_many(s);
  if (is_set(command, TN_OPTION_SWEEP, given->name, setting))
    return tn_cli_usage_about(s->run, "--sweep ", given->name, " is given twice",
                              "a name has one list of values");
  if (is_set(command, TN_OPTION_SET, given->name, command->setting_count) ||
      (strcmp(given->name, "seed") == 0 && tn_given_option(command, TN_OPTION_SEED)))
    return tn_cli_usage_about(s->run, "", given->name, " has one value and is swept over, too", NULL);
  axis *a = &s->axes[s->axis_count++];
  a->name = given->name;
  tern_status status = read_values(s, a, given->value);
  if (status == TERN_OK) status = check_values(s, a);
  if (status != TERN_OK) return status;
  s->count = s->axis_count == 1 ? a->count : s->count * a->count;
  return s->count > MOST_RUNS ? too_many(s) : TERN_OK;
}

/* ---- the runs ---- */

static bool is_seed(const axis *a) { return strcmp(a->name, "seed") == 0; }

/* The last axis changes fastest. */
static const char *value_of(const sweep *s, size_t run, size_t axis_index) {
  for (size_t i = s->axis_count; i-- > axis_index + 1;) run /= s->axes[i].count;
  return s->axes[axis_index].values[run % s->axes[axis_index].count];
}

/* A name for a folder: what is not a letter, a digit or one of "=,.+-_" becomes "_". */
static size_t add_name(char *out, size_t at, const char *text) {
  for (; *text && at + 1 < NAME_BYTES; text++) {
    bool plain = (*text >= '0' && *text <= '9') || ((*text | 0x20) >= 'a' && (*text | 0x20) <= 'z') ||
                 strchr("=,.+-_", *text);
    out[at++] = plain ? *text : '_';
  }
  out[at] = 0;
  return at;
}

static char *folder_of(const sweep *s, size_t run) {
  char name[NAME_BYTES] = "";
  size_t at = 0;
  for (size_t i = 0; i < s->axis_count; i++) {
    at = add_name(name, at, i > 0 ? "," : "");
    at = add_name(name, at, s->axes[i].name);
    at = add_name(name, at, "=");
    at = add_name(name, at, value_of(s, run, i));
  }
  size_t length = strlen(s->out), bytes = length + at + 2;
  char *path = malloc(bytes);
  bool slash = length > 0 && s->out[length - 1] == '/';
  if (path) snprintf(path, bytes, "%s%s%s", s->out, slash ? "" : "/", name);
  return path;
}

static bool make_names(sweep *s) {
  const tn_command *command = s->run->command;
  s->set_names = calloc(command->setting_count + s->axis_count + 1, sizeof *s->set_names);
  if (!s->set_names) return false;
  for (size_t i = 0; i < command->setting_count; i++) {
    const tn_setting *given = &command->settings[i];
    if (given->option == TN_OPTION_SET) s->set_names[s->set_count++] = given->name;
  }
  s->own_count = s->set_count;
  for (size_t i = 0; i < s->axis_count; i++) {
    if (!is_seed(&s->axes[i])) s->set_names[s->set_count++] = s->axes[i].name;
  }
  return true;
}

static const char *own_value(const tn_command *command, size_t index) {
  for (size_t i = 0; i < command->setting_count; i++) {
    if (command->settings[i].option == TN_OPTION_SET && index-- == 0) return command->settings[i].value;
  }
  return "";
}

/* values: those of --set and the axes without the seed, then those of all axes; names: of all axes. */
static bool make_run(sweep *s, size_t index, const char **names) {
  const tn_command *command = s->run->command;
  tn_sweep_run *run = &s->runs[index];
  const char **values = calloc(s->set_count + s->axis_count + 1, sizeof *values);
  const char *seed = command->value[TN_OPTION_SEED], *steps = command->value[TN_OPTION_STEPS];
  size_t count = 0;
  if (!values) return false;
  for (size_t i = 0; i < s->own_count; i++) values[count++] = own_value(command, i);
  for (size_t i = 0; i < s->axis_count; i++) {
    const char *value = value_of(s, index, i);
    if (is_seed(&s->axes[i])) seed = value;
    else values[count++] = value;
    values[s->set_count + i] = value;
  }
  *run = (tn_sweep_run){ .folder = folder_of(s, index),
                         .names = s->set_names,
                         .values = values,
                         .set_count = s->set_count,
                         .shown_names = names,
                         .shown_values = values + s->set_count,
                         .shown_count = s->axis_count,
                         .seed = seed ? strtoull(seed, NULL, 10) : 42,
                         .steps = steps ? (int64_t)strtoull(steps, NULL, 10) : 0 };
  return run->folder != NULL;
}

static tern_status check_folders(sweep *s) {
  for (size_t i = 0; i < s->count; i++) {
    for (size_t k = 0; k < i; k++) {
      if (strcmp(s->runs[i].folder, s->runs[k].folder) == 0)
        return tn_cli_usage_about(s->run, "two runs would share the folder ", s->runs[i].folder, "",
                                  "values that differ in letters, digits or . + - have folders of their own");
    }
  }
  return TERN_OK;
}

static tern_status make_runs(sweep *s) {
  s->runs = calloc(s->count, sizeof *s->runs);
  s->states = calloc(s->count, sizeof *s->states);
  s->jobs = calloc(s->count, sizeof *s->jobs);
  s->run_of = calloc(s->count, sizeof *s->run_of);
  const char **names = calloc(s->axis_count, sizeof *names);
  bool ok = s->runs && s->states && s->jobs && s->run_of && names && make_names(s);
  for (size_t i = 0; ok && i < s->axis_count; i++) names[i] = s->axes[i].name;
  for (size_t i = 0; ok && i < s->count; i++) ok = make_run(s, i, names);
  if (!ok) {
    free(names);
    return no_memory(s);
  }
  return check_folders(s);
}

/* ---- looking at what is there, in a process of its own ---- */

#if defined(__linux__)
#include <errno.h>
#include <sys/wait.h>

static tern_status check_value(tern_program *program, const axis *a, const char *value) {
  tern_status status = is_seed(a) ? TERN_OK : tern_set_field(program, a->name, value);
  return status == TERN_OK ? tern_check(program) : status;
}

/* Each value once, beside the first values of the others. */
static tern_status check_program(sweep *s, tern_program *program) {
  tern_status status = TERN_OK;
  for (size_t i = 0; i < s->own_count && status == TERN_OK; i++)
    status = tern_set_field(program, s->set_names[i], s->runs[0].values[i]);
  for (size_t i = 0; i < s->axis_count && status == TERN_OK; i++)
    status = is_seed(&s->axes[i]) ? TERN_OK : tern_set_field(program, s->axes[i].name, s->axes[i].values[0]);
  for (size_t i = 0; i < s->axis_count && status == TERN_OK; i++) {
    for (size_t k = 0; k < s->axes[i].count && status == TERN_OK; k++)
      status = check_value(program, &s->axes[i], s->axes[i].values[k]);
    if (status == TERN_OK) status = check_value(program, &s->axes[i], s->axes[i].values[0]);
  }
  return status;
}

/* Checks the program and writes the state of every run to `output`. */
static tern_status inspect(sweep *s, int output) {
  tn_run *run = s->run;
  tern_status status;
  size_t length;
  if (tern_sandbox_path(run->session, s->out, TERN_SANDBOX_READ) != TERN_OK)
    return tn_cli_failed(run, TERN_FAILED);
  const char *file = run->command->words[0];
  tern_program *program = tern_load_file(run->session, run->command->language, file, &status);
  if (!program) return tn_cli_failed(run, status);
  status = check_program(s, program);
  if (status != TERN_OK) return tn_cli_failed(run, status);
  const char *source = tern_source(program, &length);
  for (size_t i = 0; i < s->count; i++) {
    char state = (char)tn_track_sweep_state(run->session, &s->runs[i], source, length);
    if (write(output, &state, 1) != 1) return TERN_FAILED;
  }
  return TERN_OK;
}

static bool read_states(sweep *s, int input) {
  for (size_t i = 0; i < s->count; i++) {
    char state;
    ssize_t got;
    while ((got = read(input, &state, 1)) < 0 && errno == EINTR) continue;
    if (got != 1) return false;
    s->states[i] = (tn_sweep_state)state;
  }
  return true;
}

static tern_status look(sweep *s) {
  int ends[2], ended = 0;
  (void)fflush(stdout);
  if (pipe(ends) != 0) return tn_cli_cannot(s->run, "start a process for", s->run->command->words[0]);
  pid_t child = fork();
  if (child == 0) {
    (void)close(ends[0]);
    tern_status status = inspect(s, ends[1]);
    _exit(tn_cli_flush() ? (int)status : TERN_FAILED);
  }
  (void)close(ends[1]);
  bool ok = child > 0 && read_states(s, ends[0]);
  (void)close(ends[0]);
  if (child < 0) return tn_cli_cannot(s->run, "start a process for", s->run->command->words[0]);
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  int status = WIFEXITED(ended) ? WEXITSTATUS(ended) : TERN_FAILED;
  return status == 0 && !ok ? TERN_FAILED : (tern_status)status;
}
#else
static tern_status look(sweep *s) { return tn_cli_usage(s->run, "a sweep needs Linux", ""); }
#endif

/* ---- the commands ---- */

typedef struct {
  char **words;
  size_t count;
  bool failed;
} words;

/* "--NAME=VALUE", or "--NAME" without one; `inner`: "--NAME=INNER=VALUE". */
static void add_option(words *w, const char *name, const char *inner, const char *value) {
  size_t bytes = strlen(name) + (inner ? strlen(inner) + 1 : 0) + (value ? strlen(value) + 1 : 0) + 3;
  char *word = malloc(bytes);
  char **more = realloc(w->words, (w->count + 2) * sizeof *more);
  if (more) w->words = more;
  if (!word || !more) {
    free(word);
    w->failed = true;
    return;
  }
  snprintf(word, bytes, "--%s%s%s%s%s", name, inner ? "=" : "", inner ? inner : "", value ? "=" : "",
           value ? value : "");
  w->words[w->count++] = word;
  w->words[w->count] = NULL;
}

static void add_word(words *w, const char *text) {
  add_option(w, text, NULL, NULL);
  if (!w->failed) memmove(w->words[w->count - 1], w->words[w->count - 1] + 2, strlen(text) + 1);
}

/* What the sweep itself decides, or shows. */
static bool is_own(tn_option option) {
  static const tn_option own[] = { TN_OPTION_SWEEP, TN_OPTION_OUT,   TN_OPTION_RESUME, TN_OPTION_SEED,
                                   TN_OPTION_JSON,  TN_OPTION_QUIET, TN_OPTION_THREADS, TN_OPTION_COLOR,
                                   TN_OPTION_LOG,   TN_OPTION_PLOT };
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    if (own[i] == option) return true;
  }
  return false;
}

static bool is_listed(const tn_command *command, tn_option option) {
  for (size_t i = 0; i < command->setting_count; i++) {
    if (command->settings[i].option == option) return true;
  }
  return false;
}

static void add_given(words *w, const tn_command *command) {
  for (int i = 0; i < TN_OPTION_COUNT; i++) {
    const tn_option_info *info = tn_option_info_of((tn_option)i);
    if (!command->value[i] || is_own((tn_option)i) || is_listed(command, (tn_option)i)) continue;
    add_option(w, info->name, NULL, info->argument ? command->value[i] : NULL);
  }
  for (size_t i = 0; i < command->setting_count; i++) {
    const tn_setting *given = &command->settings[i];
    const char *name = tn_option_info_of(given->option)->name;
    if (is_own(given->option) || given->option == TN_OPTION_SET) continue;
    if (given->value) add_option(w, name, given->name, given->value);
    else add_option(w, name, NULL, given->name);
  }
}

static char **make_words(const sweep *s, size_t index) {
  const tn_sweep_run *run = &s->runs[index];
  char number[32];
  words w = { 0 };
  add_word(&w, "tern");
  add_word(&w, "train");
  add_given(&w, s->run->command);
  for (size_t i = 0; i < run->set_count; i++) add_option(&w, "set", run->names[i], run->values[i]);
  snprintf(number, sizeof number, "%llu", (unsigned long long)run->seed);
  add_option(&w, "seed", NULL, number);
  snprintf(number, sizeof number, "%d", s->threads);
  add_option(&w, "threads", NULL, number);
  add_option(&w, s->states[index] == TN_SWEEP_NEW ? "out" : "resume", NULL, run->folder);
  add_option(&w, "color", NULL, "never");
  add_option(&w, "quiet", NULL, NULL);
  add_option(&w, "", NULL, NULL); /* "--": a file may be called anything */
  add_word(&w, s->run->command->words[0]);
  if (!w.failed) return w.words;
  for (size_t i = 0; i < w.count; i++) free(w.words[i]);
  free(w.words);
  return NULL;
}

static tern_status make_jobs(sweep *s) {
  for (size_t i = 0; i < s->count; i++) {
    if (s->states[i] == TN_SWEEP_DONE) continue;
    s->jobs[s->job_count].words = make_words(s, i);
    s->run_of[s->job_count] = i;
    if (!s->jobs[s->job_count++].words) return no_memory(s);
  }
  return TERN_OK;
}

/* ---- running ---- */

static void say_progress(const sweep *s) {
  if (s->shows) fprintf(stderr, "\r\033[K%zu of %zu runs done", s->count - s->job_count + s->ended, s->count);
}

static bool asks_to_stop(void *context) {
  sweep *s = context;
  say_progress(s);
  s->interrupted = s->interrupted || tn_cli_take_signal() != TN_SIGNAL_NONE;
  return s->interrupted;
}

/* The code of "error[CODE]: ..." */
static const char *code_of(char *said) {
  char *begin = said ? strstr(said, "error[") : NULL, *end = begin ? strchr(begin, ']') : NULL;
  if (!end) return "failed";
  size_t length = (size_t)(end - begin) - 6;
  memmove(said, begin + 6, length);
  said[length] = 0;
  return said;
}

static bool has_begun(const sweep *s, size_t run) {
  char path[4096];
  int length = snprintf(path, sizeof path, "%s/checkpoint", s->runs[run].folder);
  return length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0;
}

/* A run that ends before it has begun has found an error that the others would find too. A run that
 * fails later, for example because a loss became NaN, is a result. */
static bool note_end(void *context, size_t index) {
  sweep *s = context;
  tn_job *job = &s->jobs[index];
  size_t run = s->run_of[index];
  s->ended++;
  if (job->status == 0 || s->interrupted) return true;
  bool resumed = s->states[run] != TN_SWEEP_NEW && job->said && strstr(job->said, "E_CHECKPOINT_MISMATCH");
  if (resumed || !has_begun(s, run)) s->mistaken = job;
  if (s->mistaken) return false;
  s->runs[run].failure = job->said ? code_of(job->said) : "failed";
  return true;
}

/* As many at once as there are cores for; a single run gets them all. */
static int share_cores(sweep *s) {
  const tn_command *command = s->run->command;
  const char *given = command->value[TN_OPTION_THREADS], *ranks = command->value[TN_OPTION_RANKS];
  int cores = tern_threads(NULL), each = ranks ? (int)strtoul(ranks, NULL, 10) : 1;
  size_t left = s->job_count > 0 ? s->job_count : 1;
  if (each < 1) each = 1;
  s->threads = given ? (int)strtoul(given, NULL, 10) : cores / (int)(left * (size_t)each);
  if (s->threads < 1) s->threads = 1;
  int most = cores / (s->threads * each);
  return most > 0 ? most : 1;
}

static tern_status show(sweep *s, bool whole) {
  tn_run *run = s->run;
  bool any = false;
  for (size_t i = 0; i < s->count; i++) any = any || !s->runs[i].failure;
  if (tern_sandbox_path(run->session, s->out, TERN_SANDBOX_READ) != TERN_OK)
    return tn_cli_failed(run, TERN_FAILED);
  const char *text = tn_track_sweep_rank(run->session, s->runs, s->count, whole, run->command->json);
  if (!text) return tn_cli_failed(run, tern_failure_status(run->session));
  fputs(text, stdout);
  if (run->command->json) putchar('\n');
  if (!whole) fputs("stopped: the same command resumes what is not done\n", stderr);
  return whole && any ? TERN_OK : TERN_FAILED;
}

static bool goes_on(void *context) { return context == NULL; }
static bool is_over(void *context, size_t job) { return context == NULL && job > 0; }

/* What the run has said; as JSON it says it again. */
static tern_status show_mistake(sweep *s) {
  tn_job *job = s->mistaken;
  tern_status status = job->status > 0 ? (tern_status)job->status : TERN_FAILED;
  if (!s->run->command->json) {
    fputs(job->said && job->said[0] ? job->said : "a run of the sweep could not be started\n", stderr);
    return status;
  }
  for (size_t i = 0; job->words[i]; i++) {
    if (strcmp(job->words[i], "--quiet") == 0) memcpy(job->words[i], "--json", sizeof "--json");
  }
  tn_job again = { .words = job->words, .shows = true };
  (void)fflush(stdout);
  (void)tn_jobs_run(&again, 1, 1, &(tn_jobs_watch){ s, goes_on, is_over });
  tn_jobs_free(&again, 1);
  return status;
}

static tern_status run_all(sweep *s) {
  int most = share_cores(s);
  tern_status status = make_jobs(s);
  if (status != TERN_OK) return status;
  tn_jobs_watch watch = { s, asks_to_stop, note_end };
  bool whole = tn_jobs_run(s->jobs, s->job_count, most, &watch);
  if (s->shows) fputs("\r\033[K", stderr);
  return s->mistaken ? show_mistake(s) : show(s, whole);
}

static void free_all(sweep *s) {
  for (size_t i = 0; i < s->axis_count; i++) {
    for (size_t k = 0; k < s->axes[i].count; k++) free(s->axes[i].values[k]);
    free(s->axes[i].values);
  }
  if (s->runs && s->count > 0) free((void *)(uintptr_t)s->runs[0].shown_names);
  for (size_t i = 0; s->runs && i < s->count; i++) {
    free((void *)(uintptr_t)s->runs[i].folder);
    free((void *)(uintptr_t)s->runs[i].values);
  }
  for (size_t i = 0; i < s->job_count; i++) {
    for (size_t k = 0; s->jobs[i].words && s->jobs[i].words[k]; k++) free(s->jobs[i].words[k]);
    free(s->jobs[i].words);
  }
  if (s->jobs) tn_jobs_free(s->jobs, s->job_count);
  free(s->jobs), free(s->runs), free(s->states), free(s->run_of), free(s->set_names);
}

static tern_status begin(sweep *s) {
  tn_run *run = s->run;
  const tn_command *command = run->command;
  tern_status status = TERN_OK;
  if (!tn_jobs_possible()) return tn_cli_usage(run, "a sweep needs Linux", "");
  if (!command->value[TN_OPTION_OUT])
    return tn_cli_usage(run, "a sweep needs a folder for its runs", "name one with --out");
  if (strcmp(command->words[0], "-") == 0)
    return tn_cli_usage(run, "every run reads the program, so it cannot come from standard input",
                        "name a file");
  static const tn_option single[] = { TN_OPTION_RESUME, TN_OPTION_LOG, TN_OPTION_PLOT };
  for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
    if (tn_given_option(command, single[i]))
      return tn_cli_usage_about(run, "--", tn_option_info_of(single[i])->name,
                                " is for one run, not for a sweep", "the same command with --out resumes it");
  }
  for (size_t i = 0; i < command->setting_count && status == TERN_OK; i++) {
    if (command->settings[i].option == TN_OPTION_SWEEP) status = read_axis(s, i);
  }
  return status;
}

tern_status tn_cli_sweep(tn_run *run) {
  sweep s = { .run = run, .out = run->command->value[TN_OPTION_OUT] };
  s.shows = isatty(2) && !run->command->json && !tn_given_option(run->command, TN_OPTION_QUIET);
  tern_status status = begin(&s);
  if (status == TERN_OK) status = make_runs(&s);
  if (status == TERN_OK) status = look(&s);
  if (status == TERN_OK) status = run_all(&s);
  free_all(&s);
  return status;
}
