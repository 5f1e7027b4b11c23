/* griddepcontrol: which accesses of a grid come behind its wait, and behind its permission for later grids.
 */
#include "check.h"
#include "heddle/emu.h"

#include <stdio.h>
#include <string.h>

/* %t is the thread's number, %a the address of zeros, %bar that of an mbarrier, %s of shared memory. */
#define HEAD                                                                                                 \
  ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"                     \
  ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b32 %t, %bar, %s; .reg .b64 %a, %d; "                            \
  ".shared .align 8 .b64 bar; .shared .b32 s;\n"                                                             \
  "ld.param.u64 %a, [a]; mov.u32 %t, %tid.x; mov.u32 %bar, bar; mov.u32 %s, s; setp.eq.u32 %p1, %t, 0;\n"
#define ACCESS "ld.global.u32 %r1, [%a];\n"
#define WAIT "griddepcontrol.wait;\n"
#define LAUNCH "griddepcontrol.launch_dependents;\n"
#define FIRST_WAITS "@!%p1 bra over;\n" WAIT "over:\n"

/* What the loads of global memory looked like: of 64 threads, those that had waited, a bit each. */
typedef struct seen {
  uint32_t waited[2];
  bool launched[2];
  unsigned accesses;
} seen;

static void see(void *ctx, unsigned worker, const hd_access *a) {
  seen *s = ctx;
  (void)worker;
  if (a->kind != HD_ACCESS_LOAD) return;
  s->waited[a->warp] |= a->waited & a->mask;
  s->launched[a->warp] |= a->launched;
  s->accesses++;
}

static hd_emu_stats run(const char *body, unsigned checks, seen *s) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu *e;
  hd_emu_program *p;
  hd_buf text = {0};
  hd_diag d = {0};
  hd_emu_stats stats;
  const hd_emu_options opt = {.threads = 1, .memory = 1 << 22, .n_sms = 1, .checks = checks};
  const hd_emu_hooks hooks = {.ctx = s, .spaces = 1u << HD_SPACE_GLOBAL, .access = see};
  uint64_t a;
  memset(s, 0, sizeof *s);
  hd_buf_printf(&text, "%s%s\nret;\n}\n", HEAD, body);
  hd_arena_init(&arena);
  if (hd_ptx_parse(text.data, text.len, "depend.ptx", &arena, &m, &d) != HD_OK)
    fail_msg("%u: %s", d.line, d.message);
  assert_int_equal(hd_emu_create(&opt, &e, &d), HD_OK);
  assert_int_equal(hd_emu_alloc(e, 256, &a, &d), HD_OK);
  if (hd_emu_load(e, m, &p, &d) != HD_OK) fail_msg("%s", d.message);
  const hd_emu_launch_params l = {
      .kernel = "k", .grid = {1, 1, 1}, .block = {64, 1, 1}, .args = &a, .args_bytes = sizeof a};
  if (hd_emu_launch(p, &l, NULL, &hooks, &stats, &d) != HD_OK) fail_msg("%s", d.message);
  hd_emu_unload(p);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
  hd_buf_free(&text);
  return stats;
}

typedef struct row {
  const char *name, *body;
  uint32_t waited[2]; /* with HD_CHECK_RACE */
  bool launched, any, first;
} row;

#define ALL UINT32_MAX
static const row rows[] = {
    {"nothing", ACCESS, {0, 0}, false, false, false},
    {"behind the wait", WAIT ACCESS, {ALL, ALL}, false, true, true},
    {"before the wait", ACCESS WAIT, {0, 0}, false, true, true},
    {"one thread waits, for itself alone", FIRST_WAITS ACCESS, {1, 0}, false, true, true},
    {"a barrier tells the others", FIRST_WAITS "bar.sync 0;\n" ACCESS, {ALL, ALL}, false, true, true},
    {"a barrier of the warp tells the warp",
     FIRST_WAITS "bar.warp.sync -1;\n" ACCESS,
     {ALL, 0},
     false,
     true,
     true},
    {"an mbarrier tells who waits for it",
     "@%p1 mbarrier.init.shared.b64 [%bar], 1;\nbar.sync 0;\n@!%p1 bra over;\n" WAIT
     "mbarrier.arrive.shared.b64 %d, [%bar];\nover:\nsetp.ge.u32 %p2, %t, 32;\n@!%p2 bra read;\n"
     "again: mbarrier.test_wait.parity.shared.b64 %p3, [%bar], 0;\n@!%p3 bra again;\nread:\n" ACCESS,
     {1, ALL},
     false,
     true,
     true},
    {"behind the launch", LAUNCH ACCESS, {0, 0}, true, false, false},
    {"before another thread's launch", ACCESS LAUNCH, {0, 0}, true, false, false},
    {"before the launch", ACCESS "bar.sync 0;\n" LAUNCH, {0, 0}, false, false, false},
    {"the launch before the wait", LAUNCH WAIT ACCESS, {ALL, ALL}, true, true, false},
    {"the wait before the launch", WAIT LAUNCH ACCESS, {ALL, ALL}, true, true, true},
    {"another thread's launch does not know of the wait",
     "@!%p1 bra over;\n" WAIT "over: @%p1 bra read;\n" LAUNCH "read:\n" ACCESS,
     {1, 0},
     true,
     true,
     false},
};

static void waits_order_who_comes_behind_them(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const row *r = &rows[k];
    seen s;
    const hd_emu_stats stats = run(r->body, HD_CHECK_RACE, &s);
    if (s.waited[0] != r->waited[0] || s.waited[1] != r->waited[1])
      fail_msg("%s: %x and %x had waited, not %x and %x", r->name, s.waited[0], s.waited[1], r->waited[0],
               r->waited[1]);
    if (s.launched[1] != r->launched) fail_msg("%s: launched", r->name);
    if (stats.waited != r->any) fail_msg("%s: waited", r->name);
    if (stats.waited_first != r->first) fail_msg("%s: waited first", r->name);
    assert_int_equal(s.accesses >= 2, 1);
  }
}

static void without_the_check_of_races_a_wait_holds_for_the_whole_cta(void **state) {
  seen s;
  (void)state;
  run(FIRST_WAITS ACCESS, 0, &s);
  assert_int_equal(s.waited[1], ALL);
  run(ACCESS WAIT, 0, &s);
  assert_int_equal(s.waited[0], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a wait for earlier grids orders the threads that come behind it",
                waits_order_who_comes_behind_them),
      BEHAVIOUR("without the check of races a wait holds for the whole CTA",
                without_the_check_of_races_a_wait_holds_for_the_whole_cta),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
