/* emu/decode/tcgen05.c: tcgen05. */
#include "emu/decode/decode.h"
#include "emu/machine/tmem.h"

#include <stdio.h>

/* ---- Words ---------------------------------------------------------------------------------- */

typedef enum what {
  T_NONE = 0,
  T_ALLOC,
  T_DEALLOC,
  T_RELINQUISH,
  T_LD,
  T_ST,
  T_WAIT_LD,
  T_WAIT_ST,
  T_CP,
  T_SHIFT,
  T_COMMIT,
  T_FENCE,
  T_MMA,
} what;

static const struct {
  hd_mod mod;
  what what;
} ops[] = {{HD_M_ALLOC, T_ALLOC},
           {HD_M_DEALLOC, T_DEALLOC},
           {HD_M_RELINQUISH_ALLOC_PERMIT, T_RELINQUISH},
           {HD_M_LD, T_LD},
           {HD_M_ST, T_ST},
           {HD_M_WAIT_LD, T_WAIT_LD},
           {HD_M_WAIT_ST, T_WAIT_ST},
           {HD_M_CP, T_CP},
           {HD_M_SHIFT, T_SHIFT},
           {HD_M_COMMIT, T_COMMIT},
           {HD_M_FENCE_BEFORE_THREAD_SYNC, T_FENCE},
           {HD_M_FENCE_AFTER_THREAD_SYNC, T_FENCE},
           {HD_M_MMA, T_MMA}};
/* Of single threads, all their words but those of a table; the others are a warp's, and say so. */
static bool of_thread(what w) { return w >= T_CP; }

/* A word that stands for a number; -1: it does not. */
typedef struct number {
  hd_mod mod;
  int value;
} number;
#define NUMBER_OF(table, mod) number_of(table, sizeof(table) / sizeof(table)[0], mod)
static int number_of(const number *table, size_t n, hd_mod mod) {
  for (size_t k = 0; k < n; k++)
    if (table[k].mod == mod) return table[k].value;
  return -1;
}

static const number groups[] = {{HD_M_CTA_GROUP_1, 1}, {HD_M_CTA_GROUP_2, 2}};
static const number move_shapes[] = {{HD_M_16X64B, NUM_TC_16X64B},
                                     {HD_M_16X128B, NUM_TC_16X128B},
                                     {HD_M_16X256B, NUM_TC_16X256B},
                                     {HD_M_32X32B, NUM_TC_32X32B},
                                     {HD_M_16X32BX2, NUM_TC_16X32BX2}};
static const number repetitions[] = {{HD_M_X1, 1},   {HD_M_X2, 2},   {HD_M_X4, 4},   {HD_M_X8, 8},
                                     {HD_M_X16, 16}, {HD_M_X32, 32}, {HD_M_X64, 64}, {HD_M_X128, 128}};
/* Rows, and chunks of 16 bytes to one. */
static const number copy_shapes[] = {{HD_M_128X256B, 128 << 8 | 2},
                                     {HD_M_4X256B, 4 << 8 | 2},
                                     {HD_M_128X128B, 128 << 8 | 1},
                                     {HD_M_64X128B, 64 << 8 | 1},
                                     {HD_M_32X128B, 32 << 8 | 1}};
static const number spreads[] = {
    {HD_M_WARPX2_02_13, EMU_TMEM_02_13}, {HD_M_WARPX2_01_23, EMU_TMEM_01_23}, {HD_M_WARPX4, EMU_TMEM_X4}};
static const number paddings[] = {{HD_M_B4X16_P64, 4}, {HD_M_B6X16_P32, 6}};
static const number kinds[] = {{HD_M_KIND_F16, NUM_TC_F16},           {HD_M_KIND_TF32, NUM_TC_TF32},
                               {HD_M_KIND_F8F6F4, NUM_TC_F8F6F4},     {HD_M_KIND_I8, NUM_TC_I8},
                               {HD_M_KIND_MXF8F6F4, NUM_TC_MXF8F6F4}, {HD_M_KIND_MXF4, NUM_TC_MXF4},
                               {HD_M_KIND_MXF4NVF4, NUM_TC_MXF4NVF4}};
/* Scale factors along K, by their number or by how many elements one is for. */
enum { BLOCK16 = 16, BLOCK32 = 32 };
static const number scalings[] = {{HD_M_SCALE_VEC_1X, 1},
                                  {HD_M_SCALE_VEC_2X, 2},
                                  {HD_M_SCALE_VEC_4X, 4},
                                  {HD_M_BLOCK16, BLOCK16},
                                  {HD_M_BLOCK32, BLOCK32}};

/* What buffers keep of A and B between products, which no result shows. */
static bool keeps(const char *text) {
  static const char prefix[] = "collector::";
  return strncmp(text, prefix, sizeof prefix - 1) == 0;
}

/* emu_form.data. */
enum { F_WHAT, F_GROUP, F_SHAPE, F_NUM, F_SPREAD, F_BITS, F_KIND, F_SCALES, F_FLAGS };
enum { PACKED = 1, SPARSE = 2, WEIGHTS = 4, SCALED = 8, MULTICAST = 16, SYNC = 32, ALIGNED = 64 };
_Static_assert(F_FLAGS < sizeof((emu_form *)0)->data / sizeof((emu_form *)0)->data[0], "room for the words");

typedef struct field {
  uint16_t of; /* bits 1 << what */
  uint8_t data;
  const number *table;
  size_t n;
} field;
#define FIELD(of, data, table)                                                                               \
  { of, data, table, sizeof(table) / sizeof(table)[0] }
static const field fields[] = {
    FIELD(1 << T_ALLOC | 1 << T_DEALLOC | 1 << T_RELINQUISH | 1 << T_CP | 1 << T_SHIFT | 1 << T_COMMIT |
              1 << T_MMA,
          F_GROUP, groups),
    FIELD(1 << T_LD | 1 << T_ST, F_SHAPE, move_shapes),
    FIELD(1 << T_LD | 1 << T_ST, F_NUM, repetitions),
    FIELD(1 << T_CP, F_SHAPE, copy_shapes),
    FIELD(1 << T_CP, F_SPREAD, spreads),
    FIELD(1 << T_CP, F_BITS, paddings),
    FIELD(1 << T_MMA, F_KIND, kinds),
    FIELD(1 << T_MMA, F_SCALES, scalings),
};

static const struct {
  hd_mod mod;
  uint16_t of;
  uint8_t flag;
} flags[] = {
    {HD_M_SYNC, 0x7e | 1 << T_WAIT_ST, SYNC},
    {HD_M_ALIGNED, 0x7e | 1 << T_WAIT_ST, ALIGNED},
    {HD_M_B32, 1 << T_ALLOC | 1 << T_DEALLOC | 1 << T_LD | 1 << T_ST, 0},
    {HD_M_SHARED_CTA, 1 << T_ALLOC, 0},
    {HD_M_PACK_16B, 1 << T_LD, PACKED},
    {HD_M_UNPACK_16B, 1 << T_ST, PACKED},
    {HD_M_B8X16, 1 << T_CP, 0},
    {HD_M_DOWN, 1 << T_SHIFT, 0},
    {HD_M_MBARRIER_ARRIVE_ONE, 1 << T_COMMIT, 0},
    {HD_M_SHARED_CLUSTER, 1 << T_COMMIT, 0},
    {HD_M_MULTICAST_CLUSTER, 1 << T_COMMIT, MULTICAST},
    {HD_M_B64, 1 << T_COMMIT, 0},
    {HD_M_SP, 1 << T_MMA, SPARSE},
    {HD_M_WS, 1 << T_MMA, WEIGHTS},
    {HD_M_BLOCK_SCALE, 1 << T_MMA, SCALED},
};

/* Put a word into the form's data; false: it has no place there. */
static bool take_word(emu_decoder *d, emu_form *f, hd_mod mod) {
  const uint32_t of = 1u << f->data[F_WHAT];
  for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++) {
    const int v = fields[k].of & of ? number_of(fields[k].table, fields[k].n, mod) : -1;
    if (v < 0) continue;
    f->data[fields[k].data] = (uint32_t)v;
    return true;
  }
  for (size_t k = 0; k < sizeof flags / sizeof flags[0]; k++) {
    if (flags[k].mod != mod || !(flags[k].of & of)) continue;
    f->data[F_FLAGS] |= flags[k].flag;
    return true;
  }
  return f->data[F_WHAT] == T_MMA && keeps(hd_ptx_mod_text(d->m, mod));
}

/* ---- Forms ---------------------------------------------------------------------------------- */

static bool copy_fits(const emu_form *f) {
  const unsigned rows = f->data[F_SHAPE] >> 8, spread = f->data[F_SPREAD];
  if (f->data[F_BITS] && !EMU_HAS(f, B8X16)) return false;
  if (!f->data[F_BITS] && EMU_HAS(f, B8X16)) return false;
  return rows == 64   ? spread == EMU_TMEM_02_13 || spread == EMU_TMEM_01_23
         : rows == 32 ? spread == EMU_TMEM_X4
                      : rows && spread == EMU_TMEM_ONCE;
}

/* The scale factors that the words name, if there is such a product; -1: there is none. */
static int scales_of(const emu_form *f) {
  const unsigned word = f->data[F_SCALES];
  const bool scaled = f->data[F_FLAGS] & SCALED;
  switch (f->data[F_KIND]) {
  case NUM_TC_MXF8F6F4: return scaled && (word == 0 || word == 1 || word == BLOCK32) ? 1 : -1;
  case NUM_TC_MXF4: return scaled && (word == 0 || word == 2 || word == BLOCK32) ? 2 : -1;
  case NUM_TC_MXF4NVF4:
    if (!scaled) return -1;
    return word == 2 || word == BLOCK32 ? 2 : word == 4 || word == BLOCK16 ? 4 : -1;
  default: return scaled || word ? -1 : 0;
  }
}

static bool mma_fits(const emu_form *f) {
  const uint32_t bits = f->data[F_FLAGS];
  bool kind = false;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) kind |= NUMBER_OF(kinds, f->ptx->mods[k]) >= 0;
  return kind && scales_of(f) >= 0 && !(bits & WEIGHTS && (bits & SCALED || f->data[F_GROUP] == 2));
}

static bool fits(const emu_form *f) {
  const what w = (what)f->data[F_WHAT];
  const uint32_t bits = f->data[F_FLAGS], both = SYNC | ALIGNED;
  const bool grouped = w != T_LD && w != T_ST && w != T_WAIT_LD && w != T_WAIT_ST && w != T_FENCE;
  if (grouped != (f->data[F_GROUP] != 0) || (!of_thread(w) && (bits & both) != both)) return false;
  switch (w) {
  case T_LD:
  case T_ST:
    return EMU_HAS(f, B32) && f->data[F_NUM] && f->data[F_NUM] <= num_tc_most((num_tc_shape)f->data[F_SHAPE]);
  case T_CP: return copy_fits(f);
  case T_SHIFT: return EMU_HAS(f, DOWN);
  case T_COMMIT: return EMU_HAS(f, MBARRIER_ARRIVE_ONE) && EMU_HAS(f, B64);
  case T_MMA: return mma_fits(f);
  case T_ALLOC:
  case T_DEALLOC: return EMU_HAS(f, B32);
  default: return true;
  }
}

static void prepare_tcgen05(emu_decoder *d, emu_form *f) {
  static emu_fn *const fns[] = {[T_ALLOC] = emu_run_tmem_alloc,
                                [T_DEALLOC] = emu_run_tmem_dealloc,
                                [T_RELINQUISH] = emu_run_tmem_relinquish,
                                [T_LD] = emu_run_tmem_ld,
                                [T_ST] = emu_run_tmem_st,
                                [T_WAIT_LD] = emu_run_tmem_wait,
                                [T_WAIT_ST] = emu_run_tmem_wait,
                                [T_CP] = emu_run_tmem_cp,
                                [T_SHIFT] = emu_run_tmem_shift,
                                [T_COMMIT] = emu_run_tmem_commit,
                                [T_FENCE] = NULL,
                                [T_MMA] = NULL};
  hd_mod op = HD_M_NONE;
  for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++) {
    if (!hd_ptx_form_has(f->ptx, ops[k].mod)) continue;
    op = ops[k].mod;
    f->data[F_WHAT] = ops[k].what;
    break;
  }
  const what w = (what)f->data[F_WHAT];
  for (unsigned k = 0; k < f->ptx->n_mods; k++)
    if (f->ptx->mods[k] != op && !take_word(d, f, f->ptx->mods[k])) {
      emu_refuse_word(d, f, f->ptx->mods[k]);
      return;
    }
  if (w == T_NONE || !fits(f)) {
    f->refused = emu_no_form;
    return;
  }
  if (w == T_MMA) emu_use(d, f, "tcgen05.mma");
  f->proto.fn = fns[w];
  f->proto.control = w == T_FENCE ? EMU_NOP : of_thread(w) ? EMU_PLAIN : EMU_GATHER;
  if (w == T_COMMIT) f->proto.mem.strong = EMU_STRONG;
}

/* ---- Operands ------------------------------------------------------------------------------- */

static bool operand_count(emu_function *fn, const hd_ptx_stmt *s, unsigned n) {
  return s->n_opnds == n || emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, n);
}

/* [taddr]: 32 bits. */
static bool put_tensor(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, emu_pointer *p) {
  if (!o || o->kind != HD_O_ADDR) return emu_refuse(fn, s, "it names no address in tensor memory");
  return emu_put_shared(fn, s, o, HD_SPACE_SHARED, p) &&
         (p->mode != EMU_ADDR_64 ||
          emu_refuse(fn, s, "an address in tensor memory is a register of 32 bits"));
}

static bool emit_alloc(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  emu_pointer *to = HD_NEW(fn->d->env->arena, emu_pointer);
  in->extra = to;
  in->imm = f->data[F_GROUP];
  return operand_count(fn, s, 2) &&
         emu_put_shared(fn, s, emu_operand(fn, s, 0), EMU_HAS(f, SHARED_CTA) ? HD_SPACE_SHARED : EMU_GENERIC,
                        to) &&
         emu_source(fn, s, emu_operand(fn, s, 1), 32, &in->src[0]);
}

static bool emit_dealloc(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  in->imm = f->data[F_GROUP];
  return operand_count(fn, s, 2) && emu_source(fn, s, emu_operand(fn, s, 0), 32, &in->src[0]) &&
         emu_source(fn, s, emu_operand(fn, s, 1), 32, &in->src[1]);
}

static bool put_registers(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, bool loads,
                          emu_tmem_move *x) {
  const unsigned have = !o ? 0 : o->kind == HD_O_VEC ? o->n_kids : 1;
  if (have != x->n_regs) return emu_refuse(fn, s, "it has %u registers where %u are needed", have, x->n_regs);
  x->slot = HD_NEW_N(fn->d->env->arena, x->n_regs, uint32_t);
  for (unsigned k = 0; k < have; k++) {
    const hd_ptx_opnd *one = o->kind == HD_O_VEC ? emu_kid(fn, o, k) : o;
    if (loads ? !emu_destination(fn, s, one, 32, true, &x->slot[k])
              : !emu_source(fn, s, one, 32, &x->slot[k]))
      return false;
  }
  return true;
}

/* ld: r, [taddr] {, half}; st: [taddr] {, half}, r */
static bool emit_move(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  emu_tmem_move *x = HD_NEW(fn->d->env->arena, emu_tmem_move);
  const bool loads = f->data[F_WHAT] == T_LD, split = f->data[F_SHAPE] == NUM_TC_16X32BX2;
  const unsigned n = split ? 3 : 2;
  *x = (emu_tmem_move){.shape = (uint8_t)f->data[F_SHAPE],
                       .packed = f->data[F_FLAGS] & PACKED,
                       .n_regs = (uint16_t)(f->data[F_NUM] * num_tc_regs((num_tc_shape)f->data[F_SHAPE]))};
  in->extra = x;
  int64_t half = 0;
  if (!operand_count(fn, s, n) || (split && !emu_integer(fn, s, emu_operand(fn, s, loads ? 2 : 1), &half)))
    return false;
  if (half < 0 || half > NUM_TC_COLUMNS) return emu_refuse(fn, s, "its offset is %lld", (long long)half);
  x->half = (uint16_t)half;
  return put_tensor(fn, s, emu_operand(fn, s, loads ? 1 : 0), &x->at) &&
         put_registers(fn, s, emu_operand(fn, s, loads ? 0 : n - 1), loads, x);
}

static bool emit_copy(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const bool copies = f->data[F_WHAT] == T_CP;
  emu_tmem_copy *x = HD_NEW(fn->d->env->arena, emu_tmem_copy);
  *x = (emu_tmem_copy){.group = (uint8_t)f->data[F_GROUP],
                       .rows = (uint8_t)(f->data[F_SHAPE] >> 8),
                       .chunks = (uint8_t)f->data[F_SHAPE],
                       .spread = (uint8_t)f->data[F_SPREAD],
                       .bits = (uint8_t)f->data[F_BITS]};
  in->extra = x;
  return operand_count(fn, s, copies ? 2 : 1) && put_tensor(fn, s, emu_operand(fn, s, 0), &x->at) &&
         (!copies || emu_source(fn, s, emu_operand(fn, s, 1), 64, &x->desc_slot));
}

static bool emit_commit(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const bool many = f->data[F_FLAGS] & MULTICAST;
  emu_tmem_commit *x = HD_NEW(fn->d->env->arena, emu_tmem_commit);
  *x = (emu_tmem_commit){.mask_slot = EMU_NO_SLOT, .group = (uint8_t)f->data[F_GROUP]};
  in->extra = x;
  return operand_count(fn, s, many ? 2 : 1) &&
         emu_put_shared(fn, s, emu_operand(fn, s, 0),
                        EMU_HAS(f, SHARED_CLUSTER) ? HD_SPACE_SHARED : EMU_GENERIC, &x->bar) &&
         (!many || emu_source(fn, s, emu_operand(fn, s, 1), 16, &x->mask_slot));
}

/* {lanes of D that stay} */
static bool put_disabled(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, emu_tmem_mma *x) {
  x->n_disabled = (uint8_t)(4 * x->form.ctas);
  if (o->n_kids != x->n_disabled)
    return emu_refuse(fn, s, "it disables lanes by %u registers where %u are needed", o->n_kids,
                      x->n_disabled);
  for (unsigned k = 0; k < x->n_disabled; k++)
    if (!emu_source(fn, s, emu_kid(fn, o, k), 32, &x->disabled[k])) return false;
  return true;
}

/* What may stand behind enable-input-d. */
static bool put_last(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, emu_tmem_mma *x) {
  int64_t v;
  if (x->form.weights) return emu_source(fn, s, o, 64, &x->zeros_slot);
  const bool floats = x->form.kind == NUM_TC_F16 || x->form.kind == NUM_TC_TF32;
  if (!floats) return emu_refuse(fn, s, "D of this kind is not scaled");
  if (!emu_integer(fn, s, o, &v)) return false;
  if (v < 0 || v > 15) return emu_refuse(fn, s, "D is scaled by 2^-%lld: 0 to 15 are possible", (long long)v);
  x->shrink = (uint8_t)v;
  return true;
}

/* [d], a | [a], b {, [metadata]}, idesc {, [scale-a], [scale-b]} {, {lanes}}, enable-input-d {, last} */
static bool emit_mma(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  emu_tmem_mma *x = HD_NEW(fn->d->env->arena, emu_tmem_mma);
  const uint32_t bits = f->data[F_FLAGS];
  *x = (emu_tmem_mma){.form = {.kind = (uint8_t)f->data[F_KIND],
                               .ctas = (uint8_t)f->data[F_GROUP],
                               .scales = (uint8_t)scales_of(f),
                               .sparse = bits & SPARSE,
                               .weights = bits & WEIGHTS},
                      .zeros_slot = EMU_NO_SLOT};
  in->extra = x;
  const unsigned most = s->n_opnds;
  unsigned k = 3;
  const hd_ptx_opnd *a = emu_operand(fn, s, 1);
  x->a_in_tensor = a && a->kind == HD_O_ADDR;
  if (!put_tensor(fn, s, emu_operand(fn, s, 0), &x->d) ||
      !(x->a_in_tensor ? put_tensor(fn, s, a, &x->a) : emu_source(fn, s, a, 64, &x->a_slot)) ||
      !emu_source(fn, s, emu_operand(fn, s, 2), 64, &x->b_slot) ||
      (x->form.sparse && !put_tensor(fn, s, emu_operand(fn, s, k++), &x->meta)) ||
      !emu_source(fn, s, emu_operand(fn, s, k++), 32, &x->desc_slot))
    return false;
  if (x->form.scales && (!put_tensor(fn, s, emu_operand(fn, s, k), &x->a_scale) ||
                         !put_tensor(fn, s, emu_operand(fn, s, k + 1), &x->b_scale)))
    return false;
  if (x->form.scales) k += 2;
  const hd_ptx_opnd *lanes = emu_operand(fn, s, k);
  if (lanes && lanes->kind == HD_O_VEC) {
    if (x->form.scales || x->form.weights) return emu_refuse(fn, s, "it disables no lanes");
    if (!put_disabled(fn, s, lanes, x)) return false;
    k++;
  }
  if (!emu_predicate(fn, s, emu_operand(fn, s, k++), &x->add_slot, &x->add_neg)) return false;
  if (k < most && !x->form.scales && !put_last(fn, s, emu_operand(fn, s, k++), x)) return false;
  return operand_count(fn, s, k);
}

static bool emit_tcgen05(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  switch ((what)f->data[F_WHAT]) {
  case T_ALLOC: return emit_alloc(fn, f, s, in);
  case T_DEALLOC: return emit_dealloc(fn, f, s, in);
  case T_LD:
  case T_ST: return emit_move(fn, f, s, in);
  case T_CP:
  case T_SHIFT: return emit_copy(fn, f, s, in);
  case T_COMMIT: return emit_commit(fn, f, s, in);
  case T_MMA: return emit_mma(fn, f, s, in);
  case T_WAIT_LD:
  case T_WAIT_ST: in->imm = f->data[F_WHAT] == T_WAIT_LD ? 1 : 2; break;
  case T_RELINQUISH: in->imm = f->data[F_GROUP]; break;
  default: break;
  }
  return operand_count(fn, s, 0);
}
const emu_rule emu_rule_tcgen05 = {prepare_tcgen05, emit_tcgen05};
