/* cli/progress.c: the line, the log and the curve. */
#include "cli/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if !defined(__wasi__)
#include <sys/ioctl.h>
#endif

#define REDRAW_SECONDS 0.1
#define SPARK_CELLS    16
#define LINE_BYTES     512
#define CLEAR          "\r\033[K"

static double now(void) {
  struct timespec time;
  return clock_gettime(CLOCK_MONOTONIC, &time) == 0 ? (double)time.tv_sec + (double)time.tv_nsec * 1e-9 : 0;
}

static int columns_of(int descriptor) {
#ifdef TIOCGWINSZ
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
#else
  (void)descriptor;
#endif
  const char *columns = getenv("COLUMNS");
  int count = columns ? atoi(columns) : 0;
  return count > 0 && count < 10000 ? count : 80;
}

/* Whether the terminal shows more than ASCII, as the user's locale says. */
static bool has_unicode(void) {
  static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
  for (int i = 0; i < 3; i++) {
    const char *value = getenv(names[i]);
    if (!value || !*value) continue;
    return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "utf-8") || strstr(value, "UTF8");
  }
  return false;
}

/* ---- the curve ---- */

static void halve(tn_curve *curve) {
  for (size_t i = 0; i < TN_CURVE_POINTS / 2; i++)
    curve->loss[i] = (curve->loss[2 * i] + curve->loss[2 * i + 1]) / 2;
  curve->count = TN_CURVE_POINTS / 2;
  curve->stride *= 2;
}

static void add_loss(tn_curve *curve, double loss) {
  curve->sum += loss;
  if (++curve->pending < curve->stride) return;
  if (curve->count == TN_CURVE_POINTS) halve(curve);
  curve->loss[curve->count++] = curve->sum / (double)curve->pending;
  curve->sum = 0;
  curve->pending = 0;
}

/* The mean of the points that fall into cell `index` of `cells`. */
static double cell_of(const tn_curve *curve, size_t index, size_t cells) {
  size_t from = index * curve->count / cells, to = (index + 1) * curve->count / cells;
  double sum = 0;
  if (to <= from) to = from + 1;
  for (size_t i = from; i < to; i++) sum += curve->loss[i];
  return sum / (double)(to - from);
}

typedef struct {
  double low, high;
  bool logarithmic; /* the range is so wide that most of it would be a flat line */
} scale;

static scale scale_of(const tn_curve *curve, size_t cells) {
  scale s = { INFINITY, -INFINITY, false };
  for (size_t i = 0; i < cells; i++) {
    double value = cell_of(curve, i, cells);
    if (!isfinite(value)) continue;
    if (value < s.low) s.low = value;
    if (value > s.high) s.high = value;
  }
  s.logarithmic = s.low > 0 && s.high / s.low > 50;
  return s;
}

/* Where a value lies between the lowest, 0, and the highest, 1. */
static double height_of(const scale *s, double value) {
  if (!(s->high > s->low) || !isfinite(value)) return 0;
  if (s->logarithmic) return log(value / s->low) / log(s->high / s->low);
  return (value - s->low) / (s->high - s->low);
}

/* ---- the line ---- */

/* Eight heights; a bar of the lowest is drawn too. */
static void add_spark(const tn_progress *p, char *out, size_t size) {
  static const char ascii[] = "_.-~=+*#";
  size_t cells = p->curve.count < SPARK_CELLS ? p->curve.count : SPARK_CELLS, at = 0;
  scale s = scale_of(&p->curve, cells);
  for (size_t i = 0; i < cells && at + 4 < size; i++) {
    int level = (int)(height_of(&s, cell_of(&p->curve, i, cells)) * 7.999);
    if (p->unicode) {
      memcpy(out + at, "\xe2\x96\x81", 3);
      out[at + 2] = (char)(0x81 + level);
      at += 3;
    } else {
      out[at++] = ascii[level];
    }
  }
  out[at] = 0;
}

static void add_time_left(double seconds, char *out, size_t size) {
  long whole = seconds < 0 ? 0 : seconds > 3.5e8 ? 350000000L : (long)(seconds + 0.5);
  if (whole >= 3600)
    snprintf(out, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  else
    snprintf(out, size, "%ld:%02ld", whole / 60, whole % 60);
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

static void draw(tn_progress *p, double time) {
  char line[LINE_BYTES], spark[4 * SPARK_CELLS + 8], left[32];
  double done = (double)(p->last.step - p->first + 1), seconds = time - p->started;
  double rate = seconds > 0 ? done / seconds : 0;
  double rest = (double)(p->last.steps - p->last.step - 1);
  add_spark(p, spark, sizeof spark);
  add_time_left(rate > 0 ? rest / rate : 0, left, sizeof left);
  snprintf(line, sizeof line, "step %lld/%lld  %.*f steps/s  %s left  loss %.6g  %s",
           (long long)p->last.step + 1, (long long)p->last.steps, rate < 10 ? 2 : 0, rate, left, p->last.loss,
           spark);
  cut(line, columns_of(2) - 1);
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
  fflush(stdout); /* whoever follows wants it now */
}

/* ---- following ---- */

static void on_step(void *context, const tern_step *step) {
  tn_progress *p = context;
  double time = now();
  if (p->first < 0) p->first = step->step;
  p->last = *step;
  add_loss(&p->curve, step->loss);
  if (p->to_json) log_step(p, step);
  if (p->line && (time - p->last_drawn >= REDRAW_SECONDS || step->step + 1 == step->steps)) draw(p, time);
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
  p->to_json = strcmp(form, "json") == 0;
  if (p->to_json && !command->json) return true;
  *status = p->to_json ? tn_cli_usage(run, "--json and --log json both want standard output",
                                      "--log json ends with the object that --json prints")
                       : tn_cli_usage_about(run, "--log takes text or json, not ", form, "", NULL);
  return false;
}

bool tn_progress_begin(tn_progress *progress, tn_run *run, tern_status *status) {
  const tn_command *command = run->command;
  const char *terminal = getenv("TERM");
  bool plain = !isatty(2) || (terminal && strcmp(terminal, "dumb") == 0);
  bool silent = command->silent;
  *progress = (tn_progress){ .silent = silent,
                             .line = !plain && !command->json && !silent &&
                                     !tn_given_option(command, TN_OPTION_QUIET),
                             .plots = !silent && tn_given_option(command, TN_OPTION_PLOT) && !command->json,
                             .unicode = has_unicode(),
                             .first = -1,
                             .started = now(),
                             .curve = { .stride = 1 } };
  if (!read_log(progress, run, status)) return false;
  if (!command->json || silent) tern_on_print(run->session, on_print, progress);
  return true;
}

bool tn_progress_is_followed(const tn_progress *progress) {
  return progress->line || (progress->to_json && !progress->silent) || progress->plots;
}

tern_follower tn_progress_follower(tn_progress *progress) {
  return (tern_follower){ .context = progress, .step = on_step };
}

/* ---- the picture ---- */

#define PLOT_ROWS    12
#define PLOT_COLUMNS 200 /* at most */

typedef struct {
  unsigned char cell[PLOT_ROWS][PLOT_COLUMNS]; /* the dots of each: two columns of four */
  int columns;
} canvas;

static void dot(canvas *c, int x, int y) {
  static const unsigned char bits[4][2] = { { 1, 8 }, { 2, 16 }, { 4, 32 }, { 64, 128 } };
  c->cell[y / 4][x / 2] |= bits[y % 4][x % 2];
}

static void plot_curve(canvas *c, const tn_curve *curve, const scale *s) {
  int width = 2 * c->columns, height = 4 * PLOT_ROWS, before = -1;
  for (int x = 0; x < width; x++) {
    double value = cell_of(curve, (size_t)x, (size_t)width);
    if (!isfinite(value)) continue;
    int y = height - 1 - (int)(height_of(s, value) * (height - 1) + 0.5);
    int from = before < 0 ? y : before, step = y < from ? -1 : 1;
    for (int at = from; at != y; at += step) dot(c, x, at); /* steep parts stay one line */
    dot(c, x, y);
    before = y;
  }
}

static void put_cell(unsigned char dots, bool unicode) {
  if (!unicode)
    putchar(dots ? '*' : ' ');
  else
    printf("%c%c%c", 0xe2, 0xa0 | dots >> 6, 0x80 | (dots & 0x3f));
}

static double value_at(const scale *s, double height) {
  if (s->logarithmic) return s->low * exp(height * log(s->high / s->low));
  return s->low + height * (s->high - s->low);
}

static void draw_plot(const tn_progress *p) {
  canvas c = { .columns = columns_of(1) - 13 };
  if (c.columns < 10) c.columns = 10;
  if (c.columns > PLOT_COLUMNS) c.columns = PLOT_COLUMNS;
  scale s = scale_of(&p->curve, 2 * (size_t)c.columns);
  if (p->curve.count < 2 || !isfinite(s.low)) return;
  plot_curve(&c, &p->curve, &s);
  printf("\nloss%s\n", s.logarithmic ? " (logarithmic)" : "");
  for (int row = 0; row < PLOT_ROWS; row++) {
    bool labelled = row == 0 || row == PLOT_ROWS / 2 || row == PLOT_ROWS - 1;
    if (labelled)
      printf("%10.4g |", value_at(&s, 1 - (double)row / (PLOT_ROWS - 1)));
    else
      printf("%10s |", "");
    for (int x = 0; x < c.columns; x++) put_cell(c.cell[row][x], p->unicode);
    putchar('\n');
  }
  char last[32];
  snprintf(last, sizeof last, "%lld", (long long)p->last.step);
  printf("%10s  step %-*lld%s\n", "", c.columns - 5 - (int)strlen(last), (long long)p->first, last);
}

void tn_progress_end(tn_progress *progress) {
  wipe(progress);
  if (progress->plots && !progress->to_json) draw_plot(progress);
}
