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
  /* Of a division of 32-bit integers, beside the reciprocal and two conversions: the others are sums,
     comparisons and logic, and products. */
  DIVISION_ALU = 10,
  DIVISION_IMAD = 6,
  MMA_F16_BITS = 16,
  WARPS_OF_A_GROUP = 4, /* PTX ISA 9.0, 9.7.15.1: a warpgroup */
  MOST_UNROLLED = 48,   /* PTX instructions of a loop's body that ptxas still unrolls */
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
  if (f->op == HD_OP_WGMMA) work /= WARPS_OF_A_GROUP; /* they make the product together, a quarter each */
  in->work = work ? (uint32_t)((uint64_t)work * bits / MMA_F16_BITS) : 1;
}

static void cost_of(const hd_ptx_module *m, const hd_ptx_form *f, model_inst *in) {
  in->unit = UNIT_ALU;
  in->n = 1;
  if (f->op == HD_OP_CVT) {
    cost_of_cvt(f, in);
    return;
  }
  if (f->flags & HD_OPF_MATRICES) {
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
  if (in->unit == UNIT_XU && (f->op == HD_OP_DIV || f->op == HD_OP_REM) && t.number != HD_NUM_FLOAT)
    in->alu = DIVISION_ALU, in->imad = DIVISION_IMAD;
  if (wide && f->op == HD_OP_MUL) in->pair = PAIR_PRODUCT;
  if (f->op == HD_OP_ADD && t.bits == 64 && t.number != HD_NUM_FLOAT) in->pair = PAIR_SUM;
}

/* ---- Accesses to memory ------------------------------------------------------- */

static bool fits(unsigned kinds, unsigned bits) { return (kinds & bits) == bits; }

/* Is the address in a register? */
static bool is_indexed(const hd_ptx_module *m, const hd_ptx_stmt *s) {
  for (uint32_t i = 0; i < s->n_opnds; i++) {
    const hd_ptx_opnd *o = &m->opnds[s->first_opnd + i];
    if (o->kind == HD_O_ADDR) return o->sym && m->syms[o->sym].kind == HD_SYM_REG;
  }
  return false;
}

static void classify_access(const hd_ptx_form *f, const hd_ptx_access *a, bool indexed, model_inst *in) {
  unsigned global = hd_ptx_access_in(a, HD_IN_ANY_GLOBAL), shared = hd_ptx_access_in(a, HD_IN_ANY_SHARED),
           local = hd_ptx_access_in(a, HD_IN_LOCAL);
  if (!(global | shared | local)) { /* parameters and constants come with the instruction that uses them, */
    in->n = 0;
    if (!indexed || !hd_ptx_access_in(a, HD_IN_CONST)) return;
    in->n = 1; /* but for those by index */
    in->unit = UNIT_CONST;
    in->cls = CLASS_SHARED_LOAD;
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
    in->cls = CLASS_FETCH;
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

/* ptxas (CUDA 13, sm_80, sm_90) writes MEMBAR.ALL.GPU before whatever other CTAs may see a release by, those
 * of a cluster too. */
static bool releases(const hd_ptx_form *f, const hd_ptx_access *a) {
  if (f->flags & HD_OPF_CLUSTER_WIDE)
    return hd_ptx_form_has(f, HD_M_ARRIVE) && !hd_ptx_form_has(f, HD_M_RELAXED);
  return a->scope >= HD_SCOPE_CLUSTER &&
         (a->order == HD_ORDERED_RELEASE || a->order == HD_ORDERED_ACQ_REL || a->order == HD_ORDERED_SC);
}

/* A turn of a loop that waits by the clock takes 34 cycles on an H100
 * (bench/results/H100-2026-11-24/waits.txt), of which its other instructions take about 14. */
enum { CLOCK_LATE = 20 };

static bool looks_at_clock(const hd_ptx_module *m, const hd_ptx_stmt *s) {
  if (m->forms[s->form].op != HD_OP_MOV || s->n_opnds != 2) return false;
  const hd_ptx_opnd *from = &m->opnds[s->first_opnd + 1];
  return from->kind == HD_O_SREG && hd_ptx_sreg_clock(m->syms[from->sym].index) == HD_CLOCK_SM;
}

static void classify(const hd_ptx_module *m, const hd_ptx_stmt *s, model_inst *in) {
  const hd_ptx_form *f = &m->forms[s->form];
  uint32_t flags = f->flags;
  cost_of(m, f, in);
  in->expects = f->op == HD_OP_MBARRIER && hd_ptx_form_has(f, HD_M_EXPECT_TX);
  in->counts = hd_ptx_adds_two(hd_ptx_op_result(f->op));
  in->compares = f->op == HD_OP_SETP;
  if (looks_at_clock(m, s)) in->n = 1, in->late = CLOCK_LATE;
  const hd_ptx_access a = hd_ptx_access_of(f);
  in->releases = releases(f, &a);
  if (flags & (HD_OPF_LEAVES | HD_OPF_CALLS)) {
    in->cls = CLASS_CONTROL;
    if (!(flags & HD_OPF_CALLS)) in->unit = UNIT_BRANCH;
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
  if (f->op == HD_OP_WGMMA) return; /* reads shared memory by itself */
  if (a.kinds)
    classify_access(f, &a, is_indexed(m, s), in);
  else if (in->releases)
    in->cls = CLASS_FENCE;
}

/* ---- Registers ---------------------------------------------------------------- */

typedef struct reg_list {
  const hd_ptx_module *m;
  HD_VEC(uint32_t) src;
  HD_VEC(uint32_t) dst;
  uint8_t *words; /* the function's */
  bool failed;
} reg_list;

static bool note_register(void *ctx, const hd_ptx_leaf *leaf) {
  reg_list *l = ctx;
  if (!leaf->sym || l->m->syms[leaf->sym].kind != HD_SYM_REG) return true;
  const hd_ptx_sym *sym = &l->m->syms[leaf->sym];
  uint32_t reg = sym->index;
  l->words[reg] = (uint8_t)((hd_ptx_type_size(sym->type) + 3) / 4);
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

/* ---- Loads side by side -------------------------------------------------------------- */

static bool writes(const model_inst *in, uint32_t reg) {
  for (uint32_t k = in->n_src; k < in->n_src + in->n_dst; k++)
    if (in->regs[k] == reg) return true;
  return false;
}

/* A load of one 32-bit word at a constant distance from a register. */
typedef struct word_load {
  uint32_t inst, base, type; /* its form */
  int64_t at;
} word_load;

enum { MOST_LOADS = 64 }; /* of a block that are looked at */

static bool is_word_load(const hd_ptx_module *m, const hd_ptx_stmt *s, const model_inst *in, word_load *out) {
  const hd_ptx_form *f = &m->forms[s->form];
  if (in->cls != CLASS_SHARED_LOAD || in->n != 1 || f->op != HD_OP_LD || in->n_dst != 1 || in->n_src != 1 ||
      type_of(f).bits != 32 || type_of(f).elements != 1 || hd_ptx_form_has(f, HD_M_VOLATILE))
    return false;
  for (uint32_t i = 0; i < s->n_opnds; i++) {
    const hd_ptx_opnd *o = &m->opnds[s->first_opnd + i];
    if (o->kind != HD_O_ADDR || !o->sym || m->syms[o->sym].kind != HD_SYM_REG) continue;
    *out = (word_load){.base = in->regs[0], .type = s->form, .at = (int64_t)o->imm};
    return true;
  }
  return false;
}

/* ptxas makes one load of those of `words` words side by side: of shared memory up to four, of constants two.
 */
static void join_group(model_func *f, word_load *loads, uint32_t n, uint32_t first, uint32_t words) {
  uint32_t of[4] = {first}, found = 1;
  if (loads[first].at % (4 * words) || f->insts[loads[first].inst].words) return;
  for (uint32_t k = 0; k < n; k++) {
    const word_load *l = &loads[k];
    const int64_t word = (l->at - loads[first].at) / 4;
    if (l->base != loads[first].base || l->type != loads[first].type || l->at % 4 || word < 1 ||
        word >= (int64_t)words || l->at < loads[first].at || f->insts[l->inst].words)
      continue;
    if (found == words) return;
    of[found++] = k;
  }
  if (found < words) return;
  uint32_t least = of[0];
  for (uint32_t i = 1; i < words; i++)
    if (loads[of[i]].inst < loads[least].inst) least = of[i];
  for (uint32_t i = 0; i < words; i++) {
    model_inst *in = &f->insts[loads[of[i]].inst];
    in->words = (uint8_t)words;
    if (of[i] != least) in->n = 0;
  }
}

static void join_loads(model_func *f, word_load *loads, uint32_t n) {
  for (uint32_t words = 4; words >= 2; words /= 2)
    for (uint32_t i = 0; i < n; i++)
      if (words == 2 || f->insts[loads[i].inst].unit == UNIT_LSU) join_group(f, loads, n, i, words);
}

/* Runs of loads, between which nothing stores to shared memory, meets, or writes an address. */
static void find_wide_loads(const hd_ptx_module *m, const hd_ptx_func *func, model_func *f) {
  word_load loads[MOST_LOADS];
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->n; i++) {
    const model_inst *in = &f->insts[i];
    bool ends = in->leader || n == MOST_LOADS ||
                (in->cls != CLASS_PLAIN && in->cls != CLASS_LOAD && in->cls != CLASS_SHARED_LOAD);
    for (uint32_t k = 0; !ends && k < n; k++) ends = writes(in, loads[k].base);
    if (ends) {
      join_loads(f, loads, n);
      n = 0;
    }
    if (is_word_load(m, &func->stmts[in->stmt], in, &loads[n])) loads[n++].inst = i;
  }
  join_loads(f, loads, n);
}

/* ---- Branches ------------------------------------------------------------------- */

/* May ptxas move other instructions across it within a block? */
static bool is_straight(const model_inst *in) {
  switch ((model_class)in->cls) {
  case CLASS_PLAIN:
  case CLASS_LOAD:
  case CLASS_STORE:
  case CLASS_FETCH:
  case CLASS_SHARED_LOAD:
  case CLASS_SHARED_STORE: return true;
  default: return false;
  }
}

/* Branches to the instruction: several labels may stand before it. */
static uint32_t branches_to(const model_func *f, uint32_t inst, const uint8_t *branches) {
  uint32_t come = 0;
  for (uint32_t s = inst ? f->insts[inst - 1].stmt + 1 : 0; s <= f->insts[inst].stmt; s++)
    come += branches[s];
  return come;
}

/* A conditional branch forward over straight code alone, which ptxas may make predicated instructions of. */
static void find_skip(model_func *f, uint32_t at, uint32_t target, const uint8_t *branches) {
  model_inst *branch = &f->insts[at];
  uint32_t to = at + 1;
  for (; to < f->n && f->insts[to].stmt < target; to++)
    if (!is_straight(&f->insts[to]) || f->insts[to].leader || to - at >= UINT8_MAX) return;
  if (!branch->n_src || to == at + 1 || branches_to(f, to, branches) != 1) return;
  branch->skips = f->insts[to].skipped = (uint8_t)(to - at - 1);
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
static void find_loop(const hd_ptx_func *func, model_func *f, uint32_t last, uint32_t target,
                      const uint8_t *branches) {
  model_inst *branch = &f->insts[last];
  uint32_t first = last;
  for (uint32_t s = target; s < branch->stmt; s++)
    if (func->stmts[s].kind == HD_S_PRAGMA) return;
  while (first && f->insts[first - 1].stmt >= target) first--;
  if (last - first >= MOST_UNROLLED || f->insts[first].stmt < target) return;
  for (uint32_t i = first; i <= last; i++) {
    const model_inst *in = &f->insts[i];
    if ((i > first && in->leader) || (i < last && !is_straight(in))) return;
  }
  branch->joins = branches_to(f, first, branches) > 1;
  if (is_counted(f, first, last)) branch->loop = last - first + 1;
}

static bool find_branches(const hd_ptx_module *m, const hd_ptx_func *func, const uint8_t *branches,
                          reg_list *l, model_func *f) {
  for (uint32_t i = 0; i < f->n; i++) {
    if (f->insts[i].cls != CLASS_CONTROL || f->insts[i].unit != UNIT_BRANCH) continue;
    l->dst.n = 0;
    if (!hd_ptx_visit(m, &func->stmts[f->insts[i].stmt], note_label, l) && l->failed) return false;
    if (l->dst.n != 1) continue;
    if (l->dst.data[0] <= f->insts[i].stmt)
      find_loop(func, f, i, l->dst.data[0], branches);
    else
      find_skip(f, i, l->dst.data[0], branches);
  }
  return true;
}

static bool make_func(const hd_ptx_module *m, const hd_ptx_func *func, reg_list *l, model_code *c,
                      model_func *out) {
  uint8_t *branches =
      HD_NEW_N(&c->arena, func->n_stmts + 1u, uint8_t); /* to each statement; two or more are 2 */
  model_inst *insts = HD_NEW_N(&c->arena, func->n_stmts + 1u, model_inst);
  l->words = HD_NEW_N(&c->arena, func->n_regs + 1u, uint8_t);
  if (!branches || !insts || !l->words) return false;
  l->dst.n = 0;
  for (uint32_t i = 0; i < func->n_stmts; i++)
    if (!hd_ptx_visit(m, &func->stmts[i], note_label, l) && l->failed) return false;
  for (size_t i = 0; i < l->dst.n; i++)
    if (l->dst.data[i] < func->n_stmts) branches[l->dst.data[i]] += branches[l->dst.data[i]] < 2;
  *out = (model_func){.insts = insts, .n_regs = func->n_regs, .words = l->words};
  bool leader = true;
  for (uint32_t i = 0; i < func->n_stmts; i++) {
    const hd_ptx_stmt *s = &func->stmts[i];
    leader |= branches[i] != 0;
    if (s->kind != HD_S_INST) continue;
    model_inst *in = &insts[out->n++];
    in->stmt = i;
    in->leader = leader;
    leader = false;
    classify(m, s, in);
    c->n_copy_barriers +=
        m->forms[s->form].op == HD_OP_MBARRIER && hd_ptx_form_has(&m->forms[s->form], HD_M_INIT);
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
  find_wide_loads(m, func, out);
  return join_pairs(out) && find_branches(m, func, branches, l, out);
}

hd_status model_code_make(const hd_ptx_module *m, model_code *out, hd_diag *d) {
  *out = (model_code){0};
  hd_arena_init(&out->arena);
  reg_list l = {.m = m};
  out->funcs = HD_NEW_N(&out->arena, m->n_funcs + 1u, model_func);
  bool ok = out->funcs != NULL;
  out->n_funcs = m->n_funcs;
  hd_status st = HD_OK;
  for (uint32_t i = 0; ok && st == HD_OK && i < m->n_funcs; i++) {
    if (!m->funcs[i].has_body) continue;
    ok = make_func(m, &m->funcs[i], &l, out, &out->funcs[i]);
    if (ok) st = model_code_pressure(m, i, &out->funcs[i], d);
  }
  hd_vec_free(&l.src);
  hd_vec_free(&l.dst);
  if (ok && st == HD_OK) return HD_OK;
  model_code_free(out);
  return st != HD_OK ? st : hd_nomem(d);
}

void model_code_free(model_code *c) { hd_arena_free(&c->arena); }
