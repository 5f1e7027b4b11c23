/* DRAM's channels, banks and open rows. */
#include "check.h"
#include "model/dram.h"
#include "model/synth.h"

enum { CHANNELS = 4, BANKS = 2, BLOCK = 2, ROW = 8, EPOCH = 100 }; /* lines, cycles */

/* 64 bytes a cycle, so 16 of a channel: a line takes 8 cycles. */
static model_dram open_dram(uint32_t channels, uint32_t banks) {
  hd_gpu g = synth_gpu();
  g.dram_channels = channels;
  g.dram_interleave = BLOCK * MODEL_LINE;
  g.dram_banks = banks;
  g.dram_row_bytes = ROW * MODEL_LINE;
  g.dram_row_latency = 9;
  g.dram_row_cycles = 30;
  g.dram_activate_cycles = 5;
  model_dram d;
  assert_true(model_dram_init(&d, &g));
  return d;
}

/* The line number `own` of a channel. */
static uint32_t line_of(uint32_t channel, uint32_t own) {
  return (own / BLOCK * CHANNELS + channel) * BLOCK + own % BLOCK;
}

static void ask(model_dram *d, uint32_t channel, uint32_t own) {
  model_dram_ask(d, line_of(channel, own), MODEL_LINE);
}

static void blocks_of_lines_go_round_the_channels(void **state) {
  model_dram d = open_dram(CHANNELS, 0);
  for (uint32_t line = 0; line < 1000; line++) {
    uint32_t own, channel = line / BLOCK % CHANNELS;
    assert_ptr_equal(model_dram_channel(&d, line, &own), &d.channels[channel]);
    assert_int_equal(line_of(channel, own), line);
  }
  model_dram_free(&d);
}

static void one_channel_is_as_fast_as_all(void **state) {
  model_dram d = open_dram(0, 0);
  for (uint32_t i = 0; i < 100; i++) model_dram_ask(&d, i, MODEL_LINE);
  model_dram_end_epoch(&d, EPOCH);
  assert_int_equal(model_dram_left(&d), 100); /* 12800 bytes at 64, less 100 cycles */
  assert_true(d.busy == EPOCH && d.useful == 200);
  model_dram_free(&d);
}

static void requests_that_meet_in_a_channel_wait_for_each_other(void **state) {
  model_dram spread = open_dram(CHANNELS, 0), met = open_dram(CHANNELS, 0);
  for (uint32_t i = 0; i < 40; i++) {
    ask(&spread, i % CHANNELS, i);
    ask(&met, 1, i);
  }
  model_dram_end_epoch(&spread, EPOCH);
  model_dram_end_epoch(&met, EPOCH);
  assert_int_equal(model_dram_left(&spread), 0);
  assert_int_equal(model_dram_left(&met), 40 * 8 - EPOCH);
  assert_int_equal(model_dram_wait(&met, line_of(1, 0)), 40 * 8 - EPOCH);
  assert_int_equal(model_dram_wait(&met, line_of(2, 0)), 0);
  assert_true(spread.useful == 80 && spread.busy == 80);
  assert_true(met.useful == 80 && met.busy == EPOCH);
  model_dram_free(&spread);
  model_dram_free(&met);
}

static void a_bank_is_busy_for_each_row_that_it_opens(void **state) {
  model_dram d = open_dram(CHANNELS, BANKS);
  for (uint32_t i = 0; i < 5; i++) ask(&d, 0, i * ROW * BANKS); /* five rows of bank 0 */
  model_dram_end_epoch(&d, EPOCH);
  assert_int_equal(model_dram_left(&d), 5 * 30 - EPOCH);
  model_dram_reset(&d, true);
  for (uint32_t i = 0; i < 4; i++) ask(&d, 0, i * ROW); /* two rows of each bank */
  model_dram_end_epoch(&d, EPOCH);
  assert_true(d.busy == 2 * 30);
  model_dram_reset(&d, true);
  for (uint32_t i = 0; i < ROW; i++) ask(&d, 0, i); /* one row: its bytes take longer */
  model_dram_end_epoch(&d, EPOCH);
  assert_true(d.busy == ROW * 8);
  model_dram_free(&d);
}

static void a_channel_opens_rows_one_after_the_other(void **state) {
  model_dram d = open_dram(CHANNELS, 64);
  for (uint32_t i = 0; i < 60; i++) model_dram_ask(&d, line_of(3, i * ROW), 32);
  model_dram_end_epoch(&d, EPOCH);
  assert_int_equal(model_dram_left(&d), 60 * 5 - EPOCH);
  model_dram_free(&d);
}

static void an_open_row_costs_nothing_and_is_found_sooner(void **state) {
  model_dram d = open_dram(CHANNELS, BANKS);
  assert_int_equal(model_dram_ask(&d, line_of(0, 0), 32), 0);  /* no row is open */
  assert_int_equal(model_dram_ask(&d, line_of(0, 1), 32), -9); /* the same */
  model_dram_end_epoch(&d, EPOCH);
  const double busy = d.busy;
  assert_true(busy == 30);
  assert_int_equal(model_dram_ask(&d, line_of(0, 2), 32), -9);
  model_dram_end_epoch(&d, EPOCH);
  assert_true(d.busy == busy + 2);
  assert_int_equal(model_dram_ask(&d, line_of(0, ROW * BANKS), 32), 9); /* another row of the bank */
  assert_int_equal(model_dram_ask(&d, line_of(0, ROW), 32), 0);         /* another bank */
  model_dram_free(&d);
}

static void without_a_clock_there_is_one_channel(void **state) {
  model_dram d = open_dram(CHANNELS, BANKS);
  model_dram_reset(&d, false);
  for (uint32_t i = 0; i < 100; i++) ask(&d, 1, i * ROW);
  model_dram_end_epoch(&d, EPOCH);
  assert_int_equal(model_dram_left(&d), 100);
  model_dram_reset(&d, true);
  for (uint32_t i = 0; i < 40; i++) ask(&d, 1, i);
  model_dram_end_epoch(&d, EPOCH);
  assert_int_equal(model_dram_left(&d), 40 * 8 - EPOCH);
  model_dram_free(&d);
}

static void the_order_of_an_epochs_requests_does_not_matter(void **state) {
  rng r = {5, 0};
  for (unsigned k = 0; k < 100; k++) {
    model_dram a = open_dram(CHANNELS, BANKS), b = open_dram(CHANNELS, BANKS);
    for (unsigned e = 0; e < 5; e++) {
      uint32_t lines[50];
      for (unsigned i = 0; i < 50; i++) lines[i] = (uint32_t)below(&r, 4000);
      for (unsigned i = 0; i < 50; i++) model_dram_ask(&a, lines[i], MODEL_LINE);
      for (unsigned i = 50; i-- > 0;) model_dram_ask(&b, lines[i], MODEL_LINE);
      model_dram_end_epoch(&a, EPOCH);
      model_dram_end_epoch(&b, EPOCH);
      for (uint32_t line = 0; line < CHANNELS * BLOCK; line++)
        assert_int_equal(model_dram_wait(&a, line), model_dram_wait(&b, line));
      assert_true(a.busy == b.busy && a.useful == b.useful && a.busy >= 0 && a.busy <= (e + 1) * EPOCH);
    }
    model_dram_free(&a);
    model_dram_free(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("blocks of lines go round the channels", blocks_of_lines_go_round_the_channels),
      BEHAVIOUR("one channel is as fast as all", one_channel_is_as_fast_as_all),
      BEHAVIOUR("requests that meet in a channel wait for each other",
                requests_that_meet_in_a_channel_wait_for_each_other),
      BEHAVIOUR("a bank is busy for each row that it opens", a_bank_is_busy_for_each_row_that_it_opens),
      BEHAVIOUR("a channel opens rows one after the other", a_channel_opens_rows_one_after_the_other),
      BEHAVIOUR("an open row costs nothing and is found sooner",
                an_open_row_costs_nothing_and_is_found_sooner),
      BEHAVIOUR("without a clock there is one channel", without_a_clock_there_is_one_channel),
      BEHAVIOUR("the order of an epoch's requests does not matter",
                the_order_of_an_epochs_requests_does_not_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
