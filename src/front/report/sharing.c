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

/* ---- An array ------------------------------------------------------------------------------------- */

typedef struct shared {
  const hd_analysis *a;
  const hd_polyhedral_array *array;
  const hd_workload *w;
  double share[3];
} shared;
enum { WHY = 1 }; /* the column of what has no numbers */

static shared share(const hd_analysis *a, const hd_polyhedral_array *array, const hd_workload *w) {
  shared s = {a, array, w, {0}};
  for (unsigned k = 0; k < 3 && array->pairs; k++)
    s.share[k] = (double)array->shared[k] / (double)array->pairs;
  return s;
}

static const hd_polyhedral_array *array_of(const void *row) { return ((const shared *)row)->array; }
static bool is_exact(const void *row) { return !array_of(row)->inexact; }
static bool is_inexact(const void *row) { return array_of(row)->inexact; }
static bool was_counted(const void *row) { return is_exact(row) && array_of(row)->counted; }
static bool is_line(const void *line) { return *(const uint32_t *)line; }
static void put_name(const void *row, hd_buf *out) {
  array_name(((const shared *)row)->a, array_of(row), ((const shared *)row)->w, out);
}
static const char *why(const void *row) {
  return hd_polyhedral_inexact_text((hd_polyhedral_inexact)array_of(row)->inexact);
}
static void put_why(const void *row, hd_buf *out) {
  if (array_of(row)->line) hd_buf_printf(out, "line %u: ", array_of(row)->line);
  hd_buf_puts(out, why(row));
}

#define OF(member) THROUGH(shared, array, hd_polyhedral_array, member)
#define SHARE(k) .kind = FIELD_PERCENT, .decimals = 1, MEMBER(shared, share[k])
static const field distance_fields[] = {{"distance", ARRAY(hd_polyhedral_array, distance)}, {0}};
static const field array_fields[] = {
    {"array", "array", .put = put_name},
    {"reads", OF(reads)},
    {"writes", OF(writes)},
    {"exact", .flag = is_exact},
    {.section = is_inexact},
    {"why", .text = why},
    {"why_line", .null = true, .has = is_line, OF(line)},
    {.section = is_exact},
    {"distance", .spread = true, STRUCT_AT(shared, array, distance_fields)},
    {.heading = "distance x", OF(distance[0])},
    {.heading = "y", OF(distance[1])},
    {.heading = "z", OF(distance[2])},
    {.section = was_counted},
    {"pairs", OF(pairs)},
    {"share", ARRAY(shared, share)},
    {.heading = "lines shared along x", SHARE(0)},
    {.heading = "y", SHARE(1)},
    {.heading = "z", SHARE(2)},
    {.section = is_inexact},
    {.heading = "", .only = WHY, .absent = "", .put = put_why},
    {0},
};

/* ---- All of them ---------------------------------------------------------------------------------- */

typedef struct arrays {
  const hd_analysis *a;
  const hd_polyhedral *p;
  const hd_workload *w;
} arrays;

static const char *direction(const void *row) {
  return hd_map_direction_name(((const arrays *)row)->p->direction);
}
static json_t *arrays_json(const void *row) {
  const arrays *s = row;
  json_t *list = json_array();
  for (uint32_t i = 0; list && i < s->p->n_arrays; i++) {
    const shared one = share(s->a, &s->p->arrays[i], s->w);
    list = report_append(list, report_fields_json(array_fields, &one));
  }
  return list;
}

static const field most_fields[] = {{"distance", ARRAY(hd_polyhedral, distance)}, {0}};
static const field sharing_fields[] = {
    {"direction", .text = direction},
    {"complete", THROUGH(arrays, p, hd_polyhedral, complete)},
    {"distance", .spread = true, STRUCT_AT(arrays, p, most_fields)},
    {"arrays", .tree = arrays_json},
    {0},
};

json_t *report_sharing_json(const hd_analysis *a, const hd_polyhedral *p, const hd_workload *w) {
  return report_fields_json(sharing_fields, &(arrays){a, p, w});
}

void report_put_sharing(const hd_analysis *a, const hd_polyhedral *p, const hd_workload *w, hd_buf *out) {
  field_sheet sheet = report_sheet(array_fields, p->complete ? 0 : WHY);
  for (uint32_t i = 0; i < p->n_arrays; i++) {
    const shared one = share(a, &p->arrays[i], w);
    report_sheet_row(&sheet, &one);
  }
  hd_buf_putc(out, '\n');
  hd_kernel_title(a->module->syms[a->module->funcs[a->func].sym].name, false, out);
  hd_buf_printf(out, ", reuse between CTAs from the code: direction %s%s\n\n",
                hd_map_direction_name(p->direction), p->complete ? "" : " (of the arrays that have numbers)");
  report_put_sheet(&sheet, out);
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
