/* The cost of orders for a kernel that divides the CTA's number itself, against one with a plane for a grid.
 */
#include "check.h"

#include <inttypes.h>
#include <string.h>

#include "heddle/rewrite.h"

/* Both store their coordinates; the second finds them by a division. */
#define HEAD                                                                                                 \
  ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n)\n{\n"    \
  ".reg .b32 %r<8>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [out];\nld.param.u32 %r4, [n];\n"
#define TAIL "st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r2;\nret;\n}\n"
static const char plane[] = HEAD "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\n" TAIL;
static const char line[] =
    HEAD "mov.u32 %r3, %ctaid.x;\ndiv.u32 %r2, %r3, %r4;\nrem.u32 %r1, %r3, %r4;\n" TAIL;

static uint64_t instructions(const hd_ptx_module *m) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < m->funcs[0].n_stmts; i++) n += m->funcs[0].stmts[i].kind == HD_S_INST;
  return n;
}

/* Instructions that the plan adds to the text. */
static int64_t added(const char *kernel, const char *plan, uint32_t x, uint32_t y) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_plan p;
  hd_diag d = {0};
  const hd_rewrite_options o = {.grid = {.known = true, .g = {x, y, 1}, .n_sms = 132}};
  hd_arena_init(&arena);
  if (hd_ptx_parse(kernel, strlen(kernel), "cost", &arena, &m, &d) != HD_OK) fail_msg("%s", d.message);
  if (hd_plan_parse(plan, &p, &d) != HD_OK) fail_msg("%s", d.message);
  const uint64_t before = instructions(m);
  if (hd_rewrite(m, 0, &p, &o, NULL, &d) != HD_OK) fail_msg("%s: %s", plan, d.message);
  const int64_t more = (int64_t)instructions(m) - (int64_t)before;
  hd_arena_free(&arena);
  return more;
}

static uint32_t drawn(uint64_t *at, uint32_t most) {
  return 1 + (uint32_t)(hd_random_at(17, (*at)++) % most);
}

static const struct {
  const char *name;
  unsigned numbers;
} orders[] = {{"col", 0},  {"hilbert", 0}, {"reverse", 0}, {"band", 1},
              {"tile", 2}, {"zigzag", 1},  {"zigzag", 2},  {"stride", 2}};
enum { N_ORDERS = sizeof orders / sizeof *orders, DRAWN = 600, MORE = 4 };

static void put_order(unsigned i, uint32_t a, uint32_t b, hd_buf *out) {
  hd_buf_printf(out, "order=%s", orders[i].name);
  if (orders[i].numbers) hd_buf_printf(out, ":%" PRIu32, a);
  if (orders[i].numbers > 1) hd_buf_printf(out, "x%" PRIu32, b);
}

static void a_shape_costs_at_most_four_instructions_more_than_a_plane(void **state) {
  uint64_t at = 0;
  for (unsigned i = 0; i < DRAWN; i++) {
    hd_buf whole = {0}, shaped = {0};
    const uint32_t w = drawn(&at, 90), h = drawn(&at, 90), a = drawn(&at, 20), b = drawn(&at, 20);
    put_order(i % N_ORDERS, a, b, &whole);
    put_order(i % N_ORDERS, a, b, &shaped);
    hd_buf_printf(&shaped, ",shape=%" PRIu32 "x%" PRIu32, w, h);
    const int64_t of_plane = added(plane, whole.data, w, h), of_line = added(line, shaped.data, w * h, 1);
    if (of_line > of_plane + MORE)
      fail_msg("%" PRIu32 "x%" PRIu32 ", %s: %" PRId64 " more, %" PRId64 " without the shape", w, h,
               shaped.data, of_line, of_plane);
    hd_buf_free(&whole);
    hd_buf_free(&shaped);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a shape costs at most four instructions more than a plane",
                a_shape_costs_at_most_four_instructions_more_than_a_plane),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
