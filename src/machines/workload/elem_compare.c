#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "workload/workload.h"

/* |got - want| <= abs + rel * |want|. NaN equals NaN; infinities equal only themselves:
 * a relative bound around one would let every value pass. */
static bool near_float(double got, double want, double abs, double rel) {
  if (isnan(got) || isnan(want)) return isnan(got) && isnan(want);
  if (isinf(got) || isinf(want)) return got == want;
  return fabs(got - want) <= abs + rel * fabs(want);
}

static uint64_t element_bits(const void *array, unsigned bytes, uint64_t i) {
  uint64_t bits = 0;
  memcpy(&bits, (const char *)array + i * bytes, bytes); /* GPUs and hosts are little-endian */
  return bits;
}

/* Integers: the difference is exact, whatever the type. */
static bool near_integer(hd_elem type, const void *got, const void *want, uint64_t i, double abs,
                         double rel) {
  const wl_elem_info *t = wl_elem(type);
  uint64_t g = element_bits(got, t->bytes, i), w = element_bits(want, t->bytes, i);
  if (g == w) return true;
  uint64_t sign = 1ull << (t->bytes * 8 - 1);
  /* Adding the sign bit maps a signed order to the unsigned one. */
  uint64_t go = t->is_signed ? g ^ sign : g, wo = t->is_signed ? w ^ sign : w;
  return (double)(go > wo ? go - wo : wo - go) <= abs + rel * fabs(wl_elem_get(type, want, i));
}

/* "1.5", "-3" or "nan"; exact comparisons of floats add the bits, since 0 and -0 and the
 * many NaNs look alike. */
static void show(hd_elem type, bool bits, const void *array, uint64_t i, char *out, size_t cap) {
  const wl_elem_info *t = wl_elem(type);
  uint64_t b = element_bits(array, t->bytes, i);
  if (!t->is_float && t->is_signed) {
    unsigned up = 64u - t->bytes * 8u;
    snprintf(out, cap, "%" PRId64, (int64_t)(b << up) >> up);
  } else if (!t->is_float) {
    snprintf(out, cap, "%" PRIu64, b);
  } else {
    int n = snprintf(out, cap, "%.*g",
                     type == HD_ELEM_F64   ? 17
                     : type == HD_ELEM_F32 ? 9
                                           : 5,
                     wl_elem_get(type, array, i));
    if (bits && n > 0 && (size_t)n < cap)
      snprintf(out + n, cap - (size_t)n, " (0x%0*" PRIx64 ")", t->bytes * 2, b);
  }
}

static bool equal_at(hd_elem type, hd_compare_kind how, double abs, double rel, const void *got,
                     const void *want, uint64_t i) {
  const wl_elem_info *t = wl_elem(type);
  if (how == HD_COMPARE_EXACT)
    return memcmp((const char *)got + i * t->bytes, (const char *)want + i * t->bytes, t->bytes) == 0;
  if (!t->is_float) return near_integer(type, got, want, i, abs, rel);
  return near_float(wl_elem_get(type, got, i), wl_elem_get(type, want, i), abs, rel);
}

bool hd_elem_compare(hd_elem type, hd_compare_kind how, double abs, double rel, const void *got,
                     const void *want, uint64_t count, char *what, size_t cap) {
  const wl_elem_info *t = wl_elem(type);
  if (cap) what[0] = 0;
  if (!t) {
    snprintf(what, cap, "unknown element type");
    return false;
  }
  if (how == HD_COMPARE_NONE || count == 0 || memcmp(got, want, count * t->bytes) == 0) return true;
  uint64_t differ = 0, first = 0;
  for (uint64_t i = 0; i < count; i++)
    if (!equal_at(type, how, abs, rel, got, want, i) && differ++ == 0) first = i;
  if (!differ) return true;
  bool exact = how == HD_COMPARE_EXACT;
  char g[64], w[64];
  show(type, exact, got, first, g, sizeof g);
  show(type, exact, want, first, w, sizeof w);
  int n = snprintf(what, cap, "element %" PRIu64 " is %s, should be %s", first, g, w);
  if (!exact && n > 0 && (size_t)n < cap)
    n += snprintf(what + n, cap - (size_t)n, " within %g", abs + rel * fabs(wl_elem_get(type, want, first)));
  if (n > 0 && (size_t)n < cap)
    snprintf(what + n, cap - (size_t)n, "; %" PRIu64 " of %" PRIu64 " elements differ", differ, count);
  return false;
}
