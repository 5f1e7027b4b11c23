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

static void put_arithmetic(generator *g) {
  char x[16], y[16], z[16];
  unsigned d = pick(g, VARIABLES), v = variable(g), t = g->temporaries++;
  hd_buf *b = &g->text;
  source(g, x);
  source(g, y);
  source(g, z);
  g->last = d;
  switch (pick(g, 26)) {
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
    hd_buf_printf(b,
                  "cvt.s64.s32 %%l%u, %%v%u;\nadd.s64 %%l%u, %%l%u, %u;\nshr.s64 %%l%u, %%l%u, "
                  "%u;\ncvt.u32.u64 %%v%u, %%l%u;\n",
                  t, v, t, t, pick(g, 100), t, t, pick(g, 4), d, t);
    break;
  case 21:
    hd_buf_printf(b, "mul.wide.u32 %%l%u, %%v%u, %u;\nshr.u64 %%l%u, %%l%u, %u;\ncvt.u32.u64 %%v%u, %%l%u;\n",
                  t, v, 0xAAAAAAABu, t, t, 33, d, t);
    break;
  case 22:
    hd_buf_printf(b, "mul.hi.%s32 %%v%u, %%v%u, %d;\n", pick(g, 2) ? "s" : "u", d, v, 1431655766);
    break;
  case 23:
    hd_buf_printf(b, "cvt.%s.%s32 %%v%u, %%v%u;\n", pick(g, 2) ? "s32" : "u32", pick(g, 2) ? "s" : "u", d, v);
    break;
  case 24:
    hd_buf_printf(b, "mov.b64 %%l%u, {%%v%u, %%v%u};\nmov.b64 {%%v%u, %%v%u}, %%l%u;\n", t, v,
                  pick(g, VARIABLES), d, (d + 1) % VARIABLES, t);
    break;
  default: hd_buf_printf(b, "cvt.s32.s8 %%v%u, %%v%u;\n", d, v); break;
  }
}

/* A store that the analysis is to find: at buffer + 4 * (v mod 256). */
static void put_store(generator *g) {
  unsigned t = g->temporaries++;
  hd_buf_printf(&g->text,
                "and.b32 %%w%u, %%v%u, 255;\nmul.wide.u32 %%l%u, %%w%u, 4;\nadd.s64 %%l%u, %%buffer, %%l%u;\n"
                "st.global.u32 [%%l%u], %%w%u;\n",
                t, variable(g), t, t, t, t, t, t);
  g->stores++;
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
                "%%l<%u>, %%buffer;\n",
                g->temporaries, g->temporaries, VARIABLES, g->temporaries, g->temporaries, g->temporaries);
  hd_buf_puts(&g->text, "ld.param.u64 %buffer, [buffer];\nmov.u32 %thread, %tid.x;\nmov.u32 %v0, %tid.x;\n"
                        "mov.u32 %v1, %ctaid.x;\nld.param.u32 %v2, [n];\nld.param.u32 %v3, [m];\n"
                        "mad.lo.s32 %v4, %v1, 40, %v0;\nmov.u32 %v5, %ntid.x;\nmov.u32 %v6, 7;\n"
                        "mov.u32 %v7, %laneid;\nshr.u32 %v8, %v0, 3;\nand.b32 %v9, %v0, 5;\n");
  hd_buf_put(&g->text, body.data, body.len);
  hd_buf_puts(&g->text, "ret;\n}\n");
  hd_buf_free(&body);
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
    for (uint32_t i = 0; i < a->n_sites; i++) {
      if (a->sites[i].level >= HD_LEVEL_DATA) continue;
      t->assumptions_broken = 1; /* they may well be here */
      compare_site(a, i, &rec, at, t, "random");
    }
    if (t->failures > before) fprintf(stderr, "// seed %" PRIu64 "\n%s", seed, g.text.data);
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
                  " listed, %" PRIu64 " accesses compared\n",
                  t.sites, t.affine, t.quasi, t.exact, t.compared);
  assert_int_equal(t.failures, 0);
  assert_true(t.compared > 20000);
  assert_true(t.quasi > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("addresses of random integer programs with branches and loops are those the emulator sees",
                random_programs_are_predicted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
