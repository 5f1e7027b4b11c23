/* What every lever does to a kernel: puts text, names an instruction that it refuses, finds and replaces the
 * reads of a special register. Levers call this and not rewrite.c, which calls them.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/ptx_facts.h"
#include "rewrite/rewrite_internal.h"

/* ---- Text and refusals -------------------------------------------------------------------- */

void rewrite_put(const rewrite_job *j, hd_buf *text, const char *fmt, ...) {
  char line[2048];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  if (n < 0 || (size_t)n >= sizeof line) {
    text->failed = true;
    return;
  }
  for (const char *p = line; *p;) {
    size_t plain = strcspn(p, "~");
    hd_buf_put(text, p, plain);
    p += plain;
    if (*p) hd_buf_printf(text, "%s_", j->prefix), p++;
  }
}

hd_status rewrite_refuse(const hd_ptx_module *m, const hd_ptx_stmt *st, const char *why, hd_diag *d) {
  hd_buf text = {0};
  hd_ptx_print_stmt(m, st, &text);
  hd_fail_because(d, HD_ERR_REFUSED, why, "line %u: %.200s", st->line, text.data ? text.data : "");
  if (d) d->line = st->line;
  hd_buf_free(&text);
  return HD_ERR_REFUSED;
}

hd_status rewrite_first_refusal(const hd_refusal *why, size_t n, hd_diag *d) {
  if (!n) return HD_OK;
  if (why->kind == HD_REFUSE_NO_MEMORY) return hd_nomem(d);
  if (!why->line) return hd_fail(d, HD_ERR_REFUSED, "%s", why->what);
  hd_fail_because(d, HD_ERR_REFUSED, why->what + why->reason, "line %u: %.*s", why->line,
                  why->reason ? why->reason - 2 : 0, why->what);
  if (d) d->line = why->line;
  return HD_ERR_REFUSED;
}

/* ---- The kernel's block ------------------------------------------------------------------- */

void rewrite_find_block(const hd_ptx_module *m, uint32_t func, const uint32_t given[3], uint32_t block[3]) {
  const hd_ptx_dir *dir = hd_ptx_func_dir(m, &m->funcs[func], HD_M_REQNTID);
  for (unsigned k = 0; k < 3; k++)
    block[k] = given[0] || !dir ? given[k] : k < dir->n_vals ? dir->vals[k] : 1;
}

/* ---- The thread's number in its CTA ----------------------------------------------------- */

void rewrite_put_linear_thread(const rewrite_job *j, hd_buf *t) {
  const uint32_t *b = j->block;
  rewrite_put(j, t, "\t.reg .b32 %%~linear, %%~part;\n\tmov.u32 %%~linear, %%tid.x;\n");
  if (b[0] && b[1] * b[2] == 1) return;
  rewrite_put(j, t, "\t.reg .b32 %%~line;\n\tmov.u32 %%~line, %%tid.y;\n\tmov.u32 %%~part, %%tid.z;\n");
  if (b[0]) {
    if (b[2] > 1) rewrite_put(j, t, "\tmad.lo.u32 %%~line, %%~part, %u, %%~line;\n", b[1]);
    rewrite_put(j, t, "\tmad.lo.u32 %%~linear, %%~line, %u, %%~linear;\n", b[0]);
  } else {
    rewrite_put(j, t,
                "\t.reg .b32 %%~extent;\n\tmov.u32 %%~extent, %%ntid.y;\n"
                "\tmad.lo.u32 %%~line, %%~part, %%~extent, %%~line;\n\tmov.u32 %%~extent, %%ntid.x;\n"
                "\tmad.lo.u32 %%~linear, %%~line, %%~extent, %%~linear;\n");
  }
}

static const hd_mod parts[3] = {HD_M_X, HD_M_Y, HD_M_Z};

/* ---- Finding the reads -------------------------------------------------------- */

/* 0 to 2: x, y, z; 3: w; -1: the whole vector. */
static int part_number(hd_mod part) {
  for (int k = 0; k < 3; k++)
    if (parts[k] == part) return k;
  return part == HD_M_W ? 3 : -1;
}

/* Old code moves the low half of a coordinate into a 16-bit register. Of a conversion's two types the last
 * one is its operand's: cvt.u16.u32 reads all of it. Elements of vectors are read whole. */
static bool is_narrow(const hd_ptx_module *m, const hd_ptx_stmt *st, const hd_ptx_leaf *leaf) {
  const hd_ptx_form *f = &m->forms[st->form];
  hd_ptx_type type = {0};
  for (unsigned k = 0; k < f->n_mods; k++)
    if (hd_ptx_mod_kind(f->mods[k]) == HD_MK_TYPE) type = hd_ptx_type_of(f->mods[k]);
  return m->opnds[st->first_opnd + leaf->operand].kind != HD_O_VEC && type.bits == 16;
}

static bool reads_sreg(const hd_ptx_module *m, const hd_ptx_leaf *leaf, uint32_t id) {
  return leaf->sym && m->syms[leaf->sym].kind == HD_SYM_SREG && m->syms[leaf->sym].index == id;
}

/* An instruction among whose operands a special register may be; most have registers and numbers alone, which
 * need no visit. */
static bool may_read_sreg(const hd_ptx_module *m, const hd_ptx_stmt *st) {
  if (st->kind != HD_S_INST) return false;
  for (uint32_t k = st->first_opnd; k < st->first_opnd + st->n_opnds; k++) {
    const hd_ptx_opnd *o = &m->opnds[k];
    bool plain = o->kind == HD_O_REG || o->kind == HD_O_INT || o->kind == HD_O_F32 || o->kind == HD_O_F64 ||
                 (o->kind == HD_O_ADDR && m->syms[o->sym].kind != HD_SYM_SREG);
    if (!plain) return true;
  }
  return false;
}

typedef struct finder {
  const hd_ptx_module *m;
  const hd_ptx_stmt *st;
  uint32_t id;
  rewrite_reads *reads;
  const char *why; /* it cannot be replaced; NULL: it can */
} finder;

static bool note_read(void *ctx, const hd_ptx_leaf *leaf) {
  finder *f = ctx;
  if (!reads_sreg(f->m, leaf, f->id)) return true;
  int part = part_number(leaf->opnd->part);
  if (part < 0) f->why = "reads all coordinates at once";
  if (leaf->opnd->kind != HD_O_SREG) f->why = "reads a coordinate in an address";
  if (f->why) return false;
  if (part == 3) return true;
  f->reads->want[part] = true;
  f->reads->narrow[part] |= is_narrow(f->m, f->st, leaf);
  return true;
}

/* Which coordinates of special register `id` the kernel reads, and which of them into 16 bits. A read in a
 * shape that cannot be replaced is refused. */
hd_status rewrite_find_reads(const hd_ptx_module *m, const hd_ptx_func *f, uint32_t id, rewrite_reads *r,
                             hd_diag *d) {
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    finder find = {.m = m, .st = &f->stmts[i], .id = id, .reads = r};
    if (!may_read_sreg(m, find.st)) continue;
    if (!hd_ptx_visit(m, find.st, note_read, &find)) return rewrite_refuse(m, find.st, find.why, d);
  }
  return HD_OK;
}

/* 16-bit registers named for their coordinate: %~hx of %ctaid, %~mx of %nctaid. */
void rewrite_put_halves(const rewrite_job *j, const rewrite_reads *r, char letter, hd_buf *text) {
  for (unsigned k = 0; k < 3; k++)
    if (r->narrow[k])
      rewrite_put(j, text, "\t.reg .b16 %%~%c%c;\n\tcvt.u16.u32 %%~%c%c, %s;\n", letter, "xyz"[k], letter,
                  "xyz"[k], r -> names[k]);
}

/* The worker's own coordinate, where large grids are left as they are. */
/* ---- Replacing the reads ---------------------------------------------------------------- */

/* The symbol of an inserted register. The prefix is fresh, so its name stands once, near the end. */
hd_sym rewrite_find_register(const hd_ptx_module *m, const char *name) {
  for (uint32_t i = m->n_syms; i-- > 1;)
    if (m->syms[i].kind == HD_SYM_REG && strcmp(m->syms[i].name, name) == 0) return i;
  return 0;
}

/* The operand for coordinate k: a register, or a number. */
static hd_ptx_opnd replacement(const rewrite_job *j, const rewrite_reads *r, unsigned k, bool narrow,
                               char letter) {
  char name[96];
  if (r->names[k][0] != '%') {
    int64_t value = (int64_t)strtoull(r->names[k], NULL, 10);
    return (hd_ptx_opnd){.kind = HD_O_INT, .imm = narrow ? value & 0xffff : value};
  }
  snprintf(name, sizeof name, "%s", r->names[k]);
  if (narrow) snprintf(name, sizeof name, "%%%s_%c%c", j->prefix, letter, "xyz"[k]);
  return (hd_ptx_opnd){.kind = HD_O_REG, .sym = rewrite_find_register(j->m, name)};
}

typedef struct replacer {
  hd_ptx_module *m;
  const hd_ptx_stmt *st;
  uint32_t id;
  hd_ptx_opnd whole[3], half[3];
} replacer;

static bool replace_read(void *ctx, const hd_ptx_leaf *leaf) {
  replacer *r = ctx;
  if (!reads_sreg(r->m, leaf, r->id)) return true;
  int part = part_number(leaf->opnd->part);
  if (part == 3) /* %ctaid.w is always 0, %nctaid.w 1 */
    r->m->opnds[leaf->index] = (hd_ptx_opnd){.kind = HD_O_INT, .imm = r->id == HD_SR_NCTAID};
  else
    r->m->opnds[leaf->index] = is_narrow(r->m, r->st, leaf) ? r->half[part] : r->whole[part];
  return true;
}

void rewrite_replace_reads(const rewrite_job *j, uint32_t id, const rewrite_reads *r, char letter,
                           uint32_t begin) {
  const hd_ptx_func *f = &j->m->funcs[j->func];
  replacer with = {.m = j->m, .id = id};
  for (unsigned k = 0; k < 3; k++) {
    if (r->want[k]) with.whole[k] = replacement(j, r, k, false, letter);
    if (r->narrow[k]) with.half[k] = replacement(j, r, k, true, letter);
  }
  for (uint32_t i = begin; i < f->n_stmts; i++) {
    with.st = &f->stmts[i];
    if (may_read_sreg(j->m, with.st)) hd_ptx_visit(j->m, with.st, replace_read, &with);
  }
}
