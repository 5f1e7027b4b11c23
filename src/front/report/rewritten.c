/* The result of rewriting a file: its kernels by number, and the reasons of those that were refused. */
#include <inttypes.h>

#include "heddle/results.h"
#include "report/fields.h"
#include "report/summary.h"

static const field reason_fields[] = {{.heading = "kernels", MEMBER(hd_rewrite_reason, kernels)},
                                      {.heading = "reason", MEMBER(hd_rewrite_reason, text)},
                                      {0}};
static const field module_fields[] = {{"file", MEMBER(hd_rewritten_module, path)},
                                      {"module", MEMBER(hd_rewritten_module, module)},
                                      {"target", MEMBER(hd_rewritten_module, target)},
                                      {"rewritten", MEMBER(hd_rewritten_module, rewritten)},
                                      {0}};

static json_t *reasons_json(const void *row) {
  const hd_rewritten_file *r = row;
  json_t *j = json_object();
  for (size_t i = 0; j && i < r->reasons.n; i++)
    j = report_set(j, r->reasons.data[i].text, json_integer((json_int_t)r->reasons.data[i].kernels));
  return j;
}
static json_t *files_json(const void *row) {
  const hd_rewritten_file *r = row;
  return report_rows_json(module_fields, r->files.data, r->files.n, sizeof *r->files.data);
}

static const field file_fields[] = {
    {"modules", MEMBER(hd_rewritten_file, modules)},
    {"unread", MEMBER(hd_rewritten_file, unread)},
    {"kernels", MEMBER(hd_rewritten_file, kernels)},
    {"rewritten", MEMBER(hd_rewritten_file, rewritten)},
    {"refused", .tree = reasons_json},
    {"files", .tree = files_json},
    {0},
};

void hd_rewritten_file_text(const hd_rewritten_file *r, hd_buf *out) {
  hd_buf_printf(out, "%" PRIu64 " of ", r->rewritten);
  report_put_count(r->kernels, "kernel", out);
  hd_buf_puts(out, " in ");
  report_put_count(r->modules, "module", out);
  hd_buf_puts(out, " rewritten\n");
  if (!r->reasons.n) return;
  hd_buf_puts(out, "refused:\n");
  report_put_bare_rows(reason_fields, r->reasons.data, r->reasons.n, sizeof *r->reasons.data, out);
}

void hd_rewritten_file_json(const hd_rewritten_file *r, hd_buf *out) {
  report_put_fields_json(file_fields, r, out);
}
