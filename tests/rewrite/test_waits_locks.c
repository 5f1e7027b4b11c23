/* Updates, locks and work that is fetched: loops that end by what the kernel's own threads do. */
#include "check.h"

#include "waits.h"

static void updates_end_by_themselves(void **state) {
  static const wait_case cases[] = {
      {"what the swap found is expected next",
       KERNEL(
           "ld.global.u32 %r2, [%rd1];\nL: add.u32 %r3, %r2, 5;\natom.global.cas.b32 %r1, [%rd1], %r2, %r3;\n"
           "setp.ne.u32 %p1, %r1, %r2;\nmov.u32 %r2, %r1;\n@%p1 bra L;"),
       NULL},
      {"the same with copies",
       KERNEL("ld.global.u32 %r2, [%rd1];\nL: mov.u32 %r4, %r2;\nadd.u32 %r3, %r4, 5;\n"
              "atom.global.cas.b32 %r2, [%rd1], %r4, %r3;\nsetp.ne.u32 %p1, %r4, %r2;\n@%p1 bra L;"),
       NULL},
      {"loaded again",
       KERNEL("L: ld.volatile.global.u32 %r2, [%rd1];\nadd.u32 %r3, %r2, 5;\n"
              "atom.global.cas.b32 %r1, [%rd1], %r2, %r3;\nsetp.ne.u32 %p1, %r1, %r2;\n@%p1 bra L;"),
       NULL},
      {"a maximum of floats, which may be there already",
       KERNEL("ld.global.u32 %r2, [%rd1];\nL: mov.b32 %f1, %r2;\nsetp.leu.f32 %p2, %f2, %f1;\n@%p2 bra M;\n"
              "mov.b32 %r3, %f2;\natom.global.cas.b32 %r1, [%rd1], %r2, %r3;\nsetp.ne.s32 %p1, %r1, %r2;\n"
              "mov.u32 %r2, %r1;\n@%p1 bra L;\nM:"),
       NULL},
      {"a node that is put in front of a list",
       KERNEL("ld.global.u64 %rd2, [%rd1+8];\nL: ld.volatile.global.u32 %r2, [%rd1];\n"
              "st.global.u32 [%rd1+16], %r2;\natom.global.cas.b32 %r1, [%rd1], %r2, %r7;\n"
              "setp.ne.u32 %p1, %r1, %r2;\n@%p1 bra L;"),
       NULL},
      {"its own addition comes in between, while a flag is down",
       KERNEL("L: ld.volatile.global.u32 %r2, [%rd1];\nld.volatile.global.u32 %r4, [%rd1+64];\n"
              "setp.ne.u32 %p2, %r4, 0;\n@!%p2 red.global.add.u32 [%rd1], 1;\n"
              "atom.global.cas.b32 %r1, [%rd1], %r2, 77;\nsetp.ne.u32 %p1, %r1, %r2;\n@%p1 bra L;"),
       "ld.volatile"},
      {"its own exchange comes in between",
       KERNEL("L: ld.volatile.global.u32 %r2, [%rd1];\nadd.u32 %r5, %r5, 1;\n"
              "atom.global.exch.b32 %r4, [%rd1], %r5;\natom.global.cas.b32 %r1, [%rd1], %r2, 77;\n"
              "setp.ne.u32 %p1, %r1, %r2;\n@%p1 bra L;"),
       "ld.volatile"},
      {"a store that may lead there comes in between",
       KERNEL("ld.global.u64 %rd2, [%rd1+8];\nL: ld.volatile.global.u32 %r2, [%rd1];\n"
              "st.volatile.global.u32 [%rd2], %r7;\natom.global.cas.b32 %r1, [%rd1], %r2, 77;\n"
              "setp.ne.u32 %p1, %r1, %r2;\n@%p1 bra L;"),
       "ld.volatile"},
      {"loaded from elsewhere",
       KERNEL("L: ld.volatile.global.u32 %r2, [%rd1+64];\nadd.u32 %r3, %r2, 5;\n"
              "atom.global.cas.b32 %r1, [%rd1], %r2, %r3;\nsetp.ne.u32 %p1, %r1, %r2;\n@%p1 bra L;"),
       "ld.volatile"},
      {"expected as it was found, but only sometimes",
       KERNEL("ld.global.u32 %r2, [%rd1];\nL: atom.global.cas.b32 %r1, [%rd1], %r2, 7;\n"
              "setp.eq.u32 %p1, %r1, %r2;\n@%p1 bra M;\nsetp.gt.u32 %p2, %r1, 100;\n@%p2 bra L;\n"
              "mov.u32 %r2, %r1;\nbra L;\nM:"),
       "atom"},
      {"left when it fails",
       KERNEL("ld.global.u32 %r2, [%rd1];\nL: atom.global.cas.b32 %r1, [%rd1], %r2, %r2;\n"
              "setp.eq.u32 %p1, %r1, %r2;\nmov.u32 %r2, %r1;\n@%p1 bra L;"),
       "atom"},
  };
  EXPECT_ALL(cases);
}

#define TAKE "L: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n"

static void a_lock_is_told_from_a_flag_by_its_release(void **state) {
  static const wait_case cases[] = {
      {"given back by an exchange", KERNEL(TAKE "membar.gl;\natom.global.exch.b32 %r2, [%rd1], 0;"), NULL},
      {"given back by a store", KERNEL(TAKE "membar.gl;\nst.volatile.global.u32 [%rd1], 0;"), NULL},
      {"given back by a release", KERNEL(TAKE "st.release.gpu.global.u32 [%rd1], 0;"), NULL},
      {"given back by a swap", KERNEL(TAKE "atom.global.cas.b32 %r2, [%rd1], 1, 0;"), NULL},
      {"taken by an exchange",
       KERNEL("L: atom.global.exch.b32 %r1, [%rd1], 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n"
              "st.global.u32 [%rd1], 0;"),
       NULL},
      {"on both ways",
       KERNEL(TAKE "setp.eq.u32 %p2, %r8, 0;\n@%p2 bra A;\nst.global.u32 [%rd1+4], 1;\n"
                   "st.global.u32 [%rd1], 0;\nret;\nA: st.global.u32 [%rd1], 0;"),
       NULL},
      {"held in a loop that ends",
       KERNEL(TAKE
              "A: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 9;\n@%p2 bra A;\nst.global.u32 [%rd1], 0;"),
       NULL},
      {"taken and given back inside the loop, for diverged lanes",
       KERNEL(
           "L: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.eq.s32 %p1, %r1, 0;\nsetp.ne.s32 %p2, %r1, 0;\n"
           "@%p2 bra M;\nst.global.u32 [%rd1+4], 1;\nmembar.gl;\natom.global.exch.b32 %r2, [%rd1], 0;\n"
           "M: not.pred %p3, %p1;\n@%p3 bra L;"),
       NULL},
      {"one of many, for each of several elements",
       KERNEL("A: mul.wide.s32 %rd2, %r7, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "L: atom.global.cas.b32 %r1, [%rd3], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n"
              "membar.gl;\natom.global.exch.b32 %r2, [%rd3], 0;\nadd.u32 %r7, %r7, 32;\n"
              "setp.lt.u32 %p2, %r7, %r8;\n@%p2 bra A;"),
       NULL},
      {"a trap with the lock in hand",
       KERNEL(TAKE "setp.eq.u32 %p2, %r8, 0;\n@%p2 bra A;\n"
                   "st.global.u32 [%rd1], 0;\nret;\nA: trap;"),
       NULL},
      {"never given back", KERNEL(TAKE), "atom"},
      {"given back on one way only",
       KERNEL(TAKE "setp.eq.u32 %p2, %r8, 0;\n@%p2 bra A;\nst.global.u32 [%rd1], 0;\nA:"), "atom"},
      {"given back under a guard", KERNEL(TAKE "setp.eq.u32 %p2, %r8, 0;\n@%p2 st.global.u32 [%rd1], 0;"),
       "atom"},
      {"another lock given back", KERNEL(TAKE "st.global.u32 [%rd1+4], 0;"), "atom"},
      {"another value given back", KERNEL(TAKE "st.global.u32 [%rd1], 2;"), "atom"},
      {"the pointer moved on in between", KERNEL(TAKE "add.s64 %rd1, %rd1, 4;\nst.global.u32 [%rd1], 0;"),
       "atom"},
      {"opened by a thread that did not take it",
       KERNEL("setp.ne.u32 %p2, %r7, 5;\n@%p2 bra L;\nst.global.u32 [%rd1], 0;\n" TAKE
              "st.global.u32 [%rd1], 0;"),
       "atom"},
      {"taken again with the lock in hand",
       KERNEL("A: " TAKE "add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p2, %r7, 99;\n"
              "@%p2 bra A;\nst.global.u32 [%rd1], 0;"),
       "atom"},
      {"left when another has it",
       KERNEL("L: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\n"
              "st.global.u32 [%rd1], 0;\nbra L;\nM:"),
       "atom"},
  };
  EXPECT_ALL(cases);
}

#define FIRST_TRY(more) "atom.global.cas.b32 %r2, [%rd1], 0, 1;\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra G;\n" more
#define RESTING                                                                                              \
  "L: nanosleep.u32 99;\natom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n"
#define RELEASE "membar.gl;\natom.global.exch.b32 %r3, [%rd1], 0;\n"
#define AGAIN "N: atom.global.cas.b32 %r4, [%rd1], 0, 1;\nsetp.ne.u32 %p3, %r4, 0;\n@%p3 bra N;\n"

/* Compilers take the first try out of a loop with a body. */
static void a_lock_may_be_taken_in_several_places(void **state) {
  static const wait_case cases[] = {
      {"a try in front of the loop", KERNEL(FIRST_TRY("") RESTING "G: " RELEASE), NULL},
      {"one of many, for each of several elements",
       KERNEL("A: mul.wide.s32 %rd2, %r7, 4;\nadd.s64 %rd3, %rd1, %rd2;\natom.global.cas.b32 %r2, [%rd3], 0, "
              "1;\n"
              "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra G;\nL: nanosleep.u32 99;\natom.global.cas.b32 %r1, [%rd3], "
              "0, 1;\n"
              "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nG: membar.gl;\natom.global.exch.b32 %r3, [%rd3], 0;\n"
              "add.u32 %r7, %r7, 32;\nsetp.lt.u32 %p3, %r7, %r8;\n@%p3 bra A;"),
       NULL},
      {"twice, one after the other", KERNEL(TAKE RELEASE AGAIN RELEASE), NULL},
      {"on two ways", KERNEL("setp.eq.u32 %p4, %r8, 0;\n@%p4 bra N;\n" TAKE RELEASE "ret;\n" AGAIN RELEASE),
       NULL},
      {"the first try keeps it",
       KERNEL("atom.global.cas.b32 %r2, [%rd1], 0, 1;\nsetp.eq.u32 %p2, %r2, 0;\n"
              "@%p2 bra M;\n" RESTING RELEASE "M:"),
       "atom"},
      {"the first try leaves another number",
       KERNEL("atom.global.cas.b32 %r2, [%rd1], 0, 2;\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra G;\n" RESTING
              "G: " RELEASE),
       "atom"},
      {"the first try is for another lock",
       KERNEL("atom.global.cas.b32 %r2, [%rd1+4], 0, 1;\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra G;\n" RESTING
              "G: " RELEASE),
       "atom"},
      {"the first try fails, and it is given back all the same",
       KERNEL("atom.global.cas.b32 %r2, [%rd1], 0, 1;\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra G;\n" RESTING
              "G: " RELEASE),
       "atom"},
      {"the second time it is kept", KERNEL(TAKE RELEASE AGAIN), "atom"},
      {"the second time with it in hand", KERNEL(TAKE AGAIN RELEASE RELEASE), "atom"},
  };
  EXPECT_ALL(cases);
}

#define TEST(address, number)                                                                                \
  "L: ld.volatile.global.u32 %r2, [" address "];\nsetp.ne.u32 %p2, %r2, " number ";\n@%p2 bra L;\n"
#define TAKEN "atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n"
#define TRIED "M: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\n"

/* The word of a lock is free at some time: a loop may look for that. */
static void a_lock_may_be_tested_before_it_is_taken(void **state) {
  static const wait_case cases[] = {
      {"in each round", KERNEL(TEST("%rd1", "0") TAKEN RELEASE), NULL},
      {"once", KERNEL(TEST("%rd1", "0") TRIED RELEASE), NULL},
      {"in a loop with a body, whose first look is taken out",
       KERNEL(
           "M: ld.volatile.global.u32 %r3, [%rd1];\nsetp.eq.u32 %p3, %r3, 0;\n@%p3 bra T;\n"
           "L: nanosleep.u32 20;\nld.volatile.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra "
           "L;\nT: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\n" RELEASE),
       NULL},
      {"another word", KERNEL(TEST("%rd1+4", "0") TAKEN RELEASE), "ld.volatile"},
      {"for being taken", KERNEL(TEST("%rd1", "1") TRIED RELEASE), "ld.volatile"},
      {"for not being free",
       KERNEL(
           "L: ld.volatile.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra L;\n" TRIED RELEASE),
       "ld.volatile"},
      {"half of it",
       KERNEL(
           "L: ld.volatile.global.u16 %h1, [%rd1];\nsetp.ne.u16 %p2, %h1, 0;\n@%p2 bra L;\n" TRIED RELEASE),
       "ld.volatile"},
      {"one that is kept", KERNEL(TEST("%rd1", "0") TRIED), "ld.volatile"},
      {"one that another thread opens",
       KERNEL("setp.eq.u32 %p4, %r7, 5;\n@%p4 bra O;\n" TEST("%rd1", "0") TRIED RELEASE
              "ret;\nO: st.volatile.global.u32 [%rd1], 0;"),
       "ld.volatile"},
      {"at an address that goes on before it is taken",
       KERNEL("mov.u64 %rd2, %rd1;\n" TEST(
           "%rd2", "0") "add.s64 %rd2, %rd2, 4;\n"
                        "M: atom.global.cas.b32 %r1, [%rd2], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\n"
                        "membar.gl;\natom.global.exch.b32 %r3, [%rd2], 0;"),
       "ld.volatile"},
      {"so many times",
       KERNEL("L: add.u32 %r4, %r4, 1;\nsetp.gt.u32 %p3, %r4, 99;\n@%p3 bra E;\n"
              "ld.volatile.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra L;\n" TRIED RELEASE
              "E:"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

#define ELSEWHERE(first, write)                                                                              \
  KERNEL("setp.eq.u32 %p2, %r7, 5;\n@%p2 bra O;\n" first TAKE "st.global.u32 [%rd1], 0;\nret;\nO: " write    \
         "\nret;")
#define TWO_POINTERS(body)                                                                                   \
  HEAD ".visible .global .align 4 .b32 gate;\n.visible .global .align 4 .b32 door;\n"                        \
       ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n" DECLARATIONS                    \
       "ld.param.u64 %rd6, [q];\n" START body "\nret;\n}\n"

/* A thread that opens the lock without having taken it makes it a flag, wherever the address comes from. */
static void a_lock_that_others_may_open_is_a_flag(void **state) {
  static const wait_case cases[] = {
      {"by an exchange", ELSEWHERE("", "atom.global.exch.b32 %r3, [%rd1], 0;"), "atom"},
      {"by a reduction", ELSEWHERE("", "red.global.add.u32 [%rd1], -1;"), "atom"},
      {"by a minimum", ELSEWHERE("", "atom.global.min.u32 %r3, [%rd1], %r8;"), "atom"},
      {"by a vector", ELSEWHERE("", "st.global.v2.u32 [%rd1], {%r8, %r8};"), "atom"},
      {"by a store of 64 bits", ELSEWHERE("", "mov.u64 %rd2, 1;\nst.global.u64 [%rd1+-4], %rd2;"), "atom"},
      {"by a byte of it", ELSEWHERE("", "mov.u16 %h1, 7;\nst.global.u8 [%rd1+1], %h1;"), "atom"},
      {"by an offset in a register",
       ELSEWHERE("",
                 "mul.wide.s32 %rd2, %r8, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.volatile.global.u32 [%rd3], 0;"),
       "atom"},
      {"by a pointer from memory",
       ELSEWHERE("", "ld.global.u64 %rd2, [%rd1+8];\nst.volatile.global.u32 [%rd2], 0;"), "atom"},
      {"by a bulk copy",
       ELSEWHERE("", "mov.u32 %r3, slot;\ncp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 16;"),
       "atom"},
      {"by a surface", ELSEWHERE("", "sust.b.1d.b32.trap [%rd1, {%r8}], %r7;"), "atom"},
      {"by the release of one that did not take it",
       KERNEL("setp.eq.u32 %p2, %r7, 5;\n@%p2 bra O;\n" TAKE
              "st.global.u32 [%rd1+4], 1;\nO: st.global.u32 [%rd1], 0;"),
       "atom"},
      {"each hands on the next one's",
       KERNEL("mov.u32 %r2, %ctaid.x;\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "L: atom.global.cas.b32 %r1, [%rd3], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n"
              "st.volatile.global.u32 [%rd3+4], 0;\nst.global.u32 [%rd3], 0;"),
       "atom"},
      {"by another parameter",
       TWO_POINTERS("setp.eq.u32 %p2, %r7, 5;\n@%p2 bra O;\n" TAKE "st.global.u32 [%rd1], 0;\nret;\n"
                    "O: st.volatile.global.u32 [%rd6], 0;"),
       "atom"},
      {"by another parameter, a plain store of what a free lock holds",
       TWO_POINTERS("setp.eq.u32 %p2, %r7, 5;\n@%p2 bra O;\n" TAKE "st.global.u32 [%rd1], 0;\nret;\n"
                    "O: st.global.u32 [%rd6], 0;"),
       "atom"},
      {"by a function of the module",
       MODULE(".func open(.param .b64 where)\n{\n.reg .b64 %w;\nld.param.b64 %w, [where];\nst.volatile.u32 "
              "[%w], 0;\n"
              "ret;\n}\n",
              "setp.eq.u32 %p2, %r7, 5;\n@%p2 bra O;\n" TAKE "st.global.u32 [%rd1], 0;\nret;\n"
              "O: {\n.param .b64 a;\nst.param.b64 [a], %rd1;\ncall open, (a);\n}"),
       "atom"},
      {"by what sets memory",
       MODULE(".extern .func (.param .b64 r) memset(.param .b64 a, .param .b32 b, .param .b64 n);\n", TAKE
              "st.global.u32 [%rd1], 0;\n{\n.param .b64 a;\n.param .b32 b;\n.param .b64 c;\n.param .b64 d;\n"
              "st.param.b64 [a], %rd1;\nst.param.b32 [b], 0;\nst.param.b64 [c], 4;\ncall (d), memset, (a, b, "
              "c);\n}"),
       "atom"},
  };
  EXPECT_ALL(cases);
}

/* A lock at [%rd1+4], and a write that is not apart from it. */
#define BESIDE(write)                                                                                        \
  KERNEL("setp.eq.u32 %p2, %r7, 5;\n@%p2 bra O;\nL: atom.global.cas.b32 %r1, [%rd1+4], 0, 1;\n"              \
         "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nst.global.u32 [%rd1+4], 0;\nret;\nO: " write                \
         "st.volatile.global.u32 [%rd4], 0;")
#define OFFSET(r) "cvt.u64.u32 %rd3, " r ";\nadd.s64 %rd4, %rd1, %rd3;\n"

static void addresses_that_come_round_are_not_apart(void **state) {
  static const wait_case cases[] = {
      {"two halves, without the carry",
       BESIDE("mov.u32 %r2, 0xfffc;\nmov.u32 %r3, 8;\nadd.u16x2 %r4, %r2, %r3;\n" OFFSET("%r4")), "atom"},
      {"-1 as a number without a sign",
       BESIDE("mov.u32 %r2, -1;\ncvt.u64.u32 %rd2, %r2;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "sub.s64 %rd4, %rd3, 4294967291;\n"),
       "atom"},
      {"a product of -4 as a number without a sign",
       BESIDE("mov.u32 %r2, -4;\nmul.wide.u32 %rd2, %r2, 1;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "sub.s64 %rd4, %rd3, 4294967288;\n"),
       "atom"},
      {"16 bits that are multiplied into 32",
       BESIDE("cvt.u16.u32 %h1, %r8;\nmad.wide.u16 %r2, %h1, 12, 0xfffffff8;\n" OFFSET("%r2")), "atom"},
      {"twelve times any 64 bits",
       BESIDE("ld.global.u64 %rd2, [%rd1+64];\nmul.lo.s64 %rd3, %rd2, 12;\nadd.s64 %rd4, %rd1, %rd3;\n"),
       "atom"},
      {"a pointer that is worked out from itself alone",
       BESIDE("A: add.s64 %rd4, %rd4, 8;\nmov.u64 %rd3, %rd4;\nmov.u64 %rd4, %rd3;\n"
              "setp.lt.u64 %p3, %rd4, 64;\n@%p3 bra A;\n"),
       "atom"},
      {"twelve times 32 bits", BESIDE("mul.wide.s32 %rd3, %r8, 12;\nadd.s64 %rd4, %rd1, %rd3;\n"), NULL},
      {"eight times any 64 bits",
       BESIDE("ld.global.u64 %rd2, [%rd1+64];\nmul.lo.s64 %rd3, %rd2, 8;\nadd.s64 %rd4, %rd1, %rd3;\n"),
       NULL},
  };
  EXPECT_ALL(cases);
}

static void a_lock_stays_one_beside_other_writes(void **state) {
  static const wait_case cases[] = {
      {"what is written elsewhere in the buffer", ELSEWHERE("", "st.volatile.global.u32 [%rd1+4], 0;"), NULL},
      {"another number", ELSEWHERE("", "st.volatile.global.u32 [%rd1], 1;"), NULL},
      {"what lies behind it",
       ELSEWHERE(
           "", "mul.wide.u32 %rd2, %r8, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.volatile.global.u32 [%rd3+4], 0;"),
       NULL},
      {"the data of buckets that have a lock each",
       KERNEL("mul.wide.s32 %rd2, %r7, 8;\nadd.s64 %rd3, %rd1, %rd2;\nL: atom.global.cas.b32 %r1, [%rd3], 0, "
              "1;\n"
              "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nld.volatile.global.u32 %r2, [%rd3+4];\nadd.u32 %r2, "
              "%r2, 1;\n"
              "st.volatile.global.u32 [%rd3+4], %r2;\nst.global.u32 [%rd3], 0;"),
       NULL},
      {"another variable, by name",
       TWO_POINTERS("setp.eq.u32 %p2, %r7, 5;\n@%p2 bra O;\nL: atom.global.cas.b32 %r1, [gate], 0, 1;\n"
                    "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nst.global.u32 [gate], 0;\nret;\n"
                    "O: st.volatile.global.u32 [door], 0;"),
       NULL},
      {"data that the lock guards, and results",
       TWO_POINTERS(
           TAKE
           "ld.volatile.global.u32 %r2, [%rd6];\nadd.u32 %r2, %r2, 1;\nst.volatile.global.u32 [%rd6], %r2;\n"
           "st.global.u32 [%rd1], 0;\nmul.wide.u32 %rd3, %r7, 4;\nadd.s64 %rd4, %rd6, %rd3;\n"
           "st.global.u32 [%rd4], %r2;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

/* Each CTA has a lock, and writes where another's is if both parameters point to one buffer. */
#define HANDED(write)                                                                                        \
  TWO_POINTERS("mov.u32 %r2, %ctaid.x;\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"             \
               "add.s64 %rd4, %rd6, %rd2;\n"                                                                 \
               "L: atom.global.cas.b32 %r1, [%rd3], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n" write    \
               "st.global.u32 [%rd3], 0;")
#define SUM(add) "ld.volatile.global.u32 %r3, [%rd4+4];\n" add "st.volatile.global.u32 [%rd4+4], %r4;\n"

static void a_holder_of_one_of_several_locks_may_hand_on_another(void **state) {
  static const wait_case cases[] = {
      {"by taking one away", HANDED("red.global.add.u32 [%rd4+4], -1;\n"), "atom"},
      {"by what takes one away", HANDED("atom.global.dec.u32 %r3, [%rd4+4], 1;\n"), "atom"},
      {"by clearing bits", HANDED("red.global.and.b32 [%rd4+4], 6;\n"), "atom"},
      {"by a bit that is turned over", HANDED("red.global.xor.b32 [%rd4+4], 1;\n"), "atom"},
      {"by a minimum", HANDED("atom.global.min.s32 %r3, [%rd4+4], %r8;\n"), "atom"},
      {"by an exchange with a parameter", HANDED("atom.global.exch.b32 %r3, [%rd4+4], %r8;\n"), "atom"},
      {"by a store of a parameter", HANDED("st.volatile.global.u32 [%rd4+4], %r8;\n"), "atom"},
      {"by a store of one of two numbers",
       HANDED(
           "setp.lt.u32 %p2, %r2, %r8;\nselp.b32 %r3, 0, 1, %p2;\nst.volatile.global.u32 [%rd4+4], %r3;\n"),
       "atom"},
      {"by several devices' reduction", HANDED("multimem.red.relaxed.gpu.global.min.u32 [%rd4+4], 0;\n"),
       "atom"},
      {"by a sum with -1", HANDED(SUM("add.s32 %r4, %r3, -1;\n")), "atom"},
      {"a count of data", HANDED("red.global.add.u32 [%rd4+4], 1;\n"), NULL},
      {"a sum of data", HANDED(SUM("add.u32 %r4, %r3, %r7;\n")), NULL},
      {"results", HANDED("st.global.u32 [%rd4+4], %r7;\n"), NULL},
      {"a sum of what lies elsewhere",
       HANDED("ld.volatile.global.u32 %r3, [%rd4];\nadd.u32 %r4, %r3, %r7;\nst.volatile.global.u32 [%rd4+4], "
              "%r4;\n"),
       "atom"},
      {"the turn of a ticket lock is a number that another thread stores",
       TWO_POINTERS("setp.eq.u32 %p2, %r7, 5;\n@%p2 bra O;\natom.global.add.u32 %r1, [%rd1], 1;\n"
                    "L: ld.volatile.global.u32 %r2, [%rd1+4];\nsetp.ne.u32 %p1, %r2, %r1;\n@%p1 bra L;\n"
                    "red.global.add.u32 [%rd1+4], 1;\nret;\nO: st.global.u32 [%rd6], 0;"),
       "ld.volatile"},
      {"the only lock, whose holder gives it back anyway",
       TWO_POINTERS(TAKE "red.global.and.b32 [%rd6], %r8;\nst.global.u32 [%rd1], 0;"), NULL},
  };
  EXPECT_ALL(cases);
}

#define TICKET "atom.global.add.u32 %r1, [%rd1], 1;\n"
#define TURN "L: ld.volatile.global.u32 %r2, [%rd1+4];\nsetp.ne.u32 %p1, %r2, %r1;\n@%p1 bra L;\n"

static void a_ticket_lock_is_told_from_a_flag_by_who_passes_the_turn_on(void **state) {
  static const wait_case cases[] = {
      {"a store of the next number",
       KERNEL(TICKET TURN "add.u32 %r3, %r1, 1;\nst.volatile.global.u32 [%rd1+4], %r3;"), NULL},
      {"an addition of one",
       KERNEL(TICKET TURN "st.global.u32 [%rd1+8], %r1;\nred.global.add.u32 [%rd1+4], 1;"), NULL},
      {"for each of several elements",
       KERNEL("A: " TICKET TURN
              "add.u32 %r3, %r1, 1;\nst.release.gpu.global.u32 [%rd1+4], %r3;\nadd.u32 %r7, %r7, 32;\n"
              "setp.lt.u32 %p2, %r7, %r8;\n@%p2 bra A;"),
       NULL},
      {"data of another parameter",
       TWO_POINTERS(
           TICKET TURN
           "ld.volatile.global.u32 %r4, [%rd6];\nadd.u32 %r4, %r4, 1;\n"
           "st.volatile.global.u32 [%rd6], %r4;\nadd.u32 %r3, %r1, 1;\nst.global.u32 [%rd1+4], %r3;"),
       NULL},
      {"never", KERNEL(TICKET TURN "st.global.u32 [%rd1+8], %r1;"), "ld.volatile"},
      {"on one way only",
       KERNEL(
           TICKET TURN
           "setp.eq.u32 %p2, %r8, 0;\n@%p2 bra A;\nadd.u32 %r3, %r1, 1;\nst.global.u32 [%rd1+4], %r3;\nA:"),
       "ld.volatile"},
      {"under a guard", KERNEL(TICKET TURN "setp.eq.u32 %p2, %r8, 0;\n@%p2 red.global.add.u32 [%rd1+4], 1;"),
       "ld.volatile"},
      {"by two", KERNEL(TICKET TURN "red.global.add.u32 [%rd1+4], 2;"), "ld.volatile"},
      {"of another number", KERNEL(TICKET TURN "add.u32 %r3, %r8, 1;\nst.global.u32 [%rd1+4], %r3;"),
       "ld.volatile"},
      {"elsewhere", KERNEL(TICKET TURN "red.global.add.u32 [%rd1+8], 1;"), "ld.volatile"},
      {"by one that did not wait for it",
       KERNEL(TICKET "setp.eq.u32 %p2, %r8, 0;\n@%p2 bra A;\n" TURN "A: red.global.add.u32 [%rd1+4], 1;"),
       "ld.volatile"},
      {"by a thread without a ticket as well",
       KERNEL("setp.ne.u32 %p2, %r7, 0;\n@%p2 bra A;\nst.volatile.global.u32 [%rd1+4], %r8;\nret;\nA: " TICKET
                  TURN "red.global.add.u32 [%rd1+4], 1;"),
       "ld.volatile"},
      {"and the tickets begin again",
       KERNEL(
           "setp.ne.u32 %p2, %r7, 0;\n@%p2 bra A;\nst.volatile.global.u32 [%rd1], 0;\nret;\nA: " TICKET TURN
           "red.global.add.u32 [%rd1+4], 1;"),
       "ld.volatile"},
      {"tickets by twos",
       KERNEL("atom.global.add.u32 %r1, [%rd1], 2;\n" TURN "red.global.add.u32 [%rd1+4], 1;"), "ld.volatile"},
      {"a number that is no ticket",
       KERNEL("mov.u32 %r1, %ctaid.x;\n" TURN "add.u32 %r3, %r1, 1;\nst.volatile.global.u32 [%rd1+4], %r3;"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

/* A look in front of the loop, which leads to `to` where it finds `what`. */
#define FIRST_LOOK(word, what, to)                                                                           \
  "ld.volatile.global.u32 %r4, [%rd1+" word "];\nsetp." what ".u32 %p3, %r4, %r1;\n@%p3 bra " to ";\n"
#define NEXT_LOOKS                                                                                           \
  "L: nanosleep.u32 20;\nld.volatile.global.u32 %r2, [%rd1+4];\nsetp.ne.u32 %p1, %r2, %r1;\n@%p1 bra L;\n"
#define PASSED_ON "G: add.u32 %r3, %r1, 1;\nst.volatile.global.u32 [%rd1+4], %r3;\n"

/* Compilers take the first look out of a loop with a body. */
static void a_turn_may_be_found_in_front_of_the_loop(void **state) {
  static const wait_case cases[] = {
      {"its own", KERNEL(TICKET FIRST_LOOK("4", "eq", "G") NEXT_LOOKS PASSED_ON), NULL},
      {"by an addition",
       KERNEL(TICKET FIRST_LOOK("4", "eq", "G") NEXT_LOOKS "G: red.global.add.u32 [%rd1+4], 1;"), NULL},
      {"another's", KERNEL(TICKET FIRST_LOOK("4", "ne", "G") NEXT_LOOKS PASSED_ON), "ld.volatile"},
      {"one at its own or before", KERNEL(TICKET FIRST_LOOK("4", "le", "G") NEXT_LOOKS PASSED_ON),
       "ld.volatile"},
      {"in another word", KERNEL(TICKET FIRST_LOOK("8", "eq", "G") NEXT_LOOKS PASSED_ON), "ld.volatile"},
      {"before it has a ticket",
       KERNEL("ld.volatile.global.u32 %r4, [%rd1+4];\n" TICKET "setp.eq.u32 %p3, %r4, %r1;\n@%p3 bra "
              "G;\n" NEXT_LOOKS PASSED_ON),
       "ld.volatile"},
      {"and is not passed on", KERNEL(TICKET FIRST_LOOK("4", "eq", "H") NEXT_LOOKS PASSED_ON "H:"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

static void work_that_is_fetched_runs_out(void **state) {
  static const wait_case cases[] = {
      {"by each thread",
       KERNEL("L: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.lt.u32 %p1, %r1, %r8;\n@%p1 bra L;"), NULL},
      {"in bundles of four, one after the other",
       KERNEL("L: atom.global.add.u32 %r1, [%rd1], 4;\nsetp.ge.u32 %p1, %r1, %r8;\n@%p1 bra M;\nmov.u32 %r4, "
              "0;\n"
              "N: add.u32 %r3, %r1, %r4;\nst.global.u32 [%rd1+8], %r3;\nadd.u32 %r4, %r4, 1;\n"
              "setp.lt.u32 %p2, %r4, 4;\n@%p2 bra N;\nbra L;\nM:"),
       NULL},
      {"in bundles of a CTA",
       KERNEL("mov.u32 %r2, %ntid.x;\nL: atom.global.add.u32 %r1, [%rd1], %r2;\nadd.u32 %r3, %r1, %r7;\n"
              "setp.ge.u32 %p1, %r3, %r8;\n@%p1 bra M;\nst.global.u32 [%rd1+8], %r3;\nbra L;\nM:"),
       NULL},
      {"by one thread, through shared memory",
       KERNEL("setp.ne.s32 %p1, %r7, 0;\nL: @%p1 bra A;\natom.global.add.u32 %r1, [%rd1], 1;\n"
              "st.shared.u32 [slot], %r1;\nA: bar.sync 0;\nld.shared.u32 %r2, [slot];\nbar.sync 0;\n"
              "setp.ge.s32 %p2, %r2, %r8;\n@%p2 bra M;\nst.shared.u32 [other], %r2;\nbra L;\nM:"),
       NULL},
      {"by one lane, through a shuffle",
       KERNEL("and.b32 %r6, %r7, 31;\nsetp.ne.s32 %p1, %r6, 0;\nL: mov.u32 %r1, 0;\n@%p1 bra A;\n"
              "atom.global.add.u32 %r1, [%rd1], 32;\nA: shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n"
              "setp.ge.s32 %p2, %r2, %r8;\n@%p2 bra M;\nbra L;\nM:"),
       NULL},
      {"downwards", KERNEL("L: atom.global.add.u32 %r1, [%rd1], -1;\nsetp.gt.s32 %p1, %r1, 0;\n@%p1 bra L;"),
       NULL},
      {"only while a flag is up",
       KERNEL("L: ld.volatile.global.u32 %r3, [%rd1+8];\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra A;\n"
              "atom.global.add.u32 %r1, [%rd1], 1;\nA: setp.lt.u32 %p1, %r1, %r8;\n@%p1 bra L;"),
       "ld.volatile"},
      {"until there is some",
       KERNEL("L: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.gt.u32 %p1, %r1, %r8;\n@%p1 bra L;"), "atom"},
      {"with another store to the same place",
       KERNEL("setp.ne.s32 %p1, %r7, 0;\nL: @%p1 bra A;\natom.global.add.u32 %r1, [%rd1], 1;\n"
              "st.shared.u32 [slot], %r1;\nA: bar.sync 0;\nld.shared.u32 %r2, [slot];\nbar.sync 0;\n"
              "setp.ge.s32 %p2, %r2, %r8;\n@%p2 bra M;\nst.shared.u32 [slot], %r7;\nbra L;\nM:"),
       "atom"},
  };
  EXPECT_ALL(cases);
}

#define FETCH "L: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.ge.u32 %p1, %r1, %r8;\n@%p1 bra M;\n"

/* What an atomic added stays there only if nothing else writes the place. */
static void work_that_is_given_back_does_not_run_out(void **state) {
  static const wait_case cases[] = {
      {"taken off again", KERNEL(FETCH "red.global.add.u32 [%rd1], -1;\nbra L;\nM:"), "atom"},
      {"set back", KERNEL(FETCH "st.volatile.global.u32 [%rd1], 0;\nbra L;\nM:"), "atom"},
      {"set back by a wider store",
       KERNEL(FETCH "mov.u64 %rd2, 0;\nst.global.u64 [%rd1+-4], %rd2;\nbra L;\nM:"), "atom"},
      {"set back by another thread, outside of the loop",
       KERNEL("setp.ne.u32 %p2, %r7, 0;\n@%p2 bra L;\nst.volatile.global.u32 [%rd1], 0;\nret;\n" FETCH
              "bra L;\nM:"),
       "atom"},
      {"set back at the end", KERNEL(FETCH "bra L;\nM: st.global.u32 [%rd1], 0;"), "atom"},
      {"taken off by an index",
       KERNEL("mul.wide.s32 %rd2, %r7, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" FETCH
              "red.global.add.u32 [%rd3], -1;\nbra L;\nM:"),
       "atom"},
      {"taken off through another parameter",
       TWO_POINTERS(FETCH "red.global.add.u32 [%rd6], -1;\nbra L;\nM:"), "atom"},
      {"around and around", KERNEL(FETCH "atom.global.inc.u32 %r2, [%rd1], %r8;\nbra L;\nM:"), "atom"},
      {"a barrier of arrivals that leave again",
       KERNEL("L: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.ge.u32 %p1, %r1, %r8;\n@%p1 bra M;\n"
              "atom.global.sub.u32 %r2, [%rd1], 1;\nbra L;\nM:"),
       "atom"},
      {"more of it added elsewhere", KERNEL("red.global.add.u32 [%rd1], 2;\n" FETCH "bra L;\nM:"), NULL},
      {"results through another parameter",
       TWO_POINTERS(
           FETCH
           "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd6, %rd2;\nst.global.u32 [%rd3], %r7;\nbra L;\nM:"),
       NULL},
      {"results behind it",
       KERNEL(FETCH "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                    "st.volatile.global.u32 [%rd3+4], %r7;\nbra L;\nM:"),
       NULL},
  };
  EXPECT_ALL(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("an update by compare and swap ends by itself", updates_end_by_themselves),
      BEHAVIOUR("a lock is told from a flag by its release on every path",
                a_lock_is_told_from_a_flag_by_its_release),
      BEHAVIOUR("a lock that a thread may open without having taken it is a flag",
                a_lock_that_others_may_open_is_a_flag),
      BEHAVIOUR("a holder of one of several locks may hand on another",
                a_holder_of_one_of_several_locks_may_hand_on_another),
      BEHAVIOUR("an address that comes round in its bits may meet a lock",
                addresses_that_come_round_are_not_apart),
      BEHAVIOUR("a lock may be taken in several places", a_lock_may_be_taken_in_several_places),
      BEHAVIOUR("a lock may be tested before it is taken", a_lock_may_be_tested_before_it_is_taken),
      BEHAVIOUR("a turn may be found in front of the loop", a_turn_may_be_found_in_front_of_the_loop),
      BEHAVIOUR("a lock beside writes that cannot meet it stays one", a_lock_stays_one_beside_other_writes),
      BEHAVIOUR("a ticket lock is told from a flag by the threads that pass the turn on",
                a_ticket_lock_is_told_from_a_flag_by_who_passes_the_turn_on),
      BEHAVIOUR("work that atomics hand out runs out", work_that_is_fetched_runs_out),
      BEHAVIOUR("work that is given back, or set back, does not", work_that_is_given_back_does_not_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
