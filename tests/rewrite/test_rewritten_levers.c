/* Kernels under threads=, bypass=, stream= and prefetch= on the emulator: each thread does exactly what the
 * plan's arithmetic gives it, each warp's loads go where the plan says, and the results are the original's.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/emu.h"
#include "heddle/rewrite.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TRIALS = 240 };
#else
enum { TRIALS = 600 };
#endif

typedef struct trial {
  const char *kernel, *plan; /* plan NULL: the original */
  uint32_t g[3], b[3];
  uint32_t n_sms;
  bool known;
  hd_dispatch_kind dispatch;
  void (*access)(void *, unsigned, const hd_access *);
  void *ctx;
  const hd_table *table; /* of the plan's order */
  uint64_t base;         /* out: address of the output */
} trial;

static uint32_t threads_of(const uint32_t b[3]) { return b[0] * b[1] * b[2]; }

/* Run it over `bytes` of output after as many of input; both begin as copies of `memory`, which gets the
 * output in the end. */
static void run(trial *t, void *memory, uint64_t bytes) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_diag d = {0};
  hd_ptx_module *m;
  hd_recipe recipe = {0};
  assert_int_equal(hd_ptx_parse(t->kernel, strlen(t->kernel), "kernel", &arena, &m, &d), HD_OK);
  uint32_t kernel = (uint32_t)hd_ptx_find_kernel(m, "k");
  if (t->plan) {
    hd_plan p;
    if (hd_plan_parse(t->plan, &p, &d) != HD_OK) fail_msg("%s: %s", t->plan, d.message);
    hd_rewrite_options o = {.grid = {.known = t->known, .n_sms = t->n_sms}, .table = t->table};
    memcpy(o.grid.g, t->g, sizeof t->g);
    if (t->known) memcpy(o.block, t->b, sizeof t->b);
    if (hd_rewrite(m, kernel, &p, &o, &recipe, &d) != HD_OK) fail_msg("%s: %s", t->plan, d.message);
  }
  hd_emu *e;
  hd_emu_options eo = {
      .threads = 1, .checks = HD_CHECK_INIT | HD_CHECK_BOUNDS, .memory = 1 << 28, .n_sms = t->n_sms};
  assert_int_equal(hd_emu_create(&eo, &e, &d), HD_OK);
  hd_emu_program *program;
  if (hd_emu_load(e, m, &program, &d) != HD_OK) fail_msg("%s: %s", t->plan, d.message);
  uint64_t in, state = 0;
  assert_int_equal(hd_emu_alloc(e, bytes, &in, &d), HD_OK);
  assert_int_equal(hd_emu_alloc(e, bytes, &t->base, &d), HD_OK);
  memcpy(hd_emu_ptr(e, in, bytes), memory, bytes);
  memcpy(hd_emu_ptr(e, t->base, bytes), memory, bytes);
  hd_emu_mark_written(e, in, bytes);
  hd_emu_mark_written(e, t->base, bytes);
  if (recipe.state_bytes) {
    assert_int_equal(hd_emu_alloc(e, recipe.state_bytes, &state, &d), HD_OK);
    memset(hd_emu_ptr(e, state, recipe.state_bytes), 0, recipe.state_bytes);
    hd_emu_mark_written(e, state, recipe.state_bytes);
  }
  char args[256] = {0};
  memcpy(args, &in, 8);
  memcpy(args + 8, &t->base, 8);
  hd_recipe_params(&recipe, t->g, state, 0, args);
  hd_emu_hooks hooks = {.ctx = t->ctx, .spaces = 1 << HD_SPACE_GLOBAL, .access = t->access};
  hd_emu_launch_params l = {
      .kernel = "k", .args = args, .args_bytes = recipe.params_bytes ? recipe.params_bytes : 16};
  hd_recipe_grid(&recipe, t->g, t->n_sms, 1, l.grid);
  memcpy(l.block, t->b, sizeof t->b);
  hd_dispatch how = {.kind = t->dispatch, .seed = 1};
  if (hd_emu_launch(program, &l, &how, t->access ? &hooks : NULL, NULL, &d) != HD_OK)
    fail_msg("%s, grid %ux%ux%u, block %ux%ux%u, %s: %s", t->plan, t->g[0], t->g[1], t->g[2], t->b[0],
             t->b[1], t->b[2], t->known ? "known" : "any", d.message);
  memcpy(memory, hd_emu_ptr(e, t->base, bytes), bytes);
  hd_emu_unload(program);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
}

static void random_shape(uint64_t i, uint32_t g[3], uint32_t b[3]) {
  static const uint32_t grids[3][3] = {{40, 1, 1}, {8, 8, 1}, {4, 4, 4}};
  static const uint32_t blocks[4][3] = {{200, 1, 1}, {16, 8, 1}, {6, 5, 4}, {32, 4, 1}};
  for (unsigned k = 0; k < 3; k++) {
    g[k] = 1 + (uint32_t)(hd_random_at(10 + k, i) % grids[i % 3][k]);
    b[k] = 1 + (uint32_t)(hd_random_at(20 + k, i) % blocks[i / 3 % 4][k]);
  }
  if (i % 5 == 0) b[0] = 32;
}

static uint32_t pick(uint64_t stream, uint64_t i, uint32_t n) {
  return (uint32_t)(hd_random_at(stream, i) % n);
}

/* One of the orders, with parameters. */
static int put_order(char *out, size_t cap, const char *lever, uint64_t stream, uint64_t i) {
  static const char *const shapes[] = {"col",          "band:%u", "tile:%ux%u", "zigzag:%ux%u",
                                       "stride:%ux%u", "hilbert", "reverse",    "tile:%ux%ux%u"};
  char shape[64];
  snprintf(shape, sizeof shape, "%s=%s", lever, shapes[pick(stream, i, 8)]);
  return snprintf(out, cap, shape, 1 + pick(stream + 1, i, 40), 1 + pick(stream + 2, i, 40),
                  1 + pick(stream + 3, i, 90));
}

/* ---- threads= -------------------------------------------------------------------------- */

#define COORDINATE(c, n)                                                                                     \
  "mov.u32 %r1, %ctaid." c ";\nmov.u32 %r2, %ntid." c ";\nmov.u32 %r3, %tid." c ";\n"                        \
  "mad.lo.u32 %r" n ", %r1, %r2, %r3;\nmov.u32 %r1, %nctaid." c ";\nmul.lo.u32 %r2" n ", %r1, %r2;\n"

/* Each thread counts itself at its place in the grid of threads. */
static const char count_threads[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %r<32>;\n.reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\n" COORDINATE("x", "4") COORDINATE("y", "5")
        COORDINATE("z",
                   "6") "mad.lo.u32 %r7, %r6, %r25, %r5;\nmad.lo.u32 %r7, %r7, %r24, %r4;\n"
                        "mad.wide.u32 %rd3, %r7, 4, %rd2;\natom.global.add.u32 %r8, [%rd3], 1;\nret;\n}\n";

typedef struct thread_log {
  uint64_t *place; /* by the thread's number as the hardware runs it */
  const trial *t;
} thread_log;

static void log_threads(void *ctx, unsigned worker, const hd_access *a) {
  thread_log *log = ctx;
  for (uint32_t lane = 0; lane < 32; lane++)
    if (a->kind == HD_ACCESS_ATOMIC && a->mask >> lane & 1)
      log->place[a->task * threads_of(log->t->b) + a->warp * 32 + lane] = (a->addr[lane] - log->t->base) / 4;
}

static void tabulate(const char *order, const uint32_t g[3], uint32_t n_sms, hd_table *out) {
  hd_plan p;
  hd_diag d = {0};
  hd_grid grid = {.known = true, .g = {g[0], g[1], g[2]}, .n_sms = n_sms};
  assert_int_equal(hd_plan_parse(order, &p, &d), HD_OK);
  assert_int_equal(hd_plan_tabulate(&p, &grid, NULL, out, &d), HD_OK);
}

static void every_thread_takes_the_place_its_plan_gives(void **state) {
  for (uint64_t i = 0; i < TRIALS; i++) {
    trial t = {.kernel = count_threads, .n_sms = 1 + pick(1, i, 8), .known = i & 1, .access = log_threads};
    random_shape(i, t.g, t.b);
    char threads[64], tasks[96] = "baseline", plan[192], as_order[64];
    put_order(threads, sizeof threads, "threads", 30, i);
    if (i % 3 == 0) put_order(tasks, sizeof tasks, "order", 40, i);
    if (i % 6 == 0) strcat(tasks, ",bind=redirect");
    snprintf(plan, sizeof plan, "%s%s%s", threads, i % 3 == 0 ? "," : "", i % 3 == 0 ? tasks : "");
    snprintf(as_order, sizeof as_order, "order%s", strchr(threads, '='));
    t.plan = plan;
    uint32_t T = threads_of(t.b), extent[3] = {t.g[0] * t.b[0], t.g[1] * t.b[1], t.g[2] * t.b[2]};
    uint64_t V = (uint64_t)t.g[0] * t.g[1] * t.g[2], n = V * T;
    uint32_t *counts = calloc(n, sizeof *counts);
    thread_log log = {.place = calloc(n, sizeof *log.place), .t = &t};
    t.ctx = &log;
    run(&t, counts, n * sizeof *counts);
    hd_table task_of, thread_of;
    tabulate(tasks, t.g, t.n_sms, &task_of);
    tabulate(as_order, extent, 1, &thread_of);
    for (uint64_t p = 0; p < n; p++) {
      uint64_t position = (uint64_t)task_of.task[p / T] * T + p % T;
      assert_int_equal(counts[p], 1);
      if (log.place[p] != thread_of.task[position])
        fail_msg("%s, grid %ux%ux%u, block %ux%ux%u, %s: thread %lu is at %lu, not %u", plan, t.g[0], t.g[1],
                 t.g[2], t.b[0], t.b[1], t.b[2], t.known ? "known" : "any", (unsigned long)p,
                 (unsigned long)log.place[p], thread_of.task[position]);
    }
    hd_table_free(&task_of);
    hd_table_free(&thread_of);
    free(log.place);
    free(counts);
  }
}

/* Where thread `tid` of task `task` lies in the grid of threads. */
static uint64_t place_of(const trial *t, uint64_t task, uint64_t tid) {
  uint64_t at[3];
  for (unsigned k = 0; k < 3; k++) {
    at[k] = task % t->g[k] * t->b[k] + tid % t->b[k];
    task /= t->g[k];
    tid /= t->b[k];
  }
  return at[0] + (uint64_t)t->g[0] * t->b[0] * (at[1] + (uint64_t)t->g[1] * t->b[1] * at[2]);
}

static void every_thread_takes_the_place_its_plan_gives_in_its_cta(void **state) {
  for (uint64_t i = 0; i < TRIALS; i++) {
    trial t = {.kernel = count_threads, .n_sms = 4, .known = i & 1, .access = log_threads};
    random_shape(i, t.g, t.b);
    char order[64], tasks[64] = "baseline", plan[192];
    put_order(order, sizeof order, "order", 50, i);
    if (i % 3 == 0) put_order(tasks, sizeof tasks, "order", 40, i);
    snprintf(plan, sizeof plan, "threads=cta:%s%s%s", strchr(order, '=') + 1, i % 3 == 0 ? "," : "",
             i % 3 == 0 ? tasks : "");
    t.plan = plan;
    uint32_t T = threads_of(t.b);
    uint64_t n = (uint64_t)t.g[0] * t.g[1] * t.g[2] * T;
    uint32_t *counts = calloc(n, sizeof *counts);
    thread_log log = {.place = calloc(n, sizeof *log.place), .t = &t};
    t.ctx = &log;
    run(&t, counts, n * sizeof *counts);
    hd_table task_of, thread_of;
    tabulate(tasks, t.g, t.n_sms, &task_of);
    tabulate(order, t.b, 1, &thread_of);
    for (uint64_t p = 0; p < n; p++) {
      assert_int_equal(counts[p], 1);
      if (log.place[p] != place_of(&t, task_of.task[p / T], thread_of.task[p % T]))
        fail_msg("%s, grid %ux%ux%u, block %ux%ux%u, %s: thread %lu is at %lu", plan, t.g[0], t.g[1], t.g[2],
                 t.b[0], t.b[1], t.b[2], t.known ? "known" : "any", (unsigned long)p,
                 (unsigned long)log.place[p]);
    }
    hd_table_free(&task_of);
    hd_table_free(&thread_of);
    free(counts);
    free(log.place);
  }
}

static void claimed_tasks_keep_the_threads_apart(void **state) {
  static const char *const binds[] = {"bind=claim", "bind=agents", "bind=agents:2"};
  for (uint64_t i = 0; i < TRIALS / 4; i++) {
    trial t = {.kernel = count_threads, .n_sms = 1 + pick(1, i, 8), .known = i & 1};
    t.dispatch = (hd_dispatch_kind)pick(2, i, HD_DISPATCH_COUNT);
    random_shape(i, t.g, t.b);
    char threads[64], plan[128];
    put_order(threads, sizeof threads, "threads", 30, i);
    snprintf(plan, sizeof plan, "%s,%s", binds[i % 3], threads);
    t.plan = plan;
    uint64_t n = (uint64_t)t.g[0] * t.g[1] * t.g[2] * threads_of(t.b);
    uint32_t *counts = calloc(n, sizeof *counts);
    run(&t, counts, n * sizeof *counts);
    for (uint64_t p = 0; p < n; p++) assert_int_equal(counts[p], 1);
    free(counts);
  }
}

/* ---- bypass=, stream= -------------------------------------------------------------------- */

/* Loads in all places where one may stand: under guards of either sign, in a loop, a scope, an arm of a jump
 * table, after an early end, before and behind a barrier, in a called function (2 bytes, and kept). Load 5 is
 * non-coherent; load 0 is the only one of 8 bytes. */
#define LOADS(version, target)                                                                               \
  ".version " version "\n.target " target "\n.address_size 64\n"                                             \
  ".func (.param .b32 result) helper(.param .b64 at)\n{\n.reg .b16 %h;\n.reg .b32 %r;\n.reg .b64 %rd;\n"     \
  "ld.param.u64 %rd, [at];\nld.global.u16 %h, [%rd];\ncvt.u32.u16 %r, %h;\nst.param.b32 [result], "          \
  "%r;\nret;\n}\n"                                                                                           \
  ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .pred %p<8>;\n.reg .b32 %r<40>;\n"            \
  ".reg .b64 %rd<16>;\n.shared .align 4 .b32 sum[1];\n"                                                      \
  "ld.param.u64 %rd1, [in];\ncvta.to.global.u64 %rd1, %rd1;\n"                                               \
  "ld.param.u64 %rd2, [out];\ncvta.to.global.u64 %rd2, %rd2;\n" COORDINATE("x", "4") COORDINATE("y", "5")    \
      COORDINATE(                                                                                            \
          "z",                                                                                               \
          "6") "mad.lo.u32 %r7, %r6, %r25, %r5;\nmad.lo.u32 %r7, %r7, %r24, %r4;\n"                          \
               "mad.wide.u32 %rd3, %r7, 8, %rd1;\nmad.wide.u32 %rd4, %r7, 8, %rd2;\n"                        \
               "ld.global.v2.u32 {%r9, %r10}, [%rd3];\n"                                                     \
               "and.b32 %r11, %r7, 1;\nsetp.eq.u32 %p1, %r11, 0;\n"                                          \
               "@%p1 ld.global.u32 %r12, [%rd3+4];\n@!%p1 ld.global.u32 %r12, [%rd3];\nadd.u32 %r9, %r9, "   \
               "%r12;\n"                                                                                     \
               "bar.sync 0;\nmov.u32 %r13, 0;\n"                                                             \
               "$loop:\nld.global.ca.u32 %r14, [%rd3];\nadd.u32 %r9, %r9, %r14;\nadd.u32 %r13, %r13, 1;\n"   \
               "and.b32 %r15, %r7, 3;\nsetp.lt.u32 %p2, %r13, %r15;\n@%p2 bra $loop;\n"                      \
               "{\n.reg .b32 %inner;\nld.global.u32 %inner, [%rd3+4];\nxor.b32 %r9, %r9, "                   \
               "%inner;\n$scoped:\n}\n"                                                                      \
               "bar.sync 0;\nld.global.nc.u32 %r16, [%rd1];\nadd.u32 %r10, %r10, %r16;\n"                    \
               "setp.eq.u32 %p3, %r15, 3;\n@%p3 bra $store;\n"                                               \
               "$arms: .branchtargets $zero, $one, $store;\nbrx.idx %r15, $arms;\n"                          \
               "$zero:\nld.global.u32 %r17, [%rd3];\nadd.u32 %r10, %r10, %r17;\nbra.uni $store;\n"           \
               "$one:\n{\n.param .b64 at;\n.param .b32 result;\nst.param.b64 [at], %rd3;\n"                  \
               "call.uni (result), helper, (at);\nld.param.b32 %r18, [result];\n}\nadd.u32 %r10, %r10, "     \
               "%r18;\n"                                                                                     \
               "$store:\nst.global.v2.u32 [%rd4], {%r9, %r10};\n@%p1 ret;\n"                                 \
               "ld.global.u32 %r19, [%rd3];\nst.global.u32 [%rd4+4], %r19;\n}\n"

static const char loads_80[] = LOADS("7.8", "sm_80");
static const char loads_52[] = LOADS("6.3", "sm_52");

typedef struct load_log {
  const char *plan;
  uint32_t warps;  /* from this one on they bypass */
  unsigned around; /* the bits that are then gone */
  unsigned marked; /* and those that are set */
  bool only_nc;
  bool stream_first; /* load 0 streams in all warps */
  unsigned near, far;
} load_log;

static void check_load(void *ctx, unsigned worker, const hd_access *a) {
  load_log *log = ctx;
  if (a->kind != HD_ACCESS_LOAD || a->bytes == 2) return;
  unsigned L1 = HD_CACHE_L1 | HD_CACHE_READONLY;
  bool nc = a->cache & HD_CACHE_READONLY, far = a->warp >= log->warps;
  if (log->stream_first && a->bytes == 8) {
    if (a->cache & L1) fail_msg("%s: the streamed load of warp %u uses L1", log->plan, a->warp);
    return;
  }
  log->near += !far;
  log->far += far;
  if (log->only_nc) {
    if (nc && far) fail_msg("%s: warp %u uses the read-only cache", log->plan, a->warp);
    return;
  }
  if (far ? (a->cache & log->around) || (a->cache & log->marked) != log->marked
          : !(a->cache & L1) || (a->cache & log->marked))
    fail_msg("%s: a load of warp %u has the cache bits %u", log->plan, a->warp, a->cache);
}

static void loads_go_where_the_plan_says_and_results_stay(void **state) {
  static const char *const caches[] = {"l1", "ro", "l2"};
  static const char *const forms[] = {"", ",form=predicate", ",form=replicate"};
  static const char *const levers[] = {
      "", ",order=col", ",order=hilbert,bind=redirect", ",prefetch=l2:2", ",bind=claim", ",bind=agents:2"};
  for (uint64_t i = 0; i < TRIALS; i++) {
    uint32_t cache = pick(3, i, 3), K = pick(4, i, 6);
    bool new = pick(5, i, 2), stream = pick(6, i, 4) == 0, form = pick(7, i, 3);
    const char *more = levers[pick(8, i, 6)];
    trial t = {.kernel = new ? loads_80 : loads_52, .n_sms = 1 + pick(1, i, 8), .known = pick(9, i, 2)};
    if (!new &&strstr(more, "bind=")) more = ",order=reverse"; /* claims need sm_70's instructions */
    random_shape(i, t.g, t.b);
    uint64_t n = (uint64_t)t.g[0] * t.g[1] * t.g[2] * threads_of(t.b) * 2;
    uint32_t *want = calloc(n, sizeof *want), *got = calloc(n, sizeof *got);
    for (uint64_t k = 0; k < n; k++) want[k] = got[k] = (uint32_t)hd_random_at(50, k);
    run(&t, want, n * sizeof *want);
    char plan[160];
    snprintf(plan, sizeof plan, "bypass=%s:%u%s%s%s", caches[cache], K, forms[form],
             stream ? ",stream=0" : "", more);
    load_log log = {.plan = plan,
                    .warps = K,
                    .around = HD_CACHE_L1 | HD_CACHE_READONLY,
                    .only_nc = cache == 1,
                    .stream_first = stream};
    if (cache == 2) log.around = 0;
    if (cache == 2) log.marked = new ? HD_CACHE_L2_FIRST : HD_CACHE_STREAM;
    t.plan = plan;
    /* The loads of claims and queues are the rewriter's; check_load knows the kernel's alone. */
    t.access = strstr(more, "bind=claim") || strstr(more, "bind=agents") ? NULL : check_load;
    t.ctx = &log;
    t.dispatch = (hd_dispatch_kind)pick(2, i, HD_DISPATCH_COUNT);
    run(&t, got, n * sizeof *got);
    if (memcmp(want, got, n * sizeof *want) != 0)
      fail_msg("%s, grid %ux%ux%u, block %ux%ux%u: another result", plan, t.g[0], t.g[1], t.g[2], t.b[0],
               t.b[1], t.b[2]);
    uint32_t warps = (threads_of(t.b) + 31) / 32;
    if (t.access && ((K > 0) != (log.near > 0) || (K < warps) != (log.far > 0)))
      fail_msg("%s: %u loads near, %u far", plan, log.near, log.far);
    free(want);
    free(got);
  }
}

/* ---- prefetch= -------------------------------------------------------------------------------- */

/* Loads its word four times. */
static const char rows[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<32>;\n.reg .b64 "
    "%rd<8>;\n"
    "ld.param.u64 %rd1, [in];\ncvta.to.global.u64 %rd1, %rd1;\nld.param.u64 %rd2, [out];\ncvta.to.global.u64 "
    "%rd2, %rd2;\n" COORDINATE("x", "4") COORDINATE("y", "5") COORDINATE(
        "z", "6") "mad.lo.u32 %r7, %r6, %r25, %r5;\nmad.lo.u32 %r7, %r7, %r24, %r4;\n"
                  "mul.wide.u32 %rd3, %r7, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n"
                  "mov.u32 %r8, 0;\nmov.u32 %r9, 0;\n"
                  "$loop:\nld.global.u32 %r10, [%rd4];\nadd.u32 %r9, %r9, %r10;\nadd.s64 %rd4, %rd4, "
                  "0;\nadd.u32 %r8, %r8, 1;\n"
                  "setp.lt.u32 %p1, %r8, 4;\n@%p1 bra $loop;\nst.global.u32 [%rd5], %r9;\nret;\n}\n";

typedef struct fetch_log {
  uint64_t *fetched, *loaded; /* by launched CTA and warp: the first lane's address; 0: none */
  uint32_t warps;
} fetch_log;

static void log_fetch(void *ctx, unsigned worker, const hd_access *a) {
  fetch_log *log = ctx;
  uint64_t at = a->task * log->warps + a->warp, addr = a->addr[__builtin_ctz(a->mask)];
  if (a->kind == HD_ACCESS_PREFETCH) log->fetched[at] = addr;
  if (a->kind == HD_ACCESS_LOAD && !log->loaded[at]) log->loaded[at] = addr;
}

static void a_task_fetches_what_the_task_ahead_loads_first(void **state) {
  for (uint64_t i = 0; i < TRIALS; i++) {
    trial t = {.kernel = rows, .n_sms = 1 + pick(1, i, 8), .known = i & 1, .access = log_fetch};
    random_shape(i, t.g, t.b);
    char order[64], plan[128];
    uint32_t D = 1 + pick(2, i, 5), ahead = D, warps = (threads_of(t.b) + 31) / 32;
    put_order(order, sizeof order, "order", 40, i);
    bool redirect = pick(3, i, 3) == 0, plain = pick(4, i, 4) == 0;
    if (plain)
      snprintf(plan, sizeof plan, "prefetch=l1:%u", D);
    else
      snprintf(plan, sizeof plan, "%s%s,prefetch=l2:%u", order, redirect ? ",bind=redirect" : "", D);
    if (!plain && redirect) ahead = D * t.n_sms;
    t.plan = plan;
    uint64_t V = (uint64_t)t.g[0] * t.g[1] * t.g[2], n = V * threads_of(t.b);
    hd_table table = {0};
    if (t.known && !plain && pick(5, i, 3) == 0) {
      tabulate(order, t.g, t.n_sms, &table);
      snprintf(plan, sizeof plan, "order=affinity%s,prefetch=l2:%u", redirect ? ",bind=redirect" : "", D);
      t.table = &table;
    }
    uint32_t *memory = calloc(n, sizeof *memory);
    fetch_log log = {.fetched = calloc(V * warps, 8), .loaded = calloc(V * warps, 8), .warps = warps};
    t.ctx = &log;
    run(&t, memory, n * sizeof *memory);
    /* Workers count positions themselves: the lines are those of the worker `ahead` further on. */
    for (uint64_t u = 0; u < V; u++)
      for (uint32_t w = 0; w < warps; w++) {
        uint64_t want = u + ahead < V ? log.loaded[(u + ahead) * warps + w] : 0;
        if (log.fetched[u * warps + w] != want)
          fail_msg("%s, grid %ux%ux%u, %s: worker %lu fetches %lx, not %lx", plan, t.g[0], t.g[1], t.g[2],
                   t.known ? "known" : "any", (unsigned long)u, (unsigned long)log.fetched[u * warps + w],
                   (unsigned long)want);
      }
    free(memory);
    hd_table_free(&table);
    free(log.fetched);
    free(log.loaded);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every thread takes the place its plan gives", every_thread_takes_the_place_its_plan_gives),
      BEHAVIOUR("every thread takes the place its plan gives in its CTA",
                every_thread_takes_the_place_its_plan_gives_in_its_cta),
      BEHAVIOUR("claimed tasks keep the threads apart", claimed_tasks_keep_the_threads_apart),
      BEHAVIOUR("loads go where the plan says, and results stay",
                loads_go_where_the_plan_says_and_results_stay),
      BEHAVIOUR("a task fetches what the task ahead loads first",
                a_task_fetches_what_the_task_ahead_loads_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
