/* The cache operators, priorities and policies of an access, as hooks see them. */
#include "heddle/emu.h"
#include "kit.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

typedef struct heard {
  hd_access access[MOST];
  uint64_t first[MOST]; /* address of the first active lane */
  unsigned n;
} heard;

static void listen(void *ctx, unsigned worker, const hd_access *a) {
  heard *h = ctx;
  assert_in_range(h->n, 0, MOST - 1);
  h->first[h->n] = a->addr[__builtin_ctz(a->mask)];
  h->access[h->n++] = *a;
}

/* One warp runs `body`, with %rd1 the address of its lane's 256 bytes and %r1 its lane. */
static void run(const char *body, heard *h, uint64_t *base) {
  char text[4096];
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu *e;
  hd_emu_program *p;
  hd_diag d = {0};
  snprintf(text, sizeof text,
           ".version 7.8\n.target sm_80\n.address_size 64\n"
           ".func helper(.param .b64 at)\n{\n.reg .b32 %%r<2>;\n.reg .b64 %%rd<2>;\n"
           "ld.param.u64 %%rd1, [at];\nld.global.u32 %%r1, [%%rd1];\nst.global.u32 [%%rd1], %%r1;\nret;\n}\n"
           ".visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<9>;\n.reg .b32 %%r<9>;\n.reg .b64 %%rd<9>;\n"
           "ld.param.u64 %%rd1, [p];\nmov.u32 %%r1, %%laneid;\nmul.wide.u32 %%rd2, %%r1, 256;\n"
           "add.s64 %%rd1, %%rd1, %%rd2;\n%s\nret;\n}\n",
           body);
  hd_arena_init(&arena);
  CHECK_OK(hd_ptx_parse(text, strlen(text), "test", &arena, &m, &d), &d);
  CHECK_OK(hd_emu_create(&(hd_emu_options){.threads = 1}, &e, &d), &d);
  CHECK_OK(hd_emu_load(e, m, &p, &d), &d);
  CHECK_OK(hd_emu_alloc(e, 32 * 256, base, &d), &d);
  hd_emu_hooks hooks = {.ctx = h, .spaces = 1 << HD_SPACE_GLOBAL, .access = listen};
  hd_emu_launch_params l = {
      .kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = base, .args_bytes = sizeof *base};
  *h = (heard){0};
  CHECK_OK(hd_emu_launch(p, &l, NULL, &hooks, NULL, &d), &d);
  hd_emu_unload(p);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
}

static void every_word_has_its_way_and_priority(void **state) {
  static const struct {
    const char *inst;
    unsigned cache;
  } cases[] = {
      {"ld.global.u32 %r2, [%rd1];", HD_CACHE_L1},
      {"ld.global.ca.u32 %r2, [%rd1];", HD_CACHE_L1},
      {"ld.global.cg.u32 %r2, [%rd1];", 0},
      {"ld.global.cs.u32 %r2, [%rd1];", HD_CACHE_L1 | HD_CACHE_STREAM},
      {"ld.global.lu.u32 %r2, [%rd1];", HD_CACHE_L1 | HD_CACHE_STREAM},
      {"ld.global.nc.u32 %r2, [%rd1];", HD_CACHE_L1 | HD_CACHE_READONLY},
      {"ld.global.nc.L1::no_allocate.u32 %r2, [%rd1];", HD_CACHE_L1_UNCHANGED},
      {"ld.global.L1::no_allocate.u32 %r2, [%rd1];", HD_CACHE_L1_UNCHANGED},
      {"ld.global.L1::evict_first.u32 %r2, [%rd1];", HD_CACHE_L1 | HD_CACHE_L1_FIRST},
      {"ld.global.L1::evict_last.u32 %r2, [%rd1];", HD_CACHE_L1 | HD_CACHE_L1_LAST},
      {"ld.global.L1::evict_unchanged.u32 %r2, [%rd1];", HD_CACHE_L1 | HD_CACHE_L1_UNCHANGED},
      {"ld.volatile.global.u32 %r2, [%rd1];", 0},
      {"st.global.cs.u32 [%rd1], %r1;", HD_CACHE_L1 | HD_CACHE_STREAM},
      {"st.global.u32 [%rd1], %r1;", HD_CACHE_L1},
      {"prefetch.global.L2::evict_last [%rd1];", HD_CACHE_L2_LAST},
      {"createpolicy.fractional.L2::evict_first.b64 %rd3;\nld.global.L2::cache_hint.u32 %r2, [%rd1], %rd3;",
       HD_CACHE_L1 | HD_CACHE_L2_FIRST},
      {"createpolicy.fractional.L2::evict_last.b64 %rd3, 1.0;\n"
       "ld.global.L1::no_allocate.L2::cache_hint.v2.u32 {%r2, %r3}, [%rd1], %rd3;",
       HD_CACHE_L1_UNCHANGED | HD_CACHE_L2_LAST},
      {"createpolicy.fractional.L2::evict_unchanged.b64 %rd3;\n"
       "st.global.L2::cache_hint.u32 [%rd1], %r1, %rd3;",
       HD_CACHE_L1 | HD_CACHE_L2_UNCHANGED},
      {"createpolicy.fractional.L2::evict_normal.b64 %rd3;\nld.global.L2::cache_hint.u32 %r2, [%rd1], %rd3;",
       HD_CACHE_L1},
      {"createpolicy.fractional.L2::evict_first.b64 %rd3;\nred.global.L2::cache_hint.add.u32 [%rd1], 1, "
       "%rd3;",
       HD_CACHE_L2_FIRST},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heard h;
    uint64_t base;
    run(cases[i].inst, &h, &base);
    assert_int_equal(h.n, 1);
    if (h.access[0].cache != cases[i].cache)
      fail_msg("%s: cache bits %u, not %u", cases[i].inst, h.access[0].cache, cases[i].cache);
    assert_int_equal(h.access[0].mask, UINT32_MAX);
    assert_false(h.access[0].called);
  }
}

static void lanes_with_different_policies_come_apart(void **state) {
  heard h;
  uint64_t base;
  run("createpolicy.fractional.L2::evict_first.b64 %rd3;\nsetp.lt.u32 %p1, %r1, 8;\n"
      "@%p1 createpolicy.fractional.L2::evict_last.b64 %rd3;\n"
      "setp.lt.u32 %p2, %r1, 24;\n@%p2 ld.global.L2::cache_hint.u32 %r2, [%rd1], %rd3;",
      &h, &base);
  assert_int_equal(h.n, 2);
  assert_int_equal(h.access[0].cache, HD_CACHE_L1 | HD_CACHE_L2_LAST);
  assert_int_equal(h.access[0].mask, 0xff);
  assert_int_equal(h.access[1].cache, HD_CACHE_L1 | HD_CACHE_L2_FIRST);
  assert_int_equal(h.access[1].mask, 0xffff00);
  assert_int_equal(h.first[1], base + 8 * 256);
}

/* Which lines get the first priority, of 32 that are accessed twice. */
static uint32_t first_lines(const char *share, unsigned second) {
  char body[512];
  heard h;
  uint64_t base;
  snprintf(body, sizeof body,
           "createpolicy.fractional.L2::evict_last%s.b64 %%rd3, %s;\n"
           "ld.global.L2::cache_hint.u32 %%r2, [%%rd1], %%rd3;\n"
           "ld.global.L2::cache_hint.u32 %%r2, [%%rd1+64], %%rd3;",
           second == HD_CACHE_L2_FIRST ? ".L2::evict_first" : "", share);
  run(body, &h, &base);
  uint32_t first[2] = {0}, other[2] = {0};
  for (unsigned i = 0; i < h.n; i++) {
    unsigned pass = h.access[i].inst > h.access[0].inst, priority = h.access[i].cache & HD_CACHE_L2_PRIORITY;
    if (priority == HD_CACHE_L2_LAST)
      first[pass] |= h.access[i].mask;
    else if (priority == second)
      other[pass] |= h.access[i].mask;
  }
  assert_int_equal(first[0], first[1]);
  assert_int_equal(first[0] ^ other[0], UINT32_MAX);
  assert_int_equal(first[0] & other[0], 0);
  return first[0];
}

static void a_fraction_is_one_of_lines(void **state) {
  assert_int_equal(first_lines("1.0", HD_CACHE_L2_FIRST), UINT32_MAX);
  uint32_t half = first_lines("0.5", HD_CACHE_L2_FIRST), tenth = first_lines("0.125", HD_CACHE_L2_UNCHANGED);
  assert_in_range(__builtin_popcount(half), 6, 26);
  assert_in_range(__builtin_popcount(tenth), 0, 12);
  assert_int_equal(tenth & ~half,
                   0); /* a line that gets it for a smaller fraction gets it for a larger one */
}

static void a_prefetch_of_nothing_is_nothing(void **state) {
  heard h;
  uint64_t base;
  run("prefetch.global.L2 [%rd1+4096];\nprefetch.global.L1 [%rd1+1048576];\nmov.u64 %rd4, "
      "0x7fff12345678;\nprefetch.global.L2 [%rd4];\nprefetch.global.L2 [%rd1-256];",
      &h, &base);
  assert_int_equal(h.n, 2);
  assert_int_equal(h.access[0].mask, 0xffff);
  assert_int_equal(h.access[1].mask, 0xfffffffe);
  assert_int_equal(h.first[1], base);
}

static void accesses_of_called_functions_are_marked(void **state) {
  heard h;
  uint64_t base;
  run("st.global.u32 [%rd1], %r1;\n{\n.param .b64 at;\nst.param.b64 [at], %rd1;\ncall.uni helper, (at);\n}\n"
      "ld.global.u32 %r2, [%rd1];",
      &h, &base);
  assert_int_equal(h.n, 4);
  for (unsigned i = 0; i < 4; i++) assert_int_equal(h.access[i].called, i == 1 || i == 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every operator, priority and policy is reported as the PTX ISA describes it",
                every_word_has_its_way_and_priority),
      BEHAVIOUR("lanes with different policies are reported apart", lanes_with_different_policies_come_apart),
      BEHAVIOUR("a policy's fraction is one of lines, whoever accesses them", a_fraction_is_one_of_lines),
      BEHAVIOUR("a prefetch of what is not allocated is lost", a_prefetch_of_nothing_is_nothing),
      BEHAVIOUR("accesses of called functions are told from the kernel's own",
                accesses_of_called_functions_are_marked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
