/* lang/ail/format.c: formats programs.
 *
 * The tree is printed again: one statement per line, two blanks per level, one empty line between
 * blocks. Inside a block one empty line is kept where the author left some. Comments keep their
 * positions: beside the same code, or on separate lines before what followed them; a comment in the
 * middle of a statement moves in front of it. Lines are at most 100 columns if possible; a loop
 * over several lines stays so. */
#include <string.h>

#include "lang/ail/doors.h"

#include "base/utf8.h"
#include "lang/ail/ast.h"

#define LINE_WIDTH 100
#define INDENT     2

typedef struct {
  tn_host *host;
  tn_text *out;
  tn_text scratch;
  tn_str source;
  const tn_ail_comments *comments;
  size_t comment;      /* the next that is to be printed */
  uint32_t printed_to; /* how far the source has been printed */
  int indent;
  bool fresh; /* nothing is in this block yet */
  bool dataset; /* in its fields 0-3 is a range of columns, not a difference */
} formatter;

static void put(formatter *f, const char *text) { tn_text_puts(f->out, text); }
static void put_str(formatter *f, tn_str text) { tn_text_add(f->out, text); }
static void put_name(formatter *f, tn_name name) { put_str(f, tn_names_text(f->host->names, name)); }
static void put_indent(formatter *f) { tn_text_repeat(f->out, ' ', (size_t)f->indent); }

/* ---- lines and comments ---- */

static bool blank_between(const formatter *f, uint32_t from, uint32_t to) {
  int breaks = 0;
  for (uint32_t i = from; i < to && i < f->source.len && breaks < 2; i++) breaks += f->source.at[i] == '\n';
  return breaks >= 2;
}

static bool same_line(const formatter *f, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to && i < f->source.len; i++) {
    if (f->source.at[i] == '\n') return false;
  }
  return true;
}

static void put_comment(formatter *f, const tn_ail_comment *comment) {
  put_str(f, (tn_str){ f->source.at + comment->start, comment->end - comment->start });
  if (comment->end > f->printed_to) f->printed_to = comment->end;
}

/* An empty line, where the source has one or a block begins; never at the start of a block. */
static void separate(formatter *f, uint32_t start, bool *apart) {
  bool blank = *apart || blank_between(f, f->printed_to, start);
  if (blank && !f->fresh) put(f, "\n");
  *apart = false;
  f->fresh = false;
}

/* Comments that begin before `end`, each on a line of its own. */
static void put_comments(formatter *f, uint32_t end, bool *apart) {
  while (f->comment < f->comments->count && f->comments->at[f->comment].start < end) {
    const tn_ail_comment *comment = &f->comments->at[f->comment++];
    separate(f, comment->start, apart);
    put_indent(f);
    put_comment(f, comment);
    put(f, "\n");
  }
}

/* What spans start..end of the source is printed next, in one line or a few. */
static void begin_line(formatter *f, uint32_t start, uint32_t end, bool apart) {
  put_comments(f, start, &apart);
  if (end > start) put_comments(f, end, &apart);
  separate(f, start, &apart);
  put_indent(f);
  f->printed_to = start;
}

/* A comment that follows in the same line stays there. */
static void end_line(formatter *f, uint32_t end) {
  if (end > f->printed_to) f->printed_to = end;
  if (f->comment < f->comments->count) {
    const tn_ail_comment *comment = &f->comments->at[f->comment];
    if (!comment->starts_line && comment->start >= end && same_line(f, end, comment->start)) {
      f->comment++;
      put(f, "  ");
      put_comment(f, comment);
    }
  }
  put(f, "\n");
}

/* ---- expressions in one line ---- */

static void flat(formatter *f, const tn_ail_expr *expr, tn_text *out);

static const char *const signs[] = {
#define TN_OP(id, ...)         __VA_ARGS__
#define TN_AIL(...)            __VA_ARGS__
#define AIL_OPERATOR(id, text) [TN_AIL_##id] = " " text " ",
#include "op/ops.def"
  [TN_AIL_DIV] = " / ",
};

static void flat_string(tn_str text, tn_text *out) {
  tn_text_byte(out, '"');
  for (size_t i = 0; i < text.len; i++) {
    char byte = text.at[i];
    if (byte == '\n')
      tn_text_puts(out, "\\n");
    else if (byte == '\t')
      tn_text_puts(out, "\\t");
    else {
      if (byte == '"' || byte == '\\') tn_text_byte(out, '\\');
      tn_text_byte(out, byte);
    }
  }
  tn_text_byte(out, '"');
}

static void flat_key(formatter *f, const tn_ail_arg *arg, tn_text *out) {
  if (!arg->key) return;
  tn_text_add(out, tn_names_text(f->host->names, arg->key));
  tn_text_puts(out, "=");
}

static void flat_call(formatter *f, const tn_ail_call *call, tn_text *out) {
  tn_text_add(out, tn_names_text(f->host->names, call->name));
  tn_text_puts(out, "(");
  for (uint32_t i = 0; i < call->count; i++) {
    if (i) tn_text_puts(out, ", ");
    flat_key(f, &call->args[i], out);
    flat(f, call->args[i].value, out);
  }
  tn_text_puts(out, ")");
}

static void flat_chain(formatter *f, const tn_ail_chain *chain, tn_text *out) {
  bool range = f->dataset && chain->count == 1 && chain->links[0].op == TN_AIL_SUB &&
               chain->first->form == TN_AIL_EXPR_NUMBER && chain->links[0].right->form == TN_AIL_EXPR_NUMBER;
  flat(f, chain->first, out);
  for (uint32_t i = 0; i < chain->count; i++) {
    tn_text_puts(out, range ? "-" : signs[chain->links[i].op]);
    flat(f, chain->links[i].right, out);
  }
}

static void flat_if(formatter *f, const tn_ail_if *branch, tn_text *out) {
  for (uint32_t i = 0; i < branch->count; i++) {
    tn_text_puts(out, "if ");
    flat(f, branch->arms[i].condition, out);
    tn_text_puts(out, " then ");
    flat(f, branch->arms[i].value, out);
    tn_text_puts(out, " else ");
  }
  flat(f, branch->otherwise, out);
}

static void flat_range(formatter *f, const tn_ail_loop *loop, tn_text *out) {
  tn_text_puts(out, "range(");
  flat(f, loop->from, out);
  tn_text_puts(out, ", ");
  flat(f, loop->to, out);
  tn_text_puts(out, ")");
}

/* Up to and with `do`. */
static void flat_head(formatter *f, const tn_ail_expr *expr, tn_text *out) {
  const tn_ail_loop *loop = expr->as.loop;
  if (expr->form == TN_AIL_EXPR_FOR) {
    tn_text_puts(out, "for ");
    tn_text_add(out, tn_names_text(f->host->names, loop->variable));
    tn_text_puts(out, " in ");
    flat_range(f, loop, out);
  } else if (expr->form == TN_AIL_EXPR_REDUCE) {
    tn_text_puts(out, "reduce ");
    tn_text_add(out, tn_names_text(f->host->names, loop->op));
    tn_text_puts(out, " over ");
    flat_range(f, loop, out);
  } else {
    tn_text_puts(out, "repeat ");
    flat(f, loop->times, out);
    tn_text_puts(out, " times");
    if (loop->init) tn_text_puts(out, " init "), flat(f, loop->init, out);
  }
  tn_text_puts(out, " do");
}

/* repeat 4 block(x) */
static void flat_short(formatter *f, const tn_ail_loop *loop, tn_text *out) {
  tn_text_puts(out, "repeat ");
  flat(f, loop->times, out);
  tn_text_puts(out, " ");
}

static void flat_loop(formatter *f, const tn_ail_expr *expr, tn_text *out) {
  if (expr->as.loop->is_short) {
    flat_short(f, expr->as.loop, out);
    flat(f, expr->as.loop->body, out);
    return;
  }
  flat_head(f, expr, out);
  if (expr->as.loop->body) tn_text_puts(out, " "), flat(f, expr->as.loop->body, out);
  tn_text_puts(out, " end");
}

static void flat_unary(formatter *f, const tn_ail_expr *expr, tn_text *out) {
  const char *sign = expr->form == TN_AIL_EXPR_NOT ? "not " : "-";
  for (uint32_t i = 0; i < expr->as.unary.count; i++) tn_text_puts(out, sign);
  flat(f, expr->as.unary.of, out);
}

static void flat_list(formatter *f, const tn_ail_expr *expr, tn_text *out) {
  tn_text_puts(out, "[");
  for (uint32_t i = 0; i < expr->as.list.count; i++) {
    if (i) tn_text_puts(out, ", ");
    flat(f, expr->as.list.items[i], out);
  }
  tn_text_puts(out, "]");
}

static void flat_reference(const tn_ail_expr *expr, tn_text *out) {
  tn_text_puts(out, "@");
  if (expr->as.reference < 0)
    tn_text_puts(out, "last");
  else
    tn_text_int(out, expr->as.reference);
}

static void flat_inner(formatter *f, const tn_ail_expr *expr, tn_text *out) {
  switch (expr->form) {
    case TN_AIL_EXPR_NUMBER:
      tn_text_add(
          out, (tn_str){ f->source.at + expr->as.number.start, expr->as.number.end - expr->as.number.start });
      break;
    case TN_AIL_EXPR_STRING: flat_string(expr->as.text, out); break;
    case TN_AIL_EXPR_BOOL: tn_text_puts(out, expr->as.truth ? "true" : "false"); break;
    case TN_AIL_EXPR_NAME: tn_text_add(out, tn_names_text(f->host->names, expr->as.name)); break;
    case TN_AIL_EXPR_CALL: flat_call(f, expr->as.call, out); break;
    case TN_AIL_EXPR_CHAIN: flat_chain(f, expr->as.chain, out); break;
    case TN_AIL_EXPR_NEGATE:
    case TN_AIL_EXPR_NOT: flat_unary(f, expr, out); break;
    case TN_AIL_EXPR_IF: flat_if(f, expr->as.branch, out); break;
    case TN_AIL_EXPR_FOR:
    case TN_AIL_EXPR_REPEAT:
    case TN_AIL_EXPR_REDUCE: flat_loop(f, expr, out); break;
    case TN_AIL_EXPR_LIST: flat_list(f, expr, out); break;
    case TN_AIL_EXPR_REFERENCE: flat_reference(expr, out); break;
  }
}

static void flat(formatter *f, const tn_ail_expr *expr, tn_text *out) {
  if (!tn_text_room(out)) return;
  if (expr->grouped) tn_text_puts(out, "(");
  flat_inner(f, expr, out);
  if (expr->grouped) tn_text_puts(out, ")");
}

/* ---- expressions over several lines ---- */

/* Whether a loop in it spans more than one line, and so stays.
 * recursion: expressions in each other, TN_AIL_NESTING_LIMIT deep. */
static bool has_spread_loop(const formatter *f, const tn_ail_expr *expr) {
  switch (expr->form) {
    case TN_AIL_EXPR_FOR:
    case TN_AIL_EXPR_REPEAT:
    case TN_AIL_EXPR_REDUCE:
      if (expr->as.loop->is_short) return has_spread_loop(f, expr->as.loop->body);
      return !same_line(f, expr->at.start, expr->at.end);
    case TN_AIL_EXPR_NEGATE:
    case TN_AIL_EXPR_NOT: return has_spread_loop(f, expr->as.unary.of);
    case TN_AIL_EXPR_CALL:
      for (uint32_t i = 0; i < expr->as.call->count; i++) {
        if (has_spread_loop(f, expr->as.call->args[i].value)) return true;
      }
      return false;
    case TN_AIL_EXPR_CHAIN:
      for (uint32_t i = 0; i < expr->as.chain->count; i++) {
        if (has_spread_loop(f, expr->as.chain->links[i].right)) return true;
      }
      return has_spread_loop(f, expr->as.chain->first);
    case TN_AIL_EXPR_IF:
      for (uint32_t i = 0; i < expr->as.branch->count; i++) {
        const tn_ail_arm *arm = &expr->as.branch->arms[i];
        if (has_spread_loop(f, arm->condition) || has_spread_loop(f, arm->value)) return true;
      }
      return has_spread_loop(f, expr->as.branch->otherwise);
    default: return false;
  }
}

static size_t column(const formatter *f) {
  tn_str text = tn_text_str(f->out);
  size_t start = text.len;
  while (start > 0 && text.at[start - 1] != '\n') start--;
  return tn_utf8_count((tn_str){ text.at + start, text.len - start });
}

/* In one line if it fits; else false, and nothing is printed. */
static bool put_flat(formatter *f, const tn_ail_expr *expr) {
  if (has_spread_loop(f, expr)) return false;
  tn_text_clear(&f->scratch);
  flat(f, expr, &f->scratch);
  tn_str text = tn_text_str(&f->scratch);
  if (column(f) + tn_utf8_count(text) > LINE_WIDTH) return false;
  put_str(f, text);
  return true;
}

static void put_expr(formatter *f, const tn_ail_expr *expr);

static void next_line(formatter *f) {
  put(f, "\n");
  put_indent(f);
}

static void spread_items(formatter *f, const tn_ail_arg *args, tn_ail_expr **items, uint32_t count) {
  f->indent += INDENT;
  for (uint32_t i = 0; i < count; i++) {
    next_line(f);
    if (args) flat_key(f, &args[i], f->out);
    put_expr(f, args ? args[i].value : items[i]);
    if (i + 1 < count) put(f, ",");
  }
  f->indent -= INDENT;
  next_line(f);
}

/* Lines end with the operator, so that the next one cannot be taken for a statement. */
static void spread_chain(formatter *f, const tn_ail_chain *chain) {
  put_expr(f, chain->first);
  f->indent += INDENT;
  for (uint32_t i = 0; i < chain->count; i++) {
    tn_str sign = tn_str_of(signs[chain->links[i].op]);
    put_str(f, (tn_str){ sign.at, sign.len - 1 });
    next_line(f);
    put_expr(f, chain->links[i].right);
  }
  f->indent -= INDENT;
}

static void spread_if(formatter *f, const tn_ail_if *branch) {
  f->indent += INDENT;
  for (uint32_t i = 0; i < branch->count; i++) {
    put(f, "if ");
    put_expr(f, branch->arms[i].condition);
    next_line(f);
    put(f, "then ");
    put_expr(f, branch->arms[i].value);
    next_line(f);
    put(f, "else ");
  }
  put_expr(f, branch->otherwise);
  f->indent -= INDENT;
}

static void spread_loop(formatter *f, const tn_ail_expr *expr) {
  if (expr->as.loop->is_short) {
    flat_short(f, expr->as.loop, f->out);
    put_expr(f, expr->as.loop->body);
    return;
  }
  flat_head(f, expr, f->out);
  f->indent += INDENT;
  if (expr->as.loop->body) next_line(f), put_expr(f, expr->as.loop->body);
  f->indent -= INDENT;
  next_line(f);
  put(f, "end");
}

static void spread(formatter *f, const tn_ail_expr *expr) {
  switch (expr->form) {
    case TN_AIL_EXPR_CALL:
      put_name(f, expr->as.call->name);
      put(f, "(");
      spread_items(f, expr->as.call->args, NULL, expr->as.call->count);
      put(f, ")");
      break;
    case TN_AIL_EXPR_LIST:
      put(f, "[");
      spread_items(f, NULL, expr->as.list.items, expr->as.list.count);
      put(f, "]");
      break;
    case TN_AIL_EXPR_CHAIN: spread_chain(f, expr->as.chain); break;
    case TN_AIL_EXPR_IF: spread_if(f, expr->as.branch); break;
    case TN_AIL_EXPR_FOR:
    case TN_AIL_EXPR_REPEAT:
    case TN_AIL_EXPR_REDUCE: spread_loop(f, expr); break;
    case TN_AIL_EXPR_NEGATE:
    case TN_AIL_EXPR_NOT:
      for (uint32_t i = 0; i < expr->as.unary.count; i++)
        put(f, expr->form == TN_AIL_EXPR_NOT ? "not " : "-");
      put_expr(f, expr->as.unary.of);
      break;
    default: flat_inner(f, expr, f->out); break;
  }
}

static bool can_spread(const tn_ail_expr *expr) {
  if (expr->form == TN_AIL_EXPR_CALL) return expr->as.call->count > 0;
  if (expr->form == TN_AIL_EXPR_LIST) return expr->as.list.count > 0;
  return true;
}

static void put_expr(formatter *f, const tn_ail_expr *expr) {
  if (!tn_text_room(f->out)) return;
  if (put_flat(f, expr)) return;
  if (!can_spread(expr)) {
    flat(f, expr, f->out);
    return;
  }
  if (expr->grouped) put(f, "(");
  spread(f, expr);
  if (expr->grouped) put(f, ")");
}

/* ---- statements ---- */

static void put_shape(formatter *f, const tn_ail_statement *statement) {
  put(f, "[");
  for (uint32_t i = 0; i < statement->rank; i++) {
    const tn_ail_dim *dim = &statement->dims[i];
    if (i) put(f, ", ");
    if (dim->value)
      flat(f, dim->value, f->out);
    else if (dim->name)
      put_name(f, dim->name);
    else
      tn_text_int(f->out, dim->length);
  }
  put(f, "]");
}

static void put_assignment(formatter *f, const char *before, const tn_ail_statement *statement) {
  put(f, before);
  put_name(f, statement->name);
  put(f, " = ");
  put_expr(f, statement->value);
}

static void put_statement(formatter *f, const tn_ail_statement *statement) {
  switch (statement->kind) {
    case TN_AIL_INPUT:
      if (statement->keyword) put(f, "input ");
      put_name(f, statement->name);
      put(f, statement->keyword ? ": " : " ");
      put_shape(f, statement);
      break;
    case TN_AIL_PARAM:
      put(f, "param ");
      put_name(f, statement->name);
      put(f, " ");
      put_shape(f, statement);
      if (statement->init) put(f, " init "), flat(f, statement->init, f->out);
      break;
    case TN_AIL_CONSTANT: put_assignment(f, "const ", statement); break;
    case TN_AIL_ASSIGN: put_assignment(f, "", statement); break;
    case TN_AIL_LET: put_assignment(f, "let ", statement); break;
    case TN_AIL_RETURN: put(f, "return "), put_expr(f, statement->value); break;
    case TN_AIL_VALUE: put_expr(f, statement->value); break;
    default: /* emit: nothing else is left of a text without mistakes */
      put(f, "emit ");
      if (statement->value)
        put_expr(f, statement->value);
      else
        put_name(f, statement->name);
      break;
  }
}

static void put_line(formatter *f, const tn_ail_statement *statement) {
  begin_line(f, statement->at.start, statement->at.end, false);
  put_statement(f, statement);
  end_line(f, statement->at.end);
}

/* ---- blocks ---- */

/* The position of a block's {, which no node records: the first after its head. */
static uint32_t after_brace(const formatter *f, uint32_t from) {
  size_t comment = f->comment;
  for (uint32_t i = from; i < f->source.len; i++) {
    while (comment < f->comments->count && f->comments->at[comment].end <= i) comment++;
    bool inside = comment < f->comments->count && f->comments->at[comment].start <= i;
    if (f->source.at[i] == '{' && !inside) return i + 1;
  }
  return from;
}

static void open_block(formatter *f, uint32_t from) {
  put(f, " {");
  end_line(f, after_brace(f, from));
  f->indent += INDENT;
  f->fresh = true;
}

static void close_block(formatter *f, tn_span close) {
  bool apart = false;
  put_comments(f, close.start, &apart);
  f->indent -= INDENT;
  f->fresh = false;
  put_indent(f);
  put(f, "}");
  end_line(f, close.end);
}

static void put_statements(formatter *f, const tn_ail_statement *statements, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) put_line(f, &statements[i]);
}

static void put_function(formatter *f, const tn_ail_function *function) {
  put(f, function->is_layer ? "layer " : "fn ");
  put_name(f, function->name);
  put(f, "(");
  for (uint32_t i = 0; i < function->param_count; i++) {
    if (i) put(f, ", ");
    put_name(f, function->params[i].name);
  }
  put(f, ")");
  uint32_t head = function->name_at.end;
  if (function->param_count > 0) head = function->params[function->param_count - 1].at.end;
  open_block(f, head);
  put_statements(f, function->body.statements, function->body.count);
  close_block(f, function->body.close_at);
}

static void put_block(formatter *f, const char *keyword, const tn_ail_block *block) {
  put(f, keyword);
  open_block(f, block->keyword_at.end);
  put_statements(f, block->statements, block->count);
  close_block(f, block->close_at);
}

static void put_field(formatter *f, const tn_ail_field *field) {
  begin_line(f, field->at.start, field->at.end, false);
  switch (field->kind) {
    case TN_AIL_FIELD_MAP: put(f, "map "); break;
    case TN_AIL_FIELD_FILTER: put(f, "filter "); break;
    case TN_AIL_FIELD_BATCH: put(f, "batch "); break;
    default:
      put_name(f, field->name);
      put(f, " = ");
      break;
  }
  put_expr(f, field->value);
  end_line(f, field->at.end);
}

static void put_fields(formatter *f, const char *keyword, const tn_ail_fields *fields) {
  put(f, fields->short_word ? "data" : keyword);
  open_block(f, fields->keyword_at.end);
  f->dataset = strcmp(keyword, "dataset") == 0;
  for (uint32_t i = 0; i < fields->count; i++) put_field(f, &fields->fields[i]);
  f->dataset = false;
  close_block(f, fields->close_at);
}

/* ---- state machines and apps ---- */

static void put_transition(formatter *f, const tn_ail_transition *transition) {
  begin_line(f, transition->at.start, transition->at.end, false);
  if (transition->kind == TN_AIL_ON) {
    put(f, "on ");
    put_name(f, transition->event);
  } else if (transition->kind == TN_AIL_WHEN) {
    put(f, "if ");
    put_expr(f, transition->condition);
  } else {
    put(f, "else");
  }
  put(f, " -> ");
  put_name(f, transition->target);
  end_line(f, transition->at.end);
}

static void put_state(formatter *f, const tn_ail_state *state, bool apart) {
  begin_line(f, state->at.start, 0, apart);
  put(f, "state ");
  put_name(f, state->name);
  open_block(f, state->name_at.end);
  put_statements(f, state->body, state->body_count);
  for (uint32_t i = 0; i < state->transition_count; i++) put_transition(f, &state->transitions[i]);
  if (state->ends) {
    begin_line(f, state->end_at.start, state->end_at.end, false);
    put(f, "end");
    end_line(f, state->end_at.end);
  }
  close_block(f, state->close_at);
}

static void put_state_machine(formatter *f, const tn_ail_state_machine *state_machine) {
  put(f, "state_machine ");
  put_name(f, state_machine->name);
  open_block(f, state_machine->name_at.end);
  for (uint32_t i = 0; i < state_machine->count; i++) put_state(f, &state_machine->states[i], i > 0);
  close_block(f, state_machine->close_at);
}

static void put_variables(formatter *f, const tn_ail_variables *block) {
  put(f, "state");
  open_block(f, block->keyword_at.end);
  for (uint32_t i = 0; i < block->count; i++) {
    const tn_ail_variable *variable = &block->variables[i];
    begin_line(f, variable->at.start, variable->at.end, false);
    put_name(f, variable->name);
    put(f, ": ");
    put_name(f, variable->type);
    if (variable->initial) put(f, " = "), put_expr(f, variable->initial);
    end_line(f, variable->at.end);
  }
  close_block(f, block->close_at);
}

static void put_handler(formatter *f, const tn_ail_handler *handler) {
  put(f, "on ");
  put_name(f, handler->event);
  open_block(f, handler->event_at.end);
  put_statements(f, handler->body.statements, handler->body.count);
  close_block(f, handler->body.close_at);
}

/* ---- the whole ---- */

static bool is_line(tn_ail_item_kind kind) {
  return kind == TN_AIL_ITEM_CONST || kind == TN_AIL_ITEM_DECLARATION;
}

static void put_item(formatter *f, const tn_ail_item *item) {
  switch (item->kind) {
    case TN_AIL_ITEM_CONST:
    case TN_AIL_ITEM_DECLARATION:
      put_statement(f, item->as.statement);
      end_line(f, item->at.end);
      break;
    case TN_AIL_ITEM_FUNCTION: put_function(f, item->as.function); break;
    case TN_AIL_ITEM_MODEL: put_block(f, "model", item->as.block); break;
    case TN_AIL_ITEM_FORWARD: put_block(f, "forward", item->as.block); break;
    case TN_AIL_ITEM_LOSS: put_block(f, "loss", item->as.block); break;
    case TN_AIL_ITEM_TRAIN: put_fields(f, "train", item->as.fields); break;
    case TN_AIL_ITEM_EVAL: put_fields(f, "eval", item->as.fields); break;
    case TN_AIL_ITEM_DATASET: put_fields(f, "dataset", item->as.fields); break;
    case TN_AIL_ITEM_STATE_MACHINE: put_state_machine(f, item->as.state_machine); break;
    case TN_AIL_ITEM_STATE: put_variables(f, item->as.variables); break;
    case TN_AIL_ITEM_HANDLER: put_handler(f, item->as.handler); break;
    default: /* the beginning of an app; its end is put_items' */
      put(f, "app ");
      put_name(f, item->as.app);
      put(f, " {");
      end_line(f, item->at.end);
      f->indent += INDENT;
      f->fresh = true;
      break;
  }
}

static void put_items(formatter *f, const tn_ail_tree *tree) {
  for (size_t i = 0; i < tree->count; i++) {
    const tn_ail_item *item = &tree->items[i];
    if (item->kind == TN_AIL_ITEM_APP_END) {
      close_block(f, item->at);
      continue;
    }
    bool apart = i > 0 && !(is_line(item->kind) && is_line(tree->items[i - 1].kind));
    begin_line(f, item->at.start, is_line(item->kind) ? item->at.end : 0, apart);
    put_item(f, item);
  }
  bool apart = false;
  put_comments(f, UINT32_MAX, &apart);
}

bool tn_lang_ail_format(tn_unit *unit, tn_text *out) {
  tn_host *host = unit->host;
  uint32_t file = unit->file;
  tn_arena arena;
  tn_ail_tree tree;
  tn_ail_comments comments = { 0 };
  size_t errors = host->diags->errors;
  tn_arena_init(&arena, host->heap);
  bool read = tn_ail_parse(host, file, &arena, &comments, &tree);
  bool ok = read && host->diags->errors == errors;
  if (ok) {
    formatter f = { .host = host, .out = out, .comments = &comments, .fresh = true };
    f.source = tn_sources_get(host->sources, file)->text;
    tn_text_init(&f.scratch, host->heap);
    put_items(&f, &tree);
    ok = read = !f.scratch.failed && !out->failed;
    tn_text_free(&f.scratch);
  }
  if (!read) {
    tn_fault fault = { .kind = TN_FAULT_MEMORY };
    if (host->report_fault)
      host->report_fault(host, &fault);
    else
      tn_fault_report(&fault, host->names, host->diags);
  }
  tn_map_free(&tree.marks);
  tn_vec_free(host->heap, &comments);
  tn_arena_free(&arena);
  return ok;
}
