/* compare.c: when two results count as the same. */
#include <math.h>
#include <string.h>

#include "difftest/program.h"
#include "emu/num.h"

/* An approximation's bound. The emulator's own result is the exact one, rounded. */
typedef struct rule {
  const char *name;
  num_fmt fmt;
  bool pair;
  double relative, absolute, ulps;
  /* Where the bound holds; outside anything goes. NULL: everywhere. */
  bool (*holds)(double a, double b);
  /* The bound is `relative` times the second input: the sum of the terms' magnitudes. */
  bool scaled;
  bool same; /* the same bits, but for NaN */
} rule;

static bool in_circle(double a, double b) { return !isfinite(a) || fabs(a) <= 2 * M_PI; }
static bool near_one(double a, double b) { return a > 0.5 && a < 2; }
static bool divisor_fits(double a, double b) { return !(fabs(b) < 0x1p-126) || b == 0; }
static bool is_normal_f64(double a, double b) { return !isfinite(a) || fabs(a) >= 0x1p-1022; }

/* PTX ISA, at each instruction; mma: num_mma.c, K * 2^-22 on either side. */
static const rule rules[] = {
    {.name = "exact"},
    {"nan", NUM_F64, .same = true},
    {"rcp", NUM_F32, .ulps = 1},
    {"sqrt", NUM_F32, .relative = 0x1p-23},
    {"rsqrt", NUM_F32, .relative = 0x1.12p-23},
    {"sin", NUM_F32, .absolute = 0x1.6ap-21, .holds = in_circle},
    {"lg2", NUM_F32, .absolute = 0x1p-22, .relative = 0x1p-22},
    {"ex2", NUM_F32, .ulps = 2},
    {"tanh", NUM_F32, .relative = 0x1p-11},
    {"div_approx", NUM_F32, .ulps = 2, .holds = divisor_fits},
    {"div_full", NUM_F32, .ulps = 2},
    {"rcp_f64", NUM_F64, .relative = 0x1p-19, .holds = is_normal_f64},
    {"rsqrt_f64", NUM_F64, .relative = 0x1p-26},
    {"ex2_f16", NUM_F16, .relative = 0x1.12p-10, .ulps = 1},
    {"ex2_f16x2", NUM_F16, true, .relative = 0x1.12p-10, .ulps = 1},
    {"ex2_bf16", NUM_BF16, .relative = 0x1p-7},
    {"ex2_bf16x2", NUM_BF16, true, .relative = 0x1p-7},
    {"tanh_f16", NUM_F16, .absolute = 0x1.03p-11},
    {"tanh_f16x2", NUM_F16, true, .absolute = 0x1.03p-11},
    {"tanh_bf16", NUM_BF16, .absolute = 0x1p-8},
    {"tanh_bf16x2", NUM_BF16, true, .absolute = 0x1p-8},
    {"mma8", NUM_F32, .relative = 8 * 0x1p-21, .scaled = true},
    {"mma16", NUM_F32, .relative = 16 * 0x1p-21, .scaled = true},
    {"mma32", NUM_F32, .relative = 32 * 0x1p-21, .scaled = true},
};

bool dt_rule_is_scaled(unsigned number) { return rules[number].scaled; }

int dt_rule_find(const char *name, size_t len) {
  for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++)
    if (strlen(rules[k].name) == len && memcmp(rules[k].name, name, len) == 0) return (int)k;
  return -1;
}

/* The distance of neighbours around x, at least that of subnormals. */
static double ulp_of(num_fmt f, double x) {
  static const struct {
    int mantissa, least;
  } formats[] = {
      [NUM_F16] = {10, -14}, [NUM_BF16] = {7, -126}, [NUM_F32] = {23, -126}, [NUM_F64] = {52, -1022}};
  int e = formats[f].least;
  if (x != 0 && isfinite(x) && ilogb(x) > e) e = ilogb(x);
  return ldexp(1, e - formats[f].mantissa);
}

/* An infinity stands for the first value beyond the format. */
static double bounded(num_fmt f, double x) {
  if (!isinf(x)) return x;
  return copysign(f == NUM_F16 ? 0x1p16 : f == NUM_F64 ? 0x1.fffffffffffffp1023 : 0x1p128, x);
}

static bool agree(const rule *r, uint64_t emulator, uint64_t device, double a, double b) {
  const double e = num_to_f64(r->fmt, emulator), v = num_to_f64(r->fmt, device);
  if (isnan(e) && isnan(v)) return true;
  if (r->holds && !r->holds(a, b)) return true;
  if (isnan(e) || isnan(v) || r->same) return false;
  if (e == v) return e != 0 || signbit(e) == signbit(v);
  /* What is flushed at the least normal value is decided before rounding. */
  if (r->fmt == NUM_F32 && e * v == 0 && signbit(e) == signbit(v) && fabs(e + v) <= 0x1p-126) return true;
  double bound = (r->scaled ? r->relative * fabs(a) : r->relative * fabs(bounded(r->fmt, e))) +
                 (r->ulps + 0.5) * ulp_of(r->fmt, e);
  if (r->absolute && (!r->relative || near_one(a, b))) bound += r->absolute;
  return fabs(bounded(r->fmt, e) - bounded(r->fmt, v)) <= bound;
}

bool dt_agree(unsigned number, uint64_t emulator, uint64_t device, const uint64_t *inputs) {
  const rule *r = &rules[number];
  if (emulator == device) return true;
  if (number == 0) return false;
  if (!r->pair)
    return agree(r, emulator, device, num_to_f64(r->fmt, inputs[0]), num_to_f64(r->fmt, inputs[1]));
  for (unsigned shift = 0; shift < 32; shift += 16) {
    const uint64_t low = 0xffff;
    if (!agree(r, emulator >> shift & low, device >> shift & low,
               num_to_f64(r->fmt, inputs[0] >> shift & low), 0))
      return false;
  }
  return true;
}
