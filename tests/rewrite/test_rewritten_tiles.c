/* shape=loop: the tiles of a persistent kernel's own loop change places, and nothing else. */
#include "check.h"

#include "rewrite/generated.h"
#include "rewrite/tile_loop.h"

/* Tile t gets word t of `out`: 3 t + 1, added, so that a tile done twice shows, and one that is left out too.
 * Word 1000 + c of CTA c holds its first tile as its loop sees it. %r1 is the tile's number, %r2 the grid,
 * %r3 their end. */
/* N is n elements in tiles of `width`. */
static const char cdiv[] = "add.u32 %r21, %r8, %r9; sub.u32 %r22, %r21, 1; div.u32 %r3, %r22, %r9;\n";
static const char work[] = "mad.lo.u32 %r10, %r1, 3, 1; mad.wide.u32 %d1, %r1, 4, %d0;\n"
                           "@%p0 red.global.add.u32 [%d1], %r10;\n";

typedef struct tiles_case {
  const char *body;
  uint32_t grid, n, width;
  char plan[96];
  unsigned assume;
} tiles_case;

enum { WORDS = 2048 };

static hd_status run(const tiles_case *c, hd_dispatch_kind how, uint32_t *out, hd_buf *printed, hd_diag *d) {
  hd_buf source = {0};
  hd_arena arena;
  hd_ptx_module *m;
  hd_plan p = {0};
  hd_emu *e = NULL;
  hd_emu_program *program = NULL;
  struct {
    uint64_t out;
    uint32_t n, width;
  } args = {.n = c->n, .width = c->width};
  const hd_emu_options eo = {.checks = HD_CHECK_BOUNDS, .threads = 1, .memory = 1 << 24, .n_sms = 5};
  const hd_rewrite_options o = {.grid = {.known = true, .g = {c->grid, 1, 1}, .n_sms = 5},
                                .assume = c->assume};
  hd_buf_printf(&source, "%s%s\nret;\n}\n", head, c->body);
  hd_arena_init(&arena);
  hd_status st = hd_plan_parse(c->plan, &p, d);
  if (st == HD_OK) st = hd_ptx_parse(source.data, source.len, "k", &arena, &m, d);
  if (st == HD_OK) st = hd_rewrite(m, 0, &p, &o, NULL, d);
  if (st == HD_OK) st = hd_ptx_print(m, printed);
  if (st == HD_OK) st = hd_ptx_parse(printed->data, printed->len, "printed", &arena, &m, d);
  if (st == HD_OK) st = hd_emu_create(&eo, &e, d);
  if (st == HD_OK) st = hd_emu_load(e, m, &program, d);
  if (st == HD_OK) st = hd_emu_alloc(e, 4 * WORDS, &args.out, d);
  if (st == HD_OK) {
    const hd_emu_launch_params l = {.kernel = "k",
                                    .grid = {c->grid, 1, 1},
                                    .block = {40, 1, 1},
                                    .args = &args,
                                    .args_bytes = sizeof args};
    const hd_dispatch dispatch = {.kind = how, .seed = c->n};
    memset(hd_emu_ptr(e, args.out, 4 * WORDS), 0, 4 * WORDS);
    hd_emu_mark_written(e, args.out, 4 * WORDS);
    st = hd_emu_launch(program, &l, &dispatch, NULL, NULL, d);
  }
  if (st == HD_OK) st = hd_emu_read(e, args.out, out, 4 * WORDS, d);
  if (program) hd_emu_unload(program);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
  hd_buf_free(&source);
  return st;
}

static uint64_t draw(uint64_t *x, uint64_t n) {
  *x ^= *x >> 12, *x ^= *x << 25, *x ^= *x >> 27;
  return (*x * 0x2545f4914f6cdd1du >> 33) % n;
}

/* A loop over tiles in one of the ways in which compilers write it. */
static void put_loop(uint64_t *x, hd_buf *b) {
  static const char *const steps[] = {"add.s32 %r1, %r1, %r2;", "add.u32 %r1, %r2, %r1;"};
  static const char *const tests[] = {"setp.lt.s32 %p2, %r1, %r3; @%p2 bra tiles;",
                                      "setp.ge.u32 %p2, %r1, %r3; @!%p2 bra tiles;",
                                      "setp.gt.s32 %p2, %r3, %r1; @%p2 bra tiles;",
                                      "setp.le.u32 %p2, %r3, %r1; @%p2 bra done; bra.uni tiles;"};
  static const char *const guards[] = {"setp.ge.s32 %p1, %r1, %r3; @%p1 bra done;",
                                       "setp.lt.u32 %p1, %r1, %r3; @!%p1 ret;"};
  static const char *const inner[] = {
      "", "mov.u32 %r12, 0;\nsums: add.u32 %r12, %r12, 1; setp.lt.u32 %p3, %r12, 3; "
          "@%p3 bra sums;\n"};
  hd_buf_puts(b, cdiv);
  hd_buf_puts(b, "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x;\n");
  hd_buf_printf(b, "%s\n", guards[draw(x, 2)]);
  const uint64_t copied = draw(x, 3);
  if (copied) hd_buf_printf(b, "setp.gt.u32 %%p4, %s, 2; @%%p4 bra others;\n", copied == 1 ? "%r9" : "%r20");
  hd_buf_printf(b, "tiles:\n%s%s", inner[draw(x, 2)], work);
  hd_buf_printf(b, "%s %s\n", steps[draw(x, 2)], tests[draw(x, 3)]);
  if (copied)
    hd_buf_printf(
        b, "bra.uni done;\nothers:\n%s%s setp.lt.s32 %%p2, %%r1, %%r3; @%%p2 bra others; bra.uni done;\n",
        work, steps[draw(x, 2)]);
  hd_buf_puts(b, "done:\n");
}

static void drawn_orders_of_a_loops_tiles_do_each_tile_once(void **state) {
  enum { CASES = 400 };
  static const char *const orders[] = {"col",      "reverse",  "hilbert",    "band:3",
                                       "tile:2x2", "zigzag:3", "stride:3x2", "tile:3x2x5"};
  static uint32_t want[WORDS], got[WORDS];
  unsigned moved = 0;
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    uint64_t x = seed * 0x9e3779b97f4a7c15u;
    hd_buf body = {0}, before = {0}, after = {0};
    hd_diag d = {0};
    const uint32_t w = 1 + (uint32_t)draw(&x, 12), h = 1 + (uint32_t)draw(&x, 9),
                   width = 1 + (uint32_t)draw(&x, 5);
    put_loop(&x, &body);
    tiles_case c = {
        .body = body.data, .grid = 1 + (uint32_t)draw(&x, 20), .width = width, .plan = "order=row"};
    /* Mostly as many tiles as the shape has; else the kernel keeps its order. */
    c.n = draw(&x, 4) ? w * h * width - (uint32_t)draw(&x, width) : 1 + (uint32_t)draw(&x, 200);
    if (run(&c, HD_DISPATCH_ROUND_ROBIN, want, &before, &d) != HD_OK)
      fail_msg("%s\n%s", d.message, body.data);
    size_t n =
        (size_t)snprintf(c.plan, sizeof c.plan, "order=%s,shape=loop:%ux%u", orders[draw(&x, 8)], w, h);
    if (draw(&x, 2)) snprintf(c.plan + n, sizeof c.plan - n, ":%s", orders[draw(&x, 8)]);
    const hd_status st = run(&c, (hd_dispatch_kind)draw(&x, HD_DISPATCH_COUNT), got, &after, &d);
    if (st == HD_ERR_USAGE) continue; /* the order is the kernel's own */
    if (st != HD_OK || memcmp(want, got, sizeof want) != 0)
      fail_msg("seed %" PRIu64 ": %s, grid %u, %u of %u: %s\n%s", seed, c.plan, c.grid, c.n, width, d.message,
               after.data ? after.data : body.data);
    moved += strstr(after.data, "_tile") != NULL;
    hd_buf_free(&body);
    hd_buf_free(&before);
    hd_buf_free(&after);
  }
  assert_true(moved > CASES * 3 / 4);
}

/* The permutation is the plan's: the one CTA there is does the tiles in that order. */
static void tiles_are_done_in_the_plans_order(void **state) {
  static uint32_t out[WORDS];
  hd_buf printed = {0};
  hd_diag d = {0};
  /* Word k: the tile of round k. %r4 counts the rounds in memory, under the caller's word. */
  tiles_case c = {
      .body = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; mov.u32 %r3, %r8;\ntiles:\n"
              "@!%p0 bra next; ld.global.u32 %r4, [%d0+4000]; add.u32 %r5, %r4, 1;\n"
              "st.global.u32 [%d0+4000], %r5; mad.wide.u32 %d1, %r4, 4, %d0; st.global.u32 [%d1], %r1;\n"
              "next: add.s32 %r1, %r1, %r2; setp.lt.s32 %p2, %r1, %r3; @%p2 bra tiles;\n",
      .grid = 1,
      .n = 12,
      .width = 1,
      .plan = "order=col,shape=loop:4x3",
      .assume = HD_ASSUME_NO_CARRY};
  if (run(&c, HD_DISPATCH_ROUND_ROBIN, out, &printed, &d) != HD_OK) fail_msg("%s", d.message);
  for (uint32_t k = 0; k < 12; k++) assert_int_equal(out[k], k / 3 + 4 * (k % 3));
  assert_non_null(strstr(printed.data, "rests on the word that no tile of a loop reads"));
  hd_buf_free(&printed);
}

#define TESTED "add.s32 %r1, %r1, %r2; setp.lt.s32 %p2, %r1, %r3;\n"

static const struct {
  const char *body, *why;
} REFUSED[] = {
    {START "mov.u32 %r7, 0;\ntiles:\n" WORK "add.u32 %r7, %r7, %r1;\n" STEP "st.global.u32 [%d0], %r7;",
     "a round of the loop over tiles leaves this to the next"},
    {START "tiles:\n" WORK "mul.lo.u32 %r7, %r1, 5;\n" STEP "st.global.u32 [%d0], %r7;",
     "a round of the loop over tiles leaves this to the next"},
    {START "tiles:\n" WORK "addc.u32 %r12, 0, 0; add.cc.u32 %r13, %r1, -5;\n" STEP,
     "a round of the loop over tiles leaves this to the next"},
    {START "tiles:\n" WORK "@%p0 add.cc.u32 %r13, %r1, -5; addc.u32 %r12, 0, 0;\n" STEP,
     "a round of the loop over tiles leaves this to the next"},
    {START "tiles:\n" WORK STEP "st.global.u32 [%d0], %r1;",
     "reads the tile's number outside the loop over tiles"},
    {START "tiles:\n" WORK
           "add.s32 %r1, %r1, %r2; st.global.u32 [%d0], %r1;\nsetp.lt.s32 %p2, %r1, %r3; @%p2 bra "
           "tiles;\n",
     "reads the next tile's number"},
    /* Whether there is another round. */
    {START "tiles:\n" WORK TESTED "selp.u32 %r7, 1, 0, %p2; st.global.u32 [%d1], %r7; @%p2 bra tiles;\n",
     "reads which tile is the CTA's last"},
    {START "tiles:\n" WORK TESTED "@!%p2 red.global.add.u32 [%d0+400], 1; @%p2 bra tiles;\n",
     "reads which tile is the CTA's last"},
    {START "tiles:\n" WORK TESTED "not.pred %p4, %p2; @%p4 st.global.u32 [%d1], 5; @%p2 bra tiles;\n",
     "reads which tile is the CTA's last"},
    {START "tiles:\n" WORK TESTED "mov.pred %p4, %p2; and.pred %p4, %p4, %p0; @%p2 bra tiles;\n",
     "reads which tile is the CTA's last"},
    {START "tiles:\n" WORK TESTED "setp.lt.and.s32 %p4, %r20, 5, %p2; @%p4 st.global.u32 [%d1], 5; @%p2 bra "
           "tiles;\n",
     "reads which tile is the CTA's last"},
    {START "tiles:\n" WORK "setp.eq.u32 %p3, %r1, 7; @%p3 bra away;\n" STEP "away:", "shape=loop: no loop"},
    {START "tiles:\n" WORK "setp.eq.u32 %p3, %r20, 7; @%p3 exit;\n" STEP, "shape=loop: no loop"},
    {START "tiles:\n" WORK
           "add.s32 %r1, %r1, %r2; setp.lt.s32 %p2, %r1, %r3;\nsetp.ne.u32 %p4|%p2, %r20, %r1; @%p2 bra "
           "tiles;\n",
     "shape=loop: no loop"},
    {START "mov.u32 %r3, %r20;\ntiles:\n" WORK STEP, "shape=loop: no loop"},
    {"mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; add.u32 %r3, %r20, 9;\ntiles:\n" WORK STEP,
     "shape=loop: no loop"},
    {"mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; ld.global.u32 %r3, [%d0];\ntiles:\n" WORK STEP,
     "the loop over tiles ends where memory says"},
    {"mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; mov.u32 %r3, 0; mov.u32 %r4, 0;\n"
     "problems: ld.global.u32 %r5, [%d0]; add.u32 %r3, %r3, %r5; setp.ge.s32 %p2, %r1, %r3; @%p2 bra "
     "next;\n"
     "tiles:\n" WORK STEP "next: add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, %r8; @%p3 bra problems;\n",
     "the loop over tiles ends where memory says (a table of problems, as in grouped GEMMs)"},
    {START "mov.u32 %r6, %ctaid.x;\ntiles:\n" WORK "st.global.u32 [%d0+4], %r6;\n" STEP,
     "shape=loop: no loop"},
    {"mov.u32 %r1, %ctaid.y; mov.u32 %r2, %nctaid.x; mov.u32 %r3, %r8;\ntiles:\n" WORK STEP,
     "shape=loop: no loop"},
    {"mov.u32 %r1, %ctaid.x; mov.u32 %r2, 7; mov.u32 %r3, %r8;\ntiles:\n" WORK STEP, "shape=loop: no loop"},
    {START "tiles:\n" WORK "@%p0 add.s32 %r1, %r1, %r2; setp.lt.s32 %p2, %r1, %r3; @%p2 bra tiles;\n",
     "shape=loop: no loop"},
    {START "tiles:\n" WORK
           "mov.u32 %r12, 0;\nin: add.s32 %r1, %r1, %r2; add.u32 %r12, %r12, 1; setp.lt.u32 %p3, "
           "%r12, 2; @%p3 bra in; setp.lt.s32 %p2, %r1, %r3; @%p2 bra tiles;\n",
     "shape=loop: no loop"},
    {"mov.u32 %r3, %r8;\ntiles: atom.global.add.u32 %r1, [%d0+-4], 1; setp.ge.u32 %p2, %r1, %r3; @%p2 bra "
     "done;\n" WORK "bra tiles;\ndone:",
     "a dynamic scheduler: which CTA gets a tile"},
    {"mov.u32 %r2, %ctaid.x; mul.lo.u32 %r1, %r2, 5; add.u32 %r3, %r1, 5;\ntiles:\n" WORK
     "add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, %r3; @%p2 bra tiles;\n",
     "a CTA's share of the work begins here"},
    /* Additions to results are no draws, and the number of a thread is no share. */
    {"mov.u32 %r2, %ctaid.x; mul.lo.u32 %r1, %r2, 5; add.u32 %r3, %r1, 5;\ntiles:\n" WORK
     "atom.global.add.u32 %r11, [%d1], 1; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, %r3; @%p2 bra tiles;\n",
     "a CTA's share of the work begins here"},
    {"mov.u32 %r2, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r1, %r2, %r4, %r20;\ntiles:\n" WORK
     "add.u32 %r1, %r1, %r9; setp.lt.u32 %p2, %r1, %r8; @%p2 bra tiles;\n",
     "shape=loop: no loop"},
    /* Rows of a matrix: the multiple that the loop counts on is not what ends it. */
    {"mov.u32 %r2, %ctaid.x; mul.lo.u32 %r1, %r2, 5; mov.u32 %r3, 0;\ntiles:\n" WORK
     "add.u32 %r1, %r1, 5; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r8; @%p2 bra tiles;\n",
     "shape=loop: no loop"},
    {"mov.u32 %r2, %ctaid.x; mul.lo.u32 %r1, %r2, 5;\n" WORK
     "mov.u32 %r3, 0;\ntiles: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r8; @%p2 bra tiles;\n",
     "shape=loop: no loop"},
    {START
     "tiles:\nmad.wide.u32 %d1, %r1, 4, %d0; ld.global.u32 %r7, [%d1]; st.global.u32 [%d1+4], %r7;\n" STEP,
     "--assume no-carry says that no tile does"},
    {"mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x;\ntiles:\n" WORK
     "add.s32 %r1, %r1, %r2; setp.lt.s32 %p2, %r1, 11; @%p2 bra tiles;\n",
     "shape=loop: the loop goes through 11 tiles"},
};

static void loops_whose_tiles_are_not_independent_are_refused(void **state) {
  static uint32_t out[WORDS];
  for (unsigned k = 0; k < sizeof REFUSED / sizeof *REFUSED; k++) {
    tiles_case c = {
        .body = REFUSED[k].body, .grid = 3, .n = 12, .width = 1, .plan = "order=col,shape=loop:4x3"};
    hd_buf printed = {0};
    hd_diag d = {0};
    const hd_status st = run(&c, HD_DISPATCH_ROUND_ROBIN, out, &printed, &d);
    if (st != HD_ERR_REFUSED || !strstr(d.message, REFUSED[k].why))
      fail_msg("status %d, %s: %s", st, d.message, REFUSED[k].body);
    hd_buf_free(&printed);
  }
}

#define CALLS(name)                                                                                          \
  THREAD "st.global.u32 [%d1], %r1; setp.gt.u32 %p3, %r1, 99; @!%p3 bra go;\n{ .param .b64 a; "              \
         "st.param.b64 [a], %d0; call.uni " name ", (a); }\ngo:\n"
#define ROW_OF(bytes) "mul.lo.u32 %r10, %r1, " bytes "; cvt.u64.u32 %d2, %r10; add.s64 %d1, %d2, %d0;\n"

/* The tiles of one CTA are done in turn, so the last of them to write a place is fixed. */
static const struct {
  const char *work;
  bool apart; /* every tile has places of its own, or the order does not show in what is left */
} WRITES[] = {
    {THREAD "st.global.u32 [%d1], %r1;\n", true},
    {THREAD "@%p0 st.global.u32 [%d1], %r1;\n", true},
    {"shl.b32 %r10, %r1, 4; mul.wide.u32 %d2, %r10, 4; add.s64 %d1, %d0, %d2; st.global.u32 [%d1+60], "
     "%r1;\n",
     true},
    {ROW_OF("16") "st.global.v4.u32 [%d1], {%r1, %r1, %r1, %r1};\n", true},
    {ROW_OF("16") "st.global.v2.u32 [%d1], {%r1, %r1}; st.global.v2.u32 [%d1+8], {%r1, %r1};\n", true},
    /* Rows that overlap. */
    {ROW_OF("16") "st.global.v4.u32 [%d1], {%r1, %r1, %r1, %r1}; st.global.u32 [%d1+16], %r1;\n", false},
    {ROW_OF("8") "st.global.v4.u32 [%d1], {%r1, %r1, %r1, %r1};\n", false},
    {ROW_OF("16") "st.global.u32 [%d1+-4], %r1; st.global.u32 [%d1+12], %r1;\n", false},
    {"mad.lo.u32 %r10, %r1, 39, %r20; mad.wide.u32 %d1, %r10, 4, %d0; st.global.u32 [%d1], %r1;\n", false},
    /* One place, or some that are not known. */
    {"st.global.u32 [%d0], %r1;\n", false},
    {"mad.wide.u32 %d1, %r20, 4, %d0; st.global.u32 [%d1], %r1;\n", false},
    {"and.b32 %r10, %r1, 7; mad.wide.u32 %d1, %r10, 4, %d0; st.global.u32 [%d1], %r1;\n", false},
    {"div.u32 %r10, %r1, 3; mad.wide.u32 %d1, %r10, 4, %d0; st.global.u32 [%d1], %r1;\n", false},
    {"mul.lo.u32 %r10, %r1, 1073741824; mad.wide.u32 %d1, %r10, 4, %d0; st.global.u32 [%d1], %r1;\n", false},
    {"mul.lo.u32 %r10, %r1, %r9; mad.wide.u32 %d1, %r10, 4, %d0; st.global.u32 [%d1], %r1;\n", false},
    {THREAD
     "st.global.u32 [%d1], %r1; ld.param.u64 %d3, [out]; add.s64 %d4, %d3, 4; st.global.u32 [%d4], %r1;\n",
     false},
    {"st.shared.u32 [box], %r1;\n", false},
    {THREAD "sust.b.1d.b32.trap [%d1, {%r1}], {%r1};\n", false},
    {"call.uni writes;\n", false},
    {THREAD "cp.async.bulk.global.shared::cta.bulk_group [%d1], [box], 16;\n", false},
    /* Reductions. */
    {"red.global.add.u32 [%d0], %r1;\n", true},
    {"red.global.add.u32 [%d0], %r1; red.global.add.s32 [%d0+4], %r1;\n", true},
    {"red.global.max.s32 [%d0], %r1; red.global.max.s32 [%d0], 5;\n", true},
    {"atom.global.xor.b32 %r12, [%d0], %r1;\n", true}, /* nobody reads what it brings */
    {"atom.global.add.u32 %r12, [%d0], %r1; mov.u32 %r13, %r12;\n", false},
    {"atom.global.exch.b32 %r12, [%d0], %r1;\n", false},
    {"atom.global.cas.b32 %r12, [%d0], 0, %r1;\n", false},
    {"red.global.inc.u32 [%d0], %r1;\n", false},
    {"red.global.dec.u32 [%d0], 7;\n", false},
    {"red.global.add.f32 [%d0], 0f3F800000;\n", false},
    {"red.global.add.noftz.f16x2 [%d0], %r1;\n", false},
    {"red.global.add.u32 [%d0], %r1; red.global.max.u32 [%d0+4], %r1;\n", false},
    {"red.global.max.u32 [%d0], %r1; red.global.max.s32 [%d0], %r1;\n", false},
    {"red.global.add.u32 [%d0], %r1; red.global.add.u64 [%d0], 1;\n", false},
    {THREAD "st.global.u32 [%d1], %r1; red.global.add.u32 [%d0], %r1;\n", false},
    /* Others may see which tiles are done. */
    {THREAD "st.release.gpu.global.u32 [%d1], %r1;\n", false},
    {THREAD "st.relaxed.gpu.global.u32 [%d1], %r1;\n", false},
    {THREAD "st.volatile.global.u32 [%d1], %r1;\n", false},
    {THREAD "st.global.u32 [%d1], %r1; fence.acq_rel.gpu;\n", false},
    {"red.release.gpu.global.add.u32 [%d0], %r1;\n", false},
    {"membar.gl; red.global.add.u32 [%d0], %r1;\n", false},
    {"red.relaxed.gpu.global.add.u32 [%d0], %r1;\n", true},
    /* What a CTA's own tiles give adds up where it alone may see it. */
    {"red.shared.add.u32 [box], %r1;\n", false},
    {"red.shared::cta.max.u32 [box], %r1;\n", false},
    {"atom.shared.add.u32 %r12, [box], %r1;\n", false},
    {"red.add.u32 [%d0], %r1;\n", false},
    /* Of an address, half. */
    {THREAD "cvt.u32.u64 %r11, %d1; cvt.u64.u32 %d2, %r11; st.global.u32 [%d2], %r1;\n", false},
    {THREAD "cvt.s64.u64 %d2, %d1; st.global.u32 [%d2], %r1;\n", true},
    {CALLS("vprintf"), false},
    /* A launch that traps, or in which an assertion fails, leaves nothing. */
    {CALLS("__assertfail"), true},
    {THREAD "st.global.u32 [%d1], %r1; setp.gt.u32 %p3, %r1, 99; @%p3 bra bad; bra.uni go;\nbad: trap;\ngo:",
     true},
    /* And may say in which tile, if it comes from a tile alone. */
    {THREAD
     "st.global.u32 [%d1], %r1; setp.gt.u32 %p3, %r1, 99; @%p3 bra bad; bra.uni go;\nbad: mov.u32 %r11, "
     "%r1; trap;\ngo:",
     true},
    {THREAD
     "st.global.u32 [%d1], %r1; setp.gt.u32 %p3, %r1, 99; @%p3 bra bad; setp.gt.u32 %p4, %r1, 98; @%p4 "
     "bra bad; bra.uni go;\nbad: mov.u32 %r11, %r1; trap;\ngo:",
     true},
};

/* A read of the tile's number in a block that ends the launch is one of the round that it comes from. */
static void a_trap_behind_the_loop_keeps_the_tiles_number(void **state) {
  static const struct {
    const char *rest;
    bool takes;
    const char *begin; /* of the loop's scope */
  } cases[] = {
      {"}\nret;\nbad: mov.u32 %r11, %r1; trap;", false, "{"},
      {"ret;\nbad: mov.u32 %r11, %r1; trap;", true, NULL},
      {"@%p4 bra bad; ret;\nbad: mov.u32 %r11, %r1; trap;", false, NULL},
      {"ret;\nbad: mov.u32 %r11, %r1; ret;", false, NULL},
      {"ret;\nbad: @%p4 bra worse; trap;\nworse: mov.u32 %r11, %r1; trap;", false, NULL},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    hd_buf text = {0};
    hd_arena arena;
    hd_ptx_module *m;
    hd_plan p;
    hd_diag d = {0};
    const hd_rewrite_options o = {.grid = {.known = true, .g = {3, 1, 1}, .n_sms = 5}, .block = {40, 1, 1}};
    hd_buf_printf(&text, "%s%s%s\ntiles:\nsetp.gt.u32 %%p3, %%r1, 99; @%%p3 bra bad;\n%s%s\n%s\n}\n", head,
                  START, cases[k].begin ? cases[k].begin : "", WORK, STEP, cases[k].rest);
    hd_arena_init(&arena);
    if (hd_ptx_parse(text.data, text.len, "k", &arena, &m, &d) != HD_OK)
      fail_msg("line %u: %s\n%s", d.line, d.message, text.data);
    assert_int_equal(hd_plan_parse("order=col,shape=loop:4x3", &p, &d), HD_OK);
    const hd_status st = hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, NULL, &d);
    if (cases[k].takes != (st == HD_OK)) fail_msg("%s: %s", cases[k].rest, d.message);
    hd_arena_free(&arena);
    hd_buf_free(&text);
  }
}

static void loops_whose_tiles_write_one_place_need_the_callers_word(void **state) {
  for (unsigned k = 0; k < sizeof WRITES / sizeof *WRITES; k++)
    for (unsigned word = 0; word < 2; word++) {
      hd_buf text = {0};
      hd_arena arena;
      hd_ptx_module *m;
      hd_plan p;
      hd_diag d = {0};
      const hd_rewrite_options o = {.grid = {.known = true, .g = {3, 1, 1}, .n_sms = 5},
                                    .block = {40, 1, 1},
                                    .assume = word ? HD_ASSUME_NO_CARRY : 0};
      hd_buf_printf(&text,
                    ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 box[64];\n"
                    ".extern .func __assertfail(.param .b64 a); .extern .func vprintf(.param .b64 a);\n"
                    ".func writes() { ret; }\n%s%stiles:\n%s%s\nret;\n}\n",
                    strchr(strchr(strchr(head, '\n') + 1, '\n') + 1, '\n') + 1, START, WRITES[k].work, STEP);
      hd_arena_init(&arena);
      if (hd_ptx_parse(text.data, text.len, "k", &arena, &m, &d) != HD_OK)
        fail_msg("line %u: %s\n%s", d.line, d.message, text.data);
      assert_int_equal(hd_plan_parse("order=col,shape=loop:4x3", &p, &d), HD_OK);
      const hd_status st = hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, NULL, &d);
      const bool accepted = word || WRITES[k].apart;
      if (accepted ? st != HD_OK : st != HD_ERR_REFUSED || !strstr(d.message, "--assume no-carry"))
        fail_msg("%d %s: %s", st, d.message, WRITES[k].work);
      const char *remark = m->funcs[hd_ptx_find_kernel(m, "k")].remark;
      if (accepted && (remark && strstr(remark, "overwrites")) == WRITES[k].apart)
        fail_msg("%s", WRITES[k].work);
      hd_arena_free(&arena);
      hd_buf_free(&text);
    }
}

/* What stands before the loop, or behind it, beside a loop that leaves nothing to its rounds. */
static void ctas_that_learn_which_they_are_need_the_callers_word(void **state) {
  static const struct {
    const char *before, *behind;
    bool learns;
  } cases[] = {
      {"", "", false},
      {"atom.global.add.u32 %r12, [%d0+-4], 1;\n", "", false},
      {"atom.global.add.u32 %r12, [%d0+-4], 1; mov.u32 %r13, %r12;\n", "", true},
      {"@%p0 atom.global.inc.u32 %r12, [%d0+-4], 7;\n", "st.global.u32 [%d0+-8], %r12;\n", true},
      {"call (%r12), gives;\n", "", true},
      {"call.uni writes;\n", "", false},
      {"call.uni looks, (%d0);\n", "", false},
      {"call.uni __assertfail, (%d0);\n", "", false},
      /* By memory: a ticket in the thread's own, in the CTA's, through a function of the function. */
      {"call.uni draws, (%d0);\n", "", true},
      {"call.uni keeps;\n", "", true},
      {"@%p0 call.uni passes_on;\n", "", true},
      {"call.uni adds;\n", "", true},
      {"call.uni memset, (%d0);\n", "", true},
      {"", "call.uni adds;\n", false},
      /* The last CTA to end. */
      {"", "atom.global.add.u32 %r12, [%d0+-4], 1; setp.ne.u32 %p3, %r12, 2; @%p3 exit;\n", false},
      {"", "call (%r12), gives;\n", false},
  };
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
    hd_buf text = {0};
    hd_arena arena;
    hd_ptx_module *m;
    hd_plan p;
    hd_diag d = {0};
    const hd_rewrite_options o = {.grid = {.known = true, .g = {3, 1, 1}, .n_sms = 5}, .block = {40, 1, 1}};
    hd_buf_printf(
        &text,
        ".version 8.0\n.target sm_90\n.address_size 64\n.func writes() { ret; }\n"
        ".func (.reg .b32 %%v) gives() { mov.u32 %%v, 1; ret; }\n"
        ".extern .func __assertfail(.reg .b64 %%p); .extern .func memset(.reg .b64 %%p);\n"
        ".global .b32 tick; .shared .b32 mine;\n"
        ".func looks(.reg .b64 %%p) { .reg .b32 %%v; ld.global.u32 %%v, [%%p]; ret; }\n"
        ".func draws(.reg .b64 %%p) { .reg .b32 %%v; atom.global.add.u32 %%v, [tick], 1; st.u32 [%%p], %%v; "
        "ret; }\n"
        ".func keeps() { .reg .b32 %%v; atom.global.add.u32 %%v, [tick], 1; st.shared.u32 [mine], %%v; "
        "ret; }\n.func passes_on() { call.uni keeps; ret; }\n"
        ".func adds() { red.shared.add.u32 [mine], 1; ret; }\n"
        "%s%s%stiles:\n%s%s%s\nret;\n}\n",
        strchr(strchr(strchr(head, '\n') + 1, '\n') + 1, '\n') + 1, cases[k].before, START,
        "red.global.add.u32 [%d0], %r1;\n", STEP, cases[k].behind);
    hd_arena_init(&arena);
    if (hd_ptx_parse(text.data, text.len, "k", &arena, &m, &d) != HD_OK)
      fail_msg("line %u: %s\n%s", d.line, d.message, text.data);
    assert_int_equal(hd_plan_parse("order=col,shape=loop:4x3", &p, &d), HD_OK);
    const hd_status st = hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, NULL, &d);
    if (cases[k].learns ? st != HD_ERR_REFUSED || !strstr(d.message, "which CTA it is") : st != HD_OK)
      fail_msg("%d %s: %s %s", st, d.message, cases[k].before, cases[k].behind);
    hd_arena_free(&arena);
    hd_buf_free(&text);
  }
}

/* The word is about memory: a thread that ends in the loop leaves tiles undone, and others in another order.
 */
static void threads_that_end_within_functions_are_refused(void **state) {
  static const struct {
    const char *func, *call;
    bool refused;
  } cases[] = {
      {"{ ret; }", "call.uni f, (%r20);\n", false},
      {"{ trap; }", "@%p5 call.uni f, (%r20);\n", false},
      {"{ .reg .pred %q; setp.eq.u32 %q, %x, 7; @%q exit; ret; }", "call.uni f, (%r20);\n", true},
      {"{ .reg .pred %q; setp.eq.u32 %q, %x, 7; @%q exit; ret; }", "call.uni g, (%r20);\n", true},
      {"{ exit; }", "@%p5 call.uni f, (%r20);\n", true},
      {"{ exit; }", "", false}, /* nobody calls it */
  };
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
    hd_buf text = {0};
    hd_arena arena;
    hd_ptx_module *m;
    hd_plan p;
    hd_diag d = {0};
    const hd_rewrite_options o = {.grid = {.known = true, .g = {3, 1, 1}, .n_sms = 5},
                                  .block = {40, 1, 1},
                                  .assume = HD_ASSUME_NO_CARRY};
    hd_buf_printf(&text,
                  ".version 8.0\n.target sm_90\n.address_size 64\n.func f(.reg .b32 %%x) %s\n"
                  ".func g(.reg .b32 %%x) { call.uni f, (%%x); ret; }\n%s%stiles:\n%s%s%s\nret;\n}\n",
                  cases[k].func, strchr(strchr(strchr(head, '\n') + 1, '\n') + 1, '\n') + 1, START, WORK,
                  cases[k].call, STEP);
    hd_arena_init(&arena);
    if (hd_ptx_parse(text.data, text.len, "k", &arena, &m, &d) != HD_OK)
      fail_msg("line %u: %s\n%s", d.line, d.message, text.data);
    assert_int_equal(hd_plan_parse("order=col,shape=loop:4x3", &p, &d), HD_OK);
    const hd_status st = hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, NULL, &d);
    if (cases[k].refused ? st != HD_ERR_REFUSED || !strstr(d.message, "ends the thread") : st != HD_OK)
      fail_msg("%d %s: %s %s", st, d.message, cases[k].func, cases[k].call);
    hd_arena_free(&arena);
    hd_buf_free(&text);
  }
}

/* Threads that stand outside of the loop would see which tile a round is of, with the word as well. */
static void rounds_that_threads_outside_of_the_loop_may_meet_are_refused(void **state) {
  static const struct {
    const char *body;
    bool refused;
  } cases[] = {
      {START "tiles:\n" WORK "bar.sync 0;\n" STEP, false},
      {START "tiles:\n" WORK "bar.warp.sync -1;\n" STEP, false},
      {START "setp.ge.u32 %p3, %r20, 32; @%p3 bra beyond;\ntiles:\n" WORK STEP "beyond:\n", false},
      {START "setp.ge.u32 %p3, %r20, 32; @%p3 bra beyond;\ntiles:\n" WORK "barrier.sync 1, 32;\n" STEP
             "beyond:\n",
       true},
      {START "setp.ge.u32 %p3, %r20, 32; @%p3 bra beyond;\ntiles:\n" WORK "barrier.arrive 1, 64;\n" STEP
             "beyond:\n",
       true},
      {START "setp.ge.u32 %p3, %r20, 32; @%p3 bra beyond;\ntiles:\n" WORK
             "setp.eq.u32 %p4, %r1, 3; bar.red.or.pred %p5, 1, 32, %p4;\n" STEP "beyond:\n",
       true},
      /* All are in the loop, and some are a barrier ahead. */
      {START "setp.ge.u32 %p3, %r20, 32; @%p3 bar.sync 0;\ntiles:\n" WORK "bar.sync 0;\n" STEP
             "@!%p3 bar.sync 0;\n",
       true},
      {START "setp.ge.u32 %p3, %r20, 32; @%p3 bra even; bar.red.or.pred %p4, 0, %p3;\neven:\ntiles:\n" WORK
             "setp.eq.u32 %p4, %r1, 3; bar.red.or.pred %p5, 0, %p4;\n" STEP
             "@!%p3 bra odd; bar.red.or.pred %p4, 0, %p3;\nodd:\n",
       true},
      {START "setp.ge.u32 %p3, %r20, 16; @%p3 redux.sync.add.s32 %r11, %r20, -1;\ntiles:\n" WORK
             "redux.sync.add.s32 %r11, %r1, -1;\n" STEP "@!%p3 redux.sync.add.s32 %r11, %r20, -1;\n",
       true},
      {START "bar.sync 0;\ntiles:\n" WORK "bar.sync 0;\n" STEP "bar.sync 0;\n", false},
      {START "setp.ge.u32 %p3, %r20, 32; @%p3 bar.sync 0;\ntiles:\n" WORK STEP "@!%p3 bar.sync 0;\n", false},
      {START "setp.ge.u32 %p3, %r20, 16; @%p3 bra beyond;\ntiles:\n" WORK
             "shfl.sync.idx.b32 %r11, %r1, 0, 31, -1;\n" STEP "beyond:\n",
       true},
  };
  static uint32_t out[WORDS];
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
    tiles_case c = {.body = cases[k].body,
                    .grid = 3,
                    .n = 12,
                    .width = 1,
                    .plan = "order=col,shape=loop:4x3",
                    .assume = HD_ASSUME_NO_CARRY};
    hd_buf printed = {0};
    hd_diag d = {0};
    const hd_status st = run(&c, HD_DISPATCH_ROUND_ROBIN, out, &printed, &d);
    if (cases[k].refused ? st != HD_ERR_REFUSED || !strstr(d.message, "may meet threads of the CTA")
                         : st != HD_OK)
      fail_msg("status %d, %s: %s", st, d.message, cases[k].body);
    hd_buf_free(&printed);
  }
}

static void a_loop_may_begin_with_a_scope(void **state) {
  static const char *const bodies[] = {
      START "tiles:\n{ .reg .b32 %q; mov.u32 %q, %r1; }\n" WORK STEP,
      START "tiles:\n{{ .reg .b32 %q; mov.u32 %q, %r1; }}\n" WORK STEP,
      START "tiles:\n.pragma \"nounroll\";\n{ .reg .pred %q; setp.eq.u32 %q, %r1, 0; }\n" WORK STEP,
      START "tiles:\n{ mov.u32 %r10, %r1; }\n{ .reg .b32 %q; mov.u32 %q, %r1; }\n" WORK STEP,
  };
  static uint32_t out[WORDS];
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    tiles_case c = {.body = bodies[i],
                    .grid = 3,
                    .n = 12,
                    .width = 1,
                    .plan = "order=col,shape=loop:4x3",
                    .assume = HD_ASSUME_NO_CARRY};
    hd_buf printed = {0};
    hd_diag d = {0};
    if (run(&c, HD_DISPATCH_ROUND_ROBIN, out, &printed, &d) != HD_OK)
      fail_msg("%s: %s", d.message, bodies[i]);
    for (uint32_t k = 0; k < 12; k++) assert_int_equal(out[k], k);
    hd_buf_free(&printed);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a trap behind the loop keeps the tile's number",
                a_trap_behind_the_loop_keeps_the_tiles_number),
      BEHAVIOUR("loops whose tiles write one place need the caller's word",
                loops_whose_tiles_write_one_place_need_the_callers_word),
      BEHAVIOUR("CTAs that learn which they are before their loop need the caller's word",
                ctas_that_learn_which_they_are_need_the_callers_word),
      BEHAVIOUR("threads that end within functions are refused, with the word, too",
                threads_that_end_within_functions_are_refused),
      BEHAVIOUR("rounds that threads outside of the loop may meet are refused",
                rounds_that_threads_outside_of_the_loop_may_meet_are_refused),
      BEHAVIOUR("a loop may begin with a scope", a_loop_may_begin_with_a_scope),
      BEHAVIOUR("drawn orders of a loop's tiles do each tile once",
                drawn_orders_of_a_loops_tiles_do_each_tile_once),
      BEHAVIOUR("tiles are done in the plan's order", tiles_are_done_in_the_plans_order),
      BEHAVIOUR("loops whose tiles are not independent are refused",
                loops_whose_tiles_are_not_independent_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
