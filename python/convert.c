/* convert.c: exceptions, texts, words and dimensions. */
#include "convert.h"

#include <string.h>

/* ---- Errors -------------------------------------------------------------------------------- */

static errors *errors_of(PyObject *module) { return PyModule_GetState(module); }

static const struct {
  hd_status status, base; /* HD_OK: heddle.Error */
  const char *name, *doc;
} kinds[] = {
    {HD_ERR_INPUT, HD_OK, "heddle.InputError", "The input is malformed."},
    {HD_ERR_IO, HD_OK, "heddle.SystemError", "The operating system said no."},
    {HD_ERR_NOMEM, HD_OK, "heddle.BudgetError", "Out of memory, or over a budget of time, work or memory."},
    {HD_ERR_BUDGET, HD_ERR_NOMEM, "heddle.NoAnswerError",
     "A bound was reached before there was an answer. `result`: what is known all the same, or None; "
     "`tried`: the "
     "plans that were."},
    {HD_ERR_REFUSED, HD_OK, "heddle.RefusedError",
     "The rewriting would not be sound: `line` of the PTX says why, or `reason` alone."},
    {HD_ERR_UNSUPPORTED, HD_OK, "heddle.UnsupportedError", "heddle does not do this."},
    {HD_ERR_FAULT, HD_OK, "heddle.FaultError", "An emulated kernel did something wrong."},
    {HD_ERR_USAGE, HD_OK, "heddle.UsageError", "The words are off: an argument, a plan, a value."},
    {HD_ERR_MISSING, HD_ERR_UNSUPPORTED, "heddle.MissingError",
     "A program that this needs, such as a compiler, is not on this machine."},
};

static PyObject *add_error(PyObject *module, const char *name, const char *doc, PyObject *bases,
                           PyObject *dict) {
  PyObject *e = PyErr_NewExceptionWithDoc(name, doc, bases, dict);
  if (e && PyModule_AddObjectRef(module, strchr(name, '.') + 1, e) != 0) Py_CLEAR(e);
  return e;
}

int add_errors(PyObject *module) {
  errors *all = errors_of(module);
  PyObject *place = Py_BuildValue("{s:s,s:i,s:i,s:s,s:s,s:O,s:()}", "file", "", "line", 0, "column", 0,
                                  "message", "", "reason", "", "result", Py_None, "tried");
  all->of[HD_OK] =
      place ? add_error(module, "heddle.Error",
                        "Anything that heddle could not do; file, line and column say where.", NULL, place)
            : NULL;
  Py_XDECREF(place);
  if (!all->of[HD_OK]) return -1;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    all->of[kinds[i].status] = add_error(module, kinds[i].name, kinds[i].doc, all->of[kinds[i].base], NULL);
    if (!all->of[kinds[i].status]) return -1;
  }
  PyObject *bases = PyTuple_Pack(2, all->of[HD_ERR_USAGE], PyExc_LookupError);
  if (bases)
    all->not_found =
        add_error(module, "heddle.NotFoundError", "A name is of nothing that there is.", bases, NULL);
  Py_XDECREF(bases);
  return all->not_found ? 0 : -1;
}

int visit_errors(PyObject *module, visitproc visit, void *arg) {
  errors *all = errors_of(module);
  for (size_t i = 0; all && i <= HD_ERR_MISSING; i++) Py_VISIT(all->of[i]);
  if (all) Py_VISIT(all->not_found);
  return 0;
}

int clear_errors(PyObject *module) {
  errors *all = errors_of(module);
  for (size_t i = 0; all && i <= HD_ERR_MISSING; i++) Py_CLEAR(all->of[i]);
  if (all) Py_CLEAR(all->not_found);
  return 0;
}

void free_errors(void *module) { clear_errors(module); }

static int set_place(PyObject *e, const char *name, PyObject *value) {
  int rc = value ? PyObject_SetAttrString(e, name, value) : -1;
  Py_XDECREF(value);
  return rc;
}

static PyObject *text_of(const char *text) {
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

PyObject *raise_failure(PyObject *module, const hd_diag *d) {
  const errors *all = errors_of(module);
  if (d->status == HD_ERR_NOMEM && strcmp(d->message, "out of memory") == 0) return PyErr_NoMemory();
  char line[1600];
  PyObject *type = d->unknown                    ? all->not_found
                   : d->status <= HD_ERR_MISSING ? all->of[d->status]
                                                 : all->of[HD_OK];
  /* A name is looked for in many files: which one did not have it is in `file`. */
  PyObject *said = text_of(d->unknown ? d->message : hd_diag_line(d, line, sizeof line));
  PyObject *e = said ? PyObject_CallFunctionObjArgs(type, said, NULL) : NULL;
  Py_XDECREF(said);
  if (!e) return NULL;
  if (set_place(e, "file", PyUnicode_DecodeFSDefault(d->file)) == 0 &&
      set_place(e, "line", PyLong_FromUnsignedLong(d->line)) == 0 &&
      set_place(e, "column", PyLong_FromUnsignedLong(d->column)) == 0 &&
      set_place(e, "message", text_of(d->message)) == 0 &&
      set_place(e, "reason", text_of(hd_diag_reason(d))) == 0)
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

bool get_launch_words(const words *flat, hd_launch_word **out) {
  *out = PyMem_Calloc(flat->n / 2 + 1, sizeof **out);
  if (!*out) PyErr_NoMemory();
  for (size_t i = 0; *out && i + 1 < flat->n; i += 2)
    (*out)[i / 2] = (hd_launch_word){flat->at[i], flat->at[i + 1]};
  return *out != NULL;
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
