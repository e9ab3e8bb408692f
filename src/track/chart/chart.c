/* track/chart/chart.c: draws curves as SVG.
 *
 * A curve may have millions of points and a picture has some hundred columns.
 * Of the points of a column the first, the lowest, the highest and the last are
 * drawn, which looks exactly as all of them would: no peak is lost. */
#include "track/chart/chart.h"

#include "base/utf8.h"
#include "track/chart/chart_axis.h"
#include "export/svg_text.h"

#define WIDTH         860.0
#define MARGIN        24.0
#define TITLE_LINE    30.0
#define KEY_LINE      22.0
#define KEY_SAMPLE    26.0 /* the stroke before a name */
#define HEAD_LINE     24.0 /* a panel's name */
#define PANEL_GAP     18.0
#define FOOT          44.0 /* numbers and name of the steps */
#define NOTE_LINE     18.0
#define LETTER        6.7 /* width of a letter of the legend, and of an axis */
#define DIGIT         6.6
#define NAME_LETTERS  50 /* a longer name is cut; its title has the whole */
#define TITLE_LETTERS 84
#define DOT_SPACE     9.0   /* dots that are nearer than this are left out */
#define LARGEST       1e38  /* beyond f32: drawn as an infinity is */
#define SMALLEST      1e-45 /* has no place on a logarithmic axis */

typedef struct {
  const tn_chart *chart;
  tn_text *out;
  double left, right; /* of the panels */
  tn_axis x;
  tn_tick ticks[TN_AXIS_TICKS]; /* of the steps */
  size_t tick_count;
  bool has_gaps, has_unplaced; /* what the notes speak of */
} drawing;

/* A panel with its place. */
typedef struct {
  const tn_chart_panel *panel;
  tn_axis y;
  double top, bottom;
} frame;

static bool is_finite(double value) { return value >= -LARGEST && value <= LARGEST; }

static bool has_place(const frame *f, double value) {
  return is_finite(value) && (!f->y.logarithmic || value >= SMALLEST);
}

/* ---- writing ---- */

static void put(drawing *d, const char *text) { tn_text_puts(d->out, text); }

/* A tenth of a pixel; whole numbers without a point. */
static void put_number(drawing *d, double number) {
  size_t before = d->out->len;
  tn_text_fixed(d->out, number, 1);
  size_t length = d->out->len - before;
  if (d->out->failed || length < 2 || d->out->at[d->out->len - 1] != '0') return;
  d->out->len -= 2;
  d->out->at[d->out->len] = 0;
}

static void put_attribute(drawing *d, const char *name, double number) {
  put(d, " ");
  put(d, name);
  put(d, "=\"");
  put_number(d, number);
  put(d, "\"");
}

static void put_class(drawing *d, const char *name, int number) {
  put(d, " class=\"");
  put(d, name);
  if (number >= 0) tn_text_int(d->out, number);
  put(d, "\"");
}

static void begin_text(drawing *d, double x, double y, const char *looks) {
  put(d, "<text");
  put_attribute(d, "x", x);
  put_attribute(d, "y", y);
  put_class(d, looks, -1);
  put(d, ">");
}

static void put_line(drawing *d, double x0, double y0, double x1, double y1, const char *looks) {
  put(d, "<line");
  put_attribute(d, "x1", x0);
  put_attribute(d, "y1", y0);
  put_attribute(d, "x2", x1);
  put_attribute(d, "y2", y1);
  put_class(d, looks, -1);
  put(d, "/>\n");
}

static void put_style(drawing *d) {
  static const char *const light[TN_CHART_COLOURS] = { "#2463c4", "#d2600a", "#178556", "#8a4fd0",
                                                       "#cc2f48", "#0d8496", "#bd3c92", "#7d7209" };
  static const char *const dark[TN_CHART_COLOURS] = { "#6ea6ff", "#ff9d4a", "#4ecf97", "#bb98ff",
                                                      "#ff7d8d", "#4fcbdc", "#ff8ed5", "#d3c54a" };
  put(d,
      "<style>\n"
      "  .ground { fill: #fcfcfb }\n"
      "  text { font-family: system-ui, -apple-system, \"Segoe UI\", Roboto, \"Noto Sans\", \"DejaVu Sans\", "
      "Arial, sans-serif; font-size: 12px; fill: #20262c }\n"
      "  .title { font-size: 17px; font-weight: 600 }\n"
      "  .head { font-size: 13px; font-weight: 600 }\n"
      "  .soft { fill: #5d666f; font-weight: 400 }\n"
      "  .up { text-anchor: end; fill: #5d666f; font-variant-numeric: tabular-nums }\n"
      "  .mid { text-anchor: middle; fill: #5d666f; font-variant-numeric: tabular-nums }\n"
      "  .grid { stroke: #e3e6e8 }\n"
      "  .axis { stroke: #8b949c }\n"
      "  .curve { fill: none; stroke-width: 1.5; stroke-linejoin: round; stroke-linecap: round }\n"
      "  .faint { stroke-width: 1; opacity: 0.3 }\n"
      "  .dot { stroke: #fcfcfb; stroke-width: 1.2 }\n"
      "  .gap { fill: none; stroke-width: 2 }\n"
      "  .any { stroke: #5d666f }\n"
      "  .anydot { fill: #5d666f }\n");
  for (int theme = 0; theme < 2; theme++) {
    if (theme == 1)
      put(d, "  @media (prefers-color-scheme: dark) {\n"
             "    .ground { fill: #14181c }\n"
             "    text { fill: #e4e8eb }\n"
             "    .soft, .up, .mid { fill: #a3adb6 }\n"
             "    .grid { stroke: #2a3036 }\n"
             "    .axis { stroke: #737c85 }\n"
             "    .dot { stroke: #14181c }\n"
             "    .any { stroke: #a3adb6 }\n"
             "    .anydot { fill: #a3adb6 }\n");
    for (int i = 0; i < TN_CHART_COLOURS; i++) {
      const char *colour = theme ? dark[i] : light[i];
      put(d, theme ? "    .s" : "  .s");
      tn_text_int(d->out, i);
      put(d, " { stroke: ");
      put(d, colour);
      put(d, " } .f");
      tn_text_int(d->out, i);
      put(d, " { fill: ");
      put(d, colour);
      put(d, " }\n");
    }
  }
  put(d, "  }\n</style>\n");
}

/* ---- curves ---- */

static void put_dashes(drawing *d, int style) {
  static const char *const dashes[] = { "", "7 4", "2 4", "9 4 2 4" };
  const char *own = style < 0 ? "" : dashes[style / TN_CHART_COLOURS];
  if (own[0]) put(d, " stroke-dasharray=\""), put(d, own), put(d, "\"");
}

static void put_paint(drawing *d, const char *looks, const char *paint, int style) {
  put(d, " class=\"");
  put(d, looks);
  put(d, " ");
  put(d, style < 0 ? "any" : paint);
  if (style < 0 && paint[0] == 'f')
    put(d, "dot");
  else if (style >= 0)
    tn_text_int(d->out, style % TN_CHART_COLOURS);
  put(d, "\"");
}

static double x_of(const drawing *d, double x) {
  return d->left + tn_axis_place(&d->x, x) * (d->right - d->left);
}
static double y_of(const frame *f, double y) {
  return f->bottom - tn_axis_place(&f->y, y) * (f->bottom - f->top);
}

static void put_dot(drawing *d, double x, double y, double radius, int style) {
  put(d, "<circle");
  put_attribute(d, "cx", x);
  put_attribute(d, "cy", y);
  put_attribute(d, "r", radius);
  put_paint(d, "dot", "f", style);
  put(d, "/>");
}

/* A stretch of a curve without gaps, thinned as it goes. */
typedef struct {
  drawing *d;
  const frame *f;
  const tn_chart_curve *curve;
  size_t begin, end;
  size_t drawn; /* points of it so far */
} stretch;

static void put_point(stretch *s, size_t index) {
  const tn_chart_point *point = &s->curve->points[index];
  put(s->d, s->drawn++ == 0 ? "M" : " ");
  put_number(s->d, x_of(s->d, point->x));
  put(s->d, " ");
  put_number(s->d, y_of(s->f, point->y));
}

static double column_of(const stretch *s, size_t index) {
  return (double)(int64_t)x_of(s->d, s->curve->points[index].x);
}

/* The points of one column, in their order, each once. */
static void put_column(stretch *s, size_t from, size_t to) {
  const tn_chart_point *points = s->curve->points;
  size_t low = from, high = from;
  for (size_t i = from; i < to; i++) {
    if (points[i].y < points[low].y) low = i;
    if (points[i].y > points[high].y) high = i;
  }
  size_t wanted[] = { from, low < high ? low : high, low < high ? high : low, to - 1 };
  for (int i = 0; i < 4; i++) {
    if (i == 0 || wanted[i] > wanted[i - 1]) put_point(s, wanted[i]);
  }
}

static void put_stretch(stretch *s) {
  const tn_chart_curve *curve = s->curve;
  if (s->end - s->begin == 1) {
    const tn_chart_point *only = &curve->points[s->begin];
    put_dot(s->d, x_of(s->d, only->x), y_of(s->f, only->y), 3, curve->style);
    put(s->d, "\n");
    return;
  }
  put(s->d, "<path");
  put_paint(s->d, curve->faint ? "curve faint" : "curve", "s", curve->style);
  put_dashes(s->d, curve->style);
  put(s->d, " d=\"");
  for (size_t from = s->begin, to; from < s->end; from = to) {
    double column = column_of(s, from);
    for (to = from + 1; to < s->end && column_of(s, to) <= column; to++) continue;
    put_column(s, from, to);
  }
  put(s->d, "\"/>\n");
}

/* A cross at the upper edge: here the value is none. */
static void put_gap(drawing *d, const frame *f, const tn_chart_curve *curve, size_t index) {
  double x = x_of(d, curve->points[index].x), y = f->top + 8;
  put(d, "<path");
  put_paint(d, "gap", "s", curve->style);
  put(d, " d=\"M");
  static const double corners[4][2] = { { -4, -4 }, { 4, 4 }, { 4, -4 }, { -4, 4 } };
  for (int i = 0; i < 4; i++) {
    put(d, i == 2 ? "M" : i > 0 ? " " : "");
    put_number(d, x + corners[i][0]);
    put(d, " ");
    put_number(d, y + corners[i][1]);
  }
  put(d, "\"><title>");
  double value = curve->points[index].y;
  put(d, value != value ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  put(d, " at step ");
  tn_text_f64(d->out, curve->points[index].x);
  put(d, "</title></path>\n");
  d->has_gaps = true;
}

static void put_stretches(drawing *d, const frame *f, const tn_chart_curve *curve) {
  for (size_t i = 0; i < curve->count;) {
    size_t begin = i;
    while (i < curve->count && has_place(f, curve->points[i].y)) i++;
    if (i > begin) put_stretch(&(stretch){ .d = d, .f = f, .curve = curve, .begin = begin, .end = i });
    if (i == curve->count) break;
    if (is_finite(curve->points[i].y))
      d->has_unplaced = true;
    else if (!curve->faint)
      put_gap(d, f, curve, i);
    while (i < curve->count && !has_place(f, curve->points[i].y)) i++;
  }
}

static void put_dots(drawing *d, const frame *f, const tn_chart_curve *curve) {
  double before = d->left - DOT_SPACE;
  for (size_t i = 0; i < curve->count; i++) {
    double x = x_of(d, curve->points[i].x);
    bool last = i + 1 == curve->count;
    if (!has_place(f, curve->points[i].y) || (x - before < DOT_SPACE && !last)) continue;
    put_dot(d, x, y_of(f, curve->points[i].y), 3.4, curve->style);
    before = x;
  }
  put(d, "\n");
}

/* Four figures, which a title is for. */
static void put_value(drawing *d, double value) {
  double size = value < 0 ? -value : value;
  int places = size >= 1000 ? 0 : size >= 1 ? 3 : 4;
  if (!is_finite(value))
    tn_text_f64(d->out, value);
  else if ((size < 0.001 && size > 0) || size >= 1e7)
    tn_text_f32(d->out, (float)value);
  else
    tn_text_fixed(d->out, value, places);
}

static void put_at(drawing *d, const char *before, const tn_chart_point *point) {
  put(d, before);
  put_value(d, point->y);
  put(d, " at step ");
  tn_text_f64(d->out, point->x);
}

static void put_curve_title(drawing *d, const tn_chart_curve *curve) {
  const tn_chart_point *low = NULL, *high = NULL;
  for (size_t i = 0; i < curve->count; i++) {
    const tn_chart_point *point = &curve->points[i];
    if (!is_finite(point->y)) continue;
    if (!low || point->y < low->y) low = point;
    if (!high || point->y > high->y) high = point;
  }
  put(d, "<title>");
  tn_svg_put_safe(d->out, curve->name);
  if (low) put_at(d, ": lowest ", low);
  if (high) put_at(d, ", highest ", high);
  if (curve->count > 0) put_at(d, ", last ", &curve->points[curve->count - 1]);
  put(d, "</title>\n");
}

static void put_curve(drawing *d, const frame *f, const tn_chart_curve *curve) {
  put(d, "<g>");
  put_curve_title(d, curve);
  put_stretches(d, f, curve);
  if (curve->dotted) put_dots(d, f, curve);
  put(d, "</g>\n");
}

/* ---- panels ---- */

static void put_grid(drawing *d, const frame *f) {
  tn_tick ticks[TN_AXIS_TICKS];
  size_t count = tn_axis_ticks(&f->y, f->bottom - f->top > 250 ? 6 : 4, ticks);
  for (size_t i = 0; i < d->tick_count; i++) {
    double x = x_of(d, d->ticks[i].value);
    put_line(d, x, f->top, x, f->bottom, "grid");
  }
  for (size_t i = 0; i < count; i++) {
    double y = y_of(f, ticks[i].value);
    put_line(d, d->left, y, d->right, y, "grid");
    begin_text(d, d->left - 8, y + 4, "up");
    tn_tick_text(&ticks[i], d->out);
    put(d, "</text>\n");
  }
  put_line(d, d->left, f->bottom, d->right, f->bottom, "axis");
}

static void put_panel(drawing *d, const frame *f) {
  put(d, "<g>");
  begin_text(d, d->left, f->top - 9, "head");
  tn_svg_put_safe(d->out, f->panel->name);
  if (f->y.logarithmic) put(d, "<tspan class=\"soft\" dx=\"6\">(logarithmic)</tspan>");
  put(d, "</text>\n");
  put_grid(d, f);
  for (int front = 0; front < 2; front++) {
    for (size_t i = 0; i < f->panel->count; i++) {
      if (f->panel->curves[i].faint == (front == 0)) put_curve(d, f, &f->panel->curves[i]);
    }
  }
  put(d, "</g>\n");
}

static void put_steps(drawing *d, double bottom) {
  double most = d->tick_count > 0 ? d->ticks[d->tick_count - 1].value : 0;
  for (size_t i = 0; i < d->tick_count; i++) {
    double x = x_of(d, d->ticks[i].value);
    put_line(d, x, bottom, x, bottom + 5, "axis");
    begin_text(d, x, bottom + 19, "mid");
    tn_tick_step_text(&d->ticks[i], most, d->out);
    put(d, "</text>\n");
  }
  begin_text(d, (d->left + d->right) / 2, bottom + 38, "mid");
  tn_svg_put_safe(d->out, d->chart->x_name);
  put(d, "</text>\n");
}

/* ---- the legend ---- */

static tn_str shortened(tn_str name, size_t letters) {
  size_t at = name.len;
  if (tn_utf8_count(name) <= letters) return name;
  for (size_t kept = 0; at > 0 && kept < letters - 1; kept++) {
    at--;
    while (at > 0 && ((unsigned char)name.at[at] & 0xc0) == 0x80) at--;
  }
  return (tn_str){ name.at + at, name.len - at }; /* ends tell names apart: runs/a/lr-0.1, runs/a/lr-0.2 */
}

/* As many bytes as make so many letters. */
static size_t bytes_of(tn_str text, size_t letters) {
  size_t at = 0;
  for (; at < text.len; at++) {
    bool begins = ((unsigned char)text.at[at] & 0xc0) != 0x80;
    if (begins && letters-- == 0) break;
  }
  return at;
}

static void put_title(drawing *d) {
  tn_str title = d->chart->title;
  size_t shown = bytes_of(title, TITLE_LETTERS);
  begin_text(d, MARGIN, MARGIN + 12, "title");
  tn_svg_put_safe(d->out, (tn_str){ title.at, shown });
  if (shown < title.len) put(d, "\xe2\x80\xa6");
  put(d, "</text>\n");
}

static double width_of(tn_str text) {
  double width = 0;
  for (size_t at = 0, length; at < text.len; at += length) {
    uint32_t code = TN_UTF8_REPLACEMENT;
    length = tn_utf8_decode(text, at, &code);
    if (length == 0) length = 1;
    width += tn_utf8_width(code) * LETTER;
  }
  return width;
}

static void put_key(drawing *d, const tn_chart_key *key, double x, double y) {
  tn_str name = shortened(key->name, NAME_LETTERS);
  put(d, "<g>");
  if (name.len < key->name.len) {
    put(d, "<title>");
    tn_svg_put_safe(d->out, key->name);
    put(d, "</title>");
  }
  put(d, "<path");
  put_paint(d, "curve", "s", key->style);
  put_dashes(d, key->style);
  put(d, " d=\"M");
  put_number(d, x);
  put(d, " ");
  put_number(d, y - 4);
  put(d, "h");
  put_number(d, KEY_SAMPLE - 6);
  put(d, "\"/>");
  if (key->dotted) put_dot(d, x + (KEY_SAMPLE - 6) / 2, y - 4, 3.4, key->style);
  begin_text(d, x + KEY_SAMPLE, y, "key");
  if (name.len < key->name.len) put(d, "\xe2\x80\xa6");
  tn_svg_put_safe(d->out, name);
  put(d, "</text></g>\n");
}

/* Lays the legend out from `top` on, and draws it if that is wanted; the height it takes. */
static double legend(drawing *d, double top, bool draws) {
  double x = MARGIN, y = top;
  for (size_t i = 0; i < d->chart->key_count; i++) {
    const tn_chart_key *key = &d->chart->keys[i];
    double width = KEY_SAMPLE + width_of(shortened(key->name, NAME_LETTERS)) + 24;
    if (x > MARGIN && x + width > WIDTH - MARGIN + 24) x = MARGIN, y += KEY_LINE;
    if (draws) put_key(d, key, x, y + 14);
    x += width;
  }
  return d->chart->key_count > 0 ? y + KEY_LINE - top + 4 : 0;
}

/* ---- the whole ---- */

static tn_axis y_axis(const tn_chart_panel *panel) {
  double low = LARGEST, high = -LARGEST, least = LARGEST; /* least: above 0 */
  for (size_t c = 0; c < panel->count; c++) {
    for (size_t i = 0; i < panel->curves[c].count; i++) {
      double y = panel->curves[c].points[i].y;
      if (!is_finite(y)) continue;
      if (y < low) low = y;
      if (y > high) high = y;
      if (y >= SMALLEST && y < least) least = y;
    }
  }
  if (low > high) return tn_axis_around(0, 1, false); /* nothing but gaps */
  bool wide = low >= SMALLEST && high / low > 50;
  bool logarithmic = panel->scale == TN_CHART_LOG || (panel->scale == TN_CHART_AUTO && wide);
  if (logarithmic && least <= high) return tn_axis_around(least, high, true);
  tn_axis axis = tn_axis_around(low, high, false);
  if (panel->share && high <= 1 && axis.high > 1) axis.high = 1;
  return axis;
}

static tn_axis x_axis(const tn_chart *chart) {
  double low = 9e15, high = 0;
  for (size_t p = 0; p < chart->panel_count; p++) {
    for (size_t c = 0; c < chart->panels[p].count; c++) {
      const tn_chart_curve *curve = &chart->panels[p].curves[c];
      if (curve->count == 0) continue;
      if (curve->points[0].x < low) low = curve->points[0].x;
      if (curve->points[curve->count - 1].x > high) high = curve->points[curve->count - 1].x;
    }
  }
  return tn_axis_of_steps(low <= high ? low : high, high);
}

/* The widest number beside the axis decides where the panels begin. */
static double label_width(drawing *d, const tn_axis *axis) {
  tn_tick ticks[TN_AXIS_TICKS];
  tn_text text;
  double widest = 0;
  size_t count = tn_axis_ticks(axis, 6, ticks);
  tn_text_init(&text, d->out->heap);
  for (size_t i = 0; i < count; i++) {
    tn_text_clear(&text);
    tn_tick_text(&ticks[i], &text);
    if ((double)text.len * DIGIT > widest) widest = (double)text.len * DIGIT;
  }
  if (text.failed) d->out->failed = true;
  tn_text_free(&text);
  return widest;
}

static void put_notes(drawing *d, double y) {
  if (d->has_gaps) {
    begin_text(d, d->left, y, "soft");
    put(d, "\xc3\x97 not a number, or infinite</text>\n");
    y += NOTE_LINE;
  }
  if (d->has_unplaced) {
    begin_text(d, d->left, y, "soft");
    put(d, "values of 0 and below have no place on a logarithmic axis</text>\n");
  }
}

/* Which notes there will be is known before anything is drawn, since the height depends on it. */
static int count_notes(const frame *f) {
  bool gaps = false, unplaced = false;
  for (size_t c = 0; c < f->panel->count; c++) {
    for (size_t i = 0; i < f->panel->curves[c].count; i++) {
      double y = f->panel->curves[c].points[i].y;
      gaps = gaps || !is_finite(y);
      unplaced = unplaced || (is_finite(y) && !has_place(f, y));
    }
  }
  return gaps + unplaced;
}

static void begin_drawing(drawing *d, double height) {
  put(d, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"");
  tn_svg_put_safe(d->out, d->chart->title.len > 0 ? d->chart->title : d->chart->panels[0].name);
  put(d, "\"");
  put_attribute(d, "width", WIDTH);
  put_attribute(d, "height", height);
  put(d, " viewBox=\"0 0 ");
  put_number(d, WIDTH);
  put(d, " ");
  put_number(d, height);
  put(d, "\">\n");
  put_style(d);
  put(d, "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n");
}

bool tn_chart_write(const tn_chart *chart, tn_text *out) {
  drawing d = { .chart = chart, .out = out, .right = WIDTH - MARGIN, .x = x_axis(chart) };
  double top = MARGIN - 6 + (chart->title.len > 0 ? TITLE_LINE : 0), widest = 0;
  double y = top + legend(&d, top, false), bottom = y;
  int notes = 0;
  frame frames[TN_CHART_PANELS];
  for (size_t i = 0; i < chart->panel_count; i++) {
    frame *f = &frames[i];
    *f = (frame){ .panel = &chart->panels[i], .y = y_axis(&chart->panels[i]), .top = y + HEAD_LINE };
    f->bottom = f->top + (i == 0 ? 340 : 170);
    bottom = f->bottom;
    y = bottom + PANEL_GAP;
    notes += count_notes(f);
    double own = label_width(&d, &f->y);
    if (own > widest) widest = own;
  }
  d.left = MARGIN + widest + 10;
  d.tick_count = tn_axis_step_ticks(&d.x, 9, d.ticks);
  begin_drawing(&d, bottom + FOOT + 10 + (notes < 2 ? notes : 2) * NOTE_LINE);
  if (chart->title.len > 0) put_title(&d);
  legend(&d, top, true);
  for (size_t i = 0; i < chart->panel_count; i++) put_panel(&d, &frames[i]);
  put_steps(&d, bottom);
  put_notes(&d, bottom + FOOT + 14);
  put(&d, "</svg>\n");
  return !out->failed;
}
