/* Launches: refusals, special registers, host threads. */
#include "kit.h"

enum { TID = 30, TID_Y, TID_Z, CTAID, CTAID_Y, CTAID_Z, SMID, WARPID, R = 40, P = 56 };
static struct emu_sreg sregs[] = {
    {HD_SR_TID, 0, TID},       {HD_SR_TID, 1, TID_Y},     {HD_SR_TID, 2, TID_Z}, {HD_SR_CTAID, 0, CTAID},
    {HD_SR_CTAID, 1, CTAID_Y}, {HD_SR_CTAID, 2, CTAID_Z}, {HD_SR_SMID, 0, SMID}, {HD_SR_WARPID, 0, WARPID}};

static void open_kit(kit *k, unsigned threads) {
  kit_open(k, &(hd_emu_options){.memory = 1 << 24, .threads = threads, .n_sms = 6});
  k->codes[0].sregs = sregs;
  k->codes[0].n_sregs = sizeof sregs / sizeof *sregs;
}

static void launches_out_of_limits_are_refused(void **state) {
  kit k;
  open_kit(&k, 1);
  KIT_CODE(&k, 0, EXIT);
  static const struct {
    hd_emu_launch_params l;
    const char *why;
  } cases[] = {
      {{.kernel = "k", .grid = {0, 1, 1}, .block = {1, 1, 1}}, "grid of 0 CTAs in x"},
      {{.kernel = "k", .grid = {1, 65536, 1}, .block = {1, 1, 1}}, "grid of 65536 CTAs in y"},
      {{.kernel = "k", .grid = {0x80000000u, 1, 1}, .block = {1, 1, 1}}, "grid of 2147483648"},
      {{.kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 65}}, "block of 65 threads in z"},
      {{.kernel = "k", .grid = {1, 1, 1}, .block = {1025, 1, 1}}, "block of 1025 threads in x"},
      {{.kernel = "k", .grid = {1, 1, 1}, .block = {64, 17, 1}}, "block of 1088 threads"},
      {{.kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 0}}, "block of 0 threads in z"},
      {{.kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_shared = 227 * 1024 + 1},
       "dynamic shared memory"},
      {{.kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = "x", .args_bytes = 1},
       "0 bytes of parameters, not 1"},
      {{.kernel = "f", .grid = {1, 1, 1}, .block = {1, 1, 1}}, "no kernel f"},
      {{.kernel = "nothing", .grid = {1, 1, 1}, .block = {1, 1, 1}}, "no kernel nothing"},
  };
  for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++) {
    assert_int_equal(hd_emu_launch(&k.p, &cases[n].l, NULL, NULL, NULL, &k.d), HD_ERR_USAGE);
    CHECK_MESSAGE(&k.d, cases[n].why);
  }
  hd_ptx_dir dirs[] = {{HD_M_MAXNTID, 2, {16, 4}, 0}};
  k.m.dirs = dirs;
  k.m.n_dirs = k.funcs[0].n_dirs = 1;
  CHECK_OK(kit_launch(&k, 1, 64), &k.d);
  assert_int_equal(kit_launch(&k, 1, 65), HD_ERR_USAGE);
  CHECK_MESSAGE(&k.d, "at most 64 threads");
  dirs[0] = (hd_ptx_dir){HD_M_REQNTID, 1, {32}, 0};
  CHECK_OK(kit_launch(&k, 1, 32), &k.d);
  assert_int_equal(kit_launch(&k, 1, 31), HD_ERR_USAGE);
  CHECK_MESSAGE(&k.d, "requires a block of 32 threads in x");
  dirs[0] = (hd_ptx_dir){HD_M_REQNCTAPERCLUSTER, 3, {1, 2, 1}, 0};
  assert_int_equal(kit_launch(&k, 1, 32), HD_ERR_USAGE);
  CHECK_MESSAGE(&k.d, "no multiple of its clusters' 2");
  k.m.n_dirs = k.funcs[0].n_dirs = 0;
  k.codes[0].unsupported = (hd_diag){.status = HD_ERR_UNSUPPORTED, .message = "tcgen05 is not emulated"};
  assert_int_equal(kit_launch(&k, 1, 32), HD_ERR_UNSUPPORTED);
  CHECK_MESSAGE(&k.d, "tcgen05");
  assert_int_equal(hd_emu_supported(&k.p, "k", &k.d), HD_ERR_UNSUPPORTED);
  kit_close(&k);
}

/* Every thread of a grid stores a number made of its coordinates, once. */
static void every_thread_knows_its_place(void **state) {
  kit k;
  open_kit(&k, 1);
  KIT_CODE(&k,
           0, /* ((cz * 2 + cy) * 3 + cx) * 60 + (tz * 5 + ty) * 4 + tx, in a grid 3 2 2 of blocks 4 5 3 */
           OP3(h_mul, R, CTAID_Z, 2), OP3(h_add, R, R, CTAID_Y), OP3(h_mul, R, R, 3), OP3(h_add, R, R, CTAID),
           OP3(h_mul, R, R, 3), OP3(h_add, R, R, TID_Z), OP3(h_mul, R, R, 5), OP3(h_add, R, R, TID_Y),
           OP3(h_mul, R, R, 4), OP3(h_add, R, R, TID), ATOM(h_atom_add, R + 1, IMM_A, R, 1),
           ST(IMM_B, R, WARPID), EXIT);
  hd_emu_launch_params l = {.kernel = NULL, .grid = {3, 2, 2}, .block = {4, 5, 3}};
  CHECK_OK(hd_emu_launch(&k.p, &l, NULL, NULL, NULL, &k.d), &k.d);
  const uint32_t *b = hd_emu_ptr(k.e, k.b, 4096);
  for (uint32_t n = 0; n < 720; n++) {
    assert_int_equal(kit_a(&k)[n], 1);
    assert_int_equal(b[n], n % 60 / 32);
  }
  assert_int_equal(kit_a(&k)[720], 0);
  kit_close(&k);
}

static void the_largest_grid_reaches_its_last_cta(void **state) {
  kit k;
  open_kit(&k, 1);
  KIT_CODE(&k, 0, ST(IMM_A, 0, CTAID), ST(IMM_A, 1, CTAID_Y), ST(IMM_A, 2, CTAID_Z), EXIT);
  hd_emu_launch_params l = {.kernel = "k", .grid = {0x7fffffff, 65535, 65535}, .block = {1, 1, 1}};
  hd_emu_grid *g;
  hd_emu_cta *c;
  CHECK_OK(hd_emu_grid_begin(&k.p, &l, NULL, &g, &k.d), &k.d);
  const uint64_t n = UINT64_C(0x7fffffff) * 65535 * 65535;
  assert_int_equal(hd_emu_cta_start(g, n, 0, 0, &c, &k.d), HD_ERR_USAGE);
  CHECK_OK(hd_emu_cta_start(g, n - 1, 0, 0, &c, &k.d), &k.d);
  assert_int_equal(hd_emu_cta_run(c, 100), HD_STEP_DONE);
  hd_emu_cta_end(c);
  CHECK_OK(hd_emu_grid_end(g, &k.d), &k.d);
  assert_int_equal(kit_a(&k)[0], 0x7ffffffe);
  assert_int_equal(kit_a(&k)[1], 65534);
  assert_int_equal(kit_a(&k)[2], 65534);
  kit_close(&k);
}

/* CTA n runs n % 7 rounds of a loop with a barrier and adds to its own and a common counter. */
static void results_do_not_depend_on_host_threads(void **state) {
  enum { N = 1000 };
  static const emu_bar bar = {.kind = EMU_BAR_SYNC, .id_slot = 0};
  static uint32_t want[N + 1], sms[N];
  hd_emu_stats want_stats = {0};
  for (unsigned kind = 0; kind < HD_DISPATCH_COUNT; kind++)
    for (unsigned threads = 1; threads <= 4; threads++) {
      kit k;
      open_kit(&k, threads);
      KIT_CODE(&k, 0, OP3(h_and, R, CTAID, 7), BAR(&bar), OP3(h_add, R + 1, R + 1, R), OP3(h_sub, R, R, 1),
               OP3(h_lt, P, R, 8), BRA_IF(P, 1), OP3(h_eq, P, TID, 0),
               {.control = EMU_EXIT, .guarded = 2, .guard = P}, OP3(h_add, R + 2, CTAID, 1),
               ST(IMM_A, R + 2, R + 1), ATOM(h_atom_add, R, IMM_A, 0, R + 1), ST(IMM_B, CTAID, SMID), EXIT);
      hd_emu_stats s;
      CHECK_OK(kit_launch_with(&k, N, 64, &(hd_dispatch){(hd_dispatch_kind)kind, 77, 3}, NULL, &s), &k.d);
      s.seconds = 0;
      if (kind == 0 && threads == 1) {
        memcpy(want, kit_a(&k), sizeof want);
        want_stats = s;
        for (uint32_t n = 0; n < N; n++) assert_int_equal(want[n + 1], (n & 7) * ((n & 7) + 1) / 2);
      }
      assert_memory_equal(want, kit_a(&k), sizeof want);
      assert_memory_equal(&s, &want_stats, sizeof s);
      if (threads == 1) memcpy(sms, hd_emu_ptr(k.e, k.b, sizeof sms), sizeof sms);
      assert_memory_equal(sms, hd_emu_ptr(k.e, k.b, sizeof sms), sizeof sms);
      assert_int_equal(s.ctas, N);
      assert_int_equal(s.warps, 2 * N);
      kit_close(&k);
    }
}

/* The result of an order-sensitive kernel depends on the dispatcher and its seed alone. */
static void order_sensitive_results_repeat(void **state) {
  enum { N = 200 };
  static uint32_t want[HD_DISPATCH_COUNT][N];
  unsigned different = 0;
  for (unsigned run = 0; run < 3; run++)
    for (unsigned kind = 0; kind < HD_DISPATCH_COUNT; kind++) {
      kit k;
      open_kit(&k, run + 1);
      k.traits[0].order_sensitive = true;
      KIT_CODE(&k, 0, OP3(h_mov, R, 0, 0), OP3(h_add, R, R, 1), OP3(h_and, R + 1, CTAID, 15),
               OP3(h_lt, P, R, R + 1), BRA_IF(P, 1), OP3(h_eq, P, TID, 0),
               {.control = EMU_EXIT, .guarded = 2, .guard = P}, ATOM(h_atom_add, R, IMM_A, 0, 1),
               ST(IMM_B, CTAID, R), EXIT);
      CHECK_OK(kit_launch_with(&k, N, 96, &(hd_dispatch){(hd_dispatch_kind)kind, 5, 2}, NULL, NULL), &k.d);
      const uint32_t *b = hd_emu_ptr(k.e, k.b, sizeof want[0]);
      if (run == 0) memcpy(want[kind], b, sizeof want[0]);
      assert_memory_equal(want[kind], b, sizeof want[0]);
      different += memcmp(want[0], want[kind], sizeof want[0]) != 0;
      char seen[N] = {0};
      for (uint32_t n = 0; n < N; n++) assert_int_equal(seen[b[n]]++, 0);
      kit_close(&k);
    }
  assert_true(different >= 3);
}

/* CTAs of two launches, stepped in turn from outside. */
static void two_grids_run_side_by_side(void **state) {
  kit k;
  open_kit(&k, 1);
  KIT_CODE(&k, 0, OP3(h_add, R, R, 1), OP3(h_lt, P, R, 19), BRA_IF(P, 0), ATOM(h_atom_add, R, IMM_A, TID, 1),
           EXIT);
  hd_emu_launch_params l = {.kernel = "k", .grid = {4, 1, 1}, .block = {50, 1, 1}};
  hd_emu_grid *g[2];
  hd_emu_cta *c[2][4];
  for (int n = 0; n < 2; n++) {
    CHECK_OK(hd_emu_grid_begin(&k.p, &l, NULL, &g[n], &k.d), &k.d);
    for (int t = 0; t < 4; t++) CHECK_OK(hd_emu_cta_start(g[n], t, n, 0, &c[n][t], &k.d), &k.d);
  }
  for (unsigned left = 16, step = 0; left; step++) {
    hd_emu_cta *x = c[step & 1][step >> 1 & 3];
    left -= hd_emu_warp_step(x, step >> 3 & 1, 3) == HD_STEP_DONE && step < 1u << 20;
    if (step > 1000) break;
  }
  for (int n = 0; n < 2; n++) {
    for (int t = 0; t < 4; t++) {
      assert_int_equal(hd_emu_cta_run(c[n][t], 1), HD_STEP_DONE);
      hd_emu_cta_end(c[n][t]);
    }
    CHECK_OK(hd_emu_grid_end(g[n], &k.d), &k.d);
  }
  for (int t = 0; t < 50; t++) assert_int_equal(kit_a(&k)[t], 8);
  kit_close(&k);
}

/* A CTA does not see the registers, shared and local memory of an earlier one. */
static void nothing_is_left_over(void **state) {
  kit k;
  open_kit(&k, 1);
  k.codes[0].shared_bytes = 4096;
  k.codes[0].local_bytes = 64;
  KIT_CODE(&k, 0, ST(IMM_A, TID, R),
           {.fn = h_ld, .dst = R + 1, .src = {P + 4, TID}, .mem = {.space = HD_SPACE_SHARED}},
           ST(IMM_B, TID, R + 1), {.fn = h_st, .src = {P + 4, TID, 9}, .mem = {.space = HD_SPACE_SHARED}},
           {.fn = h_ld, .dst = R + 2, .src = {P + 4, 3}, .mem = {.space = HD_SPACE_LOCAL}},
           OP3(h_add, R + 3, TID, 19), ST(IMM_A, R + 3, R + 2),
           {.fn = h_st, .src = {P + 4, 3, 9}, .mem = {.space = HD_SPACE_LOCAL}}, OP3(h_mov, R, 9, 0), EXIT);
  CHECK_OK(kit_launch(&k, 3, 16), &k.d);
  const uint32_t *b = hd_emu_ptr(k.e, k.b, 256);
  for (uint32_t t = 0; t < 16; t++) {
    assert_int_equal(kit_a(&k)[t], 0);
    assert_int_equal(kit_a(&k)[t + 19], 0);
    assert_int_equal(b[t], 0);
  }
  kit_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("launches out of limits are refused with the limit", launches_out_of_limits_are_refused),
      BEHAVIOUR("every thread of a 3D grid knows its place", every_thread_knows_its_place),
      BEHAVIOUR("the largest grid reaches its last CTA", the_largest_grid_reaches_its_last_cta),
      BEHAVIOUR("results, SMs and counts do not depend on the number of host threads",
                results_do_not_depend_on_host_threads),
      BEHAVIOUR("order-sensitive results follow from dispatcher and seed", order_sensitive_results_repeat),
      BEHAVIOUR("CTAs of two launches are stepped in turn from outside", two_grids_run_side_by_side),
      BEHAVIOUR("a CTA sees nothing of what an earlier one left", nothing_is_left_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
