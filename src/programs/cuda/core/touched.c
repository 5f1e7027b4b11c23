/* The memory that an operation accessed. While a kernel runs, every byte of the pages that it touches has a
 * bit for each kind of access; when it has ended, they become runs of bytes, of which most kernels have few.
 */
#include "cuda/core/touched.h"

#include <stdlib.h>

enum { PAGE = 4096, SECTOR = 32, SECTORS = PAGE / SECTOR };

typedef struct page {
  uint64_t address;
  struct {
    uint32_t bytes[SECTORS]; /* a bit a byte */
    uint32_t line[SECTORS];
  } of[TOUCHED_KINDS];
} page;

/* Pages by open addressing; `cap` is a power of two. */
struct touching {
  page **pages, *last;
  size_t n, cap;
  touched ranges;
};

/* ---- Accesses -------------------------------------------------------------------------------- */

touching *touching_begin(void) { return calloc(1, sizeof(touching)); }

static page **slot_of(page **pages, size_t cap, uint64_t address) {
  size_t k = (size_t)(address / PAGE * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (cap - 1);
  while (pages[k] && pages[k]->address != address) k = (k + 1) & (cap - 1);
  return &pages[k];
}

static bool grow(touching *t) {
  const size_t cap = t->cap ? 2 * t->cap : 64;
  page **pages = calloc(cap, sizeof(page *));
  if (!pages) return false;
  for (size_t k = 0; k < t->cap; k++)
    if (t->pages[k]) *slot_of(pages, cap, t->pages[k]->address) = t->pages[k];
  free(t->pages);
  t->pages = pages;
  t->cap = cap;
  return true;
}

static page *page_of(touching *t, uint64_t address) {
  if (t->last && t->last->address == address) return t->last;
  if (2 * t->n >= t->cap && !grow(t)) return NULL;
  page **slot = slot_of(t->pages, t->cap, address);
  if (!*slot) {
    *slot = calloc(1, sizeof **slot);
    if (!*slot) return NULL;
    (*slot)->address = address;
    t->n++;
  }
  return t->last = *slot;
}

/* Bytes of one sector. */
static void touch(touching *t, uint64_t address, unsigned bytes, touched_kind kind, uint32_t line) {
  page *p = page_of(t, address & ~(uint64_t)(PAGE - 1));
  if (!p) return;
  const unsigned s = (unsigned)(address % PAGE / SECTOR);
  if (!p->of[kind].bytes[s]) p->of[kind].line[s] = line;
  p->of[kind].bytes[s] |= (uint32_t)(((UINT64_C(1) << bytes) - 1) << address % SECTOR);
}

static touched_kind kind_of(const hd_access *a) {
  if (a->kind == HD_ACCESS_LOAD) return a->strong ? TOUCHED_STRONG_READ : TOUCHED_READ;
  if (!a->strong) return TOUCHED_WRITTEN;
  return a->system ? TOUCHED_SYSTEM_WRITTEN : TOUCHED_STRONG_WRITTEN;
}

void touching_access(touching *t, const hd_access *a) {
  if (!t || a->kind == HD_ACCESS_PREFETCH) return;
  const touched_kind kind = kind_of(a);
  for (uint32_t left = a->mask; left; left &= left - 1) {
    const uint64_t at = a->addr[__builtin_ctz(left)];
    const unsigned room = SECTOR - (unsigned)(at % SECTOR), n = a->bytes < room ? a->bytes : room;
    touch(t, at, n, kind, a->line);
    if (n < a->bytes) touch(t, at + n, a->bytes - n, kind, a->line);
  }
}

/* Behind the last run, or as part of it. */
static void append(touched_runs *r, uint64_t lo, uint64_t hi, uint32_t line) {
  touched_run *last = r->n ? &r->data[r->n - 1] : NULL;
  if (last && last->hi == lo)
    last->hi = hi;
  else
    /* There is room where it is put. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
    (void)hd_vec_push(r, ((touched_run){lo, hi, line}));
}

void touching_range(touching *t, uint64_t address, uint64_t bytes, touched_kind kind) {
  if (t && bytes) append(&t->ranges.runs[kind], address, address + bytes, 0);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static int by_address(const void *a, const void *b) {
  const uint64_t x = (*(page *const *)a)->address, y = (*(page *const *)b)->address;
  return (x > y) - (x < y);
}

static int by_lo(const void *a, const void *b) {
  const uint64_t x = ((const touched_run *)a)->lo, y = ((const touched_run *)b)->lo;
  return (x > y) - (x < y);
}

/* The bits of a sector, as runs. */
static void append_sector(touched_runs *r, uint64_t address, uint32_t bytes, uint32_t line) {
  for (unsigned at = 0; bytes >> at;) {
    at += (unsigned)__builtin_ctz(bytes >> at);
    const uint32_t rest = ~(bytes >> at);
    const unsigned n = rest ? (unsigned)__builtin_ctz(rest) : SECTOR;
    append(r, address + at, address + at + n, line);
    at += n;
    if (at >= SECTOR) return;
  }
}

static void sort_and_merge(touched_runs *r, bool (*wanted)(uint64_t address)) {
  size_t n = 0;
  if (!r->data) return;
  qsort(r->data, r->n, sizeof *r->data, by_lo);
  for (size_t k = 0; k < r->n; k++) {
    const touched_run x = r->data[k];
    if (n && x.lo <= r->data[n - 1].hi) {
      if (x.hi > r->data[n - 1].hi) r->data[n - 1].hi = x.hi;
    } else if (wanted(x.lo)) {
      r->data[n++] = x;
    }
  }
  r->n = n;
}

touched touching_end(touching *t, bool (*wanted)(uint64_t address)) {
  if (!t) return (touched){0};
  touched out = t->ranges;
  size_t n = 0;
  for (size_t k = 0; k < t->cap; k++)
    if (t->pages[k]) t->pages[n++] = t->pages[k];
  if (n) qsort((void *)t->pages, n, sizeof(page *), by_address);
  for (int kind = 0; kind < TOUCHED_KINDS; kind++) {
    for (size_t k = 0; k < n; k++)
      for (unsigned s = 0; s < SECTORS; s++)
        append_sector(&out.runs[kind], t->pages[k]->address + s * SECTOR, t->pages[k]->of[kind].bytes[s],
                      t->pages[k]->of[kind].line[s]);
    sort_and_merge(&out.runs[kind], wanted);
  }
  for (size_t k = 0; k < n; k++) free(t->pages[k]);
  free((void *)t->pages);
  free(t);
  return out;
}

void touched_free(touched *t) {
  for (int kind = 0; kind < TOUCHED_KINDS; kind++) hd_vec_free(&t->runs[kind]);
}

/* A run that goes on at both ends keeps its beginning: a finding may be missed. */
void touched_forget(touched *t, uint64_t lo, uint64_t hi) {
  for (int kind = 0; kind < TOUCHED_KINDS; kind++) {
    touched_runs *r = &t->runs[kind];
    size_t n = 0;
    for (size_t k = 0; k < r->n; k++) {
      touched_run x = r->data[k];
      if (x.lo < hi && x.hi > lo) {
        if (x.lo < lo)
          x.hi = lo;
        else
          x.lo = hi;
      }
      if (x.lo < x.hi) r->data[n++] = x;
    }
    r->n = n;
  }
}

bool touched_nothing(const touched *t) {
  size_t n = 0;
  for (int kind = 0; kind < TOUCHED_KINDS; kind++) n += t->runs[kind].n;
  return !n;
}

/* ---- Comparison ------------------------------------------------------------------------------ */

/* Index of the first run that ends behind an address. */
static size_t ends_behind(const touched_runs *r, uint64_t address) {
  size_t lo = 0, hi = r->n;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (r->data[mid].hi <= address)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static bool runs_meet(const touched_runs *a, const touched_runs *b, uint64_t *address, uint32_t lines[2]) {
  if (!a->n || !b->n) return false;
  size_t i = ends_behind(a, b->data[0].lo), k = ends_behind(b, a->data[0].lo);
  while (i < a->n && k < b->n) {
    const touched_run *x = &a->data[i], *y = &b->data[k];
    if (x->lo < y->hi && y->lo < x->hi) {
      *address = x->lo > y->lo ? x->lo : y->lo;
      lines[0] = x->line;
      lines[1] = y->line;
      return true;
    }
    if (x->hi <= y->lo)
      i++;
    else
      k++;
  }
  return false;
}

/* Of each kind: whether it writes, and whether it is strong; and what it forbids to the host. */
static const struct {
  bool writes, strong, hides_from_reads, hides_from_writes;
} kinds[] = {[TOUCHED_READ] = {.hides_from_writes = true},
             [TOUCHED_WRITTEN] = {.writes = true, .hides_from_reads = true, .hides_from_writes = true},
             [TOUCHED_STRONG_READ] = {.strong = true},
             [TOUCHED_STRONG_WRITTEN] = {true, true, true, true},
             [TOUCHED_SYSTEM_WRITTEN] = {.writes = true, .strong = true}};

bool touched_meets(const touched *a, const touched *b, bool writes, uint64_t *address, uint32_t lines[2]) {
  for (int i = 0; i < TOUCHED_KINDS; i++)
    for (int k = 0; k < TOUCHED_KINDS; k++) {
      if (writes && !kinds[i].writes) continue;
      if (!(kinds[i].writes || kinds[k].writes) || (kinds[i].strong && kinds[k].strong)) continue;
      if (runs_meet(&a->runs[i], &b->runs[k], address, lines)) return true;
    }
  return false;
}

bool touched_signals(const touched *a, const touched *b) {
  uint64_t address;
  uint32_t lines[2];
  for (int i = 0; i < TOUCHED_KINDS; i++)
    for (int k = 0; k < TOUCHED_KINDS; k++) {
      if (!(kinds[i].writes || kinds[k].writes) || !kinds[i].strong || !kinds[k].strong) continue;
      if (runs_meet(&a->runs[i], &b->runs[k], &address, lines)) return true;
    }
  return false;
}

bool touched_signals_host(const touched *t, bool (*shared)(uint64_t address)) {
  static const touched_kind flags[] = {TOUCHED_STRONG_READ, TOUCHED_SYSTEM_WRITTEN};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    const touched_runs *r = &t->runs[flags[i]];
    for (size_t k = 0; k < r->n; k++)
      if (shared(r->data[k].lo)) return true;
  }
  return false;
}

bool touched_hides(touched_kind kind, bool host_writes) {
  return host_writes ? kinds[kind].hides_from_writes : kinds[kind].hides_from_reads;
}

const touched_run *touched_at(const touched *t, bool host_writes, uint64_t address) {
  for (int kind = TOUCHED_KINDS; kind-- > 0;) {
    const touched_runs *r = &t->runs[kind];
    const size_t k = touched_hides((touched_kind)kind, host_writes) ? ends_behind(r, address) : r->n;
    if (k < r->n && r->data[k].lo <= address) return &r->data[k];
  }
  return NULL;
}
