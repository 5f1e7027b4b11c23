/* Orders that only a trace can tell: worked out once, kept by the hash of all that they follow from. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/runner.h"
#include "tune/table.h"

enum { PATH = 4096 };

/* ---- What a table follows from -------------------------------------------------------- */

static hd_status digest_file(hd_digest *h, const char *path, hd_diag *d) {
  hd_file f;
  hd_status st = hd_file_open(path, &f, d);
  if (st != HD_OK) return st;
  hd_digest_bytes(h, f.data, f.len);
  hd_file_close(&f);
  return HD_OK;
}

/* fill = file("NAME"): what the file holds. */
static hd_status digest_filling(hd_digest *h, const hd_workload *w, const char *fill, hd_diag *d) {
  static const char file[] = "file(\"";
  char path[PATH];
  if (strncmp(fill, file, sizeof file - 1) != 0) return HD_OK;
  const char *name = fill + sizeof file - 1;
  snprintf(path, sizeof path, "%s/%.*s", name[0] == '/' ? "" : w->folder, (int)strcspn(name, "\""), name);
  return digest_file(h, path, d);
}

static hd_status digest_buffers(hd_digest *h, const hd_workload *w, hd_diag *d) {
  bool generated = false;
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++) {
    const hd_wl_buffer *b = &w->buffers[i];
    uint64_t numbers[] = {b->type, b->count, b->seed};
    hd_digest_bytes(h, numbers, sizeof numbers);
    hd_digest_text(h, b->fill);
    generated |= strcmp(b->fill, "generate") == 0;
    st = digest_filling(h, w, b->fill, d);
  }
  /* The generator takes the size's parameters: the same folder and size, and the same text. */
  hd_digest_text(h, w->size);
  return st == HD_OK && generated && w->reference ? digest_file(h, w->reference, d) : st;
}

static void digest_launches(hd_digest *h, const hd_workload *w) {
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    hd_digest_text(h, l->kernel);
    hd_digest_bytes(h, l->grid, sizeof l->grid);
    hd_digest_bytes(h, l->block, sizeof l->block);
    for (uint32_t k = 0; k < l->n_args; k++) {
      const hd_wl_arg *a = &l->args[k];
      uint64_t numbers[] = {a->is_buffer, a->is_buffer || a->tensor ? a->buffer : 0, a->type, a->bits};
      hd_digest_bytes(h, numbers, sizeof numbers);
    }
  }
}

hd_status table_path(const hd_workload *w, uint32_t launch, const hd_run_options *o, const char *method,
                     const char *suffix, char out[TABLE_PATH], hd_diag *d) {
  hd_digest h = hd_digest_begin();
  const hd_compiled *code;
  char folder[PATH], name[HD_DIGEST_HEX];
  hd_digest_text(&h, method);
  hd_status st = hd_workload_compiled(w, hd_launch_arch(NULL, o->arch), &code, d);
  if (st == HD_OK) hd_digest_bytes(&h, code->text, code->len);
  if (st == HD_OK) st = digest_buffers(&h, w, d);
  if (st != HD_OK) return st;
  digest_launches(&h, w);
  hd_digest_bytes(&h, &launch, sizeof launch);
  hd_cache_folder(folder, sizeof folder);
  int n = snprintf(out, TABLE_PATH, "%s/%s.%s", folder, hd_digest_hex(&h, name), suffix);
  if (!folder[0] || n < 0 || n >= TABLE_PATH) out[0] = 0;
  return HD_OK;
}

/* ---- Making one ----------------------------------------------------------------------------- */

static bool one_table(const hd_workload *w, uint32_t i, uint32_t k) {
  const hd_wl_launch *x = &w->launches[i], *y = &w->launches[k];
  return strcmp(x->kernel, y->kernel) == 0 && memcmp(x->grid, y->grid, sizeof x->grid) == 0;
}

/* The first launch that shares the table. */
static uint32_t first_of(const hd_workload *w, uint32_t launch) {
  uint32_t i = 0;
  while (i < launch && !one_table(w, i, launch)) i++;
  return i;
}

/* The one that accesses most. */
static uint32_t busiest_of(const hd_workload *w, uint32_t launch, const hd_study *s) {
  uint32_t most = launch;
  for (uint32_t i = 0; i < w->n_launches; i++)
    if (one_table(w, i, launch) && hd_trace_get_info(hd_study_trace(s, i)).warp_accesses >
                                       hd_trace_get_info(hd_study_trace(s, most)).warp_accesses)
      most = i;
  return most;
}

/* Where data is small, any two tasks share some of it by chance, and many such edges together would outweigh
 * the few that matter: those that are not well above what the average pair has are dropped. */
static void drop_chance_edges(hd_affinity *g) {
  static const double well_above = 3;
  double sum = 0, pairs = (double)g->n * ((double)g->n - 1);
  for (uint64_t i = 0; i < g->first[g->n]; i++) sum += g->weight[i];
  double least = pairs > 0 ? well_above * sum / pairs : 0, mean = sum / (double)(g->first[g->n] + 1);
  if (least > mean) least = mean; /* few large communities: the average pair is in one */
  uint64_t in = 0, out = 0;
  for (uint32_t v = 0; v < g->n; v++) {
    uint64_t end = g->first[v + 1];
    g->first[v] = out;
    for (; in < end; in++)
      if ((double)g->weight[in] >= least) {
        g->to[out] = g->to[in];
        g->weight[out++] = g->weight[in];
      }
  }
  g->first[g->n] = out;
}

static hd_status make(const hd_trace *t, hd_order_kind kind, unsigned threads, hd_table *out, hd_diag *d) {
  if (kind == HD_ORDER_HEAVY_FIRST) return hd_reuse_heavy_first(t, out, d);
  hd_affinity_options o = {.threads = threads};
  hd_affinity graph;
  hd_status st = hd_affinity_build(t, &o, &graph, d);
  if (st != HD_OK) return st;
  drop_chance_edges(&graph);
  st = hd_affinity_order(&graph, NULL, 0, 0, out, d);
  hd_affinity_free(&graph);
  return st;
}

static void keep(const char *path, const hd_table *t) {
  hd_table_write(path, t, NULL); /* a cache: it may fail */
}

hd_status hd_order_table(const hd_workload *w, uint32_t launch, const hd_run_options *o, hd_order_kind kind,
                         const hd_study *study, hd_table *out, hd_diag *d) {
  static const char *const methods[HD_ORDER_COUNT] = {
      [HD_ORDER_AFFINITY] = "affinity 2", [HD_ORDER_HEAVY_FIRST] = "heavy-first 1"};
  char path[TABLE_PATH];
  hd_study *own = NULL;
  hd_run_options run = o ? *o : (hd_run_options){0};
  uint64_t V;
  *out = (hd_table){0};
  if (!table_is_worked_out(kind))
    return hd_fail(d, HD_ERR_USAGE, "this order is not worked out from a trace");
  if (launch >= w->n_launches || !hd_grid_tasks(w->launches[launch].grid, &V))
    return hd_fail(d, HD_ERR_USAGE, "there is no launch %u, or it has too many tasks", launch);
  launch = first_of(w, launch);
  hd_status st = table_path(w, launch, &run, methods[kind], "table", path, d);
  if (st != HD_OK) return st;
  if (path[0] && hd_table_read(path, V, out, NULL) == HD_OK) return HD_OK;
  if (!study) {
    run.table = NULL;
    if ((st = hd_study_open(w, &run, &own, d)) != HD_OK) return st;
    study = own;
  }
  st = make(hd_study_trace(study, busiest_of(w, launch, study)), kind, run.threads, out, d);
  hd_study_close(own);
  if (st == HD_OK && path[0]) keep(path, out);
  return st;
}

/* ---- The tables of a study ------------------------------------------------------------------- */

typedef struct stored {
  uint32_t launch; /* the first one that shares it */
  hd_order_kind kind;
  hd_table *table; /* on its own, so that it stays where it is when the store grows */
} stored;

struct table_store {
  const hd_workload *w;
  hd_run_options run;
  pthread_mutex_t lock;
  HD_VEC(stored) tables;
};

table_store *table_store_open(const hd_workload *w, const hd_run_options *o) {
  table_store *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->w = w;
  t->run = *o;
  pthread_mutex_init(&t->lock, NULL);
  return t;
}

void table_store_close(table_store *t) {
  if (!t) return;
  for (size_t i = 0; i < t->tables.n; i++) {
    hd_table_free(t->tables.data[i].table);
    free(t->tables.data[i].table);
  }
  hd_vec_free(&t->tables);
  pthread_mutex_destroy(&t->lock);
  free(t);
}

static hd_status get(table_store *t, const hd_study *study, uint32_t launch, hd_order_kind kind,
                     const hd_table **out, hd_diag *d) {
  for (size_t i = 0; i < t->tables.n; i++)
    if (t->tables.data[i].launch == launch && t->tables.data[i].kind == kind) {
      *out = t->tables.data[i].table;
      return HD_OK;
    }
  stored fresh = {launch, kind, calloc(1, sizeof *fresh.table)};
  if (!fresh.table || !hd_vec_reserve(&t->tables, t->tables.n + 1)) {
    free(fresh.table);
    return hd_nomem(d);
  }
  hd_status st = hd_order_table(t->w, launch, &t->run, kind, study, fresh.table, d);
  if (st != HD_OK) {
    free(fresh.table);
    return st;
  }
  *out = fresh.table;
  t->tables.data[t->tables.n++] = fresh;
  return HD_OK;
}

hd_status table_store_get(table_store *t, const hd_study *study, uint32_t launch, hd_order_kind kind,
                          const hd_table **out, hd_diag *d) {
  pthread_mutex_lock(&t->lock);
  hd_status st = get(t, study, first_of(t->w, launch), kind, out, d);
  pthread_mutex_unlock(&t->lock);
  return st;
}
