/* graph/parse.c: parses the text form of a graph.
 *
 * Recursive descent over the form in graph.h; the grammar is above each function. Nodes are created
 * by the graph builder, so a text cannot make a graph that a front end could not, and `: type` is
 * only checked. */
#include "graph/parse.h"
#include "base/map.h"
#include "tensor/shape_field.h"

/* ---- tokens ---- */

static bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '+' || c == '-';
}

static char peek(const tn_graph_parser *p, size_t at) { return at < p->text.len ? p->text.at[at] : 0; }

static size_t skip_blanks(const tn_graph_parser *p, size_t at) {
  for (;;) {
    char c = peek(p, at);
    if (at < p->text.len && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) {
      at++;
    } else if (c == '/' && peek(p, at + 1) == '/') {
      while (at < p->text.len && p->text.at[at] != '\n') at++;
    } else {
      return at;
    }
  }
}

static size_t word_end(const tn_graph_parser *p, size_t at) {
  while (at < p->text.len && is_word_byte(p->text.at[at])) at++;
  return at;
}

/* After the closing quote, or 0 when there is none on this line. */
static size_t string_end(const tn_graph_parser *p, size_t at) {
  for (; at < p->text.len && p->text.at[at] != '\n'; at++) {
    if (p->text.at[at] == '"') return at + 1;
    if (p->text.at[at] == '\\') at++;
  }
  return 0;
}

static tn_token_kind kind_at(const tn_graph_parser *p, size_t start, size_t *end) {
  char c = peek(p, start);
  *end = start + 1;
  if (start >= p->text.len) {
    *end = start;
    return TN_TOKEN_END;
  }
  if (is_word_byte(c)) {
    *end = word_end(p, start);
    return TN_TOKEN_WORD;
  }
  switch (c) {
    case '%': *end = word_end(p, start + 1); return *end > start + 1 ? TN_TOKEN_VALUE : TN_TOKEN_WRONG;
    case '"': {
      size_t after = string_end(p, start + 1);
      if (after) *end = after;
      return after ? TN_TOKEN_STRING : TN_TOKEN_WRONG;
    }
    case '(':
    case ')':
    case '{':
    case '}':
    case '[':
    case ']':
    case ',':
    case ':':
    case '=':
    case '?': return TN_TOKEN_MARK;
    default: return TN_TOKEN_WRONG;
  }
}

void tn_parser_advance(tn_graph_parser *p) {
  size_t start = skip_blanks(p, p->at), end;
  tn_token_kind kind = kind_at(p, start, &end);
  size_t from = start + (kind == TN_TOKEN_VALUE || kind == TN_TOKEN_STRING ? 1 : 0);
  size_t to = end - (kind == TN_TOKEN_STRING ? 1 : 0);
  p->last = p->token;
  p->token =
      (tn_token){ kind, { p->text.at + from, to - from }, { p->file, (uint32_t)start, (uint32_t)end } };
  p->at = end;
}

bool tn_parser_fail(tn_graph_parser *p, tn_span at, const char *message) {
  if (p->failed) return false;
  p->failed = true;
  tn_place place = tn_place_of(p->diags->sources, p->file, at.start);
  return tn_report(p->diags, TN_DIAG_E_GRAPH_SYNTAX, at, TN_INT("line", place.line),
                   TN_STR("message", message));
}

bool tn_parser_no_memory(tn_graph_parser *p) {
  if (!p->failed) tn_report_plain(p->diags, TN_DIAG_E_OUT_OF_MEMORY, p->token.at);
  p->failed = true;
  return false;
}

bool tn_parser_is(const tn_graph_parser *p, char mark) {
  return p->token.kind == TN_TOKEN_MARK && p->token.text.at[0] == mark;
}

bool tn_parser_is_word(const tn_graph_parser *p, const char *word) {
  return p->token.kind == TN_TOKEN_WORD && tn_str_is(p->token.text, word);
}

bool tn_parser_take(tn_graph_parser *p, char mark) {
  bool found = tn_parser_is(p, mark);
  if (found) tn_parser_advance(p);
  return found;
}

bool tn_parser_take_word(tn_graph_parser *p, const char *word) {
  bool found = tn_parser_is_word(p, word);
  if (found) tn_parser_advance(p);
  return found;
}

bool tn_parser_expect(tn_graph_parser *p, char mark, const char *message) {
  return tn_parser_take(p, mark) || tn_parser_fail(p, p->token.at, message);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* escape = "\" ( "\" | """ | "x" hex hex ) ; *at is after the backslash */
static bool unescape(tn_str text, size_t *at, char *out) {
  char c = text.at[(*at)++];
  *out = c;
  if (c == '"' || c == '\\') return true;
  if (c != 'x' || *at + 2 > text.len) return false;
  int high = hex_digit(text.at[*at]), low = hex_digit(text.at[*at + 1]);
  *at += 2;
  *out = (char)(high * 16 + low);
  return high >= 0 && low >= 0;
}

tn_name tn_parser_string(tn_graph_parser *p, tn_token token) {
  tn_text plain;
  tn_name name = 0;
  bool ok = true;
  tn_text_init(&plain, p->heap);
  for (size_t i = 0; ok && i < token.text.len;) {
    char c = token.text.at[i++];
    if (c == '\\') ok = i < token.text.len && unescape(token.text, &i, &c);
    tn_text_byte(&plain, c);
  }
  if (ok && plain.len == 0 && !plain.failed) ok = false;
  if (!ok)
    tn_parser_fail(p, token.at, "a text has at least one byte, and the escapes \\\\ \\\" \\xNN");
  else if (plain.failed)
    tn_parser_no_memory(p);
  else if ((name = tn_names_intern(p->names, tn_text_str(&plain))) == 0)
    tn_parser_no_memory(p);
  tn_text_free(&plain);
  return name;
}

/* ---- values ---- */

typedef struct {
  tn_graph_parser base;
  tn_names *labels;          /* a table of its own: labels are no names of the program */
  tn_map values;             /* label -> value */
  tn_vec(tn_value) operands; /* of the statement being read */
  int depth;
} parser;

static bool define(parser *p, tn_token label, tn_value value) {
  tn_name name = tn_names_intern(p->labels, label.text);
  if (name == 0) return tn_parser_no_memory(&p->base);
  if (tn_map_get(&p->values, name)) return tn_parser_fail(&p->base, label.at, "a second value of this label");
  return tn_map_put(&p->values, name, value) || tn_parser_no_memory(&p->base);
}

/* A value is visible in its block and in the branches after it. */
static bool in_sight(const parser *p, tn_value value) {
  const tn_graph *graph = p->base.builder.graph;
  uint32_t region = tn_graph_node(graph, value)->region, from = p->base.builder.region;
  while (graph->regions.at[from].depth > graph->regions.at[region].depth)
    from = graph->regions.at[from].parent;
  return from == region;
}

static bool read_value(parser *p, tn_value *out) {
  tn_token token = p->base.token;
  if (token.kind != TN_TOKEN_VALUE) return tn_parser_fail(&p->base, token.at, "a value is expected here: %x");
  tn_name name = tn_names_find(p->labels, token.text);
  const uint64_t *found = name ? tn_map_get(&p->values, name) : NULL;
  if (!found) return tn_parser_fail(&p->base, token.at, "there is no value of this label before");
  *out = (tn_value)*found;
  if (!in_sight(p, *out)) return tn_parser_fail(&p->base, token.at, "the value belongs to another branch");
  tn_parser_advance(&p->base);
  return true;
}

/* values = [ value { "," value } ] , appended to p->operands */
static bool read_values(parser *p) {
  tn_value value;
  if (p->base.token.kind != TN_TOKEN_VALUE) return true;
  do {
    if (!read_value(p, &value)) return false;
    if (!tn_vec_push(p->base.heap, &p->operands, value)) return tn_parser_no_memory(&p->base);
  } while (tn_parser_take(&p->base, ','));
  return true;
}

/* Reports what the builder could not do; what uses the result is then left alone. */
static void settle_fault(parser *p) {
  tn_builder *builder = &p->base.builder.base;
  if (tn_build_ok(builder)) return;
  p->base.errors++;
  if (builder->fault.kind == TN_FAULT_MEMORY) p->base.failed = true;
  if (p->base.builder.graph->nodes.count == TN_NODE_LIMIT) p->base.failed = true;
  tn_fault_report(&builder->fault, p->base.names, p->base.diags);
  tn_build_forget(builder);
}

/* ---- operations ---- */

/* step = "r" number "=" op [ "r" number { "," "r" number } ] [ number ] ":" dtype */
static bool read_register(parser *p, int limit, uint8_t *out) {
  tn_token token = p->base.token;
  int number = 0;
  bool ok =
      token.kind == TN_TOKEN_WORD && token.text.len > 1 && token.text.len < 4 && token.text.at[0] == 'r';
  for (size_t i = 1; ok && i < token.text.len; i++) {
    ok = token.text.at[i] >= '0' && token.text.at[i] <= '9';
    number = number * 10 + (token.text.at[i] - '0');
  }
  if (!ok || number >= limit)
    return tn_parser_fail(&p->base, token.at, "a register that is written is expected here: r0");
  *out = (uint8_t)number;
  tn_parser_advance(&p->base);
  return true;
}

static bool read_op(parser *p, tn_op *out) {
  tn_token token = p->base.token;
  *out = token.kind == TN_TOKEN_WORD ? tn_op_find(token.text) : TN_OP_ERROR;
  if (*out == TN_OP_ERROR)
    return tn_parser_fail(&p->base, token.at, "the name of an operation is expected here");
  tn_parser_advance(&p->base);
  return true;
}

static bool read_step(parser *p, int registers, tn_fused_step *step) {
  uint8_t target;
  tn_span at = p->base.token.at;
  if (!read_register(p, registers + 1, &target)) return false;
  if (target != registers) return tn_parser_fail(&p->base, at, "steps write registers in order");
  if (!tn_parser_expect(&p->base, '=', "= is expected here") || !read_op(p, &step->op)) return false;
  int arity = tn_fused_step_arity(step->op);
  if (arity < 0 || arity > 3) return tn_parser_fail(&p->base, at, "a step is an elementwise operation");
  for (int i = 0; i < arity; i++) {
    if (i > 0 && !tn_parser_expect(&p->base, ',', "a comma is expected here")) return false;
    if (!read_register(p, registers, &step->in[i])) return false;
  }
  if (step->op == TN_OP_FILL && !tn_parser_number(&p->base, &step->number)) return false;
  return tn_parser_expect(&p->base, ':', "the dtype of the step is expected here") &&
         tn_parser_dtype(&p->base, &step->dtype);
}

/* program = "program" "{" { step } "}" */
static bool read_program(parser *p, tn_fused *program) {
  const tn_graph *graph = p->base.builder.graph;
  if (!tn_parser_take_word(&p->base, "program")) {
    return tn_parser_fail(&p->base, p->base.token.at, "a fused operation has a program");
  }
  if (p->operands.count > TN_FUSED_OPERAND_LIMIT) {
    return tn_parser_fail(&p->base, p->base.last.at, "too many operands for a fused operation");
  }
  program->operand_count = (int32_t)p->operands.count;
  for (size_t i = 0; i < p->operands.count; i++) {
    program->operand_dtype[i] = tn_graph_type(graph, p->operands.at[i])->dtype;
  }
  if (!tn_parser_expect(&p->base, '{', "{ is expected here")) return false;
  while (!tn_parser_take(&p->base, '}')) {
    if (program->step_count == TN_FUSED_STEP_LIMIT) {
      return tn_parser_fail(&p->base, p->base.token.at, "too many steps");
    }
    if (!read_step(p, program->operand_count + program->step_count, &program->step[program->step_count])) {
      return false;
    }
    program->step_count++;
  }
  return true;
}

static bool type_fault(parser *p, tn_op op, const char *reason) {
  p->base.errors++;
  tn_report(p->base.diags, TN_DIAG_E_GRAPH_TYPE, p->base.builder.base.at,
            TN_STR("op", tn_op_sig_of(op)->name), TN_STR("reason", reason));
  return true;
}

/* The builder trusts fused programs, because only passes make them; text is not trusted. */
static bool program_fits(parser *p, const tn_attrs *attrs) {
  const tn_graph *graph = p->base.builder.graph;
  tn_type in[TN_FUSED_OPERAND_LIMIT], out = { attrs->dtype, attrs->shape };
  for (size_t i = 0; i < p->operands.count; i++) {
    if (p->operands.at[i] == TN_ERROR_VALUE) return true;
    in[i] = *tn_graph_type(graph, p->operands.at[i]);
  }
  const char *wrong = tn_fused_verify(attrs->program, in, (int)p->operands.count, &out);
  return wrong ? !type_fault(p, TN_OP_FUSED, wrong) : true;
}

static bool pick_fits(parser *p, tn_attrs *attrs) {
  const tn_graph *graph = p->base.builder.graph;
  if (p->operands.count != 1 || p->operands.at[0] == TN_ERROR_VALUE) return true;
  const tn_node *branch = tn_graph_node(graph, p->operands.at[0]);
  if (branch->op != TN_OP_IF) return !type_fault(p, TN_OP_PICK, "its operand is not an if");
  const tn_region *region = &graph->regions.at[branch->attrs->region[0]];
  if (attrs->index >= region->results.count) return !type_fault(p, TN_OP_PICK, "there is no such result");
  const tn_type *type = tn_graph_type(graph, region->results.at[attrs->index]);
  attrs->dtype = type->dtype;
  attrs->shape = type->shape;
  return true;
}

/* The results of an `if` are taken with pick. */
static bool no_ifs(parser *p, tn_op op) {
  for (size_t i = 0; op != TN_OP_PICK && i < p->operands.count; i++) {
    bool branches = tn_graph_node(p->base.builder.graph, p->operands.at[i])->op == TN_OP_IF;
    if (branches) return !type_fault(p, op, "an if is used other than by pick");
  }
  return true;
}

static tn_value make(parser *p, tn_op op, tn_attrs *attrs, tn_span at) {
  tn_builder *builder = &p->base.builder.base;
  builder->at = tn_span_join(at, p->base.last.at);
  if (!no_ifs(p, op)) return TN_ERROR_VALUE;
  if (op == TN_OP_PICK && !pick_fits(p, attrs)) return TN_ERROR_VALUE;
  if (op == TN_OP_FUSED && !program_fits(p, attrs)) return TN_ERROR_VALUE;
  tn_value value = tn_build(builder, op, p->operands.at, (int)p->operands.count, attrs);
  settle_fault(p);
  return value;
}

/* A written type is only checked. */
static bool check_type(parser *p, tn_op op, tn_value value) {
  tn_type written;
  if (!tn_parser_take(&p->base, ':')) return true;
  tn_span at = p->base.token.at;
  if (!tn_parser_type(&p->base, &written)) return false;
  if (value == TN_ERROR_VALUE) return true;
  const tn_type *type = tn_graph_type(p->base.builder.graph, value);
  if (tn_type_equal(type, &written)) return true;
  p->base.errors++;
  tn_report(p->base.diags, TN_DIAG_E_GRAPH_TYPE, tn_span_join(at, p->base.last.at),
            TN_STR("op", tn_op_sig_of(op)->name), TN_STR("reason", "the type written here is another one"),
            TN_STR("dtype", tn_dtype_name(type->dtype)),
            tn_shape_field("shape", &type->shape, p->base.names, TN_SHAPE_COMMA));
  return true;
}

/* operation = op values attrs [ program ] [ ":" type ] */
static bool read_operation(parser *p, tn_value *out) {
  tn_span at = p->base.token.at;
  tn_attrs attrs;
  tn_tensor literal = { 0 };
  union {
    tn_fused program;
    char room[sizeof(tn_fused) + TN_FUSED_STEP_LIMIT * sizeof(tn_fused_step)];
  } fused = { .program = { 0 } };
  tn_op op;
  p->operands.count = 0;
  bool ok = read_op(p, &op) && read_values(p) && tn_parser_attrs(&p->base, op, &attrs, &literal);
  if (ok && op == TN_OP_CONST && !literal.buffer) {
    ok = tn_parser_fail(&p->base, at, "a constant has a value: {value=f32[2] [1,2]}");
  }
  if (ok && op == TN_OP_FUSED) {
    ok = read_program(p, &fused.program);
    attrs.program = &fused.program;
  }
  if (ok) *out = make(p, op, &attrs, at);
  tn_tensor_unref(&literal);
  return ok && !p->base.failed && check_type(p, op, *out);
}

/* ---- branches and statements ---- */

static bool read_statements(parser *p);

/* block = "{" { statement } "yield" values "}" */
static uint32_t read_block(parser *p) {
  tn_builder *builder = &p->base.builder.base;
  if (!tn_parser_expect(&p->base, '{', "a branch is expected here: { ... }")) return 0;
  if (p->depth == TN_REGION_DEPTH_LIMIT) {
    p->base.failed = true;
    tn_report(p->base.diags, TN_DIAG_E_NESTING_LIMIT, p->base.last.at,
              TN_INT("limit", TN_REGION_DEPTH_LIMIT));
    return 0;
  }
  if (!tn_stack_room(&p->base.diags->arena.heap->stack)) {
    p->base.failed = true;
    tn_report_stack(p->base.diags, p->base.last.at, NULL);
    return 0;
  }
  if (!builder->methods->region_begin(builder)) {
    settle_fault(p);
    p->base.failed = true;
    return 0;
  }
  p->depth++;
  bool ok = read_statements(p);
  if (ok && !tn_parser_take_word(&p->base, "yield")) {
    ok = tn_parser_fail(&p->base, p->base.token.at, "an operation or yield is expected here");
  }
  p->operands.count = 0;
  ok = ok && read_values(p) && no_ifs(p, TN_OP_IF) && tn_parser_expect(&p->base, '}', "} is expected here");
  p->depth--;
  uint32_t region = builder->methods->region_end(builder, p->operands.at, ok ? (int)p->operands.count : 0);
  settle_fault(p);
  return ok ? region : 0;
}

static bool has_errors(const parser *p, uint32_t region) {
  const tn_region *r = &p->base.builder.graph->regions.at[region];
  for (size_t i = 0; i < r->results.count; i++) {
    if (r->results.at[i] == TN_ERROR_VALUE) return true;
  }
  return false;
}

/* if = "if" value block "else" block */
static bool read_if(parser *p, tn_value *out) {
  tn_builder *builder = &p->base.builder.base;
  tn_span at = p->base.last.at;
  tn_value condition;
  if (!read_value(p, &condition)) return false;
  at = tn_span_join(at, p->base.last.at);
  uint32_t then_region = read_block(p);
  if (then_region == 0) return false;
  if (!tn_parser_take_word(&p->base, "else")) {
    return tn_parser_fail(&p->base, p->base.token.at, "else is expected here");
  }
  uint32_t else_region = read_block(p);
  if (else_region == 0) return false;
  const tn_graph *graph = p->base.builder.graph;
  if (graph->regions.at[then_region].results.count != graph->regions.at[else_region].results.count) {
    return tn_parser_fail(&p->base, at, "both branches yield as many values");
  }
  *out = TN_ERROR_VALUE;
  builder->at = at;
  if (!has_errors(p, then_region) && !has_errors(p, else_region) && condition != TN_ERROR_VALUE) {
    *out = builder->methods->join(builder, condition, then_region, else_region);
  }
  settle_fault(p);
  return !p->base.failed;
}

/* statement = value "=" ( if | operation ) */
static bool read_statements(parser *p) {
  while (p->base.token.kind == TN_TOKEN_VALUE && !p->base.failed) {
    tn_token label = p->base.token;
    tn_value value;
    tn_parser_advance(&p->base);
    if (!tn_parser_expect(&p->base, '=', "= is expected here")) return false;
    bool ok = tn_parser_take_word(&p->base, "if") ? read_if(p, &value) : read_operation(p, &value);
    if (!ok || !define(p, label, value)) return false;
  }
  return !p->base.failed;
}

/* ---- the whole ---- */

static bool is_number(tn_str label) { return label.at[0] >= '0' && label.at[0] <= '9'; }

/* source = [ "param" ] value [ string ] ":" type */
static bool read_source(parser *p) {
  tn_builder *builder = &p->base.builder.base;
  bool param = tn_parser_take_word(&p->base, "param");
  tn_token label = p->base.token;
  tn_name name = 0;
  tn_type type;
  if (label.kind != TN_TOKEN_VALUE)
    return tn_parser_fail(&p->base, label.at, "an input is expected here: %x: f32[2]");
  tn_parser_advance(&p->base);
  if (p->base.token.kind == TN_TOKEN_STRING) {
    name = tn_parser_string(&p->base, p->base.token);
    tn_parser_advance(&p->base);
  } else if (!is_number(label.text)) {
    name = tn_names_intern(p->base.names, label.text);
    if (name == 0) return tn_parser_no_memory(&p->base);
  }
  if (p->base.failed) return false;
  if (!tn_parser_expect(&p->base, ':', "the type is expected here: %x: f32[2]")) return false;
  if (!tn_parser_type(&p->base, &type)) return false;
  builder->at = tn_span_join(label.at, p->base.last.at);
  tn_value value = param ? tn_build_param(builder, name, &type) : tn_build_input(builder, name, &type);
  settle_fault(p);
  return !p->base.failed && define(p, label, value);
}

/* output = [ ( word | string ) "=" ] value */
static bool read_output(parser *p) {
  tn_token token = p->base.token;
  tn_name name = 0;
  tn_value value;
  if (token.kind == TN_TOKEN_WORD) {
    name = tn_names_intern(p->base.names, token.text);
    if (name == 0) return tn_parser_no_memory(&p->base);
  } else if (token.kind == TN_TOKEN_STRING) {
    name = tn_parser_string(&p->base, token);
  } else if (token.kind != TN_TOKEN_VALUE) {
    return tn_parser_fail(&p->base, token.at, "an output is expected here: loss=%1");
  }
  if (p->base.failed) return false;
  if (token.kind != TN_TOKEN_VALUE) {
    tn_parser_advance(&p->base);
    if (!tn_parser_expect(&p->base, '=', "the value of the output is expected here: loss=%1")) return false;
  }
  token = p->base.token;
  if (!read_value(p, &value)) return false;
  if (tn_graph_node(p->base.builder.graph, value)->op == TN_OP_IF) {
    return tn_parser_fail(&p->base, token.at, "an if is used other than by pick");
  }
  return tn_graph_output(p->base.builder.graph, name, value) || tn_parser_no_memory(&p->base);
}

/* graph = "graph" "(" [ source { "," source } ] ")"
 *         "{" { statement } "return" [ output { "," output } ] "}" */
static bool read_graph(parser *p) {
  tn_graph_parser *base = &p->base;
  if (!tn_parser_take_word(base, "graph"))
    return tn_parser_fail(base, base->token.at, "the text begins with graph");
  if (!tn_parser_expect(base, '(', "( is expected here")) return false;
  for (bool first = true; !tn_parser_is(base, ')'); first = false) {
    if (!first && !tn_parser_expect(base, ',', "a comma or ) is expected here")) return false;
    if (!read_source(p)) return false;
  }
  tn_parser_advance(base);
  if (!tn_parser_expect(base, '{', "{ is expected here") || !read_statements(p)) return false;
  if (!tn_parser_take_word(base, "return")) {
    return tn_parser_fail(base, base->token.at, "an operation or return is expected here");
  }
  for (bool first = true; !tn_parser_is(base, '}'); first = false) {
    if (!first && !tn_parser_expect(base, ',', "a comma or } is expected here")) return false;
    if (!read_output(p)) return false;
  }
  tn_parser_advance(base);
  return base->token.kind == TN_TOKEN_END ||
         tn_parser_fail(base, base->token.at, "the text continues after its end");
}

bool tn_graph_parse(tn_graph *out, tn_heap *heap, tn_names *names, uint32_t file, tn_diags *diags) {
  const tn_source *source = tn_sources_get(diags->sources, file);
  parser p = { .base = { .heap = heap, .names = names, .diags = diags, .file = file, .text = TN_LIT("") } };
  bool ok = tn_graph_init(out, heap, names);
  tn_graph_builder_init(&p.base.builder, out);
  if (source) p.base.text = source->text;
  p.labels = tn_names_new(heap);
  tn_map_init(&p.values, heap);
  tn_span nul;
  if (ok && p.labels && tn_sources_find_nul(diags->sources, file, &nul)) {
    ok = tn_parser_fail(&p.base, nul, TN_SOURCE_NUL_MESSAGE);
  } else if (ok && p.labels) {
    tn_parser_advance(&p.base);
    ok = read_graph(&p) && !p.base.failed && p.base.errors == 0;
  } else {
    ok = tn_parser_no_memory(&p.base);
  }
  if (p.labels) tn_names_free(p.labels);
  tn_map_free(&p.values);
  tn_vec_free(heap, &p.operands);
  if (!ok) tn_graph_free(out);
  return ok;
}
