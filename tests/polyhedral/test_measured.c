/* Sharing derived from the kernels' text equals the sharing in the emulator's traces, over the suite. */
#include "launches.h"

#include "heddle/predict.h"

/* ---- From a trace: every (line, CTA) -------------------------------------------------------- */

typedef struct pair {
  uint64_t line;
  uint32_t task;
} pair;

typedef struct pairs {
  HD_VEC(pair) list;
  uint64_t start, end; /* of the array */
} pairs;

enum { LINE = 128, MAX_PAIRS = 4000000, MAX_ACCESSES = 400000, MAX_LAUNCHES = 2 };

static void note(void *ctx, const hd_trace_event *e) {
  pairs *p = ctx;
  for (uint32_t i = 0; i < e->n; i++) {
    if (e->start[i] < p->start || e->start[i] >= p->end) continue;
    for (uint64_t l = e->start[i] / LINE; l <= (e->start[i] + e->bytes[i] - 1) / LINE; l++) {
      pair one = {l, (uint32_t)e->task};
      if (p->list.n < MAX_PAIRS) assert_true(hd_vec_push(&p->list, one));
    }
  }
}

static int by_line(const void *pa, const void *pb) {
  const pair *x = pa, *y = pb;
  if (x->line != y->line) return x->line < y->line ? -1 : 1;
  return (x->task > y->task) - (x->task < y->task);
}

static void unique(pairs *p) {
  size_t n = 0;
  if (p->list.n) qsort(p->list.data, p->list.n, sizeof *p->list.data, by_line);
  for (size_t i = 0; i < p->list.n; i++)
    if (!n || by_line(&p->list.data[n - 1], &p->list.data[i]) != 0) p->list.data[n++] = p->list.data[i];
  p->list.n = n;
}

/* Shared pairs and the largest distance along each axis, straight from their definitions. */
static void count(const pairs *p, const uint32_t grid[3], uint64_t shared[3], uint32_t distance[3]) {
  uint64_t step[3] = {1, grid[0], (uint64_t)grid[0] * grid[1]};
  memset(shared, 0, 3 * sizeof *shared);
  memset(distance, 0, 3 * sizeof *distance);
  for (size_t i = 0; i < p->list.n; i++) {
    const pair *x = &p->list.data[i];
    for (uint32_t k = 0; k < 3; k++) {
      uint64_t left = grid[k] - 1 - x->task / step[k] % grid[k];
      for (uint64_t far = left; far > 0; far--) {
        if (far != 1 && far <= distance[k]) {
          far = 2;
          continue;
        }
        pair other = {x->line, (uint32_t)(x->task + far * step[k])};
        if (!bsearch(&other, p->list.data, p->list.n, sizeof other, by_line)) continue;
        if (far > distance[k]) distance[k] = (uint32_t)far;
        if (far == 1) shared[k]++;
      }
    }
  }
}

/* ---- Comparing -------------------------------------------------------------------------------- */

typedef struct tally {
  uint32_t workloads, arrays, exact, by_isl, wrong;
} tally;

static void compare_array(const char *name, const hd_polyhedral_array *a, const hd_trace *trace,
                          const hd_reuse_array *where, const uint32_t grid[3], tally *t) {
  hd_diag d;
  pairs p = {.start = where->start, .end = where->start + where->bytes};
  assert_int_equal(where->start % LINE, 0);
  assert_int_equal(hd_trace_walk(trace, 0, hd_trace_tasks(trace), note, &p, &d), HD_OK);
  assert_true(p.list.n < MAX_PAIRS);
  unique(&p);
  uint64_t shared[3];
  uint32_t distance[3];
  count(&p, grid, shared, distance);
  bool same = memcmp(distance, a->distance, sizeof distance) == 0 &&
              (!a->counted || (a->pairs == p.list.n && memcmp(shared, a->shared, sizeof shared) == 0));
  t->exact++;
  t->by_isl += a->by_isl;
  t->wrong += !same;
  if (!same)
    print_message(
        "%s, %s: %zu pairs, shared %" PRIu64 " %" PRIu64 " %" PRIu64 ", distances %u %u %u; from the "
        "code %" PRIu64 " pairs, shared %" PRIu64 " %" PRIu64 " %" PRIu64 ", distances %u %u %u%s\n",
        name, where->name, p.list.n, shared[0], shared[1], shared[2], distance[0], distance[1], distance[2],
        a->pairs, a->shared[0], a->shared[1], a->shared[2], a->distance[0], a->distance[1], a->distance[2],
        a->by_isl ? " by isl" : "");
  hd_vec_free(&p.list);
}

static void compare_launch(const launches *l, const hd_study *study, uint32_t launch, tally *t) {
  const uint32_t *grid = l->w->launches[launch].grid;
  uint32_t n;
  const hd_reuse_array *arrays = hd_study_arrays(study, &n);
  const hd_trace *trace = hd_study_trace(study, launch);
  if (hd_trace_get_info(trace).warp_accesses > MAX_ACCESSES) return;
  hd_polyhedral p = launches_measure(l, launch, NULL);
  for (uint32_t b = 0; b < n; b++) {
    const hd_polyhedral_array *a = array_of_buffer(&p, b);
    t->arrays += a != NULL;
    if (a && !a->inexact) compare_array(l->w->name, a, trace, &arrays[b], grid, t);
    if (a && a->inexact && getenv("HEDDLE_TEST_VERBOSE"))
      print_message("%s, %s: line %u: %s\n", l->w->name, arrays[b].name, a->line,
                    hd_polyhedral_inexact_text((hd_polyhedral_inexact)a->inexact));
  }
  hd_polyhedral_free(&p);
}

static void compare_workload(const char *name, const char *size, tally *t) {
  launches l;
  hd_diag d;
  hd_study *study = NULL;
  hd_run_options o = {.machine.threads = 1};
  if (launches_open(&l, name, size) && hd_study_open(l.w, &o, NULL, &study, &d) == HD_OK) {
    t->workloads++;
    for (uint32_t i = 0; i < l.w->n_launches && i < MAX_LAUNCHES; i++) compare_launch(&l, study, i, t);
    hd_study_close(study);
  }
  launches_close(&l);
}

static tally compare_all(const char *folder, const char *size) {
  char **names;
  size_t n;
  hd_diag d;
  tally t = {0};
  assert_int_equal(hd_workload_list(folder, &names, &n, &d), HD_OK);
  for (size_t i = 0; i < n; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    compare_workload(path, size, &t);
  }
  hd_workload_list_free(names, n);
  if (getenv("HEDDLE_TEST_VERBOSE"))
    print_message("%u workloads, %u arrays: %u exact, %u with distances by isl, %u wrong\n", t.workloads,
                  t.arrays, t.exact, t.by_isl, t.wrong);
  return t;
}

static void static_equals_measured(void **state) {
  tally t = compare_all(SOURCE_DIR "/kernels", "tiny");
  assert_int_equal(t.wrong, 0);
  assert_true(t.workloads > 40);
  assert_true(t.exact * 4 > t.arrays * 3);
  assert_true(t.by_isl * 3 > t.exact * 2);
}

static void static_equals_measured_for_triton(void **state) {
  tally t = compare_all(SOURCE_DIR "/corpus/triton", NULL);
  assert_int_equal(t.wrong, 0);
  assert_true(t.exact > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR(
          "distances and shares from the code are those of the traces, for every exact array of the suite",
          static_equals_measured),
      BEHAVIOUR("and so they are for Triton's kernels", static_equals_measured_for_triton),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
