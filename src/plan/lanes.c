/* plan/lanes.c: runs bands in parallel, each thread with its own bands.
 *
 * Steps that run band by band (bands.c) could divide each step of a band among all threads. Then
 * threads synchronise after every step, and read what another core has written. If that costs more
 * than it gains, each thread takes whole bands instead: threads synchronise once, when all bands
 * are done, and values between the steps stay in the cache of one core. Each thread then has a
 * lane: its own views, calls and scratch memory, and memory for one band of values that only these
 * steps use. Kernels get fewer rows, as in any band, so no bit changes. */
#include "plan/internal.h"

#define MOST_PIECES 8 /* parts of each lane: other threads take the remaining parts of a slow one */

/* ---- making ---- */

static uint32_t views_of(const tn_plan *plan, uint32_t first, uint32_t end) {
  const tn_step *last = &plan->steps.at[end - 1];
  return last->first_view + (uint32_t)last->call.count + 1 - plan->steps.at[first].first_view;
}

static bool make_lane(tn_plan *plan, uint32_t first, tn_lane *lane, char *scratch) {
  uint32_t end = plan->steps.at[first].band_end, base = plan->steps.at[first].first_view;
  uint32_t views = views_of(plan, first, end);
  lane->views = tn_arena_array(&plan->arena, views, sizeof *lane->views);
  lane->calls = tn_arena_array(&plan->arena, end - first, sizeof *lane->calls);
  if (!lane->views || !lane->calls) return false;
  for (uint32_t v = 0; v < views; v++) lane->views[v] = plan->views.at[base + v];
  for (uint32_t i = first; i < end; i++) {
    const tn_step *step = &plan->steps.at[i];
    tn_kernel_call *call = &lane->calls[i - first];
    *call = step->call;
    call->in = &lane->views[step->first_view - base];
    call->out = call->in + step->call.count;
    call->scratch = scratch;
  }
  return true;
}

bool tn_plan_make_lanes(tn_plan *plan, tn_fault *fault) {
  for (uint32_t i = 0; i < plan->steps.count; i++) {
    tn_lanes *lanes = plan->steps.at[i].lanes;
    if (!lanes) continue;
    lanes->at = tn_arena_array(&plan->arena, (size_t)lanes->count, sizeof *lanes->at);
    for (int n = 0; n < lanes->count; n++) {
      char *scratch = plan->scratch ? plan->scratch + (size_t)n * lanes->scratch : NULL;
      if (lanes->at && make_lane(plan, i, &lanes->at[n], scratch)) continue;
      fault->kind = TN_FAULT_MEMORY;
      return false;
    }
  }
  return true;
}

/* ---- running ---- */

typedef struct {
  tn_plan *plan;
  uint32_t first, end, views; /* steps; how many views they have */
  tn_lanes *lanes;
  tn_stop *stop;
} band_job;

/* Points the lane's views at a band. */
static void point(const band_job *job, tn_lane *lane, int number, int64_t band) {
  uint32_t base = job->plan->steps.at[job->first].first_view;
  for (uint32_t v = 0; v < job->views; v++) {
    const tn_view_site *site = &job->plan->sites.at[base + v];
    lane->views[v].data =
        (char *)job->plan->views.at[base + v].data + site->advance * band + site->lane_advance * number;
  }
}

/* A lane keeps the fault of the first of its bands that has one. */
static bool note(tn_lane *lane, int64_t band, const tn_fault *fault) {
  if (lane->failed < 0 || band < lane->failed) {
    lane->failed = band;
    lane->fault = *fault;
  }
  return false;
}

static bool run_band(const band_job *job, tn_lane *lane, int64_t band) {
  for (uint32_t i = job->first; i < job->end; i++) {
    const tn_step *step = &job->plan->steps.at[i];
    tn_fault fault = { 0 };
    tn_kernel_call call = lane->calls[i - job->first];
    call.fault = &fault;
    call.stop = job->stop;
    bool ok = step->kernel(&call);
    if (ok && !tn_stop_asked(job->stop)) continue;
    tn_plan_stop(job->plan, step, ok ? TN_FAULT_INTERRUPTED : TN_FAULT_INTERNAL, &fault);
    return note(lane, band, &fault);
  }
  return true;
}

static void run_part(void *context, const tn_part *part) {
  const band_job *job = context;
  tn_lane *lane = &job->lanes->at[part->thread];
  int64_t bands = job->plan->steps.at[job->first].bands;
  int64_t band = bands * part->number / part->count, end = bands * (part->number + 1) / part->count;
  for (bool ok = true; ok && band < end; band++) {
    point(job, lane, part->thread, band);
    ok = run_band(job, lane, band);
  }
}

/* The fault of the first band that has one, as if bands had come one after another. */
static bool judge(const band_job *job, tn_fault *fault) {
  const tn_lane *found = NULL;
  for (int n = 0; n < job->lanes->count; n++) {
    const tn_lane *lane = &job->lanes->at[n];
    if (lane->failed >= 0 && (!found || lane->failed < found->failed)) found = lane;
  }
  if (found) *fault = found->fault;
  if (found) return false;
  if (!tn_stop_asked(job->stop)) return true;
  return tn_plan_stop(job->plan, &job->plan->steps.at[job->first], TN_FAULT_INTERRUPTED, fault);
}

bool tn_plan_run_lanes(tn_plan *plan, uint32_t first, tn_fault *fault) {
  const tn_step *step = &plan->steps.at[first];
  bool may_stop = (int32_t)step->band_end < plan->first_write;
  band_job job = { plan, first, step->band_end, views_of(plan, first, step->band_end), step->lanes,
                   may_stop ? plan->heap->stop : NULL };
  int pieces = step->bands / step->lanes->count;
  for (int n = 0; n < step->lanes->count; n++) step->lanes->at[n].failed = -1;
  tn_pool_run(plan->heap->pool, &(tn_work){ .run = run_part,
                                            .context = &job,
                                            .cost = step->lanes->cost,
                                            .threads = step->lanes->count,
                                            .pieces = pieces < MOST_PIECES ? pieces : MOST_PIECES,
                                            .stop = job.stop });
  return judge(&job, fault);
}
