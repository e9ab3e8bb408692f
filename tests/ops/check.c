/* tests/ops/check.c: ref says what the bits are; everyone else is compared.
 *
 * Results are written into memory whose every byte is known before, so that a
 * kernel that writes beside its result, or leaves some of it unwritten, differs
 * too. A faulty call must give the fault ref gives and write nothing. */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN 64        /* bytes around a result that must stay */
#define POISON 0xa5

#if defined(__SANITIZE_ADDRESS__)
#define SCRATCH_MARGIN 0   /* the sanitizer sees more than we do */
#else
#define SCRATCH_MARGIN 64
#endif

back_ends back_ends_of_this_machine(void) {
  back_ends ends = { 0 };
  const char *effort = getenv("TERN_TEST_EFFORT"), *isa;
  bool available;
  ends.small = effort && strcmp(effort, "small") == 0;
  ends.share = ends.small ? 6 : 1;
  for (int i = 0; ends.count < BACKEND_LIMIT && (isa = tn_backend_cpu_isa(i, &available)); i++)
    if (available) ends.backend[ends.count++] = tn_backend_cpu(isa);
  return ends;
}

/* ---- saying what is wrong ---- */
static char message[8192];
static size_t said;

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(message + said, sizeof message - said, format, arguments);
  va_end(arguments);
  if (length > 0) said += (size_t)length;
  if (said >= sizeof message) said = sizeof message - 1;
}

static void say_list(const char *title, const int64_t *numbers, int count) {
  say("%s[", title);
  for (int i = 0; i < count; i++) say(i ? ", %lld" : "%lld", (long long)numbers[i]);
  say("]");
}

static void say_attrs(const tn_attrs *a, int rank) {
  int64_t axes[TN_RANK_LIMIT];
  for (int i = 0; i < a->axis_count; i++) axes[i] = a->axes[i];
  say("  attributes: dtype %s, axis %d", tn_dtype_name(a->dtype), (int)a->axis);
  say_list(", axes ", axes, a->axis_count);
  say_list(", shape ", a->shape.dim, a->shape.rank);
  say_list(", low ", a->low, rank);
  say_list(", high ", a->high, rank);
  say_list(", step ", a->step, rank);
  say(", window [%d, %d], number %g, index %llu%s%s%s\n", (int)a->window[0], (int)a->window[1], a->number,
      (unsigned long long)a->index, a->keepdims ? ", keepdims" : "", a->reverse ? ", reverse" : "",
      a->exclusive ? ", exclusive" : "");
  for (int i = 0; a->program && i < a->program->step_count; i++) {
    const tn_fused_step *s = &a->program->step[i];
    say("    %%%d = %s %%%d %%%d %%%d : %s (%g)\n", a->program->operand_count + i, tn_op_sig_of(s->op)->name,
        s->in[0], s->in[1], s->in[2], tn_dtype_name(s->dtype), s->number);
  }
}

static void say_case(const op_case *c) {
  said = 0;
  say("%s, case %d\n", tn_op_sig_of(c->op)->name, c->number);
  for (int k = 0; k < c->count; k++) {
    const tn_view *view = &c->in[k].view;
    say("  operand %d: %s", k, tn_dtype_name(view->dtype));
    say_list("", view->dim, view->rank);
    say_list(" strides ", view->stride, view->rank);
    say("\n");
  }
  say_attrs(&c->attrs, c->count ? c->in[0].view.rank : 0);
  say("  alone: TERN_TEST_OP=%s TERN_TEST_CASE=%d\n", tn_op_sig_of(c->op)->name, c->number);
}

/* Who is asked. */
typedef struct {
  const op_case *c;
  const tn_backend *backend;
  int threads;
  bool chosen;  /* by the kernel that a plan would choose for this call */
  tn_pool *pool;
} runner;

static const char *wrong(const runner *r, const char *what) {
  say_case(r->c);
  say("  %s %s, %d threads%s: %s\n", r->backend->name, r->backend->isa, r->threads,
      r->chosen ? ", chosen" : "", what);
  return message;
}

/* ---- one run ---- */
typedef struct {
  char *memory;          /* of the result, with margins */
  size_t bytes;
  tn_view out;
  tn_fault fault;
  bool done;
  bool beyond_scratch;
  bool none;             /* there is no other kernel to choose */
} outcome;

/* The result's place: the layout of `model`, in fresh memory. */
static outcome outcome_for(const operand *model) {
  outcome o = { .bytes = model->bytes + 2 * MARGIN, .out = model->view };
  void *memory;
  if (posix_memalign(&memory, 64, o.bytes)) abort();
  o.memory = memory;
  memset(o.memory, POISON, o.bytes);
  o.out.data = o.memory + MARGIN + ((char *)model->view.data - model->base);
  return o;
}

/* The kernel of the table, or the one that is chosen before there is data: NULL when there is none. */
static tn_kernel kernel_for(const runner *r, tn_kernel_call *call, tn_arena *arena) {
  tn_view in[CASE_OPERANDS], out = *call->out;
  if (!r->chosen) return r->backend->kernels[call->op];
  if (!r->backend->choose) return NULL;
  for (int k = 0; k < call->count; k++) in[k] = call->in[k], in[k].data = NULL;
  out.data = NULL;
  tn_kernel_call early = *call;
  early.in = in, early.out = &out, early.scratch = NULL, early.fault = NULL;
  return r->backend->choose(&early, arena, &call->kept);
}

/* `in_place` >= 0: that operand's memory becomes the result's. */
static void run_once(const runner *r, int in_place, outcome *o) {
  const op_case *c = r->c;
  const tn_backend *backend = r->backend;
  tn_view in[CASE_OPERANDS];
  for (int k = 0; k < c->count; k++) in[k] = c->in[k].view;
  if (in_place >= 0) {
    memcpy(o->memory + MARGIN, c->in[in_place].base, c->in[in_place].bytes);
    in[in_place] = o->out;
  }
  size_t bytes = backend->scratch(backend, c->op, &c->attrs, in, c->count, &o->out, r->threads);
  void *scratch = NULL;
  if (bytes && posix_memalign(&scratch, 64, bytes + SCRATCH_MARGIN)) abort();
  if (bytes) memset(scratch, POISON, bytes + SCRATCH_MARGIN);
  tn_kernel_call call = { .op = c->op, .attrs = &c->attrs, .in = in, .count = c->count, .out = &o->out,
                          .scratch = scratch, .threads = r->threads, .pool = r->pool, .fault = &o->fault };
  tn_heap heap = { 0 };
  tn_arena arena;
  tn_arena_init(&arena, &heap);
  tn_kernel kernel = kernel_for(r, &call, &arena);
  o->none = !kernel;
  o->done = kernel && kernel(&call);
  tn_arena_free(&arena);
  for (size_t i = bytes; bytes && i < bytes + SCRATCH_MARGIN; i++)
    o->beyond_scratch = o->beyond_scratch || ((unsigned char *)scratch)[i] != POISON;
  free(scratch);
}

/* ---- comparing ---- */
static const char *compare_elements(const runner *r, const tn_view *expected, const tn_view *got) {
  int64_t count = tn_view_count(expected);
  size_t size = tn_dtype_bytes(expected->dtype);
  if (tn_view_is_contiguous(expected) && tn_view_is_contiguous(got) &&
      memcmp(expected->data, got->data, (size_t)count * size) == 0)
    return NULL;
  for (int64_t i = 0; i < count; i++) {
    uint64_t a = 0, b = 0;
    tn_view x = *expected, y = *got;
    int64_t left = i;
    for (int axis = x.rank - 1; axis >= 0; axis--) {
      x.data = (char *)x.data + left % x.dim[axis] * x.stride[axis] * (int64_t)size;
      y.data = (char *)y.data + left % x.dim[axis] * y.stride[axis] * (int64_t)size;
      left /= x.dim[axis];
    }
    memcpy(&a, x.data, size), memcpy(&b, y.data, size);
    if (a == b) continue;
    x.rank = y.rank = 0;
    wrong(r, "differs from ref");
    say("  element %lld of %lld: 0x%llx (%.17g), ref has 0x%llx (%.17g)\n", (long long)i, (long long)count,
        (unsigned long long)b, tn_view_get_f64(&y, 0), (unsigned long long)a, tn_view_get_f64(&x, 0));
    return message;
  }
  return NULL;
}

static bool same_fault(const tn_fault *x, const tn_fault *y) {
  return x->kind == y->kind && x->op == y->op && x->got == y->got && x->expected == y->expected &&
         x->axis == y->axis;
}

static const char *compare_faults(const runner *r, const outcome *a, const outcome *b) {
  const tn_fault *x = &a->fault, *y = &b->fault;
  if (a->done != b->done) return wrong(r, a->done ? "failed" : "did not fail");
  if (same_fault(x, y)) return NULL;
  wrong(r, "another fault than ref's");
  say("  kind %d, got %lld, expected %lld, axis %lld; ref has kind %d, got %lld, expected %lld, axis %lld\n",
      (int)y->kind, (long long)y->got, (long long)y->expected, (long long)y->axis,
      (int)x->kind, (long long)x->got, (long long)x->expected, (long long)x->axis);
  return message;
}

static const char *compare(const runner *r, const outcome *expected, const outcome *got) {
  const char *bad = compare_faults(r, expected, got);
  if (bad) return bad;
  if (got->beyond_scratch) return wrong(r, "wrote beyond its scratch");
  if (memcmp(expected->memory, got->memory, got->bytes) == 0) return NULL;
  bad = expected->done ? compare_elements(r, &expected->out, &got->out) : NULL;
  return bad ? bad : wrong(r, "wrote outside its result");
}

/* ---- ref by itself ---- */
/* Whether every byte beside the elements of the result is as it was: a copy in which those
 * elements are poison again is poison everywhere. */
static bool kept_to_its_place(const outcome *o) {
  size_t size = tn_dtype_bytes(o->out.dtype), elements = (size_t)tn_view_count(&o->out) * size;
  char *copy = malloc(o->bytes), *poison = malloc(elements + 1);
  tn_view out = o->out;
  tn_shape shape = tn_view_shape(&out);
  tn_view clean = tn_view_make(poison, out.dtype, &shape);
  memcpy(copy, o->memory, o->bytes);
  memset(poison, POISON, elements);
  out.data = copy + ((char *)o->out.data - o->memory);
  if (o->done) tn_view_copy(&out, &clean);
  bool kept = true;
  for (size_t i = 0; i < o->bytes; i++) kept = kept && (unsigned char)copy[i] == POISON;
  free(copy);
  free(poison);
  return kept;
}

static const char *check_ref(const runner *r, const outcome *o) {
  if (!kept_to_its_place(o)) return wrong(r, o->done ? "wrote outside its result" : "failed, and wrote");
  if (o->beyond_scratch) return wrong(r, "wrote beyond its scratch");
  return o->done || r->c->may_fail ? NULL : wrong(r, "failed");
}

/* ---- in place ---- */
/* The operand whose memory the result may take, or -1. */
static int operand_in_place(const op_case *c) {
  const tn_op_sig *sig = tn_op_sig_of(c->op);
  bool first_only = c->op == TN_OP_SCATTER_ADD || c->op == TN_OP_ROW_UPDATE;
  if (!first_only && sig->kind != TN_KIND_ELEMENTWISE) return -1;
  for (int k = 0; k < (first_only ? 1 : c->count); k++) {
    const operand *o = &c->in[k];
    tn_shape shape = tn_view_shape(&o->view);
    if (!o->repeats && o->view.dtype == c->out.dtype && tn_shape_equal(&shape, &c->out.shape)) return k;
  }
  return -1;
}

static const char *check_in_place(const runner *r, const outcome *expected) {
  const op_case *c = r->c;
  int k = operand_in_place(c);
  if (k < 0) return NULL;
  outcome o = outcome_for(&c->in[k]);
  run_once(r, k, &o);
  const char *bad = o.none ? NULL : compare_faults(r, expected, &o);
  if (!bad && o.done) bad = compare_elements(r, &expected->out, &o.out);
  if (!bad && !o.done && !o.none && memcmp(o.memory + MARGIN, c->in[k].base, c->in[k].bytes) != 0)
    bad = wrong(r, "failed, and changed the operand it works on in place");
  if (bad) say("  in the memory of operand %d\n", k);
  free(o.memory);
  return bad;
}

/* ---- the check ---- */
bool case_infer(op_case *c) {
  tn_type in[CASE_OPERANDS];
  tn_fault fault = { 0 };
  for (int k = 0; k < c->count; k++) in[k] = (tn_type){ c->in[k].view.dtype, tn_view_shape(&c->in[k].view) };
  tn_op_args args = { .op = c->op, .in = in, .count = c->count, .attrs = &c->attrs, .fault = &fault };
  return tn_op_infer(&args, &c->out);
}

/* In a place of its own and, every other time, in that of an operand. */
static const char *check_runner(const runner *r, const operand *place, const outcome *expected,
                                bool in_place) {
  outcome o = outcome_for(place);
  run_once(r, -1, &o);
  const char *bad = o.none ? NULL : compare(r, expected, &o);
  in_place = in_place && !o.none;
  free(o.memory);
  return !bad && in_place ? check_in_place(r, expected) : bad;
}

static const char *check_against(const op_case *c, const back_ends *ends, const operand *place,
                                 const outcome *expected) {
  static const int threads[] = { 1, 2, 3, 7 };
  const char *bad = NULL;
  for (int b = 0; !bad && b < ends->count; b++)
    for (int t = 0; !bad && t < (ends->alone ? 1 : 4); t += ends->small ? 2 : 1) {
      runner r = { c, ends->backend[b], threads[t], false, ends->pool }, chosen = r;
      chosen.chosen = true;
      bad = check_runner(&r, place, expected, t % 2 == 0);
      if (!bad && t % 2 == 0) bad = check_runner(&chosen, place, expected, true);
    }
  return bad;
}

/* A contiguous place as a rule, aligned or at any address an element may have; now and then a
 * strided one. */
static operand place_for_result(op_case *c) {
  if (!c->contiguous && one_in(c, 5)) return lay_out(c, c->out.dtype, &c->out.shape, true);
  size_t size = tn_dtype_bytes(c->out.dtype), offset = (size_t)below(c, 16) * size;
  if (c->contiguous || one_in(c, 2)) offset = 0;
  operand o = { .bytes = (size_t)tn_shape_count(&c->out.shape) * size + offset };
  o.base = case_memory(c, o.bytes);
  o.view = tn_view_make(o.base + offset, c->out.dtype, &c->out.shape);
  return o;
}

const char *check_case(op_case *c, const back_ends *ends) {
  operand place = place_for_result(c);
  outcome expected = outcome_for(&place);
  runner ref = { c, tn_backend_ref(), 1, false, NULL };
  run_once(&ref, -1, &expected);
  const char *bad = check_ref(&ref, &expected);
  if (!bad) bad = check_in_place(&ref, &expected);
  if (!bad) bad = check_against(c, ends, &place, &expected);
  free(expected.memory);
  return bad;
}
