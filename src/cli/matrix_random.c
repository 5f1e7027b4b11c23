/* Random compositions: how many were equal, what was refused and why, and a command line for each that
 * differs. */
#include "matrix_random.h"

#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/compose.h"

/* A group is one workload at one size, and so many compositions there: the original runs once for all of
 * them. Its first size is the one named, the others are drawn. */
enum { PER_GROUP = 8, SIZE_ATTEMPTS = 64 };
/* Drawn sizes whose originals take more thread instructions than this are drawn again. */
enum { MOST_INSTRUCTIONS = 10000000 };

typedef enum outcome { EQUAL = 0, REFUSED, DIFFERENT, OUTCOMES } outcome;

/* One composition, run. */
typedef struct trial {
  outcome outcome;
  bool any_grid, no_hoisting;
  hd_dispatch_kind dispatch;
  char *plan;
  char *what; /* why it was refused; how it differs, and the command line that shows it */
  char *why;  /* when refused: the same without the kernel's name, the place and the instruction */
} trial;

typedef struct group {
  hd_status status; /* of the group itself: what went wrong is in `diag` */
  hd_diag diag;
  const char *name;
  uint32_t grid[3]; /* of the first launch */
  uint32_t n_sms;   /* least of the trials' */
  char *broken;     /* the original does not hold at this size: how, and the command line */
  size_t n;
  trial trials[PER_GROUP];
} group;

typedef struct session {
  const random_request *q;
  group *groups;
  size_t n_groups;
  char folder[64]; /* of tables */
  _Atomic size_t next, done;
  pthread_mutex_t printing;
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

static void put_command(const session *s, const group *g, const values *v, hd_buf *out) {
  hd_buf_printf(out, "heddle check %s --size %s", g->name, s->q->size);
  for (size_t i = 0; i < v->n; i++) hd_buf_printf(out, " --param %s", v->set[i]);
}

/* A size at which everything fits together, its original run. Falls back on the size named. */
static hd_status open_size(session *s, group *g, uint64_t seed, bool drawn, hd_workload **w, hd_checker **c,
                           values *v) {
  const char *kernels = cli_kernels_dir(), *size = s->q->size;
  hd_check_options o = {.run = {.threads = 1}};
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

/* What a difference says: where, and the command line that shows it. */
static char *describe_difference(const session *s, const group *g, const values *v, const hd_composition *k,
                                 const hd_dispatch *how, const char *plan, const char *what) {
  hd_buf b = {0};
  put_command(s, g, v, &b);
  hd_buf_printf(&b, " --plan %s%s%s --sms %u --dispatcher %s --resident %u --seed %" PRIu64 "\n  %s", plan,
                k->any_grid ? " --any-grid" : "", k->no_hoisting ? " --no-hoisting" : "", k->n_sms,
                hd_dispatch_name(how->kind), how->resident, how->seed, what);
  return b.data;
}

/* "matmul: line 55: ld.global.f32 %f1, [%rd2];: it does not go ..." becomes "it does not go ..."; a kernel's
 * name within, "the kernel". */
static char *reason_of(const hd_workload *w, const char *what) {
  const char *after = strstr(what, ";: "), *colon = strstr(what, ": ");
  hd_buf b = {0};
  for (const char *p = after ? after + 3 : colon ? colon + 2 : what; *p;) {
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

static hd_status run_trial(session *s, group *g, const hd_workload *w, const hd_checker *c, const values *v,
                           const char *table, uint64_t seed, trial *t) {
  hd_composition k = {0};
  hd_diag e = {0};
  hd_buf plan = {0};
  hd_check_result r;
  hd_status st = hd_compose(g->grid, table, seed, &k, &g->diag);
  if (st != HD_OK) return st;
  uint64_t all = most_tasks(w) / k.n_sms + 1;
  /* One worker at a time; all of them at once; and one drawn. */
  hd_dispatch how[] = {
      {HD_DISPATCH_SERIAL, k.dispatch.seed, k.dispatch.resident},
      {HD_DISPATCH_ROUND_ROBIN, k.dispatch.seed, all < HD_MOST_RESIDENT ? (uint32_t)all : HD_MOST_RESIDENT},
      k.dispatch};
  hd_run_options run = {
      .threads = 1, .n_sms = k.n_sms, .apply = {.any_grid = k.any_grid, .no_hoisting = k.no_hoisting}};
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
    t->outcome = DIFFERENT;
    t->what = describe_difference(s, g, v, &k, &how[r.different], t->plan, r.what);
  } else if (st == HD_ERR_REFUSED || st == HD_ERR_UNSUPPORTED || st == HD_ERR_USAGE) {
    char line[1400];
    t->outcome = REFUSED;
    t->what = strdup(hd_diag_line(&e, line, sizeof line));
    t->why = t->what ? reason_of(w, t->what) : NULL;
    st = HD_OK;
  } else if (st == HD_ERR_INPUT) { /* what the rewriter wrote cannot be read */
    char line[1400];
    t->outcome = DIFFERENT;
    t->what = describe_difference(s, g, v, &k, &how[0], t->plan, hd_diag_line(&e, line, sizeof line));
    st = HD_OK;
  } else if (st != HD_OK) {
    g->diag = e;
  }
  hd_plan_free(&k.plan);
  if (st == HD_OK && (!t->plan || (t->outcome != EQUAL && !t->what) || (t->outcome == REFUSED && !t->why)))
    st = hd_nomem(&g->diag);
  return st;
}

static void run_group(session *s, size_t number) {
  group *g = &s->groups[number];
  uint64_t seed = hd_random_at(s->q->seed, number), V;
  hd_workload *w = NULL;
  hd_checker *c = NULL;
  values v = {0};
  char table[96];
  snprintf(table, sizeof table, "%s/%zu", s->folder, number);
  g->name = s->q->names[number % s->q->n_names];
  g->status = open_size(s, g, seed, number >= s->q->n_names, &w, &c, &v);
  if (g->status == HD_OK) memcpy(g->grid, w->launches[0].grid, sizeof g->grid);
  if (g->status == HD_OK && !g->broken && hd_grid_tasks(g->grid, &V))
    g->status = write_table(table, V, seed, &g->diag);
  bool keep = false;
  for (size_t i = 0; g->status == HD_OK && !g->broken && i < PER_GROUP; i++) {
    size_t trial_number = number * PER_GROUP + i;
    if (trial_number >= s->q->n) break;
    g->status = run_trial(s, g, w, c, &v, table, hd_random_at(~s->q->seed, trial_number), &g->trials[i]);
    keep |= g->trials[i].outcome == DIFFERENT && strstr(g->trials[i].plan, "table:");
    g->n += g->status == HD_OK;
  }
  if (!keep) remove(table);
  hd_checker_close(c);
  hd_workload_close(w);
  free_values(&v);
}

static void work(void *ctx, unsigned worker) {
  session *s = ctx;
  (void)worker;
  for (size_t i; (i = atomic_fetch_add(&s->next, 1)) < s->n_groups;) {
    run_group(s, i);
    pthread_mutex_lock(&s->printing);
    cli_progress((void *)"compositions", ++s->done * PER_GROUP, s->n_groups * PER_GROUP);
    pthread_mutex_unlock(&s->printing);
  }
}

/* ---- Counts by name ------------------------------------------------------------------------ */

typedef struct count {
  char *name, *example; /* of what was refused first */
  size_t n[OUTCOMES];
} count;

typedef struct counts {
  HD_VEC(count) rows;
} counts;

static count *count_of(counts *c, const char *name) {
  for (size_t i = 0; i < c->rows.n; i++)
    if (strcmp(c->rows.data[i].name, name) == 0) return &c->rows.data[i];
  count fresh = {.name = strdup(name)};
  if (fresh.name && hd_vec_push(&c->rows, fresh)) return &c->rows.data[c->rows.n - 1];
  free(fresh.name);
  return NULL;
}

static bool add(counts *c, const char *name, outcome o) {
  count *row = count_of(c, name);
  if (row) row->n[o]++;
  return row != NULL;
}

static void free_counts(counts *c) {
  for (size_t i = 0; i < c->rows.n; i++) {
    free(c->rows.data[i].name);
    free(c->rows.data[i].example);
  }
  hd_vec_free(&c->rows);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const count *)a)->name, ((const count *)b)->name);
}

static int by_number(const void *a, const void *b) {
  const count *x = a, *y = b;
  if (x->n[REFUSED] != y->n[REFUSED]) return x->n[REFUSED] < y->n[REFUSED] ? 1 : -1;
  return by_name(a, b);
}

/* ---- What there was ---------------------------------------------------------------------------- */

typedef struct summary {
  size_t outcomes[OUTCOMES], sizes;
  counts levers, dispatchers, reasons, grids;
  bool failed;
} summary;

/* Numbers become N, so that all parameters of a lever and all places of a reason count together. */
static void without_numbers(const char *text, size_t len, char *out, size_t cap) {
  size_t n = 0;
  bool word = false, number = false; /* what the character before belongs to */
  for (size_t i = 0; i < len && n + 1 < cap; i++) {
    bool digit = isdigit((unsigned char)text[i]) != 0;
    word = isalpha((unsigned char)text[i]) || text[i] == '_' || (digit && word);
    if (!digit || word)
      out[n++] = text[i];
    else if (!number)
      out[n++] = 'N';
    number = digit && !word;
  }
  out[n] = 0;
}

/* "order=tile:3x2" counts as order=tile, "bind=agents:2" as bind=agents:N, "sms=0-3+7" as sms. The names of
 * table files, which are this program's own, hold no commas. */
static void count_levers(summary *m, const trial *t) {
  static const char *const cut[][2] = {
      {"order=", ":"}, {"threads=", ":N"}, {"sms=", "="}, {"stream=N", "=N"}};
  unsigned levers = 0;
  for (const char *p = t->plan; *p && strcmp(t->plan, "baseline") != 0; levers++) {
    size_t len = strcspn(p, ",");
    char name[64];
    without_numbers(p, len, name, sizeof name);
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
      if (strncmp(name, cut[i][0], strlen(cut[i][0])) == 0 && strstr(name, cut[i][1]))
        *strstr(name, cut[i][1]) = 0;
    m->failed |= !add(&m->levers, name, t->outcome);
    p += len + (p[len] == ',');
  }
  char together[32];
  snprintf(together, sizeof together, "(%u lever%s)", levers, levers == 1 ? "" : "s");
  m->failed |= !add(&m->levers, together, t->outcome);
  if (t->any_grid) m->failed |= !add(&m->levers, "(for any grid)", t->outcome);
  if (t->no_hoisting) m->failed |= !add(&m->levers, "(nothing hoisted)", t->outcome);
}

static bool is_prime(uint64_t n) {
  for (uint64_t k = 2; k * k <= n; k++)
    if (n % k == 0) return false;
  return n > 1;
}

static void count_grid(summary *m, const group *g) {
  const uint32_t *d = g->grid;
  uint64_t V = 1;
  hd_grid_tasks(d, &V);
  const struct {
    const char *name;
    bool is;
  } kinds[] = {{"one task", V == 1},
               {"one column of tasks", V > 1 && d[0] == 1},
               {"one row of tasks", V > 1 && d[0] == V},
               {"two dimensions", d[0] > 1 && d[1] > 1 && d[2] == 1},
               {"three dimensions", d[2] > 1},
               {"an odd number of tasks", V > 1 && V % 2},
               {"a prime number of tasks", is_prime(V)},
               {"fewer tasks than SMs", V < g->n_sms},
               {"more than 100 tasks", V > 100}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    count *row = count_of(&m->grids, kinds[i].name);
    m->failed |= !row;
    if (row && kinds[i].is) row->n[EQUAL] += g->n;
  }
}

/* The folder of tables, whose name is another each time, left out. */
static char *example_of(const session *s, const group *g, const trial *t) {
  hd_buf b = {0}, out = {0};
  size_t len = strlen(s->folder);
  hd_buf_printf(&b, "%s, %s: %s", g->name, t->plan, t->what);
  for (const char *p = b.data; p && *p; p++) {
    if (strncmp(p, s->folder, len) == 0) p += len + 1;
    hd_buf_putc(&out, *p);
  }
  hd_buf_free(&b);
  return out.data;
}

static void count_reason(summary *m, const session *s, const group *g, const trial *t) {
  char name[512];
  without_numbers(t->why, strlen(t->why), name, sizeof name);
  count *row = count_of(&m->reasons, name);
  if (row) row->n[REFUSED]++;
  if (row && !row->example) row->example = example_of(s, g, t);
  m->failed |= !row || !row->example;
}

static void count_group(summary *m, const session *s, const group *g) {
  m->sizes++;
  count_grid(m, g);
  for (size_t i = 0; i < g->n; i++) {
    const trial *t = &g->trials[i];
    m->outcomes[t->outcome]++;
    count_levers(m, t);
    m->failed |= !add(&m->dispatchers, hd_dispatch_name(t->dispatch), t->outcome);
    if (t->outcome == REFUSED) count_reason(m, s, g, t);
  }
  m->outcomes[DIFFERENT] += g->broken != NULL;
}

static void summarize(const session *s, summary *m) {
  for (size_t i = 0; i < s->n_groups; i++) count_group(m, s, &s->groups[i]);
  counts *sorted[] = {&m->levers, &m->dispatchers};
  for (size_t i = 0; i < sizeof sorted / sizeof *sorted; i++)
    if (sorted[i]->rows.n) qsort(sorted[i]->rows.data, sorted[i]->rows.n, sizeof(count), by_name);
  if (m->reasons.rows.n) qsort(m->reasons.rows.data, m->reasons.rows.n, sizeof(count), by_number);
}

/* ---- Printing ------------------------------------------------------------------------------------ */

static void put_counts(const counts *c, const char *head, hd_buf *out) {
  hd_text_table *t = hd_text_table_new("lrrr");
  if (!t) {
    out->failed = true;
    return;
  }
  const char *const names[] = {head, "equal", "refused", "different"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) hd_text_table_cell(t, "%s", names[i]);
  hd_text_table_rule(t);
  for (size_t i = 0; i < c->rows.n; i++) {
    hd_text_table_cell(t, "%s", c->rows.data[i].name);
    for (int o = 0; o < OUTCOMES; o++) hd_text_table_cell(t, "%zu", c->rows.data[i].n[o]);
  }
  hd_text_table_print(t, out);
  hd_text_table_free(t);
  hd_buf_putc(out, '\n');
}

static int print_text(const session *s, const summary *m) {
  hd_buf out = {0};
  hd_buf_printf(
      &out,
      "%zu compositions of levers on %zu workloads at %zu sizes, each under three dispatchers: one worker\n"
      "at a time, all at once, and one drawn (seed %" PRIu64 ")\n\n%zu equal, %zu refused, %zu different\n\n",
      m->outcomes[EQUAL] + m->outcomes[REFUSED] + m->outcomes[DIFFERENT], s->q->n_names, m->sizes, s->q->seed,
      m->outcomes[EQUAL], m->outcomes[REFUSED], m->outcomes[DIFFERENT]);
  put_counts(&m->levers, "lever", &out);
  put_counts(&m->dispatchers, "dispatcher drawn", &out);
  hd_buf_puts(&out, "compositions on grids of\n");
  for (size_t i = 0; i < m->grids.rows.n; i++)
    hd_buf_printf(&out, "  %6zu  %s\n", m->grids.rows.data[i].n[EQUAL], m->grids.rows.data[i].name);
  if (m->reasons.rows.n) hd_buf_puts(&out, "\nrefused because, and the first of each\n");
  for (size_t i = 0; i < m->reasons.rows.n; i++)
    hd_buf_printf(&out, "  %6zu  %s\n          %s\n", m->reasons.rows.data[i].n[REFUSED],
                  m->reasons.rows.data[i].name, m->reasons.rows.data[i].example);
  return cli_print(&out);
}

static json_t *counts_json(const counts *c) {
  json_t *o = json_object();
  for (size_t i = 0; i < c->rows.n; i++) {
    const size_t *n = c->rows.data[i].n;
    json_object_set_new(o, c->rows.data[i].name,
                        json_pack("{s:I, s:I, s:I}", "equal", (json_int_t)n[EQUAL], "refused",
                                  (json_int_t)n[REFUSED], "different", (json_int_t)n[DIFFERENT]));
  }
  return o;
}

static int print_json(const session *s, const summary *m) {
  json_t *grids = json_object(), *reasons = json_array(), *different = json_array();
  for (size_t i = 0; i < m->grids.rows.n; i++)
    json_object_set_new(grids, m->grids.rows.data[i].name,
                        json_integer((json_int_t)m->grids.rows.data[i].n[EQUAL]));
  for (size_t i = 0; i < m->reasons.rows.n; i++)
    json_array_append_new(reasons, json_pack("{s:s, s:I, s:s}", "why", m->reasons.rows.data[i].name,
                                             "refused", (json_int_t)m->reasons.rows.data[i].n[REFUSED],
                                             "first", m->reasons.rows.data[i].example));
  for (size_t k = 0; k < s->n_groups; k++) {
    const group *g = &s->groups[k];
    if (g->broken) json_array_append_new(different, json_string(g->broken));
    for (size_t i = 0; i < g->n; i++)
      if (g->trials[i].outcome == DIFFERENT) json_array_append_new(different, json_string(g->trials[i].what));
  }
  return cli_print_json(json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "seed",
                                  (json_int_t)s->q->seed, "sizes", (json_int_t)m->sizes, "equal",
                                  (json_int_t)m->outcomes[EQUAL], "refused", (json_int_t)m->outcomes[REFUSED],
                                  "different", (json_int_t)m->outcomes[DIFFERENT], "levers",
                                  counts_json(&m->levers), "dispatchers", counts_json(&m->dispatchers),
                                  "grids", grids, "reasons", reasons, "differences", different));
}

/* ---- All of it -------------------------------------------------------------------------------------- */

/* The first group that could not be done, or all that differs, on stderr. */
static const hd_diag *report(const session *s) {
  for (size_t k = 0; k < s->n_groups; k++) {
    const group *g = &s->groups[k];
    if (g->status != HD_OK) return &g->diag;
    if (g->broken) fprintf(stderr, "heddle: the original does not hold:\n%s\n", g->broken);
    for (size_t i = 0; i < g->n; i++)
      if (g->trials[i].outcome == DIFFERENT) fprintf(stderr, "heddle: different:\n%s\n", g->trials[i].what);
  }
  return NULL;
}

static void close_session(session *s) {
  for (size_t k = 0; s->groups && k < s->n_groups; k++) {
    free(s->groups[k].broken);
    for (size_t i = 0; i < PER_GROUP; i++) {
      free(s->groups[k].trials[i].plan);
      free(s->groups[k].trials[i].what);
      free(s->groups[k].trials[i].why);
    }
  }
  free(s->groups);
  rmdir(s->folder); /* what is kept in it keeps it */
  pthread_mutex_destroy(&s->printing);
}

int matrix_random(const random_request *q, bool json) {
  session s = {.q = q, .n_groups = (q->n + PER_GROUP - 1) / PER_GROUP, .folder = "/tmp/heddle-tables-XXXXXX"};
  summary m = {0};
  pthread_mutex_init(&s.printing, NULL);
  s.groups = calloc(s.n_groups + 1, sizeof *s.groups);
  if (!s.groups) return cli_usage("out of memory");
  int rc;
  if (!mkdtemp(s.folder)) {
    rc = cli_usage("matrix: cannot make a folder for tables in /tmp");
  } else {
    unsigned jobs = q->jobs ? q->jobs : hd_cpu_count();
    hd_parallel(jobs < s.n_groups ? jobs : (unsigned)s.n_groups, work,
                &s); /* when not all start, the others do their work */
    const hd_diag *wrong = report(&s);
    if (!wrong) summarize(&s, &m);
    rc = wrong      ? cli_fail(wrong)
         : m.failed ? cli_usage("out of memory")
         : json     ? print_json(&s, &m)
                    : print_text(&s, &m);
    if (rc == EXIT_OK && m.outcomes[DIFFERENT]) rc = EXIT_NO;
  }
  counts *all[] = {&m.levers, &m.dispatchers, &m.reasons, &m.grids};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free_counts(all[i]);
  close_session(&s);
  return rc;
}
