/* base/file_internal.h: what opening, reading and writing files share. */
#ifndef TN_BASE_FILE_INTERNAL_H
#define TN_BASE_FILE_INTERNAL_H

#include <sys/stat.h>

#include "base/file.h"

/* Not every system has controlling terminals. */
#ifndef O_NOCTTY
#define O_NOCTTY 0
#endif

tn_file_status tn_file_status_of(int error);
/* Counts the call; true, with errno set, if it must fail. */
bool tn_file_fault(tn_file_faults *faults, tn_file_call call);
/* How many of `bytes` this read or write may transfer. */
size_t tn_file_bounded(const tn_file_faults *faults, size_t bytes);
/* openat(2) with injected faults; close-on-exec, never blocks, retried when interrupted. */
int tn_file_open(int folder, const char *path, int flags, unsigned mode, tn_file_faults *faults);
/* Opens a folder, links followed. One that may be searched but not read is opened too; it cannot be
 * listed or synced. -1 with errno. */
int tn_file_open_folder(const char *path, tn_file_faults *faults);
/* The folder of the first `length` bytes of `path`, below the open folder `root`; no link is followed.
 * `root` itself when the length is 0; otherwise the caller closes what it gets. -1 with *status. */
int tn_file_walk(int root, const char *path, size_t length, tn_file_faults *faults, tn_file_status *status);
/* TN_FILE_OK for a plain file, or the status that says what it is instead. */
tn_file_status tn_file_kind(const struct stat *about);
/* Opens a plain file to read it; links are followed. *descriptor is -1 on failure. */
tn_file_status tn_file_open_plain(const char *path, tn_file_faults *faults, int *descriptor);
/* The same without following any link of an absolute path. */
tn_file_status tn_file_open_resolved(const char *path, tn_file_faults *faults, int *descriptor);
/* fsync with faults: 0, or the errno. Files that cannot be synced, such as many folders, are not
 * failures; neither are folders that may not be read. */
int tn_file_sync(int descriptor, tn_file_faults *faults);
/* tn_file_clear_leftovers for an open folder. */
void tn_file_clear(int folder);
#endif
