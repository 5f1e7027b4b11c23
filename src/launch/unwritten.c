/* Loads of memory that no thread writes during a workload's launches, so that they may go through the
 * read-only cache (.nc, PTX ISA: "read only for the duration of the kernel").
 *
 * The memory that a kernel may write follows from its text: the parameters that its stores, atomics and
 * copies are based on, and those that anything else in such an address is computed from: a store to b, or to
 * b + (a - b) in some threads, is to either. A kernel with a store whose parameter is not known, with a call
 * that cannot be followed, or with a distance in some store's address that came through memory, may write
 * anything. Indices that were loaded in 32 bits are no distances; how the bits of a register depend on
 * branches is not followed. Two parameters are of different memory where the workload
 * gives them different buffers in every launch, which are allocations of their own. None of this depends on
 * the data. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/analysis.h"
#include "heddle/ptx_facts.h"
#include "launch/launch.h"

typedef struct writes {
  bool *param;    /* by number: some store is based on it */
  bool *other;    /* some store's address is computed from it besides; it may be no pointer */
  bool *distance; /* as bytes in 64 bits */
  bool anything;
} writes;

static bool begin_writes(writes *w, uint32_t n_params) {
  *w = (writes){.param = calloc((size_t)n_params + 1, sizeof *w->param),
                .other = calloc((size_t)n_params + 1, sizeof *w->other),
                .distance = calloc((size_t)n_params + 1, sizeof *w->distance)};
  return w->param && w->other && w->distance;
}

static void end_writes(writes *w) {
  free(w->distance);
  free(w->other);
  free(w->param);
}

/* The system's own, which write no buffer of the program. */
static bool writes_nothing(const hd_ptx_module *m, const hd_ptx_stmt *call) {
  static const char *const names[] = {"vprintf", "__assertfail", "malloc", "free"};
  const uint32_t callee = hd_callee(m, call);
  if (callee == HD_NONE || m->funcs[callee].has_body) return false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(m->syms[m->funcs[callee].sym].name, names[i]) == 0) return true;
  return false;
}

/* Every call must have become a part of the analysis. */
static bool follows_all_calls(const hd_analysis *a) {
  const hd_cfg *g = &a->cfg;
  uint32_t calls = 0;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const hd_ptx_stmt *s = hd_inst_stmt(g, i);
    calls += hd_inst_form(g, i)->op == HD_OP_CALL && !writes_nothing(a->module, s);
  }
  return calls + 1 == g->n_calls;
}

/* Which buffer it writes does not follow from its address. Images and tensor maps are over buffers, and which
 * one is not followed; multicast memory is that of other addresses, too. And where a kernel waits for the
 * grids before it, these write while it runs already. */
static bool writes_elsewhere(const hd_ptx_form *f) {
  const hd_ptx_access a = hd_ptx_access_of(f);
  if (f->op == HD_OP_GRIDDEPCONTROL) return hd_ptx_form_has(f, HD_M_WAIT);
  return hd_ptx_access_in(&a, f->op == HD_OP_MULTIMEM ? HD_IN_ANY_GLOBAL : HD_IN_SURFACE | HD_IN_TENSOR) &
         HD_ACC_WRITE;
}

static bool any_writes_elsewhere(const hd_analysis *a) {
  for (uint32_t i = 0; i < a->cfg.n_insts; i++)
    if (writes_elsewhere(hd_inst_form(&a->cfg, i))) return true;
  return false;
}

/* ---- What an address is computed from ---------------------------------------------------- */

/* What a register's value may be in the address that is looked at. */
typedef enum share {
  INDEX = 1, /* 32 bits, times a size */
  ELEMENTS,  /* 64 bits, times a size */
  BYTES,
  PARTS, /* some bits of an address or a distance */
} share;

/* The registers that an address is computed from, through all their writers, but not through memory. */
typedef struct slice {
  const hd_cfg *g;
  hd_writers writers;
  uint8_t *seen; /* per register: the greatest share so far */
  uint32_t *todo, n;
  share share;    /* that is seen next */
  bool of_a_load; /* else, of a store */
  uint32_t base, n_params;
  writes *out;
} slice;

static void see_register(void *ctx, uint32_t reg) {
  slice *s = ctx;
  if (s->seen[reg] >= s->share) return;
  s->seen[reg] = (uint8_t)s->share;
  s->todo[s->n++] = reg;
}

static void see_operand(slice *s, uint32_t inst, const hd_ptx_opnd *o, share as) {
  if (o->kind != HD_O_REG) return;
  s->share = as;
  see_register(s, hd_cfg_reg(s->g, s->g->insts[inst].call, o->sym));
}

/* The kernel's parameter that the instruction loads; HD_NONE: none. */
static uint32_t loaded_param(const hd_cfg *g, uint32_t inst, bool *of_function) {
  const hd_ptx_stmt *s = hd_inst_stmt(g, inst);
  const hd_ptx_opnd *o = &g->module->opnds[s->first_opnd + 1];
  const uint32_t param = s->n_opnds > 1 && o->kind == HD_O_ADDR ? hd_cfg_param(g, o->sym) : HD_NONE;
  *of_function |= param == HD_NONE;
  return param;
}

/* A function's parameters and results come from what any call passes. */
static void follow_calls(slice *s) {
  s->share = PARTS;
  for (uint32_t i = 0; i < s->g->n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(s->g, i);
    const hd_ptx_access a = hd_ptx_access_of(f);
    if (f->op == HD_OP_CALL || hd_ptx_access_in(&a, HD_IN_PARAM) & HD_ACC_WRITE)
      hd_inst_reads(s->g, i, see_register, s);
  }
}

static bool is_word(const hd_ptx_access *a) {
  return !a->bytes || a->bytes / (a->elements ? a->elements : 1) >= sizeof(uint64_t);
}

/* Memory may hold a distance between buffers: what the kernel put there, in memory that is its own; or what
 * the host did, but then a load that leaves its buffer by it is an error. */
static bool may_hold_distance(const slice *s, const hd_ptx_access *a, share as) {
  const bool own = hd_ptx_access_in(a, ~(unsigned)(HD_IN_GLOBAL | HD_IN_TEXTURE | HD_IN_CONST)) ||
                   a->kinds & HD_ACC_ATOMIC;
  if (as == INDEX || (s->of_a_load && !own)) return false;
  if (as == PARTS || is_word(a)) return true;
  return as == BYTES && !hd_ptx_access_in(a, HD_IN_GLOBAL | HD_IN_TEXTURE);
}

/* A comparison with zero of a parameter: whether there is a pointer. */
static bool asks_for_null(const slice *s, uint32_t inst) {
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  const hd_ptx_opnd *o = &s->g->module->opnds[st->first_opnd];
  if (st->n_opnds != 3 || o[1].kind != HD_O_REG || o[2].kind != HD_O_INT || o[2].imm) return false;
  return hd_root_of(s->g, &s->writers, inst, &o[1]).loaded;
}

/* m in a * m, or in a << m, by which a distance would be no more than the index of an element. */
static bool is_size(const hd_ptx_opnd *o, bool shift) {
  enum { MOST_SHIFT = 16 };
  return o->kind == HD_O_INT && o->imm > 0 && o->imm < (shift ? MOST_SHIFT : 1 << MOST_SHIFT);
}

static share times(share as, bool wide) {
  return as == PARTS ? as : wide ? INDEX : as < ELEMENTS ? as : ELEMENTS;
}

/* Of what registers the instruction computes a result that has the share. */
static void follow_operands(slice *s, uint32_t inst, share as) {
  const hd_ptx_form *f = hd_inst_form(s->g, inst);
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  const hd_ptx_opnd *o = &s->g->module->opnds[st->first_opnd];
  s->share = as;
  if (st->n_opnds >= 3 && (f->op == HD_OP_MUL || f->op == HD_OP_MAD)) {
    const share factor = times(as, hd_ptx_form_has(f, HD_M_WIDE));
    see_operand(s, inst, &o[1], factor);
    see_operand(s, inst, &o[2], factor);
    if (st->n_opnds > 3) see_operand(s, inst, &o[3], as);
    if (!st->guard) return;
    s->share = ELEMENTS;
    see_register(s, hd_cfg_reg(s->g, s->g->insts[inst].call, st->guard));
    return;
  }
  if (f->op == HD_OP_SHL && st->n_opnds == 3) s->share = is_size(&o[2], true) ? times(as, false) : PARTS;
  if (f->op == HD_OP_MOV && st->n_opnds == 2 && o[1].kind == HD_O_VEC) s->share = PARTS;
  if (f->op == HD_OP_SETP) s->share = ELEMENTS;
  hd_inst_reads(s->g, inst, see_register, s);
}

/* True: what it computes comes from calls. */
static bool follow_writer(slice *s, uint32_t inst, share as) {
  const hd_ptx_form *f = hd_inst_form(s->g, inst);
  const hd_ptx_access a = hd_ptx_access_of(f);
  bool of_function = f->op == HD_OP_CALL;
  if (hd_ptx_access_in(&a, HD_IN_PARAM) & HD_ACC_READ) {
    const uint32_t param = loaded_param(s->g, inst, &of_function);
    if (param < s->n_params && param != s->base) {
      s->out->other[param] = true;
      s->out->distance[param] |= as >= BYTES && is_word(&a);
    }
  } else if (a.kinds) {
    s->out->anything |= may_hold_distance(s, &a, as);
  } else if (f->op != HD_OP_SETP || !asks_for_null(s, inst)) {
    follow_operands(s, inst, as);
  }
  return of_function;
}

static void begin_at_address(slice *s, uint32_t inst) {
  const hd_ptx_module *m = s->g->module;
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  const hd_ptx_access a = hd_ptx_access_of(hd_inst_form(s->g, inst));
  const hd_ptx_opnd *o =
      a.n && a.touches[0].operand < st->n_opnds ? &m->opnds[st->first_opnd + a.touches[0].operand] : NULL;
  memset(s->seen, 0, s->g->n_regs);
  s->share = BYTES;
  if (o && o->kind == HD_O_ADDR && m->syms[o->sym].kind == HD_SYM_REG)
    see_register(s, hd_cfg_reg(s->g, s->g->insts[inst].call, o->sym));
  else if (!o || o->kind != HD_O_ADDR)
    hd_inst_reads(s->g, inst, see_register, s);
}

static void follow_address(slice *s, uint32_t inst, uint32_t base) {
  bool calls = false;
  s->base = base;
  begin_at_address(s, inst);
  while (s->n) {
    const uint32_t reg = s->todo[--s->n], *w = &s->writers.first[reg];
    const share as = (share)s->seen[reg];
    bool of_function = w[0] == w[1]; /* a function's parameter that is a register */
    for (uint32_t i = w[0]; i < w[1]; i++) of_function |= follow_writer(s, s->writers.insts[i], as);
    if (of_function && !calls) follow_calls(s);
    calls |= of_function;
  }
}

/* A tensor map that is written in global memory; it is no access of the analysis. */
static void see_tensor_map(slice *s, uint32_t inst) {
  const hd_ptx_module *m = s->g->module;
  const hd_ptx_access a = hd_ptx_access_of(hd_inst_form(s->g, inst));
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  if (hd_inst_form(s->g, inst)->op != HD_OP_TENSORMAP ||
      !(hd_ptx_access_in(&a, HD_IN_GLOBAL | HD_IN_GENERIC) & HD_ACC_WRITE))
    return;
  const hd_root root = hd_root_of(s->g, &s->writers, inst, &m->opnds[st->first_opnd + a.touches[0].operand]);
  const uint32_t param = root.loaded ? hd_cfg_param(s->g, root.sym) : HD_NONE;
  if (param < s->n_params)
    s->out->param[param] = true;
  else
    s->out->anything = true;
}

static void begin_slice(slice *s, const hd_cfg *g, uint32_t n_params, writes *out, hd_arena *arena) {
  *s = (slice){.g = g,
               .seen = HD_NEW_N(arena, g->n_regs + 1u, uint8_t),
               .todo = HD_NEW_N(arena, (size_t)PARTS * g->n_regs + 1, uint32_t),
               .n_params = n_params,
               .out = out};
  hd_writers_find(g, arena, &s->writers);
}

static hd_status follow_stores(const hd_analysis *a, uint32_t n_params, writes *out, hd_diag *d) {
  hd_arena arena;
  jmp_buf out_of_memory;
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  hd_status st = setjmp(out_of_memory) ? hd_nomem(d) : HD_OK;
  if (st == HD_OK) {
    slice s;
    begin_slice(&s, &a->cfg, n_params, out, &arena);
    for (uint32_t i = 0; i < a->n_sites; i++)
      if (hd_site_writes((hd_site_kind)a->sites[i].kind))
        follow_address(&s, a->sites[i].inst, a->sites[i].param);
    for (uint32_t i = 0; i < a->cfg.n_insts; i++) see_tensor_map(&s, i);
  }
  hd_arena_free(&arena);
  return st;
}

/* ---- What a kernel writes ----------------------------------------------------------------- */

static hd_status find_writes(const hd_analysis *a, uint32_t n_params, writes *out, hd_diag *d) {
  out->anything = a->over_budget || !follows_all_calls(a) || any_writes_elsewhere(a);
  for (uint32_t i = 0; i < a->n_sites; i++) {
    const hd_site *s = &a->sites[i];
    if (!hd_site_writes((hd_site_kind)s->kind)) continue;
    if (s->param < n_params)
      out->param[s->param] = true;
    else
      /* A variable of the module is no buffer, but a pointer that a constant holds may lead to one. */
      out->anything |= s->var == HD_NONE || a->module->vars[s->var].space == HD_M_CONST;
  }
  return follow_stores(a, n_params, out, d);
}

/* Whether no launch of the kernel passes the parameter's buffer to a parameter that is written. */
static bool is_apart(const hd_workload *w, uint32_t launch, uint32_t param, const writes *found) {
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    if (strcmp(l->kernel, w->launches[launch].kernel) != 0) continue;
    if (param >= l->n_args || !l->args[param].is_buffer) return false;
    for (uint32_t p = 0; p < l->n_args; p++)
      if (((found->param[p] || found->distance[p]) && !l->args[p].is_buffer) ||
          ((found->param[p] || found->other[p]) && l->args[p].is_buffer &&
           l->args[p].buffer == l->args[param].buffer))
        return false;
  }
  return true;
}

/* In some launch of the kernel. */
static bool is_buffer(const hd_workload *w, uint32_t launch, uint32_t param) {
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    if (strcmp(l->kernel, w->launches[launch].kernel) == 0 && param < l->n_args && l->args[param].is_buffer)
      return true;
  }
  return false;
}

/* Whether the workload says that nothing writes the buffer, for all launches of the kernel. */
static bool is_by_word(const hd_workload *w, uint32_t launch, uint32_t param) {
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    if (strcmp(l->kernel, w->launches[launch].kernel) != 0) continue;
    if (param >= l->n_args || !l->args[param].is_buffer || !w->buffers[l->args[param].buffer].unwritten)
      return false;
  }
  return true;
}

/* The kernel's text shows that a launch writes a buffer that the workload says nothing writes. */
static hd_status check_word(const hd_workload *w, uint32_t launch, const writes *found, hd_diag *d) {
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    if (strcmp(l->kernel, w->launches[launch].kernel) != 0) continue;
    for (uint32_t p = 0; p < l->n_args; p++)
      if (found->param[p] && l->args[p].is_buffer && w->buffers[l->args[p].buffer].unwritten)
        return hd_fail(d, HD_ERR_REFUSED, "%s: buffer '%s' is not unwritten: %s writes through parameter %u",
                       w->name, w->buffers[l->args[p].buffer].name, l->kernel, p + 1);
  }
  return HD_OK;
}

static const hd_site *site_of(const hd_analysis *a, uint32_t stmt) {
  for (uint32_t i = 0; i < a->n_sites; i++) {
    const hd_inst *in = &a->cfg.insts[a->sites[i].inst];
    if (!in->call && in->stmt == stmt) return &a->sites[i];
  }
  return NULL;
}

/* What may be listed, by parameter. */
typedef struct listing {
  const bool *apart;   /* loads through it */
  const bool *reached; /* its memory may be written: no load that may lead there */
  bool *used;          /* set where some load through it is listed; NULL: not asked for */
} listing;

static bool leads_elsewhere(slice *s, const hd_site *site, const bool *reached) {
  s->out->anything = false;
  memset(s->out->other, 0, s->n_params * sizeof *s->out->other);
  follow_address(s, site->inst, site->param);
  for (uint32_t p = 0; p < s->n_params; p++)
    if (s->out->other[p] && reached[p]) return true;
  return s->out->anything;
}

static void list_apart(slice *s, const hd_analysis *a, const hd_global_load *loads, size_t all,
                       const listing *what, uint32_t *out, uint32_t *n) {
  s->of_a_load = true;
  for (uint32_t i = 0; i < all; i++) {
    const hd_site *site = loads[i].kept ? NULL : site_of(a, loads[i].stmt);
    if (!site || site->kind != HD_SITE_LOAD || site->param == HD_NONE || !what->apart[site->param] ||
        leads_elsewhere(s, site, what->reached))
      continue;
    out[(*n)++] = i;
    if (what->used) what->used[site->param] = true;
  }
}

static hd_status list_loads(const hd_analysis *a, uint32_t n_params, const listing *what, uint32_t **out,
                            uint32_t *n, hd_diag *d) {
  const size_t all = hd_rewrite_loads(a->module, a->func, NULL, 0);
  hd_global_load *loads = calloc(all + 1, sizeof *loads);
  writes of_load;
  const bool begun = begin_writes(&of_load, n_params);
  hd_arena arena;
  jmp_buf out_of_memory;
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  *out = calloc(all + 1, sizeof **out);
  hd_status st = !begun || !loads || !*out || setjmp(out_of_memory) ? hd_nomem(d) : HD_OK;
  if (st == HD_OK) {
    slice s;
    begin_slice(&s, &a->cfg, n_params, &of_load, &arena);
    hd_rewrite_loads(a->module, a->func, loads, all);
    list_apart(&s, a, loads, all, what, *out, n);
  }
  hd_arena_free(&arena);
  end_writes(&of_load);
  free(loads);
  return st;
}

/* ---- Of a workload ---------------------------------------------------------------------- */

hd_status hd_unwritten_loads(const hd_ptx_module *m, uint32_t func, const hd_workload *w, uint32_t launch,
                             uint32_t **out, uint32_t *n, hd_diag *d) {
  hd_analysis *a;
  uint32_t n_params = m->funcs[func].n_params;
  for (uint32_t i = 0; i < w->n_launches; i++)
    if (w->launches[i].n_args > n_params) n_params = w->launches[i].n_args;
  writes found;
  const bool begun = begin_writes(&found, n_params);
  bool *apart = calloc((size_t)n_params + 1, sizeof *apart);
  bool *reached = calloc((size_t)n_params + 1, sizeof *reached);
  *out = NULL;
  *n = 0;
  hd_status st = begun && apart && reached ? hd_analyze(m, func, NULL, &a, d) : hd_nomem(d);
  if (st == HD_OK) {
    st = find_writes(a, n_params, &found, d);
    if (st == HD_OK) st = check_word(w, launch, &found, d);
    for (uint32_t p = 0; p < n_params; p++) {
      apart[p] = is_by_word(w, launch, p) || (!found.anything && is_apart(w, launch, p, &found));
      reached[p] = !apart[p] && is_buffer(w, launch, p);
    }
    if (st == HD_OK) st = list_loads(a, n_params, &(listing){.apart = apart, .reached = reached}, out, n, d);
    hd_analysis_free(a);
  }
  free(reached);
  free(apart);
  end_writes(&found);
  return st;
}

void hd_unwritten_params(const hd_workload *w, uint32_t launch, char *out, size_t cap) {
  size_t used = 0;
  out[0] = 0;
  for (uint32_t p = 0; p < w->launches[launch].n_args; p++) {
    if (!is_by_word(w, launch, p)) continue;
    int more = snprintf(out + used, cap - used, "%s%u", used ? "+" : "", p + 1);
    if (more < 0 || (size_t)more >= cap - used) {
      out[0] = 0; /* half a list would say something else */
      return;
    }
    used += (size_t)more;
  }
}

/* ---- Of launches that are looked at one by one ---------------------------------------------- */

static bool is_pointer(const hd_ptx_module *m, uint32_t func, uint32_t param) {
  const hd_ptx_var *v = &m->vars[m->funcs[func].first_param + param];
  return v->n_dims == 0 && v->vec <= 1 && hd_ptx_type_size(v->type) == sizeof(uint64_t);
}

hd_status hd_unwritten_if_apart(const hd_ptx_module *m, uint32_t func, bool *read, bool *written,
                                uint32_t **out, uint32_t *n, hd_diag *d) {
  const uint32_t n_params = m->funcs[func].n_params;
  hd_analysis *a;
  writes found;
  const bool begun = begin_writes(&found, n_params);
  bool *apart = calloc((size_t)n_params + 1, sizeof *apart);
  *out = NULL;
  *n = 0;
  hd_status st = begun && apart ? hd_analyze(m, func, NULL, &a, d) : hd_nomem(d);
  if (st == HD_OK) {
    st = find_writes(a, n_params, &found, d);
    for (uint32_t p = 0; p < n_params; p++) written[p] = found.param[p] || found.distance[p];
    for (uint32_t i = 0; i < a->n_sites; i++) /* pointers alone, not what a stride comes from */
      if (a->sites[i].param < n_params) written[a->sites[i].param] |= found.other[a->sites[i].param];
    for (uint32_t p = 0; p < n_params; p++) found.anything |= written[p] && !is_pointer(m, func, p);
    for (uint32_t p = 0; p < n_params; p++)
      apart[p] = !found.anything && !written[p] && is_pointer(m, func, p);
    const listing what = {.apart = apart, .reached = written, .used = read};
    if (st == HD_OK) st = list_loads(a, n_params, &what, out, n, d);
    hd_analysis_free(a);
  }
  free(apart);
  end_writes(&found);
  return st;
}

/* ---- By somebody's word alone --------------------------------------------------------------- */

hd_status hd_unwritten_by_word(const hd_ptx_module *m, uint32_t func, const char *params, uint32_t **out,
                               uint32_t *n, hd_diag *d) {
  const uint32_t n_params = m->funcs[func].n_params;
  const char *kernel = m->syms[m->funcs[func].sym].name;
  hd_analysis *a;
  writes found;
  const bool begun = begin_writes(&found, n_params);
  bool *apart = calloc((size_t)n_params + 1, sizeof *apart);
  *out = NULL;
  *n = 0;
  hd_status st = begun && apart ? HD_OK : hd_nomem(d);
  for (const char *p = params; st == HD_OK && *p;) {
    uint64_t number;
    const size_t len = strcspn(p, "+,"), skip = strncmp(p, "arg", 3) == 0 ? 3 : 0;
    if (len < skip || !hd_parse_u64(p + skip, len - skip, n_params, &number) || !number)
      st = hd_fail(d, HD_ERR_USAGE, "%s has parameters 1 to %u, and none '%.*s'", kernel, n_params,
                   (int)(len < 40 ? len : 40), p);
    else
      apart[number - 1] = true;
    p += len + (p[len] != 0);
  }
  if (st == HD_OK) st = hd_analyze(m, func, NULL, &a, d);
  if (st == HD_OK) {
    st = find_writes(a, n_params, &found, d);
    for (uint32_t p = 0; st == HD_OK && p < n_params; p++)
      if (apart[p] && found.param[p])
        st = hd_fail(d, HD_ERR_REFUSED, "%s writes through parameter %u, which was said to be unwritten",
                     kernel, p + 1);
    if (st == HD_OK)
      st = list_loads(a, n_params, &(listing){.apart = apart, .reached = found.param}, out, n, d);
    hd_analysis_free(a);
  }
  free(apart);
  end_writes(&found);
  return st;
}
