/* train/trainer.c: the graph of a step, its plan, and the memory that lasts. */
#include "train/trainer.h"

#include <string.h>

#include "base/elementary.h"
#include "base/rng.h"
#include "train/optimizer.h"

struct tn_trainer {
  tn_heap *heap;
  tn_arena arena;
  tn_train_options options;
  uint64_t seed;
  int64_t step;
  tn_graph graph; /* of a step */
  tn_plan *plan;
  int input_count; /* the program's own */
  int param_count;
  int learning_count; /* parameters that a gradient reaches */
  tn_tensor *tensors; /* parameters, then states */
  int tensor_count;
  float scalar[TN_SCALAR_COUNT];
  int scalar_input[TN_SCALAR_COUNT]; /* -1: not used */
  int64_t key;
  int key_input; /* -1: the program draws nothing */
  int *shown;    /* by value, the output that shows it; 0: none. NULL: nothing is shown */
};

/* ---- schedules ---- */

#define TN_PI 3.14159265358979323846

double tn_train_lr(const tn_train_options *options, int64_t step) {
  double lr = options->lr;
  if (step < options->warmup) return lr * (double)(step + 1) / (double)options->warmup;
  int64_t span = options->steps - options->warmup;
  if (options->schedule == TN_SCHEDULE_CONSTANT || span <= 0) return lr;
  double done = (double)(step - options->warmup) / (double)span;
  if (done > 1) done = 1;
  if (options->schedule == TN_SCHEDULE_LINEAR) return lr * (1 - done);
  return lr * 0.5 * (1 + tn_cos_f64(TN_PI * done));
}

/* ---- the graph of a step ---- */

typedef struct {
  tn_trainer *trainer;
  tn_graph_builder builder;
  const tn_trainer_request *request;
  tn_value *grads, *states, *next, *next_states;
  int per_param; /* states of one parameter */
  tn_fault *fault;
} maker;

static tn_name name_of(maker *m, const char *prefix, int number) {
  tn_text text;
  tn_text_init(&text, m->trainer->heap);
  tn_text_puts(&text, prefix);
  if (number >= 0) tn_text_int(&text, number);
  tn_name name = text.failed ? 0 : tn_names_intern(m->trainer->graph.names, tn_text_str(&text));
  tn_text_free(&text);
  return name;
}

static void add_scalars(maker *m, tn_value *scalar) {
  static const char *const names[] = { "lr", "correction1", "correction2" };
  tn_type f32 = { .dtype = TN_F32 };
  tn_trainer *t = m->trainer;
  for (int i = 0; i < TN_SCALAR_COUNT; i++) {
    t->scalar_input[i] = -1;
    if (!tn_optimizer_uses(t->options.optimizer, (tn_train_scalar)i)) continue;
    t->scalar_input[i] = (int)t->graph.inputs.count;
    scalar[i] = tn_build_input(&m->builder.base, name_of(m, names[i], -1), &f32);
  }
}

static void add_states(maker *m) {
  for (int p = 0; p < m->trainer->param_count; p++) {
    tn_type type = *tn_graph_type(&m->trainer->graph, m->trainer->graph.params.at[p]);
    for (int s = 0; s < m->per_param; s++) {
      int index = p * m->per_param + s;
      m->states[index] = tn_build_param(&m->builder.base, name_of(m, "state", index), &type);
    }
  }
}

static bool find_gradients(maker *m, tn_value loss, tn_value *grads) {
  tn_value seed = TN_NO_VALUE;
  tn_grad_request request = { .builder = &m->builder,
                              .outputs = &loss,
                              .seeds = &seed,
                              .output_count = 1,
                              .wrt = m->trainer->graph.params.at,
                              .wrt_count = m->trainer->param_count,
                              .policy = TN_AD_LENIENT,
                              .sparse_zeros = true };
  return tn_ad_grad(&request, grads);
}

/* ---- shards ---- */

/* The sum of values[0], values[stride], ...: neighbours first; an odd one moves up. Absent ones are zero. */
static tn_value add_tree(tn_builder *b, tn_value *values, int count, int stride) {
  for (int width = 1; width < count; width *= 2) {
    for (int i = 0; i + width < count; i += 2 * width) {
      tn_value *left = &values[i * stride], right = values[(i + width) * stride];
      if (right == TN_NO_VALUE) continue;
      *left = *left == TN_NO_VALUE ? right : tn_build_binary(b, TN_OP_ADD, *left, right);
    }
  }
  return values[0];
}

static tn_value mean_of(maker *m, tn_value *values, int count, int stride) {
  tn_builder *b = &m->builder.base;
  tn_value sum = add_tree(b, values, count, stride);
  if (sum == TN_NO_VALUE) return sum;
  return tn_build_binary(b, TN_OP_DIV, sum, tn_build_number(b, tn_build_type(b, sum)->dtype, count));
}

/* The step's own inputs and parameters, in the program's order; divided ones are longer. */
static bool declare_whole(maker *m) {
  const tn_graph *part = m->request->graph;
  for (size_t i = 0; i < part->inputs.count; i++) {
    const tn_node *node = tn_graph_node(part, part->inputs.at[i]);
    tn_type type = node->type;
    if (m->request->sharded && m->request->sharded[i]) type.shape.dim[0] *= m->trainer->options.shards;
    tn_build_input(&m->builder.base, node->attrs->name, &type);
  }
  for (size_t i = 0; i < part->params.count; i++) {
    const tn_node *node = tn_graph_node(part, part->params.at[i]);
    tn_build_param(&m->builder.base, node->attrs->name, &node->type);
  }
  return tn_build_ok(&m->builder.base);
}

#define TN_SHARD_WORDS ((uint64_t)1 << 48) /* random words between one shard and the next */

static bool add_shard(maker *m, int shard, tn_value *map, tn_value *loss) {
  const tn_graph *part = m->request->graph;
  tn_graph *whole = &m->trainer->graph;
  for (size_t i = 0; i < part->inputs.count; i++) {
    tn_value input = whole->inputs.at[i];
    if (m->request->sharded && m->request->sharded[i]) {
      int64_t rows = tn_graph_type(part, part->inputs.at[i])->shape.dim[0];
      input = tn_build_slice(&m->builder.base, input, 0, shard * rows, (shard + 1) * rows, 1);
    }
    map[part->inputs.at[i]] = input;
  }
  for (size_t i = 0; i < part->params.count; i++) map[part->params.at[i]] = whole->params.at[i];
  if (!tn_build_ok(&m->builder.base) || !tn_graph_inline(part, whole, (uint64_t)shard * TN_SHARD_WORDS, map))
    return false;
  *loss = map[part->outputs.at[m->request->loss].value];
  return true;
}

static bool make_shards(maker *m, tn_value *loss) {
  tn_trainer *t = m->trainer;
  int shards = (int)t->options.shards, params = t->param_count;
  tn_value *map = tn_arena_array(&t->arena, m->request->graph->nodes.count, sizeof *map);
  tn_value *losses = tn_arena_array(&t->arena, (size_t)shards, sizeof *losses);
  tn_value *grads = tn_arena_array(&t->arena, (size_t)shards * (size_t)params + 1, sizeof *grads);
  if (!map || !losses || !grads || !declare_whole(m)) return false;
  for (int s = 0; s < shards; s++) {
    if (!add_shard(m, s, map, &losses[s]) || !find_gradients(m, losses[s], grads + s * params)) return false;
  }
  for (int p = 0; p < params; p++) m->grads[p] = mean_of(m, grads + p, shards, params);
  *loss = mean_of(m, losses, shards, 1);
  return tn_build_ok(&m->builder.base);
}

/* The step's outputs: the loss, then the next value of every parameter and state. */
static bool add_updates(maker *m, const tn_value *scalar) {
  tn_trainer *t = m->trainer;
  tn_optimizer_args args = { .builder = &m->builder, .options = &t->options };
  memcpy(args.scalar, scalar, sizeof args.scalar);
  tn_optimizer_clip(&args, m->grads, t->param_count);
  for (int p = 0; p < t->param_count; p++) {
    tn_value *states = m->states + p * m->per_param, *next_states = m->next_states + p * m->per_param;
    m->next[p] = tn_optimizer_update(&args, t->graph.params.at[p], m->grads[p], states, next_states);
  }
  bool ok = true;
  for (int p = 0; p < t->param_count; p++) ok = ok && tn_graph_output(&t->graph, 0, m->next[p]);
  for (int s = 0; s < t->param_count * m->per_param; s++)
    ok = ok && tn_graph_output(&t->graph, 0, m->next_states[s]);
  return ok && tn_build_ok(&m->builder.base);
}

static bool make_arrays(maker *m) {
  tn_arena *arena = &m->trainer->arena;
  size_t params = (size_t)m->trainer->param_count, states = params * (size_t)m->per_param;
  m->grads = tn_arena_array(arena, params + 1, sizeof *m->grads);
  m->next = tn_arena_array(arena, params + 1, sizeof *m->next);
  m->states = tn_arena_array(arena, states + 1, sizeof *m->states);
  m->next_states = tn_arena_array(arena, states + 1, sizeof *m->next_states);
  return !arena->failed;
}

static int input_named(const tn_graph *graph, const char *name) {
  for (size_t i = 0; i < graph->inputs.count; i++) {
    tn_name found = tn_graph_node(graph, graph->inputs.at[i])->attrs->name;
    if (tn_str_is(tn_names_text(graph->names, found), name)) return (int)i;
  }
  return -1;
}

/* Forward and gradients of the whole batch at once. */
static bool make_whole(maker *m, tn_value *loss) {
  *loss = m->trainer->graph.outputs.at[m->request->loss].value;
  m->trainer->graph.outputs.count = 0;
  return find_gradients(m, *loss, m->grads);
}

static bool make_graph(maker *m) {
  tn_trainer *t = m->trainer;
  tn_value scalar[TN_SCALAR_COUNT] = { 0 }, loss;
  bool sharded = t->options.shards > 1;
  bool made = sharded ? tn_graph_init(&t->graph, t->heap, m->request->graph->names)
                      : tn_graph_copy(m->request->graph, &t->graph);
  if (!made) return false;
  t->input_count = (int)m->request->graph->inputs.count;
  t->param_count = (int)m->request->graph->params.count;
  m->per_param = tn_optimizer_states(t->options.optimizer);
  tn_graph_builder_init(&m->builder, &t->graph);
  if (!make_arrays(m) || !(sharded ? make_shards(m, &loss) : make_whole(m, &loss))) return false;
  for (int p = 0; p < t->param_count; p++) t->learning_count += m->grads[p] != TN_NO_VALUE;
  t->key_input = input_named(&t->graph, TN_DROPOUT_KEY);
  if (!tn_graph_output(&t->graph, 0, loss)) return false;
  add_scalars(m, scalar);
  add_states(m);
  return add_updates(m, scalar);
}

/* ---- memory ---- */

static bool make_tensors(maker *m) {
  tn_trainer *t = m->trainer;
  t->tensor_count = (int)t->graph.params.count;
  t->tensors = tn_arena_array(&t->arena, (size_t)t->tensor_count + 1, sizeof *t->tensors);
  if (!t->tensors) return false;
  for (int i = 0; i < t->tensor_count; i++) {
    const tn_type *type = tn_graph_type(&t->graph, t->graph.params.at[i]);
    if (!tn_tensor_zeros(t->heap, type->dtype, &type->shape, &t->tensors[i])) return false;
  }
  return true;
}

static bool make_plan(maker *m) {
  tn_trainer *t = m->trainer;
  int *updates = tn_arena_array(&t->arena, (size_t)t->tensor_count + 1, sizeof *updates);
  if (!updates) return false;
  for (int i = 0; i < t->tensor_count; i++) {
    bool stays = t->graph.outputs.at[i + 1].value == t->graph.params.at[i];
    updates[i] = stays || m->request->shows_all ? -1 : i + 1;
  }
  tn_plan_options options = { .backend = m->request->backend,
                              .threads = m->request->threads,
                              .updates = updates };
  t->plan = tn_plan_new(t->heap, &t->graph, &options, m->fault);
  if (!t->plan) return false;
  for (int i = 0; i < t->tensor_count; i++) tn_plan_bind_param(t->plan, i, &t->tensors[i].view);
  for (int i = 0; i < TN_SCALAR_COUNT; i++) {
    tn_view view = tn_view_make(&t->scalar[i], TN_F32, &TN_SCALAR_SHAPE);
    if (t->scalar_input[i] >= 0) tn_plan_bind_input(t->plan, t->scalar_input[i], &view);
  }
  tn_view key = tn_view_make(&t->key, TN_I64, &TN_SCALAR_SHAPE);
  if (t->key_input >= 0) tn_plan_bind_input(t->plan, t->key_input, &key);
  return true;
}

/* What can be looked at: everything that is computed whatever branch is taken. */
static bool show_all(maker *m) {
  tn_trainer *t = m->trainer;
  size_t count = t->graph.nodes.count;
  t->shown = tn_arena_array(&t->arena, count + 1, sizeof *t->shown);
  if (!t->shown) return false;
  for (size_t v = 1; v < count; v++) {
    const tn_node *node = tn_graph_node(&t->graph, (tn_value)v);
    if (node->region != 0 || !tn_dtype_in(node->type.dtype, TN_FLOATS)) continue;
    t->shown[v] = (int)t->graph.outputs.count;
    if (!tn_graph_output(&t->graph, 0, (tn_value)v)) return false;
  }
  return true;
}

static bool make(maker *m) {
  tn_trainer *t = m->trainer;
  if (!make_graph(m)) {
    if (m->builder.base.fault.kind != TN_FAULT_NONE) *m->fault = m->builder.base.fault;
    return false;
  }
  return tn_opt_run(&t->graph, m->request->passes, m->request->folder) &&
         (!m->request->shows_all || show_all(m)) && make_tensors(m) && make_plan(m);
}

tn_trainer *tn_trainer_new(tn_heap *heap, const tn_trainer_request *request, tn_fault *fault) {
  *fault = (tn_fault){ .kind = TN_FAULT_MEMORY };
  tn_trainer *trainer = tn_heap_alloc(heap, sizeof *trainer);
  if (!trainer) return NULL;
  trainer->heap = heap;
  trainer->options = request->options;
  trainer->seed = request->seed;
  tn_arena_init(&trainer->arena, heap);
  maker m = { .trainer = trainer, .request = request, .fault = fault };
  if (!make(&m)) {
    tn_trainer_free(trainer);
    return NULL;
  }
  *fault = (tn_fault){ 0 };
  return trainer;
}

void tn_trainer_free(tn_trainer *trainer) {
  if (!trainer) return;
  tn_plan_free(trainer->plan);
  for (int i = 0; i < trainer->tensor_count && trainer->tensors; i++) tn_tensor_unref(&trainer->tensors[i]);
  if (trainer->graph.heap) tn_graph_free(&trainer->graph);
  tn_arena_free(&trainer->arena);
  tn_heap_free(trainer->heap, trainer, sizeof *trainer);
}

/* ---- use ---- */

int tn_trainer_learning_count(const tn_trainer *trainer) { return trainer->learning_count; }
int tn_trainer_param_count(const tn_trainer *trainer) { return trainer->param_count; }
const tn_view *tn_trainer_param(const tn_trainer *trainer, int index) {
  return &trainer->tensors[index].view;
}
int tn_trainer_state_count(const tn_trainer *trainer) { return trainer->tensor_count - trainer->param_count; }
const tn_view *tn_trainer_state(const tn_trainer *trainer, int index) {
  return &trainer->tensors[trainer->param_count + index].view;
}

void tn_trainer_bind_input(tn_trainer *trainer, int index, const tn_view *view) {
  if (index < trainer->input_count && index != trainer->key_input)
    tn_plan_bind_input(trainer->plan, index, view);
}

void tn_trainer_set_host(tn_trainer *trainer, const tn_plan_host *host) {
  tn_plan_set_host(trainer->plan, host);
}

int64_t tn_trainer_step_number(const tn_trainer *trainer) { return trainer->step; }
void tn_trainer_set_step_number(tn_trainer *trainer, int64_t step) { trainer->step = step; }
void tn_trainer_set_steps(tn_trainer *trainer, int64_t steps) { trainer->options.steps = steps; }
const tn_graph *tn_trainer_graph(const tn_trainer *trainer) { return &trainer->graph; }

bool tn_view_not_finite(const tn_view *view, double *value) {
  int64_t count = tn_dtype_in(view->dtype, TN_FLOATS) ? tn_view_count(view) : 0;
  for (int64_t i = 0; i < count; i++) {
    *value = tn_view_get_f64(view, i);
    if (*value - *value != 0) return true; /* NaN, or an infinity less itself */
  }
  return false;
}

static bool is_spoiled(const tn_trainer *t, tn_value value, double *number) {
  if (!t->shown[value]) return false;
  tn_view view = tn_plan_output(t->plan, t->shown[value]);
  return tn_view_not_finite(&view, number);
}

/* A constant is what the program says: an infinity there is meant. */
static bool is_origin(const tn_trainer *t, const tn_node *node) {
  double number;
  if (node->op == TN_OP_FILL || node->op == TN_OP_CONST) return false;
  for (int i = 0; i < node->count; i++) {
    if (is_spoiled(t, node->in[i], &number)) return false;
  }
  return true;
}

bool tn_trainer_find_not_finite(const tn_trainer *t, tn_not_finite *out) {
  for (size_t v = 1; t->shown && v < t->graph.nodes.count; v++) {
    const tn_node *node = tn_graph_node(&t->graph, (tn_value)v);
    double number;
    if (!is_spoiled(t, (tn_value)v, &number) || !is_origin(t, node)) continue;
    *out = (tn_not_finite){ node->op, node->at, number };
    return true;
  }
  return false;
}

bool tn_trainer_step(tn_trainer *trainer, double *loss, tn_fault *fault) {
  for (int i = 0; i < TN_SCALAR_COUNT; i++) {
    if (trainer->scalar_input[i] < 0) continue;
    trainer->scalar[i] = (float)tn_optimizer_scalar(&trainer->options, (tn_train_scalar)i, trainer->step);
  }
  trainer->key = (int64_t)tn_rng_mix(trainer->seed, (uint64_t)trainer->step);
  if (!tn_plan_run(trainer->plan, fault)) return false;
  tn_view view = tn_plan_output(trainer->plan, 0);
  *loss = tn_view_get_f64(&view, 0);
  trainer->step++;
  return true;
}
