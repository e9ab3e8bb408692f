/* base/str.c: comparing, hashing, suggesting, interning.
 *
 * The hash reads eight bytes at a time in a fixed byte order, so that it is the
 * same number on every machine and may be stored or printed.
 *
 * The edit distance looks only at a diagonal band as wide as the limit allows:
 * cells outside it cannot hold a distance within the limit. That bounds the work
 * to length * limit and the memory to three short rows on the stack, so a
 * suggestion costs no allocation even for hostile names. */
#include "base/str.h"

#include <limits.h>
#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/vec.h"

tn_str tn_str_of(const char *nul_terminated) {
  if (!nul_terminated) return TN_LIT("");
  return (tn_str){ nul_terminated, strlen(nul_terminated) };
}

static bool same_bytes(const char *a, const char *b, size_t count) {
  return count == 0 || memcmp(a, b, count) == 0;
}

bool tn_str_equal(tn_str a, tn_str b) {
  return a.len == b.len && same_bytes(a.at, b.at, a.len);
}

bool tn_str_is(tn_str a, const char *nul_terminated) {
  return tn_str_equal(a, tn_str_of(nul_terminated));
}

bool tn_str_starts(tn_str text, const char *prefix) {
  tn_str p = tn_str_of(prefix);
  return text.len >= p.len && same_bytes(text.at, p.at, p.len);
}

bool tn_str_ends(tn_str text, const char *suffix) {
  tn_str s = tn_str_of(suffix);
  return text.len >= s.len && (s.len == 0 || same_bytes(text.at + text.len - s.len, s.at, s.len));
}

int tn_str_compare(tn_str a, tn_str b) {
  size_t common = a.len < b.len ? a.len : b.len;
  int order = common ? memcmp(a.at, b.at, common) : 0;
  if (order) return order < 0 ? -1 : 1;
  return a.len < b.len ? -1 : a.len > b.len;
}

static uint64_t stir(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
  return hash ^ hash >> 32;
}

uint64_t tn_str_hash(tn_str text) {
  uint64_t hash = UINT64_C(0x2545f4914f6cdd1d) ^ text.len, tail = 0;
  size_t i = 0;
  for (; text.len - i >= 8; i += 8) hash = stir(hash, tn_load_le64(text.at + i));
  for (unsigned shift = 0; i < text.len; i++, shift += 8) {
    tail |= (uint64_t)(unsigned char)text.at[i] << shift;
  }
  hash = stir(hash, tail);
  return stir(hash, hash >> 29);
}

/* ---- edit distance ---- */

#define BAND (2 * TN_STR_DISTANCE_LIMIT + 3)

/* One row of the table, cells j - i + limit + 1 for |j - i| <= limit, with a
 * border cell on each side that is always out of reach. */
typedef int row[BAND];

static unsigned char lower_case(unsigned char c) {
  return c >= 'A' && c <= 'Z' ? (unsigned char)(c + ('a' - 'A')) : c;
}

static bool same_char(tn_str a, size_t i, tn_str b, size_t j, bool fold) {
  unsigned char x = (unsigned char)a.at[i], y = (unsigned char)b.at[j];
  return x == y || (fold && lower_case(x) == lower_case(y));
}

static int least(int a, int b) {
  return a < b ? a : b;
}

/* The bytes after the common start and before the common end. */
static void strip_common(tn_str *a, tn_str *b, bool fold) {
  while (a->len && b->len && same_char(*a, 0, *b, 0, fold)) {
    a->at++, a->len--;
    b->at++, b->len--;
  }
  while (a->len && b->len && same_char(*a, a->len - 1, *b, b->len - 1, fold)) a->len--, b->len--;
}

/* Row i of the table for prefixes of a and b; `before` is row i-1 and `earlier`
 * row i-2. Returns the least cell, which no later row can undercut by itself. */
static int fill_row(tn_str a, tn_str b, bool fold, size_t i, int limit, const int *earlier,
                    const int *before, int *now) {
  int far = limit + 1, lowest = far;
  for (int cell = 1; cell <= 2 * limit + 1; cell++) {
    int64_t j = (int64_t)i + cell - limit - 1;
    now[cell] = far;
    if (j < 0 || j > (int64_t)b.len) continue;
    int best = least(before[cell + 1], now[cell - 1]) + 1;
    if (j == 0) best = least(best, (int)i);
    if (j > 0) {
      bool same = same_char(a, i - 1, b, (size_t)j - 1, fold);
      best = least(best, before[cell] + !same);
      bool swapped = i > 1 && j > 1 && same_char(a, i - 1, b, (size_t)j - 2, fold) &&
                     same_char(a, i - 2, b, (size_t)j - 1, fold);
      if (swapped) best = least(best, earlier[cell] + 1);
    }
    now[cell] = least(best, far);
    lowest = least(lowest, now[cell]);
  }
  return lowest;
}

static int banded_distance(tn_str a, tn_str b, bool fold, int limit) {
  row rows[3];
  int far = limit + 1, lowest = 0, lowest_before = 0;
  for (int cell = 0; cell < BAND; cell++) {
    rows[0][cell] = rows[1][cell] = rows[2][cell] = far;
  }
  for (int j = 0; j <= limit && (size_t)j <= b.len; j++) rows[0][limit + 1 + j] = j;
  for (size_t i = 1; i <= a.len; i++) {
    lowest_before = lowest;
    lowest = fill_row(a, b, fold, i, limit, rows[(i + 1) % 3], rows[(i + 2) % 3], rows[i % 3]);
    if (lowest > limit && lowest_before > limit) return far;
  }
  return least(rows[a.len % 3][(int64_t)b.len - (int64_t)a.len + limit + 1], far);
}

static int distance(tn_str a, tn_str b, bool fold, int limit) {
  int bounded = least(limit, TN_STR_DISTANCE_LIMIT);
  int too_far = limit < INT_MAX ? limit + 1 : INT_MAX;
  size_t apart = a.len > b.len ? a.len - b.len : b.len - a.len;
  if (limit < 0 || apart > (size_t)bounded) return too_far;
  strip_common(&a, &b, fold);
  int edits = banded_distance(a, b, fold, bounded);
  return edits <= bounded ? edits : too_far;
}

int tn_str_distance(tn_str a, tn_str b, int limit) {
  return distance(a, b, false, limit);
}

tn_str tn_str_suggest(tn_str wrong, const tn_str *candidates, size_t count) {
  tn_str best = TN_LIT("");
  int best_distance = TN_STR_DISTANCE_LIMIT + 1;
  for (size_t i = 0; i < count; i++) {
    size_t longer = candidates[i].len > wrong.len ? candidates[i].len : wrong.len;
    size_t third = longer / 3;
    int allowed = third < (size_t)best_distance ? (int)third : best_distance - 1;
    int edits = distance(wrong, candidates[i], true, allowed);
    if (edits > allowed) continue;
    best = candidates[i];
    best_distance = edits;
  }
  return best;
}

/* ---- interning ---- */

typedef struct {
  tn_str text;
  uint64_t hash;   /* kept, so that growing reads no text */
} interned;

/* Texts with different hashes are distinguished without reading the list. */
typedef struct {
  tn_name name;    /* 0: free */
  uint32_t tag;    /* the upper half of its hash */
} name_bucket;

struct tn_names {
  tn_heap *heap;
  tn_arena arena;            /* the texts */
  tn_vec(interned) list;     /* name n is list.at[n - 1] */
  name_bucket *buckets;
  size_t bucket_count;         /* a power of two */
  size_t marked;             /* names, and their texts, to go back to */
  tn_arena_mark marked_texts;
};

#define FIRST_BUCKETS 64

tn_names *tn_names_new(tn_heap *heap) {
  tn_names *names = tn_heap_alloc(heap, sizeof *names);
  if (!names) return NULL;
  names->heap = heap;
  tn_arena_init(&names->arena, heap);
  return names;
}

void tn_names_free(tn_names *names) {
  if (!names) return;
  tn_heap *heap = names->heap;
  tn_arena_free(&names->arena);
  tn_vec_free(heap, &names->list);
  tn_heap_free(heap, names->buckets, names->bucket_count * sizeof *names->buckets);
  tn_heap_free(heap, names, sizeof *names);
}

static size_t find_bucket(const tn_names *names, tn_str text, uint64_t hash) {
  size_t mask = names->bucket_count - 1, bucket = (size_t)hash & mask;
  for (; names->buckets[bucket].name; bucket = (bucket + 1) & mask) {
    if (names->buckets[bucket].tag != (uint32_t)(hash >> 32)) continue;
    const interned *known = &names->list.at[names->buckets[bucket].name - 1];
    if (known->hash == hash && tn_str_equal(known->text, text)) break;
  }
  return bucket;
}

static bool grow_buckets(tn_names *names) {
  size_t count = names->bucket_count ? names->bucket_count : FIRST_BUCKETS / 2, bytes;
  if (!tn_size_mul(count, 2 * sizeof *names->buckets, &bytes)) return false;
  name_bucket *buckets = tn_heap_alloc(names->heap, bytes);
  if (!buckets) return false;
  tn_heap_free(names->heap, names->buckets, names->bucket_count * sizeof *names->buckets);
  names->buckets = buckets;
  names->bucket_count = count * 2;
  for (size_t i = 0; i < names->list.count; i++) {
    size_t mask = names->bucket_count - 1, bucket = (size_t)names->list.at[i].hash & mask;
    while (buckets[bucket].name) bucket = (bucket + 1) & mask;
    buckets[bucket] = (name_bucket){ (tn_name)(i + 1), (uint32_t)(names->list.at[i].hash >> 32) };
  }
  return true;
}

static bool make_room(tn_names *names) {
  if (names->list.count >= UINT32_MAX - 1 || !tn_vec_reserve(names->heap, &names->list, 1)) return false;
  return names->list.count + 1 <= names->bucket_count - names->bucket_count / 4 || grow_buckets(names);
}

tn_name tn_names_intern(tn_names *names, tn_str text) {
  tn_name known = tn_names_find(names, text);
  if (known) return known;
  if (!make_room(names)) return 0;
  names->arena.failed = false;   /* an earlier refusal does not taint this one */
  tn_str copy = tn_arena_str(&names->arena, text);
  if (names->arena.failed) return 0;
  uint64_t hash = tn_str_hash(text);
  size_t bucket = find_bucket(names, text, hash);
  names->list.at[names->list.count++] = (interned){ copy, hash };
  names->buckets[bucket] = (name_bucket){ (tn_name)names->list.count, (uint32_t)(hash >> 32) };
  return names->buckets[bucket].name;
}

void tn_names_mark(tn_names *names) {
  names->marked = names->list.count;
  names->marked_texts = tn_arena_now(&names->arena);
}

bool tn_names_since(const tn_names *names, tn_name name) { return name > names->marked; }

/* No probe sequence passes through the bucket of the last name, so it can simply be freed. */
void tn_names_rewind(tn_names *names) {
  for (; names->list.count > names->marked; names->list.count--) {
    const interned *last = &tn_vec_last(&names->list);
    names->buckets[find_bucket(names, last->text, last->hash)] = (name_bucket){ 0 };
  }
  tn_arena_rewind(&names->arena, names->marked_texts);
}

tn_name tn_names_find(const tn_names *names, tn_str text) {
  if (names->bucket_count == 0) return 0;
  return names->buckets[find_bucket(names, text, tn_str_hash(text))].name;
}

tn_str tn_names_text(const tn_names *names, tn_name name) {
  if (name == 0 || name > names->list.count) return TN_LIT("");
  return names->list.at[name - 1].text;
}
