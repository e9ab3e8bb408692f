/* track/store/sqlite.c: loading SQLite when a history is needed, and not before.
 *
 * Linked, it would double the instructions that every start of tern takes: its table of functions for
 * extensions has hundreds of entries, and the dynamic linker looks up each of them by name. */
#include "track/store/store.h"

#ifdef TN_HAVE_SQLITE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "track/store/internal.h"

#define LIBRARY "libsqlite3.so.0"

tn_sqlite_functions tn_sqlite;

/* C knows no conversion from the address of data to that of a function; POSIX says they look alike. */
static bool find(void *library, const char *name, void *function, size_t size) {
  void *found = dlsym(library, name);
  if (found && size == sizeof found) memcpy(function, &found, size);
  return found && size == sizeof found;
}

static void load(void) {
  tn_sqlite_functions all = { .library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL) };
  bool ok = all.library != NULL;
#define FIND(name) ok = ok && find(all.library, "sqlite3_" #name, &all.name, sizeof all.name);
  TN_SQLITE_FUNCTIONS(FIND)
  if (ok)
    tn_sqlite = all;
  else if (all.library)
    dlclose(all.library);
}

bool tn_store_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return tn_sqlite.library != NULL;
}
#endif
