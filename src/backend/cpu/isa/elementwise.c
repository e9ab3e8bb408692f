/* backend/cpu/isa/elementwise.c: elementwise operations, alone or fused, in tiles.
 *
 * A program of steps runs over one tile of about a thousand elements at a time,
 * so that everything between its first operand and its result stays in the
 * first-level cache. Registers of the program are then:
 *
 *   a place in an operand, when the operand is contiguous over the tile;
 *   a buffer filled beforehand, when it is spread out or repeated: a buffer is
 *     filled again only when the next tile sees other elements, so a bias that
 *     is added to every row is fetched once;
 *   a buffer a step writes; buffers are reused as soon as their value is dead;
 *   a place in the result, for the last step.
 *
 * Tiles are whole rows of the inner axes where those are short and pieces of a
 * row where they are long. Threads take tiles by index.
 *
 * Programs of f32 operations go over a tile once, as a chain (chain.h). */
#include "backend/cpu/isa/steps.h"

#include "backend/cpu/isa/chain.h"
#include "backend/cpu/isa/stream.h"
#define TN_CPU_VIEW_LIMIT (TN_FUSED_OPERAND_LIMIT + 1)
#include "backend/cpu/isa/small.h"
#include "backend/cpu/iterator.h"
#include "op/scalar.h"

#define TILE         1024 /* elements */
#define LONG_TILE    4096 /* of a chain whose operands are read in place */
#define LEAST_TILES  4    /* of a part: it fills its constants first */
#define CHAIN_WORTH  512  /* elements from which on making a chain pays */
#define LINKS        (3 * TN_FUSED_STEP_LIMIT + 1)
#define BUFFER_GAP   576                 /* bytes between buffers, so that they do not begin alike */
#define STREAM_BYTES ((int64_t)32 << 20) /* a result that no cache will hold */
#define REGISTERS    (TN_FUSED_OPERAND_LIMIT + TN_FUSED_STEP_LIMIT)
enum {
  NO_BUFFER = 255,
  NO_REGISTER = 255,
  OUT = 0,
  OPERAND = 1
}; /* views of the iterator: the result, then the operands */

typedef enum { DIRECT, REPEATED, GATHERED } access;

typedef struct {
  tn_step_run run; /* NULL: a constant, which is in its buffer */
  tn_op op;
  tn_dtype dtype;
  uint8_t in[3], out; /* registers */
  uint8_t arity;
  bool divides; /* an integer division, which may meet a zero */
} step;

typedef struct {
  const tn_kernel_call *call;
  tn_cpu_iterator it;
  int outer;                    /* axes that tiles count through */
  int64_t piece, pieces, inner; /* a tile is `piece` places of axis `outer`, each of `inner` elements */
  access access[TN_CPU_VIEW_LIMIT];
  int operands, steps;
  step step[TN_FUSED_STEP_LIMIT];
  tn_dtype dtype[REGISTERS];
  uint8_t buffer[REGISTERS]; /* which buffer a register has */
  int buffers;
  size_t buffer_bytes;
  bool streams; /* the result goes past the caches */
  int links;    /* of a chain; 0: the steps run one by one */
  tn_link_run link[LINKS];
  uint8_t link_reg[LINKS];          /* the register that a link reads or writes */
  bool passes[TN_FUSED_STEP_LIMIT]; /* a step of a chain whose result is for the next link alone */
  int64_t tile;                     /* elements, at most */
  int64_t zero_at;                  /* while looking for division by zero: the first element so far, or -1 */
  tn_op zero_in;
} fused;

/* ---- buffers ---- */
typedef struct {
  uint8_t unused[REGISTERS];
  int count;
} pool;

static uint8_t take(fused *job, pool *free) {
  return free->count > 0 ? free->unused[--free->count] : (uint8_t)job->buffers++;
}

/* The step that reads each register last; buffers of operands and constants are never freed. */
static void find_last_uses(const fused *job, uint8_t *last) {
  memset(last, NO_BUFFER, REGISTERS);
  for (int s = 0; s < job->steps; s++)
    for (int k = 0; k < 3 && job->step[s].run; k++) {
      int reg = job->step[s].in[k];
      if (reg >= job->operands && job->step[reg - job->operands].run && !job->passes[reg - job->operands])
        last[reg] = (uint8_t)s;
    }
}

/* Releases the buffers that step s reads last: those whose elements have the size of the result
 * (same), which the step may overwrite, or the others. */
static void give_back(const fused *job, pool *free, uint8_t *last, int s, bool same) {
  const step *at = &job->step[s];
  for (int k = 0; k < 3; k++) {
    int reg = at->in[k];
    if (last[reg] != s || (tn_cpu_bytes(job->dtype[reg]) == tn_cpu_bytes(at->dtype)) != same) continue;
    free->unused[free->count++] = job->buffer[reg];
    last[reg] = NO_BUFFER;
  }
}

static void assign_buffers(fused *job) {
  pool free = { .count = 0 };
  uint8_t last[REGISTERS];
  find_last_uses(job, last);
  for (int k = 0; k < job->operands; k++)
    job->buffer[k] = job->access[OPERAND + k] == DIRECT ? NO_BUFFER : take(job, &free);
  for (int s = 0; s < job->steps; s++)
    if (!job->step[s].run) job->buffer[job->operands + s] = take(job, &free);
  for (int s = 0; s < job->steps; s++) {
    if (!job->step[s].run) continue;
    bool stored = s == job->steps - 1 && job->access[OUT] == DIRECT && (!job->streams || job->links > 0);
    if (s == job->steps - 1 && job->links > 0)
      free.count = 0; /* blocks of a chain start over, its result does not */
    else
      give_back(job, &free, last, s, true);
    job->buffer[job->operands + s] = stored || job->passes[s] ? NO_BUFFER : take(job, &free);
    give_back(job, &free, last, s, false);
  }
}

/* ---- chains ---- */
static int uses_of(const fused *job, int reg, int first, int end) {
  int uses = 0;
  for (int s = first; s < end; s++)
    for (int k = 0; k < job->step[s].arity; k++) uses += job->step[s].in[k] == reg;
  return uses;
}

static void add_link(fused *job, tn_link_run run, int reg) {
  job->link[job->links] = run;
  job->link_reg[job->links++] = (uint8_t)reg;
}

/* Adds step s; *accumulator is the register that is there. False when a chain cannot have such a step. */
static bool add_step(fused *job, int s, int *accumulator) {
  const step *at = &job->step[s];
  bool reversed = at->arity == 2 && *accumulator == at->in[1] && *accumulator != at->in[0];
  int first = at->in[reversed ? 1 : 0], second = at->in[reversed ? 0 : 1], reg = job->operands + s;
  tn_link_run run = link_of(at->op, reversed);
  if (!run || at->dtype != TN_F32) return false;
  if (*accumulator != first) add_link(job, link_load, first);
  add_link(job, run, at->arity == 2 ? second : NO_REGISTER);
  *accumulator = reg;
  int next = s + 1;
  while (next < job->steps && !job->step[next].run) next++;
  if (next >= job->steps) return true;
  job->passes[s] = uses_of(job, reg, next, next + 1) == 1 && uses_of(job, reg, next + 1, job->steps) == 0;
  if (!job->passes[s]) add_link(job, link_keep, reg);
  return true;
}

static bool make_chain(fused *job) {
  int accumulator = NO_REGISTER;
  for (int r = 0; r < job->operands + job->steps; r++)
    if (job->dtype[r] != TN_F32) return false;
  for (int s = 0; s < job->steps; s++)
    if (job->step[s].run && !add_step(job, s, &accumulator)) return false;
  return accumulator == job->operands + job->steps - 1;
}

/* Whether every operand is contiguous or one element. */
static bool stands_still(const fused *job) {
  for (int v = 0; v < job->it.views; v++)
    if (job->it.stride[v][0] > 1 || job->it.stride[v][0] < 0) return false;
  return job->it.rank == 1;
}

static void choose_chain(fused *job, int64_t count) {
  job->links = 0;
  job->tile = TILE;
  memset(job->passes, 0, sizeof job->passes);
  if (count < CHAIN_WORTH) return;
  if (!make_chain(job)) {
    job->links = 0;
    memset(job->passes, 0, sizeof job->passes);
    return;
  }
  if (stands_still(job)) job->tile = LONG_TILE;
}

/* ---- tiles ---- */
/* As many inner axes as fit a tile whole, and as much of the next one as still fits. */
static void choose_tiles(fused *job) {
  const tn_cpu_iterator *it = &job->it;
  job->outer = it->rank - 1;
  job->inner = 1;
  while (job->outer > 0 && job->inner * it->dim[job->outer] <= job->tile)
    job->inner *= it->dim[job->outer--];
  job->piece = job->tile / job->inner;
  if (job->piece > it->dim[job->outer]) job->piece = it->dim[job->outer];
  job->pieces = (it->dim[job->outer] + job->piece - 1) / job->piece;
}

static access access_of(const fused *job, int view) {
  const tn_cpu_iterator *it = &job->it;
  const int64_t *stride = it->stride[view];
  int64_t expected = 1;
  bool direct = true, repeated = true;
  for (int a = it->rank - 1; a >= job->outer; a--) {
    bool matters = a > job->outer || job->piece > 1;
    direct = direct && (!matters || stride[a] == expected);
    repeated = repeated && (!matters || stride[a] == 0);
    expected *= it->dim[a];
  }
  return direct ? DIRECT : repeated ? REPEATED : GATHERED;
}

/* ---- filling a buffer from an operand, and back into a result that is not contiguous ---- */
#define SPREAD(type)                                                                                         \
  static void spread_##type(type *to, int64_t to_step, const type *from, int64_t from_step, int64_t n) {     \
    if (from_step == 0) {                                                                                    \
      type value = *from;                                                                                    \
      for (int64_t i = 0; i < n; i++) to[i] = value;                                                         \
    } else {                                                                                                 \
      TN_ANY_ORDER                                                                                           \
      for (int64_t i = 0; i < n; i++) to[i * to_step] = from[i * from_step];                                 \
    }                                                                                                        \
  }
SPREAD(uint8_t)
SPREAD(uint16_t)
SPREAD(uint32_t)
SPREAD(uint64_t)

static void spread(size_t bytes, void *to, int64_t to_step, const void *from, int64_t from_step,
                   int64_t count) {
  if (to_step == 1 && from_step == 1) {
    memcpy(to, from, (size_t)count * bytes);
    return;
  }
  switch (bytes) {
    case 1: spread_uint8_t(to, to_step, from, from_step, count); break;
    case 2: spread_uint16_t(to, to_step, from, from_step, count); break;
    case 4: spread_uint32_t(to, to_step, from, from_step, count); break;
    default: spread_uint64_t(to, to_step, from, from_step, count); break;
  }
}

/* Between a buffer and `count` places of the first axis by all of the others.
 * recursion: TN_RANK_LIMIT deep. */
static char *spread_axes(size_t bytes, char *buffer, char *view, const int64_t *dim, const int64_t *stride,
                         int rank, int64_t count, bool into_view) {
  if (rank == 1) {
    if (into_view)
      spread(bytes, view, stride[0], buffer, 1, count);
    else
      spread(bytes, buffer, 1, view, stride[0], count);
    return buffer + count * (int64_t)bytes;
  }
  for (int64_t i = 0; i < count; i++)
    buffer = spread_axes(bytes, buffer, view + i * stride[0] * (int64_t)bytes, dim + 1, stride + 1, rank - 1,
                         dim[1], into_view);
  return buffer;
}

/* ---- running ---- */
/* What one thread has at hand. */
typedef struct {
  void *reg[REGISTERS];
  char *buffers;
  const void *filled[TN_FUSED_OPERAND_LIMIT]; /* what an operand's buffer was filled from */
  int64_t filled_count[TN_FUSED_OPERAND_LIMIT];
} bench;

static void *buffer_of(const fused *job, const bench *at, int reg) {
  return at->buffers + job->buffer[reg] * job->buffer_bytes;
}

static void fill_constant(void *to, const tn_fused_step *from, int64_t count) {
  uint64_t bits = 0;
  tn_element_store(&bits, from->dtype, tn_element_of_f64(from->number, from->dtype));
  spread(tn_cpu_bytes(from->dtype), to, 1, &bits, 0, count);
}

static void lay_out(const fused *job, bench *at, char *scratch) {
  at->buffers = scratch;
  for (int k = 0; k < job->operands; k++) {
    at->filled[k] = NULL;
    if (job->buffer[k] != NO_BUFFER) at->reg[k] = buffer_of(job, at, k);
  }
  for (int s = 0; s < job->steps; s++) {
    int reg = job->operands + s;
    if (job->buffer[reg] != NO_BUFFER) at->reg[reg] = buffer_of(job, at, reg);
    if (job->step[s].run) continue;
    fill_constant(at->reg[reg], &job->call->attrs->program->step[s], job->links > 0 ? TN_CHAIN_BLOCK : TILE);
  }
}

/* Points register k at the operand's elements of this tile. */
static void fetch(const fused *job, bench *at, const tn_cpu_iterator *it, int k, int64_t begin,
                  int64_t count) {
  size_t bytes = tn_cpu_bytes(job->dtype[k]);
  const int64_t *stride = it->stride[OPERAND + k] + job->outer;
  int64_t offset = it->offset[OPERAND + k] + begin * stride[0];
  char *from = (char *)job->call->in[k].data + offset * (int64_t)bytes;
  if (job->access[OPERAND + k] == DIRECT) {
    at->reg[k] = from;
    return;
  }
  if (at->filled[k] == from && at->filled_count[k] >= count) return;
  at->filled[k] = from;
  at->filled_count[k] = count;
  if (job->access[OPERAND + k] == REPEATED)
    spread(bytes, at->reg[k], 1, from, 0, job->links > 0 ? TN_CHAIN_BLOCK : count * job->inner);
  else
    spread_axes(bytes, at->reg[k], from, it->dim + job->outer, stride, it->rank - job->outer, count,
                false);
}

/* Notes the first element, in row-major order, whose division fails; at one element the first step. */
static void look_for_zero(fused *job, const step *s, const void *divisors, int64_t first, int64_t count) {
  int64_t at = first_zero(divisors, s->dtype, count);
  if (at == count || (job->zero_at >= 0 && job->zero_at <= first + at)) return;
  job->zero_at = first + at;
  job->zero_in = s->op;
}

static void run_steps(const fused *job, bench *at, int64_t count) {
  for (const step *s = job->step, *end = s + job->steps; s < end; s++)
    if (s->run) s->run(at->reg[s->out], at->reg[s->in[0]], at->reg[s->in[1]], at->reg[s->in[2]], count);
}

/* What a link reads and writes, from block to block or the same for all. */
static tn_link link_to(const fused *job, const bench *at, int l) {
  int reg = job->link_reg[l], last = job->operands + job->steps - 1;
  if (reg == NO_REGISTER) return (tn_link){ job->link[l], NULL, 0 };
  bool moves = reg < job->operands ? job->access[OPERAND + reg] != REPEATED : reg == last;
  return (tn_link){ job->link[l], at->reg[reg], moves ? -1 : 0 };
}

/* Fewer elements than a block has, from place `from` on: everything is copied into whole blocks. */
static void run_edge(const fused *job, tn_link *link, int64_t from, int64_t count) {
  float edge[TN_FUSED_OPERAND_LIMIT + 1][TN_CHAIN_BLOCK];
  size_t bytes = (size_t)count * sizeof(float);
  int last = job->links - 1;
  for (int l = 0; l < last; l++) {
    if (link[l].mask == 0) continue;
    float *copy = edge[job->link_reg[l]];
    memcpy(copy, link[l].data + from, bytes);
    memset(copy + count, 0, sizeof edge[0] - bytes);
    link[l].data = copy;
  }
  float *to = link[last].data + from;
  link[last] = (tn_link){ link_end, edge[TN_FUSED_OPERAND_LIMIT], 0 };
  run_links(link, TN_CHAIN_BLOCK);
  memcpy(to, edge[TN_FUSED_OPERAND_LIMIT], bytes);
}

static void run_chain(const fused *job, const bench *at, int64_t count) {
  tn_link link[LINKS];
  int64_t whole = count / TN_CHAIN_BLOCK * TN_CHAIN_BLOCK;
  for (int l = 0; l < job->links; l++) link[l] = link_to(job, at, l);
  run_links(link, whole);
  if (whole < count) run_edge(job, link, whole, count - whole);
}

/* The result leaves its buffer. */
static void put(const fused *job, const bench *at, const tn_cpu_iterator *it, char *to, int64_t count) {
  size_t bytes = tn_cpu_bytes(job->call->out->dtype);
  char *result = at->reg[job->operands + job->steps - 1];
  if (job->streams)
    tn_stream(to, result, (size_t)(count * job->inner) * bytes);
  else
    spread_axes(bytes, result, to, it->dim + job->outer, it->stride[OUT] + job->outer,
                it->rank - job->outer, count, true);
}

static void run_tile(const fused *job, bench *at, const tn_cpu_iterator *it, int64_t number) {
  int64_t begin = number * job->piece, count = it->dim[job->outer] - begin;
  if (count > job->piece) count = job->piece;
  for (int k = 0; k < job->operands; k++) fetch(job, at, it, k, begin, count);
  int64_t offset = it->offset[OUT] + begin * it->stride[OUT][job->outer];
  char *to = (char *)job->call->out->data + offset * (int64_t)tn_cpu_bytes(job->call->out->dtype);
  int last = job->operands + job->steps - 1;
  bool direct = job->buffer[last] == NO_BUFFER;
  if (direct) at->reg[last] = to;
  if (job->links > 0)
    run_chain(job, at, count * job->inner);
  else
    run_steps(job, at, count * job->inner);
  if (!direct) put(job, at, it, to, count);
}

static int64_t tiles_of(const fused *job) {
  return tn_cpu_iterator_count(&job->it, 0, job->outer) * job->pieces;
}

static void run_share(void *context, const tn_cpu_part *part) {
  const fused *job = context;
  tn_cpu_iterator it;
  bench at;
  int64_t begin, end;
  tn_cpu_iterator_copy(&it, &job->it);
  tn_cpu_share(tiles_of(job), 1, part, &begin, &end);
  if (begin >= end) return;
  size_t share = (size_t)job->buffers * job->buffer_bytes;
  lay_out(job, &at, share ? (char *)job->call->scratch + (size_t)part->thread * share : NULL);
  tn_cpu_iterator_seek(&it, job->outer, begin / job->pieces);
  for (int64_t tile = begin, number = begin % job->pieces; tile < end; tile++) {
    run_tile(job, &at, &it, number);
    if (++number < job->pieces) continue;
    number = 0;
    tn_cpu_iterator_next(&it, job->outer);
  }
  if (job->streams) tn_stream_end();
}

/* ---- division by zero ----
 * Nothing may have been written when it is found, so where a program divides
 * integers everything is calculated once without storing. */
static void try_tile(fused *job, bench *at, const tn_cpu_iterator *it, int64_t number, int64_t first) {
  int64_t begin = number * job->piece, count = tn_cpu_min(it->dim[job->outer] - begin, job->piece);
  for (int k = 0; k < job->operands; k++) fetch(job, at, it, k, begin, count);
  for (const step *s = job->step, *end = s + job->steps; s < end; s++) {
    if (s->divides) look_for_zero(job, s, at->reg[s->in[1]], first, count * job->inner);
    if (s->run && s < end - 1)
      s->run(at->reg[s->out], at->reg[s->in[0]], at->reg[s->in[1]], at->reg[s->in[2]], count * job->inner);
  }
}

static bool divides_by_zero(fused *job) {
  tn_cpu_iterator it;
  bench at;
  tn_cpu_iterator_copy(&it, &job->it);
  job->zero_at = -1;
  lay_out(job, &at, job->call->scratch);
  tn_cpu_iterator_seek(&it, job->outer, 0);
  int64_t tiles = tiles_of(job), element = 0;
  for (int64_t tile = 0, number = 0; tile < tiles && job->zero_at < 0; tile++) {
    if (tn_cpu_stopped(job->call, tile)) break;
    try_tile(job, &at, &it, number, element);
    element += tn_cpu_min(it.dim[job->outer] - number * job->piece, job->piece) * job->inner;
    if (++number < job->pieces) continue;
    number = 0;
    tn_cpu_iterator_next(&it, job->outer);
  }
  return job->zero_at >= 0;
}

/* ---- preparing ---- */
/* When every operand is contiguous or a single element, there is one axis, and nothing to merge. */
static bool prepare_flat(fused *job) {
  const tn_kernel_call *call = job->call;
  tn_cpu_iterator *it = &job->it;
  int64_t count = tn_cpu_elements(call->out);
  if (!tn_cpu_is_flat(call->out)) return false;
  for (int k = 0; k < call->count; k++) {
    int64_t own = tn_cpu_elements(&call->in[k]);
    if (own != 1 && (own != count || !tn_cpu_is_flat(&call->in[k]))) return false;
    it->stride[OPERAND + k][0] = own == 1 && count > 1 ? 0 : 1;
  }
  it->rank = 1;
  it->views = call->count + 1;
  it->dim[0] = count;
  it->stride[OUT][0] = 1;
  return true;
}

static void prepare_general(fused *job) {
  const tn_kernel_call *call = job->call;
  tn_cpu_iterator_init(&job->it, call->out);
  tn_cpu_iterator_add(&job->it, call->out);
  for (int k = 0; k < call->count; k++) tn_cpu_iterator_add(&job->it, &call->in[k]);
  tn_cpu_iterator_merge(&job->it);
}

static void prepare_step(fused *job, int s, const tn_fused_step *from) {
  step *to = &job->step[s];
  *to = (step){ .op = from->op, .dtype = from->dtype, .out = (uint8_t)(job->operands + s) };
  job->dtype[to->out] = from->dtype;
  if (from->op == TN_OP_FILL) return;
  for (int k = 0; k < 3; k++) to->in[k] = from->in[k];
  tn_step how = step_of(from->op, job->dtype[from->in[0]], from->dtype);
  to->run = s == job->steps - 1 ? how.last : how.run;
  to->divides = tn_scalar_divides(from->op, from->dtype);
  to->arity = (uint8_t)tn_op_sig_of(from->op)->arity;
}

static bool overlaps(const tn_kernel_call *call) {
  for (int k = 0; k < call->count; k++)
    if (call->in[k].data == call->out->data) return true;
  return false;
}

/* Streaming pays if the result is new memory that leaves the caches before it is read. While
 * scratch is measured there is no memory yet: the worst case is assumed. */
static bool should_stream(const fused *job, bool measuring) {
  const tn_kernel_call *call = job->call;
  int64_t bytes = (int64_t)tn_cpu_bytes(call->out->dtype);
  if (job->it.rank != 1 || job->access[OUT] != DIRECT || job->it.dim[0] * bytes < STREAM_BYTES)
    return false;
  return measuring || (((uintptr_t)call->out->data & 63) == 0 && !overlaps(call));
}

static void prepare(fused *job, const tn_kernel_call *call, const tn_fused_step *steps, int count,
                    bool measuring) {
  job->call = call;
  job->operands = call->count;
  job->steps = count;
  job->buffers = 0;
  job->buffer_bytes = 4 * TILE + BUFFER_GAP;
  for (int k = 0; k < call->count; k++) job->dtype[k] = call->in[k].dtype;
  for (int s = 0; s < count; s++) prepare_step(job, s, &steps[s]);
  for (int r = 0; r < job->operands + count; r++)
    if (tn_cpu_bytes(job->dtype[r]) > 4) job->buffer_bytes = 8 * TILE + BUFFER_GAP;
  if (!prepare_flat(job)) prepare_general(job);
  choose_chain(job, tn_cpu_iterator_count(&job->it, 0, job->it.rank));
  choose_tiles(job);
  for (int v = 0; v < job->it.views; v++) job->access[v] = access_of(job, v);
  job->streams = should_stream(job, measuring);
  if (job->links > 0) add_link(job, job->streams ? link_stream : link_end, job->operands + count - 1);
  assign_buffers(job);
}

static bool run(fused *job) {
  const tn_kernel_call *call = job->call;
  double each = 0.1 * (call->count + 1);
  bool may_fail = false;
  for (int s = 0; s < job->steps; s++) {
    each += tn_op_cost(job->step[s].op);
    may_fail = may_fail || job->step[s].divides;
  }
  if (may_fail && divides_by_zero(job)) {
    *call->fault = (tn_fault){ .kind = TN_FAULT_DIVIDE, .op = job->zero_in };
    return false;
  }
  double cost = each * (double)tn_cpu_iterator_count(&job->it, 0, job->it.rank);
  int threads = tn_cpu_threads_for(cost, call->threads);
  tn_cpu_run_evenly(call, threads, tiles_of(job) / LEAST_TILES, cost, run_share, job);
  return true;
}

/* ---- one operation ---- */
static bool same_layout(const tn_kernel_call *call) {
  const tn_view *out = call->out;
  for (int k = 0; k < call->count; k++) {
    const tn_view *in = &call->in[k];
    if (tn_cpu_elements(in) != tn_cpu_elements(out) || !tn_cpu_is_flat(in)) return false;
  }
  return tn_cpu_is_flat(out);
}

typedef struct {
  const tn_kernel_call *call;
  tn_step_run run;
  int64_t count;
} flat_job;

static void flat_share(void *context, const tn_cpu_part *part) {
  const flat_job *job = context;
  const tn_kernel_call *call = job->call;
  const void *in[3] = { NULL, NULL, NULL };
  int64_t begin, end;
  tn_cpu_share(job->count, TILE, part, &begin, &end);
  for (int k = 0; k < call->count; k++)
    in[k] = (const char *)call->in[k].data + begin * (int64_t)tn_cpu_bytes(call->in[k].dtype);
  job->run((char *)call->out->data + begin * (int64_t)tn_cpu_bytes(call->out->dtype), in[0], in[1], in[2],
           end - begin);
}

/* All operands and the result are whole arrays: one loop over them, without tiles. */
static void run_flat(const tn_kernel_call *call, int64_t count) {
  flat_job job = { call, step_of(call->op, call->in[0].dtype, call->out->dtype).last, count };
  double cost = (double)count * (tn_op_cost(call->op) + 0.1 * (call->count + 1));
  tn_cpu_run_evenly(call, tn_cpu_threads_for(cost, call->threads), count / TILE, cost, flat_share, &job);
}

bool TN_CPU_NAME(elementwise)(const tn_kernel_call *call) {
  int64_t count = tn_cpu_elements(call->out);
  if (count == 0) return true;
  tn_fused_step only = small_only_step(call);
  if (small_fits(call, &only, 1)) {
    small_run(call, &only, 1);
    return true;
  }
  bool caches = count * (int64_t)tn_cpu_bytes(call->out->dtype) < STREAM_BYTES;
  if (caches && !tn_scalar_divides(call->op, call->out->dtype) && same_layout(call)) {
    run_flat(call, count);
    return true;
  }
  fused job;
  prepare(&job, call, &only, 1, false);
  return run(&job);
}

/* Of a program, or of one operation. */
static size_t scratch_for(const tn_kernel_call *call, const tn_fused_step *steps, int count) {
  fused job;
  if (tn_cpu_elements(call->out) == 0 || small_fits(call, steps, count)) return 0;
  prepare(&job, call, steps, count, true);
  return (size_t)job.buffers * job.buffer_bytes * (size_t)call->threads;
}

size_t TN_CPU_NAME(elementwise_scratch)(const tn_kernel_call *call) {
  tn_fused_step only = small_only_step(call);
  return scratch_for(call, &only, 1);
}

/* ---- a program ---- */
bool TN_CPU_NAME(fused)(const tn_kernel_call *call) {
  const tn_fused *program = call->attrs->program;
  if (tn_cpu_elements(call->out) == 0) return true;
  if (small_fits(call, program->step, program->step_count)) {
    small_run(call, program->step, program->step_count);
    return true;
  }
  fused job;
  prepare(&job, call, program->step, program->step_count, false);
  return run(&job);
}

size_t TN_CPU_NAME(fused_scratch)(const tn_kernel_call *call) {
  return scratch_for(call, call->attrs->program->step, call->attrs->program->step_count);
}
