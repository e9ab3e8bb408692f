/* lang/ail/fields.c: the names of fields, and suggestions for wrong ones.
 *
 * Most wrong names are right in another framework, in another block or on the command line. Those
 * are looked up before spelling is compared: `learning_rate` is not similar to `lr`. */
#include "lang/ail/blocks.h"

#define LIST_LIMIT 64

typedef struct {
  tn_str at[LIST_LIMIT];
  size_t count;
} names;

static void add(names *list, tn_str name) {
  if (list->count < LIST_LIMIT) list->at[list->count++] = name;
}

static void add_all(names *list, const char *const *from, size_t count) {
  for (size_t i = 0; i < count; i++) add(list, tn_str_of(from[i]));
}

static bool has(const names *list, tn_str name) {
  for (size_t i = 0; i < list->count; i++) {
    if (tn_str_equal(list->at[i], name)) return true;
  }
  return false;
}

/* ---- which fields there are ---- */

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static const char *const train_fields[] = {
  "steps", "epochs", "batch", "accumulate", "warmup",   "shards",       "lr",        "min_lr",    "momentum",
  "beta1", "beta2",  "eps",   "decay",      "no_decay", "weight_decay", "clip_norm", "optimizer", "schedule",
  "patience", "keep",
};
static const char *const eval_fields[] = { "metrics", "every", "split" };
static const char *const dataset_fields[] = { "format", "path", "split", "test" };
static const char *const column_fields[] = { "tokens", "labels", "shuffle" }; /* of rows without names */
static const char *const array_fields[] = { "shuffle", "normalize" };
static const char *const table_fields[] = { "shuffle", "header", "delimiter", "missing", "normalize" };
static const char *const object_fields[] = { "tokens", "labels", "shuffle", "missing", "normalize" };
static const char *const tsv_fields[] = { "tokens", "labels", "shuffle", "header", "missing", "normalize" };

const char *tn_ail_train_field(size_t index) {
  return index < COUNT_OF(train_fields) ? train_fields[index] : NULL;
}

/* Where every input has a feed of its own, or may have one. */
static void add_feeds(const tn_ail *program, names *list) {
  switch (program->dataset.format) {
    case TN_DATASET_CSV: add_all(list, table_fields, COUNT_OF(table_fields)); break;
    case TN_DATASET_TSV: add_all(list, tsv_fields, COUNT_OF(tsv_fields)); break;
    case TN_DATASET_JSONL: add_all(list, object_fields, COUNT_OF(object_fields)); break;
    default: add_all(list, array_fields, COUNT_OF(array_fields)); break;
  }
  for (size_t i = 0; i < program->input_count; i++) {
    tn_str name = tn_ail_text_of(program, program->inputs[i].name);
    if (!has(list, name)) add(list, name);
  }
}

/* Those that the format of this program's data has; the columns of a table feed inputs. */
static void add_dataset(const tn_ail *program, names *list) {
  add_all(list, dataset_fields, COUNT_OF(dataset_fields));
  if (program->dataset.format == TN_DATASET_TEXT) {
    add(list, TN_LIT("tokens"));
  } else if (program->dataset.format == TN_DATASET_JSONL && !program->dataset.fed) {
    add_all(list, column_fields, COUNT_OF(column_fields));
  } else {
    add_feeds(program, list);
  }
}

static void add_block(const tn_ail *program, tn_ail_block_kind block, names *list) {
  if (block == TN_AIL_BLOCK_TRAIN) {
    add(list, TN_LIT("loss"));
    add_all(list, train_fields, COUNT_OF(train_fields));
  } else if (block == TN_AIL_BLOCK_EVAL) {
    add_all(list, eval_fields, COUNT_OF(eval_fields));
  } else {
    add_dataset(program, list);
  }
}

/* ---- what other frameworks call them ---- */

static const struct {
  const char *name, *foreign; /* the words are separated by spaces */
} synonyms[] = {
  { "lr", "learning_rate learningrate rate alpha eta step_size" },
  { "batch", "batch_size batchsize bs minibatch mini_batch per_device_train_batch_size" },
  { "epochs", "epoch num_epochs n_epochs max_epochs num_train_epochs" },
  { "steps", "num_steps n_steps max_steps iterations iters max_iters n_iter" },
  { "optimizer", "optim opt optimiser solver" },
  { "schedule", "scheduler lr_schedule lr_scheduler lr_decay" },
  { "warmup", "warmup_steps warmup_iters" },
  { "clip_norm", "clip grad_clip gradient_clip max_grad_norm clip_grad_norm clipnorm" },
  { "weight_decay", "wd l2 regularization" },
  { "accumulate", "grad_accum accumulation gradient_accumulation_steps accumulate_grad_batches" },
  { "patience", "early_stopping early_stopping_patience" },
  { "keep", "save_best restore_best_weights" },
  { "eps", "epsilon" },
  { "loss", "criterion objective loss_fn" },
  { "min_lr", "lr_min eta_min" },
  { "every", "eval_every eval_interval interval frequency eval_steps" },
  { "metrics", "metric" },
  { "path", "file filename data source url" },
  { "format", "type kind" },
  { "split", "train_split val_split validation_split train_size" },
  { "test", "test_split test_size" },
  { "tokens", "features inputs text" },
  { "labels", "label target targets y" },
  { "delimiter", "sep separator delim" },
  { "normalize", "normalise standardize scale" },
  { "missing", "na na_values fill" },
};

static bool is_word_of(tn_str word, const char *list) {
  tn_str rest = tn_str_of(list);
  while (rest.len > 0) {
    tn_str one = rest;
    for (one.len = 0; one.len < rest.len && rest.at[one.len] != ' ';) one.len++;
    if (tn_str_equal(one, word)) return true;
    size_t used = one.len < rest.len ? one.len + 1 : one.len;
    rest = (tn_str){ rest.at + used, rest.len - used };
  }
  return false;
}

tn_str tn_ail_field_synonym(tn_str wrong) {
  for (size_t i = 0; i < COUNT_OF(synonyms); i++) {
    if (is_word_of(wrong, synonyms[i].foreign)) return tn_str_of(synonyms[i].name);
  }
  return TN_LIT("");
}

static tn_str meant_in(const names *list, tn_str wrong) {
  tn_str synonym = tn_ail_field_synonym(wrong);
  return has(list, synonym) ? synonym : tn_str_suggest(wrong, list->at, list->count);
}

/* ---- a field that is not one ---- */

static const char *const block_names[] = { "train", "eval", "dataset" };

/* The command-line option for it; NULL: none. */
static const char *option_of(tn_str name) {
  if (tn_str_is(name, "seed") || tn_str_is(name, "random_seed")) return "--seed N";
  if (tn_str_is(name, "device")) return "--device NAME";
  if (tn_str_is(name, "threads") || tn_str_is(name, "num_workers")) return "--threads N";
  if (tn_str_is(name, "save") || tn_str_is(name, "out") || tn_str_is(name, "output_dir")) return "--out DIR";
  return NULL;
}

static void put_name(tn_text *out, tn_str name) {
  tn_text_byte(out, '`');
  tn_text_add(out, name);
  tn_text_byte(out, '`');
}

/* "`batch` is a field of the train block; " False: of no other block. */
static bool put_other_block(const tn_ail *program, tn_ail_block_kind block, tn_str wrong, tn_text *hint) {
  for (int i = 0; i < TN_AIL_BLOCK_KINDS; i++) {
    names list = { .count = 0 };
    tn_str synonym = tn_ail_field_synonym(wrong);
    if (i == (int)block) continue;
    add_block(program, (tn_ail_block_kind)i, &list);
    if (!has(&list, wrong) && !has(&list, synonym)) continue;
    put_name(hint, has(&list, wrong) ? wrong : synonym);
    tn_text_puts(hint, " is a field of the ");
    tn_text_puts(hint, block_names[i]);
    tn_text_puts(hint, " block; ");
    return true;
  }
  return false;
}

static void put_option(tn_str wrong, tn_text *hint) {
  const char *option = option_of(wrong);
  if (!option) return;
  tn_text_puts(hint, "that is an option of the command, ");
  tn_text_puts(hint, option);
  tn_text_puts(hint, "; ");
}

static void put_list(tn_ail_block_kind block, const names *list, tn_text *hint) {
  tn_text_puts(hint, "the fields of the ");
  tn_text_puts(hint, block_names[block]);
  tn_text_puts(hint, " block are ");
  for (size_t i = 0; i < list->count; i++) {
    if (i > 0) tn_text_puts(hint, i + 1 < list->count ? ", " : " and ");
    tn_text_add(hint, list->at[i]);
  }
}

static void report(const tn_ail *program, const tn_ail_field *field, const char *block, tn_str meant,
                   tn_str hint) {
  tn_text message;
  tn_text_init(&message, program->host->heap);
  put_name(&message, tn_ail_field_name(program, field));
  tn_text_puts(&message, " is not a field of the ");
  tn_text_puts(&message, block);
  tn_text_puts(&message, " block");
  tn_report(program->host->diags, TN_DIAG_E_SYNTAX_ERROR, field->name_at, TN_LINE("line", field->name_at),
            TN_COLUMN("col", field->name_at), TN_TEXT("message", tn_text_str(&message)),
            TN_TEXT("suggestion", meant), TN_HINT(hint));
  tn_text_free(&message);
}

void tn_ail_refuse_field(const tn_ail *program, tn_ail_block_kind block, const tn_ail_field *field) {
  tn_str wrong = tn_ail_field_name(program, field), meant = TN_LIT("");
  names list = { .count = 0 };
  tn_text hint;
  tn_text_init(&hint, program->host->heap);
  if (tn_ail_may_suggest(program)) {
    add_block(program, block, &list);
    bool elsewhere = put_other_block(program, block, wrong, &hint);
    if (!elsewhere) put_option(wrong, &hint);
    if (hint.len == 0) meant = meant_in(&list, wrong);
    if (meant.len > 0) {
      tn_text_puts(&hint, "did you mean ");
      put_name(&hint, meant);
      tn_text_puts(&hint, "? ");
    }
    put_list(block, &list, &hint);
  }
  report(program, field, block_names[block], meant, tn_text_str(&hint));
  tn_text_free(&hint);
}
