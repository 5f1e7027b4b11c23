/* Dominator and post-dominator trees.
 *
 * Semi-NCA (Georgiadis, "Linear-time algorithms for dominators and related problems", 2005): semi-
 * dominators by path compression, then immediate dominators by walking up to them.
 */
#include <string.h>

#include "cfg/internal.h"

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

static void run(cfg *c, tree *t, bool backward, uint32_t root) {
  size_t n = c->g.n_blocks;
  *t = (tree){.g = &c->g, .backward = backward};
  uint32_t **arrays[] = {&t->order, &t->number, &t->parent, &t->ancestor, &t->semi,
                         &t->label, &t->idom,   &t->stack,  &t->cursor};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    *arrays[i] = hd_arena_alloc(c->arena, n * sizeof(uint32_t), 4);
  memset(t->number, 0xff, n * sizeof(uint32_t));
  depth_first(t, root);
  find_idoms(t);
}

/* Preorder numbers of the dominator tree, children after their parent, so that "dominates" is a comparison.
 */
static void number_tree(cfg *c, const tree *t) {
  hd_cfg *g = &c->g;
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

static void number_postorder(cfg *c, tree *t) {
  hd_cfg *g = &c->g;
  uint32_t top = 0, left = t->n;
  uint8_t *seen = HD_NEW_N(c->arena, g->n_blocks, uint8_t);
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

void cfg_dominators(cfg *c) {
  hd_cfg *g = &c->g;
  tree t;
  for (uint32_t b = 0; b < g->n_blocks; b++) {
    hd_block *block = &g->blocks[b];
    block->idom = block->ipdom = block->rpo = block->loop = HD_NONE;
    block->dom_pre = HD_NONE;
    block->dom_last = 0;
  }
  run(c, &t, true, g->n_blocks - 1);
  for (uint32_t v = 1; v < t.n; v++) g->blocks[t.order[v]].ipdom = t.order[t.idom[v]];
  run(c, &t, false, 0);
  number_tree(c, &t);
  number_postorder(c, &t);
}

bool hd_dominates(const hd_cfg *g, uint32_t a, uint32_t b) {
  if (g->blocks[a].rpo == HD_NONE || g->blocks[b].rpo == HD_NONE) return false;
  return g->blocks[a].dom_pre <= g->blocks[b].dom_pre && g->blocks[b].dom_pre <= g->blocks[a].dom_last;
}
