/* The report on random programs that differ between the emulator and a device. */
#include "heddle/results.h"
#include "report/fields.h"

typedef struct whole {
  const hd_difftest_options *o;
  const hd_difftest_result *r;
} whole;

static const field report_fields[] = {{"program", MEMBER(hd_difftest_report, program)},
                                      {"culprit", MEMBER(hd_difftest_report, culprit)},
                                      {"compiler", MEMBER(hd_difftest_report, compiler)},
                                      {"text", MEMBER(hd_difftest_report, text)},
                                      {0}};
static const field count_fields[] = {{"instruction", MEMBER(hd_difftest_count, instruction)},
                                     {"bounded", MEMBER(hd_difftest_count, tally.bounded)},
                                     {"compiler", MEMBER(hd_difftest_count, tally.compiler)},
                                     {"different", MEMBER(hd_difftest_count, tally.different)},
                                     {0}};
#define OF(member) MEMBER(hd_difftest_result, member)
static const field device_fields[] = {{"device", OF(device)}, {"title", OF(title)}, {"sm", OF(sm)}, {0}};
static const field outcome_fields[] = {
    {"programs", OF(programs)},
    {"instructions", OF(instructions)},
    {"bounded", OF(tally.bounded)},
    {"compiler", OF(tally.compiler)},
    {"different", OF(tally.different)},
    {"seconds", OF(seconds)},
    {"seconds_emulator", OF(seconds_emulator)},
    {"seconds_compile", OF(seconds_compile)},
    {"seconds_device", OF(seconds_device)},
    {"instructions_that_differ", LIST(hd_difftest_result, counts, n_counts, count_fields)},
    {"reports", LIST(hd_difftest_result, reports, n_reports, report_fields)},
    {0},
};
static const field difftest_fields[] = {
    {"on", .spread = true, STRUCT_AT(whole, r, device_fields)},
    {"seed", THROUGH(whole, o, hd_difftest_options, seed)},
    {"first", THROUGH(whole, o, hd_difftest_options, first)},
    {"outcome", .spread = true, STRUCT_AT(whole, r, outcome_fields)},
    {0},
};

void hd_difftest_json(const hd_difftest_options *o, const hd_difftest_result *r, hd_buf *out) {
  report_put_fields_json(difftest_fields, &(whole){o, r}, out);
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
