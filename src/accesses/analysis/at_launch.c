/* The analysis of one launch: once without its arguments, for the bases of addresses and the divisions that
 * arguments decide, and again with them. */
#include <string.h>

#include "analysis/internal.h"

/* ---- What divides a CTA's number ------------------------------------------------------------ */

enum { MAX_DEPTH = 24 };

typedef struct divisions {
  const hd_analysis *a;
  uint8_t *seen; /* per polynomial; 2: as part of a divisor */
  hd_tiles *out;
} divisions;

static void note_param(hd_tiles *out, uint32_t param) {
  for (uint32_t i = 0; i < out->n_params; i++)
    if (out->params[i] == param) return;
  if (out->n_params < HD_TILES_PARAMS) out->params[out->n_params++] = param;
}

static void look(divisions *d, hd_poly p, bool divisor, unsigned depth);

static void look_at(divisions *d, const hd_value_symbol *s, bool divisor, unsigned depth) {
  if (s->kind == HD_V_PARAM && divisor) note_param(d->out, s->a);
  if (!an_is_function(s->kind)) return;
  const hd_polynomial *of = &d->a->polys[s->a];
  bool id = s->kind == HD_V_FLOOR && of->varies && !(of->varies & 7) && !of->iterates;
  if (id && s->why != HD_NONE) {
    const hd_inst *i = &d->a->cfg.insts[s->why];
    uint32_t line = d->a->module->funcs[i->func].stmts[i->stmt].line;
    if (!d->out->line || line < d->out->line) d->out->line = line;
  }
  look(d, s->a, divisor, depth + 1);
  if (an_has_two_arguments(s->kind)) look(d, s->b, divisor || id, depth + 1);
}

static void look(divisions *d, hd_poly p, bool divisor, unsigned depth) {
  const hd_polynomial *q = &d->a->polys[p];
  uint8_t bit = divisor ? 2 : 1;
  if (depth > MAX_DEPTH || d->seen[p] & bit) return;
  d->seen[p] |= bit;
  for (uint32_t i = 0; i < q->n; i++) {
    const hd_product *prod = &d->a->products[d->a->terms[q->first + i].product];
    for (uint32_t k = 0; k < prod->n; k++)
      look_at(d, &d->a->symbols[d->a->factors[prod->first + k]], divisor, depth);
  }
}

static void find_divisions(an *a, const hd_analysis *plain) {
  divisions d = {plain, HD_NEW_N(&a->arena, plain->n_polys + 1u, uint8_t), &a->pub.tiles};
  for (uint32_t i = 0; i < plain->n_sites; i++)
    if (plain->sites[i].level <= HD_LEVEL_NONLINEAR) look(&d, plain->sites[i].address, false, 0);
  for (uint32_t i = 0; i < plain->n_guards; i++) look(&d, plain->guards[i].poly, false, 0);
}

/* ---- Arguments --------------------------------------------------------------------------------- */

static void keep_bases(an *a, const hd_analysis *plain) {
  for (uint32_t i = 0; i < plain->n_sites; i++) {
    const hd_site *s = &plain->sites[i];
    if (s->param == HD_NONE) continue;
    bool known = false;
    for (size_t k = 0; k < a->bases.n; k++)
      known |= a->bases.data[k].param == s->param && a->bases.data[k].offset == s->param_offset;
    if (!known) AN_PUSH(&a->arena, &a->bases, ((an_base){s->param, s->param_offset}));
  }
}

bool an_argument(const an *a, const hd_value_symbol *s, int64_t *out) {
  if (!a->launch || !a->launch->args) return false;
  for (size_t k = 0; k < a->bases.n; k++)
    if (a->bases.data[k].param == s->a && a->bases.data[k].offset == s->b) return false;
  return an_param_value(&a->pub, s, a->launch, out);
}

hd_status an_prepare_launch(an *a, const hd_analysis *plain) {
  keep_bases(a, plain);
  find_divisions(a, plain);
  return HD_OK;
}
