/* Kernels that run in clusters: orders act on whole clusters, and each CTA keeps its rank. The order's
 * program reads %clusterid in place of %ctaid and gives the cluster whose work this one does. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/limits.h"
#include "rewrite/rewrite_internal.h"

static bool cluster_of(const hd_ptx_module *m, uint32_t func, uint32_t cluster[3]) {
  const hd_ptx_func *f = &m->funcs[func];
  const hd_ptx_dir *dir = hd_ptx_func_dir(m, f, HD_M_REQNCTAPERCLUSTER);
  uint64_t n = 1;
  if (!dir || hd_ptx_func_dir(m, f, HD_M_BLOCKSARECLUSTERS)) return false;
  for (unsigned k = 0; k < 3; k++) {
    cluster[k] = k < dir->n_vals && dir->vals[k] ? (uint32_t)dir->vals[k] : 1;
    if (cluster[k] > HD_MAX_CLUSTER || (n *= cluster[k]) > HD_MAX_CLUSTER) return false;
  }
  return true;
}

bool hd_rewrite_clusters(const hd_ptx_module *m, uint32_t func, uint32_t cluster[3]) {
  if (cluster_of(m, func, cluster)) return true;
  cluster[0] = cluster[1] = cluster[2] = 1;
  return false;
}

hd_status rewrite_check_clusters(const rewrite_job *j, hd_diag *d) {
  const hd_plan *p = j->plan;
  const hd_grid *g = &j->opt->grid;
  if (!j->clusters) return HD_OK;
  if (p->bind == HD_BIND_CANCEL)
    return hd_fail(
        d, HD_ERR_REFUSED,
        "the kernel runs in clusters, whose CTAs would have to end a task together to begin another");
  if (p->bind != HD_BIND_NONE)
    return hd_fail(d, HD_ERR_REFUSED, "the kernel runs in clusters, whose CTAs would be bound separately");
  if (p->threads.kind != HD_ORDER_ROW)
    return hd_fail(d, HD_ERR_REFUSED, "threads: the kernel runs in clusters, whose threads work together");
  if (p->prefetch.kind != HD_PREFETCH_NONE)
    return hd_fail(d, HD_ERR_REFUSED, "prefetch: the kernel runs in clusters, whose next task is not known");
  for (unsigned k = 0; g->known && k < 3; k++)
    if (g->g[k] % j->cluster[k])
      return hd_fail(d, HD_ERR_USAGE, "a grid of %ux%ux%u CTAs has no clusters of %ux%ux%u", g->g[0], g->g[1],
                     g->g[2], j->cluster[0], j->cluster[1], j->cluster[2]);
  return HD_OK;
}

/* The register that replaces %ctaid.k, from the new cluster's coordinate. */
static void put_cta(rewrite_job *j, unsigned k, hd_buf *text) {
  const char axis = "xyz"[k];
  char *name = j->ctaid.names[k];
  if (j->cluster[k] == 1) {
    memcpy(name, j->clusterid.names[k], sizeof j->ctaid.names[k]);
    return;
  }
  rewrite_put(j, text, "\t.reg .b32 %%~g%c;\n\tmov.u32 %%~g%c, %%cluster_ctaid.%c;\n", axis, axis, axis);
  if (j->clusterid.names[k][0] == '%')
    rewrite_put(j, text, "\tmad.lo.u32 %%~g%c, %s, %u, %%~g%c;\n", axis, j->clusterid.names[k], j->cluster[k],
                axis);
  else
    rewrite_put(j, text, "\tadd.u32 %%~g%c, %%~g%c, %" PRIu64 ";\n", axis, axis,
                (uint64_t)strtoull(j->clusterid.names[k], NULL, 10) * j->cluster[k]);
  snprintf(name, sizeof j->ctaid.names[k], "%%%s_g%c", j->prefix, axis);
}

void rewrite_put_ctas(rewrite_job *j, hd_buf *text) {
  for (unsigned k = 0; k < 3; k++)
    if (j->ctaid.want[k]) put_cta(j, k, text);
  rewrite_put_halves(j, &j->clusterid, 'k', text);
}
