/* lang/ail/effects.c: the clock and files, and the capabilities they need.
 *
 * An effect is a `host` operation in the graph. Those that the outputs certainly
 * need are checked before anything runs; those in a branch when the branch has
 * been chosen and before anything of it runs. */
#include "base/bytes.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "lang/ail/internal.h"

typedef struct {
  const char *name; /* of the operation in the graph */
  uint32_t needs;
  const char *capability, *op, *action;
} effect;

static const effect effects[] = {
  { "now", TN_CAP_CLOCK, "Clock", "Now", "read system clock" },
  { "read_file_text", TN_CAP_FILEREAD, "FileRead", "ReadFileText", "read file from filesystem" },
};

static const effect *effect_of(const tn_ail *program, const tn_node *node) {
  tn_str name = tn_ail_text_of(program, node->attrs->name);
  return tn_str_is(name, effects[0].name) ? &effects[0] : &effects[1];
}

/* If reading is limited to folders, the path must be beneath one. */
static bool allow_path(tn_ail *program, const effect *wanted, const tn_node *node) {
  tn_str path = tn_ail_text_of(program, node->attrs->argument), found;
  tn_arena scratch;
  tn_arena_init(&scratch, program->host->heap);
  bool ok = tn_host_find(program->host, path, &scratch, &found);
  if (!ok)
    tn_report(program->host->diags, TN_DIAG_E_CAPABILITY_DENIED, node->at,
              TN_STR("capability", wanted->capability), TN_STR("op", wanted->op),
              TN_STR("attempted_action", wanted->action), TN_TEXT("path", path),
              TN_TEXT("granted", tn_host_readable(program->host, &scratch)));
  if (scratch.failed) ok = tn_ail_out_of_memory(program);
  tn_arena_free(&scratch);
  return ok;
}

static bool allow_node(tn_ail *program, const tn_node *node) {
  const effect *wanted = effect_of(program, node);
  if (program->host->capabilities & wanted->needs)
    return wanted->needs != TN_CAP_FILEREAD || allow_path(program, wanted, node);
  return tn_report(program->host->diags, TN_DIAG_E_CAPABILITY_DENIED, node->at,
                   TN_STR("capability", wanted->capability), TN_STR("op", wanted->op),
                   TN_STR("attempted_action", wanted->action));
}

/* ---- before anything runs ---- */

/* What the outputs need, branches included: a value from outside of a branch is computed before. */
static void mark_needed(const tn_graph *graph, bool *needed) {
  for (size_t i = 0; i < graph->outputs.count; i++) needed[graph->outputs.at[i].value] = true;
  for (size_t v = graph->nodes.count; v-- > 1;) {
    const tn_node *node = tn_graph_node(graph, (tn_value)v);
    if (!needed[v]) continue;
    for (int i = 0; i < node->count; i++) needed[node->in[i]] = true;
    for (int r = 0; node->op == TN_OP_IF && r < 2; r++) {
      const tn_region *region = &graph->regions.at[node->attrs->region[r]];
      for (size_t i = 0; i < region->results.count; i++) needed[region->results.at[i]] = true;
    }
  }
}

static bool has_effects(const tn_graph *graph) {
  for (size_t v = 1; v < graph->nodes.count; v++) {
    if (tn_graph_node(graph, (tn_value)v)->op == TN_OP_HOST) return true;
  }
  return false;
}

bool tn_ail_allow(tn_ail *program, const tn_graph *graph) {
  if (!has_effects(graph)) return true;
  size_t count = graph->nodes.count;
  bool *needed = tn_heap_alloc(program->host->heap, count), ok = true;
  if (!needed) return tn_ail_out_of_memory(program);
  mark_needed(graph, needed);
  for (size_t v = 1; v < count; v++) {
    const tn_node *node = tn_graph_node(graph, (tn_value)v);
    if (node->op == TN_OP_HOST && node->region == 0 && needed[v]) ok = allow_node(program, node) && ok;
  }
  tn_heap_free(program->host->heap, needed, count);
  return ok;
}

static bool allow_read(tn_ail *program, tn_str path, tn_span at, const char *action) {
  tn_str found, granted = { 0 };
  bool some = program->host->capabilities & TN_CAP_FILEREAD;
  if (some && tn_host_find(program->host, path, &program->arena, &found)) return true;
  if (some) granted = tn_host_readable(program->host, &program->arena);
  return tn_report(program->host->diags, TN_DIAG_E_DATASET_CAPABILITY_DENIED,
                   at.file ? at : program->dataset.at, TN_STR("capability", "FileRead"),
                   TN_STR("attempted_action", action), TN_TEXT("path", path), TN_TEXT("granted", granted));
}

bool tn_ail_allow_dataset(tn_ail *program) {
  const tn_dataset_block *dataset = &program->dataset;
  if (!program->dataset_fields) return true;
  if (!allow_read(program, dataset->path, dataset->path_at, "read dataset file")) return false;
  for (size_t i = 0; i < dataset->feed_count; i++) {
    const tn_dataset_feed *feed = &dataset->feeds[i];
    if (feed->tokenizer.len == 0) continue;
    if (!allow_read(program, feed->tokenizer, feed->at, "read tokenizer file")) return false;
  }
  return true;
}

/* The paths of read_file_text as checking has met them, in every branch and handler, and the data set's. */
bool tn_ail_seal(tn_ail *program) {
  const tn_map *paths = &program->read_paths;
  const tn_dataset_block *dataset = &program->dataset;
  size_t most = paths->count + dataset->feed_count + 1;
  tn_str *opened = tn_arena_array(&program->arena, most, sizeof *opened);
  size_t count = 0;
  if (!opened) return tn_ail_out_of_memory(program);
  for (; count < paths->count; count++)
    opened[count] = tn_ail_text_of(program, (tn_name)paths->entries[count].key);
  if (program->dataset_fields) opened[count++] = dataset->path;
  for (size_t i = 0; i < dataset->feed_count; i++) {
    if (dataset->feeds[i].tokenizer.len > 0) opened[count++] = dataset->feeds[i].tokenizer;
  }
  return tn_host_seal(program->host, opened, count);
}

/* ---- while it runs ---- */

static bool entering(void *context, const tn_node *const *nodes, size_t count) {
  tn_ail *program = context;
  bool ok = true;
  for (size_t i = 0; i < count; i++) ok = allow_node(program, nodes[i]) && ok;
  return ok;
}

static bool report_file(const tn_ail *program, const tn_node *node, tn_str path, const char *problem) {
  tn_diags *diags = program->host->diags;
  if (tn_str_is(tn_str_of(problem), "not_found")) return tn_report_no_file(diags, node->at, path);
  return tn_report(diags, TN_DIAG_E_FILE_IO_ERROR, node->at, TN_TEXT("path", path),
                   TN_STR("io_error_kind", problem));
}

/* The SHA-256 of the bytes as eight numbers in [0, 1]: each word divided by 2^32. */
static bool hash_file(tn_ail *program, const tn_node *node, const tn_view *out) {
  tn_str path = tn_ail_text_of(program, node->attrs->argument), bytes = { 0 };
  const char *problem = "io_error";
  tn_arena arena;
  tn_arena_init(&arena, program->host->heap);
  tn_str found = path;
  bool ok = tn_host_find(program->host, path, &arena, &found); /* it did when it was allowed */
  if (!ok) problem = "permission_denied";
  ok = ok && program->host->read_file(program->host, found, &arena, &bytes, &problem);
  if (!ok) report_file(program, node, path, problem);
  if (ok && !tn_utf8_valid(bytes)) {
    ok = tn_report(program->host->diags, TN_DIAG_E_FILE_INVALID_UTF8, node->at, TN_TEXT("path", path),
                   TN_INT("offset", (int64_t)tn_utf8_first_invalid(bytes)));
  }
  if (ok) {
    unsigned char digest[TN_SHA256_BYTES];
    tn_sha256_of(bytes.at, bytes.len, digest);
    for (int i = 0; i < 8; i++) tn_view_set_f64(out, i, (double)tn_load_be32(digest + 4 * i) * 0x1p-32);
  }
  tn_arena_free(&arena);
  return ok;
}

static bool call(void *context, const tn_node *node, const tn_view *out) {
  tn_ail *program = context;
  if (!allow_node(program, node)) return false;
  if (effect_of(program, node) == &effects[1]) return hash_file(program, node, out);
  tn_view_set_f64(out, 0, program->host->now(program->host));
  return true;
}

tn_effects tn_ail_effects(tn_ail *program) { return (tn_effects){ program, call, entering }; }
