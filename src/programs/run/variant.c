/* A kernel under a plan, as a module of its own that holds nothing of the program's but the kernel and the
 * functions that it calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/analysis.h"
#include "heddle/cfg.h"
#include "heddle/launch.h"
#include "heddle/ptx_facts.h"
#include "heddle/trusted.h"
#include "heddle/verdict_options.h"
#include "run/cut.h"
#include "run/run.h"

typedef struct part {
  hd_arena arena;
  hd_ptx_module *m;
  uint32_t func;
  bool *funcs, *vars; /* that the kernel reaches, by index, its module's variables apart */
  bool *module_vars;  /* those */
  uint32_t n_funcs, n_vars;
  const char *missing; /* a name that the module does not declare; NULL: there is none */
  const char *pointer; /* what it does with functions' addresses; NULL: nothing */
  const char *effect;  /* a function that acts beyond the kernel's memory; NULL: none is called */
} part;

/* ---- What the kernel uses ---------------------------------------------------------------------- */

static bool reach(part *p, uint32_t func);

/* Texts for printf and assert, and tables of CUDA's functions: the host cannot name them, and nothing writes
 * them. */
static bool is_text(const hd_ptx_module *m, const hd_ptx_var *v) {
  static const char *const begin[] = {"$str", "__unnamed_", "__cudart_"};
  const char *name = m->syms[v->sym].name;
  for (size_t k = 0; v->init && !v->linkage && k < sizeof begin / sizeof *begin; k++)
    if (strncmp(name, begin[k], strlen(begin[k])) == 0) return true;
  return false;
}

static bool leaf(void *ctx, const hd_ptx_leaf *l) {
  part *p = ctx;
  const hd_ptx_module *m = p->m;
  if (!l->sym) return true;
  const hd_ptx_sym *s = &m->syms[l->sym];
  /* Code has its address in one module, and another module's kernel cannot go there. */
  if (l->role & HD_ROLE_CALLEE ? s->kind == HD_SYM_REG : s->kind == HD_SYM_FUNC)
    p->pointer = l->role & HD_ROLE_CALLEE ? "it calls through a pointer" : "it takes a function's address";
  if (s->kind == HD_SYM_FUNC) return reach(p, s->decl);
  if (s->kind == HD_SYM_UNDEF) p->missing = s->name;
  if (s->kind != HD_SYM_VAR) return true;
  const hd_ptx_var *v = &m->vars[s->decl];
  const bool own = v->space == HD_M_SHARED || v->space == HD_M_LOCAL || v->space == HD_M_PARAM ||
                   v->space == HD_M_REG || is_text(m, v);
  (own ? p->vars : p->module_vars)[s->decl] = true;
  return true;
}

/* Functions with effects outside the kernel's memory: the order of CTAs changes what the program sees of
 * them. */
static const char *const effects[] = {"vprintf", "malloc", "free", NULL};

static bool reach(part *p, uint32_t func) {
  const hd_ptx_func *f = &p->m->funcs[func];
  if (p->funcs[func]) return true;
  p->funcs[func] = true;
  for (const char *const *e = effects; !f->has_body && f->sym && *e; e++)
    if (strcmp(p->m->syms[f->sym].name, *e) == 0) p->effect = *e;
  for (uint32_t k = 0; k < f->n_stmts; k++)
    if (f->stmts[k].kind == HD_S_INST || f->stmts[k].kind == HD_S_TARGETS)
      hd_ptx_visit(p->m, &f->stmts[k], leaf, p);
  return true;
}

static atomic_ulong parsed;

unsigned long run_parsed(void) { return atomic_load(&parsed); }

hd_status run_parse(const char *text, size_t len, hd_arena *arena, hd_ptx_module **out, hd_diag *d) {
  atomic_fetch_add(&parsed, 1);
  return hd_ptx_parse(text, len, "the program's PTX", arena, out, d);
}

static hd_status open_part(part *p, const run_text *text, const char *kernel, hd_diag *d) {
  hd_buf alone = {0};
  hd_arena_init(&p->arena);
  run_cut(text->data, text->len, kernel, &alone);
  hd_status st = alone.failed ? hd_nomem(d) : run_parse(alone.data, alone.len, &p->arena, &p->m, d);
  hd_buf_free(&alone);
  if (st != HD_OK) return st;
  const int64_t func = hd_ptx_find_kernel(p->m, kernel);
  if (func < 0) return hd_fail(d, HD_ERR_INPUT, "no such kernel");
  p->func = (uint32_t)func;
  p->n_funcs = p->m->n_funcs;
  p->n_vars = p->m->n_vars;
  p->funcs = HD_NEW_N(&p->arena, p->n_funcs + 1, bool);
  p->vars = HD_NEW_N(&p->arena, p->n_vars + 1, bool);
  p->module_vars = HD_NEW_N(&p->arena, p->n_vars + 1, bool);
  if (!p->funcs || !p->vars || !p->module_vars) return hd_nomem(d);
  reach(p, p->func);
  if (p->effect) return hd_fail(d, HD_ERR_REFUSED, "it calls %s", p->effect);
  if (p->pointer) return hd_fail(d, HD_ERR_REFUSED, "%s", p->pointer);
  if (p->missing) return hd_fail(d, HD_ERR_UNSUPPORTED, "%s is not in its module", p->missing);
  return HD_OK;
}

/* ---- The module -------------------------------------------------------------------------------- */

/* All that the kernel reaches, declared and defined, and all that rewriting added, stays. */
static bool stays(const part *p, const hd_ptx_item *i) {
  if (i->kind == HD_I_FUNC)
    return i->index >= p->n_funcs || p->funcs[i->index] ||
           p->funcs[p->m->syms[p->m->funcs[i->index].sym].decl];
  if (i->kind == HD_I_VAR) return i->index >= p->n_vars || p->vars[i->index];
  return false;
}

static hd_status print(part *p, run_variant *v, hd_diag *d) {
  hd_buf text = {0};
  hd_ptx_module own = *p->m;
  own.n_items = 0;
  own.items = HD_NEW_N(&p->arena, p->m->n_items + 1, hd_ptx_item);
  if (!own.items) return hd_nomem(d);
  for (uint32_t k = 0; k < p->m->n_items; k++)
    if (stays(p, &p->m->items[k])) own.items[own.n_items++] = p->m->items[k];
  if (hd_ptx_print(&own, &text) != HD_OK || text.failed) {
    hd_buf_free(&text);
    return hd_nomem(d);
  }
  v->text = text.data;
  return HD_OK;
}

/* In all that the module will have. */
static hd_status bind_variables(part *p, run_variant *v, hd_diag *d) {
  bool *in = HD_NEW_N(&p->arena, p->m->n_funcs + 1, bool);
  if (!in) return hd_nomem(d);
  for (uint32_t k = 0; k < p->m->n_funcs; k++) in[k] = k >= p->n_funcs || p->funcs[k];
  return run_variables_replace(p->m, in, &v->variables, d);
}

/* PTX for a newer architecture is assembled for the GPU's: the driver refuses instructions that this lacks.
 */
static hd_status lower(part *p, unsigned newer, unsigned arch, hd_diag *d) {
  if (!newer) return HD_OK;
  const size_t word = strcspn(p->m->target, ", ");
  if (strspn(p->m->target, "sm_0123456789") != word)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "its PTX is for %s alone", p->m->target);
  p->m->target = hd_arena_printf(&p->arena, "sm_%u%s", arch, p->m->target + word);
  p->m->sm = arch;
  return p->m->target ? HD_OK : hd_nomem(d);
}

/* ---- The plan ---------------------------------------------------------------------------------- */

/* Files of tables are heddle's own, of this user. */
static hd_status read_table(void *ctx, const char *path, uint64_t tasks, hd_table *out, hd_diag *d) {
  hd_buf file = {0};
  hd_status st = hd_trusted_read(path, &file, d);
  if (st == HD_OK) st = hd_table_parse(file.data, file.len, path, tasks, out, d);
  hd_buf_free(&file);
  return st;
}

static hd_status options_of(const run_gpu *gpu, const hd_plan *plan, const hd_verdict *verdict,
                            run_variant *v, hd_verdict_options *o, hd_diag *d) {
  *o = (hd_verdict_options){.rewrite = {.grid = {.n_sms = gpu->n_sms}, .dynamic_shared = v->dynamic}};
  v->any = !verdict;
  if (!verdict) return HD_OK;
  hd_status st = hd_verdict_read_options(verdict, plan, gpu->n_sms, read_table, NULL, o, d);
  memcpy(v->grid, o->rewrite.grid.g, sizeof v->grid);
  memcpy(v->block, o->rewrite.block, sizeof v->block);
  v->shared = o->shared;
  v->table = o->table;
  if (st == HD_OK && o->unwritten[0]) /* here each launch is looked at instead */
    st = hd_fail(d, HD_ERR_UNSUPPORTED, "the verdict rests on '%s'", verdict->assume);
  return st;
}

/* ---- Memory that nothing writes ---------------------------------------------------------------- */

static hd_status list_pointers(const bool *which, uint32_t n, const uint64_t *offsets,
                               struct run_pointers *out, hd_diag *d) {
  for (uint32_t k = 0; k < n; k++) {
    if (!which[k]) continue;
    if (out->n == RUN_MOST_POINTERS) return hd_fail(d, HD_ERR_UNSUPPORTED, "it has too many pointers");
    out->at[out->n].param = k;
    out->at[out->n++].offset = offsets[k];
  }
  return HD_OK;
}

/* bypass=ro. *unwritten, the caller's to free: the loads that it may change. v->reads and v->writes: the
 * pointers to compare at each launch. */
static hd_status find_unwritten(const part *p, const uint64_t *offsets, run_variant *v, hd_rewrite_options *o,
                                uint32_t **unwritten, hd_diag *d) {
  bool *read = calloc((size_t)v->n_params + 1, sizeof *read),
       *written = calloc((size_t)v->n_params + 1, sizeof *written);
  hd_status st = read && written
                     ? hd_unwritten_if_apart(p->m, p->func, read, written, unwritten, &o->n_unwritten, d)
                     : hd_nomem(d);
  o->unwritten = *unwritten;
  if (st == HD_OK && !o->n_unwritten)
    st = hd_fail(d, HD_ERR_REFUSED, "no load is known to be of memory that nothing writes");
  if (st == HD_OK) st = list_pointers(read, v->n_params, offsets, &v->reads, d);
  if (st == HD_OK) st = list_pointers(written, v->n_params, offsets, &v->writes, d);
  free(read);
  free(written);
  return st;
}

/* ---- What a launch can be repeated by ---------------------------------------------------------- */

static uint64_t size_of(const hd_ptx_module *m, const hd_ptx_var *v) {
  uint64_t n = hd_ptx_type_size(v->type) * (v->vec ? v->vec : 1);
  for (uint32_t k = 0; k < v->n_dims; k++) n *= m->dims[v->first_dim + k];
  return n;
}

/* Surfaces and tensors are written where no address of the launch says so. */
static const char *effect_of(const part *p, const char **handle) {
  for (uint32_t f = 0; f < p->m->n_funcs; f++)
    for (uint32_t k = 0; p->funcs[f] && k < p->m->funcs[f].n_stmts; k++) {
      const hd_ptx_stmt *s = &p->m->funcs[f].stmts[k];
      if (s->kind != HD_S_INST) continue;
      const hd_ptx_access a = hd_ptx_access_of(&p->m->forms[s->form]);
      if (a.unknown) return "it has an instruction that is not known";
      if (hd_ptx_access_in(&a, HD_IN_TEXTURE | HD_IN_SURFACE | HD_IN_TENSOR))
        *handle = "it reads through a texture, a surface or a tensor map";
      if (hd_ptx_access_in(&a, HD_IN_SURFACE | HD_IN_TENSOR) & HD_ACC_WRITE)
        return "it writes through a surface or a tensor map";
    }
  return NULL;
}

/* A launch is repeated by waiting for its end, and the program's next call, or work of another stream, may be
 * what the kernel waits for. */
static bool may_wait(const part *p) {
  enum { SEEN = 32 };
  hd_refusal all[SEEN];
  const size_t n = hd_rewrite_refusals(p->m, p->func, all, SEEN);
  bool waits = n > SEEN;
  for (size_t k = 0; k < n && k < SEEN; k++) /* without memory nothing is known of it */
    waits |= all[k].kind == HD_REFUSE_GRID_SYNC || all[k].kind == HD_REFUSE_NO_MEMORY;
  return waits;
}

static uint32_t count_unwritten(const part *p, const run_facts *f) {
  run_variant v = {.n_params = f->n_params};
  hd_rewrite_options o = {0};
  uint32_t *unwritten = NULL;
  const hd_status st = find_unwritten(p, f->offsets, &v, &o, &unwritten, NULL);
  free(unwritten);
  return st == HD_OK ? o.n_unwritten : 0;
}

hd_status run_facts_of(const run_text *text, const char *kernel, run_facts *out, hd_diag *d) {
  part p = {0};
  *out = (run_facts){0};
  hd_status st = open_part(&p, text, kernel, d);
  if (st == HD_OK) {
    const hd_ptx_func *f = &p.m->funcs[p.func];
    out->n_params = f->n_params;
    out->offsets = calloc((size_t)f->n_params + 1, sizeof *out->offsets);
    out->sizes = calloc((size_t)f->n_params + 1, sizeof *out->sizes);
    if (!out->offsets || !out->sizes) st = hd_nomem(d);
    if (st == HD_OK) out->bytes = hd_ptx_param_layout(p.m, f, out->offsets);
    if (st == HD_OK && out->bytes > RUN_MOST_BLOCK)
      st = hd_fail(d, HD_ERR_UNSUPPORTED, "its parameters are not understood");
    for (uint32_t k = 0; st == HD_OK && k < f->n_params; k++)
      out->sizes[k] = size_of(p.m, &p.m->vars[f->first_param + k]);
    out->effect = st == HD_OK ? effect_of(&p, &out->handle) : NULL;
    if (st == HD_OK) st = run_variables_list(p.m, p.module_vars, &out->variables, d);
    if (st == HD_OK && may_wait(&p)) out->effect = "it may wait for what others write";
    if (st == HD_OK && !out->effect) out->n_unwritten = count_unwritten(&p, out);
  }
  hd_arena_free(&p.arena);
  if (st != HD_OK) run_facts_free(out);
  return st;
}

/* The tiles that a kernel means where it divides the CTA's number. Tiles are found of CTAs, and orders of
 * clusters go through these. */
static void take_tiles(const part *p, const uint32_t grid[3], const void *params, uint64_t bytes,
                       hd_plan_space *s) {
  hd_analysis *a;
  hd_point at = {.args = params, .args_bytes = bytes};
  memcpy(at.grid, grid, sizeof at.grid);
  memcpy(at.block, s->block, sizeof at.block);
  if (s->clusters || hd_analyze_launch(p->m, p->func, &at, &a, NULL) != HD_OK) return;
  if (a->tiles.loop == HD_NONE) s->shape = a->tiles.shape; /* else it is that of the loop's tiles */
  hd_analysis_free(a);
  for (int k = 0; s->shape.kind != HD_SHAPE_LAUNCH && k < 3; k++)
    s->grid[k] = s->shape.n[k] ? s->shape.n[k] : 1;
}

hd_plan_space run_space_of(const run_gpu *gpu, const run_text *text, const char *kernel,
                           const uint32_t grid[3], const uint32_t block[3], const void *params,
                           uint64_t bytes) {
  part p = {0};
  hd_plan_space out = {0};
  hd_status st = open_part(&p, text, kernel, NULL);
  if (st == HD_OK) st = lower(&p, text->newer, gpu->arch, NULL);
  if (st == HD_OK) st = hd_rewrite_space(p.m, kernel, grid, block, 0, &out, NULL);
  if (st == HD_OK)
    take_tiles(&p, grid, params, bytes, &out);
  else
    out = (hd_plan_space){0};
  out.can_cancel = out.can_loop && gpu->arch >= HD_CANCEL_ARCH;
  hd_arena_free(&p.arena);
  return out;
}

void run_facts_free(run_facts *f) {
  free(f->offsets);
  free(f->sizes);
  run_variables_free(&f->variables);
  *f = (run_facts){0};
}

hd_status run_variant_make(const run_gpu *gpu, const run_text *text, run_kernel *kernel, const hd_plan *plan,
                           const hd_verdict *verdict, bool dynamic, run_variant **out, hd_diag *d) {
  part p = {0};
  hd_verdict_options o;
  run_variant *v = calloc(1, sizeof *v);
  if (!v) return hd_nomem(d);
  v->kernel = kernel;
  v->dynamic = dynamic;
  if (verdict) atomic_init(&v->saves, run_saves(verdict->before_us, verdict->after_us));
  hd_buf notation = {0};
  hd_plan_print(plan, &notation);
  v->plan = notation.data;
  hd_status st = open_part(&p, text, kernel->name, d);
  if (st == HD_OK) st = lower(&p, text->newer, gpu->arch, d);
  if (st == HD_OK) st = run_variables_list(p.m, p.module_vars, &v->variables, d);
  /* Verdicts that no program found while it ran have a size. */
  if (st == HD_OK && v->variables.constants && verdict && verdict->key.size[0])
    st = hd_fail(d, HD_ERR_UNSUPPORTED,
                 "it uses the module's constants, which its verdict has measured elsewhere");
  uint64_t *offsets = NULL;
  if (st == HD_OK) {
    offsets = HD_NEW_N(&p.arena, (size_t)p.m->funcs[p.func].n_params + 1, uint64_t);
    if (!offsets) st = hd_nomem(d);
  }
  if (st == HD_OK) v->n_params = p.m->funcs[p.func].n_params;
  if (st == HD_OK) v->own_bytes = hd_ptx_param_layout(p.m, &p.m->funcs[p.func], offsets);
  uint32_t *unwritten = NULL;
  if (st == HD_OK) st = options_of(gpu, plan, verdict, v, &o, d);
  if (st == HD_OK && plan->bypass.kind == HD_BYPASS_READONLY)
    st = find_unwritten(&p, offsets, v, &o.rewrite, &unwritten, d);
  if (st == HD_OK) st = hd_rewrite(p.m, p.func, plan, &o.rewrite, &v->recipe, d);
  free(unwritten);
  if (st == HD_OK) st = bind_variables(&p, v, d);
  if (st == HD_OK) st = print(&p, v, d);
  hd_arena_free(&p.arena);
  if (st == HD_OK) {
    *out = v;
    return HD_OK;
  }
  hd_table_free(&v->table);
  run_variables_free(&v->variables);
  free(v->plan);
  free(v);
  return st;
}
