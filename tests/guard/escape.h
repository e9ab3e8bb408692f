/* guard/escape.h: attempts to get out, and what they need lying around. */
#ifndef TN_TESTS_GUARD_ESCAPE_H
#define TN_TESTS_GUARD_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Created before every attempt, by a process outside the sandbox. */
typedef struct {
  char folder[256]; /* holds everything below */
  char secret[400]; /* a file that is not named */
  char named[400];  /* a file that the program names */
  char out[400];    /* a folder that the command line names for writing */
  char link[400];   /* in it, a symbolic link to the secret */
  char socket_path[400];
  const char *self; /* this program, which exits with TN_DONE when it is started with one argument */
  int folder_fd;    /* open since before */
  int namespace_fd; /* of the user namespace of another process */
  int socket_fd;    /* a socket that is not connected yet */
  int victim;       /* a process that is not ours to touch */
  int tcp_port, tcp6_port, udp_port;
} tn_fixture;

/* How an attempt ends; these are exit statuses too. */
enum { TN_DONE = 7, TN_REFUSED = 8 };

/* What must have been granted for an attempt to be no escape. */
enum { TN_NEVER = 1 << 8, TN_ALWAYS = 0 };

typedef struct {
  const char *name;
  unsigned needs; /* grants, TN_NEVER or TN_ALWAYS */
  bool (*attempt)(const tn_fixture *fixture);
} tn_attempt;

extern const tn_attempt tn_attempts[];
extern const size_t tn_attempt_count;
#endif
