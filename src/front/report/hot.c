/* A program's hot kernels, as text, JSON and a page: one list of fields for all three. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/hot.h"
#include "heddle/report.h"
#include "page/page.h"
#include "report/json.h"
#include "report/pages.h"
#include "report/table.h"

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

/* ---- Fields ------------------------------------------------------------------------------------ */

static void put_kernel(const hd_hot *h, const hd_hot_kernel *k, hd_buf *out) { hd_buf_puts(out, k->title); }

static void put_launches(const hd_hot *h, const hd_hot_kernel *k, hd_buf *out) {
  hd_buf_printf(out, "%llu", (unsigned long long)k->launches);
}

/* Of kernels that were not looked at, the time is that of their instructions. */
static void put_share(const hd_hot *h, const hd_hot_kernel *k, hd_buf *out) {
  if (k->seconds > 0)
    hd_buf_printf(out, "%s%.0f%%", h->emulated && !k->looked_at ? "~" : "", 100 * k->seconds / total(h));
}

static void put_category(const hd_hot *h, const hd_hot_kernel *k, hd_buf *out) {
  if (k->looked_at) hd_category_print(k->category, out);
}

static void put_plan(const hd_hot *h, const hd_hot_kernel *k, hd_buf *out) {
  hd_buf_puts(out, k->plan ? k->plan : !k->looked_at ? "" : k->unanswered ? "no answer" : "left as it is");
}

static void put_gain(const hd_hot *h, const hd_hot_kernel *k, hd_buf *out) {
  if (k->plan) hd_buf_printf(out, "%.2fx", gain_of(k));
}

static void put_proof(const hd_hot *h, const hd_hot_kernel *k, hd_buf *out) {
  if (k->plan) hd_buf_puts(out, k->smaller ? "smaller size" : "yes");
}

static void put_why(const hd_hot *h, const hd_hot_kernel *k, hd_buf *out) {
  hd_buf_puts(out, k->why ? k->why : "");
}

static const struct {
  const char *head;
  char align;
  void (*put)(const hd_hot *h, const hd_hot_kernel *k, hd_buf *out);
} fields[] = {
    {"kernel", 'l', put_kernel},     {"launches", 'r', put_launches}, {"share", 'r', put_share},
    {"category", 'l', put_category}, {"best plan", 'l', put_plan},    {"predicted", 'r', put_gain},
    {"proved", 'l', put_proof},      {"why not more", 'l', put_why},
};
enum { FIELDS = sizeof fields / sizeof *fields };

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
    hd_buf_puts(out, ", which ended it after so much work: what came later was not seen (a smaller "
                     "input, or a larger --budget)");
  if (h->code) hd_buf_printf(out, "; exit code %d", h->code);
}

static void put_answer(const hd_hot *h, hd_buf *out) {
  size_t unanswered = 0;
  for (size_t k = 0; k < h->n; k++) unanswered += h->kernels[k].unanswered;
  if (count_plans(h))
    hd_buf_printf(out, "All kernels together: predicted %.2fx as fast, on %s", gain(h), h->gpu);
  else
    hd_buf_printf(out, "No plan is predicted to help, on %s", h->gpu);
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
  char aligns[FIELDS + 1] = "";
  for (size_t f = 0; f < FIELDS; f++) aligns[f] = fields[f].align;
  hd_text_table *t = hd_text_table_new(aligns);
  if (!t) {
    out->failed = true;
    return;
  }
  put_head(h, out);
  hd_buf_puts(out, "\n\n");
  for (size_t f = 0; f < FIELDS; f++) hd_text_table_cell(t, "%s", fields[f].head);
  hd_text_table_rule(t);
  for (size_t k = 0; k < h->n && k < rows; k++)
    for (size_t f = 0; f < FIELDS; f++) {
      hd_buf cell = {0};
      fields[f].put(h, &h->kernels[k], &cell);
      hd_text_table_cell(t, "%s", cell.data ? cell.data : "");
      out->failed |= cell.failed;
      hd_buf_free(&cell);
    }
  hd_text_table_print(t, out);
  hd_text_table_free(t);
  if (h->n > rows) hd_buf_printf(out, "(%zu more kernels)\n", h->n - rows);
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

static json_t *text_or_null(const char *text) { return text ? json_string(text) : json_null(); }

static json_t *kernel_json(const hd_hot *h, const hd_hot_kernel *k) {
  json_t *j = json_pack(
      "{s:s, s:s, s:I, s:o, s:o, s:o, s:o}", "kernel", k->symbol, "title", k->title, "launches",
      (json_int_t)k->launches, "share", k->seconds > 0 ? json_real(k->seconds / total(h)) : json_null(),
      "plan", text_or_null(k->plan), "why", text_or_null(k->why), "workload", text_or_null(k->workload));
  if (k->instructions) json_object_set_new(j, "instructions", json_integer((json_int_t)k->instructions));
  if (!k->looked_at) return j;
  hd_buf category = {0};
  hd_category_print(k->category, &category);
  json_object_set_new(j, "category", report_text_json(&category));
  json_object_set_new(j, "answered", json_boolean(!k->unanswered));
  json_object_set_new(j, "before_us", json_real(k->before_us));
  json_object_set_new(j, "after_us", json_real(k->after_us));
  json_object_set_new(j, "speedup", json_real(gain_of(k)));
  json_object_set_new(j, "proved", json_string(!k->plan ? "no" : k->smaller ? "smaller" : "yes"));
  json_object_set_new(j, "other_launch", json_boolean(k->other_launch));
  return j;
}

static json_t *hot_json(const hd_hot *h) {
  json_t *list = json_array();
  for (size_t k = 0; k < h->n; k++) json_array_append_new(list, kernel_json(h, &h->kernels[k]));
  json_t *j = json_pack("{s:s, s:s, s:b, s:b, s:b, s:f, s:o, s:f}", "program", h->program, "gpu", h->gpu,
                        "emulated", h->emulated, "cut", h->cut, "stopped", h->stopped, "speedup", gain(h),
                        "kernels", list, "seconds", h->seconds);
  if (j) json_object_set_new(j, "exit_code", json_integer(h->code));
  if (j && h->page[0]) json_object_set_new(j, "page", json_string(h->page));
  if (j && h->pins[0]) json_object_set_new(j, "pins", json_string(h->pins));
  return j;
}

void hd_hot_json(const hd_hot *h, hd_buf *out) { report_put_json(hot_json(h), out); }

/* ---- The page ----------------------------------------------------------------------------------- */

static void set_said(json_t *j, const char *key, const hd_hot *h, void (*put)(const hd_hot *, hd_buf *)) {
  hd_buf text = {0};
  put(h, &text);
  if (j) json_object_set_new(j, key, report_text_json(&text));
  hd_buf_free(&text);
}

/* The JSON with the sentences about all kernels, which the pages' script draws. */
void hd_hot_html(const hd_hot *h, hd_buf *out) {
  hd_buf files = {0}, head = {0};
  json_t *j = hot_json(h);
  set_said(j, "answer", h, put_answer);
  set_said(j, "times", h, put_times);
  put_head(h, &head);
  report_add_page_json(&files, "hot", j);
  out->failed |= files.failed || head.failed;
  if (!out->failed) page_put(out, h->program, head.data, &files);
  hd_buf_free(&files);
  hd_buf_free(&head);
}
