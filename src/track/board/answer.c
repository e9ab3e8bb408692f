/* track/board/answer.c: answers the GET requests of each address. */
#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "track/board/internal.h"

#define HTML_POLICY                                                                                          \
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "            \
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
#define PICTURE_POLICY "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

#define RUNS        "/api/runs/"
#define MOST_RUNS   1000
#define MOST_VARYING 12 /* hyperparameters that are columns without being asked for */
#define MOST_POINTS 4096 /* of a curve */
#define MOST_NEWS   1024 /* points of an event */

void tn_answer_begin(tn_answer *answer, const tn_board_options *options, tn_heap *heap, tn_sources *sources) {
  *answer = (tn_answer){ .options = options, .heap = heap, .status = 200, .type = "application/json" };
  tn_arena_init(&answer->arena, heap);
  tn_diags_init(&answer->diags, heap, sources);
  tn_text_init(&answer->body, heap);
}

void tn_answer_end(tn_answer *answer) {
  tn_text_free(&answer->body);
  tn_diags_free(&answer->diags);
  tn_arena_free(&answer->arena);
}

void tn_answer_refuse(tn_answer *answer, int status, const char *reason) {
  answer->status = status;
  answer->type = "application/json";
  answer->policy = NULL;
  tn_text_clear(&answer->body);
  tn_json_writer json = tn_json_writer_on(&answer->body);
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok"), tn_json_bool(&json, false);
  tn_json_key(&json, "reason"), tn_json_string(&json, tn_str_of(reason));
  tn_json_object_end(&json);
}

/* ---- files of the page ---- */

static const char *type_of(const char *file) {
  tn_str name = tn_str_of(file);
  return tn_str_ends(name, ".html")  ? "text/html; charset=utf-8"
         : tn_str_ends(name, ".js")  ? "text/javascript; charset=utf-8"
         : tn_str_ends(name, ".css") ? "text/css; charset=utf-8"
                                     : "image/svg+xml";
}

/* The page has a place for the token. */
static void add_page(tn_answer *answer, tn_str text) {
  static const char place[] = "TOKEN-OF-THIS-BOARD";
  size_t length = sizeof place - 1, at = 0;
  while (at + length < text.len && memcmp(text.at + at, place, length) != 0) at++;
  tn_text_add(&answer->body, (tn_str){ text.at, at });
  tn_text_puts(&answer->body, answer->token ? answer->token : "");
  tn_text_add(&answer->body, (tn_str){ text.at + at + length, text.len - at - length });
}

static void add_file(tn_answer *answer, const char *name, tn_str text) {
  if (strcmp(name, "index.html") == 0)
    add_page(answer, text);
  else
    tn_text_add(&answer->body, text);
}

static bool answer_file(tn_answer *answer, const char *path) {
  const char *wanted = strcmp(path, "/") == 0 ? "/index.html" : path;
  for (size_t i = 0; i < tn_board_file_count; i++) {
    const tn_embedded *file = &tn_board_files[i];
    if (strcmp(wanted + 1, file->file) != 0) continue;
    add_file(answer, file->file, (tn_str){ file->text, file->length });
    answer->type = type_of(file->file);
    answer->policy = HTML_POLICY;
    return true;
  }
  return false;
}

/* ---- runs ---- */

/* Mostly because another process locks it for a moment: the page asks again. */
static void refuse_to_read(tn_answer *answer) {
  tn_answer_refuse(answer, 503, "the history of runs cannot be read now");
}

/* NULL when there is no history yet, or it cannot be read: then the answer says so. */
static tn_store *open_store(tn_answer *answer) {
  bool absent;
  tn_store *store = tn_store_open_for(answer->heap, answer->options->store, TN_STORE_READ, TN_BOARD_PATIENCE,
                                      &answer->diags, &absent);
  if (!store && !absent) refuse_to_read(answer);
  return store;
}

/* The best or the newest first by default. */
static bool falls_by_nature(tn_run_column column) {
  return column == TN_RUN_ID || column == TN_RUN_STARTED || column == TN_RUN_STEP ||
         column == TN_RUN_ACCURACY;
}

static tn_run_query read_query(const tn_wishes *wishes) {
  tn_run_query query = { .order = TN_RUN_ID, .limit = MOST_RUNS + 1, .words = tn_str_of(wishes->words) };
  tn_str order = tn_str_of(wishes->order), way = tn_str_of(wishes->way);
  bool is_column = order.len == 0 || tn_run_column_find(order, &query.order);
  if (!is_column) query.hyper = order;
  query.descending = way.len > 0 ? tn_str_is(way, "down") : is_column && falls_by_nature(query.order);
  return query;
}

static void write_list(tn_answer *answer, const tn_run_query *query, tn_run_rows *rows) {
  tn_json_writer json = tn_json_writer_on(&answer->body);
  tn_str varying[MOST_VARYING], order = query->hyper;
  bool more = rows->count > MOST_RUNS;
  if (more) rows->count = MOST_RUNS;
  size_t count = tn_runs_varying(rows, varying, MOST_VARYING);
  if (order.len == 0) order = tn_str_of(tn_run_column_of(query->order)->name);
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok"), tn_json_bool(&json, true);
  tn_json_key(&json, "more"), tn_json_bool(&json, more);
  tn_json_key(&json, "order"), tn_json_string(&json, order);
  tn_json_key(&json, "way"), tn_json_string(&json, query->descending ? TN_LIT("down") : TN_LIT("up"));
  tn_json_key(&json, "varying"), tn_json_array_begin(&json);
  for (size_t i = 0; i < count; i++) tn_json_string(&json, varying[i]);
  tn_json_array_end(&json);
  tn_json_key(&json, "runs"), tn_runs_json(rows, &answer->body);
  tn_json_object_end(&json);
}

static void answer_list(tn_answer *answer) {
  tn_run_rows rows = { 0 };
  tn_store *store = open_store(answer);
  if (answer->status != 200) return;
  tn_run_query query = read_query(&answer->wishes);
  bool ok = !store || tn_store_list(store, &query, &answer->arena, &rows);
  tn_store_close(store);
  if (ok)
    write_list(answer, &query, &rows);
  else
    refuse_to_read(answer);
  tn_vec_free(answer->heap, &rows);
}

bool tn_answer_find(tn_answer *answer, tn_store *store, int64_t id, tn_run_row *out) {
  char digits[TN_NUMBER_BYTES + 1] = "";
  digits[tn_number_print_i64(id, digits)] = 0;
  bool ok = store && tn_store_find(store, digits, &answer->arena, out, &id);
  if (ok || answer->status != 200) return ok;
  if (store && tn_store_was_held(store))
    refuse_to_read(answer);
  else
    tn_answer_refuse(answer, 404, "there is no such run");
  return false;
}

/* A run without its steps. */
static bool read_row(tn_answer *answer, int64_t id, tn_run_row *out) {
  tn_store *store = open_store(answer);
  bool ok = tn_answer_find(answer, store, id, out);
  tn_store_close(store);
  return ok;
}

/* A run as it is shown: what is known of it, and its curves from some steps on. */
typedef struct {
  tn_run_row row;
  tn_run_curve curve;
  tn_run_eval *evals;
  size_t eval_count;
} shown_run;

static bool find_curves(tn_answer *answer, tn_store *store, int64_t id, int64_t first, int64_t evaluated,
                        size_t most, shown_run *out) {
  bool ok = tn_store_curve(store, id, first, TN_RUN_ALL_STEPS, most, &answer->arena, &out->curve) &&
            tn_store_some_evals(store, id, evaluated, most, &answer->arena, &out->evals, &out->eval_count);
  if (!ok && answer->status == 200) refuse_to_read(answer);
  return ok;
}

static void write_curve(tn_json_writer *json, const tn_run_curve *curve) {
  tn_json_key(json, "recorded"), tn_json_int(json, curve->steps);
  tn_json_key(json, "loss_steps"), tn_json_array_begin(json);
  for (size_t i = 0; i < curve->count; i++) tn_json_int(json, curve->points[i].step);
  tn_json_array_end(json);
  tn_json_key(json, "losses"), tn_json_array_begin(json);
  for (size_t i = 0; i < curve->count; i++) tn_json_f32(json, curve->points[i].loss);
  tn_json_array_end(json);
}

static void write_evals(tn_json_writer *json, const shown_run *run) {
  tn_json_key(json, "evals"), tn_json_array_begin(json);
  for (size_t i = 0; i < run->eval_count; i++) tn_run_eval_json(&run->evals[i], json);
  tn_json_array_end(json);
}

static void answer_run(tn_answer *answer, int64_t id, tn_order *order) {
  shown_run run = { 0 };
  (void)order;
  tn_store *store = open_store(answer);
  bool ok = tn_answer_find(answer, store, id, &run.row) &&
            find_curves(answer, store, id, 0, 0, MOST_POINTS, &run);
  tn_store_close(store);
  if (!ok) return;
  tn_json_writer json = tn_json_writer_on(&answer->body);
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok"), tn_json_bool(&json, true);
  tn_json_key(&json, "run"), tn_json_object_begin(&json);
  tn_run_columns_json(&run.row, &json);
  write_curve(&json, &run.curve);
  write_evals(&json, &run);
  tn_json_object_end(&json), tn_json_object_end(&json);
}

/* A requested step; `otherwise` if there is no valid one. */
static int64_t step_of(const char *text, int64_t otherwise) {
  uint64_t step;
  bool ok = text && tn_number_parse_u64(tn_str_of(text), &step) && step < INT64_MAX;
  return ok ? (int64_t)step : otherwise;
}

/* A part of a long run, in more points than the whole has there. */
static void answer_curve(tn_answer *answer, int64_t id, tn_order *order) {
  tn_run_row row;
  tn_run_curve curve = { 0 };
  int64_t from = step_of(answer->wishes.from, 0), to = step_of(answer->wishes.to, TN_RUN_ALL_STEPS - 1);
  (void)order;
  tn_store *store = open_store(answer);
  bool ok = tn_answer_find(answer, store, id, &row);
  bool read = ok && tn_store_curve(store, id, from, to + 1, MOST_POINTS, &answer->arena, &curve);
  tn_store_close(store);
  if (ok && !read) refuse_to_read(answer);
  if (!read) return;
  tn_json_writer json = tn_json_writer_on(&answer->body);
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok"), tn_json_bool(&json, true);
  write_curve(&json, &curve);
  tn_json_object_end(&json);
}

/* ---- for the other thread ---- */

static void order_graph(tn_answer *answer, int64_t id, tn_order *order) {
  tn_run_row row;
  if (!read_row(answer, id, &row)) return;
  *order = (tn_order){ .kind = TN_ORDER_GRAPH,
                       .name = row.value[TN_RUN_PROGRAM],
                       .text = row.value[TN_RUN_SOURCE],
                       .stamp = tn_str_of(answer->wishes.open) };
}

/* A file of the run's folder, as long as it stays the same. */
static void order_file(tn_answer *answer, int64_t id, tn_order_kind kind,
                       void (*add_stamp)(tn_str folder, tn_text *out), tn_order *order) {
  tn_run_row row;
  tn_text stamp;
  if (!read_row(answer, id, &row)) return;
  tn_text_init(&stamp, answer->heap);
  add_stamp(row.value[TN_RUN_FOLDER], &stamp);
  *order = (tn_order){ .kind = kind,
                       .name = row.value[TN_RUN_FOLDER],
                       .stamp = tn_arena_str(&answer->arena, tn_text_str(&stamp)) };
  tn_text_free(&stamp);
}

static void order_params(tn_answer *answer, int64_t id, tn_order *order) {
  order_file(answer, id, TN_ORDER_PARAMS, tn_params_stamp, order);
}

static void order_evaluation(tn_answer *answer, int64_t id, tn_order *order) {
  order_file(answer, id, TN_ORDER_EVALUATION, tn_evaluation_stamp, order);
}

/* What a comparison depends on: how far each has come, and its tags and notes. */
static void add_progress(tn_text *stamp, const tn_run_row *row) {
  static const tn_run_column columns[] = { TN_RUN_STATUS, TN_RUN_STEP, TN_RUN_SECONDS, TN_RUN_WEIGHTS_SHA256,
                                           TN_RUN_TAGS, TN_RUN_NOTES };
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    tn_text_add(stamp, row->value[columns[i]]), tn_text_byte(stamp, 0);
}

static void order_compare(tn_answer *answer, int64_t one, int64_t other, tn_order *order) {
  tn_run_row a, b;
  tn_text stamp;
  if (!read_row(answer, one, &a) || !read_row(answer, other, &b)) return;
  tn_text_init(&stamp, answer->heap);
  add_progress(&stamp, &a), add_progress(&stamp, &b);
  *order = (tn_order){ .kind = TN_ORDER_COMPARE,
                       .run = one,
                       .other = other,
                       .stamp = tn_arena_str(&answer->arena, tn_text_str(&stamp)) };
  tn_text_free(&stamp);
}

static void answer_compare(tn_answer *answer, const tn_order *order) {
  int64_t step = -1;
  tn_run_row a, b;
  tn_store *store = open_store(answer);
  bool found =
      tn_answer_find(answer, store, order->run, &a) && tn_answer_find(answer, store, order->other, &b);
  bool ok = found && tn_store_first_difference(store, order->run, order->other, &step);
  tn_store_close(store);
  if (found && !ok) refuse_to_read(answer);
  if (!ok) return;
  tn_json_writer json = tn_json_writer_on(&answer->body);
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok"), tn_json_bool(&json, true);
  tn_run_compare_rows_json(&a, &b, step, &json);
  tn_json_object_end(&json);
}

static void answer_graph(tn_answer *answer, const tn_order *order) {
  const tn_board_options *options = answer->options;
  bool drawn = order->text.len > 0 &&
               options->draw(options->context, order->name, order->text, order->stamp, answer->heap->stop,
                             &answer->body);
  if (!drawn) {
    tn_answer_refuse(answer, 404, "the graph of this program cannot be drawn");
    return;
  }
  answer->type = "image/svg+xml";
  answer->policy = PICTURE_POLICY;
}

void tn_answer_order(tn_answer *answer, const tn_order *order) {
  if (order->kind == TN_ORDER_GRAPH) answer_graph(answer, order);
  if (order->kind == TN_ORDER_COMPARE) answer_compare(answer, order);
  if (order->kind == TN_ORDER_PARAMS) tn_params_answer(answer, order->name);
  if (order->kind == TN_ORDER_EVALUATION) tn_evaluation_answer(answer, order->name);
}

/* ---- addresses ---- */

/* The number after `prefix`, and what follows it. */
static bool split(const char *path, const char *prefix, int64_t *id, const char **rest) {
  size_t length = strlen(prefix), digits;
  uint64_t number;
  if (strncmp(path, prefix, length) != 0) return false;
  digits = strspn(path + length, "0123456789");
  if (!tn_number_parse_u64((tn_str){ path + length, digits }, &number) || number > INT64_MAX) return false;
  *id = (int64_t)number;
  *rest = path + length + digits;
  return true;
}

bool tn_answer_split(const char *path, int64_t *id, const char **rest) {
  return split(path, RUNS, id, rest);
}

int64_t tn_answer_events_of(const char *path) {
  int64_t id;
  const char *rest;
  return split(path, RUNS, &id, &rest) && strcmp(rest, "/events") == 0 ? id : 0;
}

static const struct {
  const char *rest;
  void (*answer)(tn_answer *answer, int64_t id, tn_order *order);
} of_run[] = { { "", answer_run },
               { "/curve", answer_curve },
               { "/graph", order_graph },
               { "/params", order_params },
               { "/evaluation", order_evaluation } };

void tn_answer_path(tn_answer *answer, const char *path, tn_order *order) {
  int64_t id, other;
  const char *rest, *end;
  if (strcmp(path, "/api/runs") == 0) {
    answer_list(answer);
    return;
  }
  if (split(path, RUNS, &id, &rest)) {
    for (size_t i = 0; i < sizeof of_run / sizeof *of_run; i++) {
      if (strcmp(rest, of_run[i].rest) != 0) continue;
      of_run[i].answer(answer, id, order);
      return;
    }
    if (split(rest, "/compare/", &other, &end) && *end == 0) {
      order_compare(answer, id, other, order);
      return;
    }
  }
  if (!answer_file(answer, path)) tn_answer_refuse(answer, 404, "there is nothing here");
}

/* ---- following ---- */

static tn_str known_status(tn_str status) {
  static const char *const known[] = { "running", "completed", "stopped", "killed" };
  for (size_t i = 0; i < 4; i++) {
    if (tn_str_is(status, known[i])) return tn_str_of(known[i]);
  }
  return TN_LIT("stopped");
}

static void write_news(const shown_run *run, const tn_follow *follow, tn_text *out) {
  tn_json_writer json = tn_json_writer_on(out);
  tn_text_puts(out, "data: ");
  tn_json_object_begin(&json);
  tn_json_key(&json, "status"), tn_json_string(&json, run->row.value[TN_RUN_STATUS]);
  tn_json_key(&json, "steps"), tn_json_raw(&json, run->row.value[TN_RUN_STEPS]);
  tn_json_key(&json, "seconds");
  tn_json_raw(&json, run->row.value[TN_RUN_SECONDS].at ? run->row.value[TN_RUN_SECONDS] : TN_LIT("0"));
  tn_json_key(&json, "first"), tn_json_int(&json, follow->losses);
  write_curve(&json, &run->curve);
  write_evals(&json, run);
  tn_json_object_end(&json);
  tn_text_puts(out, "\n\n");
}

/* A run that went back to a checkpoint has fewer losses than were sent: everything is sent again. */
static bool find_news(tn_answer *answer, tn_store *store, tn_follow *follow, shown_run *run) {
  if (!tn_answer_find(answer, store, follow->run, &run->row) ||
      !find_curves(answer, store, follow->run, follow->losses, follow->evaluated, MOST_NEWS, run))
    return false;
  if (run->curve.steps >= follow->losses) return true;
  follow->losses = follow->evaluated = 0;
  return find_curves(answer, store, follow->run, 0, 0, MOST_NEWS, run);
}

bool tn_follow_news(tn_answer *answer, tn_follow *follow, tn_text *out) {
  shown_run run = { 0 };
  tn_store *store = open_store(answer); /* one moment: losses and evaluations of a step come together */
  bool ok = find_news(answer, store, follow, &run);
  tn_store_close(store);
  if (!ok) {
    follow->ended = answer->status == 404; /* else it is there, and will be read another time */
    return follow->ended;
  }
  tn_str status = known_status(run.row.value[TN_RUN_STATUS]);
  bool news = run.curve.steps > follow->losses || run.eval_count > 0 || !tn_str_equal(status, follow->status);
  if (news) write_news(&run, follow, out);
  follow->losses = run.curve.steps;
  int64_t evaluated = run.eval_count > 0 ? run.evals[run.eval_count - 1].step : -1;
  if (evaluated >= 0 && evaluated < INT64_MAX) follow->evaluated = evaluated + 1;
  follow->status = status;
  follow->ended = !tn_str_is(status, "running");
  return true;
}
