/* Checks the values of levers and their combinations; which of them change tasks. */
#include "plan/notation.h"

static hd_status check_order(const char *lever, const hd_order *o, hd_diag *d) {
  if ((unsigned)o->kind >= HD_ORDER_COUNT)
    return hd_fail(d, HD_ERR_USAGE, "%s: unknown kind of order (%d)", lever, (int)o->kind);
  bool two = o->kind == HD_ORDER_TILE || o->kind == HD_ORDER_ZIGZAG || o->kind == HD_ORDER_STRIDE;
  if (((two || o->kind == HD_ORDER_BAND) && o->a == 0) || (two && o->b == 0))
    return hd_fail(d, HD_ERR_USAGE, "%s: a parameter is 0, but must be at least 1", lever);
  return HD_OK;
}

static hd_status check_shape(const hd_shape *s, hd_diag *d) {
  if ((unsigned)s->kind >= HD_SHAPE_COUNT)
    return hd_fail(d, HD_ERR_USAGE, "shape: there is no value %u", (unsigned)s->kind);
  if (s->kind != HD_SHAPE_GIVEN) return HD_OK;
  if (!s->n[0] || !s->n[1]) return hd_fail(d, HD_ERR_USAGE, "shape: an extent is 0, but must be at least 1");
  if ((unsigned)s->own.kind < HD_ORDER_COUNT && hd_order_needs_table(s->own.kind))
    return hd_fail(d, HD_ERR_USAGE, "shape: the kernel's own order cannot be a table");
  return check_order("shape", &s->own, d);
}

hd_status plan_check_shapes(const hd_plan *p, hd_diag *d) {
  hd_status st = check_order("order", &p->order, d);
  if (st == HD_OK) st = check_order("threads", &p->threads, d);
  if (st == HD_OK) st = check_shape(&p->shape, d);
  if (st != HD_OK) return st;
  if ((unsigned)p->stream.kind >= HD_STREAM_COUNT)
    return hd_fail(d, HD_ERR_USAGE, "stream: there is no value %u", (unsigned)p->stream.kind);
  return HD_OK;
}

/* A combination of levers that is not allowed, and why. */
typedef struct rule {
  bool (*broken)(const hd_plan *);
  const char *why;
} rule;

static bool split_alone(const hd_plan *p) {
  return p->split.kind != HD_SPLIT_CHUNK && !hd_bind_has_clusters(p->bind);
}
static bool rows_of_other(const hd_plan *p) {
  return p->split.kind == HD_SPLIT_ROWS && p->order.kind != HD_ORDER_ROW;
}
static bool cols_of_other(const hd_plan *p) {
  return p->split.kind == HD_SPLIT_COLS && p->order.kind != HD_ORDER_COL;
}
static bool shape_unseen(const hd_plan *p) {
  bool lines = p->split.kind == HD_SPLIT_ROWS || p->split.kind == HD_SPLIT_COLS;
  bool row =
      p->shape.kind == HD_SHAPE_GIVEN && p->order.kind == HD_ORDER_ROW && p->shape.own.kind == HD_ORDER_ROW;
  return p->shape.kind != HD_SHAPE_LAUNCH && ((row && !lines) || hd_order_needs_table(p->order.kind));
}
static bool loop_bound(const hd_plan *p) {
  return p->shape.loop &&
         (p->bind != HD_BIND_NONE || p->threads.kind != HD_ORDER_ROW || p->prefetch.kind != HD_PREFETCH_NONE);
}
static bool unknown_next(const hd_plan *p) {
  return p->bind == HD_BIND_CANCEL && p->prefetch.kind != HD_PREFETCH_NONE;
}
static bool sms_unbound(const hd_plan *p) { return hd_numbers_count(&p->sms) && p->bind != HD_BIND_AGENTS; }
static bool form_alone(const hd_plan *p) {
  return p->form != HD_FORM_AUTO && p->bypass.kind == HD_BYPASS_NONE;
}
static bool agents_unbound(const hd_plan *p) { return p->agents && p->bind != HD_BIND_AGENTS; }
static bool votes_unbound(const hd_plan *p) {
  return p->agents_voted && (p->agents || p->bind != HD_BIND_AGENTS);
}
static bool votes_in_company(const hd_plan *p) {
  return p->agents_voted &&
         (hd_plan_changes_tasks(p) || p->take.kind != HD_TAKE_TASKS || hd_numbers_count(&p->sms));
}
static bool take_unbound(const hd_plan *p) {
  return p->take.kind != HD_TAKE_TASKS && p->bind != HD_BIND_AGENTS;
}
static bool strides_on_some(const hd_plan *p) {
  return p->take.kind == HD_TAKE_STRIDES && hd_numbers_count(&p->sms);
}
static bool thread_table(const hd_plan *p) { return hd_order_needs_table(p->threads.kind); }

static const rule RULES[] = {
    {split_alone, "split cuts an order into clusters; it needs bind=redirect, bind=claim or bind=agents"},
    {rows_of_other, "split=rows cuts row order; it needs order=row, the default"},
    {cols_of_other, "split=cols cuts column order; it needs order=col"},
    {shape_unseen,
     "shape is the grid that an order goes through; it needs an order, and one that is no table"},
    {loop_bound,
     "shape=loop orders the tiles of a kernel's own loop; it goes with no bind, threads or prefetch"},
    {unknown_next,
     "with bind=cancel the hardware says which task comes next; prefetch needs to know it before"},
    {sms_unbound,
     "sms makes workers on other SMs leave; for every task to run all the same it needs bind=agents"},
    {form_alone, "form says how bypass is coded; it needs bypass"},
    {agents_unbound, "a number of agents needs bind=agents"},
    {votes_unbound, "a vote on the number of agents needs bind=agents, without a number"},
    {votes_in_company,
     "bind=agents:auto takes its vote with order, shape and split alone; other levers come after it"},
    {take_unbound, "take says how many tasks an agent takes at once; it needs bind=agents"},
    {strides_on_some, "take=strides needs every worker of the launch, and sms makes some of them leave"},
    {thread_table,
     "threads takes an order of thread ids; heavy-first, affinity and tables are orders of tasks"},
};

hd_status plan_check_rules(const hd_plan *p, hd_diag *d) {
  for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++)
    if (RULES[i].broken(p)) return hd_fail(d, HD_ERR_USAGE, "%s", RULES[i].why);
  return HD_OK;
}

bool hd_plan_changes_tasks(const hd_plan *p) {
  bool steps = false;
#define HD_LEVER_STEP(name, ...) steps |= p->name.kind != 0;
#include "heddle/levers.def"
  return steps || p->threads.kind != HD_ORDER_ROW || p->bypass.kind != HD_BYPASS_NONE ||
         p->stream.kind != HD_STREAM_NONE;
}
