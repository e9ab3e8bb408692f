/* base/inflate.c: decompresses deflate data.
 *
 * Codes are read bit by bit and compared with the first code of each length. That is slower than a
 * table, but short, and no input can make it index outside its arrays. */
#include "base/inflate.h"

#include <string.h>

#define CODE_BITS    15
#define LITERALS     288
#define DISTANCES    30
#define END_OF_BLOCK 256

#define WORDS_PER_LOOK 4096 /* between two checks for a stop: at most a megabyte */

typedef struct {
  const uint8_t *at, *end;
  uint32_t bits; /* read and not yet used, the next lowest */
  int bit_count;
  uint8_t *out;
  size_t done, size;
  bool failed;
  tn_stop *stop;
} inflater;

/* A Huffman code: the number of symbols of each length, and the symbols in order of their codes. */
typedef struct {
  uint16_t count[CODE_BITS + 1];
  uint16_t word[LITERALS];
} code;

static bool fail(inflater *f) {
  f->failed = true;
  return false;
}

static uint32_t take_bits(inflater *f, int count) {
  while (f->bit_count < count) {
    if (f->at == f->end) {
      fail(f);
      return 0;
    }
    f->bits |= (uint32_t)*f->at++ << f->bit_count;
    f->bit_count += 8;
  }
  uint32_t value = f->bits & ((1u << count) - 1);
  f->bits >>= count;
  f->bit_count -= count;
  return value;
}

/* False when the lengths claim more codes than there are. */
static bool make_code(code *c, const uint8_t *lengths, int count) {
  uint16_t start[CODE_BITS + 1] = { 0 };
  int left = 1;
  *c = (code){ 0 };
  for (int i = 0; i < count; i++) c->count[lengths[i]]++;
  c->count[0] = 0;
  for (int length = 1; length <= CODE_BITS; length++) {
    left = left * 2 - c->count[length];
    if (left < 0) return false;
    start[length] = (uint16_t)(start[length - 1] + c->count[length - 1]);
  }
  for (int i = 0; i < count; i++) {
    if (lengths[i]) c->word[start[lengths[i]]++] = (uint16_t)i;
  }
  return true;
}

/* The next symbol; an incomplete code may have none. */
static int take_word(inflater *f, const code *c) {
  int value = 0, first = 0, index = 0;
  for (int length = 1; length <= CODE_BITS; length++) {
    value |= (int)take_bits(f, 1);
    int count = c->count[length];
    if (value - first < count) return c->word[index + value - first];
    index += count;
    first = (first + count) * 2;
    value *= 2;
  }
  fail(f);
  return 0;
}

static bool copy_back(inflater *f, size_t distance, size_t length) {
  if (f->failed || distance > f->done || length > f->size - f->done) return fail(f);
  for (size_t i = 0; i < length; i++, f->done++) f->out[f->done] = f->out[f->done - distance];
  return true;
}

static bool take_copy(inflater *f, int word, const code *distances) {
  static const uint16_t length_base[] = { 3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                          31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
  static const uint8_t length_bits[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                         2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
  static const uint16_t distance_base[] = { 1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                            33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                            1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577 };
  static const uint8_t distance_bits[] = { 0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                           6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13 };
  int which = word - END_OF_BLOCK - 1;
  if (which >= (int)sizeof length_bits) return fail(f);
  size_t length = length_base[which] + take_bits(f, length_bits[which]);
  int far = take_word(f, distances);
  if (far >= DISTANCES) return fail(f);
  size_t distance = distance_base[far] + take_bits(f, distance_bits[far]);
  return copy_back(f, distance, length);
}

static bool take_words(inflater *f, const code *literals, const code *distances) {
  for (unsigned words = 0; !f->failed; words++) {
    if (words % WORDS_PER_LOOK == WORDS_PER_LOOK - 1 && tn_stop_asked(f->stop)) return fail(f);
    int word = take_word(f, literals);
    if (f->failed || word == END_OF_BLOCK) return !f->failed;
    if (word > END_OF_BLOCK) {
      if (!take_copy(f, word, distances)) return false;
    } else {
      if (f->done == f->size) return fail(f);
      f->out[f->done++] = (uint8_t)word;
    }
  }
  return false;
}

static bool take_stored(inflater *f) {
  f->bits = 0;
  f->bit_count = 0; /* the rest of the byte is unused */
  if (f->end - f->at < 4) return fail(f);
  size_t length = f->at[0] | (size_t)f->at[1] << 8, check = f->at[2] | (size_t)f->at[3] << 8;
  f->at += 4;
  if ((length ^ check) != 0xffff || length > (size_t)(f->end - f->at) || length > f->size - f->done)
    return fail(f);
  memcpy(f->out + f->done, f->at, length);
  f->at += length;
  f->done += length;
  return true;
}

static bool take_fixed(inflater *f) {
  uint8_t lengths[LITERALS], far[DISTANCES];
  code literals, distances;
  memset(lengths, 8, sizeof lengths);
  memset(lengths + 144, 9, 112);
  memset(lengths + 256, 7, 24);
  memset(far, 5, sizeof far);
  if (!make_code(&literals, lengths, LITERALS) || !make_code(&distances, far, DISTANCES)) return fail(f);
  return take_words(f, &literals, &distances);
}

/* Lengths of codes, themselves in a code; 16 to 18 repeat. */
static bool take_lengths(inflater *f, const code *c, uint8_t *lengths, int count) {
  int next = 0;
  while (next < count) {
    int word = take_word(f, c), repeat = 1;
    uint8_t value = (uint8_t)word;
    if (f->failed) return false;
    if (word == 16) {
      if (next == 0) return fail(f);
      value = lengths[next - 1];
      repeat = 3 + (int)take_bits(f, 2);
    } else if (word > 16) {
      value = 0;
      repeat = word == 17 ? 3 + (int)take_bits(f, 3) : 11 + (int)take_bits(f, 7);
    }
    if (repeat > count - next) return fail(f);
    while (repeat-- > 0) lengths[next++] = value;
  }
  return true;
}

static bool take_dynamic(inflater *f) {
  static const uint8_t order[19] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
  uint8_t lengths[LITERALS + 32] = { 0 }, small[19] = { 0 };
  code literals, distances, words;
  int literal_count = (int)take_bits(f, 5) + 257, distance_count = (int)take_bits(f, 5) + 1;
  int small_count = (int)take_bits(f, 4) + 4;
  if (f->failed || literal_count > 286 || distance_count > DISTANCES) return fail(f);
  for (int i = 0; i < small_count; i++) small[order[i]] = (uint8_t)take_bits(f, 3);
  if (!make_code(&words, small, 19)) return fail(f);
  if (!take_lengths(f, &words, lengths, literal_count + distance_count)) return false;
  if (lengths[END_OF_BLOCK] == 0 || !make_code(&literals, lengths, literal_count)) return fail(f);
  if (!make_code(&distances, lengths + literal_count, distance_count)) return fail(f);
  return take_words(f, &literals, &distances);
}

static void take_blocks(inflater *f) {
  bool last = false;
  while (!last && !f->failed) {
    last = take_bits(f, 1) != 0;
    switch (take_bits(f, 2)) {
      case 0: take_stored(f); break;
      case 1: take_fixed(f); break;
      case 2: take_dynamic(f); break;
      default: fail(f);
    }
  }
}

bool tn_inflate(tn_stop *stop, const void *packed, size_t packed_size, void *out, size_t size) {
  inflater f = { .at = packed, .end = (const uint8_t *)packed + packed_size, .out = out, .size = size };
  f.stop = stop;
  take_blocks(&f);
  return !f.failed && f.done == size && f.at == f.end;
}

/* Ends where `out` is full, which fails the whole. */
size_t tn_inflate_start(const void *packed, size_t packed_size, void *out, size_t size) {
  inflater f = { .at = packed, .end = (const uint8_t *)packed + packed_size, .out = out, .size = size };
  take_blocks(&f);
  return f.done;
}

/* table[k][b] is what byte b adds when k zero bytes follow it. */
typedef struct {
  uint32_t table[4][256];
} crc_tables;

static void make_tables(crc_tables *t) {
  for (uint32_t b = 0; b < 256; b++) {
    uint32_t crc = b;
    for (int i = 0; i < 8; i++) crc = crc >> 1 ^ (0xedb88320 & (0 - (crc & 1)));
    t->table[0][b] = crc;
  }
  for (int k = 1; k < 4; k++)
    for (uint32_t b = 0; b < 256; b++)
      t->table[k][b] = t->table[k - 1][b] >> 8 ^ t->table[0][t->table[k - 1][b] & 255];
}

static uint32_t crc_of(const crc_tables *t, uint32_t crc, const uint8_t *at, size_t count) {
  for (; count >= 4; at += 4, count -= 4) {
    crc ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    crc = t->table[3][crc & 255] ^ t->table[2][crc >> 8 & 255] ^ t->table[1][crc >> 16 & 255] ^
          t->table[0][crc >> 24];
  }
  for (; count > 0; at++, count--) crc = crc >> 8 ^ t->table[0][(crc ^ *at) & 255];
  return crc;
}

#define CRC_PIECE ((size_t)1 << 20) /* bytes between two checks for a stop */

uint32_t tn_crc32(tn_stop *stop, const void *bytes, size_t count) {
  crc_tables tables;
  uint32_t crc = 0xffffffff;
  const uint8_t *at = bytes;
  make_tables(&tables);
  while (count > 0 && !tn_stop_asked(stop)) {
    size_t piece = count < CRC_PIECE ? count : CRC_PIECE;
    crc = crc_of(&tables, crc, at, piece);
    at += piece;
    count -= piece;
  }
  return ~crc;
}
