/* The accesses that the analysis predicts, against those of the emulator: every workload at its tiny size. */
#include "compare.h"

#include "launch/runner.h"

static bool variable_address(void *ctx, uint32_t var, uint64_t *out) {
  runner *r = ctx;
  uint64_t bytes;
  const char *name = r->module->syms[r->module->vars[var].sym].name;
  return hd_emu_symbol(r->program, name, out, &bytes, NULL) == HD_OK;
}

static bool constant_bytes(void *ctx, uint32_t var, uint32_t offset, void *out, uint32_t bytes) {
  runner *r = ctx;
  uint64_t address;
  return variable_address(ctx, var, &address) &&
         hd_emu_read(r->emu, address + offset, out, bytes, NULL) == HD_OK;
}

static void compare_launch(runner *r, uint32_t launch, recorder *rec, tally *t, bool known_block) {
  const hd_wl_launch *l = &r->w->launches[launch];
  int64_t func = hd_ptx_find_kernel(r->module, l->kernel);
  assert_true(func >= 0);
  hd_analyze_options opt = {0};
  if (known_block) memcpy(opt.block, l->block, sizeof opt.block);
  hd_analysis *a;
  hd_diag d;
  assert_int_equal(hd_analyze(r->module, (uint32_t)func, &opt, &a, &d), HD_OK);
  hd_point p = {.args = r->setup.launches[launch].args,
                .args_bytes = r->setup.launches[launch].args_bytes,
                .address = variable_address,
                .constant = constant_bytes,
                .ctx = r};
  memcpy(p.grid, l->grid, sizeof p.grid);
  memcpy(p.block, l->block, sizeof p.block);
  for (uint32_t i = 0; i < a->n_sites; i++) compare_site(a, i, rec, p, t, r->w->name);
  hd_analysis_free(a);
}

/* The first launches of a workload on the emulator, each compared. */
static bool compare_workload(const char *name, tally *t) {
  enum { MAX_LAUNCHES = 2 };
  hd_workload *w;
  hd_diag d;
  if (hd_workload_open(name, SOURCE_DIR "/kernels", "tiny", &w, &d) != HD_OK) return false;
  runner r = {0};
  hd_run_options o = {.machine.threads = 1};
  const hd_compiled *code;
  bool ran = hd_workload_compiled(w, hd_launch_arch(NULL, 0), &code, &d) == HD_OK &&
             runner_open(&r, code, NULL, &o, 0, &d) == HD_OK && runner_fill(&r, &d) == HD_OK;
  recorder recs[MAX_LAUNCHES];
  hd_emu_hooks hooks[MAX_LAUNCHES];
  const hd_emu_hooks **list = calloc(w->n_launches + 1, sizeof *list);
  memset(recs, 0, sizeof recs);
  memset(hooks, 0, sizeof hooks);
  uint32_t n = w->n_launches < MAX_LAUNCHES ? w->n_launches : MAX_LAUNCHES;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t *b = w->launches[i].block;
    recs[i].threads = (uint64_t)b[0] * b[1] * b[2];
    hooks[i] = (hd_emu_hooks){.ctx = &recs[i], .spaces = 1u << HD_SPACE_GLOBAL, .access = record};
    list[i] = &hooks[i];
  }
  hd_dispatch how = {.kind = HD_DISPATCH_SERIAL};
  hd_emu_stats stats;
  if (ran) ran = runner_run(&r, &how, list, &stats, &d) == HD_OK;
  for (uint32_t i = 0; ran && i < n; i++) {
    t->full += recs[i].full;
    if (recs[i].full) continue;
    qsort(recs[i].events.data, recs[i].events.n, sizeof *recs[i].events.data, by_site);
    compare_launch(&r, i, &recs[i], t, false);
    compare_launch(&r, i, &recs[i], t, true);
  }
  for (uint32_t i = 0; i < n; i++) hd_vec_free(&recs[i].events);
  free(list);
  runner_close(&r);
  hd_workload_close(w);
  return ran;
}

/* ---- Tests ------------------------------------------------------------------------------------- */

static void predictions_equal_the_emulators_addresses(void **state) {
  char **names;
  size_t n, ran = 0;
  hd_diag d;
  tally sum = {0};
  assert_int_equal(hd_workload_list(SOURCE_DIR "/kernels", &names, &n, &d), HD_OK);
  for (size_t i = 0; i < n; i++) {
    tally t = {0};
    if (!compare_workload(names[i], &t)) continue;
    ran++;
    if (getenv("HEDDLE_TEST_VERBOSE"))
      print_message("%-24s %4" PRIu64 " sites, %4" PRIu64 " affine, %4" PRIu64 " quasi, %4" PRIu64
                    " listed, %8" PRIu64 " accesses, %" PRIu64 " failures, %" PRIu64
                    " assumptions broken%s\n",
                    names[i], t.sites, t.affine, t.quasi, t.exact, t.compared, t.failures,
                    t.assumptions_broken, t.full ? ", too long to record" : "");
    sum.sites += t.sites;
    sum.affine += t.affine + t.quasi;
    sum.exact += t.exact;
    sum.compared += t.compared;
    sum.failures += t.failures;
    sum.assumptions_broken += t.assumptions_broken;
  }
  hd_workload_list_free(names, n);
  assert_true(ran > 0);
  assert_int_equal(sum.failures, 0);
  assert_int_equal(sum.assumptions_broken, 0);
  assert_true(sum.compared > 100000);
  assert_true(sum.exact > 0);
}

static void affine_kernels_are_covered(void **state) {
  static const char *const affine[] = {"copy-row", "copy-col",     "matmul-naive", "matmul-tiled",
                                       "conv11",   "integral-row", "integral-col"};
  tally t = {0};
  for (size_t i = 0; i < sizeof affine / sizeof *affine; i++) assert_true(compare_workload(affine[i], &t));
  assert_true((t.affine + t.quasi) * 100 >= t.sites * 95);
  assert_int_equal(t.exact, t.sites);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("predicted addresses are those the emulator sees, in order, on every workload",
                predictions_equal_the_emulators_addresses),
      BEHAVIOUR("at least 95% of the accesses of the suite's affine kernels are affine, and all are listed",
                affine_kernels_are_covered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
