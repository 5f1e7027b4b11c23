/* Memory that runs out in store/. */
#include "nomem.h"

#include <stdio.h>
#include <unistd.h>

#include "heddle/store.h"

static bool look(void *ctx, const hd_verdict *v) { return true; }

static hd_status verdicts(hd_store *s, hd_diag *d) {
  hd_verdict v = {.speedup = 2, .low = 1, .high = 3, .confidence = 0.99, .when = 1000}, got;
  bool found;
  uint32_t task[64], *back = NULL;
  uint64_t n, imported;
  hd_buf out = {0};
  for (uint32_t i = 0; i < 64; i++) task[i] = i ^ 5;
  hd_verdict_kernel("text", 4, "kernel", v.key.kernel);
  hd_verdict_launch((const uint32_t[]){64, 1, 1}, (const uint32_t[]){32, 1, 1}, 0, NULL, 0, v.key.launch);
  strcpy(v.key.gpu, "GPU");
  hd_verdict_table(task, 64, v.plan + sprintf(v.plan, "order=table:#"));
  hd_status st = hd_store_put_table(s, &v, task, 64, d);
  if (st == HD_OK) st = hd_store_put(s, &v, d);
  if (st == HD_OK) st = hd_store_get(s, &v.key, &got, &found, d);
  char name[HD_DIGEST_HEX];
  if (st == HD_OK && hd_verdict_table_of(v.plan, name))
    st = hd_store_get_table(s, name, &back, &n, &found, d);
  free(back);
  if (st == HD_OK) st = hd_store_each(s, NULL, look, NULL, d);
  if (st == HD_OK) st = hd_store_export(s, NULL, &out, d);
  if (st == HD_OK) st = hd_store_import(s, out.data, out.len, "test", &imported, d);
  hd_buf_free(&out);
  return st;
}

static hd_status keep(void *ctx, hd_diag *d) {
  hd_store *s;
  hd_status st = hd_store_open(ctx, &s, d);
  if (st != HD_OK) return st;
  st = verdicts(s, d);
  hd_store_close(s);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  char folder[] = "/tmp/heddle-nomem-XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/store", folder);
  nomem_expect(&(nomem_entry){"store", keep, path, false});
  static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; i < 4; i++) {
    char file[80];
    snprintf(file, sizeof file, "%s%s", path, ends[i]);
    remove(file);
  }
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
