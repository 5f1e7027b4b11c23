/* Medians and distribution-free intervals.
 *
 * Why the sign test's interval and not Wilcoxon's or the bootstrap: Wilcoxon's needs ratios that are
 * symmetric about their median, which times with outliers on one side do not give; the bootstrap of a median
 * is short of its nominal coverage for few repetitions. The sign test's interval assumes independent pairs
 * and nothing else, and never covers less than it says; it is wider, which a few more repetitions of a kernel
 * that runs for microseconds make up for.
 */
#include "heddle/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The median of sorted values. */
static double middle(const double *x, size_t n) {
  if (!n) return NAN;
  return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

double hd_median(double *values, size_t n) {
  if (n) qsort(values, n, sizeof *values, ascending);
  return middle(values, n);
}

size_t hd_median_interval(size_t n, double confidence) {
  /* The interval from k misses the median when fewer than k of the n values lie on one side of it:
   * 2 P(Bin(n, 1/2) <= k - 1). The terms are summed from the smallest, as logarithms, for 2^-n underflows. */
  double log_term = -(double)n * log(2), sum = 0;
  size_t k = 0;
  while (2 * k < n) {
    sum += exp(log_term);
    if (2 * sum > 1 - confidence) break;
    log_term += log((double)(n - k)) - log((double)(k + 1));
    k++;
  }
  return k;
}

hd_status hd_paired_speedup(const double *a, const double *b, size_t n, double confidence, hd_speedup *out,
                            hd_diag *d) {
  *out = (hd_speedup){.median = NAN, .low = 0, .high = INFINITY, .pairs = n, .confidence = confidence};
  double *ratio = calloc(n ? n : 1, sizeof *ratio);
  if (!ratio) return hd_nomem(d);
  for (size_t i = 0; i < n; i++) {
    if (!(a[i] > 0 && b[i] > 0 && isfinite(a[i]) && isfinite(b[i]))) {
      free(ratio);
      return hd_fail(d, HD_ERR_INPUT, "pair %zu of times is not of positive numbers: %g, %g", i + 1, a[i],
                     b[i]);
    }
    ratio[i] = a[i] / b[i];
  }
  out->median = hd_median(ratio, n);
  size_t k = hd_median_interval(n, confidence);
  if (k) {
    out->low = ratio[k - 1];
    out->high = ratio[n - k];
  }
  free(ratio);
  return HD_OK;
}
