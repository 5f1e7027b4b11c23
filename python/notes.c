/* The type Note: what a program has learnt of verdicts (heddle/steer.h). */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/probation.h"
#include "heddle/steer.h"
#include "heddle/trusted.h"

static void drop(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

typedef struct note {
  PyObject_HEAD hd_steer_note is;
  bool known; /* an earlier process wrote it */
} note;

/* The file for a program; false: there is no folder for it, or others may write there. */
static bool file_of(const char *program, char path[HD_STEER_PATH]) {
  char folder[HD_STEER_PATH];
  if (hd_steer_notes(folder, sizeof folder, NULL) != HD_OK) return false;
  char *last = strrchr(folder, '/');
  *last = 0;
  const bool made = hd_folder_make(folder, NULL) == HD_OK;
  *last = '/';
  if (!made || hd_trusted_folder(folder, true, NULL) != HD_OK) return false;
  hd_steer_notes_of(folder, program, path);
  return path[0];
}

typedef struct wanted {
  note *to;
  const char *program;
} wanted;

static void take(void *ctx, const char *program, const hd_steer_note *n) {
  const wanted *w = ctx;
  if (strcmp(program, w->program) != 0 || !hd_steer_note_is_of(n, &w->to->is.key) ||
      strcmp(n->plan, w->to->is.plan) != 0)
    return;
  w->to->is = *n;
  w->to->known = true;
}

static bool fits(const char *text, char *out, size_t cap) {
  if (strlen(text) >= cap) {
    PyErr_Format(PyExc_ValueError, "longer than %zu bytes: '%s'", cap - 1, text);
    return false;
  }
  memcpy(out, text, strlen(text) + 1);
  return true;
}

static int note_init(PyObject *self, PyObject *args, PyObject *named) {
  const char *program, *kernel, *of_launch, *gpu, *driver, *plan, *name;
  long long when;
  char path[HD_STEER_PATH];
  hd_verdict v;
  note *n = (note *)self;
  memset(&v, 0, sizeof v);
  if (!PyArg_ParseTuple(args, "sssssssdddL", &program, &kernel, &of_launch, &gpu, &driver, &plan, &name,
                        &v.speedup, &v.before_us, &v.after_us, &when))
    return -1;
  v.when = when;
  if (!fits(kernel, v.key.kernel, sizeof v.key.kernel) ||
      !fits(of_launch, v.key.launch, sizeof v.key.launch) || !fits(gpu, v.key.gpu, sizeof v.key.gpu) ||
      !fits(driver, v.key.driver, sizeof v.key.driver) || !fits(plan, v.plan, sizeof v.plan))
    return -1;
  n->is = hd_steer_note_of(&v, name);
  n->known = false;
  if (file_of(program, path)) hd_steer_notes_read(path, take, &(wanted){n, program});
  const bool stale = n->known && hd_steer_note_is_stale(&n->is);
  if (n->is.of != v.when || stale) hd_steer_note_begin(&n->is, &v);
  if (stale) n->is.ready = 0;
  return 0;
}

static PyObject *note_state(PyObject *self, PyObject *unused) {
  const note *n = (const note *)self;
  return Py_BuildValue("(OsiOOddddd)", n->known ? Py_True : Py_False, n->is.state,
                       n->known ? (int)hd_steer_note_trust(&n->is) : (int)HD_TRUST_NONE,
                       !n->known || hd_steer_note_pays(&n->is) ? Py_True : Py_False,
                       n->known && hd_steer_note_is_seldom(&n->is) ? Py_True : Py_False, n->is.median,
                       n->is.promised, n->is.launches, n->is.saves, n->is.ready);
}

static PyObject *note_learn(PyObject *self, PyObject *args) {
  unsigned end, pairs;
  double original;
  hd_turns_arm a = {0};
  note *n = (note *)self;
  if (!PyArg_ParseTuple(args, "I(Iddddddd)", &end, &pairs, &a.median, &a.low, &a.high, &a.mean, &original,
                        &a.seconds, &a.lost))
    return NULL;
  a.pairs = pairs;
  if (pairs && end <= HD_PROBATION_UNSURE) hd_steer_note_learn(&n->is, (hd_probation)end, &a, original);
  Py_RETURN_NONE;
}

static PyObject *note_count(PyObject *self, PyObject *args) {
  note *n = (note *)self;
  if (!PyArg_ParseTuple(args, "dd", &n->is.launches, &n->is.ready)) return NULL;
  Py_RETURN_NONE;
}

/* Without a folder nothing is learnt. */
static PyObject *note_put(PyObject *self, PyObject *args) {
  const char *program;
  PyObject *list;
  char path[HD_STEER_PATH];
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "sO", &program, &list)) return NULL;
  const Py_ssize_t n = PySequence_Size(list);
  if (n < 0) return NULL;
  hd_steer_note *all = calloc((size_t)n + 1, sizeof *all);
  if (!all) return PyErr_NoMemory();
  all[0] = ((const note *)self)->is;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *item = PySequence_GetItem(list, i);
    if (item && Py_TYPE(item) == Py_TYPE(self)) all[i + 1] = ((const note *)item)->is;
    Py_XDECREF(item);
  }
  hd_status st = HD_OK;
  if (file_of(program, path)) st = hd_steer_notes_put(path, program, all, (size_t)n + 1, &d);
  free(all);
  if (st == HD_OK) Py_RETURN_NONE;
  return PyErr_Format(PyExc_OSError, "%s", d.message);
}

static PyMethodDef note_methods[] = {
    {"state", note_state, METH_NOARGS,
     "() -> (known, state, trust, pays, seldom, median, promised, launches, saves, ready)"},
    {"learn", note_learn, METH_VARARGS, "(end, measured): what launches in turns have shown"},
    {"count", note_count, METH_VARARGS, "(launches, ready): of this process, and seconds to get ready"},
    {"put", note_put, METH_VARARGS, "(program, others): this and the others into the program's file"},
    {0}};

static PyType_Slot note_slots[] = {
    {Py_tp_init, (void *)note_init},
    {Py_tp_dealloc, (void *)drop},
    {Py_tp_methods, note_methods},
    {Py_tp_doc,
     (void *)"Note(program, kernel, launch, gpu, driver, plan, name, speedup, before_us, after_us, when)"},
    {0}};
PyType_Spec note_type = {.name = "heddle._heddle.Note",
                         .basicsize = sizeof(note),
                         .flags = Py_TPFLAGS_DEFAULT,
                         .slots = note_slots};
