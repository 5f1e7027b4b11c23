#include "cli.h"

static void put_workload(hd_text_table *t, json_t *list, const char *name, const hd_workload *w) {
  hd_buf outputs = {0};
  for (uint32_t i = 0; i < w->n_buffers; i++)
    if (w->buffers[i].compare != HD_COMPARE_NONE)
      hd_buf_printf(&outputs, "%s%s %s", outputs.len ? ", " : "", w->buffers[i].name,
                    w->buffers[i].compare == HD_COMPARE_EXACT ? "exact" : "near");
  const char *compared = outputs.data ? outputs.data : "-";
  if (list)
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:i, s:s}", "name", name, "title", w->title,
                                          "paper", w->paper, "category", w->category, "launches",
                                          (int)w->n_launches, "compared", compared));
  hd_text_table_cell(t, "%s", name);
  hd_text_table_cell(t, "%s", w->paper[0] ? w->paper : "-");
  hd_text_table_cell(t, "%s", w->category[0] ? w->category : "-");
  hd_text_table_cell(t, "%u", w->n_launches);
  hd_text_table_cell(t, "%s", compared);
  hd_text_table_cell(t, "%s", w->title);
  hd_buf_free(&outputs);
}

int cmd_list(int argc, char **argv) {
  bool json = false;
  const cli_option options[] = {CLI_JSON_OPTION(json), {0}};
  int n, rc = cli_parse(cli_find("list"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (n) return cli_usage("list: takes no arguments");
  hd_diag d = {0};
  char **names;
  size_t count;
  if (hd_workload_list(cli_kernels_dir(), &names, &count, &d) != HD_OK) return cli_fail(&d);
  json_t *list = json ? json_array() : NULL;
  hd_text_table *t = hd_text_table_new("lllrll");
  static const char *const head[] = {"name", "paper", "category", "launches", "compared", "what"};
  for (size_t i = 0; t && i < sizeof head / sizeof *head; i++) hd_text_table_cell(t, "%s", head[i]);
  rc = t ? EXIT_OK : cli_usage("out of memory");
  for (size_t i = 0; rc == EXIT_OK && i < count; i++) {
    hd_workload *w = NULL;
    if (hd_workload_open(names[i], cli_kernels_dir(), NULL, &w, &d) != HD_OK) {
      rc = cli_fail(&d);
      break;
    }
    put_workload(t, list, names[i], w);
    hd_workload_close(w);
  }
  if (rc == EXIT_OK && json) {
    rc = cli_print_json(list);
  } else if (rc == EXIT_OK) {
    hd_buf out = {0};
    hd_text_table_print(t, &out);
    rc = cli_print(&out);
  }
  hd_text_table_free(t);
  hd_workload_list_free(names, count);
  return rc;
}
