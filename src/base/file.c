/* base/file.c: reads whole files and streams.
 *
 * A plain file has a known size, so a file over the limit is refused at once and others are read
 * into one block of the right size. Standard input may be a pipe or a device, which has no size:
 * its block doubles until the end or the limit. Either way reading continues to the end of file:
 * the size is only a hint, because files grow and those of /proc report 0. */
#include "base/file.h"

#include <errno.h>
#if !defined(__wasi__)
#include <poll.h>
#endif
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_internal.h"

#define FIRST_BLOCK ((size_t)64 << 10)
#define PIECE_BYTES ((size_t)1 << 20)
#define READ_AT_ONCE ((size_t)16 << 20) /* bytes: some milliseconds */

/* ---- reading ---- */

/* A block that is being filled. One byte of it is kept for the NUL. */
typedef struct {
  char *at;
  size_t len, capacity;
} filling;

/* Makes room for at least one more byte. Never allocates more than the limit, one byte to detect
 * that it is exceeded, and the NUL. */
static bool grow(tn_heap *heap, filling *block, size_t first, uint64_t limit) {
  if (block->len + 1 < block->capacity) return true;
  size_t most = limit < SIZE_MAX - 2 ? (size_t)limit + 2 : SIZE_MAX;
  size_t wanted = block->capacity == 0 ? first : block->capacity > most / 2 ? most : block->capacity * 2;
  if (wanted > most) wanted = most;
  if (wanted <= block->len + 1) return false;
  char *moved = tn_heap_resize(heap, block->at, block->capacity, wanted);
  if (!moved) return false;
  block->at = moved;
  block->capacity = wanted;
  return true;
}

/* Waits for something to read, until the deadline at most. Plain files are always ready. */
static void await(int descriptor, const tn_stop *stop) {
#if !defined(__wasi__)
  double left = tn_stop_time_left(stop);
  if (left < 0) return;
  struct pollfd wanted = { .fd = descriptor, .events = POLLIN };
  (void)poll(&wanted, 1, left < 1e6 ? (int)(left * 1000) + 1 : -1);
#else
  (void)descriptor, (void)stop;
#endif
}

/* A stop is reported like a failed allocation: callers end where they can fail anyway, and the heap
 * records the reason. Then -1 with errno EINTR. */
static ssize_t read_some(tn_heap *heap, int descriptor, filling *block, tn_file_faults *faults) {
  size_t room = tn_file_bounded(faults, block->capacity - 1 - block->len);
  if (room > READ_AT_ONCE) room = READ_AT_ONCE;
  for (;;) {
    if (tn_file_fault(faults, TN_FILE_CALL_READ)) return -1;
    await(descriptor, heap->stop);
    if (tn_stop_asked(heap->stop)) {
      heap->stopped = heap->failed = true;
      errno = EINTR;
      return -1;
    }
    ssize_t got = read(descriptor, block->at + block->len, room);
    if (got >= 0 || errno != EINTR) return got;
  }
}

static tn_file_status read_failed(const tn_heap *heap) {
  return heap->stopped ? TN_FILE_NO_MEMORY : tn_file_status_of(errno);
}

static tn_file_status fill(tn_heap *heap, int descriptor, size_t first, uint64_t limit,
                           tn_file_faults *faults, filling *block) {
  for (;;) {
    if (!grow(heap, block, first, limit)) return TN_FILE_NO_MEMORY;
    ssize_t got = read_some(heap, descriptor, block, faults);
    if (got < 0) return read_failed(heap);
    if (got == 0) break;
    block->len += (size_t)got;
    if (block->len > limit) return TN_FILE_TOO_LARGE;
  }
  block->at[block->len] = 0;
  return TN_FILE_OK;
}

/* Directories and files over the limit; *first is the block to start with. */
static tn_file_status inspect(int descriptor, uint64_t limit, size_t *first) {
  struct stat about;
  *first = FIRST_BLOCK;
  if (fstat(descriptor, &about) != 0) return tn_file_status_of(errno);
  if (S_ISDIR(about.st_mode)) return TN_FILE_IS_DIRECTORY;
  if (!S_ISREG(about.st_mode) || about.st_size <= 0) return TN_FILE_OK;
  uintmax_t bytes = (uintmax_t)about.st_size;
  if (bytes > limit) return TN_FILE_TOO_LARGE;
  if (bytes > SIZE_MAX - 2) return TN_FILE_NO_MEMORY;
  *first = (size_t)bytes + 2; /* one byte more than the file, to detect its end, and the NUL */
  return TN_FILE_OK;
}

tn_file_status tn_file_read_open(tn_heap *heap, int descriptor, uint64_t limit, tn_file_faults *faults,
                                 tn_file_bytes *out) {
  size_t first;
  filling block = { 0 };
  *out = (tn_file_bytes){ .at = "" };
  tn_file_status status = inspect(descriptor, limit, &first);
  if (status == TN_FILE_OK) status = fill(heap, descriptor, first, limit, faults, &block);
  if (status == TN_FILE_OK) *out = (tn_file_bytes){ block.at, block.len, block.capacity };
  else tn_heap_free(heap, block.at, block.capacity);
  return status;
}

/* Closes the descriptor; an error of close() does not matter after reading. */
static tn_file_status read_and_close(tn_heap *heap, int descriptor, uint64_t limit, tn_file_faults *faults,
                                     tn_file_bytes *out) {
  tn_file_status status = tn_file_read_open(heap, descriptor, limit, faults, out);
  (void)close(descriptor);
  return status;
}

tn_file_status tn_file_read(tn_heap *heap, const char *path, uint64_t limit, tn_file_faults *faults,
                            tn_file_bytes *out) {
  int descriptor;
  *out = (tn_file_bytes){ .at = "" };
  tn_file_status status = tn_file_open_plain(path, faults, &descriptor);
  return status == TN_FILE_OK ? read_and_close(heap, descriptor, limit, faults, out) : status;
}

tn_file_status tn_file_read_beneath(tn_heap *heap, const char *root, const char *path, uint64_t limit,
                                    tn_file_faults *faults, tn_file_bytes *out) {
  int descriptor;
  *out = (tn_file_bytes){ .at = "" };
  tn_file_status status = tn_file_open_beneath(root, path, faults, &descriptor);
  return status == TN_FILE_OK ? read_and_close(heap, descriptor, limit, faults, out) : status;
}

tn_file_status tn_file_read_resolved(tn_heap *heap, const char *path, uint64_t limit, tn_file_faults *faults,
                                     tn_file_bytes *out) {
  int descriptor;
  *out = (tn_file_bytes){ .at = "" };
  tn_file_status status = tn_file_open_resolved(path, faults, &descriptor);
  return status == TN_FILE_OK ? read_and_close(heap, descriptor, limit, faults, out) : status;
}

/* ---- pieces ---- */

static tn_file_status read_pieces(tn_heap *heap, int descriptor, filling *block, uint64_t limit,
                                  tn_file_faults *faults, tn_file_take take, void *context) {
  for (uint64_t total = 0;;) {
    block->len = 0;
    ssize_t got = read_some(heap, descriptor, block, faults);
    if (got < 0) return read_failed(heap);
    if (got == 0) return TN_FILE_OK;
    total += (uint64_t)got;
    if (total > limit) return TN_FILE_TOO_LARGE;
    if (!take(context, (tn_str){ block->at, (size_t)got })) return TN_FILE_OK;
  }
}

tn_file_status tn_file_read_pieces(tn_heap *heap, const char *path, bool resolved, uint64_t limit,
                                   tn_file_faults *faults, tn_file_take take, void *context) {
  size_t first;
  int descriptor;
  tn_file_status status = (resolved ? tn_file_open_resolved : tn_file_open_plain)(path, faults, &descriptor);
  if (status != TN_FILE_OK) return status;
  status = inspect(descriptor, limit, &first);
  filling block = { .capacity = first < PIECE_BYTES ? first : PIECE_BYTES };
  if (status == TN_FILE_OK) block.at = tn_heap_alloc(heap, block.capacity);
  if (status == TN_FILE_OK && !block.at) status = TN_FILE_NO_MEMORY;
  if (status == TN_FILE_OK) status = read_pieces(heap, descriptor, &block, limit, faults, take, context);
  tn_heap_free(heap, block.at, block.capacity);
  (void)close(descriptor);
  return status;
}

void tn_file_release(tn_heap *heap, tn_file_bytes *bytes) {
  if (bytes->held) tn_heap_free(heap, (void *)(uintptr_t)bytes->at, bytes->held);
  *bytes = (tn_file_bytes){ .at = "" };
}
