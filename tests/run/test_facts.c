/* Facts of a program's kernels that are read before their launches are repeated. */
#include "check.h"

#include <string.h>

#include "run/run.h"

/* out[ctaid / 16][ctaid % 16] = in[...], by the number of tiles in a row that the launch gives. */
static const char tiles[] =
    ".version 7.8\n.target sm_70\n.address_size 64\n"
    ".visible .entry copy(.param .u64 in, .param .u64 out, .param .u32 row) {\n"
    ".reg .b32 %r<8>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [row]; mov.u32 %r2, %ctaid.x;\n"
    "div.u32 %r3, %r2, %r1; rem.u32 %r4, %r2, %r1; mad.lo.u32 %r5, %r3, 1024, %r4; mul.wide.u32 %d3, %r5, "
    "4;\n"
    "add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3; ld.global.u32 %r6, [%d4]; st.global.u32 [%d5], %r6; ret; "
    "}\n";

static void a_launch_shows_the_tiles_that_its_kernel_means(void **state) {
  (void)state;
  const run_text text = {.data = (char *)(uintptr_t)tiles, .len = sizeof tiles - 1};
  const uint32_t grid[3] = {128, 1, 1}, block[3] = {32, 1, 1};
  struct {
    uint64_t in, out;
    uint32_t row;
  } params = {1 << 20, 1 << 21, 16};
  const hd_shape s = run_tiles_of(&text, "copy", grid, block, &params, 20);
  assert_int_equal(s.kind, HD_SHAPE_GIVEN);
  assert_int_equal(s.n[0], 16);
  assert_int_equal(s.n[1], 8);
  params.row = 1;
  assert_int_equal(run_tiles_of(&text, "copy", grid, block, &params, 20).kind, HD_SHAPE_LAUNCH);
  assert_int_equal(run_tiles_of(&text, "none", grid, block, &params, 20).kind, HD_SHAPE_LAUNCH);
}

static void loads_through_a_parameter_that_is_not_written_count(void **state) {
  (void)state;
  const run_text text = {.data = (char *)(uintptr_t)tiles, .len = sizeof tiles - 1};
  run_facts f;
  hd_diag d;
  assert_int_equal(run_facts_of(&text, "copy", &f, &d), HD_OK);
  assert_int_equal(f.n_unwritten, 1);
  assert_int_equal(f.bytes, 20);
  assert_null(f.effect);
  run_facts_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_launch_shows_the_tiles_that_its_kernel_means),
                                     cmocka_unit_test(loads_through_a_parameter_that_is_not_written_count)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
