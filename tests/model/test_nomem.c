/* Memory that runs out in model/. */
#include "nomem.h"

#include "subject.h"

static hd_status gpus(void *ctx, hd_diag *d) {
  hd_gpu g;
  char **names;
  size_t n;
  hd_status st = hd_gpu_load("h100", SOURCE_DIR "/gpus", &g, d);
  if (st == HD_OK) st = hd_gpu_load("RTX 4090", SOURCE_DIR "/gpus", &g, d);
  if (st == HD_OK) st = hd_gpu_list(SOURCE_DIR "/gpus", &names, &n, d);
  if (st == HD_OK) hd_gpu_list_free(names, n);
  return st;
}

static hd_status trace(hd_trace **t, hd_diag *d) {
  const uint32_t grid[3] = {12, 1, 1}, block[3] = {64, 1, 1};
  hd_status st = hd_trace_create(grid, block, 1, 0, t, d);
  if (st != HD_OK) return st;
  const hd_emu_hooks *h = hd_trace_hooks(*t);
  for (uint64_t task = 0; task < 12; task++) {
    h->cta_start(h->ctx, 0, task, 0);
    for (uint32_t w = 0; w < 2; w++)
      for (uint32_t i = 0; i < 40; i++)
        synth_put(h, 0, task, w, i, i % 3 ? HD_ACCESS_LOAD : HD_ACCESS_STORE, 4096 * task + 128 * i,
                  4 + 4 * w);
    h->cta_end(h->ctx, 0, task, 100, 3200);
  }
  st = hd_trace_finish(*t, d);
  if (st != HD_OK) hd_trace_destroy(*t);
  return st;
}

static hd_status replay(void *ctx, hd_diag *d) {
  hd_trace *t;
  hd_model *m;
  hd_counters c;
  const hd_gpu g = synth_gpu();
  hd_status st = trace(&t, d);
  if (st != HD_OK) return st;
  st = hd_model_create(&g, &m, d);
  if (st == HD_OK) {
    st = hd_model_replay(m, t, &(hd_replay_options){.dispatch = {.kind = *(const hd_dispatch_kind *)ctx}}, &c,
                         d);
    hd_model_destroy(m);
  }
  hd_trace_destroy(t);
  return st;
}

static hd_status streams(void *ctx, hd_diag *d) {
  const subject *k = ctx;
  const hd_gpu g = round_gpu();
  const hd_replay_options o = {.timed = true, .dispatch = {.kind = HD_DISPATCH_DEMAND}};
  const hd_replay_launch l = {k->trace, &o};
  hd_replay_stream s[2] = {{.launches = &l, .n = 1}, {.launches = &l, .n = 1}};
  hd_model *m;
  hd_status st = hd_model_create(&g, &m, d);
  if (st != HD_OK) return st;
  st = hd_model_replay_streams(m, s, 2, 1, d);
  hd_model_destroy(m);
  return st;
}

static hd_status timeline(void *ctx, hd_diag *d) {
  const subject *k = ctx;
  const hd_gpu g = round_gpu();
  hd_timeline shown = {0};
  hd_counters c;
  hd_model *m;
  hd_status st = hd_model_create(&g, &m, d);
  if (st != HD_OK) return st;
  st = hd_model_replay(m, k->trace, &(hd_replay_options){.timed = true, .timeline = &shown}, &c, d);
  hd_timeline_free(&shown);
  hd_model_destroy(m);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  static const hd_dispatch_kind demand = HD_DISPATCH_DEMAND, linear = 0;
  nomem_expect(&(nomem_entry){"GPU files", gpus, NULL, true});
  nomem_expect(&(nomem_entry){"replay on demand", replay, (void *)&demand, true});
  nomem_expect(&(nomem_entry){"replay", replay, (void *)&linear, true});
  subject k = trace_kernel("add.u32 %r10, %r1, 1;\nst.global.u32 [%rd2], %r10;\n", 4, 32);
  nomem_expect(&(nomem_entry){"streams", streams, &k, true});
  nomem_expect(&(nomem_entry){"timeline", timeline, &k, true});
  drop(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
