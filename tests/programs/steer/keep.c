/* keep STORE GPU DRIVER PLAN [FILE KERNEL LAUNCH [SIZE]]: keeps a verdict for the kernel of order.h, launched
 * with 8 CTAs of one thread. PLAN `table` is an order by a table, the even tasks before the odd ones; `other`
 * a verdict of another kernel of that name. Or for a kernel of a file of PTX, a launch in a verdict's words,
 * and a workload's size.
 */
#include <stdio.h>
#include <string.h>

#include "heddle/store.h"
#include "order.h"

/* The key's kernel and launch. */
static hd_status choose(int argc, char **argv, hd_verdict_key *key, hd_diag *d) {
  static const uint32_t grid[3] = {8, 1, 1}, block[3] = {1, 1, 1};
  static const char text[] = PTX_ORDER;
  hd_file f;
  if (argc == 5) {
    hd_verdict_kernel(text, strlen(text) - !strcmp(argv[4], "other"), "order", key->kernel);
    hd_verdict_launch(grid, block, 0, NULL, 0, key->launch);
    return HD_OK;
  }
  hd_status st = hd_file_open(argv[5], &f, d);
  if (st != HD_OK) return st;
  hd_verdict_kernel(f.data, f.len, argv[6], key->kernel);
  snprintf(key->launch, sizeof key->launch, "%s", argv[7]);
  hd_file_close(&f);
  if (argc > 8) snprintf(key->size, sizeof key->size, "%s", argv[8]);
  return HD_OK;
}

int main(int argc, char **argv) {
  static const uint32_t table[8] = {0, 2, 4, 6, 1, 3, 5, 7};
  const char *plan = argc >= 5 ? argv[4] : "";
  hd_verdict v = {.name = "order",
                  .speedup = 2,
                  .low = 2,
                  .high = 2,
                  .confidence = 0.99,
                  .before_us = 3,
                  .after_us = 1,
                  .when = 1};
  hd_store *s = NULL;
  hd_diag d = {0};
  char name[HD_DIGEST_HEX], line[1600];
  if (argc != 5 && argc != 8 && argc != 9) return 2;
  hd_status st = choose(argc, argv, &v.key, &d);
  snprintf(v.key.gpu, sizeof v.key.gpu, "%s", argv[2]);
  snprintf(v.key.driver, sizeof v.key.driver, "%s", argv[3]);
  if (st == HD_OK) st = hd_store_open(argv[1], &s, &d);
  if (st == HD_OK && strcmp(plan, "table") == 0) {
    hd_verdict_table(table, 8, name);
    snprintf(v.plan, sizeof v.plan, "order=table:#%s", name);
    st = hd_store_put_table(s, &v, table, 8, &d);
  } else if (st == HD_OK) {
    snprintf(v.plan, sizeof v.plan, "%s", strcmp(plan, "other") == 0 ? "order=reverse" : plan);
    st = hd_store_put(s, &v, &d);
  }
  hd_store_close(s);
  if (st != HD_OK) fprintf(stderr, "%s\n", hd_diag_line(&d, line, sizeof line));
  return st != HD_OK;
}
