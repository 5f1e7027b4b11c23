#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/predict.h"
#include "predict/sample.h"

/* ---- Tasks of a sample ------------------------------------------------------------------------- */

/* The work that the survey expects of the task at a place of an order. */
static double work_at(const sample_launch *l, const hd_table *order, uint64_t place, uint64_t tasks) {
  const uint64_t task = order && order->n ? order->task[place] : place;
  return tasks ? l->at[task * SURVEYED / tasks] : 0;
}

/* A part under an order. The only one of varied tasks begins where these have as much work as the mean of the
 * grid, about. */
static hd_replay_part part_of(const sample_launch *l, uint32_t i, const hd_table *order, uint64_t tasks) {
  enum { PLACES = 64 };
  hd_replay_part out = l->parts[i];
  if (!l->varied || l->n_parts > 1 || tasks < out.n + PLACES) return out;
  const uint64_t step = (tasks - out.n) / PLACES;
  double all = 0, here = 0, least = INFINITY;
  for (uint64_t u = 0; u < tasks; u++) all += work_at(l, order, u, tasks);
  for (uint64_t u = 0; u < out.n; u++) here += work_at(l, order, u, tasks);
  const double mean = all * (double)out.n / (double)tasks;
  for (uint64_t first = 0, end = step * PLACES; first <= end; first++) {
    if (first % step == 0 && fabs(here - mean) < least) {
      least = fabs(here - mean);
      out.first = first;
    }
    if (first < end) here += work_at(l, order, first + out.n, tasks) - work_at(l, order, first, tasks);
  }
  return out;
}

/* Of so few agents that a part has several waves of them: their pace is known, after what the first one finds
 * cold. */
static bool goes_round(const sample_launch *l, const hd_replay_claims *c) {
  enum { TIMES = 3 };
  return c->agents && c->active && (uint64_t)c->n_queues * c->active * TIMES <= l->parts[0].n;
}

/* How many of the parts a plan needs. */
static uint32_t parts_of(const sample_launch *l, const hd_replay_claims *c) {
  return l->cut && goes_round(l, c) ? 1 : l->n_parts;
}

static hd_replay_part warming(const sample_launch *l, const hd_replay_part *p) {
  const uint64_t n = p->first < l->warm ? p->first : l->warm;
  return (hd_replay_part){p->first - n, n};
}

hd_status sample_tasks(const sample_launch *l, const hd_replay_options *o, uint64_t launched,
                       uint64_t **tasks, uint64_t *n, hd_diag *d) {
  hd_status st = HD_OK;
  *tasks = NULL;
  *n = 0;
  for (uint32_t i = 0, parts = parts_of(l, &o->claims); st == HD_OK && i < (parts ? parts : 1); i++) {
    hd_replay_options part = *o;
    uint64_t *some, n_some;
    if (parts) {
      const hd_replay_part timed = part_of(l, i, o->order, launched), warm = warming(l, &timed);
      part.part = (hd_replay_part){warm.first, warm.n + timed.n};
    }
    st = hd_replay_tasks(&part, launched, &some, &n_some, d);
    uint64_t *all = st == HD_OK ? realloc(*tasks, (*n + n_some + 1) * sizeof *all) : NULL;
    if (all) {
      memcpy(all + *n, some, n_some * sizeof *some);
      *tasks = all;
      *n += n_some;
    } else if (st == HD_OK) {
      st = hd_nomem(d);
    }
    free(some);
  }
  if (st != HD_OK) {
    free(*tasks);
    *tasks = NULL;
  }
  return st;
}

uint64_t sample_size(const sample_launch *l, uint64_t launched) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < l->n_parts; i++) n += warming(l, &l->parts[i]).n + l->parts[i].n;
  return l->n_parts ? n : launched;
}

/* When so many tasks had started. */
static double cycle_of(const hd_replay_progress *p, double started) {
  for (uint32_t i = 0; i < p->n; i++) {
    const hd_replay_mark *k = &p->marks[i];
    if ((double)k->started < started) continue;
    if (!i) return k->cycle;
    const double step = (double)(k->started - k[-1].started);
    return k[-1].cycle + (k->cycle - k[-1].cycle) * (started - (double)k[-1].started) / step;
  }
  return p->n ? p->marks[p->n - 1].cycle : 0;
}

/* ---- Paces --------------------------------------------------------------------------------------- */

/* The pace of a run of waves. */
typedef struct run_pace {
  double first;  /* until the middle of the second wave's start */
  double each;   /* from then on, per task */
  double last;   /* from the middle of the last wave's start */
  double unlike; /* per task: of its first half, less that of its second */
  bool halved;   /* it is long enough for halves */
} run_pace;

static run_pace pace_of(const hd_replay_progress *p) {
  const double n = (double)p->marks[p->n - 1].started, end = p->marks[p->n - 1].cycle;
  const double from = 1.5 * (double)p->places, to = n - 0.5 * (double)p->places;
  if (to - from < 0.5 * (double)p->places)
    return (run_pace){.first = from * end / n, .each = end / n, .last = end - to * end / n};
  const double a = cycle_of(p, from), b = cycle_of(p, to), half = cycle_of(p, (from + to) / 2);
  return (run_pace){.first = a,
                    .each = (b - a) / (to - from),
                    .last = end - b,
                    .unlike = (2 * half - a - b) * 2 / (to - from),
                    .halved = to - from >= 2 * (double)p->places};
}

/* The first mark by which so many tasks have ended; the last one where fewer do. */
static const hd_replay_mark *mark_of_end(const hd_replay_progress *p, uint64_t ended) {
  uint32_t i = 0;
  while (i + 1 < p->n && p->marks[i].ended < ended) i++;
  return &p->marks[i];
}

/* Cycles per task of a run of two waves, from the middle of the first one's end to that of the second one's.
 */
static double pace_of_two(const hd_replay_progress *p) {
  const uint64_t n = p->marks[p->n - 1].started, half = n / 4 ? n / 4 : 1;
  const hd_replay_mark *a = mark_of_end(p, half), *b = mark_of_end(p, n - half);
  return b->ended > a->ended ? (b->cycle - a->cycle) / (double)(b->ended - a->ended)
                             : p->marks[p->n - 1].cycle / (double)n;
}

/* Have all tasks places of their own, with none that comes after another? */
static bool all_at_once(const hd_replay_progress *p) { return p->marks[p->n - 1].started <= p->places; }

/* From the end of the first task of the last wave on: no others take the places of those that end, so that
 * the wave takes `more` times as long, as tasks do. Those that start later, claimed from another SM's queue,
 * end as much later, however long they are. */
static double last_ends(const hd_replay_progress *p, double more) {
  const hd_replay_mark *end = &p->marks[p->n - 1], *started = p->marks;
  const hd_replay_mark *first = mark_of_end(p, 1), *prompt = mark_of_end(p, p->marks[0].started);
  while (started < end && started->started < end->started) started++;
  const double rest = all_at_once(p) ? end->cycle - prompt->cycle : 0;
  const double late = started->cycle < rest ? started->cycle : rest;
  return (end->cycle - first->cycle - late) * more + late;
}

static double rate_between(const hd_replay_mark *a, const hd_replay_mark *b) {
  return b->cycle > a->cycle ? (b->work - a->work) / (b->cycle - a->cycle) : 0;
}

/* A wave whose warps were cut, as it would go on. */
typedef struct uncut_wave {
  double cycles; /* all of it */
  double left;   /* of these: behind what was seen, at its rate; 0: it is not known */
  double rate;   /* work per cycle */
  double error;  /* of `left`, where the rest goes on as the first or the second half of what was seen */
} uncut_wave;

/* `all`: instructions of its tasks, `ran` of these. Schedulers that prefer the oldest let tasks end one after
 * the other. */
static uncut_wave uncut(const hd_replay_progress *p, double all, double ran, bool last) {
  const hd_replay_mark *end = &p->marks[p->n - 1];
  uint32_t b = 0, a = 0;
  while (b + 1 < p->n && !p->marks[b + 1].ended && p->marks[b + 1].work < 0.9 * end->work) b++;
  /* While tasks start the rate grows, and so it does in the work until the first of them ends. */
  const bool starting = all_at_once(p) && p->marks[b].started < end->started;
  while (!starting && a < b && p->marks[a].work < 0.4 * p->marks[b].work) a++;
  const double rate = rate_between(&p->marks[a], &p->marks[b]);
  if (ran >= all || ran <= 0) return (uncut_wave){.cycles = end->cycle};
  if (a >= b || rate <= 0) /* nothing tells how the rest goes on */
    return (uncut_wave){.cycles = end->cycle * all / ran, .error = end->cycle * (all / ran - 1) / 2};
  const hd_replay_mark *half = &p->marks[(a + b) / 2];
  const double early = rate_between(&p->marks[a], half), late = rate_between(half, &p->marks[b]);
  const double more = all / ran, until = last ? mark_of_end(p, 1)->work : end->work;
  const double left = (until * more - p->marks[b].work) / rate;
  return (uncut_wave){.cycles = p->marks[b].cycle + left + (last ? last_ends(p, more) : 0),
                      .left = left,
                      .rate = rate,
                      .error = early > 0 && late > 0 ? left * fabs(early - late) / (early + late) : 0};
}

/* How long the wave would take by a run of two waves of other tasks: at the rate of the second one, while all
 * of its tasks are under way. Where tasks end one after the other there is no such time, and the pace of ends
 * is taken for that of whole tasks. `more`: instructions of a task, to what the run has of them. */
static double wave_by_run(const hd_replay_progress *p, const uncut_wave *w, double tasks, double more) {
  const hd_replay_mark *end = &p->marks[p->n - 1];
  uint32_t a = 0, b = 0;
  while (a + 1 < p->n && p->marks[a].started < end->started) a++;
  while (b + 1 < p->n && p->marks[b + 1].ended + p->places <= end->started) b++;
  const double rate = a < b ? rate_between(&p->marks[a], &p->marks[b]) : 0;
  const bool together = rate > 0 && p->marks[b].work - p->marks[a].work > 0.1 * end->work;
  return w->left > 0 && together ? w->cycles + w->left * (w->rate / rate - 1) : pace_of_two(p) * more * tasks;
}

/* ---- Replays ----------------------------------------------------------------------------------- */

/* Only the trace knows how much of long warps is cut off. */
static void learn_part(sample *s, sample_launch *l, const hd_trace *t) {
  const uint64_t tasks = hd_trace_tasks(t);
  double ran = 0;
  for (uint32_t i = 0; i < l->n_parts; i++) {
    const hd_replay_part p = part_of(l, i, NULL, tasks);
    for (uint64_t k = 0; k < p.n; k++) ran += (double)hd_trace_task_instructions(t, p.first + k);
  }
  const double part = l->weight * ran / ((double)tasks * l->instructions);
  s->part += part - l->part;
  l->part = part;
}

void sample_learn(sample *s, uint32_t launch, const hd_trace *t, uint64_t bytes) {
  sample_launch *l = &s->launches[launch];
  const hd_trace_info info = hd_trace_get_info(t);
  const double all = (double)hd_trace_tasks(t) * l->instructions, ran = (double)info.warp_instructions;
  if (ran <= 0) return;
  if (l->varied) learn_part(s, l, t);
  l->threads = (double)info.thread_instructions / ran;
  l->compulsory = (double)(info.read_bytes + info.written_bytes) * (all > ran ? all / ran : 1);
  if (l->compulsory > 2 * (double)bytes) l->compulsory = 2 * (double)bytes; /* read and written */
}

static void scale(const sample_launch *l, hd_counters *c, double factor) {
  hd_counters_scale(c, factor);
  c->thread_instructions = (uint64_t)((double)c->warp_instructions * l->threads);
  c->compulsory_bytes = (uint64_t)l->compulsory;
}

static hd_status replay_part(const sample_launch *l, uint32_t i, hd_model *m, const hd_trace *t,
                             const hd_replay_options *o, hd_replay_progress *p, hd_counters *out,
                             hd_diag *d) {
  hd_replay_options part = *o;
  hd_status st = HD_OK;
  const hd_replay_part timed = part_of(l, i, o->order, hd_trace_tasks(t));
  part.part = warming(l, &timed);
  part.progress = p;
  part.keep_caches |= l->cut && i; /* L2 has what the wave before brought */
  if (part.part.n) {
    part.timed = part.keep_caches = false;
    st = hd_model_replay(m, t, &part, out, d);
    part.timed = part.keep_caches = true;
  }
  part.part = timed;
  if (i != (parts_of(l, &o->claims) > 1)) part.timeline = NULL; /* the second part: not the first, cold one */
  return st == HD_OK ? hd_model_replay(m, t, &part, out, d) : st;
}

/* What the parts tell so far. */
typedef struct told {
  double tasks;     /* of the launch */
  double ran, done; /* instructions of warps, tasks */
  double cycles;
  double each[SAMPLE_MOST_PARTS]; /* runs: cycles per task */
  double unsure;                  /* cycles */
  double times;                   /* cut: whole waves */
  uncut_wave wave;                /* one of them */
} told;

/* Cycles by which the launch may be off: by the runs' paces, the only run's halves, or, where it is too short
 * for halves, half of what it stands for. */
static double unsure_of(const told *t, const run_pace *only, double paced, double mean, uint32_t n_parts) {
  double squares = 0;
  if (n_parts == 1 && (!only->halved || !(only->each > 0))) return fmax(t->tasks - t->done, 0) * mean / 2;
  if (n_parts == 1) return fabs(paced * mean * only->unlike / only->each) / 2;
  for (uint32_t k = 0; k < n_parts; k++) squares += (t->each[k] - mean) * (t->each[k] - mean);
  return fabs(paced) * sqrt(squares / (n_parts * (n_parts - 1.0)));
}

/* A run of waves. Work: what a task of the launch has, to what one of the run has. */
static void add_run(const sample_launch *l, const hd_replay_progress *p, double instructions, uint32_t i,
                    uint32_t n_parts, told *out) {
  const run_pace pace = pace_of(p);
  const double n = (double)p->marks[p->n - 1].started;
  const double work = (l->varied || l->cut) && instructions > 0 ? n * l->instructions / instructions : 1;
  double mean = 0;
  out->each[i] = pace.each * work;
  if (!i) out->cycles += pace.first * work;
  if (i + 1 < n_parts) return;
  const double paced = out->tasks - 2 * (double)p->places;
  for (uint32_t k = 0; k < n_parts; k++) mean += out->each[k] / n_parts;
  out->cycles += paced * mean + pace.last * work;
  out->unsure = unsure_of(out, &pace, paced, mean, n_parts);
}

/* A part of a cut launch: the first wave, a run of two, what is left behind the last whole one. */
static void add_cut(const sample_launch *l, const hd_replay_progress *p, double instructions, uint32_t i,
                    uint32_t n_parts, told *out) {
  const double n = (double)p->marks[p->n - 1].started, all = n * l->instructions;
  const bool is_run = i && l->parts[i].n > l->parts[0].n;
  const bool followed = l->parts[n_parts - 1].n < l->parts[0].n;
  if (is_run && instructions > 0) {
    const double other = wave_by_run(p, &out->wave, (double)l->parts[0].n, all / instructions);
    out->unsure = out->times * fabs(out->wave.cycles - other) / 2;
    out->wave.cycles = (out->wave.cycles + other) / 2;
  } else if (!i) {
    out->wave = uncut(p, all, instructions, n_parts == 1);
    out->times = (double)(uint64_t)(out->tasks / n);
    out->unsure = out->times * out->wave.error;
    if (n_parts > 1 && !followed) out->times--;
  }
  /* The last wave is what is left, or one as the first. */
  if (i ? i + 1 == n_parts && followed : n_parts > 1 && !followed)
    out->cycles += uncut(p, all, instructions, true).cycles;
  if (i + 1 == n_parts) out->cycles += out->times * out->wave.cycles;
}

hd_status sample_replay(const sample_launch *l, hd_model *m, const hd_gpu *g, const hd_trace *t,
                        const hd_replay_options *o, hd_counters *out, hd_diag *d) {
  told all = {.tasks = (double)hd_trace_tasks(t)};
  hd_replay_progress *p = malloc(sizeof *p);
  hd_status st = p ? HD_OK : hd_nomem(d);
  const uint32_t n_parts = parts_of(l, &o->claims);
  const bool runs = !l->cut || goes_round(l, &o->claims);
  memset(out, 0, sizeof *out);
  for (uint32_t i = 0; st == HD_OK && i < n_parts; i++) {
    hd_counters c;
    st = replay_part(l, i, m, t, o, p, &c, d);
    if (st != HD_OK) break;
    const hd_replay_mark *end = &p->marks[p->n - 1];
    hd_counters_add(out, &c);
    all.ran += (double)c.warp_instructions;
    all.done += (double)end->started; /* queues round a part's tasks */
    /* After the last task: workers leave, stores and atomics are served. */
    if (i + 1 == n_parts) all.cycles += c.cycles - end->cycle;
    (runs ? add_run : add_cut)(l, p, (double)c.warp_instructions, i, n_parts, &all);
  }
  free(p);
  if (st != HD_OK) return st;
  scale(l, out,
        (l->cut || l->varied) && all.ran > 0 ? all.tasks * l->instructions / all.ran : all.tasks / all.done);
  out->cycles = all.cycles;
  out->time_us = all.cycles / g->clock_mhz + (o->keep_caches ? g->launch.next_us : g->launch.first_us);
  out->time_error_us = all.unsure / g->clock_mhz;
  return HD_OK;
}

bool sample_grow(sample_launch *l, const hd_counters *c, uint64_t tasks) {
  const uint64_t room = l->parts[0].n + l->warm;
  if (c->time_error_us <= HD_SAMPLE_ERROR * c->time_us) return false;
  if (l->cut || l->varied || l->n_parts < 2 || 2 * l->n_parts > SAMPLE_MOST_PARTS) return false;
  if (2 * l->n_parts * room > tasks) return false;
  sample_place_runs(l, 2 * l->n_parts, l->parts[0].n, tasks);
  return true;
}
