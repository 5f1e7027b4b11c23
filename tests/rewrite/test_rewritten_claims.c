/* bind=claim and bind=agents on the emulator: every thread of every task runs exactly once wherever the
 * workers are put, launch after launch, and the counters are left as they were found. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/emu.h"
#include "heddle/rewrite.h"

/* Every thread of a task adds 1 to a counter of its own, which its coordinates and the grid's dimensions
 * name. */
#define HEAD                                                                                                 \
  ".version 7.8\n.target sm_80\n.address_size 64\n.global .u32 turns[4] = {2, 0, 3, 1};\n"                   \
  ".visible .entry k(.param .u64 out, .param .u32 odd)\n{\n"                                                 \
  ".reg .pred %p<9>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<8>;\n"
#define COUNTER                                                                                              \
  "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\n"                                              \
  "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %ctaid.z;\n"                                 \
  "mov.u32 %r4, %nctaid.x;\nmov.u32 %r5, %nctaid.y;\n"                                                       \
  "mad.lo.u32 %r6, %r3, %r5, %r2;\nmad.lo.u32 %r7, %r6, %r4, %r1;\n"                                         \
  "mov.u32 %r8, %ntid.x;\nmov.u32 %r9, %ntid.y;\nmov.u32 %r10, %ntid.z;\n"                                   \
  "mov.u32 %r11, %tid.x;\nmov.u32 %r12, %tid.y;\nmov.u32 %r13, %tid.z;\n"                                    \
  "mad.lo.u32 %r14, %r13, %r9, %r12;\nmad.lo.u32 %r15, %r14, %r8, %r11;\n"                                   \
  "mul.lo.u32 %r16, %r8, %r9;\nmul.lo.u32 %r16, %r16, %r10;\n"                                               \
  "mad.lo.u32 %r17, %r7, %r16, %r15;\nmul.wide.u32 %rd3, %r17, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
#define BOX ".shared .align 4 .b32 box[1024];\n"
#define WHOLE_BOX                                                                                            \
  ".shared .align 4 .b32 box[12288];\n" /* all that a CTA may have: none is left for a ticket */
#define NEIGHBOUR                                                                                            \
  "mov.u32 %r21, box;\nmad.lo.u32 %r22, %r15, 4, %r21;\nst.shared.u32 [%r22], %r7;\nbar.sync 0;\n"           \
  "add.u32 %r23, %r15, 1;\nrem.u32 %r23, %r23, %r16;\nmad.lo.u32 %r23, %r23, 4, %r21;\n"                     \
  "ld.shared.u32 %r24, [%r23];\nsetp.eq.u32 %p1, %r24, %r7;\nselp.u32 %r25, 1, 1000, %p1;\n"                 \
  "red.global.add.u32 [%rd4], %r25;\nret;\n}\n"
#define COUNT "red.global.add.u32 [%rd4], 1;\n"
/* %r20 times all threads look whether their neighbour is in the same round of the same task. */
#define ROUNDS                                                                                               \
  "mov.u32 %r21, box;\nmad.lo.u32 %r22, %r15, 4, %r21;\nadd.u32 %r23, %r15, 1;\nrem.u32 %r23, %r23, %r16;\n" \
  "mad.lo.u32 %r23, %r23, 4, %r21;\nmov.u32 %r26, 1;\nmov.u32 %r27, 0;\nL:\nsetp.ge.u32 %p2, %r27, %r20;\n"  \
  "@%p2 bra D;\nmad.lo.u32 %r28, %r7, 64, %r27;\nst.shared.u32 [%r22], %r28;\nbar.sync 0;\n"                 \
  "ld.shared.u32 %r24, [%r23];\nsetp.eq.u32 %p1, %r24, %r28;\nselp.u32 %r26, %r26, 1000, %p1;\nbar.sync "    \
  "0;\n"                                                                                                     \
  "add.u32 %r27, %r27, 1;\nbra L;\nD:\nred.global.add.u32 [%rd4], %r26;\nret;\n}\n"

typedef struct kernel {
  const char *what, *text;
  bool even_only; /* odd tasks end early and count nothing, when the parameter says so */
} kernel;

static const kernel kernels[] = {
    {"independent threads", HEAD COUNTER COUNT "ret;\n}\n", false},
    {"threads that end at different places",
     HEAD COUNTER
     "and.b32 %r20, %r15, 3;\nsetp.eq.u32 %p1, %r20, 0;\n@%p1 bra A;\nsetp.eq.u32 %p2, %r20, 1;\n"
     "@%p2 red.global.add.u32 [%rd4], 1;\n@%p2 exit;\n" COUNT "ret;\nA:\n" COUNT "}\n",
     false},
    {"a loop that depends on the thread",
     HEAD COUNTER
     "and.b32 %r20, %r15, 7;\nL:\nsetp.eq.u32 %p1, %r20, 0;\n@%p1 bra D;\nsub.u32 %r20, %r20, 1;\nbra L;\n"
     "D:\n" COUNT "ret;\n}\n",
     false},
    /* A neighbour's number comes through shared memory: it must be of the same task. */
    {"shared memory and a barrier", HEAD BOX COUNTER NEIGHBOUR, false},
    {"shared memory to the limit", HEAD WHOLE_BOX COUNTER NEIGHBOUR, false},
    {"tasks that end before a barrier",
     HEAD BOX COUNTER
     "ld.param.u32 %r30, [odd];\nand.b32 %r31, %r7, %r30;\nsetp.ne.u32 %p3, %r31, 0;\n@%p3 ret;\n"
     "bar.sync 3;\nmov.u32 %r21, box;\nmad.lo.u32 %r22, %r15, 4, %r21;\nst.shared.u32 [%r22], %r7;\n"
     "barrier.sync 3;\nld.shared.u32 %r24, [%r22];\nsetp.eq.u32 %p1, %r24, %r7;\n@%p1 " COUNT "ret;\n}\n",
     true},
    /* Never-written registers read as in a CTA that has just begun. */
    {"registers that are written under a guard",
     HEAD COUNTER "and.b32 %r20, %r7, 1;\nsetp.eq.u32 %p1, %r20, 0;\n@%p1 mov.u32 %r33, 7;\n@!%p1 bra S;\n"
                  "setp.eq.u32 %p2, %r33, 7;\n@%p2 " COUNT "ret;\nS:\n" COUNT "ret;\n}\n",
     false},
    {"as many rounds as memory says",
     HEAD BOX COUNTER
     "and.b32 %r30, %r7, 3;\nmov.u64 %rd5, turns;\nmul.wide.u32 %rd6, %r30, 4;\nadd.s64 %rd5, %rd5, "
     "%rd6;\nld.global.u32 %r20, [%rd5];\n" ROUNDS,
     false},
    {"as many rounds as one thread says",
     HEAD BOX
     ".shared .u32 rounds;\n" COUNTER
     "setp.ne.u32 %p3, %r15, 0;\n@%p3 bra S;\nand.b32 %r30, %r7, 3;\nmembar.gl;\nst.shared.u32 [rounds], "
     "%r30;\nS:\nbar.sync 0;\nld.shared.u32 %r20, [rounds];\n" ROUNDS,
     false},
    {"an early end that no block is large enough for",
     HEAD BOX COUNTER "setp.gt.u32 %p3, %r11, 1023;\n@%p3 ret;\n" NEIGHBOUR, false},
    {"the first warp, by the numbers of its threads",
     HEAD COUNTER "setp.gt.u32 %p3, %r15, 31;\n@%p3 bra S;\nshfl.sync.idx.b32 %r35, %r7, 0, 31, -1;\n"
                  "setp.ne.u32 %p1, %r35, %r7;\n@%p1 ret;\nbar.warp.sync -1;\nS:\n" COUNT "ret;\n}\n",
     false},
    {"a warp's threads together",
     HEAD COUNTER "shfl.sync.idx.b32 %r35, %r7, 0, 31, -1;\nsetp.eq.u32 %p1, %r35, %r7;\n@%p1 " COUNT
                  "ret;\n}\n",
     false},
};

typedef struct trial {
  const kernel *kernel;
  uint32_t g[3], block[3];
  uint32_t n_sms, machine_sms, resident;
  bool known, known_block;
  const char *plan;
  hd_dispatch_kind dispatch;
  uint64_t seed;
  const char
      *sms;  /* as a plan writes them: the numbers of the machine's SMs, not for dispatchers; NULL: from 0 */
  bool told; /* the rewrite is told so */
  bool no_hoisting, own_state;
} trial;

static void describe(const trial *t, const char *what) {
  fail_msg("%s, %s, grid %ux%ux%u (%s), block %ux%ux%u, %u clusters, %u SMs of %u CTAs, %s%s: %s",
           t->kernel->what, t->plan, t->g[0], t->g[1], t->g[2], t->known ? "known" : "any", t->block[0],
           t->block[1], t->block[2], t->n_sms, t->machine_sms, t->resident, hd_dispatch_name(t->dispatch),
           t->no_hoisting ? ", nothing hoisted" : "", what);
}

static uint64_t zeroed(hd_emu *e, uint64_t bytes) {
  uint64_t at;
  assert_int_equal(hd_emu_alloc(e, bytes, &at, NULL), HD_OK);
  memset(hd_emu_ptr(e, at, bytes), 0, bytes);
  hd_emu_mark_written(e, at, bytes);
  return at;
}

/* A driver of its own: warps of all living CTAs take turns of a few instructions, now and then of many, in an
 * order drawn from the seed, and CTAs start whenever and wherever it says. */
enum { MOST_ALIVE = 12, AT_ONCE = 300, NO_DISPATCHER = HD_DISPATCH_COUNT };

typedef struct living {
  hd_emu_cta *cta;
  uint32_t done; /* one bit a warp */
} living;

static uint32_t sm_number(const hd_numbers *s, uint32_t place) {
  uint32_t sm = 0;
  while (hd_numbers_below(s, sm + 1) <= place && sm < HD_NUMBERS) sm++;
  return sm;
}

/* A plan that names them. */
static hd_plan numbers(const char *sms) {
  char text[128] = "baseline";
  hd_plan p;
  if (sms) snprintf(text, sizeof text, "bind=agents,sms=%s", sms);
  assert_int_equal(hd_plan_parse(text, &p, NULL), HD_OK);
  return p;
}

static hd_status interleave(hd_emu_program *program, const hd_emu_launch_params *l, uint32_t n_sms,
                            const hd_numbers *sms, uint64_t seed, hd_diag *d) {
  hd_emu_grid *g;
  hd_status st = hd_emu_grid_begin(program, l, NULL, &g, d);
  if (st != HD_OK) return st;
  living alive[MOST_ALIVE];
  uint64_t n = 0, next = 0, V = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], turn = 0;
  uint64_t most = 1 + hd_random_at(seed, turn++) % MOST_ALIVE;
  while (st == HD_OK && (n || next < V)) {
    uint64_t r = hd_random_at(seed, turn++);
    if (next < V && n < most && (n == 0 || r % 8 == 0)) {
      alive[n] = (living){0};
      st = hd_emu_cta_start(g, next++, sm_number(sms, (uint32_t)(r / 8 % n_sms)), 0, &alive[n].cta, d);
      n += st == HD_OK;
      continue;
    }
    living *c = &alive[r / 8 % n];
    uint32_t warps = hd_emu_cta_warps(c->cta), w = (uint32_t)(r / 512 % warps);
    if (c->done >> w & 1) continue;
    const uint64_t steps = r / 65536;
    hd_step step = hd_emu_warp_step(c->cta, w, steps % 8 ? 1 + steps / 8 % 4 : AT_ONCE);
    if (step == HD_STEP_FAULT) break;
    if (step == HD_STEP_DONE) c->done |= 1u << w;
    if (c->done != (uint32_t)((UINT64_C(1) << warps) - 1)) continue;
    hd_emu_cta_end(c->cta);
    *c = alive[--n];
  }
  while (n) hd_emu_cta_end(alive[--n].cta);
  hd_status ended = hd_emu_grid_end(g, st == HD_OK ? d : NULL);
  return st == HD_OK ? ended : st;
}

enum { LAUNCHES = 2 };

/* Each task counts once a launch: for its CTA, or for each of the warps that claim for themselves. */
static void check_ballot(const trial *t, const char *remark, const uint32_t *votes, uint64_t expected) {
  uint64_t sum = 0;
  if (strstr(remark, "claims by warp")) expected *= (t->block[0] * t->block[1] * t->block[2] + 31) / 32;
  for (uint32_t i = 0; i < HD_BALLOT_SMS; i++) {
    sum += votes[i];
    if (votes[i] && i >= t->n_sms) describe(t, "a vote for a cluster that there is not");
  }
  if (sum != expected) describe(t, "votes are more or less than tasks");
}

static void run(const trial *t, const hd_table *table) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_diag d = {0};
  hd_ptx_module *m;
  hd_plan p;
  hd_recipe recipe;
  if (hd_plan_parse(t->plan, &p, &d) != HD_OK) describe(t, d.message);
  if (hd_ptx_parse(t->kernel->text, strlen(t->kernel->text), "k", &arena, &m, &d) != HD_OK)
    describe(t, d.message);
  hd_rewrite_options o = {.grid = {.known = t->known, .g = {t->g[0], t->g[1], t->g[2]}, .n_sms = t->n_sms},
                          .table = table,
                          .no_hoisting = t->no_hoisting,
                          .own_state = t->own_state};
  hd_plan present = numbers(t->sms);
  uint32_t machine_sms = t->sms ? hd_numbers_count(&present.sms) : t->machine_sms;
  if (t->told) o.sms = &present.sms;
  if (t->known_block) memcpy(o.block, t->block, sizeof o.block);
  if (hd_rewrite(m, 0, &p, &o, &recipe, &d) != HD_OK) describe(t, d.message);
  if (t->own_state && recipe.state_bytes) describe(t, "the state is not its own");

  uint64_t V, threads = (uint64_t)t->block[0] * t->block[1] * t->block[2];
  assert_true(hd_grid_tasks(t->g, &V));
  hd_emu *e;
  hd_emu_program *program;
  hd_emu_options eo = {.threads = 1, .checks = HD_CHECK_INIT, .memory = 1 << 28, .n_sms = t->machine_sms};
  assert_int_equal(hd_emu_create(&eo, &e, &d), HD_OK);
  if (hd_emu_load(e, m, &program, &d) != HD_OK) describe(t, d.message);
  uint64_t out = zeroed(e, V * threads * 4), state = zeroed(e, recipe.state_bytes), tasks = 0;
  if (recipe.table_bytes) {
    tasks = zeroed(e, recipe.table_bytes);
    memcpy(hd_emu_ptr(e, tasks, recipe.table_bytes), table->task, recipe.table_bytes);
  }
  char *params = calloc(1, recipe.params_bytes);
  uint32_t odd = 1;
  memcpy(params, &out, sizeof out);
  memcpy(params + 8, &odd, sizeof odd);
  hd_recipe_params(&recipe, t->g, state, tasks, params);
  hd_emu_launch_params l = {.kernel = "k",
                            .block = {t->block[0], t->block[1], t->block[2]},
                            .args = params,
                            .args_bytes = recipe.params_bytes};
  hd_recipe_grid(&recipe, t->g, t->machine_sms, t->resident, l.grid);
  for (unsigned k = 0; k < LAUNCHES; k++) {
    hd_dispatch how = {.kind = t->dispatch, .seed = t->seed + k, .resident = t->resident};
    hd_status st = t->dispatch == (hd_dispatch_kind)NO_DISPATCHER
                       ? interleave(program, &l, machine_sms, &present.sms, t->seed + k, &d)
                       : hd_emu_launch(program, &l, &how, NULL, NULL, &d);
    if (st != HD_OK) describe(t, d.message);
    if (t->own_state) continue; /* what a launch leaves, the next one begins with */
    const char *left = hd_emu_ptr(e, state, recipe.state_bytes);
    for (uint64_t i = 0; i < (recipe.ballot ? recipe.ballot_offset : recipe.state_bytes); i++)
      if (left[i]) describe(t, "the counters were not cleared");
    if (recipe.ballot)
      check_ballot(t, m->funcs[0].remark, (const uint32_t *)(left + recipe.ballot_offset), (k + 1) * V);
  }
  const uint32_t *count = hd_emu_ptr(e, out, V * threads * 4);
  for (uint64_t i = 0; i < V * threads; i++) {
    uint32_t want = t->kernel->even_only && i / threads % 2 ? 0 : LAUNCHES;
    if (count[i] == want) continue;
    char what[96];
    snprintf(what, sizeof what, "thread %lu of task %lu ran %u times, not %u", (unsigned long)(i % threads),
             (unsigned long)(i / threads), count[i], want);
    describe(t, what);
  }
  free(params);
  hd_emu_unload(program);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
}

static const char *const plans[] = {
    "bind=claim",
    "order=col,bind=claim,split=cols",
    "bind=claim,split=rows",
    "order=tile:3x2,bind=claim,split=wave:2",
    "bind=agents",
    "bind=agents:1",
    "order=hilbert,bind=agents:2,split=wave:3",
    "bind=agents,split=rows",
    "order=band:2,bind=agents:3",
    "bind=agents,sms=0-2+5",
    "bind=agents:1,sms=3+7-8",
    "order=reverse,bind=agents:2,sms=90-99",
    "bind=agents,take=segments",
    "bind=agents:2,take=segments",
    "order=hilbert,bind=agents,split=wave:3,take=segments:3",
    "order=col,bind=agents:1,split=cols,take=segments:5",
    "bind=agents,take=segments:4294967295,sms=0-2+5",
    "bind=agents:3,take=segments,sms=3+7-8",
    "bind=agents,take=strides",
    "bind=agents:2,take=strides",
    "order=col,bind=agents:1,split=cols,take=strides",
    "bind=agents,split=rows,take=strides",
    "order=hilbert,bind=agents:3,split=wave:2,take=strides",
    "bind=agents:auto",
    "order=tile:3x2,bind=agents:auto,split=wave:2",
    "order=hilbert,bind=agents:auto",
};

static const uint32_t blocks[][3] = {{1, 1, 1},  {32, 1, 1}, {33, 1, 1},  {64, 1, 1},
                                     {16, 4, 1}, {8, 3, 2},  {100, 1, 1}, {5, 5, 5}};
#define PICK(seed, i, array) array[hd_random_at(seed, i) % (sizeof(array) / sizeof *(array))]

static void draw_trial(uint64_t i, trial *t) {
  static const uint32_t tops[3][3] = {{90, 1, 1}, {12, 9, 1}, {5, 4, 4}};
  *t = (trial){.kernel = &kernels[i % (sizeof kernels / sizeof *kernels)],
               .n_sms = 1 + (uint32_t)(hd_random_at(20, i) % 20),
               .machine_sms = 1 + (uint32_t)(hd_random_at(21, i) % 24),
               .resident = 1 + (uint32_t)(hd_random_at(22, i) % 4),
               .known = hd_random_at(23, i) & 1,
               .known_block = hd_random_at(24, i) & 1,
               .plan = PICK(25, i, plans),
               .dispatch = (hd_dispatch_kind)(hd_random_at(26, i) % HD_DISPATCH_COUNT),
               .seed = i,
               .no_hoisting = hd_random_at(28, i) & 1,
               .own_state = hd_random_at(29, i) & 1};
  for (unsigned k = 0; k < 3; k++) t->g[k] = 1 + (uint32_t)(hd_random_at(10 + k, i) % tops[i / 7 % 3][k]);
  memcpy(t->block, PICK(27, i, blocks), sizeof t->block);
}

static void every_thread_of_every_task_runs_once(void **state) {
  for (uint64_t i = 0; i < 1500; i++) {
    trial t;
    draw_trial(i, &t);
    run(&t, NULL);
  }
}

static void no_dispatcher_can_stop_it(void **state) {
  for (uint64_t i = 0; i < sizeof plans / sizeof *plans * HD_DISPATCH_COUNT; i++) {
    trial t;
    draw_trial(i, &t);
    t.plan = plans[i / HD_DISPATCH_COUNT];
    t.dispatch = (hd_dispatch_kind)(i % HD_DISPATCH_COUNT);
    for (uint32_t sms = 1; sms <= 16; sms *= 16) {
      t.machine_sms = sms;
      t.resident = i % 2 ? 1 : 32;
      run(&t, NULL);
    }
  }
}

static void every_interleaving_of_warps_is_right(void **state) {
  for (uint64_t i = 0; i < 1200; i++) {
    trial t;
    draw_trial(i + 7000, &t);
    t.dispatch = (hd_dispatch_kind)NO_DISPATCHER;
    if (t.g[0] > 30) t.g[0] = 30;
    run(&t, NULL);
  }
}

static const char *const holes[] = {"0-3+40-43", "7", "2+4+6+8+10+12+14", "131", "1000-1005+1023"};

static void numbers_of_sms_may_have_holes(void **state) {
  for (uint64_t i = 0; i < 600; i++) {
    trial t;
    draw_trial(i + 9000, &t);
    t.dispatch = (hd_dispatch_kind)NO_DISPATCHER;
    t.sms = PICK(29, i, holes);
    t.told = hd_random_at(30, i) & 1;
    if (t.g[0] > 30) t.g[0] = 30;
    run(&t, NULL);
  }
}

/* Tells which task was the first. */
static const char first_task[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
    ".reg .pred %p;\n.reg .b32 %r<4>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [out];\n"
    "cvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %ctaid.x;\natom.global.add.u32 %r2, [%rd2], 1;\n"
    "setp.eq.u32 %p, %r2, 0;\n@%p st.global.u32 [%rd2+4], %r1;\nret;\n}\n";

/* The first task of a single worker on that SM. */
static uint32_t first_of(const char *plan, uint32_t V, uint32_t n_sms, const hd_numbers *sms, uint32_t sm) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_diag d = {0};
  hd_ptx_module *m;
  hd_plan p;
  hd_recipe recipe;
  hd_emu *e;
  hd_emu_program *program;
  hd_emu_grid *g;
  hd_emu_cta *cta;
  assert_int_equal(hd_plan_parse(plan, &p, &d), HD_OK);
  assert_int_equal(hd_ptx_parse(first_task, strlen(first_task), "k", &arena, &m, &d), HD_OK);
  hd_rewrite_options o = {
      .grid = {.known = true, .g = {V, 1, 1}, .n_sms = n_sms}, .block = {1, 1, 1}, .sms = sms};
  if (hd_rewrite(m, 0, &p, &o, &recipe, &d) != HD_OK) fail_msg("%s", d.message);
  hd_emu_options eo = {.threads = 1, .memory = 1 << 24, .n_sms = n_sms};
  assert_int_equal(hd_emu_create(&eo, &e, &d), HD_OK);
  assert_int_equal(hd_emu_load(e, m, &program, &d), HD_OK);
  uint64_t out = zeroed(e, 8), queues = zeroed(e, recipe.state_bytes);
  char *params = calloc(1, recipe.params_bytes);
  const uint32_t tasks[3] = {V, 1, 1};
  memcpy(params, &out, sizeof out);
  hd_recipe_params(&recipe, tasks, queues, 0, params);
  hd_emu_launch_params l = {.kernel = "k",
                            .grid = {1, 1, 1},
                            .block = {1, 1, 1},
                            .args = params,
                            .args_bytes = recipe.params_bytes};
  assert_int_equal(hd_emu_grid_begin(program, &l, NULL, &g, &d), HD_OK);
  assert_int_equal(hd_emu_cta_start(g, 0, sm, 0, &cta, &d), HD_OK);
  assert_int_equal(hd_emu_cta_run(cta, 1 << 20), HD_STEP_DONE);
  hd_emu_cta_end(cta);
  assert_int_equal(hd_emu_grid_end(g, &d), HD_OK);
  const uint32_t *got = hd_emu_ptr(e, out, 8);
  assert_int_equal(got[0], V);
  uint32_t first = got[1];
  free(params);
  hd_emu_unload(program);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
  return first;
}

static void each_sm_serves_the_cluster_of_its_rank(void **state) {
  enum { V = 200 };
  for (size_t i = 0; i < sizeof holes / sizeof *holes; i++) {
    hd_plan present = numbers(holes[i]);
    uint32_t n = hd_numbers_count(&present.sms);
    for (uint32_t rank = 0; rank < n; rank++) {
      uint32_t sm = sm_number(&present.sms, rank);
      uint64_t start = hd_cluster_start(V, n, rank);
      assert_int_equal(first_of("bind=agents", V, n, &present.sms, sm), start);
      assert_int_equal(first_of("bind=agents,take=segments", V, n, &present.sms, sm), start);
      /* The holes are not known: any cluster is right. */
      assert_int_equal(first_of("bind=agents", V, n, NULL, sm), hd_cluster_start(V, n, sm % n));
    }
  }
  /* More SMs than clusters; numbers that were not foreseen. */
  hd_plan present = numbers("10-19");
  assert_int_equal(first_of("bind=agents", V, 4, &present.sms, 17), hd_cluster_start(V, 4, 7 % 4));
  assert_int_equal(first_of("bind=agents", V, 10, &present.sms, 23), hd_cluster_start(V, 10, 23 % 10));
  assert_int_equal(first_of("bind=agents,sms=3+17", V, 10, &present.sms, 17), hd_cluster_start(V, 2, 1));
}

static void orders_from_tables_compose_with_claims(void **state) {
  static const char *const orders[] = {"order=heavy-first,bind=agents", "order=affinity,bind=claim",
                                       "order=heavy-first,bind=agents:2,split=wave:2"};
  enum { V = 77 };
  uint32_t tasks[V];
  for (uint32_t i = 0; i < V; i++) tasks[i] = (i * 30 + 5) % V;
  hd_table table = {tasks, V};
  for (uint64_t i = 0; i < 60; i++) {
    trial t;
    draw_trial(i, &t);
    t.g[0] = 11, t.g[1] = 7, t.g[2] = 1;
    t.known = true;
    t.plan = PICK(28, i, orders);
    run(&t, &table);
  }
}

/* Too large to be written into the module. */
static void a_large_table_lies_in_device_memory(void **state) {
  enum { V = 70000 };
  hd_table table = {calloc(V, sizeof(uint32_t)), V};
  for (uint32_t i = 0; i < V; i++) table.task[i] = (uint32_t)((uint64_t)i * 29 % V);
  trial t = {.kernel = kernels,
             .g = {V, 1, 1},
             .block = {1, 1, 1},
             .n_sms = 4,
             .machine_sms = 4,
             .resident = 2,
             .known = true,
             .plan = "order=affinity,bind=agents"};
  run(&t, &table);
  free(table.task);
}

/* Rewritten for any grid, the kernel is told of 2^32 tasks: each worker then does the task of its own id, and
 * touches no queue. Of such a grid, a few CTAs are started. */
static void a_grid_too_large_to_be_claimed_keeps_its_own_order(void **state) {
  enum { RUN = 5 };
  static const char *const any_plans[] = {"bind=claim", "order=col,bind=agents:1"};
  for (unsigned k = 0; k < 4; k++) {
    const kernel *source = &kernels[k / 2 * 3];
    hd_arena arena;
    hd_arena_init(&arena);
    hd_diag d = {0};
    hd_ptx_module *m;
    hd_plan p;
    hd_recipe recipe;
    hd_emu *e;
    hd_emu_program *program;
    hd_emu_grid *g;
    assert_int_equal(hd_plan_parse(any_plans[k % 2], &p, &d), HD_OK);
    assert_int_equal(hd_ptx_parse(source->text, strlen(source->text), "k", &arena, &m, &d), HD_OK);
    hd_rewrite_options o = {.grid.n_sms = 4};
    assert_int_equal(hd_rewrite(m, 0, &p, &o, &recipe, &d), HD_OK);
    hd_emu_options eo = {.threads = 1, .checks = HD_CHECK_INIT, .memory = 1 << 28, .n_sms = 4};
    assert_int_equal(hd_emu_create(&eo, &e, &d), HD_OK);
    assert_int_equal(hd_emu_load(e, m, &program, &d), HD_OK);
    const uint32_t tasks[3] = {1 << 17, 1 << 15, 1};
    uint64_t out = zeroed(e, RUN * 40 * 4), queues = zeroed(e, recipe.state_bytes);
    char *params = calloc(1, recipe.params_bytes);
    memcpy(params, &out, sizeof out);
    hd_recipe_params(&recipe, tasks, queues, 0, params);
    hd_emu_launch_params l = {
        .kernel = "k", .block = {40, 1, 1}, .args = params, .args_bytes = recipe.params_bytes};
    hd_recipe_grid(&recipe, tasks, 4, 2, l.grid);
    assert_memory_equal(l.grid, tasks, sizeof tasks);
    assert_int_equal(hd_emu_grid_begin(program, &l, NULL, &g, &d), HD_OK);
    for (uint64_t u = 0; u < RUN; u++) {
      hd_emu_cta *cta;
      assert_int_equal(hd_emu_cta_start(g, u, (uint32_t)u % 4, 0, &cta, &d), HD_OK);
      assert_int_equal(hd_emu_cta_run(cta, 100), HD_STEP_DONE);
      hd_emu_cta_end(cta);
    }
    assert_int_equal(hd_emu_grid_end(g, &d), HD_OK);
    const uint32_t *count = hd_emu_ptr(e, out, RUN * 40 * 4);
    for (uint32_t i = 0; i < RUN * 40; i++) assert_int_equal(count[i], 1);
    const char *left = hd_emu_ptr(e, queues, recipe.state_bytes);
    for (uint64_t i = 0; i < recipe.state_bytes; i++) assert_int_equal(left[i], 0);
    free(params);
    hd_emu_unload(program);
    hd_emu_destroy(e);
    hd_arena_free(&arena);
  }
}

/* Three tasks on SMs 7 to 9 of ten: three workers would most likely all start on other SMs, and leave. */
static void workers_fill_the_gpu_where_only_some_sms_work(void **state) {
  static const struct {
    const char *plan;
    uint32_t workers;
  } cases[] = {{"bind=agents", 3},
               {"bind=agents,sms=7-9", 40},
               {"bind=agents:1,sms=7-9", 40},
               {"bind=agents,take=strides", 40}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_arena arena;
    hd_arena_init(&arena);
    hd_diag d = {0};
    hd_ptx_module *m;
    hd_plan p;
    hd_recipe recipe;
    uint32_t grid[3];
    hd_rewrite_options o = {.grid = {.known = true, .g = {3, 1, 1}, .n_sms = 10}, .block = {32, 1, 1}};
    assert_int_equal(hd_plan_parse(cases[i].plan, &p, &d), HD_OK);
    assert_int_equal(hd_ptx_parse(kernels->text, strlen(kernels->text), "k", &arena, &m, &d), HD_OK);
    if (hd_rewrite(m, 0, &p, &o, &recipe, &d) != HD_OK) fail_msg("%s", d.message);
    hd_recipe_grid(&recipe, o.grid.g, 10, 4, grid);
    assert_int_equal(grid[0], cases[i].workers);
    hd_arena_free(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("workers fill the GPU where only some SMs work",
                workers_fill_the_gpu_where_only_some_sms_work),
      BEHAVIOUR("a grid too large to be claimed keeps its own order",
                a_grid_too_large_to_be_claimed_keeps_its_own_order),
      BEHAVIOUR("every thread of every task runs once, launch after launch",
                every_thread_of_every_task_runs_once),
      BEHAVIOUR("no dispatcher can stop it", no_dispatcher_can_stop_it),
      BEHAVIOUR("every interleaving of warps is right", every_interleaving_of_warps_is_right),
      BEHAVIOUR("numbers of SMs may have holes", numbers_of_sms_may_have_holes),
      BEHAVIOUR("each SM serves the cluster of its rank", each_sm_serves_the_cluster_of_its_rank),
      BEHAVIOUR("orders from tables compose with claims", orders_from_tables_compose_with_claims),
      BEHAVIOUR("a large table lies in device memory", a_large_table_lies_in_device_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
