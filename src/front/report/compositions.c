/* Random compositions: how many were equal, and the refused ones by reason. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/results.h"
#include "report/fields.h"

/* ---- Counts by name ------------------------------------------------------------------------ */

typedef struct count {
  char *name, *example; /* of the first refused one */
  size_t n[HD_COMPOSED_OUTCOMES];
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

static bool add(counts *c, const char *name, hd_composed_outcome o) {
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
  if (x->n[HD_COMPOSED_REFUSED] != y->n[HD_COMPOSED_REFUSED])
    return x->n[HD_COMPOSED_REFUSED] < y->n[HD_COMPOSED_REFUSED] ? 1 : -1;
  return by_name(a, b);
}

/* ---- Counts ------------------------------------------------------------------------------------ */

typedef struct summary {
  size_t outcomes[HD_COMPOSED_OUTCOMES], sizes;
  counts levers, dispatchers, reasons, grids;
  bool failed;
} summary;

/* Numbers become N, so that all parameters of a lever and all places of a reason count together. */
static void without_numbers(const char *text, size_t len, char *out, size_t cap) {
  size_t n = 0;
  bool word = false, number = false; /* the kind of the character before */
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
static void count_levers(summary *m, const hd_composed *t) {
  static const char *const cut[][2] = {{"order=", ":"},    {"threads=", ":N"}, {"sms=", "="},
                                       {"stream=N", "=N"}, {"shape=N", "=N"},  {"shape=loop:", ":"}};
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

static void count_grid(summary *m, const hd_composed_group *g) {
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
    if (row && kinds[i].is) row->n[HD_COMPOSED_EQUAL] += g->n;
  }
}

/* The folder of tables, whose name is another each time, left out. */
static char *example_of(const hd_compositions_report *s, const hd_composed_group *g, const hd_composed *t) {
  hd_buf b = {0}, out = {0};
  size_t len = strlen(s->result->folder);
  hd_buf_printf(&b, "%s, %s: %s", g->name, t->plan, t->what);
  for (const char *p = b.data; p && *p; p++) {
    if (strncmp(p, s->result->folder, len) == 0) p += len + 1;
    hd_buf_putc(&out, *p);
  }
  hd_buf_free(&b);
  return out.data;
}

static void count_reason(summary *m, const hd_compositions_report *s, const hd_composed_group *g,
                         const hd_composed *t) {
  char name[512];
  without_numbers(t->why, strlen(t->why), name, sizeof name);
  count *row = count_of(&m->reasons, name);
  if (row) row->n[HD_COMPOSED_REFUSED]++;
  if (row && !row->example) row->example = example_of(s, g, t);
  m->failed |= !row || !row->example;
}

static void count_group(summary *m, const hd_compositions_report *s, const hd_composed_group *g) {
  m->sizes++;
  count_grid(m, g);
  for (size_t i = 0; i < g->n; i++) {
    const hd_composed *t = &g->trials[i];
    m->outcomes[t->outcome]++;
    count_levers(m, t);
    m->failed |= !add(&m->dispatchers, hd_dispatch_name(t->dispatch), t->outcome);
    if (t->outcome == HD_COMPOSED_REFUSED) count_reason(m, s, g, t);
  }
  m->outcomes[HD_COMPOSED_DIFFERENT] += g->broken != NULL;
}

static void summarize(const hd_compositions_report *s, summary *m) {
  for (size_t i = 0; i < s->result->n_groups; i++) count_group(m, s, &s->result->groups[i]);
  counts *sorted[] = {&m->levers, &m->dispatchers};
  for (size_t i = 0; i < sizeof sorted / sizeof *sorted; i++)
    if (sorted[i]->rows.n) qsort(sorted[i]->rows.data, sorted[i]->rows.n, sizeof(count), by_name);
  if (m->reasons.rows.n) qsort(m->reasons.rows.data, m->reasons.rows.n, sizeof(count), by_number);
}

/* ---- Printing ------------------------------------------------------------------------------------ */

#define N(outcome) MEMBER(count, n[outcome])
static const field count_fields[] = {{"equal", "equal", N(HD_COMPOSED_EQUAL)},
                                     {"refused", "refused", N(HD_COMPOSED_REFUSED)},
                                     {"different", "different", N(HD_COMPOSED_DIFFERENT)},
                                     {0}};

static void put_counts(const counts *c, const char *head, hd_buf *out) {
  field columns[5] = {{.heading = head, MEMBER(count, name)}};
  memcpy(columns + 1, count_fields, sizeof count_fields);
  report_put_rows(columns, c->rows.data, c->rows.n, sizeof *c->rows.data, out);
  hd_buf_putc(out, '\n');
}

static void put_text(const hd_compositions_report *s, const summary *m, hd_buf *out) {
  hd_buf_printf(
      out,
      "%zu compositions of levers on %zu workloads at %zu sizes, each under three dispatchers: one worker\n"
      "at a time, all at once, and one drawn (seed %" PRIu64 ")\n\n%zu equal, %zu refused, %zu different\n\n",
      m->outcomes[HD_COMPOSED_EQUAL] + m->outcomes[HD_COMPOSED_REFUSED] + m->outcomes[HD_COMPOSED_DIFFERENT],
      s->n_names, m->sizes, s->seed, m->outcomes[HD_COMPOSED_EQUAL], m->outcomes[HD_COMPOSED_REFUSED],
      m->outcomes[HD_COMPOSED_DIFFERENT]);
  put_counts(&m->levers, "lever", out);
  put_counts(&m->dispatchers, "dispatcher drawn", out);
  hd_buf_puts(out, "compositions on grids of\n");
  for (size_t i = 0; i < m->grids.rows.n; i++)
    hd_buf_printf(out, "  %6zu  %s\n", m->grids.rows.data[i].n[HD_COMPOSED_EQUAL],
                  m->grids.rows.data[i].name);
  if (m->reasons.rows.n) hd_buf_puts(out, "\nrefused because, and the first of each\n");
  for (size_t i = 0; i < m->reasons.rows.n; i++)
    hd_buf_printf(out, "  %6zu  %s\n          %s\n", m->reasons.rows.data[i].n[HD_COMPOSED_REFUSED],
                  m->reasons.rows.data[i].name, m->reasons.rows.data[i].example);
}

static const field reason_fields[] = {{"why", MEMBER(count, name)},
                                      {"refused", N(HD_COMPOSED_REFUSED)},
                                      {"first", MEMBER(count, example)},
                                      {0}};

static json_t *counts_json(const counts *c) {
  json_t *o = json_object();
  for (size_t i = 0; o && i < c->rows.n; i++)
    o = report_set(o, c->rows.data[i].name, report_fields_json(count_fields, &c->rows.data[i]));
  return o;
}

/* The report and its counts. */
typedef struct whole {
  const hd_compositions_report *s;
  const summary *m;
} whole;

static json_t *levers_json(const void *row) { return counts_json(&((const whole *)row)->m->levers); }
static json_t *dispatchers_json(const void *row) {
  return counts_json(&((const whole *)row)->m->dispatchers);
}
static json_t *grids_json(const void *row) {
  const counts *c = &((const whole *)row)->m->grids;
  json_t *o = json_object();
  for (size_t i = 0; o && i < c->rows.n; i++)
    o = report_set(o, c->rows.data[i].name, json_integer((json_int_t)c->rows.data[i].n[HD_COMPOSED_EQUAL]));
  return o;
}
static json_t *reasons_json(const void *row) {
  const counts *c = &((const whole *)row)->m->reasons;
  return report_rows_json(reason_fields, c->rows.data, c->rows.n, sizeof *c->rows.data);
}
static json_t *differences_json(const void *row) {
  const hd_compositions *r = ((const whole *)row)->s->result;
  json_t *list = json_array();
  for (size_t k = 0; list && k < r->n_groups; k++) {
    const hd_composed_group *g = &r->groups[k];
    if (g->broken) list = report_append(list, json_string(g->broken));
    for (size_t i = 0; list && i < g->n; i++)
      if (g->trials[i].outcome == HD_COMPOSED_DIFFERENT)
        list = report_append(list, json_string(g->trials[i].what));
  }
  return list;
}

static const field whole_fields[] = {
    {"seed", THROUGH(whole, s, hd_compositions_report, seed)},
    {"sizes", THROUGH(whole, m, summary, sizes)},
    {"equal", THROUGH(whole, m, summary, outcomes[HD_COMPOSED_EQUAL])},
    {"refused", THROUGH(whole, m, summary, outcomes[HD_COMPOSED_REFUSED])},
    {"different", THROUGH(whole, m, summary, outcomes[HD_COMPOSED_DIFFERENT])},
    {"levers", .tree = levers_json},
    {"dispatchers", .tree = dispatchers_json},
    {"grids", .tree = grids_json},
    {"reasons", .tree = reasons_json},
    {"differences", .tree = differences_json},
    {0},
};

static void put_json(const hd_compositions_report *s, const summary *m, hd_buf *out) {
  report_put_fields_json(whole_fields, &(whole){s, m}, out);
}

static void print(const hd_compositions_report *s, hd_buf *out,
                  void (*put)(const hd_compositions_report *s, const summary *m, hd_buf *out)) {
  summary m = {0};
  summarize(s, &m);
  put(s, &m, out);
  out->failed |= m.failed;
  counts *all[] = {&m.levers, &m.dispatchers, &m.reasons, &m.grids};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free_counts(all[i]);
}

void hd_compositions_text(const hd_compositions_report *r, hd_buf *out) { print(r, out, put_text); }

void hd_compositions_json(const hd_compositions_report *r, hd_buf *out) { print(r, out, put_json); }

bool hd_compositions_differences(const hd_compositions *r, hd_buf *out) {
  bool found = false;
  for (size_t k = 0; k < r->n_groups; k++) {
    const hd_composed_group *g = &r->groups[k];
    if (g->broken) hd_buf_printf(out, "heddle: the original does not hold:\n%s\n", g->broken);
    found |= g->broken != NULL;
    for (size_t i = 0; i < g->n; i++) {
      if (g->trials[i].outcome != HD_COMPOSED_DIFFERENT) continue;
      hd_buf_printf(out, "heddle: different:\n%s\n", g->trials[i].what);
      found = true;
    }
  }
  return found;
}
