/* lang/ail/parser_app.c: parses state machines, state blocks and event handlers. */
#include "lang/ail/parser.h"

/* ---- state machines ---- */

static void pass_semicolons(tn_ail_parser *p) {
  while (tn_ail_accept(p, TN_AIL_TOKEN_SEMICOLON)) {
  }
}

/* transition = "on" name "->" name | "if" expr "->" name | "else" "->" name */
static bool parse_transition(tn_ail_parser *p, tn_ail_transition *out) {
  uint32_t start = p->token.start;
  *out = (tn_ail_transition){ .kind = TN_AIL_ELSE };
  p->rule = TN_AIL_RULE_TRANSITION;
  if (tn_ail_accept_word(p, TN_AIL_WORD_ON)) {
    out->kind = TN_AIL_ON;
    out->event = tn_ail_expect_name(p, "the name of an event after `on`", &out->event_at);
  } else if (tn_ail_accept_word(p, TN_AIL_WORD_IF)) {
    out->kind = TN_AIL_WHEN;
    out->condition = tn_ail_parse_expr(p);
  } else {
    tn_ail_advance(p);
  }
  if (!tn_ail_expect(p, TN_AIL_TOKEN_ARROW, "`->` and the state to go to")) return false;
  out->target = tn_ail_expect_name(p, "the name of a state after `->`", &out->target_at);
  out->at = tn_ail_span_from(p, start);
  return !p->panic;
}

static bool at_transition(const tn_ail_parser *p) {
  if (p->next.kind == TN_AIL_TOKEN_ASSIGN) return false;
  return tn_ail_at_word(p, TN_AIL_WORD_ON) || tn_ail_at_word(p, TN_AIL_WORD_IF) ||
         tn_ail_at_word(p, TN_AIL_WORD_ELSE);
}

/* One line of a state; the order of its parts is that of the grammar. */
static void parse_state_line(tn_ail_parser *p, tn_ail_state *state, size_t first_transition) {
  bool broken = p->tree->broken;
  tn_span at = tn_ail_token_span(p, &p->token);
  p->tree->broken = false;
  if (state->ends && !state->broken) tn_ail_syntax_error(p, at, "nothing follows `end` in a state");
  if (tn_ail_at_word(p, TN_AIL_WORD_END) && p->next.kind != TN_AIL_TOKEN_ASSIGN) {
    state->ends = true;
    state->end_at = at;
    tn_ail_advance(p);
    if (p->panic) tn_ail_recover(p);
  } else if (at_transition(p)) {
    tn_ail_transition transition;
    if (parse_transition(p, &transition))
      tn_ail_add(p, transitions, transition);
    else
      tn_ail_recover(p);
  } else {
    if (p->transitions.count > first_transition) {
      tn_ail_syntax_error(p, at, "the actions of a state precede its transitions");
      p->panic = p->tree->lost;
    }
    tn_ail_parse_statement(p, TN_AIL_IN_STATE);
  }
  state->broken = state->broken || p->tree->broken;
  p->tree->broken = p->tree->broken || broken;
  pass_semicolons(p);
}

/* Whether a state begins here: where another is still open, its } is missing. */
static bool at_state(const tn_ail_parser *p) {
  return p->token.starts_line && tn_ail_at_word(p, TN_AIL_WORD_STATE) && p->next.kind == TN_AIL_TOKEN_NAME;
}

static bool at_state_end(const tn_ail_parser *p) {
  return tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK) || tn_ail_at(p, TN_AIL_TOKEN_END) || tn_ail_at_item(p) ||
         at_state(p);
}

/* state = "state" name "{" { statement } { transition } [ "end" ] "}"
 * False when there is none: its first line was not understood. */
static bool parse_state(tn_ail_parser *p) {
  tn_ail_state state = { 0 };
  uint32_t start = p->statement = p->token.start;
  size_t first_statement = p->statements.count, first_transition = p->transitions.count;
  if (tn_ail_refuse_foreign(p)) return false;
  p->rule = TN_AIL_RULE_STATE_MACHINE;
  if (!tn_ail_expect_word(p, TN_AIL_WORD_STATE, "a state")) return false;
  state.name = tn_ail_expect_name(p, "the name of the state", &state.name_at);
  if (p->panic || !tn_ail_expect(p, TN_AIL_TOKEN_OPEN_BLOCK, "`{` after the name of the state")) {
    tn_ail_mark(p, state.name, TN_AIL_NAME_SKIPPED);
    return false;
  }
  if (!tn_ail_enter(p, "the state")) return false;
  pass_semicolons(p);
  while (!at_state_end(p)) {
    p->statement = p->token.start;
    parse_state_line(p, &state, first_transition);
  }
  state.body = tn_ail_take(p, statements, first_statement, &state.body_count);
  state.transitions = tn_ail_take(p, transitions, first_transition, &state.transition_count);
  state.close_at = tn_ail_token_span(p, &p->token);
  tn_ail_expect(p, TN_AIL_TOKEN_CLOSE_BLOCK, "`}` at the end of the state");
  p->panic = p->tree->lost; /* the next state begins here, whether or not the } was there */
  state.at = tn_ail_span_from(p, start);
  tn_ail_leave(p);
  tn_ail_add(p, states, state);
  return true;
}

/* Skips a state whose first line was not understood, with or without the { that it should have. */
static void recover_state(tn_ail_parser *p) {
  int blocks = 0;
  bool opened = false, first_line = true;
  for (; !tn_ail_at(p, TN_AIL_TOKEN_END); tn_ail_advance(p)) {
    if (first_line && p->token.starts_line && p->token.start != p->statement) {
      first_line = false;
      if (!opened) blocks++;
    }
    bool next = p->token.starts_line && blocks == 0;
    if (!first_line && (next || at_state(p) || tn_ail_at_item(p))) break;
    if (tn_ail_at(p, TN_AIL_TOKEN_OPEN_BLOCK)) blocks++, opened = true;
    if (tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK) && blocks-- <= 0) break;
    if (tn_ail_at(p, TN_AIL_TOKEN_NAME)) tn_ail_mark(p, tn_ail_name_of(p, &p->token), TN_AIL_NAME_SKIPPED);
  }
  p->panic = p->tree->lost;
}

/* machine = "state_machine" name "{" { state } "}" */
void tn_ail_parse_state_machine(tn_ail_parser *p) {
  tn_ail_state_machine *state_machine = tn_arena_new(p->arena, tn_ail_state_machine);
  uint32_t start = p->token.start;
  size_t first = p->states.count;
  if (!state_machine) {
    p->failed = true;
    return;
  }
  p->rule = TN_AIL_RULE_STATE_MACHINE;
  tn_ail_advance(p);
  state_machine->name = tn_ail_expect_name(p, "the name of the state machine", &state_machine->name_at);
  state_machine->keyword_at = tn_ail_span_from(p, start);
  bool opened = tn_ail_expect(p, TN_AIL_TOKEN_OPEN_BLOCK, "`{`");
  if ((!opened && !at_state(p)) || !tn_ail_enter(p, "the state machine")) return;
  uint32_t around = p->block;
  p->block = start + 1;
  p->panic = p->tree->lost; /* a missing name or { does not keep its states from being read */
  pass_semicolons(p);
  while (!tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK) && !tn_ail_at(p, TN_AIL_TOKEN_END) && !tn_ail_at_item(p)) {
    if (!parse_state(p)) {
      state_machine->broken = true;
      recover_state(p);
    }
    pass_semicolons(p);
  }
  p->block = around;
  state_machine->states = tn_ail_take(p, states, first, &state_machine->count);
  state_machine->close_at = tn_ail_token_span(p, &p->token);
  if (opened || tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK))
    tn_ail_expect(p, TN_AIL_TOKEN_CLOSE_BLOCK, "`}` at the end of the state machine");
  p->panic = p->tree->lost;
  state_machine->at = tn_ail_span_from(p, start);
  tn_ail_leave(p);
  tn_ail_item item = { .kind = TN_AIL_ITEM_STATE_MACHINE,
                       .at = state_machine->at,
                       .as.state_machine = state_machine };
  tn_ail_add(p, items, item);
}

/* ---- apps ---- */

/* variable = name ":" name [ "=" ( expr | list ) ] */
static bool parse_variable(tn_ail_parser *p) {
  tn_ail_variable variable = { 0 };
  uint32_t start = p->token.start;
  if (tn_ail_refuse_foreign(p)) return false;
  p->rule = TN_AIL_RULE_VARIABLE;
  variable.name = tn_ail_expect_name(p, "a variable", &variable.name_at);
  if (tn_ail_expect(p, TN_AIL_TOKEN_COLON, "`:` and the type of the variable"))
    variable.type = tn_ail_expect_name(p, "a type: int, float or tensor", &variable.type_at);
  if (!p->panic && tn_ail_accept(p, TN_AIL_TOKEN_ASSIGN)) variable.initial = tn_ail_parse_field_value(p);
  variable.at = tn_ail_span_from(p, start);
  if (p->panic) {
    tn_ail_mark(p, variable.name, TN_AIL_NAME_SKIPPED);
    return false;
  }
  tn_ail_add(p, variables, variable);
  return true;
}

/* A handler after a block that was not closed. */
static bool at_handler(const tn_ail_parser *p) {
  return p->token.starts_line && tn_ail_at_word(p, TN_AIL_WORD_ON) && p->next.kind == TN_AIL_TOKEN_NAME;
}

static void pass_separators(tn_ail_parser *p) {
  while (tn_ail_accept(p, TN_AIL_TOKEN_SEMICOLON) || tn_ail_accept(p, TN_AIL_TOKEN_COMMA)) {
  }
}

/* state = "state" "{" { variable } "}" */
void tn_ail_parse_state_block(tn_ail_parser *p) {
  tn_ail_variables *block = tn_arena_new(p->arena, tn_ail_variables);
  uint32_t start = p->token.start;
  size_t first = p->variables.count;
  if (!block) {
    p->failed = true;
    return;
  }
  block->keyword_at = tn_ail_token_span(p, &p->token);
  tn_ail_advance(p);
  tn_ail_advance(p); /* the { */
  if (!tn_ail_enter(p, "the block")) return;
  pass_separators(p);
  while (!tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK) && !tn_ail_at(p, TN_AIL_TOKEN_END) && !tn_ail_at_item(p) &&
         !at_handler(p)) {
    p->statement = p->token.start;
    if (!parse_variable(p)) tn_ail_recover(p);
    pass_separators(p);
  }
  block->variables = tn_ail_take(p, variables, first, &block->count);
  block->close_at = tn_ail_token_span(p, &p->token);
  tn_ail_expect(p, TN_AIL_TOKEN_CLOSE_BLOCK, "`}` at the end of the state block");
  block->at = tn_ail_span_from(p, start);
  tn_ail_leave(p);
  p->panic = p->tree->lost;
  tn_ail_item item = { .kind = TN_AIL_ITEM_STATE, .at = block->at, .as.variables = block };
  tn_ail_add(p, items, item);
}

/* handler = "on" name block */
void tn_ail_parse_handler(tn_ail_parser *p) {
  tn_ail_handler *handler = tn_arena_new(p->arena, tn_ail_handler);
  uint32_t start = p->token.start;
  if (!handler) {
    p->failed = true;
    return;
  }
  p->rule = TN_AIL_RULE_APP;
  tn_ail_advance(p);
  handler->event = tn_ail_expect_name(p, "the name of an event after `on`", &handler->event_at);
  if (!tn_ail_parse_block(p, TN_AIL_IN_HANDLER, start, &handler->body)) return;
  tn_ail_item item = { .kind = TN_AIL_ITEM_HANDLER, .at = handler->body.at, .as.handler = handler };
  tn_ail_add(p, items, item);
}
