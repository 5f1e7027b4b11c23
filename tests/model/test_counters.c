/* The counters' table, and what ranks plans. */
#include "model/subject.h"

#include <string.h>

/* A value of its own in every field. */
static hd_counters numbered(unsigned from) {
  hd_counters c;
  memset(&c, 0, sizeof c);
  for (size_t i = 0; i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    if (f->type == HD_COUNTER_REAL)
      *(double *)((char *)&c + f->offset) = from + (double)i;
    else
      hd_counter_set_count(f, &c, from + i);
  }
  return c;
}

static void every_byte_belongs_to_one_field(void **state) {
  static const size_t sizes[] = {[HD_COUNTER_REAL] = 8, [HD_COUNTER_COUNT] = 8, [HD_COUNTER_LAST] = 4};
  unsigned char owned[sizeof(hd_counters)] = {0};
  for (size_t i = 0; i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    for (size_t k = 0; k < sizes[f->type]; k++) assert_int_equal(owned[f->offset + k]++, 0);
    assert_true(f->name[0] && f->unit[0] && f->description[0]);
    for (size_t k = 0; k < i; k++) assert_string_not_equal(f->name, hd_counter_table[k].name);
  }
  size_t free_bytes = 0;
  for (size_t k = 0; k < sizeof owned; k++) free_bytes += !owned[k];
  assert_true(free_bytes < 8); /* padding at the end */
}

static void values_are_read_as_they_were_set(void **state) {
  hd_counters c = numbered(100);
  for (size_t i = 0; i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    assert_true(hd_counter_real(f, &c) == 100 + (double)i);
    assert_int_equal(hd_counter_count(f, &c), f->type == HD_COUNTER_REAL ? 0 : 100 + i);
  }
  assert_true(c.time_us == 100);
  assert_int_equal(c.warp_instructions, 101);
  assert_int_equal(c.resident, 126);
}

static void launches_add_up_but_for_residency(void **state) {
  hd_counters sum = numbered(1000), c = numbered(100);
  hd_counters_add(&sum, &c);
  for (size_t i = 0; i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    double expected = f->type == HD_COUNTER_LAST ? 100 + (double)i : 1100 + 2 * (double)i;
    if (hd_counter_real(f, &sum) != expected) fail_msg("%s: %g", f->name, hd_counter_real(f, &sum));
  }
}

static void a_row_takes_what_its_launches_and_its_host_take(void **state) {
  const hd_gpu h = {.launch = {.first_us = 3, .next_us = 1, .second_us = 2, .host_us = 50}}, none = {0};
  const hd_counters c = {.time_us = 10};
  hd_counters row = {0}, same = {0};
  const double after[] = {10, 31, 80}; /* 20 + 10 + 1; the host makes the third at 2 x 50 - 30 */
  for (uint32_t i = 0; i < 3; i++) {
    hd_counters_add_launch(&row, &c, &h, i, 30);
    hd_counters_add_launch(&same, &c, &none, i, 30);
    assert_true(row.time_us == after[i]);
    assert_true(same.time_us == 10 * (i + 1));
  }
}

static void counters_are_scaled_but_for_residency(void **state) {
  hd_counters c = numbered(100);
  hd_counters_scale(&c, 2.5);
  for (size_t i = 0; i < HD_COUNTER_FIELDS; i++) {
    const hd_counter *f = &hd_counter_table[i];
    const double exact = 2.5 * (100 + (double)i), expected = f->type == HD_COUNTER_LAST ? 100 + (double)i
                                                             : f->type == HD_COUNTER_COUNT
                                                                 ? (double)(uint64_t)(exact + 0.5)
                                                                 : exact;
    if (hd_counter_real(f, &c) != expected) fail_msg("%s: %g", f->name, hd_counter_real(f, &c));
  }
}

/* Issue cycles of so many CTAs of a warp each, on four SMs. */
static double issue_of(uint32_t ctas) {
  hd_gpu g = round_gpu();
  hd_model *m;
  hd_counters c;
  hd_diag d = {0};
  subject k = trace_kernel("ld.global.u32 %r5, [%rd2];\nadd.u32 %r6, %r5, 1;\n", ctas, 32);
  g.n_sms = 4;
  must(hd_model_create(&g, &m, &d), &d);
  must(hd_model_replay(m, k.trace, &(hd_replay_options){.timed = true}, &c, &d), &d);
  hd_model_destroy(m);
  drop(&k);
  return c.cycles_issue;
}

static void the_sm_with_the_most_to_do_is_the_one_that_counts(void **state) {
  assert_true(issue_of(4) > 0 && issue_of(6) == 2 * issue_of(4) && issue_of(8) == issue_of(6));
}

static void plans_rank_by_their_time_or_else_by_their_traffic(void **state) {
  hd_counters c = {.l2_sectors = 10, .dram_read_bytes = 100, .dram_write_bytes = 1};
  assert_int_equal(hd_counters_traffic(&c), 421);
  assert_true(!hd_counters_timed(&c) && hd_counters_cost(&c) == 421);
  c.time_us = 7;
  assert_true(hd_counters_timed(&c) && hd_counters_cost(&c) == 7);
  assert_true(hd_counters_cost(&(hd_counters){0}) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("plans rank by their time, or else by their traffic",
                plans_rank_by_their_time_or_else_by_their_traffic),
      BEHAVIOUR("the SM with the most to do is the one that counts",
                the_sm_with_the_most_to_do_is_the_one_that_counts),
      BEHAVIOUR("every byte of the counters belongs to one field of the table",
                every_byte_belongs_to_one_field),
      BEHAVIOUR("values are read as they were set", values_are_read_as_they_were_set),
      BEHAVIOUR("counters are scaled, but for the CTAs resident", counters_are_scaled_but_for_residency),
      BEHAVIOUR("launches add up, but for the CTAs resident", launches_add_up_but_for_residency),
      BEHAVIOUR("a row takes what its launches take, and its host",
                a_row_takes_what_its_launches_and_its_host_take),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
