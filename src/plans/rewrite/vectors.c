/* mov.v4.u32 {a, b, c, d}, %ctaid: as four moves, each of one coordinate, which levers can replace. */
#include <stdlib.h>

#include "rewrite/rewrite_internal.h"

static bool reads_vector(const hd_ptx_module *m, const hd_ptx_stmt *s) {
  if (s->kind != HD_S_INST || m->forms[s->form].op != HD_OP_MOV || s->n_opnds != 2) return false;
  const hd_ptx_opnd *o = &m->opnds[s->first_opnd];
  return o[0].kind == HD_O_VEC && o[0].n_kids == 4 && o[1].kind == HD_O_SREG && !o[1].part &&
         hd_ptx_form_has(&m->forms[s->form], HD_M_V4) && hd_ptx_form_has(&m->forms[s->form], HD_M_U32);
}

typedef HD_VEC(hd_ptx_stmt) statements;

static hd_status split(hd_ptx_module *m, const hd_ptx_stmt *s, uint32_t form, statements *out, hd_diag *d) {
  static const hd_mod parts[] = {HD_M_X, HD_M_Y, HD_M_Z, HD_M_W};
  hd_status st = HD_OK;
  for (unsigned k = 0; st == HD_OK && k < 4; k++) {
    hd_ptx_stmt one = *s;
    hd_ptx_opnd o[2] = {m->opnds[m->opnds[s->first_opnd].sym + k], m->opnds[s->first_opnd + 1]};
    if (o[0].kind == HD_O_SINK) continue;
    o[1].part = parts[k];
    one.form = form;
    st = hd_ptx_add_operands(m, o, 2, &one.first_opnd, d);
    if (st == HD_OK && !hd_vec_push(out, one)) st = hd_nomem(d);
  }
  return st;
}

hd_status rewrite_split_vectors(hd_ptx_module *m, uint32_t func, hd_diag *d) {
  const hd_ptx_func *f = &m->funcs[func];
  statements out = {0};
  uint32_t form = 0, n = 0;
  for (uint32_t i = 0; i < f->n_stmts; i++) n += reads_vector(m, &f->stmts[i]);
  if (!n) return HD_OK;
  hd_status st = hd_ptx_add_form(m, "mov.u32", &form, d);
  for (uint32_t i = 0; st == HD_OK && i < f->n_stmts; i++) {
    if (reads_vector(m, &f->stmts[i]))
      st = split(m, &f->stmts[i], form, &out, d);
    else if (!hd_vec_push(&out, f->stmts[i]))
      st = hd_nomem(d);
  }
  if (st == HD_OK) st = hd_ptx_set_body(m, func, out.data, (uint32_t)out.n, d);
  hd_vec_free(&out);
  return st;
}
