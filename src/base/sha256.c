/* base/sha256.c: the compression function as the standard writes it.
 *
 * Words are read with a stated byte order, so a big-endian machine gives the
 * same hash. */
#include "base/sha256.h"

#include <string.h>

#include "base/bytes.h"

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constant[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int right) {
  return x >> right | x << (32 - right);
}

/* The block's sixteen words, and 48 more made from them. */
static void expand(const unsigned char block[64], uint32_t w[64]) {
  for (int t = 0; t < 16; t++) w[t] = tn_load_be32(block + 4 * t);
  for (int t = 16; t < 64; t++) {
    uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
    uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
}

/* The names move on by one with each round, instead of the values. */
#define ROUND(a, b, c, d, e, f, g, h, t)                                                      \
  (h += (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) +                \
        round_constant[t] + w[t],                                                             \
   d += h,                                                                                    \
   h += (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b))))

static void compress(uint32_t state[8], const unsigned char block[64]) {
  uint32_t w[64];
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
  expand(block, w);
  for (int t = 0; t < 64; t += 8) {
    ROUND(a, b, c, d, e, f, g, h, t);
    ROUND(h, a, b, c, d, e, f, g, t + 1);
    ROUND(g, h, a, b, c, d, e, f, t + 2);
    ROUND(f, g, h, a, b, c, d, e, t + 3);
    ROUND(e, f, g, h, a, b, c, d, t + 4);
    ROUND(d, e, f, g, h, a, b, c, t + 5);
    ROUND(c, d, e, f, g, h, a, b, t + 6);
    ROUND(b, c, d, e, f, g, h, a, t + 7);
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
  state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void tn_sha256_init(tn_sha256 *hash) {
  /* The first 32 bits of the fractional parts of the square roots of the first eight primes. */
  *hash = (tn_sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void tn_sha256_update(tn_sha256 *hash, const void *data, size_t bytes) {
  const unsigned char *from = data;
  size_t waiting = hash->bytes % 64;
  hash->bytes += bytes;
  if (waiting) {
    size_t taken = bytes < 64 - waiting ? bytes : 64 - waiting;
    if (taken) memcpy(hash->block + waiting, from, taken);
    if (waiting + taken < 64) return;
    compress(hash->state, hash->block);
    from += taken;
    bytes -= taken;
  }
  for (; bytes >= 64; from += 64, bytes -= 64) compress(hash->state, from);
  if (bytes) memcpy(hash->block, from, bytes);
}

void tn_sha256_final(tn_sha256 *hash, unsigned char out[TN_SHA256_BYTES]) {
  static const unsigned char padding[64] = { 0x80 };
  unsigned char bits[8];
  tn_store_be64(bits, hash->bytes * 8);
  size_t waiting = hash->bytes % 64;
  tn_sha256_update(hash, padding, waiting < 56 ? 56 - waiting : 120 - waiting);
  tn_sha256_update(hash, bits, sizeof bits);
  for (int i = 0; i < 8; i++) tn_store_be32(out + 4 * i, hash->state[i]);
}

void tn_sha256_of(const void *data, size_t bytes, unsigned char out[TN_SHA256_BYTES]) {
  tn_sha256 hash;
  tn_sha256_init(&hash);
  tn_sha256_update(&hash, data, bytes);
  tn_sha256_final(&hash, out);
}
