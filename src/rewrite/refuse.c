/* Which kernels must not be reordered, and the instruction that says so.
 *
 * Reordering gives the same bytes when no CTA can tell which others ran before it or where
 * it runs, and none waits for another. What reveals either is looked for in the kernel and
 * in every function it can reach.
 */
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_internal.h"

const char *hd_refusal_name(hd_refusal_kind k) {
  static const char *const names[] = {
      [HD_REFUSE_NONE] = "none",
      [HD_REFUSE_NO_BODY] = "no-body",
      [HD_REFUSE_GRID_SYNC] = "grid-sync",
      [HD_REFUSE_CLUSTER] = "cluster",
      [HD_REFUSE_SREG] = "special-register",
      [HD_REFUSE_CTAID_IN_FUNC] = "ctaid-in-function",
      [HD_REFUSE_UNKNOWN_CALL] = "unknown-call",
      [HD_REFUSE_DYNAMIC_LAUNCH] = "dynamic-launch",
      [HD_REFUSE_SKIPPED_BARRIER] = "skipped-barrier",
      [HD_REFUSE_LASTING_STATE] = "lasting-state",
      [HD_REFUSE_GRID_IN_FUNC] = "grid-in-function",
      [HD_REFUSE_WORKS_TOGETHER] = "works-together",
      [HD_REFUSE_TID_IN_FUNC] = "tid-in-function",
  };
  return (size_t)k < sizeof names / sizeof *names ? names[k] : "unknown";
}

/* ---- Special registers ----------------------------------------------------- */

typedef struct sreg_rule {
  uint16_t id;
  hd_refusal_kind kind;
  const char *why;
} sreg_rule;

#define PLACE "its value depends on where and when the CTA runs"
static const sreg_rule sreg_rules[] = {
    {HD_SR_SMID, HD_REFUSE_SREG, PLACE},
    {HD_SR_WARPID, HD_REFUSE_SREG, PLACE},
    {HD_SR_GRIDID, HD_REFUSE_SREG, PLACE},
    {HD_SR_CLOCK, HD_REFUSE_SREG, PLACE},
    {HD_SR_CLOCK_HI, HD_REFUSE_SREG, PLACE},
    {HD_SR_CLOCK64, HD_REFUSE_SREG, PLACE},
    {HD_SR_GLOBALTIMER, HD_REFUSE_SREG, PLACE},
    {HD_SR_GLOBALTIMER_LO, HD_REFUSE_SREG, PLACE},
    {HD_SR_GLOBALTIMER_HI, HD_REFUSE_SREG, PLACE},
    {HD_SR_CLUSTERID, HD_REFUSE_CLUSTER, "the kernel uses thread-block clusters"},
    {HD_SR_NCLUSTERID, HD_REFUSE_CLUSTER, "the kernel uses thread-block clusters"},
    {HD_SR_CLUSTER_CTAID, HD_REFUSE_CLUSTER, "the kernel uses thread-block clusters"},
    {HD_SR_CLUSTER_NCTAID, HD_REFUSE_CLUSTER, "the kernel uses thread-block clusters"},
    {HD_SR_CLUSTER_CTARANK, HD_REFUSE_CLUSTER, "the kernel uses thread-block clusters"},
    {HD_SR_CLUSTER_NCTARANK, HD_REFUSE_CLUSTER, "the kernel uses thread-block clusters"},
    {HD_SR_IS_EXPLICIT_CLUSTER, HD_REFUSE_CLUSTER, "the kernel uses thread-block clusters"},
};

static void scan_sreg(rewrite_scan *s, const hd_ptx_func *f, const hd_ptx_stmt *st, const hd_ptx_opnd *o) {
  uint32_t id = s->m->syms[o->sym].index;
  if (id == HD_SR_NONE) {
    rewrite_scan_refuse(s, HD_REFUSE_SREG, st, "a special register that is not known");
    return;
  }
  if (id >= HD_SR_ENVREG0 && id <= HD_SR_ENVREG31) {
    /* The driver passes the workspace of a cooperative launch in these. */
    rewrite_scan_refuse(s, HD_REFUSE_GRID_SYNC, st,
                        "driver-defined register, used for grid-wide synchronisation");
    return;
  }
  if (id == HD_SR_CTAID) {
    if (!f->entry)
      rewrite_scan_refuse(s, HD_REFUSE_CTAID_IN_FUNC, st, "%ctaid is read in a function that is not inlined");
    return;
  }
  for (size_t i = 0; i < sizeof sreg_rules / sizeof *sreg_rules; i++)
    if (sreg_rules[i].id == id) rewrite_scan_refuse(s, sreg_rules[i].kind, st, sreg_rules[i].why);
}

static void scan_operands(rewrite_scan *s, const hd_ptx_func *f, const hd_ptx_stmt *st, uint32_t first,
                          uint32_t n) {
  for (uint32_t i = first; i < first + n; i++) {
    const hd_ptx_opnd *o = &s->m->opnds[i];
    switch (o->kind) {
    case HD_O_SREG: scan_sreg(s, f, st, o); break;
    case HD_O_VEC:
    case HD_O_LIST:
    case HD_O_BRACKET:
    case HD_O_PAIR:
    case HD_O_MASKED: scan_operands(s, f, st, o->sym, o->n_kids); break;
    default: break;
    }
  }
}

/* ---- Calls -------------------------------------------------------------------- */

/* System functions that look at no CTA id. */
static bool is_harmless_extern(const char *name) {
  static const char *const known[] = {"vprintf", "__assertfail", "malloc", "free", "memcpy", "memset"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i], name) == 0) return true;
  return false;
}

static void scan_call(rewrite_scan *s, const hd_ptx_stmt *st) {
  const hd_ptx_module *m = s->m;
  for (uint32_t i = 0; i < st->n_opnds; i++) {
    const hd_ptx_opnd *o = &m->opnds[st->first_opnd + i];
    if (o->kind == HD_O_LIST) continue;
    if (o->kind == HD_O_REG) {
      rewrite_scan_refuse(s, HD_REFUSE_UNKNOWN_CALL, st,
                          "a call through a pointer may reach code that reads %ctaid");
      return;
    }
    if (o->kind != HD_O_SYM) continue;
    const hd_ptx_sym *sym = &m->syms[o->sym];
    if (sym->kind == HD_SYM_FUNC && m->funcs[sym->decl].has_body) {
      rewrite_scan_reach(s, sym->decl);
    } else if (sym->kind == HD_SYM_PROTO || sym->kind == HD_SYM_TARGETS) {
      continue;
    } else if (!is_harmless_extern(sym->name)) {
      rewrite_scan_refuse(s, HD_REFUSE_UNKNOWN_CALL, st,
                          "the called function is not in this module and may read %ctaid");
    }
    return; /* what follows the callee is a prototype */
  }
}

/* ---- Waiting for other CTAs ------------------------------------------------------ */

static bool is_global_or_generic(const hd_ptx_form *f) {
  return !hd_ptx_form_has(f, HD_M_SHARED) && !hd_ptx_form_has(f, HD_M_SHARED_CTA) &&
         !hd_ptx_form_has(f, HD_M_SHARED_CLUSTER) && !hd_ptx_form_has(f, HD_M_LOCAL) &&
         !hd_ptx_form_has(f, HD_M_PARAM) && !hd_ptx_form_has(f, HD_M_CONST);
}

static bool is_int(const hd_ptx_opnd *o, int64_t v) { return o->kind == HD_O_INT && o->imm == v; }

/* A load or atomic that a loop can watch another CTA's progress with. A compare-and-swap whose
 * compare value differs from the new one changes memory when it succeeds: that is a lock or an
 * update, which the holder ends by itself, whatever the order. */
static bool watches_memory(const hd_ptx_module *m, const hd_ptx_stmt *st) {
  const hd_ptx_form *f = &m->forms[st->form];
  const hd_ptx_opnd *o = &m->opnds[st->first_opnd];
  if (!is_global_or_generic(f)) return false;
  if (f->op == HD_OP_LD)
    return hd_ptx_form_has(f, HD_M_VOLATILE) || hd_ptx_form_has(f, HD_M_RELAXED) ||
           hd_ptx_form_has(f, HD_M_ACQUIRE) || hd_ptx_form_has(f, HD_M_MMIO);
  if (f->op != HD_OP_ATOM || st->n_opnds < 3 || o[0].kind == HD_O_SINK) return false;
  if (hd_ptx_form_has(f, HD_M_CAS))
    return st->n_opnds >= 4 && o[2].kind == HD_O_INT && o[3].kind == HD_O_INT && o[2].imm == o[3].imm;
  if (hd_ptx_form_has(f, HD_M_AND)) return is_int(&o[2], -1) || is_int(&o[2], 0xffffffffll);
  return !hd_ptx_form_has(f, HD_M_EXCH) && is_int(&o[2], 0);
}

/* Statements inside some loop: between the target of a backward branch and the branch. */
static bool mark_loops(const hd_ptx_module *m, const hd_ptx_func *f, uint32_t *covered) {
  bool any = false;
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    const hd_ptx_stmt *st = &f->stmts[i];
    uint32_t first = st->first_opnd, n = st->n_opnds;
    if (st->kind == HD_S_INST && m->forms[st->form].op != HD_OP_BRA) continue;
    if (st->kind != HD_S_INST && st->kind != HD_S_TARGETS) continue;
    for (uint32_t k = first; k < first + n; k++) {
      const hd_ptx_opnd *o = &m->opnds[k];
      if (o->kind != HD_O_SYM || m->syms[o->sym].kind != HD_SYM_LABEL) continue;
      uint32_t target = m->syms[o->sym].index;
      if (target > i) continue;
      covered[target]++; /* +1 where a loop begins, -1 behind its end */
      covered[i + 1]--;
      any = true;
    }
  }
  return any;
}

static bool scan_spins(rewrite_scan *s, const hd_ptx_func *f) {
  uint32_t *covered = calloc((size_t)f->n_stmts + 2, sizeof *covered);
  if (!covered) return false;
  if (mark_loops(s->m, f, covered)) {
    uint32_t depth = 0;
    for (uint32_t i = 0; i < f->n_stmts; i++) {
      depth += covered[i];
      const hd_ptx_stmt *st = &f->stmts[i];
      if (depth && st->kind == HD_S_INST && watches_memory(s->m, st))
        rewrite_scan_refuse(s, HD_REFUSE_GRID_SYNC, st, "a loop may wait here for what another CTA writes");
    }
  }
  free(covered);
  return true;
}

/* ---- Instructions ------------------------------------------------------------------ */

static void scan_inst(rewrite_scan *s, const hd_ptx_func *f, const hd_ptx_stmt *st) {
  const hd_ptx_form *form = &s->m->forms[st->form];
  switch (form->op) {
  case HD_OP_CALL: scan_call(s, st); break;
  case HD_OP_MAPA:
  case HD_OP_GETCTARANK: rewrite_scan_refuse(s, HD_REFUSE_CLUSTER, st, "distributed shared memory"); break;
  case HD_OP_CLUSTERLAUNCHCONTROL:
    rewrite_scan_refuse(s, HD_REFUSE_DYNAMIC_LAUNCH, st,
                        "the kernel takes over CTAs that were not launched yet");
    break;
  case HD_OP_BARRIER:
    if (hd_ptx_form_has(form, HD_M_CLUSTER))
      rewrite_scan_refuse(s, HD_REFUSE_CLUSTER, st, "cluster-wide barrier");
    break;
  default:
    if (hd_ptx_form_has(form, HD_M_MULTICAST_CLUSTER) || hd_ptx_form_has(form, HD_M_MULTICAST_CLUSTER_ALL) ||
        hd_ptx_form_has(form, HD_M_CTA_GROUP_2))
      rewrite_scan_refuse(s, HD_REFUSE_CLUSTER, st, "works across the CTAs of a cluster");
  }
  if (form->op != HD_OP_CALL) scan_operands(s, f, st, st->first_opnd, st->n_opnds);
}

static void scan_directives(rewrite_scan *s, const hd_ptx_func *f) {
  static const hd_mod cluster_dirs[] = {HD_M_REQNCTAPERCLUSTER, HD_M_EXPLICITCLUSTER, HD_M_BLOCKSARECLUSTERS};
  for (size_t i = 0; i < sizeof cluster_dirs / sizeof *cluster_dirs; i++)
    if (hd_ptx_func_dir(s->m, f, cluster_dirs[i])) {
      rewrite_scan_refuse(s, HD_REFUSE_CLUSTER, NULL, "the kernel is launched in thread-block clusters");
      return;
    }
}

size_t hd_rewrite_refusals(const hd_ptx_module *m, uint32_t func, hd_refusal *out, size_t cap) {
  const hd_ptx_func *kernel = &m->funcs[func];
  rewrite_scan s = {.m = m, .out = out, .cap = cap};
  if (!kernel->has_body) {
    rewrite_scan_refuse(&s, HD_REFUSE_NO_BODY, NULL, "the kernel is declared here but defined elsewhere");
    return s.n;
  }
  bool ok = rewrite_scan_begin(&s, m, func, out, cap);
  if (ok) scan_directives(&s, kernel);
  for (const hd_ptx_func *f; ok && (f = rewrite_scan_next(&s));) {
    for (uint32_t i = 0; i < f->n_stmts; i++)
      if (f->stmts[i].kind == HD_S_INST) scan_inst(&s, f, &f->stmts[i]);
    ok = scan_spins(&s, f);
    if (!ok) rewrite_scan_refuse(&s, HD_REFUSE_NO_BODY, NULL, "out of memory while looking at the kernel");
  }
  rewrite_scan_end(&s);
  return s.n;
}
