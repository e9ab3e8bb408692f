/* unit/guard.c: what the guard asks of kernels of every age, and what its filters decide.
 *
 * A filter is carried out here by a small machine of our own, so that a decision
 * can be asked for without being bound by it. */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base_support.h"
#include "guard/internal.h"

static void older_kernels_get_fewer_rights_to_handle(void **state) {
  (void)state;
  assert_int_equal(tn_guard_file_rights(0), 0);
  for (int version = 1; version < 12; version++) {
    uint64_t before = tn_guard_file_rights(version - 1), now = tn_guard_file_rights(version);
    assert_int_equal(before & ~now, 0);
  }
  assert_int_equal(tn_guard_file_rights(1), (1 << 13) - 1);
  assert_int_equal(tn_guard_file_rights(2), (1 << 14) - 1);
  assert_int_equal(tn_guard_file_rights(3), (1 << 15) - 1);
  assert_int_equal(tn_guard_file_rights(5), (1 << 16) - 1);
}

static void reading_is_never_writing(void **state) {
  (void)state;
  uint64_t read_file = tn_guard_rights_of(TN_GUARD_READ, false),
           write_bits = 1 << 1 | 1 << 8 | 1 << 5 | 1 << 14;
  assert_int_equal(read_file, 1 << 2);
  assert_int_equal(tn_guard_rights_of(TN_GUARD_NAMED, false), read_file);
  assert_int_equal(tn_guard_rights_of(TN_GUARD_READ, true) & write_bits, 0);
  assert_int_equal(tn_guard_rights_of(TN_GUARD_WRITE, true) & write_bits, write_bits);
  assert_int_equal(tn_guard_rights_of(TN_GUARD_UNMAKE, true), 1 << 4);
  assert_int_equal(tn_guard_rights_of(TN_GUARD_UNMAKE, false), 0);
  for (int access = TN_GUARD_READ; access <= TN_GUARD_UNMAKE; access++) {
    assert_int_equal(tn_guard_rights_of((tn_guard_access)access, true) & 1, 0); /* execute */
  }
}

#if TN_GUARD_HAS_FILTER
#include <linux/audit.h>
#include <linux/seccomp.h>

#define THIS_PROCESS 4711

/* What the kernel does with a filter: data is the number, the architecture, where, six arguments. */
static uint32_t carry_out(const tn_filter *filter, const uint32_t *data) {
  uint32_t a = 0;
  for (unsigned at = 0; at < filter->count; at++) {
    const struct sock_filter *i = &filter->code[at];
    switch (i->code) {
      case BPF_LD | BPF_W | BPF_ABS: a = data[i->k / 4]; break;
      case BPF_ALU | BPF_AND | BPF_K: a &= i->k; break;
      case BPF_JMP | BPF_JEQ | BPF_K: at += a == i->k ? i->jt : i->jf; break;
      case BPF_JMP | BPF_JGE | BPF_K: at += a >= i->k ? i->jt : i->jf; break;
      case BPF_RET | BPF_K: return i->k;
      default: fail_msg("an instruction that is not used: %x", i->code);
    }
  }
  fail_msg("the filter has no end");
  return 0;
}

static uint32_t this_arch(void) {
#if defined(__x86_64__)
  return AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  return AUDIT_ARCH_AARCH64;
#else
  return AUDIT_ARCH_RISCV64;
#endif
}

typedef struct {
  uint64_t argument[4];
} call;

static bool allows_on(const tn_guard_policy *policy, uint32_t arch, long number, call c) {
  static tn_filter filter;
  uint32_t data[16] = { (uint32_t)number, arch };
  for (int i = 0; i < 4; i++) {
    data[4 + 2 * i] = (uint32_t)c.argument[i];
    data[5 + 2 * i] = (uint32_t)(c.argument[i] >> 32);
  }
  tn_guard_write_filter(policy, THIS_PROCESS, &filter);
  assert_false(filter.overflow);
  uint32_t verdict = carry_out(&filter, data);
  if (verdict == SECCOMP_RET_ALLOW) return true;
  assert_int_equal(verdict & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
  assert_int_not_equal(verdict & SECCOMP_RET_DATA, 0);
  return false;
}

static bool allows(const tn_guard_policy *policy, long number, call c) {
  return allows_on(policy, this_arch(), number, c);
}

static const tn_guard_policy nothing = { 0 };

static void nothing_is_opened_where_nothing_is_named(void **state) {
  (void)state;
  tn_guard_path named = { "x", TN_GUARD_NAMED }, written = { "x", TN_GUARD_WRITE };
  tn_guard_policy unread = { .paths = &named, .count = 1 };
  tn_guard_policy reads = { .grants = TN_GUARD_FILEREAD, .paths = &named, .count = 1 };
  tn_guard_policy writes = { .paths = &written, .count = 1 };
  call reading = { { 0, 0, O_RDONLY } }, writing = { { 0, 0, O_WRONLY | O_CREAT } };
  assert_false(allows(&nothing, SYS_openat, reading));
  assert_false(allows(&unread, SYS_openat, reading));
  assert_true(allows(&reads, SYS_openat, reading));
  assert_false(allows(&reads, SYS_openat, writing));
  assert_false(allows(&reads, SYS_openat, (call){ { 0, 0, O_RDONLY | O_TRUNC } }));
  assert_false(allows(&reads, SYS_unlinkat, (call){ { 0 } }));
  assert_true(allows(&writes, SYS_openat, writing));
  assert_true(allows(&writes, SYS_renameat2, (call){ { 0 } }));
  assert_false(allows(&writes, SYS_symlinkat, (call){ { 0 } }));
}

static void only_a_gpu_allows_the_requests_of_its_driver(void **state) {
  (void)state;
  tn_guard_policy card = { .has_card = true };
  call of_driver = { { 3, 0xc020462a } }, of_memory = { { 3, 33 } };
  call typed = { { 0, 0x5412 } }, terminal = { { 0, 0x5401 } }; /* TIOCSTI, TCGETS */
  assert_false(allows(&nothing, SYS_ioctl, of_driver));
  assert_false(allows(&nothing, SYS_ioctl, of_memory));
  assert_true(allows(&card, SYS_ioctl, of_driver));
  assert_true(allows(&card, SYS_ioctl, of_memory));
  assert_false(allows(&card, SYS_ioctl, typed));
  assert_true(allows(&card, SYS_ioctl, terminal));
  assert_false(allows(&card, SYS_openat, (call){ { 0, 0, O_RDWR } }));
}

static void no_file_gets_the_rights_of_its_owner(void **state) {
  (void)state;
  tn_guard_path written = { "x", TN_GUARD_WRITE };
  tn_guard_policy writes = { .paths = &written, .count = 1 };
  for (uint64_t mode = 0; mode <= 07777; mode++) {
    bool plain = mode <= 0777;
    assert_int_equal(allows(&writes, SYS_fchmod, (call){ { 3, mode } }), plain);
    assert_int_equal(allows(&writes, SYS_openat, (call){ { 0, 0, O_WRONLY | O_CREAT, mode } }), plain);
#ifdef SYS_open
    assert_int_equal(allows(&writes, SYS_open, (call){ { 0, O_WRONLY | O_CREAT, mode } }), plain);
#endif
  }
  assert_false(allows(&nothing, SYS_fchmod, (call){ { 3, 0600 } }));
  assert_false(allows(&writes, SYS_fchmodat, (call){ { 0, 0, 0600 } }));
}

static void only_a_layer_that_is_narrowed_can_be(void **state) {
  (void)state;
  tn_guard_policy first = { .narrows = true };
  const long rulesets[] = { TN_GUARD_CREATE_RULESET, TN_GUARD_ADD_RULE, TN_GUARD_RESTRICT_SELF };
  for (int i = 0; i < 3; i++) {
    assert_true(allows(&first, rulesets[i], (call){ { 0 } }));
    assert_false(allows(&nothing, rulesets[i], (call){ { 0 } }));
  }
  assert_true(allows(&first, SYS_seccomp, (call){ { SECCOMP_SET_MODE_FILTER } }));
  assert_false(allows(&nothing, SYS_seccomp, (call){ { SECCOMP_SET_MODE_FILTER } }));
  assert_false(allows(&first, SYS_seccomp, (call){ { SECCOMP_SET_MODE_STRICT } }));
  for (uint64_t flag = 1; flag < 256; flag <<= 1) /* a listener is among them */
    assert_false(allows(&first, SYS_seccomp, (call){ { SECCOMP_SET_MODE_FILTER, flag } }));
}

static void threads_are_started_but_no_processes(void **state) {
  (void)state;
  uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS;
  assert_true(allows(&nothing, SYS_clone, (call){ { thread } }));
  assert_false(allows(&nothing, SYS_clone, (call){ { 17 } }));
  assert_false(allows(&nothing, SYS_clone, (call){ { thread | CLONE_NEWUSER } }));
  assert_false(allows(&nothing, SYS_clone, (call){ { thread | CLONE_NEWNET } }));
  assert_false(allows(&nothing, SYS_clone3, (call){ { 0 } }));
  assert_false(allows(&nothing, SYS_execve, (call){ { 0 } }));
  assert_false(allows(&nothing, SYS_sched_setaffinity, (call){ { 0 } }));
}

static void memory_is_never_made_executable(void **state) {
  (void)state;
  assert_true(allows(&nothing, SYS_mmap, (call){ { 0, 4096, PROT_READ | PROT_WRITE } }));
  assert_false(allows(&nothing, SYS_mmap, (call){ { 0, 4096, PROT_READ | PROT_EXEC } }));
  assert_false(allows(&nothing, SYS_mprotect, (call){ { 0, 4096, PROT_EXEC } }));
}

static void sockets_need_the_network_and_one_of_its_families(void **state) {
  (void)state;
  tn_guard_policy online = { .grants = TN_GUARD_NETWORK };
  assert_false(allows(&nothing, SYS_socket, (call){ { AF_INET, SOCK_STREAM } }));
  assert_true(allows(&online, SYS_socket, (call){ { AF_INET, SOCK_STREAM } }));
  assert_true(allows(&online, SYS_socket, (call){ { AF_INET6, SOCK_DGRAM | 02000000 } }));
  assert_false(allows(&online, SYS_socket, (call){ { AF_INET, SOCK_RAW } }));
  assert_false(allows(&online, SYS_socket, (call){ { AF_UNIX, SOCK_STREAM } }));
  assert_false(allows(&online, SYS_socket, (call){ { AF_NETLINK, SOCK_RAW } }));
}

static void a_server_answers_and_makes_no_socket(void **state) {
  (void)state;
  tn_guard_policy server = { .serves = true };
  assert_false(allows(&nothing, SYS_accept4, (call){ { 3 } }));
  assert_true(allows(&server, SYS_accept4, (call){ { 3 } }));
  assert_true(allows(&server, SYS_recvfrom, (call){ { 4 } }));
  assert_true(allows(&server, SYS_sendmsg, (call){ { 4 } }));
  assert_false(allows(&server, SYS_socket, (call){ { AF_INET, SOCK_STREAM } }));
  assert_false(allows(&server, SYS_connect, (call){ { 4 } }));
  assert_false(allows(&server, SYS_bind, (call){ { 4 } }));
  assert_false(allows(&server, SYS_execve, (call){ { 0 } }));
}

/* Rank 0 of a training that has started the others. */
static void processes_that_were_started_are_awaited_and_killed_by_their_handle_alone(void **state) {
  (void)state;
  tn_guard_policy parent = { .has_children = true };
  assert_false(allows(&nothing, SYS_wait4, (call){ { 1 } }));
  assert_true(allows(&parent, SYS_wait4, (call){ { 1 } }));
#ifdef SYS_pidfd_send_signal
  assert_false(allows(&nothing, SYS_pidfd_send_signal, (call){ { 3, 9 } }));
  assert_true(allows(&parent, SYS_pidfd_send_signal, (call){ { 3, 9 } }));
  assert_true(allows(&parent, SYS_pidfd_send_signal, (call){ { 3, 10 } }));
  assert_false(allows(&parent, SYS_pidfd_send_signal, (call){ { 3, 15 } }));
  assert_false(allows(&parent, SYS_pidfd_send_signal, (call){ { 3, 9, 0, 4 } })); /* a whole group */
#endif
#ifdef SYS_pidfd_open
  assert_false(allows(&parent, SYS_pidfd_open, (call){ { 1 } }));
#endif
  assert_false(allows(&parent, SYS_kill, (call){ { 1, 9 } }));
  assert_false(allows(&parent, SYS_tgkill, (call){ { 1, 1, 9 } }));
  assert_false(allows(&parent, SYS_clone, (call){ { 17 } }));
  assert_false(allows(&parent, SYS_execve, (call){ { 0 } }));
}

/* A rank under MPI. */
static void a_process_that_speaks_uses_the_sockets_it_has(void **state) {
  (void)state;
  tn_guard_policy rank = { .speaks = true };
  const long used[] = { SYS_sendmsg, SYS_recvmsg, SYS_sendto, SYS_recvfrom, SYS_epoll_pwait, SYS_epoll_ctl };
  for (size_t i = 0; i < COUNT_OF(used); i++) {
    assert_false(allows(&nothing, used[i], (call){ { 4 } }));
    assert_true(allows(&rank, used[i], (call){ { 4 } }));
  }
  const long never[] = { SYS_socket, SYS_connect, SYS_bind,   SYS_listen, SYS_accept4, SYS_process_vm_readv,
                         SYS_shmat,  SYS_openat,  SYS_execve, SYS_kill,   SYS_ptrace };
  for (size_t i = 0; i < COUNT_OF(never); i++) assert_false(allows(&rank, never[i], (call){ { 4 } }));
}

static void signals_and_limits_are_for_this_process(void **state) {
  (void)state;
  assert_true(allows(&nothing, SYS_tgkill, (call){ { THIS_PROCESS, 1, 2 } }));
  assert_false(allows(&nothing, SYS_tgkill, (call){ { 1, 1, 2 } }));
  assert_true(allows(&nothing, SYS_prlimit64, (call){ { 0, 7, 0 } }));
  assert_false(allows(&nothing, SYS_prlimit64, (call){ { 0, 7, 4096 } }));
  assert_false(allows(&nothing, SYS_prlimit64, (call){ { 0, 7, UINT64_C(1) << 32 } }));
  assert_false(allows(&nothing, SYS_prlimit64, (call){ { 1, 7, 0 } }));
  assert_true(allows(&nothing, SYS_prctl, (call){ { PR_SET_NAME } }));
  assert_false(allows(&nothing, SYS_prctl, (call){ { PR_SET_DUMPABLE, 1 } }));
}

static void other_instruction_sets_have_no_calls(void **state) {
  (void)state;
  assert_true(allows(&nothing, SYS_read, (call){ { 0 } }));
  assert_false(allows_on(&nothing, AUDIT_ARCH_I386, SYS_read, (call){ { 0 } }));
  assert_false(allows_on(&nothing, AUDIT_ARCH_ARM, SYS_read, (call){ { 0 } }));
#if defined(__x86_64__)
  assert_false(allows(&nothing, SYS_read | 0x40000000, (call){ { 0 } }));
#endif
}

static void a_filter_that_is_too_long_says_so(void **state) {
  (void)state;
  static tn_filter filter;
  tn_filter_begin(&filter);
  for (int i = 0; i < TN_FILTER_MOST; i++) tn_filter_allow(&filter, i);
  assert_true(filter.overflow);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(older_kernels_get_fewer_rights_to_handle),
    cmocka_unit_test(reading_is_never_writing),
#if TN_GUARD_HAS_FILTER
    cmocka_unit_test(nothing_is_opened_where_nothing_is_named),
    cmocka_unit_test(only_a_gpu_allows_the_requests_of_its_driver),
    cmocka_unit_test(no_file_gets_the_rights_of_its_owner),
    cmocka_unit_test(only_a_layer_that_is_narrowed_can_be),
    cmocka_unit_test(threads_are_started_but_no_processes),
    cmocka_unit_test(memory_is_never_made_executable),
    cmocka_unit_test(sockets_need_the_network_and_one_of_its_families),
    cmocka_unit_test(a_server_answers_and_makes_no_socket),
    cmocka_unit_test(processes_that_were_started_are_awaited_and_killed_by_their_handle_alone),
    cmocka_unit_test(a_process_that_speaks_uses_the_sockets_it_has),
    cmocka_unit_test(signals_and_limits_are_for_this_process),
    cmocka_unit_test(other_instruction_sets_have_no_calls),
    cmocka_unit_test(a_filter_that_is_too_long_says_so),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
