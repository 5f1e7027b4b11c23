/* The best plan of each lever alone. */
#include "tune/tuning.h"

const char *const tuning_lever_names[HD_TUNE_LEVERS] = {"order",  "bind",   "threads",
                                                        "bypass", "stream", "prefetch"};

/* The only lever that a plan uses; -1: several. A binding comes with the order that it needs. */
static int only_lever(const hd_plan *p) {
  bool orders = p->order.kind != HD_ORDER_ROW || p->shape.kind != HD_SHAPE_LAUNCH;
  bool uses[HD_TUNE_LEVERS] = {orders && p->bind == HD_BIND_NONE, p->bind != HD_BIND_NONE,
                               p->threads.kind != HD_ORDER_ROW,   p->bypass.kind != HD_BYPASS_NONE,
                               p->stream.kind != HD_STREAM_NONE,  p->prefetch.kind != HD_PREFETCH_NONE};
  int only = -1;
  for (int i = 0; i < HD_TUNE_LEVERS; i++) {
    if (!uses[i]) continue;
    if (only >= 0) return -1;
    only = i;
  }
  return only;
}

static const hd_tune_trial *best_of(const hd_tuned *k, int lever) {
  const hd_tune_trial *best = NULL;
  for (uint32_t j = 0; j < k->n_trials; j++) {
    const hd_tune_trial *r = &k->trials[j];
    if (r->status == HD_OK && r->pairs && only_lever(&r->plan) == lever &&
        (!best || r->speedup > best->speedup))
      best = r;
  }
  return best;
}

void tuning_best_alone(const hd_tuning *t, int lever, hd_plan_set *out, double *score) {
  double before = 0, after = 0;
  bool any = false;
  for (uint32_t i = 0; i < t->n_kernels; i++) {
    const hd_tuned *k = &t->kernels[i];
    const hd_tune_trial *best = best_of(k, lever);
    if (best) tuning_put(out, k, &best->plan);
    any |= best != NULL;
    before += k->before_us;
    after += k->before_us / (best ? best->speedup : 1);
  }
  *score = any && after > 0 ? before / after : 0;
}
