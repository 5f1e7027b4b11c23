/* Blocks, dominators, loops, regions and liveness, against their definitions on random graphs. */
#include "cfg/subject.h"

enum { MAX_NODES = 40, GRAPHS = 400 };

/* Reachable from `from` without passing `without`; backwards: along predecessors. */
static void reach(const hd_cfg *g, uint32_t from, uint32_t without, bool backward, bool *out) {
  uint32_t stack[4096], top = 0;
  memset(out, 0, g->n_blocks * sizeof *out);
  if (from == without) return;
  out[from] = true;
  stack[top++] = from;
  while (top) {
    const hd_block *b = &g->blocks[stack[--top]];
    uint32_t n = backward ? b->n_pred : b->n_succ, first = backward ? b->first_pred : b->first_succ;
    for (uint32_t k = 0; k < n; k++) {
      uint32_t to = g->edges[first + k];
      if (to == without || out[to]) continue;
      out[to] = true;
      stack[top++] = to;
    }
  }
}

static void check_graph(const hd_cfg *g) {
  bool reached[4096], without[4096], ends[4096], body[4096];
  assert_true(g->n_blocks < 4096);
  reach(g, 0, HD_NONE, false, reached);
  reach(g, g->n_blocks - 1, HD_NONE, true, ends);
  for (uint32_t x = 0; x < g->n_blocks; x++) {
    assert_int_equal(reached[x], g->blocks[x].rpo != HD_NONE);
    if (!reached[x]) continue;
    /* x dominates y: y cannot be reached without x. */
    reach(g, 0, x, false, without);
    for (uint32_t y = 0; y < g->n_blocks; y++)
      if (reached[y]) assert_int_equal(hd_dominates(g, x, y), !without[y]);
    uint32_t idom = g->blocks[x].idom;
    if (x) {
      assert_true(hd_dominates(g, idom, x) && idom != x);
      for (uint32_t y = 0; y < g->n_blocks; y++)
        if (y != x && reached[y] && hd_dominates(g, y, x)) assert_true(hd_dominates(g, y, idom));
    }
    /* The immediate post-dominator is on every way to the end, and no other such block comes before it. */
    uint32_t ipdom = g->blocks[x].ipdom;
    assert_int_equal(ipdom != HD_NONE, ends[x] && x != g->n_blocks - 1);
    if (ipdom == HD_NONE) continue;
    reach(g, x, ipdom, false, without);
    assert_false(ipdom != g->n_blocks - 1 && without[g->n_blocks - 1]);
    for (uint32_t y = 0; y < g->n_blocks; y++) {
      if (y == x || y == ipdom || !without[y] || y == g->n_blocks - 1) continue;
      bool around[4096];
      reach(g, x, y, false, around);
      assert_true(around[g->n_blocks - 1]);
    }
  }
  /* A loop is its header and all that reaches a latch without passing the header. */
  for (uint32_t l = 0; l < g->n_loops; l++) {
    uint32_t header = g->loops[l].header, count = 0;
    memset(body, 0, sizeof body);
    body[header] = true;
    for (uint32_t b = 0; b < g->n_blocks; b++) {
      bool latch = false;
      for (uint32_t k = 0; k < g->blocks[b].n_succ; k++)
        latch |= g->edges[g->blocks[b].first_succ + k] == header;
      if (!latch || !reached[b] || !hd_dominates(g, header, b)) continue;
      reach(g, b, header, true, without);
      for (uint32_t y = 0; y < g->n_blocks; y++) body[y] |= without[y] && reached[y];
    }
    for (uint32_t b = 0; b < g->n_blocks; b++) {
      count += body[b];
      assert_int_equal(body[b], g->blocks[b].loop != HD_NONE && hd_loop_contains(g, l, g->blocks[b].loop));
    }
    assert_int_equal(count, g->loops[l].n_blocks);
    assert_true(g->loops[l].parent == HD_NONE || g->loops[l].parent < l);
  }
}

/* Calls check on random graphs; loops and irreducible ones are counted. */
static void on_random_graphs(void (*check)(subject *s), uint32_t registers, unsigned *loops,
                             unsigned *irreducible) {
  for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
    hd_buf body = {0};
    put_random_body(&body, seed, MAX_NODES, registers);
    subject s;
    assert_int_equal(open_subject(&s, "", body.data, 0), HD_OK);
    check(&s);
    *loops += s.g.n_loops;
    *irreducible += s.g.irreducible;
    close_subject(&s);
    hd_buf_free(&body);
  }
}

static void check_graph_of(subject *s) { check_graph(&s->g); }

static void random_graphs_have_the_dominators_of_the_definition(void **state) {
  unsigned loops = 0, irreducible = 0;
  on_random_graphs(check_graph_of, 2, &loops, &irreducible);
  assert_true(loops > 100);
  assert_true(irreducible > 20);
}

/* ---- Regions ------------------------------------------------------------------------------- */

/* From `from` to `to` by one edge or more, along blocks that are inside. */
static bool walks(const hd_cfg *g, const uint8_t *inside, uint32_t from, uint32_t to) {
  bool seen[4096] = {false};
  uint32_t stack[4096], top = 0;
  stack[top++] = from;
  while (top) {
    const hd_block *b = &g->blocks[stack[--top]];
    for (uint32_t k = 0; k < b->n_succ; k++) {
      uint32_t next = g->edges[b->first_succ + k];
      if (!inside[next] || seen[next]) continue;
      if (next == to) return true;
      seen[next] = true;
      stack[top++] = next;
    }
  }
  return false;
}

static void check_regions_of(subject *s) {
  const hd_cfg *g = &s->g;
  static uint8_t inside[4096];
  static uint32_t blocks[4096], members[4096], first[4097], region[4096];
  hd_regions r;
  hd_regions_init(&r, g, &s->arena);
  for (unsigned without = 0; without < 3; without++) {
    uint32_t n_blocks = 0;
    for (uint32_t b = 0; b < g->n_blocks; b++) {
      inside[b] = without ? b % 5 != without : 1;
      if (inside[b]) blocks[n_blocks++] = b;
      region[b] = HD_NONE;
    }
    uint32_t n = hd_regions_find(&r, blocks, n_blocks, members, first);
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t k = first[i]; k < first[i + 1]; k++) region[members[k]] = i;
    for (uint32_t x = 0; x < g->n_blocks; x++) {
      bool round = inside[x] && walks(g, inside, x, x);
      assert_int_equal(round, region[x] != HD_NONE);
      for (uint32_t y = 0; round && y < g->n_blocks; y++)
        if (inside[y])
          assert_int_equal(region[y] == region[x], walks(g, inside, x, y) && walks(g, inside, y, x));
    }
  }
}

static void regions_are_the_strongly_connected_parts(void **state) {
  unsigned loops = 0, irreducible = 0;
  on_random_graphs(check_regions_of, 2, &loops, &irreducible);
  assert_true(irreducible > 20);
}

/* ---- Liveness ------------------------------------------------------------------------------ */

typedef struct search {
  uint32_t reg;
  bool found;
} search;

static void look(void *ctx, uint32_t reg) { ((search *)ctx)->found |= ((search *)ctx)->reg == reg; }

/* Whether some path from the block's beginning reads the register before it writes it. */
static bool reads_first(const hd_cfg *g, uint32_t block, uint32_t reg) {
  bool seen[4096] = {false};
  uint32_t stack[4096], top = 0;
  stack[top++] = block;
  while (top) {
    const hd_block *b = &g->blocks[stack[--top]];
    bool written = false;
    for (uint32_t i = b->first; i < b->first + b->n_insts && !written; i++) {
      search read = {.reg = reg}, write = {.reg = reg};
      hd_inst_reads(g, i, look, &read);
      if (read.found) return true;
      hd_inst_writes(g, i, look, &write);
      written = write.found && !hd_inst_stmt(g, i)->guard;
    }
    for (uint32_t k = 0; !written && k < b->n_succ; k++) {
      uint32_t to = g->edges[b->first_succ + k];
      if (!seen[to]) stack[top++] = to;
      seen[to] = true;
    }
  }
  return false;
}

static unsigned n_live, n_dead;

static void check_liveness_of(subject *s) {
  hd_liveness l;
  assert_true(hd_liveness_find(&s->g, SIZE_MAX, &s->arena, &l));
  for (uint32_t b = 0; b < s->g.n_blocks; b++)
    for (uint32_t r = 0; r < s->g.n_regs; r++) {
      bool live = reads_first(&s->g, b, r);
      assert_int_equal(hd_live_in(&l, b, r), live);
      n_live += live;
      n_dead += !live;
    }
}

static void registers_are_live_where_some_path_reads_them_first(void **state) {
  unsigned loops = 0, irreducible = 0;
  n_live = n_dead = 0;
  on_random_graphs(check_liveness_of, 9, &loops, &irreducible);
  assert_true(n_live > 10000);
  assert_true(n_dead > 10000);
}

static void a_write_of_a_part_leaves_the_others_live(void **state) {
  static const struct {
    const char *body;
    bool live;
  } cases[] = {
      {".reg .v2 .b32 %v;\nmov.u32 %v.x, 0;\nmov.u32 %r1, %v.y;\nret;", true},
      {".reg .v2 .b32 %v;\nmov.v2.u32 %v, {%r2, %r3};\nmov.u32 %r1, %v.y;\nret;", false},
      {".reg .b32 %v;\n@%p1 mov.u32 %v, 0;\nmov.u32 %r1, %v;\nret;", true},
      {".reg .b32 %v;\nmov.u32 %v, 0;\nmov.u32 %r1, %v;\nret;", false},
      {".reg .b32 %v;\nmov.b64 {%r1, %v}, %l1;\nmov.u32 %r1, %v;\nret;", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    subject s;
    hd_liveness l;
    assert_int_equal(open_subject(&s, "", cases[i].body, 0), HD_OK);
    assert_true(hd_liveness_find(&s.g, SIZE_MAX, &s.arena, &l));
    for (hd_sym y = 1; y < s.m->n_syms; y++)
      if (s.m->syms[y].kind == HD_SYM_REG && strcmp(s.m->syms[y].name, "%v") == 0 &&
          hd_live_in(&l, 0, hd_cfg_reg(&s.g, 0, y)) != cases[i].live)
        fail_msg("%s", cases[i].body);
    close_subject(&s);
  }
}

static void liveness_stays_below_its_limit(void **state) {
  subject s;
  hd_liveness l;
  assert_int_equal(open_subject(&s, "", "add.u32 %r1, %r1, 1;\nret;", 0), HD_OK);
  assert_false(hd_liveness_find(&s.g, 7, &s.arena, &l));
  assert_true(hd_liveness_find(&s.g, 16, &s.arena, &l));
  close_subject(&s);
}

/* ---- Writers ------------------------------------------------------------------------------- */

static void every_writer_of_a_register_is_listed(void **state) {
  subject s;
  hd_writers w;
  assert_int_equal(open_subject(&s, "",
                                "mov.u32 %r1, 0;\n@%p1 mov.u32 %r1, 1;\nld.global.v2.u32 {%r1, %r2}, [%l1];\n"
                                "st.global.u32 [%l1], %r1;\nmul.wide.u32 %l1, %r1, %r2;\nret;",
                                0),
                   HD_OK);
  hd_writers_find(&s.g, &s.arena, &w);
  uint32_t count[3] = {0}, base = s.g.calls[0].reg_base;
  const char *names[3] = {"%r1", "%r2", "%l1"};
  for (hd_sym y = 1; y < s.m->n_syms; y++)
    for (unsigned k = 0; k < 3; k++)
      if (s.m->syms[y].kind == HD_SYM_REG && strcmp(s.m->syms[y].name, names[k]) == 0) {
        uint32_t reg = base + s.m->syms[y].index;
        count[k] = w.first[reg + 1] - w.first[reg];
        for (uint32_t i = w.first[reg] + 1; i < w.first[reg + 1]; i++)
          assert_true(w.insts[i - 1] < w.insts[i]);
      }
  assert_int_equal(count[0], 3);
  assert_int_equal(count[1], 1);
  assert_int_equal(count[2], 1);
  close_subject(&s);
}

/* ---- Drawing ------------------------------------------------------------------------------- */

static void the_graph_is_drawn(void **state) {
  subject s;
  hd_buf out = {0};
  assert_int_equal(
      open_subject(&s, "", "L: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 5;\n@%p1 bra L;\nret;", 0), HD_OK);
  hd_cfg_dot(&s.g, s.m, &out);
  assert_non_null(strstr(out.data, "subgraph cluster_loop1"));
  assert_non_null(strstr(out.data, "b0 -> b0 [label=\"T\"]"));
  assert_non_null(strstr(out.data, "b0 -> b1 [label=\"F\"]"));
  hd_buf_free(&out);
  close_subject(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("dominators, post-dominators and loops of random graphs are those of the definitions",
                random_graphs_have_the_dominators_of_the_definition),
      BEHAVIOUR("regions of random graphs, whole and in part, are their strongly connected parts",
                regions_are_the_strongly_connected_parts),
      BEHAVIOUR("a register is live where some path reads it before it writes it",
                registers_are_live_where_some_path_reads_them_first),
      BEHAVIOUR("a write of a part of a register leaves the others live",
                a_write_of_a_part_leaves_the_others_live),
      BEHAVIOUR("liveness that would take too much memory is not made", liveness_stays_below_its_limit),
      BEHAVIOUR("every instruction that writes a register is listed in order",
                every_writer_of_a_register_is_listed),
      BEHAVIOUR("the control-flow graph is drawn with its loops", the_graph_is_drawn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
