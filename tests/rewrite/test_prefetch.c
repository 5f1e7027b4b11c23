/* prefetch=: the place of the fetches, and the code that they share with the loads they serve. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/rewrite.h"

/* A kernel with this body, rewritten for a grid of 8 x 4. */
static char *rewrite(const char *body, const char *plan) {
  char text[4096];
  hd_arena arena;
  hd_ptx_module *m;
  hd_plan p;
  hd_diag d = {0};
  hd_buf out = {0};
  snprintf(
      text, sizeof text,
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
      ".reg .pred %%p<9>;\n.reg .b32 %%r<9>;\n.reg .b64 %%rd<9>;\n%s\nret;\n}\n",
      body);
  hd_arena_init(&arena);
  if (hd_ptx_parse(text, strlen(text), "test", &arena, &m, &d) != HD_OK) fail_msg("%s", d.message);
  if (hd_plan_parse(plan, &p, &d) != HD_OK) fail_msg("%s", d.message);
  hd_rewrite_options o = {.grid = {.known = true, .g = {8, 4, 1}, .n_sms = 4}, .block = {64, 1, 1}};
  if (hd_rewrite(m, 0, &p, &o, NULL, &d) != HD_OK) fail_msg("%s: %s", plan, d.message);
  assert_int_equal(hd_ptx_print(m, &out), HD_OK);
  hd_arena_free(&arena);
  return out.data;
}

static unsigned count(const char *text, const char *what) {
  unsigned n = 0;
  for (; (text = strstr(text, what)); text++) n++;
  return n;
}

#define ADDRESS                                                                                              \
  "ld.param.u64 %rd1, [in];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, "          \
  "%ntid.x;\n"                                                                                               \
  "mov.u32 %r3, %tid.x;\nmad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.s32 %rd3, %r4, 4;\nadd.s64 %rd4, %rd2, "   \
  "%rd3;\n"

static void what_does_not_depend_on_the_task_is_worked_out_once(void **state) {
  static const char *const plans[] = {"prefetch=l2:1", "order=col,prefetch=l1:3"};
  for (size_t i = 0; i < 2; i++) {
    char *text = rewrite(ADDRESS "setp.gt.s32 %p1, %r4, 5000;\n@%p1 ret;\nld.global.u32 %r5, [%rd4];\n"
                                 "st.global.u32 [%rd4+64], %r5;",
                         plans[i]);
    assert_int_equal(count(text, "ld.param.u64"), 1);
    assert_int_equal(count(text, "cvta.to.global"), 1);
    assert_int_equal(count(text, "%ntid.x"), 1);
    assert_int_equal(count(text, "%tid.x"), 1);
    assert_int_equal(count(text, "mad.lo.s32"), 2);
    const char *load = strstr(text, "ld.global.u32"), *fetch = strstr(text, "prefetch.global"),
               *store = strstr(text, "st.global");
    assert_true(load < fetch && fetch < store);
    free(text);
  }
}

/* A loop's loads are fetched for once, in front of it, from where its counters begin. */
static void fetches_stand_in_front_of_a_loop(void **state) {
  char *text = rewrite(
      ADDRESS "mov.u32 %r6, 0;\n$loop:\nld.global.u32 %r5, [%rd4];\nadd.s64 %rd4, %rd4, 4;\n"
              "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 4;\n@%p1 bra $loop;\nst.global.u32 [%rd2], "
              "%r5;",
      "prefetch=l2:1");
  const char *loop = strstr(text, "$loop:"), *fetch = strstr(text, "prefetch.global");
  assert_non_null(fetch);
  assert_true(fetch < loop);
  assert_int_equal(count(text, "prefetch.global"), 1);
  assert_int_equal(count(text, "cvta.to.global"), 1);
  free(text);
}

/* Registers that are written again before the fetches no longer hold the address' operands. */
static void what_was_overwritten_is_worked_out_again(void **state) {
  char *text = rewrite(ADDRESS "mov.u32 %r2, 7;\nld.global.u32 %r5, [%rd4];\nst.global.u32 [%rd4+64], %r5;",
                       "prefetch=l2:1");
  assert_int_equal(count(text, "%ntid.x"), 2);
  assert_int_equal(count(text, "cvta.to.global"), 1);
  free(text);
}

/* The copy of an instruction that writes several registers writes as many. The copy stands before all tasks
 * or in each, and also where one of the original's registers was overwritten. */
static void copies_write_as_many_registers_as_what_they_copy(void **state) {
  static const struct {
    const char *address, *copy;
  } cases[] = {
      {"ld.param.v2.u32 {%r5, %r6}, [in];\ncvt.u64.u32 %rd2, %r6;\nmov.u32 %r1, %ctaid.x;\n"
       "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nmov.u32 %r6, 0;\ncvt.u64.u32 %rd2, %r6;\n",
       "ld.param.v2.u32 {%heddle_c3, %heddle_c3_1}, [in];"},
      {"ld.param.v2.u32 {_, %r6}, [in];\ncvt.u64.u32 %rd2, %r6;\nmov.u32 %r1, %ctaid.x;\n"
       "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nmov.u32 %r6, 0;\ncvt.u64.u32 %rd2, %r6;\n",
       "ld.param.v2.u32 {_, %heddle_c3_1}, [in];"},
      {"mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd3, %r1, 4;\nmov.b64 {%r5, %r6}, %rd3;\n"
       "cvt.u64.u32 %rd4, %r5;\n",
       "mov.b64 {%heddle_c5, %heddle_c5_1}, %heddle_c4;"},
      {"mov.u32 %r1, %ctaid.x;\nsetp.gt.u32 %p1|%p2, %r1, 4;\nselp.b64 %rd4, 64, 128, %p2;\n",
       "setp.gt.u32 %heddle_c4|%heddle_c4_1, %heddle_c3, 4;"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char body[2048];
    snprintf(body, sizeof body, "%sld.global.u32 %%r8, [%%rd4];\nst.global.u32 [%%rd4+64], %%r8;",
             cases[i].address);
    char *text = rewrite(body, "prefetch=l2:1");
    if (!strstr(text, cases[i].copy)) fail_msg("%s: not in\n%s", cases[i].copy, text);
    free(text);
  }
}

/* Inside braces, behind barriers and behind labels nothing is known to have run once. */
static void nothing_is_taken_from_where_some_threads_may_not_come(void **state) {
  static const char *const bodies[] = {
      "setp.eq.s32 %p1, %r7, 0;\n@%p1 bra $on;\n$on:\n" ADDRESS "ld.global.u32 %r5, [%rd4];",
      "{\n.reg .b32 %r8;\n" ADDRESS "ld.global.u32 %r5, [%rd4];\n}",
      "bar.sync 0;\n" ADDRESS "ld.global.u32 %r5, [%rd4];",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    char *text = rewrite(bodies[i], "prefetch=l2:1");
    const char *fetch = strstr(text, "prefetch.global"), *load = strstr(text, "ld.global");
    assert_true(fetch < load);
    assert_int_equal(count(text, "ld.param.u64"), 2);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("what does not depend on the task is worked out once",
                what_does_not_depend_on_the_task_is_worked_out_once),
      BEHAVIOUR("fetches for a loop stand in front of it", fetches_stand_in_front_of_a_loop),
      BEHAVIOUR("what was overwritten is worked out again", what_was_overwritten_is_worked_out_again),
      BEHAVIOUR("copies write as many registers as what they copy",
                copies_write_as_many_registers_as_what_they_copy),
      BEHAVIOUR("nothing is taken from where some threads may not come",
                nothing_is_taken_from_where_some_threads_may_not_come),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
