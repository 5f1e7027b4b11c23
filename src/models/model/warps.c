#include "model/warps.h"

#include <string.h>

void model_warps_reset(model_warps *p, const hd_gpu *g, uint32_t places, uint32_t per_cta, model_ccws *ccws) {
  *p =
      (model_warps){.kind = g->scheduler,
                    .group = g->scheduler_warps,
                    .schedulers = g->schedulers < WARPS_MAX_SCHEDULERS ? g->schedulers : WARPS_MAX_SCHEDULERS,
                    .places = places,
                    .per_cta = per_cta,
                    .ccws = g->scheduler == HD_SCHED_CCWS ? ccws : NULL};
  if (p->kind == HD_SCHED_TWO_LEVEL && !p->group) p->group = WARPS_FETCH_GROUP;
  memset(p->away, true, sizeof p->away);
  for (uint32_t w = 0; w < places; w++) {
    p->rank[w] = w % per_cta;
    p->cta[w] = (uint8_t)(w / per_cta);
    p->scheduler[w] = (uint8_t)(w % p->schedulers);
  }
}

void model_warps_order(model_warps *p, const uint32_t *ctas, uint32_t n) {
  uint32_t listed[WARPS_MAX_SCHEDULERS] = {0};
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t s = 0; s < WARPS_MAX_SCHEDULERS; s++) p->by_age[s][listed[s]] = 0;
    for (uint32_t k = 0; k < p->per_cta; k++) {
      const uint32_t warp = ctas[i] * p->per_cta + k, s = p->scheduler[warp];
      p->rank[warp] = i * p->per_cta + k;
      p->by_age[s][listed[s]] |= UINT64_C(1) << warp / p->schedulers;
    }
    for (uint32_t s = 0; s < WARPS_MAX_SCHEDULERS; s++) listed[s] += p->by_age[s][listed[s]] != 0;
  }
  for (uint32_t s = 0; s < WARPS_MAX_SCHEDULERS; s++)
    if (listed[s] < CCWS_WARPS) p->by_age[s][listed[s]] = UINT64_MAX;
}

void model_warps_start(model_warps *p, uint32_t warp) {
  p->away[warp] = false;
  p->next[p->scheduler[warp]][p->cta[warp]] = 0;
  if (p->ccws) model_ccws_start(p->ccws, warp);
}

void model_warps_wait(model_warps *p, uint32_t warp) { p->away[warp] = true; }

void model_warps_go_on(model_warps *p, uint32_t warp) { p->away[warp] = false; }

void model_warps_end(model_warps *p, uint32_t warp) {
  p->away[warp] = true;
  if (p->ccws) model_ccws_end(p->ccws, warp);
}

/* ---- Whose turn it is ------------------------------------------------------------- */

/* How many places behind the last one it is, round and round. */
static uint32_t behind(const model_warps *p, uint32_t warp, uint32_t last) {
  return (warp + 2 * p->places - last - 1) % p->places;
}

uint32_t model_warps_turn(const model_warps *p, uint32_t warp) {
  const uint32_t last = p->last[p->scheduler[warp]];
  if (p->kind == HD_SCHED_LRR) return behind(p, warp, last);
  if (p->kind == HD_SCHED_TWO_LEVEL) {
    uint32_t groups = (p->places + p->group - 1) / p->group;
    uint32_t away = (warp / p->group + groups - last / p->group) % groups;
    return away * p->places + behind(p, warp, last);
  }
  if (p->kind == HD_SCHED_OLDEST) {
    const uint32_t place = warp / p->schedulers, next = p->next[p->scheduler[warp]][p->cta[warp]];
    return (p->rank[warp] / p->per_cta * 2 + (place < next)) * CCWS_WARPS + place;
  }
  return warp == last ? 0 : 1 + p->rank[warp];
}

uint32_t model_warps_oldest(const model_warps *p, uint32_t scheduler, uint64_t places) {
  const uint32_t last = p->last[scheduler];
  const bool in_turn = p->kind == HD_SCHED_OLDEST;
  if (!(places & (places - 1))) return (uint32_t)__builtin_ctzll(places) * p->schedulers + scheduler;
  if (!in_turn && p->scheduler[last] == scheduler && places >> last / p->schedulers & 1) return last;
  const uint64_t *by_age = p->by_age[scheduler];
  while (!(places & *by_age)) by_age++;
  const uint64_t own = places & *by_age;
  const uint32_t warp = (uint32_t)__builtin_ctzll(own) * p->schedulers + scheduler;
  if (!in_turn || !(own & (own - 1))) return warp;
  const uint32_t next = p->next[scheduler][p->cta[warp]];
  const uint64_t behind = next < 64 ? own & ~UINT64_C(0) << next : 0;
  return behind ? (uint32_t)__builtin_ctzll(behind) * p->schedulers + scheduler : warp;
}

/* ---- Who may load ----------------------------------------------------------------- */

/* Is it among the oldest that could go on? */
static bool has_priority(const model_warps *p, uint32_t warp) {
  uint32_t own = p->rank[warp], older = 0;
  for (uint32_t w = 0; w < p->places && older < p->group; w++) older += !p->away[w] && p->rank[w] < own;
  return older < p->group;
}

bool model_warps_need_clock(hd_warp_scheduler s) {
  return s == HD_SCHED_TWO_LEVEL || s == HD_SCHED_CCWS || s == HD_SCHED_PRIORITY;
}

bool model_warps_may_load(model_warps *p, uint32_t warp, uint64_t cycle) {
  if (p->ccws) return model_ccws_may_load(p->ccws, warp, cycle);
  return p->kind != HD_SCHED_PRIORITY || !p->group || has_priority(p, warp);
}

/* ---- Names -------------------------------------------------------------------------- */

const char *const model_schedulers[HD_SCHED_COUNT + 1] = {
    [HD_SCHED_LRR] = "lrr",   [HD_SCHED_GTO] = "gto",           [HD_SCHED_TWO_LEVEL] = "two-level",
    [HD_SCHED_CCWS] = "ccws", [HD_SCHED_PRIORITY] = "priority", [HD_SCHED_OLDEST] = "oldest",
};

const char *hd_scheduler_name(hd_warp_scheduler s) {
  return (unsigned)s < HD_SCHED_COUNT ? model_schedulers[s] : "unknown";
}

static bool has_number(hd_warp_scheduler s) { return s == HD_SCHED_TWO_LEVEL || s == HD_SCHED_PRIORITY; }

hd_status hd_gpu_set_scheduler(hd_gpu *g, hd_warp_scheduler s, uint32_t warps, hd_diag *d) {
  if ((unsigned)s >= HD_SCHED_COUNT)
    return hd_fail(d, HD_ERR_USAGE, "there is no warp scheduler %u", (unsigned)s);
  if (warps && !has_number(s))
    return hd_fail(d, HD_ERR_USAGE, "the warp scheduler %s takes no number of warps", model_schedulers[s]);
  if (warps > g->max_warps)
    return hd_fail(d, HD_ERR_USAGE, "the warp scheduler %s:%u: an SM of %s has %u warps", model_schedulers[s],
                   warps, g->name, g->max_warps);
  if ((s == HD_SCHED_CCWS || s == HD_SCHED_PRIORITY) && !g->l1_global)
    return hd_fail(d, HD_ERR_UNSUPPORTED,
                   "the warp scheduler %s keeps data in L1, which %s does not use for global loads",
                   model_schedulers[s], g->name);
  g->scheduler = s;
  g->scheduler_warps = warps;
  return HD_OK;
}

hd_status hd_gpu_parse_scheduler(hd_gpu *g, const char *text, hd_diag *d) {
  static const char known[] = "lrr, gto, two-level[:N], ccws, priority[:N], oldest";
  char near[HD_NEAR];
  size_t n = strcspn(text, ":");
  uint64_t warps = 0;
  unsigned s = 0;
  while (s < HD_SCHED_COUNT &&
         !(strlen(model_schedulers[s]) == n && memcmp(model_schedulers[s], text, n) == 0))
    s++;
  if (s == HD_SCHED_COUNT)
    return hd_fail(d, HD_ERR_USAGE, "no warp scheduler '%.40s': there are %s%s", text, known,
                   hd_near(known, text, n, near));
  if (text[n] && (!hd_parse_u64(text + n + 1, strlen(text + n + 1), UINT32_MAX, &warps) || !warps))
    return hd_fail(d, HD_ERR_USAGE, "warp scheduler '%.40s': behind the colon stands a number of warps",
                   text);
  hd_status st = hd_gpu_set_scheduler(g, (hd_warp_scheduler)s, (uint32_t)warps, d);
  if (st == HD_OK) { /* such a GPU was not compared */
    g->compared = (hd_compared){0};
    g->published = (hd_published){0};
  }
  return st;
}
