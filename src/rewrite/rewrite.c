/* The rewrite itself: at entry the CTA works out which task is its own, and every later
 * read of %ctaid reads that instead.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_internal.h"

/* A table is written into the module as data: entries this many or more do not belong there. */
enum { MAX_TABLE_ENTRIES = 1 << 22 };

static const hd_mod parts[3] = {HD_M_X, HD_M_Y, HD_M_Z};

static bool is_ctaid(const hd_ptx_module *m, const hd_ptx_opnd *o) {
  return o->kind == HD_O_SREG && m->syms[o->sym].index == HD_SR_CTAID;
}

static int part_number(hd_mod part) {
  for (int k = 0; k < 3; k++)
    if (parts[k] == part) return k;
  return part == HD_M_W ? 3 : -1;
}

/* ---- Finding the reads -------------------------------------------------------- */

/* Old code moves the low half of a coordinate into a 16-bit register. */
static bool is_narrow(const hd_ptx_module *m, const hd_ptx_stmt *st) {
  const hd_ptx_form *f = &m->forms[st->form];
  return hd_ptx_form_has(f, HD_M_U16) || hd_ptx_form_has(f, HD_M_B16) || hd_ptx_form_has(f, HD_M_S16);
}

/* Which coordinates the kernel reads, and which of them into 16 bits. A read in a shape that
 * cannot be replaced is refused. */
static hd_status find_reads(const hd_ptx_module *m, const hd_ptx_func *f, bool want[3], bool narrow[3],
                            hd_diag *d) {
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    const hd_ptx_stmt *st = &f->stmts[i];
    if (st->kind != HD_S_INST) continue;
    for (uint32_t k = 0; k < st->n_opnds; k++) {
      const hd_ptx_opnd *o = &m->opnds[st->first_opnd + k];
      if (!is_ctaid(m, o)) continue;
      int part = part_number(o->part);
      if (part < 0) {
        hd_buf text = {0};
        hd_ptx_print_stmt(m, st, &text);
        hd_fail(d, HD_ERR_REFUSED, "line %u: %s: reads %%ctaid as a vector", st->line,
                text.data ? text.data : "");
        hd_buf_free(&text);
        return HD_ERR_REFUSED;
      }
      if (part == 3) continue;
      want[part] = true;
      narrow[part] |= is_narrow(m, st);
    }
  }
  return HD_OK;
}

/* ---- Building the text at entry --------------------------------------------------- */

typedef struct entry {
  hd_ptx_module *m;
  const char *prefix;
  const hd_rewrite_options *opt;
  bool want[3], narrow[3];
  bool wide; /* positions need 64 bits */
  char names[3][64];
  char table[96];
  unsigned table_bytes;
} entry;

/* u = x + gx * (y + gy * z) of the worker, from %ctaid. */
static void put_position(const entry *e, hd_buf *text) {
  const char *p = e->prefix;
  const uint32_t *g = e->opt->grid.g;
  bool known = e->opt->grid.known;
  bool one_d = known && g[1] == 1 && g[2] == 1, flat = known && g[2] == 1;
  hd_buf_printf(text, "\t.reg .b32 %%%s_cx, %%%s_cy, %%%s_cz, %%%s_u;\n\tmov.u32 %%%s_cx, %%ctaid.x;\n", p, p,
                p, p, p);
  if (one_d && !e->wide) {
    hd_buf_printf(text, "\tmov.u32 %%%s_u, %%%s_cx;\n", p, p);
    return;
  }
  hd_buf_printf(text, "\tmov.u32 %%%s_cy, %%ctaid.y;\n", p);
  if (!flat) hd_buf_printf(text, "\tmov.u32 %%%s_cz, %%ctaid.z;\n", p);
  char nx[64], ny[64];
  if (known) {
    snprintf(nx, sizeof nx, "%u", g[0]);
    snprintf(ny, sizeof ny, "%u", g[1]);
  } else {
    snprintf(nx, sizeof nx, "%%%s_nx", p);
    snprintf(ny, sizeof ny, "%%%s_ny", p);
  }
  if (!e->wide) {
    if (!flat) hd_buf_printf(text, "\tmad.lo.u32 %%%s_cy, %%%s_cz, %s, %%%s_cy;\n", p, p, ny, p);
    hd_buf_printf(text, "\tmad.lo.u32 %%%s_u, %%%s_cy, %s, %%%s_cx;\n", p, p, nx, p);
    return;
  }
  hd_buf_printf(text, "\t.reg .b64 %%%s_w, %%%s_wx;\n\tcvt.u64.u32 %%%s_w, %%%s_cy;\n", p, p, p, p);
  if (!flat) hd_buf_printf(text, "\tmad.wide.u32 %%%s_w, %%%s_cz, %s, %%%s_w;\n", p, p, ny, p);
  hd_buf_printf(text, "\tcvt.u64.u32 %%%s_wx, %%%s_cx;\n\tmad.lo.u64 %%%s_w, %%%s_w, %s, %%%s_wx;\n", p, p, p,
                p, nx, p);
}

/* For any grid: its dimensions, and a way around for grids of 2^32 tasks or more, which keep their
 * own order. */
static void put_dimensions(const entry *e, hd_buf *text) {
  const char *p = e->prefix;
  hd_buf_printf(text,
                "\t.reg .b32 %%%s_nx, %%%s_ny, %%%s_nz, %%%s_v;\n\t.reg .b64 %%%s_v64, %%%s_nx64;\n"
                "\t.reg .pred %%%s_large;\n",
                p, p, p, p, p, p, p);
  for (unsigned k = 0; k < 3; k++)
    hd_buf_printf(text, "\tmov.u32 %%%s_n%c, %%nctaid.%c;\n", p, "xyz"[k], "xyz"[k]);
  hd_buf_printf(text,
                "\tmul.wide.u32 %%%s_v64, %%%s_ny, %%%s_nz;\n\tcvt.u64.u32 %%%s_nx64, %%%s_nx;\n"
                "\tmul.lo.u64 %%%s_v64, %%%s_v64, %%%s_nx64;\n\tcvt.u32.u64 %%%s_v, %%%s_v64;\n"
                "\tsetp.gt.u64 %%%s_large, %%%s_v64, 4294967295;\n",
                p, p, p, p, p, p, p, p, p, p, p, p);
}

static hd_status put_entry(entry *e, const hd_prog *prog, hd_buf *text, hd_diag *d) {
  const char *p = e->prefix;
  bool known = e->opt->grid.known;
  char dims[4][64], input[64];
  for (unsigned k = 0; k < 4; k++)
    snprintf(dims[k], sizeof dims[k], "%%%s_%s", p, (const char *const[]){"nx", "ny", "nz", "v"}[k]);
  snprintf(input, sizeof input, "%%%s_%s", p, e->wide ? "w" : "u");
  if (!known) put_dimensions(e, text);
  put_position(e, text);
  if (!known) {
    for (unsigned k = 0; k < 3; k++)
      if (e->want[k])
        hd_buf_printf(text, "\t.reg .b32 %%%s_%c;\n\tmov.u32 %%%s_%c, %%ctaid.%c;\n", p, "xyz"[k], p,
                      "xyz"[k], "xyz"[k]);
    hd_buf_printf(text, "\t@%%%s_large bra $%s_entered;\n", p, p);
  }
  rewrite_lowering l = {
      .prefix = p, .wide_in = e->wide, .in = input, .table = e->table, .table_bytes = e->table_bytes};
  for (unsigned k = 0; k < 4; k++) l.dims[k] = known ? NULL : dims[k];
  memcpy(l.want, e->want, sizeof l.want);
  hd_status st = rewrite_lower(prog, &l, e->names, text, d);
  if (st != HD_OK || known) return st;
  for (unsigned k = 0; k < 3; k++)
    if (e->want[k]) {
      hd_buf_printf(text, "\tmov.u32 %%%s_%c, %s;\n", p, "xyz"[k], e -> names[k]);
      snprintf(e->names[k], sizeof e->names[k], "%%%s_%c", p, "xyz"[k]);
    }
  hd_buf_printf(text, "$%s_entered:\n", p);
  return HD_OK;
}

/* ---- The table of order=table -------------------------------------------------------- */

static hd_status put_table(entry *e, uint32_t func, hd_diag *d) {
  const hd_table *t = e->opt->table;
  if (!t) return hd_fail(d, HD_ERR_USAGE, "order=table needs its table");
  if (t->n > MAX_TABLE_ENTRIES)
    return hd_fail(d, HD_ERR_REFUSED,
                   "order=table: %" PRIu64 " entries do not fit into the module (at most %d)", t->n,
                   MAX_TABLE_ENTRIES);
  e->table_bytes = t->n <= 65536 ? 2 : 4;
  snprintf(e->table, sizeof e->table, "%s_order", e->prefix);
  hd_buf text = {0};
  hd_buf_printf(&text, ".global .align 4 .u%u %s[%" PRIu64 "] = {", e->table_bytes * 8, e->table, t->n);
  for (uint64_t i = 0; i < t->n; i++) hd_buf_printf(&text, "%s%u", i ? "," : "", t->task[i]);
  hd_buf_puts(&text, "};\n");
  /* Before the kernel that reads it. */
  uint32_t at = 0;
  while (at < e->m->n_items && !(e->m->items[at].kind == HD_I_FUNC && e->m->items[at].index == func)) at++;
  hd_status st =
      text.failed ? hd_fail(d, HD_ERR_NOMEM, "out of memory") : hd_ptx_insert_items(e->m, at, text.data, d);
  hd_buf_free(&text);
  return st;
}

/* ---- Replacing the reads ---------------------------------------------------------------- */

/* The symbol of an inserted register. The prefix is fresh, so its name stands once, near the end. */
static hd_sym find_register(const hd_ptx_module *m, const char *name) {
  for (uint32_t i = m->n_syms; i-- > 1;)
    if (m->syms[i].kind == HD_SYM_REG && strcmp(m->syms[i].name, name) == 0) return i;
  return 0;
}

static void replace_reads(const entry *e, hd_ptx_func *f, uint32_t begin) {
  hd_ptx_module *m = e->m;
  hd_sym regs[3] = {0}, halves[3] = {0};
  for (unsigned k = 0; k < 3; k++) {
    char half[96];
    snprintf(half, sizeof half, "%%%s_h%c", e->prefix, "xyz"[k]);
    if (e->want[k]) regs[k] = find_register(m, e->names[k]);
    if (e->narrow[k]) halves[k] = find_register(m, half);
  }
  for (uint32_t i = begin; i < f->n_stmts; i++) {
    const hd_ptx_stmt *st = &f->stmts[i];
    if (st->kind != HD_S_INST) continue;
    for (uint32_t k = 0; k < st->n_opnds; k++) {
      hd_ptx_opnd *o = &m->opnds[st->first_opnd + k];
      if (!is_ctaid(m, o)) continue;
      int part = part_number(o->part);
      if (part == 3) /* %ctaid.w is always 0 */
        *o = (hd_ptx_opnd){.kind = HD_O_INT};
      else
        *o = (hd_ptx_opnd){.kind = HD_O_REG, .sym = is_narrow(m, st) ? halves[part] : regs[part]};
    }
  }
}

/* ---- Entry point -------------------------------------------------------------------------- */

hd_status hd_rewrite(hd_ptx_module *m, uint32_t func, const hd_plan *p, const hd_rewrite_options *opt,
                     hd_diag *d) {
  if (hd_plan_is_baseline(p)) return HD_OK;
  hd_refusal why;
  if (hd_rewrite_refusals(m, func, &why, 1) > 0) {
    if (why.line) return hd_fail(d, HD_ERR_REFUSED, "line %u: %s", why.line, why.what);
    return hd_fail(d, HD_ERR_REFUSED, "%s", why.what);
  }
  entry e = {.m = m, .opt = opt};
  hd_status st = find_reads(m, &m->funcs[func], e.want, e.narrow, d);
  if (st != HD_OK) return st;
  /* CTAs that never ask who they are do the same work in any order. */
  if (!e.want[0] && !e.want[1] && !e.want[2]) return HD_OK;

  hd_prog prog;
  if ((st = hd_plan_forward(p, &opt->grid, &prog, d)) != HD_OK) return st;
  uint64_t V = 0;
  if (opt->grid.known && !hd_grid_tasks(opt->grid.g, &V))
    return hd_fail(d, HD_ERR_USAGE, "a grid of %ux%ux%u has no tasks or too many", opt->grid.g[0],
                   opt->grid.g[1], opt->grid.g[2]);
  e.wide = opt->grid.known && V > UINT32_MAX;
  e.prefix = hd_ptx_fresh_prefix(m);
  if (prog.uses_table && (st = put_table(&e, func, d)) != HD_OK) return st;

  hd_buf text = {0};
  st = put_entry(&e, &prog, &text, d);
  for (unsigned k = 0; k < 3; k++)
    if (e.narrow[k])
      hd_buf_printf(&text, "\t.reg .b16 %%%s_h%c;\n\tcvt.u16.u32 %%%s_h%c, %s;\n", e.prefix, "xyz"[k],
                    e.prefix, "xyz"[k], e.names[k]);
  if (st == HD_OK && text.failed) st = hd_fail(d, HD_ERR_NOMEM, "out of memory");
  uint32_t before = m->funcs[func].n_stmts;
  if (st == HD_OK) st = hd_ptx_insert(m, func, 0, text.data, d);
  hd_buf_free(&text);
  if (st == HD_OK) replace_reads(&e, &m->funcs[func], m->funcs[func].n_stmts - before);
  return st;
}
