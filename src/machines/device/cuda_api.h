/* device/cuda_api.h: the entry points of the CUDA driver that heddle calls, looked up in its library. */
#ifndef HEDDLE_DEVICE_CUDA_API_H
#define HEDDLE_DEVICE_CUDA_API_H

#include "abi/cuda.h"
#include "heddle/base.h"

typedef struct cuda_api {
  void *handle;
#define CUDA_CALL(symbol) fn_##symbol *symbol;
#include "device/calls.def"
} cuda_api;

/* Open the driver's library and look up every call. HD_ERR_IO when there is none, HD_ERR_UNSUPPORTED when it
 * lacks a call. cuda_api_close is to be called whether this succeeds or not. */
hd_status cuda_api_open(const char *library, const char *instead, cuda_api *api, hd_diag *d);
void cuda_api_close(cuda_api *api);

/* A result's meaning for the device. */
typedef struct cuda_class {
  cu_result result;
  hd_status status;
  bool sticky; /* nothing works any more in this process */
} cuda_class;
cuda_class cuda_classify(cu_result r);

#endif
