/* Every workload, every order, every binding, every dispatcher. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/plan.h"
#include "session.h"

/* Instrumented builds are some ten times slower: they try each plan on every third workload. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { EVERY = 3 };
#else
enum { EVERY = 1 };
#endif

static const char *const orders[] = {"row",      "col",        "band:3",     "tile:4x2", "tile:3x5",
                                     "zigzag:5", "zigzag:3x2", "stride:5x2", "hilbert",  "reverse"};

/* Bindings and splits that workers learn while they run; agents with and without a limit, SMs that are not
 * there. */
static const char *const claims[] = {
    "bind=claim",
    "order=tile:4x2,bind=claim,split=wave:2",
    "order=col,bind=claim,split=cols",
    "bind=agents",
    "bind=agents:1,split=rows",
    "order=hilbert,bind=agents:2,split=wave:3",
    "order=band:3,bind=agents:3,sms=0-2+7+30-31",
};

static unsigned equal, refused, turn;

static const char *write_table(uint64_t V) {
  static char path[64];
  strcpy(path, "/tmp/heddle-order-XXXXXX");
  int fd = mkstemp(path);
  FILE *f = fdopen(fd, "w");
  /* An affine permutation: the step is odd or even as V allows, and shares no factor with V. */
  uint64_t step = V / 2 + 1;
  for (;;) {
    uint64_t a = step, b = V;
    while (b) {
      uint64_t r = a % b;
      a = b;
      b = r;
    }
    if (a == 1) break;
    step++;
  }
  for (uint64_t i = 0; i < V; i++) fprintf(f, "%llu\n", (unsigned long long)((i * step + 3) % V));
  fclose(f);
  return path;
}

/* A table is made for one grid. */
static bool same_grids(const hd_workload *w) {
  for (uint32_t i = 1; i < w->n_launches; i++)
    if (memcmp(w->launches[i].grid, w->launches[0].grid, sizeof w->launches[0].grid) != 0) return false;
  return true;
}

/* The workload's original, which runs once for all plans. */
typedef struct subject {
  const hd_workload *w;
  hd_checker *checker;
  hd_dispatch dispatches[HD_DISPATCH_COUNT + 1];
  size_t n;
} subject;

static subject open_subject(const hd_workload *w) {
  static const hd_check_options how;
  subject s = {.w = w};
  hd_check_result r;
  hd_diag d = {0};
  if (hd_checker_open(w, &how, &s.checker, &r, &d) != HD_OK) fail_msg("%s: %s", w->name, d.message);
  if (!r.equal) fail_msg("%s: %s", w->name, r.what);
  assert_true(r.race_free);
  assert_true(r.against_reference);
  assert_int_equal(hd_check_dispatches(&how, s.dispatches, &s.n, &d), HD_OK);
  assert_true(s.n >= HD_DISPATCH_COUNT);
  return s;
}

static hd_status check(const subject *s, const hd_plan *p, hd_check_result *r, hd_diag *d) {
  static const hd_run_options run;
  const hd_plan_set set = {.all = *p};
  hd_resolved plans;
  hd_status st = hd_resolve(s->w, &set, &run, NULL, &plans, d);
  if (st != HD_OK) return st;
  st = hd_checker_run(s->checker, &plans, &run, s->dispatches, s->n, r, d);
  hd_resolved_free(&plans);
  return st;
}

static void check_plan(const subject *s, const char *text) {
  if (turn++ % EVERY) return;
  const hd_workload *w = s->w;
  hd_plan p = parse_plan(text);
  hd_diag d = {0};
  hd_check_result r;
  hd_status st = check(s, &p, &r, &d);
  bool table = p.order.kind == HD_ORDER_TABLE;
  if (st == HD_ERR_REFUSED && table && !same_grids(w)) return;
  /* A kernel that must not be reordered, with its instruction, or not by this plan, as it runs in clusters.
   */
  if (st == HD_ERR_REFUSED && (strstr(d.message, "line ") || strstr(d.message, "clusters"))) {
    refused++;
    return;
  }
  if (st != HD_OK) fail_msg("%s, %s: %s", w->name, text, d.message);
  if (!r.equal) fail_msg("%s, %s: %s", w->name, text, r.what);
  assert_int_equal(r.runs, s->n);
  equal++;
}

static void every_plan_is_equal_under_every_dispatcher(void **state) {
  skip_without_compiler();
  char **names;
  size_t n;
  hd_diag d = {0};
  assert_int_equal(hd_workload_list(SOURCE_DIR "/kernels", &names, &n, &d), HD_OK);
  assert_true(n >= 7);
  for (size_t i = 0; i < n; i++) {
    hd_workload *w;
    turn = (unsigned)i;
    if (hd_workload_open(names[i], SOURCE_DIR "/kernels", "tiny", &w, &d) != HD_OK) fail_msg("%s", d.message);
    const subject s = open_subject(w);
    for (unsigned redirect = 0; redirect < 2; redirect++) {
      const char *bind = redirect ? ",bind=redirect" : "";
      char text[128];
      for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        snprintf(text, sizeof text, "order=%s%s", orders[k], bind);
        check_plan(&s, text);
      }
      uint64_t V;
      assert_true(hd_grid_tasks(w->launches[0].grid, &V));
      const char *path = write_table(V);
      snprintf(text, sizeof text, "order=table:%s%s", path, bind);
      check_plan(&s, text);
      remove(path);
    }
    for (size_t k = 0; k < sizeof claims / sizeof *claims; k++) check_plan(&s, claims[k]);
    hd_checker_close(s.checker);
    hd_workload_close(w);
  }
  hd_workload_list_free(names, n);
  print_message("%u plans equal, %u refused\n", equal, refused);
  assert_true(equal > 10 * refused);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every plan is equal under every dispatcher", every_plan_is_equal_under_every_dispatcher),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
