/* The reuse picture: for a few CTAs, the CTAs that share their lines, over the grid. */
#include "report/picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/sharing.h"
#include "report/fields.h"

enum { MOST_CELLS = 48 }; /* along each side */

/* A grid as a plane: y and z one above the other; a line of many CTAs is folded. */
typedef struct plane {
  uint64_t width, height, V;
  uint64_t columns, rows; /* cells: each stands for step_x x step_y CTAs or fewer */
  uint64_t step_x, step_y;
} plane;

static plane plane_of(const uint32_t g[3]) {
  plane p = {.width = g[0], .height = (uint64_t)g[1] * g[2]};
  p.V = p.width * p.height;
  if (p.width == 1 || p.height == 1) {
    p.width = p.V > MOST_CELLS ? (uint64_t)ceil(sqrt((double)p.V)) : p.V;
    p.height = (p.V + p.width - 1) / p.width;
  }
  p.step_x = (p.width + MOST_CELLS - 1) / MOST_CELLS;
  p.step_y = (p.height + MOST_CELLS - 1) / MOST_CELLS;
  p.columns = (p.width + p.step_x - 1) / p.step_x;
  p.rows = (p.height + p.step_y - 1) / p.step_y;
  return p;
}

/* The mean share of a cell's CTAs. */
static double cell_share(const plane *p, const float *share, uint64_t column, uint64_t row) {
  double sum = 0;
  uint64_t n = 0;
  for (uint64_t y = row * p->step_y; y < (row + 1) * p->step_y && y < p->height; y++)
    for (uint64_t x = column * p->step_x; x < (column + 1) * p->step_x && x < p->width; x++) {
      uint64_t task = y * p->width + x;
      if (task >= p->V) continue;
      sum += (double)share[task];
      n++;
    }
  return n ? sum / (double)n : -1;
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

typedef struct map {
  const plane *p;
  const float *share;
  uint64_t task;
} map;

static int64_t own_cell(const void *row) {
  const map *m = row;
  const plane *p = m->p;
  const uint64_t width = p->width ? p->width : 1;
  return (int64_t)(m->task / width / p->step_y * p->columns + m->task % width / p->step_x);
}
static void put_shares(const void *row, hd_buf *out) {
  static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  const map *m = row;
  for (uint64_t i = 0; i < m->p->rows * m->p->columns; i++) {
    const double share = cell_share(m->p, m->share, i % m->p->columns, i / m->p->columns);
    hd_buf_putc(out, digits[lround(35 * sqrt(fmax(share, 0)))]);
  }
}

static const field map_fields[] = {
    {"task", MEMBER(map, task)}, {"cell", .count = own_cell}, {"share", .put = put_shares}, {0}};

typedef struct drawn {
  const hd_reuse_picture *r;
  plane p;
  uint64_t step[2];
} drawn;

static json_t *maps_json(const void *row) {
  const drawn *d = row;
  json_t *maps = json_array();
  for (uint32_t k = 0; maps && k < d->r->n; k++)
    maps = report_append(
        maps, report_fields_json(map_fields, &(map){&d->p, d->r->share + k * d->p.V, d->r->tasks[k]}));
  return maps;
}

static const field grid_fields[] = {{"grid", ARRAY(hd_reuse_picture, grid)}, {0}};
static const field picture_fields[] = {
    {"grid", .spread = true, STRUCT_AT(drawn, r, grid_fields)},
    {"columns", MEMBER(drawn, p.columns)},
    {"rows", MEMBER(drawn, p.rows)},
    {"step", ARRAY(drawn, step)},
    {"width", MEMBER(drawn, p.width)},
    {"maps", .tree = maps_json},
    {0},
};

json_t *report_picture_json(const hd_reuse_picture *r) {
  drawn d = {.r = r, .p = plane_of(r->grid)};
  d.step[0] = d.p.step_x;
  d.step[1] = d.p.step_y;
  return report_fields_json(picture_fields, &d);
}

hd_status hd_reuse_picture_make(const hd_study *s, const hd_workload *w, uint32_t line, hd_reuse_picture *out,
                                hd_diag *d) {
  uint32_t launch = hd_study_busiest(s);
  const hd_trace *t = hd_study_trace(s, launch);
  const hd_wl_launch *l = &w->launches[launch];
  uint64_t gx = l->grid[0], gy = l->grid[1], gz = l->grid[2], V = hd_trace_tasks(t);
  const uint64_t wanted[HD_PICTURE_TASKS] = {gx / 2 + gx * (gy / 2 + gy * (gz / 2)),
                                             gx / 4 + gx * (gy / 4 + gy * (gz / 4)), 0};
  *out = (hd_reuse_picture){.kernel = l->kernel};
  memcpy(out->grid, l->grid, sizeof l->grid);
  for (unsigned k = 0; k < HD_PICTURE_TASKS; k++)
    if (k == 0 || wanted[k] != out->tasks[out->n - 1]) out->tasks[out->n++] = wanted[k];
  if (!(out->share = malloc(out->n * V * sizeof *out->share))) return hd_nomem(d);
  hd_status st = hd_sharing_with(t, out->tasks, out->n, line, out->share, d);
  if (st != HD_OK) hd_reuse_picture_free(out);
  return st;
}

void hd_reuse_picture_free(hd_reuse_picture *p) {
  free(p->share);
  p->share = NULL;
}
