/* device/cupti_api.h: the part of CUPTI's range profiler that heddle uses (CUDA 12.6 and later), declared
 * here so that building needs no CUDA. Every function takes one structure that begins with its size; members
 * may be added to later versions' ends, which is why each structure here ends where heddle's use of it does.
 */
#ifndef HEDDLE_DEVICE_CUPTI_API_H
#define HEDDLE_DEVICE_CUPTI_API_H

#include "device/cuda_api.h"

typedef int cupti_result;
typedef struct cupti_host_ *cupti_host;
typedef struct cupti_ranges_ *cupti_ranges;

enum { CUPTI_OK = 0, CUPTI_RANGE_PROFILER = 0, CUPTI_USER_RANGE = 2, CUPTI_USER_REPLAY = 3 };

#define CUPTI_PARAMS                                                                                         \
  size_t size;                                                                                               \
  void *reserved

typedef struct cupti_plain { /* ProfilerInitialize, ProfilerDeInitialize */
  CUPTI_PARAMS;
} cupti_plain;

typedef struct cupti_chip_name {
  CUPTI_PARAMS;
  size_t device;
  const char *name; /* out */
} cupti_chip_name;

typedef struct cupti_availability {
  CUPTI_PARAMS;
  cu_context context;
  size_t bytes; /* in and out */
  uint8_t *image;
} cupti_availability;

typedef struct cupti_host_initialize {
  CUPTI_PARAMS;
  int type;
  const char *chip;
  const uint8_t *availability;
  cupti_host host; /* out */
} cupti_host_initialize;

typedef struct cupti_host_only { /* HostDeinitialize */
  CUPTI_PARAMS;
  cupti_host host;
} cupti_host_only;

typedef struct cupti_add_metrics {
  CUPTI_PARAMS;
  cupti_host host;
  const char **names;
  size_t n;
} cupti_add_metrics;

typedef struct cupti_config_size {
  CUPTI_PARAMS;
  cupti_host host;
  size_t bytes; /* out */
} cupti_config_size;

typedef struct cupti_config {
  CUPTI_PARAMS;
  cupti_host host;
  size_t bytes;
  uint8_t *image;
} cupti_config;

typedef struct cupti_evaluate {
  CUPTI_PARAMS;
  cupti_host host;
  const uint8_t *data;
  size_t data_bytes;
  size_t range;
  const char **names;
  size_t n;
  double *values;
} cupti_evaluate;

typedef struct cupti_enable {
  CUPTI_PARAMS;
  cu_context context;
  cupti_ranges ranges; /* out */
} cupti_enable;

typedef struct cupti_ranges_only { /* Disable, Start, PopRange */
  CUPTI_PARAMS;
  cupti_ranges ranges;
} cupti_ranges_only;

typedef struct cupti_stop {
  CUPTI_PARAMS;
  cupti_ranges ranges;
  size_t pass, nesting_level; /* out */
  uint8_t all_passes_done;    /* out */
} cupti_stop;

typedef struct cupti_push {
  CUPTI_PARAMS;
  cupti_ranges ranges;
  const char *name;
} cupti_push;

typedef struct cupti_decode {
  CUPTI_PARAMS;
  cupti_ranges ranges;
  size_t dropped; /* out */
} cupti_decode;

typedef struct cupti_data_size {
  CUPTI_PARAMS;
  cupti_ranges ranges;
  const char **names;
  size_t n, max_ranges;
  uint32_t max_nodes;
  size_t bytes; /* out */
} cupti_data_size;

typedef struct cupti_data_initialize {
  CUPTI_PARAMS;
  cupti_ranges ranges;
  size_t bytes;
  uint8_t *data;
} cupti_data_initialize;

typedef struct cupti_set_config {
  CUPTI_PARAMS;
  cupti_ranges ranges;
  size_t config_bytes;
  const uint8_t *config;
  size_t data_bytes;
  uint8_t *data;
  int range_kind, replay_kind;
  size_t max_ranges;
  uint16_t nesting_levels, min_nesting_level;
  size_t pass;
  uint16_t target_nesting_level;
} cupti_set_config;

/* X(symbol after "cupti", parameter structure) */
#define CUPTI_CALLS(X)                                                                                       \
  X(ProfilerInitialize, cupti_plain)                                                                         \
  X(ProfilerDeInitialize, cupti_plain)                                                                       \
  X(ProfilerGetCounterAvailability, cupti_availability)                                                      \
  X(DeviceGetChipName, cupti_chip_name)                                                                      \
  X(ProfilerHostInitialize, cupti_host_initialize)                                                           \
  X(ProfilerHostDeinitialize, cupti_host_only)                                                               \
  X(ProfilerHostConfigAddMetrics, cupti_add_metrics)                                                         \
  X(ProfilerHostGetConfigImageSize, cupti_config_size)                                                       \
  X(ProfilerHostGetConfigImage, cupti_config)                                                                \
  X(ProfilerHostEvaluateToGpuValues, cupti_evaluate)                                                         \
  X(RangeProfilerEnable, cupti_enable)                                                                       \
  X(RangeProfilerDisable, cupti_ranges_only)                                                                 \
  X(RangeProfilerGetCounterDataSize, cupti_data_size)                                                        \
  X(RangeProfilerCounterDataImageInitialize, cupti_data_initialize)                                          \
  X(RangeProfilerSetConfig, cupti_set_config)                                                                \
  X(RangeProfilerStart, cupti_ranges_only)                                                                   \
  X(RangeProfilerStop, cupti_stop)                                                                           \
  X(RangeProfilerPushRange, cupti_push)                                                                      \
  X(RangeProfilerPopRange, cupti_ranges_only)                                                                \
  X(RangeProfilerDecodeData, cupti_decode)

typedef struct cupti_api {
  void *handle;
  cupti_result (*get_message)(cupti_result r, const char **text); /* cuptiGetErrorMessage */
#define X(name, params) cupti_result (*name)(params *);
  CUPTI_CALLS(X)
#undef X
} cupti_api;

/* The size of a parameter structure up to and with its last member, without the padding behind it. */
#define CUPTI_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

#endif
