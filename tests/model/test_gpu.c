/* GPU files: what they say, what is refused; occupancy. */
#include <stdio.h>
#include <unistd.h>

#include "model/synth.h"

static const char gpu_dir[] = SOURCE_DIR "/gpus";

static hd_gpu load(const char *name) {
  hd_gpu g;
  hd_diag d = {0};
  char line[1400];
  if (hd_gpu_load(name, gpu_dir, &g, &d) != HD_OK) fail_msg("%s", hd_diag_line(&d, line, sizeof line));
  return g;
}

static void every_file_in_the_folder_loads_and_is_listed_in_order(void **state) {
  char **names;
  size_t n;
  hd_diag d;
  assert_int_equal(hd_gpu_list(gpu_dir, &names, &n, &d), HD_OK);
  static const char *const known[] = {"gtx1080", "gtx480", "gtx570", "gtx580", "gtx980",
                                      "h100",    "h200",   "k40",    "m2075"};
  assert_int_equal(n, sizeof known / sizeof *known);
  for (size_t i = 0; i < n; i++) {
    assert_string_equal(names[i], known[i]);
    hd_gpu g = load(names[i]);
    assert_string_equal(g.name, names[i]);
    assert_true(strlen(g.title) > 4);
    hd_model *m;
    assert_int_equal(hd_model_create(&g, &m, &d), HD_OK);
    hd_model_destroy(m);
  }
  hd_gpu_list_free(names, n);
  assert_int_equal(hd_gpu_list("/nowhere", &names, &n, &d), HD_ERR_IO);
}

static void the_files_hold_what_the_papers_and_manuals_say(void **state) {
  static const struct {
    const char *name;
    unsigned arch, sms, ctas, warps, threads, schedulers, issue, scheduler, dispatch;
    unsigned registers, register_unit, shared, shared_unit, reserved, mshrs;
    bool global, unified;
    hd_l1_write write;
    unsigned l1_kb, l1_sector, l1_ways, l1_latency, l1_hashed, l1_bytes;
    unsigned l2_kb, l2_sector, l2_ways, l2_latency, l2_hashed, l2_bytes;
    unsigned dram_latency, mhz;
    double gb_per_s;
  } want[] = {
      {"gtx580",
       20,
       16,
       8,
       48,
       1536,
       2,
       2,
       HD_SCHED_GTO,
       HD_DISPATCH_ROUND_ROBIN,
       32768,
       64,
       49152,
       128,
       0,
       32,
       true,
       false,
       HD_L1_WRITE_EVICT,
       16,
       128,
       4,
       35,
       0,
       128,
       768,
       128,
       8,
       195,
       0,
       384,
       330,
       772,
       192.4},
      {"gtx980",
       52,
       16,
       32,
       64,
       2048,
       4,
       4,
       HD_SCHED_GTO,
       HD_DISPATCH_DEMAND,
       65536,
       256,
       98304,
       256,
       0,
       256,
       false,
       false,
       HD_L1_WRITE_NO_ALLOCATE,
       48,
       32,
       24,
       82,
       1,
       128,
       2048,
       32,
       16,
       225,
       1,
       512,
       379,
       1126,
       224},
      {"gtx1080",
       61,
       20,
       32,
       64,
       2048,
       4,
       4,
       HD_SCHED_GTO,
       HD_DISPATCH_DEMAND,
       65536,
       256,
       98304,
       256,
       0,
       256,
       false,
       false,
       HD_L1_WRITE_NO_ALLOCATE,
       48,
       32,
       24,
       81,
       1,
       128,
       2048,
       32,
       16,
       252,
       1,
       512,
       482,
       1607,
       320},
      {"h100",
       90,
       132,
       32,
       64,
       2048,
       4,
       4,
       HD_SCHED_LRR,
       HD_DISPATCH_DEMAND,
       65536,
       256,
       233472,
       128,
       1024,
       512,
       true,
       true,
       HD_L1_WRITE_THROUGH,
       256,
       32,
       16,
       41,
       1,
       128,
       51200,
       32,
       16,
       278,
       1,
       4444,
       472,
       1755,
       3350},
  };
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    hd_gpu g = load(want[i].name);
    assert_int_equal(g.arch, want[i].arch);
    assert_int_equal(g.n_sms, want[i].sms);
    assert_int_equal(g.max_ctas, want[i].ctas);
    assert_int_equal(g.max_warps, want[i].warps);
    assert_int_equal(g.max_threads, want[i].threads);
    assert_int_equal(g.schedulers, want[i].schedulers);
    assert_int_equal(g.issue_per_cycle, want[i].issue);
    assert_int_equal(g.scheduler, want[i].scheduler);
    assert_int_equal(g.dispatch, want[i].dispatch);
    assert_int_equal(g.registers, want[i].registers);
    assert_int_equal(g.register_unit, want[i].register_unit);
    assert_int_equal(g.shared_bytes, want[i].shared);
    assert_int_equal(g.shared_unit, want[i].shared_unit);
    assert_int_equal(g.shared_reserved, want[i].reserved);
    assert_int_equal(g.l1_mshrs, want[i].mshrs);
    assert_int_equal(g.l1_global, want[i].global);
    assert_int_equal(g.l1_unified, want[i].unified);
    assert_int_equal(g.l1_write, want[i].write);
    assert_int_equal(g.l1.bytes, want[i].l1_kb << 10);
    assert_int_equal(g.l1.line, 128);
    assert_int_equal(g.l1.sector, want[i].l1_sector);
    assert_int_equal(g.l1.ways, want[i].l1_ways);
    assert_int_equal(g.l1.latency, want[i].l1_latency);
    assert_int_equal(g.l1.hashed, want[i].l1_hashed);
    assert_int_equal(g.l1.bytes_per_cycle, want[i].l1_bytes);
    assert_int_equal(g.l2.bytes, want[i].l2_kb << 10);
    assert_int_equal(g.l2.line, 128);
    assert_int_equal(g.l2.sector, want[i].l2_sector);
    assert_int_equal(g.l2.ways, want[i].l2_ways);
    assert_int_equal(g.l2.latency, want[i].l2_latency);
    assert_int_equal(g.l2.hashed, want[i].l2_hashed);
    assert_int_equal(g.l2.bytes_per_cycle, want[i].l2_bytes);
    assert_int_equal(g.dram_latency, want[i].dram_latency);
    assert_int_equal(g.clock_mhz, want[i].mhz);
    double gb_per_s = g.dram_bytes_per_cycle * g.clock_mhz / 1e3;
    assert_true(gb_per_s > want[i].gb_per_s * 0.999 && gb_per_s < want[i].gb_per_s * 1.001);
  }
}

/* ---- Malformed files ------------------------------------------------------------- */

static char scratch[] = "/tmp/heddle-gpu-XXXXXX";
static char scratch_file[64];

static int make_scratch(void **state) {
  if (!mkdtemp(scratch)) return -1;
  snprintf(scratch_file, sizeof scratch_file, "%s/test.toml", scratch);
  return 0;
}

static int remove_scratch(void **state) {
  unlink(scratch_file);
  rmdir(scratch);
  return 0;
}

static hd_status load_text(const char *text, size_t n, hd_diag *d) {
  hd_gpu g;
  memset(d, 0, sizeof *d);
  FILE *f = fopen(scratch_file, "w");
  assert_non_null(f);
  assert_int_equal(fwrite(text, 1, n, f), n);
  assert_int_equal(fclose(f), 0);
  return hd_gpu_load("test", scratch, &g, d);
}

static char *file_text(const char *name) {
  char path[512];
  hd_file f;
  snprintf(path, sizeof path, "%s/%s.toml", gpu_dir, name);
  assert_int_equal(hd_file_open(path, &f, NULL), HD_OK);
  char *text = strndup(f.data, f.len);
  hd_file_close(&f);
  return text;
}

/* Calls fn with the file's text, once for each line that sets a key. */
static void for_each_key(const char *name, void (*fn)(const char *before, const char *key, const char *value,
                                                      const char *after, unsigned line)) {
  char *text = file_text(name);
  unsigned number = 0;
  for (char *line = text; *line; number++) {
    char *end = line + strcspn(line, "\n"), *equals = memchr(line, '=', (size_t)(end - line));
    if (*line != '#' && equals) {
      char *before = strndup(text, (size_t)(line - text)), *key = strndup(line, strcspn(line, " =")),
           *value = strndup(equals + 1, (size_t)(end - equals - 1));
      fn(before, key, value, end, number + 1);
      free(before);
      free(key);
      free(value);
    }
    line = *end ? end + 1 : end;
  }
  free(text);
}

static void without(const char *before, const char *key, const char *value, const char *after,
                    unsigned line) {
  hd_buf b = {0};
  hd_diag d;
  hd_buf_printf(&b, "%s%s", before, after);
  assert_int_equal(load_text(b.data, b.len, &d), HD_ERR_INPUT);
  assert_non_null(strstr(d.message, key));
  assert_non_null(strstr(d.message, "missing"));
  assert_true(d.line > 0);
  hd_buf_free(&b);
}

static void with_bad_values(const char *before, const char *key, const char *value, const char *after,
                            unsigned line) {
  static const char *const bad[] = {"-1",      "\"\\u0000\"", "[1]", "1e300", "9223372036854775807",
                                    "{a = 1}", "1979-05-27"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    hd_buf b = {0};
    hd_diag d;
    hd_buf_printf(&b, "%s%s = %s%s", before, key, bad[i], after);
    assert_int_equal(load_text(b.data, b.len, &d), HD_ERR_INPUT);
    if (strncmp(bad[i], "1979", 4) != 0) { /* a date is refused before keys are looked at */
      assert_non_null(strstr(d.message, key));
      assert_int_equal(d.line, line);
    }
    hd_buf_free(&b);
  }
}

static void with_another_key(const char *before, const char *key, const char *value, const char *after,
                             unsigned line) {
  hd_buf b = {0};
  hd_diag d;
  hd_buf_printf(&b, "%s%s =%s\nx%s = 1%s", before, key, value, key, after);
  assert_int_equal(load_text(b.data, b.len, &d), HD_ERR_INPUT);
  assert_non_null(strstr(d.message, "unknown key 'x"));
  assert_int_equal(d.line, line + 1);
  hd_buf_free(&b);
}

static void a_missing_key_is_named(void **state) { for_each_key("h100", without); }
static void a_bad_value_is_refused_at_its_line(void **state) { for_each_key("gtx580", with_bad_values); }
static void an_unknown_key_is_refused_at_its_line(void **state) { for_each_key("gtx980", with_another_key); }

static void swap(const char *from, const char *to, const char *complaint) {
  hd_diag d;
  hd_buf b = {0};
  char *text = file_text("h100"), *at = strstr(text, from);
  assert_non_null(at);
  hd_buf_put(&b, text, (size_t)(at - text));
  hd_buf_puts(&b, to);
  hd_buf_puts(&b, at + strlen(from));
  assert_int_equal(load_text(b.data, b.len, &d), HD_ERR_INPUT);
  if (!strstr(d.message, complaint)) fail_msg("'%s' does not say '%s'", d.message, complaint);
  assert_true(d.line > 0);
  hd_buf_free(&b);
  free(text);
}

static void values_that_contradict_each_other_are_refused(void **state) {
  swap("bytes = 262144", "bytes = 262145", "multiple of line x ways");
  swap("bytes = 262144", "bytes = 229376", "more than");
  swap("sector = 32", "sector = 96", "32, 64 or 128");
  swap("line = 128", "line = 64", "'line' must be from 128 to 128");
  swap("latency = 278", "latency = 40", "at least that of l1");
  swap("latency = 472", "latency = 277", "at least that of l2");
  swap("threads = 2048", "threads = 1024", "32 x warps");
  swap("scheduler = \"lrr\"", "scheduler = \"fifo\"", "'lrr', 'gto'");
  swap("write = \"through\"", "write = \"back\"", "'evict', 'through', 'no-allocate'");
  swap("[dram]", "[drum]", "unknown key 'drum'");
  swap("title = \"",
       "title = \"123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890",
       "at most 95 bytes");
}

static void what_is_no_toml_is_refused(void **state) {
  static const char *const bad[] = {"", "[sm", "title", "\xff\xfe", "= 1", "[sm]\n[sm]\n", "sm = 1"};
  hd_diag d;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(load_text(bad[i], strlen(bad[i]), &d), HD_ERR_INPUT);
  char zeros[4096] = {0};
  assert_int_equal(load_text(zeros, sizeof zeros, &d), HD_ERR_INPUT);
  char *text = file_text("h100");
  for (size_t n = strlen(text); n > 0;
       n -= n < 97 ? n : 97) { /* cut short, at the end of a comment or anywhere */
    hd_status st = load_text(text, n - 1, &d);
    assert_true(st == HD_ERR_INPUT || n - 1 > strlen(text) - 97);
  }
  free(text);
}

static void a_gpu_is_found_by_name_or_by_path(void **state) {
  hd_gpu g;
  hd_diag d;
  assert_int_equal(hd_gpu_load(SOURCE_DIR "/gpus/h100.toml", NULL, &g, &d), HD_OK);
  assert_string_equal(g.name, "h100");
  assert_int_equal(hd_gpu_load("h100", NULL, &g, &d), HD_ERR_USAGE);
  assert_int_equal(hd_gpu_load("h101", gpu_dir, &g, &d), HD_ERR_IO);
  assert_int_equal(hd_gpu_load("", gpu_dir, &g, &d), HD_ERR_IO);
  assert_int_equal(hd_gpu_load("/tmp", gpu_dir, &g, &d), HD_ERR_IO);
  assert_int_equal(hd_gpu_load("h100", gpu_dir, &g, NULL), HD_OK);
}

/* ---- Occupancy ---------------------------------------------------------------------- */

static void occupancy_is_what_the_guides_tables_give(void **state) {
  static const struct {
    const char *gpu;
    uint32_t threads, registers, shared, ctas;
  } cases[] = {
      /* Compute capability 2.0: 1536 threads, 48 warps, 8 CTAs; 32768 registers in units of 64 a warp. */
      {"gtx580", 256, 0, 0, 6},
      {"gtx580", 512, 0, 0, 3},
      {"gtx580", 32, 0, 0, 8},
      {"gtx580", 1024, 0, 0, 1},
      {"gtx580", 256, 20, 0, 6},   /* 640 a warp: 25 per scheduler, 50 warps, 6 CTAs of 8 */
      {"gtx580", 256, 21, 0, 5},   /* 704: 23 per scheduler, 46 warps */
      {"gtx580", 192, 63, 0, 2},   /* 2048: 16 warps, 2 CTAs of 6 */
      {"gtx580", 256, 0, 8192, 6}, /* 48 KB in six parts */
      {"gtx580", 256, 0, 8193, 5},
      {"gtx580", 256, 0, 49152, 1},
      {"gtx580", 256, 0, 49153, 0},
      /* 5.2: 2048 threads, 32 CTAs, 65536 registers in units of 256, 96 KB. */
      {"gtx980", 256, 32, 0, 8},
      {"gtx980", 256, 40, 0, 6}, /* 1280: 12 per scheduler, 48 warps (51 would fit an undivided file) */
      {"gtx980", 256, 33, 0, 6},
      {"gtx980", 32, 0, 0, 32},
      {"gtx980", 128, 0, 24576, 4},
      {"gtx980", 128, 0, 24577, 3}, /* 24832 each */
      /* 6.1 */
      {"gtx1080", 1024, 32, 0, 2},
      {"gtx1080", 1024, 33, 0, 1},
      {"gtx1080", 96, 255, 0, 2}, /* 8192: 2 per scheduler, 8 warps, 2 CTAs of 3 */
      /* 9.0: 1 KB of shared memory more per CTA, of 228 KB. */
      {"h100", 256, 0, 0, 8},
      {"h100", 32, 0, 0, 32},
      {"h100", 32, 0, 6144, 32},   /* 32 x 7 KB = 224 */
      {"h100", 32, 0, 6273, 31},   /* 7424 each */
      {"h100", 256, 0, 232448, 1}, /* 227 KB */
      {"h100", 256, 0, 232449, 0},
      {"h100", 128, 168, 0, 3}, /* 5376: 3 per scheduler */
      /* Not launchable anywhere. */
      {"h100", 1025, 0, 0, 0},
      {"h100", 0, 0, 0, 0},
      {"h100", 1024, 65, 0, 0},
      {"h100", 32, UINT32_MAX, 0, 0},
      {"h100", 32, 0, UINT32_MAX, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_gpu g = load(cases[i].gpu);
    uint32_t n = hd_gpu_occupancy(&g, cases[i].threads, cases[i].registers, cases[i].shared);
    if (n != cases[i].ctas) fail_msg("case %zu: %u, not %u", i, n, cases[i].ctas);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_file_in_the_folder_loads_and_is_listed_in_order),
      cmocka_unit_test(the_files_hold_what_the_papers_and_manuals_say),
      cmocka_unit_test(a_missing_key_is_named),
      cmocka_unit_test(a_bad_value_is_refused_at_its_line),
      cmocka_unit_test(an_unknown_key_is_refused_at_its_line),
      cmocka_unit_test(values_that_contradict_each_other_are_refused),
      cmocka_unit_test(what_is_no_toml_is_refused),
      cmocka_unit_test(a_gpu_is_found_by_name_or_by_path),
      cmocka_unit_test(occupancy_is_what_the_guides_tables_give),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
