/* Injected by CUDA_INJECTION64_PATH: counts the program's successful launches at the driver, by CUPTI, and
 * writes them to $COUNT_FILE.PID when the process ends: kernels, graphs. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cupti.h>

static atomic_ulong kernels, failed, graphs;

static void write_counts(void) {
  const char *path = getenv("COUNT_FILE");
  char name[4096];
  if (!path) return;
  snprintf(name, sizeof name, "%s.%d", path, (int)getpid());
  FILE *f = fopen(name, "w");
  if (!f) return;
  fprintf(f, "%lu %lu %lu\n", kernels, failed, graphs);
  fclose(f);
}

static void CUPTIAPI called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data) {
  const CUpti_CallbackData *c = data;
  (void)user;
  (void)domain;
  if (c->callbackSite != CUPTI_API_EXIT) return;
  const int bad = c->functionReturnValue && *(const int *)c->functionReturnValue != 0;
  if (id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch || id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz)
    graphs++;
  else if (bad)
    failed++;
  else
    kernels++;
}

int InitializeInjection(void) {
  static const CUpti_CallbackId ids[] = {
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
      CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
  };
  CUpti_SubscriberHandle s;
  if (cuptiSubscribe(&s, called, NULL) != CUPTI_SUCCESS) return 0;
  for (size_t k = 0; k < sizeof ids / sizeof *ids; k++)
    cuptiEnableCallback(1, s, CUPTI_CB_DOMAIN_DRIVER_API, ids[k]);
  atexit(write_counts);
  return 1;
}
