/* convert.h: between Python's values and the library's. */
#ifndef HEDDLE_PYTHON_CONVERT_H
#define HEDDLE_PYTHON_CONVERT_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include "heddle/base.h"

/* The module's exceptions, its state. */
typedef struct errors {
  PyObject *of[HD_ERR_USAGE + 1]; /* by status; HD_OK: the base; one for HD_ERR_NOMEM and HD_ERR_BUDGET */
} errors;
int add_errors(PyObject *module);
int visit_errors(PyObject *module, visitproc visit, void *arg);
int clear_errors(PyObject *module);
void free_errors(void *module);

/* Raise the exception of a failure, which carries its place. Returns NULL. */
PyObject *raise_failure(PyObject *module, const hd_diag *d);
/* The text of a buffer, which is freed. */
PyObject *take_text(hd_buf *b);

/* Texts of a Python sequence; the sequence keeps them alive. */
typedef struct words {
  PyObject *list;
  const char **at;
  size_t n;
} words;
/* `from` NULL or None: none. Every item is a str. False: an exception is raised. */
bool get_words(PyObject *from, words *out);
void free_words(words *w);
/* For "O&": an unsigned, where "I" would take a larger number's last bits. */
int get_number(PyObject *from, void *out);
/* X, (X,), (X, Y) or (X, Y, Z); None leaves {0}. False: an exception is raised. */
bool get_dims(PyObject *from, uint32_t out[3]);

/* verdicts.c */
PyObject *get_verdict(PyObject *module, PyObject *args);
PyObject *put_verdict(PyObject *module, PyObject *args);
PyObject *verdict_place(PyObject *module, PyObject *args);
PyObject *verdict_grid(PyObject *module, PyObject *args);

/* contest.c */
PyObject *candidates(PyObject *module, PyObject *args);
PyObject *contest(PyObject *module, PyObject *args);

#endif
