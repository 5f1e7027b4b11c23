/* What an instruction writes: data, or numbers of the text.
 *
 * A number is one of the text if nothing but numbers of the text go into it, whatever instructions make it.
 * Its value is asked for only where the text gives it as it is; any other may be every number. */
#include <string.h>

#include "rewrite/waits/held.h"

enum { MOST_REGS = 32, MOST_PARTS = 4 };

unsigned held_written_operand(const hd_ptx_form *f) {
  return f->op == HD_OP_ST                                      ? 1
         : f->op == HD_OP_ATOM && hd_ptx_form_has(f, HD_M_EXCH) ? 2
         : f->op == HD_OP_ATOM && hd_ptx_form_has(f, HD_M_CAS)  ? 3
                                                                : 0;
}

/* ---- Numbers that the text gives ------------------------------------------------------------------ */

static bool is_number(const hd_ptx_opnd *o) {
  return o->kind == HD_O_INT || o->kind == HD_O_F32 || o->kind == HD_O_F64;
}

/* The bits of a number, as a word of so many bytes holds them. */
static int64_t bits_of(const hd_ptx_opnd *o, unsigned bytes) {
  double real;
  float rounded;
  uint32_t narrow;
  if (o->kind != HD_O_F64 || bytes != sizeof narrow) return o->imm;
  memcpy(&real, &o->imm, sizeof real);
  rounded = (float)real;
  memcpy(&narrow, &rounded, sizeof narrow);
  return narrow;
}

/* The number that moves bring into an operand as it is; NULL. */
static const hd_ptx_opnd *given(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  for (unsigned n = 0; n < MOST_REGS && !is_number(o); n++) {
    const uint32_t reg = wait_register(w, inst, o);
    inst = reg == HD_NONE ? HD_NONE : wait_only_writer(w, reg);
    if (inst == HD_NONE || !wait_moves_whole(w, inst)) return NULL;
    o = &wait_operands(w, inst)[1];
  }
  return is_number(o) ? o : NULL;
}

/* ---- Numbers that are made of them ------------------------------------------------------------------ */

typedef struct sources {
  const wait_search *w;
  uint32_t regs[MOST_REGS], n; /* that the number depends on */
  bool data;
} sources;

static void add_register(void *ctx, uint32_t reg) {
  sources *s = ctx;
  for (uint32_t i = 0; i < s->n; i++)
    if (s->regs[i] == reg) return;
  /* Of very many registers it is not known whether data is among them. */
  if (s->n < MOST_REGS) s->regs[s->n++] = reg;
}

/* 0, whatever the registers are: x ^ x, x - x, x & 0, x * 0. */
static bool is_nothing(const wait_search *w, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  const hd_ptx_opnd *o = wait_operands(w, inst);
  int64_t number;
  if (hd_inst_stmt(&w->g, inst)->n_opnds != 3) return false;
  if (f->op == HD_OP_XOR || f->op == HD_OP_SUB)
    return o[1].kind == HD_O_REG && o[2].kind == HD_O_REG && o[1].sym == o[2].sym;
  if (f->op != HD_OP_AND && f->op != HD_OP_MUL) return false;
  for (unsigned k = 1; k <= 2; k++)
    if (wait_constant(w, inst, &o[k], &number) && !number) return true;
  return false;
}

static void add_sources(sources *s, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&s->w->g, inst);
  const hd_ptx_opnd *o = wait_operands(s->w, inst);
  const uint32_t n = hd_inst_stmt(&s->w->g, inst)->n_opnds;
  if (is_nothing(s->w, inst)) return;
  s->data = s->data || !(f->flags & HD_OPF_PURE);
  for (uint32_t k = 1; k < n; k++) {
    /* One of two numbers of the text is one. */
    if (f->op == HD_OP_SELP && k == 3) continue;
    const hd_ptx_opnd *kid = o[k].kind == HD_O_VEC ? &s->w->m->opnds[o[k].sym] : &o[k];
    for (uint32_t i = 0; i < (o[k].kind == HD_O_VEC ? o[k].n_kids : 1); i++) {
      if (kid[i].kind == HD_O_REG)
        add_register(s, hd_cfg_reg(&s->w->g, s->w->g.insts[inst].call, kid[i].sym));
      else
        s->data = s->data || !is_number(&kid[i]);
    }
  }
}

static bool is_of_the_text(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  sources s = {.w = w};
  if (o->kind != HD_O_REG) return is_number(o);
  add_register(&s, hd_cfg_reg(&w->g, w->g.insts[inst].call, o->sym));
  for (uint32_t i = 0; i < s.n && !s.data; i++) {
    const uint32_t *at = &w->writers.first[s.regs[i]];
    s.data = at[0] == at[1];
    for (uint32_t k = at[0]; k < at[1] && !s.data; k++) add_sources(&s, w->writers.insts[k]);
  }
  return !s.data;
}

/* ---- What is written -------------------------------------------------------------------------------- */

/* The parts that a register is packed of, whose size is that of the word. */
static const hd_ptx_opnd *parts_of(const wait_search *w, uint32_t *inst, const hd_ptx_opnd *o,
                                   unsigned bytes) {
  const uint32_t reg = wait_register(w, *inst, o), at = reg == HD_NONE ? HD_NONE : wait_only_writer(w, reg);
  if (at == HD_NONE || hd_inst_form(&w->g, at)->op != HD_OP_MOV || hd_inst_stmt(&w->g, at)->n_opnds != 2)
    return NULL;
  const hd_ptx_opnd *parts = &wait_operands(w, at)[1];
  if (parts->kind != HD_O_VEC || hd_ptx_type_of(w->m->syms[o->sym].type).bits != 8 * bytes) return NULL;
  *inst = at;
  return parts;
}

static unsigned written(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o, unsigned bytes,
                        unsigned word, int64_t value, unsigned depth) {
  const hd_ptx_opnd *parts = o->kind == HD_O_VEC ? o : parts_of(w, &inst, o, bytes);
  if (parts && parts->n_kids && depth < MOST_PARTS) {
    unsigned all = 0;
    for (uint32_t k = 0; k < parts->n_kids; k++)
      all |= written(w, inst, &w->m->opnds[parts->sym + k], bytes / parts->n_kids, word, value, depth + 1);
    return all;
  }
  const hd_ptx_opnd *number = given(w, inst, o);
  if (!number) return is_of_the_text(w, inst, o) ? HELD_NUMBER : HELD_DATA;
  /* A part of the word, or more than it, may be all that it lacks. */
  const bool alike = bytes && bytes == word && bytes <= sizeof value;
  return alike && wait_word(bits_of(number, bytes), bytes) != wait_word(value, bytes) ? HELD_OTHER
                                                                                      : HELD_NUMBER;
}

unsigned held_writes(wait_search *w, uint32_t inst, unsigned bytes, int64_t value) {
  const hd_ptx_stmt *s = hd_inst_stmt(&w->g, inst);
  const unsigned by = held_written_operand(&w->m->forms[s->form]);
  if (!by || by >= s->n_opnds) return HELD_DATA;
  return written(w, inst, &wait_operands(w, inst)[by], wait_access(w, inst)->bytes, bytes, value, 0);
}
