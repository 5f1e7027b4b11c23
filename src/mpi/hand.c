#include "mpi/hand.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"

enum { MOST_DEATHS = 8 };

/* The first thing that comes through a worker's stream. */
typedef struct place {
  uint32_t local, locals;
} place;

typedef struct worker_start {
  const hand_command *command;
  int said; /* -1: none */
} worker_start;

/* ---- In the worker ---------------------------------------------------------------------------- */

/* An equal part of the processors, where the ranks of this machine share all of them. */
static void bind_to_part(const place *p) {
  cpu_set_t all, part;
  if (p->locals < 2 || sched_getaffinity(0, sizeof all, &all) != 0) return;
  const unsigned n = (unsigned)CPU_COUNT(&all);
  if (n < p->locals || (long)n < sysconf(_SC_NPROCESSORS_ONLN)) return;
  CPU_ZERO(&part);
  unsigned k = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &all) && k++ * p->locals / n == p->local) CPU_SET(cpu, &part);
  sched_setaffinity(0, sizeof part, &part);
}

/* Rank 0 says what there is to say; what a worker wrote counts where all of a rank's workers end. */
static void work(void *ctx, int fd) {
  const worker_start *w = ctx;
  const hand_command *c = w->command;
  place p;
  if (!hd_process_receive(fd, &p, sizeof p)) return;
  bind_to_part(&p);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
      dup2(w->said >= 0 ? w->said : null, STDERR_FILENO) < 0)
    return;
  cli_how = (hd_work_how){.stream = fd, .local = p.local};
  cli_main(c->argc, c->argv);
}

/* ---- In the rank -------------------------------------------------------------------------------- */

hd_status hand_open(hand *h, const hand_command *c, hd_diag *d) {
  *h = (hand){.keeper = HD_KEEPER_NONE, .fd = -1, .said = memfd_create("heddle", MFD_CLOEXEC)};
  worker_start w = {c, h->said};
  return hd_keeper_open(work, &w, &h->keeper, d);
}

void hand_last_words(const hand *h, char *out, size_t cap) {
  char text[1024];
  const off_t end = h->said >= 0 ? lseek(h->said, 0, SEEK_END) : 0,
              from = end > (off_t)sizeof text - 1 ? end - (off_t)sizeof text + 1 : 0;
  const ssize_t n = end > 0 ? pread(h->said, text, sizeof text - 1, from) : 0;
  text[n > 0 ? n : 0] = 0;
  char *last = text + strlen(text);
  while (last > text && last[-1] == '\n') *--last = 0;
  while (last > text && last[-1] != '\n') last--;
  snprintf(out, cap, "%s", last);
}

void hand_start(hand *h, uint32_t local, uint32_t locals) {
  const place p = {h->local = local, h->locals = locals};
  if (h->fd >= 0) close(h->fd);
  h->ready = false;
  if (hd_keeper_renew(&h->keeper, &h->fd, NULL) == HD_OK) hd_process_send(h->fd, &p, sizeof p);
}

static void send_order(const hand *h, const hand_order *o) {
  hd_process_send(h->fd, &o->head, sizeof o->head);
  hd_process_send(h->fd, o->first, o->head.len);
}

void hand_give(hand *h, const hd_work_order *o, const void *first) {
  char *copy = h->n < HAND_MOST ? malloc(o->len + 1) : NULL;
  if (!copy) return; /* the item is overdue soon */
  memcpy(copy, first, o->len);
  h->orders[h->n++] = (hand_order){*o, copy};
  if (h->ready) send_order(h, &h->orders[h->n - 1]);
}

/* False: the worker is gone. */
static bool receive_answer(hand *h, hd_work_answer *head, hd_buf *bytes) {
  hd_buf_clear(bytes);
  if (!hd_process_receive(h->fd, head, sizeof *head) || !hd_buf_reserve(bytes, head->len + 1)) return false;
  if (!hd_process_receive(h->fd, bytes->data, head->len)) return false;
  bytes->len = head->len;
  for (unsigned i = 0; i < h->n; i++)
    if (h->orders[i].head.item == head->item && h->orders[i].head.second == head->second) {
      free(h->orders[i].first);
      h->orders[i] = h->orders[--h->n];
      break;
    }
  h->deaths = 0;
  h->pause = hd_seconds() - h->answered;
  h->answered += h->pause;
  return true;
}

/* Items that were given before it was there, or to the worker before it. */
static bool receive_hello(hand *h) {
  if (!hd_process_receive(h->fd, &h->hello, sizeof h->hello)) return false;
  h->ready = true;
  for (unsigned i = 0; i < h->n; i++) send_order(h, &h->orders[i]);
  return true;
}

hand_event hand_poll(hand *h, int ms, hd_work_answer *head, hd_buf *bytes) {
  struct pollfd p = {.fd = h->fd, .events = POLLIN};
  if (poll(&p, h->fd >= 0, ms) <= 0) return HAND_NOTHING;
  const bool first = !h->ready && !h->hello.threads;
  if (!h->ready && receive_hello(h)) return first ? HAND_READY : HAND_NOTHING;
  if (h->ready && receive_answer(h, head, bytes)) return HAND_ANSWER;
  if (++h->deaths < MOST_DEATHS) {
    hand_start(h, h->local, h->locals);
    return HAND_NOTHING;
  }
  close(h->fd);
  h->fd = -1;
  return HAND_DEAD;
}

void hand_close(hand *h) {
  if (h->fd >= 0) close(h->fd);
  if (h->said >= 0) close(h->said);
  while (h->n) free(h->orders[--h->n].first);
  hd_keeper_close(&h->keeper);
}
