/* Buffers that were recorded: words that were addresses follow the buffers; all else stays, packed or not. */
#include <zstd.h>

#include "check.h"
#include "workload/scratch.h"

enum { WORDS = 500, BUFFERS = 3 };

static const uint64_t lay[BUFFERS] = {0x7f0000000000, 0x7f0000000800, 0x7f0000004000};
static const uint64_t words_of[BUFFERS] = {WORDS, 257, 64}; /* the second begins within the first one's end */

static void write_packed(const char *name, const void *data, size_t bytes) {
  char packed[2 * 8 * WORDS];
  /* Two frames: the file is written in parts. */
  size_t n = ZSTD_compress(packed, sizeof packed, data, bytes / 2, 1);
  n += ZSTD_compress(packed + n, sizeof packed - n, (const char *)data + bytes / 2, bytes - bytes / 2, 1);
  assert_int_equal(hd_file_write(scratch_path(name), packed, n, NULL), HD_OK);
}

static hd_workload *open_recorded(void) {
  hd_buf text = {0};
  hd_workload *w;
  hd_diag d;
  hd_buf_puts(&text, "source = \"k.ptx\"\n[sizes.small]\n");
  for (int k = 0; k < BUFFERS; k++)
    hd_buf_printf(&text,
                  "[[buffer]]\nname = \"m%d\"\ntype = \"u64\"\ncount = %llu\nat = \"0x%llx\"\nfill = "
                  "'recorded(\"m0.zst\")'\n",
                  k, (unsigned long long)words_of[k], (unsigned long long)lay[k]);
  hd_buf_puts(&text, "[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\nargs = [\"m0\"]\n");
  scratch_write("r/workload.toml", text.data);
  scratch_write("r/k.ptx",
                ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }\n");
  hd_buf_free(&text);
  if (hd_workload_open(scratch_path("r"), NULL, NULL, &w, &d) != HD_OK) fail_msg("%s", d.message);
  return w;
}

/* The buffer that lies last before the address, where it holds it. */
static uint64_t moved(uint64_t word, const uint64_t *addresses) {
  int in = -1;
  for (int k = 0; k < BUFFERS; k++)
    if (word >= lay[k] && word < lay[k] + 8 * words_of[k] && (in < 0 || lay[k] > lay[in])) in = k;
  return in < 0 ? word : word - lay[in] + addresses[in];
}

static void addresses_in_recorded_buffers_move_with_them(void **state) {
  static const uint64_t addresses[BUFFERS] = {0x5000000, 0x100000, 0x9000000};
  uint64_t data[WORDS], out[WORDS];
  unsigned n_moved = 0;
  hd_diag d;
  for (uint64_t i = 0; i < WORDS; i++) /* addresses in, between and behind the buffers, and other numbers */
    data[i] = i % 2 ? lay[0] + hd_random_at(1, i) % 0x4400 : hd_random_at(2, i) >> i % 64;
  data[0] = lay[1];
  data[2] = lay[2] + 8 * words_of[2];
  hd_workload *w = open_recorded();
  write_packed("r/m0.zst", data, sizeof data);
  assert_true(w->buffers[0].points && w->buffers[0].at == lay[0]);
  if (hd_workload_point(w, 0, addresses, out, &d) != HD_OK) fail_msg("%s", d.message);
  for (int i = 0; i < WORDS; i++) {
    assert_int_equal(out[i], moved(data[i], addresses));
    n_moved += out[i] != data[i];
  }
  assert_in_range(n_moved, WORDS / 20, WORDS);
  bool written;
  assert_int_equal(hd_workload_fill(w, 0, out, &written, &d), HD_OK);
  assert_memory_equal(out, data, sizeof out);
  hd_workload_close(w);
}

static void damaged_and_short_files_are_refused(void **state) {
  static const uint64_t addresses[BUFFERS] = {1, 2, 3};
  uint64_t out[WORDS] = {0};
  hd_diag d;
  hd_workload *w = open_recorded();
  write_packed("r/m0.zst", out, 8 * (WORDS - 1));
  assert_int_equal(hd_workload_point(w, 0, addresses, out, &d), HD_ERR_INPUT);
  assert_string_equal(d.message, "holds 3992 bytes; buffer 'm0' needs 4000");
  scratch_write("r/m0.zst", "not packed");
  assert_int_equal(hd_workload_point(w, 0, addresses, out, &d), HD_ERR_INPUT);
  assert_non_null(strstr(d.message, "cannot be unpacked into buffer 'm0'"));
  hd_workload_close(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(addresses_in_recorded_buffers_move_with_them),
      cmocka_unit_test(damaged_and_short_files_are_refused),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
