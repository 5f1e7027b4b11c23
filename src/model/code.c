#include "model/code.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/ptx_facts.h"

/* ---- Costs of operations ----------------------------------------------------- */

typedef enum type_class { ANY, INT, INT64, FLT, FLT64, PRD } type_class;

typedef struct cost_row {
  hd_ptx_op op;
  type_class type;
  model_unit unit;
  uint16_t n;
} cost_row;

static const cost_row costs[] = {
#define UNITS(op, type, unit, n) {HD_OP_##op, type, unit, n},
#include "model/units.def"
#undef UNITS
};

enum {
  /* Instructions that refine an approximation to the nearest float, as the rates of these operations on an
     H100 say. */
  NEWTON_STEPS = 8,
  DIVISION_STEPS = 15,
  ROOT_STEPS = 11,
  MMA_F16_BITS = 16,
  MOST_UNROLLED = 48, /* PTX instructions of a loop's body that ptxas still unrolls */
};

/* The type that an operation works on: the widest of those that its form names. */
static hd_ptx_type type_of(const hd_ptx_form *f) {
  hd_ptx_type widest = {0};
  for (unsigned i = 0; i < f->n_mods; i++) {
    hd_ptx_type t = hd_ptx_type_of(f->mods[i]);
    if (t.bits > widest.bits) widest = t;
  }
  return widest;
}

static bool type_fits(type_class c, hd_ptx_type t) {
  bool real = t.number == HD_NUM_FLOAT;
  switch (c) {
  case ANY: return true;
  case INT: return !real;
  case INT64: return !real && t.bits == 64;
  case FLT: return real;
  case FLT64: return real && t.bits == 64 && t.elements == 1;
  case PRD: return t.number == HD_NUM_PREDICATE;
  }
  return false;
}

/* A conversion between floats and integers, or from or to 64 bits, takes the slow pipeline. */
static void cost_of_cvt(const hd_ptx_form *f, model_inst *in) {
  hd_ptx_type to = {0}, from = {0};
  for (unsigned i = 0; i < f->n_mods; i++) {
    hd_ptx_type t = hd_ptx_type_of(f->mods[i]);
    if (!t.bits) continue;
    if (!to.bits)
      to = t;
    else
      from = t;
  }
  bool real_to = to.number == HD_NUM_FLOAT, real_from = from.number == HD_NUM_FLOAT;
  in->n = 1;
  in->unit = UNIT_ALU;
  bool small = real_to && to.bits == 32 && !real_from && from.bits <= 32; /* integers to floats */
  if ((real_to != real_from && !small) || (real_to && (to.bits == 64 || from.bits == 64))) in->unit = UNIT_XU;
  /* A register's upper half is zero or not looked at. */
  if (!real_to && !real_from && to.bits <= from.bits && to.bits >= 32) in->n = 0;
}

/* m16n8k16 -> 2048 */
static uint32_t multiply_adds(const hd_ptx_module *m, const hd_ptx_form *f) {
  for (unsigned i = 0; i < f->n_mods; i++) {
    const char *s = hd_ptx_mod_text(m, f->mods[i]);
    uint32_t size[3] = {0};
    unsigned k = 0;
    if (*s != 'm') continue;
    for (; *s && k <= 3; s++) {
      if (*s == "mnk"[k < 3 ? k : 2] && (s[1] >= '0' && s[1] <= '9')) {
        k++;
      } else if (*s >= '0' && *s <= '9' && k) {
        size[k - 1] = size[k - 1] * 10 + (uint32_t)(*s - '0');
        if (size[k - 1] > 1024) return 0;
      } else {
        break;
      }
    }
    if (k == 3 && !*s && size[2]) return size[0] * size[1] * size[2];
  }
  return 0;
}

static void cost_of_product(const hd_ptx_module *m, const hd_ptx_form *f, model_inst *in) {
  uint32_t work = multiply_adds(m, f);
  uint32_t bits = 0;
  for (unsigned i = 0; i < f->n_mods; i++) { /* of A and B: the narrowest type but those of accumulators */
    hd_ptx_type t = hd_ptx_type_of(f->mods[i]);
    uint32_t element = t.elements ? t.bits / t.elements : 0;
    if (element && (!bits || element < bits)) bits = element;
  }
  if (!bits) bits = MMA_F16_BITS;
  in->unit = f->op == HD_OP_MMA || f->op == HD_OP_WMMA ? UNIT_MMA : UNIT_TENSOR;
  in->n = 1;
  in->work = work ? (uint32_t)((uint64_t)work * bits / MMA_F16_BITS) : 1;
}

static void cost_of(const hd_ptx_module *m, const hd_ptx_form *f, model_inst *in) {
  in->unit = UNIT_ALU;
  in->n = 1;
  if (f->op == HD_OP_CVT) {
    cost_of_cvt(f, in);
    return;
  }
  if (f->op == HD_OP_MMA || f->op == HD_OP_WGMMA || f->op == HD_OP_WMMA || f->op == HD_OP_TCGEN05) {
    if (hd_ptx_form_has(f, HD_M_MMA) || hd_ptx_form_has(f, HD_M_MMA_ASYNC) || f->op == HD_OP_MMA)
      cost_of_product(m, f, in);
    return;
  }
  hd_ptx_type t = type_of(f);
  bool wide = hd_ptx_form_has(f, HD_M_WIDE); /* 32 bits to 64: one instruction */
  for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
    if (costs[i].op != f->op || !type_fits(costs[i].type, t)) continue;
    if (wide && costs[i].type == INT64) continue;
    in->unit = (uint8_t)costs[i].unit;
    in->n = costs[i].n;
    break;
  }
  bool refined = (f->op == HD_OP_DIV || f->op == HD_OP_RCP || f->op == HD_OP_SQRT) &&
                 t.number == HD_NUM_FLOAT && t.bits == 32 && !hd_ptx_form_has(f, HD_M_APPROX);
  if (refined)
    in->refined = hd_ptx_form_has(f, HD_M_FULL) ? NEWTON_STEPS / 2
                  : f->op == HD_OP_DIV          ? DIVISION_STEPS
                  : f->op == HD_OP_SQRT         ? ROOT_STEPS
                                                : NEWTON_STEPS;
  if (wide && f->op == HD_OP_MUL) in->pair = PAIR_PRODUCT;
  if (f->op == HD_OP_ADD && t.bits == 64 && t.number != HD_NUM_FLOAT) in->pair = PAIR_SUM;
}

/* ---- Accesses to memory ------------------------------------------------------- */

static bool fits(unsigned kinds, unsigned bits) { return (kinds & bits) == bits; }

static void classify_access(const hd_ptx_form *f, const hd_ptx_access *a, model_inst *in) {
  unsigned global = hd_ptx_access_in(a, HD_IN_ANY_GLOBAL), shared = hd_ptx_access_in(a, HD_IN_ANY_SHARED),
           local = hd_ptx_access_in(a, HD_IN_LOCAL);
  if (!(global | shared | local)) { /* parameters and constants come with the instruction that uses them */
    in->n = 0;
    return;
  }
  in->unit = UNIT_LSU;
  in->n = 1;
  in->unordered = a->noncoherent;
  if (a->async && a->kinds & HD_ACC_READ && global)
    in->cls = CLASS_COPY;
  else if (global && fits(global, HD_ACC_ATOMIC))
    in->cls = CLASS_ATOMIC;
  else if (global & HD_ACC_WRITE)
    in->cls = CLASS_STORE;
  else if (global & HD_ACC_READ)
    in->cls = CLASS_LOAD;
  else if (global)
    in->cls = CLASS_STORE; /* prefetches: no instruction waits */
  else if ((shared | local) & HD_ACC_WRITE)
    in->cls = CLASS_SHARED_STORE;
  else
    in->cls = CLASS_SHARED_LOAD;
}

static bool is_copy_wait(const hd_ptx_form *f) {
  return (f->op == HD_OP_CP && (hd_ptx_form_has(f, HD_M_WAIT_GROUP) || hd_ptx_form_has(f, HD_M_WAIT_ALL))) ||
         (f->op == HD_OP_MBARRIER &&
          (hd_ptx_form_has(f, HD_M_TRY_WAIT) || hd_ptx_form_has(f, HD_M_TEST_WAIT)));
}

static void classify(const hd_ptx_module *m, const hd_ptx_stmt *s, model_inst *in) {
  const hd_ptx_form *f = &m->forms[s->form];
  uint32_t flags = f->flags;
  cost_of(m, f, in);
  in->counts = f->op == HD_OP_ADD || f->op == HD_OP_SUB;
  in->compares = f->op == HD_OP_SETP;
  if (flags & (HD_OPF_LEAVES | HD_OPF_CALLS)) {
    in->cls = CLASS_CONTROL;
    if (f->op != HD_OP_CALL) in->unit = UNIT_BRANCH;
    return;
  }
  if (flags & (HD_OPF_CTA_WIDE | HD_OPF_CLUSTER_WIDE)) {
    in->cls = CLASS_BARRIER;
    in->unit = UNIT_BRANCH;
    return;
  }
  if (f->op == HD_OP_CP && hd_ptx_form_has(f, HD_M_COMMIT_GROUP)) {
    in->cls = CLASS_COPY_COMMIT;
    return;
  }
  if (is_copy_wait(f)) {
    in->cls = CLASS_COPY_WAIT;
    in->polls = f->op == HD_OP_MBARRIER;
    const hd_ptx_opnd *o = s->n_opnds ? &m->opnds[s->first_opnd] : NULL;
    if (o && f->op == HD_OP_CP && o->kind == HD_O_INT && o->imm > 0 && o->imm < UINT8_MAX)
      in->keep = (uint8_t)o->imm;
    return;
  }
  hd_ptx_access a = hd_ptx_access_of(f);
  if (f->op == HD_OP_WGMMA) return; /* reads shared memory by itself */
  if (a.kinds)
    classify_access(f, &a, in);
  else if (a.order != HD_ORDERED_NONE && a.scope >= HD_SCOPE_GPU)
    in->cls = CLASS_FENCE;
}

/* ---- Registers ---------------------------------------------------------------- */

typedef struct reg_list {
  const hd_ptx_module *m;
  HD_VEC(uint32_t) src;
  HD_VEC(uint32_t) dst;
  bool failed;
} reg_list;

static bool note_register(void *ctx, const hd_ptx_leaf *leaf) {
  reg_list *l = ctx;
  if (!leaf->sym || l->m->syms[leaf->sym].kind != HD_SYM_REG) return true;
  uint32_t reg = l->m->syms[leaf->sym].index;
  if (leaf->role & HD_ROLE_READ) l->failed |= !hd_vec_push(&l->src, reg);
  if (leaf->role & HD_ROLE_WRITTEN) l->failed |= !hd_vec_push(&l->dst, reg);
  return !l->failed;
}

/* Statement numbers of labels that branches name are leaders. */
static bool note_label(void *ctx, const hd_ptx_leaf *leaf) {
  reg_list *l = ctx;
  if (leaf->role & HD_ROLE_LABEL && leaf->sym && l->m->syms[leaf->sym].kind == HD_SYM_LABEL)
    l->failed |= !hd_vec_push(&l->dst, l->m->syms[leaf->sym].index);
  return !l->failed;
}

/* Products that one sum alone uses come with it. */
static bool join_pairs(model_func *f) {
  uint32_t *uses = calloc(f->n_regs + 1u, sizeof *uses);
  bool *product = calloc(f->n_regs + 1u, sizeof *product);
  bool ok = uses && product;
  for (uint32_t i = 0; ok && i < f->n; i++) {
    const model_inst *in = &f->insts[i];
    for (uint32_t k = 0; k < in->n_src; k++) uses[in->regs[k]]++;
    for (uint32_t k = in->n_src; k < in->n_src + in->n_dst; k++)
      product[in->regs[k]] = in->pair == PAIR_PRODUCT;
  }
  for (uint32_t i = 0; ok && i < f->n; i++) {
    model_inst *in = &f->insts[i];
    for (uint32_t k = 0; in->pair == PAIR_SUM && k < in->n_src; k++)
      if (product[in->regs[k]] && uses[in->regs[k]] == 1) in->n = 0;
  }
  free(uses);
  free(product);
  return ok;
}

/* ---- Loops ---------------------------------------------------------------------- */

static bool writes(const model_inst *in, uint32_t reg) {
  for (uint32_t k = in->n_src; k < in->n_src + in->n_dst; k++)
    if (in->regs[k] == reg) return true;
  return false;
}

/* The instructions from `first` to `last` that write a register; *one: the last of them. */
static uint32_t writers(const model_func *f, uint32_t first, uint32_t last, uint32_t reg,
                        const model_inst **one) {
  uint32_t n = 0;
  for (uint32_t i = first; i <= last; i++) {
    if (!writes(&f->insts[i], reg)) continue;
    *one = &f->insts[i];
    n++;
  }
  return n;
}

/* Does the loop's branch depend on a counter, which a constant is added to, and on nothing else that changes?
 */
static bool is_counted(const model_func *f, uint32_t first, uint32_t last) {
  const model_inst *branch = &f->insts[last];
  const model_inst *set = NULL, *step = NULL;
  if (!branch->n_src || writers(f, first, last, branch->regs[0], &set) != 1 || !set->compares) return false;
  for (uint32_t k = 0; k < set->n_src; k++) {
    uint32_t n = writers(f, first, last, set->regs[k], &step);
    if (n > 1 || (n && (!step->counts || step->n_src != 1))) return false;
  }
  return true;
}

/* ptxas unrolls counted loops of one block, unless a pragma forbids it. */
static void find_loop(const hd_ptx_func *func, model_func *f, uint32_t last, uint32_t target) {
  model_inst *branch = &f->insts[last];
  uint32_t first = last;
  for (uint32_t s = target; s < branch->stmt; s++)
    if (func->stmts[s].kind == HD_S_PRAGMA) return;
  while (first && f->insts[first - 1].stmt >= target) first--;
  if (last - first >= MOST_UNROLLED || f->insts[first].stmt < target) return;
  for (uint32_t i = first; i <= last; i++) {
    const model_inst *in = &f->insts[i];
    bool plain = in->cls == CLASS_PLAIN || in->cls == CLASS_LOAD || in->cls == CLASS_STORE ||
                 in->cls == CLASS_SHARED_LOAD || in->cls == CLASS_SHARED_STORE;
    if ((i > first && in->leader) || (i < last && !plain)) return;
  }
  if (is_counted(f, first, last)) branch->loop = last - first + 1;
}

static bool find_loops(const hd_ptx_module *m, const hd_ptx_func *func, reg_list *l, model_func *f) {
  for (uint32_t i = 0; i < f->n; i++) {
    if (f->insts[i].cls != CLASS_CONTROL || f->insts[i].unit != UNIT_BRANCH) continue;
    l->dst.n = 0;
    if (!hd_ptx_visit(m, &func->stmts[f->insts[i].stmt], note_label, l) && l->failed) return false;
    if (l->dst.n == 1 && l->dst.data[0] <= f->insts[i].stmt) find_loop(func, f, i, l->dst.data[0]);
  }
  return true;
}

static bool make_func(const hd_ptx_module *m, const hd_ptx_func *func, reg_list *l, model_code *c,
                      model_func *out) {
  uint8_t *leads = HD_NEW_N(&c->arena, func->n_stmts + 1u, uint8_t);
  model_inst *insts = HD_NEW_N(&c->arena, func->n_stmts + 1u, model_inst);
  if (!leads || !insts) return false;
  l->dst.n = 0;
  for (uint32_t i = 0; i < func->n_stmts; i++)
    if (!hd_ptx_visit(m, &func->stmts[i], note_label, l) && l->failed) return false;
  for (size_t i = 0; i < l->dst.n; i++)
    if (l->dst.data[i] < func->n_stmts) leads[l->dst.data[i]] = 1;
  *out = (model_func){.insts = insts, .n_regs = func->n_regs};
  bool leader = true;
  for (uint32_t i = 0; i < func->n_stmts; i++) {
    const hd_ptx_stmt *s = &func->stmts[i];
    leader |= leads[i] != 0;
    if (s->kind != HD_S_INST) continue;
    model_inst *in = &insts[out->n++];
    in->stmt = i;
    in->leader = leader;
    leader = false;
    classify(m, s, in);
    l->src.n = l->dst.n = 0;
    if (!hd_ptx_visit(m, s, note_register, l) && l->failed) return false;
    in->n_src = (uint32_t)l->src.n;
    in->n_dst = (uint32_t)l->dst.n;
    uint32_t *regs = hd_arena_alloc(&c->arena, (l->src.n + l->dst.n + 1) * sizeof *regs, sizeof *regs);
    if (!regs) return false;
    if (l->src.n) memcpy(regs, l->src.data, l->src.n * sizeof *regs);
    if (l->dst.n) memcpy(regs + l->src.n, l->dst.data, l->dst.n * sizeof *regs);
    in->regs = regs;
  }
  insts[out->n] = (model_inst){.stmt = func->n_stmts, .cls = CLASS_CONTROL, .leader = leader};
  return join_pairs(out) && find_loops(m, func, l, out);
}

hd_status model_code_make(const hd_ptx_module *m, model_code *out, hd_diag *d) {
  *out = (model_code){0};
  hd_arena_init(&out->arena);
  reg_list l = {.m = m};
  out->funcs = HD_NEW_N(&out->arena, m->n_funcs + 1u, model_func);
  bool ok = out->funcs != NULL;
  out->n_funcs = m->n_funcs;
  for (uint32_t i = 0; ok && i < m->n_funcs; i++)
    if (m->funcs[i].has_body) ok = make_func(m, &m->funcs[i], &l, out, &out->funcs[i]);
  hd_vec_free(&l.src);
  hd_vec_free(&l.dst);
  if (ok) return HD_OK;
  model_code_free(out);
  return hd_nomem(d);
}

void model_code_free(model_code *c) { hd_arena_free(&c->arena); }
