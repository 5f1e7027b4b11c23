/* emu/decode/decode.c: turns a module's functions into emu_code. */
#include "emu/decode/decode.h"

#include <stdio.h>

/* ---- Refusals ---------------------------------------------------------------------- */

static void refuse(emu_function *fn, uint32_t line, const hd_ptx_stmt *s, const char *why) {
  hd_diag *d = &fn->code->unsupported;
  if (d->status != HD_OK) return;
  hd_buf text = {0};
  if (s) hd_ptx_print_stmt(fn->d->m, s, &text);
  hd_fail(d, HD_ERR_UNSUPPORTED, "%s: not emulated: %s%s%s", fn->code->name, why, s ? ": " : "",
          s && !text.failed && text.data ? text.data : "");
  hd_buf_free(&text);
  snprintf(d->file, sizeof d->file, "%s", fn->d->m->name ? fn->d->m->name : "");
  d->line = line;
  d->column = 1;
}

void emu_note_refusal(emu_function *fn, const hd_ptx_stmt *s, const char *fmt, ...) {
  char why[256];
  va_list ap;
  va_start(ap, fmt);
  hd_fit_args(why, sizeof why, fmt, ap);
  va_end(ap);
  refuse(fn, s->line, s, why);
}

/* ---- Statements ------------------------------------------------------------------------- */

static bool put_guard(emu_function *fn, const hd_ptx_stmt *s, emu_inst *in) {
  if (!s->guard) return true;
  const hd_ptx_opnd o = {.kind = HD_O_REG, .sym = s->guard};
  in->guarded = s->guard_neg ? 2 : 1;
  return emu_source(fn, s, &o, 1, &in->guard);
}

static bool instruction(emu_function *fn, const hd_ptx_stmt *s, uint32_t index, emu_inst *in) {
  const emu_form *f = emu_form_of(fn->d, s->form);
  *in = f->proto;
  in->stmt = index;
  in->line = s->line;
  if (f->refused) return emu_refuse(fn, s, "%s", f->refused);
  return put_guard(fn, s, in) && f->rule->emit(fn, f, s, in);
}

/* A variable declared in the body; `shared`: variables of other blocks get the same bytes. */
static bool variable(emu_function *fn, uint32_t index, bool shared) {
  const hd_ptx_var *v = &fn->d->m->vars[index];
  if (v->space != HD_M_LOCAL && v->space != HD_M_PARAM) return true;
  const uint64_t size = hd_ptx_var_size(fn->d->m, v);
  uint32_t at;
  /* One without a place is refused where it is named. */
  if (size == UINT64_MAX || !emu_frame_room(fn, size, hd_ptx_var_align(v), &at)) return true;
  fn->d->vars[index] = (emu_location){EMU_IN_FRAME, at};
  if (v->space == HD_M_LOCAL && !shared)
    emu_push(fn->scratch, &fn->locals, ((emu_range){at, at + (uint32_t)size}));
  return true;
}

/* Blocks that are not nested share the frame: their variables are never alive together. */
static bool body(emu_function *fn, uint32_t *inst_of) {
  const hd_ptx_func *func = fn->func;
  EMU_VEC(uint64_t) open = {0};
  for (uint32_t k = 0; k < func->n_stmts; k++) {
    const hd_ptx_stmt *s = &func->stmts[k];
    inst_of[k] = fn->code->n_insts;
    switch ((hd_ptx_stmt_kind)s->kind) {
    case HD_S_INST:
      if (!instruction(fn, s, k, &fn->code->insts[fn->code->n_insts])) return false;
      fn->code->n_insts++;
      break;
    case HD_S_VAR: variable(fn, s->index, open.n > 0); break;
    case HD_S_OPEN: emu_push(fn->scratch, &open, fn->frame_used); break;
    case HD_S_CLOSE:
      if (open.n) fn->frame_used = open.data[--open.n];
      break;
    default: break;
    }
  }
  return true;
}

/* Branch targets were statements. */
static void settle_targets(emu_function *fn, const uint32_t *inst_of) {
  for (uint32_t k = 0; k < fn->code->n_insts; k++) {
    emu_inst *in = &fn->code->insts[k];
    if (in->control == EMU_BRA) in->target = inst_of[in->target];
    if (in->control != EMU_BRX) continue;
    const emu_targets *t = in->extra;
    for (uint32_t j = 0; j < t->n; j++) t->target[j] = inst_of[t->target[j]];
  }
}

/* ---- Parameters ------------------------------------------------------------------------------ */

static void kernel_parameters(emu_function *fn) {
  const hd_ptx_module *m = fn->d->m;
  uint64_t *offsets = HD_NEW_N(fn->scratch, fn->func->n_params + 1u, uint64_t);
  if (hd_ptx_param_layout(m, fn->func, offsets) == UINT64_MAX) {
    refuse(fn, fn->func->line, NULL, "its parameters are too large");
    return;
  }
  for (uint32_t k = 0; k < fn->func->n_params; k++)
    fn->d->vars[fn->func->first_param + k] = (emu_location){EMU_IN_PARAMS, offsets[k]};
}

/* The greatest argument that any call may pass. */
static uint64_t greatest_argument(const hd_ptx_module *m) {
  uint64_t most = 1;
  for (uint32_t f = 0; f < m->n_funcs; f++)
    for (uint32_t k = 0; m->funcs[f].has_body && k < m->funcs[f].n_stmts; k++) {
      const hd_ptx_stmt *s = &m->funcs[f].stmts[k];
      if (s->kind != HD_S_VAR || m->vars[s->index].space != HD_M_PARAM) continue;
      const uint64_t size = hd_ptx_var_size(m, &m->vars[s->index]);
      if (size != UINT64_MAX && size > most) most = size;
    }
  return most;
}

/* A function's side of its parameters or results. */
static emu_place *formal_places(emu_function *fn, uint32_t first, uint32_t n) {
  emu_place *places = HD_NEW_N(fn->d->env->arena, n + 1u, emu_place);
  for (uint32_t k = 0; k < n; k++) {
    const hd_ptx_var *v = &fn->d->m->vars[first + k];
    uint64_t size = hd_ptx_var_size(fn->d->m, v);
    if (v->unsized && v->space == HD_M_PARAM) size = fn->d->variadic;
    uint32_t at = 0;
    unsigned bits;
    if (v->space == HD_M_REG && v->type != HD_M_PRED) {
      const hd_ptx_opnd o = {.kind = HD_O_REG, .sym = v->sym};
      const hd_ptx_stmt nowhere = {.kind = HD_S_RAW, .line = fn->func->line};
      places[k] = (emu_place){.bytes = (uint32_t)size};
      if (!emu_reg(fn, &nowhere, &o, &at, &bits)) return places;
      emu_ref(fn, &places[k].where, at);
    } else if (v->space != HD_M_PARAM || size == UINT64_MAX ||
               !emu_frame_room(fn, size, hd_ptx_var_align(v), &at)) {
      refuse(fn, fn->func->line, NULL, "a parameter of this kind");
    } else {
      places[k] = (emu_place){.in_local = true, .variadic = v->unsized, .where = at, .bytes = (uint32_t)size};
      fn->d->vars[first + k] = (emu_location){EMU_IN_FRAME, at};
    }
  }
  return places;
}

/* ---- Registers ----------------------------------------------------------------------------------- */

static bool count_use(void *ctx, const hd_ptx_leaf *leaf) {
  emu_function *fn = ctx;
  const hd_ptx_sym *y = &fn->d->m->syms[leaf->sym];
  if (y->kind == HD_SYM_REG) fn->reg_uses[y->index]++;
  return true;
}

static void count_all_uses(emu_function *fn) {
  for (uint32_t k = 0; k < fn->func->n_stmts; k++) hd_ptx_visit(fn->d->m, &fn->func->stmts[k], count_use, fn);
}

/* ---- Init slots ------------------------------------------------------------------------------------- */

static uint32_t lane_value(const emu_init *i, uint32_t lane) {
  const uint32_t eq = 1u << lane, lt = eq - 1;
  switch (i->kind) {
  case EMU_INIT_LANE: return lane;
  case EMU_INIT_EQ: return eq;
  case EMU_INIT_LE: return lt | eq;
  case EMU_INIT_LT: return lt;
  case EMU_INIT_GE: return ~lt;
  case EMU_INIT_GT: return ~(lt | eq);
  default: return (uint32_t)i->bits;
  }
}

static void fill_init(emu_function *fn, uint64_t reserve) {
  emu_code *c = fn->code;
  const size_t bytes = (size_t)fn->n_init * EMU_SLOT_BYTES;
  c->n_init = fn->n_init;
  c->init = hd_arena_alloc(fn->d->env->arena, bytes ? bytes : 1, 64);
  memset(c->init, 0, bytes);
  uint32_t *local = HD_NEW_N(fn->d->env->arena, fn->inits.n + 1u, uint32_t);
  c->local_slots = local;
  for (uint32_t k = 0; k < fn->inits.n; k++) {
    const emu_init *i = &fn->inits.data[k];
    char *slot = c->init + (size_t)i->slot * EMU_SLOT_BYTES;
    const bool wide = i->kind == EMU_INIT_64 || i->kind == EMU_INIT_128 || i->kind == EMU_INIT_LOCAL ||
                      i->kind == EMU_INIT_RESERVE;
    const uint64_t value = i->kind == EMU_INIT_RESERVE ? reserve : i->bits;
    for (uint32_t l = 0; l < 32; l++) {
      const uint32_t narrow = lane_value(i, l);
      if (wide)
        memcpy(slot + (size_t)l * 8, &value, sizeof value);
      else
        memcpy(slot + (size_t)l * 4, &narrow, sizeof narrow);
    }
    if (i->kind == EMU_INIT_LOCAL || i->kind == EMU_INIT_RESERVE) local[c->n_local_slots++] = i->slot;
  }
}

/* Now that init's size is known: it comes first, the other slots follow. */
static void settle_slots(emu_function *fn) {
  for (uint32_t k = 0; k < fn->refs.n; k++) {
    uint32_t *where = fn->refs.data[k];
    *where = *where & EMU_INIT_SLOT ? *where & ~EMU_INIT_SLOT : *where + fn->n_init;
  }
  for (uint32_t k = 0; k < fn->sregs.n; k++) fn->sregs.data[k].slot += fn->n_init;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static void finish(emu_function *fn) {
  emu_code *c = fn->code;
  uint32_t reserve = 0;
  if (fn->alloca_slot != EMU_NO_SLOT) {
    fn->frame_used = fn->frame_peak;
    if (!emu_frame_room(fn, EMU_ALLOCA_BYTES, 16, &reserve))
      refuse(fn, fn->func->line, NULL, "too much local memory");
    emu_push(fn->scratch, &fn->locals, ((emu_range){reserve, (uint32_t)fn->frame_peak}));
  }
  emu_range *locals = HD_NEW_N(fn->d->env->arena, fn->locals.n + 1u, emu_range);
  if (fn->locals.n) memcpy(locals, fn->locals.data, fn->locals.n * sizeof *locals);
  c->locals = locals;
  c->n_locals = (uint32_t)fn->locals.n;
  c->local_bytes = (uint32_t)fn->frame_peak;
  fill_init(fn, reserve);
  settle_slots(fn);
  /* Handlers may read operands that they do not use: there are at least four slots. */
  c->n_slots = fn->n_init + fn->n_slots + 4;
  c->n_sregs = fn->sregs.n;
  c->sregs = HD_NEW_N(fn->d->env->arena, fn->sregs.n + 1u, struct emu_sreg);
  if (fn->sregs.n) memcpy(c->sregs, fn->sregs.data, fn->sregs.n * sizeof *c->sregs);
}

static void function(emu_decoder *d, uint32_t index, hd_arena *scratch) {
  const hd_ptx_func *func = &d->m->funcs[index];
  emu_function fn = {.d = d,
                     .func = func,
                     .code = d->codes[index],
                     .scratch = scratch,
                     .carry_slot = EMU_NO_SLOT,
                     .alloca_slot = EMU_NO_SLOT};
  emu_code *c = fn.code;
  c->func = func;
  c->index = index;
  c->name = d->m->syms[func->sym].name;
  c->insts = HD_NEW_N(d->env->arena, func->n_stmts + 1u, emu_inst);
  fn.reg_slots = HD_NEW_N(scratch, func->n_regs + 1u, uint32_t);
  fn.reg_uses = HD_NEW_N(scratch, func->n_regs + 1u, uint32_t);
  uint32_t *inst_of = HD_NEW_N(scratch, func->n_stmts + 1u, uint32_t);
  count_all_uses(&fn);
  if (func->entry) {
    kernel_parameters(&fn);
    c->shared_bytes = emu_link_shared(d, index);
  } else {
    c->n_params = func->n_params;
    c->params = formal_places(&fn, func->first_param, func->n_params);
    c->n_rets = func->n_rets;
    c->rets = formal_places(&fn, func->first_ret, func->n_rets);
  }
  if (d->m->address_size == 32) refuse(&fn, func->line, NULL, "addresses of 32 bits");
  if (c->unsupported.status != HD_OK || !body(&fn, inst_of)) {
    /* Never run; a frame of it must still make sense. */
    *c = (emu_code){.func = func,
                    .index = index,
                    .name = c->name,
                    .insts = c->insts,
                    .n_slots = 4,
                    .unsupported = c->unsupported};
    c->insts[0] = (emu_inst){0};
  } else {
    settle_targets(&fn, inst_of);
    finish(&fn);
    emu_mark_guesses(&fn);
    emu_share_slots(&fn);
  }
  emu_find_stores(&fn);
  c->insts[c->n_insts] = (emu_inst){.control = EMU_RET, .stmt = func->n_stmts, .line = func->line};
  c->n_insts++;
}

/* ---- Modules --------------------------------------------------------------------------------- */

static void decode(emu_decoder *d, hd_arena *scratch) {
  const hd_ptx_module *m = d->m;
  d->vars = HD_NEW_N(&d->scratch, m->n_vars + 1u, emu_location);
  d->codes = HD_NEW_N(d->env->arena, m->n_funcs + 1u, emu_code *);
  d->variadic = greatest_argument(m);
  emu_form_init(d);
  for (uint32_t k = 0; k < m->n_funcs; k++)
    if (m->funcs[k].has_body) d->codes[k] = HD_NEW(d->env->arena, emu_code);
  emu_link_begin(d);
  for (uint32_t k = 0; k < m->n_funcs; k++) {
    if (!d->codes[k]) continue;
    hd_arena_reset(scratch);
    function(d, k, scratch);
  }
  emu_link_end(d);
}

/* Memory of a decoder's own, freed however decoding ends. */
typedef struct workplace {
  emu_decoder decoder;
  hd_arena function;
  jmp_buf escape;
} workplace;

hd_status emu_decode_module(const emu_decode_env *env, emu_code ***codes, hd_diag *diag) {
  *codes = NULL;
  if (!emu_op_tables(env->isa))
    return hd_fail(diag, HD_ERR_UNSUPPORTED, "the emulator was built without this instruction set");
  workplace *p = calloc(1, sizeof *p);
  if (!p) return hd_nomem(diag);
  jmp_buf *const outer = env->arena->escape;
  hd_arena_init(&p->decoder.scratch);
  hd_arena_init(&p->function);
  p->decoder.env = env;
  p->decoder.m = env->m;
  p->decoder.scratch.escape = p->function.escape = env->arena->escape = &p->escape;
  hd_status st = HD_OK;
  if (setjmp(p->escape) == 0) {
    decode(&p->decoder, &p->function);
    *codes = p->decoder.codes;
  } else {
    st = hd_nomem(diag);
  }
  env->arena->escape = outer;
  hd_arena_free(&p->decoder.scratch);
  hd_arena_free(&p->function);
  free(p);
  return st;
}
