/* Which tasks access what others decide: whether tasks can be left out of a trace. */
#include <stdlib.h>

#include "heddle/analysis.h"
#include "heddle/ptx_facts.h"
#include "predict/task_traces.h"

/* Of all launches. */
typedef struct uses {
  bool *decides, *written; /* per buffer: what it holds decides accesses; something writes it */
  bool reads_data, unknown;
  bool crossed; /* a launch may write what decides the accesses of its other tasks */
} uses;

/* ---- Loads that decide --------------------------------------------------------------------- */

/* The loads of one kernel that addresses and branches follow from: whatever flows into their registers, on
 * any path. */
typedef struct slice {
  const hd_analysis *a;
  uint32_t inst;  /* whose operands are looked at */
  unsigned roles; /* of operands that count */
  bool *needed;   /* per register, and the carry behind them */
  bool *loads;    /* per site */
  bool hit, changed;
  bool all; /* a value came from elsewhere: every load counts */
} slice;

static bool need(void *ctx, const hd_ptx_leaf *leaf) {
  slice *x = ctx;
  const hd_cfg *g = &x->a->cfg;
  const hd_ptx_sym *y = &g->module->syms[leaf->sym];
  if (!(leaf->role & HD_ROLE_READ) || !(leaf->role & x->roles)) return true;
  if (y->kind == HD_SYM_SREG && hd_ptx_sreg_kind(y->index) == HD_SRK_SCHEDULE) x->all = true;
  if (y->kind != HD_SYM_REG) return true;
  bool *needed = &x->needed[hd_cfg_reg(g, g->insts[x->inst].call, leaf->sym)];
  x->changed |= !*needed;
  *needed = true;
  return true;
}

static bool is_needed(void *ctx, const hd_ptx_leaf *leaf) {
  slice *x = ctx;
  const hd_cfg *g = &x->a->cfg;
  if (leaf->role & HD_ROLE_WRITTEN && g->module->syms[leaf->sym].kind == HD_SYM_REG)
    x->hit |= x->needed[hd_cfg_reg(g, g->insts[x->inst].call, leaf->sym)];
  return true;
}

static void need_operands(slice *x, uint32_t inst, unsigned roles) {
  x->inst = inst;
  x->roles = roles;
  hd_ptx_visit(x->a->module, hd_inst_stmt(&x->a->cfg, inst), need, x);
}

/* Whether all copies, and all threads, that it waits for have arrived at a barrier of the CTA's own, or of
 * its cluster's, whose CTAs run together: no data. */
static bool is_own_wait(const hd_ptx_form *f) {
  return f->op == HD_OP_MBARRIER && (hd_ptx_form_has(f, HD_M_TEST_WAIT) || hd_ptx_form_has(f, HD_M_TRY_WAIT));
}

/* The sums of a product and the values of a store are no addresses. */
static bool has_values(const hd_ptx_form *f) {
  return f->op == HD_OP_STMATRIX || (f->op == HD_OP_WGMMA && hd_ptx_form_has(f, HD_M_MMA_ASYNC));
}

/* Addresses, and all that says whether an access or a branch runs. */
static void begin_slice(slice *x) {
  const hd_cfg *g = &x->a->cfg;
  x->all = x->a->over_budget || g->n_calls > 1;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(g, i);
    const hd_ptx_access access = hd_ptx_access_of(f);
    x->all |= (f->flags & HD_OPF_CALLS) || access.unknown;
    if (f->flags & HD_OPF_LEAVES || (access.bulk && !has_values(f)))
      need_operands(x, i, HD_ROLE_READ);
    else if (access.kinds)
      need_operands(x, i, HD_ROLE_BASE | HD_ROLE_GUARD);
  }
}

static void take_load(slice *x, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&x->a->cfg, inst);
  bool found =
      !(f->flags & HD_OPF_BRINGS_DATA) || !(hd_ptx_access_of(f).kinds & HD_ACC_READ) || is_own_wait(f);
  for (uint32_t i = 0; i < x->a->n_sites; i++)
    if (x->a->sites[i].inst == inst) x->loads[i] = found = true;
  x->all |= !found; /* of shared memory, say */
}

static void widen_slice(slice *x) {
  const hd_cfg *g = &x->a->cfg;
  for (uint32_t i = g->n_insts; i-- > 0;) {
    const uint32_t flags = hd_inst_form(g, i)->flags;
    x->inst = i;
    x->hit = flags & HD_OPF_WRITES_CARRY && x->needed[g->n_regs];
    hd_ptx_visit(g->module, hd_inst_stmt(g, i), is_needed, x);
    if (!x->hit) continue;
    if (flags & HD_OPF_READS_CARRY && !x->needed[g->n_regs]) x->needed[g->n_regs] = x->changed = true;
    need_operands(x, i, HD_ROLE_READ);
    take_load(x, i);
  }
}

static bool depends_on_data(const hd_analysis *a) {
  if (a->over_budget) return true;
  for (uint32_t i = 0; i < a->n_sites; i++)
    if (a->sites[i].level >= HD_LEVEL_DATA || !a->sites[i].guards_complete) return true;
  for (uint32_t i = 0; i < a->n_sites; i++)
    for (uint32_t g = 0; g < a->sites[i].n_guards; g++)
      if (a->polys[a->guards[a->sites[i].first_guard + g].poly].level >= HD_LEVEL_DATA) return true;
  for (uint32_t i = 0; i < a->cfg.n_loops; i++)
    if (a->loop_values[i].rounds == HD_NONE || a->polys[a->loop_values[i].rounds].level >= HD_LEVEL_DATA)
      return true;
  return false;
}

/* Where formulas say that nothing depends on data, no load decides. */
static void find_deciding(slice *x) {
  const hd_analysis *a = x->a;
  if (!depends_on_data(a)) return;
  begin_slice(x);
  do {
    x->changed = false;
    widen_slice(x);
  } while (x->changed && !x->all);
  for (uint32_t i = 0; x->all && i < a->n_sites; i++)
    x->loads[i] = hd_site_reads((hd_site_kind)a->sites[i].kind) || a->sites[i].kind == HD_SITE_ATOMIC;
}

/* ---- Uses of a launch ------------------------------------------------------------------------ */

static bool buffer_of(const hd_site *s, const hd_wl_launch *l, uint32_t *buffer) {
  if (s->param == HD_NONE || s->param >= l->n_args || !l->args[s->param].is_buffer) return false;
  *buffer = l->args[s->param].buffer;
  return true;
}

static void add_site(const slice *x, uint32_t site, const hd_wl_launch *l, uses *u) {
  const hd_site *s = &x->a->sites[site];
  const bool decides = x->loads[site], writes = hd_site_writes((hd_site_kind)s->kind);
  uint32_t buffer;
  if (!decides && !writes) return;
  if (!buffer_of(s, l, &buffer)) {
    u->unknown |= s->var == HD_NONE || writes || x->a->module->vars[s->var].space == HD_M_CONST;
    return;
  }
  if (decides) u->decides[buffer] = true;
  if (writes) u->written[buffer] = true;
}

/* Does the launch write a buffer that decides its own accesses, elsewhere than where the same thread reads
 * it? */
static bool is_crossed(const slice *x, const hd_wl_launch *l) {
  uint32_t read, written;
  for (uint32_t i = 0; i < x->a->n_sites; i++) {
    const hd_site *r = &x->a->sites[i];
    if (!x->loads[i] || !buffer_of(r, l, &read)) continue;
    for (uint32_t k = 0; k < x->a->n_sites; k++) {
      const hd_site *w = &x->a->sites[k];
      if (!hd_site_writes((hd_site_kind)w->kind) || !buffer_of(w, l, &written) || written != read) continue;
      if (w->kind == HD_SITE_ATOMIC || w->level >= HD_LEVEL_DATA || w->address != r->address) return true;
    }
  }
  return false;
}

static hd_status add_launch(const hd_compiled *code, uint32_t launch, uses *u, hd_diag *d) {
  const hd_wl_launch *l = &code->workload->launches[launch];
  const hd_analyze_options o = {.grid = {l->grid[0], l->grid[1], l->grid[2]},
                                .block = {l->block[0], l->block[1], l->block[2]}};
  hd_analysis *a;
  hd_status st = hd_analyze(code->module, code->kernels[code->kernel_of[launch]].func, &o, &a, d);
  if (st != HD_OK) return st;
  slice x = {.a = a,
             .needed = calloc((size_t)a->cfg.n_regs + 1, sizeof *x.needed),
             .loads = calloc((size_t)a->n_sites + 1, sizeof *x.loads)};
  if (x.needed && x.loads) {
    find_deciding(&x);
    u->unknown |= l->cooperative;
    for (uint32_t i = 0; i < a->n_sites; i++) {
      u->reads_data |= x.loads[i];
      add_site(&x, i, l, u);
    }
    u->crossed |= is_crossed(&x, l);
  } else {
    st = hd_nomem(d);
  }
  free(x.needed);
  free(x.loads);
  hd_analysis_free(a);
  return st;
}

/* The launch is like an earlier one, as far as this matters. */
static bool is_repeated(const hd_compiled *code, uint32_t launch) {
  const hd_wl_launch *l = code->workload->launches, *b = &l[launch];
  for (uint32_t i = 0; i < launch; i++) {
    if (code->kernel_of[i] != code->kernel_of[launch] || l[i].n_args != b->n_args) continue;
    bool same = true;
    for (uint32_t k = 0; same && k < b->n_args; k++)
      same = l[i].args[k].is_buffer == b->args[k].is_buffer &&
             (!b->args[k].is_buffer || l[i].args[k].buffer == b->args[k].buffer);
    if (same) return true;
  }
  return false;
}

hd_status record_steering(const hd_compiled *code, steering *out, hd_diag *d) {
  const hd_workload *w = code->workload;
  uses u = {.decides = calloc((size_t)w->n_buffers + 1, sizeof *u.decides),
            .written = calloc((size_t)w->n_buffers + 1, sizeof *u.written)};
  hd_status st = u.decides && u.written ? HD_OK : hd_nomem(d);
  *out = (steering){0};
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++) {
    u.unknown |= w->launches[i].cooperative;
    if (!is_repeated(code, i)) st = add_launch(code, i, &u, d);
  }
  bool computed = false;
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++) {
    u.decides[i] &= u.written[i];
    computed |= u.decides[i];
  }
  out->reads_data = u.reads_data;
  out->kind = (u.reads_data && (u.unknown || w->n_images)) || u.crossed ? STEERED_WITHIN
              : computed                                                ? STEERED_BETWEEN
                                                                        : STEERED_BY_NOTHING;
  for (uint32_t i = 0; i < w->n_launches; i++)
    if (w->launches[i].cooperative) out->kind = STEERED_WITHIN;
  out->state = u.decides;
  out->written = u.written;
  if (st != HD_OK) steering_free(out);
  return st;
}

void steering_free(steering *s) {
  free(s->written);
  free(s->state);
  *s = (steering){0};
}
