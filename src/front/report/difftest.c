/* The report on random programs that differ between the emulator and a device. */
#include "heddle/results.h"
#include "report/json.h"

static json_t *report_json(const hd_difftest_report *r) {
  return json_pack("{s:I, s:s, s:b, s:s}", "program", (json_int_t)r->program, "culprit", r->culprit,
                   "compiler", r->compiler, "text", r->text);
}

static json_t *count_json(const hd_difftest_count *c) {
  return json_pack("{s:s, s:I, s:I, s:I}", "instruction", c->instruction, "bounded",
                   (json_int_t)c->tally.bounded, "compiler", (json_int_t)c->tally.compiler, "different",
                   (json_int_t)c->tally.different);
}

void hd_difftest_json(const hd_difftest_options *o, const hd_difftest_result *r, hd_buf *out) {
  json_t *reports = json_array(), *counts = json_array();
  for (size_t k = 0; k < r->n_reports; k++) json_array_append_new(reports, report_json(&r->reports[k]));
  for (size_t k = 0; k < r->n_counts; k++) json_array_append_new(counts, count_json(&r->counts[k]));
  report_put_json(
      json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:o}", "device",
                r->device, "title", r->title, "sm", (int)r->sm, "seed", (json_int_t)o->seed, "first",
                (json_int_t)o->first, "programs", (json_int_t)r->programs, "instructions",
                (json_int_t)r->instructions, "bounded", (json_int_t)r->tally.bounded, "compiler",
                (json_int_t)r->tally.compiler, "different", (json_int_t)r->tally.different, "seconds",
                r->seconds, "seconds_emulator", r->seconds_emulator, "seconds_compile", r->seconds_compile,
                "seconds_device", r->seconds_device, "instructions_that_differ", counts, "reports", reports),
      out);
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

void hd_difftest_text(const hd_difftest_options *o, const hd_difftest_result *r, hd_buf *out) {
  for (size_t k = 0; k < r->n_reports; k++)
    hd_buf_printf(out, "program %llu of seed %llu: %s\n%s\n", (unsigned long long)r->reports[k].program,
                  (unsigned long long)o->seed, r->reports[k].culprit, r->reports[k].text);
  print_counts(r, out);
  hd_buf_printf(out,
                "%llu programs of %llu instructions on the emulator and %s (%s, sm_%u): %llu differ within "
                "documented bounds, %llu by the optimizer of the device's compiler, %llu unexplained\n",
                (unsigned long long)r->programs, (unsigned long long)r->instructions, r->device, r->title,
                r->sm, (unsigned long long)r->tally.bounded, (unsigned long long)r->tally.compiler,
                (unsigned long long)r->tally.different);
}
