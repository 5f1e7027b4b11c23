/* Every kernel of every module of a file that is not refused. */
#include "heddle/rewrite_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "heddle/container.h"
#include "heddle/ptx_valid.h"

/* ---- Refusals by reason ---------------------------------------------------------------- */

static bool count_reason(hd_rewritten_file *t, const char *text) {
  for (size_t i = 0; i < t->reasons.n; i++)
    if (strcmp(t->reasons.data[i].text, text) == 0) {
      t->reasons.data[i].kernels++;
      return true;
    }
  hd_rewrite_reason r = {.kernels = 1};
  snprintf(r.text, sizeof r.text, "%.127s", text);
  return hd_vec_push(&t->reasons, r);
}

static int by_kernels(const void *a, const void *b) {
  const hd_rewrite_reason *x = a, *y = b;
  if (x->kernels != y->kernels) return x->kernels < y->kernels ? 1 : -1;
  return strcmp(x->text, y->text);
}

/* A reason for refusal that follows from the kernel alone; else NULL. Other reasons show when it is
 * rewritten. */
static const char *known_reason(const hd_ptx_module *m, uint32_t func, const hd_rewrite_file_options *j) {
  hd_refusal why;
  const hd_plan *p = j->plan;
  bool moves = p->order.kind != HD_ORDER_ROW || p->shape.kind != HD_SHAPE_LAUNCH || p->bind != HD_BIND_NONE ||
               p->threads.kind != HD_ORDER_ROW;
  if (moves && hd_rewrite_refusals_assuming(m, func, j->options->assume, &why, 1))
    return hd_refusal_name(why.kind);
  if (p->bind == HD_BIND_AGENTS && hd_rewrite_agent_refusals(m, func, j->options->block, &why, 1))
    return hd_refusal_name(why.kind);
  return NULL;
}

/* ---- One module ---------------------------------------------------------------------------- */

typedef struct module_job {
  const hd_rewrite_file_options *all;
  const hd_ptx_text *text;
  hd_arena arena;
  hd_ptx_module *m;
  bool *skip; /* by function */
  uint64_t rewritten;
  hd_buf recipes;
} module_job;

/* Try all kernels but those to skip. One that fails leaves a module to be thrown away: *again, with it
 * skipped. */
static hd_status try_kernels(module_job *j, hd_rewritten_file *t, bool *again, hd_diag *d) {
  j->rewritten = 0;
  hd_buf_clear(&j->recipes);
  for (uint32_t f = 0; f < j->m->n_funcs; f++) {
    if (!j->m->funcs[f].entry || !j->m->funcs[f].has_body || j->skip[f]) continue;
    hd_recipe recipe;
    hd_diag e = {0};
    hd_status st = hd_rewrite(j->m, f, j->all->plan, j->all->options, &recipe, &e);
    if (hd_blames_plan(st)) {
      j->skip[f] = *again = true;
      return count_reason(t, hd_diag_reason(&e)) ? HD_OK : hd_nomem(d);
    }
    if (st != HD_OK) {
      if (d) *d = e;
      return st;
    }
    j->rewritten++;
    hd_recipe_print(j->m->syms[j->m->funcs[f].sym].name, &recipe, &j->recipes);
  }
  return HD_OK;
}

static hd_status parse(module_job *j, hd_diag *d) {
  hd_arena_reset(&j->arena);
  return hd_ptx_parse_valid(j->text->data, j->text->len, j->text->label, &j->arena, &j->m, d);
}

static hd_status skip_refused(module_job *j, hd_rewritten_file *t, hd_diag *d) {
  j->skip = calloc((size_t)j->m->n_funcs + 1, sizeof *j->skip);
  if (!j->skip) return hd_nomem(d);
  for (uint32_t f = 0; f < j->m->n_funcs; f++) {
    if (!j->m->funcs[f].entry || !j->m->funcs[f].has_body) continue;
    const char *why = known_reason(j->m, f, j->all);
    t->kernels++;
    j->skip[f] = why != NULL;
    if (why && !count_reason(t, why)) return hd_nomem(d);
  }
  return HD_OK;
}

static hd_status write_module(module_job *j, hd_rewritten_file *t, bool folder, hd_diag *d) {
  char path[4200];
  hd_buf out = {0};
  if (folder)
    snprintf(path, sizeof path, "%.4096s/%05u.ptx", j->all->output, j->text->index);
  else
    snprintf(path, sizeof path, "%.4096s", j->all->output);
  hd_status st = hd_ptx_print(j->m, &out);
  if (j->recipes.len) hd_buf_put(&out, j->recipes.data, j->recipes.len);
  if (st != HD_OK || out.failed || j->recipes.failed) st = hd_nomem(d);
  if (st == HD_OK) st = hd_file_write(path, out.data, out.len, d);
  hd_buf_free(&out);
  const char *target = j->m->target ? j->m->target : "";
  hd_rewritten_module m = {.path = hd_arena_printf(&t->arena, "%s", path),
                           .target = hd_arena_printf(&t->arena, "%s", target),
                           .module = j->text->index,
                           .rewritten = j->rewritten};
  if (st == HD_OK && (!m.path || !m.target || !hd_vec_push(&t->files, m))) st = hd_nomem(d);
  return st;
}

static hd_status rewrite_module(const hd_rewrite_file_options *all, const hd_ptx_text *text,
                                hd_rewritten_file *t, bool folder, hd_diag *d) {
  module_job j = {.all = all, .text = text};
  hd_arena_init(&j.arena);
  hd_status st = parse(&j, d);
  if (st == HD_OK) st = skip_refused(&j, t, d);
  for (bool again = true; st == HD_OK && again;) {
    again = false;
    st = try_kernels(&j, t, &again, d);
    if (st == HD_OK && again) st = parse(&j, d);
  }
  if (st == HD_OK) st = write_module(&j, t, folder, d);
  t->modules++;
  t->rewritten += st == HD_OK ? j.rewritten : 0;
  free(j.skip);
  hd_buf_free(&j.recipes);
  hd_arena_free(&j.arena);
  return st;
}

/* ---- The file ------------------------------------------------------------------------------- */

static hd_status rewrite_file(const hd_rewrite_file_options *j, hd_rewritten_file *t, bool folder, uint64_t n,
                              hd_diag *d) {
  hd_container *c;
  hd_status st = hd_container_open(j->path, &c, d);
  if (st != HD_OK) return st;
  for (uint64_t i = 0;;) {
    hd_ptx_text text;
    bool more;
    hd_diag e = {0};
    if (hd_container_next(c, &text, &more, &e) != HD_OK) {
      t->unread++;
      if (!more) break;
      continue;
    }
    if (!more) break;
    uint64_t number = i++;
    bool chosen =
        j->index == UINT64_MAX ? hd_container_sampled(number, n, j->sample) : text.index == j->index;
    if (chosen && (st = rewrite_module(j, &text, t, folder, d)) != HD_OK) break;
  }
  hd_container_close(c);
  return st;
}

hd_status hd_rewrite_file(const hd_rewrite_file_options *o, hd_rewritten_file *out, hd_diag *d) {
  struct stat s;
  uint64_t n = 0;
  bool folder = stat(o->output, &s) == 0 && S_ISDIR(s.st_mode);
  *out = (hd_rewritten_file){0};
  hd_arena_init(&out->arena);
  hd_status st = hd_container_count(o->path, &n, d);
  if (st == HD_OK && n == 0) st = hd_fail(d, HD_ERR_INPUT, "%s: holds no PTX", o->path);
  if (st == HD_OK && n > 1 && o->index == UINT64_MAX && !folder)
    st = hd_fail(d, HD_ERR_USAGE, "%s: holds %" PRIu64 " modules; name an existing folder with -o", o->path,
                 n);
  if (st == HD_OK) st = rewrite_file(o, out, folder, n, d);
  if (st == HD_OK && !out->modules)
    st = hd_fail(d, HD_ERR_USAGE, "%s: no module %" PRIu64, o->path, o->index);
  if (out->reasons.n) qsort(out->reasons.data, out->reasons.n, sizeof *out->reasons.data, by_kernels);
  if (st != HD_OK) hd_rewritten_file_free(out);
  return st;
}

void hd_rewritten_file_free(hd_rewritten_file *r) {
  hd_vec_free(&r->reasons);
  hd_vec_free(&r->files);
  hd_arena_free(&r->arena);
}

/* ---- One kernel ------------------------------------------------------------------------------- */

hd_status hd_rewrite_kernel(const hd_rewrite_file_options *o, const char *kernel, hd_buf *launch,
                            hd_diag *d) {
  hd_apply_kernel k = {.plan = o->plan, .options = *o->options, .prepare = o->prepare, .ctx = o->ctx};
  const hd_grid *grid = &k.options.grid;
  hd_table table = {0};
  hd_arena arena;
  hd_arena_init(&arena);
  hd_ptx_module *m = NULL;
  hd_buf text = {0};
  hd_recipe recipe = {0};
  hd_status st = hd_kernel_find(o->path, o->index, kernel, &arena, &m, &k.func, NULL, d);
  if (st == HD_OK && k.options.block[0]) st = hd_ptx_check_block(m, &m->funcs[k.func], k.options.block, d);
  if (st == HD_OK && o->plan->order.kind == HD_ORDER_TABLE && grid->known) {
    uint64_t V;
    if (!hd_grid_tasks(grid->g, &V)) st = hd_fail(d, HD_ERR_USAGE, "the grid has too many tasks");
    if (st == HD_OK) st = hd_table_read(o->plan->table, V, &table, d);
    k.options.table = &table;
  }
  if (st == HD_OK) {
    st = hd_apply_module(m, &k, 1, HD_TEXT_IN_PLACE, &recipe, &text, d);
    if (st != HD_OK && d && !d->file[0]) snprintf(d->file, sizeof d->file, "%.500s", o->path);
  }
  if (st == HD_OK) hd_recipe_print(m->syms[m->funcs[k.func].sym].name, &recipe, &text);
  if (st == HD_OK) st = text.failed ? hd_nomem(d) : hd_file_write(o->output, text.data, text.len, d);
  if (st == HD_OK && launch) hd_recipe_tell(m->syms[m->funcs[k.func].sym].name, &recipe, launch);
  hd_buf_free(&text);
  hd_table_free(&table);
  hd_arena_free(&arena);
  return st;
}
