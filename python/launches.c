/* The type Launches: what is launched in the place of a kernel, by the launch's grid. It is on the way of
 * every launch, so it is C, and a launch that is left as it is goes on with the arguments as they came. */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

enum { GRIDS = 4096 }; /* that are looked up; a kernel of more is launched as it is in the others */

typedef struct entry {
  uint32_t grid[3];   /* {0}: there is none here */
  bool known;         /* what is launched; else it is looked up at the next launch */
  PyObject *call;     /* NULL: the original */
  PyObject *function; /* takes the place of the function's among the arguments; NULL: these stay */
  PyObject *dims[3];  /* likewise, of the grid's; NULL: it stays */
  uint64_t left;      /* launches until it is looked up again; 0: never */
  bool alone;         /* one launch at a time: those of `stream`, and none that a graph keeps */
  unsigned long long stream;
  uint64_t launches;
} entry;

typedef struct launches {
  PyObject_HEAD PyObject *original;
  entry *entries; /* a hash table of `cap`, a power of two, at most half full */
  size_t cap, n;
  entry *last;                              /* of the launch before */
  int (*asks)(void *stream, int *captured); /* cuStreamIsCapturing; NULL: there are no captures */
  bool owns; /* a tuple of arguments that is counted once is this call's alone */
} launches;

/* ---- The table --------------------------------------------------------------------------------- */

static bool is_of(const entry *e, const uint32_t grid[3]) {
  return e->grid[0] == grid[0] && e->grid[1] == grid[1] && e->grid[2] == grid[2];
}

/* Where the grid is, or would be. */
static entry *place_of(const launches *t, const uint32_t grid[3]) {
  uint64_t h = grid[0] * UINT64_C(0x9E3779B97F4A7C15);
  h = (h ^ grid[1]) * UINT64_C(0xBF58476D1CE4E5B9);
  h = (h ^ grid[2]) * UINT64_C(0x94D049BB133111EB);
  size_t at = (size_t)(h >> 32) & (t->cap - 1);
  while (t->entries[at].grid[0] && !is_of(&t->entries[at], grid)) at = (at + 1) & (t->cap - 1);
  return &t->entries[at];
}

static entry *find(const launches *t, const uint32_t grid[3]) {
  entry *e = t->cap ? place_of(t, grid) : NULL;
  return e && e->grid[0] ? e : NULL;
}

static bool grow(launches *t) {
  launches more = {.cap = t->cap ? 2 * t->cap : 16};
  more.entries = calloc(more.cap, sizeof *more.entries);
  if (!more.entries) return false;
  for (size_t i = 0; i < t->cap; i++)
    if (t->entries[i].grid[0]) *place_of(&more, t->entries[i].grid) = t->entries[i];
  free(t->entries);
  t->entries = more.entries;
  t->cap = more.cap;
  t->last = NULL;
  return true;
}

static void clear_entry(entry *e) {
  Py_CLEAR(e->call);
  Py_CLEAR(e->function);
  for (int k = 0; k < 3; k++) Py_CLEAR(e->dims[k]);
}

/* ---- A launch ---------------------------------------------------------------------------------- */

/* Zero, and no exception, of what is none. */
static bool get_grid(PyObject *args, uint32_t grid[3]) {
  if (PyTuple_Size(args) <= FUNCTION) return false;
  for (int k = 0; k < 3; k++) {
    const unsigned long n = PyLong_AsUnsignedLong(PyTuple_GetItem(args, k));
    if (n == 0 || n > UINT32_MAX) {
      PyErr_Clear();
      return false;
    }
    grid[k] = (uint32_t)n;
  }
  return true;
}

static PyObject *replaced_in_place(const entry *e, PyObject *args) {
  for (Py_ssize_t k = 0; k <= FUNCTION; k++) {
    PyObject *item = k < 3 ? e->dims[k] : k == FUNCTION ? e->function : NULL;
    if (!item) continue;
    Py_INCREF(item);
    PyTuple_SetItem(args, k, item);
  }
  Py_INCREF(args);
  return args;
}

PyObject *replace_arguments(PyObject *args, PyObject *function, PyObject *const dims[3]) {
  const Py_ssize_t n = PyTuple_Size(args);
  PyObject *own = PyTuple_New(n);
  for (Py_ssize_t k = 0; own && k < n; k++) {
    PyObject *item = PyTuple_GetItem(args, k);
    if (k < 3 && dims[k]) item = dims[k];
    if (k == FUNCTION && function) item = function;
    Py_INCREF(item);
    PyTuple_SetItem(own, k, item);
  }
  return own;
}

static PyObject *replaced(const launches *t, const entry *e, PyObject *args) {
  return t->owns && Py_REFCNT(args) == 1 ? replaced_in_place(e, args)
                                         : replace_arguments(args, e->function, e->dims);
}

/* The entry may go while it is called. */
static PyObject *launch(const launches *t, const entry *e, PyObject *args) {
  PyObject *call = e->call, *own = args;
  Py_INCREF(call);
  if (e->function || e->dims[0] || e->dims[1] || e->dims[2])
    own = replaced(t, e, args);
  else
    Py_INCREF(own);
  PyObject *out = own ? PyObject_Call(call, own, NULL) : NULL;
  Py_DECREF(call);
  Py_XDECREF(own);
  return out;
}

/* The subclass's `find` sets the entry; or it leaves the launch as it is, this time. */
static entry *look_up(launches *t, const uint32_t grid[3], PyObject *args) {
  if (t->n >= GRIDS && !find(t, grid)) return NULL;
  PyObject *found = PyObject_CallMethod((PyObject *)t, "find", "((III)O)", grid[0], grid[1], grid[2], args);
  if (!found) return NULL;
  Py_DECREF(found);
  entry *e = find(t, grid);
  return e && e->known ? e : NULL;
}

/* Whether it may have the entry's place: launches at once would share a state. */
static bool is_alone(const launches *t, const entry *e, PyObject *args) {
  int captured = 0;
  const unsigned long long stream = PyLong_AsUnsignedLongLong(PyTuple_GetItem(args, STREAM));
  if (PyErr_Occurred()) PyErr_Clear();
  return stream == e->stream &&
         (!t->asks || (t->asks((void *)(uintptr_t)stream, &captured) == 0 && !captured));
}

static PyObject *call(PyObject *self, PyObject *args, PyObject *named) {
  launches *t = (launches *)self;
  uint32_t grid[3];
  if (!t->original) {
    PyErr_SetString(PyExc_ValueError, "it has no original");
    return NULL;
  }
  if (named || !get_grid(args, grid)) return PyObject_Call(t->original, args, named);
  entry *e = t->last && is_of(t->last, grid) ? t->last : find(t, grid);
  if (!e || !e->known) {
    e = look_up(t, grid, args);
    if (PyErr_Occurred()) return NULL;
  }
  if (!e) return PyObject_Call(t->original, args, NULL);
  t->last = e;
  e->launches++;
  if (e->left && --e->left == 0) e->known = false;
  if (e->call && (!e->alone || is_alone(t, e, args))) return launch(t, e, args);
  return PyObject_Call(t->original, args, NULL);
}

/* ---- Methods ----------------------------------------------------------------------------------- */

static void take(PyObject *from, PyObject **to) {
  if (from == Py_None) return;
  Py_INCREF(from);
  *to = from;
}

static PyObject *set(PyObject *self, PyObject *args) {
  launches *t = (launches *)self;
  PyObject *of, *what, *function, *dims[3], *stream = Py_None;
  entry fresh = {.known = true};
  unsigned long long left;
  uint32_t grid[3];
  if (!PyArg_ParseTuple(args, "OOO(OOO)K|O", &of, &what, &function, &dims[0], &dims[1], &dims[2], &left,
                        &stream) ||
      !get_dims(of, grid))
    return NULL;
  if (!grid[0]) {
    PyErr_SetString(PyExc_ValueError, "an entry has its grid");
    return NULL;
  }
  fresh.alone = stream != Py_None;
  if (fresh.alone) fresh.stream = PyLong_AsUnsignedLongLong(stream);
  if (PyErr_Occurred()) return NULL;
  if (t->n * 2 >= t->cap && !grow(t)) return PyErr_NoMemory();
  entry *e = place_of(t, grid), before = *e;
  t->n += !before.grid[0];
  memcpy(fresh.grid, grid, sizeof grid);
  fresh.launches = before.launches;
  fresh.left = left;
  take(what, &fresh.call);
  take(function, &fresh.function);
  for (int k = 0; k < 3; k++) take(dims[k], &fresh.dims[k]);
  *e = fresh;
  clear_entry(&before);
  Py_RETURN_NONE;
}

static PyObject *watch(PyObject *self, PyObject *address) {
  launches *t = (launches *)self;
  void *const at = PyLong_AsVoidPtr(address);
  if (PyErr_Occurred()) return NULL;
  memcpy(&t->asks, &at, sizeof at);
  Py_RETURN_NONE;
}

static PyObject *counts(PyObject *self, PyObject *unused) {
  const launches *t = (const launches *)self;
  PyObject *out = PyDict_New();
  for (size_t i = 0; out && i < t->cap; i++) {
    const entry *e = &t->entries[i];
    if (!e->grid[0]) continue;
    PyObject *grid = Py_BuildValue("(III)", e->grid[0], e->grid[1], e->grid[2]),
             *n = PyLong_FromUnsignedLongLong(e->launches);
    if (!grid || !n || PyDict_SetItem(out, grid, n) != 0) Py_CLEAR(out);
    Py_XDECREF(grid);
    Py_XDECREF(n);
  }
  return out;
}

/* ---- The type ---------------------------------------------------------------------------------- */

static int each(PyObject *self, visitproc visit, void *arg) {
  const launches *t = (const launches *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(t->original);
  for (size_t i = 0; i < t->cap; i++) {
    Py_VISIT(t->entries[i].call);
    Py_VISIT(t->entries[i].function);
  }
  return 0;
}

static int clear(PyObject *self) {
  launches *t = (launches *)self;
  Py_CLEAR(t->original);
  for (size_t i = 0; i < t->cap; i++) clear_entry(&t->entries[i]);
  return 0;
}

/* The interpreter makes a tuple for each call. From Python 3.14 on a variable of the caller's may hold it
 * without being counted. */
static bool counts_all(void) {
  enum { BORROWS = 0x030E0000 };
  PyObject *version = PySys_GetObject("hexversion");
  return version && PyLong_AsLong(version) < BORROWS;
}

static int init(PyObject *self, PyObject *args, PyObject *named) {
  PyObject *original;
  launches *t = (launches *)self;
  if (!PyArg_ParseTuple(args, "O", &original)) return -1;
  PyObject *before = t->original;
  Py_INCREF(original);
  t->original = original;
  t->owns = counts_all();
  Py_XDECREF(before);
  return 0;
}

static void drop(PyObject *self) {
  launches *t = (launches *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  free(t->entries);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"set", set, METH_VARARGS,
     "(grid, call, function, (x, y, z), launches, stream=None): what is launched; None: as it came"},
    {"watch", watch, METH_O, "(address): cuStreamIsCapturing"},
    {"counts", counts, METH_NOARGS, "() -> launches by grid"},
    {0}};

static PyType_Slot slots[] = {{Py_tp_call, (void *)call},
                              {Py_tp_init, (void *)init},
                              {Py_tp_dealloc, (void *)drop},
                              {Py_tp_traverse, (void *)each},
                              {Py_tp_clear, (void *)clear},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, (void *)"Launches(original): what is launched, by the grid."},
                              {0}};
PyType_Spec launches_type = {.name = "heddle._heddle.Launches",
                             .basicsize = sizeof(launches),
                             .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                             .slots = slots};
