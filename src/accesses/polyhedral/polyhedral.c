/* A kernel's arrays at a launch, by both methods; MAP's algorithm 1. */
#include <stdlib.h>
#include <string.h>

#include "polyhedral/internal.h"

static const uint64_t default_operations = 300000, default_steps = 10000000;
enum { DEFAULT_LINE = 128 };

/* ---- Words ------------------------------------------------------------------------------ */

const char *hd_polyhedral_inexact_text(hd_polyhedral_inexact why) {
  static const char *const text[HD_INEXACT_COUNT] = {
      [HD_INEXACT_NO] = "exact",
      [HD_INEXACT_ADDRESS] = "an address is not known from the launch",
      [HD_INEXACT_GUARDS] = "whether an access runs is not known from the launch",
      [HD_INEXACT_TRIPS] = "how often a loop runs is not known from the launch",
      [HD_INEXACT_SIZE] = "an access by a whole warp or of unknown size",
      [HD_INEXACT_ASSUMPTION] = "32-bit numbers may wrap",
      [HD_INEXACT_OVERFLOW] = "numbers too large",
      [HD_INEXACT_BUDGET] = "over the budget",
  };
  return why < HD_INEXACT_COUNT ? text[why] : "";
}

const char *hd_map_direction_name(hd_map_direction d) {
  static const char *const name[] = {"round-robin", "x", "y", "z"};
  return d <= HD_MAP_Z ? name[d] : "";
}

/* ---- Arrays --------------------------------------------------------------------------------- */

typedef struct measuring {
  const hd_analysis *a;
  const hd_point *at;
  polyhedral_launch launch;
  polyhedral_site *sites; /* per site of the analysis */
  uint8_t *why;           /* per site: hd_polyhedral_inexact */
  uint32_t *array_of;     /* per site; HD_NONE: a prefetch */
  uint32_t *which;        /* scratch */
  uint64_t work;
} measuring;

static uint64_t base_of(const measuring *m, const hd_site *s) {
  int64_t base = 0;
  hd_symbol symbol = HD_NONE;
  if (s->param != HD_NONE)
    symbol = hd_find_symbol(m->a, HD_V_PARAM, s->param, s->param_offset);
  else if (s->var != HD_NONE)
    symbol = hd_find_symbol(m->a, HD_V_ADDRESS, s->var, 0);
  return symbol != HD_NONE && hd_symbol_eval(m->a, symbol, m->at, &base) ? (uint64_t)base : 0;
}

static hd_polyhedral_array *array_of(const measuring *m, hd_polyhedral *out, const hd_site *s,
                                     uint32_t *number) {
  uint64_t base = base_of(m, s);
  for (*number = 0; *number < out->n_arrays; ++*number) {
    hd_polyhedral_array *one = &out->arrays[*number];
    bool same = one->param == s->param && one->param_offset == s->param_offset && one->var == s->var;
    if (same || (base && one->base == base)) return one;
  }
  hd_polyhedral_array *fresh = &out->arrays[out->n_arrays++];
  *fresh =
      (hd_polyhedral_array){.param = s->param, .param_offset = s->param_offset, .var = s->var, .base = base};
  return fresh;
}

static bool open_sites(measuring *m, hd_polyhedral *out) {
  for (uint32_t i = 0; i < m->a->n_sites; i++) {
    const hd_site *s = &m->a->sites[i];
    m->array_of[i] = HD_NONE;
    if (s->kind == HD_SITE_PREFETCH) continue;
    hd_polyhedral_array *array = array_of(m, out, s, &m->array_of[i]);
    int64_t origin = (int64_t)(array->base & -(uint64_t)m->launch.line);
    array->n_sites++;
    array->reads |= hd_site_reads((hd_site_kind)s->kind);
    array->writes |= hd_site_writes((hd_site_kind)s->kind);
    m->why[i] = (uint8_t)polyhedral_site_open(&m->sites[i], m->a, i, m->at, origin, &m->work);
    if (m->sites[i].forms.no_memory) return false;
    if (m->why[i] && !array->inexact) {
      array->inexact = m->why[i];
      array->line = s->line;
    }
  }
  return true;
}

static void measure_array(const measuring *m, uint32_t number, hd_polyhedral_array *array) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->a->n_sites; i++)
    if (m->array_of[i] == number) m->which[n++] = i;
  if (array->inexact) return;
  polyhedral_swept *all;
  hd_polyhedral_inexact why = polyhedral_sweep(&m->launch, m->sites, m->which, n, &all, &n);
  if (!why) {
    array->by_isl = polyhedral_distances(&m->launch, m->sites, all, n, array->distance);
    why = polyhedral_list(&m->launch, m->sites, all, n, array);
  }
  polyhedral_sweep_free(all, n);
  if (!why || (why == HD_INEXACT_BUDGET && array->by_isl)) return;
  array->inexact = (uint8_t)why;
  array->by_isl = false;
}

/* MAP algorithm 1. */
static void choose_direction(hd_polyhedral *out) {
  out->complete = true;
  for (uint32_t i = 0; i < out->n_arrays; i++) {
    const hd_polyhedral_array *array = &out->arrays[i];
    if (array->inexact) out->complete = false;
    for (uint32_t k = 0; k < 3 && !array->inexact; k++)
      if (array->distance[k] > out->distance[k]) out->distance[k] = array->distance[k];
  }
  uint32_t largest = 0;
  for (uint32_t k = 0; k < 3; k++) {
    if (out->distance[k] <= largest) continue;
    largest = out->distance[k];
    out->direction = (hd_map_direction)(HD_MAP_X + k);
  }
}

/* ---- All of it --------------------------------------------------------------------------------- */

hd_status hd_polyhedral_measure(const hd_analysis *a, const hd_point *at, const hd_polyhedral_options *o,
                                hd_polyhedral *out, hd_diag *d) {
  *out = (hd_polyhedral){0};
  measuring m = {.a = a, .at = at};
  uint32_t line = o && o->line ? o->line : DEFAULT_LINE;
  for (uint32_t i = 0; i < 3; i++)
    if (!at->grid[i] || !at->block[i])
      return hd_fail(d, HD_ERR_USAGE, "the launch's grid and block must be known");
  if (line < 32 || line > 256 || (line & (line - 1)))
    return hd_fail(d, HD_ERR_USAGE, "a line of %u bytes: a power of two from 32 to 256", line);
  bool tiles = a->tiles.answer == HD_TILES_FOUND && a->tiles.loop == HD_NONE;
  memcpy(m.launch.grid, tiles ? a->tiles.n : at->grid, sizeof m.launch.grid);
  m.launch.line = line;
  m.launch.isl_operations = o && o->isl_operations ? o->isl_operations : default_operations;
  m.launch.steps = o && o->steps ? o->steps : default_steps;
  size_t n = (size_t)a->n_sites + 1;
  m.sites = calloc(n, sizeof *m.sites);
  m.why = calloc(n, sizeof *m.why);
  m.array_of = calloc(n, sizeof *m.array_of);
  m.which = calloc(n, sizeof *m.which);
  out->arrays = calloc(n, sizeof *out->arrays);
  bool ok = m.sites && m.why && m.array_of && m.which && out->arrays && open_sites(&m, out);
  for (uint32_t i = 0; ok && i < out->n_arrays; i++) measure_array(&m, i, &out->arrays[i]);
  if (ok) choose_direction(out);
  for (uint32_t i = 0; m.sites && i < a->n_sites; i++) polyhedral_site_close(&m.sites[i]);
  free(m.sites);
  free(m.why);
  free(m.array_of);
  free(m.which);
  if (ok) return HD_OK;
  hd_polyhedral_free(out);
  return hd_nomem(d);
}

void hd_polyhedral_free(hd_polyhedral *p) {
  free(p->arrays);
  *p = (hd_polyhedral){0};
}
