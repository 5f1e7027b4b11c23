/* A CUPTI without a GPU: a session takes as many passes as fake.passes says, and metrics have made-up values.
 */
#include <stdlib.h>
#include <string.h>

#include "device/cupti_api.h"
#include "fake_driver.h"

static unsigned pass;

static int cupti_enter(const char *call) { return fake_fails(call) ? fake.fail_with : 0; }
#define CUPTI_ENTER(last_bytes)                                                                              \
  do {                                                                                                       \
    int failure = cupti_enter(__func__);                                                                     \
    if (failure) return failure;                                                                             \
    if (p->size < (last_bytes) || p->reserved) return 1;                                                     \
  } while (0)

EXPORT int cuptiGetErrorMessage(cupti_result r, const char **text) {
  *text = "made to fail";
  return 0;
}

EXPORT int cuptiProfilerInitialize(cupti_plain *p) {
  CUPTI_ENTER(sizeof *p);
  return 0;
}
EXPORT int cuptiProfilerDeInitialize(cupti_plain *p) { return 0; }

EXPORT int cuptiDeviceGetChipName(cupti_chip_name *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_chip_name, name));
  p->name = "FAKE";
  return 0;
}

EXPORT int cuptiProfilerGetCounterAvailability(cupti_availability *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_availability, image));
  if (p->image) memset(p->image, 1, p->bytes);
  p->bytes = 64;
  return 0;
}

EXPORT int cuptiProfilerHostInitialize(cupti_host_initialize *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_host_initialize, host));
  p->host = malloc(1);
  fake.profilers++;
  fake.hosts++;
  return 0;
}

EXPORT int cuptiProfilerHostDeinitialize(cupti_host_only *p) {
  free(p->host);
  fake.profilers--;
  return 0;
}

EXPORT int cuptiProfilerHostConfigAddMetrics(cupti_add_metrics *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_add_metrics, n));
  return p->n ? 0 : 1;
}

EXPORT int cuptiProfilerHostGetConfigImageSize(cupti_config_size *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_config_size, bytes));
  p->bytes = 32;
  return 0;
}

EXPORT int cuptiProfilerHostGetConfigImage(cupti_config *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_config, image));
  memset(p->image, 2, p->bytes);
  return 0;
}

EXPORT int cuptiRangeProfilerEnable(cupti_enable *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_enable, ranges));
  p->ranges = malloc(1);
  fake.profilers++;
  pass = 0;
  return 0;
}

EXPORT int cuptiRangeProfilerDisable(cupti_ranges_only *p) {
  free(p->ranges);
  fake.profilers--;
  return 0;
}

EXPORT int cuptiRangeProfilerGetCounterDataSize(cupti_data_size *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_data_size, bytes));
  p->bytes = 8 * p->n;
  return 0;
}

EXPORT int cuptiRangeProfilerCounterDataImageInitialize(cupti_data_initialize *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_data_initialize, data));
  memset(p->data, 0, p->bytes);
  return 0;
}

EXPORT int cuptiRangeProfilerSetConfig(cupti_set_config *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_set_config, target_nesting_level));
  return p->range_kind == CUPTI_USER_RANGE && p->replay_kind == CUPTI_USER_REPLAY ? 0 : 1;
}

EXPORT int cuptiRangeProfilerStart(cupti_ranges_only *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_ranges_only, ranges));
  return 0;
}

EXPORT int cuptiRangeProfilerPushRange(cupti_push *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_push, name));
  return 0;
}

EXPORT int cuptiRangeProfilerPopRange(cupti_ranges_only *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_ranges_only, ranges));
  return 0;
}

EXPORT int cuptiRangeProfilerStop(cupti_stop *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_stop, all_passes_done));
  p->all_passes_done = ++pass >= fake.passes;
  return 0;
}

EXPORT int cuptiRangeProfilerDecodeData(cupti_decode *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_decode, dropped));
  return 0;
}

/* Metric number i counts 1000 (i + 1). */
EXPORT int cuptiProfilerHostEvaluateToGpuValues(cupti_evaluate *p) {
  CUPTI_ENTER(CUPTI_SIZE(cupti_evaluate, values));
  for (size_t i = 0; i < p->n; i++) p->values[i] = 1000.0 * (double)(i + 1);
  return 0;
}
