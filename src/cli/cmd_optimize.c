/* The main job: trace, sweep, prove the winner, write it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "heddle/sharing.h"
#include "model_common.h"
#include "rewrite_all.h"

/* A plan must promise at least this much to be worth a rewritten kernel. */
#define WORTH 1.01

typedef struct optimization {
  model_session s;
  hd_report report;
  hd_check_result proof;
  char ptx_path[4200], html_path[4200], table_path[4200], why[512];
  bool other_launch; /* the kernel written is launched another way: the file says how */
} optimization;

static bool is_kernel_file(const char *path) {
  struct stat st;
  size_t n = strlen(path);
  return stat(path, &st) == 0 && S_ISREG(st.st_mode) && !(n > 5 && strcmp(path + n - 5, ".toml") == 0);
}

/* The module's text under a row's plan, and what its launches take from then on. */
static hd_status render(optimization *z, int64_t row, hd_recipe *recipes, hd_buf *text, hd_diag *d) {
  const hd_workload *w = z->s.workload;
  hd_arena arena;
  hd_ptx_module *m;
  hd_run_options run = {.n_sms = z->s.gpu.n_sms};
  hd_plan_set set = {.all = z->s.rows[row].plan};
  hd_resolved plans;
  hd_status st = hd_resolve(w, &set, &run, z->s.study, &plans, d);
  if (st != HD_OK) return st;
  hd_arena_init(&arena);
  st = hd_ptx_parse(plans.code->text, plans.code->len, w->name, &arena, &m, d);
  if (st == HD_OK) st = hd_rewrite_workload(m, &plans, &run, recipes, d);
  if (st == HD_OK) st = hd_ptx_print_in_place(m, text);
  if (st == HD_OK && text->failed) st = hd_nomem(d);
  hd_arena_free(&arena);
  hd_resolved_free(&plans);
  return st;
}

static hd_recipe *new_recipes(const optimization *z, hd_diag *d) {
  hd_recipe *r = calloc((size_t)z->s.workload->n_launches + 1, sizeof *r);
  if (!r) hd_nomem(d);
  return r;
}

/* Whether the plan can be applied; *st is what happened otherwise. */
static bool can_render(optimization *z, int64_t row, hd_status *st, hd_diag *d) {
  hd_buf text = {0};
  hd_recipe *recipes = new_recipes(z, d);
  *st = recipes ? render(z, row, recipes, &text, d) : HD_ERR_NOMEM;
  hd_buf_free(&text);
  free(recipes);
  return *st == HD_OK;
}

static bool only_reorders(const hd_plan *p) {
  return p->threads.kind == HD_ORDER_ROW && !p->bypass.kind && !p->stream.kind && !p->prefetch.kind &&
         !p->bind && !p->sms.n;
}

/* Replays count the original's instructions; the proof counted the rewritten kernel's. */
static double time_with_instructions(const hd_counters *c, const hd_check_result *proof) {
  if (!proof->thread_instructions || c->cycles <= 0) return c->time_us;
  double issue =
      c->cycles_issue * (double)proof->thread_instructions_rewritten / (double)proof->thread_instructions;
  return issue > c->cycles ? c->time_us * issue / c->cycles : c->time_us;
}

/* The fastest plan that can be applied and proved; refused or unequal ones are struck out with their reason.
 */
static hd_status choose(optimization *z, const model_options *o, hd_diag *d) {
  hd_sweep_row *rows = z->s.rows;
  for (;;) {
    int64_t best = hd_sweep_best(rows, z->s.n_rows);
    if (best < 0) return hd_fail(d, HD_ERR_INPUT, "no plan could be simulated: %s", rows[0].why);
    if (best == 0 || rows[best].counters.time_us * WORTH > rows[0].counters.time_us) {
      z->report.best = 0;
      return HD_OK;
    }
    hd_check_options check = {.run = {.threads = (unsigned)o->threads, .n_sms = z->s.gpu.n_sms},
                              .seed = o->seed};
    hd_status st;
    if (!can_render(z, best, &st, d) && st != HD_ERR_REFUSED) {
      if (st != HD_ERR_USAGE && st != HD_ERR_UNSUPPORTED) return st;
      rows[best].status = st;
      snprintf(rows[best].why, sizeof rows[best].why, "%.255s", d->message);
      continue;
    }
    st = hd_check(z->s.workload, &rows[best].plan, &check, &z->proof, d);
    if (st == HD_OK && z->proof.equal &&
        time_with_instructions(&rows[best].counters, &z->proof) * WORTH > rows[0].counters.time_us) {
      rows[best].status = HD_ERR_UNSUPPORTED;
      snprintf(
          rows[best].why, sizeof rows[best].why,
          "working out its tasks costs more than it gains: %+.0f%% instructions",
          100.0 *
              ((double)z->proof.thread_instructions_rewritten / (double)z->proof.thread_instructions - 1));
      continue;
    }
    if (st == HD_OK && z->proof.equal) {
      z->report.best = best;
      z->report.proof = &z->proof;
      return HD_OK;
    }
    if (st != HD_OK && st != HD_ERR_REFUSED) return st;
    /* A race or a refusal of an order is a property of the kernel: no other order would fare better. */
    bool all = only_reorders(&rows[best].plan);
    rows[best].status = HD_ERR_REFUSED;
    snprintf(rows[best].why, sizeof rows[best].why, "%.255s", st == HD_OK ? z->proof.what : d->message);
    if (all && (st == HD_ERR_REFUSED || !z->proof.runs)) {
      snprintf(z->why, sizeof z->why, "the kernel cannot be reordered: %.400s", rows[best].why);
      z->report.best = 0;
      return HD_OK;
    }
  }
}

static hd_status write_table(optimization *z, uint32_t launch, const hd_plan *p, hd_diag *d) {
  hd_run_options run = {.n_sms = z->s.gpu.n_sms};
  hd_table t;
  hd_status st = hd_order_table(z->s.workload, launch, &run, p->order.kind, z->s.study, &t, d);
  if (st != HD_OK) return st;
  st = hd_table_write(z->table_path, &t, d);
  hd_table_free(&t);
  return st;
}

/* The kernel, with what its launches take as comments behind it; the table of an order that is too large for
 * the text. */
static hd_status write_kernel(optimization *z, hd_diag *d) {
  const hd_workload *w = z->s.workload;
  const hd_plan *p = &z->s.rows[z->report.best].plan;
  hd_buf text = {0};
  hd_recipe *recipes = new_recipes(z, d);
  hd_status st = recipes ? render(z, z->report.best, recipes, &text, d) : HD_ERR_NOMEM;
  bool table = false;
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++) {
    uint32_t first = 0;
    while (strcmp(w->launches[first].kernel, w->launches[i].kernel) != 0) first++;
    if (first < i) continue;
    rewrite_put_recipe(w->launches[i].kernel, &recipes[i], &text);
    z->other_launch |= recipes[i].state_bytes || recipes[i].table_bytes || recipes[i].agents;
    if (!recipes[i].table_bytes || p->order.kind == HD_ORDER_TABLE) continue;
    st = table ? hd_fail(d, HD_ERR_UNSUPPORTED, "several kernels have tables of their order")
               : write_table(z, i, p, d);
    table = true;
  }
  if (!table) z->table_path[0] = 0;
  if (st == HD_OK && text.failed) st = hd_nomem(d);
  if (st == HD_OK) st = hd_file_write(z->ptx_path, text.data, text.len, d);
  hd_buf_free(&text);
  free(recipes);
  return st;
}

/* A CTA in the middle, one halfway to a corner, and a corner. */
static hd_status draw(optimization *z, hd_reuse_picture *picture, uint64_t tasks[3], float **share,
                      hd_diag *d) {
  uint32_t most = 0;
  for (uint32_t i = 1; i < hd_study_launches(z->s.study); i++)
    if (hd_trace_get_info(hd_study_trace(z->s.study, i)).warp_accesses >
        hd_trace_get_info(hd_study_trace(z->s.study, most)).warp_accesses)
      most = i;
  const hd_trace *t = hd_study_trace(z->s.study, most);
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
    if (z->other_launch)
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
  if (j && r->best > 0) json_object_set_new(j, "keeps_launch", json_boolean(!z->other_launch));
  if (j && r->best == 0) json_object_set_new(j, "nothing_helps", json_string(r->nothing_helps));
  if (j) json_object_set_new(j, "report", json_string(z->html_path));
  return cli_print_json(j);
}

static hd_status optimize(optimization *z, const char *name, const model_options *o, const char *folder,
                          hd_diag *d) {
  const char *dir = folder ? folder : ".";
  hd_status st = cli_make_folder(dir, d); /* before the work whose results go there */
  if (st == HD_OK) st = model_open_workload(&z->s, name, o, d);
  if (st == HD_OK) st = model_open_study(&z->s, o, d);
  if (st == HD_OK) st = model_sweep(&z->s, o, d);
  if (st != HD_OK) return st;
  snprintf(z->ptx_path, sizeof z->ptx_path, "%s/%s.ptx", dir, z->s.workload->name);
  snprintf(z->html_path, sizeof z->html_path, "%s/%s.html", dir, z->s.workload->name);
  snprintf(z->table_path, sizeof z->table_path, "%s/%s.table", dir, z->s.workload->name);
  z->report = (hd_report){.workload = z->s.workload,
                          .gpu = &z->s.gpu,
                          .dispatch = hd_dispatch_name(z->s.dispatch),
                          .rows = z->s.rows,
                          .n_rows = z->s.n_rows,
                          .trace_seconds = hd_study_seconds(z->s.study),
                          .sweep_seconds = z->s.sweep_seconds};
  if ((st = choose(z, o, d)) != HD_OK) return st;
  if (z->report.best > 0) {
    z->report.output = z->ptx_path;
    st = write_kernel(z, d);
  } else {
    z->table_path[0] = 0;
    if (!z->why[0]) hd_explain_nothing_helps(&z->s.rows[0].counters, &z->s.gpu, z->why, sizeof z->why);
    z->report.nothing_helps = z->why;
  }
  return st == HD_OK ? write_page(z, d) : st;
}

int cmd_optimize(int argc, char **argv) {
  model_options o = {.advised = true};
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
  if (is_kernel_file(name)) {
    st = adhoc_create(name, &a, &launch, &d);
    name = launch.folder;
  }
  if (st == HD_OK) st = optimize(z, name, &o, folder, &d);
  if (st != HD_OK)
    rc = cli_fail(&d);
  else
    rc = json ? print_json(z) : print_text(z, (size_t)rows);
  model_close(&z->s);
  adhoc_remove(&launch);
  free(z);
  return rc;
}
