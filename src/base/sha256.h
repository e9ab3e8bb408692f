/* base/sha256.h: SHA-256 (FIPS 180-4), whole or in chunks. */
#ifndef TN_BASE_SHA256_H
#define TN_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define TN_SHA256_BYTES 32

typedef struct {
  uint32_t state[8];
  uint64_t bytes;             /* taken in so far */
  unsigned char block[64];    /* the bytes % 64 that wait for a full block */
} tn_sha256;

void tn_sha256_init(tn_sha256 *hash);
void tn_sha256_update(tn_sha256 *hash, const void *data, size_t bytes);
/* The hash must be initialised again before it is used again. */
void tn_sha256_final(tn_sha256 *hash, unsigned char out[TN_SHA256_BYTES]);
void tn_sha256_of(const void *data, size_t bytes, unsigned char out[TN_SHA256_BYTES]);
#endif
