/* The page of a recorded probe. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/report.h"

enum { SMS = 6, CTAS = 12 };

static uint32_t first_sms[CTAS] = {4, 5, 0, 1, 2, 3, 0, 4, 1, 5, 2, 3},
                round_sms[CTAS] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5};
static hd_probe_launch launches[2];

/* Figures in the proportions of an H100's, of a GPU with six SMs. */
static hd_probe_result recorded(void) {
  launches[0] = (hd_probe_launch){.sm = first_sms, .distinct = 6, .round_robin = 2};
  launches[1] = (hd_probe_launch){.sm = round_sms, .distinct = 6, .round_robin = 12, .staggered = true};
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

static unsigned count(const char *text, const char *what) {
  unsigned n = 0;
  for (const char *p = text; (p = strstr(p, what)); p += strlen(what)) n++;
  return n;
}

static void the_page_of_a_recorded_probe_is_held(void **state) {
  hd_probe_result r = recorded();
  hd_buf b = {0}, again = {0};
  hd_report_probe(&r, &b);
  hd_report_probe(&r, &again);
  assert_false(b.failed);
  assert_string_equal(b.data, again.data);
  assert_non_null(strstr(b.data, "<h1>A &lt;recorded&gt; GPU &amp; more</h1>"));
  assert_int_equal(count(b.data, "<svg"), 6);
  assert_int_equal(count(b.data, "</svg>"), 6);
  assert_int_equal(count(b.data, "<circle"), 2 * SMS);
  assert_int_equal(count(b.data, "#ea580c"), SMS); /* all of the second launch, none of the first */
  hd_digest h = hd_digest_begin();
  hd_digest_bytes(&h, b.data, b.len);
  char hex[HD_DIGEST_HEX];
  hd_digest_hex(&h, hex);
  assert_string_equal(hex, "e56d1668c0190e79422eeb268d24767a");
  hd_buf_free(&b);
  hd_buf_free(&again);
}

static void what_was_not_measured_is_not_drawn(void **state) {
  hd_probe_result r = recorded();
  hd_buf b = {0};
  r.l1_bandwidth = r.l2_bandwidth = r.dram_read_bandwidth = r.copy_bandwidth = 0;
  r.n_footprints = 1;
  r.n_launches = 0;
  memset(r.l1_bytes, 0, sizeof r.l1_bytes);
  memset(r.sector_cycles, 0, sizeof r.sector_cycles);
  hd_report_probe(&r, &b);
  assert_int_equal(count(b.data, "<svg"), 2);
  assert_null(strstr(b.data, "nan"));
  assert_null(strstr(b.data, "inf"));
  hd_buf_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the page of a recorded probe is held", the_page_of_a_recorded_probe_is_held),
      BEHAVIOUR("what was not measured is not drawn", what_was_not_measured_is_not_drawn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
