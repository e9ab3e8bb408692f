/* base/map.h: a hash table from 64-bit keys to 64-bit values.
 *
 * Keys are names, handles or hashes. Only the keys inserted last can be removed. Iteration is in
 * insertion order, so that nothing depends on hashing. */
#ifndef TN_BASE_MAP_H
#define TN_BASE_MAP_H

#include "base/heap.h"

typedef struct {
  uint64_t key, value;
} tn_map_entry;

typedef struct {
  tn_heap *heap;
  tn_map_entry *entries;   /* in insertion order */
  size_t count, capacity;
  uint32_t *buckets;         /* index into entries plus 1; 0 is free */
  size_t bucket_count;
} tn_map;

void tn_map_init(tn_map *map, tn_heap *heap);
void tn_map_free(tn_map *map);
void tn_map_clear(tn_map *map);   /* keeps the memory */
/* Removes what was inserted after the first `count` keys. */
void tn_map_rewind(tn_map *map, size_t count);
/* Inserts or replaces. False when memory runs out; the map is then unchanged. */
bool tn_map_put(tn_map *map, uint64_t key, uint64_t value);
/* NULL when absent. Valid until the next put. */
uint64_t *tn_map_get(const tn_map *map, uint64_t key);
#endif
