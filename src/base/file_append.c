/* base/file_append.c: files that only grow, such as the history of a run.
 *
 * Writing such a file anew each time would cost more the longer it is. So the
 * end that is known to be good is kept by the caller: what a process that was
 * killed wrote after it is cut off before anything is added, and what could not
 * be added whole is cut off again. */
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

/* A file that is written keeps its permissions up to 0777; one that is owned by somebody else keeps all. */
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
  (void)close(descriptor);   /* it became something else after it was looked at */
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
  if (error != 0 && ftruncate(descriptor, (off_t)at) != 0) { /* the next one cuts it off */ }
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
