/* heddle/stats.h: medians and paired speedups.
 *
 * Times of kernels are skewed, have outliers on one side and no known distribution, so everything here works
 * without one: medians, and intervals from order statistics. */
#ifndef HEDDLE_STATS_H
#define HEDDLE_STATS_H

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The median of n values (the mean of the middle two when n is even); NaN when n is 0.
 * The values are reordered. */
HD_OWN double hd_median(double *values, size_t n);

/* The greatest k >= 0 such that [x_(k), x_(n+1-k)], order statistics counted from 1, holds the median of the
 * distribution that n independent values come from with at least this probability, whatever the distribution
 * (the sign test's interval; David and Nagaraja, Order Statistics, 7.1). 0: n values are too few for it: at
 * 99% it takes 8. `confidence` is above 0 and below 1. */
HD_OWN size_t hd_median_interval(size_t n, double confidence);

/* How much faster b is than a, from pairs of times taken one after the other: pair i gives a[i] / b[i].
 * Slow changes of the machine (clocks, temperature) hit both of a pair and cancel out. */
typedef struct hd_speedup {
  double median;    /* of the pairs' ratios; above 1: b is faster */
  double low, high; /* interval for it; 0 and infinity when there are too few pairs */
  size_t pairs;
  double confidence;
} hd_speedup;

/* HD_ERR_INPUT when a time is not a positive number; HD_ERR_NOMEM. */
HD_OWN hd_status hd_paired_speedup(const double *a, const double *b, size_t n, double confidence,
                                   hd_speedup *out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
