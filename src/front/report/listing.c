/* The list of the modules and kernels of files. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/ptx_valid.h"
#include "heddle/results.h"
#include "report/analysis.h"
#include "report/summary.h"

/* ---- Facts on a kernel ------------------------------------------------------------------- */

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

/* Their texts are the listing's. */
static const hd_parameter *list_parameters(hd_listing *l, const hd_ptx_module *m, uint32_t func) {
  const size_t n = m->funcs[func].n_params;
  hd_parameter *all = HD_NEW_N(&l->arena, n + 1, hd_parameter);
  if (!all) return NULL;
  hd_kernel_parameters(m, func, all, n);
  for (size_t i = 0; i < n; i++)
    if (!(all[i].type = hd_arena_strndup(&l->arena, all[i].type, strlen(all[i].type)))) return NULL;
  return all;
}

static hd_status list_kernel(hd_listing *l, uint32_t module, const hd_ptx_module *m, uint32_t func,
                             hd_diag *d) {
  const hd_ptx_func *f = &m->funcs[func];
  hd_listed_kernel k = {.file = l->file, .module = module, .sm = m->sm, .parameters = f->n_params};
  k.refusals = hd_rewrite_refusals(m, func, &k.why, 1);
  uint64_t *offsets = calloc((size_t)f->n_params + 1, sizeof *offsets);
  if (!offsets) return hd_nomem(d);
  k.parameter_bytes = hd_ptx_param_layout(m, f, offsets);
  free(offsets);
  k.shared_bytes = static_shared_bytes(m, f);
  hd_buf limits = {0};
  put_dims(m, f, HD_M_REQNTID, "block=", &limits);
  put_dims(m, f, HD_M_MAXNTID, "block<=", &limits);
  put_dims(m, f, HD_M_MINNCTAPERSM, "ctas>=", &limits);
  put_dims(m, f, HD_M_MAXNREG, "regs<=", &limits);
  k.name = hd_arena_printf(&l->arena, "%s", m->syms[f->sym].name);
  k.limits = limits.failed ? NULL : hd_arena_printf(&l->arena, "%s", limits.data ? limits.data : "");
  hd_buf_free(&limits);
  k.params = list_parameters(l, m, func);
  return k.name && k.limits && k.params && hd_vec_push(&l->rows, k) ? HD_OK : hd_nomem(d);
}

void hd_listing_begin(hd_listing *l, bool detailed) {
  *l = (hd_listing){.detailed = detailed};
  hd_arena_init(&l->arena);
}

hd_status hd_listing_add(hd_listing *l, const hd_ptx_text *t, const hd_ptx_module *m, hd_diag *d) {
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < m->n_funcs; i++) {
    if (!m->funcs[i].entry) continue;
    l->kernels++;
    if (l->detailed) st = list_kernel(l, t->index, m, i, d);
  }
  return st;
}

static void count_failure(hd_listing *l, const hd_diag *e, void (*failed)(void *ctx, const hd_diag *d),
                          void *ctx) {
  l->failures++;
  failed(ctx, e);
}

hd_status hd_listing_file(hd_listing *l, const char *path, void (*failed)(void *ctx, const hd_diag *d),
                          void *ctx, hd_diag *d) {
  hd_container *c;
  hd_arena arena;
  uint64_t found = 0, failures = l->failures;
  l->file = path;
  hd_status st = hd_container_open(path, &c, d);
  if (st != HD_OK) return st;
  hd_arena_init(&arena);
  for (bool more = true; st == HD_OK && more;) {
    hd_ptx_text t;
    hd_ptx_module *m;
    hd_diag e = {0};
    if (hd_container_next(c, &t, &more, &e) != HD_OK) {
      count_failure(l, &e, failed, ctx); /* without `more`, an entry of unknown extent ends the file */
      continue;
    }
    if (!more) break;
    found++;
    l->modules++;
    l->bytes += t.len;
    hd_arena_reset(&arena);
    if (hd_ptx_parse_valid(t.data, t.len, t.label, &arena, &m, &e) == HD_OK)
      st = hd_listing_add(l, &t, m, d);
    else
      count_failure(l, &e, failed, ctx);
  }
  if (st == HD_OK && !found && l->failures == failures) {
    hd_diag e = {0};
    hd_container_no_ptx(path, hd_container_assembled(c), &e);
    count_failure(l, &e, failed, ctx);
  }
  hd_arena_free(&arena);
  hd_container_close(c);
  return st;
}

void hd_listing_free(hd_listing *l) {
  hd_vec_free(&l->rows);
  hd_arena_free(&l->arena);
}

/* ---- Printing ------------------------------------------------------------------------------ */

static const hd_listed_kernel *kernel_of(const void *row) { return row; }
static const char *limits(const void *row) {
  return kernel_of(row)->limits[0] ? kernel_of(row)->limits : NULL;
}
static void put_name(const void *row, hd_buf *out) { hd_kernel_title(kernel_of(row)->name, false, out); }
static void put_title(const void *row, hd_buf *out) { hd_kernel_title(kernel_of(row)->name, true, out); }
static bool was_refused(const void *row) { return kernel_of(row)->refusals > 0; }
static void put_order(const void *row, hd_buf *out) {
  const hd_refusal *why = &kernel_of(row)->why;
  if (!was_refused(row))
    hd_buf_puts(out, "can be reordered");
  else if (why->line)
    hd_buf_printf(out, "no: line %u: %s", why->line, why->what);
  else
    hd_buf_printf(out, "no: %s", why->what);
}

static const char *type_in_c(const void *row) {
  const hd_parameter *p = row;
  return p->c[0] ? p->c : NULL;
}

static const field parameter_fields[] = {
    {"type", MEMBER(hd_parameter, type)},
    {"bytes", MEMBER(hd_parameter, bytes)},
    {"c", .text = type_in_c},
    {"points", MEMBER(hd_parameter, points)},
    {"element", MEMBER(hd_parameter, elem)},
    {0},
};
static json_t *parameters_json(const void *row) {
  const hd_listed_kernel *k = row;
  return report_rows_json(parameter_fields, k->params, k->params ? k->parameters : 0, sizeof *k->params);
}

#define OF(member) MEMBER(hd_listed_kernel, member)
static const field kernel_fields[] = {
    {"file", OF(file)},
    {"module", "module", OF(module)},
    {"sm", "sm", OF(sm)},
    {"kernel", OF(name)},
    {"parameters", "params", OF(parameters)},
    {"parameter_bytes", "bytes", OF(parameter_bytes)},
    {"shared_bytes", "shared", OF(shared_bytes)},
    {"refusals", OF(refusals)},
    {"limits", OF(limits)},
    {.heading = "limits", .text = limits},
    {"title", .put = put_title},
    {"name", .put = put_name},
    {"arguments", .tree = parameters_json},
    {.heading = "kernel", .put = put_name},
    {"refused", .when = was_refused, STRUCT(hd_listed_kernel, why, report_refusal_fields)},
    {.heading = "CTA order", .put = put_order},
    {0},
};

static bool is_detailed(const void *row) { return ((const hd_listing *)row)->detailed; }
static json_t *kernels_json(const void *row) {
  const hd_listing *l = row;
  return report_rows_json(kernel_fields, l->rows.data, l->rows.n, sizeof *l->rows.data);
}

static const field listing_fields[] = {
    {"modules", MEMBER(hd_listing, modules)},
    {"kernels", MEMBER(hd_listing, kernels)},
    {"bytes", MEMBER(hd_listing, bytes)},
    {"failures", MEMBER(hd_listing, failures)},
    {"seconds", MEMBER(hd_listing, seconds)},
    {"list", .when = is_detailed, .tree = kernels_json},
    {0},
};

void hd_listing_text(const hd_listing *l, hd_buf *out) {
  if (l->rows.n) {
    field_sheet sheet = report_list(kernel_fields);
    for (size_t i = 0; i < l->rows.n; i++) report_sheet_row(&sheet, &l->rows.data[i]);
    report_put_sheet(&sheet, out);
  }
  if (!l->modules) return; /* its failure says more */
  report_put_count(l->modules, "module", out);
  hd_buf_puts(out, ", ");
  report_put_count(l->kernels, "kernel", out);
  hd_buf_printf(out, ", %.1f MB of PTX\n", (double)l->bytes / 1e6);
}

void hd_listing_json(const hd_listing *l, hd_buf *out) { report_put_fields_json(listing_fields, l, out); }
