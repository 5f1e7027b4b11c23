/* Random integer programs: the addresses that the analysis predicts, against the emulator's. */
#include "compare.h"

/* ---- Programs ------------------------------------------------------------------------------- */

enum { VARIABLES = 10, GRID = 3, BLOCK = 40, PROGRAMS = 4000 };

typedef struct generator {
  uint64_t seed, n;
  hd_buf text;
  unsigned labels, temporaries, stores;
  unsigned last; /* variable assigned last: chains of operations find more than single ones */
} generator;

static uint32_t pick(generator *g, uint32_t n) { return (uint32_t)(hd_random_at(g->seed, g->n++) >> 33) % n; }

static unsigned variable(generator *g) { return pick(g, 2) ? g->last : pick(g, VARIABLES); }

/* A variable or, now and then, a constant. */
static const char *source(generator *g, char out[16]) {
  static const int constants[] = {0, 1, 2, 3, 5, 7, 8, 12, 31, 32, 64, 100, 255, -1, -2, -5, -32, 1000003};
  if (pick(g, 4))
    snprintf(out, 16, "%%v%u", variable(g));
  else
    snprintf(out, 16, "%d", constants[pick(g, sizeof constants / sizeof *constants)]);
  return out;
}

/* Of 64 bits, of halves, of floats, and counts of bits: %vD from %vV. */
static void put_wide(generator *g, unsigned d, unsigned v) {
  unsigned t = g->temporaries++;
  hd_buf *b = &g->text;
  switch (pick(g, 8)) {
  case 0:
    hd_buf_printf(b,
                  "cvt.s64.s32 %%l%u, %%v%u;\nadd.s64 %%l%u, %%l%u, %u;\nshr.s64 %%l%u, %%l%u, "
                  "%u;\ncvt.u32.u64 %%v%u, %%l%u;\n",
                  t, v, t, t, pick(g, 100), t, t, pick(g, 4), d, t);
    break;
  case 1:
    hd_buf_printf(b, "mul.wide.u32 %%l%u, %%v%u, %u;\nshr.u64 %%l%u, %%l%u, %u;\ncvt.u32.u64 %%v%u, %%l%u;\n",
                  t, v, 0xAAAAAAABu, t, t, 33, d, t);
    break;
  case 2:
    hd_buf_printf(b, "mul.hi.%s32 %%v%u, %%v%u, %d;\n", pick(g, 2) ? "s" : "u", d, v, 1431655766);
    break;
  case 3:
    hd_buf_printf(b, "cvt.%s.%s32 %%v%u, %%v%u;\n", pick(g, 2) ? "s32" : "u32", pick(g, 2) ? "s" : "u", d, v);
    break;
  case 4:
    hd_buf_printf(b, "mov.b64 %%l%u, {%%v%u, %%v%u};\nmov.b64 {%%v%u, %%v%u}, %%l%u;\n", t, v,
                  pick(g, VARIABLES), d, (d + 1) % VARIABLES, t);
    break;
  case 5: { /* division of 64 bits by a number: by 3, 5, 6, 10, 25, 1000 and, signed, by 7 */
    static const struct {
      const char *sign;
      uint64_t m;
      unsigned shift;
    } by[] = {{"u", 0xAAAAAAAAAAAAAAABu, 1}, {"u", 0xCCCCCCCCCCCCCCCDu, 2}, {"u", 0xAAAAAAAAAAAAAAABu, 2},
              {"u", 0xCCCCCCCCCCCCCCCDu, 3}, {"u", 0x47AE147AE147AE15u, 3}, {"u", 0x20C49BA5E353F7CFu, 4},
              {"s", 0x4924924924924925u, 1}, {"s", 0xAAAAAAAAAAAAAAABu, 0}};
    unsigned k = pick(g, sizeof by / sizeof *by);
    hd_buf_printf(b, "cvt.u64.u32 %%l%u, %%v%u;\nmul.hi.%s64 %%l%u, %%l%u, %" PRId64 ";\n", t, v, by[k].sign,
                  t, t, (int64_t)by[k].m);
    hd_buf_printf(b, "shr.%s64 %%l%u, %%l%u, %u;\ncvt.u32.u64 %%v%u, %%l%u;\n", by[k].sign, t, t, by[k].shift,
                  d, t);
    break;
  }
  case 6: /* a root */
    hd_buf_printf(b,
                  "cvt.rn.f32.s32 %%f%u, %%v%u;\nabs.f32 %%f%u, %%f%u;\nsqrt.rn.f32 %%f%u, %%f%u;\n"
                  "cvt.rzi.s32.f32 %%v%u, %%f%u;\n",
                  t, v, t, t, t, t, d, t);
    break;
  default: hd_buf_printf(b, "popc.b32 %%v%u, %%v%u;\n", d, pick(g, 2) ? v : 1); break;
  }
}

static void put_arithmetic(generator *g) {
  char x[16], y[16], z[16];
  unsigned d = pick(g, VARIABLES), v = variable(g), t = g->temporaries++;
  hd_buf *b = &g->text;
  source(g, x);
  source(g, y);
  source(g, z);
  g->last = d;
  switch (pick(g, 24)) {
  case 0: hd_buf_printf(b, "add.s32 %%v%u, %%v%u, %s;\n", d, v, y); break;
  case 1: hd_buf_printf(b, "sub.s32 %%v%u, %%v%u, %s;\n", d, v, y); break;
  case 2: hd_buf_printf(b, "mul.lo.s32 %%v%u, %%v%u, %d;\n", d, v, (int)pick(g, 9) - 3); break;
  case 3: hd_buf_printf(b, "mad.lo.s32 %%v%u, %%v%u, %d, %s;\n", d, v, (int)pick(g, 7), z); break;
  case 4: hd_buf_printf(b, "shl.b32 %%v%u, %%v%u, %u;\n", d, v, pick(g, 6)); break;
  case 5: hd_buf_printf(b, "shr.u32 %%v%u, %%v%u, %u;\n", d, v, pick(g, 8)); break;
  case 6: hd_buf_printf(b, "shr.s32 %%v%u, %%v%u, %u;\n", d, v, pick(g, 2) ? 31 : pick(g, 9)); break;
  case 7:
    hd_buf_printf(b, "and.b32 %%v%u, %%v%u, %d;\n", d, v,
                  pick(g, 2) ? (1 << pick(g, 8)) - 1 : (int)(pick(g, 256) << pick(g, 3)));
    break;
  case 8: hd_buf_printf(b, "or.b32 %%v%u, %%v%u, %s;\n", d, v, y); break;
  case 9: hd_buf_printf(b, "xor.b32 %%v%u, %%v%u, %s;\n", d, v, y); break;
  case 10: hd_buf_printf(b, "not.b32 %%v%u, %%v%u;\n", d, v); break;
  case 11: hd_buf_printf(b, "neg.s32 %%v%u, %%v%u;\n", d, v); break;
  case 12: hd_buf_printf(b, "%s.s32 %%v%u, %%v%u, %s;\n", pick(g, 2) ? "min" : "max", d, v, y); break;
  case 13: hd_buf_printf(b, "abs.s32 %%v%u, %%v%u;\n", d, v); break;
  case 14:
    hd_buf_printf(b, "%s.%s32 %%v%u, %%v%u, %u;\n", pick(g, 2) ? "div" : "rem", pick(g, 2) ? "s" : "u", d, v,
                  1 + pick(g, 20));
    break;
  case 15:
    hd_buf_printf(b, "bfe.%s32 %%v%u, %%v%u, %u, %u;\n", pick(g, 2) ? "s" : "u", d, v, pick(g, 8),
                  1 + pick(g, 8));
    break;
  case 16:
    hd_buf_printf(b, "bfi.b32 %%v%u, %%v%u, %s, %u, %u;\n", d, v, y, pick(g, 6), 1 + pick(g, 6));
    break;
  case 17: {
    static const unsigned tables[] = {0x80, 0xEA, 0xF8, 0x96, 0x78, 0xFE, 0xC0,
                                      0x3C, 0x28, 0xA8, 0x6C, 0x5A, 0x1D};
    hd_buf_printf(b, "lop3.b32 %%v%u, %%v%u, %s, %s, %u;\n", d, v, y, z,
                  tables[pick(g, sizeof tables / sizeof *tables)]);
    break;
  }
  case 18:
    hd_buf_printf(b, "setp.%s.s32 %%p%u, %%v%u, %s;\nselp.b32 %%v%u, %s, %s, %%p%u;\n",
                  pick(g, 2) ? "lt" : "ne", t, v, y, d, x, z, t);
    break;
  case 19:
    hd_buf_printf(b, "setp.%s.u32 %%p%u, %%v%u, %s;\n@%s%%p%u mov.u32 %%v%u, %s;\n", pick(g, 2) ? "ge" : "eq",
                  t, v, y, pick(g, 2) ? "!" : "", t, d, x);
    break;
  case 20:
  case 21:
  case 22: put_wide(g, d, v); break;
  default: hd_buf_printf(b, "cvt.s32.s8 %%v%u, %%v%u;\n", d, v); break;
  }
}

/* A store that the analysis is to find: at buffer + 4 * (v mod 256), or at a thread's place in a row of 64,
 * behind a start that is a number of the CTA's where v is. */
static void put_store(generator *g) {
  unsigned t = g->temporaries++;
  g->stores++;
  if (!pick(g, 3)) {
    hd_buf_printf(
        &g->text,
        "and.b32 %%w%u, %%v%u, 3;\nmad.lo.s32 %%w%u, %%w%u, 64, %%thread;\n"
        "mul.wide.u32 %%l%u, %%w%u, 4;\nadd.s64 %%l%u, %%buffer, %%l%u;\nst.global.u32 [%%l%u], %%w%u;\n",
        t, variable(g), t, t, t, t, t, t, t, t);
    return;
  }
  hd_buf_printf(&g->text,
                "and.b32 %%w%u, %%v%u, 255;\nmul.wide.u32 %%l%u, %%w%u, 4;\nadd.s64 %%l%u, %%buffer, %%l%u;\n"
                "st.global.u32 [%%l%u], %%w%u;\n",
                t, variable(g), t, t, t, t, t, t);
}

static void put_body(generator *g, unsigned depth);

static void put_branch(generator *g, unsigned depth) {
  unsigned label = g->labels++, t = g->temporaries++;
  bool both = pick(g, 2);
  hd_buf_printf(&g->text, "setp.%s.s32 %%p%u, %%v%u, %d;\n@%%p%u bra L%u_else;\n", pick(g, 2) ? "gt" : "eq",
                t, pick(g, VARIABLES), (int)pick(g, 40) - 4, t, label);
  put_body(g, depth + 1);
  if (both) hd_buf_printf(&g->text, "bra.uni L%u_end;\n", label);
  hd_buf_printf(&g->text, "L%u_else:\n", label);
  if (both) {
    put_body(g, depth + 1);
    hd_buf_printf(&g->text, "L%u_end:\n", label);
  }
}

/* Counted loops, tested in front or behind; some are left in the middle. */
static void put_loop(generator *g, unsigned depth) {
  unsigned label = g->labels++, t = g->temporaries++, step = 1 + pick(g, 3), limit = 1 + pick(g, 6);
  bool in_front = pick(g, 2), early = !pick(g, 4), by_thread = pick(g, 2);
  hd_buf *b = &g->text;
  hd_buf_printf(b, "mov.u32 %%w%u, 0;\n", t);
  if (by_thread)
    hd_buf_printf(b, "and.b32 %%m%u, %%thread, %u;\n", t, limit);
  else
    hd_buf_printf(b, "mov.u32 %%m%u, %u;\n", t, limit);
  hd_buf_printf(b, "L%u:\n", label);
  if (in_front)
    hd_buf_printf(b, "setp.ge.s32 %%p%u, %%w%u, %%m%u;\n@%%p%u bra L%u_end;\n", t, t, t, t, label);
  put_body(g, depth + 1);
  if (early)
    hd_buf_printf(b, "setp.eq.s32 %%q%u, %%w%u, %%v%u;\n@%%q%u bra L%u_end;\n", t, t, pick(g, VARIABLES), t,
                  label);
  if (pick(g, 2)) hd_buf_printf(b, "add.s32 %%v%u, %%v%u, %u;\n", 0, 0, pick(g, 5));
  hd_buf_printf(b, "add.s32 %%w%u, %%w%u, %u;\n", t, t, step);
  if (in_front)
    hd_buf_printf(b, "bra.uni L%u;\n", label);
  else
    hd_buf_printf(b, "setp.lt.s32 %%p%u, %%w%u, %%m%u;\n@%%p%u bra L%u;\n", t, t, t, t, label);
  hd_buf_printf(b, "L%u_end:\n", label);
  hd_buf_printf(b, "add.s32 %%v%u, %%v%u, %%w%u;\n", 1, 1, t);
}

static void put_body(generator *g, unsigned depth) {
  unsigned n = 1 + pick(g, depth ? 4 : 12);
  for (unsigned i = 0; i < n; i++) {
    unsigned what = pick(g, 12);
    if (what == 0 && depth < 3)
      put_branch(g, depth);
    else if (what == 1 && depth < 3)
      put_loop(g, depth);
    else if (what == 2)
      put_store(g);
    else
      put_arithmetic(g);
  }
}

static void put_program(generator *g) {
  hd_buf body = {0};
  put_body(g, 0);
  put_store(g);
  body = g->text;
  memset(&g->text, 0, sizeof g->text);
  hd_buf_printf(&g->text,
                ".version 8.0\n.target sm_80\n.address_size 64\n"
                ".visible .entry k(.param .u64 buffer, .param .u32 n, .param .u32 m)\n{\n"
                ".reg .pred %%p<%u>, %%q<%u>;\n.reg .b32 %%v<%u>, %%w<%u>, %%m<%u>, %%thread;\n.reg .b64 "
                "%%l<%u>, %%buffer;\n.reg .f32 %%f<%u>;\n",
                g->temporaries, g->temporaries, VARIABLES, g->temporaries, g->temporaries, g->temporaries,
                g->temporaries);
  hd_buf_puts(&g->text, "ld.param.u64 %buffer, [buffer];\nmov.u32 %thread, %tid.x;\nmov.u32 %v0, %tid.x;\n"
                        "mov.u32 %v1, %ctaid.x;\nld.param.u32 %v2, [n];\nld.param.u32 %v3, [m];\n"
                        "mad.lo.s32 %v4, %v1, 40, %v0;\nmov.u32 %v5, %ntid.x;\nmov.u32 %v6, 7;\n"
                        "mov.u32 %v7, %laneid;\nshr.u32 %v8, %v0, 3;\nand.b32 %v9, %v0, 5;\n");
  hd_buf_put(&g->text, body.data, body.len);
  hd_buf_puts(&g->text, "ret;\n}\n");
  hd_buf_free(&body);
}

/* ---- Starts of CTAs ----------------------------------------------------------------------------------- */

static bool is_of_cta(const hd_value_symbol *s) { return s->varies && !(s->varies & 7) && !s->iterates; }

/* The terms of an address that are not the CTA's alone; false: some cannot be evaluated. */
static bool within_cta(const hd_analysis *a, hd_poly address, const hd_point *at, int64_t *out) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < a->polys[address].n; i++) {
    const hd_term *term = &a->terms[a->polys[address].first + i];
    const hd_product *prod = &a->products[term->product];
    uint64_t v = (uint64_t)term->coefficient;
    bool of_cta = false;
    for (uint32_t k = 0; k < prod->n; k++) of_cta |= is_of_cta(&a->symbols[a->factors[prod->first + k]]);
    for (uint32_t k = 0; k < prod->n && !of_cta; k++) {
      int64_t f;
      if (!hd_symbol_eval(a, a->factors[prod->first + k], at, &f)) return false;
      v *= (uint64_t)f;
    }
    sum += of_cta ? 0 : v;
  }
  *out = (int64_t)sum;
  return true;
}

/* An address less what its formula says of the thread is one number for all threads of a CTA. Sites in loops
 * are left out, since the recorded accesses do not say their round. */
static void compare_starts(const hd_analysis *a, uint32_t site, const recorder *r, hd_point at, tally *t) {
  const hd_site *s = &a->sites[site];
  const hd_inst *inst = &a->cfg.insts[s->inst];
  uint64_t cta = UINT64_MAX, start = 0;
  if (a->cfg.blocks[inst->block].loop != HD_NONE) return;
  for (size_t i = 0; i < r->events.n; i++) {
    const event *e = &r->events.data[i];
    int64_t own;
    if (e->stmt != inst->stmt || e->line != s->line) continue;
    set_thread(&at, e->thread);
    if (assumptions_hold(a, s, &at) == 0 || !within_cta(a, s->address, &at, &own)) continue;
    bool first = cta != e->thread / r->threads;
    if (first) start = e->address - (uint64_t)own;
    cta = e->thread / r->threads;
    if (e->address - (uint64_t)own != start && t->failures++ < 5)
      complain(a, s, "random", e, "a thread starts elsewhere than its CTA");
    t->starts += !first;
  }
}

/* ---- Running --------------------------------------------------------------------------------------- */

static void compare_program(uint64_t seed, tally *t) {
  generator g = {.seed = seed};
  put_program(&g);
  hd_arena arena;
  hd_arena_init(&arena);
  hd_ptx_module *m;
  hd_diag d;
  hd_emu *e;
  hd_emu_program *p;
  uint64_t buffer;
  char line[2048];
  if (hd_ptx_parse(g.text.data, g.text.len, "random", &arena, &m, &d) != HD_OK) {
    print_message("%s\n%s", hd_diag_line(&d, line, sizeof line), g.text.data);
    fail();
  }
  hd_emu_options o = {.threads = 1, .memory = 1 << 20};
  assert_int_equal(hd_emu_create(&o, &e, &d), HD_OK);
  assert_int_equal(hd_emu_load(e, m, &p, &d), HD_OK);
  assert_int_equal(hd_emu_alloc(e, 1024, &buffer, &d), HD_OK);
  char args[16];
  uint32_t n = 1 + (uint32_t)(seed % 37), count = (uint32_t)(seed % 5);
  memcpy(args, &buffer, 8);
  memcpy(args + 8, &n, 4);
  memcpy(args + 12, &count, 4);
  recorder rec = {.threads = BLOCK};
  hd_emu_hooks hooks = {.ctx = &rec, .spaces = 1u << HD_SPACE_GLOBAL, .access = record};
  hd_emu_launch_params l = {
      .kernel = "k", .grid = {GRID, 1, 1}, .block = {BLOCK, 1, 1}, .args = args, .args_bytes = sizeof args};
  hd_dispatch how = {.kind = HD_DISPATCH_SERIAL};
  hd_emu_stats stats;
  assert_int_equal(hd_emu_launch(p, &l, &how, &hooks, &stats, &d), HD_OK);
  qsort(rec.events.data, rec.events.n, sizeof *rec.events.data, by_site);
  for (int known = 0; known < 2; known++) {
    hd_analyze_options opt = {0};
    if (known) memcpy(opt.block, l.block, sizeof opt.block);
    hd_analysis *a;
    assert_int_equal(hd_analyze(m, 0, &opt, &a, &d), HD_OK);
    assert_int_equal(a->n_sites, g.stores);
    hd_point at = {.args = args, .args_bytes = sizeof args};
    memcpy(at.grid, l.grid, sizeof at.grid);
    memcpy(at.block, l.block, sizeof at.block);
    uint64_t before = t->failures;
    hd_launch_class *classes = calloc((size_t)a->n_sites + 1, sizeof *classes);
    assert_non_null(classes);
    assert_int_equal(hd_classes_at_launch(a, classes, &d), HD_OK);
    for (uint32_t i = 0; i < a->n_sites; i++) {
      if (a->sites[i].level >= HD_LEVEL_DATA) continue;
      t->assumptions_broken = 1; /* they may well be here */
      compare_site(a, i, &rec, at, t, "random");
      if (classes[i].start == HD_START_COMPUTED) compare_starts(a, i, &rec, at, t);
    }
    if (t->failures > before) fprintf(stderr, "// seed %" PRIu64 "\n%s", seed, g.text.data);
    free(classes);
    hd_analysis_free(a);
    if (t->failures > before) break;
  }
  hd_vec_free(&rec.events);
  hd_emu_unload(p);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
  hd_buf_free(&g.text);
}

static void random_programs_are_predicted(void **state) {
  tally t = {0};
  for (uint64_t seed = 1; seed <= PROGRAMS && !t.failures; seed++) compare_program(seed, &t);
  if (getenv("HEDDLE_TEST_VERBOSE"))
    print_message("%" PRIu64 " sites, %" PRIu64 " affine, %" PRIu64 " quasi-affine, %" PRIu64
                  " listed, %" PRIu64 " accesses compared, %" PRIu64 " with their CTA's start\n",
                  t.sites, t.affine, t.quasi, t.exact, t.compared, t.starts);
  assert_int_equal(t.failures, 0);
  assert_true(t.compared > 20000);
  assert_true(t.quasi > 100);
  assert_true(t.starts > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("addresses of random integer programs with branches and loops are those the emulator sees",
                random_programs_are_predicted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
