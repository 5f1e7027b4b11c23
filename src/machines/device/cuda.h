/* device/cuda.h: a GPU and its modules, shared by the files cuda*.c. */
#ifndef HEDDLE_DEVICE_CUDA_H
#define HEDDLE_DEVICE_CUDA_H

#include "device/backend.h"
#include "device/cuda_api.h"

typedef struct cuda_ahead cuda_ahead; /* cuda_ahead.c: text that is compiled before it is loaded */

/* An array, or a mipmap where the image has levels, and the objects over it. */
typedef struct cuda_array {
  hd_image image; /* with the address of the memory that it is a copy of */
  cu_array array;
  cu_mipmap mipmap;
  uint32_t users; /* 0: there is none */
} cuda_array;

typedef struct cuda_object {
  uint64_t handle;
  bool surface;
  uint32_t array; /* 1 + index into arrays; 0: over linear memory */
} cuda_object;

typedef struct cuda_device {
  hd_device base;
  cuda_api api;
  cu_device device;
  bool retained; /* the primary context is */
  cu_context context;
  cu_stream stream;
  cu_stream current; /* where launches, sets and copies go: `stream`, but for cuda_time_together */
  cu_event begin, end;
  cu_event ends[HD_DEVICE_PARTS]; /* of parts that are timed together; made at first need */
  HD_VEC(cu_address) memory;      /* allocations */
  HD_VEC(cuda_array) arrays;
  HD_VEC(cuda_object) objects; /* textures and surfaces */
  cuda_ahead *ahead;           /* NULL until something is compiled ahead */
  char *ptxas;                 /* as asked for; once known, the one that compiles ahead; NULL: none */
  bool ptxas_known;
  hd_device_module *tools; /* heddle's own kernels, loaded at first need */
  cu_address flush;        /* a buffer of flush_bytes that fills L2; 0: not yet there */
  uint64_t flush_bytes;
  char kernel[128]; /* the last one launched, "" when none is in flight */
  bool lost;        /* by the failure in `first` */
  hd_diag first;
  char *cupti_library; /* NULL: wherever it is found */
  void *cupti;         /* struct cupti, once counters were asked for */
} cuda_device;

typedef struct cuda_kernel {
  char *name;
  cu_function function;
  uint32_t dynamic_limit; /* bytes that a launch may ask for as things are set */
  int carveout;           /* as set; -1: the driver's choice */
  uint64_t *offsets;      /* of its parameters in a launch's block of arguments */
  void **params;          /* as many: where a launch's are */
  uint32_t n_params;
  uint64_t params_bytes; /* the block's size */
} cuda_kernel;

typedef struct cuda_module {
  hd_device_module base;
  cu_module module;
  char *name;
  hd_arena arena;
  hd_ptx_module *ptx;          /* for its kernels' parameters */
  HD_VEC(cuda_kernel) kernels; /* those looked up so far */
} cuda_module;

static inline cuda_device *cuda_of(hd_device *dev) { return (cuda_device *)dev; }

/* HD_OK for success; else the diagnostic names the call, `about` ("" or e.g. "of 512 bytes"), the kernel in
 * flight and the driver's words, and a sticky result closes the device for good. */
hd_status cuda_check(cuda_device *c, cu_result r, const char *call, const char *about, hd_diag *d);
#define CUDA_TRY(c, d, about, call, ...) cuda_check((c), (c)->api.call(__VA_ARGS__), #call, (about), (d))

/* Make the device's context current for the calls until cuda_leave, which gives `st` back or, where that is
 * HD_OK, its own failure. cuda_enter fails when the device is lost; there is nothing to leave then. */
hd_status cuda_enter(cuda_device *c, hd_diag *d);
hd_status cuda_leave(cuda_device *c, hd_status st, hd_diag *d);

/* cuda_module.c */
hd_status cuda_load(hd_device *dev, const char *ptx, size_t len, const char *name,
                    const hd_device_load_options *o, hd_device_module **out, hd_diag *d);
void cuda_unload(hd_device_module *m);
hd_status cuda_symbol(hd_device_module *m, const char *name, uint64_t *address, uint64_t *bytes, hd_diag *d);
hd_status cuda_kernel_info(hd_device_module *m, const char *kernel, hd_kernel_info *out, hd_diag *d);
hd_status cuda_resident(hd_device_module *m, const char *kernel, uint32_t threads, uint32_t dynamic_shared,
                        uint32_t registers, uint32_t *ctas, hd_diag *d);
hd_status cuda_run(hd_device_module *m, const hd_device_launch *l, hd_diag *d);
hd_status cuda_tensor_map(hd_device *dev, const hd_tensor *t, void *map, hd_diag *d);

/* cuda_images.c */
hd_status cuda_image_make(hd_device *dev, const hd_texture *t, bool surface, uint64_t *handle, hd_diag *d);
hd_status cuda_image_copy(hd_device *dev, uint64_t handle, bool surface, bool back, hd_diag *d);
hd_status cuda_image_free(hd_device *dev, uint64_t handle, bool surface, hd_diag *d);
void cuda_images_close(cuda_device *c);

/* cuda_ahead.c */
hd_status cuda_compile_ahead(hd_device *dev, const hd_device_source *sources, size_t n, hd_diag *d);
/* The machine code of that text, the caller's to free, once it is compiled; NULL: it was not asked for ahead,
 * or it cannot be compiled. */
void *cuda_take_image(cuda_device *c, const char *ptx, size_t len, const hd_device_load_options *o);
void cuda_ahead_close(cuda_device *c); /* before the text of `ptxas` is freed */

/* cuda_time.c */
hd_status cuda_flush(hd_device *dev, hd_diag *d);
hd_status cuda_time_begin(hd_device *dev, hd_diag *d);
hd_status cuda_time_end(hd_device *dev, double *us, hd_diag *d);

/* Keep the device's own stream busy for that long. */
hd_status cuda_delay(cuda_device *c, uint64_t ns, hd_diag *d);

/* cuda_streams.c */
hd_status cuda_stream_open(hd_device *dev, hd_device_stream **out, hd_diag *d);
hd_status cuda_split(hd_device *dev, uint32_t sms, hd_device_stream *out[2], uint32_t got[2], hd_diag *d);
void cuda_stream_close(hd_device_stream *s);
hd_status cuda_time_together(hd_device *dev, const hd_device_part *parts, size_t n, double *us, hd_diag *d);

/* cupti.c */
hd_status cuda_count(hd_device *dev, const hd_device_job *job, bool keep_l2, hd_counters *out, bool *have,
                     char *why, size_t cap, hd_diag *d);
void cupti_close(cuda_device *c);

#endif
