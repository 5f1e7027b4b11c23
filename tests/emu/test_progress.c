/* CTAs that can never go on are a fault at once, which names the waiting loop. CTAs that make slow progress
 * run to their end. */
#include "check.h"
#include "heddle/emu.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Kernel k: %b is the CTA's number, %t the thread's, %n the number of CTAs, %a the address of 64 KB of zeros.
 */
#define HEAD                                                                                                 \
  ".version 8.6\n.target sm_90\n.address_size 64\n"                                                          \
  ".visible .entry k(.param .u64 a)\n{\n"                                                                    \
  ".reg .pred %p<16>; .reg .b32 %r<32>; .reg .b64 %d<32>; .reg .b32 %b, %t, %n; .reg .b64 %a;\n"             \
  ".shared .align 8 .b32 s[64];\n"                                                                           \
  "ld.param.u64 %a, [a]; mov.u32 %b, %ctaid.x; mov.u32 %t, %tid.x; mov.u32 %n, %nctaid.x;\n"
enum { FIRST_LINE = 9, BYTES = 65536 };

typedef struct run {
  uint32_t grid, block, resident, sms, threads;
  unsigned checks;
  hd_dispatch_kind kind;
  uint64_t quiet;
  double seconds; /* that it may take; 0: any */
  uint64_t work;  /* thread instructions that it may run; 0: any */
  const bool *stop;
} run;

static hd_status launch(const char *body, run how, hd_diag *d, uint32_t *out) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu *e;
  hd_emu_program *p;
  hd_buf text = {0};
  const hd_emu_options opt = {.threads = how.threads ? how.threads : 1,
                              .memory = 1 << 22,
                              .n_sms = how.sms ? how.sms : 1,
                              .checks = how.checks,
                              .max_instructions = UINT64_C(1) << 32,
                              .quiet_instructions = how.quiet,
                              .stop = how.stop};
  uint64_t a;
  memset(d, 0, sizeof *d);
  hd_buf_printf(&text, "%s%s\nret;\n}\n", HEAD, body);
  hd_arena_init(&arena);
  assert_int_equal(hd_ptx_parse(text.data, text.len, "progress.ptx", &arena, &m, d), HD_OK);
  assert_int_equal(hd_emu_create(&opt, &e, d), HD_OK);
  assert_int_equal(hd_emu_alloc(e, BYTES, &a, d), HD_OK);
  memset(hd_emu_ptr(e, a, BYTES), 0, BYTES);
  hd_emu_mark_written(e, a, BYTES);
  if (how.seconds > 0) hd_emu_set_until(e, hd_seconds() + how.seconds);
  hd_emu_set_work(e, how.work);
  hd_status st = hd_emu_load(e, m, &p, d);
  if (st != HD_OK) fail_msg("%s", d->message);
  const hd_emu_launch_params l = {.kernel = "k",
                                  .grid = {how.grid ? how.grid : 1, 1, 1},
                                  .block = {how.block ? how.block : 32, 1, 1},
                                  .args = &a,
                                  .args_bytes = sizeof a};
  st = hd_emu_launch(p, &l, &(hd_dispatch){.kind = how.kind, .seed = 7, .resident = how.resident}, NULL, NULL,
                     d);
  if (out) *out = *(uint32_t *)hd_emu_ptr(e, a, 4);
  hd_emu_unload(p);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
  hd_buf_free(&text);
  return st;
}

typedef struct bad_case {
  const char *name, *body;
  uint32_t line; /* of the access that waits, from the body's first on; 0: any */
  run how;
  const char *says[3];
} bad_case;

#define WAIT_FOR_NEXT(load)                                                                                  \
  "setp.eq.u32 %p1, %b, 1;\n@%p1 bra PUT;\nW: " load                                                         \
  " %r1, [%a];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra W;\nret;\n"                                               \
  "PUT: st.volatile.global.u32 [%a], 1;"

static const bad_case stuck[] = {
    {"a volatile load waits for a CTA that starts after it",
     WAIT_FOR_NEXT("ld.volatile.global.u32"),
     3,
     {.grid = 2},
     {"deadlock", "lines 11 to 13", "resident CTAs: 1, not started: 1"}},
    {"so does an acquiring load, on any dispatcher that keeps it out",
     WAIT_FOR_NEXT("ld.acquire.gpu.global.u32"),
     3,
     {.grid = 2, .sms = 4, .resident = 4, .kind = HD_DISPATCH_SERIAL},
     {"deadlock", "dispatcher serial"}},
    {"so does a load past the caches", WAIT_FOR_NEXT("ld.global.cg.u32"), 3, {.grid = 2}, {"deadlock"}},
    {"so does a plain load", WAIT_FOR_NEXT("ld.global.u32"), 3, {.grid = 2}, {"deadlock"}},
    {"a compare-and-swap that fails changes nothing",
     "W: atom.global.cas.b32 %r1, [%a], 1, 2;\nsetp.ne.u32 %p1, %r1, 1;\n@%p1 bra W;",
     1,
     {.grid = 2},
     {"deadlock"}},
    {"a ticket lock whose first owner has no place",
     "setp.eq.u32 %p1, %t, 0;\n@!%p1 bra END;\nsub.u32 %r5, %n, %b;\nsub.u32 %r5, %r5, 1;\n"
     "W: ld.volatile.global.u32 %r1, [%a];\nsetp.ne.u32 %p2, %r1, %r5;\n@%p2 bra W;\n"
     "add.u32 %r6, %r5, 1;\nst.volatile.global.u32 [%a], %r6;\nEND: bar.sync 0;",
     5,
     {.grid = 40, .block = 64, .sms = 4, .resident = 8},
     {"deadlock", "resident CTAs: 32, not started: 8"}},
    {"two CTAs that wait for each other, on several host threads",
     "xor.b32 %r1, %b, 1;\nmul.wide.u32 %d1, %r1, 4;\nadd.u64 %d1, %a, %d1;\nmul.wide.u32 %d2, %b, 4;\n"
     "add.u64 %d2, %a, %d2;\nW: atom.global.add.u32 %r2, [%d1], 0;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra W;\n"
     "st.global.u32 [%d2], 1;",
     6,
     {.grid = 2, .resident = 2, .threads = 4},
     {"deadlock", "lines 14 to 16", "resident CTAs: 2, not started: 0"}},
    {"a lock that is never given back",
     "W: atom.global.exch.b32 %r1, [%a], 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra W;",
     1,
     {.grid = 3, .resident = 3},
     {"deadlock"}},
    {"lanes of one warp that want one lock",
     "W: atom.global.cas.b32 %r1, [%a], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra W;",
     1,
     {.block = 32},
     {"deadlock"}},
    {"work fetched and given back",
     "setp.eq.u32 %p1, %t, 0;\n@!%p1 ret;\nsetp.eq.u32 %p4, %b, 3;\n@%p4 bra ADD;\n"
     "W: atom.global.add.u32 %r1, [%a], 1;\nsetp.ge.u32 %p2, %r1, 100;\n@%p2 ret;\n"
     "atom.global.add.u32 %r2, [%a], -1;\nbra W;\nADD: red.global.add.u32 [%a], 100;",
     0,
     {.grid = 4, .resident = 2, .quiet = 1 << 22},
     {"livelock", "lines 13 to 17", "not started: 2"}},
    {"a counter of a CTA that is put back, in shared memory, by turns at its barrier",
     "mov.u32 %r5, s;\nW: red.shared.add.u32 [%r5], 1;\nbar.sync 0;\nld.volatile.shared.u32 %r1, [%r5];\n"
     "bar.sync 0;\nred.shared.add.u32 [%r5], -1;\nsetp.ne.u32 %p1, %r1, 77;\n@%p1 bra W;",
     0,
     {.block = 64, .quiet = 1 << 22},
     {"livelock"}},
    {"a poll that counts",
     "mov.u32 %r2, 0;\nW: ld.volatile.global.u32 %r1, [%a];\nadd.u32 %r2, %r2, 1;\n"
     "setp.eq.u32 %p1, %r1, 0;\nsetp.ne.u32 %p2, %r2, -1;\nand.pred %p1, %p1, %p2;\n@%p1 bra W;",
     2,
     {.grid = 2, .resident = 2, .quiet = 1 << 26},
     {"no progress", "memory has come to no other state"}},
    {"warps at a barrier beside one that spins on shared memory",
     "mov.u32 %r3, s;\nst.shared.u32 [%r3], 0;\nsetp.ge.u32 %p1, %t, 32;\n@%p1 bra B;\n"
     "W: ld.volatile.shared.u32 %r1, [%r3];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra W;\nB: bar.sync 0;",
     5,
     {.block = 96},
     {"deadlock", "shared"}},
    {"a loop that waits for nothing", "W: bra W;", 1, {.grid = 1}, {"deadlock", "never ends"}},
    {"a back-off that grows without end",
     "mov.u32 %r5, 1;\nW: ld.volatile.global.u32 %r1, [%a];\nadd.u32 %r5, %r5, 1;\nnanosleep.u32 %r5;\n"
     "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra W;",
     2,
     {.grid = 2, .resident = 2, .quiet = 1 << 18},
     {"no progress", "lines 10 to 14"}},
    {"a loop that reads the clock",
     "W: atom.global.cas.b32 %r1, [%a], 1, 2;\nmov.u64 %d5, %globaltimer;\nsetp.ne.u32 %p1, %r1, 1;\n@%p1 "
     "bra W;",
     1,
     {.grid = 2, .resident = 2, .quiet = 1 << 18},
     {"no progress"}},
};

static void a_deadlock_is_a_fault_that_names_the_loop(void **state) {
  for (size_t k = 0; k < sizeof stuck / sizeof stuck[0]; k++) {
    const bad_case *c = &stuck[k];
    char body[2048];
    hd_diag d;
    snprintf(body, sizeof body, "%s", c->body);
    hd_status st = launch(body, c->how, &d, NULL);
    if (st != HD_ERR_FAULT) fail_msg("%s: status %d %s", c->name, st, d.message);
    if (c->line && d.line != FIRST_LINE + c->line - 1)
      fail_msg("%s: line %u, not %u: %s", c->name, d.line, FIRST_LINE + c->line - 1, d.message);
    for (int s = 0; s < 3 && c->says[s]; s++)
      if (!strstr(d.message, c->says[s])) fail_msg("%s: no \"%s\" in: %s", c->name, c->says[s], d.message);
  }
}

typedef struct good_case {
  const char *name, *body;
  run how;
  uint32_t result;
} good_case;

static const good_case slow[] = {
    {"a long loop of registers",
     "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 3000000;\n@%p1 bra L;\nst.global.u32 "
     "[%a], %r1;",
     {.grid = 1},
     3000000},
    {"a long loop of registers that everybody waits for",
     "setp.ne.u32 %p2, %b, 3;\n@%p2 bra W;\nmov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\n"
     "setp.ne.u32 %p1, %r1, 1000000;\n@%p1 bra L;\nst.volatile.global.u32 [%a], %r1;\nret;\n"
     "W: ld.volatile.global.u32 %r2, [%a];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra W;",
     {.grid = 4, .resident = 4},
     1000000},
    {"a plain load that waits for a later CTA which has a place",
     WAIT_FOR_NEXT("ld.global.u32"),
     {.grid = 2, .resident = 2},
     1},
    {"the same on several host threads",
     WAIT_FOR_NEXT("ld.global.u32"),
     {.grid = 2, .sms = 2, .threads = 3},
     1},
    {"a lane that waits for another one of its warp",
     "setp.ne.u32 %p1, %t, 31;\n@%p1 bra W;\nmov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\n"
     "setp.ne.u32 %p2, %r1, 100000;\n@%p2 bra L;\nst.volatile.global.u32 [%a], 7;\nret;\n"
     "W: ld.volatile.global.u32 %r2, [%a];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra W;",
     {.grid = 1},
     7},
    {"a bounded wait",
     "mov.u32 %r5, 0;\nW: ld.volatile.global.u32 %r1, [%a];\nadd.u32 %r5, %r5, 1;\n"
     "setp.ne.u32 %p1, %r5, 500000;\n@%p1 bra W;\nst.global.u32 [%a], %r5;",
     {.grid = 1},
     500000},
    {"a store and its opposite in one loop, which another CTA must see",
     "setp.eq.u32 %p1, %b, 0;\n@%p1 bra W;\nL: st.volatile.global.u32 [%a+4], 1;\nst.volatile.global.u32 "
     "[%a+4], 0;\n"
     "ld.volatile.global.u32 %r2, [%a];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra L;\nret;\n"
     "W: mov.u32 %r5, 0;\nV: add.u32 %r5, %r5, 1;\nsetp.ne.u32 %p3, %r5, 400000;\n@%p3 bra V;\n"
     "U: ld.volatile.global.u32 %r3, [%a+4];\nsetp.eq.u32 %p4, %r3, 0;\n@%p4 bra U;\nst.volatile.global.u32 "
     "[%a], 9;",
     {.grid = 2, .resident = 2, .kind = HD_DISPATCH_SHUFFLED},
     9},
    {"tickets served in turn by resident CTAs",
     "setp.ne.u32 %p1, %t, 0;\n@%p1 bra END;\natom.global.add.u32 %r5, [%a+4], 1;\n"
     "W: ld.volatile.global.u32 %r1, [%a];\nsetp.ne.u32 %p2, %r1, %r5;\n@%p2 bra W;\n"
     "add.u32 %r6, %r5, 1;\nst.volatile.global.u32 [%a], %r6;\nEND: bar.sync 0;",
     {.grid = 64, .block = 64, .sms = 4, .resident = 2},
     64},
};

static void slow_progress_is_no_deadlock(void **state) {
  for (size_t k = 0; k < sizeof slow / sizeof slow[0]; k++) {
    hd_diag d;
    uint32_t result;
    hd_status st = launch(slow[k].body, slow[k].how, &d, &result);
    if (st != HD_OK) fail_msg("%s: status %d %s", slow[k].name, st, d.message);
    if (result != slow[k].result) fail_msg("%s: %u, not %u", slow[k].name, result, slow[k].result);
  }
}

/* Which CTAs find a place decides, so each dispatcher is right in its own way. */
static void a_wait_for_a_later_cta_ends_where_it_has_a_place(void **state) {
  for (int kind = 0; kind < HD_DISPATCH_COUNT; kind++)
    for (uint32_t resident = 1; resident <= 2; resident++)
      for (uint32_t threads = 1; threads <= 3; threads += 2) {
        hd_diag d;
        const run how = {.grid = 2, .resident = resident, .threads = threads, .kind = (hd_dispatch_kind)kind};
        const bool ends = kind == HD_DISPATCH_REVERSE || (resident == 2 && kind != HD_DISPATCH_SERIAL);
        hd_status st = launch(WAIT_FOR_NEXT("ld.volatile.global.u32"), how, &d, NULL);
        if (kind == HD_DISPATCH_SHUFFLED && resident == 1) continue; /* either order */
        if ((st == HD_OK) != ends || (st != HD_OK && st != HD_ERR_FAULT))
          fail_msg("%s, %u resident: %s", hd_dispatch_name((hd_dispatch_kind)kind), resident, d.message);
      }
}

static void *stop_soon(void *stop) {
  const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
  nanosleep(&moment, NULL);
  __atomic_store_n((bool *)stop, true, __ATOMIC_RELAXED);
  return NULL;
}

static void another_thread_ends_a_launch(void **state) {
  static const char spin[] = "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 4000000000;\n"
                             "@%p1 bra L;\nst.global.u32 [%a], %r1;";
  for (uint32_t threads = 1; threads <= 2; threads++) {
    bool stop = false;
    pthread_t thread;
    hd_diag d;
    uint32_t result;
    assert_int_equal(pthread_create(&thread, NULL, stop_soon, &stop), 0);
    assert_int_equal(launch(spin, (run){.grid = 4, .threads = threads, .sms = 2, .stop = &stop}, &d, &result),
                     HD_ERR_BUDGET);
    pthread_join(thread, NULL);
    assert_int_equal(result, 0);
  }
}

/* Minutes of a loop in one CTA, alone and in turn with others, and CTAs that have not started. */
static void a_launch_ends_when_its_time_is_over(void **state) {
  static const char spin[] = "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 4000000000;\n"
                             "@%p1 bra L;\nst.global.u32 [%a], %r1;";
  static const char spin_and_wait[] =
      "setp.ne.u32 %p2, %b, 3;\n@%p2 bra W;\nmov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\n"
      "setp.ne.u32 %p1, %r1, 4000000000;\n@%p1 bra L;\nst.volatile.global.u32 [%a], %r1;\nret;\n"
      "W: ld.volatile.global.u32 %r2, [%a];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra W;";
  const struct {
    const char *body;
    run how;
  } cases[] = {{spin, {.grid = 1, .seconds = 0.02}},
               {spin, {.grid = 64, .threads = 2, .sms = 2, .seconds = 0.02}},
               {spin_and_wait, {.grid = 4, .resident = 4, .seconds = 0.02}},
               {"st.global.u32 [%a], 1;", {.grid = 1, .seconds = 1e-9}}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    hd_diag d;
    uint32_t result;
    assert_int_equal(launch(cases[k].body, cases[k].how, &d, &result), HD_ERR_BUDGET);
    assert_non_null(strstr(d.message, "takes longer than it may"));
    assert_int_equal(result, 0);
  }
}

/* It is of the threads that ran, in CTAs that have not ended, too; what it is not enough for is not run at
 * all. */
static void a_launch_ends_when_its_work_is_done(void **state) {
  static const char count[] = "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 400000;\n"
                              "@%p1 bra L;\nst.global.u32 [%a], %r1;";
  const struct {
    run how;
    bool ends;
  } cases[] = {
      {{.grid = 1, .work = 100000}, false},
      {{.grid = 64, .threads = 2, .sms = 2, .work = 100000}, false},
      {{.grid = 4, .resident = 4, .sms = 1, .kind = HD_DISPATCH_SHUFFLED, .work = 100000}, false},
      {{.grid = 1, .block = 32, .work = 32 * 1300000}, true}, /* 3 instructions a round, of 32 threads */
      {{.grid = 1, .block = 32, .work = 32 * 1100000}, false},
      {{.grid = 1, .block = 1, .work = 1300000}, true},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    hd_diag d = {0};
    uint32_t result;
    assert_int_equal(launch(count, cases[k].how, &d, &result), cases[k].ends ? HD_OK : HD_ERR_BUDGET);
    assert_int_equal(result, cases[k].ends ? 400000 : 0);
    if (cases[k].ends) continue;
    assert_int_equal(d.bound, HD_BOUND_WORK);
    assert_non_null(strstr(d.message, "more instructions than it may"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_deadlock_is_a_fault_that_names_the_loop),
      cmocka_unit_test(slow_progress_is_no_deadlock),
      cmocka_unit_test(a_launch_ends_when_its_time_is_over),
      cmocka_unit_test(a_launch_ends_when_its_work_is_done),
      cmocka_unit_test(another_thread_ends_a_launch),
      cmocka_unit_test(a_wait_for_a_later_cta_ends_where_it_has_a_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
