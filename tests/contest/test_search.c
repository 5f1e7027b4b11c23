/* The tuner's decisions on simulated devices. */
#include "contest/simulated.h"

/* ---- Speedups ---------------------------------------------------------------------- */

static double all_slower(const simulated *s, const hd_plan *p) {
  return 0.6 + 0.39 * (double)(plan_hash(p) % 1000) / 1000;
}

/* One plan in a dozen gains 5%, none more; others lose. */
static double few_gain(const simulated *s, const hd_plan *p) {
  uint64_t h = plan_hash(p) ^ s->seed;
  return h % 12 == 0 ? 1.05 : 1 - 0.3 * (double)(h % 97) / 97;
}

/* A hill in a band's height with its top at 11, which no candidate has. */
static double hill(const simulated *s, const hd_plan *p) {
  if (p->order.kind != HD_ORDER_BAND || p->bind != HD_BIND_NONE) return 0.9;
  double x = log2((double)p->order.a / 11);
  return 1.4 - 0.1 * x * x;
}

static double agents_of_two(const simulated *s, const hd_plan *p) {
  if (p->bind != HD_BIND_AGENTS || p->order.kind != HD_ORDER_COL) return 0.8;
  uint32_t n = p->agents ? p->agents : 8;
  return n <= 3 ? 3.6 - 0.4 * fabs((double)n - 3) : 3.6 - 0.3 * ((double)n - 3);
}

/* CTAs of one warp that stream blocks which a column of the grid shares, as measured on an H100: the order
 * alone loses, agents alone gain nothing, and both together win. */
static double shared_columns(const simulated *s, const hd_plan *p) {
  bool column = p->order.kind == HD_ORDER_COL, chunk = p->split.kind == HD_SPLIT_CHUNK;
  bool lines = p->split.kind == HD_SPLIT_COLS || (p->split.kind == HD_SPLIT_WAVE && p->split.wave >= 128);
  double other = p->threads.kind || p->bypass.kind || p->stream.kind || p->prefetch.kind ? 0.95 : 1;
  if (!column) return other * (p->bind == HD_BIND_NONE ? 0.98 : p->bind == HD_BIND_REDIRECT ? 1.02 : 0.96);
  if (p->bind == HD_BIND_NONE) return other * 0.69;
  if (p->bind == HD_BIND_REDIRECT) return other * 1.2;
  if (!lines && !chunk) return other * 0.65;
  if (p->bind == HD_BIND_CLAIM) return other * (lines ? 1.685 : 1.625);
  double throttled = p->agents ? 0.6 + 0.4 * p->agents / 32 : 1;
  return other * throttled * (lines ? 1.721 : 1.666);
}

/* Gathers within communities that the grid strews: a table gathers them. Wide rows want nothing else; narrow
 * ones agents that take few at a time, which gain nothing without the table. */
static double communities(const hd_plan *p, bool wide) {
  double other = p->threads.kind || p->bypass.kind || p->stream.kind || p->prefetch.kind ? 0.95 : 1;
  if (p->order.kind != HD_ORDER_AFFINITY) return other * (p->bind == HD_BIND_AGENTS ? 0.99 : 0.97);
  if (p->bind == HD_BIND_NONE) return other * (wide ? 2.545 : 2.079);
  if (wide) return other * 1.64;
  bool fine = p->split.kind == HD_SPLIT_WAVE && p->split.wave <= 8;
  return other * (p->bind != HD_BIND_AGENTS ? 2.2 : p->agents && p->agents < 7 ? 2.1 : fine ? 2.424 : 2.387);
}
static double wide_communities(const simulated *s, const hd_plan *p) { return communities(p, true); }
static double narrow_communities(const simulated *s, const hd_plan *p) { return communities(p, false); }

/* Rows of tiles of a matrix product taken together. */
static double groups_of_rows(const simulated *s, const hd_plan *p) {
  static const double by_height[] = {1, 1, 1.72, 2.15, 2.19, 2.04, 1.97, 1.97, 1.98};
  if (p->order.kind != HD_ORDER_BAND || p->bind != HD_BIND_NONE) return 0.95;
  return p->order.a <= 8 ? by_height[p->order.a] : 1.8;
}

/* The bench hears of every plan before it is asked for it, so that it can prepare several at once. */
static void announces_what_it_will_ask_for(void **state) {
  static double (*const landscapes[])(const simulated *, const hd_plan *) = {hill, two_levers, agents_of_two,
                                                                             few_gain};
  for (size_t i = 0; i < sizeof landscapes / sizeof *landscapes; i++) {
    simulated *s = calloc(1, sizeof *s);
    *s = (simulated){.seed = i,
                     .base_us = 500,
                     .noise = 0.003,
                     .speedup = landscapes[i],
                     .admission = 0.02,
                     .listens = true};
    search r;
    search_on(s, 10, &r);
    assert_true(s->n_heard > 30);
    assert_int_equal(s->unheard, 0);
    search_free(&r);
    free(s);
  }
}

/* Where times are exact, each kind of plan must promise more than chance and error explain. */
static double asked_of(void *ctx, const hd_plan *p) { return p->bind == HD_BIND_AGENTS ? 1.3 : 1.05; }

static double agents_beside_columns(const simulated *s, const hd_plan *p) {
  const bool bare = !p->threads.kind && !p->bypass.kind && !p->stream.kind && !p->prefetch.kind;
  if (!bare) return 0.9;
  return p->bind == HD_BIND_AGENTS                                  ? 1.25
         : p->bind == HD_BIND_NONE && p->order.kind == HD_ORDER_COL ? 1.1
                                                                    : 0.95;
}

static double little_gain(const simulated *s, const hd_plan *p) {
  return p->order.kind == HD_ORDER_COL && p->bind == HD_BIND_NONE ? 1.04 : 0.9;
}

/* Columns do not hold their promise. */
static hd_status look_again_at(void *ctx, const hd_plan *p, double *speedup, hd_diag *d) {
  if (p->order.kind == HD_ORDER_COL) *speedup = 1.02;
  return HD_OK;
}

/* ---- Tests ------------------------------------------------------------------------------ */

/* The search finds, without a GPU, the plans that were found by hand on one. */
static void finds_what_hands_found(void **state) {
  static const hd_plan_space one_warp = {.grid = {1024, 128, 1},
                                         .block = {32, 1, 1},
                                         .tasks = 1024 * 128,
                                         .n_sms = 132,
                                         .resident = 32,
                                         .warps = 1,
                                         .loads = 1,
                                         .readonly = 1,
                                         .can_order = true,
                                         .can_loop = true},
                             rows = {.grid = {32768, 1, 1},
                                     .block = {32, 8, 1},
                                     .tasks = 32768,
                                     .n_sms = 132,
                                     .resident = 8,
                                     .warps = 8,
                                     .loads = 6,
                                     .readonly = 6,
                                     .can_order = true,
                                     .can_loop = true,
                                     .has_affinity = true},
                             tiles = {.grid = {64, 128, 1},
                                      .block = {128, 1, 1},
                                      .tasks = 64 * 128,
                                      .n_sms = 132,
                                      .resident = 1,
                                      .warps = 4,
                                      .can_order = true};
  static const struct {
    const hd_plan_space *space;
    double (*speedup)(const simulated *s, const hd_plan *p);
    double us, least;
  } cases[] = {{&one_warp, shared_columns, 1850, 1.66},
               {&rows, wide_communities, 4900, 2.5},
               {&rows, narrow_communities, 1050, 2.38},
               {&tiles, groups_of_rows, 23500, 2.15}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (uint64_t seed = 0; seed < 40; seed++) {
      static simulated s;
      search r;
      s = (simulated){.seed = seed,
                      .base_us = cases[i].us,
                      .noise = 0.006,
                      .outliers = 0.02,
                      .drift = 0.03,
                      .speedup = cases[i].speedup,
                      .admission = 0.025};
      search_in(cases[i].space, &s, 8, &r);
      assert_true(r.adopted);
      double found = cases[i].speedup(&s, &r.trials.data[r.best].plan);
      if (found < cases[i].least) fail_msg("case %zu, seed %u: %.3fx", i, (unsigned)seed, found);
      search_free(&r);
    }
}

/* Where times hardly vary and no plan comes near to winning, the budget is not spent. */
static void ends_early_where_nothing_helps(void **state) {
  static simulated s;
  for (uint64_t i = 0; i < 20; i++) {
    search r;
    s = (simulated){.seed = i, .base_us = 5000, .noise = 0.0008, .speedup = none_faster, .admission = 0.01};
    search_on(&s, 30, &r);
    assert_false(r.adopted);
    assert_true(r.trials.n > 80);
    assert_true(s.clock < 6);
    search_free(&r);
  }
}

static void adopts_nothing_of_no_worth(void **state) {
  enum { TUNINGS = 2000 };
  static simulated s;
  unsigned adopted = 0;
  for (uint64_t i = 0; i < TUNINGS; i++) {
    search r;
    s = (simulated){.seed = 1000 + i,
                    .base_us = i % 3 ? 40 : 2000,
                    .noise = 0.005 * (double)(1 + i % 6),
                    .outliers = 0.03,
                    .drift = 0.05,
                    .speedup = none_faster,
                    .admission = 0.02};
    search_on(&s, 10, &r);
    adopted += r.adopted;
    search_free(&r);
  }
  assert_in_range(adopted, 0, TUNINGS / 100 - 1);
}

static void never_adopts_what_is_slower(void **state) {
  static simulated s;
  for (uint64_t i = 0; i < 300; i++) {
    search r;
    s = (simulated){
        .seed = i, .base_us = 100, .noise = 0.02, .outliers = 0.05, .speedup = all_slower, .admission = 0.02};
    search_on(&s, 10, &r);
    assert_false(r.adopted);
    search_free(&r);
  }
}

static void finds_five_percent(void **state) {
  enum { TUNINGS = 300 };
  static simulated s;
  unsigned found = 0;
  for (uint64_t i = 0; i < TUNINGS; i++) {
    search r;
    s = (simulated){.seed = 77 * i,
                    .base_us = 200,
                    .noise = 0.02,
                    .outliers = 0.02,
                    .drift = 0.03,
                    .speedup = few_gain,
                    .admission = 0.02};
    search_on(&s, 10, &r);
    found += r.adopted && few_gain(&s, &r.trials.data[r.best].plan) > 1.049;
    if (r.adopted)
      assert_true(r.tested.speedup.low > 1 && r.tested.speedup.median > 1.02 &&
                  r.tested.speedup.median < 1.08);
    search_free(&r);
  }
  assert_in_range(found, TUNINGS * 97 / 100, TUNINGS);
}

static void climbs_between_candidates(void **state) {
  static simulated s;
  for (uint64_t i = 0; i < 50; i++) {
    search r;
    s = (simulated){.seed = i, .base_us = 500, .noise = 0.005, .speedup = hill, .admission = 0.02};
    search_on(&s, 10, &r);
    assert_true(r.adopted);
    const hd_plan *p = &r.trials.data[r.best].plan;
    assert_int_equal(p->order.kind, HD_ORDER_BAND);
    assert_true(hill(&s, p) > 1.395);
    search_free(&r);
  }
}

static void joins_levers(void **state) {
  static simulated s = {.seed = 5, .base_us = 300, .noise = 0.01, .speedup = two_levers, .admission = 0.02};
  search r;
  search_on(&s, 10, &r);
  assert_true(r.adopted);
  assert_int_equal(r.trials.data[r.best].plan.order.kind, HD_ORDER_COL);
  assert_int_equal(r.trials.data[r.best].plan.stream.kind, HD_STREAM_L1);
  search_free(&r);
}

static void finds_the_number_of_agents(void **state) {
  static simulated s = {
      .seed = 6, .base_us = 300, .noise = 0.01, .speedup = agents_of_two, .admission = 0.02};
  search r;
  search_on(&s, 10, &r);
  assert_true(r.adopted);
  assert_int_equal(r.trials.data[r.best].plan.agents, 3);
  search_free(&r);
}

/* The plan that gains is one of those that come late; nothing else does. */
static double last_wins(const simulated *s, const hd_plan *p) {
  static const hd_plan best = {.order = {.kind = HD_ORDER_REVERSE}};
  return hd_plan_equal(p, &best) ? 1.039 : p->order.kind != HD_ORDER_ROW ? 0.998 : 0.95;
}

static void goes_on_screening_while_nothing_wins(void **state) {
  static simulated s;
  for (uint64_t i = 0; i < 40; i++) {
    search r;
    s = (simulated){.seed = i, .base_us = 700, .noise = 0.002, .speedup = last_wins, .admission = 0.035};
    search_on(&s, 5.4, &r);
    assert_true(r.adopted);
    assert_int_equal(r.trials.data[r.best].plan.order.kind, HD_ORDER_REVERSE);
    search_free(&r);
  }
}

/* A kernel with a small share: all plans that the bench has prepared are run. */
static void runs_what_was_prepared(void **state) {
  static simulated s;
  search r;
  s = (simulated){.base_us = 350, .noise = 0.003, .speedup = all_slower, .admission = 0.03, .listens = true};
  search_on(&s, 0.3, &r);
  assert_in_range(r.trials.n, SEARCH_AHEAD, 2 * SEARCH_AHEAD);
  search_free(&r);
  s = (simulated){.base_us = 50e3, .noise = 0.003, .speedup = all_slower, .admission = 0.03};
  search_on(&s, 2.2, &r);
  assert_in_range(r.trials.n, 4, SEARCH_AHEAD);
  search_free(&r);
}

/* Fetching pays only where tasks are bound, and far ahead. */
static double far_fetch(const simulated *s, const hd_plan *p) {
  bool by = s->seed % 2; /* seed's choice of the binding */
  hd_bind_kind bind = by ? HD_BIND_AGENTS : HD_BIND_REDIRECT;
  if (p->order.kind != HD_ORDER_ROW || p->threads.kind != HD_ORDER_ROW) return 0.95;
  if (p->prefetch.kind != HD_PREFETCH_L2) return p->bind == HD_BIND_NONE ? 0.999 : 0.945;
  if (p->bind == HD_BIND_NONE) return p->prefetch.distance == 8 ? 1.003 : 0.98;
  if (p->bind != bind) return 0.93;
  return p->prefetch.distance <= 4 ? 0.96 : 1 + 0.0065 * p->prefetch.distance;
}

static void fetches_far_ahead_where_tasks_are_bound(void **state) {
  static simulated s;
  unsigned found = 0;
  for (uint64_t i = 0; i < 40; i++) {
    search r;
    s = (simulated){.seed = i, .base_us = 900, .noise = 0.002, .speedup = far_fetch, .admission = 0.03};
    search_on(&s, 5, &r);
    found += r.adopted && far_fetch(&s, &r.trials.data[r.best].plan) > 1.045;
    search_free(&r);
  }
  assert_in_range(found, 39, 40);
}

/* As micro/neighbours on an H100: compact pieces dealt out in small runs pay, pieces or runs alone do not. */
static double pieces_in_runs(const simulated *s, const hd_plan *p) {
  const hd_plan only = {
      .order = p->order, .bind = p->bind, .agents = p->agents, .split = p->split, .take = p->take};
  if (!hd_plan_equal(p, &only)) return p->bypass.kind == HD_BYPASS_L2 && !p->bypass.warps ? 1.008 : 0.95;
  if (p->bind != HD_BIND_AGENTS || (p->agents && p->agents < 7)) return p->bind ? 0.9 : 0.98;
  if (p->order.kind != HD_ORDER_TILE || p->split.kind != HD_SPLIT_WAVE || p->split.wave > 8) return 0.977;
  return p->order.a * p->order.b < 32 ? 0.95 : p->split.wave == 3 ? 1.12 : p->split.wave <= 4 ? 1.09 : 1.06;
}

static void deals_out_pieces_in_small_runs(void **state) {
  static simulated s;
  unsigned found = 0;
  for (uint64_t i = 0; i < 40; i++) {
    search r;
    s = (simulated){.seed = i, .base_us = 400, .noise = 0.003, .speedup = pieces_in_runs, .admission = 0.035};
    search_on(&s, 4.5, &r);
    found += r.adopted && pieces_in_runs(&s, &r.trials.data[r.best].plan) > 1.1;
    search_free(&r);
  }
  assert_in_range(found, 39, 40);
}

/* As md on an H100: of an order that gains much, tasks claimed in waves keep all and add some, tasks claimed
 * in chunks lose half of it. */
static double claimed_in_waves(const simulated *s, const hd_plan *p) {
  const hd_plan only = {.order = p->order, .bind = p->bind, .split = p->split};
  if (p->order.kind != HD_ORDER_COL) return 0.97;
  if (!hd_plan_equal(p, &only)) return 1.1;
  if (p->bind != HD_BIND_CLAIM) return p->bind ? 1.2 : 1.5;
  return p->split.kind == HD_SPLIT_WAVE && p->split.wave <= 16 ? 1.55 : 1.23;
}

static void claims_in_waves(void **state) {
  static simulated s;
  unsigned found = 0;
  for (uint64_t i = 0; i < 40; i++) {
    search r;
    s = (simulated){
        .seed = i, .base_us = 3000, .noise = 0.003, .speedup = claimed_in_waves, .admission = 0.035};
    search_on(&s, 2.5, &r);
    found += r.adopted && claimed_in_waves(&s, &r.trials.data[r.best].plan) > 1.52;
    search_free(&r);
  }
  assert_in_range(found, 39, 40);
}

/* Agents and reading past L1 pay together; the fewer agents, the better, down to 4. */
static double few_agents_and_read_only(const simulated *s, const hd_plan *p) {
  double x = p->bypass.kind == HD_BYPASS_READONLY && p->bypass.warps == 8 ? 1.07 : 1;
  if (p->bind != HD_BIND_AGENTS || p->order.kind != HD_ORDER_ROW) return x * 0.97;
  uint32_t n = p->agents ? p->agents : 8;
  return x * (1.19 - 0.025 * fabs((double)n - 4)) * (p->take.kind == HD_TAKE_TASKS ? 1 : 0.98);
}

static void climbs_to_the_end(void **state) {
  static simulated s;
  unsigned found = 0;
  for (uint64_t i = 0; i < 40; i++) {
    search r;
    s = (simulated){
        .seed = i, .base_us = 3500, .noise = 0.003, .speedup = few_agents_and_read_only, .admission = 0.035};
    search_on(&s, 5.4, &r);
    found += r.adopted && few_agents_and_read_only(&s, &r.trials.data[r.best].plan) > 1.25;
    search_free(&r);
  }
  assert_in_range(found, 38, 40);
}

static void keeps_to_its_budget(void **state) {
  static simulated s;
  static const double base[] = {30, 1e3, 2e4, 1.2e5, 4e5};
  for (size_t i = 0; i < sizeof base / sizeof *base; i++) {
    search r;
    s = (simulated){.seed = i, .base_us = base[i], .noise = 0.01, .speedup = few_gain, .admission = 0.03};
    search_on(&s, 10, &r);
    /* The least work, whatever the budget: four plans screened, eight pairs. */
    double least = 30 * base[i] * 1e-6;
    assert_true(s.clock < 12 + least);
    assert_true(r.trials.n >= 4);
    search_free(&r);
  }
}

static double half_as_fast(const simulated *s, const hd_plan *p) { return 0.5; }

/* One run each is all that they get, but there are a hundred of them. */
static void hopeless_plans_keep_to_the_budget_too(void **state) {
  static simulated s;
  search r;
  s = (simulated){.seed = 2, .base_us = 6e4, .noise = 0.01, .speedup = half_as_fast, .admission = 0.04};
  search_on(&s, 5, &r);
  assert_false(r.adopted);
  assert_true(s.clock < 4);
  assert_in_range(r.trials.n, 4, 40);
  search_free(&r);
}

static void leaves_very_slow_kernels_alone(void **state) {
  static simulated s = {.seed = 1, .base_us = 3e6, .noise = 0.01, .speedup = few_gain, .admission = 0.03};
  search r;
  search_on(&s, 10, &r);
  assert_true(r.unaffordable && !r.adopted && r.best == -1);
  assert_true(s.clock < 8);
  search_free(&r);
}

static void lets_plans_be_refused(void **state) {
  static simulated s = {
      .seed = 9, .base_us = 300, .noise = 0.01, .speedup = two_levers, .admission = 0.01, .refused_every = 2};
  search r;
  search_on(&s, 10, &r);
  size_t refused = 0;
  for (size_t i = 0; i < r.trials.n; i++) {
    refused += r.trials.data[i].status == HD_ERR_REFUSED;
    if (r.trials.data[i].status != HD_OK) assert_string_equal(r.trials.data[i].why, "not this one");
  }
  assert_true(refused > 0 && refused < r.trials.n);
  search_free(&r);
  s = (simulated){.seed = 9, .base_us = 300, .speedup = two_levers, .refused_every = 1};
  search_on(&s, 10, &r);
  assert_false(r.adopted);
  assert_int_equal(r.best, -1);
  search_free(&r);
}

/* ---- The space ---------------------------------------------------------------------------- */

/* Which way of taking tasks is best, only trials say. */
static void agents_are_tried_with_every_way_of_taking_tasks(void **state) {
  for (unsigned kind = 0; kind < HD_TAKE_COUNT; kind++) {
    const search_trial trial = {.plan = {.bind = HD_BIND_AGENTS, .take.kind = (hd_take_kind)kind},
                                .score = 1.1};
    hd_plan near[TUNER_NEIGHBOURS];
    unsigned seen = 0;
    for (size_t n = tuner_neighbours(&plane, &trial, 1, 0, near); n; n--)
      if (near[n - 1].bind == HD_BIND_AGENTS) seen |= 1u << near[n - 1].take.kind;
    assert_int_equal(seen, (1u << HD_TAKE_COUNT) - 1);
  }
}

static void candidates_are_sound(void **state) {
  static const uint32_t grids[][3] = {{1, 1, 1},   {1000, 1, 1}, {7, 5, 1},
                                      {1, 900, 1}, {16, 16, 16}, {4000000, 1, 1}};
  for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
    hd_plan_space s = plane;
    hd_candidate list[HD_CANDIDATES];
    memcpy(s.grid, grids[i], sizeof s.grid);
    assert_true(hd_grid_tasks(s.grid, &s.tasks));
    size_t n = hd_candidates(&s, list, HD_CANDIDATES);
    assert_in_range(n, 1, HD_CANDIDATES);
    for (size_t k = 0; k < n; k++) {
      assert_int_equal(hd_plan_check(&list[k].plan, NULL), HD_OK);
      assert_false(hd_plan_is_baseline(&list[k].plan));
      for (size_t j = 0; j < k; j++) assert_false(hd_plan_equal(&list[j].plan, &list[k].plan));
      search_trial trial = {.plan = list[k].plan, .score = 1.1};
      hd_plan near[TUNER_NEIGHBOURS];
      size_t m = tuner_neighbours(&s, &trial, 1, 0, near);
      assert_in_range(m, 0, TUNER_NEIGHBOURS);
      for (size_t j = 0; j < m; j++) {
        assert_int_equal(hd_plan_check(&near[j], NULL), HD_OK);
        assert_false(hd_plan_equal(&near[j], &list[k].plan));
      }
    }
  }
}

static void what_is_refused_is_not_offered(void **state) {
  hd_plan_space s = plane;
  hd_candidate list[HD_CANDIDATES];
  s.can_order = s.can_loop = s.can_swap_threads = false;
  size_t n = hd_candidates(&s, list, HD_CANDIDATES);
  assert_true(n > 0);
  for (size_t k = 0; k < n; k++)
    assert_true(list[k].plan.order.kind == HD_ORDER_ROW && list[k].plan.bind == HD_BIND_NONE &&
                list[k].plan.threads.kind == HD_ORDER_ROW);
  s.loads = s.readonly = 0;
  assert_int_equal(hd_candidates(&s, list, HD_CANDIDATES), 0);
}

static void exact_times_choose_what_promises_enough(void **state) {
  static const struct {
    double (*speedup)(const simulated *s, const hd_plan *p);
    bool again, adopted;
    double median, asked;
  } cases[] = {{agents_beside_columns, false, true, 1.1, 0},
               {agents_beside_columns, true, false, 1.25, 1.3},
               {little_gain, false, false, 1.04, 1.05},
               {none_faster, false, false, 1, 0}};
  static simulated s;
  hd_candidate list[HD_CANDIDATES];
  const search_options o = {.budget = 30, .confidence = 0.99};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    search r;
    hd_diag d = {0};
    s = (simulated){.base_us = 100, .speedup = cases[i].speedup, .admission = 0.02};
    tuner_bench b = bench_of(&s);
    b.exact = true;
    b.asked = asked_of;
    if (cases[i].again) b.again = look_again_at;
    const size_t n = hd_candidates(&plane, list, HD_CANDIDATES);
    assert_int_equal(tuner_search(&r, &b, &plane, list, n, &o, &d), HD_OK);
    assert_int_equal(s.held, 0);
    assert_int_equal(r.adopted, cases[i].adopted);
    assert_float_equal(r.tested.speedup.median, cases[i].median, 1e-9);
    if (r.asked != cases[i].asked) fail_msg("case %zu: %g", i, r.asked);
    if (r.adopted) assert_float_equal(r.tested.after_us, 100 / cases[i].median, 1e-6);
    search_free(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("of plans that gain nothing fewer than 1% are adopted", adopts_nothing_of_no_worth),
      BEHAVIOUR("a slower plan is never adopted", never_adopts_what_is_slower),
      BEHAVIOUR("of exact times those win that promise enough", exact_times_choose_what_promises_enough),
      BEHAVIOUR("a gain of 5% is found", finds_five_percent),
      BEHAVIOUR("climbing finds a height between the candidates'", climbs_between_candidates),
      BEHAVIOUR("two levers that pay are joined", joins_levers),
      BEHAVIOUR("the number of agents that pays is found", finds_the_number_of_agents),
      BEHAVIOUR("what was found by hand is found", finds_what_hands_found),
      BEHAVIOUR("where nothing comes near to winning the search ends early", ends_early_where_nothing_helps),
      BEHAVIOUR("while nothing wins the search goes on to plans that come late",
                goes_on_screening_while_nothing_wins),
      BEHAVIOUR("plans that were prepared are run, however small the budget", runs_what_was_prepared),
      BEHAVIOUR("fetching far ahead is tried where tasks are bound", fetches_far_ahead_where_tasks_are_bound),
      BEHAVIOUR("compact pieces in small runs are tried", deals_out_pieces_in_small_runs),
      BEHAVIOUR("an order that gains is tried with tasks claimed in waves", claims_in_waves),
      BEHAVIOUR("climbing has time to reach the top", climbs_to_the_end),
      BEHAVIOUR("slow kernels get fewer plans, and the budget holds", keeps_to_its_budget),
      BEHAVIOUR("plans without hope are tried within the budget, too", hopeless_plans_keep_to_the_budget_too),
      BEHAVIOUR("where the budget affords no comparison none is begun", leaves_very_slow_kernels_alone),
      BEHAVIOUR("plans are announced before they are asked for", announces_what_it_will_ask_for),
      BEHAVIOUR("refused plans are told and passed over", lets_plans_be_refused),
      BEHAVIOUR("agents are tried with every way of taking tasks",
                agents_are_tried_with_every_way_of_taking_tasks),
      BEHAVIOUR("candidates and neighbours are valid plans, each once", candidates_are_sound),
      BEHAVIOUR("levers that the kernel bars are not offered", what_is_refused_is_not_offered),
  };
  return cmocka_run_group_tests_name("contest.search", tests, NULL, NULL);
}
