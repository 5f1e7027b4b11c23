/* The leaves of operands: random statements that know their own leaves. */
#include "heddle/ptx_facts.h"
#include "ptx_test.h"

/* ---- Writing statements ------------------------------------------------------------- */

enum { MOST_LEAVES = 512 };

typedef struct expected {
  char name[16]; /* of the symbol; "" where there is none */
  unsigned role;
} expected;

/* A statement's text and its leaves, in the order written. */
typedef struct writer {
  hd_buf out;
  uint64_t seed, drawn;
  expected leaves[MOST_LEAVES];
  unsigned n;
} writer;

static unsigned draw(writer *w, unsigned n) { return (unsigned)(hd_random_at(w->seed, w->drawn++) % n); }

static void expect(writer *w, const char *name, unsigned role) {
  assert_true(w->n < MOST_LEAVES);
  snprintf(w->leaves[w->n].name, sizeof w->leaves->name, "%s", name);
  w->leaves[w->n++].role = role;
}

enum { READ = HD_ROLE_READ, WRITTEN = HD_ROLE_WRITTEN, BASE = HD_ROLE_BASE };

static void put_reg(writer *w, unsigned role) {
  char name[16];
  snprintf(name, sizeof name, "%%r%u", draw(w, 50));
  hd_buf_puts(&w->out, name);
  expect(w, name, role);
}

static void put_sreg(writer *w, unsigned role) {
  static const struct {
    const char *text, *name;
  } sregs[] = {{"%tid.x", "%tid"}, {"%ctaid.z", "%ctaid"}, {"%clock", "%clock"}, {"%laneid", "%laneid"}};
  unsigned i = draw(w, 4);
  hd_buf_puts(&w->out, sregs[i].text);
  expect(w, sregs[i].name, role);
}

static void put_symbol(writer *w, unsigned role) {
  hd_buf_puts(&w->out, "table");
  expect(w, "table", role);
}

static void put_number(writer *w, unsigned role) {
  static const char *const numbers[] = {"7", "-3", "0f3f800000", "0d3ff0000000000000", "0xffffffff"};
  hd_buf_puts(&w->out, numbers[draw(w, 5)]);
  expect(w, "", role);
}

static void put_base(writer *w) {
  switch (draw(w, 4)) {
  case 0: put_reg(w, READ | BASE); break;
  case 1: put_sreg(w, READ | BASE); break;
  case 2: put_symbol(w, BASE); break;
  default: hd_buf_puts(&w->out, "64"), expect(w, "", BASE); return;
  }
  if (draw(w, 2)) hd_buf_printf(&w->out, "+%u", draw(w, 100));
}

static void put_read(writer *w, unsigned depth);

static void put_list(writer *w, unsigned n, unsigned depth) {
  for (unsigned i = 0; i < n; i++) {
    if (i) hd_buf_puts(&w->out, ", ");
    put_read(w, depth + 1);
  }
}

/* table[7], table[%r3], table[%r3+4] */
static void put_index(writer *w) {
  put_symbol(w, READ);
  hd_buf_puts(&w->out, "[");
  if (draw(w, 2)) {
    put_number(w, READ);
    hd_buf_puts(&w->out, "]");
    return;
  }
  put_reg(w, READ);
  if (draw(w, 2)) {
    hd_buf_puts(&w->out, "+4");
    w->leaves[w->n - 1].role |= BASE;
  }
  hd_buf_puts(&w->out, "]");
}

static void put_read(writer *w, unsigned depth) {
  switch (draw(w, depth > 3 ? 5 : 9)) {
  case 0: put_reg(w, READ); break;
  case 1: put_sreg(w, READ); break;
  case 2: put_symbol(w, READ); break;
  case 3: put_number(w, READ); break;
  case 4: hd_buf_puts(&w->out, "_"), expect(w, "", READ); break;
  case 5:
    hd_buf_puts(&w->out, "{");
    put_list(w, draw(w, 4), depth);
    hd_buf_puts(&w->out, "}");
    break;
  case 6:
    hd_buf_puts(&w->out, "[");
    put_base(w);
    hd_buf_puts(&w->out, "]");
    break;
  case 7:
    hd_buf_puts(&w->out, "[");
    put_base(w);
    hd_buf_puts(&w->out, ", ");
    put_list(w, 1 + draw(w, 3), depth);
    hd_buf_puts(&w->out, "]");
    break;
  default: put_index(w);
  }
}

static void put_written(writer *w, unsigned role, unsigned depth) {
  switch (draw(w, depth ? 2 : 4)) {
  case 0: put_reg(w, role); break;
  case 1: hd_buf_puts(&w->out, "_"), expect(w, "", role); break;
  case 2:
    hd_buf_puts(&w->out, "{");
    for (unsigned i = 0, n = 1 + draw(w, 4); i < n; i++) {
      if (i) hd_buf_puts(&w->out, ", ");
      put_written(w, role, 1);
    }
    hd_buf_puts(&w->out, "}");
    break;
  default:
    put_written(w, role, 1);
    hd_buf_puts(&w->out, "|");
    put_written(w, role, 1);
  }
}

static void put_guard(writer *w) {
  if (draw(w, 3)) return;
  hd_buf_puts(&w->out, draw(w, 2) ? "@%p1 " : "@!%p1 ");
  expect(w, "%p1", READ | HD_ROLE_GUARD);
}

/* An instruction of which only the role of its first operand matters. */
static void put_plain(writer *w) {
  static const struct {
    const char *op;
    unsigned first; /* role of the first operand; 0: as the others */
  } ops[] = {
      {"add.s32", WRITTEN},
      {"ld.global.b32", WRITTEN},
      {"wgmma.mma_async.sync.aligned", WRITTEN | READ},
      {"neverseen.f32", WRITTEN | READ},
      {"st.global.b32", 0},
      {"red.add.u32", 0},
      {"wmma.store.d", 0},
      {"bar.sync", 0},
      {"tcgen05.dealloc", 0},
  };
  unsigned i = draw(w, sizeof ops / sizeof *ops);
  hd_buf_printf(&w->out, "%s ", ops[i].op);
  if (ops[i].first) {
    put_written(w, ops[i].first, 0);
    hd_buf_puts(&w->out, ", ");
  }
  put_list(w, 1 + draw(w, 4), 0);
}

static void put_call(writer *w) {
  hd_buf_puts(&w->out, "call ");
  if (draw(w, 2)) {
    hd_buf_puts(&w->out, "(");
    put_reg(w, WRITTEN);
    hd_buf_puts(&w->out, "), ");
  }
  if (draw(w, 2)) {
    hd_buf_puts(&w->out, "callee");
    expect(w, "callee", HD_ROLE_CALLEE);
  } else {
    put_reg(w, HD_ROLE_CALLEE | READ);
  }
  if (draw(w, 2)) {
    hd_buf_puts(&w->out, ", (");
    put_reg(w, READ);
    hd_buf_puts(&w->out, ", ");
    put_number(w, READ);
    hd_buf_puts(&w->out, ")");
    if (draw(w, 2)) {
      hd_buf_puts(&w->out, ", proto");
      expect(w, "proto", HD_ROLE_LIST);
    }
  }
}

static void put_branch(writer *w) {
  if (draw(w, 2)) {
    hd_buf_puts(&w->out, "bra.uni there");
    expect(w, "there", HD_ROLE_LABEL);
    return;
  }
  hd_buf_puts(&w->out, "brx.idx ");
  put_reg(w, READ);
  hd_buf_puts(&w->out, ", ways");
  expect(w, "ways", HD_ROLE_LIST);
}

static void put_statement(writer *w) {
  put_guard(w);
  switch (draw(w, 6)) {
  case 0: put_call(w); break;
  case 1: put_branch(w); break;
  default: put_plain(w);
  }
  hd_buf_puts(&w->out, ";");
}

/* ---- Comparing ------------------------------------------------------------------------- */

typedef struct reader {
  const hd_ptx_module *m;
  const writer *w;
  const hd_ptx_stmt *s;
  unsigned n, stop_at;
} reader;

static bool compare(void *ctx, const hd_ptx_leaf *leaf) {
  reader *r = ctx;
  if (r->n >= r->w->n) fail_msg("%s: more than %u leaves", r->w->out.data, r->w->n);
  const expected *want = &r->w->leaves[r->n];
  const char *name = leaf->sym ? r->m->syms[leaf->sym].name : "";
  if (strcmp(name, want->name) != 0 || leaf->role != want->role)
    fail_msg("%s\n  leaf %u: '%s' %#x, not '%s' %#x", r->w->out.data, r->n, name, leaf->role, want->name,
             want->role);
  if (leaf->role & HD_ROLE_GUARD)
    assert_true(!leaf->opnd && leaf->index == UINT32_MAX && leaf->operand == UINT8_MAX);
  else
    assert_true(leaf->opnd == &r->m->opnds[leaf->index] && leaf->operand < r->s->n_opnds);
  return ++r->n != r->stop_at;
}

static hd_ptx_module *parse_in_kernel(hd_arena *a, const char *statement) {
  hd_buf b = {0};
  hd_buf_printf(&b,
                "proto: .callprototype _ (.param .b32 x);\nways: .branchtargets there, k_end;\n%s\nthere: "
                "k_end: ret;\n",
                statement);
  hd_ptx_module *m = parse_body(a, b.data);
  hd_buf_free(&b);
  return m;
}

/* The kernel's statements of this kind, the n-th. */
static const hd_ptx_stmt *find(const hd_ptx_module *m, hd_ptx_stmt_kind kind, unsigned n) {
  const hd_ptx_func *f = &m->funcs[hd_ptx_find_kernel(m, "k")];
  for (uint32_t i = 0; i < f->n_stmts; i++)
    if (f->stmts[i].kind == kind && n-- == 0) return &f->stmts[i];
  fail_msg("no such statement");
  return NULL;
}

static void every_leaf_is_visited_in_its_role(void **state) {
  for (uint64_t seed = 0; seed < 3000; seed++) {
    writer w = {.seed = seed};
    put_statement(&w);
    hd_arena a;
    hd_arena_init(&a);
    hd_ptx_module *m = parse_in_kernel(&a, w.out.data);
    reader r = {.m = m, .w = &w, .s = find(m, HD_S_INST, 0)};
    assert_true(hd_ptx_visit(m, r.s, compare, &r));
    if (r.n != w.n) fail_msg("%s: %u leaves, not %u", w.out.data, r.n, w.n);
    hd_buf_free(&w.out);
    hd_arena_free(&a);
  }
}

static void a_visitor_stops_where_it_says(void **state) {
  for (uint64_t seed = 0; seed < 300; seed++) {
    writer w = {.seed = seed};
    put_statement(&w);
    hd_arena a;
    hd_arena_init(&a);
    hd_ptx_module *m = parse_in_kernel(&a, w.out.data);
    for (unsigned stop = 1; stop <= w.n; stop++) {
      reader r = {.m = m, .w = &w, .s = find(m, HD_S_INST, 0), .stop_at = stop};
      assert_false(hd_ptx_visit(m, r.s, compare, &r));
      assert_int_equal(r.n, stop);
    }
    hd_buf_free(&w.out);
    hd_arena_free(&a);
  }
}

/* ---- Operands outside of instructions ----------------------------------------------------- */

typedef struct listing {
  const hd_ptx_module *m;
  hd_buf out;
} listing;

static bool list_leaf(void *ctx, const hd_ptx_leaf *leaf) {
  listing *l = ctx;
  hd_buf_printf(&l->out, "%s:%x ", leaf->sym ? l->m->syms[leaf->sym].name : "", leaf->role);
  return true;
}

static void initialisers_are_visited_through_masks_and_generic_addresses(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  /* The mask lies where other operands count their kids. */
  hd_ptx_module *m =
      parse(&a, HEADER ".global .u32 foo;\n"
                       ".global .u8 v[] = {0xFF00(foo+4), 3, 0xFFFF(generic(foo)), 0xFF(foo)};\n"
                       ".global .u64 p[2][2] = {{foo, generic(foo)+8}, {0, foo+1}};\n");
  listing l = {.m = m};
  assert_true(hd_ptx_visit_operand(m, m->vars[1].init - 1, HD_ROLE_READ, list_leaf, &l));
  assert_string_equal(l.out.data, "foo:1 :1 foo:1 foo:1 ");
  hd_buf_clear(&l.out);
  assert_true(hd_ptx_visit_operand(m, m->vars[2].init - 1, HD_ROLE_READ, list_leaf, &l));
  assert_string_equal(l.out.data, "foo:1 foo:1 :1 foo:1 ");
  hd_buf_free(&l.out);
  hd_arena_free(&a);
}

static void lists_of_targets_are_visited(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse_in_kernel(&a, "who: .calltargets callee;");
  listing l = {.m = m};
  assert_true(hd_ptx_visit(m, find(m, HD_S_TARGETS, 0), list_leaf, &l));
  assert_string_equal(l.out.data, "there:20 k_end:20 ");
  hd_buf_clear(&l.out);
  assert_true(hd_ptx_visit(m, find(m, HD_S_TARGETS, 1), list_leaf, &l));
  assert_string_equal(l.out.data, "callee:10 ");
  hd_buf_clear(&l.out);
  assert_true(hd_ptx_visit(m, find(m, HD_S_PROTO, 0), list_leaf, &l));
  assert_int_equal(l.out.len, 0);
  hd_buf_free(&l.out);
  hd_arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every leaf of random statements is visited in its role", every_leaf_is_visited_in_its_role),
      BEHAVIOUR("a visitor stops where it says", a_visitor_stops_where_it_says),
      BEHAVIOUR("initialisers are visited through masks and generic addresses",
                initialisers_are_visited_through_masks_and_generic_addresses),
      BEHAVIOUR("lists of branch and call targets are visited", lists_of_targets_are_visited),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
