/* Random sizes and random compositions: likely values, and none that the notation would refuse. */
#include "heddle/compose.h"

#include <inttypes.h>

/* ---- Chances -------------------------------------------------------------------------- */

typedef struct dice {
  uint64_t seed, thrown;
} dice;

/* 0 to n - 1. */
static uint64_t below(dice *r, uint64_t n) { return hd_random_at(r->seed, r->thrown++) % n; }

static bool chance(dice *r, unsigned percent) { return below(r, 100) < percent; }

/* ---- Sizes ------------------------------------------------------------------------------ */

enum { LEAST_PERCENT = 15, FEW_PERCENT = 15, FEW = 4 };

/* How many times its present value a parameter becomes at most: the more of them there are, the less,
 * because the work is their product. */
static uint64_t growth(const hd_workload *w) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < w->n_params; i++) n += w->params[i].step != 0;
  return n < 2 ? 8 : n == 2 ? 4 : 3;
}

static int64_t draw_value(dice *r, const hd_wl_param *p, uint64_t times) {
  uint64_t step = (uint64_t)p->step, steps = ((uint64_t)p->most - (uint64_t)p->least) / step;
  uint64_t now = p->value > p->least ? ((uint64_t)p->value - (uint64_t)p->least) / step : 0;
  uint64_t wide = now > UINT64_MAX / 16 ? now : now * times;
  if (wide < FEW) wide = FEW;
  uint64_t roll = below(r, 100), most = roll < LEAST_PERCENT                 ? 0
                                        : roll < LEAST_PERCENT + FEW_PERCENT ? FEW
                                                                             : wide;
  if (most > steps) most = steps;
  return (int64_t)((uint64_t)p->least + below(r, most + 1) * step);
}

void hd_compose_size(const hd_workload *w, uint64_t seed, int64_t *values) {
  dice r = {.seed = seed};
  for (uint32_t i = 0; i < w->n_params; i++) {
    const hd_wl_param *p = &w->params[i];
    values[i] = p->step && p->most >= p->least ? draw_value(&r, p, growth(w)) : p->value;
  }
}

/* ---- Levers ------------------------------------------------------------------------------- */

/* A parameter of an order: up to a little beyond the grid's extent, seldom the largest there is. */
static uint64_t parameter(dice *r, uint32_t extent) {
  return chance(r, 3) ? UINT32_MAX : 1 + below(r, (uint64_t)extent + 2);
}

/* The parameters behind an order's name. */
typedef enum shape { PLAIN, ROWS, CELLS, LINES, GROUP, GROUPS, NAMED } shape;

/* Orders that threads= and shape= can take come first, those that need a table last. */
static const struct {
  const char *name;
  shape shape;
} ORDERS[] = {{"row", PLAIN},     {"col", PLAIN},     {"hilbert", PLAIN},     {"reverse", PLAIN},
              {"band", ROWS},     {"tile", CELLS},    {"tile", LINES},        {"zigzag", GROUP},
              {"zigzag", GROUPS}, {"stride", GROUPS}, {"heavy-first", PLAIN}, {"affinity", PLAIN},
              {"table", NAMED}};
enum { N_ORDERS = sizeof ORDERS / sizeof *ORDERS, N_PLAIN_ORDERS = 10, FEW_TASKS = 64 };

static void put_order(dice *r, const uint32_t grid[3], const char *table, uint64_t n, hd_buf *out) {
  uint64_t V = (uint64_t)grid[0] * grid[1] * grid[2], i = below(r, n);
  uint32_t few = V < FEW_TASKS ? (uint32_t)V : FEW_TASKS;
  hd_buf_puts(out, ORDERS[i].name);
  switch (ORDERS[i].shape) {
  case PLAIN: return;
  case NAMED: hd_buf_printf(out, ":%s", table); return;
  case ROWS: hd_buf_printf(out, ":%" PRIu64, parameter(r, grid[1])); return;
  case GROUP: hd_buf_printf(out, ":%" PRIu64, parameter(r, few)); return;
  case CELLS:
  case GROUPS:
  case LINES:
    hd_buf_printf(out, ":%" PRIu64, parameter(r, ORDERS[i].shape == CELLS ? grid[0] : few));
    hd_buf_printf(out, "x%" PRIu64, parameter(r, ORDERS[i].shape == CELLS ? grid[1] : few));
    if (ORDERS[i].shape == LINES) hd_buf_printf(out, "x%" PRIu64, parameter(r, few));
  }
}

/* A grid of cells: the launch's tasks in rows of some length, at times with the kernel's own order. Or as an
 * analysis finds it. */
static void put_shape(dice *r, const uint32_t grid[3], hd_buf *out) {
  if (chance(r, 25)) {
    hd_buf_puts(out, ",shape=auto");
    return;
  }
  uint64_t V = (uint64_t)grid[0] * grid[1] * grid[2], w = 1 + below(r, V < FEW_TASKS ? V : FEW_TASKS);
  uint32_t cells[3] = {(uint32_t)w, (uint32_t)(chance(r, 50) ? (V + w - 1) / w : 1 + below(r, V)), 1};
  hd_buf_printf(out, ",shape=%" PRIu32 "x%" PRIu32, cells[0], cells[1]);
  if (chance(r, 25)) hd_buf_printf(out, "x%" PRIu64, 1 + below(r, 4));
  if (chance(r, 50)) return;
  hd_buf_puts(out, ":");
  put_order(r, cells, NULL, N_PLAIN_ORDERS, out);
}

static void put_split(dice *r, hd_buf *out) {
  switch (below(r, 4)) {
  case 0: hd_buf_puts(out, ",split=rows"); return;
  case 1: hd_buf_puts(out, ",split=cols"); return;
  default: hd_buf_printf(out, ",split=wave:%" PRIu64, 1 + below(r, 9));
  }
}

/* One to three ranges of SMs, some beyond the machine's. */
static void put_sms(dice *r, uint32_t n_sms, hd_buf *out) {
  uint64_t at = below(r, n_sms), ranges = 1 + below(r, 3);
  hd_buf_puts(out, ",sms=");
  for (uint64_t k = 0; k < ranges; k++) {
    uint64_t last = at + below(r, 1 + n_sms / 2);
    hd_buf_printf(out, "%s%" PRIu64, k ? "+" : "", at);
    if (last > at) hd_buf_printf(out, "-%" PRIu64, last);
    at = last + 2 + below(r, 4);
  }
}

static void put_take(dice *r, hd_buf *out) {
  if (chance(r, 30)) {
    hd_buf_puts(out, ",take=strides");
    return;
  }
  hd_buf_puts(out, ",take=segments");
  if (chance(r, 60)) hd_buf_printf(out, ":%" PRIu64, 1 + below(r, 9));
}

static void put_binding(dice *r, uint32_t n_sms, bool can_cancel, hd_buf *out) {
  if (can_cancel && chance(r, 30)) {
    hd_buf_puts(out, ",bind=cancel");
    return;
  }
  uint64_t roll = below(r, 100);
  if (roll < 25) return;
  hd_buf_puts(out, roll < 40 ? ",bind=redirect" : roll < 65 ? ",bind=claim" : ",bind=agents");
  if (roll >= 65 && chance(r, 50)) hd_buf_printf(out, ":%" PRIu64, 1 + below(r, 6));
  if (chance(r, 45)) put_split(r, out);
  if (roll >= 65 && chance(r, 35)) put_sms(r, n_sms, out);
  if (roll >= 65 && chance(r, 50)) put_take(r, out);
}

/* Levers that change a task's own work. */
static void put_accesses(dice *r, hd_buf *out) {
  static const char *const caches[] = {"l1", "l1", "ro", "l2"};
  if (chance(r, 22)) {
    hd_buf_printf(out, ",bypass=%s:%" PRIu64, caches[below(r, 4)], below(r, 5));
    uint64_t form = below(r, 3);
    if (form) hd_buf_puts(out, form == 1 ? ",form=replicate" : ",form=predicate");
  }
  if (chance(r, 4)) hd_buf_puts(out, ",bypass=auto");
  if (chance(r, 4)) hd_buf_puts(out, ",stream=auto");
  if (chance(r, 8)) hd_buf_puts(out, ",stream=l1");
  if (chance(r, 9)) {
    uint64_t load = below(r, 3);
    hd_buf_printf(out, ",stream=%" PRIu64, load);
    for (uint64_t k = below(r, 3); k; k--) hd_buf_printf(out, "+%" PRIu64, load += 1 + below(r, 3));
  }
  if (chance(r, 22)) {
    hd_buf_printf(out, ",prefetch=%s:", chance(r, 50) ? "l1" : "l2");
    hd_buf_printf(out, "%" PRIu64, 1 + below(r, 5));
  }
}

static void put_plan(dice *r, const uint32_t grid[3], const char *table, const hd_shape *tiles,
                     bool can_cancel, uint32_t n_sms, hd_buf *out) {
  hd_buf_puts(out, "order=");
  put_order(r, grid, table, table ? N_ORDERS : N_ORDERS - 1, out);
  if (tiles && chance(r, 40)) { /* no binding goes with them */
    hd_buf_puts(out, ",shape=");
    hd_shape_print(tiles, out);
  } else {
    if (chance(r, 25)) put_shape(r, grid, out);
    put_binding(r, n_sms, can_cancel, out);
  }
  if (chance(r, 16)) {
    hd_buf_puts(out, chance(r, 35) ? ",threads=cta:" : ",threads=");
    put_order(r, grid, NULL, N_PLAIN_ORDERS, out);
  }
  put_accesses(r, out);
}

/* ---- All of it ------------------------------------------------------------------------------ */

enum { MOST_SMS = 24, MOST_RESIDENT = 8, ATTEMPTS = 1000 };

/* A vote goes with few other levers, so that some plans with many agents get one in their place. It takes no
 * roll, and leaves the others as they are. */
static void put_vote(hd_plan *p) {
  hd_plan votes = *p;
  votes.agents = 0;
  votes.agents_voted = true;
  if (p->agents >= 5 && hd_plan_check(&votes, NULL) == HD_OK) *p = votes;
}

hd_status hd_compose(const uint32_t grid[3], const char *table, const hd_shape *tiles, bool can_cancel,
                     uint64_t seed, hd_composition *out, hd_diag *d) {
  dice r = {.seed = seed};
  hd_buf text = {0};
  *out = (hd_composition){.any_grid = chance(&r, 25), .n_sms = 1 + (uint32_t)below(&r, MOST_SMS)};
  out->dispatch.kind = (hd_dispatch_kind)below(&r, HD_DISPATCH_COUNT);
  out->dispatch.seed = below(&r, 1000000);
  out->dispatch.resident = 1 + (uint32_t)below(&r, MOST_RESIDENT);
  hd_status st = HD_ERR_INPUT;
  for (int k = 0; st != HD_OK && st != HD_ERR_NOMEM && k < ATTEMPTS; k++) {
    text.len = 0;
    put_plan(&r, grid, table, tiles, can_cancel, out->n_sms, &text);
    st = text.failed ? hd_nomem(d) : hd_plan_parse(text.data, &out->plan, d);
  }
  hd_buf_free(&text);
  if (st == HD_OK) put_vote(&out->plan);
  /* A table is for one grid only, so with a table the grid is known in most cases. */
  if (st == HD_OK && hd_order_needs_table(out->plan.order.kind) && chance(&r, 75)) out->any_grid = false;
  out->no_hoisting = chance(&r, 50) && out->plan.bind == HD_BIND_AGENTS;
  return st;
}
