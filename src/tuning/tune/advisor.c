/* The choice of the modelled GPU that advises the tuner of a device, and of the size that it tunes. */
#include "heddle/tuner.h"

hd_status hd_tune_advisor(unsigned arch, const char *gpu_dir, hd_gpu *out, hd_diag *d) {
  char **names;
  size_t n, found = 0;
  hd_status st = hd_gpu_list(gpu_dir, &names, &n, d);
  if (st != HD_OK) return st;
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    hd_gpu g;
    st = hd_gpu_load(names[i], gpu_dir, &g, d);
    if (st == HD_OK && g.arch <= arch && (!found++ || g.arch > out->arch)) *out = g;
  }
  hd_gpu_list_free(names, n);
  return st == HD_OK && !found ? hd_fail(d, HD_ERR_UNSUPPORTED, "no GPU file is like this device") : st;
}

const char *hd_tune_size(const hd_device_info *info) {
  return info->kind == HD_DEVICE_MODEL ? "small" : "gpu";
}
