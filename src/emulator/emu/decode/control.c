/* emu/decode/control.c: branches, calls, barriers. */
#include "emu/decode/decode.h"

/* ---- Branches ----------------------------------------------------------------------- */

/* A label's statement; decode.c turns it into an instruction. */
static bool label_of(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, uint32_t *stmt) {
  if (!o || o->kind != HD_O_SYM) return emu_refuse(fn, s, "its target is no label");
  const hd_ptx_sym *y = &fn->d->m->syms[o->sym];
  if (y->kind != HD_SYM_LABEL || y->index >= fn->func->n_stmts ||
      fn->func->stmts[y->index].kind != HD_S_LABEL || fn->func->stmts[y->index].sym != o->sym)
    return emu_refuse(fn, s, "label %s is not in this function", y->name);
  *stmt = y->index;
  return true;
}

static void prepare_bra(emu_decoder *d, emu_form *f) { f->proto.control = EMU_BRA; }
static bool emit_bra(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  return label_of(fn, s, emu_operand(fn, s, 0), &in->target);
}
const emu_rule emu_rule_bra = {prepare_bra, emit_bra};

static void prepare_brx(emu_decoder *d, emu_form *f) {
  f->proto.control = EMU_BRX;
  if (!EMU_HAS(f, IDX)) f->refused = "only brx.idx is emulated";
}
static bool emit_brx(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const hd_ptx_opnd *list = emu_operand(fn, s, 1);
  const hd_ptx_sym *y = list && list->kind == HD_O_SYM ? &fn->d->m->syms[list->sym] : NULL;
  if (!y || y->kind != HD_SYM_TARGETS || y->index >= fn->func->n_stmts ||
      fn->func->stmts[y->index].kind != HD_S_TARGETS || fn->func->stmts[y->index].sym != list->sym)
    return emu_refuse(fn, s, "its targets are not in this function");
  const hd_ptx_stmt *targets = &fn->func->stmts[y->index];
  emu_targets *t = HD_NEW(fn->d->env->arena, emu_targets);
  t->n = targets->n_opnds;
  t->target = HD_NEW_N(fn->d->env->arena, t->n + 1u, uint32_t);
  for (uint32_t k = 0; k < t->n; k++)
    if (!label_of(fn, s, emu_operand(fn, targets, k), &t->target[k])) return false;
  in->extra = t;
  return emu_source(fn, s, emu_operand(fn, s, 0), 32, &in->src[0]);
}
const emu_rule emu_rule_brx = {prepare_brx, emit_brx};

static bool emit_nothing(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  return true;
}
static void prepare_ret(emu_decoder *d, emu_form *f) { f->proto.control = EMU_RET; }
static void prepare_exit(emu_decoder *d, emu_form *f) { f->proto.control = EMU_EXIT; }
static void prepare_trap(emu_decoder *d, emu_form *f) { f->proto.control = EMU_TRAP; }
static void prepare_yield(emu_decoder *d, emu_form *f) { f->proto.control = EMU_YIELD; }
const emu_rule emu_rule_ret = {prepare_ret, emit_nothing};
const emu_rule emu_rule_exit = {prepare_exit, emit_nothing};
const emu_rule emu_rule_trap = {prepare_trap, emit_nothing};
const emu_rule emu_rule_yield = {prepare_yield, emit_nothing};

/* ---- Calls ------------------------------------------------------------------------------ */

/* One argument or result, on the caller's side. */
static bool place_of(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, const hd_ptx_var *formal,
                     bool result, emu_place *p) {
  const hd_ptx_module *m = fn->d->m;
  /* The last parameter of a variadic function is as large as what is passed. */
  const bool variadic = formal->space == HD_M_PARAM && formal->unsized && o->kind == HD_O_SYM &&
                        m->syms[o->sym].kind == HD_SYM_VAR;
  const uint64_t bytes = hd_ptx_var_size(m, variadic ? &m->vars[m->syms[o->sym].decl] : formal);
  if (bytes == 0 || bytes > UINT32_MAX || formal->type == HD_M_PRED)
    return emu_refuse(fn, s, "parameter %s has a size that is not emulated", m->syms[formal->sym].name);
  p->bytes = (uint32_t)bytes;
  if (o->kind == HD_O_SYM && m->syms[o->sym].kind == HD_SYM_VAR) {
    emu_location at;
    if (!emu_locate_var(fn, s, o->sym, &at)) return false;
    if (at.where != EMU_IN_FRAME) return emu_refuse(fn, s, "%s is no call parameter", m->syms[o->sym].name);
    const uint64_t actual = hd_ptx_var_size(m, &m->vars[m->syms[o->sym].decl]);
    if (actual != bytes)
      return emu_refuse(fn, s, "%s has %llu bytes where the function takes %llu", m->syms[o->sym].name,
                        (unsigned long long)actual, (unsigned long long)bytes);
    p->in_local = true;
    p->where = (uint32_t)at.offset;
    return true;
  }
  if (bytes > 16) return emu_refuse(fn, s, "%llu bytes are passed in a register", (unsigned long long)bytes);
  return result ? emu_destination(fn, s, o, (unsigned)bytes * 8, false, &p->where)
                : emu_source(fn, s, o, (unsigned)bytes * 8, &p->where);
}

static bool places_of(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *list, uint32_t first,
                      uint32_t n, bool results, emu_place **out) {
  const uint32_t have = list ? list->n_kids : 0;
  if (have != n)
    return emu_refuse(fn, s, "the call has %u %s where the function has %u", have,
                      results ? "results" : "arguments", n);
  *out = HD_NEW_N(fn->d->env->arena, n + 1u, emu_place);
  for (uint32_t k = 0; k < n; k++)
    if (!place_of(fn, s, emu_kid(fn, list, k), &fn->d->m->vars[first + k], results, &(*out)[k])) return false;
  return true;
}

/* call (rets), name, (args);  or through a register, with a prototype. */
typedef struct call_operands {
  const hd_ptx_opnd *rets, *callee, *args, *proto;
} call_operands;

static bool read_call(emu_function *fn, const hd_ptx_stmt *s, call_operands *c) {
  *c = (call_operands){0};
  for (unsigned k = 0; k < s->n_opnds; k++) {
    const hd_ptx_opnd *o = emu_operand(fn, s, k);
    if (o->kind == HD_O_LIST)
      *(c->callee ? &c->args : &c->rets) = o;
    else if (!c->callee)
      c->callee = o;
    else
      c->proto = o;
  }
  return c->callee ? true : emu_refuse(fn, s, "it calls nothing");
}

static void prepare_call(emu_decoder *d, emu_form *f) { f->proto.control = EMU_CALL; }

static bool emit_call(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  const hd_ptx_module *m = fn->d->m;
  call_operands c;
  if (!read_call(fn, s, &c)) return false;
  emu_call *call = HD_NEW(fn->d->env->arena, emu_call);
  const hd_ptx_func *formal = NULL;
  in->extra = call;
  if (c.callee->kind == HD_O_SYM) {
    const hd_ptx_sym *y = &m->syms[c.callee->sym];
    if (y->kind != HD_SYM_FUNC) return emu_refuse(fn, s, "it calls %s, which is not declared", y->name);
    formal = &m->funcs[y->decl];
    if (formal->entry) return emu_refuse(fn, s, "it calls the kernel %s", y->name);
    call->callee = fn->d->codes[y->decl];
    if (!call->callee) call->builtin = emu_find_builtin(y->name);
    /* Code that is compiled for dynamic parallelism may launch nothing: the fault is the call's, not the
     * kernel's. */
    if (!call->callee && !call->builtin && emu_of_device_runtime(y->name)) call->missing = y->name;
    if (!call->callee && !call->builtin && !call->missing)
      return emu_refuse(fn, s, "it calls %s, which is not defined in this module", y->name);
    if (call->builtin && !emu_builtin_fits(call->builtin, m, formal))
      return emu_refuse(fn, s, "%s is declared in an unknown way", y->name);
  } else {
    const hd_ptx_sym *y = c.proto && c.proto->kind == HD_O_SYM ? &m->syms[c.proto->sym] : NULL;
    if (!y || (y->kind != HD_SYM_PROTO && y->kind != HD_SYM_TARGETS && y->kind != HD_SYM_FUNC))
      return emu_refuse(fn, s, "a call through a register has no prototype");
    if (y->kind == HD_SYM_PROTO) {
      formal = &m->protos[y->decl];
    } else if (y->kind == HD_SYM_FUNC) {
      formal = &m->funcs[y->decl];
    } else { /* .calltargets: functions of one signature */
      const hd_ptx_opnd *first =
          y->index < fn->func->n_stmts ? emu_operand(fn, &fn->func->stmts[y->index], 0) : NULL;
      if (!first || first->kind != HD_O_SYM || m->syms[first->sym].kind != HD_SYM_FUNC)
        return emu_refuse(fn, s, "its targets are no functions");
      formal = &m->funcs[m->syms[first->sym].decl];
    }
    if (!emu_source(fn, s, c.callee, 64, &call->fn_slot)) return false;
  }
  call->n_args = formal->n_params;
  call->n_rets = formal->n_rets;
  return places_of(fn, s, c.args, formal->first_param, formal->n_params, false, &call->args) &&
         places_of(fn, s, c.rets, formal->first_ret, formal->n_rets, true, &call->rets);
}
const emu_rule emu_rule_call = {prepare_call, emit_call};

/* ---- Barriers ------------------------------------------------------------------------------ */

/* barrier.cluster.arrive{.release|.relaxed}{.aligned}, .wait{.acquire}{.aligned} */
static void prepare_cluster_bar(emu_decoder *d, emu_form *f) {
  const bool arrives = EMU_HAS(f, ARRIVE);
  f->proto.control = EMU_CLUSTER_BAR;
  f->proto.imm = !arrives ? EMU_CLUSTER_WAIT : EMU_HAS(f, RELAXED) ? EMU_CLUSTER_RELAXED : EMU_CLUSTER_ARRIVE;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    switch (f->ptx->mods[k]) {
    case HD_M_CLUSTER:
    case HD_M_ARRIVE:
    case HD_M_WAIT:
    case HD_M_RELEASE:
    case HD_M_RELAXED:
    case HD_M_ACQUIRE:
    case HD_M_ALIGNED: break;
    default: emu_refuse_word(d, f, f->ptx->mods[k]); return;
    }
  }
  if (arrives == EMU_HAS(f, WAIT) ||
      (arrives ? EMU_HAS(f, ACQUIRE) : EMU_HAS(f, RELEASE) || EMU_HAS(f, RELAXED)))
    f->refused = emu_no_form;
}

/* data[0]: emu_bar_kind; data[1]: bar.warp.sync */
static void prepare_bar(emu_decoder *d, emu_form *f) {
  emu_bar_kind kind = EMU_BAR_SYNC;
  bool red = false;
  if (EMU_HAS(f, CLUSTER)) {
    prepare_cluster_bar(d, f);
    return;
  }
  f->proto.control = EMU_BAR;
  for (unsigned k = 0; k < f->ptx->n_mods; k++) {
    switch (f->ptx->mods[k]) {
    case HD_M_WARP:
      f->data[1] = 1;
      f->proto.control = EMU_GATHER;
      f->proto.gather_mask = 1;
      break;
    case HD_M_CTA:
    case HD_M_SYNC:
    case HD_M_ALIGNED:
    case HD_M_PRED:
    case HD_M_U32: break;
    case HD_M_ARRIVE: kind = EMU_BAR_ARRIVE; break;
    case HD_M_RED: red = true; break;
    case HD_M_POPC: kind = EMU_BAR_POPC; break;
    case HD_M_AND: kind = EMU_BAR_AND; break;
    case HD_M_OR: kind = EMU_BAR_OR; break;
    default: emu_refuse_word(d, f, f->ptx->mods[k]); return;
    }
  }
  f->data[0] = kind;
  if (red != (kind >= EMU_BAR_POPC)) f->refused = emu_no_form;
}

static bool emit_bar(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in) {
  if (f->data[1]) return emu_source(fn, s, emu_operand(fn, s, 0), 32, &in->src[3]);
  if (f->proto.control == EMU_CLUSTER_BAR)
    return s->n_opnds == 0 || emu_refuse(fn, s, "it has %u operands", s->n_opnds);
  emu_bar *b = HD_NEW(fn->d->env->arena, emu_bar);
  b->kind = (emu_bar_kind)f->data[0];
  /* bar is barrier.aligned */
  b->aligned = f->ptx->op == HD_OP_BAR || EMU_HAS(f, ALIGNED);
  in->extra = b;
  const bool red = b->kind >= EMU_BAR_POPC;
  const unsigned first = red ? 1 : 0, last = s->n_opnds - (red ? 1u : 0u);
  if (s->n_opnds < first + 1 + first || last - first > 2)
    return emu_refuse(fn, s, "it has %u operands", s->n_opnds);
  if (!emu_source(fn, s, emu_operand(fn, s, first), 32, &b->id_slot)) return false;
  if (last - first == 2) {
    b->has_count = true;
    if (!emu_source(fn, s, emu_operand(fn, s, first + 1), 32, &b->count_slot)) return false;
  }
  if (!red) return true;
  uint8_t negated = 0;
  if (!emu_predicate(fn, s, emu_operand(fn, s, last), &b->pred_slot, &negated)) return false;
  b->negate = negated;
  return emu_destination(fn, s, emu_operand(fn, s, 0), b->kind == EMU_BAR_POPC ? 32 : 1, false, &b->dst_slot);
}
const emu_rule emu_rule_bar = {prepare_bar, emit_bar};
