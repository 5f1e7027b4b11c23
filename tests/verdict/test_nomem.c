/* Memory that runs out in verdict/: a launch path that finds the verdict of its launch. */
#include "nomem.h"

#include <stdio.h>

#include "heddle/verdict.h"

static const char text[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                           ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<4>;\n"
                           "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
                           "add.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r1;\nret;\n}\n";
static const uint32_t grid[3] = {8, 4, 1}, block[3] = {32, 1, 1};

/* The original is launched where the rewritten kernel cannot be made, and `why` says so. */
static hd_status apply(void *ctx, hd_diag *d) {
  hd_applier *a;
  hd_applier_module *m;
  hd_status st = hd_applier_open(ctx, "GPU", "1", 16, &a, d);
  if (st != HD_OK) return st;
  st = hd_applier_add(a, text, sizeof text - 1, "k.ptx", &m, d);
  for (int again = 0; st == HD_OK && again < 2; again++) {
    const hd_applied *r = hd_apply(a, m, "k", grid, block, 0);
    if (!r) st = hd_nomem(d);
    if (r && !r->changed) assert_string_not_equal(r->why, "");
    if (r && r->changed) assert_true(r->ptx_len > 0 && r->recipe.agents);
  }
  hd_applier_close(a);
  return st;
}

static void keep(hd_store *s) {
  hd_diag d = {0};
  hd_verdict v = {.speedup = 2, .low = 1.9, .high = 2.1, .confidence = 0.99, .when = 1000};
  hd_verdict_kernel(text, sizeof text - 1, "k", v.key.kernel);
  hd_verdict_launch(grid, block, 0, NULL, 0, v.key.launch);
  strcpy(v.key.gpu, "GPU");
  strcpy(v.key.driver, "1");
  strcpy(v.name, "k");
  strcpy(v.plan, "order=col,bind=agents:2");
  if (hd_store_put(s, &v, &d) != HD_OK) fail_msg("%s", d.message);
}

static void every_allocation_that_fails_is_said(void **state) {
  char folder[] = "/tmp/heddle-nomem-XXXXXX", path[64], command[64];
  hd_store *s;
  hd_diag d = {0};
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/store", folder);
  if (hd_store_open(path, &s, &d) != HD_OK) fail_msg("%s", d.message);
  keep(s);
  nomem_expect(&(nomem_entry){"apply", apply, s, true});
  hd_store_close(s);
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
