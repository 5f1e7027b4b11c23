#include "predict/launches.h"

#include <math.h>
#include <string.h>

enum {
  LEAST_RUNS = 2,
  MANY_KINDS = 8, /* of which none comes back: of fewer there are runs of each */
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
  if (runs > row->n) return row->n;
  return runs > last ? runs : last + 1;
}

uint32_t launches_fewest(const launch_row *row) {
  uint32_t last = 0;
  count_groups(row, &last);
  return row->n ? last + 1 : 0;
}

/* Does no kind of launch come back? */
static bool is_ramp(const launch_row *row) {
  for (uint32_t i = 1; i < row->n; i++)
    if (row->group[i] < row->group[i - 1]) return false;
  return true;
}

/* True: some are left out. */
static bool choose_middles(const launch_row *row, launch_use *use) {
  uint32_t replayed = 0;
  for (uint32_t i = 0, next; i < row->n; i = next) {
    for (next = i; next < row->n && row->group[next] == i; next++) use[next] = LAUNCH_LEFT_OUT;
    const uint32_t middle = (i + next - 1) / 2;
    if (middle && use[middle - 1] == LAUNCH_LEFT_OUT) use[middle - 1] = LAUNCH_WARMS;
    use[middle] = LAUNCH_COUNTS;
  }
  for (uint32_t i = 0; i < row->n; i++) replayed += use[i] != LAUNCH_LEFT_OUT;
  return replayed < row->n;
}

static bool counts_any(const launch_row *row, const launch_use *use, uint32_t group) {
  for (uint32_t i = group; i < row->known; i++)
    if (row->group[i] == group && use[i] == LAUNCH_COUNTS) return true;
  return false;
}

bool launches_choose(const launch_row *row, double affordable, launch_use *use) {
  uint32_t last = 0;
  const uint32_t period = count_groups(row, &last), length = 2 * period;
  if (!period) return false;
  double all = 0;
  for (uint32_t i = 0; i < row->n; i++) {
    use[i] = LAUNCH_COUNTS;
    all += row->units[i];
  }
  const bool all_known = row->known == row->n;
  if (all_known && (row->n <= row->whole || all <= affordable)) return false;
  if (all_known && period >= MANY_KINDS && is_ramp(row)) return choose_middles(row, use);
  const double run = all / row->n * length;
  uint32_t runs = run * MOST_RUNS <= affordable ? MOST_RUNS : (uint32_t)(affordable / run);
  if (runs < LEAST_RUNS) runs = LEAST_RUNS;
  if (runs > row->known / length) runs = row->known / length;
  if (runs < LEAST_RUNS && all_known) return false;
  for (uint32_t i = 0; i < row->n; i++)
    use[i] = runs < LEAST_RUNS && i < row->known ? LAUNCH_COUNTS : LAUNCH_LEFT_OUT;
  if (runs < LEAST_RUNS) return true;
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
