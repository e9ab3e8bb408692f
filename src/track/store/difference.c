/* track/store/difference.c: a longest common subsequence of lines.
 *
 * The common beginning and end of the texts are set aside first. For the lines between, a table
 * over all pairs holds the length of the longest common subsequence of the remaining lines; a pass
 * through it from the front gives the lines that are not in it. */
#include "track/store/difference.h"

#include "base/vec.h"

#define MOST_CELLS ((size_t)1 << 22) /* of the table */

typedef tn_vec(tn_str) lines;

static bool split(tn_heap *heap, tn_str text, lines *out) {
  for (size_t begin = 0; begin < text.len;) {
    size_t end = begin;
    while (end < text.len && text.at[end] != '\n') end++;
    if (!tn_vec_push(heap, out, ((tn_str){ text.at + begin, end - begin }))) return false;
    begin = end + 1;
  }
  return true;
}

typedef struct {
  const tn_str *a, *b;   /* the lines between those that are alike */
  size_t a_count, b_count;
  size_t before;         /* lines that both begin with */
  uint16_t *length;      /* [a_count + 1][b_count + 1]; NULL: nothing is alike */
  void (*take)(void *context, const tn_text_line *line);
  void *context;
} comparison;

static bool is_same(const comparison *c, size_t i, size_t k) { return tn_str_equal(c->a[i], c->b[k]); }

static uint16_t *cell(const comparison *c, size_t i, size_t k) {
  return &c->length[i * (c->b_count + 1) + k];
}

static void fill(const comparison *c) {
  for (size_t i = c->a_count; i-- > 0;) {
    for (size_t k = c->b_count; k-- > 0;) {
      uint16_t down = *cell(c, i + 1, k), right = *cell(c, i, k + 1);
      uint16_t longest = down > right ? down : right;
      *cell(c, i, k) = is_same(c, i, k) ? (uint16_t)(*cell(c, i + 1, k + 1) + 1) : longest;
    }
  }
}

static void tell(const comparison *c, size_t i, size_t k, bool is_new, bool *within) {
  tn_text_line line = { .is_new = is_new,
                        .first_of_change = !*within,
                        .a_number = c->before + i + 1,
                        .b_number = c->before + k + 1,
                        .text = is_new ? c->b[k] : c->a[i] };
  c->take(c->context, &line);
  *within = true;
}

static void write_changes(const comparison *c) {
  size_t i = 0, k = 0;
  bool within = false;
  while (i < c->a_count || k < c->b_count) {
    bool both = i < c->a_count && k < c->b_count;
    if (both && c->length && is_same(c, i, k)) {
      i++, k++;
      within = false;
    } else if (i < c->a_count && (!both || !c->length || *cell(c, i + 1, k) >= *cell(c, i, k + 1))) {
      tell(c, i++, k, false, &within);
    } else {
      tell(c, i, k++, true, &within);
    }
  }
}

static void trim(comparison *c) {
  while (c->a_count > 0 && c->b_count > 0 && is_same(c, 0, 0))
    c->a++, c->b++, c->a_count--, c->b_count--, c->before++;
  while (c->a_count > 0 && c->b_count > 0 && is_same(c, c->a_count - 1, c->b_count - 1))
    c->a_count--, c->b_count--;
}

/* Bytes of the table; 0: there is none. A length must fit 16 bits. */
static size_t table_bytes(const comparison *c) {
  size_t rows = c->a_count + 1, columns = c->b_count + 1;
  bool fits = rows < UINT16_MAX && columns < UINT16_MAX && rows <= MOST_CELLS / columns;
  return fits ? rows * columns * sizeof(uint16_t) : 0;
}

bool tn_text_difference(tn_heap *heap, tn_str a, tn_str b,
                        void (*take)(void *context, const tn_text_line *line), void *context) {
  lines x = { 0 }, y = { 0 };
  bool ok = split(heap, a, &x) && split(heap, b, &y);
  comparison c = { .a = x.at, .b = y.at, .a_count = x.count, .b_count = y.count, .take = take,
                   .context = context };
  if (ok) trim(&c);
  size_t bytes = ok ? table_bytes(&c) : 0;
  c.length = tn_heap_alloc(heap, bytes);
  ok = ok && (c.length || bytes == 0);
  if (c.length) fill(&c);
  if (ok) write_changes(&c);
  tn_heap_free(heap, c.length, bytes);
  tn_vec_free(heap, &x);
  tn_vec_free(heap, &y);
  return ok;
}
