/* A program's hot kernels, as text, JSON and a page: one list of fields for all three. */
#include <math.h>
#include <stdlib.h>

#include "heddle/hot.h"
#include "heddle/report.h"
#include "page/page.h"
#include "report/fields.h"
#include "report/pages.h"

void hd_hot_free(hd_hot *h) {
  for (size_t k = 0; k < h->n; k++) {
    free(h->kernels[k].title);
    free(h->kernels[k].symbol);
    free(h->kernels[k].workload);
    free(h->kernels[k].plan);
    free(h->kernels[k].why);
  }
  free(h->kernels);
  free(h->program);
  *h = (hd_hot){0};
}

static double gain_of(const hd_hot_kernel *k) { return k->after_us > 0 ? k->before_us / k->after_us : 1; }

static double total(const hd_hot *h) {
  double sum = 0;
  for (size_t k = 0; k < h->n; k++) sum += h->kernels[k].seconds;
  return sum;
}

/* How many times as fast all kernels are together, as predicted; 1: no kernel has a plan. */
static double gain(const hd_hot *h) {
  double after = 0;
  for (size_t k = 0; k < h->n; k++) after += h->kernels[k].seconds / gain_of(&h->kernels[k]);
  return after > 0 ? total(h) / after : 1;
}

/* ---- A kernel ------------------------------------------------------------------------------------- */

typedef struct hot_row {
  const hd_hot *h;
  const hd_hot_kernel *kernel;
} hot_row;

static const hd_hot_kernel *kernel_of(const void *row) { return ((const hot_row *)row)->kernel; }
static bool was_looked_at(const void *row) { return kernel_of(row)->looked_at; }
static bool has_instructions(const void *row) { return kernel_of(row)->instructions; }
static bool has_plan(const void *row) { return kernel_of(row)->plan; }
static double share(const void *row) {
  return kernel_of(row)->seconds > 0 ? kernel_of(row)->seconds / total(((const hot_row *)row)->h) : NAN;
}
/* Of kernels that were not looked at, the time is that of their instructions. */
static void put_share(const void *row, hd_buf *out) {
  if (kernel_of(row)->seconds > 0)
    hd_buf_printf(out, "%s%.0f%%", ((const hot_row *)row)->h->emulated && !was_looked_at(row) ? "~" : "",
                  100 * share(row));
}
static void put_category(const void *row, hd_buf *out) { hd_category_print(kernel_of(row)->category, out); }
static const char *best_plan(const void *row) {
  const hd_hot_kernel *k = kernel_of(row);
  return k->plan ? k->plan : !k->looked_at ? NULL : k->unanswered ? "no answer" : "left as it is";
}
static double speedup(const void *row) { return gain_of(kernel_of(row)); }
static const char *proof(const void *row) { return kernel_of(row)->smaller ? "smaller size" : "yes"; }
static const char *proved(const void *row) {
  return !has_plan(row) ? "no" : kernel_of(row)->smaller ? "smaller" : "yes";
}
static bool answered(const void *row) { return !kernel_of(row)->unanswered; }

#define OF(member) THROUGH(hot_row, kernel, hd_hot_kernel, member)
static const field kernel_fields[] = {
    {"kernel", OF(symbol)},
    {"title", "kernel", OF(title)},
    {"launches", "launches", OF(launches)},
    {"share", .null = true, .real = share},
    {.heading = "share", .align = 'r', .absent = "", .put = put_share},
    {"plan", .null = true, OF(plan)},
    {"why", .null = true, OF(why)},
    {"workload", .null = true, OF(workload)},
    {"instructions", .when = has_instructions, OF(instructions)},
    {.section = was_looked_at},
    {"category", "category", .absent = "", .put = put_category},
    {"answered", .flag = answered},
    {"before_us", OF(before_us)},
    {"after_us", OF(after_us)},
    {"speedup", .real = speedup},
    {"proved", .text = proved},
    {"other_launch", OF(other_launch)},
    {.section = field_always},
    {.heading = "best plan", .absent = "", .text = best_plan},
    {.heading = "predicted",
     .kind = FIELD_RATIO,
     .decimals = 2,
     .absent = "",
     .when = has_plan,
     .real = speedup},
    {.heading = "proved", .absent = "", .when = has_plan, .text = proof},
    {.heading = "why not more", .absent = "", OF(why)},
    {0},
};

/* ---- What is said of all ------------------------------------------------------------------------ */

static size_t count_plans(const hd_hot *h) {
  size_t n = 0;
  for (size_t k = 0; k < h->n; k++) n += h->kernels[k].plan != NULL;
  return n;
}

static void put_head(const hd_hot *h, hd_buf *out) {
  hd_buf_printf(out, "%s: %zu kernel%s, recorded on %s", h->program, h->n, h->n == 1 ? "" : "s",
                h->emulated ? "the emulator" : "the GPU");
  if (h->cut)
    hd_buf_puts(out, ", which ended its launches after so much work: what came later was not seen (a "
                     "smaller input, or a larger --budget)");
  if (h->alone)
    hd_buf_printf(out,
                  "%s ended it while it computed by itself behind a launch: launches that would "
                  "have come later were not seen (a larger --budget waits longer)",
                  h->cut ? "; the emulator" : ", which");
  if (h->code) hd_buf_printf(out, "; exit code %d", h->code);
}

static void put_answer(const hd_hot *h, hd_buf *out) {
  size_t unanswered = 0, looked_at = 0;
  for (size_t k = 0; k < h->n; k++) {
    unanswered += h->kernels[k].unanswered;
    looked_at += h->kernels[k].looked_at;
  }
  if (count_plans(h))
    hd_buf_printf(out, "All kernels together: predicted %.2fx as fast, on %s", gain(h), h->gpu);
  else if (looked_at > unanswered)
    hd_buf_printf(out, "No plan that was tried is predicted to help, on %s", h->gpu);
  else
    hd_buf_printf(out, "No answer: no kernel was looked at to the end, on %s", h->gpu);
  if (unanswered) hd_buf_printf(out, "; no answer for %zu of them", unanswered);
  if (h->stopped) hd_buf_puts(out, "; it was stopped before all were looked at");
}

static void put_times(const hd_hot *h, hd_buf *out) {
  if (h->emulated)
    hd_buf_puts(out, "Shares are of the times that the model predicts (~: by instructions alone); ");
  else
    hd_buf_puts(out, "Shares are of times on the GPU; ");
  hd_buf_puts(out, "gains are the model's, of the launch that was recorded, and nothing has measured them");
}

void hd_hot_text(const hd_hot *h, size_t rows, hd_buf *out) {
  field_sheet sheet = report_sheet(kernel_fields, 0);
  for (size_t k = 0; k < h->n && k < rows; k++) report_sheet_row(&sheet, &(hot_row){h, &h->kernels[k]});
  put_head(h, out);
  hd_buf_puts(out, "\n\n");
  report_put_sheet(&sheet, out);
  if (h->n > rows) hd_buf_printf(out, "(%zu more kernel%s)\n", h->n - rows, h->n - rows == 1 ? "" : "s");
  hd_buf_putc(out, '\n');
  put_answer(h, out);
  hd_buf_puts(out, ".\n");
  put_times(h, out);
  hd_buf_puts(out, ".\n");
  if (h->page[0]) hd_buf_printf(out, "Wrote %s, and each kernel's page and PTX beside it.\n", h->page);
  if (h->pins[0]) hd_buf_printf(out, "On a GPU: heddle run --pin %s -- %s\n", h->pins, h->program);
  hd_buf_printf(out, "(%.1f s)\n", h->seconds);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static double gain_of_all(const void *row) { return gain(row); }
static json_t *kernels_json(const void *row) {
  const hd_hot *h = row;
  json_t *list = json_array();
  for (size_t k = 0; list && k < h->n; k++)
    list = report_append(list, report_fields_json(kernel_fields, &(hot_row){h, &h->kernels[k]}));
  return list;
}

static const field hot_fields[] = {
    {"program", MEMBER(hd_hot, program)},
    {"gpu", MEMBER(hd_hot, gpu)},
    {"emulated", MEMBER(hd_hot, emulated)},
    {"cut", MEMBER(hd_hot, cut)},
    {"ended_alone", MEMBER(hd_hot, alone)},
    {"stopped", MEMBER(hd_hot, stopped)},
    {"speedup", .real = gain_of_all},
    {"kernels", .tree = kernels_json},
    {"seconds", MEMBER(hd_hot, seconds)},
    {"exit_code", MEMBER(hd_hot, code)},
    {"page", .has = report_is_said, MEMBER(hd_hot, page)},
    {"pins", .has = report_is_said, MEMBER(hd_hot, pins)},
    {0},
};

void hd_hot_json(const hd_hot *h, hd_buf *out) { report_put_fields_json(hot_fields, h, out); }

/* ---- The page ----------------------------------------------------------------------------------- */

static void put_answer_of(const void *row, hd_buf *out) { put_answer(row, out); }
static void put_times_of(const void *row, hd_buf *out) { put_times(row, out); }

/* The JSON with the sentences about all kernels, which the pages' script draws. */
static const field page_fields[] = {
    {"all", .spread = true, SELF(hot_fields)},
    {"answer", .put = put_answer_of},
    {"times", .put = put_times_of},
    {0},
};

void hd_hot_html(const hd_hot *h, hd_buf *out) {
  hd_buf files = {0}, head = {0};
  report_add_page_json(&files, "hot", report_fields_json(page_fields, h));
  put_head(h, &head);
  out->failed |= files.failed || head.failed;
  if (!out->failed) page_put(out, h->program, head.data, &files);
  hd_buf_free(&files);
  hd_buf_free(&head);
}
