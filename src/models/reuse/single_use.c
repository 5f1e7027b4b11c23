/* Loads whose sectors are requested once only. A first walk counts the requests of each sector, a second one
 * attributes them to loads.
 */
#include <string.h>

#include "heddle/reuse.h"
#include "reuse/lines.h"

enum { SECTOR = 32, SEVERAL = 2 };
static const uint64_t default_budget = 4 << 20;

typedef struct sector {
  uint32_t event; /* the latest access that named it, cut to 32 bits: one access asks once */
  uint8_t asked;  /* how often, up to SEVERAL */
} sector;

typedef struct following {
  reuse_lines numbers;
  HD_VEC(sector) sectors;
  uint64_t sample_below; /* sectors whose hash is below are followed; 0: all */
  uint32_t event;
  bool second; /* walk */
  hd_load_reuses *sum;
  uint32_t last; /* entry of the sum found last */
  bool failed;
} following;

static bool is_followed(const following *f, uint64_t at) {
  return !f->sample_below || hd_random_at(at, 0) < f->sample_below;
}

/* The load's entry, a new one if there is none. */
static hd_load_reuse *load_of(following *f, uint32_t inst) {
  hd_load_reuses *s = f->sum;
  if (f->last < s->n && s->loads[f->last].inst == inst) return &s->loads[f->last];
  uint32_t at = 0;
  while (at < s->n && s->loads[at].inst < inst) at++;
  f->last = at;
  if (at < s->n && s->loads[at].inst == inst) return &s->loads[at];
  hd_load_reuse *grown = realloc(s->loads, ((size_t)s->n + 1) * sizeof *grown);
  if (!grown) {
    f->failed = true;
    return NULL;
  }
  s->loads = grown;
  memmove(grown + at + 1, grown + at, (s->n - at) * sizeof *grown);
  grown[at] = (hd_load_reuse){.inst = inst};
  s->n++;
  return &grown[at];
}

/* A store before all loads brings the sector for them; a store after the last of them serves no load. */
static void ask(sector *s, hd_access_kind kind) {
  if (kind == HD_ACCESS_STORE ? !s->asked : s->asked < SEVERAL) s->asked++;
}

static void name_sector(following *f, const hd_trace_event *e, uint64_t at) {
  static const sector fresh = {0};
  if (!is_followed(f, at)) return;
  uint32_t number = reuse_lines_number(&f->numbers, at);
  if (number == UINT32_MAX || (number == f->sectors.n && !hd_vec_push(&f->sectors, fresh))) {
    f->failed = true;
    return;
  }
  sector *s = &f->sectors.data[number];
  if (s->event == f->event) return;
  s->event = f->event;
  if (!f->second) {
    ask(s, e->kind);
  } else if (e->kind == HD_ACCESS_LOAD && !(e->inst & HD_TRACE_CALLED)) {
    hd_load_reuse *l = load_of(f, e->inst);
    if (!l) return;
    l->requests++;
    l->reused += s->asked == SEVERAL;
  }
}

static void on_event(void *ctx, const hd_trace_event *e) {
  following *f = ctx;
  if (e->kind == HD_ACCESS_ATOMIC || f->failed) return;
  if (!++f->event) f->event = 1; /* 0: no access yet */
  for (uint32_t i = 0; i < e->n && !f->failed; i++) {
    uint64_t last = (e->start[i] + e->bytes[i] - 1) / SECTOR;
    for (uint64_t at = e->start[i] / SECTOR; at <= last && !f->failed; at++) name_sector(f, e, at);
  }
}

hd_status hd_reuse_add_loads(const hd_trace *t, uint64_t budget, hd_load_reuses *sum, hd_diag *d) {
  hd_trace_info info = hd_trace_get_info(t);
  uint64_t distinct = (info.read_bytes + info.written_bytes) / SECTOR;
  following f = {.sum = sum};
  if (!budget) budget = default_budget;
  if (distinct > budget) f.sample_below = (uint64_t)((double)budget / (double)distinct * 0x1p64);
  hd_status st = hd_trace_walk(t, 0, info.tasks, on_event, &f, d);
  f.second = true;
  for (size_t i = 0; i < f.sectors.n; i++) f.sectors.data[i].event = 0;
  f.event = 0;
  if (st == HD_OK && !f.failed) st = hd_trace_walk(t, 0, info.tasks, on_event, &f, d);
  if (st == HD_OK && f.failed) st = hd_fail(d, HD_ERR_NOMEM, "out of memory while following loads");
  reuse_lines_free(&f.numbers);
  hd_vec_free(&f.sectors);
  return st;
}

void hd_load_reuses_free(hd_load_reuses *r) {
  free(r->loads);
  *r = (hd_load_reuses){0};
}
