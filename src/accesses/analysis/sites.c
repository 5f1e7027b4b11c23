/* The accesses to global memory: address, class, base, guards.
 *
 * Guards come from the dominator tree: a block that is entered by one edge of a branch runs only where
 * the branch goes that way. They are complete when nothing else decides whether the block runs.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/transfer.h"

enum { MAX_GUARDS = 256, MAX_NESTING = 64 };

/* ---- Accesses to global memory ---------------------------------------------------------- */

typedef struct shape {
  hd_site_kind kind;
  unsigned operand;
  bool generic, whole_warp, tensor;
  uint32_t bytes;
} shape;

/* The kind of a site at one of the instruction's places in global memory. An instruction with other places
 * beside it is a copy. */
static hd_site_kind kind_of(const hd_ptx_access *a, const hd_ptx_touch *t) {
  if (t->kinds & HD_ACC_PREFETCH) return HD_SITE_PREFETCH;
  if (t->kinds & HD_ACC_ATOMIC) return HD_SITE_ATOMIC;
  bool copy = a->n > 1;
  if (t->kinds & HD_ACC_WRITE) return copy ? HD_SITE_COPY_OUT : HD_SITE_STORE;
  return copy ? HD_SITE_COPY_IN : HD_SITE_LOAD;
}

/* The bytes of a copy whose size is a number, which bulk copies name behind the addresses; 0: not known. */
static uint32_t copied_bytes(const an *a, const hd_ptx_stmt *st, uint32_t operand) {
  const hd_ptx_opnd *o = a->m->opnds + st->first_opnd + operand;
  return operand < st->n_opnds && o->kind == HD_O_INT ? (uint32_t)o->imm : 0;
}

/* The place of global memory that the instruction accesses: no instruction has two. */
static bool shape_of(const an *a, uint32_t inst, shape *s) {
  const hd_ptx_stmt *st = an_stmt(a, inst);
  const hd_ptx_form *f = an_form(a, inst);
  const hd_ptx_access access = hd_ptx_access_of(f);
  const hd_ptx_touch *t = access.touches;
  while (t < access.touches + access.n && !(t->space & (HD_IN_GENERIC | HD_IN_GLOBAL | HD_IN_TENSOR))) t++;
  /* Tensor maps are no data. The address operand of an unknown instruction is not known. */
  if (t == access.touches + access.n || f->op == HD_OP_TENSORMAP || hd_ptx_form_has(f, HD_M_TENSORMAP) ||
      f->flags & HD_OPF_UNKNOWN)
    return false;
  *s = (shape){.kind = kind_of(&access, t),
               .operand = t->operand,
               .generic = t->space == HD_IN_GENERIC,
               .whole_warp = access.bulk,
               .tensor = t->space == HD_IN_TENSOR};
  if (f->op == HD_OP_CP)
    s->bytes = s->tensor ? 0 : copied_bytes(a, st, access.n > 1 ? 2 : 1);
  else
    s->bytes = s->whole_warp || s->kind == HD_SITE_PREFETCH ? 0 : access.bytes;
  return s->operand < st->n_opnds;
}

/* ---- Bases ------------------------------------------------------------------------------------- */

/* Symbols that occur alone with coefficient 1. */
static bool lone_symbol(const an *a, const hd_term *t, const hd_value_symbol **s) {
  const hd_product *prod = &a->alg.products.data[t->product];
  if (prod->n != 1 || t->coefficient != 1) return false;
  *s = &a->alg.symbols.data[a->alg.factors.data[prod->first]];
  return true;
}

/* It may be one. */
static bool is_pointer(const an *a, const hd_value_symbol *s) {
  if (s->kind == HD_V_PARAM || s->kind == HD_V_CONST) return s->width >= a->m->address_size;
  if (s->kind == HD_V_LOAD || s->kind == HD_V_CALL || s->kind == HD_V_OPAQUE || s->kind == HD_V_UNDEF)
    return s->lo < INT32_MIN || s->hi > UINT32_MAX;
  return s->kind == HD_V_ADDRESS && s->a != HD_NONE &&
         hd_ptx_mod_value(a->m->vars[s->a].space) & (HD_IN_GLOBAL | HD_IN_CONST);
}

/* The generic address lies in another space: it is one's window and an offset, or a parameter's address. An
 * offset alone, beside a pointer, leads to the pointer's memory. */
static bool is_elsewhere(const an *a, hd_poly p) {
  const hd_polynomial *q = &a->alg.polys.data[p];
  bool elsewhere = false;
  for (uint32_t i = 0; i < q->n; i++) {
    const hd_value_symbol *s;
    if (!lone_symbol(a, &a->alg.terms.data[q->first + i], &s)) continue;
    if (is_pointer(a, s)) return false;
    elsewhere |= s->kind == HD_V_WINDOW ||
                 (s->kind == HD_V_ADDRESS && s->a != HD_NONE && a->m->vars[s->a].space == HD_M_PARAM);
  }
  return elsewhere;
}

/* pointers[param]: some other address has it as its only possible base. */
static uint32_t find_base(an *a, hd_site *site, const uint8_t *pointers) {
  const hd_polynomial *q = &a->alg.polys.data[site->address];
  const hd_ptx_func *f = &a->m->funcs[a->pub.func];
  uint32_t candidates = 0;
  int best = -1;
  site->param = site->var = HD_NONE;
  for (uint32_t i = 0; i < q->n; i++) {
    const hd_value_symbol *s;
    if (!lone_symbol(a, &a->alg.terms.data[q->first + i], &s)) continue;
    if (s->kind == HD_V_ADDRESS && s->a != HD_NONE) {
      site->var = s->a;
      site->param = HD_NONE;
      return 1;
    }
    if ((s->kind != HD_V_PARAM && s->kind != HD_V_CONST) || s->width < a->m->address_size) continue;
    candidates++;
    int rank = 0;
    if (s->kind == HD_V_PARAM && a->m->vars[f->first_param + s->a].ptr)
      rank = 2;
    else if (s->kind == HD_V_PARAM && pointers && pointers[s->a])
      rank = 1;
    if (rank <= best) continue;
    best = rank;
    site->param = s->kind == HD_V_PARAM ? s->a : HD_NONE;
    site->var = s->kind == HD_V_CONST ? s->a : HD_NONE;
    site->param_offset = s->b;
  }
  return candidates;
}

static void find_bases(an *a) {
  const hd_ptx_func *f = &a->m->funcs[a->pub.func];
  uint8_t *pointers = HD_NEW_N(&a->arena, (size_t)f->n_params + 1, uint8_t);
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < a->result.sites.n; i++) {
      hd_site *s = &a->result.sites.data[i];
      if (find_base(a, s, pass ? pointers : NULL) == 1 && s->param != HD_NONE) pointers[s->param] = 1;
    }
}

/* ---- Addresses ------------------------------------------------------------------------------------ */

/* Lists of one set are kept once. */
static void list_assumptions(an *a, uint32_t set, uint32_t *first, uint32_t *n) {
  an_set s = a->alg.sets.data[set];
  *n = s.n;
  *first = 0;
  if (!s.n) return;
  while (a->result.set_lists.n <= set) AN_PUSH(&a->arena, &a->result.set_lists, HD_NONE);
  if (a->result.set_lists.data[set] == HD_NONE) {
    a->result.set_lists.data[set] = (uint32_t)a->result.list_items.n;
    for (uint32_t i = 0; i < s.n; i++)
      AN_PUSH(&a->arena, &a->result.list_items, a->alg.set_items.data[s.first + i]);
  }
  *first = a->result.set_lists.data[set];
}

static void blame_site(an *a, hd_site *site, hd_why why, uint32_t inst) {
  site->why = (uint8_t)why;
  site->why_line = inst == HD_NONE ? 0 : an_stmt(a, inst)->line;
}

/* [map, {coordinates}]: those that can be worked out. */
static void list_places(an *a, uint32_t inst, const hd_ptx_opnd *o) {
  const hd_ptx_opnd *at = o->kind == HD_O_BRACKET && o->n_kids == 2 ? &a->m->opnds[o->sym + 1] : NULL;
  for (uint32_t k = 0; at && at->kind == HD_O_VEC && k < at->n_kids; k++) {
    an_val v;
    bool done;
    do an_begin(&a->alg);
    while (!(done = an_operand(a, inst, &a->m->opnds[at->sym + k], 32, &v)) && an_run(a));
    if (!done) return;
    an_end(a, &v);
    AN_PUSH(&a->arena, &a->result.places, ((an_place){v.poly, inst}));
  }
}

static void work_out(an *a, const shape *s, hd_site *site, bool *elsewhere) {
  const hd_ptx_stmt *st = an_stmt(a, site->inst);
  const hd_ptx_opnd *o = &a->m->opnds[st->first_opnd + s->operand];
  an_val v;
  *elsewhere = false;
  if (s->tensor || o->kind != HD_O_ADDR) {
    site->level = HD_LEVEL_DATA;
    blame_site(a, site, HD_WHY_TENSOR_MAP, site->inst);
    list_places(a, site->inst, o);
    return;
  }
  bool done;
  do an_begin(&a->alg);
  while (!(done = an_operand(a, site->inst, o, 64, &v)) && an_run(a));
  if (!done) {
    site->level = HD_LEVEL_BUDGET;
    blame_site(a, site, HD_WHY_BUDGET, site->inst);
    return;
  }
  if (v.width < 64) v = an_extend(a, &v, false, site->inst);
  an_end(a, &v);
  site->address = v.poly;
  site->level = a->alg.polys.data[v.poly].level;
  *elsewhere = s->generic && is_elsewhere(a, v.poly);
  if (site->level >= HD_LEVEL_NONLINEAR) {
    an_blame b = an_culprit(&a->alg, v.poly);
    blame_site(a, site, b.reason, b.inst);
  }
  list_assumptions(a, v.assumes, &site->first_assumption, &site->n_assumptions);
}

/* ---- Guards ------------------------------------------------------------------------------------------- */

typedef struct guard_node {
  hd_guard guard;
  uint32_t parent; /* node, HD_NONE */
} guard_node;

typedef struct guard_tree {
  an *a;
  AN_VEC(guard_node) nodes;
  uint32_t *node;      /* per block: its innermost guard */
  uint8_t *state;      /* per block: 1: known, 2: and complete */
  uint32_t *first, *n; /* per block: in a->result.guards, once a site asked */
} guard_tree;

static void add_node(guard_tree *t, uint32_t *top, hd_poly p, uint32_t assumes, uint32_t block,
                     unsigned depth) {
  an *a = t->a;
  const hd_polynomial q = a->alg.polys.data[p];
  const hd_product prod = a->alg.products.data[q.n ? a->alg.terms.data[q.first].product : 0];
  int64_t c;
  if (an_is_const(&a->alg, p, &c) && c == 1 && !assumes) return;
  if (q.n == 1 && prod.n == 1 && a->alg.terms.data[q.first].coefficient == 1 && depth < MAX_NESTING) {
    const hd_value_symbol s = a->alg.symbols.data[a->alg.factors.data[prod.first]];
    if (s.kind == HD_V_BOTH) { /* conditions that hold together are guards of their own */
      add_node(t, top, s.a, assumes, block, depth + 1);
      add_node(t, top, s.b, assumes, block, depth + 1);
      return;
    }
  }
  hd_guard guard = {.poly = p, .block = block, .loop = a->pub.cfg.blocks[block].loop};
  list_assumptions(a, assumes, &guard.first_assumption, &guard.n_assumptions);
  AN_PUSH(&a->arena, &t->nodes, ((guard_node){guard, *top}));
  *top = (uint32_t)t->nodes.n - 1;
}

static bool evaluate_branch(an *a, uint32_t block, an_val *out) {
  bool done;
  do an_begin(&a->alg);
  while (!(done = an_branch(a, block, out)) && an_run(a));
  if (done) an_end(a, out);
  return done;
}

/* Reachable predecessors that do not come around a loop. */
static uint32_t entering(const hd_cfg *g, uint32_t block) {
  const hd_block *b = &g->blocks[block];
  uint32_t n = 0;
  for (uint32_t k = 0; k < b->n_pred; k++) {
    uint32_t from = g->edges[b->first_pred + k];
    n += g->blocks[from].rpo != HD_NONE && !hd_dominates(g, block, from);
  }
  return n;
}

static bool postdominates(const hd_cfg *g, uint32_t a, uint32_t b) {
  for (unsigned steps = 0; b != HD_NONE && b != a && steps < 4096; steps++) b = g->blocks[b].ipdom;
  return b == a;
}

/* The block's guards, its dominator's being known. */
static void add_block(guard_tree *t, uint32_t block) {
  an *a = t->a;
  const hd_cfg *g = &a->pub.cfg;
  uint32_t d = g->blocks[block].idom;
  const hd_block *up = &g->blocks[d];
  bool complete;
  uint32_t top;
  uint32_t inner = up->loop, outer = g->blocks[block].loop;
  if (!hd_loop_contains(g, inner, outer)) {
    /* A block behind a loop has the guards of the block in front of it, if the loop is always left this
     * way. */
    uint32_t left = inner;
    complete = true;
    for (uint32_t l = inner; l != HD_NONE && !hd_loop_contains(g, l, outer); l = g->loops[l].parent) {
      complete &= g->loops[l].n_exits == 1;
      left = l;
    }
    uint32_t header = g->loops[left].header;
    top = t->node[header];
    complete = complete && t->state[header] == 2 && postdominates(g, block, header);
    t->node[block] = top;
    t->state[block] = complete ? 2 : 1;
    return;
  }
  top = t->node[d];
  complete = t->state[d] == 2;
  if (!postdominates(g, block, d)) {
    bool edge = entering(g, block) == 1 && up->n_succ == 2;
    bool first = edge && g->edges[up->first_succ] == block,
         second = edge && g->edges[up->first_succ + 1] == block;
    an_val cond;
    if ((first || second) && !a->eval.stop && evaluate_branch(a, d, &cond)) {
      hd_poly p = first ? cond.poly : an_not(&a->alg, cond.poly);
      if (p != HD_NONE)
        add_node(t, &top, p, cond.assumes, d, 0);
      else
        complete = false;
    } else {
      complete = false;
    }
  }
  t->node[block] = top;
  t->state[block] = complete ? 2 : 1;
}

static uint32_t emit_guards(guard_tree *t, uint32_t node, bool *complete) {
  an *a = t->a;
  uint32_t n = 0;
  for (uint32_t i = node; i < t->nodes.n; i = t->nodes.data[i].parent) n++; /* HD_NONE ends it */
  uint32_t skip = n > MAX_GUARDS ? n - MAX_GUARDS : 0;
  if (skip) *complete = false;
  n -= skip;
  size_t first = a->result.guards.n;
  AN_RESERVE(&a->arena, &a->result.guards, first + n);
  a->result.guards.n = first + n;
  uint32_t i = node;
  for (uint32_t k = n; k-- > 0; i = t->nodes.data[i].parent)
    a->result.guards.data[first + k] = t->nodes.data[i].guard;
  return n;
}

/* cp.async [dst], [src], size, read: it reads only where `read` (a number of bytes, or a predicate that
 * disables the read) lets it. NULL: it always reads. */
static const hd_ptx_opnd *read_operand(const an *a, uint32_t inst) {
  const hd_ptx_form *f = an_form(a, inst);
  const hd_ptx_stmt *st = an_stmt(a, inst);
  if (f->op != HD_OP_CP || hd_ptx_form_has(f, HD_M_BULK)) return NULL;
  uint32_t n = st->n_opnds - hd_ptx_form_has(f, HD_M_L2_CACHE_HINT);
  return n > 3 ? &a->m->opnds[st->first_opnd + 3] : NULL;
}

static bool read_condition(an *a, uint32_t inst, const hd_ptx_opnd *o, hd_poly *out, uint32_t *assumes) {
  an_val v;
  bool done = false;
  do an_begin(&a->alg);
  while (!a->eval.stop && !(done = an_operand(a, inst, o, 32, &v)) && an_run(a));
  if (!done) return false;
  an_use_range(a, &v);
  *out = v.width == 1 ? an_not(&a->alg, v.poly) : an_ge0(&a->alg, an_add_const(&a->alg, v.poly, -1));
  an_end(a, &v);
  *assumes = v.assumes;
  return *out != HD_NONE;
}

static void guard_site(guard_tree *t, hd_site *site) {
  an *a = t->a;
  uint32_t block = a->pub.cfg.insts[site->inst].block;
  bool complete = t->state[block] == 2;
  uint32_t top = t->node[block];
  const hd_ptx_opnd *read = read_operand(a, site->inst);
  if (read) {
    hd_poly p;
    uint32_t assumes;
    if (read_condition(a, site->inst, read, &p, &assumes))
      add_node(t, &top, p, assumes, block, 0);
    else
      complete = false;
  }
  if (an_stmt(a, site->inst)->guard) {
    an_val own;
    bool done = false;
    while (!a->eval.stop && !(done = an_guard(a, site->inst, &own)) && an_run(a)) continue;
    if (done)
      add_node(t, &top, own.poly, own.assumes, block, 0);
    else
      complete = false;
  }
  if (top != t->node[block]) {
    site->first_guard = (uint32_t)a->result.guards.n;
    site->n_guards = emit_guards(t, top, &complete);
  } else {
    if (t->first[block] == HD_NONE) {
      t->first[block] = (uint32_t)a->result.guards.n;
      t->n[block] = emit_guards(t, top, &complete);
    }
    site->first_guard = t->first[block];
    site->n_guards = t->n[block];
    if (site->n_guards == MAX_GUARDS) complete = false;
  }
  site->guards_complete = complete;
}

static void add_guards(an *a) {
  const hd_cfg *g = &a->pub.cfg;
  guard_tree t = {.a = a};
  t.node = hd_arena_alloc(&a->arena, g->n_blocks * sizeof(uint32_t), 4);
  t.first = hd_arena_alloc(&a->arena, g->n_blocks * sizeof(uint32_t), 4);
  t.n = HD_NEW_N(&a->arena, g->n_blocks, uint32_t);
  t.state = HD_NEW_N(&a->arena, g->n_blocks, uint8_t);
  memset(t.node, 0xff, g->n_blocks * sizeof(uint32_t));
  memset(t.first, 0xff, g->n_blocks * sizeof(uint32_t));
  t.state[0] = 2;
  for (uint32_t pre = 1; pre < g->n_blocks; pre++) {
    uint32_t b = a->ssa.dom_order[pre];
    if (b && g->blocks[b].rpo != HD_NONE && b != g->n_blocks - 1) add_block(&t, b);
  }
  for (uint32_t i = 0; i < a->result.sites.n; i++) guard_site(&t, &a->result.sites.data[i]);
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* The loop is left from its header, where nothing but the test for that is done: its body begins behind. */
static bool tests_first(const an *a, uint32_t loop) {
  const hd_loop *l = &a->pub.cfg.loops[loop];
  const hd_block *b = &a->pub.cfg.blocks[l->header];
  if (l->leave != l->header || l->n_blocks < 2) return false;
  for (uint32_t i = b->first; i < b->first + b->n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(&a->pub.cfg, i);
    if (!(f->flags & (HD_OPF_PURE | HD_OPF_JUMPS)) && !hd_ptx_form_has(f, HD_M_PARAM)) return false;
  }
  return true;
}

static void add_trips(an *a) {
  hd_cfg *g = &a->pub.cfg;
  for (uint32_t l = 0; l < g->n_loops; l++) {
    an_val v;
    bool done = false;
    while (!a->eval.stop && !(done = an_get(a, an_loop_value(a, l), &v)) && an_run(a)) continue;
    if (!done) return;
    const hd_polynomial *q = &a->alg.polys.data[v.poly];
    const hd_product *prod = &a->alg.products.data[q->n ? a->alg.terms.data[q->first].product : 0];
    bool unknown = prod->n == 1 && a->alg.symbols.data[a->alg.factors.data[prod->first]].kind == HD_V_EXIT;
    if (unknown) continue;
    a->pub.loop_values[l].trips = v.poly;
    a->pub.loop_values[l].rounds = tests_first(a, l) ? v.poly : an_add_const(&a->alg, v.poly, 1);
    list_assumptions(a, v.assumes, &a->pub.loop_values[l].first_assumption,
                     &a->pub.loop_values[l].n_assumptions);
  }
}

void an_sites(an *a) {
  const hd_cfg *g = &a->pub.cfg;
  for (uint32_t i = 0; i < a->pub.cfg.n_insts; i++) {
    shape s;
    if (g->blocks[a->pub.cfg.insts[i].block].rpo == HD_NONE || !shape_of(a, i, &s)) continue;
    hd_site site = {.inst = i,
                    .line = an_stmt(a, i)->line,
                    .kind = (uint8_t)s.kind,
                    .generic = s.generic,
                    .whole_warp = s.whole_warp,
                    .bytes = s.bytes,
                    .param = HD_NONE,
                    .var = HD_NONE};
    bool elsewhere;
    work_out(a, &s, &site, &elsewhere);
    if (!elsewhere) AN_PUSH(&a->arena, &a->result.sites, site);
  }
  find_bases(a);
  add_trips(a);
  add_guards(a);
}
