/* The result of tuning, as text and as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/results.h"
#include "report/json.h"
#include "report/summary.h"
#include "report/table.h"

static const char *proof_text(hd_proof_state p) {
  static const char *const text[] = {
      [HD_PROOF_NONE] = "not proved", [HD_PROOF_EQUAL] = "proved", [HD_PROOF_SKIPPED] = "not proved"};
  return text[p];
}

/* The comparisons of the adopted plan: on the emulator and on the device, with their sizes. */
static void put_proof(const hd_workload *w, const hd_proof *p, hd_buf *out) {
  hd_buf_printf(out, "    %s on the emulator", proof_text(p->emulated));
  if (p->emulated == HD_PROOF_EQUAL)
    hd_buf_printf(out, " at size %s, grid %ux%ux%u: %" PRIu64 " bytes equal under %u dispatchers%s", p->size,
                  p->grid[0], p->grid[1], p->grid[2], p->bytes, p->dispatchers,
                  p->any_grid || p->same_grid ? "" : "; that text holds another grid's constants");
  if (p->why[0]) hd_buf_printf(out, ": %s", p->why);
  hd_buf_putc(out, '\n');
  if (p->device_bytes)
    hd_buf_printf(out, "    compared on the device at size %s, this very text: %" PRIu64 " bytes equal\n",
                  w->size, p->device_bytes);
}

static json_t *proof_json(const hd_proof *p) {
  return json_pack("{s:s, s:s, s:s, s:[i,i,i], s:b, s:b, s:i, s:I, s:I}", "emulator", proof_text(p->emulated),
                   "why", p->why, "size", p->size, "grid", (int)p->grid[0], (int)p->grid[1], (int)p->grid[2],
                   "any_grid", p->any_grid, "same_grid", p->same_grid, "dispatchers", (int)p->dispatchers,
                   "bytes", (json_int_t)p->bytes, "device_bytes", (json_int_t)p->device_bytes);
}

static void put_trials(const hd_tuning_report *s, const hd_tuned *k, hd_buf *out) {
  hd_text_table *t = hd_text_table_new("lrrl");
  uint32_t shown = 0, failed = 0, untried = k->n_left;
  if (!t) {
    out->failed = true;
    return;
  }
  static const char *const head[] = {"plan", "speedup", "pairs", ""};
  report_put_head(t, head, sizeof head / sizeof *head);
  hd_text_table_rule(t);
  for (uint32_t i = 0; i < k->n_trials; i++) {
    const hd_tune_trial *r = &k->trials[i];
    failed += r->status != HD_OK && r->status != HD_ERR_BUDGET;
    untried += r->status == HD_ERR_BUDGET;
    if (shown == s->most_trials || r->status != HD_OK) continue;
    shown++;
    report_plan_cell(t, &r->plan);
    hd_text_table_cell(t, "%.3fx", r->speedup);
    hd_text_table_cell(t, "%u", r->pairs);
    hd_text_table_cell(t, "%s", k->adopted && hd_plan_equal(&r->plan, &k->plan) ? "adopted" : "");
  }
  if (shown) hd_text_table_print(t, out);
  hd_text_table_free(t);
  hd_buf_printf(out, "  %u plans tried, %u of them refused", k->n_trials + k->n_left - untried, failed);
  if (untried) hd_buf_printf(out, "; %u not tried", untried);
  hd_buf_putc(out, '\n');
}

/* The speedup of whole launches under a threshold of bypassing; 0: it was not timed. */
static double timed_alone(const hd_tuned *k, uint32_t warps) {
  if (warps + 1 == k->vote.n || warps + 1 == k->sampled.n) return 1;
  const hd_plan p = {.bypass = {HD_BYPASS_L1, warps}}, all = {.stream = {.kind = HD_STREAM_L1}};
  for (uint32_t i = 0; i < k->n_trials; i++)
    if (k->trials[i].status == HD_OK &&
        (hd_plan_equal(&k->trials[i].plan, &p) || (!warps && hd_plan_equal(&k->trials[i].plan, &all))))
      return k->trials[i].speedup;
  return 0;
}

/* The same of a number of agents, in the company in which they were voted on. */
static double timed_agents(const hd_tuned *k, uint32_t agents) {
  double found = 0;
  for (uint32_t i = 0; i < k->n_trials; i++) {
    hd_plan p = k->trials[i].plan;
    hd_buf text = {0};
    if (k->trials[i].status != HD_OK || p.agents != (agents < k->agents.n ? agents : 0)) continue;
    p.agents = 0;
    hd_plan_print(&p, &text);
    if (text.data && strcmp(text.data, k->agents.plan) == 0) found = k->trials[i].speedup;
    hd_buf_free(&text);
  }
  return found;
}

static void put_vote(const hd_tuning_report *s, const hd_tuned *k, const hd_tune_vote *v, hd_buf *out) {
  const bool sampled = v == &k->sampled, agents = v == &k->agents, timed = s->strategy == HD_TUNE_COMPARE;
  const char *name = sampled ? "sample" : "vote";
  if (s->strategy == HD_TUNE_SEARCH) return;
  if (!v->n) {
    if (v->why[0]) hd_buf_printf(out, "  no %s%s: %s\n", name, agents ? " on agents" : "", v->why);
    return;
  }
  if (agents)
    hd_buf_printf(out, "  vote: %u of %u agents, under %s (", v->winner, v->n, v->plan);
  else
    hd_buf_printf(out, "  %s: %u of %u warps use L1 (", name, v->winner, v->n - 1);
  if (!sampled) hd_buf_printf(out, "%u launch%s, ", v->launches, v->launches == 1 ? "" : "es");
  hd_buf_printf(out, "%.2f s); by that number, %s, over the mean", v->seconds,
                sampled  ? "the speed of one CTA alone"
                : agents ? "the tasks that SMs did"
                         : "the CTAs that SMs ran");
  hd_buf_puts(out, timed ? ", and the speedup of whole launches:\n" : ":\n");
  for (uint32_t i = 0; i < v->n; i++) {
    const uint32_t number = v->least + i;
    double alone = !timed ? 0 : agents ? timed_agents(k, number) : timed_alone(k, number);
    hd_buf_printf(out, "    %2u  %.3f", number, v->share[i]);
    if (alone > 0) hd_buf_printf(out, "  %.3fx", alone);
    hd_buf_putc(out, '\n');
  }
}

static void put_kernel(const hd_tuning_report *s, const hd_workload *w, const hd_tuning *t, const hd_tuned *k,
                       hd_buf *out) {
  hd_buf plan = {0};
  hd_buf_puts(out, "\nkernel ");
  hd_kernel_title(k->kernel[0] ? k->kernel : "(all)", false, out);
  hd_buf_putc(out, '\n');
  put_vote(s, k, &k->vote, out);
  put_vote(s, k, &k->sampled, out);
  put_vote(s, k, &k->agents, out);
  if (k->n_trials) put_trials(s, k, out);
  hd_plan_print(&k->plan, &plan);
  if (k->adopted) {
    hd_buf_printf(out, "  verdict: %s, %.3fx (%.3f to %.3f at %.0f%%", plan.data, k->speedup.median,
                  k->speedup.low, k->speedup.high, 100 * k->speedup.confidence);
    if (k->places.n) hd_buf_printf(out, ", in %u places", k->places.n);
    if (t->recalled && k->basis[0]) hd_buf_printf(out, ", %s", k->basis);
    hd_buf_printf(out, "), %.1f instead of %.1f us", k->after_us, k->before_us);
    hd_buf_putc(out, '\n');
    if (!t->recalled) put_proof(w, &k->proof, out);
  } else if (t->unanswered) {
    hd_buf_printf(out, "  no verdict, %.1f us; %s\n", k->before_us, k->why);
  } else {
    hd_buf_printf(out, "  verdict: the original stays, %.1f us; %s\n", k->before_us, k->why);
  }
  hd_buf_free(&plan);
}

/* The seconds of each stage, but for stages that took next to none. */
static void put_seconds(const hd_tuning *t, hd_buf *out) {
  const char *before = " (";
  hd_tune_seconds spent = t->spent;
  hd_buf_printf(out, ": tuned in %.1f s", t->seconds);
  for (size_t i = 0; i < REPORT_SECONDS; i++) {
    double seconds = *report_seconds_part(&spent, i);
    if (seconds < 0.05) continue;
    hd_buf_printf(out, "%s%s %.1f", before, report_seconds_name(i), seconds);
    before = ", ";
  }
  hd_buf_puts(out, before[0] == ',' ? ")\n" : "\n");
}

void hd_tuning_text(const hd_tuning_report *s, hd_buf *out) {
  const hd_workload *w = s->workload;
  const hd_tuning *t = s->tuning;
  const hd_device_info *i = s->device;
  hd_buf_printf(out, "%s (%s) on %s (%s)", w->name, w->size, i->name, i->title);
  if (t->recalled && !s->verified)
    hd_buf_puts(out, ": kept from an earlier run; --again tunes again\n");
  else if (t->recalled)
    hd_buf_printf(out, ": verified in %.1f s\n", t->seconds);
  else
    put_seconds(t, out);
  if (t->assume) hd_buf_printf(out, "  assumed: %s\n", hd_assume_text(t->assume));
  for (uint32_t k = 0; k < t->n_kernels; k++) put_kernel(s, w, t, &t->kernels[k], out);
  if (t->n_kernels > 1)
    hd_buf_printf(out, "\nall kernels: %.3fx, %.1f instead of %.1f us\n", t->speedup.median, t->after_us,
                  t->before_us);
  hd_buf_putc(out, '\n');
  if (!s->gpu || (t->recalled && !s->verified)) return;
  report_put_confirmation(s->gpu, hd_gpu_has_clock(s->gpu), 1, false, t->has_counters ? &t->before : NULL,
                          out);
  report_put_part(s->gpu, t->part, "a larger --budget replays more", t->lack_ends, out);
  hd_buf_putc(out, '\n');
}

static json_t *trial_json(const hd_tune_trial *r) {
  if (r->status != HD_OK)
    return json_pack("{s:o, s:s}", "plan", report_plan_json(&r->plan),
                     r->status == HD_ERR_BUDGET ? "not_tried" : "failed", r->why);
  return json_pack("{s:o, s:f, s:i}", "plan", report_plan_json(&r->plan), "speedup", r->speedup, "pairs",
                   (int)r->pairs);
}

static json_t *vote_json(const hd_tune_vote *v) {
  if (!v->n) return v->why[0] ? json_pack("{s:s}", "why", v->why) : json_null();
  json_t *row, *shares = json_array();
  for (uint32_t i = 0; i < v->n; i++) json_array_append_new(shares, json_real(v->share[i]));
  row = json_pack("{s:i, s:i, s:o, s:i, s:f}", "winner", (int)v->winner, "least", (int)v->least, "shares",
                  shares, "launches", (int)v->launches, "seconds", v->seconds);
  if (v->plan[0]) json_object_set_new(row, "plan", json_string(v->plan));
  return row;
}

static json_t *places_json(const hd_tune_places *p) {
  if (!p->n) return json_null();
  return json_pack("{s:i, s:f, s:f, s:f}", "n", (int)p->n, "least", p->least, "most", p->most, "moved",
                   p->moved);
}

static json_t *kernel_json(const hd_tuned *k) {
  json_t *trials = json_array();
  for (uint32_t i = 0; i < k->n_trials; i++) json_array_append_new(trials, trial_json(&k->trials[i]));
  return json_pack("{s:s, s:b, s:o, s:o, s:o, s:f, s:f, s:s, s:o, s:o, s:o, s:o, s:o}", "kernel", k->kernel,
                   "adopted", k->adopted, "plan", report_plan_json(&k->plan), "speedup",
                   report_speedup_json(&k->speedup), "places", places_json(&k->places), "before_us",
                   k->before_us, "after_us", k->after_us, "why", k->why, "proof", proof_json(&k->proof),
                   "vote", vote_json(&k->vote), "sampled", vote_json(&k->sampled), "agents",
                   vote_json(&k->agents), "trials", trials);
}

static json_t *tuning_json(const hd_tuning_report *s) {
  const hd_workload *w = s->workload;
  const hd_tuning *t = s->tuning;
  json_t *kernels = json_array();
  for (uint32_t i = 0; i < t->n_kernels; i++) json_array_append_new(kernels, kernel_json(&t->kernels[i]));
  json_t *j = json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:f, s:f, s:i, s:f, s:o, s:o}", "workload", w->name,
                        "size", w->size, "device", s->device->name, "recalled", t->recalled, "speedup",
                        report_speedup_json(&t->speedup), "places", places_json(&t->places), "before_us",
                        t->before_us, "after_us", t->after_us, "tried", (int)t->tried, "seconds", t->seconds,
                        "spent", report_seconds_json(&t->spent), "kernels", kernels);
  if (j && t->assume) json_object_set_new(j, "assume", json_string(hd_assume_text(t->assume)));
  if (j && t->has_counters) {
    json_object_set_new(j, "before", report_counters_json(&t->before));
    json_object_set_new(j, "after", report_counters_json(&t->after));
  } else if (j && t->no_counters[0]) {
    json_object_set_new(j, "no_counters", json_string(t->no_counters));
  }
  return j;
}

void hd_tuning_json(const hd_tuning_report *r, hd_buf *out) { report_put_json(tuning_json(r), out); }

static json_t *parse(const char *text, size_t len) { return text ? json_loadb(text, len, 0, NULL) : NULL; }

void hd_tuning_add_second(const char *uuid, const hd_tuning *again, bool json, hd_buf *out) {
  const hd_speedup *s = &again->speedup;
  if (!json) {
    hd_buf_printf(out, "  on a second GPU, %s: %.3fx (%.3f to %.3f at %.0f%%)\n\n", uuid, s->median, s->low,
                  s->high, 100 * s->confidence);
    return;
  }
  json_t *row = parse(out->data, out->len);
  if (row)
    json_object_set_new(row, "second",
                        json_pack("{s:s, s:o}", "gpu", uuid, "speedup", report_speedup_json(s)));
  hd_buf_clear(out);
  report_put_json(row, out);
}

/* ---- Many of them ------------------------------------------------------------------------- */

struct hd_tuning_list {
  json_t *rows;
};

hd_tuning_list *hd_tuning_list_new(void) {
  hd_tuning_list *l = calloc(1, sizeof *l);
  if (l && !(l->rows = json_array())) {
    free(l);
    return NULL;
  }
  return l;
}

bool hd_tuning_list_add(hd_tuning_list *l, const char *text, size_t len) {
  return json_array_append_new(l->rows, parse(text, len)) == 0;
}

void hd_tuning_list_json(const hd_tuning_list *l, hd_buf *out) { report_put_json(json_incref(l->rows), out); }

void hd_tuning_list_free(hd_tuning_list *l) {
  if (!l) return;
  json_decref(l->rows);
  free(l);
}
