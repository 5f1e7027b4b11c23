/* Which accesses race: between CTAs in global memory, between warps of a CTA in shared memory. */
#include "check.h"
#include "heddle/emu.h"

#include <stdio.h>
#include <string.h>

/* %b is the CTA's number, %t the thread's, %w its warp's, %a the address of zeros, %s that of 4 KB of shared
 * memory, %bar that of an mbarrier. */
#define HEAD                                                                                                 \
  ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"                     \
  ".reg .pred %p<16>; .reg .b32 %r<32>; .reg .f32 %f<8>; .reg .b64 %d<32>; .reg .b32 %b, %t, %w, %s, %bar; " \
  ".reg .b64 %a; .shared .align 16 .b8 s[4096]; .shared .align 8 .b64 bar[4];\n"                             \
  "ld.param.u64 %a, [a]; mov.u32 %b, %ctaid.x; mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; mov.u32 %s, s; "       \
  "mov.u32 %bar, bar; mov.u32 %r0, 0;\n"
enum { FIRST_LINE = 8, BYTES = 65536 };

static hd_status launch(const char *body, uint32_t grid, uint32_t block, hd_diag *d) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu *e;
  hd_emu_program *p;
  hd_buf text = {0};
  const hd_emu_options opt = {
      .threads = 1, .memory = 1 << 22, .n_sms = 1, .checks = HD_CHECK_RACE, .max_instructions = 1 << 24};
  uint64_t a;
  memset(d, 0, sizeof *d);
  hd_buf_printf(&text, "%s%s\nret;\n}\n", HEAD, body);
  hd_arena_init(&arena);
  if (hd_ptx_parse(text.data, text.len, "race.ptx", &arena, &m, d) != HD_OK)
    fail_msg("%u: %s", d->line, d->message);
  assert_int_equal(hd_emu_create(&opt, &e, d), HD_OK);
  assert_int_equal(hd_emu_alloc(e, BYTES, &a, d), HD_OK);
  memset(hd_emu_ptr(e, a, BYTES), 0, BYTES);
  if (hd_emu_load(e, m, &p, d) != HD_OK) fail_msg("%s", d->message);
  const hd_emu_launch_params l = {
      .kernel = "k", .grid = {grid, 1, 1}, .block = {block, 1, 1}, .args = &a, .args_bytes = sizeof a};
  hd_status st =
      hd_emu_launch(p, &l, &(hd_dispatch){.kind = HD_DISPATCH_ROUND_ROBIN, .resident = 4}, NULL, NULL, d);
  hd_emu_unload(p);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
  hd_buf_free(&text);
  return st;
}

/* ---- Between CTAs ------------------------------------------------------------------------------ */

typedef struct pair {
  const char *name, *first, *second; /* what CTA 0 does, and CTA 1 after it */
  bool race;
} pair;

static const pair pairs[] = {
    {"plain store, plain load", "st.global.u32 [%a], 1;", "ld.global.u32 %r1, [%a];", true},
    {"plain load, plain store", "ld.global.u32 %r1, [%a];", "st.global.u32 [%a], 1;", true},
    {"plain load, plain load", "ld.global.u32 %r1, [%a];", "ld.global.u32 %r1, [%a];", false},
    {"plain stores of one value", "st.global.u32 [%a], 1;", "st.global.u32 [%a], 1;", false},
    {"plain stores of two values", "st.global.u32 [%a], 1;", "st.global.u32 [%a], 2;", true},
    {"volatile store, volatile load", "st.volatile.global.u32 [%a], 1;", "ld.volatile.global.u32 %r1, [%a];",
     false},
    {"volatile store, plain load", "st.volatile.global.u32 [%a], 1;", "ld.global.u32 %r1, [%a];", true},
    {"plain store, volatile load", "st.global.u32 [%a], 1;", "ld.volatile.global.u32 %r1, [%a];", true},
    {"relaxed store, acquiring load", "st.relaxed.gpu.global.u32 [%a], 1;",
     "ld.acquire.sys.global.u32 %r1, [%a];", false},
    {"relaxed load, relaxed store", "ld.relaxed.gpu.global.u32 %r1, [%a];",
     "st.release.gpu.global.u32 [%a], 1;", false},
    {"relaxed load in the CTA's scope, relaxed store", "ld.relaxed.cta.global.u32 %r1, [%a];",
     "st.relaxed.gpu.global.u32 [%a], 1;", true},
    {"atomic, relaxed load", "red.global.add.u32 [%a], 1;", "ld.relaxed.gpu.global.u32 %r1, [%a];", false},
    {"relaxed load, atomic", "ld.relaxed.gpu.global.u32 %r1, [%a];", "red.global.add.u32 [%a], 1;", false},
    {"atomic, atomic", "red.global.add.u32 [%a], 1;", "atom.global.max.u32 %r1, [%a], 4;", false},
    {"atomic of the CTA's scope, atomic", "red.relaxed.cta.global.add.u32 [%a], 1;",
     "red.global.add.u32 [%a], 1;", true},
    {"atomic, plain load", "red.global.add.u32 [%a], 1;", "ld.global.u32 %r1, [%a];", true},
    {"plain load, atomic", "ld.global.u32 %r1, [%a];", "red.global.add.u32 [%a], 1;", true},
    {"atomic, plain store", "red.global.add.u32 [%a], 1;", "st.global.u32 [%a], 5;", true},
    {"plain store, atomic", "st.global.u32 [%a], 5;", "red.global.add.u32 [%a], 1;", true},
    {"atomic, load past the caches, which is weak", "red.global.add.u32 [%a], 1;",
     "ld.global.cg.u32 %r1, [%a];", true},
    {"atomic, relaxed load of a part", "red.global.add.u64 [%a], 1;",
     "ld.relaxed.gpu.global.u32 %r1, [%a+4];", false},
    {"one's own plain store before one's atomic", "st.global.u32 [%a], 5; red.global.add.u32 [%a], 1;",
     "red.global.add.u32 [%a], 1;", true},
    /* old = *p; while (old < x && old != (was = atomicCAS(p, old, x))) old = was; */
    {"a float maximum by compare-and-swap", "mov.f32 %f2, 0f40000000;\nbra.uni GO;",
     "mov.f32 %f2, 0f3f800000;\nGO: "
     "ld.global.f32 %f1, [%a];\nmov.b32 %r1, %f1;\nmov.b32 %r2, %f2;\nL: mov.u32 %r3, %r1;\nmov.b32 %f3, "
     "%r3;\n"
     "setp.ge.f32 %p1, %f3, %f2;\n@%p1 bra END;\natom.global.cas.b32 %r1, [%a], %r3, %r2;\n"
     "setp.ne.u32 %p2, %r1, %r3;\n@%p2 bra L;\nEND:",
     false},
};

static void races_between_ctas_follow_moral_strength(void **state) {
  for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
    char body[2048];
    hd_diag d;
    snprintf(body, sizeof body, "setp.ne.u32 %%p9, %%b, 0;\n@%%p9 bra SECOND;\n%s\nret;\nSECOND: %s",
             pairs[k].first, pairs[k].second);
    hd_status st = launch(body, 2, 1, &d);
    if (st != HD_OK && st != HD_ERR_FAULT) fail_msg("%s: %s", pairs[k].name, d.message);
    if ((st == HD_ERR_FAULT) != pairs[k].race)
      fail_msg("%s: %s", pairs[k].name, st == HD_OK ? "no race" : d.message);
    if (pairs[k].race && !strstr(d.message, "race between CTAs"))
      fail_msg("%s: %s", pairs[k].name, d.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(races_between_ctas_follow_moral_strength),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
