#include "model/path.h"

#include <stdlib.h>
#include <string.h>

enum { BANKS = 32, BANK_BYTES = 4, MOST_EVENTS = UINT16_MAX };

/* ---- Indexes ---------------------------------------------------------------- */

static uint64_t run_hash(const model_path_run *r, const model_path_access *a) {
  uint32_t key[3] = {r->func, r->first, r->last};
  return hd_hash(key, sizeof key) ^ (r->n_access ? 31 * hd_hash(a, r->n_access * sizeof *a) : 0);
}

static uint64_t hash_run(const void *paths, uint32_t number) {
  const model_paths *p = paths;
  const model_path_run *r = &p->runs.data[number];
  return run_hash(r, p->accesses.data + r->access);
}

static uint64_t hash_path(const void *paths, uint32_t number) {
  const model_paths *p = paths;
  const model_path *q = &p->paths.data[number];
  return hd_hash(p->steps.data + q->step, q->n_steps * sizeof *p->steps.data);
}

/* The number of a run with these accesses: an equal one's if there is one. */
static bool intern_run(model_paths *p, const model_path_run *r, const model_path_access *a,
                       uint32_t *number) {
  model_index *x = &p->by_run;
  if (!model_index_room(x, hash_run, p)) return false;
  size_t at = run_hash(r, a) & (x->cap - 1);
  for (; x->slot[at]; at = (at + 1) & (x->cap - 1)) {
    const model_path_run *o = &p->runs.data[x->slot[at] - 1];
    if (o->func != r->func || o->first != r->first || o->last != r->last || o->n_access != r->n_access)
      continue;
    if (r->n_access && memcmp(p->accesses.data + o->access, a, r->n_access * sizeof *a) != 0) continue;
    *number = x->slot[at] - 1;
    return true;
  }
  size_t first = p->accesses.n;
  if (p->runs.n >= UINT32_MAX - 1 || first + r->n_access > UINT32_MAX) return false;
  if (!hd_vec_reserve(&p->accesses, first + r->n_access)) return false;
  model_path_run kept = *r;
  kept.access = (uint32_t)first;
  if (!hd_vec_push(&p->runs, kept)) return false;
  if (r->n_access) memcpy(p->accesses.data + first, a, r->n_access * sizeof *a);
  p->accesses.n = first + r->n_access;
  *number = (uint32_t)(p->runs.n - 1);
  model_index_put(x, at, *number);
  return true;
}

static bool intern_path(model_paths *p, const model_path_step *steps, uint32_t n, uint32_t *number) {
  model_index *x = &p->by_path;
  if (!model_index_room(x, hash_path, p)) return false;
  size_t at = hd_hash(steps, n * sizeof *steps) & (x->cap - 1);
  for (; x->slot[at]; at = (at + 1) & (x->cap - 1)) {
    const model_path *o = &p->paths.data[x->slot[at] - 1];
    if (o->n_steps != n || memcmp(p->steps.data + o->step, steps, n * sizeof *steps) != 0) continue;
    *number = x->slot[at] - 1;
    return true;
  }
  size_t first = p->steps.n;
  if (p->paths.n >= UINT32_MAX - 1 || first + n > UINT32_MAX || !hd_vec_reserve(&p->steps, first + n))
    return false;
  model_path kept = {(uint32_t)first, n};
  if (!hd_vec_push(&p->paths, kept)) return false;
  memcpy(p->steps.data + first, steps, n * sizeof *steps);
  p->steps.n = first + n;
  *number = (uint32_t)(p->paths.n - 1);
  model_index_put(x, at, *number);
  return true;
}

void model_paths_free(model_paths *p) {
  hd_vec_free(&p->runs);
  hd_vec_free(&p->accesses);
  hd_vec_free(&p->steps);
  hd_vec_free(&p->paths);
  model_index_free(&p->by_run);
  model_index_free(&p->by_path);
  *p = (model_paths){0};
}

uint64_t model_paths_bytes(const model_paths *p) {
  return p->runs.cap * sizeof *p->runs.data + p->accesses.cap * sizeof *p->accesses.data +
         p->steps.cap * sizeof *p->steps.data + p->paths.cap * sizeof *p->paths.data +
         (p->by_run.cap + p->by_path.cap) * sizeof(uint32_t);
}

/* ---- A warp's path ------------------------------------------------------------ */

void model_path_begin(model_path_writer *w) {
  w->steps.n = 0;
  w->accesses.n = 0;
  w->is_open = false;
  w->open = (model_path_run){0};
}

void model_path_free(model_path_writer *w) {
  hd_vec_free(&w->steps);
  hd_vec_free(&w->accesses);
}

/* The latest access, when it is this statement's and not part of the open run yet. */
static model_path_access *pending(model_path_writer *w, uint32_t stmt) {
  if (w->accesses.n <= w->open.n_access) return NULL;
  model_path_access *a = &w->accesses.data[w->accesses.n - 1];
  return a->stmt == stmt ? a : NULL;
}

bool model_path_access_global(model_path_writer *w, uint32_t stmt, uint32_t repeats) {
  model_path_access *a = pending(w, stmt);
  if (a && a->events && a->events < MOST_EVENTS) {
    a->events++;
    a->wavefronts = (uint16_t)(a->wavefronts + repeats < UINT16_MAX ? a->wavefronts + repeats : UINT16_MAX);
    return true;
  }
  model_path_access fresh = {.stmt = stmt, .events = 1, .wavefronts = (uint16_t)repeats};
  return hd_vec_push(&w->accesses, fresh);
}

bool model_path_access_shared(model_path_writer *w, uint32_t stmt, uint32_t wavefronts) {
  model_path_access *a = pending(w, stmt);
  if (a && !a->events && a->wavefronts + wavefronts <= UINT16_MAX) {
    a->wavefronts = (uint16_t)(a->wavefronts + wavefronts);
    return true;
  }
  model_path_access fresh = {.stmt = stmt, .wavefronts = (uint16_t)wavefronts};
  return hd_vec_push(&w->accesses, fresh);
}

bool model_path_barrier(model_path_writer *w) {
  model_path_access fresh = {.stmt = PATH_BARRIER, .events = 1};
  return hd_vec_push(&w->accesses, fresh);
}

/* The open run is complete: it joins the path. */
static bool close_run(model_paths *p, model_path_writer *w) {
  uint32_t run;
  if (!intern_run(p, &w->open, w->accesses.data, &run)) return false;
  size_t left = w->accesses.n - w->open.n_access;
  if (left) memmove(w->accesses.data, w->accesses.data + w->open.n_access, left * sizeof *w->accesses.data);
  w->accesses.n = left;
  w->is_open = false;
  w->open.n_access = 0;
  model_path_step *last = w->steps.n ? &w->steps.data[w->steps.n - 1] : NULL;
  if (last && last->run == run && last->count < UINT32_MAX) {
    last->count++;
    return true;
  }
  if (!hd_vec_reserve(&w->steps, w->steps.n + 1) || !w->steps.data) return false;
  w->steps.data[w->steps.n++] = (model_path_step){run, 1};
  return true;
}

bool model_path_ran(model_paths *p, model_path_writer *w, uint32_t func, uint32_t first, uint32_t last) {
  model_path_run *o = &w->open;
  if (w->is_open && (o->func != func || first != o->last + 1) && !close_run(p, w)) return false;
  if (w->is_open)
    o->last = last;
  else
    *o = (model_path_run){.func = func, .first = first, .last = last};
  o->n_access = (uint32_t)w->accesses.n;
  w->is_open = true;
  return true;
}

bool model_path_end(model_paths *p, model_path_writer *w, uint32_t *path) {
  if (w->is_open) w->open.n_access = (uint32_t)w->accesses.n;
  if (w->is_open && !close_run(p, w)) return false;
  if (!hd_vec_reserve(&w->steps, 1)) return false; /* so that data is not NULL */
  return intern_path(p, w->steps.data, (uint32_t)w->steps.n, path);
}

/* ---- Shared memory -------------------------------------------------------------- */

uint32_t model_repeated_lanes(const uint64_t *addr, uint32_t mask) {
  uint32_t repeats = 0;
  for (uint32_t l = 1; l < HD_WARP; l++) {
    uint32_t k = 0;
    if (!(mask >> l & 1)) continue;
    while (k < l && !(mask >> k & 1 && addr[k] == addr[l])) k++;
    repeats += k < l;
  }
  return repeats;
}

uint32_t model_distinct_words(const uint64_t *addr, uint32_t mask) {
  uint32_t words = 0;
  for (uint32_t left = mask; left; words++) {
    const uint64_t word = addr[__builtin_ctz(left)] / BANK_BYTES;
    for (uint32_t l = 0; l < HD_WARP; l++)
      if (addr[l] / BANK_BYTES == word) left &= ~(1u << l);
  }
  return words;
}

/* The most distinct units of `1 << shift` bytes in one of `columns`, of which a row of the banks has as many:
 * a unit is a lane's aligned access, and takes all banks of its column. */
static uint32_t deepest_column(const uint64_t *addr, uint32_t mask, unsigned shift, uint32_t columns) {
  uint64_t seen[BANKS][HD_WARP];
  uint8_t depth[BANKS] = {0};
  uint32_t most = 0;
  for (; mask; mask &= mask - 1) {
    const uint64_t unit = addr[__builtin_ctz(mask)] >> shift;
    const uint32_t column = (uint32_t)unit & (columns - 1);
    uint32_t i = 0;
    while (i < depth[column] && seen[column][i] != unit) i++;
    if (i < depth[column]) continue;
    seen[column][i] = unit;
    depth[column]++;
    if (i + 1 > most) most = i + 1;
  }
  return most;
}

/* Consecutive lanes name consecutive units: the common case, which no two lanes' banks conflict in. */
static bool side_by_side(const uint64_t *addr, uint32_t mask, unsigned bytes) {
  uint64_t stray = mask ^ UINT32_MAX;
  for (uint32_t l = 0; l < HD_WARP; l++) stray |= addr[l] ^ (addr[0] + (uint64_t)l * bytes);
  return !stray;
}

uint32_t model_shared_wavefronts(const uint64_t *addr, uint32_t mask, unsigned bytes) {
  enum { WORD = 2, PAIR = 3, QUAD = 4 }; /* log2 of bytes */
  /* 8 bytes go by half warps, 16 by quarters. */
  const unsigned shift = bytes > 8 ? QUAD : bytes > BANK_BYTES ? PAIR : WORD;
  const uint32_t lanes = HD_WARP >> (shift - WORD);
  uint32_t passes = 0;
  if (bytes == 1u << shift && side_by_side(addr, mask, bytes)) return HD_WARP / lanes;
  for (uint32_t group = 0; group < HD_WARP; group += lanes) {
    const uint32_t some = (uint32_t)(((1ull << lanes) - 1) << group);
    passes += deepest_column(addr, mask & some, shift, lanes);
  }
  return passes ? passes : 1;
}
