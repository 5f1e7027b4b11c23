/* The GPUs that have what a plan's kernels use. */
#include "heddle/plan.h"

static bool reads_only(const hd_plan *p) { return p->bypass.kind == HD_BYPASS_READONLY; }
static bool cancels(const hd_plan *p) { return p->bind == HD_BIND_CANCEL; }

/* PTX ISA, target notes. Loads around L1 or L2, prefetches and claims have a form on every GPU since sm_20:
 * the rewriter's for the target. */
static const struct {
  bool (*uses)(const hd_plan *p);
  unsigned arch;
  const char *what;
} NEEDS[] = {
    {reads_only, HD_READONLY_ARCH, "bypass=ro: ld.global.nc"},
    {cancels, HD_CANCEL_ARCH, "bind=cancel: clusterlaunchcontrol"},
};

unsigned hd_plan_arch(const hd_plan *p, const char **what) {
  unsigned least = 0;
  if (what) *what = "";
  for (size_t i = 0; i < sizeof NEEDS / sizeof *NEEDS; i++) {
    if (!NEEDS[i].uses(p) || NEEDS[i].arch <= least) continue;
    least = NEEDS[i].arch;
    if (what) *what = NEEDS[i].what;
  }
  return least;
}

hd_status hd_plan_check_arch(const hd_plan *p, const char *gpu, unsigned arch, hd_diag *d) {
  const char *what;
  const unsigned least = hd_plan_arch(p, &what);
  if (!arch || arch >= least) return HD_OK;
  return hd_fail(d, HD_ERR_UNSUPPORTED, "%s needs sm_%u, and %s is sm_%u", what, least, gpu, arch);
}
