/* A program's kernels by time, as text and JSON. */
#include <stdlib.h>

#include "heddle/container.h"
#include "heddle/profile.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/summary.h"
#include "report/trees.h"

void hd_profile_free(hd_profile *p) {
  for (size_t k = 0; k < p->n; k++) {
    free(p->kernels[k].name);
    free(p->kernels[k].why);
  }
  free(p->kernels);
  *p = (hd_profile){0};
}

static double reached(const hd_profile *p) {
  double sum = 0;
  for (size_t k = 0; k < p->n; k++) sum += p->kernels[k].why ? 0 : p->kernels[k].seconds;
  return sum;
}

/* ---- A kernel ------------------------------------------------------------------------------------- */

typedef struct profiled {
  const hd_profile *p;
  const hd_profile_kernel *kernel;
} profiled;
enum { GPU = 1, EMULATOR = 2 }; /* whose times they are */

static const hd_profile_kernel *kernel_of(const void *row) { return ((const profiled *)row)->kernel; }
static bool was_looked_at(const void *row) { return kernel_of(row)->looked_at; }
static double share(const void *row) {
  const double all = ((const profiled *)row)->p->seconds;
  return all > 0 ? kernel_of(row)->seconds / all : 0;
}
static double microseconds(const void *row) { return 1e6 * kernel_of(row)->seconds; }
static void put_title(const void *row, hd_buf *out) { hd_kernel_title(kernel_of(row)->name, false, out); }
static void put_category(const void *row, hd_buf *out) { hd_category_print(kernel_of(row)->category, out); }
static const char *reach(const void *row) { return kernel_of(row)->why ? kernel_of(row)->why : "yes"; }

#define OF(member) THROUGH(profiled, kernel, hd_profile_kernel, member)
static const field kernel_fields[] = {
    {"kernel", OF(name)},
    {"title", "kernel", .put = put_title},
    {"launches", "launches", OF(launches)},
    {"seconds", OF(seconds)},
    {.heading = "time us", .decimals = 1, .only = GPU, .real = microseconds},
    {.heading = "emulator us", .decimals = 1, .only = EMULATOR, .real = microseconds},
    {.heading = "share", .kind = FIELD_PERCENT, .real = share},
    {"why", OF(why)},
    {.section = was_looked_at},
    {"category", "category", .absent = "", .put = put_category},
    {"reuse_lost", "reuse lost", FIELD_RATIO, 2, .absent = "", OF(lost)},
    {"at_most", "ceiling", FIELD_RATIO, 2, .absent = "", .has = report_is_positive, OF(bound)},
    {.section = field_always},
    {.heading = "reach", .text = reach},
    {0},
};

void hd_profile_text(const hd_profile *p, size_t rows, hd_buf *out) {
  field_sheet sheet = report_sheet(kernel_fields, p->emulated ? EMULATOR : GPU);
  bool any = false;
  for (size_t i = 0; i < p->n && i < rows; i++) {
    report_sheet_row(&sheet, &(profiled){p, &p->kernels[i]});
    any |= p->kernels[i].looked_at;
  }
  report_put_sheet(&sheet, out);
  report_put_count(p->n, "kernel", out);
  hd_buf_printf(out, ", %.3f ms; %.0f%% of it in kernels that plans can touch\n", p->seconds * 1e3,
                100 * (p->seconds > 0 ? reached(p) / p->seconds : 0));
  if (any)
    hd_buf_puts(out,
                "ceiling: no plan beats it on the model, and most plans miss it; heddle optimize predicts\n");
  if (p->emulated) hd_buf_puts(out, "Times are the emulator's, and say nothing about a GPU's.\n");
}

/* ---- All of them ---------------------------------------------------------------------------------- */

static double reached_seconds(const void *row) { return reached(row); }
static json_t *kernels_json(const void *row) {
  const hd_profile *p = row;
  json_t *list = json_array();
  for (size_t i = 0; list && i < p->n; i++)
    list = report_append(list, report_fields_json(kernel_fields, &(profiled){p, &p->kernels[i]}));
  return list;
}

static const field profile_fields[] = {{"seconds", MEMBER(hd_profile, seconds)},
                                       {"reached_seconds", .real = reached_seconds},
                                       {"emulated", MEMBER(hd_profile, emulated)},
                                       {"kernels", .tree = kernels_json},
                                       {0}};

json_t *report_profile_tree(const hd_profile *p) { return report_fields_json(profile_fields, p); }

void hd_profile_json(const hd_profile *p, hd_buf *out) {
  report_dump_json(report_profile_tree(p), JSON_INDENT(1), out);
  hd_buf_putc(out, '\n');
}
