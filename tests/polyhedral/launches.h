/* tests/polyhedral/launches.h: a workload's launches, analysed. */
#ifndef HEDDLE_TESTS_POLYHEDRAL_LAUNCHES_H
#define HEDDLE_TESTS_POLYHEDRAL_LAUNCHES_H

#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/polyhedral.h"
#include "heddle/workload.h"

typedef struct launches {
  hd_workload *w;
  hd_arena arena;
  hd_buf text;
  hd_ptx_module *m;
} launches;

/* kernels: the folder in which names are looked up. False: there is no such size, or no compiler. */
static bool launches_open(launches *l, const char *name, const char *size) {
  hd_diag d;
  memset(l, 0, sizeof *l);
  hd_arena_init(&l->arena);
  return hd_workload_open(name, SOURCE_DIR "/kernels", size, &l->w, &d) == HD_OK &&
         hd_workload_ptx(l->w, 80, &l->text, NULL, &d) == HD_OK &&
         hd_ptx_parse(l->text.data, l->text.len, l->w->name, &l->arena, &l->m, &d) == HD_OK;
}

static void launches_close(launches *l) {
  hd_buf_free(&l->text);
  hd_arena_free(&l->arena);
  hd_workload_close(l->w);
}

/* Buffer b begins at (b + 1) << 40. */
static uint64_t buffer_address(uint32_t b) { return (uint64_t)(b + 1) << 40; }

static hd_polyhedral launches_measure(const launches *l, uint32_t launch, const hd_polyhedral_options *o) {
  const hd_wl_launch *wl = &l->w->launches[launch];
  int64_t func = hd_ptx_find_kernel(l->m, wl->kernel);
  assert_true(func >= 0);
  const hd_ptx_func *f = &l->m->funcs[func];
  uint64_t offsets[256];
  assert_true(f->n_params < 256 && f->n_params == wl->n_args);
  hd_point at = {.args_bytes = hd_ptx_param_layout(l->m, f, offsets)};
  char *args = calloc(1, at.args_bytes + 8);
  assert_non_null(args);
  for (uint32_t k = 0; k < wl->n_args; k++) {
    uint64_t value = wl->args[k].is_buffer ? buffer_address(wl->args[k].buffer) : wl->args[k].bits;
    uint64_t size = hd_ptx_var_size(l->m, &l->m->vars[f->first_param + k]);
    memcpy(args + offsets[k], &value, size < 8 ? size : 8);
  }
  at.args = args;
  memcpy(at.grid, wl->grid, sizeof at.grid);
  memcpy(at.block, wl->block, sizeof at.block);
  hd_analysis *a;
  hd_diag d;
  hd_polyhedral p;
  assert_int_equal(hd_analyze(l->m, (uint32_t)func, NULL, &a, &d), HD_OK);
  assert_int_equal(hd_polyhedral_measure(a, &at, o, &p, &d), HD_OK);
  hd_analysis_free(a);
  free(args);
  return p;
}

/* The array that is this buffer, or NULL. */
static const hd_polyhedral_array *array_of_buffer(const hd_polyhedral *p, uint32_t buffer) {
  for (uint32_t i = 0; i < p->n_arrays; i++)
    if (p->arrays[i].base == buffer_address(buffer)) return &p->arrays[i];
  return NULL;
}

#endif
