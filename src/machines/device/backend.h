/* device/backend.h: the operations of a device, which hd_device calls. */
#ifndef HEDDLE_DEVICE_BACKEND_H
#define HEDDLE_DEVICE_BACKEND_H

#include "heddle/device.h"

/* Functions get arguments that are checked already: launches have a kernel, no dimension is 0, no transfer is
 * empty. */
typedef struct device_ops {
  void (*close)(hd_device *dev);
  hd_status (*alloc)(hd_device *dev, uint64_t bytes, uint64_t *address, hd_diag *d);
  hd_status (*free)(hd_device *dev, uint64_t address, hd_diag *d);
  hd_status (*write)(hd_device *dev, uint64_t address, const void *src, uint64_t bytes, hd_diag *d);
  hd_status (*read)(hd_device *dev, uint64_t address, void *dst, uint64_t bytes, hd_diag *d);
  hd_status (*set)(hd_device *dev, uint64_t address, uint8_t value, uint64_t bytes, hd_diag *d);
  hd_status (*copy)(hd_device *dev, uint64_t to, uint64_t from, uint64_t bytes, hd_diag *d);
  hd_status (*load)(hd_device *dev, const char *ptx, size_t len, const char *name,
                    const hd_device_load_options *o, hd_device_module **out, hd_diag *d);
  void (*unload)(hd_device_module *m);
  hd_status (*compile_ahead)(hd_device *dev, const hd_device_source *sources, size_t n,
                             hd_diag *d); /* or NULL */
  hd_status (*symbol)(hd_device_module *m, const char *name, uint64_t *address, uint64_t *bytes, hd_diag *d);
  hd_status (*kernel_info)(hd_device_module *m, const char *kernel, hd_kernel_info *out, hd_diag *d);
  hd_status (*resident)(hd_device_module *m, const char *kernel, uint32_t threads, uint32_t dynamic_shared,
                        uint32_t registers, uint32_t *ctas, hd_diag *d);
  hd_status (*run)(hd_device_module *m, const hd_device_launch *l, hd_diag *d);
  hd_status (*sync)(hd_device *dev, hd_diag *d);
  hd_status (*tensor_map)(hd_device *dev, const hd_tensor *t, void *map, hd_diag *d); /* t is checked */
  hd_status (*image)(hd_device *dev, const hd_texture *t, bool surface, uint64_t *handle,
                     hd_diag *d); /* t is checked */
  hd_status (*image_copy)(hd_device *dev, uint64_t handle, bool surface, bool back,
                          hd_diag *d); /* NULL: no need */
  hd_status (*image_free)(hd_device *dev, uint64_t handle, bool surface, hd_diag *d);
  /* Fill L2 with other data, so that the next launch finds none of its own there. */
  hd_status (*flush_l2)(hd_device *dev, hd_diag *d);
  /* The time of all work begun between the two; the second waits for its end. NULL: no clock. */
  hd_status (*time_begin)(hd_device *dev, hd_diag *d);
  hd_status (*time_end)(hd_device *dev, double *us, hd_diag *d);
  /* All NULL: no streams. n is checked, all is prepared; nothing that was begun is under way when
   * time_together returns, on failure too. */
  hd_status (*stream_open)(hd_device *dev, hd_device_stream **out, hd_diag *d);
  hd_status (*split)(hd_device *dev, uint32_t sms, hd_device_stream *out[2], uint32_t got[2], hd_diag *d);
  void (*stream_close)(hd_device_stream *s);
  hd_status (*time_together)(hd_device *dev, const hd_device_part *parts, size_t n, double *us, hd_diag *d);
  hd_status (*count)(hd_device *dev, const hd_device_job *job, bool keep_l2, hd_counters *out, bool *have,
                     char *why, size_t cap, hd_diag *d);
} device_ops;

/* sms.c */
typedef struct device_sms {
  bool known;
  hd_numbers numbers; /* none: there are some that a set has no room for */
} device_sms;

struct hd_device {
  const device_ops *ops;
  hd_device_info info;
  const hd_gpu *gpu; /* of a model */
  device_sms sms;
};

struct hd_device_module {
  hd_device *device;
};

struct hd_device_stream {
  hd_device *device;
};

/* "emu", "model:NAME"; "cuda:N" with N as text. */
hd_status device_open_emulated(const char *name, const char *gpu, const hd_device_options *o, hd_device **out,
                               hd_diag *d);
hd_status device_open_cuda(const char *name, const char *ordinal, const hd_device_options *o, hd_device **out,
                           hd_diag *d);

/* One measured or counted run's beginning: prepare, and L2 as it shall be found. */
hd_status device_prepare(hd_device *dev, const hd_device_job *job, bool keep_l2, hd_diag *d);

#endif
