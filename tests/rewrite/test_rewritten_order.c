/* Rewritten kernels on the emulator: each CTA must find exactly the task that the plan's own arithmetic gives
 * it. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/emu.h"
#include "heddle/rewrite.h"

/* Each CTA counts itself at its task's record and stores its coordinates there. Which worker that was
 * is seen from outside, by the trace hook, which knows the launched CTA. */
#define HEAD                                                                                                 \
  ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"                   \
  ".reg .pred %p<3>;\n.reg .b16 %h<3>;\n.reg .b32 %r<12>;\n.reg .b64 %rd<8>;\n"
#define TAIL                                                                                                 \
  "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\n"                                              \
  "mov.u32 %r4, %nctaid.x;\nmov.u32 %r5, %nctaid.y;\n"                                                       \
  "mad.lo.u32 %r6, %r3, %r5, %r2;\nmad.lo.u32 %r7, %r6, %r4, %r1;\n"                                         \
  "mul.wide.u32 %rd3, %r7, 16;\nadd.s64 %rd4, %rd2, %rd3;\n"                                                 \
  "atom.global.add.u32 %r8, [%rd4], 1;\n"                                                                    \
  "st.global.u32 [%rd4+4], %r1;\nst.global.u32 [%rd4+8], %r2;\nst.global.u32 [%rd4+12], %r3;\n"              \
  "ret;\n}\n"

/* Ways to read coordinates into %r1, %r2, %r3: all at once; late, and in a loop that reads the last one
 * twice; into registers that held something else, or half of which is used. */
static const char *const kernels[] = {
    HEAD "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %ctaid.z;\n" TAIL,
    HEAD "mov.u32 %r1, %ctaid.x;\nmov.u32 %r9, 0;\nL:\nadd.u32 %r9, %r9, 1;\nmov.u32 %r3, %ctaid.z;\n"
         "setp.lt.u32 %p1, %r9, 2;\n@%p1 bra L;\nmov.u32 %r2, %ctaid.y;\n" TAIL,
    HEAD "mov.u32 %r10, %ctaid.z;\nmov.u32 %r2, 7;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\n"
         "mov.u32 %r3, %ctaid.z;\nadd.u32 %r10, %r10, %r10;\nshr.u32 %r3, %r10, 1;\n" TAIL,
    HEAD "mov.u16 %h1, %ctaid.y;\ncvt.u32.u16 %r2, %h1;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r11, %ctaid.z;\n"
         "mov.b32 {%h1, %h2}, %r11;\nmov.b32 %r3, {%h1, %h2};\n" TAIL,
};

typedef struct order_log {
  uint64_t *task_of_worker;
  uint64_t base;
} order_log;

static void log_access(void *ctx, unsigned worker, const hd_access *a) {
  order_log *log = ctx;
  if (a->kind == HD_ACCESS_ATOMIC) log->task_of_worker[a->task] = (a->addr[0] - log->base) / 16;
}

typedef struct trial {
  uint32_t g[3];
  uint32_t n_sms;
  bool known;
  unsigned kernel;
  const char *plan;
} trial;

static void run(const trial *t, const hd_table *table, const char *table_path) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_diag d = {0};
  hd_ptx_module *m;
  hd_plan p;
  char plan_text[256];
  snprintf(plan_text, sizeof plan_text, t->plan, table_path);
  assert_int_equal(hd_plan_parse(plan_text, &p, &d), HD_OK);
  assert_int_equal(hd_ptx_parse(kernels[t->kernel], strlen(kernels[t->kernel]), "order", &arena, &m, &d),
                   HD_OK);
  hd_rewrite_options o = {.grid = {.known = t->known, .g = {t->g[0], t->g[1], t->g[2]}, .n_sms = t->n_sms},
                          .table = table};
  if (hd_rewrite(m, 0, &p, &o, NULL, &d) != HD_OK) fail_msg("%s: %s", plan_text, d.message);

  uint64_t V;
  assert_true(hd_grid_tasks(t->g, &V));
  hd_emu *e;
  hd_emu_options eo = {.threads = 1, .checks = HD_CHECK_INIT, .memory = 1 << 28};
  assert_int_equal(hd_emu_create(&eo, &e, &d), HD_OK);
  hd_emu_program *program;
  if (hd_emu_load(e, m, &program, &d) != HD_OK) fail_msg("%s: %s", plan_text, d.message);
  uint64_t out;
  assert_int_equal(hd_emu_alloc(e, V * 16, &out, &d), HD_OK);
  uint32_t *host = hd_emu_ptr(e, out, V * 16);
  memset(host, 0, V * 16);
  hd_emu_mark_written(e, out, V * 16);
  order_log log = {.task_of_worker = malloc(V * sizeof(uint64_t)), .base = out};
  hd_emu_hooks hooks = {.ctx = &log, .spaces = 1 << HD_SPACE_GLOBAL, .access = log_access};
  hd_emu_launch_params l = {
      .kernel = "k", .grid = {t->g[0], t->g[1], t->g[2]}, .block = {1, 1, 1}, .args = &out, .args_bytes = 8};
  hd_dispatch how = {.kind = HD_DISPATCH_ROUND_ROBIN};
  if (hd_emu_launch(program, &l, &how, &hooks, NULL, &d) != HD_OK) fail_msg("%s: %s", plan_text, d.message);

  hd_table want;
  hd_grid grid = {.known = true, .g = {t->g[0], t->g[1], t->g[2]}, .n_sms = t->n_sms};
  assert_int_equal(hd_plan_tabulate(&p, &grid, table, &want, &d), HD_OK);
  for (uint64_t u = 0; u < V; u++) {
    if (log.task_of_worker[u] != want.task[u])
      fail_msg("%s, grid %ux%ux%u, %s: worker %lu ran task %lu, not %u", plan_text, t->g[0], t->g[1], t->g[2],
               t->known ? "known" : "any", (unsigned long)u, (unsigned long)log.task_of_worker[u],
               want.task[u]);
    const uint32_t *cell = &host[4 * u]; /* task u's record */
    assert_int_equal(cell[0], 1);
    assert_int_equal(cell[1] + (uint64_t)t->g[0] * (cell[2] + (uint64_t)t->g[1] * cell[3]), u);
  }
  hd_table_free(&want);
  free(log.task_of_worker);
  hd_emu_unload(program);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
}

static const char *const shapes[] = {
    "order=col",     "order=band:%u", "order=tile:%ux%u",    "order=zigzag:%ux%u", "order=stride:%ux%u",
    "order=hilbert", "order=reverse", "order=tile:%ux%ux%u", "order=row",
};
enum { ORDERS = sizeof shapes / sizeof *shapes, COL = 0, ROW = ORDERS - 1 };

static void random_grid(uint64_t i, uint32_t g[3]) {
  static const uint32_t tops[3][3] = {{400, 1, 1}, {30, 30, 1}, {9, 9, 9}};
  for (unsigned k = 0; k < 3; k++) g[k] = 1 + (uint32_t)(hd_random_at(10 + k, i) % tops[i % 3][k]);
}

static void every_worker_runs_the_task_its_plan_gives(void **state) {
  for (uint64_t i = 0; i < 2000; i++) {
    trial t = {.n_sms = 1 + (uint32_t)(hd_random_at(20, i) % 20),
               .known = hd_random_at(21, i) & 1,
               .kernel = (unsigned)(hd_random_at(26, i) % 4)};
    random_grid(i, t.g);
    char plan[128];
    unsigned a = 1 + (unsigned)(hd_random_at(22, i) % 12), b = 1 + (unsigned)(hd_random_at(23, i) % 12);
    unsigned rows = 1 + (unsigned)(hd_random_at(27, i) % 40), order = (unsigned)(i / 3 % ORDERS);
    int n = snprintf(plan, sizeof plan, shapes[order], a, b, rows);
    bool redirect = order == ROW || hd_random_at(24, i) & 1;
    if (redirect) n += snprintf(plan + n, sizeof plan - (size_t)n, ",bind=redirect");
    if (redirect && hd_random_at(25, i) & 1) {
      const char *split = order == ROW ? ",split=rows" : order == COL ? ",split=cols" : ",split=wave:%u";
      snprintf(plan + n, sizeof plan - (size_t)n, split, b);
    }
    t.plan = plan;
    run(&t, NULL, "");
  }
}

/* Shapes with and without remainders, and with an order of the kernel's own. */
static void every_worker_runs_the_task_its_shaped_plan_gives(void **state) {
  static const char *const owns[] = {"", ":band:3", ":col", ":hilbert", ":tile:2x3", ":tile:2x3x7"};
  for (uint64_t i = 0; i < 1000; i++) {
    trial t = {.n_sms = 1 + (uint32_t)(hd_random_at(40, i) % 20),
               .known = hd_random_at(41, i) & 1,
               .kernel = (unsigned)(hd_random_at(42, i) % 4)};
    random_grid(i, t.g);
    char plan[160];
    unsigned a = 1 + (unsigned)(hd_random_at(43, i) % 12), b = 1 + (unsigned)(hd_random_at(44, i) % 12);
    int n = snprintf(plan, sizeof plan, shapes[i / 3 % ROW], a, b, a + b);
    n += snprintf(plan + n, sizeof plan - (size_t)n, ",shape=%ux%u%s", b + 3, a,
                  owns[hd_random_at(45, i) % 6]);
    if (hd_random_at(46, i) & 1) snprintf(plan + n, sizeof plan - (size_t)n, ",bind=redirect");
    t.plan = plan;
    run(&t, NULL, "");
  }
}

/* Instructions that the plan puts into the first kernel. */
static unsigned added(const char *plan_text, const hd_grid *g) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_diag d = {0};
  hd_ptx_module *m;
  hd_plan p;
  unsigned n = 0, before = 0;
  assert_int_equal(hd_plan_parse(plan_text, &p, &d), HD_OK);
  assert_int_equal(hd_ptx_parse(kernels[0], strlen(kernels[0]), "order", &arena, &m, &d), HD_OK);
  for (uint32_t i = 0; i < m->funcs[0].n_stmts; i++) before += m->funcs[0].stmts[i].kind == HD_S_INST;
  hd_rewrite_options o = {.grid = *g};
  if (hd_rewrite(m, 0, &p, &o, NULL, &d) != HD_OK) fail_msg("%s: %s", plan_text, d.message);
  for (uint32_t i = 0; i < m->funcs[0].n_stmts; i++) n += m->funcs[0].stmts[i].kind == HD_S_INST;
  hd_arena_free(&arena);
  return n > before ? n - before : 0;
}

static void a_shape_adds_at_most_four_instructions_to_what_its_order_adds_on_a_true_grid(void **state) {
  for (uint64_t i = 0; i < 700; i++) {
    uint32_t w = 2 + (uint32_t)(hd_random_at(50, i) % 300), h = 2 + (uint32_t)(hd_random_at(51, i) % 300);
    uint32_t rest = hd_random_at(52, i) & 1 ? (uint32_t)(hd_random_at(53, i) % w) : 0;
    unsigned a = 1 + (unsigned)(hd_random_at(54, i) % 40), b = 1 + (unsigned)(hd_random_at(55, i) % 40);
    char plan[64], shaped[96];
    snprintf(plan, sizeof plan, shapes[i % ROW], a, b, 2 * a + b);
    snprintf(shaped, sizeof shaped, "%s,shape=%ux%u", plan, w, h);
    hd_grid plane = {.known = true, .g = {w, h, 1}, .n_sms = 1};
    hd_grid line = {.known = true, .g = {w * h + rest, 1, 1}, .n_sms = 1};
    unsigned on_plane = added(plan, &plane), on_line = added(shaped, &line);
    if (on_line > on_plane + 4)
      fail_msg("%s on %u CTAs: %u instructions, %u on the true grid", shaped, w * h + rest, on_line,
               on_plane);
  }
}

static void tables_are_followed(void **state) {
  char path[] = "/tmp/heddle-table-XXXXXX";
  int fd = mkstemp(path);
  FILE *f = fdopen(fd, "w");
  static const uint32_t grids[][3] = {
      {17, 5, 3}, {51, 5, 1}, {255, 1, 1}, {1, 255, 1}}; /* a box, planes, lines */
  uint32_t V = 255;
  for (uint32_t i = 0; i < V; i++) fprintf(f, "%u\n", (i * 101 + 7) % V);
  fclose(f);
  hd_table table;
  hd_diag d;
  assert_int_equal(hd_table_read(path, V, &table, &d), HD_OK);
  for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
    trial t = {
        .g = {grids[i][0], grids[i][1], grids[i][2]}, .n_sms = 4, .known = true, .plan = "order=table:%s"};
    run(&t, &table, path);
    t.plan = "order=table:%s,bind=redirect";
    run(&t, &table, path);
  }
  hd_table_free(&table);
  remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every worker runs the task its plan gives it", every_worker_runs_the_task_its_plan_gives),
      BEHAVIOUR("every worker runs the task its shaped plan gives it",
                every_worker_runs_the_task_its_shaped_plan_gives),
      BEHAVIOUR("a shape adds at most four instructions to what its order adds on a true grid",
                a_shape_adds_at_most_four_instructions_to_what_its_order_adds_on_a_true_grid),
      BEHAVIOUR("a table's order is followed", tables_are_followed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
