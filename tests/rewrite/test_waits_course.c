/* Looks in each of so many rounds: whether their address, or what they find, is another one in every round.
 */
#include "check.h"

#include "waits.h"

#define COUNT "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 1000;\n@%p2 bra L;\n"
#define ROUNDS_AFTER(before, look)                                                                           \
  KERNEL("mov.u32 %r4, 0;\nmov.u32 %r6, 0;\n" before "\nL: " look "\nor.b32 %r3, %r3, %r1;\n" COUNT          \
         "st.global.u32 [%rd2], %r3;")
#define ROUNDS(look) ROUNDS_AFTER("", look)
/* %r4 is the number of the round; a word by the index %r5. */
#define INDEXED "mul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
#define VOLATILE INDEXED "ld.volatile.global.u32 %r1, [%rd4];"
#define AT(index) ROUNDS(index "\n" VOLATILE)
#define WIDE(offset) ROUNDS(offset "\nadd.s64 %rd4, %rd1, %rd3;\nld.volatile.global.u32 %r1, [%rd4];")
#define AROUND_L1(index) ROUNDS(index "\n" INDEXED "ld.global.cg.u32 %r1, [%rd4];")

static void an_address_moves_one_way_or_it_stays(void **state) {
  static const wait_case cases[] = {
      {"the number of the round", AT("mov.u32 %r5, %r4;"), NULL},
      {"times a number of the launch", AT("mul.lo.u32 %r5, %r4, %r8;"), NULL},
      {"times one, and another", AT("mad.lo.u32 %r5, %r4, %r8, %r7;"), NULL},
      {"from the end", AT("sub.u32 %r5, %r8, %r4;"), NULL},
      {"the diagonal of a matrix", AT("mad.lo.u32 %r5, %r4, %r8, %r4;"), NULL},
      {"the diagonal of one with rows of -1", AT("mad.lo.u32 %r5, %r4, -1, %r4;"), "ld.volatile"},
      {"high half of the product", AT("mul.hi.u32 %r5, %r4, 4294967;"), "ld.volatile"},
      {"high half of the product, and a sum", AT("mad.hi.u32 %r5, %r4, 4294967, %r7;"), "ld.volatile"},
      {"the tile of the round", AT("and.b32 %r5, %r4, -1024;"), "ld.volatile"},
      {"its last element", AT("or.b32 %r5, %r4, 1023;"), "ld.volatile"},
      {"turned over by itself", AT("xor.b32 %r5, %r4, %r4;"), "ld.volatile"},
      {"turned over by what is close to it", AT("add.u32 %r6, %r4, 8;\nxor.b32 %r5, %r4, %r6;"),
       "ld.volatile"},
      {"without what is left of it", AT("rem.u32 %r6, %r4, 1024;\nsub.u32 %r5, %r4, %r6;"), "ld.volatile"},
      {"what is left over 1", AT("rem.u32 %r5, %r4, 1;"), "ld.volatile"},
      {"the distance to the next", AT("add.u32 %r6, %r4, 7;\nsub.u32 %r5, %r6, %r4;"), "ld.volatile"},
      {"up and down", AT("neg.s32 %r6, %r4;\nadd.u32 %r5, %r6, %r4;"), "ld.volatile"},
      {"a quotient by a float",
       AT("cvt.rn.f32.u32 %f1, %r4;\nmul.f32 %f1, %f1, 0f3A83126F;\ncvt.rzi.u32.f32 %r5, %f1;"),
       "ld.volatile"},
      {"8 bits of it", AT("cvt.u8.u32 %h1, %r4;\ncvt.u32.u16 %r5, %h1;"), "ld.volatile"},
      {"saturated", AT("cvt.u32.u32 %r5, %r4;\nadd.sat.s32 %r5, %r5, 2147483000;"), "ld.volatile"},
      {"shifted out", AT("shl.b32 %r5, %r4, 31;"), "ld.volatile"},
      {"times 2 to the 20th", AT("mul.lo.u32 %r5, %r4, 1048576;"), "ld.volatile"},
      {"times 0", AT("mul.lo.u32 %r5, %r4, 0;"), "ld.volatile"},
      {"times 2^32 as a number of 32 bits", WIDE("mul.wide.u32 %rd3, %r4, 4294967296;"), "ld.volatile"},
      {"times 2^32, and a sum", WIDE("mad.wide.u32 %rd3, %r4, 4294967296, 8;"), "ld.volatile"},
      {"times 2^32 in a register", WIDE("mov.u32 %r9, 4294967296;\nmul.wide.u32 %rd3, %r4, %r9;"),
       "ld.volatile"},
      {"times 2^32 + 4 as a number of 32 bits", WIDE("mul.wide.u32 %rd3, %r4, 4294967300;"), NULL},
      {"times 2^32 as one of 64", WIDE("cvt.u64.u32 %rd5, %r4;\nmul.lo.u64 %rd3, %rd5, 4294967296;"), NULL},
      {"shifted by 2^32 + 2", WIDE("cvt.u64.u32 %rd5, %r4;\nshl.b64 %rd3, %rd5, 4294967298;"), NULL},
      {"steps of twice 2^16 as a number of 16 bits",
       ROUNDS_AFTER("mov.u32 %r5, 0;", VOLATILE "\nmad.wide.u16 %r5, 2, 65536, %r5;"), "ld.volatile"},
      {"steps of twice 16", ROUNDS_AFTER("mov.u32 %r5, 0;", VOLATILE "\nmad.wide.u16 %r5, 2, 16, %r5;"),
       NULL},
      {"the round as another lane has it", AT("shfl.sync.idx.b32 %r5, %r4, 0, 31, -1;"), "ld.volatile"},
      {"a carry", AT("add.cc.u32 %r6, %r4, %r4;\naddc.u32 %r5, %r8, 0;"), "ld.volatile"},
      {"a list of places",
       AT("mul.wide.u32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd2, %rd5;\nld.global.u32 %r5, [%rd6];"), NULL},
      {"steps of a list",
       ROUNDS_AFTER("mov.u32 %r5, 0;", "mul.wide.u32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd2, %rd5;\nld.global.u32 "
                                       "%r2, [%rd6];\nadd.u32 %r5, %r5, %r2;\n" VOLATILE),
       "ld.volatile"},
      {"a step and back",
       ROUNDS_AFTER("mov.u32 %r5, 0;", "add.u32 %r5, %r5, %r8;\nsub.u32 %r5, %r5, %r8;\n" VOLATILE),
       "ld.volatile"},
      {"two steps that may be one back",
       ROUNDS_AFTER("mov.u32 %r5, 0;", "add.u32 %r5, %r5, %r8;\nadd.u32 %r5, %r5, %r7;\n" VOLATILE),
       "ld.volatile"},
      {"a step in some rounds",
       ROUNDS_AFTER("mov.u32 %r5, 0;",
                    "setp.gt.u32 %p1, %r4, 900;\n@!%p1 bra A;\nadd.u32 %r5, %r5, %r8;\nA: " VOLATILE),
       "ld.volatile"},
      {"worked out in some rounds",
       ROUNDS_AFTER("mov.u32 %r5, 0;",
                    "setp.gt.u32 %p1, %r4, 900;\n@!%p1 bra A;\nmul.lo.u32 %r5, %r4, %r8;\nA: " VOLATILE),
       "ld.volatile"},
      {"a step, worked out into another register and back",
       ROUNDS_AFTER("mov.u32 %r5, 0;", "add.u32 %r6, %r5, %r8;\nmov.u32 %r5, %r6;\n" VOLATILE), NULL},
      {"two steps of a number of the launch",
       ROUNDS_AFTER("mov.u32 %r5, 0;", "add.u32 %r5, %r5, %r8;\nadd.u32 %r5, %r5, %r8;\n" VOLATILE), NULL},
      {"a row of the round, and a number that a loop within comes to",
       ROUNDS("mov.u32 %r6, %r7;\nM: add.u32 %r6, %r6, 32;\nsetp.lt.u32 %p1, %r6, %r8;\n@%p1 bra M;\n"
              "mad.lo.u32 %r5, %r4, %r8, %r6;\n" VOLATILE),
       NULL},
      {"a number that a loop within comes to",
       ROUNDS("mov.u32 %r6, %r7;\nM: add.u32 %r6, %r6, 32;\nsetp.lt.u32 %p1, %r6, %r8;\n@%p1 bra M;\nmov.u32 "
              "%r5, %r6;\n" VOLATILE),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

#define BY(before, step) ROUNDS_AFTER(before, step "\n" VOLATILE)
#define TIMES(before) BY(before, "mul.lo.u32 %r5, %r4, %r9;")
#define PLUS(before) BY("mov.u32 %r5, 0;\n" before, "add.u32 %r5, %r5, %r9;")

/* What the launch passes as a stride is not taken for 0; what is made of it may be. */
static void a_step_is_a_stride_of_the_launch_or_it_may_be_0(void **state) {
  static const wait_case cases[] = {
      {"times a parameter", TIMES("mov.u32 %r9, %r8;"), NULL},
      {"times its double", TIMES("shl.b32 %r9, %r8, 1;"), NULL},
      {"times one more", TIMES("add.u32 %r9, %r8, 1;"), NULL},
      {"times the grid's size", TIMES("mov.u32 %r0, %nctaid.x;\nmul.lo.u32 %r9, %r0, %r8;"), NULL},
      {"times 1 at least", TIMES("max.u32 %r9, %r8, 1;"), NULL},
      {"times one of two sizes",
       TIMES("mov.u32 %r0, %ntid.x;\nsetp.gt.u32 %p2, %r8, 5;\n"
             "selp.b32 %r9, %r0, %r8, %p2;"),
       NULL},
      {"times a number of 64 bits", TIMES("cvt.u64.u32 %rd5, %r8;\ncvt.u32.u64 %r9, %rd5;"), NULL},
      {"steps of a parameter", PLUS("mov.u32 %r9, %r8;"), NULL},
      {"times a parameter, backwards", BY("neg.s32 %r9, %r8;", "mul.lo.u32 %r5, %r4, %r9;"), NULL},
      {"from a parameter on, backwards", BY("", "neg.s32 %r5, %r4;\nadd.s32 %r5, %r5, %r8;"), NULL},
      {"steps of a product of sizes",
       BY("mov.u32 %r5, 0;\nmov.u32 %r9, %ntid.x;", "mad.lo.u32 %r5, %r9, %r8, %r5;"), NULL},
      {"times what is loaded", TIMES("ld.global.u32 %r9, [%rd1+4096];"), "ld.volatile"},
      {"steps of what is loaded", PLUS("ld.global.u32 %r9, [%rd1+4096];"), "ld.volatile"},
      {"steps of a parameter and what is loaded",
       PLUS("ld.global.u32 %r0, [%rd1+4096];\nadd.u32 %r9, %r0, %r8;"), "ld.volatile"},
      {"steps of it times a parameter",
       BY("mov.u32 %r5, 0;\nld.global.u32 %r9, [%rd1+4096];", "mad.lo.u32 %r5, %r9, %r8, %r5;"),
       "ld.volatile"},
      {"times the thread's number", TIMES("mov.u32 %r9, %tid.x;"), "ld.volatile"},
      {"steps of the CTA's number", PLUS("mov.u32 %r9, %ctaid.y;"), "ld.volatile"},
      {"times a lowest bit", TIMES("and.b32 %r9, %r8, 1;"), "ld.volatile"},
      {"times a highest bit", TIMES("shr.u32 %r9, %r8, 31;"), "ld.volatile"},
      {"times a half", TIMES("div.u32 %r9, %r8, 2;"), "ld.volatile"},
      {"times what is left over", TIMES("rem.u32 %r9, %r8, 4;"), "ld.volatile"},
      {"times 0 at most", TIMES("min.u32 %r9, %r8, 0;"), "ld.volatile"},
      {"times 1 or 0", TIMES("setp.gt.u32 %p2, %r8, 5;\nselp.b32 %r9, 1, 0, %p2;"), "ld.volatile"},
      {"times a parameter times 0", TIMES("mul.lo.u32 %r9, %r8, 0;"), "ld.volatile"},
      {"times a parameter times 2^31", TIMES("mul.lo.u32 %r9, %r8, 2147483648;"), "ld.volatile"},
      {"times a parameter without itself", TIMES("sub.u32 %r9, %r8, %r8;"), "ld.volatile"},
      {"times 0 + 0", TIMES("add.u32 %r9, 0, 0;"), "ld.volatile"},
      {"times its double without twice itself",
       TIMES("shl.b32 %r0, %r8, 1;\nsub.u32 %r0, %r0, %r8;\nsub.u32 %r9, %r0, %r8;"), "ld.volatile"},
      {"times the lesser of a parameter and a size, without that parameter",
       TIMES("mov.u32 %r0, %ntid.x;\nmin.u32 %r0, %r0, %r8;\nsub.u32 %r9, %r0, %r8;"), "ld.volatile"},
      {"times (n + 1) * n - n * n - n",
       TIMES("add.u32 %r0, %r8, 1;\nmul.lo.u32 %r0, %r0, %r8;\nmul.lo.u32 %r9, %r8, %r8;\n"
             "sub.u32 %r0, %r0, %r9;\nsub.u32 %r9, %r0, %r8;"),
       "ld.volatile"},
      {"times (n + 1) * n - n * n",
       TIMES("add.u32 %r0, %r8, 1;\nmul.lo.u32 %r0, %r0, %r8;\nmul.lo.u32 %r9, %r8, %r8;\n"
             "sub.u32 %r9, %r0, %r9;"),
       NULL},
      {"times 1 - 1", TIMES("sub.u32 %r9, 1, 1;"), "ld.volatile"},
      {"times 0 of 64 bits", TIMES("mov.u64 %rd5, 0;\ncvt.u32.u64 %r9, %rd5;"), "ld.volatile"},
      {"times 16 bits of a parameter", TIMES("cvt.u16.u32 %h1, %r8;\ncvt.u32.u16 %r9, %h1;"), "ld.volatile"},
      {"steps of a parameter, or of 0",
       PLUS("mov.u32 %r9, 0;\nsetp.gt.u32 %p2, %r8, 5;\n@%p2 mov.u32 %r9, %r8;"), "ld.volatile"},
      {"the diagonal of rows of what is loaded",
       BY("ld.global.u32 %r9, [%rd1+4096];", "mad.lo.u32 %r5, %r4, %r9, %r4;"), "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

#define GOES_ON(step) ROUNDS_AFTER("mov.u32 %r5, 0;", VOLATILE step)
/* Ends by what it finds, a counter beside it, or both. */
#define SEEKS(before, step, rest)                                                                            \
  KERNEL("mov.u32 %r5, 0;\n" before "\nL: shl.b32 %r6, %r5, 6;\nmul.wide.u32 %rd4, %r6, 4;\n"                \
         "add.s64 %rd3, %rd1, %rd4;\nld.acquire.gpu.global.u32 %r1, [%rd3];\n" step                          \
         "\nsetp.eq.u32 %p1, %r1, 0;\n" rest)

static void an_index_that_comes_round_soon_stays(void **state) {
  static const wait_case cases[] = {
      {"four places of 32 bits", GOES_ON("\nadd.u32 %r5, %r5, 0x40000000;"), "ld.volatile"},
      {"16 bits",
       ROUNDS_AFTER("mov.u16 %h1, 0;", "cvt.u32.u16 %r5, %h1;\n" VOLATILE "\nadd.u16 %h1, %h1, 0x4000;"),
       "ld.volatile"},
      {"by the threads of a CTA times 2^20",
       ROUNDS_AFTER("mov.u32 %r5, 0;\nmov.u32 %r9, %ntid.x;\nshl.b32 %r9, %r9, 20;",
                    VOLATILE "\nadd.u32 %r5, %r5, %r9;"),
       "ld.volatile"},
      {"by the threads of a CTA times 2^16",
       ROUNDS_AFTER("mov.u32 %r5, 0;\nmov.u32 %r9, %ntid.x;\nmul.lo.u32 %r9, %r9, 65536;",
                    VOLATILE "\nadd.u32 %r5, %r5, %r9;"),
       "ld.volatile"},
      {"a search by the threads of a CTA times 2^16, with a bound",
       SEEKS("mov.u32 %r9, %ntid.x;\nmul.lo.u32 %r9, %r9, 65536;", "add.u32 %r5, %r5, %r9;",
             "add.u32 %r4, %r4, 1;\nsetp.ge.u32 %p2, %r4, 1000;\n@%p2 bra M;\n@%p1 bra L;\nM:"),
       "ld.acquire"},
      {"a search whose bound is that of another cycle",
       SEEKS("", "add.u32 %r5, %r5, 1;",
             "@%p1 bra L;\nK: add.u32 %r4, %r4, 1;\nsetp.ge.u32 %p2, %r4, 1000;\n@%p2 bra M;\n"
             "setp.eq.u32 %p3, %r1, 1;\n@%p3 bra K;\nbra L;\nM:"),
       "ld.acquire"},
      {"a search with a bound",
       SEEKS("", "add.u32 %r5, %r5, 1;",
             "add.u32 %r4, %r4, 1;\nsetp.ge.u32 %p2, %r4, 1000;\n@%p2 bra M;\n@%p1 bra L;\nM:"),
       NULL},
      {"by the threads of the grid",
       ROUNDS_AFTER(
           "mov.u32 %r5, 0;\nmov.u32 %r9, %ntid.x;\nmov.u32 %r0, %nctaid.x;\nmul.lo.u32 %r9, %r9, %r0;",
           VOLATILE "\nadd.u32 %r5, %r5, %r9;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

static void a_load_around_L1_of_one_place_is_a_look_however_that_is_found(void **state) {
  static const wait_case cases[] = {
      {"by a pointer that is loaded again",
       ROUNDS("ld.global.u64 %rd4, [%rd2];\nld.global.cg.u32 %r1, [%rd4];"), "ld.global.cg"},
      {"by an index that is loaded again", AROUND_L1("ld.global.u32 %r5, [%rd2];"), "ld.global.cg"},
      {"by an index in shared memory", AROUND_L1("ld.shared.u32 %r5, [slot];"), "ld.global.cg"},
      {"by the counter times 0", AROUND_L1("mul.lo.u32 %r5, %r4, 0;"), "ld.global.cg"},
      {"by the counter times what may be 0", AROUND_L1("mul.lo.u32 %r5, %r4, %r7;"), "ld.global.cg"},
      {"by no bit of the counter", AROUND_L1("and.b32 %r5, %r4, 0;"), "ld.global.cg"},
      {"by the counter without itself", AROUND_L1("sub.u32 %r5, %r4, %r4;"), "ld.global.cg"},
      {"by the counter less one, and one", AROUND_L1("sub.u32 %r5, %r4, 1;\nsub.u32 %r5, %r4, %r5;"),
       "ld.global.cg"},
      {"by steps of 0", AROUND_L1("add.u32 %r6, %r6, 0;\nmov.u32 %r5, %r6;"), "ld.global.cg"},
      {"by steps of the thread's number", AROUND_L1("add.u32 %r6, %r6, %r7;\nmov.u32 %r5, %r6;"),
       "ld.global.cg"},
      {"by steps of 0 + 0", AROUND_L1("add.u32 %r2, 0, 0;\nadd.u32 %r6, %r6, %r2;\nmov.u32 %r5, %r6;"),
       "ld.global.cg"},
      {"by a number that is only copied", AROUND_L1("mov.u32 %r5, %r6;\nmov.u32 %r6, %r5;"), "ld.global.cg"},
      {"by the greater of it and a parameter", AROUND_L1("max.u32 %r6, %r6, %r8;\nmov.u32 %r5, %r6;"),
       "ld.global.cg"},
      {"by one of two numbers that stay",
       AROUND_L1("setp.gt.u32 %p1, %r8, 5;\nselp.b32 %r6, %r6, %r8, %p1;\nmov.u32 %r5, %r6;"),
       "ld.global.cg"},
      {"by the counter times a parameter", AROUND_L1("mul.lo.u32 %r5, %r4, %r8;"), NULL},
      {"by a quotient of the counter", AROUND_L1("div.u32 %r5, %r4, %r8;"), "ld.global.cg"},
      {"by steps of a parameter", AROUND_L1("add.u32 %r6, %r6, %r8;\nmov.u32 %r5, %r6;"), NULL},
      {"by a random number", AROUND_L1("mad.lo.u32 %r6, %r6, 1664525, 1013904223;\nshr.u32 %r5, %r6, 8;"),
       "ld.global.cg"},
      {"by bits that are turned", AROUND_L1("xor.b32 %r6, %r6, 64;\nmov.u32 %r5, %r6;"), "ld.global.cg"},
      {"by steps of a list",
       AROUND_L1("mul.wide.u32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd2, %rd5;\n"
                 "ld.global.u32 %r2, [%rd6];\nadd.u32 %r6, %r6, %r2;\n"
                 "mov.u32 %r5, %r6;"),
       NULL},
      {"by an index of one of two numbers",
       AROUND_L1("setp.eq.u32 %p1, %r8, 0;\n@%p1 bra A;\nmov.u32 %r5, 0;\nbra B;\nA: mov.u32 %r5, 1;\nB:"),
       "ld.global.cg"},
      {"by an index of another lane", AROUND_L1("shfl.sync.idx.b32 %r5, %r8, 0, 31, -1;"), "ld.global.cg"},
      {"by an index that is turned over", AROUND_L1("xor.b32 %r5, %r4, %r7;"), "ld.global.cg"},
      {"of data, by a list",
       AROUND_L1("mul.wide.u32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd2, %rd5;\nld.global.u32 %r5, [%rd6];"), NULL},
  };
  EXPECT_ALL(cases);
}

/* What %r1 becomes is a place where something is put. */
#define PLACES(look)                                                                                         \
  KERNEL("mov.u32 %r4, 0;\nL: " look "\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"             \
         "st.global.u32 [%rd4], %r7;\n" COUNT)
#define ADDS(by, see) PLACES("atom.global.add.u32 %r5, [%rd1], " by ";\n" see)
#define FINDS(by, see) ROUNDS("atom.global.add.u32 %r5, [%rd1], " by ";\n" see)
#define FLAG "ld.volatile.global.u32 %r1, [%rd1];\n"
#define BACK(sum) KERNEL("mov.u32 %r4, 0;\nL: " FLAG sum "\nst.volatile.global.u32 [%rd1], %r5;\n" COUNT)

static void an_addition_excuses_a_look_at_the_whole_number(void **state) {
  static const wait_case cases[] = {
      {"as a place", ADDS("1", "mov.u32 %r1, %r5;"), NULL},
      {"as a place behind others", ADDS("1", "add.u32 %r1, %r5, %r8;"), NULL},
      {"as a place in a row", ADDS("1", "mad.lo.u32 %r1, %r5, %r8, %r7;"), NULL},
      {"as a place of each round's number", ADDS("%r4", "mov.u32 %r1, %r5;"), NULL},
      {"as a place in a ring", ADDS("1", "and.b32 %r1, %r5, 255;"), NULL},
      {"as a place in a ring of a size of the launch", ADDS("1", "rem.u32 %r1, %r5, %r8;"), NULL},
      {"a warp's number of those of threads", ADDS("32", "shr.u32 %r1, %r5, 5;"), NULL},
      {"the bit that is turned over", PLACES("atom.global.xor.b32 %r5, [%rd1], 8;\nand.b32 %r1, %r5, 8;"),
       NULL},
      {"a ticket's last",
       FINDS("1", "setp.eq.u32 %p1, %r5, %r8;\n@%p1 st.global.u32 [%rd2], %r7;\nmov.u32 %r1, 0;"), NULL},
      {"room for so many",
       FINDS("1", "setp.lt.u32 %p1, %r5, 1000;\n@%p1 st.global.u32 [%rd2], %r5;\nmov.u32 %r1, 0;"), NULL},
      {"all of them, in one", FINDS("1", "mov.u32 %r1, %r5;"), "atom"},
      {"bits below", FINDS("65536", "and.b32 %r1, %r5, 1;"), "atom"},
      {"a bit below, as a place", ADDS("65536", "and.b32 %r1, %r5, 1;"), "atom"},
      {"a bit below, of a copy", ADDS("2", "mov.b32 %r6, %r5;\nand.b32 %r1, %r6, 1;"), "atom"},
      {"a bit below, of a sum", ADDS("2", "xor.b32 %r6, %r5, %r8;\nand.b32 %r1, %r6, 1;"), "atom"},
      {"a bit below, of a difference", ADDS("65536", "sub.u32 %r6, %r5, %r8;\nand.b32 %r1, %r6, 65535;"),
       "atom"},
      {"a bit, where the size of the CTA is added",
       PLACES("mov.u32 %r6, %ntid.x;\natom.global.add.u32 %r5, [%rd1], %r6;\nand.b32 %r1, %r5, 1;"), "atom"},
      {"a bit, where twice the round is added",
       PLACES("shl.b32 %r6, %r4, 1;\natom.global.add.u32 %r5, [%rd1], %r6;\nand.b32 %r1, %r5, 1;"), "atom"},
      {"a bit above the limit of a count",
       PLACES("atom.global.inc.u32 %r5, [%rd1], 65536;\nshr.u32 %r1, %r5, 16;"), "atom"},
      {"bits above", ADDS("1", "shr.u32 %r1, %r5, 30;"), "atom"},
      {"bits above, by a comparison",
       FINDS("1", "setp.ge.u32 %p1, %r5, 1073741824;\n@%p1 st.global.u32 [%rd2], %r7;\nmov.u32 %r1, 0;"),
       "atom"},
      {"the sign", FINDS("1", "setp.lt.s32 %p1, %r5, 0;\n@%p1 st.global.u32 [%rd2], %r7;\nmov.u32 %r1, 0;"),
       "atom"},
      {"bits above, by a shift", ADDS("1", "shl.b32 %r6, %r5, %r8;\nand.b32 %r1, %r6, 65536;"), "atom"},
      {"bits above, by a product", ADDS("1", "mul.hi.u32 %r1, %r5, 16;"), "atom"},
      {"bits above, as a field", ADDS("1", "bfe.u32 %r1, %r5, 16, 8;"), "atom"},
      {"a byte", ADDS("256", "cvt.u8.u32 %h1, %r5;\ncvt.u32.u16 %r1, %h1;"), "atom"},
      {"a byte, picked", ADDS("1", "prmt.b32 %r1, %r5, 0, 17219;"), "atom"},
      {"half of it, stored", FINDS("65536", "st.global.u16 [%rd2], %r5;\nmov.u32 %r1, 0;"), "atom"},
      {"all of it, stored beside another number",
       FINDS("1", "st.global.v2.u32 [%rd2], {%r5, %r7};\nmov.u32 %r1, 0;"), NULL},
      {"thousands", ADDS("1", "div.u32 %r1, %r5, 1000;"), "atom"},
      {"what is left over what is added", ADDS("8", "rem.u32 %r1, %r5, 8;"), "atom"},
      {"the distance to what the loop itself has added",
       ADDS("256", "shl.b32 %r6, %r4, 8;\nsub.u32 %r1, %r5, %r6;"), "atom"},
      {"another bit than is turned over", PLACES("atom.global.xor.b32 %r5, [%rd1], 8;\nand.b32 %r1, %r5, 4;"),
       "atom"},
      {"a count and a flag in one word",
       ROUNDS("ld.volatile.global.u32 %r5, [%rd1];\nand.b32 %r1, %r5, 255;\nred.global.add.u32 [%rd1], 256;"),
       "ld.volatile"},
      {"a half of the word", PLACES("atom.global.add.u64 %rd3, [%rd1], 1;\nmov.b64 {%r5, %r1}, %rd3;"),
       "atom"},
      {"the same value put back", ROUNDS(FLAG "st.volatile.global.u32 [%rd1], %r1;"), "ld.volatile"},
      {"the greater value put back", BACK("max.u32 %r5, %r1, %r7;"), "ld.volatile"},
      {"one more, if there is something",
       BACK("setp.ne.u32 %p1, %r1, 0;\nselp.u32 %r6, 1, 0, %p1;\nadd.u32 %r5, %r1, %r6;"), "ld.volatile"},
      {"a sum put back, and looked at",
       ROUNDS(FLAG "add.u32 %r5, %r1, %r7;\nst.volatile.global.u32 [%rd1], %r5;"), "ld.volatile"},
      {"a sum put back", BACK("add.u32 %r5, %r1, %r7;"), NULL},
      {"a sum of three put back", BACK("add.u32 %r6, %r1, %r7;\nadd.u32 %r5, %r6, %r8;"), NULL},
  };
  EXPECT_ALL(cases);
}

static void a_number_in_shared_memory_is_looked_at_as_a_whole(void **state) {
  static const wait_case cases[] = {
      {"a bit below, through shared memory",
       FINDS("65536", "st.shared.u32 [slot], %r5;\nld.shared.u32 %r6, [slot];\nand.b32 %r1, %r6, 1;"),
       "atom"},
      {"a bit below, through shared memory beside another number",
       FINDS("65536",
             "st.shared.v2.u32 [slot], {%r5, %r7};\nld.shared.u32 %r6, [slot];\nand.b32 %r1, %r6, 1;"),
       "atom"},
      {"a byte above, in shared memory", ADDS("1", "st.shared.u32 [slot], %r5;\nld.shared.u8 %r1, [slot+3];"),
       "atom"},
      {"a byte above, that is compared",
       FINDS("1", "st.shared.u32 [slot], %r5;\nld.shared.u8 %r6, [slot+3];\nsetp.ne.u32 %p1, %r6, 0;\n"
                  "@%p1 st.global.u32 [%rd2], %r7;\nmov.u32 %r1, 0;"),
       "atom"},
      {"a byte above, beside another number",
       ADDS("1", "st.shared.v2.u32 [slot], {%r5, %r7};\nld.shared.u8 %r1, [slot+3];"), "atom"},
      {"a bit below, by an atomic on shared memory",
       ADDS("65536", "st.shared.u32 [slot], %r5;\natom.shared.or.b32 %r6, [slot], 0;\nand.b32 %r1, %r6, 1;"),
       "atom"},
      {"a bit below, as a matrix",
       ADDS("65536", "st.shared.u32 [slot], %r5;\nmov.u32 %r9, slot;\n"
                     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r9];\nand.b32 %r1, %r6, 1;"),
       "atom"},
      {"all of it, through shared memory beside an atomic on another variable",
       ADDS("1",
            "st.shared.u32 [slot], %r5;\natom.shared.or.b32 %r6, [other], 0;\nld.shared.u32 %r1, [slot];"),
       NULL},
      {"all of it, through shared memory beside an atomic on wherever",
       ADDS("1", "st.shared.u32 [slot], %r5;\natom.shared.or.b32 %r6, [%r8], 0;\nld.shared.u32 %r1, [slot];"),
       "atom"},
      {"all of it, through shared memory",
       ADDS("1", "st.shared.u32 [slot], %r5;\nbar.sync 0;\nld.shared.u32 %r1, [slot];"), NULL},
      {"a byte above, by a generic address of shared memory",
       ADDS("1", "st.shared.u32 [slot], %r5;\nmov.u64 %rd5, slot;\ncvta.shared.u64 %rd6, %rd5;\n"
                 "ld.u8 %r1, [%rd6+3];"),
       "atom"},
      {"all of it, through shared memory beside a load from wherever",
       ADDS("1", "st.shared.u32 [slot], %r5;\nld.u8 %r6, [%rd2];\nld.shared.u32 %r1, [slot];"), NULL},
  };
  EXPECT_ALL(cases);
}

/* A plain load of one place, until it finds something or a counter in %r5, or %rd5, comes to its end. */
#define COUNTED(begin, step, test)                                                                           \
  KERNEL(begin "\nL: ld.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\n" step "\n" test     \
               "\n@%p2 bra L;\nM:")
#define LONG(begin, by, test) COUNTED("mov.u64 %rd5, " begin ";", "add.s64 %rd5, %rd5, " by ";", test)
#define WORD(begin, by, test) COUNTED("mov.u32 %r5, " begin ";", "add.u32 %r5, %r5, " by ";", test)

static void a_bound_is_a_number_of_the_type_that_is_compared(void **state) {
  static const wait_case cases[] = {
      {"-1 of an unsigned counter, by ones", WORD("0", "1", "setp.lt.u32 %p2, %r5, -1;"), NULL},
      {"the same, which is met", WORD("0", "1", "setp.ne.u32 %p2, %r5, -1;"), NULL},
      {"-1 of an unsigned counter, by twos", WORD("0", "2", "setp.lt.u32 %p2, %r5, -1;"), "ld.global"},
      {"-2, inclusive, by fours", WORD("0", "4", "setp.le.u32 %p2, %r5, -2;"), "ld.global"},
      {"1000 by twos", WORD("0", "2", "setp.lt.u32 %p2, %r5, 1000;"), NULL},
      {"halves above -1, signed",
       COUNTED("mov.u32 %r5, %r8;", "shr.s32 %r5, %r5, 1;", "setp.gt.s32 %p2, %r5, 4294967295;"),
       "ld.global"},
      {"halves above 0, signed",
       COUNTED("mov.u32 %r5, %r8;", "shr.s32 %r5, %r5, 1;", "setp.gt.s32 %p2, %r5, 0;"), NULL},
      {"steps of what a shift leaves, and 1",
       COUNTED("mov.u32 %r5, 0;", "shr.u32 %r6, %r8, 1;\nadd.s32 %r5, %r5, 1;\nadd.s32 %r5, %r5, %r6;",
               "setp.lt.s32 %p2, %r5, 1000;"),
       NULL},
      {"steps of what a shift by 2^32 leaves, and 1",
       COUNTED("mov.u32 %r5, 0;",
               "shr.u32 %r6, %r8, 4294967296;\nadd.s32 %r5, %r5, 1;\nadd.s32 %r5, %r5, %r6;",
               "setp.lt.s32 %p2, %r5, 1000;"),
       "ld.global"},
      {"down to 0 by the CTA's size that is negated",
       COUNTED("mov.u32 %r5, %r8;\nmov.u32 %r6, %ntid.x;\nneg.s32 %r9, %r6;", "add.s32 %r5, %r5, %r9;",
               "setp.gt.s32 %p2, %r5, 0;"),
       NULL},
      {"down to 0 by the CTA's size less than 0",
       COUNTED("mov.u32 %r5, %r8;\nmov.u32 %r6, %ntid.x;\nsub.s32 %r9, 0, %r6;", "add.s32 %r5, %r5, %r9;",
               "setp.gt.s32 %p2, %r5, 0;"),
       NULL},
      {"-1 of 64 bits, unsigned", LONG("0", "1", "setp.lt.u64 %p2, %rd5, -1;"), "ld.global"},
      {"-5 of 64 bits, met", LONG("0", "1", "setp.ne.s64 %p2, %rd5, -5;"), "ld.global"},
      {"5, met from below", LONG("0", "1", "setp.ne.s64 %p2, %rd5, 5;"), NULL},
      {"5, met from above", LONG("0", "-1", "setp.ne.s64 %p2, %rd5, 5;"), "ld.global"},
      {"0, met from above", LONG("7", "-1", "setp.ne.s64 %p2, %rd5, 0;"), NULL},
      {"a number of the launch, met from 0",
       COUNTED("cvt.u64.u32 %rd6, %r8;\nmov.u64 %rd5, 0;", "add.s64 %rd5, %rd5, 1;",
               "setp.ne.s64 %p2, %rd5, %rd6;"),
       NULL},
      {"a signed number of the launch, met from 0",
       COUNTED("cvt.s64.s32 %rd6, %r8;\nmov.u64 %rd5, 0;", "add.s64 %rd5, %rd5, 1;",
               "setp.ne.s64 %p2, %rd5, %rd6;"),
       "ld.global"},
      {"a number of the launch, met from one of the launch",
       COUNTED("cvt.u64.u32 %rd6, %r8;\ncvt.u64.u32 %rd5, %r7;", "add.s64 %rd5, %rd5, 1;",
               "setp.ne.s64 %p2, %rd5, %rd6;"),
       "ld.global"},
      {"a signed number of the launch as an unsigned one",
       COUNTED("cvt.s64.s32 %rd6, %r8;\nmov.u64 %rd5, 0;", "add.s64 %rd5, %rd5, 1;",
               "setp.lt.u64 %p2, %rd5, %rd6;"),
       "ld.global"},
      {"the same, signed",
       COUNTED("cvt.s64.s32 %rd6, %r8;\nmov.u64 %rd5, 0;", "add.s64 %rd5, %rd5, 1;",
               "setp.lt.s64 %p2, %rd5, %rd6;"),
       NULL},
      {"down to 0 from a signed number of the launch, unsigned",
       COUNTED("cvt.s64.s32 %rd5, %r8;", "add.s64 %rd5, %rd5, -1;", "setp.gt.u64 %p2, %rd5, 1;"),
       "ld.global"},
  };
  EXPECT_ALL(cases);
}

/* Two indices, %r5 from 0 and %r6 from the launch's number down; a plain load decides which goes on. */
#define MERGE(steps)                                                                                         \
  KERNEL("mov.u32 %r5, 0;\nmov.u32 %r6, %r8;\nL: mul.wide.s32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"    \
         "ld.global.u32 %r1, [%rd4];\n" steps "\nsetp.lt.s32 %p3, %r5, %r6;\n@%p3 bra L;")
#define UP(pred) "selp.u32 %r2, 1, 0, " pred ";\nadd.s32 %r5, %r5, %r2;\n"
#define DOWN(pred) "selp.b32 %r3, -1, 0, " pred ";\nadd.s32 %r6, %r6, %r3;\n"

static void a_merge_ends_if_one_side_goes_on_in_every_round(void **state) {
  static const wait_case cases[] = {
      {"steps that one comparison chooses",
       MERGE("setp.lt.u32 %p1, %r1, %r7;\n" UP("%p1") "selp.b32 %r3, 0, -1, %p1;\nadd.s32 %r6, %r6, %r3;"),
       NULL},
      {"and its inverse",
       MERGE("setp.lt.u32 %p1, %r1, %r7;\n" UP("%p1") "setp.ge.u32 %p2, %r1, %r7;\n" DOWN("%p2")), NULL},
      {"both when they are equal",
       MERGE("setp.le.u32 %p1, %r1, %r7;\n" UP("%p1") "setp.ge.u32 %p2, %r1, %r7;\n" DOWN("%p2")), NULL},
      {"a subtraction",
       MERGE("setp.lt.u32 %p1, %r1, %r7;\n" UP("%p1") "selp.b32 %r3, 0, 1, %p1;\n"
                                                      "sub.s32 %r6, %r6, %r3;"),
       NULL},
      {"neither when they are equal",
       MERGE("setp.lt.u32 %p1, %r1, %r7;\n" UP("%p1") "setp.gt.u32 %p2, %r1, %r7;\n" DOWN("%p2")),
       "ld.global"},
      {"one side alone", MERGE("setp.lt.u32 %p1, %r1, %r7;\n" UP("%p1")), "ld.global"},
      {"compared as signed numbers, and as unsigned ones",
       MERGE("setp.lt.s32 %p1, %r1, %r7;\n" UP("%p1") "setp.ge.u32 %p2, %r1, %r7;\n" DOWN("%p2")),
       "ld.global"},
      {"compared with another number",
       MERGE("setp.lt.u32 %p1, %r1, %r7;\n" UP("%p1") "setp.ge.u32 %p2, %r1, %r8;\n" DOWN("%p2")),
       "ld.global"},
      {"loaded again between the comparisons",
       MERGE("setp.lt.u32 %p1, %r1, %r7;\n" UP("%p1") "ld.global.u32 %r1, [%rd4];\n"
                                                      "setp.ge.u32 %p2, %r1, %r7;\n" DOWN("%p2")),
       "ld.global"},
      {"away from each other",
       MERGE("setp.lt.u32 %p1, %r1, %r7;\n" UP("%p1") "setp.ge.u32 %p2, %r1, %r7;\n"
                                                      "selp.b32 %r3, 1, 0, %p2;\nadd.s32 %r6, %r6, %r3;"),
       "ld.global"},
      {"by nothing",
       MERGE("setp.lt.u32 %p1, %r1, %r7;\n" UP("%p1") "setp.ge.u32 %p2, %r1, %r7;\n"
                                                      "selp.b32 %r3, 0, 0, %p2;\nadd.s32 %r6, %r6, %r3;"),
       "ld.global"},
      {"chosen before the comparison of the round",
       MERGE("selp.u32 %r2, 1, 0, %p1;\nadd.s32 %r5, %r5, %r2;\nsetp.lt.u32 %p1, %r1, %r7;\n"
             "setp.ge.u32 %p2, %r1, %r7;\n" DOWN("%p2")),
       "ld.global"},
  };
  EXPECT_ALL(cases);
}

/* low in %rd5, high in %rd6, of 64 bits; the middle is looked at, and becomes one of them. */
#define SEARCH(low, least)                                                                                   \
  KERNEL(                                                                                                    \
      "mov.u64 %rd5, 0;\ncvt.u64.u32 %rd6, %r8;\nL: sub.s64 %rd0, %rd6, %rd5;\nshr.u64 %rd2, %rd0, 1;\n"     \
      "add.s64 %rd7, %rd2, %rd5;\nshl.b64 %rd3, %rd7, 2;\nadd.s64 %rd4, %rd1, %rd3;\n"                       \
      "ld.global.u32 %r1, [%rd4];\nsetp.lt.u32 %p1, %r1, %r7;\n@%p1 bra A;\nmov.u64 %rd6, %rd7;\nbra B;\n"   \
      "A: " low "\nB: sub.s64 %rd8, %rd6, %rd5;\nsetp.gt.u64 %p2, %rd8, " least ";\n@%p2 bra L;")

static void a_search_ends_if_its_interval_gets_shorter(void **state) {
  static const wait_case cases[] = {
      {"the element behind the middle, until nothing is left", SEARCH("add.s64 %rd5, %rd7, 1;", "0"), NULL},
      {"the middle itself, until one is left", SEARCH("mov.u64 %rd5, %rd7;", "1"), NULL},
      {"the middle itself, until nothing is left", SEARCH("mov.u64 %rd5, %rd7;", "0"), "ld.global"},
  };
  EXPECT_ALL(cases);
}

#define TABLE(linkage, begin, load)                                                                          \
  MODULE(linkage ".global .align 4 .b32 table[4] = {1, 2, 3, 0};\n",                                         \
         "mov.u64 %rd5, table;\n" begin "\nL: " load "\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;")

static void a_table_that_nothing_writes_is_waited_for_by_nobody(void **state) {
  static const wait_case cases[] = {
      {"through the read-only cache", TABLE("", "", "ld.global.nc.u32 %r1, [%rd5];"), NULL},
      {"beside a store through a parameter",
       TABLE("", "st.global.u32 [%rd1], %r7;", "ld.global.nc.u32 %r1, [%rd5];"), NULL},
      {"beside a store into it", TABLE("", "st.global.u32 [%rd5+4], %r7;", "ld.global.nc.u32 %r1, [%rd5];"),
       "ld.global"},
      {"beside a store to wherever",
       TABLE("", "ld.global.u64 %rd6, [%rd1];\nst.global.u32 [%rd6], %r7;", "ld.global.nc.u32 %r1, [%rd5];"),
       "ld.global"},
      {"beside an atomic on it",
       TABLE("", "mov.u64 %rd6, table;\nred.global.add.u32 [%rd6+8], 1;", "ld.global.nc.u32 %r1, [%rd5];"),
       "ld.global"},
      {"one that others know by its name", TABLE(".visible ", "", "ld.global.nc.u32 %r1, [%rd5];"),
       "ld.global"},
      {"by a load that sees writes", TABLE("", "", "ld.volatile.global.u32 %r1, [%rd5];"), "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

/* 2^60 ways lead from the address to what it is made of. */
static void an_address_of_sums_with_themselves_is_looked_through(void **state) {
  hd_buf text = {0};
  hd_buf_puts(&text, HEAD ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .pred %p<3>;\n.reg .b32 "
                          "%r<9>;\n.reg .b32 %s<70>;\n.reg .b64 %rd<9>;\n" START "L: mov.u32 %s0, %r4;\n");
  for (unsigned i = 0; i < 60; i++) hd_buf_printf(&text, "add.u32 %%s%u, %%s%u, %%s%u;\n", i + 1, i, i);
  hd_buf_puts(&text, "mov.u32 %r5, %s60;\n" VOLATILE "\n" COUNT "ret;\n}\n");
  expect(&(wait_case){"sums", text.data, "ld.volatile"});
  hd_buf_free(&text);
}

/* A look by the coordinate %r5, which goes on, and a fence or none. */
#define IMAGE(look, fence) AT_COORDINATE("add.u32 %r5, %r5, 4;\n", look, fence)
#define AT_COORDINATE(step, look, fence) ROUNDS(step look "\n" fence)
#define FENCED(look) IMAGE(look, "membar.gl;")

static void coordinates_that_are_clamped_do_not_move(void **state) {
  static const wait_case cases[] = {
      {"a surface", FENCED("suld.b.1d.b32.clamp {%r1}, [%rd1, {%r5}];"), "suld"},
      {"a surface of two dimensions", FENCED("suld.b.2d.b32.clamp {%r1}, [%rd1, {%r5, %r8}];"), "suld"},
      {"layers of a surface", FENCED("suld.b.a1d.b32.clamp {%r1}, [%rd1, {%r5, %r8}];"), "suld"},
      {"backwards",
       AT_COORDINATE("sub.u32 %r5, %r5, 4;\n", "suld.b.1d.b32.clamp {%r1}, [%rd1, {%r5}];", "membar.gl;"),
       "suld"},
      {"a texture", FENCED("tex.1d.v4.u32.s32 {%r1, %r2, %r0, %r9}, [%rd1, {%r5}];"), "tex"},
      {"a texture of numbers",
       FENCED("cvt.rn.f32.u32 %f1, %r5;\ntex.1d.v4.u32.f32 {%r1, %r2, %r0, %r9}, "
              "[%rd1, {%f1}];"),
       "tex"},
  };
  static const wait_case others[] = {
      {"a surface that traps beyond its end", FENCED("suld.b.1d.b32.trap {%r1}, [%rd1, {%r5}];"), NULL},
      {"a surface that is 0 beyond its end", FENCED("suld.b.1d.b32.zero {%r1}, [%rd1, {%r5}];"), NULL},
      {"no fence", IMAGE("suld.b.1d.b32.clamp {%r1}, [%rd1, {%r5}];", ""), NULL},
      {"a texture, and no fence", IMAGE("tex.1d.v4.u32.s32 {%r1, %r2, %r0, %r9}, [%rd1, {%r5}];", ""), NULL},
      {"a fence of the CTA", IMAGE("suld.b.1d.b32.clamp {%r1}, [%rd1, {%r5}];", "membar.cta;"), NULL},
  };
  EXPECT_ALL(cases);
  EXPECT_ALL(others);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("an address moves one way, or it may stay", an_address_moves_one_way_or_it_stays),
      BEHAVIOUR("coordinates that are clamped do not move", coordinates_that_are_clamped_do_not_move),
      BEHAVIOUR("a step is a stride of the launch, or it may be 0",
                a_step_is_a_stride_of_the_launch_or_it_may_be_0),
      BEHAVIOUR("an index that comes round soon stays", an_index_that_comes_round_soon_stays),
      BEHAVIOUR("a load around L1 of one place is a look, however that is found",
                a_load_around_L1_of_one_place_is_a_look_however_that_is_found),
      BEHAVIOUR("an addition excuses a look at the whole number",
                an_addition_excuses_a_look_at_the_whole_number),
      BEHAVIOUR("a number in shared memory is looked at as a whole",
                a_number_in_shared_memory_is_looked_at_as_a_whole),
      BEHAVIOUR("a bound is a number of the type that is compared",
                a_bound_is_a_number_of_the_type_that_is_compared),
      BEHAVIOUR("a merge ends if one side goes on in every round",
                a_merge_ends_if_one_side_goes_on_in_every_round),
      BEHAVIOUR("a search ends if its interval gets shorter", a_search_ends_if_its_interval_gets_shorter),
      BEHAVIOUR("a table that nothing writes is waited for by nobody",
                a_table_that_nothing_writes_is_waited_for_by_nobody),
      BEHAVIOUR("an address of sums with themselves is looked through",
                an_address_of_sums_with_themselves_is_looked_through),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
