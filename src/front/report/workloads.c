/* The workloads that come with heddle. */
#include "heddle/results.h"
#include "report/fields.h"
#include "report/json.h"

/* "out exact, sums near": the buffers that are compared. */
static void put_compared(const hd_workload *w, hd_buf *out) {
  for (uint32_t i = 0; i < w->n_buffers; i++)
    if (w->buffers[i].compare != HD_COMPARE_NONE)
      hd_buf_printf(out, "%s%s %s", out->len ? ", " : "", w->buffers[i].name,
                    w->buffers[i].compare == HD_COMPARE_EXACT ? "exact" : "near");
  if (!out->len) hd_buf_putc(out, '-');
}

typedef struct listed {
  const char *name;
  const hd_workload *w;
} listed;

static const char *said(const char *text) { return text[0] ? text : NULL; }
static const char *category(const void *row) { return said(((const listed *)row)->w->category); }
static const char *paper(const void *row) { return said(((const listed *)row)->w->paper); }
static void put_buffers(const void *row, hd_buf *out) { put_compared(((const listed *)row)->w, out); }

#define OF(member) THROUGH(listed, w, hd_workload, member)
static const field workload_fields[] = {
    {"name", "name", MEMBER(listed, name)},
    {"title", "what", OF(title)},
    {.heading = "launches", OF(n_launches)},
    {.heading = "category", .text = category},
    {.heading = "paper", .text = paper},
    {"paper", OF(paper)},
    {"category", OF(category)},
    {"launches", OF(n_launches)},
    {"compared", "compared", .put = put_buffers},
    {0},
};

void hd_workloads_text(const hd_workload *const *workloads, const char *const *names, size_t n, hd_buf *out) {
  field_sheet sheet = report_list(workload_fields);
  for (size_t i = 0; i < n; i++) report_sheet_row(&sheet, &(listed){names[i], workloads[i]});
  report_put_sheet(&sheet, out);
}

void hd_workloads_json(const hd_workload *const *workloads, const char *const *names, size_t n, hd_buf *out) {
  json_t *list = json_array();
  for (size_t i = 0; list && i < n; i++)
    list = report_append(list, report_fields_json(workload_fields, &(listed){names[i], workloads[i]}));
  report_put_json(list, out);
}
