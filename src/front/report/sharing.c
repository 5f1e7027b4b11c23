/* Which CTAs share lines, from the code: per array MAP's distances, its direction, and the shares. */
#include <inttypes.h>
#include <stdlib.h>

#include "heddle/container.h"
#include "report/analysis.h"
#include "report/table.h"

/* A buffer's name, where the launch's arguments are numbered so (heddle/report.h), else the parameter's or
 * variable's. */
static void array_name(const hd_analysis *a, const hd_polyhedral_array *array, const hd_workload *w,
                       hd_buf *out) {
  const hd_ptx_module *m = a->module;
  uint64_t buffer = array->base >> HD_REPORT_BUFFER_SHIFT;
  if (w && array->param != HD_NONE && buffer >= 1 && buffer <= w->n_buffers)
    hd_buf_puts(out, w->buffers[buffer - 1].name);
  else if (array->param != HD_NONE)
    hd_buf_printf(out, "param%" PRIu32, array->param);
  else if (array->var != HD_NONE)
    hd_buf_puts(out, m->syms[m->vars[array->var].sym].name);
  else
    hd_buf_putc(out, '-');
}

static double share(const hd_polyhedral_array *array, unsigned axis) {
  return array->pairs ? (double)array->shared[axis] / (double)array->pairs : 0;
}

static json_t *array_json(const hd_analysis *a, const hd_polyhedral_array *array, const hd_workload *w) {
  hd_buf name = {0};
  array_name(a, array, w, &name);
  json_t *j = json_pack("{s:s, s:b, s:b, s:b}", "array", name.data ? name.data : "", "reads", array->reads,
                        "writes", array->writes, "exact", !array->inexact);
  hd_buf_free(&name);
  if (array->inexact) {
    json_object_set_new(j, "why",
                        json_string(hd_polyhedral_inexact_text((hd_polyhedral_inexact)array->inexact)));
    json_object_set_new(j, "why_line", array->line ? json_integer(array->line) : json_null());
    return j;
  }
  json_object_set_new(
      j, "distance",
      json_pack("[iii]", (int)array->distance[0], (int)array->distance[1], (int)array->distance[2]));
  if (array->counted) {
    json_object_set_new(j, "pairs", json_integer((json_int_t)array->pairs));
    json_object_set_new(j, "share", json_pack("[fff]", share(array, 0), share(array, 1), share(array, 2)));
  }
  return j;
}

json_t *report_sharing_json(const hd_analysis *a, const hd_polyhedral *p, const hd_workload *w) {
  json_t *arrays = json_array();
  for (uint32_t i = 0; i < p->n_arrays; i++) json_array_append_new(arrays, array_json(a, &p->arrays[i], w));
  return json_pack("{s:s, s:b, s:[iii], s:o}", "direction", hd_map_direction_name(p->direction), "complete",
                   p->complete, "distance", (int)p->distance[0], (int)p->distance[1], (int)p->distance[2],
                   "arrays", arrays);
}

void report_put_sharing(const hd_analysis *a, const hd_polyhedral *p, const hd_workload *w, hd_buf *out) {
  static const char *const head[] = {"array", "distance x", "y", "z", "lines shared along x", "y", "z"};
  hd_text_table *t = hd_text_table_new(p->complete ? "lrrrrrr" : "lrrrrrrl");
  if (!t) {
    out->failed = true;
    return;
  }
  hd_buf_putc(out, '\n');
  hd_kernel_title(a->module->syms[a->module->funcs[a->func].sym].name, false, out);
  hd_buf_printf(out, ", reuse between CTAs from the code: direction %s%s\n\n",
                hd_map_direction_name(p->direction), p->complete ? "" : " (of the arrays that have numbers)");
  report_put_head(t, head, sizeof head / sizeof *head);
  if (!p->complete) hd_text_table_cell(t, "%s", "");
  hd_text_table_rule(t);
  for (uint32_t i = 0; i < p->n_arrays; i++) {
    const hd_polyhedral_array *array = &p->arrays[i];
    hd_buf name = {0};
    array_name(a, array, w, &name);
    hd_text_table_cell(t, "%s", name.data ? name.data : "");
    hd_buf_free(&name);
    for (unsigned k = 0; k < 3; k++)
      if (array->inexact)
        hd_text_table_cell(t, "-");
      else
        hd_text_table_cell(t, "%u", array->distance[k]);
    for (unsigned k = 0; k < 3; k++)
      if (array->inexact || !array->counted)
        hd_text_table_cell(t, "-");
      else
        hd_text_table_cell(t, "%.1f%%", 100 * share(array, k));
    if (p->complete) continue;
    if (!array->inexact)
      hd_text_table_cell(t, "%s", "");
    else if (array->line)
      hd_text_table_cell(t, "line %u: %s", array->line,
                         hd_polyhedral_inexact_text((hd_polyhedral_inexact)array->inexact));
    else
      hd_text_table_cell(t, "%s", hd_polyhedral_inexact_text((hd_polyhedral_inexact)array->inexact));
  }
  hd_text_table_print(t, out);
  hd_text_table_free(t);
}

/* ---- Directions ------------------------------------------------------------------------- */

hd_text_table *hd_directions_new(void) {
  static const char *const head[] = {"workload",   "kernel",     "grid",
                                     "distance x", "y",          "z",
                                     "direction",  "because of", "arrays without numbers"};
  hd_text_table *t = hd_text_table_new("lllrrrllr");
  report_put_head(t, head, sizeof head / sizeof *head);
  if (t) hd_text_table_rule(t);
  return t;
}

void hd_directions_row(hd_text_table *t, const hd_analysis *a, const hd_polyhedral *p, const hd_workload *w,
                       const uint32_t grid[3]) {
  uint32_t without = 0, most = p->direction ? p->distance[p->direction - 1] : 0;
  hd_buf because = {0};
  for (uint32_t i = 0; i < p->n_arrays; i++) {
    const hd_polyhedral_array *array = &p->arrays[i];
    without += array->inexact != 0;
    if (array->inexact || !most || array->distance[p->direction - 1] != most) continue;
    if (because.len) hd_buf_puts(&because, ", ");
    array_name(a, array, w, &because);
  }
  hd_text_table_cell(t, "%s", w->name);
  report_kernel_cell(t, a->module->syms[a->module->funcs[a->func].sym].name);
  hd_text_table_cell(t, "%u x %u x %u", grid[0], grid[1], grid[2]);
  for (unsigned k = 0; k < 3; k++) hd_text_table_cell(t, "%u", p->distance[k]);
  hd_text_table_cell(t, "%s", hd_map_direction_name(p->direction));
  hd_text_table_cell(t, "%s", because.data ? because.data : "-");
  hd_text_table_cell(t, "%u of %u", without, p->n_arrays);
  hd_buf_free(&because);
}
