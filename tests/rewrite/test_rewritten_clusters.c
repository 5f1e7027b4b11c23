/* Orders of kernels that run in clusters: whole clusters change places, and each CTA keeps its rank. */
#include "check.h"

#include <unistd.h>

#include "rewrite/generated.h"

/* Each CTA writes 8 words of its own: what it sees of its place, what its neighbour in the cluster left in
 * shared memory for it, the sum over the cluster's threads, and what a row of tasks shares. */
static const char text[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n.reqnctapercluster %u, %u, %u\n{\n"
    ".shared .align 8 .b8 left[64];\n"
    ".reg .pred %%p<4>; .reg .b16 %%h<4>; .reg .b32 %%r<40>; .reg .b64 %%d<8>;\n"
    "ld.param.u64 %%d0, [out];\n"
    "mov.u32 %%r0, %%ctaid.x; mov.u32 %%r1, %%ctaid.y; mov.u32 %%r2, %%ctaid.z;\n"
    "mov.u32 %%r3, %%nctaid.x; mov.u32 %%r4, %%nctaid.y;\n"
    "mad.lo.u32 %%r5, %%r2, %%r4, %%r1; mad.lo.u32 %%r5, %%r5, %%r3, %%r0;\n"
    "mov.u32 %%r6, %%cluster_ctarank; mov.u32 %%r7, %%cluster_nctarank; mov.u32 %%r8, left;\n"
    "mad.wide.u32 %%d1, %%r5, 32, %%d0;\nmov.u32 %%r9, %%tid.x; setp.eq.u32 %%p0, %%r9, 0;\n"
    "@%%p0 st.shared.v2.u32 [%%r8], {%%r5, %%r9};\nbarrier.cluster.arrive; barrier.cluster.wait;\n"
    "add.u32 %%r10, %%r6, 1; rem.u32 %%r10, %%r10, %%r7; mapa.shared::cluster.u32 %%r11, %%r8, %%r10;\n"
    "ld.shared::cluster.u32 %%r12, [%%r11]; mapa.shared::cluster.u32 %%r13, %%r8, 0;\n"
    "red.shared::cluster.add.u32 [%%r13+4], %%r5;\nbarrier.cluster.arrive; barrier.cluster.wait;\n"
    "ld.shared::cluster.u32 %%r14, [%%r13+4];\n"
    "%s" /* reads of %clusterid */
    "@%%p0 st.global.v4.u32 [%%d1], {%%r12, %%r14, %%r15, %%r16};\n"
    "@%%p0 st.global.v4.u32 [%%d1+16], {%%r17, %%r18, %%r6, %%r0};\n"
    "barrier.cluster.arrive; barrier.cluster.wait;\nret;\n}\n";
static const char *const reads[] = {
    "mov.u32 %r15, %clusterid.x; mov.u32 %r16, %clusterid.y; mov.u32 %r17, %clusterid.z; mov.u32 %r18, "
    "%nclusterid.x;\n",
    "cvt.u16.u32 %h0, %clusterid.x; cvt.u32.u16 %r15, %h0; mov.u16 %h1, %ctaid.x; cvt.u32.u16 %r16, %h1; "
    "mov.u32 "
    "%r17, "
    "%cluster_ctaid.x; mov.u32 %r18, %cluster_nctaid.y;\n",
    "mov.u32 %r15, 0; mov.u32 %r16, 1; mov.u32 %r17, 2; mov.u32 %r18, 3;\n",
};

enum { WORDS = 8 };

typedef struct clusters_case {
  uint32_t cluster[3], grid[3];
  char plan[160];
  bool known;
  const char *read;
} clusters_case;

static hd_status run(const clusters_case *c, const char *plan, hd_dispatch_kind how, uint64_t seed,
                     uint32_t *out, hd_buf *printed, hd_diag *d) {
  char source[4096];
  hd_arena arena;
  hd_ptx_module *m;
  hd_plan p;
  hd_recipe recipe = {0};
  hd_emu *e = NULL;
  hd_emu_program *program = NULL;
  uint64_t address, n = gen_product(c->grid);
  const hd_emu_options eo = {.checks = HD_CHECK_ALL, .threads = 1, .memory = 1 << 24, .n_sms = 5};
  hd_rewrite_options o = {.grid = {.known = c->known, .n_sms = 5}};
  memcpy(o.grid.g, c->grid, sizeof o.grid.g);
  snprintf(source, sizeof source, text, c->cluster[0], c->cluster[1], c->cluster[2], c->read);
  hd_arena_init(&arena);
  hd_status st = hd_plan_parse(plan, &p, d);
  if (st == HD_OK) st = hd_ptx_parse(source, strlen(source), "k", &arena, &m, d);
  if (st == HD_OK) st = hd_rewrite(m, 0, &p, &o, &recipe, d);
  if (st == HD_OK) st = hd_ptx_print(m, printed);
  if (st == HD_OK) st = hd_ptx_parse(printed->data, printed->len, "printed", &arena, &m, d);
  if (st == HD_OK) st = hd_emu_create(&eo, &e, d);
  if (st == HD_OK) st = hd_emu_load(e, m, &program, d);
  if (st == HD_OK) st = hd_emu_alloc(e, 4 * WORDS * n, &address, d);
  if (st == HD_OK) {
    hd_emu_launch_params l = {
        .kernel = "k", .block = {40, 1, 1}, .args = &address, .args_bytes = sizeof address};
    const hd_dispatch dispatch = {.kind = how, .seed = seed, .resident = 1 + (uint32_t)seed % 3};
    memcpy(l.grid, c->grid, sizeof l.grid);
    st = hd_emu_launch(program, &l, &dispatch, NULL, NULL, d);
  }
  if (st == HD_OK) st = hd_emu_read(e, address, out, 4 * WORDS * n, d);
  if (program) hd_emu_unload(program);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
  return st;
}

static uint64_t draw(uint64_t *x, uint64_t n) {
  *x ^= *x >> 12, *x ^= *x << 25, *x ^= *x >> 27;
  return (*x * 0x2545f4914f6cdd1du >> 33) % n;
}

static void draw_case(uint64_t *x, clusters_case *c) {
  static const char *const orders[] = {"col",      "reverse",  "hilbert",   "band:2",     "band:3",
                                       "tile:2x2", "tile:3x1", "zigzag:3",  "zigzag:2x3", "stride:3x2",
                                       "band:1",   "tile:1x4", "tile:2x2x5"};
  static const uint32_t shapes[][3] = {{2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {2, 2, 1},
                                       {4, 1, 1}, {1, 4, 2}, {1, 1, 1}, {8, 1, 1}};
  memcpy(c->cluster, shapes[draw(x, 8)], sizeof c->cluster);
  for (unsigned k = 0; k < 3; k++)
    c->grid[k] = c->cluster[k] * (uint32_t)(1 + draw(x, k == 0 ? 9 : k == 1 ? 5 : 2));
  c->known = draw(x, 2);
  c->read = reads[draw(x, 3)];
  size_t n = (size_t)snprintf(c->plan, sizeof c->plan, "order=%s", orders[draw(x, 13)]);
  if (draw(x, 3)) return;
  n += (size_t)snprintf(c->plan + n, sizeof c->plan - n, ",shape=%ux%u", 1 + (unsigned)draw(x, 9),
                        1 + (unsigned)draw(x, 6));
  if (draw(x, 2)) snprintf(c->plan + n, sizeof c->plan - n, ":%s", orders[draw(x, 13)]);
}

static void drawn_orders_of_clusters_compute_the_same(void **state) {
  enum { CASES = 400, MOST = 64 * 512 };
  static uint32_t want[MOST], got[MOST];
  unsigned rewritten = 0, read = 0;
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    uint64_t x = seed * 0x9e3779b97f4a7c15u;
    clusters_case c = {0};
    hd_diag d = {0};
    hd_buf before = {0}, after = {0};
    draw_case(&x, &c);
    const uint64_t n = gen_product(c.grid);
    assert_true(n * WORDS <= MOST);
    if (run(&c, "order=row", HD_DISPATCH_ROUND_ROBIN, seed, want, &before, &d) != HD_OK)
      fail_msg("%s", d.message);
    const hd_status st =
        run(&c, c.plan, (hd_dispatch_kind)draw(&x, HD_DISPATCH_COUNT), seed, got, &after, &d);
    if (st != HD_OK || memcmp(want, got, n * WORDS * 4) != 0)
      fail_msg("seed %" PRIu64 ": %s, clusters of %ux%ux%u, grid %ux%ux%u%s: %s\n%s", seed, c.plan,
               c.cluster[0], c.cluster[1], c.cluster[2], c.grid[0], c.grid[1], c.grid[2],
               c.known ? "" : ", any", d.message, after.data);
    rewritten += before.data && after.data && strcmp(before.data, after.data) != 0;
    read += after.data && strstr(after.data, "%clusterid");
    hd_buf_free(&before);
    hd_buf_free(&after);
  }
  assert_true(rewritten > CASES * 2 / 3);
  assert_true(read > CASES / 2);
}

static void refused(const char *plan, const char *why) {
  static uint32_t out[WORDS * 8];
  clusters_case c = {.cluster = {2, 1, 1}, .grid = {4, 2, 1}, .known = true, .read = reads[0]};
  hd_buf printed = {0};
  hd_diag d = {0};
  const hd_status st = run(&c, plan, HD_DISPATCH_ROUND_ROBIN, 1, out, &printed, &d);
  if (st != HD_ERR_REFUSED || !strstr(d.message, why)) fail_msg("%s: status %d: %s", plan, st, d.message);
  hd_buf_free(&printed);
}

static void levers_that_part_a_cluster_are_refused(void **state) {
  refused("bind=redirect", "whose CTAs would be bound separately");
  refused("bind=claim", "whose CTAs would be bound separately");
  refused("order=col,bind=agents:2", "whose CTAs would be bound separately");
  refused("threads=col", "whose threads work together");
  refused("threads=cta:reverse", "whose threads work together");
  refused("order=col,prefetch=l2:1", "whose next task is not known");
}

static void a_grid_of_other_clusters_is_refused(void **state) {
  static uint32_t out[WORDS * 8];
  clusters_case c = {.cluster = {2, 1, 1}, .grid = {3, 2, 1}, .known = true, .read = reads[0]};
  hd_buf printed = {0};
  hd_diag d = {0};
  assert_int_equal(run(&c, "order=col", HD_DISPATCH_ROUND_ROBIN, 1, out, &printed, &d), HD_ERR_USAGE);
  assert_non_null(strstr(d.message, "has no clusters of 2x1x1"));
  hd_buf_free(&printed);
}

/* ptxas's messages for a product in clusters by wgmma, under a plan. */
static void assemble(const char *plan, bool known, char *said, size_t cap) {
  char ptx[] = "/tmp/heddle-clusters-XXXXXX", command[160];
  hd_arena arena;
  hd_ptx_module *m;
  hd_plan p;
  hd_recipe recipe = {0};
  hd_buf rewritten = {0};
  hd_diag d = {0};
  const hd_rewrite_options o = {.grid = {.g = {16, 32, 1}, .known = known}};
  static char source[1 << 17];
  FILE *f = fopen(SOURCE_DIR "/kernels/gemm-bf16-cluster/kernel.ptx", "r");
  assert_non_null(f);
  const size_t length = fread(source, 1, sizeof source, f);
  fclose(f);
  hd_arena_init(&arena);
  assert_int_equal(hd_plan_parse(plan, &p, &d), HD_OK);
  hd_status st = hd_ptx_parse(source, length, "kernel.ptx", &arena, &m, &d);
  if (st == HD_OK) st = hd_rewrite(m, 0, &p, &o, &recipe, &d);
  if (st == HD_OK) st = hd_ptx_print(m, &rewritten);
  if (st != HD_OK) fail_msg("%s: %s", plan, d.message);
  const int fd = mkstemp(ptx);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, rewritten.data, rewritten.len), (ssize_t)rewritten.len);
  close(fd);
  snprintf(command, sizeof command, "ptxas -arch=sm_90a %s -o /dev/null 2>&1", ptx);
  f = popen(command, "r");
  assert_non_null(f);
  said[fread(said, 1, cap - 1, f)] = 0;
  assert_int_equal(pclose(f), 0);
  unlink(ptx);
  hd_buf_free(&rewritten);
  hd_arena_free(&arena);
}

static void ptxas_serializes_no_products(void **state) {
  static const char *const plans[] = {"baseline", "order=col", "order=band:4", "order=hilbert"};
  if (system("ptxas --version >/dev/null 2>&1") != 0) skip();
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
    for (int known = 0; known < 2; known++) {
      char said[4096];
      assemble(plans[i], known, said, sizeof said);
      if (strstr(said, "serialized")) fail_msg("%s: %s", plans[i], said);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("drawn orders of clusters compute the same", drawn_orders_of_clusters_compute_the_same),
      BEHAVIOUR("levers that part a cluster are refused", levers_that_part_a_cluster_are_refused),
      BEHAVIOUR("a grid of other clusters is refused", a_grid_of_other_clusters_is_refused),
      BEHAVIOUR("ptxas serializes no products in clusters", ptxas_serializes_no_products),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
