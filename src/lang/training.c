/* lang/training.c: the names of optimisers, schedules, formats and kinds of data. */
#include "lang/training.h"

static int find(const char *const *names, int count, tn_str name) {
  for (int i = 0; i < count; i++) {
    if (tn_str_is(name, names[i])) return i;
  }
  return -1;
}

static const char *const optimizer_names[] = { "sgd", "momentum", "adam", "adamw" };
static const char *const schedule_names[] = { "constant", "cosine", "linear" };

const char *tn_optimizer_name(tn_optimizer optimizer) { return optimizer_names[optimizer]; }
const char *tn_schedule_name(tn_schedule schedule) { return schedule_names[schedule]; }
int tn_optimizer_find(tn_str name) { return find(optimizer_names, 4, name); }
int tn_schedule_find(tn_str name) { return find(schedule_names, 3, name); }

static const char *const format_names[] = { "jsonl", "tsv", "csv", "text", "npy", "npz" };

const char *tn_dataset_format_name(tn_dataset_format format) { return format_names[format]; }
int tn_dataset_format_find(tn_str name) { return find(format_names, 6, name); }

const char *tn_data_kind_name(tn_data_kind kind) {
  switch (kind) {
    case TN_DATA_TENSOR: return "tensor";
    case TN_DATA_TOKEN_IDS: return "token_ids";
    case TN_DATA_LABELS: return "labels";
    case TN_DATA_BOOLEAN: return "boolean";
    case TN_DATA_UNKNOWN: break;
  }
  return "unknown";
}

tn_dtype tn_data_kind_dtype(tn_data_kind kind) {
  if (kind == TN_DATA_BOOLEAN) return TN_BOOL;
  return kind == TN_DATA_TOKEN_IDS || kind == TN_DATA_LABELS ? TN_I32 : TN_F32;
}
