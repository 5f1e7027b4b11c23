/* Every function of every module can be analysed, drawn and printed, within its budget. */
#include "heddle/analysis.h"

#include <stdlib.h>

static bool any(void *ctx, const uint64_t *counters, uint64_t address) { return true; }

static void look_at(hd_analysis *a, const hd_ptx_module *m) {
  enum { LIMIT = 1000 };
  hd_buf out = {0};
  hd_point at = {.grid = {2, 2, 1}, .block = {8, 4, 1}};
  for (uint32_t i = 0; i < a->n_sites; i++) {
    const hd_site *s = &a->sites[i];
    hd_poly_print(a, s->address, &out);
    for (uint32_t k = 0; k < s->n_guards; k++) hd_guard_print(a, a->guards[s->first_guard + k].poly, &out);
    hd_buf_clear(&out);
    hd_site_coalescing(a, i, &at, 0);
    hd_site_visit(a, i, &at, LIMIT, any, NULL);
    hd_poly stride;
    hd_poly_stride(a, s->address, hd_find_symbol(a, HD_V_TID, 0, 0), &stride);
  }
  hd_cfg_dot(&a->cfg, m, &out);
  hd_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hd_arena arena;
  hd_arena_init(&arena);
  arena.limit = 64u << 20;
  hd_ptx_module *m;
  hd_diag d;
  if (hd_ptx_parse((const char *)data, size, "fuzz", &arena, &m, &d) == HD_OK)
    for (uint32_t f = 0; f < m->n_funcs; f++) {
      hd_analyze_options opt = {.work = 100000, .max_insts = 10000};
      hd_analysis *a;
      hd_status st = hd_analyze(m, f, &opt, &a, &d);
      if (st == HD_OK)
        look_at(a, m);
      else if (st != HD_ERR_INPUT && st != HD_ERR_NOMEM)
        abort();
      if (st == HD_OK) hd_analysis_free(a);
    }
  hd_arena_free(&arena);
  return 0;
}
