/* Advice on workloads: CLU's categories, orders from traces, proposals that keep what they promise. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/advise.h"
#include "predict/session.h"

/* ---- Categories ------------------------------------------------------------------------ */

/* CLU's table 2, in workload.toml; and the measured category where it differs: docs/categories.md says
 * why. */
static const struct {
  const char *name, *measured;
} applications[] = {
    {"atax", NULL},
    {"backprop", NULL},
    {"bfs", NULL},
    {"bfs-grid", NULL},
    {"bicg", NULL},
    {"black-scholes", NULL},
    {"btree", NULL},
    {"conv3d", NULL},
    {"dct8x8", "cache-line"},
    {"dxtc", NULL},
    {"histogram", NULL},
    {"hotspot", NULL},
    {"image-denoising", NULL},
    {"kmeans", "data"},
    {"matmul-tiled", NULL},
    {"monte-carlo", NULL},
    {"mvt", NULL},
    {"nbody", "streaming"},
    {"nn", NULL},
    {"nw", NULL},
    {"sad", NULL},
    {"sgemm", NULL},
    {"syr2k", NULL},
    {"syrk", NULL},
};

static void categories_are_those_of_clu_table_2(void **state) {
  skip_without_compiler();
  const hd_advise_options o = {.no_race_check = true, .no_proposals = true, .run = {.machine.threads = 2}};
  for (size_t i = 0; i < sizeof applications / sizeof *applications; i++) {
    session z = open_session(applications[i].name, "small", "gtx580");
    hd_advice a;
    hd_diag d = {0};
    if (hd_advise(z.w, z.s, &z.g, &o, &a, &d) != HD_OK) fail_msg("%s: %s", z.w->name, d.message);
    const char *want = applications[i].measured ? applications[i].measured : z.w->category;
    hd_buf got = {0};
    hd_category_print(a.category, &got);
    if (strcmp(got.data, want) != 0) fail_msg("%s: %s, not %s: %s", z.w->name, got.data, want, a.evidence);
    assert_true(strlen(a.evidence) > 40);
    hd_buf_free(&got);
    hd_advice_free(&a);
    close_session(&z);
  }
}

static void categories_are_read_as_they_are_printed(void **state) {
  for (unsigned c = 1; c < 1u << HD_CATEGORIES; c++) {
    hd_buf b = {0};
    hd_category_print(c, &b);
    assert_int_equal(hd_category_parse(b.data), c);
    hd_buf_free(&b);
  }
  static const char *const wrong[] = {"", "+", "data+", "+data", "data++write", "dat", "datas", "data,write"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_int_equal(hd_category_parse(wrong[i]), 0);
}

/* ---- Orders from traces --------------------------------------------------------------------- */

/* A cache of its own, empty. */
static char cache[64];
static int use_own_cache(void **state) {
  strcpy(cache, "/tmp/heddle-test-XXXXXX");
  return mkdtemp(cache) && setenv("XDG_CACHE_HOME", cache, 1) == 0 ? 0 : -1;
}
static int remove_cache(void **state) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", cache);
  return system(command);
}

/* The order that undoes spmm-community's strewing: task block_of[b] stands where b did. */
static hd_table community_order(const hd_workload *w) {
  void **bytes = calloc(w->n_buffers, sizeof *bytes);
  bool *written = calloc(w->n_buffers, sizeof *written);
  assert_true(bytes && written);
  uint32_t blocks = UINT32_MAX;
  for (uint32_t i = 0; i < w->n_buffers; i++) {
    bytes[i] = calloc(1, w->buffers[i].bytes);
    assert_non_null(bytes[i]);
    if (strcmp(w->buffers[i].name, "block_of") == 0) blocks = i;
  }
  assert_true(blocks < w->n_buffers);
  assert_int_equal(hd_workload_fill_all(w, bytes, written, NULL), HD_OK);
  hd_table scattered = {bytes[blocks], w->buffers[blocks].count}, out;
  assert_int_equal(hd_table_invert(&scattered, &out, NULL), HD_OK);
  for (uint32_t i = 0; i < w->n_buffers; i++) free(bytes[i]);
  free(bytes);
  free(written);
  return out;
}

static uint64_t dram(const session *z, const hd_table *order) {
  hd_model *m;
  hd_counters c;
  hd_replay_options o = {.order = order, .dispatch = {.kind = z->g.dispatch}, .registers = 32};
  assert_int_equal(hd_model_create(&z->g, &m, NULL), HD_OK);
  assert_int_equal(hd_model_replay(m, hd_study_trace(z->s, 0), &o, &c, NULL), HD_OK);
  hd_model_destroy(m);
  return c.dram_read_bytes + c.dram_write_bytes;
}

/* spmm-community with 4096 rows: enough that lines at the edges of rows do not count. */
static session open_communities(char folder[32]) {
  char command[1024];
  strcpy(folder, "/tmp/heddle-test-XXXXXX");
  assert_non_null(mkdtemp(folder));
  snprintf(command, sizeof command,
           "sed -e '/^.sizes.small/,/^$/{s/rows = .*/rows = 4096/;s/community = .*/community = 128/;s/degree "
           "= .*/degree = 32/;"
           "s/width = .*/width = 64/}' -e "
           "'s#\"\\(kernel.cu\\|reference.c\\)\"#\"%s/kernels/spmm-community/\\1\"#' "
           "%s/kernels/spmm-community/workload.toml > %s/workload.toml",
           SOURCE_DIR, SOURCE_DIR, folder);
  assert_int_equal(system(command), 0);
  session z = open_session(folder, "small", "h100");
  assert_int_equal(z.w->launches[0].grid[0], 512);
  return z;
}

static void affinity_finds_the_communities_that_the_grid_hides(void **state) {
  skip_without_compiler();
  char folder[32], command[64];
  session z = open_communities(folder);
  /* In proportion to the data, as 2^18 rows are to an H100: a few SMs, 1/8 of the dense matrix in L2. */
  z.g.n_sms = 8;
  z.g.max_ctas = 2;
  z.g.l2.bytes = 128 << 10;
  z.g.l2.ways = 16;
  z.g.l2_parts = 1;
  z.g.l1_unified = false;
  z.g.l1.bytes = 2 << 10;
  z.g.l1.ways = 4;
  hd_table affinity, truth = community_order(z.w);
  assert_int_equal(hd_order_table(z.w, 0, NULL, HD_ORDER_AFFINITY, z.s, &affinity, NULL), HD_OK);
  uint64_t baseline = dram(&z, NULL), found = dram(&z, &affinity), best = dram(&z, &truth);
  print_message("DRAM bytes: %llu by default, %llu by affinity, %llu by community\n",
                (unsigned long long)baseline, (unsigned long long)found, (unsigned long long)best);
  assert_true(best * 4 < baseline * 3);
  assert_true(found * 10 <= best * 11);
  hd_table_free(&affinity);
  hd_table_free(&truth);
  close_session(&z);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
}

static void a_table_is_made_once_and_again_when_its_file_is_damaged(void **state) {
  skip_without_compiler();
  session z = open_session("spmm-community", "tiny", "h100");
  hd_table first, second, third;
  assert_int_equal(hd_order_table(z.w, 0, NULL, HD_ORDER_HEAVY_FIRST, z.s, &first, NULL), HD_OK);
  assert_int_equal(hd_order_table(z.w, 0, NULL, HD_ORDER_HEAVY_FIRST, NULL, &second, NULL), HD_OK);
  assert_memory_equal(first.task, second.task, first.n * sizeof *first.task);
  char command[256];
  snprintf(command, sizeof command, "f=$(ls %s/heddle/*.table | head -n 1) && test -s $f && printf x > $f",
           cache);
  assert_int_equal(system(command), 0);
  assert_int_equal(hd_order_table(z.w, 0, NULL, HD_ORDER_HEAVY_FIRST, NULL, &third, NULL), HD_OK);
  assert_memory_equal(first.task, third.task, first.n * sizeof *first.task);
  hd_table_free(&first);
  hd_table_free(&second);
  hd_table_free(&third);
  close_session(&z);
}

static void plans_with_orders_from_traces_are_proved_without_further_ado(void **state) {
  skip_without_compiler();
  static const char *const plans[] = {"order=affinity", "order=heavy-first", "order=affinity,bind=redirect"};
  hd_workload *w;
  hd_diag d = {0};
  const hd_dispatch_kind one = HD_DISPATCH_SHUFFLED;
  const hd_check_options o = {.dispatchers = &one, .n_dispatchers = 1, .run = {.machine.threads = 2}};
  assert_int_equal(hd_workload_open("spmm-community", SOURCE_DIR "/kernels", "tiny", &w, &d), HD_OK);
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    hd_plan p;
    hd_check_result r;
    assert_int_equal(hd_plan_parse(plans[i], &p, &d), HD_OK);
    if (hd_check(w, &p, &o, &r, &d) != HD_OK) fail_msg("%s: %s", plans[i], d.message);
    if (!r.equal) fail_msg("%s: %s", plans[i], r.what);
  }
  hd_workload_close(w);
}

/* ---- Proposals -------------------------------------------------------------------------------- */

static void every_proposal_keeps_what_it_predicts(void **state) {
  skip_without_compiler();
  static const char *const names[] = {"dct8x8", "matmul-naive", "spmm-community"};
  unsigned proposed = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    session z = open_session(names[i], "small", "gtx580");
    const hd_advise_options o = {.run = {.machine.threads = 2}, .no_race_check = true};
    hd_advice a;
    hd_diag d = {0};
    if (hd_advise(z.w, z.s, &z.g, &o, &a, &d) != HD_OK) fail_msg("%s: %s", names[i], d.message);
    for (uint32_t k = 0; k < a.n_proposals; k++) {
      const hd_proposal *p = &a.proposals[k];
      hd_counters c;
      assert_true(p->reason[0] != 0);
      assert_int_equal(hd_plan_check(&p->plan, &d), HD_OK);
      if (!p->predicted) continue;
      if (hd_study_replay(z.s, &z.g, &p->plan, 0, 0, &c, &d) != HD_OK) fail_msg("%s", d.message);
      assert_memory_equal(&c, &p->counters, sizeof c);
      assert_true(c.time_us < a.baseline.time_us ||
                  hd_counters_traffic(&c) < hd_counters_traffic(&a.baseline));
      assert_true(k == 0 || !a.proposals[k - 1].predicted ||
                  a.proposals[k - 1].counters.time_us <= 1.002 * c.time_us);
      proposed++;
    }
    hd_advice_free(&a);
    close_session(&z);
  }
  assert_true(proposed >= 3);
}

static void a_race_makes_the_order_not_free_and_leaves_no_proposals(void **state) {
  skip_without_compiler();
  char folder[] = "/tmp/heddle-test-XXXXXX", path[128], command[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/kernel.cu", folder);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs("extern \"C\" __global__ void chain(int *a) {\n"
        "  if (threadIdx.x == 0) a[blockIdx.x + 1] = a[blockIdx.x] + 1;\n}\n",
        f);
  assert_int_equal(fclose(f), 0);
  snprintf(path, sizeof path, "%s/workload.toml", folder);
  assert_non_null(f = fopen(path, "w"));
  fputs("title = \"Each CTA reads what the last one wrote\"\nsource = \"kernel.cu\"\n[sizes.small]\nn = 16\n"
        "[[buffer]]\nname = \"a\"\ntype = \"s32\"\ncount = \"n + 1\"\nfill = \"zero\"\ncompare = \"exact\"\n"
        "[[launch]]\nkernel = \"chain\"\ngrid = [\"n\"]\nblock = [32]\nargs = [\"a\"]\n",
        f);
  assert_int_equal(fclose(f), 0);
  session z = open_session(folder, "small", "gtx580");
  hd_advice a;
  assert_int_equal(hd_advise(z.w, z.s, &z.g, NULL, &a, NULL), HD_OK);
  assert_int_equal(a.order_free, HD_ORDER_FREE_NO);
  assert_true(strlen(a.order_why) > 10);
  assert_int_equal(a.n_proposals, 0);
  assert_true(a.category & HD_CATEGORY_WRITE);
  hd_advice_free(&a);
  close_session(&z);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
}

/* Proposals of every kind for a kernel that begins with a statement; how many bind to agents. */
static uint32_t count_agents(const char *first, uint32_t *all) {
  char folder[] = "/tmp/heddle-test-XXXXXX", path[128], command[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/kernel.cu", folder);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f,
          "extern \"C\" __global__ void rows(const float *a, float *b) {\n"
          "  __shared__ float s[64];\n  %s\n  float x = 0;\n"
          "  for (int k = 0; k < 16; k++) x += a[(blockIdx.y * 16 + k) * 64 + threadIdx.x];\n"
          "  s[threadIdx.x] = x;\n  __syncthreads();\n"
          "  b[(blockIdx.y * 16 + blockIdx.x) * 64 + threadIdx.x] = s[47 - threadIdx.x %% 48];\n}\n",
          first);
  assert_int_equal(fclose(f), 0);
  snprintf(path, sizeof path, "%s/workload.toml", folder);
  assert_non_null(f = fopen(path, "w"));
  fputs("title = \"CTAs of a row read the same\"\nsource = \"kernel.cu\"\n[sizes.small]\nn = 16\n"
        "[[buffer]]\nname = \"a\"\ntype = \"f32\"\ncount = \"n * 16 * 64\"\nfill = \"uniform(-1, 1)\"\n"
        "[[buffer]]\nname = \"b\"\ntype = \"f32\"\ncount = \"n * 16 * 64\"\nfill = \"zero\"\ncompare = "
        "\"exact\"\n"
        "[[launch]]\nkernel = \"rows\"\ngrid = [16, 16]\nblock = [64]\nargs = [\"a\", \"b\"]\n",
        f);
  assert_int_equal(fclose(f), 0);
  session z = open_session(folder, "small", "gtx580");
  hd_advice a;
  hd_diag d = {0};
  hd_advise_options o = {.no_race_check = true, .no_predictions = true, .no_experiments = true};
  if (hd_advise(z.w, z.s, &z.g, &o, &a, &d) != HD_OK) fail_msg("%s", d.message);
  uint32_t agents = 0;
  for (uint32_t i = 0; i < a.n_proposals; i++) agents += a.proposals[i].plan.bind == HD_BIND_AGENTS;
  *all = a.n_proposals;
  hd_advice_free(&a);
  close_session(&z);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
  return agents;
}

static void nothing_is_proposed_that_the_rewriter_refuses(void **state) {
  skip_without_compiler();
  uint32_t all;
  assert_true(count_agents("", &all) > 0);
  assert_true(count_agents("if (threadIdx.x >= 32) return;", &all) > 0);
  assert_int_equal(count_agents("if (threadIdx.x < 32) asm volatile(\"bar.sync 1, 32;\");", &all), 0);
  assert_true(all > 0);
}

/* Tuning makes no tables for them: a trace of clusters at a size for GPUs took minutes, for orders that are
 * refused. */
static void clusters_take_orders_that_are_no_tables(void **state) {
  hd_workload *w;
  hd_plan_space s;
  hd_diag d = {0};
  assert_int_equal(hd_workload_open("gemm-bf16-cluster", SOURCE_DIR "/kernels", "tiny", &w, &d), HD_OK);
  if (hd_advise_space(w, 0, NULL, &s, &d) != HD_OK) fail_msg("%s", d.message);
  assert_true(s.can_order && s.clusters);
  assert_false(s.can_loop);
  hd_workload_close(w);
}

/* Of the sparse product's loads those of values and columns, of which rows share little, go past L1. */
static void advice_lists_the_loads_least_asked_for_again(void **state) {
  skip_without_compiler();
  session z = open_session("matvec-sum", "tiny", "gtx580");
  hd_advice a;
  hd_diag d = {0};
  hd_advise_options o = {.no_race_check = true, .no_predictions = true, .no_experiments = true};
  if (hd_advise(z.w, z.s, &z.g, &o, &a, &d) != HD_OK) fail_msg("%s", d.message);
  uint32_t alone = 0, both = 0;
  for (uint32_t i = 0; i < a.n_proposals; i++) {
    const hd_plan *p = &a.proposals[i].plan;
    if (p->stream.kind != HD_STREAM_LOADS) continue;
    assert_true(hd_numbers_count(&p->stream.loads) > 0);
    alone += p->bypass.kind == HD_BYPASS_NONE;
    both += p->bypass.kind == HD_BYPASS_L1;
  }
  assert_true(alone > 0);
  assert_true(both <= alone);
  hd_advice_free(&a);
  close_session(&z);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("categories are those of CLU's table 2", categories_are_those_of_clu_table_2),
      BEHAVIOUR("categories are read as they are printed", categories_are_read_as_they_are_printed),
      {"affinity finds the communities that the grid hides",
       affinity_finds_the_communities_that_the_grid_hides, use_own_cache, remove_cache, NULL},
      {"a table is made once, and again when its file is damaged",
       a_table_is_made_once_and_again_when_its_file_is_damaged, use_own_cache, remove_cache, NULL},
      {"plans with orders from traces are proved without further ado",
       plans_with_orders_from_traces_are_proved_without_further_ado, use_own_cache, remove_cache, NULL},
      BEHAVIOUR("every proposal keeps what it predicts", every_proposal_keeps_what_it_predicts),
      BEHAVIOUR("a race makes the order not free and leaves no proposals",
                a_race_makes_the_order_not_free_and_leaves_no_proposals),
      BEHAVIOUR("nothing is proposed that the rewriter refuses",
                nothing_is_proposed_that_the_rewriter_refuses),
      BEHAVIOUR("clusters take orders that are no tables", clusters_take_orders_that_are_no_tables),
      BEHAVIOUR("advice lists the loads that are least asked for again",
                advice_lists_the_loads_least_asked_for_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
