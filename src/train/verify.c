/* train/verify.c: repeats a recorded run and compares its files.
 *
 * Every step is repeated, from the first, with the numbers of steps that were requested at the time
 * (the segments of the checkpoint). That determines what a run's folder must hold, byte for byte:
 * each line of the history, the checkpoint with the optimiser's state, the weights, and run.json
 * except for facts that only the run itself could know (the program's name, the folder it was
 * started in, the version of tern, and whether it was stopped or killed). Those are sealed, and do
 * not affect what is computed.
 *
 * The claims of the files are compared with each other first, so that no claim makes the repeated
 * run longer than the history. */
#include <string.h>

#include "base/number.h"
#include "train/checkpoint.h"
#include "train/history.h"
#include "train/record.h"

/* ---- what differs ---- */

static bool differs_at(tn_loop *loop, int64_t step, tn_str what) {
  return tn_report(loop->host->diags, TN_DIAG_E_VERIFY_DIFFERS, TN_NOWHERE,
                   TN_STR("path", loop->options->verify->folder), TN_INT("step", step),
                   TN_TEXT("what", what));
}

/* Of the checkpoint's step, also before the repetition has come there. */
static bool differs(tn_loop *loop, const char *what) {
  return differs_at(loop, loop->until, tn_str_of(what));
}

static bool corrupt_weights(tn_loop *loop, const char *reason) {
  if (reason == tn_safetensors_no_memory) return tn_loop_out_of_memory(loop);
  return tn_report(loop->host->diags, TN_DIAG_E_FILE_CORRUPT, TN_NOWHERE,
                   TN_STR("path", loop->options->verify->weights_path), TN_STR("format", "safetensors"),
                   TN_STR("reason", reason));
}

/* ---- before the repetition ---- */

static bool check_hashes(tn_loop *loop, const tn_run_record *record) {
  uint8_t digest[TN_SHA256_BYTES];
  tn_loop_source_sha256(loop, digest);
  if (memcmp(record->source_sha256, digest, sizeof digest) != 0)
    return differs(loop, "the hash of the program in run.json");
  if (memcmp(record->data_sha256, loop->rows.sha256, sizeof digest) != 0)
    return differs(loop, "the hash of the data in run.json");
  const tn_dataset_block *data = loop->program.dataset;
  tn_str path = data ? data->path : (tn_str){ 0 };
  if (!path.at != !record->data.at || !tn_str_equal(path, record->data))
    return differs(loop, "the data file in run.json");
  return true;
}

/* A run that ended says so of its last checkpoint; one that was killed, of where it began. */
static bool check_progress(tn_loop *loop, const tn_run_record *record) {
  bool ended = record->status != TN_RUN_STATUS_RUNNING, complete = record->step == record->steps;
  if (record->steps != tn_vec_last(&loop->segments).steps)
    return differs(loop, "the number of steps in run.json");
  if (ended ? record->step != loop->until : record->step > loop->until)
    return differs(loop, "the step in run.json");
  bool may_end_early = loop->program.train->patience > 0; /* the repetition shows whether it did */
  if (ended && !may_end_early && complete != (record->status == TN_RUN_STATUS_COMPLETED))
    return differs(loop, "the status in run.json");
  return true;
}

/* Of the metadata of weights.safetensors, as folder.c writes it. */
static bool read_weights_step(tn_loop *loop) {
  static const char begin[] = "{\"step\":\"";
  tn_str file = loop->options->verify->weights;
  tn_safetensors weights;
  uint64_t step = 0;
  loop->weights_step = -1;
  if (!file.at) return true;
  const char *problem = tn_safetensors_read(loop->host->heap, file.at, file.len, &weights);
  if (problem) return corrupt_weights(loop, problem);
  bool sealed = weights.sealed;
  tn_str text = weights.metadata;
  bool ok = tn_str_starts(text, begin) && text.len > sizeof begin + 1 &&
            tn_number_parse_u64((tn_str){ text.at + sizeof begin - 1, text.len - sizeof begin - 1 }, &step);
  tn_safetensors_free(&weights);
  if (!sealed) return corrupt_weights(loop, "its seal is missing");
  if (!ok || step > (uint64_t)loop->until) return differs(loop, TN_WEIGHTS_FILE);
  loop->weights_step = (int64_t)step;
  return true;
}

/* A run that came to its end has left its weights. */
static bool check_weights_step(tn_loop *loop, const tn_run_record *record) {
  if (!read_weights_step(loop)) return false;
  if (record->status != TN_RUN_STATUS_COMPLETED || loop->weights_step == loop->until) return true;
  if (loop->best.count > 0 && loop->weights_step >= 0) return true; /* of an earlier step: see check_end */
  if (loop->weights_step >= 0) return differs(loop, TN_WEIGHTS_FILE);
  return tn_report(loop->host->diags, TN_DIAG_E_FILE_NOT_FOUND, TN_NOWHERE,
                   TN_STR("path", loop->options->verify->weights_path));
}

/* Every step that the checkpoint claims is a line of the history: only what is there is repeated. */
static bool has_every_line(tn_loop *loop) {
  tn_str history = loop->options->verify->history, line;
  int64_t found = 0;
  for (size_t at = 0; found < loop->until && tn_history_line(history, at, &line); at += line.len + 1) found++;
  return found == loop->until || differs_at(loop, found, TN_LIT(TN_HISTORY_FILE));
}

static bool read_goal(const tn_checkpoint *c) {
  tn_loop *loop = c->loop;
  const tn_recorded_run *recorded = loop->options->verify;
  uint64_t generator;
  return tn_checkpoint_position(c, &loop->until, &generator) && has_every_line(loop) &&
         check_hashes(loop, recorded->record) && check_progress(loop, recorded->record) &&
         check_weights_step(loop, recorded->record);
}

bool tn_loop_read_goal(tn_loop *loop) {
  const tn_recorded_run *recorded = loop->options->verify;
  tn_checkpoint checkpoint;
  if (!recorded) return true;
  if (!tn_checkpoint_open(loop, recorded->checkpoint_path, recorded->checkpoint, &checkpoint)) return false;
  bool ok = read_goal(&checkpoint);
  tn_checkpoint_free(&checkpoint);
  return ok;
}

/* ---- during the repetition ---- */

/* A killed run may have written a part of its last line. */
static bool is_torn(const tn_loop *loop, tn_str rest, tn_str line) {
  bool part = rest.len < line.len && memcmp(rest.at, line.at, rest.len) == 0;
  return part && loop->options->verify->record->status == TN_RUN_STATUS_RUNNING;
}

bool tn_loop_compare_line(tn_loop *loop, int64_t step, tn_str line) {
  tn_str history = loop->options->verify->history;
  size_t at = (size_t)loop->history_bytes;
  tn_str rest = { history.at + at, history.len - at };
  bool torn = rest.len > 0 && is_torn(loop, rest, line);
  if (!torn && (rest.len < line.len || memcmp(rest.at, line.at, line.len) != 0))
    return differs_at(loop, step, TN_LIT(TN_HISTORY_FILE));
  size_t taken = torn ? rest.len : line.len;
  loop->history_bytes += taken;
  tn_sha256_update(&loop->history_hash, line.at, taken);
  return true;
}

/* Up to a step, each stretch of it for the number of steps that was wanted then. */
static bool repeat_to(tn_loop *loop, int64_t end) {
  for (size_t i = 0; i < loop->segments.count; i++) {
    bool last = i + 1 == loop->segments.count;
    int64_t until = last || end < loop->segments.at[i + 1].from ? end : loop->segments.at[i + 1].from;
    if (tn_trainer_step_number(loop->trainer) >= until) continue;
    loop->steps = loop->segments.at[i].steps;
    tn_trainer_set_steps(loop->trainer, loop->steps);
    if (!tn_loop_run_until(loop, until)) return false;
    int64_t made = tn_trainer_step_number(loop->trainer);
    if (made < until) return differs_at(loop, made, TN_LIT("the step at which training ended"));
  }
  loop->steps = tn_vec_last(&loop->segments).steps;
  return true;
}

/* ---- the files ---- */

typedef bool (*file_writer)(tn_loop *loop, tn_text *out);

/* Whether a file is what the repetition would write now. False after reporting. */
static bool is_same_file(tn_loop *loop, file_writer write, tn_str file, bool *same) {
  tn_text text;
  tn_text_init(&text, loop->host->heap);
  bool ok = write(loop, &text);
  *same = ok && tn_str_equal(tn_text_str(&text), file);
  tn_text_free(&text);
  return ok;
}

static bool compare_weights(tn_loop *loop) {
  bool same;
  if (!is_same_file(loop, tn_loop_write_weights, loop->options->verify->weights, &same)) return false;
  return same || differs_at(loop, loop->weights_step, TN_LIT(TN_WEIGHTS_FILE));
}

static bool compare_record(tn_loop *loop) {
  uint8_t digest[TN_SHA256_BYTES];
  tn_loop_weights_sha256(loop, digest);
  bool same = memcmp(loop->options->verify->record->weights_sha256, digest, sizeof digest) == 0;
  return same || differs(loop, "the hash of the weights in run.json");
}

/* Which part of the checkpoint it is that differs. */
static bool name_difference(const tn_checkpoint *c) {
  tn_loop *loop = c->loop;
  uint64_t generator;
  int64_t step;
  tn_str tensor;
  if (!tn_checkpoint_compare(c, &tensor) || !tn_checkpoint_position(c, &step, &generator)) return false;
  if (tensor.len > 0) return differs_at(loop, step, tensor);
  return differs(loop, generator != loop->rng.position ? "the generator's position" : "checkpoint");
}

static bool compare_checkpoint(tn_loop *loop) {
  const tn_recorded_run *recorded = loop->options->verify;
  tn_checkpoint checkpoint;
  bool same;
  if (!is_same_file(loop, tn_loop_write_checkpoint, recorded->checkpoint, &same)) return false;
  if (same) return true;
  if (tn_checkpoint_open(loop, recorded->checkpoint_path, recorded->checkpoint, &checkpoint)) {
    name_difference(&checkpoint);
    tn_checkpoint_free(&checkpoint);
  }
  return false;
}

static bool compare_given(tn_loop *loop) {
  bool same;
  if (!loop->options->verify->record->given) return true;
  if (!is_same_file(loop, tn_loop_write_given, loop->options->verify->given, &same)) return false;
  return same || differs(loop, TN_GIVEN_FILE);
}

static bool compare_facts(tn_loop *loop) {
  bool same;
  if (!loop->rows.present) return true;
  if (!is_same_file(loop, tn_loop_write_facts, loop->options->verify->facts, &same)) return false;
  return same || differs(loop, TN_FACTS_FILE);
}

/* Lines that a killed run wrote after its last checkpoint. */
static bool repeat_the_rest(tn_loop *loop) {
  while (loop->history_bytes < loop->options->verify->history.len) {
    int64_t step = tn_trainer_step_number(loop->trainer);
    if (step >= loop->steps) return differs_at(loop, step, TN_LIT(TN_HISTORY_FILE));
    if (!repeat_to(loop, step + 1)) return false;
  }
  return true;
}

static bool compare_at(tn_loop *loop, int64_t step) {
  if (step == loop->weights_step && !compare_weights(loop)) return false;
  return step != loop->options->verify->record->step || compare_record(loop);
}

/* Of a run that keeps its best model or ends early: at the step of its checkpoint. */
static bool check_end(tn_loop *loop) {
  const tn_run_record *record = loop->options->verify->record;
  bool ended = record->status != TN_RUN_STATUS_RUNNING, completed = record->status == TN_RUN_STATUS_COMPLETED;
  bool complete = record->step == record->steps || loop->ended;
  if (ended && complete != completed) return differs(loop, "the status in run.json");
  if (completed && loop->weights_step != tn_loop_model_step(loop)) return differs(loop, TN_WEIGHTS_FILE);
  return true;
}

/* The weights and the record may be of earlier steps than the checkpoint. */
static bool repeat_and_compare(tn_loop *loop) {
  int64_t record = loop->options->verify->record->step;
  int64_t weights = loop->weights_step >= 0 ? loop->weights_step : record;
  int64_t stops[] = { weights < record ? weights : record, weights < record ? record : weights };
  for (int i = 0; i < 2; i++) {
    if (!repeat_to(loop, stops[i]) || !compare_at(loop, stops[i])) return false;
  }
  return repeat_to(loop, loop->until) && check_end(loop) && compare_checkpoint(loop) &&
         compare_given(loop) && compare_facts(loop);
}

bool tn_loop_repeat(tn_loop *loop) {
  tn_verified *out = loop->options->verified;
  if (!repeat_and_compare(loop)) return false;
  if (out) tn_loop_weights_sha256(loop, out->weights_sha256);
  if (!repeat_the_rest(loop)) return false;
  if (!out) return true;
  out->steps = tn_trainer_step_number(loop->trainer);
  out->wanted = loop->steps;
  out->weights_step = loop->weights_step;
  out->facts = loop->rows.present;
  return true;
}
