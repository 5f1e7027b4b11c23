/* Workloads: opened, described, proved, analyzed. */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/report.h"
#include "heddle/results.h"
#include "work.h"

static const char workload_name[] = "heddle.workload";

static void free_workload(PyObject *capsule) {
  hd_workload_close(PyCapsule_GetPointer(capsule, workload_name));
}

hd_workload *workload_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, workload_name); }

/* ---- Opening --------------------------------------------------------------------------------- */

static PyObject *open_workload(PyObject *module, PyObject *args) {
  hd_workload_request q = {0};
  PyObject *set, *launches, *capsule = NULL;
  words values = {0}, flat = {0};
  hd_launch_word *pairs = NULL;
  hd_workload *w = NULL;
  hd_diag d = {0};
  hd_status st = HD_OK;
  if (!PyArg_ParseTuple(args, "szzzOOz", &q.name, &q.kernels_dir, &q.size, &q.preferred, &set, &launches,
                        &q.save))
    return NULL;
  if (get_words(set, &values) && get_words(launches, &flat) && get_launch_words(&flat, &pairs)) {
    q.set = values.at;
    q.n_set = values.n;
    q.words = pairs;
    q.n_words = flat.n / 2;
    PyThreadState *others = PyEval_SaveThread();
    st = hd_workload_request_open(&q, &w, &d);
    PyEval_RestoreThread(others);
    if (st != HD_OK)
      raise_failure(module, &d);
    else if (!(capsule = PyCapsule_New(w, workload_name, free_workload)))
      hd_workload_close(w);
  }
  PyMem_Free(pairs);
  free_words(&values);
  free_words(&flat);
  return capsule;
}

static PyObject *describe_launches(const hd_workload *w) {
  PyObject *list = PyList_New(0);
  for (uint32_t i = 0; list && i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    PyObject *one = Py_BuildValue("(s(III)(III))", l->kernel, l->grid[0], l->grid[1], l->grid[2], l->block[0],
                                  l->block[1], l->block[2]);
    if (!one || PyList_Append(list, one) != 0) Py_CLEAR(list);
    Py_XDECREF(one);
  }
  return list;
}

/* (name, title, size, sizes, parameters, launches). */
static PyObject *describe_workload(PyObject *module, PyObject *capsule) {
  const hd_workload *w = workload_of(capsule);
  if (!w) return NULL;
  PyObject *sizes = PyList_New(0), *params = PyDict_New(), *launches = describe_launches(w);
  bool ok = sizes && params && launches;
  for (uint32_t i = 0; ok && i < w->n_sizes; i++) {
    PyObject *name = PyUnicode_FromString(w->sizes[i].name);
    ok = name && PyList_Append(sizes, name) == 0;
    Py_XDECREF(name);
  }
  for (uint32_t i = 0; ok && i < w->n_params; i++) {
    PyObject *value = PyLong_FromLongLong(w->params[i].value);
    ok = value && PyDict_SetItemString(params, w->params[i].name, value) == 0;
    Py_XDECREF(value);
  }
  PyObject *all = ok ? Py_BuildValue("(sssOOO)", w->name, w->title, w->size, sizes, params, launches) : NULL;
  Py_XDECREF(sizes);
  Py_XDECREF(params);
  Py_XDECREF(launches);
  return all;
}

static PyObject *list_workloads(PyObject *module, PyObject *args) {
  const char *folder;
  char **names;
  size_t n;
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "s", &folder)) return NULL;
  if (hd_workload_list(folder, &names, &n, &d) != HD_OK) return raise_failure(module, &d);
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < n; i++) {
    PyObject *name = PyUnicode_FromString(names[i]);
    if (!name || PyList_Append(list, name) != 0) Py_CLEAR(list);
    Py_XDECREF(name);
  }
  hd_workload_list_free(names, n);
  return list;
}

/* (workload, architecture); NULL: an error is set. */
static const hd_workload *workload_and_arch(PyObject *args, unsigned *arch) {
  PyObject *capsule;
  return PyArg_ParseTuple(args, "OO&", &capsule, get_number, arch) ? workload_of(capsule) : NULL;
}

static PyObject *workload_ptx(PyObject *module, PyObject *args) {
  unsigned arch;
  const hd_compiled *code;
  hd_diag d = {0};
  hd_status st;
  const hd_workload *w = workload_and_arch(args, &arch);
  if (!w) return NULL;
  PyThreadState *others = PyEval_SaveThread();
  st = hd_workload_compiled(w, hd_launch_arch(NULL, arch), &code, &d);
  PyEval_RestoreThread(others);
  if (st != HD_OK) return raise_failure(module, &d);
  return PyUnicode_DecodeUTF8(code->text, (Py_ssize_t)code->len, "replace");
}

static PyObject *keep_ptx(PyObject *module, PyObject *args) {
  unsigned arch;
  hd_diag d = {0};
  hd_status st;
  const hd_workload *w = workload_and_arch(args, &arch);
  if (!w) return NULL;
  PyThreadState *others = PyEval_SaveThread();
  st = hd_workload_keep_ptx(w, hd_launch_arch(NULL, arch), &d);
  PyEval_RestoreThread(others);
  if (st != HD_OK) return raise_failure(module, &d);
  Py_RETURN_NONE;
}

/* ---- Proof -------------------------------------------------------------------------------------- */

typedef struct checking {
  const hd_workload *w;
  hd_check_options o;
  hd_plan plan;
  hd_check_result result;
  work *work;
} checking;

static void count_checks(void *ctx, size_t done, size_t n) {
  work_tell(((checking *)ctx)->work, "checking", done, n);
}

static hd_status do_check(void *ctx, hd_diag *d) {
  checking *c = ctx;
  bool whole;
  return hd_check_split(c->w, &c->plan, &c->o, NULL, count_checks, c, &whole, &c->result, d);
}

static PyObject *check(PyObject *module, PyObject *args) {
  PyObject *capsule, *progress;
  const char *text, *assume;
  int no_reference;
  unsigned long long seed;
  work w;
  checking c = {.work = &w};
  hd_diag d = {0};
  hd_buf out = {0};
  if (!PyArg_ParseTuple(args, "OspsO&KO&O", &capsule, &text, &no_reference, &assume, get_number,
                        &c.o.run.machine.n_sms, &seed, get_number, &c.o.run.machine.threads, &progress))
    return NULL;
  if (!(c.w = workload_of(capsule))) return NULL;
  c.o.no_reference = no_reference;
  c.o.seed = seed;
  if (*assume && !hd_assume_parse(assume, &c.o.run.compile.assume))
    return PyErr_Format(PyExc_ValueError, "assume: not '%s'", assume);
  if (hd_plan_parse(text, &c.plan, &d) != HD_OK) return raise_failure(module, &d);
  work_begin(&w, progress, NULL);
  c.o.run.budget.stop = w.stop;
  if (!work_run(&w, do_check, &c, module)) return NULL;
  hd_check_json(&(hd_check_report){c.w, &c.plan, NULL, &c.result}, &out);
  PyObject *json = take_text(&out);
  return json ? Py_BuildValue("(Ns)", json, c.result.what) : NULL;
}

/* ---- Analysis ------------------------------------------------------------------------------------- */

typedef struct analyzing {
  const hd_workload *w;
  const char *name, *kernel;
  hd_gpu gpu;
  hd_run_options run;
  double seconds;
  bool is_static, verbose;
  hd_analysis_document *document;
} analyzing;

static hd_status analyze_launch(const analyzing *z, const hd_compiled *code, const hd_wl_kernel *kernel,
                                hd_diag *d) {
  enum { MOST_REFUSALS = 64 };
  const hd_polyhedral_options lines = {.line = z->gpu.l1.line};
  hd_refusal refusals[MOST_REFUSALS];
  hd_polyhedral reuse = {0};
  hd_analysis *a = NULL;
  hd_point at;
  hd_status st = hd_report_point(code, kernel->first, &at, d);
  if (st != HD_OK) return st;
  st = hd_analyze_best(code->module, kernel->func, &at, &a, d);
  if (st == HD_OK) st = hd_polyhedral_measure(a, &at, &lines, &reuse, d);
  if (st == HD_OK) {
    const size_t n = hd_rewrite_refusals(code->module, kernel->func, refusals, MOST_REFUSALS);
    const hd_analysis_page page = {.at = &at,
                                   .refusals = refusals,
                                   .n_refusals = n,
                                   .n_stored = n < MOST_REFUSALS ? n : MOST_REFUSALS,
                                   .verbose = z->verbose,
                                   .reuse = &reuse,
                                   .workload = z->w};
    hd_analysis_document_kernel(z->document, a, &page);
  }
  hd_polyhedral_free(&reuse);
  hd_analysis_free(a);
  free((void *)at.args);
  return st;
}

static hd_status analyze_code(const analyzing *z, hd_diag *d) {
  const hd_compiled *code;
  uint32_t found = 0;
  hd_status st = hd_workload_compiled(z->w, hd_launch_arch(NULL, 0), &code, d);
  for (uint32_t k = 0; st == HD_OK && k < code->n_kernels; k++) {
    if (z->kernel && !hd_kernel_matches(code->kernels[k].name, z->kernel)) continue;
    found++;
    st = analyze_launch(z, code, &code->kernels[k], d);
  }
  return st == HD_OK && !found
             ? hd_fail_unknown(d, "%s launches no kernel '%s'", z->w->name, z->kernel ? z->kernel : "")
             : st;
}

static hd_status analyze_runs(const analyzing *z, hd_diag *d) {
  hd_study *study = NULL;
  hd_advice advice = {0};
  const hd_advise_options how = {.run = z->run, .dispatch = z->gpu.dispatch, .seconds = z->seconds};
  const hd_study_options traced = {.timed = hd_gpu_has_clock(&z->gpu)};
  hd_status st = hd_study_open(z->w, &z->run, &traced, &study, d);
  if (st == HD_OK) st = hd_advise(z->w, study, &z->gpu, &how, &advice, d);
  if (st == HD_OK)
    hd_analysis_document_advice(z->document, &(hd_advice_report){z->w, &z->gpu, &advice, z->verbose});
  hd_advice_free(&advice);
  hd_study_close(study);
  return st;
}

static hd_status do_analysis(void *ctx, hd_diag *d) {
  const analyzing *z = ctx;
  const hd_status st = z->is_static ? HD_OK : analyze_runs(z, d);
  return st == HD_OK ? analyze_code(z, d) : st;
}

/* As `heddle analyze WORKLOAD --json` has it. */
static PyObject *analyze_workload(PyObject *module, PyObject *args) {
  PyObject *capsule, *progress;
  const char *gpu, *folder;
  int is_static, verbose;
  work w;
  analyzing z = {0};
  hd_diag d = {0};
  hd_buf out = {0};
  if (!PyArg_ParseTuple(args, "OzssdppO&O", &capsule, &z.kernel, &gpu, &folder, &z.seconds, &is_static,
                        &verbose, get_number, &z.run.machine.threads, &progress))
    return NULL;
  if (!(z.w = workload_of(capsule))) return NULL;
  if (hd_gpu_load(gpu, folder, &z.gpu, &d) != HD_OK) return raise_failure(module, &d);
  if (!(z.document = hd_analysis_document_new(true))) return PyErr_NoMemory();
  work_begin(&w, progress, NULL);
  z.is_static = is_static;
  z.verbose = verbose;
  z.run.machine.n_sms = z.gpu.n_sms;
  z.run.budget.stop = w.stop;
  z.run.watch = w.watch;
  const bool done = work_run(&w, do_analysis, &z, module);
  if (done) hd_analysis_document_print(z.document, z.w->name, &out);
  hd_analysis_document_free(z.document);
  return done ? take_text(&out) : NULL;
}

PyMethodDef workload_functions[] = {
    {"open_workload", open_workload, METH_VARARGS,
     "(name, folder, size, preferred size, values, words, folder to keep it in) -> capsule"},
    {"describe_workload", describe_workload, METH_O, "(workload) -> tuple"},
    {"list_workloads", list_workloads, METH_VARARGS, "(folder) -> list"},
    {"workload_ptx", workload_ptx, METH_VARARGS, "(workload, arch) -> str"},
    {"keep_ptx", keep_ptx, METH_VARARGS, "(workload, arch)"},
    {"check", check, METH_VARARGS,
     "(workload, plan, no_reference, assume, sms, seed, threads, progress) -> (JSON, what differs)"},
    {"analyze_workload", analyze_workload, METH_VARARGS,
     "(workload, kernel, gpu, folder, seconds, static, verbose, threads, progress) -> JSON"},
    {0}};
