/* The work of matrix products, by the PTX ISA's shapes and types. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "model/code.h"

static uint32_t work_of(const char *instruction, unsigned op, uint8_t *unit) {
  char text[1024];
  hd_arena arena;
  hd_ptx_module *m;
  hd_diag d = {0};
  model_code code;
  uint32_t work = 0;
  snprintf(text, sizeof text,
           ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b64 %%d<4>;\n"
           ".reg .b32 %%r<8>;\n.reg .f32 %%f<8>;\n%s;\nret;\n}\n",
           instruction);
  hd_arena_init(&arena);
  if (hd_ptx_parse(text, strlen(text), "k", &arena, &m, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(model_code_make(m, &code, &d), HD_OK);
  for (uint32_t i = 0; i < code.funcs[0].n; i++) {
    const model_inst *in = &code.funcs[0].insts[i];
    if (in->stmt >= m->funcs[0].n_stmts || m->forms[m->funcs[0].stmts[in->stmt].form].op != op) continue;
    work = in->work;
    *unit = in->unit;
  }
  model_code_free(&code);
  hd_arena_free(&arena);
  return work;
}

/* A warp makes all of an mma, and a quarter of what its warpgroup makes by a wgmma. */
static void a_warp_makes_its_part_of_a_product(void **state) {
  static const struct {
    const char *instruction;
    unsigned op;
    uint32_t work;
    uint8_t unit;
  } cases[] = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
       "{%f0,%f1,%f2,%f3}",
       HD_OP_MMA, 16 * 8 * 16, UNIT_MMA},
      {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
       "{%r0,%r1,%r2,%r3}",
       HD_OP_MMA, 16 * 8 * 32 / 2, UNIT_MMA},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0,%f1,%f2,%f3}, %d0, %d1, 1, 1, 1, 0, 1",
       HD_OP_WGMMA, 64 * 8 * 16 / 4, UNIT_TENSOR},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t unit = 0;
    assert_int_equal(work_of(cases[i].instruction, cases[i].op, &unit), cases[i].work);
    assert_int_equal(unit, cases[i].unit);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_warp_makes_its_part_of_a_product)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
