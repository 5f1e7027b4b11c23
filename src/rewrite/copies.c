/* Copies of coordinates. Kernels read %ctaid by a mov into a register of their own. Once that mov copies
 * another register, which nothing writes any more, whoever reads the copy can read that, and the mov goes.
 *
 * Only of copies that nobody can see otherwise: the mov comes before the body's first label and jump, so that
 * it runs once, in every thread and before all that follows; its register is written nowhere else, and not
 * read above. */
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_internal.h"

enum { MOST_COPIES = 8 };

typedef struct copy {
  hd_sym to, from;
  uint32_t stmt;
  unsigned writes;
  bool read_above;
} copy;

typedef struct copies {
  hd_ptx_module *m;
  hd_ptx_func *f;
  copy list[MOST_COPIES];
  unsigned n;
} copies;

static copy *find(copies *c, hd_sym reg) {
  for (unsigned k = 0; k < c->n; k++)
    if (c->list[k].to == reg) return &c->list[k];
  return NULL;
}

/* ---- Operands ------------------------------------------------------------------------ */

static bool has_kids(const hd_ptx_opnd *o) {
  return o->kind == HD_O_VEC || o->kind == HD_O_LIST || o->kind == HD_O_BRACKET || o->kind == HD_O_PAIR ||
         o->kind == HD_O_INDEX;
}

typedef void visit_fn(copies *c, hd_ptx_opnd *o, uint32_t stmt);

/* All registers among n operands, vectors' and lists' included. */
static void each_register(copies *c, uint32_t first, uint32_t n, uint32_t stmt, visit_fn *visit) {
  for (uint32_t k = first; k < first + n; k++) {
    hd_ptx_opnd *o = &c->m->opnds[k];
    if (has_kids(o))
      each_register(c, o->sym, o->n_kids, stmt, visit);
    else if (o->kind == HD_O_REG || o->kind == HD_O_ADDR)
      visit(c, o, stmt);
  }
}

static void each_operand(copies *c, uint32_t begin, visit_fn *visit) {
  for (uint32_t i = begin; i < c->f->n_stmts; i++)
    if (c->f->stmts[i].kind == HD_S_INST)
      each_register(c, c->f->stmts[i].first_opnd, c->f->stmts[i].n_opnds, i, visit);
}

/* ---- Finding them ---------------------------------------------------------------------- */

static bool is_coordinate(const rewrite_job *j, hd_sym reg) {
  for (unsigned k = 0; k < 3; k++)
    if (j->ctaid.want[k] && strcmp(j->m->syms[reg].name, j->ctaid.names[k]) == 0) return true;
  return false;
}

/* mov of a whole coordinate, by all threads. */
static bool is_copy(const rewrite_job *j, const hd_ptx_stmt *st) {
  const hd_ptx_module *m = j->m;
  const hd_ptx_form *f = &m->forms[st->form];
  const hd_ptx_opnd *o = &m->opnds[st->first_opnd];
  return f->op == HD_OP_MOV && !st->guard && st->n_opnds == 2 && o[0].kind == HD_O_REG && !o[0].part &&
         o[1].kind == HD_O_REG && !o[1].part && !o[1].flags && m->syms[o[0].sym].kind == HD_SYM_REG &&
         (hd_ptx_form_has(f, HD_M_U32) || hd_ptx_form_has(f, HD_M_B32) || hd_ptx_form_has(f, HD_M_S32)) &&
         is_coordinate(j, o[1].sym);
}

static bool jumps(hd_ptx_op op) {
  return op == HD_OP_BRA || op == HD_OP_BRX || op == HD_OP_CALL || op == HD_OP_RET || op == HD_OP_EXIT ||
         op == HD_OP_TRAP;
}

/* From `begin` to the first label or jump; those below `from` are left alone. */
static void list_copies(const rewrite_job *j, copies *c, uint32_t begin, uint32_t from) {
  for (uint32_t i = begin; i < c->f->n_stmts && c->n < MOST_COPIES; i++) {
    const hd_ptx_stmt *st = &c->f->stmts[i];
    if (st->kind == HD_S_LABEL || (st->kind == HD_S_INST && jumps(j->m->forms[st->form].op))) return;
    if (i < from || st->kind != HD_S_INST || !is_copy(j, st)) continue;
    const hd_ptx_opnd *o = &j->m->opnds[st->first_opnd];
    if (!find(c, o[0].sym)) c->list[c->n++] = (copy){.to = o[0].sym, .from = o[1].sym, .stmt = i};
  }
}

/* Whatever an instruction's first operand names it may write. */
static void count_write(copies *c, hd_ptx_opnd *o, uint32_t stmt) {
  copy *found = o->kind == HD_O_REG ? find(c, o->sym) : NULL;
  (void)stmt;
  if (found) found->writes++;
}

static void note_above(copies *c, hd_ptx_opnd *o, uint32_t stmt) {
  copy *found = find(c, o->sym);
  if (found && stmt < found->stmt) found->read_above = true;
}

/* Keep those that can go. */
static void sift(copies *c, uint32_t begin) {
  unsigned kept = 0;
  for (uint32_t i = begin; i < c->f->n_stmts; i++)
    if (c->f->stmts[i].kind == HD_S_INST && c->f->stmts[i].n_opnds)
      each_register(c, c->f->stmts[i].first_opnd, 1, i, count_write);
  each_operand(c, begin, note_above);
  for (unsigned k = 0; k < c->n; k++)
    if (c->list[k].writes == 1 && !c->list[k].read_above) c->list[kept++] = c->list[k];
  c->n = kept;
}

/* ---- Dropping them ------------------------------------------------------------------------ */

static void read_original(copies *c, hd_ptx_opnd *o, uint32_t stmt) {
  copy *found = find(c, o->sym);
  if (found && stmt != found->stmt) o->sym = found->from;
}

hd_status rewrite_drop_copies(const rewrite_job *j, uint32_t begin, uint32_t header, hd_diag *d) {
  copies c = {.m = j->m, .f = &j->m->funcs[j->func]};
  list_copies(j, &c, begin, begin + header);
  if (!c.n) return HD_OK;
  sift(&c, begin);
  if (!c.n) return HD_OK;
  each_operand(&c, begin, read_original);
  hd_ptx_stmt *stmts = malloc(c.f->n_stmts * sizeof *stmts);
  if (!stmts) return hd_nomem(d);
  uint32_t n = 0;
  for (uint32_t i = 0; i < c.f->n_stmts; i++) {
    bool drop = false;
    for (unsigned k = 0; k < c.n; k++) drop |= c.list[k].stmt == i;
    if (!drop) stmts[n++] = c.f->stmts[i];
  }
  hd_status st = hd_ptx_set_body(j->m, j->func, stmts, n, d);
  free(stmts);
  return st;
}
