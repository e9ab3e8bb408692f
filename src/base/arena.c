/* base/arena.c: bump allocation in chunks that double.
 *
 * A chunk is one heap block: a header, padding to 16 bytes, then the bytes that
 * are handed out in order. Chunks come zeroed from the heap and are zeroed again
 * when an arena is reset, so handing out is an addition and a comparison.
 *
 * A request too large for an ordinary chunk gets its own chunk, linked after the current one, so
 * that the free space of the current one stays in use. */
#include "base/arena.h"

#include <string.h>

#define ALIGNMENT 16
#define FIRST_CHUNK_BYTES ((size_t)4 << 10)
#define LARGEST_CHUNK_BYTES ((size_t)8 << 20) /* a few huge pages */

struct tn_arena_chunk {
  tn_arena_chunk *older;
  size_t bytes;   /* of the whole heap block */
  size_t start;   /* offset of the first byte to hand out; aligned in memory */
  size_t used;    /* offset of the first free byte; start <= used <= bytes */
};

void tn_arena_init(tn_arena *arena, tn_heap *heap) {
  *arena = (tn_arena){ .heap = heap };
}

static void *out_of_memory(tn_arena *arena) {
  arena->failed = true;
  return NULL;
}

static tn_arena_chunk *chunk_new(tn_heap *heap, size_t bytes) {
  tn_arena_chunk *chunk = tn_heap_alloc(heap, bytes);
  if (!chunk) return NULL;
  size_t misaligned = ((uintptr_t)chunk + sizeof *chunk) % ALIGNMENT;
  chunk->bytes = bytes;
  chunk->start = sizeof *chunk + (misaligned ? ALIGNMENT - misaligned : 0);
  chunk->used = chunk->start;
  return chunk;
}

static void *take(tn_arena_chunk *chunk, size_t bytes) {
  void *at = (char *)chunk + chunk->used;
  chunk->used += bytes;
  return at;
}

static size_t next_chunk_bytes(const tn_arena *arena) {
  size_t bytes = arena->chunk ? arena->chunk->bytes : 0;
  size_t first = arena->first ? arena->first : FIRST_CHUNK_BYTES;
  if (arena->heap->piecewise) return 0;
  if (bytes < first) return first;
  return bytes < LARGEST_CHUNK_BYTES / 2 ? bytes * 2 : LARGEST_CHUNK_BYTES;
}

/* The current chunk is full. `bytes` is a multiple of the alignment. */
static void *alloc_in_new_chunk(tn_arena *arena, size_t bytes) {
  size_t ordinary = next_chunk_bytes(arena), needed;
  if (!tn_size_add(bytes, sizeof(tn_arena_chunk) + ALIGNMENT, &needed)) return out_of_memory(arena);
  bool oversize = needed > ordinary;
  tn_arena_chunk *chunk = chunk_new(arena->heap, oversize ? needed : ordinary);
  if (!chunk) return out_of_memory(arena);
  if (oversize && arena->chunk) {
    chunk->older = arena->chunk->older;
    arena->chunk->older = chunk;
  } else {
    chunk->older = arena->chunk;
    arena->chunk = chunk;
  }
  return take(chunk, bytes);
}

void *tn_arena_alloc(tn_arena *arena, size_t bytes) {
  if (bytes > SIZE_MAX - ALIGNMENT) return out_of_memory(arena);
  /* Zero bytes still get a distinct, non-NULL address, so that NULL means failure. */
  size_t rounded = bytes ? (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1) : ALIGNMENT;
  tn_arena_chunk *chunk = arena->chunk;
  if (chunk && rounded <= chunk->bytes - chunk->used) return take(chunk, rounded);
  return alloc_in_new_chunk(arena, rounded);
}

void *tn_arena_array(tn_arena *arena, size_t count, size_t size) {
  size_t bytes;
  if (!tn_size_mul(count, size, &bytes)) return out_of_memory(arena);
  return tn_arena_alloc(arena, bytes);
}

void *tn_arena_copy(tn_arena *arena, const void *from, size_t bytes) {
  void *at = tn_arena_alloc(arena, bytes);
  if (at && bytes) memcpy(at, from, bytes);
  return at;
}

tn_str tn_arena_str(tn_arena *arena, tn_str text) {
  size_t bytes;
  char *at = tn_size_add(text.len, 1, &bytes) ? tn_arena_alloc(arena, bytes) : out_of_memory(arena);
  if (!at) return TN_LIT("");
  if (text.len) memcpy(at, text.at, text.len);
  return (tn_str){ at, text.len };   /* the NUL is there: chunks are zeroed */
}

/* Frees chunks down to `last`, which stays. */
static void free_until(tn_heap *heap, tn_arena_chunk *chunk, const tn_arena_chunk *last) {
  while (chunk != last) {
    tn_arena_chunk *older = chunk->older;
    tn_heap_free(heap, chunk, chunk->bytes);
    chunk = older;
  }
}

static void free_chunks(tn_heap *heap, tn_arena_chunk *chunk) { free_until(heap, chunk, NULL); }

tn_arena_mark tn_arena_now(const tn_arena *arena) {
  const tn_arena_chunk *chunk = arena->chunk;
  return (tn_arena_mark){ arena->chunk, chunk ? chunk->older : NULL, chunk ? chunk->used : 0 };
}

/* Large chunks that were added later may follow the chunk that was the newest. */
void tn_arena_rewind(tn_arena *arena, tn_arena_mark mark) {
  tn_arena_chunk *chunk = mark.chunk;
  free_until(arena->heap, arena->chunk, chunk);
  arena->chunk = chunk;
  if (!chunk) return;
  free_until(arena->heap, chunk->older, mark.older);
  chunk->older = mark.older;
  memset((char *)chunk + mark.used, 0, chunk->used - mark.used);
  chunk->used = mark.used;
}

void tn_arena_reset(tn_arena *arena) {
  tn_arena_chunk *chunk = arena->chunk;
  arena->failed = false;
  if (!chunk) return;
  free_chunks(arena->heap, chunk->older);
  memset((char *)chunk + chunk->start, 0, chunk->used - chunk->start);
  chunk->older = NULL;
  chunk->used = chunk->start;
}

void tn_arena_free(tn_arena *arena) {
  free_chunks(arena->heap, arena->chunk);
  arena->chunk = NULL;
  arena->failed = false;
}
