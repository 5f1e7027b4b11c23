/* emu/decode/form.c: splits an instruction's dotted word, once per module. */
#include "emu/decode/decode.h"

#include <stdio.h>

/* ---- Types ------------------------------------------------------------------------ */

/* The types that handlers know: registers of 8 bits and more, and pairs. */
emu_class emu_type_class(hd_mod mod) {
  const hd_ptx_type t = hd_ptx_type_of(mod);
  const bool scalar = t.elements == 1 && t.bits >= 8, pair = t.elements == 2;
  switch ((hd_ptx_number)t.number) {
  case HD_NUM_PREDICATE: return EMU_CLASS_PRED;
  case HD_NUM_UNSIGNED: return scalar || pair ? EMU_CLASS_U : EMU_CLASS_NONE;
  case HD_NUM_SIGNED: return scalar || pair ? EMU_CLASS_S : EMU_CLASS_NONE;
  case HD_NUM_BITS: return scalar ? EMU_CLASS_B : EMU_CLASS_NONE;
  case HD_NUM_FLOAT:
    return (pair && t.format != HD_FMT_UE4M3) || (scalar && t.bits >= 16) ? EMU_CLASS_F : EMU_CLASS_NONE;
  case HD_NUM_NONE:
  case HD_NUM_OPAQUE: return EMU_CLASS_NONE;
  }
  return EMU_CLASS_NONE;
}

unsigned emu_type_bits(hd_mod mod) {
  return emu_type_class(mod) == EMU_CLASS_NONE ? 0 : hd_ptx_type_of(mod).bits;
}

static const uint8_t formats[] = {
    [HD_FMT_F16] = NUM_F16,   [HD_FMT_BF16] = NUM_BF16, [HD_FMT_F32] = NUM_F32,     [HD_FMT_F64] = NUM_F64,
    [HD_FMT_TF32] = NUM_TF32, [HD_FMT_E4M3] = NUM_E4M3, [HD_FMT_E5M2] = NUM_E5M2,   [HD_FMT_E2M3] = NUM_E2M3,
    [HD_FMT_E3M2] = NUM_E3M2, [HD_FMT_E2M1] = NUM_E2M1, [HD_FMT_UE8M0] = NUM_UE8M0,
};

bool emu_num_fmt(hd_mod mod, num_fmt *fmt, bool *pair) {
  const hd_ptx_type t = hd_ptx_type_of(mod);
  if (emu_type_class(mod) != EMU_CLASS_F) return false;
  *fmt = (num_fmt)formats[t.format];
  *pair = t.elements == 2;
  return true;
}

void emu_read_words(const hd_ptx_form *f, emu_words *w) {
  *w = (emu_words){.vec = 1, .round = NUM_RN};
  for (unsigned k = 0; k < f->n_mods; k++) {
    const hd_mod mod = f->mods[k];
    if (emu_type_class(mod) != EMU_CLASS_NONE && w->n_types < 4) {
      w->types[w->n_types++] = mod;
      continue;
    }
    if (hd_ptx_mod_kind(mod) == HD_MK_WIDTH) {
      w->vec = (uint8_t)hd_ptx_mod_value(mod);
      continue;
    }
    switch (mod) {
    case HD_M_RNI: w->integral = true; /* fallthrough */
    case HD_M_RN: w->round = NUM_RN, w->has_round = true; break;
    case HD_M_RZI: w->integral = true; /* fallthrough */
    case HD_M_RZ: w->round = NUM_RZ, w->has_round = true; break;
    case HD_M_RMI: w->integral = true; /* fallthrough */
    case HD_M_RM: w->round = NUM_RM, w->has_round = true; break;
    case HD_M_RPI: w->integral = true; /* fallthrough */
    case HD_M_RP: w->round = NUM_RP, w->has_round = true; break;
    case HD_M_RNA: w->round = NUM_RNA, w->has_round = true; break;
    case HD_M_FTZ: w->ftz = true; break;
    case HD_M_SAT: w->sat = true; break;
    case HD_M_SATFINITE: w->satfinite = true; break;
    case HD_M_RELU: w->relu = true; break;
    case HD_M_NaN: w->nan = true; break;
    case HD_M_XORSIGN: w->xorsign = true; break;
    case HD_M_ABS: w->abs = true; break;
    case HD_M_APPROX: w->approx = true; break;
    case HD_M_FULL: w->full = true; break;
    default:
      if (!w->other) w->other = mod;
    }
  }
}

/* ---- Handlers by name ----------------------------------------------------------------- */

const emu_op *emu_find_op(const emu_decoder *d, const char *name) {
  for (uint32_t at = emu_name_hash(name);; at++) {
    const emu_op *op = d->names[at & (d->n_names - 1)];
    if (!op || emu_same_name(op->name, name)) return op;
  }
}

static void index_handlers(emu_decoder *d) {
  const emu_op *const *tables = emu_op_tables(d->env->isa);
  uint32_t n = 0;
  for (const emu_op *const *t = tables; *t; t++)
    for (const emu_op *op = *t; op->name; op++) n++;
  for (d->n_names = 1; d->n_names < 2 * n; d->n_names *= 2) {
  }
  d->names = HD_NEW_N(&d->scratch, d->n_names, const emu_op *);
  for (const emu_op *const *t = tables; *t; t++) {
    for (const emu_op *op = *t; op->name; op++) {
      uint32_t at = emu_name_hash(op->name) & (d->n_names - 1);
      while (d->names[at]) at = (at + 1) & (d->n_names - 1);
      d->names[at] = op;
    }
  }
}

void emu_form_init(emu_decoder *d) {
  index_handlers(d);
  d->forms = HD_NEW_N(&d->scratch, (size_t)d->m->n_forms + 1, emu_form);
}

/* How types stand in a handler's name. */
typedef enum naming { AS_WRITTEN, SIGN_BLIND, AS_BITS } naming;

static void append_mod(const emu_decoder *d, hd_buf *name, hd_mod mod, naming how, bool any_type) {
  const emu_class class = emu_type_class(mod);
  const bool integer = class == EMU_CLASS_U || class == EMU_CLASS_S;
  const bool scalar = hd_ptx_type_of(mod).elements == 1;
  if (how == SIGN_BLIND && integer && scalar)
    hd_buf_printf(name, ".i%u", emu_type_bits(mod));
  else if (how == AS_BITS &&
           (any_type ? class != EMU_CLASS_NONE && class != EMU_CLASS_PRED : integer && scalar))
    hd_buf_printf(name, ".b%u", emu_type_bits(mod));
  else
    hd_buf_printf(name, ".%s", hd_ptx_mod_text(d->m, mod));
}

static bool dropped(const hd_mod *drop, hd_mod mod) {
  for (; drop && *drop; drop++)
    if (*drop == mod) return true;
  return false;
}

const emu_op *emu_find_form(const emu_decoder *d, const char *op, const hd_ptx_form *f, const hd_mod *drop,
                            bool any_type) {
  hd_buf name = {0};
  const emu_op *found = NULL;
  for (naming how = AS_WRITTEN; how <= AS_BITS && !found && !name.failed; how++) {
    bool first = true; /* the second type, slct's condition, is always as written */
    if (how != AS_WRITTEN) hd_buf_clear(&name);
    hd_buf_puts(&name, op);
    for (unsigned k = 0; k < f->n_mods; k++) {
      if (dropped(drop, f->mods[k])) continue;
      const bool typed = emu_type_class(f->mods[k]) != EMU_CLASS_NONE;
      append_mod(d, &name, f->mods[k], typed && !first ? AS_WRITTEN : how, any_type);
      if (typed) first = false;
    }
    if (!name.failed) found = emu_find_op(d, name.data);
  }
  const bool failed = name.failed;
  hd_buf_free(&name);
  if (failed) longjmp(*d->scratch.escape, 1);
  return found;
}

const char *emu_why(emu_decoder *d, const char *fmt, ...) {
  char text[256];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  return hd_arena_strndup(&d->scratch, text, strlen(text));
}

void emu_refuse_word(emu_decoder *d, emu_form *f, hd_mod mod) {
  f->refused = emu_why(d, ".%s is not emulated", hd_ptx_mod_text(d->m, mod));
}

const char emu_no_form[] = "the emulator has no such form of this instruction";

void emu_use(emu_decoder *d, emu_form *f, const char *name) {
  f->op = emu_find_op(d, name);
  if (!f->op) f->refused = emu_no_form;
}

void emu_use_plain(emu_decoder *d, emu_form *f, const hd_ptx_form *plain, const emu_rule *rule) {
  f->ptx = plain;
  f->rule = rule;
  emu_read_words(plain, &f->words);
  rule->prepare(d, f);
}

/* ---- Rules by opcode ---------------------------------------------------------------------- */

static void prepare_nothing(emu_decoder *d, emu_form *f) {
  f->refused = "the emulator does not know this instruction";
}
static const emu_rule rule_unknown = {prepare_nothing, NULL};

/* Of opcodes that need more than a handler with the form's name: the others that compute are plain. */
static const emu_rule *const rules[HD_OP_COUNT] = {
    [HD_OP_ADD] = &emu_rule_float,
    [HD_OP_SUB] = &emu_rule_float,
    [HD_OP_MUL] = &emu_rule_float,
    [HD_OP_MAD] = &emu_rule_float,
    [HD_OP_FMA] = &emu_rule_float,
    [HD_OP_DIV] = &emu_rule_float,
    [HD_OP_RCP] = &emu_rule_float,
    [HD_OP_SQRT] = &emu_rule_float,
    [HD_OP_ABS] = &emu_rule_float,
    [HD_OP_NEG] = &emu_rule_float,
    [HD_OP_MIN] = &emu_rule_float,
    [HD_OP_MAX] = &emu_rule_float,
    [HD_OP_RSQRT] = &emu_rule_float,
    [HD_OP_SIN] = &emu_rule_float,
    [HD_OP_COS] = &emu_rule_float,
    [HD_OP_LG2] = &emu_rule_float,
    [HD_OP_EX2] = &emu_rule_float,
    [HD_OP_TANH] = &emu_rule_float,
    [HD_OP_ADDC] = &emu_rule_carry,
    [HD_OP_SUBC] = &emu_rule_carry,
    [HD_OP_MADC] = &emu_rule_carry,
    [HD_OP_VADD] = &emu_rule_video,
    [HD_OP_VSUB] = &emu_rule_video,
    [HD_OP_VABSDIFF] = &emu_rule_video,
    [HD_OP_VMIN] = &emu_rule_video,
    [HD_OP_VMAX] = &emu_rule_video,
    [HD_OP_VSHL] = &emu_rule_video,
    [HD_OP_VSHR] = &emu_rule_video,
    [HD_OP_VSET] = &emu_rule_video,
    [HD_OP_VMAD] = &emu_rule_video,
    [HD_OP_VADD2] = &emu_rule_video,
    [HD_OP_VSUB2] = &emu_rule_video,
    [HD_OP_VAVRG2] = &emu_rule_video,
    [HD_OP_VABSDIFF2] = &emu_rule_video,
    [HD_OP_VMIN2] = &emu_rule_video,
    [HD_OP_VMAX2] = &emu_rule_video,
    [HD_OP_VSET2] = &emu_rule_video,
    [HD_OP_VADD4] = &emu_rule_video,
    [HD_OP_VSUB4] = &emu_rule_video,
    [HD_OP_VAVRG4] = &emu_rule_video,
    [HD_OP_VABSDIFF4] = &emu_rule_video,
    [HD_OP_VMIN4] = &emu_rule_video,
    [HD_OP_VMAX4] = &emu_rule_video,
    [HD_OP_VSET4] = &emu_rule_video,
    [HD_OP_LOP3] = &emu_rule_lop3,
    [HD_OP_SETP] = &emu_rule_setp,
    [HD_OP_SET] = &emu_rule_set,
    [HD_OP_MOV] = &emu_rule_mov,
    [HD_OP_CVT] = &emu_rule_cvt,
    [HD_OP_CVTA] = &emu_rule_cvta,
    [HD_OP_ISSPACEP] = &emu_rule_isspacep,
    [HD_OP_ISTYPEP] = &rule_unknown,
    [HD_OP_ALLOCA] = &emu_rule_alloca,
    [HD_OP_STACKSAVE] = &emu_rule_stack,
    [HD_OP_STACKRESTORE] = &emu_rule_stack,
    [HD_OP_LD] = &emu_rule_ld,
    [HD_OP_LDU] = &emu_rule_ld,
    [HD_OP_ST] = &emu_rule_st,
    [HD_OP_ATOM] = &emu_rule_atom,
    [HD_OP_RED] = &emu_rule_atom,
    [HD_OP_PREFETCH] = &emu_rule_prefetch,
    [HD_OP_PREFETCHU] = &emu_rule_prefetch,
    [HD_OP_APPLYPRIORITY] = &emu_rule_prefetch,
    [HD_OP_DISCARD] = &emu_rule_prefetch,
    [HD_OP_CREATEPOLICY] = &emu_rule_createpolicy,
    [HD_OP_CP] = &emu_rule_cp,
    [HD_OP_MULTIMEM] = &emu_rule_multimem,
    [HD_OP_MBARRIER] = &emu_rule_mbarrier,
    [HD_OP_TENSORMAP] = &emu_rule_tensormap,
    [HD_OP_MAPA] = &emu_rule_cluster_address,
    [HD_OP_GETCTARANK] = &emu_rule_cluster_address,
    [HD_OP_CLUSTERLAUNCHCONTROL] = &emu_rule_launch_control,
    [HD_OP_TEX] = &emu_rule_tex,
    [HD_OP_TLD4] = &emu_rule_tex,
    [HD_OP_TXQ] = &emu_rule_image_query,
    [HD_OP_SUQ] = &emu_rule_image_query,
    [HD_OP_SULD] = &emu_rule_surface,
    [HD_OP_SUST] = &emu_rule_surface,
    [HD_OP_SURED] = &emu_rule_surface,
    [HD_OP_BRA] = &emu_rule_bra,
    [HD_OP_BRX] = &emu_rule_brx,
    [HD_OP_CALL] = &emu_rule_call,
    [HD_OP_RET] = &emu_rule_ret,
    [HD_OP_EXIT] = &emu_rule_exit,
    [HD_OP_TRAP] = &emu_rule_trap,
    [HD_OP_BRKPT] = &emu_rule_trap,
    [HD_OP_NANOSLEEP] = &emu_rule_yield,
    [HD_OP_BAR] = &emu_rule_bar,
    [HD_OP_BARRIER] = &emu_rule_bar,
    [HD_OP_MEMBAR] = &emu_rule_fence,
    [HD_OP_FENCE] = &emu_rule_fence,
    [HD_OP_PMEVENT] = &emu_rule_nop,
    [HD_OP_SETMAXNREG] = &emu_rule_setmaxnreg,
    [HD_OP_GRIDDEPCONTROL] = &emu_rule_griddepcontrol,
    [HD_OP_SHFL] = &emu_rule_shfl,
    [HD_OP_VOTE] = &emu_rule_vote,
    [HD_OP_MATCH] = &emu_rule_match,
    [HD_OP_REDUX] = &emu_rule_redux,
    [HD_OP_ACTIVEMASK] = &emu_rule_activemask,
    [HD_OP_ELECT] = &emu_rule_elect,
    [HD_OP_MMA] = &emu_rule_mma,
    [HD_OP_WMMA] = &emu_rule_wmma,
    [HD_OP_WGMMA] = &emu_rule_wgmma,
    [HD_OP_TCGEN05] = &emu_rule_tcgen05,
    [HD_OP_LDMATRIX] = &emu_rule_ldmatrix,
    [HD_OP_STMATRIX] = &emu_rule_stmatrix,
    [HD_OP_MOVMATRIX] = &emu_rule_movmatrix,
};

/* A rule looks for the words that it knows, and some look for none: a word that no table has may mean
 * anything, whatever the opcode. */
static void refuse_unknown_words(emu_decoder *d, emu_form *f) {
  for (unsigned k = 0; k < f->ptx->n_mods && !f->refused; k++)
    if (hd_ptx_mod_kind(f->ptx->mods[k]) == HD_MK_UNKNOWN) emu_refuse_word(d, f, f->ptx->mods[k]);
}

static const emu_rule *rule_of(hd_ptx_op op) {
  if (op < HD_OP_COUNT && rules[op]) return rules[op];
  return hd_ptx_op_class(op) == HD_OPC_COMPUTE ? &emu_rule_plain : &rule_unknown;
}

const emu_form *emu_form_of(emu_decoder *d, uint32_t index) {
  emu_form *f = &d->forms[index];
  if (f->rule) return f;
  f->ptx = &d->m->forms[index];
  f->rule = rule_of(f->ptx->op);
  emu_read_words(f->ptx, &f->words);
  const hd_mod misplaced = emu_misplaced(f->ptx);
  if (misplaced)
    f->refused =
        emu_why(d, ".%s stands right behind the opcode, or nowhere", hd_ptx_mod_text(d->m, misplaced));
  else
    f->rule->prepare(d, f);
  refuse_unknown_words(d, f);
  if (f->op) f->proto.fn = f->op->fn;
  return f;
}
