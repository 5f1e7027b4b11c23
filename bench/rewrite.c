/* bench/rewrite FILE... [--plan P]: rewrite every kernel of the files for any grid; prints the median and the
 * 99th percentile of the time one kernel takes, parsing not included, and the refusals by reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "heddle/rewrite.h"

enum { MAX_KINDS = 16 };

typedef HD_VEC(double) samples;

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void one_module(const hd_ptx_text *t, const hd_plan *p, samples *times, size_t *refused) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_ptx_module *m;
  hd_diag d;
  if (hd_ptx_parse(t->data, t->len, t->label, &arena, &m, &d) == HD_OK) {
    for (uint32_t i = 0; i < m->n_funcs; i++) {
      if (!m->funcs[i].entry) continue;
      hd_refusal why;
      double start = hd_seconds();
      if (hd_rewrite_refusals(m, i, &why, 1)) {
        refused[why.kind]++;
        continue;
      }
      hd_rewrite_options o = {.grid = {.n_sms = 132}};
      hd_recipe recipe;
      hd_status st = hd_rewrite(m, i, p, &o, &recipe, &d);
      if (st == HD_OK)
        hd_vec_push(times, hd_seconds() - start);
      else if (p->bind == HD_BIND_AGENTS && hd_rewrite_agent_refusals(m, i, o.block, &why, 1))
        refused[why.kind]++;
      if (st != HD_OK) printf("%s: %s: %s\n", t->label, m->syms[m->funcs[i].sym].name, d.message);
    }
  }
  hd_arena_free(&arena);
}

int main(int argc, char **argv) {
  hd_plan p;
  hd_diag d;
  const char *plan = "order=band:8";
  samples times = {0};
  size_t refused[MAX_KINDS] = {0};
  for (int i = 1; i + 1 < argc; i++)
    if (strcmp(argv[i], "--plan") == 0) plan = argv[i + 1];
  if (argc < 2 || hd_plan_parse(plan, &p, &d) != HD_OK) {
    fprintf(stderr, "usage: bench_rewrite FILE... [--plan P]\n");
    return 2;
  }
  for (int i = 1; i < argc; i++) {
    hd_container *c;
    if (strcmp(argv[i], "--plan") == 0) {
      i++;
      continue;
    }
    if (hd_container_open(argv[i], &c, &d) != HD_OK) {
      fprintf(stderr, "%s: %s\n", argv[i], d.message);
      continue;
    }
    hd_ptx_text t;
    for (bool more = true; hd_container_next(c, &t, &more, &d) == HD_OK && more;)
      one_module(&t, &p, &times, refused);
    hd_container_close(c);
  }
  if (times.n) {
    qsort(times.data, times.n, sizeof *times.data, by_value);
    printf("%zu kernels rewritten for %s: median %.1f us, 99%% %.1f us\n", times.n, plan,
           1e6 * times.data[times.n / 2], 1e6 * times.data[times.n * 99 / 100]);
  }
  for (int k = 0; k < MAX_KINDS; k++)
    if (refused[k]) printf("%zu refused: %s\n", refused[k], hd_refusal_name((hd_refusal_kind)k));
  hd_vec_free(&times);
  return 0;
}
