/* CLU's table 2 again: measured categories and shares beside the paper's. */
#include <stdio.h>
#include <string.h>

#include "heddle/results.h"
#include "report/fields.h"

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

typedef struct measured {
  const char *clu, *name;
  const hd_workload *w;
  const hd_advice *a;
  bool equal;
  double lines, words;
} measured;

static void put_category(const void *row, hd_buf *out) {
  hd_category_print(((const measured *)row)->a->category, out);
}
static const char *equality(const void *row) { return ((const measured *)row)->equal ? "yes" : "**no**"; }

static const field category_fields[] = {
    {.heading = "CLU", MEMBER(measured, clu)},
    {.heading = "workload", MEMBER(measured, name)},
    {.heading = "size", THROUGH(measured, w, hd_workload, size)},
    {.heading = "category in CLU", THROUGH(measured, w, hd_workload, category)},
    {.heading = "measured", .put = put_category},
    {.heading = "equal", .text = equality},
    {.heading = "partition", THROUGH(measured, a, hd_advice, partition)},
    {.heading = "inter-CTA, lines", .kind = FIELD_PERCENT, .align = 'l', MEMBER(measured, lines)},
    {.heading = "words", .kind = FIELD_PERCENT, .align = 'l', MEMBER(measured, words)},
    {.heading = "evidence", THROUGH(measured, a, hd_advice, evidence)},
    {0},
};

void hd_categories_head(hd_buf *out) { report_put_markdown_head(category_fields, out); }

void hd_categories_row(hd_categories *sum, const char *clu, const char *name, const hd_workload *w,
                       const hd_advice *a, hd_buf *out) {
  const measured one = {clu,
                        name,
                        w,
                        a,
                        a->category == hd_category_parse(w->category),
                        hd_reuse_inter(&a->sum.reuse.all.lines),
                        hd_reuse_inter(&a->sum.reuse.all.words)};
  report_put_markdown_row(category_fields, &one, out);
  count_row(sum, clu, one.equal, one.lines, one.words);
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
