/* Fibers, gathers and calls, with code made by hand. */
#include "kit.h"

enum { TID = 30, CTAID = 31, R = 40, P = 56 };
static struct emu_sreg sregs[] = {{HD_SR_TID, 0, TID}, {HD_SR_CTAID, 0, CTAID}};
static const uint32_t all_lanes_slot = 25; /* in the registers: filled by h_all */
KIT_OP(h_all, UINT32_MAX)
KIT_OP(h_octet, 0xffu << (l & 24))

static void open_kit(kit *k) {
  kit_open(k, &(hd_emu_options){.memory = 1 << 24, .n_sms = 8, .threads = 1, .max_instructions = 1000000});
  k->codes[0].sregs = sregs;
  k->codes[0].n_sregs = 2;
}

/* ---- Divergence --------------------------------------------------------------------- */

static void a_divergent_loop_joins_behind_it(void **state) {
  kit k;
  open_kit(&k);
  KIT_CODE(&k, 0, OP3(h_mov, R, 0, 0), OP3(h_mov, R + 1, 0, 0), OP3(h_lt, P, R + 1, TID), BRA_UNLESS(P, 7),
           OP3(h_add, R, R, R + 1), OP3(h_add, R + 1, R + 1, 1), BRA(2), OP3(h_active, R + 2, 0, 0),
           ST(IMM_A, TID, R), ST(IMM_B, TID, R + 2), EXIT);
  hd_emu_stats s;
  CHECK_OK(kit_launch_with(&k, 1, 48, NULL, NULL, &s), &k.d);
  const uint32_t *a = kit_a(&k), *b = hd_emu_ptr(k.e, k.b, 256);
  uint64_t threads = 0;
  for (uint32_t t = 0; t < 48; t++) {
    assert_int_equal(a[t], t * (t - 1) / 2);
    assert_int_equal(b[t], t < 32 ? UINT32_MAX : 0xffff);
    threads += 2 + 4 * t + 2 + 4; /* a branch not taken does not count */
  }
  /* Each thread's own path is counted, and a warp's longest. */
  assert_int_equal(s.thread_instructions, threads);
  assert_int_equal(s.warp_instructions, (2 + 5 * 31 + 2 + 4) + (2 + 5 * 47 + 2 + 4));
  assert_int_equal(s.warps, 2);
  kit_close(&k);
}

static void guards_mask_lanes_and_count_only_these(void **state) {
  kit k;
  open_kit(&k);
  KIT_CODE(&k, 0, OP3(h_lt, P, TID, 5), {.fn = h_mov, .dst = R, .src = {7}, .guarded = 1, .guard = P},
           {.fn = h_mov, .dst = R, .src = {9}, .guarded = 2, .guard = P}, ST(IMM_A, TID, R),
           {.control = EMU_EXIT, .guarded = 1, .guard = P}, {.control = EMU_NOP, .guarded = 1, .guard = P},
           ST(IMM_B, TID, 1), RET);
  hd_emu_stats s;
  CHECK_OK(kit_launch_with(&k, 1, 32, NULL, NULL, &s), &k.d);
  const uint32_t *a = kit_a(&k), *b = hd_emu_ptr(k.e, k.b, 256);
  for (uint32_t t = 0; t < 32; t++) {
    assert_int_equal(a[t], t < 5 ? 7 : 9);
    assert_int_equal(b[t], t < 5 ? 0 : 1);
  }
  assert_int_equal(s.warp_instructions, 8);
  assert_int_equal(s.thread_instructions, 32 + 5 + 27 + 32 + 5 + 0 + 27 + 27);
  kit_close(&k);
}

static void indexed_branches_split_by_target(void **state) {
  kit k;
  open_kit(&k);
  static uint32_t targets[] = {2, 4, 6};
  static const emu_targets t = {3, targets};
  KIT_CODE(&k, 0, OP3(h_and, R, TID, 3), {.control = EMU_BRX, .src = {R}, .extra = &t},
           OP3(h_mov, R + 1, 10, 0), BRA(7), OP3(h_mov, R + 1, 11, 0), BRA(7), OP3(h_mov, R + 1, 12, 0),
           ST(IMM_A, TID, R + 1), EXIT);
  assert_int_equal(kit_launch(&k, 1, 32), HD_ERR_FAULT); /* index 3 */
  CHECK_MESSAGE(&k.d, "branch index 3 of 3 targets");
  assert_int_equal(k.d.line, 2);
  targets[2] = 6;
  KIT_CODE(&k, 0, OP3(h_and, R, TID, 1), OP3(h_add, R, R, R), {.control = EMU_BRX, .src = {R}, .extra = &t},
           OP3(h_mov, R + 1, 10, 0), EXIT, EXIT, OP3(h_mov, R + 1, 12, 0), ST(IMM_A, TID, R + 1), EXIT);
  targets[0] = 3;
  hd_emu_stats s;
  CHECK_OK(kit_launch_with(&k, 1, 32, NULL, NULL, &s), &k.d);
  for (uint32_t n = 0; n < 32; n++) assert_int_equal(kit_a(&k)[n], n & 1 ? 12 : 0);
  assert_int_equal(s.thread_instructions, 3 * 32 + 2 * 16 + 3 * 16);
  kit_close(&k);
}

/* ---- Progress ------------------------------------------------------------------------------ */

static void threads_of_a_warp_take_a_lock_in_turn(void **state) {
  kit k;
  open_kit(&k);
  KIT_CODE(&k, 0, ATOM(h_atom_exch, R, IMM_B, 0, 1), OP3(h_ne, P, R, 0), BRA_IF(P, 0), LD(R + 1, IMM_A, 0),
           OP3(h_add, R + 1, R + 1, 1), ST(IMM_A, 0, R + 1), ATOM(h_atom_exch, R, IMM_B, 0, 0), EXIT);
  k.traits[0].order_sensitive = true;
  for (unsigned kind = 0; kind < HD_DISPATCH_COUNT; kind++) {
    kit_a(&k)[0] = 0;
    CHECK_OK(kit_launch_with(&k, 5, 80, &(hd_dispatch){(hd_dispatch_kind)kind, 3, 2}, NULL, NULL), &k.d);
    assert_int_equal(kit_a(&k)[0], 5 * 80);
  }
  kit_close(&k);
}

/* The waiting thread's loop is at a lower address than the one it waits for. */
static void a_spin_on_a_plain_load_ends(void **state) {
  kit k;
  open_kit(&k);
  KIT_CODE(&k, 0, OP3(h_eq, P, TID, 0), BRA_IF(P, 5), LD(R, IMM_A, CTAID), OP3(h_eq, P + 1, R, 0),
           BRA_IF(P + 1, 2), ST(IMM_A, CTAID, 1), EXIT);
  CHECK_OK(kit_launch(&k, 2, 32), &k.d);
  memset(kit_a(&k), 0, 64);
  CHECK_OK(kit_launch(&k, 2, 64), &k.d); /* another warp's thread */
  kit_close(&k);
}

static void a_cta_may_wait_for_a_resident_one(void **state) {
  kit k;
  open_kit(&k);
  /* CTA n waits until CTA n + 1 has passed; the last one of each four does not wait. */
  KIT_CODE(&k, 0, OP3(h_and, R, CTAID, 3), OP3(h_eq, P, R, 3), BRA_IF(P, 7), OP3(h_add, R, CTAID, 1),
           ATOM(h_atom_add, R + 1, IMM_A, R, 0), OP3(h_eq, P, R + 1, 0), BRA_IF(P, 4),
           ATOM(h_atom_exch, R, IMM_A, CTAID, 1), EXIT);
  k.traits[0].order_sensitive = true;
  static const hd_dispatch_kind kinds[] = {HD_DISPATCH_ROUND_ROBIN, HD_DISPATCH_DEMAND};
  for (int n = 0; n < 2; n++) {
    memset(kit_a(&k), 0, 4096);
    CHECK_OK(kit_launch_with(&k, 64, 32, &(hd_dispatch){kinds[n], n, 2}, NULL, NULL), &k.d);
  }
  /* Not resident together: it hangs, and is told so. */
  memset(kit_a(&k), 0, 4096);
  assert_int_equal(kit_launch_with(&k, 4, 32, &(hd_dispatch){HD_DISPATCH_SERIAL, 0, 1}, NULL, NULL),
                   HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "counts as hung");
  kit_close(&k);
}

static void an_endless_loop_is_a_fault(void **state) {
  kit k;
  open_kit(&k);
  KIT_CODE(&k, 0, OP3(h_add, R, R, 1), BRA(0), EXIT);
  assert_int_equal(kit_launch(&k, 3, 40), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "1000000 warp instructions");
  CHECK_MESSAGE(&k.d, "CTA (0,0,0)");
  kit_close(&k);
}

static void yielding_lets_others_run(void **state) {
  kit k;
  open_kit(&k);
  KIT_CODE(&k, 0, OP3(h_eq, P, TID, 0), BRA_IF(P, 6), {.control = EMU_YIELD}, LD(R, IMM_A, 0),
           OP3(h_eq, P + 1, R, 0), BRA_IF(P + 1, 2), ST(IMM_A, 0, 1), EXIT);
  hd_emu_stats s;
  CHECK_OK(kit_launch_with(&k, 1, 32, NULL, NULL, &s), &k.d);
  assert_in_range(s.warp_instructions, 8, 40);
  kit_close(&k);
}

/* ---- Gathers ----------------------------------------------------------------------------------- */

#define GATHER(f, d, x, m)                                                                                   \
  { .control = EMU_GATHER, .fn = f, .dst = d, .src = {x, 0, 0, m}, .gather_mask = 1 }

static void a_gather_waits_for_those_it_names(void **state) {
  kit k;
  open_kit(&k);
  KIT_CODE(&k, 0, OP3(h_all, all_lanes_slot, 0, 0), OP3(h_and, R, TID, 1), OP3(h_eq, P, R, 1),
           OP3(h_mov, R + 1, 1, 0), BRA_IF(P, 8), GATHER(h_sum, R + 2, R + 1, all_lanes_slot),
           ST(IMM_A, TID, R + 2), EXIT, OP3(h_mov, R + 1, 2, 0), BRA(5));
  hd_emu_stats s;
  CHECK_OK(kit_launch_with(&k, 1, 64, NULL, NULL, &s), &k.d);
  for (uint32_t t = 0; t < 64; t++) assert_int_equal(kit_a(&k)[t], 48);
  assert_int_equal(s.thread_instructions, 32 * 7 + 32 * 10);
  kit_close(&k);
}

static void groups_of_a_warp_gather_apart(void **state) {
  kit k;
  open_kit(&k);
  KIT_CODE(&k, 0, OP3(h_octet, R, 0, 0), GATHER(h_sum, R + 1, TID, R), ST(IMM_A, TID, R + 1),
           OP3(h_active, R + 2, 0, 0), ST(IMM_B, TID, R + 2), EXIT);
  hd_emu_stats s;
  CHECK_OK(kit_launch_with(&k, 1, 32, NULL, NULL, &s), &k.d);
  const uint32_t *b = hd_emu_ptr(k.e, k.b, 256);
  for (uint32_t t = 0; t < 32; t++) {
    assert_int_equal(kit_a(&k)[t], 8 * (t / 8 * 8) + 28);
    assert_int_equal(b[t], UINT32_MAX); /* they go on together */
  }
  assert_int_equal(s.thread_instructions, 6 * 32);
  kit_close(&k);
}

static void exited_threads_are_not_waited_for(void **state) {
  kit k;
  open_kit(&k);
  /* Odd threads leave late: the even ones are at the gather by then. */
  KIT_CODE(&k, 0, OP3(h_all, all_lanes_slot, 0, 0), OP3(h_and, R, TID, 1), OP3(h_eq, P, R, 1),
           OP3(h_mov, R + 1, 1, 0), BRA_IF(P, 8), GATHER(h_sum, R + 2, R + 1, all_lanes_slot),
           ST(IMM_A, TID, R + 2), EXIT, EXIT);
  CHECK_OK(kit_launch(&k, 1, 32), &k.d);
  for (uint32_t t = 0; t < 32; t += 2) assert_int_equal(kit_a(&k)[t], 16);
  kit_close(&k);
}

static void a_gather_that_cannot_be_complete_is_a_fault(void **state) {
  kit k;
  open_kit(&k);
  static const emu_bar bar = {.kind = EMU_BAR_SYNC, .id_slot = 0};
  KIT_CODE(&k, 0, OP3(h_all, all_lanes_slot, 0, 0), OP3(h_eq, P, TID, 3), BRA_IF(P, 5),
           GATHER(h_sum, R, TID, all_lanes_slot), EXIT, BAR(&bar), EXIT);
  assert_int_equal(kit_launch(&k, 1, 32), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "lanes 0x00000008 of 0xffffffff");
  assert_int_equal(k.d.line, 4);
  /* A thread that leaves itself out. */
  KIT_CODE(&k, 0, GATHER(h_sum, R, TID, 4), EXIT);
  assert_int_equal(kit_launch(&k, 1, 32), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "not in its own member mask");
  kit_close(&k);
}

/* bar.warp.sync in both sides of a branch. */
static void pure_synchronisation_may_be_met_from_two_places(void **state) {
  kit k;
  open_kit(&k);
  KIT_CODE(&k, 0, OP3(h_all, all_lanes_slot, 0, 0), OP3(h_lt, P, TID, 16), BRA_IF(P, 6), ST(IMM_A, 0, 5),
           GATHER(NULL, 0, 0, all_lanes_slot), EXIT, GATHER(NULL, 0, 0, all_lanes_slot), LD(R, IMM_A, 0),
           ST(IMM_B, TID, R), EXIT);
  CHECK_OK(kit_launch(&k, 1, 32), &k.d);
  assert_int_equal(((uint32_t *)hd_emu_ptr(k.e, k.b, 256))[3], 5);
  kit_close(&k);
}

/* ---- Calls --------------------------------------------------------------------------------------- */

static emu_place reg_arg = {.where = R, .bytes = 4}, reg_ret = {.where = R + 1, .bytes = 4};

static void recursion_computes_factorials(void **state) {
  kit k;
  open_kit(&k);
  static emu_place arg = {.where = R + 2, .bytes = 4}, ret = {.where = R + 3, .bytes = 4};
  static emu_call again = {.n_args = 1, .n_rets = 1, .args = &arg, .rets = &ret}, first;
  first = again;
  static emu_place top_arg = {.where = TID, .bytes = 4}, top_ret = {.where = R, .bytes = 4};
  first.args = &top_arg;
  first.rets = &top_ret;
  first.callee = again.callee = &k.codes[1];
  k.codes[1].params = &reg_arg;
  k.codes[1].rets = &reg_ret;
  k.codes[1].n_params = k.codes[1].n_rets = 1;
  k.codes[1].local_bytes = 16;
  KIT_CODE(&k, 1, OP3(h_mov, R + 1, 1, 0), OP3(h_lt, P, R, 2), BRA_IF(P, 6), OP3(h_sub, R + 2, R, 1),
           CALL(&again), OP3(h_mul, R + 1, R, R + 3), RET);
  KIT_CODE(&k, 0, CALL(&first), ST(IMM_A, TID, R), OP3(h_active, R, 0, 0), ST(IMM_B, TID, R), EXIT);
  CHECK_OK(kit_launch(&k, 2, 64), &k.d);
  const uint32_t *b = hd_emu_ptr(k.e, k.b, 256);
  for (uint32_t t = 0, f = 1; t < 64; t++, f *= t) {
    assert_int_equal(kit_a(&k)[t], f);
    assert_int_equal(b[t], UINT32_MAX);
  }
  /* 65536 bytes of stack hold 4096 activations of 16 bytes. */
  KIT_CODE(&k, 1, CALL(&again), RET);
  assert_int_equal(kit_launch(&k, 1, 32), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "call stack overflow: f is called 4097 deep");
  CHECK_MESSAGE(&k.d, "in f called from k");
  k.codes[1].local_bytes = 0;
  assert_int_equal(kit_launch(&k, 1, 32), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "call stack overflow");
  kit_close(&k);
}

static void h_address(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  KIT_LANES {
    uint64_t v = EMU_FUNC_BASE + 16 * (uint64_t)kit_get(r, i->src[0], l);
    memcpy(r + i->dst * 128 + l * 8, &v, 8);
  }
}

static void addresses_of_functions_split_callers(void **state) {
  kit k;
  open_kit(&k);
  static emu_place arg = {.where = TID, .bytes = 4}, ret = {.where = R, .bytes = 4};
  static emu_call call = {.fn_slot = R + 4, .n_args = 1, .n_rets = 1, .args = &arg, .rets = &ret};
  for (int f = 1; f < 4; f++) {
    k.codes[f].params = &reg_arg;
    k.codes[f].rets = &reg_ret;
    k.codes[f].n_params = k.codes[f].n_rets = 1;
  }
  KIT_CODE(&k, 1, OP3(h_add, R + 1, R, 1), RET);
  KIT_CODE(&k, 2, OP3(h_mul, R + 1, R, 3), RET);
  KIT_CODE(&k, 3, OP3(h_active, R + 1, 0, 0), RET);
  KIT_CODE(&k, 0, OP3(h_and, R + 2, TID, 1), OP3(h_add, R + 2, R + 2, 1), OP3(h_address, R + 4, R + 2, 0),
           CALL(&call), ST(IMM_A, TID, R), OP3(h_active, R, 0, 0), ST(IMM_B, TID, R), EXIT);
  CHECK_OK(kit_launch(&k, 1, 64), &k.d);
  const uint32_t *b = hd_emu_ptr(k.e, k.b, 256);
  for (uint32_t t = 0; t < 64; t++) {
    assert_int_equal(kit_a(&k)[t], t & 1 ? 3 * t : t + 1);
    assert_int_equal(b[t], UINT32_MAX);
  }
  KIT_CODE(&k, 0, OP3(h_address, R + 4, 9, 0), CALL(&call), EXIT);
  assert_int_equal(kit_launch(&k, 1, 32), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "which is no function");
  k.codes[3].n_params = 0;
  KIT_CODE(&k, 0, OP3(h_address, R + 4, 3, 0), CALL(&call), EXIT);
  assert_int_equal(kit_launch(&k, 1, 32), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "other arguments or results");
  kit_close(&k);
}

/* Even threads wait inside the function until the odd ones have called it too. */
static void threads_of_one_call_meet_inside_the_function(void **state) {
  kit k;
  open_kit(&k);
  static emu_place arg = {.where = TID, .bytes = 4}, ret = {.where = R, .bytes = 4};
  static emu_call call = {.n_args = 1, .n_rets = 1, .args = &arg, .rets = &ret};
  call.callee = &k.codes[1];
  k.codes[1].params = &reg_arg;
  k.codes[1].rets = &reg_ret;
  k.codes[1].n_params = k.codes[1].n_rets = 1;
  KIT_CODE(&k, 1, OP3(h_all, all_lanes_slot, 0, 0), GATHER(h_sum, R + 1, R, all_lanes_slot), RET);
  KIT_CODE(&k, 0, OP3(h_and, R, TID, 1), OP3(h_eq, P, R, 1), BRA_IF(P, 6), CALL(&call), ST(IMM_A, TID, R),
           EXIT, OP3(h_mov, R + 1, 2, 0), BRA(3));
  CHECK_OK(kit_launch(&k, 1, 64), &k.d);
  for (uint32_t t = 0; t < 64; t++) assert_int_equal(kit_a(&k)[t], t < 32 ? 496 : 496 + 1024);
  /* From two calls they cannot. */
  KIT_CODE(&k, 0, OP3(h_and, R, TID, 1), OP3(h_eq, P, R, 1), BRA_IF(P, 6), CALL(&call), ST(IMM_A, TID, R),
           EXIT, CALL(&call), BRA(4));
  assert_int_equal(kit_launch(&k, 1, 64), HD_ERR_FAULT);
  CHECK_MESSAGE(&k.d, "different calls of one function");
  kit_close(&k);
}

/* Values of all widths through registers and local memory, and back. */
static void arguments_keep_their_bits(void **state) {
  static const uint32_t widths[] = {1, 2, 4, 8, 16};
  for (unsigned n = 0; n < 5 * 4; n++) {
    const uint32_t bytes = widths[n / 4];
    const bool caller_local = n & 1, callee_local = n & 2;
    kit k;
    open_kit(&k);
    emu_place arg = {.in_local = caller_local, .where = 32, .bytes = bytes},
              formal = {.in_local = callee_local, .where = callee_local ? 16 : 44, .bytes = bytes};
    emu_place ret = {.in_local = caller_local, .where = caller_local ? 48 : 36, .bytes = bytes};
    emu_call call = {.callee = &k.codes[1], .n_args = 1, .n_rets = 1, .args = &arg, .rets = &ret};
    k.codes[0].local_bytes = k.codes[1].local_bytes = 64;
    k.codes[1].params = k.codes[1].rets = &formal;
    k.codes[1].n_params = k.codes[1].n_rets = 1;
    KIT_CODE(&k, 1, RET);
    emu_inst insts[] = {CALL(&call), EXIT};
    k.codes[0].insts = insts;
    k.codes[0].n_insts = 2;
    hd_emu_launch_params l = {.kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}};
    hd_emu_grid *g;
    hd_emu_cta *c;
    CHECK_OK(hd_emu_grid_begin(&k.p, &l, NULL, &g, &k.d), &k.d);
    CHECK_OK(hd_emu_cta_start(g, 0, 0, 0, &c, &k.d), &k.d);
    emu_mwarp *m = &c->warps[0];
    char *r = m->w.fibers[0].frame->regs;
    m->w.current = &m->w.fibers[0];
    unsigned char value[32][16];
    for (unsigned lane = 0; lane < 32; lane++)
      for (unsigned b = 0; b < 16; b++) {
        value[lane][b] = (unsigned char)(lane * 7 + b * 31 + 1);
        if (b >= bytes) continue;
        char *at = caller_local ? emu_local_ptr(&m->w, lane, arg.where) + b
                   : bytes <= 4 ? r + arg.where * 128 + lane * 4 + b
                                : r + (arg.where + b / 8 * 2) * 128 + lane * 8 + b % 8;
        *at = (char)value[lane][b];
      }
    assert_int_equal(hd_emu_warp_step(c, 0, 2), HD_STEP_RUNNING); /* call, ret */
    for (unsigned lane = 0; lane < 32; lane++)
      for (unsigned b = 0; b < bytes; b++) {
        char *at = caller_local ? emu_local_ptr(&m->w, lane, ret.where) + b
                   : bytes <= 4 ? r + ret.where * 128 + lane * 4 + b
                                : r + (ret.where + b / 8 * 2) * 128 + lane * 8 + b % 8;
        assert_int_equal((unsigned char)*at, value[lane][b]);
      }
    assert_int_equal(hd_emu_warp_step(c, 0, 2), HD_STEP_DONE);
    hd_emu_cta_end(c);
    CHECK_OK(hd_emu_grid_end(g, &k.d), &k.d);
    kit_close(&k);
  }
}

/* ---- Any code ------------------------------------------------------------------------------------- */

enum { RANDOM_INSTS = 40, FUEL = R + 9 };

/* Random straight and branching code over R..R+7; backward branches use up fuel, so all of it ends. */
static void random_code(emu_inst *code, uint64_t seed, const emu_call *call) {
  uint64_t x = seed * 1000003;
  for (uint32_t n = 0; n < RANDOM_INSTS; n++) {
    uint64_t v = hd_random_at(x, n);
    uint32_t a = R + v % 8, b = R + (v >> 8) % 8, d = R + (v >> 16) % 8, p = P + (v >> 24) % 3;
    uint32_t to = (uint32_t)((v >> 32) % RANDOM_INSTS);
    switch (v >> 60) {
    case 0:
    case 1: code[n] = (emu_inst)OP3(h_lt, p, a, b); break;
    case 2: code[n] = (emu_inst)OP3(h_eq, p, a, b); break;
    case 3:
    case 4: code[n] = (emu_inst)OP3(h_sub, d, a, b); break;
    case 5: code[n] = (emu_inst)OP3(h_mul, d, a, b); break;
    case 6: code[n] = (emu_inst){.fn = h_add, .dst = d, .src = {a, b}, .guarded = 1, .guard = p}; break;
    case 7: code[n] = (emu_inst)OP3(h_and, d, a, 7); break;
    case 8:
    case 9:
    case 10: /* forward */
      code[n] = (emu_inst){.control = EMU_BRA,
                           .target = n + 1 + to % (RANDOM_INSTS - n),
                           .guarded = 1 + (v >> 40) % 2,
                           .guard = p};
      break;
    case 11: /* P + 3: fuel is left */
      code[n] = (emu_inst){.control = EMU_BRA, .target = to % (n + 1), .guarded = 1, .guard = P + 3};
      break;
    case 12:
      code[n] = (emu_inst){.control = EMU_CALL, .extra = call, .guarded = (v >> 40) % 2, .guard = p};
      break;
    case 13: code[n] = (emu_inst){.control = EMU_EXIT, .guarded = 1, .guard = p}; break;
    default: code[n] = (emu_inst)OP3(h_add, d, a, b); break;
    }
  }
}

/* Uses up fuel, then P + 3 tells whether some is left; other registers stay as they are. */
static void h_burn(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  uint32_t p = kit_get(r, P + 3, 0);
  KIT_LANES {
    uint32_t fuel = kit_get(r, FUEL, l);
    if (fuel) kit_put(r, FUEL, l, fuel - 1);
    p = fuel ? p | 1u << l : p & ~(1u << l);
  }
  kit_put(r, P + 3, 0, p);
}

/* Interleave the random code with burning and storing, fixing targets. */
static uint32_t assemble(emu_inst *out, const emu_inst *code, uint32_t id_slot) {
  uint32_t n = 0, at[RANDOM_INSTS + 1];
  for (uint32_t s = 0; s < 8; s++) out[n++] = (emu_inst)OP3(h_add, R + s, id_slot, s);
  out[n++] = (emu_inst)OP3(h_mov, FUEL, 19, 0);
  for (uint32_t k = 0; k < RANDOM_INSTS; k++) {
    at[k] = n;
    if (code[k].control == EMU_BRA) out[n++] = (emu_inst){.fn = h_burn};
    out[n++] = code[k];
    if (k % 5 == 4) out[n++] = (emu_inst)ST(IMM_A, id_slot, R + k % 8);
  }
  at[RANDOM_INSTS] = n;
  out[n++] = (emu_inst)ST(IMM_B, id_slot, R);
  out[n++] = (emu_inst)EXIT;
  for (uint32_t k = 0; k < n; k++)
    if (out[k].control == EMU_BRA) out[k].target = at[out[k].target];
  return n;
}

static void every_thread_computes_what_it_would_alone(void **state) {
  enum { THREADS = 72 };
  kit k;
  open_kit(&k);
  static emu_place arg = {.where = R + 1, .bytes = 4}, ret = {.where = R + 2, .bytes = 4};
  emu_call call = {.callee = &k.codes[1], .n_args = 1, .n_rets = 1, .args = &arg, .rets = &ret};
  k.codes[1].params = &reg_arg;
  k.codes[1].rets = &reg_ret;
  k.codes[1].n_params = k.codes[1].n_rets = 1;
  /* Odd arguments are counted down, even ones returned. */
  KIT_CODE(&k, 1, OP3(h_mov, R + 1, R, 0), OP3(h_and, R + 2, R, 3), OP3(h_eq, P, R + 2, 0), BRA_IF(P, 6),
           OP3(h_sub, R, R, 1), BRA(1), OP3(h_add, R + 1, R + 1, R), RET);
  for (uint64_t seed = 0; seed < 300; seed++) {
    emu_inst code[RANDOM_INSTS], together[4 * RANDOM_INSTS], alone[4 * RANDOM_INSTS];
    random_code(code, seed, &call);
    uint32_t n = assemble(together, code, TID);
    assemble(alone, code, CTAID);
    uint32_t want[2][THREADS];
    k.codes[0].n_insts = n;
    for (int run = 0; run < 2; run++) {
      k.codes[0].insts = run ? together : alone;
      uint32_t *a = kit_a(&k), *b = hd_emu_ptr(k.e, k.b, THREADS * 4);
      memset(a, 0xee, THREADS * 4);
      memset(b, 0xee, THREADS * 4);
      CHECK_OK(kit_launch(&k, run ? 1 : THREADS, run ? THREADS : 1), &k.d);
      if (run) {
        assert_memory_equal(a, want[0], sizeof want[0]);
        assert_memory_equal(b, want[1], sizeof want[1]);
      }
      memcpy(want[0], a, sizeof want[0]);
      memcpy(want[1], b, sizeof want[1]);
    }
  }
  kit_close(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("threads that leave a loop at different times join behind it",
                a_divergent_loop_joins_behind_it),
      BEHAVIOUR("guards mask lanes, and only unmasked ones are counted",
                guards_mask_lanes_and_count_only_these),
      BEHAVIOUR("brx.idx splits a warp by target and refuses a bad index", indexed_branches_split_by_target),
      BEHAVIOUR("threads of a warp, of warps and of CTAs take a lock in turn",
                threads_of_a_warp_take_a_lock_in_turn),
      BEHAVIOUR("a spin on a plain load ends when another thread stores", a_spin_on_a_plain_load_ends),
      BEHAVIOUR("a CTA may wait for a resident one, for others it hangs", a_cta_may_wait_for_a_resident_one),
      BEHAVIOUR("an endless loop is a fault", an_endless_loop_is_a_fault),
      BEHAVIOUR("nanosleep lets others run at once", yielding_lets_others_run),
      BEHAVIOUR("a gather waits for the threads it names", a_gather_waits_for_those_it_names),
      BEHAVIOUR("groups of one warp gather apart", groups_of_a_warp_gather_apart),
      BEHAVIOUR("a gather does not wait for threads that exited", exited_threads_are_not_waited_for),
      BEHAVIOUR("a gather that cannot be complete is a fault", a_gather_that_cannot_be_complete_is_a_fault),
      BEHAVIOUR("bar.warp.sync may be met from two places", pure_synchronisation_may_be_met_from_two_places),
      BEHAVIOUR("recursion works, and ends at the stack's end", recursion_computes_factorials),
      BEHAVIOUR("callers through addresses split and join again", addresses_of_functions_split_callers),
      BEHAVIOUR("threads that make the same call at different times meet inside",
                threads_of_one_call_meet_inside_the_function),
      BEHAVIOUR("arguments and results keep their bits in all places", arguments_keep_their_bits),
      BEHAVIOUR("every thread of a warp computes what it would alone",
                every_thread_computes_what_it_would_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
