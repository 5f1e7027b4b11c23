/* The type Probation: launches that are the original's or a plan's by turns (heddle/probation.h), each
 * between two events. It stands in a launcher's place while it is not known whether the plan is as fast, so
 * it is C, as launches.c is: it allocates nothing but the events, which are used again, and calls Python for
 * the launch alone. The driver's functions come by their addresses. */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/probation.h"

enum {
  PENDING = 64,     /* launches whose times are not known yet */
  MISSES = 64,      /* launches in a row that could not be timed */
  VISITS = 1 << 16, /* launches of a probation in all: few of them may be timed */
  NOT_READY = 600,  /* the driver's CUDA_ERROR_NOT_READY; */
  RELAXED = 2       /* and its CU_STREAM_CAPTURE_MODE_RELAXED */
};

typedef struct timing {
  void *begin, *end; /* events; NULL: not made yet */
  uint32_t arm;
  bool timed;
} timing;

typedef struct driver {
  int (*is_capturing)(void *stream, int *captured);
  int (*exchange_mode)(int *mode);
  int (*create)(void **event, unsigned flags);
  int (*record)(void *event, void *stream);
  int (*elapsed)(float *ms, void *begin, void *end);
  int (*destroy)(void *event);
} driver;

typedef struct probation {
  PyObject_HEAD hd_turns *turns;
  driver d;
  PyObject *original, *plan;    /* what is called; */
  PyObject *function, *dims[3]; /* and what takes the place of the plan's arguments; NULL: they stay */
  bool trusted, ahead, alone;   /* ahead: many launches may be under way before any time is known */
  unsigned long long stream;    /* the only one in which the plan's launches may be, if it is `alone` */
  uint32_t told, looked, misses, visits;
  timing timings[PENDING]; /* a ring, in the order of the launches */
  size_t first, pending;
  bool leads, over, stays;
  bool busy;      /* a launch is under way: the interpreter's lock may be another thread's meanwhile */
  uint64_t plain; /* launches that were the original's */
} probation;

/* ---- The driver -------------------------------------------------------------------------------- */

/* Calls that another thread's capture would refuse are let through. */
static int relax(const probation *p) {
  int mode = RELAXED;
  return p->d.exchange_mode(&mode) == 0 ? mode : RELAXED;
}

static void restore(const probation *p, int mode) {
  if (mode != RELAXED) p->d.exchange_mode(&mode);
}

/* True, too, where the driver cannot say. */
static bool is_captured(const probation *p, void *stream) {
  int captured = 0;
  return p->d.is_capturing(stream, &captured) != 0 || captured;
}

/* The driver may wait for room in the stream, and the GPU for a thread that runs Python. */
static bool mark(const probation *p, void **event, void *stream) {
  bool ok;
  Py_BEGIN_ALLOW_THREADS;
  if (!*event) {
    const int mode = relax(p);
    if (p->d.create(event, 0) != 0) *event = NULL;
    restore(p, mode);
  }
  ok = *event && p->d.record(*event, stream) == 0;
  Py_END_ALLOW_THREADS;
  return ok;
}

static void destroy_events(probation *p) {
  const int mode = relax(p);
  for (size_t k = 0; k < PENDING; k++) {
    if (p->timings[k].begin) p->d.destroy(p->timings[k].begin);
    if (p->timings[k].end) p->d.destroy(p->timings[k].end);
    p->timings[k].begin = p->timings[k].end = NULL;
  }
  restore(p, mode);
}

/* ---- The end ----------------------------------------------------------------------------------- */

/* The subclass's `ended` learns of it. False: an exception. */
static bool finish(probation *p, hd_probation end, PyObject *error) {
  p->over = true;
  p->stays = end == HD_PROBATION_KEPT;
  p->pending = 0;
  destroy_events(p);
  PyObject *done = PyObject_CallMethod((PyObject *)p, "ended", "(iO)", (int)end, error ? error : Py_None);
  Py_XDECREF(done);
  return done;
}

/* The times that are known by now, in the order of the launches. */
static void look_back(probation *p) {
  if (!p->pending) return;
  const int mode = relax(p);
  for (; p->pending; p->first = (p->first + 1) % PENDING, p->pending--) {
    const timing *m = &p->timings[p->first];
    float ms = 0;
    const int r = m->timed ? p->d.elapsed(&ms, m->begin, m->end) : 0;
    if (r == NOT_READY) break;
    p->told++;
    p->misses = m->timed && r == 0 ? 0 : p->misses + 1;
    if (m->timed && r == 0)
      hd_turns_tell(p->turns, m->arm, ms > 0 ? (double)ms * 1e-3 : 1e-9);
    else
      hd_turns_drop(p->turns, m->arm);
  }
  restore(p, mode);
}

/* False: an exception. */
static bool look_at_end(probation *p) {
  const bool enough = p->visits > VISITS || p->misses > MISSES;
  const uint32_t rounds = hd_turns_rounds(p->turns);
  if (!enough && p->looked == rounds && hd_turns_state(p->turns) == HD_TURNS_OPEN) return true;
  p->looked = rounds;
  if (enough) hd_turns_finish(p->turns);
  const hd_probation end = hd_probation_look(p->turns);
  if (end != HD_PROBATION_OPEN) return finish(p, end, NULL);
  p->leads = hd_probation_leads(p->turns, p->leads);
  return true;
}

/* ---- A launch ---------------------------------------------------------------------------------- */

/* The probation may go while it is called. */
static PyObject *launch(probation *p, bool plan, PyObject *args) {
  PyObject *call = plan ? p->plan : p->original;
  p->plain += !plan;
  Py_INCREF(call);
  const bool other = p->function || p->dims[0] || p->dims[1] || p->dims[2];
  PyObject *own = plan && other ? replace_arguments(args, p->function, p->dims) : NULL;
  PyObject *out = own || !PyErr_Occurred() ? PyObject_Call(call, own ? own : args, NULL) : NULL;
  Py_XDECREF(own);
  Py_DECREF(call);
  return out;
}

/* The plan cannot be launched: it is taken back, and the original launched. */
static PyObject *give_up(probation *p, PyObject *args) {
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  PyErr_NormalizeException(&type, &error, &trace);
  const bool told = finish(p, HD_PROBATION_UNSURE, error);
  Py_XDECREF(type);
  Py_XDECREF(error);
  Py_XDECREF(trace);
  return told ? launch(p, false, args) : NULL;
}

static PyObject *take_turn(probation *p, uint32_t arm, void *stream, PyObject *args) {
  timing *m = &p->timings[(p->first + p->pending++) % PENDING];
  *m = (timing){.begin = m->begin, .end = m->end, .arm = arm};
  const bool begun = mark(p, &m->begin, stream);
  PyObject *out = launch(p, arm, args);
  if (out) m->timed = begun && mark(p, &m->end, stream);
  return out || !arm || !PyErr_ExceptionMatches(PyExc_Exception) ? out : give_up(p, args);
}

/* The more is known, the more launches may be under way. */
static bool is_turn(const probation *p) {
  return p->pending < PENDING && (p->ahead || p->pending < 2 + (size_t)p->told);
}

static PyObject *take_part(probation *p, void *stream, PyObject *args) {
  p->visits++;
  look_back(p);
  if (!p->pending) p->first = 0; /* so that programs that wait need few events */
  if (!look_at_end(p)) return NULL;
  const uint32_t arm = !p->over && is_turn(p) ? hd_turns_next(p->turns) : HD_TURNS_NONE;
  if (arm != HD_TURNS_NONE) return take_turn(p, arm, stream, args);
  return launch(p, p->over ? p->stays : p->leads, args);
}

static PyObject *call(PyObject *self, PyObject *args, PyObject *named) {
  probation *p = (probation *)self;
  if ((named && PyDict_Size(named)) || PyTuple_Size(args) <= STREAM || !p->turns) {
    PyErr_SetString(PyExc_TypeError, "a launch has its grid and its stream");
    return NULL;
  }
  const unsigned long long number = PyLong_AsUnsignedLongLong(PyTuple_GetItem(args, STREAM));
  if (PyErr_Occurred()) return NULL;
  void *const stream = (void *)(uintptr_t)number;
  const bool captured = is_captured(p, stream);
  if (p->alone && (number != p->stream || captured)) return launch(p, false, args);
  /* A graph holds what is launched now for good. */
  if (p->over || captured) return launch(p, p->over ? p->stays : p->trusted, args);
  if (p->busy) return launch(p, p->leads, args);
  p->busy = true;
  PyObject *out = take_part(p, stream, args);
  p->busy = false;
  return out;
}

/* ---- The type ---------------------------------------------------------------------------------- */

static bool take_driver(PyObject *addresses, driver *d) {
  void **const to[] = {(void **)&d->is_capturing, (void **)&d->exchange_mode, (void **)&d->create,
                       (void **)&d->record,       (void **)&d->elapsed,       (void **)&d->destroy};
  enum { N = sizeof to / sizeof *to };
  for (Py_ssize_t k = 0; k < N; k++) {
    PyObject *at = PySequence_GetItem(addresses, k);
    void *const address = at ? PyLong_AsVoidPtr(at) : NULL;
    Py_XDECREF(at);
    if (!address && !PyErr_Occurred())
      PyErr_SetString(PyExc_ValueError, "a function of the driver's is missing");
    if (!address) return false;
    memcpy(to[k], &address, sizeof address);
  }
  return true;
}

static void take(PyObject *from, PyObject **to) {
  if (from == Py_None) return;
  Py_INCREF(from);
  *to = from;
}

static int init(PyObject *self, PyObject *args, PyObject *named) {
  PyObject *original, *plan, *function, *dims[3], *addresses, *stream = Py_None;
  unsigned trust;
  unsigned long long seed;
  probation *p = (probation *)self;
  if (!PyArg_ParseTuple(args, "OOO(OOO)IKO|O", &original, &plan, &function, &dims[0], &dims[1], &dims[2],
                        &trust, &seed, &addresses, &stream))
    return -1;
  if (p->turns) {
    PyErr_SetString(PyExc_ValueError, "it is open");
    return -1;
  }
  if (!take_driver(addresses, &p->d)) return -1;
  p->alone = stream != Py_None;
  if (p->alone) p->stream = PyLong_AsUnsignedLongLong(stream);
  if (PyErr_Occurred()) return -1;
  const hd_turns_options o = hd_probation_options(trust < HD_TRUST_KEPT ? trust : HD_TRUST_KEPT, seed);
  if (hd_turns_open(&o, 2, &p->turns, NULL) != HD_OK) {
    PyErr_NoMemory();
    return -1;
  }
  p->trusted = p->leads = trust >= HD_TRUST_KEPT;
  p->ahead = trust >= HD_TRUST_FOUND;
  Py_INCREF(original);
  Py_INCREF(plan);
  p->original = original;
  p->plan = plan;
  take(function, &p->function);
  for (int k = 0; k < 3; k++) take(dims[k], &p->dims[k]);
  return 0;
}

static int each(PyObject *self, visitproc visit, void *arg) {
  const probation *p = (const probation *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(p->original);
  Py_VISIT(p->plan);
  Py_VISIT(p->function);
  return 0;
}

static int clear(PyObject *self) {
  probation *p = (probation *)self;
  Py_CLEAR(p->original);
  Py_CLEAR(p->plan);
  Py_CLEAR(p->function);
  for (int k = 0; k < 3; k++) Py_CLEAR(p->dims[k]);
  return 0;
}

/* Events that are left are not destroyed: the driver may be gone by now. */
static void drop(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  hd_turns_close(((probation *)self)->turns);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyObject *measured(PyObject *self, PyObject *unused) {
  const probation *p = (const probation *)self;
  if (!p->turns) {
    PyErr_SetString(PyExc_ValueError, "it is not open");
    return NULL;
  }
  const hd_turns_arm a = hd_turns_of(p->turns, 1), original = hd_turns_of(p->turns, 0);
  return Py_BuildValue("(Iddddddd)", (unsigned)a.pairs, a.median, a.low, a.high, a.mean, original.seconds,
                       a.seconds, a.lost);
}

static PyObject *plain(PyObject *self, PyObject *unused) {
  return PyLong_FromUnsignedLongLong(((probation *)self)->plain);
}

static PyMethodDef methods[] = {
    {"measured", measured, METH_NOARGS,
     "() -> (pairs, median, low, high, mean, seconds of the original, of the plan, lost)"},
    {"plain", plain, METH_NOARGS, "() -> launches that were the original's"},
    {0}};

static PyType_Slot slots[] = {
    {Py_tp_call, (void *)call},
    {Py_tp_init, (void *)init},
    {Py_tp_dealloc, (void *)drop},
    {Py_tp_traverse, (void *)each},
    {Py_tp_clear, (void *)clear},
    {Py_tp_methods, methods},
    {Py_tp_doc,
     (void *)"Probation(original, plan, function, (x, y, z), trust, seed, addresses, stream=None): "
             "a subclass has ended(end, error)"},
    {0}};
PyType_Spec probation_type = {.name = "heddle._heddle.Probation",
                              .basicsize = sizeof(probation),
                              .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                              .slots = slots};

/* ---- Functions --------------------------------------------------------------------------------- */

static PyObject *probation_again(PyObject *module, PyObject *launches) {
  const unsigned long long n = PyLong_AsUnsignedLongLong(launches);
  return PyErr_Occurred() ? NULL : PyLong_FromUnsignedLongLong(hd_probation_again(n));
}

PyMethodDef probation_functions[] = {
    {"probation_again", probation_again, METH_O, "(launches) -> launches at which a plan is looked at again"},
    {0}};
