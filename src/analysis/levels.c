/* The classes that addresses would have at any launch: quantities that only the launch fixes are numbers
 * there. */
#include <stdlib.h>
#include <string.h>

#include "analysis/internal.h"

enum { MAX_DEPTH = 40, UNKNOWN = 0xff };

typedef struct asking {
  const hd_analysis *a;
  uint8_t *known; /* per polynomial */
} asking;

static hd_level level_of(asking *q, hd_poly p, unsigned depth);

static hd_level worse(hd_level x, hd_level y) { return x > y ? x : y; }

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

/* A load from the same address in all threads, of memory that nobody writes meanwhile. */
static bool loads_number(asking *q, const hd_value_symbol *s, unsigned depth) {
  const hd_analysis *a = q->a;
  uint32_t i = 0;
  if (s->kind != HD_V_LOAD) return false;
  while (i < a->n_sites && a->sites[i].inst != s->a) i++;
  if (i == a->n_sites || a->sites[i].kind != HD_SITE_LOAD || a->sites[i].level >= HD_LEVEL_CALL) return false;
  if (level_of(q, a->sites[i].address, depth + 1) != HD_LEVEL_LAUNCH) return false;
  return hd_ptx_form_has(hd_inst_form(&a->cfg, s->a), HD_M_NC) ||
         ((a->sites[i].param != HD_NONE || a->sites[i].var != HD_NONE) && !is_written(a, &a->sites[i]));
}

static hd_level level_of_symbol(asking *q, const hd_value_symbol *s, unsigned depth) {
  if (s->level == HD_LEVEL_LAUNCH || loads_number(q, s, depth)) return HD_LEVEL_LAUNCH;
  if (!an_is_function(s->kind)) return (hd_level)s->level;
  hd_level x = level_of(q, s->a, depth + 1);
  hd_level y = an_has_two_arguments(s->kind) ? level_of(q, s->b, depth + 1) : HD_LEVEL_LAUNCH;
  if (x == HD_LEVEL_LAUNCH && y == HD_LEVEL_LAUNCH) return HD_LEVEL_LAUNCH;
  switch (s->kind) {
  case HD_V_FLOOR: return worse(worse(x, y), y == HD_LEVEL_LAUNCH ? HD_LEVEL_QUASI : HD_LEVEL_NONLINEAR);
  case HD_V_POW2:
  case HD_V_BITAND:
  case HD_V_BITXOR: return worse(worse(x, y), HD_LEVEL_NONLINEAR);
  default: return worse(worse(x, y), HD_LEVEL_QUASI);
  }
}

static hd_level level_of(asking *q, hd_poly p, unsigned depth) {
  const hd_analysis *a = q->a;
  hd_level level = HD_LEVEL_LAUNCH;
  if (q->known[p] != UNKNOWN) return (hd_level)q->known[p];
  if (depth > MAX_DEPTH) return (hd_level)a->polys[p].level;
  for (uint32_t i = 0; i < a->polys[p].n; i++) {
    const hd_product *prod = &a->products[a->terms[a->polys[p].first + i].product];
    unsigned varying = 0;
    for (uint32_t k = 0; k < prod->n; k++) {
      hd_level of = level_of_symbol(q, &a->symbols[a->factors[prod->first + k]], depth);
      varying += of >= HD_LEVEL_AFFINE;
      level = worse(level, of);
    }
    if (varying > 1) level = worse(level, HD_LEVEL_NONLINEAR);
  }
  q->known[p] = (uint8_t)level;
  return level;
}

hd_status hd_levels_at_launch(const hd_analysis *a, uint8_t *levels, hd_diag *d) {
  asking q = {a, malloc((size_t)a->n_polys + 1)};
  if (!q.known) return hd_nomem(d);
  memset(q.known, UNKNOWN, a->n_polys);
  for (uint32_t i = 0; i < a->n_sites; i++) {
    const hd_site *s = &a->sites[i];
    bool formed = s->level < HD_LEVEL_CALL && s->why != HD_WHY_TENSOR_MAP;
    levels[i] = formed ? (uint8_t)level_of(&q, s->address, 0) : s->level;
  }
  free(q.known);
  return HD_OK;
}
