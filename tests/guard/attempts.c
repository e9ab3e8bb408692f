/* guard/attempts.c: every way out that we know of, by raw system calls.
 *
 * An attempt does the forbidden thing and says whether it worked: a file was
 * read, a call succeeded. Each runs in a process of its own. */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "guard/escape.h"
#include "guard/guard.h"

typedef const tn_fixture *given;

static bool worked(long result) { return result >= 0; }

/* The forbidden thing about a file is what is in it. */
static bool reads(long descriptor) {
  char byte;
  return descriptor >= 0 && read((int)descriptor, &byte, 1) == 1;
}

static const char *inside(const char *prefix, const char *path) {
  static char text[1024];
  snprintf(text, sizeof text, "%s%s", prefix, path);
  return text;
}

#ifdef SYS_open
static long plain_open(const char *path, int flags) { return syscall(SYS_open, path, flags, 0600); }
#else
static long plain_open(const char *path, int flags) {
  return syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
}
#endif
static long open_at(int folder, const char *path, int flags) {
  return syscall(SYS_openat, folder, path, flags, 0600);
}

/* ---- reading ---- */

static bool read_open(given f) { return reads(plain_open(f->secret, O_RDONLY)); }
static bool read_openat(given f) { return reads(open_at(AT_FDCWD, f->secret, O_RDONLY)); }
static bool read_openat2(given f) {
  uint64_t how[3] = { O_RDONLY, 0, 0 };
  return reads(syscall(SYS_openat2, AT_FDCWD, f->secret, how, sizeof how));
}
static bool read_symlink(given f) { return reads(plain_open(f->link, O_RDONLY)); }
static bool read_dots(given f) { return reads(plain_open(inside(f->out, "/../secret"), O_RDONLY)); }
static bool read_proc_root(given f) {
  return reads(plain_open(inside("/proc/self/root", f->secret), O_RDONLY));
}
static bool read_thread_root(given f) {
  return reads(plain_open(inside("/proc/thread-self/root", f->secret), O_RDONLY));
}
static bool read_parent_root(given f) {
  char root[64];
  snprintf(root, sizeof root, "/proc/%d/root", (int)getppid());
  return reads(plain_open(inside(root, f->secret), O_RDONLY));
}
static bool read_proc_cwd(given f) {
  (void)f; /* the program was started in the fixture's folder */
  return reads(plain_open("/proc/self/cwd/secret", O_RDONLY));
}
static bool read_relative(given f) {
  (void)f;
  return reads(plain_open("secret", O_RDONLY));
}
static bool read_old_folder(given f) { return reads(open_at(f->folder_fd, "secret", O_RDONLY)); }
static bool read_reopened(given f) {
  long path_only = open_at(f->folder_fd, "secret", O_PATH);
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%ld", path_only);
  return path_only >= 0 && reads(plain_open(name, O_RDONLY));
}
static bool read_after_chdir(given f) {
  return worked(syscall(SYS_chdir, f->folder)) && reads(plain_open("secret", O_RDONLY));
}
static bool read_after_chroot(given f) {
  return worked(syscall(SYS_chroot, f->folder)) && reads(plain_open("/secret", O_RDONLY));
}
static bool read_by_handle(given f) {
  struct {
    unsigned bytes;
    int type;
    unsigned char handle[128];
  } handle = { .bytes = 128 };
  int mount;
  if (syscall(SYS_name_to_handle_at, f->folder_fd, "secret", &handle, &mount, 0) != 0) return false;
  return reads(syscall(SYS_open_by_handle_at, f->folder_fd, &handle, O_RDONLY));
}
static bool read_by_tree(given f) {
  long tree = syscall(SYS_open_tree, AT_FDCWD, f->folder, 1 /* OPEN_TREE_CLONE */);
  return tree >= 0 && reads(open_at((int)tree, "secret", O_RDONLY));
}
static bool read_by_hard_link(given f) {
  const char *name = inside(f->out, "/borrowed");
  return worked(syscall(SYS_linkat, AT_FDCWD, f->secret, AT_FDCWD, name, 0)) &&
         reads(plain_open(name, O_RDONLY));
}
static bool read_by_rename(given f) {
  const char *name = inside(f->out, "/borrowed");
  return worked(syscall(SYS_renameat2, AT_FDCWD, f->secret, AT_FDCWD, name, 0)) &&
         reads(plain_open(name, O_RDONLY));
}
static bool read_passwords(given f) {
  (void)f;
  return reads(plain_open("/etc/passwd", O_RDONLY));
}
static bool read_other_memory(given f) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/environ", f->victim);
  return reads(plain_open(name, O_RDONLY));
}
static bool read_device(given f) {
  (void)f;
  return reads(plain_open("/dev/zero", O_RDONLY));
}
static bool read_folder(given f) {
  char entries[1024];
  long folder = plain_open(f->folder, O_RDONLY | O_DIRECTORY);
  return folder >= 0 && syscall(SYS_getdents64, (int)folder, entries, sizeof entries) > 0;
}
static bool read_open_folder(given f) {
  char entries[1024];
  (void)lseek(f->folder_fd, 0, SEEK_SET);
  return syscall(SYS_getdents64, f->folder_fd, entries, sizeof entries) > 0;
}
static bool watch_folder(given f) {
  long watcher = syscall(SYS_inotify_init1, 0);
  return watcher >= 0 && worked(syscall(SYS_inotify_add_watch, (int)watcher, f->folder, 0xfff));
}
static bool watch_everything(given f) {
  (void)f;
  return worked(syscall(SYS_fanotify_init, 0, 0));
}
static bool read_named(given f) { return reads(plain_open(f->named, O_RDONLY)); }
static bool read_out(given f) { return reads(plain_open(inside(f->out, "/old"), O_RDONLY)); }

/* ---- writing ---- */

static bool write_open(given f) { return worked(plain_open(f->secret, O_WRONLY)); }
static bool write_named(given f) { return worked(plain_open(f->named, O_WRONLY)); }
static bool write_append(given f) { return worked(open_at(AT_FDCWD, f->named, O_WRONLY | O_APPEND)); }
static bool write_truncating(given f) { return worked(plain_open(f->named, O_RDONLY | O_TRUNC)); }
static bool write_symlink(given f) { return worked(plain_open(f->link, O_WRONLY)); }
static bool write_new(given f) { return worked(plain_open(inside(f->folder, "/new"), O_WRONLY | O_CREAT)); }
static bool write_new_at(given f) { return worked(open_at(f->folder_fd, "new", O_RDWR | O_CREAT)); }
static bool write_creat(given f) {
#ifdef SYS_creat
  return worked(syscall(SYS_creat, inside(f->folder, "/new"), 0600));
#else
  return write_new(f);
#endif
}
static bool write_nameless(given f) { return worked(plain_open(f->folder, O_TMPFILE | O_RDWR)); }
static bool write_truncate(given f) { return worked(syscall(SYS_truncate, f->secret, 0L)); }
static bool make_folder(given f) { return worked(syscall(SYS_mkdirat, f->folder_fd, "new", 0700)); }
static bool make_pipe(given f) {
  return worked(syscall(SYS_mknodat, f->folder_fd, "new", S_IFIFO | 0600, 0));
}
static bool make_device(given f) {
  return worked(syscall(SYS_mknodat, f->folder_fd, "new", S_IFCHR | 0600, 0x103));
}
static bool make_symlink(given f) { return worked(syscall(SYS_symlinkat, "/etc", f->folder_fd, "new")); }
static bool make_symlink_out(given f) {
  return worked(syscall(SYS_symlinkat, "/etc", AT_FDCWD, inside(f->out, "/new")));
}
static bool make_link(given f) {
  return worked(syscall(SYS_linkat, f->folder_fd, "named", f->folder_fd, "new", 0));
}
static bool remove_file(given f) { return worked(syscall(SYS_unlinkat, f->folder_fd, "secret", 0)); }
static bool remove_folder(given f) {
  return worked(syscall(SYS_unlinkat, f->folder_fd, "empty", AT_REMOVEDIR));
}
static bool rename_file(given f) {
  return worked(syscall(SYS_renameat2, f->folder_fd, "secret", f->folder_fd, "moved", 0));
}
static bool rename_out_of(given f) {
  return worked(syscall(SYS_renameat2, AT_FDCWD, inside(f->out, "/old"), f->folder_fd, "moved", 0));
}
static bool exchange_files(given f) {
  return worked(syscall(SYS_renameat2, AT_FDCWD, inside(f->out, "/old"), f->folder_fd, "secret", 2));
}
static bool change_mode(given f) { return worked(syscall(SYS_fchmodat, f->folder_fd, "secret", 0777)); }
static bool change_owner(given f) {
  return worked(syscall(SYS_fchownat, f->folder_fd, "secret", getuid(), getgid(), 0));
}
static bool change_times(given f) { return worked(syscall(SYS_utimensat, f->folder_fd, "secret", NULL, 0)); }
static bool change_attribute(given f) {
  return worked(syscall(SYS_setxattr, f->secret, "user.tern", "x", 1, 0));
}
static bool replace_in_out(given f) {
  char from[420], to[420];
  snprintf(from, sizeof from, "%s/fresh", f->out);
  snprintf(to, sizeof to, "%s/old", f->out);
  long made = open_at(AT_FDCWD, from, O_WRONLY | O_CREAT | O_EXCL);
  bool ok = made >= 0 && write((int)made, "x", 1) == 1 && worked(syscall(SYS_fsync, (int)made)) &&
            worked(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
  return ok && worked(syscall(SYS_unlinkat, AT_FDCWD, to, 0));
}

/* A program that runs with the rights of the user who started tern would be left behind. */
static bool make_with_mode(given f, int mode) {
  char path[420];
  struct stat made;
  snprintf(path, sizeof path, "%s/fresh", f->out);
  long opened = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, mode);
  return opened >= 0 && fstat((int)opened, &made) == 0 && (made.st_mode & 06000);
}
static bool make_set_user(given f) { return make_with_mode(f, 04755); }
static bool make_set_group(given f) { return make_with_mode(f, 02755); }
static bool change_open_mode(given f, unsigned mode) {
  char path[420];
  snprintf(path, sizeof path, "%s/old", f->out);
  long opened = open_at(AT_FDCWD, path, O_WRONLY);
  return opened >= 0 && worked(syscall(SYS_fchmod, (int)opened, mode));
}
static bool become_set_user(given f) { return change_open_mode(f, 04755); }
static bool become_set_group(given f) { return change_open_mode(f, 02755); }
static bool become_sticky(given f) { return change_open_mode(f, 01755); }
static bool keep_plain_mode(given f) { return change_open_mode(f, 0640); }

/* ---- other programs and memory that can be executed ---- */

static char *const arguments[] = { (char *)"escape", (char *)"escaped", NULL };
static char *const environment[] = { NULL };

static bool start_program(given f) { return worked(syscall(SYS_execve, f->self, arguments, environment)); }
static bool start_program_at(given f) {
  return worked(syscall(SYS_execveat, AT_FDCWD, f->self, arguments, environment, 0));
}
static bool make_memory_file(given f) {
  (void)f;
  return worked(syscall(SYS_memfd_create, "escape", 0));
}
static bool start_memory_file(given f) {
  char block[65536];
  long from = plain_open(f->self, O_RDONLY), to = syscall(SYS_memfd_create, "escape", 0);
  ssize_t got;
  if (from < 0 || to < 0) return false;
  while ((got = read((int)from, block, sizeof block)) > 0) {
    if (write((int)to, block, (size_t)got) != got) return false;
  }
  return worked(syscall(SYS_execveat, (int)to, "", arguments, environment, AT_EMPTY_PATH));
}
static bool map_executable(given f) {
  (void)f;
  return (void *)syscall(SYS_mmap, NULL, 4096UL, PROT_READ | PROT_WRITE | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L) != MAP_FAILED;
}
static bool make_executable(given f) {
  (void)f;
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page != MAP_FAILED && worked(syscall(SYS_mprotect, page, 4096UL, PROT_READ | PROT_EXEC));
}
static bool make_executable_with_key(given f) {
  (void)f;
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page != MAP_FAILED && worked(syscall(SYS_pkey_mprotect, page, 4096UL, PROT_READ | PROT_EXEC, -1));
}
static bool change_personality(given f) {
  (void)f;
  return worked(syscall(SYS_personality, 0x0400000UL /* READ_IMPLIES_EXEC */));
}
static bool share_memory(given f) {
  (void)f;
  long segment = syscall(SYS_shmget, IPC_PRIVATE, 4096UL, IPC_CREAT | 0600);
  if (segment >= 0) (void)syscall(SYS_shmctl, segment, IPC_RMID, NULL);
  return segment >= 0;
}
static bool make_semaphores(given f) {
  (void)f;
  long set = syscall(SYS_semget, IPC_PRIVATE, 1, IPC_CREAT | 0600);
  if (set >= 0) (void)syscall(SYS_semctl, set, 0, IPC_RMID, 0);
  return set >= 0;
}
static bool make_message_queue(given f) {
  (void)f;
  long queue = syscall(SYS_msgget, IPC_PRIVATE, IPC_CREAT | 0600);
  if (queue >= 0) (void)syscall(SYS_msgctl, queue, IPC_RMID, NULL);
  return queue >= 0;
}

/* ---- processes ---- */

static bool be_traced(given f) {
  (void)f;
  return worked(syscall(SYS_ptrace, PTRACE_TRACEME, 0, NULL, NULL));
}
static bool trace_other(given f) { return worked(syscall(SYS_ptrace, PTRACE_SEIZE, f->victim, NULL, NULL)); }
static bool read_process(given f) {
  char here[1];
  struct iovec to = { here, 1 }, from = { (void *)(uintptr_t)&tn_attempt_count, 1 };
  return syscall(SYS_process_vm_readv, f->victim, &to, 1UL, &from, 1UL, 0UL) == 1;
}
static char written_by_others;
static bool write_process(given f) {
  char here[1] = { 1 };
  struct iovec from = { here, 1 }, to = { &written_by_others, 1 };
  return syscall(SYS_process_vm_writev, f->victim, &from, 1UL, &to, 1UL, 0UL) == 1;
}
static bool signal_other(given f) { return worked(syscall(SYS_kill, f->victim, 0)); }
static bool signal_group(given f) {
  (void)f;
  return worked(syscall(SYS_kill, 0, 0));
}
static bool signal_thread(given f) { return worked(syscall(SYS_tkill, f->victim, 0)); }
static bool signal_thread_of(given f) { return worked(syscall(SYS_tgkill, f->victim, f->victim, 0)); }
static bool signal_queued(given f) {
  siginfo_t about = { .si_code = SI_QUEUE, .si_signo = SIGCONT };
  return worked(syscall(SYS_rt_sigqueueinfo, f->victim, SIGCONT, &about));
}
static bool signal_queued_thread(given f) {
  siginfo_t about = { .si_code = SI_QUEUE, .si_signo = SIGCONT };
  return worked(syscall(SYS_rt_tgsigqueueinfo, f->victim, f->victim, SIGCONT, &about));
}
static bool open_process(given f) { return worked(syscall(434 /* pidfd_open */, f->victim, 0)); }
static bool signal_by_descriptor(given f) {
  long process = syscall(434, f->victim, 0);
  return process >= 0 && worked(syscall(424 /* pidfd_send_signal */, (int)process, 0, NULL, 0));
}
static bool take_descriptor(given f) {
  long process = syscall(434, f->victim, 0);
  return process >= 0 && worked(syscall(438 /* pidfd_getfd */, (int)process, 0, 0));
}
static bool signal_by_input(given f) {
  int ends[2] = { f->socket_fd, f->socket_fd };
  return worked(syscall(SYS_fcntl, ends[0], F_SETOWN, f->victim)) &&
         worked(syscall(SYS_fcntl, ends[1], F_SETSIG, SIGCONT));
}
static bool compare_processes(given f) {
  return worked(syscall(SYS_kcmp, getpid(), f->victim, 1 /* KCMP_VM */, 0, 0));
}
static bool bind_other(given f) {
  unsigned long cores[16];
  memset(cores, 255, sizeof cores);
  return worked(syscall(SYS_sched_setaffinity, f->victim, sizeof cores, cores));
}
static bool slow_other(given f) { return worked(syscall(SYS_setpriority, PRIO_PROCESS, f->victim, 1)); }
static bool limit_other(given f) {
  uint64_t limit[2] = { 64, 64 };
  return worked(syscall(SYS_prlimit64, f->victim, RLIMIT_NOFILE, limit, NULL));
}
static bool read_limits_of_other(given f) {
  uint64_t limit[2];
  return worked(syscall(SYS_prlimit64, f->victim, RLIMIT_NOFILE, NULL, limit));
}
static bool ask_input_priority(given f) { return worked(syscall(SYS_ioprio_set, 1, f->victim, 2 << 13 | 7)); }

static bool as_child(long child) {
  if (child == 0) _exit(0);
  return child > 0;
}
static bool start_process(given f) {
  (void)f;
  return as_child(syscall(SYS_clone, (unsigned long)SIGCHLD, NULL, NULL, NULL, 0UL));
}
static bool start_process3(given f) {
  uint64_t how[11] = { 0, 0, 0, 0, SIGCHLD };
  (void)f;
  return as_child(syscall(SYS_clone3, how, sizeof how));
}
static bool start_in_namespace(given f) {
  (void)f;
  return as_child(syscall(SYS_clone, (unsigned long)(CLONE_NEWUSER | SIGCHLD), NULL, NULL, NULL, 0UL));
}
static bool start_in_namespace3(given f) {
  uint64_t how[11] = { CLONE_NEWUSER | CLONE_NEWNET, 0, 0, 0, SIGCHLD };
  (void)f;
  return as_child(syscall(SYS_clone3, how, sizeof how));
}
static bool start_in_time3(given f) {
  uint64_t how[11] = { CLONE_NEWUSER | 0x80 /* CLONE_NEWTIME */, 0, 0, 0, SIGCHLD };
  (void)f;
  return as_child(syscall(SYS_clone3, how, sizeof how));
}
static bool enter_new_user(given f) {
  (void)f;
  return worked(syscall(SYS_unshare, CLONE_NEWUSER));
}
static bool enter_new_mounts(given f) {
  (void)f;
  return worked(syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS));
}
static bool enter_new_network(given f) {
  (void)f;
  return worked(syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNET));
}
static bool enter_other(given f) { return worked(syscall(SYS_setns, f->namespace_fd, 0)); }

/* ---- sockets ---- */

static bool connects(long descriptor, const void *address, socklen_t length) {
  return descriptor >= 0 && worked(syscall(SYS_connect, (int)descriptor, address, length));
}
static struct sockaddr_in loopback(int port) {
  return (struct sockaddr_in){ .sin_family = AF_INET,
                               .sin_port = htons((uint16_t)port),
                               .sin_addr = { htonl(INADDR_LOOPBACK) } };
}
static bool connect_inet(given f) {
  struct sockaddr_in address = loopback(f->tcp_port);
  return connects(syscall(SYS_socket, AF_INET, SOCK_STREAM, 0), &address, sizeof address);
}
static bool connect_inet6(given f) {
  struct sockaddr_in6 address = { .sin6_family = AF_INET6,
                                  .sin6_port = htons((uint16_t)f->tcp6_port),
                                  .sin6_addr = IN6ADDR_LOOPBACK_INIT };
  return connects(syscall(SYS_socket, AF_INET6, SOCK_STREAM, 0), &address, sizeof address);
}
static bool connect_old_socket(given f) {
  struct sockaddr_in address = loopback(f->tcp_port);
  return connects(f->socket_fd, &address, sizeof address);
}
static bool send_datagram(given f) {
  struct sockaddr_in address = loopback(f->udp_port);
  long made = syscall(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return made >= 0 && syscall(SYS_sendto, (int)made, "x", 1UL, 0, &address, (socklen_t)sizeof address) == 1;
}
static bool send_datagram6(given f) {
  struct sockaddr_in6 address = { .sin6_family = AF_INET6,
                                  .sin6_port = htons((uint16_t)f->udp_port),
                                  .sin6_addr = IN6ADDR_LOOPBACK_INIT };
  long made = syscall(SYS_socket, AF_INET6, SOCK_DGRAM, 0);
  return made >= 0 && syscall(SYS_sendto, (int)made, "x", 1UL, 0, &address, (socklen_t)sizeof address) == 1;
}
static bool serve_inet(given f) {
  (void)f;
  struct sockaddr_in address = loopback(0);
  long made = syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
  return made >= 0 && worked(syscall(SYS_bind, (int)made, &address, (socklen_t)sizeof address)) &&
         worked(syscall(SYS_listen, (int)made, 1));
}
static bool connect_unix(given f) {
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  snprintf(address.sun_path, sizeof address.sun_path, "%.100s", f->socket_path);
  return connects(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0), &address, sizeof address);
}
static bool bind_abstract(given f) {
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "tern-escape-%d", (int)getpid());
  long made = syscall(SYS_socket, AF_UNIX, SOCK_DGRAM, 0);
  (void)f;
  return made >= 0 && worked(syscall(SYS_bind, (int)made, &address, (socklen_t)sizeof address));
}
static bool make_pair(given f) {
  int ends[2];
  (void)f;
  return worked(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, ends));
}
static bool makes(int family, int type, int protocol) {
  return worked(syscall(SYS_socket, family, type, protocol));
}
static bool make_netlink(given f) { return (void)f, makes(AF_NETLINK, SOCK_RAW, 0); }
static bool make_packet(given f) { return (void)f, makes(AF_PACKET, SOCK_RAW, htons(3)); }
static bool make_raw(given f) { return (void)f, makes(AF_INET, SOCK_RAW, 1); }
static bool make_raw6(given f) { return (void)f, makes(AF_INET6, SOCK_RAW, 58); }
static bool make_vsock(given f) { return (void)f, makes(40, SOCK_STREAM, 0); }
static bool make_crypto(given f) { return (void)f, makes(38, SOCK_SEQPACKET, 0); }
static bool make_key(given f) { return (void)f, makes(15, SOCK_RAW, 2); }
static bool make_xdp(given f) { return (void)f, makes(44, SOCK_RAW, 0); }

/* ---- the kernel ---- */

static bool ring(given f) {
  unsigned parameters[30] = { 0 };
  (void)f;
  return worked(syscall(425 /* io_uring_setup */, 4, parameters));
}
static bool load_bpf(given f) {
  struct {
    uint32_t type, key, value, most, rest[28];
  } map = { 2, 4, 4, 1, { 0 } };
  (void)f;
  return worked(syscall(SYS_bpf, 0, &map, sizeof map));
}
static bool count_events(given f) {
  struct {
    uint32_t type, size;
    uint64_t config, rest[14];
  } event = { 1, 112, 0, { 0 } };
  (void)f;
  return worked(syscall(SYS_perf_event_open, &event, 0, -1, -1, 0UL));
}
static bool handle_faults(given f) { return (void)f, worked(syscall(SYS_userfaultfd, 0)); }
static bool add_key_(given f) { return (void)f, worked(syscall(SYS_add_key, "user", "tern", "x", 1UL, -3)); }
static bool ask_keys(given f) { return (void)f, worked(syscall(SYS_keyctl, 0, -3, 1)); }
static bool mount_(given f) { return worked(syscall(SYS_mount, "none", f->out, "tmpfs", 0UL, NULL)); }
static bool open_file_system(given f) { return (void)f, worked(syscall(430 /* fsopen */, "tmpfs", 0)); }
static bool read_kernel_log(given f) { return (void)f, worked(syscall(SYS_syslog, 10, NULL, 0)); }
static bool ask_clock(given f) {
  struct timex about = { 0 };
  (void)f;
  return worked(syscall(SYS_adjtimex, &about));
}
static bool name_host(given f) {
  struct utsname name;
  (void)f;
  return uname(&name) == 0 && worked(syscall(SYS_sethostname, name.nodename, strlen(name.nodename)));
}
static bool set_user(given f) { return (void)f, worked(syscall(SYS_setuid, getuid())); }
static bool set_capabilities(given f) {
  struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
  struct __user_cap_data_struct data[2];
  (void)f;
  return worked(syscall(SYS_capget, &header, data)) && worked(syscall(SYS_capset, &header, data));
}
static bool open_ports(given f) {
#ifdef SYS_iopl
  return (void)f, worked(syscall(SYS_iopl, 0));
#else
  return (void)f, false;
#endif
}
static bool type_for_user(given f) {
  (void)f;
  return worked(syscall(SYS_ioctl, 0, 0x5412UL /* TIOCSTI */, "x")) || errno == ENOTTY;
}

/* ---- undoing it ---- */

static bool raise_limit(given f) {
  struct rlimit limit = { 64, 64 };
  (void)f;
  return worked(syscall(SYS_setrlimit, RLIMIT_NOFILE, &limit));
}
static bool raise_own_limit(given f) {
  uint64_t limit[2] = { 64, 64 };
  (void)f;
  return worked(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, limit, NULL));
}
static bool become_dumpable(given f) {
  return (void)f, worked(syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0));
}
static bool admit_tracer(given f) {
  return worked(syscall(SYS_prctl, 0x59616d61 /* PR_SET_PTRACER */, f->victim, 0, 0, 0)) || errno == EINVAL;
}
static bool keep_capabilities(given f) {
  return (void)f, worked(syscall(SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0));
}
static bool filter_again(given f) {
  (void)f;
  return worked(syscall(SYS_seccomp, 2 /* SECCOMP_GET_ACTION_AVAIL */, 0, &(uint32_t){ 0x7fff0000u }));
}
static bool answer_calls(given f) {
  struct sock_filter allow = { .code = 0x06 /* return */, .k = 0x7fff0000u };
  struct sock_fprog program = { .len = 1, .filter = &allow };
  (void)f;
  (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return worked(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}
static bool another_ruleset(given f) { return (void)f, worked(syscall(444, NULL, 0UL, 1)); }

/* The same kernel through its older doors. */
static bool through_32_bit(given f) {
#if defined(__x86_64__)
  char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (low == MAP_FAILED) return false;
  snprintf(low, 4096, "%s", f->secret);
  long result;
  __asm__ volatile("int $0x80"
                   : "=a"(result)
                   : "a"(5), "b"(low), "c"(0), "d"(0)
                   : "memory", "r8", "r9", "r10", "r11");
  return reads((int)result);
#else
  return (void)f, false;
#endif
}
static bool through_x32(given f) {
#if defined(__x86_64__)
  return reads(syscall(0x40000000 | SYS_open, f->secret, O_RDONLY, 0));
#else
  return (void)f, false;
#endif
}

/* ---- what a computation needs, whatever is granted ---- */

static void *in_thread(void *seen) {
  *(int *)seen = 1;
  return NULL;
}
static bool start_thread(given f) {
  pthread_t thread;
  int seen = 0;
  (void)f;
  return pthread_create(&thread, NULL, in_thread, &seen) == 0 && pthread_join(thread, NULL) == 0 && seen == 1;
}
static bool take_memory(given f) {
  size_t bytes = (size_t)64 << 20;
  char *block = malloc(bytes);
  (void)f;
  if (!block) return false;
  memset(block, 1, bytes);
  bool ok = block[bytes - 1] == 1;
  free(block);
  return ok;
}
static volatile sig_atomic_t heard;
static void hear(int number) { heard = number; }
static bool hear_interrupt(given f) {
  (void)f;
  return signal(SIGINT, hear) != SIG_ERR && raise(SIGINT) == 0 && heard == SIGINT;
}
static bool measure_time(given f) {
  struct timespec now;
  (void)f;
  return clock_gettime(CLOCK_MONOTONIC, &now) == 0 && syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) == 0;
}
static bool print_line(given f) {
  (void)f;
  return dprintf(1, "%s", "") == 0 && fflush(NULL) == 0;
}

#define NAMED  TN_GUARD_FILEREAD
#define OUT    TN_GUARD_FILEWRITE
#define ONLINE TN_GUARD_NETWORK

const tn_attempt tn_attempts[] = {
  { "read: open", TN_NEVER, read_open },
  { "read: openat", TN_NEVER, read_openat },
  { "read: openat2", TN_NEVER, read_openat2 },
  { "read: a symbolic link in a folder that is granted", TN_NEVER, read_symlink },
  { "read: .. from a folder that is granted", TN_NEVER, read_dots },
  { "read: /proc/self/root", TN_NEVER, read_proc_root },
  { "read: /proc/thread-self/root", TN_NEVER, read_thread_root },
  { "read: /proc/PARENT/root", TN_NEVER, read_parent_root },
  { "read: /proc/self/cwd", TN_NEVER, read_proc_cwd },
  { "read: relative to the current folder", TN_NEVER, read_relative },
  { "read: relative to a folder that was open before", TN_NEVER, read_old_folder },
  { "read: O_PATH, then /proc/self/fd", TN_NEVER, read_reopened },
  { "read: chdir", TN_NEVER, read_after_chdir },
  { "read: chroot", TN_NEVER, read_after_chroot },
  { "read: open_by_handle_at", TN_NEVER, read_by_handle },
  { "read: open_tree", TN_NEVER, read_by_tree },
  { "read: a hard link in a folder that is granted", TN_NEVER, read_by_hard_link },
  { "read: renamed into a folder that is granted", TN_NEVER, read_by_rename },
  { "read: /etc/passwd", TN_NEVER, read_passwords },
  { "read: /proc/OTHER/environ", TN_NEVER, read_other_memory },
  { "read: a device", TN_NEVER, read_device },
  { "read: a folder's entries", TN_NEVER, read_folder },
  { "read: the entries of a folder that was open before", TN_NEVER, read_open_folder },
  { "read: inotify", TN_NEVER, watch_folder },
  { "read: fanotify", TN_NEVER, watch_everything },
  { "read: a file that the program names", NAMED, read_named },
  { "read: a file in a folder that is granted", OUT, read_out },
  { "write: open", TN_NEVER, write_open },
  { "write: a file that may be read", TN_NEVER, write_named },
  { "write: O_APPEND", TN_NEVER, write_append },
  { "write: O_TRUNC", TN_NEVER, write_truncating },
  { "write: a symbolic link in a folder that is granted", TN_NEVER, write_symlink },
  { "write: O_CREAT", TN_NEVER, write_new },
  { "write: openat O_CREAT", TN_NEVER, write_new_at },
  { "write: creat", TN_NEVER, write_creat },
  { "write: O_TMPFILE", TN_NEVER, write_nameless },
  { "write: truncate", TN_NEVER, write_truncate },
  { "write: mkdir", TN_NEVER, make_folder },
  { "write: mkfifo", TN_NEVER, make_pipe },
  { "write: mknod", TN_NEVER, make_device },
  { "write: symlink", TN_NEVER, make_symlink },
  { "write: symlink in a folder that is granted", TN_NEVER, make_symlink_out },
  { "write: link", TN_NEVER, make_link },
  { "write: unlink", TN_NEVER, remove_file },
  { "write: rmdir", TN_NEVER, remove_folder },
  { "write: rename", TN_NEVER, rename_file },
  { "write: rename out of a folder that is granted", TN_NEVER, rename_out_of },
  { "write: renameat2 RENAME_EXCHANGE", TN_NEVER, exchange_files },
  { "write: chmod", TN_NEVER, change_mode },
  { "write: chown", TN_NEVER, change_owner },
  { "write: utimensat", TN_NEVER, change_times },
  { "write: setxattr", TN_NEVER, change_attribute },
  { "write: create, sync, rename, remove in a folder that is granted", OUT, replace_in_out },
  { "write: O_CREAT with set-user-ID", TN_NEVER, make_set_user },
  { "write: O_CREAT with set-group-ID", TN_NEVER, make_set_group },
  { "write: fchmod set-user-ID", TN_NEVER, become_set_user },
  { "write: fchmod set-group-ID", TN_NEVER, become_set_group },
  { "write: fchmod sticky", TN_NEVER, become_sticky },
  { "write: fchmod of a file in a folder that is granted", OUT, keep_plain_mode },
  { "execute: execve", TN_NEVER, start_program },
  { "execute: execveat", TN_NEVER, start_program_at },
  { "execute: memfd_create", TN_NEVER, make_memory_file },
  { "execute: memfd_create, then execveat", TN_NEVER, start_memory_file },
  { "execute: mmap PROT_EXEC", TN_NEVER, map_executable },
  { "execute: mprotect PROT_EXEC", TN_NEVER, make_executable },
  { "execute: pkey_mprotect PROT_EXEC", TN_NEVER, make_executable_with_key },
  { "execute: personality READ_IMPLIES_EXEC", TN_NEVER, change_personality },
  { "process: shmget", TN_NEVER, share_memory },
  { "process: semget", TN_NEVER, make_semaphores },
  { "process: msgget", TN_NEVER, make_message_queue },
  { "process: ptrace PTRACE_TRACEME", TN_NEVER, be_traced },
  { "process: ptrace PTRACE_SEIZE", TN_NEVER, trace_other },
  { "process: process_vm_readv", TN_NEVER, read_process },
  { "process: process_vm_writev", TN_NEVER, write_process },
  { "process: kill", TN_NEVER, signal_other },
  { "process: kill of the group", TN_NEVER, signal_group },
  { "process: tkill", TN_NEVER, signal_thread },
  { "process: tgkill", TN_NEVER, signal_thread_of },
  { "process: rt_sigqueueinfo", TN_NEVER, signal_queued },
  { "process: rt_tgsigqueueinfo", TN_NEVER, signal_queued_thread },
  { "process: pidfd_open", TN_NEVER, open_process },
  { "process: pidfd_send_signal", TN_NEVER, signal_by_descriptor },
  { "process: pidfd_getfd", TN_NEVER, take_descriptor },
  { "process: fcntl F_SETOWN, F_SETSIG", TN_NEVER, signal_by_input },
  { "process: kcmp", TN_NEVER, compare_processes },
  { "process: sched_setaffinity", TN_NEVER, bind_other },
  { "process: setpriority", TN_NEVER, slow_other },
  { "process: ioprio_set", TN_NEVER, ask_input_priority },
  { "process: prlimit64 of another", TN_NEVER, limit_other },
  { "process: prlimit64 of another, reading", TN_NEVER, read_limits_of_other },
  { "process: clone", TN_NEVER, start_process },
  { "process: clone3", TN_NEVER, start_process3 },
  { "namespace: clone CLONE_NEWUSER", TN_NEVER, start_in_namespace },
  { "namespace: clone3 CLONE_NEWNET", TN_NEVER, start_in_namespace3 },
  { "namespace: clone3 CLONE_NEWTIME", TN_NEVER, start_in_time3 },
  { "namespace: unshare CLONE_NEWUSER", TN_NEVER, enter_new_user },
  { "namespace: unshare CLONE_NEWNS", TN_NEVER, enter_new_mounts },
  { "namespace: unshare CLONE_NEWNET", TN_NEVER, enter_new_network },
  { "namespace: setns", TN_NEVER, enter_other },
  { "socket: inet, connect", ONLINE, connect_inet },
  { "socket: inet6, connect", ONLINE, connect_inet6 },
  { "socket: inet, one that was made before", ONLINE, connect_old_socket },
  { "socket: inet, UDP", ONLINE, send_datagram },
  { "socket: inet6, UDP", ONLINE, send_datagram6 },
  { "socket: inet, listen", ONLINE, serve_inet },
  { "socket: unix, connect", TN_NEVER, connect_unix },
  { "socket: unix, abstract", TN_NEVER, bind_abstract },
  { "socket: socketpair", TN_NEVER, make_pair },
  { "socket: netlink", TN_NEVER, make_netlink },
  { "socket: packet", TN_NEVER, make_packet },
  { "socket: inet, raw", TN_NEVER, make_raw },
  { "socket: inet6, raw", TN_NEVER, make_raw6 },
  { "socket: vsock", TN_NEVER, make_vsock },
  { "socket: alg", TN_NEVER, make_crypto },
  { "socket: key", TN_NEVER, make_key },
  { "socket: xdp", TN_NEVER, make_xdp },
  { "kernel: io_uring_setup", TN_NEVER, ring },
  { "kernel: bpf", TN_NEVER, load_bpf },
  { "kernel: perf_event_open", TN_NEVER, count_events },
  { "kernel: userfaultfd", TN_NEVER, handle_faults },
  { "kernel: add_key", TN_NEVER, add_key_ },
  { "kernel: keyctl", TN_NEVER, ask_keys },
  { "kernel: mount", TN_NEVER, mount_ },
  { "kernel: fsopen", TN_NEVER, open_file_system },
  { "kernel: syslog", TN_NEVER, read_kernel_log },
  { "kernel: adjtimex", TN_NEVER, ask_clock },
  { "kernel: sethostname", TN_NEVER, name_host },
  { "kernel: setuid", TN_NEVER, set_user },
  { "kernel: capset", TN_NEVER, set_capabilities },
  { "kernel: iopl", TN_NEVER, open_ports },
  { "kernel: ioctl TIOCSTI", TN_NEVER, type_for_user },
  { "undo: setrlimit", TN_NEVER, raise_limit },
  { "undo: prlimit64", TN_NEVER, raise_own_limit },
  { "undo: prctl PR_SET_DUMPABLE", TN_NEVER, become_dumpable },
  { "undo: prctl PR_SET_PTRACER", TN_NEVER, admit_tracer },
  { "undo: prctl PR_SET_KEEPCAPS", TN_NEVER, keep_capabilities },
  { "undo: seccomp", TN_NEVER, filter_again },
  { "undo: a filter with a listener", TN_NEVER, answer_calls },
  { "undo: landlock_create_ruleset", TN_NEVER, another_ruleset },
  { "door: int 0x80", TN_NEVER, through_32_bit },
  { "door: x32 numbers", TN_NEVER, through_x32 },
  { "need: a thread", TN_ALWAYS, start_thread },
  { "need: memory", TN_ALWAYS, take_memory },
  { "need: Ctrl-C", TN_ALWAYS, hear_interrupt },
  { "need: a deadline", TN_ALWAYS, measure_time },
  { "need: standard output", TN_ALWAYS, print_line },
};
const size_t tn_attempt_count = sizeof tn_attempts / sizeof *tn_attempts;
