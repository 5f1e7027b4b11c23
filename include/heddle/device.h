/* heddle/device.h: devices that run launches: GPUs, the emulator, models.
 *
 * One interface, three kinds of device behind it, by name:
 *
 *     emu          the functional emulator: results, no times
 *     model:NAME   the emulator, with each launch's accesses replayed through a model of the GPU
 *                  gpus/NAME.toml: results, counters, and times by a clock (hd_gpu_has_clock; else none)
 *     cuda:N       the N-th NVIDIA GPU, through its driver, which is opened at run time: results,
 *                  measured times, and hardware counters where CUPTI is installed and allowed
 *
 * A device is used by one thread at a time. After an error that the driver calls sticky (a kernel's
 * fault, a lost GPU) every further call fails, naming that first error; only hd_device_close is left.
 *
 * Status of failures: HD_ERR_IO no driver, no such GPU, a driver call that failed; HD_ERR_NOMEM the
 * device's memory or the host's is out; HD_ERR_INPUT PTX that the driver does not compile (its log is in
 * the diagnostic); HD_ERR_FAULT the kernel did something wrong; HD_ERR_UNSUPPORTED the device cannot do
 * this; HD_ERR_USAGE a name that no device, or no kernel of the module, has.
 */
#ifndef HEDDLE_DEVICE_H
#define HEDDLE_DEVICE_H

#include "heddle/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_device hd_device;
typedef struct hd_device_module hd_device_module;

/* ---- Devices ------------------------------------------------------------------- */

/* Zero is the default of each field. */
typedef struct hd_device_options {
  hd_emu_options emu;   /* emu and model:NAME */
  hd_dispatch dispatch; /* emu: how CTAs are handed out; a model's file decides that for itself */
  const char *gpu_dir;  /* model:NAME: folder of GPU files */
  const char *driver;   /* cuda:N: the driver's library; NULL: $HEDDLE_CUDA_DRIVER, else libcuda.so.1 */
  const char
      *instead;      /* cuda:N: what a message advises where there is no driver; NULL: a model; "": nothing */
  const char *cupti; /* cuda:N: CUPTI's library; NULL: libcupti.so, wherever it is found */
  const char
      *ptxas; /* cuda:N: for hd_device_compile_ahead; NULL: $HEDDLE_PTXAS, else the one on the PATH or
                 in /usr/local/cuda/bin; "": none. One of another release than the driver's is not used */
} hd_device_options;

typedef enum hd_device_kind { HD_DEVICE_EMU = 0, HD_DEVICE_MODEL, HD_DEVICE_CUDA } hd_device_kind;

/* 0 and "" if a device does not know. */
typedef struct hd_device_info {
  hd_device_kind kind;
  bool has_times; /* hd_device_time works */
  char name[48];  /* as hd_device_open takes it */
  char title[128];
  char uuid[48]; /* "GPU-..." or "MIG-..." */
  bool mig;      /* a part of a GPU */
  unsigned arch; /* sm number */
  uint32_t n_sms;
  uint32_t max_ctas, max_threads; /* resident per SM */
  uint32_t registers;             /* 32-bit registers per SM */
  uint32_t shared_bytes;          /* per SM */
  uint32_t shared_per_cta;        /* the most that a launch may ask for */
  uint32_t shared_reserved;       /* taken by the system from every CTA */
  uint64_t memory_bytes, l2_bytes;
  double clock_mhz, memory_clock_mhz; /* the highest */
  uint32_t memory_bus_bits;
  unsigned driver_version; /* 13000 is 13.0 */
} hd_device_info;

HD_API hd_status hd_device_open(const char *name, const hd_device_options *o, hd_device **out, hd_diag *d);
HD_API void hd_device_close(hd_device *dev); /* modules and memory that are left go with it; NULL is fine */
HD_API const hd_device_info *hd_device_get_info(const hd_device *dev);
HD_OWN const hd_gpu *hd_device_get_gpu(const hd_device *dev); /* a model's GPU; NULL of other devices */
/* The numbers (%smid) of the SMs that launches run on: in a part of a GPU (MIG, MPS, green contexts) they may
 * have holes. Found out by a launch when first asked for. None where they are not known or not below
 * HD_NUMBERS, and on emu and model, whose SMs are numbered from 0. */
HD_OWN hd_status hd_device_sms(hd_device *dev, hd_numbers *out, hd_diag *d);

/* ---- Memory --------------------------------------------------------------------- */

/* Addresses are 256-byte aligned and never 0. Transfers are done when the call returns; hd_device_set and
 * hd_device_copy are only begun, in the order of the launches. */
HD_OWN hd_status hd_device_alloc(hd_device *dev, uint64_t bytes, uint64_t *address, hd_diag *d);
HD_OWN hd_status hd_device_free(hd_device *dev, uint64_t address, hd_diag *d);
HD_OWN hd_status hd_device_write(hd_device *dev, uint64_t address, const void *src, uint64_t bytes,
                                 hd_diag *d);
HD_OWN hd_status hd_device_read(hd_device *dev, uint64_t address, void *dst, uint64_t bytes, hd_diag *d);
HD_OWN hd_status hd_device_set(hd_device *dev, uint64_t address, uint8_t value, uint64_t bytes, hd_diag *d);
HD_OWN hd_status hd_device_copy(hd_device *dev, uint64_t to, uint64_t from, uint64_t bytes, hd_diag *d);

/* ---- Modules --------------------------------------------------------------------- */

/* Zero is the default of each field. */
typedef struct hd_device_load_options {
  uint32_t max_registers; /* per thread; cuda only */
  bool unoptimized;       /* cuda only: each instruction is compiled as it stands */
} hd_device_load_options;

/* Compile PTX text, `len` bytes; `name` is for diagnostics. */
HD_OWN hd_status hd_device_load(hd_device *dev, const char *ptx, size_t len, const char *name,
                                const hd_device_load_options *o, hd_device_module **out, hd_diag *d);
/* Text that is to be loaded soon, and how. */
typedef struct hd_device_source {
  const char *ptx;
  size_t len;
  hd_device_load_options options;
} hd_device_source;
/* Begin to compile these on the host's other processors, and return at once. The next hd_device_load of the
 * same text with the same options waits for it, and only puts machine code on the device: a driver compiles
 * the texts that it loads one after the other. The code is the driver's own, so only a ptxas of its release
 * makes it. Text that cannot be compiled is no error here, but when it is loaded. The machine code waits in
 * the host's memory until it is loaded, or the device is closed. The texts are copied. Other devices than
 * cuda, and hosts without such a ptxas, do nothing. */
HD_OWN hd_status hd_device_compile_ahead(hd_device *dev, const hd_device_source *sources, size_t n,
                                         hd_diag *d);
HD_OWN void hd_device_unload(hd_device_module *m); /* before its device is closed; NULL is fine */

/* The address and size of a .global or .const variable of the module. HD_ERR_USAGE if the loaded module has
 * no variable of that name: compilers leave out variables that no kernel uses. */
HD_OWN hd_status hd_device_symbol(hd_device_module *m, const char *name, uint64_t *address, uint64_t *bytes,
                                  hd_diag *d);

typedef struct hd_kernel_info {
  uint32_t registers;     /* per thread, 0: unknown */
  uint32_t static_shared; /* bytes per CTA */
  uint32_t local_bytes;   /* per thread: spills and arrays */
  uint32_t max_threads;   /* per CTA */
} hd_kernel_info;
HD_OWN hd_status hd_device_kernel_info(hd_device_module *m, const char *kernel, hd_kernel_info *out,
                                       hd_diag *d);
/* CTAs of that many threads and bytes of dynamic shared memory that are resident on one SM at once. On a
 * model `registers` per thread limit too (0: they do not); other devices know them. HD_ERR_UNSUPPORTED on
 * emu. */
HD_OWN hd_status hd_device_resident(hd_device_module *m, const char *kernel, uint32_t threads,
                                    uint32_t dynamic_shared, uint32_t registers, uint32_t *ctas, hd_diag *d);

/* ---- Launches ---------------------------------------------------------------------- */

typedef struct hd_device_launch {
  const char *kernel;
  uint32_t grid[3], block[3];
  uint32_t dynamic_shared; /* bytes; for more than 48 KB the driver is asked as it requires */
  const void *args; /* the parameter block, laid out by hd_ptx_param_layout; read before the call returns */
  uint64_t args_bytes;
  bool has_carveout;  /* else the driver chooses how L1 and shared memory split their store */
  uint32_t carveout;  /* percent of the store that shared memory prefers, at most 100 */
  uint32_t registers; /* per thread, for a model's occupancy; 0: not limiting */
  bool cooperative;   /* all CTAs are resident at once; HD_ERR_USAGE if they do not fit */
} hd_device_launch;

/* Begin a launch; launches run one after the other. On emu and model it has ended when the call returns. */
HD_OWN hd_status hd_device_run(hd_device_module *m, const hd_device_launch *l, hd_diag *d);
/* Wait for everything that was begun. A kernel's fault shows here or in any later call. */
HD_OWN hd_status hd_device_sync(hd_device *dev, hd_diag *d);

/* The tensor map of this device for a parameter of such a kernel: HD_TENSOR_MAP_BYTES at `map`.
 * HD_ERR_UNSUPPORTED if it has none (before compute capability 9.0). */
HD_OWN hd_status hd_device_tensor_map(hd_device *dev, const hd_tensor *t, void *map, hd_diag *d);

/* ---- Textures and surfaces --------------------------------------------------------------- */

/* The handle of a texture or a surface object, whose image's address is memory of this device. Linear memory
 * and memory with a pitch are read where they lie. An array is a copy of that memory, as GPUs lay arrays out
 * in their own way: hd_device_image_copy brings its texels from there, or `back`, in the order of the
 * launches. Objects over the same image share one array. On emu and model the memory is the array.
 * HD_ERR_INPUT if the device takes no such image. */
HD_OWN hd_status hd_device_image(hd_device *dev, const hd_texture *t, bool surface, uint64_t *handle,
                                 hd_diag *d);
HD_OWN hd_status hd_device_image_copy(hd_device *dev, uint64_t handle, bool surface, bool back, hd_diag *d);
HD_OWN hd_status hd_device_image_free(hd_device *dev, uint64_t handle, bool surface, hd_diag *d);

/* ---- Streams ---------------------------------------------------------------------------- */

/* Launches in one stream run in order; launches in several run at the same time, if there is room. The device
 * has one stream of its own, which is used if no stream is named. Streams are for hd_device_time_together
 * only, and are closed before their device. HD_ERR_UNSUPPORTED on emu and model, which run one launch at a
 * time. */
typedef struct hd_device_stream hd_device_stream;
HD_OWN hd_status hd_device_stream_open(hd_device *dev, hd_device_stream **out, hd_diag *d);
/* Two streams with SMs of their own (green contexts): the first gets `sms`, or somewhat more as the GPU can
 * be parted, the second the others; got[] says how many. HD_ERR_UNSUPPORTED if the driver (before CUDA 12.5)
 * or the GPU cannot do that, or if the second stream would get no SM. */
HD_OWN hd_status hd_device_split(hd_device *dev, uint32_t sms, hd_device_stream *out[2], uint32_t got[2],
                                 hd_diag *d);
HD_OWN void hd_device_stream_close(hd_device_stream *s); /* NULL is fine */

/* ---- Times and counters ------------------------------------------------------------------ */

/* Something to measure. `run` begins launches (and hd_device_set, hd_device_copy) and waits for nothing;
 * `prepare`, which may be NULL, comes before each run and is not measured. */
typedef struct hd_device_job {
  hd_status (*prepare)(void *ctx, hd_diag *d);
  hd_status (*run)(void *ctx, hd_diag *d);
  void *ctx;
} hd_device_job;

typedef struct hd_timing_options {
  uint32_t warmups;     /* untimed rounds before the first */
  uint32_t repetitions; /* timed rounds; at least 1 */
  bool keep_l2; /* each timed run follows an untimed run of the same job and finds its data in L2; else L2
                   holds other data */
  hd_watch watch;
} hd_timing_options;

/* HD_ERR_UNSUPPORTED, with what is lacking, of a device without times (has_times). */
HD_OWN hd_status hd_device_need_times(const hd_device *dev, hd_diag *d);

/* The device is kept busy for so many microseconds before a timed job: about ten launches made meanwhile do
 * not wait for the host. */
#define HD_DEVICE_HEAD_START_US 30

/* Rounds in which every job runs once, each round beginning with another job: us[i * repetitions + r] is the
 * time of job i in round r, in microseconds, from the start of its first launch to the end of its last. If
 * nothing limits the host, a job of few launches is queued while the device is still busy, so the host's time
 * for them does not show. */
HD_OWN hd_status hd_device_time(hd_device *dev, const hd_device_job *jobs, size_t n,
                                const hd_timing_options *o, double *us, hd_diag *d);

/* Jobs that run together. */
typedef struct hd_device_part {
  hd_device_job job;
  hd_device_stream *stream; /* NULL: the device's own */
} hd_device_part;
enum { HD_DEVICE_PARTS = 8 };

/* Run all parts once. All are prepared and L2 is filled with other data; then the launches of their jobs go
 * into their streams and start at the same time. Parts of one stream follow each other. us[i]: from that
 * start to the end of part i, in microseconds. A fault is attributed to the last launch, whichever caused it.
 * n is at most HD_DEVICE_PARTS, else HD_ERR_USAGE. */
HD_OWN hd_status hd_device_time_together(hd_device *dev, const hd_device_part *parts, size_t n, double *us,
                                         hd_diag *d);

/* The counters of one run of the job, L2 flushed before it unless keep_l2. *have is false, and `why` says why
 * in a line, when the device counts nothing: no CUPTI, not permitted, emu. The job may be run many times, as
 * few counters are taken in one run. On cuda, time_us, compulsory_bytes, the bounds of cycles_* and resident
 * are 0. */
HD_OWN hd_status hd_device_count(hd_device *dev, const hd_device_job *job, bool keep_l2, hd_counters *out,
                                 bool *have, char *why, size_t cap, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
