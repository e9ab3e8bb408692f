/* guard/guard.h: dropping rights that were not granted, enforced by the kernel.
 *
 * The languages check capabilities themselves and report what is missing. That
 * depends on our code being right; this does not: once tn_guard_enter has
 * returned, the kernel refuses every file that was not named (Landlock) and every
 * system call that a computation does not need (seccomp), permanently, for the
 * calling thread and all threads that it starts later. docs/security.md lists what
 * it cannot refuse.
 *
 * Nothing here reports or allocates; the caller decides what a missing kernel
 * feature means. Where the system is not Linux, nothing is supported. */
#ifndef TN_GUARD_GUARD_H
#define TN_GUARD_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* The capabilities, with the values they have everywhere else. */
enum { TN_GUARD_FILEREAD = 1, TN_GUARD_FILEWRITE = 2, TN_GUARD_CLOCK = 4, TN_GUARD_NETWORK = 8 };

typedef enum {
  TN_GUARD_READ,  /* a file; or a folder and everything below it */
  TN_GUARD_WRITE, /* a folder: files in it are created, replaced, read, removed */
  TN_GUARD_NAMED, /* to be read, if the program has been granted FILEREAD */
  TN_GUARD_UNMAKE /* a folder: empty folders in it are removed */
} tn_guard_access;

typedef struct {
  const char *path; /* NUL-terminated; a path that does not exist is skipped */
  tn_guard_access access;
} tn_guard_path;

/* The rights that are still needed. FILEREAD decides about the paths that the program names; CLOCK
 * has no effect here, because the time can be read without a system call. FILEWRITE has no effect
 * either: the folders that it grants are among the paths, as are those that the command line names. */
typedef struct {
  unsigned grants;
  const tn_guard_path *paths;
  size_t count;
  bool serves;        /* the sockets that are open accept and answer; no other is made */
  bool speaks;        /* the sockets that are open send and receive; no other is made */
  bool has_children;  /* processes that were started before are waited for, and ended by their pidfds */
  bool has_card;      /* NVIDIA's driver was started before: device files that are open are controlled */
  bool narrows;       /* tn_guard_narrow will be called later */
} tn_guard_policy;

/* What this kernel can enforce. */
typedef struct {
  int landlock; /* the version of its interface; 0: none */
  bool seccomp;
} tn_guard_support;

tn_guard_support tn_guard_supported(void);

/* What is enforced now. A member is false where the kernel cannot, or refused. */
typedef struct {
  bool files, calls;
  bool alone; /* there was no other thread, which would not be bound */
} tn_guard_state;

/* Irreversible. Enforces as much as the kernel supports, and returns what that is. */
tn_guard_state tn_guard_enter(const tn_guard_policy *policy);
/* A second layer inside the first, after an enter whose policy `narrows`: from now on both must agree. */
tn_guard_state tn_guard_narrow(const tn_guard_policy *policy);
#endif
