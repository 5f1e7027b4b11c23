/* A run over many workloads on disk: results.jsonl and verify.jsonl, written and read in one place.
 *
 * They grow by a line for each workload as it ends, so that a run that was cut off can be resumed; the tables
 * and the page are drawn again from all lines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "heddle/bench.h"
#include "report/fields.h"
#include "report/folder.h"
#include "report/rows.h"
#include "report/trees.h"

static const char *const files[] = {
    [HD_BENCH_RESULTS] = "results.jsonl", [HD_BENCH_VERIFIED] = "verify.jsonl"};

/* ---- Rows in memory ------------------------------------------------------------------------ */

const hd_bench_row *hd_bench_find(const hd_bench_results *r, const char *workload, const char *size) {
  for (size_t i = 0; i < r->rows.n; i++)
    if (strcmp(r->rows.data[i].workload, workload) == 0 && strcmp(r->rows.data[i].size, size) == 0)
      return &r->rows.data[i];
  return NULL;
}

const hd_verify_row *hd_verify_find(const hd_bench_results *r, const char *workload, const char *size) {
  for (size_t i = 0; i < r->verified.n; i++)
    if (strcmp(r->verified.data[i].workload, workload) == 0 && strcmp(r->verified.data[i].size, size) == 0)
      return &r->verified.data[i];
  return NULL;
}

/* A later row on a workload takes an earlier one's place. */
static bool add_bench_row(hd_bench_results *r, const hd_bench_row *row) {
  hd_bench_row *known = (hd_bench_row *)hd_bench_find(r, row->workload, row->size);
  if (!known) return hd_vec_push(&r->rows, *row);
  *known = *row;
  return true;
}

static bool add_verify_row(hd_bench_results *r, const hd_verify_row *row) {
  hd_verify_row *known = (hd_verify_row *)hd_verify_find(r, row->workload, row->size);
  if (!known) return hd_vec_push(&r->verified, *row);
  *known = *row;
  return true;
}

void hd_bench_results_free(hd_bench_results *r) {
  hd_vec_free(&r->rows);
  hd_vec_free(&r->verified);
}

/* ---- Reading ---------------------------------------------------------------------------------- */

static bool take_result(void *ctx, const json_t *line) {
  hd_bench_results *r = ctx;
  hd_bench_row row;
  return !report_is_of_place(line, &r->place) || !report_read_bench_row(line, &row) || add_bench_row(r, &row);
}

static bool take_verified(void *ctx, const json_t *line) {
  hd_bench_results *r = ctx;
  hd_verify_row row;
  return !report_is_of_place(line, &r->place) || !report_read_verify_row(line, &row) ||
         add_verify_row(r, &row);
}

hd_status hd_bench_read(hd_bench_results *r, hd_bench_file which, hd_diag *d) {
  return folder_each_line(r->folder, files[which], which == HD_BENCH_VERIFIED ? take_verified : take_result,
                          r, d);
}

/* ---- Writing ------------------------------------------------------------------------------------ */

hd_status hd_bench_prepare(const char *folder, hd_bench_file which, bool resume, hd_diag *d) {
  char path[REPORT_PATH];
  struct stat s;
  hd_status st = hd_folder_make(folder, d);
  if (st == HD_OK && !resume && stat(folder_path(folder, files[which], path), &s) == 0)
    st = hd_fail(d, HD_ERR_USAGE, "%s holds results already: --resume goes on, -o names another folder",
                 folder);
  return st;
}

static void put_word(const char *word, hd_buf *line) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
  if (word[0] && strspn(word, plain) == strlen(word)) {
    hd_buf_puts(line, word);
    return;
  }
  hd_buf_putc(line, '\'');
  for (const char *p = word; *p; p++)
    if (*p == '\'')
      hd_buf_puts(line, "'\\''");
    else
      hd_buf_putc(line, *p);
  hd_buf_putc(line, '\'');
}

hd_status hd_bench_record_command(const char *folder, int argc, char *const *argv, hd_diag *d) {
  hd_buf line = {0};
  hd_buf_puts(&line, "heddle");
  for (int i = 0; i < argc; i++) {
    hd_buf_putc(&line, ' ');
    put_word(argv[i], &line);
  }
  hd_buf_putc(&line, '\n');
  hd_status st = line.failed ? hd_nomem(d) : folder_append(folder, "commands.txt", line.data, d);
  hd_buf_free(&line);
  return st;
}

hd_status hd_bench_draw(const hd_bench_results *r, hd_diag *d) {
  char path[REPORT_PATH];
  hd_buf table = {0}, page = {0}, commands = {0};
  hd_file f;
  hd_bench_text(&r->place, r->rows.data, r->rows.n, &table);
  if (hd_file_open(folder_path(r->folder, "commands.txt", path), &f, NULL) == HD_OK) {
    hd_buf_put(&commands, f.data, f.len);
    hd_file_close(&f);
  }
  hd_bench_html(&r->place, r->rows.data, r->rows.n, commands.data ? commands.data : "", &page);
  hd_buf_free(&commands);
  hd_status st = folder_write(r->folder, "table.txt", &table, d),
            rest = folder_write(r->folder, "report.html", &page, d);
  return st == HD_OK ? rest : st;
}

hd_status hd_bench_add(hd_bench_results *r, const hd_bench_row *row, hd_diag *d) {
  hd_status st =
      folder_append_json(r->folder, files[HD_BENCH_RESULTS], report_bench_row_json(&r->place, row), d);
  if (st == HD_OK && !add_bench_row(r, row)) st = hd_nomem(d);
  return st == HD_OK ? hd_bench_draw(r, d) : st;
}

hd_status hd_verify_add(hd_bench_results *r, const hd_verify_row *row, hd_diag *d) {
  hd_status st =
      folder_append_json(r->folder, files[HD_BENCH_VERIFIED], report_verify_row_json(&r->place, row), d);
  return st == HD_OK && !add_verify_row(r, row) ? hd_nomem(d) : st;
}

hd_status hd_verify_draw(const hd_bench_results *r, double least, hd_diag *d) {
  hd_buf text = {0};
  hd_verify_results_text(r, least, &text);
  return folder_write(r->folder, "verify.txt", &text, d);
}

/* ---- All rows -------------------------------------------------------------------------------------- */

typedef struct summary {
  const hd_bench_results *results;
  hd_bench_mean mean, clu;
  int bad;
} summary;

static json_t *rows_json(const void *row) {
  const hd_bench_results *r = ((const summary *)row)->results;
  return report_bench_tree(&r->place, r->rows.data, r->rows.n);
}

static const field bench_fields[] = {{"rows", .tree = rows_json},
                                     {"clu_algorithm_mean", MEMBER(summary, clu.speedup)},
                                     {"clu_algorithm_n", MEMBER(summary, clu.n)},
                                     {"mean", MEMBER(summary, mean.speedup)},
                                     {"n", MEMBER(summary, mean.n)},
                                     {0}};

void hd_bench_json(const hd_bench_results *r, hd_buf *out) {
  const summary s = {.results = r,
                     .mean = hd_bench_geomean(r->rows.data, r->rows.n, false),
                     .clu = hd_bench_geomean(r->rows.data, r->rows.n, true)};
  report_put_fields_json(bench_fields, &s, out);
}

void hd_verify_results_text(const hd_bench_results *r, double least, hd_buf *out) {
  hd_verify_text(&r->place, r->verified.data, r->verified.n, least, out);
  if (r->unknown)
    hd_buf_printf(out, "%llu of %llu verdicts belong%s to other workloads.\n", (unsigned long long)r->unknown,
                  (unsigned long long)r->verdicts, r->unknown == 1 ? "s" : "");
  if (r->gone)
    hd_buf_printf(out, "%llu workload%s other kernels or launches now than when the verdict was made.\n",
                  (unsigned long long)r->gone, r->gone == 1 ? " has" : "s have");
}

static json_t *verified_json(const void *row) {
  const hd_bench_results *r = ((const summary *)row)->results;
  json_t *rows = json_array();
  for (size_t i = 0; rows && i < r->verified.n; i++)
    rows = report_append(rows, report_verify_row_json(&r->place, &r->verified.data[i]));
  return rows;
}

static const field verify_fields[] = {
    {"rows", .tree = verified_json},
    {"mean", MEMBER(summary, mean.speedup)},
    {"n", MEMBER(summary, mean.n)},
    {"below_or_failed", MEMBER(summary, bad)},
    {"other_workloads", THROUGH(summary, results, hd_bench_results, unknown)},
    {"other_kernels", THROUGH(summary, results, hd_bench_results, gone)},
    {0},
};

void hd_verify_json(const hd_bench_results *r, double least, hd_buf *out) {
  const summary s = {.results = r,
                     .mean = hd_verify_geomean(r->verified.data, r->verified.n),
                     .bad = (int)hd_verify_count_bad(r->verified.data, r->verified.n, least)};
  report_put_fields_json(verify_fields, &s, out);
}
