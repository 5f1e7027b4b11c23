/* Dominator and post-dominator trees, and the natural loops.
 *
 * Semi-NCA (Georgiadis, "Linear-time algorithms for dominators and related problems", 2005): semi-
 * dominators by path compression, then immediate dominators by walking up to them.
 */
#include <string.h>

#include "analysis/internal.h"

/* One direction of the graph. */
typedef struct tree {
  const hd_cfg *g;
  bool backward;
  uint32_t n;       /* blocks reached */
  uint32_t *order;  /* preorder number -> block */
  uint32_t *number; /* block -> preorder number, HD_NONE */
  uint32_t *parent; /* by preorder number, likewise below */
  uint32_t *ancestor, *semi, *label, *idom;
  uint32_t *stack, *cursor;
} tree;

static const uint32_t *next_blocks(const tree *t, uint32_t b, bool along, uint32_t *n) {
  const hd_block *block = &t->g->blocks[b];
  bool succ = along != t->backward;
  *n = succ ? block->n_succ : block->n_pred;
  return t->g->edges + (succ ? block->first_succ : block->first_pred);
}

static void depth_first(tree *t, uint32_t root) {
  uint32_t top = 0;
  t->number[root] = 0;
  t->order[0] = root;
  t->parent[0] = 0;
  t->n = 1;
  t->stack[top] = root;
  t->cursor[top++] = 0;
  while (top) {
    uint32_t b = t->stack[top - 1], n;
    const uint32_t *to = next_blocks(t, b, true, &n);
    if (t->cursor[top - 1] == n) {
      top--;
      continue;
    }
    uint32_t s = to[t->cursor[top - 1]++];
    if (t->number[s] != HD_NONE) continue;
    t->number[s] = t->n;
    t->order[t->n] = s;
    t->parent[t->n] = t->number[b];
    t->n++;
    t->stack[top] = s;
    t->cursor[top++] = 0;
  }
}

/* The number with the least semi-dominator on the forest path above v; paths are compressed. */
static uint32_t least_above(tree *t, uint32_t v) {
  uint32_t top = 0;
  for (uint32_t u = v; t->ancestor[u] != HD_NONE && t->ancestor[t->ancestor[u]] != HD_NONE;
       u = t->ancestor[u])
    t->stack[top++] = u;
  while (top) {
    uint32_t u = t->stack[--top], up = t->ancestor[u];
    if (t->semi[t->label[up]] < t->semi[t->label[u]]) t->label[u] = t->label[up];
    t->ancestor[u] = t->ancestor[up];
  }
  return t->label[v];
}

static void find_idoms(tree *t) {
  for (uint32_t v = 0; v < t->n; v++) {
    t->ancestor[v] = HD_NONE;
    t->semi[v] = t->label[v] = v;
    t->idom[v] = t->parent[v];
  }
  for (uint32_t v = t->n; v-- > 1;) {
    uint32_t n;
    const uint32_t *from = next_blocks(t, t->order[v], false, &n);
    for (uint32_t i = 0; i < n; i++) {
      uint32_t u = t->number[from[i]];
      if (u == HD_NONE) continue;
      if (u > v) u = least_above(t, u);
      if (t->semi[u] < t->semi[v]) t->semi[v] = t->semi[u];
    }
    t->ancestor[v] = t->parent[v];
  }
  for (uint32_t v = 1; v < t->n; v++)
    while (t->idom[v] > t->semi[v]) t->idom[v] = t->idom[t->idom[v]];
}

static void run(an *a, tree *t, bool backward, uint32_t root) {
  size_t n = a->pub.cfg.n_blocks;
  *t = (tree){.g = &a->pub.cfg, .backward = backward};
  uint32_t **arrays[] = {&t->order, &t->number, &t->parent, &t->ancestor, &t->semi,
                         &t->label, &t->idom,   &t->stack,  &t->cursor};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    *arrays[i] = hd_arena_alloc(&a->arena, n * sizeof(uint32_t), 4);
  memset(t->number, 0xff, n * sizeof(uint32_t));
  depth_first(t, root);
  find_idoms(t);
}

/* Preorder numbers of the dominator tree, children after their parent, so that "dominates" is a comparison.
 */
static void number_tree(an *a, const tree *t) {
  hd_cfg *g = &a->pub.cfg;
  uint32_t *size = t->semi, *next = t->label; /* no longer needed */
  for (uint32_t v = 0; v < t->n; v++) size[v] = 1;
  for (uint32_t v = t->n; v-- > 1;) size[t->idom[v]] += size[v];
  for (uint32_t v = 0; v < t->n; v++) {
    hd_block *b = &g->blocks[t->order[v]];
    b->dom_pre = v ? next[t->idom[v]] : 0;
    b->dom_last = b->dom_pre + size[v] - 1;
    if (v) next[t->idom[v]] += size[v];
    next[v] = b->dom_pre + 1;
    b->idom = v ? t->order[t->idom[v]] : HD_NONE;
  }
}

static void number_postorder(an *a, tree *t) {
  hd_cfg *g = &a->pub.cfg;
  uint32_t top = 0, left = t->n;
  uint8_t *seen = HD_NEW_N(&a->arena, g->n_blocks, uint8_t);
  seen[0] = 1;
  t->stack[top] = 0;
  t->cursor[top++] = 0;
  while (top) {
    const hd_block *b = &g->blocks[t->stack[top - 1]];
    if (t->cursor[top - 1] == b->n_succ) {
      g->blocks[t->stack[--top]].rpo = --left;
      continue;
    }
    uint32_t s = g->edges[b->first_succ + t->cursor[top - 1]++];
    if (seen[s]) continue;
    seen[s] = 1;
    t->stack[top] = s;
    t->cursor[top++] = 0;
  }
}

void an_dominators(an *a) {
  hd_cfg *g = &a->pub.cfg;
  tree t;
  for (uint32_t b = 0; b < g->n_blocks; b++) {
    hd_block *block = &g->blocks[b];
    block->idom = block->ipdom = block->rpo = block->loop = HD_NONE;
    block->dom_pre = HD_NONE;
    block->dom_last = 0;
  }
  run(a, &t, true, g->n_blocks - 1);
  for (uint32_t v = 1; v < t.n; v++) g->blocks[t.order[v]].ipdom = t.order[t.idom[v]];
  run(a, &t, false, 0);
  number_tree(a, &t);
  number_postorder(a, &t);
}

bool hd_dominates(const hd_cfg *g, uint32_t a, uint32_t b) {
  if (g->blocks[a].rpo == HD_NONE || g->blocks[b].rpo == HD_NONE) return false;
  return g->blocks[a].dom_pre <= g->blocks[b].dom_pre && g->blocks[b].dom_pre <= g->blocks[a].dom_last;
}

/* ---- Loops ---------------------------------------------------------------------------- */

bool hd_loop_contains(const hd_cfg *g, uint32_t outer, uint32_t inner) {
  if (outer == HD_NONE) return true;
  while (inner != HD_NONE && inner != outer) inner = g->loops[inner].parent;
  return inner == outer;
}

/* The loop's blocks by walking back from its latches. Headers are taken innermost first, so a block that
 * has a loop already stands for all of that loop: the walk goes on in front of its header. */
static void fill_loop(an *a, uint32_t loop, uint32_t *stack) {
  hd_cfg *g = &a->pub.cfg;
  hd_loop *l = &g->loops[loop];
  uint32_t top = 0;
  const hd_block *h = &g->blocks[l->header];
  for (uint32_t i = 0; i < h->n_pred; i++) {
    uint32_t latch = g->edges[h->first_pred + i];
    if (hd_dominates(g, l->header, latch)) {
      l->n_latches++;
      stack[top++] = latch;
    }
  }
  while (top) {
    uint32_t b = stack[--top], outermost = g->blocks[b].loop;
    if (outermost == HD_NONE) {
      g->blocks[b].loop = loop;
      if (b == l->header) continue;
    } else {
      while (g->loops[outermost].parent != HD_NONE) outermost = g->loops[outermost].parent;
      if (outermost == loop) continue;
      g->loops[outermost].parent = loop;
      b = g->loops[outermost].header;
    }
    const hd_block *block = &g->blocks[b];
    for (uint32_t i = 0; i < block->n_pred; i++) {
      uint32_t p = g->edges[block->first_pred + i];
      if (g->blocks[p].rpo != HD_NONE) stack[top++] = p;
    }
  }
  if (g->blocks[l->header].loop == HD_NONE) g->blocks[l->header].loop = loop;
}

static void describe_loops(an *a) {
  hd_cfg *g = &a->pub.cfg;
  a->loop_exit = HD_NEW_N(&a->arena, 2 * (size_t)g->n_loops + 1, uint32_t);
  for (uint32_t i = 0; i < g->n_loops; i++) {
    hd_loop *l = &g->loops[i];
    l->depth = l->parent == HD_NONE ? 1 : g->loops[l->parent].depth + 1;
    const hd_block *h = &g->blocks[l->header];
    l->line = h->n_insts ? an_stmt(a, h->first)->line : 0;
    l->counter = HD_NONE;
    l->trips = HD_NONE;
  }
  for (uint32_t b = 0; b < g->n_blocks; b++) {
    const hd_block *block = &g->blocks[b];
    for (uint32_t l = block->loop; l != HD_NONE; l = g->loops[l].parent) {
      g->loops[l].n_blocks++;
      for (uint32_t k = 0; k < block->n_succ; k++) {
        uint32_t to = g->edges[block->first_succ + k];
        if (to == g->n_blocks - 1 || hd_loop_contains(g, l, g->blocks[to].loop)) continue;
        g->loops[l].n_exits++;
        a->loop_exit[2 * l] = b;
        a->loop_exit[2 * l + 1] = to;
      }
    }
  }
}

void an_loops(an *a) {
  hd_cfg *g = &a->pub.cfg;
  uint32_t *by_rpo = hd_arena_alloc(&a->arena, g->n_blocks * sizeof(uint32_t), 4);
  uint32_t *stack = hd_arena_alloc(&a->arena, ((size_t)g->n_edges + 1) * sizeof(uint32_t), 4);
  uint8_t *header = HD_NEW_N(&a->arena, g->n_blocks, uint8_t);
  uint32_t reached = 0;
  for (uint32_t b = 0; b < g->n_blocks; b++) {
    const hd_block *block = &g->blocks[b];
    if (block->rpo == HD_NONE) continue;
    by_rpo[block->rpo] = b;
    reached++;
    for (uint32_t k = 0; k < block->n_succ; k++) {
      uint32_t to = g->edges[block->first_succ + k];
      if (g->blocks[to].rpo > block->rpo) continue;
      if (hd_dominates(g, to, b))
        header[to] = 1;
      else
        g->irreducible = true;
    }
  }
  for (uint32_t i = 0; i < reached; i++) g->n_loops += header[by_rpo[i]];
  g->loops = HD_NEW_N(&a->arena, g->n_loops + 1, hd_loop);
  uint32_t l = 0;
  for (uint32_t i = 0; i < reached; i++)
    if (header[by_rpo[i]]) g->loops[l++] = (hd_loop){.header = by_rpo[i], .parent = HD_NONE};
  while (l--) fill_loop(a, l, stack);
  describe_loops(a);
}
