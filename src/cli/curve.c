/* cli/curve.c: draws a loss curve in terminal characters. */
#include "cli/curve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/terminal.h"

/* ---- the curve ---- */

static void halve(tn_curve *curve) {
  for (size_t i = 0; i < TN_CURVE_POINTS / 2; i++)
    curve->loss[i] = (curve->loss[2 * i] + curve->loss[2 * i + 1]) / 2;
  curve->count = TN_CURVE_POINTS / 2;
  curve->stride *= 2;
}

void tn_curve_add(tn_curve *curve, double loss) {
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

/* ---- the spark line ---- */

/* A bar of the lowest height is drawn too. */
void tn_curve_spark(const tn_curve *curve, bool unicode, char out[TN_SPARK_BYTES]) {
  static const char ascii[] = "_.-~=+*#";
  size_t cells = curve->count < TN_SPARK_CELLS ? curve->count : TN_SPARK_CELLS, at = 0;
  scale s = scale_of(curve, cells);
  for (size_t i = 0; i < cells; i++) {
    int level = (int)(height_of(&s, cell_of(curve, i, cells)) * 7.999);
    if (unicode) {
      memcpy(out + at, "\xe2\x96\x81", 3);
      out[at + 2] = (char)(0x81 + level);
      at += 3;
    } else {
      out[at++] = ascii[level];
    }
  }
  out[at] = 0;
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

void tn_curve_print(const tn_curve *curve, const char *title, int64_t first, int64_t last) {
  bool unicode = tn_terminal_has_unicode();
  canvas c = { .columns = tn_terminal_columns(1) - 13 };
  if (c.columns < 10) c.columns = 10;
  if (c.columns > PLOT_COLUMNS) c.columns = PLOT_COLUMNS;
  scale s = scale_of(curve, 2 * (size_t)c.columns);
  if (curve->count < 2 || !isfinite(s.low)) return;
  plot_curve(&c, curve, &s);
  printf("\n%s%s\n", title, s.logarithmic ? " (logarithmic)" : "");
  for (int row = 0; row < PLOT_ROWS; row++) {
    bool labelled = row == 0 || row == PLOT_ROWS / 2 || row == PLOT_ROWS - 1;
    if (labelled)
      printf("%10.4g |", value_at(&s, 1 - (double)row / (PLOT_ROWS - 1)));
    else
      printf("%10s |", "");
    for (int x = 0; x < c.columns; x++) put_cell(c.cell[row][x], unicode);
    putchar('\n');
  }
  char end[32];
  snprintf(end, sizeof end, "%lld", (long long)last);
  printf("%10s  step %-*lld%s\n", "", c.columns - 5 - (int)strlen(end), (long long)first, end);
}
