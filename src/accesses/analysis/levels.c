/* The classes that addresses would have at any launch: quantities that only the launch fixes are numbers
 * there. Quantities of the CTA alone are numbers in each of its threads and rounds, so an address may be
 * affine from a start that has no formula.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/internal.h"

enum { MAX_DEPTH = 40, UNKNOWN = 0xff };

/* A quantity's level (hd_level), and what else it rests on. */
typedef uint8_t grade;
enum { LEVEL = 15, COMPUTED = 16, LOADED = 32 };

typedef struct asking {
  const hd_analysis *a;
  grade *known; /* per polynomial */
} asking;

static grade grade_of(asking *q, hd_poly p, unsigned depth);

static hd_level level_in(grade g) { return (hd_level)(g & LEVEL); }

static grade worse(grade x, grade y) {
  return (grade)((level_in(x) > level_in(y) ? level_in(x) : level_in(y)) | ((x | y) & ~LEVEL));
}

/* Nothing in the kernel writes through the same pointer. */
static bool is_written(const hd_analysis *a, const hd_site *load) {
  for (uint32_t i = 0; i < a->n_sites; i++) {
    const hd_site *s = &a->sites[i];
    bool writes = hd_site_writes((hd_site_kind)s->kind), unknown = s->param == HD_NONE && s->var == HD_NONE;
    bool same = s->param == load->param && s->param_offset == load->param_offset && s->var == load->var;
    if (writes && (unknown || same)) return true;
  }
  return false;
}

/* What a load brings: a number, if all threads load from one address that is not written meanwhile; one for
 * each CTA, if the threads of a CTA load from one address, which is taken not to be written; else data. */
static grade grade_of_load(asking *q, const hd_value_symbol *s, unsigned depth) {
  const hd_analysis *a = q->a;
  uint32_t i = 0;
  while (i < a->n_sites && a->sites[i].inst != s->a) i++;
  if (i == a->n_sites || a->sites[i].kind != HD_SITE_LOAD || a->sites[i].level >= HD_LEVEL_CALL)
    return HD_LEVEL_DATA;
  const hd_site *load = &a->sites[i];
  const hd_polynomial *at = &a->polys[load->address];
  grade g = grade_of(q, load->address, depth + 1);
  if (level_in(g) > HD_LEVEL_QUASI || (g != HD_LEVEL_LAUNCH && !an_only_cta(at->varies, at->iterates)))
    return HD_LEVEL_DATA;
  bool named = load->param != HD_NONE || load->var != HD_NONE;
  bool fixed = hd_ptx_form_has(hd_inst_form(&a->cfg, s->a), HD_M_NC) || (named && !is_written(a, load));
  return g == HD_LEVEL_LAUNCH && fixed ? HD_LEVEL_LAUNCH : HD_LEVEL_AFFINE | LOADED;
}

/* A function of what varies: of a quantity of the CTA alone it is another one. */
static grade grade_of_function(const hd_value_symbol *s, grade x, grade y) {
  grade g = worse(x, y);
  bool floor = s->kind == HD_V_FLOOR;
  bool bits = s->kind == HD_V_POW2 || s->kind == HD_V_BITAND || s->kind == HD_V_BITXOR;
  if (level_in(g) <= HD_LEVEL_QUASI && !bits && (!floor || y == HD_LEVEL_LAUNCH))
    return worse(g, HD_LEVEL_QUASI);
  return an_only_cta(s->varies, s->iterates) ? HD_LEVEL_AFFINE | COMPUTED : worse(g, HD_LEVEL_NONLINEAR);
}

static grade grade_of_symbol(asking *q, const hd_value_symbol *s, unsigned depth) {
  if (s->level == HD_LEVEL_LAUNCH) return HD_LEVEL_LAUNCH;
  if (s->kind == HD_V_LOAD) return grade_of_load(q, s, depth);
  if (!an_is_function(s->kind)) {
    bool of_cta = s->level == HD_LEVEL_NONLINEAR && an_only_cta(s->varies, s->iterates);
    return of_cta ? HD_LEVEL_AFFINE | COMPUTED : s->level;
  }
  grade x = grade_of(q, s->a, depth + 1);
  grade y = an_has_two_arguments(s->kind) ? grade_of(q, s->b, depth + 1) : HD_LEVEL_LAUNCH;
  return x == HD_LEVEL_LAUNCH && y == HD_LEVEL_LAUNCH ? HD_LEVEL_LAUNCH : grade_of_function(s, x, y);
}

/* Factors of the CTA alone are one factor together. */
static grade grade_of_product(asking *q, const hd_product *prod, unsigned depth) {
  const hd_analysis *a = q->a;
  grade g = HD_LEVEL_LAUNCH;
  unsigned of_cta = 0, others = 0;
  for (uint32_t k = 0; k < prod->n; k++) {
    const hd_value_symbol *s = &a->symbols[a->factors[prod->first + k]];
    grade of = grade_of_symbol(q, s, depth);
    bool varies = level_in(of) >= HD_LEVEL_AFFINE, own = an_only_cta(s->varies, s->iterates);
    of_cta += varies && own;
    others += varies && !own;
    g = worse(g, of);
  }
  if (others + (of_cta > 0) > 1) return worse(g, HD_LEVEL_NONLINEAR);
  return of_cta > 1 ? worse(g, COMPUTED) : g;
}

static grade grade_of(asking *q, hd_poly p, unsigned depth) {
  const hd_analysis *a = q->a;
  grade g = HD_LEVEL_LAUNCH;
  if (q->known[p] != UNKNOWN) return q->known[p];
  if (depth > MAX_DEPTH) return a->polys[p].level;
  for (uint32_t i = 0; i < a->polys[p].n; i++)
    g = worse(g, grade_of_product(q, &a->products[a->terms[a->polys[p].first + i].product], depth));
  q->known[p] = g;
  return g;
}

/* ---- Reasons ------------------------------------------------------------------------------------------- */

/* The grade is to blame for a whole that is `whole`. */
static bool is_as_bad(grade g, grade whole) {
  if (level_in(whole) > HD_LEVEL_QUASI) return level_in(g) == level_in(whole);
  return g & (whole & LOADED ? LOADED : COMPUTED);
}

/* The first symbol of p that is to blame; NULL: only a product of symbols is that bad. */
static const hd_value_symbol *worst_symbol(asking *q, hd_poly p, grade whole) {
  const hd_analysis *a = q->a;
  for (uint32_t i = 0; i < a->polys[p].n; i++) {
    const hd_product *prod = &a->products[a->terms[a->polys[p].first + i].product];
    for (uint32_t k = 0; k < prod->n; k++) {
      const hd_value_symbol *s = &a->symbols[a->factors[prod->first + k]];
      if (is_as_bad(grade_of_symbol(q, s, 0), whole)) return s;
    }
  }
  return NULL;
}

/* an_culprit, with the levels that hold at a launch. */
static an_blame blame_of(asking *q, hd_poly p, grade whole) {
  for (unsigned depth = 0; depth < MAX_DEPTH; depth++) {
    const hd_value_symbol *s = worst_symbol(q, p, whole);
    if (!s) return (an_blame){HD_WHY_PRODUCT, HD_NONE};
    if (!an_is_function(s->kind)) return (an_blame){(hd_why)s->reason, s->why};
    if (is_as_bad(grade_of(q, s->a, 0), whole))
      p = s->a;
    else if (an_has_two_arguments(s->kind) && is_as_bad(grade_of(q, s->b, 0), whole))
      p = s->b;
    else
      return (an_blame){s->kind == HD_V_FLOOR ? HD_WHY_DIVISION : HD_WHY_BITS, s->why};
  }
  return (an_blame){HD_WHY_COMPLEX, HD_NONE};
}

static hd_launch_class class_of(asking *q, const hd_site *s) {
  hd_launch_class c = {.level = s->level, .why = s->why, .inst = HD_NONE};
  if (s->level >= HD_LEVEL_CALL || s->why == HD_WHY_TENSOR_MAP) return c;
  grade g = grade_of(q, s->address, 0);
  bool affine = level_in(g) <= HD_LEVEL_QUASI;
  an_blame b = {HD_WHY_NONE, HD_NONE};
  if (!affine || g & (COMPUTED | LOADED)) b = blame_of(q, s->address, g);
  c.start = !affine        ? HD_START_FORMULA
            : g & LOADED   ? HD_START_LOADED
            : g & COMPUTED ? HD_START_COMPUTED
                           : HD_START_FORMULA;
  c.level = c.start == HD_START_LOADED     ? HD_LEVEL_DATA
            : c.start == HD_START_COMPUTED ? HD_LEVEL_NONLINEAR
                                           : level_in(g);
  c.why = (uint8_t)b.reason;
  c.inst = b.inst;
  return c;
}

hd_status hd_classes_at_launch(const hd_analysis *a, hd_launch_class *classes, hd_diag *d) {
  asking q = {a, malloc((size_t)a->n_polys + 1)};
  if (!q.known) return hd_nomem(d);
  memset(q.known, UNKNOWN, a->n_polys);
  for (uint32_t i = 0; i < a->n_sites; i++) classes[i] = class_of(&q, &a->sites[i]);
  free(q.known);
  return HD_OK;
}
