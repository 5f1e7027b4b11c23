/* A program's kernels by time, as text, JSON and a page. */
#include <jansson.h>
#include <stdlib.h>

#include "heddle/profile.h"
#include "heddle/report.h"
#include "report/html.h"

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

static void put_factor(hd_text_table *t, bool known, double factor) {
  if (known)
    hd_text_table_cell(t, "%.2fx", factor);
  else
    hd_text_table_cell(t, "%s", "");
}

void hd_profile_text(const hd_profile *p, size_t rows, hd_buf *out) {
  static const char *const head[] = {"kernel",   "launches",   "time us", "share",
                                     "category", "reuse lost", "ceiling", "reach"};
  static const size_t time = 2;
  bool any = false;
  hd_text_table *t = hd_text_table_new("lrrrlrrl");
  if (!t) {
    out->failed = true;
    return;
  }
  for (size_t k = 0; k < sizeof head / sizeof *head; k++)
    hd_text_table_cell(t, "%s", k == time && p->emulated ? "emulator us" : head[k]);
  hd_text_table_rule(t);
  for (size_t i = 0; i < p->n && i < rows; i++) {
    const hd_profile_kernel *k = &p->kernels[i];
    hd_buf category = {0};
    any |= k->looked_at;
    if (k->looked_at) hd_category_print(k->category, &category);
    hd_text_table_cell(t, "%.60s", k->name);
    hd_text_table_cell(t, "%llu", (unsigned long long)k->launches);
    hd_text_table_cell(t, "%.1f", k->seconds * 1e6);
    hd_text_table_cell(t, "%.0f%%", 100 * (p->seconds > 0 ? k->seconds / p->seconds : 0));
    hd_text_table_cell(t, "%s", category.data ? category.data : "");
    put_factor(t, k->looked_at, k->lost);
    put_factor(t, k->looked_at, k->bound);
    hd_text_table_cell(t, "%s", k->why ? k->why : "yes");
    hd_buf_free(&category);
  }
  hd_text_table_print(t, out);
  hd_text_table_free(t);
  hd_buf_printf(out, "%zu kernels, %.3f ms; %.0f%% of it in kernels that plans can touch\n", p->n,
                p->seconds * 1e3, 100 * (p->seconds > 0 ? reached(p) / p->seconds : 0));
  if (any)
    hd_buf_puts(out,
                "ceiling: what no plan beats on the model, and most plans miss; heddle optimize predicts\n");
  if (p->emulated) hd_buf_puts(out, "Times are the emulator's, and tell nothing of a GPU's.\n");
}

void hd_profile_json(const hd_profile *p, hd_buf *out) {
  json_t *list = json_array();
  for (size_t i = 0; i < p->n; i++) {
    const hd_profile_kernel *k = &p->kernels[i];
    json_t *j = json_pack("{s:s, s:I, s:f}", "kernel", k->name, "launches", (json_int_t)k->launches,
                          "seconds", k->seconds);
    if (k->why) json_object_set_new(j, "why", json_string(k->why));
    if (k->looked_at) {
      hd_buf category = {0};
      hd_category_print(k->category, &category);
      json_object_set_new(j, "category", json_string(category.data ? category.data : ""));
      json_object_set_new(j, "reuse_lost", json_real(k->lost));
      json_object_set_new(j, "at_most", json_real(k->bound));
      hd_buf_free(&category);
    }
    json_array_append_new(list, j);
  }
  json_t *all = json_pack("{s:f, s:f, s:b, s:o}", "seconds", p->seconds, "reached_seconds", reached(p),
                          "emulated", p->emulated, "kernels", list);
  char *text = all ? json_dumps(all, JSON_INDENT(1)) : NULL;
  if (text)
    hd_buf_printf(out, "%s\n", text);
  else
    out->failed = true;
  free(text);
  json_decref(all);
}

void hd_profile_html(const hd_profile *p, const char *title, hd_buf *out) {
  hd_buf_puts(out, "<!doctype html><meta charset=\"utf-8\"><title>");
  hd_buf_html(out, title);
  hd_buf_puts(out,
              "</title><style>body{font:14px sans-serif;margin:2em}td,th{padding:2px 10px;text-align:right}"
              "td:first-child,th:first-child,td:last-child,th:last-child{text-align:left}</style><h1>");
  hd_buf_html(out, title);
  hd_buf_printf(
      out,
      "</h1><p>%zu kernels, %.3f ms, %.0f%% of it in kernels that plans can touch (blue). Light blue: what "
      "no plan can save.%s</p><table><tr><th>kernel<th>launches<th>time us<th>reuse lost<th>ceiling<th>\n",
      p->n, p->seconds * 1e3, 100 * (p->seconds > 0 ? reached(p) / p->seconds : 0),
      p->emulated ? " Times are the emulator's, and tell nothing of a GPU's." : "");
  const double longest = p->n && p->kernels[0].seconds > 0 ? p->kernels[0].seconds : 1;
  for (size_t i = 0; i < p->n; i++) {
    const hd_profile_kernel *k = &p->kernels[i];
    const double width = 400 * k->seconds / longest, least = k->looked_at ? width / k->bound : width;
    hd_buf_puts(out, "<tr><td>");
    hd_buf_html(out, k->name);
    hd_buf_printf(out, "<td>%llu<td>%.1f<td>", (unsigned long long)k->launches, k->seconds * 1e6);
    if (k->looked_at)
      hd_buf_printf(out, "%.2fx<td>%.2fx", k->lost, k->bound);
    else
      hd_buf_puts(out, "<td>");
    hd_buf_printf(out,
                  "<td><svg width=\"410\" height=\"14\"><rect width=\"%.1f\" height=\"14\" fill=\"%s\"/>",
                  width, k->why ? "#9ca3af" : "#1d4ed8");
    if (!k->why) hd_buf_printf(out, "<rect width=\"%.1f\" height=\"14\" fill=\"#93c5fd\"/>", least);
    hd_buf_puts(out, "</svg> ");
    hd_buf_html(out, k->why ? k->why : "");
    hd_buf_putc(out, '\n');
  }
  hd_buf_puts(out, "</table>\n");
}
