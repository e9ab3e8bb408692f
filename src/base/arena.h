/* base/arena.h: memory that is freed all at once.
 *
 * A compilation allocates from one arena. A failed allocation returns NULL and
 * sets `failed`; constructors turn that into their error node, and a pass checks
 * `failed` once, at its end. */
#ifndef TN_BASE_ARENA_H
#define TN_BASE_ARENA_H

#include "base/heap.h"
#include "base/str.h"

typedef struct tn_arena_chunk tn_arena_chunk;

typedef struct {
  tn_heap *heap;
  tn_arena_chunk *chunk;  /* the newest; it links to older ones */
  size_t first;           /* size of the first chunk, for programs with many small arenas; 0: the default */
  bool failed;
} tn_arena;

void tn_arena_init(tn_arena *arena, tn_heap *heap);
/* Zeroed, 16-byte aligned, valid until reset or free. */
void *tn_arena_alloc(tn_arena *arena, size_t bytes);
/* count * size with the multiplication checked. */
void *tn_arena_array(tn_arena *arena, size_t count, size_t size);
void *tn_arena_copy(tn_arena *arena, const void *from, size_t bytes);
/* A copy with a terminating NUL; an empty string on failure. */
tn_str tn_arena_str(tn_arena *arena, tn_str text);
/* A mark to go back to: it frees everything allocated since. */
typedef struct {
  tn_arena_chunk *chunk, *older;
  size_t used;
} tn_arena_mark;
tn_arena_mark tn_arena_now(const tn_arena *arena);
void tn_arena_rewind(tn_arena *arena, tn_arena_mark mark);
/* Frees everything but keeps one chunk for reuse. */
void tn_arena_reset(tn_arena *arena);
void tn_arena_free(tn_arena *arena);

/* As tn_stack_room; if the stack has no room, `failed` is set as for a failed allocation. */
static inline bool tn_arena_room(tn_arena *arena) {
  if (tn_stack_room(&arena->heap->stack)) return true;
  arena->failed = true;
  return false;
}

#define tn_arena_new(arena, type) ((type *)tn_arena_alloc((arena), sizeof(type)))
#endif
