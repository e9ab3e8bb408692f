/* train/record.h: run.json of a run's folder, the record of what was run and how it ended.
 *
 * The text is canonical: the members have a fixed order, without blanks, and the
 * last one seals all the others (base/seal.h). So a record is unchanged to the
 * byte, or it is refused. A seal is not a signature; `tern verify` recomputes
 * whatever a record claims. */
#ifndef TN_TRAIN_RECORD_H
#define TN_TRAIN_RECORD_H

#include "base/arena.h"
#include "base/sha256.h"
#include "base/text.h"
#include "lang/lang.h"

#define TN_EVALUATION_FILE "evaluation.json" /* of `tern evaluate --record` (score.h) */
#define TN_RECORD_FILE "run.json"
/* Where a folder has no such file. */
#define TN_RUN_HINT "a run is the folder that `tern train --out` made"

typedef enum { TN_RUN_STATUS_RUNNING, TN_RUN_STATUS_COMPLETED, TN_RUN_STATUS_STOPPED } tn_run_status;
const char *tn_run_status_name(tn_run_status status);

typedef struct {
  tn_str program, source; /* its name and its text */
  tn_str version;         /* of tern */
  tn_str data;            /* path of the data file; `at` is NULL where the program names none */
  tn_str base;            /* relative path from the run's folder to where it was started; empty: not known */
  uint64_t seed;
  int64_t steps;          /* wanted */
  int64_t step;           /* of the parameters that weights_sha256 is of */
  tn_run_status status;
  bool given;             /* values from the command line lie in given.safetensors */
  const tn_setting *settings; /* --set, sorted by name; read back without their files */
  size_t setting_count;
  uint8_t source_sha256[TN_SHA256_BYTES], data_sha256[TN_SHA256_BYTES], weights_sha256[TN_SHA256_BYTES];
} tn_run_record;

/* "lr=0.01", a line each: what a checkpoint says of them. */
void tn_settings_write(const tn_setting *settings, size_t count, tn_text *out);
void tn_record_write(const tn_run_record *record, tn_text *out);
/* NULL when it was read, its texts in the arena; else what is wrong with it (static). Memory that ran out
 * is tn_record_no_memory itself, a record without a seal tn_record_unsealed. */
extern const char tn_record_no_memory[], tn_record_unsealed[];
const char *tn_record_read(tn_heap *heap, tn_str text, tn_arena *arena, tn_run_record *out);
#endif
