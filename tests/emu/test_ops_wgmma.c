/* Warpgroup products: every type, layout and shape against plain sums. */
#include "emu/wgmma_run.h"

static void check_product(const product *p, uint64_t seed, unsigned threads, hd_emu_isa isa) {
  static inputs in;
  static uint32_t out[2 * THREADS][128];
  hd_buf text = {0};
  hd_diag d = {0};
  make_inputs(p, seed, &in);
  kernel_begin(&text, d_regs(p));
  hd_buf_printf(&text, "mov.b64 %%x2, 0x%llx; mov.b64 %%x3, 0x%llx; wgmma.fence.sync.aligned;\n",
                (unsigned long long)descriptor(&p->at), (unsigned long long)descriptor(&p->bt));
  for (unsigned k = 0; k < p->times; k++) put_product(&text, p);
  hd_buf_puts(&text, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
  kernel_end(&text, d_regs(p));
  op_ok(run_text(&text, threads, &in, out, isa, &d), &d);
  for (unsigned t = 0; t < threads; t++)
    for (unsigned k = 0; k < d_regs(p); k++)
      if (out[t][k] != expected(p, t % THREADS, k))
        fail_msg("m64n%uk%u.%s.%s.%s, widths %u %u, major %d %d: thread %u register %u is %x, not %x", p->n,
                 k_of(p), p->d, p->a->name, p->b->name, p->at.width, p->bt.width, p->at.mn_major,
                 p->bt.mn_major, t, k, out[t][k], expected(p, t % THREADS, k));
  hd_buf_free(&text);
}

static const struct {
  const element *a, *b;
  const char *d;
} types[] = {{&f16, &f16, "f16"},   {&f16, &f16, "f32"},   {&bf16, &bf16, "f32"}, {&tf32, &tf32, "f32"},
             {&e4m3, &e4m3, "f32"}, {&e4m3, &e5m2, "f16"}, {&e5m2, &e4m3, "f32"}, {&e5m2, &e5m2, "f16"},
             {&s8, &s8, "s32"},     {&s8, &u8, "s32"},     {&u8, &s8, "s32"},     {&u8, &u8, "s32"},
             {&b1, &b1, "s32"}};
enum { N_TYPES = sizeof types / sizeof types[0] };
static const unsigned widths[] = {16, 32, 64, 128};

static product product_of(unsigned type, unsigned n) {
  return (product){.a = types[type].a,
                   .b = types[type].b,
                   .d = types[type].d,
                   .n = n,
                   .at = tight(false, 128, 64, 0),
                   .bt = tight(false, 128, n, 16384),
                   .add = true,
                   .scale_a = 1,
                   .scale_b = 1,
                   .times = 1};
}

static void every_type_and_layout(void **state) {
  hd_emu_isa isas[3];
  const unsigned n_isas = op_isas(isas);
  uint64_t seed = 0;
  for (unsigned t = 0; t < N_TYPES; t++)
    for (unsigned w = 0; w < 16; w++)
      for (unsigned major = 0; major < (types[t].a->bits == 16 ? 4u : 1u); major++) {
        product p = product_of(t, types[t].a->exponent ? 24 : 32);
        p.at = tight(major & 1, widths[w % 4], 64, 0);
        p.bt = tight(major >> 1, widths[w / 4], p.n, 32768);
        seed++;
        p.add = seed % 3 != 0;
        p.scale_a = types[t].a->exponent && seed % 5 == 0 ? -1 : 1;
        p.scale_b = types[t].a->exponent && seed % 7 == 0 ? -1 : 1;
        check_product(&p, seed, THREADS, isas[seed % n_isas]);
      }
}

static void every_width_of_n(void **state) {
  for (unsigned n = 8; n <= 256; n += 8)
    for (unsigned t = 0; t < N_TYPES; t++) {
      if ((n / 8 + t) % 4 && n != 256 && n != 8) continue; /* a quarter of them */
      if (!types[t].a->exponent && n > 32 && n % 16) continue;
      product p = product_of(t, n);
      p.a_in_regs = n % 3 == 0;
      check_product(&p, n * 32 + t, THREADS, HD_ISA_AUTO);
    }
}

static void a_from_registers(void **state) {
  for (unsigned t = 0; t < N_TYPES; t++)
    for (unsigned major = 0; major < (types[t].a->bits == 16 ? 2u : 1u); major++) {
      product p = product_of(t, 16);
      p.a_in_regs = true;
      p.bt = tight(major, 64, p.n, 2048);
      p.scale_a = types[t].a->exponent ? -1 : 1;
      check_product(&p, t, THREADS, HD_ISA_AUTO);
    }
}

/* Further columns of a swizzled tile are reached by moving the start; a pattern may begin anywhere. */
static void descriptors_that_start_inside_a_pattern(void **state) {
  for (unsigned column = 0; column < 128; column += 32) {
    product p = product_of(1, 64);
    p.at.start += column;
    p.bt.start += 128 - 32 - column;
    check_product(&p, column, THREADS, HD_ISA_AUTO);
  }
  for (unsigned offset = 1; offset < 8; offset++) {
    product p = product_of(2, 32);
    p.at = tight(false, 128, 64, 1024 + offset * 128);
    p.at.base_offset = offset;
    check_product(&p, offset, THREADS, HD_ISA_AUTO);
  }
}

static void products_of_one_accumulator_add_up_in_flight(void **state) {
  for (unsigned t = 0; t < N_TYPES; t++) {
    product p = product_of(t, 16);
    p.times = 3;
    p.a_in_regs = t % 2;
    if (types[t].a->exponent) check_product(&p, t, THREADS, HD_ISA_AUTO);
  }
}

static void each_warpgroup_of_a_cta_makes_its_own_product(void **state) {
  const product p = product_of(1, 128);
  check_product(&p, 7, 2 * THREADS, HD_ISA_AUTO);
}

static void integer_sums_wrap_or_saturate(void **state) {
  static inputs in;
  static uint32_t out[THREADS][128];
  for (unsigned sat = 0; sat < 2; sat++) {
    product p = product_of(8, 8);
    hd_buf text = {0};
    hd_diag d = {0};
    p.satfinite = sat;
    make_inputs(&p, 3, &in);
    for (unsigned t = 0; t < THREADS; t++)
      for (unsigned k = 0; k < 4; k++) in.d[t][k] = k % 2 ? 0x7ffffff0 : 0x80000010;
    kernel_begin(&text, 4);
    hd_buf_printf(&text, "mov.b64 %%x2, 0x%llx; mov.b64 %%x3, 0x%llx; wgmma.fence.sync.aligned;\n",
                  (unsigned long long)descriptor(&p.at), (unsigned long long)descriptor(&p.bt));
    put_product(&text, &p);
    hd_buf_puts(&text, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
    kernel_end(&text, 4);
    op_ok(run_text(&text, THREADS, &in, out, HD_ISA_AUTO, &d), &d);
    for (unsigned t = 0; t < THREADS; t++)
      for (unsigned k = 0; k < 4; k++) {
        unsigned row, col;
        d_place(t, k, &row, &col);
        int64_t sum = (int32_t)in.d[t][k];
        for (unsigned j = 0; j < 32; j++) sum += A[row][j] * B[col][j];
        if (sat) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        assert_int_equal(out[t][k], (uint32_t)sum);
      }
    hd_buf_free(&text);
  }
}

/* NaN and infinity go through, an overflow of f32's range is exact before it is rounded. */
static void special_values(void **state) {
  static const struct {
    uint32_t a, b, start, want; /* tf32 and f32 patterns */
  } cases[] = {
      {0x7fc00000, 0x3f800000, 0, 0x7fffffff},          {0x7f800000, 0, 0, 0x7fffffff},
      {0x7f800000, 0xbf800000, 0, 0xff800000},          {0x7f000000, 0x40000000, 0xff000000, 0x7f000000},
      {0x7f000000, 0x3f800000, 0x7f000000, 0x7f800000}, {0x00800000, 0x3f000000, 0, 0x00400000},
      {0x1f800000, 0x1f800000, 0x3f800000, 0x3f800000}};
  for (unsigned c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    static inputs in;
    static uint32_t out[THREADS][128];
    product p = product_of(3, 8);
    hd_buf text = {0};
    hd_diag d = {0};
    memset(&in, 0, sizeof in);
    memcpy(in.image + byte_of(&p.at, 32, 0, 0), &cases[c].a, 4);
    memcpy(in.image + byte_of(&p.bt, 32, 0, 0), &cases[c].b, 4);
    in.d[0][0] = cases[c].start;
    kernel_begin(&text, 4);
    hd_buf_printf(&text, "mov.b64 %%x2, 0x%llx; mov.b64 %%x3, 0x%llx; wgmma.fence.sync.aligned;\n",
                  (unsigned long long)descriptor(&p.at), (unsigned long long)descriptor(&p.bt));
    put_product(&text, &p);
    hd_buf_puts(&text, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
    kernel_end(&text, 4);
    op_ok(run_text(&text, THREADS, &in, out, HD_ISA_AUTO, &d), &d);
    assert_int_equal(out[0][0], cases[c].want);
    hd_buf_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every type and layout", every_type_and_layout),
      BEHAVIOUR("every width of n", every_width_of_n),
      BEHAVIOUR("A from registers", a_from_registers),
      BEHAVIOUR("descriptors that start inside a pattern", descriptors_that_start_inside_a_pattern),
      BEHAVIOUR("products of one accumulator add up in flight", products_of_one_accumulator_add_up_in_flight),
      BEHAVIOUR("each warpgroup of a CTA makes its own product",
                each_warpgroup_of_a_cta_makes_its_own_product),
      BEHAVIOUR("integer sums wrap or saturate", integer_sums_wrap_or_saturate),
      BEHAVIOUR("special values", special_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
