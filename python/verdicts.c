/* Verdicts for kernels whose launches the caller knows by a key of its own. */
#include "convert.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "heddle/plan.h"
#include "heddle/store.h"

static bool fits(const char *text, char *out, size_t cap) {
  const int n = snprintf(out, cap, "%s", text);
  if (n >= 0 && (size_t)n < cap) return true;
  PyErr_Format(PyExc_ValueError, "longer than %zu bytes: '%s'", cap - 1, text);
  return false;
}

static bool get_key(const char *kernel, const char *launch, const char *gpu, const char *driver,
                    hd_verdict_key *key) {
  memset(key, 0, sizeof *key);
  return fits(kernel, key->kernel, sizeof key->kernel) && fits(launch, key->launch, sizeof key->launch) &&
         fits(gpu, key->gpu, sizeof key->gpu) && fits(driver, key->driver, sizeof key->driver);
}

typedef struct listing {
  PyObject *list;
  const char *gpu, *driver;
  bool failed;
} listing;

/* A verdict's launch, of kernels that go by Triton's keys; it is the same for every grid of no number. */
static bool is_grid(const char *launch) {
  uint32_t none[3] = {0};
  char text[192];
  hd_verdict_grid(none, text);
  return strncmp(launch, text, strcspn(text, "=") + 1) == 0;
}

static bool add(void *ctx, const hd_verdict *v) {
  listing *l = ctx;
  if (strcmp(v->key.gpu, l->gpu) != 0 || strcmp(v->key.driver, l->driver) != 0 || !is_grid(v->key.launch))
    return true;
  PyObject *row = Py_BuildValue("(sssdddL)", v->key.kernel, v->key.launch, v->plan, v->speedup, v->before_us,
                                v->after_us, (long long)v->when);
  l->failed = !row || PyList_Append(l->list, row) != 0;
  Py_XDECREF(row);
  return !l->failed;
}

/* All that are for a place, of kernels that go by a key. */
static PyObject *list_verdicts(PyObject *module, PyObject *args) {
  const char *path;
  listing l = {0};
  hd_store *s = NULL;
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "zss", &path, &l.gpu, &l.driver)) return NULL;
  l.list = PyList_New(0);
  if (!l.list) return NULL;
  PyThreadState *others = PyEval_SaveThread();
  hd_status st = hd_store_open(path, &s, &d);
  PyEval_RestoreThread(others);
  if (st == HD_OK) st = hd_store_each(s, NULL, add, &l, &d);
  hd_store_close(s);
  if (st == HD_OK && !l.failed) return l.list;
  Py_DECREF(l.list);
  return st == HD_OK ? NULL : raise_failure(module, &d);
}

/* A plan's speedup as measured: median, bounds at 99%, microseconds of the original and of the plan; plans
 * tried, and rounds of the decision. */
static PyObject *put_verdict(PyObject *module, PyObject *args) {
  const char *path, *kernel, *launch, *gpu, *driver, *name, *plan;
  unsigned rounds;
  hd_verdict v;
  hd_plan parsed;
  hd_store *s = NULL;
  hd_diag d = {0};
  memset(&v, 0, sizeof v);
  if (!PyArg_ParseTuple(args, "zssssssdddddII", &path, &kernel, &launch, &gpu, &driver, &name, &plan,
                        &v.speedup, &v.low, &v.high, &v.before_us, &v.after_us, &v.tried, &rounds))
    return NULL;
  snprintf(v.name, sizeof v.name, "%s", name);
  if (!get_key(kernel, launch, gpu, driver, &v.key) || !fits(plan, v.plan, sizeof v.plan)) return NULL;
  hd_status st = hd_plan_parse(plan, &parsed, &d);
  if (st != HD_OK) return raise_failure(module, &d);
  v.confidence = 0.99;
  hd_verdict_basis(HD_BASIS_ROUNDS, rounds, v.basis);
  v.when = (int64_t)time(NULL);
  PyThreadState *others = PyEval_SaveThread();
  st = hd_store_open(path, &s, &d);
  if (st == HD_OK) st = hd_store_put(s, &v, &d);
  hd_store_close(s);
  PyEval_RestoreThread(others);
  if (st != HD_OK) return raise_failure(module, &d);
  Py_RETURN_NONE;
}

static PyObject *verdict_place(PyObject *module, PyObject *args) {
  const char *gpu;
  unsigned version;
  hd_verdict_key key;
  if (!PyArg_ParseTuple(args, "sO&", &gpu, get_number, &version)) return NULL;
  hd_verdict_place(gpu, 0, version, &key);
  return Py_BuildValue("(ss)", key.gpu, key.driver);
}

static PyObject *verdict_grid(PyObject *module, PyObject *args) {
  uint32_t grid[3];
  hd_verdict_key key;
  if (!PyArg_ParseTuple(args, "O&O&O&", get_number, &grid[0], get_number, &grid[1], get_number, &grid[2]))
    return NULL;
  hd_verdict_grid(grid, key.launch);
  return PyUnicode_FromString(key.launch);
}

PyMethodDef verdict_functions[] = {
    {"list_verdicts", list_verdicts, METH_VARARGS,
     "(store, gpu, driver) -> [(kernel, launch, plan, speedup, before_us, after_us, when)]"},
    {"put_verdict", put_verdict, METH_VARARGS,
     "(store, kernel, launch, gpu, driver, name, plan, speedup, low, high, before_us, after_us, tried, "
     "rounds)"},
    {"verdict_place", verdict_place, METH_VARARGS, "(gpu, driver_version) -> (gpu, driver)"},
    {"verdict_grid", verdict_grid, METH_VARARGS, "(x, y, z) -> launch"},
    {0}};
