/* What a GPU's file may lack, and what there is not without it. */
#include "heddle/model.h"

bool hd_gpu_has_clock(const hd_gpu *g) { return g->units.fma > 0; }

hd_status hd_gpu_need_clock(const hd_gpu *g, hd_diag *d) {
  return hd_gpu_has_clock(g)
             ? HD_OK
             : hd_fail(d, HD_ERR_UNSUPPORTED,
                       "GPU '%s': its file has no [units], which a clock needs: simulate and sweep "
                       "count its traffic, and nothing predicts times",
                       g->name);
}

bool hd_gpu_has_launches(const hd_gpu *g) { return g->launch.first_us > 0; }
