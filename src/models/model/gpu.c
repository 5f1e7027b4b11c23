#include "heddle/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/warps.h"
#include "text/toml.h"

/* ---- The keys of a GPU file --------------------------------------------------- */

typedef enum key_kind { KEY_U32, KEY_U64, KEY_REAL, KEY_BOOL, KEY_WORD, KEY_TEXT } key_kind;

typedef struct key {
  const char *table, *name; /* table NULL: top level */
  key_kind kind;
  size_t at;                /* offset in hd_gpu */
  double min, max;          /* numbers */
  const char *const *words; /* KEY_WORD: the enum's values in order; NULL ends */
  bool optional;            /* 0 where the file does not have it */
} key;

static const char *const dispatch_words[] = {
    [HD_DISPATCH_ROUND_ROBIN] = "round-robin",
    [HD_DISPATCH_DEMAND] = "demand",
    NULL,
};
static const char *const write_words[] = {
    [HD_L1_WRITE_EVICT] = "evict",
    [HD_L1_WRITE_THROUGH] = "through",
    [HD_L1_WRITE_NO_ALLOCATE] = "no-allocate",
    NULL,
};

#define AT(member) offsetof(hd_gpu, member)

static const key keys[] = {
    {NULL, "title", KEY_TEXT, AT(title), 0, 0, NULL},
    {NULL, "arch", KEY_U32, AT(arch), 20, 999, NULL},
    {NULL, "clock_mhz", KEY_REAL, AT(clock_mhz), 1, 1e5, NULL},
    {"sm", "count", KEY_U32, AT(n_sms), 1, 1024, NULL},
    {"sm", "ctas", KEY_U32, AT(max_ctas), 1, 64, NULL},
    {"sm", "warps", KEY_U32, AT(max_warps), 1, 64, NULL},
    {"sm", "threads", KEY_U32, AT(max_threads), 32, 2048, NULL},
    {"sm", "schedulers", KEY_U32, AT(schedulers), 1, 16, NULL},
    {"sm", "scheduler", KEY_WORD, AT(scheduler), 0, 0, model_schedulers},
    {"sm", "scheduler_warps", KEY_U32, AT(scheduler_warps), 0, 64, NULL, true},
    {"sm", "dispatch", KEY_WORD, AT(dispatch), 0, 0, dispatch_words},
    {"sm", "issue_per_cycle", KEY_U32, AT(issue_per_cycle), 1, 16, NULL},
    {"sm", "registers", KEY_U32, AT(registers), 1024, 1 << 20, NULL},
    {"sm", "register_unit", KEY_U32, AT(register_unit), 1, 4096, NULL},
    {"sm", "shared_bytes", KEY_U32, AT(shared_bytes), 1024, 1 << 24, NULL},
    {"sm", "shared_unit", KEY_U32, AT(shared_unit), 1, 65536, NULL},
    {"sm", "gpcs", KEY_U32, AT(gpcs), 1, HD_MOST_GPCS, NULL, true},
    {"sm", "shared_reserved", KEY_U32, AT(shared_reserved), 0, 65536, NULL},
    {"l1", "bytes", KEY_U64, AT(l1.bytes), 4096, 1 << 30, NULL},
    {"l1", "line", KEY_U32, AT(l1.line), 128, 128, NULL},
    {"l1", "sector", KEY_U32, AT(l1.sector), 32, 128, NULL},
    {"l1", "ways", KEY_U32, AT(l1.ways), 1, 64, NULL},
    {"l1", "latency", KEY_U32, AT(l1.latency), 1, 100000, NULL},
    {"l1", "bytes_per_cycle", KEY_REAL, AT(l1.bytes_per_cycle), 1, 1e6, NULL},
    {"l1", "hashed", KEY_BOOL, AT(l1.hashed), 0, 0, NULL},
    {"l1", "global", KEY_BOOL, AT(l1_global), 0, 0, NULL},
    {"l1", "unified", KEY_BOOL, AT(l1_unified), 0, 0, NULL},
    {"l1", "mshrs", KEY_U32, AT(l1_mshrs), 1, 1024, NULL},
    {"l1", "write", KEY_WORD, AT(l1_write), 0, 0, write_words},
    {"l1", "fetches_pass", KEY_BOOL, AT(l1_fetches_pass), 0, 0, NULL, true},
    {"l1", "latency_to_use", KEY_BOOL, AT(l1_latency_to_use), 0, 0, NULL, true},
    {"l1", "lines_per_cycle", KEY_REAL, AT(l1_lines_per_cycle), 0, 64, NULL, true},
    {"l1", "stores_per_cycle", KEY_REAL, AT(l1_stores_per_cycle), 0, 64, NULL, true},
    {"readonly", "bytes", KEY_U64, AT(readonly.bytes), 4096, 1 << 30, NULL},
    {"readonly", "line", KEY_U32, AT(readonly.line), 128, 128, NULL},
    {"readonly", "sector", KEY_U32, AT(readonly.sector), 32, 128, NULL},
    {"readonly", "ways", KEY_U32, AT(readonly.ways), 1, 64, NULL},
    {"readonly", "latency", KEY_U32, AT(readonly.latency), 1, 100000, NULL},
    {"readonly", "bytes_per_cycle", KEY_REAL, AT(readonly.bytes_per_cycle), 1, 1e6, NULL},
    {"readonly", "hashed", KEY_BOOL, AT(readonly.hashed), 0, 0, NULL},
    {"l2", "bytes", KEY_U64, AT(l2.bytes), 4096, 1 << 30, NULL},
    {"l2", "line", KEY_U32, AT(l2.line), 128, 128, NULL},
    {"l2", "sector", KEY_U32, AT(l2.sector), 32, 128, NULL},
    {"l2", "ways", KEY_U32, AT(l2.ways), 1, 64, NULL},
    {"l2", "latency", KEY_U32, AT(l2.latency), 1, 100000, NULL},
    {"l2", "bytes_per_cycle", KEY_REAL, AT(l2.bytes_per_cycle), 1, 1e6, NULL},
    {"l2", "hashed", KEY_BOOL, AT(l2.hashed), 0, 0, NULL},
    {"l2", "parts", KEY_U32, AT(l2_parts), 1, HD_L2_MOST_PARTS, NULL, true},
    {"l2", "far_latency", KEY_U32, AT(l2_far_latency), 0, 100000, NULL, true},
    {"l2", "sms_together", KEY_U32, AT(l2_sms_together), 1, 64, NULL, true},
    {"l2", "sms_bytes_per_cycle", KEY_REAL, AT(l2_sms_bytes_per_cycle), 0, 1e6, NULL, true},
    {"l2", "sm_bytes_per_cycle", KEY_REAL, AT(l2_sm_bytes_per_cycle), 0, 1e6, NULL, true},
    {"units", "mma", KEY_REAL, AT(units.mma), 0, 1 << 20, NULL, true},
    {"units", "barrier", KEY_REAL, AT(units.barrier), 0, 1e4, NULL, true},
    {"units", "barrier_warp", KEY_REAL, AT(units.barrier_warp), 0, 1e3, NULL, true},
    {"units", "constant", KEY_REAL, AT(units.constant), 0, 1e3, NULL, true},
    {"units", "constant_latency", KEY_U32, AT(units.constant_latency), 0, 1e4, NULL, true},
    {"units", "constant_word_latency", KEY_REAL, AT(units.constant_word_latency), 0, 1e3, NULL, true},
    {"units", "fetch", KEY_REAL, AT(units.fetch), 0, 1e3, NULL, true},
    {"units", "fetch_latency", KEY_U32, AT(units.fetch_latency), 0, 1e4, NULL, true},
    {"units", "fence_latency", KEY_U32, AT(units.fence_latency), 0, 1e5, NULL, true},
    {"l2", "requests_per_cycle", KEY_REAL, AT(l2_requests_per_cycle), 0, 1e5, NULL, true},
    {"l2", "store_bytes_per_cycle", KEY_REAL, AT(l2_store_bytes_per_cycle), 0, 1e6, NULL, true},
    {"l2", "stores_per_cycle", KEY_REAL, AT(l2_stores_per_cycle), 0, 1e5, NULL, true},
    {"l2", "sm_store_bytes_per_cycle", KEY_REAL, AT(l2_sm_store_bytes_per_cycle), 0, 1e5, NULL, true},
    {"l2", "sm_stores_per_cycle", KEY_REAL, AT(l2_sm_stores_per_cycle), 0, 1e3, NULL, true},
    {"l2", "sm_loads_per_cycle", KEY_REAL, AT(l2_sm_loads_per_cycle), 0, 1e3, NULL, true},
    {"l2", "atomic_latency", KEY_U32, AT(l2_atomic_latency), 0, 1e5, NULL, true},
    {"l2", "look_cycles", KEY_U32, AT(l2_look_cycles), 0, 1e5, NULL, true},
    {"l2", "line_atomics_per_cycle", KEY_REAL, AT(l2_line_atomics_per_cycle), 0, 1e5, NULL, true},
    {"l2", "atomics_per_cycle", KEY_REAL, AT(l2_atomics_per_cycle), 0, 1e5, NULL, true},
    {"l2", "atomic_repeats_per_cycle", KEY_REAL, AT(l2_atomic_repeats_per_cycle), 0, 1e5, NULL, true},
    {"l2", "dirty_bytes", KEY_U64, AT(l2_dirty_bytes), 0, 1 << 30, NULL, true},
    {"l2", "first_with_l1", KEY_BOOL, AT(l2_first_with_l1), 0, 0, NULL, true},
    {"l2", "queue_cycles", KEY_REAL, AT(l2_queue_cycles), 0, 1e4, NULL, true},
    {"dram", "latency_least", KEY_U32, AT(dram_latency_least), 0, 1e5, NULL, true},
    {"dram", "latency_most", KEY_U32, AT(dram_latency_most), 0, 1e5, NULL, true},
    {"dram", "queue_cycles", KEY_REAL, AT(dram_queue_cycles), 0, 1e4, NULL, true},
    {"dram", "write_bytes_per_cycle", KEY_REAL, AT(dram_write_bytes_per_cycle), 0, 1e6, NULL, true},
    {"dram", "channels", KEY_U32, AT(dram_channels), 1, HD_DRAM_MOST_CHANNELS, NULL, true},
    {"dram", "interleave", KEY_U32, AT(dram_interleave), 128, 1 << 20, NULL, true},
    {"dram", "banks", KEY_U32, AT(dram_banks), 1, HD_DRAM_MOST_BANKS, NULL, true},
    {"dram", "row_bytes", KEY_U32, AT(dram_row_bytes), 128, 1 << 20, NULL, true},
    {"dram", "row_latency", KEY_U32, AT(dram_row_latency), 0, 1e4, NULL, true},
    {"dram", "row_cycles", KEY_REAL, AT(dram_row_cycles), 0, 1e4, NULL, true},
    {"dram", "activate_cycles", KEY_REAL, AT(dram_activate_cycles), 0, 1e4, NULL, true},
    {"launch", "first_us", KEY_REAL, AT(launch.first_us), 0, 1e4, NULL, true},
    {"launch", "next_us", KEY_REAL, AT(launch.next_us), 0, 1e4, NULL, true},
    {"launch", "second_us", KEY_REAL, AT(launch.second_us), 0, 1e4, NULL, true},
    {"launch", "host_us", KEY_REAL, AT(launch.host_us), 0, 1e4, NULL, true},
    {"launch", "cta_cycles", KEY_REAL, AT(launch.cta_cycles), 0, 1e5, NULL, true},
    {"ptxas", "registers", KEY_U32, AT(ptxas.registers), 0, 255, NULL, true},
    {"ptxas", "pairs_guarded", KEY_BOOL, AT(ptxas.pairs_guarded), 0, 0, NULL, true},
    {"ptxas", "predicated", KEY_U32, AT(ptxas.predicated), 0, 255, NULL, true},
    {"ptxas", "unrolls_no_join", KEY_BOOL, AT(ptxas.unrolls_no_join), 0, 0, NULL, true},
    {"units", "fma", KEY_REAL, AT(units.fma), 1, 4096, NULL},
    {"units", "alu", KEY_REAL, AT(units.alu), 1, 4096, NULL},
    {"units", "fp64", KEY_REAL, AT(units.fp64), 0.25, 4096, NULL},
    {"units", "xu", KEY_REAL, AT(units.xu), 0.25, 4096, NULL},
    {"units", "load_store", KEY_REAL, AT(units.load_store), 1, 4096, NULL},
    {"units", "tensor", KEY_REAL, AT(units.tensor), 0, 1 << 20, NULL},
    {"units", "alu_latency", KEY_U32, AT(units.alu_latency), 1, 1000, NULL},
    {"units", "fp64_latency", KEY_U32, AT(units.fp64_latency), 1, 1000, NULL},
    {"units", "xu_latency", KEY_U32, AT(units.xu_latency), 1, 1000, NULL},
    {"units", "shared_latency", KEY_U32, AT(units.shared_latency), 1, 1000, NULL},
    {"units", "tensor_latency", KEY_U32, AT(units.tensor_latency), 1, 1000, NULL},
    {"dram", "latency", KEY_U32, AT(dram_latency), 1, 100000, NULL},
    {"dram", "bytes_per_cycle", KEY_REAL, AT(dram_bytes_per_cycle), 1e-3, 1e6, NULL},
    {"compared", "launches", KEY_U32, AT(compared.launches), 1, 1e6, NULL},
    {"compared", "time_error", KEY_REAL, AT(compared.time_error), 0, 1e6, NULL},
    {"compared", "effects", KEY_U32, AT(compared.effects), 1, 1e9, NULL},
    {"compared", "right_signs", KEY_U32, AT(compared.right_signs), 0, 1e9, NULL},
    {"compared", "sampled", KEY_U32, AT(compared.sampled), 1, 1e9, NULL, true},
    {"compared", "sampled_error", KEY_REAL, AT(compared.sampled_error), 0, 1e6, NULL, true},
    {"published", "figures", KEY_U32, AT(published.figures), 1, 1e6, NULL},
    {"published", "error", KEY_REAL, AT(published.error), 0, 1e6, NULL},
    {"published", "apart", KEY_U32, AT(published.apart), 0, 1e6, NULL, true},
    {"published", "apart_error", KEY_REAL, AT(published.apart_error), 0, 1e6, NULL, true},
};
#undef AT
enum { N_KEYS = sizeof keys / sizeof keys[0] };

static const struct {
  const char *name;
  bool optional; /* a clock alone needs it, or not every GPU has such a cache */
} tables[] = {{"sm"},   {"units", true},  {"l1"},          {"readonly", true}, {"l2"},
              {"dram"}, {"launch", true}, {"ptxas", true}, {"compared", true}, {"published", true}};
enum { N_TABLES = sizeof tables / sizeof tables[0] };

static bool same_table(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* ---- Reading --------------------------------------------------------------------- */

static hd_status read_number(const char *file, const json_t *table, const key *k, const json_t *v, double *x,
                             hd_diag *d) {
  bool real = k->kind == KEY_REAL;
  if (!json_is_integer(v) && !(real && json_is_real(v)))
    return toml_fail(file, table, k->name, d, "'%s' must be %s", k->name, real ? "a number" : "an integer");
  *x = json_number_value(v);
  if (!(*x >= k->min && *x <= k->max))
    return toml_fail(file, table, k->name, d, "'%s' must be from %.10g to %.10g", k->name, k->min, k->max);
  return HD_OK;
}

static hd_status read_word(const char *file, const json_t *table, const key *k, const json_t *v,
                           unsigned *out, hd_diag *d) {
  hd_buf list = {0};
  for (unsigned i = 0; k->words[i]; i++) {
    if (json_is_string(v) && strcmp(json_string_value(v), k->words[i]) == 0) {
      *out = i;
      hd_buf_free(&list);
      return HD_OK;
    }
    hd_buf_printf(&list, "%s'%s'", i ? ", " : "", k->words[i]);
  }
  hd_status st = toml_fail(file, table, k->name, d, "'%s' must be one of %s", k->name,
                           list.data ? list.data : "its words");
  hd_buf_free(&list);
  return st;
}

static hd_status read_key(const char *file, const json_t *table, const key *k, hd_gpu *g, hd_diag *d) {
  const json_t *v = json_object_get(table, k->name);
  if (!v && k->optional) return HD_OK;
  if (!v)
    return toml_fail(file, table, NULL, d, "'%s' is missing%s%s", k->name, k->table ? " in " : "",
                     k->table ? k->table : "");
  char *at = (char *)g + k->at;
  double x = 0;
  unsigned word = 0;
  hd_status st = HD_OK;
  switch (k->kind) {
  case KEY_U32:
    st = read_number(file, table, k, v, &x, d);
    if (st == HD_OK) *(uint32_t *)at = (uint32_t)x;
    return st;
  case KEY_U64:
    st = read_number(file, table, k, v, &x, d);
    if (st == HD_OK) *(uint64_t *)at = (uint64_t)x;
    return st;
  case KEY_REAL:
    st = read_number(file, table, k, v, &x, d);
    if (st == HD_OK) *(double *)at = x;
    return st;
  case KEY_BOOL:
    if (!json_is_boolean(v)) return toml_fail(file, table, k->name, d, "'%s' must be true or false", k->name);
    *(bool *)at = json_is_true(v);
    return HD_OK;
  case KEY_WORD:
    st = read_word(file, table, k, v, &word, d);
    if (st == HD_OK) *(unsigned *)at = word;
    return st;
  case KEY_TEXT:
    if (!json_is_string(v) || json_string_length(v) != strlen(json_string_value(v)) ||
        json_string_length(v) >= sizeof g->title)
      return toml_fail(file, table, k->name, d, "'%s' must be a text of at most %zu bytes", k->name,
                       sizeof g->title - 1);
    memcpy(at, json_string_value(v), json_string_length(v) + 1);
    return HD_OK;
  }
  return HD_OK;
}

static hd_status read_table(const char *file, const json_t *table, const char *name, hd_gpu *g, hd_diag *d) {
  const char *known[N_KEYS + N_TABLES + 1];
  size_t n = 0;
  for (size_t i = 0; i < N_KEYS; i++)
    if (same_table(keys[i].table, name)) known[n++] = keys[i].name;
  for (size_t i = 0; !name && i < N_TABLES; i++) known[n++] = tables[i].name;
  known[n] = NULL;
  hd_status st = toml_only(file, table, known, d);
  for (size_t i = 0; st == HD_OK && i < N_KEYS; i++)
    if (same_table(keys[i].table, name)) st = read_key(file, table, &keys[i], g, d);
  return st;
}

static bool power_of_two(uint32_t v) { return v && !(v & (v - 1)); }

static hd_status check_cache(const char *file, const json_t *table, const hd_cache_config *c, hd_diag *d) {
  if (!power_of_two(c->sector)) return toml_fail(file, table, "sector", d, "'sector' must be 32, 64 or 128");
  if (c->bytes % ((uint64_t)c->line * c->ways))
    return toml_fail(file, table, "bytes", d, "'bytes' must be a multiple of line x ways, %llu",
                     (unsigned long long)c->line * c->ways);
  return HD_OK;
}

static hd_status read_gpu(const char *file, const json_t *root, hd_gpu *g, hd_diag *d) {
  hd_status st = read_table(file, root, NULL, g, d);
  for (size_t i = 0; st == HD_OK && i < N_TABLES; i++) {
    const json_t *table = json_object_get(root, tables[i].name);
    if (!table && tables[i].optional) continue;
    if (!json_is_object(table))
      return toml_fail(file, root, tables[i].name, d, "table [%s] is missing", tables[i].name);
    st = read_table(file, table, tables[i].name, g, d);
  }
  if (st != HD_OK) return st;
  hd_diag why = {0};
  if (hd_gpu_set_scheduler(g, g->scheduler, g->scheduler_warps, &why) != HD_OK)
    return toml_fail(file, json_object_get(root, "sm"), "scheduler", d, "%s", why.message);
  const json_t *sm = json_object_get(root, "sm"), *l1 = json_object_get(root, "l1"),
               *l2 = json_object_get(root, "l2"), *dram = json_object_get(root, "dram");
  if (g->max_threads % HD_WARP || g->max_threads < g->max_warps * HD_WARP)
    return toml_fail(file, sm, "threads", d, "'threads' must be a multiple of %d, and at least %d x warps",
                     HD_WARP, HD_WARP);
  if ((st = check_cache(file, l1, &g->l1, d)) != HD_OK || (st = check_cache(file, l2, &g->l2, d)) != HD_OK)
    return st;
  if (g->readonly.bytes) st = check_cache(file, json_object_get(root, "readonly"), &g->readonly, d);
  if (st != HD_OK) return st;
  if (g->l2_parts > 1 && g->gpcs < g->l2_parts)
    return toml_fail(file, l2, "parts", d, "'parts' need at least as many [sm] gpcs");
  if (g->l2_parts > 1 && g->l2.bytes % ((uint64_t)g->l2.line * g->l2.ways * g->l2_parts))
    return toml_fail(file, l2, "bytes", d, "'bytes' must be a multiple of line x ways x parts, %llu",
                     (unsigned long long)g->l2.line * g->l2.ways * g->l2_parts);
  if (g->l2.latency < g->l1.latency)
    return toml_fail(file, l2, "latency", d, "'latency' must be at least that of l1, %u", g->l1.latency);
  if (g->dram_latency < g->l2.latency)
    return toml_fail(file, dram, "latency", d, "'latency' must be at least that of l2, %u", g->l2.latency);
  if (g->dram_channels > 1 && (!g->dram_interleave || g->dram_interleave % 128))
    return toml_fail(file, dram, g->dram_interleave ? "interleave" : "channels", d,
                     "channels need an 'interleave' that is a multiple of 128");
  if (g->dram_banks && (g->dram_channels < 2 || !g->dram_row_bytes || g->dram_row_bytes % 128))
    return toml_fail(file, dram, "banks", d,
                     "'banks' need 'channels', and 'row_bytes' that is a multiple of 128");
  if (g->dram_row_latency > g->dram_latency)
    return toml_fail(file, dram, "row_latency", d, "'row_latency' must be at most 'latency', %u",
                     g->dram_latency);
  const hd_compared *c = &g->compared;
  if (c->right_signs > c->effects)
    return toml_fail(file, json_object_get(root, "compared"), NULL, d, "more right signs than effects");
  if (g->l1_unified && g->l1.bytes <= g->shared_bytes)
    return toml_fail(file, l1, "bytes", d, "'bytes' of a unified L1 must be more than [sm] shared_bytes, %u",
                     g->shared_bytes);
  return HD_OK;
}

hd_status hd_gpu_read(const char *text, size_t len, const char *file, hd_gpu *out, hd_diag *d) {
  json_t *root = NULL;
  memset(out, 0, sizeof *out);
  hd_status st = toml_parse(text, len, file, &root, d);
  if (st != HD_OK) return st;
  st = read_gpu(file, root, out, d);
  json_decref(root);
  return st;
}

/* Fermi and Kepler: one store, of which a launch says how much is L1. */
static bool splits_store(const hd_gpu *g) { return g->arch < 50 && !g->l1_unified; }

hd_status hd_gpu_set_l1(hd_gpu *g, uint64_t bytes, hd_diag *d) {
  const uint64_t unit = (uint64_t)g->l1.line * g->l1.ways;
  if (bytes % unit)
    return hd_fail(d, HD_ERR_USAGE, "--l1 %llu: this GPU's L1 is a multiple of %llu bytes, line x ways",
                   (unsigned long long)bytes, (unsigned long long)unit);
  const uint64_t both = g->l1.bytes + g->shared_bytes;
  if (!bytes) return HD_OK;
  if (bytes < both && splits_store(g)) g->shared_bytes = (uint32_t)(both - bytes);
  g->l1.bytes = bytes;
  g->compared = (hd_compared){0}; /* such a GPU was not */
  g->published = (hd_published){0};
  return HD_OK;
}

/* ---- Writing ---------------------------------------------------------------------- */

static void put_text(const char *text, hd_buf *out) {
  hd_buf_putc(out, '"');
  for (const char *c = text; *c; c++) {
    if (*c == '"' || *c == '\\') hd_buf_putc(out, '\\');
    hd_buf_putc(out, *c);
  }
  hd_buf_puts(out, "\"\n");
}

enum { VALUE_BYTES = sizeof((hd_gpu_difference *)0)->file };

/* A number with the digits that tell it from its neighbours. */
static void real_text(double x, char out[VALUE_BYTES]) {
  char digits[32];
  for (int n = 6; n <= 17; n++) {
    snprintf(digits, sizeof digits, "%.*g", n, x);
    if (strtod(digits, NULL) == x) break;
  }
  snprintf(out, VALUE_BYTES, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
}

/* The key's value but for quotes; of a text its beginning. */
static void value_text(const key *k, const hd_gpu *g, char out[VALUE_BYTES]) {
  const char *at = (const char *)g + k->at;
  switch (k->kind) {
  case KEY_U32: snprintf(out, VALUE_BYTES, "%u", *(const uint32_t *)at); return;
  case KEY_U64: snprintf(out, VALUE_BYTES, "%llu", (unsigned long long)*(const uint64_t *)at); return;
  case KEY_REAL: real_text(*(const double *)at, out); return;
  case KEY_BOOL: snprintf(out, VALUE_BYTES, "%s", *(const bool *)at ? "true" : "false"); return;
  case KEY_WORD: snprintf(out, VALUE_BYTES, "%s", k->words[*(const unsigned *)at]); return;
  case KEY_TEXT: snprintf(out, VALUE_BYTES, "%.30s", at); return;
  }
}

static void put_key(const key *k, const hd_gpu *g, hd_buf *out) {
  char value[VALUE_BYTES];
  hd_buf_printf(out, "%s = ", k->name);
  value_text(k, g, value);
  if (k->kind == KEY_TEXT)
    put_text((const char *)g + k->at, out);
  else if (k->kind == KEY_WORD)
    put_text(value, out);
  else
    hd_buf_printf(out, "%s\n", value);
}

/* An optional key is left out where it is 0, its value without it. */
static bool says_nothing(const key *k, const hd_gpu *g) {
  const char *at = (const char *)g + k->at;
  if (!k->optional) return false;
  switch (k->kind) {
  case KEY_REAL: return *(const double *)at == 0;
  case KEY_U64: return *(const uint64_t *)at == 0;
  case KEY_BOOL: return !*(const bool *)at;
  default: return *(const uint32_t *)at == 0;
  }
}

static bool has_table(const char *name, const hd_gpu *g) {
  if (strcmp(name, "units") == 0) return hd_gpu_has_clock(g);
  if (strcmp(name, "launch") == 0) return hd_gpu_has_launches(g);
  if (strcmp(name, "ptxas") == 0) return g->ptxas.registers > 0;
  if (strcmp(name, "compared") == 0) return g->compared.launches > 0;
  if (strcmp(name, "published") == 0) return g->published.figures > 0;
  return strcmp(name, "readonly") != 0 || g->readonly.bytes;
}

static bool has_key(const key *k, const hd_gpu *g) {
  return (!k->table || has_table(k->table, g)) && !says_nothing(k, g);
}

void hd_gpu_toml(const hd_gpu *g, hd_buf *out) {
  for (size_t i = 0; i < N_KEYS; i++)
    if (!keys[i].table && has_key(&keys[i], g)) put_key(&keys[i], g, out);
  for (size_t t = 0; t < N_TABLES; t++) {
    if (!has_table(tables[t].name, g)) continue;
    hd_buf_printf(out, "\n[%s]\n", tables[t].name);
    for (size_t i = 0; i < N_KEYS; i++)
      if (keys[i].table && same_table(keys[i].table, tables[t].name) && has_key(&keys[i], g))
        put_key(&keys[i], g, out);
  }
}

/* ---- Comparing -------------------------------------------------------------------- */

_Static_assert(sizeof keys / sizeof *keys <= sizeof(hd_gpu_keys), "a set holds every key");

hd_gpu_keys hd_gpu_keys_of(const hd_gpu *g) {
  hd_gpu_keys all = {0};
  for (size_t i = 0; i < N_KEYS; i++) all.has[i] = has_key(&keys[i], g);
  return all;
}

bool *hd_gpu_keys_find(hd_gpu_keys *set, const char *table, const char *name) {
  for (size_t i = 0; i < N_KEYS; i++)
    if (same_table(keys[i].table, table) && strcmp(keys[i].name, name) == 0) return &set->has[i];
  return NULL;
}

static double number_of(const key *k, const hd_gpu *g) {
  const char *at = (const char *)g + k->at;
  switch (k->kind) {
  case KEY_U32: return *(const uint32_t *)at;
  case KEY_U64: return (double)*(const uint64_t *)at;
  case KEY_REAL: return *(const double *)at;
  default: return NAN;
  }
}

static void compare_key(const key *k, const hd_gpu *file, const hd_gpu *other, double percent,
                        hd_gpu_comparison *out) {
  hd_gpu_difference *row = &out->keys[out->n++];
  const bool ours = has_key(k, file) || k->kind == KEY_BOOL,
             theirs = has_key(k, other) || k->kind == KEY_BOOL;
  const double x = number_of(k, file), y = number_of(k, other);
  *row = (hd_gpu_difference){.table = k->table, .key = k->name, .percent = NAN};
  if (ours) value_text(k, file, row->file);
  if (theirs) value_text(k, other, row->other);
  if (!ours || !theirs) {
    out->alone++;
    return;
  }
  row->agrees = strcmp(row->file, row->other) == 0;
  if (!isnan(x)) {
    row->percent = x == y ? 0 : 100 * (y / x - 1);
    row->agrees = fabs(row->percent) <= percent * (1 + 1e-9);
  }
  *(row->agrees ? &out->agree : &out->differ) += 1;
}

void hd_gpu_compare(const hd_gpu *file, const hd_gpu *other, const hd_gpu_keys *of, double percent,
                    hd_gpu_comparison *out) {
  *out = (hd_gpu_comparison){0};
  for (size_t t = 0; t <= N_TABLES; t++)
    for (size_t i = 0; i < N_KEYS; i++) {
      const key *k = &keys[i];
      if (!same_table(k->table, t ? tables[t - 1].name : NULL) || k->kind == KEY_TEXT) continue;
      if (!has_key(k, file) && !has_key(k, other)) continue;
      if (of->has[i])
        compare_key(k, file, other, percent, out);
      else
        out->left_out++;
    }
}
