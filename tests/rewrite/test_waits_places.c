/* What two addresses have in common: storage under two names, and distances from one variable to another. */
#include "check.h"

#include "waits.h"

#define VARIABLES                                                                                            \
  ".extern .shared .align 8 .b8 wide[];\n.extern .shared .align 4 .b8 narrow[];\n"                           \
  ".extern .shared .align 4 .b8 sized[64];\n.shared .align 8 .b8 row[64];\n"                                 \
  ".visible .global .align 4 .b32 gate;\n.visible .global .align 4 .b32 door[16];\n"
#define TWO_POINTERS(body)                                                                                   \
  HEAD VARIABLES ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n" DECLARATIONS          \
                 "ld.param.u64 %rd6, [q];\n" START body "\nret;\n}\n"
/* What an atomic finds is stored in one place, and the loop ends by what is loaded from another. */
#define RELAY(first, store, load)                                                                            \
  TWO_POINTERS(first "L: atom.global.xor.b32 %r1, [%rd1], 1;\nand.b32 %r2, %r1, 1;\n" store ", %r2;\n" load  \
                     "\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;")

/* The same of data, by a plain load that the loop does not end by. */
#define QUIET(first, store, load)                                                                            \
  TWO_POINTERS(first "L: ld.global.u32 %r2, [%rd1];\n" store ", %r2;\n" load                                 \
                     "\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;")

static void shared_arrays_of_the_launch_are_one(void **state) {
  static const wait_case cases[] = {
      {"under two names", RELAY("", "st.shared.u32 [wide]", "ld.shared.u32 %r3, [narrow];"), "atom"},
      {"through registers",
       RELAY("mov.u32 %r4, wide;\nmov.u32 %r5, narrow;\nadd.u32 %r4, %r4, 8;\n", "st.shared.u32 [%r4]",
             "ld.shared.u32 %r3, [%r5+8];"),
       "atom"},
      {"through a generic address",
       RELAY("mov.u64 %rd2, wide;\ncvta.shared.u64 %rd3, %rd2;\n", "st.u32 [%rd3+4]",
             "ld.shared.u32 %r3, [narrow+4];"),
       "atom"},
      {"one of a size that the text gives", RELAY("", "st.shared.u32 [sized]", "ld.shared.u32 %r3, [wide];"),
       "atom"},
      {"fetched work is written over under the other name",
       TWO_POINTERS("setp.ne.s32 %p1, %r7, 0;\nL: @%p1 bra A;\natom.global.add.u32 %r1, [%rd1], 1;\n"
                    "st.shared.u32 [wide], %r1;\nA: bar.sync 0;\nst.shared.u32 [narrow], 0;\nbar.sync 0;\n"
                    "ld.shared.u32 %r2, [wide];\nbar.sync 0;\nsetp.lt.s32 %p2, %r2, %r8;\n@%p2 bra L;"),
       "atom"},
      {"beside an array of the text", QUIET("", "st.shared.u32 [wide]", "ld.shared.u32 %r3, [row];"), NULL},
      {"two arrays of the text", QUIET("", "st.shared.u32 [slot]", "ld.shared.u32 %r3, [row];"), NULL},
  };
  EXPECT_ALL(cases);
}

/* From the variable `row` to `slot`, which is loaded. */
#define FROM_ROW(address)                                                                                    \
  RELAY("mov.u32 %r4, slot;\nmov.u32 %r5, row;\n" address, "st.shared.u32 [%r6]",                            \
        "ld.shared.u32 %r3, [slot];")

#define QUIET_FROM_ROW(address)                                                                              \
  QUIET("mov.u32 %r4, slot;\nmov.u32 %r5, row;\n" address, "st.shared.u32 [%r6]",                            \
        "ld.shared.u32 %r3, [slot];")

static void a_distance_leads_from_one_shared_variable_to_another(void **state) {
  static const wait_case cases[] = {
      {"added", FROM_ROW("sub.u32 %r0, %r4, %r5;\nadd.u32 %r6, %r5, %r0;\n"), "atom"},
      {"in words", FROM_ROW("sub.u32 %r0, %r4, %r5;\nshr.s32 %r9, %r0, 2;\nmad.lo.u32 %r6, %r9, 4, %r5;\n"),
       "atom"},
      {"through shared memory",
       FROM_ROW("sub.u32 %r0, %r4, %r5;\nst.shared.u32 [other], %r0;\nld.shared.u32 %r9, [other];\n"
                "add.u32 %r6, %r9, %r5;\n"),
       "atom"},
      {"through 64 bits of local memory",
       FROM_ROW("sub.u32 %r0, %r4, %r5;\nmov.b64 %rd2, {%r0, %r8};\nst.local.u64 [own], %rd2;\n"
                "ld.local.v2.u32 {%r9, %r2}, [own];\nadd.u32 %r6, %r9, %r5;\n"),
       "atom"},
      {"through a shuffle",
       FROM_ROW("sub.u32 %r0, %r4, %r5;\nshfl.sync.idx.b32 %r9, %r0, 0, 31, -1;\nadd.u32 %r6, %r9, %r5;\n"),
       "atom"},
      {"of bits", FROM_ROW("xor.b32 %r0, %r4, %r5;\nor.b32 %r6, %r5, %r0;\n"), "atom"},
      {"of 64 bits, cut off",
       RELAY("mov.u64 %rd2, slot;\nmov.u64 %rd3, row;\nsub.s64 %rd4, %rd2, %rd3;\ncvt.u32.u64 %r4, %rd4;\n"
             "cvt.s64.s32 %rd4, %r4;\ncvta.shared.u64 %rd5, %rd3;\nadd.s64 %rd8, %rd5, %rd4;\n",
             "st.u32 [%rd8]", "ld.shared.u32 %r3, [slot];"),
       "atom"},
      {"a number of the launch", QUIET_FROM_ROW("mad.lo.u32 %r6, %r8, 4, %r5;\n"), NULL},
      {"a number from memory", QUIET_FROM_ROW("ld.global.u32 %r9, [%rd6];\nadd.u32 %r6, %r9, %r5;\n"), NULL},
      {"a pointer that is spilled, and a number from memory",
       QUIET_FROM_ROW("cvt.u64.u32 %rd2, %r4;\ncvta.shared.u64 %rd3, %rd2;\nst.local.u64 [own], %rd3;\n"
                      "ld.local.u32 %r9, [own+8];\nadd.u32 %r6, %r9, %r5;\n"),
       NULL},
  };
  EXPECT_ALL(cases);
}

/* One thread writes while the others take the lock that lies in `where`. */
#define OPENED(where, write)                                                                                 \
  TWO_POINTERS("setp.eq.u32 %p2, %r7, 5;\n@%p2 bra O;\nL: atom.global.cas.b32 %r1, [" where                  \
               "], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nst.global.u32 [" where                      \
               "], 0;\nret;\nO: " write)
#define GATE_AND_DOOR "mov.u64 %rd2, door;\nmov.u64 %rd3, gate;\n"

static void a_distance_leads_to_a_lock(void **state) {
  static const wait_case cases[] = {
      {"from shared memory",
       OPENED("%rd1", "mov.u64 %rd2, slot;\ncvta.shared.u64 %rd3, %rd2;\nsub.s64 %rd4, %rd1, %rd3;\n"
                      "add.s64 %rd5, %rd3, %rd4;\nst.volatile.u32 [%rd5], 0;"),
       "atom"},
      {"from shared memory, by an exchange",
       OPENED("%rd1", "mov.u64 %rd2, slot;\ncvta.shared.u64 %rd3, %rd2;\nsub.s64 %rd4, %rd1, %rd3;\n"
                      "add.s64 %rd5, %rd3, %rd4;\natom.exch.b32 %r4, [%rd5], 0;"),
       "atom"},
      {"from local memory",
       OPENED("%rd1", "mov.u64 %rd2, own;\ncvta.local.u64 %rd3, %rd2;\nsub.s64 %rd4, %rd1, %rd3;\n"
                      "add.s64 %rd5, %rd3, %rd4;\natom.exch.b32 %r4, [%rd5], 0;"),
       "atom"},
      {"from a variable to the one beside it",
       OPENED("gate", GATE_AND_DOOR "sub.s64 %rd4, %rd3, %rd2;\nadd.s64 %rd5, %rd2, %rd4;\n"
                                    "st.volatile.global.u32 [%rd5], 0;"),
       "atom"},
      {"the same in words of 32 bits",
       OPENED("gate",
              GATE_AND_DOOR "sub.s64 %rd4, %rd3, %rd2;\nshr.s64 %rd4, %rd4, 2;\ncvt.u32.u64 %r4, %rd4;\n"
                            "mad.wide.s32 %rd5, %r4, 4, %rd2;\nred.global.add.u32 [%rd5], -1;"),
       "atom"},
      {"by 64 bits from memory",
       OPENED("gate", "mov.u64 %rd2, door;\nld.global.u64 %rd4, [%rd6];\nadd.s64 %rd5, %rd2, %rd4;\n"
                      "st.volatile.global.u32 [%rd5], 0;"),
       "atom"},
      {"from one parameter to the other, where plain stores are of results",
       OPENED("%rd1", "sub.s64 %rd4, %rd1, %rd6;\nadd.s64 %rd5, %rd6, %rd4;\nst.global.u32 [%rd5], %r8;"),
       "atom"},
      {"the same through memory",
       OPENED("%rd1", "sub.s64 %rd4, %rd1, %rd6;\nst.local.u64 [own], %rd4;\nld.local.u64 %rd3, [own];\n"
                      "add.s64 %rd5, %rd6, %rd3;\nst.global.u32 [%rd5], %r8;"),
       "atom"},
      {"an address of shared memory, taken for one of global memory",
       OPENED("%rd1", "mov.u64 %rd2, slot;\nst.volatile.global.u32 [%rd2], 0;"), "atom"},
      {"fetched work is given back",
       TWO_POINTERS("mov.u64 %rd2, slot;\ncvta.shared.u64 %rd3, %rd2;\nsub.s64 %rd4, %rd1, %rd3;\n"
                    "add.s64 %rd5, %rd3, %rd4;\nL: atom.global.add.u32 %r1, [%rd1], 1;\n"
                    "setp.ge.u32 %p1, %r1, %r8;\n@%p1 bra M;\nred.add.u32 [%rd5], -1;\nbra L;\nM:"),
       "atom"},
      {"an index into the variable beside it",
       OPENED("gate", "mov.u64 %rd2, door;\nmul.wide.u32 %rd4, %r8, 4;\nadd.s64 %rd5, %rd2, %rd4;\n"
                      "st.volatile.global.u32 [%rd5], 0;"),
       NULL},
      {"an index into shared memory",
       OPENED("%rd1", "mov.u64 %rd2, row;\ncvta.shared.u64 %rd3, %rd2;\nmul.wide.u32 %rd4, %r8, 4;\n"
                      "add.s64 %rd5, %rd3, %rd4;\nst.volatile.u32 [%rd5], 0;"),
       NULL},
      {"an element of the other parameter, by 64 bits",
       OPENED("%rd1", "ld.global.u64 %rd4, [%rd6];\nshl.b64 %rd4, %rd4, 2;\nadd.s64 %rd5, %rd6, %rd4;\n"
                      "st.global.u32 [%rd5], %r8;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("shared arrays whose size the launch says are one place",
                shared_arrays_of_the_launch_are_one),
      BEHAVIOUR("a distance of 32 bits leads from one shared variable to another",
                a_distance_leads_from_one_shared_variable_to_another),
      BEHAVIOUR("a distance leads from whatever place to a lock", a_distance_leads_to_a_lock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
