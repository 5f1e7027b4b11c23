/* difftest/agent.h: a GPU in a process of its own.
 *
 * A kernel that faults takes its process's whole context with it, for good; and the driver compiles for one
 * thread of a process at a time. So every host thread has a child that owns the device. */
#ifndef HEDDLE_DIFFTEST_AGENT_H
#define HEDDLE_DIFFTEST_AGENT_H

#include "heddle/device.h"

typedef struct dt_agent dt_agent;

/* Kernels p0, p1, ... of a module, each with its threads and the offset of its memory in `data`. */
typedef struct dt_job {
  const char *ptx;
  size_t len;
  uint32_t n;
  const uint64_t *offsets; /* n + 1 */
  const uint32_t *threads; /* n */
  bool unoptimized;
} dt_job;

/* Before the process has threads. The child opens the device when it is first asked for something. `name`
 * outlives the agent. */
hd_status dt_agent_open(const char *name, const hd_device_options *o, dt_agent **out, hd_diag *d);
hd_status dt_agent_info(dt_agent *a, hd_device_info *out, hd_diag *d);
void dt_agent_close(dt_agent *a);
/* `data` holds inputs before and everything after. After a failure the child is another one. */
hd_status dt_agent_run(dt_agent *a, const dt_job *job, void *data, double seconds[2], hd_diag *d);

/* The same here: `memory` and `bytes` are the device's, kept from job to job. */
hd_status dt_job_run(hd_device *device, const dt_job *job, void *data, uint64_t *memory, uint64_t *bytes,
                     double seconds[2], hd_diag *d);

#endif
