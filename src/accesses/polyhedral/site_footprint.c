/* One site at one launch, and over a part of it: the variables that matter, and the addresses that the others
 * sweep over. */
#include <stdlib.h>
#include <string.h>

#include "polyhedral/internal.h"

/* ---- Sites ---------------------------------------------------------------------------- */

static hd_polyhedral_inexact assume(polyhedral_site *s, uint32_t first, uint32_t n, uint32_t after) {
  const hd_analysis *a = s->forms.a;
  for (uint32_t i = 0; i < n; i++) {
    const hd_assumption *from = &a->assumptions[a->assumption_lists[first + i]];
    uint32_t form = polyhedral_form_of(&s->forms, from->poly);
    if (form == HD_NONE) return HD_INEXACT_ASSUMPTION;
    s->assumed[s->n_assumed++] = (polyhedral_condition){form, from->lo, from->hi, after};
  }
  return HD_INEXACT_NO;
}

static uint32_t count_assumptions(const hd_analysis *a, const hd_site *site) {
  uint64_t n = site->n_assumptions;
  for (uint32_t l = 0; l < a->cfg.n_loops; l++) n += a->loop_values[l].n_assumptions;
  for (uint32_t i = 0; i < site->n_guards; i++) n += a->guards[site->first_guard + i].n_assumptions;
  return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Guards, outermost first, that are passed before the loop is reached. */
static uint32_t guards_before(const hd_analysis *a, const hd_site *site, uint32_t loop) {
  uint32_t n = 0;
  while (n < site->n_guards && (a->guards[site->first_guard + n].loop == HD_NONE ||
                                !hd_loop_contains(&a->cfg, loop, a->guards[site->first_guard + n].loop)))
    n++;
  return n;
}

static hd_polyhedral_inexact open_loops(polyhedral_site *s, const hd_site *site) {
  const hd_cfg *g = &s->forms.a->cfg;
  uint32_t inner = g->blocks[g->insts[site->inst].block].loop;
  memset(s->forms.loops, 0xff, g->n_loops * sizeof *s->forms.loops);
  uint32_t depth = inner == HD_NONE ? 0 : g->loops[inner].depth;
  if (depth > POLYHEDRAL_LOOPS) return HD_INEXACT_OVERFLOW;
  s->n_vars = POLYHEDRAL_COUNTER + depth;
  for (uint32_t l = inner; l != HD_NONE; l = g->loops[l].parent)
    s->forms.loops[l] = POLYHEDRAL_COUNTER + g->loops[l].depth - 1;
  for (uint32_t l = inner; l != HD_NONE; l = g->loops[l].parent) {
    uint32_t form = polyhedral_form_of(&s->forms, s->forms.a->loop_values[l].trips);
    if (form == HD_NONE) return HD_INEXACT_TRIPS;
    s->trips[g->loops[l].depth - 1] = form;
  }
  /* Assumptions may be about loops in front of this one; parents come first. */
  s->n_around = depth;
  for (uint32_t l = 0; l < g->n_loops && s->n_vars < POLYHEDRAL_VARS; l++) {
    if (s->forms.loops[l] != HD_NONE) continue;
    uint32_t form = polyhedral_form_of(&s->forms, s->forms.a->loop_values[l].trips);
    if (form == HD_NONE) continue;
    s->trips[s->n_vars - POLYHEDRAL_COUNTER] = form;
    s->forms.loops[l] = s->n_vars++;
  }
  for (uint32_t l = inner; l != HD_NONE; l = g->loops[l].parent) {
    hd_polyhedral_inexact why =
        assume(s, s->forms.a->loop_values[l].first_assumption, s->forms.a->loop_values[l].n_assumptions,
               guards_before(s->forms.a, site, l));
    if (why) return why;
  }
  return HD_INEXACT_NO;
}

static hd_polyhedral_inexact open_guards(polyhedral_site *s, const hd_site *site) {
  const hd_analysis *a = s->forms.a;
  if (!site->guards_complete) return HD_INEXACT_GUARDS;
  for (uint32_t i = 0; i < site->n_guards; i++) {
    const hd_guard *guard = &a->guards[site->first_guard + i];
    uint32_t form = polyhedral_form_of(&s->forms, guard->poly);
    if (form == HD_NONE) return HD_INEXACT_GUARDS;
    hd_polyhedral_inexact why = assume(s, guard->first_assumption, guard->n_assumptions, i);
    if (why) return why;
    s->guards[s->n_guards++] = form;
  }
  return HD_INEXACT_NO;
}

hd_polyhedral_inexact polyhedral_site_open(polyhedral_site *s, const hd_analysis *a, uint32_t number,
                                           const hd_point *at, int64_t origin, uint64_t *work) {
  const hd_site *site = &a->sites[number];
  *s = (polyhedral_site){.forms = {.a = a, .at = *at}, .site = number, .bytes = site->bytes};
  s->forms.work = work;
  if (site->whole_warp || !site->bytes) return HD_INEXACT_SIZE;
  if (site->level >= HD_LEVEL_DATA) return HD_INEXACT_ADDRESS;
  s->forms.loops = calloc((size_t)a->cfg.n_loops + 1, sizeof *s->forms.loops);
  s->guards = calloc((size_t)site->n_guards + 1, sizeof *s->guards);
  s->assumed = calloc((size_t)count_assumptions(a, site) + 1, sizeof *s->assumed);
  if (!s->forms.loops || !s->guards || !s->assumed) {
    s->forms.no_memory = true;
    return HD_INEXACT_BUDGET;
  }
  hd_polyhedral_inexact why = open_loops(s, site);
  if (!why) why = open_guards(s, site);
  if (!why) why = assume(s, site->first_assumption, site->n_assumptions, site->n_guards);
  if (why) return why;
  s->address = polyhedral_form_of(&s->forms, site->address);
  if (s->address == HD_NONE) return HD_INEXACT_ADDRESS;
  int64_t *constant = &s->forms.forms.data[s->address].constant;
  return __builtin_sub_overflow(*constant, origin, constant) ? HD_INEXACT_OVERFLOW : HD_INEXACT_NO;
}

void polyhedral_site_close(polyhedral_site *s) {
  hd_vec_free(&s->forms.forms);
  hd_vec_free(&s->forms.terms);
  hd_vec_free(&s->forms.functions);
  free(s->forms.loops);
  free(s->guards);
  free(s->assumed);
}

/* ---- Over a part of the launch ---------------------------------------------------------------- */

/* The variables that a form depends on over the box. */
static bool depends(const polyhedral_site *s, uint32_t form, const polyhedral_box *box, uint32_t *vars) {
  polyhedral_linear l;
  if (!polyhedral_flatten(&s->forms, form, box, &l)) return false;
  *vars |= polyhedral_variables(&l);
  return true;
}

static hd_polyhedral_inexact bound_loops(const polyhedral_site *s, polyhedral_footprint *f, bool *empty) {
  for (uint32_t i = 0; i + POLYHEDRAL_COUNTER < s->n_vars; i++) {
    int64_t lo, hi;
    if (!polyhedral_range(&s->forms, s->trips[i], &f->box, &lo, &hi)) {
      if (i < s->n_around) return HD_INEXACT_OVERFLOW;
      hi = INT32_MAX;
    }
    f->box.lo[POLYHEDRAL_COUNTER + i] = 0;
    f->box.hi[POLYHEDRAL_COUNTER + i] = hi < 0 ? 0 : hi;
    if (i >= s->n_around) continue;
    *empty |= hi < 0;
    if (lo == hi) continue;
    f->trips |= 1u << i;
    f->bound |= 1u << (POLYHEDRAL_COUNTER + i);
    if (!depends(s, s->trips[i], &f->box, &f->bound)) return HD_INEXACT_OVERFLOW;
  }
  return HD_INEXACT_NO;
}

/* A guard about one variable, linearly, only narrows the box. */
static bool narrows(const polyhedral_site *s, uint32_t guard, polyhedral_footprint *f) {
  const polyhedral_forms *fs = &s->forms;
  const polyhedral_form *q = &fs->forms.data[s->guards[guard]];
  const polyhedral_term *t = q->n == 1 ? &fs->terms.data[q->first] : NULL;
  if (!t || t->what < POLYHEDRAL_VARS || fs->functions.data[t->what - POLYHEDRAL_VARS].kind != HD_V_GE)
    return false;
  bool opposite = t->coefficient == -1 && q->constant == 1; /* 1 - (x >= 0) */
  if (!opposite && (t->coefficient != 1 || q->constant)) return false;
  polyhedral_linear l;
  if (!polyhedral_flatten(fs, fs->functions.data[t->what - POLYHEDRAL_VARS].a, &f->box, &l)) return false;
  uint32_t vars = polyhedral_variables(&l);
  if (l.n_functions || (vars & (vars - 1)) || vars < 1u << POLYHEDRAL_TID) return false;
  uint32_t v = (uint32_t)__builtin_ctz(vars);
  if (v >= POLYHEDRAL_COUNTER && f->trips >> (v - POLYHEDRAL_COUNTER) & 1) return false;
  /* c * v + constant >= 0 */
  int64_t c = opposite ? -l.coefficient[v] : l.coefficient[v],
          constant = opposite ? -l.constant - 1 : l.constant;
  int64_t end;
  if (c > 0) { /* v >= -floor(constant / c) */
    end = -(constant / c - (constant % c < 0));
    if (end > f->box.lo[v]) f->box.lo[v] = end;
  } else {
    c = -c;
    end = constant / c - (constant % c < 0);
    if (end < f->box.hi[v]) f->box.hi[v] = end;
  }
  f->never |= f->box.lo[v] > f->box.hi[v];
  return true;
}

static hd_polyhedral_inexact bound_guard(const polyhedral_site *s, uint32_t i, polyhedral_footprint *f) {
  int64_t lo, hi;
  if (!polyhedral_range(&s->forms, s->guards[i], &f->box, &lo, &hi)) return HD_INEXACT_OVERFLOW;
  if (lo > 0) return HD_INEXACT_NO;
  f->never |= hi <= 0 && !f->n_assumed;
  if (f->never) return HD_INEXACT_NO;
  if (!f->n_assumed && narrows(s, i, f)) return HD_INEXACT_NO;
  f->guards[f->n_guards++] = i;
  return depends(s, s->guards[i], &f->box, &f->bound) ? HD_INEXACT_NO : HD_INEXACT_OVERFLOW;
}

/* Assumptions that are left must be tried wherever the guards before them hold, so that from there on nothing
 * is left out that later guards exclude. */
static hd_polyhedral_inexact bound_conditions(const polyhedral_site *s, polyhedral_footprint *f) {
  hd_polyhedral_inexact why = HD_INEXACT_NO;
  for (uint32_t i = 0; i <= s->n_guards && !f->never && !why; i++) {
    for (uint32_t k = 0; k < s->n_assumed; k++) {
      const polyhedral_condition *c = &s->assumed[k];
      int64_t lo, hi;
      if (c->after != i) continue;
      if (polyhedral_range(&s->forms, c->form, &f->box, &lo, &hi) && lo >= c->lo && hi <= c->hi) continue;
      f->n_assumed++;
      if (!depends(s, c->form, &f->box, &f->bound)) return HD_INEXACT_OVERFLOW;
    }
    if (i < s->n_guards) why = bound_guard(s, i, f);
  }
  return why;
}

static int by_stride(const void *pa, const void *pb) {
  const polyhedral_dim *x = pa, *y = pb;
  return (x->stride > y->stride) - (x->stride < y->stride);
}

/* Two stretches less than a line apart leave no line between them untouched, so they are one; and multiples
 * of a stride, no more apart than the stride's own run is long, continue that run. */
static bool fold_free(const polyhedral_site *s, uint32_t line, polyhedral_footprint *f) {
  polyhedral_dim dims[POLYHEDRAL_VARS];
  uint32_t n = 0;
  f->width = s->bytes;
  for (uint32_t v = POLYHEDRAL_TID; v < s->n_vars; v++) {
    int64_t stride = f->address.coefficient[v], count = f->box.hi[v] - f->box.lo[v] + 1, reach;
    if (f->bound >> v & 1 || !stride) continue;
    if (__builtin_mul_overflow(stride, stride < 0 ? f->box.hi[v] : f->box.lo[v], &reach) ||
        __builtin_add_overflow(f->address.constant, reach, &f->address.constant))
      return false;
    f->address.coefficient[v] = 0;
    dims[n++] = (polyhedral_dim){stride < 0 ? -stride : stride, count};
  }
  qsort(dims, n, sizeof *dims, by_stride);
  for (uint32_t i = 0; i < n; i++) {
    polyhedral_dim *last = f->n_dims ? &f->dims[f->n_dims - 1] : NULL;
    int64_t reach;
    if (__builtin_mul_overflow(dims[i].stride, dims[i].n - 1, &reach)) return false;
    if (!last && dims[i].stride < f->width + line) {
      if (__builtin_add_overflow(f->width, reach, &f->width)) return false;
    } else if (last && dims[i].stride % last->stride == 0 && dims[i].stride / last->stride <= last->n) {
      last->n += reach / last->stride;
    } else {
      f->dims[f->n_dims++] = dims[i];
    }
  }
  return true;
}

hd_polyhedral_inexact polyhedral_site_footprint(const polyhedral_site *s, const int64_t lo[3],
                                                const int64_t hi[3], uint32_t line, uint32_t *guards,
                                                polyhedral_footprint *f) {
  memset(f, 0, sizeof *f);
  f->guards = guards;
  for (uint32_t i = 0; i < 3; i++) {
    f->box.lo[i] = lo[i];
    f->box.hi[i] = hi[i];
    f->box.hi[POLYHEDRAL_TID + i] = (int64_t)s->forms.at.block[i] - 1;
  }
  bool empty = false; /* a loop around it does not run: if what that rests on holds */
  hd_polyhedral_inexact why = bound_loops(s, f, &empty);
  if (!why) why = bound_conditions(s, f);
  f->never |= empty && !f->n_assumed;
  if (why || f->never) return why;
  int64_t least, most; /* that there are any makes all sums below fit */
  if (!polyhedral_flatten(&s->forms, s->address, &f->box, &f->address) ||
      !polyhedral_range(&s->forms, s->address, &f->box, &least, &most))
    return HD_INEXACT_OVERFLOW;
  f->bound |= f->address.loose;
  return fold_free(s, line, f) ? HD_INEXACT_NO : HD_INEXACT_OVERFLOW;
}
