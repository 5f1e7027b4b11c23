/* The result of a check, as text and as JSON. */
#include <inttypes.h>

#include "heddle/results.h"
#include "report/json.h"

void hd_check_json(const hd_check_report *c, hd_buf *out) {
  const hd_check_result *r = c->result;
  json_t *j = json_pack(
      "{s:b, s:s, s:s, s:o, s:b, s:b, s:i, s:I, s:I, s:I, s:f}", "equal", r->equal, "workload",
      c->workload->name, "size", c->workload->size, "plan", report_plan_json(c->plan), "reference",
      r->against_reference, "race_free", r->race_free, "dispatchers", (int)r->runs, "bytes_compared",
      (json_int_t)r->bytes_compared, "thread_instructions", (json_int_t)r->thread_instructions,
      "thread_instructions_rewritten", (json_int_t)r->thread_instructions_rewritten, "seconds", r->seconds);
  if (j && r->assume) json_object_set_new(j, "assume", json_string(hd_assume_text(r->assume)));
  if (j && c->device) json_object_set_new(j, "device", json_string(c->device));
  if (j && !r->equal) json_object_set_new(j, "difference", json_string(r->what));
  report_put_json(j, out);
}

void hd_check_refused_json(const char *why, hd_buf *out) {
  report_put_json(json_pack("{s:b, s:s}", "equal", 0, "refused", why), out);
}

void hd_check_text(const hd_check_report *c, hd_buf *out) {
  const hd_check_result *r = c->result;
  double before = (double)r->thread_instructions, after = (double)r->thread_instructions_rewritten;
  hd_buf_printf(out, "%s (%s), plan ", c->workload->name, c->workload->size);
  hd_plan_print(c->plan, out);
  hd_buf_printf(out, ": equal\n  %" PRIu64 " bytes agree %s %u %s%s%s\n", r->bytes_compared,
                c->device ? "in" : "under", r->runs, c->device ? "runs on the device" : "dispatchers",
                r->race_free ? "; no races were found (not looked at: printed text; threads of one CTA in "
                               "global memory)"
                             : "",
                r->against_reference ? "; the original agrees with its reference" : "");
  if (r->assume) hd_buf_printf(out, "  assumed: %s\n", hd_assume_text(r->assume));
  if (!c->device)
    hd_buf_printf(out, "  thread instructions: %" PRIu64 " original, %" PRIu64 " rewritten (%+.2f%%)\n",
                  r->thread_instructions, r->thread_instructions_rewritten,
                  before > 0 ? 100.0 * (after / before - 1) : 0.0);
}
