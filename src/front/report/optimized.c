/* Writes the files of an optimization: the proved kernel, its order's table, a page and its JSON. */
#include <stdio.h>
#include <string.h>

#include "heddle/report.h"
#include "heddle/timelines.h"
#include "report/json.h"
#include "report/summary.h"
#include "report/trees.h"

void hd_optimized_launch(const hd_workload *w, const hd_optimized *f, hd_buf *out) {
  for (uint32_t i = 0; f->best && i < w->n_launches; i++) {
    uint32_t first = 0;
    while (strcmp(w->launches[first].kernel, w->launches[i].kernel) != 0) first++;
    if (first == i) hd_recipe_print(w->launches[i].kernel, &f->written.recipes[i], out);
  }
}

void hd_optimized_text(const hd_workload *w, const hd_optimized *f, hd_buf *out) {
  if (!f->best) return;
  hd_buf_put(out, f->written.text.data, f->written.text.len);
  hd_optimized_launch(w, f, out);
}

static hd_status write_kernel(const hd_workload *w, const hd_optimized *f, hd_optimized_files *out,
                              hd_diag *d) {
  hd_buf text = {0};
  hd_status st = HD_OK;
  hd_optimized_text(w, f, &text);
  if (f->table.n) st = hd_table_write(out->table, &f->table, d);
  if (st == HD_OK && text.failed) st = hd_nomem(d);
  if (st == HD_OK) st = hd_file_write(out->kernel, text.data, text.len, d);
  hd_buf_free(&text);
  return st;
}

/* Of the default, and of the plan kept. Without a clock there are none. */
static hd_status make_timelines(const hd_report *r, const hd_optimized *f, hd_timelines *out, hd_diag *d) {
  const hd_plan plans[] = {f->rows[0].plan, f->rows[f->best].plan};
  *out = (hd_timelines){0};
  if (f->rows[0].status != HD_OK || !report_by_clock(r)) return HD_OK;
  /* The same replays came to their ends before. */
  hd_study_set_until(f->study, 0);
  hd_diag e = {0};
  const hd_status st = hd_timelines_make(f->study, r->workload, r->gpu, f->dispatch, f->seed, plans,
                                         f->best ? 2 : 1, HD_TIMELINES_PAGE, out, &e);
  if (hd_blames_plan(st) || st == HD_ERR_BUDGET) return HD_OK; /* a page can do without them */
  if (st != HD_OK && d) *d = e;
  return st;
}

hd_status hd_optimized_page(const hd_report *r, const hd_optimized *f, hd_buf *page, hd_buf *json,
                            hd_diag *d) {
  hd_report own = *r;
  hd_reuse_picture picture;
  hd_timelines timelines;
  hd_status st = hd_reuse_picture_make(f->study, r->workload, r->gpu->l1.line, &picture, d);
  if (st != HD_OK) return st;
  st = make_timelines(r, f, &timelines, d);
  own.picture = &picture;
  if (st == HD_OK) report_put_json(report_page_tree(&own), json);
  own.timelines = timelines.n ? &timelines : NULL;
  own.rewritten = f->best ? &f->written.text : NULL;
  if (st == HD_OK) hd_report_html(&own, page);
  hd_reuse_picture_free(&picture);
  hd_timelines_free(&timelines);
  return st == HD_OK && (page->failed || json->failed) ? hd_nomem(d) : st;
}

static hd_status write_page(const hd_report *r, const hd_optimized *f, const hd_optimized_files *to,
                            hd_diag *d) {
  hd_buf page = {0}, json = {0};
  hd_status st = hd_optimized_page(r, f, &page, &json, d);
  if (st == HD_OK) st = hd_file_write(to->page, page.data, page.len, d);
  if (st == HD_OK) st = hd_file_write(to->json, json.data, json.len, d);
  hd_buf_free(&page);
  hd_buf_free(&json);
  return st;
}

hd_report hd_optimized_report(const hd_workload *w, const hd_gpu *g, hd_dispatch_kind dispatch,
                              const hd_optimized *f) {
  return (hd_report){.workload = w,
                     .gpu = g,
                     .dispatch = hd_dispatch_name(dispatch),
                     .rows = f->rows,
                     .n_rows = f->n_rows,
                     .best = (int64_t)f->best,
                     .proof = f->best ? &f->proof : NULL,
                     .proof_size = f->proof_size,
                     .second_speedup = f->best ? f->second_speedup : 0,
                     .second_part = f->best ? f->second_part : 0,
                     .whole_proof_seconds = f->whole_proof_seconds,
                     .other_launch = f->other_launch,
                     .nothing_helps = f->best || f->no_gain ? NULL : f->why,
                     .no_gain = f->no_gain,
                     .most = f->most,
                     .seconds = f->seconds,
                     .unseen = &f->unseen,
                     .part = hd_study_part(f->study),
                     .lack_ends = hd_study_leaves_ends(f->study),
                     .stopped = f->stopped,
                     .ended = f->ended,
                     .late = f->late,
                     .unproved = f->unproved,
                     .fixed = f->fixed};
}

hd_status hd_optimized_write(const hd_workload *w, const hd_gpu *g, hd_dispatch_kind dispatch,
                             const hd_optimized *f, const char *folder, hd_optimized_files *out, hd_report *r,
                             hd_diag *d) {
  hd_status st = HD_OK;
  snprintf(out->kernel, sizeof out->kernel, "%s/%s.ptx", folder, w->name);
  snprintf(out->page, sizeof out->page, "%s/%s.html", folder, w->name);
  snprintf(out->json, sizeof out->json, "%s/%s.json", folder, w->name);
  snprintf(out->table, sizeof out->table, "%s/%s.table", folder, w->name);
  *r = hd_optimized_report(w, g, dispatch, f);
  r->output = f->best ? out->kernel : NULL;
  r->table = f->best && f->table.n ? out->table : NULL;
  r->html = f->study ? out->page : NULL; /* without traces there is nothing to draw */
  if (f->best) st = write_kernel(w, f, out, d);
  return st == HD_OK && f->study ? write_page(r, f, out, d) : st;
}
