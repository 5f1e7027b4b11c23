/* Tensor maps: descriptions of tensors that kernels hand to their bulk copies. */
#include "cuda/driver/driver.h"

static cu_result refused(const hd_diag *d) {
  core_found(CORE_FOUND_ARGUMENT, "%s", d->message);
  return CU_INVALID_VALUE;
}

cu_result drv_cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address, const uint64_t *dim,
                                     const uint64_t *stride, const uint32_t *box, const uint32_t *element,
                                     int interleave, int swizzle, int promotion, int fill) {
  hd_diag d = {0};
  if (!map || (uintptr_t)map % HD_TENSOR_MAP_ALIGN || !rank || rank > HD_TENSOR_DIMS || !dim || !box ||
      !element || (rank > 1 && !stride))
    return CU_INVALID_VALUE;
  hd_tensor t = {.address = (uintptr_t)address,
                 .type = (hd_tensor_type)type,
                 .rank = rank,
                 .interleave = (hd_tensor_interleave)interleave,
                 .swizzle = (hd_tensor_swizzle)swizzle,
                 .promotion = (hd_tensor_promotion)promotion,
                 .fill = (hd_tensor_fill)fill};
  for (uint32_t k = 0; k < rank; k++) {
    t.dim[k] = dim[k];
    t.box[k] = box[k];
    t.element_stride[k] = element[k];
    if (k + 1 < rank) t.stride[k] = stride[k];
  }
  return hd_emu_tensor_map(&t, map, &d) == HD_OK ? CU_SUCCESS : refused(&d);
}

cu_result drv_cuTensorMapReplaceAddress(void *map, void *address) {
  hd_diag d = {0};
  if (!map) return CU_INVALID_VALUE;
  return hd_emu_tensor_map_move(map, (uintptr_t)address, &d) == HD_OK ? CU_SUCCESS : refused(&d);
}
