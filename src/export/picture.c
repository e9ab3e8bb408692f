/* export/picture.c: the texts and colours of a node in a picture. */
#include "export/picture.h"

#define DETAIL_BYTES   48 /* shown of a node's attributes */
#define SHOWN_ELEMENTS 6

/* ---- words ---- */

static tn_str keep(tn_arena *arena, tn_text *text) {
  tn_str kept = tn_arena_str(arena, tn_text_str(text));
  if (text->failed) arena->failed = true;
  tn_text_free(text);
  return kept;
}

/* Cut at a character, with three points after it. */
static tn_str shorten(tn_arena *arena, tn_text *text) {
  if (text->len > DETAIL_BYTES) {
    size_t end = DETAIL_BYTES;
    while (end > 0 && ((unsigned char)text->at[end] & 0xc0) == 0x80) end--;
    text->len = end;
    tn_text_puts(text, "...");
  }
  return keep(arena, text);
}

static void put_element(const tn_view *view, int64_t index, tn_text *out) {
  if (view->dtype == TN_BOOL)
    tn_text_puts(out, tn_view_get_i64(view, index) ? "true" : "false");
  else if (tn_dtype_in(view->dtype, TN_INTS))
    tn_text_int(out, tn_view_get_i64(view, index));
  else if (view->dtype == TN_F64)
    tn_text_f64(out, tn_view_get_f64(view, index));
  else
    tn_text_f32(out, (float)tn_view_get_f64(view, index));
}

/* The number of a constant that has one only. */
static bool is_number(const tn_node *node) {
  return node->op == TN_OP_FILL || (node->op == TN_OP_CONST && node->type.shape.rank == 0);
}

static void put_number(const tn_node *node, tn_text *out) {
  double number = node->attrs->number;
  if (node->op == TN_OP_CONST)
    put_element(&node->attrs->literal->view, 0, out);
  else if (node->type.dtype == TN_BOOL)
    tn_text_puts(out, number != 0 ? "true" : "false");
  else if (node->type.dtype == TN_F32)
    tn_text_f32(out, (float)number);
  else
    tn_text_f64(out, number);
}

static tn_str title_of(const tn_graph *graph, const tn_node *node, tn_arena *arena) {
  tn_text text;
  if (node->op == TN_OP_INPUT || node->op == TN_OP_PARAM || node->op == TN_OP_HOST)
    return tn_names_text(graph->names, node->attrs->name);
  if (!is_number(node)) return tn_str_of(tn_op_sig_of(node->op)->name);
  tn_text_init(&text, arena->heap);
  put_number(node, &text);
  return keep(arena, &text);
}

static tn_str elements_of(const tn_view *view, tn_arena *arena) {
  int64_t count = tn_view_count(view);
  tn_text text;
  tn_text_init(&text, arena->heap);
  for (int64_t i = 0; i < count && i < SHOWN_ELEMENTS; i++) {
    if (i) tn_text_puts(&text, ", ");
    put_element(view, i, &text);
  }
  if (count > SHOWN_ELEMENTS) tn_text_puts(&text, ", ...");
  return keep(arena, &text);
}

/* Shapes and dtypes are in the type already. */
static tn_str attributes_of(const tn_graph *graph, const tn_node *node, tn_arena *arena) {
  const uint32_t in_type = TN_ATTR_SHAPE | TN_ATTR_DTYPE;
  tn_text text;
  if (!(tn_op_sig_of(node->op)->attrs & ~in_type)) return TN_LIT("");
  if (tn_attrs_are_default(node->op, node->attrs)) return TN_LIT("");
  tn_text_init(&text, arena->heap);
  tn_attrs_print(node->op, node->attrs, graph->names, &text);
  if (text.len > 2 && text.at[0] == '{') { /* the braces say nothing to a reader */
    tn_text bare;
    tn_text_init(&bare, arena->heap);
    tn_text_add(&bare, (tn_str){ text.at + 1, text.len - 2 });
    if (text.failed) bare.failed = true;
    tn_text_free(&text);
    return shorten(arena, &bare);
  }
  return shorten(arena, &text);
}

static tn_str detail_of(const tn_graph *graph, const tn_node *node, tn_arena *arena) {
  const tn_op_sig *sig = tn_op_sig_of(node->op);
  switch (sig->kind) {
    case TN_KIND_INPUT: return tn_str_of(sig->name);
    case TN_KIND_EFFECT: return tn_names_text(graph->names, node->attrs->argument);
    case TN_KIND_LITERAL:
      return is_number(node) ? TN_LIT("") : elements_of(&node->attrs->literal->view, arena);
    case TN_KIND_FILL:
    case TN_KIND_PICK:
    case TN_KIND_BRANCH: return TN_LIT("");
    case TN_KIND_IOTA:
    case TN_KIND_ELEMENTWISE:
    case TN_KIND_GENERATE:
    case TN_KIND_VIEW:
    case TN_KIND_MOVE:
    case TN_KIND_REDUCE:
    case TN_KIND_SCAN:
    case TN_KIND_CONTRACT:
    case TN_KIND_COMPOSED: break;
  }
  return attributes_of(graph, node, arena);
}

static tn_str type_of(const tn_graph *graph, const tn_node *node, tn_arena *arena) {
  tn_text text;
  if (node->op == TN_OP_IF) return TN_LIT("");
  tn_text_init(&text, arena->heap);
  tn_type_print(&node->type, graph->names, &text);
  return keep(arena, &text);
}

static tn_str place_of(const tn_node *node, tn_sources *sources, tn_arena *arena) {
  tn_text text;
  if (!sources || !node->at.file) return TN_LIT("");
  tn_text_init(&text, arena->heap);
  tn_text_puts(&text, "line ");
  tn_text_uint(&text, tn_place_of(sources, node->at.file, node->at.start).line);
  return keep(arena, &text);
}

/* ---- looks ---- */

static tn_paint paint_of(const tn_node *node) {
  switch (tn_op_sig_of(node->op)->kind) {
    case TN_KIND_INPUT: return node->op == TN_OP_PARAM ? TN_PAINT_PARAM : TN_PAINT_INPUT;
    case TN_KIND_LITERAL:
    case TN_KIND_FILL:
    case TN_KIND_IOTA:
    case TN_KIND_GENERATE: return TN_PAINT_CONSTANT;
    case TN_KIND_ELEMENTWISE: return TN_PAINT_ELEMENT;
    case TN_KIND_REDUCE:
    case TN_KIND_SCAN: return TN_PAINT_REDUCE;
    case TN_KIND_CONTRACT: return TN_PAINT_CONTRACT;
    case TN_KIND_BRANCH:
    case TN_KIND_PICK:
    case TN_KIND_EFFECT: return TN_PAINT_CONTROL;
    case TN_KIND_VIEW:
    case TN_KIND_MOVE:
    case TN_KIND_COMPOSED: break;
  }
  return TN_PAINT_MOVE;
}

tn_picture_colours tn_picture_colours_of(tn_paint paint) {
  static const tn_picture_colours colours[TN_PAINT_COUNT] = {
    [TN_PAINT_INPUT] = { "#dcebfb", "#3b7dc4" },    [TN_PAINT_PARAM] = { "#e9e1f8", "#7a55bd" },
    [TN_PAINT_CONSTANT] = { "#f1f1ef", "#9a9a94" }, [TN_PAINT_ELEMENT] = { "#ffffff", "#5c6670" },
    [TN_PAINT_REDUCE] = { "#fdeed3", "#c98a1b" },   [TN_PAINT_CONTRACT] = { "#fbe0dc", "#c9503f" },
    [TN_PAINT_MOVE] = { "#e3f3e6", "#4c9a5b" },     [TN_PAINT_CONTROL] = { "#fdf6c9", "#a89414" },
    [TN_PAINT_OUTPUT] = { "#d5f0ea", "#1f8a76" },
  };
  return colours[paint];
}

tn_picture_node tn_picture_node_of(const tn_graph *graph, tn_value value, tn_sources *sources,
                                   tn_arena *arena) {
  const tn_node *node = tn_graph_node(graph, value);
  return (tn_picture_node){ .title = title_of(graph, node, arena),
                            .detail = detail_of(graph, node, arena),
                            .type = type_of(graph, node, arena),
                            .place = place_of(node, sources, arena),
                            .paint = paint_of(node) };
}

tn_str tn_picture_output(const tn_graph *graph, size_t index) {
  tn_name name = graph->outputs.at[index].name;
  return name ? tn_names_text(graph->names, name) : TN_LIT("result");
}
