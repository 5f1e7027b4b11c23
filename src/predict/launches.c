#include "predict/launches.h"

#include <math.h>
#include <string.h>

enum {
  SHORT_ROW = 64, /* launches that are all replayed */
  LEAST_RUNS = 2,
  MOST_RUNS = 8,
};

/* How many different launches there are; *last: the last one that is the first of its kind. */
static uint32_t count_groups(const launch_row *row, uint32_t *last) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < row->n; i++) {
    if (row->group[i] != i) continue;
    *last = i;
    n++;
  }
  return n;
}

uint32_t launches_least(const launch_row *row) {
  uint32_t last = 0, runs = LEAST_RUNS * 2 * count_groups(row, &last);
  if (row->n <= SHORT_ROW || runs > row->n) return row->n;
  return runs > last ? runs : last + 1;
}

static bool counts_any(const launch_row *row, const launch_use *use, uint32_t group) {
  for (uint32_t i = group; i < row->known; i++)
    if (row->group[i] == group && use[i] == LAUNCH_COUNTS) return true;
  return false;
}

bool launches_choose(const launch_row *row, double affordable, launch_use *use) {
  uint32_t last = 0;
  const uint32_t period = count_groups(row, &last), length = 2 * period;
  double all = 0;
  for (uint32_t i = 0; i < row->n; i++) {
    use[i] = LAUNCH_COUNTS;
    all += row->units[i];
  }
  if (row->n <= SHORT_ROW || (all <= affordable && row->known == row->n)) return false;
  const double run = all / row->n * length;
  uint32_t runs = run * MOST_RUNS <= affordable ? MOST_RUNS : (uint32_t)(affordable / run);
  if (runs < LEAST_RUNS) runs = LEAST_RUNS;
  if (runs > row->known / length) runs = row->known / length;
  if (runs < LEAST_RUNS) return false;
  for (uint32_t i = 0; i < row->n; i++) use[i] = LAUNCH_LEFT_OUT;
  for (uint32_t k = 0; k < runs; k++) {
    const uint32_t first = (uint32_t)((uint64_t)(row->known - length) * k / (runs - 1));
    for (uint32_t i = 0; i < length; i++)
      use[first + i] = i >= period ? LAUNCH_COUNTS : first ? LAUNCH_WARMS : LAUNCH_ITSELF;
  }
  for (uint32_t i = 0; i < row->n; i++)
    if (row->group[i] == i && !counts_any(row, use, i)) use[i] = LAUNCH_COUNTS;
  return true;
}

/* The mean counters of a group's launches that count, and the variance of their times. */
static uint32_t mean_of(const launch_row *row, const launch_use *use, uint32_t group, const hd_counters *each,
                        hd_counters *mean, double *variance) {
  uint32_t n = 0;
  double squares = 0;
  memset(mean, 0, sizeof *mean);
  for (uint32_t i = group; i < row->known; i++) {
    if (row->group[i] != group || use[i] != LAUNCH_COUNTS) continue;
    hd_counters_add(mean, &each[i]);
    squares += each[i].time_us * each[i].time_us;
    n++;
  }
  if (n) hd_counters_scale(mean, 1.0 / n);
  const double spread = squares - n * mean->time_us * mean->time_us;
  *variance = n > 1 ? (spread > 0 ? spread : 0) / (n - 1) : mean->time_us * mean->time_us;
  return n;
}

double launches_fill(const launch_row *row, const launch_use *use, hd_counters *each) {
  double error = 0;
  for (uint32_t g = 0; g < row->n; g++) {
    hd_counters mean;
    double variance;
    uint32_t missing = 0;
    if (row->group[g] != g) continue;
    const uint32_t n = mean_of(row, use, g, each, &mean, &variance);
    for (uint32_t i = g; i < row->n; i++) {
      if (row->group[i] != g || use[i] == LAUNCH_COUNTS || use[i] == LAUNCH_ITSELF) continue;
      each[i] = mean;
      missing++;
    }
    /* Of the mean, and of those that it stands for. */
    if (n) error += variance * missing * (1 + (double)missing / n);
  }
  return sqrt(error);
}
