/* Exchanges and reductions between the threads of a warp: shfl, vote, match, redux and matrices. */
#include "emu/num/num.h"
#include "emu/ops_warp.h"

/* ---- shfl -------------------------------------------------------------------------- */

/* PTX ISA, shfl: "the destination lane, or its own". */
static uint64_t shuffled(const uint64_t in[][3], unsigned lane, char mode, bool *ok) {
  const uint32_t b = (uint32_t)in[lane][1] & 31, c = (uint32_t)in[lane][2] & 31,
                 seg = (uint32_t)in[lane][2] >> 8 & 31;
  const int max = (int)((lane & seg) | (c & ~seg & 31)), min = (int)(lane & seg);
  int j = 0;
  switch (mode) {
  case 'u':
    j = (int)lane - (int)b;
    *ok = j >= max;
    break;
  case 'd':
    j = (int)lane + (int)b;
    *ok = j <= max;
    break;
  case 'b':
    j = (int)(lane ^ b);
    *ok = j <= max;
    break;
  default: j = min | (int)(b & ~seg & 31); *ok = j <= max;
  }
  return (uint32_t)in[*ok ? (unsigned)j : lane][0];
}

static void shuffles(void **state) {
  static const struct {
    char mode;
    const char *name;
  } modes[] = {{'u', "up"}, {'d', "down"}, {'b', "bfly"}, {'i', "idx"}};
  for (unsigned m = 0; m < 4; m++) {
    for (uint64_t seed = 0; seed < 16; seed++) {
      uint64_t in[LANES][3], out[LANES] = {0};
      char body[512];
      for (unsigned l = 0; l < LANES; l++) {
        in[l][0] = hd_random_at(seed, l);
        in[l][1] = hd_random_at(seed, 100 + l) & 31;
        in[l][2] = seed % 2 ? hd_random_at(seed, 200 + l) & 0x1f1f : modes[m].mode == 'u' ? 0 : 31;
      }
      snprintf(body, sizeof body,
               "ld.global.u32 %%w1, [%%in]; ld.global.u32 %%w2, [%%in+8]; ld.global.u32 %%w3, [%%in+16];\n"
               "shfl.%s%s.b32 %%w4|%%p1, %%w1, %%w2, %%w3%s; selp.u32 %%w5, 1, 0, %%p1;\n"
               "mov.b64 %%d1, {%%w4, %%w5}; st.global.u64 [%%out], %%d1;\n",
               seed % 3 ? "sync." : "", modes[m].name, seed % 3 ? ", -1" : "");
      run_words("", body, &in[0][0], 3, out, 1, LANES);
      for (unsigned l = 0; l < LANES; l++) {
        bool ok;
        const uint64_t want = shuffled((const uint64_t(*)[3])in, l, modes[m].mode, &ok);
        assert_int_equal(out[l], want | (uint64_t)ok << 32);
      }
    }
  }
}

/* ---- vote, match, redux, elect ---------------------------------------------------------- */

/* Each group of lanes (those whose bit in `mask` is set, and the others) votes by itself. */
static void votes_count_their_members_only(void **state) {
  for (uint64_t seed = 0; seed < 24; seed++) {
    uint64_t in[LANES], out[LANES][6];
    const uint32_t mask = seed == 0 ? UINT32_MAX : (uint32_t)hd_random_at(seed, 99);
    char body[2048];
    for (unsigned l = 0; l < LANES; l++) in[l] = seed % 4 == 3 ? seed & 4 : hd_random_at(seed, l) % 3;
    snprintf(body, sizeof body,
             "ld.global.u32 %%w1, [%%in]; setp.eq.u32 %%p1, %%w1, 0; shr.u32 %%w2, 0x%x, %%i; and.b32 %%w2, "
             "%%w2, 1; setp.ne.u32 %%p9, %%w2, 0;\n"
             "selp.b32 %%w10, 0x%x, 0x%x, %%p9;\n@%%p9 bra one;\n"
             "vote.sync.ballot.b32 %%w3, %%p1, %%w10; vote.sync.all.pred %%p2, !%%p1, %%w10; "
             "vote.sync.any.pred %%p3, %%p1, %%w10;\n"
             "vote.sync.uni.pred %%p4, %%p1, %%w10; match.any.sync.b32 %%w4, %%w1, %%w10; match.all.sync.b32 "
             "%%w5|%%p5, %%w1, %%w10;\n"
             "redux.sync.add.u32 %%w6, %%w1, %%w10; redux.sync.max.s32 %%w7, %%w1, %%w10; elect.sync "
             "%%w8|%%p6, %%w10; activemask.b32 %%w9; bra.uni done;\n"
             "one:\n"
             "vote.sync.ballot.b32 %%w3, %%p1, %%w10; vote.sync.all.pred %%p2, !%%p1, %%w10; "
             "vote.sync.any.pred %%p3, %%p1, %%w10;\n"
             "vote.sync.uni.pred %%p4, %%p1, %%w10; match.any.sync.b32 %%w4, %%w1, %%w10; match.all.sync.b32 "
             "%%w5|%%p5, %%w1, %%w10;\n"
             "redux.sync.add.u32 %%w6, %%w1, %%w10; redux.sync.max.s32 %%w7, %%w1, %%w10; elect.sync "
             "%%w8|%%p6, %%w10; activemask.b32 %%w9;\n"
             "done:\n"
             "selp.u32 %%w11, 1, 0, %%p2; selp.u32 %%w12, 2, 0, %%p3; selp.u32 %%w13, 4, 0, %%p4; selp.u32 "
             "%%w14, 8, 0, %%p5; selp.u32 %%w15, 16, 0, %%p6;\n"
             "add.u32 %%w11, %%w11, %%w12; add.u32 %%w11, %%w11, %%w13; add.u32 %%w11, %%w11, %%w14; add.u32 "
             "%%w11, %%w11, %%w15;\n"
             "mov.b64 %%d1, {%%w3, %%w4}; mov.b64 %%d2, {%%w5, %%w6}; mov.b64 %%d3, {%%w7, %%w8}; mov.b64 "
             "%%d4, {%%w9, %%w11};\n"
             "st.global.v2.u64 [%%out], {%%d1, %%d2}; st.global.v2.u64 [%%out+16], {%%d3, %%d4};\n",
             mask, mask, ~mask);
    run_words("", body, in, 1, &out[0][0], 6, LANES);
    for (unsigned l = 0; l < LANES; l++) {
      const uint32_t group = mask >> l & 1 ? mask : ~mask;
      uint32_t zeros = 0, same = 0, sum = 0, most = 0;
      bool all_same = true;
      for (unsigned k = 0; k < LANES; k++) {
        if (!(group >> k & 1)) continue;
        zeros |= (uint32_t)(in[k] == 0) << k;
        same |= (uint32_t)(in[k] == in[l]) << k;
        all_same &= in[k] == in[l];
        sum += (uint32_t)in[k];
        if (in[k] > most) most = (uint32_t)in[k];
      }
      const uint32_t leader = (uint32_t)__builtin_ctz(group);
      const uint32_t flags = (zeros == 0) | (zeros != 0) << 1 | (zeros == 0 || zeros == group) << 2 |
                             all_same << 3 | (uint32_t)(l == leader) << 4;
      assert_int_equal(out[l][0], zeros | (uint64_t)same << 32);
      assert_int_equal(out[l][1], (all_same ? group : 0) | (uint64_t)sum << 32);
      assert_int_equal(out[l][2], most | (uint64_t)leader << 32);
      assert_int_equal(out[l][3], group | (uint64_t)flags << 32);
    }
  }
}

static void reductions_of_floats(void **state) {
  for (uint64_t seed = 0; seed < 32; seed++) {
    uint64_t in[LANES], out[LANES][2];
    for (unsigned l = 0; l < LANES; l++) in[l] = op_value(seed, l) & UINT32_MAX;
    run_words("",
              "ld.global.b32 %w1, [%in]; redux.sync.min.f32 %w2, %w1, -1; redux.sync.max.abs.NaN.f32 %w3, "
              "%w1, -1;\n"
              "redux.sync.and.b32 %w4, %w1, -1; redux.sync.xor.b32 %w5, %w1, -1; mov.b64 %d1, {%w2, %w3}; "
              "mov.b64 %d2, {%w4, %w5};\n"
              "st.global.v2.u64 [%out], {%d1, %d2};\n",
              in, 1, &out[0][0], 2, LANES);
    float least = NAN, most = 0;
    bool nan = false;
    uint32_t both = UINT32_MAX, odd = 0;
    for (unsigned l = 0; l < LANES; l++) {
      const float v = f32_of(in[l]);
      nan |= isnan(v) != 0;
      least = num_min_f32(least, v, false, false, false, false);
      if (fabsf(v) > most) most = fabsf(v);
      both &= (uint32_t)in[l];
      odd ^= (uint32_t)in[l];
    }
    for (unsigned l = 0; l < LANES; l++) {
      assert_int_equal(out[l][0], bits_f32(least) | (nan ? 0x7fffffffull : bits_f32(most)) << 32);
      assert_int_equal(out[l][1], both | (uint64_t)odd << 32);
    }
  }
}

/* ---- Guards and divergence ------------------------------------------------------------------- */

static void guarded_instructions_write_active_lanes_only(void **state) {
  for (uint64_t seed = 0; seed < 16; seed++) {
    uint64_t in[LANES], out[LANES] = {0};
    for (unsigned l = 0; l < LANES; l++) in[l] = hd_random_at(seed, l);
    run_words("",
              "ld.global.u64 %d1, [%in]; and.b64 %d2, %d1, 1; setp.ne.u64 %p1, %d2, 0; mov.u64 %d3, 5; "
              "mov.u32 %w1, 9; setp.eq.u32 %p2, %w1, 9;\n"
              "@%p1 add.u64 %d3, %d3, 10; @!%p1 mul.lo.u64 %d3, %d3, 3; @%p1 mov.u32 %w1, 1; @!%p1 "
              "setp.eq.u32 %p2, %w1, 1;\n"
              "@%p1 bra odd; add.u64 %d3, %d3, 100; bra.uni join;\nodd: add.u64 %d3, %d3, 1000;\njoin:\n"
              "selp.u64 %d4, 7, 0, %p2; add.u64 %d3, %d3, %d4; cvt.u64.u32 %d5, %w1; add.u64 %d3, %d3, %d5; "
              "st.global.u64 [%out], %d3;\n",
              in, 1, out, 1, LANES);
    for (unsigned l = 0; l < LANES; l++)
      assert_int_equal(out[l], in[l] & 1 ? 15 + 1000 + 7 + 1 : 15 + 100 + 9);
  }
}

static void special_registers(void **state) {
  uint64_t in[64] = {0}, out[64][3];
  run_words(
      "",
      "mov.u32 %w1, %laneid; mov.u32 %w2, %lanemask_lt; mov.u32 %w3, %lanemask_ge; mov.u32 %w4, "
      "%warpid; mov.u32 %w5, %ntid.x;\n"
      "mov.u64 %d1, %clock64; mov.u64 %d2, %clock64; sub.u64 %d3, %d2, %d1; setp.gt.s64 %p1, %d3, 0; "
      "mov.u16 %h1, %tid.x; cvt.u32.u16 %w6, %h1;\n"
      "selp.u32 %w7, 1, 0, %p1; cvt.u64.u32 %d4, %tid.x; mov.u32 %w8, %nctaid.x; add.u32 %w8, %w8, WARP_SZ;\n"
      "mad.lo.u32 %w1, %w4, 100, %w1; add.u32 %w1, %w1, %w5; mov.b64 %d5, {%w2, %w3}; mov.b64 %d6, "
      "{%w1, %w6}; mov.b64 %d7, {%w7, %w8};\n"
      "add.u64 %d7, %d7, %d4; st.global.u64 [%out], %d5; st.global.u64 [%out+8], %d6; st.global.u64 "
      "[%out+16], %d7;\n",
      in, 1, &out[0][0], 3, 64);
  for (unsigned t = 0; t < 64; t++) {
    const unsigned l = t % 32;
    assert_int_equal(out[t][0], ((1u << l) - 1) | (uint64_t)(UINT32_MAX << l) << 32);
    assert_int_equal(out[t][1], (t / 32 * 100 + l + 64) | (uint64_t)t << 32);
    assert_int_equal(out[t][2], 1 + t + (33ull << 32));
  }
}

/* All components at once, half of each, and registers that change places. */
static void vectors_are_moved_element_by_element(void **state) {
  uint64_t in[64] = {0}, out[64][3];
  run_words(
      "",
      "{ .reg .v4 .b32 %v, %n; .reg .v4 .b16 %s; .reg .v2 .b32 %x; .reg .b16 %a, %b, %c;\n"
      "mov.v4.u32 %v, %tid; mov.v4.u32 {%w1, %w2, _, %w3}, %ntid; mov.v4.u16 %s, %tid;\n"
      "mov.v2.u32 {%w4, %w5}, {%v.x, 5}; mov.v2.b32 {%w4, %w5}, {%w5, %w4}; mov.v2.b32 %x, {%w4, %w5};\n"
      "mov.b64 %d1, %x; st.global.u64 [%out], %d1;\n" /* 5 and the thread */
      "mov.v4.b32 %n, %v; add.u32 %w6, %n.y, %n.z; add.u32 %w6, %w6, %n.w; add.u32 %w6, %w6, %w1;\n"
      "mov.b64 %d2, {%w6, %w2}; st.global.u64 [%out+8], %d2;\n" /* 64 and 1 */
      "cvt.u32.u16 %w7, %tid.x; cvt.u32.u8 %w8, %ntid.x; cvt.u32.u16 %w1, %s.x; add.u32 %w7, %w7, %w1;\n"
      "mov.b64 %d3, {%w7, %w8}; st.global.u64 [%out+16], %d3; }\n", /* twice the thread, and 64 */
      in, 1, &out[0][0], 3, 64);
  for (uint64_t t = 0; t < 64; t++) {
    assert_int_equal(out[t][0], 5 | t << 32);
    assert_int_equal(out[t][1], 64 | 1ull << 32);
    assert_int_equal(out[t][2], 2 * t | 64ull << 32);
  }
}

/* ---- Matrices ------------------------------------------------------------------------------------ */

/* mma is num_mma_run on the registers as they stand. */
static void mma_takes_registers_in_order(void **state) {
  uint64_t in[LANES][4], out[LANES][4];
  for (unsigned l = 0; l < LANES; l++)
    for (unsigned k = 0; k < 4; k++) in[l][k] = hd_random_at(21, l * 4 + k) & 0x3bff3bff3bff3bff;
  run_words("",
            "ld.global.v4.b32 {%w1, %w2, %w3, %w4}, [%in]; ld.global.v2.b32 {%w5, %w6}, [%in+16];\n"
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%w1, %w2, %w3, %w4}, "
            "{%w5, %w6}, {0f3F800000, 0f00000000, 0f40000000, 0f00000000};\n"
            "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%w1, %w2}, {%w5}, "
            "{%f1, %f2, %f3, %f4};\n"
            "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32 {%w7, %w8}, {%w1}, {%w5}, {0, 1};\n"
            "st.global.v4.f32 [%out], {%f1, %f2, %f3, %f4}; st.global.v2.u32 [%out+16], {%w7, %w8};\n",
            &in[0][0], 4, &out[0][0], 4, LANES);
  uint32_t r[6][LANES], c[4][LANES], d[4][LANES], ci[2][LANES], di[2][LANES];
  for (unsigned l = 0; l < LANES; l++) {
    for (unsigned k = 0; k < 6; k++) r[k][l] = (uint32_t)(in[l][k / 2] >> (32 * (k % 2)));
    c[0][l] = 0x3f800000, c[1][l] = 0, c[2][l] = 0x40000000, c[3][l] = 0;
    ci[0][l] = 0, ci[1][l] = 1;
  }
  num_mma m = {
      .m = 16, .n = 8, .k = 16, .a = NUM_MMA_F16, .b = NUM_MMA_F16, .c = NUM_MMA_F32, .d = NUM_MMA_F32};
  assert_true(num_mma_setup(&m));
  num_mma_run(&m, d, r, r + 4, c);
  m = (num_mma){
      .m = 16, .n = 8, .k = 8, .a = NUM_MMA_BF16, .b = NUM_MMA_BF16, .c = NUM_MMA_F32, .d = NUM_MMA_F32};
  assert_true(num_mma_setup(&m));
  num_mma_run(&m, c, r, r + 4, d);
  m = (num_mma){.m = 8,
                .n = 8,
                .k = 16,
                .a = NUM_MMA_S8,
                .b = NUM_MMA_U8,
                .c = NUM_MMA_S32,
                .d = NUM_MMA_S32,
                .satfinite = true};
  assert_true(num_mma_setup(&m));
  num_mma_run(&m, di, r, r + 4, ci);
  for (unsigned l = 0; l < LANES; l++) {
    assert_int_equal(out[l][0], c[0][l] | (uint64_t)c[1][l] << 32);
    assert_int_equal(out[l][1], c[2][l] | (uint64_t)c[3][l] << 32);
    assert_int_equal(out[l][2], di[0][l] | (uint64_t)di[1][l] << 32);
  }
}

/* The products of small integers are exact, so any layout must give the same matrix. */
static void wmma_multiplies_in_every_shape_and_layout(void **state) {
  static const struct {
    unsigned m, n;
    const char *name;
  } shapes[] = {{16, 16, "m16n16k16"}, {32, 8, "m32n8k16"}, {8, 32, "m8n32k16"}};
  for (unsigned s = 0; s < 3; s++) {
    for (unsigned layouts = 0; layouts < 8; layouts++) {
      const unsigned M = shapes[s].m, N = shapes[s].n, K = 16;
      const bool a_col = layouts & 1, b_col = layouts & 2, d_col = layouts & 4;
      static uint16_t a[512], b[512];
      static float d[512];
      float want[32][32] = {{0}};
      for (unsigned i = 0; i < M; i++)
        for (unsigned k = 0; k < K; k++) {
          const int v = (int)(hd_random_at(layouts, i * 16 + k) % 15) - 7;
          a[a_col ? k * M + i : i * K + k] = num_f32_to_f16((float)v);
        }
      for (unsigned k = 0; k < K; k++)
        for (unsigned j = 0; j < N; j++) {
          const int v = (int)(hd_random_at(~(uint64_t)layouts, k * 32 + j) % 15) - 7;
          b[b_col ? j * K + k : k * N + j] = num_f32_to_f16((float)v);
        }
      for (unsigned i = 0; i < M; i++)
        for (unsigned j = 0; j < N; j++) {
          want[i][j] = 2;
          for (unsigned k = 0; k < K; k++)
            want[i][j] += num_f16_to_f32(a[a_col ? k * M + i : i * K + k]) *
                          num_f16_to_f32(b[b_col ? j * K + k : k * N + j]);
        }
      hd_buf text = {0};
      op_ptx_header(&text);
      const char *A = a_col ? "col" : "row", *B = b_col ? "col" : "row", *D = d_col ? "col" : "row",
                 *name = shapes[s].name;
      hd_buf_printf(
          &text,
          ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 d)\n{\n.reg .b32 %%a<8>, %%b<8>; .reg "
          ".f32 %%c<8>, %%d<8>; .reg .b64 %%p<3>; .reg .f32 %%two;\n"
          "ld.param.u64 %%p0, [a]; ld.param.u64 %%p1, [b]; ld.param.u64 %%p2, [d]; mov.f32 %%two, 2.0;\n"
          "wmma.load.a.sync.aligned.%s.%s.global.f16 {%%a0,%%a1,%%a2,%%a3,%%a4,%%a5,%%a6,%%a7}, [%%p0], %u;\n"
          "wmma.load.b.sync.aligned.%s.%s.global.f16 {%%b0,%%b1,%%b2,%%b3,%%b4,%%b5,%%b6,%%b7}, [%%p1];\n"
          "wmma.mma.sync.aligned.%s.%s.%s.f32.f32 {%%d0,%%d1,%%d2,%%d3,%%d4,%%d5,%%d6,%%d7}, "
          "{%%a0,%%a1,%%a2,%%a3,%%a4,%%a5,%%a6,%%a7}, "
          "{%%b0,%%b1,%%b2,%%b3,%%b4,%%b5,%%b6,%%b7}, {%%two,%%two,%%two,%%two,%%two,%%two,%%two,%%two};\n"
          "wmma.store.d.sync.aligned.%s.%s.global.f32 [%%p2], {%%d0,%%d1,%%d2,%%d3,%%d4,%%d5,%%d6,%%d7}, "
          "%u;\nret;\n}\n",
          A, name, a_col ? M : K, B, name, A, B, name, D, name, d_col ? M : N);
      op_machine x;
      hd_diag diag = {0};
      op_load(&x, &text, HD_ISA_AUTO);
      const uint64_t args[3] = {op_alloc(&x, a, sizeof a), op_alloc(&x, b, sizeof b),
                                op_alloc(&x, NULL, sizeof d)};
      op_ok(op_launch(&x, "k", 1, LANES, args, sizeof args, &diag), &diag);
      op_ok(hd_emu_read(x.e, args[2], d, (size_t)M * N * 4, &diag), &diag);
      for (unsigned i = 0; i < M; i++)
        for (unsigned j = 0; j < N; j++)
          if (d[d_col ? j * M + i : i * N + j] != want[i][j])
            fail_msg("%s, layouts %u: element %u, %u", name, layouts, i, j);
      op_unload(&x);
      hd_buf_free(&text);
    }
  }
}

static void matrices_move(void **state) {
  uint64_t in[LANES][2], out[LANES][4];
  for (unsigned l = 0; l < LANES; l++)
    for (unsigned k = 0; k < 2; k++) in[l][k] = hd_random_at(4, 2 * l + k);
  run_words("",
            ".shared .align 16 .b8 s[512]; .shared .align 16 .b8 t[512];\n"
            "mov.u32 %w9, s; mad.lo.u32 %w9, %i, 16, %w9; ld.global.v2.u64 {%d1, %d2}, [%in]; "
            "st.shared.v2.u64 [%w9], {%d1, %d2}; bar.sync 0;\n"
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%w1, %w2, %w3, %w4}, [%w9]; "
            "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%w5, %w6}, [%w9];\n"
            "movmatrix.sync.aligned.m8n8.trans.b16 %w7, %w1;\n"
            "mov.u32 %w10, t; mad.lo.u32 %w10, %i, 16, %w10; stmatrix.sync.aligned.m8n8.x4.shared.b16 "
            "[%w10], {%w1, %w2, %w3, %w4}; bar.sync 0;\n"
            "ld.shared.v2.u64 {%d3, %d4}, [%w10]; xor.b64 %d3, %d3, %d1; xor.b64 %d4, %d4, %d2; or.b64 %d3, "
            "%d3, %d4;\n"
            "mov.b64 %d5, {%w1, %w5}; mov.b64 %d6, {%w7, %w6}; st.global.u64 [%out], %d3; st.global.u64 "
            "[%out+8], %d5; st.global.u64 [%out+16], %d6;\n",
            &in[0][0], 2, &out[0][0], 4, LANES);
  const uint16_t(*rows)[8] = (const void *)in;
  for (unsigned l = 0; l < LANES; l++) {
    const unsigned i = l / 4, j = l % 4 * 2;
    const uint32_t direct = rows[i][j] | (uint32_t)rows[i][j + 1] << 16,
                   turned = rows[j][i] | (uint32_t)rows[j + 1][i] << 16;
    const uint32_t second = rows[8 + j][i] | (uint32_t)rows[9 + j][i] << 16;
    assert_int_equal(out[l][0], 0);
    assert_int_equal(out[l][1], direct | (uint64_t)turned << 32);
    assert_int_equal(out[l][2], turned | (uint64_t)second << 32);
  }
}

/* Odd lanes vote the contrary, at an instruction of their own. */
static void votes_from_two_places_negate_their_own_predicate(void **state) {
  uint64_t in[LANES], out[LANES][1];
  for (uint64_t seed = 0; seed < 8; seed++) {
    uint32_t yes = 0;
    for (unsigned l = 0; l < LANES; l++) {
      in[l] = hd_random_at(seed, l) % 2;
      yes |= (uint32_t)(l % 2 ? in[l] == 0 : in[l] != 0) << l;
    }
    run_words(
        "",
        "ld.global.u32 %w1, [%in]; setp.ne.u32 %p1, %w1, 0; and.b32 %w2, %i, 1; setp.ne.u32 %p2, %w2, 0;\n"
        "@%p2 bra odd;\nvote.sync.ballot.b32 %w3, %p1, -1; bra.uni done;\n"
        "odd: vote.sync.ballot.b32 %w4, !%p1, -1; mov.u32 %w3, %w4;\n"
        "done: cvt.u64.u32 %d1, %w3; st.global.u64 [%out], %d1;\n",
        in, 1, &out[0][0], 1, LANES);
    for (unsigned l = 0; l < LANES; l++) assert_int_equal(out[l][0], yes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("shfl finds its lane in every mode and segment", shuffles),
      BEHAVIOUR("votes, matches, sums and elections count their members only",
                votes_count_their_members_only),
      BEHAVIOUR("votes from two places negate their own predicate",
                votes_from_two_places_negate_their_own_predicate),
      BEHAVIOUR("redux of floats and bits", reductions_of_floats),
      BEHAVIOUR("guarded and divergent instructions write active lanes only",
                guarded_instructions_write_active_lanes_only),
      BEHAVIOUR("special registers, in all widths", special_registers),
      BEHAVIOUR("vectors are moved element by element", vectors_are_moved_element_by_element),
      BEHAVIOUR("mma takes its registers in order", mma_takes_registers_in_order),
      BEHAVIOUR("wmma multiplies in every shape and layout", wmma_multiplies_in_every_shape_and_layout),
      BEHAVIOUR("ldmatrix, stmatrix and movmatrix move 8x8 blocks", matrices_move),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
