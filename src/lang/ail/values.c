/* lang/ail/values.c: initial values of parameters, and values that are supplied or drawn.
 *
 * Draws are part of the language: which generator, in which order and how a word
 * becomes a number are fixed, so that a seed means the same run everywhere. */
#include "lang/ail/internal.h"

static bool report(const tn_ail *program, tn_fault_kind kind) {
  return tn_ail_report_plain_fault(program, &(tn_fault){ .kind = kind });
}

/* ---- drawing ---- */

/* u * limit is exact in f64 and below the limit, so its whole part is an index. */
static int32_t draw_index(tn_rng *rng, int64_t limit) {
  return (int32_t)((double)tn_rng_uniform(rng) * (double)(limit > INT32_MAX ? INT32_MAX : limit));
}

void tn_ail_draw(const tn_ail *program, size_t input, const tn_sizes *sizes, tn_rng *rng,
                 const tn_view *out) {
  tn_data_kind kind = program->inputs[input].kind;
  int64_t count = tn_view_count(out);
  if (kind == TN_DATA_TENSOR) {
    float *to = out->data;
    for (int64_t i = 0; i < count; i++) to[i] = 2.0f * tn_rng_uniform(rng) - 1.0f;
  } else {
    int32_t *to = out->data;
    bool labels = kind == TN_DATA_LABELS;
    int64_t limit = labels ? tn_ail_classes(program, sizes) : tn_ail_vocabulary(program, sizes);
    for (int64_t i = 0; i < count; i++) to[i] = draw_index(rng, limit);
  }
}

/* Fan in plus fan out: the sum of the dimensions, or for glorot of the last two, each times the
 * dimensions before them. */
static double fan_of(const tn_shape *shape, tn_ail_start_kind kind) {
  double sum = 0, window = 1;
  int first = kind == TN_AIL_START_GLOROT ? shape->rank - 2 : 0;
  for (int i = 0; i < first; i++) window *= (double)shape->dim[i];
  for (int i = first; i < shape->rank; i++) sum += (double)shape->dim[i];
  return sum * window;
}

/* (2u - 1) * sqrt(6 / fan): the product in f64, rounded once. */
static void draw_scaled(tn_rng *rng, const tn_shape *shape, tn_ail_start_kind kind, const tn_view *out) {
  float *to = out->data;
  if (shape->rank == 0) {
    to[0] = 0.0f;
    return;
  }
  double scale = __builtin_sqrt(6.0 / fan_of(shape, kind));
  int64_t count = tn_view_count(out);
  for (int64_t i = 0; i < count; i++) to[i] = (float)((2.0 * (double)tn_rng_uniform(rng) - 1.0) * scale);
}

/* Computed in f64 and rounded once. */
static void draw_param(tn_rng *rng, const tn_shape *shape, const tn_ail_start *start, const tn_view *out) {
  float *to = out->data;
  int64_t count = tn_view_count(out);
  switch (start->kind) {
    case TN_AIL_START_USUAL:
    case TN_AIL_START_GLOROT: draw_scaled(rng, shape, start->kind, out); break;
    case TN_AIL_START_UNIFORM:
      for (int64_t i = 0; i < count; i++)
        to[i] = (float)(start->a + (double)tn_rng_uniform(rng) * (start->b - start->a));
      break;
    case TN_AIL_START_NORMAL:
      for (int64_t i = 0; i < count; i++) to[i] = (float)(start->a + start->b * (double)tn_rng_normal(rng));
      break;
    case TN_AIL_START_ALL:
      for (int64_t i = 0; i < count; i++) to[i] = (float)start->a;
      break;
  }
}

/* ---- supplied values ---- */

bool tn_ail_supplied(const tn_ail *program, size_t input, tn_tensor *out) {
  tn_host *host = program->host;
  return host->convert(host, tn_ail_given(program, input), program->inputs[input].type.dtype, out);
}

/* ---- parameters ---- */

static bool shape_fits(const tn_ail *program, const tn_tensor_spec *spec, const tn_shape *want,
                       const tn_shape *have) {
  tn_str name = tn_ail_text_of(program, spec->name);
  tn_diags *diags = program->host->diags;
  if (want->rank != have->rank) {
    return tn_report(diags, TN_DIAG_E_INPUT_RANK_MISMATCH, spec->at, TN_TEXT("input", name),
                     TN_INT("expected_rank", want->rank), TN_INT("received_rank", have->rank));
  }
  for (int i = 0; i < want->rank; i++) {
    if (want->dim[i] == have->dim[i]) continue;
    return tn_report(diags, TN_DIAG_E_INPUT_DIM_MISMATCH, spec->at, TN_TEXT("input", name),
                     TN_INT("dimension", i), TN_INT("expected", want->dim[i]),
                     TN_INT("received", have->dim[i]));
  }
  return true;
}

static void put_type(tn_text *out, tn_dtype dtype, const tn_shape *shape) {
  tn_text_puts(out, tn_dtype_name(dtype));
  tn_shape_print(shape, NULL, TN_SHAPE_COMMA, out);
}

#define LISTED 12 /* tensors of a file */

/* "the file holds W f32[2, 2], b f32[2]" */
static void put_weights(const tn_host *host, tn_text *out) {
  size_t count = host->weight_count < LISTED ? host->weight_count : LISTED;
  tn_text_puts(out, count ? "the file holds " : "the file holds nothing");
  for (size_t i = 0; i < count; i++) {
    tn_shape shape = tn_view_shape(&host->weights[i].data.view);
    if (i > 0) tn_text_puts(out, ", ");
    tn_text_add(out, host->weights[i].name);
    tn_text_byte(out, ' ');
    put_type(out, host->weights[i].data.view.dtype, &shape);
  }
  if (count < host->weight_count) tn_text_puts(out, ", ...");
  tn_text_puts(out, "; weights fit the program they were trained with");
}

static bool weights_misfit(const tn_ail *program, const tn_tensor_spec *spec, const tn_shape *want,
                           const tn_given *found) {
  tn_text expected, received, hint;
  tn_text_init(&hint, program->host->heap);
  tn_text_init(&expected, program->host->heap);
  put_weights(program->host, &hint);
  tn_text_init(&received, program->host->heap);
  put_type(&expected, TN_F32, want);
  if (found) {
    tn_shape have = tn_view_shape(&found->data.view);
    put_type(&received, found->data.view.dtype, &have);
  } else {
    tn_text_puts(&received, "no tensor of this name");
  }
  tn_report(program->host->diags, TN_DIAG_E_WEIGHTS_MISMATCH, spec->at,
            TN_TEXT("name", tn_ail_text_of(program, spec->name)), TN_TEXT("expected", tn_text_str(&expected)),
            TN_TEXT("received", tn_text_str(&received)), TN_HINT(tn_text_str(&hint)));
  tn_text_free(&hint);
  tn_text_free(&expected);
  tn_text_free(&received);
  return false;
}

/* Replaces what was drawn by --param, else by the file of --weights. */
static bool replace(const tn_ail *program, size_t index, const tn_shape *want, bool *misfit,
                    tn_tensor *param) {
  const tn_host *host = program->host;
  const tn_tensor_spec *spec = &program->params[index];
  tn_str name = tn_ail_text_of(program, spec->name);
  const tn_given *given = tn_given_find(host->params, host->param_count, name);
  if (!given && host->has_weights) {
    given = tn_given_find(host->weights, host->weight_count, name);
    tn_shape have = given ? tn_view_shape(&given->data.view) : TN_SCALAR_SHAPE;
    bool fits = given && given->data.view.dtype == TN_F32 && tn_shape_equal(&have, want);
    if (!fits && *misfit) return false; /* of the weights of another model the first says enough */
    if (!fits) *misfit = true;
    if (!fits) return weights_misfit(program, spec, want, given);
  }
  if (!given) return true;
  tn_shape have = tn_view_shape(&given->data.view);
  if (!shape_fits(program, spec, want, &have)) return false;
  tn_tensor_unref(param);
  return program->host->convert(program->host, given, TN_F32, param);
}

bool tn_ail_init_params(const tn_ail *program, const tn_sizes *sizes, tn_tensor *params) {
  tn_rng rng;
  bool ok = true, misfit = false;
  size_t made = 0;
  tn_rng_init(&rng, program->host->seed);
  for (; made < program->param_count; made++) {
    if (!tn_tensor_new(program->host->heap, TN_F32, &sizes->params[made], &params[made])) {
      ok = report(program, TN_FAULT_MEMORY);
      break;
    }
    if (!program->host->has_weights) /* else all are replaced */
      draw_param(&rng, &sizes->params[made], &program->starts[made], &params[made].view);
    ok = replace(program, made, &sizes->params[made], &misfit, &params[made]) && ok;
  }
  for (size_t i = 0; !ok && i < made; i++) tn_tensor_unref(&params[i]);
  return ok;
}
