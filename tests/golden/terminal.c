/* golden/terminal.c: runs a command with a terminal as its standard error, and prints what came there.
 *
 *   terminal COLUMNS COMMAND...
 *   terminal both COLUMNS COMMAND...
 *
 * Standard output stays what it is; with `both` it is that terminal too. A carriage return is printed as <CR>
 * and a line break, an escape as <ESC>. */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static void show(const char *bytes, ssize_t count) {
  for (ssize_t i = 0; i < count; i++) {
    if (bytes[i] == '\r') fputs("<CR>\n", stderr);
    else if (bytes[i] == 033) fputs("<ESC>", stderr);
    else fputc(bytes[i], stderr);
  }
}

int main(int count, char **words) {
  char bytes[4096];
  int status, terminal = posix_openpt(O_RDWR | O_NOCTTY);
  bool both = count > 1 && strcmp(words[1], "both") == 0;
  words += both, count -= both;
  if (count < 3 || terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return 2;
  struct winsize size = { .ws_row = 25, .ws_col = (unsigned short)atoi(words[1]) };
  int end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  if (end < 0 || ioctl(end, TIOCSWINSZ, &size) != 0) return 2;
  pid_t child = fork();
  if (child == 0) {
    dup2(end, 2);
    if (both) dup2(end, 1);
    close(end);
    close(terminal);
    execvp(words[2], words + 2);
    _exit(127);
  }
  close(end);
  for (ssize_t got; (got = read(terminal, bytes, sizeof bytes)) > 0;) show(bytes, got);
  if (child < 0 || waitpid(child, &status, 0) != child) return 2;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
