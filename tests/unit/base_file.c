/* Files: read whole or refused with a reason, replaced whole or not at all. */
#include "folder_support.h"

static bool count_bytes(void *context, tn_str piece) {
  *(size_t *)context += piece.len;
  return true;
}

/* What the pieces must be together, and how far they have been seen. */
typedef struct {
  const char *at;
  size_t done, most;
} expected_bytes;

static bool compare_piece(void *context, tn_str piece) {
  expected_bytes *e = context;
  assert_true(piece.len > 0 && piece.len <= (size_t)1 << 20);
  assert_memory_equal(piece.at, e->at + e->done, piece.len);
  e->done += piece.len;
  return e->done < e->most;
}

static tn_file_status read_status(const char *path, size_t limit) {
  tn_heap heap = { 0 };
  tn_file_bytes bytes;
  size_t seen = 0;
  tn_file_status status = tn_file_read(&heap, path, limit, NULL, &bytes);
  if (status != TN_FILE_OK) assert_true(bytes.at && bytes.len == 0 && bytes.held == 0);
  tn_file_release(&heap, &bytes);
  assert_int_equal(tn_file_read_pieces(&heap, path, false, limit, NULL, count_bytes, &seen), status);
  assert_int_equal(heap.used, 0);
  return status;
}

/* ---- reading ---- */

static void a_file_is_read_whole(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  static const size_t sizes[] = { 0, 1, 100, 65535, 65536, 65537, 1048575, 1048576, 1048577, 3000000 };
  static char contents[3000000];
  for (size_t i = 0; i < sizeof contents; i++) contents[i] = (char)(i * 31 + i / 1000);
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    tn_file_bytes bytes;
    const char *path = in_folder("whole");
    assert_int_equal(tn_file_replace(&heap, path, (tn_str){ contents, sizes[i] }, NULL), TN_FILE_OK);
    assert_int_equal(tn_file_read(&heap, path, sizes[i], NULL, &bytes), TN_FILE_OK);
    assert_int_equal(bytes.len, sizes[i]);
    assert_memory_equal(bytes.at, contents, sizes[i] + (sizes[i] == 0));
    assert_int_equal(bytes.at[bytes.len], 0);
    tn_file_release(&heap, &bytes);
    expected_bytes all = { contents, 0, SIZE_MAX };
    assert_int_equal(tn_file_read_pieces(&heap, path, false, sizes[i], NULL, compare_piece, &all),
                     TN_FILE_OK);
    assert_int_equal(all.done, sizes[i]);
    assert_int_equal(heap.used, 0);
  }
}

static void reading_says_why_it_failed(void **state) {
  (void)state;
  put_file(in_folder("ten"), "0123456789");
  assert_int_equal(read_status(in_folder("nothing"), 100), TN_FILE_NOT_FOUND);
  assert_int_equal(read_status("", 100), TN_FILE_NOT_FOUND);
  assert_int_equal(read_status(folder, 100), TN_FILE_IS_DIRECTORY);
  assert_int_equal(read_status(in_folder("ten/x"), 100), TN_FILE_NOT_DIRECTORY);
  assert_int_equal(read_status(in_folder("ten"), 9), TN_FILE_TOO_LARGE);
  assert_int_equal(read_status(in_folder("ten"), 0), TN_FILE_TOO_LARGE);
  assert_int_equal(read_status(in_folder("ten"), 10), TN_FILE_OK);
  if (geteuid() != 0) {   /* root may read everything */
    chmod(in_folder("ten"), 0);
    assert_int_equal(read_status(in_folder("ten"), 100), TN_FILE_PERMISSION);
  }
  for (int status = TN_FILE_OK; status <= TN_FILE_IO; status++) {
    assert_true(strlen(tn_file_status_text((tn_file_status)status)) > 1);
  }
}

/* A file that is too large costs no memory at all. */
static void the_limit_is_checked_before_memory_is_allocated(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_file_bytes bytes;
  const char *path = in_folder("sparse");
  int descriptor = open(path, O_WRONLY | O_CREAT, 0666);
  assert_int_equal(ftruncate(descriptor, (off_t)1 << 32), 0);
  close(descriptor);
  assert_int_equal(tn_file_read(&heap, path, 1000, NULL, &bytes), TN_FILE_TOO_LARGE);
  assert_int_equal(heap.requests, 0);
  heap.limit = 1 << 20;
  assert_int_equal(tn_file_read(&heap, path, SIZE_MAX, NULL, &bytes), TN_FILE_NO_MEMORY);
  assert_int_equal(heap.used, 0);
  unlink(path);
}

static void a_file_that_hides_its_size_is_read(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_file_bytes bytes;
  if (access("/proc/self/status", R_OK) != 0) skip();
  assert_int_equal(tn_file_read(&heap, "/proc/self/status", SIZE_MAX, NULL, &bytes), TN_FILE_OK);
  assert_true(bytes.len > 100);
  tn_file_release(&heap, &bytes);
}

static void pipes_are_read_to_their_end(void **state) {
  (void)state;
  enum { BYTES = 300000 };
  int ends[2], status;
  tn_heap heap = { 0 };
  tn_file_bytes bytes;
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    char line[1000];
    memset(line, 'p', sizeof line);
    close(ends[0]);
    for (int i = 0; i < BYTES / 1000; i++) {
      if (write(ends[1], line, sizeof line) != sizeof line) _exit(1);
    }
    _exit(0);
  }
  close(ends[1]);
  assert_int_equal(tn_file_read_open(&heap, ends[0], BYTES, NULL, &bytes), TN_FILE_OK);
  assert_int_equal(bytes.len, BYTES);
  assert_int_equal(bytes.at[BYTES - 1], 'p');
  tn_file_release(&heap, &bytes);
  close(ends[0]);
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
}

static void a_pipe_over_the_limit_is_refused(void **state) {
  (void)state;
  int ends[2];
  tn_heap heap = { 0 };
  tn_file_bytes bytes;
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], "0123456789", 10), 10);
  close(ends[1]);
  assert_int_equal(tn_file_read_open(&heap, ends[0], 9, NULL, &bytes), TN_FILE_TOO_LARGE);
  close(ends[0]);
  assert_int_equal(heap.used, 0);
}

static bool read_with(tn_heap *heap) {
  tn_file_bytes bytes;
  tn_file_status status = tn_file_read(heap, in_folder("short"), SIZE_MAX, NULL, &bytes);
  assert_true(status == TN_FILE_OK || status == TN_FILE_NO_MEMORY);
  tn_file_release(heap, &bytes);
  return status == TN_FILE_OK;
}

static void reading_survives_faults(void **state) {
  (void)state;
  put_file(in_folder("short"), "some bytes to be read in small parts");
  fail_every_request(read_with);
  tn_heap heap = { 0 };
  tn_file_bytes bytes;
  for (uint64_t n = 1;; n++) {
    tn_file_faults faults = { .most_bytes = 7, .fail_at = { [TN_FILE_CALL_READ] = n } };
    tn_file_status status = tn_file_read(&heap, in_folder("short"), SIZE_MAX, &faults, &bytes);
    if (faults.calls[TN_FILE_CALL_READ] < n) {
      assert_int_equal(status, TN_FILE_OK);
      assert_str((tn_str){ bytes.at, bytes.len }, "some bytes to be read in small parts");
      assert_true(n > 5);
      tn_file_release(&heap, &bytes);
      break;
    }
    assert_int_equal(status, TN_FILE_IO);
    assert_int_equal(heap.used, 0);
  }
  tn_file_faults denied = { .fail_at = { [TN_FILE_CALL_OPEN] = 1 }, .error = EACCES };
  assert_int_equal(tn_file_read(&heap, in_folder("short"), SIZE_MAX, &denied, &bytes), TN_FILE_PERMISSION);
}

/* ---- replacing ---- */

static void a_file_is_created_and_replaced(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  const char *path = in_folder("new");
  assert_int_equal(tn_file_replace(&heap, path, TN_LIT("first"), NULL), TN_FILE_OK);
  assert_contents(path, "first");
  assert_int_equal(tn_file_replace(&heap, path, TN_LIT("second, longer"), NULL), TN_FILE_OK);
  assert_contents(path, "second, longer");
  assert_int_equal(tn_file_replace(&heap, path, TN_LIT(""), NULL), TN_FILE_OK);
  assert_contents(path, "");
  assert_int_equal(heap.used, 0);
}

static void permissions_and_links_are_kept(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  struct stat about;
  const char *path = in_folder("mode"), *link = in_folder("link");
  put_file(path, "old");
  chmod(path, 0640);
  assert_int_equal(symlink("mode", link), 0);
  assert_int_equal(tn_file_replace(&heap, link, TN_LIT("new"), NULL), TN_FILE_OK);
  assert_int_equal(lstat(link, &about), 0);
  assert_true(S_ISLNK(about.st_mode));
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_mode & 0777, 0640);
  assert_contents(path, "new");
}

static void writing_says_why_it_failed(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  put_file(in_folder("plain"), "x");
  assert_int_equal(tn_file_replace(&heap, folder, TN_LIT("x"), NULL), TN_FILE_IS_DIRECTORY);
  assert_int_equal(tn_file_replace(&heap, in_folder("no/such/file"), TN_LIT("x"), NULL), TN_FILE_NOT_FOUND);
  assert_int_equal(tn_file_replace(&heap, in_folder("plain/x"), TN_LIT("x"), NULL), TN_FILE_NOT_DIRECTORY);
  assert_int_equal(tn_file_replace(&heap, "", TN_LIT("x"), NULL), TN_FILE_NOT_FOUND);
  assert_int_equal(heap.used, 0);
}

static void pieces_are_joined_in_order(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_file_writer writer;
  static char expected[700000];
  size_t at = 0;
  uint64_t seed = 3;
  for (size_t i = 0; i < sizeof expected; i++) expected[i] = (char)random_bits(&seed);
  assert_int_equal(tn_file_begin(&writer, &heap, in_folder("pieces"), NULL), TN_FILE_OK);
  while (at < sizeof expected) {
    size_t piece = random_bits(&seed) % (at % 3 ? 100 : 150000);
    if (piece > sizeof expected - at) piece = sizeof expected - at;
    assert_int_equal(tn_file_write(&writer, expected + at, piece), TN_FILE_OK);
    at += piece;
  }
  assert_int_equal(tn_file_commit(&writer), TN_FILE_OK);
  tn_file_bytes bytes;
  assert_int_equal(tn_file_read(&heap, in_folder("pieces"), SIZE_MAX, NULL, &bytes), TN_FILE_OK);
  assert_int_equal(bytes.len, sizeof expected);
  assert_memory_equal(bytes.at, expected, sizeof expected);
  tn_file_release(&heap, &bytes);
  assert_int_equal(heap.used, 0);
}

static void an_abandoned_file_leaves_the_old_one(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_file_writer writer;
  const char *path = in_folder("kept");
  put_file(path, "old");
  int before = entries(folder);
  assert_int_equal(tn_file_begin(&writer, &heap, path, NULL), TN_FILE_OK);
  tn_file_write(&writer, "new", 3);
  assert_int_equal(entries(folder), before + 1);
  assert_contents(path, "old");
  tn_file_abandon(&writer);
  tn_file_abandon(&writer);   /* twice does no harm */
  assert_contents(path, "old");
  assert_int_equal(entries(folder), before);
  assert_int_equal(heap.used, 0);
}

/* ---- faults ---- */

/* Replaces "old" by a text of several writes, with one call failing. */
static tn_file_status replace_with(tn_heap *heap, const char *path, tn_file_faults *faults) {
  tn_file_writer writer;
  if (tn_file_begin(&writer, heap, path, faults) != TN_FILE_OK) return writer.status;
  tn_file_write(&writer, "new ", 4);
  tn_file_write(&writer, "contents", 8);
  return tn_file_commit(&writer);
}

static void every_call_may_fail(void **state) {
  (void)state;
  static const int errors[] = { EIO, ENOSPC, EACCES };
  static const tn_file_status expected[] = { TN_FILE_IO, TN_FILE_NO_SPACE, TN_FILE_PERMISSION };
  const char *path = in_folder("faulty");
  for (int e = 0; e < 3; e++) {
    for (int call = 0; call < TN_FILE_CALL_COUNT; call++) {
      if (call == TN_FILE_CALL_READ) continue;
      for (uint64_t n = 1;; n++) {
        tn_heap heap = { 0 };
        tn_file_faults faults = { .error = errors[e], .most_bytes = 5 };
        faults.fail_at[call] = n;
        put_file(path, "old");
        int before = entries(folder);
        tn_file_status status = replace_with(&heap, path, &faults);
        assert_int_equal(heap.used, 0);
        assert_int_equal(entries(folder), before);
        bool last_sync = call == TN_FILE_CALL_SYNC && n == 2;
        bool unreadable_folder = call == TN_FILE_CALL_OPEN && n == 1 && errors[e] == EACCES;
        bool happened = faults.calls[call] >= n;
        if (!happened || unreadable_folder) assert_int_equal(status, TN_FILE_OK);
        else assert_int_equal(status, expected[e]);
        assert_contents(path, !happened || unreadable_folder || last_sync ? "new contents" : "old");
        if (!happened) break;
      }
    }
  }
}

static bool replace_once(tn_heap *heap) {
  const char *path = in_folder("memory");
  put_file(path, "old");
  int before = entries(folder);
  tn_file_status status = replace_with(heap, path, NULL);
  assert_true(status == TN_FILE_OK || status == TN_FILE_NO_MEMORY);
  assert_contents(path, status == TN_FILE_OK ? "new contents" : "old");
  assert_int_equal(entries(folder), before);
  return status == TN_FILE_OK;
}

static void replacing_survives_every_failed_request(void **state) {
  (void)state;
  fail_every_request(replace_once);
}

/* ---- several writers ---- */

static void two_writers_do_not_disturb_each_other(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_file_writer first, second;
  const char *path = in_folder("shared");
  int before = entries(folder);
  assert_int_equal(tn_file_begin(&first, &heap, path, NULL), TN_FILE_OK);
  assert_int_equal(tn_file_begin(&second, &heap, path, NULL), TN_FILE_OK);
  assert_string_not_equal(first.temporary, second.temporary);
  tn_file_write(&first, "from the first", 14);
  tn_file_write(&second, "from the second", 15);
  assert_int_equal(tn_file_commit(&second), TN_FILE_OK);
  assert_contents(path, "from the second");
  assert_int_equal(tn_file_commit(&first), TN_FILE_OK);
  assert_contents(path, "from the first");
  assert_int_equal(entries(folder), before + 1);
  assert_int_equal(heap.used, 0);
}

/* Many processes, each replacing the file many times and some killed while they
 * do: a reader always sees one whole version. */
static void readers_see_whole_versions_only(void **state) {
  (void)state;
  enum { WRITERS = 3, BYTES = 5000 };
  const char *path = in_folder("versions");
  char text[BYTES];
  pid_t children[WRITERS];
  memset(text, 'a', sizeof text);
  tn_heap heap = { 0 };
  assert_int_equal(tn_file_replace(&heap, path, (tn_str){ text, BYTES }, NULL), TN_FILE_OK);
  for (int i = 0; i < WRITERS; i++) {
    children[i] = fork();
    if (children[i]) continue;
    memset(text, 'a' + i, sizeof text);
    for (;;) tn_file_replace(&heap, path, (tn_str){ text, BYTES }, NULL);
  }
  for (int i = 0; i < effort(2000); i++) {
    tn_file_bytes bytes;
    if (tn_file_read(&heap, path, SIZE_MAX, NULL, &bytes) != TN_FILE_OK) fail();
    bool whole = bytes.len == BYTES;
    for (size_t k = 0; whole && k < BYTES; k++) whole = bytes.at[k] == bytes.at[0];
    tn_file_release(&heap, &bytes);
    assert_true(whole);
  }
  for (int i = 0; i < WRITERS; i++) {
    kill(children[i], SIGKILL);
    waitpid(children[i], NULL, 0);
  }
  memset(text, 'z', sizeof text);
  assert_int_equal(tn_file_replace(&heap, path, (tn_str){ text, BYTES }, NULL), TN_FILE_OK);
  assert_int_equal(heap.used, 0);
}

/* ---- folders ---- */

static void a_growing_file_keeps_only_what_is_known_to_be_good(void **state) {
  (void)state;
  const char *path = in_folder("grows");
  assert_int_equal(tn_file_append(path, 0, TN_LIT("one\n"), NULL), TN_FILE_OK);
  assert_int_equal(tn_file_append(path, 4, TN_LIT("two\n"), NULL), TN_FILE_OK);
  assert_contents(path, "one\ntwo\n");
  assert_int_equal(tn_file_append(path, 4, TN_LIT("2\n"), NULL), TN_FILE_OK);
  assert_contents(path, "one\n2\n");
  assert_int_equal(tn_file_append(in_folder("no/where"), 0, TN_LIT("x"), NULL), TN_FILE_NOT_FOUND);
  /* Whatever fails, the good part is there and nothing else. */
  static const tn_file_call calls[] = { TN_FILE_CALL_OPEN, TN_FILE_CALL_WRITE, TN_FILE_CALL_SYNC };
  for (size_t c = 0; c < 3; c++) {
    for (uint64_t n = 1; n <= 3; n++) {
      tn_file_faults faults = { .error = ENOSPC, .most_bytes = 2 };
      faults.fail_at[calls[c]] = n;
      tn_file_status status = tn_file_append(path, 6, TN_LIT("three\n"), &faults);
      bool happened = faults.calls[calls[c]] >= n;
      assert_int_equal(status, happened ? TN_FILE_NO_SPACE : TN_FILE_OK);
      assert_contents(path, happened ? "one\n2\n" : "one\n2\nthree\n");
      assert_int_equal(tn_file_append(path, 6, TN_LIT(""), NULL), TN_FILE_OK);
    }
  }
}

static void missing_folders_are_made(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  struct stat about;
  assert_int_equal(tn_file_make_folders(&heap, in_folder("a/b//c/")), TN_FILE_OK);
  assert_int_equal(stat(in_folder("a/b/c"), &about), 0);
  assert_true(S_ISDIR(about.st_mode));
  assert_int_equal(tn_file_make_folders(&heap, in_folder("a/b/c")), TN_FILE_OK);   /* already there */
  assert_int_equal(tn_file_make_folders(&heap, in_folder("a/d")), TN_FILE_OK);
  assert_int_equal(tn_file_make_folders(&heap, "/"), TN_FILE_OK);
  assert_int_equal(tn_file_make_folders(&heap, ""), TN_FILE_NOT_FOUND);
  put_file(in_folder("a/file"), "x");
  assert_int_equal(tn_file_make_folders(&heap, in_folder("a/file")), TN_FILE_NOT_DIRECTORY);
  assert_int_equal(tn_file_make_folders(&heap, in_folder("a/file/b")), TN_FILE_NOT_DIRECTORY);
  if (geteuid() != 0) assert_int_equal(tn_file_make_folders(&heap, "/no-such-place/x"), TN_FILE_PERMISSION);
  heap.fail_at = heap.requests + 1;
  assert_int_equal(tn_file_make_folders(&heap, in_folder("a/e")), TN_FILE_NO_MEMORY);
  assert_int_equal(heap.used, 0);
}

static void assert_way(const char *from, const char *to, const char *expected) {
  tn_heap heap = { 0 };
  tn_text way;
  tn_text_init(&way, &heap);
  assert_true(tn_file_way(from, to, &way));
  assert_str(tn_text_str(&way), expected);
  tn_text_free(&way);
  assert_int_equal(heap.used, 0);
}

static void one_folder_is_found_from_another(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_text way;
  assert_int_equal(tn_file_make_folders(&heap, in_folder("a/b/c")), TN_FILE_OK);
  assert_int_equal(tn_file_make_folders(&heap, in_folder("ab/d")), TN_FILE_OK);
  assert_way(in_folder("a/b"), in_folder("a/b"), ".");
  assert_way(in_folder("a/b/c"), in_folder("a"), "../..");
  assert_way(in_folder("a"), in_folder("a/b/c"), "b/c");
  assert_way(in_folder("a/b"), in_folder("ab/d"), "../../ab/d"); /* a name may begin like another */
  assert_way(in_folder("a"), in_folder("ab"), "../ab");
  assert_way("/", in_folder("a/.."), folder + 1);
  assert_way("/tmp", "/", "..");
  assert_way("/", "/", ".");
  tn_text_init(&way, &heap);
  assert_false(tn_file_way(in_folder("a"), in_folder("none"), &way));
  heap.fail_at = heap.requests + 1;
  assert_false(tn_file_way(in_folder("a"), in_folder("ab"), &way));
  tn_text_free(&way);
}

RUN_TESTS(
  IN_FOLDER(a_file_is_read_whole),
  IN_FOLDER(reading_says_why_it_failed),
  IN_FOLDER(the_limit_is_checked_before_memory_is_allocated),
  IN_FOLDER(a_file_that_hides_its_size_is_read),
  IN_FOLDER(pipes_are_read_to_their_end),
  IN_FOLDER(a_pipe_over_the_limit_is_refused),
  IN_FOLDER(reading_survives_faults),
  IN_FOLDER(a_growing_file_keeps_only_what_is_known_to_be_good),
  IN_FOLDER(a_file_is_created_and_replaced),
  IN_FOLDER(permissions_and_links_are_kept),
  IN_FOLDER(writing_says_why_it_failed),
  IN_FOLDER(pieces_are_joined_in_order),
  IN_FOLDER(an_abandoned_file_leaves_the_old_one),
  IN_FOLDER(every_call_may_fail),
  IN_FOLDER(replacing_survives_every_failed_request),
  IN_FOLDER(two_writers_do_not_disturb_each_other),
  IN_FOLDER(readers_see_whole_versions_only),
  IN_FOLDER(missing_folders_are_made),
  IN_FOLDER(one_folder_is_found_from_another))
