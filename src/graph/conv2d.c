/* graph/conv2d.c: convolution in terms of other operations.
 *
 * Each window is a row of the patches, so that the fma chain of matmul runs over the rows, columns and
 * channels of a window, ascending. The rows of all images are one matrix. With groups there is such a
 * product for each group: the channels of a group are images of their own, so a chain runs over these
 * channels alone, in the same order.
 *
 * With as many groups as channels it is one operation, depthwise, which has fast kernels for f32, as
 * have its two gradients; these are their parts. Other dtypes use the parts. */
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

static tn_shape shape_of(const tn_builder *builder, tn_value x) { return tn_build_type(builder, x)->shape; }

static int64_t count_if_known(const int64_t *lengths, int count) {
  tn_shape shape = tn_shape_of(lengths, count);
  int64_t product = tn_shape_count(&shape);
  return product < 0 ? TN_DIM_UNKNOWN : product;
}

/* x: [n, h, w, groups * c] to [groups * n, h, w, c] */
static tn_value split_images(tn_builder *builder, tn_value x, int64_t groups) {
  static const int groups_first[] = { 3, 0, 1, 2, 4 };
  tn_shape shape = shape_of(builder, x);
  int64_t channels = shape.dim[3] / groups;
  tn_shape split = tn_shape_make(5, shape.dim[0], shape.dim[1], shape.dim[2], groups, channels);
  tn_value apart = tn_build_transpose(builder, tn_build_reshape(builder, x, &split), groups_first);
  shape.dim[0] = count_if_known((const int64_t[]){ groups, shape.dim[0] }, 2);
  shape.dim[3] = channels;
  return tn_build_reshape(builder, apart, &shape);
}

/* x: [groups * n, h, w, c] to `shape`: [n, h, w, groups * c] */
static tn_value join_images(tn_builder *builder, tn_value x, int64_t groups, const tn_shape *shape) {
  static const int groups_within[] = { 1, 2, 3, 0, 4 };
  tn_shape split =
      tn_shape_make(5, groups, shape->dim[0], shape->dim[1], shape->dim[2], shape->dim[3] / groups);
  tn_value apart = tn_build_transpose(builder, tn_build_reshape(builder, x, &split), groups_within);
  return tn_build_reshape(builder, apart, shape);
}

/* x: [groups * images, h, w, d] to [groups, images * h * w, d] */
static tn_value split_rows(tn_builder *builder, tn_value x, int64_t groups, int64_t images) {
  if (x == TN_ERROR_VALUE) return x;
  tn_shape shape = shape_of(builder, x);
  shape.dim[0] = images;
  tn_shape rows = tn_shape_make(3, groups, count_if_known(shape.dim, 3), shape.dim[3]);
  return tn_build_reshape(builder, x, &rows);
}

/* w: [kh, kw, c, groups * o] to [groups, kh * kw * c, o] */
static tn_value split_kernel(tn_builder *builder, tn_value w, int64_t groups) {
  static const int groups_first[] = { 1, 0, 2 };
  tn_shape shape = shape_of(builder, w);
  int64_t length = shape.dim[0] * shape.dim[1] * shape.dim[2];
  tn_shape split = tn_shape_make(3, length, groups, shape.dim[3] / groups);
  return tn_build_transpose(builder, tn_build_reshape(builder, w, &split), groups_first);
}

/* y: [groups, rows, o] to `shape`, the last axis of which is groups * o */
static tn_value join_rows(tn_builder *builder, tn_value y, const tn_shape *shape) {
  static const int groups_within[] = { 1, 0, 2 };
  if (y == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  return tn_build_reshape(builder, tn_build_transpose(builder, y, groups_within), shape);
}

/* x: [n, h, w, c], w: [kh, kw, c / groups, o] */
static tn_value convolve_groups(const tn_expand_args *args, int64_t groups, const tn_attrs *windows) {
  tn_builder *builder = args->builder;
  int64_t images = args->types[0].shape.dim[0];
  tn_value split = split_images(builder, args->in[0], groups);
  tn_value patches = tn_build(builder, TN_OP_PATCHES, &split, 1, windows);
  if (patches == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  tn_shape result = shape_of(builder, patches);
  result.dim[0] = images;
  result.dim[3] = args->types[1].shape.dim[3];
  tn_value rows = split_rows(builder, patches, groups, images);
  tn_value kernel = split_kernel(builder, args->in[1], groups);
  return join_rows(builder, tn_build_matmul(builder, rows, kernel), &result);
}

tn_value tn_expand_conv2d(const tn_expand_args *args) {
  tn_attrs windows = { 0 };
  int64_t groups = (int64_t)args->attrs->index;
  if (!check_ranks(args) || !(groups == 1 ? check_channels(args) : check_groups(args)) ||
      !find_windows(args, &windows))
    return TN_ERROR_VALUE;
  if (groups == 1) return convolve(args, &windows);
  bool depthwise = groups == args->types[0].shape.dim[3] && args->types[0].dtype == TN_F32;
  if (depthwise) return tn_build(args->builder, TN_OP_DEPTHWISE, args->in, 2, &windows);
  return convolve_groups(args, groups, &windows);
}

/* ---- depth-wise: a group for each channel of the image ---- */

/* Where there is no channel, one group of none. */
static bool find_channels(const tn_expand_args *args, int64_t channels, int64_t *groups) {
  *groups = channels > 0 ? channels : 1;
  return tn_dim_is_known(channels) || refuse(args, "a known number of channels", channels);
}

tn_value tn_expand_depthwise(const tn_expand_args *args) {
  int64_t groups;
  if (!find_channels(args, args->types[0].shape.dim[3], &groups)) return TN_ERROR_VALUE;
  return convolve_groups(args, groups, args->attrs);
}

/* g: [n, oh, ow, o], w: [kh, kw, 1, o] */
tn_value tn_expand_depthwise_image(const tn_expand_args *args) {
  tn_builder *builder = args->builder;
  tn_shape image = args->attrs->shape, slopes = args->types[0].shape;
  tn_attrs windows = *args->attrs;
  int64_t groups;
  if (!find_channels(args, image.dim[3], &groups)) return TN_ERROR_VALUE;
  int64_t images = slopes.dim[0];
  tn_value rows = split_rows(builder, split_images(builder, args->in[0], groups), groups, images);
  tn_value kernel = split_kernel(builder, args->in[1], groups);
  tn_value product = tn_build_matmul(builder, rows, tn_build_swap_last(builder, kernel));
  slopes.dim[0] = windows.shape.dim[0] = count_if_known((const int64_t[]){ groups, images }, 2);
  slopes.dim[3] = (int64_t)windows.window[0] * windows.window[1] * (image.dim[3] / groups);
  windows.shape.dim[3] = image.dim[3] / groups;
  product = tn_build_reshape(builder, product, &slopes);
  image.dim[0] = images;
  return join_images(builder, tn_build(builder, TN_OP_FOLD, &product, 1, &windows), groups, &image);
}

/* x: [n, h, w, c], g: [n, oh, ow, o] */
tn_value tn_expand_depthwise_weights(const tn_expand_args *args) {
  tn_builder *builder = args->builder;
  const tn_shape *slopes = &args->types[1].shape;
  int64_t groups;
  if (!find_channels(args, args->types[0].shape.dim[3], &groups)) return TN_ERROR_VALUE;
  tn_shape result =
      tn_shape_make(4, args->attrs->window[0], args->attrs->window[1], 1, slopes->dim[3]);
  tn_value images = split_images(builder, args->in[0], groups);
  tn_value patches = tn_build(builder, TN_OP_PATCHES, &images, 1, args->attrs);
  tn_value windows = split_rows(builder, patches, groups, slopes->dim[0]);
  tn_value columns = tn_build_swap_last(builder, windows);
  tn_value split = split_images(builder, args->in[1], groups);
  tn_value rows = split_rows(builder, split, groups, slopes->dim[0]);
  return join_rows(builder, tn_build_matmul(builder, columns, rows), &result);
}
