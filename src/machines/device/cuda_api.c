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
#define CUDA_CALL(name) {#name, offsetof(cuda_api, name), true},
#define CUDA_OPTIONAL(name) {#name, offsetof(cuda_api, name), false},
#include "device/calls.def"
};

hd_status cuda_api_open(const char *library, const char *instead, cuda_api *api, hd_diag *d) {
  memset(api, 0, sizeof *api);
  if (!library) library = getenv("HEDDLE_CUDA_DRIVER");
  api->handle = dlopen(library && *library ? library : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!instead) instead = "the device model:h100 stands in for a GPU";
  if (!api->handle)
    return hd_fail(d, HD_ERR_IO, "there is no NVIDIA driver here: %s%s%s", dlerror(), *instead ? "; " : "",
                   instead);
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
    {CU_DEINITIALIZED, HD_ERR_IO, true},
    {CU_DEVICE_UNAVAILABLE, HD_ERR_IO, true},
    {CU_INVALID_IMAGE, HD_ERR_INPUT, false},
    {CU_INVALID_CONTEXT, HD_ERR_IO, true}, /* it was destroyed */
    {CU_NO_BINARY_FOR_GPU, HD_ERR_INPUT, false},
    {CU_ECC_UNCORRECTABLE, HD_ERR_IO, true},
    {CU_INVALID_PTX, HD_ERR_INPUT, false},
    {CU_NVLINK_UNCORRECTABLE, HD_ERR_IO, true},
    {CU_UNSUPPORTED_PTX_VERSION, HD_ERR_INPUT, false}, /* that this driver does not know */
    {CU_CONTAINED, HD_ERR_IO, true},
    {CU_INVALID_SOURCE, HD_ERR_INPUT, false},
    {CU_NOT_FOUND, HD_ERR_INPUT, false},
    {CU_ILLEGAL_ADDRESS, HD_ERR_FAULT, true},
    {CU_LAUNCH_OUT_OF_RESOURCES, HD_ERR_UNSUPPORTED, false}, /* more registers or threads than fit */
    {CU_LAUNCH_TIMEOUT, HD_ERR_FAULT, true},
    {CU_CONTEXT_IS_DESTROYED, HD_ERR_IO, true},
    {CU_ASSERT, HD_ERR_FAULT, true},
    {CU_HARDWARE_STACK, HD_ERR_FAULT, true},
    {CU_ILLEGAL_INSTRUCTION, HD_ERR_FAULT, true}, /* traps among them */
    {CU_MISALIGNED_ADDRESS, HD_ERR_FAULT, true},
    {CU_INVALID_ADDRESS_SPACE, HD_ERR_FAULT, true},
    {CU_INVALID_PC, HD_ERR_FAULT, true},
    {CU_LAUNCH_FAILED, HD_ERR_FAULT, true},
    {CU_COOPERATIVE_TOO_LARGE, HD_ERR_USAGE, false},
    {CU_TENSOR_MEMORY_LEAK, HD_ERR_FAULT, true},
    {CU_UNKNOWN, HD_ERR_IO, true},
};

cuda_class cuda_classify(cu_result r) {
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
    if (classes[i].result == r) return classes[i];
  return (cuda_class){r, HD_ERR_IO, false};
}
