/* Orders that need a trace, where a trace can be afforded and the order may pay. */
#include <stdlib.h>

#include "predict/study.h"
#include "tune/device_bench.h"
#include "tune/tuning.h"

/* Of the budget, that a trace for a table may take: longer ones end with it. */
static const double table_budgets = 2.5;
/* Bytes that DRAM moves over those of the buffers: where there are fewer, an order of tasks has little to
 * save. On an H100 the four that affinity made faster (md, irreg, cfd, spmm-community) move 2 to 9 times as
 * many; decode-shared-prefix and btree, for which tables were made in vain, 1.2 and 0.3 times. */
static const double worth_an_order = 1.3;
/* Of DRAM's peak: a kernel that waits for something else gains nothing by less traffic. On an H100 those that
 * affinity made faster take 50 to 80% of it, bfs half a percent. */
static const double busy_dram = 0.05;
/* Of the workload's time: a kernel that takes less is not worth a trace of all. */
static const double table_share = 0.2;
/* A run that takes so little longer than DRAM's peak allows for its bytes is left alone: peaks are not
 * reached. */
static const double at_roofline = 1.12;

/* The emulator's speed, and the bytes that a trace takes for an access: they tell whether a trace of the
 * whole launch can be afforded. */
static const double instructions_per_second = 150e6, bytes_per_access = 40, most_trace_bytes = 6e9;

double tuning_table_seconds(const tuning *t) {
  return t->o.table_seconds ? t->o.table_seconds : table_budgets * tuning_budget(t);
}

/* Loops that grow with the size make it worse than a small size says, so a trace is bounded, too. */
static bool can_afford_trace(const tuning *t, double allowed) {
  double threads = 0;
  for (uint32_t i = 0; i < t->w->n_launches; i++) threads += (double)tuner_threads(&t->w->launches[i]);
  double seconds = threads * t->work / instructions_per_second / hd_cpu_count();
  return t->work > 0 && seconds <= allowed &&
         threads / 32 * t->accesses * bytes_per_access <= most_trace_bytes;
}

/* Where each byte moves only once, although tasks share it, no order of tasks saves traffic. Buffers of which
 * only a part is used, and devices that count nothing, leave it open. */
static bool moves_each_byte_once(const tuning *t) {
  const hd_counters *c = &t->out->before;
  double bytes = (double)t->out->buffer_bytes, dram = (double)hd_counters_dram(c);
  return t->out->has_counters && dram > 0.9 * bytes && dram < 1.15 * bytes &&
         32 * (double)c->l2_read_sectors < 1.5 * bytes;
}

/* Bytes a second; 0: unknown. */
static double peak_bandwidth(const tuning *t) {
  const hd_device_info *i = hd_device_get_info(t->dev);
  return 2 * i->memory_clock_mhz * 1e6 * i->memory_bus_bits / 8;
}

bool tuning_is_at_roofline(const tuning *t) {
  double bandwidth = peak_bandwidth(t);
  return t->out->n_kernels == 1 && bandwidth > 0 && moves_each_byte_once(t) &&
         t->out->before_us < at_roofline * 1e6 * (double)t->out->buffer_bytes / bandwidth;
}

/* Long tasks that start last cost at most their time beyond the mean, once in all waves. */
static bool tail_matters(const tuning *t, const hd_plan_space *s) {
  double waves = (double)s->tasks / ((double)s->n_sms * (s->resident ? s->resident : 1));
  return t->uneven > 1.5 && waves > 1 && (t->uneven - 1) / waves > 0.03;
}

/* The device has the buffers' first contents. */
static hd_status open_study(tuning *t, device_bench *b) {
  void **bytes = NULL;
  hd_status st = placement_restore(&b->p, NULL);
  if (st == HD_OK) st = placement_poison(&b->p, NULL);
  if (st == HD_OK) st = placement_read(&b->p, &bytes, NULL);
  if (st != HD_OK) return st;
  const retrace_contents first = {bytes, b->p.filled};
  st = study_open(t->w, &t->o.run, NULL, &first, &t->whole_study, NULL);
  launch_bytes_free(t->w, bytes);
  return st;
}

/* Tables made from the trace are kept in the cache, where every use finds them; without a cache each use
 * would take the trace again. */
static bool has_study(tuning *t, device_bench *b, double allowed) {
  char folder[4096];
  hd_cache_folder(folder, sizeof folder);
  if (!folder[0] || t->study_failed) return false;
  if (!t->whole_study && can_afford_trace(t, allowed)) {
    tuning_report(t, "tables of orders");
    t->o.run.budget.trace_seconds = tuning_table_seconds(t);
    t->study_failed = open_study(t, b) != HD_OK;
  }
  return t->whole_study != NULL;
}

/* Makes the table of an order that needs a trace. */
static bool make_table(tuning *t, device_bench *b, uint32_t launch, hd_order_kind kind) {
  double start = hd_seconds();
  hd_table table = {0};
  bool made = has_study(t, b, tuning_table_seconds(t)) &&
              hd_order_table(t->w, launch, &t->o.run, kind, t->whole_study, &table, NULL) == HD_OK;
  hd_table_free(&table);
  t->out->spent.tables += hd_seconds() - start;
  return made;
}

/* Finds the loads that request data that is not requested again. A trace is not worthwhile for these alone,
 * unless it is short; one taken for another reason is used. */
static bool learn_loads(tuning *t, device_bench *b, uint32_t launch) {
  static const double short_trace = 0.1; /* of what tables may take, as estimated */
  double start = hd_seconds();
  hd_load_facts *loads = NULL;
  uint32_t n = 0;
  bool learnt = has_study(t, b, short_trace * tuning_table_seconds(t)) &&
                hd_study_loads(t->w, launch, &t->o.run, t->whole_study, &loads, &n, NULL) == HD_OK;
  free(loads);
  t->out->spent.tables += hd_seconds() - start;
  return learnt;
}

/* Tasks that share data and run at the same time find it in L2: that saves the traffic of DRAM beyond one
 * transfer of each byte. */
static bool order_may_save(const tuning *t) {
  const hd_counters *c = &t->out->before;
  double dram = (double)hd_counters_dram(c), peak = peak_bandwidth(t);
  if (!t->out->has_counters || dram <= 0) return true;
  return tuning_moved_over_held(t) > worth_an_order && dram > busy_dram * peak * t->out->before_us * 1e-6;
}

void tuning_make_tables(tuning *t, device_bench *b, uint32_t launch, double share, hd_plan_space *s) {
  if (!s->can_order || s->clusters)
    return; /* a trace of clusters takes long, and tables of them are refused */
  bool worth = share >= table_share;
  bool shares = worth && t->wants_affinity && order_may_save(t);
  s->has_affinity = shares && make_table(t, b, launch, HD_ORDER_AFFINITY);
  s->apart = shares && !s->has_affinity;
  s->has_heavy_first = worth && tail_matters(t, s) && make_table(t, b, launch, HD_ORDER_HEAVY_FIRST);
  s->has_streams = worth && t->wants_streams && !moves_each_byte_once(t) && learn_loads(t, b, launch);
}
