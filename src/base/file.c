/* base/file.c: reading.
 *
 * A regular file tells its size, so that one too large is refused at once and
 * the others are read into one block of the right size. A pipe or a device does
 * not: its block doubles until the end or the limit. Either way reading goes on
 * until the system says "end": a size is a hint, files grow and /proc lies. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_internal.h"

#define FIRST_BLOCK ((size_t)64 << 10)
#define PIECE_BYTES ((size_t)1 << 20)
#define LARGEST_READ ((size_t)1 << 30)   /* more in one call is not portable */

const char *tn_file_status_text(tn_file_status status) {
  switch (status) {
    case TN_FILE_OK: return "ok";
    case TN_FILE_NOT_FOUND: return "no such file";
    case TN_FILE_IS_DIRECTORY: return "it is a folder";
    case TN_FILE_NOT_DIRECTORY: return "a part of the path is not a folder";
    case TN_FILE_PERMISSION: return "permission denied";
    case TN_FILE_TOO_LARGE: return "the file is too large";
    case TN_FILE_NO_SPACE: return "no space left";
    case TN_FILE_NO_MEMORY: return "out of memory";
    case TN_FILE_IO: break;
  }
  return "input/output error";
}

tn_file_status tn_file_status_of(int error) {
  switch (error) {
    case 0: return TN_FILE_OK;
    case ENOENT: return TN_FILE_NOT_FOUND;
    case EISDIR: return TN_FILE_IS_DIRECTORY;
    case ENOTDIR: return TN_FILE_NOT_DIRECTORY;
    case EACCES: case EPERM: case EROFS: return TN_FILE_PERMISSION;
    case ENOSPC: case EDQUOT: case EFBIG: return TN_FILE_NO_SPACE;
    case ENOMEM: return TN_FILE_NO_MEMORY;
    default: return TN_FILE_IO;
  }
}

bool tn_file_fault(tn_file_faults *faults, tn_file_call call) {
  if (!faults || ++faults->calls[call] != faults->fail_at[call]) return false;
  errno = faults->error ? faults->error : EIO;
  return true;
}

size_t tn_file_bounded(const tn_file_faults *faults, size_t bytes) {
  if (bytes > LARGEST_READ) bytes = LARGEST_READ;
  return faults && faults->most_bytes && bytes > faults->most_bytes ? faults->most_bytes : bytes;
}

int tn_file_open(const char *path, int flags, tn_file_faults *faults) {
  if (tn_file_fault(faults, TN_FILE_CALL_OPEN)) return -1;
  for (;;) {
    int descriptor = open(path, flags | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}

/* ---- reading ---- */

/* A block that is being filled. One byte of it is kept for the NUL. */
typedef struct {
  char *at;
  size_t len, capacity;
} filling;

/* Room for at least one more byte. Never asks for more than the limit, one byte
 * that shows it was passed, and the NUL. */
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

static ssize_t read_some(int descriptor, filling *block, tn_file_faults *faults) {
  size_t room = tn_file_bounded(faults, block->capacity - 1 - block->len);
  for (;;) {
    if (tn_file_fault(faults, TN_FILE_CALL_READ)) return -1;
    ssize_t got = read(descriptor, block->at + block->len, room);
    if (got >= 0 || errno != EINTR) return got;
  }
}

static tn_file_status fill(tn_heap *heap, int descriptor, size_t first, uint64_t limit,
                           tn_file_faults *faults, filling *block) {
  for (;;) {
    if (!grow(heap, block, first, limit)) return TN_FILE_NO_MEMORY;
    ssize_t got = read_some(descriptor, block, faults);
    if (got < 0) return tn_file_status_of(errno);
    if (got == 0) break;
    block->len += (size_t)got;
    if (block->len > limit) return TN_FILE_TOO_LARGE;
  }
  block->at[block->len] = 0;
  return TN_FILE_OK;
}

/* Directories and files over the limit; *first is the block to start with. */
static tn_file_status inspect(int descriptor, uint64_t limit, size_t *first, bool *regular) {
  struct stat about;
  *first = FIRST_BLOCK;
  if (fstat(descriptor, &about) != 0) return tn_file_status_of(errno);
  *regular = S_ISREG(about.st_mode);
  if (S_ISDIR(about.st_mode)) return TN_FILE_IS_DIRECTORY;
  if (!*regular || about.st_size <= 0) return TN_FILE_OK;
  uintmax_t bytes = (uintmax_t)about.st_size;
  if (bytes > limit) return TN_FILE_TOO_LARGE;
  if (bytes > SIZE_MAX - 2) return TN_FILE_NO_MEMORY;
  *first = (size_t)bytes + 2;   /* one more than the file, so that its end shows, and the NUL */
  return TN_FILE_OK;
}

tn_file_status tn_file_read_open(tn_heap *heap, int descriptor, uint64_t limit, tn_file_faults *faults,
                                 tn_file_bytes *out) {
  size_t first;
  bool regular;
  filling block = { 0 };
  *out = (tn_file_bytes){ .at = "" };
  tn_file_status status = inspect(descriptor, limit, &first, &regular);
  if (status == TN_FILE_OK) status = fill(heap, descriptor, first, limit, faults, &block);
  if (status == TN_FILE_OK) *out = (tn_file_bytes){ block.at, block.len, block.capacity };
  else tn_heap_free(heap, block.at, block.capacity);
  return status;
}

/* Why a path could not be opened to be read. A folder is the wrong thing to read, whether or not it might
 * be looked into; a sandbox says neither. */
static tn_file_status refusal(const char *path) {
  struct stat about;
  tn_file_status status = tn_file_status_of(errno);
  bool folder = status == TN_FILE_PERMISSION && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
  return folder ? TN_FILE_IS_DIRECTORY : status;
}

tn_file_status tn_file_read(tn_heap *heap, const char *path, uint64_t limit, tn_file_faults *faults,
                            tn_file_bytes *out) {
  *out = (tn_file_bytes){ .at = "" };
  int descriptor = tn_file_open(path, O_RDONLY, faults);
  if (descriptor < 0) return refusal(path);
  tn_file_status status = tn_file_read_open(heap, descriptor, limit, faults, out);
  (void)close(descriptor);   /* what was read is read */
  return status;
}

/* ---- pieces ---- */

static tn_file_status read_pieces(int descriptor, filling *block, uint64_t limit, tn_file_faults *faults,
                                  tn_file_take take, void *context) {
  for (uint64_t total = 0;;) {
    block->len = 0;
    ssize_t got = read_some(descriptor, block, faults);
    if (got < 0) return tn_file_status_of(errno);
    if (got == 0) return TN_FILE_OK;
    total += (uint64_t)got;
    if (total > limit) return TN_FILE_TOO_LARGE;
    if (!take(context, (tn_str){ block->at, (size_t)got })) return TN_FILE_OK;
  }
}

tn_file_status tn_file_read_pieces(tn_heap *heap, const char *path, uint64_t limit, tn_file_faults *faults,
                                   tn_file_take take, void *context) {
  size_t first;
  bool regular;
  int descriptor = tn_file_open(path, O_RDONLY, faults);
  if (descriptor < 0) return refusal(path);
  tn_file_status status = inspect(descriptor, limit, &first, &regular);
  filling block = { .capacity = first < PIECE_BYTES ? first : PIECE_BYTES };
  if (status == TN_FILE_OK) block.at = tn_heap_alloc(heap, block.capacity);
  if (status == TN_FILE_OK && !block.at) status = TN_FILE_NO_MEMORY;
  if (status == TN_FILE_OK) status = read_pieces(descriptor, &block, limit, faults, take, context);
  tn_heap_free(heap, block.at, block.capacity);
  (void)close(descriptor);
  return status;
}

void tn_file_release(tn_heap *heap, tn_file_bytes *bytes) {
  if (bytes->held) tn_heap_free(heap, (void *)(uintptr_t)bytes->at, bytes->held);
  *bytes = (tn_file_bytes){ .at = "" };
}
