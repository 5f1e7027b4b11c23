/* The parameters of a kernel, for somebody who has to fill them in. */
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "workload/describe.h"

/* How C++ writes a type, and the argument for it. Pointers to other types get bytes. */
static const struct {
  const char *c, *elem, *fill;
} types[] = {
    {"float", "f32", "uniform(-1, 1)"},
    {"double", "f64", "uniform(-1, 1)"},
    {"__half", "f16", "uniform(-1, 1)"},
    {"__nv_bfloat16", "bf16", "uniform(-1, 1)"},
    {"int", "s32", "iota"},
    {"unsigned int", "u32", "iota"},
    {"long", "s64", "iota"},
    {"long long", "s64", "iota"},
    {"unsigned long", "u64", "iota"},
    {"unsigned long long", "u64", "iota"},
    {"short", "s16", "iota"},
    {"unsigned short", "u16", "iota"},
    {"char", "s8", "zero"},
    {"signed char", "s8", "zero"},
    {"unsigned char", "u8", "zero"},
    {"bool", "u8", "zero"},
};

static bool is_type(const char *text, size_t n, size_t k) {
  return strlen(types[k].c) == n && memcmp(text, types[k].c, n) == 0;
}

/* "float const*" and "int"; false: it is another type, or a pointer to one. */
static bool find_type(const char *text, size_t n, size_t *k, bool *points) {
  static const char constant[] = " const";
  *points = n && text[n - 1] == '*';
  if (*points) n--;
  if (n > sizeof constant - 1 && memcmp(text + n - (sizeof constant - 1), constant, sizeof constant - 1) == 0)
    n -= sizeof constant - 1;
  for (*k = 0; *k < sizeof types / sizeof *types; ++*k)
    if (is_type(text, n, *k)) return true;
  return false;
}

/* The list of parameters at the end of "void k<int>(float*, int)": behind its parenthesis; NULL: there is
 * none. */
static const char *list_of(const char *title) {
  size_t n = strlen(title), depth = 0;
  if (!n || title[n - 1] != ')') return NULL;
  while (n-- > 0) {
    depth += title[n] == ')';
    if (title[n] == '(' && !--depth) return title + n + 1;
  }
  return NULL;
}

/* Bytes of the item at p, up to a comma or the parenthesis that ends the list. */
static size_t item_of(const char *p) {
  size_t n = 0;
  for (int depth = 0; p[n] && (depth || (p[n] != ',' && p[n] != ')')); n++)
    depth += (strchr("<([", p[n]) != NULL) - (strchr(">)]", p[n]) != NULL);
  return n;
}

size_t hd_kernel_parameters(const hd_ptx_module *m, uint32_t func, hd_parameter *out, size_t cap) {
  const hd_ptx_func *f = &m->funcs[func];
  hd_buf whole = {0};
  hd_kernel_title(m->syms[f->sym].name, true, &whole);
  const char *at = whole.data && !whole.failed ? list_of(whole.data) : NULL;
  for (uint32_t i = 0; i < f->n_params && i < cap; i++) {
    const hd_ptx_var *v = &m->vars[f->first_param + i];
    const size_t n = at ? item_of(at) : 0;
    size_t k;
    hd_parameter *p = &out[i];
    *p = (hd_parameter){.type = hd_ptx_mod_text(m, v->type), .bytes = hd_ptx_var_size(m, v)};
    if (n && find_type(at, n, &k, &p->points)) p->elem = types[k].elem, p->fill = types[k].fill;
    if (n) hd_fit(p->c, sizeof p->c, "%.*s", (int)n, at);
    at = n && at[n] == ',' ? at + n + 1 + strspn(at + n + 1, " ") : NULL;
  }
  hd_buf_free(&whole);
  return f->n_params;
}

static void put_by_ptx(const hd_parameter *p, hd_buf *out) {
  if (strcmp(p->type, "u64") == 0 || strcmp(p->type, "b64") == 0)
    hd_buf_puts(out, "'f32[COUNT]=uniform(-1, 1)'");
  else if (p->bytes <= 8 && !(p->bytes & (p->bytes - 1)) && strcmp(p->type, "b8") != 0)
    hd_buf_printf(out, "%c%s:VALUE", p->type[0] == 'b' ? 'u' : p->type[0], p->type + 1);
  else
    hd_buf_puts(out, "'struct{...}'");
}

hd_status describe_parameters(const hd_ptx_module *m, uint32_t func, hd_buf *out, hd_diag *d) {
  const size_t n = m->funcs[func].n_params;
  hd_parameter *all = calloc(n + 1, sizeof *all);
  hd_buf line = {0};
  if (!all) return hd_nomem(d);
  hd_kernel_parameters(m, func, all, n);
  for (size_t i = 0; i < n; i++) {
    const hd_parameter *p = &all[i];
    hd_buf_printf(out, "%s%zu: ", i ? ", " : "", i + 1);
    if (p->c[0])
      hd_buf_printf(out, "%s (.%s)", p->c, p->type);
    else
      hd_buf_printf(out, ".%s", p->type);
    if (p->bytes > 8) hd_buf_printf(out, " of %llu bytes", (unsigned long long)p->bytes);
    hd_buf_puts(&line, " --arg ");
    if (p->elem && p->points)
      hd_buf_printf(&line, "'%s[COUNT]=%s'", p->elem, p->fill);
    else if (p->elem)
      hd_buf_printf(&line, "%s:VALUE", p->elem);
    else if (p->points)
      hd_buf_puts(&line, "'u8[COUNT]=zero'");
    else
      put_by_ptx(p, &line);
  }
  hd_buf_printf(out, "; fill in: --grid X,Y,Z --block X,Y,Z%s", line.data ? line.data : "");
  out->failed |= line.failed;
  hd_buf_free(&line);
  free(all);
  return out->failed ? hd_nomem(d) : HD_OK;
}
