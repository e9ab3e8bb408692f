/* lang/ail/library_compose.c: operations composed of others: attention, norms, pools, losses.
 *
 * They are common building blocks, and need no kernels: the optimiser fuses their parts. Those
 * whose parts broadcast use tn_ail_apply like a program's own lines. Those that change shapes first
 * compute the shape of the result, which may have names; only a graph gets the parts. Either way
 * the check and the lowering meet the same number of sites. */
#include <float.h>
#include <math.h>

#include "lang/ail/library.h"

static tn_ail_operand tensor(tn_value value) { return tn_ail_of_value(TN_DATA_TENSOR, value); }

static tn_shape shape_of(const tn_ail_make *m, tn_value value) {
  return tn_build_type(m->w->builder, value)->shape;
}

static tn_value apply1(tn_ail_make *m, tn_op op, tn_value x) {
  return tn_ail_apply(m->w, &m->site, op, &x, 1, NULL);
}

static tn_value apply2(tn_ail_make *m, tn_op op, tn_value x, tn_value y) {
  const tn_value in[] = { x, y };
  return tn_ail_apply(m->w, &m->site, op, in, 2, NULL);
}

static tn_value number(tn_ail_make *m, double value) {
  m->w->builder->at = m->site.at;
  return tn_build_number(m->w->builder, TN_F32, value);
}

static tn_value mean_of(tn_ail_make *m, tn_value x, const tn_attrs *attrs) {
  return tn_ail_apply(m->w, &m->site, TN_OP_MEAN, &x, 1, attrs);
}

static bool mismatch(tn_ail_make *m, tn_shape left, tn_shape right, int dimension) {
  return tn_ail_say(m->w, TN_DIAG_E_SHAPE_MISMATCH, m->site.at,
                    tn_ail_function_field(&m->site, m->builtin->op), tn_ail_shape_field(m->w, "left", &left),
                    tn_ail_shape_field(m->w, "right", &right), TN_INT("dimension", dimension));
}

/* At least so many dimensions; `pattern` is what the operation works on. */
static bool require_least(tn_ail_make *m, tn_value x, int rank, const char *pattern) {
  if (x == TN_ERROR_VALUE) return false;
  tn_shape shape = shape_of(m, x);
  if (shape.rank >= rank) return true;
  return tn_ail_say(m->w, TN_DIAG_E_SHAPE_MISMATCH, m->site.at,
                    tn_ail_function_field(&m->site, m->builtin->op), tn_ail_shape_field(m->w, "left", &shape),
                    TN_STR("right", pattern), TN_INT("dimension", shape.rank));
}

static bool differ(int64_t a, int64_t b) { return tn_dim_is_known(a) && tn_dim_is_known(b) && a != b; }

static bool is_multiple(int64_t length, int64_t of) { return !tn_dim_is_known(length) || length % of == 0; }

static tn_str source_of(const tn_ail_make *m, int i) {
  return tn_ail_source_text(m->w->program, m->given[i] ? m->given[i]->at : m->site.at);
}

/* ---- parts of a graph ---- */

/* What the parts have given. With names left in a graph the parts may not know enough. */
static tn_ail_operand made(tn_ail_make *m, tn_value value, tn_shape left, tn_shape right) {
  tn_ail_walk *w = m->w;
  if (value != TN_ERROR_VALUE) return tensor(value);
  tn_fault fault = w->builder->fault;
  tn_build_forget(w->builder);
  if (w->unnamed) {
    tn_ail_get_stuck(w);
    return tn_ail_wrong();
  }
  tn_ail_named_shapes(w, &left, &right);
  tn_ail_report_op_fault(w, &m->site, &fault, &left, &right);
  return tn_ail_wrong();
}

/* Opens the site of a composed operation. True where parts are to be made; else the check has *out. */
static bool begins(tn_ail_make *m, const tn_shape *left, const tn_shape *right, const tn_shape *result,
                   tn_ail_operand *out) {
  *out = tn_ail_wrong();
  tn_ail_note_site(m->w, left, right);
  if (m->w->stopped) return false;
  m->w->builder->at = m->site.at;
  if (m->w->typer) *out = tensor(tn_typer_value(m->w->typer, TN_F32, result));
  return !m->w->typer;
}

/* ---- losses ---- */

static tn_value distance(tn_ail_make *m) {
  return apply1(m, TN_OP_ABS, apply2(m, TN_OP_SUB, tn_ail_make_tensor(m, 0), tn_ail_make_tensor(m, 1)));
}

static const tn_attrs all_axes = { .axis_count = -1 };

/* mean of |a - b| */
tn_ail_operand tn_ail_make_mae(tn_ail_make *m) { return tensor(mean_of(m, distance(m), &all_axes)); }

/* With d = |a - b| and s = min(d, delta): mean of s (d - s / 2), which is d^2 / 2 up to delta and a line from
 * there on. */
tn_ail_operand tn_ail_make_huber(tn_ail_make *m) {
  double delta;
  tn_value d = distance(m);
  if (!tn_ail_make_number(m, 2, 1, &delta) || d == TN_ERROR_VALUE) return tn_ail_wrong();
  if (!(delta > 0 && delta <= (double)FLT_MAX)) {
    tn_ail_make_refuse(m, "a delta above 0", source_of(m, 2));
    return tn_ail_wrong();
  }
  tn_value small = apply2(m, TN_OP_MINIMUM, d, number(m, delta));
  tn_value rest = apply2(m, TN_OP_SUB, d, apply2(m, TN_OP_MUL, number(m, 0.5), small));
  return tensor(mean_of(m, apply2(m, TN_OP_MUL, small, rest), &all_axes));
}

/* ---- norms ---- */

#define USUAL_EPS 1e-5

static bool read_eps(tn_ail_make *m, int i, double *out) {
  if (!tn_ail_make_number(m, i, USUAL_EPS, out)) return false;
  return *out >= 0 ? true : tn_ail_make_refuse(m, "an eps of at least 0", source_of(m, i));
}

/* value * gamma + beta; neither may be larger than the value. */
static tn_value scale_and_shift(tn_ail_make *m, tn_value value, int gamma, int beta) {
  int dimension;
  if (value == TN_ERROR_VALUE) return value;
  tn_shape before = shape_of(m, value);
  for (int i = 0; i < 2; i++) {
    int argument = i ? beta : gamma;
    if (argument < 0) continue;
    tn_value by = tn_ail_make_tensor(m, argument);
    value = apply2(m, i ? TN_OP_ADD : TN_OP_MUL, value, by);
    if (value == TN_ERROR_VALUE) return value;
    tn_shape after = shape_of(m, value);
    if (!tn_ail_shapes_differ(&before, &after, &dimension)) continue;
    mismatch(m, before, shape_of(m, by), dimension);
    return TN_ERROR_VALUE;
  }
  return value;
}

/* x / sqrt(mean(x^2) + eps) * gamma over the last axis */
tn_ail_operand tn_ail_make_rms_norm(tn_ail_make *m) {
  tn_value x = tn_ail_make_tensor(m, 0);
  double eps;
  if (!read_eps(m, 2, &eps) || !require_least(m, x, 1, "[..., D]")) return tn_ail_wrong();
  tn_attrs last = { .axis_count = 1, .axes = { -1 }, .keepdims = true };
  tn_value square = mean_of(m, apply2(m, TN_OP_MUL, x, x), &last);
  tn_value spread = apply1(m, TN_OP_SQRT, apply2(m, TN_OP_ADD, square, number(m, eps)));
  return tensor(scale_and_shift(m, apply2(m, TN_OP_DIV, x, spread), 1, -1));
}

/* (x - mean) / sqrt(mean((x - mean)^2) + eps) over these axes */
static tn_value normalized(tn_builder *b, tn_value x, const int *axes, int count, double eps) {
  tn_value mean = tn_build_reduce(b, TN_OP_MEAN, x, axes, count, true);
  tn_value centred = tn_build_binary(b, TN_OP_SUB, x, mean);
  tn_value square = tn_build_binary(b, TN_OP_MUL, centred, centred);
  tn_value variance = tn_build_reduce(b, TN_OP_MEAN, square, axes, count, true);
  tn_value spread = tn_build_binary(b, TN_OP_ADD, variance, tn_build_number(b, TN_F32, eps));
  return tn_build_binary(b, TN_OP_DIV, centred, tn_build_unary(b, TN_OP_SQRT, spread));
}

/* x: [n, ..., c] as [n, ..., groups, c / groups], over all axes but the first and that of the groups */
static tn_value group_parts(tn_builder *b, tn_value x, int64_t groups, double eps) {
  tn_shape shape = tn_build_type(b, x)->shape, split = shape;
  int axes[TN_RANK_LIMIT], count = 0;
  split.dim[split.rank - 1] = groups;
  split.dim[split.rank++] = shape.dim[shape.rank - 1] / groups;
  for (int i = 1; i < split.rank; i++) {
    if (i != split.rank - 2) axes[count++] = i;
  }
  tn_value parts = normalized(b, tn_build_reshape(b, x, &split), axes, count, eps);
  return parts == TN_ERROR_VALUE ? parts : tn_build_reshape(b, parts, &shape);
}

static bool read_groups(tn_ail_make *m, const tn_shape *x, int64_t *groups) {
  int64_t channels = x->dim[x->rank - 1];
  if (!tn_ail_make_int(m, 1, 1, groups)) return false;
  bool divides = *groups >= 1 && is_multiple(channels, *groups);
  return divides ? true : tn_ail_make_refuse(m, "groups that divide the last dimension", source_of(m, 1));
}

tn_ail_operand tn_ail_make_group_norm(tn_ail_make *m) {
  tn_value x = tn_ail_make_tensor(m, 0);
  int64_t groups;
  double eps;
  if (!read_eps(m, 4, &eps) || !require_least(m, x, 2, "[N, ..., C]")) return tn_ail_wrong();
  tn_shape shape = shape_of(m, x);
  if (shape.rank == TN_RANK_LIMIT) {
    tn_ail_make_refuse(m, "a tensor of at most 7 dimensions", source_of(m, 0));
    return tn_ail_wrong();
  }
  if (!read_groups(m, &shape, &groups)) return tn_ail_wrong();
  tn_ail_operand result;
  bool open = m->w->unnamed && !tn_dim_is_known(shape.dim[shape.rank - 1]);
  if (begins(m, &shape, &shape, &shape, &result)) {
    if (open) tn_ail_get_stuck(m->w);
    result = open ? tn_ail_wrong() : made(m, group_parts(m->w->builder, x, groups, eps), shape, shape);
  }
  return result.wrong ? result : tensor(scale_and_shift(m, result.value, 2, 3));
}

/* x: [n, ..., c], over all axes between */
tn_ail_operand tn_ail_make_instance_norm(tn_ail_make *m) {
  tn_value x = tn_ail_make_tensor(m, 0);
  double eps;
  if (!read_eps(m, 3, &eps) || !require_least(m, x, 3, "[N, ..., C]")) return tn_ail_wrong();
  tn_shape shape = shape_of(m, x);
  int axes[TN_RANK_LIMIT], count = 0;
  for (int i = 1; i + 1 < shape.rank; i++) axes[count++] = i;
  tn_ail_operand result;
  if (begins(m, &shape, &shape, &shape, &result))
    result = made(m, normalized(m->w->builder, x, axes, count, eps), shape, shape);
  return result.wrong ? result : tensor(scale_and_shift(m, result.value, 1, 2));
}

/* ---- pools ---- */

/* x: [b, t, d] to [b, d] */
tn_ail_operand tn_ail_make_maxpool(tn_ail_make *m) {
  tn_value x = tn_ail_make_tensor(m, 0);
  if (!require_least(m, x, 3, "[B, T, D]")) return tn_ail_wrong();
  tn_shape shape = shape_of(m, x);
  if (shape.rank > 3) {
    tn_ail_make_refuse(m, "a tensor of 3 dimensions, [B, T, D]", source_of(m, 0));
    return tn_ail_wrong();
  }
  tn_attrs time = { .axis_count = 1, .axes = { 1 } };
  return tensor(tn_ail_apply(m->w, &m->site, TN_OP_MAX, &x, 1, &time));
}

typedef struct {
  int64_t window[2], step[2];
} pool_windows;

/* One number for both sides, or two. */
static bool read_pair(tn_ail_make *m, int i, const int64_t fallback[2], int64_t out[2]) {
  int64_t given[TN_RANK_LIMIT] = { fallback[0], fallback[1] };
  int count;
  if (!tn_ail_make_ints(m, i, given, &count)) return false;
  out[0] = given[0];
  out[1] = count == 1 ? given[0] : given[1];
  bool ok = count != 0 && count <= 2;
  for (int k = 0; k < 2; k++) ok = ok && out[k] >= 1 && out[k] <= INT32_MAX;
  return ok ? true : tn_ail_make_refuse(m, "one or two numbers of at least 1", source_of(m, i));
}

/* x: [n, h, w, c] to [n, oh, ow, c] */
static bool pooled_shape(tn_ail_make *m, const tn_shape *x, const pool_windows *by, tn_shape *out) {
  *out = *x;
  for (int i = 0; i < 2; i++) {
    int64_t length = x->dim[i + 1];
    out->dim[i + 1] = TN_DIM_UNKNOWN;
    if (!tn_dim_is_known(length)) continue;
    if (by->window[i] > length) return tn_ail_make_refuse(m, "a window inside the image", source_of(m, 1));
    out->dim[i + 1] = (length - by->window[i]) / by->step[i] + 1;
  }
  return true;
}

/* The places of a window are one axis of the patches: [n, oh, ow, kh*kw, c] */
static tn_value pool_parts(tn_ail_make *m, tn_op op, tn_value x, const pool_windows *by,
                           const tn_shape *to) {
  tn_builder *b = m->w->builder;
  tn_attrs attrs = { .window = { (int32_t)by->window[0], (int32_t)by->window[1] },
                     .step = { by->step[0], by->step[1] } };
  tn_value patches = tn_build(b, TN_OP_PATCHES, &x, 1, &attrs);
  int64_t area = by->window[0] * by->window[1];
  tn_shape split = tn_shape_make(5, to->dim[0], to->dim[1], to->dim[2], area, to->dim[3]);
  if (patches == TN_ERROR_VALUE) return patches;
  const int places[] = { 3 };
  return tn_build_reduce(b, op, tn_build_reshape(b, patches, &split), places, 1, false);
}

static tn_ail_operand pool2d(tn_ail_make *m, tn_op op) {
  tn_value x = tn_ail_make_tensor(m, 0);
  pool_windows by;
  const int64_t none[2] = { 0, 0 };
  tn_shape to;
  if (!require_least(m, x, 4, "[N, H, W, C]")) return tn_ail_wrong();
  tn_shape from = shape_of(m, x);
  if (from.rank > 4) {
    tn_ail_make_refuse(m, "an image, [N, H, W, C]", source_of(m, 0));
    return tn_ail_wrong();
  }
  if (!read_pair(m, 1, none, by.window) || !read_pair(m, 2, by.window, by.step)) return tn_ail_wrong();
  if (!pooled_shape(m, &from, &by, &to)) return tn_ail_wrong();
  tn_ail_operand result;
  if (!begins(m, &from, &from, &to, &result)) return result;
  if (m->w->unnamed && !tn_shape_is_known(&from)) {
    tn_ail_get_stuck(m->w);
    return tn_ail_wrong();
  }
  return made(m, pool_parts(m, op, x, &by, &to), from, from);
}

tn_ail_operand tn_ail_make_maxpool2d(tn_ail_make *m) { return pool2d(m, TN_OP_MAX); }
tn_ail_operand tn_ail_make_meanpool2d(tn_ail_make *m) { return pool2d(m, TN_OP_MEAN); }

/* ---- attention ---- */

/* scores: [..., queries, keys] */
static tn_value masked(tn_builder *b, tn_value scores) {
  if (scores == TN_ERROR_VALUE) return scores;
  tn_shape shape = tn_build_type(b, scores)->shape;
  tn_value open = tn_build_open_keys(b, shape.dim[shape.rank - 2], shape.dim[shape.rank - 1]);
  tn_value closed = tn_build_number(b, TN_F32, -(double)INFINITY);
  return tn_build_select(b, open, scores, closed);
}

/* Every query needs a key that is open to it. */
static bool may_mask(tn_ail_make *m, int64_t queries, int64_t keys, tn_str got) {
  bool few = tn_dim_is_known(queries) && tn_dim_is_known(keys) && queries > keys;
  return few ? tn_ail_make_refuse(m, "at least as many keys as queries", got) : true;
}

static bool is_stuck_with(tn_ail_make *m, const tn_shape *shape, int first) {
  for (int i = first; m->w->unnamed && i < shape->rank; i++) {
    if (tn_dim_is_known(shape->dim[i])) continue;
    tn_ail_get_stuck(m->w);
    return true;
  }
  return false;
}

tn_ail_operand tn_ail_make_causal(tn_ail_make *m) {
  tn_value scores = tn_ail_make_tensor(m, 0);
  if (!require_least(m, scores, 2, "[..., T, T]")) return tn_ail_wrong();
  tn_shape shape = shape_of(m, scores);
  if (!may_mask(m, shape.dim[shape.rank - 2], shape.dim[shape.rank - 1], source_of(m, 0)))
    return tn_ail_wrong();
  tn_ail_operand result;
  if (!begins(m, &shape, &shape, &shape, &result)) return result;
  if (is_stuck_with(m, &shape, shape.rank - 2)) return tn_ail_wrong();
  return made(m, masked(m->w->builder, scores), shape, shape);
}

/* q: [..., T, D], k: [..., S, D], v: [..., S, E] */
typedef struct {
  tn_shape q, k, v, result;
  int64_t heads;
  bool causal;
} attention;

static bool check_attention(tn_ail_make *m, attention *a) {
  int rank = a->q.rank;
  if (a->k.rank != rank) return mismatch(m, a->q, a->k, rank < a->k.rank ? rank : a->k.rank);
  if (a->v.rank != rank) return mismatch(m, a->k, a->v, rank < a->v.rank ? rank : a->v.rank);
  for (int i = 0; i < rank; i++) {
    if (i != rank - 2 && differ(a->q.dim[i], a->k.dim[i])) return mismatch(m, a->q, a->k, i);
    if (i != rank - 1 && differ(a->k.dim[i], a->v.dim[i])) return mismatch(m, a->k, a->v, i);
  }
  a->result = a->q;
  a->result.dim[rank - 1] = a->v.dim[rank - 1];
  int64_t width = a->q.dim[rank - 1], values = a->v.dim[rank - 1];
  bool divides = a->heads == 1 || (a->heads > 1 && rank < TN_RANK_LIMIT && is_multiple(width, a->heads) &&
                                   is_multiple(values, a->heads));
  if (!divides) return tn_ail_make_refuse(m, "heads that divide the last dimension", source_of(m, 3));
  return !a->causal || may_mask(m, a->q.dim[rank - 2], a->k.dim[rank - 2], source_of(m, 0));
}

tn_ail_operand tn_ail_make_attention(tn_ail_make *m) {
  const tn_value in[] = { tn_ail_make_tensor(m, 0), tn_ail_make_tensor(m, 1), tn_ail_make_tensor(m, 2) };
  attention a = { .heads = 1 };
  for (int i = 0; i < 3; i++) {
    if (!require_least(m, in[i], 2, "[..., T, D]")) return tn_ail_wrong();
  }
  if (!tn_ail_make_int(m, 3, 1, &a.heads) || !tn_ail_make_flag(m, 4, &a.causal)) return tn_ail_wrong();
  a.q = shape_of(m, in[0]), a.k = shape_of(m, in[1]), a.v = shape_of(m, in[2]);
  if (!check_attention(m, &a)) return tn_ail_wrong();
  tn_ail_operand result;
  if (!begins(m, &a.q, &a.k, &a.result, &result)) return result;
  bool stuck = is_stuck_with(m, &a.q, a.q.rank - 1) || is_stuck_with(m, &a.v, a.v.rank - 1) ||
               (a.causal && (is_stuck_with(m, &a.q, a.q.rank - 2) || is_stuck_with(m, &a.k, a.k.rank - 2)));
  if (stuck) return tn_ail_wrong();
  tn_attrs attrs = { .index = (uint64_t)a.heads, .causal = a.causal };
  return made(m, tn_build(m->w->builder, TN_OP_ATTENTION, in, 3, &attrs), a.q, a.k);
}
