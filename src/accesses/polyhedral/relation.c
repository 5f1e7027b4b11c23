/* isl relations from CTA coordinates to lines, and MAP's reuse distances as integer programs over them. */
#include <stdlib.h>
#include <string.h>

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/local_space.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

#include "polyhedral/internal.h"

/* A footprint's variables as the dimensions of an isl set: CTA coordinates, bound variables, the repetitions
 * of its stretch, and the line. */
typedef struct relation {
  isl_ctx *ctx;
  const polyhedral_site *s;
  const polyhedral_footprint *f;
  isl_local_space *space;
  int dim[POLYHEDRAL_VARS]; /* -1: free */
  int first_repeat, line, n_dims;
} relation;

/* ---- Functions ------------------------------------------------------------------------- */

static isl_val *number(isl_ctx *ctx, int64_t v) { return isl_val_int_from_si(ctx, (long)v); }

static isl_pw_aff *constant(const relation *r, int64_t v) {
  return isl_pw_aff_from_aff(isl_aff_val_on_domain(isl_local_space_copy(r->space), number(r->ctx, v)));
}

static isl_pw_aff *form_aff(const relation *r, uint32_t form);

static bool is_condition(uint8_t kind) { return kind == HD_V_GE || kind == HD_V_EQ || kind == HD_V_BOTH; }

/* A form that is one condition. */
static bool is_indicator(const relation *r, uint32_t form) {
  const polyhedral_forms *fs = &r->s->forms;
  const polyhedral_form *q = &fs->forms.data[form];
  if (q->n != 1 || q->constant) return false;
  const polyhedral_term *t = &fs->terms.data[q->first];
  return t->coefficient == 1 && t->what >= POLYHEDRAL_VARS &&
         is_condition(fs->functions.data[t->what - POLYHEDRAL_VARS].kind);
}

/* NULL: not quasi-affine, or isl failed. */
static isl_pw_aff *function_aff(const relation *r, uint32_t number_of) {
  const polyhedral_function *fn = &r->s->forms.functions.data[number_of];
  uint32_t x = fn->a, y = fn->b;
  switch (fn->kind) {
  case HD_V_FLOOR:
    if (r->s->forms.forms.data[y].n) return NULL;
    return isl_pw_aff_floor(
        isl_pw_aff_scale_down_val(form_aff(r, x), number(r->ctx, r->s->forms.forms.data[y].constant)));
  case HD_V_POS: return isl_pw_aff_max(form_aff(r, x), constant(r, 0));
  case HD_V_GE: return isl_set_indicator_function(isl_pw_aff_nonneg_set(form_aff(r, x)));
  case HD_V_EQ: return isl_set_indicator_function(isl_pw_aff_zero_set(form_aff(r, x)));
  case HD_V_BOTH:
  case HD_V_IF: return isl_pw_aff_cond(form_aff(r, x), form_aff(r, y), constant(r, 0));
  case 0:
    if (is_indicator(r, x)) return isl_pw_aff_cond(form_aff(r, x), form_aff(r, y), constant(r, 0));
    if (is_indicator(r, y)) return isl_pw_aff_cond(form_aff(r, y), form_aff(r, x), constant(r, 0));
    return NULL;
  default: return NULL;
  }
}

static isl_pw_aff *linear_aff(const relation *r, const polyhedral_linear *l) {
  isl_aff *sum = isl_aff_val_on_domain(isl_local_space_copy(r->space), number(r->ctx, l->constant));
  for (uint32_t v = 0; v < POLYHEDRAL_VARS; v++)
    if (l->coefficient[v])
      sum = isl_aff_set_coefficient_val(sum, isl_dim_in, r->dim[v], number(r->ctx, l->coefficient[v]));
  isl_pw_aff *all = isl_pw_aff_from_aff(sum);
  for (uint32_t i = 0; i < l->n_functions; i++)
    all = isl_pw_aff_add(all,
                         isl_pw_aff_scale_val(function_aff(r, l->function[i]), number(r->ctx, l->times[i])));
  return all;
}

static isl_pw_aff *form_aff(const relation *r, uint32_t form) {
  polyhedral_linear l;
  return polyhedral_flatten(&r->s->forms, form, &r->f->box, &l) ? linear_aff(r, &l) : NULL;
}

/* ---- One site --------------------------------------------------------------------------------- */

static isl_set *bounded(isl_set *set, int dim, int64_t lo, int64_t hi) {
  isl_ctx *ctx = isl_set_get_ctx(set);
  set = isl_set_lower_bound_val(set, isl_dim_set, (unsigned)dim, number(ctx, lo));
  return isl_set_upper_bound_val(set, isl_dim_set, (unsigned)dim, number(ctx, hi));
}

static isl_pw_aff *dimension(const relation *r, int dim) {
  return isl_pw_aff_from_aff(
      isl_aff_var_on_domain(isl_local_space_copy(r->space), isl_dim_set, (unsigned)dim));
}

static isl_set *domain(const relation *r, isl_space *space) {
  isl_set *set = isl_set_universe(space);
  for (uint32_t v = 0; v < r->s->n_vars; v++) {
    if (r->dim[v] < 0) continue;
    set = bounded(set, r->dim[v], r->f->box.lo[v], r->f->box.hi[v]);
    if (v >= POLYHEDRAL_COUNTER && r->f->trips >> (v - POLYHEDRAL_COUNTER) & 1)
      set = isl_set_intersect(
          set, isl_pw_aff_le_set(dimension(r, r->dim[v]), form_aff(r, r->s->trips[v - POLYHEDRAL_COUNTER])));
  }
  for (uint32_t i = 0; i < r->f->n_dims; i++)
    set = bounded(set, r->first_repeat + (int)i, 0, r->f->dims[i].n - 1);
  for (uint32_t i = 0; i < r->f->n_guards; i++)
    set =
        isl_set_intersect(set, isl_pw_aff_ge_set(form_aff(r, r->s->guards[r->f->guards[i]]), constant(r, 1)));
  return set;
}

/* Line l is touched where l * line + line - 1 >= address and address + width - 1 >= l * line. */
static isl_map *site_relation(isl_ctx *ctx, const polyhedral_site *s, const polyhedral_footprint *f,
                              uint32_t line) {
  relation r = {.ctx = ctx, .s = s, .f = f};
  for (uint32_t v = 0; v < POLYHEDRAL_VARS; v++)
    r.dim[v] = v < POLYHEDRAL_TID || f->bound >> v & 1 ? r.n_dims++ : -1;
  r.first_repeat = r.n_dims;
  r.line = r.first_repeat + (int)f->n_dims;
  r.n_dims = r.line + 1;
  isl_space *space = isl_space_set_alloc(ctx, 0, (unsigned)r.n_dims);
  r.space = isl_local_space_from_space(isl_space_copy(space));
  isl_pw_aff *from = linear_aff(&r, &f->address);
  for (uint32_t i = 0; i < f->n_dims; i++)
    from = isl_pw_aff_add(
        from, isl_pw_aff_scale_val(dimension(&r, r.first_repeat + (int)i), number(ctx, f->dims[i].stride)));
  isl_pw_aff *start = isl_pw_aff_scale_val(dimension(&r, r.line), number(ctx, line));
  isl_pw_aff *end = isl_pw_aff_add(isl_pw_aff_copy(start), constant(&r, line - 1));
  isl_pw_aff *to = isl_pw_aff_add(isl_pw_aff_copy(from), constant(&r, f->width - 1));
  isl_set *set = domain(&r, space);
  set = isl_set_intersect(set, isl_pw_aff_ge_set(end, from));
  set = isl_set_intersect(set, isl_pw_aff_ge_set(to, start));
  set = isl_set_project_out(set, isl_dim_set, 3, (unsigned)(r.line - 3));
  isl_local_space_free(r.space);
  /* The last dimension becomes the range. */
  isl_map *map = isl_map_from_domain(set);
  return isl_map_move_dims(map, isl_dim_out, 0, isl_dim_in, 3, 1);
}

/* ---- One array ----------------------------------------------------------------------------------- */

/* The largest distance along `axis` of CTAs with equal other coordinates that x and y relate to one line. */
static bool farthest(isl_map *x, isl_map *y, uint32_t axis, uint32_t *distance) {
  isl_map *pairs = isl_map_apply_range(isl_map_copy(x), isl_map_reverse(isl_map_copy(y)));
  for (int i = 0; i < 3; i++)
    if (i != (int)axis) pairs = isl_map_equate(pairs, isl_dim_in, i, isl_dim_out, i);
  isl_set *deltas = isl_map_deltas(pairs);
  bool known = isl_set_is_empty(deltas) == isl_bool_true;
  for (int side = 0; side < 2 && !known; side++) {
    isl_val *v = side ? isl_set_dim_min_val(isl_set_copy(deltas), (int)axis)
                      : isl_set_dim_max_val(isl_set_copy(deltas), (int)axis);
    long far = v && isl_val_is_int(v) == isl_bool_true ? isl_val_get_num_si(v) : -1;
    bool valid = v && isl_val_is_int(v) == isl_bool_true;
    isl_val_free(v);
    if (!valid) break;
    if (far < 0) far = -far;
    if ((uint64_t)far > *distance) *distance = (uint32_t)far;
    known = side == 1;
  }
  isl_set_free(deltas);
  return known;
}

static bool all_distances(const polyhedral_launch *l, isl_map **maps, uint32_t n, uint32_t distance[3]) {
  for (uint32_t axis = 0; axis < 3; axis++)
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t k = i; k < n; k++)
        if (distance[axis] + 1 < l->grid[axis] && !farthest(maps[i], maps[k], axis, &distance[axis]))
          return false;
  return true;
}

bool polyhedral_distances(const polyhedral_launch *l, const polyhedral_site *sites,
                          const polyhedral_swept *all, uint32_t n, uint32_t distance[3]) {
  for (uint32_t i = 0; i < n; i++)
    if (all[i].f.n_assumed) return false;
  isl_map **maps = calloc((size_t)n + 1, sizeof(isl_map *));
  isl_ctx *ctx = maps ? isl_ctx_alloc() : NULL;
  uint32_t found[3] = {0, 0, 0};
  bool known = ctx != NULL;
  if (known) {
    isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(ctx, l->isl_operations);
  }
  for (uint32_t i = 0; known && i < n; i++) {
    maps[i] = site_relation(ctx, &sites[all[i].site], &all[i].f, l->line);
    known = maps[i] != NULL;
  }
  known = known && all_distances(l, maps, n, found);
  if (known) memcpy(distance, found, sizeof found);
  for (uint32_t i = 0; maps && i < n; i++) isl_map_free(maps[i]);
  if (ctx) isl_ctx_free(ctx);
  free(maps);
  return known;
}
