/* lang/ninth/vm.c: the interpreter loop.
 *
 * The commonest instructions are executed here, on numbers without a call; the rest are functions
 * in the table of opcodes. The instruction pointer and the stack pointer are local variables,
 * stored in the VM only when a function is called; so any failure leaves the stack as it was.
 *
 * Steps are counted as fuel: when it is used up, the host is checked for a stop, and more is taken
 * from what the limit leaves. */
#include "lang/ninth/vm.h"

#include <string.h>

#include "base/elementary.h"
#include "op/element.h"
#include "tensor/shape_field.h"

/* What the table says of the opcodes that are functions. */
typedef struct {
  bool (*run)(tn_ninth_vm *m);
  tn_op op;
  uint8_t takes;
} handler;

static const handler handlers[TN_NINTH_OPCODE_COUNT] = {
#define TN_NINTH_OPCODE(id, in, out, group, effect, doc, how, operation)                                     \
  [TN_NINTH_##id] = { .run = tn_ninth_run_##how, .op = TN_OP_##operation, .takes = in },
#include "lang/ninth/opcodes.def"
};

tn_ninth_opcode tn_ninth_running(const tn_ninth_vm *m) { return (tn_ninth_opcode)m->next[-1].op; }
tn_op tn_ninth_operation(const tn_ninth_vm *m) { return handlers[m->next[-1].op].op; }

/* ---- the stack ---- */

#define FIRST_ROOM 256

static bool grow_stack(tn_ninth_vm *m) {
  size_t depth = tn_ninth_depth(m), floor = (size_t)(m->floor - m->stack), old = (size_t)(m->end - m->stack);
  size_t room = old ? old * 2 : FIRST_ROOM;
  tn_ninth_value *stack = tn_heap_resize(m->heap, m->stack, old * sizeof *stack, room * sizeof *stack);
  if (!stack) return false;
  m->stack = stack;
  m->top = stack + depth;
  m->floor = stack + floor;
  m->end = stack + room;
  return true;
}

bool tn_ninth_room(tn_ninth_vm *m) {
  if (m->top < m->end) return true;
  if (tn_ninth_depth(m) >= TN_NINTH_STACK_LIMIT) {
    return tn_ninth_error(m, TN_DIAG_E_TOO_LARGE, TN_STR("what", "the stack"),
                          TN_INT("limit", TN_NINTH_STACK_LIMIT));
  }
  return grow_stack(m) || tn_ninth_no_room(m);
}

/* These look at items and leave them, so an [INIT] has not taken them. */
static bool only_looks(uint32_t op) {
  switch (op) {
    case TN_NINTH_DUP:
    case TN_NINTH_OVER:
    case TN_NINTH_SWAP:
    case TN_NINTH_ROT:
    case TN_NINTH_PEEK:
    case TN_NINTH_CODE_KEEP:
    case TN_NINTH_CODE_KEEP_STATE: return true;
    default: return false;
  }
}

bool tn_ninth_reach(tn_ninth_vm *m, size_t needed) {
  if (tn_ninth_depth(m) < needed) {
    tn_ninth_underflow what = { .op = m->next[-1].op,
                                .opcode = tn_ninth_opcode_here(m),
                                .at = tn_ninth_here(m),
                                .called = tn_ninth_called_at(m),
                                .needed = (int64_t)needed,
                                .have = (int64_t)tn_ninth_depth(m) };
    return tn_ninth_report_underflow(m->heap, m->host->diags, &what);
  }
  if (m->floor > m->top - needed && !only_looks(m->next[-1].op)) m->floor = m->top - needed;
  return true;
}

void tn_ninth_drop(tn_ninth_vm *m, size_t count) {
  while (count-- > 0) {
    m->top--;
    tn_ninth_release(m, *m->top);
  }
}

void tn_ninth_replace(tn_ninth_vm *m, size_t count, tn_ninth_value result) {
  tn_ninth_drop(m, count);
  *m->top++ = result;
}

bool tn_ninth_run_dup(tn_ninth_vm *m) {
  if (!tn_ninth_room(m)) return false;
  tn_ninth_hold(m, m->top[-1]);
  m->top[0] = m->top[-1];
  m->top++;
  return true;
}

bool tn_ninth_run_over(tn_ninth_vm *m) {
  if (!tn_ninth_room(m)) return false;
  tn_ninth_hold(m, m->top[-2]);
  m->top[0] = m->top[-2];
  m->top++;
  return true;
}

bool tn_ninth_run_drop(tn_ninth_vm *m) {
  tn_ninth_drop(m, 1);
  return true;
}

bool tn_ninth_run_swap(tn_ninth_vm *m) {
  tn_ninth_value below = m->top[-2];
  m->top[-2] = m->top[-1];
  m->top[-1] = below;
  return true;
}

bool tn_ninth_run_rot(tn_ninth_vm *m) {
  tn_ninth_value third = m->top[-3];
  m->top[-3] = m->top[-2];
  m->top[-2] = m->top[-1];
  m->top[-1] = third;
  return true;
}

bool tn_ninth_run_depth(tn_ninth_vm *m) {
  if (!tn_ninth_room(m)) return false;
  *m->top = (tn_ninth_value){ .kind = TN_NINTH_NUMBER, .number = (float)tn_ninth_depth(m) };
  m->top++;
  return true;
}

/* ---- printing and memory ---- */

bool tn_ninth_run_peek(tn_ninth_vm *m) {
  tn_text line;
  tn_text_init(&line, m->heap);
  tn_ninth_show(m, m->top[-1], m->host->shorten, &line);
  bool ok = !line.failed || tn_ninth_no_room(m);
  if (ok && !m->everything) m->host->print(m->host, tn_text_str(&line));
  if (ok && m->everything && m->top[-1].kind == TN_NINTH_TENSOR) ok = tn_ninth_note(m, m->top[-1].tensor);
  tn_text_free(&line);
  return ok;
}

bool tn_ninth_run_print(tn_ninth_vm *m) {
  if (!tn_ninth_run_peek(m)) return false;
  tn_ninth_drop(m, 1);
  return true;
}

bool tn_ninth_run_store(tn_ninth_vm *m) {
  tn_ninth_value name = m->top[-1];
  if (name.kind != TN_NINTH_STRING) return tn_ninth_wrong_kind(m, "string", name);
  tn_ninth_symbol *symbol = tn_ninth_symbol_change(m, name.name);
  if (!symbol) return tn_ninth_no_room(m);
  tn_ninth_value old = symbol->memory;
  symbol->memory = m->top[-2];
  m->top -= 2;
  tn_ninth_release(m, old);
  return true;
}

bool tn_ninth_run_load(tn_ninth_vm *m) {
  tn_ninth_value name = m->top[-1];
  if (name.kind != TN_NINTH_STRING) return tn_ninth_wrong_kind(m, "string", name);
  const tn_ninth_symbol *symbol = tn_ninth_symbol_of(m, name.name);
  if (symbol->memory.kind == TN_NINTH_UNBOUND) return tn_ninth_undefined(m, name.name);
  tn_ninth_hold(m, symbol->memory);
  m->top[-1] = symbol->memory;
  return true;
}

/* For `emit`: a value that the program has shown is an output of the graph. */
bool tn_ninth_note(tn_ninth_vm *m, tn_value value) {
  for (size_t i = 0; i < m->noted.count; i++) {
    if (m->noted.at[i] == value) return true;
  }
  if (!tn_vec_push(m->heap, &m->noted, value)) return tn_ninth_no_room(m);
  tn_eager_ref(m->eager, value);
  return true;
}

/* ---- steps ---- */

bool tn_ninth_interrupted(tn_ninth_vm *m) {
  return tn_stop_asked(m->host->heap->stop);
}

static uint64_t step_limit(const tn_ninth_vm *m) {
  return m->host->max_steps > 0 ? m->host->max_steps : TN_NINTH_STEP_LIMIT;
}

static bool refuel(tn_ninth_vm *m) {
  if (m->steps == 0) {
    return tn_ninth_error(m, TN_DIAG_E_LOOP_LIMIT, TN_INT("limit", (int64_t)step_limit(m)));
  }
  if (tn_ninth_interrupted(m)) return tn_ninth_report_stop(m);
  if (m->watch) m->watch(m);
  uint64_t patience = m->watch ? 1 : TN_NINTH_PATIENCE; /* who watches sees every step */
  m->fuel = m->steps < patience ? m->steps : patience;
  m->steps -= m->fuel;
  return true;
}

/* ---- conditions ---- */

static bool count_of(tn_ninth_vm *m, float *out) {
  tn_ninth_value value = m->top[-1];
  if (tn_ninth_number_of(m, value, out)) return true;
  if (value.kind != TN_NINTH_TENSOR && value.kind != TN_NINTH_SHAPE_VALUE)
    return tn_ninth_wrong_kind(m, "tensor", value);
  tn_ninth_operand operand;
  if (!tn_ninth_operand_at(m, 0, &operand)) return false;
  tn_shape shape = *tn_eager_shape(m->eager, operand.value);
  tn_ninth_operand_end(m, &operand);
  return tn_ninth_error(m, TN_DIAG_E_CONDITION_NOT_SCALAR, TN_STR("opcode", tn_ninth_opcode_here(m)),
                        tn_shape_field("shape", &shape, NULL, TN_SHAPE_SPACE));
}

static const tn_ninth_code *target_of(const tn_ninth_vm *m) {
  return tn_vec_last(&m->frames).unit->code + m->next[-1].arg;
}

static bool run_if(tn_ninth_vm *m) {
  float number;
  if (!count_of(m, &number)) return false;
  tn_ninth_drop(m, 1);
  if (!(number > 0)) m->next = target_of(m);
  return true;
}

static bool run_repeat(tn_ninth_vm *m) {
  float number;
  if (!count_of(m, &number)) return false;
  int64_t rounds = tn_i64_from_f64((double)number);
  if (rounds > 0 && !tn_vec_push(m->heap, &m->loops, rounds)) return tn_ninth_no_room(m);
  tn_ninth_drop(m, 1);
  if (rounds <= 0) m->next = target_of(m);
  return true;
}

/* ---- variables ---- */

static bool run_keep(tn_ninth_vm *m, uint32_t slot) {
  tn_ninth_value *local = &m->locals.at[tn_vec_last(&m->frames).locals + slot];
  tn_ninth_value old = *local;
  tn_ninth_hold(m, m->top[-1]);
  *local = m->top[-1];
  tn_ninth_release(m, old);
  return true;
}

/* The hint of an instruction is the one thing that changes in code. */
static uint16_t *hint_of(const tn_ninth_vm *m) {
  const tn_ninth_unit *unit = tn_vec_last(&m->frames).unit;
  return &unit->code[m->next - 1 - unit->code].hint;
}

static bool push_held(tn_ninth_vm *m, tn_ninth_value value) {
  tn_ninth_hold(m, value);
  *m->top++ = value;
  return true;
}

static bool run_read_state(tn_ninth_vm *m, tn_name name) {
  tn_ninth_value value;
  return tn_ninth_room(m) && tn_ninth_read_state(m, name, hint_of(m), &value) && push_held(m, value);
}

static bool run_read(tn_ninth_vm *m, uint32_t slot) {
  tn_ninth_value value;
  return tn_ninth_room(m) && tn_ninth_read_slot(m, slot, &value) && push_held(m, value);
}

static bool run_bind_state(tn_ninth_vm *m, tn_name name, bool keeps) {
  tn_ninth_value value = m->top[-1];
  tn_ninth_hold(m, value);
  if (!tn_ninth_bind_state(m, name, hint_of(m), &value)) {
    tn_ninth_release(m, value);
    return false;
  }
  if (!keeps) tn_ninth_drop(m, 1);
  return true;
}

static bool run_boxed_number(tn_ninth_vm *m, const tn_ninth_code *code) {
  float number;
  memcpy(&number, &code->arg, sizeof number);
  tn_value value = tn_eager_number(m->eager, number);
  if (value == TN_ERROR_VALUE) return tn_ninth_no_room(m);
  *m->top++ = (tn_ninth_value){ .kind = TN_NINTH_TENSOR, .tensor = value };
  return true;
}

/* Among the open loops, what recording was before [NO_GRAD]. */
enum { WAS_RECORDING = -1, WAS_NOT_RECORDING = -2 };

static bool run_no_grad(tn_ninth_vm *m) {
  int64_t before = tn_eager_is_recording(m->eager) ? WAS_RECORDING : WAS_NOT_RECORDING;
  if (!tn_vec_push(m->heap, &m->loops, before)) return tn_ninth_no_room(m);
  tn_eager_recording(m->eager, false);
  return true;
}

/* What is left of the opcodes that make up the structure of a program. */
bool tn_ninth_run_structure(tn_ninth_vm *m) {
  switch (tn_ninth_running(m)) {
    case TN_NINTH_WHILE: return true; /* its condition comes next */
    case TN_NINTH_IF:
    case TN_NINTH_DO: return run_if(m);
    case TN_NINTH_REPEAT: return run_repeat(m);
    case TN_NINTH_NO_GRAD: return run_no_grad(m);
    case TN_NINTH_END_NO_GRAD:
      tn_eager_recording(m->eager, tn_vec_pop(&m->loops) == WAS_RECORDING);
      return true;
    default: return tn_ninth_error(m, TN_DIAG_E_INTERNAL, TN_STR("message", "an opcode without code"));
  }
}

/* Instructions that are not worth a place in the loop. */
static bool run_rare(tn_ninth_vm *m, const tn_ninth_code *code) {
  const tn_ninth_program *program = tn_vec_last(&m->frames).unit->program;
  switch (code->op) {
    case TN_NINTH_CODE_NUMBER: return run_boxed_number(m, code);
    case TN_NINTH_CODE_SHAPE:
      return tn_ninth_room(m) &&
             tn_ninth_make_shape(m, &program->shapes.at[code->arg], program->objects[code->arg]);
    case TN_NINTH_CODE_READ: return run_read(m, code->arg);
    case TN_NINTH_CODE_KEEP: return tn_ninth_reach(m, 1) && run_keep(m, code->arg);
    case TN_NINTH_CODE_READ_STATE: return run_read_state(m, code->arg);
    case TN_NINTH_CODE_BIND_STATE: return tn_ninth_reach(m, 1) && run_bind_state(m, code->arg, false);
    case TN_NINTH_CODE_KEEP_STATE: return tn_ninth_reach(m, 1) && run_bind_state(m, code->arg, true);
    case TN_NINTH_CODE_BLOCK:
      if (!tn_ninth_room(m)) return false;
      tn_ninth_hold_program(program->units.at[code->arg]->program);
      *m->top++ = (tn_ninth_value){ .kind = TN_NINTH_BLOCK, .unit = program->units.at[code->arg]->id };
      return true;
    case TN_NINTH_CODE_MAKE: return tn_ninth_make(m, &program->makers.at[code->arg]);
    case TN_NINTH_CODE_CALL_NAME: return tn_ninth_call_name(m, code->arg);
    case TN_NINTH_CODE_DEFINE: return tn_ninth_define(m, &program->definitions.at[code->arg]);
    case TN_NINTH_CODE_DEFINE_MODULE:
      return tn_ninth_reach(m, 1) && tn_ninth_define_module(m, &program->modules.at[code->arg]);
    default: return tn_ninth_reach(m, handlers[code->op].takes) && handlers[code->op].run(m);
  }
}

/* ---- the loop ---- */

static inline tn_ninth_value number_value(float number) {
  return (tn_ninth_value){ .kind = TN_NINTH_NUMBER, .number = tn_canonical_f32(number) };
}

#define LEAVE() (m->next = next, m->top = top, m->fuel = fuel)
#define ENTER()                                                                                              \
  (next = m->next, top = m->top, fuel = m->fuel, unit = tn_vec_last(&m->frames).unit,                        \
   locals = m->locals.at + tn_vec_last(&m->frames).locals)
#define ROOM()                                                                                               \
  if (top == m->end) {                                                                                       \
    LEAVE();                                                                                                 \
    if (!tn_ninth_room(m)) return false;                                                                     \
    ENTER();                                                                                                 \
  }
#define HAS(count) (top - m->floor >= (count))
#define ARITHMETIC(ID)                                                                                       \
  if (!HAS(2)) goto rare;                                                                                    \
  if (__builtin_expect(top[-1].kind != TN_NINTH_NUMBER || top[-2].kind != TN_NINTH_NUMBER, 0)) goto tensors; \
  top[-2] = number_value(tn_of_##ID##_f32(top[-2].number, top[-1].number));                                  \
  top--;                                                                                                     \
  break

/* The top of the stack and a tensor that something else holds, if arithmetic follows: no reference
 * to the tensor is needed for that moment. 0: execute step by step. */
static inline tn_value combine_next(tn_ninth_vm *m, const tn_ninth_code *next, tn_ninth_value first,
                                    tn_value second) {
  bool arithmetic = next->op == TN_NINTH_ADD || next->op == TN_NINTH_SUB || next->op == TN_NINTH_MUL ||
                    next->op == TN_NINTH_DIV;
  if (!arithmetic || first.kind != TN_NINTH_TENSOR) return TN_ERROR_VALUE;
  return tn_eager_arithmetic(m->eager, handlers[next->op].op, (tn_value[]){ first.tensor, second }, true);
}

/* Runs until no frame is left. */
static bool run_loop(tn_ninth_vm *m) {
  const tn_ninth_code *next;
  const tn_ninth_unit *unit;
  tn_ninth_value *top, *locals, value;
  tn_value combined;
  uint64_t fuel;
  ENTER();
  for (;;) {
    const tn_ninth_code *code = next++;
    if (fuel == 0 && code->op != TN_NINTH_CODE_END_OF_UNIT) {
      LEAVE();
      if (!refuel(m)) return false;
      fuel = m->fuel;
    }
    fuel--;
    switch (code->op) {
      case TN_NINTH_CODE_NUMBER:
        ROOM();
        if (m->everything) goto rare;
        top->kind = TN_NINTH_NUMBER;
        memcpy(&top->number, &code->arg, sizeof top->number);
        top++;
        break;
      case TN_NINTH_CODE_STRING:
        ROOM();
        *top++ = (tn_ninth_value){ .kind = TN_NINTH_STRING, .name = code->arg };
        break;
      case TN_NINTH_CODE_TENSOR:
        ROOM();
        value = (tn_ninth_value){ .kind = TN_NINTH_TENSOR, .tensor = unit->program->constants[code->arg] };
        tn_ninth_hold(m, value);
        *top++ = value;
        break;
      case TN_NINTH_CODE_READ:
        ROOM();
        value = locals[code->arg];
        if (value.kind == TN_NINTH_UNBOUND) goto rare;
        if (value.kind == TN_NINTH_TENSOR && fuel > 0 && HAS(1)) {
          combined = combine_next(m, next, top[-1], value.tensor);
          if (combined != TN_ERROR_VALUE) {
            top[-1].tensor = combined;
            next++;
            fuel--;
            break;
          }
        }
        tn_ninth_hold(m, value);
        *top++ = value;
        break;
      case TN_NINTH_CODE_BIND:
        if (!HAS(1)) {
          LEAVE();
          if (!tn_ninth_reach(m, 1)) return false;
        }
        value = locals[code->arg];
        locals[code->arg] = *--top;
        tn_ninth_release(m, value);
        break;
      case TN_NINTH_DUP:
        if (!HAS(1)) goto rare;
        ROOM();
        tn_ninth_hold(m, top[-1]);
        top[0] = top[-1];
        top++;
        break;
      case TN_NINTH_DROP:
        if (!HAS(1)) goto rare;
        top--;
        tn_ninth_release(m, *top);
        break;
      case TN_NINTH_SWAP:
        if (!HAS(2)) goto rare;
        value = top[-2];
        top[-2] = top[-1];
        top[-1] = value;
        break;
      case TN_NINTH_ADD: ARITHMETIC(ADD);
      case TN_NINTH_SUB: ARITHMETIC(SUB);
      case TN_NINTH_MUL: ARITHMETIC(MUL);
      case TN_NINTH_DIV: ARITHMETIC(DIV);
      case TN_NINTH_IF:
      case TN_NINTH_DO:
        if (!HAS(1) || top[-1].kind != TN_NINTH_NUMBER) goto rare;
        top--;
        if (!(top->number > 0)) next = unit->code + code->arg;
        break;
      case TN_NINTH_ELSE:
      case TN_NINTH_CODE_AGAIN: next = unit->code + code->arg; break;
      case TN_NINTH_END:
        if (--tn_vec_last(&m->loops) > 0)
          next = unit->code + code->arg;
        else
          m->loops.count--;
        break;
      case TN_NINTH_CODE_END_OF_UNIT:
        fuel++; /* it is not a token */
        /* fall through */
      case TN_NINTH_RET:
        LEAVE();
        if (!tn_ninth_return(m)) return false;
        if (m->frames.count == 0) return true;
        ENTER();
        break;
      default:
        if (code->op >= TN_NINTH_OPCODE_COUNT || !HAS(handlers[code->op].takes)) goto rare;
        goto opcode;
      tensors:
        if (top[-1].kind != TN_NINTH_TENSOR || top[-2].kind != TN_NINTH_TENSOR) goto opcode;
        combined = tn_eager_arithmetic(m->eager, handlers[code->op].op,
                                       (tn_value[]){ top[-2].tensor, top[-1].tensor }, false);
        if (combined != TN_ERROR_VALUE) {
          (--top)[-1].tensor = combined;
          break;
        }
      opcode:
        LEAVE();
        if (!handlers[code->op].run(m)) return false;
        ENTER();
        break;
      rare:
        LEAVE();
        if (!run_rare(m, code)) return false;
        ENTER();
        break;
    }
  }
}

/* ---- starting and ending ---- */

bool tn_ninth_vm_init(tn_ninth_vm *m, tn_host *host) {
  *m = (tn_ninth_vm){ .host = host, .heap = host->heap, .eager = host->eager };
  m->builder = tn_eager_builder(host->eager);
  tn_build_forget(m->builder);
  tn_eager_recording(m->eager, true);
  tn_ninth_scope_init(&m->scope, m->heap);
  m->self = tn_ninth_object_new(m, TN_NINTH_INSTANCE);
  return m->self != 0 && tn_vec_reserve(m->heap, &m->locals, 1) && grow_stack(m);
}

static void free_symbols(tn_ninth_vm *m) {
  for (size_t i = 0; i < m->symbols.count; i++) tn_ninth_release(m, m->symbols.at[i].memory);
  tn_vec_free(m->heap, &m->symbols); /* the programs of functions and modules go with the VM */
}

static void unlink_program(tn_ninth_vm *m, tn_ninth_program *program) {
  if (program->previous)
    program->previous->next = program->next;
  else
    m->programs = program->next;
  if (program->next) program->next->previous = program->previous;
}

/* Numbers that find no room on the list are not given out again. */
static void unload(tn_ninth_vm *m, tn_ninth_program *program) {
  unlink_program(m, program);
  for (size_t i = 0; i < program->unit_count; i++) {
    m->units.at[program->units.at[i]->id] = NULL;
    tn_vec_push(m->heap, &m->free_units, program->units.at[i]->id);
  }
  for (size_t i = 0; program->constants && i < program->tensors.count; i++) {
    tn_eager_unref(m->eager, program->constants[i]);
  }
  for (size_t i = 0; program->objects && i < program->shapes.count; i++) {
    if (program->objects[i] != 0) tn_ninth_release_object(m, program->objects[i]);
  }
  tn_ninth_program_free(program);
}

void tn_ninth_vm_free(tn_ninth_vm *m) {
  tn_ninth_unwind(m);
  tn_ninth_drop(m, tn_ninth_depth(m));
  for (size_t i = 0; i < m->locals.count; i++) tn_ninth_release(m, m->locals.at[i]);
  free_symbols(m);
  for (size_t i = 0; i < m->noted.count; i++) tn_eager_unref(m->eager, m->noted.at[i]);
  for (size_t i = 0; i < TN_NINTH_BOXES; i++) tn_eager_unref(m->eager, m->boxes[i]);
  if (m->self != 0) tn_ninth_release_object(m, m->self);
  while (m->programs) unload(m, m->programs);
  tn_ninth_objects_free(m);
  tn_heap_free(m->heap, m->stack, (size_t)(m->end - m->stack) * sizeof *m->stack);
  tn_vec_free(m->heap, &m->locals);
  tn_vec_free(m->heap, &m->frames);
  tn_vec_free(m->heap, &m->loops);
  tn_vec_free(m->heap, &m->units);
  tn_vec_free(m->heap, &m->free_units);
  tn_vec_free(m->heap, &m->free_files);
  tn_vec_free(m->heap, &m->libraries);
  tn_vec_free(m->heap, &m->noted);
  tn_ninth_scope_free(&m->scope, m->heap);
  tn_eager_recording(m->eager, true);
}

/* Literals become values once, not every time they are met. */
static bool make_constants(tn_ninth_vm *m, tn_ninth_program *program) {
  program->constants =
      tn_arena_array(&program->arena, program->tensors.count + 1, sizeof *program->constants);
  program->objects = tn_arena_array(&program->arena, program->shapes.count + 1, sizeof *program->objects);
  if (!program->constants || !program->objects) return false;
  for (size_t i = 0; i < program->tensors.count; i++) {
    program->constants[i] = tn_eager_tensor(m->eager, &program->tensors.at[i]);
    if (program->constants[i] == TN_ERROR_VALUE) return false;
  }
  for (size_t i = 0; i < program->shapes.count; i++) {
    const tn_ninth_shape *shape = &program->shapes.at[i];
    if (!shape->fixed) continue;
    int64_t *dims = tn_arena_array(&program->arena, shape->count + 1, sizeof *dims);
    for (uint32_t k = 0; dims && k < shape->count; k++) dims[k] = shape->dims[k].number;
    program->objects[i] = dims ? tn_ninth_shape_new(m, dims, shape->count) : 0;
    if (program->objects[i] == 0) return false;
  }
  return true;
}

static bool number_units(tn_ninth_vm *m, tn_ninth_program *program) {
  if (!tn_vec_reserve(m->heap, &m->units, program->units.count)) return false;
  for (; program->unit_count < program->units.count; program->unit_count++) {
    tn_ninth_unit *unit = program->units.at[program->unit_count];
    bool again = m->free_units.count > 0;
    unit->id = again ? tn_vec_pop(&m->free_units) : (uint32_t)m->units.count++;
    m->units.at[unit->id] = unit;
  }
  return true;
}

/* Until something leads to it, nothing does. */
bool tn_ninth_load(tn_ninth_vm *m, tn_ninth_program *program) {
  program->next = m->programs;
  if (m->programs) m->programs->previous = program;
  m->programs = program;
  program->turn = m->turn.number;
  program->unused = true;
  program->next_unused = m->unused;
  m->unused = program;
  bool ok = make_constants(m, program) && number_units(m, program);
  tn_build_forget(m->builder);
  return ok || tn_ninth_report_memory(m->heap, m->host->diags, TN_NOWHERE);
}

void tn_ninth_hold_program(tn_ninth_program *program) { program->references++; }

void tn_ninth_release_program(tn_ninth_vm *m, tn_ninth_program *program) {
  if (--program->references > 0 || program->unused) return;
  program->unused = true;
  program->next_unused = m->unused;
  m->unused = program;
}

uint32_t tn_ninth_add_text(tn_ninth_vm *m, tn_str name, tn_str text) {
  tn_sources *sources = m->host->sources;
  if (m->free_files.count == 0) return tn_sources_add(sources, name, text);
  uint32_t file = tn_vec_last(&m->free_files);
  if (!tn_sources_put(sources, file, name, text)) return 0;
  m->free_files.count--;
  return file;
}

void tn_ninth_forget_text(tn_ninth_vm *m, uint32_t file) {
  tn_sources *sources = m->host->sources;
  if (file == sources->files.count) {
    tn_sources_rewind(sources, file - 1);
    return;
  }
  tn_sources_forget(sources, file);
  tn_vec_push(m->heap, &m->free_files, file);
}

/* Names that came up in the turn are needed by what it has loaded, as long as that is there. */
static void forget_names(tn_ninth_vm *m) {
  bool stays = m->programs && m->programs->turn == m->turn.number;
  if (m->turn.forgets_names && !stays) tn_names_rewind(m->host->names);
  m->turn.forgets_names = false;
}

void tn_ninth_collect(tn_ninth_vm *m) {
  while (m->unused) {
    tn_ninth_program *program = m->unused;
    uint32_t file = program->file;
    m->unused = program->next_unused;
    program->unused = false;
    if (program->references > 0) continue;
    unload(m, program);
    tn_ninth_forget_text(m, file);
  }
  forget_names(m);
}

bool tn_ninth_run(tn_ninth_vm *m, const tn_ninth_program *program) {
  tn_diags_enter(m->host->diags, TN_PHASE_RUN);
  m->steps = step_limit(m);
  m->fuel = 0;
  if (!tn_ninth_begin(m, program->main)) return tn_ninth_report_memory(m->heap, m->host->diags, TN_NOWHERE);
  bool ok = run_loop(m);
  tn_ninth_unwind(m);
  return ok;
}
