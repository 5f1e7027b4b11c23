/* Generated inputs: fill = "generate", and the shapes of heddle_inputs.h. */
#include "check.h"

#include "../../kernels/include/heddle_inputs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "workload/workload.h"

static hd_diag diag;

static void write_workload(const char *reference, const char *code) {
  char text[1024];
  snprintf(
      text, sizeof text,
      "source = \"k.cu\"\n%s[sizes.small]\nn = 5\n[[buffer]]\nname = \"a\"\ntype = \"s32\"\ncount = \"n\"\n"
      "fill = \"generate\"\n[[buffer]]\nname = \"b\"\ntype = \"s32\"\ncount = \"n\"\nfill = \"iota\"\n"
      "[[buffer]]\nname = \"c\"\ntype = \"s32\"\ncount = \"n\"\ncompare = \"exact\"\n"
      "[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\nargs = [\"a\"]\n",
      reference);
  scratch_write("g/workload.toml", text);
  scratch_write("g/k.cu", "");
  scratch_write("g/reference.c", code);
}

static void generated_buffers_are_made_from_the_others_filled(void **state) {
  write_workload("reference = \"reference.c\"\n",
                 "#include <heddle_reference.h>\n#include <heddle_inputs.h>\n"
                 "void heddle_generate(const heddle_args *a) {\n"
                 "  for (int i = 0; i < 5; i++) heddle_s32(a, \"a\")[i] += 10 * heddle_s32(a, \"b\")[i];\n}\n"
                 "void heddle_reference(const heddle_args *a) { }\n");
  hd_workload *w;
  char line[1400];
  if (hd_workload_open(scratch_path("g"), NULL, NULL, &w, &diag) != HD_OK)
    fail_msg("%s", hd_diag_line(&diag, line, sizeof line));
  int32_t a[5] = {9, 9, 9, 9, 9}, b[5], c[5] = {7, 7, 7, 7, 7};
  void *const buffers[] = {a, b, c};
  bool written[3];
  if (hd_workload_fill_all(w, buffers, written, &diag) != HD_OK)
    fail_msg("%s", hd_diag_line(&diag, line, sizeof line));
  for (int i = 0; i < 5; i++) {
    assert_int_equal(a[i], 10 * i);
    assert_int_equal(b[i], i);
    assert_int_equal(c[i], 7);
  }
  assert_true(written[0] && written[1] && !written[2]);
  assert_int_equal(hd_workload_fill(w, 0, a, written, &diag), HD_ERR_USAGE);
  hd_workload_close(w);
}

/* Fills the workload's buffers a, b and c so many times; returns the calls of a generator that leaves a byte
 * in the file "calls" each time. */
static size_t calls_of_fills(const char *fill_of_c, int fills) {
  char code[1024], text[1024];
  snprintf(code, sizeof code,
           "#include <heddle_reference.h>\n#include <stdio.h>\n"
           "void heddle_generate(const heddle_args *a) {\n"
           "  FILE *f = fopen(\"%s/calls\", \"a\");\n  fputc('x', f);\n  fclose(f);\n"
           "  for (int i = 0; i < 5; i++) heddle_s32(a, \"a\")[i] = heddle_s32(a, \"c\")[i] = 10 + i;\n}\n"
           "void heddle_reference(const heddle_args *a) { }\n",
           scratch_path("g"));
  write_workload("reference = \"reference.c\"\n", code);
  hd_file f;
  assert_int_equal(hd_file_open(scratch_path("g/workload.toml"), &f, &diag), HD_OK);
  const char *end = strstr(f.data, "compare");
  snprintf(text, sizeof text, "%.*s%s%s", (int)(end - f.data), f.data, fill_of_c, end);
  hd_file_close(&f);
  scratch_write("g/workload.toml", text);
  scratch_write("g/calls", "");
  hd_workload *w;
  assert_int_equal(hd_workload_open(scratch_path("g"), NULL, NULL, &w, &diag), HD_OK);
  for (int k = 0; k < fills; k++) {
    int32_t a[5] = {k, k, k, k, k}, b[5] = {k}, c[5] = {k, k, k, k, k};
    void *const buffers[] = {a, b, c};
    bool written[3];
    assert_int_equal(hd_workload_fill_all(w, buffers, written, &diag), HD_OK);
    for (int i = 0; i < 5; i++) assert_true(a[i] == 10 + i && b[i] == i && c[i] == 10 + i);
  }
  hd_workload_close(w);
  assert_int_equal(hd_file_open(scratch_path("g/calls"), &f, &diag), HD_OK);
  const size_t calls = f.len;
  hd_file_close(&f);
  return calls;
}

static void what_was_generated_twice_is_copied_from_then_on(void **state) {
  assert_int_equal(calls_of_fills("fill = \"zero\"\n", 5), 2);
}

static void buffers_without_contents_are_generated_each_time(void **state) {
  assert_int_equal(calls_of_fills("", 5), 5);
}

static void a_reference_that_generates_nothing_is_answered(void **state) {
  write_workload("reference = \"reference.c\"\n",
                 "#include <heddle_reference.h>\nvoid heddle_reference(const heddle_args *a) { }\n");
  hd_workload *w;
  assert_int_equal(hd_workload_open(scratch_path("g"), NULL, NULL, &w, &diag), HD_OK);
  int32_t memory[15];
  void *const buffers[] = {memory, memory + 5, memory + 10};
  bool written[3];
  assert_int_equal(hd_workload_fill_all(w, buffers, written, &diag), HD_ERR_INPUT);
  assert_non_null(strstr(diag.message, "does not define void heddle_generate"));
  hd_workload_close(w);
}

static void generate_without_a_reference_is_refused_with_its_place(void **state) {
  write_workload("", "");
  hd_workload *w;
  assert_int_equal(hd_workload_open(scratch_path("g"), NULL, NULL, &w, &diag), HD_ERR_INPUT);
  assert_int_equal(diag.line, 8);
  assert_non_null(strstr(diag.message, "heddle_generate"));
}

/* ---- Shapes --------------------------------------------------------------------------------- */

typedef struct graph {
  int64_t nodes, edges;
  int32_t *row_start, *column;
} graph;

static graph new_graph(int64_t nodes, int64_t edges) {
  return (graph){nodes, edges, malloc((size_t)(nodes + 1) * 4), malloc((size_t)edges * 4)};
}

static void free_graph(graph *g) {
  free(g->row_start);
  free(g->column);
}

/* Starts ascend from 0 to all edges, columns ascend in each row and name nodes. The greatest degree. */
static int64_t check_graph(const graph *g) {
  int64_t greatest = 0;
  assert_int_equal(g->row_start[0], 0);
  assert_int_equal(g->row_start[g->nodes], g->edges);
  for (int64_t v = 0; v < g->nodes; v++) {
    int64_t degree = g->row_start[v + 1] - g->row_start[v];
    assert_true(degree >= 0);
    if (degree > greatest) greatest = degree;
    for (int32_t e = g->row_start[v]; e < g->row_start[v + 1]; e++) {
      assert_in_range(g->column[e], 0, g->nodes - 1);
      if (e > g->row_start[v]) assert_true(g->column[e] >= g->column[e - 1]);
    }
  }
  return greatest;
}

static void rmat_graphs_are_skewed_and_whole(void **state) {
  static const int64_t nodes[] = {1, 2, 3, 100, 1000, 4096, 5000};
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
    graph g = new_graph(nodes[i], nodes[i] * 8);
    heddle_rmat(i, g.nodes, g.edges, g.row_start, g.column);
    int64_t greatest = check_graph(&g);
    if (nodes[i] >= 1000) assert_true(greatest > 8 * 8); /* a uniform graph's stays below 30 */
    free_graph(&g);
  }
}

static int by_number(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* However it is made: by several threads, in buckets of rows, with the bits of a power of two. */
static void an_rmat_graph_is_its_edges_in_order(void **state) {
  static const int64_t nodes[] = {1, 2, 3, 4096, 5000, 1 << 17, 140000};
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
    graph g = new_graph(nodes[i], nodes[i] < 1 << 17 ? nodes[i] * 8 + 1 : 300001);
    uint64_t *want = malloc((size_t)g.edges * sizeof *want);
    for (int64_t e = 0; e < g.edges; e++) {
      int32_t from, to;
      heddle_rmat_edge(i, (uint64_t)e, g.nodes, &from, &to);
      want[e] = (uint64_t)from << 32 | (uint64_t)to;
    }
    qsort(want, (size_t)g.edges, sizeof *want, by_number);
    heddle_rmat(i, g.nodes, g.edges, g.row_start, g.column);
    check_graph(&g);
    for (int64_t v = 0; v < g.nodes; v++)
      for (int32_t e = g.row_start[v]; e < g.row_start[v + 1]; e++)
        assert_true(want[e] == ((uint64_t)v << 32 | (uint64_t)g.column[e]));
    free(want);
    free_graph(&g);
  }
}

static void banded_matrices_stay_in_their_band(void **state) {
  graph g = new_graph(777, 777 * 5);
  heddle_banded(3, g.nodes, 5, 20, g.row_start, g.column);
  assert_int_equal(check_graph(&g), 5);
  for (int64_t v = 0; v < g.nodes; v++)
    for (int32_t e = g.row_start[v]; e < g.row_start[v + 1]; e++) assert_true(llabs(g.column[e] - v) <= 20);
  free_graph(&g);
}

static void grid_graphs_join_neighbours(void **state) {
  int64_t w = 13, h = 7;
  graph g = new_graph(w * h, 2 * (w * (h - 1) + h * (w - 1)));
  heddle_grid_graph(w, h, g.row_start, g.column);
  assert_int_equal(check_graph(&g), 4);
  for (int64_t v = 0; v < g.nodes; v++)
    for (int32_t e = g.row_start[v]; e < g.row_start[v + 1]; e++)
      assert_int_equal(llabs(g.column[e] % w - v % w) + llabs(g.column[e] / w - v / w), 1);
  free_graph(&g);
}

static void permutations_hold_every_number_once(void **state) {
  enum { N = 1000 };
  int32_t p[N], seen[N] = {0}, moved = 0;
  heddle_permutation(5, N, p);
  for (int i = 0; i < N; i++) {
    assert_in_range(p[i], 0, N - 1);
    assert_int_equal(seen[p[i]]++, 0);
    moved += p[i] != i;
  }
  assert_true(moved > N / 2);
}

static void zipf_ranks_halve_as_they_double(void **state) {
  enum { N = 1 << 16, DRAWS = 100000 };
  int64_t octave[17] = {0};
  for (uint64_t i = 0; i < DRAWS; i++) {
    int64_t rank = heddle_zipf(9, i, N - 1), o = 0;
    assert_in_range(rank, 0, N - 2);
    while ((rank + 1) >> (o + 1)) o++;
    octave[o]++;
  }
  for (int o = 0; o < 16; o++) assert_in_range(octave[o], DRAWS / 16 * 9 / 10, DRAWS / 16 * 11 / 10);
  for (int64_t n = 1; n < 40; n++)
    for (uint64_t i = 0; i < 200; i++) assert_in_range(heddle_zipf(1, i, n), 0, n - 1);
}

static void dna_has_four_letters_and_repeats(void **state) {
  enum { N = 20000, WORD = 16 };
  uint8_t *t = malloc(N);
  heddle_dna(2, N, t);
  int64_t repeated = 0;
  for (int i = 0; i < N; i++) assert_non_null(memchr("ACGT", t[i], 4));
  for (int i = 0; i + WORD <= N; i += WORD)
    for (int j = 0; j < i; j++)
      if (memcmp(t + i, t + j, WORD) == 0) {
        repeated++;
        break;
      }
  assert_true(repeated > N / WORD / 50); /* of 4^16 words, random texts of this length repeat none */
  free(t);
}

static void points_lie_around_their_centres(void **state) {
  enum { N = 500, CLUSTERS = 3 };
  float p[N * 2];
  heddle_clustered(1, N, 2, CLUSTERS, 0.01, p);
  int64_t close = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++)
      close += fabsf(p[2 * i] - p[2 * j]) < 0.02f && fabsf(p[2 * i + 1] - p[2 * j + 1]) < 0.02f;
  assert_true(close > N * (N - 1) / 2 / CLUSTERS * 9 / 10);
}

static void pixels_are_bytes_and_mostly_smooth(void **state) {
  int64_t smooth = 0;
  for (int64_t y = 0; y < 100; y++)
    for (int64_t x = 0; x < 100; x++) {
      int a = heddle_pixel(4, x, y), b = heddle_pixel(4, x + 1, y);
      assert_in_range(a, 0, 255);
      smooth += abs(a - b) < 32;
    }
  assert_in_range(smooth, 9000, 9999);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(generated_buffers_are_made_from_the_others_filled),
      cmocka_unit_test(what_was_generated_twice_is_copied_from_then_on),
      cmocka_unit_test(buffers_without_contents_are_generated_each_time),
      cmocka_unit_test(a_reference_that_generates_nothing_is_answered),
      cmocka_unit_test(generate_without_a_reference_is_refused_with_its_place),
      cmocka_unit_test(rmat_graphs_are_skewed_and_whole),
      cmocka_unit_test(an_rmat_graph_is_its_edges_in_order),
      cmocka_unit_test(banded_matrices_stay_in_their_band),
      cmocka_unit_test(grid_graphs_join_neighbours),
      cmocka_unit_test(permutations_hold_every_number_once),
      cmocka_unit_test(zipf_ranks_halve_as_they_double),
      cmocka_unit_test(dna_has_four_letters_and_repeats),
      cmocka_unit_test(points_lie_around_their_centres),
      cmocka_unit_test(pixels_are_bytes_and_mostly_smooth),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
