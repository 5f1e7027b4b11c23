/* CLU's table 2 again: measured categories and shares beside the paper's. */
#include <stdio.h>
#include <string.h>

#include "heddle/results.h"

static void count_row(hd_categories *sum, const char *clu, bool equal, double lines, double words) {
  bool another_input = strncmp(sum->last, clu, sizeof sum->last) == 0;
  if (!another_input) {
    sum->applications++;
    sum->equal += equal;
    sum->last_equal = equal;
  } else if (sum->last_equal && !equal) {
    sum->equal--;
    sum->last_equal = false;
  }
  snprintf(sum->last, sizeof sum->last, "%.15s", clu);
  sum->rows++;
  sum->inter_lines += lines;
  sum->inter_words += words;
}

char *hd_categories_name(const char *paper) {
  static const char key[] = "CLU table 2, ";
  const char *at = strstr(paper, key);
  if (!at) return NULL;
  at += sizeof key - 1;
  return strndup(at, strcspn(at, ";,"));
}

void hd_categories_head(hd_buf *out) {
  hd_buf_puts(
      out,
      "| CLU | workload | size | category in CLU | measured | equal | partition | inter-CTA, lines | words "
      "| evidence |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
}

void hd_categories_row(hd_categories *sum, const char *clu, const char *name, const hd_workload *w,
                       const hd_advice *a, hd_buf *out) {
  double lines = hd_reuse_inter(&a->sum.reuse.all.lines), words = hd_reuse_inter(&a->sum.reuse.all.words);
  bool equal = a->category == hd_category_parse(w->category);
  hd_buf_printf(out, "| %s | %s | %s | %s | ", clu, name, w->size, w->category);
  hd_category_print(a->category, out);
  hd_buf_printf(out, " | %s | %s | %.0f%% | %.0f%% | %s |\n", equal ? "yes" : "**no**", a->partition,
                100 * lines, 100 * words, a->evidence);
  count_row(sum, clu, equal, lines, words);
}

void hd_categories_total(const hd_categories *sum, hd_buf *out) {
  if (sum->rows)
    hd_buf_printf(
        out,
        "\n%u of %u applications have CLU's category. Inter-CTA part of all reuse, mean: %.0f%% of lines, "
        "%.0f%% of words; "
        "CLU's figure 3, over 33 applications: 45%%.\n",
        sum->equal, sum->applications, 100 * sum->inter_lines / sum->rows,
        100 * sum->inter_words / sum->rows);
}
