/* Memory that runs out in cfg/. */
#include "nomem.h"

#include "heddle/cfg.h"

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.func (.reg .b32 r) f(.reg .b32 a)\n{\nadd.u32 r, a, "
    "1;\nret;\n}\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\nmov.u32 %r1, %tid.x;\n"
    "mov.u32 %r2, 0;\nL:\ncall (%r3), f, (%r2);\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bra M;\nadd.u32 %r2, %r2, "
    "2;\nM:\n"
    "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 4;\n@%p2 bra L;\nbar.sync 0;\nret;\n}\n";

/* Whatever an arena holds is left by its escape. */
static hd_status graph(void *ctx, hd_diag *d) {
  static const uint32_t block[3] = {64, 1, 1};
  jmp_buf out_of_memory;
  hd_arena arena;
  hd_ptx_module *m;
  hd_cfg g;
  hd_writers writers;
  hd_liveness live;
  hd_uniformity same;
  hd_buf dot = {0};
  hd_arena_init(&arena);
  hd_status st = hd_ptx_parse(text, sizeof text - 1, "test", &arena, &m, d);
  if (st == HD_OK) {
    arena.escape = &out_of_memory;
    if (setjmp(out_of_memory)) {
      hd_arena_free(&arena);
      return hd_nomem(d);
    }
    st = hd_cfg_build(m, (uint32_t)hd_ptx_find_kernel(m, "k"), 0, &arena, &g, d);
  }
  if (st == HD_OK) {
    hd_writers_find(&g, &arena, &writers);
    (void)hd_liveness_find(&g, 1 << 20, &arena, &live);
    hd_uniformity_find(&g, block, &arena, &same);
    hd_cfg_dot(&g, m, &dot);
    if (dot.failed) st = hd_nomem(d);
    hd_buf_free(&dot);
  }
  hd_arena_free(&arena);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  nomem_expect(&(nomem_entry){"graph", graph, NULL, false});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
