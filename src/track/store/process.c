/* track/store/process.c: checks whether the process that recorded a run still runs.
 *
 * A process id alone is not enough, because ids are reused. Together with the start time of the
 * process and the machine's boot id it is unique. */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"

#ifdef TN_HAVE_SQLITE
#include "track/store/internal.h"

/* The 22nd field of /proc/PID/stat; the name in brackets before it may contain anything. A process that
 * has ended but was not waited for is dead too. */
static bool start_of(tn_heap *heap, const char *path, tn_text *out) {
  tn_file_bytes bytes;
  if (tn_file_read(heap, path, 1 << 16, NULL, &bytes) != TN_FILE_OK) return false;
  const char *at = strrchr(bytes.at, ')');
  if (at && (at[1] == ' ') && (at[2] == 'Z' || at[2] == 'X')) at = NULL;
  for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
  size_t length = at ? strspn(at + 1, "0123456789") : 0;
  if (length > 0) tn_text_add(out, (tn_str){ at + 1, length });
  tn_file_release(heap, &bytes);
  return length > 0;
}

static bool boot_of(tn_heap *heap, tn_text *out) {
  tn_file_bytes bytes;
  if (tn_file_read(heap, "/proc/sys/kernel/random/boot_id", 256, NULL, &bytes) != TN_FILE_OK) return false;
  tn_text_add(out, (tn_str){ bytes.at, strcspn(bytes.at, "\n") });
  tn_file_release(heap, &bytes);
  return true;
}

static bool describe(tn_heap *heap, int64_t pid, tn_text *out) {
  tn_text path;
  tn_text_init(&path, heap);
  tn_text_puts(&path, "/proc/");
  tn_text_int(&path, pid);
  tn_text_puts(&path, "/stat");
  tn_text_int(out, pid);
  tn_text_byte(out, ' ');
  bool ok = !path.failed && start_of(heap, path.at, out);
  tn_text_byte(out, ' ');
  tn_text_free(&path);
  return ok && boot_of(heap, out) && !out->failed;
}

void tn_store_this_process(tn_heap *heap, tn_text *out) {
  if (!describe(heap, getpid(), out)) tn_text_clear(out);
}

bool tn_store_is_alive(tn_heap *heap, tn_str process) {
  uint64_t pid;
  size_t digits = 0;
  while (digits < process.len && process.at[digits] >= '0' && process.at[digits] <= '9') digits++;
  if (!tn_number_parse_u64((tn_str){ process.at, digits }, &pid) || pid > INT32_MAX) return false;
  tn_text now;
  tn_text_init(&now, heap);
  bool same = describe(heap, (int64_t)pid, &now) && tn_str_equal(tn_text_str(&now), process);
  tn_text_free(&now);
  return same;
}
#endif
