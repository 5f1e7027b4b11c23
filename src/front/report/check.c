/* The result of a check, as text and as JSON. */
#include <inttypes.h>

#include "heddle/results.h"
#include "report/fields.h"

static bool is_different(const void *row) { return !((const hd_check_report *)row)->result->equal; }

static const char *assumption(const void *row) {
  const unsigned assume = ((const hd_check_report *)row)->result->assume;
  return assume ? hd_assume_text(assume) : NULL;
}

static const char *no_reference(const void *row) {
  const char *why = ((const hd_check_report *)row)->result->no_reference;
  return why[0] ? why : NULL;
}

#define OF(member) THROUGH(hd_check_report, result, hd_check_result, member)
static const field check_fields[] = {
    {"equal", OF(equal)},
    {"workload", THROUGH(hd_check_report, workload, hd_workload, name)},
    {"size", THROUGH(hd_check_report, workload, hd_workload, size)},
    {"plan", POINTED(hd_check_report, plan)},
    {"reference", OF(against_reference)},
    {"no_reference", .text = no_reference},
    {"race_free", OF(race_free)},
    {"dispatchers", OF(runs)},
    {"bytes_compared", OF(bytes_compared)},
    {"thread_instructions", OF(thread_instructions)},
    {"thread_instructions_rewritten", OF(thread_instructions_rewritten)},
    {"seconds", OF(seconds)},
    {"assume", .text = assumption},
    {"device", MEMBER(hd_check_report, device)},
    {"difference", .when = is_different, OF(what)},
    {0},
};

void hd_check_json(const hd_check_report *c, hd_buf *out) { report_put_fields_json(check_fields, c, out); }

static bool no(const void *row) { return false; }
static const char *why_refused(const void *why) { return why; }
static const field refused_fields[] = {{"equal", .flag = no}, {"refused", .text = why_refused}, {0}};

void hd_check_refused_json(const char *why, hd_buf *out) { report_put_fields_json(refused_fields, why, out); }

void hd_check_text(const hd_check_report *c, hd_buf *out) {
  const hd_check_result *r = c->result;
  double before = (double)r->thread_instructions, after = (double)r->thread_instructions_rewritten;
  hd_buf_printf(out, "%s (%s), plan ", c->workload->name, c->workload->size);
  hd_plan_print(c->plan, out);
  hd_buf_printf(out, ": equal\n  %" PRIu64 " bytes agree %s %u %s%s%s%s%s\n", r->bytes_compared,
                c->device ? "in" : "under", r->runs, c->device ? "run" : "dispatcher",
                r->runs == 1 ? "" : "s", c->device ? " on the device" : "",
                r->race_free
                    ? "; no races were found (not checked: printed text; threads of one CTA in global memory)"
                    : "",
                r->against_reference ? "; the original agrees with its reference" : "");
  if (r->no_reference[0]) hd_buf_printf(out, "  not compared with its reference: %s\n", r->no_reference);
  if (r->assume) hd_buf_printf(out, "  assumed: %s\n", hd_assume_text(r->assume));
  if (!c->device)
    hd_buf_printf(out, "  thread instructions: %" PRIu64 " original, %" PRIu64 " rewritten (%+.2f%%)\n",
                  r->thread_instructions, r->thread_instructions_rewritten,
                  before > 0 ? 100.0 * (after / before - 1) : 0.0);
}
