/* base/bytes.h: numbers in memory with a stated byte order.
 *
 * File formats, hashes and generators fix their byte order; processors differ. These functions read
 * and write any address, aligned or not; compilers turn each into one load or store if the byte
 * order matches. */
#ifndef TN_BASE_BYTES_H
#define TN_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t tn_load_le32(const void *at) {
  const unsigned char *b = at;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Not every compiler merges eight byte loads into one, and parsing numbers depends on it. */
static inline uint64_t tn_load_le64(const void *at) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
#else
  const unsigned char *b = at;
  return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 |
         (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 | (uint64_t)b[7] << 56;
#endif
}

static inline uint32_t tn_load_be32(const void *at) {
  const unsigned char *b = at;
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

static inline void tn_store_le64(void *at, uint64_t value) {
  unsigned char *b = at;
  for (int i = 0; i < 8; i++) b[i] = (unsigned char)(value >> 8 * i);
}

static inline void tn_store_be32(void *at, uint32_t value) {
  unsigned char *b = at;
  for (int i = 0; i < 4; i++) b[i] = (unsigned char)(value >> (24 - 8 * i));
}

static inline void tn_store_be64(void *at, uint64_t value) {
  unsigned char *b = at;
  for (int i = 0; i < 8; i++) b[i] = (unsigned char)(value >> (56 - 8 * i));
}

static inline bool tn_machine_is_big_endian(void) {
  uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 0;
}

/* Reverses the bytes of every element. */
static inline void tn_reverse_bytes(unsigned char *data, size_t bytes, size_t element) {
  for (size_t i = 0; i < bytes; i += element) {
    for (size_t a = i, b = i + element - 1; a < b; a++, b--) {
      unsigned char byte = data[a];
      data[a] = data[b];
      data[b] = byte;
    }
  }
}
#endif
