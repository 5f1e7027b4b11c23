/* The size of a group of warps whose data L1 holds at once (MAP 3, algorithm 2). Warps are taken in the order
 * in which they come to an SM, so that groups cross CTAs' borders as MAP's equation 8 numbers them; the CTAs
 * of a mapping lie next to each other there (equation 7). */
#include <string.h>

#include "heddle/reuse.h"
#include "reuse/distance.h"
#include "reuse/lines.h"

enum {
  LINE = 128,
  MOST_WARPS = 64,
  MOST_REQUESTS = 1 << 14, /* followed of each warp */
};
/* A loop that finds less of its data again is left alone. */
static const double LEAST_REUSE = 0.05;
/* The part of the reuses of a warp that a group's share of L1 must hold. */
static const double HELD = 0.9;

typedef struct followed {
  uint64_t lines; /* of L1 */
  reuse_lines numbers;
  HD_VEC(uint32_t) event;  /* per line: the latest access that named it */
  HD_VEC(uint32_t) reused; /* per distance: how often */
  reuse_distance distance; /* of the warp under way */
  reuse_lines own;         /* its lines */
  HD_VEC(uint32_t) first;  /* lines in the order in which a warp first names them, warp after warp */
  size_t begin[MOST_WARPS + 1];
  uint32_t warps, warp, events;
  uint64_t task, requests, all, all_reused;
  bool any, failed;
} followed;

static void end_warp(followed *f) {
  reuse_distance_free(&f->distance);
  reuse_lines_free(&f->own);
  memset(&f->distance, 0, sizeof f->distance);
  memset(&f->own, 0, sizeof f->own);
}

static void begin_warp(followed *f, const hd_trace_event *e) {
  end_warp(f);
  f->task = e->task;
  f->warp = e->warp;
  f->any = true;
  f->requests = 0;
  f->begin[f->warps++] = f->first.n;
}

static void name_line(followed *f, uint64_t line) {
  uint32_t number = reuse_lines_number(&f->numbers, line);
  static const uint32_t none = 0;
  if (number == UINT32_MAX || (number == f->event.n && !hd_vec_push(&f->event, none))) {
    f->failed = true;
    return;
  }
  if (f->event.data[number] == f->events) return;
  f->event.data[number] = f->events;
  f->requests++;
  f->all++;
  uint32_t own = reuse_lines_number(&f->own, line);
  int64_t distance = own == UINT32_MAX ? -2 : reuse_distance_next(&f->distance, own);
  if (distance == -2 || (distance == -1 && !hd_vec_push(&f->first, number))) f->failed = true;
  if (distance < 0 || (uint64_t)distance >= f->lines) return;
  f->all_reused++;
  f->reused.data[distance]++;
}

static void on_event(void *ctx, const hd_trace_event *e) {
  followed *f = ctx;
  if (e->kind != HD_ACCESS_LOAD || f->failed) return;
  if (!f->any || e->task != f->task || e->warp != f->warp) {
    if (f->warps == MOST_WARPS) return;
    begin_warp(f, e);
  }
  if (f->requests >= MOST_REQUESTS) return;
  f->events++;
  for (uint32_t i = 0; i < e->n && !f->failed; i++)
    for (uint64_t at = e->start[i] / LINE; at <= (e->start[i] + e->bytes[i] - 1) / LINE; at++)
      name_line(f, at);
}

/* The lines that one warp needs for most of its reuses. */
static uint64_t lines_of_one(const followed *f) {
  uint64_t held = 0, distance = 0;
  while (distance < f->lines && (double)(held + f->reused.data[distance]) < HELD * (double)f->all_reused)
    held += f->reused.data[distance++];
  return distance + 1;
}

/* How many warps in a row name no more than `lines` lines together, each of them its first `own`; at least
 * one. */
static uint32_t warps_that_fit(followed *f, uint64_t own) {
  memset(f->event.data, 0, f->event.n * sizeof *f->event.data);
  f->begin[f->warps] = f->first.n;
  uint64_t together = 0;
  for (uint32_t w = 0; w < f->warps; w++) {
    size_t end = f->begin[w] + own < f->begin[w + 1] ? f->begin[w] + own : f->begin[w + 1];
    for (size_t i = f->begin[w]; i < end; i++) {
      together += !f->event.data[f->first.data[i]];
      f->event.data[f->first.data[i]] = 1;
    }
    if (together > f->lines) return w ? w : 1;
  }
  return f->warps;
}

hd_status hd_reuse_warp_group(const hd_trace *t, const uint64_t *tasks, uint32_t n, uint64_t lines,
                              uint32_t *out, hd_diag *d) {
  followed f = {.lines = lines};
  hd_status st = HD_OK;
  *out = 0;
  static const uint32_t none = 0;
  for (uint64_t i = 0; i < lines && !f.failed; i++) f.failed = !hd_vec_push(&f.reused, none);
  for (uint32_t i = 0; st == HD_OK && !f.failed && i < n && f.warps < MOST_WARPS; i++)
    st = hd_trace_walk(t, tasks[i], 1, on_event, &f, d);
  end_warp(&f);
  if (st == HD_OK && f.failed) st = hd_nomem(d);
  if (st == HD_OK && (double)f.all_reused > LEAST_REUSE * (double)f.all) {
    uint32_t fit = warps_that_fit(&f, lines_of_one(&f));
    if (fit < f.warps) *out = fit;
  }
  reuse_lines_free(&f.numbers);
  hd_vec_free(&f.event);
  hd_vec_free(&f.reused);
  hd_vec_free(&f.first);
  return st;
}
