/* Random compositions compared with their originals, many at once. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/compositions.h"
#include "heddle/predict.h"

/* A group is one workload at one size, and so many compositions there: the original runs once for all of
 * them. Its first size is the one named, the others are drawn. Drawn sizes whose originals take more thread
 * instructions than MOST_INSTRUCTIONS are drawn again. */
enum { SIZE_ATTEMPTS = 64, MOST_INSTRUCTIONS = 10000000 };

typedef struct session {
  const hd_compositions_options *q;
  hd_composed_group *groups;
  size_t n_groups;
  const char *folder; /* of tables */
  _Atomic size_t next, done;
  pthread_mutex_t telling;
} session;

/* ---- One group ------------------------------------------------------------------------- */

/* The parameters as options of a command line, or as hd_workload_open_with takes them. */
typedef struct values {
  char **set;
  size_t n;
} values;

static void free_values(values *v) {
  for (size_t i = 0; i < v->n; i++) free(v->set[i]);
  free(v->set);
  *v = (values){0};
}

static bool draw_values(const hd_workload *w, uint64_t seed, values *out) {
  int64_t *drawn = calloc((size_t)w->n_params + 1, sizeof *drawn);
  *out = (values){.set = calloc((size_t)w->n_params + 1, sizeof *out->set)};
  bool ok = drawn && out->set;
  if (ok) hd_compose_size(w, seed, drawn);
  for (uint32_t i = 0; ok && i < w->n_params; i++) {
    hd_buf b = {0};
    if (drawn[i] == w->params[i].value) continue;
    hd_buf_printf(&b, "%s=%" PRId64, w->params[i].name, drawn[i]);
    ok = !b.failed;
    if (ok)
      out->set[out->n++] = b.data;
    else
      hd_buf_free(&b);
  }
  free(drawn);
  return ok;
}

static uint64_t most_tasks(const hd_workload *w) {
  uint64_t most = 1, V;
  for (uint32_t i = 0; i < w->n_launches; i++)
    if (hd_grid_tasks(w->launches[i].grid, &V) && V > most) most = V;
  return most;
}

static void put_command(const session *s, const hd_composed_group *g, const values *v, hd_buf *out) {
  hd_buf_printf(out, "heddle check %s --size %s", g->name, s->q->size);
  for (size_t i = 0; i < v->n; i++) hd_buf_printf(out, " --param %s", v->set[i]);
}

/* A size at which everything fits together, its original run. Falls back on the size named. */
static hd_status open_size(session *s, hd_composed_group *g, uint64_t seed, bool drawn, hd_workload **w,
                           hd_checker **c, values *v) {
  const char *kernels = s->q->kernels_dir, *size = s->q->size;
  hd_check_options o = {.run = {.machine.threads = 1, .compile.arch = g->arch}};
  hd_workload *named;
  hd_status st = hd_workload_open(g->name, kernels, size, &named, &g->diag);
  if (st != HD_OK) return st;
  for (uint64_t attempt = 0; st == HD_OK; attempt++) {
    hd_check_result r;
    hd_diag e = {0};
    *w = NULL;
    free_values(v);
    if (drawn && attempt < SIZE_ATTEMPTS && !draw_values(named, hd_random_at(seed, attempt), v))
      st = hd_nomem(&g->diag);
    else if (hd_workload_open_with(g->name, kernels, size, (const char *const *)v->set, v->n, w, &e) !=
             HD_OK) {
      if (!v->n) st = e.status;
      g->diag = e;
      continue;
    }
    if (st == HD_OK) st = hd_checker_open(*w, &o, c, &r, &g->diag);
    if (st == HD_OK && r.equal && (!v->n || r.thread_instructions <= MOST_INSTRUCTIONS)) break;
    if (st == HD_OK && !r.equal) {
      hd_buf b = {0};
      put_command(s, g, v, &b);
      hd_buf_printf(&b, "\n  %s", r.what);
      g->broken = b.data;
      break;
    }
    hd_checker_close(*c);
    hd_workload_close(*w);
    *c = NULL;
    *w = NULL;
  }
  hd_workload_close(named);
  return st;
}

/* Values that plans of a group may name beside the levers' own. */
typedef struct draws {
  char table[96];  /* a file with a random order of the tasks */
  bool can_cancel; /* the kernels' architecture has bind=cancel */
  hd_shape tiles;  /* of the first kernel's own loop; HD_SHAPE_LAUNCH: it has none */
} draws;

/* Finds the draws that the kernels' text allows. */
static hd_status look_at_code(const hd_workload *w, unsigned arch, draws *out, hd_diag *d) {
  const hd_compiled *code;
  hd_status st = hd_workload_compiled(w, arch, &code, d);
  bool loops;
  uint32_t line;
  if (st != HD_OK) return st;
  out->can_cancel = code->module->sm >= HD_CANCEL_ARCH;
  st = hd_launch_loops(code, 0, &loops, &line, d);
  return st == HD_OK && loops ? hd_launch_loop_shape(code, 0, &out->tiles, d) : st;
}

/* A compiler may not know the architecture that has bind=cancel. */
static unsigned draw_arch(const session *s, const char *name, uint64_t seed) {
  enum { ONE_IN = 4 };
  hd_workload *w;
  const hd_compiled *code;
  if (hd_random_at(~seed, 0) % ONE_IN ||
      hd_workload_open(name, s->q->kernels_dir, s->q->size, &w, NULL) != HD_OK)
    return HD_LAUNCH_ARCH;
  const bool known = hd_workload_compiled(w, HD_CANCEL_ARCH, &code, NULL) == HD_OK;
  hd_workload_close(w);
  return known ? HD_CANCEL_ARCH : HD_LAUNCH_ARCH;
}

/* A random order of V tasks, in a file. */
static hd_status write_table(const char *path, uint64_t V, uint64_t seed, hd_diag *d) {
  uint32_t *task = calloc(V, sizeof *task);
  hd_buf text = {0};
  if (!task) return hd_nomem(d);
  for (uint64_t i = 0; i < V; i++) { /* Fisher and Yates */
    uint64_t k = hd_random_at(seed, i) % (i + 1);
    task[i] = task[k];
    task[k] = (uint32_t)i;
  }
  for (uint64_t i = 0; i < V; i++) hd_buf_printf(&text, "%" PRIu32 "\n", task[i]);
  hd_status st = text.failed ? hd_nomem(d) : hd_file_write(path, text.data, text.len, d);
  hd_buf_free(&text);
  free(task);
  return st;
}

/* The text of a difference: its place, and the command line that shows it. */
static char *describe_difference(const session *s, const hd_composed_group *g, const values *v,
                                 const hd_composition *k, const hd_dispatch *how, const char *plan,
                                 const char *what) {
  hd_buf b = {0};
  put_command(s, g, v, &b);
  hd_buf_printf(&b,
                " --plan %s%s%s%s --sms %u --dispatcher %s --resident %u --seed %" PRIu64 "\n  for sm_%u: %s",
                plan, k->plan.shape.loop ? " --assume no-carry" : "", k->any_grid ? " --any-grid" : "",
                k->no_hoisting ? " --no-hoisting" : "", k->n_sms, hd_dispatch_name(how->kind), how->resident,
                how->seed, g->arch, what);
  return b.data;
}

/* The reason of all kernels alike: a kernel's name within is "the kernel". */
static char *reason_of(const hd_workload *w, const hd_diag *e) {
  hd_buf b = {0};
  for (const char *p = hd_diag_reason(e); *p;) {
    size_t len = 0;
    while (isalnum((unsigned char)p[len]) || p[len] == '_') len++;
    bool kernel = false;
    for (uint32_t i = 0; len && i < w->n_launches && !kernel; i++)
      kernel = strlen(w->launches[i].kernel) == len && memcmp(w->launches[i].kernel, p, len) == 0;
    if (!len) len = 1;
    hd_buf_printf(&b, "%.*s", kernel ? 10 : (int)len, kernel ? "the kernel" : p);
    p += len;
  }
  return b.data;
}

static hd_status run_trial(session *s, hd_composed_group *g, const hd_workload *w, const hd_checker *c,
                           const values *v, const draws *from, uint64_t seed, hd_composed *t) {
  hd_composition k = {0};
  hd_diag e = {0};
  hd_buf plan = {0};
  hd_check_result r;
  hd_status st = hd_compose(g->grid, from->table, from->tiles.kind == HD_SHAPE_GIVEN ? &from->tiles : NULL,
                            from->can_cancel, seed, &k, &g->diag);
  if (st != HD_OK) return st;
  uint64_t all = most_tasks(w) / k.n_sms + 1;
  /* One worker at a time; all of them at once; and one drawn. */
  hd_dispatch how[] = {
      {HD_DISPATCH_SERIAL, k.dispatch.seed, k.dispatch.resident},
      {HD_DISPATCH_ROUND_ROBIN, k.dispatch.seed, all < HD_MOST_RESIDENT ? (uint32_t)all : HD_MOST_RESIDENT},
      k.dispatch};
  /* No tile of the suites' and the corpus' persistent kernels reads what another one left. */
  hd_run_options run = {.machine = {.threads = 1, .n_sms = k.n_sms},
                        .compile = {.arch = g->arch,
                                    .any_grid = k.any_grid,
                                    .no_hoisting = k.no_hoisting,
                                    .assume = k.plan.shape.loop ? HD_ASSUME_NO_CARRY : 0}};
  hd_plan_print(&k.plan, &plan);
  t->plan = plan.data;
  t->any_grid = k.any_grid;
  t->no_hoisting = k.no_hoisting;
  t->dispatch = k.dispatch.kind;
  if (!g->n_sms || k.n_sms < g->n_sms) g->n_sms = k.n_sms;
  hd_plan_set set = {.all = k.plan};
  hd_resolved plans = {0};
  st = hd_resolve(w, &set, &run, NULL, &plans, &e);
  if (st == HD_OK) st = hd_checker_run(c, &plans, &run, how, sizeof how / sizeof *how, &r, &e);
  hd_resolved_free(&plans);
  if (st == HD_OK && !r.equal) {
    t->outcome = HD_COMPOSED_DIFFERENT;
    t->what = describe_difference(s, g, v, &k, &how[r.different], t->plan, r.what);
  } else if (hd_blames_plan(st)) {
    char line[1400];
    t->outcome = HD_COMPOSED_REFUSED;
    t->what = strdup(hd_diag_line(&e, line, sizeof line));
    t->why = t->what ? reason_of(w, &e) : NULL;
    st = HD_OK;
  } else if (st == HD_ERR_INPUT) { /* the rewriter's text cannot be parsed */
    char line[1400];
    t->outcome = HD_COMPOSED_DIFFERENT;
    t->what = describe_difference(s, g, v, &k, &how[0], t->plan, hd_diag_line(&e, line, sizeof line));
    st = HD_OK;
  } else if (st != HD_OK) {
    g->diag = e;
  }
  if (st == HD_OK && (!t->plan || (t->outcome != HD_COMPOSED_EQUAL && !t->what) ||
                      (t->outcome == HD_COMPOSED_REFUSED && !t->why)))
    st = hd_nomem(&g->diag);
  return st;
}

static void run_group(session *s, size_t number) {
  hd_composed_group *g = &s->groups[number];
  uint64_t seed = hd_random_at(s->q->seed, number), V;
  hd_workload *w = NULL;
  hd_checker *c = NULL;
  values v = {0};
  draws from = {.tiles.kind = HD_SHAPE_LAUNCH};
  snprintf(from.table, sizeof from.table, "%s/%zu", s->folder, number);
  g->name = s->q->names[number % s->q->n_names];
  g->arch = draw_arch(s, g->name, seed);
  g->status = open_size(s, g, seed, number >= s->q->n_names, &w, &c, &v);
  if (g->status == HD_OK) memcpy(g->grid, w->launches[0].grid, sizeof g->grid);
  if (g->status == HD_OK && !g->broken && hd_grid_tasks(g->grid, &V))
    g->status = write_table(from.table, V, seed, &g->diag);
  if (g->status == HD_OK && !g->broken) g->status = look_at_code(w, g->arch, &from, &g->diag);
  bool keep = false;
  for (size_t i = 0; g->status == HD_OK && !g->broken && i < HD_COMPOSED_PER_GROUP; i++) {
    size_t trial_number = number * HD_COMPOSED_PER_GROUP + i;
    if (trial_number >= s->q->n) break;
    g->status = run_trial(s, g, w, c, &v, &from, hd_random_at(~s->q->seed, trial_number), &g->trials[i]);
    keep |= g->trials[i].outcome == HD_COMPOSED_DIFFERENT && strstr(g->trials[i].plan, "table:");
    g->n += g->status == HD_OK;
  }
  if (!keep) remove(from.table);
  hd_checker_close(c);
  hd_workload_close(w);
  free_values(&v);
}

static void work(void *ctx, unsigned worker) {
  session *s = ctx;
  (void)worker;
  for (size_t i; (i = atomic_fetch_add(&s->next, 1)) < s->n_groups;) {
    run_group(s, i);
    pthread_mutex_lock(&s->telling);
    s->done++;
    if (s->q->progress)
      s->q->progress(s->q->ctx, s->done * HD_COMPOSED_PER_GROUP, s->n_groups * HD_COMPOSED_PER_GROUP);
    pthread_mutex_unlock(&s->telling);
  }
}

/* ---- All of them --------------------------------------------------------------------------- */

hd_status hd_compositions_run(const hd_compositions_options *o, hd_compositions *out, hd_diag *d) {
  *out = (hd_compositions){.n_groups = (o->n + HD_COMPOSED_PER_GROUP - 1) / HD_COMPOSED_PER_GROUP,
                           .folder = "/tmp/heddle-tables-XXXXXX"};
  out->groups = calloc(out->n_groups + 1, sizeof *out->groups);
  if (!out->groups) return hd_nomem(d);
  if (!mkdtemp(out->folder)) {
    hd_status st = hd_fail(d, HD_ERR_IO, "cannot make a folder for tables in /tmp: %s", strerror(errno));
    free(out->groups);
    *out = (hd_compositions){0};
    return st;
  }
  session s = {.q = o, .groups = out->groups, .n_groups = out->n_groups, .folder = out->folder};
  unsigned jobs = o->threads ? o->threads : hd_cpu_count();
  pthread_mutex_init(&s.telling, NULL);
  hd_parallel(jobs < s.n_groups ? jobs : (unsigned)s.n_groups, work,
              &s); /* those that start do all the work */
  pthread_mutex_destroy(&s.telling);
  for (size_t k = 0; k < out->n_groups; k++) {
    if (out->groups[k].status == HD_OK) continue;
    if (d) *d = out->groups[k].diag;
    hd_status st = out->groups[k].status;
    hd_compositions_free(out);
    return st;
  }
  return HD_OK;
}

void hd_compositions_free(hd_compositions *r) {
  for (size_t k = 0; r->groups && k < r->n_groups; k++) {
    free(r->groups[k].broken);
    for (size_t i = 0; i < HD_COMPOSED_PER_GROUP; i++) {
      free(r->groups[k].trials[i].plan);
      free(r->groups[k].trials[i].what);
      free(r->groups[k].trials[i].why);
    }
  }
  free(r->groups);
  if (r->folder[0]) rmdir(r->folder); /* a table that is kept in it keeps it */
  *r = (hd_compositions){0};
}
