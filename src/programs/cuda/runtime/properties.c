/* cudaDeviceProp, field by field: its layout differs from version to version of the runtime. */
#include <string.h>

#include "cuda/runtime/runtime.h"

typedef enum form { CHARS, INTS, SIZES } form;

/* A field of `n` elements, with the values of attributes `attribute`, `attribute` + 1, ... Attribute 0:
 * zeros. */
typedef struct field {
  form form;
  uint16_t n, attribute;
  uint8_t last;  /* 12: CUDA 13 has it no more; 13: it has it */
  uint8_t first; /* 12: CUDA 11 has it not yet; 0: it has it */
} field;

enum { NAME = 1000, UUID, TOTAL_MEMORY, MAJOR_VERSIONS = 13, MOST_BYTES = 2048 };

static const field fields[] = {
    {CHARS, 256, NAME, 13},
    {CHARS, 16, UUID, 13},
    {CHARS, 8, 0, 13}, /* luid */
    {INTS, 1, 0, 13},
    {SIZES, 1, TOTAL_MEMORY, 13},
    {SIZES, 1, 8, 13}, /* sharedMemPerBlock */
    {INTS, 1, 12, 13},
    {INTS, 1, 10, 13},
    {SIZES, 1, 11, 13}, /* memPitch */
    {INTS, 1, 1, 13},
    {INTS, 3, 2, 13},  /* maxThreadsDim */
    {INTS, 3, 5, 13},  /* maxGridSize */
    {INTS, 1, 13, 12}, /* clockRate */
    {SIZES, 1, 9, 13},
    {INTS, 2, 75, 13}, /* major, minor */
    {SIZES, 1, 14, 13},
    {SIZES, 1, 51, 13},
    {INTS, 1, 15, 12}, /* deviceOverlap */
    {INTS, 1, 16, 13},
    {INTS, 1, 17, 12}, /* kernelExecTimeoutEnabled */
    {INTS, 2, 18, 13}, /* integrated, canMapHostMemory */
    {INTS, 1, 20, 12}, /* computeMode */
    {INTS, 1, 21, 13}, /* maxTexture1D */
    {INTS, 1, 77, 13},
    {INTS, 1, 69, 12}, /* maxTexture1DLinear */
    {INTS, 2, 22, 13},
    {INTS, 2, 73, 13}, /* maxTexture2DMipmap */
    {INTS, 3, 70, 13},
    {INTS, 2, 45, 13},
    {INTS, 3, 24, 13}, /* maxTexture3D */
    {INTS, 3, 47, 13},
    {INTS, 1, 52, 13}, /* maxTextureCubemap */
    {INTS, 2, 42, 13},
    {INTS, 3, 27, 13},
    {INTS, 2, 53, 13},
    {INTS, 1, 55, 13}, /* maxSurface1D */
    {INTS, 2, 56, 13},
    {INTS, 3, 58, 13},
    {INTS, 2, 61, 13},
    {INTS, 3, 63, 13},
    {INTS, 1, 66, 13},
    {INTS, 2, 67, 13},
    {SIZES, 1, 30, 13}, /* surfaceAlignment */
    {INTS, 4, 31, 13},  /* concurrentKernels, ECCEnabled, pciBusID, pciDeviceID */
    {INTS, 1, 50, 13},  /* pciDomainID */
    {INTS, 1, 35, 13},  /* tccDriver */
    {INTS, 2, 40, 13},  /* asyncEngineCount, unifiedAddressing */
    {INTS, 1, 36, 12},  /* memoryClockRate */
    {INTS, 2, 37, 13},  /* memoryBusWidth, l2CacheSize */
    {INTS, 1, 108, 13},
    {INTS, 1, 39, 13},
    {INTS, 3, 78, 13}, /* streamPrioritiesSupported, L1 caches */
    {SIZES, 1, 81, 13},
    {INTS, 5, 82, 13}, /* regsPerMultiprocessor, managed, board, its group, host atomics */
    {INTS, 1, 87, 12}, /* singleToDoublePrecisionPerfRatio */
    {INTS, 4, 88, 13}, /* pageable, concurrent managed, preemption, registered pointers */
    {INTS, 1, 95, 13}, /* cooperativeLaunch */
    {INTS, 1, 96, 12},
    {SIZES, 1, 97, 13}, /* sharedMemPerBlockOptin */
    {INTS, 2, 100, 13},
    {INTS, 1, 106, 13}, /* maxBlocksPerMultiProcessor */
    {INTS, 1, 109, 13},
    {SIZES, 1, 111, 13}, /* reservedSharedMemPerBlock */
    {INTS, 1, 99, 13, 12},
    {INTS, 8, 112, 13, 12}, /* from sparse arrays to memory pools' handles */
    {INTS, 1, 121, 13, 12},
    {INTS, 1, 125, 13, 12}, /* ipcEventSupported */
    {INTS, 1, 120, 13, 12}, /* clusterLaunch */
    {INTS, 1, 129, 13, 12}, /* unifiedFunctionPointers */
};
/* Bytes behind the fields, reserved or new: zeros. */
static const unsigned rest[MAJOR_VERSIONS + 1] = {[11] = 0, [12] = 63 * 4, [13] = 63 * 4};

/* CUDA 11 ends with the shared memory that is reserved, CUDA 12 and 13 with all. A field too many would
 * overwrite the caller's memory behind its structure. */
static bool has(const field *f, int version) { return f->first <= version && version <= f->last; }

static void fill(const field *f, char *at, int device) {
  size_t bytes;
  switch (f->attribute) {
  case 0: break;
  case NAME: drv_cuDeviceGetName(at, f->n, device); break;
  case UUID: drv_cuDeviceGetUuid((cu_uuid *)(void *)at, device); break;
  case TOTAL_MEMORY:
    drv_cuDeviceTotalMem_v2(&bytes, device);
    memcpy(at, &bytes, sizeof bytes);
    break;
  default:
    for (int k = 0; k < f->n; k++) {
      int value = 0;
      drv_cuDeviceGetAttribute(&value, f->attribute + k, device);
      const size_t wide = (size_t)value;
      if (f->form == SIZES)
        memcpy(at + 8 * k, &wide, 8);
      else
        memcpy(at + 4 * k, &value, 4);
    }
  }
}

static cu_result properties(void *out, int device, int version) {
  static const size_t sizes[] = {[CHARS] = 1, [INTS] = 4, [SIZES] = 8};
  _Alignas(8) char all[MOST_BYTES] = {0};
  size_t at = 0;
  if (!out) return CU_INVALID_VALUE;
  if (!drv_device(device)) return CU_INVALID_DEVICE;
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
    const field *f = &fields[k];
    if (!has(f, version)) continue;
    at = (at + sizes[f->form] - 1) / sizes[f->form] * sizes[f->form];
    fill(f, all + at, device);
    at += sizes[f->form] * f->n;
  }
  at = (at + rest[version] + 7) / 8 * 8;
  memcpy(out, all, at);
  return CU_SUCCESS;
}

cu_result rt_cudaGetDeviceProperties(void *out, int device) {
  return properties(out, device, rt_major == 13 ? 13 : 11);
}
cu_result rt_cudaGetDeviceProperties_v2(void *out, int device) { return properties(out, device, 12); }
