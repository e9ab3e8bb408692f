/* base/file_append.c: files that only grow, such as the history of a run.
 *
 * Writing such a file anew each time would cost more the longer it is. So the
 * end that is known to be good is kept by the caller: what a process that was
 * killed wrote behind it is cut off before anything is added, and what could not
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

static int sync_all(int descriptor, tn_file_faults *faults) {
  if (tn_file_fault(faults, TN_FILE_CALL_SYNC)) return errno;
  return fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno; /* a pipe cannot be synced */
}

tn_file_status tn_file_append(const char *path, uint64_t at, tn_str data, tn_file_faults *faults) {
  int descriptor = tn_file_open(path, O_WRONLY | O_CREAT, faults);
  if (descriptor < 0) return tn_file_status_of(errno);
  int error = ftruncate(descriptor, (off_t)at) == 0 ? 0 : errno;
  if (error == 0) error = write_all(descriptor, at, data, faults);
  if (error == 0) error = sync_all(descriptor, faults);
  if (error != 0 && ftruncate(descriptor, (off_t)at) != 0) { /* the next one cuts it off */ }
  if (close(descriptor) != 0 && error == 0) error = errno;
  return error == 0 ? TN_FILE_OK : tn_file_status_of(error);
}
