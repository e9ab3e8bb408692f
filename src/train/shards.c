/* train/shards.c: runs one plan for every shard, and averages the results. */
#include "train/shards.h"

#include <limits.h>

#include "cluster/exchange.h"
#include "train/half.h"

#define SHARD_WORDS ((uint64_t)1 << 48) /* random words between one shard and the next */

struct tn_shard_means {
  tn_heap *heap;
  tn_arena arena;
  tn_half half; /* outputs: the gradients, the loss, then what is shown */
  tn_exchange *exchange;
  tn_transport *transport;
  const tn_backend *backend;
  int threads;
  tn_fused *mean[2]; /* (x + y) / shards, of f32 and of f64 */
  void *scratch;     /* for additions */
  size_t scratch_bytes;
  int count;           /* sums */
  int *of_param;       /* the gradient's sum; -1: none */
  tn_view *inputs;     /* of all shards */
  size_t *part_bytes;  /* of an input, from one shard to the next; 0: all have the same */
  int64_t key;
  int key_input;       /* -1: the program draws nothing */
  bool wants_own;      /* a run gives only the means that this rank owns */
  bool cut;            /* the last run ended because of the transport */
  tn_not_finite found; /* by the last run; TN_OP_ERROR: nothing */
};

/* ---- making ---- */

/* The graph of a shard is the program's with gradients. */
static bool make_graph(tn_shard_means *s, const tn_trainer_request *request, tn_fault *fault) {
  tn_graph *graph = &s->half.graph;
  tn_graph_builder builder;
  if (!tn_graph_copy(request->graph, graph)) return false;
  size_t params = graph->params.count;
  tn_value loss = graph->outputs.at[request->loss].value;
  tn_value *grads = tn_arena_array(&s->arena, params + 1, sizeof *grads);
  s->of_param = tn_arena_array(&s->arena, params + 1, sizeof *s->of_param);
  if (!grads || !s->of_param) return false;
  graph->outputs.count = 0;
  tn_graph_builder_init(&builder, graph);
  if (!tn_half_gradients(&builder, loss, grads) || !tn_build_ok(&builder.base)) {
    if (builder.base.fault.kind != TN_FAULT_NONE) *fault = builder.base.fault;
    return false;
  }
  for (size_t p = 0; p < params; p++) {
    s->of_param[p] = grads[p] == TN_NO_VALUE ? -1 : s->count++;
    if (grads[p] != TN_NO_VALUE && !tn_graph_output(graph, 0, grads[p])) return false;
  }
  s->count++;
  return tn_graph_output(graph, 0, loss);
}

/* A draw whose key is a constant stays a draw (opt/fold.c): each shard has words of its own. */
static bool optimise(tn_shard_means *s, const tn_trainer_request *request) {
  return tn_opt_run(&s->half.graph, request->passes, request->evaluator) &&
         (!request->shows_all || tn_half_show_all(&s->half, &s->arena));
}

static bool is_ready(void *context, int output) {
  tn_shard_means *s = context;
  s->cut = !tn_exchange_ready(s->exchange, output);
  return !s->cut;
}

static bool make_plan(tn_shard_means *s, const tn_trainer_request *request, tn_fault *fault) {
  bool *placed = tn_arena_array(&s->arena, s->half.graph.outputs.count + 1, sizeof *placed);
  if (!placed) return false;
  for (int i = 0; i < s->count; i++) placed[i] = true;
  tn_plan_options options = { .backend = request->backend, .threads = request->threads, .placed = placed };
  s->half.plan = tn_plan_new(s->heap, &s->half.graph, &options, fault);
  if (!s->half.plan) return false;
  tn_plan_set_watch(s->half.plan, &(tn_plan_watch){ s, is_ready });
  *fault = (tn_fault){ .kind = TN_FAULT_MEMORY }; /* all that can fail from here on */
  return true;
}

static bool make_inputs(tn_shard_means *s, const tn_trainer_request *request) {
  const tn_graph *graph = &s->half.graph;
  s->inputs = tn_arena_array(&s->arena, graph->inputs.count + 1, sizeof *s->inputs);
  s->part_bytes = tn_arena_array(&s->arena, graph->inputs.count + 1, sizeof *s->part_bytes);
  if (!s->inputs || !s->part_bytes) return false;
  for (size_t i = 0; i < graph->inputs.count; i++) {
    const tn_type *type = tn_graph_type(graph, graph->inputs.at[i]);
    bool divided = request->sharded && request->sharded[i];
    if (divided) s->part_bytes[i] = (size_t)tn_shape_count(&type->shape) * tn_dtype_bytes(type->dtype);
  }
  s->key_input = tn_half_input(&s->half, TN_DROPOUT_KEY);
  tn_view key = tn_view_make(&s->key, TN_I64, &TN_SCALAR_SHAPE);
  if (s->key_input >= 0) s->inputs[s->key_input] = key;
  return true;
}

static const tn_type *type_of(const tn_shard_means *s, int index) {
  return tn_graph_type(&s->half.graph, s->half.graph.outputs.at[index].value);
}

/* ---- adding ---- */

/* The last addition divides as well: what is read then are means. */
static tn_fused *mean_program(tn_arena *arena, tn_dtype dtype, double shards) {
  tn_fused *program = tn_arena_alloc(arena, tn_fused_bytes(3));
  if (!program) return NULL;
  program->operand_count = 2;
  program->step_count = 3;
  program->operand_dtype[0] = program->operand_dtype[1] = dtype;
  program->step[0] = (tn_fused_step){ .op = TN_OP_ADD, .dtype = dtype, .in = { 0, 1 } };
  program->step[1] = (tn_fused_step){ .op = TN_OP_FILL, .dtype = dtype, .number = shards };
  program->step[2] = (tn_fused_step){ .op = TN_OP_DIV, .dtype = dtype, .in = { 2, 3 } };
  return program;
}

typedef struct {
  tn_kernel_call call;
  tn_attrs attrs;
  tn_view in[2], out;
} addition;

/* A kernel's call: the same operations as the rest of the step is made of. */
static void make_addition(const tn_shard_means *s, int tensor, size_t bytes, bool last, addition *a) {
  tn_dtype dtype = type_of(s, tensor)->dtype;
  tn_shape shape = tn_shape_make(1, (int64_t)(bytes / tn_dtype_bytes(dtype)));
  a->attrs = (tn_attrs){ .program = last ? s->mean[dtype == TN_F64] : NULL };
  a->in[0] = a->in[1] = a->out = tn_view_make(NULL, dtype, &shape);
  a->call = (tn_kernel_call){ .op = last ? TN_OP_FUSED : TN_OP_ADD,
                              .attrs = &a->attrs,
                              .in = a->in,
                              .count = 2,
                              .out = &a->out,
                              .scratch = s->scratch,
                              .threads = s->threads,
                              .pool = s->heap->pool };
}

static void add(void *context, int tensor, void *out, const void *x, const void *y, size_t bytes, bool last) {
  tn_shard_means *s = context;
  tn_fault fault = { 0 };
  addition a;
  make_addition(s, tensor, bytes, last, &a);
  a.in[0].data = (void *)x;
  a.in[1].data = (void *)y;
  a.out.data = out;
  a.call.fault = &fault;
  (void)tn_backend_run(s->backend, &a.call); /* floats are added: it does not fail */
}

static void measure_scratch(tn_shard_means *s, int tensor, size_t bytes) {
  for (int last = 0; last < 2 && s->backend->scratch && bytes > 0; last++) {
    addition a;
    make_addition(s, tensor, bytes, last, &a);
    size_t needed = s->backend->scratch(s->backend, a.call.op, &a.attrs, a.in, 2, a.call.out, s->threads);
    if (needed > s->scratch_bytes) s->scratch_bytes = needed;
  }
}

static bool make_adder(tn_shard_means *s) {
  for (int i = 0; i < s->count; i++) {
    size_t sizes[TN_EXCHANGE_SIZES];
    tn_exchange_sizes(s->exchange, i, sizes);
    for (int k = 0; k < TN_EXCHANGE_SIZES; k++) measure_scratch(s, i, sizes[k]);
  }
  s->scratch = tn_heap_alloc_aligned(s->heap, s->scratch_bytes, 64);
  return s->scratch || s->scratch_bytes == 0;
}

static bool make_exchange(tn_shard_means *s, const tn_trainer_request *request) {
  size_t *bytes = tn_arena_array(&s->arena, (size_t)s->count, sizeof *bytes);
  if (!bytes) return false;
  for (int i = 0; i < s->count; i++) {
    const tn_type *type = type_of(s, i);
    bytes[i] = (size_t)tn_shape_count(&type->shape) * tn_dtype_bytes(type->dtype);
  }
  tn_exchange_request wanted = { .transport = request->transport,
                                 .shards = (int)request->options.shards,
                                 .count = s->count,
                                 .bytes = bytes,
                                 .add = add,
                                 .context = s };
  s->exchange = tn_exchange_new(s->heap, &wanted);
  for (int i = 0; i < 2; i++)
    s->mean[i] = mean_program(&s->arena, i == 0 ? TN_F32 : TN_F64, (double)request->options.shards);
  return s->exchange && !s->arena.failed && make_adder(s);
}

tn_shard_means *tn_shard_means_new(tn_heap *heap, const tn_trainer_request *request, tn_fault *fault) {
  *fault = (tn_fault){ .kind = TN_FAULT_MEMORY };
  tn_shard_means *s = tn_heap_alloc(heap, sizeof *s);
  if (!s) return NULL;
  s->heap = heap;
  s->transport = request->transport;
  s->backend = tn_backend_on_host(request->backend); /* it adds what is there */
  s->threads = request->threads > 0 ? request->threads : 1;
  tn_arena_init(&s->arena, heap);
  bool ok = request->options.shards <= INT_MAX && make_graph(s, request, fault) && optimise(s, request) &&
            make_plan(s, request, fault) && make_inputs(s, request) && make_exchange(s, request);
  if (ok) return s;
  tn_shard_means_free(s);
  return NULL;
}

void tn_shard_means_free(tn_shard_means *s) {
  if (!s) return;
  tn_exchange_free(s->exchange);
  tn_heap_free_aligned(s->heap, s->scratch, s->scratch_bytes);
  tn_half_free(&s->half);
  tn_arena_free(&s->arena);
  tn_heap_free(s->heap, s, sizeof *s);
}

/* ---- use ---- */

int tn_shard_means_count(const tn_shard_means *s) { return s->count; }
int tn_shard_means_of(const tn_shard_means *s, int param) { return s->of_param[param]; }

tn_view tn_shard_means_view(const tn_shard_means *s, int index) {
  const tn_type *type = type_of(s, index);
  return tn_view_make(tn_exchange_sum(s->exchange, index), type->dtype, &type->shape);
}

void tn_shard_means_bind_input(tn_shard_means *s, int index, const tn_view *view) {
  if (index != s->key_input) s->inputs[index] = *view;
}
void tn_shard_means_bind_param(tn_shard_means *s, int index, const tn_view *view) {
  tn_plan_bind_param(s->half.plan, index, view);
}
int tn_shard_means_sharing(const tn_shard_means *s) { return tn_exchange_sharing(s->exchange); }

tn_elements tn_shard_means_own(const tn_shard_means *s, int param) {
  int mean = s->of_param[param];
  tn_value value = s->half.graph.params.at[param];
  const tn_type *type = mean < 0 ? tn_graph_type(&s->half.graph, value) : type_of(s, mean);
  size_t size = tn_dtype_bytes(type->dtype), bytes = (size_t)tn_shape_count(&type->shape) * size;
  tn_piece own = mean < 0 ? tn_exchange_own_of(s->exchange, bytes) : tn_exchange_own(s->exchange, mean);
  return (tn_elements){ (int64_t)(own.from / size), (int64_t)(own.bytes / size) };
}

void tn_shard_means_want_own(tn_shard_means *s) { s->wants_own = true; }

void tn_shard_means_set_effects(tn_shard_means *s, const tn_effects *effects) {
  tn_plan_set_effects(s->half.plan, effects);
}

/* Its rows, its random words, and where its results belong. */
static void turn_to(tn_shard_means *s, int shard) {
  for (size_t i = 0; i < s->half.graph.inputs.count; i++) {
    tn_view view = s->inputs[i];
    if (view.data) view.data = (char *)view.data + (size_t)shard * s->part_bytes[i];
    tn_plan_bind_input(s->half.plan, (int)i, &view);
  }
  for (int i = 0; i < s->count; i++) {
    tn_view view = { .data = tn_exchange_place(s->exchange, i) };
    tn_plan_bind_output(s->half.plan, i, &view);
  }
  tn_plan_shift_draws(s->half.plan, (uint64_t)shard * SHARD_WORDS);
}

/* The transport has failed, or this process was asked to stop while it waited. */
static bool cut_off(const tn_shard_means *s, tn_fault *fault) {
  bool lost = s->transport->failure.rank >= 0;
  *fault = (tn_fault){ .kind = lost ? TN_FAULT_HOST : TN_FAULT_INTERRUPTED };
  return false;
}

bool tn_shard_means_run(tn_shard_means *s, int64_t key, tn_fault *fault) {
  tn_shards owned = tn_exchange_owned(s->exchange);
  s->key = key;
  s->cut = false;
  s->found = (tn_not_finite){ 0 };
  for (int shard = owned.first; shard < owned.end; shard++) {
    if (!tn_exchange_begin(s->exchange, shard)) return cut_off(s, fault);
    turn_to(s, shard);
    if (!tn_plan_run(s->half.plan, fault)) return s->cut ? cut_off(s, fault) : false;
    if (s->found.op == TN_OP_ERROR) (void)tn_half_find_not_finite(&s->half, &s->found);
  }
  bool ok = s->wants_own ? tn_exchange_finish_own(s->exchange) : tn_exchange_finish(s->exchange);
  return ok || cut_off(s, fault);
}

bool tn_shard_means_meet(tn_shard_means *s, tn_fault *fault) {
  return tn_exchange_meet(s->exchange) || cut_off(s, fault);
}

bool tn_shard_means_not_finite(const tn_shard_means *s, tn_not_finite *out) {
  *out = s->found;
  return s->found.op != TN_OP_ERROR;
}
