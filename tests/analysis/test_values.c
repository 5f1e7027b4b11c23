/* The formula, the class and the reason of single addresses. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/analysis.h"

typedef struct subject {
  hd_arena arena;
  hd_ptx_module *m;
  hd_analysis *a;
} subject;

static void open_module(subject *s, const char *functions, const char *body, const hd_analyze_options *opt) {
  hd_buf text = {0};
  hd_diag d;
  char line[1024];
  hd_buf_printf(
      &text,
      ".version 8.0\n.target sm_80\n.address_size 64\n%s\n"
      ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .pred %%p<9>;\n.reg .b32 %%r<30>;\n"
      ".reg .b64 %%l<20>;\nld.param.u64 %%l1, [p];\nld.param.u32 %%r1, [n];\nmov.u32 %%r2, %%tid.x;\n"
      "mov.u32 %%r3, %%ctaid.x;\n%s\nret;\n}\n",
      functions, body);
  hd_arena_init(&s->arena);
  if (hd_ptx_parse(text.data, text.len, "test", &s->arena, &s->m, &d) != HD_OK)
    fail_msg("%s", hd_diag_line(&d, line, sizeof line));
  if (hd_analyze(s->m, (uint32_t)hd_ptx_find_kernel(s->m, "k"), opt, &s->a, &d) != HD_OK)
    fail_msg("%s", hd_diag_line(&d, line, sizeof line));
  hd_buf_free(&text);
}

static void close_module(subject *s) {
  hd_analysis_free(s->a);
  hd_arena_free(&s->arena);
}

/* The index that `body` leaves in %r10, as site 0 of p + index. */
static void expect_index(const char *functions, const char *body, const char *formula, hd_level level,
                         hd_why why) {
  subject s;
  hd_buf text = {0}, got = {0};
  hd_buf_printf(
      &text, "%s\ncvt.s64.s32 %%l10, %%r10;\nadd.s64 %%l11, %%l1, %%l10;\nst.global.u8 [%%l11], %%r1;", body);
  open_module(&s, functions, text.data, NULL);
  const hd_site *site = &s.a->sites[s.a->n_sites - 1];
  hd_poly_print(s.a, site->address, &got);
  if (formula && strcmp(got.data, formula) != 0) fail_msg("%s\ngives %s, not %s", body, got.data, formula);
  if (site->level != level)
    fail_msg("%s\nis %s, not %s", body, hd_level_name(site->level), hd_level_name(level));
  if (site->why != why) fail_msg("%s\nis so because of '%s'", body, hd_why_name(site->why));
  hd_buf_free(&text);
  hd_buf_free(&got);
  close_module(&s);
}

static void quasi_affine_code_is_read(void **state) {
  static const struct {
    const char *body, *formula;
    hd_level level;
  } cases[] = {
      {"mad.lo.s32 %r10, %r3, %r1, %r2;", "tid.x + n*ctaid.x + p", HD_LEVEL_AFFINE},
      {"shl.b32 %r10, %r2, 4; or.b32 %r10, %r10, 7;", "16*tid.x + p + 7", HD_LEVEL_AFFINE},
      {"and.b32 %r10, %r2, 1023;", "tid.x + p", HD_LEVEL_AFFINE},
      {"and.b32 %r10, %r2, 12;", "4*floor(tid.x / 4) - 16*floor(tid.x / 16) + p", HD_LEVEL_QUASI},
      {"shr.u32 %r10, %r2, 5; shl.b32 %r10, %r10, 5; sub.s32 %r10, %r2, %r10;",
       "tid.x - 32*floor(tid.x / 32) + p", HD_LEVEL_QUASI},
      /* division by 3 as nvcc writes it */
      {"mul.hi.u32 %r10, %r2, -1431655765; shr.u32 %r10, %r10, 1;", "floor(tid.x / 3) + p", HD_LEVEL_QUASI},
      {"mul.wide.u32 %l5, %r2, -1431655765; shr.u64 %l5, %l5, 33; cvt.u32.u64 %r10, %l5;",
       "floor(tid.x / 3) + p", HD_LEVEL_QUASI},
      {"xor.b32 %r10, %r2, 1;", "-tid.x + 4*floor(tid.x / 2) + p + 1", HD_LEVEL_QUASI},
      {"min.s32 %r10, %r2, 31;", "tid.x - max0(tid.x - 31) + p", HD_LEVEL_QUASI},
      {"setp.lt.s32 %p1, %r2, %r1; selp.b32 %r10, %r2, 0, %p1;", NULL, HD_LEVEL_QUASI},
      {"bfe.u32 %r10, %r2, 2, 3;", "-8*floor(tid.x / 32) + floor(tid.x / 4) + p", HD_LEVEL_QUASI},
      {"mov.b64 %l5, {%r2, %r3}; mov.b64 {%r4, %r10}, %l5;", "ctaid.x + p", HD_LEVEL_AFFINE},
      {"neg.s32 %r4, %r2; add.s32 %r10, %r4, 1023;", "-tid.x + p + 1023", HD_LEVEL_AFFINE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect_index("", cases[i].body, cases[i].formula, cases[i].level, HD_WHY_NONE);
}

static void loops_are_followed(void **state) {
  static const char *const counted =
      "mov.u32 %r10, %r2; mov.u32 %r5, 0;\nL:\nadd.s32 %r10, %r10, 8; add.s32 %r5, %r5, 1;\n"
      "setp.lt.s32 %p1, %r5, 10; @%p1 bra L;";
  expect_index("", counted, "tid.x + p + 80", HD_LEVEL_AFFINE, HD_WHY_NONE);
  /* in the loop, and a pointer that the loop moves */
  subject s;
  open_module(&s, "",
              "mov.u32 %r5, 0; mul.wide.s32 %l3, %r1, 4; mov.u64 %l2, %l1;\nL:\nst.global.u32 [%l2+4], %r1;\n"
              "add.s64 %l2, %l2, %l3; add.s32 %r5, %r5, 2; setp.lt.s32 %p1, %r5, %r1; @%p1 bra L;",
              NULL);
  hd_buf b = {0};
  hd_poly_print(s.a, s.a->sites[0].address, &b);
  assert_string_equal(b.data, "p + 4*n*k1 + 4");
  hd_buf_clear(&b);
  assert_true(s.a->loop_values[0].trips != HD_NONE);
  hd_poly_print(s.a, s.a->loop_values[0].trips, &b);
  assert_string_equal(b.data, "max0(floor((n + 1) / 2) - 1)");
  hd_poly stride;
  assert_true(hd_poly_stride(s.a, s.a->sites[0].address, hd_find_symbol(s.a, HD_V_COUNTER, 0, 0), &stride));
  hd_buf_clear(&b);
  hd_poly_print(s.a, stride, &b);
  assert_string_equal(b.data, "4*n");
  hd_buf_free(&b);
  close_module(&s);
}

static void what_other_threads_and_memory_give_is_data(void **state) {
  static const struct {
    const char *body;
    hd_why why;
  } cases[] = {
      {"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r10, %r4, %r5, %r6}, %l2, %l3, 1;", HD_WHY_LOAD},
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r2];", HD_WHY_LOAD},
      {"movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r2;", HD_WHY_EXCHANGE},
      {"atom.global.add.u32 %r10, [%l1], 1;", HD_WHY_EXCHANGE},
      {"redux.sync.add.s32 %r10, %r2, -1;", HD_WHY_EXCHANGE},
      {"neverseen.u32 %r10, %r2;", HD_WHY_EXCHANGE},
      {"mov.u32 %r10, %pm0;", HD_WHY_SCHEDULE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char body[512];
    snprintf(body, sizeof body, "mov.u64 %%l2, %%l1; mov.u64 %%l3, %%l1;\n%s", cases[i].body);
    expect_index("", body, NULL, HD_LEVEL_DATA, cases[i].why);
  }
}

static void reasons_are_named(void **state) {
  expect_index("", "mul.lo.s32 %r10, %r2, %r3;", NULL, HD_LEVEL_NONLINEAR, HD_WHY_PRODUCT);
  expect_index("", "div.u32 %r10, %r2, %r1;", NULL, HD_LEVEL_NONLINEAR, HD_WHY_DIVISION);
  expect_index("", "xor.b32 %r10, %r2, %r3;", NULL, HD_LEVEL_NONLINEAR, HD_WHY_BITS);
  expect_index("", "popc.b32 %r10, %r2;", NULL, HD_LEVEL_NONLINEAR, HD_WHY_INSTRUCTION);
  expect_index("", "ld.global.u32 %r4, [%l1]; add.s32 %r10, %r4, %r2;", NULL, HD_LEVEL_DATA, HD_WHY_LOAD);
  expect_index("", "shfl.sync.down.b32 %r10, %r2, 1, 31, -1;", NULL, HD_LEVEL_DATA, HD_WHY_EXCHANGE);
  expect_index("", "mov.u32 %r10, %smid;", NULL, HD_LEVEL_DATA, HD_WHY_SCHEDULE);
  expect_index("",
               "mov.u32 %r10, 1; mov.u32 %r5, 0;\nL: mul.lo.s32 %r10, %r10, 3; add.s32 %r5, %r5, 1;"
               "setp.lt.s32 %p1, %r5, 3; @%p1 bra L;",
               NULL, HD_LEVEL_NONLINEAR, HD_WHY_RECURRENCE);
  subject s;
  open_module(&s, "",
              "ld.global.u32 %r4, [%l1];\nmul.wide.u32 %l2, %r4, 4;\nadd.s64 %l2, %l2, %l1;\nld.global.u32 "
              "%r5, [%l2];",
              NULL);
  assert_int_equal(s.a->sites[1].level, HD_LEVEL_DATA);
  assert_int_equal(s.a->sites[1].why_line, s.a->sites[0].line);
  assert_int_equal(s.a->sites[1].param, 0);
  close_module(&s);
}

static void functions_are_inlined(void **state) {
  static const char *const twice =
      ".func (.param .b32 out) twice(.param .b32 x)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [x];\n"
      "add.s32 %r2, %r1, %r1;\nst.param.b32 [out], %r2;\nret;\n}\n";
  static const char *const calls =
      "{\n.param .b32 x0;\n.param .b32 y0;\nst.param.b32 [x0], %r2;\ncall.uni (y0), twice, (x0);\n"
      "ld.param.b32 %r10, [y0];\n}\n{\n.param .b32 x1;\n.param .b32 y1;\nst.param.b32 [x1], %r10;\n"
      "call.uni (y1), twice, (x1);\nld.param.b32 %r10, [y1];\n}";
  expect_index(twice, calls, "4*tid.x + p", HD_LEVEL_AFFINE, HD_WHY_NONE);
  static const char *const unknown = ".extern .func (.param .b32 out) twice(.param .b32 x);\n";
  expect_index(unknown, calls, NULL, HD_LEVEL_CALL, HD_WHY_CALL);
  static const char *const recursive =
      ".func (.param .b32 out) twice(.param .b32 x)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, [x];\n{\n"
      ".param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r1;\ncall.uni (b), twice, (a);\n"
      "ld.param.b32 %r2, [b];\n}\nst.param.b32 [out], %r2;\nret;\n}\n";
  expect_index(recursive, calls, NULL, HD_LEVEL_CALL, HD_WHY_CALL);
}

static void wrapping_is_assumed_only_where_it_could_be(void **state) {
  subject s;
  open_module(&s, "",
              "mul.wide.s32 %l2, %r2, 4; add.s64 %l2, %l1, %l2; st.global.u32 [%l2], %r1;\n"
              "mad.lo.s32 %r4, %r3, %r1, %r2; mul.wide.s32 %l3, %r4, 4; add.s64 %l3, %l1, %l3; st.global.u32 "
              "[%l3], %r1;",
              NULL);
  assert_int_equal(s.a->sites[0].n_assumptions, 0);
  assert_int_equal(s.a->sites[1].n_assumptions, 1);
  const hd_assumption *x = &s.a->assumptions[s.a->assumption_lists[s.a->sites[1].first_assumption]];
  struct {
    uint64_t p;
    int32_t n;
  } args = {4096, 1 << 20};
  hd_point at = {.args = &args, .args_bytes = 12, .ctaid = {2047}, .tid = {5}};
  assert_int_equal(hd_point_assumption(s.a, x, &at), 1);
  at.ctaid[0] = 2048;
  assert_int_equal(hd_point_assumption(s.a, x, &at), 0);
  at.args = NULL;
  assert_int_equal(hd_point_assumption(s.a, x, &at), -1);
  close_module(&s);
}

static void guards_are_found(void **state) {
  subject s;
  open_module(&s, "",
              "setp.ge.s32 %p1, %r2, %r1; setp.gt.s32 %p2, %r3, 6; or.pred %p3, %p1, %p2; @%p3 bra END;\n"
              "@%p4 st.global.u32 [%l1], %r1;\nst.global.u32 [%l1], %r1;\nEND:\nst.global.u32 [%l1], %r1;",
              NULL);
  assert_int_equal(s.a->n_sites, 3);
  assert_int_equal(s.a->sites[0].n_guards, 3);
  assert_int_equal(s.a->sites[1].n_guards, 2);
  assert_int_equal(s.a->sites[2].n_guards, 0);
  assert_true(s.a->sites[1].guards_complete && s.a->sites[2].guards_complete);
  hd_buf b = {0};
  hd_guard_print(s.a, s.a->guards[s.a->sites[1].first_guard].poly, &b);
  assert_true(strcmp(b.data, "tid.x - n < 0") == 0 || strcmp(b.data, "n - tid.x - 1 >= 0") == 0 ||
              strstr(b.data, "n") != NULL);
  hd_buf_free(&b);
  close_module(&s);
}

static void warps_are_coalesced_as_they_lie(void **state) {
  subject s;
  open_module(
      &s, "",
      "mul.wide.s32 %l2, %r2, 4; add.s64 %l2, %l1, %l2; ld.global.u32 %r4, [%l2];\n"   /* 4 B apart */
      "mul.wide.s32 %l3, %r2, 128; add.s64 %l3, %l1, %l3; ld.global.u32 %r4, [%l3];\n" /* a line apart */
      "ld.global.u32 %r4, [%l1];\n"                                                    /* one word */
      "mul.wide.s32 %l4, %r2, 16; add.s64 %l4, %l1, %l4; ld.global.v4.u32 {%r4,%r5,%r6,%r7}, [%l4];\n",
      NULL);
  hd_point at = {.block = {32, 1, 1}};
  static const unsigned sectors[] = {4, 32, 1, 16}, bytes[] = {128, 128, 4, 512};
  for (uint32_t i = 0; i < 4; i++) {
    hd_coalescing c = hd_site_coalescing(s.a, i, &at, 0);
    assert_true(c.known);
    assert_int_equal(c.sectors, sectors[i]);
    assert_int_equal(c.bytes, bytes[i]);
  }
  /* With the address known, so is how it lies to the sectors. */
  struct {
    uint64_t p;
    int32_t n;
  } args = {4096 + 16, 1};
  at.args = &args;
  at.args_bytes = 12;
  assert_int_equal(hd_site_coalescing(s.a, 0, &at, 0).sectors, 5);
  close_module(&s);
}

static void a_budget_ends_the_work_with_a_word(void **state) {
  hd_buf body = {0};
  for (int i = 0; i < 500; i++)
    hd_buf_puts(&body, "mad.lo.s32 %r10, %r10, %r2, %r3; xor.b32 %r10, %r10, %r1;\n");
  hd_buf_puts(&body, "cvt.s64.s32 %l10, %r10;\nadd.s64 %l11, %l1, %l10;\nst.global.u8 [%l11], %r1;");
  subject s;
  hd_analyze_options tiny = {.work = 100};
  open_module(&s, "", body.data, &tiny);
  assert_true(s.a->over_budget);
  assert_int_equal(s.a->n_sites, 1);
  assert_int_equal(s.a->sites[0].level, HD_LEVEL_BUDGET);
  assert_int_equal(s.a->sites[0].why, HD_WHY_BUDGET);
  close_module(&s);
  hd_buf_free(&body);
}

/* Rounds of the body, and times that the back edge is taken. */
static void loops_run_as_often_as_their_bodies(void **state) {
  static const struct {
    const char *what, *body, *rounds;
  } cases[] = {
      {"tested at the end",
       "mov.u32 %r5, 0;\nL:\nst.global.u32 [%l1], %r5;\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p1, %r5, 4;\n@%p1 "
       "bra L;",
       "4"},
      {"tested first",
       "mov.u32 %r5, 0;\nL:\nsetp.ge.s32 %p1, %r5, 4;\n@%p1 bra D;\nst.global.u32 [%l1], %r5;\nadd.s32 %r5, "
       "%r5, 1;\n"
       "bra L;\nD:",
       "4"},
      {"tested in the middle, what stands before it counts",
       "mov.u32 %r5, 0;\nL:\nst.global.u32 [%l1], %r5;\nsetp.ge.s32 %p1, %r5, 4;\n@%p1 bra D;\nadd.s32 %r5, "
       "%r5, 1;\n"
       "bra L;\nD:",
       "5"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    subject s;
    hd_buf b = {0};
    open_module(&s, "", cases[i].body, NULL);
    assert_int_equal(s.a->cfg.n_loops, 1);
    assert_true(s.a->loop_values[0].rounds != HD_NONE);
    hd_poly_print(s.a, s.a->loop_values[0].rounds, &b);
    if (strcmp(b.data, cases[i].rounds) != 0) fail_msg("%s: %s", cases[i].what, b.data);
    hd_buf_free(&b);
    close_module(&s);
  }
}

/* Each address depends on %tid.x; where the way there is not known, so is the stride. */
static void what_is_not_known_has_no_stride(void **state) {
  static const struct {
    const char *what, *body;
  } cases[] = {
      {"rounded from floats", "mov.u32 %r5, %tid.x;\ncvt.rn.f32.s32 %f1, %r5;\nmul.f32 %f1, %f1, "
                              "0f3F000000;\ncvt.rmi.f32.f32 %f1, %f1;\n"
                              "cvt.rzi.s32.f32 %r6, %f1;\nmul.wide.s32 %l3, %r6, 4;\n"},
      {"rounded, then divided",
       "mov.u32 %r5, %tid.x;\ncvt.rn.f32.s32 %f1, %r5;\ncvt.rzi.s32.f32 %r6, %f1;\nshr.u32 %r6, %r6, 3;\n"
       "mul.wide.u32 %l3, %r6, 4;\n"},
      {"loaded",
       "mov.u32 %r5, %tid.x;\nmul.wide.u32 %l3, %r5, 4;\nadd.s64 %l3, %l1, %l3;\nld.global.u32 %r6, [%l3];\n"
       "mul.wide.u32 %l3, %r6, 4;\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    subject s;
    hd_buf body = {0};
    hd_poly stride;
    hd_buf_printf(&body, "%sadd.s64 %%l4, %%l1, %%l3;\nst.global.u32 [%%l4], %%r1;\n", cases[i].body);
    open_module(&s, "", body.data, NULL);
    const hd_site *site = &s.a->sites[s.a->n_sites - 1];
    assert_false(hd_poly_is_known(s.a, site->address));
    for (uint32_t axis = 0; axis < 3; axis++)
      if (hd_poly_stride(s.a, site->address, hd_find_symbol(s.a, HD_V_TID, axis, 0), &stride))
        fail_msg("%s: a stride along axis %u", cases[i].what, axis);
    hd_buf_free(&body);
    close_module(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("loops run as often as their bodies", loops_run_as_often_as_their_bodies),
      BEHAVIOUR("what is not known has no stride", what_is_not_known_has_no_stride),
      BEHAVIOUR("masks, shifts, magic divisions, minima and choices are read as formulas",
                quasi_affine_code_is_read),
      BEHAVIOUR("induction variables, moving pointers and values behind loops have formulas",
                loops_are_followed),
      BEHAVIOUR("what memory and other threads give is data", what_other_threads_and_memory_give_is_data),
      BEHAVIOUR("an address without a formula names the reason and the line", reasons_are_named),
      BEHAVIOUR("values go through calls of the module's functions, and not through others",
                functions_are_inlined),
      BEHAVIOUR("wrapping is assumed away only where ranges allow it, and decided at a point",
                wrapping_is_assumed_only_where_it_could_be),
      BEHAVIOUR("guards on the way to an access are found, conjunctions one by one", guards_are_found),
      BEHAVIOUR("sectors per request follow from the lanes' addresses", warps_are_coalesced_as_they_lie),
      BEHAVIOUR("a budget ends the work, and says so", a_budget_ends_the_work_with_a_word),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
