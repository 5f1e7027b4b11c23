/* Tables of fields, and what walks them. */
#include "golden.h"

#include <math.h>

#include "report/fields.h"
#include "report/json.h"

typedef struct part {
  const char *name;
  uint32_t n;
} part;
typedef struct made_up {
  char name[16];
  const char *note;
  double speedup, share, seconds;
  uint64_t bytes;
  bool good, known;
  hd_plan plan;
  uint32_t grid[3];
  float shares[4];
  uint32_t n_shares;
  const part *parts;
  size_t n_parts;
  const part *favourite;
} made_up;

static bool is_known(const void *row) { return ((const made_up *)row)->known; }
static bool has_name(const void *p) { return ((const part *)p)->name; }
static double half(const void *row) { return ((const made_up *)row)->speedup / 2; }
static int64_t twice(const void *row) { return (int64_t)(2 * ((const made_up *)row)->bytes); }
static void put_both(const void *row, hd_buf *out) {
  hd_buf_printf(out, "%s twice", ((const made_up *)row)->name);
}

static const field part_fields[] = {{"name", MEMBER(part, name)}, {"n", MEMBER(part, n)}, {0}};
enum { EXTRA = 1, OTHER = 2 };
static const field fields[] = {
    {"name", "name", MEMBER(made_up, name)},
    {"note", "note", .absent = "none", MEMBER(made_up, note)},
    {"plan", "plan", MEMBER(made_up, plan)},
    {"grid", ARRAY(made_up, grid)},
    {"shares", FIRST(made_up, shares, n_shares)},
    {"parts", LIST(made_up, parts, n_parts, part_fields)},
    {"favourite", .has = has_name, STRUCT_AT(made_up, favourite, part_fields)},
    {"favourite_n", THROUGH(made_up, favourite, part, n)},
    {.section = is_known},
    {"speedup", "speedup", FIELD_RATIO, 2, .null = true, MEMBER(made_up, speedup)},
    {"share", "share", FIELD_PERCENT, 1, MEMBER(made_up, share)},
    {"seconds", "took", FIELD_SECONDS, 1, MEMBER(made_up, seconds)},
    {.section = field_always},
    {"bytes", "MB", FIELD_MEGABYTES, 1, MEMBER(made_up, bytes)},
    {"good", "good", MEMBER(made_up, good)},
    {"half", .null = true, .real = half},
    {"twice", "twice", .only = EXTRA, .count = twice},
    {.heading = "both", .only = OTHER, .put = put_both},
    {0},
};

static const part parts[] = {{"a", 1}, {"b", 2}}, nobody;
static const made_up one = {.name = "one",
                            .note = "a \"note\"",
                            .speedup = 1.25,
                            .share = 0.125,
                            .seconds = 1.5,
                            .bytes = 2500000,
                            .good = true,
                            .known = true,
                            .plan = {.order = {.kind = HD_ORDER_COL}},
                            .grid = {4, 2, 1},
                            .shares = {0.5f, 0.25f},
                            .n_shares = 2,
                            .parts = parts,
                            .n_parts = 2,
                            .favourite = &parts[1]},
                     two = {.name = "two", .speedup = INFINITY, .favourite = &nobody};

static void json_has_what_is_there_in_the_tables_order(void **state) {
  hd_buf out = {0};
  report_put_fields_json(fields, &one, &out);
  report_put_fields_json(fields, &two, &out);
  assert_golden("fields.json", &out);
}

static void text_has_a_column_for_each_heading(void **state) {
  hd_buf out = {0};
  for (unsigned only = 0; only <= (EXTRA | OTHER); only++) {
    field_sheet s = report_sheet(fields, only);
    report_sheet_row(&s, &one);
    report_sheet_row(&s, &two);
    report_put_sheet(&s, &out);
    hd_buf_putc(&out, '\n');
  }
  report_put_lines(fields, &one, &out);
  report_put_lines(fields, &two, &out);
  assert_golden("fields.txt", &out);
}

static void markdown_and_csv_walk_the_same_table(void **state) {
  static const field simple[] = {{"name", "name", MEMBER(made_up, name)},
                                 {"plan", "plan", MEMBER(made_up, plan)},
                                 {"share", "share", FIELD_PERCENT, 1, MEMBER(made_up, share)},
                                 {0}};
  hd_buf out = {0};
  report_put_markdown_head(simple, &out);
  report_put_markdown_row(simple, &one, &out);
  report_put_csv_head(simple, &out);
  report_put_csv_row(simple, &one, &out);
  assert_string_equal(out.data, "| name | plan | share |\n| --- | --- | ---: |\n| one | order=col | 12.5% |\n"
                                "name,plan,share\none,\"order=col\",0.1\n");
  hd_buf_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("JSON has what is there, in the table's order", json_has_what_is_there_in_the_tables_order),
      BEHAVIOUR("text has a column for each heading", text_has_a_column_for_each_heading),
      BEHAVIOUR("Markdown and CSV walk the same table", markdown_and_csv_walk_the_same_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
