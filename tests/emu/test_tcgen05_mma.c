/* tcgen05.mma: each kind's products against sums of whole numbers. */
#include "emu/tcgen05_product.h"

#define PLAIN(kind, element, sum) .words = ".kind::" kind, .a = &(element), .b = &(element), .sums = sum

static void check_all(const product *p, size_t n) {
  for (size_t k = 0; k < n; k++) check_product(&p[k], 100 + k, HD_ISA_AUTO);
}
#define CHECK(list) check_all(list, sizeof(list) / sizeof(list)[0])

static void products_of_each_kind_are_right(void **state) {
  static const product list[] = {
      {PLAIN("f16", f16, 'f'), .ctas = 1, .m = 128, .n = 64, .width_a = 128, .width_b = 128, .add = true},
      {PLAIN("f16", f16, 'h'), .ctas = 1, .m = 128, .n = 16, .width_a = 16, .width_b = 64, .add = true},
      {PLAIN("f16", bf16, 'f'), .ctas = 1, .m = 64, .n = 24, .width_a = 32, .width_b = 16},
      {PLAIN("tf32", tf32, 'f'), .ctas = 1, .m = 128, .n = 256, .width_a = 128, .width_b = 32, .add = true},
      {PLAIN("f8f6f4", e4m3, 'f'), .ctas = 1, .m = 128, .n = 32, .width_a = 64, .width_b = 128, .add = true},
      {PLAIN("f8f6f4", e5m2, 'h'), .ctas = 1, .m = 64, .n = 8, .width_a = 16, .width_b = 16, .add = true},
      {PLAIN("i8", s8, 's'), .ctas = 1, .m = 128, .n = 48, .width_a = 128, .width_b = 64, .add = true},
      {PLAIN("i8", u8, 's'), .ctas = 1, .m = 64, .n = 24, .width_a = 32, .width_b = 16, .add = true,
       .saturate = true},
      {.words = ".kind::i8",
       .a = &u8,
       .b = &s8,
       .sums = 's',
       .ctas = 1,
       .m = 128,
       .n = 16,
       .width_a = 16,
       .width_b = 16},
  };
  CHECK(list);
}

static void elements_of_8_6_and_4_bits_may_be_mixed(void **state) {
  static const element *const small[] = {&e4m3, &e5m2, &e2m3, &e3m2, &e2m1};
  for (unsigned a = 0; a < 5; a++)
    for (unsigned b = 0; b < 5; b += a % 2 + 1) {
      const product p = {.words = ".kind::f8f6f4",
                         .a = small[a],
                         .b = small[b],
                         .sums = 'f',
                         .ctas = 1,
                         .m = 64,
                         .n = 16,
                         .width_a = 32,
                         .width_b = 128,
                         .add = true,
                         .a_in_tensor = (a + b) % 2};
      check_product(&p, 200 + 5 * a + b, HD_ISA_AUTO);
    }
}

static void matrices_may_lie_across(void **state) {
  static const product list[] = {
      {PLAIN("f16", f16, 'f'), .ctas = 1, .m = 128, .n = 64, .width_a = 128, .width_b = 64, .a_across = true,
       .b_across = true, .add = true},
      {PLAIN("f16", f16, 'f'), .ctas = 1, .m = 64, .n = 16, .width_a = 16, .width_b = 32, .a_across = true,
       .b_across = true, .add = true},
      {PLAIN("f8f6f4", e4m3, 'f'), .ctas = 1, .m = 128, .n = 32, .width_a = 128, .width_b = 16,
       .a_across = true, .b_across = true},
      {PLAIN("i8", s8, 's'), .ctas = 1, .m = 64, .n = 32, .width_a = 64, .width_b = 32, .a_across = true,
       .b_across = true},
      {PLAIN("tf32", tf32, 'f'), .ctas = 1, .m = 128, .n = 32, .width_a = 1, .width_b = 1, .a_across = true,
       .b_across = true, .add = true},
      {PLAIN("f16", f16, 'f'), .ctas = 2, .m = 256, .n = 128, .width_a = 128, .width_b = 128,
       .b_across = true},
  };
  CHECK(list);
}

static void two_ctas_share_a_product(void **state) {
  static const product list[] = {
      {PLAIN("f16", f16, 'f'), .ctas = 2, .m = 256, .n = 64, .width_a = 128, .width_b = 128, .add = true},
      {PLAIN("f16", bf16, 'f'), .ctas = 2, .m = 128, .n = 32, .width_a = 32, .width_b = 16, .add = true},
      {PLAIN("tf32", tf32, 'f'), .ctas = 2, .m = 128, .n = 64, .width_a = 64, .width_b = 64,
       .a_in_tensor = true},
      {PLAIN("i8", s8, 's'), .ctas = 2, .m = 256, .n = 32, .width_a = 16, .width_b = 32, .add = true},
      {PLAIN("f8f6f4", e4m3, 'h'), .ctas = 2, .m = 256, .n = 16, .width_a = 64, .width_b = 128,
       .a_in_tensor = true},
      {PLAIN("f16", f16, 'f'), .ctas = 2, .m = 128, .n = 32, .width_a = 64, .width_b = 64, .sparse = true,
       .add = true},
  };
  CHECK(list);
}

static void options_of_the_instruction_count(void **state) {
  static const product list[] = {
      {PLAIN("f16", f16, 'f'), .ctas = 1, .m = 128, .n = 16, .width_a = 32, .width_b = 32, .add = true,
       .negate_a = true},
      {PLAIN("f8f6f4", e5m2, 'f'), .ctas = 1, .m = 128, .n = 16, .width_a = 32, .width_b = 32, .add = true,
       .negate_b = true},
      {PLAIN("f16", f16, 'f'), .ctas = 1, .m = 128, .n = 16, .width_a = 32, .width_b = 32, .add = true,
       .shrink = 3},
      {PLAIN("tf32", tf32, 'f'), .ctas = 1, .m = 64, .n = 16, .width_a = 32, .width_b = 32, .add = true,
       .shrink = 15, .disable = true},
      {PLAIN("f16", f16, 'f'), .ctas = 2, .m = 256, .n = 32, .width_a = 32, .width_b = 32, .add = true,
       .disable = true},
      {PLAIN("f16", f16, 'f'), .ctas = 1, .m = 64, .n = 16, .width_a = 32, .width_b = 32, .add = true,
       .d_lane = 16},
      {PLAIN("f16", f16, 'f'), .ctas = 1, .m = 64, .n = 16, .width_a = 32, .width_b = 32, .add = true,
       .d_lane = 16, .a_in_tensor = true},
      {.words = ".kind::f16.collector::a::lastuse",
       .a = &f16,
       .b = &f16,
       .sums = 'f',
       .ctas = 1,
       .m = 128,
       .n = 16,
       .width_a = 32,
       .width_b = 32},
  };
  CHECK(list);
}

static void weights_stay_while_d_is_divided_among_the_lanes(void **state) {
  static const product list[] = {
      {PLAIN("f16", f16, 'f'), .ctas = 1, .m = 32, .n = 128, .width_a = 32, .width_b = 128, .weights = true,
       .add = true},
      {PLAIN("tf32", tf32, 'f'), .ctas = 1, .m = 64, .n = 64, .width_a = 32, .width_b = 128, .weights = true,
       .a_in_tensor = true, .add = true},
      {PLAIN("f8f6f4", e4m3, 'f'), .ctas = 1, .m = 128, .n = 64, .width_a = 32, .width_b = 128,
       .weights = true},
      {PLAIN("i8", s8, 's'), .ctas = 1, .m = 32, .n = 64, .width_a = 32, .width_b = 64, .weights = true,
       .sparse = true, .add = true},
      {PLAIN("f16", bf16, 'f'), .ctas = 1, .m = 64, .n = 128, .width_a = 32, .width_b = 64, .weights = true,
       .sparse = true, .selector = 1},
      {.words = ".kind::f16.collector::b2::fill",
       .a = &f16,
       .b = &f16,
       .sums = 'f',
       .ctas = 1,
       .m = 64,
       .n = 64,
       .width_a = 32,
       .width_b = 32,
       .weights = true},
  };
  CHECK(list);
}

static void sparse_matrices_are_spread_by_their_metadata(void **state) {
  static const product list[] = {
      {PLAIN("f16", f16, 'f'), .ctas = 1, .m = 128, .n = 16, .width_a = 32, .width_b = 64, .sparse = true,
       .add = true},
      {PLAIN("f16", f16, 'h'), .ctas = 1, .m = 64, .n = 16, .width_a = 32, .width_b = 16, .sparse = true,
       .add = true, .selector = 1},
      {PLAIN("tf32", tf32, 'f'), .ctas = 1, .m = 128, .n = 32, .width_a = 16, .width_b = 128, .sparse = true,
       .add = true, .selector = 1},
      {PLAIN("f8f6f4", e4m3, 'f'), .ctas = 1, .m = 128, .n = 16, .width_a = 32, .width_b = 64, .sparse = true,
       .add = true},
      {.words = ".kind::f8f6f4",
       .a = &e2m1,
       .b = &e3m2,
       .sums = 'f',
       .ctas = 1,
       .m = 64,
       .n = 16,
       .width_a = 32,
       .width_b = 64,
       .sparse = true,
       .a_in_tensor = true,
       .add = true},
      {PLAIN("i8", s8, 's'), .ctas = 2, .m = 256, .n = 64, .width_a = 32, .width_b = 64, .sparse = true,
       .add = true},
      {PLAIN("f16", f16, 'f'), .ctas = 1, .m = 128, .n = 16, .width_a = 128, .width_b = 32, .sparse = true,
       .a_across = true, .b_across = true},
  };
  CHECK(list);
}

/* A and B of one type, sums of f32. */
#define SCALED(text, a_type, b_type)                                                                         \
  .words = ".kind::" text, .a = &(a_type), .b = &(b_type), .sums = 'f', .width_a = 32, .width_b = 64

static void blocks_are_scaled(void **state) {
  static const product list[] = {
      {SCALED("mxf8f6f4.block_scale.scale_vec::1X", e4m3, e5m2), .ctas = 1, .m = 128, .n = 64, .scales = 1,
       .a_byte = 3, .b_byte = 1, .add = true},
      {SCALED("mxf8f6f4.block_scale", e2m1, e2m3), .ctas = 2, .m = 128, .n = 96, .scales = 1, .b_byte = 2,
       .add = true},
      {SCALED("mxf4.block_scale.scale_vec::2X", pairs, pairs), .ctas = 1, .m = 128, .n = 64, .scales = 2,
       .a_byte = 2, .add = true},
      {SCALED("mxf4nvf4.block_scale.scale_vec::4X", pairs, pairs), .ctas = 1, .m = 128, .n = 128, .scales = 4,
       .ue4m3 = true, .add = true, .negate_a = true},
      {SCALED("mxf4nvf4.block_scale.block16", pairs, pairs), .ctas = 2, .m = 256, .n = 64, .scales = 4,
       .ue4m3 = true, .add = true},
      {SCALED("mxf4nvf4.block_scale.block32", pairs, pairs), .ctas = 1, .m = 128, .n = 16, .scales = 2,
       .a_in_tensor = true},
  };
  CHECK(list);
}

static void blocks_of_sparse_matrices_are_scaled(void **state) {
  static const product list[] = {
      {SCALED("mxf8f6f4.block_scale", e4m3, e4m3), .ctas = 1, .m = 128, .n = 32, .scales = 1, .sparse = true,
       .add = true},
      {SCALED("mxf4.block_scale", pairs, pairs), .ctas = 1, .m = 128, .n = 32, .scales = 2, .sparse = true,
       .add = true},
      {SCALED("mxf4nvf4.block_scale.scale_vec::4X", pairs, pairs), .ctas = 2, .m = 128, .n = 64, .scales = 4,
       .ue4m3 = true, .sparse = true},
  };
  CHECK(list);
}

static bool runs_here(hd_emu_isa isa) {
  const hd_emu_options opt = {.isa = isa};
  hd_emu *e;
  hd_diag d = {0};
  if (hd_emu_create(&opt, &e, &d) != HD_OK) return false;
  hd_emu_destroy(e);
  return true;
}

static void all_instruction_sets_agree(void **state) {
  static const product p = {PLAIN("f16", f16, 'f'), .ctas = 1,      .m = 128,   .n = 32,
                            .width_a = 128,         .width_b = 128, .add = true};
  for (hd_emu_isa isa = HD_ISA_PORTABLE; isa <= HD_ISA_AVX512; isa++)
    if (runs_here(isa)) check_product(&p, 900, isa);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("products of each kind are right", products_of_each_kind_are_right),
      BEHAVIOUR("elements of 8, 6 and 4 bits may be mixed", elements_of_8_6_and_4_bits_may_be_mixed),
      BEHAVIOUR("matrices may lie across", matrices_may_lie_across),
      BEHAVIOUR("two CTAs share a product", two_ctas_share_a_product),
      BEHAVIOUR("options of the instruction count", options_of_the_instruction_count),
      BEHAVIOUR("weights stay while D is divided among the lanes",
                weights_stay_while_d_is_divided_among_the_lanes),
      BEHAVIOUR("sparse matrices are spread by their metadata", sparse_matrices_are_spread_by_their_metadata),
      BEHAVIOUR("blocks are scaled", blocks_are_scaled),
      BEHAVIOUR("blocks of sparse matrices are scaled", blocks_of_sparse_matrices_are_scaled),
      BEHAVIOUR("all instruction sets agree", all_instruction_sets_agree),
      BEHAVIOUR("ptxas takes the kernels", ptxas_takes_the_kernels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
