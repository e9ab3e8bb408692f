/* cli/terminal.c: finds out what a terminal can show. */
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if !defined(__wasi__)
#include <sys/ioctl.h>
#endif

bool tn_terminal_is(int descriptor) {
  const char *kind = getenv("TERM");
  return isatty(descriptor) && !(kind && strcmp(kind, "dumb") == 0);
}

bool tn_terminal_has_color(int descriptor) {
  const char *no_color = getenv("NO_COLOR");
  return tn_terminal_is(descriptor) && !(no_color && *no_color);
}

int tn_terminal_columns(int descriptor) {
#ifdef TIOCGWINSZ
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
#else
  (void)descriptor;
#endif
  const char *columns = getenv("COLUMNS");
  int count = columns ? atoi(columns) : 0;
  return count > 0 && count < 10000 ? count : 80;
}

bool tn_terminal_has_unicode(void) {
  static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
  for (int i = 0; i < 3; i++) {
    const char *value = getenv(names[i]);
    if (!value || !*value) continue;
    return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "utf-8") || strstr(value, "UTF8");
  }
  return false;
}
