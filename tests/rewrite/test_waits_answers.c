/* What a load finds goes back to its place, and whether or how it is changed depends on it: a mailbox that is
 * answered or not. */
#include "check.h"

#include "waits.h"

#define ROUND(change) "ld.acquire.gpu.global.u32 %r1, [%rd1];\n" change "\nnanosleep.u32 9999;\n"
#define THRICE(change) KERNEL(ROUND(change) ROUND(change) ROUND(change))
#define STORE "\nst.release.gpu.global.u32 [%rd1], %r1;"

static void a_mailbox_that_is_answered_or_not_is_polled(void **state) {
  static const wait_case cases[] = {
      {"by a guarded store", THRICE("setp.eq.u32 %p1, %r1, 3;\n@%p1 st.release.gpu.global.u32 [%rd1], 4;"),
       "ld.acquire"},
      {"by a guarded store of what was found",
       THRICE("setp.eq.u32 %p1, %r1, 3;\nadd.u32 %r1, %r1, 1;\n@%p1 st.release.gpu.global.u32 [%rd1], %r1;"),
       "ld.acquire"},
      {"by a selection", THRICE("setp.eq.u32 %p1, %r1, 3;\nselp.u32 %r1, 4, %r1, %p1;" STORE), "ld.acquire"},
      {"by a selection of a number's sign",
       THRICE("sub.s32 %r2, %r1, 3;\nslct.s32.s32 %r1, 4, %r1, %r2;" STORE), "ld.acquire"},
      {"by a guarded move", THRICE("setp.eq.u32 %p1, %r1, 3;\n@%p1 mov.u32 %r1, 4;" STORE), "ld.acquire"},
      {"by a guarded sum", THRICE("setp.eq.u32 %p1, %r1, 3;\n@!%p1 add.u32 %r1, %r1, 1;" STORE),
       "ld.acquire"},
      {"by a comparison that makes a number",
       THRICE("set.eq.u32.u32 %r2, %r1, 3;\nsub.u32 %r1, %r1, %r2;" STORE), "ld.acquire"},
      {"by the carry", THRICE("add.cc.u32 %r2, %r1, -3;\naddc.u32 %r1, %r1, 0;" STORE), "ld.acquire"},
  };
  static const wait_case others[] = {
      {"a sum", THRICE("add.u32 %r1, %r1, %r7;" STORE), NULL},
      {"a maximum", THRICE("max.u32 %r1, %r1, %r7;" STORE), NULL},
      {"bits that are set", THRICE("or.b32 %r1, %r1, %r7;" STORE), NULL},
      {"a sum that the thread decides about",
       THRICE("setp.lt.u32 %p1, %r7, 3;\n@%p1 add.u32 %r1, %r1, 1;" STORE), NULL},
      {"a store that the thread decides about",
       THRICE("setp.lt.u32 %p1, %r7, 3;\nadd.u32 %r1, %r1, 1;\n@%p1 st.release.gpu.global.u32 [%rd1], %r1;"),
       NULL},
      {"a selection that the thread decides about",
       THRICE("setp.lt.u32 %p1, %r7, 3;\nadd.u32 %r2, %r1, 1;\nselp.u32 %r1, %r2, %r1, %p1;" STORE), NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_refusal r = {0};
    if (!refusals(cases[i].what, cases[i].text, &r) || !strstr(r.what, cases[i].at) ||
        !strstr(r.what, "looks again and again"))
      fail_msg("%s: %s", cases[i].what, r.what);
  }
  EXPECT_ALL(others);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a mailbox that is answered or not is polled", a_mailbox_that_is_answered_or_not_is_polled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
