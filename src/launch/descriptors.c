/* launch/descriptors.c: sends descriptors over a socket, from rank 0 to the ranks that it started. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* MSG_CMSG_CLOEXEC */
#endif
#include "launch/internal.h"

#if defined(__linux__)
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* A millisecond apart. Descriptors under way are limited, and the ranks that take them are starting. */
#define ATTEMPTS 60000

typedef union {
  struct cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int))];
} control;

static struct msghdr message_of(struct iovec *part, control *room) {
  return (struct msghdr){ .msg_iov = part,
                          .msg_iovlen = 1,
                          .msg_control = room ? room->bytes : NULL,
                          .msg_controllen = room ? sizeof room->bytes : 0 };
}

static void attach(struct msghdr *message, int descriptor) {
  struct cmsghdr *head = CMSG_FIRSTHDR(message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof descriptor);
  memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
}

bool tn_launch_send(int socket, int number, int descriptor) {
  struct iovec part = { &number, sizeof number };
  control room = { 0 };
  struct msghdr message = message_of(&part, descriptor < 0 ? NULL : &room);
  if (descriptor >= 0) attach(&message, descriptor);
  for (int i = 0; i < ATTEMPTS; i++) {
    ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent == (ssize_t)sizeof number) return true;
    if (sent < 0 && errno == ETOOMANYREFS)
      (void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    else if (sent >= 0 || errno != EINTR)
      return false;
  }
  return false;
}

/* Of a message that carries none: -1. */
static int descriptor_of(struct msghdr *message) {
  int descriptor = -1;
  struct cmsghdr *head = CMSG_FIRSTHDR(message);
  if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
      head->cmsg_len == CMSG_LEN(sizeof descriptor))
    memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
  return descriptor;
}

bool tn_launch_receive(int socket, int *number, int *descriptor) {
  struct iovec part = { number, sizeof *number };
  control room = { 0 };
  struct msghdr message = message_of(&part, &room);
  ssize_t received;
  do {
    received = recvmsg(socket, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received >= 0) errno = 0;
  *descriptor = received > 0 ? descriptor_of(&message) : -1;
  return received == (ssize_t)sizeof *number;
}
#endif
