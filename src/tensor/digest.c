/* tensor/digest.c: the hash of a tensor's elements.
 *
 * What is hashed is the meaning, not the memory: row-major order whatever the
 * strides, little-endian whatever the machine, and one NaN whatever its bits.
 * Elements are copied into a block, normalised and hashed there, so the tensor itself is only read. */
#include "base/sha256.h"
#include "tensor/internal.h"

#define BLOCK_BYTES 8192

typedef struct {
  tn_sha256 *hash;
  tn_view block;        /* 1-d; its length is what is gathered so far */
  unsigned char bytes[BLOCK_BYTES];
} digester;

static void flush(digester *to) {
  size_t element = tn_dtype_bytes(to->block.dtype), bytes = (size_t)to->block.dim[0] * element;
  tn_view_canonicalise(&to->block);
  if (tn_machine_is_big_endian()) tn_reverse_bytes(to->bytes, bytes, element);
  tn_sha256_update(to->hash, to->bytes, bytes);
  to->block.dim[0] = 0;
}

static void gather(digester *to, tn_run run) {
  int64_t element = (int64_t)tn_dtype_bytes(to->block.dtype), capacity = BLOCK_BYTES / element;
  while (run.count) {
    if (to->block.dim[0] == capacity) flush(to);
    int64_t room = capacity - to->block.dim[0], count = run.count < room ? run.count : room;
    tn_view from = { .data = run.at, .dtype = to->block.dtype, .rank = 1, .dim = { count },
                     .stride = { run.step / element } };
    tn_view tail = { .data = to->bytes + to->block.dim[0] * element, .dtype = to->block.dtype, .rank = 1,
                       .dim = { count }, .stride = { 1 } };
    tn_view_copy(&tail, &from);
    to->block.dim[0] += count;
    run.count -= count;
    if (run.count) run.at += count * run.step;
  }
}

void tn_view_sha256_update(const tn_view *view, tn_sha256 *hash) {
  digester to;
  to.hash = hash;
  to.block = (tn_view){ .data = to.bytes, .dtype = view->dtype, .rank = 1, .stride = { 1 } };
  tn_runs runs = tn_runs_of(view);
  for (tn_run run; tn_runs_next(&runs, &run);) gather(&to, run);
  flush(&to);
}

void tn_view_sha256(const tn_view *view, uint8_t digest[32]) {
  tn_sha256 hash;
  tn_sha256_init(&hash);
  tn_view_sha256_update(view, &hash);
  tn_sha256_final(&hash, digest);
}
