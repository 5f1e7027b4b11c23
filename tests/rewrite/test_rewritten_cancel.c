/* bind=cancel on the emulator: CTAs take over others that have not started, and each task is done once. */
#include "check.h"

#include "rewrite/generated.h"

/* ---- One kernel, rewritten --------------------------------------------------------------------- */

typedef struct trial {
  const char *text, *plan;
  gen_launch launch;
  hd_rewrite_options options;
  hd_dispatch_kind how;
} trial;

/* HD_ERR_REFUSED, with the reason, or the CTAs that were started, of a kernel that left the same bytes. */
static hd_status run(const trial *t, uint64_t *started, hd_diag *d) {
  hd_plan p;
  hd_arena arena;
  gen_machine before = {0}, after = {0};
  hd_ptx_module *original, *m;
  hd_recipe none = {0}, recipe = {0};
  hd_buf want = {0}, got = {0}, printed = {0};
  hd_arena_init(&arena);
  hd_status st = hd_plan_parse(t->plan, &p, d);
  if (st == HD_OK) st = hd_ptx_parse(t->text, strlen(t->text), "original", &arena, &original, d);
  if (st == HD_OK) st = hd_ptx_parse(t->text, strlen(t->text), "rewritten", &arena, &m, d);
  const bool parsed = st == HD_OK;
  if (st == HD_OK) st = hd_rewrite(m, 0, &p, &t->options, &recipe, d);
  if (st == HD_OK) {
    st = hd_ptx_print(m, &printed);
    if (st == HD_OK) st = hd_ptx_parse(printed.data, printed.len, "printed", &arena, &m, d);
    if (st == HD_OK) st = gen_open(&t->launch, HD_CHECK_ALL, &before, d);
    if (st == HD_OK) st = gen_open(&t->launch, HD_CHECK_ALL, &after, d);
    if (st == HD_OK) st = gen_run(&before, original, &t->launch, &none, HD_DISPATCH_ROUND_ROBIN, &want, d);
    if (st == HD_OK) st = gen_run(&after, m, &t->launch, &recipe, t->how, &got, d);
    if (st == HD_OK && (want.len != got.len || memcmp(want.data, got.data, want.len) != 0))
      st = hd_fail(d, HD_ERR_FAULT, "the bytes differ");
    if (st != HD_OK)
      fail_msg("%s under %s, grid %ux%ux%u, block %ux%ux%u: %s\n%s", t->plan, hd_dispatch_name(t->how),
               t->launch.grid[0], t->launch.grid[1], t->launch.grid[2], t->launch.block[0],
               t->launch.block[1], t->launch.block[2], d->message, printed.data);
    /* The launch is the original's but for shared memory. */
    assert_false(recipe.agents || recipe.state_bytes || recipe.grid);
  }
  if (!parsed) fail_msg("%s: %s", t->plan, d->message);
  *started = after.ctas;
  hd_buf_free(&want);
  hd_buf_free(&got);
  hd_buf_free(&printed);
  if (before.emu) hd_emu_destroy(before.emu);
  if (after.emu) hd_emu_destroy(after.emu);
  hd_arena_free(&arena);
  return st;
}

/* The kernel's text for another GPU than the generator's. */
static void retarget(const hd_buf *drawn, const char *head, hd_buf *out) {
  hd_buf_puts(out, head);
  hd_buf_puts(out, strstr(drawn->data, ".address_size"));
}
#define NEWER ".version 8.6\n.target sm_100\n"

/* ---- Drawn kernels ------------------------------------------------------------------------------- */

enum { BYTES = 96 };

static void draw_trial(uint64_t seed, void kernel(gen_source *, hd_buf *), trial *t, hd_buf *text,
                       hd_buf *plan) {
  uint8_t bytes[BYTES];
  hd_buf drawn = {0};
  for (unsigned i = 0; i < BYTES; i++) bytes[i] = (uint8_t)hd_random_at(seed, i);
  gen_source s = {bytes, bytes + BYTES};
  t->launch = gen_draw_launch(&s);
  t->options = gen_draw_options(&s, &t->launch);
  t->how = (hd_dispatch_kind)gen_below(&s, HD_DISPATCH_COUNT);
  hd_buf_puts(plan, "bind=cancel,order=");
  gen_draw_order(&s, plan);
  if (gen_below(&s, 4) == 0) {
    hd_buf_printf(plan, ",shape=%ux%u:", 1 + gen_below(&s, 14), 1 + gen_below(&s, 9));
    gen_draw_order(&s, plan);
  }
  if (gen_below(&s, 5) == 0) hd_buf_puts(plan, gen_below(&s, 2) ? ",bypass=l1:1" : ",threads=cta:reverse");
  kernel(&s, &drawn);
  retarget(&drawn, NEWER, text);
  hd_buf_free(&drawn);
  t->text = text->data;
  t->plan = plan->data;
}

/* Returns how many were rewritten. *fewer: of how many not all CTAs were started. */
static unsigned run_drawn(uint64_t first, unsigned n, void kernel(gen_source *, hd_buf *), unsigned *fewer) {
  unsigned rewritten = 0;
  for (uint64_t seed = first; seed < first + n; seed++) {
    hd_buf text = {0}, plan = {0};
    hd_diag d = {0};
    hd_plan p;
    trial t;
    uint64_t started = 0;
    draw_trial(seed, kernel, &t, &text, &plan);
    const bool makes_sense = hd_plan_parse(plan.data, &p, &d) == HD_OK;
    if (makes_sense && run(&t, &started, &d) == HD_OK) {
      rewritten++;
      *fewer += started < gen_product(t.launch.grid);
    }
    hd_buf_free(&text);
    hd_buf_free(&plan);
  }
  return rewritten;
}

static void drawn_kernels_compute_the_same(void **state) {
  unsigned fewer = 0;
  assert_true(run_drawn(1, 300, gen_draw_kernel, &fewer) > 150);
  assert_true(fewer > 60);
}

static void kernels_whose_warps_end_apart_compute_the_same(void **state) {
  unsigned fewer = 0;
  assert_true(run_drawn(5000, 100, gen_draw_parting_kernel, &fewer) > 40);
  assert_true(fewer > 20);
}

/* ---- Hard cases ------------------------------------------------------------------------------------ */

/* Each thread adds its task's number to what its neighbour left in shared memory. */
#define NEIGHBOURS                                                                                           \
  "\tmov.u32 %r19, box;\n\tmad.lo.u32 %r20, %r2, 4, %r19;\n\tst.shared.u32 [%r20], %r0;\n\tbar.sync 0;\n"    \
  "\tadd.u32 %r21, %r2, 1;\n\trem.u32 %r21, %r21, %r14;\n\tmad.lo.u32 %r21, %r21, 4, %r19;\n"                \
  "\tld.shared.u32 %r17, [%r21];\n\tmad.lo.u32 %r1, %r1, 7, %r17;\n"

static void put_kernel(const char *head, const char *body, hd_buf *text) {
  hd_buf drawn = {0};
  gen_begin(true, &drawn);
  hd_buf_puts(&drawn, body);
  gen_end(&drawn);
  retarget(&drawn, head, text);
  hd_buf_free(&drawn);
}

static void every_grid_is_done_by_the_ctas_that_start_first(void **state) {
  static const uint32_t grids[][3] = {{1, 1, 1}, {13, 1, 1}, {2, 1, 1}, {1, 7, 1},
                                      {1, 1, 5}, {7, 5, 3},  {12, 6, 1}};
  static const char *const plans[] = {"bind=cancel", "order=col,bind=cancel", "order=tile:3x2,bind=cancel",
                                      "order=hilbert,bind=cancel", "order=reverse,bind=cancel"};
  hd_buf text = {0};
  put_kernel(NEWER, NEIGHBOURS, &text);
  for (unsigned n = 0; n < sizeof grids / sizeof *grids; n++)
    for (unsigned k = 0; k < 2 * sizeof plans / sizeof *plans; k++)
      for (unsigned how = 0; how < HD_DISPATCH_COUNT; how++) {
        trial t = {.text = text.data,
                   .plan = plans[k / 2],
                   .launch = {.block = {k % 3 ? 70 : 20, 1, 1}},
                   .options = {.grid = {.known = k % 2, .n_sms = 6}},
                   .how = (hd_dispatch_kind)how};
        uint64_t started = 0;
        hd_diag d = {0};
        memcpy(t.launch.grid, grids[n], sizeof t.launch.grid);
        memcpy(t.options.grid.g, grids[n], sizeof t.options.grid.g);
        if (run(&t, &started, &d) != HD_OK) fail_msg("%s: %s", t.plan, d.message);
        assert_in_range(started, 1, gen_product(grids[n]));
        /* The first one runs alone, and takes all others over. */
        if (how == HD_DISPATCH_SERIAL) assert_int_equal(started, 1);
      }
  hd_buf_free(&text);
}

/* A launch can put any kernel into clusters: an answer would then name one, and not a CTA. */
static void in_clusters_each_cta_does_its_own_task(void **state) {
  hd_buf text = {0};
  put_kernel(NEWER, NEIGHBOURS, &text);
  for (unsigned how = 0; how < HD_DISPATCH_COUNT; how++) {
    const trial t = {.text = text.data,
                     .plan = "order=reverse,bind=cancel",
                     .launch = {.grid = {6, 4, 1}, .block = {64, 1, 1}, .cluster = {2, 2, 1}},
                     .options = {.grid = {.known = how % 2, .g = {6, 4, 1}, .n_sms = 6}},
                     .how = (hd_dispatch_kind)how};
    uint64_t started = 0;
    hd_diag d = {0};
    if (run(&t, &started, &d) != HD_OK) fail_msg("%s", d.message);
    assert_int_equal(started, 24);
  }
  hd_buf_free(&text);
}

/* Dynamic shared memory lies behind the answer, and begins where it did but for whole boundaries. */
static void dynamic_shared_memory_keeps_its_boundary(void **state) {
  static const char kernel[] = NEWER
      ".address_size 64\n.extern .shared .align 16 .b8 more[];\n.visible .entry k(.param .u64 out)\n{\n"
      ".reg .b32 %r<4>;\nmov.u32 %r0, more; mov.u32 %r1, %ctaid.x; st.shared.u32 [%r0], %r1;\nret;\n}\n";
  hd_arena arena;
  hd_ptx_module *m;
  hd_plan p;
  hd_recipe recipe;
  hd_diag d = {0};
  const hd_rewrite_options o = {.grid = {.n_sms = 6}};
  hd_arena_init(&arena);
  assert_int_equal(hd_plan_parse("bind=cancel", &p, &d), HD_OK);
  assert_int_equal(hd_ptx_parse(kernel, strlen(kernel), "k", &arena, &m, &d), HD_OK);
  assert_int_equal(hd_rewrite(m, 0, &p, &o, &recipe, &d), HD_OK);
  assert_int_equal(recipe.shared_bytes, 1024);
  hd_arena_free(&arena);
}

/* ---- Refusals ----------------------------------------------------------------------------------------- */

static void kernels_that_it_is_not_for_are_refused_by_name(void **state) {
  static const struct {
    const char *head, *body, *why;
  } cases[] = {
      {".version 8.6\n.target sm_90a\n", "", "which needs sm_100: the module is for sm_90"},
      {".version 7.8\n.target sm_80\n", "", "which needs sm_100: the module is for sm_80"},
      {".version 8.5\n.target sm_100\n", "", "needs PTX ISA 8.6, and the module is written in 8.5"},
      {NEWER, "\t.shared .align 4 .b8 rest[48100];\n\tmov.u32 %r17, rest;\n",
       "no room for the hardware's answer"},
      {NEWER, "\tmov.u32 %r17, %total_smem_size;\n", "how much shared memory it has"},
      {NEWER, "\tgriddepcontrol.launch_dependents;\n", "let the next launch begin"},
      {NEWER, "\tsetp.gt.u32 %p3, %r1, 7;\n\t@%p3 ret;\n\tbar.sync 0;\n", "some lanes of a warp may end"},
      {NEWER, "\t.shared .align 8 .b64 bar;\n\tmbarrier.init.shared.b64 [bar], 1;\n",
       "leaves behind what the next task of the same worker would meet"},
      {NEWER,
       "\t.shared .align 16 .b8 m[32];\n"
       "\tclusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [m+16], [m];\n",
       "takes over CTAs that were not launched yet"},
      {NEWER, "\tmov.u32 %r17, %smid;\n", "depends on where and when the CTA runs"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_buf text = {0};
    hd_diag d = {0};
    uint64_t started;
    put_kernel(cases[i].head, cases[i].body, &text);
    const trial t = {.text = text.data,
                     .plan = "bind=cancel",
                     .launch = {.grid = {3, 1, 1}, .block = {64, 1, 1}},
                     .options = {.grid = {.n_sms = 6}}};
    const hd_status st = run(&t, &started, &d);
    if (st != HD_ERR_REFUSED || !strstr(d.message, cases[i].why))
      fail_msg("%s: status %d: %s", cases[i].why, st, d.message);
    hd_buf_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("drawn kernels compute the same", drawn_kernels_compute_the_same),
      BEHAVIOUR("kernels whose warps end apart compute the same",
                kernels_whose_warps_end_apart_compute_the_same),
      BEHAVIOUR("every grid is done by the CTAs that start first",
                every_grid_is_done_by_the_ctas_that_start_first),
      BEHAVIOUR("in clusters each CTA does its own task", in_clusters_each_cta_does_its_own_task),
      BEHAVIOUR("dynamic shared memory keeps its boundary", dynamic_shared_memory_keeps_its_boundary),
      BEHAVIOUR("kernels that it is not for are refused by name",
                kernels_that_it_is_not_for_are_refused_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
