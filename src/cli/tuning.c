#include "tuning.h"

bool tuning_advisor(const hd_device *dev, hd_gpu *out) {
  const hd_gpu *own = hd_device_get_gpu(dev);
  hd_diag d = {0};
  char line[512];
  if (own) *out = *own;
  if (own || hd_tune_advisor(hd_device_get_info(dev)->arch, cli_gpus_dir(), out, &d) == HD_OK) return true;
  fprintf(stderr, "no advice: %s\n", hd_diag_line(&d, line, sizeof line));
  return false;
}
