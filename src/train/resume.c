/* train/resume.c: resumes a run from its folder. */
#include "base/file.h"
#include "base/folder.h"
#include "train/checkpoint.h"
#include "train/history.h"

/* What this run does, after what was done: a new segment if it wants another number of steps. */
static bool add_segment(tn_loop *loop) {
  tn_segment own = { tn_trainer_step_number(loop->trainer), loop->steps };
  if (loop->segments.count > 0 && tn_vec_last(&loop->segments).steps == own.steps) return true;
  if (loop->segments.count > 0 && tn_vec_last(&loop->segments).from == own.from) loop->segments.count--;
  return tn_vec_push(loop->host->heap, &loop->segments, own) ? true : tn_loop_out_of_memory(loop);
}

/* ---- the history so far ---- */

static bool keep_rows(tn_loop *loop, tn_str lines) {
  size_t at = 0;
  tn_str line;
  for (int64_t step = 0; tn_history_line(lines, at, &line); step++, at += line.len + 1) {
    tn_recorded_row row;
    if (!tn_history_read(line, loop->arena, &row) || row.step != step) return false;
    tn_loop_note_recorded(loop, &row);
    if (!loop->options->keep_history) continue;
    tn_text_add(&loop->history, line);
    tn_text_byte(&loop->history, ',');
  }
  return true;
}

/* Rows 0 .. steps-1 must be there; what a killed run wrote after them does not count. */
static bool take_history(const tn_checkpoint *c, tn_str history, int64_t steps) {
  tn_loop *loop = c->loop;
  size_t bytes;
  if (!tn_checkpoint_covers(c, history, steps, &bytes)) return false;
  bool fits = keep_rows(loop, (tn_str){ history.at, bytes });
  if (loop->history.failed || loop->arena->failed) return tn_loop_out_of_memory(loop);
  if (!fits) return tn_checkpoint_corrupt(c, "the history beside it does not match it");
  if (loop->in_place)
    loop->history_bytes = bytes, tn_sha256_update(&loop->history_hash, history.at, bytes);
  else if (loop->options->out) /* in another folder the lines are written again */
    tn_text_add(&loop->lines, (tn_str){ history.at, bytes });
  return true;
}

static bool load_history(const tn_checkpoint *c, int64_t steps) {
  tn_loop *loop = c->loop;
  tn_file_bytes bytes;
  if (steps == 0) return true; /* whatever lies there belongs to no step of this run */
  tn_file_status status = tn_loop_read_file(loop, loop->options->resume, TN_HISTORY_FILE, NULL, &bytes);
  if (status == TN_FILE_NO_MEMORY) return tn_loop_out_of_memory(loop);
  if (status != TN_FILE_OK) return tn_checkpoint_corrupt(c, "the history beside it cannot be read");
  bool ok = take_history(c, (tn_str){ bytes.at, bytes.len }, steps);
  tn_file_release(loop->host->heap, &bytes);
  return ok;
}

/* ---- resuming ---- */

/* A run with more steps than requested stays as it is: nothing is trained or written. One with
 * exactly as many may have been killed before it wrote its weights, and is completed. */
static void notice_no_steps(tn_loop *loop) {
  int64_t done = tn_trainer_step_number(loop->trainer);
  if (loop->ended && done < loop->steps) {
    tn_report(loop->host->diags, TN_DIAG_E_NO_STEPS_LEFT, TN_NOWHERE, TN_STR("path", loop->options->resume),
              TN_INT("done", done), TN_INT("steps", loop->steps),
              TN_INT("patience", loop->program.train->patience));
    return;
  }
  if (done < loop->steps) return;
  tn_report(loop->host->diags, TN_DIAG_E_NO_STEPS_LEFT, TN_NOWHERE, TN_STR("path", loop->options->resume),
            TN_INT("done", done), TN_INT("steps", loop->steps));
  loop->idle = done > loop->steps;
  loop->steps = done;
}

static bool resume(const tn_checkpoint *c) {
  tn_loop *loop = c->loop;
  int64_t step;
  uint64_t generator;
  if (!tn_checkpoint_position(c, &step, &generator) || !load_history(c, step) || !tn_checkpoint_load(c))
    return false;
  tn_trainer_set_step_number(loop->trainer, step);
  tn_rng_seek(&loop->rng, generator);
  notice_no_steps(loop);
  return loop->idle || add_segment(loop);
}

static bool cannot_read(tn_loop *loop, const char *path, tn_file_status status) {
  if (status == TN_FILE_NO_MEMORY) return tn_loop_out_of_memory(loop);
  if (status == TN_FILE_NOT_FOUND)
    return tn_report(loop->host->diags, TN_DIAG_E_FILE_NOT_FOUND, TN_NOWHERE, TN_STR("path", path),
                     TN_HINT(TN_LIT(TN_RUN_HINT)));
  return tn_report(loop->host->diags, TN_DIAG_E_FILE_IO_ERROR, TN_NOWHERE, TN_STR("path", path),
                   TN_STR("io_error_kind", tn_file_status_text(status)));
}

tn_file_status tn_loop_read_file(tn_loop *loop, const char *folder, const char *name, tn_str *path,
                                 tn_file_bytes *out) {
  tn_text text;
  tn_text_init(&text, loop->host->heap);
  tn_folder_join(&text, folder, name);
  if (path) *path = tn_arena_str(loop->arena, tn_text_str(&text));
  tn_file_status status = text.failed || loop->arena->failed
                              ? TN_FILE_NO_MEMORY
                              : tn_file_read(loop->host->heap, text.at, TN_RUN_FILE_LIMIT, NULL, out);
  tn_text_free(&text);
  return status;
}

static bool resume_folder(tn_loop *loop) {
  tn_str path;
  tn_file_bytes bytes;
  tn_checkpoint checkpoint;
  tn_file_status status =
      tn_loop_read_file(loop, loop->options->resume, TN_CHECKPOINT_FILE, &path, &bytes);
  if (status != TN_FILE_OK) return cannot_read(loop, path.at, status);
  bool ok = tn_checkpoint_open(loop, path.at, (tn_str){ bytes.at, bytes.len }, &checkpoint);
  tn_file_release(loop->host->heap, &bytes);
  if (!ok) return false;
  ok = resume(&checkpoint);
  tn_checkpoint_free(&checkpoint);
  return ok;
}

bool tn_loop_resume(tn_loop *loop) {
  if (loop->options->verify) return true; /* a repetition starts from the beginning */
  return loop->options->resume ? resume_folder(loop) : add_segment(loop);
}
