/* guard/without.c: runs a command on a kernel that lacks something.
 *
 *   without landlock|seccomp|both COMMAND...
 *
 * A filter answers the calls as a kernel does that has never heard of them. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LANDLOCK_FIRST 444
#define LANDLOCK_LAST  446

int main(int count, char **words) {
  if (count < 3) return 2;
  int keeps_landlock = strcmp(words[1], "seccomp") == 0, keeps_seccomp = strcmp(words[1], "landlock") == 0;
  unsigned first = keeps_landlock ? 0xffffffffu : LANDLOCK_FIRST, last = keeps_landlock ? 0 : LANDLOCK_LAST;
  struct sock_filter code[] = {
    { BPF_LD | BPF_W | BPF_ABS, 0, 0, 0 }, /* the call's number */
    { BPF_JMP | BPF_JEQ | BPF_K, 2, 0, keeps_seccomp ? 0xffffffffu : SYS_seccomp },
    { BPF_JMP | BPF_JGE | BPF_K, 0, 2, first },
    { BPF_JMP | BPF_JGT | BPF_K, 1, 0, last },
    { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS },
    { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
  };
  struct sock_fprog program = { .len = sizeof code / sizeof *code, .filter = code };
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
    perror("without");
    return 2;
  }
  execvp(words[2], words + 2);
  perror(words[2]);
  return 2;
}
