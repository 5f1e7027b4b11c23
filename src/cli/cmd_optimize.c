/* The main job: trace, sweep, prove the winner, write it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "heddle/optimize.h"
#include "heddle/sharing.h"
#include "model_common.h"
#include "rewrite_all.h"

typedef struct optimization {
  model_session s;
  hd_optimized found;
  hd_report report;
  char ptx_path[4200], html_path[4200], table_path[4200];
} optimization;

/* The module that was proved, with what its launches take as comments behind it; the table of an order that
 * is too large for the text. */
static hd_status write_kernel(optimization *z, hd_diag *d) {
  const hd_workload *w = z->s.workload;
  hd_buf text = {0};
  hd_status st = HD_OK;
  hd_buf_put(&text, z->found.text, z->found.len);
  for (uint32_t i = 0; i < w->n_launches; i++) {
    uint32_t first = 0;
    while (strcmp(w->launches[first].kernel, w->launches[i].kernel) != 0) first++;
    if (first == i) rewrite_put_recipe(w->launches[i].kernel, &z->found.recipes[i], &text);
  }
  if (z->found.table.n)
    st = hd_table_write(z->table_path, &z->found.table, d);
  else
    z->table_path[0] = 0;
  if (st == HD_OK && text.failed) st = hd_nomem(d);
  if (st == HD_OK) st = hd_file_write(z->ptx_path, text.data, text.len, d);
  hd_buf_free(&text);
  return st;
}

/* A CTA in the middle, one halfway to a corner, and a corner. */
static hd_status draw(optimization *z, hd_reuse_picture *picture, uint64_t tasks[3], float **share,
                      hd_diag *d) {
  uint32_t most = 0;
  for (uint32_t i = 1; i < hd_study_launches(z->found.study); i++)
    if (hd_trace_get_info(hd_study_trace(z->found.study, i)).warp_accesses >
        hd_trace_get_info(hd_study_trace(z->found.study, most)).warp_accesses)
      most = i;
  const hd_trace *t = hd_study_trace(z->found.study, most);
  const hd_wl_launch *l = &z->s.workload->launches[most];
  uint64_t gx = l->grid[0], gy = l->grid[1], gz = l->grid[2], V = hd_trace_tasks(t);
  *picture = (hd_reuse_picture){.kernel = l->kernel, .tasks = tasks};
  memcpy(picture->grid, l->grid, sizeof l->grid);
  const uint64_t wanted[3] = {gx / 2 + gx * (gy / 2 + gy * (gz / 2)), gx / 4 + gx * (gy / 4 + gy * (gz / 4)),
                              0};
  for (unsigned k = 0; k < 3; k++)
    if (k == 0 || wanted[k] != tasks[picture->n - 1]) tasks[picture->n++] = wanted[k];
  if (!(*share = malloc(picture->n * V * sizeof **share))) return hd_nomem(d);
  picture->share = *share;
  return hd_sharing_with(t, tasks, picture->n, z->s.gpu.l1.line, *share, d);
}

static hd_status write_page(optimization *z, hd_diag *d) {
  hd_buf page = {0};
  hd_reuse_picture picture;
  uint64_t tasks[3];
  float *share = NULL;
  hd_status st = draw(z, &picture, tasks, &share, d);
  if (st == HD_OK) {
    z->report.picture = &picture;
    hd_report_html(&z->report, &page);
    z->report.picture = NULL;
    st = page.failed ? hd_nomem(d) : hd_file_write(z->html_path, page.data, page.len, d);
  }
  hd_buf_free(&page);
  free(share);
  return st;
}

static int print_text(const optimization *z, size_t limit) {
  const hd_report *r = &z->report;
  hd_buf out = {0};
  hd_buf_printf(&out, "%s (%s) on %s, %s dispatch: %zu plans\n\n", r->workload->name, r->workload->size,
                r->gpu->title, r->dispatch, r->n_rows);
  hd_report_table(r, limit, cli_colour(), &out);
  if (r->best > 0) {
    hd_buf plan = {0};
    hd_plan_print(&r->rows[r->best].plan, &plan);
    hd_buf_printf(&out, "\nBest: %s, predicted %.2fx as fast as the default.\n", plan.data ? plan.data : "",
                  hd_report_speedup(r, (size_t)r->best));
    hd_buf_printf(
        &out, "Proved: %" PRIu64 " bytes equal under %u dispatchers, %+.2f%% instructions.\n",
        r->proof->bytes_compared, r->proof->runs,
        100.0 *
            ((double)r->proof->thread_instructions_rewritten / (double)r->proof->thread_instructions - 1));
    hd_buf_printf(&out, "Wrote %s%s%s and %s.\n", z->ptx_path, z->table_path[0] ? ", " : "", z->table_path,
                  z->html_path);
    if (z->found.other_launch)
      hd_buf_puts(
          &out, "It is launched another way than the original: its last lines say how (--keep-launch leaves "
                "such plans out).\n");
    hd_buf_free(&plan);
  } else {
    hd_buf_printf(&out, "\nNothing helps: %s. The kernel is left as it is.\nWrote %s.\n", r->nothing_helps,
                  z->html_path);
  }
  hd_buf_printf(&out, "(trace %.1f s, replays %.1f s%s", r->trace_seconds, r->sweep_seconds,
                r->proof ? ", " : "");
  if (r->proof) hd_buf_printf(&out, "proof %.1f s", r->proof->seconds);
  hd_buf_puts(&out, ")\n");
  return cli_print(&out);
}

static int print_json(const optimization *z) {
  const hd_report *r = &z->report;
  json_t *rows = json_array();
  for (size_t i = 0; i < r->n_rows; i++) {
    hd_buf plan = {0};
    hd_plan_print(&r->rows[i].plan, &plan);
    json_t *row = r->rows[i].status == HD_OK ? cli_counters_json(&r->rows[i].counters)
                                             : json_pack("{s:s}", "failed", r->rows[i].why);
    if (row) {
      json_object_set_new(row, "plan", json_string(plan.data ? plan.data : ""));
      if (r->rows[i].status == HD_OK) json_object_set_new(row, "speedup", json_real(hd_report_speedup(r, i)));
    }
    json_array_append_new(rows, row);
    hd_buf_free(&plan);
  }
  hd_buf best = {0};
  hd_plan_print(&r->rows[r->best].plan, &best);
  json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:b, s:o}", "workload", r->workload->name, "size",
                        r->workload->size, "gpu", r->gpu->name, "dispatcher", r->dispatch, "best",
                        best.data ? best.data : "", "speedup", hd_report_speedup(r, (size_t)r->best),
                        "proved", r->proof != NULL, "rows", rows);
  hd_buf_free(&best);
  if (j && r->best > 0) json_object_set_new(j, "output", json_string(z->ptx_path));
  if (j && z->table_path[0]) json_object_set_new(j, "table", json_string(z->table_path));
  if (j && r->best > 0) json_object_set_new(j, "keeps_launch", json_boolean(!z->found.other_launch));
  if (j && r->best == 0) json_object_set_new(j, "nothing_helps", json_string(r->nothing_helps));
  if (j) json_object_set_new(j, "report", json_string(z->html_path));
  return cli_print_json(j);
}

static void describe(optimization *z, const char *dir) {
  const char *name = z->s.workload->name;
  const hd_optimized *f = &z->found;
  snprintf(z->ptx_path, sizeof z->ptx_path, "%s/%s.ptx", dir, name);
  snprintf(z->html_path, sizeof z->html_path, "%s/%s.html", dir, name);
  snprintf(z->table_path, sizeof z->table_path, "%s/%s.table", dir, name);
  z->report = (hd_report){.workload = z->s.workload,
                          .gpu = &z->s.gpu,
                          .dispatch = hd_dispatch_name(z->s.dispatch),
                          .rows = f->rows,
                          .n_rows = f->n_rows,
                          .best = (int64_t)f->best,
                          .proof = f->best ? &f->proof : NULL,
                          .output = f->best ? z->ptx_path : NULL,
                          .nothing_helps = f->best ? NULL : f->why,
                          .trace_seconds = hd_study_seconds(f->study),
                          .sweep_seconds = f->sweep_seconds};
}

static hd_status optimize(optimization *z, const char *name, const model_options *o, const char *folder,
                          hd_diag *d) {
  const char *dir = folder ? folder : ".";
  hd_plan_list plans = {0};
  hd_status st = hd_folder_make(dir, d); /* before the work whose results go there */
  if (st == HD_OK) st = model_open_workload(&z->s, name, o, d);
  if (st == HD_OK && o->plans) st = model_list_plans(o->plans, &plans, d);
  hd_optimize_options options = {.run = {.threads = (unsigned)o->threads},
                                 .dispatch = z->s.dispatch,
                                 .seed = o->seed,
                                 .plans = plans.at,
                                 .n_plans = plans.n,
                                 .keep_launch = o->keep_launch,
                                 .progress = cli_progress,
                                 .ctx = (void *)"replaying plans"};
  if (st == HD_OK) st = hd_optimize(z->s.workload, &z->s.gpu, &options, &z->found, d);
  hd_plan_list_free(&plans);
  if (st != HD_OK) return st;
  describe(z, dir);
  if (z->found.best)
    st = write_kernel(z, d);
  else
    z->table_path[0] = 0;
  return st == HD_OK ? write_page(z, d) : st;
}

int cmd_optimize(int argc, char **argv) {
  model_options o = {0};
  adhoc_options a = {.module = UINT64_MAX};
  const char *folder = NULL;
  uint64_t rows = 12;
  bool json = false;
  const cli_option options[] = {
      {"gpu", 0, CLI_TEXT, &o.gpu_name, 0, "NAME", "the GPU to model (default: h100)"},
      {"plans", 0, CLI_TEXT, &o.plans, 0, "LIST", "as for sweep"},
      {"dispatcher", 0, CLI_TEXT, &o.dispatcher, 0, "NAME",
       "demand or round-robin (default: as the GPU's file says)"},
      {"output", 'o', CLI_TEXT, &folder, 0, "DIR",
       "where NAME.ptx and NAME.html go, made if need be (default: this folder)"},
      {"keep-launch", 0, CLI_FLAG, &o.keep_launch, 0, NULL,
       "leave out plans that need another launch: bind=agents, bind=claim, sms"},
      {"rows", 0, CLI_NUMBER, &rows, 0, "N", "rows of the table to print (default: 12)"},
      {"size", 0, CLI_TEXT, &o.size, 0, "NAME", "the workload's size (default: paper where there is one)"},
      CLI_THREADS_OPTION(o.threads),
      CLI_JSON_OPTION(json),
      {"kernel", 'k', CLI_TEXT, &a.kernel, 0, "NAME", "of a file: the kernel (default: the only one)"},
      {"module", 'm', CLI_NUMBER, &a.module, UINT32_MAX, "N",
       "of a file: module number when the file holds several"},
      {"grid", 0, CLI_DIMS, a.grid, 0, "X[,Y[,Z]]", "of a file: the launch's grid"},
      {"block", 0, CLI_DIMS, a.block, 0, "X[,Y[,Z]]", "of a file: threads per CTA"},
      {"shared", 0, CLI_NUMBER, &a.shared, UINT32_MAX, "BYTES",
       "of a file: shared memory that the launch adds"},
      {"arg", 0, CLI_LIST, &a.args, 0, "A",
       "of a file: one per parameter, in order: a scalar (s32:512, f32:0.5, u64:7) or a "
       "buffer\nTYPE[COUNT]=FILL, e.g. 'f32[262144]=uniform(-1, 1)', 's32[1024]=zero'"},
      {0}};
  int n, rc = cli_parse(cli_find("optimize"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (n != 1) return cli_usage("optimize: name one workload or file");
  hd_diag d = {0};
  optimization *z = calloc(1, sizeof *z);
  if (!z) return cli_usage("out of memory");
  adhoc launch = {0};
  const char *name = argv[1];
  hd_status st = HD_OK;
  if (cli_is_kernel_file(name)) {
    st = adhoc_create(name, &a, &launch, &d);
    name = launch.folder;
  }
  if (st == HD_OK) st = optimize(z, name, &o, folder, &d);
  if (st != HD_OK)
    rc = cli_fail(&d);
  else
    rc = json ? print_json(z) : print_text(z, (size_t)rows);
  hd_optimized_free(&z->found);
  model_close(&z->s);
  adhoc_remove(&launch);
  free(z);
  return rc;
}
