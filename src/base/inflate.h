/* base/inflate.h: decompressing deflate data (RFC 1951), and the checksum of archives. */
#ifndef TN_BASE_INFLATE_H
#define TN_BASE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stop.h"

/* The most bytes that one compressed byte can expand to. */
#define TN_INFLATE_RATIO 1032

/* Unpacks exactly `size` bytes into `out`. False when the data is damaged, ends early or holds more or less,
 * and after a stop (which may be NULL). Allocates nothing and never reads or writes outside its
 * arguments. */
bool tn_inflate(tn_stop *stop, const void *packed, size_t packed_size, void *out, size_t size);

/* Unpacks the first bytes, to inspect a file before unpacking it; returns how many. At most `size`;
 * fewer, by less than TN_INFLATE_WORD, because it stops between two symbols. */
#define TN_INFLATE_WORD 258
size_t tn_inflate_start(const void *packed, size_t packed_size, void *out, size_t size);

/* CRC-32 as in zip; an arbitrary number after a stop (which may be NULL). */
uint32_t tn_crc32(tn_stop *stop, const void *bytes, size_t count);
#endif
