/* Generated kernels under generated plans compute the same as the originals. */
#include "check.h"

#include "rewrite/generated.h"

enum { BYTES = 96 };

/* xorshift64*: the bytes of case `seed`. */
static void fill(uint8_t bytes[BYTES], uint64_t seed) {
  uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;
  for (unsigned i = 0; i < BYTES; i++) {
    x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
    bytes[i] = (uint8_t)((x * 0x2545f4914f6cdd1du) >> 56);
  }
}

/* Returns how many of n cases were rewritten and equal. `plan`: for all; NULL: drawn too. */
static unsigned run_cases_of(void draw(gen_source *, hd_buf *), uint64_t first, unsigned n,
                             const char *plan) {
  unsigned equal = 0;
  for (uint64_t seed = first; seed < first + n; seed++) {
    uint8_t bytes[BYTES];
    hd_buf kernel = {0}, drawn = {0};
    hd_diag d = {0};
    fill(bytes, seed);
    gen_source s = {bytes, bytes + BYTES};
    gen_launch l = gen_draw_launch(&s);
    hd_rewrite_options o = gen_draw_options(&s, &l);
    const hd_dispatch_kind how[2] = {(hd_dispatch_kind)gen_below(&s, HD_DISPATCH_COUNT),
                                     HD_DISPATCH_SHUFFLED};
    if (plan)
      hd_buf_puts(&drawn, plan);
    else
      gen_draw_plan(&s, &drawn);
    draw(&s, &kernel);
    gen_answer a = gen_compare(kernel.data, drawn.data, &l, o, how, &d);
    equal += a == GEN_EQUAL;
    if (a == GEN_WRONG)
      fail_msg("seed %" PRIu64 ", %s, grid %ux%ux%u, block %ux%ux%u: %s\n%s", seed, drawn.data, l.grid[0],
               l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2], d.message, kernel.data);
    hd_buf_free(&kernel);
    hd_buf_free(&drawn);
  }
  return equal;
}

static unsigned run_cases(uint64_t first, unsigned n, const char *plan) {
  return run_cases_of(gen_draw_kernel, first, n, plan);
}

static void drawn_kernels_compute_the_same_under_drawn_plans(void **state) {
  assert_true(run_cases(1, 1500, NULL) > 500);
}

static void renumbered_threads_compute_the_same(void **state) {
  static const char *const plans[] = {"threads=col",
                                      "threads=tile:8x3",
                                      "threads=tile:8x3x20",
                                      "threads=cta:tile:2x3x9",
                                      "threads=zigzag:5x2",
                                      "threads=cta:col",
                                      "threads=cta:reverse",
                                      "threads=cta:tile:4x2",
                                      "order=col,threads=hilbert",
                                      "bind=claim,threads=stride:3x2"};
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
    if (run_cases(10000 + 100 * i, 60, plans[i]) < 10) fail_msg("%s: nearly all are refused", plans[i]);
}

static void prefetching_kernels_compute_the_same(void **state) {
  static const char *const plans[] = {"prefetch=l1:1",
                                      "prefetch=l2:7",
                                      "order=tile:3x2,prefetch=l2:2",
                                      "bind=redirect,prefetch=l1:1",
                                      "bind=claim,prefetch=l2:1",
                                      "bind=agents:1,prefetch=l1:2",
                                      "bypass=l1:1,prefetch=l2:1"};
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
    if (run_cases(20000 + 100 * i, 60, plans[i]) < 10) fail_msg("%s: nearly all are refused", plans[i]);
}

/* Whole warps part in these kernels; with other threads in each of them, threads of a warp do. */
static void renumbered_threads_meet_where_their_warps_did(void **state) {
  static const char *const plans[] = {"threads=cta:stride:3x1", "threads=cta:col", "threads=cta:hilbert",
                                      "bind=claim,threads=cta:zigzag:5x3",
                                      "bind=agents,threads=cta:stride:7x2"};
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    unsigned n = run_cases_of(gen_draw_parting_kernel, 40000 + 1000 * i, 250, plans[i]);
    if (n < 25) fail_msg("%s: only %u of 250 are not refused", plans[i], n);
  }
}

/* Ended warps attend the barriers of the others; where lanes of a warp part, the kernel is refused. */
static void agents_whose_warps_end_before_others_meet_compute_the_same(void **state) {
  static const struct {
    const char *plan;
    unsigned least; /* of 100 kernels that are not refused */
  } cases[] = {{"bind=agents", 60},
               {"bind=agents:1", 60},
               {"bind=agents:2,take=segments:3", 60},
               {"bind=agents,take=strides", 60},
               {"order=tile:3x2,bind=agents,sms=1+3-4", 60},
               {"bind=agents,bypass=l1:1,form=replicate", 30},
               {"bind=agents:1,threads=cta:reverse", 10}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned n = run_cases_of(gen_draw_parting_kernel, 30000 + 1000 * i, 100, cases[i].plan);
    if (n < cases[i].least) fail_msg("%s: only %u of 100 are not refused", cases[i].plan, n);
  }
}

/* A move of a coordinate into 16 bits reads 16 bits; a conversion reads as many as its operand's type has. */
static void coordinates_are_read_in_the_width_of_their_operand(void **state) {
  static const char *const reads[] = {
      "cvt.u16.u32 %h0, %ctaid.x;\n\tcvt.u32.u16 %r17, %h0;",
      "cvt.u64.u32 %rd6, %ctaid.x;\n\tcvt.u32.u64 %r17, %rd6;",
      "mov.u16 %h0, %ctaid.x;\n\tcvt.u32.u16 %r17, %h0;",
      "mov.b16 %h0, %ctaid.y;\n\tcvt.u32.u16 %r17, %h0;",
      "cvt.u16.u32 %h0, %nctaid.x;\n\tcvt.u32.u16 %r17, %h0;",
      "cvt.u16.u32 %h0, %tid.x;\n\tcvt.u32.u16 %r17, %h0;",
  };
  static const char *const plans[] = {"order=col", "bind=agents", "threads=tile:8x2"};
  const gen_launch l = {.grid = {6, 5, 1}, .block = {32, 2, 1}};
  const hd_dispatch_kind how[2] = {HD_DISPATCH_DEMAND, HD_DISPATCH_REVERSE};
  for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
    for (size_t k = 0; k < 6; k++) {
      hd_buf text = {0};
      hd_diag d = {0};
      hd_rewrite_options o = {.grid = {.known = k % 2, .g = {6, 5, 1}, .n_sms = 6}, .block = {32, 2, 1}};
      gen_begin(false, &text);
      hd_buf_printf(&text, "\t%s\n\tadd.u32 %%r1, %%r1, %%r17;\n", reads[i]);
      gen_end(&text);
      if (gen_compare(text.data, plans[k / 2], &l, o, how, &d) != GEN_EQUAL)
        fail_msg("%s, %s: %s", reads[i], plans[k / 2], d.message);
      hd_buf_free(&text);
    }
}

/* Lanes that said yes in a ballot exchange among themselves; the others may end meanwhile. */
static void agents_of_ballots_compute_the_same(void **state) {
  static const char *const plans[] = {"bind=agents", "bind=agents:1,take=segments",
                                      "bind=agents:2,take=strides"};
  static const char *const others[] = {"bra $D;", "ret;"};
  const hd_dispatch_kind how[2] = {HD_DISPATCH_DEMAND, HD_DISPATCH_SHUFFLED};
  for (uint32_t n = 0; n < 24; n++) {
    hd_buf text = {0};
    hd_diag d = {0};
    const gen_launch l = {.grid = {9, 7, 1}, .block = {n % 2 ? 64 : 20, 1, 1}};
    const hd_rewrite_options o = {.grid = {.n_sms = 6}};
    gen_begin(false, &text);
    hd_buf_printf(
        &text,
        "\tand.b32 %%r17, %%r1, 7;\n\tsetp.lt.u32 %%p1, %%r17, %u;\n\tsetp.ge.u32 %%p2, %%r17, %u;\n"
        "\tvote.sync.ballot.b32 %%r18, %%p1, -1;\n\t@%%p2 bra $N;\n\tmov.u32 %%r20, 3;\n$L:\n"
        "\tredux.sync.add.u32 %%r19, %%r1, %%r18;\n\tmad.lo.u32 %%r1, %%r1, 3, %%r19;\n"
        "\tadd.u32 %%r20, %%r20, -1;\n\tsetp.ne.u32 %%p3, %%r20, 0;\n\t@%%p3 bra $L;\n\tbra $D;\n$N:\n"
        "\tst.global.u32 [%%rd3], %%r2;\n\t%s\n$D:\n",
        n % 9, n % 9, others[n / 2 % 2]);
    gen_end(&text);
    const char *plan = plans[n % 3];
    if (gen_compare(text.data, plan, &l, o, how, &d) != GEN_EQUAL) fail_msg("%u, %s: %s", n, plan, d.message);
    hd_buf_free(&text);
  }
}

/* A task must not see the registers that the task before it left. */
static void registers_start_at_zero_in_every_task(void **state) {
  static const char *const plans[] = {
      "bind=agents",
      "bind=agents:1,take=segments",
      "bind=agents,take=strides",
      "bind=agents,threads=cta:col",
      "bind=agents,threads=tile:8x2",
      "bind=agents:1,threads=cta:hilbert,bypass=l1:1",
      "bind=agents,bypass=l1:1,form=replicate",
      "bypass=l1:1+l2:2",
      "bypass=l1:2+l2:1,form=replicate",
  };
  const gen_launch l = {.grid = {9, 7, 1}, .block = {32, 2, 1}};
  const hd_dispatch_kind how[2] = {HD_DISPATCH_DEMAND, HD_DISPATCH_SHUFFLED};
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
    for (unsigned known = 0; known < 2; known++) {
      hd_buf text = {0};
      hd_diag d = {0};
      hd_rewrite_options o = {.grid = {.known = known, .g = {9, 7, 1}, .n_sms = 6}, .block = {32, 2, 1}};
      gen_begin(false, &text);
      hd_buf_puts(&text, "\tadd.u32 %r1, %r1, %r15;\n\tld.global.u32 %r15, [%rd0+64];\n");
      gen_end(&text);
      if (gen_compare(text.data, plans[i], &l, o, how, &d) != GEN_EQUAL)
        fail_msg("%s: %s", plans[i], d.message);
      hd_buf_free(&text);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drawn_kernels_compute_the_same_under_drawn_plans),
      cmocka_unit_test(renumbered_threads_compute_the_same),
      cmocka_unit_test(renumbered_threads_meet_where_their_warps_did),
      cmocka_unit_test(prefetching_kernels_compute_the_same),
      cmocka_unit_test(agents_whose_warps_end_before_others_meet_compute_the_same),
      cmocka_unit_test(agents_of_ballots_compute_the_same),
      cmocka_unit_test(registers_start_at_zero_in_every_task),
      cmocka_unit_test(coordinates_are_read_in_the_width_of_their_operand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
