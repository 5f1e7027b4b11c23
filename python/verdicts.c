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

/* (plan, speedup, low, high) or None. */
static PyObject *get_verdict(PyObject *module, PyObject *args) {
  const char *path, *kernel, *launch, *gpu, *driver;
  hd_verdict_key key;
  hd_verdict v;
  hd_store *s = NULL;
  bool found = false;
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "zssss", &path, &kernel, &launch, &gpu, &driver)) return NULL;
  if (!get_key(kernel, launch, gpu, driver, &key)) return NULL;
  PyThreadState *others = PyEval_SaveThread();
  hd_status st = hd_store_open(path, &s, &d);
  if (st == HD_OK) st = hd_store_get(s, &key, &v, &found, &d);
  hd_store_close(s);
  PyEval_RestoreThread(others);
  if (st != HD_OK) return raise_failure(module, &d);
  if (!found) Py_RETURN_NONE;
  return Py_BuildValue("(sddd)", v.plan, v.speedup, v.low, v.high);
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
    {"get_verdict", get_verdict, METH_VARARGS,
     "(store, kernel, launch, gpu, driver) -> (plan, speedup, low, high) or None"},
    {"put_verdict", put_verdict, METH_VARARGS,
     "(store, kernel, launch, gpu, driver, name, plan, speedup, low, high, before_us, after_us, tried, "
     "rounds)"},
    {"verdict_place", verdict_place, METH_VARARGS, "(gpu, driver_version) -> (gpu, driver)"},
    {"verdict_grid", verdict_grid, METH_VARARGS, "(x, y, z) -> launch"},
    {0}};
