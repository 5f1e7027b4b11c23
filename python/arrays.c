/* Arrays of other libraries, by the DLPack protocol: their bytes in C's order. */
#include "convert.h"

#include <string.h>

/* As version 1 of the protocol lays them out in memory (https://dmlc.github.io/dlpack). */
typedef struct dl_tensor {
  void *data;
  int32_t device, device_number;
  int32_t n_dims;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides; /* in elements; strides NULL: none between rows */
  uint64_t offset;          /* bytes */
} dl_tensor;

typedef struct dl_managed {
  dl_tensor tensor;
  void *owner;
  void (*release)(struct dl_managed *self);
} dl_managed;

enum { DL_CPU = 1, DL_CUDA_HOST = 3, MOST_DIMS = 32 };

static bool is_dense(const dl_tensor *t) {
  int64_t next = 1;
  for (int32_t i = t->n_dims; t->strides && i-- > 0; next *= t->shape[i])
    if (t->shape[i] > 1 && t->strides[i] != next) return false;
  return true;
}

static void copy_elements(const dl_tensor *t, int64_t n, size_t size, char *to) {
  const char *from = (const char *)t->data + t->offset;
  int64_t at[MOST_DIMS] = {0};
  if (is_dense(t)) {
    memcpy(to, from, (size_t)n * size);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t place = 0;
    for (int32_t k = 0; k < t->n_dims; k++) place += at[k] * t->strides[k];
    memcpy(to + (size_t)i * size, from + place * (int64_t)size, size);
    for (int32_t k = t->n_dims; k-- > 0;) {
      if (++at[k] < t->shape[k]) break;
      at[k] = 0;
    }
  }
}

/* Elements of it, of `size` bytes; -1: it is nothing that can be copied, and an exception is raised. */
static int64_t count(const dl_tensor *t, size_t size) {
  int64_t n = 1, bytes;
  bool fits = t->n_dims >= 0 && t->n_dims <= MOST_DIMS;
  if (t->device != DL_CPU && t->device != DL_CUDA_HOST) {
    PyErr_SetString(PyExc_BufferError, "the array is not in the memory of the host");
    return -1;
  }
  for (int32_t i = 0; fits && i < t->n_dims; i++)
    fits = t->shape[i] >= 0 && !__builtin_mul_overflow(n, t->shape[i], &n);
  if (fits && t->bits % 8 == 0 && size && !__builtin_mul_overflow(n, size, &bytes)) return n;
  PyErr_SetString(PyExc_BufferError, "an array of this shape or type cannot be copied");
  return -1;
}

/* (bytes, type's code, bits, lanes, elements) of a capsule "dltensor", which is used up. */
static PyObject *dlpack(PyObject *module, PyObject *capsule) {
  static const char name[] = "dltensor", used[] = "used_dltensor";
  PyObject *bytes = NULL, *out = NULL;
  dl_managed *m = PyCapsule_GetPointer(capsule, name);
  if (!m) return NULL;
  const dl_tensor *t = &m->tensor;
  const size_t size = (size_t)t->bits / 8 * t->lanes;
  const int64_t n = count(t, size);
  if (n >= 0) bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((size_t)n * size));
  if (bytes) {
    char *to = PyBytes_AsString(bytes);
    PyThreadState *others = PyEval_SaveThread();
    if (n) copy_elements(t, n, size, to);
    PyEval_RestoreThread(others);
    out = Py_BuildValue("(NIIIL)", bytes, (unsigned)t->code, (unsigned)t->bits, (unsigned)t->lanes,
                        (long long)n);
  }
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (PyCapsule_SetName(capsule, used) == 0 && m->release) m->release(m);
  PyErr_Restore(type, value, trace);
  return out;
}

PyMethodDef array_functions[] = {
    {"dlpack", dlpack, METH_O, "(capsule) -> (bytes, code, bits, lanes, elements)"}, {0}};
