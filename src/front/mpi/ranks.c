#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/pool.h"

/* A message under way, whose bytes MPI reads until it is sent. */
typedef struct posted {
  struct posted *next;
  MPI_Request request;
  char bytes[];
} posted;

static posted *under_way;

static void free_sent(void) {
  for (posted **at = &under_way; *at;) {
    posted *p = *at;
    int sent = 0;
    if (MPI_Test(&p->request, &sent, MPI_STATUS_IGNORE) == MPI_SUCCESS && !sent) {
      at = &p->next;
      continue;
    }
    *at = p->next;
    free(p);
  }
}

/* Milliseconds until messages are looked at again: looking takes the time of a processor that a worker may be
 * using. While the worker has an item in hand beyond those it is at, messages can wait for part of the time
 * to its next answer. */
static int tick(const hand *h) {
  static const double least = 1, most = 16, part = 8;
  return (int)(h->n > h->hello.threads ? fmin(fmax(h->pause * 1000 / part, least), most) : least);
}

void mpi_post(int rank, mpi_tag tag, const void *data, size_t len) {
  free_sent();
  posted *p = malloc(sizeof *p + len);
  if (!p) return;
  if (len) memcpy(p->bytes, data, len);
  MPI_Isend(p->bytes, (int)len, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &p->request);
  p->next = under_way;
  under_way = p;
}

bool mpi_receive(int from, int *rank, mpi_tag *tag, hd_buf *bytes) {
  MPI_Status status;
  int there = 0, len = 0;
  if (MPI_Iprobe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS || !there) return false;
  MPI_Get_count(&status, MPI_BYTE, &len);
  hd_buf_clear(bytes);
  if (!hd_buf_reserve(bytes, (size_t)len + 1)) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Recv(bytes->data, len, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  bytes->len = (size_t)len;
  *rank = status.MPI_SOURCE;
  *tag = (mpi_tag)status.MPI_TAG;
  return true;
}

/* ---- Rank 0 ------------------------------------------------------------------------------------ */

typedef struct peer {
  bool ready, gone;
  hd_worker worker;
  unsigned threads, n;
  uint64_t items[HAND_MOST]; /* that it is at, by their places in todo */
} peer;

typedef struct out_item {
  bool done;
  unsigned copies; /* ranks that are at it */
  double since;    /* it was given out last */
  char *first;     /* an answer on which a second opinion is wanted, malloc'd; NULL: none */
  size_t len;
  int by; /* the rank that gave it */
} out_item;

typedef struct state {
  mpi_pool *pool;
  const hd_work *w;
  const size_t *todo;
  size_t n, next, done;
  out_item *out; /* by place in todo */
  size_t *place; /* in todo, by item */
  peer *peers;
  int n_peers;
  double longest; /* seconds that any item took */
  hd_work_done *take;
  void *take_ctx;
} state;

static bool is_at(const peer *p, uint64_t k) {
  for (unsigned i = 0; i < p->n; i++)
    if (p->items[i] == k) return true;
  return false;
}

/* A second opinion comes from a rank with another device of that kind. */
static bool can_second(const state *s, int rank, int by) {
  const peer *p = &s->peers[rank];
  return rank != by && p->ready && strcmp(p->worker.kind, s->peers[by].worker.kind) == 0;
}

/* Some rank can, or may be able to once it is ready. */
static bool has_second(const state *s, int by) {
  for (int r = 0; r < s->n_peers; r++)
    if (can_second(s, r, by) || (r != by && !s->peers[r].ready && !s->peers[r].gone)) return true;
  return false;
}

/* An item that waits for this rank's opinion; SIZE_MAX: none. */
static size_t doubted(const state *s, int rank) {
  for (size_t k = 0; s->w->doubted && k < s->next; k++) {
    const out_item *o = &s->out[k];
    if (o->first && !o->done && !o->copies && can_second(s, rank, o->by)) return k;
  }
  return SIZE_MAX;
}

/* An item that others are at for long, longest first; SIZE_MAX: none. */
static size_t overdue(const state *s, int rank) {
  static const double patience = 1;
  const peer *p = &s->peers[rank];
  const double now = hd_seconds(), wait = 2 * s->longest > patience ? 2 * s->longest : patience;
  size_t oldest = SIZE_MAX;
  for (size_t k = 0; k < s->next; k++) {
    const out_item *o = &s->out[k];
    if (o->done || (o->copies && now - o->since < wait * o->copies) || is_at(p, k)) continue;
    if (o->first && !can_second(s, rank, o->by)) continue;
    if (oldest == SIZE_MAX || o->since < s->out[oldest].since) oldest = k;
  }
  return oldest;
}

/* Second opinions, which take less time than first ones, come at once, but fill the gaps at the end. */
static size_t next_item(state *s, int rank) {
  const bool early = s->n - s->next > 2 * (size_t)s->n_peers;
  size_t k = early ? doubted(s, rank) : SIZE_MAX;
  if (k == SIZE_MAX && s->next < s->n) k = s->next++;
  if (k == SIZE_MAX) k = doubted(s, rank);
  return k == SIZE_MAX ? overdue(s, rank) : k;
}

static void post_order(int rank, const hd_work_order *o, const char *first) {
  hd_buf all = {0};
  hd_buf_put(&all, (const char *)o, sizeof *o);
  hd_buf_put(&all, first ? first : "", o->len);
  if (!all.failed) mpi_post(rank, TAG_ITEM, all.data, all.len); /* else the item is overdue soon */
  hd_buf_free(&all);
}

/* Items that a rank may have: one more than its worker has threads, so that none of them waits while messages
 * travel, as long as plenty are left to be given. */
static unsigned share(const state *s, const peer *p) {
  enum { PLENTY = 8 };
  const bool plenty = s->n - s->next > PLENTY * (size_t)s->n_peers * p->threads;
  return p->threads + plenty < HAND_MOST ? p->threads + plenty : HAND_MOST;
}

static void give(state *s, int rank) {
  peer *p = &s->peers[rank];
  while (p->ready && p->n < share(s, p)) {
    const size_t k = next_item(s, rank);
    if (k == SIZE_MAX) return;
    out_item *o = &s->out[k];
    p->items[p->n++] = k;
    o->copies++;
    o->since = hd_seconds();
    const hd_work_order order = {s->todo[k], o->first != NULL, o->first ? o->len : 0};
    if (rank)
      post_order(rank, &order, o->first);
    else
      hand_give(s->pool->own, &order, o->first ? o->first : "");
  }
}

static hd_status welcome(state *s, int rank, const hd_work_hello *hello, hd_diag *d) {
  peer *p = &s->peers[rank];
  const hd_worker *own = &s->w->worker;
  if (!s->w->mixed && strcmp(hello->worker.kind, own->kind) != 0)
    return hd_fail(d, HD_ERR_USAGE, "rank %d has %s, rank 0 has %s: --mixed lets them work together", rank,
                   hello->worker.kind, own->kind);
  for (int r = 0; r < s->n_peers; r++)
    if (r != rank && s->peers[r].ready && own->unit[0] &&
        strcmp(s->peers[r].worker.unit, hello->worker.unit) == 0)
      return hd_fail(d, HD_ERR_USAGE, "ranks %d and %d have the same device, %s: start one rank for each",
                     r < rank ? r : rank, r < rank ? rank : r, hello->worker.unit);
  if (hello->n == s->w->n && memcmp(&hello->identity, &s->w->identity, sizeof hello->identity) == 0) {
    p->ready = true;
    p->worker = hello->worker;
    p->threads = hello->threads < HAND_MOST ? (unsigned)hello->threads : HAND_MOST;
  } else {
    snprintf(s->pool->stray, sizeof s->pool->stray, "rank %d sees other work: its files or its heddle differ",
             rank);
  }
  return HD_OK;
}

/* The worker of a rank is given up; its items are others'. */
static void lose(state *s, int rank, const char *why) {
  peer *p = &s->peers[rank];
  char *stray = s->pool->stray;
  for (unsigned i = 0; i < p->n; i++) s->out[p->items[i]].copies--;
  *p = (peer){.gone = true, .worker = p->worker};
  if (!stray[0])
    snprintf(stray, sizeof s->pool->stray, "the workers of rank %d end without an answer%s%.600s", rank,
             why[0] ? ": " : "", why);
}

static hd_status finish(state *s, size_t k, const char *bytes, size_t len, hd_diag *d) {
  s->out[k].done = true;
  s->done++;
  return s->take(s->take_ctx, s->todo[k], bytes, len, d);
}

/* Until another rank has said what it thinks of it. */
static hd_status keep_first(out_item *o, int rank, const char *bytes, size_t len, hd_diag *d) {
  if (!(o->first = malloc(len + 1))) return hd_nomem(d);
  memcpy(o->first, bytes, len);
  o->len = len;
  o->by = rank;
  o->since = hd_seconds();
  return HD_OK;
}

/* First answers stand if no worker is left for a second opinion, or gives one in time. */
static hd_status settle(state *s, hd_diag *d) {
  static const double least = 30;
  const double patience = fmax(least, 5 * s->longest), now = hd_seconds();
  hd_status st = HD_OK;
  for (size_t k = 0; s->w->doubted && st == HD_OK && k < s->next; k++) {
    const out_item *o = &s->out[k];
    if (o->first && !o->done && (!has_second(s, o->by) || now - o->since > patience))
      st = finish(s, k, o->first, o->len, d);
  }
  return st;
}

static hd_status take_answer(state *s, int rank, const hd_work_answer *head, const char *bytes, hd_diag *d) {
  peer *p = &s->peers[rank];
  if (head->item >= s->w->n)
    return hd_fail(d, HD_ERR_INPUT, "rank %d answers for an item that does not exist", rank);
  const size_t k = s->place[head->item];
  out_item *o = &s->out[k];
  for (unsigned i = 0; i < p->n; i++)
    if (p->items[i] == k) {
      p->items[i] = p->items[--p->n];
      o->copies--;
      break;
    }
  if (o->done || (o->first && !head->second)) return HD_OK;
  if (head->status != HD_OK) {
    if (d) memcpy(d, bytes, sizeof *d);
    return (hd_status)head->status;
  }
  const double took = hd_seconds() - o->since;
  if (took > s->longest) s->longest = took;
  const hd_work *w = s->w;
  if (!head->second && w->doubted && w->doubted(w->ctx, bytes, head->len) && has_second(s, rank))
    return keep_first(o, rank, bytes, head->len, d);
  return finish(s, k, bytes, head->len, d);
}

static hd_status hear(state *s, hd_buf *bytes, hd_diag *d) {
  int rank;
  mpi_tag tag;
  hd_status st = HD_OK;
  while (st == HD_OK && mpi_receive(MPI_ANY_SOURCE, &rank, &tag, bytes)) {
    hd_work_answer head;
    if (tag == TAG_READY && bytes->len == sizeof(hd_work_hello)) {
      hd_work_hello hello;
      memcpy(&hello, bytes->data, sizeof hello);
      st = welcome(s, rank, &hello, d);
    } else if (tag == TAG_ANSWER && bytes->len >= sizeof head) {
      memcpy(&head, bytes->data, sizeof head);
      st = take_answer(s, rank, &head, bytes->data + sizeof head, d);
    } else if (tag == TAG_DEAD) {
      lose(s, rank, bytes->data);
    }
  }
  return st;
}

static hd_status hear_own(state *s, hd_buf *bytes, hd_diag *d) {
  hand *own = s->pool->own;
  hd_work_answer head;
  char why[640];
  switch (hand_poll(own, tick(own), &head, bytes)) {
  case HAND_READY: return welcome(s, 0, &own->hello, d);
  case HAND_ANSWER: return take_answer(s, 0, &head, bytes->data, d);
  case HAND_DEAD:
    hand_last_words(own, why, sizeof why);
    lose(s, 0, why);
    break;
  case HAND_NOTHING: break;
  }
  return HD_OK;
}

/* Until all is done; `waited`: seconds without any rank that is ready. */
static hd_status hand_out(state *s, hd_diag *d) {
  static const double patience = 600;
  hd_buf bytes = {0};
  hd_status st = HD_OK;
  const char *stray = s->pool->stray;
  double last = hd_seconds();
  while (st == HD_OK && s->done < s->n) {
    st = hear(s, &bytes, d);
    if (st == HD_OK) st = hear_own(s, &bytes, d);
    if (st == HD_OK) st = settle(s, d);
    bool any = false;
    for (int r = 0; st == HD_OK && r < s->n_peers; r++) {
      give(s, r);
      any |= s->peers[r].ready;
    }
    if (any) last = hd_seconds();
    const bool gone = s->pool->own->fd < 0 && s->n_peers == 1;
    if (st == HD_OK && (gone || hd_seconds() - last > patience))
      st = hd_fail(d, HD_ERR_IO, "no rank does the work%s%s", stray[0] ? ": " : "", stray);
  }
  hd_buf_free(&bytes);
  return st;
}

hd_status mpi_pool_run(void *ctx, const hd_work *w, const size_t *todo, size_t n, hd_work_done *done,
                       void *done_ctx, hd_diag *d) {
  state s = {.pool = ctx, .w = w, .todo = todo, .n = n, .take = done, .take_ctx = done_ctx};
  hd_arena memory;
  hd_arena_init(&memory);
  s.pool->used = true;
  MPI_Comm_size(MPI_COMM_WORLD, &s.n_peers);
  s.peers = HD_NEW_N(&memory, (size_t)s.n_peers, peer);
  s.out = HD_NEW_N(&memory, n + 1, out_item);
  s.place = HD_NEW_N(&memory, w->n + 1, size_t);
  hd_status st = s.peers && s.out && s.place ? HD_OK : hd_nomem(d);
  for (size_t k = 0; st == HD_OK && k < n; k++) s.place[todo[k]] = k;
  if (st == HD_OK) {
    const bool copies = !w->worker.kind[0]; /* a copy has not the state of a device */
    for (int r = 1; r < s.n_peers; r++) mpi_post(r, TAG_START, &copies, sizeof copies);
    hand_start(s.pool->own, copies);
    st = hand_out(&s, d);
  }
  for (size_t k = 0; s.out && k < n; k++) free(s.out[k].first);
  hd_arena_free(&memory);
  return st;
}

/* ---- Other ranks --------------------------------------------------------------------------------- */

static void send_dead(const char *why) { mpi_post(0, TAG_DEAD, why, strlen(why) + 1); }

static void send_answer(const hd_work_answer *head, const hd_buf *bytes) {
  hd_buf all = {0};
  hd_buf_put(&all, (const char *)head, sizeof *head);
  hd_buf_put(&all, bytes->data ? bytes->data : "", bytes->len);
  if (all.failed)
    send_dead("out of memory");
  else
    mpi_post(0, TAG_ANSWER, all.data, all.len);
  hd_buf_free(&all);
}

bool mpi_serve(hand *h, pid_t first) {
  hd_buf bytes = {0};
  bool going = true, alive = true;
  while (going && alive) {
    int rank;
    mpi_tag tag;
    hd_work_answer head;
    char why[640];
    while (going && mpi_receive(0, &rank, &tag, &bytes)) {
      hd_work_order order;
      if (tag == TAG_START && bytes.len == sizeof(bool)) hand_start(h, bytes.data[0] != 0);
      if (tag == TAG_ITEM && bytes.len >= sizeof order) {
        memcpy(&order, bytes.data, sizeof order);
        hand_give(h, &order, bytes.data + sizeof order);
      }
      going = tag != TAG_END;
    }
    if (!going) break;
    alive = !first || kill(first, 0) == 0 || errno != ESRCH;
    switch (hand_poll(h, tick(h), &head, &bytes)) {
    case HAND_READY: mpi_post(0, TAG_READY, &h->hello, sizeof h->hello); break;
    case HAND_ANSWER: send_answer(&head, &bytes); break;
    case HAND_DEAD:
      hand_last_words(h, why, sizeof why);
      send_dead(why);
      break;
    case HAND_NOTHING: break;
    }
  }
  hd_buf_free(&bytes);
  return alive;
}
