/* The page of a recorded probe. */
#include "check.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/profile.h"
#include "heddle/report.h"

enum { SMS = 6, CTAS = 12 };

static uint32_t first_sms[CTAS] = {4, 5, 0, 1, 2, 3, 0, 4, 1, 5, 2, 3},
                round_sms[CTAS] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5};
static hd_probe_launch launches[2];

/* Figures in the proportions of an H100's, of a GPU with six SMs. */
static hd_probe_result recorded(void) {
  launches[0] = (hd_probe_launch){.sm = first_sms, .ticks = first_sms, .distinct = 6, .round_robin = 2};
  launches[1] = (hd_probe_launch){
      .sm = round_sms, .ticks = round_sms, .distinct = 6, .round_robin = 12, .staggered = true};
  hd_probe_result r = {
      .n_ctas = CTAS,
      .n_launches = 2,
      .launches = launches,
      .clock_mhz = 1755,
      .l1_cycles = 32.2,
      .l2_cycles = 280.6,
      .dram_cycles = 690,
      .carveout = {0, 25, 50, 75, 100},
      .l1_bytes = {221184, 188416, 118784, 45056, 12288},
      .sector_cycles = {0, 33, 281, 281, 690, 690, 690, 690, 691, 692, 690, 690, 690, 690, 690, 690},
      .l1_sector = 32,
      .l2_sector = 64,
      .line = 128,
      .n_footprints = 6,
      .footprints =
          {{4096, 32}, {65536, 32.5}, {262144, 210}, {1048576, 280}, {16777216, 290}, {67108864, 650}},
      .l1_bandwidth = 30e12,
      .l2_bandwidth = 7.8e12,
      .dram_read_bandwidth = 3e12,
      .copy_bandwidth = 2.8e12};
  snprintf(r.device.title, sizeof r.device.title, "A <recorded> GPU & more");
  r.device.n_sms = SMS;
  r.device.arch = 90;
  return r;
}

/* The JSON that the page carries. */
static json_t *carried(const hd_buf *page) {
  static const char mark[] = "<script id=\"files\" type=\"application/json\">";
  const char *from = strstr(page->data, mark) + sizeof mark - 1, *to = strstr(from, "</script>");
  json_t *files = json_loadb(from, (size_t)(to - from), JSON_REJECT_DUPLICATES, NULL);
  assert_int_equal(json_array_size(files), 1);
  json_t *j = json_incref(json_object_get(json_array_get(files, 0), "json"));
  json_decref(files);
  return j;
}

static void the_page_of_a_probe_carries_its_figures(void **state) {
  hd_probe_result r = recorded();
  hd_buf b = {0}, again = {0};
  hd_report_probe(&r, &b);
  hd_report_probe(&r, &again);
  assert_false(b.failed);
  assert_string_equal(b.data, again.data);
  assert_non_null(strstr(b.data, "<h1>A &lt;recorded&gt; GPU &amp; more</h1>"));
  json_t *j = carried(&b), *rings = json_object_get(json_object_get(j, "latency_by_footprint"), "$columns");
  assert_string_equal(json_string_value(json_object_get(j, "title")), "A <recorded> GPU & more");
  assert_int_equal(json_array_size(json_object_get(j, "launches")), 2);
  assert_int_equal(json_array_size(json_object_get(j, "sector_cycles")), HD_PROBE_SECTORS);
  assert_int_equal(json_integer_value(json_array_get(json_object_get(rings, "bytes"), 5)), 67108864);
  json_decref(j);
  hd_buf_free(&b);
  hd_buf_free(&again);
}

static void a_page_has_the_one_style_sheet_and_the_one_script(void **state) {
  const hd_probe_result r = recorded();
  hd_buf probe = {0}, profile = {0};
  hd_report_probe(&r, &probe);
  hd_profile_html(&(hd_profile){0}, "none", &profile);
  for (int k = 0; k < 2; k++) {
    const char *between[] = {k ? "<script>" : "<style>", k ? "</script></body>" : "</style>"};
    const char *a = strstr(probe.data, between[0]), *b = strstr(profile.data, between[0]);
    const size_t n = (size_t)(strstr(a, between[1]) - a);
    assert_true(n > 1000);
    assert_int_equal((size_t)(strstr(b, between[1]) - b), n);
    assert_memory_equal(a, b, n);
  }
  hd_buf_free(&probe);
  hd_buf_free(&profile);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the page of a probe carries its figures", the_page_of_a_probe_carries_its_figures),
      BEHAVIOUR("a page has the one style sheet and the one script",
                a_page_has_the_one_style_sheet_and_the_one_script),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
