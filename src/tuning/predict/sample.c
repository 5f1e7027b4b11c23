#include "predict/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/predict.h"

enum {
  LEAST_WAVES = 3,    /* of a part */
  CUT_WAVES = 3,      /* of long tasks: one, and a run of two */
  MUCH = 3,           /* the part of a launch, a third, over which no warps are cut */
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
  const uint64_t waves = s->tasks >= CUT_WAVES * n ? CUT_WAVES : 1;
  double most = affordable / (s->units * (double)(waves * n)) * s->instructions / warps;
  if (most < LEAST_CUT) most = LEAST_CUT;
  if (MUCH * most * warps * (double)(waves * n) > s->instructions * (double)s->tasks) return;
  out->cut = true;
  out->most = (uint64_t)most;
  out->parts[out->n_parts++] = (hd_replay_part){0, n};
  if (waves > 1) {
    const uint64_t run = (waves - 1) * n, middle = (s->tasks - run) / 2;
    out->parts[out->n_parts++] = (hd_replay_part){middle < n ? n : middle, run};
  }
  if (s->tasks > n && left) out->parts[out->n_parts++] = (hd_replay_part){s->tasks - left, left};
}

void sample_place_runs(sample_launch *l, uint32_t parts, uint64_t n, uint64_t tasks) {
  l->n_parts = parts;
  for (uint32_t i = 0; i < parts; i++) {
    const uint64_t free_places = tasks - n, first = parts > 1 ? free_places / (parts - 1) * i : 0;
    l->parts[i] = (hd_replay_part){i + 1 < parts || parts == 1 ? first : free_places, n};
  }
}

/* Runs of waves: two at least, which are compared, where tasks are long enough for short runs. */
static void spread(const survey *s, uint64_t waves, bool brief, sample_launch *out) {
  const bool compared = !brief && waves >= LEAST_WAVES && s->tasks > (2 * LEAST_WAVES + 1) * s->wave;
  uint32_t parts = (uint32_t)(waves / (LEAST_WAVES + 1));
  if (parts > SAMPLE_PARTS) parts = SAMPLE_PARTS;
  if (parts < 2 && compared) {
    parts = 2;
    waves = 2 * LEAST_WAVES;
  }
  if (!parts) parts = 1;
  out->most = UINT64_MAX;
  out->warm = (s->varied ? 1 : 2) * s->wave;
  out->varied = s->varied;
  memcpy(out->at, s->at, sizeof out->at);
  sample_place_runs(out, parts, waves / parts * s->wave, s->tasks);
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
    spread(s, waves, brief, out);
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

static hd_status make(const hd_compiled *code, const hd_run_options *run, const hd_study_options *o,
                      sample *m, survey *s, hd_diag *d) {
  const uint32_t n = code->workload->n_launches;
  recording *r;
  uint32_t *group = HD_NEW_N(&m->arena, (size_t)n + 1, uint32_t);
  double *units = HD_NEW_N(&m->arena, (size_t)n + 1, double);
  m->launches = HD_NEW_N(&m->arena, (size_t)n + 1, sample_launch);
  m->use = HD_NEW_N(&m->arena, (size_t)n + 1, launch_use);
  m->like = HD_NEW_N(&m->arena, (size_t)n + 1, uint32_t);
  if (!group || !units || !m->launches || !m->use || !m->like) return hd_nomem(d);
  sample_basis *b = m->basis;
  const bool between = b->steering.kind == STEERED_BETWEEN;
  const uint32_t whole = between ? WHOLE_STEERED : WHOLE;
  group_row(code, whole, group);
  m->row = (launch_row){.n = n, .known = n, .whole = whole, .group = group, .units = units};
  hd_status st =
      b->contents ? HD_OK : record_contents(code->workload, b->steering.reads_data, &b->contents, d);
  if (st == HD_OK)
    st = record_open(code, NULL, run, &(record_options){.contents = b->contents, .like = group}, &r, d);
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

hd_status sample_make(const hd_compiled *code, const hd_run_options *run, const hd_study_options *o,
                      const sample *like, sample **out, hd_diag *d) {
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
  if (possible) st = make(code, run, o, m, s, d);
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
