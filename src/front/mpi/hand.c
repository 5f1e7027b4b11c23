#include "mpi/hand.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"

enum {
  MOST_DEATHS = 8,
  MOST_COPIES = 3, /* of workers that are copies of a stock, without an answer: the next one is none */
};

/* The first thing that comes through a worker's stream. */
typedef struct place {
  uint32_t local;
  uint32_t workers; /* that will be copies of this process; 0: it is one itself */
  cpu_set_t own, all;
} place;

typedef struct worker_start {
  const hand_command *command;
  int said;     /* -1: none */
  int listener; /* -1: none */
} worker_start;

/* ---- In the worker ---------------------------------------------------------------------------- */

/* Rank 0 says what there is to say; what a worker wrote counts where all of a rank's workers end. */
static void work(void *ctx, int fd) {
  const worker_start *w = ctx;
  const hand_command *c = w->command;
  place p;
  if (!hd_process_receive(fd, &p, sizeof p)) return;
  sched_setaffinity(0, sizeof p.own, &p.own);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
      dup2(w->said >= 0 ? w->said : null, STDERR_FILENO) < 0)
    return;
  stock own = {w->listener, fd, p.workers, p.own, p.all};
  cli_how = (hd_work_how){.stream = fd, .local = p.local};
  if (p.workers)
    cli_how.divide = stock_divide, cli_how.divide_ctx = &own;
  else if (w->listener >= 0)
    close(w->listener);
  cli_main(c->argc, c->argv);
}

/* ---- In the rank -------------------------------------------------------------------------------- */

hd_status hand_open(hand *h, const hand_command *c, hd_diag *d) {
  *h = (hand){.keeper = HD_KEEPER_NONE, .fd = -1, .stock = -1, .said = memfd_create("heddle", MFD_CLOEXEC)};
  h->listener = stock_listen(&h->node.stock);
  worker_start w = {c, h->said, h->listener};
  return hd_keeper_open(work, &w, &h->keeper, d);
}

static void shut(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
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

/* The keeper's copy, a worker or a stock; it replaces the one before. */
static void start_copy(hand *h, int *fd, uint32_t workers) {
  const hand_node *n = &h->node;
  const place p = {n->local, workers, n->own, n->all};
  shut(fd);
  if (hd_keeper_renew(&h->keeper, fd, NULL) == HD_OK) hd_process_send(*fd, &p, sizeof p);
}

void hand_start(hand *h, bool copies) {
  const hand_node *n = &h->node;
  const bool first = n->local == 0;
  h->copies = copies && n->locals > 1 && n->stock.length;
  h->ready = false;
  shut(&h->fd);
  if (h->copies && first && h->stock < 0) start_copy(h, &h->stock, n->locals);
  if (h->copies && (first || h->deaths < MOST_COPIES)) h->fd = stock_connect(&n->stock, &n->own);
  if (h->fd < 0 && !(h->copies && first)) start_copy(h, &h->fd, 0);
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

/* Other ranks' workers are to be their own, too, where their stock is given up. */
static hand_event give_up(hand *h) {
  shut(&h->fd);
  shut(&h->stock);
  shut(&h->listener);
  hd_keeper_close(&h->keeper);
  return HAND_DEAD;
}

hand_event hand_poll(hand *h, int ms, hd_work_answer *head, hd_buf *bytes) {
  struct pollfd p[] = {{.fd = h->fd, .events = POLLIN}, {.fd = h->stock, .events = POLLIN}};
  const bool unreached = h->fd < 0 && h->stock >= 0;
  if (poll(p, 2, ms) <= 0 && !unreached) return HAND_NOTHING;
  const bool first = !h->ready && !h->hello.threads;
  if (p[0].revents) {
    if (!h->ready && receive_hello(h)) return first ? HAND_READY : HAND_NOTHING;
    if (h->ready && receive_answer(h, head, bytes)) return HAND_ANSWER;
  }
  if (++h->deaths >= MOST_DEATHS) return give_up(h);
  if (p[1].revents) start_copy(h, &h->stock, h->node.locals);
  if (p[0].revents || unreached) hand_start(h, h->copies);
  return HAND_NOTHING;
}

void hand_close(hand *h) {
  shut(&h->fd);
  shut(&h->stock);
  shut(&h->listener);
  shut(&h->said);
  while (h->n) free(h->orders[--h->n].first);
  hd_keeper_close(&h->keeper);
}
