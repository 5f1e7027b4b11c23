/* The instructions that a rewritten kernel runs for each task beside the task's own. */
#include <string.h>

#include "heddle/cfg.h"
#include "rewrite/rewrite_internal.h"

/* Labels of claim_task.c and bind.c, behind the prefix that keeps the rewriter's names apart. */
static bool is_label(const hd_ptx_module *m, hd_sym sym, const char *name) {
  const hd_ptx_sym *s = &m->syms[sym];
  size_t n = strlen(name);
  return sym && s->len > n + 1 && s->name[s->len - n - 1] == '_' && strcmp(s->name + s->len - n, name) == 0 &&
         strncmp(s->name, "$heddle", 7) == 0;
}

static uint32_t find(const hd_cfg *g, const char *name) {
  for (uint32_t b = 0; b < g->n_blocks; b++)
    if (is_label(g->module, g->blocks[b].label, name)) return b;
  return HD_NONE;
}

/* The way of the fewest instructions from the beginning of block `from` to that of block `to`. dist: fewest
 * instructions to each block's beginning; before: the block in front of it. Both have room for all blocks. */
typedef struct ways {
  uint32_t *dist, *before;
} ways;

static void find_ways(const hd_cfg *g, uint32_t from, const ways *w) {
  for (uint32_t b = 0; b < g->n_blocks; b++) w->dist[b] = HD_NONE;
  w->dist[from] = 0;
  for (bool more = true; more;) {
    more = false;
    for (uint32_t b = 0; b < g->n_blocks; b++) {
      const hd_block *k = &g->blocks[b];
      for (uint32_t e = k->first_succ; w->dist[b] != HD_NONE && e < k->first_succ + k->n_succ; e++) {
        uint32_t next = g->edges[e], dist = w->dist[b] + k->n_insts;
        if (dist >= w->dist[next]) continue;
        w->dist[next] = dist;
        w->before[next] = b;
        more = true;
      }
    }
  }
}

/* The rewriter's own instructions at a block's beginning: the kernel's are of a line of its text. */
static uint32_t own_insts(const hd_cfg *g, uint32_t block) {
  const hd_block *k = &g->blocks[block];
  uint32_t n = 0;
  while (n < k->n_insts && !hd_inst_stmt(g, k->first + n)->line) n++;
  return n;
}

/* The nearest block with an instruction of the kernel's; HD_NONE: none is reached. */
static uint32_t nearest_work(const hd_cfg *g, const ways *w) {
  uint32_t best = HD_NONE, least = HD_NONE;
  for (uint32_t b = 0; b < g->n_blocks; b++) {
    uint32_t own = own_insts(g, b);
    if (w->dist[b] == HD_NONE || own == g->blocks[b].n_insts || w->dist[b] + own >= least) continue;
    least = w->dist[b] + own;
    best = b;
  }
  return best;
}

/* Instructions one after the other: how many, and how many of them wait for each other at most. */
typedef struct chain {
  uint32_t *ready;   /* per register: instructions that stand in a row before it is there */
  uint32_t ordered;  /* before anything else can go on: of the last branch or barrier */
  uint32_t now;      /* of the instruction at hand */
  uint32_t depth, n; /* so far */
} chain;

static void read_register(void *ctx, uint32_t reg) {
  chain *c = ctx;
  if (c->ready[reg] > c->now) c->now = c->ready[reg];
}

static void write_register(void *ctx, uint32_t reg) {
  chain *c = ctx;
  c->ready[reg] = c->now + 1;
}

static void follow(const hd_cfg *g, uint32_t inst, chain *c) {
  uint32_t flags = hd_inst_form(g, inst)->flags;
  c->now = c->ordered;
  hd_inst_reads(g, inst, read_register, c);
  if ((flags & HD_OPF_CTA_WIDE) && c->depth > c->now) c->now = c->depth;
  hd_inst_writes(g, inst, write_register, c);
  if (flags & (HD_OPF_CTA_WIDE | HD_OPF_LEAVES)) c->ordered = c->now + 1;
  if (c->now + 1 > c->depth) c->depth = c->now + 1;
  c->n++;
}

/* From the beginning of block `from` to that of block `to`. */
static void follow_way(const hd_cfg *g, uint32_t from, uint32_t to, const ways *w, chain *c) {
  if (to == from) return;
  follow_way(g, from, w->before[to], w, c);
  const hd_block *k = &g->blocks[w->before[to]];
  for (uint32_t i = k->first; i < k->first + k->n_insts; i++) follow(g, i, c);
}

static uint32_t count(const hd_ptx_func *f) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->n_stmts; i++) n += f->stmts[i].kind == HD_S_INST;
  return n;
}

/* A claim that succeeds, by the warp that makes it: from where a worker ends a task, or from its start where
 * it takes one only, to the task's first instruction. False: the kernel has none. *ahead: a worker that has
 * ended a task knows the next one, without a claim on the way. */
static bool follow_claim(const hd_cfg *g, const ways *w, chain *c, bool *ahead) {
  uint32_t from = find(g, "end"), by = find(g, "place");
  if (from != HD_NONE && by == HD_NONE) by = find(g, "next");
  if (from == HD_NONE) {
    from = 0;
    by = find(g, "claim");
  }
  if (by == HD_NONE) return false;
  find_ways(g, from, w);
  if (w->dist[by] == HD_NONE) return false;
  *ahead = from != 0;
  for (uint32_t b = by, claims = find(g, "claim"); b != from; b = w->before[b])
    if (w->before[b] == claims) *ahead = false;
  follow_way(g, from, by, w, c);
  find_ways(g, by, w);
  uint32_t to = nearest_work(g, w);
  if (to == HD_NONE) return false;
  follow_way(g, by, to, w, c);
  for (uint32_t i = 0, n = own_insts(g, to); i < n; i++) follow(g, g->blocks[to].first + i, c);
  return true;
}

/* By the whole text, where the way to a task is not known. */
static hd_added text_of(const hd_ptx_module *before, const hd_ptx_module *after, uint32_t func) {
  uint32_t was = count(&before->funcs[func]), is = count(&after->funcs[func]);
  return is > was ? (hd_added){.instructions = is - was, .depth = is - was} : (hd_added){0};
}

static hd_status added(const hd_ptx_module *m, uint32_t func, hd_arena *arena, hd_added *out, hd_diag *d) {
  hd_cfg g;
  hd_status st = hd_cfg_build(m, func, 0, arena, &g, d);
  if (st != HD_OK) return st;
  ways w = {HD_NEW_N(arena, g.n_blocks, uint32_t), HD_NEW_N(arena, g.n_blocks, uint32_t)};
  chain c = {.ready = HD_NEW_N(arena, g.n_regs, uint32_t)};
  bool ahead;
  if (follow_claim(&g, &w, &c, &ahead)) *out = (hd_added){c.n, c.depth, find(&g, "wait") == HD_NONE, ahead};
  return HD_OK;
}

/* 0: the text has no limit. */
static uint32_t register_limit(const hd_ptx_module *m, uint32_t func) {
  const hd_ptx_func *f = &m->funcs[func];
  for (uint32_t i = f->first_dir; i < f->first_dir + f->n_dirs; i++)
    if (m->dirs[i].name == HD_M_MAXNREG && m->dirs[i].n_vals) return (uint32_t)m->dirs[i].vals[0];
  return 0;
}

hd_status hd_rewrite_added(const hd_ptx_module *before, const hd_ptx_module *after, uint32_t func,
                           hd_added *out, hd_diag *d) {
  hd_arena arena;
  jmp_buf out_of_memory;
  *out = text_of(before, after, func);
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  hd_status st = setjmp(out_of_memory) ? hd_nomem(d) : added(after, func, &arena, out, d);
  hd_arena_free(&arena);
  const uint32_t limit = register_limit(after, func);
  if (limit != register_limit(before, func)) out->registers = limit;
  return st;
}
