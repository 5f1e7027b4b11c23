/* Random PTX programs on the emulator and on another device. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "heddle/difftest.h"

static json_t *report_json(const hd_difftest_report *r) {
  return json_pack("{s:I, s:s, s:b, s:s}", "program", (json_int_t)r->program, "culprit", r->culprit,
                   "compiler", r->compiler, "text", r->text);
}

static json_t *count_json(const hd_difftest_count *c) {
  return json_pack("{s:s, s:I, s:I, s:I}", "instruction", c->instruction, "bounded",
                   (json_int_t)c->tally.bounded, "compiler", (json_int_t)c->tally.compiler, "different",
                   (json_int_t)c->tally.different);
}

static int print_json(const hd_difftest_options *o, const hd_difftest_result *r) {
  json_t *reports = json_array(), *counts = json_array();
  for (size_t k = 0; k < r->n_reports; k++) json_array_append_new(reports, report_json(&r->reports[k]));
  for (size_t k = 0; k < r->n_counts; k++) json_array_append_new(counts, count_json(&r->counts[k]));
  return cli_print_json(
      json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:o}", "device",
                o->device, "title", r->title, "sm", (int)r->sm, "seed", (json_int_t)o->seed, "first",
                (json_int_t)o->first, "programs", (json_int_t)r->programs, "instructions",
                (json_int_t)r->instructions, "bounded", (json_int_t)r->tally.bounded, "compiler",
                (json_int_t)r->tally.compiler, "different", (json_int_t)r->tally.different, "seconds",
                r->seconds, "seconds_emulator", r->seconds_emulator, "seconds_compile", r->seconds_compile,
                "seconds_device", r->seconds_device, "instructions_that_differ", counts, "reports", reports));
}

/* Programs that differ, by instruction. */
static void print_counts(const hd_difftest_result *r, hd_buf *out) {
  if (!r->n_counts) return;
  hd_buf_puts(out, "within bound   optimizer  unexplained  instruction\n");
  for (size_t k = 0; k < r->n_counts; k++) {
    const hd_difftest_count *c = &r->counts[k];
    hd_buf_printf(out, "%12llu  %10llu  %11llu  %s\n", (unsigned long long)c->tally.bounded,
                  (unsigned long long)c->tally.compiler, (unsigned long long)c->tally.different,
                  c->instruction);
  }
  hd_buf_putc(out, '\n');
}

static int print_text(const hd_difftest_options *o, const hd_difftest_result *r) {
  hd_buf out = {0};
  for (size_t k = 0; k < r->n_reports; k++)
    hd_buf_printf(&out, "program %llu of seed %llu: %s\n%s\n", (unsigned long long)r->reports[k].program,
                  (unsigned long long)o->seed, r->reports[k].culprit, r->reports[k].text);
  print_counts(r, &out);
  hd_buf_printf(&out,
                "%llu programs of %llu instructions on the emulator and %s (%s, sm_%u): %llu differ within "
                "documented bounds, %llu by the optimizer of the device's compiler, %llu unexplained\n",
                (unsigned long long)r->programs, (unsigned long long)r->instructions, o->device, r->title,
                r->sm, (unsigned long long)r->tally.bounded, (unsigned long long)r->tally.compiler,
                (unsigned long long)r->tally.different);
  return cli_print(&out);
}

int cmd_difftest(int argc, char **argv) {
  hd_difftest_options o = {.device = "cuda:0", .seed = 1, .programs = 1000, .progress = cli_progress};
  uint64_t sm = 0, threads = 0, per_module = 0, reports = 0;
  bool json = false;
  const cli_option options[] = {
      {"device", 0, CLI_TEXT, &o.device, 0, "D",
       "the other side: cuda:N, or an instruction set of the emulator's own: emu:portable,\nemu:avx2, "
       "emu:avx512 (default: cuda:0)"},
      {"programs", 0, CLI_NUMBER, &o.programs, UINT32_MAX, "N", "how many (default: 1000)"},
      {"seed", 0, CLI_NUMBER, &o.seed, 0, "S", "of all programs (default: 1)"},
      {"first", 0, CLI_NUMBER, &o.first, UINT64_MAX / 2, "N",
       "number of the first: one that differs is run again by its number (default: 0)"},
      {"op", 0, CLI_TEXT, &o.select.pattern, 0, "PATTERN",
       "only instructions whose dotted word matches, e.g. 'cvt.*.f16'"},
      {"sm", 0, CLI_NUMBER, &sm, 999, "N",
       "architecture that programs are written for (default: the device's)"},
      {"reports", 0, CLI_NUMBER, &reports, 100000, "N", "differences to reduce and print (default: 20)"},
      {"per-module", 0, CLI_NUMBER, &per_module, 4096, "N", "programs compiled together (default: 64)"},
      {"threads", 0, CLI_NUMBER, &threads, 1024, "N",
       "host threads, each with a process for a GPU of its own (default: all)"},
      CLI_JSON_OPTION(json),
      {0}};
  int n, rc = cli_parse(cli_find("difftest"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (n) return cli_usage("difftest: '%s' is too much", argv[1]);
  o.select.sm = (unsigned)sm;
  o.threads = (unsigned)threads;
  o.per_module = (uint32_t)per_module;
  o.max_reports = (uint32_t)reports;
  o.devices.gpu_dir = cli_gpus_dir();
  o.ctx = "difftest";
  hd_difftest_result r;
  hd_diag d = {0};
  if (hd_difftest_run(&o, &r, &d) != HD_OK) return cli_fail(&d);
  rc = json ? print_json(&o, &r) : print_text(&o, &r);
  if (rc == EXIT_OK && r.tally.different) rc = EXIT_NO;
  hd_difftest_result_free(&r);
  return rc;
}
