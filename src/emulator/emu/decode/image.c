/* emu/decode/image.c: tex, tld4, txq, suld, sust, sured, suq. */
#include "emu/machine/image.h"
#include "emu/decode/decode.h"

/* ---- Forms ------------------------------------------------------------------------- */

/* The meaning of each word of the form. A word that is neither in this table nor a type is refused. */
typedef enum word {
  W_UNKNOWN = 0,
  W_NOTHING,
  W_GEOMETRY, /* value: dims + LAYERED + CUBE */
  W_LOD,      /* value: emu_lod */
  W_SELECT,   /* a component */
  W_QUERY,    /* value: emu_image_query */
  W_BOUNDS,   /* value: emu_bounds_mode */
  W_TEXELS,   /* .p of surfaces */
  W_ATOM,     /* value: emu_atom_op */
} word;
enum { LAYERED = 4, CUBE = 8 };

static const struct {
  uint8_t word, value;
} words[HD_M_COUNT] = {
    [HD_M_1D] = {W_GEOMETRY, 1},
    [HD_M_2D] = {W_GEOMETRY, 2},
    [HD_M_3D] = {W_GEOMETRY, 3},
    [HD_M_A1D] = {W_GEOMETRY, 1 + LAYERED},
    [HD_M_A2D] = {W_GEOMETRY, 2 + LAYERED},
    [HD_M_CUBE] = {W_GEOMETRY, 3 + CUBE},
    [HD_M_ACUBE] = {W_GEOMETRY, 3 + LAYERED + CUBE},
    [HD_M_BASE] = {W_LOD, EMU_LOD_BASE},
    [HD_M_LEVEL] = {W_LOD, EMU_LOD_LEVEL},
    [HD_M_GRAD] = {W_LOD, EMU_LOD_GRAD},
    [HD_M_R] = {W_SELECT, 0},
    [HD_M_G] = {W_SELECT, 1},
    [HD_M_B] = {W_SELECT, 2}, /* of surfaces: x counts bytes, as it does without .p */
    [HD_M_A] = {W_SELECT, 3},
    [HD_M_P] = {W_TEXELS},
    [HD_M_TRAP] = {W_BOUNDS, EMU_BOUNDS_TRAP},
    [HD_M_CLAMP] = {W_BOUNDS, EMU_BOUNDS_CLAMP},
    [HD_M_ZERO] = {W_BOUNDS, EMU_BOUNDS_ZERO},
    [HD_M_WIDTH] = {W_QUERY, EMU_QUERY_WIDTH},
    [HD_M_HEIGHT] = {W_QUERY, EMU_QUERY_HEIGHT},
    [HD_M_DEPTH] = {W_QUERY, EMU_QUERY_DEPTH},
    [HD_M_ARRAY_SIZE] = {W_QUERY, EMU_QUERY_LAYERS},
    [HD_M_NUM_MIPMAP_LEVELS] = {W_QUERY, EMU_QUERY_LEVELS},
    [HD_M_NORMALIZED_COORDS] = {W_QUERY, EMU_QUERY_NORMALIZED},
    [HD_M_CHANNEL_DATA_TYPE] = {W_QUERY, EMU_QUERY_CHANNEL_TYPE},
    [HD_M_CHANNEL_ORDER] = {W_QUERY, EMU_QUERY_CHANNEL_ORDER},
    [HD_M_CA] = {W_NOTHING},
    [HD_M_CG] = {W_NOTHING},
    [HD_M_CS] = {W_NOTHING},
    [HD_M_CV] = {W_NOTHING},
    [HD_M_WB] = {W_NOTHING},
    [HD_M_WT] = {W_NOTHING},
    [HD_M_ADD] = {W_ATOM, EMU_ATOM_ADD},
    [HD_M_MIN] = {W_ATOM, EMU_ATOM_MIN},
    [HD_M_MAX] = {W_ATOM, EMU_ATOM_MAX},
    [HD_M_AND] = {W_ATOM, EMU_ATOM_AND},
    [HD_M_OR] = {W_ATOM, EMU_ATOM_OR},
};

/* emu_form.data */
enum { F_GEOMETRY = 0, F_LOD = 1, F_SELECT = 2, F_BOUNDS = 3 };
enum { NONE = 255, TEXELS = 4 }; /* of data; TEXELS beside the bounds */

static bool read_image_words(emu_decoder *d, emu_form *f) {
  f->data[F_SELECT] = NONE;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    const hd_mod mod = f->ptx->mods[k];
    if (emu_type_class(mod) != EMU_CLASS_NONE || mod == HD_M_V2 || mod == HD_M_V4) continue;
    const uint8_t value = mod < HD_M_COUNT ? words[mod].value : 0;
    switch (mod < HD_M_COUNT ? (word)words[mod].word : W_UNKNOWN) {
    case W_UNKNOWN: emu_refuse_word(d, f, mod); return false;
    case W_GEOMETRY: f->data[F_GEOMETRY] = value; break;
    case W_LOD: f->data[F_LOD] = value; break;
    case W_BOUNDS: f->data[F_BOUNDS] |= value; break;
    case W_TEXELS: f->data[F_BOUNDS] |= TEXELS; break;
    case W_SELECT:
      if (f->ptx->op == HD_OP_TLD4) f->data[F_SELECT] = value;
      break;
    case W_QUERY:
    case W_ATOM: f->data[F_SELECT] = value; break;
    case W_NOTHING: break;
    }
  }
  return true;
}

static bool is_32(hd_mod type, bool floats) {
  const emu_class c = emu_type_class(type);
  return emu_type_bits(type) == 32 &&
         (c == EMU_CLASS_U || c == EMU_CLASS_S || (floats && c == EMU_CLASS_F)) &&
         hd_ptx_type_of(type).elements == 1;
}

/* .dtype .ctype */
static void prepare_tex(emu_decoder *d, emu_form *f) {
  const emu_words *w = &f->words;
  const bool gather = f->ptx->op == HD_OP_TLD4;
  if (!read_image_words(d, f)) return;
  const unsigned g = f->data[F_GEOMETRY];
  const bool integer = w->types[1] == HD_M_S32;
  if (!g || w->n_types != 2 || w->vec != 4 || !is_32(w->types[0], true) ||
      (w->types[1] != HD_M_F32 && !integer) ||
      (integer && (gather || g & CUBE || f->data[F_LOD] == EMU_LOD_GRAD)) ||
      (gather && ((g & ~(unsigned)LAYERED) != 2 || f->data[F_SELECT] == NONE)) ||
      (g & CUBE && f->data[F_LOD] == EMU_LOD_GRAD))
    f->refused = emu_no_form;
}

static void prepare_query(emu_decoder *d, emu_form *f) {
  if (!read_image_words(d, f)) return;
  if (f->data[F_SELECT] == NONE || f->words.n_types != 1 || f->words.types[0] != HD_M_B32 || f->data[F_LOD])
    f->refused = emu_no_form;
}

static void prepare_surface(emu_decoder *d, emu_form *f) {
  const emu_words *w = &f->words;
  const bool reduce = f->ptx->op == HD_OP_SURED;
  if (!read_image_words(d, f)) return;
  const unsigned g = f->data[F_GEOMETRY], bits = w->n_types == 1 ? emu_type_bits(w->types[0]) : 0;
  const emu_class c = w->n_types == 1 ? emu_type_class(w->types[0]) : EMU_CLASS_NONE;
  const bool texels = f->data[F_BOUNDS] & TEXELS;
  bool ok = g && !(g & CUBE) && bits >= 8 && bits <= 64 && bits * w->vec <= 128;
  if (reduce)
    ok = ok && w->vec == 1 && bits >= 32 && f->data[F_SELECT] != NONE && c != EMU_CLASS_F &&
         (!texels || (c == EMU_CLASS_B && bits == 32));
  else
    ok = ok && c == EMU_CLASS_B && !texels;
  if (!ok)
    f->refused =
        texels && !reduce ? "stores that convert to the surface's format are not emulated" : emu_no_form;
  f->proto.mem.strong = reduce ? EMU_STRONG : EMU_WEAK;
}

/* ---- Operands ------------------------------------------------------------------------ */

static emu_image_inst *start(emu_function *fn, const emu_form *f, bool surface, emu_inst *in) {
  emu_image_inst *x = HD_NEW(fn->d->env->arena, emu_image_inst);
  const unsigned g = f->data[F_GEOMETRY];
  x->surface = surface;
  x->dims = g & 3;
  x->layered = g & LAYERED;
  x->cube = g & CUBE;
  x->lod = (uint8_t)f->data[F_LOD];
  x->select = (uint8_t)f->data[F_SELECT];
  x->bounds = (uint8_t)(f->data[F_BOUNDS] & ~(unsigned)TEXELS);
  x->texels = f->data[F_BOUNDS] & TEXELS;
  x->handle = x->resident = EMU_NO_SLOT;
  in->extra = x;
  return x;
}

/* The handle: a register of 64 bits, or a .texref or .surfref. */
static bool put_handle(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, emu_image_inst *x) {
  const hd_ptx_module *m = fn->d->m;
  if (o->kind == HD_O_REG ||
      (o->kind == HD_O_ADDR && o->sym && m->syms[o->sym].kind == HD_SYM_REG && !o->imm)) {
    const hd_ptx_opnd reg = {.kind = HD_O_REG, .sym = o->sym};
    return emu_source(fn, s, &reg, 64, &x->handle);
  }
  const hd_ptx_sym *y = o->sym ? &m->syms[o->sym] : NULL;
  if ((o->kind != HD_O_SYM && o->kind != HD_O_ADDR) || !y || y->kind != HD_SYM_VAR || o->imm ||
      m->vars[y->decl].type != (x->surface ? HD_M_SURFREF : HD_M_TEXREF))
    return emu_refuse(fn, s, "the %s is neither a register nor a reference",
                      x->surface ? "surface" : "texture");
  x->var = y->decl;
  return true;
}

/* [a, {c, ...}] */
static bool put_place(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, const hd_ptx_opnd *o,
                      emu_image_inst *x) {
  if (!o || o->kind != HD_O_BRACKET || o->n_kids != 2)
    return emu_refuse(fn, s,
                      o && o->kind == HD_O_BRACKET && o->n_kids == 3
                          ? "samplers apart from their textures are not emulated"
                          : "its operands have a form that is not emulated");
  const hd_ptx_opnd *c = emu_kid(fn, o, 1);
  const unsigned have = c->kind == HD_O_VEC ? c->n_kids : 1, first = x->layered ? 1 : 0,
                 want = x->dims + first;
  if (!put_handle(fn, s, emu_kid(fn, o, 0), x)) return false;
  if (have < want || have > 4)
    return emu_refuse(fn, s, "it has %u coordinates where %u are expected", have, want);
  if (first && !emu_source(fn, s, c->kind == HD_O_VEC ? emu_kid(fn, c, 0) : c, 32, &x->layer)) return false;
  for (unsigned k = 0; k < x->dims; k++)
    if (!emu_source(fn, s, c->kind == HD_O_VEC ? emu_kid(fn, c, k + first) : c, 32, &x->coord[k]))
      return false;
  return true;
}

static bool put_registers(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned n,
                          unsigned bits, bool write, emu_image_inst *x) {
  const unsigned width = bits < 16 ? 16 : bits;
  if (!o || (o->kind == HD_O_VEC ? o->n_kids : 1) != n)
    return emu_refuse(fn, s, "its vector has not %u elements", n);
  x->n = (uint8_t)n;
  x->bytes = (uint8_t)(bits / 8);
  for (unsigned k = 0; k < n; k++) {
    const hd_ptx_opnd *one = o->kind == HD_O_VEC ? emu_kid(fn, o, k) : o;
    /* Bytes take registers of 16 bits or more. */
    const unsigned have = one->kind == HD_O_REG ? emu_reg_bits(fn, one->sym) : width;
    if (have < bits || have > (width > 32 ? 64u : 32u))
      return emu_refuse(fn, s, "its registers have %u bits, its type %u", have, bits);
    if (!(write ? emu_destination(fn, s, one, have, true, &x->reg[k])
                : emu_source(fn, s, one, have, &x->reg[k])))
      return false;
  }
  return true;
}

/* ---- Statements ------------------------------------------------------------------------- */

static bool put_slopes(emu_function *fn, const hd_ptx_stmt *s, emu_image_inst *x) {
  for (unsigned d = 0; d < 2; d++) {
    const hd_ptx_opnd *o = emu_operand(fn, s, 2 + d);
    const unsigned have = !o ? 0 : o->kind == HD_O_VEC ? o->n_kids : 1;
    if (!o || have < x->dims)
      return emu_refuse(fn, s, "it has %u derivatives where %u are expected", have, x->dims);
    for (unsigned k = 0; k < x->dims; k++)
      if (!emu_source(fn, s, o->kind == HD_O_VEC ? emu_kid(fn, o, k) : o, 32, &x->grad[d][k])) return false;
  }
  return true;
}

static bool emit_tex(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  emu_image_inst *x = start(fn, f, false, in);
  const hd_ptx_opnd *to, *resident;
  const unsigned want = x->lod == EMU_LOD_GRAD ? 4 : x->lod == EMU_LOD_LEVEL ? 3 : 2;
  in->fn = emu_run_texture;
  x->integer = f->words.types[1] == HD_M_S32;
  x->gather = f->ptx->op == HD_OP_TLD4;
  emu_pair(fn, emu_operand(fn, s, 0), &to, &resident);
  if (s->n_opnds != want) return emu_refuse(fn, s, "offsets and comparisons of depths are not emulated");
  if (!put_registers(fn, s, to, 4, 32, true, x) || !put_place(fn, f, s, emu_operand(fn, s, 1), x))
    return false;
  if (x->lod == EMU_LOD_LEVEL && !emu_source(fn, s, emu_operand(fn, s, 2), 32, &x->level)) return false;
  if (x->lod == EMU_LOD_GRAD && !put_slopes(fn, s, x)) return false;
  return !resident || emu_destination(fn, s, resident, 1, true, &x->resident);
}
const emu_rule emu_rule_tex = {prepare_tex, emit_tex};

static bool emit_query(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  emu_image_inst *x = start(fn, f, f->ptx->op == HD_OP_SUQ, in);
  const hd_ptx_opnd *from = emu_operand(fn, s, 1);
  in->fn = emu_run_image_query;
  if (s->n_opnds != 2) return emu_refuse(fn, s, "it has %u operands where 2 are expected", s->n_opnds);
  if (from->kind == HD_O_BRACKET && from->n_kids == 1) from = emu_kid(fn, from, 0);
  return emu_destination(fn, s, emu_operand(fn, s, 0), 32, false, &x->reg[0]) && put_handle(fn, s, from, x);
}
const emu_rule emu_rule_image_query = {prepare_query, emit_query};

static bool emit_surface(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  emu_image_inst *x = start(fn, f, true, in);
  const bool load = f->ptx->op == HD_OP_SULD, reduce = f->ptx->op == HD_OP_SURED;
  in->fn = load ? emu_run_surface_load : reduce ? emu_run_surface_reduce : emu_run_surface_store;
  if (s->n_opnds != 2) return emu_refuse(fn, s, "it has %u operands where 2 are expected", s->n_opnds);
  x->atom = x->select;
  x->type = emu_type_class(f->words.types[0]) == EMU_CLASS_S ? EMU_ATOM_S : EMU_ATOM_U;
  return put_place(fn, f, s, emu_operand(fn, s, load ? 1 : 0), x) &&
         put_registers(fn, s, emu_operand(fn, s, load ? 0 : 1), f->words.vec,
                       emu_type_bits(f->words.types[0]), load, x);
}
const emu_rule emu_rule_surface = {prepare_surface, emit_surface};
