#include "heddle/launch.h"

unsigned hd_launch_arch(const hd_device_info *dev, unsigned asked) {
  if (asked) return asked;
  bool runs_text = dev && dev->kind == HD_DEVICE_CUDA;
  return runs_text && dev->arch && dev->arch < HD_LAUNCH_ARCH ? dev->arch : HD_LAUNCH_ARCH;
}
