/* difftest/side.h: programs on one of two devices. */
#ifndef HEDDLE_DIFFTEST_SIDE_H
#define HEDDLE_DIFFTEST_SIDE_H

#include "difftest/agent.h"
#include "difftest/program.h"

/* For tests: another text to compile in place of this one; *out left empty: this one. */
typedef hd_status (*dt_change)(const hd_buf *ptx, bool unoptimized, hd_buf *out);

/* One side of a comparison. */
typedef struct dt_side {
  hd_device *device; /* NULL: in a process of its own */
  dt_agent *agent;
  uint64_t memory, bytes; /* of device */
  double seconds_load, seconds_run;
  dt_change change;
} dt_side;

/* A GPU's side is opened before the process has threads. */
hd_status dt_side_open(const char *name, const hd_device_options *o, dt_side *s, hd_diag *d);
hd_status dt_side_info(const dt_side *s, hd_device_info *out, hd_diag *d);
void dt_side_close(dt_side *s);

/* Programs compiled together; `data` is all their memory, one after the other at multiples of 256. */
typedef struct dt_batch {
  const dt_program *programs;
  const bool *const *keeps; /* per program: which operations; NULL: all of all */
  uint32_t n;
  unsigned sm;
  bool unoptimized; /* as the device compiles it */
  hd_buf ptx;
  uint64_t *offsets; /* n + 1 */
  uint32_t *threads;
} dt_batch;
hd_status dt_batch_make(const dt_program *programs, const bool *const *keeps, uint32_t n, unsigned sm,
                        dt_batch *b, hd_diag *d);
void dt_batch_free(dt_batch *b);
/* `data` holds inputs before and everything after. */
hd_status dt_side_run(dt_side *s, const dt_batch *b, void *data, hd_diag *d);

/* One differing place: the first. */
typedef struct dt_difference {
  bool found;
  bool in_scratch;
  uint64_t slot, thread; /* in_scratch: slot is a 4-byte word of the thread's 64 bytes */
  uint64_t emulator, device;
  uint32_t bounded; /* rules, a bit each, by which bits up to there differ but agree */
} dt_difference;
dt_difference dt_compare(const dt_program *p, const void *emulator, const void *device);

#endif
