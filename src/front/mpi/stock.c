#include "mpi/stock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "heddle/process.h"

cpu_set_t stock_own_part(uint32_t local, uint32_t locals) {
  cpu_set_t all, part;
  CPU_ZERO(&part);
  if (sched_getaffinity(0, sizeof all, &all) != 0) return part;
  const unsigned n = (unsigned)CPU_COUNT(&all);
  if (locals < 2 || n < locals || (long)n < sysconf(_SC_NPROCESSORS_ONLN)) return all;
  unsigned k = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &all) && k++ * locals / n == local) CPU_SET(cpu, &part);
  return part;
}

/* ---- Streams --------------------------------------------------------------------------------- */

int stock_listen(stock_name *out) {
  *out = (stock_name){.address.sun_family = AF_UNIX, .length = sizeof out->address};
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const socklen_t unnamed = offsetof(struct sockaddr_un, sun_path);
  if (fd >= 0 && bind(fd, (const struct sockaddr *)&out->address, unnamed) == 0 &&
      listen(fd, SOMAXCONN) == 0 && getsockname(fd, (struct sockaddr *)&out->address, &out->length) == 0)
    return fd;
  if (fd >= 0) close(fd);
  out->length = 0;
  return -1;
}

/* The other end is a process of this user: a name may be another's by now. */
static bool is_mine(int fd) {
  struct ucred peer;
  socklen_t n = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.uid == geteuid();
}

int stock_connect(const stock_name *name, const cpu_set_t *own) {
  if (!name->length) return -1;
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect(fd, (const struct sockaddr *)&name->address, name->length) == 0 && is_mine(fd) &&
      hd_process_send(fd, own, sizeof *own))
    return fd;
  if (fd >= 0) close(fd);
  return -1;
}

/* ---- Workers --------------------------------------------------------------------------------- */

/* A worker has no keeper that would end it with its rank. */
static void *end_with_rank(void *arg) {
  struct pollfd p = {.fd = *(const int *)arg, .events = POLLRDHUP};
  while (poll(&p, 1, -1) < 0 && errno == EINTR) {
  }
  _exit(0);
}

static bool use(const cpu_set_t *own) {
  cpu_set_t got;
  return sched_setaffinity(0, sizeof *own, own) == 0 && sched_getaffinity(0, sizeof got, &got) == 0 &&
         CPU_EQUAL(own, &got);
}

/* A copy becomes the worker of the rank at the stream's other end. A rank may be confined to processors that
 * this process must not use: it is refused. */
static int become_worker(const stock *s, int fd) {
  static int stream;
  cpu_set_t own;
  pthread_t watch;
  close(s->listener);
  close(s->rank);
  stream = fd;
  signal(SIGCHLD, SIG_DFL);
  return hd_process_receive(fd, &own, sizeof own) && use(&own) &&
                 pthread_create(&watch, NULL, end_with_rank, &stream) == 0
             ? fd
             : -1;
}

int stock_divide(void *ctx, const hd_work *w) {
  const stock *s = ctx;
  if (w->prepare) {
    sched_setaffinity(0, sizeof s->all, &s->all);
    w->prepare(w->ctx, (w->threads ? w->threads : 1) * s->workers);
    sched_setaffinity(0, sizeof s->own, &s->own);
  }
  signal(SIGCHLD, SIG_IGN); /* copies that end leave nothing behind */
  for (;;) {
    struct pollfd p[] = {{.fd = s->rank, .events = POLLIN}, {.fd = s->listener, .events = POLLIN}};
    if (poll(p, 2, -1) < 0 && errno != EINTR) return -1;
    if (p[0].revents) return -1;
    const int fd = p[1].revents ? accept4(s->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
    if (fd < 0) continue;
    if (is_mine(fd) && fork() == 0) return become_worker(s, fd);
    close(fd);
  }
}
