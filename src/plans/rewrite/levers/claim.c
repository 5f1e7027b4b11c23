/* The scheme by which workers claim tasks: its decisions, with their reasons. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rewrite/levers/claim.h"

enum { MOST_CLUSTERS = 65536 };

static uint64_t fewer(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- Deciding -------------------------------------------------------------------------- */

/* Warps that share nothing need not wait for each other. */
static void decide_unit(const rewrite_job *j, claim_scheme *s) {
  const rewrite_traits *t = &j->traits;
  uint32_t threads = rewrite_threads(j);
  if (threads > 0 && threads <= 32) {
    s->unit = CLAIM_ONE_WARP;
    s->why_unit = "a CTA has one";
  } else if (j->plan->take.kind == HD_TAKE_STRIDES) {
    s->unit = CLAIM_BY_CTA;
    s->why_unit = "once for all its tasks";
  } else if (t->shared || t->barrier || t->cta_scope) {
    s->unit = CLAIM_BY_CTA;
    s->why_unit = t->barrier  ? "the kernel has barriers"
                  : t->shared ? "the kernel uses shared memory"
                              : "the kernel has operations of CTA scope";
  } else {
    s->unit = CLAIM_BY_WARP;
    s->why_unit = "the warps of a CTA share nothing";
  }
}

static void decide_ticket(const rewrite_job *j, claim_scheme *s) {
  if (s->unit != CLAIM_BY_CTA) return;
  s->ticket_bytes = rewrite_spare_shared(j, s->agents ? 8 : 4);
  s->ticket = s->ticket_bytes ? "~ticket" : j->m->syms[j->traits.shared_var].name;
}

static void decide_queues(const rewrite_job *j, claim_scheme *s) {
  const hd_numbers *present = j->opt->sms;
  s->any_grid = !j->opt->grid.known;
  s->V = j->V;
  s->clusters = hd_plan_clusters(j->plan, &j->opt->grid);
  s->stride_bits = s->ranked ? 8 : 7;
  s->stride = 1u << s->stride_bits;
  if (hd_numbers_count(&j->plan->sms))
    s->named = &j->plan->sms;
  else if (present && hd_numbers_count(present))
    s->present = present;
}

/* CTAs that an SM takes at once at most, by its threads. */
static uint32_t most_resident(const rewrite_job *j) {
  enum { SM_THREADS = 2048, SM_CTAS = 32 };
  uint32_t threads = rewrite_threads(j), fit = threads ? SM_THREADS / threads : SM_CTAS;
  return fit < SM_CTAS ? fit : SM_CTAS;
}

/* A task claimed ahead must not wait for its worker while others are idle: behind a long one where tasks come
 * longest first, or where there are not two for each worker. */
static void decide_take(const rewrite_job *j, claim_scheme *s) {
  const hd_plan *p = j->plan;
  uint64_t workers = (uint64_t)s->clusters * most_resident(j), n = p->take.tasks;
  s->active = fewer((uint64_t)s->throttle * s->clusters, HD_MOST_CLAIMED);
  if (p->take.kind == HD_TAKE_STRIDES) {
    s->take = CLAIM_STRIDE;
  } else if (p->take.kind == HD_TAKE_SEGMENTS) {
    s->take = CLAIM_SEGMENT;
    if (!n && s->throttle && !s->any_grid) n = (s->V + s->active - 1) / s->active;
    s->segment = (uint32_t)fewer(n, HD_MOST_CLAIMED);
  } else if (p->order.kind == HD_ORDER_HEAVY_FIRST) {
    s->why_take = "the longest tasks come first";
  } else if (!s->agents) {
    s->why_take = "a worker takes no other";
  } else if (!s->any_grid && s->V < 2 * workers) {
    s->why_take = "there are not two for each worker";
  } else {
    s->take = CLAIM_ONE_AHEAD;
  }
  if (s->take == CLAIM_SEGMENT || s->take == CLAIM_STRIDE || s->any_grid) return;
  uint64_t least = s->V / s->clusters;
  s->sure = least && !s->agents ? least - 1 : least;
}

/* The use of registers, which depends on how many lanes every warp has for sure. */
static void decide_lanes(const rewrite_job *j, claim_scheme *s) {
  uint32_t threads = rewrite_threads(j), fewest = 1;
  bool ragged = s->unit == CLAIM_BY_WARP && threads % 32;
  if (threads && !ragged) s->lanes = threads < 32 ? threads : 32;
  if (threads) fewest = ragged ? threads % 32 : s->lanes;
  s->many_queues = !s->lanes || s->clusters > s->lanes;
  s->packs = (s->take == CLAIM_ONE_AHEAD && fewest >= 2) || (s->take == CLAIM_SEGMENT && fewest >= 3);
  s->got = s->take == CLAIM_ONE_AHEAD && s->packs ? "%~at" : "%~got";
  s->clears_got = s->agents ? s->take != CLAIM_ONE_AHEAD : j->plan->order.kind == HD_ORDER_HEAVY_FIRST;
}

static void decide(const rewrite_job *j, claim_scheme *s) {
  s->agents = j->plan->bind == HD_BIND_AGENTS;
  s->throttle = s->agents ? j->plan->agents : 0;
  s->voted = s->agents && j->plan->agents_voted;
  s->ranked = (s->throttle || s->voted) && j->plan->take.kind != HD_TAKE_STRIDES;
  decide_unit(j, s);
  decide_ticket(j, s);
  decide_queues(j, s);
  decide_take(j, s);
  decide_lanes(j, s);
  s->second_entry = s->agents && j->opt->no_hoisting;
  s->votes = s->second_entry || (s->agents && s->any_grid); /* the way around large grids is an entry, too */
}

/* ---- In words ----------------------------------------------------------------------------- */

static void describe_take(const claim_scheme *s, hd_buf *b) {
  switch (s->take) {
  case CLAIM_ONE: hd_buf_printf(b, "tasks one at a time (%s)", s->why_take); break;
  case CLAIM_ONE_AHEAD:
    hd_buf_puts(b, "tasks one at a time, the next one while the present one is done");
    break;
  case CLAIM_SEGMENT:
    if (s->segment)
      hd_buf_printf(b, "tasks in segments of %" PRIu32, s->segment);
    else
      hd_buf_printf(b, "tasks in segments of a worker's share");
    break;
  case CLAIM_STRIDE: hd_buf_puts(b, "tasks in strides, one for each worker"); break;
  }
}

/* Two lines: the unit that claims, with the reason; the tasks that it claims, and from which queues. */
static hd_status describe(const rewrite_job *j, const claim_scheme *s, hd_diag *d) {
  hd_buf b = {0};
  hd_buf_printf(&b, "heddle: bind=%s", s->agents ? "agents" : "claim");
  if (s->throttle) hd_buf_printf(&b, ":%" PRIu32, s->throttle);
  if (s->voted) hd_buf_puts(&b, ":auto");
  hd_buf_printf(&b, ", claims by %s (%s)", s->unit == CLAIM_BY_CTA ? "CTA" : "warp", s->why_unit);
  if (s->unit == CLAIM_BY_CTA && s->ticket_bytes)
    hd_buf_printf(&b, ", handed over in a ticket of %" PRIu32 " bytes", s->ticket_bytes);
  else if (s->unit == CLAIM_BY_CTA)
    hd_buf_printf(&b, ", handed over in the kernel's own %s", s->ticket);
  hd_buf_puts(&b, "\nheddle: ");
  describe_take(s, &b);
  hd_buf_printf(&b, "; %" PRIu32 " queues by %s; ", s->clusters,
                s->named     ? "rank among the SMs that the plan names"
                : s->present ? "rank among the SMs that are there"
                             : "SM number");
  if (s->any_grid)
    hd_buf_puts(&b, "any grid");
  else
    hd_buf_printf(&b, "%" PRIu64 " tasks", s->V);
  if (s->second_entry) hd_buf_puts(&b, "; the loop has a second entry, against hoisting");
  const char *remark = b.failed ? NULL : hd_arena_strndup(j->m->arena, b.data, b.len);
  hd_buf_free(&b);
  j->m->funcs[j->func].remark = remark;
  return remark ? HD_OK : hd_nomem(d);
}

/* ---- Conditions --------------------------------------------------------------------------- */

/* shfl.sync and vote.sync, from the leader of a warp to its lanes. */
static hd_status check_target(const hd_ptx_module *m, hd_diag *d) {
  enum { LEAST = 30 };
  if (m->sm && m->sm < LEAST)
    return hd_fail(d, HD_ERR_UNSUPPORTED,
                   "claiming tasks takes shfl.sync, which needs sm_%d: the module is for sm_%u", LEAST,
                   m->sm);
  if (m->version_major < 6)
    return hd_fail(d, HD_ERR_UNSUPPORTED,
                   "claiming tasks needs PTX ISA 6.0, and the module is written in %u.%u", m->version_major,
                   m->version_minor);
  return HD_OK;
}

static hd_status check_launch(const rewrite_job *j, hd_diag *d) {
  uint64_t M = hd_plan_clusters(j->plan, &j->opt->grid);
  if (M == 0 || M > MOST_CLUSTERS)
    return hd_fail(d, HD_ERR_USAGE, "clusters for %" PRIu64 " SMs: there can be 1 to %d", M, MOST_CLUSTERS);
  if (j->plan->agents_voted && !j->asked)
    return hd_fail(d, HD_ERR_USAGE, "bind=agents:auto is decided by measuring; name a number");
  if (j->plan->agents_voted && M > HD_BALLOT_SMS)
    return hd_fail(d, HD_ERR_UNSUPPORTED,
                   "bind=agents:auto counts the tasks of %d SMs at most, not of %" PRIu64, HD_BALLOT_SMS, M);
  if (j->opt->grid.known && j->V > HD_MOST_CLAIMED)
    return hd_fail(d, HD_ERR_UNSUPPORTED,
                   "a grid of %" PRIu64 " tasks has too many to claim (at most %" PRIu64 ")", j->V,
                   HD_MOST_CLAIMED);
  return HD_OK;
}

static hd_status check_shared(const rewrite_job *j, const claim_scheme *s, hd_diag *d) {
  if (s->unit != CLAIM_BY_CTA) return HD_OK;
  if (j->traits.sees_shared_size)
    return hd_fail(d, HD_ERR_REFUSED,
                   "the kernel reads how much shared memory it has, which this plan changes");
  /* Memory that the kernel lends is nobody else's between two tasks, and nothing moves. */
  if (!s->ticket_bytes && j->traits.shared_by_number && (j->traits.async_shared || !j->traits.shared_var))
    return hd_fail(d, HD_ERR_REFUSED, REWRITE_BY_NUMBER);
  if (!s->ticket_bytes && !j->traits.shared_var)
    return hd_fail(d, HD_ERR_REFUSED,
                   "the kernel's %" PRIu64 " bytes of shared memory leave no room for a ticket",
                   j->traits.shared_bytes);
  return HD_OK;
}

hd_status rewrite_decide_claims(rewrite_job *j, hd_diag *d) {
  hd_status st = check_launch(j, d);
  if (st == HD_OK) st = check_target(j->m, d);
  if (st != HD_OK) return st;
  claim_scheme *s = HD_NEW(j->m->arena, claim_scheme);
  if (!s || !rewrite_find_traits(j->m, j->func, &j->traits)) return hd_nomem(d);
  decide(j, s);
  j->claim = s;
  st = check_shared(j, s, d);
  if (st != HD_OK) return st;
  j->recipe->shared_bytes = s->ticket_bytes;
  j->recipe->agents = s->agents;
  j->recipe->fills = s->agents && (s->named || s->take == CLAIM_STRIDE);
  j->recipe->grid = s->agents && s->any_grid;
  j->recipe->state_bytes = CLAIM_LINE + (uint64_t)s->clusters * s->stride;
  if (s->voted) {
    j->recipe->ballot = true;
    j->recipe->ballot_offset = j->recipe->state_bytes;
    j->recipe->state_bytes += sizeof(uint32_t) * HD_BALLOT_SMS;
  }
  return describe(j, s, d);
}
