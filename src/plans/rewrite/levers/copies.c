/* Copies of coordinates. Kernels read %ctaid by a mov into a register of their own. Once that mov copies
 * another register, which nothing writes any more, readers of the copy can read that register, and the mov
 * goes.
 *
 * This holds for copies under these conditions: the mov comes before the body's first label and jump, so that
 * it runs once, in every thread and before the rest of the body; its register is written nowhere else, and
 * not read above. */
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

typedef void visit_fn(copies *c, const hd_ptx_leaf *leaf, uint32_t stmt);

typedef struct each {
  copies *c;
  visit_fn *visit;
  uint32_t stmt;
} each;

static bool each_leaf(void *ctx, const hd_ptx_leaf *leaf) {
  const each *e = ctx;
  if (leaf->sym && leaf->opnd) e->visit(e->c, leaf, e->stmt);
  return true;
}

/* Whether operands may name one of the copies: most have other registers and numbers alone, and need no
 * visit. */
static bool may_name_copy(copies *c, uint32_t first, uint32_t n) {
  for (const hd_ptx_opnd *o = &c->m->opnds[first], *end = o + n; o < end; o++) switch (o->kind) {
    case HD_O_INT:
    case HD_O_F32:
    case HD_O_F64: break;
    case HD_O_REG:
    case HD_O_ADDR:
      if (find(c, o->sym)) return true;
      break;
    case HD_O_VEC:
    case HD_O_PAIR:
    case HD_O_BRACKET:
      if (may_name_copy(c, o->sym, o->n_kids)) return true;
      break;
    default: return true;
    }
  return false;
}

/* The names among the operands of the statements from `begin` on, if a copy may be among them. */
static void each_operand(copies *c, uint32_t begin, visit_fn *visit) {
  for (uint32_t i = begin; i < c->f->n_stmts; i++) {
    const hd_ptx_stmt *st = &c->f->stmts[i];
    if (st->kind == HD_S_INST && may_name_copy(c, st->first_opnd, st->n_opnds))
      hd_ptx_visit(c->m, st, each_leaf, &(each){c, visit, i});
  }
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

/* From `begin` to the first label or jump; those below `from` are left alone. */
static void list_copies(const rewrite_job *j, copies *c, uint32_t begin, uint32_t from) {
  for (uint32_t i = begin; i < c->f->n_stmts && c->n < MOST_COPIES; i++) {
    const hd_ptx_stmt *st = &c->f->stmts[i];
    if (st->kind == HD_S_LABEL ||
        (st->kind == HD_S_INST && j->m->forms[st->form].flags & (HD_OPF_LEAVES | HD_OPF_CALLS)))
      return;
    if (i < from || st->kind != HD_S_INST || !is_copy(j, st)) continue;
    const hd_ptx_opnd *o = &j->m->opnds[st->first_opnd];
    if (!find(c, o[0].sym)) c->list[c->n++] = (copy){.to = o[0].sym, .from = o[1].sym, .stmt = i};
  }
}

/* An instruction may write any register that its first operand names. */
static void note_use(copies *c, const hd_ptx_leaf *leaf, uint32_t stmt) {
  copy *found = find(c, leaf->sym);
  if (!found) return;
  if (leaf->operand == 0 && leaf->opnd->kind != HD_O_ADDR) found->writes++;
  if (stmt < found->stmt) found->read_above = true;
}

/* Keep those that can go. */
static void sift(copies *c, uint32_t begin) {
  unsigned kept = 0;
  each_operand(c, begin, note_use);
  for (unsigned k = 0; k < c->n; k++)
    if (c->list[k].writes == 1 && !c->list[k].read_above) c->list[kept++] = c->list[k];
  c->n = kept;
}

/* ---- Dropping them ------------------------------------------------------------------------ */

static void read_original(copies *c, const hd_ptx_leaf *leaf, uint32_t stmt) {
  copy *found = find(c, leaf->sym);
  if (found && stmt != found->stmt) c->m->opnds[leaf->index].sym = found->from;
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
  uint32_t n = 0, k = 0; /* the list is in the order of statements */
  for (uint32_t i = 0; i < c.f->n_stmts; i++)
    if (k < c.n && c.list[k].stmt == i)
      k++;
    else
      stmts[n++] = c.f->stmts[i];
  hd_status st = hd_ptx_set_body(j->m, j->func, stmts, n, d);
  free(stmts);
  return st;
}
