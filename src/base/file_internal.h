/* base/file_internal.h: what reading and writing files share. */
#ifndef TN_BASE_FILE_INTERNAL_H
#define TN_BASE_FILE_INTERNAL_H

#include "base/file.h"

tn_file_status tn_file_status_of(int error);
/* Counts the call; true, with errno set, when it is to fail. */
bool tn_file_fault(tn_file_faults *faults, tn_file_call call);
/* How many of `bytes` this read or write may take. */
size_t tn_file_bounded(const tn_file_faults *faults, size_t bytes);
/* open(2) with faults; closed on exec, tried again when interrupted. */
int tn_file_open(const char *path, int flags, tn_file_faults *faults);
#endif
