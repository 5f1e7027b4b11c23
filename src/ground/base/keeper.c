/* keeper.c: copies of a process from before it had threads. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heddle/process.h"

/* A byte that carries a file. */
typedef struct parcel {
  struct msghdr message;
  struct iovec data;
  char byte;
  union {
    struct cmsghdr header; /* for its alignment */
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
} parcel;

static void wrap(parcel *p) {
  memset(p, 0, sizeof *p);
  p->data = (struct iovec){&p->byte, 1};
  p->message = (struct msghdr){.msg_iov = &p->data,
                               .msg_iovlen = 1,
                               .msg_control = p->control.bytes,
                               .msg_controllen = sizeof p->control.bytes};
}

static bool send_file(int stream, int file) {
  parcel p;
  wrap(&p);
  struct cmsghdr *h = CMSG_FIRSTHDR(&p.message);
  *h = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof file)};
  memcpy(CMSG_DATA(h), &file, sizeof file);
  ssize_t sent;
  do sent = sendmsg(stream, &p.message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == 1;
}

/* -1: the stream has ended. */
static int receive_file(int stream) {
  parcel p;
  wrap(&p);
  ssize_t got;
  do got = recvmsg(stream, &p.message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  const struct cmsghdr *h = got == 1 ? CMSG_FIRSTHDR(&p.message) : NULL;
  if (!h || h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) return -1;
  int file;
  memcpy(&file, CMSG_DATA(h), sizeof file);
  return file;
}

typedef struct duty {
  void (*fn)(void *ctx, int fd);
  void *ctx;
} duty;

static void end_copy(pid_t *copy) {
  if (*copy <= 0) return;
  kill(*copy, SIGKILL);
  while (waitpid(*copy, NULL, 0) < 0 && errno == EINTR) {
  }
  *copy = 0;
}

static void keep(void *ctx, int stream) {
  const duty *k = ctx;
  pid_t copy = 0;
  for (int file; (file = receive_file(stream)) >= 0;) {
    end_copy(&copy);
    copy = fork();
    if (copy == 0) {
      close(stream);
      k->fn(k->ctx, file);
      _exit(0);
    }
    close(file); /* without a copy the owner finds its stream at its end */
  }
  end_copy(&copy);
}

hd_status hd_keeper_open(void (*fn)(void *ctx, int fd), void *ctx, hd_keeper *out, hd_diag *d) {
  duty k = {fn, ctx};
  *out = HD_KEEPER_NONE;
  return hd_process_fork(keep, &k, &out->process, d);
}

hd_status hd_keeper_renew(hd_keeper *k, int *fd, hd_diag *d) {
  int ends[2];
  *fd = -1;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return hd_fail(d, HD_ERR_IO, "no stream to a process: %s", strerror(errno));
  const bool sent = send_file(k->process.fd, ends[1]);
  close(ends[1]);
  if (sent) {
    *fd = ends[0];
    return HD_OK;
  }
  close(ends[0]);
  return hd_fail(d, HD_ERR_IO, "no process: its keeper is gone");
}

void hd_keeper_close(hd_keeper *k) {
  hd_process *p = &k->process;
  /* Later copies of this process may hold the stream's end too, so closing it would not end the stream. The
   * keeper ends its copy, then itself. */
  if (p->fd >= 0) shutdown(p->fd, SHUT_RDWR);
  if (p->pid > 0)
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) {
    }
  p->pid = 0;
  hd_process_end(p);
}
