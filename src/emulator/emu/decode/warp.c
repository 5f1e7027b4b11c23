/* emu/decode/warp.c: shfl, vote, match, redux, activemask, elect, and the matrix instructions. */
#include "emu/decode/decode.h"

#include <stdio.h>

/* The .sync forms wait for the threads that their last operand names. */
static bool put_members(emu_function *fn, const hd_ptx_stmt *s, emu_exchange e, emu_inst *in) {
  in->control = EMU_GATHER;
  in->exchange = (uint8_t)e;
  in->gather_mask = 1;
  return emu_source(fn, s, emu_operand(fn, s, s->n_opnds - 1u), 32, &in->src[3]);
}
static bool operand_count(emu_function *fn, const hd_ptx_stmt *s, unsigned n) {
  return s->n_opnds == n || emu_refuse(fn, s, "it has %u operands where %u are expected", s->n_opnds, n);
}
/* d|p: either may be "_" or missing. */
static bool put_pair(emu_function *fn, const hd_ptx_stmt *s, unsigned bits, emu_inst *in) {
  const hd_ptx_opnd *d, *p;
  emu_pair(fn, emu_operand(fn, s, 0), &d, &p);
  in->dst2 = EMU_NO_SLOT;
  if (p && !emu_destination(fn, s, p, 1, true, &in->dst2)) return false;
  return emu_destination(fn, s, d, bits, true, &in->dst);
}

/* ---- shfl ------------------------------------------------------------------------------ */

static void prepare_shfl(emu_decoder *d, emu_form *f) {
  const char *name = EMU_HAS(f, UP)     ? "shfl.up"
                     : EMU_HAS(f, DOWN) ? "shfl.down"
                     : EMU_HAS(f, BFLY) ? "shfl.bfly"
                     : EMU_HAS(f, IDX)  ? "shfl.idx"
                                        : "";
  emu_use(d, f, name);
}
static bool emit_shfl(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const bool sync = EMU_HAS(f, SYNC);
  if (!operand_count(fn, s, sync ? 5 : 4)) return false;
  for (unsigned k = 0; k < 3; k++)
    if (!emu_source(fn, s, emu_operand(fn, s, k + 1), 32, &in->src[k])) return false;
  return put_pair(fn, s, 32, in) && (!sync || put_members(fn, s, EMU_SHFL, in));
}
const emu_rule emu_rule_shfl = {prepare_shfl, emit_shfl};

/* ---- vote, match, redux, activemask, elect ---------------------------------------------- */

static void prepare_vote(emu_decoder *d, emu_form *f) {
  f->data[0] = EMU_HAS(f, BALLOT) ? 32 : 1;
  emu_use(d, f,
          EMU_HAS(f, BALLOT) ? "vote.ballot"
          : EMU_HAS(f, ALL)  ? "vote.all"
          : EMU_HAS(f, ANY)  ? "vote.any"
          : EMU_HAS(f, UNI)  ? "vote.uni"
                             : "");
}
static bool emit_vote(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const bool sync = EMU_HAS(f, SYNC);
  return operand_count(fn, s, sync ? 3 : 2) &&
         emu_predicate(fn, s, emu_operand(fn, s, 1), &in->src[0], &in->compare.negate) &&
         emu_destination(fn, s, emu_operand(fn, s, 0), f->data[0], false, &in->dst) &&
         (!sync || put_members(fn, s, f->data[0] == 1 ? EMU_VOTE : EMU_BALLOT, in));
}
const emu_rule emu_rule_vote = {prepare_vote, emit_vote};

static void prepare_match(emu_decoder *d, emu_form *f) {
  char name[32];
  f->data[0] = f->words.n_types ? emu_type_bits(f->words.types[0]) : 0;
  snprintf(name, sizeof name, "match.%s.%u", EMU_HAS(f, ALL) ? "all" : "any", f->data[0]);
  emu_use(d, f, name);
}
static bool emit_match(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  return operand_count(fn, s, 3) && emu_source(fn, s, emu_operand(fn, s, 1), f->data[0], &in->src[0]) &&
         (EMU_HAS(f, ALL) ? put_pair(fn, s, 32, in)
                          : emu_destination(fn, s, emu_operand(fn, s, 0), 32, false, &in->dst)) &&
         put_members(fn, s,
                     EMU_HAS(f, ALL)    ? f->data[0] == 64 ? EMU_MATCH_ALL_64 : EMU_MATCH_ALL
                     : f->data[0] == 64 ? EMU_MATCH_ANY_64
                                        : EMU_MATCH_ANY,
                     in);
}
const emu_rule emu_rule_match = {prepare_match, emit_match};

static void prepare_redux(emu_decoder *d, emu_form *f) {
  if (f->words.n_types == 1 && f->words.types[0] == HD_M_F32) {
    f->proto.arith.op = EMU_HAS(f, MAX);
    f->proto.arith.sat = f->words.abs;
    f->proto.arith.nan = f->words.nan;
    if (EMU_HAS(f, MAX) || EMU_HAS(f, MIN))
      emu_use(d, f, "redux.f32");
    else
      f->refused = emu_no_form;
    return;
  }
  f->op = emu_find_form(d, "redux", f->ptx, NULL, false);
  if (!f->op) f->refused = emu_no_form;
}
static bool emit_redux(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  return operand_count(fn, s, 3) && emu_source(fn, s, emu_operand(fn, s, 1), 32, &in->src[0]) &&
         emu_destination(fn, s, emu_operand(fn, s, 0), 32, false, &in->dst) &&
         put_members(fn, s, EMU_REDUX, in);
}
const emu_rule emu_rule_redux = {prepare_redux, emit_redux};

static void prepare_activemask(emu_decoder *d, emu_form *f) { emu_use(d, f, "activemask"); }
static bool emit_activemask(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  return operand_count(fn, s, 1) && emu_destination(fn, s, emu_operand(fn, s, 0), 32, false, &in->dst);
}
const emu_rule emu_rule_activemask = {prepare_activemask, emit_activemask};

static void prepare_elect(emu_decoder *d, emu_form *f) { emu_use(d, f, "elect"); }
static bool emit_elect(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  return operand_count(fn, s, 2) && put_pair(fn, s, 32, in) && put_members(fn, s, EMU_NO_EXCHANGE, in);
}
const emu_rule emu_rule_elect = {prepare_elect, emit_elect};

/* ---- Fragments ------------------------------------------------------------------------------- */

/* The registers {a, b, ...} (or one alone) of a fragment; at least `n` of them are needed. */
static bool put_fragment(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned n,
                         unsigned bits, bool write, uint32_t *slots) {
  const unsigned have = !o ? 0 : o->kind == HD_O_VEC ? o->n_kids : 1;
  if (have < n || have > EMU_FRAGMENT_REGS)
    return emu_refuse(fn, s, "a fragment has %u registers where %u are needed", have, n);
  for (unsigned k = 0; k < have; k++) {
    const hd_ptx_opnd *one = o->kind == HD_O_VEC ? emu_kid(fn, o, k) : o;
    if (!(write ? emu_destination(fn, s, one, bits, false, &slots[k])
                : emu_source(fn, s, one, bits, &slots[k])))
      return false;
  }
  return true;
}

static bool mma_type(hd_mod mod, uint8_t *out) {
  switch (mod) {
  case HD_M_F16: *out = NUM_MMA_F16; return true;
  case HD_M_BF16: *out = NUM_MMA_BF16; return true;
  case HD_M_TF32: *out = NUM_MMA_TF32; return true;
  case HD_M_F64: *out = NUM_MMA_F64; return true;
  case HD_M_S8: *out = NUM_MMA_S8; return true;
  case HD_M_U8: *out = NUM_MMA_U8; return true;
  case HD_M_S4: *out = NUM_MMA_S4; return true;
  case HD_M_U4: *out = NUM_MMA_U4; return true;
  case HD_M_B1: *out = NUM_MMA_B1; return true;
  case HD_M_E4M3: *out = NUM_MMA_E4M3; return true;
  case HD_M_E5M2: *out = NUM_MMA_E5M2; return true;
  case HD_M_E2M3: *out = NUM_MMA_E2M3; return true;
  case HD_M_E3M2: *out = NUM_MMA_E3M2; return true;
  case HD_M_E2M1: *out = NUM_MMA_E2M1; return true;
  case HD_M_S32: *out = NUM_MMA_S32; return true;
  case HD_M_F32: *out = NUM_MMA_F32; return true;
  default: return false;
  }
}

/* The modifiers of mma and wmma. */
typedef struct matrix_words {
  unsigned m, n, k;
  uint8_t types[4], n_types;
  unsigned rows, columns; /* how often .row and .col stand */
  bool first_is_column;
  bool satfinite, sparse;
  char b1_op;
  hd_mod kind;      /* .kind::f8f6f4 ... */
  bool scaled;      /* .block_scale */
  unsigned factors; /* .scale_vec::2X: 2 */
  hd_mod factor_type;
  hd_mod other;
} matrix_words;

static bool is_small(unsigned type) {
  return type == NUM_MMA_E2M3 || type == NUM_MMA_E3M2 || type == NUM_MMA_E2M1;
}

static void read_matrix_words(const emu_decoder *d, const emu_form *f, matrix_words *w) {
  *w = (matrix_words){0};
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    uint8_t type;
    int end = 0;
    const char *text = hd_ptx_mod_text(d->m, mod);
    if (mma_type(mod, &type)) {
      if (w->n_types < 4) w->types[w->n_types++] = type;
      if (is_small(type) && !w->kind && !w->other) w->other = mod;
      continue;
    }
    if (sscanf(text, "m%un%uk%u%n", &w->m, &w->n, &w->k, &end) == 3 && !text[end]) continue;
    switch (mod) {
    case HD_M_SYNC:
    case HD_M_ALIGNED:
    case HD_M_POPC: break;
    case HD_M_ROW: w->rows++; break;
    case HD_M_COL:
      if (!w->rows) w->first_is_column = true;
      w->columns++;
      break;
    case HD_M_SATFINITE: w->satfinite = true; break;
    /* Ordered metadata are such as another order of the same says, too. */
    case HD_M_SP:
    case HD_M_SP_ORDERED_METADATA: w->sparse = true; break;
    case HD_M_KIND_F8F6F4:
    case HD_M_KIND_MXF8F6F4:
    case HD_M_KIND_MXF4:
    case HD_M_KIND_MXF4NVF4: w->kind = mod; break;
    case HD_M_BLOCK_SCALE: w->scaled = true; break;
    case HD_M_SCALE_VEC_1X: w->factors = 1; break;
    case HD_M_SCALE_VEC_2X: w->factors = 2; break;
    case HD_M_SCALE_VEC_4X: w->factors = 4; break;
    case HD_M_UE8M0:
    case HD_M_UE4M3: w->factor_type = mod; break;
    case HD_M_XOR: w->b1_op = '^'; break;
    case HD_M_AND: w->b1_op = '&'; break;
    default:
      if (!w->other) w->other = mod;
    }
  }
}

/* ---- mma ----------------------------------------------------------------------------------------- */

static bool setup_mma(const matrix_words *w, num_mma *m, unsigned *selectors) {
  if (w->m > UINT8_MAX || w->n > UINT8_MAX || w->k > UINT16_MAX || w->n_types != 4) return false;
  *m = (num_mma){.m = (uint8_t)w->m,
                 .n = (uint8_t)w->n,
                 .k = (uint16_t)w->k,
                 .d = w->types[0],
                 .a = w->types[1],
                 .b = w->types[2],
                 .c = w->types[3],
                 .satfinite = w->satfinite,
                 .b1_op = w->b1_op};
  return (w->sparse ? num_sparse_setup(m, selectors) : num_mma_setup(m)) && m->a_regs <= EMU_FRAGMENT_REGS &&
         m->b_regs <= EMU_FRAGMENT_REGS && m->c_regs <= EMU_FRAGMENT_REGS && m->d_regs <= EMU_FRAGMENT_REGS;
}

/* What .kind says of the other words, as ptxas has it; *scaling.per_k is 0 without .block_scale. Elements of
 * the kinds of 4 bits are packed. */
static bool kind_fits(const matrix_words *w, matrix_words *typed, num_scaling *scaling) {
  static const struct {
    hd_mod kind;
    unsigned k;
    hd_mod factor_type;
    unsigned factors;
    bool is_default; /* where no word says how many factors */
  } kinds[] = {{HD_M_KIND_MXF8F6F4, 32, HD_M_UE8M0, 1, true},
               {HD_M_KIND_MXF4, 64, HD_M_UE8M0, 2, true},
               {HD_M_KIND_MXF4NVF4, 64, HD_M_UE8M0, 2, false},
               {HD_M_KIND_MXF4NVF4, 64, HD_M_UE4M3, 4, false}};
  *typed = *w;
  *scaling = (num_scaling){0};
  if (w->n_types != 4) return !w->kind && !w->scaled;
  const bool fp8 = (is_small(w->types[1]) || w->types[1] == NUM_MMA_E4M3 || w->types[1] == NUM_MMA_E5M2) &&
                   (is_small(w->types[2]) || w->types[2] == NUM_MMA_E4M3 || w->types[2] == NUM_MMA_E5M2);
  if (!w->kind || w->kind == HD_M_KIND_F8F6F4)
    return !w->scaled && !w->factors && !w->factor_type &&
           (!w->kind || (fp8 && w->k == (w->sparse ? 64 : 32)));
  for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
    if (kinds[n].kind != w->kind || kinds[n].factor_type != w->factor_type || kinds[n].k != w->k ||
        (w->factors ? w->factors != kinds[n].factors : !kinds[n].is_default))
      continue;
    const bool packed = w->kind != HD_M_KIND_MXF8F6F4;
    if (!w->scaled || w->sparse || w->types[0] != NUM_MMA_F32 || !fp8 ||
        (packed && (w->types[1] != NUM_MMA_E2M1 || w->types[2] != NUM_MMA_E2M1)))
      return false;
    if (packed) typed->types[1] = typed->types[2] = NUM_MMA_E2M1X8;
    *scaling =
        (num_scaling){.fmt = w->factor_type == HD_M_UE8M0 ? NUM_UE8M0 : NUM_E4M3, .per_k = kinds[n].factors};
    return true;
  }
  return false;
}

/* f16 m8n8k4, in any layouts. */
static bool setup_quads(const matrix_words *w, emu_mma *x) {
  const bool f16 = w->n_types == 4 && w->types[1] == NUM_MMA_F16 && w->types[2] == NUM_MMA_F16;
  if (w->sparse || w->m != 8 || w->n != 8 || w->k != 4 || !f16 || w->satfinite || w->b1_op ||
      w->rows + w->columns != 2)
    return false;
  x->quad = (num_mma_quad){.a_column = w->first_is_column,
                           .b_row = w->rows == (w->first_is_column ? 1 : 2),
                           .c_f16 = w->types[3] == NUM_MMA_F16,
                           .d_f16 = w->types[0] == NUM_MMA_F16};
  x->m = (num_mma){.a_regs = 2, .b_regs = 2};
  x->m.c_regs = x->quad.c_f16 ? 4 : 8;
  x->m.d_regs = x->quad.d_f16 ? 4 : 8;
  return (x->quad.c_f16 || w->types[3] == NUM_MMA_F32) && (x->quad.d_f16 || w->types[0] == NUM_MMA_F32);
}

static void prepare_mma(emu_decoder *d, emu_form *f) {
  matrix_words words, w;
  num_mma m;
  num_scaling scaling;
  emu_mma quads;
  unsigned selectors;
  read_matrix_words(d, f, &words);
  f->proto.control = EMU_GATHER;
  if (words.other)
    emu_refuse_word(d, f, words.other);
  else if (words.scaled && words.sparse)
    f->refused = ".sp with .block_scale is not emulated";
  else if (!kind_fits(&words, &w, &scaling))
    f->refused = emu_no_form;
  else if (setup_quads(&w, &quads))
    emu_use(d, f, "mma.quads");
  else if (w.rows != 1 || w.columns != 1 || w.first_is_column || !setup_mma(&w, &m, &selectors))
    f->refused = emu_no_form;
  else
    emu_use(d, f, w.sparse ? "mma.sp" : scaling.per_k ? "mma.scaled" : "mma");
}
/* mma d, a, b, c, factors of a, {byte, thread}, factors of b, {byte, thread} */
static bool put_factors(emu_function *fn, const hd_ptx_stmt *s, emu_mma *x) {
  const hd_ptx_opnd *of_a = emu_operand(fn, s, 5), *of_b = emu_operand(fn, s, 7);
  if (of_a->kind != HD_O_VEC || of_a->n_kids != 2 || of_b->kind != HD_O_VEC || of_b->n_kids != 2)
    return emu_refuse(fn, s, "it names no byte and thread of its factors");
  return emu_source(fn, s, emu_operand(fn, s, 4), 32, &x->scale_a) &&
         emu_source(fn, s, emu_operand(fn, s, 6), 32, &x->scale_b) &&
         emu_source(fn, s, emu_kid(fn, of_a, 0), 16, &x->byte_a) &&
         emu_source(fn, s, emu_kid(fn, of_a, 1), 16, &x->thread_a) &&
         emu_source(fn, s, emu_kid(fn, of_b, 0), 16, &x->byte_b) &&
         emu_source(fn, s, emu_kid(fn, of_b, 1), 16, &x->thread_b);
}
/* mma.sp d, a, b, c, metadata, selector */
static bool put_metadata(emu_function *fn, const hd_ptx_stmt *s, unsigned selectors, emu_mma *x) {
  int64_t selector;
  if (!emu_integer(fn, s, emu_operand(fn, s, 5), &selector)) return false;
  if (selector < 0 || selector >= (int64_t)selectors)
    return emu_refuse(fn, s, "its selector is not in 0 to %u", selectors - 1);
  x->selector = (uint8_t)selector;
  return emu_source(fn, s, emu_operand(fn, s, 4), 32, &x->meta);
}
static bool emit_mma(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  matrix_words words, w;
  emu_mma *x = HD_NEW(fn->d->env->arena, emu_mma);
  unsigned selectors = 1;
  read_matrix_words(fn->d, f, &words);
  if (!kind_fits(&words, &w, &x->scaling) ||
      !operand_count(fn, s,
                     w.sparse   ? 6
                     : w.scaled ? 8
                                : 4) ||
      (w.scaled && !put_factors(fn, s, x)) || (!setup_quads(&w, x) && !setup_mma(&w, &x->m, &selectors)) ||
      (w.sparse && !put_metadata(fn, s, selectors, x)))
    return false;
  const unsigned bits = x->m.a == NUM_MMA_F64 ? 64 : 32;
  in->extra = x;
  return put_fragment(fn, s, emu_operand(fn, s, 0), x->m.d_regs, bits, true, x->d) &&
         put_fragment(fn, s, emu_operand(fn, s, 1), x->m.a_regs, bits, false, x->a) &&
         put_fragment(fn, s, emu_operand(fn, s, 2), x->m.b_regs, bits, false, x->b) &&
         put_fragment(fn, s, emu_operand(fn, s, 3), x->m.c_regs, bits, false, x->c);
}
const emu_rule emu_rule_mma = {prepare_mma, emit_mma};

/* ---- wmma ------------------------------------------------------------------------------------------- */

/* A product's shape: that of the mma it is made of, the dimension that two of them split, and whether it is
 * the transpose of PTX's. */
typedef struct wmma_shape {
  uint16_t k;
  char split;
  bool swapped;
} wmma_shape;
static bool wmma_shape_of(const matrix_words *w, wmma_shape *s) {
  *s = (wmma_shape){.k = (uint16_t)w->k, .split = w->m == 16 ? 'n' : 'm', .swapped = w->m == 8};
  return w->k == 16 ? (w->m == 16 && w->n == 16) || (w->m == 32 && w->n == 8) || (w->m == 8 && w->n == 32)
                    : w->k == 8 && w->m == 16 && w->n == 16; /* .tf32 */
}

/* types: f16: D and C; else D, A, B, C. */
static bool setup_wmma(const matrix_words *w, emu_mma *x, wmma_shape *s) {
  if (!wmma_shape_of(w, s) || (w->n_types != 2 && w->n_types != 4)) return false;
  x->m = (num_mma){.m = 16, .n = 8, .k = s->k, .satfinite = w->satfinite};
  x->m.d = w->types[0];
  x->m.c = w->types[w->n_types - 1];
  const uint8_t a = w->n_types == 4 ? w->types[1] : NUM_MMA_F16,
                b = w->n_types == 4 ? w->types[2] : NUM_MMA_F16;
  x->m.a = s->swapped ? b : a;
  x->m.b = s->swapped ? a : b;
  x->split = s->split;
  return num_mma_setup(&x->m) && 2 * x->m.c_regs <= EMU_FRAGMENT_REGS;
}

/* One fragment of a load or store, by its one type. */
static bool setup_fragment(const matrix_words *w, char which, emu_wmma *x) {
  static const struct {
    uint8_t type, element, accumulator;
    bool is_accumulator;
  } kinds[] = {{NUM_MMA_F16, 2, NUM_MMA_F32, false},  {NUM_MMA_BF16, 2, NUM_MMA_F32, false},
               {NUM_MMA_TF32, 4, NUM_MMA_F32, false}, {NUM_MMA_S8, 1, NUM_MMA_S32, false},
               {NUM_MMA_U8, 1, NUM_MMA_S32, false},   {NUM_MMA_F16, 2, NUM_MMA_F16, true},
               {NUM_MMA_F32, 4, NUM_MMA_F32, true},   {NUM_MMA_S32, 4, NUM_MMA_S32, true}};
  wmma_shape s;
  const bool accumulator = which == 'c' || which == 'd';
  if (!wmma_shape_of(w, &s) || w->n_types != 1 || w->satfinite || w->rows + w->columns != 1) return false;
  for (unsigned k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    if (kinds[k].type != w->types[0] || kinds[k].is_accumulator != accumulator) continue;
    *x = (emu_wmma){
        .split = s.split, .element = kinds[k].element, .column_major = (w->columns != 0) != s.swapped};
    x->which = accumulator ? 'c' : (which == 'a') != s.swapped ? 'a' : 'b';
    x->m = (num_mma){.m = 16, .n = 8, .k = s.k, .c = kinds[k].accumulator, .d = kinds[k].accumulator};
    /* Any multiplicands that go with the accumulator: they do not change its layout. */
    x->m.a = x->m.b = !accumulator                   ? w->types[0]
                      : s.k == 8                     ? NUM_MMA_TF32
                      : kinds[k].type == NUM_MMA_S32 ? NUM_MMA_S8
                                                     : NUM_MMA_F16;
    if (!num_mma_setup(&x->m)) return false;
    const unsigned rows = which == 'b' ? w->k : w->m, columns = which == 'a' ? w->k : w->n;
    const unsigned regs = rows * columns * x->element / 128;
    x->n_regs = (uint8_t)(w->types[0] == NUM_MMA_F16 && !accumulator ? 8 : regs);
    x->pitch = (uint8_t)(w->columns ? rows : columns);
    return regs >= 1 && x->n_regs <= EMU_FRAGMENT_REGS;
  }
  return false;
}

/* Sorts out wmma's own modifiers: which fragment, in which space. */
typedef struct wmma_words {
  matrix_words w;
  char what; /* 'l' load, 's' store, 'm' mma */
  char which;
  unsigned space;
  bool known;
} wmma_words;

static void read_wmma_words(const emu_decoder *d, const emu_form *f, wmma_words *x) {
  *x = (wmma_words){.space = EMU_GENERIC, .known = true};
  hd_ptx_form rest = *f->ptx;
  rest.n_mods = 0;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    switch (mod) {
    case HD_M_LOAD: x->what = 'l'; break;
    case HD_M_STORE: x->what = 's'; break;
    case HD_M_MMA: x->what = 'm'; break;
    case HD_M_A: x->which = 'a'; break;
    case HD_M_B: x->which = 'b'; break;
    case HD_M_C: x->which = 'c'; break;
    case HD_M_D: x->which = 'd'; break;
    case HD_M_GLOBAL: x->space = HD_SPACE_GLOBAL; break;
    case HD_M_SHARED:
    case HD_M_SHARED_CTA: x->space = HD_SPACE_SHARED; break;
    default: rest.mods[rest.n_mods++] = mod;
    }
  }
  const emu_form reduced = {.ptx = &rest};
  read_matrix_words(d, &reduced, &x->w);
  x->known = !x->w.other && !x->w.sparse && !x->w.kind && !x->w.scaled;
}

static void prepare_wmma(emu_decoder *d, emu_form *f) {
  wmma_words x;
  wmma_shape shape;
  emu_mma product;
  emu_wmma fragment;
  read_wmma_words(d, f, &x);
  f->proto.control = EMU_GATHER;
  f->proto.mem.cache = HD_CACHE_L1;
  const bool ok =
      x.known && (x.what == 'm' ? x.w.rows + x.w.columns == 2 && setup_wmma(&x.w, &product, &shape)
                                : x.what && x.which && setup_fragment(&x.w, x.which, &fragment));
  if (!ok)
    f->refused = emu_no_form;
  else
    emu_use(d, f, x.what == 'm' ? "wmma.mma" : x.what == 'l' ? "wmma.load" : "wmma.store");
}

static bool emit_wmma(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  wmma_words w;
  read_wmma_words(fn->d, f, &w);
  if (w.what == 'm') {
    emu_mma *x = HD_NEW(fn->d->env->arena, emu_mma);
    wmma_shape shape;
    if (!operand_count(fn, s, 4) || !setup_wmma(&w.w, x, &shape)) return false;
    in->extra = x;
    const unsigned a = shape.swapped ? 2 : 1, b = 3 - a;
    return put_fragment(fn, s, emu_operand(fn, s, 0), 2u * x->m.d_regs, 32, true, x->d) &&
           put_fragment(fn, s, emu_operand(fn, s, a), (x->split == 'm' ? 2u : 1u) * x->m.a_regs, 32, false,
                        x->a) &&
           put_fragment(fn, s, emu_operand(fn, s, b), (x->split == 'n' ? 2u : 1u) * x->m.b_regs, 32, false,
                        x->b) &&
           put_fragment(fn, s, emu_operand(fn, s, 3), 2u * x->m.c_regs, 32, false, x->c);
  }
  emu_wmma *x = HD_NEW(fn->d->env->arena, emu_wmma);
  if (s->n_opnds < 2 || s->n_opnds > 3) return emu_refuse(fn, s, "it has %u operands", s->n_opnds);
  if (!setup_fragment(&w.w, w.which, x)) return false;
  const bool load = w.what == 'l';
  in->extra = x;
  x->stride_slot = EMU_NO_SLOT;
  if (s->n_opnds == 3 && !emu_source(fn, s, emu_operand(fn, s, 2), 32, &x->stride_slot)) return false;
  return put_fragment(fn, s, emu_operand(fn, s, load ? 0 : 1), x->n_regs, 32, load, x->slot) &&
         emu_put_address(fn, s, emu_operand(fn, s, load ? 1 : 0), w.space, in);
}
const emu_rule emu_rule_wmma = {prepare_wmma, emit_wmma};

/* ---- ldmatrix, stmatrix, movmatrix --------------------------------------------------------------------- */

/* emu_form.data of these: the state space, and the bits of an element in memory, of .b16: 0. */
enum { X_SPACE = 0, X_BITS = 1 };

/* The shapes of ptxas. Those of .b8 are transposed; elements of 6 and 4 bits become ones of 8. */
static bool shape_fits(const emu_form *f) {
  const bool loads = f->ptx->op == HD_OP_LDMATRIX, widens = EMU_HAS(f, B8X16);
  const unsigned bits = f->data[X_BITS],
                 shapes = EMU_HAS(f, M8N8) + EMU_HAS(f, M8N16) + EMU_HAS(f, M16N16) + EMU_HAS(f, M16N8);
  if (shapes != 1 || (bits == 0) != EMU_HAS(f, B16) || widens != (bits == 6 || bits == 4) ||
      (widens && !loads))
    return false;
  if (EMU_HAS(f, M8N8)) return !bits;
  if (EMU_HAS(f, M8N16)) return widens && !f->proto.mem.transposed;
  if (EMU_HAS(f, M16N16)) return loads && bits && f->proto.mem.transposed && f->proto.mem.count <= 2;
  return f->ptx->op == HD_OP_STMATRIX && bits == 8 && f->proto.mem.transposed;
}

static void prepare_xmatrix(emu_decoder *d, emu_form *f, const char *name) {
  f->proto.control = EMU_GATHER;
  f->proto.mem.cache = HD_CACHE_L1;
  f->data[X_SPACE] = EMU_GENERIC;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    switch (f->ptx->mods[k]) {
    case HD_M_SYNC:
    case HD_M_ALIGNED:
    case HD_M_M8N8:
    case HD_M_M16N16:
    case HD_M_M8N16:
    case HD_M_M16N8:
    case HD_M_B8X16:
    case HD_M_B16: break;
    case HD_M_B8: f->data[X_BITS] = 8; break;
    case HD_M_B6X16_P32: f->data[X_BITS] = 6; break;
    case HD_M_B4X16_P64: f->data[X_BITS] = 4; break;
    case HD_M_X1: f->proto.mem.count = 1; break;
    case HD_M_X2: f->proto.mem.count = 2; break;
    case HD_M_X4: f->proto.mem.count = 4; break;
    case HD_M_TRANS: f->proto.mem.transposed = 1; break;
    case HD_M_SHARED:
    case HD_M_SHARED_CTA: f->data[X_SPACE] = HD_SPACE_SHARED; break;
    default: emu_refuse_word(d, f, f->ptx->mods[k]); return;
    }
  }
  f->proto.mem.type = (uint8_t)f->data[X_BITS];
  f->proto.mem.sync = EMU_SPREAD;
  emu_use(d, f, name);
  if (!shape_fits(f)) f->refused = emu_no_form;
}
static bool emit_xmatrix(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in,
                         unsigned regs) {
  const unsigned n = f->proto.mem.count * (EMU_HAS(f, M16N16) ? 2u : 1u);
  const hd_ptx_opnd *o = emu_operand(fn, s, regs);
  if (!operand_count(fn, s, 2)) return false;
  if (!n || (o->kind == HD_O_VEC ? o->n_kids : 1) != n)
    return emu_refuse(fn, s, "it has not %u registers", n);
  uint32_t *slots = HD_NEW_N(fn->d->env->arena, EMU_FRAGMENT_REGS, uint32_t);
  in->extra = slots;
  return put_fragment(fn, s, o, n, 32, regs == 0, slots) &&
         emu_put_address(fn, s, emu_operand(fn, s, 1 - regs), f->data[X_SPACE], in);
}
static void prepare_ldmatrix(emu_decoder *d, emu_form *f) {
  prepare_xmatrix(d, f,
                  EMU_HAS(f, M16N16)  ? "ldmatrix.m16n16"
                  : EMU_HAS(f, M8N16) ? "ldmatrix.m8n16"
                                      : "ldmatrix");
}
static bool emit_ldmatrix(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  return emit_xmatrix(fn, f, s, in, 0);
}
const emu_rule emu_rule_ldmatrix = {prepare_ldmatrix, emit_ldmatrix};
static void prepare_stmatrix(emu_decoder *d, emu_form *f) {
  prepare_xmatrix(d, f, EMU_HAS(f, M16N8) ? "stmatrix.m16n8" : "stmatrix");
}
static bool emit_stmatrix(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  return emit_xmatrix(fn, f, s, in, 1);
}
const emu_rule emu_rule_stmatrix = {prepare_stmatrix, emit_stmatrix};

static void prepare_movmatrix(emu_decoder *d, emu_form *f) {
  prepare_xmatrix(d, f, "movmatrix");
  if (!EMU_HAS(f, TRANS)) f->refused = emu_no_form;
}
static bool emit_movmatrix(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  return operand_count(fn, s, 2) && emu_source(fn, s, emu_operand(fn, s, 1), 32, &in->src[0]) &&
         emu_destination(fn, s, emu_operand(fn, s, 0), 32, false, &in->dst);
}
const emu_rule emu_rule_movmatrix = {prepare_movmatrix, emit_movmatrix};
