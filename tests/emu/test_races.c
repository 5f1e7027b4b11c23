/* Which accesses race: between CTAs in global memory, between threads of a CTA in shared memory. */
#include "check.h"
#include "heddle/emu.h"

#include <stdio.h>
#include <string.h>

/* %b is the CTA's number, %t the thread's, %w its warp's, %a the address of zeros, %s that of 4 KB of shared
 * memory, %bar that of an mbarrier. */
#define HEAD                                                                                                 \
  ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"                     \
  ".reg .pred %p<16>; .reg .b32 %r<32>; .reg .f32 %f<8>; .reg .b64 %d<32>; .reg .b32 %b, %t, %w, %s, %bar; " \
  ".reg .b64 %a; .shared .align 16 .b8 s[4096]; .shared .align 8 .b64 bar[4];\n"                             \
  "ld.param.u64 %a, [a]; mov.u32 %b, %ctaid.x; mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; mov.u32 %s, s; "       \
  "mov.u32 %bar, bar; mov.u32 %r0, 0;\n"
enum { FIRST_LINE = 8, BYTES = 65536 };

static hd_status launch(const char *body, uint32_t grid, uint32_t block, hd_diag *d) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu *e;
  hd_emu_program *p;
  hd_buf text = {0};
  const hd_emu_options opt = {
      .threads = 1, .memory = 1 << 22, .n_sms = 1, .checks = HD_CHECK_RACE, .max_instructions = 1 << 24};
  uint64_t a;
  memset(d, 0, sizeof *d);
  hd_buf_printf(&text, "%s%s\nret;\n}\n", HEAD, body);
  hd_arena_init(&arena);
  if (hd_ptx_parse(text.data, text.len, "race.ptx", &arena, &m, d) != HD_OK)
    fail_msg("%u: %s", d->line, d->message);
  assert_int_equal(hd_emu_create(&opt, &e, d), HD_OK);
  assert_int_equal(hd_emu_alloc(e, BYTES, &a, d), HD_OK);
  memset(hd_emu_ptr(e, a, BYTES), 0, BYTES);
  if (hd_emu_load(e, m, &p, d) != HD_OK) fail_msg("%s", d->message);
  const hd_emu_launch_params l = {
      .kernel = "k", .grid = {grid, 1, 1}, .block = {block, 1, 1}, .args = &a, .args_bytes = sizeof a};
  hd_status st =
      hd_emu_launch(p, &l, &(hd_dispatch){.kind = HD_DISPATCH_ROUND_ROBIN, .resident = 4}, NULL, NULL, d);
  hd_emu_unload(p);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
  hd_buf_free(&text);
  return st;
}

/* ---- Between CTAs ------------------------------------------------------------------------------ */

typedef struct pair {
  const char *name, *first, *second; /* the access of CTA 0, and that of CTA 1 after it */
  bool race;
} pair;

static const pair pairs[] = {
    {"plain store, plain load", "st.global.u32 [%a], 1;", "ld.global.u32 %r1, [%a];", true},
    {"plain load, plain store", "ld.global.u32 %r1, [%a];", "st.global.u32 [%a], 1;", true},
    {"plain load, plain load", "ld.global.u32 %r1, [%a];", "ld.global.u32 %r1, [%a];", false},
    {"plain stores of one value", "st.global.u32 [%a], 1;", "st.global.u32 [%a], 1;", false},
    {"plain stores of two values", "st.global.u32 [%a], 1;", "st.global.u32 [%a], 2;", true},
    {"volatile store, volatile load", "st.volatile.global.u32 [%a], 1;", "ld.volatile.global.u32 %r1, [%a];",
     false},
    {"volatile store, plain load", "st.volatile.global.u32 [%a], 1;", "ld.global.u32 %r1, [%a];", true},
    {"plain store, volatile load", "st.global.u32 [%a], 1;", "ld.volatile.global.u32 %r1, [%a];", true},
    {"relaxed store, acquiring load", "st.relaxed.gpu.global.u32 [%a], 1;",
     "ld.acquire.sys.global.u32 %r1, [%a];", false},
    {"relaxed load, relaxed store", "ld.relaxed.gpu.global.u32 %r1, [%a];",
     "st.release.gpu.global.u32 [%a], 1;", false},
    {"relaxed load in the CTA's scope, relaxed store", "ld.relaxed.cta.global.u32 %r1, [%a];",
     "st.relaxed.gpu.global.u32 [%a], 1;", true},
    {"atomic, relaxed load", "red.global.add.u32 [%a], 1;", "ld.relaxed.gpu.global.u32 %r1, [%a];", false},
    {"relaxed load, atomic", "ld.relaxed.gpu.global.u32 %r1, [%a];", "red.global.add.u32 [%a], 1;", false},
    {"atomic, atomic", "red.global.add.u32 [%a], 1;", "atom.global.max.u32 %r1, [%a], 4;", false},
    {"atomic of the CTA's scope, atomic", "red.relaxed.cta.global.add.u32 [%a], 1;",
     "red.global.add.u32 [%a], 1;", true},
    {"atomic, plain load", "red.global.add.u32 [%a], 1;", "ld.global.u32 %r1, [%a];", true},
    {"plain load, atomic", "ld.global.u32 %r1, [%a];", "red.global.add.u32 [%a], 1;", true},
    {"atomic, plain store", "red.global.add.u32 [%a], 1;", "st.global.u32 [%a], 5;", true},
    {"plain store, atomic", "st.global.u32 [%a], 5;", "red.global.add.u32 [%a], 1;", true},
    {"atomic, load past the caches, which is weak", "red.global.add.u32 [%a], 1;",
     "ld.global.cg.u32 %r1, [%a];", true},
    {"atomic, relaxed load of a part", "red.global.add.u64 [%a], 1;",
     "ld.relaxed.gpu.global.u32 %r1, [%a+4];", false},
    {"one's own plain store before one's atomic", "st.global.u32 [%a], 5; red.global.add.u32 [%a], 1;",
     "red.global.add.u32 [%a], 1;", true},
    /* old = *p; while (old < x && old != (was = atomicCAS(p, old, x))) old = was; */
    {"a float maximum by compare-and-swap", "mov.f32 %f2, 0f40000000;\nbra.uni GO;",
     "mov.f32 %f2, 0f3f800000;\nGO: "
     "ld.global.f32 %f1, [%a];\nmov.b32 %r1, %f1;\nmov.b32 %r2, %f2;\nL: mov.u32 %r3, %r1;\nmov.b32 %f3, "
     "%r3;\n"
     "setp.ge.f32 %p1, %f3, %f2;\n@%p1 bra END;\natom.global.cas.b32 %r1, [%a], %r3, %r2;\n"
     "setp.ne.u32 %p2, %r1, %r3;\n@%p2 bra L;\nEND:",
     false},
};

static void races_between_ctas_follow_moral_strength(void **state) {
  for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
    char body[2048];
    hd_diag d;
    snprintf(body, sizeof body, "setp.ne.u32 %%p9, %%b, 0;\n@%%p9 bra SECOND;\n%s\nret;\nSECOND: %s",
             pairs[k].first, pairs[k].second);
    hd_status st = launch(body, 2, 1, &d);
    if (st != HD_OK && st != HD_ERR_FAULT) fail_msg("%s: %s", pairs[k].name, d.message);
    if ((st == HD_ERR_FAULT) != pairs[k].race)
      fail_msg("%s: %s", pairs[k].name, st == HD_OK ? "no race" : d.message);
    if (pairs[k].race && !strstr(d.message, "race between CTAs"))
      fail_msg("%s: %s", pairs[k].name, d.message);
  }
}

/* ---- Flags between CTAs --------------------------------------------------------------------------- */

/* CTA 0 sets a flag at %a, and CTA 1 reads data when it has seen it. Data lie at %d1, one word a thread, and
 * at %d2 that of the thread beside in the other warp. Both have 64 threads; %p0 is thread 0. */
typedef struct flag_case {
  const char *name, *writer, *reader;
  bool race;
} flag_case;

#define PUT "st.global.u32 [%d1], %t;\n"
#define PUT_ALONE "@%p0 st.global.u32 [%d1], 7;\n"
#define GET "ld.global.u32 %r3, [%d2];"
#define GET_ALONE "@%p0 ld.global.u32 %r3, [%d1];"
#define ALL "bar.sync 0;\n"
#define SET "@%p0 st.relaxed.gpu.global.u32 [%a], 1;\n"
#define FENCE "@%p0 fence.acq_rel.gpu;\n"
#define BULK_OUT                                                                                             \
  "@%p0 st.shared.v4.u32 [%s], {%t, %t, %t, %t};\nfence.proxy.async;\n"                                      \
  "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%d1], [%s], 16;\n@%p0 cp.async.bulk.commit_group;\n"
#define POLL(load)                                                                                           \
  "@!%p0 bra ON;\nW: " load " %r1, [%a];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra W;\nON: bar.warp.sync -1;\n"
#define SEE POLL("ld.relaxed.gpu.global.u32")

static const flag_case flag_cases[] = {
    {"a fence before the flag", PUT_ALONE FENCE SET, SEE FENCE GET_ALONE, false},
    {"a reader without a fence", PUT_ALONE FENCE SET, SEE GET_ALONE, false},
    {"no fence", PUT_ALONE SET, SEE FENCE GET_ALONE, true},
    {"a fence of the CTA", PUT_ALONE "fence.acq_rel.cta;\n" SET, SEE FENCE GET_ALONE, true},
    {"membar.cta", PUT_ALONE "membar.cta;\n" SET, SEE FENCE GET_ALONE, true},
    {"a fence of the cluster", PUT_ALONE "fence.sc.cluster;\n" SET, SEE FENCE GET_ALONE, true},
    {"membar.gl", PUT_ALONE "membar.gl;\n" SET, SEE FENCE GET_ALONE, false},
    {"membar.sys", PUT_ALONE "membar.sys;\n" SET, SEE FENCE GET_ALONE, false},
    {"a fence that releases", PUT_ALONE "fence.release.gpu;\n" SET, SEE FENCE GET_ALONE, false},
    {"a fence that only acquires", PUT_ALONE "fence.acquire.gpu;\n" SET "fence.release.gpu;\n",
     SEE FENCE GET_ALONE, true},
    {"a fence before the data", FENCE PUT_ALONE SET, SEE FENCE GET_ALONE, true},
    {"a store that releases", PUT_ALONE "@%p0 st.release.gpu.global.u32 [%a], 1;\n", SEE FENCE GET_ALONE,
     false},
    {"a store that releases to the CTA", PUT_ALONE "@%p0 st.release.cta.global.u32 [%a], 1;\n",
     SEE FENCE GET_ALONE, true},
    {"a reduction that releases", PUT_ALONE "@%p0 red.release.sys.global.add.u32 [%a], 1;\n",
     SEE FENCE GET_ALONE, false},
    {"an atomic that acquires and releases",
     PUT_ALONE "@%p0 atom.acq_rel.gpu.global.exch.b32 %r9, [%a], 1;\n",
     POLL("ld.acquire.gpu.global.u32") GET_ALONE, false},
    {"an atomic that only acquires", PUT_ALONE "@%p0 atom.acquire.gpu.global.exch.b32 %r9, [%a], 1;\n",
     POLL("ld.acquire.gpu.global.u32") GET_ALONE, true},
    {"data stored after the release", "@%p0 st.release.gpu.global.u32 [%a], 1;\n" PUT_ALONE,
     SEE FENCE GET_ALONE, true},
    {"a barrier is no fence", PUT ALL SET, SEE ALL GET, true},
    {"a barrier, then thread 0's fence", PUT ALL FENCE SET, SEE ALL FENCE GET, false},
    {"all fences, then a barrier", PUT "fence.acq_rel.gpu;\n" ALL SET, SEE ALL GET, false},
    {"thread 0's fence, then a barrier", PUT FENCE ALL SET, SEE ALL GET, true},
    {"a barrier, then a release", PUT ALL "@%p0 st.release.gpu.global.u32 [%a], 1;\n", SEE ALL GET, false},
    {"no barrier before thread 0's fence", PUT FENCE SET, SEE ALL GET, true},
    {"no barrier behind the reader's flag", PUT ALL FENCE SET, SEE GET, true},
    {"data stored between the barrier and the fence of another warp", "bar.sync 0;\n" PUT FENCE SET,
     SEE ALL GET, true},
    {"an mbarrier that other warps arrive at, then a fence",
     "@%p0 mbarrier.init.shared.b64 [%bar], 63;\n" ALL PUT
     "@!%p0 mbarrier.arrive.shared.b64 _, [%bar];\n@!%p0 bra END;\n"
     "M: mbarrier.try_wait.parity.shared.b64 %p3, [%bar], 0;\n@!%p3 bra M;\n" FENCE SET "END:",
     SEE ALL GET, false},
    {"a bulk store that was not waited for", BULK_OUT FENCE SET, SEE FENCE GET_ALONE, true},
    {"a bulk store whose source alone was waited for",
     BULK_OUT "cp.async.bulk.wait_group.read 0;\n" FENCE SET, SEE FENCE GET_ALONE, true},
    {"a bulk store that was waited for", BULK_OUT "cp.async.bulk.wait_group 0;\n" FENCE SET,
     SEE FENCE GET_ALONE, false},
    {"a bulk store that was waited for behind the fence", BULK_OUT FENCE "cp.async.bulk.wait_group 0;\n" SET,
     SEE FENCE GET_ALONE, true},
    {"a bulk store that was waited for, then a release",
     BULK_OUT "cp.async.bulk.wait_group 0;\n" ALL "@%p0 st.release.gpu.global.u32 [%a], 1;\n",
     SEE FENCE GET_ALONE, false},
    {"a third CTA passes the flag on, with a fence",
     PUT_ALONE FENCE "@%p0 st.relaxed.gpu.global.u32 [%a+64], 1;\n", "%PASS", false},
};

static void flags_order_what_was_released_to_the_gpu(void **state) {
  static const char pass[] = /* CTA 1 passes it on to CTA 2 */
      "setp.eq.u32 %p4, %b, 2;\n@%p4 bra LAST;\n@!%p0 bra END2;\nV: ld.relaxed.gpu.global.u32 %r1, [%a+64];\n"
      "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra V;\n" FENCE SET "END2: ret;\nLAST: " SEE FENCE GET_ALONE;
  for (size_t k = 0; k < sizeof flag_cases / sizeof flag_cases[0]; k++) {
    const flag_case *c = &flag_cases[k];
    const bool third = strcmp(c->reader, "%PASS") == 0;
    char body[4096];
    hd_diag d;
    snprintf(
        body, sizeof body,
        "setp.eq.u32 %%p0, %%t, 0;\nmul.wide.u32 %%d1, %%t, 4;\nadd.u64 %%d1, %%d1, %%a;\nadd.u64 %%d1, "
        "%%d1, "
        "4096;\nxor.b32 %%r8, %%t, 32;\nmul.wide.u32 %%d2, %%r8, 4;\nadd.u64 %%d2, %%d2, %%a;\nadd.u64 %%d2, "
        "%%d2, 4096;\nsetp.ne.u32 %%p9, %%b, 0;\n@%%p9 bra READ;\n%s\nret;\nREAD: %s",
        c->writer, third ? pass : c->reader);
    const hd_status st = launch(body, third ? 3 : 2, 64, &d);
    if (st != HD_OK && st != HD_ERR_FAULT) fail_msg("%s: %s", c->name, d.message);
    if ((st == HD_ERR_FAULT) != c->race) fail_msg("%s: %s", c->name, st == HD_OK ? "no race" : d.message);
    if (c->race && !strstr(d.message, "race between CTAs")) fail_msg("%s: %s", c->name, d.message);
  }
}

/* A bulk copy reads, through another proxy, what a thread wrote. */
static const struct {
  const char *before, *behind; /* CTA 0's flag; CTA 1's look at it */
  bool race;
} proxy_cases[] = {
    {PUT_ALONE, "", true},
    {PUT_ALONE, "fence.proxy.async;\n", false},
    {PUT_ALONE, "fence.proxy.async.global;\n", false},
    {PUT_ALONE, "fence.proxy.async.shared::cta;\n", true},
    {PUT_ALONE "fence.proxy.async;\n", "", false},
    {"", PUT_ALONE, true}, /* its own */
    {"", PUT_ALONE "fence.proxy.async;\n", false},
    {"", "", false},
};

static void copies_read_what_threads_wrote_behind_a_proxy_fence(void **state) {
  for (size_t k = 0; k < sizeof proxy_cases / sizeof proxy_cases[0]; k++) {
    char body[4096];
    hd_diag d;
    snprintf(
        body, sizeof body,
        "setp.eq.u32 %%p0, %%t, 0;\nadd.u64 %%d1, %%a, 4096;\nsetp.ne.u32 %%p9, %%b, 0;\n@%%p9 bra READ;\n"
        "%s@%%p0 st.release.gpu.global.u32 [%%a], 1;\nret;\nREAD: @!%%p0 ret;\n"
        "W: ld.acquire.gpu.global.u32 %%r1, [%%a];\nsetp.eq.u32 %%p2, %%r1, 0;\n@%%p2 bra W;\n%s"
        "mbarrier.init.shared.b64 [%%bar], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [%%bar], 16;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%s], [%%d1], 16, [%%bar];\n",
        proxy_cases[k].before, proxy_cases[k].behind);
    const hd_status st = launch(body, 2, 64, &d);
    if (st != HD_OK && st != HD_ERR_FAULT) fail_msg("%zu: %s", k, d.message);
    if ((st == HD_ERR_FAULT) != proxy_cases[k].race)
      fail_msg("%zu: %s", k, st == HD_OK ? "no race" : d.message);
    if (proxy_cases[k].race && !strstr(d.message, "with no fence.proxy.async")) fail_msg("%s", d.message);
  }
}

/* ---- Between threads of a CTA ----------------------------------------------------------------------- */

typedef struct warps_case {
  const char *name, *body;
  uint32_t warps;
  uint32_t line, other; /* of the two accesses, from the body's first on; 0: no race */
} warps_case;

#define MINE "shl.b32 %r1, %t, 2;\nadd.u32 %r1, %s, %r1;\n" /* 4 bytes of each thread */
#define NEXT "xor.b32 %r2, %r1, 128;\n"                     /* the same of the warp beside */

/* Warp 0 sets a flag behind data, and warp 1 reads the data when it has seen it. */
#define FLAG_BY(before, behind)                                                                              \
  "setp.ne.u32 %p1, %w, 0;\n@%p1 bra C;\nst.shared.u32 [%s+16], 5;\n" before                                 \
  ";\nst.volatile.shared.u32 [%s], 1;\nret;\nC: ld.volatile.shared.u32 %r1, [%s];\n"                         \
  "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra C;\n" behind ";\nld.shared.u32 %r3, [%s+16];"

/* Warp 0 stores and arrives at an mbarrier, and warp 1 waits for it and loads. */
#define MBARRIER_BY(before, arrives, waits, behind)                                                          \
  "setp.ne.u32 %p1, %t, 0;\n@!%p1 mbarrier.init.shared.b64 [%bar], 32;\nbar.sync 0;\n"                       \
  "setp.ne.u32 %p2, %w, 0;\n@%p2 bra C;\nst.shared.u32 [%s+16], 5;\n" before "mbarrier.arrive" arrives       \
  ".shared::cta.b64 _, [%bar];\nret;\n"                                                                      \
  "C: mbarrier.try_wait.parity" waits ".shared::cta.b64 %p3, [%bar], 0;\n@!%p3 bra C;\n" behind              \
  "ld.shared.u32 %r3, [%s+16];"

#define ROWS                                                                                                 \
  "and.b32 %r1, %t, 31;\nshl.b32 %r1, %r1, 4;\nadd.u32 %r1, %s, %r1;\n" /* of 16 bytes, by lane              \
                                                                         */

/* Warp 1 arrives and does no more; warp 0 waits, and thread 0 ends the mbarrier. */
#define END_OF_MBARRIER(count, who, waits)                                                                   \
  "setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [%bar], " count ";\nbar.sync 0;\n"                 \
  "setp.ne.u32 %p2, %w, 0;\n" who "mbarrier.arrive.shared.b64 _, [%bar];\n@%p2 bra END;\n"                   \
  "L: mbarrier.try_wait.parity" waits ".shared::cta.b64 %p3, [%bar], 0;\n@!%p3 bra L;\nbar.warp.sync -1;\n"  \
  "@%p1 mbarrier.inval.shared.b64 [%bar];\nEND:"

/* Thread 0 has an mbarrier and a copy of 256 bytes to %s, which completes its phase 0: line 4. */
#define BULK                                                                                                 \
  "setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [%bar], 1;\n@%p1 "                                 \
  "mbarrier.arrive.expect_tx.shared."                                                                        \
  "b64 _, [%bar], 256;\n@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%a], " \
  "256, [%bar];\n"
/* Each thread copies its word at %r1, and an mbarrier of 64 tracks that: line 7. */
#define TRACKED                                                                                              \
  "setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [%bar], 64;\nbar.sync 0;\n"                        \
  "shl.b32 %r6, %t, 2; add.u32 %r1, %s, %r6; xor.b32 %r2, %r6, 128; add.u32 %r2, %s, %r2;\n"                 \
  "cvt.u64.u32 %d1, %r6;\nadd.u64 %d1, %a, %d1;\n"                                                           \
  "cp.async.ca.shared.global [%r1], [%d1], 4;\ncp.async.mbarrier.arrive.noinc.shared.b64 [%bar];\n"
#define BULK_STORE                                                                                           \
  "setp.eq.u32 %p2, %t, 0;\n@%p2 cp.async.bulk.global.shared::cta.bulk_group [%a], [%s], 256;\n"             \
  "@%p2 cp.async.bulk.commit_group;\n@%p2 cp.async.bulk.wait_group 0;"

static const warps_case cases[] = {
    {"what another warp stored, without a barrier",
     MINE NEXT "st.shared.u32 [%r1], %t;\nld.shared.u32 %r3, [%r2];", 2, 5, 4},
    {"with a barrier", MINE NEXT "st.shared.u32 [%r1], %t;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];", 2, 0, 0},
    {"a warp's barrier is not enough",
     MINE NEXT "st.shared.u32 [%r1], %t;\nbar.warp.sync 0xffffffff;\nld.shared.u32 %r3, [%r2];", 2, 6, 4},
    {"within a warp it is",
     MINE "xor.b32 %r2, %r1, 4;\nst.shared.u32 [%r1], %t;\nbar.warp.sync 0xffffffff;\n"
          "ld.shared.u32 %r3, [%r2];",
     4, 0, 0},
    {"a store over what another warp may still read",
     MINE NEXT "st.shared.u32 [%r1], %t;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];\nst.shared.u32 [%r1], %r0;",
     2, 7, 6},
    {"a loop with one barrier where two are needed",
     MINE NEXT "mov.u32 %r4, 0;\nL: st.shared.u32 [%r1], %r4;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];\n"
               "add.u32 %r4, %r4, 1;\nsetp.ne.u32 %p1, %r4, 4;\n@%p1 bra L;",
     2, 5, 7},
    {"a loop with both",
     MINE NEXT
     "mov.u32 %r4, 0;\nL: st.shared.u32 [%r1], %r4;\nbar.sync 0;\n"
     "ld.shared.u32 %r3, [%r2];\nbar.sync 0;\nadd.u32 %r4, %r4, 1;\nsetp.ne.u32 %p1, %r4, 4;\n@%p1 bra L;",
     4, 0, 0},
    {"double buffers with one barrier",
     MINE NEXT
     "mov.u32 %r4, 0;\nL: st.shared.u32 [%r1], %r4;\nbar.sync 0;\n"
     "ld.shared.u32 %r3, [%r2];\nxor.b32 %r1, %r1, 2048;\nxor.b32 %r2, %r2, 2048;\nadd.u32 %r4, %r4, 1;\n"
     "setp.ne.u32 %p1, %r4, 8;\n@%p1 bra L;",
     4, 0, 0},
    {"two values at one place", "st.shared.u32 [%s], %w;", 2, 1, 1},
    {"lanes far apart at one place",
     "and.b32 %r1, %t, 3;\nshl.b32 %r1, %r1, 4;\nadd.u32 %r1, %s, %r1;\n"
     "mov.u32 %r3, 7;\nst.shared.v4.u32 [%r1], {%r3, %r3, %r3, %r3};",
     1, 0, 0},
    {"one value at one place", "mov.u32 %r1, 7;\nst.shared.u32 [%s], %r1;", 4, 0, 0},
    {"two matrices at one place", ROWS "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r1], {%w, %t};", 2, 4, 4},
    {"one matrix at one place",
     ROWS "mov.u32 %r3, 7;\nstmatrix.sync.aligned.m8n8.x4.shared.b16 [%r1], {%r3, %r3, %r3, %r3};", 4, 0, 0},
    {"a matrix whose rows the lanes stored",
     ROWS "st.shared.v4.u32 [%r1], {%t, %t, %t, %t};\n"
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r1];",
     1, 5, 4},
    {"a matrix whose rows the lanes stored, behind the warp's barrier",
     ROWS "st.shared.v4.u32 [%r1], {%t, %t, %t, %t};\nbar.warp.sync -1;\n"
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r1];",
     1, 0, 0},
    {"rows of a matrix that was stored",
     ROWS "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r1], {%t, %t, %t, %t};\n"
          "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r1];",
     1, 5, 4},
    {"bytes that lie side by side", "add.u32 %r1, %s, %w;\nst.shared.u8 [%r1], %w;", 4, 0, 0},
    {"halves that lie side by side", "shl.b32 %r1, %w, 1;\nadd.u32 %r1, %s, %r1;\nst.shared.u16 [%r1], %w;",
     4, 0, 0},
    {"atomics among themselves", "atom.shared.add.u32 %r1, [%s], 1;", 4, 0, 0},
    {"an atomic and a load without a barrier", "red.shared.add.u32 [%s], 1;\nld.shared.u32 %r1, [%s];", 2, 1,
     2},
    {"an atomic and a load behind a barrier",
     "red.shared.add.u32 [%s], 1;\nbar.sync 0;\nld.shared.u32 %r1, [%s];", 4, 0, 0},
    {"volatile accesses among themselves",
     "st.volatile.shared.u32 [%s], %w;\nld.volatile.shared.u32 %r1, [%s];", 4, 0, 0},
    {"a named barrier that joins other warps",
     MINE NEXT "st.shared.u32 [%r1], %t;\nshr.u32 %r5, %w, 1;\nadd.u32 %r5, %r5, 1;\nbar.sync %r5, 64;\n"
               "xor.b32 %r2, %r1, 256;\nld.shared.u32 %r3, [%r2];",
     4, 9, 4},
    {"a named barrier that joins these",
     MINE NEXT "st.shared.u32 [%r1], %t;\nshr.u32 %r5, %w, 1;\nadd.u32 %r5, %r5, 1;\nbar.sync %r5, 64;\n"
               "ld.shared.u32 %r3, [%r2];",
     4, 0, 0},
    {"who arrives and who waits",
     "setp.ne.u32 %p1, %w, 0;\n@%p1 bra C;\nst.shared.u32 [%s], 5;\nbar.arrive 1, 64;\nret;\n"
     "C: bar.sync 1, 64;\nld.shared.u32 %r3, [%s];",
     2, 0, 0},
    {"who arrives does not wait",
     "setp.ne.u32 %p1, %w, 0;\n@%p1 bra C;\nbar.arrive 1, 64;\nld.shared.u32 %r3, [%s];\nret;\n"
     "C: bar.sync 1, 64;\nst.shared.u32 [%s], 5;",
     2, 7, 4},
    {"an mbarrier's phase",
     "setp.ne.u32 %p1, %t, 0;\n@%p1 bra I;\nmbarrier.init.shared.b64 [%bar], 32;\nI: bar.sync 0;\n"
     "setp.ne.u32 %p1, %w, 0;\n@%p1 bra C;\nst.shared.u32 [%s], 5;\nmbarrier.arrive.shared.b64 _, "
     "[%bar];\nret;\n"
     "C: mbarrier.try_wait.parity.shared.b64 %p2, [%bar], 0;\n@!%p2 bra C;\nld.shared.u32 %r3, [%s];",
     2, 0, 0},
    {"a store after the arrival at an mbarrier",
     "setp.ne.u32 %p1, %t, 0;\n@%p1 bra I;\nmbarrier.init.shared.b64 [%bar], 32;\nI: bar.sync 0;\n"
     "setp.ne.u32 %p1, %w, 0;\n@%p1 bra C;\nmbarrier.arrive.shared.b64 _, [%bar];\nst.shared.u32 [%s], "
     "5;\nret;\n"
     "C: mbarrier.try_wait.parity.shared.b64 %p2, [%bar], 0;\n@!%p2 bra C;\nld.shared.u32 %r3, [%s];",
     2, 12, 8},
    {"a flag with fences",
     "setp.ne.u32 %p1, %w, 0;\n@%p1 bra C;\nst.shared.u32 [%s+16], 5;\nmembar.cta;\nst.volatile.shared.u32 "
     "[%s], 1;\n"
     "ret;\nC: ld.volatile.shared.u32 %r1, [%s];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra C;\nmembar.cta;\n"
     "ld.shared.u32 %r3, [%s+16];",
     2, 0, 0},
    {"a flag in global memory that releases and acquires",
     "setp.ne.u32 %p1, %w, 0;\n@%p1 bra C;\nst.shared.u32 [%s+16], 5;\nst.release.gpu.global.u32 [%a], 1;\n"
     "ret;\nC: ld.acquire.gpu.global.u32 %r1, [%a];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra C;\n"
     "ld.shared.u32 %r3, [%s+16];",
     2, 0, 0},
    {"a flag whose writer releases and whose reader acquires, by fences",
     FLAG_BY("fence.release.cta", "fence.acquire.cta"), 2, 0, 0},
    {"a flag with fences that do both", FLAG_BY("fence.acq_rel.cta", "fence.acq_rel.cta"), 2, 0, 0},
    {"a flag whose writer's fence only acquires", FLAG_BY("fence.acquire.cta", "fence.acq_rel.cta"), 2, 11,
     3},
    {"a flag whose reader's fence only releases", FLAG_BY("fence.acq_rel.cta", "fence.release.cta"), 2, 11,
     3},
    {"a flag whose fences are of the wrong kinds", FLAG_BY("fence.acquire.gpu", "fence.release.gpu"), 2, 11,
     3},
    {"a flag without fences",
     "setp.ne.u32 %p1, %w, 0;\n@%p1 bra C;\nst.shared.u32 [%s+16], 5;\nst.volatile.shared.u32 [%s], 1;\n"
     "ret;\nC: ld.volatile.shared.u32 %r1, [%s];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra C;\n"
     "ld.shared.u32 %r3, [%s+16];",
     2, 9, 3},
    {"a copy that is waited for, then a barrier",
     MINE NEXT
     "shl.b32 %r6, %t, 2;\ncvt.u64.u32 %d1, %r6;\nadd.u64 %d1, %a, %d1;\n"
     "cp.async.ca.shared.global [%r1], [%d1], 4;\ncp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];",
     2, 0, 0},
    {"a copy without a barrier",
     MINE NEXT "shl.b32 %r6, %t, 2;\ncvt.u64.u32 %d1, %r6;\nadd.u64 %d1, %a, %d1;\n"
               "cp.async.ca.shared.global [%r1], [%d1], 4;\ncp.async.wait_all;\nld.shared.u32 %r3, [%r2];",
     2, 9, 7},
    {"a copy that an mbarrier tracks, whose phase is waited for",
     TRACKED
     "L: mbarrier.try_wait.parity.shared.b64 %p3, [%bar], 0;\n@!%p3 bra L;\nld.shared.u32 %r3, [%r2];",
     2, 0, 0},
    {"a copy that an mbarrier tracks, behind a barrier alone",
     TRACKED "bar.sync 0;\nld.shared.u32 %r3, [%r2];", 2, 10, 7},
    {"a copy that an mbarrier tracks, read by its own thread", TRACKED "ld.shared.u32 %r3, [%r1];", 2, 9, 7},
    {"a copy that an mbarrier tracks, waited for by its thread as well",
     TRACKED "cp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];", 2, 0, 0},
    {"a copy that an mbarrier tracks, overwritten behind a barrier",
     TRACKED "bar.sync 0;\nst.shared.u32 [%r2], %t;", 2, 10, 7},
    {"warps that are over beside a barrier",
     MINE NEXT
     "setp.eq.u32 %p1, %w, 3;\nst.shared.u32 [%r1], %t;\n@%p1 ret;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];",
     4, 0, 0},
    {"lanes without a barrier of the warp",
     MINE "xor.b32 %r2, %r1, 4;\nst.shared.u32 [%r1], %t;\nld.shared.u32 %r3, [%r2];", 1, 5, 4},
    {"a vote is no barrier",
     MINE "xor.b32 %r2, %r1, 4;\nst.shared.u32 [%r1], %t;\nvote.sync.ballot.b32 %r9, %p1, -1;\n"
          "ld.shared.u32 %r3, [%r2];",
     1, 6, 4},
    {"volatile accesses of lanes",
     MINE "xor.b32 %r2, %r1, 4;\nst.volatile.shared.u32 [%r1], %t;\nld.volatile.shared.u32 %r3, [%r2];", 1, 0,
     0},
    {"a lane's own place",
     MINE "st.shared.u32 [%r1], %t;\nld.shared.u32 %r3, [%r1];\nst.shared.u32 [%r1], %r0;", 2, 0, 0},
    {"a lane writes what others have read",
     MINE "xor.b32 %r2, %r1, 4;\nld.shared.u32 %r3, [%r2];\nst.shared.u32 [%r1], %r3;", 1, 5, 4},
    {"what one lane wrote, read by all",
     "setp.eq.u32 %p1, %t, 3;\n@%p1 st.shared.u32 [%s], %t;\nld.shared.u32 %r3, [%s];", 1, 3, 2},
    {"behind the warp's barrier",
     "setp.eq.u32 %p1, %t, 3;\n@%p1 st.shared.u32 [%s], %t;\nbar.warp.sync -1;\nld.shared.u32 %r3, [%s];", 1,
     0, 0},
    {"a barrier of half a warp, and the other half's place",
     MINE "and.b32 %r4, %t, 16;\nmov.u32 %r5, 0xffff;\nshl.b32 %r5, %r5, %r4;\nxor.b32 %r2, %r1, 64;\n"
          "st.shared.u32 [%r1], %t;\nbar.warp.sync %r5;\nld.shared.u32 %r3, [%r2];",
     1, 9, 7},
    {"a barrier of half a warp, and a place of that half",
     MINE "and.b32 %r4, %t, 16;\nmov.u32 %r5, 0xffff;\nshl.b32 %r5, %r5, %r4;\nxor.b32 %r2, %r1, 32;\n"
          "st.shared.u32 [%r1], %t;\nbar.warp.sync %r5;\nld.shared.u32 %r3, [%r2];",
     1, 0, 0},
    {"one lane arrives at an mbarrier for its warp",
     MINE
     "setp.ne.u32 %p1, %t, 0;\n@!%p1 mbarrier.init.shared.b64 [%bar], 1;\nbar.sync 0;\n"
     "setp.ne.u32 %p2, %w, 0;\n@%p2 bra C;\nst.shared.u32 [%r1], %t;\n@!%p1 mbarrier.arrive.shared.b64 _, "
     "[%bar];\nret;\nC: mbarrier.try_wait.parity.shared.b64 %p3, [%bar], 0;\n@!%p3 bra C;\n"
     "xor.b32 %r2, %r1, 128;\nld.shared.u32 %r3, [%r2];",
     2, 14, 8},
    {"one lane arrives at an mbarrier for its warp, behind the warp's barrier",
     MINE "setp.ne.u32 %p1, %t, 0;\n@!%p1 mbarrier.init.shared.b64 [%bar], 1;\nbar.sync 0;\n"
          "setp.ne.u32 %p2, %w, 0;\n@%p2 bra C;\nst.shared.u32 [%r1], %t;\nbar.warp.sync -1;\n"
          "@!%p1 mbarrier.arrive.shared.b64 _, [%bar];\nret;\n"
          "C: mbarrier.try_wait.parity.shared.b64 %p3, [%bar], 0;\n@!%p3 bra C;\n"
          "xor.b32 %r2, %r1, 128;\nld.shared.u32 %r3, [%r2];",
     2, 0, 0},
    {"several lanes read, and one of them writes",
     "ld.shared.u32 %r3, [%s];\nsetp.eq.u32 %p1, %t, 0;\n@%p1 st.shared.u32 [%s], %t;", 1, 3, 1},
    {"several lanes read, and one of them writes behind the warp's barrier",
     "ld.shared.u32 %r3, [%s];\nbar.warp.sync -1;\nsetp.eq.u32 %p1, %t, 0;\n@%p1 st.shared.u32 [%s], %t;", 1,
     0, 0},
    {"two lanes read, and a third writes",
     "setp.lt.u32 %p1, %t, 2;\n@%p1 ld.shared.u32 %r3, [%s];\nsetp.eq.u32 %p2, %t, 5;\n"
     "@%p2 st.shared.u32 [%s], %t;",
     1, 4, 2},
    {"two lanes read one after the other, and the last writes",
     "setp.eq.u32 %p1, %t, 1;\nsetp.eq.u32 %p2, %t, 0;\n@%p1 ld.shared.u32 %r3, [%s];\n"
     "@%p2 ld.shared.u32 %r3, [%s];\n@%p2 st.shared.u32 [%s], %t;",
     1, 5, 4},
    {"one lane reads twice and writes",
     "setp.eq.u32 %p1, %t, 1;\n@%p1 ld.shared.u32 %r3, [%s];\n@%p1 ld.shared.u32 %r3, [%s];\n"
     "@%p1 st.shared.u32 [%s], %t;",
     1, 0, 0},
    {"half a warp reads, and one of it writes behind that half's barrier",
     "setp.gt.u32 %p1, %t, 15;\n@%p1 bra E;\nld.shared.u32 %r3, [%s];\nbar.warp.sync 0xffff;\n"
     "setp.eq.u32 %p2, %t, 0;\n@%p2 st.shared.u32 [%s], %t;\nE:",
     1, 0, 0},
    {"a relaxed arrival at an mbarrier", MBARRIER_BY("", ".relaxed.cta", "", ""), 2, 11, 6},
    {"a relaxed wait for an mbarrier", MBARRIER_BY("", "", ".relaxed.cta", ""), 2, 11, 6},
    {"a relaxed arrival behind a fence", MBARRIER_BY("fence.acq_rel.cta;", ".relaxed.cta", "", ""), 2, 0, 0},
    {"a relaxed wait before a fence", MBARRIER_BY("", "", ".relaxed.cta", "fence.acq_rel.cta;"), 2, 0, 0},
    {"a relaxed arrival and a relaxed wait, with fences",
     MBARRIER_BY("fence.acq_rel.cta;", ".relaxed.cta", ".relaxed.cta", "fence.acq_rel.cta;"), 2, 0, 0},
    {"a relaxed arrival at the cluster's barrier",
     MINE NEXT "st.shared.u32 [%r1], %t;\nbarrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n"
               "ld.shared.u32 %r3, [%r2];",
     2, 7, 4},
    {"an arrival at the cluster's barrier",
     MINE NEXT
     "st.shared.u32 [%r1], %t;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nld.shared.u32 %r3, [%r2];",
     2, 0, 0},
    {"a relaxed arrival at the cluster's barrier behind a fence",
     MINE NEXT "st.shared.u32 [%r1], %t;\nfence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed;\n"
               "barrier.cluster.wait;\nld.shared.u32 %r3, [%r2];",
     2, 0, 0},
    {"an mbarrier that another warp uses without a barrier behind its init",
     "setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [%bar], 2;\nand.b32 %r4, %t, 31;\n"
     "setp.eq.u32 %p2, %r4, 0;\n@%p2 mbarrier.arrive.shared.b64 _, [%bar];",
     2, 5, 2},
    {"an mbarrier that other lanes use without a barrier behind its init",
     "setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [%bar], 32;\nmbarrier.arrive.shared.b64 _, "
     "[%bar];",
     1, 3, 2},
    {"an mbarrier that another warp waits for without a barrier behind its init",
     "setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [%bar], 1;\n@%p1 mbarrier.arrive.shared.b64 _, "
     "[%bar];\n"
     "L: mbarrier.test_wait.parity.shared.b64 %p2, [%bar], 0;\n@!%p2 bra L;",
     2, 4, 2},
    {"an mbarrier that other lanes use behind the warp's barrier",
     "setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [%bar], 32;\nbar.warp.sync -1;\n"
     "mbarrier.arrive.shared.b64 _, [%bar];",
     1, 0, 0},
    {"an mbarrier whose init is fenced before a relaxed arrival at the cluster's barrier",
     "setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [%bar], "
     "64;\nfence.mbarrier_init.release.cluster;\n"
     "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\nmbarrier.arrive.shared.b64 _, [%bar];",
     2, 0, 0},
    {"an mbarrier that ends behind the arrival of a warp that does no more", END_OF_MBARRIER("64", "", ""), 2,
     0, 0},
    {"an mbarrier that ends behind the arrival of another warp alone", END_OF_MBARRIER("32", "@%p2 ", ""), 2,
     0, 0},
    {"an mbarrier that ends behind a relaxed wait", END_OF_MBARRIER("32", "@%p2 ", ".relaxed.cta"), 2, 10, 5},
    {"an mbarrier that one lane ends behind the arrivals of all",
     "setp.eq.u32 %p1, %t, 0;\n@%p1 mbarrier.init.shared.b64 [%bar], 32;\nbar.sync 0;\n"
     "mbarrier.arrive.shared.b64 _, [%bar];\n@!%p1 bra END;\n"
     "L: mbarrier.try_wait.parity.shared.b64 %p3, [%bar], 0;\n@!%p3 bra L;\n"
     "mbarrier.inval.shared.b64 [%bar];\nEND:",
     1, 0, 0},
    {"a bulk copy whose mbarrier nobody waited for", BULK "bar.sync 0;\nld.shared.u32 %r3, [%s];", 2, 6, 4},
    {"a bulk copy whose mbarrier one thread waited for, and a barrier",
     BULK
     "@!%p1 bra N;\nL: mbarrier.try_wait.parity.shared.b64 %p3, [%bar], 0;\n@!%p3 bra L;\nN: bar.sync 0;\n"
     "ld.shared.u32 %r3, [%s];",
     2, 0, 0},
    {"a bulk copy, and a wait for another mbarrier's phase",
     BULK
     "@%p1 mbarrier.init.shared.b64 [%bar+8], 1;\n@%p1 mbarrier.arrive.shared.b64 _, [%bar+8];\nbar.sync 0;\n"
     "L: mbarrier.try_wait.parity.shared.b64 %p3, [%bar+8], 0;\n@!%p3 bra L;\nld.shared.u32 %r3, [%s];",
     2, 10, 4},
    {"a bulk store without a fence of the proxy", MINE "st.shared.u32 [%r1], %t;\nbar.sync 0;\n" BULK_STORE,
     2, 6, 3},
    {"a bulk store, and each thread's fence",
     MINE "st.shared.u32 [%r1], %t;\nfence.proxy.async.shared::cta;\n"
          "bar.sync 0;\n" BULK_STORE,
     2, 0, 0},
    {"a bulk store, and its thread's fence",
     MINE "st.shared.u32 [%r1], %t;\nbar.sync 0;\nfence.proxy.async;\n" BULK_STORE, 2, 0, 0},
    {"a bulk store, and one thread's fence before the barrier",
     MINE
     "setp.eq.u32 %p1, %t, 0;\nst.shared.u32 [%r1], %t;\n@%p1 fence.proxy.async;\nbar.sync 0;\n" BULK_STORE,
     2, 8, 4},
    {"a bulk store, and a fence for global memory alone",
     MINE "st.shared.u32 [%r1], %t;\nfence.proxy.async.global;\nbar.sync 0;\n" BULK_STORE, 2, 7, 3},
};

static void races_inside_a_cta_are_found_and_nothing_else(void **state) {
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    const warps_case *c = &cases[k];
    hd_diag d;
    char other[32];
    hd_status st = launch(c->body, 1, 32 * c->warps, &d);
    if (st != HD_OK && st != HD_ERR_FAULT) fail_msg("%s: %s", c->name, d.message);
    if ((st == HD_ERR_FAULT) != (c->line > 0))
      fail_msg("%s: %s", c->name, st == HD_OK ? "no race" : d.message);
    if (!c->line) continue;
    /* Either of the two may come second. */
    const uint32_t met = d.line == FIRST_LINE + c->line - 1 ? c->other : c->line;
    snprintf(other, sizeof other, "at line %u", FIRST_LINE + met - 1);
    const char *at = strstr(d.message, other);
    if (!strstr(d.message, "race inside a CTA") || !at || strchr("0123456789", at[strlen(other)]) ||
        (d.line != FIRST_LINE + c->line - 1 && d.line != FIRST_LINE + c->other - 1))
      fail_msg("%s: line %u: %s", c->name, d.line - FIRST_LINE + 1, d.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(races_between_ctas_follow_moral_strength),
      cmocka_unit_test(flags_order_what_was_released_to_the_gpu),
      cmocka_unit_test(copies_read_what_threads_wrote_behind_a_proxy_fence),
      cmocka_unit_test(races_inside_a_cta_are_found_and_nothing_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
