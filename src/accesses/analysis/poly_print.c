/* Polynomials and conditions as text; questions about polynomials. */
#include <inttypes.h>
#include <string.h>

#include "analysis/internal.h"

enum { MAX_DEPTH = 16, MOST_TEXT = 8192 }; /* bytes of a formula's text, about */

/* ---- Names ---------------------------------------------------------------------------- */

const char *hd_level_name(hd_level l) {
  static const char *const names[] = {"launch", "affine", "quasi-affine", "non-linear",
                                      "data",   "call",   "budget"};
  return (size_t)l < sizeof names / sizeof *names ? names[l] : "unknown";
}

const char *hd_site_kind_name(hd_site_kind k) {
  static const char *const names[] = {"load", "store", "atomic", "prefetch", "copy-in", "copy-out"};
  return (size_t)k < sizeof names / sizeof *names ? names[k] : "unknown";
}
bool hd_site_reads(hd_site_kind k) {
  return k == HD_SITE_LOAD || k == HD_SITE_ATOMIC || k == HD_SITE_COPY_IN;
}
bool hd_site_writes(hd_site_kind k) {
  return k == HD_SITE_STORE || k == HD_SITE_ATOMIC || k == HD_SITE_COPY_OUT;
}

static const struct {
  const char *name, *text;
} whys[] = {
    [HD_WHY_NONE] = {"none", ""},
    [HD_WHY_PRODUCT] = {"product", "a product of two quantities that vary"},
    [HD_WHY_DIVISION] = {"division", "a division by a quantity that only the launch fixes"},
    [HD_WHY_BITS] = {"bits", "bit operations of two quantities"},
    [HD_WHY_INSTRUCTION] = {"instruction", "an instruction without a polynomial form"},
    [HD_WHY_RECURRENCE] = {"recurrence", "carried around a loop, not in even steps"},
    [HD_WHY_PATH] = {"path", "one of several values, by a path too involved to follow"},
    [HD_WHY_LOOP_COUNT] = {"loop-count", "how often a loop ran"},
    [HD_WHY_LOAD] = {"load", "loaded from memory"},
    [HD_WHY_EXCHANGE] = {"exchange", "from other threads"},
    [HD_WHY_SCHEDULE] = {"schedule", "where and when the CTA runs"},
    [HD_WHY_CALL] = {"call", "a call that cannot be followed"},
    [HD_WHY_UNDEFINED] = {"undefined", "a register that was not written"},
    [HD_WHY_TENSOR_MAP] = {"tensor-map", "addressed through a tensor map"},
    [HD_WHY_COMPLEX] = {"complex", "too long a formula"},
    [HD_WHY_BUDGET] = {"budget", "not worked out: over the budget"},
};
const char *hd_why_name(hd_why w) { return (size_t)w < HD_WHY_COUNT ? whys[w].name : "unknown"; }
const char *hd_why_text(hd_why w) { return (size_t)w < HD_WHY_COUNT ? whys[w].text : "unknown"; }

/* ---- Polynomials ----------------------------------------------------------------------- */

static void put_poly(const hd_analysis *a, hd_poly p, hd_buf *out, unsigned depth, size_t most);

static void put_var_name(const hd_analysis *a, uint32_t var, hd_buf *out) {
  hd_buf_puts(out, a->module->syms[a->module->vars[var].sym].name);
}

void hd_param_print(const hd_analysis *a, uint32_t param, hd_buf *out) {
  const hd_ptx_func *f = &a->module->funcs[a->func];
  const char *kernel = a->module->syms[f->sym].name,
             *name = a->module->syms[a->module->vars[f->first_param + param].sym].name;
  size_t n = strlen(kernel);
  if (strncmp(name, kernel, n) == 0 && strncmp(name + n, "_param_", 7) == 0)
    hd_buf_printf(out, "param%s", name + n + 7);
  else
    hd_buf_puts(out, name);
}

static void put_symbol(const hd_analysis *a, hd_symbol symbol, hd_buf *out, unsigned depth, size_t most) {
  static const char part[] = "xyz";
  const hd_value_symbol *s = &a->symbols[symbol];
  switch (s->kind) {
  case HD_V_TID: hd_buf_printf(out, "tid.%c", part[s->a]); return;
  case HD_V_CTAID: hd_buf_printf(out, "ctaid.%c", part[s->a]); return;
  case HD_V_TILE: hd_buf_printf(out, "tile.%c", part[s->a]); return;
  case HD_V_TASK: hd_buf_puts(out, "task"); return;
  case HD_V_NTID: hd_buf_printf(out, "ntid.%c", part[s->a]); return;
  case HD_V_NCTAID: hd_buf_printf(out, "nctaid.%c", part[s->a]); return;
  case HD_V_COUNTER: hd_buf_printf(out, "k%u", s->a + 1); return;
  case HD_V_EXIT: hd_buf_printf(out, "rounds%u", s->a + 1); return;
  case HD_V_PARAM:
    hd_param_print(a, s->a, out);
    if (s->b) hd_buf_printf(out, "[%u]", s->b);
    return;
  case HD_V_CONST:
    put_var_name(a, s->a, out);
    hd_buf_printf(out, "[%u]", s->b);
    return;
  case HD_V_ADDRESS:
    hd_buf_putc(out, '&');
    if (s->a == HD_NONE)
      hd_buf_puts(out, a->module->syms[s->b].name);
    else
      put_var_name(a, s->a, out);
    return;
  case HD_V_WINDOW: hd_buf_printf(out, "%s_window", hd_ptx_mod_text(a->module, (hd_mod)s->a)); return;
  case HD_V_SREG: hd_buf_printf(out, "sreg%u", s->a); return;
  case HD_V_LOAD:
  case HD_V_CALL:
  case HD_V_OPAQUE: {
    const char *kind = s->kind == HD_V_LOAD ? "load" : s->kind == HD_V_CALL ? "call" : "value";
    uint32_t line = 0;
    if (s->a != HD_NONE) {
      const hd_inst *i = &a->cfg.insts[s->a];
      line = a->module->funcs[i->func].stmts[i->stmt].line;
    }
    hd_buf_printf(out, "%s@%u", kind, line);
    return;
  }
  case HD_V_MERGE:
  case HD_V_RECUR:
  case HD_V_UNDEF:
  case HD_V_PHI:
    hd_buf_printf(out, "%s%u",
                  s->kind == HD_V_MERGE   ? "merge"
                  : s->kind == HD_V_RECUR ? "carried"
                                          : "undefined",
                  symbol);
    return;
  default: break;
  }
  static const char *const names[] = {
      [HD_V_FLOOR] = "floor", [HD_V_POS] = "max0",      [HD_V_GE] = "",
      [HD_V_EQ] = "",         [HD_V_BOTH] = "and",      [HD_V_IF] = "if",
      [HD_V_POW2] = "pow2",   [HD_V_BITAND] = "bitand", [HD_V_BITXOR] = "bitxor"};
  hd_buf_printf(out, "%s(", names[s->kind]);
  bool parentheses = s->kind == HD_V_FLOOR && a->polys[s->a].n > 1;
  if (parentheses) hd_buf_putc(out, '(');
  put_poly(a, s->a, out, depth + 1, most);
  if (parentheses) hd_buf_putc(out, ')');
  switch (s->kind) {
  case HD_V_GE: hd_buf_puts(out, " >= 0"); break;
  case HD_V_EQ: hd_buf_puts(out, " == 0"); break;
  case HD_V_FLOOR:
    hd_buf_puts(out, " / ");
    put_poly(a, s->b, out, depth + 1, most);
    break;
  case HD_V_BOTH:
  case HD_V_IF:
  case HD_V_BITAND:
  case HD_V_BITXOR:
    hd_buf_puts(out, ", ");
    put_poly(a, s->b, out, depth + 1, most);
    break;
  default: break;
  }
  hd_buf_putc(out, ')');
}

/* The constant comes last. */
static void put_poly(const hd_analysis *a, hd_poly p, hd_buf *out, unsigned depth, size_t most) {
  const hd_polynomial *q = &a->polys[p];
  bool any = false;
  if (depth > MAX_DEPTH || out->len > most) {
    hd_buf_puts(out, "...");
    return;
  }
  for (uint32_t pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < q->n; i++) {
      const hd_term *t = &a->terms[q->first + i];
      const hd_product *prod = &a->products[t->product];
      if ((prod->n == 0) != (pass == 1) || (any && out->len > most)) continue;
      uint64_t size = t->coefficient < 0 ? 0 - (uint64_t)t->coefficient : (uint64_t)t->coefficient;
      hd_buf_puts(out, t->coefficient < 0 ? (any ? " - " : "-") : any ? " + " : "");
      any = true;
      if (size != 1 || prod->n == 0) hd_buf_printf(out, "%" PRIu64 "%s", size, prod->n ? "*" : "");
      for (uint32_t k = 0; k < prod->n; k++) {
        if (k) hd_buf_putc(out, '*');
        put_symbol(a, a->factors[prod->first + k], out, depth, most);
      }
    }
  if (!any) hd_buf_putc(out, '0');
}

/* Functions share their parts, and a text has each part as often as it is named: the text of a short formula
 * may be longer than any memory. */
static void put_bounded(const hd_analysis *a, hd_poly p, hd_buf *out, unsigned depth) {
  put_poly(a, p, out, depth, out->len + MOST_TEXT);
}

void hd_poly_print(const hd_analysis *a, hd_poly p, hd_buf *out) { put_bounded(a, p, out, 0); }

/* p is 0 or 1; the text is the condition that holds where it is 1. */
void hd_guard_print(const hd_analysis *a, hd_poly p, hd_buf *out) {
  const hd_polynomial *q = &a->polys[p];
  const hd_term *t = a->terms + q->first;
  bool negated = q->n == 2 && !t[0].product && t[0].coefficient == 1 && t[1].coefficient == -1;
  const hd_product *prod = q->n == 1 || negated ? &a->products[t[negated].product] : NULL;
  const hd_value_symbol *s = prod && prod->n == 1 ? &a->symbols[a->factors[prod->first]] : NULL;
  if (s && (s->kind == HD_V_GE || s->kind == HD_V_EQ)) {
    put_bounded(a, s->a, out, 1);
    hd_buf_puts(out, s->kind == HD_V_GE ? (negated ? " < 0" : " >= 0") : negated ? " != 0" : " == 0");
  } else {
    put_bounded(a, p, out, 0);
  }
}

void hd_assumption_print(const hd_analysis *a, const hd_assumption *s, hd_buf *out) {
  if (s->lo == s->hi) {
    put_bounded(a, s->poly, out, 0);
    hd_buf_printf(out, " == %" PRId64, s->lo);
    return;
  }
  if (s->lo == INT32_MIN)
    hd_buf_puts(out, "-2^31 <= ");
  else if (s->lo != INT64_MIN)
    hd_buf_printf(out, "%" PRId64 " <= ", s->lo);
  put_bounded(a, s->poly, out, 0);
  if (s->hi == INT32_MAX)
    hd_buf_puts(out, " < 2^31");
  else if (s->hi == UINT32_MAX)
    hd_buf_puts(out, " < 2^32");
  else if (s->hi != INT64_MAX)
    hd_buf_printf(out, " <= %" PRId64, s->hi);
}

/* ---- Questions --------------------------------------------------------------------------- */

hd_symbol hd_find_symbol(const hd_analysis *a, hd_symbol_kind kind, uint32_t x, uint32_t y) {
  for (hd_symbol s = 1; s < a->n_symbols; s++)
    if (a->symbols[s].kind == kind && a->symbols[s].a == x && a->symbols[s].b == y) return s;
  return HD_NONE;
}

static bool is_known(const hd_analysis *a, hd_poly p, unsigned depth) {
  const hd_polynomial *q = &a->polys[p];
  if (q->level <= HD_LEVEL_QUASI) return true;
  if (depth > AN_MAX_NESTING) return false;
  for (uint32_t i = 0; i < q->n; i++) {
    const hd_product *prod = &a->products[a->terms[q->first + i].product];
    for (uint32_t k = 0; k < prod->n; k++) {
      const hd_value_symbol *s = &a->symbols[a->factors[prod->first + k]];
      if (s->level <= HD_LEVEL_QUASI) continue;
      if (!an_is_function(s->kind) && s->kind >= HD_V_PHI) return false;
      if (!an_is_function(s->kind)) continue;
      if (!is_known(a, s->a, depth + 1)) return false;
      if (an_has_two_arguments(s->kind) && !is_known(a, s->b, depth + 1)) return false;
    }
  }
  return true;
}

bool hd_poly_is_known(const hd_analysis *a, hd_poly p) { return is_known(a, p, 0); }

bool hd_poly_stride(hd_analysis *pub, hd_poly p, hd_symbol variable, hd_poly *out) {
  an *a = pub->priv;
  hd_poly rest;
  *out = 0;
  if (!hd_poly_is_known(pub, p)) return false;
  if (variable == HD_NONE) return true;
  if (setjmp(a->out_of_memory)) return false;
  bool linear =
      an_linear_in(&a->alg, p, variable, out, &rest) && a->alg.polys.data[*out].level == HD_LEVEL_LAUNCH;
  an_publish(a);
  return linear;
}
