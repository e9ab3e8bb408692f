/* base/map.c: open addressing over an array of entries.
 *
 * The entries are in insertion order; the buckets hold only their indices. So iterating is a loop
 * over an array, independent of the hash, and growing the buckets moves no entry. Probing is
 * linear: buckets are four bytes, and sixteen of them share a cache line. At most three quarters of
 * the buckets are taken. */
#include "base/map.h"

#include <string.h>

#include "base/vec.h"

#define FIRST_BUCKETS 16

void tn_map_init(tn_map *map, tn_heap *heap) {
  *map = (tn_map){ .heap = heap };
}

void tn_map_free(tn_map *map) {
  tn_heap_free(map->heap, map->entries, map->capacity * sizeof *map->entries);
  tn_heap_free(map->heap, map->buckets, map->bucket_count * sizeof *map->buckets);
  tn_map_init(map, map->heap);
}

void tn_map_clear(tn_map *map) {
  if (map->bucket_count) memset(map->buckets, 0, map->bucket_count * sizeof *map->buckets);
  map->count = 0;
}

/* Handles are consecutive and pointers share their low bits; both must spread
 * over the low bits that choose a bucket. */
static size_t spread(uint64_t key) {
  key ^= key >> 32;
  key *= UINT64_C(0xd6e8feb86659fd93);
  key ^= key >> 32;
  key *= UINT64_C(0xd6e8feb86659fd93);
  key ^= key >> 32;
  return (size_t)key;
}

/* The bucket that holds the key, or the free one where it belongs. */
static size_t find_bucket(const tn_map *map, uint64_t key) {
  size_t mask = map->bucket_count - 1, bucket = spread(key) & mask;
  while (map->buckets[bucket] && map->entries[map->buckets[bucket] - 1].key != key)
    bucket = (bucket + 1) & mask;
  return bucket;
}

/* No probe sequence passes through the bucket of the last key, so it can simply be freed. */
void tn_map_rewind(tn_map *map, size_t count) {
  while (map->count > count) {
    map->buckets[find_bucket(map, map->entries[map->count - 1].key)] = 0;
    map->count--;
  }
}

static bool grow_buckets(tn_map *map) {
  size_t count = map->bucket_count ? map->bucket_count : FIRST_BUCKETS / 2, bytes;
  if (!tn_size_mul(count, 2 * sizeof *map->buckets, &bytes)) return false;
  uint32_t *buckets = tn_heap_alloc(map->heap, bytes);
  if (!buckets) return false;
  tn_heap_free(map->heap, map->buckets, map->bucket_count * sizeof *map->buckets);
  map->buckets = buckets;
  map->bucket_count = count * 2;
  for (size_t i = 0; i < map->count; i++) {
    map->buckets[find_bucket(map, map->entries[i].key)] = (uint32_t)(i + 1);
  }
  return true;
}

/* Both arrays have room before either is written, so a failure changes nothing. */
static bool make_room(tn_map *map) {
  if (map->count >= UINT32_MAX - 1) return false;
  map->entries = tn_vec_grow(map->heap, map->entries, &map->capacity, sizeof *map->entries, map->count, 1);
  if (map->count >= map->capacity) return false;
  return map->count + 1 <= map->bucket_count - map->bucket_count / 4 || grow_buckets(map);
}

bool tn_map_put(tn_map *map, uint64_t key, uint64_t value) {
  uint64_t *present = tn_map_get(map, key);
  if (present) {
    *present = value;
    return true;
  }
  if (!make_room(map)) return false;
  map->entries[map->count] = (tn_map_entry){ key, value };
  map->buckets[find_bucket(map, key)] = (uint32_t)++map->count;
  return true;
}

uint64_t *tn_map_get(const tn_map *map, uint64_t key) {
  if (map->bucket_count == 0) return NULL;
  uint32_t index = map->buckets[find_bucket(map, key)];
  return index ? &map->entries[index - 1].value : NULL;
}
