/* Clusters of CTAs: their registers, their barrier, each other's shared memory. */
#include "async_run.h"

/* The kernels' body begins on line ASYNC_LINE. */
typedef struct shape {
  uint32_t cluster[3], grid[3];
} shape;

static const shape shapes[] = {
    {{2, 1, 1}, {6, 2, 1}}, {{1, 2, 1}, {3, 4, 2}}, {{1, 1, 2}, {2, 3, 4}},   {{2, 2, 1}, {4, 4, 1}},
    {{4, 1, 2}, {8, 1, 2}}, {{8, 1, 1}, {8, 3, 1}}, {{16, 1, 1}, {32, 1, 1}}, {{1, 1, 1}, {5, 2, 1}},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes, MOST_CTAS = 64, THREADS = 64 };

static uint32_t ctas_of(const shape *s) { return s->grid[0] * s->grid[1] * s->grid[2]; }
static uint32_t size_of(const shape *s) { return s->cluster[0] * s->cluster[1] * s->cluster[2]; }

static hd_emu_launch_params params_of(const async_machine *x, const shape *s, uint32_t block) {
  hd_emu_launch_params l = async_params(x, block);
  l.dynamic_shared = 4096;
  memcpy(l.grid, s->grid, sizeof l.grid);
  memcpy(l.cluster, s->cluster, sizeof l.cluster);
  return l;
}

/* %r0 is the CTA's number, %r1 its rank, %r2 the cluster's size. */
#define NUMBERS                                                                                              \
  "mov.u32 %r3, %ctaid.z; mov.u32 %r4, %nctaid.y; mov.u32 %r5, %ctaid.y; mad.lo.u32 %r0, %r3, %r4, %r5; "    \
  "mov.u32 %r4, %nctaid.x; mov.u32 %r5, %ctaid.x; mad.lo.u32 %r0, %r0, %r4, %r5; "                           \
  "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank; mov.u32 %r9, smem;\n"
#define MEET "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"

/* Run the body on every shape, under every dispatcher; check(shape, out) looks at the words it wrote. */
static void on_all(const char *body, unsigned words, void (*check)(const shape *s, const uint32_t *out)) {
  static uint32_t in[1024];
  for (uint32_t k = 0; k < 1024; k++) in[k] = 7 * k + 1;
  for (unsigned n = 0; n < N_SHAPES; n++)
    for (unsigned how = 0; how < HD_DISPATCH_COUNT; how++) {
      const hd_dispatch dispatch = {.kind = (hd_dispatch_kind)how, .seed = n, .resident = 1 + how % 3};
      async_machine x;
      async_open(&x, body, HD_CHECK_ALL);
      async_ok(&x, hd_emu_supported(x.p, "k", &x.d));
      async_buffer(&x, &x.args.in, in, sizeof in);
      const uint32_t *out = async_buffer(&x, &x.args.out, NULL, (size_t)4 * MOST_CTAS * words);
      const hd_emu_launch_params l = params_of(&x, &shapes[n], THREADS);
      hd_emu_stats stats;
      async_ok(&x, hd_emu_launch(x.p, &l, &dispatch, NULL, &stats, &x.d));
      assert_int_equal(stats.ctas, ctas_of(&shapes[n]));
      check(&shapes[n], out);
      async_close(&x);
    }
}

/* ---- Registers -------------------------------------------------------------------------------- */

enum { REGISTERS = 14 };
static void check_registers(const shape *s, const uint32_t *out) {
  for (uint32_t c = 0; c < ctas_of(s); c++, out += REGISTERS) {
    const uint32_t id[3] = {c % s->grid[0], c / s->grid[0] % s->grid[1], c / s->grid[0] / s->grid[1]};
    for (unsigned k = 0; k < 3; k++) {
      assert_int_equal(out[k], id[k] / s->cluster[k]);
      assert_int_equal(out[3 + k], s->grid[k] / s->cluster[k]);
      assert_int_equal(out[6 + k], id[k] % s->cluster[k]);
      assert_int_equal(out[9 + k], s->cluster[k]);
    }
    assert_int_equal(out[12], out[6] + s->cluster[0] * (out[7] + s->cluster[1] * out[8]));
    assert_int_equal(out[13], size_of(s));
  }
}

static void registers_tell_the_place_in_cluster_and_grid(void **state) {
  hd_buf text = {0};
  static const char *const names[] = {"clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"};
  hd_buf_puts(&text, NUMBERS "mad.wide.u32 %d0, %r0, 56, %out;\n");
  for (unsigned k = 0; k < 12; k++)
    hd_buf_printf(&text, "mov.u32 %%r10, %%%s.%c; st.global.u32 [%%d0+%u], %%r10;\n", names[k / 3],
                  "xyz"[k % 3], 4 * k);
  hd_buf_puts(&text, "st.global.u32 [%d0+48], %r1; st.global.u32 [%d0+52], %r2;");
  on_all(text.data, REGISTERS, check_registers);
  hd_buf_free(&text);
}

/* ---- Shared memory ------------------------------------------------------------------------------ */

/* Whose number is written: that of the CTA one rank further, found by each thread. */
static void check_neighbours(const shape *s, const uint32_t *out) {
  uint32_t number[MOST_CTAS][16] = {{0}};
  for (unsigned pass = 0; pass < 2; pass++)
    for (uint32_t c = 0; c < ctas_of(s); c++) {
      const uint32_t id[3] = {c % s->grid[0], c / s->grid[0] % s->grid[1], c / s->grid[0] / s->grid[1]};
      uint32_t cluster = 0, rank = 0;
      for (unsigned k = 3; k-- > 0;) {
        cluster = cluster * (s->grid[k] / s->cluster[k]) + id[k] / s->cluster[k];
        rank = rank * s->cluster[k] + id[k] % s->cluster[k];
      }
      if (!pass) {
        number[cluster][rank] = c;
        continue;
      }
      const uint32_t next = number[cluster][(rank + 1) % size_of(s)];
      for (uint32_t t = 0; t < THREADS; t++) assert_int_equal(out[c * THREADS + t], 1000 * next + t);
    }
}

static void ctas_read_and_write_each_others_shared_memory(void **state) {
  static const char *const bodies[] = {
      /* read there, by shared::cluster and by generic addresses */
      NUMBERS "mad.lo.u32 %r10, %r0, 1000, %t; shl.b32 %r11, %t, 2; add.u32 %r12, %r9, %r11;\n"
              "st.shared.u32 [%r12], %r10;\n" MEET
              "add.u32 %r13, %r1, 1; rem.u32 %r13, %r13, %r2; mapa.shared::cluster.u32 %r14, %r12, %r13;\n"
              "ld.shared::cluster.u32 %r15, [%r14];\n" MEET
              "mad.lo.u32 %r16, %r0, 64, %t; mad.wide.u32 %d0, %r16, 4, %out; st.global.u32 [%d0], %r15;",
      NUMBERS "mad.lo.u32 %r10, %r0, 1000, %t; shl.b32 %r11, %t, 2; add.u32 %r12, %r9, %r11;\n"
              "st.shared.u32 [%r12], %r10; cvt.u64.u32 %d1, %r12; cvta.shared.u64 %d1, %d1;\n" MEET
              "add.u32 %r13, %r1, 1; rem.u32 %r13, %r13, %r2; mapa.u64 %d2, %d1, %r13; "
              "isspacep.shared::cluster %p7, %d2;\n"
              "mov.u32 %r15, 0; @%p7 ld.u32 %r15, [%d2];\n" MEET
              "mad.lo.u32 %r16, %r0, 64, %t; mad.wide.u32 %d0, %r16, 4, %out; st.global.u32 [%d0], %r15;",
      /* written there, from behind; half of the lanes name their own CTA without a rank */
      NUMBERS
      "mad.lo.u32 %r10, %r0, 1000, %t; shl.b32 %r11, %t, 2; add.u32 %r12, %r9, %r11;\n" MEET
      "add.u32 %r13, %r1, %r2; sub.u32 %r13, %r13, 1; rem.u32 %r13, %r13, %r2;\n"
      "mapa.shared::cluster.u32 %r14, %r12, %r13; setp.lt.u32 %p1, %t, 16;\n"
      "add.u32 %r17, %r12, 512; selp.u32 %r18, %r14, %r17, %p1; st.shared::cluster.u32 [%r18], %r10;\n"
      "@!%p1 st.shared::cluster.u32 [%r14], %r10;\n" MEET "ld.shared::cta.u32 %r15, [%r12];\n"
      "mad.lo.u32 %r16, %r0, 64, %t; mad.wide.u32 %d0, %r16, 4, %out; st.global.u32 [%d0], %r15;",
  };
  for (unsigned k = 0; k < sizeof bodies / sizeof *bodies; k++) on_all(bodies[k], THREADS, check_neighbours);
}

static void check_sums(const shape *s, const uint32_t *out) {
  for (uint32_t c = 0; c < ctas_of(s); c++) assert_int_equal(out[c], THREADS * size_of(s));
}

static const char sums[] = NUMBERS
    "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [%r9], 0;\n" MEET
    "mapa.shared::cluster.u32 %r10, %r9, 0; red.shared::cluster.add.u32 [%r10], 1;\n" MEET
    "ld.shared::cluster.u32 %r11, [%r10]; getctarank.shared::cluster.u32 %r12, %r10;\n"
    "add.u32 %r11, %r11, %r12; mad.wide.u32 %d0, %r0, 4, %out; @%p1 st.global.u32 [%d0], %r11;\n" MEET;

static void atomics_meet_in_one_ctas_memory(void **state) { on_all(sums, 1, check_sums); }

/* ---- mbarriers and bulk copies ------------------------------------------------------------------- */

static void mbarriers_count_arrivals_of_the_whole_cluster(void **state) {
  on_all(
      NUMBERS
      "setp.eq.u32 %p1, %t, 0; shl.b32 %r10, %r2, 6; @%p1 mbarrier.init.shared::cta.b64 [%r9], %r10;\n" MEET
      "mov.u32 %r11, 0;\nnext: mapa.shared::cluster.u32 %r12, %r9, %r11;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12]; add.u32 %r11, %r11, 1;\n"
      "setp.lt.u32 %p2, %r11, %r2; @%p2 bra next;\n"
      "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r9], 0; @!%p3 bra again;\n"
      "mad.wide.u32 %d0, %r0, 4, %out; @%p1 st.global.u32 [%d0], %r10;\n" MEET,
      1, check_sums);
}

static void check_pieces(const shape *s, const uint32_t *out) {
  for (uint32_t c = 0; c < ctas_of(s); c++)
    for (uint32_t k = 0; k < size_of(s); k++) assert_int_equal(out[16 * c + k], 7 * (4 * k) + 1);
}

/* Each rank loads one piece, for all; each waits for all pieces. */
static void a_load_is_multicast_to_the_ctas_of_its_mask(void **state) {
  on_all(
      NUMBERS
      ".reg .b16 %h0; setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared::cta.b64 [%r9], 1; shl.b32 %r10, "
      "%r2, 4;\n"
      "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], %r10;\n" MEET
      "mov.u32 %r11, 1; shl.b32 %r11, %r11, %r2; sub.u32 %r11, %r11, 1; cvt.u16.u32 %h0, %r11;\n"
      "shl.b32 %r12, %r1, 4; add.u32 %r13, %r9, %r12; cvt.u64.u32 %d1, %r12; add.u64 %d1, %d1, %in;\n"
      "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r13+128], "
      "[%d1], 16, [%r9], %h0;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 0; @!%p3 bra again;\n"
      "setp.lt.u32 %p2, %t, %r2; mad.lo.u32 %r14, %t, 16, %r9; @%p2 ld.shared.u32 %r15, [%r14+128];\n"
      "mad.lo.u32 %r16, %r0, 16, %t; mad.wide.u32 %d0, %r16, 4, %out; @%p2 st.global.u32 [%d0], %r15;\n" MEET,
      16, check_pieces);
}

/* The piece goes from each CTA's memory to the next one's. */
static void bulk_copies_reach_the_other_ctas(void **state) {
  on_all(NUMBERS
         "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared::cta.b64 [%r9], 1;\n"
         "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 256; mad.lo.u32 %r10, %r0, 1000, %t;\n"
         "shl.b32 %r11, %t, 2; add.u32 %r12, %r9, %r11; st.shared.u32 [%r12+512], %r10;\n"
         "fence.proxy.async.shared::cta;\n" MEET
         "add.u32 %r13, %r1, %r2; sub.u32 %r13, %r13, 1; rem.u32 %r13, %r13, %r2;\n"
         "mapa.shared::cluster.u32 %r14, %r9, %r13;\n"
         "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r14+1024], "
         "[%r9+512], 256, "
         "[%r14];\n"
         "again: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 0; @!%p3 bra again;\n"
         "ld.shared.u32 %r15, [%r12+1024];\n"
         "mad.lo.u32 %r16, %r0, 64, %t; mad.wide.u32 %d0, %r16, 4, %out; st.global.u32 [%d0], %r15;\n" MEET,
         THREADS, check_neighbours);
}

enum { SENT = 2 * THREADS, SUMS = 5 };
/* Two registers of each thread of the CTA before, and what they were reduced to. */
static void check_sent(const shape *s, const uint32_t *out) {
  const uint32_t n = size_of(s);
  for (uint32_t c = 0; c < ctas_of(s); c++, out += SENT + SUMS) {
    uint32_t least = UINT32_MAX, any = 0, sum = 0;
    const uint32_t from = out[0] / 1000;
    assert_true(n > 1 ? from != c : from == c);
    for (uint32_t t = 0; t < THREADS; t++) {
      const uint32_t value = 1000 * from + t;
      assert_int_equal(out[2 * t], value);
      assert_int_equal(out[2 * t + 1], ~value);
      least = value < least ? value : least;
      any |= value;
      sum += value;
    }
    const uint64_t wide = (uint64_t)THREADS << 32 | sum;
    assert_int_equal(out[SENT], least);
    assert_int_equal(out[SENT + 1], any);
    assert_int_equal(out[SENT + 2], THREADS % 8); /* .inc up to 7 */
    assert_int_equal(out[SENT + 3], (uint32_t)wide);
    assert_int_equal(out[SENT + 4], wide >> 32);
  }
}
#define COMPLETES ".mbarrier::complete_tx::bytes"
#define RED_ASYNC "red.async.relaxed.cluster.shared::cluster" COMPLETES
static void registers_are_sent_to_the_other_ctas(void **state) {
  on_all(NUMBERS
         "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared::cta.b64 [%r9], 1;\n"
         "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 1792;\n" /* 64 * (8 + 4 + 4 + 4 + 8) */
         "@%p1 st.shared.u32 [%r9+16], -1; @%p1 st.shared.u32 [%r9+20], 0; @%p1 st.shared.u32 [%r9+24], 0;\n"
         "@%p1 st.shared.u64 [%r9+32], 0; mad.lo.u32 %r10, %r0, 1000, %t; not.b32 %r11, %r10;\n"
         "mov.u32 %r20, 7; mov.b64 %d1, {%r10, 1}; shl.b32 %r12, %t, 3;\n" MEET
         "add.u32 %r13, %r1, 1; rem.u32 %r13, %r13, %r2; mapa.shared::cluster.u32 %r14, %r9, %r13;\n"
         "add.u32 %r15, %r14, %r12;\n"
         "st.async.weak.shared::cluster" COMPLETES ".v2.b32 [%r15+64], {%r10, %r11}, [%r14];\n" RED_ASYNC
         ".min.u32 [%r14+16], %r10, [%r14];\n" RED_ASYNC ".or.b32 [%r14+20], %r10, [%r14];\n" RED_ASYNC
         ".inc.u32 [%r14+24], %r20, [%r14];\n" RED_ASYNC ".add.u64 [%r14+32], %d1, [%r14];\n"
         "again: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 0; @!%p3 bra again;\n"
         "mul.lo.u32 %r16, %r0, 133; mad.wide.u32 %d0, %r16, 4, %out; add.u32 %r17, %r9, %r12;\n"
         "ld.shared.v2.u32 {%r18, %r19}, [%r17+64]; mad.wide.u32 %d2, %t, 8, %d0;\n"
         "st.global.u32 [%d2], %r18; st.global.u32 [%d2+4], %r19;\n"
         "ld.shared.u32 %r21, [%r9+16]; ld.shared.u32 %r22, [%r9+20]; ld.shared.u32 %r23, [%r9+24];\n"
         "ld.shared.v2.u32 {%r24, %r25}, [%r9+32];\n"
         "@%p1 st.global.u32 [%d0+512], %r21; @%p1 st.global.u32 [%d0+516], %r22;\n"
         "@%p1 st.global.u32 [%d0+520], %r23; @%p1 st.global.u32 [%d0+524], %r24; @%p1 st.global.u32 "
         "[%d0+528], %r25;\n" MEET,
         SENT + SUMS, check_sent);
}

/* ---- Stepping from outside ------------------------------------------------------------------------ */

static uint64_t cluster_of(const shape *s, uint64_t task) {
  const uint64_t id[3] = {task % s->grid[0], task / s->grid[0] % s->grid[1], task / s->grid[0] / s->grid[1]};
  uint64_t cluster = 0;
  for (unsigned k = 3; k-- > 0;) cluster = cluster * (s->grid[k] / s->cluster[k]) + id[k] / s->cluster[k];
  return cluster;
}

/* To the end, with a turn for every warp. */
static void run_cluster(hd_emu_cta *first) {
  uint32_t done = 0, warps = 1;
  for (unsigned turn = 0; done < warps && turn < 1000; turn++) {
    done = warps = 0;
    for (uint32_t r = 0; r < hd_emu_cluster_size(first); r++) {
      hd_emu_cta *c = hd_emu_cluster_cta(first, r);
      for (uint32_t w = 0; w < hd_emu_cta_warps(c); w++, warps++)
        done += hd_emu_warp_step(c, w, 100) == HD_STEP_DONE;
    }
  }
  assert_int_equal(done, warps);
}

static void a_cluster_runs_without_the_others(void **state) {
  for (unsigned n = 0; n < N_SHAPES; n++) {
    const shape *s = &shapes[n];
    const uint64_t ctas = ctas_of(s), chosen = ctas - 1;
    async_machine x;
    hd_emu_grid *g;
    hd_emu_cta *first;
    async_open(&x, sums, HD_CHECK_BOUNDS);
    const uint32_t *out = async_buffer(&x, &x.args.out, NULL, (size_t)4 * MOST_CTAS);
    const hd_emu_launch_params l = params_of(&x, s, THREADS);
    async_ok(&x, hd_emu_grid_begin(x.p, &l, NULL, &g, &x.d));
    assert_int_equal(hd_emu_clusters(g), ctas / size_of(s));
    for (uint64_t c = 0; c < ctas; c++) assert_int_equal(hd_emu_cluster_of(g, c), cluster_of(s, c));
    async_ok(&x, hd_emu_cluster_start(g, cluster_of(s, chosen), 0, 0, &first, &x.d));
    assert_int_equal(hd_emu_cluster_size(first), size_of(s));
    run_cluster(first);
    hd_emu_cta_end(first);
    assert_int_equal(hd_emu_cluster_start(g, ctas / size_of(s), 0, 0, &first, &x.d), HD_ERR_USAGE);
    async_ok(&x, hd_emu_grid_end(g, &x.d));
    for (uint64_t c = 0; c < ctas; c++)
      assert_int_equal(out[c], cluster_of(s, c) == cluster_of(s, chosen) ? THREADS * size_of(s) : 0);
    async_close(&x);
  }
}

/* ---- The barrier ----------------------------------------------------------------------------------- */

static void threads_that_exit_are_not_waited_for(void **state) {
  on_all(NUMBERS
         "mad.wide.u32 %d0, %r0, 4, %out; setp.eq.u32 %p1, %t, 0; shl.b32 %r10, %r2, 6;\n"
         "setp.gt.u32 %p2, %t, 40; @%p2 exit;\nsetp.lt.u32 %p3, %t, 32; setp.eq.u32 %p4, %t, 33;\n"
         "barrier.cluster.arrive.relaxed; @%p4 exit;\nbarrier.cluster.wait;\n"
         "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n@%p1 st.global.u32 [%d0], %r10;",
         1, check_sums);
}

static void fails(const char *body, const shape *s, hd_status want, const char *words) {
  async_machine x;
  async_open(&x, body, HD_CHECK_ALL);
  async_ok(&x, hd_emu_supported(x.p, "k", &x.d));
  static const unsigned char data[4096];
  async_buffer(&x, &x.args.in, data, sizeof data);
  async_buffer(&x, &x.args.out, NULL, sizeof data);
  const hd_emu_launch_params l = params_of(&x, s, THREADS);
  const hd_status st = hd_emu_launch(x.p, &l, NULL, NULL, NULL, &x.d);
  if (st != want) fail_msg("status %d, not %d: %s", st, want, body);
  if (!strstr(x.d.message, words)) fail_msg("no \"%s\" in: %s", words, x.d.message);
  async_close(&x);
}

static void mistakes_are_faults(void **state) {
  static const shape pair = {{2, 1, 1}, {4, 1, 1}};
  static const struct {
    const char *body, *words;
  } cases[] = {
      {"mov.u32 %r9, smem; mapa.shared::cluster.u32 %r10, %r9, 2;", "CTA 2 of a cluster of 2"},
      {"barrier.cluster.arrive; barrier.cluster.arrive;", "has not waited since"},
      {"barrier.cluster.wait;", "where it has not arrived"},
      {NUMBERS
       "mapa.shared::cluster.u32 %r10, %r9, 0; setp.eq.u32 %p1, %r1, 0; @%p1 exit; nanosleep.u32 20;\n"
       "nanosleep.u32 20; st.shared::cluster.u32 [%r10], 1;",
       "rank 0, whose shared memory this is, has exited"},
      {NUMBERS "xor.b32 %r11, %r1, 1; mapa.shared::cluster.u32 %r10, %r9, %r11;\n"
               "st.shared::cluster.u32 [%r10+4096], 1;\n" MEET,
       "shared offset 4096 of the CTA of rank"},
      {NUMBERS "xor.b32 %r11, %r1, 1; mapa.shared::cluster.u32 %r10, %r9, %r11;\n"
               "ld.shared::cluster.u32 %r12, [%r10];\n" MEET,
       "reads memory that was never written"},
      {NUMBERS "xor.b32 %r11, %r1, 1; mapa.shared::cluster.u32 %r10, %r9, %r11;\n"
               "st.shared::cluster.u32 [%r10+2], 1;\n" MEET,
       "misaligned store"},
      {NUMBERS
       "setp.eq.u32 %p1, %r1, 0; @%p1 bra one; barrier.cluster.arrive; barrier.cluster.wait; ret;\n"
       "one: setp.lt.u32 %p2, %t, 32; @%p2 bra two; barrier.cluster.arrive; barrier.cluster.wait; ret;\n"
       "two: bar.sync 1, 96; barrier.cluster.arrive; barrier.cluster.wait;",
       "the barrier of the cluster is never complete"},
      {NUMBERS "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared::cta.b64 [%r9], 2;\n" MEET
               "again: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 0; @!%p3 bra again;",
       "deadlock"},
      {NUMBERS "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared::cta.b64 [%r9], 1;\n" MEET
               "mapa.shared::cluster.u32 %r10, %r9, 1; mapa.shared::cluster.u32 %r11, %r9, 0;\n"
               "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10+64], [%in], 16, "
               "[%r11];\n" MEET,
       "not in the CTA that it copies to"},
  };
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++)
    fails(cases[k].body, &pair, HD_ERR_FAULT, cases[k].words);
}

static void launches_that_do_not_fit_are_refused(void **state) {
  static const struct {
    shape s;
    const char *words;
  } cases[] = {
      {{{2, 1, 1}, {3, 1, 1}}, "a grid of 3 CTAs in x is no multiple of its clusters' 2"},
      {{{4, 4, 2}, {4, 4, 2}}, "at most 16 CTAs"},
      {{{17, 1, 1}, {17, 1, 1}}, "at most 16 CTAs"},
  };
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++)
    fails("mov.u32 %r1, %ctaid.x;", &cases[k].s, HD_ERR_USAGE, cases[k].words);
}

static void directives_and_launches_agree_on_the_cluster(void **state) {
  static const struct {
    const char *directives;
    uint32_t cluster, n; /* asked for; CTAs of a cluster, 0: refused */
    const char *words;
  } cases[] = {
      {"", 0, 1, NULL},
      {"", 4, 4, NULL},
      {".reqnctapercluster 2", 0, 2, NULL},
      {".reqnctapercluster 2, 1, 1", 2, 2, NULL},
      {".reqnctapercluster 2", 4, 0, "has clusters of 2 CTAs in x, not 4"},
      {".explicitcluster", 0, 0, "must be launched in clusters"},
      {".explicitcluster", 2, 2, NULL},
  };
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[512];
    hd_arena arena;
    hd_ptx_module *m;
    hd_emu *e;
    hd_emu_program *p;
    hd_diag d = {0};
    uint64_t out;
    snprintf(
        text, sizeof text,
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n%s\n{\n.reg "
        ".b64 "
        "%%d; .reg .b32 %%r;\nld.param.u64 %%d, [out]; mov.u32 %%r, %%cluster_nctarank; st.global.u32 [%%d], "
        "%%r;\nret;\n}\n",
        cases[k].directives);
    hd_arena_init(&arena);
    assert_int_equal(hd_ptx_parse(text, strlen(text), "t", &arena, &m, &d), HD_OK);
    assert_int_equal(hd_emu_create(NULL, &e, &d), HD_OK);
    assert_int_equal(hd_emu_load(e, m, &p, &d), HD_OK);
    assert_int_equal(hd_emu_alloc(e, 4, &out, &d), HD_OK);
    const hd_emu_launch_params l = {.kernel = "k",
                                    .grid = {8, 1, 1},
                                    .block = {1, 1, 1},
                                    .cluster = {cases[k].cluster, 0, 0},
                                    .args = &out,
                                    .args_bytes = sizeof out};
    const hd_status st = hd_emu_launch(p, &l, NULL, NULL, NULL, &d);
    assert_int_equal(st, cases[k].n ? HD_OK : HD_ERR_USAGE);
    if (cases[k].n) assert_int_equal(*(uint32_t *)hd_emu_ptr(e, out, 4), cases[k].n);
    if (cases[k].words && !strstr(d.message, cases[k].words)) fail_msg("%s", d.message);
    hd_emu_unload(p);
    hd_emu_destroy(e);
    hd_arena_free(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("registers tell the place in cluster and grid", registers_tell_the_place_in_cluster_and_grid),
      BEHAVIOUR("CTAs read and write each other's shared memory",
                ctas_read_and_write_each_others_shared_memory),
      BEHAVIOUR("atomics meet in one CTA's memory", atomics_meet_in_one_ctas_memory),
      BEHAVIOUR("mbarriers count arrivals of the whole cluster",
                mbarriers_count_arrivals_of_the_whole_cluster),
      BEHAVIOUR("a load is multicast to the CTAs of its mask", a_load_is_multicast_to_the_ctas_of_its_mask),
      BEHAVIOUR("bulk copies reach the other CTAs", bulk_copies_reach_the_other_ctas),
      BEHAVIOUR("registers are sent to the other CTAs", registers_are_sent_to_the_other_ctas),
      BEHAVIOUR("threads that exit are not waited for", threads_that_exit_are_not_waited_for),
      BEHAVIOUR("a cluster runs without the others", a_cluster_runs_without_the_others),
      BEHAVIOUR("mistakes are faults", mistakes_are_faults),
      BEHAVIOUR("launches that do not fit are refused", launches_that_do_not_fit_are_refused),
      BEHAVIOUR("directives and launches agree on the cluster", directives_and_launches_agree_on_the_cluster),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
