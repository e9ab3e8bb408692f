/* train/folder.c: writes the files of a run's folder.
 *
 *   run.json             what was run, and how it ended
 *   history.jsonl        one line per step
 *   weights.safetensors  the parameters, by name
 *   checkpoint           parameters, optimiser state, step, generator: everything to resume with
 *   given.safetensors    values of --input, --param and --weights, if there were any
 *   data.json            classes, vocabulary and statistics of the training data, if there is any
 *
 * The history grows line by line; the others are replaced whole, and each carries
 * its own hash. A checkpoint also carries the hash of the history up to its step,
 * and those of the program and of the data; resume.c reads it back and refuses one
 * that belongs to another run. The text of a file is produced by a separate function from the one
 * that writes it, because verify.c compares such texts.
 *
 * A run locks its folder before it reads or writes anything there, until it ends, so that two
 * trainings never mix their files. */
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/number.h"
#include "data/safetensors.h"
#include "train/history.h"
#include "train/loop_internal.h"
#include "train/record.h"

/* ---- writing ---- */

/* A full disk is reported once, though the end of the run tries to write again. */
static bool cannot_write(tn_loop *loop, const char *path, tn_file_status status) {
  if (loop->said_cannot_write) return false;
  loop->said_cannot_write = true;
  return tn_report(loop->host->diags, TN_DIAG_E_FILE_WRITE, TN_NOWHERE, TN_STR("path", path),
                   TN_STR("reason", tn_file_status_text(status)));
}

static bool write_file(tn_loop *loop, const char *name, const tn_text *text) {
  tn_text path;
  tn_text_init(&path, loop->host->heap);
  tn_folder_join(&path, loop->options->out, name);
  bool ok = !path.failed && !text->failed;
  if (!ok) {
    tn_loop_out_of_memory(loop);
  } else {
    tn_file_status status = tn_file_replace(loop->host->heap, path.at, tn_text_str(text), NULL);
    ok = status == TN_FILE_OK ? true : cannot_write(loop, path.at, status);
  }
  tn_text_free(&path);
  return ok;
}

tn_str tn_loop_hex(const uint8_t digest[32], char out[64]) {
  static const char digit[] = "0123456789abcdef";
  for (int i = 0; i < 32; i++) {
    out[2 * i] = digit[digest[i] >> 4];
    out[2 * i + 1] = digit[digest[i] & 15];
  }
  return (tn_str){ out, 64 };
}

void tn_loop_add_hash(tn_json_writer *json, const char *key, const uint8_t digest[32]) {
  char hex[64];
  tn_json_key(json, key), tn_json_string(json, tn_loop_hex(digest, hex));
}

static void add_number(tn_json_writer *json, const char *key, uint64_t number) {
  char digits[TN_NUMBER_BYTES];
  tn_json_key(json, key), tn_json_string(json, (tn_str){ digits, tn_number_print_u64(number, digits) });
}

/* "0:200 200:500": from which step on, and how many steps were wanted then. False: out of memory. */
static bool add_segments(const tn_loop *loop, tn_json_writer *json) {
  tn_text text;
  tn_text_init(&text, loop->host->heap);
  for (size_t i = 0; i < loop->segments.count; i++) {
    if (i > 0) tn_text_byte(&text, ' ');
    tn_text_int(&text, loop->segments.at[i].from);
    tn_text_byte(&text, ':');
    tn_text_int(&text, loop->segments.at[i].steps);
  }
  bool ok = !text.failed;
  tn_json_key(json, "segments"), tn_json_string(json, tn_text_str(&text));
  tn_text_free(&text);
  return ok;
}

/* Of the lines that belong to the steps so far. */
static void add_history_hash(const tn_loop *loop, tn_json_writer *json) {
  tn_sha256 hash = loop->history_hash;
  uint8_t digest[TN_SHA256_BYTES];
  tn_sha256_final(&hash, digest);
  tn_loop_add_hash(json, "history_sha256", digest);
}

void tn_loop_source_sha256(const tn_loop *loop, uint8_t digest[32]) {
  const tn_source *source = tn_sources_get(loop->host->sources, loop->file);
  tn_sha256 hash;
  tn_sha256_init(&hash);
  tn_sha256_update(&hash, source->text.at, source->text.len);
  tn_sha256_final(&hash, digest);
}

static void add_settings(const tn_loop *loop, tn_json_writer *json) {
  tn_text text;
  tn_text_init(&text, loop->host->heap);
  tn_settings_write(loop->host->settings, loop->host->setting_count, &text);
  tn_json_key(json, "set"), tn_json_string(json, tn_text_str(&text));
  if (text.failed) json->out->failed = true;
  tn_text_free(&text);
}

/* What decides the bits of the run, as strings: safetensors allows no others. */
static void write_identity(const tn_loop *loop, tn_json_writer *json) {
  uint8_t digest[32];
  tn_loop_source_sha256(loop, digest);
  tn_json_key(json, "version"), tn_json_string(json, tn_str_of(loop->options->version));
  tn_loop_add_hash(json, "source_sha256", digest);
  tn_loop_add_hash(json, "data_sha256", loop->rows.sha256);
  add_number(json, "seed", loop->host->seed);
  if (loop->host->setting_count > 0) add_settings(loop, json);
}

static tn_str prefixed(tn_loop *loop, tn_arena *arena, const char *prefix, tn_str name) {
  tn_text text;
  tn_text_init(&text, loop->host->heap);
  tn_text_puts(&text, prefix);
  tn_text_add(&text, name);
  if (text.failed) arena->failed = true;
  tn_str joined = tn_arena_str(arena, tn_text_str(&text));
  tn_text_free(&text);
  return joined;
}

size_t tn_loop_tensor_limit(const tn_loop *loop) {
  return 2 * (size_t)tn_trainer_param_count(loop->trainer) + (size_t)tn_trainer_state_count(loop->trainer);
}

/* A parameter's name has no slash, and no part of it is a number alone at its end. */
void tn_loop_name_tensors(tn_loop *loop, tn_arena *arena, tn_named_view *out, size_t *count) {
  int params = tn_trainer_param_count(loop->trainer), states = tn_trainer_state_count(loop->trainer);
  size_t n = 0;
  for (int i = 0; i < params; i++)
    out[n++] = (tn_named_view){ tn_loop_param_name(loop, i), *tn_trainer_param(loop->trainer, i) };
  for (int i = 0; i < states; i++) {
    char digits[TN_NUMBER_BYTES];
    tn_str number = { digits, tn_number_print_u64((uint64_t)i, digits) };
    out[n++] =
        (tn_named_view){ prefixed(loop, arena, "optimizer.", number), *tn_trainer_state(loop->trainer, i) };
  }
  for (int i = 0; tn_loop_has_best(loop) && i < params; i++)
    out[n++] = (tn_named_view){ prefixed(loop, arena, "best/", tn_loop_param_name(loop, i)),
                                *tn_loop_model_param(loop, i) };
  *count = n;
}

static void name_model(tn_loop *loop, tn_named_view *out, size_t *count) {
  *count = (size_t)tn_trainer_param_count(loop->trainer);
  for (size_t i = 0; i < *count; i++)
    out[i] = (tn_named_view){ tn_loop_param_name(loop, (int)i), *tn_loop_model_param(loop, (int)i) };
}

/* A long run calls this often, so it leaves nothing in the loop's own arena. */
static bool add_tensors(tn_loop *loop, bool whole_state, tn_str metadata, tn_text *out) {
  size_t count;
  tn_arena names;
  tn_fault fault;
  if (!tn_trainer_fetch(loop->trainer, &fault)) return tn_loop_fault(loop, &fault);
  tn_arena_init(&names, loop->host->heap);
  tn_named_view *tensors = tn_arena_array(&names, tn_loop_tensor_limit(loop) + 1, sizeof *tensors);
  if (tensors && whole_state) tn_loop_name_tensors(loop, &names, tensors, &count);
  if (tensors && !whole_state) name_model(loop, tensors, &count);
  if (tensors && !names.failed) {
    tn_safetensors_write(tensors, count, metadata, out);
  }
  bool ok = !names.failed && !out->failed;
  tn_arena_free(&names);
  return ok ? true : tn_loop_out_of_memory(loop);
}

bool tn_loop_write_weights(tn_loop *loop, tn_text *out) {
  static const char begin[] = "{\"step\":\"", end[] = "\"}";
  char metadata[sizeof begin + TN_NUMBER_BYTES + sizeof end];
  size_t length = sizeof begin - 1;
  memcpy(metadata, begin, length);
  length += tn_number_print_u64((uint64_t)tn_loop_model_step(loop), metadata + length);
  memcpy(metadata + length, end, sizeof end - 1);
  return add_tensors(loop, false, (tn_str){ metadata, length + sizeof end - 1 }, out);
}

static bool write_as(tn_loop *loop, const char *name, bool (*write)(tn_loop *loop, tn_text *out)) {
  tn_text text;
  tn_text_init(&text, loop->host->heap);
  bool ok = write(loop, &text) && write_file(loop, name, &text);
  tn_text_free(&text);
  return ok;
}

static bool write_weights(tn_loop *loop) { return write_as(loop, TN_WEIGHTS_FILE, tn_loop_write_weights); }

/* The lines since the last time, after those that are there. */
static bool write_history(tn_loop *loop) {
  tn_text path;
  tn_text_init(&path, loop->host->heap);
  tn_folder_join(&path, loop->options->out, TN_HISTORY_FILE);
  bool ok = !path.failed && !loop->lines.failed;
  if (!ok) {
    tn_loop_out_of_memory(loop);
  } else {
    tn_file_status status = tn_file_append(path.at, loop->history_bytes, tn_text_str(&loop->lines), NULL);
    ok = status == TN_FILE_OK ? true : cannot_write(loop, path.at, status);
  }
  if (ok) {
    loop->history_bytes += loop->lines.len;
    tn_sha256_update(&loop->history_hash, loop->lines.at, loop->lines.len);
    tn_text_clear(&loop->lines);
  }
  tn_text_free(&path);
  return ok;
}

bool tn_loop_write_checkpoint(tn_loop *loop, tn_text *out) {
  tn_text metadata;
  tn_text_init(&metadata, loop->host->heap);
  tn_json_writer json = tn_json_writer_on(&metadata);
  tn_json_object_begin(&json);
  tn_json_key(&json, "format"), tn_json_string(&json, TN_LIT(TN_CHECKPOINT_FORMAT));
  write_identity(loop, &json);
  add_number(&json, "step", (uint64_t)tn_trainer_step_number(loop->trainer));
  add_number(&json, "generator", loop->rng.position);
  bool ok = add_segments(loop, &json);
  add_history_hash(loop, &json);
  tn_json_object_end(&json);
  ok = ok && !metadata.failed;
  ok = ok ? add_tensors(loop, true, tn_text_str(&metadata), out) : tn_loop_out_of_memory(loop);
  tn_text_free(&metadata);
  return ok;
}

/* The step and the parameters that run.json speaks of. */
static void note_state(tn_loop *loop) {
  loop->saved_step = tn_trainer_step_number(loop->trainer);
  tn_loop_weights_sha256(loop, loop->saved_weights);
}

static bool write_checkpoint(tn_loop *loop) {
  if (!write_as(loop, TN_CHECKPOINT_FILE, tn_loop_write_checkpoint)) return false;
  note_state(loop);
  return true;
}

/* History first: a checkpoint never has steps that the history does not have. Parameters that are
 * NaN or infinity are not saved: the previous checkpoint stays. Both belong together: a stop waits
 * for them. */
bool tn_loop_checkpoint(tn_loop *loop) {
  if (!loop->options->out) return true;
  tn_stop_hold(loop->host->heap->stop);
  bool ok = write_history(loop) && (loop->spoiled || write_checkpoint(loop));
  tn_stop_let_go(loop->host->heap->stop);
  return ok;
}

/* ---- what the command line gave ----
 *
 * Values and weights that came with the command go into a file of tensors, so that the run can be
 * repeated when the files they came from are gone. */

typedef struct {
  const char *prefix;
  const tn_given *at;
  size_t count;
} given_kind;

#define GIVEN_KINDS 3
static size_t list_given(const tn_host *host, given_kind out[GIVEN_KINDS]) {
  out[0] = (given_kind){ TN_GIVEN_INPUT, host->inputs, host->input_count };
  out[1] = (given_kind){ TN_GIVEN_PARAM, host->params, host->param_count };
  out[2] = (given_kind){ TN_GIVEN_WEIGHTS, host->weights, host->weight_count };
  return host->input_count + host->param_count + host->weight_count;
}

static bool is_given(const tn_loop *loop) {
  given_kind kinds[GIVEN_KINDS];
  return list_given(loop->host, kinds) > 0;
}

bool tn_loop_write_given(tn_loop *loop, tn_text *out) {
  given_kind kinds[GIVEN_KINDS];
  size_t most = list_given(loop->host, kinds), count = 0;
  tn_named_view *tensors = tn_arena_array(loop->arena, most + 1, sizeof *tensors);
  if (!tensors) return tn_loop_out_of_memory(loop);
  tn_text name;
  bool named = true;
  tn_text_init(&name, loop->host->heap);
  for (int k = 0; k < GIVEN_KINDS; k++) {
    for (size_t i = 0; i < kinds[k].count; i++) {
      tn_text_clear(&name);
      tn_text_puts(&name, kinds[k].prefix);
      tn_text_add(&name, kinds[k].at[i].name);
      named = named && !name.failed;
      tensors[count++] =
          (tn_named_view){ tn_arena_str(loop->arena, tn_text_str(&name)), kinds[k].at[i].data.view };
    }
  }
  tn_text_free(&name);
  named = named && !loop->arena->failed;
  if (named) tn_safetensors_write(tensors, count, (tn_str){ 0 }, out);
  return named && !out->failed ? true : tn_loop_out_of_memory(loop);
}

bool tn_loop_write_facts(tn_loop *loop, tn_text *out) {
  tn_rows_write_facts(&loop->rows, &loop->program, loop->host->names, out);
  return out->failed ? tn_loop_out_of_memory(loop) : true;
}

/* ---- run.json ---- */

static bool write_record(tn_loop *loop, tn_run_status status) {
  const tn_source *source = tn_sources_get(loop->host->sources, loop->file);
  const tn_dataset_block *data = loop->program.dataset;
  tn_run_record record = { .program = source->name,
                           .source = source->text,
                           .version = tn_str_of(loop->options->version),
                           .data = data ? data->path : (tn_str){ 0 },
                           .base = loop->base,
                           .seed = loop->host->seed,
                           .steps = loop->steps,
                           .step = loop->saved_step,
                           .status = status,
                           .given = is_given(loop),
                           .settings = loop->host->settings,
                           .setting_count = loop->host->setting_count };
  tn_loop_source_sha256(loop, record.source_sha256);
  memcpy(record.data_sha256, loop->rows.sha256, sizeof record.data_sha256);
  memcpy(record.weights_sha256, loop->saved_weights, sizeof record.weights_sha256);
  tn_text text;
  tn_text_init(&text, loop->host->heap);
  tn_record_write(&record, &text);
  bool ok = write_file(loop, TN_RECORD_FILE, &text);
  tn_text_free(&text);
  return ok;
}

/* ---- beginning and ending ---- */

/* Two trainings never share a folder: the second is refused before it has read or written anything
 * there. */
static bool take_folder(tn_loop *loop) {
  const char *out = loop->options->out;
  if (tn_folder_take(out, TN_FOLDER_ALONE, &loop->held) != TN_FOLDER_IN_USE) return true;
  return tn_report(loop->host->diags, TN_DIAG_E_RUN_IN_USE, TN_NOWHERE, TN_STR("path", out));
}

/* A folder that a run is resumed in is there, or the run has failed. */
static bool make_folder(tn_loop *loop) {
  const char *out = loop->options->out, *resume = loop->options->resume;
  if (!out) return true;
  loop->in_place = resume && tn_folder_same(out, resume);
  tn_file_status status = loop->in_place ? TN_FILE_OK : tn_file_make_folders(loop->host->heap, out);
  return status == TN_FILE_OK ? take_folder(loop) : cannot_write(loop, out, status);
}

/* Determined now: the sandbox does not allow it later. */
static void find_base(tn_loop *loop) {
  tn_text way;
  if (!loop->options->out) return;
  tn_text_init(&way, loop->host->heap);
  if (tn_file_way(loop->options->out, ".", &way)) loop->base = tn_arena_str(loop->arena, tn_text_str(&way));
  tn_text_free(&way);
}

bool tn_loop_seal(tn_loop *loop) {
  if (!make_folder(loop)) return false;
  if (loop->options->out) tn_file_clear_leftovers(loop->options->out);
  find_base(loop);
  return loop->program.doors->seal(loop->program.model);
}

/* Removes files of an earlier run that this one does not write. */
static bool remove_old(tn_loop *loop, const char *name) {
  tn_text path;
  tn_text_init(&path, loop->host->heap);
  tn_folder_join(&path, loop->options->out, name);
  tn_file_status status = path.failed ? TN_FILE_NO_MEMORY : tn_file_remove(path.at);
  bool ok = path.failed            ? tn_loop_out_of_memory(loop)
            : status != TN_FILE_OK ? cannot_write(loop, path.at, status)
                                   : true;
  tn_text_free(&path);
  return ok;
}

bool tn_loop_begin_folder(tn_loop *loop) {
  bool given = is_given(loop), facts = loop->rows.present;
  bool fresh = tn_trainer_step_number(loop->trainer) == 0;
  if (!loop->options->out || loop->idle) return true;
  note_state(loop);
  if (given && !write_as(loop, TN_GIVEN_FILE, tn_loop_write_given)) return false;
  if (facts && !write_as(loop, TN_FACTS_FILE, tn_loop_write_facts)) return false;
  if (!write_record(loop, TN_RUN_STATUS_RUNNING)) return false;
  /* From here on the folder can be resumed, whenever the run is killed. A new run says so before it touches
   * the history of an older one in this place. */
  if (!(fresh ? write_checkpoint(loop) : tn_loop_checkpoint(loop))) return false;
  return (given || remove_old(loop, TN_GIVEN_FILE)) && (facts || remove_old(loop, TN_FACTS_FILE)) &&
         (fresh ? remove_old(loop, TN_EVALUATION_FILE) && remove_old(loop, TN_WEIGHTS_FILE)
                : write_weights(loop));
}

bool tn_loop_finish_folder(tn_loop *loop, tn_run_status status) {
  if (!loop->options->out) return true;
  return (loop->spoiled || write_weights(loop)) && write_record(loop, status);
}
