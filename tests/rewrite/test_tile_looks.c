/* Looks from outside of a loop over tiles at what its rounds leave. */
#include "check.h"

#include <string.h>

#include "heddle/rewrite.h"
#include "rewrite/tile_loop.h"

/* Threads before, beside or behind the loop, that look at what rounds of others have done so far. */
static void looks_at_what_the_rounds_leave_need_the_callers_word(void **state) {
  static const char store[] = THREAD "st.global.u32 [%d1], %r1;\n",
                    reduce[] = "red.global.or.b32 [%d0], %r1;\n";
  static const struct {
    const char *work, *before, *behind;
    bool sees;
  } cases[] = {
      /* One thread's reductions to a place are seen in their order. */
      {reduce, "ld.relaxed.gpu.global.u32 %r12, [%d0];\n", "", true},
      {reduce, "", "ld.relaxed.gpu.global.u32 %r12, [%d0];\n", true},
      {reduce, "", "ld.volatile.global.u32 %r12, [%d0];\n", true},
      {reduce, "", "ld.acquire.gpu.u32 %r12, [%d0];\n", true},
      {reduce, "", "ld.global.cv.u32 %r12, [%d0];\n", true},
      {reduce, "", "atom.global.or.b32 %r12, [%d0], 0; mov.u32 %r13, %r12;\n", true},
      {reduce, "", "ld.param.u64 %d3, [out]; ld.relaxed.gpu.global.u32 %r12, [%d3];\n", true},
      {reduce, "", "mad.wide.u32 %d3, %r20, 4, %d0; ld.relaxed.gpu.global.u32 %r12, [%d3+64];\n", true},
      {reduce, "", "call.uni peeks, (%d0);\n", true},
      {reduce, "", "call.uni memcpy, (%d0);\n", true},
      {"red.global.add.u32 [%d0], %r1; red.global.add.u32 [%d0+8], %r1;\n", "",
       "ld.relaxed.gpu.global.u32 %r12, [%d0+8];\n", true},
      {"red.global.add.u32 [%d0], %r1;\n", "", "ld.relaxed.gpu.global.v2.u32 {%r12, %r13}, [%d0+-4];\n",
       true},
      {reduce, "", "ld.relaxed.gpu.global.u32 %r12, [%d0+4];\n", false},
      {reduce, "", "ld.relaxed.gpu.global.u32 %r12, [%d0+-4];\n", false},
      {reduce, "", "ld.global.u32 %r12, [%d0];\n", false},
      {reduce, "", "ld.global.nc.u32 %r12, [%d0];\n", false},
      {reduce, "", "ld.volatile.shared.u32 %r12, [mine];\n", false},
      {reduce, "", "red.global.or.b32 [%d0], 1;\n", false},
      {reduce, "", "call.uni quiet, (%d0);\n", false},
      /* What is released behind the loop says which tiles were one CTA's. */
      {store, "",
       "fence.acq_rel.gpu; red.global.add.u32 [%d0+-4], 1; ld.acquire.gpu.global.u32 %r12, [%d0+-4];\n",
       true},
      {store, "", "membar.gl; atom.global.add.u32 %r12, [%d0+-4], 1; mov.u32 %r13, %r12;\n", true},
      {store, "", "red.release.gpu.global.add.u32 [%d0+-4], 1; ld.relaxed.gpu.global.u32 %r12, [%d0+-4];\n",
       true},
      {store, "", "st.release.gpu.global.u32 [%d0+-4], 1; ld.volatile.global.u32 %r12, [%d0+-4];\n", true},
      {store, "ld.acquire.gpu.global.u32 %r12, [%d0+-4];\n", "membar.gl; st.global.u32 [%d0+-4], 1;\n", true},
      {store, "call.uni peeks, (%d0);\n", "membar.gl; st.global.u32 [%d0+-4], 1;\n", true},
      {store, "", "call.uni fences; call.uni peeks, (%d0);\n", true},
      /* By a thread that met the loop's. */
      {store, "setp.eq.u32 %p3, %r20, 39; @%p3 membar.gl; ld.acquire.gpu.global.u32 %r12, [%d0+-4];\n",
       "bar.sync 0;\n", true},
      {store, "", "membar.gl; red.global.add.u32 [%d0+-4], 1;\n", false},
      {store, "", "ld.acquire.gpu.global.u32 %r12, [%d0+-4];\n", false},
      {store, "membar.gl; ld.acquire.gpu.global.u32 %r12, [%d0+-4];\n", "", false},
      {store, "", "atom.global.add.u32 %r12, [%d0+-4], 1; setp.ne.u32 %p3, %r12, 2; @%p3 exit;\n", false},
  };
  for (unsigned k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
    const bool word = k & 1;
    hd_buf text = {0};
    hd_arena arena;
    hd_ptx_module *m;
    hd_plan p;
    hd_diag d = {0};
    const hd_rewrite_options o = {.grid = {.known = true, .g = {3, 1, 1}, .n_sms = 5},
                                  .block = {40, 1, 1},
                                  .assume = word ? HD_ASSUME_NO_CARRY : 0};
    hd_buf_printf(&text,
                  ".version 8.0\n.target sm_90\n.address_size 64\n.shared .b32 mine;\n"
                  ".extern .func memcpy(.reg .b64 %%p);\n"
                  ".func peeks(.reg .b64 %%p) { .reg .b32 %%v; ld.acquire.gpu.u32 %%v, [%%p]; ret; }\n"
                  ".func quiet(.reg .b64 %%p) { .reg .b32 %%v; ld.global.u32 %%v, [%%p]; ret; }\n"
                  ".func fences() { membar.gl; ret; }\n%s%s%stiles:\n%s%s%s\nret;\n}\n",
                  strchr(strchr(strchr(head, '\n') + 1, '\n') + 1, '\n') + 1, cases[k / 2].before, START,
                  cases[k / 2].work, STEP, cases[k / 2].behind);
    hd_arena_init(&arena);
    if (hd_ptx_parse(text.data, text.len, "k", &arena, &m, &d) != HD_OK)
      fail_msg("line %u: %s\n%s", d.line, d.message, text.data);
    assert_int_equal(hd_plan_parse("order=col,shape=loop:4x3", &p, &d), HD_OK);
    const hd_status st = hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, NULL, &d);
    const bool refused = cases[k / 2].sees && !word;
    if (refused ? st != HD_ERR_REFUSED || !strstr(d.message, "may see which tiles are done") : st != HD_OK)
      fail_msg("%d %s: %s... %s", st, d.message, cases[k / 2].before, cases[k / 2].behind);
    hd_arena_free(&arena);
    hd_buf_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("looks at what the rounds leave need the caller's word",
                looks_at_what_the_rounds_leave_need_the_callers_word),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
