/* plan/bands.c: lets consecutive steps that work row by row process their rows together, a band at a time.
 *
 * A layer_norm is six passes over a matrix; done one after another, each pass reads from memory what the one
 * before has written. Most operations compute row i of their result from row i of their operands (and from
 * other operands as a whole), so a run of such steps can be done for the first few rows, then for the next.
 * Values between the steps then stay in a near cache, and those that no other step reads need memory for one
 * band only. Kernels are simply called with fewer rows, so no bit changes.
 *
 * A row here is an index along the first axis, as flatten.c has left it. Steps of one run may see the same
 * memory in different shapes ([32, 784, 9] and [25088, 9]): the number of bands must divide each of their
 * first axes, and the k-th part of a view must cover the k-th part of the memory. */
#include "plan/internal.h"

#define BAND_BYTES  ((size_t)384 << 10) /* of everything that one band touches: the size of a near cache */
#define BAND_LIMIT  ((size_t)2 << 20)   /* bands that cannot be smaller than this are not worth the trouble */
#define WORTH_BYTES ((size_t)512 << 10) /* runs that touch less stay in the cache anyway */
#define SMALL_BYTES ((size_t)64 << 10)  /* of a matrix that every band multiplies with */
#define STEP_COST   0.5                 /* nanoseconds for an element where the operation does not say */
#define FMA_COST    0.05                /* and for each of a matrix product's multiplications, */
#define SUM_COST    0.15                /* for each operand element of a sum */
#define MEET_COST   600.0               /* nanoseconds for each thread that others wait for */

typedef struct {
  tn_plan *plan;
  bool *target;                /* by step: a jump arrives here */
  int32_t *seen;               /* by storage: the run that touched it last */
  int32_t run;                 /* number of this run, from 1 */
  uint32_t first;              /* its first step */
  int64_t common;              /* what divides every first axis of it */
  size_t bytes;                /* that its sliced views touch */
  size_t wanted, shared;       /* bytes: of a band on one thread, on all of them, */
  size_t limit, worth;         /*        of one at most, of a run at least */
} bander;

static size_t bytes_of(const tn_view *view) {
  return (size_t)tn_view_count(view) * tn_dtype_bytes(view->dtype);
}

/* ---- which operations work row by row ---- */

/* Operands that broadcast along the first axis are needed whole. */
static bool is_sliced(const tn_view *operand, const tn_view *out) {
  return operand->rank == out->rank && operand->dim[0] == out->dim[0];
}

static bool matmul_by_rows(const tn_plan *plan, const tn_step *step, int operand) {
  const tn_view *x = tn_step_view(plan, step, operand), *out = tn_step_view(plan, step, 2);
  return out->rank > 2 ? is_sliced(x, out) : operand == 0;
}

/* Whether an operand is read row by row; the step must pass works_by_rows. */
static bool reads_rows(const tn_plan *plan, const tn_step *step, int operand) {
  const tn_view *x = tn_step_view(plan, step, operand), *out = tn_step_view(plan, step, step->call.count);
  switch (tn_op_rows_of(step->call.op)) {
    case TN_ROWS_PRODUCT: return matmul_by_rows(plan, step, operand);
    case TN_ROWS_NAMED: return operand == 1;
    case TN_ROWS_ALIGNED:
    case TN_ROWS_OFF_LAST: return is_sliced(x, out);
    case TN_ROWS_OFF_AXIS:
    case TN_ROWS_OFF_AXES:
    case TN_ROWS_RESHAPED: return true;
    case TN_ROWS_WINDOWS: return operand == 0;
    case TN_ROWS_NONE: /* these do not pass */
    case TN_ROWS_JOINED:
    case TN_ROWS_PERMUTED:
    case TN_ROWS_STRETCHED:
    case TN_ROWS_SLICED:
    case TN_ROWS_PADDED: return false;
  }
  return false;
}

static bool works_by_rows(const tn_plan *plan, const tn_step *step) {
  const tn_view *x = tn_step_view(plan, step, 0), *out = tn_step_view(plan, step, step->call.count);
  if (out->rank == 0 || out->dim[0] < 2 || step->call.count == 0) return false;
  bool first_axes = x->rank > 0 && x->dim[0] == out->dim[0];
  switch (tn_op_rows_of(step->call.op)) {
    case TN_ROWS_ALIGNED: return true;
    case TN_ROWS_WINDOWS: /* alone, or multiplied with weights */
      return step->call.count == 1 || bytes_of(tn_step_view(plan, step, 1)) <= SMALL_BYTES;
    case TN_ROWS_OFF_AXIS: return tn_step_axis(step) > 0;
    case TN_ROWS_OFF_LAST: return out->rank > 1;
    case TN_ROWS_OFF_AXES: /* a sum of two operands is one of rows of a table */
      return step->call.count == 1 && first_axes && tn_step_axis(step) > 0;
    case TN_ROWS_RESHAPED: return first_axes;
    case TN_ROWS_NAMED: return step->call.attrs->axis == 0 && tn_step_view(plan, step, 1)->rank > 0;
    case TN_ROWS_PRODUCT:
      if (x->rank > out->rank) return false; /* of windows, which are rows of an image */
      return step->call.count == 2 && (out->rank > 2 || bytes_of(tn_step_view(plan, step, 1)) <= SMALL_BYTES);
    case TN_ROWS_NONE:
    case TN_ROWS_JOINED: /* the last of these are views or rare: not worth the trouble */
    case TN_ROWS_PERMUTED:
    case TN_ROWS_STRETCHED:
    case TN_ROWS_SLICED:
    case TN_ROWS_PADDED: return false;
  }
  return false;
}

/* The k-th part of the view looks at the k-th part of its storage and at nothing else. */
static bool is_in_parts(const tn_plan *plan, const tn_view *view, const tn_view_site *site) {
  size_t bytes = plan->storages.at[site->storage].bytes;
  int64_t extent = 1;
  for (int a = 1; a < view->rank; a++) {
    if (view->stride[a] < 0) return false;
    extent += (view->dim[a] - 1) * view->stride[a];
  }
  return site->offset == 0 && extent <= view->stride[0] &&
         (size_t)(view->stride[0] * view->dim[0]) * tn_dtype_bytes(view->dtype) == bytes;
}

/* ---- finding runs ---- */

static int64_t common_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b, b = rest;
  }
  return a;
}

static bool written_in_run(const bander *b, int32_t storage) {
  const tn_storage *s = &b->plan->storages.at[storage];
  return s->base == 0 && s->first >= (int32_t)b->first && b->seen[storage] == b->run;
}

static size_t new_bytes(const bander *b, const tn_step *step, int i) {
  bool seen = b->seen[tn_step_site(b->plan, step, i)->storage] == b->run;
  return seen ? 0 : bytes_of(tn_step_view(b->plan, step, i));
}

/* Whether the step can go with the run that began at b->first; *common and *bytes as they would become. Steps
 * of few rows and steps of many stay apart if the few are fewer than the threads. */
static bool fits(const bander *b, const tn_step *step, int64_t *common, size_t *bytes) {
  const tn_plan *plan = b->plan;
  if (step->kind != TN_STEP_KERNEL || !works_by_rows(plan, step)) return false;
  const tn_view *out = tn_step_view(plan, step, step->call.count);
  const tn_view_site *to = tn_step_site(plan, step, step->call.count);
  const tn_storage *storage = &plan->storages.at[to->storage];
  /* Memory outside the plan's own block is a parameter. It is written by a single step, because a
   * run may be stopped between two bands. */
  if (storage->base != 0 || storage->bytes == 0 || storage->first != (int32_t)(step - plan->steps.at))
    return false;
  if (!is_in_parts(plan, out, to)) return false;
  int64_t rows = out->dim[0];
  *bytes = b->bytes + storage->bytes;
  for (int i = 0; i < step->call.count; i++) {
    const tn_view_site *from = tn_step_site(plan, step, i);
    bool by_rows = reads_rows(plan, step, i);
    if (by_rows) *bytes += new_bytes(b, step, i);
    /* windows are more rows than the images they are of */
    if (by_rows) rows = common_divisor(tn_step_view(plan, step, i)->dim[0], rows);
    bool in_parts = by_rows && is_in_parts(plan, tn_step_view(plan, step, i), from);
    if (written_in_run(b, from->storage) && !in_parts) return false;
  }
  *common = common_divisor(rows, b->common);
  bool alike = b->common == 0 || rows == b->common;
  return *common > 1 && *bytes / (size_t)*common <= b->limit && (alike || *common >= plan->threads);
}

static void take(bander *b, const tn_step *step, int64_t common, size_t bytes) {
  for (int i = 0; i <= step->call.count; i++) b->seen[tn_step_site(b->plan, step, i)->storage] = b->run;
  b->common = common;
  b->bytes = bytes;
}

/* The fewest bands that are small enough for all threads to work on one; 1 where the near caches of all
 * threads hold the run anyway. */
static int64_t count_bands(const bander *b) {
  for (int64_t bands = 1; bands <= b->common; bands++)
    if (b->common % bands == 0 && b->bytes / (size_t)bands <= b->shared) return bands;
  return b->common;
}

/* Nanoseconds that a step takes on one thread, about. */
static double cost_of(const tn_plan *plan, const tn_step *step) {
  const tn_view *x = tn_step_view(plan, step, 0), *out = tn_step_view(plan, step, step->call.count);
  double each = tn_op_cost(step->call.op);
  if (tn_op_rows_of(step->call.op) == TN_ROWS_OFF_AXES) return (double)tn_view_count(x) * SUM_COST;
  if (tn_op_rows_of(step->call.op) == TN_ROWS_PRODUCT) each = FMA_COST * (double)x->dim[x->rank - 1];
  return (double)tn_view_count(out) * (each > STEP_COST ? each : STEP_COST);
}

static double cost_of_run(const bander *b, uint32_t last) {
  double cost = 0;
  for (uint32_t i = b->first; i <= last; i++) cost += cost_of(b->plan, &b->plan->steps.at[i]);
  return cost;
}

/* A step takes as many threads as are worth meeting for, and a short one is done by a single thread. */
static double step_time(double cost, int threads) {
  int n = 1;
  while (n < threads && cost >= (n + 1) * (n + 1) * MEET_COST) n++;
  return n > 1 ? cost / n + n * MEET_COST : cost;
}

/* How long a run takes when all threads do each step of a band, and when each does whole bands. */
static double shared_time(const bander *b, uint32_t last, int64_t bands) {
  double time = 0;
  for (uint32_t i = b->first; i <= last; i++)
    time += step_time(cost_of(b->plan, &b->plan->steps.at[i]) / (double)bands, b->plan->threads);
  return time * (double)bands;
}
static double lane_time(double cost, int64_t bands, int threads) {
  int64_t rounds = (bands + threads - 1) / threads;
  return cost * (double)rounds / (double)bands;
}

/* Bands for threads that take whole ones: as few as are small enough for one core, and give threads about as
 * much as single rows would. */
static int64_t count_lane_bands(const bander *b, double cost) {
  int64_t best = b->common;
  double most = lane_time(cost, best, b->plan->threads) * 1.2;
  for (int64_t i = 1; i <= b->common / i; i++) {
    if (b->common % i != 0) continue;
    const int64_t pair[] = { i, b->common / i };
    for (int k = 0; k < 2; k++) {
      bool small = b->bytes / (size_t)pair[k] <= b->wanted && pair[k] > 1;
      if (small && pair[k] < best && lane_time(cost, pair[k], b->plan->threads) <= most) best = pair[k];
    }
  }
  return best;
}

/* Each thread takes its own bands: a step is then a call on one thread. */
static tn_lanes *make_lanes(const bander *b, uint32_t last, double cost, int64_t bands) {
  tn_plan *plan = b->plan;
  tn_lanes *lanes = tn_arena_new(&plan->arena, tn_lanes);
  if (!lanes) return NULL;
  *lanes = (tn_lanes){ .count = bands < plan->threads ? (int)bands : plan->threads, .cost = cost };
  for (uint32_t i = b->first; i <= last; i++) {
    plan->steps.at[i].call.threads = 1;
    plan->steps.at[i].call.pool = NULL;
  }
  return lanes;
}

/* ---- cutting ---- */

/* Memory that only the run uses is needed for one band, by each thread with its own bands; other
 * memory of the run lives as long as the run. */
static void shorten_lives(const bander *b, uint32_t last, int64_t bands, const tn_lanes *lanes) {
  tn_plan *plan = b->plan;
  for (size_t s = 0; s < plan->storages.count; s++) {
    tn_storage *storage = &plan->storages.at[s];
    if (b->seen[s] != b->run || storage->base != 0) continue;
    bool inside = storage->first >= (int32_t)b->first && storage->last <= (int32_t)last && !storage->output;
    if (inside) storage->bytes /= (size_t)bands;
    if (inside && lanes) storage->bytes = tn_plan_rounded(storage->bytes) * (size_t)lanes->count;
    storage->banded = inside;
    if (storage->first > (int32_t)b->first) storage->first = (int32_t)b->first;
    if (storage->last < (int32_t)last) storage->last = (int32_t)last;
  }
}

static void cut_view(tn_plan *plan, uint32_t v, int64_t bands, const tn_lanes *lanes) {
  tn_view *view = &plan->views.at[v];
  tn_view_site *site = &plan->sites.at[v];
  const tn_storage *storage = &plan->storages.at[site->storage];
  view->dim[0] /= bands;
  if (!storage->banded)
    site->advance = view->dim[0] * view->stride[0] * (int64_t)tn_dtype_bytes(view->dtype);
  else if (lanes)
    site->lane_advance = (int64_t)(storage->bytes / (size_t)lanes->count);
}

static void cut(const bander *b, uint32_t last) {
  tn_plan *plan = b->plan;
  const double cost = cost_of_run(b, last);
  int64_t bands = count_bands(b), own = count_lane_bands(b, cost);
  bool apart = plan->threads > 1 && lane_time(cost, own, plan->threads) <= shared_time(b, last, bands);
  tn_lanes *lanes = apart ? make_lanes(b, last, cost, own) : NULL;
  if (lanes) bands = own;
  if (bands == 1) return;
  shorten_lives(b, last, bands, lanes);
  for (uint32_t i = b->first; i <= last; i++) {
    const tn_step *step = &plan->steps.at[i];
    bool rows[TN_PLAN_BAND_OPERANDS];
    for (int k = 0; k < step->call.count; k++) rows[k] = reads_rows(plan, step, k);
    for (int k = 0; k < step->call.count; k++)
      if (rows[k]) cut_view(plan, step->first_view + (uint32_t)k, bands, lanes);
    cut_view(plan, step->first_view + (uint32_t)step->call.count, bands, lanes);
  }
  plan->steps.at[b->first].bands = (int32_t)bands;
  plan->steps.at[b->first].band_end = last + 1;
  plan->steps.at[b->first].lanes = lanes;
}

static uint32_t find_run(bander *b, uint32_t first) {
  tn_plan *plan = b->plan;
  uint32_t i = first;
  b->run++;
  b->first = first;
  b->common = 0;
  b->bytes = 0;
  for (; i < plan->steps.count; i++) {
    const tn_step *step = &plan->steps.at[i];
    int64_t common;
    size_t bytes;
    if (step->call.count > TN_PLAN_BAND_OPERANDS || (i > first && b->target[i])) break;
    if (!fits(b, step, &common, &bytes)) break;
    take(b, step, common, bytes);
  }
  if (i > first + 1 && b->bytes >= b->worth) cut(b, i - 1);
  return i > first ? i : first + 1;
}

bool tn_plan_cut_bands(tn_plan *plan, tn_fault *fault) {
  size_t given = plan->options.band_bytes;
  bander b = { .plan = plan,
               .wanted = given ? given : BAND_BYTES,
               .shared = given ? given : BAND_BYTES * (size_t)plan->threads,
               .limit = given ? SIZE_MAX : BAND_LIMIT,
               .worth = given ? given : WORTH_BYTES };
  b.target = tn_arena_array(&plan->arena, plan->steps.count + 1, sizeof *b.target);
  b.seen = tn_arena_array(&plan->arena, plan->storages.count + 1, sizeof *b.seen);
  if (!b.target || !b.seen) {
    fault->kind = TN_FAULT_MEMORY;
    return false;
  }
  for (size_t i = 0; i < plan->steps.count; i++) {
    const tn_step *step = &plan->steps.at[i];
    if (step->kind == TN_STEP_JUMP || step->kind == TN_STEP_JUMP_UNLESS) b.target[step->target] = true;
  }
  for (uint32_t i = 0; i < plan->steps.count;) i = find_run(&b, i);
  return true;
}
