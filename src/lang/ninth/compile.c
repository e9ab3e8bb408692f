/* lang/ninth/compile.c: compiles tokens to units of code.
 *
 * One pass. Open blocks are on a list; a closing token looks for its partner there, and blocks
 * inside it that were never closed are reported and abandoned, so that one slip is one message.
 * Functions, methods and blocks are compiled to separate units while the enclosing unit waits. If
 * the text has errors, the code is invalid too, and is discarded at the end. */
#include "lang/ninth/compiler.h"

#include <string.h>

/* ---- scopes ---- */

void tn_ninth_scope_init(tn_ninth_scope *scope, tn_heap *heap) {
  *scope = (tn_ninth_scope){ 0 };
  tn_map_init(&scope->slots, heap);
}

void tn_ninth_scope_free(tn_ninth_scope *scope, tn_heap *heap) {
  tn_map_free(&scope->slots);
  tn_vec_free(heap, &scope->names);
}

void tn_ninth_scope_rewind(tn_ninth_scope *scope, size_t count) {
  if (scope->names.count <= count) return;
  tn_map_rewind(&scope->slots, count);
  scope->names.count = count;
}

/* The slot of a name, new if need be; UINT32_MAX when memory runs out. */
static uint32_t scope_slot(tn_ninth_scope *scope, tn_heap *heap, tn_name name) {
  const uint64_t *known = tn_map_get(&scope->slots, name);
  if (known) return (uint32_t)*known;
  if (!tn_vec_reserve(heap, &scope->names, 1) || !tn_map_put(&scope->slots, name, scope->names.count))
    return UINT32_MAX;
  scope->names.at[scope->names.count++] = name;
  return (uint32_t)scope->names.count - 1;
}

/* ---- tokens ---- */

void tn_ninth_no_memory(tn_ninth_compiler *c) { c->out_of_memory = c->stop = true; }

tn_span tn_ninth_span(const tn_ninth_compiler *c, const tn_ninth_token *token) {
  return (tn_span){ c->program->file, token->start, token->end };
}

tn_str tn_ninth_text(const tn_ninth_compiler *c, const tn_ninth_token *token) {
  return (tn_str){ c->text.at + token->start, token->end - token->start };
}

tn_name tn_ninth_name(tn_ninth_compiler *c, const tn_ninth_token *token) {
  tn_str text = tn_ninth_text(c, token);
  if (token->kind == TN_NINTH_TOKEN_STATE) text = (tn_str){ text.at + 1, text.len - 1 };
  if (token->kind == TN_NINTH_TOKEN_STRING) text = (tn_str){ text.at + 1, text.len - 2 };
  tn_name name = tn_names_intern(c->names, text);
  if (name == 0) tn_ninth_no_memory(c);
  return name;
}

static bool next_is(const tn_ninth_compiler *c, size_t ahead, tn_ninth_token_kind kind) {
  return tn_ninth_peek(c, ahead)->kind == kind;
}

/* ---- writing units ---- */

uint32_t tn_ninth_slot(tn_ninth_compiler *c, tn_name name) {
  uint32_t slot = scope_slot(c->writer->scope, c->heap, name);
  if (slot == UINT32_MAX) tn_ninth_no_memory(c);
  return slot;
}

uint32_t tn_ninth_emit(tn_ninth_compiler *c, uint32_t op, uint32_t arg, tn_span at) {
  tn_ninth_writer *writer = c->writer;
  tn_ninth_code code = { .op = (uint16_t)op, .arg = arg };
  if (!tn_vec_reserve(c->heap, &writer->at, 1) || !tn_vec_push(c->heap, &writer->code, code)) {
    tn_ninth_no_memory(c);
    return 0;
  }
  writer->at.at[writer->at.count++] = at;
  return (uint32_t)writer->code.count - 1;
}

static uint32_t here(const tn_ninth_compiler *c) { return (uint32_t)c->writer->code.count; }
static void set_target(tn_ninth_compiler *c, uint32_t code, uint32_t target) {
  if (code < c->writer->code.count) c->writer->code.at[code].arg = target;
}

static bool begin_unit(tn_ninth_compiler *c, tn_ninth_unit_kind kind, tn_ninth_scope *scope) {
  tn_ninth_writer *writer = tn_heap_alloc(c->heap, sizeof *writer);
  tn_ninth_unit *unit = tn_arena_new(&c->program->arena, tn_ninth_unit);
  if (!writer || !unit || !tn_vec_push(c->heap, &c->program->units, unit)) {
    tn_heap_free(c->heap, writer, sizeof *writer);
    tn_ninth_no_memory(c);
    return false;
  }
  *unit = (tn_ninth_unit){ .kind = kind, .program = c->program, .shared = scope != NULL };
  *writer = (tn_ninth_writer){ .unit = unit, .around = c->writer };
  tn_ninth_scope_init(&writer->own, c->heap);
  writer->scope = scope ? scope : &writer->own;
  c->writer = writer;
  return true;
}

/* Names that a block mentions exist in the unit around it too. */
static void link_block(tn_ninth_compiler *c, tn_ninth_writer *block) {
  size_t count = block->scope->names.count;
  uint32_t *outer = tn_arena_array(&c->program->arena, count, sizeof *outer);
  block->unit->around = c->writer->unit;
  block->unit->outer = outer;
  for (size_t i = 0; outer && i < count; i++) outer[i] = tn_ninth_slot(c, block->scope->names.at[i]);
}

static void keep_code(tn_ninth_compiler *c, tn_ninth_writer *writer) {
  tn_arena *arena = &c->program->arena;
  tn_ninth_unit *unit = writer->unit;
  unit->count = (uint32_t)writer->code.count;
  unit->code = tn_arena_copy(arena, writer->code.at, writer->code.count * sizeof *writer->code.at);
  unit->at = tn_arena_copy(arena, writer->at.at, writer->at.count * sizeof *writer->at.at);
  unit->slot_count = (uint32_t)writer->scope->names.count;
  if (unit->shared) return;
  unit->slots = tn_arena_copy(arena, writer->own.names.at, writer->own.names.count * sizeof(tn_name));
}

/* The enclosing unit continues. */
static tn_ninth_unit *end_unit(tn_ninth_compiler *c) {
  tn_ninth_writer *writer = c->writer;
  tn_ninth_unit *unit = writer->unit;
  uint32_t end = tn_ninth_peek(c, 0)->start;
  tn_ninth_emit(c, TN_NINTH_CODE_END_OF_UNIT, 0, (tn_span){ c->program->file, end, end });
  if (unit->kind == TN_NINTH_UNIT_INIT)
    unit->std = tn_ninth_slot(c, tn_names_intern(c->names, TN_LIT("std")));
  keep_code(c, writer);
  c->writer = writer->around;
  if (unit->kind == TN_NINTH_UNIT_BLOCK) link_block(c, writer);
  tn_vec_free(c->heap, &writer->code);
  tn_vec_free(c->heap, &writer->at);
  tn_ninth_scope_free(&writer->own, c->heap);
  tn_heap_free(c->heap, writer, sizeof *writer);
  if (c->program->arena.failed) tn_ninth_no_memory(c);
  return unit;
}

/* The token before, if it pushed what it is. The name after [CALL] may not have. */
static uint16_t literal_before(const tn_ninth_compiler *c) {
  const tn_ninth_writer *writer = c->writer;
  if (c->at < 2 || writer->code.count == 0) return 0;
  const tn_ninth_code *last = &tn_vec_last(&writer->code);
  if (c->tokens[c->at - 2].kind == TN_NINTH_TOKEN_NUMBER) return TN_NINTH_HINT_NUMBER;
  if (c->tokens[c->at - 2].kind != TN_NINTH_TOKEN_STRING || last->op != TN_NINTH_CODE_STRING) return 0;
  return writer->code.count > 1 && last[-1].op == TN_NINTH_CODE_CALL_NAME ? 0 : TN_NINTH_HINT_STRING;
}

static void emit_opcode(tn_ninth_compiler *c, uint32_t op, uint32_t arg, tn_span at) {
  uint16_t hint = literal_before(c);
  tn_ninth_emit(c, op, arg, at);
  if (!c->stop) tn_vec_last(&c->writer->code).hint = hint;
}

/* ---- what is open ---- */

static bool owns_unit(tn_ninth_opcode kind) {
  return kind == TN_NINTH_DEF || kind == TN_NINTH_INIT || kind == TN_NINTH_FORWARD || kind == TN_NINTH_BRACE;
}

void tn_ninth_too_deep(tn_ninth_compiler *c, const tn_ninth_token *token) {
  tn_report(c->diags, TN_DIAG_E_NESTING_LIMIT, tn_ninth_span(c, token),
            TN_INT("limit", TN_NINTH_DEPTH_LIMIT));
  c->stop = true;
}

/* The token that opens is the one just read. */
static tn_ninth_open *open_block(tn_ninth_compiler *c, tn_ninth_opcode kind) {
  tn_ninth_open block = { .kind = kind, .token = c->at - 1, .patch = here(c) };
  if (c->open.count == TN_NINTH_DEPTH_LIMIT) {
    tn_ninth_too_deep(c, &c->tokens[c->at - 1]);
    return NULL;
  }
  if (tn_vec_push(c->heap, &c->open, block)) return &tn_vec_last(&c->open);
  tn_ninth_no_memory(c);
  return NULL;
}

static void report_unpaired(tn_ninth_compiler *c, tn_ninth_opcode kind, const tn_ninth_token *token) {
  const char *name = kind == TN_NINTH_BRACE ? "{" : tn_ninth_opcode_info_of(kind)->name;
  tn_report(c->diags, TN_DIAG_E_UNCLOSED_BLOCK, tn_ninth_span(c, token), TN_STR("block", name));
}

static void give_up_last(tn_ninth_compiler *c) {
  tn_ninth_open block = tn_vec_pop(&c->open);
  if (owns_unit(block.kind)) end_unit(c);
  if (!block.nested) report_unpaired(c, block.kind, &c->tokens[block.token]);
  c->lost[block.kind]++;
}

static bool is_open(const tn_ninth_compiler *c, tn_ninth_opcode kind) {
  for (size_t i = c->open.count; i-- > 0;) {
    if (c->open.at[i].kind == kind) return true;
  }
  return false;
}

/* Whether the innermost open block is of that kind, after abandoning unclosed blocks inside it. A
 * closing token without a partner is `stray`. */
static bool reaches(tn_ninth_compiler *c, tn_ninth_opcode kind, tn_ninth_opcode stray) {
  if (is_open(c, kind)) {
    while (tn_vec_last(&c->open).kind != kind) give_up_last(c);
    return true;
  }
  if (c->lost[kind] > 0)
    c->lost[kind]--; /* its opener has been reported */
  else if (stray != TN_NINTH_BRACE)
    report_unpaired(c, stray, &c->tokens[c->at - 1]);
  else
    tn_ninth_syntax(c->diags, tn_ninth_span(c, &c->tokens[c->at - 1]), TN_NINTH_SYNTAX_NO_BRACE);
  return false;
}

/* ---- control ---- */

static void read_else(tn_ninth_compiler *c, tn_span at) {
  if (!reaches(c, TN_NINTH_IF, TN_NINTH_ELSE)) {
    c->lost[TN_NINTH_IF]++; /* the [ENDIF] is still to come */
    return;
  }
  tn_ninth_open *block = &tn_vec_last(&c->open);
  if (block->has_else) {
    report_unpaired(c, TN_NINTH_ELSE, &c->tokens[c->at - 1]);
    return;
  }
  uint32_t over = tn_ninth_emit(c, TN_NINTH_ELSE, 0, at);
  set_target(c, block->patch, here(c));
  if (!c->stop) c->writer->code.at[block->patch].hint = 1;
  block->patch = over;
  block->has_else = true;
}

static void read_endif(tn_ninth_compiler *c) {
  if (!reaches(c, TN_NINTH_IF, TN_NINTH_ENDIF)) return;
  tn_ninth_open block = tn_vec_pop(&c->open);
  set_target(c, block.patch, here(c));
}

static void read_while(tn_ninth_compiler *c, tn_span at) {
  tn_ninth_open *block = open_block(c, TN_NINTH_WHILE);
  if (block) block->start = tn_ninth_emit(c, TN_NINTH_WHILE, 0, at);
}

static void read_do(tn_ninth_compiler *c, tn_span at) {
  if (!reaches(c, TN_NINTH_WHILE, TN_NINTH_DO)) {
    c->lost[TN_NINTH_WHILE]++; /* the [END] is still to come */
    return;
  }
  tn_ninth_open *block = &tn_vec_last(&c->open);
  if (block->has_else) {
    report_unpaired(c, TN_NINTH_DO, &c->tokens[c->at - 1]);
    return;
  }
  set_target(c, block->start, here(c));
  block->patch = tn_ninth_emit(c, TN_NINTH_DO, 0, at);
  block->has_else = true;
}

/* [END] belongs to the innermost loop; without one, to an abandoned one. */
static tn_ninth_opcode loop_to_end(const tn_ninth_compiler *c) {
  for (size_t i = c->open.count; i-- > 0;) {
    tn_ninth_opcode kind = c->open.at[i].kind;
    if (kind == TN_NINTH_REPEAT || kind == TN_NINTH_WHILE) return kind;
  }
  return c->lost[TN_NINTH_WHILE] > 0 ? TN_NINTH_WHILE : TN_NINTH_REPEAT;
}

static void read_end(tn_ninth_compiler *c, tn_span at) {
  tn_ninth_opcode kind = loop_to_end(c);
  if (!reaches(c, kind, TN_NINTH_END)) return;
  tn_ninth_open block = tn_vec_pop(&c->open);
  bool repeat = kind == TN_NINTH_REPEAT;
  if (!repeat && !block.has_else)
    tn_ninth_syntax(c->diags, tn_ninth_span(c, &c->tokens[block.token]), TN_NINTH_SYNTAX_WHILE_DO);
  tn_ninth_emit(c, repeat ? TN_NINTH_END : TN_NINTH_CODE_AGAIN, (repeat ? block.patch : block.start) + 1, at);
  set_target(c, block.patch, here(c));
}

static void read_end_no_grad(tn_ninth_compiler *c, tn_span at) {
  if (!reaches(c, TN_NINTH_NO_GRAD, TN_NINTH_END_NO_GRAD)) return;
  c->open.count--;
  tn_ninth_emit(c, TN_NINTH_END_NO_GRAD, 0, at);
}

/* ---- definitions ---- */

static void read_def(tn_ninth_compiler *c, tn_span at) {
  tn_ninth_definition definition = { 0 };
  if (!open_block(c, TN_NINTH_DEF)) return;
  if (next_is(c, 0, TN_NINTH_TOKEN_STRING)) {
    at = tn_span_join(at, tn_ninth_span(c, tn_ninth_peek(c, 0)));
    definition.name = tn_ninth_name(c, tn_ninth_peek(c, 0));
    c->at++;
  } else {
    tn_ninth_syntax(c->diags, at, TN_NINTH_SYNTAX_DEF_NAME);
  }
  if (!tn_vec_push(c->heap, &c->program->definitions, definition)) tn_ninth_no_memory(c);
  uint32_t number = (uint32_t)c->program->definitions.count - 1;
  tn_ninth_emit(c, TN_NINTH_CODE_DEFINE, number, at);
  if (c->stop || !begin_unit(c, TN_NINTH_UNIT_FUNCTION, NULL)) return;
  c->program->definitions.at[number].unit = c->writer->unit;
}

static void read_module(tn_ninth_compiler *c, tn_span at) {
  tn_ninth_open *block = open_block(c, TN_NINTH_MODULE);
  if (!block) return;
  if (!tn_vec_push(c->heap, &c->program->modules, (tn_ninth_module){ .program = c->program })) {
    tn_ninth_no_memory(c);
    return;
  }
  block->module = (uint32_t)c->program->modules.count - 1;
  emit_opcode(c, TN_NINTH_CODE_DEFINE_MODULE, block->module, at);
}

static bool is_in_module(const tn_ninth_compiler *c) {
  return c->open.count > 0 && tn_vec_last(&c->open).kind == TN_NINTH_MODULE;
}

static void read_method(tn_ninth_compiler *c, tn_ninth_opcode kind, tn_span at) {
  bool init = kind == TN_NINTH_INIT;
  bool inside = is_in_module(c);
  uint32_t module = inside ? tn_vec_last(&c->open).module : 0;
  if (!inside)
    tn_ninth_syntax(c->diags, at,
                    init ? TN_NINTH_SYNTAX_INIT_PLACE : TN_NINTH_SYNTAX_FORWARD_PLACE);
  if (!open_block(c, kind) || !begin_unit(c, init ? TN_NINTH_UNIT_INIT : TN_NINTH_UNIT_FORWARD, NULL)) return;
  if (!inside) return;
  tn_ninth_module *into = &c->program->modules.at[module];
  const tn_ninth_unit **method = init ? &into->init : &into->forward;
  if (*method)
    tn_ninth_syntax(c->diags, at, init ? TN_NINTH_SYNTAX_INIT_TWICE : TN_NINTH_SYNTAX_FORWARD_TWICE);
  *method = c->writer->unit;
}

/* Ends the enclosing definition, or returns from the middle of it. */
static void read_ret(tn_ninth_compiler *c, tn_span at) {
  tn_ninth_opcode kind = c->open.count > 0 ? tn_vec_last(&c->open).kind : TN_NINTH_BRACE;
  tn_ninth_emit(c, TN_NINTH_RET, 0, at);
  if (kind != TN_NINTH_DEF && kind != TN_NINTH_INIT && kind != TN_NINTH_FORWARD) return;
  c->open.count--;
  end_unit(c);
}

static void read_end_module(tn_ninth_compiler *c) {
  if (reaches(c, TN_NINTH_MODULE, TN_NINTH_END_MODULE)) c->open.count--;
}

/* A module in a module: it is read, so that its end is not taken for that of the one around. */
static bool is_nested_module(tn_ninth_compiler *c, const tn_ninth_token *token) {
  tn_ninth_open *module = &tn_vec_last(&c->open);
  if (token->kind != TN_NINTH_TOKEN_OPCODE || token->opcode != TN_NINTH_MODULE) return false;
  if (!module->spoiled) {
    tn_ninth_syntax(c->diags, tn_ninth_span(c, token), TN_NINTH_SYNTAX_NESTED);
  }
  module->spoiled = module->nested = true;
  return true;
}

/* A module holds definitions and nothing else; what closes something around it shows that it was not
 * closed itself. One message for each module is enough. */
static bool has_place(tn_ninth_compiler *c, const tn_ninth_token *token) {
  if (!is_in_module(c)) return true;
  if (token->kind == TN_NINTH_TOKEN_OPCODE) {
    switch ((int)token->opcode) {
      case TN_NINTH_INIT:
      case TN_NINTH_FORWARD:
      case TN_NINTH_DEF:
      case TN_NINTH_END_MODULE:
      case TN_NINTH_PROGRAM_START:
      case TN_NINTH_PROGRAM_END:
      case TN_NINTH_OPCODE_COUNT: return true;
      case TN_NINTH_ELSE:
      case TN_NINTH_ENDIF:
      case TN_NINTH_DO:
      case TN_NINTH_END:
      case TN_NINTH_END_NO_GRAD: return true;
      default: break;
    }
  }
  if (token->kind == TN_NINTH_TOKEN_BLOCK_CLOSE || is_nested_module(c, token)) return true;
  if (token->kind == TN_NINTH_TOKEN_STRING && token[1].opcode == TN_NINTH_MODULE &&
      token[1].kind == TN_NINTH_TOKEN_OPCODE)
    return false; /* the name of one */
  tn_ninth_open *module = &tn_vec_last(&c->open);
  if (!module->spoiled) {
    tn_ninth_syntax(c->diags, tn_ninth_span(c, token), TN_NINTH_SYNTAX_MODULE_ITEM);
  }
  module->spoiled = true;
  return false;
}

/* ---- opcodes ---- */

static void read_call(tn_ninth_compiler *c, tn_span at) {
  const tn_ninth_token *name = tn_ninth_peek(c, 0);
  if (name->kind != TN_NINTH_TOKEN_STRING) {
    emit_opcode(c, TN_NINTH_CALL, 0, at);
    return;
  }
  tn_name text = tn_ninth_name(c, name);
  tn_ninth_emit(c, TN_NINTH_CODE_CALL_NAME, text, tn_span_join(at, tn_ninth_span(c, name)));
  tn_ninth_emit(c, TN_NINTH_CODE_STRING, text, tn_ninth_span(c, name));
  c->at++;
}

static void read_opcode(tn_ninth_compiler *c, tn_ninth_opcode opcode, tn_span at) {
  switch (opcode) {
    case TN_NINTH_OPCODE_COUNT:
      tn_ninth_emit(c, TN_NINTH_CODE_FLAW, 0, at);
      break; /* unknown, and reported */
    case TN_NINTH_PROGRAM_START:
    case TN_NINTH_PROGRAM_END: break;
    case TN_NINTH_IF:
    case TN_NINTH_REPEAT:
    case TN_NINTH_NO_GRAD:
      if (open_block(c, opcode)) tn_ninth_emit(c, opcode, 0, at);
      break;
    case TN_NINTH_WHILE: read_while(c, at); break;
    case TN_NINTH_DO: read_do(c, at); break;
    case TN_NINTH_ELSE: read_else(c, at); break;
    case TN_NINTH_ENDIF: read_endif(c); break;
    case TN_NINTH_END: read_end(c, at); break;
    case TN_NINTH_END_NO_GRAD: read_end_no_grad(c, at); break;
    case TN_NINTH_DEF: read_def(c, at); break;
    case TN_NINTH_RET: read_ret(c, at); break;
    case TN_NINTH_MODULE: read_module(c, at); break;
    case TN_NINTH_INIT:
    case TN_NINTH_FORWARD: read_method(c, opcode, at); break;
    case TN_NINTH_END_MODULE: read_end_module(c); break;
    case TN_NINTH_CALL: read_call(c, at); break;
    default: emit_opcode(c, opcode, 0, at); break;
  }
}

/* ---- arrows and braces ---- */

/* "->" name, "->" @name, and the same with "->>". */
static void read_arrow(tn_ninth_compiler *c, const tn_ninth_token *arrow) {
  const tn_ninth_token *target = tn_ninth_peek(c, 0);
  bool keeps = arrow->kind == TN_NINTH_TOKEN_KEEP;
  tn_span at = tn_span_join(tn_ninth_span(c, arrow), tn_ninth_span(c, target));
  if (target->kind == TN_NINTH_TOKEN_NAME) {
    uint32_t slot = tn_ninth_slot(c, tn_ninth_name(c, target));
    tn_ninth_emit(c, keeps ? TN_NINTH_CODE_KEEP : TN_NINTH_CODE_BIND, slot, at);
    c->at++;
  } else if (target->kind == TN_NINTH_TOKEN_STATE) {
    tn_ninth_emit(c, keeps ? TN_NINTH_CODE_KEEP_STATE : TN_NINTH_CODE_BIND_STATE, tn_ninth_name(c, target),
                  at);
    c->at++;
  } else if (target->kind != TN_NINTH_TOKEN_BAD) {
    bool literal = target->kind == TN_NINTH_TOKEN_NUMBER || target->kind == TN_NINTH_TOKEN_STRING;
    tn_ninth_syntax(c->diags, literal ? at : tn_ninth_span(c, arrow), TN_NINTH_SYNTAX_ARROW);
    if (literal) c->at++;
  }
}

static void keep_maker(tn_ninth_compiler *c, const tn_ninth_maker *maker, tn_span at) {
  if (!tn_vec_push(c->heap, &c->program->makers, *maker))
    tn_ninth_no_memory(c);
  else
    tn_ninth_emit(c, TN_NINTH_CODE_MAKE, (uint32_t)c->program->makers.count - 1, at);
}

/* "{" name "}": an instance, or a block if the name is a variable when it runs. */
static void read_short_maker(tn_ninth_compiler *c, tn_span open) {
  const tn_ninth_token *name = tn_ninth_peek(c, 0);
  tn_ninth_maker maker = { .name = tn_ninth_name(c, name) };
  tn_span at = tn_span_join(open, tn_ninth_span(c, tn_ninth_peek(c, 1)));
  maker.slot = tn_ninth_slot(c, maker.name);
  if (c->stop || !begin_unit(c, TN_NINTH_UNIT_BLOCK, NULL)) return;
  c->writer->unit->text = at;
  tn_ninth_emit(c, TN_NINTH_CODE_READ, tn_ninth_slot(c, maker.name), tn_ninth_span(c, name));
  c->at++;
  maker.block = end_unit(c);
  c->at++;
  keep_maker(c, &maker, at);
}

/* The place after the closing brace, if it comes before anything that could open another or end something. */
static void skip_to_brace(tn_ninth_compiler *c) {
  size_t ahead = c->at;
  while (c->tokens[ahead].kind != TN_NINTH_TOKEN_END && c->tokens[ahead].kind != TN_NINTH_TOKEN_OPCODE &&
         c->tokens[ahead].kind != TN_NINTH_TOKEN_BLOCK_OPEN &&
         c->tokens[ahead].kind != TN_NINTH_TOKEN_BLOCK_CLOSE)
    ahead++;
  if (c->tokens[ahead].kind == TN_NINTH_TOKEN_BLOCK_CLOSE)
    c->at = ahead + 1;
  else
    c->lost[TN_NINTH_BRACE]++;
}

/* "{" name "[" key "->" number ... "]" "}" */
static void read_long_maker(tn_ninth_compiler *c, tn_span open) {
  tn_ninth_maker maker = { .name = tn_ninth_name(c, tn_ninth_peek(c, 0)) };
  c->at++;
  bool ok = tn_ninth_read_keys(c, &maker);
  tn_span end = tn_ninth_span(c, tn_ninth_peek(c, 0));
  if (next_is(c, 0, TN_NINTH_TOKEN_BLOCK_CLOSE))
    c->at++;
  else if (next_is(c, 0, TN_NINTH_TOKEN_END)) {
    c->program->open = true;
    if (ok) report_unpaired(c, TN_NINTH_BRACE, &(tn_ninth_token){ .start = open.start, .end = open.end });
    ok = false;
  } else if (ok) {
    ok = tn_ninth_syntax(c->diags, end, TN_NINTH_SYNTAX_KEYS_LAST);
    skip_to_brace(c);
  }
  if (ok) keep_maker(c, &maker, tn_span_join(open, end));
}

static void read_brace(tn_ninth_compiler *c, tn_span at) {
  bool name = next_is(c, 0, TN_NINTH_TOKEN_NAME);
  if (name && next_is(c, 1, TN_NINTH_TOKEN_BLOCK_CLOSE)) {
    read_short_maker(c, at);
  } else if (name && next_is(c, 1, TN_NINTH_TOKEN_SHAPE_OPEN) && next_is(c, 2, TN_NINTH_TOKEN_NAME) &&
             next_is(c, 3, TN_NINTH_TOKEN_ARROW)) {
    read_long_maker(c, at);
  } else if (open_block(c, TN_NINTH_BRACE)) {
    if (begin_unit(c, TN_NINTH_UNIT_BLOCK, NULL)) c->writer->unit->text = at;
  }
}

static void read_brace_end(tn_ninth_compiler *c, tn_span at) {
  if (!reaches(c, TN_NINTH_BRACE, TN_NINTH_BRACE)) return;
  c->open.count--;
  c->at--; /* the unit ends where the brace is */
  tn_ninth_unit *unit = end_unit(c);
  c->at++;
  unit->text = tn_span_join(unit->text, at);
  size_t number = c->program->units.count;
  while (number > 0 && c->program->units.at[number - 1] != unit) number--;
  tn_ninth_emit(c, TN_NINTH_CODE_BLOCK, (uint32_t)number - 1, unit->text);
}

/* ---- the whole text ---- */

static void read_number(tn_ninth_compiler *c, const tn_ninth_token *token, tn_span at) {
  float number = tn_ninth_number(tn_ninth_text(c, token));
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  tn_ninth_emit(c, TN_NINTH_CODE_NUMBER, bits, at);
}

static void read_literal(tn_ninth_compiler *c, const tn_ninth_token *token, tn_span at) {
  size_t errors = c->diags->errors;
  uint32_t before = here(c);
  if (token->kind == TN_NINTH_TOKEN_OPEN)
    tn_ninth_read_tensor(c);
  else
    tn_ninth_read_shape(c);
  c->flaws += c->diags->errors - errors;
  if (here(c) == before && !c->stop) tn_ninth_emit(c, TN_NINTH_CODE_FLAW, 0, at);
}

/* program := (number | string | name | @name | opcode | arrow | tensor | shape | block | maker)* */
static void read_token(tn_ninth_compiler *c) {
  const tn_ninth_token *token = tn_ninth_peek(c, 0);
  tn_span at = tn_ninth_span(c, token);
  if (!has_place(c, token)) {
    c->at++;
    return;
  }
  switch ((tn_ninth_token_kind)token->kind) {
    case TN_NINTH_TOKEN_OPEN:
    case TN_NINTH_TOKEN_SHAPE_OPEN: read_literal(c, token, at); return;
    default: c->at++; break;
  }
  switch ((tn_ninth_token_kind)token->kind) {
    case TN_NINTH_TOKEN_NUMBER: read_number(c, token, at); break;
    case TN_NINTH_TOKEN_NAME:
      tn_ninth_emit(c, TN_NINTH_CODE_READ, tn_ninth_slot(c, tn_ninth_name(c, token)), at);
      break;
    case TN_NINTH_TOKEN_STATE: tn_ninth_emit(c, TN_NINTH_CODE_READ_STATE, tn_ninth_name(c, token), at); break;
    case TN_NINTH_TOKEN_STRING: tn_ninth_emit(c, TN_NINTH_CODE_STRING, tn_ninth_name(c, token), at); break;
    case TN_NINTH_TOKEN_OPCODE: read_opcode(c, (tn_ninth_opcode)token->opcode, at); break;
    case TN_NINTH_TOKEN_ARROW:
    case TN_NINTH_TOKEN_KEEP: read_arrow(c, token); break;
    case TN_NINTH_TOKEN_BLOCK_OPEN: read_brace(c, at); break;
    case TN_NINTH_TOKEN_BLOCK_CLOSE: read_brace_end(c, at); break;
    case TN_NINTH_TOKEN_CLOSE: tn_ninth_syntax(c->diags, at, TN_NINTH_SYNTAX_NO_ROUND); break;
    case TN_NINTH_TOKEN_SHAPE_CLOSE: tn_ninth_syntax(c->diags, at, TN_NINTH_SYNTAX_NO_SQUARE); break;
    case TN_NINTH_TOKEN_COMMA:
      tn_ninth_syntax(c->diags, at, TN_NINTH_SYNTAX_COMMA);
      break;
    case TN_NINTH_TOKEN_BAD: tn_ninth_emit(c, TN_NINTH_CODE_FLAW, 0, at); break;
    default: break;
  }
}

static void read_all(tn_ninth_compiler *c, tn_ninth_scope *scope) {
  if (!begin_unit(c, TN_NINTH_UNIT_MAIN, scope)) return;
  c->program->main = c->writer->unit;
  if (!tn_vec_reserve(c->heap, &c->writer->code, c->token_count) ||
      !tn_vec_reserve(c->heap, &c->writer->at, c->token_count)) {
    tn_ninth_no_memory(c);
  }
  while (!c->stop && tn_ninth_peek(c, 0)->kind != TN_NINTH_TOKEN_END) read_token(c);
  if (!c->stop && c->open.count > 0) c->program->open = true;
  while (!c->stop && c->open.count > 0) give_up_last(c);
  while (c->writer) end_unit(c);
}

#define FIRST_BYTES 512 /* of a program's arena: a session may hold very many short ones */

static tn_ninth_program *new_program(tn_heap *heap, uint32_t file) {
  tn_ninth_program *program = tn_heap_alloc(heap, sizeof *program);
  if (!program) return NULL;
  program->heap = heap;
  program->file = file;
  tn_arena_init(&program->arena, heap);
  program->arena.first = FIRST_BYTES;
  return program;
}

void tn_ninth_program_free(tn_ninth_program *program) {
  if (!program) return;
  tn_heap *heap = program->heap;
  for (size_t i = 0; i < program->tensors.count; i++) tn_tensor_unref(&program->tensors.at[i]);
  tn_vec_free(heap, &program->tensors);
  tn_vec_free(heap, &program->units);
  tn_vec_free(heap, &program->shapes);
  tn_vec_free(heap, &program->makers);
  tn_vec_free(heap, &program->definitions);
  tn_vec_free(heap, &program->modules);
  tn_arena_free(&program->arena);
  tn_heap_free(heap, program, sizeof *program);
}

static tn_ninth_program *compile(tn_heap *heap, tn_names *names, tn_diags *diags, uint32_t file,
                                 tn_ninth_scope *scope, bool *open, bool flawed) {
  size_t errors = diags->errors;
  tn_ninth_tokens tokens = { 0 };
  tn_ninth_compiler c = { .heap = heap, .names = names, .diags = diags, .program = new_program(heap, file) };
  tn_phase before = tn_diags_enter(diags, TN_PHASE_PARSE);
  if (c.program && tn_ninth_lex(heap, diags, file, false, &tokens)) {
    c.text = tn_sources_get(diags->sources, file)->text;
    c.tokens = tokens.list.at;
    c.token_count = tokens.list.count;
    read_all(&c, scope);
    c.program->open |= tokens.open;
    if (open) *open = c.program->open;
  } else {
    c.out_of_memory = true;
  }
  tn_ninth_tokens_free(heap, &tokens);
  tn_vec_free(heap, &c.open);
  if (c.out_of_memory) tn_ninth_report_memory(heap, diags, TN_NOWHERE);
  tn_diags_enter(diags, before);
  size_t reported = diags->errors - errors;
  if (reported == 0 || (flawed && reported == tokens.flaws + c.flaws)) return c.program;
  tn_ninth_program_free(c.program);
  return NULL;
}

tn_ninth_program *tn_ninth_compile(tn_heap *heap, tn_names *names, tn_diags *diags, uint32_t file,
                                   tn_ninth_scope *scope, bool *open) {
  return compile(heap, names, diags, file, scope, open, false);
}

tn_ninth_program *tn_ninth_compile_flawed(tn_heap *heap, tn_names *names, tn_diags *diags, uint32_t file,
                                          tn_ninth_scope *scope) {
  return compile(heap, names, diags, file, scope, NULL, true);
}
