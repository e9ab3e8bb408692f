/* graph/conv2d.c: convolution in terms of other operations.
 *
 * Each window is a row of the patches, so that the fma chain of matmul runs over the rows, columns and
 * channels of a window, ascending. The rows of all images are one matrix. With groups there is such a
 * product for each group: the channels of a group are images of their own, so a chain runs over these
 * channels alone, in the same order. */
#include "graph/internal.h"

static bool refuse(const tn_expand_args *args, const char *wanted, int64_t got) {
  tn_build_fault(args->builder, args->op,
                 (tn_fault){ .kind = TN_FAULT_ARGUMENT, .got = got, .reason = wanted });
  return false;
}

/* ---- windows ---- */

/* Padding "same" makes the result ceil(length / stride) long; odd padding goes after. With stride 1
 * the padding does not depend on the length, which may then be a symbol. */
static bool same_padding(const tn_expand_args *args, tn_attrs *windows, int side) {
  int64_t length = args->types[0].shape.dim[1 + side], stride = windows->step[side];
  int64_t window = windows->window[side], total;
  if (tn_dim_is_known(length)) {
    int64_t places = length / stride + (length % stride != 0);
    total = (places - 1) * stride + window - length;
  } else if (stride == 1) {
    total = window - 1;
  } else {
    return refuse(args, "a stride of 1, where the image's size is not known", stride);
  }
  if (total < 0) total = 0;
  windows->low[side] = total / 2;
  windows->high[side] = total - total / 2;
  return true;
}

static bool find_windows(const tn_expand_args *args, tn_attrs *windows) {
  const tn_shape *kernel = &args->types[1].shape;
  for (int side = 0; side < 2; side++) {
    int64_t length = kernel->dim[side], stride = args->attrs->step[side];
    if (stride < 1 || stride > INT32_MAX) return refuse(args, "a stride of at least 1", stride);
    if (length < 1 || length > INT32_MAX)
      return refuse(args, "a window of known size, at least 1", length);
    windows->window[side] = (int32_t)length;
    windows->step[side] = stride;
    if (args->attrs->same && !same_padding(args, windows, side)) return false;
  }
  return true;
}

/* ---- channels ---- */

/* x: [n, h, w, c], w: [kh, kw, c / groups, o] */
static bool check_ranks(const tn_expand_args *args) {
  return tn_expand_check_rank(args, 0, 4, "of 4 dimensions") &&
         tn_expand_check_rank(args, 1, 4, "of 4 dimensions");
}

static bool check_channels(const tn_expand_args *args) {
  int64_t x = args->types[0].shape.dim[3], kernel = args->types[1].shape.dim[2];
  tn_fault inner = {
    .kind = TN_FAULT_INNER, .left = args->types[0], .right = args->types[1], .dimension = 3
  };
  if (x == kernel || x == TN_DIM_UNKNOWN || kernel == TN_DIM_UNKNOWN) return true;
  tn_build_fault(args->builder, args->op, inner);
  return false;
}

static bool check_groups(const tn_expand_args *args) {
  int64_t groups = (int64_t)args->attrs->index, x = args->types[0].shape.dim[3];
  int64_t kernel = args->types[1].shape.dim[2], outputs = args->types[1].shape.dim[3];
  if (groups < 1) return refuse(args, "at least 1 group", groups);
  if (tn_dim_is_known(x) && x % groups != 0)
    return refuse(args, "groups that divide the channels of the image", groups);
  if (tn_dim_is_known(outputs) && outputs % groups != 0)
    return refuse(args, "groups that divide the channels of the result", groups);
  if (!tn_dim_is_known(x) || !tn_dim_is_known(kernel) || !tn_dim_is_known(outputs))
    return refuse(args, "channels of known number, where there are groups", groups);
  return kernel == x / groups ||
         refuse(args, "as many channels in the weights as a group of the image has", kernel);
}

/* ---- without groups ---- */

static tn_value convolve(const tn_expand_args *args, const tn_attrs *windows) {
  tn_builder *builder = args->builder;
  tn_value patches = tn_build(builder, TN_OP_PATCHES, args->in, 1, windows);
  if (patches == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  tn_shape result = tn_build_type(builder, patches)->shape; /* [n, oh, ow, kh*kw*c] */
  int64_t channels = args->types[1].shape.dim[3];
  tn_shape columns = tn_shape_make(2, result.dim[3], channels);
  tn_value kernel = tn_build_reshape(builder, args->in[1], &columns);
  tn_value product = tn_build_matmul(builder, tn_build_rows(builder, patches), kernel);
  result.dim[3] = channels;
  return tn_build_reshape(builder, product, &result);
}

/* ---- with groups ---- */

static int64_t product_if_known(int64_t a, int64_t b) {
  tn_shape both = tn_shape_make(2, a, b);
  int64_t count = tn_shape_count(&both);
  return count < 0 ? TN_DIM_UNKNOWN : count;
}

/* x: [n, h, w, groups * c] to [groups * n, h, w, c] */
static tn_value split_images(tn_builder *builder, tn_value x, int64_t groups) {
  static const int groups_first[] = { 3, 0, 1, 2, 4 };
  tn_shape shape = tn_build_type(builder, x)->shape;
  int64_t channels = shape.dim[3] / groups;
  tn_shape split = tn_shape_make(5, shape.dim[0], shape.dim[1], shape.dim[2], groups, channels);
  tn_value apart = tn_build_transpose(builder, tn_build_reshape(builder, x, &split), groups_first);
  shape.dim[0] = product_if_known(groups, shape.dim[0]);
  shape.dim[3] = channels;
  return tn_build_reshape(builder, apart, &shape);
}

/* w: [kh, kw, c, groups * o] to [groups, kh * kw * c, o] */
static tn_value split_kernel(tn_builder *builder, tn_value w, int64_t groups, int64_t length) {
  static const int groups_first[] = { 1, 0, 2 };
  tn_shape split = tn_shape_make(3, length, groups, tn_build_type(builder, w)->shape.dim[3] / groups);
  return tn_build_transpose(builder, tn_build_reshape(builder, w, &split), groups_first);
}

/* y: [groups, n * oh * ow, o] to [n, oh, ow, groups * o] */
static tn_value join_results(tn_builder *builder, tn_value y, const tn_shape *result) {
  static const int groups_within[] = { 1, 0, 2 };
  if (y == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  return tn_build_reshape(builder, tn_build_transpose(builder, y, groups_within), result);
}

static tn_value convolve_groups(const tn_expand_args *args, const tn_attrs *windows) {
  tn_builder *builder = args->builder;
  int64_t groups = (int64_t)args->attrs->index;
  tn_value images = split_images(builder, args->in[0], groups);
  tn_value patches = tn_build(builder, TN_OP_PATCHES, &images, 1, windows);
  if (patches == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  tn_shape result = tn_build_type(builder, patches)->shape; /* [groups * n, oh, ow, kh*kw*c] */
  int64_t length = result.dim[3];
  result.dim[0] = args->types[0].shape.dim[0];
  result.dim[3] = args->types[1].shape.dim[3];
  tn_shape places = tn_shape_of(result.dim, 3);
  int64_t count = tn_shape_count(&places);
  tn_shape split = tn_shape_make(3, groups, count < 0 ? TN_DIM_UNKNOWN : count, length);
  tn_value rows = tn_build_reshape(builder, patches, &split);
  tn_value kernel = split_kernel(builder, args->in[1], groups, length);
  return join_results(builder, tn_build_matmul(builder, rows, kernel), &result);
}

tn_value tn_expand_conv2d(const tn_expand_args *args) {
  tn_attrs windows = { 0 };
  bool grouped = args->attrs->index != 1;
  if (!check_ranks(args) || !(grouped ? check_groups(args) : check_channels(args)) ||
      !find_windows(args, &windows))
    return TN_ERROR_VALUE;
  return grouped ? convolve_groups(args, &windows) : convolve(args, &windows);
}
