/* How far the search's choice is from the best plan there is, over landscapes of speedups.
 *
 * The regret of one tuning is the best plan's speedup in the choice's, less 1. Prints a table. */
#include "contest/simulated.h"

enum { SEEDS = 40 };

/* A number of [0, 1) that seed and tag decide. */
static double chance(const simulated *s, uint64_t tag) {
  return (double)(hd_random_at(s->seed ^ 0x1a2d, tag) >> 11) * 0x1p-53;
}

/* The speedup of a plan that loses, between 0.73 and 0.98; it depends on the plan alone. */
static double loser(const hd_plan *p) { return 1 - 0.02 - 0.25 * (double)(plan_hash(p) % 89) / 89; }

/* ---- Landscapes ---------------------------------------------------------------------- */

static const uint32_t warps = 8; /* per CTA, in the space that is searched */

/* As decode-shared-prefix on an H100: reading all by the read-only path gains 29%, all else loses. */
static double lone_read_only(const simulated *s, const hd_plan *p) {
  static const hd_plan best = {.bypass = {HD_BYPASS_READONLY, 8}};
  return hd_plan_equal(p, &best) ? 1.29 : loser(p);
}

/* One lever that the seed names pays, in one way of its many that the seed names too. */
static double one_lever(const simulated *s, const hd_plan *p) {
  const int lever = (int)(7 * chance(s, 1));
  const double x = chance(s, 2);
  const hd_plan ways[] = {{.order = {HD_ORDER_BAND, .a = 1u << (1 + (int)(5 * x))}},
                          {.bind = HD_BIND_CLAIM},
                          {.bind = HD_BIND_AGENTS, .agents = 1 + (uint32_t)(6 * x)},
                          {.bypass = {HD_BYPASS_L1, (uint32_t)(8 * x)}},
                          {.bypass = {HD_BYPASS_READONLY, 8}},
                          {.stream = {.kind = HD_STREAM_L1}},
                          {.prefetch = {HD_PREFETCH_L2, 1u << (int)(3 * x)}}};
  const hd_plan *best = &ways[lever];
  if (hd_plan_equal(p, best)) return 1.2;
  return hd_plan_family(p) == hd_plan_family(best) ? 1.01 : loser(p);
}

/* Two levers gain little alone and much together. */
static double pair_of_levers(const simulated *s, const hd_plan *p) {
  static const hd_plan levers[] = {{.order = {.kind = HD_ORDER_COL}},
                                   {.bypass = {HD_BYPASS_READONLY, 8}},
                                   {.prefetch = {HD_PREFETCH_L2, 1}},
                                   {.threads = {.kind = HD_ORDER_BAND, .a = 32}}};
  int a = (int)(4 * chance(s, 1)), b = (a + 1 + (int)(3 * chance(s, 2))) % 4;
  uint32_t family = hd_plan_family(p), x = hd_plan_family(&levers[a]), y = hd_plan_family(&levers[b]);
  if (family == x || family == y) return 1.03;
  return family == (x | y) ? 1.25 : loser(p);
}

/* The speedup rises and falls with the bypass' threshold, so that a hill climb stops at a local maximum. */
static double valleys(const simulated *s, const hd_plan *p) {
  static const double by_warps[] = {1.02, 0.93, 1.06, 0.95, 1.01, 1.16, 0.94, 1.03, 1};
  static const hd_bypass_kind kinds[] = {HD_BYPASS_L1, HD_BYPASS_READONLY, HD_BYPASS_L2};
  hd_bypass_kind kind = kinds[(int)(3 * chance(s, 1))];
  const hd_plan only = {.bypass = p->bypass};
  if (p->bypass.kind != kind || p->bypass.warps > warps || !hd_plan_equal(p, &only)) return loser(p);
  return by_warps[(p->bypass.warps + (uint32_t)(8 * chance(s, 2))) % 9];
}

/* Many orders are nearly as good as the best: the best of each size gains most. */
static double plateau(const simulated *s, const hd_plan *p) {
  const hd_plan only = {.order = p->order};
  if (!hd_plan_equal(p, &only)) return loser(p);
  return 1.1 + 0.02 * (double)(plan_hash(p) % 13) / 13;
}

static double nothing(const simulated *s, const hd_plan *p) { return loser(p); }

typedef struct landscape {
  const char *name;
  double (*speedup)(const simulated *s, const hd_plan *p);
  double best;
  double within; /* least part of the tunings that come within 2% of it, at little noise */
} landscape;

static const landscape landscapes[] = {
    {"a lone winner", lone_read_only, 1.29, 1},
    {"one lever, one way", one_lever, 1.2, 0.9},
    {"a pair of levers", pair_of_levers, 1.25, 0.95},
    {"valleys of thresholds", valleys, 1.16, 0.85},
    {"a plateau", plateau, 1.12, 1},
    {"nothing", nothing, 1, 1},
};

/* ---- Regret ----------------------------------------------------------------------------- */

typedef struct regrets {
  double sum, worst;
  unsigned within; /* 2% */
} regrets;

static regrets tune_all(const landscape *l, double us, double noise) {
  static simulated s;
  regrets r = {0};
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    search found;
    s = (simulated){.seed = 31 * seed,
                    .base_us = us,
                    .noise = noise,
                    .outliers = 0.02,
                    .drift = 0.02,
                    .speedup = l->speedup,
                    .admission = 0.04};
    search_on(&s, 0.9 * fmin(12, 5.5 + 100e-6 * us), &found); /* the default budget */
    double got = found.adopted ? l->speedup(&s, &found.trials.data[found.best].plan) : 1;
    double regret = l->best / got - 1;
    r.sum += regret;
    r.worst = fmax(r.worst, regret);
    r.within += regret <= 0.02;
    search_free(&found);
  }
  return r;
}

static void comes_close_to_the_best(void **state) {
  static const double lengths[] = {50, 3000, 40000}, noises[] = {0.002, 0.01};
  print_message("%-22s %8s %6s %12s %9s %10s\n", "landscape", "us", "noise", "mean regret", "worst",
                "within 2%");
  for (size_t i = 0; i < sizeof landscapes / sizeof *landscapes; i++)
    for (size_t k = 0; k < 3; k++)
      for (size_t j = 0; j < 2; j++) {
        const landscape *l = &landscapes[i];
        regrets r = tune_all(l, lengths[k], noises[j]);
        print_message("%-22s %8.0f %5.1f%% %11.2f%% %8.2f%% %9.0f%%\n", l->name, lengths[k], 100 * noises[j],
                      100 * r.sum / SEEDS, 100 * r.worst, 100.0 * r.within / SEEDS);
        /* Of runs that take 40 ms the budget affords few: a quarter may miss it. */
        assert_true(r.within >= (lengths[k] <= 3000 ? l->within : fmin(l->within, 0.75)) * SEEDS);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the choice comes within 2% of the best plan", comes_close_to_the_best),
  };
  return cmocka_run_group_tests_name("contest.landscapes", tests, NULL, NULL);
}
