/* A warp's stream gives back the accesses and barriers that were written to it. */
#include "model/synth.h"

#include "model/stream.h"

typedef struct item {
  bool barrier;
  uint8_t attr;
  model_runs runs;
} item;

typedef HD_VEC(item) items;

static bool same_runs(const model_runs *a, const model_runs *b) {
  if (a->n != b->n) return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (a->start[i] != b->start[i] || a->bytes[i] != b->bytes[i]) return false;
  return true;
}

static void check_lines(const model_stream_event *e, const model_runs *runs) {
  model_lines got, want;
  model_stream_lines(e, &got);
  bool store = model_stream_kind(e->attr) == HD_ACCESS_STORE;
  if (store)
    model_lines_of_store(runs, &want);
  else
    model_lines_of(runs, &want);
  assert_int_equal(got.n, want.n);
  assert_memory_equal(got.line, want.line, want.n * sizeof *want.line);
  assert_memory_equal(got.touched, want.touched, want.n);
  if (store) assert_memory_equal(got.full, want.full, want.n);
}

static void read_back(model_stream_writer *w, const items *all) {
  static model_stream_slot slots[STREAM_SLOTS];
  model_stream_reader reader;
  model_stream_event e;
  model_stream_open(&reader, slots, w->base, w->out.data, w->out.n);
  for (size_t i = 0; i < all->n; i++) {
    const item *it = &all->data[i];
    model_stream_next(&reader, &e);
    assert_int_equal(e.slot == STREAM_BARRIER, it->barrier);
    if (it->barrier) continue;
    assert_int_not_equal(e.slot, STREAM_END);
    assert_int_equal(e.attr, it->attr);
    model_runs runs;
    model_stream_runs(e.shape, e.address, &runs);
    assert_true(same_runs(&runs, &it->runs));
    check_lines(&e, &it->runs);
  }
  model_stream_next(&reader, &e);
  assert_int_equal(e.slot, STREAM_END);
  model_stream_next(&reader, &e);
  assert_int_equal(e.slot, STREAM_END);
}

static void put(model_stream_writer *w, items *all, uint32_t inst, uint8_t attr, const uint64_t *addr,
                uint32_t mask, unsigned bytes) {
  item it = {.attr = attr};
  model_runs_of(addr, mask, bytes, &it.runs);
  model_stream_put(w, inst, attr, &it.runs);
  assert_true(hd_vec_push(all, it));
}

static void put_barrier(model_stream_writer *w, items *all) {
  item it = {.barrier = true};
  model_stream_put_barrier(w);
  assert_true(hd_vec_push(all, it));
}

/* Loops over instructions with strides, broken by jumps, new shapes, other instructions, barriers. */
static void random_program(rng *r, model_stream_writer *w, items *all) {
  uint32_t n_inst = 1 + (uint32_t)below(r, below(r, 4) ? 6 : 200);
  uint64_t base[200], stride[200], lane[200], scatter[200];
  for (uint32_t i = 0; i < n_inst; i++) {
    base[i] = below(r, 1ull << (10 + below(r, 27)));
    stride[i] = below(r, 3) ? 4 * below(r, 3000) : -(4 * below(r, 50));
    lane[i] = below(r, 3) ? 4 : 4 * below(r, 600);
    scatter[i] = below(r, 5) ? 0 : 1ull << below(r, 33);
  }
  uint32_t at = 0;
  for (int k = 0; k < 600; k++) {
    uint32_t i = below(r, 30) ? at++ % n_inst : (uint32_t)below(r, n_inst);
    uint64_t addr[32];
    uint32_t mask = below(r, 40) ? UINT32_MAX : (uint32_t)next(r) | 1;
    for (unsigned l = 0; l < 32; l++)
      addr[l] = (1ull << 35) + base[i] + l * lane[i] + (scatter[i] ? below(r, scatter[i]) / 4 * 4 : 0);
    put(w, all, i, model_stream_attr(i % 4, i % 8), addr, mask, 1u << (i % 5));
    base[i] += below(r, 25) ? stride[i] : below(r, 1 << 20);
    while (!below(r, 12)) put_barrier(w, all);
  }
}

static void random_streams_come_back(void **state) {
  rng r = {2, 0};
  model_stream_writer *w = calloc(1, sizeof *w);
  for (int k = 0; k < 150; k++) {
    items all = {0};
    model_stream_begin(w);
    random_program(&r, w, &all);
    model_stream_finish(w);
    assert_false(w->failed);
    read_back(w, &all);
    hd_vec_free(&all);
  }
  model_stream_free(w);
  free(w);
}

static void an_empty_stream_ends_at_once(void **state) {
  model_stream_writer *w = calloc(1, sizeof *w);
  items all = {0};
  model_stream_begin(w);
  model_stream_finish(w);
  read_back(w, &all);
  model_stream_free(w);
  free(w);
}

static void affine_loops_take_less_than_a_byte_per_access(void **state) {
  model_stream_writer *w = calloc(1, sizeof *w);
  items all = {0};
  model_stream_begin(w);
  for (uint64_t j = 0; j < 64; j++) /* two nested loops over three arrays, one read along columns */
    for (uint64_t k = 0; k < 64; k++) {
      uint64_t addr[32];
      for (uint32_t inst = 0; inst < 3; inst++) {
        for (unsigned l = 0; l < 32; l++)
          addr[l] = (inst << 24) + j * 4096 + k * 4 + l * (inst == 2 ? 4096 : 4);
        put(w, &all, inst, model_stream_attr(HD_ACCESS_LOAD, HD_CACHE_L1), addr, UINT32_MAX, 4);
      }
      if (k % 16 == 15) put_barrier(w, &all);
    }
  model_stream_finish(w);
  assert_in_range(w->out.n, 1, all.n);
  read_back(w, &all);
  hd_vec_free(&all);
  model_stream_free(w);
  free(w);
}

static void streams_that_differ_in_their_start_are_the_same_bytes(void **state) {
  model_stream_writer *w[2];
  for (int i = 0; i < 2; i++) {
    items all = {0};
    w[i] = calloc(1, sizeof *w[i]);
    model_stream_begin(w[i]);
    for (uint64_t k = 0; k < 100; k++)
      for (uint32_t inst = 0; inst < 2; inst++) {
        uint64_t addr[32];
        for (unsigned l = 0; l < 32; l++) addr[l] = 4096 * (uint64_t)i + (inst << 20) + k * 128 + l * 4;
        put(w[i], &all, inst, 0, addr, UINT32_MAX, 4);
      }
    model_stream_finish(w[i]);
    hd_vec_free(&all);
  }
  assert_int_equal(w[0]->out.n, w[1]->out.n);
  assert_memory_equal(w[0]->out.data, w[1]->out.data, w[0]->out.n);
  assert_int_equal(w[1]->base - w[0]->base, 4096);
  for (int i = 0; i < 2; i++) {
    model_stream_free(w[i]);
    free(w[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_streams_come_back),
      cmocka_unit_test(an_empty_stream_ends_at_once),
      cmocka_unit_test(affine_loops_take_less_than_a_byte_per_access),
      cmocka_unit_test(streams_that_differ_in_their_start_are_the_same_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
