/* Finds unordered operations on the same memory: ordered neither by a stream, nor by an event, nor by a wait
 * of the host.
 *
 * Each operation has a vector clock of the operations before it. After it has run, the memory that it
 * accessed is compared with that of the latest others. Whether they really ran at the same time does not
 * matter.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/core.h"

enum { RECORDS = 256, SECTOR = 32, NAME = 160 };

/* 32 bytes of memory, a bit a byte. */
typedef struct sector {
  uint64_t address; /* 0: an empty slot */
  uint32_t read, written;
  uint32_t line; /* of the PTX, where it was first touched */
} sector;

typedef struct range {
  uint64_t lo, hi;
  bool write;
} range;

/* The memory that one operation accessed: ranges for copies, sectors for kernels (open addressing, a power of
 * two of slots). */
typedef struct core_touched {
  uint64_t stream, tick;
  core_clock clock;
  char name[NAME];
  const core_function *function; /* NULL: no kernel */
  HD_VEC(range) ranges;
  sector *sectors;
  size_t n_sectors, cap;
} record;

static record done[RECORDS];
static uint64_t n_done;
static record now;      /* of the operation that runs */
static core_clock host; /* of the operations that the host has waited for */

static bool wanted(void) { return (core.settings.checks & HD_PROGRAM_CHECK_STREAMS) != 0; }

/* ---- Clocks ---------------------------------------------------------------------------------- */

static uint64_t at(const core_clock *c, uint64_t stream) {
  for (size_t k = 0; k < c->n; k++)
    if (c->data[k].stream == stream) return c->data[k].tick;
  return 0;
}

static void advance(core_clock *c, uint64_t stream, uint64_t tick) {
  for (size_t k = 0; k < c->n; k++)
    if (c->data[k].stream == stream) {
      if (c->data[k].tick < tick) c->data[k].tick = tick;
      return;
    }
  const core_tick t = {stream, tick};
  (void)hd_vec_push(c, t);
}

static void join(core_clock *c, const core_clock *with) {
  for (size_t k = 0; k < with->n; k++) advance(c, with->data[k].stream, with->data[k].tick);
}

void core_order_behind(core_op *o, const core_op *on) {
  if (wanted()) join(&o->clock, &on->clock);
}

void core_order_submitted(core_op *o) {
  if (!wanted()) return;
  join(&o->clock, &host);
  if (o->stream->last) join(&o->clock, &o->stream->last->clock);
  o->tick = ++o->stream->ticks;
  advance(&o->clock, o->stream->id, o->tick);
}

static bool host_knows(uint64_t stream, uint64_t tick) { return at(&host, stream) >= tick; }

void core_order_waited(const core_op *o) {
  if (!wanted()) return;
  join(&host, &o->clock);
  core_guard_release(host_knows);
}

/* ---- Memory accessed by an operation ----------------------------------------------------------- */

static sector *slot_of(sector *slots, size_t cap, uint64_t address) {
  size_t k = (size_t)(address / SECTOR * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (cap - 1);
  while (slots[k].address && slots[k].address != address) k = (k + 1) & (cap - 1);
  return &slots[k];
}

static bool grow(record *r) {
  const size_t cap = r->cap ? 2 * r->cap : 1024;
  sector *slots = calloc(cap, sizeof *slots);
  if (!slots) return false;
  for (size_t k = 0; k < r->cap; k++)
    if (r->sectors[k].address) *slot_of(slots, cap, r->sectors[k].address) = r->sectors[k];
  free(r->sectors);
  r->sectors = slots;
  r->cap = cap;
  return true;
}

static void touch_sector(record *r, uint64_t address, unsigned bytes, bool write, uint32_t line) {
  if (2 * r->n_sectors >= r->cap && !grow(r)) return;
  const uint64_t base = address & ~(uint64_t)(SECTOR - 1);
  const uint32_t mask = (uint32_t)(((UINT64_C(1) << bytes) - 1) << (address - base));
  sector *s = slot_of(r->sectors, r->cap, base);
  if (!s->address) {
    *s = (sector){.address = base, .line = line};
    r->n_sectors++;
  }
  *(write ? &s->written : &s->read) |= mask;
}

/* Atomics are ordered among themselves, so they conflict with others as reads do. */
static void note_access(void *ctx, unsigned worker, const hd_access *a) {
  if (a->kind == HD_ACCESS_PREFETCH) return;
  for (uint32_t l = 0; l < HD_WARP; l++)
    if (a->mask >> l & 1) {
      const unsigned room = SECTOR - (unsigned)(a->addr[l] % SECTOR), n = a->bytes < room ? a->bytes : room;
      touch_sector(&now, a->addr[l], n, a->kind == HD_ACCESS_STORE, a->line);
    }
}

core_access_fn *core_access_hook(void) { return wanted() ? note_access : NULL; }

void core_touch(uint64_t address, uint64_t bytes, bool write) {
  range *last = now.ranges.data && now.ranges.n ? &now.ranges.data[now.ranges.n - 1] : NULL;
  if (last && last->hi == address && last->write == write) {
    last->hi += bytes;
    return;
  }
  const range r = {address, address + bytes, write};
  if (hd_vec_reserve(&now.ranges, now.ranges.n + 1) && now.ranges.data) now.ranges.data[now.ranges.n++] = r;
}

void core_name_work(const char *fmt, ...) {
  if (!wanted()) return;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(now.name, sizeof now.name, fmt, ap);
  va_end(ap);
}

void core_name_kernel(const core_function *f) {
  core_name_work("kernel %s", f->name);
  now.function = f;
}

/* ---- Comparison --------------------------------------------------------------------------------- */

typedef struct meeting {
  uint64_t address;
  uint32_t lines[2]; /* of kernels; 0: none */
} meeting;

/* Bytes of a sector that a range covers. */
static uint32_t covered(const sector *s, const range *r) {
  const uint64_t lo = r->lo > s->address ? r->lo - s->address : 0,
                 hi = r->hi < s->address + SECTOR ? (r->hi > s->address ? r->hi - s->address : 0) : SECTOR;
  return lo >= hi ? 0 : (uint32_t)((((UINT64_C(1) << (hi - lo)) - 1)) << lo);
}

static bool range_meets_range(const record *a, const record *b, meeting *m) {
  for (size_t i = 0; i < a->ranges.n; i++)
    for (size_t k = 0; k < b->ranges.n; k++) {
      const range *x = &a->ranges.data[i], *y = &b->ranges.data[k];
      const uint64_t lo = x->lo > y->lo ? x->lo : y->lo, hi = x->hi < y->hi ? x->hi : y->hi;
      if (lo >= hi || !(x->write || y->write)) continue;
      *m = (meeting){.address = lo};
      return true;
    }
  return false;
}

static bool sectors_meet_range(const record *a, const record *b, int which, meeting *m) {
  for (size_t k = 0; k < a->cap; k++) {
    const sector *s = &a->sectors[k];
    for (size_t i = 0; s->address && i < b->ranges.n; i++) {
      const range *r = &b->ranges.data[i];
      const uint32_t both = covered(s, r) & (r->write ? s->read | s->written : s->written);
      if (!both) continue;
      *m = (meeting){.address = s->address + (unsigned)__builtin_ctz(both)};
      m->lines[which] = s->line;
      return true;
    }
  }
  return false;
}

static bool sectors_meet_sectors(const record *a, const record *b, meeting *m) {
  if (!a->cap || !b->cap) return false;
  for (size_t k = 0; k < a->cap; k++) {
    const sector *s = &a->sectors[k], *t = s->address ? slot_of(b->sectors, b->cap, s->address) : NULL;
    if (!t || !t->address) continue;
    const uint32_t both = (s->written & (t->read | t->written)) | (s->read & t->written);
    if (!both) continue;
    *m = (meeting){s->address + (unsigned)__builtin_ctz(both), {s->line, t->line}};
    return true;
  }
  return false;
}

static void say(const record *a, const record *b, const meeting *m) {
  const core_code at[2] = {{m->lines[0] ? a->function : NULL, m->lines[0]},
                           {m->lines[1] ? b->function : NULL, m->lines[1]}};
  char lines[2][256];
  for (int k = 0; k < 2; k++) core_code_text(at[k], lines[k], sizeof lines[k]);
  const core_memory *where = core_memory_find(m->address);
  core_found_at(CORE_FOUND_STREAMS, at,
                "nothing orders %s in stream %llu%s%s and %s in stream %llu%s%s: both touch 0x%llx%s%s",
                a->name, (unsigned long long)a->stream, *lines[0] ? " at " : "", lines[0], b->name,
                (unsigned long long)b->stream, *lines[1] ? " at " : "", lines[1],
                (unsigned long long)m->address, where ? " of " : "", where ? where->what : "");
}

static void clear(record *r) {
  hd_vec_free(&r->clock);
  hd_vec_free(&r->ranges);
  free(r->sectors);
  *r = (record){0};
}

/* Until it has waited. */
static void hide_from_host(const record *r) {
  for (size_t k = 0; k < r->ranges.n; k++)
    if (r->ranges.data[k].write)
      core_guard_add(r->ranges.data[k].lo, r->ranges.data[k].hi, r->stream, r->tick, r->name, (core_code){0});
  for (size_t k = 0; k < r->cap; k++)
    if (r->sectors[k].address && r->sectors[k].written)
      core_guard_add(r->sectors[k].address + (unsigned)__builtin_ctz(r->sectors[k].written),
                     r->sectors[k].address + 32 - (unsigned)__builtin_clz(r->sectors[k].written), r->stream,
                     r->tick, r->name, (core_code){r->function, r->sectors[k].line});
}

/* A host function knows the operations before its own. */
static const core_op *knower;
static bool op_knows(uint64_t stream, uint64_t tick) { return at(&knower->clock, stream) >= tick; }

void core_order_begin(const core_op *o) {
  if (!wanted()) return;
  clear(&now);
  knower = o;
  if (o->work->kind == CORE_WORK_HOST || o->work->kind == CORE_WORK_GRAPH) core_guard_release(op_knows);
}

record *core_order_pause(void) {
  record *kept = wanted() && (now.ranges.n || now.n_sectors) ? malloc(sizeof *kept) : NULL;
  if (!kept) return NULL;
  *kept = now;
  now = (record){0};
  return kept;
}

void core_order_resume(const core_op *o, record *kept) {
  core_order_begin(o);
  if (kept) now = *kept;
  free(kept);
}

void core_order_end(const core_op *o) {
  if (!wanted() || (!now.ranges.n && !now.n_sectors)) return;
  now.stream = o->stream->id;
  now.tick = o->tick;
  join(&now.clock, &o->clock);
  const uint64_t n = n_done < RECORDS ? n_done : RECORDS;
  for (uint64_t k = 0; k < n; k++) {
    const record *r = &done[k];
    meeting m;
    if (at(&now.clock, r->stream) >= r->tick || at(&r->clock, now.stream) >= now.tick) continue;
    if (range_meets_range(r, &now, &m) || sectors_meet_range(r, &now, 0, &m) ||
        sectors_meet_range(&now, r, 1, &m) || sectors_meet_sectors(r, &now, &m))
      say(r, &now, &m);
  }
  hide_from_host(&now);
  record *place = &done[n_done++ % RECORDS];
  clear(place);
  *place = now;
  now = (record){0};
}
