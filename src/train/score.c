/* train/score.c: evaluates a trained model on the rows of a file. */
#include "train/score.h"

#include <string.h>

#include "base/seal.h"
#include "train/indices.h"
#include "train/loop_internal.h"
#include "train/metrics.h"
#include "train/mistakes.h"

typedef struct {
  tn_loop loop;
  const tn_score_options *options;
  tn_facts facts;
  tn_eval_block eval; /* of all rows */
  tn_metric metrics[2];
} scoring;

/* ---- rows ---- */

static bool read_facts(scoring *s) {
  tn_loop *loop = &s->loop;
  return tn_trained_facts(loop->host, &s->options->trained, &loop->program.specs, loop->arena, &s->facts);
}

static bool read_rows(scoring *s) {
  tn_loop *loop = &s->loop;
  size_t count = loop->program.specs.input_count;
  bool *wanted = tn_arena_array(loop->arena, count + 1, sizeof *wanted);
  if (!wanted) return tn_loop_out_of_memory(loop);
  if (!loop->program.dataset)
    return tn_host_usage(loop->host, "the program has no dataset block, so ", tn_str_of(loop->data),
                         " has no format");
  for (size_t i = 0; i < count; i++) wanted[i] = true;
  tn_rows_request request = { .path = loop->data, .facts = &s->facts, .wanted = wanted,
                              .hashed = s->options->record != NULL };
  return tn_rows_read_given(loop->host, &loop->program, s->options->trained.backend, &request, loop->arena,
                            &loop->rows) &&
         tn_loop_check_inputs(loop);
}

/* ---- metrics ---- */

static bool has_accuracy(const tn_loop *loop) {
  const tn_lowered *lowered = &loop->lowered;
  int labels = loop->program.dataset->labels_input;
  if (!lowered->classifies || labels < 0) return false;
  tn_value value = lowered->graph.outputs.at[lowered->logits].value;
  const tn_shape *logits = &tn_graph_type(&lowered->graph, value)->shape;
  return logits->rank == loop->part.inputs[labels].rank + 1;
}

/* Numbers: the one input that the loss needs and the prediction does not; -1: there is not one. */
static bool find_numbers(tn_loop *loop, int *out) {
  const tn_graph *graph = &loop->lowered.graph;
  bool *of_answer = tn_graph_needed(graph, graph->outputs.at[loop->lowered.logits].value, loop->arena);
  bool *of_loss = tn_graph_needed(graph, graph->outputs.at[loop->lowered.loss].value, loop->arena);
  size_t found = 0;
  *out = -1;
  if (!of_answer || !of_loss) return tn_loop_out_of_memory(loop);
  for (size_t i = 0; i < loop->program.specs.input_count; i++) {
    tn_value input = graph->inputs.at[i];
    if (of_loss[input] && !of_answer[input] && tn_loop_is_fed(loop, i)) found++, *out = (int)i;
  }
  if (found != 1) *out = -1;
  return true;
}

/* What a record compares predictions with. Metrics that compare have named it already. */
static bool choose_target(scoring *s) {
  tn_loop *loop = &s->loop;
  if (loop->lowered.logits < 0) return true;
  if (!tn_metrics_compare(s->eval.metrics, s->eval.metric_count)) {
    if (loop->lowered.classifies)
      s->eval.target = has_accuracy(loop) ? loop->program.dataset->labels_input : -1;
    else if (!find_numbers(loop, &s->eval.target))
      return false;
  }
  loop->compares = s->eval.target >= 0 && tn_loop_is_fed(loop, (size_t)s->eval.target);
  return true;
}

/* The eval block's, over all rows. Without one: the loss, and accuracy where it has a meaning. */
static bool choose_metrics(scoring *s) {
  tn_loop *loop = &s->loop;
  if (loop->program.eval) {
    s->eval = *loop->program.eval;
  } else {
    s->eval = (tn_eval_block){ .metrics = s->metrics,
                               .classifies = loop->lowered.classifies,
                               .target = loop->program.dataset->labels_input };
    if (!tn_metric_find(TN_LIT("loss"), loop->arena, &s->metrics[0]) ||
        !tn_metric_find(TN_LIT("accuracy"), loop->arena, &s->metrics[1]))
      return tn_loop_out_of_memory(loop);
    s->eval.metric_count = has_accuracy(loop) ? 2 : 1;
  }
  s->eval.on_train = true; /* the rows of a file that is given all count as such */
  loop->eval = &s->eval;
  return !s->options->record || choose_target(s);
}

/* One row is enough to see which tables the rows index. */
static bool prepare(scoring *s) {
  tn_loop *loop = &s->loop;
  const tn_training *program = &loop->program;
  loop->first = tn_arena_array(loop->arena, program->specs.param_count + 1, sizeof *loop->first);
  if (!loop->first) return tn_loop_out_of_memory(loop);
  return program->doors->seal(program->model) && read_facts(s) && read_rows(s) &&
         tn_loop_size_rows(loop, 1, &loop->part) &&
         program->doors->lower(program->model, &loop->part, TN_LOWER_INFERENCE, &loop->lowered) &&
         tn_loop_check_indices(loop) && program->doors->allow(program->model, &loop->lowered.graph) &&
         program->doors->init_params(program->model, &loop->part, loop->first) && choose_metrics(s) &&
         tn_loop_prepare_eval(loop);
}

/* ---- results ---- */

static void write_text(const tn_loop *loop, const tn_history_row *row, tn_text *out) {
  tn_text_puts(out, "rows = ");
  tn_text_uint(out, loop->rows.count);
  tn_text_byte(out, '\n');
  for (size_t i = 0; i < loop->eval->metric_count; i++) {
    const tn_metric *metric = &loop->eval->metrics[i];
    tn_text_add(out, metric->name);
    tn_text_puts(out, " = ");
    tn_text_fixed(out, row->values[i], metric->kind == TN_METRIC_LOSS ? 6 : 4);
    tn_text_byte(out, '\n');
  }
}

/* "rows":10,"metrics":{"loss":0.5} */
static void write_json(const tn_loop *loop, const tn_history_row *row, tn_text *out) {
  tn_json_writer json = tn_json_writer_on(out);
  tn_json_key(&json, "rows"), tn_json_uint(&json, loop->rows.count);
  tn_loop_metrics_json(&json, "metrics", loop->eval, row->values);
}

static bool write_outcome(tn_loop *loop, const tn_history_row *row, tn_outcome *out) {
  tn_text text, json;
  tn_text_init(&text, loop->host->heap);
  tn_text_init(&json, loop->host->heap);
  write_text(loop, row, &text);
  write_json(loop, row, &json);
  bool ok = !text.failed && !json.failed;
  if (ok) out->text = tn_arena_str(loop->arena, tn_text_str(&text));
  if (ok) out->extra_json = tn_arena_str(loop->arena, tn_text_str(&json));
  tn_text_free(&text);
  tn_text_free(&json);
  return ok && !loop->arena->failed ? true : tn_loop_out_of_memory(loop);
}

/* ---- the record ---- */

/* The name of the file without its folders, which differ from machine to machine. */
static tn_str file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return tn_str_of(slash ? slash + 1 : path);
}

static void add_weights_hash(const tn_loop *loop, tn_json_writer *json) {
  uint8_t digest[TN_SHA256_BYTES];
  tn_sha256 hash;
  tn_sha256_init(&hash);
  for (size_t i = 0; i < loop->program.specs.param_count; i++)
    tn_view_sha256_update(&loop->first[i].view, &hash);
  tn_sha256_final(&hash, digest);
  tn_loop_add_hash(json, "weights_sha256", digest);
}

/* Whether every row has as many labels or numbers, and each of them its prediction. */
static bool are_comparable(const tn_mistakes_request *r) {
  int64_t items = tn_view_count(r->target), count = tn_view_count(r->prediction), rows = (int64_t)r->count;
  int64_t classes = r->classifies ? r->prediction->dim[r->prediction->rank - 1] : 1;
  return rows > 0 && items > 0 && items % rows == 0 && classes > 0 && count % classes == 0 &&
         count / classes == items;
}

/* That of a text; NULL: the data is none. */
static const tn_vocab *vocab_of(const scoring *s) {
  bool text = s->loop.program.dataset->format == TN_DATASET_TEXT;
  for (size_t i = 0; text && i < s->facts.count; i++) {
    if (s->facts.inputs[i].vocab) return s->facts.inputs[i].vocab;
  }
  return NULL;
}

static bool add_mistakes(const scoring *s, tn_json_writer *json) {
  const tn_loop *loop = &s->loop;
  const tn_evaluation *e = &loop->evaluation;
  if (!loop->compares || e->rows == 0) return true;
  tn_view prediction = tn_plan_output(e->plan, e->lowered.logits);
  tn_mistakes_request request = { .prediction = &prediction,
                                  .target = &e->inputs[s->eval.target].view,
                                  .classifies = e->lowered.classifies && prediction.rank > 0,
                                  .facts = &s->facts.inputs[s->eval.target],
                                  .vocab = vocab_of(s),
                                  .rows = &loop->rows,
                                  .first = e->first,
                                  .count = e->rows };
  return !are_comparable(&request) || tn_mistakes_write(loop->host->heap, &request, json);
}

/* {"data":"test.csv",...,"tern.sha256":"..."} */
static bool write_record(scoring *s, const tn_history_row *row) {
  tn_loop *loop = &s->loop;
  tn_text *out = s->options->record;
  if (!out) return true;
  tn_json_writer json = tn_json_writer_on(out);
  tn_json_object_begin(&json);
  tn_json_key(&json, "data"), tn_json_string(&json, file_name(loop->data));
  tn_loop_add_hash(&json, "data_sha256", loop->rows.sha256);
  add_weights_hash(loop, &json);
  tn_json_key(&json, "rows"), tn_json_uint(&json, loop->rows.count);
  tn_loop_metrics_json(&json, "metrics", loop->eval, row->values);
  bool ok = add_mistakes(s, &json);
  size_t digits = tn_seal_reserve(out, false);
  if (digits > 0) tn_seal_close(out->at, out->len, out->at + digits);
  return ok && !out->failed ? true : tn_loop_out_of_memory(loop);
}

bool tn_score(tn_unit *unit, const tn_training_doors *doors, const tn_score_options *options, tn_arena *arena,
              tn_outcome *out) {
  tn_loop_options usual = { .backend = options->trained.backend,
                            .threads = options->trained.threads,
                            .passes = options->trained.passes,
                            .evaluator = options->trained.evaluator };
  scoring s = { .options = options };
  s.loop = (tn_loop){ .host = unit->host,
                      .file = unit->file,
                      .options = &usual,
                      .arena = arena,
                      .data = options->data,
                      .held = -1 };
  tn_history_row row = { 0 };
  if (!doors->open_trained(unit, &s.loop.program)) return false;
  s.loop.program.doors = doors;
  tn_text_init(&s.loop.history, unit->host->heap);
  tn_text_init(&s.loop.lines, unit->host->heap);
  bool ok = prepare(&s) && tn_loop_evaluate(&s.loop, &row) && write_outcome(&s.loop, &row, out) &&
            write_record(&s, &row);
  tn_loop_free(&s.loop);
  tn_facts_free(&s.facts);
  return ok;
}
