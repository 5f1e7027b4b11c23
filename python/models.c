/* Modelled GPUs: traces replayed, plans compared, the best one; and plans measured on a device. */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/optimize.h"
#include "heddle/program.h"
#include "heddle/report.h"
#include "heddle/results.h"
#include "heddle/suite.h"
#include "heddle/verdict.h"
#include "work.h"

/* ---- Studies ------------------------------------------------------------------------------------ */

/* A workload's traces; the capsule keeps the workload's alive. */
static const char study_name[] = "heddle.study";

typedef struct study {
  hd_study *study;
  hd_gpu gpu;
  PyObject *workload; /* capsule */
  bool timed;
  bool stop; /* of what is done with it at the moment */
} study;

static void free_study(PyObject *capsule) {
  study *s = PyCapsule_GetPointer(capsule, study_name);
  hd_study_close(s->study);
  Py_DECREF(s->workload);
  free(s);
}

static study *study_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, study_name); }

typedef struct tracing {
  study *s;
  const hd_workload *w;
  hd_run_options run;
  hd_study_options how;
} tracing;

static hd_status do_trace(void *ctx, hd_diag *d) {
  tracing *t = ctx;
  return hd_study_open(t->w, &t->run, &t->how, &t->s->study, d);
}

/* depth: "timing", "traffic" or "", the better one that the GPU's file allows. */
static PyObject *open_study(PyObject *module, PyObject *args) {
  PyObject *capsule, *out = NULL;
  const char *gpu, *folder, *depth;
  tracing t = {0};
  hd_diag d = {0};
  work w;
  if (!PyArg_ParseTuple(args, "OsssO&", &capsule, &gpu, &folder, &depth, get_number, &t.run.machine.threads))
    return NULL;
  if (!(t.w = workload_of(capsule))) return NULL;
  if (!(t.s = calloc(1, sizeof *t.s))) return PyErr_NoMemory();
  work_begin(&w, NULL, &t.s->stop);
  const hd_status st = hd_gpu_load(gpu, folder, &t.s->gpu, &d);
  t.s->timed = *depth ? strcmp(depth, "timing") == 0 : hd_gpu_has_clock(&t.s->gpu);
  t.run.machine.n_sms = t.s->gpu.n_sms;
  t.how.timed = t.s->timed;
  t.run.budget.stop = w.stop;
  if (st != HD_OK) raise_failure(module, &d);
  const bool traced = st == HD_OK && work_run(&w, do_trace, &t, module);
  if (traced) out = PyCapsule_New(t.s, study_name, free_study);
  if (out) {
    Py_INCREF(capsule);
    t.s->workload = capsule;
    return out;
  }
  hd_study_close(t.s->study); /* Ctrl-C may come once it is open */
  free(t.s);
  return NULL;
}

typedef struct simulating {
  const study *s;
  hd_plan plan;
  uint64_t seed;
  hd_counters counters;
} simulating;

static hd_status do_simulation(void *ctx, hd_diag *d) {
  simulating *z = ctx;
  const study *s = z->s;
  return hd_study_replay(s->study, &s->gpu, &z->plan, s->gpu.dispatch, z->seed, &z->counters, d);
}

static PyObject *simulate(PyObject *module, PyObject *args) {
  PyObject *capsule;
  const char *text;
  unsigned long long seed;
  simulating z = {0};
  hd_diag d = {0};
  hd_buf out = {0};
  work w;
  if (!PyArg_ParseTuple(args, "OsK", &capsule, &text, &seed)) return NULL;
  study *s = study_of(capsule);
  if (!s) return NULL;
  z.s = s;
  z.seed = seed;
  if (hd_plan_parse(text, &z.plan, &d) != HD_OK) return raise_failure(module, &d);
  work_begin(&w, NULL, &s->stop);
  if (!work_run(&w, do_simulation, &z, module)) return NULL;
  const hd_simulation r = {
      workload_of(s->workload), &s->gpu, hd_dispatch_name(s->gpu.dispatch), &z.plan, z.counters, s->timed};
  hd_simulation_json(&r, &out);
  return take_text(&out);
}

/* ---- Sweeps --------------------------------------------------------------------------------------- */

static hd_status list_plans(const words *plans, hd_plan_list *list, hd_diag *d) {
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < plans->n; i++) {
    hd_plan p;
    st = hd_plan_parse(plans->at[i], &p, d);
    if (st == HD_OK && !hd_plan_is_baseline(&p)) st = hd_plan_list_add(list, &p, 1, "asked for", d);
  }
  return st;
}

typedef struct sweeping {
  const hd_workload *w;
  const hd_gpu *gpu;
  words plans;
  hd_plan_list list;
  hd_sweep_job job;
  hd_study *study; /* that the sweep opened */
  double part;
  work *work;
} sweeping;

static void count_plans(void *ctx, size_t done, size_t n) {
  work_tell(((sweeping *)ctx)->work, "replaying plans", done, n);
}

static bool stop_plans(void *ctx) { return work_is_stopped(((sweeping *)ctx)->work); }

static hd_status do_sweep(void *ctx, hd_diag *d) {
  sweeping *z = ctx;
  bool whole;
  hd_status st = list_plans(&z->plans, &z->list, d);
  if (st == HD_OK) st = hd_advise_rows(z->w, z->gpu, z->plans.n > 0, &z->list, &z->job.rows, &z->job.n, d);
  return st == HD_OK ? hd_sweep_split(&z->job, NULL, &whole, d) : st;
}

static PyObject *take_sweep(const sweeping *z) {
  const hd_study *s = *z->job.study;
  hd_buf csv = {0}, page = {0};
  const hd_report r = {.workload = z->w,
                       .gpu = z->gpu,
                       .dispatch = hd_dispatch_name(z->job.dispatch),
                       .rows = z->job.rows,
                       .n_rows = z->job.n,
                       .part = z->part,
                       .lack_ends = hd_study_leaves_ends(s),
                       .best = hd_sweep_best(z->job.rows, z->job.n),
                       .seconds = {.trace = s ? hd_study_seconds(s) : 0}};
  hd_sweep_csv(z->job.rows, z->job.n, &csv);
  hd_report_html(&r, &page);
  PyObject *text = take_text(&csv), *html = take_text(&page),
           *out = text && html ? PyTuple_Pack(2, text, html) : NULL;
  Py_XDECREF(text);
  Py_XDECREF(html);
  return out;
}

/* On a study, or on one that is opened for it, sampled as the budget allows. */
static PyObject *sweep(PyObject *module, PyObject *args) {
  enum { REPLAYS = 96, BUDGET = 60 }; /* as of the command */
  PyObject *capsule, *opened, *sequence, *progress, *out = NULL;
  const char *name, *folder;
  double budget;
  int exact;
  unsigned long long seed;
  hd_gpu gpu;
  hd_diag d = {0};
  work w;
  sweeping z = {.work = &w};
  if (!PyArg_ParseTuple(args, "OOssOdpKO&O", &capsule, &opened, &name, &folder, &sequence, &budget, &exact,
                        &seed, get_number, &z.job.threads, &progress))
    return NULL;
  study *s = opened == Py_None ? NULL : study_of(opened);
  if (PyErr_Occurred() || !(z.w = workload_of(capsule))) return NULL;
  if (!s && hd_gpu_load(name, folder, &gpu, &d) != HD_OK) return raise_failure(module, &d);
  if (!get_words(sequence, &z.plans)) return NULL;
  work_begin(&w, progress, s ? &s->stop : NULL);
  z.gpu = s ? &s->gpu : &gpu;
  z.job.workload = z.w;
  z.job.gpu = z.gpu;
  z.job.dispatch = z.gpu->dispatch;
  z.job.seed = seed;
  z.job.study = s ? &s->study : &z.study;
  z.job.part = &z.part;
  z.job.progress = count_plans;
  z.job.stop = stop_plans;
  z.job.ctx = &z;
  z.job.run =
      (hd_run_options){.machine = {z.job.threads, z.gpu->n_sms}, .budget.stop = w.stop, .watch = w.watch};
  z.job.how =
      (hd_study_options){.timed = hd_gpu_has_clock(z.gpu),
                         .sample_gpu = z.gpu,
                         .sample_units = exact ? 0 : hd_sample_units(budget > 0 ? budget : BUDGET, REPLAYS)};
  if (work_run(&w, do_sweep, &z, module)) out = take_sweep(&z);
  free(z.job.rows);
  hd_plan_list_free(&z.list);
  hd_study_close(z.study);
  free_words(&z.plans);
  return out;
}

/* ---- The best plan -------------------------------------------------------------------------------- */

typedef struct optimizing {
  const hd_workload *w;
  hd_gpu gpu;
  words plans;
  hd_plan_list list;
  hd_optimize_options o;
  hd_optimized found;
  hd_buf json, page, ptx, launch;
} optimizing;

static hd_status do_optimization(void *ctx, hd_diag *d) {
  optimizing *z = ctx;
  hd_buf page_json = {0};
  hd_status st = list_plans(&z->plans, &z->list, d);
  z->o.plans = z->list.n ? z->list.at : NULL;
  z->o.n_plans = z->list.n;
  if (st == HD_OK) st = hd_optimize(z->w, &z->gpu, &z->o, &z->found, d);
  if (st != HD_OK) return st;
  const hd_report r = hd_optimized_report(z->w, &z->gpu, z->o.dispatch, &z->found);
  hd_report_json(&r, &z->json);
  hd_optimized_text(z->w, &z->found, &z->ptx);
  hd_optimized_launch(z->w, &z->found, &z->launch);
  if (z->found.study) st = hd_optimized_page(&r, &z->found, &z->page, &page_json, d);
  hd_buf_free(&page_json);
  return st;
}

static PyObject *take_optimized(optimizing *z) {
  PyObject *json = take_text(&z->json), *ptx = take_text(&z->ptx), *launch = take_text(&z->launch),
           *page = take_text(&z->page), *out = NULL;
  if (json && ptx && launch && page)
    out = Py_BuildValue("(OOOON)", json, z->found.best ? ptx : Py_None, launch, page,
                        PyBool_FromLong(hd_optimize_answers(&z->found)));
  Py_XDECREF(json);
  Py_XDECREF(ptx);
  Py_XDECREF(launch);
  Py_XDECREF(page);
  return out;
}

static PyObject *optimize(PyObject *module, PyObject *args) {
  PyObject *capsule, *sequence, *progress, *out = NULL;
  const char *name, *folder, *assume;
  unsigned long long seed;
  int keep_launch, exact;
  work w;
  optimizing z = {0};
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "OssOpddpsKO&O", &capsule, &name, &folder, &sequence, &keep_launch,
                        &z.o.seconds, &z.o.wall, &exact, &assume, &seed, get_number, &z.o.run.machine.threads,
                        &progress))
    return NULL;
  if (!(z.w = workload_of(capsule))) return NULL;
  if (*assume && !hd_assume_parse(assume, &z.o.run.compile.assume))
    return PyErr_Format(PyExc_ValueError, "assume: not '%s'", assume);
  if (hd_gpu_load(name, folder, &z.gpu, &d) != HD_OK) return raise_failure(module, &d);
  if (!get_words(sequence, &z.plans)) return NULL;
  work_begin(&w, progress, NULL);
  z.o.run.machine.n_sms = z.gpu.n_sms;
  z.o.run.budget.stop = w.stop;
  z.o.dispatch = z.gpu.dispatch;
  z.o.seed = seed;
  z.o.keep_launch = keep_launch;
  z.o.exact = exact;
  z.o.progress = w.watch.tell;
  z.o.stop = work_is_stopped;
  z.o.ctx = &w;
  if (work_run(&w, do_optimization, &z, module)) out = take_optimized(&z);
  hd_buf_free(&z.json);
  hd_buf_free(&z.page);
  hd_buf_free(&z.ptx);
  hd_buf_free(&z.launch);
  hd_optimized_free(&z.found);
  hd_plan_list_free(&z.list);
  free_words(&z.plans);
  return out;
}

/* ---- Tuning ---------------------------------------------------------------------------------------- */

typedef struct tuning {
  hd_tunings t;
  char *name; /* of the workload */
  const char *device, *gpus, *store;
  bool advice;
  words plans;
  hd_plan *parsed;
  hd_gpu advisor;
  hd_buf json;
  hd_diag why; /* there is no result */
  bool unanswered;
  work *work;
} tuning;

static bool take_tuning(void *ctx, const char *text, size_t len) {
  hd_buf_put(&((tuning *)ctx)->json, text, len);
  return true;
}
static void fail_tuning(void *ctx, const hd_diag *d) { ((tuning *)ctx)->why = *d; }
static void note_unanswered(void *ctx) { ((tuning *)ctx)->unanswered = true; }

static hd_status parse_plans(tuning *z, hd_diag *d) {
  hd_status st = (z->parsed = calloc(z->plans.n + 1, sizeof *z->parsed)) ? HD_OK : hd_nomem(d);
  for (size_t i = 0; st == HD_OK && i < z->plans.n; i++) st = hd_plan_parse(z->plans.at[i], &z->parsed[i], d);
  z->t.tune.plans = z->parsed;
  z->t.tune.n_plans = z->plans.n;
  return st;
}

/* As `heddle tune` has it: an emulated GPU's times are no verdict on a GPU. */
static hd_status do_tuning(void *ctx, hd_diag *d) {
  tuning *z = ctx;
  const hd_device_options o = {.emu = {.threads = z->t.tune.run.machine.threads}, .gpu_dir = z->gpus};
  const hd_work_how here = {0};
  bool whole;
  hd_status st = parse_plans(z, d);
  if (st == HD_OK) st = hd_device_open(z->device, &o, &z->t.device, d);
  if (st != HD_OK) return st;
  const hd_gpu *own = hd_device_get_gpu(z->t.device);
  const bool emulated = getenv(HD_PROGRAM_VARIABLE) && !own;
  if (!emulated && strcmp(z->store ? z->store : "", "none") != 0)
    st = hd_store_open(z->store, &z->t.store, d);
  if (own) z->advisor = *own;
  if (z->advice &&
      (own || hd_tune_advisor(hd_device_get_info(z->t.device), z->gpus, &z->advisor, NULL) == HD_OK))
    z->t.tune.advisor = &z->advisor;
  hd_bench_describe(z->t.device, "", &z->t.place);
  z->t.how = &here;
  if (st == HD_OK) st = hd_suite_tunings(&z->t, &whole, d);
  if (st == HD_OK && z->why.status != HD_OK) st = (*d = z->why).status;
  return st;
}

static PyObject *do_tune(PyObject *module, tuning *z, PyObject *progress) {
  work w;
  PyObject *out = NULL;
  work_begin(&w, progress, NULL);
  z->work = &w;
  z->t.tune.run.budget.stop = w.stop;
  z->t.tune.progress = w.watch.tell;
  z->t.tune.ctx = &w;
  z->t.names = &z->name;
  z->t.n = 1;
  z->t.json = true;
  z->t.told = take_tuning;
  z->t.failed = fail_tuning;
  z->t.unanswered = note_unanswered;
  z->t.ctx = z;
  if (work_run(&w, do_tuning, z, module)) {
    PyObject *json = take_text(&z->json);
    if (json) out = Py_BuildValue("(NN)", json, PyBool_FromLong(!z->unanswered));
  }
  hd_buf_free(&z->json);
  hd_store_close(z->t.store);
  hd_device_close(z->t.device);
  free(z->parsed);
  return out;
}

/* (JSON, whether it is an answer). The workload is named by its request. */
static PyObject *tune(PyObject *module, PyObject *args) {
  PyObject *set, *launches, *plans, *progress, *out = NULL;
  const char *name, *assume;
  int again, no_proof, any_grid, advice;
  words values = {0}, flat = {0};
  hd_launch_word *pairs = NULL;
  tuning z = {0};
  hd_tune_options *o = &z.t.tune;
  if (!PyArg_ParseTuple(args, "szzOOsszOddppppsO&O", &name, &z.t.like.kernels_dir, &z.t.like.size, &set,
                        &launches, &z.gpus, &z.device, &z.store, &plans, &o->budget, &o->wall, &again,
                        &no_proof, &any_grid, &advice, &assume, get_number, &o->run.machine.threads,
                        &progress))
    return NULL;
  if (*assume && !hd_assume_parse(assume, &o->run.compile.assume))
    return PyErr_Format(PyExc_ValueError, "assume: not '%s'", assume);
  z.t.again = again;
  z.advice = advice;
  o->no_proof = no_proof;
  o->run.compile.any_grid = any_grid;
  z.name = strdup(name);
  if (!z.name) PyErr_NoMemory();
  if (z.name && get_words(set, &values) && get_words(launches, &flat) && get_words(plans, &z.plans) &&
      get_launch_words(&flat, &pairs)) {
    z.t.like.set = values.at;
    z.t.like.n_set = values.n;
    z.t.like.words = pairs;
    z.t.like.n_words = flat.n / 2;
    out = do_tune(module, &z, progress);
  }
  PyMem_Free(pairs);
  free_words(&values);
  free_words(&flat);
  free_words(&z.plans);
  free(z.name);
  return out;
}

PyMethodDef model_functions[] = {
    {"open_study", open_study, METH_VARARGS, "(workload, gpu, folder, depth, threads) -> capsule"},
    {"simulate", simulate, METH_VARARGS, "(study, plan, seed) -> JSON"},
    {"sweep", sweep, METH_VARARGS,
     "(workload, study or None, gpu, folder, plans, budget, exact, seed, threads, progress) -> (CSV, page)"},
    {"optimize", optimize, METH_VARARGS,
     "(workload, gpu, folder, plans, keep_launch, seconds, wall, exact, assume, seed, threads, progress) -> "
     "(JSON, ptx or None, launch, page, whether it is an answer)"},
    {"tune", tune, METH_VARARGS,
     "(name, folder, size, values, words, folder of GPUs, device, store, plans, budget, wall, again, "
     "no_proof, "
     "any_grid, advice, assume, threads, progress) -> (JSON, whether it is an answer)"},
    {0}};
