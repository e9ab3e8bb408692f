/* Files in folders that somebody else has prepared: links, odd files, names taken beforehand. Nothing outside
 * of the folder is written, nothing is waited for, and no file of a user's is lost. */
#include "folder_support.h"

#include <sys/socket.h>
#include <sys/un.h>

/* What must never change, beside the folder. */
static char outside[80];

static int make_both(void **state) {
  if (make_folder(state) != 0) return -1;
  snprintf(outside, sizeof outside, "%s.outside", folder);
  put_file(outside, "precious");
  return 0;
}

static int remove_both(void **state) {
  assert_contents(outside, "precious");
  unlink(outside);
  return remove_folder(state);
}

#define BESIDE(test) cmocka_unit_test_setup_teardown(test, make_both, remove_both)

static void link_to(const char *target, const char *name) {
  assert_int_equal(symlink(target, in_folder(name)), 0);
}

static void make_socket(const char *path) {
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  strcpy(address.sun_path, path);
  int made = socket(AF_UNIX, SOCK_STREAM, 0);
  assert_int_equal(bind(made, (struct sockaddr *)&address, sizeof address), 0);
  close(made);
}

static tn_file_status replace_status(const char *path) {
  tn_heap heap = { 0 };
  tn_file_status status = tn_file_replace(&heap, path, TN_LIT("new"), NULL);
  assert_int_equal(heap.used, 0);
  return status;
}

static tn_file_status read_status(const char *path) {
  tn_heap heap = { 0 };
  tn_file_bytes bytes;
  tn_file_status status = tn_file_read(&heap, path, 1000, NULL, &bytes);
  tn_file_release(&heap, &bytes);
  return status;
}

/* By the kernel's resolution and by our own: they must agree. */
static tn_file_status beneath_status(const char *root, const char *path) {
  tn_heap heap = { 0 };
  tn_file_bytes bytes;
  tn_file_status status[2];
  for (int by_hand = 0; by_hand < 2; by_hand++) {
    tn_file_faults faults = { .no_openat2 = by_hand };
    status[by_hand] = tn_file_read_beneath(&heap, root, path, 1000, &faults, &bytes);
    if (status[by_hand] == TN_FILE_OK) assert_true(bytes.len > 0);
    tn_file_release(&heap, &bytes);
  }
  assert_int_equal(status[0], status[1]);
  assert_int_equal(heap.used, 0);
  return status[0];
}

static int open_descriptors(void) {
  int count = 0;
  for (int i = 0; i < 64; i++) count += fcntl(i, F_GETFD) >= 0;
  return count;
}

/* ---- what is not plain ---- */

/* An alarm ends the test, should anything wait. */
static void odd_files_are_refused_at_once(void **state) {
  (void)state;
  static const char *const names[] = { "fifo", "socket", "link", "/dev/null", "/dev/zero", "/dev/full" };
  tn_heap heap = { 0 };
  int before = open_descriptors();
  assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
  make_socket(in_folder("socket"));
  link_to("fifo", "link");
  alarm(60);
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    const char *path = names[i][0] == '/' ? names[i] : in_folder(names[i]);
    if (access(path, F_OK) != 0) continue;
    assert_int_equal(read_status(path), TN_FILE_NOT_PLAIN);
    assert_int_equal(tn_file_read_pieces(&heap, path, false, 1000, NULL, NULL, NULL), TN_FILE_NOT_PLAIN);
    assert_int_equal(replace_status(path), TN_FILE_NOT_PLAIN);
    assert_int_equal(tn_file_append(path, 0, TN_LIT("x"), NULL), TN_FILE_NOT_PLAIN);
  }
  assert_int_equal(beneath_status(folder, "fifo"), TN_FILE_NOT_PLAIN);
  assert_int_equal(beneath_status(folder, "socket"), TN_FILE_NOT_PLAIN);
  alarm(0);
  assert_int_equal(open_descriptors(), before);
}

/* A writer that waits at a FIFO keeps waiting. */
static void examining_a_fifo_does_not_open_it(void **state) {
  (void)state;
  const char *path = in_folder("fifo");
  assert_int_equal(mkfifo(path, 0600), 0);
  pid_t child = fork();
  if (child == 0) _exit(open(path, O_WRONLY) >= 0 ? 7 : 8);
  for (int i = 0; i < 100; i++) assert_int_equal(read_status(path), TN_FILE_NOT_PLAIN);
  assert_int_equal(waitpid(child, NULL, WNOHANG), 0);   /* still waits */
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

/* ---- links where a file is written ---- */

static void a_link_within_its_folder_is_followed(void **state) {
  (void)state;
  struct stat about;
  mkdir(in_folder("sub"), 0777);
  put_file(in_folder("sub/file"), "old");
  chmod(in_folder("sub/file"), 0640);
  link_to("sub/file", "link");
  link_to("./link", "again");
  link_to("sub//new", "dangling");
  assert_int_equal(replace_status(in_folder("again")), TN_FILE_OK);
  assert_contents(in_folder("sub/file"), "new");
  assert_int_equal(stat(in_folder("sub/file"), &about), 0);
  assert_int_equal(about.st_mode & 07777, 0640);
  assert_int_equal(lstat(in_folder("again"), &about), 0);
  assert_true(S_ISLNK(about.st_mode));
  assert_int_equal(replace_status(in_folder("dangling")), TN_FILE_OK);
  assert_contents(in_folder("sub/new"), "new");
  assert_int_equal(tn_file_append(in_folder("link"), 3, TN_LIT("er"), NULL), TN_FILE_OK);
  assert_contents(in_folder("sub/file"), "newer");
}

static void a_link_out_of_its_folder_is_refused(void **state) {
  (void)state;
  char relative[100];
  mkdir(in_folder("sub"), 0777);
  put_file(in_folder("here"), "here");
  snprintf(relative, sizeof relative, "../%s", strrchr(outside, '/') + 1);
  link_to(relative, "relative");
  link_to(outside, "absolute");
  link_to("relative", "twice");
  link_to("/dev/null", "device");
  link_to("sub/../here", "up and down");
  link_to("..", "sub/up");
  link_to("sub/up/here", "through a link");
  link_to("circle", "circle");
  link_to("/proc/self/fd/1", "standard output");
  static const char *const names[] = { "relative", "absolute",       "twice",  "device",
                                       "up and down", "through a link", "circle", "standard output" };
  int before = open_descriptors(), count = entries(folder);
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    assert_int_equal(replace_status(in_folder(names[i])), TN_FILE_LINK_OUT);
    assert_int_equal(tn_file_append(in_folder(names[i]), 0, TN_LIT("x"), NULL), TN_FILE_LINK_OUT);
  }
  assert_contents(in_folder("here"), "here");
  assert_int_equal(entries(folder), count);
  assert_int_equal(open_descriptors(), before);
}

/* Folders that the user names may be links. */
static void a_link_on_the_way_to_the_folder_is_followed(void **state) {
  (void)state;
  mkdir(in_folder("real"), 0777);
  link_to("real", "linked");
  assert_int_equal(replace_status(in_folder("linked/file")), TN_FILE_OK);
  assert_contents(in_folder("real/file"), "new");
  assert_int_equal(replace_status(in_folder("real/../linked//other")), TN_FILE_OK);
  assert_contents(in_folder("real/other"), "new");
}

static void setuid_bits_are_not_kept(void **state) {
  (void)state;
  struct stat about;
  const char *path = in_folder("tool");
  mode_t old = umask(077);
  put_file(path, "old");
  chmod(path, 06755);
  assert_int_equal(replace_status(path), TN_FILE_OK);
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_mode & 07777, 0755);
  umask(old);
}

/* Nobody else can open the new contents while they are written. */
static void a_private_file_is_private_from_the_start(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_file_writer writer;
  struct stat about;
  const char *path = in_folder("private");
  mode_t old = umask(0);
  put_file(path, "old");
  chmod(path, 0600);
  assert_int_equal(tn_file_begin(&writer, &heap, path, NULL), TN_FILE_OK);
  assert_int_equal(lstat(in_folder(writer.temporary), &about), 0);
  assert_int_equal(about.st_mode & 07777, 0600);
  tn_file_abandon(&writer);
  umask(old);
}

/* The folder is held open: another one in its place changes nothing. */
static void a_folder_that_is_swapped_meanwhile_is_not_written_to(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_file_writer writer;
  mkdir(in_folder("mine"), 0777);
  mkdir(in_folder("theirs"), 0777);
  assert_int_equal(tn_file_begin(&writer, &heap, in_folder("mine/file"), NULL), TN_FILE_OK);
  tn_file_write(&writer, "new", 3);
  assert_int_equal(rename(in_folder("mine"), in_folder("moved")), 0);
  link_to("theirs", "mine");
  assert_int_equal(tn_file_commit(&writer), TN_FILE_OK);
  assert_int_equal(entries(in_folder("theirs")), 0);
  assert_contents(in_folder("moved/file"), "new");
  assert_int_equal(entries(in_folder("moved")), 1);
}

/* A link that appears where the file will be is replaced, not followed. */
static void a_link_planted_meanwhile_is_replaced(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_file_writer writer;
  assert_int_equal(tn_file_begin(&writer, &heap, in_folder("file"), NULL), TN_FILE_OK);
  link_to(outside, "file");
  tn_file_write(&writer, "new", 3);
  assert_int_equal(tn_file_commit(&writer), TN_FILE_OK);
  assert_contents(in_folder("file"), "new");
}

/* ---- temporaries ---- */

/* Every name that tern or another program has ever taken for a temporary, as a link and as a file. */
static void no_file_of_the_user_is_touched(void **state) {
  (void)state;
  static const char *const names[] = { "x.svg.tmp", "x.svg.tern-tmp", "x.svg.tern-tmp2", ".x.svg.tmp",
                                       ".tern-.tmp", ".tern-0123456789abcde.tmp",
                                       ".tern-0123456789abcdef0.tmp", ".tern-0123456789ABCDEF.tmp",
                                       ".tern-0123456789abcdef.tmp~", "tern-0123456789abcdef.tmp" };
  for (int linked = 0; linked < 2; linked++) {
    for (size_t i = 0; i < COUNT_OF(names); i++) {
      if (linked) unlink(in_folder(names[i])), link_to(outside, names[i]);
      else put_file(in_folder(names[i]), "mine");
    }
    assert_int_equal(replace_status(in_folder("x.svg")), TN_FILE_OK);
    assert_int_equal(entries(folder), (int)COUNT_OF(names) + 1);
    for (size_t i = 0; i < COUNT_OF(names); i++)
      assert_contents(in_folder(names[i]), linked ? "precious" : "mine");
  }
}

/* ... but what a killed process has left is, whatever file it was for. */
static void leftovers_do_not_pile_up(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  for (int i = 0; i < 20; i++) {
    pid_t child = fork();
    if (child == 0) {
      tn_file_writer writer;
      if (tn_file_begin(&writer, &heap, in_folder(i % 2 ? "a" : "b"), NULL) != TN_FILE_OK) _exit(1);
      tn_file_write(&writer, "half", 4);
      raise(SIGKILL);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    assert_true(entries(folder) <= 1);   /* its own; that of the one before is gone */
  }
  assert_int_equal(entries(folder), 1);
  assert_int_equal(replace_status(in_folder("c")), TN_FILE_OK);
  assert_int_equal(entries(folder), 1);
}

static void what_only_looks_like_a_leftover_stays(void **state) {
  (void)state;
  put_file(in_folder(".tern-0000000000000001.tmp"), "locked");
  int held = open(in_folder(".tern-0000000000000001.tmp"), O_RDONLY);
  assert_int_equal(flock(held, LOCK_EX), 0);
  link_to(outside, ".tern-0000000000000002.tmp");
  mkdir(in_folder(".tern-0000000000000003.tmp"), 0777);
  assert_int_equal(mkfifo(in_folder(".tern-0000000000000004.tmp"), 0600), 0);
  put_file(in_folder(".tern-0000000000000005.tmp"), "somebody else's");
  bool root = geteuid() == 0 && chown(in_folder(".tern-0000000000000005.tmp"), 1, 1) == 0;
  alarm(60);
  assert_int_equal(replace_status(in_folder("x")), TN_FILE_OK);
  alarm(0);
  assert_int_equal(entries(folder), root ? 6 : 5);
  close(held);
}

static void names_of_temporaries_do_not_repeat(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_file_writer writers[16];
  for (size_t i = 0; i < COUNT_OF(writers); i++) {
    assert_int_equal(tn_file_begin(&writers[i], &heap, in_folder("x"), NULL), TN_FILE_OK);
    for (size_t k = 0; k < i; k++) assert_string_not_equal(writers[i].temporary, writers[k].temporary);
  }
  assert_int_equal(entries(folder), (int)COUNT_OF(writers));   /* nobody's was taken for a leftover */
  for (size_t i = 0; i < COUNT_OF(writers); i++) tn_file_abandon(&writers[i]);
  assert_int_equal(entries(folder), 0);
}

/* A folder that may be written but not listed. */
static void a_folder_that_cannot_be_read_can_be_written_to(void **state) {
  (void)state;
  if (geteuid() == 0) skip();
  mkdir(in_folder("drop"), 0777);
  chmod(in_folder("drop"), 0300);
  assert_int_equal(replace_status(in_folder("drop/file")), TN_FILE_OK);
  chmod(in_folder("drop"), 0700);
  assert_contents(in_folder("drop/file"), "new");
  assert_int_equal(entries(in_folder("drop")), 1);
}

static void long_names_are_written_too(void **state) {
  (void)state;
  char name[300];
  memset(name, 'n', sizeof name);
  name[255] = 0;
  assert_int_equal(replace_status(in_folder(name)), TN_FILE_OK);
  assert_contents(in_folder(name), "new");
  name[255] = 'n', name[256] = 0;
  assert_int_equal(replace_status(in_folder(name)), TN_FILE_NOT_FOUND);
}

static void invalid_names_are_refused(void **state) {
  (void)state;
  mkdir(in_folder("sub"), 0777);
  static const char *const names[] = { "sub", "sub/", "sub/.", "sub/..", "", ".", "none/" };
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    tn_file_status status = replace_status(in_folder(names[i]));
    assert_true(status == TN_FILE_IS_DIRECTORY || (i == 6 && status == TN_FILE_NOT_FOUND));
  }
}

/* ---- beneath a folder ---- */

static void what_is_beneath_is_read(void **state) {
  (void)state;
  mkdir(in_folder("a"), 0777);
  mkdir(in_folder("a/b"), 0777);
  put_file(in_folder("a/b/file"), "x");
  put_file(in_folder("file"), "x");
  link_to("a", "linked");
  assert_int_equal(beneath_status(folder, "file"), TN_FILE_OK);
  assert_int_equal(beneath_status(folder, "a/b/file"), TN_FILE_OK);
  assert_int_equal(beneath_status(in_folder("linked"), "b/file"), TN_FILE_OK);   /* the root may be a link */
  assert_int_equal(beneath_status(folder, "a/b"), TN_FILE_IS_DIRECTORY);
  assert_int_equal(beneath_status(folder, "a/none"), TN_FILE_NOT_FOUND);
  assert_int_equal(beneath_status(folder, "none/file"), TN_FILE_NOT_FOUND);
  assert_int_equal(beneath_status(folder, "file/x"), TN_FILE_NOT_DIRECTORY);
  assert_int_equal(beneath_status(in_folder("none"), "file"), TN_FILE_NOT_FOUND);
  char here[512];
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(folder), 0);
  assert_int_equal(beneath_status("", "a/b/file"), TN_FILE_OK);
  assert_int_equal(chdir(here), 0);
}

static void no_link_is_followed_beneath(void **state) {
  (void)state;
  mkdir(in_folder("a"), 0777);
  put_file(in_folder("a/file"), "x");
  link_to(outside, "absolute");
  link_to("a/file", "within");   /* harmless, and still not followed */
  link_to("a", "folder");
  link_to("..", "a/up");
  link_to("none", "dangling");
  link_to("/proc/self/root", "magic");
  static const char *const paths[] = { "absolute", "within", "folder/file", "a/up/a/file",
                                       "dangling", "magic/etc/passwd" };
  for (size_t i = 0; i < COUNT_OF(paths); i++)
    assert_int_equal(beneath_status(folder, paths[i]), TN_FILE_LINK);
}

static void no_step_leads_upwards(void **state) {
  (void)state;
  put_file(in_folder("file"), "x");
  mkdir(in_folder("a"), 0777);
  static const char *const paths[] = { "../file", "a/../file", "/etc/passwd", "./file", "a//file",
                                       "", "..", ".", "file/", "a/.." };
  for (size_t i = 0; i < COUNT_OF(paths); i++)
    assert_int_equal(beneath_status(in_folder("a"), paths[i]), TN_FILE_NOT_FOUND);
  for (size_t i = 0; i < COUNT_OF(paths); i++)
    assert_int_equal(beneath_status(folder, paths[i]), TN_FILE_NOT_FOUND);
  put_file(in_folder("..."), "x");
  assert_int_equal(beneath_status(folder, "..."), TN_FILE_OK);   /* an ordinary name */
}

static void walking_leaves_no_descriptor_open(void **state) {
  (void)state;
  mkdir(in_folder("a"), 0777);
  mkdir(in_folder("a/b"), 0777);
  put_file(in_folder("a/b/file"), "x");
  int before = open_descriptors();
  for (uint64_t n = 1; n <= 6; n++) {
    tn_heap heap = { 0 };
    tn_file_bytes bytes;
    tn_file_faults faults = { .no_openat2 = true, .fail_at = { [TN_FILE_CALL_OPEN] = n } };
    tn_file_status status = tn_file_read_beneath(&heap, folder, "a/b/file", 100, &faults, &bytes);
    assert_int_equal(status, n <= 4 ? TN_FILE_IO : TN_FILE_OK);
    tn_file_release(&heap, &bytes);
    assert_int_equal(open_descriptors(), before);
  }
}

RUN_TESTS(
  BESIDE(odd_files_are_refused_at_once),
  BESIDE(examining_a_fifo_does_not_open_it),
  BESIDE(a_link_within_its_folder_is_followed),
  BESIDE(a_link_out_of_its_folder_is_refused),
  BESIDE(a_link_on_the_way_to_the_folder_is_followed),
  BESIDE(setuid_bits_are_not_kept),
  BESIDE(a_private_file_is_private_from_the_start),
  BESIDE(a_folder_that_is_swapped_meanwhile_is_not_written_to),
  BESIDE(a_link_planted_meanwhile_is_replaced),
  BESIDE(no_file_of_the_user_is_touched),
  BESIDE(leftovers_do_not_pile_up),
  BESIDE(what_only_looks_like_a_leftover_stays),
  BESIDE(names_of_temporaries_do_not_repeat),
  BESIDE(a_folder_that_cannot_be_read_can_be_written_to),
  BESIDE(long_names_are_written_too),
  BESIDE(invalid_names_are_refused),
  BESIDE(what_is_beneath_is_read),
  BESIDE(no_link_is_followed_beneath),
  BESIDE(no_step_leads_upwards),
  BESIDE(walking_leaves_no_descriptor_open))
