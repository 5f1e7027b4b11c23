#include "model/footprint.h"

#include <stdlib.h>
#include <string.h>

/* ---- Leaves ------------------------------------------------------------------------ */

void model_footprint_free(model_footprint *f) {
  for (size_t i = 0; i < f->leaves.n; i++) free(f->leaves.data[i].page);
  hd_vec_free(&f->leaves);
  model_index_free(&f->by_number);
  *f = (model_footprint){0};
}

static uint64_t hash_number(uint32_t number) { return (number * 0x9E3779B97F4A7C15ull) >> 32; }

static uint64_t hash_leaf(const void *footprint, uint32_t at) {
  return hash_number(((const model_footprint *)footprint)->leaves.data[at].number);
}

/* The slot that has the leaf, or the free one where it would be. */
static size_t slot_of(const model_footprint *f, uint32_t number) {
  const model_index *x = &f->by_number;
  size_t i = hash_number(number) & (x->cap - 1);
  while (x->slot[i] && f->leaves.data[x->slot[i] - 1].number != number) i = (i + 1) & (x->cap - 1);
  return i;
}

/* NULL: no memory. */
static model_footprint_page *make_leaf(model_footprint *f, uint32_t number) {
  const model_footprint_leaf leaf = {number, calloc(LEAF_PAGES, sizeof *leaf.page)};
  const size_t were = f->by_number.cap;
  if (!leaf.page || !model_index_room(&f->by_number, hash_leaf, f) || !hd_vec_push(&f->leaves, leaf)) {
    free(leaf.page);
    f->failed = true;
    return NULL;
  }
  f->memory +=
      sizeof leaf + LEAF_PAGES * sizeof *leaf.page + (f->by_number.cap - were) * sizeof *f->by_number.slot;
  f->last = f->leaves.n - 1;
  model_index_put(&f->by_number, slot_of(f, number), (uint32_t)f->last);
  return leaf.page;
}

static model_footprint_page *leaf_of(model_footprint *f, uint32_t number) {
  if (f->last < f->leaves.n && f->leaves.data[f->last].number == number) return f->leaves.data[f->last].page;
  const uint32_t at = f->by_number.cap ? f->by_number.slot[slot_of(f, number)] : 0;
  if (!at) return make_leaf(f, number);
  f->last = at - 1;
  return f->leaves.data[at - 1].page;
}

static model_footprint_page *page_of(model_footprint *f, uint32_t page) {
  model_footprint_page *pages = leaf_of(f, page / LEAF_PAGES);
  return pages ? &pages[page % LEAF_PAGES] : NULL;
}

/* Set bits; *count grows by those that were not. */
static void set(uint64_t *word, uint64_t bits, uint64_t *count) {
  const uint64_t fresh = bits & ~*word;
  if (!fresh) return;
  *count += hd_bits64(fresh);
  *word |= fresh;
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
      set(&p->read[word], mine ? bits & ~mine[word] : bits, &f->read);
    }
    if (kind != HD_ACCESS_LOAD) {
      set(&p->written[word], bits, &f->written);
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
  for (size_t i = 0; i < from->leaves.n; i++) {
    const model_footprint_page *pages = from->leaves.data[i].page;
    model_footprint_page *to = leaf_of(into, from->leaves.data[i].number);
    if (!to) return;
    for (size_t k = 0; k < LEAF_PAGES; k++)
      for (size_t w = 0; w < 2; w++) {
        set(&to[k].read[w], pages[k].read[w], &into->read);
        set(&to[k].written[w], pages[k].written[w], &into->written);
      }
  }
}
