/* Devices: the properties and attributes of the modelled GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/driver.h"

core_device *drv_device(cu_device ordinal) {
  return ordinal >= 0 && (uint64_t)ordinal < core.settings.devices ? &core.devices[ordinal] : NULL;
}

cu_result drv_cuDeviceGetCount(int *n) {
  if (!n) return CU_INVALID_VALUE;
  *n = (int)core.settings.devices;
  return CU_SUCCESS;
}

cu_result drv_cuDeviceGet(cu_device *device, int ordinal) {
  if (!device) return CU_INVALID_VALUE;
  if (!drv_device(ordinal)) return CU_INVALID_DEVICE;
  *device = ordinal;
  return CU_SUCCESS;
}

cu_result drv_cuDeviceGetName(char *name, int cap, cu_device device) {
  if (!name || cap <= 0) return CU_INVALID_VALUE;
  if (!drv_device(device)) return CU_INVALID_DEVICE;
  snprintf(name, (size_t)cap, "%s, emulated", core.settings.gpu);
  return CU_SUCCESS;
}

cu_result drv_cuDeviceGetUuid(cu_uuid *uuid, cu_device device) {
  if (!uuid) return CU_INVALID_VALUE;
  if (!drv_device(device)) return CU_INVALID_DEVICE;
  memcpy(uuid->bytes, "heddle emulated", 16);
  uuid->bytes[15] = (unsigned char)device;
  return CU_SUCCESS;
}
cu_result drv_cuDeviceGetUuid_v2(cu_uuid *uuid, cu_device device) {
  return drv_cuDeviceGetUuid(uuid, device);
}

cu_result drv_cuDeviceTotalMem_v2(size_t *bytes, cu_device device) {
  if (!bytes) return CU_INVALID_VALUE;
  if (!drv_device(device)) return CU_INVALID_DEVICE;
  *bytes = core.settings.memory;
  return CU_SUCCESS;
}

/* ---- Attributes ------------------------------------------------------------------------------ */

/* CUdevice_attribute's number, and the value: a number, or a field of the settings less a constant. */
typedef struct attribute_row {
  int id, value;
  size_t field, less; /* field: 1 + offset in hd_program_settings; 0: none */
} attribute_row;

#define FIELD(name) 1 + offsetof(hd_program_settings, name)
static const attribute_row attributes[] = {
    {1, 1024, 0, 0}, /* threads a CTA */
    {2, 1024, 0, 0}, /* its extents */
    {3, 1024, 0, 0},
    {4, 64, 0, 0},
    {5, 0x7FFFFFFF, 0, 0}, /* the grid's */
    {6, 65535, 0, 0},
    {7, 65535, 0, 0},
    {8, 48 << 10, 0, 0}, /* shared memory a CTA */
    {9, 64 << 10, 0, 0}, /* constant memory */
    {10, HD_WARP, 0, 0},
    {11, 0x7FFFFFFF, 0, 0}, /* pitch */
    {12, 0, FIELD(registers), 0},
    {13, 0, FIELD(clock_khz), 0},
    {14, 512, 0, 0}, /* texture alignment */
    {15, 1, 0, 0},   /* copies overlap */
    {16, 0, FIELD(n_sms), 0},
    {19, 1, 0, 0},      /* host memory can be mapped */
    {21, 131072, 0, 0}, /* textures' extents */
    {22, 131072, 0, 0},
    {23, 65536, 0, 0},
    {24, 16384, 0, 0},
    {25, 16384, 0, 0},
    {26, 16384, 0, 0},
    {27, 32768, 0, 0},
    {28, 32768, 0, 0},
    {29, 2048, 0, 0},
    {30, 512, 0, 0},     /* surface alignment */
    {31, 1, 0, 0},       /* concurrent kernels */
    {36, 2619000, 0, 0}, /* memory clock, kHz */
    {37, 5120, 0, 0},    /* memory bus, bits */
    {38, 0, FIELD(l2_bytes), 0},
    {39, 0, FIELD(max_threads), 0},
    {40, 3, 0, 0}, /* copy engines */
    {41, 1, 0, 0}, /* unified addressing */
    {42, 32768, 0, 0},
    {43, 2048, 0, 0},
    {44, 1, 0, 0}, /* gather of 2D textures */
    {45, 32768, 0, 0},
    {46, 32768, 0, 0},
    {47, 8192, 0, 0},
    {48, 8192, 0, 0},
    {49, 32768, 0, 0},
    {51, 32, 0, 0}, /* texture pitch alignment */
    {52, 32768, 0, 0},
    {53, 32768, 0, 0},
    {54, 2046, 0, 0},
    {55, 32768, 0, 0}, /* surfaces' extents */
    {56, 131072, 0, 0},
    {57, 65536, 0, 0},
    {58, 16384, 0, 0},
    {59, 16384, 0, 0},
    {60, 16384, 0, 0},
    {61, 32768, 0, 0},
    {62, 2048, 0, 0},
    {63, 32768, 0, 0},
    {64, 32768, 0, 0},
    {65, 2048, 0, 0},
    {66, 32768, 0, 0},
    {67, 32768, 0, 0},
    {68, 2046, 0, 0},
    {69, 268435456, 0, 0},
    {70, 131072, 0, 0},
    {71, 65000, 0, 0},
    {72, 2097120, 0, 0},
    {73, 32768, 0, 0},
    {74, 32768, 0, 0},
    {77, 32768, 0, 0},
    {78, 1, 0, 0}, /* stream priorities */
    {79, 1, 0, 0}, /* global and local memory are cached in L1 */
    {80, 1, 0, 0},
    {81, 0, FIELD(shared_bytes), 0},
    {82, 0, FIELD(registers), 0},
    {83, 1, 0, 0}, /* managed memory */
    {87, 2, 0, 0}, /* single to double precision */
    {89, 1, 0, 0}, /* host and device use managed memory at one time */
    {90, 1, 0, 0}, /* preemption */
    {92, 1, 0, 0}, /* values in memory, of 64 bits, too, and all tests of them; again as 122 and 123 */
    {93, 1, 0, 0},
    {94, 1, 0, 0},
    {95, 1, 0, 0}, /* cooperative launches */
    {97, 0, FIELD(shared_bytes), FIELD(shared_reserved)},
    {99, 1, 0, 0},  /* host memory can be registered */
    {102, 1, 0, 0}, /* virtual memory management */
    {106, 0, FIELD(max_ctas), 0},
    {108, 0, FIELD(l2_bytes), 0}, /* L2 that may be kept for a window of addresses, and the most of that */
    {109, 128 << 20, 0, 0},
    {111, 0, FIELD(shared_reserved), 0},
    {115, 1, 0, 0}, /* memory pools */
    {122, 1, 0, 0},
    {123, 1, 0, 0},
    {129, 1, 0, 0}, /* unified function pointers */
};

static uint64_t setting(size_t field) {
  uint64_t v = 0;
  if (field) memcpy(&v, (const char *)&core.settings + field - 1, sizeof v);
  return v;
}

cu_result drv_cuDeviceGetTexture1DLinearMaxWidth(size_t *most, int format, unsigned channels,
                                                 cu_device device) {
  enum { LINEAR_WIDTH = 69 };
  int width;
  if (!most || !channels || channels > 4) return CU_INVALID_VALUE;
  cu_result r = drv_cuDeviceGetAttribute(&width, LINEAR_WIDTH, device);
  if (r == CU_SUCCESS) *most = (size_t)width;
  return r;
}

cu_result drv_cuDeviceGetAttribute(int *value, int id, cu_device device) {
  if (!value || id <= 0 || id > 200) return CU_INVALID_VALUE;
  if (!drv_device(device)) return CU_INVALID_DEVICE;
  *value = 0;
  for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++) {
    const attribute_row *a = &attributes[k];
    if (a->id == id) *value = a->field ? (int)(setting(a->field) - setting(a->less)) : a->value;
  }
  if (id == 33) *value = device + 1; /* PCI bus */
  if (id == 75) *value = (int)core.settings.arch / 10;
  if (id == 76) *value = (int)core.settings.arch % 10;
  if (id == 120 || id == 127) *value = core.settings.arch >= 90; /* clusters, tensor maps */
  return CU_SUCCESS;
}

cu_result drv_cuDeviceComputeCapability(int *major, int *minor, cu_device device) {
  if (!major || !minor) return CU_INVALID_VALUE;
  cu_result r = drv_cuDeviceGetAttribute(major, 75, device);
  return r == CU_SUCCESS ? drv_cuDeviceGetAttribute(minor, 76, device) : r;
}

cu_result drv_cuDeviceGetPCIBusId(char *id, int cap, cu_device device) {
  if (!id || cap <= 0) return CU_INVALID_VALUE;
  if (!drv_device(device)) return CU_INVALID_DEVICE;
  snprintf(id, (size_t)cap, "0000:%02X:00.0", (unsigned)device + 1);
  return CU_SUCCESS;
}

cu_result drv_cuDeviceGetByPCIBusId(cu_device *device, const char *id) {
  unsigned domain = 0, bus = 0, slot = 0;
  if (!device || !id) return CU_INVALID_VALUE;
  if (sscanf(id, "%x:%x:%x", &domain, &bus, &slot) < 3 && sscanf(id, "%x:%x", &bus, &slot) < 2)
    return CU_INVALID_VALUE;
  if (domain || slot || !drv_device((int)bus - 1)) return CU_INVALID_DEVICE;
  *device = (int)bus - 1;
  return CU_SUCCESS;
}

/* ---- Peers ----------------------------------------------------------------------------------- */

cu_result drv_cuDeviceCanAccessPeer(int *can, cu_device device, cu_device peer) {
  if (!can) return CU_INVALID_VALUE;
  if (!drv_device(device) || !drv_device(peer)) return CU_INVALID_DEVICE;
  *can = device != peer;
  return CU_SUCCESS;
}

/* CUdevice_P2PAttribute: 1 rank, 2 access, 3 atomics, 4 arrays. */
cu_result drv_cuDeviceGetP2PAttribute(int *value, int attribute, cu_device device, cu_device peer) {
  if (!value) return CU_INVALID_VALUE;
  if (!drv_device(device) || !drv_device(peer) || device == peer) return CU_INVALID_DEVICE;
  if (attribute < 1 || attribute > 4) return CU_INVALID_VALUE;
  *value = attribute != 1;
  return CU_SUCCESS;
}

/* ---- Primary contexts ------------------------------------------------------------------------ */

cu_result drv_cuDevicePrimaryCtxRetain(cu_context *context, cu_device device) {
  if (!context) return CU_INVALID_VALUE;
  core_device *d = drv_device(device);
  return d ? core_primary_retain(d, context) : CU_INVALID_DEVICE;
}

cu_result drv_cuDevicePrimaryCtxRelease_v2(cu_device device) {
  core_device *d = drv_device(device);
  return d ? core_primary_release(d) : CU_INVALID_DEVICE;
}
cu_result drv_cuDevicePrimaryCtxRelease(cu_device device) { return drv_cuDevicePrimaryCtxRelease_v2(device); }

cu_result drv_cuDevicePrimaryCtxReset_v2(cu_device device) {
  core_device *d = drv_device(device);
  return d ? core_primary_reset(d) : CU_INVALID_DEVICE;
}
cu_result drv_cuDevicePrimaryCtxReset(cu_device device) { return drv_cuDevicePrimaryCtxReset_v2(device); }

cu_result drv_cuDevicePrimaryCtxSetFlags_v2(cu_device device, unsigned flags) {
  core_device *d = drv_device(device);
  if (!d) return CU_INVALID_DEVICE;
  if (flags & ~(unsigned)CU_CTX_FLAGS) return CU_INVALID_VALUE;
  d->primary_flags = flags;
  if (d->primary) d->primary->flags = flags;
  return CU_SUCCESS;
}
cu_result drv_cuDevicePrimaryCtxSetFlags(cu_device device, unsigned flags) {
  return drv_cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

cu_result drv_cuDevicePrimaryCtxGetState(cu_device device, unsigned *flags, int *active) {
  const core_device *d = drv_device(device);
  if (!d) return CU_INVALID_DEVICE;
  if (flags) *flags = d->primary_flags;
  if (active) *active = d->primary_refs != 0;
  return CU_SUCCESS;
}
