/* analysis/tiles.h: between the search for tiles (tiles.c) and its arithmetic (cells.c). */
#ifndef HEDDLE_ANALYSIS_TILES_H
#define HEDDLE_ANALYSIS_TILES_H

#include "heddle/analysis.h"

enum { TILES_MOST_CTAS = 1 << 17, TILES_MOST_VALUES = 32 };

/* A quantity that depends on the CTA alone: its value in each CTA, by the CTA's number. */
typedef struct tiles_value {
  const int64_t *at;
  bool used; /* an access or a condition takes it so, undivided */
} tiles_value;

/* value = base + by[0]*x + by[1]*y + by[2]*z in every CTA, modulo `modulo` where that is not 0 */
typedef struct tiles_form {
  bool linear;
  int64_t base, by[3];
} tiles_form;

typedef struct tiles_found {
  bool found;
  hd_shape shape; /* found: HD_SHAPE_LAUNCH where the kernel numbers the cells in an order of its own */
  uint32_t n[3];
  uint32_t *at[3];  /* found: each CTA's coordinates; the caller's memory */
  uint32_t axes[4]; /* found: the CTAs of cell 0 and of its neighbours along x, y, z; where there is none,
                       cell 0's */
} tiles_found;

/* Choose the k coordinates, 2 or 3, among n values over V CTAs in which most of the used ones are linear. The
 * `n_own` last values are the launch's own ids, which alone are no find. False: out of memory. */
bool tiles_choose(const tiles_value *values, unsigned n, unsigned n_own, uint64_t V, unsigned k,
                  tiles_found *out);
/* A value, known in all V CTAs, in the coordinates that were found. */
tiles_form tiles_form_of(const tiles_found *f, uint64_t V, const int64_t *value, int64_t modulo);

#endif
