/* The one way from plans to a text: parse, rewrite, print. */
#include <string.h>

#include "heddle/rewrite.h"

static void begin_with(const char *blame, hd_status st, hd_diag *d) {
  char why[sizeof d->message];
  if (!d || d->file[0]) return;
  memcpy(why, d->message, sizeof why);
  const uint32_t line = d->line;
  hd_fail(d, st, "%s: %.700s", blame, why);
  d->line = line;
}

static hd_status rewrite_kernel(hd_ptx_module *m, const hd_apply_kernel *k, hd_recipe *recipe, hd_diag *d) {
  hd_rewrite_options options = k->options;
  const int64_t func = k->name ? hd_ptx_find_kernel(m, k->name) : k->func;
  if (func < 0) return hd_fail(d, HD_ERR_INPUT, "%s: no kernel '%s' in this module", m->name, k->name);
  hd_status st = k->prepare ? k->prepare(k->ctx, m, (uint32_t)func, &options, d) : HD_OK;
  return st == HD_OK ? hd_rewrite(m, (uint32_t)func, k->plan, &options, recipe, d) : st;
}

static hd_status print(const hd_ptx_module *m, hd_text_form form, hd_buf *text, hd_diag *d) {
  hd_status st = form == HD_TEXT_CANONICAL  ? hd_ptx_print(m, text)
                 : form == HD_TEXT_IN_PLACE ? hd_ptx_print_in_place(m, text)
                                            : HD_OK;
  /* The printers have no diagnostic of their own, and fail for want of memory alone. */
  return st != HD_OK || (form != HD_TEXT_NONE && text->failed) ? hd_nomem(d) : HD_OK;
}

hd_status hd_apply_module(hd_ptx_module *m, const hd_apply_kernel *kernels, size_t n, hd_text_form form,
                          hd_recipe *recipes, hd_buf *text, hd_diag *d) {
  for (size_t i = 0; i < n; i++) {
    const hd_status st = rewrite_kernel(m, &kernels[i], &recipes[i], d);
    if (st != HD_OK && kernels[i].blame) begin_with(kernels[i].blame, st, d);
    if (st != HD_OK) return st;
  }
  return print(m, form, text, d);
}

hd_status hd_apply_text(const char *text, size_t len, const char *name, const hd_apply_kernel *kernels,
                        size_t n, hd_text_form form, hd_rewritten *out, hd_diag *d) {
  *out = (hd_rewritten){0};
  hd_arena_init(&out->arena);
  hd_status st = hd_ptx_parse(text, len, name, &out->arena, &out->module, d);
  if (st == HD_OK) {
    out->recipes = HD_NEW_N(&out->arena, n + 1, hd_recipe);
    st = out->recipes ? hd_apply_module(out->module, kernels, n, form, out->recipes, &out->text, d)
                      : hd_nomem(d);
  }
  if (st != HD_OK) hd_rewritten_free(out);
  return st;
}

void hd_rewritten_free(hd_rewritten *r) {
  hd_buf_free(&r->text);
  hd_arena_free(&r->arena);
  *r = (hd_rewritten){0};
}
