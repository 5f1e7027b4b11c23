/* emu/decode/async.c: mbarrier, cp.async.bulk, cp.async.mbarrier.arrive, tensormap, clusterlaunchcontrol. */
#include "emu/machine/async.h"
#include "emu/decode/decode.h"
#include "emu/machine/tensormap.h"

static bool operand_count(emu_function *fn, const hd_ptx_stmt *s, unsigned n) {
  return s->n_opnds == n || emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, n);
}

/* An address, in brackets of its own or the first thing in brackets. */
static bool put_pointer(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned space,
                        emu_pointer *p) {
  hd_ptx_opnd plain;
  if (o && (o->kind == HD_O_REG || o->kind == HD_O_SYM)) {
    plain = *o;
    if (o->kind == HD_O_REG) plain.imm = 0;
    plain.kind = HD_O_ADDR;
    o = &plain;
  }
  emu_address a;
  if (!emu_address_of(fn, s, o, space, &a)) return false;
  if (a.space == EMU_FRAME) return emu_refuse(fn, s, "its address is a call parameter's");
  *p = (emu_pointer){.mode = (uint8_t)a.mode, .space = (uint8_t)a.space, .imm = a.imm};
  emu_ref(fn, &p->slot, a.slot);
  return true;
}

bool emu_put_shared(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned space,
                    emu_pointer *p) {
  return put_pointer(fn, s, o, space, p) && (p->space == HD_SPACE_SHARED || p->space == EMU_GENERIC ||
                                             emu_refuse(fn, s, "its address is not in shared memory"));
}

static bool is_shared(hd_mod mod) {
  return hd_ptx_mod_kind(mod) == HD_MK_SPACE && hd_ptx_mod_value(mod) & HD_IN_ANY_SHARED;
}

/* ---- mbarrier ------------------------------------------------------------------------------ */

enum { NO_OP = UINT8_MAX, PENDING_COUNT = UINT8_MAX - 1 };
/* emu_form.data of mbarrier. */
enum { B_OP = 0, B_SPACE = 1, B_FLAGS = 2 };
enum { B_PARITY = 1, B_EXPECTS = 2, B_NO_COMPLETE = 4, B_TRY = 8, B_NO_INC = 16, B_RELAXED = 32 };

static void prepare_mbarrier(emu_decoder *d, emu_form *f) {
  uint32_t op = NO_OP, flags = 0;
  bool is_b64 = false;
  f->data[B_SPACE] = EMU_GENERIC;
  f->proto.mem.strong = EMU_STRONG;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    switch (mod) {
    case HD_M_INIT: op = EMU_MBARRIER_INIT; break;
    case HD_M_INVAL: op = EMU_MBARRIER_INVAL; break;
    case HD_M_ARRIVE: op = EMU_MBARRIER_ARRIVE; break;
    case HD_M_ARRIVE_DROP: op = EMU_MBARRIER_ARRIVE_DROP; break;
    case HD_M_COMPLETE_TX: op = EMU_MBARRIER_COMPLETE_TX; break;
    case HD_M_TRY_WAIT:
      flags |= B_TRY;
      op = EMU_MBARRIER_WAIT;
      break;
    case HD_M_TEST_WAIT: op = EMU_MBARRIER_WAIT; break;
    case HD_M_PENDING_COUNT: op = PENDING_COUNT; break;
    case HD_M_EXPECT_TX:
      if (op == NO_OP) op = EMU_MBARRIER_EXPECT_TX;
      flags |= B_EXPECTS;
      break;
    case HD_M_PARITY: flags |= B_PARITY; break;
    case HD_M_NOCOMPLETE: flags |= B_NO_COMPLETE; break;
    case HD_M_B64: is_b64 = true; break;
    case HD_M_SHARED:
    case HD_M_SHARED_CTA:
    case HD_M_SHARED_CLUSTER: f->data[B_SPACE] = HD_SPACE_SHARED; break;
    case HD_M_RELAXED: flags |= B_RELAXED; break;
    case HD_M_ACQUIRE: /* memory is sequentially consistent here */
    case HD_M_RELEASE:
    case HD_M_CTA:
    case HD_M_CLUSTER: break;
    default: emu_refuse_word(d, f, mod); return;
    }
  }
  const bool arrives = op == EMU_MBARRIER_ARRIVE || op == EMU_MBARRIER_ARRIVE_DROP;
  f->data[B_OP] = op;
  f->data[B_FLAGS] = flags;
  if (op == NO_OP || !is_b64 || (flags & B_PARITY && op != EMU_MBARRIER_WAIT) ||
      (flags & B_NO_COMPLETE && (!arrives || flags & B_EXPECTS)) ||
      (flags & B_EXPECTS && !arrives && op != EMU_MBARRIER_EXPECT_TX))
    f->refused = emu_no_form;
  f->proto.fn = op == PENDING_COUNT ? emu_run_pending_count : emu_run_mbarrier;
  /* Of what an mbarrier may be used for, these two alone are no atomic operations. */
  if (op == EMU_MBARRIER_INIT || op == EMU_MBARRIER_INVAL) f->proto.mem.strong = EMU_WEAK;
  if (op == EMU_MBARRIER_WAIT) f->proto.control = EMU_POLL;
}

static bool put_state(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, emu_mbarrier *b) {
  return emu_destination(fn, s, o, 64, true, &b->state_slot);
}

static bool emit_mbarrier(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const uint32_t op = f->data[B_OP], flags = f->data[B_FLAGS], space = f->data[B_SPACE];
  if (op == PENDING_COUNT)
    return operand_count(fn, s, 2) && emu_source(fn, s, emu_operand(fn, s, 1), 64, &in->src[0]) &&
           emu_destination(fn, s, emu_operand(fn, s, 0), 32, false, &in->dst);
  emu_mbarrier *b = HD_NEW(fn->d->env->arena, emu_mbarrier);
  *b = (emu_mbarrier){.op = (emu_mbarrier_op)op,
                      .count_slot = EMU_NO_SLOT,
                      .state_slot = EMU_NO_SLOT,
                      .parity = flags & B_PARITY,
                      .expects = flags & B_EXPECTS,
                      .completes = !(flags & B_NO_COMPLETE),
                      .relaxed = flags & B_RELAXED};
  in->extra = b;
  const hd_ptx_opnd *first = emu_operand(fn, s, 0), *second = emu_operand(fn, s, 1),
                    *third = emu_operand(fn, s, 2);
  switch (b->op) {
  case EMU_MBARRIER_INVAL: return operand_count(fn, s, 1) && emu_put_shared(fn, s, first, space, &b->at);
  case EMU_MBARRIER_INIT:
  case EMU_MBARRIER_EXPECT_TX:
  case EMU_MBARRIER_COMPLETE_TX:
    return operand_count(fn, s, 2) && emu_put_shared(fn, s, first, space, &b->at) &&
           emu_source(fn, s, second, 32, &b->count_slot);
  case EMU_MBARRIER_WAIT:
    /* The hint how long to wait says nothing about the result. */
    if (!(flags & B_TRY && s->n_opnds == 4) && !operand_count(fn, s, 3)) return false;
    return emu_put_shared(fn, s, second, space, &b->at) &&
           emu_source(fn, s, third, b->parity ? 32 : 64, &b->count_slot) &&
           emu_destination(fn, s, first, 1, false, &b->dst_slot);
  default: /* ARRIVE, ARRIVE_DROP: without a state the form for clusters may leave out the "_" */
    if (first && first->kind == HD_O_ADDR) {
      third = second;
      second = first;
    } else if (!put_state(fn, s, first, b)) {
      return false;
    }
    const unsigned have = s->n_opnds - (second == first ? 0 : 1);
    if (have != 2 && (have != 1 || b->expects || !b->completes))
      return emu_refuse(fn, s, "it has %u operands", s->n_opnds);
    return emu_put_shared(fn, s, second, space, &b->at) &&
           (have == 1 || emu_source(fn, s, third, 32, &b->count_slot));
  }
}
const emu_rule emu_rule_mbarrier = {prepare_mbarrier, emit_mbarrier};

/* cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [addr] */
static void prepare_copies_arrive(emu_decoder *d, emu_form *f) {
  f->data[B_SPACE] = EMU_GENERIC;
  f->proto.fn = emu_run_mbarrier;
  bool arrives = false;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    if (mod == HD_M_NOINC)
      f->data[B_FLAGS] = B_NO_INC;
    else if (mod == HD_M_SHARED || mod == HD_M_SHARED_CTA)
      f->data[B_SPACE] = HD_SPACE_SHARED;
    else if (mod == HD_M_ARRIVE)
      arrives = true;
    else if (mod != HD_M_ASYNC && mod != HD_M_MBARRIER && mod != HD_M_B64) {
      emu_refuse_word(d, f, mod);
      return;
    }
  }
  if (!arrives) f->refused = emu_no_form;
}
static bool emit_copies_arrive(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  emu_mbarrier *b = HD_NEW(fn->d->env->arena, emu_mbarrier);
  *b = (emu_mbarrier){.op = EMU_MBARRIER_COPIES,
                      .count_slot = EMU_NO_SLOT,
                      .state_slot = EMU_NO_SLOT,
                      .completes = true,
                      .increments = !(f->data[B_FLAGS] & B_NO_INC)};
  in->extra = b;
  /* ptxas takes 32 bits without a state space, too: they are an offset in shared memory. */
  const hd_ptx_opnd *at = emu_operand(fn, s, 0);
  const bool narrow = at && at->kind == HD_O_ADDR && at->sym && fn->d->m->syms[at->sym].kind == HD_SYM_REG &&
                      emu_reg_bits(fn, at->sym) == 32;
  return operand_count(fn, s, 1) &&
         emu_put_shared(fn, s, at, narrow ? HD_SPACE_SHARED : f->data[B_SPACE], &b->at);
}
static const emu_rule rule_copies_arrive = {prepare_copies_arrive, emit_copies_arrive};

/* ---- cp.async.bulk ----------------------------------------------------------------------------- */

/* The words of a bulk copy, a bulk reduction or a wait for them. */
typedef struct bulk_words {
  bool reduce, prefetch, tensor, commit, wait, read, on_barrier, on_group, hint, l2, noftz, tile, multicast;
  bool gather, scatter, masked;
  uint8_t group;    /* .cta_group: 1 or 2 */
  hd_mod spaces[2]; /* as written */
  unsigned n_spaces, rank;
  int atom;
  hd_mod type;
} bulk_words;

int emu_bulk_atom_of(hd_mod mod) {
  switch (mod) {
  case HD_M_ADD: return EMU_ATOM_ADD;
  case HD_M_MIN: return EMU_ATOM_MIN;
  case HD_M_MAX: return EMU_ATOM_MAX;
  case HD_M_INC: return EMU_ATOM_INC;
  case HD_M_DEC: return EMU_ATOM_DEC;
  case HD_M_AND: return EMU_ATOM_AND;
  case HD_M_OR: return EMU_ATOM_OR;
  case HD_M_XOR: return EMU_ATOM_XOR;
  default: return -1;
  }
}

int emu_bulk_type_of(hd_mod mod) {
  switch (mod) {
  case HD_M_U32:
  case HD_M_B32: return EMU_BULK_U32;
  case HD_M_S32: return EMU_BULK_S32;
  case HD_M_U64:
  case HD_M_B64: return EMU_BULK_U64;
  case HD_M_S64: return EMU_BULK_S64;
  case HD_M_F16: return EMU_BULK_F16;
  case HD_M_BF16: return EMU_BULK_BF16;
  case HD_M_F32: return EMU_BULK_F32;
  case HD_M_F64: return EMU_BULK_F64;
  default: return -1;
  }
}

static bool read_bulk_words(emu_decoder *d, emu_form *f, bulk_words *w) {
  *w = (bulk_words){.atom = -1};
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    switch (mod) {
    case HD_M_ASYNC:
    case HD_M_BULK: break;
    case HD_M_READ: w->read = true; break;
    case HD_M_REDUCE: w->reduce = true; break;
    case HD_M_PREFETCH: w->prefetch = true; break;
    case HD_M_TENSOR: w->tensor = true; break;
    case HD_M_TILE: w->tile = true; break;
    case HD_M_TILE_GATHER4: w->tile = w->gather = true; break;
    case HD_M_TILE_SCATTER4: w->tile = w->scatter = true; break;
    case HD_M_CP_MASK: w->masked = true; break;
    case HD_M_COMMIT_GROUP: w->commit = true; break;
    case HD_M_WAIT_GROUP: w->wait = true; break;
    case HD_M_MBARRIER_COMPLETE_TX_BYTES: w->on_barrier = true; break;
    case HD_M_BULK_GROUP: w->on_group = true; break;
    case HD_M_L2_CACHE_HINT: w->hint = true; break;
    case HD_M_MULTICAST_CLUSTER: w->multicast = true; break;
    case HD_M_L2: w->l2 = true; break;
    case HD_M_CTA_GROUP_1: w->group = 1; break;
    case HD_M_CTA_GROUP_2: w->group = 2; break;
    case HD_M_NOFTZ: w->noftz = true; break;
    case HD_M_1D: w->rank = 1; break;
    case HD_M_2D: w->rank = 2; break;
    case HD_M_3D: w->rank = 3; break;
    case HD_M_4D: w->rank = 4; break;
    case HD_M_5D: w->rank = 5; break;
    default:
      if (mod == HD_M_GLOBAL || is_shared(mod)) {
        if (w->n_spaces < 2) w->spaces[w->n_spaces] = mod;
        w->n_spaces++;
      } else if (emu_bulk_atom_of(mod) >= 0) {
        w->atom = emu_bulk_atom_of(mod);
      } else if (emu_bulk_type_of(mod) >= 0) {
        w->type = mod;
      } else {
        emu_refuse_word(d, f, mod);
        return false;
      }
    }
  }
  return true;
}

/* Which copy it is; false: none. */
static bool bulk_op_of(const bulk_words *w, emu_bulk_op *op) {
  const unsigned n = w->prefetch ? 1 : 2; /* a prefetch has no destination */
  if (w->n_spaces != n || w->l2 != w->prefetch) return false;
  const bool from_global = w->spaces[n - 1] == HD_M_GLOBAL;
  if (w->prefetch) {
    *op = EMU_BULK_PREFETCH;
    return from_global && !w->on_barrier && !w->on_group;
  }
  const bool to_global = w->spaces[0] == HD_M_GLOBAL;
  *op = to_global ? EMU_BULK_STORE : from_global ? EMU_BULK_LOAD : EMU_BULK_SHARED;
  return to_global ? !from_global && w->on_group && !w->on_barrier : w->on_barrier && !w->on_group;
}

/* Whether the words of sm_100 stand where the PTX ISA has them. */
static bool new_words_fit(const bulk_words *w, emu_bulk_op op) {
  const bool rows = w->gather || w->scatter;
  if (rows && (!w->tensor || w->rank != 2 || w->reduce || (w->gather && w->scatter))) return false;
  if (w->gather && op != EMU_BULK_LOAD && op != EMU_BULK_PREFETCH) return false;
  if (w->scatter && op != EMU_BULK_STORE) return false;
  if (w->masked && (w->tensor || w->reduce || op != EMU_BULK_STORE)) return false;
  return !w->group || (w->tensor && op == EMU_BULK_LOAD);
}

/* Whether the instruction is no reduction, or one that the PTX ISA has. Reductions of tensors take their type
 * from the map. */
static bool reduction_fits(const bulk_words *w, emu_bulk_op op) {
  if (!w->reduce) return w->atom < 0 && !w->type && !w->noftz;
  if (w->atom < 0 || w->prefetch || op == EMU_BULK_LOAD) return false;
  if (w->tensor) return !w->type && !w->noftz && op == EMU_BULK_STORE;
  const int type = emu_bulk_type_of(w->type);
  if (type < 0 || !emu_bulk_reduces((emu_atom_op)w->atom, (emu_bulk_type)type)) return false;
  const bool bits = w->type == HD_M_B32 || w->type == HD_M_B64;
  if (bits != (w->atom == EMU_ATOM_AND || w->atom == EMU_ATOM_OR || w->atom == EMU_ATOM_XOR)) return false;
  const bool half = type == EMU_BULK_F16 || type == EMU_BULK_BF16;
  /* Sums of halves are not flushed, and say so. */
  if (w->noftz != (half && w->atom == EMU_ATOM_ADD)) return false;
  return op == EMU_BULK_STORE || type <= EMU_BULK_U64;
}

static void prepare_bulk(emu_decoder *d, emu_form *f) {
  bulk_words w;
  emu_bulk_op op;
  if (!read_bulk_words(d, f, &w)) return;
  if (w.commit || w.wait) {
    if (w.commit == w.wait || w.n_spaces || w.tensor || w.reduce || (w.commit && w.read))
      f->refused = emu_no_form;
    f->proto.fn = w.commit ? emu_run_bulk_commit : w.read ? emu_run_bulk_wait_read : emu_run_bulk_wait;
    return;
  }
  if ((w.multicast && (w.commit || w.wait || w.n_spaces != 2 || w.spaces[0] != HD_M_SHARED_CLUSTER ||
                       w.spaces[1] != HD_M_GLOBAL)) ||
      w.tensor != (w.rank > 0) || (w.tile && !w.tensor) || w.read || !bulk_op_of(&w, &op) ||
      !reduction_fits(&w, op) || !new_words_fit(&w, op) || (w.tensor && op == EMU_BULK_SHARED)) {
    f->refused = emu_no_form;
    return;
  }
  f->proto.fn = w.tensor ? emu_run_tensor : emu_run_bulk;
}

/* [map, {coordinates}] */
static bool put_tensor(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, emu_bulk *b,
                       emu_pointer *map) {
  const hd_ptx_opnd *at = o && o->kind == HD_O_BRACKET && o->n_kids == 2 ? emu_kid(fn, o, 1) : NULL;
  const unsigned n = b->by_rows ? 1 + EMU_TENSOR_ROWS : b->rank;
  if (!at || at->kind != HD_O_VEC || at->n_kids != n)
    return emu_refuse(fn, s, "it names no tensor map and %u coordinates", n);
  for (unsigned k = 0; k < n; k++)
    if (!emu_source(fn, s, emu_kid(fn, at, k), 32, &b->coordinate[k])) return false;
  return put_pointer(fn, s, emu_kid(fn, o, 0), EMU_GENERIC, map);
}

static bool emit_group(emu_function *fn, const bulk_words *w, const hd_ptx_stmt *s, emu_inst *in) {
  if (w->commit) return operand_count(fn, s, 0);
  return operand_count(fn, s, 1) && emu_integer(fn, s, emu_operand(fn, s, 0), &in->imm) &&
         (in->imm >= 0 || emu_refuse(fn, s, "it leaves %lld groups", (long long)in->imm));
}

static bool emit_bulk(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  bulk_words w;
  emu_form words = *f;
  if (!read_bulk_words(fn->d, &words, &w)) return false;
  if (w.commit || w.wait) return emit_group(fn, &w, s, in);
  emu_bulk *b = HD_NEW(fn->d->env->arena, emu_bulk);
  *b = (emu_bulk){.size_slot = EMU_NO_SLOT,
                  .mask_slot = EMU_NO_SLOT,
                  .bytes_slot = EMU_NO_SLOT,
                  .pair = w.group == 2,
                  .reduce = w.reduce,
                  .rank = w.rank,
                  .by_rows = w.gather || w.scatter};
  in->extra = b;
  if (!bulk_op_of(&w, &b->op)) return false;
  if (w.reduce) {
    b->atom = (emu_atom_op)w.atom;
    if (!w.tensor) b->type = (emu_bulk_type)emu_bulk_type_of(w.type);
    const bool exact = b->atom != EMU_ATOM_INC && b->atom != EMU_ATOM_DEC &&
                       (b->atom != EMU_ATOM_ADD || (!w.tensor && b->type <= EMU_BULK_S64));
    if (b->op == EMU_BULK_STORE && !exact) fn->code->order_sensitive = true;
  }
  /* destination, source {, size} {, mbarrier} {, ranks} {, policy} */
  const bool waits = b->op == EMU_BULK_LOAD || b->op == EMU_BULK_SHARED,
             prefetch = b->op == EMU_BULK_PREFETCH;
  if (!operand_count(fn, s, 1u + !prefetch + !w.tensor + waits + w.multicast + w.hint + w.masked))
    return false;
  unsigned next = 0;
  if (!prefetch) {
    const hd_ptx_opnd *dst = emu_operand(fn, s, next++);
    if (!(w.tensor && b->op == EMU_BULK_STORE ? put_tensor(fn, s, dst, b, &b->dst)
          : b->op == EMU_BULK_STORE           ? put_pointer(fn, s, dst, HD_SPACE_GLOBAL, &b->dst)
                                              : emu_put_shared(fn, s, dst, HD_SPACE_SHARED, &b->dst)))
      return false;
  }
  const hd_ptx_opnd *src = emu_operand(fn, s, next++);
  const bool from_shared = b->op == EMU_BULK_STORE || b->op == EMU_BULK_SHARED;
  if (!(from_shared ? emu_put_shared(fn, s, src, HD_SPACE_SHARED, &b->src)
        : w.tensor  ? put_tensor(fn, s, src, b, &b->src)
                    : put_pointer(fn, s, src, HD_SPACE_GLOBAL, &b->src)))
    return false;
  if (!w.tensor && !emu_source(fn, s, emu_operand(fn, s, next++), 32, &b->size_slot)) return false;
  if (waits && !emu_put_shared(fn, s, emu_operand(fn, s, next++), HD_SPACE_SHARED, &b->bar)) return false;
  if (w.multicast && !emu_source(fn, s, emu_operand(fn, s, next++), 16, &b->mask_slot)) return false;
  if (w.hint && !emu_source(fn, s, emu_operand(fn, s, next++), 64, &b->policy_slot)) return false;
  return !w.masked || emu_source(fn, s, emu_operand(fn, s, next), 16, &b->bytes_slot);
}
static const emu_rule rule_bulk = {prepare_bulk, emit_bulk};

const emu_rule *emu_async_copy_rule(const emu_form *f) {
  if (EMU_HAS(f, BULK)) return &rule_bulk;
  return EMU_HAS(f, MBARRIER) ? &rule_copies_arrive : NULL;
}

/* ---- tensormap ---------------------------------------------------------------------------------- */

/* emu_form.data of tensormap. */
enum { T_FIELD = 0, T_SPACE = 1, T_BITS = 2 };

static int field_of(hd_mod mod) {
  switch (mod) {
  case HD_M_GLOBAL_ADDRESS: return EMU_TENSOR_ADDRESS;
  case HD_M_RANK: return EMU_TENSOR_RANK;
  case HD_M_BOX_DIM: return EMU_TENSOR_BOX;
  case HD_M_GLOBAL_DIM: return EMU_TENSOR_DIM;
  case HD_M_GLOBAL_STRIDE: return EMU_TENSOR_STRIDE;
  case HD_M_ELEMENT_STRIDE: return EMU_TENSOR_ELEMENT_STRIDE;
  case HD_M_ELEMTYPE: return EMU_TENSOR_TYPE;
  case HD_M_INTERLEAVE_LAYOUT: return EMU_TENSOR_INTERLEAVE;
  case HD_M_SWIZZLE_MODE: return EMU_TENSOR_SWIZZLE;
  case HD_M_SWIZZLE_ATOMICITY: return EMU_TENSOR_ATOMICITY;
  case HD_M_FILL_MODE: return EMU_TENSOR_FILL;
  default: return -1;
  }
}

/* tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.SCOPE.sync.aligned */
static void prepare_fenced_copy(emu_decoder *d, emu_form *f) {
  f->proto.control = EMU_GATHER;
  f->proto.fn = emu_run_tensormap_copy;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    switch (f->ptx->mods[k]) {
    case HD_M_CP_FENCEPROXY:
    case HD_M_GLOBAL:
    case HD_M_SHARED_CTA:
    case HD_M_TENSORMAP_GENERIC:
    case HD_M_RELEASE:
    case HD_M_CTA:
    case HD_M_CLUSTER:
    case HD_M_GPU:
    case HD_M_SYS:
    case HD_M_SYNC:
    case HD_M_ALIGNED: break;
    default: emu_refuse_word(d, f, f->ptx->mods[k]); return;
    }
  }
  if (!EMU_HAS(f, GLOBAL) || !EMU_HAS(f, SHARED_CTA) || !EMU_HAS(f, TENSORMAP_GENERIC))
    f->refused = emu_no_form;
}

static void prepare_tensormap(emu_decoder *d, emu_form *f) {
  int field = -1;
  bool replace = false, size = false;
  f->data[T_SPACE] = EMU_GENERIC;
  if (EMU_HAS(f, CP_FENCEPROXY)) {
    prepare_fenced_copy(d, f);
    return;
  }
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    if (field_of(mod) >= 0)
      field = field_of(mod);
    else if (mod == HD_M_REPLACE)
      replace = true;
    else if (mod == HD_M_B1024)
      size = true;
    else if (mod == HD_M_GLOBAL)
      f->data[T_SPACE] = HD_SPACE_GLOBAL;
    else if (mod == HD_M_SHARED || mod == HD_M_SHARED_CTA)
      f->data[T_SPACE] = HD_SPACE_SHARED;
    else if (mod == HD_M_B32 || mod == HD_M_B64)
      f->data[T_BITS] = emu_type_bits(mod);
    else if (mod != HD_M_TILE) {
      emu_refuse_word(d, f, mod);
      return;
    }
  }
  const unsigned bits = field == EMU_TENSOR_ADDRESS || field == EMU_TENSOR_STRIDE ? 64 : 32;
  f->data[T_FIELD] = (uint32_t)field;
  f->proto.fn = emu_run_tensormap_replace;
  if (!replace || !size || field < 0 || f->data[T_BITS] != bits) f->refused = emu_no_form;
}

static bool emit_tensormap(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  if (f->proto.control == EMU_GATHER) {
    emu_bulk *b = HD_NEW(fn->d->env->arena, emu_bulk);
    int64_t bytes;
    in->extra = b;
    return operand_count(fn, s, 3) && put_pointer(fn, s, emu_operand(fn, s, 0), HD_SPACE_GLOBAL, &b->dst) &&
           emu_put_shared(fn, s, emu_operand(fn, s, 1), HD_SPACE_SHARED, &b->src) &&
           emu_integer(fn, s, emu_operand(fn, s, 2), &bytes) &&
           (bytes == HD_TENSOR_MAP_BYTES || emu_refuse(fn, s, "a tensor map has 128 bytes"));
  }
  emu_replace *x = HD_NEW(fn->d->env->arena, emu_replace);
  const bool array = emu_tensor_field_is_array((emu_tensor_field)f->data[T_FIELD]);
  *x = (emu_replace){
      .field = (uint8_t)f->data[T_FIELD], .wide = f->data[T_BITS] == 64, .ordinal_slot = EMU_NO_SLOT};
  in->extra = x;
  return operand_count(fn, s, array ? 3 : 2) &&
         put_pointer(fn, s, emu_operand(fn, s, 0), f->data[T_SPACE], &x->map) &&
         (!array || emu_source(fn, s, emu_operand(fn, s, 1), 32, &x->ordinal_slot)) &&
         emu_source(fn, s, emu_operand(fn, s, array ? 2 : 1), f->data[T_BITS], &x->value_slot);
}
const emu_rule emu_rule_tensormap = {prepare_tensormap, emit_tensormap};

/* ---- clusterlaunchcontrol --------------------------------------------------------------------------- */

/* emu_form.data of clusterlaunchcontrol. */
enum { C_QUERY = 0, C_SPACE = 1, C_ALL = 2 };
typedef enum query { ASK_NOTHING, ASK_TAKEN, ASK_PLACE, ASK_X, ASK_Y, ASK_Z } query;

static query query_of(hd_mod mod) {
  switch (mod) {
  case HD_M_IS_CANCELED: return ASK_TAKEN;
  case HD_M_GET_FIRST_CTAID: return ASK_PLACE;
  case HD_M_GET_FIRST_CTAID_X: return ASK_X;
  case HD_M_GET_FIRST_CTAID_Y: return ASK_Y;
  case HD_M_GET_FIRST_CTAID_Z: return ASK_Z;
  default: return ASK_NOTHING;
  }
}

static void prepare_launch_control(emu_decoder *d, emu_form *f) {
  f->data[C_SPACE] = EMU_GENERIC;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    if (query_of(mod) != ASK_NOTHING)
      f->data[C_QUERY] = query_of(mod);
    else if (is_shared(mod))
      f->data[C_SPACE] = HD_SPACE_SHARED;
    else if (mod == HD_M_MULTICAST_CLUSTER_ALL)
      f->data[C_ALL] = 1;
    else if (mod != HD_M_TRY_CANCEL && mod != HD_M_QUERY_CANCEL && mod != HD_M_ASYNC &&
             mod != HD_M_MBARRIER_COMPLETE_TX_BYTES && mod != HD_M_PRED && mod != HD_M_V4 &&
             mod != HD_M_B32 && mod != HD_M_B128) {
      emu_refuse_word(d, f, mod);
      return;
    }
  }
  const bool requests = EMU_HAS(f, TRY_CANCEL), asks = f->data[C_QUERY] != ASK_NOTHING;
  if (requests == asks || asks != EMU_HAS(f, QUERY_CANCEL) || (requests && !EMU_HAS(f, ASYNC)) ||
      EMU_HAS(f, V4) != (f->data[C_QUERY] == ASK_PLACE))
    f->refused = emu_no_form;
  f->proto.fn = requests ? emu_run_try_cancel : emu_run_query_cancel;
}

/* [answer], [mbarrier] */
static bool emit_request(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  emu_cancel *x = HD_NEW(fn->d->env->arena, emu_cancel);
  *x = (emu_cancel){.copy = {.op = EMU_BULK_LOAD, .size_slot = EMU_NO_SLOT, .mask_slot = EMU_NO_SLOT},
                    .to_all = f->data[C_ALL]};
  in->extra = x;
  fn->code->order_sensitive = true; /* what is left depends on what others took */
  return operand_count(fn, s, 2) &&
         emu_put_shared(fn, s, emu_operand(fn, s, 0), f->data[C_SPACE], &x->copy.dst) &&
         emu_put_shared(fn, s, emu_operand(fn, s, 1), f->data[C_SPACE], &x->copy.bar);
}

static bool emit_launch_control(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const query ask = (query)f->data[C_QUERY];
  if (ask == ASK_NOTHING) return emit_request(fn, f, s, in);
  emu_query *q = HD_NEW(fn->d->env->arena, emu_query);
  *q = (emu_query){.taken_slot = EMU_NO_SLOT, .at_slot = {EMU_NO_SLOT, EMU_NO_SLOT, EMU_NO_SLOT}};
  in->extra = q;
  const hd_ptx_opnd *to = emu_operand(fn, s, 0);
  if (!operand_count(fn, s, 2) || !emu_source(fn, s, emu_operand(fn, s, 1), 128, &q->answer_slot))
    return false;
  if (ask == ASK_TAKEN) return emu_destination(fn, s, to, 1, false, &q->taken_slot);
  if (ask != ASK_PLACE) return emu_destination(fn, s, to, 32, false, &q->at_slot[ask - ASK_X]);
  if (to->kind != HD_O_VEC || to->n_kids != 4) return emu_refuse(fn, s, "it writes four registers");
  for (unsigned k = 0; k < 3; k++)
    if (!emu_destination(fn, s, emu_kid(fn, to, k), 32, true, &q->at_slot[k])) return false;
  return true;
}
const emu_rule emu_rule_launch_control = {prepare_launch_control, emit_launch_control};
