/* Modules and kernels of files. */
#include "cli.h"
#include "heddle/results.h"

static void report_failure(void *ctx, const hd_diag *d) { cli_fail(d); }

/* A file that cannot be read is said, and the others are listed. */
static hd_status list_file(hd_listing *l, const char *word, bool *read, hd_diag *d) {
  const hd_status st = hd_listing_file(l, cli_kernel_file(word), report_failure, NULL, d);
  *read = st == HD_OK;
  if (st == HD_OK || st == HD_ERR_NOMEM) return st;
  report_failure(NULL, d);
  l->failures++;
  return HD_OK;
}

/* One listing of all files. */
static hd_status put_json(char **files, int n, bool detailed, uint64_t *failures, hd_buf *out, hd_diag *d) {
  hd_listing l;
  double start = hd_seconds();
  hd_status st = HD_OK;
  bool read;
  hd_listing_begin(&l, detailed);
  for (int i = 0; st == HD_OK && i < n; i++) st = list_file(&l, files[i], &read, d);
  l.seconds = hd_seconds() - start;
  if (st == HD_OK) hd_listing_json(&l, out);
  *failures = l.failures;
  hd_listing_free(&l);
  return st;
}

/* A listing for each. */
static hd_status put_text(char **files, int n, uint64_t *failures, hd_buf *out, hd_diag *d) {
  hd_status st = HD_OK;
  for (int i = 0; st == HD_OK && i < n; i++) {
    hd_listing l;
    hd_listing_begin(&l, true);
    bool read;
    st = list_file(&l, files[i], &read, d);
    if (n > 1 && read) hd_buf_printf(out, "%s:\n", files[i]);
    if (read) hd_listing_text(&l, out);
    *failures += l.failures;
    hd_listing_free(&l);
  }
  return st;
}

int cmd_ls(int argc, char **argv) {
  bool json = false, detailed = false;
  const cli_option options[] = {
      {"json", 0, CLI_FLAG, &json, 0, NULL, "totals as JSON: modules, kernels, bytes, failures"},
      {"long", 'l', CLI_FLAG, &detailed, 0, NULL, "with --json: every kernel too"},
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  hd_buf out = {0};
  uint64_t failures = 0;
  hd_status st = json ? put_json(argv + 1, n, detailed, &failures, &out, &d)
                      : put_text(argv + 1, n, &failures, &out, &d);
  if (st != HD_OK) {
    hd_buf_free(&out);
    return cli_fail(&d);
  }
  rc = cli_print(&out);
  return rc == EXIT_OK && failures ? EXIT_USAGE : rc;
}
