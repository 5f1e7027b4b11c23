#include <inttypes.h>
#include <stdlib.h>

#include "cli.h"
#include "heddle/container.h"
#include "heddle/rewrite.h"

typedef struct listing {
  uint64_t modules, kernels, bytes, failures;
  bool details; /* collect rows or JSON per kernel */
  hd_text_table *table;
  json_t *list; /* NULL: no JSON details */
  const char *file;
} listing;

static uint64_t static_shared_bytes(const hd_ptx_module *m, const hd_ptx_func *f) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    if (f->stmts[i].kind != HD_S_VAR) continue;
    const hd_ptx_var *v = &m->vars[f->stmts[i].index];
    uint64_t size = v->space == HD_M_SHARED ? hd_ptx_var_size(m, v) : 0;
    if (size != UINT64_MAX) bytes += size;
  }
  return bytes;
}

static void put_dims(const hd_ptx_module *m, const hd_ptx_func *f, hd_mod name, const char *label,
                     hd_buf *out) {
  const hd_ptx_dir *dir = hd_ptx_func_dir(m, f, name);
  if (!dir) return;
  hd_buf_printf(out, "%s%s", out->len ? " " : "", label);
  for (unsigned k = 0; k < dir->n_vals; k++) hd_buf_printf(out, "%s%u", k ? "x" : "", dir->vals[k]);
}

static void list_kernel(listing *l, const hd_ptx_text *t, const hd_ptx_module *m, uint32_t func) {
  const hd_ptx_func *f = &m->funcs[func];
  const char *name = m->syms[f->sym].name;
  hd_refusal why;
  size_t refusals = hd_rewrite_refusals(m, func, &why, 1);
  uint64_t *offsets = calloc((size_t)f->n_params + 1, sizeof *offsets);
  uint64_t params = offsets ? hd_ptx_param_layout(m, f, offsets) : 0;
  free(offsets);
  hd_buf limits = {0};
  put_dims(m, f, HD_M_REQNTID, "block=", &limits);
  put_dims(m, f, HD_M_MAXNTID, "block<=", &limits);
  put_dims(m, f, HD_M_MINNCTAPERSM, "ctas>=", &limits);
  put_dims(m, f, HD_M_MAXNREG, "regs<=", &limits);
  if (l->list) {
    json_t *k =
        json_pack("{s:s, s:i, s:i, s:s, s:i, s:I, s:I, s:I, s:s}", "file", l->file, "module", (int)t->index,
                  "sm", (int)m->sm, "kernel", name, "parameters", (int)f->n_params, "parameter_bytes",
                  (json_int_t)params, "shared_bytes", (json_int_t)static_shared_bytes(m, f), "refusals",
                  (json_int_t)refusals, "limits", limits.data ? limits.data : "");
    if (k && refusals)
      json_object_set_new(k, "refused",
                          json_pack("{s:s, s:i, s:s}", "kind", hd_refusal_name(why.kind), "line",
                                    (int)why.line, "what", why.what));
    json_array_append_new(l->list, k);
  } else {
    hd_text_table_cell(l->table, "%u", t->index);
    hd_text_table_cell(l->table, "%u", m->sm);
    hd_text_table_cell(l->table, "%u", f->n_params);
    hd_text_table_cell(l->table, "%" PRIu64, params);
    hd_text_table_cell(l->table, "%" PRIu64, static_shared_bytes(m, f));
    hd_text_table_cell(l->table, "%s", limits.len ? limits.data : "-");
    hd_text_table_cell(l->table, "%s", name);
    if (!refusals)
      hd_text_table_cell(l->table, "can be reordered");
    else if (why.line)
      hd_text_table_cell(l->table, "no: line %u: %s", why.line, why.what);
    else
      hd_text_table_cell(l->table, "no: %s", why.what);
  }
  hd_buf_free(&limits);
}

static void report_failure(listing *l, const hd_diag *d) {
  char line[2048];
  l->failures++;
  fprintf(stderr, "heddle: %s\n", hd_diag_line(d, line, sizeof line));
}

static int list_file(listing *l, const char *path, hd_arena *arena) {
  hd_diag d = {0};
  hd_container *c;
  l->file = path;
  if (hd_container_open(path, &c, &d) != HD_OK) return cli_fail(&d);
  for (;;) {
    hd_ptx_text t;
    bool more;
    hd_status st = hd_container_next(c, &t, &more, &d);
    if (st != HD_OK) {
      report_failure(l, &d);
      /* An entry of unknown extent ends the file. */
      if (!more) break;
      continue;
    }
    if (!more) break;
    l->modules++;
    l->bytes += t.len;
    hd_ptx_module *m;
    hd_arena_reset(arena);
    if (hd_ptx_parse(t.data, t.len, t.label, arena, &m, &d) != HD_OK) {
      report_failure(l, &d);
      continue;
    }
    for (uint32_t i = 0; i < m->n_funcs; i++) {
      if (!m->funcs[i].entry) continue;
      l->kernels++;
      if (l->details) list_kernel(l, &t, m, i);
    }
  }
  hd_container_close(c);
  return EXIT_OK;
}

int cmd_ls(int argc, char **argv) {
  bool json = false, detailed = false;
  const cli_option options[] = {
      {"json", 0, CLI_FLAG, &json, 0, NULL, "totals as JSON: modules, kernels, bytes, failures"},
      {"long", 'l', CLI_FLAG, &detailed, 0, NULL, "with --json: every kernel too"},
      {0}};
  int n, rc = cli_parse(cli_find("ls"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (n < 1) return cli_usage("ls: name a file");

  listing l = {.details = !json || detailed};
  double start = hd_seconds();
  hd_arena arena;
  hd_arena_init(&arena);
  if (json && detailed) l.list = json_array();
  hd_buf out = {0};
  rc = EXIT_OK;
  for (int i = 1; i <= n && rc == EXIT_OK; i++) {
    uint64_t before = l.modules, kernels = l.kernels, bytes = l.bytes;
    if (!json) {
      static const char *const head[] = {"module", "sm",     "params", "bytes",
                                         "shared", "limits", "kernel", "CTA order"};
      l.table = hd_text_table_new("rrrrrlll");
      for (size_t k = 0; l.table && k < sizeof head / sizeof *head; k++)
        hd_text_table_cell(l.table, "%s", head[k]);
    }
    rc = list_file(&l, argv[i], &arena);
    if (!json && l.table && rc == EXIT_OK) {
      if (n > 1) hd_buf_printf(&out, "%s:\n", argv[i]);
      if (l.kernels > kernels) hd_text_table_print(l.table, &out);
      hd_buf_printf(&out, "%" PRIu64 " modules, %" PRIu64 " kernels, %.1f MB of PTX\n", l.modules - before,
                    l.kernels - kernels, (double)(l.bytes - bytes) / 1e6);
    }
    hd_text_table_free(l.table);
    l.table = NULL;
  }
  hd_arena_free(&arena);
  double seconds = hd_seconds() - start;
  if (rc != EXIT_OK) {
    hd_buf_free(&out);
    json_decref(l.list);
    return rc;
  }
  if (!json) {
    rc = cli_print(&out);
  } else {
    json_t *j = json_pack("{s:I, s:I, s:I, s:I, s:f}", "modules", (json_int_t)l.modules, "kernels",
                          (json_int_t)l.kernels, "bytes", (json_int_t)l.bytes, "failures",
                          (json_int_t)l.failures, "seconds", seconds);
    if (j && l.list) json_object_set_new(j, "list", l.list);
    rc = cli_print_json(j);
  }
  return rc == EXIT_OK && l.failures ? EXIT_USAGE : rc;
}
