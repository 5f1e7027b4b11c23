/* The result of tuning, as text and as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/results.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/seconds.h"
#include "report/summary.h"

static const char *proof_text(hd_proof_state p) {
  static const char *const text[] = {
      [HD_PROOF_NONE] = "not proved", [HD_PROOF_EQUAL] = "proved", [HD_PROOF_SKIPPED] = "not proved"};
  return text[p];
}

/* The comparisons of the adopted plan: on the emulator and on the device, with their sizes. */
static void put_proof(const hd_workload *w, const hd_proof *p, hd_buf *out) {
  hd_buf_printf(out, "    %s on the emulator", proof_text(p->emulated));
  if (p->emulated == HD_PROOF_EQUAL)
    hd_buf_printf(out, " at size %s, grid %ux%ux%u: %" PRIu64 " bytes equal under %u dispatcher%s%s", p->size,
                  p->grid[0], p->grid[1], p->grid[2], p->bytes, p->dispatchers,
                  p->dispatchers == 1 ? "" : "s",
                  p->any_grid || p->same_grid ? "" : "; that text holds another grid's constants");
  if (p->why[0]) hd_buf_printf(out, ": %s", p->why);
  hd_buf_putc(out, '\n');
  if (p->device_bytes)
    hd_buf_printf(out, "    compared on the device at size %s, this very text: %" PRIu64 " bytes equal\n",
                  w->size, p->device_bytes);
}

/* ---- Trials --------------------------------------------------------------------------------------- */

typedef struct tried {
  const hd_tuned *kernel;
  const hd_tune_trial *trial;
} tried;

static hd_status outcome(const void *row) { return ((const tried *)row)->trial->status; }
static bool was_measured(const void *row) { return outcome(row) == HD_OK; }
static bool was_not_tried(const void *row) { return outcome(row) == HD_ERR_BUDGET; }
static bool has_failed(const void *row) { return !was_measured(row) && !was_not_tried(row); }
static const char *is_adopted(const void *row) {
  const tried *t = row;
  return t->kernel->adopted && hd_plan_equal(&t->trial->plan, &t->kernel->plan) ? "adopted" : "";
}

#define OF(member) THROUGH(tried, trial, hd_tune_trial, member)
static const field trial_fields[] = {
    {"plan", "plan", OF(plan)},
    {"not_tried", .when = was_not_tried, OF(why)},
    {"failed", .when = has_failed, OF(why)},
    {.section = was_measured},
    {"speedup", "speedup", FIELD_RATIO, 3, OF(speedup)},
    {"pairs", "pairs", OF(pairs)},
    {.heading = "", .text = is_adopted},
    {0},
};

static void put_trials(const hd_tuning_report *s, const hd_tuned *k, hd_buf *out) {
  field_sheet sheet = report_sheet(trial_fields, 0);
  hd_buf table = {0};
  uint32_t failed = 0, untried = k->n_left;
  for (uint32_t i = 0; i < k->n_trials; i++) {
    const tried one = {k, &k->trials[i]};
    failed += has_failed(&one);
    untried += was_not_tried(&one);
    if (sheet.rows < s->most_trials && was_measured(&one)) report_sheet_row(&sheet, &one);
  }
  report_put_sheet(&sheet, sheet.rows ? out : &table);
  hd_buf_free(&table);
  hd_buf_puts(out, "  ");
  report_put_count(k->n_trials + k->n_left - untried, "plan", out);
  hd_buf_printf(out, " tried, %u of them refused", failed);
  if (untried) hd_buf_printf(out, "; %u not tried", untried);
  hd_buf_putc(out, '\n');
}

static json_t *trials_json(const void *row) {
  const hd_tuned *k = row;
  json_t *list = json_array();
  for (uint32_t i = 0; list && i < k->n_trials; i++)
    list = report_append(list, report_fields_json(trial_fields, &(tried){k, &k->trials[i]}));
  return list;
}

/* ---- Votes ---------------------------------------------------------------------------------------- */

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

/* ---- The text ------------------------------------------------------------------------------------- */

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
    report_put_seconds(t, out);
  if (t->assume) hd_buf_printf(out, "  assumed: %s\n", hd_assume_text(t->assume));
  for (uint32_t k = 0; k < t->n_kernels; k++) put_kernel(s, w, t, &t->kernels[k], out);
  if (t->n_kernels > 1)
    hd_buf_printf(out, "\nall kernels: %.3fx, %.1f instead of %.1f us\n", t->speedup.median, t->after_us,
                  t->before_us);
  hd_buf_putc(out, '\n');
  if (!s->gpu || (t->recalled && !s->verified)) return;
  report_put_confirmation(s->gpu, true, 1, false, t->has_counters ? &t->before : NULL, out);
  report_put_part(s->gpu, t->part, "a larger --budget replays more", t->lack_ends, out);
  hd_buf_putc(out, '\n');
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

static bool was_voted(const void *vote) { return ((const hd_tune_vote *)vote)->n > 0; }
static bool was_not_voted(const void *vote) { return !was_voted(vote); }
static bool is_told(const void *vote) { return was_voted(vote) || ((const hd_tune_vote *)vote)->why[0]; }

static const field vote_fields[] = {
    {"why", .when = was_not_voted, MEMBER(hd_tune_vote, why)},
    {.section = was_voted},
    {"winner", MEMBER(hd_tune_vote, winner)},
    {"least", MEMBER(hd_tune_vote, least)},
    {"shares", FIRST(hd_tune_vote, share, n)},
    {"launches", MEMBER(hd_tune_vote, launches)},
    {"seconds", MEMBER(hd_tune_vote, seconds)},
    {"plan", .has = report_is_said, MEMBER(hd_tune_vote, plan)},
    {0},
};

static bool has_places(const void *places) { return ((const hd_tune_places *)places)->n > 0; }
static const field places_fields[] = {{"n", MEMBER(hd_tune_places, n)},
                                      {"least", MEMBER(hd_tune_places, least)},
                                      {"most", MEMBER(hd_tune_places, most)},
                                      {"moved", MEMBER(hd_tune_places, moved)},
                                      {0}};

static const char *emulated(const void *proof) { return proof_text(((const hd_proof *)proof)->emulated); }
static const field proof_fields[] = {
    {"emulator", .text = emulated},
    {"why", MEMBER(hd_proof, why)},
    {"size", MEMBER(hd_proof, size)},
    {"grid", ARRAY(hd_proof, grid)},
    {"any_grid", MEMBER(hd_proof, any_grid)},
    {"same_grid", MEMBER(hd_proof, same_grid)},
    {"dispatchers", MEMBER(hd_proof, dispatchers)},
    {"bytes", MEMBER(hd_proof, bytes)},
    {"device_bytes", MEMBER(hd_proof, device_bytes)},
    {0},
};

static const field kernel_fields[] = {
    {"kernel", MEMBER(hd_tuned, kernel)},
    {"adopted", MEMBER(hd_tuned, adopted)},
    {"plan", MEMBER(hd_tuned, plan)},
    {"speedup", MEMBER(hd_tuned, speedup)},
    {"places", .null = true, .has = has_places, STRUCT(hd_tuned, places, places_fields)},
    {"before_us", MEMBER(hd_tuned, before_us)},
    {"after_us", MEMBER(hd_tuned, after_us)},
    {"why", MEMBER(hd_tuned, why)},
    {"proof", STRUCT(hd_tuned, proof, proof_fields)},
    {"vote", .null = true, .has = is_told, STRUCT(hd_tuned, vote, vote_fields)},
    {"sampled", .null = true, .has = is_told, STRUCT(hd_tuned, sampled, vote_fields)},
    {"agents", .null = true, .has = is_told, STRUCT(hd_tuned, agents, vote_fields)},
    {"trials", .tree = trials_json},
    {0},
};

static bool was_counted(const void *row) { return ((const hd_tuning *)row)->has_counters; }
static bool was_not_counted(const void *row) { return !was_counted(row); }
static const char *assumption(const void *row) {
  const unsigned assume = ((const hd_tuning *)row)->assume;
  return assume ? hd_assume_text(assume) : NULL;
}

static const field outcome_fields[] = {
    {"recalled", MEMBER(hd_tuning, recalled)},
    {"speedup", MEMBER(hd_tuning, speedup)},
    {"places", .null = true, .has = has_places, STRUCT(hd_tuning, places, places_fields)},
    {"before_us", MEMBER(hd_tuning, before_us)},
    {"after_us", MEMBER(hd_tuning, after_us)},
    {"tried", MEMBER(hd_tuning, tried)},
    {"seconds", MEMBER(hd_tuning, seconds)},
    {"spent", STRUCT(hd_tuning, spent, report_seconds_fields)},
    {"kernels", LIST(hd_tuning, kernels, n_kernels, kernel_fields)},
    {"assume", .text = assumption},
    {"before", .when = was_counted, MEMBER(hd_tuning, before)},
    {"after", .when = was_counted, MEMBER(hd_tuning, after)},
    {"no_counters", .when = was_not_counted, .has = report_is_said, MEMBER(hd_tuning, no_counters)},
    {0},
};
static const field tuning_fields[] = {
    {"workload", THROUGH(hd_tuning_report, workload, hd_workload, name)},
    {"size", THROUGH(hd_tuning_report, workload, hd_workload, size)},
    {"device", THROUGH(hd_tuning_report, device, hd_device_info, name)},
    {"tuning", .spread = true, STRUCT_AT(hd_tuning_report, tuning, outcome_fields)},
    {0},
};

void hd_tuning_json(const hd_tuning_report *r, hd_buf *out) { report_put_fields_json(tuning_fields, r, out); }

static json_t *parse(const char *text, size_t len) { return text ? json_loadb(text, len, 0, NULL) : NULL; }

typedef struct second {
  const char *uuid;
  hd_speedup speedup;
} second;
static const field second_fields[] = {
    {"gpu", MEMBER(second, uuid)}, {"speedup", MEMBER(second, speedup)}, {0}};

void hd_tuning_add_second(const char *uuid, const hd_tuning *again, bool json, hd_buf *out) {
  const second measured = {uuid, again->speedup};
  const hd_speedup *s = &again->speedup;
  if (!json) {
    hd_buf_printf(out, "  on a second GPU, %s: %.3fx (%.3f to %.3f at %.0f%%)\n\n", uuid, s->median, s->low,
                  s->high, 100 * s->confidence);
    return;
  }
  json_t *row = parse(out->data, out->len);
  if (row && json_object_set_new(row, "second", report_fields_json(second_fields, &measured)) != 0)
    out->failed = true;
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
