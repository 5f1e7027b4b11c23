#include "predict/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/predict.h"

enum {
  LEAST_WAVES = 3,    /* of a part */
  FEW_WAVES = 2,      /* where even LEAST_WAVES cost several times what is affordable, */
  SEVERAL = 6,        /* so many times */
  SMALL = 1 << 11,    /* threads of launches that are not worth a survey */
  WHOLE = 12,         /* launches of rows that are replayed whole; where earlier ones steer them, each may */
  WHOLE_STEERED = 64, /* differ */
  RUN_INSTRUCTIONS = 30, /* of threads, that the emulator runs without a trace in half the time of a unit */
};
/* Of a warp, with its accesses, where nothing better is known. */
static const double UNITS_AN_INSTRUCTION = 0.5;

uint64_t hd_sample_units(double seconds, size_t replays) {
  /* Of one of two busy cores of a processor of 2022; kernels lie between 4e6 and 13e6. */
  static const double a_second = 6e6;
  return (uint64_t)(2 * seconds * a_second / (double)(replays ? replays : 1)) + 1;
}

/* ---- Geometry -------------------------------------------------------------------------------- */

static void cut(const survey *s, double affordable, uint32_t warps, sample_launch *out) {
  const uint64_t n = s->tasks < s->wave ? s->tasks : s->wave, left = s->tasks % s->wave;
  double most = affordable / (s->units * (double)n) * s->instructions / warps;
  out->cut = true;
  out->most = most < LEAST_CUT ? LEAST_CUT : (uint64_t)most;
  out->parts[out->n_parts++] = (hd_replay_part){0, n};
  if (s->tasks > n && left) out->parts[out->n_parts++] = (hd_replay_part){s->tasks - left, left};
}

/* Runs of waves, the first at the beginning and the last at the end. */
static void spread(const survey *s, uint64_t waves, sample_launch *out) {
  uint32_t parts = (uint32_t)(waves / (LEAST_WAVES + 1));
  if (parts > SAMPLE_PARTS) parts = SAMPLE_PARTS;
  if (!parts) parts = 1;
  const uint64_t n = waves / parts * s->wave;
  out->most = UINT64_MAX;
  out->warm = (s->varied ? 1 : 2) * s->wave;
  out->varied = s->varied;
  memcpy(out->at, s->at, sizeof out->at);
  for (uint32_t i = 0; i < parts; i++) {
    const uint64_t free_places = s->tasks - n, first = parts > 1 ? free_places / (parts - 1) * i : 0;
    out->parts[out->n_parts++] = (hd_replay_part){i + 1 < parts || parts == 1 ? first : free_places, n};
  }
}

static void choose(const survey *s, double affordable, uint32_t warps, sample_launch *out) {
  const double all = s->units * (double)s->tasks, wave = s->units * (double)s->wave;
  out->instructions = s->instructions;
  if (all <= affordable || !s->wave || !s->tasks) return;
  uint64_t waves = (uint64_t)(affordable / wave);
  const bool brief = s->varied || survey_is_brief(s->instructions, warps);
  if (s->varied && waves < LEAST_WAVES)
    waves = LEAST_WAVES;
  else if (brief && waves < LEAST_WAVES + 1)
    waves = (LEAST_WAVES + 1) * wave <= SEVERAL * affordable ? LEAST_WAVES + 1 : FEW_WAVES;
  if ((brief || waves >= LEAST_WAVES) && s->tasks > (waves + 1) * s->wave)
    spread(s, waves, out);
  else if (!brief)
    cut(s, affordable, warps, out);
}

/* Of uneven work no sample of tasks has a known cost: warps are cut so that theirs is at most several times
 * what is affordable. */
static void bound(const survey *s, double affordable, uint32_t warps, sample_launch *l) {
  double tasks = 0;
  if (!(s->uneven || s->varied) || l->cut || !l->n_parts) return;
  for (uint32_t i = 0; i < l->n_parts; i++) tasks += (double)(l->parts[i].n + l->warm);
  const double most = SEVERAL * affordable / (s->units / s->instructions * tasks * warps);
  l->most = most < LEAST_CUT ? LEAST_CUT : (uint64_t)most;
}

static double replayed(const survey *s, const sample_launch *l, uint32_t warps) {
  double tasks = 0, each = 1;
  if (!l->n_parts) return s->units * (double)s->tasks;
  for (uint32_t i = 0; i < l->n_parts; i++) tasks += (double)l->parts[i].n;
  if ((double)l->most * warps < s->instructions) each = (double)l->most * warps / s->instructions;
  return tasks * each * s->units;
}

/* Every launch that is replayed gets its part of the units; cheap launches are replayed whole. */
static void choose_all(const hd_workload *w, const survey *s, double units, sample *out) {
  double all = 0, some = 0, done = 0;
  for (uint32_t i = 0; i < w->n_launches; i++) {
    all += s[i].units * (double)s[i].tasks;
    if (out->use[i] != LAUNCH_LEFT_OUT) some += s[i].units * (double)s[i].tasks;
  }
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    const uint32_t warps = survey_warps(l);
    const double share = units * s[i].units * (double)s[i].tasks / some;
    out->launches[i].most = UINT64_MAX;
    if (out->use[i] == LAUNCH_LEFT_OUT) continue;
    if (some > units) choose(&s[i], share, warps, &out->launches[i]);
    bound(&s[i], share, warps, &out->launches[i]);
    sample_launch *m = &out->launches[i];
    const double replays = replayed(&s[i], m, warps);
    m->weight = all > 0 ? s[i].units * (double)s[i].tasks / all : 0;
    m->part = all > 0 ? replays / all : 0;
    done += replays;
  }
  out->part = all > 0 ? done / all : 1;
  out->units = done;
}

/* ---- Made ---------------------------------------------------------------------------------- */

static void drop_basis(sample_basis *b) {
  if (!b || --b->users) return;
  steering_free(&b->steering);
  states_free(b->before);
  record_contents_free(b->contents);
  free(b->run.instructions);
  free(b);
}

static hd_status take_basis(const hd_compiled *code, const sample *like, sample *out, hd_diag *d) {
  out->basis = like ? like->basis : calloc(1, sizeof *out->basis);
  if (!out->basis) return hd_nomem(d);
  out->basis->users++;
  return like ? HD_OK : record_steering(code, &out->basis->steering, d);
}

void sample_free(sample *s) {
  if (!s) return;
  drop_basis(s->basis);
  hd_arena_free(&s->arena);
  free(s);
}

static uint64_t threads_of(const hd_wl_launch *l, uint64_t tasks) {
  return tasks * l->block[0] * l->block[1] * l->block[2];
}

static bool same_launch(const hd_compiled *code, uint32_t a, uint32_t b) {
  const hd_wl_launch *x = &code->workload->launches[a], *y = &code->workload->launches[b];
  return code->kernel_of[a] == code->kernel_of[b] && !memcmp(x->grid, y->grid, sizeof x->grid) &&
         !memcmp(x->block, y->block, sizeof x->block);
}

static void group_by(const hd_compiled *code, bool (*alike)(const hd_compiled *, uint32_t, uint32_t),
                     uint32_t *group) {
  for (uint32_t i = 0; i < code->workload->n_launches; i++) {
    group[i] = 0;
    /* The one before is the likeliest. */
    if (i && alike(code, i - 1, i))
      group[i] = group[i - 1];
    else
      while (group[i] < i && !alike(code, group[i], i)) group[i]++;
  }
}

void sample_group(const hd_compiled *code, uint32_t *group) { group_by(code, same_launch, group); }

/* Grids of about as many tasks: 2^(1/4) apart. */
static int size_class(const hd_wl_launch *l) {
  uint64_t tasks = 1;
  hd_grid_tasks(l->grid, &tasks);
  return (int)floor(4 * log2((double)tasks));
}

static bool similar_launch(const hd_compiled *code, uint32_t a, uint32_t b) {
  const hd_wl_launch *x = &code->workload->launches[a], *y = &code->workload->launches[b];
  return code->kernel_of[a] == code->kernel_of[b] && !memcmp(x->block, y->block, sizeof x->block) &&
         size_class(x) == size_class(y);
}

/* Of a long row of grids that grow or shrink, those of about a size are alike. */
static void group_row(const hd_compiled *code, uint32_t whole, uint32_t *group) {
  enum { MOST_OF = 4 };
  uint32_t kinds = 0;
  const uint32_t n = code->workload->n_launches;
  sample_group(code, group);
  for (uint32_t i = 0; i < n; i++) kinds += group[i] == i;
  if (n > whole && kinds > n / MOST_OF) group_by(code, similar_launch, group);
}

hd_status sample_survey(recording *r, const uint32_t *like, const hd_gpu *g, survey *out, hd_diag *d) {
  const uint32_t n = r->r.w->n_launches;
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < n; i++)
    if (like[i] == i) st = survey_take(r, i, g, &out[i], d);
  for (uint32_t i = 0; i < n; i++) {
    if (like[i] != i) out[i] = out[like[i]];
    hd_grid_tasks(r->r.w->launches[i].grid, &out[i].tasks);
  }
  return st;
}

/* Launches that are left out have the traces of one like them. */
static void share_traces(sample *m) {
  for (uint32_t i = 0; i < m->row.n; i++) {
    m->like[i] = i;
    if (m->use[i] != LAUNCH_LEFT_OUT) continue;
    const uint32_t group = m->row.group[i];
    uint32_t k = group;
    while (k < m->row.n && (m->row.group[k] != group || m->use[k] == LAUNCH_LEFT_OUT)) k++;
    m->like[i] = k;
  }
}

/* The launches of which tasks can run alone: a survey of one of each kind, then some of them. */
static hd_status survey_alone(sample *m, recording *r, const uint32_t *group, double *units, const hd_gpu *g,
                              double affordable, survey *s, hd_diag *d) {
  hd_status st = sample_survey(r, group, g, s, d);
  for (uint32_t i = 0; st == HD_OK && i < m->row.n; i++)
    if (group[i] == i) st = survey_look_closer(r, i, &s[i], d);
  for (uint32_t i = 0; i < m->row.n; i++) units[i] = s[i].units * (double)s[i].tasks;
  if (st == HD_OK) launches_choose(&m->row, affordable, m->use);
  return st;
}

/* Run the originals, for about as long as so many replays of a plan take. What launches of a short row begin
 * with is kept at once. */
static hd_status count_states(sample *m, recording *r, double affordable, hd_diag *d) {
  enum { REPLAYS = 12, FEW = 64 };
  sample_basis *b = m->basis;
  const bool few = m->row.n <= FEW;
  const double now = hd_seconds(); /* half of what is left of the time is for the rest of a study */
  const states_bounds how = {.most = affordable * RUN_INSTRUCTIONS * (few ? REPLAYS : 1),
                             .least = launches_least(&m->row),
                             .fewest = launches_fewest(&m->row),
                             .until = r->r.until > 0 ? now + (r->r.until - now) / 2 : 0,
                             .keep = few};
  if (b->before) return HD_OK;
  b->run.instructions = calloc((size_t)m->row.n + 1, sizeof *b->run.instructions);
  hd_status st = b->run.instructions ? states_begin(r, &b->steering, &b->before, d) : hd_nomem(d);
  return st == HD_OK ? states_count(b->before, r, &how, &b->run, d) : st;
}

/* Those that earlier ones steer: a run counts their instructions; of a long row a second one keeps what the
 * launches that are chosen begin with. */
static hd_status survey_steered(sample *m, recording *r, const uint32_t *group, double *units,
                                const hd_gpu *g, double affordable, survey *s, hd_diag *d) {
  const uint32_t n = m->row.n;
  bool *wanted = HD_NEW_N(&m->arena, (size_t)n + 1, bool);
  hd_status st = wanted ? count_states(m, r, affordable, d) : hd_nomem(d);
  const states_run *run = &m->basis->run;
  if (st != HD_OK) return st;
  m->row.known = run->n;
  for (uint32_t i = 0; i < n; i++)
    units[i] = i < run->n ? run->instructions[i] * UNITS_AN_INSTRUCTION : units[group[i]];
  launches_choose(&m->row, affordable, m->use);
  for (uint32_t i = 0; i < n; i++) wanted[i] = m->use[i] != LAUNCH_LEFT_OUT;
  st = states_keep(m->basis->before, r, wanted, d);
  r->before = m->basis->before;
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    if (!wanted[i]) continue;
    if (!r->own[i]) st = record_add(r, i, d);
    if (st == HD_OK) st = survey_take(r, i, g, &s[i], d);
    if (st != HD_OK) break;
    /* The run's count is exact; the tasks that were looked at tell what an instruction costs. */
    const double each = run->instructions[i] / (double)s[i].tasks;
    s[i].uneven = each > 2 * s[i].instructions;
    if (s[i].instructions > 0) s[i].units *= each / s[i].instructions;
    s[i].instructions = each;
  }
  share_traces(m);
  for (uint32_t i = 0; i < n; i++)
    if (!wanted[i]) s[i] = s[m->like[i]];
  return st;
}

static hd_status make(const hd_compiled *code, const hd_run_options *o, sample *m, survey *s, hd_diag *d) {
  const uint32_t n = code->workload->n_launches;
  hd_run_options untimed = *o;
  recording *r;
  uint32_t *group = HD_NEW_N(&m->arena, (size_t)n + 1, uint32_t);
  double *units = HD_NEW_N(&m->arena, (size_t)n + 1, double);
  m->launches = HD_NEW_N(&m->arena, (size_t)n + 1, sample_launch);
  m->use = HD_NEW_N(&m->arena, (size_t)n + 1, launch_use);
  m->like = HD_NEW_N(&m->arena, (size_t)n + 1, uint32_t);
  if (!group || !units || !m->launches || !m->use || !m->like) return hd_nomem(d);
  untimed.timed = false;
  sample_basis *b = m->basis;
  const bool between = b->steering.kind == STEERED_BETWEEN;
  const uint32_t whole = between ? WHOLE_STEERED : WHOLE;
  group_row(code, whole, group);
  m->row = (launch_row){.n = n, .known = n, .whole = whole, .group = group, .units = units};
  hd_status st =
      b->contents ? HD_OK : record_contents(code->workload, b->steering.reads_data, &b->contents, d);
  if (st == HD_OK)
    st = record_open(code, NULL, &untimed, &(record_options){.contents = b->contents, .like = group}, &r, d);
  if (st != HD_OK) return st;
  const double affordable = (double)o->sample_units;
  st = between ? survey_steered(m, r, group, units, o->sample_gpu, affordable, s, d)
               : survey_alone(m, r, group, units, o->sample_gpu, affordable, s, d);
  record_close(r);
  if (st != HD_OK) return st;
  share_traces(m);
  choose_all(code->workload, s, affordable, m);
  return HD_OK;
}

hd_status sample_make(const hd_compiled *code, const hd_run_options *o, const sample *like, sample **out,
                      hd_diag *d) {
  const hd_workload *w = code->workload;
  uint64_t threads = 0, tasks;
  *out = NULL;
  for (uint32_t i = 0; i < w->n_launches; i++)
    if (hd_grid_tasks(w->launches[i].grid, &tasks)) threads += threads_of(&w->launches[i], tasks);
  if (!o->sample_units || !o->sample_gpu || threads <= SMALL) return HD_OK;
  sample *m = calloc(1, sizeof *m);
  survey *s = calloc((size_t)w->n_launches + 1, sizeof *s);
  if (m) hd_arena_init(&m->arena);
  hd_status st = s && m ? take_basis(code, like, m, d) : hd_nomem(d);
  const bool possible = st == HD_OK && m->basis->steering.kind != STEERED_WITHIN;
  if (possible) st = make(code, o, m, s, d);
  if (possible && st == HD_OK && m->part < 1)
    *out = m;
  else
    sample_free(m);
  free(s);
  return st;
}

bool sample_leaves_out(const sample *s, uint32_t launch) { return s->use[launch] == LAUNCH_LEFT_OUT; }

record_options sample_record(const sample *s) {
  return (record_options){.contents = s->basis->contents, .like = s->like, .before = s->basis->before};
}

/* ---- Replays ------------------------------------------------------------------------------------ */

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
  return c->agents && c->active && (uint64_t)c->n_queues * c->active * LEAST_WAVES <= l->parts[0].n;
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

/* The pace of a run of waves. */
typedef struct run_pace {
  double first; /* until the middle of the second wave's start */
  double each;  /* from then on, per task */
  double last;  /* from the middle of the last wave's start */
} run_pace;

static run_pace pace_of(const hd_replay_progress *p) {
  const double n = (double)p->marks[p->n - 1].started, end = p->marks[p->n - 1].cycle;
  const double from = 1.5 * (double)p->places, to = n - 0.5 * (double)p->places;
  if (to - from < 0.5 * (double)p->places) return (run_pace){from * end / n, end / n, end - to * end / n};
  const double a = cycle_of(p, from), b = cycle_of(p, to);
  return (run_pace){a, (b - a) / (to - from), end - b};
}

/* The first mark by which so many tasks have ended; the last one where fewer do. */
static const hd_replay_mark *mark_of_end(const hd_replay_progress *p, uint64_t ended) {
  uint32_t i = 0;
  while (i + 1 < p->n && p->marks[i].ended < ended) i++;
  return &p->marks[i];
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

/* How long a wave whose warps were cut would take; `all`: instructions of its tasks, `ran` of these.
 * Schedulers that prefer the oldest let tasks end one after the other. */
static double uncut(const hd_replay_progress *p, double all, double ran, bool last) {
  const hd_replay_mark *end = &p->marks[p->n - 1];
  uint32_t b = 0, a = 0;
  while (b + 1 < p->n && !p->marks[b + 1].ended && p->marks[b + 1].work < 0.9 * end->work) b++;
  /* While tasks start the rate grows, and so it does in the work until the first of them ends. */
  const bool starting = all_at_once(p) && p->marks[b].started < end->started;
  while (!starting && a < b && p->marks[a].work < 0.4 * p->marks[b].work) a++;
  if (ran >= all || ran <= 0 || a >= b || p->marks[b].cycle <= p->marks[a].cycle)
    return ran > 0 ? end->cycle * all / ran : end->cycle;
  const double rate = (p->marks[b].work - p->marks[a].work) / (p->marks[b].cycle - p->marks[a].cycle);
  const double more = all / ran, until = last ? mark_of_end(p, 1)->work : end->work;
  return p->marks[b].cycle + (until * more - p->marks[b].work) / rate + (last ? last_ends(p, more) : 0);
}

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
  if (part.part.n) {
    part.timed = part.keep_caches = false;
    st = hd_model_replay(m, t, &part, out, d);
    part.timed = part.keep_caches = true;
  }
  part.part = timed;
  return st == HD_OK ? hd_model_replay(m, t, &part, out, d) : st;
}

hd_status sample_replay(const sample_launch *l, hd_model *m, const hd_gpu *g, const hd_trace *t,
                        const hd_replay_options *o, hd_counters *out, hd_diag *d) {
  const double tasks = (double)hd_trace_tasks(t);
  double cycles = 0, done = 0, ran = 0, each = 0, last = 0;
  hd_replay_progress *p = malloc(sizeof *p);
  hd_status st = p ? HD_OK : hd_nomem(d);
  const uint32_t n_parts = parts_of(l, &o->claims);
  const bool waves = !l->cut || goes_round(l, &o->claims);
  memset(out, 0, sizeof *out);
  for (uint32_t i = 0; st == HD_OK && i < n_parts; i++) {
    hd_counters c;
    st = replay_part(l, i, m, t, o, p, &c, d);
    if (st != HD_OK) break;
    const double n = (double)p->marks[p->n - 1].started; /* queues round the part's number */
    hd_counters_add(out, &c);
    ran += (double)c.warp_instructions;
    done += n;
    /* After the last task: workers leave, stores and atomics are served. */
    if (i + 1 == n_parts) cycles += c.cycles - p->marks[p->n - 1].cycle;
    if (!waves) {
      const double times = i ? 1 : (double)(uint64_t)(tasks / n);
      const bool last_wave = i + 1 == n_parts;
      cycles += times * uncut(p, n * l->instructions, (double)c.warp_instructions, last_wave);
      continue;
    }
    const run_pace pace = pace_of(p);
    const double work =
        (l->varied || l->cut) && c.warp_instructions ? n * l->instructions / (double)c.warp_instructions : 1;
    if (!i) cycles += pace.first * work;
    each += pace.each * work / n_parts;
    last = pace.last * work;
    if (i + 1 == n_parts) cycles += (tasks - 2 * (double)p->places) * each + last;
  }
  free(p);
  if (st != HD_OK) return st;
  scale(l, out, (l->cut || l->varied) && ran > 0 ? tasks * l->instructions / ran : tasks / done);
  out->cycles = cycles;
  out->time_us = cycles / g->clock_mhz + (o->keep_caches ? g->launch.next_us : g->launch.first_us);
  return HD_OK;
}
