/* The parameters of a kernel, for somebody who has to fill them in. */
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

static void put_by_ptx(const char *type, uint64_t bytes, hd_buf *out) {
  if (strcmp(type, "u64") == 0 || strcmp(type, "b64") == 0)
    hd_buf_puts(out, "'f32[COUNT]=uniform(-1, 1)'");
  else if (bytes <= 8 && !(bytes & (bytes - 1)) && strcmp(type, "b8") != 0)
    hd_buf_printf(out, "%c%s:VALUE", type[0] == 'b' ? 'u' : type[0], type + 1);
  else
    hd_buf_puts(out, "'struct{...}'");
}

void describe_parameters(const hd_ptx_module *m, uint32_t func, hd_buf *out) {
  const hd_ptx_func *f = &m->funcs[func];
  hd_buf whole = {0}, line = {0};
  hd_kernel_title(m->syms[f->sym].name, true, &whole);
  const char *at = whole.data ? list_of(whole.data) : NULL;
  for (uint32_t i = 0; i < f->n_params; i++) {
    const hd_ptx_var *v = &m->vars[f->first_param + i];
    const char *type = hd_ptx_mod_text(m, v->type);
    const uint64_t bytes = hd_ptx_var_size(m, v);
    const size_t n = at ? item_of(at) : 0;
    size_t k;
    bool points;
    const bool known = n && find_type(at, n, &k, &points);
    hd_buf_printf(out, "%s%u: ", i ? ", " : "", i + 1);
    if (n)
      hd_buf_printf(out, "%.*s (.%s)", (int)n, at, type);
    else
      hd_buf_printf(out, ".%s", type);
    if (bytes > 8) hd_buf_printf(out, " of %llu bytes", (unsigned long long)bytes);
    hd_buf_puts(&line, " --arg ");
    if (known && points)
      hd_buf_printf(&line, "'%s[COUNT]=%s'", types[k].elem, types[k].fill);
    else if (known)
      hd_buf_printf(&line, "%s:VALUE", types[k].elem);
    else if (n && at[n - 1] == '*')
      hd_buf_puts(&line, "'u8[COUNT]=zero'");
    else
      put_by_ptx(type, bytes, &line);
    at = n && at[n] == ',' ? at + n + 1 + strspn(at + n + 1, " ") : NULL;
  }
  hd_buf_printf(out, "; fill in: --grid X,Y,Z --block X,Y,Z%s", line.data ? line.data : "");
  out->failed |= whole.failed || line.failed;
  hd_buf_free(&whole);
  hd_buf_free(&line);
}
