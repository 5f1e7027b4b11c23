/* Functions that are searched alone, because they get their arguments in registers: fences of the whole
 * kernel count in them. */
#include "check.h"

#include "waits.h"

/* Goes round until the load finds something; looks in so many rounds; looks three times in turn. */
#define UNTIL(load)                                                                                          \
  ".func wait(.reg .b64 w)\n{\n.reg .b32 v;\n.reg .pred q;\nL: " load                                        \
  " v, [w];\nsetp.eq.u32 q, v, 0;\n@q bra L;\nret;\n}\n"
#define ROUNDS(load)                                                                                         \
  ".func wait(.reg .b64 w)\n{\n.reg .b32 v, i, s;\n.reg .pred q;\nmov.u32 i, 0;\nL: " load                   \
  " v, [w];\nor.b32 s, s, v;\nadd.u32 i, i, 1;\nsetp.lt.u32 q, i, 1000;\n@q bra L;\nst.global.u32 [w+64], "  \
  "s;\nret;\n}\n"
#define FENCES ".func order()\n{\nfence.acq_rel.gpu;\nret;\n}\n"
#define FENCES_CTA ".func order()\n{\nfence.acq_rel.cta;\nret;\n}\n"
#define FLAG "ld.relaxed.cta.global.u32"
#define OTHERS_FENCE "setp.lt.u32 %p1, %r7, 32;\n@%p1 bra W;\nfence.acq_rel.gpu;\nret;\nW: call wait, (%rd1);"

static void a_fence_of_the_kernel_counts_in_its_functions(void **state) {
  static const wait_case cases[] = {
      {"of another warp", MODULE(UNTIL(FLAG), OTHERS_FENCE), "ld.relaxed.cta"},
      {"of the same thread", MODULE(UNTIL(FLAG), "fence.acq_rel.gpu;\ncall wait, (%rd1);"), "ld.relaxed.cta"},
      {"a load that acquires",
       MODULE(UNTIL(FLAG), "ld.acquire.gpu.global.u32 %r1, [%rd1];\ncall wait, (%rd1);"), "ld.relaxed.cta"},
      {"of another function", MODULE(FENCES UNTIL(FLAG), "call order;\ncall wait, (%rd1);"),
       "ld.relaxed.cta"},
      {"in each of so many rounds", MODULE(ROUNDS(FLAG), OTHERS_FENCE), "ld.relaxed.cta"},
  };
  static const wait_case others[] = {
      {"no fence", MODULE(UNTIL(FLAG), "call wait, (%rd1);"), NULL},
      {"a fence of the CTA",
       MODULE(FENCES_CTA UNTIL(FLAG), "fence.acq_rel.cta;\ncall order;\ncall wait, (%rd1);"), NULL},
      {"in each of so many rounds, without one", MODULE(ROUNDS(FLAG), "call wait, (%rd1);"), NULL},
  };
  EXPECT_ALL(cases);
  EXPECT_ALL(others);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a fence of the kernel counts in its functions",
                a_fence_of_the_kernel_counts_in_its_functions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
