/* base/file_append.c: appends to files that only grow, such as the history of a run.
 *
 * Rewriting such a file each time would cost more the longer it is. So the caller keeps the length
 * that is known to be good. Bytes after it, written by a process that was killed, are removed
 * before anything is appended, and so are the bytes of an append that fails. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file_internal.h"

static int write_all(int descriptor, uint64_t at, tn_str data, tn_file_faults *faults) {
  size_t done = 0;
  while (done < data.len) {
    if (tn_file_fault(faults, TN_FILE_CALL_WRITE)) return errno;
    size_t part = tn_file_bounded(faults, data.len - done);
    ssize_t count = pwrite(descriptor, data.at + done, part, (off_t)(at + done));
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) done += (size_t)count;
  }
  return 0;
}

/* A file keeps its permissions up to 0777; one owned by another user keeps all of them. */
static void take_rights(int descriptor, const struct stat *about) {
#if defined(__wasi__)
  (void)descriptor, (void)about; /* there are no modes */
#else
  if ((about->st_mode & 07000) && fchmod(descriptor, about->st_mode & 0777) != 0) { /* not ours to change */ }
#endif
}

/* The file at the target, created if it is missing; -1 with errno. */
static int open_end(const tn_file_target *target, tn_file_faults *faults) {
  struct stat about;
  int descriptor = tn_file_open(target->folder, target->name, O_WRONLY | O_CREAT | O_NOFOLLOW, 0666, faults);
  if (descriptor < 0) return -1;
  if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode)) {
    take_rights(descriptor, &about);
    return descriptor;
  }
  (void)close(descriptor);   /* it was replaced after it was examined */
  errno = ENXIO;
  return -1;
}

static int write_end(const tn_file_target *target, uint64_t at, tn_str data, tn_file_faults *faults) {
  int descriptor = open_end(target, faults);
  if (descriptor < 0) return errno;
  int error = ftruncate(descriptor, (off_t)at) == 0 ? 0 : errno;
  if (error == 0) error = write_all(descriptor, at, data, faults);
  if (error == 0) error = tn_file_sync(descriptor, faults);
  if (error == 0 && !target->exists) error = tn_file_sync(target->folder, faults);
  if (error != 0 && ftruncate(descriptor, (off_t)at) != 0) { /* the next append truncates it */ }
  if (close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

tn_file_status tn_file_append(const char *path, uint64_t at, tn_str data, tn_file_faults *faults) {
  tn_file_target target;
  tn_file_status status = tn_file_find(&target, path, faults);
  if (status == TN_FILE_OK) status = tn_file_status_of(write_end(&target, at, data, faults));
  tn_file_forget(&target);
  return status;
}
