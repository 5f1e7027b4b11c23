/* cp.async in flight: the bytes that a wait makes visible, and the threads that see them; generated schedules
 * against a model. */
#include "emu/ops_run.h"

enum { THREADS = 64, WORDS = 8, SHARED = THREADS * WORDS * 4 };

static const char head[] =
    ".version 8.8\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
    ".shared .align 16 .b8 tile[2048];\n"
    ".reg .b32 %w<32>; .reg .b64 %in, %out; .reg .pred %p<4>;\n"
    "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %w0, %tid.x;\n"
    "mad.wide.u32 %in, %w0, 32, %in; mad.wide.u32 %out, %w0, 32, %out; mov.u32 %w1, tile;\n"
    "mad.lo.u32 %w1, %w0, 32, %w1;\n";

/* Thread t has 8 words at %in, %out and %w1 (shared). */
static hd_status run(const char *body, unsigned checks, uint32_t out[THREADS][WORDS], hd_diag *d) {
  static uint32_t in[THREADS][WORDS];
  hd_buf text = {0};
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu *e;
  hd_emu_program *p;
  uint64_t args[2];
  const hd_emu_options opt = {.checks = checks, .threads = 1};
  for (unsigned t = 0; t < THREADS; t++)
    for (unsigned k = 0; k < WORDS; k++) in[t][k] = 1000 * t + k + 1;
  hd_buf_printf(&text, "%s%s\nret;\n}\n", head, body);
  hd_arena_init(&arena);
  op_ok(hd_ptx_parse(text.data, text.len, "test.ptx", &arena, &m, d), d);
  op_ok(hd_emu_create(&opt, &e, d), d);
  op_ok(hd_emu_load(e, m, &p, d), d);
  op_ok(hd_emu_supported(p, "k", d), d);
  for (unsigned k = 0; k < 2; k++) {
    op_ok(hd_emu_alloc(e, sizeof in, &args[k], d), d);
    op_ok(hd_emu_write(e, args[k], in, sizeof in, d), d);
  }
  const hd_emu_launch_params l = {
      .kernel = "k", .grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .args = args, .args_bytes = sizeof args};
  const hd_status st = hd_emu_launch(p, &l, NULL, NULL, NULL, d);
  if (st == HD_OK) op_ok(hd_emu_read(e, args[1], out, sizeof in, d), d);
  hd_emu_unload(p);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
  hd_buf_free(&text);
  return st;
}

/* ---- Schedules --------------------------------------------------------------------------------- */

/* Random copies of words, commits and waits of all threads, or of the odd ones; at the end, without any
 * further wait, each thread reads its words. */
static void waits_make_visible_what_they_cover(void **state) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    static uint32_t out[THREADS][WORDS];
    hd_buf body = {0};
    hd_diag d = {0};
    struct {
      uint32_t word[WORDS];
      unsigned group[WORDS], commits;
      bool pending[WORDS];
    } model[2] = {0}; /* even and odd threads */
    hd_buf_puts(
        &body,
        "and.b32 %w2, %w0, 1; setp.ne.u32 %p1, %w2, 0; setp.eq.u32 %p0, %w2, 0; setp.eq.u32 %p2, 0, 0;\n");
    for (unsigned k = 0; k < WORDS; k++) hd_buf_printf(&body, "st.shared.b32 [%%w1+%u], 0;\n", 4 * k);
    for (unsigned step = 0; step < 24; step++) {
      const uint64_t pick = hd_random_at(seed, step);
      const unsigned who = (unsigned)(pick >> 8) % 3, k = (unsigned)(pick >> 16) % WORDS,
                     n = (unsigned)(pick >> 24) % 3;
      const char *guard = who == 0 ? "@%p0 " : who == 1 ? "@%p1 " : "";
      /* A word that is in flight is left alone: two copies in flight may land in any order. */
      const unsigned what = (unsigned)pick % 8;
      bool busy = false;
      for (unsigned h = 0; h < 2; h++) busy |= (who == 2 || who == h) && model[h].pending[k];
      if (what < 4 && !busy)
        hd_buf_printf(&body, "%scp.async.ca.shared.global [%%w1+%u], [%%in+%u], 4;\n", guard, 4 * k, 4 * k);
      if (what == 4 || what == 5) hd_buf_printf(&body, "%scp.async.commit_group;\n", guard);
      if (what == 6) hd_buf_printf(&body, "%scp.async.wait_group %u;\n", guard, n);
      if (what == 7) hd_buf_printf(&body, "%scp.async.wait_all;\n", guard);
      for (unsigned h = 0; h < 2; h++) {
        if (who != 2 && who != h) continue;
        if (what < 4 && !busy) {
          model[h].pending[k] = true;
          model[h].group[k] = model[h].commits;
        }
        if (what == 4 || what == 5) model[h].commits++;
        for (unsigned j = 0; what >= 6 && j < WORDS; j++) {
          if (!model[h].pending[j] || (what == 6 && model[h].group[j] + n >= model[h].commits)) continue;
          model[h].pending[j] = false;
          model[h].word[j] = j + 1;
        }
      }
    }
    for (unsigned k = 0; k < WORDS; k++)
      hd_buf_printf(&body, "ld.shared.b32 %%w3, [%%w1+%u]; st.global.b32 [%%out+%u], %%w3;\n", 4 * k, 4 * k);
    op_ok(run(body.data, HD_CHECK_BOUNDS, out, &d), &d);
    for (unsigned t = 0; t < THREADS; t++)
      for (unsigned k = 0; k < WORDS; k++) {
        const unsigned h = t & 1;
        const uint32_t want = model[h].pending[k] ? UINT32_MAX : model[h].word[k] ? 1000 * t + k + 1 : 0;
        if (out[t][k] != want)
          fail_msg("seed %llu, thread %u, word %u: %x, not %x", (unsigned long long)seed, t, k, out[t][k],
                   want);
      }
    hd_buf_free(&body);
  }
}

/* All of the same bytes to the same place. */
static void thousands_of_copies_in_flight_still_arrive(void **state) {
  static uint32_t out[THREADS][WORDS];
  hd_diag d = {0};
  op_ok(run("mov.u32 %w2, 0;\nmore:\ncp.async.cg.shared.global [%w1], [%in], 16; cp.async.commit_group;\n"
            "add.u32 %w2, %w2, 1; setp.lt.u32 %p0, %w2, 3000; @%p0 bra more;\ncp.async.wait_group 0;\n"
            "ld.shared.b32 %w3, [%w1+12]; st.global.b32 [%out], %w3;\n",
            HD_CHECK_BOUNDS, out, &d),
        &d);
  for (unsigned t = 0; t < THREADS; t++) assert_int_equal(out[t][0], 1000 * t + 4);
}

/* Each thread's copies complete before its arrival does; a thread that has seen the phase may read all of
 * them. */
static void an_mbarrier_that_tracks_copies_makes_them_visible(void **state) {
  static uint32_t out[THREADS][WORDS];
  hd_diag d = {0};
  op_ok(run(".shared .align 8 .b8 bar[8]; .reg .b64 %s; setp.eq.u32 %p0, %w0, 0;\n"
            "@%p0 mbarrier.init.shared.b64 [bar], 64;\nbar.sync 0;\n"
            "cp.async.ca.shared.global [%w1], [%in], 16; cp.async.ca.shared.global [%w1+16], [%in+16], 16;\n"
            "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"
            "wait:\nmbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra wait;\n"
            "xor.b32 %w2, %w0, 63; shl.b32 %w2, %w2, 5; mov.u32 %w3, tile; add.u32 %w2, %w2, %w3;\n"
            "ld.shared.b32 %w4, [%w2+4]; ld.shared.b32 %w5, [%w2+28]; st.global.v2.b32 [%out], {%w4, %w5};\n",
            HD_CHECK_ALL, out, &d),
        &d);
  for (unsigned t = 0; t < THREADS; t++) {
    assert_int_equal(out[t][0], 1000 * (t ^ 63) + 2);
    assert_int_equal(out[t][1], 1000 * (t ^ 63) + 8);
  }
}

/* ---- Mistakes ------------------------------------------------------------------------------------ */

static void reading_before_the_wait_is_a_fault(void **state) {
  static const char *const bodies[] = {
      "cp.async.ca.shared.global [%w1], [%in], 8;\nld.shared.b32 %w2, [%w1+4];\n",
      "cp.async.ca.shared.global [%w1], [%in], 8;\ncp.async.commit_group; ld.shared.b32 %w2, [%w1+4];\n",
      "cp.async.ca.shared.global [%w1], [%in], 8;\ncp.async.wait_group 0; ld.shared.b32 %w2, [%w1+4];\n",
      "cp.async.ca.shared.global [%w1], [%in], 8;\ncp.async.commit_group; cp.async.wait_group 1; "
      "ld.shared.b32 %w2, [%w1];\n",
      "st.shared.b64 [%w1], 7; bar.sync 0; cp.async.ca.shared.global [%w1], [%in], 8, 4;\nld.shared.b32 %w2, "
      "[%w1+4];\n",
      /* another thread's wait is none */
      "cp.async.ca.shared.global [%w1], [%in], 8;\ncp.async.commit_group; setp.gt.u32 %p0, %w0, 0; @%p0 "
      "cp.async.wait_group 0;\n"
      "bar.sync 0; ld.shared.b32 %w2, [tile];\n",
  };
  for (unsigned k = 0; k < sizeof bodies / sizeof bodies[0]; k++) {
    static uint32_t out[THREADS][WORDS];
    hd_diag d = {0};
    if (run(bodies[k], HD_CHECK_ALL, out, &d) != HD_ERR_FAULT) fail_msg("case %u: no fault", k);
    if (!strstr(d.message, "cp.async at line")) fail_msg("case %u: %s", k, d.message);
  }
}

static void bad_operands_are_refused(void **state) {
  static const char *const statements[] = {
      "cp.async.wait_group -1",
      "cp.async.wait_group %w1",
      "cp.async.wait_group",
      "cp.async.wait_all 0",
      "cp.async.commit_group 1",
      "cp.async.commit_group.shared",
      "cp.async.ca.shared.global [%w1], [%in], 5",
      "cp.async.ca.shared.global [%w1], [%in], 16, 1, 2, 3",
      "cp.async.ca.global.shared [%in], [%w1]",
      "cp.async.ca.shared [%w1], [%in], 4",
  };
  for (unsigned k = 0; k < sizeof statements / sizeof statements[0]; k++) {
    hd_buf text = {0};
    op_machine x;
    hd_diag d = {0};
    hd_buf_printf(&text, "%s%s;\nret;\n}\n", head, statements[k]);
    op_load(&x, &text, HD_ISA_AUTO);
    if (hd_emu_supported(x.p, "k", &d) != HD_ERR_UNSUPPORTED) fail_msg("not refused: %s", statements[k]);
    if (!strstr(d.message, "cp.async")) fail_msg("%s: %s", statements[k], d.message);
    op_unload(&x);
    hd_buf_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("waits make visible what they cover", waits_make_visible_what_they_cover),
      BEHAVIOUR("thousands of copies in flight still arrive", thousands_of_copies_in_flight_still_arrive),
      BEHAVIOUR("an mbarrier that tracks copies makes them visible",
                an_mbarrier_that_tracks_copies_makes_them_visible),
      BEHAVIOUR("reading before the wait is a fault", reading_before_the_wait_is_a_fault),
      BEHAVIOUR("bad operands are refused", bad_operands_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
