/* train/trainer.c: builds the graph of a training step, plans it and runs it.
 *
 * With shards the graph of a step is that of the update: it reads the means of losses and gradients over the
 * shards (shards.h). Between ranks that share memory each updates only what it owns (lasting.h): its
 * parameters, states and gradients are pieces then, and whole gradients are read for their norm alone. */
#include "train/trainer.h"

#include <string.h>

#include "backend/cuda/resident.h"
#include "base/elementary.h"
#include "base/rng.h"
#include "train/half.h"
#include "train/optimizer.h"
#include "train/shards.h"

struct tn_trainer {
  tn_heap *heap;
  tn_arena arena;
  tn_train_options options;
  uint64_t seed;
  int64_t step;
  tn_half half;         /* outputs: the loss, then the next values */
  tn_shard_means *means; /* what it reads; NULL: no shards */
  tn_elements *own;     /* by parameter, what this rank updates; NULL: everything */
  int input_count; /* the program's own */
  int param_count;
  int per_param;      /* states of one */
  int learning_count; /* parameters that a gradient reaches */
  tn_lasting lasting; /* parameters, then states */
  tn_resident *resident; /* where they live on a card; NULL: on the host */
  float scalar[TN_SCALAR_COUNT];
  int scalar_input[TN_SCALAR_COUNT]; /* -1: not used */
  int64_t key;
  int key_input; /* -1: the program draws nothing */
  /* of a guarded step */
  bool guarded, refused, passes;
  float sum; /* of its loss and gradients */
};

/* ---- schedules ---- */

#define TN_PI 3.14159265358979323846

double tn_train_lr(const tn_train_options *options, int64_t step) {
  double lr = options->lr, low = options->min_lr;
  if (step < options->warmup) return lr * (double)(step + 1) / (double)options->warmup;
  int64_t span = options->steps - options->warmup;
  if (options->schedule == TN_SCHEDULE_CONSTANT || span <= 0) return lr;
  double done = (double)(step - options->warmup) / (double)span;
  if (done > 1) done = 1;
  if (options->schedule == TN_SCHEDULE_LINEAR) return low + (lr - low) * (1 - done);
  return low + (lr - low) * 0.5 * (1 + tn_cos_f64(TN_PI * done));
}

/* ---- the graph of a step ---- */

typedef struct {
  tn_trainer *trainer;
  tn_graph_builder builder;
  const tn_trainer_request *request;
  tn_value *grads, *states, *next, *next_states;
  tn_value *whole; /* gradients, where `grads` are pieces of them */
  tn_fault *fault;
} maker;

static tn_name name_of(maker *m, const char *prefix, int number) {
  tn_text text;
  tn_text_init(&text, m->trainer->heap);
  tn_text_puts(&text, prefix);
  if (number >= 0) tn_text_int(&text, number);
  tn_name name = text.failed ? 0 : tn_names_intern(m->trainer->half.graph.names, tn_text_str(&text));
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
    t->scalar_input[i] = (int)t->half.graph.inputs.count;
    scalar[i] = tn_build_input(&m->builder.base, name_of(m, names[i], -1), &f32);
  }
}

static void add_states(maker *m) {
  for (int p = 0; p < m->trainer->param_count; p++) {
    tn_type type = *tn_graph_type(&m->trainer->half.graph, m->trainer->half.graph.params.at[p]);
    for (int s = 0; s < m->trainer->per_param; s++) {
      int index = p * m->trainer->per_param + s;
      m->states[index] = tn_build_param(&m->builder.base, name_of(m, "state", index), &type);
    }
  }
}

/* ---- the means over shards ---- */

static tn_value read_mean(maker *m, int mean) {
  tn_view view = tn_shard_means_view(m->trainer->means, mean);
  tn_type type = { .dtype = view.dtype, .shape = tn_view_shape(&view) };
  return tn_build_input(&m->builder.base, name_of(m, "mean", mean), &type);
}

/* What of a parameter, its gradient and its states is updated here. */
static tn_type own_type(const tn_trainer *t, int param, const tn_type *type) {
  if (!t->own) return *type;
  return (tn_type){ .dtype = type->dtype, .shape = tn_shape_make(1, t->own[param].count) };
}

static tn_view own_mean(const tn_trainer *t, int param) {
  tn_view view = tn_shard_means_view(t->means, tn_shard_means_of(t->means, param));
  tn_shape shape = tn_shape_make(1, t->own[param].count);
  char *at = (char *)view.data + (size_t)t->own[param].first * tn_dtype_bytes(view.dtype);
  return tn_view_make(at, view.dtype, &shape);
}

/* After the whole means, in their order. */
static void read_own_means(maker *m) {
  tn_trainer *t = m->trainer;
  for (int p = 0; p < t->param_count; p++) {
    m->whole[p] = m->grads[p];
    if (m->grads[p] == TN_NO_VALUE) continue;
    const tn_type *type = tn_graph_type(&t->half.graph, m->grads[p]);
    tn_type own = own_type(t, p, type);
    m->grads[p] = tn_build_input(&m->builder.base, name_of(m, "own", p), &own);
  }
}

/* The inputs are the means, in their order; the parameters are the program's. */
static bool read_means(maker *m, tn_value *loss) {
  tn_trainer *t = m->trainer;
  const tn_graph *part = m->request->graph;
  if (!tn_graph_init(&t->half.graph, t->heap, part->names)) return false;
  tn_graph_builder_init(&m->builder, &t->half.graph);
  for (int p = 0; p < t->param_count; p++) {
    const tn_node *node = tn_graph_node(part, part->params.at[p]);
    int mean = tn_shard_means_of(t->means, p);
    tn_type type = own_type(t, p, &node->type);
    tn_build_param(&m->builder.base, node->attrs->name, &type);
    m->grads[p] = mean < 0 ? TN_NO_VALUE : read_mean(m, mean);
  }
  *loss = read_mean(m, tn_shard_means_count(t->means) - 1);
  if (t->own) read_own_means(m);
  return tn_build_ok(&m->builder.base);
}

/* NaN or infinity if the loss or a gradient holds one; reading all gradients once is all it takes. */
static tn_value sum_of_all(maker *m, tn_value loss) {
  tn_builder *b = &m->builder.base;
  tn_value total = tn_build_cast(b, loss, TN_F32);
  for (int p = 0; p < m->trainer->param_count; p++) {
    if (m->grads[p] == TN_NO_VALUE) continue;
    tn_value sum = tn_build_cast(b, tn_build_reduce(b, TN_OP_SUM, m->grads[p], NULL, -1, false), TN_F32);
    total = tn_build_binary(b, TN_OP_ADD, total, sum);
  }
  return total;
}

/* The step's outputs: the loss, then the next value of every parameter and state; if it is guarded, the sum
 * of what must be finite. */
static bool add_updates(maker *m, const tn_value *scalar) {
  tn_trainer *t = m->trainer;
  tn_optimizer_args args = { .builder = &m->builder, .options = &t->options };
  memcpy(args.scalar, scalar, sizeof args.scalar);
  args.scale = tn_optimizer_clip(&args, t->own ? m->whole : m->grads, t->param_count);
  for (int p = 0; p < t->param_count; p++) {
    int first = p * t->per_param;
    m->next[p] = tn_optimizer_update(&args, p, m->grads[p], m->states + first, m->next_states + first);
  }
  bool ok = true;
  for (int p = 0; p < t->param_count; p++) ok = ok && tn_graph_output(&t->half.graph, 0, m->next[p]);
  for (int s = 0; s < t->param_count * t->per_param; s++)
    ok = ok && tn_graph_output(&t->half.graph, 0, m->next_states[s]);
  return ok && tn_build_ok(&m->builder.base);
}

static bool make_arrays(maker *m) {
  tn_arena *arena = &m->trainer->arena;
  size_t params = (size_t)m->trainer->param_count, states = params * (size_t)m->trainer->per_param;
  m->grads = tn_arena_array(arena, params + 1, sizeof *m->grads);
  m->whole = tn_arena_array(arena, params + 1, sizeof *m->whole);
  m->next = tn_arena_array(arena, params + 1, sizeof *m->next);
  m->states = tn_arena_array(arena, states + 1, sizeof *m->states);
  m->next_states = tn_arena_array(arena, states + 1, sizeof *m->next_states);
  return !arena->failed;
}

/* Forward and gradients of the whole batch at once. */
static bool make_whole(maker *m, tn_value *loss) {
  tn_trainer *t = m->trainer;
  if (!tn_graph_copy(m->request->graph, &t->half.graph)) return false;
  tn_graph_builder_init(&m->builder, &t->half.graph);
  *loss = t->half.graph.outputs.at[m->request->loss].value;
  t->half.graph.outputs.count = 0;
  t->key_input = tn_half_input(&t->half, TN_DROPOUT_KEY);
  return tn_half_gradients(&m->builder, *loss, m->grads);
}

static bool make_graph(maker *m) {
  tn_trainer *t = m->trainer;
  tn_value scalar[TN_SCALAR_COUNT] = { 0 }, loss;
  if (!make_arrays(m) || !(t->means ? read_means(m, &loss) : make_whole(m, &loss))) return false;
  for (int p = 0; p < t->param_count; p++) t->learning_count += m->grads[p] != TN_NO_VALUE;
  if (!tn_graph_output(&t->half.graph, 0, loss)) return false;
  add_scalars(m, scalar);
  add_states(m);
  tn_value sum = t->guarded ? sum_of_all(m, loss) : TN_NO_VALUE;
  return add_updates(m, scalar) && (!t->guarded || tn_graph_output(&t->half.graph, 0, sum));
}

/* ---- memory ---- */

/* Whose value or state a lasting tensor is. */
static int param_of(const tn_trainer *t, int tensor) {
  return tensor < t->param_count ? tensor : (tensor - t->param_count) / t->per_param;
}

static bool make_lasting(maker *m) {
  tn_trainer *t = m->trainer;
  const tn_graph *graph = m->request->graph;
  int ranks = t->means ? tn_shard_means_sharing(t->means) : 0;
  int count = t->param_count * (1 + t->per_param);
  tn_type *types = tn_arena_array(&t->arena, (size_t)count + 1, sizeof *types);
  if (!types) return false;
  for (int i = 0; i < count; i++) {
    types[i] = *tn_graph_type(graph, graph->params.at[param_of(t, i)]);
  }
  tn_transport *transport = ranks > 0 ? m->request->transport : NULL;
  return tn_lasting_make(&t->lasting, t->heap, &t->arena, types, count, transport, ranks);
}

/* Only the norm reads what others own. */
static bool find_own(maker *m) {
  tn_trainer *t = m->trainer;
  if (!t->lasting.window) return true;
  t->own = tn_arena_array(&t->arena, (size_t)t->param_count + 1, sizeof *t->own);
  if (!t->own) return false;
  for (int p = 0; p < t->param_count; p++) t->own[p] = tn_shard_means_own(t->means, p);
  if (t->options.clip_norm <= 0) tn_shard_means_want_own(t->means);
  return true;
}

/* What is shared is written into another copy, the rest in place. */
static bool choose_places(maker *m, int **updates, bool **placed) {
  tn_trainer *t = m->trainer;
  size_t count = (size_t)t->lasting.count;
  if (t->own) {
    *placed = tn_arena_array(&t->arena, count + 1, sizeof **placed);
    for (size_t i = 0; *placed && i < count; i++) (*placed)[i + 1] = true;
    return *placed != NULL;
  }
  if (t->guarded) {
    *placed = tn_arena_array(&t->arena, count + 2, sizeof **placed);
    if (!*placed) return false;
    (*placed)[count + 1] = true;
  }
  *updates = tn_arena_array(&t->arena, count + 1, sizeof **updates);
  for (size_t i = 0; *updates && i < count; i++) {
    bool stays = t->half.graph.outputs.at[i + 1].value == t->half.graph.params.at[i];
    (*updates)[i] = stays || m->request->shows_all ? -1 : (int)i + 1;
  }
  return *updates != NULL;
}

/* The parameters, where they are now. */
static void bind_params(tn_trainer *t) {
  for (int i = 0; t->means && i < t->param_count; i++)
    tn_shard_means_bind_param(t->means, i, &t->lasting.tensors[i].view);
  for (int i = 0; i < t->lasting.count; i++) {
    if (!t->own) {
      tn_plan_bind_param(t->half.plan, i, &t->lasting.tensors[i].view);
      continue;
    }
    tn_view now = tn_lasting_now(&t->lasting, i, t->own[param_of(t, i)]);
    tn_view next = tn_lasting_next(&t->lasting, i, t->own[param_of(t, i)]);
    tn_plan_bind_param(t->half.plan, i, &now);
    tn_plan_bind_output(t->half.plan, i + 1, &next);
  }
}

static void bind_means(tn_trainer *t) {
  int input = 0;
  for (int i = 0; t->means && i < tn_shard_means_count(t->means); i++) {
    tn_view mean = tn_shard_means_view(t->means, i);
    tn_plan_bind_input(t->half.plan, input++, &mean);
  }
  for (int p = 0; t->own && p < t->param_count; p++) {
    if (tn_shard_means_of(t->means, p) < 0) continue;
    tn_view mean = own_mean(t, p);
    tn_plan_bind_input(t->half.plan, input++, &mean);
  }
}

/* Of a whole step only the loss is read. */
static const bool *ignored_outputs(maker *m) {
  tn_trainer *t = m->trainer;
  size_t count = t->half.graph.outputs.count;
  bool *ignored = tn_arena_array(&t->arena, count + 1, sizeof *ignored);
  for (size_t i = 1; ignored && i < count; i++) ignored[i] = !m->request->shows_all;
  return ignored;
}

static bool make_resident(maker *m) {
  tn_trainer *t = m->trainer;
  tn_card *card = m->request->backend->card;
  if (!card || t->lasting.window) return true;
  t->resident = tn_resident_new(t->heap, card, t->lasting.tensors, t->lasting.count);
  return t->resident || tn_card_fail(card, m->fault);
}

static bool is_sound(void *context, int output) {
  tn_trainer *t = context;
  (void)output;
  t->refused = t->sum - t->sum != 0 && !t->passes;
  return !t->refused;
}

static void guard(tn_trainer *t) {
  tn_view sum = tn_view_make(&t->sum, TN_F32, &TN_SCALAR_SHAPE);
  tn_plan_bind_output(t->half.plan, t->lasting.count + 1, &sum);
  tn_plan_set_watch(t->half.plan, &(tn_plan_watch){ t, is_sound });
}

/* The program's own inputs, if they are; means of shards and what the trainer adds change with every step. */
static const bool *steady_inputs(maker *m) {
  tn_trainer *t = m->trainer;
  bool *steady = tn_arena_array(&t->arena, t->half.graph.inputs.count + 1, sizeof *steady);
  for (int i = 0; steady && !t->means && i < t->input_count; i++)
    steady[i] = m->request->steady && i != t->key_input;
  return steady;
}

static bool make_plan(maker *m) {
  tn_trainer *t = m->trainer;
  int *updates = NULL;
  bool *placed = NULL;
  const bool *ignored = ignored_outputs(m), *steady = steady_inputs(m);
  if (!ignored || !steady || !choose_places(m, &updates, &placed) || !make_resident(m)) return false;
  tn_plan_options options = { .backend = m->request->backend,
                              .threads = m->request->threads,
                              .updates = updates,
                              .placed = placed,
                              .guarded = t->guarded,
                              .ignored = ignored,
                              .steady = steady,
                              .ahead = !t->means && !m->request->shows_all };
  t->half.plan = tn_plan_new(t->heap, &t->half.graph, &options, m->fault);
  if (!t->half.plan) return false;
  bind_params(t);
  bind_means(t);
  for (int i = 0; i < TN_SCALAR_COUNT; i++) {
    tn_view view = tn_view_make(&t->scalar[i], TN_F32, &TN_SCALAR_SHAPE);
    if (t->scalar_input[i] >= 0) tn_plan_bind_input(t->half.plan, t->scalar_input[i], &view);
  }
  if (t->guarded) guard(t);
  tn_view key = tn_view_make(&t->key, TN_I64, &TN_SCALAR_SHAPE);
  if (t->key_input >= 0) tn_plan_bind_input(t->half.plan, t->key_input, &key);
  return true;
}

static bool make(maker *m) {
  tn_trainer *t = m->trainer;
  if (t->options.shards > 1) {
    t->means = tn_shard_means_new(t->heap, m->request, m->fault);
    if (!t->means) return false;
    *m->fault = (tn_fault){ .kind = TN_FAULT_MEMORY };
  }
  if (!make_lasting(m) || !find_own(m)) return false;
  if (!make_graph(m)) {
    if (m->builder.base.fault.kind != TN_FAULT_NONE) *m->fault = m->builder.base.fault;
    return false;
  }
  return tn_opt_run(&t->half.graph, m->request->passes, m->request->evaluator) &&
         (!m->request->shows_all || tn_half_show_all(&t->half, &t->arena)) && make_plan(m);
}

tn_trainer *tn_trainer_new(tn_heap *heap, const tn_trainer_request *request, tn_fault *fault) {
  *fault = (tn_fault){ .kind = TN_FAULT_MEMORY };
  tn_trainer *trainer = tn_heap_alloc(heap, sizeof *trainer);
  if (!trainer) return NULL;
  trainer->heap = heap;
  trainer->options = request->options;
  trainer->seed = request->seed;
  trainer->key_input = -1;
  trainer->input_count = (int)request->graph->inputs.count;
  trainer->param_count = (int)request->graph->params.count;
  trainer->per_param = tn_optimizer_states(request->options.optimizer);
  trainer->guarded = request->guarded;
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
  tn_shard_means_free(trainer->means);
  tn_half_free(&trainer->half);
  tn_resident_free(trainer->resident);
  tn_lasting_free(&trainer->lasting);
  tn_arena_free(&trainer->arena);
  tn_heap_free(trainer->heap, trainer, sizeof *trainer);
}

/* ---- use ---- */

int tn_trainer_learning_count(const tn_trainer *trainer) { return trainer->learning_count; }
int tn_trainer_param_count(const tn_trainer *trainer) { return trainer->param_count; }
const tn_view *tn_trainer_lasting(const tn_trainer *trainer, int index) {
  if (trainer->resident) (void)tn_resident_fetch(trainer->resident);
  return &trainer->lasting.tensors[index].view;
}
const tn_view *tn_trainer_param(const tn_trainer *trainer, int index) {
  return tn_trainer_lasting(trainer, index);
}
const tn_view *tn_trainer_param_place(const tn_trainer *trainer, int index) {
  return &trainer->lasting.tensors[index].view;
}
bool tn_trainer_share_param(const tn_trainer *trainer, int index, tn_tensor *out) {
  if (trainer->resident) (void)tn_resident_fetch(trainer->resident);
  return tn_lasting_share(&trainer->lasting, index, out);
}
int tn_trainer_state_count(const tn_trainer *trainer) {
  return trainer->lasting.count - trainer->param_count;
}
const tn_view *tn_trainer_state(const tn_trainer *trainer, int index) {
  return tn_trainer_lasting(trainer, trainer->param_count + index);
}

int tn_trainer_lasting_count(const tn_trainer *trainer) { return trainer->lasting.count; }
bool tn_trainer_is_shared(const tn_trainer *trainer) { return trainer->lasting.window != NULL; }

void tn_trainer_wrote(tn_trainer *trainer) {
  if (trainer->resident) tn_resident_wrote(trainer->resident);
}

bool tn_trainer_fetch(const tn_trainer *trainer, tn_fault *fault) {
  if (!trainer->resident || tn_resident_fetch(trainer->resident)) return true;
  return tn_card_fail(tn_resident_card(trainer->resident), fault);
}

bool tn_trainer_keeps(const tn_trainer *trainer) { return trainer->resident != NULL; }

bool tn_trainer_keep(tn_trainer *t, tn_fault *fault) {
  return tn_resident_keep(t->resident) || tn_card_fail(tn_resident_card(t->resident), fault);
}

bool tn_trainer_return(tn_trainer *t, tn_fault *fault) {
  return tn_resident_return(t->resident) || tn_card_fail(tn_resident_card(t->resident), fault);
}

void tn_trainer_bind_input(tn_trainer *trainer, int index, const tn_view *view) {
  if (index >= trainer->input_count || index == trainer->key_input) return;
  if (trainer->means)
    tn_shard_means_bind_input(trainer->means, index, view);
  else
    tn_plan_bind_input(trainer->half.plan, index, view);
}

void tn_trainer_set_effects(tn_trainer *trainer, const tn_effects *effects) {
  if (trainer->means)
    tn_shard_means_set_effects(trainer->means, effects);
  else
    tn_plan_set_effects(trainer->half.plan, effects);
}

int64_t tn_trainer_step_number(const tn_trainer *trainer) { return trainer->step; }
void tn_trainer_set_step_number(tn_trainer *trainer, int64_t step) { trainer->step = step; }
void tn_trainer_set_steps(tn_trainer *trainer, int64_t steps) { trainer->options.steps = steps; }
const tn_graph *tn_trainer_graph(const tn_trainer *trainer) { return &trainer->half.graph; }

/* A mean that is not finite, of finite gradients: an addition made it. */
bool tn_trainer_find_not_finite(const tn_trainer *t, tn_not_finite *out) {
  if (t->means && tn_shard_means_not_finite(t->means, out)) return true;
  if (!tn_half_find_not_finite(&t->half, out)) return false;
  if (t->means && out->op == TN_OP_INPUT) out->op = TN_OP_ADD;
  return true;
}

/* All ranks have written what they own: that is what counts now. */
static bool finish_update(tn_trainer *t, double *loss, tn_fault *fault) {
  tn_view view = tn_plan_output(t->half.plan, 0);
  if (t->own) {
    if (!tn_shard_means_meet(t->means, fault)) return false;
    view = tn_shard_means_view(t->means, tn_shard_means_count(t->means) - 1);
    tn_lasting_swap(&t->lasting);
    bind_params(t);
  }
  *loss = tn_view_get_f64(&view, 0);
  return true;
}

bool tn_trainer_works_ahead(const tn_trainer *trainer) {
  return !trainer->means && tn_plan_is_on_card(trainer->half.plan);
}

/* With shards the plan's inputs are their means, which there are when the step has begun. */
void tn_trainer_prepare(tn_trainer *trainer, int64_t step) {
  for (int i = 0; i < TN_SCALAR_COUNT; i++) {
    if (trainer->scalar_input[i] < 0) continue;
    trainer->scalar[i] = (float)tn_optimizer_scalar(&trainer->options, (tn_train_scalar)i, step);
  }
  trainer->key = (int64_t)tn_rng_mix(trainer->seed, (uint64_t)step);
  if (!trainer->means) tn_plan_prepare(trainer->half.plan);
}

bool tn_trainer_start(tn_trainer *trainer, tn_fault *fault) {
  trainer->refused = false;
  if (trainer->means) {
    if (!tn_shard_means_run(trainer->means, trainer->key, fault)) return false;
    tn_plan_prepare(trainer->half.plan);
  }
  return tn_plan_start(trainer->half.plan, fault);
}

bool tn_trainer_finish(tn_trainer *trainer, double *loss, tn_fault *fault) {
  if (!tn_plan_finish(trainer->half.plan, fault) || !finish_update(trainer, loss, fault)) return false;
  if (trainer->resident) tn_resident_computed(trainer->resident);
  trainer->step++;
  trainer->passes = false;
  return true;
}

bool tn_trainer_step(tn_trainer *trainer, double *loss, tn_fault *fault) {
  tn_trainer_prepare(trainer, trainer->step);
  return tn_trainer_start(trainer, fault) && tn_trainer_finish(trainer, loss, fault);
}

/* ---- guarded steps ---- */

bool tn_trainer_is_guarded(const tn_trainer *trainer) { return trainer->guarded; }
bool tn_trainer_refused(const tn_trainer *trainer) { return trainer->refused; }
void tn_trainer_let_pass(tn_trainer *trainer) { trainer->passes = true; }

static void find_in_param(const tn_trainer *t, int param, tn_not_finite *out) {
  const tn_view *view = &t->lasting.tensors[param].view;
  int64_t at = 0, count = tn_view_count(view);
  double states[2] = { 0 };
  for (; at < count; at++) {
    out->value = tn_view_get_f64(view, at);
    if (out->value - out->value != 0) break;
  }
  for (int s = 0; s < t->per_param && s < 2; s++)
    states[s] = tn_view_get_f64(&t->lasting.tensors[t->param_count + param * t->per_param + s].view, at);
  out->op = tn_optimizer_origin(&t->options, t->step - 1, states);
}

bool tn_trainer_find_spoiled(const tn_trainer *t, tn_not_finite *out) {
  int param = tn_first_not_finite(t->heap->pool, t->lasting.tensors, t->param_count);
  *out = (tn_not_finite){ 0 };
  if (param < t->param_count) find_in_param(t, param, out);
  return param < t->param_count;
}
