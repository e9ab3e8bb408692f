/* graph/outline.c: records calls and names while a graph is built. */
#include "graph/outline.h"

#include "base/number.h"

void tn_outline_init(tn_outline *o, tn_heap *heap, tn_str open) {
  *o = (tn_outline){ .heap = heap, .open = open };
  tn_map_init(&o->counts, heap);
}

static void forget(tn_outline *o) {
  tn_vec_free(o->heap, &o->calls);
  tn_vec_free(o->heap, &o->labels);
  tn_map_free(&o->counts);
}

void tn_outline_free(tn_outline *o) {
  forget(o);
  *o = (tn_outline){ 0 };
}

void tn_outline_begin(tn_outline *o, const tn_graph *graph) {
  forget(o);
  tn_outline_init(o, o->heap, o->open);
  o->graph = graph;
}

/* ---- building ---- */

static uint64_t key_of(uint32_t parent, tn_name name) { return (uint64_t)parent << 32 | name; }

void tn_outline_enter(tn_outline *o, tn_name name, tn_span at) {
  if (!o || o->failed) return;
  const uint64_t *before = tn_map_get(&o->counts, key_of(o->current, name));
  uint64_t nth = before ? *before + 1 : 1;
  tn_outline_call call = { .name = name,
                           .parent = o->current,
                           .nth = (uint32_t)nth,
                           .first = (tn_value)o->graph->nodes.count,
                           .at = at };
  o->failed =
      !tn_map_put(&o->counts, key_of(o->current, name), nth) || !tn_vec_push(o->heap, &o->calls, call);
  if (!o->failed) o->current = (uint32_t)o->calls.count;
}

void tn_outline_leave(tn_outline *o, tn_value result) {
  if (!o || o->failed || o->current == 0) return;
  tn_outline_call *call = &o->calls.at[o->current - 1];
  call->end = (tn_value)o->graph->nodes.count;
  call->result = result < call->end ? result : 0;
  o->current = call->parent;
}

void tn_outline_label(tn_outline *o, tn_value value, tn_name name) {
  if (!o || o->failed || value == TN_ERROR_VALUE || value >= o->graph->nodes.count) return;
  while (!o->failed && o->labels.count <= value) o->failed = !tn_vec_push(o->heap, &o->labels, 0);
  if (!o->failed) o->labels.at[value] = name;
}

/* ---- asking ---- */

tn_name tn_outline_label_of(const tn_outline *o, tn_value value) {
  return value < o->labels.count ? o->labels.at[value] : 0;
}

void tn_outline_find_open(const tn_outline *o, bool *open) {
  bool all = tn_str_is(o->open, "all");
  for (size_t i = 1; i <= o->calls.count; i++) open[i] = all;
  for (size_t begin = 0; begin < o->open.len;) {
    size_t end = begin;
    uint64_t number;
    while (end < o->open.len && o->open.at[end] != ',') end++;
    bool known = tn_number_parse_u64((tn_str){ o->open.at + begin, end - begin }, &number) && number > 0 &&
                 number <= o->calls.count;
    if (known) open[number] = true;
    begin = end + 1;
  }
}

bool tn_outline_is_numbered(const tn_outline *o, const tn_outline_call *call) {
  const uint64_t *count = tn_map_get(&o->counts, key_of(call->parent, call->name));
  return count && *count > 1;
}
