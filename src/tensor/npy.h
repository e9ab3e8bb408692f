/* tensor/npy.h: NumPy's file format for one array.
 *
 * Files are untrusted: everything the header says is checked against the size of
 * the file before memory is allocated, and unknown features are refused. Reads
 * versions 1 to 3, both byte orders and both orders of axes; writes version 1,
 * little-endian, row-major. Integers that tern
 * has no dtype for become the next wider one that holds all of them: i1, i2, u1
 * and u2 are i32, u4 is i64; u8 is i64 as long as its numbers fit. */
#ifndef TN_TENSOR_NPY_H
#define TN_TENSOR_NPY_H

#include "tensor/tensor.h"

typedef enum {
  TN_NPY_OK = 0,
  TN_NPY_MAGIC,       /* not an .npy file */
  TN_NPY_VERSION,     /* a version that does not exist yet */
  TN_NPY_HEADER,      /* the header is damaged or cut off */
  TN_NPY_DTYPE,       /* elements that tern does not have (or that the format does not) */
  TN_NPY_RANK,        /* more than TN_RANK_LIMIT axes */
  TN_NPY_TOO_LARGE,   /* more than TN_ELEMENT_LIMIT elements */
  TN_NPY_SIZE,        /* the file is shorter or longer than its header says */
  TN_NPY_BOOL,        /* a bool that is neither 0 nor 1 */
  TN_NPY_RANGE,       /* an unsigned 64-bit number that i64 does not hold */
  TN_NPY_ARCHIVE,     /* .npz: no archive, or a damaged one */
  TN_NPY_PACKED,      /* .npz: packed by something other than deflate */
  TN_NPY_MEMBER,      /* .npz: no array of that name */
  TN_NPY_WHICH,       /* .npz: several arrays, and no name was given */
  TN_NPY_MEMORY
} tn_npy_error;

/* A phrase that completes "cannot read x.npy: ..."; static. */
const char *tn_npy_reason(tn_npy_error error);

/* Reads a whole file. The tensor is contiguous, its NaNs canonical; on failure *out is untouched. */
tn_npy_error tn_npy_read(tn_heap *heap, const void *file, size_t bytes, tn_tensor *out);
/* Checks the header of a file of `bytes` bytes, given its first `known` bytes, before the rest is
 * unpacked. */
tn_npy_error tn_npy_check(const void *start, size_t known, size_t bytes);
#define TN_NPY_START 65800 /* bytes that hold the header of every array tern reads */
/* Adds a whole file to `out`; bf16 has no spelling in the format and is TN_NPY_DTYPE. */
tn_npy_error tn_npy_write(const tn_view *view, tn_text *out);
#endif
