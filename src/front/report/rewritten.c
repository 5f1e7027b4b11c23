/* The result of rewriting a file: its kernels by number, and the reasons of those that were refused. */
#include <inttypes.h>

#include "heddle/results.h"
#include "report/json.h"
#include "report/table.h"

void hd_rewritten_file_text(const hd_rewritten_file *r, hd_buf *out) {
  hd_buf_printf(out, "%" PRIu64 " of %" PRIu64 " kernels in %" PRIu64 " modules rewritten\n", r->rewritten,
                r->kernels, r->modules);
  if (!r->reasons.n) return;
  hd_text_table *table = hd_text_table_new("rl");
  hd_buf_puts(out, "refused:\n");
  for (size_t i = 0; table && i < r->reasons.n; i++) {
    hd_text_table_cell(table, "%" PRIu64, r->reasons.data[i].kernels);
    hd_text_table_cell(table, "%s", r->reasons.data[i].text);
  }
  report_put_table(table, out);
}

void hd_rewritten_file_json(const hd_rewritten_file *r, hd_buf *out) {
  json_t *reasons = json_object(), *files = json_array();
  for (size_t i = 0; i < r->reasons.n; i++)
    json_object_set_new(reasons, r->reasons.data[i].text,
                        json_integer((json_int_t)r->reasons.data[i].kernels));
  for (size_t i = 0; i < r->files.n; i++) {
    const hd_rewritten_module *m = &r->files.data[i];
    json_array_append_new(files, json_pack("{s:s, s:i, s:s, s:I}", "file", m->path, "module", (int)m->module,
                                           "target", m->target, "rewritten", (json_int_t)m->rewritten));
  }
  report_put_json(json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "modules", (json_int_t)r->modules, "unread",
                            (json_int_t)r->unread, "kernels", (json_int_t)r->kernels, "rewritten",
                            (json_int_t)r->rewritten, "refused", reasons, "files", files),
                  out);
}
