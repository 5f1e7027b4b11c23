/* Plans, texts of PTX under them, and the kernels of files. */
#include "convert.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/report.h"
#include "heddle/results.h"

/* ---- Plans ----------------------------------------------------------------------------------- */

static PyObject *canonical(PyObject *module, PyObject *args) {
  const char *text;
  hd_plan plan;
  hd_diag d = {0};
  hd_buf out = {0};
  if (!PyArg_ParseTuple(args, "s", &text)) return NULL;
  if (hd_plan_parse(text, &plan, &d) != HD_OK) return raise_failure(module, &d);
  hd_plan_print(&plan, &out);
  return take_text(&out);
}

/* ---- Kernels of a text ------------------------------------------------------------------------ */

/* Calls fn for the kernel that is named as commands name it, or for all that have a body. */
static hd_status each_kernel(hd_ptx_module *m, const char *name,
                             hd_status (*fn)(void *ctx, hd_ptx_module *m, uint32_t func, hd_diag *d),
                             void *ctx, hd_diag *d) {
  uint32_t only = 0, found = 0;
  hd_status st = name ? hd_kernel_find_in(m, name, &only, d) : HD_OK;
  if (name) return st == HD_OK ? fn(ctx, m, only, d) : st;
  for (uint32_t f = 0; st == HD_OK && f < m->n_funcs; f++)
    if (m->funcs[f].entry && m->funcs[f].has_body) found++, st = fn(ctx, m, f, d);
  return st == HD_OK && !found ? hd_fail(d, HD_ERR_USAGE, "%s: no kernel", m->name) : st;
}

typedef struct rewriting {
  const char *text, *kernel, *name;
  Py_ssize_t len;
  hd_plan plan;
  hd_rewrite_options options;
  hd_buf out, launch; /* the module; how its kernels are launched */
} rewriting;

static hd_status rewrite_kernel(void *ctx, hd_ptx_module *m, uint32_t func, hd_diag *d) {
  rewriting *r = ctx;
  hd_recipe recipe;
  const hd_status st = hd_rewrite(m, func, &r->plan, &r->options, &recipe, d);
  if (st == HD_OK) hd_recipe_print(m->syms[m->funcs[func].sym].name, &recipe, &r->launch);
  return st;
}

static hd_status rewrite_text(rewriting *r, hd_diag *d) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_arena_init(&arena);
  hd_status st = hd_ptx_parse(r->text, (size_t)r->len, r->name, &arena, &m, d);
  if (st == HD_OK) st = each_kernel(m, r->kernel, rewrite_kernel, r, d);
  if (st == HD_OK) st = hd_ptx_print(m, &r->out);
  hd_arena_free(&arena);
  return st;
}

enum { DEFAULT_SMS = 132 }; /* as of `heddle rewrite --sms` */

static PyObject *rewrite(PyObject *module, PyObject *args) {
  const char *plan, *assume;
  PyObject *grid, *block;
  unsigned sms;
  rewriting r = {.name = "<ptx>"};
  hd_grid *g = &r.options.grid;
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "s#szOOO&s", &r.text, &r.len, &plan, &r.kernel, &grid, &block, get_number, &sms,
                        &assume))
    return NULL;
  if (!get_dims(grid, g->g) || !get_dims(block, r.options.block)) return NULL;
  g->known = g->g[0] != 0;
  g->n_sms = sms ? sms : DEFAULT_SMS;
  if (*assume && !hd_assume_parse(assume, &r.options.assume))
    return PyErr_Format(PyExc_ValueError, "assume: not '%s'", assume);
  hd_status st = hd_plan_parse(plan, &r.plan, &d);
  if (st != HD_OK) return raise_failure(module, &d);
  PyThreadState *others = PyEval_SaveThread();
  st = rewrite_text(&r, &d);
  PyEval_RestoreThread(others);
  PyObject *text = take_text(&r.out), *launch = take_text(&r.launch);
  PyObject *both = st != HD_OK      ? raise_failure(module, &d)
                   : text && launch ? PyTuple_Pack(2, text, launch)
                                    : NULL;
  Py_XDECREF(text);
  Py_XDECREF(launch);
  return both;
}

/* For one grid alone, by a caller who adds no parameter: what else its launches take is in the module. */
static PyObject *rewrite_launch(PyObject *module, PyObject *args) {
  const char *text, *plan, *kernel;
  PyObject *grid, *block;
  unsigned sms, shared;
  Py_ssize_t len;
  hd_plan parsed;
  hd_rewritten r;
  hd_diag d = {0};
  hd_apply_kernel k = {.plan = &parsed, .options = {.grid.known = true, .own_state = true}};
  if (!PyArg_ParseTuple(args, "s#ssOOO&O&", &text, &len, &plan, &kernel, &grid, &block, get_number, &sms,
                        get_number, &shared) ||
      !get_dims(grid, k.options.grid.g) || !get_dims(block, k.options.block))
    return NULL;
  k.name = kernel;
  k.options.grid.n_sms = sms ? sms : DEFAULT_SMS;
  k.options.dynamic_shared = shared != 0;
  hd_status st = hd_plan_parse(plan, &parsed, &d);
  PyThreadState *others = PyEval_SaveThread();
  if (st == HD_OK) st = hd_apply_text(text, (size_t)len, "<ptx>", &k, 1, HD_TEXT_CANONICAL, &r, &d);
  PyEval_RestoreThread(others);
  if (st != HD_OK) return raise_failure(module, &d);
  const hd_recipe *recipe = &r.recipes[0];
  PyObject *out = NULL;
  if (recipe->state_bytes || recipe->table_bytes || recipe->grid) {
    hd_fail(&d, HD_ERR_UNSUPPORTED, "%s: the kernel would have more parameters", plan);
    raise_failure(module, &d);
  } else {
    out = Py_BuildValue("(s#OOO)", r.text.data, (Py_ssize_t)r.text.len, recipe->agents ? Py_True : Py_False,
                        recipe->fills ? Py_True : Py_False, recipe->own_state ? Py_True : Py_False);
  }
  hd_rewritten_free(&r);
  return out;
}

/* The grid of a kernel with agents. */
static PyObject *worker_grid(PyObject *module, PyObject *args) {
  PyObject *grid;
  unsigned sms, resident;
  int some;
  uint32_t tasks[3], workers[3];
  if (!PyArg_ParseTuple(args, "OpII", &grid, &some, &sms, &resident) || !get_dims(grid, tasks)) return NULL;
  hd_recipe_grid(&(hd_recipe){.agents = true, .fills = some}, tasks, sms, resident, workers);
  return Py_BuildValue("(III)", workers[0], workers[1], workers[2]);
}

/* ---- Analysis --------------------------------------------------------------------------------- */

typedef struct analyzing {
  hd_analysis_document *document;
  const hd_point *at;
} analyzing;

static hd_status analyze_kernel(void *ctx, hd_ptx_module *m, uint32_t func, hd_diag *d) {
  enum { MOST_REFUSALS = 64 };
  const analyzing *z = ctx;
  hd_refusal refusals[MOST_REFUSALS];
  hd_analysis *a;
  hd_status st = z->at->block[0] ? hd_ptx_check_block(m, &m->funcs[func], z->at->block, d) : HD_OK;
  if (st == HD_OK) st = hd_analyze(m, func, NULL, &a, d);
  if (st != HD_OK) return st;
  size_t n = hd_rewrite_refusals(m, func, refusals, MOST_REFUSALS);
  const hd_analysis_page page = {.at = z->at->block[0] ? z->at : NULL,
                                 .refusals = refusals,
                                 .n_refusals = n,
                                 .n_stored = n < MOST_REFUSALS ? n : MOST_REFUSALS};
  hd_analysis_document_kernel(z->document, a, &page);
  hd_analysis_free(a);
  return HD_OK;
}

static hd_status analyze_text(const char *text, size_t len, const char *kernel, const hd_point *at,
                              hd_buf *out, hd_diag *d) {
  analyzing z = {hd_analysis_document_new(true), at};
  hd_arena arena;
  hd_ptx_module *m;
  if (!z.document) return hd_nomem(d);
  hd_arena_init(&arena);
  hd_status st = hd_ptx_parse(text, len, "<ptx>", &arena, &m, d);
  if (st == HD_OK) st = each_kernel(m, kernel, analyze_kernel, &z, d);
  if (st == HD_OK) hd_analysis_document_print(z.document, "<ptx>", out);
  hd_arena_free(&arena);
  hd_analysis_document_free(z.document);
  return st;
}

static PyObject *analyze(PyObject *module, PyObject *args) {
  const char *text, *kernel;
  Py_ssize_t len;
  PyObject *grid, *block;
  hd_point at = {0};
  hd_buf out = {0};
  hd_diag d = {0};
  hd_status st;
  if (!PyArg_ParseTuple(args, "s#zOO", &text, &len, &kernel, &grid, &block)) return NULL;
  if (!get_dims(grid, at.grid) || !get_dims(block, at.block)) return NULL;
  PyThreadState *others = PyEval_SaveThread();
  st = analyze_text(text, (size_t)len, kernel, &at, &out, &d);
  PyEval_RestoreThread(others);
  if (st == HD_OK) return take_text(&out);
  hd_buf_free(&out);
  return raise_failure(module, &d);
}

/* ---- Files ------------------------------------------------------------------------------------- */

static void note_failure(void *ctx, const hd_diag *d) {
  hd_diag *first = ctx;
  if (first->status == HD_OK) *first = *d;
}

/* CUDA C is compiled to know its kernels: the symbols are the same for every architecture. */
static bool is_source(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && strcmp(dot, ".cu") == 0;
}

static hd_status compile(const char *path, hd_buf *text, hd_diag *d) {
  const hd_workload source = {.name = path, .source = path, .module = UINT64_MAX};
  return hd_workload_ptx(&source, hd_launch_arch(NULL, 0), text, NULL, d);
}

static hd_status parse_source(const char *path, hd_arena *arena, hd_ptx_module **m, hd_diag *d) {
  hd_buf text = {0};
  hd_status st = compile(path, &text, d);
  if (st == HD_OK) st = hd_ptx_parse(text.data, text.len, path, arena, m, d);
  hd_buf_free(&text);
  return st;
}

static hd_status list_source(hd_listing *l, const char *path, hd_diag *d) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_arena_init(&arena);
  hd_status st = parse_source(path, &arena, &m, d);
  l->file = path;
  l->modules++;
  if (st == HD_OK) st = hd_listing_add(l, &(hd_ptx_text){.index = 0}, m, d);
  hd_arena_free(&arena);
  return st;
}

/* What `heddle ls` lists. Modules that cannot be read are left out, unless none can. */
static PyObject *kernels(PyObject *module, PyObject *args) {
  PyObject *path;
  hd_listing l;
  hd_diag d = {0}, first = {0};
  hd_buf out = {0};
  if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return NULL;
  hd_listing_begin(&l, true);
  const char *file = PyBytes_AsString(path);
  PyThreadState *others = PyEval_SaveThread();
  hd_status st =
      is_source(file) ? list_source(&l, file, &d) : hd_listing_file(&l, file, note_failure, &first, &d);
  PyEval_RestoreThread(others);
  if (st == HD_OK && !l.kernels && first.status != HD_OK) st = (d = first).status;
  if (st == HD_OK) hd_listing_json(&l, &out);
  hd_listing_free(&l);
  Py_DECREF(path);
  return st == HD_OK ? take_text(&out) : raise_failure(module, &d);
}

/* Of the kernel that a name means: its module, listed. */
static hd_status list_found(hd_listing *l, const char *file, const char *name, uint64_t number, char **symbol,
                            hd_diag *d) {
  hd_arena arena;
  hd_ptx_module *m;
  uint32_t func = 0;
  uint64_t at = 0;
  hd_status st;
  hd_arena_init(&arena);
  if (!is_source(file))
    st = hd_kernel_find(file, number, name, &arena, &m, &func, &at, d);
  else if ((st = parse_source(file, &arena, &m, d)) == HD_OK)
    st = hd_kernel_find_in(m, name, &func, d);
  l->file = file;
  if (st == HD_OK) st = hd_listing_add(l, &(hd_ptx_text){.index = (uint32_t)at}, m, d);
  if (st == HD_OK && !(*symbol = strdup(m->syms[m->funcs[func].sym].name))) st = hd_nomem(d);
  hd_arena_free(&arena);
  return st;
}

/* (symbol, its module as JSON) of the kernel that a name means; module -1: in any. */
static PyObject *find_kernel(PyObject *module, PyObject *args) {
  PyObject *path, *out = NULL;
  const char *name;
  long long number;
  char *symbol = NULL;
  hd_listing l;
  hd_buf json = {0};
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "O&zL", PyUnicode_FSConverter, &path, &name, &number)) return NULL;
  hd_listing_begin(&l, true);
  const char *file = PyBytes_AsString(path);
  PyThreadState *others = PyEval_SaveThread();
  const hd_status st = list_found(&l, file, name, number < 0 ? UINT64_MAX : (uint64_t)number, &symbol, &d);
  PyEval_RestoreThread(others);
  if (st == HD_OK) {
    hd_listing_json(&l, &json);
    PyObject *text = take_text(&json);
    if (text) out = Py_BuildValue("(sN)", symbol, text);
  } else {
    raise_failure(module, &d);
  }
  hd_listing_free(&l);
  free(symbol);
  Py_DECREF(path);
  return out;
}

static PyObject *matches(PyObject *module, PyObject *args) {
  const char *symbol, *word;
  if (!PyArg_ParseTuple(args, "ss", &symbol, &word)) return NULL;
  return PyBool_FromLong(hd_kernel_matches(symbol, word));
}

static hd_status read_module(const char *path, uint64_t number, hd_buf *out, hd_diag *d) {
  hd_container *c;
  hd_ptx_text t;
  bool found = false, more = true;
  hd_status st = hd_container_open(path, &c, d);
  if (st != HD_OK) return st;
  while (st == HD_OK && !found) {
    st = hd_container_next(c, &t, &more, d);
    if (st != HD_OK || !more) break;
    found = t.index == number;
  }
  if (found) hd_buf_put(out, t.data, t.len);
  if (st == HD_OK && !found) st = hd_fail_unknown(d, "%s: no module %llu", path, (unsigned long long)number);
  hd_container_close(c);
  return st;
}

static PyObject *module_text(PyObject *module, PyObject *args) {
  PyObject *path;
  unsigned number;
  hd_buf out = {0};
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "O&O&", PyUnicode_FSConverter, &path, get_number, &number)) return NULL;
  const char *file = PyBytes_AsString(path);
  PyThreadState *others = PyEval_SaveThread();
  const hd_status st = is_source(file) ? compile(file, &out, &d) : read_module(file, number, &out, &d);
  PyEval_RestoreThread(others);
  Py_DECREF(path);
  return st == HD_OK ? take_text(&out) : raise_failure(module, &d);
}

/* The page of a result. */
static PyObject *page(PyObject *module, PyObject *args) {
  const char *title, *line, *json;
  Py_ssize_t len;
  hd_buf out = {0};
  hd_diag d = {0};
  if (!PyArg_ParseTuple(args, "sss#", &title, &line, &json, &len)) return NULL;
  if (hd_report_page(title, line, json, (size_t)len, &out, &d) == HD_OK) return take_text(&out);
  hd_buf_free(&out);
  return raise_failure(module, &d);
}

PyMethodDef file_functions[] = {
    {"canonical", canonical, METH_VARARGS, "(plan) -> str"},
    {"rewrite", rewrite, METH_VARARGS, "(ptx, plan, kernel, grid, block, sms, assume) -> (ptx, launch)"},
    {"rewrite_launch", rewrite_launch, METH_VARARGS,
     "(ptx, plan, kernel, grid, block, sms, dynamic shared) -> (ptx, agents, some SMs, own state)"},
    {"worker_grid", worker_grid, METH_VARARGS, "(grid, some SMs, sms, resident) -> (x, y, z)"},
    {"analyze", analyze, METH_VARARGS, "(ptx, kernel, grid, block) -> JSON"},
    {"kernels", kernels, METH_VARARGS, "(file) -> JSON"},
    {"find_kernel", find_kernel, METH_VARARGS, "(file, name, module or -1) -> (symbol, JSON)"},
    {"matches", matches, METH_VARARGS, "(symbol, word) -> bool"},
    {"module_text", module_text, METH_VARARGS, "(file, module) -> str"},
    {"page", page, METH_VARARGS, "(title, line, JSON) -> HTML"},
    {0}};
