/* convert.c: exceptions, texts, words and dimensions. */
#include "convert.h"

#include <string.h>

/* ---- Errors -------------------------------------------------------------------------------- */

static errors *errors_of(PyObject *module) { return PyModule_GetState(module); }

int add_errors(PyObject *module) {
  static const struct {
    const char *name, *doc;
  } kinds[] = {
      [HD_OK] = {"heddle.Error", "Anything that heddle could not do; file, line and column say where."},
      [HD_ERR_INPUT] = {"heddle.InputError", "The input is malformed."},
      [HD_ERR_IO] = {"heddle.SystemError", "The operating system said no."},
      [HD_ERR_NOMEM] = {"heddle.BudgetError", "Out of memory, or over a budget."},
      [HD_ERR_REFUSED] = {"heddle.RefusedError", "The rewriting would not be sound."},
      [HD_ERR_UNSUPPORTED] = {"heddle.UnsupportedError", "heddle does not do this."},
      [HD_ERR_FAULT] = {"heddle.FaultError", "An emulated kernel did something wrong."},
      [HD_ERR_USAGE] = {"heddle.UsageError", "The words are off: an unknown name, plan or size."},
  };
  errors *all = errors_of(module);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (i == HD_ERR_BUDGET) {
      all->of[i] = Py_NewRef(all->of[HD_ERR_NOMEM]);
      continue;
    }
    all->of[i] = PyErr_NewExceptionWithDoc(kinds[i].name, kinds[i].doc, i ? all->of[HD_OK] : NULL, NULL);
    if (!all->of[i] || PyModule_AddObjectRef(module, strchr(kinds[i].name, '.') + 1, all->of[i]) != 0)
      return -1;
  }
  return 0;
}

int visit_errors(PyObject *module, visitproc visit, void *arg) {
  errors *all = errors_of(module);
  for (size_t i = 0; all && i <= HD_ERR_USAGE; i++) Py_VISIT(all->of[i]);
  return 0;
}

int clear_errors(PyObject *module) {
  errors *all = errors_of(module);
  for (size_t i = 0; all && i <= HD_ERR_USAGE; i++) Py_CLEAR(all->of[i]);
  return 0;
}

void free_errors(void *module) { clear_errors(module); }

static int set_place(PyObject *e, const char *name, PyObject *value) {
  int rc = value ? PyObject_SetAttrString(e, name, value) : -1;
  Py_XDECREF(value);
  return rc;
}

PyObject *raise_failure(PyObject *module, const hd_diag *d) {
  const errors *all = errors_of(module);
  if (d->status == HD_ERR_NOMEM && strcmp(d->message, "out of memory") == 0) return PyErr_NoMemory();
  char line[1600];
  PyObject *type = all->of[d->status <= HD_ERR_USAGE ? d->status : HD_OK],
           *e = PyObject_CallFunction(type, "s", hd_diag_line(d, line, sizeof line));
  if (!e) return NULL;
  if (set_place(e, "file", PyUnicode_DecodeFSDefault(d->file)) == 0 &&
      set_place(e, "line", PyLong_FromUnsignedLong(d->line)) == 0 &&
      set_place(e, "column", PyLong_FromUnsignedLong(d->column)) == 0 &&
      set_place(e, "message", PyUnicode_DecodeUTF8(d->message, (Py_ssize_t)strlen(d->message), "replace")) ==
          0)
    PyErr_SetObject(type, e);
  Py_DECREF(e);
  return NULL;
}

PyObject *take_text(hd_buf *b) {
  PyObject *text = b->failed ? PyErr_NoMemory()
                             : PyUnicode_DecodeUTF8(b->data ? b->data : "", (Py_ssize_t)b->len, "replace");
  hd_buf_free(b);
  return text;
}

/* ---- Words ----------------------------------------------------------------------------------- */

void free_words(words *w) {
  PyMem_Free((void *)w->at);
  Py_CLEAR(w->list);
}

bool get_words(PyObject *from, words *out) {
  *out = (words){0};
  if (!from || from == Py_None) return true;
  out->list = PySequence_List(from);
  if (!out->list) return false;
  out->n = (size_t)PyList_Size(out->list);
  out->at = PyMem_Calloc(out->n + 1, sizeof *out->at);
  if (!out->at) PyErr_NoMemory();
  for (size_t i = 0; out->at && i < out->n; i++)
    if (!(out->at[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(out->list, (Py_ssize_t)i), NULL))) break;
  if (!PyErr_Occurred()) return true;
  free_words(out);
  return false;
}

int get_number(PyObject *from, void *out) {
  const unsigned long v = PyLong_AsUnsignedLong(from);
  const bool failed = PyErr_Occurred() != NULL;
  if (failed && !PyErr_ExceptionMatches(PyExc_OverflowError)) return 0;
  PyErr_Clear();
  if (failed || v > UINT32_MAX) {
    PyErr_Format(PyExc_ValueError, "%R is no number from 0 to %lu", from, (unsigned long)UINT32_MAX);
    return 0;
  }
  *(unsigned *)out = (unsigned)v;
  return 1;
}

bool get_dims(PyObject *from, uint32_t out[3]) {
  out[0] = out[1] = out[2] = 0;
  if (!from || from == Py_None) return true;
  PyObject *list = PyLong_Check(from) ? Py_BuildValue("[O]", from) : PySequence_List(from);
  Py_ssize_t n = list ? PyList_Size(list) : 0;
  bool ok = list && n >= 1 && n <= 3;
  for (Py_ssize_t i = 0; ok && i < 3; i++) {
    unsigned long v = i < n ? PyLong_AsUnsignedLong(PyList_GetItem(list, i)) : 1;
    ok = !PyErr_Occurred() && v >= 1 && v <= UINT32_MAX;
    out[i] = (uint32_t)v;
  }
  Py_XDECREF(list);
  if (!ok && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "one to three numbers from 1 on");
  return ok;
}
