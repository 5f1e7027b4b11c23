/* CLU's table 2 again: measured categories and shares beside the paper's. */
#include <stdlib.h>
#include <string.h>

#include "heddle/results.h"
#include "model_common.h"

/* The commas' part of a list holds the name. */
static bool listed(const char *list, const char *name) {
  size_t n = strlen(name);
  for (const char *at = list; at && *at; at += *at == ',') {
    size_t len = strcspn(at, ",");
    if (len == n && memcmp(at, name, n) == 0) return true;
    at += len;
  }
  return false;
}

static hd_status put_row(const char *name, const char *clu, const model_options *o, hd_categories *sum,
                         hd_buf *out, hd_diag *d) {
  model_session s = {0};
  hd_advice a = {0};
  hd_status st = model_open_workload(&s, name, o, d);
  if (st == HD_OK) st = model_open_study(&s, o, 0, d);
  hd_advise_options options = {.run = {.machine.threads = (unsigned)o->threads, .machine.n_sms = s.gpu.n_sms},
                               .dispatch = s.dispatch,
                               .no_race_check = true,
                               .no_proposals = true};
  if (st == HD_OK) st = hd_advise(s.workload, s.study, &s.gpu, &options, &a, d);
  if (st == HD_OK) hd_categories_row(sum, clu, name, s.workload, &a, out);
  hd_advice_free(&a);
  model_close(&s);
  return st;
}

static hd_status put_table(const model_options *o, const char *small, hd_buf *out, hd_diag *d) {
  char **names;
  size_t n;
  hd_categories sum = {0};
  hd_status st = hd_workload_list(cli_kernels_dir(), &names, &n, d);
  if (st != HD_OK) return st;
  hd_categories_head(out);
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    hd_workload *w = NULL;
    cli_progress("measuring workloads", i, n);
    if ((st = hd_workload_open(names[i], cli_kernels_dir(), NULL, &w, d)) != HD_OK) break;
    char *clu = w->category[0] ? hd_categories_name(w->paper) : NULL;
    hd_workload_close(w);
    if (!clu) continue;
    model_options one = *o;
    if (listed(small, names[i])) one.in.size = "small";
    st = put_row(names[i], clu, &one, &sum, out, d);
    free(clu);
  }
  cli_progress_end();
  hd_workload_list_free(names, n);
  hd_categories_total(&sum, out);
  return st;
}

int cmd_categories(int argc, char **argv) {
  model_options o = {.gpu_name = "gtx580", .quiet = true};
  const char *small = "", *path = NULL;
  const cli_option options[] = {CLI_COMMON_AS("gpu", &o.gpu_name, "the GPU to model (default: gtx580)"),
                                CLI_COMMON_AS("size", &o.in.size, "the workloads' size (default: paper)"),
                                {"small", 0, CLI_TEXT, &small, 0, "LIST",
                                 "workloads, separated by commas, that are measured at size small"},
                                CLI_COMMON("threads", &o.threads),
                                CLI_COMMON("output", &path),
                                {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  hd_buf out = {0};
  hd_status st = put_table(&o, small, &out, &d);
  if (st == HD_OK && out.failed) st = hd_nomem(&d);
  if (st == HD_OK && path) st = hd_file_write(path, out.data, out.len, &d);
  if (st != HD_OK || path) {
    hd_buf_free(&out);
    return st == HD_OK ? EXIT_OK : cli_fail(&d);
  }
  return cli_print(&out);
}
