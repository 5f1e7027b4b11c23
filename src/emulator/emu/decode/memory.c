/* emu/decode/memory.c: ld, st, atom, red, cp.async. */
#include "emu/decode/decode.h"

#include <stdio.h>

/* ---- Words of memory instructions -------------------------------------------------------- */

/* The meaning of a modifier. Modifiers that change neither the result nor the path through the caches
 * are listed too: one that is not in this table is refused. */
typedef enum word {
  W_UNKNOWN = 0,
  W_NOTHING,
  W_SPACE,    /* value: hd_space */
  W_CACHE,    /* value: hd_access_cache bits, instead of the default */
  W_PRIORITY, /* value: hd_access_cache bits to add */
  W_READONLY, /* adds HD_CACHE_READONLY */
  W_NO_L1,    /* leaves L1 alone, which is the read-only cache too where there is such a word */
  W_ORDERED,  /* past the caches: other CTAs' writes are seen. Value: emu_strength + SYNC * emu_sync */
  W_CTA,      /* the narrowest scope */
  W_CLUSTER,
  W_SYS,  /* the widest */
  W_HINT, /* a cache policy follows the operands */
  W_ATOM, /* value: emu_atom_op */
} word;
enum { SYNC = 8 }; /* a W_ORDERED value is strength + SYNC * sync */

static const struct {
  uint8_t word, value;
} words[HD_M_COUNT] = {
    [HD_M_GLOBAL] = {W_SPACE, HD_SPACE_GLOBAL},
    [HD_M_SHARED] = {W_SPACE, HD_SPACE_SHARED},
    [HD_M_SHARED_CTA] = {W_SPACE, HD_SPACE_SHARED},
    [HD_M_SHARED_CLUSTER] = {W_SPACE, EMU_CLUSTER},
    [HD_M_LOCAL] = {W_SPACE, HD_SPACE_LOCAL},
    [HD_M_CONST] = {W_SPACE, HD_SPACE_CONST},
    [HD_M_PARAM] = {W_SPACE, HD_SPACE_PARAM},
    [HD_M_PARAM_ENTRY] = {W_SPACE, HD_SPACE_PARAM},
    [HD_M_PARAM_FUNC] = {W_SPACE, HD_SPACE_PARAM},
    [HD_M_CA] = {W_CACHE, HD_CACHE_L1},
    [HD_M_LU] = {W_CACHE, HD_CACHE_L1 | HD_CACHE_STREAM}, /* PTX ISA: as .cs, on global addresses */
    [HD_M_WB] = {W_CACHE, HD_CACHE_L1},
    [HD_M_CG] = {W_CACHE, 0},
    [HD_M_CS] = {W_CACHE, HD_CACHE_L1 | HD_CACHE_STREAM},
    [HD_M_CV] = {W_ORDERED, EMU_WEAK},
    [HD_M_WT] = {W_CACHE, 0},
    [HD_M_NC] = {W_READONLY},
    [HD_M_L1_NO_ALLOCATE] = {W_NO_L1},
    [HD_M_L1_EVICT_FIRST] = {W_PRIORITY, HD_CACHE_L1_FIRST},
    [HD_M_L1_EVICT_LAST] = {W_PRIORITY, HD_CACHE_L1_LAST},
    [HD_M_L1_EVICT_NORMAL] = {W_NOTHING},
    [HD_M_L1_EVICT_UNCHANGED] = {W_PRIORITY, HD_CACHE_L1_UNCHANGED},
    [HD_M_L2_EVICT_FIRST] = {W_PRIORITY, HD_CACHE_L2_FIRST},
    [HD_M_L2_EVICT_LAST] = {W_PRIORITY, HD_CACHE_L2_LAST},
    [HD_M_L2_EVICT_NORMAL] = {W_NOTHING},
    [HD_M_L2_64B] = {W_NOTHING},
    [HD_M_L2_128B] = {W_NOTHING},
    [HD_M_L2_256B] = {W_NOTHING},
    [HD_M_L2_CACHE_HINT] = {W_HINT},
    [HD_M_WEAK] = {W_NOTHING},
    [HD_M_VOLATILE] = {W_ORDERED, EMU_STRONG_SYS},
    [HD_M_RELAXED] = {W_ORDERED, EMU_STRONG},
    [HD_M_ACQUIRE] = {W_ORDERED, EMU_STRONG | EMU_ACQUIRES *SYNC},
    [HD_M_RELEASE] = {W_ORDERED, EMU_STRONG | EMU_RELEASES *SYNC},
    [HD_M_ACQ_REL] = {W_ORDERED, EMU_STRONG | (EMU_ACQUIRES | EMU_RELEASES) * SYNC},
    [HD_M_MMIO] = {W_ORDERED, EMU_STRONG_SYS},
    [HD_M_CTA] = {W_CTA},
    [HD_M_CLUSTER] = {W_CLUSTER},
    [HD_M_GPU] = {W_NOTHING},
    [HD_M_SYS] = {W_SYS},
    [HD_M_NOFTZ] = {W_NOTHING},
    [HD_M_ADD] = {W_ATOM, EMU_ATOM_ADD},
    [HD_M_AND] = {W_ATOM, EMU_ATOM_AND},
    [HD_M_OR] = {W_ATOM, EMU_ATOM_OR},
    [HD_M_XOR] = {W_ATOM, EMU_ATOM_XOR},
    [HD_M_EXCH] = {W_ATOM, EMU_ATOM_EXCH},
    [HD_M_CAS] = {W_ATOM, EMU_ATOM_CAS},
    [HD_M_INC] = {W_ATOM, EMU_ATOM_INC},
    [HD_M_DEC] = {W_ATOM, EMU_ATOM_DEC},
    [HD_M_MIN] = {W_ATOM, EMU_ATOM_MIN},
    [HD_M_MAX] = {W_ATOM, EMU_ATOM_MAX},
};

typedef struct memory_words {
  unsigned space; /* hd_space or EMU_GENERIC */
  unsigned cache;
  bool ordered, hint, cta, cluster, sys;
  uint8_t strong, sync;
  int atom; /* emu_atom_op; -1: none */
} memory_words;

/* False: a word that is not emulated, which f->refused then names. */
static bool read_memory_words(emu_decoder *d, emu_form *f, memory_words *w) {
  *w = (memory_words){.space = EMU_GENERIC, .cache = HD_CACHE_L1, .atom = -1};
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    if (emu_type_class(mod) != EMU_CLASS_NONE || mod == HD_M_V2 || mod == HD_M_V4 || mod == HD_M_V8) continue;
    switch (mod < HD_M_COUNT ? (word)words[mod].word : W_UNKNOWN) {
    case W_UNKNOWN: emu_refuse_word(d, f, mod); return false;
    case W_NOTHING: break;
    case W_SPACE: w->space = words[mod].value; break;
    case W_CACHE: w->cache = words[mod].value | (w->cache & HD_CACHE_READONLY); break;
    case W_PRIORITY: w->cache |= words[mod].value; break;
    case W_READONLY: w->cache |= HD_CACHE_READONLY; break;
    case W_NO_L1: w->cache = (w->cache & ~(unsigned)HD_CACHE_WAYS) | HD_CACHE_L1_UNCHANGED; break;
    case W_ORDERED:
      w->ordered = true;
      w->cache = 0;
      w->strong = words[mod].value & (SYNC - 1);
      w->sync = words[mod].value / SYNC;
      break;
    case W_CTA: w->cta = true; break;
    case W_CLUSTER: w->cluster = true; break;
    case W_SYS: w->sys = true; break;
    case W_HINT: w->hint = true; break;
    case W_ATOM: w->atom = words[mod].value; break;
    }
  }
  return true;
}

/* emu_form.data of this file's rules. */
enum { M_SPACE = 0, M_ORDERED = 1, M_HINT = 2, M_BITS = 3 };
enum { M_GROUP = M_SPACE }; /* cp.async: the modifier, or none */

static bool prepare_access(emu_decoder *d, emu_form *f, memory_words *w) {
  if (!read_memory_words(d, f, w)) return false;
  f->data[M_SPACE] = w->space;
  f->data[M_ORDERED] = w->ordered;
  f->data[M_HINT] = w->hint;
  f->proto.mem.cache = (uint8_t)w->cache;
  if (w->atom >= 0) w->strong = EMU_STRONG;
  f->proto.mem.strong = !w->strong   ? EMU_WEAK
                        : w->cta     ? EMU_STRONG_CTA
                        : w->cluster ? EMU_STRONG_CLUSTER
                        : w->sys     ? EMU_STRONG_SYS
                                     : w->strong;
  f->proto.mem.sync = w->sync;
  f->proto.mem.count = f->words.vec;
  if (f->words.n_types != 1 || emu_type_class(f->words.types[0]) == EMU_CLASS_PRED) {
    f->refused = emu_no_form;
    return false;
  }
  const unsigned bits = emu_type_bits(f->words.types[0]);
  f->data[M_BITS] = bits;
  if (bits * f->words.vec > 256 || bits < 8 || (bits == 128 && f->words.vec > 1)) {
    f->refused = emu_no_form;
    return false;
  }
  f->proto.mem.bytes = (uint8_t)(bits / 8 * f->words.vec);
  return true;
}

/* Global memory that other CTAs write while this one runs. */
static bool reaches_global(unsigned space) { return space == HD_SPACE_GLOBAL || space == EMU_GENERIC; }

/* The address of an access. Accesses to a call's parameters are checked here, all others when they run. */
static bool put_access(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, const hd_ptx_opnd *o,
                       emu_inst *in) {
  const bool cluster = f->data[M_SPACE] == EMU_CLUSTER;
  if (!emu_put_address(fn, s, o, cluster ? HD_SPACE_SHARED : f->data[M_SPACE], in)) return false;
  if (cluster) in->mem.space = EMU_CLUSTER;
  if (in->mem.space == EMU_FRAME) {
    const hd_ptx_sym *y = &fn->d->m->syms[o->sym];
    const hd_ptx_var *v = &fn->d->m->vars[y->decl];
    const uint64_t size = v->unsized ? fn->d->variadic : hd_ptx_var_size(fn->d->m, v);
    if (o->imm < 0 || (uint64_t)o->imm > size || size - (uint64_t)o->imm < in->mem.bytes)
      return emu_refuse(fn, s, "it reaches beyond the %llu bytes of %s", (unsigned long long)size, y->name);
  }
  return true;
}

/* n operands, and a policy behind them where there is a hint. */
static bool operand_count(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, unsigned n,
                          emu_inst *in) {
  const unsigned want = n + (f->data[M_HINT] ? 1 : 0);
  if (s->n_opnds != want)
    return emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, want);
  if (!f->data[M_HINT]) return true;
  in->mem.cache |= EMU_CACHE_HINT;
  return emu_source(fn, s, emu_operand(fn, s, n), 64, &in->src[3]);
}

/* ---- Vectors ------------------------------------------------------------------------------ */

/* Bits of the registers of {a, b, ...} or of a single one; they must agree. Immediates and "_"
 * have `bits`. 0: refused. */
static unsigned register_bits(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned n,
                              unsigned bits) {
  unsigned found = 0;
  for (unsigned k = 0; k < n; k++) {
    const hd_ptx_opnd *one = o->kind == HD_O_VEC ? emu_kid(fn, o, k) : o;
    if (one->kind != HD_O_REG) continue;
    const unsigned have = emu_reg_bits(fn, one->sym);
    if (found && have != found) return emu_refuse(fn, s, "the vector's registers differ in size"), 0;
    found = have;
  }
  if (!found) found = bits < 16 ? 16 : bits;
  if (found < bits) return emu_refuse(fn, s, "its registers have %u bits, its type %u", found, bits), 0;
  return found;
}

static bool check_vector(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned n) {
  if (!o || (o->kind == HD_O_VEC ? o->n_kids : 1) != n)
    return emu_refuse(fn, s, "its vector has not %u elements", n);
  return true;
}

/* Slots of a vector's elements, written or read, into in->extra from `at` on. */
static bool put_vector(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned n,
                       unsigned bits, bool write, uint32_t *slots) {
  for (unsigned k = 0; k < n; k++) {
    const hd_ptx_opnd *one = o->kind == HD_O_VEC ? emu_kid(fn, o, k) : o;
    if (!(write ? emu_destination(fn, s, one, bits, true, &slots[k])
                : emu_source(fn, s, one, bits, &slots[k])))
      return false;
  }
  return true;
}

static bool use(emu_function *fn, const hd_ptx_stmt *s, emu_inst *in, const char *name) {
  const emu_op *op = emu_find_op(fn->d, name);
  if (!op) return emu_refuse(fn, s, "%s", emu_no_form);
  in->fn = op->fn;
  return true;
}

/* A write that lets other CTAs know what came before. */
static void note_release(emu_function *fn, const emu_inst *in) {
  if (in->mem.sync & EMU_RELEASES && in->mem.strong >= EMU_STRONG && reaches_global(in->mem.space))
    fn->code->releases = true;
}

/* ---- ld, st ---------------------------------------------------------------------------------- */

/* st.async and red.async are a bulk copy's kin. */
static bool is_remote(emu_decoder *d, emu_form *f) {
  if (!EMU_HAS(f, ASYNC)) return false;
  f->rule = &emu_rule_remote;
  f->rule->prepare(d, f);
  return true;
}

static void prepare_ld(emu_decoder *d, emu_form *f) {
  memory_words w;
  if (f->ptx->op == HD_OP_ST && EMU_HAS(f, BULK)) {
    f->rule = &emu_rule_fill;
    f->rule->prepare(d, f);
    return;
  }
  if (f->ptx->op == HD_OP_ST && is_remote(d, f)) return;
  if (prepare_access(d, f, &w) && w.atom >= 0) f->refused = emu_no_form;
}
static bool emit_ld(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const unsigned n = f->words.vec, bits = f->data[M_BITS];
  const hd_ptx_opnd *to = emu_operand(fn, s, 0);
  if (!operand_count(fn, f, s, 2, in) || !check_vector(fn, s, to, n) ||
      !put_access(fn, f, s, emu_operand(fn, s, 1), in))
    return false;
  if (f->data[M_ORDERED] && reaches_global(in->mem.space)) fn->code->order_sensitive = true;
  const unsigned reg = register_bits(fn, s, to, n, bits);
  if (!reg) return false;
  if (bits == 128) return use(fn, s, in, "ld.b128") && emu_destination(fn, s, to, 128, false, &in->dst);
  if (reg > 64) return emu_refuse(fn, s, "%s", emu_no_form);
  const bool is_signed = emu_type_class(f->words.types[0]) == EMU_CLASS_S && bits < reg;
  char name[32];
  snprintf(name, sizeof name, "ld.%s%c%u.%u", n > 1 ? "v." : "", is_signed ? 's' : 'b', bits,
           reg == 64   ? 64
           : is_signed ? reg
                       : 32);
  if (!use(fn, s, in, name)) return false;
  if (n == 1)
    return emu_destination(fn, s, to->kind == HD_O_VEC ? emu_kid(fn, to, 0) : to, reg, false, &in->dst);
  uint32_t *slots = HD_NEW_N(fn->d->env->arena, n, uint32_t);
  in->extra = slots;
  return put_vector(fn, s, to, n, reg, true, slots);
}
const emu_rule emu_rule_ld = {prepare_ld, emit_ld};

static bool emit_st(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const unsigned n = f->words.vec, bits = f->data[M_BITS];
  const hd_ptx_opnd *from = emu_operand(fn, s, 1);
  if (!operand_count(fn, f, s, 2, in) || !check_vector(fn, s, from, n) ||
      !put_access(fn, f, s, emu_operand(fn, s, 0), in))
    return false;
  note_release(fn, in);
  const unsigned reg = register_bits(fn, s, from, n, bits);
  if (!reg) return false;
  if (bits == 128) return use(fn, s, in, "st.b128") && emu_source(fn, s, from, 128, &in->src[1]);
  if (reg > 64) return emu_refuse(fn, s, "%s", emu_no_form);
  char name[32];
  snprintf(name, sizeof name, "st.%sb%u.%u", n > 1 ? "v." : "", bits, reg == 64 ? 64 : 32);
  if (!use(fn, s, in, name)) return false;
  if (n == 1)
    return emu_source(fn, s, from->kind == HD_O_VEC ? emu_kid(fn, from, 0) : from, reg, &in->src[1]);
  uint32_t *slots = HD_NEW_N(fn->d->env->arena, n, uint32_t);
  in->extra = slots;
  return put_vector(fn, s, from, n, reg, false, slots);
}
const emu_rule emu_rule_st = {prepare_ld, emit_st};

/* ---- atom, red ----------------------------------------------------------------------------------- */

static bool atom_type(hd_mod type, emu_atom_type *out) {
  switch (type) {
  case HD_M_F16: *out = EMU_ATOM_F16; return true;
  case HD_M_BF16: *out = EMU_ATOM_BF16; return true;
  case HD_M_F16X2: *out = EMU_ATOM_F16X2; return true;
  case HD_M_BF16X2: *out = EMU_ATOM_BF16X2; return true;
  case HD_M_F32:
  case HD_M_F64: *out = EMU_ATOM_F; return true;
  case HD_M_S32:
  case HD_M_S64: *out = EMU_ATOM_S; return true;
  case HD_M_U32:
  case HD_M_U64:
  case HD_M_B16:
  case HD_M_B32:
  case HD_M_B64:
  case HD_M_B128: *out = EMU_ATOM_U; return true;
  default: return false;
  }
}

/* Floats have sums, halves minima and maxima as well; 16 and 128 bits are swapped. */
static bool has_operation(emu_atom_type type, unsigned bits, unsigned op) {
  const bool half = type >= EMU_ATOM_F16, minmax = op == EMU_ATOM_MIN || op == EMU_ATOM_MAX;
  const bool swap = op == EMU_ATOM_CAS || op == EMU_ATOM_EXCH;
  if (type == EMU_ATOM_F) return op == EMU_ATOM_ADD || (op == EMU_ATOM_EXCH);
  if (half) return op == EMU_ATOM_ADD || minmax;
  return (bits != 16 && bits != 128) || swap;
}

static void prepare_atom(emu_decoder *d, emu_form *f) {
  memory_words w;
  if (f->ptx->op == HD_OP_RED && is_remote(d, f)) return;
  if (!prepare_access(d, f, &w)) return;
  emu_atom_type type;
  const unsigned bits = f->data[M_BITS], n = f->words.vec;
  if (w.atom < 0 || !atom_type(f->words.types[0], &type) || !has_operation(type, bits, (unsigned)w.atom) ||
      (n > 1 && (type == EMU_ATOM_U || type == EMU_ATOM_S)) ||
      (w.space != HD_SPACE_GLOBAL && w.space != HD_SPACE_SHARED && w.space != EMU_CLUSTER &&
       w.space != EMU_GENERIC)) {
    f->refused = emu_no_form;
    return;
  }
  if (type == EMU_ATOM_F && w.atom == EMU_ATOM_EXCH) type = EMU_ATOM_U;
  f->proto.mem.atom = (uint8_t)w.atom;
  f->proto.mem.type = (uint8_t)type;
  f->proto.mem.cache = 0;
  char name[16];
  snprintf(name, sizeof name, n > 1 ? "atom.v.%u" : "atom.%u", bits);
  emu_use(d, f, name);
}

/* Whether any instruction reads the register that an atom writes. */
static bool is_used(const emu_function *fn, const hd_ptx_opnd *o) {
  return o->kind == HD_O_REG && fn->reg_uses[fn->d->m->syms[o->sym].index] > 1;
}

/* The sum of integers, and the like, do not tell in which order they were made. */
static bool commutes(const emu_inst *in) {
  const unsigned type = in->mem.type, op = in->mem.atom;
  if (op == EMU_ATOM_MIN || op == EMU_ATOM_MAX) return true;
  return (type == EMU_ATOM_U || type == EMU_ATOM_S) &&
         (op == EMU_ATOM_ADD || (op >= EMU_ATOM_AND && op <= EMU_ATOM_XOR));
}

static bool emit_atom(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const bool red = f->ptx->op == HD_OP_RED;
  const unsigned n = f->words.vec, bits = f->data[M_BITS], first = red ? 0 : 1;
  const bool cas = f->proto.mem.atom == EMU_ATOM_CAS;
  const hd_ptx_opnd *to = red ? NULL : emu_operand(fn, s, 0), *b = emu_operand(fn, s, first + 1);
  if (!operand_count(fn, f, s, first + 2 + cas, in) || !check_vector(fn, s, b, n) ||
      (to && !check_vector(fn, s, to, n)) || !put_access(fn, f, s, emu_operand(fn, s, first), in))
    return false;
  bool used = false;
  for (unsigned k = 0; to && k < n; k++) used |= is_used(fn, to->kind == HD_O_VEC ? emu_kid(fn, to, k) : to);
  in->mem.no_old = !to || to->kind == HD_O_SINK;
  if (reaches_global(in->mem.space) && (used || !commutes(in))) fn->code->order_sensitive = true;
  note_release(fn, in);
  if (n > 1) {
    uint32_t *slots = HD_NEW_N(fn->d->env->arena, (size_t)2 * n, uint32_t);
    in->extra = slots;
    return put_vector(fn, s, b, n, bits, false, slots) &&
           (!to || put_vector(fn, s, to, n, bits, true, slots + n));
  }
  return emu_source(fn, s, b, bits, &in->src[1]) &&
         (!cas || emu_source(fn, s, emu_operand(fn, s, first + 2), bits, &in->src[2])) &&
         (!to || emu_destination(fn, s, to, bits, true, &in->dst));
}
const emu_rule emu_rule_atom = {prepare_atom, emit_atom};

/* ---- cp.async -------------------------------------------------------------------------------- */

static void prepare_cp(emu_decoder *d, emu_form *f) {
  const emu_rule *other = emu_async_copy_rule(f);
  if (other) {
    f->rule = other;
    other->prepare(d, f);
    return;
  }
  bool shared = false, global = false, async = false;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    switch (mod) {
    case HD_M_ASYNC: async = true; break;
    case HD_M_COMMIT_GROUP:
    case HD_M_WAIT_GROUP:
    case HD_M_WAIT_ALL: f->data[M_GROUP] = mod; break;
    case HD_M_CA: f->proto.mem.cache = HD_CACHE_L1; break;
    case HD_M_CG: f->proto.mem.cache = 0; break;
    case HD_M_SHARED:
    case HD_M_SHARED_CTA: shared = true; break;
    case HD_M_GLOBAL: global = true; break;
    case HD_M_L2_CACHE_HINT: f->data[M_HINT] = 1; break;
    case HD_M_L2_64B:
    case HD_M_L2_128B:
    case HD_M_L2_256B: break;
    default: emu_refuse_word(d, f, mod); return;
    }
  }
  const unsigned group = f->data[M_GROUP];
  if (!async || (group ? f->ptx->n_mods != 2 : !shared || !global))
    f->refused = emu_no_form;
  else
    emu_use(d, f,
            !group                       ? "cp.async"
            : group == HD_M_COMMIT_GROUP ? "cp.async.commit_group"
            : group == HD_M_WAIT_GROUP   ? "cp.async.wait_group"
                                         : "cp.async.wait_all");
}

/* commit_group, wait_group N, wait_all */
static bool emit_group(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const bool counts = f->data[M_GROUP] == HD_M_WAIT_GROUP;
  if (s->n_opnds != counts) return emu_refuse(fn, s, "it has %u operands", s->n_opnds);
  if (!counts) return true;
  return emu_integer(fn, s, emu_operand(fn, s, 0), &in->imm) &&
         ((in->imm >= 0 && in->imm <= INT32_MAX) ||
          emu_refuse(fn, s, "it leaves %lld groups in flight", (long long)in->imm));
}

/* cp.async [dst], [src], size {, bytes to read | skip predicate} {, policy} */
static bool emit_cp(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  if (f->data[M_GROUP]) return emit_group(fn, f, s, in);
  const unsigned n = s->n_opnds - (f->data[M_HINT] ? 1 : 0);
  int64_t size;
  emu_address from;
  if (s->n_opnds < 3 || n < 3 || n > 4) return emu_refuse(fn, s, "it has %u operands", s->n_opnds);
  if (!emu_integer(fn, s, emu_operand(fn, s, 2), &size)) return false;
  if (size != 4 && size != 8 && size != 16) return emu_refuse(fn, s, "it copies %lld bytes", (long long)size);
  if (!emu_address_of(fn, s, emu_operand(fn, s, 1), HD_SPACE_GLOBAL, &from)) return false;
  emu_cp_async *c = HD_NEW(fn->d->env->arena, emu_cp_async);
  *c = (emu_cp_async){.src_imm = from.imm,
                      .src_mode = (uint8_t)from.mode,
                      .src_space = (uint8_t)from.space,
                      .size_slot = EMU_NO_SLOT,
                      .skip_slot = EMU_NO_SLOT};
  if (from.slot != EMU_NO_SLOT) emu_ref(fn, &c->src_slot, from.slot);
  in->extra = c;
  in->mem.bytes = (uint8_t)size;
  const hd_ptx_opnd *fourth = n == 4 ? emu_operand(fn, s, 3) : NULL;
  if (fourth && fourth->kind == HD_O_REG && emu_reg_bits(fn, fourth->sym) == 1) {
    uint8_t negated = 0;
    if (!emu_predicate(fn, s, fourth, &c->skip_slot, &negated)) return false;
    c->skip_neg = negated;
  } else if (fourth && !emu_source(fn, s, fourth, 32, &c->size_slot)) {
    return false;
  }
  if (f->data[M_HINT]) {
    in->mem.cache |= EMU_CACHE_HINT;
    if (!emu_source(fn, s, emu_operand(fn, s, n), 64, &in->src[3])) return false;
  }
  return emu_put_address(fn, s, emu_operand(fn, s, 0), HD_SPACE_SHARED, in);
}
const emu_rule emu_rule_cp = {prepare_cp, emit_cp};
