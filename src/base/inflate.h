/* base/inflate.h: decompressing deflate data (RFC 1951), and the checksum of archives. */
#ifndef TN_BASE_INFLATE_H
#define TN_BASE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stop.h"

/* No packed byte stands for more than this many. */
#define TN_INFLATE_RATIO 1032

/* Unpacks exactly `size` bytes into `out`. False when the data is damaged, ends early or holds more or less,
 * and after a stop (which may be NULL). Takes no memory of its own and never reads or writes outside of what
 * it was given. */
bool tn_inflate(tn_stop *stop, const void *packed, size_t packed_size, void *out, size_t size);

/* The first bytes of what is packed, for looking before unpacking: how many there are. At most `size`, and
 * where there are as many, no less than TN_INFLATE_WORD fewer: it ends between two words. */
#define TN_INFLATE_WORD 258
size_t tn_inflate_start(const void *packed, size_t packed_size, void *out, size_t size);

/* CRC-32 as zip has it; any number after a stop (which may be NULL). */
uint32_t tn_crc32(tn_stop *stop, const void *bytes, size_t count);
#endif
