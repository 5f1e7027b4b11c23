/* Facts measured in traces, against facts read from the kernels' text. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "heddle/advise.h"
#include "predict/session.h"

/* Instrumented builds go through the same motions on less data: so little that most CTAs lie at an edge of
 * the grid, and only accesses without any condition are regular. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SIZE "tiny"
#define GUARD HD_LEVEL_AFFINE
#define LEAST_AFFINE 1
#else
#define SIZE "small"
#define GUARD HD_LEVEL_QUASI
#define LEAST_AFFINE 100
#endif

/* Where the kernels' text gives every address and every condition as an affine form, traces show accesses
 * that move with the CTA; where it says that an address is loaded from memory, they need not. */
static void text_and_traces_agree_on_what_is_regular(void **state) {
  skip_without_compiler();
  const hd_advise_options o = {
      .no_race_check = true, .no_proposals = true, .launches = 2, .run = {.machine.threads = 2}};
  char **names;
  size_t n;
  unsigned affine = 0, irregular = 0;
  hd_diag d = {0};
  hd_gpu g;
  /* A GPU that every workload fits. */
  assert_int_equal(hd_gpu_load("h100", SOURCE_DIR "/gpus", &g, &d), HD_OK);
  assert_int_equal(hd_workload_list(SOURCE_DIR "/kernels", &names, &n, &d), HD_OK);
  for (size_t i = 0; i < n; i++) {
    hd_workload *w;
    hd_study *s;
    hd_advice a;
    if (hd_workload_open(names[i], SOURCE_DIR "/kernels", SIZE, &w, &d) != HD_OK) fail_msg("%s", d.message);
    if (hd_study_open(w, &o.run, NULL, &s, &d) != HD_OK) fail_msg("%s: %s", names[i], d.message);
    if (hd_advise(w, s, &g, &o, &a, &d) != HD_OK) fail_msg("%s: %s", names[i], d.message);
    /* Where data decides anything, warps may come apart, and make accesses in pieces behind that too. */
    hd_level worst = HD_LEVEL_LAUNCH;
    for (uint32_t k = 0; k < w->n_buffers; k++) {
      if (a.buffers[k].guard > worst) worst = a.buffers[k].guard;
      if (a.buffers[k].address > worst) worst = a.buffers[k].address;
    }
    for (uint32_t k = 0; k < w->n_buffers && !a.unknown_sites; k++) {
      const hd_text_facts *b = &a.buffers[k];
      const hd_pattern_row *p = &a.sum.pattern.arrays[k];
      double regular = p->compared ? (double)p->followed / (double)p->compared : 1;
      if (b->sites && b->address <= HD_LEVEL_AFFINE && worst <= GUARD) {
        if (regular < 0.5)
          fail_msg("%s: %s is affine, but %.2f regular", names[i], w->buffers[k].name, regular);
        affine += p->compared > 0;
      } else if (b->sites && regular < 0.5) {
        irregular++;
      }
    }
    hd_advice_free(&a);
    hd_study_close(s);
    hd_workload_close(w);
  }
  hd_workload_list_free(names, n);
  print_message("%u affine buffers, %u irregular ones\n", affine, irregular);
  assert_true(affine >= LEAST_AFFINE && irregular > 10);
}

/* By the text and the arguments alone: causal attention's last blocks look at the most keys; a kernel may
 * number them backwards itself. */
static void loops_that_grow_with_the_ctas_number_are_seen(void **state) {
  static const struct {
    const char *folder;
    bool grows;
  } cases[] = {{"attention-causal-sm90", true},
               {"attention-causal-sm80", true},
               {"attention-sm90", false},
               {"attention-grouped-sm90", false},
               {"matmul-sm90", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char path[512];
    hd_workload *w;
    hd_plan_space s;
    hd_diag d = {0};
    snprintf(path, sizeof path, "%s/corpus/triton/%s", SOURCE_DIR, cases[i].folder);
    if (hd_workload_open(path, NULL, "small", &w, &d) != HD_OK) fail_msg("%s", d.message);
    if (hd_advise_space(w, 0, NULL, &s, &d) != HD_OK) fail_msg("%s", d.message);
    if (s.grows != cases[i].grows) fail_msg("%s: %d", cases[i].folder, s.grows);
    hd_workload_close(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("text and traces agree on what is regular", text_and_traces_agree_on_what_is_regular),
      BEHAVIOUR("loops that grow with the CTA's number are seen",
                loops_that_grow_with_the_ctas_number_are_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
