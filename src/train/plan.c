/* train/plan.c: the summary that a run prints before its first step. */
#include "train/hyper.h"
#include "train/loop_internal.h"

static void say(tn_loop *loop, const char *text) { tn_loop_say(loop, tn_str_of(text)); }

static void say_pair(tn_loop *loop, const char *name, tn_str value) {
  tn_text line;
  tn_text_init(&line, loop->host->heap);
  tn_text_puts(&line, "  ");
  tn_text_puts(&line, name);
  tn_text_puts(&line, ": ");
  tn_diag_put_safe(&line, value); /* a path is what the program says it is */
  tn_loop_say(loop, tn_text_str(&line));
  tn_text_free(&line);
}

static void say_int(tn_loop *loop, const char *name, int64_t number) {
  tn_text text;
  tn_text_init(&text, loop->host->heap);
  tn_text_int(&text, number);
  say_pair(loop, name, tn_text_str(&text));
  tn_text_free(&text);
}

static void say_inputs(tn_loop *loop) {
  size_t count = loop->program.specs.input_count;
  if (count == 0) return;
  say(loop, "Inputs:");
  for (size_t i = 0; i < count; i++) {
    const tn_tensor_spec *input = &loop->program.specs.inputs[i];
    say_pair(loop, tn_names_text(loop->host->names, input->name).at,
             tn_str_of(tn_data_kind_name(input->kind)));
  }
  say(loop, "");
}

static void say_dataset(tn_loop *loop) {
  const tn_dataset_block *data = loop->program.dataset;
  if (!data) return;
  say(loop, "Dataset:");
  say_pair(loop, "format", tn_str_of(tn_dataset_format_name(data->format)));
  say_pair(loop, "path", data->path);
  say_int(loop, "train_count", (int64_t)loop->rows.train_count);
  say_int(loop, "val_count",
          (int64_t)(loop->rows.count - loop->rows.train_count - loop->rows.test_count));
  if (data->test > 0) say_int(loop, "test_count", (int64_t)loop->rows.test_count);
  say(loop, "");
}

static void say_eval(tn_loop *loop) {
  const tn_eval_block *eval = loop->program.eval;
  if (!eval) return;
  tn_text metrics;
  tn_text_init(&metrics, loop->host->heap);
  for (size_t i = 0; i < eval->metric_count; i++) {
    tn_text_puts(&metrics, i > 0 ? ", \"" : "[\"");
    tn_text_add(&metrics, eval->metrics[i].name);
    tn_text_byte(&metrics, '"');
  }
  tn_text_byte(&metrics, ']');
  say(loop, "Eval:");
  say_pair(loop, "split", eval->on_train ? TN_LIT("train") : TN_LIT("val"));
  say_int(loop, "every", eval->every);
  say_pair(loop, "metrics", tn_text_str(&metrics));
  say(loop, "");
  tn_text_free(&metrics);
}

static void say_train(tn_loop *loop) {
  tn_hyper_list list;
  tn_hyper_of(&loop->program, loop->steps, false, loop->arena, &list);
  say(loop, "Train:");
  for (size_t i = 0; i < list.count; i++)
    say_pair(loop, tn_str_is(list.at[i].name, "batch") ? "batch_size" : list.at[i].name.at, list.at[i].value);
  say(loop, "");
}

void tn_loop_say_plan(tn_loop *loop) {
  say_inputs(loop);
  say_dataset(loop);
  say_train(loop);
  say_eval(loop);
  say(loop, "Starting training...");
}
