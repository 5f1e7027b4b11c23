/* Natural loops, and the strongly connected regions of parts of a graph. */
#include <string.h>

#include "cfg/internal.h"

bool hd_loop_contains(const hd_cfg *g, uint32_t outer, uint32_t inner) {
  if (outer == HD_NONE) return true;
  while (inner != HD_NONE && inner != outer) inner = g->loops[inner].parent;
  return inner == outer;
}

/* The loop's blocks by walking back from its latches. Headers are taken innermost first, so a block that
 * has a loop already stands for all of that loop: the walk goes on in front of its header. */
static void fill_loop(cfg *c, uint32_t loop, uint32_t *stack) {
  hd_cfg *g = &c->g;
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

static void describe_loops(cfg *c) {
  hd_cfg *g = &c->g;
  for (uint32_t i = 0; i < g->n_loops; i++) {
    hd_loop *l = &g->loops[i];
    l->depth = l->parent == HD_NONE ? 1 : g->loops[l->parent].depth + 1;
    const hd_block *h = &g->blocks[l->header];
    l->line = h->n_insts ? hd_inst_stmt(g, h->first)->line : 0;
    l->leave = l->leaves = HD_NONE;
  }
  for (uint32_t b = 0; b < g->n_blocks; b++) {
    const hd_block *block = &g->blocks[b];
    for (uint32_t l = block->loop; l != HD_NONE; l = g->loops[l].parent) {
      g->loops[l].n_blocks++;
      for (uint32_t k = 0; k < block->n_succ; k++) {
        uint32_t to = g->edges[block->first_succ + k];
        if (to == g->n_blocks - 1 || hd_loop_contains(g, l, g->blocks[to].loop)) continue;
        g->loops[l].n_exits++;
        g->loops[l].leave = b;
        g->loops[l].leaves = to;
      }
    }
  }
}

void cfg_loops(cfg *c) {
  hd_cfg *g = &c->g;
  uint32_t *by_rpo = hd_arena_alloc(c->arena, g->n_blocks * sizeof(uint32_t), 4);
  uint32_t *stack = hd_arena_alloc(c->arena, ((size_t)g->n_edges + 1) * sizeof(uint32_t), 4);
  uint8_t *header = HD_NEW_N(c->arena, g->n_blocks, uint8_t);
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
  g->loops = HD_NEW_N(c->arena, g->n_loops + 1, hd_loop);
  uint32_t l = 0;
  for (uint32_t i = 0; i < reached; i++)
    if (header[by_rpo[i]]) g->loops[l++] = (hd_loop){.header = by_rpo[i], .parent = HD_NONE};
  while (l--) fill_loop(c, l, stack);
  describe_loops(c);
}

/* ---- Regions ---------------------------------------------------------------------------- */

/* Tarjan's search, with a stack of its own. */
void hd_regions_init(hd_regions *r, const hd_cfg *g, hd_arena *arena) {
  size_t n = g->n_blocks;
  uint32_t *space = HD_NEW_N(arena, 6 * n + 1, uint32_t);
  *r = (hd_regions){.g = g,
                    .inside = space,
                    .number = space + n,
                    .low = space + 2 * n,
                    .stack = space + 3 * n,
                    .path = space + 4 * n,
                    .cursor = space + 5 * n};
}

typedef struct tarjan {
  hd_regions *r;
  uint32_t n, top, depth; /* blocks discovered; on the stack; on the path */
  uint32_t *members, *first, n_members, n_regions;
} tarjan;

static void enter(tarjan *t, uint32_t b) {
  hd_regions *r = t->r;
  r->number[b] = r->low[b] = ++t->n;
  r->stack[t->top++] = b;
  r->path[t->depth] = b;
  r->cursor[t->depth++] = 0;
}

static bool has_own_edge(const hd_cfg *g, uint32_t b) {
  const hd_block *block = &g->blocks[b];
  for (uint32_t k = 0; k < block->n_succ; k++)
    if (g->edges[block->first_succ + k] == b) return true;
  return false;
}

/* Block b was left for good: if nothing above it on the path is in its region, the region is complete. */
static void leave(tarjan *t, uint32_t b) {
  hd_regions *r = t->r;
  if (--t->depth) {
    uint32_t above = r->path[t->depth - 1];
    if (r->low[b] < r->low[above]) r->low[above] = r->low[b];
  }
  if (r->low[b] != r->number[b]) return;
  bool cycle = r->stack[t->top - 1] != b || has_own_edge(r->g, b);
  uint32_t member;
  if (cycle) t->first[t->n_regions++] = t->n_members;
  do {
    member = r->stack[--t->top];
    r->number[member] = UINT32_MAX; /* no longer on the stack */
    if (cycle) t->members[t->n_members++] = member;
  } while (member != b);
}

static void walk(tarjan *t, uint32_t root) {
  hd_regions *r = t->r;
  enter(t, root);
  while (t->depth) {
    uint32_t b = r->path[t->depth - 1];
    const hd_block *block = &r->g->blocks[b];
    if (r->cursor[t->depth - 1] == block->n_succ) {
      leave(t, b);
      continue;
    }
    uint32_t to = r->g->edges[block->first_succ + r->cursor[t->depth - 1]++];
    if (r->inside[to] != r->stamp) continue;
    if (!r->number[to])
      enter(t, to);
    else if (r->number[to] < r->low[b])
      r->low[b] = r->number[to];
  }
}

uint32_t hd_regions_find(hd_regions *r, const uint32_t *blocks, uint32_t n, uint32_t *members,
                         uint32_t *first) {
  tarjan t = {.r = r, .members = members, .first = first};
  r->stamp++;
  for (uint32_t i = 0; i < n; i++) {
    r->inside[blocks[i]] = r->stamp;
    r->number[blocks[i]] = 0;
  }
  for (uint32_t i = 0; i < n; i++)
    if (!r->number[blocks[i]]) walk(&t, blocks[i]);
  first[t.n_regions] = t.n_members;
  return t.n_regions;
}
