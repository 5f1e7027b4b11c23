#include "model/footprint.h"

#include <stdlib.h>
#include <string.h>

typedef model_footprint_page *footprint_chunk; /* CHUNK_PAGES of them, or NULL */

bool model_footprint_init(model_footprint *f) {
  *f = (model_footprint){.chunks = calloc(FOOTPRINT_CHUNKS, sizeof(footprint_chunk))};
  f->memory = FOOTPRINT_CHUNKS * sizeof(footprint_chunk);
  return f->chunks != NULL;
}

void model_footprint_free(model_footprint *f) {
  if (f->chunks)
    for (size_t i = 0; i < FOOTPRINT_CHUNKS; i++) free(f->chunks[i]);
  free(f->chunks);
  f->chunks = NULL;
}

static model_footprint_page *page_of(model_footprint *f, uint32_t page) {
  model_footprint_page **chunk = &f->chunks[page / CHUNK_PAGES];
  if (!*chunk) {
    *chunk = calloc(CHUNK_PAGES, sizeof **chunk);
    if (!*chunk) {
      f->failed = true;
      return NULL;
    }
    f->memory += CHUNK_PAGES * sizeof **chunk;
  }
  return &(*chunk)[page % CHUNK_PAGES];
}

/* ---- One task's writes ---------------------------------------------------------- */

static size_t place_of(const model_task_writes *t, uint64_t key) {
  size_t i = (size_t)((key * 0x9E3779B97F4A7C15ull) >> 32) & (t->cap - 1);
  while (t->page[i] && t->page[i] != key) i = (i + 1) & (t->cap - 1);
  return i;
}

static bool grow(model_task_writes *t) {
  model_task_writes old = *t;
  t->cap = old.cap ? old.cap * 2 : 64;
  t->page = calloc(t->cap, sizeof *t->page);
  t->bits = calloc(t->cap, sizeof *t->bits);
  if (!t->page || !t->bits) {
    free(t->page);
    free(t->bits);
    *t = old;
    return false;
  }
  for (size_t i = 0; i < old.cap; i++) {
    if (!old.page[i]) continue;
    size_t place = place_of(t, old.page[i]);
    t->page[place] = old.page[i];
    memcpy(t->bits[place], old.bits[i], sizeof old.bits[i]);
  }
  free(old.page);
  free(old.bits);
  return true;
}

/* The bits of a page, for reading (NULL: it wrote none) or for writing (NULL: no memory). */
static uint64_t *writes_at(model_task_writes *t, uint32_t page, bool add) {
  uint64_t key = (uint64_t)page + 1;
  if (!t->n && !add) return NULL;
  if (add && 4 * (t->n + 1) > 3 * t->cap && !grow(t)) return NULL;
  size_t i = place_of(t, key);
  if (!t->page[i]) {
    if (!add) return NULL;
    t->page[i] = key;
    t->n++;
  }
  return t->bits[i];
}

void model_task_writes_clear(model_task_writes *t) {
  if (!t->n) return;
  memset(t->page, 0, t->cap * sizeof *t->page);
  memset(t->bits, 0, t->cap * sizeof *t->bits);
  t->n = 0;
}

void model_task_writes_free(model_task_writes *t) {
  free(t->page);
  free(t->bits);
  *t = (model_task_writes){0};
}

/* ---- Accesses ------------------------------------------------------------------- */

void model_footprint_add(model_footprint *f, model_task_writes *own, unsigned kind,
                         const model_lines *lines) {
  if (kind == HD_ACCESS_PREFETCH) return;
  for (uint32_t i = 0; i < lines->n; i++) {
    uint32_t line = lines->line[i], page = line / PAGE_LINES;
    unsigned word = (line % PAGE_LINES) / 16, shift = 4 * (line % 16);
    uint64_t bits = (uint64_t)lines->touched[i] << shift;
    model_footprint_page *p = page_of(f, page);
    if (!p) return;
    if (kind != HD_ACCESS_STORE) { /* atomics need the old value */
      const uint64_t *mine = writes_at(own, page, false);
      p->read[word] |= mine ? bits & ~mine[word] : bits;
    }
    if (kind != HD_ACCESS_LOAD) {
      p->written[word] |= bits;
      uint64_t *mine = writes_at(own, page, true);
      if (!mine) {
        f->failed = true;
        return;
      }
      mine[word] |= bits;
    }
  }
}

void model_footprint_merge(model_footprint *into, const model_footprint *from) {
  for (size_t c = 0; c < FOOTPRINT_CHUNKS; c++) {
    if (!from->chunks[c]) continue;
    model_footprint_page *to = page_of(into, (uint32_t)(c * CHUNK_PAGES));
    if (!to) return;
    for (size_t i = 0; i < CHUNK_PAGES; i++)
      for (size_t w = 0; w < 2; w++) {
        to[i].read[w] |= from->chunks[c][i].read[w];
        to[i].written[w] |= from->chunks[c][i].written[w];
      }
  }
}

void model_footprint_count(const model_footprint *f, uint64_t *read_sectors, uint64_t *written_sectors) {
  uint64_t r = 0, w = 0;
  for (size_t c = 0; c < FOOTPRINT_CHUNKS; c++)
    for (size_t i = 0; f->chunks[c] && i < CHUNK_PAGES; i++)
      for (size_t k = 0; k < 2; k++) {
        r += hd_bits64(f->chunks[c][i].read[k]);
        w += hd_bits64(f->chunks[c][i].written[k]);
      }
  *read_sectors = r;
  *written_sectors = w;
}
