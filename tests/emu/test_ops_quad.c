/* mma.m8n8k4 of f16: each of its four products against plain sums, through PTX. */
#include "emu/ops_warp.h"

static uint16_t half_of(int v) { /* |v| < 2048 */
  uint16_t bits = 0;
  for (uint32_t b = 0; b < 0x6c00; b++) { /* whole numbers are few: look them up */
    const unsigned e = b >> 10, m = b & 1023;
    if (e >= 15 && (1024 + m) << (e - 15) == (unsigned)abs(v) << 10) bits = (uint16_t)b;
  }
  return v < 0 ? bits | 0x8000 : bits;
}
static uint32_t float_of(int v) {
  const float f = (float)v;
  uint32_t b;
  memcpy(&b, &f, 4);
  return b;
}

static int A[4][8][4], B[4][4][8], C[4][8][8];

/* PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type". */
static int a_element(bool col, unsigned lane, unsigned i) {
  const unsigned p = lane % 16 / 4, upper = lane < 16 ? 0 : 4;
  return col ? A[p][i % 4 + upper][lane % 4] : A[p][lane % 4 + upper][i];
}
static int b_element(bool row, unsigned lane, unsigned i) {
  const unsigned p = lane % 16 / 4, upper = lane < 16 ? 0 : 4;
  return row ? B[p][lane % 4][i + upper] : B[p][i][lane % 4 + upper];
}
static void c_place(bool halves, unsigned lane, unsigned i, unsigned *row, unsigned *col) {
  const unsigned upper = lane < 16 ? 0 : 4, x = (lane & 1) + (i & 2);
  *row = halves ? lane % 4 + upper : x + upper;
  *col = halves ? i : (i & 4) + (lane & 2) + (i & 1);
}

static void fill(uint64_t seed) {
  for (unsigned k = 0; k < 128; k++) {
    (&A[0][0][0])[k] = (int)(hd_random_at(seed, k) % 15) - 7;
    (&B[0][0][0])[k] = (int)(hd_random_at(seed, 1000 + k) % 15) - 7;
  }
  for (unsigned k = 0; k < 256; k++) (&C[0][0][0])[k] = (int)(hd_random_at(seed, 2000 + k) % 801) - 400;
}

static void four_products_at_once(void **state) {
  for (unsigned form = 0; form < 16; form++) {
    const bool a_col = form & 1, b_row = form & 2, c_f16 = form & 4, d_f16 = form & 8;
    static uint32_t in[LANES][12], out[LANES][8];
    char body[1024];
    fill(form);
    memset(in, 0, sizeof in);
    for (unsigned l = 0; l < LANES; l++)
      for (unsigned i = 0; i < 8; i++) {
        unsigned row, col;
        if (i < 4) {
          in[l][i / 2] |= (uint32_t)half_of(a_element(a_col, l, i)) << 16 * (i % 2);
          in[l][2 + i / 2] |= (uint32_t)half_of(b_element(b_row, l, i)) << 16 * (i % 2);
        }
        c_place(c_f16, l, i, &row, &col);
        const int c = C[l % 16 / 4][row][col];
        if (c_f16)
          in[l][4 + i / 2] |= (uint32_t)half_of(c) << 16 * (i % 2);
        else
          in[l][4 + i] = float_of(c);
      }
    snprintf(
        body, sizeof body,
        "ld.global.v4.b32 {%%w0,%%w1,%%w2,%%w3}, [%%in]; ld.global.v4.b32 {%%w4,%%w5,%%w6,%%w7}, [%%in+16];\n"
        "ld.global.v4.b32 {%%w8,%%w9,%%w10,%%w11}, [%%in+32];\n"
        "mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s %s, {%%w0,%%w1}, {%%w2,%%w3}, %s;\n"
        "st.global.v4.b32 [%%out], {%%w20,%%w21,%%w22,%%w23}; st.global.v4.b32 [%%out+16], "
        "{%%w24,%%w25,%%w26,%%w27};\n",
        a_col ? "col" : "row", b_row ? "row" : "col", d_f16 ? "f16" : "f32", c_f16 ? "f16" : "f32",
        d_f16 ? "{%w20,%w21,%w22,%w23}" : "{%w20,%w21,%w22,%w23,%w24,%w25,%w26,%w27}",
        c_f16 ? "{%w4,%w5,%w6,%w7}" : "{%w4,%w5,%w6,%w7,%w8,%w9,%w10,%w11}");
    run_words("", body, (const uint64_t *)(const void *)in, 6, (uint64_t *)(void *)out, 4, LANES);
    for (unsigned l = 0; l < LANES; l++)
      for (unsigned i = 0; i < 8; i++) {
        unsigned row, col;
        const unsigned p = l % 16 / 4;
        c_place(d_f16, l, i, &row, &col);
        int sum = C[p][row][col];
        for (unsigned k = 0; k < 4; k++) sum += A[p][row][k] * B[p][k][col];
        if (d_f16)
          assert_int_equal(out[l][i / 2] >> 16 * (i % 2) & 0xffff, half_of(sum));
        else
          assert_int_equal(out[l][i], float_of(sum));
      }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("mma.m8n8k4 makes four products at once, in every layout and type", four_products_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
