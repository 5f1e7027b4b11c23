/* The code that orders put at entry: which special registers it reads, which code is left out, and where
 * tables lie. Other tests run the code and check its results. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/rewrite.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define KERNEL(body)                                                                                         \
  HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<9>;\n"        \
       ".reg .b64 %rd<9>;\n" body "\nret;\n}\n"

#define READS_XY "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nadd.u32 %r3, %r1, %r2;"

static const hd_grid any_grid = {.known = false, .n_sms = 1};

static hd_grid known(uint32_t x, uint32_t y, uint32_t z) {
  return (hd_grid){.known = true, .g = {x, y, z}, .n_sms = 1};
}

/* The module under the plan, as text; to be freed. */
static char *rewritten(const char *text, const char *notation, hd_grid grid, const hd_table *table) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_diag d = {0};
  hd_plan p;
  hd_buf out = {0};
  hd_arena_init(&arena);
  if (hd_ptx_parse(text, strlen(text), "test", &arena, &m, &d) != HD_OK)
    fail_msg("line %u: %s", d.line, d.message);
  if (hd_plan_parse(notation, &p, &d) != HD_OK) fail_msg("%s: %s", notation, d.message);
  const hd_rewrite_options o = {.grid = grid, .table = table};
  hd_recipe recipe;
  if (hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, &recipe, &d) != HD_OK)
    fail_msg("%s: %s", notation, d.message);
  assert_int_equal(hd_ptx_print(m, &out), HD_OK);
  hd_buf_putc(&out, 0);
  hd_arena_free(&arena);
  return out.data;
}

/* Occurrences of `word` in the rewritten text. */
static unsigned count(const char *text, const char *notation, hd_grid grid, const char *word) {
  char *out = rewritten(text, notation, grid, NULL);
  unsigned n = 0;
  for (const char *at = out; (at = strstr(at, word)); at++) n++;
  free(out);
  return n;
}

static bool contains(const char *text, const char *notation, hd_grid grid, const char *word) {
  return count(text, notation, grid, word) > 0;
}

static void a_coordinate_that_the_order_leaves_alone_is_not_worked_out(void **state) {
  /* Rows of the zigzag are the grid's: y stays. Pairs of them fill the grid's rows: so does it. */
  const char *const plans[] = {"order=zigzag:8", "order=zigzag:4", "order=zigzag:2x2"};
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    assert_false(contains(KERNEL(READS_XY), plans[i], known(8, 5, 1), "mul.hi"));
    assert_int_equal(count(KERNEL("mov.u32 %r2, %ctaid.y;"), plans[i], known(8, 5, 1), "%ctaid"), 1);
  }
  /* Of a reversed grid each coordinate is its own mirror image. */
  assert_int_equal(count(KERNEL("mov.u32 %r1, %ctaid.x;"), "order=reverse", known(8, 5, 3), "%ctaid"), 1);
}

static void coordinates_in_vectors_are_replaced(void **state) {
  const char *const bodies[] = {
      "mov.b64 %rd1, {%ctaid.x, %ctaid.y};",
      "mov.b64 %rd1, {%r1, %ctaid.x};\nmov.u32 %r2, %ctaid.y;",
      "st.global.v2.u32 [%rd1], {%ctaid.x, %ctaid.y};",
      "st.global.v4.b32 [%rd1], {%r1, %ctaid.y, %ctaid.x, %r2};",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s",
             HEAD ".visible .entry k()\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n", bodies[i], "\nret;\n}\n");
    char *out = rewritten(text, "order=col", known(8, 5, 1), NULL);
    const char *body = strstr(out, strncmp(bodies[i], "mov", 3) == 0 ? "mov.b64" : "st.global");
    assert_non_null(body);
    if (strstr(body, "%ctaid") || !strstr(body, "%heddle")) fail_msg("case %zu:\n%s", i, out);
    free(out);
  }
}

static void an_order_that_is_the_grids_own_adds_nothing(void **state) {
  char *before = rewritten(KERNEL(READS_XY), "baseline", known(8, 5, 1), NULL);
  const char *const plans[] = {
      "order=tile:8x2",  "order=tile:3x1",    "order=band:1",     "order=stride:40x1", "order=zigzag:40",
      "order=zigzag:21", "order=tile:2x3x21", "order=tile:7x3x7", "order=tile:2x1x7",  "order=tile:2x3x41"};
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    char *after = rewritten(KERNEL(READS_XY), plans[i], known(8, 5, 1), NULL);
    assert_string_equal(after, before);
    free(after);
  }
  free(before);
}

static void a_copy_of_a_coordinate_goes_unless_somebody_could_tell(void **state) {
  static const struct {
    const char *body;
    bool goes;
  } cases[] = {
      {"mov.u32 %r1, %ctaid.x;\nadd.u32 %r2, %r1, 1;", true},
      {"mov.b32 %r1, %ctaid.x;\nst.shared.v2.u32 [%r1], {%r1, %r1};", true},
      {"mov.u32 %r1, %ctaid.x;\nL:\nadd.u32 %r2, %r1, 1;\n@%p1 bra L;", true},
      {"mov.u32 %r1, %ctaid.x;\nadd.u32 %r1, %r1, 1;", false},      /* written again */
      {"mov.u32 %r1, %ctaid.x;\nmov.b64 {%r1, %r2}, %rd1;", false}, /* the same, in a vector */
      {"add.u32 %r2, %r1, 1;\nmov.u32 %r1, %ctaid.x;", false},      /* read above */
      {"@%p1 mov.u32 %r1, %ctaid.x;\nadd.u32 %r2, %r1, 1;", false}, /* not by all threads */
      {"L:\nmov.u32 %r1, %ctaid.x;\n@%p1 bra L;", false},           /* not once */
      {"@%p1 bra L;\nmov.u32 %r1, %ctaid.x;\nL:\nadd.u32 %r2, %r1, 1;", false},
      {"mov.u16 %h1, %ctaid.x;", false}, /* half of it */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s",
             HEAD ".visible .entry k()\n{\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n"
                  ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n",
             cases[i].body, "\nret;\n}\n");
    char *out = rewritten(text, "order=reverse", known(9, 1, 1), NULL);
    bool gone = !strstr(out, "mov.u32 %r1, %heddle") && !strstr(out, "mov.b32 %r1, %heddle") &&
                !strstr(out, "mov.u16 %h1, %heddle");
    if (gone != cases[i].goes) fail_msg("case %zu:\n%s", i, out);
    if (gone) assert_null(strstr(out, "%r1,"));
    free(out);
  }
}

static void orders_of_any_grid_go_around_where_they_must(void **state) {
  /* Divisions by numbers that only the launch knows are avoided for grids of one row. */
  const char *const keep_lines[] = {"order=col", "order=band:3", "order=tile:3x2", "order=hilbert"};
  for (size_t i = 0; i < 4; i++) {
    assert_true(contains(KERNEL(READS_XY), keep_lines[i], any_grid, "_line bra"));
    assert_true(contains(KERNEL(READS_XY), keep_lines[i], any_grid, "_large bra"));
  }
  assert_false(contains(KERNEL(READS_XY), "order=stride:3x2", any_grid, "_line bra"));
  assert_false(contains(KERNEL(READS_XY), "order=col,bind=redirect", any_grid, "_line bra"));
  /* order=reverse divides by nothing and is right for any number of tasks: it needs no branch. */
  assert_false(contains(KERNEL(READS_XY), "order=reverse", any_grid, "bra"));
}

static void a_packed_table_lies_in_constant_memory_where_there_is_room(void **state) {
  assert_true(contains(KERNEL(READS_XY), "order=hilbert", known(128, 128, 1), ".const .align 4 .u32"));
  assert_true(contains(KERNEL(READS_XY), "order=hilbert", known(129, 128, 1), ".global .align 4 .u32"));
  assert_false(contains(KERNEL(READS_XY), "order=hilbert", known(257, 256, 1), "_order"));
  /* One plane serves all. */
  assert_true(contains(KERNEL(READS_XY), "order=hilbert", known(128, 128, 7), "_order[16384]"));
  /* The module's own variables come first. */
  assert_true(contains(HEAD ".const .align 4 .b8 c[4];\n.visible .entry k()\n{\n.reg .b32 %r<9>;\n" READS_XY
                            "ret;\n}\n",
                       "order=hilbert", known(128, 128, 1), ".global .align 4 .u32"));
  assert_true(contains(HEAD
                       ".extern .const .align 4 .b8 c[];\n.visible .entry k()\n{\n.reg .b32 %r<9>;\n" READS_XY
                       "ret;\n}\n",
                       "order=hilbert", known(2, 2, 1), ".global .align 4 .u32"));
}

static void a_table_of_a_plane_holds_both_coordinates(void **state) {
  uint32_t task[6] = {5, 4, 3, 2, 1, 0};
  const hd_table t = {task, 6};
  char *out = rewritten(KERNEL(READS_XY), "order=affinity", known(3, 2, 1), &t);
  assert_non_null(strstr(out, "= {65538, 65537, 65536, 2, 1, 0}"));
  free(out);
  out = rewritten(KERNEL(READS_XY), "order=affinity", known(6, 1, 1), &t);
  assert_non_null(strstr(out, ".u16"));
  free(out);
  /* In a box, and where tasks are claimed, task numbers. */
  out = rewritten(KERNEL(READS_XY), "order=affinity", known(3, 1, 2), &t);
  assert_non_null(strstr(out, "= {5, 4, 3, 2, 1, 0}"));
  free(out);
  out = rewritten(KERNEL(READS_XY), "order=affinity,bind=claim", known(3, 2, 1), &t);
  assert_non_null(strstr(out, "= {5, 4, 3, 2, 1, 0}"));
  free(out);
}

/* Instructions of the kernel's body. */
static unsigned instructions(const char *notation, hd_grid grid) {
  return count(KERNEL(READS_XY), notation, grid, ";\n") - count(KERNEL(READS_XY), notation, grid, "\t.reg") -
         count(KERNEL(READS_XY), notation, grid, ".const .align");
}

/* Of a plane: at most so many more than the original's. Grids that nothing divides, and some that it does. */
static void orders_of_known_planes_add_few_instructions(void **state) {
  static const struct {
    const char *plan;
    uint32_t g[2];
    unsigned most;
  } cases[] = {
      {"order=col", {1000, 777}, 3},           {"order=reverse", {1000, 777}, 2},
      {"order=band:8", {1000, 777}, 11},       {"order=band:8", {1000, 776}, 6},
      {"order=tile:8x4", {1001, 777}, 17},     {"order=tile:8x4", {1000, 776}, 10},
      {"order=zigzag:3", {1000, 777}, 9},      {"order=zigzag:7x3", {1000, 777}, 10},
      {"order=zigzag:8", {1000, 777}, 7},      {"order=zigzag:1000", {1000, 777}, 4},
      {"order=zigzag:4", {1024, 777}, 4},      {"order=stride:3x2", {1000, 777}, 10},
      {"order=stride:1000x1", {1000, 777}, 6}, {"order=stride:64x4", {1000, 777}, 13},
      {"order=hilbert", {100, 77}, 6},
  };
  const hd_grid own = known(1000, 777, 1);
  unsigned original = instructions("baseline", own);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned added = instructions(cases[i].plan, known(cases[i].g[0], cases[i].g[1], 1)) - original;
    if (added > cases[i].most) fail_msg("%s adds %u, not %u", cases[i].plan, added, cases[i].most);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a coordinate that the order leaves alone is not worked out",
                a_coordinate_that_the_order_leaves_alone_is_not_worked_out),
      BEHAVIOUR("coordinates in vectors are replaced", coordinates_in_vectors_are_replaced),
      BEHAVIOUR("an order that is the grid's own adds nothing", an_order_that_is_the_grids_own_adds_nothing),
      BEHAVIOUR("a copy of a coordinate goes unless somebody could tell",
                a_copy_of_a_coordinate_goes_unless_somebody_could_tell),
      BEHAVIOUR("orders of any grid go around where they must", orders_of_any_grid_go_around_where_they_must),
      BEHAVIOUR("a packed table lies in constant memory where there is room",
                a_packed_table_lies_in_constant_memory_where_there_is_room),
      BEHAVIOUR("a table of a plane holds both coordinates", a_table_of_a_plane_holds_both_coordinates),
      BEHAVIOUR("orders of known planes add few instructions", orders_of_known_planes_add_few_instructions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
