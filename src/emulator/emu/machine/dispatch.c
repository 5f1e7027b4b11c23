/* emu/machine/dispatch.c: decides which CTA starts when and where, from the dispatcher's kind and the seed
 * alone. */
#include "emu/machine/dispatch.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[HD_DISPATCH_COUNT] = {
    [HD_DISPATCH_ROUND_ROBIN] = "round-robin", [HD_DISPATCH_DEMAND] = "demand",
    [HD_DISPATCH_SHUFFLED] = "shuffled",       [HD_DISPATCH_ONE_SM] = "one-sm",
    [HD_DISPATCH_STARVED] = "starved",         [HD_DISPATCH_LATE] = "late",
    [HD_DISPATCH_SERIAL] = "serial",           [HD_DISPATCH_REVERSE] = "reverse",
};

const char *hd_dispatch_name(hd_dispatch_kind k) {
  return (unsigned)k < HD_DISPATCH_COUNT ? names[k] : "unknown";
}

hd_status hd_dispatch_parse(const char *name, hd_dispatch_kind *out, hd_diag *d) {
  hd_buf known = {0};
  for (int k = 0; name && k < HD_DISPATCH_COUNT; k++) {
    if (strcmp(name, names[k]) == 0) {
      *out = (hd_dispatch_kind)k;
      name = NULL;
    }
    hd_buf_printf(&known, "%s%s", k ? ", " : "", names[k]);
  }
  hd_status st = HD_OK;
  char near[HD_NEAR];
  if (name && known.failed)
    st = hd_nomem(d);
  else if (name)
    st = hd_fail(d, HD_ERR_USAGE, "no dispatcher '%.64s' (known: %s)%s", name, known.data,
                 hd_near(known.data, name, strlen(name), near));
  hd_buf_free(&known);
  return st;
}

/* A CTA with a made-up running time, for emu_dispatch_take. */
typedef struct departure {
  uint64_t time, order; /* ties leave in the order of starts */
  uint32_t sm;
} departure;

struct emu_dispatcher {
  hd_dispatch_kind kind;
  uint64_t seed;
  uint64_t n_tasks;
  uint32_t n_sms, resident;
  uint64_t position; /* CTAs started */
  uint64_t retired;
  uint64_t alive;   /* in all */
  uint32_t *on_sm;  /* alive, per SM */
  uint32_t *sms;    /* STARVED, LATE: the SMs in a seeded order */
  uint32_t n_awake; /* of sms: those that ever (STARVED) or first (LATE) get CTAs */
  uint32_t *freed;  /* DEMAND: places in the order in which they became free, a ring */
  uint64_t freed_head, n_freed;
  departure *heap; /* DEMAND, emu_dispatch_take */
  uint64_t n_heap;
};

uint64_t emu_dispatch_places(const emu_dispatcher *p) { return (uint64_t)p->n_sms * p->resident; }

hd_status emu_dispatcher_create(const hd_dispatch *how, uint64_t n_tasks, uint32_t n_sms,
                                emu_dispatcher **out, hd_diag *d) {
  *out = NULL;
  hd_dispatch h = how ? *how : (hd_dispatch){0};
  if ((unsigned)h.kind >= HD_DISPATCH_COUNT)
    return hd_fail(d, HD_ERR_USAGE, "no dispatcher has number %d", (int)h.kind);
  emu_dispatcher *p = calloc(1, sizeof *p);
  if (!p) return hd_nomem(d);
  p->kind = h.kind;
  p->seed = h.seed;
  p->n_tasks = n_tasks;
  p->n_sms = n_sms;
  p->resident = h.resident ? h.resident : 1;
  if (p->resident > HD_MOST_RESIDENT) p->resident = HD_MOST_RESIDENT;
  p->on_sm = calloc(n_sms, sizeof *p->on_sm);
  p->sms = calloc(n_sms, sizeof *p->sms);
  bool ok = p->on_sm && p->sms;
  if (p->kind == HD_DISPATCH_DEMAND) {
    p->freed = calloc(emu_dispatch_places(p), sizeof *p->freed);
    p->heap = calloc(emu_dispatch_places(p), sizeof *p->heap);
    ok = ok && p->freed && p->heap;
  }
  if (!ok) {
    emu_dispatcher_destroy(p);
    return hd_nomem(d);
  }
  for (uint32_t k = 0; k < n_sms; k++) { /* Fisher and Yates */
    uint32_t j = (uint32_t)(hd_random_at(p->seed, k) % (k + 1));
    p->sms[k] = p->sms[j];
    p->sms[j] = k;
  }
  p->n_awake = p->kind == HD_DISPATCH_LATE ? (n_sms + 7) / 8 : (n_sms + 1) / 2;
  *out = p;
  return HD_OK;
}

void emu_dispatcher_destroy(emu_dispatcher *p) {
  if (!p) return;
  free(p->on_sm);
  free(p->sms);
  free(p->freed);
  free(p->heap);
  free(p);
}

/* A seeded permutation of [0, n): a Feistel network on the next power of four, walked until it is inside. */
static uint64_t permute(uint64_t v, uint64_t n, uint64_t seed) {
  unsigned half = 1;
  while (half < 32 && (UINT64_C(1) << (2 * half)) < n) half++;
  const uint64_t low = (UINT64_C(1) << half) - 1;
  do {
    uint64_t a = v >> half, b = v & low;
    for (uint64_t round = 0; round < 4; round++) {
      uint64_t f = hd_random_at(seed + round, b) & low, t = a ^ f;
      a = b;
      b = t;
    }
    v = a << half | b;
  } while (v >= n);
  return v;
}

static uint64_t task_at(const emu_dispatcher *p, uint64_t position) {
  if (p->kind == HD_DISPATCH_REVERSE) return p->n_tasks - 1 - position;
  if (p->kind == HD_DISPATCH_SHUFFLED) return permute(position, p->n_tasks, p->seed);
  return position;
}

/* The SM of the CTA at `position`, but for DEMAND. late: LATE's other SMs have woken up. */
static uint32_t sm_at(const emu_dispatcher *p, uint64_t position, bool late) {
  switch (p->kind) {
  case HD_DISPATCH_ONE_SM: return 0;
  case HD_DISPATCH_STARVED: return p->sms[position % p->n_awake];
  case HD_DISPATCH_LATE: return late ? (uint32_t)(position % p->n_sms) : p->sms[position % p->n_awake];
  case HD_DISPATCH_SHUFFLED: return (uint32_t)(hd_random_at(~p->seed, position) % p->n_sms);
  default: return (uint32_t)(position % p->n_sms);
  }
}

emu_dispatch_result emu_dispatch_next(emu_dispatcher *p, uint64_t *task, uint32_t *sm) {
  const uint64_t n = p->position;
  uint32_t on;
  if (n == p->n_tasks) return EMU_DISPATCH_END;
  if (p->kind == HD_DISPATCH_DEMAND && n >= emu_dispatch_places(p)) {
    if (!p->n_freed) return EMU_DISPATCH_WAIT;
    on = p->freed[p->freed_head++ % emu_dispatch_places(p)];
    p->n_freed--;
  } else {
    on = sm_at(p, n, p->retired >= p->n_tasks / 2);
    if (p->kind == HD_DISPATCH_SHUFFLED) /* any SM with a place */
      for (uint32_t k = 0; k < p->n_sms && p->on_sm[on] >= p->resident; k++) on = (on + 1) % p->n_sms;
    if (p->on_sm[on] >= p->resident || (p->kind == HD_DISPATCH_SERIAL && p->alive)) return EMU_DISPATCH_WAIT;
  }
  *task = task_at(p, n);
  *sm = on;
  p->position++;
  p->on_sm[on]++;
  p->alive++;
  return EMU_DISPATCH_START;
}

bool emu_dispatch_cancel(emu_dispatcher *p, uint64_t *task) {
  if (p->position == p->n_tasks) return false;
  *task = task_at(p, p->position++);
  p->retired++;
  return true;
}

void emu_dispatch_retire(emu_dispatcher *p, uint32_t sm) {
  p->on_sm[sm]--;
  p->alive--;
  p->retired++;
  /* More than there are places may be alive after emu_dispatch_settle. */
  if (p->kind == HD_DISPATCH_DEMAND && p->alive < emu_dispatch_places(p))
    p->freed[(p->freed_head + p->n_freed++) % emu_dispatch_places(p)] = sm;
}

void emu_dispatch_settle(emu_dispatcher *p, uint64_t unfinished) {
  p->retired = p->position - unfinished;
  const uint64_t places = emu_dispatch_places(p);
  for (uint64_t k = 0; p->kind == HD_DISPATCH_DEMAND && k < p->position && k < places; k++)
    p->freed[p->n_freed++] = (uint32_t)(k % p->n_sms);
}

/* DEMAND: one place less is free, on this SM if there is one. */
static void take_free(emu_dispatcher *p, uint32_t sm) {
  const uint64_t places = emu_dispatch_places(p);
  uint64_t at = 0;
  while (at < p->n_freed && p->freed[(p->freed_head + at) % places] != sm) at++;
  if (!p->n_freed) return;
  p->n_freed--;
  for (uint64_t k = at; k < p->n_freed; k++)
    p->freed[(p->freed_head + k) % places] = p->freed[(p->freed_head + k + 1) % places];
}

bool emu_dispatch_occupy(emu_dispatcher *p, uint32_t sm, bool running) {
  if (!running && (p->on_sm[sm] >= p->resident || (p->kind == HD_DISPATCH_SERIAL && p->alive))) return false;
  if (p->kind == HD_DISPATCH_DEMAND) take_free(p, sm);
  p->on_sm[sm]++;
  p->alive++;
  return true;
}

/* ---- Made-up running times --------------------------------------------------------- */

static bool leaves_before(const departure *a, const departure *b) {
  return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void push(emu_dispatcher *p, departure x) {
  uint64_t k = p->n_heap++;
  for (; k && leaves_before(&x, &p->heap[(k - 1) / 2]); k = (k - 1) / 2) p->heap[k] = p->heap[(k - 1) / 2];
  p->heap[k] = x;
}

static departure pop(emu_dispatcher *p) {
  departure top = p->heap[0], x = p->heap[--p->n_heap];
  uint64_t k = 0;
  for (uint64_t child; (child = 2 * k + 1) < p->n_heap; k = child) {
    if (child + 1 < p->n_heap && leaves_before(&p->heap[child + 1], &p->heap[child])) child++;
    if (!leaves_before(&p->heap[child], &x)) break;
    p->heap[k] = p->heap[child];
  }
  p->heap[k] = x;
  return top;
}

bool emu_dispatch_take(emu_dispatcher *p, uint64_t *task, uint32_t *sm) {
  const uint64_t n = p->position;
  if (n == p->n_tasks) return false;
  p->position++;
  *task = task_at(p, n);
  if (p->kind != HD_DISPATCH_DEMAND) {
    *sm = sm_at(p, n, n >= p->n_tasks / 2);
    return true;
  }
  /* Half to twice the same time: 64 CTAs an SM then spread over some 56 to 72, as on an H100. */
  departure x = {512 + hd_random_at(p->seed, n) % 1536, n, (uint32_t)(n % p->n_sms)};
  if (n >= emu_dispatch_places(p)) {
    departure left = pop(p);
    x.time += left.time;
    x.sm = left.sm;
  }
  push(p, x);
  *sm = x.sm;
  return true;
}

uint64_t emu_dispatch_quantum(const emu_dispatcher *p, uint64_t n, uint64_t round, uint64_t base) {
  if (p->kind == HD_DISPATCH_SHUFFLED) return 1 + hd_random_at(p->seed ^ n << 20, round) % (2 * base);
  if (p->kind == HD_DISPATCH_DEMAND) return base / 2 + hd_random_at(p->seed, n) % (3 * base / 2);
  return base;
}
