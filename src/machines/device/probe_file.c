/* A probe's result as a GPU file. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "device/probe_file.h"

void hd_probe_name(const hd_probe_result *r, char *out, size_t cap) {
  const char *t = r->device.title;
  if (strncmp(t, "NVIDIA ", 7) == 0) t += 7;
  size_t n = 0;
  for (; *t && n + 1 < cap; t++) {
    bool plain = isalnum((unsigned char)*t);
    if (plain) out[n++] = (char)tolower((unsigned char)*t);
    if (!plain && n && out[n - 1] != '-') out[n++] = '-';
  }
  while (n && out[n - 1] == '-') n--;
  if (cap) out[n] = 0;
}

/* Facts that neither the driver nor a measurement supplies. They are the same for all GPUs since an
 * architecture, as far as NVIDIA's guides say; else they are the values of the models in gpus/. */
typedef struct arch_facts {
  unsigned arch; /* from this one on */
  uint32_t shared_unit;
  bool unified;   /* L1 and shared memory share one store */
  uint64_t store; /* bytes of that store */
  hd_ptxas ptxas; /* of CUDA 13, where its code was looked at */
} arch_facts;

static const arch_facts facts[] = {
    {100, 128, true, 256 << 10, {0}},
    {90,
     128,
     true,
     256 << 10,
     {.registers = 32, .pairs_guarded = true, .predicated = 7, .unrolls_no_join = true}},
    {86, 128, true, 128 << 10, {0}},
    {80, 128, true, 192 << 10, {0}},
    {75, 256, true, 96 << 10, {0}},
    {70, 256, true, 128 << 10, {0}},
    {0, 256, false, 0, {0}},
};

static const arch_facts *facts_of(unsigned arch) {
  size_t i = 0;
  while (facts[i].arch > arch) i++;
  return &facts[i];
}

enum { WAYS = 16 };

/* Bytes up to a multiple of line x ways in each part, which GPU files must give. */
static uint64_t whole_sets(uint64_t bytes, uint32_t parts) {
  uint64_t set = 128 * WAYS * parts;
  return (bytes + set - 1) / set * set;
}

static const char *yes(bool b) { return b ? "true" : "false"; }

/* The driver's value, or, for a device without one, a common value. */
static void put_driver(hd_buf *b, const char *key, uint32_t said, uint32_t common) {
  hd_buf_printf(b, "%s = %u  # %s\n", key, said ? said : common, said ? "driver" : "not known");
}

static void put_sm(const hd_probe_result *r, hd_buf *b) {
  const hd_device_info *i = &r->device;
  const hd_probe_launch *l = r->n_launches ? &r->launches[0] : NULL;
  bool round_robin = l && l->round_robin == r->n_ctas;
  hd_buf_printf(b, "[sm]\ncount = %u  # driver\n", i->n_sms);
  probe_put_gpcs(r, b);
  put_driver(b, "ctas", i->max_ctas, 16);
  put_driver(b, "warps", i->max_threads / HD_WARP, 64);
  put_driver(b, "threads", i->max_threads, 2048);
  hd_buf_puts(b, "schedulers = 4  # not measured\nscheduler = \"lrr\"  # not measured\n");
  hd_buf_printf(b, "dispatch = \"%s\"  # measured", round_robin ? "round-robin" : "demand");
  if (l)
    hd_buf_printf(b, ": the first %u CTAs on %u SMs, %u to %u CTAs per SM where %u would be even", i->n_sms,
                  l->distinct, l->least, l->most, r->n_ctas / i->n_sms);
  hd_buf_puts(b, "\nissue_per_cycle = 4  # not measured\n");
  put_driver(b, "registers", i->registers, 65536);
  hd_buf_puts(b, "register_unit = 256  # not measured\n");
  put_driver(b, "shared_bytes", i->shared_bytes, 65536);
  hd_buf_printf(b, "shared_unit = %u  # not measured\n", facts_of(i->arch)->shared_unit);
  hd_buf_printf(b, "shared_reserved = %u  # driver\n\n", i->shared_reserved);
}

/* Cycles as GPU files want them: whole, no less than the level before. */
static uint32_t latency(double cycles, uint32_t least) {
  uint32_t c = cycles > 1 ? (uint32_t)lround(cycles) : 1;
  return c < least ? least : c;
}

static double per_cycle(double bytes_per_second, double mhz) {
  double v = mhz > 0 ? bytes_per_second / (mhz * 1e6) : 0;
  return v >= 1 ? v : 1;
}

/* ---- Pipelines ------------------------------------------------------------------------- */

static const struct unit_key {
  const char *key, *figure;
  bool whole; /* cycles */
  double least, most;
} unit_keys[] = {
    {"fma", "fma.f32", false, 1, 4096},
    {"alu", "shift.s32", false, 1, 4096}, /* additions go through the multipliers, too */
    {"fp64", "fma.f64", false, 0.25, 4096},
    {"xu", "ex2", false, 0.25, 4096},
    {"load_store", "shared.load", false, 1, 4096},
    {"tensor", "mma.f16", false, 0, 1 << 20},
    {"alu_latency", "fma.f32 latency", true, 1, 1000},
    {"fp64_latency", "fma.f64 latency", true, 1, 1000},
    {"xu_latency", "ex2 latency", true, 1, 1000},
    {"shared_latency", "shared.load latency", true, 1, 1000},
    {"tensor_latency", "mma.f16 latency", true, 1, 1000},
};
enum { N_UNIT_KEYS = sizeof unit_keys / sizeof *unit_keys };

/* Keys that GPU files may have: what figure, times what, makes them; nothing where it was not measured. */
typedef struct optional_key {
  const char *key, *figure;
  double times;   /* 0: as it is */
  bool per_cycle; /* a figure per microsecond */
} optional_key;

static void put_value(hd_buf *b, const char *key, double v, const char *how) {
  if (v > 0) hd_buf_printf(b, "%s = %.4g  # measured: %s\n", key, v, how);
}

static void put_optional(const hd_probe_result *r, double mhz, const optional_key *k, size_t n, hd_buf *b) {
  for (size_t i = 0; i < n; i++) {
    double v = hd_probe_value(r, k[i].figure) * (k[i].times > 0 ? k[i].times : 1);
    put_value(b, k[i].key, k[i].per_cycle ? v / mhz : v, k[i].figure);
  }
}

static const optional_key l2_keys[] = {
    {"requests_per_cycle", "L2 load one sector a line, 64 warps, 4 at once", 32, true},
    {"store_bytes_per_cycle", "L2 store coalesced, 64 warps, 4 at once", 128, true},
    {"stores_per_cycle", "L2 store one sector a line, 64 warps, 4 at once", 32, true},
    {"atomics_per_cycle", "L2 add one sector a line, 64 warps, 4 at once", 32, true},
    {"sm_bytes_per_cycle", "L2 load.v4 16 bytes a lane, one SM, 32 warps, 8 at once", 512, true},
    {"sm_store_bytes_per_cycle", "L2 store coalesced, one SM, 32 warps, 4 at once", 128, true},
    {"sm_stores_per_cycle", "L2 store one sector a line, one SM, 32 warps, 4 at once", 32, true},
};

/* Cycles, which GPU files have as whole numbers. */
static void put_rounded(hd_buf *b, const char *key, double v, const char *how) {
  if (v >= 1) hd_buf_printf(b, "%s = %.0f  # measured: %s\n", key, v, how);
}

static void put_cycles(const hd_probe_result *r, const char *key, const char *figure, hd_buf *b) {
  put_rounded(b, key, hd_probe_value(r, figure), figure);
}

/* A barrier's cost by its number of warps: the line through the figures of 1 and of 32 warps. */
static void put_barrier(const hd_probe_result *r, hd_buf *b) {
  double one = hd_probe_value(r, "barrier of 1 warps"), all = hd_probe_value(r, "barrier of 32 warps");
  put_value(b, "barrier_warp", (all - one) / 31, "barriers of 1 to 32 warps");
  put_value(b, "barrier", one - (all - one) / 31, "the same");
}

/* Constants by index, of one word and of eight. The chain of them has an addition in each step, for which the
 * clock takes alu_latency. */
static void put_constants(const hd_probe_result *r, hd_buf *b) {
  const double one = HD_WARP / hd_probe_value(r, "constant.load"),
               all = HD_WARP / hd_probe_value(r, "constant.load/8"),
               step = hd_probe_value(r, "constant.load latency"),
               steps = hd_probe_value(r, "constant.load/8 latency");
  put_value(b, "constant", (all - one) / 7, "loads of constants by index, of 1 word and of 8");
  put_rounded(b, "constant_latency", step - hd_probe_value(r, "fma.f32 latency"),
              "constant.load latency, less alu_latency");
  put_value(b, "constant_word_latency", (steps - step) / 7, "latencies of 1 word and of 8");
}

/* ptxas's code is a fact of the architecture: the kernels here do not show it. */
static void put_ptxas(const hd_ptxas *f, hd_buf *b) {
  if (!f->registers) return;
  hd_buf_printf(b, "[ptxas]\nregisters = %u  # not measured: CUDA 13's, by architecture\n", f->registers);
  hd_buf_printf(b, "pairs_guarded = %s  # not measured: the same\n", yes(f->pairs_guarded));
  hd_buf_printf(b, "predicated = %u  # not measured: the same\n", f->predicated);
  hd_buf_printf(b, "unrolls_no_join = %s  # not measured: the same\n\n", yes(f->unrolls_no_join));
}

static void put_launch(const hd_probe_result *r, double mhz, hd_buf *b) {
  char many[64];
  uint32_t ctas = 512 * r->device.n_sms;
  snprintf(many, sizeof many, "1 x empty, %" PRIu32 " CTAs of 256", ctas);
  double first = hd_probe_value(r, "1 x empty, 1 CTAs of 32"),
         all = hd_probe_value(r, "20 x empty, 1 CTAs of 32");
  if (!(first > 0)) return;
  hd_buf_puts(b, "[launch]\n");
  put_value(b, "first_us", first, "an empty kernel");
  put_value(b, "next_us", (all - first) / 19, "20 of them in a row");
  put_value(b, "second_us", hd_probe_value(r, "2 x empty, 1 CTAs of 32") - first, "two of them");
  put_value(b, "host_us", (hd_probe_value(r, "300 x empty, 1 CTAs of 32") + HD_DEVICE_HEAD_START_US) / 300,
            "300 of them, which the host begins to launch some time before");
  put_value(b, "cta_cycles", (hd_probe_value(r, many) - first) * mhz / ctas, many);
  hd_buf_putc(b, '\n');
}

/* wgmma is faster than mma.sync, where there is one. */
static const char *tensor_figure(const hd_probe_result *r) {
  return hd_probe_value(r, "wgmma.f16") > 0 ? "wgmma.f16" : "mma.f16";
}

/* Whether mma.sync is all that there is, or what is faster is measured. */
static bool tensor_is_measured(const hd_probe_result *r) {
  return hd_probe_value(r, tensor_figure(r)) > 0 &&
         (r->device.arch < 90 || hd_probe_value(r, "wgmma.f16") > 0);
}

/* All of them or none: a clock needs them all. A GPU without tensor cores has no figures for them. */
static void put_units(const hd_probe_result *r, hd_buf *b) {
  for (size_t i = 0; i < N_UNIT_KEYS; i++)
    if (strncmp(unit_keys[i].key, "tensor", 6) != 0 && !(hd_probe_value(r, unit_keys[i].figure) > 0)) return;
  hd_buf_puts(b, "[units]\n");
  for (size_t i = 0; i < N_UNIT_KEYS; i++) {
    const struct unit_key *k = &unit_keys[i];
    const bool tensor = strcmp(k->key, "tensor") == 0;
    const char *figure = tensor ? tensor_figure(r) : k->figure;
    double v = hd_probe_value(r, figure), said = v;
    if (!(v >= k->least)) v = k->least;
    if (v > k->most) v = k->most;
    hd_buf_printf(b, k->whole ? "%s = %.0f" : "%s = %.1f", k->key, v);
    const bool own = tensor ? tensor_is_measured(r) : !isnan(said);
    hd_buf_printf(b, own ? "  # measured: %s, %.2f\n" : "  # not measured: %s, %.2f\n", figure, said);
  }
  put_value(b, "mma", hd_probe_value(r, "mma.f16"), "mma.f16");
  put_cycles(r, "fence_latency", "fence latency", b);
  put_barrier(r, b);
  put_constants(r, b);
  put_value(b, "fetch", HD_WARP / hd_probe_value(r, "fetch"), "fetch");
  put_cycles(r, "fetch_latency", "fetch latency", b);
  hd_buf_putc(b, '\n');
}

/* Stores beside loads that hit: what they add to these, 128 lines in a round. */
static void put_l1_ways(const hd_probe_result *r, hd_buf *b) {
  const double loads = hd_probe_value(r, "4 loads that hit, 32 lines each"),
               both = hd_probe_value(r, "4 loads that hit and 4 stores, 32 lines each"),
               after = hd_probe_value(r, "load of a line of L2 after prefetch.global.L1");
  if (both > loads)
    put_value(b, "stores_per_cycle", 128 / (both - loads), "4 stores of 32 lines beside 4 loads");
  if (after > 0)
    hd_buf_printf(b, "fetches_pass = %s  # measured: after prefetch.global.L1 a load takes %.0f cycles\n",
                  yes(after > 0.5 * (r->l1_cycles + r->l2_cycles)), after);
}

static uint32_t sector(uint32_t bytes) { return bytes <= 32 ? 32 : bytes <= 64 ? 64 : 128; }

static uint32_t put_l1(const hd_probe_result *r, double mhz, hd_buf *b) {
  const arch_facts *f = facts_of(r->device.arch);
  uint32_t cycles = latency(r->l1_cycles, 1);
  uint64_t bytes = f->unified && f->store > r->device.shared_bytes ? f->store : whole_sets(r->l1_bytes[0], 1);
  bool unified = f->unified && bytes > r->device.shared_bytes;
  hd_buf_printf(b, "[l1]\nbytes = %" PRIu64 "  # %s; measured, by carve-out:", bytes < 4096 ? 4096 : bytes,
                unified ? "the store that L1 and shared memory share, by architecture" : "measured");
  for (int k = 0; k < HD_PROBE_CARVEOUTS; k++)
    hd_buf_printf(b, "%s %u%% %" PRIu64 " KB", k ? "," : "", r->carveout[k], r->l1_bytes[k] >> 10);
  hd_buf_printf(b, "\nline = 128  # measured: %u\n", r->line);
  hd_buf_printf(b, "sector = %u  # measured\n", sector(r->l1_sector));
  hd_buf_printf(b, "ways = %d  # not measured\nmshrs = 512  # not measured\n", WAYS);
  hd_buf_printf(b, "latency = %u  # measured: %.1f\n", cycles, r->l1_cycles);
  hd_buf_printf(b, "bytes_per_cycle = %.1f  # measured: %.2f TB/s, all SMs\n",
                per_cycle(r->l1_bandwidth / r->device.n_sms, mhz), r->l1_bandwidth / 1e12);
  put_value(b, "lines_per_cycle", hd_probe_value(r, "l2.load/32"), "l2.load/32");
  put_l1_ways(r, b);
  hd_buf_printf(b, "hashed = true  # not measured\nglobal = %s  # measured: a second load of a word %s\n",
                yes(r->l1_cycles < 0.8 * r->l2_cycles),
                r->l1_cycles < 0.8 * r->l2_cycles ? "hits" : "misses");
  hd_buf_printf(b, "unified = %s  # by architecture\nwrite = \"through\"  # not measured\n\n", yes(unified));
  return cycles;
}

/* Cycles for which a request keeps its slice or bank busy, from the loads of 8, 32 and 64 warps per SM, each
 * of which waits for the one before: 64 saturate it, and where 32 wait longer than 8 they wait for each
 * other, as in an M/D/1 queue (memory.h). */
static void put_queue(const hd_probe_result *r, const char *level, double alone, hd_buf *b) {
  static const uint32_t warps[] = {8, 32, 64};
  double rate[3], waits[2];
  char name[88];
  for (int i = 0; i < 3; i++) {
    snprintf(name, sizeof name, "%s load coalesced, %u warps, 1 at once", level, warps[i]);
    rate[i] = hd_probe_value(r, name);
    if (!(rate[i] > 0)) return;
  }
  for (int i = 0; i < 2; i++) {
    const double load = rate[i] / rate[2];
    if (load >= 0.99) return;
    waits[i] = load / (2 * (1 - load));
  }
  const double slower = warps[1] / rate[1] * rate[0] / warps[0];
  put_value(b, "queue_cycles", alone * (slower - 1) / (waits[1] - slower * waits[0]),
            "loads from 8, 32 and 64 warps, 1 at once");
}

static uint32_t put_l2(const hd_probe_result *r, double mhz, uint32_t l1_cycles, hd_buf *b) {
  uint32_t cycles = latency(r->l2_cycles, l1_cycles);
  uint64_t bytes = r->device.l2_bytes;
  hd_buf_printf(b, "[l2]\nbytes = %" PRIu64 "  # driver: %" PRIu64 "\nline = 128  # not measured\n",
                whole_sets(bytes < 4096 ? 4096 : bytes, probe_file_parts(r)), bytes);
  hd_buf_printf(b, "sector = %u  # measured: %u bytes come from DRAM with one load\n", sector(r->l2_sector),
                r->l2_sector);
  hd_buf_printf(b, "ways = %d  # not measured\nlatency = %u  # measured: %.1f\n", WAYS, cycles, r->l2_cycles);
  const double rate = probe_file_l2_rate(r);
  hd_buf_printf(b, "bytes_per_cycle = %.1f  # measured: %s, %.2f TB/s\nhashed = true  # not measured\n",
                rate > 0 ? rate : per_cycle(r->l2_bandwidth, mhz),
                rate > 0 ? "while all SMs load; until the last one has its lines"
                         : "until the last SM has its lines",
                r->l2_bandwidth / 1e12);
  put_optional(r, mhz, l2_keys, sizeof l2_keys / sizeof *l2_keys, b);
  put_cycles(r, "atomic_latency", "global.atomic latency", b);
  put_queue(r, "L2", r->l2_cycles, b);
  probe_put_l2(r, mhz, b);
  hd_buf_putc(b, '\n');
  return cycles;
}

void hd_probe_toml(const hd_probe_result *r, hd_buf *b) {
  const hd_device_info *i = &r->device;
  if (i->kind == HD_DEVICE_MODEL) {
    hd_gpu_toml(&r->gpu, b);
    return;
  }
  double mhz = r->clock_mhz >= 1 ? r->clock_mhz : i->clock_mhz >= 1 ? i->clock_mhz : 1000;
  hd_buf_printf(b, "# %s (%s), driver %u.%u, probed by heddle.\n\ntitle = \"", i->title,
                i->uuid[0] ? i->uuid : i->name, i->driver_version / 1000, i->driver_version % 1000 / 10);
  for (const char *c = i->title; *c && c < i->title + 90; c++)
    hd_buf_putc(b, (unsigned char)*c < ' ' || *c == '"' || *c == '\\' || *c == 0x7f ? ' ' : *c);
  hd_buf_printf(
      b, "\"\narch = %u  # driver\nclock_mhz = %.0f  # measured, one thread running; highest: %.0f\n\n",
      i->arch, mhz, i->clock_mhz);
  put_sm(r, b);
  put_units(r, b);
  put_ptxas(&facts_of(i->arch)->ptxas, b);
  put_launch(r, mhz, b);
  uint32_t l1 = put_l1(r, mhz, b), l2 = put_l2(r, mhz, l1, b);
  hd_buf_printf(b, "[dram]\nlatency = %u  # measured: %.1f\n", latency(r->dram_cycles, l2), r->dram_cycles);
  hd_buf_printf(b, "bytes_per_cycle = %.1f  # measured: %.2f TB/s read, %.2f TB/s copied\n",
                per_cycle(r->dram_read_bandwidth, mhz), r->dram_read_bandwidth / 1e12,
                r->copy_bandwidth / 1e12);
  put_queue(r, "DRAM", r->dram_cycles, b);
  probe_put_dram(r, mhz, b);
}

/* ---- As a GPU ----------------------------------------------------------------------------- */

/* Keys whose values are assumed, by architecture or for all GPUs: nothing here measures them. */
static const char *const assumed[][2] = {
    {"sm", "schedulers"},
    {"sm", "scheduler"},
    {"sm", "issue_per_cycle"},
    {"sm", "register_unit"},
    {"sm", "shared_unit"},
    {"ptxas", "registers"},
    {"ptxas", "pairs_guarded"},
    {"ptxas", "predicated"},
    {"ptxas", "unrolls_no_join"},
    {"l1", "ways"},
    {"l1", "mshrs"},
    {"l1", "hashed"},
    {"l1", "unified"},
    {"l1", "write"},
    {"l2", "line"},
    {"l2", "ways"},
    {"l2", "hashed"},
};

static void forget(hd_gpu_keys *keys, const char *table, const char *key) {
  bool *has = hd_gpu_keys_find(keys, table, key);
  if (has) *has = false;
}

hd_status hd_probe_gpu(const hd_probe_result *r, hd_gpu *out, hd_gpu_keys *told, hd_diag *d) {
  const hd_device_info *i = &r->device;
  hd_buf text = {0};
  hd_probe_toml(r, &text);
  hd_status st = text.failed ? hd_nomem(d) : hd_gpu_read(text.data, text.len, "the probe's file", out, d);
  hd_buf_free(&text);
  if (st != HD_OK) return st;
  *told = hd_gpu_keys_of(out);
  if (i->kind == HD_DEVICE_MODEL) return HD_OK;
  for (size_t k = 0; k < sizeof assumed / sizeof *assumed; k++) forget(told, assumed[k][0], assumed[k][1]);
  if (!i->max_ctas) forget(told, "sm", "ctas");
  if (!i->max_threads) forget(told, "sm", "threads"), forget(told, "sm", "warps");
  if (!i->registers) forget(told, "sm", "registers");
  if (!i->shared_bytes) forget(told, "sm", "shared_bytes");
  if (r->line != out->l1.line) forget(told, "l1", "line");
  if (out->l1_unified) forget(told, "l1", "bytes");
  if (!tensor_is_measured(r)) forget(told, "units", "tensor");
  if (!probe_file_has_gpcs(r)) forget(told, "sm", "gpcs");
  if (isnan(hd_probe_value(r, "mma.f16"))) forget(told, "units", "tensor_latency");
  return HD_OK;
}

hd_status hd_probe_compare(const hd_probe_result *r, const hd_gpu *file, double percent,
                           hd_gpu_comparison *out, hd_diag *d) {
  hd_gpu probed;
  hd_gpu_keys told;
  hd_status st = hd_probe_gpu(r, &probed, &told, d);
  if (st == HD_OK) hd_gpu_compare(file, &probed, &told, percent, out);
  return st;
}
