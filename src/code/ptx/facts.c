/* Facts about operations, words and special registers: the tables' columns, and what modifiers change. */
#include "heddle/ptx_facts.h"

/* ---- Operations -------------------------------------------------------------------- */

typedef struct op_facts {
  uint8_t class, alike; /* hd_ptx_class, hd_ptx_alike */
  uint32_t flags;
} op_facts;

/* Of an unknown opcode, and of a known one with a word that is not. */
enum { UNKNOWN_FLAGS = HD_OPF_UNKNOWN | HD_OPF_RESULT | HD_OPF_READS_RESULT | HD_OPF_BRINGS_DATA };

static const op_facts ops[HD_OP_COUNT] = {
    [HD_OP_UNKNOWN] = {HD_OPC_UNKNOWN, HD_ALIKE_NOWHERE, UNKNOWN_FLAGS},
#define PTX_OP(id, text, class, alike, result, flags)                                                        \
  [HD_OP_##id] = {HD_OPC_##class, HD_ALIKE_##alike, flags},
#include "heddle/ptx_ops.def"
#undef PTX_OP
};

/* Forms with this word have these flags besides, or lack those. All rows that fit apply, in this order. */
typedef struct refinement {
  hd_ptx_op op;
  hd_mod with;
  uint32_t add, take;
} refinement;

static const refinement refinements[] = {
    {HD_OP_BAR, HD_M_RED, HD_OPF_RESULT | HD_OPF_BRINGS_DATA, 0},
    {HD_OP_BAR, HD_M_WARP, HD_OPF_WARP_WIDE, HD_OPF_CTA_WIDE},
    {HD_OP_BARRIER, HD_M_RED, HD_OPF_RESULT | HD_OPF_BRINGS_DATA, 0},
    {HD_OP_BARRIER, HD_M_CLUSTER, HD_OPF_CLUSTER_WIDE, HD_OPF_CTA_WIDE},
    {HD_OP_CLUSTERLAUNCHCONTROL, HD_M_TRY_CANCEL, 0, HD_OPF_RESULT},
    {HD_OP_CP, HD_M_MBARRIER, HD_OPF_LASTING, 0},
    {HD_OP_CP, HD_M_MBARRIER_COMPLETE_TX_BYTES, HD_OPF_LASTING, 0},
    {HD_OP_LD, HD_M_CONST, 0, HD_OPF_BRINGS_DATA},
    {HD_OP_LD, HD_M_PARAM, 0, HD_OPF_BRINGS_DATA},
    {HD_OP_LD, HD_M_PARAM_ENTRY, 0, HD_OPF_BRINGS_DATA},
    {HD_OP_LD, HD_M_PARAM_FUNC, 0, HD_OPF_BRINGS_DATA},
    {HD_OP_MBARRIER, HD_M_INIT, 0, HD_OPF_RESULT},
    {HD_OP_MBARRIER, HD_M_INVAL, 0, HD_OPF_RESULT},
    {HD_OP_MBARRIER, HD_M_EXPECT_TX, 0, HD_OPF_RESULT},
    {HD_OP_MBARRIER, HD_M_COMPLETE_TX, 0, HD_OPF_RESULT},
    {HD_OP_MBARRIER, HD_M_ARRIVE, HD_OPF_RESULT, 0}, /* .arrive.expect_tx, too */
    {HD_OP_MBARRIER, HD_M_ARRIVE_DROP, HD_OPF_RESULT, 0},
    {HD_OP_MULTIMEM, HD_M_ST, 0, HD_OPF_RESULT | HD_OPF_BRINGS_DATA},
    {HD_OP_MULTIMEM, HD_M_RED, 0, HD_OPF_RESULT | HD_OPF_BRINGS_DATA},
    {HD_OP_MULTIMEM, HD_M_CP, 0, HD_OPF_RESULT | HD_OPF_BRINGS_DATA},
    {HD_OP_TCGEN05, HD_M_DEALLOC, 0, HD_OPF_RESULT},
    /* One thread does these for all. */
    {HD_OP_TCGEN05, HD_M_MMA, HD_OPF_MATRICES, HD_OPF_WARP_WIDE},
    {HD_OP_TCGEN05, HD_M_CP, 0, HD_OPF_WARP_WIDE},
    {HD_OP_TCGEN05, HD_M_SHIFT, 0, HD_OPF_WARP_WIDE},
    {HD_OP_TCGEN05, HD_M_COMMIT, 0, HD_OPF_WARP_WIDE},
    {HD_OP_TENSORMAP, HD_M_CP_FENCEPROXY, HD_OPF_WARP_WIDE, 0},
    {HD_OP_WGMMA, HD_M_MMA_ASYNC, HD_OPF_READS_RESULT | HD_OPF_BRINGS_DATA | HD_OPF_MATRICES, 0},
    {HD_OP_WMMA, HD_M_MMA, HD_OPF_MATRICES, 0},
    {HD_OP_WMMA, HD_M_LOAD, HD_OPF_BRINGS_DATA, HD_OPF_SEES_LANES},
    {HD_OP_WMMA, HD_M_STORE, 0, HD_OPF_RESULT | HD_OPF_SEES_LANES},
};

hd_ptx_class hd_ptx_op_class(hd_ptx_op op) {
  return op < HD_OP_COUNT ? (hd_ptx_class)ops[op].class : HD_OPC_UNKNOWN;
}

hd_ptx_alike hd_ptx_alike_of(const hd_ptx_form *f) {
  return f->flags & HD_OPF_UNKNOWN || f->op >= HD_OP_COUNT ? HD_ALIKE_NOWHERE
                                                           : (hd_ptx_alike)ops[f->op].alike;
}

uint32_t hd_ptx_flags_of(const hd_ptx_form *f) {
  hd_ptx_op op = f->op < HD_OP_COUNT ? f->op : HD_OP_UNKNOWN;
  uint32_t flags = ops[op].flags;
  for (size_t i = 0; i < sizeof refinements / sizeof *refinements; i++) {
    const refinement *r = &refinements[i];
    if (r->op == op && hd_ptx_form_has(f, r->with)) flags = (flags | r->add) & ~r->take;
  }
  if (hd_ptx_form_has(f, HD_M_CC)) flags |= HD_OPF_WRITES_CARRY;
  if (hd_ptx_form_has(f, HD_M_MULTICAST_CLUSTER) || hd_ptx_form_has(f, HD_M_MULTICAST_CLUSTER_ALL) ||
      hd_ptx_form_has(f, HD_M_CTA_GROUP_2))
    flags |= HD_OPF_ACROSS_CTAS;
  for (unsigned i = 0; i < f->n_mods; i++)
    if (f->mods[i] >= HD_M_COUNT) flags |= UNKNOWN_FLAGS;
  if (ops[op].class == HD_OPC_COMPUTE &&
      !(flags & (HD_OPF_READS_CARRY | HD_OPF_WRITES_CARRY | HD_OPF_UNKNOWN)))
    flags |= HD_OPF_PURE;
  return flags;
}

/* ---- Words ---------------------------------------------------------------------------- */

typedef struct mod_facts {
  uint8_t kind; /* hd_mod_kind */
  uint16_t value;
  hd_ptx_type type;
} mod_facts;

static const mod_facts mods[HD_M_COUNT] = {
#define PTX_MOD(id, text) [HD_M_##id] = {HD_MK_PLAIN, 0, {0}},
#define PTX_MOD_OF(id, text, kind, value) [HD_M_##id] = {HD_MK_##kind, value, {0}},
#define PTX_TYPE(id, text, number, bits, elements, format)                                                   \
  [HD_M_##id] = {HD_MK_TYPE, 0, {HD_NUM_##number, HD_FMT_##format, elements, bits}},
#include "heddle/ptx_mods.def"
};

hd_mod_kind hd_ptx_mod_kind(hd_mod mod) {
  return mod < HD_M_COUNT ? (hd_mod_kind)mods[mod].kind : HD_MK_UNKNOWN;
}

unsigned hd_ptx_mod_value(hd_mod mod) { return mod < HD_M_COUNT ? mods[mod].value : 0; }

hd_ptx_type hd_ptx_type_of(hd_mod mod) { return mods[mod < HD_M_COUNT ? mod : HD_M_NONE].type; }

void hd_ptx_types_of(const hd_ptx_form *f, hd_ptx_type type[2]) {
  unsigned n = 0;
  type[0] = type[1] = (hd_ptx_type){0};
  for (unsigned k = 0; k < f->n_mods && n < 2; k++) {
    const hd_ptx_type t = hd_ptx_type_of(f->mods[k]);
    if (t.number != HD_NUM_NONE) type[n++] = t;
  }
}

bool hd_ptx_form_is_whole(const hd_ptx_form *f, unsigned least_bits) {
  bool typed = false;
  if (f->flags & HD_OPF_UNKNOWN) return false;
  for (unsigned k = 0; k < f->n_mods; k++) {
    if (f->mods[k] == HD_M_HI || f->mods[k] == HD_M_SAT || f->mods[k] == HD_M_CC) return false;
    if (hd_ptx_mod_kind(f->mods[k]) != HD_MK_TYPE) continue;
    const hd_ptx_type t = hd_ptx_type_of(f->mods[k]);
    typed = t.number == HD_NUM_UNSIGNED || t.number == HD_NUM_SIGNED || t.number == HD_NUM_BITS;
    if (!typed || t.elements != 1 || t.bits < least_bits) return false;
  }
  return typed;
}

/* barrier.red has its result in front and the predicate that is reduced behind. */
const hd_ptx_opnd *hd_ptx_barrier_count(const hd_ptx_module *m, const hd_ptx_stmt *s) {
  const bool reduces = hd_ptx_form_has(&m->forms[s->form], HD_M_RED);
  const uint32_t count = reduces ? 2 : 1;
  return s->n_opnds > count + reduces ? &m->opnds[s->first_opnd + count] : NULL;
}

typedef struct writes {
  hd_sym reg;
  const hd_ptx_stmt *at, *last;
  unsigned n;
} writes;

static bool count_write(void *ctx, const hd_ptx_leaf *leaf) {
  writes *w = ctx;
  if (leaf->sym != w->reg || !(leaf->role & HD_ROLE_WRITTEN)) return true;
  w->n++;
  w->last = w->at;
  return true;
}

/* The only instruction of the function around `s` that writes the register; NULL: there is none, or others.
 */
static const hd_ptx_stmt *only_write(const hd_ptx_module *m, const hd_ptx_stmt *s, hd_sym reg) {
  writes w = {.reg = reg};
  for (uint32_t k = 0; k < m->n_funcs; k++) {
    const hd_ptx_func *f = &m->funcs[k];
    const uintptr_t first = (uintptr_t)f->stmts,
                    at = (uintptr_t)s; /* pointers into two lists have no order */
    if (at < first || at >= first + f->n_stmts * sizeof *s) continue;
    for (w.at = f->stmts; w.at < f->stmts + f->n_stmts; w.at++)
      if (w.at->kind == HD_S_INST) hd_ptx_visit(m, w.at, count_write, &w);
  }
  return w.n == 1 ? w.last : NULL;
}

uint64_t hd_ptx_barrier_threads(const hd_ptx_module *m, const hd_ptx_stmt *s, const uint32_t block[3]) {
  const hd_ptx_opnd *count = hd_ptx_barrier_count(m, s);
  if (count && count->kind == HD_O_INT) return count->imm > 0 ? (uint64_t)count->imm : 0;
  if (!count || count->kind != HD_O_REG || count->part) return 0;
  const hd_ptx_stmt *at = only_write(m, s, count->sym);
  if (!at || at->guard || m->forms[at->form].op != HD_OP_MOV || at->n_opnds != 2) return 0;
  const hd_ptx_opnd *o = &m->opnds[at->first_opnd];
  if (o[0].kind != HD_O_REG || o[1].kind != HD_O_SREG || m->syms[o[1].sym].index != HD_SR_NTID) return 0;
  return o[1].part == HD_M_X ? block[0] : o[1].part == HD_M_Y ? block[1] : o[1].part == HD_M_Z ? block[2] : 0;
}

/* ---- Special registers ------------------------------------------------------------------ */

static const uint8_t sregs[HD_SR_COUNT] = {
#define PTX_SREG(id, text, kind) [HD_SR_##id] = HD_SRK_##kind,
#include "heddle/ptx_sregs.def"
#undef PTX_SREG
};

hd_sreg_kind hd_ptx_sreg_kind(uint32_t sreg) {
  return sreg < HD_SR_COUNT ? (hd_sreg_kind)sregs[sreg] : HD_SRK_UNKNOWN;
}

hd_sreg_clock hd_ptx_sreg_clock(uint32_t sreg) {
  switch (sreg) {
  case HD_SR_CLOCK:
  case HD_SR_CLOCK_HI:
  case HD_SR_CLOCK64: return HD_CLOCK_SM;
  case HD_SR_GLOBALTIMER:
  case HD_SR_GLOBALTIMER_LO:
  case HD_SR_GLOBALTIMER_HI: return HD_CLOCK_TIMER;
  default: return HD_CLOCK_NONE;
  }
}
