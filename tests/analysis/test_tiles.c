/* The tiles that kernels make of their CTAs' numbers: found at a launch, however they are computed, and
 * formulas in their coordinates that give the addresses there were. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/analysis.h"

/* A body leaves the tile's column in %r10 and its row in %r11. %r1, %r2: rows and columns of the matrix; %r3,
 * %r4: its tiles, cdiv(m, 64) and cdiv(n, 32); %r5: the CTA. */
static const char head[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 m, .param .u32 n)\n{\n"
    ".reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .b64 %l<20>;\nld.param.u64 %l1, [p];\nld.param.u64 %l2, "
    "[q];\n"
    "ld.param.u32 %r1, [m];\nld.param.u32 %r2, [n];\nadd.s32 %r3, %r1, 63;\nshr.u32 %r3, %r3, 6;\n"
    "add.s32 %r4, %r2, 31;\nshr.u32 %r4, %r4, 5;\nmov.u32 %r5, %ctaid.x;\nmov.u32 %r6, %tid.x;\n";
/* A row of the one array is loaded for each row of tiles, wrapped around its end; a tile of the other is
 * stored. */
static const char tail[] =
    "shl.b32 %r20, %r11, 6;\nadd.s32 %r20, %r20, %r6;\nrem.s32 %r20, %r20, %r1;\nmul.lo.s32 %r20, %r20, "
    "512;\n"
    "cvt.s64.s32 %l3, %r20;\nadd.s64 %l4, %l1, %l3;\nld.global.u32 %r30, [%l4];\n"
    "shl.b32 %r21, %r10, 5;\nadd.s32 %r21, %r21, %r6;\nsetp.ge.s32 %p1, %r21, %r2;\n@%p1 bra done;\n"
    "shl.b32 %r22, %r11, 6;\nmad.lo.s32 %r23, %r22, %r2, %r21;\nmul.wide.s32 %l5, %r23, 4;\n"
    "add.s64 %l6, %l2, %l5;\nst.global.u32 [%l6], %r30;\ndone:\nret;\n}\n";

/* Groups of 4 rows, the last one lower. */
#define GROUPED                                                                                              \
  "shl.b32 %r12, %r4, 2;\ndiv.s32 %r13, %r5, %r12;\nshl.b32 %r14, %r13, 2;\nsub.s32 %r15, %r3, %r14;\n"      \
  "min.s32 %r15, %r15, 4;\nmul.lo.s32 %r16, %r13, %r12;\nsub.s32 %r17, %r5, %r16;\n"                         \
  "div.s32 %r10, %r17, %r15;\nmul.lo.s32 %r18, %r10, %r15;\nsub.s32 %r19, %r17, %r18;\n"                     \
  "add.s32 %r11, %r14, %r19;\n"

static const struct {
  const char *name, *body, *shape; /* of 5 rows by 7 columns of tiles */
} kernels[] = {
    {"rows", "div.s32 %r11, %r5, %r4;\nrem.s32 %r10, %r5, %r4;\n", "7x5"},
    {"rows, unsigned, remainder by multiplication",
     "div.u32 %r11, %r5, %r4;\nmul.lo.s32 %r12, %r11, %r4;\nsub.s32 %r10, %r5, %r12;\n", "7x5"},
    {"rows in 64 bits",
     "cvt.u64.u32 %l7, %r5;\ncvt.u64.u32 %l8, %r4;\ndiv.u64 %l9, %l7, %l8;\nrem.u64 %l10, %l7, %l8;\n"
     "cvt.u32.u64 %r11, %l9;\ncvt.u32.u64 %r10, %l10;\n",
     "7x5"},
    {"columns", "div.s32 %r10, %r5, %r3;\nrem.s32 %r11, %r5, %r3;\n", "5x7"},
    {"a constant, by multiplication and shift",
     "mul.hi.u32 %r12, %r5, 613566757;\nsub.s32 %r13, %r5, %r12;\nshr.u32 %r13, %r13, 1;\n"
     "add.s32 %r13, %r13, %r12;\nshr.u32 %r11, %r13, 2;\nmul.lo.s32 %r14, %r11, 7;\n"
     "sub.s32 %r10, %r5, %r14;\n",
     "7x5"},
    {"rows from below",
     "div.s32 %r12, %r5, %r4;\nrem.s32 %r10, %r5, %r4;\nsub.s32 %r11, %r3, %r12;\nadd.s32 %r11, %r11, -1;\n",
     "7x5"},
    {"groups", GROUPED, "7x5:band:4"},
    {"groups of columns",
     "mul.lo.s32 %r12, %r3, 2;\ndiv.s32 %r13, %r5, %r12;\nshl.b32 %r14, %r13, 1;\nsub.s32 %r15, %r4, %r14;\n"
     "min.s32 %r15, %r15, 2;\nrem.s32 %r17, %r5, %r12;\nrem.s32 %r19, %r17, %r15;\nadd.s32 %r10, %r14, "
     "%r19;\n"
     "div.s32 %r11, %r17, %r15;\n",
     "5x7:band:2"},
    {"no division", "mov.u32 %r10, %r5;\nmov.u32 %r11, 0;\n", NULL},
};

typedef struct subject {
  hd_arena arena;
  hd_ptx_module *m;
  struct {
    uint64_t p, q;
    uint32_t rows, columns;
  } args;
  hd_point at;
  hd_analysis *plain, *launched;
} subject;

static void open_with(subject *s, const char *body, const char *end, uint32_t rows, uint32_t columns) {
  hd_buf text = {0};
  hd_diag d = {0};
  *s = (subject){.args = {1ull << 40, 2ull << 40, rows, columns}};
  s->at = (hd_point){.grid = {(rows + 63) / 64 * ((columns + 31) / 32), 1, 1},
                     .block = {32, 1, 1},
                     .args = &s->args,
                     .args_bytes = sizeof s->args};
  hd_buf_printf(&text, "%s%s%s", head, body, end);
  hd_arena_init(&s->arena);
  if (hd_ptx_parse(text.data, text.len, "tiles", &s->arena, &s->m, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(hd_analyze(s->m, 0, NULL, &s->plain, &d), HD_OK);
  assert_int_equal(hd_analyze_launch(s->m, 0, &s->at, &s->launched, &d), HD_OK);
  hd_buf_free(&text);
}

static void open_launch(subject *s, const char *body, uint32_t rows, uint32_t columns) {
  open_with(s, body, tail, rows, columns);
}

static void close_launch(subject *s) {
  hd_analysis_free(s->plain);
  hd_analysis_free(s->launched);
  hd_arena_free(&s->arena);
}

static void tiles_are_found_however_the_number_is_divided(void **state) {
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    subject s;
    hd_buf got = {0};
    open_launch(&s, kernels[i].body, 300, 200);
    const hd_tiles *t = &s.launched->tiles;
    hd_shape_print(&t->shape, &got);
    if (kernels[i].shape ? t->answer != HD_TILES_FOUND || strcmp(got.data, kernels[i].shape) != 0
                         : t->answer != HD_TILES_NONE)
      fail_msg("%s: answer %d, shape %s", kernels[i].name, t->answer, got.data ? got.data : "");
    if (kernels[i].shape)
      for (uint32_t k = 0; k < s.launched->n_sites; k++)
        if (s.launched->sites[k].level > HD_LEVEL_QUASI)
          fail_msg("%s: line %u: %s", kernels[i].name, s.launched->sites[k].line,
                   hd_why_text((hd_why)s.launched->sites[k].why));
    hd_buf_free(&got);
    close_launch(&s);
  }
}

/* Guards and addresses of both, in all CTAs and for all threads. */
/* A box is loaded and one stored through tensor maps, and no address tells where. */
static void coordinates_of_boxes_name_the_tiles_too(void **state) {
  static const char boxes[] = "shl.b32 %r20, %r11, 6;\nshl.b32 %r21, %r10, 5;\nmov.u32 %r22, 0;\n"
                              "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                              "[%r22], [%l1, {%r22, %r20}], "
                              "[%r22];\ncp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%l2, {%r21, "
                              "%r20}], [%r22];\nret;\n}\n";
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    subject s;
    hd_buf b = {0};
    open_with(&s, kernels[i].body, boxes, 5 * 64 - 13, 7 * 32 - 5);
    hd_shape_print(&s.launched->tiles.shape, &b);
    const char *found = b.data ? b.data : "";
    if (strcmp(found, kernels[i].shape ? kernels[i].shape : "") != 0)
      fail_msg("%s: '%s'", kernels[i].name, found);
    hd_buf_free(&b);
    close_launch(&s);
  }
}

static void check_formulas(const subject *s, const char *name) {
  for (uint32_t c = 0; c < s->at.grid[0]; c++)
    for (uint32_t thread = 0; thread < 32; thread += 5)
      for (uint32_t k = 0; k < s->plain->n_sites; k++) {
        const hd_site *x = &s->plain->sites[k], *y = &s->launched->sites[k];
        hd_point at = s->at;
        int64_t before, after;
        at.ctaid[0] = c;
        at.tid[0] = thread;
        assert_true(hd_poly_eval(s->plain, x->address, &at, &before));
        assert_true(hd_poly_eval(s->launched, y->address, &at, &after));
        if (before != after)
          fail_msg("%s, %u x %u: CTA %u, thread %u, line %u: %lx, not %lx", name, s->args.rows,
                   s->args.columns, c, thread, x->line, (unsigned long)after, (unsigned long)before);
        for (uint32_t g = 0; g < y->n_guards; g++) {
          assert_true(hd_poly_eval(s->launched, s->launched->guards[y->first_guard + g].poly, &at, &after));
          assert_true(after == 0 || after == 1);
        }
        int64_t runs[2] = {1, 1};
        for (uint32_t g = 0; g < x->n_guards; g++) {
          assert_true(hd_poly_eval(s->plain, s->plain->guards[x->first_guard + g].poly, &at, &before));
          runs[0] &= before;
        }
        for (uint32_t g = 0; g < y->n_guards; g++) {
          assert_true(hd_poly_eval(s->launched, s->launched->guards[y->first_guard + g].poly, &at, &after));
          runs[1] &= after;
        }
        assert_int_equal(runs[0], runs[1]);
      }
}

/* Split K: three CTAs next to each other share a tile of a grouped order. The shape joins them to columns;
 * formulas keep three coordinates. */
static void pieces_of_a_tile_are_columns_of_the_shape(void **state) {
  static const char body[] = "mov.u32 %r38, %r5;\ndiv.u32 %r5, %r38, 3;\nrem.u32 %r39, %r38, 3;\n" GROUPED
                             "mul.wide.u32 %l10, %r39, 64;\nadd.s64 %l2, %l2, %l10;\n";
  subject s;
  hd_buf text = {0}, shape = {0};
  hd_diag d = {0};
  s = (subject){.args = {1ull << 40, 2ull << 40, 300, 200}};
  s.at =
      (hd_point){.grid = {3 * 35, 1, 1}, .block = {32, 1, 1}, .args = &s.args, .args_bytes = sizeof s.args};
  hd_buf_printf(&text, "%s%s%s", head, body, tail);
  hd_arena_init(&s.arena);
  if (hd_ptx_parse(text.data, text.len, "pieces", &s.arena, &s.m, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(hd_analyze(s.m, 0, NULL, &s.plain, &d), HD_OK);
  assert_int_equal(hd_analyze_launch(s.m, 0, &s.at, &s.launched, &d), HD_OK);
  hd_shape_print(&s.launched->tiles.shape, &shape);
  assert_string_equal(shape.data, "21x5:tile:3x4");
  assert_int_equal(s.launched->tiles.n[0] * s.launched->tiles.n[1] * s.launched->tiles.n[2], 105);
  check_formulas(&s, "pieces");
  hd_buf_free(&text);
  hd_buf_free(&shape);
  close_launch(&s);
}

static void the_arguments_that_decide_are_named(void **state) {
  subject s;
  open_launch(&s, kernels[0].body, 300, 200);
  assert_int_equal(s.launched->tiles.n_params, 1);
  assert_int_equal(s.launched->tiles.params[0], 3); /* n */
  assert_int_not_equal(s.launched->tiles.line, 0);
  close_launch(&s);
  open_launch(&s, GROUPED, 300, 200);
  assert_int_equal(s.launched->tiles.n_params, 2);
  close_launch(&s);
}

static void formulas_in_tiles_give_the_same_addresses(void **state) {
  for (uint64_t c = 0; c < 400; c++) {
    size_t i = c % (sizeof kernels / sizeof *kernels - 1);
    bool constant = strcmp(kernels[i].name, "a constant, by multiplication and shift") == 0;
    uint32_t rows = 1 + (uint32_t)(hd_random_at(1, c) % 900);
    uint32_t columns = constant ? 224 : 1 + (uint32_t)(hd_random_at(2, c) % 500);
    subject s;
    open_launch(&s, kernels[i].body, rows, columns);
    check_formulas(&s, kernels[i].name);
    /* Lines of tiles are the launch's own ids. */
    if (rows > 64 && columns > 32 && s.launched->tiles.answer != HD_TILES_FOUND)
      fail_msg("%s, %u x %u: answer %d", kernels[i].name, rows, columns, s.launched->tiles.answer);
    close_launch(&s);
  }
}

/* %r5 is the tile's number, which a loop counts up by the grid's size. */
static const char loop_head[] =
    "mul.lo.s32 %r36, %r3, %r4;\nmov.u32 %r37, %nctaid.x;\nsetp.ge.s32 %p2, %r5, %r36;\n"
    "@%p2 bra out;\nnext:\n";
static const char loop_tail[] =
    "shl.b32 %r21, %r10, 7;\nmad.lo.s32 %r22, %r11, 8192, %r21;\nmad.lo.s32 %r23, %r6, 4, %r22;\n"
    "cvt.s64.s32 %l5, %r23;\nadd.s64 %l6, %l2, %l5;\nst.global.u32 [%l6], %r6;\n"
    "mul.lo.s32 %r24, %r11, 256;\ncvt.s64.s32 %l7, %r24;\nadd.s64 %l8, %l1, %l7;\nld.global.u32 %r30, "
    "[%l8];\n"
    "add.s32 %r5, %r5, %r37;\nsetp.lt.s32 %p3, %r5, %r36;\n@%p3 bra next;\nout:\nret;\n}\n";

static void check_rounds(const subject *s) {
  uint64_t counters[4] = {0};
  uint32_t tiles = (s->args.rows + 63) / 64 * ((s->args.columns + 31) / 32), g = s->at.grid[0];
  for (uint32_t tile = 0; tile < tiles; tile++)
    for (uint32_t k = 0; k < s->plain->n_sites; k++) {
      hd_point at = s->at;
      int64_t before, after;
      at.ctaid[0] = tile % g;
      at.tid[0] = 7;
      counters[0] = tile / g;
      at.counters = counters;
      assert_true(hd_poly_eval(s->plain, s->plain->sites[k].address, &at, &before));
      assert_true(hd_poly_eval(s->launched, s->launched->sites[k].address, &at, &after));
      if (before != after) fail_msg("tile %u of %u, %u CTAs", tile, tiles, g);
    }
}

static void a_loop_over_tiles_is_seen_through(void **state) {
  for (uint32_t g = 1; g <= 12; g++) {
    subject s = {.args = {1ull << 40, 2ull << 40, 300, 200}};
    hd_buf text = {0}, shape = {0};
    hd_diag d = {0};
    s.at = (hd_point){.grid = {g, 1, 1}, .block = {32, 1, 1}, .args = &s.args, .args_bytes = sizeof s.args};
    hd_buf_printf(&text, "%s%s%s%s", head, loop_head, GROUPED, loop_tail);
    hd_arena_init(&s.arena);
    if (hd_ptx_parse(text.data, text.len, "loop", &s.arena, &s.m, &d) != HD_OK) fail_msg("%s", d.message);
    assert_int_equal(hd_analyze(s.m, 0, NULL, &s.plain, &d), HD_OK);
    assert_int_equal(hd_analyze_launch(s.m, 0, &s.at, &s.launched, &d), HD_OK);
    hd_shape_print(&s.launched->tiles.shape, &shape);
    if (g > 1 && (s.launched->tiles.loop != 0 || !shape.data || strcmp(shape.data, "7x5:band:4") != 0))
      fail_msg("%u CTAs: loop %d, shape %s", g, (int)s.launched->tiles.loop,
               shape.data ? shape.data : "none");
    check_rounds(&s);
    hd_buf_free(&text);
    hd_buf_free(&shape);
    close_launch(&s);
  }
}

static void what_decides_nothing_leaves_the_names(void **state) {
  subject s;
  hd_analysis *a;
  open_launch(&s, "mov.u32 %r10, %r5;\nmov.u32 %r11, 0;\n", 64, 320);
  assert_int_equal(hd_analyze_best(s.m, 0, NULL, &a, NULL), HD_OK);
  assert_false(a->at_launch);
  hd_analysis_free(a);
  close_launch(&s);
  open_launch(&s, GROUPED, 300, 200);
  assert_int_equal(hd_analyze_best(s.m, 0, &s.at, &a, NULL), HD_OK);
  assert_true(a->at_launch);
  hd_analysis_free(a);
  close_launch(&s);
}

/* The shape of 5 rows by 7 columns at a grid alone, or none. */
static void check_grid_alone(const char *body, hd_tiles_answer answer, const char *shape) {
  subject s;
  hd_analysis *a;
  hd_buf text = {0};
  open_launch(&s, body, 300, 200);
  s.at.args = NULL;
  memset(s.at.block, 0, sizeof s.at.block);
  assert_int_equal(hd_analyze_best(s.m, 0, &s.at, &a, NULL), HD_OK);
  assert_int_equal(a->tiles.answer, answer);
  assert_true(a->at_launch == (answer == HD_TILES_FOUND));
  hd_shape_print(&a->tiles.shape, &text);
  if (shape) assert_string_equal(text.data, shape);
  hd_buf_free(&text);
  hd_analysis_free(a);
  close_launch(&s);
}

static void the_grid_is_enough_if_constants_divide(void **state) {
  check_grid_alone("div.u32 %r11, %r5, 7;\nrem.u32 %r10, %r5, 7;\n", HD_TILES_FOUND, "7x5");
  check_grid_alone("mov.u32 %r3, 5;\nmov.u32 %r4, 7;\n" GROUPED, HD_TILES_FOUND, "7x5:band:4");
  check_grid_alone(GROUPED, HD_TILES_UNKNOWN, NULL);
  check_grid_alone("mov.u32 %r10, %r5;\nmov.u32 %r11, 0;\n", HD_TILES_NONE, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("tiles are found however the CTA's number is divided",
                tiles_are_found_however_the_number_is_divided),
      BEHAVIOUR("coordinates of boxes name the tiles, too", coordinates_of_boxes_name_the_tiles_too),
      BEHAVIOUR("pieces of a tile are columns of the shape", pieces_of_a_tile_are_columns_of_the_shape),
      BEHAVIOUR("the arguments that decide are named", the_arguments_that_decide_are_named),
      BEHAVIOUR("the grid is enough if constants divide the number", the_grid_is_enough_if_constants_divide),
      BEHAVIOUR("formulas in tiles give the same addresses", formulas_in_tiles_give_the_same_addresses),
      BEHAVIOUR("a loop over tiles is seen through", a_loop_over_tiles_is_seen_through),
      BEHAVIOUR("an argument that decides nothing leaves the names", what_decides_nothing_leaves_the_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
