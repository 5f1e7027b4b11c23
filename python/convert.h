/* convert.h: between Python's values and the library's. */
#ifndef HEDDLE_PYTHON_CONVERT_H
#define HEDDLE_PYTHON_CONVERT_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include "heddle/workload.h"

/* The module's exceptions, its state. */
typedef struct errors {
  PyObject *of[HD_ERR_MISSING + 1]; /* by status; HD_OK: the base */
  PyObject *not_found;              /* hd_diag.unknown */
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
/* Pairs of an option and its text, flattened: grid, 16, block, 32, ... To be freed by PyMem_Free. */
bool get_launch_words(const words *flat, hd_launch_word **out);
/* For "O&": an unsigned, where "I" would take a larger number's last bits. */
int get_number(PyObject *from, void *out);
/* X, (X,), (X, Y) or (X, Y, Z); None leaves {0}. False: an exception is raised. */
bool get_dims(PyObject *from, uint32_t out[3]);

/* Among a launcher's arguments, behind the grid. */
enum { STREAM = 3, FUNCTION };
/* A launch's arguments with another function and grid; NULL: these stay. A new tuple; NULL: an exception is
 * raised. */
PyObject *replace_arguments(PyObject *args, PyObject *function, PyObject *const dims[3]);

/* The module's functions: each file's table, which ends with {0}. */
extern PyMethodDef file_functions[];      /* files.c: plans, texts, kernels of files */
extern PyMethodDef workload_functions[];  /* workloads.c */
extern PyMethodDef model_functions[];     /* models.c: modelled GPUs, and tuning */
extern PyMethodDef program_functions[];   /* programs.c */
extern PyMethodDef array_functions[];     /* arrays.c */
extern PyMethodDef verdict_functions[];   /* verdicts.c */
extern PyMethodDef contest_functions[];   /* contest.c */
extern PyMethodDef probation_functions[]; /* probation.c */

/* Its types. */
extern PyType_Spec launches_type;  /* launches.c */
extern PyType_Spec probation_type; /* probation.c */
extern PyType_Spec note_type;      /* notes.c */

/* workloads.c: what a capsule holds; NULL: an exception is raised. */
hd_workload *workload_of(PyObject *capsule);

#endif
