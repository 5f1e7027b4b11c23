/* module.c: the library as the Python module heddle._heddle, by the stable ABI.
 *
 * A thin layer: texts and numbers go in, texts come out, results as the JSON that heddle/results.h prints.
 * The package's Python files make objects of it. The interpreter's lock is released while the library works.
 */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/optimize.h"
#include "heddle/report.h"
#include "heddle/results.h"
#include "heddle/verdict.h"

/* ---- Objects ------------------------------------------------------------------------------------ */

/* Library objects travel in capsules; a study keeps its workload alive by the capsule's context. */
static const char workload_name[] = "heddle.workload", study_name[] = "heddle.study";

typedef struct study {
  hd_study *study;
  hd_gpu gpu;
  PyObject *workload; /* capsule */
  bool timed;
} study;

static void free_workload(PyObject *capsule) {
  hd_workload_close(PyCapsule_GetPointer(capsule, workload_name));
}

static void free_study(PyObject *capsule) {
  study *s = PyCapsule_GetPointer(capsule, study_name);
  hd_study_close(s->study);
  Py_DECREF(s->workload);
  free(s);
}

static hd_workload *workload_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, workload_name); }

/* ---- Plans ----------------------------------------------------------------------------------- */

static PyObject *canonical(PyObject *module, PyObject *args) {
  const char *text;
  hd_plan plan;
  hd_diag d = {0};
  hd_buf out = {0};
  if (!PyArg_ParseTuple(args, "s", &text)) return NULL;
  if (hd_plan_parse(text, &plan, &d) != HD_OK) return raise_failure(module, &d);
  hd_plan_print(&plan, &out);
  return take_text(&out);
}

typedef struct rewriting {
  const char *text, *kernel, *name;
  Py_ssize_t len;
  hd_plan plan;
  hd_rewrite_options options;
  hd_buf out, launch; /* the module; how its kernels are launched */
  uint32_t rewritten;
} rewriting;

/* All kernels with a body, or the one that is named. */
static hd_status rewrite_text(rewriting *r, hd_diag *d) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_arena_init(&arena);
  hd_status st = hd_ptx_parse(r->text, (size_t)r->len, r->name, &arena, &m, d);
  for (uint32_t f = 0; st == HD_OK && f < m->n_funcs; f++) {
    const hd_ptx_func *k = &m->funcs[f];
    hd_recipe recipe;
    if (!k->entry || !k->has_body || (r->kernel && strcmp(m->syms[k->sym].name, r->kernel) != 0)) continue;
    st = hd_rewrite(m, f, &r->plan, &r->options, &recipe, d);
    if (st != HD_OK) break;
    r->rewritten++;
    hd_recipe_print(m->syms[k->sym].name, &recipe, &r->launch);
  }
  if (st == HD_OK && !r->rewritten)
    st = hd_fail(d, HD_ERR_USAGE, "%s: no kernel%s%s", r->name, r->kernel ? " " : "",
                 r->kernel ? r->kernel : "");
  if (st == HD_OK) st = hd_ptx_print(m, &r->out);
  hd_arena_free(&arena);
  return st;
}

enum { DEFAULT_SMS = 132 }; /* as of `heddle rewrite --sms` */

static PyObject *rewrite(PyObject *module, PyObject *args) {
  const char *plan, *assume;
  PyObject *grid, *block;
  unsigned sms;
  rewriting r = {.name = "<ptx>"};
  hd_grid *g = &r.options.grid;
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "s#szOOO&s", &r.text, &r.len, &plan, &r.kernel, &grid, &block, get_number, &sms,
                        &assume))
    return NULL;
  if (!get_dims(grid, g->g) || !get_dims(block, r.options.block)) return NULL;
  g->known = g->g[0] != 0;
  g->n_sms = sms ? sms : DEFAULT_SMS;
  if (*assume && !hd_assume_parse(assume, &r.options.assume))
    return PyErr_Format(PyExc_ValueError, "assume: not '%s'", assume);
  hd_status st = hd_plan_parse(plan, &r.plan, &d);
  if (st != HD_OK) return raise_failure(module, &d);
  PyThreadState *others = PyEval_SaveThread();
  st = rewrite_text(&r, &d);
  PyEval_RestoreThread(others);
  PyObject *text = take_text(&r.out), *launch = take_text(&r.launch);
  PyObject *both = st != HD_OK      ? raise_failure(module, &d)
                   : text && launch ? PyTuple_Pack(2, text, launch)
                                    : NULL;
  Py_XDECREF(text);
  Py_XDECREF(launch);
  return both;
}

/* ---- Analysis --------------------------------------------------------------------------------- */

static hd_status analyze_kernel(hd_analysis_document *doc, const hd_ptx_module *m, uint32_t func,
                                const hd_point *at, hd_diag *d) {
  enum { MOST_REFUSALS = 64 };
  hd_refusal refusals[MOST_REFUSALS];
  hd_analysis *a;
  hd_status st = hd_analyze(m, func, NULL, &a, d);
  if (st != HD_OK) return st;
  size_t n = hd_rewrite_refusals(m, func, refusals, MOST_REFUSALS);
  const hd_analysis_page page = {.at = at->block[0] ? at : NULL,
                                 .refusals = refusals,
                                 .n_refusals = n,
                                 .n_stored = n < MOST_REFUSALS ? n : MOST_REFUSALS};
  hd_analysis_document_kernel(doc, a, &page);
  hd_analysis_free(a);
  return HD_OK;
}

static hd_status analyze_text(const char *text, size_t len, const char *kernel, const hd_point *at,
                              hd_buf *out, hd_diag *d) {
  hd_analysis_document *doc = hd_analysis_document_new(true);
  hd_arena arena;
  hd_ptx_module *m;
  uint32_t found = 0;
  if (!doc) return hd_nomem(d);
  hd_arena_init(&arena);
  hd_status st = hd_ptx_parse(text, len, "<ptx>", &arena, &m, d);
  for (uint32_t f = 0; st == HD_OK && f < m->n_funcs; f++) {
    const hd_ptx_func *k = &m->funcs[f];
    if (!k->entry || !k->has_body || (kernel && strcmp(m->syms[k->sym].name, kernel) != 0)) continue;
    found++;
    if (at->block[0]) st = hd_ptx_check_block(m, k, at->block, d);
    if (st == HD_OK) st = analyze_kernel(doc, m, f, at, d);
  }
  if (st == HD_OK && !found)
    st = hd_fail(d, HD_ERR_USAGE, "<ptx>: no kernel%s%s", kernel ? " " : "", kernel ? kernel : "");
  if (st == HD_OK) hd_analysis_document_print(doc, "<ptx>", out);
  hd_arena_free(&arena);
  hd_analysis_document_free(doc);
  return st;
}

static PyObject *analyze(PyObject *module, PyObject *args) {
  const char *text, *kernel;
  Py_ssize_t len;
  PyObject *grid, *block;
  hd_point at = {0};
  hd_buf out = {0};
  hd_diag d = {0};
  hd_status st;
  if (!PyArg_ParseTuple(args, "s#zOO", &text, &len, &kernel, &grid, &block)) return NULL;
  if (!get_dims(grid, at.grid) || !get_dims(block, at.block)) return NULL;
  PyThreadState *others = PyEval_SaveThread();
  st = analyze_text(text, (size_t)len, kernel, &at, &out, &d);
  PyEval_RestoreThread(others);
  if (st == HD_OK) return take_text(&out);
  hd_buf_free(&out);
  return raise_failure(module, &d);
}

/* ---- Workloads --------------------------------------------------------------------------------- */

/* Pairs of an option and its text, flattened: grid, 16, block, 32, ... */
static bool get_launch_words(const words *flat, hd_launch_word **out) {
  *out = PyMem_Calloc(flat->n / 2 + 1, sizeof **out);
  if (!*out) PyErr_NoMemory();
  for (size_t i = 0; *out && i + 1 < flat->n; i += 2)
    (*out)[i / 2] = (hd_launch_word){flat->at[i], flat->at[i + 1]};
  return *out != NULL;
}

static PyObject *open_workload(PyObject *module, PyObject *args) {
  hd_workload_request q = {0};
  PyObject *set, *launches, *capsule = NULL;
  words values = {0}, flat = {0};
  hd_launch_word *pairs = NULL;
  hd_workload *w = NULL;
  hd_diag d = {0};
  hd_status st = HD_OK;
  if (!PyArg_ParseTuple(args, "szzOO", &q.name, &q.kernels_dir, &q.size, &set, &launches)) return NULL;
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

static PyObject *workload_ptx(PyObject *module, PyObject *args) {
  PyObject *capsule;
  unsigned arch;
  const hd_compiled *code;
  hd_diag d = {0};
  hd_status st;
  if (!PyArg_ParseTuple(args, "OO&", &capsule, get_number, &arch)) return NULL;
  const hd_workload *w = workload_of(capsule);
  if (!w) return NULL;
  PyThreadState *others = PyEval_SaveThread();
  st = hd_workload_compiled(w, hd_launch_arch(NULL, arch), &code, &d);
  PyEval_RestoreThread(others);
  if (st != HD_OK) return raise_failure(module, &d);
  return PyUnicode_DecodeUTF8(code->text, (Py_ssize_t)code->len, "replace");
}

static PyObject *keep_ptx(PyObject *module, PyObject *args) {
  PyObject *capsule;
  unsigned arch;
  hd_diag d = {0};
  hd_status st;
  if (!PyArg_ParseTuple(args, "OO&", &capsule, get_number, &arch)) return NULL;
  const hd_workload *w = workload_of(capsule);
  if (!w) return NULL;
  PyThreadState *others = PyEval_SaveThread();
  st = hd_workload_keep_ptx(w, hd_launch_arch(NULL, arch), &d);
  PyEval_RestoreThread(others);
  if (st != HD_OK) return raise_failure(module, &d);
  Py_RETURN_NONE;
}

/* ---- Proof -------------------------------------------------------------------------------------- */

static PyObject *check(PyObject *module, PyObject *args) {
  PyObject *capsule;
  const char *text, *assume;
  int no_reference;
  hd_check_options o = {0};
  hd_check_result r;
  hd_plan plan;
  hd_diag d = {0};
  hd_buf out = {0};
  unsigned long long seed;
  if (!PyArg_ParseTuple(args, "OspsO&KO&", &capsule, &text, &no_reference, &assume, get_number,
                        &o.run.machine.n_sms, &seed, get_number, &o.run.machine.threads))
    return NULL;
  const hd_workload *w = workload_of(capsule);
  if (!w) return NULL;
  o.no_reference = no_reference;
  o.seed = seed;
  if (*assume && !hd_assume_parse(assume, &o.run.compile.assume))
    return PyErr_Format(PyExc_ValueError, "assume: not '%s'", assume);
  hd_status st = hd_plan_parse(text, &plan, &d);
  if (st != HD_OK) return raise_failure(module, &d);
  PyThreadState *others = PyEval_SaveThread();
  st = hd_check(w, &plan, &o, &r, &d);
  PyEval_RestoreThread(others);
  if (st == HD_OK) hd_check_json(&(hd_check_report){w, &plan, NULL, &r}, &out);
  return st == HD_OK ? take_text(&out) : raise_failure(module, &d);
}

/* ---- Modelled GPUs --------------------------------------------------------------------------------- */

/* A workload's traces for one modelled GPU. depth: "timing", "traffic" or "", the better one that the GPU's
 * file allows. */
static PyObject *open_study(PyObject *module, PyObject *args) {
  PyObject *capsule;
  const char *gpu, *folder, *depth;
  unsigned threads;
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "OsssO&", &capsule, &gpu, &folder, &depth, get_number, &threads)) return NULL;
  const hd_workload *w = workload_of(capsule);
  if (!w) return NULL;
  study *s = calloc(1, sizeof *s);
  if (!s) return PyErr_NoMemory();
  hd_status st = hd_gpu_load(gpu, folder, &s->gpu, &d);
  s->timed = *depth ? strcmp(depth, "timing") == 0 : hd_gpu_has_clock(&s->gpu);
  const hd_run_options run = {.machine.threads = threads, .machine.n_sms = s->gpu.n_sms};
  const hd_study_options how = {.timed = s->timed};
  PyThreadState *others = PyEval_SaveThread();
  if (st == HD_OK) st = hd_study_open(w, &run, &how, &s->study, &d);
  PyEval_RestoreThread(others);
  if (st != HD_OK) {
    free(s);
    return raise_failure(module, &d);
  }
  Py_INCREF(capsule);
  s->workload = capsule;
  PyObject *out = PyCapsule_New(s, study_name, free_study);
  if (out) return out;
  hd_study_close(s->study);
  Py_DECREF(capsule);
  free(s);
  return NULL;
}

static PyObject *simulate(PyObject *module, PyObject *args) {
  PyObject *capsule;
  const char *text;
  unsigned long long seed;
  hd_plan plan;
  hd_counters counters;
  hd_diag d = {0};
  hd_buf out = {0};
  if (!PyArg_ParseTuple(args, "OsK", &capsule, &text, &seed)) return NULL;
  const study *s = PyCapsule_GetPointer(capsule, study_name);
  if (!s) return NULL;
  hd_status st = hd_plan_parse(text, &plan, &d);
  if (st != HD_OK) return raise_failure(module, &d);
  PyThreadState *others = PyEval_SaveThread();
  st = hd_study_replay(s->study, &s->gpu, &plan, s->gpu.dispatch, seed, &counters, &d);
  PyEval_RestoreThread(others);
  if (st == HD_OK) {
    const hd_simulation r = {
        workload_of(s->workload), &s->gpu, hd_dispatch_name(s->gpu.dispatch), &plan, counters, s->timed};
    hd_simulation_json(&r, &out);
  }
  return st == HD_OK ? take_text(&out) : raise_failure(module, &d);
}

static hd_status list_plans(const words *plans, hd_plan_list *list, hd_diag *d) {
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < plans->n; i++) {
    hd_plan p;
    st = hd_plan_parse(plans->at[i], &p, d);
    if (st != HD_OK) break;
    if (!hd_plan_is_baseline(&p)) st = hd_plan_list_add(list, &p, 1, "asked for", d);
  }
  return st;
}

/* As CSV. */
static PyObject *sweep(PyObject *module, PyObject *args) {
  PyObject *capsule, *sequence;
  unsigned threads;
  unsigned long long seed;
  words plans;
  hd_plan_list list = {0};
  hd_sweep_row *rows = NULL;
  size_t n = 0;
  hd_diag d = {0};
  hd_buf out = {0};
  hd_status st;
  if (!PyArg_ParseTuple(args, "OOKO&", &capsule, &sequence, &seed, get_number, &threads)) return NULL;
  const study *s = PyCapsule_GetPointer(capsule, study_name);
  if (!s || !workload_of(s->workload) || !get_words(sequence, &plans)) return NULL;
  PyThreadState *others = PyEval_SaveThread();
  st = list_plans(&plans, &list, &d);
  if (st == HD_OK) st = hd_advise_rows(workload_of(s->workload), &s->gpu, plans.n > 0, &list, &rows, &n, &d);
  if (st == HD_OK) st = hd_sweep(s->study, &s->gpu, s->gpu.dispatch, seed, rows, n, threads, NULL, NULL, &d);
  if (st == HD_OK) hd_sweep_csv(rows, n, &out);
  PyEval_RestoreThread(others);
  free(rows);
  hd_plan_list_free(&list);
  free_words(&plans);
  return st == HD_OK ? take_text(&out) : raise_failure(module, &d);
}

/* (JSON, the rewritten PTX or None). */
static PyObject *optimize(PyObject *module, PyObject *args) {
  PyObject *capsule;
  const char *name, *folder;
  hd_gpu gpu;
  hd_optimized found = {0};
  hd_optimize_options o = {0};
  hd_diag d = {0};
  int keep_launch;
  if (!PyArg_ParseTuple(args, "OsspdO&", &capsule, &name, &folder, &keep_launch, &o.seconds, get_number,
                        &o.run.machine.threads))
    return NULL;
  const hd_workload *w = workload_of(capsule);
  if (!w) return NULL;
  hd_status st = hd_gpu_load(name, folder, &gpu, &d);
  o.run.machine.n_sms = gpu.n_sms;
  o.dispatch = gpu.dispatch;
  o.keep_launch = keep_launch;
  PyThreadState *others = PyEval_SaveThread();
  if (st == HD_OK) st = hd_optimize(w, &gpu, &o, &found, &d);
  PyEval_RestoreThread(others);
  if (st != HD_OK) return raise_failure(module, &d);
  const hd_report r = hd_optimized_report(w, &gpu, gpu.dispatch, &found);
  hd_buf json = {0}, ptx = {0};
  hd_report_json(&r, &json);
  hd_optimized_text(w, &found, &ptx);
  PyObject *text = take_text(&json), *kernel = take_text(&ptx), *out = NULL;
  if (text && kernel) out = PyTuple_Pack(2, text, found.best ? kernel : Py_None);
  Py_XDECREF(text);
  Py_XDECREF(kernel);
  hd_optimized_free(&found);
  return out;
}

/* ---- The module -------------------------------------------------------------------------------------- */

static PyMethodDef functions[] = {
    {"canonical", canonical, METH_VARARGS, "(plan) -> str"},
    {"rewrite", rewrite, METH_VARARGS, "(ptx, plan, kernel, grid, block, sms, assume) -> (ptx, launch)"},
    {"analyze", analyze, METH_VARARGS, "(ptx, kernel, grid, block) -> JSON"},
    {"open_workload", open_workload, METH_VARARGS, "(name, folder, size, values, words) -> capsule"},
    {"describe_workload", describe_workload, METH_O, "(workload) -> tuple"},
    {"list_workloads", list_workloads, METH_VARARGS, "(folder) -> list"},
    {"workload_ptx", workload_ptx, METH_VARARGS, "(workload, arch) -> str"},
    {"keep_ptx", keep_ptx, METH_VARARGS, "(workload, arch)"},
    {"check", check, METH_VARARGS, "(workload, plan, no_reference, assume, sms, seed, threads) -> JSON"},
    {"open_study", open_study, METH_VARARGS, "(workload, gpu, folder, depth, threads) -> capsule"},
    {"simulate", simulate, METH_VARARGS, "(study, plan, seed) -> JSON"},
    {"sweep", sweep, METH_VARARGS, "(study, plans, seed, threads) -> CSV"},
    {"optimize", optimize, METH_VARARGS,
     "(workload, gpu, folder, keep_launch, seconds, threads) -> (JSON, ptx or None)"},
    {"get_verdict", get_verdict, METH_VARARGS,
     "(store, kernel, launch, gpu, driver) -> (plan, speedup, low, high) or None"},
    {"put_verdict", put_verdict, METH_VARARGS,
     "(store, kernel, launch, gpu, driver, name, plan, speedup, low, high, before_us, after_us, tried, "
     "rounds)"},
    {"verdict_place", verdict_place, METH_VARARGS, "(gpu, driver_version) -> (gpu, driver)"},
    {"verdict_grid", verdict_grid, METH_VARARGS, "(x, y, z) -> launch"},
    {"candidates", candidates, METH_VARARGS, "(ptx, kernel, grid, block, widths) -> list"},
    {"contest", contest, METH_VARARGS,
     "(bench, ptx, kernel, grid, block, widths, seconds, gain, seed) -> (won, plan, variant, speedup, low, "
     "high, "
     "before, after, pairs, tried)"},
    {0}};

PyMODINIT_FUNC PyInit__heddle(void);
PyMODINIT_FUNC PyInit__heddle(void) {
  static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)add_errors}, {0}};
  static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                   .m_name = "_heddle",
                                   .m_doc = "heddle's library; use the package heddle.",
                                   .m_size = sizeof(errors),
                                   .m_methods = functions,
                                   .m_slots = slots,
                                   .m_traverse = visit_errors,
                                   .m_clear = clear_errors,
                                   .m_free = free_errors};
  return PyModuleDef_Init(&definition);
}
