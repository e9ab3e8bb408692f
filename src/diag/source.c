/* diag/source.c: program texts, and lines and columns in them.
 *
 * Front ends use byte offsets; people read lines and columns. The table of line starts is built on
 * the first lookup in a file, so that a correct program never pays for it. If there is no memory
 * for that table, as when an out-of-memory error shows its place, lines are counted by scanning the
 * text. */
#include "diag/source.h"

#include <string.h>

#include "base/utf8.h"

tn_span tn_span_join(tn_span a, tn_span b) {
  if (a.file == 0) return b;
  if (b.file == 0) return a;
  return (tn_span){ a.file, a.start, b.end > a.start ? b.end : a.start };
}

void tn_sources_init(tn_sources *sources, tn_heap *heap) {
  *sources = (tn_sources){ .heap = heap };
}

static void forget(tn_heap *heap, tn_source *source) {
  tn_heap_free(heap, (char *)source->name.at, source->name.len + 1);
  tn_heap_free(heap, (char *)source->text.at, source->text.len + 1);
  tn_heap_free(heap, source->lines, source->line_count * sizeof *source->lines);
}

void tn_sources_rewind(tn_sources *sources, size_t count) {
  while (sources->files.count > count) forget(sources->heap, &tn_vec_pop(&sources->files));
}

void tn_sources_free(tn_sources *sources) {
  tn_sources_rewind(sources, 0);
  tn_vec_free(sources->heap, &sources->files);
}

/* NUL-terminated; `at` is NULL when memory runs out. */
static tn_str copy(tn_heap *heap, tn_str text) {
  char *at = tn_heap_alloc(heap, text.len + 1);
  if (at && text.len > 0) memcpy(at, text.at, text.len);
  return (tn_str){ at, text.len };
}

static bool make(tn_heap *heap, tn_str name, tn_str text, tn_source *out) {
  if (text.len > TN_SOURCE_LIMIT || name.len > TN_SOURCE_LIMIT) return false;
  *out = (tn_source){ .name = copy(heap, name), .text = copy(heap, tn_utf8_unmarked(text)) };
  if (out->name.at && out->text.at) return true;
  forget(heap, out);
  *out = (tn_source){ 0 };
  return false;
}

uint32_t tn_sources_add(tn_sources *sources, tn_str name, tn_str text) {
  tn_source source;
  if (sources->files.count >= UINT32_MAX - 1 || !make(sources->heap, name, text, &source)) return 0;
  if (!tn_vec_push(sources->heap, &sources->files, source)) {
    forget(sources->heap, &source);
    return 0;
  }
  return (uint32_t)sources->files.count;
}

static tn_source *find(const tn_sources *sources, uint32_t file) {
  if (file == 0 || file > sources->files.count || !sources->files.at[file - 1].text.at) return NULL;
  return &sources->files.at[file - 1];
}

void tn_sources_forget(tn_sources *sources, uint32_t file) {
  tn_source *source = find(sources, file);
  if (!source) return;
  forget(sources->heap, source);
  *source = (tn_source){ 0 };
}

bool tn_sources_put(tn_sources *sources, uint32_t file, tn_str name, tn_str text) {
  if (find(sources, file) || file == 0 || file > sources->files.count) return false;
  return make(sources->heap, name, text, &sources->files.at[file - 1]);
}

const tn_source *tn_sources_get(const tn_sources *sources, uint32_t file) {
  return find(sources, file);
}

bool tn_sources_find_nul(const tn_sources *sources, uint32_t file, tn_span *at) {
  const tn_source *source = find(sources, file);
  const char *found = source && source->text.len > 0 ? memchr(source->text.at, 0, source->text.len) : NULL;
  if (!found) return false;
  uint32_t start = (uint32_t)(found - source->text.at);
  *at = (tn_span){ file, start, start + 1 };
  return true;
}

static uint32_t clamp(const tn_source *source, uint32_t offset) {
  return offset < source->text.len ? offset : (uint32_t)source->text.len;
}

tn_str tn_span_text(const tn_sources *sources, tn_span span) {
  const tn_source *source = find(sources, span.file);
  if (!source) return (tn_str){ "", 0 };
  uint32_t start = clamp(source, span.start), end = clamp(source, span.end);
  return (tn_str){ source->text.at + start, end > start ? end - start : 0 };
}

/* The offset after the next line break at or after `offset`; 0 when there is none. */
static uint32_t next_line(const tn_source *source, uint32_t offset) {
  const char *from = source->text.at + offset;
  const char *found = memchr(from, '\n', source->text.len - offset);
  return found ? (uint32_t)(found - source->text.at) + 1 : 0;
}

static void index_lines(tn_heap *heap, tn_source *source) {
  size_t count = 1;
  if (source->lines) return;
  for (uint32_t at = 0; (at = next_line(source, at)) != 0;) count++;
  source->lines = tn_heap_alloc(heap, count * sizeof *source->lines);
  if (!source->lines) return;
  source->line_count = 1;   /* the first starts at 0 */
  for (uint32_t at = 0; (at = next_line(source, at)) != 0;) source->lines[source->line_count++] = at;
}

/* The number, from 0, of the line that holds `offset`, and its start. */
static uint32_t line_at(const tn_source *source, uint32_t offset, uint32_t *start) {
  size_t low = 0, high = source->line_count;
  if (!source->lines) {
    uint32_t line = 0, at = 0;
    for (uint32_t next; (next = next_line(source, at)) != 0 && next <= offset; at = next) line++;
    *start = at;
    return line;
  }
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (source->lines[middle] <= offset) low = middle;
    else high = middle;
  }
  *start = source->lines[low];
  return (uint32_t)low;
}

/* A byte that is not a continuation byte starts a character, so a count may be split before it. */
static bool may_split(const tn_source *source, uint32_t offset) {
  return offset == source->text.len || ((unsigned char)source->text.at[offset] & 0xc0) != 0x80;
}

/* Counts from the last lookup if that is earlier in the line: lookups are mostly in order, and a
 * line may be as long as the text. */
static uint32_t column_at(tn_sources *sources, tn_source *source, uint32_t line_start, uint32_t offset) {
  if (offset == line_start) return 1;
  bool near = source->known_column > 0 && source->known >= line_start && source->known <= offset;
  uint32_t from = near ? source->known : line_start, column = near ? source->known_column : 1;
  sources->looked += offset - from;
  column += (uint32_t)tn_utf8_count((tn_str){ source->text.at + from, offset - from });
  if (may_split(source, offset)) source->known = offset, source->known_column = column;
  return column;
}

tn_place tn_place_of(tn_sources *sources, uint32_t file, uint32_t offset) {
  tn_source *source = find(sources, file);
  if (!source) return (tn_place){ 1, 1 };
  uint32_t at = clamp(source, offset), start;
  index_lines(sources->heap, source);
  uint32_t line = line_at(source, at, &start);
  return (tn_place){ line + 1, column_at(sources, source, start, at) };
}

tn_str tn_source_line(tn_sources *sources, uint32_t file, uint32_t offset, uint32_t *start) {
  tn_source *source = find(sources, file);
  *start = 0;
  if (!source) return (tn_str){ "", 0 };
  index_lines(sources->heap, source);
  line_at(source, clamp(source, offset), start);
  uint32_t next = next_line(source, *start);
  size_t len = (next ? next - 1 : source->text.len) - *start;
  const char *at = source->text.at + *start;
  if (next && len > 0 && at[len - 1] == '\r') len--;
  return (tn_str){ at, len };
}
