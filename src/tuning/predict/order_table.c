/* Orders that are made from a trace: computed once, and kept by the hash of all their inputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict/study.h"

enum { PATH = 4096 };

/* ---- The hash of a table's inputs ----------------------------------------------------- */

static hd_status digest_file(hd_digest *h, const char *path, hd_diag *d) {
  hd_file f;
  hd_status st = hd_file_open(path, &f, d);
  if (st != HD_OK) return st;
  hd_digest_bytes(h, f.data, f.len);
  hd_file_close(&f);
  return HD_OK;
}

/* The bytes of the file that fills a buffer, where one does. */
static hd_status digest_filling(hd_digest *h, const hd_workload *w, uint32_t buffer, hd_diag *d) {
  char path[PATH];
  bool found;
  hd_status st = hd_workload_fill_path(w, buffer, path, sizeof path, &found, d);
  return st == HD_OK && found ? digest_file(h, path, d) : st;
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
    st = digest_filling(h, w, i, d);
  }
  /* The generator takes the size's parameters: the same folder and size, and the same text. */
  hd_digest_text(h, w->size);
  return st == HD_OK && generated && w->reference ? digest_file(h, w->reference, d) : st;
}

static void digest_argument(hd_digest *h, const hd_wl_arg *a) {
  uint64_t numbers[] = {
      a->is_buffer, a->is_buffer || a->tensor ? a->buffer : 0, a->type, a->bits, a->offset, a->image,
      a->n_fields};
  hd_digest_bytes(h, numbers, sizeof numbers);
  for (uint32_t k = 0; k < a->n_fields; k++) {
    hd_digest_bytes(h, &a->fields[k].at, sizeof a->fields[k].at);
    digest_argument(h, &a->fields[k].value);
  }
}

static void digest_launches(hd_digest *h, const hd_workload *w) {
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    hd_digest_text(h, l->kernel);
    hd_digest_bytes(h, l->grid, sizeof l->grid);
    hd_digest_bytes(h, l->block, sizeof l->block);
    for (uint32_t k = 0; k < l->n_args; k++) digest_argument(h, &l->args[k]);
  }
}

static hd_status digest_code(hd_digest *h, const hd_compiled *code, hd_diag *d) {
  hd_digest_bytes(h, code->text, code->len);
  hd_status st = digest_buffers(h, code->workload, d);
  if (st == HD_OK) digest_launches(h, code->workload);
  return st;
}

hd_status hd_workload_digest(const hd_workload *w, unsigned arch, hd_digest *h, hd_diag *d) {
  const hd_compiled *code;
  hd_status st = hd_workload_compiled(w, hd_launch_arch(NULL, arch), &code, d);
  return st == HD_OK ? digest_code(h, code, d) : st;
}

hd_status predict_path(const hd_compiled *code, uint32_t launch, const char *method, const char *suffix,
                       char out[PREDICT_PATH], hd_diag *d) {
  hd_digest h = hd_digest_begin();
  char folder[PATH], name[HD_DIGEST_HEX];
  hd_digest_text(&h, method);
  hd_status st = digest_code(&h, code, d);
  if (st != HD_OK) return st;
  hd_digest_bytes(&h, &launch, sizeof launch);
  hd_cache_folder(folder, sizeof folder);
  int n = snprintf(out, PREDICT_PATH, "%s/%s.%s", folder, hd_digest_hex(&h, name), suffix);
  if (!folder[0] || n < 0 || n >= PREDICT_PATH) out[0] = 0;
  return HD_OK;
}

/* ---- Construction --------------------------------------------------------------------------- */

static bool one_table(const hd_compiled *c, uint32_t i, uint32_t k) {
  const uint32_t *a = c->workload->launches[i].grid, *b = c->workload->launches[k].grid;
  return c->kernel_of[i] == c->kernel_of[k] && a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* The first launch that shares the table. */
static uint32_t first_of(const hd_compiled *c, uint32_t launch) {
  uint32_t i = 0;
  while (i < launch && !one_table(c, i, launch)) i++;
  return i;
}

static uint64_t accesses_of(const hd_study *s, uint32_t launch) {
  return hd_trace_get_info(hd_study_trace(s, launch)).warp_accesses;
}

/* The one that accesses most; the launch itself where all are left out. */
static uint32_t busiest_of(const hd_compiled *c, uint32_t launch, const hd_study *s) {
  const uint32_t n = c->workload->n_launches;
  uint32_t most = n;
  for (uint32_t i = 0; i < n; i++) {
    if (!one_table(c, i, launch) || hd_study_leaves_out(s, i)) continue;
    if (most == n || accesses_of(s, i) > accesses_of(s, most)) most = i;
  }
  return most < n ? most : launch;
}

/* Where data is small, any two tasks share some of it by chance, and many such edges together would outweigh
 * the few that matter: edges that are not well above the average pair's are dropped. */
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
  st = hd_affinity_order(&graph, 0, out, d);
  hd_affinity_free(&graph);
  return st;
}

static void keep(const char *path, const hd_table *t) {
  hd_table_write(path, t, NULL); /* a cache: it may fail */
}

hd_status order_table(study_source *from, uint32_t launch, hd_order_kind kind, hd_table *out, hd_diag *d) {
  static const char *const methods[HD_ORDER_COUNT] = {
      [HD_ORDER_AFFINITY] = "affinity 4", [HD_ORDER_HEAVY_FIRST] = "heavy-first 1"};
  const hd_compiled *code = from->code;
  const hd_workload *w = code->workload;
  const hd_study *study;
  char path[PREDICT_PATH];
  uint64_t V;
  *out = (hd_table){0};
  if (!methods[kind]) return hd_fail(d, HD_ERR_USAGE, "this order is not worked out from a trace");
  if (launch >= w->n_launches || !hd_grid_tasks(w->launches[launch].grid, &V))
    return hd_fail(d, HD_ERR_USAGE, "there is no launch %u, or it has too many tasks", launch);
  launch = first_of(code, launch);
  hd_status st = predict_path(code, launch, methods[kind], "table", path, d);
  if (st != HD_OK) return st;
  if (path[0] && hd_table_read(path, V, out, NULL) == HD_OK) return HD_OK;
  st = study_source_get(from, &study, d);
  const hd_trace *trace = st == HD_OK ? hd_study_trace(study, busiest_of(code, launch, study)) : NULL;
  if (trace && hd_trace_tasks(trace) != V)
    st = hd_fail(d, HD_ERR_UNSUPPORTED, "launch %u, and all with its grid, are left out of the sample",
                 launch);
  if (st == HD_OK && study->sample && study->sample->launches[launch].varied)
    st = hd_fail(d, HD_ERR_UNSUPPORTED,
                 "%s: a few tasks have far more work than others, and a sample does not know which (--exact)",
                 w->launches[launch].kernel);
  if (st == HD_OK) st = make(trace, kind, from->run.machine.threads, out, d);
  /* A sampled study has some of the tasks only; its tables are for its own replays. */
  if (st == HD_OK && path[0] && !study->sample) keep(path, out);
  return st;
}

hd_status hd_order_table(const hd_workload *w, uint32_t launch, const hd_run_options *o, hd_order_kind kind,
                         const hd_study *study, hd_table *out, hd_diag *d) {
  study_source from = {.given = study};
  *out = (hd_table){0};
  if (o) from.run = *o;
  hd_status st = hd_workload_compiled(w, hd_launch_arch(NULL, from.run.compile.arch), &from.code, d);
  if (st == HD_OK) st = order_table(&from, launch, kind, out, d);
  study_source_close(&from);
  return st;
}

/* ---- The tables of a study ------------------------------------------------------------------- */

static hd_status copy_table(const hd_table *t, hd_table *out, hd_diag *d) {
  *out = (hd_table){.task = malloc((t->n + 1) * sizeof *t->task), .n = t->n};
  if (!out->task) return hd_nomem(d);
  memcpy(out->task, t->task, t->n * sizeof *t->task);
  return HD_OK;
}

static hd_status get(const hd_study *s, uint32_t launch, hd_order_kind kind, hd_table *out, hd_diag *d) {
  for (size_t i = 0; i < s->memo->tables.n; i++)
    if (s->memo->tables.data[i].launch == launch && s->memo->tables.data[i].kind == kind)
      return copy_table(&s->memo->tables.data[i].table, out, d);
  study_source from = {.code = s->code, .run = s->run, .given = s};
  study_table fresh = {.launch = launch, .kind = kind};
  hd_status st = order_table(&from, launch, kind, &fresh.table, d);
  if (st != HD_OK) return st;
  if (!hd_vec_push(&s->memo->tables, fresh)) {
    hd_table_free(&fresh.table);
    return hd_nomem(d);
  }
  return copy_table(&fresh.table, out, d);
}

hd_status study_order_table(const hd_study *s, uint32_t launch, hd_order_kind kind, hd_table *out,
                            hd_diag *d) {
  *out = (hd_table){0};
  pthread_mutex_lock(&s->memo->lock);
  hd_status st = get(s, first_of(s->code, launch), kind, out, d);
  pthread_mutex_unlock(&s->memo->lock);
  return st;
}
