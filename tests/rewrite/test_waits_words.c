/* Loops that end only if words, steps and bounds are what they look like: numbers that wrap, parts of words,
 * values that were worked out too early, and what a thread other than the one that fetches decides. */
#include "check.h"

#include "waits.h"

#define TAKE "L: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n"
#define ELSEWHERE(write)                                                                                     \
  KERNEL("setp.eq.u32 %p2, %r7, 5;\n@%p2 bra O;\n" TAKE "st.global.u32 [%rd1], 0;\nret;\nO: " write "\nret"  \
         ";")
#define TWO_POINTERS(body)                                                                                   \
  HEAD ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n" DECLARATIONS                    \
       "ld.param.u64 %rd6, [q];\n" START body "\nret;\n}\n"
/* %rd3 is the address of the CTA's lock among many. */
#define OWN_LOCK "mul.wide.u32 %rd2, %r7, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
#define TAKE_OWN "L: atom.global.cas.b32 %r1, [%rd3], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n"

static void a_lock_is_one_word(void **state) {
  static const wait_case cases[] = {
      {"a release of the lock alone", KERNEL(OWN_LOCK TAKE_OWN "st.global.u32 [%rd3], 0;"), NULL},
      {"a release that opens the next lock as well",
       KERNEL(OWN_LOCK TAKE_OWN "setp.eq.u32 %p2, %r8, 0;\n@%p2 bra A;\nst.global.u32 [%rd3], 0;\nret;\n"
                                "A: st.global.u64 [%rd3], 0;"),
       "atom"},
      {"the same by an exchange", KERNEL(OWN_LOCK TAKE_OWN "atom.global.exch.b64 %rd4, [%rd3], 0;"), "atom"},
      {"a release of a byte of it", KERNEL(TAKE "st.global.u8 [%rd1], 0;"), "atom"},
      {"opened by 2 to the 32nd, of which 32 bits are stored",
       ELSEWHERE("mov.u64 %rd2, 4294967296;\nst.volatile.global.u32 [%rd1], %rd2;"), "atom"},
      {"opened by the low half of 2 to the 32nd",
       ELSEWHERE("mov.u64 %rd2, 4294967296;\nmov.b64 {%r3, %r4}, %rd2;\nst.volatile.global.u32 [%rd1], %r3;"),
       "atom"},
      {"a free lock is -1, and opened by 4294967295",
       KERNEL("setp.eq.u32 %p2, %r7, 5;\n@%p2 bra O;\nL: atom.global.cas.b32 %r1, [%rd1], -1, 5;\n"
              "setp.ne.s32 %p1, %r1, -1;\n@%p1 bra L;\nst.global.u32 [%rd1], -1;\nret;\n"
              "O: st.volatile.global.u32 [%rd1], 4294967295;"),
       "atom"},
      {"a swap that leaves what it found",
       KERNEL("L: atom.global.cas.b32 %r1, [%rd1], -1, 4294967295;\nsetp.ne.s32 %p1, %r1, -1;\n@%p1 bra L;\n"
              "st.global.u32 [%rd1], -1;"),
       "atom"},
      {"an update that expects a byte of the word",
       KERNEL("L: ld.volatile.global.u8 %r2, [%rd1];\natom.global.cas.b32 %r1, [%rd1], %r2, %r2;\n"
              "setp.ne.u32 %p1, %r1, %r2;\n@%p1 bra L;"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

static void a_holder_may_open_another_lock(void **state) {
  static const wait_case cases[] = {
      {"by an exchange, through another parameter",
       TWO_POINTERS(TAKE "atom.global.exch.b32 %r2, [%rd6], 0;\natom.global.exch.b32 %r2, [%rd1], 0;"),
       "atom"},
      {"by a store", TWO_POINTERS(TAKE "st.volatile.global.u32 [%rd6], 0;\nst.global.u32 [%rd1], 0;"),
       "atom"},
      {"another thread by a vector of which one number is that of a free lock",
       TWO_POINTERS("setp.eq.u32 %p2, %r7, 5;\n@%p2 bra O;\n" TAKE
                    "st.global.u32 [%rd1], 0;\nret;\nO: st.global.v2.u32 [%rd6], {%r7, 0};"),
       "atom"},
      {"data, through another parameter",
       TWO_POINTERS(TAKE "st.volatile.global.u32 [%rd6], %r7;\nst.global.u32 [%rd1], 0;"), NULL},
  };
  EXPECT_ALL(cases);
}

/* One text of an address is two addresses if a register of it changes in between. */
static void an_address_is_worked_out_anew(void **state) {
  static const wait_case cases[] = {
      {"twice from the same",
       KERNEL("mul.wide.u32 %rd2, %r7, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" TAKE_OWN
              "add.s64 %rd4, %rd1, %rd2;\nst.global.u32 [%rd4], 0;"),
       NULL},
      {"for each of several locks",
       KERNEL("mov.u64 %rd2, 0;\nA: add.s64 %rd3, %rd1, %rd2;\n" TAKE_OWN
              "add.s64 %rd4, %rd1, %rd2;\nst.global.u32 [%rd4], 0;\nadd.s64 %rd2, %rd2, 4;\n"
              "setp.lt.u64 %p2, %rd2, 64;\n@%p2 bra A;"),
       NULL},
      {"the index moves between the lock's address and the lock",
       KERNEL("mul.wide.u32 %rd2, %r7, 4;\nadd.s64 %rd3, %rd1, %rd2;\nadd.s64 %rd2, %rd2, 4;\n" TAKE_OWN
              "add.s64 %rd4, %rd1, %rd2;\nst.global.u32 [%rd4], 0;"),
       "atom"},
      {"the index moves between the release's address and the lock",
       KERNEL("mul.wide.u32 %rd2, %r7, 4;\nadd.s64 %rd4, %rd1, %rd2;\nadd.s64 %rd2, %rd2, 4;\n"
              "add.s64 %rd3, %rd1, %rd2;\n" TAKE_OWN "st.global.u32 [%rd4], 0;"),
       "atom"},
  };
  EXPECT_ALL(cases);
}

#define TICKET(next, turn)                                                                                   \
  KERNEL(OWN_LOCK "atom.global.add.u32 %r1, [" next "], 1;\nL: ld.volatile.global.u32 %r2, [" turn "];\n"    \
                  "setp.ne.u32 %p1, %r2, %r1;\n@%p1 bra L;\nadd.u32 %r3, %r1, 1;\n"                          \
                  "st.volatile.global.u32 [" turn "], %r3;")

static void a_ticket_is_for_the_turn_beside_its_counter(void **state) {
  static const wait_case cases[] = {
      {"one counter and one turn", TICKET("%rd1", "%rd1+4"), NULL},
      {"many, each with its turn",
       KERNEL("and.b32 %r4, %r7, 24;\ncvt.u64.u32 %rd2, %r4;\nadd.s64 %rd3, %rd1, %rd2;\nadd.s64 %rd4, %rd3, "
              "4;\n"
              "atom.global.add.u32 %r1, [%rd3], 1;\nL: ld.volatile.global.u32 %r2, [%rd4];\n"
              "setp.ne.u32 %p1, %r2, %r1;\n@%p1 bra L;\nadd.u32 %r3, %r1, 1;\nst.volatile.global.u32 "
              "[%rd3+4], %r3;"),
       NULL},
      {"passed on by an addition, at an address of its own",
       KERNEL(
           "atom.global.add.u32 %r1, [%rd1], 1;\nL: ld.volatile.global.u32 %r2, [%rd1+4];\n"
           "setp.ne.u32 %p1, %r2, %r1;\n@%p1 bra L;\nadd.s64 %rd2, %rd1, 4;\nred.global.add.u32 [%rd2], 1;"),
       NULL},
      {"a counter of each CTA and one turn, which go by the CTAs' numbers", TICKET("%rd3+64", "%rd1"),
       "ld.volatile"},
      {"one counter and a turn of each CTA", TICKET("%rd1", "%rd3+64"), "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

#define FETCH "L: atom.global.add.u32 %r1, [%rd1], 1;\n"
#define UNTIL "setp.ge.s32 %p1, %r1, %r8;\n@!%p1 bra L;"
#define OTHERS(add, loop) KERNEL("setp.ne.u32 %p2, %r7, 0;\n@%p2 bra L;\n" add "\nret;\n" loop)

static void a_fetched_number_ends_a_loop_if_it_gets_there(void **state) {
  static const wait_case cases[] = {
      {"while a flag is down it is replaced",
       KERNEL(FETCH "ld.volatile.global.u32 %r2, [%rd1+8];\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra A;\n"
                    "mov.u32 %r1, 0;\nA: " UNTIL),
       "ld.volatile"},
      {"the same under a guard",
       KERNEL(
           FETCH
           "ld.volatile.global.u32 %r2, [%rd1+8];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 mov.u32 %r1, 0;\n" UNTIL),
       "ld.volatile"},
      {"a flag decides about the lane that it is asked of",
       KERNEL(
           "setp.ne.s32 %p3, %r7, 0;\nL: mov.u32 %r1, 0;\n@%p3 bra A;\natom.global.add.u32 %r1, [%rd1], 1;\n"
           "A: ld.volatile.global.u32 %r2, [%rd1+8];\nand.b32 %r2, %r2, 1;\n"
           "shfl.sync.idx.b32 %r3, %r1, %r2, 31, -1;\nsetp.ge.s32 %p1, %r3, %r8;\n@!%p1 bra L;"),
       "ld.volatile"},
      {"four numbers, and another CTA brings the fifth",
       OTHERS("red.global.add.u32 [%rd1], 1;", "L: atom.global.add.u32 %r1, [%rd1], 1073741824;\nsetp.lt.u32 "
                                               "%p1, %r1, -1073741823;\n@%p1 bra L;"),
       "atom"},
      {"an even number, and another CTA makes it odd",
       OTHERS("red.global.add.u32 [%rd1], 1;", "L: atom.global.add.u32 %r1, [%rd1], 2;\nshl.b32 %r2, %r1, "
                                               "31;\nsetp.lt.u32 %p1, %r2, 1;\n@%p1 bra L;"),
       "atom"},
      {"by steps of which others add multiples",
       OTHERS("red.global.add.u32 [%rd1], 64;",
              "L: atom.global.add.u32 %r1, [%rd1], 32;\nsetp.lt.u32 %p1, %r1, %r8;\n@%p1 bra L;"),
       NULL},
      {"results that a pointer goes through",
       TWO_POINTERS(
           FETCH
           "setp.ge.s32 %p1, %r1, %r8;\n@%p1 bra M;\nadd.s64 %rd2, %rd6, 64;\nA: st.global.u32 [%rd2], 7;\n"
           "add.s64 %rd2, %rd2, 4;\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p2, %r2, 4;\n@%p2 bra A;\n"
           "bra L;\nM:"),
       NULL},
      {"a pointer that goes through what is fetched from",
       KERNEL(FETCH
              "setp.ge.s32 %p1, %r1, %r8;\n@%p1 bra M;\nmov.u64 %rd2, %rd1;\nA: st.global.u32 [%rd2], 7;\n"
              "add.s64 %rd2, %rd2, 4;\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p2, %r2, 4;\n@%p2 bra A;\n"
              "bra L;\nM:"),
       "atom"},
      {"what is added is 0: the upper half of a product",
       OTHERS("red.global.add.u32 [%rd1], 9;",
              "mov.u32 %r2, %ntid.x;\nL: mul.hi.u32 %r3, %r2, %r2;\natom.global.add.u32 %r1, [%rd1], %r3;\n"
              "setp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;"),
       "atom"},
      {"what is added comes round below 0: a product of the size of the CTA",
       OTHERS("mov.u32 %r2, %ntid.x;\nmul.lo.u32 %r3, %r2, 0x7fffffff;\nred.global.add.u32 [%rd1], %r3;",
              "L: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.lt.u32 %p1, %r1, %r8;\n@%p1 bra L;"),
       "atom"},
      {"a product of 32 bits",
       OTHERS("red.global.add.u32 [%rd1], 9;",
              "mov.u32 %r2, 65536;\nL: mul.lo.u32 %r3, %r2, %r2;\natom.global.add.u32 %r1, [%rd1], %r3;\n"
              "setp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;"),
       "atom"},
      {"16 bits of the number of CTAs",
       OTHERS("red.global.add.u32 [%rd1], 9;",
              "mov.u32 %r2, %nctaid.x;\nL: cvt.u16.u32 %h1, %r2;\ncvt.u32.u16 %r3, %h1;\n"
              "atom.global.add.u32 %r1, [%rd1], %r3;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;"),
       "atom"},
  };
  EXPECT_ALL(cases);
}

/* A loop by `step` as long as `more`, unless a plain load finds something. */
#define FOR(start, step, more)                                                                               \
  KERNEL(start "\nL: ld.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\n" step "\n" more     \
               "\n@%p2 bra L;\nM:")

static void a_counter_passes_its_bound(void **state) {
  static const wait_case cases[] = {
      {"by ones", FOR("mov.u32 %r2, 0;", "add.u32 %r2, %r2, 1;", "setp.lt.u32 %p2, %r2, %r8;"), NULL},
      {"signed, by threes", FOR("mov.u32 %r2, 0;", "add.s32 %r2, %r2, 3;", "setp.lt.s32 %p2, %r2, %r8;"),
       NULL},
      {"by sevens to a number", FOR("mov.u32 %r2, 0;", "add.u32 %r2, %r2, 7;", "setp.le.u32 %p2, %r2, 100;"),
       NULL},
      {"by the size of the grid",
       FOR("mov.u32 %r2, %r7;\nmov.u32 %r3, %nctaid.x;", "add.u32 %r2, %r2, %r3;",
           "setp.lt.u32 %p2, %r2, %r8;"),
       NULL},
      {"met by eights, from 0 to 32",
       FOR("mov.u32 %r2, 0;", "add.u32 %r2, %r2, 8;", "setp.ne.s32 %p2, %r2, 32;"), NULL},
      {"met by fours, from a multiple of 4",
       FOR("and.b32 %r2, %r8, -4;", "add.u32 %r2, %r2, -4;", "setp.ne.s32 %p2, %r2, 0;"), NULL},
      {"the greatest number", FOR("mov.u32 %r2, 0;", "add.u32 %r2, %r2, 1;", "setp.le.u32 %p2, %r2, %r8;"),
       "ld.global"},
      {"by twos", FOR("mov.u32 %r2, 0;", "add.u32 %r2, %r2, 2;", "setp.lt.u32 %p2, %r2, %r8;"), "ld.global"},
      {"never below 0", FOR("mov.u32 %r2, %r8;", "sub.u32 %r2, %r2, 1;", "setp.ge.u32 %p2, %r2, 0;"),
       "ld.global"},
      {"down by threes", FOR("mov.u32 %r2, %r8;", "add.u32 %r2, %r2, -3;", "setp.gt.u32 %p2, %r2, 1;"),
       "ld.global"},
      {"16 bits of it",
       FOR("mov.u16 %h1, 0;", "add.u16 %h1, %h1, 1;\ncvt.u32.u16 %r2, %h1;", "setp.lt.s32 %p2, %r2, %r8;"),
       "ld.global"},
      {"met by twos, which may miss it",
       FOR("mov.u32 %r2, 0;", "add.u32 %r2, %r2, 2;", "setp.ne.s32 %p2, %r2, %r8;"), "ld.global"},
      {"met by fours, from any number",
       FOR("mov.u32 %r2, %r8;", "add.u32 %r2, %r2, -4;", "setp.ne.s32 %p2, %r2, 0;"), "ld.global"},
      {"met by two that may pass each other",
       FOR("mov.u32 %r2, 0;\nmov.u32 %r3, %r8;", "add.u32 %r2, %r2, 1;\nadd.u32 %r3, %r3, -1;",
           "setp.ne.s32 %p2, %r2, %r3;"),
       "ld.global"},
      {"a bound that a function loads",
       MODULE(".func (.param .b32 out) most(.param .b64 where)\n{\n.reg .b32 %q;\n.reg .b64 %w;\n"
              "ld.param.u64 %w, [where];\nld.volatile.u32 %q, [%w];\nst.param.b32 [out], %q;\nret;\n}\n",
              "mov.u32 %r2, 0;\nL: add.s32 %r2, %r2, 1;\n{\n.param .b64 a;\n.param .b32 b;\n"
              "st.param.b64 [a], %rd1;\ncall (b), most, (a);\nld.param.b32 %r1, [b];\n}\n"
              "setp.lt.s32 %p1, %r2, %r1;\n@%p1 bra L;"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

static void what_a_counter_goes_between_comparisons_counts(void **state) {
  static const wait_case cases[] = {
      {"two steps in a round, met exactly",
       FOR("mov.u32 %r2, 0;", "add.u32 %r3, %r2, 1;\nadd.u32 %r2, %r3, 1;", "setp.ne.s32 %p2, %r2, %r8;"),
       "ld.global"},
      {"one step and sometimes another, met exactly",
       FOR("mov.u32 %r2, 0;",
           "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r7, 9;\n@%p3 bra S;\nadd.u32 %r2, %r2, 1;\nS:",
           "setp.ne.s32 %p2, %r2, %r8;"),
       "ld.global"},
      {"two steps by ones below the greatest number",
       FOR("mov.u32 %r2, 0;", "add.u32 %r2, %r2, 1;\nadd.u32 %r2, %r2, 1;", "setp.lt.u32 %p2, %r2, %r8;"),
       "ld.global"},
      {"two steps of four, met at four",
       FOR("mov.u32 %r2, 0;", "add.u32 %r3, %r2, 4;\nadd.u32 %r2, %r3, 4;", "setp.ne.s32 %p2, %r2, 4;"),
       "ld.global"},
      {"a step in a loop within, met exactly",
       FOR("mov.u32 %r2, 0;",
           "S: add.u32 %r2, %r2, 1;\nadd.u32 %r3, %r3, 1;\nand.b32 %r4, %r3, 1;\n"
           "setp.ne.u32 %p3, %r4, 0;\n@%p3 bra S;",
           "setp.ne.s32 %p2, %r2, %r8;"),
       "ld.global"},
      {"one of two steps, as data have it",
       FOR("mov.u32 %r2, 0;",
           "setp.lt.u32 %p3, %r7, 9;\n@%p3 bra A;\nadd.u32 %r2, %r2, 1;\nbra S;\nA: add.u32 %r2, %r2, 1;\nS:",
           "setp.ne.s32 %p2, %r2, %r8;"),
       NULL},
      {"16 bits that meet 70000",
       FOR("mov.u16 %h1, 0;", "add.u16 %h1, %h1, 1;\ncvt.u32.u16 %r2, %h1;", "setp.ne.s32 %p2, %r2, 70000;"),
       "ld.global"},
      {"16 bits that meet -1",
       FOR("mov.u16 %h1, 0;", "add.u16 %h1, %h1, 1;\ncvt.u32.u16 %r2, %h1;", "setp.ne.s32 %p2, %r2, -1;"),
       "ld.global"},
      {"16 bits that meet 700",
       FOR("mov.u16 %h1, 0;", "add.u16 %h1, %h1, 1;\ncvt.u32.u16 %r2, %h1;", "setp.ne.s32 %p2, %r2, 700;"),
       NULL},
      {"16 bits by 65535, which goes down",
       FOR("mov.u16 %h1, 0;", "add.s16 %h1, %h1, 65535;", "setp.lt.s16 %p2, %h1, 9;"), "ld.global"},
      {"32 bits by 4294967295, down to 0",
       FOR("mov.u32 %r2, %r8;", "add.u32 %r2, %r2, 4294967295;", "setp.ne.s32 %p2, %r2, 0;"), NULL},
      {"64 bits up to a number of the launch",
       FOR("mov.u64 %rd2, 0;\nld.param.u64 %rd3, [p];", "add.s64 %rd2, %rd2, 1;",
           "setp.lt.s64 %p2, %rd2, %rd3;"),
       "ld.global"},
      {"64 bits from a number of the launch",
       FOR("ld.param.u64 %rd2, [p];", "add.s64 %rd2, %rd2, -1;", "setp.gt.s64 %p2, %rd2, 0;"), "ld.global"},
      {"64 bits up to a number of 32",
       FOR("mov.u64 %rd2, 0;\ncvt.s64.s32 %rd3, %r8;", "add.s64 %rd2, %rd2, 1;",
           "setp.lt.s64 %p2, %rd2, %rd3;"),
       NULL},
      {"an unsigned distance that passes 0",
       FOR("mov.u32 %r2, 0;\nmov.u32 %r3, %r8;",
           "add.u32 %r2, %r2, 1;\nadd.u32 %r3, %r3, -1;\nsub.u32 %r4, %r3, %r2;",
           ""
           "setp.gt.u32 %p2, %r4, 0;"),
       "ld.global"},
      {"a signed distance",
       FOR("mov.u32 %r2, 0;\nmov.u32 %r3, %r8;",
           "add.s32 %r2, %r2, 1;\nadd.s32 %r3, %r3, -1;\nsub.s32 %r4, %r3, %r2;", "setp.gt.s32 %p2, %r4, 0;"),
       NULL},
      {"the middle of two numbers whose sum overflows",
       FOR("mov.u32 %r2, 0;\nmov.u32 %r3, %r8;",
           "add.u32 %r4, %r2, %r3;\nshr.u32 %r5, %r4, 1;\nsetp.lt.u32 %p3, %r7, 9;\n@%p3 bra A;\n"
           "mov.u32 %r3, %r5;\nbra S;\nA: add.u32 %r2, %r5, 1;\nS:",
           "setp.lt.u32 %p2, %r2, %r3;"),
       "ld.global"},
      {"the middle by half of the distance",
       FOR("mov.u32 %r2, 0;\nmov.u32 %r3, %r8;",
           "sub.u32 %r4, %r3, %r2;\nshr.u32 %r6, %r4, 1;\nadd.u32 %r5, %r2, %r6;\nsetp.lt.u32 %p3, %r7, 9;\n"
           "@%p3 bra A;\nmov.u32 %r3, %r5;\nbra S;\nA: add.u32 %r2, %r5, 1;\nS:",
           "setp.lt.u32 %p2, %r2, %r3;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

#define COPY                                                                                                 \
  "mbarrier.arrive.expect_tx.shared.b64 %rd4, [other], 16;\nmov.u32 %r5, slot;\nmov.u32 %r6, other;\n"       \
  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd1], 16, [%r6];\n"            \
  "W: mbarrier.try_wait.shared.b64 %p3, [%r6], %rd4;\n@!%p3 bra W;\nld.shared.u32 %r1, [slot];\n"

static void what_a_bulk_copy_brings_is_foreign(void **state) {
  static const wait_case cases[] = {
      {"a poll", KERNEL("L: " COPY "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"), "cp.async.bulk"},
      {"that gives up",
       KERNEL("L: " COPY "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\nadd.s32 %r2, %r2, 1;\n"
              "setp.lt.s32 %p2, %r2, 9;\n@%p2 bra L;\nM:"),
       "cp.async.bulk"},
      {"one place in a loop that counts",
       KERNEL("L: " COPY
              "add.s32 %r3, %r3, %r1;\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p2, %r2, 9;\n@%p2 bra L;"),
       "cp.async.bulk"},
      {"data in a loop that counts",
       KERNEL("L: " COPY "add.s64 %rd1, %rd1, 16;\n"
              "add.s32 %r3, %r3, %r1;\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p2, %r2, 9;\n@%p2 bra L;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

/* A lock that is tried as long as `more`. */
#define TRY(start, step, more)                                                                               \
  KERNEL(start "\nL: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra A;\n"        \
               "st.global.u32 [%rd1], 0;\nret;\nA: " step "\n" more "\n@%p2 bra L;")

static void a_time_out_is_one_however_it_counts(void **state) {
  static const wait_case cases[] = {
      {"by a shift", TRY("mov.u32 %r2, 1;", "shl.b32 %r2, %r2, 1;", "setp.ne.u32 %p2, %r2, 0;"), "atom"},
      {"by random numbers",
       TRY("mov.u32 %r2, 1;", "mad.lo.u32 %r2, %r2, 1664525, 1013904223;", "setp.ne.u32 %p2, %r2, 5;"),
       "atom"},
      {"in floats",
       TRY("mov.f32 %f1, 0f00000000;", "add.f32 %f1, %f1, 0f3f800000;", "setp.lt.f32 %p2, %f1, %f2;"),
       "atom"},
      {"in shared memory",
       TRY("st.shared.u32 [slot], %r8;",
           "ld.shared.u32 %r2, [slot];\nadd.u32 %r2, %r2, %r2;\nst.shared.u32 [slot], %r2;",
           "setp.ne.u32 %p2, %r2, 0;"),
       "atom"},
      {"in nodes of a list",
       TRY("mov.u64 %rd2, %rd1;", "ld.global.u64 %rd2, [%rd2+8];", "setp.ne.u64 %p2, %rd2, 0;"), "atom"},
      {"in one condition with the lock",
       KERNEL("mov.u32 %r2, 1;\nL: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
              "shl.b32 %r2, %r2, 1;\nsetp.ne.u32 %p2, %r2, 0;\nand.pred %p3, %p1, %p2;\n@%p3 bra L;\n"
              "@%p1 bra M;\nst.global.u32 [%rd1], 0;\nM:"),
       "atom"},
  };
  EXPECT_ALL(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a lock is one word, and so is what gives it back or opens it", a_lock_is_one_word),
      BEHAVIOUR("a holder that writes a free lock's number elsewhere may open another",
                a_holder_may_open_another_lock),
      BEHAVIOUR("two addresses are the same if their registers did not change in between",
                an_address_is_worked_out_anew),
      BEHAVIOUR("a ticket is for the turn that belongs to its counter",
                a_ticket_is_for_the_turn_beside_its_counter),
      BEHAVIOUR("a fetched number ends a loop if the thread alone comes to it",
                a_fetched_number_ends_a_loop_if_it_gets_there),
      BEHAVIOUR("a counter ends a loop if it passes its bound in every launch", a_counter_passes_its_bound),
      BEHAVIOUR("a counter ends a loop by all that it goes between two comparisons, in its bits",
                what_a_counter_goes_between_comparisons_counts),
      BEHAVIOUR("what a bulk copy brings may be another CTA's", what_a_bulk_copy_brings_is_foreign),
      BEHAVIOUR("a time-out is one however it counts", a_time_out_is_one_however_it_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
