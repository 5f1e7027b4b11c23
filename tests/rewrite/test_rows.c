/* Levers and instructions: one case of each row of ptx_ops.def under every lever. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "heddle/ptx_facts.h"
#include "heddle/rewrite.h"

#include "rewrite/tile_loop.h"

static const char plain[] =
    ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<9>; .reg .b64 %d<9>;\n"
    "ld.param.u64 %d0, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 64, %r2;\n"
    "mad.wide.u32 %d1, %r3, 4, %d0; ld.global.u32 %r4, [%d1];\n";

/* What a lever does to the threads and the tasks of the kernel that it changes. */
enum { MOVES = 1, LOOPS = 2, PARTS_CTAS = 4, PARTS_WARPS = 8, REORDERS = 16 };

static const struct {
  const char *plan;
  unsigned does;
} levers[] = {
    {"order=reverse", MOVES},
    {"bind=redirect,order=reverse", MOVES},
    {"bind=claim", MOVES},
    {"bind=agents", MOVES | LOOPS},
    {"bind=cancel", MOVES | LOOPS},
    {"prefetch=l2:1,bind=agents", MOVES | LOOPS},
    {"threads=col", MOVES | PARTS_CTAS | PARTS_WARPS},
    {"threads=cta:col", MOVES | PARTS_WARPS},
    {"bypass=l1:1", 0},
    {"bypass=l2:1", 0},
    {"bypass=ro:1", 0},
    {"stream=l1", 0},
    {"order=reverse,shape=loop:4x3", MOVES | REORDERS},
};

static hd_status apply(const char *plan, const char *inst, hd_diag *d) {
  const uint32_t unwritten = 0;
  const hd_rewrite_options o = {.grid = {.known = true, .g = {12, 1, 1}, .n_sms = 4},
                                .block = {64, 1, 1},
                                .unwritten = &unwritten,
                                .n_unwritten = 1};
  char text[2048];
  hd_arena arena;
  hd_ptx_module *m;
  hd_plan p;
  hd_recipe recipe;
  if (strstr(plan, "shape=loop"))
    snprintf(text, sizeof text, "%s%stiles:\n%s%s\n%sret;\n}\n", head, START, inst, WORK, STEP);
  else
    snprintf(text, sizeof text, "%s%s\nst.global.u32 [%%d1], %%r4;\nret;\n}\n", plain, inst);
  hd_arena_init(&arena);
  if (hd_ptx_parse(text, strlen(text), "k", &arena, &m, d) != HD_OK) fail_msg("%s\n%s", d->message, text);
  assert_int_equal(hd_plan_parse(plan, &p, d), HD_OK);
  const hd_status st = hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, &recipe, d);
  hd_arena_free(&arena);
  return st;
}

static void is_refused(const char *plan, const char *inst) {
  hd_diag d = {0};
  const hd_status st = apply(plan, inst, &d);
  if (st != HD_ERR_REFUSED) fail_msg("%s: %s: %d %s", plan, inst, st, d.message);
}

static void ask(const char *opcode, hd_ptx_class class, unsigned flags) {
  char inst[64];
  for (size_t k = 0; k < sizeof levers / sizeof *levers; k++) {
    const char *plan = levers[k].plan;
    const unsigned does = levers[k].does;
    unsigned barred = 0;
    hd_diag d = {0};
    snprintf(inst, sizeof inst, "%s.neverseen.b32 %%r5, %%r2, %%r2;", opcode);
    is_refused(plan, inst);
    snprintf(inst, sizeof inst, "%sneverseen.b32 %%r5, %%r2, %%r2;", opcode);
    is_refused(plan, inst);
    if (class == HD_OPC_CONTROL) continue;
    snprintf(inst, sizeof inst, "%s.b32 %%r5, %%r2, %%r2;", opcode);
    if (does & MOVES) barred |= HD_OPF_NAMES_CTAS | HD_OPF_CLAIMS_CTAS | HD_OPF_CLUSTER_WIDE;
    if (does & LOOPS) barred |= HD_OPF_LASTING;
    if (does & PARTS_CTAS) barred |= HD_OPF_CTA_WIDE;
    if (does & PARTS_WARPS) barred |= HD_OPF_WARP_WIDE | HD_OPF_SEES_LANES;
    if (does & REORDERS) barred |= HD_OPF_READS_CARRY;
    if (flags & barred)
      is_refused(plan, inst);
    else if (class == HD_OPC_COMPUTE && apply(plan, inst, &d) != HD_OK)
      fail_msg("%s: %s: %s", plan, inst, d.message);
  }
}

#define PTX_OP(id, text, class, alike, result, flags)                                                        \
  static void row_##id(void **state) { ask(text, HD_OPC_##class, flags); }
#include "heddle/ptx_ops.def"
#undef PTX_OP

static void the_kernels_alone_take_every_lever(void **state) {
  for (size_t k = 0; k < sizeof levers / sizeof *levers; k++) {
    hd_diag d = {0};
    if (apply(levers[k].plan, "", &d) != HD_OK) fail_msg("%s: %s", levers[k].plan, d.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the kernels alone take every lever", the_kernels_alone_take_every_lever),
#define PTX_OP(id, text, class, alike, result, flags)                                                        \
  BEHAVIOUR("no lever takes " text " with an unknown word, or against its row", row_##id),
#include "heddle/ptx_ops.def"
#undef PTX_OP
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
