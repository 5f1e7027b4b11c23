/* Modules and kernels of files. */
#include "cli.h"
#include "heddle/results.h"

static void report_failure(hd_listing *l, const hd_diag *d) {
  char line[2048];
  l->failures++;
  fprintf(stderr, "heddle: %s\n", hd_diag_line(d, line, sizeof line));
}

static hd_status list_file(hd_listing *l, const char *path, hd_diag *d) {
  hd_container *c;
  hd_arena arena;
  uint64_t found = 0, failures = l->failures;
  l->file = path;
  hd_status st = hd_container_open(path, &c, d);
  if (st != HD_OK) return st;
  hd_arena_init(&arena);
  for (bool more = true; st == HD_OK && more;) {
    hd_ptx_text t;
    hd_ptx_module *m;
    hd_diag e = {0};
    if (hd_container_next(c, &t, &more, &e) != HD_OK) {
      report_failure(l, &e); /* without `more`, an entry of unknown extent ends the file */
      continue;
    }
    if (!more) break;
    found++;
    l->modules++;
    l->bytes += t.len;
    hd_arena_reset(&arena);
    if (hd_ptx_parse(t.data, t.len, t.label, &arena, &m, &e) == HD_OK)
      st = hd_listing_add(l, &t, m, d);
    else
      report_failure(l, &e);
  }
  if (st == HD_OK && !found && l->failures == failures) {
    hd_diag e = {0};
    hd_container_no_ptx(path, hd_container_assembled(c), &e);
    report_failure(l, &e);
  }
  hd_arena_free(&arena);
  hd_container_close(c);
  return st;
}

/* One listing of all files. */
static hd_status put_json(char **files, int n, bool detailed, uint64_t *failures, hd_buf *out, hd_diag *d) {
  hd_listing l;
  double start = hd_seconds();
  hd_status st = HD_OK;
  hd_listing_begin(&l, detailed);
  for (int i = 0; st == HD_OK && i < n; i++) st = list_file(&l, files[i], d);
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
    st = list_file(&l, files[i], d);
    if (n > 1) hd_buf_printf(out, "%s:\n", files[i]);
    hd_listing_text(&l, out);
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
  int n, rc = cli_parse(cli_find("ls"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (n < 1) return cli_usage("ls: name a file");
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
