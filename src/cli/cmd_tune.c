/* The plan that wins for workloads on a device, kept as a verdict. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tuning.h"

typedef struct options {
  const char *device, *size, *l2, *store, *strategy;
  uint64_t budget, threads, rows;
  cli_list plans;
  bool again, verify, whole, shared, no_advice, no_proof, no_counters, any_grid, json;
} options;

typedef struct session {
  options o;
  hd_device *device;
  hd_store *store;
  hd_gpu advisor;
  hd_plan *plans;
  size_t n_plans;
  hd_tune_options tune;
  json_t *rows;
  unsigned failed;
} session;

/* ---- Output ----------------------------------------------------------------------- */

static const char *proof_text(hd_proof_state p) {
  static const char *const text[] = {
      [HD_PROOF_NONE] = "not proved", [HD_PROOF_EQUAL] = "proved", [HD_PROOF_SKIPPED] = "not proved"};
  return text[p];
}

/* Which text was compared where, at which size. */
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

static void put_trials(const session *s, const hd_tuned *k, hd_buf *out) {
  hd_text_table *t = hd_text_table_new("lrrl");
  uint32_t shown = 0, failed = 0;
  if (!t) return;
  static const char *const head[] = {"plan", "speedup", "pairs", ""};
  for (size_t i = 0; i < 4; i++) hd_text_table_cell(t, "%s", head[i]);
  hd_text_table_rule(t);
  for (uint32_t i = 0; i < k->n_trials; i++) {
    const hd_tune_trial *r = &k->trials[i];
    failed += r->status != HD_OK;
    if (shown == s->o.rows || r->status != HD_OK) continue;
    shown++;
    tuning_plan_cell(t, &r->plan);
    hd_text_table_cell(t, "%.3fx", r->speedup);
    hd_text_table_cell(t, "%u", r->pairs);
    hd_text_table_cell(t, "%s", k->adopted && hd_plan_equal(&r->plan, &k->plan) ? "adopted" : "");
  }
  if (shown) hd_text_table_print(t, out);
  hd_text_table_free(t);
  hd_buf_printf(out, "  %u plans tried, %u of them refused\n", k->n_trials, failed);
}

static const char *const strategies[HD_TUNE_STRATEGIES] = {
    [HD_TUNE_SEARCH] = "search", [HD_TUNE_VOTE] = "vote", [HD_TUNE_COMPARE] = "compare"};

/* HD_TUNE_STRATEGIES: there is none of that name. */
static hd_tune_strategy find_strategy(const char *name) {
  unsigned i = 0;
  while (name && i < HD_TUNE_STRATEGIES && strcmp(name, strategies[i]) != 0) i++;
  return (hd_tune_strategy)i;
}

/* What whole launches under a threshold say; 0: it was not timed. */
static double timed_alone(const hd_tuned *k, uint32_t warps) {
  if (warps + 1 == k->vote.n) return 1;
  const hd_plan p = {.bypass = {HD_BYPASS_L1, warps}}, all = {.stream = {.kind = HD_STREAM_L1}};
  for (uint32_t i = 0; i < k->n_trials; i++)
    if (k->trials[i].status == HD_OK &&
        (hd_plan_equal(&k->trials[i].plan, &p) || (!warps && hd_plan_equal(&k->trials[i].plan, &all))))
      return k->trials[i].speedup;
  return 0;
}

static void put_vote(const session *s, const hd_tuned *k, hd_buf *out) {
  const hd_tune_vote *v = &k->vote;
  if (s->tune.strategy == HD_TUNE_SEARCH) return;
  if (!v->n) {
    if (v->why[0]) hd_buf_printf(out, "  no vote: %s\n", v->why);
    return;
  }
  hd_buf_printf(out,
                "  vote: %u of %u warps use L1 (%u launches, %.2f s); by that number, the CTAs that SMs ran, "
                "over the mean",
                v->winner, v->n - 1, v->launches, v->seconds);
  bool timed = s->tune.strategy == HD_TUNE_COMPARE;
  hd_buf_puts(out, timed ? ", and the speedup of whole launches:\n" : ":\n");
  for (uint32_t i = 0; i < v->n; i++) {
    double alone = timed ? timed_alone(k, i) : 0;
    hd_buf_printf(out, "    %2u  %.3f", i, v->share[i]);
    if (alone > 0) hd_buf_printf(out, "  %.3fx", alone);
    hd_buf_putc(out, '\n');
  }
}

static void put_kernel(const session *s, const hd_workload *w, const hd_tuning *t, const hd_tuned *k,
                       hd_buf *out) {
  hd_buf plan = {0};
  hd_buf_printf(out, "\nkernel %s\n", k->kernel[0] ? k->kernel : "(all)");
  put_vote(s, k, out);
  if (k->n_trials) put_trials(s, k, out);
  hd_plan_print(&k->plan, &plan);
  if (k->adopted) {
    hd_buf_printf(out, "  verdict: %s, %.3fx (%.3f to %.3f at %.0f%%", plan.data, k->speedup.median,
                  k->speedup.low, k->speedup.high, 100 * k->speedup.confidence);
    if (k->places.n) hd_buf_printf(out, ", in %u places", k->places.n);
    hd_buf_printf(out, "), %.1f instead of %.1f us", k->after_us, k->before_us);
    hd_buf_putc(out, '\n');
    if (!t->recalled) put_proof(w, &k->proof, out);
  } else {
    hd_buf_printf(out, "  verdict: the original stays, %.1f us; %s\n", k->before_us, k->why);
  }
  hd_buf_free(&plan);
}

/* Where the seconds went, but for what took next to none. */
static const struct part_of_seconds {
  const char *name;
  size_t at; /* in hd_tune_seconds */
} parts_of_seconds[] = {
    {"compile", offsetof(hd_tune_seconds, compile)}, {"advice", offsetof(hd_tune_seconds, advice)},
    {"buffers", offsetof(hd_tune_seconds, buffers)}, {"tables", offsetof(hd_tune_seconds, tables)},
    {"load", offsetof(hd_tune_seconds, load)},       {"check", offsetof(hd_tune_seconds, check)},
    {"time", offsetof(hd_tune_seconds, time)},       {"move", offsetof(hd_tune_seconds, move)},
    {"proof", offsetof(hd_tune_seconds, proof)},     {"count", offsetof(hd_tune_seconds, count)},
};
enum { PARTS_OF_SECONDS = sizeof parts_of_seconds / sizeof *parts_of_seconds };

static double part_of_seconds(const hd_tuning *t, size_t i) {
  return *(const double *)((const char *)&t->spent + parts_of_seconds[i].at);
}

static void put_seconds(const hd_tuning *t, hd_buf *out) {
  const char *before = " (";
  hd_buf_printf(out, ": tuned in %.1f s", t->seconds);
  for (size_t i = 0; i < PARTS_OF_SECONDS; i++) {
    if (part_of_seconds(t, i) < 0.05) continue;
    hd_buf_printf(out, "%s%s %.1f", before, parts_of_seconds[i].name, part_of_seconds(t, i));
    before = ", ";
  }
  hd_buf_puts(out, before[0] == ',' ? ")\n" : "\n");
}

static json_t *seconds_json(const hd_tuning *t) {
  json_t *j = json_object();
  for (size_t i = 0; i < PARTS_OF_SECONDS; i++)
    json_object_set_new(j, parts_of_seconds[i].name, json_real(part_of_seconds(t, i)));
  return j;
}

static int print_text(const session *s, const hd_workload *w, const hd_tuning *t) {
  const hd_device_info *i = hd_device_get_info(s->device);
  hd_buf out = {0};
  hd_buf_printf(&out, "%s (%s) on %s (%s)", w->name, w->size, i->name, i->title);
  if (t->recalled && !s->o.verify)
    hd_buf_puts(&out, ": kept from an earlier run; --again tunes anew\n");
  else if (t->recalled)
    hd_buf_printf(&out, ": verified in %.1f s\n", t->seconds);
  else
    put_seconds(t, &out);
  for (uint32_t k = 0; k < t->n_kernels; k++) put_kernel(s, w, t, &t->kernels[k], &out);
  if (t->n_kernels > 1)
    hd_buf_printf(&out, "\nall kernels: %.3fx, %.1f instead of %.1f us\n", t->speedup.median, t->after_us,
                  t->before_us);
  hd_buf_putc(&out, '\n');
  return cli_print(&out);
}

static json_t *trial_json(const hd_tune_trial *r) {
  if (r->status != HD_OK)
    return json_pack("{s:o, s:s}", "plan", tuning_plan_json(&r->plan), "failed", r->why);
  return json_pack("{s:o, s:f, s:i}", "plan", tuning_plan_json(&r->plan), "speedup", r->speedup, "pairs",
                   (int)r->pairs);
}

static json_t *vote_json(const hd_tune_vote *v) {
  if (!v->n) return v->why[0] ? json_pack("{s:s}", "why", v->why) : json_null();
  json_t *shares = json_array();
  for (uint32_t i = 0; i < v->n; i++) json_array_append_new(shares, json_real(v->share[i]));
  return json_pack("{s:i, s:o, s:i, s:f}", "winner", (int)v->winner, "shares", shares, "launches",
                   (int)v->launches, "seconds", v->seconds);
}

static json_t *places_json(const hd_tune_places *p) {
  if (!p->n) return json_null();
  return json_pack("{s:i, s:f, s:f, s:f}", "n", (int)p->n, "least", p->least, "most", p->most, "moved",
                   p->moved);
}

static json_t *kernel_json(const hd_tuned *k) {
  json_t *trials = json_array();
  for (uint32_t i = 0; i < k->n_trials; i++) json_array_append_new(trials, trial_json(&k->trials[i]));
  return json_pack("{s:s, s:b, s:o, s:o, s:o, s:f, s:f, s:s, s:o, s:o, s:o}", "kernel", k->kernel, "adopted",
                   k->adopted, "plan", tuning_plan_json(&k->plan), "speedup",
                   tuning_speedup_json(&k->speedup), "places", places_json(&k->places), "before_us",
                   k->before_us, "after_us", k->after_us, "why", k->why, "proof", proof_json(&k->proof),
                   "vote", vote_json(&k->vote), "trials", trials);
}

static json_t *tuning_json(const session *s, const hd_workload *w, const hd_tuning *t) {
  json_t *kernels = json_array();
  for (uint32_t i = 0; i < t->n_kernels; i++) json_array_append_new(kernels, kernel_json(&t->kernels[i]));
  json_t *j = json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:f, s:f, s:i, s:f, s:o, s:o}", "workload", w->name,
                        "size", w->size, "device", hd_device_get_info(s->device)->name, "recalled",
                        t->recalled, "speedup", tuning_speedup_json(&t->speedup), "places",
                        places_json(&t->places), "before_us", t->before_us, "after_us", t->after_us, "tried",
                        (int)t->tried, "seconds", t->seconds, "spent", seconds_json(t), "kernels", kernels);
  if (j && t->has_counters) {
    json_object_set_new(j, "before", cli_counters_json(&t->before));
    json_object_set_new(j, "after", cli_counters_json(&t->after));
  } else if (j && t->no_counters[0]) {
    json_object_set_new(j, "no_counters", json_string(t->no_counters));
  }
  return j;
}

/* ---- One workload --------------------------------------------------------------------- */

static hd_status find_plans(session *s, const hd_workload *w, hd_tuning *t, hd_diag *d) {
  bool found = false;
  hd_status st = HD_OK;
  if (!s->o.again && s->store) st = hd_tuning_recall(s->store, s->device, w, &s->tune, t, &found, d);
  if (st != HD_OK) return st;
  if (found && !s->o.verify) return HD_OK;
  if (s->o.verify && !found)
    return hd_fail(d, HD_ERR_USAGE, "%s (%s): there is no verdict to verify", w->name, w->size);
  st = found ? hd_tuning_verify(s->device, w, &s->tune, 0, t, d) : hd_tune(s->device, w, &s->tune, t, d);
  if (st == HD_OK && s->store) {
    st = hd_tuning_keep(s->store, s->device, w, &s->tune, t, d);
    if (st != HD_OK) hd_tuning_free(t);
  } else if (st != HD_OK && found) {
    hd_tuning_free(t);
  }
  return st;
}

static hd_status tune_one(session *s, const char *name, hd_diag *d) {
  hd_workload *w;
  hd_tuning t;
  const char *size = s->o.size ? s->o.size : tuning_size(s->device);
  hd_status st = hd_workload_open(name, cli_kernels_dir(), size, &w, d);
  if (st != HD_OK) return st;
  s->tune.ctx = (void *)name;
  st = find_plans(s, w, &t, d);
  tuning_progress_end();
  if (st == HD_OK) {
    if (s->rows)
      json_array_append_new(s->rows, tuning_json(s, w, &t));
    else if (print_text(s, w, &t) != EXIT_OK)
      st = hd_fail(d, HD_ERR_IO, "cannot write to stdout");
    hd_tuning_free(&t);
  }
  hd_workload_close(w);
  return st;
}

/* ---- All of them -------------------------------------------------------------------------- */

static hd_status prepare(session *s, hd_diag *d) {
  const options *o = &s->o;
  s->plans = calloc(o->plans.n + 1, sizeof *s->plans);
  hd_status st = s->plans ? HD_OK : hd_nomem(d);
  for (size_t i = 0; st == HD_OK && i < o->plans.n; i++)
    if ((st = hd_plan_parse(o->plans.items[i], &s->plans[s->n_plans], d)) == HD_OK) s->n_plans++;
  if (st == HD_OK) st = cli_open_device(o->device, (unsigned)o->threads, &s->device, d);
  if (st == HD_OK && strcmp(o->store ? o->store : "", "none") != 0)
    st = hd_store_open(o->store, &s->store, d);
  bool advice = st == HD_OK && !o->no_advice && tuning_advisor(s->device, &s->advisor, NULL) == HD_OK;
  s->tune = (hd_tune_options){.run = {.threads = (unsigned)o->threads, .apply.any_grid = o->any_grid},
                              .budget = (double)o->budget,
                              .keep_l2 = o->l2 && strcmp(o->l2, "keep") == 0,
                              .shared = o->shared,
                              .whole = o->whole,
                              .no_proof = o->no_proof,
                              .no_counters = o->no_counters,
                              .strategy = o->strategy ? find_strategy(o->strategy) : HD_TUNE_SEARCH,
                              .advisor = advice ? &s->advisor : NULL,
                              .plans = s->plans,
                              .n_plans = s->n_plans,
                              .progress = tuning_progress};
  return st;
}

static int close_session(session *s, int rc) {
  for (size_t i = 0; i < s->n_plans; i++) hd_plan_free(&s->plans[i]);
  free(s->plans);
  hd_store_close(s->store);
  hd_device_close(s->device);
  return rc;
}

int cmd_tune(int argc, char **argv) {
  session s = {.o = {.device = "cuda:0", .rows = 8}};
  options *o = &s.o;
  const cli_option table[] = {
      {"device", 0, CLI_TEXT, &o->device, 0, "D", "cuda:N or model:NAME (default: cuda:0)"},
      {"budget", 0, CLI_NUMBER, &o->budget, 86400, "S",
       "seconds for each workload, about (default: 6, and up to 12 where runs take long)"},
      {"plan", 0, CLI_LIST, &o->plans, 0, "P", "try this plan first; may be given several times"},
      {"again", 0, CLI_FLAG, &o->again, 0, NULL, "tune though there is a verdict"},
      {"verify", 0, CLI_FLAG, &o->verify, 0, NULL,
       "measure the verdicts anew; those that no longer win are dropped"},
      {"whole", 0, CLI_FLAG, &o->whole, 0, NULL,
       "one plan for all kernels of a workload (models always do that)"},
      {"strategy", 0, CLI_TEXT, &o->strategy, 0, "S",
       "how many warps bypass L1: search times every number, vote has SMs try them during the\nsame launches "
       "and times the one they choose, compare does both (default: search)"},
      {"size", 0, CLI_TEXT, &o->size, 0, "NAME", "the workloads' size (default: gpu; on models small)"},
      {"l2", 0, CLI_TEXT, &o->l2, 0, "flush|keep", "as for time"},
      {"shared", 0, CLI_FLAG, &o->shared, 0, NULL,
       "others use the GPU: do not take all its free memory, as the winner's test else does for\nsome tenths "
       "of a second, to try it with buffers strewn all over"},
      {"store", 0, CLI_TEXT, &o->store, 0, "FILE",
       "where verdicts are kept (default: verdicts.db in heddle's cache folder); none: nowhere"},
      {"rows", 0, CLI_NUMBER, &o->rows, 1000, "N", "plans to show of each kernel (default: 8)"},
      {"no-advice", 0, CLI_FLAG, &o->no_advice, 0, NULL,
       "do not ask the analysis of a small size what to try first"},
      {"no-proof", 0, CLI_FLAG, &o->no_proof, 0, NULL, "do not check the winner on the emulator"},
      {"no-counters", 0, CLI_FLAG, &o->no_counters, 0, NULL, "times only"},
      {"any-grid", 0, CLI_FLAG, &o->any_grid, 0, NULL, "rewrite for any grid instead of the launch's own"},
      CLI_THREADS_OPTION(o->threads),
      CLI_JSON_OPTION(o->json),
      {0}};
  int n, rc = cli_parse(cli_find("tune"), table, argc, argv, &n);
  if (rc >= 0) return rc;
  if (!n) return close_session(&s, cli_usage("tune: name one workload or more ('heddle list' shows them)"));
  if (o->l2 && strcmp(o->l2, "keep") != 0 && strcmp(o->l2, "flush") != 0)
    return close_session(&s, cli_usage("tune: --l2 takes flush or keep, not '%s'", o->l2));
  if (o->strategy && find_strategy(o->strategy) == HD_TUNE_STRATEGIES)
    return close_session(&s,
                         cli_usage("tune: --strategy takes search, vote or compare, not '%s'", o->strategy));
  if (o->again && o->verify)
    return close_session(&s,
                         cli_usage("tune: --again makes new verdicts, --verify measures those there are"));
  hd_diag d = {0};
  if (prepare(&s, &d) != HD_OK) return close_session(&s, cli_fail(&d));
  if (o->json) s.rows = json_array();
  rc = EXIT_OK;
  for (int i = 0; i < n; i++)
    if (tune_one(&s, argv[1 + i], &d) != HD_OK) rc = cli_fail(&d);
  if (s.rows) {
    int printed = cli_print_json(s.rows);
    if (printed != EXIT_OK) rc = printed;
  }
  return close_session(&s, rc);
}
