/* Accesses by class, over all kernels of files. */
#include <inttypes.h>

#include "heddle/container.h"
#include "report/json.h"
#include "report/summary.h"
#include "report/table.h"

void hd_coverage_add(hd_coverage *c, const hd_analysis *a) {
  c->kernels++;
  c->over_budget += a->over_budget;
  for (uint32_t i = 0; i < a->n_sites; i++) {
    c->sites++;
    c->levels[a->sites[i].level]++;
    c->whys[a->sites[i].why]++;
  }
}

void hd_report_coverage(const hd_coverage *c, hd_buf *out) {
  hd_buf_printf(out,
                "%" PRIu64 " modules, %" PRIu64 " kernels (%" PRIu64 " failed, %" PRIu64
                " over the budget), %" PRIu64 " accesses to global memory\n\n",
                c->modules, c->kernels, c->failed, c->over_budget, c->sites);
  hd_text_table *t = hd_text_table_new("lrrl");
  if (!t) {
    out->failed = true;
    return;
  }
  static const char *const head[] = {"address", "accesses", "share", "because of"};
  report_put_head(t, head, sizeof head / sizeof *head);
  hd_text_table_rule(t);
  for (int l = 0; l < HD_LEVEL_COUNT; l++) {
    if (!c->levels[l]) continue;
    hd_text_table_cell(t, "%s", hd_level_name((hd_level)l));
    hd_text_table_cell(t, "%" PRIu64, c->levels[l]);
    hd_text_table_cell(t, "%.1f%%", 100 * report_rate(c->levels[l], c->sites));
    hd_text_table_cell(t, "%s", "");
  }
  for (int w = HD_WHY_NONE + 1; w < HD_WHY_COUNT; w++) {
    if (!c->whys[w]) continue;
    hd_text_table_cell(t, "  %s", hd_why_name((hd_why)w));
    hd_text_table_cell(t, "%" PRIu64, c->whys[w]);
    hd_text_table_cell(t, "%.1f%%", 100 * report_rate(c->whys[w], c->sites));
    hd_text_table_cell(t, "%s", hd_why_text((hd_why)w));
  }
  hd_text_table_print(t, out);
  hd_text_table_free(t);
}

/* Every kernel of one module. */
static void cover_module(const hd_ptx_text *text, hd_coverage *c) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_arena_init(&arena);
  c->modules++;
  if (hd_ptx_parse(text->data, text->len, text->label, &arena, &m, NULL) != HD_OK) {
    c->failed++;
    hd_arena_free(&arena);
    return;
  }
  for (uint32_t f = 0; f < m->n_funcs; f++) {
    hd_analysis *a;
    if (!m->funcs[f].entry || !m->funcs[f].has_body) continue;
    if (hd_analyze(m, f, NULL, &a, NULL) == HD_OK) {
      hd_coverage_add(c, a);
      hd_analysis_free(a);
    } else {
      c->failed++;
    }
  }
  hd_arena_free(&arena);
}

hd_status hd_coverage_file(const char *path, hd_coverage *c, hd_diag *d) {
  hd_container *file;
  hd_status st = hd_container_open(path, &file, d);
  if (st != HD_OK) return st;
  for (;;) {
    hd_ptx_text text;
    bool more = false;
    if (hd_container_next(file, &text, &more, NULL) != HD_OK) {
      c->failed++;
      if (!more) break;
      continue;
    }
    if (!more) break;
    cover_module(&text, c);
  }
  hd_container_close(file);
  return HD_OK;
}

void hd_coverage_json(const hd_coverage *c, hd_buf *out) {
  json_t *classes = json_object(), *whys = json_object();
  for (int l = 0; l < HD_LEVEL_COUNT; l++)
    json_object_set_new(classes, hd_level_name((hd_level)l), json_integer((json_int_t)c->levels[l]));
  for (int w = HD_WHY_NONE + 1; w < HD_WHY_COUNT; w++)
    json_object_set_new(whys, hd_why_name((hd_why)w), json_integer((json_int_t)c->whys[w]));
  report_put_json(json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "modules", (json_int_t)c->modules,
                            "kernels", (json_int_t)c->kernels, "failed", (json_int_t)c->failed, "over_budget",
                            (json_int_t)c->over_budget, "accesses", (json_int_t)c->sites, "classes", classes,
                            "whys", whys),
                  out);
}
