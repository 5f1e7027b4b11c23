/* emu/decode/hint.c: instructions that concern caches, registers or ordering alone: createpolicy, prefetch
 * and its kin, fences, setmaxnreg, griddepcontrol. Mistakes in them are refused all the same. */
#include "emu/decode/decode.h"

/* ---- createpolicy ------------------------------------------------------------------------- */

/* A policy's eviction priorities; emu_policy says how they stand in the value. */
static unsigned priority_of(hd_mod mod) {
  switch (mod) {
  case HD_M_L2_EVICT_FIRST: return EMU_POLICY_FIRST;
  case HD_M_L2_EVICT_LAST: return EMU_POLICY_LAST;
  case HD_M_L2_EVICT_NORMAL: return EMU_POLICY_NORMAL;
  case HD_M_L2_EVICT_UNCHANGED: return EMU_POLICY_UNCHANGED;
  default: return 0;
  }
}

enum { P_KIND = 0 }; /* emu_form.data: the modifier .fractional, .range or .cvt */

static void prepare_createpolicy(emu_decoder *d, emu_form *f) {
  unsigned priorities[2] = {0}, n = 0;
  bool ok = f->words.n_types == 1 && f->words.types[0] == HD_M_B64;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    if (mod == HD_M_FRACTIONAL || mod == HD_M_RANGE || mod == HD_M_CVT) {
      f->data[P_KIND] = mod;
    } else if (priority_of(mod)) {
      ok &= n < 2;
      if (n < 2) priorities[n++] = priority_of(mod);
    } else if (mod != HD_M_B64 && mod != HD_M_L2 && mod != HD_M_GLOBAL) {
      ok = false;
    }
  }
  const bool cvt = f->data[P_KIND] == HD_M_CVT;
  ok &= cvt == EMU_HAS(f, L2) && (f->data[P_KIND] == HD_M_RANGE || !EMU_HAS(f, GLOBAL));
  ok &= cvt ? n == 0 : n > 0 && f->data[P_KIND];
  /* PTX ISA: the second priority is .evict_first or .evict_unchanged. */
  ok &= priorities[1] != EMU_POLICY_LAST && priorities[1] != EMU_POLICY_NORMAL;
  f->proto.imm = (int64_t)(priorities[0] | priorities[1] << EMU_POLICY_SECOND |
                           (f->data[P_KIND] == HD_M_RANGE ? EMU_POLICY_RANGE : 0));
  if (ok)
    emu_use(d, f, cvt ? "mov.b64" : "createpolicy");
  else
    f->refused = emu_no_form;
}

static bool emit_createpolicy(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const hd_mod kind = (hd_mod)f->data[P_KIND];
  const bool range = kind == HD_M_RANGE, plain = kind == HD_M_FRACTIONAL && s->n_opnds == 1;
  const unsigned n = range ? 4 : plain ? 1 : 2;
  if (s->n_opnds != n) return emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, n);
  if (!emu_destination(fn, s, emu_operand(fn, s, 0), 64, false, &in->dst)) return false;
  if (kind == HD_M_CVT) return emu_source(fn, s, emu_operand(fn, s, 1), 64, &in->src[0]);
  emu_address at;
  if (plain)
    emu_ref(fn, &in->src[0], emu_constant(fn, num_b32(1), 32));
  else if (!emu_source(fn, s, emu_operand(fn, s, range ? 2 : 1), 32, &in->src[0]))
    return false;
  return !range || (emu_address_of(fn, s, emu_operand(fn, s, 1), HD_SPACE_GLOBAL, &at) &&
                    emu_source(fn, s, emu_operand(fn, s, 3), 32, &in->src[1]));
}
const emu_rule emu_rule_createpolicy = {prepare_createpolicy, emit_createpolicy};

/* ---- prefetch, applypriority, discard -------------------------------------------------------- */

/* The forms there are: words in any order, but for the space. */
typedef struct line_form {
  hd_ptx_op op;
  const char *level;   /* L1 or L2, an eviction priority of L2, or tensormap */
  hd_mod spaces[2];    /* allowed beside generic addresses */
  const char *handler; /* NULL: does nothing */
  uint8_t cache;
  bool only_space; /* generic addresses are not allowed */
  bool sized;      /* the operand 128 follows */
} line_form;

static const line_form line_forms[] = {
    {HD_OP_PREFETCH, "L1", {HD_M_GLOBAL, HD_M_LOCAL}, "prefetch", HD_CACHE_L1, false, false},
    {HD_OP_PREFETCH, "L2", {HD_M_GLOBAL, HD_M_LOCAL}, "prefetch", 0, false, false},
    {HD_OP_PREFETCH, "L2::evict_last", {HD_M_GLOBAL}, "prefetch", HD_CACHE_L2_LAST, true, false},
    {HD_OP_PREFETCH, "L2::evict_normal", {HD_M_GLOBAL}, "prefetch", 0, true, false},
    {HD_OP_PREFETCH, "tensormap", {HD_M_CONST, HD_M_PARAM}, NULL, 0, false, false},
    {HD_OP_PREFETCHU, "L1", {0}, "prefetch", HD_CACHE_L1, false, false},
    {HD_OP_APPLYPRIORITY, "L2::evict_normal", {HD_M_GLOBAL}, NULL, 0, false, true},
    {HD_OP_DISCARD, "L2", {HD_M_GLOBAL}, "discard", 0, false, true},
};
enum { L_SPACE = 0, L_SIZED = 1 }; /* emu_form.data */

static bool is_line_form(const emu_decoder *d, const emu_form *f, const line_form *l, hd_mod *space) {
  if (l->op != f->ptx->op) return false;
  bool level = false;
  *space = HD_M_NONE;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    if (!level && strcmp(hd_ptx_mod_text(d->m, mod), l->level) == 0)
      level = true;
    else if (!*space && (mod == l->spaces[0] || mod == l->spaces[1]))
      *space = mod;
    else
      return false;
  }
  return level && (*space || !l->only_space);
}

static void prepare_line(emu_decoder *d, emu_form *f) {
  for (unsigned k = 0; k < sizeof line_forms / sizeof line_forms[0]; k++) {
    const line_form *l = &line_forms[k];
    hd_mod space;
    if (!is_line_form(d, f, l, &space)) continue;
    f->data[L_SPACE] = space == HD_M_GLOBAL  ? HD_SPACE_GLOBAL
                       : space == HD_M_LOCAL ? HD_SPACE_LOCAL
                       : space == HD_M_CONST ? HD_SPACE_CONST
                       : space == HD_M_PARAM ? HD_SPACE_PARAM
                                             : EMU_GENERIC;
    f->data[L_SIZED] = l->sized;
    f->proto.mem.cache = l->cache;
    if (l->handler)
      emu_use(d, f, l->handler);
    else
      f->proto.control = EMU_NOP;
    return;
  }
  f->refused = emu_no_form;
}

static bool emit_line(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const unsigned n = 1 + f->data[L_SIZED];
  int64_t size;
  if (s->n_opnds != n) return emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, n);
  if (f->data[L_SIZED]) {
    if (!emu_integer(fn, s, emu_operand(fn, s, 1), &size)) return false;
    if (size != EMU_LINE_BYTES) return emu_refuse(fn, s, "its size is %lld, not 128", (long long)size);
  }
  return emu_put_address(fn, s, emu_operand(fn, s, 0), f->data[L_SPACE], in);
}
const emu_rule emu_rule_prefetch = {prepare_line, emit_line};

/* ---- Fences ------------------------------------------------------------------------------------ */

/* Memory is sequentially consistent here, and there is one proxy: fences matter to the race check only. */
static void prepare_fence(emu_decoder *d, emu_form *f) {
  enum { PROXY = 64, SHARED = 128, GLOBAL = 256, ORDER = EMU_ACQUIRES | EMU_RELEASES };
  static const struct {
    const char *word;
    uint8_t scope; /* emu_strength */
    uint16_t does; /* emu_sync */
  } words[] = {{"acq_rel", 0, ORDER},
               {"acquire", 0, EMU_ACQUIRES},
               {"release", 0, EMU_RELEASES},
               {"relaxed", 0, 0},
               {"sc", 0, ORDER},
               {"cta", EMU_STRONG_CTA, 0},
               {"cluster", EMU_STRONG_CLUSTER, 0},
               {"gpu", EMU_STRONG, 0},
               {"sys", EMU_STRONG_SYS, 0},
               {"gl", EMU_STRONG, 0},
               {"proxy", 0, PROXY},
               {"alias", 0, 0},
               {"async", 0, EMU_ASYNC_PROXY | EMU_ASYNC_GLOBAL},
               {"global", 0, GLOBAL},
               {"shared::cta", 0, SHARED},
               {"shared::cluster", 0, SHARED},
               {"mbarrier_init", 0, 0},
               {"tensormap::generic", 0, 0},
               {"async::generic", 0, EMU_ASYNC_PROXY},
               {"sync_restrict::shared::cta", EMU_STRONG_CTA, 0},
               {"sync_restrict::shared::cluster", EMU_STRONG_CLUSTER, 0}};
  unsigned does = 0, scope = 0;
  f->proto.fn = emu_run_fence;
  for (unsigned k = 0; k < f->ptx->n_mods && !f->refused; k++) {
    const char *text = hd_ptx_mod_text(d->m, f->ptx->mods[k]);
    unsigned j = 0;
    while (j < sizeof words / sizeof words[0] && strcmp(words[j].word, text) != 0) j++;
    if (j == sizeof words / sizeof words[0]) {
      f->refused = emu_why(d, ".%s is not emulated", text);
      continue;
    }
    does |= words[j].does;
    if (words[j].scope && (!scope || words[j].scope < scope)) scope = words[j].scope;
  }
  if (!f->ptx->n_mods) f->refused = emu_no_form;
  /* membar says no more than a scope. */
  if (!(does & (ORDER | PROXY))) does |= ORDER;
  if (does & GLOBAL) does &= ~(unsigned)EMU_ASYNC_PROXY;
  if (does & SHARED) does &= ~(unsigned)EMU_ASYNC_GLOBAL;
  f->proto.mem.sync = (uint8_t)(does & (ORDER | EMU_ASYNC_PROXY | EMU_ASYNC_GLOBAL));
  f->proto.mem.strong = (uint8_t)scope;
}
/* fence.proxy.tensormap::generic.acquire has an address and a size. */
static bool emit_fence(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  if (in->mem.sync & EMU_RELEASES && in->mem.strong >= EMU_STRONG) fn->code->releases = true;
  return s->n_opnds == 0 || s->n_opnds == 2 || emu_refuse(fn, s, "it has %u operands", s->n_opnds);
}
const emu_rule emu_rule_fence = {prepare_fence, emit_fence};

/* ---- setmaxnreg, griddepcontrol ---------------------------------------------------------------- */

/* Registers are not scarce. */
static void prepare_setmaxnreg(emu_decoder *d, emu_form *f) {
  f->proto.control = EMU_NOP;
  if (EMU_HAS(f, INC) == EMU_HAS(f, DEC) || !EMU_HAS(f, SYNC) || !EMU_HAS(f, ALIGNED) ||
      f->ptx->n_mods != 4 || f->words.n_types != 1 || f->words.types[0] != HD_M_U32)
    f->refused = emu_no_form;
}
static bool emit_setmaxnreg(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  int64_t n;
  if (s->n_opnds != 1 || !emu_integer(fn, s, emu_operand(fn, s, 0), &n))
    return emu_refuse(fn, s, "it has no constant number of registers");
  return (n >= 24 && n <= 256 && n % 8 == 0) ||
         emu_refuse(fn, s, "%lld registers are no multiple of 8 from 24 to 256", (long long)n);
}
const emu_rule emu_rule_setmaxnreg = {prepare_setmaxnreg, emit_setmaxnreg};

static void prepare_griddepcontrol(emu_decoder *d, emu_form *f) {
  f->proto.fn = emu_run_griddepcontrol;
  f->proto.imm = EMU_HAS(f, WAIT);
  if (f->ptx->n_mods != 1 || EMU_HAS(f, WAIT) == EMU_HAS(f, LAUNCH_DEPENDENTS)) f->refused = emu_no_form;
}
static bool emit_griddepcontrol(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  fn->code->depends |= in->imm;
  return s->n_opnds == 0 || emu_refuse(fn, s, "it has %u operands", s->n_opnds);
}
const emu_rule emu_rule_griddepcontrol = {prepare_griddepcontrol, emit_griddepcontrol};
