/* Generated kernels and plans: a rewritten kernel leaves the same bytes as the original, under any
 * dispatcher.
 *
 * Kernels are drawn from a string of bytes, which a test draws from a seed and a fuzzer mutates. By
 * construction their result does not depend on any schedule: each thread stores to places of its own,
 * exchanges between threads are ordered by barriers, and atomics add integers. So each byte that differs is
 * the rewriter's fault. Kernels are of three kinds: their threads do not exchange anything, do so all
 * together, or some end while others go on to do so. */
#ifndef HEDDLE_TESTS_GENERATED_H
#define HEDDLE_TESTS_GENERATED_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/emu.h"
#include "heddle/rewrite.h"

/* ---- Drawing --------------------------------------------------------------------------------- */

/* Bytes that are used up read as 0. */
typedef struct gen_source {
  const uint8_t *at, *end;
} gen_source;

static inline uint32_t gen_byte(gen_source *s) { return s->at < s->end ? *s->at++ : 0; }
static inline uint32_t gen_below(gen_source *s, uint32_t n) { return gen_byte(s) % n; }

typedef struct gen_launch {
  uint32_t grid[3], block[3];
  uint32_t cluster[3]; /* that the launch asks for; {0}: none */
} gen_launch;

static inline uint64_t gen_product(const uint32_t d[3]) { return (uint64_t)d[0] * d[1] * d[2]; }

/* At most 12 x 6 x 3 CTAs of at most 128 threads. */
static inline gen_launch gen_draw_launch(gen_source *s) {
  static const uint32_t BLOCKS[][3] = {{32, 1, 1}, {64, 1, 1}, {8, 8, 1}, {20, 1, 1}, {96, 1, 1},
                                       {5, 4, 2},  {33, 1, 1}, {1, 1, 1}, {16, 2, 4}};
  gen_launch l = {.grid = {1 + gen_below(s, 12), 1 + gen_below(s, 6), 1 + gen_below(s, 3)}};
  memcpy(l.block, BLOCKS[gen_below(s, sizeof BLOCKS / sizeof *BLOCKS)], sizeof l.block);
  return l;
}

/* ---- Kernels ------------------------------------------------------------------------------------ */

enum { GEN_IN_WORDS = 1024, GEN_COUNTERS = 16, GEN_MOST_STEPS = 10 };

/* %r0: the thread's number in the launch; %r1: its result so far; %r2 and %r29: its number in the CTA; %r30:
 * its warp's. */
static const char gen_head[] =
    "\t.reg .pred %p<7>;\n\t.reg .b16 %h<4>;\n\t.reg .b32 %r<31>;\n\t.reg .b64 %rd<16>;\n"
    "\tld.param.u64 %rd0, [in];\n\tcvta.to.global.u64 %rd0, %rd0;\n"
    "\tld.param.u64 %rd1, [out];\n\tcvta.to.global.u64 %rd1, %rd1;\n"
    "\tld.param.u64 %rd2, [counters];\n\tcvta.to.global.u64 %rd2, %rd2;\n"
    "\tmov.u32 %r3, %ctaid.x;\n\tmov.u32 %r4, %ctaid.y;\n\tmov.u32 %r5, %ctaid.z;\n"
    "\tmov.u32 %r6, %nctaid.x;\n\tmov.u32 %r7, %nctaid.y;\n"
    "\tmad.lo.u32 %r0, %r5, %r7, %r4;\n\tmad.lo.u32 %r0, %r0, %r6, %r3;\n"
    "\tmov.u32 %r8, %tid.x;\n\tmov.u32 %r9, %tid.y;\n\tmov.u32 %r10, %tid.z;\n"
    "\tmov.u32 %r11, %ntid.x;\n\tmov.u32 %r12, %ntid.y;\n\tmov.u32 %r13, %ntid.z;\n"
    "\tmad.lo.u32 %r2, %r10, %r12, %r9;\n\tmad.lo.u32 %r2, %r2, %r11, %r8;\n"
    "\tmad.lo.u32 %r28, %r10, %r12, %r9;\n\tmad.lo.u32 %r29, %r28, %r11, %r8;\n\tshr.u32 %r30, %r29, 5;\n"
    "\tmul.lo.u32 %r14, %r11, %r12;\n\tmul.lo.u32 %r14, %r14, %r13;\n"
    "\tmad.lo.u32 %r0, %r0, %r14, %r2;\n\tmul.wide.u32 %rd3, %r0, 4;\n\tadd.s64 %rd3, %rd1, %rd3;\n"
    "\tmov.u32 %r1, %r0;\n";

static inline void gen_load(gen_source *s, hd_buf *t) {
  static const char *const FORMS[] = {"ld.global.u32", "ld.global.nc.u32", "ld.global.ca.u32",
                                      "ld.global.L1::evict_last.u32"};
  const char *form = FORMS[gen_below(s, 4)];
  uint32_t how = gen_below(s, 3);
  const char *guard = gen_below(s, 4) ? "" : "@%p0 ";
  if (*guard) hd_buf_puts(t, "\tsetp.gt.u32 %p0, %r1, 7;\n\tmov.u32 %r15, 3;\n");
  if (how == 0) /* follows from ids alone, so that it can be prefetched */
    hd_buf_printf(t, "\tmad.lo.u32 %%r16, %%r0, %u, %u;\n\tand.b32 %%r16, %%r16, %d;\n", gen_byte(s),
                  gen_byte(s), GEN_IN_WORDS - 1);
  else /* follows from data */
    hd_buf_printf(t, "\tand.b32 %%r16, %%r1, %d;\n", GEN_IN_WORDS - 1);
  hd_buf_printf(t,
                "\tmul.wide.u32 %%rd4, %%r16, 4;\n\tadd.s64 %%rd4, %%rd0, %%rd4;\n\t%s%s %%r15, [%%rd4];\n",
                guard, form);
  hd_buf_printf(t, "\t%s %%r1, %%r1, %%r15;\n", how == 2 ? "xor.b32" : "add.u32");
}

static inline void gen_arithmetic(gen_source *s, hd_buf *t) {
  hd_buf_printf(
      t, "\tmad.lo.u32 %%r1, %%r1, %u, %u;\n\tshr.u32 %%r17, %%r1, %u;\n\txor.b32 %%r1, %%r1, %%r17;\n",
      2 * gen_byte(s) + 1, gen_byte(s), 1 + gen_below(s, 31));
}

/* Ids, whole and in halves; %r18 may be read before it is written, and is 0 in no kernel's text. */
static inline void gen_id(gen_source *s, hd_buf *t) {
  static const char *const IDS[] = {"%ctaid.x",  "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y",
                                    "%nctaid.z", "%tid.x",   "%tid.y",   "%tid.z",    "%ntid.x"};
  const char *id = IDS[gen_below(s, 10)];
  if (gen_below(s, 3))
    hd_buf_printf(t, "\tmov.u32 %%r17, %s;\n", id);
  else
    hd_buf_printf(t, "\tcvt.u16.u32 %%h0, %s;\n\tcvt.u32.u16 %%r17, %%h0;\n", id);
  hd_buf_puts(t, "\tmad.lo.u32 %r1, %r1, 31, %r17;\n");
}

/* Each thread reads a value that another one of its CTA wrote. */
static inline void gen_exchange(gen_source *s, hd_buf *t) {
  hd_buf_printf(t,
                "\tmov.u32 %%r19, box;\n\tshl.b32 %%r20, %%r2, 2;\n\tadd.u32 %%r20, %%r19, %%r20;\n"
                "\tst.shared.u32 [%%r20], %%r1;\n\tbar.sync 0;\n\tadd.u32 %%r21, %%r2, %u;\n"
                "\trem.u32 %%r21, %%r21, %%r14;\n\tshl.b32 %%r21, %%r21, 2;\n\tadd.u32 %%r21, %%r19, %%r21;\n"
                "\tld.shared.u32 %%r17, [%%r21];\n\tadd.u32 %%r1, %%r1, %%r17;\n\tbar.sync 0;\n",
                gen_byte(s));
}

typedef enum gen_kind { GEN_ALONE, GEN_TOGETHER, GEN_PARTING } gen_kind;

static inline void gen_step(gen_source *s, unsigned n, gen_kind kind, hd_buf *t) {
  switch (gen_below(s, 9)) {
  case 0:
  case 1: gen_load(s, t); break;
  case 2: gen_arithmetic(s, t); break;
  case 3: gen_id(s, t); break;
  case 4: /* a loop of as many turns in every thread, or not */
    hd_buf_printf(t, "\t%s\n$L%u:\n", gen_below(s, 2) ? "mov.u32 %r22, 3;" : "and.b32 %r22, %r1, 3;", n);
    gen_load(s, t);
    hd_buf_printf(t, "\tadd.u32 %%r22, %%r22, -1;\n\tsetp.gt.s32 %%p1, %%r22, 0;\n\t@%%p1 bra $L%u;\n", n);
    break;
  case 5: /* integers may be added in any order */
    hd_buf_printf(
        t,
        "\tand.b32 %%r17, %%r1, %d;\n\tmul.wide.u32 %%rd5, %%r17, 4;\n\tadd.s64 %%rd5, %%rd2, %%rd5;\n"
        "\tred.global.add.u32 [%%rd5], %u;\n",
        GEN_COUNTERS - 1, 1 + gen_byte(s));
    break;
  case 6:
    if (kind == GEN_TOGETHER) gen_exchange(s, t);
    break;
  case 7: /* a branch around something */
    hd_buf_printf(t, "\tand.b32 %%r17, %%r1, %u;\n\tsetp.eq.u32 %%p2, %%r17, 0;\n\t@%%p2 bra $B%u;\n",
                  1 + gen_below(s, 7), n);
    gen_load(s, t);
    hd_buf_printf(t, "$B%u:\n", n);
    break;
  default: /* some threads end early: behind this no barrier is possible */
    if (kind != GEN_ALONE) break;
    hd_buf_printf(t, "\tsetp.gt.u32 %%p3, %%r2, %u;\n\t@%%p3 st.global.u32 [%%rd3], %%r1;\n\t@%%p3 %s;\n",
                  gen_below(s, 64), gen_below(s, 2) ? "ret" : "exit");
    break;
  }
}

/* ---- Threads that end while others go on to meet ------------------------------------------------- */

typedef struct gen_meetings {
  bool barriers, warp;
  bool by_thread; /* threads of a warp part in front of barriers; else whole warps do, but for those that end
                   */
  uint32_t id;    /* of the barrier */
} gen_meetings;

/* All barriers of a kernel are such turns: a thread's n-th one meets the n-th one of the others. A turn
 * writes to one half of the box in front of the barrier, and reads from it behind; %r23: the half. */
static inline void gen_turn(gen_source *s, const gen_meetings *g, hd_buf *t) {
  const char *form = g->by_thread || gen_below(s, 2) ? "barrier.sync" : "bar.sync";
  hd_buf_printf(t,
                "\tmov.u32 %%r19, box;\n\tmad.lo.u32 %%r20, %%r23, %%r14, %%r2;\n\tshl.b32 %%r20, %%r20, 2;\n"
                "\tadd.u32 %%r20, %%r19, %%r20;\n\tst.shared.u32 [%%r20], %%r1;\n\t%s %u;\n"
                "\tadd.u32 %%r21, %%r2, %u;\n\trem.u32 %%r21, %%r21, %%r14;\n"
                "\tmad.lo.u32 %%r21, %%r23, %%r14, %%r21;\n\tshl.b32 %%r21, %%r21, 2;\n"
                "\tadd.u32 %%r21, %%r19, %%r21;\n\tld.shared.u32 %%r17, [%%r21];\n"
                "\tadd.u32 %%r1, %%r1, %%r17;\n\txor.b32 %%r23, %%r23, 1;\n",
                form, g->id, gen_byte(s));
}

/* Operations of the whole warp whose results depend on the lanes that are there, and on those alone. */
static inline void gen_warp(gen_source *s, hd_buf *t) {
  switch (gen_below(s, 4)) {
  case 0: /* from the first lane that is there */
    hd_buf_puts(t,
                "\tsetp.ge.u32 %p3, %r2, 0;\n\tvote.sync.ballot.b32 %r17, %p3, -1;\n\tbrev.b32 %r17, %r17;\n"
                "\tclz.b32 %r17, %r17;\n\tshfl.sync.idx.b32 %r17, %r1, %r17, 31, -1;\n");
    break;
  case 1:
    hd_buf_printf(
        t, "\tand.b32 %%r17, %%r1, %u;\n\tmov.b32 %%r25, -1;\n\tmatch.any.sync.b32 %%r17, %%r17, %%r25;\n",
        1 + gen_below(s, 3));
    break;
  case 2: hd_buf_puts(t, "\tredux.sync.add.u32 %r17, %r1, -1;\n\tbar.warp.sync -1;\n"); break;
  default: /* under a guard */
    hd_buf_puts(t, "\tmov.u32 %r17, 5;\n\tsetp.lt.u32 %p4, %r29, 32;\n"
                   "\t@%p4 redux.sync.xor.b32 %r17, %r1, -1;\n");
    break;
  }
  hd_buf_puts(t, "\tmad.lo.u32 %r1, %r1, 5, %r17;\n");
}

/* Lanes meet twice from different places: on one way both operations lie in one block, on the other one not.
 */
static inline void gen_meet_from_two_ways(gen_source *s, unsigned n, hd_buf *t) {
  static const char first[] = "\tredux.sync.add.u32 %r17, %r1, -1;\n\tmad.lo.u32 %r1, %r1, 3, %r17;\n",
                    second[] = "\tredux.sync.xor.b32 %r17, %r1, -1;\n\tmad.lo.u32 %r1, %r1, 5, %r17;\n";
  hd_buf_printf(t, "\tand.b32 %%r17, %%r1, %u;\n\tsetp.eq.u32 %%p2, %%r17, 0;\n\t@%%p2 bra $V%u;\n%s%s",
                1 + gen_below(s, 3), n, first, second);
  hd_buf_printf(t, "\tbra.uni $X%u;\n$V%u:\n%s", n, n, first);
  hd_buf_printf(t, "\tand.b32 %%r17, %%r1, 4;\n\tsetp.eq.u32 %%p2, %%r17, 0;\n\t@%%p2 bra $W%u;\n", n);
  hd_buf_printf(t, "\tadd.u32 %%r1, %%r1, 9;\n$W%u:\n%s$X%u:\n", n, second, n);
}

static inline void gen_meeting(gen_source *s, const gen_meetings *g, hd_buf *t) {
  if (g->barriers && (!g->warp || gen_below(s, 2)))
    gen_turn(s, g, t);
  else
    gen_warp(s, t);
}

static inline void gen_meeting_step(gen_source *s, unsigned n, const gen_meetings *g, hd_buf *t) {
  const char *own = g->by_thread ? "mov.u32 %r26, %r1" : "mov.u32 %r26, %r30";
  uint32_t kind = gen_below(s, 6);
  if (kind == 5 && g->warp && g->by_thread) {
    gen_meet_from_two_ways(s, n, t);
  } else if (kind < 2 || kind == 5) {
    gen_meeting(s, g, t);
  } else if (kind == 2) { /* in a loop that warps, or threads, leave at different times */
    hd_buf_printf(t, "\t%s;\n\tand.b32 %%r26, %%r26, 3;\n$M%u:\n", own, n);
    gen_meeting(s, g, t);
    if (gen_below(s, 2)) gen_meeting(s, g, t);
    hd_buf_printf(t, "\tadd.u32 %%r26, %%r26, -1;\n\tsetp.gt.s32 %%p5, %%r26, 0;\n\t@%%p5 bra $M%u;\n", n);
  } else if (kind == 3) { /* in a branch */
    hd_buf_printf(t, "\t%s;\n\tand.b32 %%r26, %%r26, %u;\n\tsetp.eq.u32 %%p6, %%r26, 0;\n\t@%%p6 bra $N%u;\n",
                  own, 1 + gen_below(s, 3), n);
    gen_meeting(s, g, t);
    hd_buf_printf(t, "$N%u:\n", n);
  } else if (!g->by_thread) {
    hd_buf_printf(t,
                  "\tsetp.gt.u32 %%p4, %%r30, %u;\n"
                  "\t@%%p4 st.global.u32 [%%rd3], %%r1;\n\t@%%p4 %s;\n",
                  gen_below(s, 3), gen_below(s, 2) ? "ret" : "exit");
  } else {
    hd_buf_printf(t,
                  "\tand.b32 %%r17, %s, 63;\n\tsetp.gt.u32 %%p3, %%r17, %u;\n"
                  "\t@%%p3 st.global.u32 [%%rd3], %%r1;\n\t@%%p3 %s;\n",
                  gen_below(s, 2) ? "%r1" : "%r2", gen_below(s, 64), gen_below(s, 2) ? "ret" : "exit");
  }
}

/* Up to the thread's first own statement, and from behind its last one. */
static inline void gen_begin(bool shared, hd_buf *t) {
  hd_buf_puts(
      t, ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, "
         ".param .u64 counters)\n{\n");
  if (shared) hd_buf_puts(t, "\t.shared .align 4 .b8 box[1024];\n");
  hd_buf_puts(t, gen_head);
}
static inline void gen_end(hd_buf *t) { hd_buf_puts(t, "\tst.global.u32 [%rd3], %r1;\n\tret;\n}\n"); }

/* Some warps, or in a quarter of the kernels some threads, end while others go on to meet. */
static inline void gen_draw_parting_kernel(gen_source *s, hd_buf *t) {
  uint32_t n = 2 + gen_below(s, GEN_MOST_STEPS), kind = gen_below(s, 4);
  gen_meetings g = {
      .barriers = kind != 0, .warp = kind % 2 == 0, .by_thread = kind == 3, .id = gen_below(s, 2)};
  gen_begin(true, t);
  hd_buf_printf(t,
                "\tmov.u32 %%r23, 0;\n\tmov.u32 %%r19, box;\n\tshl.b32 %%r20, %%r2, 2;\n"
                "\tadd.u32 %%r20, %%r19, %%r20;\n\tst.shared.u32 [%%r20], %%r2;\n\tshl.b32 %%r21, %%r14, 2;\n"
                "\tadd.u32 %%r20, %%r20, %%r21;\n\tst.shared.u32 [%%r20], %%r2;\n\tbar.sync %u;\n",
                g.id);
  for (uint32_t i = 0; i < n; i++)
    if (gen_below(s, 3))
      gen_meeting_step(s, i, &g, t);
    else
      gen_step(s, i, GEN_PARTING, t);
  gen_end(t);
}

static inline void gen_draw_kernel(gen_source *s, hd_buf *t) {
  uint32_t drawn = gen_below(s, 4);
  if (drawn == 1) {
    gen_draw_parting_kernel(s, t);
    return;
  }
  gen_kind kind = drawn == 0 ? GEN_TOGETHER : GEN_ALONE;
  uint32_t n = 1 + gen_below(s, GEN_MOST_STEPS);
  gen_begin(kind == GEN_TOGETHER, t);
  for (uint32_t i = 0; i < n; i++) gen_step(s, i, kind, t);
  gen_end(t);
}

/* ---- Plans ----------------------------------------------------------------------------------------- */

static inline void gen_draw_order(gen_source *s, hd_buf *t) {
  switch (gen_below(s, 10)) {
  case 0: hd_buf_puts(t, "col"); break;
  case 1: hd_buf_printf(t, "band:%u", 1 + gen_below(s, 7)); break;
  case 2: hd_buf_printf(t, "tile:%ux%u", 1 + gen_below(s, 7), 1 + gen_below(s, 5)); break;
  case 7:
    hd_buf_printf(t, "tile:%ux%ux%u", 1 + gen_below(s, 7), 1 + gen_below(s, 5), 1 + gen_below(s, 20));
    break;
  case 3: hd_buf_printf(t, "zigzag:%ux%u", 1 + gen_below(s, 9), 1 + gen_below(s, 3)); break;
  case 4: hd_buf_printf(t, "stride:%ux%u", 1 + gen_below(s, 9), 1 + gen_below(s, 3)); break;
  case 5: hd_buf_puts(t, "hilbert"); break;
  case 6: hd_buf_puts(t, "reverse"); break;
  default: hd_buf_puts(t, "row"); break;
  }
}

/* A plan as text; not each is one that hd_plan_check lets through. */
static inline void gen_draw_plan(gen_source *s, hd_buf *t) {
  static const char *const BINDS[] = {"none",     "none",     "redirect", "agents",
                                      "agents:1", "agents:2", "claim",    "claim"};
  static const char *const SPLITS[] = {"", "", "", ",split=wave:1", ",split=wave:3"};
  static const char *const TAKES[] = {"", ",take=segments", ",take=segments:3", ",take=strides"};
  static const char *const BYPASSES[] = {"l1:0", "l1:1", "l1:2", "ro:1", "l2:0", "l2:1"};
  static const char *const FORMS[] = {"", ",form=predicate", ",form=replicate"};
  const char *bind = BINDS[gen_below(s, 8)];
  bool agents = strncmp(bind, "agents", 6) == 0;
  hd_buf_puts(t, "order=");
  gen_draw_order(s, t);
  hd_buf_printf(t, ",bind=%s", bind);
  if (gen_below(s, 4) == 0) {
    hd_buf_printf(t, ",shape=%ux%u:", 1 + gen_below(s, 14), 1 + gen_below(s, 9));
    gen_draw_order(s, t);
  }
  if (strcmp(bind, "none") != 0) hd_buf_puts(t, SPLITS[gen_below(s, 5)]);
  if (agents) hd_buf_puts(t, TAKES[gen_below(s, 4)]);
  if (agents && gen_below(s, 4) == 0) hd_buf_puts(t, ",sms=1+3-4");
  if (gen_below(s, 3) == 0) {
    hd_buf_printf(t, ",threads=%s", gen_below(s, 2) ? "cta:" : "");
    gen_draw_order(s, t);
  }
  uint32_t loads = gen_below(s, 4);
  if (loads == 1) hd_buf_printf(t, ",bypass=%s%s", BYPASSES[gen_below(s, 6)], FORMS[gen_below(s, 3)]);
  if (loads == 2) hd_buf_puts(t, gen_below(s, 2) ? ",stream=l1" : ",stream=0");
  if (gen_below(s, 3) == 0) hd_buf_printf(t, ",prefetch=l%u:%u", 1 + gen_below(s, 2), 1 + gen_below(s, 5));
}

/* Options of the rewriter: a random part of the launch is known, and a register limit may be set. */
static inline hd_rewrite_options gen_draw_options(gen_source *s, const gen_launch *l) {
  hd_rewrite_options o = {.grid = {.known = gen_below(s, 2), .n_sms = 1 + gen_below(s, 40)}};
  memcpy(o.grid.g, l->grid, sizeof o.grid.g);
  if (gen_below(s, 2)) memcpy(o.block, l->block, sizeof o.block);
  o.no_hoisting = gen_below(s, 3) == 0;
  o.registers = gen_below(s, 2) ? 32 : 0;
  return o;
}

/* ---- Running ----------------------------------------------------------------------------------------- */

enum { GEN_SMS = 6, GEN_RESIDENT = 2 };

typedef struct gen_machine {
  hd_emu *emu;
  uint64_t in, out, counters, out_bytes;
  uint64_t ctas; /* that were started, of the last launch */
} gen_machine;

static inline hd_status gen_open(const gen_launch *l, unsigned checks, gen_machine *g, hd_diag *d) {
  hd_emu_options o = {.checks = checks,
                      .threads = 1,
                      .sm = 80,
                      .n_sms = GEN_SMS,
                      .memory = 4 << 20,
                      .max_instructions = 1 << 20};
  *g = (gen_machine){.out_bytes = gen_product(l->grid) * gen_product(l->block) * 4};
  hd_status st = hd_emu_create(&o, &g->emu, d);
  if (st == HD_OK) st = hd_emu_alloc(g->emu, GEN_IN_WORDS * 4, &g->in, d);
  if (st == HD_OK) st = hd_emu_alloc(g->emu, g->out_bytes, &g->out, d);
  if (st == HD_OK) st = hd_emu_alloc(g->emu, GEN_COUNTERS * 4, &g->counters, d);
  if (st != HD_OK) return st;
  uint32_t *in = hd_emu_ptr(g->emu, g->in, GEN_IN_WORDS * 4);
  for (uint32_t i = 0; i < GEN_IN_WORDS; i++) in[i] = i * 2654435761u;
  hd_emu_mark_written(g->emu, g->in, GEN_IN_WORDS * 4);
  return HD_OK;
}

/* Launch the module's kernel as `r` says, twice with one state, and append its output to *left. A state that
 * is not zero again is HD_ERR_FAULT. */
static inline hd_status gen_run(gen_machine *g, const hd_ptx_module *m, const gen_launch *l,
                                const hd_recipe *r, hd_dispatch_kind how, hd_buf *left, hd_diag *d) {
  hd_emu_program *p;
  hd_status st = hd_emu_load(g->emu, m, &p, d);
  if (st != HD_OK) return st;
  uint64_t state = 0, bytes = r->params_bytes > 24 ? r->params_bytes : 24;
  char *params = calloc(1, bytes), *zero = calloc(1, r->state_bytes + 1);
  if (r->state_bytes) st = hd_emu_alloc(g->emu, r->state_bytes, &state, d);
  if (st == HD_OK && state) st = hd_emu_write(g->emu, state, zero, r->state_bytes, d);
  memcpy(params, (uint64_t[3]){g->in, g->out, g->counters}, 24);
  hd_recipe_params(r, l->grid, state, 0, params);
  hd_emu_launch_params launch = {.kernel = "k", .args = params, .args_bytes = bytes};
  memcpy(launch.block, l->block, sizeof launch.block);
  memcpy(launch.cluster, l->cluster, sizeof launch.cluster);
  hd_recipe_grid(r, l->grid, GEN_SMS, GEN_RESIDENT, launch.grid);
  for (unsigned round = 0; st == HD_OK && round < 2; round++) {
    hd_dispatch dispatch = {.kind = how, .seed = 7 + round, .resident = GEN_RESIDENT};
    hd_emu_stats stats;
    memset(hd_emu_ptr(g->emu, g->out, g->out_bytes), 0xa5, g->out_bytes);
    memset(hd_emu_ptr(g->emu, g->counters, GEN_COUNTERS * 4), 0, GEN_COUNTERS * 4);
    hd_emu_mark_written(g->emu, g->counters, GEN_COUNTERS * 4);
    st = hd_emu_launch(p, &launch, &dispatch, NULL, &stats, d);
    g->ctas = stats.ctas;
    hd_buf_put(left, hd_emu_ptr(g->emu, g->out, g->out_bytes), g->out_bytes);
    hd_buf_put(left, hd_emu_ptr(g->emu, g->counters, GEN_COUNTERS * 4), GEN_COUNTERS * 4);
    if (st == HD_OK && state && memcmp(hd_emu_ptr(g->emu, state, r->state_bytes), zero, r->state_bytes) != 0)
      st = hd_fail(d, HD_ERR_FAULT, "the state is not zero again");
  }
  if (state) hd_emu_free(g->emu, state, NULL);
  free(params);
  free(zero);
  hd_emu_unload(p);
  return st;
}

/* ---- The property ------------------------------------------------------------------------------------- */

typedef enum gen_answer {
  GEN_EQUAL = 0, /* also when it reads back from its text */
  GEN_NO_PLAN,   /* the plan's levers make no sense together */
  GEN_REFUSED,
  GEN_WRONG, /* *d says how */
} gen_answer;

/* Rewrite the kernel `text` for the plan and compare the output of both under two dispatchers. */
static inline gen_answer gen_compare(const char *text, const char *plan, const gen_launch *l,
                                     hd_rewrite_options opt, const hd_dispatch_kind how[2], hd_diag *d) {
  hd_plan p;
  if (hd_plan_parse(plan, &p, d) != HD_OK) return GEN_NO_PLAN;
  gen_answer answer = GEN_WRONG;
  hd_arena arena;
  gen_machine before = {0}, after = {0};
  hd_ptx_module *original, *m;
  hd_recipe none = {0}, recipe = {0};
  hd_buf expected = {0}, left = {0}, printed = {0};
  hd_arena_init(&arena);
  hd_status st = hd_ptx_parse(text, strlen(text), "original", &arena, &original, d);
  if (st == HD_OK) st = hd_ptx_parse(text, strlen(text), "rewritten", &arena, &m, d);
  if (st == HD_OK) {
    st = hd_rewrite(m, 0, &p, &opt, &recipe, d);
    if (st == HD_ERR_REFUSED || st == HD_ERR_UNSUPPORTED || st == HD_ERR_USAGE) answer = GEN_REFUSED;
  }
  if (st == HD_OK) st = hd_ptx_print(m, &printed);
  if (st == HD_OK) st = hd_ptx_parse(printed.data, printed.len, "printed", &arena, &m, d);
  /* Workers race for their tasks, as they are meant to; the original must not. */
  if (st == HD_OK) st = gen_open(l, HD_CHECK_ALL, &before, d);
  if (st == HD_OK) st = gen_open(l, HD_CHECK_ALL & ~(unsigned)HD_CHECK_RACE, &after, d);
  if (st == HD_OK) st = gen_run(&before, original, l, &none, HD_DISPATCH_ROUND_ROBIN, &expected, d);
  for (unsigned k = 0; st == HD_OK && k < 2; k++) {
    hd_buf_clear(&left);
    st = gen_run(&after, m, l, &recipe, how[k], &left, d);
    if (st == HD_OK && (left.len != expected.len || memcmp(left.data, expected.data, left.len) != 0))
      st = hd_fail(d, HD_ERR_REFUSED, "differs under %s", hd_dispatch_name(how[k]));
  }
  if (st == HD_OK) answer = GEN_EQUAL;
  hd_buf_free(&expected);
  hd_buf_free(&left);
  hd_buf_free(&printed);
  if (before.emu) hd_emu_destroy(before.emu);
  if (after.emu) hd_emu_destroy(after.emu);
  hd_arena_free(&arena);
  return answer;
}

#endif
