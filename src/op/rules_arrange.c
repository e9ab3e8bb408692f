/* op/rules_arrange.c: shape rules of operations that rearrange elements.
 *
 * Each rule handles symbolic lengths too: a length that does not change keeps its name; one that
 * changes is unknown until the names are bound. Attributes are normalised before (normalise.c);
 * those that depend on an unknown length are still as the user wrote them. */
#include "op/internal.h"

static bool shape_fault(const tn_op_args *args, const tn_shape *right, int dimension, const char *reason) {
  return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_SHAPE, .left = args->in[0],
                                      .right = { args->in[0].dtype, *right }, .dimension = dimension,
                                      .reason = reason });
}

static bool too_large(const tn_op_args *args) {
  return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_TOO_LARGE, .left = args->in[0] });
}

static bool check_padding(const tn_op_args *args, int64_t length) {
  if (length >= TN_ELEMENT_LIMIT) return too_large(args);
  return length >= 0 || tn_op_fail_argument(args, "padding of at least 0", length);
}

/* ---- reshape ---- */

static bool count_fault(const tn_op_args *args) {
  const tn_type *from = &args->in[0];
  tn_type to = { from->dtype, args->attrs->shape };
  return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_COUNT, .left = *from, .right = to,
                                      .expected = tn_shape_count(&from->shape),
                                      .got = tn_shape_count(&to.shape) });
}

static int count_unknown(const tn_shape *shape) {
  int count = 0;
  for (int i = 0; i < shape->rank; i++) count += shape->dim[i] == TN_DIM_UNKNOWN;
  return count;
}

/* Accepted if both products are certainly equal, or if one contains an unknown length. */
bool tn_op_shape_reshape(const tn_op_args *args, tn_type *out) {
  tn_product from, to;
  tn_type wanted = { args->in[0].dtype, args->attrs->shape };
  if (count_unknown(&wanted.shape) > 1) {
    return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_INFER, .left = args->in[0], .right = wanted,
                                        .reason = "only one length can be inferred" });
  }
  if (!tn_product_of(&args->in[0].shape, &from)) return tn_op_check_size(args, &args->in[0]);
  if (!tn_product_of(&wanted.shape, &to)) return tn_op_check_size(args, &wanted);
  out->shape = wanted.shape;
  if (from.unknown || to.unknown || (from.empty && to.empty)) return true;
  tn_product_cancel(&from, &to);
  bool equal = from.known == to.known && from.empty == to.empty && !from.symbol_count && !to.symbol_count;
  return equal || count_fault(args);
}

/* ---- transpose, broadcast_to ---- */

bool tn_op_shape_transpose(const tn_op_args *args, tn_type *out) {
  const tn_shape *from = &args->in[0].shape;
  tn_fault fault = { .kind = TN_FAULT_PERMUTATION, .left = args->in[0] };
  bool seen[TN_RANK_LIMIT] = { false }, sound = args->attrs->axis_count == from->rank;
  out->shape = (tn_shape){ .rank = from->rank };
  for (int i = 0; sound && i < from->rank; i++) {
    int axis = args->attrs->axes[i];
    sound = axis >= 0 && axis < from->rank && !seen[axis];
    if (!sound) break;
    seen[axis] = true;
    out->shape.dim[i] = from->dim[axis];
  }
  if (sound) return true;
  fault.right.shape.rank = args->attrs->axis_count;
  for (int i = 0; i < args->attrs->axis_count; i++) fault.right.shape.dim[i] = args->attrs->axes[i];
  return tn_op_fail(args, fault);
}

/* An unknown length of the target is the operand's, unless that may still stretch. */
static bool stretch(int64_t from, int64_t to, int64_t *out) {
  *out = to;
  if (from == 1 || from == to || from == TN_DIM_UNKNOWN) return true;
  *out = from;
  return to == TN_DIM_UNKNOWN;
}

bool tn_op_shape_broadcast_to(const tn_op_args *args, tn_type *out) {
  const tn_shape *from = &args->in[0].shape, *to = &args->attrs->shape;
  tn_type target = { args->in[0].dtype, *to };
  int added = to->rank - from->rank, wrong = 0;
  out->shape = *to;
  if (added >= 0) {
    for (wrong = added; wrong < to->rank; wrong++) {
      if (!stretch(from->dim[wrong - added], to->dim[wrong], &out->shape.dim[wrong])) break;
    }
    if (wrong == to->rank) return true;
  }
  return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_BROADCAST, .left = args->in[0], .right = target,
                                      .dimension = wrong });
}

/* ---- slice, pad ---- */

static int64_t steps_between(int64_t low, int64_t high, int64_t step) {
  return high > low ? (high - low - 1) / step + 1 : 0;
}

/* The bounds are strict, so two bounds counted from the same end give the length, whatever the
 * length of the axis. */
static int64_t slice_length(int64_t dim, int64_t low, int64_t high, int64_t step) {
  if (tn_dim_is_known(dim)) return steps_between(low, high, step);
  bool to_end = high == INT64_MAX;
  if (low == 0 && to_end && step == 1) return dim;
  if (low < 0 && to_end) return steps_between(low, 0, step);
  return (low < 0) == (high < 0) && !to_end ? steps_between(low, high, step) : TN_DIM_UNKNOWN;
}

bool tn_op_shape_slice(const tn_op_args *args, tn_type *out) {
  const tn_attrs *attrs = args->attrs;
  out->shape = args->in[0].shape;
  for (int i = 0; i < out->shape.rank; i++) {
    int64_t dim = out->shape.dim[i], low = attrs->low[i], high = attrs->high[i];
    if (attrs->step[i] < 1) return tn_op_fail_argument(args, "a step of at least 1", attrs->step[i]);
    if (tn_dim_is_known(dim) && (low < 0 || low > dim || high < 0 || high > dim)) {
      return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_BOUNDS, .left = args->in[0], .axis = i,
                                          .expected = dim, .got = low < 0 || low > dim ? low : high });
    }
    out->shape.dim[i] = slice_length(dim, low, high, attrs->step[i]);
  }
  return true;
}

/* low + (dim - 1) * (step + 1) + 1 + high, or false when that is past every limit. */
static bool padded_length(int64_t dim, int64_t low, int64_t high, int64_t step, int64_t *out) {
  int64_t gaps = dim > 1 ? dim - 1 : 0;
  if (!tn_dim_is_known(dim)) {
    *out = low || high || step ? TN_DIM_UNKNOWN : dim;
    return true;
  }
  if (gaps && step > TN_ELEMENT_LIMIT / gaps) return false;
  *out = low + dim + gaps * step + high;
  return *out < TN_ELEMENT_LIMIT;
}

bool tn_op_shape_pad(const tn_op_args *args, tn_type *out) {
  const tn_attrs *attrs = args->attrs;
  out->shape = args->in[0].shape;
  for (int i = 0; i < out->shape.rank; i++) {
    int64_t low = attrs->low[i], high = attrs->high[i], step = attrs->step[i];
    if (!check_padding(args, low) || !check_padding(args, high) || !check_padding(args, step)) return false;
    if (!padded_length(out->shape.dim[i], low, high, step, &out->shape.dim[i])) return too_large(args);
  }
  return true;
}

/* ---- concat ---- */

/* Unifies all axes except one, which is taken from the left. */
static bool join_beside(const tn_shape *left, const tn_shape *right, int axis, tn_shape *out,
                        int *dimension) {
  tn_shape other = *right;
  if (axis < other.rank) other.dim[axis] = left->dim[axis];
  return tn_shape_join(left, &other, out, dimension);
}

/* Names the first operand that this one does not match, because the user never wrote the combined
 * shape. */
static bool join_fault(const tn_op_args *args, int operand) {
  tn_fault fault = { .kind = TN_FAULT_JOIN, .operand = operand, .right = args->in[operand] };
  tn_shape ignored;
  int axis = args->attrs->axis;
  for (int i = 0; i < operand; i++) {
    fault.left = args->in[i];
    if (!join_beside(&fault.left.shape, &fault.right.shape, axis, &ignored, &fault.dimension)) break;
  }
  return tn_op_fail(args, fault);
}

bool tn_op_shape_concat(const tn_op_args *args, tn_type *out) {
  int axis = args->attrs->axis, dimension;
  tn_shape joined = args->in[0].shape;
  for (int i = 1; i < args->count; i++) {
    const tn_shape *part = &args->in[i].shape;
    if (!join_beside(&joined, part, axis, &joined, &dimension)) return join_fault(args, i);
    joined.dim[axis] = tn_dim_add(joined.dim[axis], part->dim[axis]);
  }
  out->shape = joined;
  return true;
}

/* ---- windows ---- */

static bool check_window(const tn_op_args *args) {
  const tn_attrs *attrs = args->attrs;
  for (int i = 0; i < 2; i++) {
    if (attrs->window[i] < 1) return tn_op_fail_argument(args, "a window of at least 1", attrs->window[i]);
    if (attrs->step[i] < 1) return tn_op_fail_argument(args, "a stride of at least 1", attrs->step[i]);
    if (!check_padding(args, attrs->low[i]) || !check_padding(args, attrs->high[i])) return false;
  }
  return true;
}

/* The number of windows along axis 1 or 2 of an image; false if there is none. */
static bool window_places(const tn_attrs *attrs, int64_t dim, int which, int64_t *out) {
  int64_t around = attrs->low[which] + attrs->high[which], window = attrs->window[which];
  if (!tn_dim_is_known(dim)) {   /* a stride of 1 over padding that makes up for the window keeps it */
    *out = attrs->step[which] == 1 && around == window - 1 ? dim : TN_DIM_UNKNOWN;
    return true;
  }
  if (dim + around < window) return false;
  *out = (dim + around - window) / attrs->step[which] + 1;
  return true;
}

/* image: [n, h, w, c]; *out: [n, oh, ow, kh * kw * c] */
static bool patches_of(const tn_op_args *args, const tn_shape *image, tn_shape *out) {
  const tn_attrs *attrs = args->attrs;
  int64_t area = (int64_t)attrs->window[0] * attrs->window[1], channels = image->dim[3];
  *out = tn_shape_make(4, image->dim[0], 0, 0, TN_DIM_UNKNOWN);
  for (int i = 0; i < 2; i++) {
    tn_shape window = tn_shape_make(2, attrs->window[0], attrs->window[1]);
    if (!window_places(attrs, image->dim[1 + i], i, &out->dim[1 + i])) {
      return shape_fault(args, &window, 1 + i, "the window is larger than the image");
    }
  }
  if (tn_dim_is_known(channels)) {
    if (channels && area > (TN_ELEMENT_LIMIT - 1) / channels) return too_large(args);
    out->dim[3] = area * channels;
  } else if (area == 1) {
    out->dim[3] = channels;
  }
  return true;
}

bool tn_op_shape_patches(const tn_op_args *args, tn_type *out) {
  if (!tn_op_check_rank(args, 0, 4) || !check_window(args)) return false;
  return patches_of(args, &args->in[0].shape, &out->shape);
}

/* The number of images and channels of the result may be left out: they follow from the patches. */
static void complete_image(const tn_attrs *attrs, const tn_shape *patches, tn_shape *image) {
  int64_t area = (int64_t)attrs->window[0] * attrs->window[1], depth = patches->dim[3];
  if (image->dim[0] == TN_DIM_UNKNOWN) image->dim[0] = patches->dim[0];
  if (image->dim[3] != TN_DIM_UNKNOWN) return;
  if (area == 1) image->dim[3] = depth;
  else if (tn_dim_is_known(depth) && depth % area == 0) image->dim[3] = depth / area;
}

/* x: what patches makes of the attribute `shape`, which is the result */
bool tn_op_shape_fold(const tn_op_args *args, tn_type *out) {
  tn_shape patches, joined, image = args->attrs->shape;
  int dimension;
  if (!tn_op_check_rank(args, 0, 4) || !check_window(args)) return false;
  if (image.rank != 4) return tn_op_fail_argument(args, "a shape of 4 dimensions", image.rank);
  complete_image(args->attrs, &args->in[0].shape, &image);
  if (!patches_of(args, &image, &patches)) return false;
  if (!tn_shape_join(&args->in[0].shape, &patches, &joined, &dimension)) {
    return shape_fault(args, &patches, dimension, "these are not the patches of the result");
  }
  out->shape = image;
  return true;
}

/* ---- depth-wise convolution: every channel of an image has windows and weights of its own ---- */

static bool check_outputs(const tn_op_args *args, int64_t channels, int64_t outputs) {
  bool divide = !tn_dim_is_known(channels) || !tn_dim_is_known(outputs) || channels == outputs ||
                (channels > 0 && outputs % channels == 0);
  return divide || tn_op_fail_argument(args, "channels that divide the outputs", channels);
}

/* *windows: [n, oh, ow, kh * kw * c] of an image [n, h, w, c]; the operand is [n, oh, ow, o], where c divides
 * o. */
static bool check_slopes(const tn_op_args *args, const tn_shape *image, const tn_shape *windows,
                         int operand) {
  tn_shape expected = *windows, joined;
  int64_t outputs = args->in[operand].shape.dim[3];
  int dimension;
  expected.dim[3] = outputs;
  if (!tn_shape_join(&args->in[operand].shape, &expected, &joined, &dimension))
    return shape_fault(args, &expected, dimension, "these are not the windows of the image");
  return check_outputs(args, image->dim[3], outputs);
}

/* The operand is [kh, kw, 1, o]. */
static bool check_weights(const tn_op_args *args, int64_t outputs, int operand) {
  tn_shape expected = tn_shape_make(4, args->attrs->window[0], args->attrs->window[1], 1, outputs), joined;
  int dimension;
  return tn_shape_join(&args->in[operand].shape, &expected, &joined, &dimension) ||
         shape_fault(args, &expected, dimension, "weights are of the window, for each output");
}

static bool check_depthwise(const tn_op_args *args) {
  return tn_op_check_rank(args, 0, 4) && tn_op_check_rank(args, 1, 4) && check_window(args);
}

/* x: [n, h, w, c], w: [kh, kw, 1, o]; the result: [n, oh, ow, o] */
bool tn_op_shape_depthwise(const tn_op_args *args, tn_type *out) {
  tn_shape windows;
  if (!check_depthwise(args) || !patches_of(args, &args->in[0].shape, &windows)) return false;
  windows.dim[3] = args->in[1].shape.dim[3];
  if (!check_weights(args, windows.dim[3], 1) ||
      !check_outputs(args, args->in[0].shape.dim[3], windows.dim[3]))
    return false;
  out->shape = windows;
  return true;
}

/* g: [n, oh, ow, o], w: [kh, kw, 1, o]; the result: the attribute `shape`, [n, h, w, c] */
bool tn_op_shape_depthwise_image(const tn_op_args *args, tn_type *out) {
  tn_shape windows, image = args->attrs->shape;
  if (!check_depthwise(args)) return false;
  if (image.rank != 4) return tn_op_fail_argument(args, "a shape of 4 dimensions", image.rank);
  if (image.dim[0] == TN_DIM_UNKNOWN) image.dim[0] = args->in[0].shape.dim[0];
  if (!patches_of(args, &image, &windows) || !check_slopes(args, &image, &windows, 0) ||
      !check_weights(args, args->in[0].shape.dim[3], 1))
    return false;
  out->shape = image;
  return true;
}

/* x: [n, h, w, c], g: [n, oh, ow, o]; the result: [kh, kw, 1, o] */
bool tn_op_shape_depthwise_weights(const tn_op_args *args, tn_type *out) {
  const tn_shape *image = &args->in[0].shape;
  const tn_attrs *attrs = args->attrs;
  tn_shape windows;
  if (!check_depthwise(args) || !patches_of(args, image, &windows) ||
      !check_slopes(args, image, &windows, 1))
    return false;
  out->shape = tn_shape_make(4, attrs->window[0], attrs->window[1], 1, args->in[1].shape.dim[3]);
  return true;
}
