/* equal.c: decides whether two results count as equal. */
#include <math.h>
#include <string.h>

#include "difftest/program.h"
#include "emu/num/num.h"

/* An approximation's bound. The emulator's own result is the exact one, rounded. */
typedef struct rule {
  const char *name, *instruction;
  num_fmt fmt;
  bool pair;
  double relative, absolute, ulps;
  /* The inputs for which the bound holds; for others any result counts. NULL: all inputs. */
  bool (*holds)(double a, double b);
  /* The bound is `relative` times the second input: the sum of the terms' magnitudes. */
  bool scaled;
  bool same; /* the same bits, but for NaN */
} rule;

static bool in_circle(double a, double b) { return !isfinite(a) || fabs(a) <= 2 * M_PI; }
static bool near_one(double a, double b) { return a > 0.5 && a < 2; }
static bool divisor_fits(double a, double b) { return !(fabs(b) < 0x1p-126) || b == 0; }
static bool is_normal_f64(double a, double b) { return !isfinite(a) || fabs(a) >= 0x1p-1022; }

/* PTX ISA, at each instruction; mma: num/mma.c, K * 2^-22 on either side; wgmma of 8-bit floats keeps 13 bits
 * below the greatest term (docs/difftest.md). */
static const rule rules[] = {
    {"exact", "", NUM_F64},
    {"nan", "mul.f64", NUM_F64, .same = true},
    {"rcp", "rcp.approx.f32", NUM_F32, .ulps = 1},
    {"sqrt", "sqrt.approx.f32", NUM_F32, .relative = 0x1p-23},
    {"rsqrt", "rsqrt.approx.f32", NUM_F32, .relative = 0x1.12p-23},
    {"sin", "sin.approx.f32, cos.approx.f32", NUM_F32, .absolute = 0x1.6ap-21, .holds = in_circle},
    {"lg2", "lg2.approx.f32", NUM_F32, .absolute = 0x1p-22, .relative = 0x1p-22},
    {"ex2", "ex2.approx.f32", NUM_F32, .ulps = 2},
    {"tanh", "tanh.approx.f32", NUM_F32, .relative = 0x1p-11},
    {"div_approx", "div.approx.f32", NUM_F32, .ulps = 2, .holds = divisor_fits},
    {"div_full", "div.full.f32", NUM_F32, .ulps = 2},
    {"rcp_f64", "rcp.approx.ftz.f64, rsqrt.approx.ftz.f64", NUM_F64, .relative = 0x1p-19,
     .holds = is_normal_f64},
    {"rsqrt_f64", "rsqrt.approx.f64", NUM_F64, .relative = 0x1p-26},
    {"ex2_f16", "ex2.approx.f16", NUM_F16, .relative = 0x1.12p-10, .ulps = 1},
    {"ex2_f16x2", "ex2.approx.f16x2", NUM_F16, true, .relative = 0x1.12p-10, .ulps = 1},
    {"ex2_bf16", "ex2.approx.ftz.bf16", NUM_BF16, .relative = 0x1p-7},
    {"ex2_bf16x2", "ex2.approx.ftz.bf16x2", NUM_BF16, true, .relative = 0x1p-7},
    {"tanh_f16", "tanh.approx.f16", NUM_F16, .absolute = 0x1.03p-11},
    {"tanh_f16x2", "tanh.approx.f16x2", NUM_F16, true, .absolute = 0x1.03p-11},
    {"tanh_bf16", "tanh.approx.bf16", NUM_BF16, .absolute = 0x1p-8},
    {"tanh_bf16x2", "tanh.approx.bf16x2", NUM_BF16, true, .absolute = 0x1p-8},
    {"mma8", "mma.f32, k8", NUM_F32, .relative = 8 * 0x1p-21, .scaled = true},
    {"mma16", "mma.f32, k16", NUM_F32, .relative = 16 * 0x1p-21, .scaled = true},
    {"mma_half", "mma.f16", NUM_F16, true, .relative = 16 * 0x1p-21, .ulps = 0.5, .scaled = true},
    {"wgmma8", "wgmma.f32, k8", NUM_F32, .relative = 8 * 0x1p-21, .scaled = true},
    {"wgmma16", "wgmma.f32, k16", NUM_F32, .relative = 16 * 0x1p-21, .scaled = true},
    {"wgmma_fp8", "wgmma.f32 of 8-bit floats", NUM_F32, .relative = 32 * 0x1p-13, .scaled = true},
    {"mma32", "mma.f32, k32", NUM_F32, .relative = 32 * 0x1p-21, .scaled = true},
};

_Static_assert(sizeof rules / sizeof rules[0] <= 32, "dt_difference has a bit for each");

uint32_t dt_rule_count(void) { return sizeof rules / sizeof rules[0]; }
const char *dt_rule_instruction(unsigned number) { return rules[number].instruction; }
bool dt_rule_is_scaled(unsigned number) { return rules[number].scaled; }

int dt_rule_find(const char *name, size_t len) {
  for (uint32_t k = 0; k < dt_rule_count(); k++)
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
  if (e == v) return e != 0 || r->scaled || signbit(e) == signbit(v);
  /* Flushing is decided before rounding: a result that rounds up to the least normal value may be 0 instead.
   */
  if (r->fmt == NUM_F32 && e * v == 0 && signbit(e) == signbit(v) && fabs(e + v) <= 0x1p-126) return true;
  const double near = bounded(r->fmt, e);
  double bound = r->relative * (r->scaled ? fabs(a) : fabs(near)) + (r->ulps + 0.5) * ulp_of(r->fmt, near);
  if (r->absolute && (!r->relative || near_one(a, b))) bound += r->absolute;
  return fabs(near - bounded(r->fmt, v)) <= bound;
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
