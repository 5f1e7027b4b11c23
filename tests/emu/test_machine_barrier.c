/* Barriers of a CTA, with code made by hand. */
#include "kit.h"

enum { TID = 30, CTAID = 31, R = 40, P = 56 };
static struct emu_sreg sregs[] = {{HD_SR_TID, 0, TID}, {HD_SR_CTAID, 0, CTAID}};
KIT_OP(h_warp, x >> 5)
KIT_OP(h_shl5, x << 5)
KIT_OP(h_big, 64 + x)

static void open_kit(kit *k) {
  kit_open(k, &(hd_emu_options){.memory = 1 << 24, .threads = 1, .max_instructions = 10000000});
  k->codes[0].sregs = sregs;
  k->codes[0].n_sregs = 2;
}

static const emu_bar sync0 = {.kind = EMU_BAR_SYNC, .id_slot = 0, .aligned = true};
static const emu_bar sync1 = {.kind = EMU_BAR_SYNC, .id_slot = 1, .aligned = true};
static const emu_bar loose0 = {.kind = EMU_BAR_SYNC, .id_slot = 0};

static void stores_before_a_barrier_are_seen_behind_it(void **state) {
  kit k;
  open_kit(&k);
  /* Ten rounds of: store own, wait, read the next warp's, wait. */
  KIT_CODE(&k, 0, OP3(h_mov, R + 5, 0, 0), OP3(h_add, R, TID, R + 5), ST(IMM_A, TID, R), BAR(&sync0),
           OP3(h_big, R + 1, TID, 0), OP3(h_and, R + 1, R + 1, R + 6), LD(R + 2, IMM_A, R + 1), BAR(&sync0),
           OP3(h_add, R + 3, R + 3, R + 2), OP3(h_add, R + 5, R + 5, 1), OP3(h_lt, P, R + 5, 10),
           BRA_IF(P, 1), ST(IMM_B, TID, R + 3), EXIT);
  /* R + 6 is 0, so all read thread 0's value, which changes from round to round. */
  for (uint32_t block = 32; block <= 1024; block += 224) {
    CHECK_OK(kit_launch(&k, 1, block), &k.d);
    const uint32_t *b = hd_emu_ptr(k.e, k.b, 4096);
    for (uint32_t t = 0; t < block; t++) assert_int_equal(b[t], 45);
  }
  kit_close(&k);
}

static void reductions_count_every_thread(void **state) {
  static const emu_bar_kind kinds[] = {EMU_BAR_POPC, EMU_BAR_AND, EMU_BAR_OR};
  for (unsigned n = 0; n < 3 * 2 * 4; n++) {
    kit k;
    open_kit(&k);
    const uint32_t block = 70, limit = (uint32_t[]){0, 1, 69, 19}[n / 6];
    const bool negate = n % 6 >= 3;
    const emu_bar_kind kind = kinds[n % 3];
    emu_bar red = {
        .kind = kind, .id_slot = 2, .pred_slot = P, .dst_slot = R, .negate = negate, .aligned = true};
    emu_inst insts[] = {OP3(h_lt, P, TID, 5),
                        BAR(&red),
                        {.fn = h_mov, .dst = R + 1, .src = {1}, .guarded = 1, .guard = R},
                        ST(IMM_A, TID, R),
                        ST(IMM_B, TID, R + 1),
                        EXIT};
    for (int l = 0; l < 32; l++) memcpy(k.init + 5 * 128 + l * 4, &limit, 4);
    k.codes[0].insts = insts;
    k.codes[0].n_insts = 6;
    CHECK_OK(kit_launch(&k, 1, block), &k.d);
    const uint32_t yes = negate ? block - limit : limit;
    const uint32_t *a = kit_a(&k), *b = hd_emu_ptr(k.e, k.b, 4096);
    for (uint32_t t = 0; t < block; t++) {
      if (kind == EMU_BAR_POPC)
        assert_int_equal(a[t], yes);
      else
        assert_int_equal(b[t], kind == EMU_BAR_AND ? yes == block : yes != 0);
    }
    kit_close(&k);
  }
}

static void exited_threads_are_not_expected(void **state) {
  kit k;
  open_kit(&k);
  KIT_CODE(&k, 0, OP3(h_lt, P, TID, 5), {.control = EMU_EXIT, .guarded = 1, .guard = P}, BAR(&sync0),
           OP3(h_big, R, 1, 0), OP3(h_lt, P, TID, R), {.control = EMU_EXIT, .guarded = 1, .guard = P},
           BAR(&sync0), ST(IMM_A, TID, 1), EXIT);
  CHECK_OK(kit_launch(&k, 3, 100), &k.d);
  for (uint32_t t = 0; t < 100; t++) assert_int_equal(kit_a(&k)[t], t >= 65);
  kit_close(&k);
}

/* Warp w waits at barrier 1 + w / 2 with its partner only; then all at barrier 0. */
static void counted_barriers_serve_groups_of_warps(void **state) {
  kit k;
  open_kit(&k);
  static const emu_bar pair = {
      .kind = EMU_BAR_SYNC, .id_slot = R + 1, .has_count = true, .count_slot = R + 2};
  KIT_CODE(&k, 0, OP3(h_big, R + 2, 0, 0), OP3(h_big, R, TID, 0), OP3(h_warp, R + 1, R, 0),
           OP3(h_and, R + 1, R + 1, 14), ST(IMM_A, TID, TID), BAR(&pair), BAR(&pair), BAR(&sync0),
           ST(IMM_B, TID, R + 1), EXIT);
  CHECK_OK(kit_launch(&k, 1, 384), &k.d);
  kit_close(&k);
}

/* Warp 0 produces: stores, arrives at barrier 1; the others wait there. */
static void a_producer_arrives_without_waiting(void **state) {
  kit k;
  open_kit(&k);
  static const emu_bar arrive = {.kind = EMU_BAR_ARRIVE, .id_slot = 1, .has_count = true, .count_slot = R};
  static const emu_bar wait = {.kind = EMU_BAR_SYNC, .id_slot = 1, .has_count = true, .count_slot = R};
  KIT_CODE(&k, 0, OP3(h_big, R, 0, 0), OP3(h_warp, R + 1, TID, 0), OP3(h_eq, P, R + 1, 0), BRA_IF(P, 8),
           BAR(&wait), LD(R + 2, IMM_A, 0), ST(IMM_B, TID, R + 2), EXIT, ST(IMM_A, 0, 7), BAR(&arrive),
           ST(IMM_B, TID, 3), EXIT);
  CHECK_OK(kit_launch(&k, 1, 64), &k.d);
  const uint32_t *b = hd_emu_ptr(k.e, k.b, 256);
  for (uint32_t t = 0; t < 64; t++) assert_int_equal(b[t], t < 32 ? 3 : 7);
  kit_close(&k);
}

static void a_diverged_warp_waits_for_itself(void **state) {
  kit k;
  open_kit(&k);
  /* Odd threads come to the same instruction later. */
  KIT_CODE(&k, 0, OP3(h_and, R, TID, 1), OP3(h_eq, P, R, 1), BRA_IF(P, 6), BAR(&sync0), ST(IMM_A, TID, 1),
           EXIT, ST(IMM_B, TID, 1), BRA(3));
  CHECK_OK(kit_launch(&k, 1, 96), &k.d);
  for (uint32_t t = 0; t < 96; t++) assert_int_equal(kit_a(&k)[t], 1);
  /* From two instructions: allowed without .aligned, a mistake with it. */
  KIT_CODE(&k, 0, OP3(h_and, R, TID, 1), OP3(h_eq, P, R, 1), BRA_IF(P, 5), BAR(&loose0), EXIT, BAR(&loose0),
           EXIT);
  CHECK_OK(kit_launch(&k, 1, 96), &k.d);
  KIT_CODE(&k, 0, OP3(h_and, R, TID, 1), OP3(h_eq, P, R, 1), BRA_IF(P, 5), BAR(&sync0), EXIT, BAR(&sync0),
           EXIT);
  assert_int_equal(kit_launch(&k, 1, 96), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "reach barrier 0 at different instructions");
  kit_close(&k);
}

static void mistakes_are_faults(void **state) {
  kit k;
  open_kit(&k);
  static const emu_bar odd = {.kind = EMU_BAR_SYNC, .id_slot = 0, .has_count = true, .count_slot = 17};
  static const emu_bar far = {.kind = EMU_BAR_SYNC, .id_slot = 16};
  static const emu_bar two = {.kind = EMU_BAR_SYNC, .id_slot = 0, .has_count = true, .count_slot = R};
  KIT_CODE(&k, 0, BAR(&odd), EXIT);
  assert_int_equal(kit_launch(&k, 1, 64), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "count of 17 threads is no multiple of 32");
  KIT_CODE(&k, 0, BAR(&far), EXIT);
  assert_int_equal(kit_launch(&k, 1, 64), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "barrier 16 of 16");
  /* 32 and 64 threads at one barrier. */
  KIT_CODE(&k, 0, OP3(h_warp, R, TID, 0), OP3(h_add, R, R, 2), OP3(h_shl5, R, R, 0), BAR(&two), EXIT);
  assert_int_equal(kit_launch(&k, 1, 96), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "for 96 threads here and for 64 at line 4");
  kit_close(&k);
}

static void what_never_completes_is_named(void **state) {
  kit k;
  open_kit(&k);
  /* Warp 1 of 3 waits elsewhere. */
  KIT_CODE(&k, 0, OP3(h_warp, R, TID, 0), OP3(h_eq, P, R, 1), BRA_IF(P, 5), BAR(&sync0), EXIT, BAR(&sync1),
           EXIT);
  assert_int_equal(kit_launch(&k, 1, 96), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "barrier 0 is never complete: 64 threads arrived, missing are threads 32-63");
  assert_int_equal(k.d.line, 4);
  /* A count that exited threads do not fill. */
  static const emu_bar all = {.kind = EMU_BAR_SYNC, .id_slot = 3, .has_count = true, .count_slot = R + 1};
  KIT_CODE(&k, 0, OP3(h_big, R + 1, 0, 0), OP3(h_warp, R, TID, 0), OP3(h_eq, P, R, 1), BRA_IF(P, 5),
           BAR(&all), EXIT);
  assert_int_equal(kit_launch(&k, 1, 64), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "32 threads arrived of the 64 it waits for, missing are threads 32-63");
  /* Threads of one warp at two barriers. */
  KIT_CODE(&k, 0, OP3(h_lt, P, TID, 7), BRA_IF(P, 4), BAR(&sync0), EXIT, BAR(&sync1), EXIT);
  assert_int_equal(kit_launch(&k, 1, 64), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "threads of one warp wait at different barriers");
  kit_close(&k);
}

static void stepping_shows_barriers_and_stuck_ctas(void **state) {
  kit k;
  open_kit(&k);
  KIT_CODE(&k, 0, OP3(h_warp, R, TID, 0), OP3(h_eq, P, R, 1), BRA_IF(P, 5), BAR(&sync0), EXIT, BAR(&sync1),
           EXIT);
  hd_emu_launch_params l = {.kernel = "k", .grid = {2, 1, 1}, .block = {64, 1, 1}};
  hd_emu_grid *g;
  hd_emu_cta *c;
  CHECK_OK(hd_emu_grid_begin(&k.p, &l, NULL, &g, &k.d), &k.d);
  CHECK_OK(hd_emu_cta_start(g, 1, 5, 0, &c, &k.d), &k.d);
  assert_int_equal(hd_emu_cta_warps(c), 2);
  assert_int_equal(hd_emu_warp_step(c, 0, 2), HD_STEP_RUNNING);
  assert_int_equal(hd_emu_warp_step(c, 0, 100), HD_STEP_BARRIER);
  assert_int_equal(hd_emu_warp_step(c, 0, 100), HD_STEP_BARRIER);
  assert_false(hd_emu_cta_stuck(c));
  assert_int_equal(hd_emu_warp_step(c, 1, 100), HD_STEP_FAULT);
  assert_true(hd_emu_cta_stuck(c));
  hd_emu_cta_end(c);
  assert_int_equal(hd_emu_grid_end(g, &k.d), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "CTA (1,0,0)");
  kit_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("stores before a barrier are seen behind it, in blocks of all sizes",
                stores_before_a_barrier_are_seen_behind_it),
      BEHAVIOUR("reductions count every thread", reductions_count_every_thread),
      BEHAVIOUR("exited threads are not expected", exited_threads_are_not_expected),
      BEHAVIOUR("counted barriers serve groups of warps", counted_barriers_serve_groups_of_warps),
      BEHAVIOUR("a producer arrives without waiting", a_producer_arrives_without_waiting),
      BEHAVIOUR("a diverged warp waits for itself, aligned barriers at one instruction",
                a_diverged_warp_waits_for_itself),
      BEHAVIOUR("wrong counts and numbers are faults", mistakes_are_faults),
      BEHAVIOUR("a barrier that is never complete is named with the missing threads",
                what_never_completes_is_named),
      BEHAVIOUR("stepping from outside shows barriers and stuck CTAs",
                stepping_shows_barriers_and_stuck_ctas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
