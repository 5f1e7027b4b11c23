#include "heddle/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_THREADS = 64, NICENESS = 10 };

typedef enum state { WAITS, RUNS, DONE } state;

typedef struct entry {
  void *item;
  state state;
} entry;

struct hd_pool {
  hd_pool_options o;
  pthread_mutex_t lock; /* of everything below */
  pthread_cond_t work, done;
  HD_VEC(entry) entries; /* the next one first */
  bool ending;
  unsigned n_threads;
  pthread_t threads[MOST_THREADS];
};

/* ---- Entries, under the lock ------------------------------------------------------------------- */

static size_t place_of(const hd_pool *p, const void *item) {
  size_t k = 0;
  while (k < p->entries.n && p->entries.data[k].item != item) k++;
  return k;
}

static void take_out(hd_pool *p, size_t k) {
  p->entries.n--;
  memmove(p->entries.data + k, p->entries.data + k + 1, (p->entries.n - k) * sizeof(entry));
}

static void put_first(hd_pool *p, size_t k) {
  const entry e = p->entries.data[k];
  memmove(p->entries.data + 1, p->entries.data, k * sizeof(entry));
  p->entries.data[0] = e;
}

static void *next(hd_pool *p) {
  for (size_t k = 0; k < p->entries.n; k++)
    if (p->entries.data[k].state == WAITS) {
      p->entries.data[k].state = RUNS;
      return p->entries.data[k].item;
    }
  return NULL;
}

static void forget(hd_pool *p) {
  size_t left = 0;
  for (size_t k = 0; k < p->entries.n; k++) {
    const entry e = p->entries.data[k];
    if (e.state == RUNS)
      p->entries.data[left++] = e;
    else
      p->o.drop(p->o.ctx, e.item);
  }
  p->entries.n = left;
}

/* ---- Threads ----------------------------------------------------------------------------------- */

static void *run(void *ctx) {
  hd_pool *p = ctx;
  (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS); /* of this thread and what it starts */
  pthread_mutex_lock(&p->lock);
  while (!p->ending) {
    void *item = next(p);
    if (!item) {
      pthread_cond_wait(&p->work, &p->lock);
      continue;
    }
    pthread_mutex_unlock(&p->lock);
    p->o.work(p->o.ctx, item);
    pthread_mutex_lock(&p->lock);
    p->entries.data[place_of(p, item)].state = DONE;
    pthread_cond_broadcast(&p->done);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

static void start(hd_pool *p, unsigned n) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (p->n_threads < n && pthread_create(&p->threads[p->n_threads], NULL, run, p) == 0) p->n_threads++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

hd_status hd_pool_open(const hd_pool_options *o, hd_pool **out, hd_diag *d) {
  const unsigned cpus = hd_cpu_count(), n = o->threads ? o->threads : cpus > 1 ? cpus - 1 : 1;
  hd_pool *p = calloc(1, sizeof *p);
  *out = NULL;
  if (!p) return hd_nomem(d);
  p->o = *o;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->work, NULL);
  pthread_cond_init(&p->done, NULL);
  start(p, n < MOST_THREADS ? n : MOST_THREADS);
  if (!p->n_threads) {
    hd_pool_close(p);
    return hd_nomem(d);
  }
  *out = p;
  return HD_OK;
}

void hd_pool_close(hd_pool *p) {
  if (!p) return;
  pthread_mutex_lock(&p->lock);
  p->ending = true;
  pthread_cond_broadcast(&p->work);
  pthread_mutex_unlock(&p->lock);
  for (unsigned k = 0; k < p->n_threads; k++) pthread_join(p->threads[k], NULL);
  forget(p);
  hd_vec_free(&p->entries);
  pthread_cond_destroy(&p->work);
  pthread_cond_destroy(&p->done);
  pthread_mutex_destroy(&p->lock);
  free(p);
}

/* ---- Items ------------------------------------------------------------------------------------- */

bool hd_pool_put(hd_pool *p, void *item) {
  const entry e = {.item = item};
  pthread_mutex_lock(&p->lock);
  const bool ok = hd_vec_push(&p->entries, e);
  pthread_cond_signal(&p->work);
  pthread_mutex_unlock(&p->lock);
  return ok;
}

void *hd_pool_find(hd_pool *p, bool (*is)(const void *item, const void *key), const void *key) {
  void *found = NULL;
  pthread_mutex_lock(&p->lock);
  for (size_t k = 0; k < p->entries.n && !found; k++)
    if (is(p->entries.data[k].item, key)) found = p->entries.data[k].item;
  pthread_mutex_unlock(&p->lock);
  return found;
}

void hd_pool_wait(hd_pool *p, const void *item) {
  pthread_mutex_lock(&p->lock);
  size_t k = place_of(p, item);
  if (k < p->entries.n) {
    put_first(p, k);
    while (p->entries.data[k = place_of(p, item)].state != DONE) pthread_cond_wait(&p->done, &p->lock);
    take_out(p, k);
  }
  pthread_mutex_unlock(&p->lock);
}

void hd_pool_forget(hd_pool *p) {
  pthread_mutex_lock(&p->lock);
  forget(p);
  pthread_mutex_unlock(&p->lock);
}

size_t hd_pool_count(hd_pool *p) {
  pthread_mutex_lock(&p->lock);
  const size_t n = p->entries.n;
  pthread_mutex_unlock(&p->lock);
  return n;
}
