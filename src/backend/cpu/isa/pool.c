/* backend/cpu/isa/pool.c: sums of rows: rows of a table that an index selects, or neighbouring
 * rows.
 *
 * The mean of the words of a text reads a row of the table for each word and needs none of them
 * afterwards. Written out, those rows are the largest tensor of the program; here each is added in
 * place. The order is that of every sum (sums.h): row t of a chunk belongs to lane t mod 16, and
 * the lanes of a vector of columns are sixteen registers. So a row is visited once for every vector
 * of its columns; the first visit prefetches all of it. */
#include "backend/cpu/isa/index.h"
#include "backend/cpu/isa/small.h"
#include "backend/cpu/isa/sums.h"

_Static_assert(TN_BACKEND_POOL_LIMIT == TN_SUM_CHUNK, "one chunk has one tree");

typedef enum { IN_A_ROW, BY_I32, BY_I64 } numbering;

/* Where row t begins. */
TN_ALWAYS_INLINE const float *row_at(const float *rows, int64_t step, const void *index, numbering by,
                                     int64_t t) {
  if (by == BY_I32) return rows + ((const int32_t *)index)[t] * step;
  if (by == BY_I64) return rows + ((const int64_t *)index)[t] * step;
  return rows + t * step;
}

/* The sum of n <= TN_SUM_CHUNK rows, `left` columns of each; of `ahead` columns more will be wanted soon. */
TN_ALWAYS_INLINE VF sum_rows(const float *rows, int64_t step, const void *index, numbering by, int64_t n,
                             int left, int64_t ahead) {
  VF lane[TN_SUM_LANES];
  TN_UNROLL for (int l = 0; l < TN_SUM_LANES; l++) {
    lane[l] = vf_set(-0.0f);
    if (l >= n) continue;
    const float *row = row_at(rows, step, index, by, l);
    for (int64_t c = TN_LANES; c < ahead; c += 16) TN_PREFETCH(row + c);
    lane[l] = tn_load_some(row, left);
  }
  int64_t t = TN_SUM_LANES;
  for (; t + TN_SUM_LANES <= n; t += TN_SUM_LANES) {
    TN_UNROLL for (int l = 0; l < TN_SUM_LANES; l++) {
      const float *row = row_at(rows, step, index, by, t + l);
      for (int64_t c = TN_LANES; c < ahead; c += 16) TN_PREFETCH(row + c);
      lane[l] = lane[l] + tn_load_some(row, left);
    }
  }
  TN_UNROLL for (int l = 0; l < TN_SUM_LANES; l++) if (t + l < n) lane[l] =
      lane[l] + tn_load_some(row_at(rows, step, index, by, t + l), left);
  TN_UNROLL for (int k = TN_SUM_LANES / 2; k > 0; k /= 2)
      TN_UNROLL for (int l = 0; l < TN_SUM_LANES / 2; l++) if (l < k) lane[l] = lane[l] + lane[l + k];
  return lane[0];
}

/* `columns` sums, or means, of n rows. */
TN_ALWAYS_INLINE void sum_columns_of(const float *rows, int64_t step, const void *index, numbering by,
                                     int64_t n, int64_t columns, bool mean, float *out) {
  int64_t c = 0, ahead = by == IN_A_ROW ? 0 : tn_cpu_min(columns, 256);
  for (; c + TN_LANES <= columns; c += TN_LANES) {
    VF sum = sum_rows(rows + c, step, index, by, n, TN_LANES, c == 0 ? ahead : 0);
    vf_store(out + c, vf_canonical(mean ? sum / vf_set((float)n) : sum));
  }
  if (c == columns) return;
  int left = (int)(columns - c);
  VF sum = sum_rows(rows + c, step, index, by, n, left, 0);
  vf_store_part(out + c, vf_canonical(mean ? sum / vf_set((float)n) : sum), left);
}

/* ---- rows that an index names ---- */
#define TREE_DEPTH 4 /* of the lanes of a chunk */
_Static_assert(1 << TREE_DEPTH == TN_SUM_LANES, "lanes are the leaves of a tree");

/* Lane l of n rows of TN_COMMON_COLUMNS; the rows of lane `later` are prefetched. */
TN_ALWAYS_INLINE void sum_common_lane(const float *rows, int64_t step, const void *index, numbering by,
                                      int64_t n, int l, int later, VF *sum) {
  VF all[TN_COMMON_VECTORS];
  TN_UNROLL for (int v = 0; v < TN_COMMON_VECTORS; v++) all[v] = vf_set(-0.0f);
  for (int64_t t = l; t < n; t += TN_SUM_LANES) {
    const float *row = row_at(rows, step, index, by, t);
    const float *ahead = row_at(rows, step, index, by, tn_cpu_min(t - l + later, n - 1));
    TN_UNROLL for (int c = 0; c < TN_COMMON_COLUMNS; c += 16) TN_PREFETCH(ahead + c);
    TN_UNROLL for (int v = 0; v < TN_COMMON_VECTORS; v++) all[v] = all[v] + vf_load(row + v * TN_LANES);
  }
  TN_UNROLL for (int v = 0; v < TN_COMMON_VECTORS; v++) sum[v] = all[v];
}

/* All vectors of a row at once, so that its place is worked out once; and lanes one after another, in the
 * order in which their tree joins them: a lane is joined to the one before it as soon as both are there. */
TN_ALWAYS_INLINE void sum_common(const float *rows, int64_t step, const void *index, numbering by, int64_t n,
                                 bool mean, float *out) {
  static const int8_t order[TN_SUM_LANES + 1] = { 0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15, 15 };
  VF part[TREE_DEPTH + 1][TN_COMMON_VECTORS];
  int parts = 0;
  for (int i = 0; i < TN_SUM_LANES; i++) {
    sum_common_lane(rows, step, index, by, n, order[i], order[i + 1], part[parts++]);
    for (int joined = i + 1; joined % 2 == 0; joined /= 2, parts--)
      TN_UNROLL for (int v = 0; v < TN_COMMON_VECTORS; v++) part[parts - 2][v] =
          part[parts - 2][v] + part[parts - 1][v];
  }
  TN_UNROLL for (int v = 0; v < TN_COMMON_VECTORS; v++)
      vf_store(out + v * TN_LANES, vf_canonical(mean ? part[0][v] / vf_set((float)n) : part[0][v]));
}

TN_ALWAYS_INLINE void sum_named(const float *rows, int64_t step, const void *index, numbering by, int64_t n,
                                int64_t columns, bool mean, float *out) {
  if (columns == TN_COMMON_COLUMNS)
    sum_common(rows, step, index, by, n, mean, out);
  else
    sum_columns_of(rows, step, index, by, n, columns, mean, out);
}

/* table: [rows, columns], index: [..., n], out: [..., columns] */
static void pool_share(void *context, const tn_cpu_part *part) {
  const tn_kernel_call *call = context;
  const tn_view *table = &call->in[0], *index = &call->in[1];
  int64_t n = index->dim[index->rank - 1], columns = table->dim[1], begin, end;
  bool mean = call->op == TN_OP_MEAN;
  tn_cpu_share(tn_cpu_elements(index) / n, 1, part, &begin, &end);
  const int64_t step = table->stride[0];
  for (int64_t o = begin; o < end; o++) {
    float *out = (float *)call->out->data + o * columns;
    if (index->dtype == TN_I32)
      sum_named(table->data, step, (const int32_t *)index->data + o * n, BY_I32, n, columns, mean, out);
    else
      sum_named(table->data, step, (const int64_t *)index->data + o * n, BY_I64, n, columns, mean, out);
  }
}

bool TN_CPU_NAME(pool)(const tn_kernel_call *call) {
  const tn_view *table = &call->in[0], *index = &call->in[1];
  int64_t count = tn_cpu_elements(index);
  if (!tn_cpu_index_fits(call, index, count, table->dim[0]))
    return tn_cpu_check_index(call, index, table->dim[0], 0);
  double cost = (double)count * (2 + 0.07 * (double)table->dim[1]);
  int64_t bytes = count * table->dim[1] * (int64_t)sizeof(float);
  tn_cpu_run(call, tn_cpu_threads_for_rows(cost, bytes, call->threads), cost, pool_share, (void *)call);
  return true;
}

/* ---- neighbouring rows: a sum along an axis that is not the last ---- */
#define SMALL_SUM 2048 /* elements */

typedef struct {
  int64_t outer, n, inner; /* the operand as [outer, n, inner] */
} sum_form;

static bool sum_small(const tn_kernel_call *call) {
  const sum_form *form = call->kept;
  const float *from = call->in[0].data;
  float *out = call->out->data;
  for (int64_t o = 0; o < form->outer; o++)
    sum_columns_of(from + o * form->n * form->inner, form->inner, NULL, IN_A_ROW, form->n, form->inner,
                   call->op == TN_OP_MEAN, out + o * form->inner);
  return true;
}

tn_kernel small_sum(const tn_kernel_call *call, tn_arena *arena, const void **kept) {
  const tn_view *x = &call->in[0];
  const tn_attrs *attrs = call->attrs;
  int64_t count = tn_cpu_elements(x);
  if (call->count != 1 || x->dtype != TN_F32 || count == 0 || count > SMALL_SUM) return NULL;
  if (attrs->axis_count != 1 || !tn_cpu_is_flat(x) || !tn_cpu_is_flat(call->out)) return NULL;
  sum_form form = { .outer = 1, .n = x->dim[attrs->axes[0]], .inner = 1 };
  for (int a = 0; a < attrs->axes[0]; a++) form.outer *= x->dim[a];
  for (int a = attrs->axes[0] + 1; a < x->rank; a++) form.inner *= x->dim[a];
  if (form.inner == 1 || form.n > TN_SUM_CHUNK) return NULL;
  *kept = tn_arena_copy(arena, &form, sizeof form);
  return *kept ? sum_small : NULL;
}
