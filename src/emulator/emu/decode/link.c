/* emu/decode/link.c: facts that follow from the call graph: where shared variables lie, how much stack a
 * thread takes, and properties that callers inherit from callees. */
#include "emu/decode/decode.h"

/* Calls of one function, and the shared variables it names. */
typedef struct node {
  EMU_VEC(uint32_t) callees;
  EMU_VEC(uint32_t) shared; /* into vars */
  bool indirect;            /* calls through a register: any function whose address is taken */
  bool address_taken;
  uint32_t seen; /* mark of the walk that met it last */
  enum { NEW = 0, OPEN, DONE } state;
  bool recursive; /* calls itself, perhaps by way of others */
} node;

typedef struct emu_graph {
  node *nodes;     /* per m->funcs */
  uint32_t *taken; /* functions whose address is taken */
  uint32_t n_taken;
  uint32_t mark;
  uint32_t *bytes; /* per m->funcs: of a kernel's shared memory */
} emu_graph;

/* ---- Reading the bodies --------------------------------------------------------------------- */

/* The function whose operands are being read; node NULL: an initialiser's operands. */
typedef struct reader {
  emu_decoder *d;
  node *n;
} reader;

static bool note_leaf(void *ctx, const hd_ptx_leaf *leaf) {
  const reader *r = ctx;
  const hd_ptx_sym *y = &r->d->m->syms[leaf->sym];
  if (leaf->role & HD_ROLE_LIST) return true; /* a prototype given by a function's name takes no address */
  if (leaf->role & HD_ROLE_CALLEE && leaf->role & HD_ROLE_READ) r->n->indirect = true;
  if (y->kind == HD_SYM_SREG && y->index == HD_SR_RESERVED_SMEM_OFFSET_1 && r->n)
    emu_push(&r->d->scratch, &r->n->shared, r->d->m->n_vars);
  if (y->kind == HD_SYM_FUNC) {
    if (leaf->role & HD_ROLE_CALLEE)
      emu_push(&r->d->scratch, &r->n->callees, y->decl);
    else
      r->d->graph->nodes[y->decl].address_taken = true;
  } else if (y->kind == HD_SYM_VAR && r->n && r->d->m->vars[y->decl].space == HD_M_SHARED) {
    emu_push(&r->d->scratch, &r->n->shared, y->decl);
  }
  return true;
}

static void read_body(emu_decoder *d, uint32_t index) {
  const hd_ptx_func *func = &d->m->funcs[index];
  reader r = {d, &d->graph->nodes[index]};
  for (uint32_t k = 0; k < func->n_stmts; k++)
    if (func->stmts[k].kind == HD_S_INST) hd_ptx_visit(d->m, &func->stmts[k], note_leaf, &r);
}

static void find_taken(emu_decoder *d) {
  emu_graph *g = d->graph;
  for (uint32_t k = 0; k < d->m->n_vars; k++)
    if (d->m->vars[k].init)
      hd_ptx_visit_operand(d->m, d->m->vars[k].init - 1, HD_ROLE_READ, note_leaf, &(reader){d, NULL});
  g->taken = HD_NEW_N(&d->scratch, d->m->n_funcs + 1u, uint32_t);
  for (uint32_t k = 0; k < d->m->n_funcs; k++)
    if (g->nodes[k].address_taken && !d->m->funcs[k].entry) g->taken[g->n_taken++] = k;
}

static uint32_t n_callees(const emu_graph *g, const node *n) {
  return n->callees.n + (n->indirect ? g->n_taken : 0);
}
static uint32_t callee(const emu_graph *g, const node *n, uint32_t k) {
  return k < n->callees.n ? n->callees.data[k] : g->taken[k - n->callees.n];
}

/* ---- Shared memory --------------------------------------------------------------------------- */

/* ptxas 13.0 lays out a kernel's own variables, then the module's, then those of functions that it calls,
 * each as they are declared. */
enum { OF_KERNEL = 0, OF_MODULE, OF_FUNCTION, RESERVED };

typedef struct use {
  uint32_t var, kernel, rank;
} use;
typedef EMU_VEC(use) uses;

/* Every (variable, kernel) such that the kernel reaches the variable. Walks with a stack of its
 * own: call chains may be long. */
static void reach(emu_decoder *d, uint32_t kernel, uint32_t *stack, uint32_t *var_mark, uses *out) {
  emu_graph *g = d->graph;
  uint32_t depth = 0;
  g->mark++;
  stack[depth++] = kernel;
  g->nodes[kernel].seen = g->mark;
  while (depth) {
    node *n = &g->nodes[stack[--depth]];
    for (uint32_t k = 0; k < n->shared.n; k++) {
      if (var_mark[n->shared.data[k]] == g->mark) continue;
      var_mark[n->shared.data[k]] = g->mark;
      emu_push(&d->scratch, out, ((use){.var = n->shared.data[k], .kernel = kernel}));
    }
    for (uint32_t k = 0; k < n_callees(g, n); k++) {
      const uint32_t to = callee(g, n, k);
      if (g->nodes[to].seen == g->mark) continue;
      g->nodes[to].seen = g->mark;
      stack[depth++] = to;
    }
  }
}

static int by_variable(const void *a, const void *b) {
  const use *x = a, *y = b;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  if (x->var != y->var) return x->var < y->var ? -1 : 1;
  return x->kernel < y->kernel ? -1 : x->kernel > y->kernel;
}

static void rank_variables(emu_decoder *d, uses *all) {
  const hd_ptx_module *m = d->m;
  uint8_t *rank = HD_NEW_N(&d->scratch, m->n_vars + 1u, uint8_t);
  memset(rank, OF_MODULE, m->n_vars);
  rank[m->n_vars] = RESERVED; /* is_reserved */
  for (uint32_t k = 0; k < m->n_funcs; k++)
    for (uint32_t i = 0; i < m->funcs[k].n_stmts; i++)
      if (m->funcs[k].stmts[i].kind == HD_S_VAR)
        rank[m->funcs[k].stmts[i].index] = m->funcs[k].entry ? OF_KERNEL : OF_FUNCTION;
  for (uint32_t k = 0; k < all->n; k++) all->data[k].rank = rank[all->data[k].var];
}

static uint64_t align_up(uint64_t x, uint64_t align) {
  return align > 1 ? (x + align - 1) / align * align : x;
}

/* The variable behind the last stands for the shared memory that GPUs reserve for cooperative groups. A GPU
 * has it before the program's; here it is a variable of the kernels that ask where it is. */
enum { RESERVED_BYTES = 512, RESERVED_ALIGN = 16 };
static bool is_reserved(const emu_decoder *d, uint32_t var) { return var == d->m->n_vars; }
static uint64_t shared_size(const emu_decoder *d, uint32_t var) {
  return is_reserved(d, var) ? RESERVED_BYTES : hd_ptx_var_size(d->m, &d->m->vars[var]);
}

/* The variable of uses [first, last) above everything its kernels have so far. */
static void place_variable(emu_decoder *d, const use *u, uint32_t first, uint32_t last, uint64_t *end) {
  const uint32_t var = u[first].var;
  const uint64_t limit = 1u << 31, size = shared_size(d, var);
  uint64_t at = 0;
  for (uint32_t k = first; k < last; k++)
    if (end[u[k].kernel] > at) at = end[u[k].kernel];
  at = align_up(at, is_reserved(d, var) ? RESERVED_ALIGN : hd_ptx_var_align(&d->m->vars[var]));
  if (size > limit || at + size > limit) return; /* no address: refused where it is named */
  for (uint32_t k = first; k < last; k++) end[u[k].kernel] = at + size;
  d->vars[var] = (emu_location){EMU_IN_SHARED, at};
}

/* Arrays without a size all begin where dynamic shared memory does. A kernel has one such
 * place, and a function's array one for all kernels that call it: raise both until they agree. */
static void place_dynamic(emu_decoder *d, const use *u, uint32_t n, uint64_t *end) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t first = 0, last; first < n; first = last) {
      for (last = first + 1; last < n && u[last].var == u[first].var; last++) {
      }
      const hd_ptx_var *v = &d->m->vars[u[first].var];
      const uint32_t align = hd_ptx_var_align(v);
      uint64_t at = 0;
      for (uint32_t k = first; k < last; k++)
        if (end[u[k].kernel] > at) at = end[u[k].kernel];
      at = align_up(at, align > 16 ? align : 16);
      for (uint32_t k = first; k < last; k++) {
        changed |= end[u[k].kernel] != at;
        end[u[k].kernel] = at;
      }
      d->vars[u[first].var] = (emu_location){EMU_IN_SHARED, at};
    }
  }
}

static void place_shared(emu_decoder *d) {
  const hd_ptx_module *m = d->m;
  uint32_t *stack = HD_NEW_N(&d->scratch, m->n_funcs + 1u, uint32_t);
  uint32_t *var_mark = HD_NEW_N(&d->scratch, m->n_vars + 1u, uint32_t);
  uint64_t *end = HD_NEW_N(&d->scratch, m->n_funcs + 1u, uint64_t);
  uses all = {0}, dynamic = {0};
  for (uint32_t k = 0; k < m->n_funcs; k++)
    if (m->funcs[k].entry) reach(d, k, stack, var_mark, &all);
  rank_variables(d, &all);
  if (all.n) qsort(all.data, all.n, sizeof *all.data, by_variable);
  for (uint32_t first = 0, last; first < all.n; first = last) {
    for (last = first + 1; last < all.n && all.data[last].var == all.data[first].var; last++) {
    }
    if (shared_size(d, all.data[first].var) == 0) {
      for (uint32_t k = first; k < last; k++) emu_push(&d->scratch, &dynamic, all.data[k]);
    } else {
      place_variable(d, all.data, first, last, end);
    }
  }
  place_dynamic(d, dynamic.data, dynamic.n, end);
  for (uint32_t k = 0; k < m->n_funcs; k++) d->graph->bytes[k] = (uint32_t)end[k];
  /* In functions that no kernel calls, anywhere will do. */
  for (uint32_t k = 0; k < m->n_vars; k++)
    if (m->vars[k].space == HD_M_SHARED && d->vars[k].where == EMU_NOWHERE && var_mark[k] == 0)
      d->vars[k] = (emu_location){EMU_IN_SHARED, 0};
}

uint32_t emu_link_shared(const emu_decoder *d, uint32_t func) { return d->graph->bytes[func]; }

void emu_link_begin(emu_decoder *d) {
  emu_graph *g = d->graph = HD_NEW(&d->scratch, emu_graph);
  g->nodes = HD_NEW_N(&d->scratch, d->m->n_funcs + 1u, node);
  g->bytes = HD_NEW_N(&d->scratch, d->m->n_funcs + 1u, uint32_t);
  for (uint32_t k = 0; k < d->m->n_funcs; k++)
    if (d->m->funcs[k].has_body) read_body(d, k);
  find_taken(d);
  place_shared(d);
}

/* ---- Properties inherited from callees ----------------------------------------------------------- */

/* Frames are aligned as the machine aligns them. */
static uint64_t frame_bytes(const emu_code *c) { return align_up(c->local_bytes, 16); }

static void take_callee(emu_code *c, const emu_code *callee_code) {
  c->order_sensitive |= callee_code->order_sensitive;
  c->releases |= callee_code->releases;
  c->depends |= callee_code->depends;
  c->shares |= callee_code->shares;
  if (c->unsupported.status == HD_OK && callee_code->unsupported.status != HD_OK)
    c->unsupported = callee_code->unsupported;
}

/* Depth first, callees before callers. A function met while it is still open calls itself. */
typedef struct visit {
  uint32_t func, next;
} visit;

static void walk(emu_decoder *d, uint32_t start, visit *stack) {
  emu_graph *g = d->graph;
  uint32_t depth = 0;
  stack[depth++] = (visit){start, 0};
  g->nodes[start].state = OPEN;
  while (depth) {
    visit *v = &stack[depth - 1];
    node *n = &g->nodes[v->func];
    emu_code *c = d->codes[v->func];
    if (v->next < n_callees(g, n)) {
      const uint32_t to = callee(g, n, v->next++);
      if (!d->codes[to]) continue;
      if (g->nodes[to].state == NEW) {
        g->nodes[to].state = OPEN;
        stack[depth++] = (visit){to, 0};
      } else if (g->nodes[to].state == OPEN) {
        g->nodes[to].recursive = n->recursive = true;
      }
      continue;
    }
    uint64_t deepest = 0;
    c->shares |= n->shared.n != 0;
    for (uint32_t k = 0; k < n_callees(g, n); k++) {
      const uint32_t to = callee(g, n, k);
      if (!d->codes[to]) continue;
      n->recursive |= g->nodes[to].recursive;
      take_callee(c, d->codes[to]);
      if (g->nodes[to].state == DONE && d->codes[to]->stack_bytes > deepest)
        deepest = d->codes[to]->stack_bytes;
    }
    c->stack_bytes = frame_bytes(c) + deepest;
    /* A cycle below: a fixed stack, whose overflow the machine reports. */
    if (n->recursive) c->stack_bytes = c->stack_bytes > EMU_OPEN_STACK ? c->stack_bytes : EMU_OPEN_STACK;
    n->state = DONE;
    depth--;
  }
}

void emu_link_end(emu_decoder *d) {
  visit *stack = HD_NEW_N(&d->scratch, d->m->n_funcs + 1u, visit);
  /* Two rounds: in the first one, members of a cycle that are met before its first member do not know its
   * facts yet. */
  for (unsigned round = 0; round < 2; round++) {
    for (uint32_t k = 0; k < d->m->n_funcs; k++) d->graph->nodes[k].state = NEW;
    for (uint32_t k = 0; k < d->m->n_funcs; k++)
      if (d->codes[k] && d->graph->nodes[k].state == NEW) walk(d, k, stack);
  }
}
