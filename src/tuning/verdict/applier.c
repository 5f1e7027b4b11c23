/* Launch paths: from a launch to the one that replaces it.
 *
 * A launch that was seen before costs one hash and, most often, one comparison, without a lock: entries are
 * never changed nor freed while the applier lives, and the table that leads to them is replaced by a larger
 * one, never emptied. Only the first launch of its kind takes the lock, asks the store, and rewrites.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/verdict.h"
#include "heddle/verdict_options.h"

struct hd_applier_module {
  hd_applier_module *next;
  char *text, *name;
  size_t len;
};

typedef struct launch_key {
  const hd_applier_module *module;
  uint32_t grid[3], block[3], shared;
  uint32_t kernel_len;
  uint64_t kernel_hash; /* two kernels of one module and the same hash and length: their names decide */
} launch_key;

typedef struct entry {
  launch_key key;
  char *kernel;
  uint64_t hash;
  hd_applied applied;
} entry;

typedef struct directory {
  struct directory *older; /* kept until the end: a reader may still be in it */
  size_t mask, n;
  _Atomic(entry *) at[]; /* mask + 1 places, at most half of them taken */
} directory;

struct hd_applier {
  hd_store *store;
  char gpu[96], driver[32];
  uint32_t n_sms;
  pthread_mutex_t lock; /* of all that follows; readers of the directory do without */
  _Atomic(directory *) directory;
  hd_applier_module *modules;
  uint32_t next_id;
};

enum { FIRST_PLACES = 64 };

/* ---- Keys --------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9FB21C651E98DF25ull;
  return h ^ (h >> 32);
}

static uint64_t hash_text(const char *s, uint32_t *len) {
  uint64_t h = 0xCBF29CE484222325ull;
  const char *p = s;
  for (; *p; p++) h = (h ^ (unsigned char)*p) * 0x100000001B3ull;
  *len = (uint32_t)(p - s);
  return h;
}

static launch_key key_of(const hd_applier_module *m, const char *kernel, const uint32_t grid[3],
                         const uint32_t block[3], uint32_t shared) {
  launch_key k = {.module = m, .shared = shared};
  memcpy(k.grid, grid, sizeof k.grid);
  memcpy(k.block, block, sizeof k.block);
  k.kernel_hash = hash_text(kernel, &k.kernel_len);
  return k;
}

static uint64_t hash_key(const launch_key *k) {
  uint64_t h = mix(k->kernel_hash, (uint64_t)(uintptr_t)k->module);
  h = mix(h, (uint64_t)k->grid[0] << 32 | k->grid[1]);
  h = mix(h, (uint64_t)k->grid[2] << 32 | k->shared);
  return mix(h, (uint64_t)k->block[0] << 32 ^ (uint64_t)k->block[1] << 16 ^ k->block[2]);
}

static bool same_key(const launch_key *a, const launch_key *b) {
  return a->module == b->module && a->kernel_hash == b->kernel_hash && a->kernel_len == b->kernel_len &&
         a->shared == b->shared && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
         memcmp(a->block, b->block, sizeof a->block) == 0;
}

/* ---- Directory ------------------------------------------------------------------------- */

static entry *look_up(const directory *t, const launch_key *k, const char *kernel, uint64_t hash) {
  for (size_t i = hash & t->mask;; i = (i + 1) & t->mask) {
    entry *e = atomic_load_explicit(&t->at[i], memory_order_acquire);
    if (!e) return NULL;
    if (e->hash == hash && same_key(&e->key, k) && strcmp(e->kernel, kernel) == 0) return e;
  }
}

static void enter(directory *t, entry *e) {
  size_t i = e->hash & t->mask;
  while (atomic_load_explicit(&t->at[i], memory_order_relaxed)) i = (i + 1) & t->mask;
  atomic_store_explicit(&t->at[i], e, memory_order_release);
  t->n++;
}

static directory *new_directory(size_t places, directory *older) {
  directory *t = calloc(1, sizeof *t + places * sizeof t->at[0]);
  if (!t) return NULL;
  t->mask = places - 1;
  t->older = older;
  for (size_t i = 0; older && i <= older->mask; i++) {
    entry *e = atomic_load_explicit(&older->at[i], memory_order_relaxed);
    if (e) enter(t, e);
  }
  return t;
}

static bool insert(hd_applier *a, entry *e) {
  directory *t = atomic_load_explicit(&a->directory, memory_order_relaxed);
  if (2 * (t->n + 1) > t->mask + 1) {
    if (!(t = new_directory(2 * (t->mask + 1), t))) return false;
    atomic_store_explicit(&a->directory, t, memory_order_release);
  }
  enter(t, e);
  return true;
}

/* ---- The first launch -------------------------------------------------------------------- */

static hd_status ask_store(hd_applier *a, const entry *e, hd_verdict *v, bool *found, hd_diag *d) {
  const hd_applier_module *m = e->key.module;
  hd_verdict_key key = {0}; /* of any size: launch paths see launches */
  hd_verdict_kernel(m->text, m->len, e->kernel, key.kernel);
  hd_verdict_launch(e->key.grid, e->key.block, e->key.shared, NULL, 0, key.launch);
  memcpy(key.gpu, a->gpu, sizeof key.gpu);
  memcpy(key.driver, a->driver, sizeof key.driver);
  return hd_store_get(a->store, &key, v, found, d);
}

/* "#NAME" is the store's; a verdict by somebody's hand may name a file. */
static hd_status read_table(void *store, const char *file, uint64_t tasks, hd_table *out, hd_diag *d) {
  bool found;
  if (file[0] != '#') return hd_table_read(file, tasks, out, d);
  hd_status st = hd_store_get_table(store, file + 1, &out->task, &out->n, &found, d);
  if (st != HD_OK) return st;
  if (!found) return hd_fail(d, HD_ERR_INPUT, "the store has the verdict, but not its table %s", file + 1);
  if (out->n == tasks) return HD_OK;
  hd_fail(d, HD_ERR_INPUT, "the verdict's table has %llu tasks, the grid %llu", (unsigned long long)out->n,
          (unsigned long long)tasks);
  hd_table_free(out);
  return HD_ERR_INPUT;
}

/* The loads that the verdict's word is about. */
typedef struct word {
  const char *params;
  uint32_t *loads;
} word;

static hd_status take_word(void *ctx, const hd_ptx_module *m, uint32_t func, hd_rewrite_options *o,
                           hd_diag *d) {
  word *w = ctx;
  if (!w->params[0]) return HD_OK;
  hd_status st = hd_unwritten_by_word(m, func, w->params, &w->loads, &o->n_unwritten, d);
  o->unwritten = w->loads;
  return st;
}

static hd_status rewrite(const hd_applier *a, entry *e, const hd_verdict *v, const hd_plan *p, hd_diag *d) {
  const hd_applier_module *m = e->key.module;
  hd_applied *out = &e->applied;
  hd_verdict_options o;
  hd_rewritten own;
  hd_status st = hd_verdict_read_options(v, p, a->n_sms, read_table, a->store, &o, d);
  if (st != HD_OK) return st;
  word w = {.params = o.unwritten};
  const hd_apply_kernel k = {
      .name = e->kernel, .plan = p, .options = o.rewrite, .prepare = take_word, .ctx = &w};
  st = hd_apply_text(m->text, m->len, m->name, &k, 1, HD_TEXT_CANONICAL, &own, d);
  free(w.loads);
  if (st != HD_OK) {
    hd_table_free(&o.table);
    return st;
  }
  out->table = o.table;
  out->recipe = own.recipes[0];
  out->ptx = own.text.data;
  out->ptx_len = own.text.len;
  out->changed = true;
  own.text = (hd_buf){0};
  hd_rewritten_free(&own);
  return HD_OK;
}

/* On any failure the original is launched, with the reason. */
static void decide(hd_applier *a, entry *e) {
  hd_verdict v;
  hd_plan p;
  hd_diag d = {0};
  bool found = false;
  hd_status st = ask_store(a, e, &v, &found, &d);
  if (st == HD_OK && !found) return;
  if (st == HD_OK) {
    memcpy(e->applied.plan, v.plan, sizeof e->applied.plan);
    st = hd_plan_parse(v.plan, &p, &d);
  }
  if (st == HD_OK && hd_plan_is_baseline(&p)) return;
  if (st == HD_OK) st = rewrite(a, e, &v, &p, &d);
  if (st != HD_OK) hd_diag_line(&d, e->applied.why, sizeof e->applied.why);
}

static void free_entry(entry *e) {
  if (!e) return;
  free((char *)e->applied.ptx);
  hd_table_free(&e->applied.table);
  free(e->kernel);
  free(e);
}

static entry *new_entry(hd_applier *a, const launch_key *k, const char *kernel, uint64_t hash) {
  entry *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  e->key = *k;
  e->hash = hash;
  e->kernel = strdup(kernel);
  if (e->kernel) decide(a, e);
  e->applied.id = a->next_id;
  if (!e->kernel || !insert(a, e)) {
    free_entry(e);
    return NULL;
  }
  a->next_id++;
  return e;
}

const hd_applied *hd_apply(hd_applier *a, hd_applier_module *m, const char *kernel, const uint32_t grid[3],
                           const uint32_t block[3], uint32_t dynamic_shared) {
  launch_key k = key_of(m, kernel, grid, block, dynamic_shared);
  uint64_t hash = hash_key(&k);
  entry *e = look_up(atomic_load_explicit(&a->directory, memory_order_acquire), &k, kernel, hash);
  if (e) return &e->applied;
  pthread_mutex_lock(&a->lock);
  /* Another thread may have been first. */
  e = look_up(atomic_load_explicit(&a->directory, memory_order_relaxed), &k, kernel, hash);
  if (!e) e = new_entry(a, &k, kernel, hash);
  pthread_mutex_unlock(&a->lock);
  return e ? &e->applied : NULL;
}

/* ---- Modules; opening and closing ----------------------------------------------------------- */

hd_status hd_applier_add(hd_applier *a, const char *text, size_t len, const char *name,
                         hd_applier_module **out, hd_diag *d) {
  hd_applier_module *m = calloc(1, sizeof *m);
  if (m) {
    m->text = malloc(len ? len : 1);
    m->name = strdup(name ? name : "module");
    m->len = len;
  }
  *out = NULL;
  if (!m || !m->text || !m->name) {
    if (m) free(m->text);
    if (m) free(m->name);
    free(m);
    return hd_nomem(d);
  }
  memcpy(m->text, text, len);
  pthread_mutex_lock(&a->lock);
  m->next = a->modules;
  a->modules = m;
  pthread_mutex_unlock(&a->lock);
  *out = m;
  return HD_OK;
}

hd_status hd_applier_open(hd_store *s, const char *gpu, const char *driver, uint32_t n_sms, hd_applier **out,
                          hd_diag *d) {
  hd_applier *a = calloc(1, sizeof *a);
  directory *t = new_directory(FIRST_PLACES, NULL);
  *out = NULL;
  if (!a || !t) {
    free(a);
    free(t);
    return hd_nomem(d);
  }
  a->store = s;
  a->n_sms = n_sms;
  snprintf(a->gpu, sizeof a->gpu, "%.95s", gpu);
  snprintf(a->driver, sizeof a->driver, "%.31s", driver);
  atomic_init(&a->directory, t);
  pthread_mutex_init(&a->lock, NULL);
  *out = a;
  return HD_OK;
}

void hd_applier_close(hd_applier *a) {
  if (!a) return;
  directory *t = atomic_load_explicit(&a->directory, memory_order_relaxed);
  for (size_t i = 0; i <= t->mask; i++) free_entry(atomic_load_explicit(&t->at[i], memory_order_relaxed));
  while (t) {
    directory *older = t->older;
    free(t);
    t = older;
  }
  while (a->modules) {
    hd_applier_module *m = a->modules;
    a->modules = m->next;
    free(m->text);
    free(m->name);
    free(m);
  }
  pthread_mutex_destroy(&a->lock);
  free(a);
}
