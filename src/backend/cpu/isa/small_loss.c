/* backend/cpu/isa/small_loss.c: softmax and cross_entropy of a few short rows.
 *
 * A vector holds several rows of two or ten classes, so the exponentials of all elements are
 * computed together, whatever row they belong to; only the largest and the sum of a row are found
 * row by row. A row of at most sixteen has one element in each lane of its sum, and lanes without
 * one change nothing (sums.h). */
#include "backend/cpu/isa/index.h"
#include "backend/cpu/isa/small.h"
#include "backend/cpu/isa/sums.h"
#include "base/elementary.inc.h"

#define ELEMENTS (32 * TN_SUM_LANES)

typedef struct {
  int rows, n;
} loss_form;

typedef struct {
  float e[ELEMENTS + TN_SUM_LANES];                                 /* exp(x - max) */
  float max[ELEMENTS + TN_SUM_LANES], sum[ELEMENTS + TN_SUM_LANES]; /* by row */
} exponentials;

static inline int32_t key_of(float x) {
  int32_t bits = (int32_t)tn_bits_f32(x);
  return bits ^ (bits < 0 ? 0x7fffffff : 0);
}

/* NaN wins, -0 is below +0; what is in memory has one NaN only, and its key is the largest. */
static inline float largest(const float *x, int n) {
  int32_t most = key_of(x[0]);
  for (int i = 1; i < n; i++) {
    int32_t key = key_of(x[i]);
    most = key > most ? key : most;
  }
  return tn_float_of_key(most);
}

static inline float sum_of(const float *e, int n) {
  float lane[TN_SUM_LANES];
  if (n == 2) return e[0] + e[1];
  for (int l = 0; l < n; l++) lane[l] = e[l];
  for (int k = TN_SUM_LANES / 2; k > 0; k /= 2) {
    for (int l = 0; l < k && l + k < n; l++) lane[l] = lane[l] + lane[l + k];
    n = n < k ? n : k;
  }
  return lane[0];
}

static void find_exponentials(const float *x, int rows, int n, exponentials *to) {
  int count = rows * n;
  for (int r = 0; r < rows; r++) {
    const float *row = x + r * n;
    to->max[r] = largest(row, n);
    for (int i = 0; i < n; i++) to->e[r * n + i] = row[i] - to->max[r];
  }
  for (int i = 0; i < count; i += TN_LANES) {
    int left = count - i < TN_LANES ? count - i : TN_LANES;
    vf_store(to->e + i, vf_exp(vf_load_part(to->e + i, left)));
  }
  for (int r = 0; r < rows; r++) to->sum[r] = sum_of(to->e + r * n, n);
}

static bool softmax_small(const tn_kernel_call *call) {
  const loss_form *form = call->kept;
  float *out = call->out->data;
  exponentials found;
  find_exponentials(call->in[0].data, form->rows, form->n, &found);
  for (int r = 0; r < form->rows; r++)
    for (int i = 0; i < form->n; i++) {
      int at = r * form->n + i;
      out[at] = tn_canonical_f32(found.e[at] / found.sum[r]);
    }
  return true;
}

static bool cross_entropy_small(const tn_kernel_call *call) {
  const loss_form *form = call->kept;
  const tn_view *logits = &call->in[0], *labels = &call->in[1];
  int rows = form->rows, n = form->n;
  float loss[ELEMENTS + TN_SUM_LANES];
  exponentials found;
  if (!tn_cpu_index_fits(call, labels, rows, n)) return tn_cpu_check_index(call, labels, n, logits->rank - 1);
  find_exponentials(logits->data, rows, n, &found);
  for (int r = 0; r < rows; r++)
    loss[r] =
        ((const float *)logits->data)[r * n + tn_cpu_index_at(labels->data, labels->dtype, r)] - found.max[r];
  for (int r = 0; r < rows; r += TN_LANES) {
    int left = rows - r < TN_LANES ? rows - r : TN_LANES;
    VF log_probability = vf_load_part(loss + r, left) - vf_log(vf_load_part(found.sum + r, left));
    vf_store(loss + r, vf_canonical(-log_probability));
  }
  float sum = rows <= TN_SUM_LANES ? sum_of(loss, rows) : sum_row(NULL, loss, rows);
  *(float *)call->out->data = tn_canonical_f32(sum / (float)rows);
  return true;
}

/* Rows along the last axis. `other` is what the kernel goes through beside them. */
static bool has_form(const tn_view *x, const tn_view *other, tn_arena *arena, const void **kept) {
  int64_t count = tn_cpu_elements(x);
  if (x->dtype != TN_F32 || x->rank == 0 || count == 0 || count > ELEMENTS) return false;
  if (!tn_cpu_is_flat(x) || !tn_cpu_is_flat(other)) return false;
  loss_form form = { .n = (int)x->dim[x->rank - 1] };
  form.rows = (int)count / form.n;
  if (form.n > TN_SUM_LANES) return false;
  *kept = tn_arena_copy(arena, &form, sizeof form);
  return *kept;
}

tn_kernel small_softmax(const tn_kernel_call *call, tn_arena *arena, const void **kept) {
  const tn_view *x = &call->in[0];
  return call->attrs->axis == x->rank - 1 && has_form(x, call->out, arena, kept) ? softmax_small : NULL;
}

tn_kernel small_cross_entropy(const tn_kernel_call *call, tn_arena *arena, const void **kept) {
  return has_form(&call->in[0], &call->in[1], arena, kept) ? cross_entropy_small : NULL;
}
