/* guard/landlock.c: restricts the file system to the paths of the policy.
 *
 * Every right that this kernel's Landlock can take away is taken away, and given
 * back for the paths of the policy alone. Debian's headers are older than its kernels, so constants
 * newer than the first version are defined here; rights that the kernel does not know yet are left
 * out. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* O_PATH */
#endif
#include "guard/internal.h"

#if defined(__linux__)
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ASK_VERSION       1u
#define RULE_PATH_BENEATH 1

/* Bits of the interface, by the version that brought them. */
#define EXECUTE                (1ull << 0) /* version 1 */
#define WRITE_FILE             (1ull << 1)
#define READ_FILE              (1ull << 2)
#define READ_DIR               (1ull << 3)
#define REMOVE_DIR             (1ull << 4)
#define REMOVE_FILE            (1ull << 5)
#define MAKE_REG               (1ull << 8)
#define FIRST_BITS             ((1ull << 13) - 1)
#define REFER                  (1ull << 13) /* version 2 */
#define TRUNCATE               (1ull << 14) /* version 3 */
#define IOCTL_DEV              (1ull << 15) /* version 5 */
#define BIND_TCP               (1ull << 0)  /* version 4 */
#define CONNECT_TCP            (1ull << 1)
#define SCOPE_ABSTRACT_SOCKETS (1ull << 0) /* version 6 */
#define SCOPE_SIGNALS          (1ull << 1)

typedef struct {
  uint64_t files, network, scoped;
} ruleset_attributes;

typedef struct {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed)) path_rule;

int tn_guard_landlock_version(void) {
  long version = syscall(TN_GUARD_CREATE_RULESET, NULL, (size_t)0, ASK_VERSION);
  return version > 0 ? (int)version : 0;
}

uint64_t tn_guard_file_rights(int version) {
  uint64_t rights = version >= 1 ? FIRST_BITS : 0;
  if (version >= 2) rights |= REFER;
  if (version >= 3) rights |= TRUNCATE;
  if (version >= 5) rights |= IOCTL_DEV;
  return rights;
}

/* A right to a folder holds for everything below it. A file has no rights of folders. */
uint64_t tn_guard_rights_of(tn_guard_access access, bool folder) {
  uint64_t rights = READ_FILE;
  if (access == TN_GUARD_UNMAKE) return folder ? REMOVE_DIR : 0;
  if (access == TN_GUARD_WRITE) rights |= WRITE_FILE | TRUNCATE;
  if (folder && access == TN_GUARD_WRITE) rights |= MAKE_REG | REMOVE_FILE;
  if (folder) rights |= READ_DIR;
  return rights;
}

/* Naming a folder in a program does not grant its contents: reading a folder is an error of the
 * program, and stays one. */
static bool add_path(int ruleset, const tn_guard_path *path, uint64_t known) {
  int opened = open(path->path, O_PATH | O_CLOEXEC);
  struct stat about;
  if (opened < 0) return true;
  bool ok = fstat(opened, &about) == 0;
  bool folder = ok && S_ISDIR(about.st_mode);
  if (ok && !(folder && path->access == TN_GUARD_NAMED) && !(!folder && path->access == TN_GUARD_UNMAKE)) {
    path_rule rule = { .allowed = tn_guard_rights_of(path->access, folder) & known, .parent = opened };
    ok = syscall(TN_GUARD_ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0u) == 0;
  }
  (void)close(opened);
  return ok;
}

static int make_ruleset(const tn_guard_policy *policy, int version) {
  bool offline = !(policy->grants & TN_GUARD_NETWORK);
  /* Its processes could neither be ended nor learn that it is gone; the system calls are limited to that. */
  uint64_t signals = policy->has_children ? 0 : SCOPE_SIGNALS;
  ruleset_attributes attributes = {
    .files = tn_guard_file_rights(version),
    .network = version >= 4 && offline ? BIND_TCP | CONNECT_TCP : 0,
    .scoped = version >= 6 ? SCOPE_ABSTRACT_SOCKETS | signals : 0,
  };
  size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8; /* older kernels know a shorter one */
  return (int)syscall(TN_GUARD_CREATE_RULESET, &attributes, size, 0u);
}

bool tn_guard_restrict_files(const tn_guard_policy *policy, int version) {
  int ruleset = make_ruleset(policy, version);
  if (ruleset < 0) return false;
  bool ok = true;
  for (size_t i = 0; ok && i < policy->count; i++) {
    const tn_guard_path *path = &policy->paths[i];
    if (tn_guard_takes_part(policy, path)) ok = add_path(ruleset, path, tn_guard_file_rights(version));
  }
  ok = ok && syscall(TN_GUARD_RESTRICT_SELF, ruleset, 0u) == 0;
  (void)close(ruleset);
  return ok;
}
#endif
