/* A kernel's loads of global memory, and the forms of those that bypass a cache.
 *
 * The operator depends on the target:
 *
 *   L1, read-only cache   .L1::no_allocate from sm_70 and PTX ISA 7.4 on (it leaves the load weak and
 *                         non-coherent ones non-coherent); before that .cg
 *   L2                    a policy that evicts first, from sm_80 and PTX ISA 7.4 on; before that .cs, which
 *                         streams through L1 as well (BYP 4.1)
 *
 * Loads stay as they are where the ISA has no such form, or where their operator was chosen already. */
#include <stdio.h>
#include <string.h>

#include "rewrite/rewrite_internal.h"

/* ---- Finding them ------------------------------------------------------------------ */

static bool is_one_of(hd_mod mod, const hd_mod *list, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (list[i] == mod) return true;
  return false;
}
#define IS_ONE_OF(mod, list) is_one_of(mod, list, sizeof(list) / sizeof *(list))

static bool has_one_of(const hd_ptx_form *f, const hd_mod *list, size_t n) {
  for (unsigned k = 0; k < f->n_mods; k++)
    if (is_one_of(f->mods[k], list, n)) return true;
  return false;
}
#define HAS_ONE_OF(form, list) has_one_of(form, list, sizeof(list) / sizeof *(list))

static const hd_mod OTHER_SPACES[] = {HD_M_SHARED, HD_M_SHARED_CTA, HD_M_SHARED_CLUSTER, HD_M_LOCAL,
                                      HD_M_CONST,  HD_M_PARAM,      HD_M_PARAM_ENTRY,    HD_M_PARAM_FUNC};
static const hd_mod ORDERED[] = {HD_M_VOLATILE, HD_M_RELAXED, HD_M_ACQUIRE, HD_M_MMIO};
static const hd_mod OPERATORS[] = {HD_M_CA, HD_M_CG, HD_M_CS, HD_M_LU, HD_M_CV};
static const hd_mod L1_PRIORITIES[] = {HD_M_L1_EVICT_NORMAL, HD_M_L1_EVICT_UNCHANGED, HD_M_L1_EVICT_FIRST,
                                       HD_M_L1_EVICT_LAST, HD_M_L1_NO_ALLOCATE};
static const hd_mod L2_PRIORITIES[] = {HD_M_L2_EVICT_FIRST, HD_M_L2_EVICT_LAST, HD_M_L2_EVICT_NORMAL};
static const hd_mod CHOSEN[] = {HD_M_CG,
                                HD_M_CS,
                                HD_M_LU,
                                HD_M_CV,
                                HD_M_L1_EVICT_FIRST,
                                HD_M_L1_EVICT_LAST,
                                HD_M_L1_NO_ALLOCATE,
                                HD_M_L1_EVICT_UNCHANGED};

static bool is_load(const hd_ptx_form *f) {
  return (f->op == HD_OP_LD || f->op == HD_OP_LDU) && !HAS_ONE_OF(f, OTHER_SPACES);
}

/* Why no lever can change it; NULL: one may. */
static const char *why_kept(const hd_ptx_stmt *s, const hd_ptx_form *f) {
  if (f->op == HD_OP_LDU) return "ldu takes no cache operator";
  if (!hd_ptx_form_has(f, HD_M_GLOBAL)) return "its address is generic and may be in another space";
  if (HAS_ONE_OF(f, ORDERED)) return "it is ordered with other threads' accesses";
  if (HAS_ONE_OF(f, CHOSEN)) return "it has a cache operator of its own";
  if (s->n_opnds != 2u + hd_ptx_form_has(f, HD_M_L2_CACHE_HINT)) return "a form that is not known";
  return NULL;
}

size_t hd_rewrite_loads(const hd_ptx_module *m, uint32_t func, hd_global_load *out, size_t cap) {
  const hd_ptx_func *f = &m->funcs[func];
  size_t n = 0;
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    const hd_ptx_stmt *s = &f->stmts[i];
    if (s->kind != HD_S_INST || !is_load(&m->forms[s->form])) continue;
    if (n < cap)
      out[n] = (hd_global_load){.stmt = i, .line = s->line, .kept = why_kept(s, &m->forms[s->form])};
    n++;
  }
  return n;
}

/* ---- Spelling --------------------------------------------------------------------------- */

static bool isa_at_least(const hd_ptx_module *m, unsigned major, unsigned minor) {
  return m->version_major > major || (m->version_major == major && m->version_minor >= minor);
}
static bool has_no_allocate(const hd_ptx_module *m) { return m->sm >= 70 && isa_at_least(m, 7, 4); }

bool rewrite_has_policies(const hd_ptx_module *m) { return m->sm >= 80 && isa_at_least(m, 7, 4); }

/* The pieces of a load's dotted word, which stand in this order. */
typedef struct spelling {
  hd_mod cache_operator, l1_priority;
  bool nc, hint;
  hd_mod front[HD_PTX_MAX_MODS], back[HD_PTX_MAX_MODS]; /* .weak.global; .L2::evict_last .L2::128B.v4.f32 */
  unsigned n_front, n_back;
} spelling;

static void take_apart(const hd_ptx_form *f, spelling *s) {
  *s = (spelling){0};
  for (unsigned k = 0; k < f->n_mods; k++) {
    hd_mod mod = f->mods[k];
    if (mod == HD_M_WEAK || mod == HD_M_GLOBAL)
      s->front[s->n_front++] = mod;
    else if (mod == HD_M_NC)
      s->nc = true;
    else if (mod == HD_M_L2_CACHE_HINT)
      s->hint = true;
    else if (IS_ONE_OF(mod, OPERATORS))
      s->cache_operator = mod;
    else if (IS_ONE_OF(mod, L1_PRIORITIES))
      s->l1_priority = mod;
    else
      s->back[s->n_back++] = mod;
  }
}

static void put_mod(const hd_ptx_module *m, hd_mod mod, hd_buf *out) {
  if (mod) hd_buf_printf(out, ".%s", hd_ptx_mod_text(m, mod));
}

static hd_status put_together(hd_ptx_module *m, const spelling *s, uint32_t *form, hd_diag *d) {
  hd_buf text = {0};
  hd_buf_puts(&text, "ld");
  for (unsigned k = 0; k < s->n_front; k++) put_mod(m, s->front[k], &text);
  put_mod(m, s->cache_operator, &text);
  put_mod(m, s->nc ? HD_M_NC : HD_M_NONE, &text);
  put_mod(m, s->l1_priority, &text);
  unsigned k = 0; /* an L2 priority stands before the hint */
  while (k < s->n_back && IS_ONE_OF(s->back[k], L2_PRIORITIES)) put_mod(m, s->back[k++], &text);
  put_mod(m, s->hint ? HD_M_L2_CACHE_HINT : HD_M_NONE, &text);
  while (k < s->n_back) put_mod(m, s->back[k++], &text);
  hd_status st = text.failed ? hd_nomem(d) : hd_ptx_add_form(m, text.data, form, d);
  hd_buf_free(&text);
  return st;
}

/* Around L1, or around the read-only cache, which is L1 from Maxwell on and has been apart before that. */
static const char *respell_l1(const hd_ptx_module *m, bool read_only, spelling *s) {
  if (read_only && !s->nc) return "it does not go through the read-only cache";
  s->cache_operator = HD_M_NONE;
  s->l1_priority = HD_M_NONE;
  if (has_no_allocate(m)) {
    s->l1_priority = HD_M_L1_NO_ALLOCATE;
    return NULL;
  }
  if (s->nc && !read_only && m->sm && m->sm < 50) return "it goes through the read-only cache, not L1";
  s->nc = false;
  s->cache_operator = HD_M_CG;
  return NULL;
}

static const char *respell_l2(const hd_ptx_module *m, spelling *s) {
  if (s->hint) return "it has a cache policy of its own";
  if (rewrite_has_policies(m)) {
    s->hint = true;
    return NULL;
  }
  s->cache_operator = HD_M_CS;
  return NULL;
}

hd_status rewrite_make_readonly(hd_ptx_module *m, const hd_ptx_stmt *load, uint32_t *form, const char **kept,
                                hd_diag *d) {
  spelling s;
  *form = load->form;
  *kept = why_kept(load, &m->forms[load->form]);
  if (!*kept && ((m->sm && m->sm < 32) || !isa_at_least(m, 3, 1)))
    *kept = "its target has no loads that are not coherent";
  if (*kept) return HD_OK;
  take_apart(&m->forms[load->form], &s);
  if (s.nc) return HD_OK;
  s.nc = true;
  s.cache_operator = HD_M_NONE; /* .ca, the default */
  s.n_front = 0;                /* such a load is always weak, and says so by .nc alone */
  s.front[s.n_front++] = HD_M_GLOBAL;
  return put_together(m, &s, form, d);
}

hd_status rewrite_respell(hd_ptx_module *m, const hd_ptx_stmt *load, hd_bypass_kind around, uint32_t *form,
                          const char **kept, hd_diag *d) {
  spelling s;
  *kept = why_kept(load, &m->forms[load->form]);
  if (*kept) return HD_OK;
  take_apart(&m->forms[load->form], &s);
  *kept = around == HD_BYPASS_L2 ? respell_l2(m, &s) : respell_l1(m, around == HD_BYPASS_READONLY, &s);
  return *kept ? HD_OK : put_together(m, &s, form, d);
}
