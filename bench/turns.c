/* The cost of a contest in a launch path: nanoseconds of hd_turns_next and hd_turns_tell together, by the
 * number of arms, medians over contests of equals that go on until their end. Times are made beforehand. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "heddle/stats.h"
#include "heddle/turns.h"

enum { CONTESTS = 51, TIMES = 1 << 14, MOST = 4000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double of_a_launch(const double *times, uint32_t arms, uint64_t seed) {
  hd_turns *t;
  uint32_t n = 0;
  double begin = now();
  if (hd_turns_open(&(hd_turns_options){.seed = seed, .most = MOST}, arms, &t, NULL) != HD_OK) exit(1);
  for (; hd_turns_state(t) == HD_TURNS_OPEN; n++)
    hd_turns_tell(t, hd_turns_next(t), times[(n + 31 * seed) % TIMES]);
  hd_turns_close(t);
  return (now() - begin) / n;
}

int main(void) {
  static double times[TIMES], cost[CONTESTS];
  for (int i = 0; i < TIMES; i++) times[i] = 1e-4 * exp(1e-20 * (double)(hd_random_at(1, (uint64_t)i) >> 1));
  for (uint32_t arms = 2; arms <= HD_TURNS_ARMS; arms *= 2) {
    for (uint64_t i = 0; i < CONTESTS; i++) cost[i] = of_a_launch(times, arms, i);
    printf("%2u arms %8.1f ns a launch\n", arms, 1e9 * hd_median(cost, CONTESTS));
  }
  return 0;
}
