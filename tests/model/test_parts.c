/* L2 in two parts, requests that SMs share, and shares of its rate, against what an H100 was measured to do.
 */
#include "model/synth.h"

#include "model/memory.h"

enum { SMS = 12, FAR = 175 };

/* Two halves of 1,024 lines each. */
static hd_gpu halves(void) {
  hd_gpu g = synth_gpu();
  g.n_sms = SMS;
  g.gpcs = 4;
  g.l2_parts = 2;
  g.l2_far_latency = FAR;
  g.l2.ways = 16;
  g.l2.sector = 32;
  g.l2.bytes = 2 * 1024 * 128;
  return g;
}

/* Cycles until a line's first sector is there; nothing is in flight. */
static uint32_t ask(model_memory *m, uint32_t sm, uint32_t line, uint64_t *now) {
  *now += 5000;
  model_memory_begin_epoch(m, *now, *now + 1);
  model_request q = {.line = line, .cycle = *now, .mask = 1, .set = model_memory_set(m, sm, line)};
  model_memory_read(m, sm, &q, 1, CACHE_NORMAL);
  return q.wait;
}

static void put(model_memory *m, uint32_t sm, uint32_t line, uint64_t *now) {
  *now += 5000;
  model_memory_begin_epoch(m, *now, *now + 1);
  model_request q = {.line = line, .cycle = *now, .mask = 1, .full = 1, .set = model_memory_set(m, sm, line)};
  model_memory_write(m, sm, &q, 1, CACHE_NORMAL);
}

static void a_line_of_the_far_half_is_near_once_it_was_read(void **state) {
  const hd_gpu g = halves();
  model_memory m;
  uint64_t now = 0;
  uint32_t far = 0;
  assert_true(model_memory_init(&m, &g));
  assert_int_not_equal(model_memory_near(&m, 0), model_memory_near(&m, SMS - 1));
  for (uint32_t line = 0; line < 64; line++) {
    const bool is_far = model_memory_home(&m, line) != model_memory_near(&m, SMS - 1);
    far += is_far;
    assert_int_equal(ask(&m, 0, line, &now), g.dram_latency);
    assert_int_equal(ask(&m, 0, line, &now), g.l2.latency);
    assert_int_equal(ask(&m, 1, line, &now), g.l2.latency); /* of the same half */
    assert_int_equal(ask(&m, SMS - 1, line, &now), g.l2.latency + (is_far ? FAR : 0));
    assert_int_equal(ask(&m, SMS - 1, line, &now), g.l2.latency);
  }
  assert_in_range(far, 20, 44);
  assert_int_equal(m.dram_reads, 64);
  model_memory_free(&m);
}

static void a_store_ends_the_copy_of_the_other_half_alone(void **state) {
  const hd_gpu g = halves();
  model_memory m;
  uint64_t now = 0;
  assert_true(model_memory_init(&m, &g));
  for (uint32_t line = 0; line < 64; line++) {
    const bool is_far = model_memory_home(&m, line) != model_memory_near(&m, 0);
    for (uint32_t sm = 0; sm < SMS; sm += SMS - 1) ask(&m, sm, line, &now); /* both halves have it */
    put(&m, SMS - 1, line, &now);
    assert_int_equal(ask(&m, SMS - 1, line, &now), g.l2.latency); /* the writer's own */
    assert_int_equal(ask(&m, 0, line, &now), g.l2.latency + (is_far ? FAR : 0));
  }
  model_memory_free(&m);
}

/* Lines that all SMs read three times, each of them all or its own part: the share of the second and third
 * reading that comes from DRAM. */
static double read_again(uint32_t lines, bool own) {
  const hd_gpu g = halves();
  model_memory m;
  uint64_t now = 0, first = 0;
  assert_true(model_memory_init(&m, &g));
  for (uint32_t turn = 0; turn < 3; turn++) {
    for (uint32_t line = 0; line < lines; line++)
      for (uint32_t sm = 0; sm < SMS; sm++)
        if (!own || line * SMS / lines == sm) ask(&m, sm, line, &now);
    if (!turn) first = m.dram_reads;
  }
  const double again = (double)(m.dram_reads - first) / (2.0 * lines);
  assert_int_equal(first, lines);
  model_memory_free(&m);
  return again;
}

/* Sets are not used alike: a little is lost below the whole. */
static void data_of_all_sms_fits_into_a_half_and_of_one_into_two_thirds(void **state) {
  assert_true(read_again(700, false) < 0.05);
  assert_true(read_again(1300, false) > 0.7);
  assert_true(read_again(1000, true) < 0.05);
  assert_true(read_again(1900, true) > 0.7);
}

/* ---- Requests ---------------------------------------------------------------------------------- */

static uint64_t sectors_of(uint32_t second_sm, uint64_t later, uint8_t second_mask) {
  hd_gpu g = halves();
  model_memory m;
  g.l2_sms_together = 2;
  assert_true(model_memory_init(&m, &g));
  model_memory_begin_epoch(&m, 0, 1);
  for (uint32_t line = 0; line < 100; line++) {
    model_request a = {.line = line, .cycle = 100, .mask = 3, .set = model_memory_set(&m, 2, line)};
    model_memory_read(&m, 2, &a, 1, CACHE_NORMAL);
    model_request b = {.line = line,
                       .cycle = 100 + later,
                       .mask = second_mask,
                       .set = model_memory_set(&m, second_sm, line)};
    model_memory_read(&m, second_sm, &b, 1, CACHE_NORMAL);
  }
  const uint64_t n = m.sectors;
  assert_true(m.hits <= m.sectors);
  model_memory_free(&m);
  return n;
}

static void sms_side_by_side_that_ask_for_a_line_at_a_time_send_one_request(void **state) {
  static const struct {
    const char *what;
    uint32_t sm;
    uint64_t later;
    uint8_t mask;
    uint64_t sectors;
  } cases[] = {{"its neighbour, a little later", 3, 50, 3, 200},
               {"its neighbour, for a part of it", 3, 50, 1, 200},
               {"its neighbour, for more of it", 3, 50, 7, 500},
               {"its neighbour, once it is there", 3, 5000, 3, 400},
               {"another pair's", 4, 50, 3, 400},
               {"itself", 2, 50, 3, 400}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const uint64_t n = sectors_of(cases[i].sm, cases[i].later, cases[i].mask);
    if (n != cases[i].sectors) fail_msg("%s: %llu sectors", cases[i].what, (unsigned long long)n);
  }
}

/* ---- Shares ------------------------------------------------------------------------------------ */

static void gpcs_that_ask_for_more_than_there_is_get_the_same(void **state) {
  model_queue q = {.bytes_per_cycle = 40};
  model_shares s = {.n = 4};
  const double asked[4] = {100, 2000, 3000, 0};
  for (int i = 0; i < 4; i++) q.asked += s.asked[i] = asked[i];
  model_queue_end_epoch(&q, 100); /* 4000 bytes */
  model_shares_end_epoch(&s, &q, 100);
  /* The first is served whole; the others get 1950 each. */
  assert_int_equal(s.wait[0], 0);
  assert_int_equal(s.wait[1], 50 * 100 / 1950);
  assert_int_equal(s.wait[2], 1050 * 100 / 1950);
  assert_int_equal(s.wait[3], 0);
  model_queue_end_epoch(&q, 100);
  model_shares_end_epoch(&s, &q, 100);
  for (int i = 0; i < 4; i++) assert_int_equal(s.wait[i], 0);
}

/* Whatever is asked: no byte is served twice or forgotten, and equal askers wait as the queue itself. */
static void shares_serve_what_the_queue_serves(void **state) {
  rng r = {7, 0};
  for (uint32_t n = 2; n <= MODEL_MOST_SHARES; n++) {
    model_queue q = {.bytes_per_cycle = 64};
    model_shares s = {.n = n};
    const bool equal = n % 2;
    for (int k = 0; k < 2000; k++) {
      const uint64_t cycles = 1 + below(&r, 400);
      const double same = (double)below(&r, 2 * 64 * 200 / n);
      double left = 0;
      for (uint32_t i = 0; i < n; i++) q.asked += s.asked[i] = equal ? same : (double)below(&r, 64 * 400 / n);
      model_queue_end_epoch(&q, cycles);
      model_shares_end_epoch(&s, &q, cycles);
      for (uint32_t i = 0; i < n; i++) left += s.backlog[i];
      assert_true(left > q.backlog - 1e-3 * (1 + q.backlog) && left < q.backlog + 1e-3 * (1 + q.backlog));
      for (uint32_t i = 0; equal && i < n; i++) assert_in_range(s.wait[i] + 1, q.wait, q.wait + 2);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_of_the_far_half_is_near_once_it_was_read),
      cmocka_unit_test(a_store_ends_the_copy_of_the_other_half_alone),
      cmocka_unit_test(data_of_all_sms_fits_into_a_half_and_of_one_into_two_thirds),
      cmocka_unit_test(sms_side_by_side_that_ask_for_a_line_at_a_time_send_one_request),
      cmocka_unit_test(gpcs_that_ask_for_more_than_there_is_get_the_same),
      cmocka_unit_test(shares_serve_what_the_queue_serves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
