/* cli/progress.c: shows the progress of a training: the progress line, evaluations, log and curve. */
#include "cli/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal.h"

#define REDRAW_SECONDS 0.1
#define LINE_BYTES     512
#define BAR_LEAST      10 /* cells; where there is room for fewer, none */
#define BAR_MOST       30
#define MARGIN         3  /* columns: the terminal writes ^C after the line, and must not begin another */
#define CLEAR          "\r\033[K"

static double now(void) {
  struct timespec time;
  return clock_gettime(CLOCK_MONOTONIC, &time) == 0 ? (double)time.tv_sec + (double)time.tv_nsec * 1e-9 : 0;
}

/* ---- numbers for people ---- */

const char *tn_progress_grouped(int64_t number, char out[TN_GROUPED_BYTES]) {
  char digits[TN_GROUPED_BYTES];
  int length = snprintf(digits, sizeof digits, "%lld", (long long)number), at = 0;
  for (int i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) out[at++] = ',';
    out[at++] = digits[i];
  }
  out[at] = 0;
  return out;
}

/* 2:05, or 1:02:05 from an hour on. */
static const char *clock_of(double seconds, char *out, size_t size) {
  long whole = seconds < 0 ? 0 : seconds > 3.5e8 ? 350000000L : (long)(seconds + 0.5);
  if (whole >= 3600)
    snprintf(out, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  else
    snprintf(out, size, "%ld:%02ld", whole / 60, whole % 60);
  return out;
}

const char *tn_progress_duration(double seconds, char *out, size_t size) {
  if (seconds >= 60) return clock_of(seconds, out, size);
  snprintf(out, size, "%.1f s", seconds);
  return out;
}

/* ---- the line ---- */

static int width_of(const char *text) {
  int width = 0;
  for (; *text; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}

/* Cut where the terminal ends, between characters. */
static void cut(char *line, int columns) {
  int width = 0;
  for (char *at = line; *at; at++) {
    bool begins = ((unsigned char)*at & 0xc0) != 0x80;
    if (begins && width == columns) {
      *at = 0;
      return;
    }
    width += begins;
  }
}

/* ", epoch 3.2 of 10"; nothing without data. */
static void add_epochs(const tern_step *step, char *out, size_t size) {
  *out = 0;
  if (step->epochs > 0) snprintf(out, size, "  epoch %.1f/%.1f", step->epoch, step->epochs);
}

/* As many cells as are left beside `used` columns of a terminal, and a blank; none if those are few. */
static void add_bar(const tn_progress *p, int used, char *out, size_t size) {
  int cells = tn_terminal_columns(2) - MARGIN - 1 - used;
  if (cells > BAR_MOST) cells = BAR_MOST;
  *out = 0;
  if (cells < BAR_LEAST) return;
  int full = (int)((double)(p->last.step + 1) / (double)p->last.steps * cells + 0.5);
  size_t at = 0;
  for (int i = 0; i < cells && at + 8 < size; i++) {
    const char *cell = i < full ? (p->unicode ? "\u2501" : "#") : (p->unicode ? "\u2500" : "-");
    at += (size_t)snprintf(out + at, size - at, "%s", cell);
  }
  snprintf(out + at, size - at, " ");
}

static void draw(tn_progress *p, double time) {
  char facts[LINE_BYTES], bar[4 * BAR_MOST + 16], line[LINE_BYTES + sizeof bar];
  char spark[TN_SPARK_BYTES], left[32], epochs[64], step[TN_GROUPED_BYTES], steps[TN_GROUPED_BYTES];
  double done = (double)(p->last.step - p->first + 1), seconds = time - p->started;
  double rate = seconds > 0 ? done / seconds : 0;
  double rest = (double)(p->last.steps - p->last.step - 1);
  tn_curve_spark(&p->curve, p->unicode, spark);
  add_epochs(&p->last, epochs, sizeof epochs);
  snprintf(facts, sizeof facts, "step %s/%s%s  %.*f steps/s  %s left  loss %.6g  %s",
           tn_progress_grouped(p->last.step + 1, step), tn_progress_grouped(p->last.steps, steps), epochs,
           rate < 10 ? 2 : 0, rate, clock_of(rate > 0 ? rest / rate : 0, left, sizeof left),
           p->last.loss, spark);
  add_bar(p, width_of(facts), bar, sizeof bar);
  snprintf(line, sizeof line, "%s%s", bar, facts);
  cut(line, tn_terminal_columns(2) - MARGIN);
  fprintf(stderr, CLEAR "%s", line);
  fflush(stderr);
  p->drawn = true;
  p->last_drawn = time;
}

static void wipe(tn_progress *p) {
  if (!p->drawn) return;
  fputs(CLEAR, stderr);
  fflush(stderr);
  p->drawn = false;
}

/* ---- evaluations ---- */

/* The step as in the history of the run, counted from 0. */
static void print_metrics(const char *split, const tern_step *step, const tern_metric *metrics,
                          size_t count) {
  char number[TN_GROUPED_BYTES], most[TN_GROUPED_BYTES];
  int width = (int)strlen(tn_progress_grouped(step->steps - 1, most));
  printf("%s  step %*s", split, width, tn_progress_grouped(step->step, number));
  for (size_t i = 0; i < count; i++)
    printf("  %s %.*f", metrics[i].name, strcmp(metrics[i].name, "loss") == 0 ? 6 : 4, metrics[i].value);
  putchar('\n');
}

/* What the contract's log says in lines of its own, in one. */
static void show_evaluation(tn_progress *p, const tern_step *step) {
  if (!step->evaluated && step->test_metric_count == 0) return;
  wipe(p);
  if (step->evaluated) print_metrics("eval", step, step->metrics, step->metric_count);
  if (step->test_metric_count > 0) print_metrics("test", step, step->test_metrics, step->test_metric_count);
  fflush(stdout);
}

/* ---- the log ---- */

static void put_number(const char *before, double number) {
  if (isnan(number))
    printf("%s\"NaN\"", before);
  else if (isinf(number))
    printf("%s\"%sInfinity\"", before, number < 0 ? "-" : "");
  else
    printf("%s%.9g", before, number);
}

static void log_metrics(const char *before, const tern_metric *metrics, size_t count) {
  fputs(before, stdout);
  for (size_t i = 0; i < count; i++) {
    printf("%s\"%s\"", i > 0 ? "," : "", metrics[i].name);
    put_number(":", metrics[i].value);
  }
  putchar('}');
}

static void log_step(const tn_progress *p, const tern_step *step) {
  printf("{\"step\":%lld,\"steps\":%lld", (long long)step->step, (long long)step->steps);
  put_number(",\"loss\":", step->loss);
  if (step->evaluated) log_metrics(",\"eval\":{", step->metrics, step->metric_count);
  if (step->test_metric_count > 0)
    log_metrics(",\"test\":{", step->test_metrics, step->test_metric_count);
  printf(",\"seconds\":%.3f}\n", now() - p->started);
  fflush(stdout); /* readers want it now */
}

/* ---- following ---- */

static void on_step(void *context, const tern_step *step) {
  tn_progress *p = context;
  double time = now();
  if (p->first < 0) p->first = step->step;
  p->last = *step;
  tn_curve_add(&p->curve, step->loss);
  if (p->to_json) log_step(p, step);
  if (p->screen) show_evaluation(p, step);
  bool wiped = p->line && !p->drawn;
  bool last = step->step + 1 == step->steps;
  if (p->line && (wiped || last || time - p->last_drawn >= REDRAW_SECONDS)) draw(p, time);
}

static void on_end(void *context, const tern_run_end *end) {
  tn_progress *p = context;
  p->ended = true;
  p->steps = end->step;
  p->seconds = now() - p->started;
  p->data_format = end->data_format; /* static */
}

static void on_print(void *context, const char *line, size_t length) {
  tn_progress *p = context;
  if (p->to_json || p->silent) return;
  wipe(p);
  tn_cli_print(NULL, line, length);
  if (p->line) fflush(stdout);
}

static bool read_log(tn_progress *p, tn_run *run, tern_status *status) {
  const tn_command *command = run->command;
  const char *form = command->value[TN_OPTION_LOG];
  if (!form || strcmp(form, "text") == 0) return true;
  p->screen = false;
  if (strcmp(form, "steps") == 0) return true;
  p->to_json = strcmp(form, "json") == 0;
  if (p->to_json && !command->json) return true;
  *status = p->to_json ? tn_cli_usage(run, "--json and --log json both use standard output",
                                      "--log json ends with the object that --json prints")
                       : tn_cli_usage_about(run, "--log takes text, steps or json, not ", form, "", NULL);
  return false;
}

bool tn_progress_begin(tn_progress *progress, tn_run *run, tern_status *status) {
  const tn_command *command = run->command;
  bool silent = command->silent;
  bool watched = !silent && !command->json && !tn_given_option(command, TN_OPTION_QUIET);
  *progress = (tn_progress){ .silent = silent,
                             .line = watched && tn_terminal_is(2),
                             .screen = watched && tn_terminal_is(2) && tn_terminal_is(1),
                             .plots = !silent && tn_given_option(command, TN_OPTION_PLOT) && !command->json,
                             .unicode = tn_terminal_has_unicode(),
                             .first = -1,
                             .started = now(),
                             .curve = { .stride = 1 } };
  if (!read_log(progress, run, status)) return false;
  if (!command->json || silent) tern_on_print(run->session, on_print, progress);
  return true;
}

tern_follower tn_progress_follower(tn_progress *progress) {
  bool looks = progress->line || (progress->to_json && !progress->silent) || progress->plots;
  return (tern_follower){ .context = progress, .step = looks ? on_step : NULL, .end = on_end };
}

void tn_progress_end(tn_progress *progress) {
  wipe(progress);
  if (progress->plots && !progress->to_json)
    tn_curve_print(&progress->curve, "loss", progress->first, progress->last.step);
}
