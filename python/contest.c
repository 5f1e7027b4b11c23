/* Plans on a launch that Python repeats: heddle/contest.h with a bench of Python's. */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/contest.h"
#include "heddle/rewrite.h"

/* ---- Candidates ---- */

/* Memory that nothing writes is not known of tensors. */
static bool needs_unwritten(const hd_plan *p) { return p->bypass.kind == HD_BYPASS_READONLY; }

typedef struct listing {
  hd_candidate *kept; /* of all shapes */
  size_t n;
  hd_plan_space space; /* of the first shape */
} listing;

static void add_candidates(listing *l, const hd_plan_space *s) {
  hd_candidate *all = l->kept + l->n;
  const size_t n = hd_candidates(s, all, HD_CANDIDATES);
  if (!l->n) l->space = *s;
  for (size_t i = 0; i < n; i++)
    if (!needs_unwritten(&all[i].plan)) l->kept[l->n++] = all[i];
}

/* Of rows of tiles of so many each, where the launch is a line of them; 0: as it is launched. */
static bool give_width(hd_plan_space *s, uint32_t width) {
  const uint32_t tasks = s->grid[0];
  if (!width) return true;
  if (s->grid[1] > 1 || s->grid[2] > 1 || tasks % width) return false;
  s->shape = (hd_shape){.kind = HD_SHAPE_GIVEN, .n = {width, tasks / width}};
  s->grid[0] = width;
  s->grid[1] = tasks / width;
  return true;
}

/* A kernel's launch, as Python knows it. */
typedef struct kernel_launch {
  const char *text, *kernel;
  Py_ssize_t len;
  uint32_t grid[3], block[3], *widths;
  size_t n_widths;
  unsigned sms,
      resident; /* of the GPU; CTAs of the original on each. 0 SMs: the launch is to stay as it is */
} kernel_launch;

static hd_status list_candidates(const kernel_launch *k, listing *l, hd_diag *d) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_plan_space s = {0};
  hd_arena_init(&arena);
  hd_status st = hd_ptx_parse(k->text, (size_t)k->len, "<ptx>", &arena, &m, d);
  if (st == HD_OK) st = hd_rewrite_space(m, k->kernel, k->grid, k->block, 0, &s, d);
  /* A launch that is to stay as it is binds no CTA to an SM. */
  s.n_sms = k->sms ? k->sms : UINT32_MAX;
  s.resident = k->resident;
  s.can_loop = s.can_loop && k->sms;
  s.can_cancel = s.can_loop && m->sm >= HD_CANCEL_ARCH;
  for (size_t i = 0; st == HD_OK && i <= k->n_widths; i++) {
    hd_plan_space own = s;
    if (give_width(&own, i < k->n_widths ? k->widths[i] : 0)) add_candidates(l, &own);
  }
  l->n = hd_contest_order(l->kept, l->n);
  hd_arena_free(&arena);
  return st;
}

static bool get_widths(PyObject *from, kernel_launch *k) {
  const Py_ssize_t len = PySequence_Size(from);
  if (len < 0) return false;
  k->widths = PyMem_Calloc((size_t)len + 1, sizeof *k->widths);
  if (!k->widths) {
    PyErr_NoMemory();
    return false;
  }
  for (; k->n_widths < (size_t)len; k->n_widths++) {
    PyObject *item = PySequence_GetItem(from, (Py_ssize_t)k->n_widths);
    const bool is_number = item && get_number(item, &k->widths[k->n_widths]);
    Py_XDECREF(item);
    if (!is_number) return false;
  }
  return true;
}

static void free_listing(listing *l) {
  if (l) PyMem_Free(l->kept);
  PyMem_Free(l);
}

/* NULL: an exception is raised. */
static listing *list_of(PyObject *module, kernel_launch *k, PyObject *grid, PyObject *block,
                        PyObject *widths) {
  hd_diag d = {0};
  hd_status st = HD_ERR_NOMEM;
  if (!get_dims(grid, k->grid) || !get_dims(block, k->block) || !get_widths(widths, k)) return NULL;
  listing *l = PyMem_Calloc(1, sizeof *l);
  if (l) l->kept = PyMem_Calloc((k->n_widths + 1) * HD_CANDIDATES, sizeof *l->kept);
  if (l && l->kept)
    st = list_candidates(k, l, &d);
  else
    hd_nomem(&d);
  if (st == HD_OK) return l;
  raise_failure(module, &d);
  free_listing(l);
  return NULL;
}

static PyObject *texts_of(const hd_plan *const *plans, size_t n) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < n; i++) {
    hd_buf text = {0};
    hd_plan_print(plans[i], &text);
    PyObject *item = take_text(&text);
    if (!item || PyList_Append(list, item) != 0) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

/* Plans, the likeliest first. */
static PyObject *candidates(PyObject *module, PyObject *args) {
  PyObject *grid, *block, *widths, *out = NULL;
  kernel_launch k = {0};
  if (!PyArg_ParseTuple(args, "s#sOOO|II", &k.text, &k.len, &k.kernel, &grid, &block, &widths, &k.sms,
                        &k.resident))
    return NULL;
  listing *l = list_of(module, &k, grid, block, widths);
  const hd_plan **plans = l ? PyMem_Calloc(l->n + 1, sizeof *plans) : NULL;
  for (size_t i = 0; plans && i < l->n; i++) plans[i] = &l->kept[i].plan;
  if (plans)
    out = texts_of(plans, l->n);
  else if (l)
    PyErr_NoMemory();
  PyMem_Free(plans);
  PyMem_Free(k.widths);
  free_listing(l);
  return out;
}

/* ---- The contest ---- */

/* An exception of the bench's is the end, and goes on to the caller. */
static hd_status raised(hd_diag *d) { return hd_fail(d, HD_ERR_FAULT, "an exception"); }

static hd_status make(void *bench, const hd_plan *p, void **variant, hd_diag *d) {
  hd_buf text = {0};
  if (PyErr_Occurred()) return raised(d); /* of ahead's */
  hd_plan_print(p, &text);
  PyObject *plan = take_text(&text), *made = plan ? PyObject_CallMethod(bench, "make", "O", plan) : NULL;
  Py_XDECREF(plan);
  if (!made) return raised(d);
  if (made == Py_None) {
    Py_DECREF(made);
    return hd_fail(d, HD_ERR_REFUSED, "the kernel cannot be rewritten so");
  }
  *variant = made;
  return HD_OK;
}

static void drop(void *bench, void *variant) { Py_DECREF((PyObject *)variant); }

static hd_status run(void *bench, void *variant, double *seconds, bool *same, hd_diag *d) {
  PyObject *of = variant ? variant : Py_None;
  PyObject *out = PyObject_CallMethod(bench, "run", "OO", of, same ? Py_True : Py_False);
  int is_same = 0;
  if (PyErr_Occurred()) return raised(d);
  const bool is_known = out && PyArg_ParseTuple(out, "dp", seconds, &is_same);
  Py_XDECREF(out);
  if (!is_known) return raised(d);
  if (same) *same = is_same;
  return HD_OK;
}

static void ahead(void *bench, const hd_plan *const *plans, size_t n) {
  PyObject *list = texts_of(plans, n), *out = list ? PyObject_CallMethod(bench, "ahead", "O", list) : NULL;
  Py_XDECREF(list);
  Py_XDECREF(out);
}

static double now(void *bench) { return hd_seconds(); }

static PyObject *answer_of(const hd_contest_end *e, uint32_t tried) {
  static const hd_plan original;
  const hd_plan *plan = e->plan ? e->plan : &original;
  PyObject *texts = texts_of(&plan, 1), *variant = e->variant ? e->variant : Py_None,
           *won = e->won       ? Py_True
                  : e->decided ? Py_False
                               : Py_None;
  const hd_speedup *u = &e->speedup;
  if (!texts) return NULL;
  PyObject *out =
      Py_BuildValue("(OOOdddddII)", won, PyList_GetItem(texts, 0), variant, u->median, u->low,
                    u->high < 1e9 ? u->high : u->median, e->before, e->after, (unsigned)u->pairs, tried);
  Py_DECREF(texts);
  return out;
}

static PyObject *hold(PyObject *module, PyObject *bench, const listing *l, const hd_contest_options *o) {
  const hd_contest_bench b = {
      .ctx = bench, .make = make, .drop = drop, .run = run, .ahead = ahead, .now = now};
  hd_contest *c = NULL;
  hd_contest_seen seen;
  hd_contest_end end;
  hd_diag d = {0};
  PyObject *out = NULL;
  hd_status st = hd_contest_open(&b, o, &l->space, l->kept, l->n, &c, &d);
  if (st == HD_OK) hd_contest_look(c, &seen);
  if (st == HD_OK) st = hd_contest_decide(c, &end, &d);
  if (st == HD_OK && !PyErr_Occurred()) out = answer_of(&end, seen.tried);
  if (st != HD_OK && !PyErr_Occurred()) raise_failure(module, &d);
  hd_contest_close(c);
  return out;
}

/* Whether a plan won (None: the time was over before it was decided), which is best, and what is known of it.
 * The bench's make(plan) gives a variant, or None if it cannot be; run(variant or None, check) gives seconds,
 * and whether it left the original's bytes; ahead(plans) says what may be made soon. */
static PyObject *contest(PyObject *module, PyObject *args) {
  PyObject *bench, *grid, *block, *widths, *out = NULL;
  unsigned long long seed;
  kernel_launch k = {0};
  hd_contest_options o = {0};
  if (!PyArg_ParseTuple(args, "Os#sOOOddK|II", &bench, &k.text, &k.len, &k.kernel, &grid, &block, &widths,
                        &o.budget, &o.gain, &seed, &k.sms, &k.resident))
    return NULL;
  o.seed = seed;
  listing *l = list_of(module, &k, grid, block, widths);
  if (l) out = hold(module, bench, l, &o);
  PyMem_Free(k.widths);
  free_listing(l);
  return out;
}

PyMethodDef contest_functions[] = {
    {"candidates", candidates, METH_VARARGS,
     "(ptx, kernel, grid, block, widths, sms=0, resident=0) -> list; without sms, the launch stays as it is"},
    {"contest", contest, METH_VARARGS,
     "(bench, ptx, kernel, grid, block, widths, seconds, gain, seed, sms=0, resident=0) -> (won, plan, "
     "variant, speedup, low, high, before, after, pairs, tried)"},
    {0}};
