/* Plans of a search become machine code on other processors, while the GPU tries those before them: rewritten
 * here, and compiled by ptxas where it is of the driver's release. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "heddle/assembler.h"
#include "heddle/pool.h"
#include "heddle/process.h"
#include "run/watch.h"

enum { PATH_BYTES = 4096 };

struct run_ahead {
  run_ahead_job job;
  char scratch[PATH_BYTES];
  hd_pool *pool;
  atomic_uint asked;
};

typedef struct item {
  hd_plan plan;
  unsigned number;
  run_variant *variant; /* NULL: it is refused */
} item;

/* Of the process, found at first need; `works`: there is one. The driver may refuse what it makes of some
 * text, which says nothing of others; so many in a row say that it takes none. */
enum { REFUSALS = 3 };
static hd_assembler assembler;
static bool known, works;
static unsigned refused; /* in a row */

/* Under run_lock. */
static bool find_assembler(unsigned arch) {
  int version = 0;
  if (!known) {
    known = assembler.unseen = true;
    works = run_real.cuDriverGetVersion && run_real.cuDriverGetVersion(&version) == CU_SUCCESS &&
            version > 0 && hd_assembler_find(NULL, (unsigned)version, &assembler);
  }
  assembler.arch = arch;
  return works && refused < REFUSALS;
}

/* ---- Work -------------------------------------------------------------------------------------- */

static bool is_for(const void *one, const void *plan) {
  return hd_plan_equal(&((const item *)one)->plan, plan);
}

static void drop(void *ctx, void *one) {
  item *i = one;
  (void)ctx;
  if (i->variant) run_variant_drop(i->variant);
  free(i);
}

/* With the addresses of variables, a text is for one context. */
static void assemble(const run_ahead *a, const item *i) {
  const hd_assembler_options o = {0};
  char folder[PATH_BYTES];
  run_variant *v = i->variant;
  const int n = snprintf(folder, sizeof folder, "%s/%u", a->scratch, i->number);
  if (v->variables.all.n || n < 0 || (size_t)n >= sizeof folder || mkdir(folder, 0700) != 0) return;
  if (hd_assemble(&assembler, v->text, strlen(v->text), &o, folder, &v->code, NULL) != HD_OK)
    hd_buf_free(&v->code);
  hd_scratch_remove(folder);
}

static void work(void *ctx, void *one) {
  const run_ahead *a = ctx;
  const run_ahead_job *j = &a->job;
  item *i = one;
  const double begin = hd_seconds();
  if (run_variant_make(j->gpu, &j->kernel->module->own, j->kernel, &i->plan, j->verdict, false, &i->variant,
                       NULL) != HD_OK) {
    i->variant = NULL;
    return;
  }
  i->variant->ready = i->variant->making = hd_seconds() - begin;
  assemble(a, i);
}

/* ---- Of a search ------------------------------------------------------------------------------- */

run_ahead *run_ahead_open(const run_ahead_job *job) {
  run_ahead *a = find_assembler(job->gpu->arch) ? calloc(1, sizeof *a) : NULL;
  if (!a) return NULL;
  const hd_pool_options o = {.work = work, .drop = drop, .ctx = a};
  a->job = *job;
  if (hd_scratch_make(a->scratch, sizeof a->scratch, NULL) == HD_OK &&
      hd_pool_open(&o, &a->pool, NULL) == HD_OK)
    return a;
  hd_scratch_remove(a->scratch);
  free(a);
  return NULL;
}

void run_ahead_ask(run_ahead *a, const hd_plan *const *plans, size_t n) {
  for (size_t k = 0; k < n; k++) {
    if (hd_pool_find(a->pool, is_for, plans[k])) continue;
    item *i = calloc(1, sizeof *i);
    if (!i) return;
    i->plan = *plans[k];
    i->number = atomic_fetch_add(&a->asked, 1);
    if (!hd_pool_put(a->pool, i)) {
      free(i);
      return;
    }
  }
}

bool run_ahead_take(run_ahead *a, const hd_plan *plan, run_variant **out) {
  item *i = a ? hd_pool_find(a->pool, is_for, plan) : NULL;
  if (!i) return false;
  hd_pool_wait(a->pool, i);
  *out = i->variant;
  free(i);
  return true;
}

void run_ahead_loaded(bool taken) { refused = taken ? 0 : refused + 1; }

void run_ahead_close(run_ahead *a) {
  if (!a) return;
  hd_pool_close(a->pool);
  hd_scratch_remove(a->scratch);
  free(a);
}
