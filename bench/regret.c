/* The tuner's regret: the speedup of its choice against the best plan of the space, every plan being
 * measured.
 *
 *     bench_regret [OPTION...] -o FILE WORKLOAD...     measure, and append to FILE; then the table
 *     bench_regret -o FILE                             the table of what FILE holds
 *
 *     --device NAME   where (cuda:0)
 *     --size SIZE     of the workloads (gpu)
 *     --seconds S     of all of it, about: a later run goes on where this one ended (no limit)
 *     --each S        of measuring the plans of one workload, about (the seconds over the workloads)
 *     --budget S      of the tuner (its default)
 *     --most N        plans of one kernel (no limit)
 *     --no-advice     the tuner's advisor is not asked
 *
 * FILE is lines of JSON. A plan's line is written as soon as it is measured, so that whatever ends a run
 * loses one plan at most. Lines are told apart by their fields:
 *
 *     workload, tuned: kernels with the tuner's plan, and facts from a trace; spent: seconds by stage
 *     workload, kernel, plan, and ratio and rounds or why
 *     workload, kernel, best, chosen: plans with their speedups in the last contest; complete: no plan left
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/report.h"
#include "tune/exhaust.h"
#include "tune/tuner.h"

enum { CONTEST = 6, CONTEST_PLACES = 4, CONTEST_MOST = 40, CONTEST_LEAST = 8 };
static const double contest_seconds = 1;
static const double least_seconds = 1e-3; /* for plans, where their time is up: 0 is no limit */

typedef struct options {
  const char *device, *size, *file;
  double seconds, each, budget;
  size_t most;
  bool no_advice;
} options;

typedef struct job {
  const options *o;
  hd_device *device;
  hd_gpu advisor;
  bool has_advisor;
  HD_VEC(json_t *) lines; /* of the file, and those that were added */
  FILE *out;
  double start;
} job;

/* ---- The file ----------------------------------------------------------------------- */

static const char *text_of(const json_t *j, const char *name) {
  const char *s = json_string_value(json_object_get(j, name));
  return s ? s : "";
}

static double number_of(const json_t *j, const char *name) {
  return json_number_value(json_object_get(j, name));
}

static hd_status keep(job *b, json_t *line, hd_diag *d) {
  if (line && hd_vec_push(&b->lines, line)) return HD_OK;
  json_decref(line);
  return hd_nomem(d);
}

static hd_status put_line(job *b, json_t *line, hd_diag *d) {
  hd_status st = keep(b, line, d);
  if (st != HD_OK) return st;
  char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(7));
  if (!text) return hd_nomem(d);
  bool ok = fprintf(b->out, "%s\n", text) > 0 && fflush(b->out) == 0;
  free(text);
  return ok ? HD_OK : hd_fail(d, HD_ERR_IO, "%s: cannot be written", b->o->file);
}

/* A last line that was cut off is left out, and begins a new one. */
static hd_status read_lines(job *b, hd_diag *d) {
  FILE *in = fopen(b->o->file, "r");
  char *text = NULL;
  size_t room = 0;
  ssize_t n = 0;
  hd_status st = HD_OK;
  bool whole = true;
  while (in && st == HD_OK && (n = getline(&text, &room, in)) > 0) {
    json_t *line = json_loadb(text, (size_t)n, 0, NULL);
    whole = text[n - 1] == '\n';
    if (line) st = keep(b, line, d);
  }
  free(text);
  if (in) fclose(in);
  if (st != HD_OK) return st;
  b->out = fopen(b->o->file, "a");
  if (!b->out) return hd_fail(d, HD_ERR_IO, "%s: cannot be opened", b->o->file);
  if (!whole) fputc('\n', b->out);
  return HD_OK;
}

/* The last line of this workload (and kernel, unless NULL) that has such a field. */
static const json_t *find_line(const job *b, const char *workload, const char *kernel, const char *field) {
  for (size_t i = b->lines.n; i-- > 0;) {
    const json_t *j = b->lines.data[i];
    if (strcmp(text_of(j, "workload"), workload) == 0 && json_object_get(j, field) &&
        (!kernel || strcmp(text_of(j, "kernel"), kernel) == 0))
      return j;
  }
  return NULL;
}

static json_t *plan_json(const hd_plan *p) {
  hd_buf text = {0};
  hd_plan_print(p, &text);
  json_t *j = json_string(text.data ? text.data : "");
  hd_buf_free(&text);
  return j;
}

/* ---- The tuner's choice ------------------------------------------------------------- */

static json_t *spent_json(const hd_tune_seconds *s) {
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "compile", s->compile, "advice",
                   s->advice, "buffers", s->buffers, "tables", s->tables, "load", s->load, "check", s->check,
                   "time", s->time, "move", s->move, "proof", s->proof, "count", s->count);
}

static json_t *tuned_json(const hd_tuned *k) {
  bool affinity = false, heavy = false, streams = false;
  json_t *tried = json_array();
  for (uint32_t i = 0; i < k->n_trials; i++) {
    const hd_plan *p = &k->trials[i].plan;
    affinity |= p->order.kind == HD_ORDER_AFFINITY;
    heavy |= p->order.kind == HD_ORDER_HEAVY_FIRST;
    streams |= p->stream.kind == HD_STREAM_AUTO;
    json_array_append_new(tried, plan_json(p));
  }
  return json_pack("{s:s, s:o, s:f, s:b, s:b, s:b, s:o}", "kernel", k->kernel, "plan", plan_json(&k->plan),
                   "speedup", k->speedup.median, "affinity", affinity, "heavy_first", heavy, "streams",
                   streams, "tried", tried);
}

static hd_status tune(job *b, const hd_workload *w, hd_diag *d) {
  hd_tuning t;
  hd_tune_options o = {.budget = b->o->budget, .advisor = b->has_advisor ? &b->advisor : NULL};
  hd_status st = hd_tune(b->device, w, &o, &t, d);
  if (st != HD_OK) return st;
  json_t *kernels = json_array();
  for (uint32_t i = 0; i < t.n_kernels; i++) json_array_append_new(kernels, tuned_json(&t.kernels[i]));
  json_t *line =
      json_pack("{s:s, s:s, s:o, s:f, s:I, s:o}", "workload", w->name, "size", w->size, "tuned", kernels,
                "seconds", t.seconds, "tried", (json_int_t)t.tried, "spent", spent_json(&t.spent));
  hd_tuning_free(&t);
  return put_line(b, line, d);
}

/* ---- All plans of a kernel ----------------------------------------------------------- */

typedef struct unit_job {
  job *b;
  const hd_workload *w;
  const char *kernel; /* "": all */
  const json_t *tuned;
  device_bench *bench;
  exhaust all;
  double seconds; /* for the plans; 0: no limit */
  size_t measured;
} unit_job;

static hd_status found(void *ctx, const search_trial *t, hd_diag *d) {
  unit_job *u = ctx;
  json_t *line =
      json_pack("{s:s, s:s, s:o}", "workload", u->w->name, "kernel", u->kernel, "plan", plan_json(&t->plan));
  if (line && t->status == HD_OK) {
    json_object_set_new(line, "ratio", json_real(t->score));
    json_object_set_new(line, "rounds", json_integer(t->n));
  } else if (line) {
    json_object_set_new(line, "why", json_string(t->why));
  }
  u->measured++;
  return put_line(u->b, line, d);
}

static hd_status put_plan(unit_job *u, const char *plan, double score, uint32_t rounds, const char *why,
                          hd_diag *d) {
  search_trial t = {.score = score, .n = rounds, .status = why[0] ? HD_ERR_REFUSED : HD_OK};
  hd_status st = hd_plan_parse(plan, &t.plan, d);
  if (st != HD_OK) return st;
  snprintf(t.why, sizeof t.why, "%s", why);
  st = exhaust_put(&u->all, &t, d);
  return st;
}

/* Plans that earlier runs measured enter first, with their results, then the plans that the tuner tried. */
static hd_status recall(unit_job *u, hd_diag *d) {
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < u->b->lines.n; i++) {
    const json_t *j = u->b->lines.data[i];
    if (strcmp(text_of(j, "workload"), u->w->name) != 0 || strcmp(text_of(j, "kernel"), u->kernel) != 0 ||
        !json_object_get(j, "plan"))
      continue;
    st = put_plan(u, text_of(j, "plan"), number_of(j, "ratio"), (uint32_t)number_of(j, "rounds"),
                  text_of(j, "why"), d);
  }
  size_t i;
  json_t *plan;
  json_array_foreach(json_object_get(u->tuned, "tried"), i, plan) {
    if (st == HD_OK) st = put_plan(u, json_string_value(plan), 0, 0, "", d);
  }
  return st;
}

/* The best ones, and the tuner's choice (the last; it may be the baseline), in fresh rounds. */
static hd_status hold_contest(unit_job *u, double us, hd_diag *d) {
  hd_plan plans[CONTEST + 1], choice, best = {0};
  hd_speedup speedups[CONTEST + 1], chosen = {.median = 1, .low = 1, .high = 1}, most = chosen;
  size_t at[CONTEST], n = exhaust_rank(&u->all, at, CONTEST);
  double rounds = contest_seconds / (us * 1e-6 * (double)(n + 2));
  hd_status st = hd_plan_parse(text_of(u->tuned, "plan"), &choice, d);
  if (st != HD_OK) return st;
  for (size_t i = 0; i < n; i++) plans[i] = u->all.trials.data[at[i]].plan;
  bool changed = !hd_plan_is_baseline(&choice);
  if (changed) plans[n] = choice;
  tuner_bench bench = device_bench_interface(u->bench);
  st = exhaust_contest(&bench, u->all.kernel, plans, n + changed,
                       rounds < CONTEST_LEAST ? CONTEST_LEAST : (uint32_t)fmin(rounds, CONTEST_MOST),
                       CONTEST_PLACES, speedups, d);
  if (st == HD_OK && changed) chosen = most = speedups[n];
  if (changed) best = choice;
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    if (speedups[i].median <= most.median) continue;
    most = speedups[i];
    best = plans[i];
  }
  json_t *line =
      json_pack("{s:s, s:s, s:f, s:I, s:b, s:o, s:f, s:f, s:o, s:f, s:f}", "workload", u->w->name, "kernel",
                u->kernel, "us", us, "plans", (json_int_t)u->all.trials.n, "complete", u->all.complete,
                "chosen", plan_json(&choice), "chosen_speedup", chosen.median, "chosen_low", chosen.low,
                "best", plan_json(&best), "best_speedup", most.median, "best_low", most.low);
  if (st == HD_OK) return put_line(u->b, line, d);
  json_decref(line);
  return st;
}

static hd_status exhaust_unit(unit_job *u, const tuner_unit *unit, hd_diag *d) {
  hd_plan_space space;
  tuner_bench bench = device_bench_interface(u->bench);
  device_bench_watch(u->bench, unit->kernel);
  u->all.kernel = unit->kernel;
  hd_status st = hd_advise_space(u->w, unit->launch, NULL, &space, d);
  if (st != HD_OK) return st;
  space.n_sms = hd_device_get_info(u->b->device)->n_sms;
  space.has_affinity = json_is_true(json_object_get(u->tuned, "affinity"));
  space.has_heavy_first = json_is_true(json_object_get(u->tuned, "heavy_first"));
  space.has_streams = json_is_true(json_object_get(u->tuned, "streams"));
  if (device_bench_resident(u->bench, unit->launch, &space.resident, NULL) != HD_OK) space.resident = 0;
  exhaust_options o = {.seconds = u->seconds, .most = u->b->o->most, .found = found, .ctx = u};
  st = recall(u, d);
  if (st == HD_OK) st = exhaust_run(&u->all, &bench, &space, &o, d);
  if (st == HD_OK) st = hold_contest(u, unit->us, d);
  fprintf(stderr, "%s %s: %zu plans, %zu measured now%s\n", u->w->name, u->kernel, u->all.trials.n,
          u->measured, u->all.complete ? "" : ", more to come");
  return st;
}

static const json_t *tuned_kernel(const json_t *line, const char *kernel) {
  size_t i;
  json_t *k;
  json_array_foreach(json_object_get(line, "tuned"), i, k) {
    if (strcmp(text_of(k, "kernel"), kernel) == 0) return k;
  }
  return NULL;
}

static bool is_complete(const job *b, const char *workload, const char *kernel) {
  const json_t *j = find_line(b, workload, kernel, "best");
  return j && json_is_true(json_object_get(j, "complete"));
}

static double left(const job *b) {
  return b->o->seconds > 0 ? b->o->seconds - (hd_seconds() - b->start) : INFINITY;
}

static hd_status exhaust_units(job *b, const hd_workload *w, device_bench *bench, tuner_unit *units,
                               double each, hd_diag *d) {
  uint32_t n = tuner_list_units(w, false, units);
  const json_t *line = find_line(b, w->name, NULL, "tuned");
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < n; i++) st = tuner_time_unit(bench, &units[i], d);
  tuner_share_out(units, n);
  for (uint32_t i = 0; st == HD_OK && i < n && left(b) > 0; i++) {
    const char *kernel = units[i].kernel ? units[i].kernel : "";
    unit_job u = {.b = b, .w = w, .kernel = kernel, .bench = bench, .tuned = tuned_kernel(line, kernel)};
    if (units[i].share == 0 || !u.tuned || is_complete(b, w->name, kernel)) continue;
    u.seconds = fmax(fmin(each * units[i].share, left(b)), least_seconds);
    if (!isfinite(u.seconds)) u.seconds = 0;
    st = exhaust_unit(&u, &units[i], d);
    exhaust_free(&u.all);
  }
  bool done = st == HD_OK;
  for (uint32_t i = 0; done && i < n; i++)
    done = units[i].share == 0 || is_complete(b, w->name, units[i].kernel ? units[i].kernel : "");
  return done ? put_line(b, json_pack("{s:s, s:b}", "workload", w->name, "done", true), d) : st;
}

static hd_status go_through(job *b, const char *name, double each, hd_diag *d) {
  const char *data = getenv("HEDDLE_DATA");
  char kernels[4096];
  hd_workload *w = NULL;
  device_bench *bench = NULL;
  hd_tune_options o = {.run = {.budget.trace_seconds = 20}};
  snprintf(kernels, sizeof kernels, "%s/kernels", data ? data : SOURCE_DIR);
  hd_status st = hd_workload_open(name, kernels, b->o->size, &w, d);
  if (st != HD_OK) return st;
  if (find_line(b, w->name, NULL, "done")) {
    hd_workload_close(w);
    return HD_OK;
  }
  tuner_unit *units = calloc((size_t)w->n_launches + 1, sizeof *units);
  if (!units) st = hd_nomem(d);
  if (st == HD_OK && !find_line(b, w->name, NULL, "tuned")) st = tune(b, w, d);
  double begin = hd_seconds();
  if (st == HD_OK && left(b) > 0) st = device_bench_open(b->device, w, &o, 0, &bench, d);
  if (bench) st = exhaust_units(b, w, bench, units, each - (hd_seconds() - begin), d);
  device_bench_close(bench);
  free(units);
  hd_workload_close(w);
  return st;
}

static hd_status open_device(job *b, hd_diag *d) {
  const char *data = getenv("HEDDLE_DATA");
  char gpus[4096];
  snprintf(gpus, sizeof gpus, "%s/gpus", data ? data : SOURCE_DIR);
  hd_device_options o = {.gpu_dir = gpus};
  hd_status st = hd_device_open(b->o->device, &o, &b->device, d);
  if (st != HD_OK || b->o->no_advice) return st;
  hd_diag e = {0};
  char message[512];
  b->has_advisor = hd_tune_advisor(hd_device_get_info(b->device), gpus, &b->advisor, &e) == HD_OK;
  if (!b->has_advisor) fprintf(stderr, "no advice: %s\n", hd_diag_line(&e, message, sizeof message));
  return HD_OK;
}

static hd_status measure(job *b, char **names, size_t n, hd_diag *d) {
  hd_status st = open_device(b, d);
  for (size_t i = 0; st == HD_OK && i < n && left(b) > 0; i++) {
    double share = isfinite(left(b)) ? left(b) / (double)(n - i) : INFINITY;
    hd_diag e = {0};
    char message[512];
    st = go_through(b, names[i], b->o->each > 0 ? b->o->each : share, &e);
    if (st == HD_OK) continue;
    fprintf(stderr, "%s: %s\n", names[i], hd_diag_line(&e, message, sizeof message));
    /* Another workload may do better, unless the device is gone. */
    if (st == HD_ERR_FAULT || st == HD_ERR_IO || st == HD_ERR_NOMEM) {
      *d = e;
      break;
    }
    st = HD_OK;
  }
  hd_device_close(b->device);
  return st;
}

/* ---- The table ----------------------------------------------------------------------- */

typedef struct totals {
  double before, chosen, best; /* us */
} totals;

static bool is_last(const job *b, size_t i) {
  const json_t *j = b->lines.data[i];
  return json_object_get(j, "best") &&
         find_line(b, text_of(j, "workload"), text_of(j, "kernel"), "best") == j;
}

static void put_row(const json_t *j, hd_text_table *t) {
  double chosen = number_of(j, "chosen_speedup"), best = number_of(j, "best_speedup");
  hd_text_table_cell(t, "%s", text_of(j, "workload"));
  hd_text_table_cell(t, "%s", text_of(j, "kernel"));
  hd_text_table_cell(t, "%s", text_of(j, "chosen"));
  hd_text_table_cell(t, "%.3fx", chosen);
  hd_text_table_cell(t, "%s", text_of(j, "best"));
  hd_text_table_cell(t, "%.3fx", best);
  hd_text_table_cell(t, "%.1f%%", 100 * (best / chosen - 1));
  hd_text_table_cell(t, "%.0f%s", number_of(j, "plans"),
                     json_is_true(json_object_get(j, "complete")) ? "" : "+");
}

/* The times of all kernels of the workload of line `first`, added up. */
static totals add_up(const job *b, size_t first) {
  totals sum = {0};
  for (size_t i = 0; i < b->lines.n; i++) {
    const json_t *j = b->lines.data[i];
    if (!is_last(b, i) || strcmp(text_of(j, "workload"), text_of(b->lines.data[first], "workload")) != 0)
      continue;
    double us = number_of(j, "us");
    sum.before += us;
    sum.chosen += us / number_of(j, "chosen_speedup");
    sum.best += us / number_of(j, "best_speedup");
  }
  return sum;
}

static bool is_first(const job *b, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (is_last(b, k) &&
        strcmp(text_of(b->lines.data[k], "workload"), text_of(b->lines.data[i], "workload")) == 0)
      return false;
  return true;
}

static int print_table(const job *b) {
  static const char *const titles[] = {"workload",  "kernel",  "tuner's plan", "speedup",
                                       "best plan", "speedup", "regret",       "plans"};
  hd_text_table *t = hd_text_table_new("lllrlrrr");
  hd_buf out = {0};
  unsigned workloads = 0, within = 0;
  if (!t) return 2;
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) hd_text_table_cell(t, "%s", titles[i]);
  hd_text_table_rule(t);
  for (size_t i = 0; i < b->lines.n; i++) {
    if (!is_last(b, i)) continue;
    put_row(b->lines.data[i], t);
    if (!is_first(b, i)) continue;
    totals sum = add_up(b, i);
    workloads++;
    within += sum.chosen <= 1.02 * sum.best;
  }
  hd_text_table_print(t, &out);
  hd_text_table_free(t);
  hd_buf_printf(&out, "\nThe tuner's choice is within 2%% of the best plan in %u of %u workloads.\n", within,
                workloads);
  if (out.data) fputs(out.data, stdout);
  int rc = out.failed ? 2 : 0;
  hd_buf_free(&out);
  return rc;
}

/* ---- The command line ----------------------------------------------------------------- */

/* The value of an option that takes one; NULL when this is another argument. */
static const char *value_of(const char *name, char **argv, int argc, int *i) {
  if (strcmp(argv[*i], name) != 0 || *i + 1 >= argc) return NULL;
  return argv[++*i];
}

static int read_options(int argc, char **argv, options *o, char **names) {
  int n = 0;
  for (int i = 1; i < argc; i++) {
    const char *v;
    if ((v = value_of("--device", argv, argc, &i)))
      o->device = v;
    else if ((v = value_of("--size", argv, argc, &i)))
      o->size = v;
    else if ((v = value_of("-o", argv, argc, &i)))
      o->file = v;
    else if ((v = value_of("--seconds", argv, argc, &i)))
      o->seconds = strtod(v, NULL);
    else if ((v = value_of("--each", argv, argc, &i)))
      o->each = strtod(v, NULL);
    else if ((v = value_of("--budget", argv, argc, &i)))
      o->budget = strtod(v, NULL);
    else if ((v = value_of("--most", argv, argc, &i)))
      o->most = strtoul(v, NULL, 10);
    else if (strcmp(argv[i], "--no-advice") == 0)
      o->no_advice = true;
    else if (argv[i][0] == '-')
      return -1;
    else
      names[n++] = argv[i];
  }
  return o->file ? n : -1;
}

int main(int argc, char **argv) {
  options o = {.device = "cuda:0", .size = "gpu"};
  job b = {.o = &o, .start = hd_seconds()};
  hd_diag d = {0};
  char **names = calloc((size_t)argc + 1, sizeof *names), message[512];
  int n = names ? read_options(argc, argv, &o, names) : -1;
  if (n < 0) {
    fputs(
        "usage: bench_regret [--device NAME] [--size SIZE] [--seconds S] [--each S] [--budget S] [--most N] "
        "[--no-advice] -o FILE [WORKLOAD...]\n",
        stderr);
    free(names);
    return 2;
  }
  hd_status st = read_lines(&b, &d);
  if (st == HD_OK && n) st = measure(&b, names, (size_t)n, &d);
  int rc = print_table(&b);
  if (st != HD_OK) fprintf(stderr, "bench_regret: %s\n", hd_diag_line(&d, message, sizeof message));
  for (size_t i = 0; i < b.lines.n; i++) json_decref(b.lines.data[i]);
  hd_vec_free(&b.lines);
  if (b.out) fclose(b.out);
  free(names);
  return st == HD_OK ? rc : 2;
}
