#include <math.h>
#include <string.h>

#include "workload/workload.h"

static const wl_elem_info ELEMS[] = {
    [HD_ELEM_U8] = {"u8", 1, false, false, 0, 0},   [HD_ELEM_S8] = {"s8", 1, false, true, 0, 0},
    [HD_ELEM_U16] = {"u16", 2, false, false, 0, 0}, [HD_ELEM_S16] = {"s16", 2, false, true, 0, 0},
    [HD_ELEM_U32] = {"u32", 4, false, false, 0, 0}, [HD_ELEM_S32] = {"s32", 4, false, true, 0, 0},
    [HD_ELEM_U64] = {"u64", 8, false, false, 0, 0}, [HD_ELEM_S64] = {"s64", 8, false, true, 0, 0},
    [HD_ELEM_F16] = {"f16", 2, true, true, 5, 10},  [HD_ELEM_BF16] = {"bf16", 2, true, true, 8, 7},
    [HD_ELEM_F32] = {"f32", 4, true, true, 8, 23},  [HD_ELEM_F64] = {"f64", 8, true, true, 11, 52},
};
enum { N_ELEMS = sizeof ELEMS / sizeof *ELEMS };

const wl_elem_info *wl_elem(hd_elem e) { return (unsigned)e < N_ELEMS ? &ELEMS[e] : NULL; }

unsigned hd_elem_bytes(hd_elem e) { return (unsigned)e < N_ELEMS ? ELEMS[e].bytes : 0; }
const char *hd_elem_name(hd_elem e) { return (unsigned)e < N_ELEMS ? ELEMS[e].name : "?"; }

bool wl_elem_parse(const char *name, hd_elem *out) {
  for (unsigned i = 0; i < N_ELEMS; i++)
    if (strcmp(ELEMS[i].name, name) == 0) {
      *out = (hd_elem)i;
      return true;
    }
  return false;
}

const char *wl_elem_list(void) { return "u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64"; }

bool wl_elem_holds(hd_elem e, int64_t v) {
  const wl_elem_info *t = &ELEMS[e];
  if (t->is_float) return true;
  unsigned bits = t->bytes * 8u;
  if (!t->is_signed) return v >= 0 && (bits == 64 || v >> bits == 0);
  int64_t sign = v >> (bits - 1); /* all bits from the sign upwards agree */
  return sign == 0 || sign == -1;
}

double hd_elem_sum_tolerance(hd_elem e) {
  switch (e) {
  case HD_ELEM_BF16: return 1e-1;
  case HD_ELEM_F16: return 1e-2;
  case HD_ELEM_F32: return 1e-4;
  case HD_ELEM_F64: return 1e-10;
  default: return 0;
  }
}

/* ---- 16-bit floats ----------------------------------------------------------- */

static double from_small(const wl_elem_info *t, uint32_t bits) {
  int bias = (1 << (t->exponent - 1)) - 1;
  uint32_t mantissa = bits & ((1u << t->mantissa) - 1);
  int exponent = (int)(bits >> t->mantissa & ((1u << t->exponent) - 1));
  double v;
  if (exponent == (1 << t->exponent) - 1)
    v = mantissa ? NAN : INFINITY;
  else if (exponent == 0)
    v = ldexp(mantissa, 1 - bias - t->mantissa);
  else
    v = ldexp((double)(mantissa | 1u << t->mantissa), exponent - bias - t->mantissa);
  return bits >> (t->exponent + t->mantissa) & 1 ? -v : v;
}

/* ilogb, of a double that is no subnormal; fills of gigabytes call this for each element. */
static int exponent_of(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return (int)(bits >> 52 & 0x7ff) - 1023;
}

/* 2 to the power of n, which is in the range of normal numbers. */
static double power_of_two(int n) {
  const uint64_t bits = (uint64_t)(n + 1023) << 52;
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static uint32_t to_small(const wl_elem_info *t, double v) {
  int bias = (1 << (t->exponent - 1)) - 1;
  uint32_t infinity = ((1u << t->exponent) - 1) << t->mantissa;
  uint32_t sign = signbit(v) ? 1u << (t->exponent + t->mantissa) : 0;
  if (isnan(v)) return sign | infinity | 1u << (t->mantissa - 1);
  v = fabs(v);
  if (isinf(v)) return sign | infinity;
  if (v == 0) return sign;
  int exponent = exponent_of(v);                /* of a subnormal: less than any below */
  if (exponent < 1 - bias) exponent = 1 - bias; /* subnormals share the smallest exponent */
  /* The bits in steps of the last place; a carry moves into the exponent by itself. */
  double steps = rint(v * power_of_two(t->mantissa - exponent));
  if (exponent > bias) return sign | infinity;
  uint64_t bits = ((uint64_t)(exponent - 1 + bias) << t->mantissa) + (uint64_t)steps;
  return sign | (bits >= infinity ? infinity : (uint32_t)bits);
}

/* ---- Elements ----------------------------------------------------------------- */

double wl_elem_get(hd_elem e, const void *array, uint64_t i) {
  switch (e) {
  case HD_ELEM_U8: return ((const uint8_t *)array)[i];
  case HD_ELEM_S8: return ((const int8_t *)array)[i];
  case HD_ELEM_U16: return ((const uint16_t *)array)[i];
  case HD_ELEM_S16: return ((const int16_t *)array)[i];
  case HD_ELEM_U32: return ((const uint32_t *)array)[i];
  case HD_ELEM_S32: return ((const int32_t *)array)[i];
  case HD_ELEM_U64: return (double)((const uint64_t *)array)[i];
  case HD_ELEM_S64: return (double)((const int64_t *)array)[i];
  case HD_ELEM_F16:
  case HD_ELEM_BF16: return from_small(&ELEMS[e], ((const uint16_t *)array)[i]);
  case HD_ELEM_F32: return ((const float *)array)[i];
  case HD_ELEM_F64: return ((const double *)array)[i];
  }
  return 0;
}

uint64_t wl_elem_from_double(hd_elem e, double v) {
  if (e == HD_ELEM_F64) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
  }
  if (e == HD_ELEM_F32) {
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
  }
  return to_small(&ELEMS[e], v);
}

uint64_t wl_elem_from_int(hd_elem e, int64_t v) {
  if (ELEMS[e].is_float) return wl_elem_from_double(e, (double)v);
  return ELEMS[e].bytes == 8 ? (uint64_t)v : (uint64_t)v & ((1ull << ELEMS[e].bytes * 8) - 1);
}

/* A plain conversion loop for every type that C has. */
#define PUT(c_type)                                                                                          \
  for (unsigned i = 0; i < n; i++) ((c_type *)out)[i] = (c_type)v[i];                                        \
  break

void wl_elem_put_doubles(hd_elem e, const double *v, unsigned n, void *out) {
  switch (e) {
  case HD_ELEM_F32: PUT(float);
  case HD_ELEM_F64: PUT(double);
  default:
    for (unsigned i = 0; i < n; i++) ((uint16_t *)out)[i] = (uint16_t)to_small(&ELEMS[e], v[i]);
  }
}

void wl_elem_put_ints(hd_elem e, const int64_t *v, unsigned n, void *out) {
  switch (e) {
  case HD_ELEM_U8:
  case HD_ELEM_S8: PUT(uint8_t);
  case HD_ELEM_U16:
  case HD_ELEM_S16: PUT(uint16_t);
  case HD_ELEM_U32:
  case HD_ELEM_S32: PUT(uint32_t);
  case HD_ELEM_U64:
  case HD_ELEM_S64: PUT(uint64_t);
  case HD_ELEM_F32: PUT(float);
  case HD_ELEM_F64: PUT(double);
  case HD_ELEM_F16:
  case HD_ELEM_BF16:
    for (unsigned i = 0; i < n; i++) ((uint16_t *)out)[i] = (uint16_t)to_small(&ELEMS[e], (double)v[i]);
  }
}
