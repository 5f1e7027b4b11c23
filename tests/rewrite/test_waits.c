/* Loops that may wait for another CTA's write, and loops that do not. */
#include "check.h"

#include "waits.h"

/* ---- Polls ------------------------------------------------------------------------------------ */

static void polls_are_refused_however_they_are_spelt(void **state) {
  static const wait_case cases[] = {
      {"volatile", POLL("ld.volatile.global.u32 %r1, [%rd1];"), "ld.volatile"},
      {"relaxed", POLL("ld.relaxed.gpu.global.u32 %r1, [%rd1];"), "ld.relaxed"},
      {"acquire", POLL("ld.acquire.gpu.u32 %r1, [%rd1];"), "ld.acquire"},
      {"acquire of the system, as the host writes it", POLL("ld.acquire.sys.global.u32 %r1, [%rd1];"),
       "ld.acquire"},
      {"acquire of the cluster", POLL("ld.acquire.cluster.u32 %r1, [%rd1];"), "ld.acquire"},
      {"memory-mapped", POLL("ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];"), "ld.mmio"},
      {"around L1", POLL("ld.global.cg.u32 %r1, [%rd1];"), "ld.global.cg"},
      {"fetched again", POLL("ld.global.cv.u32 %r1, [%rd1];"), "ld.global.cv"},
      {"plain with a fence", POLL("membar.gl;\nld.global.u32 %r1, [%rd1];"), "ld.global"},
      {"plain", POLL("ld.global.u32 %r1, [%rd1];"), "ld.global"},
      {"plain, generic", POLL("ld.u32 %r1, [%rd1];"), "ld.u32"},
      {"through the read-only cache", POLL("ld.global.nc.u32 %r1, [%rd1];"), "ld.global.nc"},
      {"through a texture", POLL("tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r8}];"), "tex.1d"},
      {"through a surface", POLL("suld.b.1d.b32.trap %r1, [%rd1, {%r8}];"), "suld"},
      {"with a rest in between", POLL("nanosleep.u32 100;\nld.volatile.global.u32 %r1, [%rd1];"),
       "ld.volatile"},
      {"adding nothing", POLL("atom.global.add.u32 %r1, [%rd1], 0;"), "atom"},
      {"adding a parameter", POLL("atom.global.add.u32 %r1, [%rd1], %r8;"), "atom"},
      {"the greater of it and nothing", POLL("atom.global.max.s32 %r1, [%rd1], -1;"), "atom"},
      {"all its bits", POLL("atom.global.and.b32 %r1, [%rd1], -1;"), "atom"},
      {"taking it", POLL("atom.global.exch.b32 %r1, [%rd1], 0;"), "atom"},
      {"a swap of one state for the next",
       KERNEL("L: atom.global.cas.b32 %r1, [%rd1], 1, 2;\nsetp.ne.s32 %p1, %r1, 1;\n@%p1 bra L;"), "atom"},
      {"a swap in registers",
       KERNEL("mov.u32 %r2, 1;\nmov.u32 %r3, 2;\nL: atom.global.cas.b32 %r1, [%rd1], %r2, %r3;\n"
              "setp.ne.s32 %p1, %r1, 1;\n@%p1 bra L;"),
       "atom"},
      {"a turn that is the CTA's",
       KERNEL("mov.u32 %r2, %ctaid.x;\nL: atom.global.cas.b32 %r1, [%rd1], %r2, %r2;\n"
              "setp.ne.s32 %p1, %r1, %r2;\n@%p1 bra L;"),
       "atom"},
      {"a swap of what it always expects",
       KERNEL("L: atom.global.cas.b32 %r1, [%rd1], %r8, %r3;\nsetp.ne.u32 %p1, %r1, %r8;\n@%p1 bra L;"),
       "atom"},
      {"a counter of arrivals by addition that must be met exactly",
       KERNEL("L: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.ne.u32 %p1, %r1, %r8;\n@%p1 bra L;"), "atom"},
      {"the bits of a vector",
       KERNEL("L: ld.volatile.global.v2.u32 {%r1, %r2}, [%rd1];\nand.b32 %r3, %r2, 4;\n"
              "setp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;"),
       "ld.volatile"},
      {"through a block of inlined assembly",
       KERNEL("L: {\n.reg .pred q;\nld.acquire.gpu.u32 %r1, [%rd1];\nsetp.ne.u32 q, %r1, 0;\n"
              "selp.u32 %r2, 1, 0, q;\n}\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;"),
       "ld.acquire"},
      {"through a table of branches",
       KERNEL("L: ld.volatile.global.u32 %r1, [%rd1];\nT: .branchtargets L, M;\nbrx.idx %r1, T;\nM:"),
       "ld.volatile"},
      {"left by exit",
       KERNEL("L: ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@!%p1 exit;\nbra L;"),
       "ld.volatile"},
      {"one thread for its CTA, through shared memory",
       KERNEL("L: setp.ne.u32 %p2, %r7, 0;\n@%p2 bra M;\nld.volatile.global.u32 %r1, [%rd1];\n"
              "st.shared.u32 [slot], %r1;\nM: bar.sync 0;\nld.shared.u32 %r2, [slot];\n"
              "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;"),
       "ld.volatile"},
      {"one lane for its warp",
       KERNEL("L: ld.volatile.global.u32 %r1, [%rd1];\nshfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n"
              "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;"),
       "ld.volatile"},
      {"by vote",
       KERNEL("L: ld.volatile.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p2, %r1, 0;\n"
              "vote.sync.all.pred %p1, %p2, -1;\n@!%p1 bra L;"),
       "ld.volatile"},
      {"through local memory",
       KERNEL("L: ld.volatile.global.u32 %r1, [%rd1];\nst.local.u32 [own], %r1;\nld.local.u32 %r2, [own];\n"
              "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;"),
       "ld.volatile"},
      {"through a copy into shared memory",
       KERNEL("mov.u32 %r2, slot;\nL: cp.async.ca.shared.global [%r2], [%rd1], 4;\ncp.async.wait_all;\n"
              "ld.shared.u32 %r1, [slot];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "cp.async"},
  };
  EXPECT_ALL(cases);
}

/* An address that a shared variable and something else make up. */
#define AT(pre, place)                                                                                       \
  KERNEL(pre "L: " place "ld.volatile.u32 %r1, [%rd4];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;")
#define SLOT "mov.u64 %rd2, slot;\ncvta.shared.u64 %rd3, %rd2;\n"

static void a_shared_variable_is_the_root_of_what_lies_near_it(void **state) {
  static const wait_case cases[] = {
      {"beside a pointer", AT(SLOT, "add.s64 %rd4, %rd3, %rd1;\n"), "ld.volatile"},
      {"the distance of a pointer", AT(SLOT, "sub.s64 %rd5, %rd1, %rd3;\nadd.s64 %rd4, %rd3, %rd5;\n"),
       "ld.volatile"},
      {"behind a product", AT(SLOT, "mad.lo.s64 %rd4, %rd1, 1, %rd3;\n"), "ld.volatile"},
      {"64 bits of memory", AT(SLOT "ld.global.u64 %rd5, [%rd1];\n", "add.s64 %rd4, %rd5, %rd3;\n"),
       "ld.volatile"},
      {"a load that says global memory",
       KERNEL(SLOT "L: ld.volatile.global.u32 %r1, [%rd2];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "ld.volatile"},
      {"an index", AT(SLOT, "mul.wide.s32 %rd5, %r8, 4;\nadd.s64 %rd4, %rd3, %rd5;\n"), NULL},
      {"an index of 32 bits",
       AT("mov.u32 %r3, slot;\nld.global.u32 %r2, [%rd1];\n",
          "add.u32 %r4, %r3, %r2;\ncvt.u64.u32 %rd5, %r4;\ncvta.shared.u64 %rd4, %rd5;\n"),
       NULL},
      {"a product of 32 bits", AT(SLOT, "mad.wide.s32 %rd4, %r8, 12, %rd3;\n"), NULL},
  };
  EXPECT_ALL(cases);
}

static void the_wait_is_found_among_other_things(void **state) {
  static const wait_case cases[] = {
      {"two values decide",
       KERNEL("L: ld.volatile.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r2, 1;\nsetp.eq.u32 %p1, %r1, 0;\n"
              "setp.lt.u32 %p2, %r2, 9;\nor.pred %p3, %p1, %p2;\n@%p3 bra L;"),
       "ld.volatile"},
      {"a second exit that no round comes nearer to",
       KERNEL("setp.eq.u32 %p2, %r8, 5;\nL: @%p2 bra M;\nld.volatile.global.u32 %r1, [%rd1];\n"
              "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nM:"),
       "ld.volatile"},
      {"a counter that only moves when the flag is up",
       KERNEL("L: ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra M;\n"
              "add.u32 %r2, %r2, 1;\nM: setp.lt.u32 %p2, %r2, 9;\n@%p2 bra L;"),
       "ld.volatile"},
      {"a bound that moves with the counter",
       KERNEL("mov.u32 %r2, 0;\nmov.u32 %r3, 1;\nL: ld.volatile.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p1, "
              "%r1, 0;\n"
              "@%p1 bra M;\nadd.u32 %r2, %r2, 1;\nadd.u32 %r3, %r2, 1;\nsetp.lt.u32 %p2, %r2, %r3;\n"
              "@%p2 bra L;\nM:"),
       "ld.volatile"},
      {"a counter that is set back",
       KERNEL(
           "mov.u32 %r2, 0;\nL: ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n"
           "add.u32 %r2, %r2, 1;\n@!%p1 bra M;\nmov.u32 %r2, 0;\nM: setp.lt.u32 %p2, %r2, 9;\n@%p2 bra L;"),
       "ld.volatile"},
      {"a step that may be nothing",
       KERNEL("L: ld.volatile.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r2, %r8;\nsetp.ne.u32 %p1, %r1, 0;\n"
              "@%p1 bra M;\nsetp.lt.u32 %p2, %r2, 9;\n@%p2 bra L;\nM:"),
       "ld.volatile"},
      {"a state that is passed on only when the flag is up",
       KERNEL("L: ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\n"
              "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 9;\n@%p2 bra L;"),
       "ld.volatile"},
      {"an inner exit that leads only into the outer loop",
       KERNEL("A: add.u32 %r2, %r2, 1;\nL: ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n"
              "@%p1 bra X;\nsetp.gt.u32 %p2, %r2, 9;\n@%p2 exit;\nX: setp.eq.u32 %p3, %r8, 0;\n@%p3 bra L;\n"
              "bra A;"),
       "ld.volatile"},
      {"looking back over the CTAs before",
       KERNEL("mov.u32 %r2, %ctaid.x;\nA: add.s32 %r2, %r2, -1;\nsetp.lt.s32 %p1, %r2, 0;\n@%p1 bra M;\n"
              "mul.wide.s32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "L: ld.volatile.global.u32 %r1, [%rd3];\nsetp.eq.s32 %p2, %r1, 0;\n@%p2 bra L;\n"
              "and.b32 %r3, %r1, 3;\nsetp.ne.s32 %p3, %r3, 2;\n@%p3 bra A;\nM:"),
       "ld.volatile"},
      {"looking back in one loop, with plain loads",
       KERNEL("mov.u32 %r2, %ctaid.x;\nL: mul.wide.s32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "ld.global.u32 %r1, [%rd3];\nsetp.eq.s32 %p2, %r1, 0;\n@%p2 bra L;\nadd.s32 %r2, %r2, -1;\n"
              "setp.ne.s32 %p3, %r1, 2;\n@%p3 bra L;"),
       "ld.global"},
      {"a cycle with two entries",
       KERNEL("setp.eq.u32 %p2, %r8, 0;\n@%p2 bra B;\nA: ld.volatile.global.u32 %r1, [%rd1];\n"
              "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\nB: add.u32 %r3, %r3, 1;\nbra A;\nM:"),
       "ld.volatile"},
      {"a poll inside a loop that ends",
       KERNEL("A: ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\n"
              "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 9;\n@%p2 bra A;"),
       "ld.volatile"},
      {"a poll inside a loop without end",
       KERNEL("A: ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\n"
              "st.global.u32 [%rd1], 0;\nbra A;"),
       "ld.volatile"},
      {"a slot that is looked for among several",
       KERNEL("L: add.u32 %r2, %r2, 1;\nand.b32 %r2, %r2, 7;\nmul.wide.u32 %rd2, %r2, 4;\n"
              "add.s64 %rd3, %rd1, %rd2;\nld.volatile.global.u32 %r1, [%rd3];\nsetp.eq.u32 %p1, %r1, 0;\n"
              "@%p1 bra L;"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

/* ---- Calls ------------------------------------------------------------------------------------ */

#define LOOK(load)                                                                                           \
  ".func (.param .b32 out) look(.param .b64 where)\n{\n.reg .b32 %q;\n.reg .b64 %w;\n"                       \
  "ld.param.u64 %w, [where];\n" load "\nst.param.b32 [out], %q;\nret;\n}\n"
#define CALL_LOOK                                                                                            \
  "{\n.param .b64 a;\n.param .b32 b;\nst.param.b64 [a], %rd1;\ncall (b), look, (a);\n"                       \
  "ld.param.b32 %r1, [b];\n}\n"

#define RECURSIVE(ask)                                                                                       \
  ".func wait(.param .b64 where)\n{\n.reg .b32 %q;\n.reg .b64 %w;\n.reg .pred %z;\n" ask                     \
  "setp.ne.u32 %z, %q, 0;\n@%z ret;\n{\n.param .b64 a;\nst.param.b64 [a], %w;\ncall wait, "                  \
  "(a);\n}\nret;\n}\n"
#define ASK                                                                                                  \
  "ld.param.u64 %w, [where];\n{\n.param .b64 a;\n.param .b32 b;\nst.param.b64 [a], %w;\n"                    \
  "call (b), look, (a);\nld.param.b32 %q, [b];\n}\n"
#define CALL_WAIT "{\n.param .b64 a;\nst.param.b64 [a], %rd1;\ncall wait, (a);\n}"

static void polls_are_followed_through_calls(void **state) {
  static const wait_case cases[] = {
      {"a function that loads",
       MODULE(LOOK("ld.volatile.u32 %q, [%w];"), "L: " CALL_LOOK "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "ld.volatile"},
      {"a function that loads from one place, in a loop that counts",
       MODULE(LOOK("ld.volatile.u32 %q, [%w];"),
              "L: " CALL_LOOK "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 5;\n@%p1 bra L;"),
       "ld.volatile"},
      {"a function that loads from another place in each round",
       MODULE(LOOK("ld.volatile.u32 %q, [%w];"),
              "L: " CALL_LOOK "add.u32 %r2, %r2, 1;\nadd.u64 %rd1, %rd1, 4;\n"
              "setp.lt.u32 %p1, %r2, 5;\n@%p1 bra L;"),
       NULL},
      {"a function that polls",
       MODULE(LOOK("L: ld.volatile.u32 %q, [%w];\n.reg .pred %z;\n"
                   "setp.eq.u32 %z, %q, 0;\n@%z bra L;"),
              CALL_LOOK),
       "ld.volatile"},
      {"a function through registers",
       MODULE(".func (.reg .b32 out) look(.reg .b64 where)\n{\nld.volatile.u32 out, [where];\nret;\n}\n",
              "L: call (%r1), look, (%rd1);\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "call"},
      {"a function that calls itself until the flag is up",
       MODULE(".func wait(.param .b64 where)\n{\n.reg .b32 %q;\n.reg .b64 %w;\n.reg .pred %z;\n"
              "ld.param.u64 %w, [where];\nld.volatile.u32 %q, [%w];\nsetp.ne.u32 %z, %q, 0;\n@%z ret;\n"
              "{\n.param .b64 a;\nst.param.b64 [a], %w;\ncall wait, (a);\n}\nret;\n}\n",
              "{\n.param .b64 a;\nst.param.b64 [a], %rd1;\ncall wait, (a);\n}"),
       "ld.volatile"},
      {"the same around L1",
       MODULE(RECURSIVE("ld.param.u64 %w, [where];\nld.global.cg.u32 %q, [%w];\n"), CALL_WAIT),
       "ld.global.cg"},
      {"the same by a function that looks",
       MODULE(LOOK("ld.volatile.u32 %q, [%w];") RECURSIVE(ASK), CALL_WAIT), "ld.volatile"},
      {"the same, a plain load behind another function's fence",
       MODULE(LOOK("ld.global.u32 %q, [%w];\nmembar.gl;") RECURSIVE(ASK), CALL_WAIT), "ld.global"},
      {"the same, plain",
       MODULE(RECURSIVE("ld.param.u64 %w, [where];\nld.global.u32 %q, [%w];\n"), CALL_WAIT), "ld.global"},
      {"the same by a function that loads", MODULE(LOOK("ld.global.u32 %q, [%w];") RECURSIVE(ASK), CALL_WAIT),
       "ld.global"},
      {"the same through shared memory, by a copy",
       MODULE(
           RECURSIVE("ld.param.u64 %w, [where];\n.shared .b32 copy;\ncp.async.ca.shared.global [copy], [%w], "
                     "4;\ncp.async.wait_all;\nld.shared.u32 %q, [copy];\n"),
           CALL_WAIT),
       "cp.async"},
      {"a function that calls itself so many times",
       MODULE(RECURSIVE("ld.param.u64 %w, [where];\nadd.u64 %w, %w, -1;\ncvt.u32.u64 %q, %w;\n"), CALL_WAIT),
       NULL},
      {"a function that calls itself, and loads of shared memory",
       MODULE(RECURSIVE("ld.param.u64 %w, [where];\n.shared .b32 mine;\nld.shared.u32 %q, [mine];\n"),
              CALL_WAIT),
       NULL},
      {"a function that calls itself down a list, which may be a ring",
       MODULE(".func walk(.param .b64 where)\n{\n.reg .b64 %w;\n.reg .pred %z;\n"
              "ld.param.u64 %w, [where];\nld.u64 %w, [%w];\nsetp.eq.u64 %z, %w, 0;\n@%z ret;\n"
              "{\n.param .b64 a;\nst.param.b64 [a], %w;\ncall walk, (a);\n}\nret;\n}\n",
              "{\n.param .b64 a;\nst.param.b64 [a], %rd1;\ncall walk, (a);\n}"),
       "ld.u64"},
      {"memory that others may free",
       MODULE(".extern .func (.param .b64 r) malloc(.param .b64 n);\n",
              "L: {\n.param .b64 a;\n.param .b64 b;\nst.param.b64 [a], 16;\ncall (b), malloc, (a);\n"
              "ld.param.b64 %rd2, [b];\n}\nsetp.eq.u64 %p1, %rd2, 0;\n@%p1 bra L;"),
       "call"},
  };
  EXPECT_ALL(cases);
}

/* ---- The caller's word ------------------------------------------------------------------------ */

static void the_callers_word_settles_waits_and_is_told(void **state) {
  static const char text[] = MODULE("", "mov.u32 %r2, %ctaid.x;\nL: ld.volatile.global.u32 %r1, [%rd1];\n"
                                        "setp.ne.u32 %p1, %r1, %r2;\n@%p1 bra L;");
  for (unsigned assume = 0; assume < 2; assume++) {
    hd_ptx_module *m;
    hd_arena arena;
    hd_diag d = {0};
    hd_plan plan;
    hd_recipe recipe;
    hd_buf out = {0};
    hd_arena_init(&arena);
    assert_int_equal(hd_ptx_parse(text, sizeof text - 1, "test", &arena, &m, &d), HD_OK);
    assert_int_equal(hd_plan_parse("order=reverse", &plan, &d), HD_OK);
    hd_rewrite_options o = {.grid = {.known = true, .g = {8, 1, 1}, .n_sms = 4}, .assume = assume};
    hd_status st = hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &plan, &o, &recipe, &d);
    assert_int_equal(st, assume ? HD_OK : HD_ERR_REFUSED);
    if (assume) {
      assert_int_equal(hd_ptx_print(m, &out), HD_OK);
      assert_non_null(strstr(out.data, "// heddle: rests on the word that no loop waits for another CTA"));
    }
    hd_buf_free(&out);
    hd_arena_free(&arena);
  }
}

static void the_callers_word_settles_nothing_else(void **state) {
  static const char text[] = KERNEL("mov.u32 %r1, %smid;");
  hd_ptx_module *m;
  hd_arena arena;
  hd_diag d = {0};
  hd_refusal r;
  hd_arena_init(&arena);
  assert_int_equal(hd_ptx_parse(text, sizeof text - 1, "test", &arena, &m, &d), HD_OK);
  assert_int_equal(
      hd_rewrite_refusals_assuming(m, (uint32_t)hd_ptx_find_kernel(m, "k"), HD_ASSUME_NO_WAITS, &r, 1), 1);
  assert_int_equal(r.kind, HD_REFUSE_SREG);
  hd_arena_free(&arena);
  unsigned assume;
  assert_true(hd_assume_parse("no-waits", &assume) && assume == HD_ASSUME_NO_WAITS);
  assert_false(hd_assume_parse("", &assume) || hd_assume_parse("no-wait", &assume) ||
               hd_assume_parse("no-waits,x", &assume));
}

/* ---- Generated loops -------------------------------------------------------------------------- */

static uint32_t draw(uint64_t seed, uint64_t *n, uint32_t limit) {
  return (uint32_t)(hd_random_at(seed, (*n)++) >> 33) % limit;
}

/* Passes %r1 on to %r2 in some way that does not hide it. */
static void put_way(hd_buf *text, uint64_t seed, uint64_t *n) {
  static const char *const ways[] = {
      "mov.u32 %r2, %r1;\n",
      "and.b32 %r3, %r1, 15;\nadd.u32 %r2, %r3, 0;\n",
      "setp.ne.u32 %p3, %r1, 0;\nselp.u32 %r2, 1, 0, %p3;\n",
      "st.shared.u32 [slot], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [slot];\n",
      "st.local.u32 [own], %r1;\nld.local.u32 %r2, [own];\n",
      "cvt.u64.u32 %rd4, %r1;\nshr.u64 %rd5, %rd4, 1;\ncvt.u32.u64 %r2, %rd5;\n",
      "mov.u32 %r2, 0;\nsetp.eq.u32 %p3, %r1, 0;\n@%p3 bra W;\nmov.u32 %r2, 1;\nW:\n",
      "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\n",
      "mov.b64 %rd4, {%r8, %r1};\nmov.b64 {%r3, %r2}, %rd4;\n",
  };
  hd_buf_puts(text, ways[draw(seed, n, sizeof ways / sizeof *ways)]);
}

/* A flag is read in some way, and passed on in some way, to the only condition of the loop; and the same loop
 * with a counter in the place of the flag; or, a wait all the same, with one more exit that a counter takes.
 */
static void generated_polls_are_refused_and_counted_loops_are_not(void **state) {
  static const char *const looks[] = {
      "ld.volatile.global.u32 %r1, [%rd1];\n",    "ld.acquire.gpu.u32 %r1, [%rd1];\n",
      "ld.global.cg.u32 %r1, [%rd1];\n",          "atom.global.or.b32 %r1, [%rd1], 0;\n",
      "atom.global.exch.b32 %r1, [%rd1], %r8;\n", "membar.gl;\nld.global.u32 %r1, [%rd1+16];\n",
  };
  static const char *const between[] = {"", "nanosleep.u32 20;\n", "add.u32 %r6, %r6, 1;\n",
                                        "Y: add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p4, %r6, 9;\n@%p4 bra Y;\n",
                                        "st.global.u32 [%rd1+32], %r6;\n"};
  for (uint64_t seed = 1; seed <= 600; seed++) {
    for (unsigned kind = 0; kind < 3; kind++) {
      uint64_t n = 0;
      hd_buf text = {0};
      hd_refusal r;
      hd_buf_puts(&text, HEAD ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n" DECLARATIONS START
                              "mov.u32 %r5, 0;\nL:\n");
      const char *look = looks[draw(seed, &n, 6)];
      hd_buf_puts(&text, between[draw(seed, &n, 5)]);
      hd_buf_puts(&text, kind == 1 ? "add.u32 %r1, %r5, 3;\n" : look);
      hd_buf_puts(&text, "add.u32 %r5, %r5, 1;\n");
      if (kind == 2) hd_buf_puts(&text, "setp.gt.u32 %p5, %r5, 1000;\n@%p5 bra M;\n");
      put_way(&text, seed, &n);
      bool taken = draw(seed, &n, 2);
      hd_buf_puts(&text, taken ? "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\n"
                               : "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra M;\nbra L;\n");
      hd_buf_puts(&text, "M: ret;\n}\n");
      size_t refused = refusals("generated", text.data, &r);
      if ((kind != 1) != (refused > 0)) fail_msg("%zu refusals: %s", refused, text.data);
      hd_buf_free(&text);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a loop that polls another CTA's memory is refused, however the poll is spelt",
                polls_are_refused_however_they_are_spelt),
      BEHAVIOUR("a shared variable is the root of what lies near it",
                a_shared_variable_is_the_root_of_what_lies_near_it),
      BEHAVIOUR("a wait is found among other exits, counters and loops",
                the_wait_is_found_among_other_things),
      BEHAVIOUR("polls are followed through calls and recursion", polls_are_followed_through_calls),
      BEHAVIOUR("the caller's word settles waits, and the rewritten text tells",
                the_callers_word_settles_waits_and_is_told),
      BEHAVIOUR("the caller's word settles nothing else", the_callers_word_settles_nothing_else),
      BEHAVIOUR("generated polls are refused, and generated loops that count are not",
                generated_polls_are_refused_and_counted_loops_are_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
