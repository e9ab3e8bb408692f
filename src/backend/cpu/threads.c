/* backend/cpu/threads.c: divides the work of kernels into parts.
 *
 * base/pool.h runs them. Parts are numbered, so what a part does follows from its
 * number and never from which thread does it. */
#include "backend/cpu/internal.h"

#define PART_COST  2e6       /* nanoseconds after which a thread checks for a stop */
#define PART_LIMIT (1 << 28) /* parts */
#define EVEN_COST  25e3      /* nanoseconds of a part that another thread may take over, at least */
#define EVEN_PARTS 8         /* of each thread, at most */
#define TILE_COST  2e6       /* the same of a tile, whose rows and columns are packed again for each, */
#define TILE_PARTS 4         /* and of each thread, at most */
#define READ_COST  32.0      /* of a row or column, in elements that are calculated of it: packing is most */
#define MOST_BANDS 16        /* of each product of a batch */

static void run(const tn_kernel_call *call, int threads, int pieces, double cost, tn_cpu_job job,
                void *context) {
  if (threads < 1) threads = 1;
  tn_pool_run(call->pool, &(tn_work){ .run = job,
                                      .context = context,
                                      .cost = cost,
                                      .threads = threads,
                                      .pieces = pieces,
                                      .stop = pieces > 1 ? call->stop : NULL });
}

void tn_cpu_parallel(const tn_kernel_call *call, int threads, double cost, tn_cpu_job job, void *context) {
  run(call, threads, 1, cost, job, context);
}

/* Parts for each thread, so that it looks for a stop every few milliseconds. */
static int pieces_for(const tn_kernel_call *call, int threads, double cost) {
  double pieces = call->stop ? cost / (threads * PART_COST) : 1;
  int most = PART_LIMIT / threads;
  return pieces < 2 ? 1 : pieces < most ? (int)pieces : most;
}

void tn_cpu_run(const tn_kernel_call *call, int threads, double cost, tn_cpu_job job, void *context) {
  if (threads < 1) threads = 1;
  run(call, threads, pieces_for(call, threads, cost), cost, job, context);
}

void tn_cpu_run_tiles(const tn_kernel_call *call, int threads, double cost, tn_cpu_job job, void *context) {
  if (threads < 1) threads = 1;
  double pieces = threads > 1 ? cost / (threads * TILE_COST) : 1;
  run(call, threads, pieces < 2 ? 1 : pieces < TILE_PARTS ? (int)pieces : TILE_PARTS, cost, job, context);
}

int tn_cpu_even_pieces(int threads, double cost, int64_t units) {
  if (threads <= 1) return 1;
  double pieces = cost / (threads * EVEN_COST);
  int64_t most = units / threads < EVEN_PARTS ? units / threads : EVEN_PARTS;
  if (pieces > (double)most) return most < 2 ? 1 : (int)most;
  return pieces < 2 ? 1 : (int)pieces;
}

void tn_cpu_run_evenly(const tn_kernel_call *call, int threads, int64_t units, double cost, tn_cpu_job job,
                       void *context) {
  if (threads < 1) threads = 1;
  int even = tn_cpu_even_pieces(threads, cost, units), pieces = pieces_for(call, threads, cost);
  run(call, threads, even > pieces ? even : pieces, cost, job, context);
}

/* Elements of the largest of `parts` shares, cut at multiples of `grain`. */
static double largest(int64_t count, int64_t grain, int64_t parts) {
  int64_t grains = (count + grain - 1) / grain, share = (grains + parts - 1) / parts;
  return share < grains ? (double)share * (double)grain : (double)count;
}

tn_cpu_grid tn_cpu_grid_for(int threads, int64_t m, int64_t row, int64_t n, int64_t column) {
  tn_cpu_grid best = { 1, 1 };
  double least = 0;
  for (int rows = 1; rows <= threads; rows++) {
    double high = largest(m, row, rows), wide = largest(n, column, threads / rows);
    double cost = high * wide + READ_COST * (high + wide);
    if (rows > 1 && (cost > least || (cost == least && m < n))) continue;
    best = (tn_cpu_grid){ rows, threads / rows };
    least = cost;
  }
  int64_t most_rows = (m + row - 1) / row, most_columns = (n + column - 1) / column;
  if (best.rows > most_rows) best.rows = (int)most_rows;
  if (best.columns > most_columns) best.columns = (int)most_columns;
  return best;
}

int tn_cpu_bands_for(int threads, int64_t count, int64_t m, int64_t row, int64_t n) {
  int best = 1;
  double least = 0;
  int64_t most = (m + row - 1) / row;
  for (int bands = 1; bands <= MOST_BANDS && bands <= most; bands++) {
    double each = largest(m, row, bands) * ((double)n + READ_COST) + READ_COST * (double)n;
    double cost = largest(count * bands, 1, threads) * each;
    if (bands > 1 && cost >= least) continue;
    best = bands;
    least = cost;
  }
  return best;
}
