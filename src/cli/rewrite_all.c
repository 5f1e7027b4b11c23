/* heddle rewrite --all: every kernel of every module that is not refused, and a table of why the others are.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "heddle/container.h"
#include "heddle/rewrite.h"
#include "rewrite_all.h"

/* ---- Refusals by reason ---------------------------------------------------------------- */

typedef struct reason {
  char text[128];
  uint64_t kernels;
} reason;

typedef struct tally {
  uint64_t modules, unread, kernels, rewritten;
  HD_VEC(reason) reasons;
  json_t *files; /* NULL: not wanted */
} tally;

static bool count_reason(tally *t, const char *text) {
  for (size_t i = 0; i < t->reasons.n; i++)
    if (strcmp(t->reasons.data[i].text, text) == 0) {
      t->reasons.data[i].kernels++;
      return true;
    }
  reason r = {.kernels = 1};
  snprintf(r.text, sizeof r.text, "%.127s", text);
  return hd_vec_push(&t->reasons, r);
}

static int by_kernels(const void *a, const void *b) {
  const reason *x = a, *y = b;
  if (x->kernels != y->kernels) return x->kernels < y->kernels ? 1 : -1;
  return strcmp(x->text, y->text);
}

/* What a property of the kernel alone says; else NULL. Other reasons show when it is rewritten. */
static const char *known_reason(const hd_ptx_module *m, uint32_t func, const rewrite_all_job *j) {
  hd_refusal why;
  const hd_plan *p = j->plan;
  bool moves = p->order.kind != HD_ORDER_ROW || p->bind != HD_BIND_NONE || p->threads.kind != HD_ORDER_ROW;
  if (moves && hd_rewrite_refusals(m, func, &why, 1)) return hd_refusal_name(why.kind);
  if (p->bind == HD_BIND_AGENTS && hd_rewrite_agent_refusals(m, func, j->options->block, &why, 1))
    return hd_refusal_name(why.kind);
  return NULL;
}

/* Of "line 7: mov.u32 %r1, %smid: reads ...": the words behind the instruction. */
static const char *last_words(const char *message) {
  const char *last = message;
  for (const char *p = message; (p = strstr(p, ": ")) != NULL; p += 2) last = p + 2;
  return last;
}

/* ---- One module ---------------------------------------------------------------------------- */

typedef struct module_job {
  const rewrite_all_job *all;
  const hd_ptx_text *text;
  hd_arena arena;
  hd_ptx_module *m;
  bool *skip; /* by function */
  uint64_t rewritten;
  hd_buf recipes;
} module_job;

/* Try all kernels but those to skip. One that fails leaves a module to be thrown away: *again, with it
 * skipped. */
static hd_status try_kernels(module_job *j, tally *t, bool *again, hd_diag *d) {
  j->rewritten = 0;
  hd_buf_clear(&j->recipes);
  for (uint32_t f = 0; f < j->m->n_funcs; f++) {
    if (!j->m->funcs[f].entry || !j->m->funcs[f].has_body || j->skip[f]) continue;
    hd_recipe recipe;
    hd_diag e = {0};
    hd_status st = hd_rewrite(j->m, f, j->all->plan, j->all->options, &recipe, &e);
    if (st == HD_ERR_REFUSED || st == HD_ERR_UNSUPPORTED || st == HD_ERR_USAGE) {
      j->skip[f] = *again = true;
      return count_reason(t, last_words(e.message)) ? HD_OK : hd_nomem(d);
    }
    if (st != HD_OK) {
      if (d) *d = e;
      return st;
    }
    j->rewritten++;
    rewrite_put_recipe(j->m->syms[j->m->funcs[f].sym].name, &recipe, &j->recipes);
  }
  return HD_OK;
}

static hd_status parse(module_job *j, hd_diag *d) {
  hd_arena_reset(&j->arena);
  return hd_ptx_parse(j->text->data, j->text->len, j->text->label, &j->arena, &j->m, d);
}

static hd_status skip_refused(module_job *j, tally *t, hd_diag *d) {
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

static hd_status write_module(module_job *j, tally *t, bool folder, hd_diag *d) {
  char path[4200];
  hd_buf out = {0};
  if (folder)
    snprintf(path, sizeof path, "%.4096s/%05u.ptx", j->all->output, j->text->index);
  else
    snprintf(path, sizeof path, "%.4096s", j->all->output);
  hd_status st = hd_ptx_print(j->m, &out);
  if (j->recipes.len) hd_buf_put(&out, j->recipes.data, j->recipes.len);
  if (st == HD_OK && (out.failed || j->recipes.failed)) st = hd_nomem(d);
  if (st == HD_OK) st = hd_file_write(path, out.data, out.len, d);
  hd_buf_free(&out);
  if (st == HD_OK && t->files)
    json_array_append_new(t->files, json_pack("{s:s, s:i, s:s, s:I}", "file", path, "module",
                                              (int)j->text->index, "target", j->m->target ? j->m->target : "",
                                              "rewritten", (json_int_t)j->rewritten));
  return st;
}

static hd_status rewrite_module(const rewrite_all_job *all, const hd_ptx_text *text, tally *t, bool folder,
                                hd_diag *d) {
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

static hd_status count_modules(const char *path, uint64_t *n, hd_diag *d) {
  hd_container *c;
  hd_status st = hd_container_open(path, &c, d);
  if (st != HD_OK) return st;
  hd_ptx_text t;
  bool more = true;
  for (*n = 0; more;) {
    st = hd_container_next(c, &t, &more, NULL);
    *n += st == HD_OK && more;
  }
  hd_container_close(c);
  return HD_OK;
}

/* Module number i of n is one of `sample` that lie evenly among them. */
static bool is_sampled(uint64_t i, uint64_t n, uint64_t sample) {
  return sample == 0 || sample >= n || i * sample / n != (i + 1) * sample / n;
}

static hd_status rewrite_file(const rewrite_all_job *j, tally *t, bool folder, uint64_t n, hd_diag *d) {
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
    bool chosen = j->index == UINT64_MAX ? is_sampled(number, n, j->sample) : text.index == j->index;
    if (chosen && (st = rewrite_module(j, &text, t, folder, d)) != HD_OK) break;
  }
  hd_container_close(c);
  return st;
}

static void put_table(const tally *t, hd_buf *out) {
  hd_buf_printf(out, "%" PRIu64 " of %" PRIu64 " kernels in %" PRIu64 " modules rewritten\n", t->rewritten,
                t->kernels, t->modules);
  hd_text_table *table = t->reasons.n ? hd_text_table_new("rl") : NULL;
  if (!table) return;
  hd_buf_puts(out, "refused:\n");
  for (size_t i = 0; i < t->reasons.n; i++) {
    hd_text_table_cell(table, "%" PRIu64, t->reasons.data[i].kernels);
    hd_text_table_cell(table, "%s", t->reasons.data[i].text);
  }
  hd_text_table_print(table, out);
  hd_text_table_free(table);
}

static int report(tally *t) {
  if (t->reasons.n) qsort(t->reasons.data, t->reasons.n, sizeof *t->reasons.data, by_kernels);
  if (!t->files) {
    hd_buf text = {0};
    put_table(t, &text);
    fputs(text.data ? text.data : "", stderr);
    hd_buf_free(&text);
    return EXIT_OK;
  }
  json_t *reasons = json_object();
  for (size_t i = 0; i < t->reasons.n; i++)
    json_object_set_new(reasons, t->reasons.data[i].text,
                        json_integer((json_int_t)t->reasons.data[i].kernels));
  json_t *files = t->files;
  t->files = NULL;
  return cli_print_json(json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "modules", (json_int_t)t->modules,
                                  "unread", (json_int_t)t->unread, "kernels", (json_int_t)t->kernels,
                                  "rewritten", (json_int_t)t->rewritten, "refused", reasons, "files", files));
}

int rewrite_all(const rewrite_all_job *j) {
  hd_diag d = {0};
  struct stat st;
  uint64_t n = 0;
  bool folder = stat(j->output, &st) == 0 && S_ISDIR(st.st_mode);
  if (j->json && strcmp(j->output, "-") == 0)
    return cli_usage("rewrite: --json needs -o, since stdout holds the module");
  hd_status status = count_modules(j->path, &n, &d);
  if (status == HD_OK && n == 0) status = hd_fail(&d, HD_ERR_INPUT, "%s: holds no PTX", j->path);
  if (status == HD_OK && n > 1 && j->index == UINT64_MAX && !folder)
    status = hd_fail(&d, HD_ERR_USAGE, "%s: holds %" PRIu64 " modules; name an existing folder with -o",
                     j->path, n);
  tally t = {.files = j->json ? json_array() : NULL};
  if (status == HD_OK) status = rewrite_file(j, &t, folder, n, &d);
  if (status == HD_OK && !t.modules)
    status = hd_fail(&d, HD_ERR_USAGE, "%s: no module %" PRIu64, j->path, j->index);
  int rc = status == HD_OK ? report(&t) : cli_fail(&d);
  json_decref(t.files);
  hd_vec_free(&t.reasons);
  return rc;
}
