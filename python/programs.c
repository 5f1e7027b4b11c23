/* CUDA programs with heddle's libraries in front of them. These functions are for a process of its own, which
 * has one thread: some become the program, others make copies of the process. */
#include "convert.h"

#include <stdio.h>

#include "heddle/process.h"
#include "heddle/whole.h"
#include "work.h"

static void tell(const hd_diag *d) {
  char line[1600];
  fprintf(stderr, "heddle: %s\n", hd_diag_line(d, line, sizeof line));
}

/* A text of a dictionary; NULL: it is not there, or None. */
static const char *text_of(PyObject *options, const char *key) {
  PyObject *found = PyDict_GetItemString(options, key);
  return found && found != Py_None ? PyUnicode_AsUTF8AndSize(found, NULL) : NULL;
}

static bool flag_of(PyObject *options, const char *key) {
  PyObject *found = PyDict_GetItemString(options, key);
  return found && PyObject_IsTrue(found) == 1;
}

/* A GPU's name under "emulate": the program runs on the emulator. */
static bool is_emulated(PyObject *options, const char *folder, hd_program_options *out) {
  *out = (hd_program_options){.gpu = text_of(options, "emulate"),
                              .gpu_dir = folder,
                              .folder = text_of(options, "library"),
                              .checks = text_of(options, "checks"),
                              .findings = text_of(options, "findings"),
                              .kernel = text_of(options, "kernel"),
                              .devices = 1,
                              .quiet = !text_of(options, "checks")};
  return out->gpu != NULL;
}

static bool get_program(PyObject *from, words *out) {
  if (!get_words(from, out)) return false;
  if (out->n) return true;
  PyErr_SetString(PyExc_ValueError, "which program?");
  return false;
}

/* Becomes the program: `heddle run`, `heddle record` where the options have "record", or `heddle emu`. */
static PyObject *become(PyObject *module, PyObject *args) {
  PyObject *options, *argv;
  const char *folder;
  words program;
  hd_program_options emulated;
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "O!Os", &PyDict_Type, &options, &argv, &folder)) return NULL;
  if (!get_program(argv, &program)) return NULL;
  const bool emulate = is_emulated(options, folder, &emulated), alone = flag_of(options, "emulator_alone");
  const hd_steer_options o = {.plan = text_of(options, "plan"),
                              .store = text_of(options, "store"),
                              .pin = text_of(options, "pin"),
                              .report = text_of(options, "report"),
                              .page = text_of(options, "page"),
                              .folder = text_of(options, "library"),
                              .record = text_of(options, "record"),
                              .kernel = text_of(options, "kernel"),
                              .budget = text_of(options, "budget"),
                              .total = text_of(options, "total"),
                              .worth = text_of(options, "worth"),
                              .gain = text_of(options, "gain"),
                              .launch = text_of(options, "launch"),
                              .most = text_of(options, "most"),
                              .tune = flag_of(options, "tune"),
                              .unguarded = flag_of(options, "unguarded"),
                              .quiet = true};
  if (alone)
    emulated.report = o.report;
  else
    emulated.kernel = NULL; /* it is for what is recorded */
  const hd_status st = emulate ? hd_program_prepare(&emulated, &d) : HD_OK;
  if (PyErr_Occurred()) {
    free_words(&program);
    return NULL;
  }
  if (st == HD_OK && alone)
    hd_program_become((char **)program.at, &d);
  else if (st == HD_OK)
    hd_steer_exec(&o, (char **)program.at, tell, &d);
  free_words(&program);
  return raise_failure(module, &d);
}

/* This process ends when its parent of this number does. */
static PyObject *end_with(PyObject *module, PyObject *args) {
  long parent;
  if (!PyArg_ParseTuple(args, "l", &parent)) return NULL;
  hd_process_end_with((pid_t)parent);
  Py_RETURN_NONE;
}

/* ---- Programs that are waited for ---------------------------------------------------------------------- */

typedef struct profiling {
  words program;
  hd_steer_options steer;
  hd_profile_options o;
  hd_gpu gpu;
  hd_profile profile;
  bool profiled;
  int code;
} profiling;

static hd_status do_profile(void *ctx, hd_diag *d) {
  profiling *p = ctx;
  return hd_whole_profile(&p->steer, (char **)p->program.at, tell, &p->o, &p->profiled, &p->code, &p->profile,
                          d);
}

/* (JSON, page, exit code); texts are empty if the program loaded no kernel. */
static PyObject *profile(PyObject *module, PyObject *args) {
  PyObject *options, *argv, *progress, *out = NULL;
  const char *name, *folder;
  unsigned most, threads;
  work w;
  profiling p = {0};
  hd_program_options emulated;
  hd_buf json = {0}, page = {0};
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "O!OssO&O&O", &PyDict_Type, &options, &argv, &name, &folder, get_number, &most,
                        get_number, &threads, &progress))
    return NULL;
  if (hd_gpu_load(name, folder, &p.gpu, &d) != HD_OK) return raise_failure(module, &d);
  if (!get_program(argv, &p.program)) return NULL;
  work_begin(&w, progress, NULL);
  p.steer = (hd_steer_options){.folder = text_of(options, "library"),
                               .emulated = is_emulated(options, folder, &emulated) ? &emulated : NULL};
  p.o = (hd_profile_options){&p.gpu, most, threads, w.watch};
  if (!PyErr_Occurred() && work_run(&w, do_profile, &p, module)) {
    if (p.profiled) hd_profile_json(&p.profile, &json), hd_profile_html(&p.profile, p.program.at[0], &page);
    PyObject *text = take_text(&json), *html = take_text(&page);
    if (text && html) out = Py_BuildValue("(OOi)", text, html, p.code);
    Py_XDECREF(text);
    Py_XDECREF(html);
  }
  hd_profile_free(&p.profile);
  free_words(&p.program);
  return out;
}

typedef struct whole {
  words program;
  hd_whole_options o;
  hd_gpu gpu;
  hd_hot hot;
} whole;

static hd_status do_whole(void *ctx, hd_diag *d) {
  whole *z = ctx;
  return hd_whole_optimize(&z->o, &z->hot, d);
}

/* (JSON, page, exit code) */
static PyObject *optimize_program(PyObject *module, PyObject *args) {
  PyObject *options, *argv, *progress, *out = NULL;
  const char *gpu_dir;
  unsigned most;
  int exact, keep_launch;
  work w;
  whole z = {0};
  hd_buf json = {0}, page = {0};
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "O!OsssO&ddppO&O", &PyDict_Type, &options, &argv, &z.o.folder, &z.o.gpu_name,
                        &gpu_dir, get_number, &most, &z.o.each.seconds, &z.o.each.wall, &exact, &keep_launch,
                        get_number, &z.o.each.run.machine.threads, &progress))
    return NULL;
  if (hd_gpu_load(z.o.gpu_name, gpu_dir, &z.gpu, &d) != HD_OK) return raise_failure(module, &d);
  if (!get_program(argv, &z.program)) return NULL;
  work_begin(&w, progress, NULL);
  z.o.argv = (char **)z.program.at;
  z.o.gpu = &z.gpu;
  z.o.gpu_dir = gpu_dir;
  z.o.kernel = text_of(options, "kernel");
  z.o.save = text_of(options, "save");
  z.o.library = text_of(options, "library");
  z.o.most = most;
  z.o.each.exact = exact;
  z.o.each.keep_launch = keep_launch;
  z.o.told = tell;
  z.o.each.progress = w.watch.tell;
  z.o.each.stop = work_is_stopped;
  z.o.each.ctx = &w;
  z.o.each.dispatch = z.gpu.dispatch;
  if (!PyErr_Occurred() && work_run(&w, do_whole, &z, module)) {
    hd_hot_json(&z.hot, &json);
    hd_hot_html(&z.hot, &page);
    PyObject *text = take_text(&json), *html = take_text(&page);
    if (text && html) out = Py_BuildValue("(OOi)", text, html, z.hot.code);
    Py_XDECREF(text);
    Py_XDECREF(html);
  }
  hd_hot_free(&z.hot);
  free_words(&z.program);
  return out;
}

PyMethodDef program_functions[] = {
    {"end_with", end_with, METH_VARARGS, "(number of the parent process)"},
    {"become", become, METH_VARARGS, "(options, argv, folder of GPUs)"},
    {"profile", profile, METH_VARARGS,
     "(options, argv, gpu, folder, most, threads, progress) -> (JSON, page, exit code)"},
    {"optimize_program", optimize_program, METH_VARARGS,
     "(options, argv, folder, gpu, folder of GPUs, most, seconds, wall, exact, keep_launch, threads, "
     "progress) -> "
     "(JSON, page, exit code)"},
    {0}};
