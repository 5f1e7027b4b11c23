/* Blocks, dominators and loops, against their definitions on random graphs. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/analysis.h"

typedef struct subject {
  hd_arena arena;
  hd_ptx_module *m;
  hd_analysis *a;
} subject;

static hd_status open_text(subject *s, const char *body, hd_diag *d) {
  hd_buf text = {0};
  hd_buf_printf(&text,
                ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                ".reg .pred %%p<9>;\n.reg .b32 %%r<9>;\n.reg .b64 %%l<9>;\n%s\n}\n",
                body);
  hd_arena_init(&s->arena);
  s->a = NULL;
  hd_status st = hd_ptx_parse(text.data, text.len, "test", &s->arena, &s->m, d);
  if (st == HD_OK) st = hd_analyze(s->m, 0, NULL, &s->a, d);
  hd_buf_free(&text);
  return st;
}

static void close_text(subject *s) {
  hd_analysis_free(s->a);
  hd_arena_free(&s->arena);
}

/* ---- Random graphs ------------------------------------------------------------------------- */

enum { MAX_NODES = 40 };

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

static void random_graphs_have_the_dominators_of_the_definition(void **state) {
  unsigned loops = 0, irreducible = 0;
  for (uint64_t seed = 1; seed <= 400; seed++) {
    hd_buf body = {0};
    uint64_t n = 0;
#define PICK(limit) ((uint32_t)(hd_random_at(seed, n++) >> 33) % (limit))
    uint32_t nodes = 2 + PICK(MAX_NODES - 2);
    for (uint32_t i = 0; i < nodes; i++) {
      hd_buf_printf(&body, "L%u: add.u32 %%r1, %%r1, 1;\n", i);
      /* Mostly near and forward, as programs are; now and then anywhere. */
      uint32_t to = PICK(4) ? i + 1 + PICK(4) : PICK(nodes);
      if (to >= nodes) to = nodes - 1;
      switch (PICK(8)) {
      case 0: hd_buf_printf(&body, "bra.uni L%u;\n", to); break;
      case 1: hd_buf_puts(&body, "@%p1 exit;\n"); break;
      case 2:
        hd_buf_printf(&body, "T%u: .branchtargets L%u, L%u, L%u;\nbrx.idx %%r1, T%u;\n", i, to, PICK(nodes),
                      to, i);
        break;
      case 3: hd_buf_puts(&body, PICK(4) ? "" : "ret;\n"); break;
      default: hd_buf_printf(&body, "@%%p1 bra L%u;\n", to); break;
      }
    }
    hd_buf_puts(&body, "ret;\n");
    subject s;
    hd_diag d;
    char line[1024];
    if (open_text(&s, body.data, &d) != HD_OK) fail_msg("%s", hd_diag_line(&d, line, sizeof line));
    check_graph(&s.a->cfg);
    loops += s.a->cfg.n_loops;
    irreducible += s.a->cfg.irreducible;
    close_text(&s);
    hd_buf_free(&body);
  }
  assert_true(loops > 100);
  assert_true(irreducible > 20);
}

/* ---- Single ones ------------------------------------------------------------------------------ */

static void a_branch_to_nowhere_is_an_error(void **state) {
  subject s;
  hd_diag d;
  assert_int_equal(open_text(&s, "bra nowhere;\nret;", &d), HD_ERR_INPUT);
  close_text(&s);
}

static void deep_and_long_kernels_are_ordinary(void **state) {
  enum { N = 20000 };
  hd_buf body = {0};
  hd_buf_puts(&body, "ld.param.u64 %l1, [p];\n");
  for (int i = 0; i < N; i++) hd_buf_printf(&body, "@%%p1 bra L%d;\nadd.s64 %%l1, %%l1, 4;\nL%d:\n", i, i);
  for (int i = 0; i < N; i++) hd_buf_puts(&body, "add.s64 %l1, %l1, 4;\n");
  hd_buf_puts(&body, "st.global.u32 [%l1], %r1;\n");
  for (int i = 0; i < 300; i++)
    hd_buf_printf(&body, "M%d:\n", i), hd_buf_puts(&body, "add.u32 %r1, %r1, 1;\n");
  for (int i = 300; i-- > 0;) hd_buf_printf(&body, "@%%p2 bra M%d;\n", i);
  hd_buf_puts(&body, "ret;");
  subject s;
  hd_diag d;
  assert_int_equal(open_text(&s, body.data, &d), HD_OK);
  assert_int_equal(s.a->cfg.n_loops, 300);
  assert_int_equal(s.a->cfg.loops[299].depth, 300);
  assert_int_equal(s.a->n_sites, 1);
  close_text(&s);
  hd_buf_free(&body);
}

static void the_graph_is_drawn(void **state) {
  subject s;
  hd_diag d;
  hd_buf out = {0};
  assert_int_equal(open_text(&s, "L: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 5;\n@%p1 bra L;\nret;", &d),
                   HD_OK);
  hd_cfg_dot(&s.a->cfg, s.m, &out);
  assert_non_null(strstr(out.data, "subgraph cluster_loop1"));
  assert_non_null(strstr(out.data, "b0 -> b0 [label=\"T\"]"));
  assert_non_null(strstr(out.data, "b0 -> b1 [label=\"F\"]"));
  hd_buf_free(&out);
  close_text(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("dominators, post-dominators and loops of random graphs are those of the definitions",
                random_graphs_have_the_dominators_of_the_definition),
      BEHAVIOUR("a branch to a label that is not there is an error", a_branch_to_nowhere_is_an_error),
      BEHAVIOUR("long chains of branches and 300 nested loops are ordinary",
                deep_and_long_kernels_are_ordinary),
      BEHAVIOUR("the control-flow graph is drawn with its loops", the_graph_is_drawn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
