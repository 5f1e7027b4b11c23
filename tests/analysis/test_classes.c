/* The classes that addresses have at any launch. */
#include "check.h"

#include <stdio.h>

#include "heddle/analysis.h"

static const char head[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 m, .param .u32 n)\n{\n"
    ".reg .pred %p<5>;\n.reg .f32 %f<4>;\n.reg .b32 %r<40>;\n.reg .b64 %l<20>;\nld.param.u64 %l1, [p];\n"
    "ld.param.u64 %l2, [q];\nld.param.u32 %r1, [m];\nld.param.u32 %r2, [n];\nadd.s32 %r3, %r1, 63;\n"
    "shr.u32 %r3, %r3, 6;\nadd.s32 %r4, %r2, 31;\n"
    "shr.u32 %r4, %r4, 5;\nmov.u32 %r5, %ctaid.x;\nmov.u32 %r6, %tid.x;\n";

/* The class of the last access of a kernel of p, q, m and n, at any launch. */
static hd_launch_class class_at_any_launch(const char *body) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_analysis *a;
  hd_buf text = {0};
  hd_diag d = {0};
  hd_launch_class classes[16];
  hd_buf_printf(&text, "%s%sret;\n}\n", head, body);
  hd_arena_init(&arena);
  if (hd_ptx_parse(text.data, text.len, "classes", &arena, &m, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(hd_analyze(m, 0, NULL, &a, &d), HD_OK);
  assert_in_range(a->n_sites, 1, sizeof classes / sizeof *classes);
  assert_int_equal(hd_classes_at_launch(a, classes, &d), HD_OK);
  hd_launch_class last = classes[a->n_sites - 1];
  hd_analysis_free(a);
  hd_arena_free(&arena);
  hd_buf_free(&text);
  return last;
}

#define STORE_AT(offset)                                                                                     \
  "mul.wide.s32 %l7, " offset ", 4;\nadd.s64 %l8, %l2, %l7;\nst.global.u32 [%l8], %r6;\n"

static void what_a_launch_fixes_is_a_number_there(void **state) {
  static const struct {
    const char *name, *body;
    hd_level level;
  } cases[] = {
      {"a quotient by an argument", "div.s32 %r20, %r5, %r2;\n" STORE_AT("%r20"), HD_LEVEL_QUASI},
      {"a quotient by a rounded-up quotient", "div.s32 %r20, %r5, %r4;\n" STORE_AT("%r20"), HD_LEVEL_QUASI},
      {"a quotient by the CTA", "div.s32 %r20, %r6, %r5;\n" STORE_AT("%r20"), HD_LEVEL_NONLINEAR},
      {"a product of thread and CTA", "mul.lo.s32 %r20, %r6, %r5;\n" STORE_AT("%r20"), HD_LEVEL_NONLINEAR},
      {"a number from memory", "ld.global.u32 %r20, [%l1+8];\nadd.s32 %r20, %r20, %r6;\n" STORE_AT("%r20"),
       HD_LEVEL_QUASI},
      {"one that is written through the pointer", "ld.global.u32 %r20, [%l2+8];\n" STORE_AT("%r20"),
       HD_LEVEL_DATA},
      {"one that nobody may write", "ld.global.nc.u32 %r20, [%l2+8];\n" STORE_AT("%r20"), HD_LEVEL_LAUNCH},
      {"one for each thread",
       "mul.wide.u32 %l3, %r6, 4;\nadd.s64 %l4, %l1, %l3;\nld.global.u32 %r20, [%l4];\n" STORE_AT("%r20"),
       HD_LEVEL_DATA},
      {"a quotient of 64 bits by a number",
       "cvt.u64.u32 %l7, %r6;\nmul.hi.u64 %l7, %l7, -3689348814741910323;\nshr.u64 %l7, %l7, 2;\n"
       "cvt.u32.u64 %r20, %l7;\n" STORE_AT("%r20"),
       HD_LEVEL_QUASI},
      {"a high half that no division gives",
       "cvt.u64.u32 %l7, %r6;\nmul.hi.u64 %l7, %l7, 7460843163263935301;\ncvt.u32.u64 %r20, %l7;\n" STORE_AT(
           "%r20"),
       HD_LEVEL_NONLINEAR},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_level got = (hd_level)class_at_any_launch(cases[i].body).level;
    if (cases[i].level == HD_LEVEL_QUASI ? got > HD_LEVEL_QUASI : got != cases[i].level)
      fail_msg("%s is %s", cases[i].name, hd_level_name(got));
  }
}

/* The integer root of a number, as kernels over triangles of tiles compute it. */
#define ROOT(of) "cvt.rn.f32.s32 %f1, " of ";\nsqrt.rn.f32 %f1, %f1;\ncvt.rzi.s32.f32 %r20, %f1;\n"
/* Doubles m until it is above a number or n, which are two ways out of the loop, and passes it by where m is
 * 0. */
#define SEARCH(of)                                                                                           \
  "setp.eq.s32 %p4, %r1, 0;\n@%p4 bra found;\nsearch:\nshl.b32 %r21, %r21, 1;\n"                             \
  "setp.gt.s32 %p1, %r21, " of ";\n@%p1 bra high;\nsetp.lt.s32 %p2, %r21, %r2;\n@%p2 bra search;\n"          \
  "mov.u32 %r20, %r21;\nbra.uni found;\nhigh:\nmov.u32 %r20, 5;\nfound:\n"
#define NOTHING_FOUND "mov.u32 %r20, 9;\nmov.u32 %r21, %r1;\n"
#define AND_THREAD "add.s32 %r22, %r20, %r6;\n" STORE_AT("%r22")
#define POINTER(number)                                                                                      \
  "mul.wide.u32 %l3, " number ", 8;\nadd.s64 %l4, %l1, %l3;\nld.global.u64 %l5, [%l4];\n"                    \
  "mul.wide.u32 %l6, %r6, 4;\nadd.s64 %l7, %l5, %l6;\nst.global.u32 [%l7], %r6;\n"

static void an_address_may_be_affine_from_a_start_of_its_cta(void **state) {
  static const struct {
    const char *name, *body;
    hd_start start;
    hd_level level;
  } cases[] = {
      {"a root of the CTA's number", ROOT("%r5") AND_THREAD, HD_START_COMPUTED, HD_LEVEL_NONLINEAR},
      {"a root of an argument", ROOT("%r2") AND_THREAD, HD_START_COMPUTED, HD_LEVEL_NONLINEAR},
      {"a root of the thread's number", ROOT("%r6") AND_THREAD, HD_START_FORMULA, HD_LEVEL_NONLINEAR},
      {"a root times the thread's number", ROOT("%r5") "mul.lo.s32 %r22, %r20, %r6;\n" STORE_AT("%r22"),
       HD_START_FORMULA, HD_LEVEL_NONLINEAR},
      {"a search by the CTA's number", NOTHING_FOUND SEARCH("%r5") AND_THREAD, HD_START_COMPUTED,
       HD_LEVEL_NONLINEAR},
      {"a search by the thread's number", NOTHING_FOUND SEARCH("%r6") AND_THREAD, HD_START_FORMULA,
       HD_LEVEL_NONLINEAR},
      {"a search that some threads skip",
       NOTHING_FOUND "setp.lt.s32 %p3, %r6, 7;\n@%p3 bra found;\n" SEARCH("%r5") AND_THREAD, HD_START_FORMULA,
       HD_LEVEL_NONLINEAR},
      {"a search behind which threads end",
       NOTHING_FOUND SEARCH("%r5") "setp.lt.s32 %p3, %r6, 7;\n@%p3 ret;\n" AND_THREAD, HD_START_COMPUTED,
       HD_LEVEL_NONLINEAR},
      {"a search by what memory holds",
       NOTHING_FOUND "ld.global.u32 %r7, [%l2+4];\n" SEARCH("%r7") AND_THREAD, HD_START_FORMULA,
       HD_LEVEL_DATA},
      {"a square of the CTA's number", "mul.lo.s32 %r20, %r5, %r5;\n" AND_THREAD, HD_START_COMPUTED,
       HD_LEVEL_NONLINEAR},
      {"a pointer for each CTA", POINTER("%r5"), HD_START_LOADED, HD_LEVEL_DATA},
      {"a pointer for each thread", POINTER("%r6"), HD_START_FORMULA, HD_LEVEL_DATA},
      {"the CTA's number itself", "mov.u32 %r20, %r5;\n" AND_THREAD, HD_START_FORMULA, HD_LEVEL_AFFINE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_launch_class got = class_at_any_launch(cases[i].body);
    if (got.start != cases[i].start || got.level != cases[i].level)
      fail_msg("%s: start %u, %s", cases[i].name, got.start, hd_level_name((hd_level)got.level));
  }
}

/* Convolutions divide by arguments at every step, and each step rests on the step before it not wrapping. */
static void many_quotients_by_arguments_are_still_a_formula(void **state) {
  hd_buf body = {0};
  hd_buf_printf(&body, "mov.u32 %%r20, %%r6;\n");
  for (int i = 0; i < 40; i++)
    hd_buf_printf(&body,
                  "add.s32 %%r21, %%r5, %d;\nmul.lo.s32 %%r21, %%r21, %%r3;\ndiv.s32 %%r21, %%r21, %%r2;\n"
                  "add.s32 %%r20, %%r20, %%r21;\n",
                  i);
  hd_buf_printf(&body, "%s", STORE_AT("%r20"));
  assert_non_null(body.data);
  assert_int_equal(class_at_any_launch(body.data).level, HD_LEVEL_QUASI);
  hd_buf_free(&body);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a quantity that a launch fixes is a number there", what_a_launch_fixes_is_a_number_there),
      BEHAVIOUR("an address may be affine from a start of its CTA",
                an_address_may_be_affine_from_a_start_of_its_cta),
      BEHAVIOUR("many quotients by arguments are still a formula",
                many_quotients_by_arguments_are_still_a_formula),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
