#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "heddle/results.h"
#include "heddle/steer.h"

typedef struct options {
  const char *store, *output;
  hd_store_filter filter;
  uint64_t older; /* days */
  bool all, json;
} options;

static hd_status import(hd_store *s, const char *path, hd_buf *out, hd_diag *d) {
  uint64_t n;
  const hd_status st = hd_store_import_file(s, path, &n, d);
  if (st == HD_OK) hd_buf_printf(out, "%" PRIu64 " verdict%s taken over\n", n, n == 1 ? "" : "s");
  return st;
}

static hd_status prune(hd_store *s, const options *o, hd_buf *out, hd_diag *d) {
  const hd_store_filter *f = &o->filter;
  uint64_t n;
  if (!f->name && !f->gpu && !f->driver && !f->before && !o->all)
    return hd_fail(d, HD_ERR_USAGE,
                   "verdicts: say what to drop (--name, --gpu, --driver, --older), or --all");
  hd_status st = hd_store_prune(s, f, &n, d);
  if (st == HD_OK && o->all && !o->store) hd_steer_notes_drop();
  if (st == HD_OK) hd_buf_printf(out, "%" PRIu64 " verdict%s dropped\n", n, n == 1 ? "" : "s");
  return st;
}

/* Verdicts that programs go without. */
static void list_broken(void *ctx, const char *program, const hd_steer_note *n) {
  if (strcmp(n->state, HD_STEER_BROKEN) == 0)
    hd_buf_printf(ctx, "not in %s: %s of %s, %.3gx in %.0f pairs of launches, not %.3gx\n", program, n->plan,
                  n->name, n->median, n->pairs, n->promised);
}

int cmd_verdicts(int argc, char **argv) {
  options o = {.output = "-"};
  const cli_option table[] = {
      {"store", 0, CLI_TEXT, &o.store, 0, "FILE",
       "the store (default: verdicts.db in heddle's cache folder)"},
      {"name", 0, CLI_TEXT, &o.filter.name, 0, "PATTERN",
       "only verdicts of workloads and kernels that match, e.g. 'matmul*'"},
      {"gpu", 0, CLI_TEXT, &o.filter.gpu, 0, "PATTERN", "only those for GPUs that match"},
      {"driver", 0, CLI_TEXT, &o.filter.driver, 0, "PATTERN", "only those made with drivers that match"},
      {"older", 0, CLI_NUMBER, &o.older, 100000, "DAYS", "only those made longer ago"},
      {"all", 0, CLI_FLAG, &o.all, 0, NULL,
       "prune: drop everything, and what programs have learnt of verdicts"},
      CLI_COMMON("output", &o.output),
      CLI_COMMON("json", &o.json),
      {0}};
  int n, rc = cli_parse(table, argc, argv, &n);
  if (rc >= 0) return rc;
  const char *what = n ? argv[1] : "list";
  bool importing = strcmp(what, "import") == 0;
  if (n > 1 + importing || (importing && n < 2))
    return cli_usage("verdicts: list, export, import FILE or prune");
  if (o.older) o.filter.before = (int64_t)time(NULL) - (int64_t)o.older * 86400;
  hd_diag d = {0};
  hd_store *s;
  hd_buf out = {0};
  hd_status st = hd_store_open(o.store, &s, &d);
  if (st != HD_OK) return cli_fail(&d);
  if (!o.store) hd_steer_collect(s, NULL); /* those that stay behind come next time */
  if (strcmp(what, "list") == 0) {
    st = (o.json ? hd_store_export : hd_verdicts_text)(s, &o.filter, &out, &d);
    if (!o.json && !o.store) hd_steer_notes_each(list_broken, &out);
  } else if (strcmp(what, "export") == 0)
    st = hd_store_export(s, &o.filter, &out, &d);
  else if (importing)
    st = import(s, argv[2], &out, &d);
  else if (strcmp(what, "prune") == 0)
    st = prune(s, &o, &out, &d);
  else
    st = hd_fail(&d, HD_ERR_USAGE, "verdicts: list, export, import FILE or prune, not '%.40s'", what);
  if (st == HD_OK)
    st = out.failed ? hd_nomem(&d) : hd_file_write(o.output, out.data ? out.data : "", out.len, &d);
  hd_buf_free(&out);
  hd_store_close(s);
  return st == HD_OK ? EXIT_OK : cli_fail(&d);
}
