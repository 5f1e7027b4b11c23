/* The notation: parsing, printing, messages. */
#include "plan/generate.h"

static void check_print(const hd_plan *p, const char *want) {
  hd_buf b = {0};
  hd_plan_print(p, &b);
  assert_string_equal(b.data, want);
  hd_buf_free(&b);
}

static void parsing_what_was_printed_gives_the_same_plan(void **state) {
  random_stream r = {.seed = 0x9a};
  static const char *const names[] = {"t",        "a,b",     "dir/t.txt", "a,order", ",",
                                      "x=y",      "a,b=c,d", "bind=x",    "a,,bind", "#",
                                      "\xff\x01", "a b",     "table:f",   "a,"};
  for (int c = 0; c < 20000; c++) {
    uint32_t g[3];
    draw_grid(&r, g);
    hd_plan p = draw_full_plan(&r, g), again;
    assert_int_equal(hd_plan_check(&p, NULL), HD_OK);
    if (p.split.kind < HD_SPLIT_ROWS && !p.shape.kind && draw(&r, 0, 5) == 0)
      assert_int_equal(hd_plan_order_by(&p, names[draw(&r, 0, sizeof names / sizeof *names - 1)], NULL),
                       HD_OK);
    hd_buf b = {0}, twice = {0};
    hd_plan_print(&p, &b);
    hd_diag d = {0};
    if (hd_plan_parse(b.data, &again, &d) != HD_OK) fail_msg("%s: %s", b.data, d.message);
    hd_plan_print(&again, &twice);
    assert_string_equal(b.data, twice.data);
    assert_true(hd_plan_equal(&p, &again));
    assert_true(hd_plan_equal(&again, &p));
    hd_buf_free(&b);
    hd_buf_free(&twice);
  }
}

static void printing_is_canonical(void **state) {
  static const char *const pairs[][2] = {
      {"baseline", "baseline"},
      {"order=row", "baseline"},
      {"bind=none", "baseline"},
      {"order=row,bind=none", "baseline"},
      {"bind=redirect", "bind=redirect"},
      {"bind=redirect,order=col", "order=col,bind=redirect"},
      {"bind=none,order=hilbert", "order=hilbert"},
      {"order=band:008", "order=band:8"},
      {"order=tile:1x1", "order=tile:1x1"},
      {"order=tile:08x4x032", "order=tile:8x4x32"},
      {"threads=cta:tile:8x4x1", "threads=cta:tile:8x4x1"},
      {"order=col,shape=8x4:tile:2x2x16", "order=col,shape=8x4:tile:2x2x16"},
      {"order=tile:8x4,bind=redirect", "order=tile:8x4,bind=redirect"},
      {"order=zigzag:8", "order=zigzag:8"},
      {"order=zigzag:8x1", "order=zigzag:8"},
      {"order=zigzag:8x2", "order=zigzag:8x2"},
      {"order=stride:4294967295x4294967295", "order=stride:4294967295x4294967295"},
      {"order=reverse", "order=reverse"},
      {"order=table:a,b", "order=table:a,b"},
      {"bind=redirect,order=table:a,x=1", "order=table:a,x=1,bind=redirect"},
      {"order=heavy-first", "order=heavy-first"},
      {"shape=8x4,order=col", "order=col,shape=8x4"},
      {"order=col,shape=08x4x2", "order=col,shape=8x4x2"},
      {"order=col,shape=8x4:row", "order=col,shape=8x4"},
      {"order=row,shape=8x4:band:08", "shape=8x4:band:8"},
      {"bind=claim,split=rows,shape=8x4", "shape=8x4,bind=claim,split=rows"},
      {"shape=auto,order=tile:4x4", "order=tile:4x4,shape=auto"},
      {"shape=auto", "shape=auto"},
      {"bind=agents", "bind=agents"},
      {"bind=agents:06,order=affinity", "order=affinity,bind=agents:6"},
      {"bind=agents:auto,order=col", "order=col,bind=agents:auto"},
      {"split=wave:4,bind=agents:auto,shape=8x4,order=col",
       "order=col,shape=8x4,bind=agents:auto,split=wave:4"},
      {"split=chunk", "baseline"},
      {"split=wave:4,bind=claim", "bind=claim,split=wave:4"},
      {"split=cols,order=col,bind=redirect", "order=col,bind=redirect,split=cols"},
      {"take=tasks", "baseline"},
      {"take=segments,bind=agents:2", "bind=agents:2,take=segments"},
      {"take=segments:08,split=rows,bind=agents", "bind=agents,split=rows,take=segments:8"},
      {"take=strides,bind=agents:2", "bind=agents:2,take=strides"},
      {"threads=row", "baseline"},
      {"threads=cta:row", "baseline"},
      {"bypass=l1:0", "bypass=l1:0"},
      {"form=auto", "baseline"},
      {"form=predicate,bypass=l1:1", "bypass=l1:1,form=predicate"},
      {"form=auto,bypass=l1:1", "bypass=l1:1"},
      {"form=replicate,bypass=auto", "bypass=auto,form=replicate"},
      {"stream=l1", "stream=l1"},
      {"stream=auto", "stream=auto"},
      {"stream=0+3+12", "stream=0+3+12"},
      {"stream=0+1+31+32+1023", "stream=0+1+31+32+1023"},
      {"prefetch=l2:04,bypass=ro:2", "bypass=ro:2,prefetch=l2:4"},
      {"sms=0-3+4+9-9+20-31,bind=agents", "bind=agents,sms=0-4+9+20-31"},
      {"sms=30-33+1023,bind=agents", "bind=agents,sms=30-33+1023"},
      {"sms=0-1022+1023,bind=agents", "bind=agents,sms=0-1023"},
      {"sms=0-65,bypass=l1:4,bind=agents:6,order=tile:8x4",
       "order=tile:8x4,bind=agents:6,bypass=l1:4,sms=0-65"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    hd_plan p;
    hd_diag d = {0};
    if (hd_plan_parse(pairs[i][0], &p, &d) != HD_OK) fail_msg("%s: %s", pairs[i][0], d.message);
    check_print(&p, pairs[i][1]);
    assert_int_equal(hd_plan_is_baseline(&p), strcmp(pairs[i][1], "baseline") == 0);
  }
}

static void zigzag_8_and_zigzag_8x1_are_one_plan(void **state) {
  hd_plan a, b;
  assert_int_equal(hd_plan_parse("order=zigzag:8", &a, NULL), HD_OK);
  assert_int_equal(hd_plan_parse("order=zigzag:8x1", &b, NULL), HD_OK);
  assert_true(hd_plan_equal(&a, &b));
}

static void plans_differ_when_a_lever_does(void **state) {
  static const char *const plans[] = {
      "baseline",
      "order=col",
      "order=band:2",
      "order=band:3",
      "order=tile:2x3",
      "order=tile:3x2",
      "order=tile:3x2x1",
      "order=tile:3x2x4",
      "order=zigzag:2x3",
      "order=stride:2x3",
      "order=hilbert",
      "order=reverse",
      "order=table:a",
      "order=table:b",
      "bind=redirect",
      "order=col,bind=redirect",
      "order=affinity",
      "order=heavy-first",
      "order=col,shape=2x3",
      "order=col,shape=2x4",
      "order=col,shape=auto",
      "order=col,shape=2x3x1",
      "order=col,shape=2x3:reverse",
      "order=col,shape=2x3:band:2",
      "order=col,shape=2x3:band:3",
      "order=col,shape=2x3:tile:2x2",
      "order=col,shape=2x3:tile:2x2x3",
      "bind=agents",
      "bind=agents:1",
      "bind=agents:2",
      "bind=agents:auto",
      "bind=claim",
      "bind=cancel",
      "bind=claim,split=wave:1",
      "bind=claim,split=wave:2",
      "bind=claim,split=rows",
      "bind=agents,take=segments",
      "bind=agents,take=segments:2",
      "bind=agents,take=strides",
      "threads=col",
      "threads=tile:2x2",
      "threads=tile:2x2x8",
      "threads=cta:col",
      "threads=cta:tile:2x2",
      "bypass=l1:1",
      "bypass=ro:1",
      "bypass=l1:2",
      "bypass=auto",
      "bypass=auto,form=replicate",
      "stream=l1",
      "stream=auto",
      "stream=1",
      "stream=1+2",
      "prefetch=l1:1",
      "prefetch=l1:2",
      "prefetch=l2:1",
      "bind=agents,sms=0",
      "bind=agents,sms=0-1",
      "bypass=l1:1+l2:1",
      "bypass=l1:1+l2:2",
  };
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
      hd_plan a, b;
      assert_int_equal(hd_plan_parse(plans[i], &a, NULL), HD_OK);
      assert_int_equal(hd_plan_parse(plans[k], &b, NULL), HD_OK);
      assert_int_equal(hd_plan_equal(&a, &b), i == k);
    }
}

static void a_file_name_ends_before_a_lever_and_nowhere_else(void **state) {
  static const char *const cases[][2] = {
      {"order=table:a,b,bind=redirect", "a,b"}, {"order=table:a,bindings=3", "a,bindings=3"},
      {"order=table:a=b,c", "a=b,c"},           {"order=table:,,bind=none", ","},
      {"order=table:bind=none", "bind=none"},   {"order=table:a:b", "a:b"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_plan p;
    assert_int_equal(hd_plan_parse(cases[i][0], &p, NULL), HD_OK);
    assert_string_equal(p.table, cases[i][1]);
  }
}

static const struct {
  const char *text;
  hd_status status;
  uint32_t column;
  const char *says; /* part of the message */
} mistakes[] = {
    {"", HD_ERR_INPUT, 1, "baseline"},
    {"col", HD_ERR_INPUT, 1, "'col' is no lever=value"},
    {"order", HD_ERR_INPUT, 1, "'order'"},
    {"order=", HD_ERR_INPUT, 7, "no such order"},
    {"order=zebra", HD_ERR_INPUT, 7, "order=zebra"},
    {"order=Col", HD_ERR_INPUT, 7, "order=Col"},
    {" order=col", HD_ERR_INPUT, 1, "no lever"},
    {"order=col ", HD_ERR_INPUT, 7, "order=col "},
    {"order=col:3", HD_ERR_INPUT, 7, "write col"},
    {"order=col:", HD_ERR_INPUT, 7, "write col"},
    {"order=band", HD_ERR_INPUT, 7, "write band:H"},
    {"order=band:", HD_ERR_INPUT, 12, "order=band:"},
    {"order=band:0", HD_ERR_INPUT, 12, "order=band:0"},
    {"order=band:4294967296", HD_ERR_INPUT, 12, "'4294967296'"},
    {"order=band:99999999999999999999999999", HD_ERR_INPUT, 12, "whole number"},
    {"order=band:-1", HD_ERR_INPUT, 12, "'-1'"},
    {"order=band:2x3", HD_ERR_INPUT, 12, "'2x3'"},
    {"order=tile:8", HD_ERR_INPUT, 12, "tile:WxH"},
    {"order=tile:8x", HD_ERR_INPUT, 14, "order=tile:8x"},
    {"order=tile:8x0", HD_ERR_INPUT, 14, "'0'"},
    {"order=tile:x8", HD_ERR_INPUT, 12, "''"},
    {"order=tile:8x4x", HD_ERR_INPUT, 16, "''"},
    {"order=tile:8x4x0", HD_ERR_INPUT, 16, "'0'"},
    {"order=tile:8xx4", HD_ERR_INPUT, 14, "''"},
    {"order=tile:8x4x2x1", HD_ERR_INPUT, 16, "'2x1'"},
    {"order=tile:8x4x4294967296", HD_ERR_INPUT, 16, "'4294967296'"},
    {"order=stride:8x4x2", HD_ERR_INPUT, 16, "'4x2'"},
    {"order=stride:8", HD_ERR_INPUT, 14, "stride:AxB"},
    {"order=zigzag:0", HD_ERR_INPUT, 14, "'0'"},
    {"order=zigzag:8x0", HD_ERR_INPUT, 16, "'0'"},
    {"order=table", HD_ERR_INPUT, 7, "table:FILE"},
    {"order=table:", HD_ERR_INPUT, 7, "table:FILE"},
    {"order=table:,bind=redirect", HD_ERR_INPUT, 7, "table:FILE"},
    {"threads=table:f", HD_ERR_INPUT, 9, "an order of threads cannot be a table"},
    {"threads=cta:table:a,b,bind=claim", HD_ERR_INPUT, 13, "an order of threads cannot be a table"},
    {"order=table:a,order=col", HD_ERR_INPUT, 15, "twice"},
    {"order=col,shape=", HD_ERR_INPUT, 17, "''"},
    {"order=col,shape=8", HD_ERR_INPUT, 17, "WxH"},
    {"order=col,shape=8x0", HD_ERR_INPUT, 19, "'0'"},
    {"order=col,shape=8x4x2x1", HD_ERR_INPUT, 17, "WxHxD"},
    {"order=col,shape=8x4:", HD_ERR_INPUT, 21, "no such order"},
    {"order=col,shape=8x4:band", HD_ERR_INPUT, 21, "write band:H"},
    {"order=col,shape=8x4:table:f", HD_ERR_INPUT, 21, "cannot be a table"},
    {"order=col,shape=8x4:affinity", HD_ERR_INPUT, 1, "cannot be a table"},
    {"shape=8x4", HD_ERR_INPUT, 1, "needs an order"},
    {"shape=8x4,bind=claim", HD_ERR_INPUT, 1, "needs an order"},
    {"order=col,shape=auto:col", HD_ERR_INPUT, 17, "'auto'"},
    {"order=affinity,shape=auto", HD_ERR_INPUT, 1, "no table"},
    {"order=affinity,shape=8x4", HD_ERR_INPUT, 1, "no table"},
    {"order=table:f,shape=8x4", HD_ERR_INPUT, 1, "no table"},
    {"bind=best", HD_ERR_INPUT, 6, "bind=best"},
    {"bind=redirect:3", HD_ERR_INPUT, 6, "bind=redirect:3"},
    {"bind=none,bind=none", HD_ERR_INPUT, 11, "lever bind is given twice"},
    {"order=col,", HD_ERR_INPUT, 11, "''"},
    {",order=col", HD_ERR_INPUT, 1, "''"},
    {"order=col,,bind=none", HD_ERR_INPUT, 11, "''"},
    {"order=col,baseline", HD_ERR_INPUT, 11, "stands alone"},
    {"baseline,order=col", HD_ERR_INPUT, 1, "stands alone"},
    {"colour=red", HD_ERR_INPUT, 1, "colour=red"},
    {"=3", HD_ERR_INPUT, 1, "=3"},
    {"bind=agents:0", HD_ERR_INPUT, 13, "'0'"},
    {"bind=agents:", HD_ERR_INPUT, 13, "''"},
    {"bind=agents:automatic", HD_ERR_INPUT, 13, "'automatic'"},
    {"bind=claim:auto", HD_ERR_INPUT, 6, "write claim"},
    {"bind=agents:auto,take=segments", HD_ERR_INPUT, 1, "with order, shape and split alone"},
    {"bind=agents:auto,sms=0-3", HD_ERR_INPUT, 1, "with order, shape and split alone"},
    {"bind=agents:auto,threads=col", HD_ERR_INPUT, 1, "with order, shape and split alone"},
    {"bind=agents:auto,bypass=l1:1", HD_ERR_INPUT, 1, "with order, shape and split alone"},
    {"bind=agents:auto,bypass=auto", HD_ERR_INPUT, 1, "with order, shape and split alone"},
    {"bind=agents:auto,stream=l1", HD_ERR_INPUT, 1, "with order, shape and split alone"},
    {"bind=agents:auto,prefetch=l2:1", HD_ERR_INPUT, 1, "with order, shape and split alone"},
    {"bind=claim:2", HD_ERR_INPUT, 6, "write claim"},
    {"bind=cancel,split=wave:2", HD_ERR_INPUT, 1, "it needs bind=redirect, bind=claim or bind=agents"},
    {"bind=cancel,prefetch=l2:1", HD_ERR_INPUT, 1, "the hardware says which task comes next"},
    {"bind=agent", HD_ERR_INPUT, 6, "agents or agents:N"},
    {"bind=claim,split=wave", HD_ERR_INPUT, 18, "write wave:N"},
    {"bypass=ro:1+l2:1", HD_ERR_INPUT, 8, "write l1:K+l2:K"},
    {"bypass=l1:1+l1:1", HD_ERR_INPUT, 8, "write l1:K+l2:K"},
    {"bypass=l1:1+l2:", HD_ERR_INPUT, 16, "whole number"},
    {"bind=agents,take=segments:0", HD_ERR_INPUT, 27, "whole number from 1"},
    {"bind=claim,take=segments", HD_ERR_INPUT, 1, "it needs bind=agents"},
    {"bind=claim,take=strides", HD_ERR_INPUT, 1, "it needs bind=agents"},
    {"bind=agents,take=strides:2", HD_ERR_INPUT, 18, "write strides"},
    {"bind=agents,take=strides,sms=0-3", HD_ERR_INPUT, 1, "needs every worker"},
    {"bind=agents:auto,take=strides", HD_ERR_INPUT, 1, "with order, shape and split alone"},
    {"bind=claim,split=wave:0", HD_ERR_INPUT, 23, "'0'"},
    {"bind=claim,split=half", HD_ERR_INPUT, 18, "wave:N"},
    {"bypass=l1", HD_ERR_INPUT, 8, "write l1:K"},
    {"bypass=l3:1", HD_ERR_INPUT, 8, "l1:K, ro:K, l2:K, auto"},
    {"stream=", HD_ERR_INPUT, 8, "load numbers"},
    {"stream=l2", HD_ERR_INPUT, 8, "load numbers"},
    {"stream=3+", HD_ERR_INPUT, 8, "load numbers"},
    {"stream=3+3", HD_ERR_INPUT, 10, "increase"},
    {"stream=3+1024", HD_ERR_INPUT, 10, "numbers end at 1023"},
    {"stream=4294967296", HD_ERR_INPUT, 8, "whole number"},
    {"bypass=auto,form=both", HD_ERR_INPUT, 18, "auto, predicate, replicate"},
    {"prefetch=l1:0", HD_ERR_INPUT, 13, "'0'"},
    {"threads=affine", HD_ERR_INPUT, 9, "threads=affine: no such order"},
    {"bind=agents,sms=", HD_ERR_INPUT, 17, "''"},
    {"bind=agents,sms=4-2", HD_ERR_INPUT, 17, "increase"},
    {"bind=agents,sms=0-4+4", HD_ERR_INPUT, 21, "overlap"},
    {"bind=agents,sms=0-4294967295", HD_ERR_INPUT, 19, "numbers end at 1023"},
    {"bind=agents,sms=1023-1024", HD_ERR_INPUT, 22, "numbers end at 1023"},
    {"bind=agents,sms=1024", HD_ERR_INPUT, 17, "numbers end at 1023"},
    {"split=wave:3", HD_ERR_INPUT, 1, "needs bind=redirect"},
    {"order=col,bind=claim,split=rows", HD_ERR_INPUT, 1, "needs order=row"},
    {"bind=claim,split=cols", HD_ERR_INPUT, 1, "needs order=col"},
    {"sms=0-65", HD_ERR_INPUT, 1, "needs bind=agents"},
    {"bind=claim,sms=0-65", HD_ERR_INPUT, 1, "needs bind=agents"},
    {"form=replicate", HD_ERR_INPUT, 1, "needs bypass"},
    {"threads=heavy-first", HD_ERR_INPUT, 1, "orders of tasks"},
};

static void what_is_wrong_is_said_with_lever_value_and_column(void **state) {
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    hd_plan p;
    hd_diag d = {0};
    if (hd_plan_parse(mistakes[i].text, &p, &d) != mistakes[i].status || d.column != mistakes[i].column ||
        !strstr(d.message, mistakes[i].says))
      fail_msg("'%s': status %d, column %u: %s", mistakes[i].text, d.status, d.column, d.message);
    char column[32];
    snprintf(column, sizeof column, "column %u: ", mistakes[i].column);
    assert_non_null(strstr(d.message, column));
    assert_null(strchr(d.message, '\n'));
    assert_memory_equal(&p, &hd_plan_original, sizeof p);
    assert_int_equal(hd_plan_parse(mistakes[i].text, &p, NULL), mistakes[i].status);
  }
}

static void a_very_long_value_fails_with_a_short_message(void **state) {
  enum { LONG = 100000 };
  char *text = malloc(LONG + 1);
  assert_non_null(text);
  memset(text, 'x', LONG);
  text[LONG] = 0;
  for (int i = 0; i < 2; i++) {
    hd_plan p;
    hd_diag d = {0};
    assert_int_equal(hd_plan_parse(text, &p, &d), HD_ERR_INPUT);
    assert_true(strlen(d.message) < 300);
    memcpy(text, "order=band:", 11);
  }
  free(text);
}

static void a_file_name_that_is_too_long_is_refused_with_the_bound(void **state) {
  enum { LONG = 1 << 20 };
  static const size_t lengths[] = {HD_PLAN_TABLE - 1, HD_PLAN_TABLE, LONG};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    const bool fits = lengths[i] < HD_PLAN_TABLE;
    hd_buf b = {0};
    hd_plan p, put = {.bind = HD_BIND_CLAIM};
    hd_diag d = {0};
    hd_buf_puts(&b, "order=table:");
    const size_t before = b.len;
    for (size_t k = 0; k < lengths[i]; k++) hd_buf_putc(&b, ','); /* read in one pass, whatever follows */
    assert_int_equal(hd_plan_parse(b.data, &p, &d), fits ? HD_OK : HD_ERR_INPUT);
    assert_int_equal(strlen(p.table), fits ? lengths[i] : 0);
    if (!fits) assert_non_null(strstr(d.message, "at most 255 bytes"));
    assert_int_equal(hd_plan_order_by(&put, b.data + before, &d), fits ? HD_OK : HD_ERR_UNSUPPORTED);
    assert_int_equal(put.order.kind, fits ? HD_ORDER_TABLE : HD_ORDER_ROW);
    if (!fits) assert_non_null(strstr(d.message, "at most 255 bytes"));
    hd_buf_free(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parsing_what_was_printed_gives_the_same_plan),
      cmocka_unit_test(printing_is_canonical),
      cmocka_unit_test(zigzag_8_and_zigzag_8x1_are_one_plan),
      cmocka_unit_test(plans_differ_when_a_lever_does),
      cmocka_unit_test(a_file_name_ends_before_a_lever_and_nowhere_else),
      cmocka_unit_test(what_is_wrong_is_said_with_lever_value_and_column),
      cmocka_unit_test(a_very_long_value_fails_with_a_short_message),
      cmocka_unit_test(a_file_name_that_is_too_long_is_refused_with_the_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
