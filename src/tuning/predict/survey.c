/* The work of a launch's tasks, from some of them. */
#include "predict/survey.h"

enum {
  CLOSER = 8,       /* so many times SURVEYED tasks are looked at */
  FAR_MORE = 4,     /* where one of the first has so many times the mean's work */
  SECTORS = 8,      /* that cost as much as an access */
  INSTRUCTIONS = 4, /* of a warp, that cost as much as an access */
  COMPARED = 4,     /* tasks of a plan and of the original */
};
static const uint64_t survey_instructions = 40000000;  /* of warps; a survey ends after them */
static const uint64_t compared_instructions = 8000000; /* of warps; so many are compared at most */

double sample_units_of(const hd_trace_info *info) {
  return (double)(info->warp_accesses + info->shared_accesses) + (double)info->sectors / SECTORS +
         (double)info->warp_instructions / INSTRUCTIONS;
}

uint32_t survey_warps(const hd_wl_launch *l) {
  return (l->block[0] * l->block[1] * l->block[2] + HD_WARP - 1) / HD_WARP;
}

bool survey_is_brief(double instructions, uint32_t warps) {
  return instructions < 2 * LEAST_CUT * (double)warps;
}

/* One task of each of so many parts of the grid. Its place there follows the golden ratio: work often repeats
 * with the rows of a grid (causal attention), and tasks at even distances may all be alike. */
static uint64_t surveyed_task(uint64_t part, uint64_t parts, uint64_t tasks) {
  static const uint64_t golden = 0x9E3779B9; /* of 2^32 */
  const uint64_t first = part * tasks / parts, next = (part + 1) * tasks / parts;
  return first + ((next - first) * ((part + 1) * golden & UINT32_MAX) >> 32);
}

static void sum_up(const hd_trace *t, survey *out) {
  const hd_trace_info info = hd_trace_get_info(t);
  if (!info.recorded) return;
  out->instructions = (double)info.warp_instructions / (double)info.recorded;
  out->units = sample_units_of(&info) / (double)info.recorded;
}

hd_status survey_take(recording *r, uint32_t launch, const hd_gpu *g, survey *out, hd_diag *d) {
  const hd_wl_launch *l = &r->r.w->launches[launch];
  const uint32_t threads = l->block[0] * l->block[1] * l->block[2];
  const uint32_t shared = hd_emu_static_shared(r->r.program, l->kernel) + l->dynamic_shared;
  hd_grid_tasks(l->grid, &out->tasks);
  if (g)
    out->wave =
        (uint64_t)g->n_sms * hd_gpu_occupancy(g, threads, hd_workload_registers(r->r.w, g->arch), shared);
  hd_trace_info info = {0};
  hd_status st = HD_OK;
  uint64_t n = out->tasks < SURVEYED ? out->tasks : SURVEYED, tasks[SURVEYED];
  /* 7 and 16 have no common divisor: whichever tasks come first are from all over the grid. */
  for (uint64_t i = 0; i < n; i++)
    tasks[i] = n == SURVEYED ? surveyed_task(7 * i % SURVEYED, SURVEYED, out->tasks) : i;
  /* One after the other where the first one is long. */
  for (uint64_t i = 0, some; st == HD_OK && i < n && info.warp_instructions < survey_instructions;
       i += some) {
    some = i == 1 && SURVEYED * info.warp_instructions < survey_instructions ? n - 1 : 1;
    st = record_tasks(r, launch, tasks + i, some, UINT64_MAX, d);
    info = hd_trace_get_info(r->traces[launch]);
  }
  if (st == HD_OK) sum_up(r->traces[launch], out);
  return st;
}

/* Are most tasks of the survey short, while a few have far more work? The mean of so few is then no mean of
 * all. */
static bool is_varied(const hd_trace *t, const survey *s, uint32_t warps) {
  uint32_t brief = 0;
  double most = 0;
  for (uint64_t i = 0; i < SURVEYED; i++) {
    const double some = (double)hd_trace_task_instructions(t, surveyed_task(i, SURVEYED, s->tasks));
    brief += survey_is_brief(some, warps);
    if (some > most) most = some;
  }
  return 2 * brief > SURVEYED && most > FAR_MORE * s->instructions;
}

hd_status survey_look_closer(recording *r, uint32_t launch, survey *out, hd_diag *d) {
  enum { MANY = CLOSER * SURVEYED };
  const hd_trace *t = r->traces[launch];
  uint64_t tasks[MANY];
  if (out->tasks < MANY || MANY * out->instructions > (double)survey_instructions ||
      !is_varied(t, out, survey_warps(&r->r.w->launches[launch])))
    return HD_OK;
  for (uint64_t i = 0; i < MANY; i++) tasks[i] = surveyed_task(i, MANY, out->tasks);
  const hd_status st = record_tasks(r, launch, tasks, MANY, UINT64_MAX, d);
  if (st != HD_OK) return st;
  sum_up(t, out);
  out->varied = true;
  for (uint64_t i = 0; i < MANY; i++)
    out->at[i / CLOSER] += (double)hd_trace_task_instructions(t, tasks[i]) / CLOSER;
  return HD_OK;
}

/* Instructions of the tasks that are compared. */
static hd_status count(recording *r, uint32_t launch, uint64_t n, uint64_t all, hd_diag *d) {
  uint64_t tasks[COMPARED];
  if (r->counted[launch] > 0) return HD_OK;
  for (uint64_t i = 0; i < n; i++) tasks[i] = surveyed_task(i, n, all);
  return record_count(r, launch, tasks, n, &r->counted[launch], d);
}

hd_status survey_compare(recording *original, recording *changed, uint32_t launch, double instructions,
                         double *out, hd_diag *d) {
  const uint64_t all = hd_trace_tasks(original->traces[launch]);
  const double most = (double)compared_instructions / (instructions > 1 ? instructions : 1);
  uint64_t n = most < COMPARED ? (uint64_t)most : COMPARED;
  if (n > all) n = all;
  *out = 1;
  if (!n || changed->reordered) return HD_OK;
  hd_status st = count(changed, launch, n, all, d);
  pthread_mutex_lock(&original->lock);
  if (st == HD_OK) st = count(original, launch, n, all, d);
  pthread_mutex_unlock(&original->lock);
  if (st == HD_OK && changed->counted[launch] > 0 && original->counted[launch] > 0)
    *out = changed->counted[launch] / original->counted[launch];
  return st;
}
