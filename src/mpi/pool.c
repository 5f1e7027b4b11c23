#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/pool.h"

enum { TICK = 1 }; /* milliseconds between looks at messages: waiting must not take a processor */

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
  bool ready;
  unsigned threads, n;
  uint64_t items[HAND_MOST]; /* that it is at, by their places in todo */
} peer;

typedef struct out_item {
  bool done;
  unsigned copies; /* ranks that are at it */
  double since;    /* it was given out last */
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
  char stray[128]; /* why a rank takes no part */
} state;

static bool is_at(const peer *p, uint64_t k) {
  for (unsigned i = 0; i < p->n; i++)
    if (p->items[i] == k) return true;
  return false;
}

/* An item that others are at for long, longest first; SIZE_MAX: none. */
static size_t overdue(const state *s, const peer *p) {
  static const double patience = 1;
  const double now = hd_seconds(), wait = 2 * s->longest > patience ? 2 * s->longest : patience;
  size_t oldest = SIZE_MAX;
  for (size_t k = 0; k < s->next; k++) {
    const out_item *o = &s->out[k];
    if (o->done || (o->copies && now - o->since < wait * o->copies) || is_at(p, k)) continue;
    if (oldest == SIZE_MAX || o->since < s->out[oldest].since) oldest = k;
  }
  return oldest;
}

static void give(state *s, int rank) {
  peer *p = &s->peers[rank];
  while (p->ready && p->n < p->threads && p->n < HAND_MOST) {
    const size_t k = s->next < s->n ? s->next++ : overdue(s, p);
    if (k == SIZE_MAX) return;
    p->items[p->n++] = k;
    s->out[k].copies++;
    s->out[k].since = hd_seconds();
    const uint64_t item = s->todo[k];
    if (rank)
      mpi_post(rank, TAG_ITEM, &item, sizeof item);
    else
      hand_give(s->pool->own, item);
  }
}

static void welcome(state *s, int rank, const hd_work_hello *hello) {
  peer *p = &s->peers[rank];
  if (hello->n == s->w->n && memcmp(&hello->identity, &s->w->identity, sizeof hello->identity) == 0) {
    p->ready = true;
    p->threads = hello->threads < HAND_MOST ? (unsigned)hello->threads : HAND_MOST;
  } else {
    snprintf(s->stray, sizeof s->stray, "rank %d sees other work: its files or its heddle differ", rank);
  }
}

/* The worker of a rank is given up; its items are others'. */
static void lose(state *s, int rank) {
  peer *p = &s->peers[rank];
  for (unsigned i = 0; i < p->n; i++) s->out[p->items[i]].copies--;
  *p = (peer){0};
  if (!s->stray[0]) snprintf(s->stray, sizeof s->stray, "the workers of rank %d end without an answer", rank);
}

static hd_status take_answer(state *s, int rank, const hd_work_answer *head, const char *bytes, hd_diag *d) {
  peer *p = &s->peers[rank];
  if (head->item >= s->w->n) return hd_fail(d, HD_ERR_INPUT, "rank %d answers to no item", rank);
  const size_t k = s->place[head->item];
  for (unsigned i = 0; i < p->n; i++)
    if (p->items[i] == k) {
      p->items[i] = p->items[--p->n];
      s->out[k].copies--;
      break;
    }
  if (s->out[k].done) return HD_OK;
  if (head->status != HD_OK) {
    if (d) memcpy(d, bytes, sizeof *d);
    return (hd_status)head->status;
  }
  const double took = hd_seconds() - s->out[k].since;
  if (took > s->longest) s->longest = took;
  s->out[k].done = true;
  s->done++;
  return s->take(s->take_ctx, s->todo[k], bytes, head->len, d);
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
      welcome(s, rank, &hello);
    } else if (tag == TAG_ANSWER && bytes->len >= sizeof head) {
      memcpy(&head, bytes->data, sizeof head);
      st = take_answer(s, rank, &head, bytes->data + sizeof head, d);
    } else if (tag == TAG_DEAD) {
      lose(s, rank);
    }
  }
  return st;
}

static hd_status hear_own(state *s, hd_buf *bytes, hd_diag *d) {
  hd_work_answer head;
  switch (hand_poll(s->pool->own, TICK, &head, bytes)) {
  case HAND_READY: welcome(s, 0, &s->pool->own->hello); break;
  case HAND_ANSWER: return take_answer(s, 0, &head, bytes->data, d);
  case HAND_DEAD: lose(s, 0); break;
  case HAND_NOTHING: break;
  }
  return HD_OK;
}

/* Until all is done; `waited`: seconds without any rank that is ready. */
static hd_status hand_out(state *s, hd_diag *d) {
  static const double patience = 600;
  hd_buf bytes = {0};
  hd_status st = HD_OK;
  double last = hd_seconds();
  while (st == HD_OK && s->done < s->n) {
    st = hear(s, &bytes, d);
    if (st == HD_OK) st = hear_own(s, &bytes, d);
    bool any = false;
    for (int r = 0; st == HD_OK && r < s->n_peers; r++) {
      give(s, r);
      any |= s->peers[r].ready;
    }
    if (any) last = hd_seconds();
    const bool gone = s->pool->own->fd < 0 && s->n_peers == 1;
    if (st == HD_OK && (gone || hd_seconds() - last > patience))
      st = hd_fail(d, HD_ERR_IO, "no rank does the work%s%s", s->stray[0] ? ": " : "", s->stray);
  }
  hd_buf_free(&bytes);
  return st;
}

hd_status mpi_pool_run(void *ctx, const hd_work *w, const size_t *todo, size_t n, hd_work_done *done,
                       void *done_ctx, hd_diag *d) {
  state s = {.pool = ctx, .w = w, .todo = todo, .n = n, .take = done, .take_ctx = done_ctx};
  hd_arena memory;
  hd_arena_init(&memory);
  MPI_Comm_size(MPI_COMM_WORLD, &s.n_peers);
  s.peers = HD_NEW_N(&memory, (size_t)s.n_peers, peer);
  s.out = HD_NEW_N(&memory, n + 1, out_item);
  s.place = HD_NEW_N(&memory, w->n + 1, size_t);
  hd_status st = s.peers && s.out && s.place ? HD_OK : hd_nomem(d);
  for (size_t k = 0; st == HD_OK && k < n; k++) s.place[todo[k]] = k;
  if (st == HD_OK) {
    for (int r = 1; r < s.n_peers; r++) mpi_post(r, TAG_START, NULL, 0);
    hand_start(s.pool->own, s.pool->local, s.pool->locals);
    st = hand_out(&s, d);
  }
  hd_arena_free(&memory);
  return st;
}

/* ---- Other ranks --------------------------------------------------------------------------------- */

static void send_answer(const hd_work_answer *head, const hd_buf *bytes) {
  hd_buf all = {0};
  hd_buf_put(&all, (const char *)head, sizeof *head);
  hd_buf_put(&all, bytes->data ? bytes->data : "", bytes->len);
  if (all.failed)
    MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_DEAD, MPI_COMM_WORLD);
  else
    MPI_Send(all.data, (int)all.len, MPI_BYTE, 0, TAG_ANSWER, MPI_COMM_WORLD);
  hd_buf_free(&all);
}

void mpi_serve(hand *h, uint32_t local, uint32_t locals) {
  hd_buf bytes = {0};
  for (bool going = true; going;) {
    int rank;
    mpi_tag tag;
    hd_work_answer head;
    while (going && mpi_receive(0, &rank, &tag, &bytes)) {
      uint64_t item;
      if (tag == TAG_START) hand_start(h, local, locals);
      if (tag == TAG_ITEM && bytes.len == sizeof item) {
        memcpy(&item, bytes.data, sizeof item);
        hand_give(h, item);
      }
      going = tag != TAG_END;
    }
    if (!going) break;
    switch (hand_poll(h, TICK, &head, &bytes)) {
    case HAND_READY: MPI_Send(&h->hello, sizeof h->hello, MPI_BYTE, 0, TAG_READY, MPI_COMM_WORLD); break;
    case HAND_ANSWER: send_answer(&head, &bytes); break;
    case HAND_DEAD: MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_DEAD, MPI_COMM_WORLD); break;
    case HAND_NOTHING: break;
    }
  }
  hd_buf_free(&bytes);
}
