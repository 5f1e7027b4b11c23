/* Memory that runs out in run/: a launch is repeated, rewritten or trusted only on what is known whole. */
#include "nomem.h"

#include "own_driver.h"

static const char ptx[] =
    ".version 7.8\n.target sm_70\n.address_size 64\n.global .align 4 .u32 count;\n"
    ".visible .entry copy(.param .u64 in, .param .u64 out) {\n"
    ".reg .b32 %r<8>; .reg .b64 %d<8>;\nld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r2, "
    "%ctaid.x;\n"
    "mul.wide.u32 %d3, %r2, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3; ld.global.u32 %r6, [%d4];\n"
    "ld.global.u32 %r7, [count]; add.u32 %r6, %r6, %r7; st.global.u32 [%d5], %r6; ret; }\n";
static const char waits[] =
    ".version 7.8\n.target sm_70\n.address_size 64\n"
    ".visible .entry copy(.param .u64 in, .param .u64 out) {\n"
    ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p<2>;\nld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];\n"
    "again:\nld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra again;\n"
    "st.global.u32 [%d2], %r1; ret; }\n";
static const run_text text = {.data = (char *)(uintptr_t)ptx, .len = sizeof ptx - 1},
                      waiting = {.data = (char *)(uintptr_t)waits, .len = sizeof waits - 1};

/* What cannot be found out for want of memory is the worst: nothing is unwritten, and the launch may wait. */
static hd_status facts(void *ctx, hd_diag *d) {
  run_facts f;
  const hd_status st = run_facts_of(ctx, "copy", &f, d);
  if (st != HD_OK) return st;
  assert_int_equal(f.n_params, 2);
  assert_int_equal(f.variables.all.n, ctx == &text);
  if (ctx == &waiting) assert_non_null(f.effect);
  if (f.effect) assert_int_equal(f.n_unwritten, 0);
  run_facts_free(&f);
  return st;
}

static hd_status variant(void *ctx, hd_diag *d) {
  const run_gpu gpu = {.arch = 90, .n_sms = 132};
  run_kernel kernel = {.name = (char *)(uintptr_t) "copy"};
  hd_plan plan;
  run_variant *v = NULL;
  hd_status st = hd_plan_parse(ctx, &plan, d);
  if (st == HD_OK) st = run_variant_make(&gpu, &text, &kernel, &plan, NULL, false, &v, d);
  if (!v) return st;
  if (st == HD_OK) assert_non_null(v->text);
  hd_table_free(&v->table);
  run_variables_free(&v->variables);
  free(v->plan);
  free(v->text);
  free(v);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  nomem_expect(&(nomem_entry){"facts", facts, (void *)(uintptr_t)&text, true});
  nomem_expect(&(nomem_entry){"facts of one that waits", facts, (void *)(uintptr_t)&waiting, true});
  nomem_expect(&(nomem_entry){"variant", variant, "order=reverse,bind=agents", true});
}

/* An allocation of the program's that cannot be noted may be any: no other is known to be apart from it. */
static void memory_that_cannot_be_noted_leaves_nothing_known(void **state) {
  enum { AT = 4096 };
  cu_address out;
  const uint64_t reads = AT, writes = 2 * AT;
  own_begin();
  for (own.address = AT; own.address <= 2 * AT; own.address += AT) run_cuMemAlloc_v2(&out, 64);
  assert_true(run_memory_is_apart(&reads, 1, &writes, 1));
  assert_false(run_memory_is_shared());
  atomic_store(&nomem_count, 0);
  nomem_stays = true;
  nomem_fails_at = 1;
  for (; own.address < 64 * AT; own.address += AT) assert_int_equal(run_cuMemAlloc_v2(&out, 64), CU_SUCCESS);
  nomem_fails_at = 0;
  assert_true(atomic_load(&nomem_count) > 0);
  assert_false(run_memory_is_apart(&reads, 1, &writes, 1));
  assert_true(run_memory_is_shared());
  uint64_t at, bytes;
  assert_false(run_memory_find(AT, &at, &bytes));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said),
      BEHAVIOUR("memory that cannot be noted leaves nothing known",
                memory_that_cannot_be_noted_leaves_nothing_known)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
