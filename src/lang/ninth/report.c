/* lang/ninth/report.c: reports run-time errors with Ninth's codes.
 *
 * The place is always the current token, and the opcode its bare name. The engine reports
 * operations and axes; this translates them to the opcode and its operand shapes. */
#include "base/number.h"
#include "lang/ninth/meant.h"
#include "lang/ninth/vm.h"

static const tn_ninth_frame *frame_of(const tn_ninth_vm *m) { return &tn_vec_last(&m->frames); }

static uint32_t place_of(const tn_ninth_vm *m) {
  return (uint32_t)(m->next - frame_of(m)->unit->code) - 1;
}

tn_span tn_ninth_here(const tn_ninth_vm *m) { return frame_of(m)->unit->at[place_of(m)]; }

/* Where a frame waits for the one above it. The name after [CALL] has been passed. */
static tn_span waits_at(const tn_ninth_frame *frame) {
  size_t i = (size_t)(frame->next - frame->unit->code) - 1;
  if (i > 0 && frame->unit->code[i - 1].op == TN_NINTH_CODE_CALL_NAME) i--;
  return frame->unit->at[i];
}

/* A block runs where it is written, so it is not called. */
tn_span tn_ninth_called_at(const tn_ninth_vm *m) {
  const tn_ninth_frame *frames = m->frames.at;
  size_t i = m->frames.count - 1;
  while (i > 0 && frames[i].outer) i--;
  if (i == 0) return TN_NOWHERE;
  uint32_t program = waits_at(&frames[0]).file;
  for (i--; i > 0 && waits_at(&frames[i]).file != program;) i--;
  return waits_at(&frames[i]);
}

const char *tn_ninth_opcode_here(const tn_ninth_vm *m) {
  uint32_t op = frame_of(m)->unit->code[place_of(m)].op;
  switch (op) {
    case TN_NINTH_CODE_BIND:
    case TN_NINTH_CODE_BIND_STATE: return "->";
    case TN_NINTH_CODE_KEEP:
    case TN_NINTH_CODE_KEEP_STATE: return "->>";
    case TN_NINTH_CODE_CALL_NAME: return "CALL";
    case TN_NINTH_CODE_DEFINE_MODULE: return "MODULE";
    case TN_NINTH_CODE_SHAPE: return "[ ]";
    case TN_NINTH_CODE_MAKE: return "{ }";
    default: return op < TN_NINTH_OPCODE_COUNT ? tn_ninth_opcode_info_of((tn_ninth_opcode)op)->name : "";
  }
}

/* The hint shows what an opcode takes and leaves. */
bool tn_ninth_report_underflow(tn_heap *heap, tn_diags *diags, const tn_ninth_underflow *what) {
  bool opcode = what->op < TN_NINTH_OPCODE_COUNT;
  tn_text hint;
  tn_text_init(&hint, heap);
  if (opcode) {
    tn_text_puts(&hint, "its stack effect is `");
    tn_text_puts(&hint, tn_ninth_opcode_info_of((tn_ninth_opcode)what->op)->effect);
    tn_text_puts(&hint, "`: ");
  }
  tn_text_puts(&hint, "push what it needs first; [PEEK] shows the top and [DEPTH] counts");
  tn_report(diags, TN_DIAG_E_STACK_UNDERFLOW, what->at, TN_STR("opcode", what->opcode),
            TN_INT("needed", what->needed), TN_INT("have", what->have), TN_HINT(tn_text_str(&hint)),
            TN_NOTE_IF(what->called, TN_DIAG_CALLED));
  tn_text_free(&hint);
  return false;
}

bool tn_ninth_report_memory(tn_heap *heap, tn_diags *diags, tn_span at) {
  return tn_report_memory(diags, heap, at, NULL);
}

bool tn_ninth_no_room(tn_ninth_vm *m) {
  tn_build_forget(m->builder);
  return tn_ninth_report_memory(m->heap, m->host->diags, tn_ninth_here(m));
}

/* Ctrl-C, or the end of the time that was given; the host knows which. */
bool tn_ninth_report_stop(tn_ninth_vm *m) {
  tn_fault fault = { .kind = TN_FAULT_INTERRUPTED, .at = tn_ninth_here(m) };
  if (m->host->report_fault) return m->host->report_fault(m->host, &fault);
  return tn_report_plain(m->host->diags, TN_DIAG_E_INTERRUPTED, fault.at);
}

bool tn_ninth_wrong_kind(tn_ninth_vm *m, const char *expected, tn_ninth_value got) {
  return tn_ninth_error(m, TN_DIAG_E_TYPE, TN_STR("opcode", tn_ninth_opcode_here(m)),
                        TN_STR("expected", expected),
                        TN_STR("got", tn_ninth_kind_name((tn_ninth_kind)got.kind)));
}

/* Plain numbers: a -1 in a shape that was asked for is shown as it was written. */
static tn_field dims_field(const char *name, const tn_shape *shape) {
  tn_field field = { .kind = TN_FIELD_TEXT, .name = name };
  char *at = field.inline_text;
  *at++ = '[';
  for (int i = 0; i < shape->rank; i++) {
    if (i > 0) *at++ = ' ';
    at += tn_number_print_i64(shape->dim[i], at);
  }
  *at++ = ']';
  *at = 0;
  return field;
}

bool tn_ninth_wrong_shape(tn_ninth_vm *m, const tn_shape *shape, const char *problem, const char *hint) {
  return tn_ninth_error(m, TN_DIAG_E_SHAPE_MISMATCH, TN_STR("opcode", tn_ninth_opcode_here(m)),
                        dims_field("left", shape), TN_STR("problem", problem), TN_HINT(tn_str_of(hint)));
}

bool tn_ninth_misfit(tn_ninth_vm *m, const tn_shape *left, const tn_shape *right) {
  return tn_ninth_error(m, TN_DIAG_E_SHAPE_MISMATCH, TN_STR("opcode", tn_ninth_opcode_here(m)),
                        dims_field("left", left), dims_field("right", right));
}

/* ---- names ---- */

typedef tn_vec(tn_str) texts;

static void add_text(const tn_ninth_vm *m, texts *list, tn_name name) {
  tn_str text = tn_names_text(m->host->names, name);
  if (text.len > 0 && tn_vec_reserve(m->heap, list, 1)) list->at[list->count++] = text;
}

/* The variables that could have been meant: those that have a value here. */
static void add_variables(const tn_ninth_vm *m, texts *list) {
  const tn_ninth_frame *frame = frame_of(m);
  for (uint32_t slot = 0; slot < frame->unit->slot_count; slot++) {
    if (m->locals.at[frame->locals + slot].kind == TN_NINTH_UNBOUND) continue;
    add_text(m, list, tn_ninth_slot_name(m, frame->unit, slot));
  }
  const tn_ninth_object *self = tn_ninth_object_of(m, frame->self);
  for (uint32_t i = 0; i < self->count; i++) add_text(m, list, self->entries[i].name);
}

static void add_symbols(const tn_ninth_vm *m, tn_diag_code code, texts *list) {
  for (size_t name = 0; name < m->symbols.count; name++) {
    const tn_ninth_symbol *symbol = &m->symbols.at[name];
    bool fits = code == TN_DIAG_E_UNKNOWN_MODULE ? symbol->module != NULL : symbol->function != NULL;
    if (fits) add_text(m, list, (tn_name)name);
  }
}

/* A variable without a value; `candidates` are those that have one. */
static bool report_variable(tn_ninth_vm *m, tn_name name, texts *candidates) {
  tn_str text = tn_names_text(m->host->names, name);
  const tn_ninth_symbol *symbol = name < m->symbols.count ? &m->symbols.at[name] : NULL;
  tn_ninth_known known = { .function = symbol && symbol->function,
                           .module = symbol && symbol->module,
                           .variables = candidates->at,
                           .variable_count = candidates->count };
  tn_text meant;
  tn_text_init(&meant, m->heap);
  tn_ninth_put_meant(&meant, text, &known);
  tn_ninth_error(m, TN_DIAG_E_UNDEFINED_VARIABLE, TN_TEXT("name", text),
                 TN_TEXT("suggestion", tn_text_str(&meant)));
  tn_text_free(&meant);
  tn_vec_free(m->heap, candidates);
  return false;
}

static bool report_name(tn_ninth_vm *m, tn_diag_code code, tn_name name, texts *candidates) {
  tn_str text = tn_names_text(m->host->names, name);
  tn_ninth_error(m, code, TN_TEXT("name", text),
                 TN_TEXT("suggestion", tn_str_suggest(text, candidates->at, candidates->count)));
  tn_vec_free(m->heap, candidates);
  return false;
}

bool tn_ninth_undefined(tn_ninth_vm *m, tn_name name) {
  texts candidates = { 0 };
  add_variables(m, &candidates);
  return report_variable(m, name, &candidates);
}

bool tn_ninth_no_state(tn_ninth_vm *m, const tn_ninth_object *instance, tn_name name) {
  texts candidates = { 0 };
  for (uint32_t i = 0; i < instance->count; i++) add_text(m, &candidates, instance->entries[i].name);
  return report_variable(m, name, &candidates);
}

bool tn_ninth_unknown(tn_ninth_vm *m, tn_diag_code code, tn_name name) {
  texts candidates = { 0 };
  tn_str text = tn_names_text(m->host->names, name);
  if (code == TN_DIAG_E_UNKNOWN_LIBRARY) {
    return tn_ninth_error(m, code, TN_TEXT("name", text),
                          TN_TEXT("suggestion", tn_ninth_library_suggest(text)));
  }
  add_symbols(m, code, &candidates);
  return report_name(m, code, name, &candidates);
}

/* ---- faults of the engine ---- */

static bool report_size(tn_ninth_vm *m, const tn_fault *fault) {
  return tn_ninth_error(
      m, TN_DIAG_E_TOO_LARGE, TN_STR("what", fault->reason ? fault->reason : "the number of elements"),
      TN_INT("limit", fault->reason ? fault->expected : TN_ELEMENT_LIMIT),
      fault->left.shape.rank > 0 ? dims_field("requested", &fault->left.shape) : TN_STR("requested", ""));
}

static bool report_fault(tn_ninth_vm *m, const tn_fault *fault, const tn_shape *left,
                         const tn_shape *right) {
  switch (fault->kind) {
    case TN_FAULT_MEMORY: return tn_ninth_no_room(m);
    case TN_FAULT_INTERRUPTED: return tn_ninth_report_stop(m);
    case TN_FAULT_TOO_LARGE: return report_size(m, fault);
    case TN_FAULT_RANK_LIMIT:
      return tn_ninth_error(m, TN_DIAG_E_RANK_LIMIT, TN_INT("rank", fault->got),
                            TN_INT("limit", TN_RANK_LIMIT));
    case TN_FAULT_BOUNDS:
      return tn_ninth_error(m, TN_DIAG_E_INDEX_OUT_OF_RANGE, TN_STR("function", tn_ninth_opcode_here(m)),
                            TN_INT("index", fault->got), TN_INT("limit", fault->expected));
    case TN_FAULT_NO_GRADIENT:
      return tn_ninth_error(m, TN_DIAG_E_NO_GRADIENT, TN_STR("opcode", tn_ninth_opcode_here(m)));
    case TN_FAULT_DEVICE:
      return tn_ninth_error(m, TN_DIAG_E_DEVICE, TN_STR("device", "cuda"), TN_STR("problem", fault->reason));
    case TN_FAULT_NONE:
    case TN_FAULT_ARITY:
    case TN_FAULT_DTYPE:
    case TN_FAULT_HOST:
    case TN_FAULT_INTERNAL:
      return tn_ninth_error(m, TN_DIAG_E_INTERNAL,
                            TN_STR("message", fault->reason ? fault->reason : "a fault without a reason"));
    default:
      if (left && !right)
        return tn_ninth_wrong_shape(m, left, tn_shape_count(left) ? "does not fit" : "has no elements", "");
      return tn_ninth_misfit(m, left ? left : &fault->left.shape, right ? right : &fault->right.shape);
  }
}

bool tn_ninth_fault(tn_ninth_vm *m, const tn_shape *left, const tn_shape *right) {
  tn_fault fault = m->builder->fault;
  tn_build_forget(m->builder);
  return report_fault(m, &fault, left, right);
}
