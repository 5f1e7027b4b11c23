/* The order's part of the code at entry: its program, the program's input, and its table. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rewrite/rewrite_internal.h"

/* ---- The program ------------------------------------------------------------------- */

/* Words of a packed table that the program reads; 0: none. */
static uint64_t packed_words(const rewrite_job *j) {
  uint64_t n = j->own_cell ? hd_plan_packed(j->plan, &j->opt->grid) : 0;
  return n <= REWRITE_MOST_EMBEDDED ? n : 0;
}

hd_status rewrite_order_program(rewrite_job *j, hd_prog *prog, hd_diag *d) {
  /* Prefetching needs other tasks' cells by their numbers, which a program from the worker's own cell cannot
   * give. */
  j->own_cell = !j->claims && j->plan->prefetch.kind == HD_PREFETCH_NONE;
  if (j->own_cell) return hd_plan_from_cell(j->plan, &j->opt->grid, packed_words(j) > 0, prog, d);
  hd_plan applied = *j->plan;
  applied.order = j->order;
  if (j->order_table) applied.shape = (hd_shape){0}; /* a table lists the launch's tasks */
  return hd_plan_forward(&applied, &j->opt->grid, prog, d);
}

bool rewrite_order_counts(const rewrite_job *j, const hd_prog *prog) {
  return !j->opt->grid.known && !(j->own_cell && prog->any_size);
}

/* Orders that leave a grid of a single row, or of one such row a plane, as it is. */
static bool keeps_lines(const hd_order *o) {
  bool of_grid = o->kind == HD_ORDER_TILE && !o->c;
  return of_grid || o->kind == HD_ORDER_COL || o->kind == HD_ORDER_BAND || o->kind == HD_ORDER_HILBERT;
}

void rewrite_put_line_check(const rewrite_job *j, hd_buf *text) {
  if (!j->own_cell || j->plan->bind != HD_BIND_NONE || j->plan->shape.kind != HD_SHAPE_LAUNCH ||
      !keeps_lines(&j->plan->order))
    return;
  rewrite_put(j, text,
              "\t.reg .b32 %%~rows;\n\t.reg .pred %%~line;\n\tmov.u32 %%~rows, %%n%s.y;\n"
              "\tsetp.eq.u32 %%~line, %%~rows, 1;\n\t@%%~line bra $~entered;\n",
              rewrite_place(j));
}

/* The order's arithmetic: from the position to the registers that replace %ctaid. */
hd_status rewrite_put_order(rewrite_job *j, const hd_prog *prog, hd_buf *text, hd_diag *d) {
  bool around = rewrite_order_counts(j, prog);
  rewrite_reads *r = rewrite_ordered(j);
  char dims[4][64], own[3][64], cells[3][64], input[64];
  snprintf(input, sizeof input, "%%%s_%s", j->prefix, j->wide ? "w" : "u");
  rewrite_lowering l = {
      .prefix = j->prefix, .wide_in = j->wide, .clusters = j->clusters, .in = input, .table = &j->table};
  for (unsigned k = 0; k < 4 && around; k++) {
    snprintf(dims[k], sizeof dims[k], "%%%s_%s", j->prefix, (const char *const[]){"nx", "ny", "nz", "v"}[k]);
    l.dims[k] = dims[k];
  }
  for (unsigned k = 0; k < 3 && around; k++) {
    snprintf(own[k], sizeof own[k], "%%%s_%c", j->prefix, "xyz"[k]);
    if (r->want[k]) l.own[k] = own[k];
  }
  for (unsigned k = 0; k < 3 && j->plan->bind == HD_BIND_CANCEL; k++)
    l.own[k] = rewrite_cancel_cell(j, k, cells[k]);
  memcpy(l.want, r->want, sizeof l.want);
  if (j->recipe->table_bytes)
    rewrite_put(j, text,
                "\t.reg .b64 %%~order;\n\tld.param.u64 %%~order, [~table];\n"
                "\tcvta.to.global.u64 %%~order, %%~order;\n");
  hd_status st = rewrite_lower(prog, &l, r->names, text, d);
  for (unsigned k = 0; k < 3 && around; k++) {
    if (!r->want[k]) continue;
    if (strcmp(r->names[k], own[k]) != 0) rewrite_put(j, text, "\tmov.u32 %s, %s;\n", own[k], r->names[k]);
    memcpy(r->names[k], own[k], sizeof own[k]);
  }
  return st;
}

/* ---- The table ------------------------------------------------------------------------ */

/* Bytes that a module may have in the .const space. */
enum { MOST_CONST = 64 * 1024, TABLE_ALIGN = 4 };

/* With what may lie unused before it; MOST_CONST or more: not known. */
static uint64_t bytes_of(const hd_ptx_module *m, const hd_ptx_var *v) {
  const uint64_t bytes = hd_ptx_var_size(m, v);
  if (!bytes || v->unsized || v->linkage & HD_LINK_EXTERN || bytes >= MOST_CONST) return MOST_CONST;
  return bytes + hd_ptx_var_align(v);
}

/* The constant cache serves a warp's one word as an operand, and leaves L1 alone. */
static bool fits_const(const hd_ptx_module *m, uint64_t bytes) {
  uint64_t used = 0;
  for (uint32_t i = 0; i < m->n_vars && used < MOST_CONST; i++) /* functions' own, too */
    if (m->vars[i].space == HD_M_CONST) used += bytes_of(m, &m->vars[i]);
  return used + bytes + (used ? TABLE_ALIGN : 0) <= MOST_CONST;
}

/* A small table becomes a variable of the module, before the kernel that reads it. */
static hd_status put_table(rewrite_job *j, const hd_table *t, hd_diag *d) {
  hd_buf text = {0};
  uint32_t most = 0, at = 0;
  for (uint64_t i = 0; i < t->n; i++) most = t->task[i] > most ? t->task[i] : most;
  j->table.bytes = most <= UINT16_MAX ? 2 : 4;
  j->table.constant = fits_const(j->m, t->n * j->table.bytes);
  snprintf(j->table.name, sizeof j->table.name, "%s_order", j->prefix);
  hd_buf_printf(&text, "%s .align %u .u%u %s[%" PRIu64 "] = {", j->table.constant ? ".const" : ".global",
                TABLE_ALIGN, j->table.bytes * 8, j->table.name, t->n);
  for (uint64_t i = 0; i < t->n; i++) hd_buf_printf(&text, "%s%u", i ? "," : "", t->task[i]);
  hd_buf_puts(&text, "};\n");
  while (at < j->m->n_items && !(j->m->items[at].kind == HD_I_FUNC && j->m->items[at].index == j->func)) at++;
  hd_status st = text.failed ? hd_nomem(d) : hd_ptx_insert_items(j->m, at, text.data, d);
  hd_buf_free(&text);
  return st;
}

/* A larger one lies in device memory. */
static void place_table(rewrite_job *j) {
  j->recipe->table_bytes = j->order_table->n * sizeof *j->order_table->task;
  j->table.bytes = sizeof *j->order_table->task;
  snprintf(j->table.name, sizeof j->table.name, "%%%s_order", j->prefix);
}

hd_status rewrite_order_table(rewrite_job *j, hd_diag *d) {
  const hd_table *t = j->order_table;
  if (hd_order_needs_table(j->order.kind) && t && t->n != j->V && j->clusters)
    return hd_fail(d, HD_ERR_REFUSED,
                   "the order's table lists CTAs, and this kernel runs in clusters of them");
  if (hd_order_needs_table(j->order.kind) && (!t || t->n != j->V))
    return hd_fail(d, HD_ERR_USAGE, "this order needs its table, of %" PRIu64 " entries", j->V);
  if (packed_words(j)) {
    hd_table words;
    hd_status st = hd_plan_pack(j->plan, &j->opt->grid, t, &words, d);
    if (st == HD_OK) st = put_table(j, &words, d);
    hd_table_free(&words);
    return st;
  }
  if (j->V <= REWRITE_MOST_EMBEDDED) return put_table(j, t, d);
  place_table(j);
  return HD_OK;
}
