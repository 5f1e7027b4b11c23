/* GPU files: their values and their mistakes; occupancy. */
#include <math.h>
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
  assert_true(n >= 22);
  for (size_t i = 0; i < n; i++) {
    assert_true(!i || strcmp(names[i - 1], names[i]) < 0);
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

/* Sizes in units and bytes as the fields of hd_gpu have them, caches' in KB. */
typedef struct said {
  const char *name;
  unsigned arch, sms, ctas, warps, threads, schedulers, issue, scheduler, dispatch;
  unsigned registers, register_unit, shared, shared_unit, reserved, mshrs;
  bool global, unified;
  hd_l1_write write;
  unsigned l1_kb, l1_sector, l1_ways, l1_latency, l1_hashed, l1_bytes;
  unsigned l2_kb, l2_sector, l2_ways, l2_latency, l2_hashed, l2_bytes;
  unsigned dram_latency, mhz;
  double gb_per_s;
} said;

static const said manuals[] = {
    {.name = "gtx580",
     .arch = 20,
     .sms = 16,
     .ctas = 8,
     .warps = 48,
     .threads = 1536,
     .schedulers = 2,
     .issue = 2,
     .scheduler = HD_SCHED_GTO,
     .dispatch = HD_DISPATCH_ROUND_ROBIN,
     .registers = 32768,
     .register_unit = 64,
     .shared = 49152,
     .shared_unit = 128,
     .reserved = 0,
     .mshrs = 32,
     .global = true,
     .unified = false,
     .write = HD_L1_WRITE_EVICT,
     .l1_kb = 16,
     .l1_sector = 128,
     .l1_ways = 4,
     .l1_latency = 35,
     .l1_hashed = 0,
     .l1_bytes = 128,
     .l2_kb = 768,
     .l2_sector = 128,
     .l2_ways = 8,
     .l2_latency = 195,
     .l2_hashed = 0,
     .l2_bytes = 384,
     .dram_latency = 330,
     .mhz = 772,
     .gb_per_s = 192.4},
    {.name = "gtx980",
     .arch = 52,
     .sms = 16,
     .ctas = 32,
     .warps = 64,
     .threads = 2048,
     .schedulers = 4,
     .issue = 4,
     .scheduler = HD_SCHED_GTO,
     .dispatch = HD_DISPATCH_DEMAND,
     .registers = 65536,
     .register_unit = 256,
     .shared = 98304,
     .shared_unit = 256,
     .reserved = 0,
     .mshrs = 256,
     .global = false,
     .unified = false,
     .write = HD_L1_WRITE_NO_ALLOCATE,
     .l1_kb = 48,
     .l1_sector = 32,
     .l1_ways = 24,
     .l1_latency = 82,
     .l1_hashed = 1,
     .l1_bytes = 128,
     .l2_kb = 2048,
     .l2_sector = 32,
     .l2_ways = 16,
     .l2_latency = 225,
     .l2_hashed = 1,
     .l2_bytes = 512,
     .dram_latency = 379,
     .mhz = 1126,
     .gb_per_s = 224},
    {.name = "gtx1080",
     .arch = 61,
     .sms = 20,
     .ctas = 32,
     .warps = 64,
     .threads = 2048,
     .schedulers = 4,
     .issue = 4,
     .scheduler = HD_SCHED_GTO,
     .dispatch = HD_DISPATCH_DEMAND,
     .registers = 65536,
     .register_unit = 256,
     .shared = 98304,
     .shared_unit = 256,
     .reserved = 0,
     .mshrs = 256,
     .global = false,
     .unified = false,
     .write = HD_L1_WRITE_NO_ALLOCATE,
     .l1_kb = 48,
     .l1_sector = 32,
     .l1_ways = 24,
     .l1_latency = 81,
     .l1_hashed = 1,
     .l1_bytes = 128,
     .l2_kb = 2048,
     .l2_sector = 32,
     .l2_ways = 16,
     .l2_latency = 252,
     .l2_hashed = 1,
     .l2_bytes = 512,
     .dram_latency = 482,
     .mhz = 1607,
     .gb_per_s = 320},
    {.name = "h100",
     .arch = 90,
     .sms = 132,
     .ctas = 32,
     .warps = 64,
     .threads = 2048,
     .schedulers = 4,
     .issue = 4,
     .scheduler = HD_SCHED_OLDEST,
     .dispatch = HD_DISPATCH_DEMAND,
     .registers = 65536,
     .register_unit = 256,
     .shared = 233472,
     .shared_unit = 128,
     .reserved = 1024,
     .mshrs = 512,
     .global = true,
     .unified = true,
     .write = HD_L1_WRITE_THROUGH,
     .l1_kb = 256,
     .l1_sector = 32,
     .l1_ways = 16,
     .l1_latency = 32,
     .l1_hashed = 1,
     .l1_bytes = 128,
     .l2_kb = 51200,
     .l2_sector = 64,
     .l2_ways = 16,
     .l2_latency = 284,
     .l2_hashed = 1,
     .l2_bytes = 4098,
     .dram_latency = 690,
     .mhz = 1980,
     .gb_per_s = 3103},
};

static void expect_sm(const hd_gpu *g, const said *want) {
  assert_int_equal(g->arch, want->arch);
  assert_int_equal(g->n_sms, want->sms);
  assert_int_equal(g->max_ctas, want->ctas);
  assert_int_equal(g->max_warps, want->warps);
  assert_int_equal(g->max_threads, want->threads);
  assert_int_equal(g->schedulers, want->schedulers);
  assert_int_equal(g->issue_per_cycle, want->issue);
  assert_int_equal(g->scheduler, want->scheduler);
  assert_int_equal(g->dispatch, want->dispatch);
  assert_int_equal(g->registers, want->registers);
  assert_int_equal(g->register_unit, want->register_unit);
  assert_int_equal(g->shared_bytes, want->shared);
  assert_int_equal(g->shared_unit, want->shared_unit);
  assert_int_equal(g->shared_reserved, want->reserved);
}

static void expect_caches(const hd_gpu *g, const said *want) {
  assert_int_equal(g->l1_mshrs, want->mshrs);
  assert_int_equal(g->l1_global, want->global);
  assert_int_equal(g->l1_unified, want->unified);
  assert_int_equal(g->l1_write, want->write);
  assert_int_equal(g->l1.bytes, want->l1_kb << 10);
  assert_int_equal(g->l1.line, 128);
  assert_int_equal(g->l1.sector, want->l1_sector);
  assert_int_equal(g->l1.ways, want->l1_ways);
  assert_int_equal(g->l1.latency, want->l1_latency);
  assert_int_equal(g->l1.hashed, want->l1_hashed);
  assert_int_equal(g->l1.bytes_per_cycle, want->l1_bytes);
  assert_int_equal(g->l2.bytes, want->l2_kb << 10);
  assert_int_equal(g->l2.line, 128);
  assert_int_equal(g->l2.sector, want->l2_sector);
  assert_int_equal(g->l2.ways, want->l2_ways);
  assert_int_equal(g->l2.latency, want->l2_latency);
  assert_int_equal(g->l2.hashed, want->l2_hashed);
  assert_int_equal(g->l2.bytes_per_cycle, want->l2_bytes);
}

static void expect_dram(const hd_gpu *g, const said *want) {
  assert_int_equal(g->dram_latency, want->dram_latency);
  assert_int_equal(g->clock_mhz, want->mhz);
  double gb_per_s = g->dram_bytes_per_cycle * g->clock_mhz / 1e3;
  assert_true(gb_per_s > want->gb_per_s * 0.999 && gb_per_s < want->gb_per_s * 1.001);
}

static void the_files_hold_what_the_papers_and_manuals_say(void **state) {
  for (size_t i = 0; i < sizeof manuals / sizeof *manuals; i++) {
    hd_gpu g = load(manuals[i].name);
    expect_sm(&g, &manuals[i]);
    expect_caches(&g, &manuals[i]);
    expect_dram(&g, &manuals[i]);
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

static void a_missing_key_is_named(void **state) { for_each_key("gtx570", without); }
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
  swap("latency = 284", "latency = 31", "at least that of l1");
  swap("latency = 690", "latency = 283", "at least that of l2");
  swap("gpcs = 8", "gpcs = 1", "need at least as many");
  swap("parts = 2", "parts = 3", "from 1 to 2");
  swap("bytes = 52428800", "bytes = 6144", "line x ways x parts, 4096");
  swap("latency = 690", "latency = 690\nchannels = 6", "need an 'interleave'");
  swap("latency = 690", "latency = 690\nchannels = 6\ninterleave = 200", "multiple of 128");
  swap("latency = 690", "latency = 690\nbanks = 16\nrow_bytes = 4096", "need 'channels'");
  swap("latency = 690", "latency = 690\nchannels = 6\ninterleave = 256\nbanks = 16", "'row_bytes'");
  swap("latency = 690", "latency = 690\nrow_latency = 691", "at most 'latency', 690");
  swap("threads = 2048", "threads = 1024", "32 x warps");
  swap("scheduler = \"oldest\"", "scheduler = \"fifo\"", "'lrr', 'gto'");
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
  assert_int_equal(hd_gpu_load("h101", gpu_dir, &g, &d), HD_ERR_USAGE);
  assert_non_null(strstr(d.message, "there is h100"));
  assert_int_equal(hd_gpu_load("", gpu_dir, &g, &d), HD_ERR_USAGE);
  assert_int_equal(hd_gpu_load("/tmp", gpu_dir, &g, &d), HD_ERR_IO);
  assert_int_equal(hd_gpu_load("h100", gpu_dir, &g, NULL), HD_OK);
}

/* ---- The clock ---------------------------------------------------------------------- */

static void a_clock_needs_units_and_nothing_else(void **state) {
  char **names;
  size_t n;
  assert_int_equal(hd_gpu_list(gpu_dir, &names, &n, NULL), HD_OK);
  for (size_t i = 0; i < n; i++) {
    hd_gpu g = load(names[i]);
    const bool h100 = strcmp(names[i], "h100") == 0;
    assert_true(hd_gpu_has_clock(&g));
    assert_true(hd_gpu_has_launches(&g) || !(h100 || strcmp(names[i], "m2075") == 0));
    assert_true(g.compared.launches > 0 || !h100);
    g.launch = (hd_launch_cost){0};
    assert_true(hd_gpu_has_clock(&g));
    assert_false(hd_gpu_has_launches(&g));
    g.units = (hd_units){0};
    assert_false(hd_gpu_has_clock(&g));
  }
  hd_gpu_list_free(names, n);
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

static void a_gpu_agrees_with_itself(void **state) {
  char **names;
  size_t n;
  static hd_gpu_comparison c;
  assert_int_equal(hd_gpu_list(gpu_dir, &names, &n, NULL), HD_OK);
  for (size_t i = 0; i < n; i++) {
    const hd_gpu g = load(names[i]);
    const hd_gpu_keys all = hd_gpu_keys_of(&g), none = {0};
    uint32_t has = 0;
    for (size_t k = 0; k < HD_GPU_MOST_KEYS; k++) has += all.has[k];
    hd_gpu_compare(&g, &g, &all, 0, &c);
    assert_int_equal(c.n, has - 1); /* the title */
    assert_int_equal(c.agree, c.n);
    assert_int_equal(c.differ + c.alone + c.left_out, 0);
    hd_gpu_compare(&g, &g, &none, 0, &c);
    assert_int_equal(c.n, 0);
    assert_int_equal(c.left_out, has - 1);
  }
  hd_gpu_list_free(names, n);
}

static const hd_gpu_difference *row_of(const hd_gpu_comparison *c, const char *table, const char *key) {
  for (uint32_t i = 0; i < c->n; i++)
    if (strcmp(c->keys[i].key, key) == 0 && c->keys[i].table && strcmp(c->keys[i].table, table) == 0)
      return &c->keys[i];
  fail_msg("no key %s.%s", table, key);
  return NULL;
}

static void keys_agree_within_a_percentage_of_the_files(void **state) {
  const hd_gpu a = load("h100");
  hd_gpu b = a;
  static hd_gpu_comparison c;
  b.l2.latency = a.l2.latency * 2;
  b.dram_bytes_per_cycle = a.dram_bytes_per_cycle * 1.1;
  b.units.mma = a.units.mma * 1.11;
  b.l1.latency = a.l1.latency * 7 / 8;
  b.l1_fetches_pass = false;
  b.dispatch = HD_DISPATCH_ROUND_ROBIN;
  b.l2_queue_cycles = 0;
  hd_gpu_keys all = hd_gpu_keys_of(&a);
  *hd_gpu_keys_find(&all, "sm", "ctas") = false;
  hd_gpu_compare(&a, &b, &all, 10, &c);
  assert_int_equal(c.differ, 5);
  assert_int_equal(c.alone, 1);
  assert_int_equal(c.left_out, 1);
  assert_int_equal(c.agree + c.differ + c.alone, c.n);
  assert_true(row_of(&c, "dram", "bytes_per_cycle")->agrees);
  assert_true(row_of(&c, "l2", "latency")->percent == 100);
  const hd_gpu_difference *mma = row_of(&c, "units", "mma"), *l1 = row_of(&c, "l1", "latency");
  assert_true(!mma->agrees && mma->percent > 10.999 && mma->percent < 11.001);
  assert_true(!l1->agrees && l1->percent == -12.5);
  assert_string_equal(l1->file, "32");
  assert_string_equal(l1->other, "28");
  assert_string_equal(row_of(&c, "sm", "dispatch")->other, "round-robin");
  assert_string_equal(row_of(&c, "l1", "fetches_pass")->other, "false");
  assert_true(!row_of(&c, "l1", "fetches_pass")->agrees);
  const hd_gpu_difference *gone = row_of(&c, "l2", "queue_cycles");
  assert_string_equal(gone->file, "31.8");
  assert_string_equal(gone->other, "");
  assert_true(isnan(gone->percent) && !gone->agrees);
  assert_null(hd_gpu_keys_find(&all, "l2", "no_such_key"));
  assert_null(hd_gpu_keys_find(&all, NULL, "latency"));
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
      cmocka_unit_test(a_clock_needs_units_and_nothing_else),
      cmocka_unit_test(occupancy_is_what_the_guides_tables_give),
      cmocka_unit_test(a_gpu_agrees_with_itself),
      cmocka_unit_test(keys_agree_within_a_percentage_of_the_files),
  };
  return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
