/* train/hyper.c: lists the hyperparameters of a run. */
#include "train/hyper.h"

#include "base/number.h"

#define FIELD_LIMIT 32 /* more than a train block has */

static void add_text(tn_hyper_list *list, const char *name, tn_str value) {
  if (list->count == list->capacity) return;
  list->at[list->count++] = (tn_hyper){ tn_str_of(name), tn_arena_str(list->arena, value) };
}

static void add_word(tn_hyper_list *list, const char *name, const char *word) {
  add_text(list, name, tn_str_of(word));
}

static void add_count(tn_hyper_list *list, const char *name, int64_t number) {
  char digits[TN_NUMBER_BYTES];
  add_text(list, name, (tn_str){ digits, tn_number_print_u64((uint64_t)number, digits) });
}

static void add_number(tn_hyper_list *list, const char *name, double number) {
  char digits[TN_NUMBER_BYTES];
  add_text(list, name, (tn_str){ digits, tn_number_print_f64(number, digits) });
}

static void add_optimizer(tn_hyper_list *list, const tn_train_options *o) {
  add_word(list, "optimizer", tn_optimizer_name(o->optimizer));
  if (o->optimizer == TN_OPTIMIZER_MOMENTUM) add_number(list, "momentum", o->momentum);
  if (o->optimizer != TN_OPTIMIZER_ADAM && o->optimizer != TN_OPTIMIZER_ADAMW) return;
  add_number(list, "beta1", o->beta1);
  add_number(list, "beta2", o->beta2);
  add_number(list, "eps", o->epsilon);
}

static void add_decay(tn_hyper_list *list, const tn_train_block *train) {
  if (train->options.weight_decay == 0) return;
  add_number(list, "weight_decay", train->options.weight_decay);
  if (train->decay.len > 0) add_text(list, "decay", train->decay);
  if (train->no_decay.len > 0) add_text(list, "no_decay", train->no_decay);
}

static void add_schedule(tn_hyper_list *list, const tn_train_options *o) {
  add_word(list, "schedule", tn_schedule_name(o->schedule));
  if (o->warmup > 0) add_count(list, "warmup", o->warmup);
  if (o->schedule != TN_SCHEDULE_CONSTANT) add_number(list, "min_lr", o->min_lr);
}

static void add_fields(tn_hyper_list *out, const tn_train_block *train, int64_t steps) {
  const tn_train_options *o = &train->options;
  if (train->epochs > 0) add_count(out, "epochs", train->epochs);
  add_count(out, "steps", steps);
  add_number(out, "lr", o->lr);
  add_count(out, "batch", train->batch / train->accumulate);
  if (train->accumulate > 1) add_count(out, "accumulate", train->accumulate);
  add_optimizer(out, o);
  add_schedule(out, o);
  add_decay(out, train);
  if (o->clip_norm > 0) add_number(out, "clip_norm", o->clip_norm);
  if (train->patience > 0) add_count(out, "patience", train->patience);
  if (train->keep_best) add_word(out, "keep", "best");
  if (o->shards > train->accumulate) add_count(out, "shards", o->shards / train->accumulate);
}

void tn_hyper_of(const tn_training *program, int64_t steps, bool constants, tn_arena *arena,
                 tn_hyper_list *out) {
  size_t capacity = FIELD_LIMIT + program->constant_count;
  *out = (tn_hyper_list){ .at = tn_arena_array(arena, capacity, sizeof *out->at), .arena = arena };
  if (!out->at) return;
  out->capacity = capacity;
  add_fields(out, program->train, steps);
  for (size_t i = 0; constants && i < program->constant_count; i++)
    out->at[out->count++] = program->constants[i];
}
