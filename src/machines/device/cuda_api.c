/* The driver's library and the meaning of its results. */
#include "device/cuda_api.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
  const char *symbol;
  size_t at; /* offset in cuda_api */
  bool required;
} entry;

static const entry entries[] = {
#define X(name, params) {#name, offsetof(cuda_api, name), true},
    CUDA_CALLS(X)
#undef X
#define X(name, params) {#name, offsetof(cuda_api, name), false},
        CUDA_OPTIONAL_CALLS(X)
#undef X
};

hd_status cuda_api_open(const char *library, cuda_api *api, hd_diag *d) {
  memset(api, 0, sizeof *api);
  if (!library) library = getenv("HEDDLE_CUDA_DRIVER");
  api->handle = dlopen(library && *library ? library : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!api->handle)
    return hd_fail(d, HD_ERR_IO,
                   "there is no NVIDIA driver here: %s; the device model:h100 stands in for a GPU",
                   dlerror());
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *symbol = dlsym(api->handle, entries[i].symbol);
    if (!symbol && entries[i].required)
      return hd_fail(d, HD_ERR_UNSUPPORTED,
                     "the NVIDIA driver is too old: it has no %s (CUDA 11.8 is needed)", entries[i].symbol);
    memcpy((char *)api + entries[i].at, &symbol, sizeof symbol);
  }
  return HD_OK;
}

void cuda_api_close(cuda_api *api) {
  if (api->handle) dlclose(api->handle);
  memset(api, 0, sizeof *api);
}

/* The driver documents which results leave the process without a usable context. Everything that is not
 * listed is a failed call and no more. */
static const cuda_class classes[] = {
    {CU_INVALID_VALUE, HD_ERR_INPUT, false},
    {CU_OUT_OF_MEMORY, HD_ERR_NOMEM, false},
    {4, HD_ERR_IO, true},       /* deinitialized */
    {46, HD_ERR_IO, true},      /* device unavailable */
    {200, HD_ERR_INPUT, false}, /* invalid image */
    {201, HD_ERR_IO, true},     /* invalid context: it was destroyed */
    {209, HD_ERR_INPUT, false}, /* no binary for this GPU */
    {214, HD_ERR_IO, true},     /* uncorrectable ECC error */
    {218, HD_ERR_INPUT, false}, /* invalid PTX */
    {220, HD_ERR_IO, true},     /* uncorrectable NVLink error */
    {222, HD_ERR_INPUT, false}, /* PTX version that this driver does not know */
    {226, HD_ERR_IO, true},     /* contained error */
    {300, HD_ERR_INPUT, false}, /* invalid source */
    {CU_NOT_FOUND, HD_ERR_INPUT, false},
    {700, HD_ERR_FAULT, true},        /* illegal address */
    {701, HD_ERR_UNSUPPORTED, false}, /* more registers or threads than fit */
    {702, HD_ERR_FAULT, true},        /* timeout */
    {709, HD_ERR_IO, true},           /* context is destroyed */
    {710, HD_ERR_FAULT, true},        /* assertion */
    {714, HD_ERR_FAULT, true},        /* hardware stack */
    {715, HD_ERR_FAULT, true},        /* illegal instruction, traps among them */
    {716, HD_ERR_FAULT, true},        /* misaligned address */
    {717, HD_ERR_FAULT, true},        /* invalid address space */
    {718, HD_ERR_FAULT, true},        /* invalid program counter */
    {719, HD_ERR_FAULT, true},        /* launch failed */
    {CU_TOO_LARGE_TOGETHER, HD_ERR_USAGE, false},
    {721, HD_ERR_FAULT, true}, /* tensor memory leak */
    {999, HD_ERR_IO, true},    /* unknown */
};

cuda_class cuda_classify(cu_result r) {
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
    if (classes[i].result == r) return classes[i];
  return (cuda_class){r, HD_ERR_IO, false};
}
