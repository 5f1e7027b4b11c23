/* MAP's groups of warps of high priority, on modelled GPUs that have its scheduler. */
#include <stdlib.h>

#include "predict/study.h"

/* The tasks that an SM in the middle of the GPU runs at first, at most n: queues hold a run of the order
 * each, and otherwise the dispatcher deals it out. */
static uint32_t first_tasks(const hd_gpu *g, const hd_plan *p, const hd_table *order, uint64_t V, uint32_t n,
                            uint64_t *tasks) {
  bool queues = hd_bind_claims(p->bind);
  uint64_t at = queues ? hd_cluster_start(V, g->n_sms, g->n_sms / 2) : g->n_sms / 2,
           step = queues ? 1 : g->n_sms;
  uint32_t k = 0;
  for (; k < n && at < V; k++, at += step) tasks[k] = order ? order->task[at] : at;
  return k;
}

static hd_status find_group(const hd_study *s, uint32_t launch, const hd_trace *t, const hd_gpu *g,
                            const hd_plan *p, const hd_table *order, uint32_t *group, hd_diag *d) {
  const hd_wl_launch *l = &s->w->launches[launch];
  uint32_t threads = l->block[0] * l->block[1] * l->block[2];
  uint32_t resident = hd_gpu_occupancy(g, threads, hd_workload_registers(s->w, g->arch), s->shared[launch]);
  uint64_t tasks[64];
  if (resident > sizeof tasks / sizeof *tasks) resident = sizeof tasks / sizeof *tasks;
  uint32_t n = first_tasks(g, p, order, hd_trace_tasks(t), resident, tasks);
  return hd_reuse_warp_group(t, tasks, n, g->l1.bytes / g->l1.line, group, d);
}

hd_status replay_priority(const hd_study *s, uint32_t launch, const hd_trace *t, const hd_gpu *g,
                          const hd_plan *p, const hd_table *order, uint32_t *warps, hd_diag *d) {
  *warps = 0;
  if (g->scheduler != HD_SCHED_PRIORITY || g->scheduler_warps) return HD_OK;
  return find_group(s, launch, t, g, p, order, warps, d);
}
