#include "model/ccws.h"

#include <string.h>

#define NO_TAG UINT32_MAX

void model_ccws_reset(model_ccws *c, uint8_t *owner, uint32_t lines) {
  *c = (model_ccws){.owner = owner, .lines = lines};
  memset(owner, 0, lines);
  memset(c->tags, 0xff, sizeof c->tags);
}

void model_ccws_start(model_ccws *c, uint32_t warp) {
  c->n += !c->there[warp];
  c->there[warp] = true;
  c->score[warp] = CCWS_BASE;
  c->scored[warp] = 0;
  memset(c->tags[warp], 0xff, sizeof c->tags[warp]);
}

void model_ccws_end(model_ccws *c, uint32_t warp) {
  c->n -= c->there[warp];
  c->there[warp] = false;
}

/* ---- Victim tags ------------------------------------------------------------------ */

static uint32_t *tags_of(model_ccws *c, uint32_t warp, uint32_t line) {
  return c->tags[warp] + line % (CCWS_TAGS / CCWS_TAG_WAYS) * CCWS_TAG_WAYS;
}

/* The tag becomes the most recent of its set, in place of number `i`. */
static void put_first(uint32_t *set, uint32_t i, uint32_t tag) {
  memmove(set + 1, set, i * sizeof *set);
  set[0] = tag;
}

static void keep_tag(model_ccws *c, uint32_t warp, uint32_t line) {
  uint32_t *set = tags_of(c, warp, line), i = 0;
  while (i < CCWS_TAG_WAYS - 1 && set[i] != line) i++;
  put_first(set, i, line);
}

/* Take the tag out of the warp's, if it is there. */
static bool take_tag(model_ccws *c, uint32_t warp, uint32_t line) {
  uint32_t *set = tags_of(c, warp, line), i = 0;
  while (i < CCWS_TAG_WAYS && set[i] != line) i++;
  if (i == CCWS_TAG_WAYS) return false;
  memmove(set + i, set + i + 1, (CCWS_TAG_WAYS - 1 - i) * sizeof *set);
  set[CCWS_TAG_WAYS - 1] = NO_TAG;
  return true;
}

/* ---- Scores ----------------------------------------------------------------------- */

double model_ccws_score(const model_ccws *c, uint32_t warp, uint64_t cycle) {
  double passed = cycle > c->scored[warp] ? (double)(cycle - c->scored[warp]) : 0;
  double score = c->score[warp] - passed;
  return score > CCWS_BASE ? score : CCWS_BASE;
}

static void raise_score(model_ccws *c, uint32_t warp, uint64_t cycle) {
  double cutoff = (double)CCWS_BASE * c->n;
  double score = CCWS_THROTTLE * (double)c->lost / (double)(c->issued ? c->issued : 1) * cutoff;
  if (score <= model_ccws_score(c, warp, cycle)) return;
  c->score[warp] = score;
  c->scored[warp] = cycle;
  uint64_t calm = cycle + (uint64_t)(score - CCWS_BASE) + 1;
  if (calm > c->calm) c->calm = calm;
}

void model_ccws_miss(model_ccws *c, uint32_t warp, uint32_t line, uint32_t at, uint32_t old, uint64_t cycle) {
  if (take_tag(c, warp, line)) {
    c->lost++;
    raise_score(c, warp, cycle);
  }
  if (old != NO_TAG && c->owner[at]) keep_tag(c, c->owner[at] - 1u, old);
  c->owner[at] = (uint8_t)(warp + 1);
}

bool model_ccws_may_load(const model_ccws *c, uint32_t warp, uint64_t cycle) {
  if (cycle >= c->calm) return true;
  double own = model_ccws_score(c, warp, cycle), top = own, cutoff = (double)CCWS_BASE * c->n;
  bool first = true;
  for (uint32_t w = 0; w < CCWS_WARPS; w++) {
    if (!c->there[w] || w == warp) continue;
    double score = model_ccws_score(c, w, cycle);
    if (score < own || (score == own && w > warp)) continue;
    top += score;
    first = false;
  }
  return first || top <= cutoff;
}
