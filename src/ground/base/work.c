#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/journal.h"
#include "heddle/process.h"

/* ---- Costs ----------------------------------------------------------------------------------- */

typedef struct costed {
  double cost;
  size_t item;
} costed;

static int by_cost(const void *a, const void *b) {
  const costed *x = a, *y = b;
  if (x->cost != y->cost) return x->cost > y->cost ? -1 : 1;
  return x->item < y->item ? -1 : x->item > y->item;
}

/* All items, the costliest first. */
static void order_items(const hd_work *w, costed *out) {
  for (size_t i = 0; i < w->n; i++) out[i] = (costed){w->costs ? w->costs[i] : 1, i};
  qsort(out, w->n, sizeof *out, by_cost);
}

/* ---- A run ----------------------------------------------------------------------------------- */

typedef struct run {
  const hd_work *w;
  const hd_work_how *how;
  hd_arena arena;
  costed *order;
  journal_answer *answers;
  char **own;   /* answers that were found here, to be freed; NULL: those of journals */
  size_t *todo; /* items to be worked out, the costliest first */
  size_t n_todo;
  journal *journals;
  size_t n_journals;
  int fd; /* of the journal that grows; -1: none */
  bool whole;
  pthread_mutex_t lock; /* of all that follows */
  size_t next;          /* of todo, to be begun */
  size_t done, taken;   /* answers there; of these, the first ones that were taken */
  hd_status status;
  hd_diag diag;
} run;

static void fail_run(run *r, const hd_diag *d) {
  pthread_mutex_lock(&r->lock);
  if (r->status == HD_OK) {
    r->status = d->status;
    r->diag = *d;
  }
  pthread_mutex_unlock(&r->lock);
}

/* Take the answers whose turn it is. With the lock, or alone. */
static hd_status take_ready(run *r, hd_diag *d) {
  hd_status st = HD_OK;
  while (r->whole && st == HD_OK && r->taken < r->w->n && r->answers[r->taken].data) {
    const size_t i = r->taken++;
    st = r->w->take(r->w->ctx, i, r->answers[i].data, r->answers[i].len, d);
    free(r->own[i]);
    r->own[i] = NULL;
  }
  return st;
}

/* Keep an answer: in the journal, then for its turn. Its second one is dropped. */
static hd_status keep(void *ctx, size_t i, const void *answer, size_t len, hd_diag *d) {
  run *r = ctx;
  if (i >= r->w->n) return hd_fail(d, HD_ERR_INPUT, "an answer to no item");
  char *copy = malloc(len + 1);
  if (!copy) return hd_nomem(d);
  memcpy(copy, answer, len);
  pthread_mutex_lock(&r->lock);
  hd_status st = r->status;
  if (st != HD_OK && d) *d = r->diag;
  if (st != HD_OK || r->answers[i].data) {
    free(copy);
  } else {
    r->answers[i] = (journal_answer){r->own[i] = copy, len};
    r->done++;
    if (r->fd >= 0) st = journal_add(r->fd, r->how->journal, i, copy, len, d);
    if (st == HD_OK) st = take_ready(r, d);
    if (st == HD_OK && r->w->progress) r->w->progress(r->w->progress_ctx, r->done, r->n_todo);
  }
  pthread_mutex_unlock(&r->lock);
  return st;
}

/* ---- Journals -------------------------------------------------------------------------------- */

static hd_status read_journal(run *r, const char *path, journal *j, hd_diag *d) {
  const hd_work *w = r->w;
  hd_status st = journal_read(path, j, d);
  if (st != HD_OK || !j->n) return st;
  if (j->n != w->n || memcmp(&j->identity, &w->identity, sizeof j->identity) != 0)
    return hd_fail(d, HD_ERR_USAGE,
                   "%s is the journal of other work: the command, its input, a GPU's file or heddle differ",
                   path);
  journal_answers(j, r->answers, w->n);
  return HD_OK;
}

/* The answers that there are, and the journal that further ones go to. */
static hd_status open_journals(run *r, hd_diag *d) {
  const hd_work_how *how = r->how;
  hd_status st = HD_OK;
  r->journals = HD_NEW_N(&r->arena, how->n_parts + 1, journal);
  if (!r->journals) return hd_nomem(d);
  for (size_t i = 0; st == HD_OK && i < how->n_parts; i++)
    st = read_journal(r, how->parts[i], &r->journals[r->n_journals++], d);
  if (st != HD_OK || !how->journal) return st;
  st = journal_open(how->journal, how->resume, &r->fd, d);
  journal *j = &r->journals[r->n_journals];
  if (st == HD_OK) st = read_journal(r, how->journal, j, d);
  r->n_journals += st == HD_OK;
  return st == HD_OK ? journal_begin(r->fd, how->journal, j->end, r->w, how, d) : st;
}

/* ---- Items to do ----------------------------------------------------------------------------- */

/* Whole items to one part after the other, each to the part of least cost so far. */
static hd_status list_todo(run *r, hd_diag *d) {
  const uint32_t shards = r->how->shards ? r->how->shards : 1;
  double *sums = HD_NEW_N(&r->arena, shards, double);
  if (!sums) return hd_nomem(d);
  for (size_t k = 0; k < r->w->n; k++) {
    uint32_t least = 0;
    for (uint32_t s = 1; s < shards; s++)
      if (sums[s] < sums[least]) least = s;
    sums[least] += r->order[k].cost;
    const size_t i = r->order[k].item;
    if (r->answers[i].data) continue;
    if (r->how->shards <= 1 || least + 1 == r->how->shard) r->todo[r->n_todo++] = i;
  }
  return HD_OK;
}

static void work_thread(void *ctx, unsigned thread) {
  run *r = ctx;
  hd_buf answer = {0};
  for (;;) {
    pthread_mutex_lock(&r->lock);
    const size_t k = r->status == HD_OK && r->next < r->n_todo ? r->next++ : SIZE_MAX;
    pthread_mutex_unlock(&r->lock);
    if (k == SIZE_MAX) break;
    hd_diag d = {0};
    hd_buf_clear(&answer);
    hd_status st = r->w->item(r->w->ctx, r->todo[k], thread, &answer, &d);
    if (st == HD_OK && answer.failed) st = hd_nomem(&d);
    if (st == HD_OK) st = keep(r, r->todo[k], answer.data ? answer.data : "", answer.len, &d);
    if (st != HD_OK) fail_run(r, &d);
  }
  hd_buf_free(&answer);
}

static hd_status do_items(run *r, hd_diag *d) {
  const hd_work *w = r->w;
  const hd_work_pool *pool = r->how->pool;
  if (!r->n_todo) return HD_OK;
  if (r->how->n_parts)
    return hd_fail(d, HD_ERR_USAGE,
                   "answers to %zu of %zu items are in none of these journals: a part is missing, or"
                   " was not run to its end",
                   r->n_todo, w->n);
  if (pool) return pool->run(pool->ctx, w, r->todo, r->n_todo, keep, r, d);
  unsigned threads = w->threads ? w->threads : 1;
  if (threads > r->n_todo) threads = (unsigned)r->n_todo;
  if (!hd_parallel(threads, work_thread, r) && r->status == HD_OK && r->next < r->n_todo)
    return hd_fail(d, HD_ERR_NOMEM, "cannot start threads");
  if (r->status != HD_OK && d) *d = r->diag;
  return r->status;
}

/* ---- A worker of a pool ---------------------------------------------------------------------- */

typedef struct stream {
  const hd_work *w;
  int fd;
  pthread_mutex_t reading, writing;
} stream;

static bool send_answer(stream *s, const hd_work_answer *head, const void *bytes) {
  pthread_mutex_lock(&s->writing);
  const bool ok = hd_process_send(s->fd, head, sizeof *head) && hd_process_send(s->fd, bytes, head->len);
  pthread_mutex_unlock(&s->writing);
  return ok;
}

/* `first`: the bytes that follow the order. */
static bool receive_order(stream *s, hd_work_order *o, hd_buf *first) {
  hd_buf_clear(first);
  pthread_mutex_lock(&s->reading);
  bool ok = hd_process_receive(s->fd, o, sizeof *o) && o->item < s->w->n && (!o->second || s->w->second) &&
            hd_buf_reserve(first, o->len + 1) && hd_process_receive(s->fd, first->data, o->len);
  pthread_mutex_unlock(&s->reading);
  first->len = ok ? o->len : 0;
  return ok;
}

static void stream_thread(void *ctx, unsigned thread) {
  stream *s = ctx;
  const hd_work *w = s->w;
  hd_work_order o;
  hd_buf answer = {0}, first = {0};
  for (bool ok = true; ok && receive_order(s, &o, &first);) {
    hd_diag d = {0};
    hd_buf_clear(&answer);
    const size_t i = (size_t)o.item;
    hd_status st = o.second ? w->second(w->ctx, i, first.data, first.len, &answer, &d)
                            : w->item(w->ctx, i, thread, &answer, &d);
    if (st == HD_OK && answer.failed) st = hd_nomem(&d);
    const hd_work_answer head = {o.item, st == HD_OK ? answer.len : sizeof d, o.second, (uint64_t)st};
    ok = send_answer(s, &head, st != HD_OK ? (const void *)&d : answer.data ? answer.data : "");
  }
  hd_buf_free(&answer);
  hd_buf_free(&first);
}

static hd_status serve(const hd_work *w, const hd_work_how *how, hd_diag *d) {
  const int fd = how->divide ? how->divide(how->divide_ctx, w) : how->stream;
  stream s = {.w = w, .fd = fd, .reading = PTHREAD_MUTEX_INITIALIZER, .writing = PTHREAD_MUTEX_INITIALIZER};
  unsigned threads = w->threads ? w->threads : 1;
  if (how->divide && threads > hd_cpu_count()) threads = hd_cpu_count(); /* a copy's, which may be fewer */
  const hd_work_hello hello = {w->identity, w->n, threads, w->worker};
  bool ok = fd >= 0 && hd_process_send(fd, &hello, sizeof hello);
  if (ok && !hd_parallel(threads, stream_thread, &s)) return hd_fail(d, HD_ERR_NOMEM, "cannot start threads");
  return HD_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static hd_status prepare(run *r, hd_diag *d) {
  const size_t n = r->w->n;
  r->order = HD_NEW_N(&r->arena, n + 1, costed);
  r->answers = HD_NEW_N(&r->arena, n + 1, journal_answer);
  r->own = HD_NEW_N(&r->arena, n + 1, char *);
  r->todo = HD_NEW_N(&r->arena, n + 1, size_t);
  if (!r->order || !r->answers || !r->own || !r->todo) return hd_nomem(d);
  order_items(r->w, r->order);
  for (size_t i = 0; r->w->known && i < n; i++)
    if (r->w->known(r->w->ctx, i)) r->answers[i] = (journal_answer){"", 0};
  hd_status st = open_journals(r, d);
  return st == HD_OK ? list_todo(r, d) : st;
}

hd_status hd_work_run(const hd_work *w, const hd_work_how *how, bool *whole, hd_diag *d) {
  static const hd_work_how all;
  run r = {.w = w, .how = how ? how : &all, .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};
  *whole = false;
  if (r.how->stream) return serve(w, r.how, d);
  r.whole = r.how->shards <= 1;
  hd_arena_init(&r.arena);
  hd_status st = prepare(&r, d);
  if (st == HD_OK) st = take_ready(&r, d);
  if (st == HD_OK) st = do_items(&r, d);
  *whole = st == HD_OK && r.whole;
  for (size_t i = 0; r.own && i < w->n; i++) free(r.own[i]);
  for (size_t i = 0; i < r.n_journals; i++) journal_close(&r.journals[i]);
  if (r.fd >= 0) close(r.fd);
  hd_arena_free(&r.arena);
  pthread_mutex_destroy(&r.lock);
  return st;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static bool number_of(const char *text, size_t len, uint64_t *out) {
  return text && hd_parse_u64(text, len, UINT32_MAX, out);
}

static bool variable(const char *name, uint64_t *out) {
  const char *text = getenv(name);
  return text && number_of(text, strlen(text), out);
}

hd_status hd_shard_parse(const char *text, uint32_t *shard, uint32_t *shards, hd_diag *d) {
  uint64_t i = 0, n = 0;
  if (strcmp(text, "auto") == 0) {
    uint64_t least, most, step = 1;
    if (!variable("SLURM_ARRAY_TASK_ID", &i) || !variable("SLURM_ARRAY_TASK_MIN", &least) ||
        !variable("SLURM_ARRAY_TASK_MAX", &most) || i < least || i > most)
      return hd_fail(d, HD_ERR_USAGE, "--shard auto: the environment names no task of a Slurm array");
    if (!variable("SLURM_ARRAY_TASK_STEP", &step) || !step) step = 1;
    n = (most - least) / step + 1;
    uint64_t tasks = n;
    if (variable("SLURM_ARRAY_TASK_COUNT", &tasks) && tasks != n)
      return hd_fail(d, HD_ERR_USAGE, "--shard auto: the tasks of the Slurm array are not evenly spaced");
    i = (i - least) / step + 1;
  } else {
    const size_t len = strcspn(text, "/");
    if (!text[len] || !number_of(text, len, &i) || !number_of(text + len + 1, strlen(text + len + 1), &n) ||
        i < 1 || i > n)
      return hd_fail(d, HD_ERR_USAGE, "--shard takes I/N with I from 1 to N, or auto, not '%.40s'", text);
  }
  *shard = (uint32_t)i;
  *shards = (uint32_t)n;
  return HD_OK;
}

/* Words that the option takes up: 0 (it is another), 1 or 2. */
static size_t taken_up(const char *word, const char *option, bool flag) {
  const size_t n = strlen(option);
  if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, option, n) != 0) return 0;
  return word[2 + n] == '=' ? 1 : word[2 + n] ? 0 : flag ? 1 : 2;
}

hd_status hd_work_command(const char *const *words, size_t n, hd_arena *a, hd_work_how *out, hd_diag *d) {
  const char **all = HD_NEW_N(a, n + 1, const char *);
  out->n_words = 0;
  out->command = all;
  for (size_t i = 0; all && i < n;) {
    size_t skip = taken_up(words[i], "shard", false);
    if (!skip) skip = taken_up(words[i], "journal", false);
    if (!skip) skip = taken_up(words[i], "resume", true);
    if (!skip) all[out->n_words++] = words[i];
    i += skip ? skip : 1;
  }
  return all ? HD_OK : hd_nomem(d);
}
