/* Loads that give one value to all threads that run them alike.
 *
 * Say that all threads of a CTA (or of a warp) run a weak load, the same number of times, at the same
 * address. Two of them get different values only if some thread writes there in between: after the one's
 * load, and before the other's. As the load is weak, that writer must be ordered behind the first load and
 * before the second, or the program has a data race, and then PTX gives it no meaning. Threads are ordered by
 * barriers, and by a release that another thread acquires.
 *
 *   - Barriers that all threads run alike order no thread's n-th load behind another's n-th one: both lie
 * between the same two barriers. uniformity.c asks whether they do.
 *   - So the second thread, or who wrote for it, acquired something, and the second thread did so since the
 * last barrier of its CTA: with a fence, an acquire, an mbarrier, or with a barrier for a part of the CTA.
 *
 * A load is alike where no path to it from the last such barrier, or from the kernel's beginning, has any of
 * these, and the kernel is not seen to write there (writes.c). */
#include "cfg/internal.h"
#include "heddle/ptx_facts.h"

enum { NOT_KNOWN = 0, KNOWN }; /* of a load: KNOWN + hd_same */

/* bar.red d, a {, b}, c; bar.sync a {, b}. With b, so many threads meet, in whole warps; without, all that
 * have not ended, whatever number a register holds: threads at two numbers would wait for each other for
 * ever. */
bool hd_inst_is_full_barrier(const hd_cfg *g, uint32_t inst, const uint32_t block_dims[3]) {
  const hd_ptx_stmt *s = hd_inst_stmt(g, inst);
  const hd_ptx_form *f = &g->module->forms[s->form];
  if (!(f->flags & HD_OPF_CTA_WIDE) || f->flags & HD_OPF_UNKNOWN || hd_ptx_form_has(f, HD_M_ARRIVE))
    return false;
  if (!hd_ptx_barrier_count(g->module, s)) return true;
  const uint64_t threads = (uint64_t)block_dims[0] * block_dims[1] * block_dims[2];
  return threads && hd_ptx_barrier_threads(g->module, s, block_dims) == (threads + 31) / 32 * 32;
}

bool hd_inst_counts_threads(const hd_cfg *g, uint32_t inst) {
  return hd_ptx_barrier_count(g->module, hd_inst_stmt(g, inst));
}

/* bar.warp.sync with a constant mask pairs as all lanes run it. */
static bool is_warp_barrier(const hd_cfg *g, uint32_t inst) {
  const hd_ptx_stmt *s = hd_inst_stmt(g, inst);
  const hd_ptx_form *f = &g->module->forms[s->form];
  return f->op == HD_OP_BAR && hd_ptx_form_has(f, HD_M_WARP) && s->n_opnds == 1 &&
         g->module->opnds[s->first_opnd].kind == HD_O_INT;
}

/* By the class of the opcode, so that none is forgotten. */
static bool may_acquire(const hd_cfg *g, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(g, inst);
  const hd_ptx_access a = hd_ptx_access_of(f);
  if (f->flags & HD_OPF_UNKNOWN || a.unknown) return true;
  switch (hd_ptx_op_class(f->op)) {
  case HD_OPC_COMPUTE:
  case HD_OPC_EXCHANGE:
  case HD_OPC_STATE: return false;
  case HD_OPC_MEMORY: /* waits on mbarriers, too */
    return a.order == HD_ORDERED_ACQUIRE || a.order == HD_ORDERED_ACQ_REL || a.order == HD_ORDERED_SC;
  /* Grids that griddepcontrol waits for have ended: none of them writes between two later loads. */
  case HD_OPC_SYNC: return !is_warp_barrier(g, inst) && f->op != HD_OP_GRIDDEPCONTROL;
  case HD_OPC_CONTROL: return f->flags & HD_OPF_CALLS && !g->insts[inst].body;
  case HD_OPC_UNKNOWN: break;
  }
  return true;
}

static cfg_effect effect_of(const cfg_alike *a, uint32_t inst) {
  const hd_cfg *g = a->g;
  if (!hd_inst_is_full_barrier(g, inst, a->block_dims))
    return may_acquire(g, inst) ? CFG_EFFECT_ORDERS : CFG_EFFECT_NONE;
  return hd_inst_stmt(g, inst)->guard ? CFG_EFFECT_NONE : CFG_EFFECT_CLEARS;
}

/* Some register may hold the address of a .param variable that is none of the kernel's parameters. */
static bool takes_param_address(const hd_cfg *g, uint32_t inst) {
  const hd_ptx_stmt *s = hd_inst_stmt(g, inst);
  if (g->module->forms[s->form].flags & HD_OPF_CALLS) return false;
  for (uint32_t k = s->first_opnd; k < s->first_opnd + s->n_opnds; k++) {
    const hd_ptx_opnd *o = &g->module->opnds[k];
    const hd_ptx_sym *y = o->kind == HD_O_SYM ? &g->module->syms[o->sym] : NULL;
    if (y && y->kind == HD_SYM_VAR && g->module->vars[y->decl].space == HD_M_PARAM &&
        !cfg_is_own_param(g, o->sym))
      return true;
  }
  return false;
}

/* Some generic address may lead into a thread's local memory. */
static bool takes_local_address(const hd_ptx_form *f) {
  return f->op == HD_OP_ALLOCA || (f->op == HD_OP_CVTA && hd_ptx_form_has(f, HD_M_LOCAL));
}

/* Functions that are not inlined hand such addresses back, too. */
static bool any_takes_local_address(const cfg_alike *a) {
  const hd_ptx_module *m = a->g->module;
  hd_reach reach;
  hd_reach_find(m, a->g->calls[0].func, a->arena, &reach);
  for (uint32_t k = 0; k < reach.n; k++) {
    const hd_ptx_func *f = &m->funcs[reach.funcs[k]];
    for (uint32_t i = 0; i < f->n_stmts; i++)
      if (f->stmts[i].kind == HD_S_INST && takes_local_address(&m->forms[f->stmts[i].form])) return true;
  }
  return false;
}

static void look_at_graph(cfg_alike *a) {
  const hd_cfg *g = a->g;
  a->effects = HD_NEW_N(a->arena, g->n_insts + 1u, uint8_t);
  a->ordered = HD_NEW_N(a->arena, g->n_blocks + 1u, uint8_t);
  a->loads = HD_NEW_N(a->arena, g->n_insts + 1u, uint8_t);
  /* An inlined body's use of its parameters is not examined. */
  a->other_params = g->n_calls > 1 || !g->module->funcs[g->calls[0].func].entry;
  a->local_addresses = any_takes_local_address(a);
  for (uint32_t i = 0; i < g->n_insts; i++) {
    a->effects[i] = (uint8_t)effect_of(a, i);
    a->other_params |= takes_param_address(g, i);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 0; b < g->n_blocks; b++) {
      const hd_block *block = &g->blocks[b];
      bool ordered = a->ordered[b];
      for (uint32_t i = block->first; i < block->first + block->n_insts; i++)
        if (a->effects[i]) ordered = a->effects[i] == CFG_EFFECT_ORDERS;
      for (uint32_t k = 0; ordered && k < block->n_succ; k++) {
        uint8_t *to = &a->ordered[g->edges[block->first_succ + k]];
        changed |= !*to;
        *to = 1;
      }
    }
  }
}

static bool is_ordered(const cfg_alike *a, uint32_t inst) {
  uint32_t block = a->g->insts[inst].block;
  for (uint32_t i = inst; i-- > a->g->blocks[block].first;)
    if (a->effects[i]) return a->effects[i] == CFG_EFFECT_ORDERS;
  return a->ordered[block];
}

static hd_same find_out(const cfg_alike *a, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(a->g, inst);
  const hd_ptx_access x = hd_ptx_access_of(f);
  if (x.unknown || x.n != 1 || x.kinds != HD_ACC_READ || x.order != HD_ORDERED_WEAK || x.cache == HD_M_CV)
    return HD_SAME_NOWHERE;
  switch (x.touches[0].space) {
  case HD_IN_PARAM: return a->other_params ? HD_SAME_NOWHERE : HD_SAME_IN_CTA;
  case HD_IN_CONST: return HD_SAME_IN_CTA;
  case HD_IN_GENERIC:
    if (a->local_addresses) return HD_SAME_NOWHERE;
    break;
  case HD_IN_GLOBAL:
  case HD_IN_SHARED: break;
  default: return HD_SAME_NOWHERE;
  }
  return is_ordered(a, inst) ? HD_SAME_NOWHERE : cfg_unchanged_in(a, inst, x.touches[0].space);
}

hd_same cfg_load_is_alike_in(cfg_alike *a, uint32_t inst) {
  if (!a->loads) look_at_graph(a);
  uint8_t *known = &a->loads[inst];
  if (*known == NOT_KNOWN) *known = (uint8_t)(KNOWN + find_out(a, inst));
  return (hd_same)(*known - KNOWN);
}
