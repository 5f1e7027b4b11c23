/* Conversions to and from small formats, against a table of all values of the format: the two neighbours of a
 * number are looked up, and one of them is taken by the rule of the rounding. No method of num/convert.c. */
#include "emu/ops_warp.h"

typedef enum rounding { NEAREST, TO_ZERO, RANDOM } rounding;

typedef struct format {
  const char *name;
  unsigned exponent_bits, mantissa_bits, width; /* width: of an element in a packed pair */
  bool infinite, has_nan;                       /* it has infinities; NaN */
  uint32_t nan;
} format;

static const format e2m1 = {"e2m1", 2, 1, 4, false, false, 7}, e2m3 = {"e2m3", 2, 3, 8, false, false, 31},
                    e3m2 = {"e3m2", 3, 2, 8, false, false, 31}, e4m3 = {"e4m3", 4, 3, 8, false, true, 0x7f},
                    e5m2 = {"e5m2", 5, 2, 8, true, true, 0x7f}, f16 = {"f16", 5, 10, 16, true, true, 0x7fff},
                    bf16 = {"bf16", 8, 7, 16, true, true, 0x7fff};
static const format *const small[] = {&e2m1, &e2m3, &e3m2, &e4m3, &e5m2};
enum { SMALL = sizeof small / sizeof *small };

/* ---- The table ------------------------------------------------------------------------------ */

/* What the bits mean; the sign is that of the format's own bit. */
static double value_of(const format *f, uint32_t code) {
  const unsigned sign_at = f->exponent_bits + f->mantissa_bits;
  const uint32_t field = code >> f->mantissa_bits & ((1u << f->exponent_bits) - 1),
                 mantissa = code & ((1u << f->mantissa_bits) - 1), all_ones = (1u << f->exponent_bits) - 1;
  const int bias = (1 << (f->exponent_bits - 1)) - 1;
  const double sign = code >> sign_at & 1 ? -1 : 1;
  if (f->infinite && field == all_ones) return mantissa ? NAN : sign * INFINITY;
  if (f->has_nan && !f->infinite && field == all_ones && mantissa == (1u << f->mantissa_bits) - 1) return NAN;
  const double fraction = mantissa / (double)(1u << f->mantissa_bits);
  return sign * (field ? ldexp(1 + fraction, (int)field - bias) : ldexp(fraction, 1 - bias));
}

static uint32_t greatest(const format *f) {
  uint32_t code = (1u << (f->exponent_bits + f->mantissa_bits)) - 1;
  while (!isfinite(value_of(f, code))) code--;
  return code;
}

/* The number behind the greatest finite one, had the exponent a bit more. */
static double beyond(const format *f) {
  const uint32_t top = greatest(f);
  return value_of(f, top) + (value_of(f, top) - value_of(f, top - 1));
}

/* The code of the sign and magnitude of x: `random` of n bits. */
static uint32_t rounded(const format *f, float x, rounding how, uint32_t random, unsigned n, bool finite,
                        bool relu) {
  const uint32_t sign = signbit(x) && !relu ? 1u << (f->exponent_bits + f->mantissa_bits) : 0,
                 top = greatest(f);
  if (isnan(x)) return f->nan;
  if (relu && x <= 0) return 0;
  const double size = fabs((double)x);
  uint32_t low = 0, high = top + 1; /* value(low) <= size < value(high) */
  if (size >= beyond(f))
    return sign | (finite || !f->infinite || (how == TO_ZERO && !isinf(x)) ? top : top + 1);
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (value_of(f, middle) <= size)
      low = middle;
    else
      high = middle;
  }
  const double below = value_of(f, low), above = high > top ? beyond(f) : value_of(f, high);
  const double part = (size - below) / (above - below); /* a power of two divides exactly */
  bool up = false;
  switch (how) {
  case NEAREST: up = part > 0.5 || (part == 0.5 && low & 1); break;
  case TO_ZERO: break;
  case RANDOM: up = part + random / (double)(1u << n) >= 1; break;
  }
  if (up && high > top) return sign | (finite || !f->infinite ? top : top + 1);
  return sign | (up ? high : low);
}

/* ---- Inputs -------------------------------------------------------------------------------------- */

enum { THREADS = 512 };

/* Numbers of f32 around the format's: its values, what lies in the middle of two, their neighbours, any. */
static float number(const format *f, uint64_t n) {
  const uint64_t r = hd_random_at(11, n);
  const uint32_t code = (uint32_t)(r >> 8) % (greatest(f) + 1);
  const float sign = r & 1 ? -1 : 1, low = (float)value_of(f, code),
              high = (float)(code == greatest(f) ? beyond(f) : value_of(f, code + 1)),
              middle = (low + high) / 2;
  switch (r >> 1 & 7) {
  case 0: return sign * low;
  case 1: return sign * middle;
  case 2: return sign * nextafterf(middle, 0);
  case 3: return sign * nextafterf(middle, INFINITY);
  case 4: return sign * (low + (high - low) * (float)(r >> 40) / (1 << 24));
  case 5: return f32_of(hd_random_at(12, n));
  case 6:
    return n % 16 == 0 ? NAN : n % 16 == 1 ? sign * INFINITY : sign * ldexpf(1, (int)(r >> 32) % 300 - 150);
  default: return f32_of((uint32_t)(r >> 32) & 0x807fffff); /* subnormal */
  }
}

static void expect(const char *body, const float *x, uint64_t got, uint64_t want) {
  if (got != want)
    fail_msg("%s: %a %a %a %a give %llx, not %llx", body, (double)x[0], (double)x[1], (double)x[2],
             (double)x[3], (unsigned long long)got, (unsigned long long)want);
}

/* ---- From f32 -------------------------------------------------------------------------------------- */

/* cvt.HOW.FORMATx2.f32: the first operand on top. */
static void check_pair(const format *f, rounding how, bool finite, bool relu) {
  static uint64_t in[THREADS * 2], out[THREADS];
  static float x[THREADS][4];
  char body[256];
  const unsigned bits = 2 * f->width;
  for (unsigned k = 0; k < THREADS; k++) {
    for (unsigned j = 0; j < 2; j++) {
      x[k][j] = number(f, 2 * k + j);
      in[2 * k + j] = 0;
      memcpy(&in[2 * k + j], &x[k][j], 4);
    }
  }
  snprintf(body, sizeof body,
           "ld.global.f32 %%f1, [%%in]; ld.global.f32 %%f2, [%%in+8]; .reg .b8 %%c; cvt.%s%s%s.%sx2.f32 %s, "
           "%%f1, %%f2; "
           "%s st.global.b64 [%%out], %%d1;",
           how == NEAREST ? "rn" : "rz", finite ? ".satfinite" : "", relu ? ".relu" : "", f->name,
           bits == 8    ? "%c"
           : bits == 16 ? "%h1"
                        : "%w1",
           bits == 8    ? "cvt.u64.u8 %d1, %c;"
           : bits == 16 ? "cvt.u64.u16 %d1, %h1;"
                        : "cvt.u64.u32 %d1, %w1;");
  run_words("", body, in, 2, out, 1, THREADS);
  for (unsigned k = 0; k < THREADS; k++) {
    const uint64_t high = rounded(f, x[k][0], how, 0, 0, finite, relu),
                   low = rounded(f, x[k][1], how, 0, 0, finite, relu);
    expect(body, x[k], out[k], high << f->width | low);
  }
}

static void f32_is_rounded_to_a_neighbour(void **state) {
  for (unsigned k = 0; k < SMALL; k++)
    for (unsigned relu = 0; relu < 2; relu++) check_pair(small[k], NEAREST, true, relu);
  for (unsigned k = 0; k < 8; k++) {
    check_pair(&f16, k & 1 ? TO_ZERO : NEAREST, k & 2, k & 4);
    check_pair(&bf16, k & 1 ? TO_ZERO : NEAREST, k & 2, k & 4);
  }
}

/* ---- At random ----------------------------------------------------------------------------------------- */

static uint32_t reversed(uint32_t field) {
  uint32_t out = 0;
  for (unsigned bit = 0; bit < 16; bit++)
    if (field & 1u << bit) out |= 0x8000u >> bit;
  return out;
}

/* The fields of the random operand, as the PTX ISA draws them; see ops/convert.c for the order of bits. */
static uint32_t field_of(const format *f, uint32_t random, unsigned k) {
  if (f == &f16) return k ? random & 0x1fff : random >> 16 & 0x1fff;
  if (f == &bf16) return k ? random & 0xffff : random >> 16;
  uint32_t field = k / 2 ? random & 0xffff : random >> 16;
  if (f == &e2m1) {
    const uint8_t byte[4] = {(uint8_t)random, (uint8_t)(random >> 8), (uint8_t)(random >> 16),
                             (uint8_t)(random >> 24)};
    field = k / 2 ? byte[2] * 256u + byte[0] : byte[3] * 256u + byte[1];
  }
  return k % 2 ? field : reversed(field);
}

static void check_random(const format *f, bool finite, bool relu) {
  static uint64_t in[THREADS * 4], out[THREADS];
  static float x[THREADS][4];
  char body[512];
  const unsigned n = f->width == 16 ? 2 : 4, bits = n * f->width;
  for (unsigned k = 0; k < THREADS; k++)
    for (unsigned j = 0; j < 4; j++) {
      x[k][j] = number(f, 4 * k + j);
      in[4 * k + j] = (hd_random_at(13, k) & 0xffffffff) << 32;
      memcpy(&in[4 * k + j], &x[k][j], 4);
    }
  snprintf(
      body, sizeof body,
      "ld.global.v2.b32 {%%w1, %%w5}, [%%in]; ld.global.b32 %%w2, [%%in+8]; ld.global.b32 %%w3, [%%in+16]; "
      "ld.global.b32 %%w4, [%%in+24]; cvt.rs%s%s.%sx%u.f32 %s, %s, %%w5; %s st.global.b64 [%%out], %%d1;",
      relu ? ".relu" : "", finite ? ".satfinite" : "", f->name, n, bits == 16 ? "%h1" : "%w1",
      n == 2 ? "%w1, %w2" : "{%w1, %w2, %w3, %w4}",
      bits == 16 ? "cvt.u64.u16 %d1, %h1;" : "cvt.u64.u32 %d1, %w1;");
  run_words("", body, in, 4, out, 1, THREADS);
  for (unsigned k = 0; k < THREADS; k++) {
    uint64_t want = 0;
    for (unsigned j = 0; j < n; j++)
      want = want << f->width | rounded(f, x[k][j], RANDOM, field_of(f, (uint32_t)(in[4 * k] >> 32), j),
                                        f == &f16 ? 13 : 16, finite, relu);
    expect(body, x[k], out[k], want);
  }
}

static void random_bits_choose_the_neighbour(void **state) {
  for (unsigned relu = 0; relu < 2; relu++) {
    for (unsigned k = 0; k < SMALL; k++) check_random(small[k], true, relu);
    for (unsigned finite = 0; finite < 2; finite++) {
      check_random(&f16, finite, relu);
      check_random(&bf16, finite, relu);
    }
  }
}

/* ---- From and to pairs ----------------------------------------------------------------------------------
 */

/* All codes of the format to f16. */
static void every_value_is_read(void **state) {
  for (unsigned k = 0; k < 2 * SMALL; k++) {
    const format *f = small[k / 2];
    const bool relu = k % 2;
    static uint64_t in[256], out[256];
    char body[256];
    const unsigned sign_at = f->exponent_bits + f->mantissa_bits;
    const uint32_t codes = 2u << sign_at;
    for (uint32_t code = 0; code < codes; code++) in[code] = (uint64_t)(codes - 1 - code) << f->width | code;
    snprintf(body, sizeof body,
             ".reg .b8 %%c; ld.global.b%u %s, [%%in]; cvt.rn%s.f16x2.%sx2 %%w1, %s; cvt.u64.u32 %%d1, %%w1; "
             "st.global.b64 [%%out], %%d1;",
             2 * f->width, f->width == 4 ? "%c" : "%h1", relu ? ".relu" : "", f->name,
             f->width == 4 ? "%c" : "%h1");
    run_words("", body, in, 1, out, 1, codes);
    for (uint32_t code = 0; code < codes; code++) {
      uint64_t want = 0;
      for (unsigned j = 0; j < 2; j++)
        want = want << 16 |
               rounded(&f16, (float)value_of(f, j ? code : codes - 1 - code), TO_ZERO, 0, 0, false, relu);
      expect(body, (const float[4]){(float)value_of(f, code)}, out[code], want);
    }
  }
}

/* Pairs of f16 to the format, through every value of f16. */
static void every_half_is_rounded(void **state) {
  static const format *const to[] = {&e4m3, &e5m2, &e2m1};
  static uint64_t in[1024], out[1024];
  for (unsigned k = 0; k < 3; k++) {
    const format *f = to[k];
    char body[256];
    snprintf(body, sizeof body,
             ".reg .b8 %%c; ld.global.b32 %%w1, [%%in]; cvt.rn.satfinite.%sx2.f16x2 %s, %%w1; cvt.u64.u%u "
             "%%d1, %s; "
             "st.global.b64 [%%out], %%d1;",
             f->name, f->width == 4 ? "%c" : "%h1", 2 * f->width, f->width == 4 ? "%c" : "%h1");
    for (uint32_t first = 0; first < 65536; first += 2048) {
      for (uint32_t j = 0; j < 1024; j++) in[j] = (first + 2 * j) << 16 | (first + 2 * j + 1);
      run_words("", body, in, 1, out, 1, 1024);
      for (uint32_t j = 0; j < 1024; j++) {
        const float x[4] = {(float)value_of(&f16, first + 2 * j), (float)value_of(&f16, first + 2 * j + 1)};
        expect(body, x, out[j],
               (uint64_t)rounded(f, x[0], NEAREST, 0, 0, true, false) << f->width |
                   rounded(f, x[1], NEAREST, 0, 0, true, false));
      }
    }
  }
}

/* ---- ue8m0
 * ------------------------------------------------------------------------------------------------- */

/* The power of two below or above; NaN and what is beyond 2^127 is 0xff, or 0xfe with .satfinite. */
static uint32_t power_of(float x, bool up, bool finite) {
  const double size = fabs((double)x);
  if (isnan(x)) return 0xff;
  for (uint32_t code = 0; code < 0xff; code++) {
    const double here = ldexp(1, (int)code - 127), next = 2 * here;
    if (size <= here) return code;
    if (size < next && !up) return code;
  }
  return finite ? 0xfe : 0xff;
}

static void scales_are_powers_of_two(void **state) {
  static uint64_t in[THREADS], out[THREADS];
  for (unsigned k = 0; k < 8; k++) {
    const bool up = k & 1, finite = k & 2, pair = k & 4;
    char body[256];
    snprintf(
        body, sizeof body,
        "ld.global.v2.b32 {%%w1, %%w2}, [%%in]; cvt.%s%s.ue8m0x2.%s; cvt.u64.u16 %%d1, %%h1; st.global.b64 "
        "[%%out], %%d1;",
        up ? "rp" : "rz", finite ? ".satfinite" : "", pair ? "bf16x2 %h1, %w1" : "f32 %h1, %w1, %w2");
    for (unsigned j = 0; j < THREADS; j++) {
      in[j] = hd_random_at(17, j);
      if (j % 8 == 0) in[j] &= 0xff800000ff800000; /* powers of two, infinities and zeros */
      if (j % 16 == 0) in[j] |= 0x7f0000007f000000;
    }
    run_words("", body, in, 1, out, 1, THREADS);
    for (unsigned j = 0; j < THREADS; j++) {
      const float x[4] = {f32_of(pair ? in[j] & 0xffff0000 : in[j]),
                          f32_of(pair ? (in[j] & 0xffff) << 16 : in[j] >> 32)};
      expect(body, x, out[j], power_of(x[0], up, finite) << 8 | power_of(x[1], up, finite));
    }
  }
}

static void every_scale_is_read(void **state) {
  static uint64_t in[256], out[256];
  const char *body =
      "ld.global.b16 %h1, [%in]; cvt.rn.bf16x2.ue8m0x2 %w1, %h1; cvt.u64.u32 %d1, %w1; st.global.b64 "
      "[%out], %d1;";
  for (uint32_t code = 0; code < 256; code++) in[code] = code << 8 | (255 - code);
  run_words("", body, in, 1, out, 1, 256);
  for (uint32_t code = 0; code < 256; code++) {
    const float x[4] = {code == 255 ? NAN : (float)ldexp(1, (int)code - 127),
                        code == 0 ? NAN : (float)ldexp(1, 128 - (int)code)};
    expect(body, x, out[code],
           (uint64_t)rounded(&bf16, x[0], NEAREST, 0, 0, false, false) << 16 |
               rounded(&bf16, x[1], NEAREST, 0, 0, false, false));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("f32 is rounded to a neighbour", f32_is_rounded_to_a_neighbour),
      BEHAVIOUR("random bits choose the neighbour", random_bits_choose_the_neighbour),
      BEHAVIOUR("every value of a small format is read", every_value_is_read),
      BEHAVIOUR("every f16 is rounded to small formats", every_half_is_rounded),
      BEHAVIOUR("scales are powers of two", scales_are_powers_of_two),
      BEHAVIOUR("every scale is read", every_scale_is_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
