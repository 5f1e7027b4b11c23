/* Cluster launch control: CTAs that take over what has not been started yet. */
#include "async_run.h"

typedef struct shape {
  uint32_t cluster[3], grid[3];
} shape;

static const shape shapes[] = {
    {{1, 1, 1}, {13, 1, 1}}, {{1, 1, 1}, {3, 4, 2}}, {{2, 1, 1}, {6, 2, 1}},
    {{1, 2, 2}, {3, 4, 2}},  {{1, 1, 1}, {1, 1, 1}}, {{4, 1, 1}, {16, 1, 2}},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes, MOST_CTAS = 64, THREADS = 64 };

static uint32_t ctas_of(const shape *s) { return s->grid[0] * s->grid[1] * s->grid[2]; }
static uint32_t size_of(const shape *s) { return s->cluster[0] * s->cluster[1] * s->cluster[2]; }

#define MEET "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"

/* Each CTA adds 1 to the word of its task, then asks for another: one thread of the cluster for all its CTAs,
 * whose answers lie behind their mbarriers. %r5 to %r7 are the task's coordinates. */
#define BODY(PLACE)                                                                                          \
  ".reg .b128 %q; mov.u32 %r9, smem; mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ctaid.y; mov.u32 %r7, %ctaid.z;\n" \
  "mov.u32 %r8, 0; setp.eq.u32 %p1, %t, 0; mov.u32 %r10, %cluster_ctarank; setp.eq.u32 %p2, %r10, 0;\n"      \
  "and.pred %p2, %p1, %p2;\n"                                                                                \
  "@%p1 mbarrier.init.shared.b64 [%r9], 1;\n" MEET                                                           \
  "NEXT: mov.u32 %r3, %nctaid.y; mad.lo.u32 %r0, %r7, %r3, %r6; mov.u32 %r3, %nctaid.x;\n"                   \
  "mad.lo.u32 %r0, %r0, %r3, %r5; mad.wide.u32 %d0, %r0, 4, %out;\n"                                         \
  "@%p1 red.global.add.u32 [%d0], 1;\n"                                                                      \
  "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 16;\n" MEET                                           \
  "@%p2 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster"   \
  "::all.b128 [%r9+16], [%r9];\n"                                                                            \
  "WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r9], %r8; @!%p3 bra WAIT;\n"                             \
  "xor.b32 %r8, %r8, 1; ld.shared.b128 %q, [%r9+16];\n"                                                      \
  "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p4, %q;\n" MEET "@!%p4 bra DONE;\n" PLACE        \
  "mov.u32 %r3, %cluster_ctaid.x; add.u32 %r5, %r5, %r3; mov.u32 %r3, %cluster_ctaid.y;\n"                   \
  "add.u32 %r6, %r6, %r3; mov.u32 %r3, %cluster_ctaid.z; add.u32 %r7, %r7, %r3; bra NEXT;\n"                 \
  "DONE: " MEET

#define WHOLE "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r5, %r6, %r7, _}, %q;\n"
#define PARTS                                                                                                \
  "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r5, %q;\n"                                 \
  "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r6, %q;\n"                                 \
  "clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r7, %q;\n"

/* The CTAs that were started; every task must have been done once. */
static uint64_t run(const char *body, const shape *s, hd_dispatch_kind how, uint64_t seed) {
  const hd_dispatch dispatch = {.kind = how, .seed = seed, .resident = 1};
  uint32_t zeros[MOST_CTAS] = {0};
  hd_emu_stats stats;
  async_machine x;
  async_open(&x, body, HD_CHECK_ALL);
  async_ok(&x, hd_emu_supported(x.p, "k", &x.d));
  async_buffer(&x, &x.args.in, zeros, sizeof zeros);
  const uint32_t *out = async_buffer(&x, &x.args.out, zeros, sizeof zeros);
  hd_emu_launch_params l = async_params(&x, THREADS);
  l.dynamic_shared = 64;
  memcpy(l.grid, s->grid, sizeof l.grid);
  memcpy(l.cluster, s->cluster, sizeof l.cluster);
  async_ok(&x, hd_emu_launch(x.p, &l, &dispatch, NULL, &stats, &x.d));
  for (uint32_t k = 0; k < ctas_of(s); k++)
    if (out[k] != 1)
      fail_msg("%ux%ux%u, %s: task %u was done %u times", s->grid[0], s->grid[1], s->grid[2],
               hd_dispatch_name(how), k, out[k]);
  async_close(&x);
  return stats.ctas;
}

static void every_task_is_done_once_whoever_takes_it(void **state) {
  for (unsigned n = 0; n < N_SHAPES; n++)
    for (unsigned how = 0; how < HD_DISPATCH_COUNT; how++) {
      const uint64_t started = run(how % 2 ? BODY(WHOLE) : BODY(PARTS), &shapes[n], (hd_dispatch_kind)how, n);
      assert_in_range(started, size_of(&shapes[n]), ctas_of(&shapes[n]));
      /* The first cluster runs alone, and takes all others over. */
      if (how == HD_DISPATCH_SERIAL) assert_int_equal(started, size_of(&shapes[n]));
    }
}

static void what_was_not_taken_has_no_place(void **state) {
  static const shape one = {{1, 1, 1}, {1, 1, 1}};
  async_machine x;
  async_open(&x,
             ".reg .b128 %q; mov.b64 %d1, 0; mov.b128 %q, {%d1, %d1};\n"
             "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r5, %q;",
             HD_CHECK_ALL);
  hd_emu_launch_params l = async_params(&x, 1);
  memcpy(l.grid, one.grid, sizeof l.grid);
  assert_int_equal(hd_emu_launch(x.p, &l, NULL, NULL, NULL, &x.d), HD_ERR_FAULT);
  assert_non_null(strstr(x.d.message, "which CTA was taken over, and none was"));
  async_close(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every task is done once, whoever takes it", every_task_is_done_once_whoever_takes_it),
      BEHAVIOUR("a request that took nothing over has no place to tell", what_was_not_taken_has_no_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
