/* The workloads that come with heddle. */
#include "heddle/results.h"
#include "report/json.h"
#include "report/table.h"

/* "out exact, sums near": the buffers that are compared. */
static void put_compared(const hd_workload *w, hd_buf *out) {
  for (uint32_t i = 0; i < w->n_buffers; i++)
    if (w->buffers[i].compare != HD_COMPARE_NONE)
      hd_buf_printf(out, "%s%s %s", out->len ? ", " : "", w->buffers[i].name,
                    w->buffers[i].compare == HD_COMPARE_EXACT ? "exact" : "near");
  if (!out->len) hd_buf_putc(out, '-');
}

void hd_workloads_text(const hd_workload *const *workloads, const char *const *names, size_t n, hd_buf *out) {
  static const char *const head[] = {"name", "what", "launches", "category", "paper", "compared"};
  hd_text_table *t = hd_text_table_new("llrlll");
  report_put_head(t, head, sizeof head / sizeof *head);
  for (size_t i = 0; t && i < n; i++) {
    const hd_workload *w = workloads[i];
    hd_buf compared = {0};
    put_compared(w, &compared);
    hd_text_table_cell(t, "%s", names[i]);
    hd_text_table_cell(t, "%s", w->title);
    hd_text_table_cell(t, "%u", w->n_launches);
    hd_text_table_cell(t, "%s", w->category[0] ? w->category : "-");
    hd_text_table_cell(t, "%s", w->paper[0] ? w->paper : "-");
    hd_text_table_cell(t, "%s", compared.data ? compared.data : "");
    out->failed |= compared.failed;
    hd_buf_free(&compared);
  }
  report_put_table(t, out);
}

void hd_workloads_json(const hd_workload *const *workloads, const char *const *names, size_t n, hd_buf *out) {
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++) {
    const hd_workload *w = workloads[i];
    hd_buf compared = {0};
    put_compared(w, &compared);
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:i, s:o}", "name", names[i], "title",
                                          w->title, "paper", w->paper, "category", w->category, "launches",
                                          (int)w->n_launches, "compared", report_text_json(&compared)));
  }
  report_put_json(list, out);
}
