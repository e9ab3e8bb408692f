/* track/plot.c: `tern plot`: draws the curves of training runs.
 *
 * A run is a folder, whose history is read, or one of the history of runs. From
 * there on they are alike: its training losses, its evaluations, and a name. */
#include <string.h>

#include "api/door.h"
#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "track/chart/chart.h"
#include "track/track.h"
#include "train/history.h"

#define HISTORY_LIMIT ((uint64_t)1 << 40)

typedef enum { TRAIN_LOSS, EVAL_LOSS, ACCURACY, METRIC_COUNT } metric;

typedef tn_vec(tn_chart_point) points;

typedef struct {
  tn_str name, path; /* for the legend; as it was named */
  points curve[METRIC_COUNT];
  points smooth; /* of the training loss */
} run;

typedef struct {
  tern_session *session;
  tn_heap *heap;
  tn_diags *diags;
  const tn_track_plot *wanted;
  tn_arena arena;
  run *runs;
  unsigned metrics; /* a bit for each that is drawn */
  tn_chart_scale scale;
  tn_chart_curve *curves;
  tn_chart_key *keys;
  size_t curve_count, key_count;
} plot;

static bool out_of_memory(plot *p) {
  return tn_report(p->diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE, TN_STR("what", "a picture"));
}

static bool add_point(plot *p, points *to, int64_t step, double value) {
  tn_chart_point point = { (double)step, value };
  return tn_vec_push(p->heap, to, point) || out_of_memory(p);
}

/* ---- the request ---- */

static bool read_metric(plot *p) {
  static const struct {
    const char *name;
    unsigned bits;
  } metrics[] = {
    { "loss", 1u << TRAIN_LOSS | 1u << EVAL_LOSS },
    { "train_loss", 1u << TRAIN_LOSS },
    { "eval_loss", 1u << EVAL_LOSS },
    { "accuracy", 1u << ACCURACY },
  };
  p->metrics = (1u << METRIC_COUNT) - 1;
  if (!p->wanted->metric) return true;
  for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
    p->metrics = metrics[i].bits;
    if (strcmp(p->wanted->metric, metrics[i].name) == 0) return true;
  }
  return tn_api_usage(p->session, "there is no metric ", tn_str_of(p->wanted->metric),
                      "; there are loss, train_loss, eval_loss and accuracy");
}

static bool read_scale(plot *p) {
  const char *name = p->wanted->scale;
  p->scale = !name || strcmp(name, "auto") == 0 ? TN_CHART_AUTO
             : strcmp(name, "log") == 0         ? TN_CHART_LOG
                                                : TN_CHART_LINEAR;
  if (p->scale == TN_CHART_LINEAR && strcmp(name, "linear") != 0)
    return tn_api_usage(p->session, "a scale is auto, linear or log, not ", tn_str_of(name), "");
  if (p->scale == TN_CHART_LOG && p->metrics == 1u << ACCURACY)
    return tn_api_usage(p->session, "accuracy", TN_LIT(""), " goes from 0 to 1; it has no logarithmic scale");
  return true;
}

static bool read_wishes(plot *p) {
  if (p->wanted->run_count == 0) return tn_api_usage(p->session, "there is no run to draw", TN_LIT(""), "");
  if (p->wanted->run_count > TN_CHART_STYLES)
    return tn_api_usage(p->session, "a picture shows at most 32 runs", TN_LIT(""), "");
  return read_metric(p) && read_scale(p);
}

/* ---- a folder ---- */

static bool corrupt(plot *p, tn_str path, int64_t line, const char *what) {
  tn_text reason;
  tn_text_init(&reason, p->heap);
  tn_text_puts(&reason, "line ");
  tn_text_int(&reason, line);
  tn_text_byte(&reason, ' ');
  tn_text_puts(&reason, what);
  tn_report(p->diags, TN_DIAG_E_FILE_CORRUPT, TN_NOWHERE, TN_TEXT("path", path),
            TN_STR("format", "history"), TN_TEXT("reason", tn_text_str(&reason)));
  tn_text_free(&reason);
  return false;
}

static bool add_row(plot *p, run *r, const tn_recorded_row *row) {
  const double *loss = tn_history_value(row, "loss"), *accuracy = tn_history_value(row, "accuracy");
  if (!add_point(p, &r->curve[TRAIN_LOSS], row->step, row->loss)) return false;
  if (loss && !add_point(p, &r->curve[EVAL_LOSS], row->step, *loss)) return false;
  return !accuracy || add_point(p, &r->curve[ACCURACY], row->step, *accuracy);
}

/* A last line without an end is being written, or was when the run was killed: it does not count yet. */
static bool read_lines(plot *p, run *r, tn_str path, tn_str text) {
  tn_arena scratch;
  tn_arena_init(&scratch, p->heap);
  int64_t before = -1, number = 1;
  bool ok = true;
  tn_str line;
  for (size_t at = 0; ok && tn_history_line(text, at, &line); at += line.len + 1, number++) {
    tn_recorded_row row;
    if (!tn_history_read(line, &scratch, &row))
      ok = scratch.failed ? out_of_memory(p) : corrupt(p, path, number, "is not a step of a run");
    else if (row.step <= before)
      ok = corrupt(p, path, number, "does not follow the step before it");
    else
      ok = add_row(p, r, &row);
    before = row.step;
  }
  tn_arena_free(&scratch);
  return ok;
}

static tn_str path_in(plot *p, const char *folder, const char *name) {
  tn_text text;
  tn_text_init(&text, p->heap);
  tn_text_puts(&text, folder);
  if (!tn_str_ends(tn_text_str(&text), "/")) tn_text_byte(&text, '/');
  tn_text_puts(&text, name);
  tn_str path = text.failed ? (tn_str){ 0 } : tn_arena_str(&p->arena, tn_text_str(&text));
  tn_text_free(&text);
  return path;
}

/* False without a report, and *absent, when there is no such file. */
static bool read_folder(plot *p, run *r, const char *folder, bool *absent) {
  tn_str path = path_in(p, folder, TN_HISTORY_FILE);
  tn_file_bytes bytes;
  *absent = false;
  if (path.len == 0) return out_of_memory(p);
  tn_file_status status = tn_file_read(p->heap, path.at, HISTORY_LIMIT, NULL, &bytes);
  *absent = status == TN_FILE_NOT_FOUND;
  if (*absent) return false;
  if (status == TN_FILE_NO_MEMORY) return out_of_memory(p);
  if (status != TN_FILE_OK)
    return tn_report(p->diags, TN_DIAG_E_FILE_IO_ERROR, TN_NOWHERE, TN_TEXT("path", path),
                     TN_STR("io_error_kind", tn_file_status_text(status)));
  bool ok = read_lines(p, r, path, (tn_str){ bytes.at, bytes.len });
  tn_file_release(p->heap, &bytes);
  return ok;
}

/* ---- the history of runs ---- */

/* run 3, toy.ail */
static void name_recorded(plot *p, run *r, const tn_run_row *row) {
  tn_str program = row->value[TN_RUN_PROGRAM];
  tn_text text;
  for (size_t i = program.len; i > 0; i--) {
    if (program.at[i - 1] != '/') continue;
    program = (tn_str){ program.at + i, program.len - i };
    break;
  }
  tn_text_init(&text, p->heap);
  tn_text_puts(&text, "run ");
  tn_text_add(&text, row->value[TN_RUN_ID]);
  if (program.len > 0) tn_text_puts(&text, ", "), tn_text_add(&text, program);
  r->name = r->path = tn_arena_str(&p->arena, tn_text_str(&text));
  if (text.failed) p->arena.failed = true;
  tn_text_free(&text);
}

static bool take_recorded(plot *p, run *r, tn_store *store, const char *which) {
  tn_run_row row;
  int64_t id;
  float *losses;
  tn_run_eval *evals;
  size_t loss_count, eval_count;
  if (!tn_store_find(store, which, &p->arena, &row, &id) ||
      !tn_store_losses(store, id, &p->arena, &losses, &loss_count) ||
      !tn_store_evals(store, id, &p->arena, &evals, &eval_count)) {
    return false;
  }
  name_recorded(p, r, &row);
  bool ok = true;
  for (size_t i = 0; ok && i < loss_count; i++)
    ok = add_point(p, &r->curve[TRAIN_LOSS], (int64_t)i, (double)losses[i]);
  for (size_t i = 0; ok && i < eval_count; i++) {
    bool measured = evals[i].accuracy == evals[i].accuracy; /* NaN: accuracy is not among the metrics */
    ok = add_point(p, &r->curve[EVAL_LOSS], evals[i].step, evals[i].loss) &&
         (!measured || add_point(p, &r->curve[ACCURACY], evals[i].step, evals[i].accuracy));
  }
  return ok;
}

static bool read_recorded(plot *p, run *r, const char *which) {
  bool absent;
  const char *path = p->wanted->store;
  tn_store *store = tn_store_open(p->heap, path, TN_STORE_READ, p->diags, &absent);
  if (!store)
    return absent && tn_report(p->diags, TN_DIAG_E_RUN_NOT_FOUND, TN_NOWHERE, TN_STR("run", which),
                               TN_STR("path", path));
  bool ok = take_recorded(p, r, store, which);
  tn_store_close(store);
  return ok;
}

/* ---- runs ---- */

static bool is_recorded(const plot *p, const char *which) {
  uint64_t number;
  return p->wanted->store && (strcmp(which, "last") == 0 || tn_number_parse_u64(tn_str_of(which), &number));
}

/* A folder comes first; ./3 is never run number 3. */
static bool read_run(plot *p, run *r, const char *which) {
  bool absent;
  tn_str path = tn_str_of(which);
  while (path.len > 1 && path.at[path.len - 1] == '/') path.len--;
  r->name = r->path = path;
  for (size_t i = path.len; i > 0; i--) {
    if (path.at[i - 1] != '/') continue;
    if (path.len > i) r->name = (tn_str){ path.at + i, path.len - i };
    break;
  }
  bool ok = read_folder(p, r, which, &absent);
  if (absent && is_recorded(p, which))
    ok = read_recorded(p, r, which);
  else if (absent)
    tn_report(
        p->diags, TN_DIAG_E_FILE_NOT_FOUND, TN_NOWHERE,
        TN_TEXT("path", path_in(p, which, TN_HISTORY_FILE)),
        TN_HINT(TN_LIT("a run is the folder that `tern train --out` made, or its number in `tern runs`")));
  if (ok && r->curve[TRAIN_LOSS].count == 0)
    return tn_api_usage_hint(p->session, "", r->path, " has no steps to draw yet",
                             TN_LIT("its history grows while `tern train` runs"));
  return ok;
}

/* Where the last parts of two folders are the same, all of them are named whole. */
static void tell_names_apart(plot *p) {
  bool same = false;
  for (size_t i = 0; i < p->wanted->run_count; i++) {
    for (size_t k = 0; k < i; k++) same = same || tn_str_equal(p->runs[i].name, p->runs[k].name);
  }
  for (size_t i = 0; same && i < p->wanted->run_count; i++) p->runs[i].name = p->runs[i].path;
}

/* ---- smoothing ---- */

/* Sums over the parts of blocks as long as the window. A window is the end of one block and the beginning of
 * the next, so its sum is one addition; sliding a sum along instead would keep the rounding of a loss of 1e30
 * at the start forever. */
typedef struct {
  double sum;
  size_t count;
} part;

static part joined(part a, part b) { return (part){ a.sum + b.sum, a.count + b.count }; }

static part part_of(const points *from, size_t index) {
  double value = from->at[index].y;
  return value - value == 0 ? (part){ value, 1 } : (part){ 0, 0 }; /* NaN and infinity are left out */
}

static void sum_blocks(const points *from, size_t width, part *begins, part *ends) {
  for (size_t i = 0; i < from->count; i++) {
    part own = part_of(from, i);
    begins[i] = i % width == 0 ? own : joined(begins[i - 1], own);
  }
  for (size_t i = from->count; i-- > 0;) {
    part own = part_of(from, i);
    ends[i] = (i + 1) % width == 0 || i + 1 == from->count ? own : joined(own, ends[i + 1]);
  }
}

/* The mean of as many neighbouring steps as are wanted, of fewer near the ends. */
static bool smooth(plot *p, run *r) {
  const points *from = &r->curve[TRAIN_LOSS];
  size_t width = p->wanted->smooth > 1 ? (size_t)p->wanted->smooth : 1;
  if (width < 2 || from->count == 0) return true;
  if (width > from->count) width = from->count;
  part *begins = tn_arena_array(&p->arena, from->count, sizeof *begins);
  part *ends = tn_arena_array(&p->arena, from->count, sizeof *ends);
  if (!begins || !ends) return out_of_memory(p);
  sum_blocks(from, width, begins, ends);
  for (size_t i = 0; i < from->count; i++) {
    size_t below = (width - 1) / 2, above = width / 2, low = i > below ? i - below : 0;
    size_t high = from->count - i > above ? i + above : from->count - 1;
    part sum = low / width != high / width ? joined(ends[low], begins[high])
               : low % width == 0          ? begins[high]
                                           : ends[low];
    double mean = sum.count > 0 ? sum.sum / (double)sum.count : from->at[i].y;
    if (!add_point(p, &r->smooth, (int64_t)from->at[i].x, mean)) return false;
  }
  return true;
}

static bool read_runs(plot *p) {
  p->runs = tn_arena_array(&p->arena, p->wanted->run_count, sizeof *p->runs);
  if (!p->runs) return out_of_memory(p);
  for (size_t i = 0; i < p->wanted->run_count; i++) {
    if (!read_run(p, &p->runs[i], p->wanted->runs[i]) || !smooth(p, &p->runs[i])) return false;
  }
  tell_names_apart(p);
  return true;
}

/* ---- the chart ---- */

static const char *const metric_names[METRIC_COUNT] = { "training loss", "evaluation loss", "accuracy" };

static bool is_drawn(const plot *p, const run *r, metric m) {
  return (p->metrics >> m & 1) && r->curve[m].count > 0;
}

/* Several runs have a colour each; the curves of a single one. */
static int style_of(const plot *p, size_t index, metric m) {
  return p->wanted->run_count > 1 ? (int)index : m == TRAIN_LOSS ? 0 : 1;
}

/* `r` may be NULL: that of all runs. */
static tn_str curve_name(plot *p, const run *r, metric m, bool smoothed) {
  tn_text text;
  tn_text_init(&text, p->heap);
  if (r) tn_text_add(&text, r->name), tn_text_puts(&text, ", ");
  tn_text_puts(&text, metric_names[m]);
  if (smoothed) {
    tn_text_puts(&text, ", mean of ");
    tn_text_int(&text, p->wanted->smooth);
    tn_text_puts(&text, " steps");
  }
  tn_str name = tn_arena_str(&p->arena, tn_text_str(&text));
  if (text.failed) p->arena.failed = true;
  tn_text_free(&text);
  return name;
}

static void add_curve(plot *p, size_t index, metric m, const points *from, bool faint) {
  const run *r = &p->runs[index];
  tn_str name = curve_name(p, p->wanted->run_count > 1 ? r : NULL, m, from == &r->smooth);
  p->curves[p->curve_count++] = (tn_chart_curve){ .name = name,
                                                  .points = from->at,
                                                  .count = from->count,
                                                  .style = style_of(p, index, m),
                                                  .dotted = m != TRAIN_LOSS,
                                                  .faint = faint };
}

static void add_curves(plot *p, metric m) {
  for (size_t i = 0; i < p->wanted->run_count; i++) {
    const run *r = &p->runs[i];
    bool smoothed = m == TRAIN_LOSS && r->smooth.count > 0;
    if (!is_drawn(p, r, m)) continue;
    add_curve(p, i, m, &r->curve[m], smoothed);
    if (smoothed) add_curve(p, i, m, &r->smooth, false);
  }
}

static bool has(const plot *p, metric m) {
  for (size_t i = 0; i < p->wanted->run_count; i++) {
    if (is_drawn(p, &p->runs[i], m)) return true;
  }
  return false;
}

/* One run: a line for each curve. Several: one for each run, and what dots mean. */
static void add_keys(plot *p) {
  bool several = p->wanted->run_count > 1;
  for (size_t i = 0; several && i < p->wanted->run_count; i++)
    p->keys[p->key_count++] = (tn_chart_key){ .name = p->runs[i].name, .style = (int)i };
  for (int m = 0; m < METRIC_COUNT; m++) {
    bool shown = m == ACCURACY ? false : several ? has(p, TRAIN_LOSS) && has(p, EVAL_LOSS) : true;
    if (!shown || !has(p, (metric)m)) continue;
    tn_str name = curve_name(p, NULL, (metric)m, m == TRAIN_LOSS && p->wanted->smooth > 1);
    p->keys[p->key_count++] = (tn_chart_key){ .name = name,
                                              .style = several ? -1 : style_of(p, 0, (metric)m),
                                              .dotted = m != TRAIN_LOSS };
  }
}

static void add_panel(plot *p, tn_chart *chart, tn_chart_panel *panels, const char *name, bool share) {
  size_t first = p->curve_count;
  if (share) {
    add_curves(p, ACCURACY);
  } else {
    add_curves(p, TRAIN_LOSS);
    add_curves(p, EVAL_LOSS);
  }
  if (p->curve_count == first) return;
  panels[chart->panel_count++] = (tn_chart_panel){ .name = tn_str_of(name),
                                                   .curves = p->curves + first,
                                                   .count = p->curve_count - first,
                                                   .scale = share ? TN_CHART_LINEAR : p->scale,
                                                   .share = share };
}

#define PANELS 2

static bool compose(plot *p, tn_chart_panel panels[PANELS], tn_chart *chart) {
  size_t runs = p->wanted->run_count;
  *chart = (tn_chart){ .title = tn_str_of(p->wanted->title), .x_name = TN_LIT("step"), .panels = panels };
  if (!p->wanted->title && runs == 1) chart->title = p->runs[0].path;
  p->curves = tn_arena_array(&p->arena, runs * (METRIC_COUNT + 1), sizeof *p->curves);
  p->keys = tn_arena_array(&p->arena, runs + METRIC_COUNT, sizeof *p->keys);
  if (!p->curves || !p->keys) return out_of_memory(p);
  add_panel(p, chart, panels, "loss", false);
  add_panel(p, chart, panels, "accuracy", true);
  add_keys(p);
  if (chart->panel_count == 0)
    return tn_api_usage(p->session, "none of these runs has ", tn_str_of(p->wanted->metric),
                        "; the eval block of a program says what is measured");
  chart->keys = p->keys;
  chart->key_count = p->key_count;
  return !p->arena.failed || out_of_memory(p);
}

/* What becomes of the chart: a text, or calls. */
typedef struct {
  tn_text *out;
  tn_track_visitor visit; /* NULL: a picture is written to `out` */
  void *context;
} use;

static bool use_chart(plot *p, const use *u) {
  tn_chart_panel panels[PANELS];
  tn_chart chart;
  if (!compose(p, panels, &chart)) return false;
  if (!u->visit) return tn_chart_write(&chart, u->out) || out_of_memory(p);
  for (size_t i = 0; i < p->curve_count; i++)
    if (!p->curves[i].faint) u->visit(u->context, &p->curves[i]);
  return true;
}

static void free_plot(plot *p) {
  for (size_t i = 0; p->runs && i < p->wanted->run_count; i++) {
    for (int m = 0; m < METRIC_COUNT; m++) tn_vec_free(p->heap, &p->runs[i].curve[m]);
    tn_vec_free(p->heap, &p->runs[i].smooth);
  }
  tn_arena_free(&p->arena);
}

/* The folders of the runs and the history of runs, named to the sandbox before anything in them is read. */
static bool name_paths(plot *p) {
  bool ok = tn_track_name_store(p->session, p->wanted->store, false);
  for (size_t i = 0; ok && i < p->wanted->run_count; i++)
    ok = tn_api_keep_path(p->session, tn_str_of(p->wanted->runs[i]), TERN_SANDBOX_LOAD);
  return ok;
}

static bool make_chart(tern_session *session, const tn_track_plot *wanted, const use *u) {
  plot p = { .session = session,
             .heap = tn_api_heap(session),
             .diags = tn_api_diags(session),
             .wanted = wanted };
  tn_api_begin_compiling(session);
  tn_arena_init(&p.arena, p.heap);
  bool ok = read_wishes(&p) && name_paths(&p) && tn_api_confine(session) && read_runs(&p) && use_chart(&p, u);
  free_plot(&p);
  tn_api_end_compiling(session);
  if (!ok) tn_api_settle(session);
  return ok;
}

static bool make_picture(tern_session *session, const tn_track_plot *wanted, tn_text *out) {
  return make_chart(session, wanted, &(use){ .out = out });
}

bool tn_track_plot_visit(tern_session *session, const tn_track_plot *wanted, tn_track_visitor visit,
                         void *context) {
  return make_chart(session, wanted, &(use){ .visit = visit, .context = context });
}

const char *tn_track_plot_svg(tern_session *session, const tn_track_plot *wanted) {
  return make_picture(session, wanted, tn_api_answer(session)) ? tn_api_text(session) : NULL;
}

const char *tn_track_plot_json(tern_session *session, const tn_track_plot *wanted, const char *path) {
  tn_text picture;
  tn_text_init(&picture, tn_api_heap(session));
  bool ok = path || make_picture(session, wanted, &picture);
  tn_json_writer json = tn_json_writer_on(tn_api_answer(session));
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok"), tn_json_bool(&json, true);
  tn_json_key(&json, "form"), tn_json_string(&json, TN_LIT("svg"));
  tn_json_key(&json, path ? "file" : "text");
  tn_json_string(&json, path ? tn_str_of(path) : tn_text_str(&picture));
  tn_json_object_end(&json);
  tn_text_free(&picture);
  return ok ? tn_api_text(session) : NULL;
}
