#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "matrix_random.h"

/* One plan for each value of each lever. */
static const char *const every_lever[] = {
    "order=col",
    "order=band:3",
    "order=tile:3x2",
    "order=zigzag:3",
    "order=stride:3x2",
    "order=hilbert",
    "order=reverse",
    "order=heavy-first",
    "order=affinity",
    "bind=redirect",
    "bind=claim",
    "bind=claim,split=wave:2",
    "bind=agents",
    "bind=agents:1",
    "bind=agents,split=rows",
    "bind=agents,take=segments",
    "bind=agents,sms=0-3",
    "threads=col",
    "threads=cta:col",
    "bypass=l1:1",
    "bypass=l1:1,form=replicate",
    "bypass=ro:1",
    "bypass=l2:1",
    "stream=l1",
    "prefetch=l2:1",
    "bind=agents,prefetch=l1:1",
};

/* What is said of the plans that a workload does not take, each reason once. */
typedef struct reasons {
  HD_VEC(char *) text;
} reasons;

/* a, b, ..., z, aa, ab, ... */
static const char *letters(size_t i, char out[8]) {
  char *p = out + 7;
  *p = 0;
  for (i++; i && p > out; i = (i - 1) / 26) *--p = (char)('a' + (i - 1) % 26);
  return memmove(out, p, strlen(p) + 1);
}

static bool add_reason(reasons *r, const char *text, size_t *index) {
  for (*index = 0; *index < r->text.n; ++*index)
    if (strcmp(r->text.data[*index], text) == 0) return true;
  char *copy = strdup(text);
  if (copy && hd_vec_push(&r->text, copy)) return true;
  free(copy);
  return false;
}

static void free_reasons(reasons *r) {
  for (size_t i = 0; i < r->text.n; i++) free(r->text.data[i]);
  hd_vec_free(&r->text);
}

typedef struct matrix {
  const char **plans;
  size_t n_plans;
  const char *size;
  uint64_t threads;
  reasons why;
  hd_buf table; /* Markdown */
  json_t *rows; /* NULL: not wanted */
  size_t equal, refused, different;
} matrix;

/* One cell. A difference is heddle's fault, and named on stderr as well. */
static hd_status put_cell(matrix *m, const hd_workload *w, const char *name, const char *plan_text,
                          json_t *row, hd_diag *d) {
  hd_plan plan = {0};
  hd_check_options o = {.run = {.threads = (unsigned)m->threads}};
  hd_check_result r = {0};
  hd_diag e = {0};
  hd_status st = hd_plan_parse(plan_text, &plan, d);
  if (st != HD_OK) return st;
  st = hd_check(w, &plan, &o, &r, &e);
  hd_plan_free(&plan);
  char line[1400], mark[8] = "yes";
  const char *answer = "equal";
  size_t index;
  if (st == HD_OK && r.equal) {
    m->equal++;
  } else if (st == HD_OK) {
    m->different++;
    answer = "different";
    strcpy(mark, "**no**");
    fprintf(stderr, "heddle: %s, %s: %s\n", name, plan_text, r.what);
  } else if (st == HD_ERR_REFUSED || st == HD_ERR_UNSUPPORTED || st == HD_ERR_USAGE) {
    m->refused++;
    answer = "refused";
    if (!add_reason(&m->why, hd_diag_line(&e, line, sizeof line), &index)) return hd_nomem(d);
    letters(index, mark);
  } else {
    if (d) *d = e;
    return st;
  }
  hd_buf_printf(&m->table, " %s |", mark);
  if (row)
    json_object_set_new(
        row, plan_text,
        json_pack("{s:s, s:s}", "answer", answer, "why", strcmp(answer, "refused") == 0 ? line : r.what));
  return HD_OK;
}

static hd_status put_row(matrix *m, const char *name, hd_diag *d) {
  hd_workload *w;
  hd_status st = hd_workload_open(name, cli_kernels_dir(), m->size, &w, d);
  if (st != HD_OK) return st;
  json_t *row = m->rows ? json_object() : NULL;
  hd_buf_printf(&m->table, "| %s |", name);
  for (size_t i = 0; st == HD_OK && i < m->n_plans; i++) st = put_cell(m, w, name, m->plans[i], row, d);
  hd_buf_putc(&m->table, '\n');
  if (row) json_object_set_new(m->rows, name, row);
  hd_workload_close(w);
  return st;
}

static void put_head(matrix *m) {
  hd_buf_printf(
      &m->table,
      "# Which plans work on which workloads\n\n"
      "Made by `heddle matrix` at size %s. *yes*: the rewritten kernels compute the same bytes as the "
      "originals under\n"
      "every dispatcher of the emulator. A letter: the plan is refused, for the reason below the table.\n\n",
      m->size);
  hd_buf_puts(&m->table, "| workload |");
  for (size_t i = 0; i < m->n_plans; i++) hd_buf_printf(&m->table, " %s |", m->plans[i]);
  hd_buf_puts(&m->table, "\n| --- |");
  for (size_t i = 0; i < m->n_plans; i++) hd_buf_puts(&m->table, " --- |");
  hd_buf_putc(&m->table, '\n');
}

static void put_reasons(matrix *m) {
  char mark[8];
  hd_buf_printf(&m->table, "\n%zu equal, %zu refused, %zu different.\n", m->equal, m->refused, m->different);
  if (m->why.text.n) hd_buf_puts(&m->table, "\nRefused because\n\n");
  for (size_t i = 0; i < m->why.text.n; i++)
    hd_buf_printf(&m->table, "- %s: %s\n", letters(i, mark), m->why.text.data[i]);
}

static hd_status run_matrix(matrix *m, char **names, size_t n, hd_diag *d) {
  hd_status st = HD_OK;
  put_head(m);
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    cli_progress((void *)"checking workloads", i, n);
    st = put_row(m, names[i], d);
  }
  cli_progress((void *)"checking workloads", n, n);
  put_reasons(m);
  return st;
}

/* Workloads by name, and those of folders that hold several. Every name is its own copy. */
typedef struct name_list {
  HD_VEC(char *) names;
} name_list;

static hd_status add_name(name_list *l, const char *folder, const char *name, hd_diag *d) {
  hd_buf b = {0};
  hd_buf_printf(&b, "%s%s%s", folder, *folder ? "/" : "", name);
  if (!b.failed && hd_vec_push(&l->names, b.data)) return HD_OK;
  hd_buf_free(&b);
  return hd_nomem(d);
}

static hd_status add_names(name_list *l, const char *name, hd_diag *d) {
  char path[4200];
  snprintf(path, sizeof path, "%s/workload.toml", name);
  char **all;
  size_t n;
  hd_diag quiet = {0};
  /* What is no folder of workloads is left for hd_workload_open to judge. */
  if (access(path, R_OK) == 0 || access(name, R_OK) != 0 || hd_workload_list(name, &all, &n, &quiet) != HD_OK)
    return add_name(l, "", name, d);
  hd_status st = n ? HD_OK : add_name(l, "", name, d);
  for (size_t i = 0; st == HD_OK && i < n; i++) st = add_name(l, name, all[i], d);
  hd_workload_list_free(all, n);
  return st;
}

static hd_status name_workloads(name_list *l, char **given, size_t n, hd_diag *d) {
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < n; i++) st = add_names(l, given[i], d);
  if (n) return st;
  char **all;
  if ((st = hd_workload_list(cli_kernels_dir(), &all, &n, d)) != HD_OK) return st;
  for (size_t i = 0; st == HD_OK && i < n; i++) st = add_name(l, "", all[i], d);
  hd_workload_list_free(all, n);
  return st;
}

static int print_matrix(matrix *m, const name_list *l, const char *output) {
  hd_diag d = {0};
  int rc = EXIT_OK;
  hd_status st = run_matrix(m, l->names.data, l->names.n, &d);
  if (st == HD_OK && m->rows) {
    rc = cli_print_json(m->rows);
    m->rows = NULL;
  } else if (st == HD_OK) {
    st = m->table.failed ? hd_nomem(&d) : hd_file_write(output, m->table.data, m->table.len, &d);
  }
  if (st != HD_OK) rc = cli_fail(&d);
  return rc == EXIT_OK && m->different ? EXIT_NO : rc;
}

int cmd_matrix(int argc, char **argv) {
  cli_list plans = {0};
  const char *output = "-", *size = "tiny";
  uint64_t threads = 0, compositions = 0, seed = 1;
  bool json = false;
  const cli_option options[] = {
      {"plan", 0, CLI_LIST, &plans, 0, "P",
       "a column; may be given several times (default: one for each lever)"},
      {"size", 0, CLI_TEXT, &size, 0, "NAME", "the workloads' size (default: tiny)"},
      {"random", 0, CLI_NUMBER, &compositions, 100000000, "N",
       "N random compositions of all levers at random sizes around that one instead, each under\nthree "
       "dispatchers: one worker at a time, all at once, and one drawn"},
      {"seed", 0, CLI_NUMBER, &seed, 0, "S", "of what is drawn (default: 1)"},
      CLI_THREADS_OPTION(threads),
      {"output", 'o', CLI_TEXT, &output, 0, "OUT", "write the table, in Markdown, to a file"},
      CLI_JSON_OPTION(json),
      {0}};
  int n, rc = cli_parse(cli_find("matrix"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  name_list names = {0};
  if (compositions && plans.n) {
    rc = cli_usage("matrix: --random draws its plans; --plan names them");
  } else if (name_workloads(&names, argv + 1, (size_t)n, &d) != HD_OK) {
    rc = cli_fail(&d);
  } else if (compositions) {
    rc = matrix_random(
        &(random_request){names.names.data, names.names.n, size, compositions, seed, (unsigned)threads},
        json);
  } else {
    matrix m = {.plans = plans.n ? plans.items : (const char **)every_lever,
                .n_plans = plans.n ? plans.n : sizeof every_lever / sizeof *every_lever,
                .size = size,
                .threads = threads,
                .rows = json ? json_object() : NULL};
    rc = print_matrix(&m, &names, output);
    json_decref(m.rows);
    hd_buf_free(&m.table);
    free_reasons(&m.why);
  }
  for (size_t i = 0; i < names.names.n; i++) free(names.names.data[i]);
  hd_vec_free(&names.names);
  return rc;
}
