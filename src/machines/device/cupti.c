/* Hardware counters through CUPTI's range profiler: one range around the job, as many runs of it as there are
 * passes. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda.h"
#include "device/cupti_api.h"

/* ---- Metrics ---------------------------------------------------------------------- */

/* The fields of hd_counters as NVIDIA's metrics for compute capability 7.0 and later. L2 sectors are those
 * that the SMs' L1s request: other traffic of L2 (the copy engines, the other half of a split L2) is not the
 * kernel's. Metrics of one counter are summed. */
typedef struct metric {
  const char *name;
  size_t at; /* offset in hd_counters */
  bool real; /* a double there, else a uint64_t */
} metric;

#define AT(member) offsetof(hd_counters, member)
static const metric metrics[] = {
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", AT(l1_sectors), false},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", AT(l1_hits), false},
    {"lts__t_sectors_srcunit_tex.sum", AT(l2_sectors), false},
    {"lts__t_sectors_srcunit_tex_lookup_hit.sum", AT(l2_hits), false},
    {"lts__t_sectors_srcunit_tex_op_read.sum", AT(l2_read_sectors), false},
    {"lts__t_sectors_srcunit_tex_op_write.sum", AT(l2_write_sectors), false},
    {"lts__t_sectors_srcunit_tex_op_atom.sum", AT(l2_write_sectors), false},
    {"lts__t_sectors_srcunit_tex_op_red.sum", AT(l2_write_sectors), false},
    {"dram__bytes_read.sum", AT(dram_read_bytes), false},
    {"dram__bytes_write.sum", AT(dram_write_bytes), false},
    {"smsp__inst_executed.sum", AT(warp_instructions), false},
    {"smsp__thread_inst_executed.sum", AT(thread_instructions), false},
    {"sm__cycles_elapsed.max", AT(cycles), true},
};
#undef AT
enum { N_METRICS = sizeof metrics / sizeof metrics[0], MAX_PASSES = 256 };

/* ---- The library ---------------------------------------------------------------------- */

static const char *const libraries[] = {
    "libcupti.so",
    "libcupti.so.13",
    "libcupti.so.12",
    "/usr/local/cuda/lib64/libcupti.so",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
};

typedef struct entry {
  const char *symbol;
  size_t at; /* offset in cupti_api */
} entry;

static const entry entries[] = {{"cuptiGetErrorMessage", offsetof(cupti_api, get_message)},
#define X(name, params) {"cupti" #name, offsetof(cupti_api, name)},
                                CUPTI_CALLS(X)
#undef X
};

typedef struct cupti {
  cupti_api api;
  bool initialized;
  char why[256]; /* not usable: the reason */
  /* Shared by all counts of these metrics on this device, made by the first: it takes longer than the
   * passes of a short job. */
  cupti_host host;
  uint8_t *availability, *config;
  size_t config_bytes;
} cupti;

static bool open_library(cupti *u, const char *path) {
  if (path) {
    u->api.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  } else {
    for (size_t i = 0; !u->api.handle && i < sizeof libraries / sizeof *libraries; i++)
      u->api.handle = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
  }
  if (!u->api.handle) {
    snprintf(u->why, sizeof u->why, "CUPTI (libcupti.so) is not installed");
    return false;
  }
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *symbol = dlsym(u->api.handle, entries[i].symbol);
    if (!symbol) {
      snprintf(u->why, sizeof u->why, "this CUPTI has no %s (CUDA 12.6 is needed)", entries[i].symbol);
      return false;
    }
    memcpy((char *)&u->api + entries[i].at, &symbol, sizeof symbol);
  }
  return true;
}

/* True for success; else u->why is filled. */
static bool succeeded(cupti *u, cupti_result r, const char *call) {
  if (r == CUPTI_OK) return true;
  const char *text = NULL;
  if (u->api.get_message(r, &text) != CUPTI_OK || !text) text = "no words for it";
  snprintf(u->why, sizeof u->why, "cupti%s: %.180s (%d)", call, text, r);
  return false;
}
#define CUPTI_TRY(u, call, ...) succeeded((u), (u)->api.call(__VA_ARGS__), #call)

/* ---- What all counts share ---------------------------------------------------------------- */

/* Buffers whose size the library decides. */
static bool allocate(cupti *u, uint8_t **out, size_t bytes) {
  *out = calloc(1, bytes ? bytes : 1);
  if (!*out) snprintf(u->why, sizeof u->why, "out of memory");
  return *out != NULL;
}

static const char **metric_names(const char *names[static N_METRICS]) {
  for (size_t i = 0; i < N_METRICS; i++) names[i] = metrics[i].name;
  return names;
}

static bool create_host(cupti *u, const cuda_device *device) {
  cupti_chip_name chip = {.size = CUPTI_SIZE(cupti_chip_name, name), .device = (size_t)device->device};
  cupti_availability a = {.size = CUPTI_SIZE(cupti_availability, image), .context = device->context};
  if (!CUPTI_TRY(u, DeviceGetChipName, &chip) || !CUPTI_TRY(u, ProfilerGetCounterAvailability, &a) ||
      !allocate(u, &u->availability, a.bytes))
    return false;
  a.image = u->availability;
  if (!CUPTI_TRY(u, ProfilerGetCounterAvailability, &a)) return false;
  cupti_host_initialize h = {.size = CUPTI_SIZE(cupti_host_initialize, host),
                             .type = CUPTI_RANGE_PROFILER,
                             .chip = chip.name,
                             .availability = u->availability};
  if (!CUPTI_TRY(u, ProfilerHostInitialize, &h)) return false;
  u->host = h.host;
  return true;
}

static bool create_config(cupti *u) {
  const char *names[N_METRICS];
  cupti_add_metrics m = {.size = CUPTI_SIZE(cupti_add_metrics, n),
                         .host = u->host,
                         .names = metric_names(names),
                         .n = N_METRICS};
  cupti_config_size size = {.size = CUPTI_SIZE(cupti_config_size, bytes), .host = u->host};
  if (!CUPTI_TRY(u, ProfilerHostConfigAddMetrics, &m) ||
      !CUPTI_TRY(u, ProfilerHostGetConfigImageSize, &size) || !allocate(u, &u->config, size.bytes))
    return false;
  u->config_bytes = size.bytes;
  cupti_config config = {
      .size = CUPTI_SIZE(cupti_config, image), .host = u->host, .bytes = size.bytes, .image = u->config};
  return CUPTI_TRY(u, ProfilerHostGetConfigImage, &config);
}

static void forget_host(cupti *u) {
  if (u->host)
    u->api.ProfilerHostDeinitialize(
        &(cupti_host_only){.size = CUPTI_SIZE(cupti_host_only, host), .host = u->host});
  free(u->availability);
  free(u->config);
  u->host = NULL;
  u->availability = u->config = NULL;
}

static bool need_host(cupti *u, const cuda_device *device) {
  if (u->host) return true;
  bool ok = create_host(u, device) && create_config(u);
  if (!ok) forget_host(u); /* the next count tries again */
  return ok;
}

/* ---- Opening and closing -------------------------------------------------------------------- */

void cupti_close(cuda_device *c) {
  cupti *u = c->cupti;
  if (!u) return;
  forget_host(u);
  if (u->initialized) u->api.ProfilerDeInitialize(&(cupti_plain){.size = sizeof(cupti_plain)});
  /* The library stays: it registers itself with the driver and does not come out cleanly. */
  free(u);
  c->cupti = NULL;
}

static hd_status open_cupti(cuda_device *c, cupti **out, hd_diag *d) {
  *out = c->cupti;
  if (*out) return HD_OK;
  cupti *u = *out = c->cupti = calloc(1, sizeof *u);
  if (!u) return hd_nomem(d);
  u->initialized = open_library(u, c->cupti_library) &&
                   CUPTI_TRY(u, ProfilerInitialize, &(cupti_plain){.size = sizeof(cupti_plain)});
  return HD_OK;
}

/* ---- One count -------------------------------------------------------------------------- */

typedef struct session {
  cuda_device *device;
  cupti *u;
  cupti_ranges ranges;
  uint8_t *data;
  size_t data_bytes;
} session;

static bool create_ranges(session *s) {
  cupti *u = s->u;
  cupti_enable e = {.size = CUPTI_SIZE(cupti_enable, ranges), .context = s->device->context};
  if (!CUPTI_TRY(u, RangeProfilerEnable, &e)) return false;
  s->ranges = e.ranges;
  const char *names[N_METRICS];
  cupti_data_size size = {.size = CUPTI_SIZE(cupti_data_size, bytes),
                          .ranges = s->ranges,
                          .names = metric_names(names),
                          .n = N_METRICS,
                          .max_ranges = 1,
                          .max_nodes = 1};
  if (!CUPTI_TRY(u, RangeProfilerGetCounterDataSize, &size) || !allocate(u, &s->data, size.bytes))
    return false;
  s->data_bytes = size.bytes;
  cupti_data_initialize i = {.size = CUPTI_SIZE(cupti_data_initialize, data),
                             .ranges = s->ranges,
                             .bytes = s->data_bytes,
                             .data = s->data};
  cupti_set_config config = {.size = CUPTI_SIZE(cupti_set_config, target_nesting_level),
                             .ranges = s->ranges,
                             .config_bytes = u->config_bytes,
                             .config = u->config,
                             .data_bytes = s->data_bytes,
                             .data = s->data,
                             .range_kind = CUPTI_USER_RANGE,
                             .replay_kind = CUPTI_USER_REPLAY,
                             .max_ranges = 1,
                             .nesting_levels = 1,
                             .min_nesting_level = 1};
  return CUPTI_TRY(u, RangeProfilerCounterDataImageInitialize, &i) &&
         CUPTI_TRY(u, RangeProfilerSetConfig, &config);
}

static bool begin_range(session *s) {
  cupti_ranges_only r = {.size = CUPTI_SIZE(cupti_ranges_only, ranges), .ranges = s->ranges};
  cupti_push push = {.size = CUPTI_SIZE(cupti_push, name), .ranges = s->ranges, .name = "job"};
  return CUPTI_TRY(s->u, RangeProfilerStart, &r) && CUPTI_TRY(s->u, RangeProfilerPushRange, &push);
}

static bool end_range(session *s, bool *done) {
  cupti_ranges_only r = {.size = CUPTI_SIZE(cupti_ranges_only, ranges), .ranges = s->ranges};
  cupti_stop stop = {.size = CUPTI_SIZE(cupti_stop, all_passes_done), .ranges = s->ranges};
  bool ok = CUPTI_TRY(s->u, RangeProfilerPopRange, &r) && CUPTI_TRY(s->u, RangeProfilerStop, &stop);
  *done = stop.all_passes_done;
  return ok;
}

/* Run the job once per pass. A failure of the job is an error, one of CUPTI's leaves *ok false. */
static hd_status run_passes(session *s, const hd_device_job *job, bool keep_l2, bool *ok, hd_diag *d) {
  hd_device *dev = &s->device->base;
  bool done = false;
  *ok = true;
  for (int pass = 0; *ok && !done; pass++) {
    if (pass == MAX_PASSES) {
      snprintf(s->u->why, sizeof s->u->why, "CUPTI asks for more than %d passes", MAX_PASSES);
      *ok = false;
      break;
    }
    hd_status st = device_prepare(dev, job, keep_l2, d);
    if (st == HD_OK) st = dev->ops->sync(dev, d);
    if (st != HD_OK) return st;
    if (!(*ok = begin_range(s))) break;
    st = job->run(job->ctx, d);
    if (st == HD_OK) st = dev->ops->sync(dev, d);
    *ok = end_range(s, &done);
    if (st != HD_OK) return st;
  }
  return HD_OK;
}

static bool evaluate(session *s, hd_counters *out) {
  double values[N_METRICS] = {0};
  const char *names[N_METRICS];
  cupti_decode decode = {.size = CUPTI_SIZE(cupti_decode, dropped), .ranges = s->ranges};
  cupti_evaluate e = {.size = CUPTI_SIZE(cupti_evaluate, values),
                      .host = s->u->host,
                      .data = s->data,
                      .data_bytes = s->data_bytes,
                      .names = metric_names(names),
                      .n = N_METRICS,
                      .values = values};
  if (!CUPTI_TRY(s->u, RangeProfilerDecodeData, &decode) ||
      !CUPTI_TRY(s->u, ProfilerHostEvaluateToGpuValues, &e))
    return false;
  for (size_t i = 0; i < N_METRICS; i++) {
    void *at = (char *)out + metrics[i].at;
    if (metrics[i].real)
      *(double *)at += values[i];
    else
      *(uint64_t *)at += values[i] > 0 ? (uint64_t)values[i] : 0;
  }
  return true;
}

static void close_session(session *s) {
  const cupti_api *api = &s->u->api;
  if (s->ranges)
    api->RangeProfilerDisable(
        &(cupti_ranges_only){.size = CUPTI_SIZE(cupti_ranges_only, ranges), .ranges = s->ranges});
  free(s->data);
}

hd_status cuda_count(hd_device *dev, const hd_device_job *job, bool keep_l2, hd_counters *out, bool *have,
                     char *why, size_t cap, hd_diag *d) {
  session s = {.device = cuda_of(dev)};
  hd_status st = cuda_enter(s.device, d);
  if (st != HD_OK) return st;
  st = open_cupti(s.device, &s.u, d);
  if (st == HD_OK) {
    bool ok = s.u->initialized && need_host(s.u, s.device) && create_ranges(&s);
    if (ok) st = run_passes(&s, job, keep_l2, &ok, d);
    *have = ok && st == HD_OK && evaluate(&s, out);
    if (!*have) snprintf(why, cap, "%s", s.u->why);
    close_session(&s);
  }
  return cuda_leave(s.device, st, d);
}
