/* Instructions that compilers emit for sm_80 to sm_90a, other than loads, arithmetic and matrices. */
#include "emu/ops_warp.h"

/* ---- lop3 with a predicate ------------------------------------------------------------------ */

static void lop3_tells_whether_its_result_is_zero(void **state) {
  static const struct {
    const char *text;
    bool either, negated, keeps;
  } forms[] = {{"lop3.or.b32 %w4|%p1, %w1, %w2, %w3, 0x68, %p2;", true, false, true},
               {"lop3.and.b32 %w4|%p1, %w1, %w2, %w3, 0x68, %p2;", false, false, true},
               {"lop3.and.b32 _|%p1, %w1, %w2, %w3, 0x68, !%p2;", false, true, false},
               {"@%p3 lop3.or.b32 %w4|%p1, %w1, %w2, %w3, 0x68, !%p2;", true, true, true}};
  for (unsigned c = 0; c < sizeof forms / sizeof forms[0]; c++) {
    uint64_t in[LANES][2], out[LANES] = {0};
    char body[1024];
    for (unsigned l = 0; l < LANES; l++) {
      in[l][0] = hd_random_at(c, l) & hd_random_at(c + 9, l) & 0x0000000300000003;
      in[l][1] = hd_random_at(c + 99, l) & 0x0000000300000003;
    }
    snprintf(body, sizeof body,
             "ld.global.v2.u32 {%%w1, %%w2}, [%%in]; ld.global.v2.u32 {%%w3, %%w5}, [%%in+8];\n"
             "and.b32 %%w6, %%w5, 1; setp.ne.u32 %%p2, %%w6, 0; and.b32 %%w6, %%w5, 2; setp.ne.u32 %%p3, "
             "%%w6, 0;\n"
             "mov.b32 %%w4, 77; setp.ne.u32 %%p1, 0, 0;\n%s\n"
             "selp.u32 %%w7, 1, 0, %%p1; mov.b64 %%d1, {%%w4, %%w7}; st.global.u64 [%%out], %%d1;\n",
             forms[c].text);
    run_words("", body, &in[0][0], 2, out, 1, LANES);
    for (unsigned l = 0; l < LANES; l++) {
      const uint32_t a = (uint32_t)in[l][0], b = (uint32_t)(in[l][0] >> 32), x = (uint32_t)in[l][1],
                     flags = (uint32_t)(in[l][1] >> 32);
      /* Table 0x68 holds for exactly two ones. */
      const uint32_t value = (a & b & ~x) | (a & ~b & x) | (~a & b & x);
      const bool q = (flags & 1) != forms[c].negated;
      const bool active = c < 3 || flags & 2;
      const bool p = active && (forms[c].either ? value != 0 || q : value != 0 && q);
      const uint32_t kept = active && forms[c].keeps ? value : 77;
      assert_int_equal(out[l], kept | (uint64_t)p << 32);
    }
  }
}

/* ---- Addresses ------------------------------------------------------------------------------- */

static void addresses_of_parameters_may_have_32_bits(void **state) {
  hd_buf text = {0};
  hd_diag d = {0};
  op_machine x;
  op_ptx_header(&text);
  hd_buf_puts(&text, ".visible .entry k(.param .u32 a, .param .align 64 .b8 s[64], .param .u64 out)\n{\n"
                     ".reg .b32 %w<8>; .reg .b64 %d<8>;\nld.param.u64 %d1, [out];\n"
                     "mov.b32 %w1, s; cvt.u64.u32 %d2, %w1; cvta.param.u64 %d3, %d2; ld.b32 %w2, [%d3+8];\n"
                     "ld.param.b32 %w3, [%w1+12]; cvta.to.param.u64 %d4, %d3; ld.param.b32 %w4, [%d4+16];\n"
                     "mov.b64 %d5, s; cvta.param.u64 %d5, %d5; ld.b32 %w5, [%d5+20];\n"
                     "st.global.v4.b32 [%d1], {%w2, %w3, %w4, %w5};\nret;\n}\n");
  op_load(&x, &text, HD_ISA_AUTO);
  struct {
    uint32_t a;
    uint32_t s[16] __attribute__((aligned(64)));
    uint64_t out;
  } args = {.out = op_alloc(&x, NULL, 16)};
  uint32_t out[4];
  for (unsigned k = 0; k < 16; k++) args.s[k] = 100 + k;
  op_ok(op_launch(&x, "k", 1, 1, &args, offsetof(__typeof__(args), out) + 8, &d), &d);
  op_ok(hd_emu_read(x.e, args.out, out, sizeof out, &d), &d);
  for (unsigned k = 0; k < 4; k++) assert_int_equal(out[k], 102 + k);
  op_unload(&x);
  hd_buf_free(&text);
}

/* In a function too, whose variables begin elsewhere in the stack. */
static void addresses_of_local_variables_may_have_32_bits(void **state) {
  uint64_t in[LANES], out[LANES];
  for (unsigned l = 0; l < LANES; l++) in[l] = hd_random_at(5, l);
  run_words(".func (.reg .b32 r) f(.reg .b32 a)\n{\n.local .align 8 .b8 depot[24]; .reg .b32 %s<3>; .reg "
            ".b64 %t<2>; "
            "mov.b32 %s0, depot; add.u32 %s1, %s0, 8; st.local.b32 [%s1+4], a; cvt.u64.u32 %t0, %s0; "
            "cvta.local.u64 %t1, %t0; ld.b32 %s2, [%t1+12]; add.u32 r, %s2, 1; ret;\n}\n",
            "{ .local .align 16 .b8 depot[48]; mov.b32 %w1, depot; ld.global.u32 %w2, [%in]; st.local.u32 "
            "[%w1+40], "
            "%w2; call (%w3), f, (%w2); ld.local.u32 %w4, [depot+40]; mov.b64 %d1, {%w3, %w4}; st.global.u64 "
            "[%out], "
            "%d1; }\n",
            in, 1, out, 1, LANES);
  for (unsigned l = 0; l < LANES; l++) assert_int_equal(out[l], (uint32_t)(in[l] + 1) | in[l] << 32);
}

static void no_shared_memory_is_reserved(void **state) {
  uint64_t in[LANES] = {0}, out[LANES];
  run_words("",
            "mov.u32 %w1, %reserved_smem_offset_begin; mov.u32 %w2, %reserved_smem_offset_end; mov.u32 %w3, "
            "%reserved_smem_offset_cap;\nor.b32 %w1, %w1, %w2; or.b32 %w1, %w1, %w3; cvt.u64.u32 %d1, %w1; "
            "st.global.u64 [%out], %d1;\n",
            in, 1, out, 1, LANES);
  for (unsigned l = 0; l < LANES; l++) assert_int_equal(out[l], 0);
}

/* ---- Policies ---------------------------------------------------------------------------------- */

static void policies_are_values(void **state) {
  uint64_t in[LANES], out[LANES][6];
  for (unsigned l = 0; l < LANES; l++) in[l] = 0x3f000000 + l;
  run_words("",
            "ld.global.u32 %w1, [%in]; mov.b32 %f1, %w1;\n"
            "createpolicy.fractional.L2::evict_first.b64 %d1;\n"
            "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %d2, %f1;\n"
            "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d3, [%in], 4096, 8192;\n"
            "createpolicy.cvt.L2.b64 %d4, %d2;\n"
            "mov.b64 %d5, 0; ld.global.L2::cache_hint.u32 %w2, [%in], %d2; cvt.u64.u32 %d5, %w2;\n"
            "createpolicy.fractional.L2::evict_unchanged.b64 %d6, 0.25;\n"
            "st.global.v2.u64 [%out], {%d1, %d2}; st.global.v2.u64 [%out+16], {%d3, %d4}; st.global.v2.u64 "
            "[%out+32], {%d5, %d6};\n",
            in, 1, &out[0][0], 6, LANES);
  for (unsigned l = 0; l < LANES; l++) {
    assert_int_equal(out[l][0], 0x3f80000000000001);
    assert_int_equal(out[l][1], in[l] << 32 | 0x42);
    assert_int_equal(out[l][2], 4096ull << 32 | 0x112);
    assert_int_equal(out[l][3], out[l][1]);
    assert_int_equal(out[l][4], in[l]);
    assert_int_equal(out[l][5], 0x3e80000000000004);
  }
}

/* ---- Lines ------------------------------------------------------------------------------------- */

static void discarded_lines_hold_nothing_of_use(void **state) {
  enum { WORDS = 32 }; /* two lines a thread */
  static uint64_t in[LANES], out[LANES][WORDS];
  for (unsigned l = 0; l < LANES; l++)
    for (unsigned k = 0; k < WORDS; k++) out[l][k] = l * WORDS + k;
  run_words("",
            "and.b32 %w1, %i, 1; setp.ne.u32 %p1, %w1, 0; @%p1 discard.global.L2 [%out], 128;\n"
            "@%p1 discard.L2 [%out+128], 128; applypriority.global.L2::evict_normal [%out], 128; "
            "prefetch.global.L2 "
            "[%out]; prefetch.global.L2::evict_last [%out]; prefetchu.L1 [%out]; prefetch.tensormap [%in];\n"
            "@%p1 st.global.u64 [%out+8], 5;\n",
            in, 1, &out[0][0], WORDS, LANES);
  for (unsigned l = 0; l < LANES; l++)
    for (unsigned k = 0; k < WORDS; k++)
      assert_int_equal(out[l][k], l % 2 == 0 ? l * WORDS + k : k == 1 ? 5 : UINT64_MAX);
}

/* ---- Named barriers ------------------------------------------------------------------------------ */

/* A producer warp and three consumers hand a buffer to and fro, as warp-specialised kernels do: barrier 1 is
 * "full", 2 is "empty"; each counts all four warps, of which those that need not wait only arrive. */
static void warps_with_different_roles_meet_at_named_barriers(void **state) {
  enum { WARPS = 4, THREADS = WARPS * LANES, ROUNDS = 5 };
  static uint64_t in[THREADS], out[THREADS];
  for (unsigned t = 0; t < THREADS; t++) in[t] = t * 7;
  run_words(
      ".shared .align 4 .b8 buffer[128];",
      "and.b32 %w1, %i, 31; shl.b32 %w1, %w1, 2; mov.u32 %w2, buffer; add.u32 %w1, %w1, %w2;\n"
      "ld.global.u32 %w3, [%in]; mov.u32 %w4, 0; mov.u32 %w5, 0;\n"
      "setp.ge.u32 %p1, %i, 32; @%p1 bra consumer;\n"
      "setmaxnreg.dec.sync.aligned.u32 40;\n"
      "produce:\nbar.sync 2, 128; mad.lo.u32 %w6, %w4, 100, %w3; st.shared.u32 [%w1], %w6;\n"
      "barrier.cta.arrive.aligned 1, 128; add.u32 %w4, %w4, 1; setp.lt.u32 %p2, %w4, 5; @%p2 bra produce;\n"
      "bra.uni done;\n"
      "consumer:\nsetmaxnreg.inc.sync.aligned.u32 232; mov.u32 %w7, 2;\n"
      "consume:\nbarrier.cta.arrive %w7, 128; barrier.cta.sync 1, 128; ld.shared.u32 %w6, [%w1]; add.u32 "
      "%w5, "
      "%w5, %w6;\n"
      "bar.sync 3, 96; add.u32 %w4, %w4, 1; setp.lt.u32 %p2, %w4, 5; @%p2 bra consume;\n"
      "done:\ncvt.u64.u32 %d1, %w5; st.global.u64 [%out], %d1;\n",
      in, 1, out, 1, THREADS);
  for (unsigned t = 0; t < THREADS; t++) {
    uint64_t sum = 0;
    for (unsigned k = 0; t >= 32 && k < ROUNDS; k++) sum += in[t % 32] + 100 * k;
    assert_int_equal(out[t], sum);
  }
}

/* ---- Refusals -------------------------------------------------------------------------------------- */

static void words_and_operands_that_make_no_sense_are_refused(void **state) {
  static const char *const statements[] = {
      "lop3.or.b32 %w4, %w1, %w2, %w3, 0x68, %p2",
      "lop3.or.b32 %w4|%w5, %w1, %w2, %w3, 0x68, %p2",
      "lop3.or.b32 %w4|%p1, %w1, %w2, %w3, 0x68",
      "lop3.or.b32 %w4|%p1, %w1, %w2, %w3, 256, %p2",
      "lop3.xor.b32 %w4|%p1, %w1, %w2, %w3, 0x68, %p2",
      "lop3.b32 %w4, %w1, %w2, %w3, 0x68, %p2",
      "createpolicy.fractional.b64 %d1, 0.5",
      "createpolicy.fractional.L2::evict_first.b32 %w1",
      "createpolicy.fractional.L2::evict_first.L2::evict_last.b64 %d1",
      "createpolicy.fractional.L2::evict_first.b64 %d1, 0.5, 3",
      "createpolicy.fractional.global.L2::evict_first.b64 %d1",
      "createpolicy.range.global.L2::evict_last.b64 %d1, [%d2], 16",
      "createpolicy.range.global.L2::evict_last.b64 %d1, %d2, 16, 16",
      "createpolicy.cvt.b64 %d1, %d2",
      "createpolicy.cvt.L2.b64 %d1, %w2",
      "createpolicy.L2::evict_first.b64 %d1",
      "prefetch.global.L3 [%d1]",
      "prefetch.global [%d1]",
      "prefetch.L2::evict_last [%d1]",
      "prefetch.shared.L2 [%d1]",
      "prefetch.global.L2 [%d1], 128",
      "prefetch.global.tensormap [%d1]",
      "prefetchu.L2 [%d1]",
      "applypriority.global.L2::evict_last [%d1], 128",
      "applypriority.global.L2::evict_normal [%d1], 64",
      "discard.global.L2 [%d1]",
      "discard.global.L2 [%d1], %w1",
      "discard.global.L1 [%d1], 128",
      "discard.shared.L2 [%d1], 128",
      "setmaxnreg.inc.sync.aligned.u32 20",
      "setmaxnreg.inc.sync.aligned.u32 236",
      "setmaxnreg.inc.sync.aligned.u32 %w1",
      "setmaxnreg.inc.dec.sync.aligned.u32 40",
      "setmaxnreg.sync.aligned.u32 40",
      "griddepcontrol",
      "griddepcontrol.wait 1",
      "griddepcontrol.wait.launch_dependents",
      "fence",
      "fence.acq_rel.galaxy",
      "fence.proxy.brandnew",
      "fence.acq_rel.gpu %w1",
      "mov.u32 %w1, %reserved_smem_offset_0",
  };
  for (unsigned k = 0; k < sizeof statements / sizeof statements[0]; k++) {
    hd_buf text = {0};
    op_machine x;
    hd_diag d = {0};
    char body[256];
    snprintf(body, sizeof body, "%s;", statements[k]);
    body_ptx(&text, "", body, 1, 1);
    op_load(&x, &text, HD_ISA_AUTO);
    if (hd_emu_supported(x.p, "k", &d) != HD_ERR_UNSUPPORTED) fail_msg("not refused: %s", statements[k]);
    op_unload(&x);
    hd_buf_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("lop3 tells whether its result is zero", lop3_tells_whether_its_result_is_zero),
      BEHAVIOUR("addresses of parameters may have 32 bits", addresses_of_parameters_may_have_32_bits),
      BEHAVIOUR("addresses of local variables may have 32 bits",
                addresses_of_local_variables_may_have_32_bits),
      BEHAVIOUR("no shared memory is reserved", no_shared_memory_is_reserved),
      BEHAVIOUR("policies are values", policies_are_values),
      BEHAVIOUR("discarded lines hold nothing of use", discarded_lines_hold_nothing_of_use),
      BEHAVIOUR("warps with different roles meet at named barriers",
                warps_with_different_roles_meet_at_named_barriers),
      BEHAVIOUR("words and operands that make no sense are refused",
                words_and_operands_that_make_no_sense_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
