/* base/file.h: reads and writes whole files.
 *
 * Only plain files are opened by a path: a FIFO, a device or a socket is refused
 * at once, for reading and for writing. Reading says exactly why it failed, and
 * stops at a limit before memory is allocated. Writing replaces a file
 * atomically: a reader, a crash or a full disk sees the old file or the new one,
 * never a part. No other code of tern opens a file for writing
 * (tools/check_writes.sh). Nothing here prints, and nothing depends on the
 * current locale.
 *
 * Paths are NUL-terminated, in the encoding of the system. */
#ifndef TN_BASE_FILE_H
#define TN_BASE_FILE_H

#include "base/str.h"
#include "base/text.h"

typedef enum {
  TN_FILE_OK,
  TN_FILE_NOT_FOUND,
  TN_FILE_IS_DIRECTORY,
  TN_FILE_NOT_DIRECTORY, /* a part of the path is a file */
  TN_FILE_NOT_PLAIN,     /* a FIFO, a device, a socket */
  TN_FILE_LINK,          /* a symbolic link, and links are not followed here */
  TN_FILE_LINK_OUT,      /* to be written: a symbolic link that leads out of its folder */
  TN_FILE_PERMISSION,
  TN_FILE_TOO_LARGE,     /* over the caller's limit */
  TN_FILE_NO_SPACE,      /* the disk, or the user's share of it, is full */
  TN_FILE_OVER_LIMIT,    /* larger than the process or the file system allows */
  TN_FILE_NO_MEMORY,
  TN_FILE_IO             /* anything else the system reported */
} tn_file_status;

/* "no such file", ...; static. */
const char *tn_file_status_text(tn_file_status status);
/* The same as a word for programs: "not_found", "is_a_directory", ...; static. */
const char *tn_file_status_word(tn_file_status status);

/* Faults for tests: the n-th call of a kind (counted from 1; 0: none) fails
 * without reaching the system. NULL in ordinary use. */
typedef enum {
  TN_FILE_CALL_OPEN,
  TN_FILE_CALL_READ,
  TN_FILE_CALL_WRITE,
  TN_FILE_CALL_SYNC,
  TN_FILE_CALL_RENAME,
  TN_FILE_CALL_COUNT
} tn_file_call;

typedef struct {
  uint64_t fail_at[TN_FILE_CALL_COUNT];
  uint64_t calls[TN_FILE_CALL_COUNT];   /* calls so far, failed ones included */
  int error;                            /* the errno they fail with; 0: EIO */
  size_t most_bytes;                    /* the most bytes that a read or write transfers; 0: no limit */
  bool no_openat2;                      /* as on a kernel without it */
} tn_file_faults;

/* The kind of file at a path, links followed, for callers that let another library open it:
 * TN_FILE_OK for a plain file. Nothing is opened. */
tn_file_status tn_file_look(const char *path);

/* The contents of a file, NUL-terminated. */
typedef struct {
  const char *at;
  size_t len;
  size_t held;      /* bytes of the heap block */
} tn_file_bytes;

/* Reads all of it, up to `limit` bytes (UINT64_MAX: whatever memory holds). On failure *out is empty. */
tn_file_status tn_file_read(tn_heap *heap, const char *path, uint64_t limit, tn_file_faults *faults,
                            tn_file_bytes *out);
/* The same for a path below the folder `root` ("": the current one). `root` may be or contain a
 * link; `path` is relative, has no "." or "..", and no part of it is a link. */
tn_file_status tn_file_read_beneath(tn_heap *heap, const char *root, const char *path, uint64_t limit,
                                    tn_file_faults *faults, tn_file_bytes *out);
/* The same for an absolute path that was resolved: a link that appears in it meanwhile is
 * TN_FILE_LINK. */
tn_file_status tn_file_read_resolved(tn_heap *heap, const char *path, uint64_t limit, tn_file_faults *faults,
                                     tn_file_bytes *out);
/* Opens such a file for callers that read it in their own order and close it. *descriptor: -1 on failure. */
tn_file_status tn_file_open_beneath(const char *root, const char *path, tn_file_faults *faults,
                                    int *descriptor);
/* Reads all of an open descriptor, such as standard input, which stays open and may be a pipe. */
tn_file_status tn_file_read_open(tn_heap *heap, int descriptor, uint64_t limit, tn_file_faults *faults,
                                 tn_file_bytes *out);
/* Reads it in chunks, for files too large to hold in memory: each chunk is passed to `take`, which
 * may end the reading by returning false (the status is then TN_FILE_OK too). Unlike a mapped file,
 * the file may safely change or shrink meanwhile. `resolved`: as tn_file_read_resolved. */
typedef bool (*tn_file_take)(void *context, tn_str piece);
tn_file_status tn_file_read_pieces(tn_heap *heap, const char *path, bool resolved, uint64_t limit,
                                   tn_file_faults *faults, tn_file_take take, void *context);
void tn_file_release(tn_heap *heap, tn_file_bytes *bytes);

#define TN_FILE_NAME_BYTES 256   /* the longest file name, with its NUL */

/* Where a file is going to be written: its folder, held open, and its name there. Links in the folder's path
 * are followed. If the last part is a link, it is followed as long as it leads down from its
 * folder, through folders that are not links; a link to anywhere else is refused
 * (TN_FILE_LINK_OUT). Folders and special files are refused too. Nothing is written yet, but
 * leftovers in the folder are removed. */
typedef struct {
  int folder;                    /* -1: none */
  char name[TN_FILE_NAME_BYTES];
  bool exists;
  unsigned mode;                 /* permissions of the old file, up to 0777 */
} tn_file_target;

tn_file_status tn_file_find(tn_file_target *target, const char *path, tn_file_faults *faults);
void tn_file_forget(tn_file_target *target);   /* after a failed find too */

/* Atomic replacement, in chunks: begin, write, then commit or abandon; one
 * of the last two is always called after a successful begin. Until commit the
 * old file is untouched, and after any failure it still is, with the temporary
 * file gone. (One exception: when the last step fails, the sync of the folder, the new file is in
 * place, complete, but a power cut may bring back the old one.)
 *
 * The temporary file is in the same folder and has a random name, .tern-<16 hexadecimal
 * digits>.tmp. No existing file is written to. A file's permissions are kept, without setuid bits. */
typedef struct {
  tn_heap *heap;
  tn_file_faults *faults;
  tn_file_target target;
  char temporary[32];          /* empty: none */
  int descriptor;
  unsigned char *buffer;
  size_t buffered;
  tn_file_status status;       /* the first failure; later writes do nothing */
} tn_file_writer;

tn_file_status tn_file_begin(tn_file_writer *writer, tn_heap *heap, const char *path,
                             tn_file_faults *faults);
/* The same for a target that was found before; the writer takes ownership of it, even on failure. */
tn_file_status tn_file_begin_at(tn_file_writer *writer, tn_heap *heap, tn_file_target *target_take,
                                tn_file_faults *faults);
/* Returns the writer's status. It may be ignored, because commit returns it too. */
tn_file_status tn_file_write(tn_file_writer *writer, const void *data, size_t bytes);
/* Overwrites the first bytes of what was written. */
tn_file_status tn_file_rewrite(tn_file_writer *writer, const void *data, size_t bytes);
tn_file_status tn_file_commit(tn_file_writer *writer);
void tn_file_abandon(tn_file_writer *writer);
/* All at once. */
tn_file_status tn_file_replace(tn_heap *heap, const char *path, tn_str contents, tn_file_faults *faults);

/* Removes temporary files that killed processes have left in a folder: plain files with such a name
 * that belong to this user and that no process has locked. Writing does it too, but not inside the
 * sandbox, where a folder cannot be listed. */
void tn_file_clear_leftovers(const char *folder);
/* Whether that is the name of a temporary file. */
bool tn_file_is_temporary(const char *name);

/* Creates a folder and any missing parent folders. */
tn_file_status tn_file_make_folders(tn_heap *heap, const char *path);

/* The length of the longest prefix of a path that exists; the whole length when memory runs out. */
size_t tn_file_existing(tn_heap *heap, const char *path);
/* Removes the folders of a path after its first `there` bytes, the last one first, as long as they are empty.
 * The text is the same afterwards. */
void tn_file_remove_folders(char *path, size_t there);

/* Truncates a file to its first `at` bytes and appends `data`. If the write fails, what it wrote is
 * removed again. The file is created if it is missing. Its path is found as tn_file_find does. */
tn_file_status tn_file_append(const char *path, uint64_t at, tn_str data, tn_file_faults *faults);

/* Whether the last part of the path is a symbolic link. */
bool tn_file_is_link(const char *path);
/* Whether there is nothing of that name. */
bool tn_file_is_missing(const char *path);
/* Adds the absolute path of something that exists, without links and dots. False when there is nothing. */
bool tn_file_absolute(const char *path, tn_text *out);
/* The same for a path that may not exist yet: the existing part is resolved, and the rest is
 * appended unchanged. False if the rest contains "..", or a part cannot be examined. */
bool tn_file_place(const char *path, tn_text *out);
/* Adds the absolute path of a folder. On failure TN_FILE_NOT_FOUND, TN_FILE_NOT_DIRECTORY, or
 * another reason. */
tn_file_status tn_file_find_folder(const char *path, tn_text *out);
/* Adds the relative path from one folder to another, such as "../..", which stays valid when both
 * move together. False when one of them does not exist. */
bool tn_file_way(const char *from, const char *to, tn_text *out);
#endif
