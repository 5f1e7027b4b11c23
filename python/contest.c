/* Plans on a launch that Python repeats: heddle/contest.h with a bench of Python's. */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/advise.h"
#include "heddle/contest.h"

/* ---- Candidates ---- */

typedef struct listing {
  hd_candidate all[HD_CANDIDATES];
  hd_candidate *kept; /* of all shapes, by their priors */
  size_t n;
} listing;

/* Plans that are launched otherwise, or that need memory which nothing writes: that is not known of a tensor.
 */
static bool is_for_others(const hd_plan *p) {
  return p->bind != HD_BIND_NONE || p->bypass.kind == HD_BYPASS_READONLY;
}

/* Stable: of the same prior what was listed first. */
static void add_candidates(listing *l, const hd_plan_space *s) {
  const size_t n = hd_candidates(s, l->all, HD_CANDIDATES);
  for (size_t i = 0; i < n; i++) {
    bool known = is_for_others(&l->all[i].plan);
    for (size_t k = 0; !known && k < l->n; k++) known = hd_plan_equal(&l->kept[k].plan, &l->all[i].plan);
    if (known) continue;
    size_t at = l->n++;
    for (; at && l->kept[at - 1].prior < l->all[i].prior; at--) l->kept[at] = l->kept[at - 1];
    l->kept[at] = l->all[i];
  }
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

static hd_status list_candidates(const char *text, size_t len, const char *kernel, const uint32_t grid[3],
                                 const uint32_t block[3], unsigned sms, unsigned resident,
                                 const uint32_t *widths, size_t n, listing *l, hd_diag *d) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_plan_space s;
  hd_arena_init(&arena);
  hd_status st = hd_ptx_parse(text, len, "<ptx>", &arena, &m, d);
  if (st == HD_OK) st = hd_text_space(m, kernel, grid, block, 0, &s, d);
  s.n_sms = sms;
  s.resident = resident;
  for (size_t i = 0; st == HD_OK && i <= n; i++) {
    hd_plan_space own = s;
    if (give_width(&own, i < n ? widths[i] : 0)) add_candidates(l, &own);
  }
  hd_arena_free(&arena);
  return st;
}

static bool get_widths(PyObject *from, uint32_t **out, size_t *n) {
  const Py_ssize_t len = PySequence_Size(from);
  if (len < 0) return false;
  *out = PyMem_Calloc((size_t)len + 1, sizeof **out);
  if (!*out) {
    PyErr_NoMemory();
    return false;
  }
  for (*n = 0; *n < (size_t)len; ++*n) {
    PyObject *item = PySequence_GetItem(from, (Py_ssize_t)*n);
    const bool is_number = item && get_number(item, *out + *n);
    Py_XDECREF(item);
    if (!is_number) return false;
  }
  return true;
}

static PyObject *texts_of(const listing *l) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < l->n; i++) {
    hd_buf text = {0};
    hd_plan_print(&l->kept[i].plan, &text);
    PyObject *item = take_text(&text);
    if (!item || PyList_Append(list, item) != 0) Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

/* Plans that leave the launch as it is, the likeliest first. */
PyObject *candidates(PyObject *module, PyObject *args) {
  const char *text, *kernel;
  Py_ssize_t len;
  PyObject *of_grid, *of_block, *of_widths, *out = NULL;
  unsigned sms, resident;
  uint32_t grid[3], block[3], *widths = NULL;
  size_t n = 0;
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "s#sOOO&O&O", &text, &len, &kernel, &of_grid, &of_block, get_number, &sms,
                        get_number, &resident, &of_widths) ||
      !get_dims(of_grid, grid) || !get_dims(of_block, block))
    return NULL;
  listing *l = PyMem_Calloc(1, sizeof *l);
  if (l && get_widths(of_widths, &widths, &n)) {
    l->kept = PyMem_Calloc((n + 1) * HD_CANDIDATES, sizeof *l->kept);
    if (!l->kept)
      PyErr_NoMemory();
    else if (list_candidates(text, (size_t)len, kernel, grid, block, sms, resident, widths, n, l, &d) ==
             HD_OK)
      out = texts_of(l);
    else
      raise_failure(module, &d);
  } else if (!l) {
    PyErr_NoMemory();
  }
  PyMem_Free(widths);
  if (l) PyMem_Free(l->kept);
  PyMem_Free(l);
  return out;
}

/* ---- The contest ---- */

/* An exception of the bench's is the end, and goes on to the caller. */
static hd_status raised(hd_diag *d) { return hd_fail(d, HD_ERR_FAULT, "an exception"); }

static hd_status make(void *bench, const hd_plan *p, void **variant, hd_diag *d) {
  hd_buf text = {0};
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
  const bool is_known = out && PyArg_ParseTuple(out, "dp", seconds, &is_same);
  Py_XDECREF(out);
  if (!is_known) return raised(d);
  if (same) *same = is_same;
  return HD_OK;
}

static double now(void *bench) { return hd_seconds(); }

static void free_plans(hd_candidate *list, size_t n) {
  for (size_t i = 0; i < n; i++) hd_plan_free(&list[i].plan);
  PyMem_Free(list);
}

static hd_status parse_plans(const words *from, hd_candidate **out, hd_diag *d) {
  hd_status st = HD_OK;
  size_t n = 0;
  *out = PyMem_Calloc(from->n + 1, sizeof **out);
  if (!*out) return hd_nomem(d);
  for (; st == HD_OK && n < from->n; n++) st = hd_plan_parse(from->at[n], &(*out)[n].plan, d);
  if (st == HD_OK) return HD_OK;
  free_plans(*out, n);
  *out = NULL;
  return st;
}

static PyObject *answer_of(const hd_contest *c, const hd_contest_end *e) {
  const bool is_any = e->winner < c->n;
  hd_buf text = {0};
  hd_plan_print(is_any ? &c->best[e->winner].plan : &(hd_plan){0}, &text);
  PyObject *plan = take_text(&text), *variant = is_any ? c->best[e->winner].variant : Py_None;
  if (!plan) return NULL;
  PyObject *won = e->end == HD_TURNS_WON ? Py_True : e->timely ? Py_False : Py_None;
  const double high = e->arm.high < 1e9 ? e->arm.high : e->arm.median;
  PyObject *out = Py_BuildValue("(OOOdddddII)", won, plan, variant, e->arm.median, e->arm.low, high,
                                e->before, e->after, e->arm.pairs, c->tried);
  Py_DECREF(plan);
  return out;
}

/* Whether a plan won (None: the time was over before it was decided), which is best, and what is known of it.
 * The bench's make(plan) gives a variant, or None if it cannot be; run(variant or None, check) gives seconds,
 * and whether it left the original's bytes. */
PyObject *contest(PyObject *module, PyObject *args) {
  PyObject *bench, *plans, *out = NULL;
  double seconds;
  unsigned long long seed;
  hd_contest_options o = {0};
  hd_candidate *list = NULL;
  words texts = {0};
  hd_contest c = {0};
  hd_contest_end end;
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "OOddK", &bench, &plans, &seconds, &o.gain, &seed)) return NULL;
  if (!get_words(plans, &texts)) return NULL;
  o.until = hd_seconds() + seconds;
  o.seed = seed;
  hd_status st = parse_plans(&texts, &list, &d);
  if (st == HD_OK) st = hd_contest_begin(&c, &(hd_contest_bench){bench, make, drop, run, now}, &o, &d);
  if (st == HD_OK) st = hd_contest_search(&c, list, texts.n, &d);
  if (st == HD_OK) st = hd_contest_decide(&c, &end, &d);
  if (st == HD_OK) out = answer_of(&c, &end);
  if (st != HD_OK && !PyErr_Occurred()) raise_failure(module, &d);
  hd_contest_free(&c);
  if (list) free_plans(list, texts.n);
  free_words(&texts);
  return out;
}
