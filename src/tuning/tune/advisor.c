/* The choice of the modelled GPU that advises the tuner of a device, and of the size that it tunes. */
#include "heddle/tuner.h"

static uint32_t apart(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

/* Of two files that are no newer than the device: the newer one; of these one that was compared with its GPU,
 * else the one with about as many SMs. */
static bool is_nearer(const hd_gpu *g, const hd_gpu *than, const hd_device_info *i) {
  if (g->arch != than->arch) return g->arch > than->arch;
  if (!g->compared.launches != !than->compared.launches) return g->compared.launches;
  return apart(g->n_sms, i->n_sms) < apart(than->n_sms, i->n_sms);
}

hd_status hd_tune_advisor(const hd_device_info *device, const char *gpu_dir, hd_gpu *out, hd_diag *d) {
  char **names;
  size_t n, found = 0;
  if (device->title[0] && hd_gpu_load(device->title, gpu_dir, out, NULL) == HD_OK &&
      out->arch == device->arch)
    return HD_OK;
  hd_status st = hd_gpu_list(gpu_dir, &names, &n, d);
  if (st != HD_OK) return st;
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    hd_gpu g;
    st = hd_gpu_load(names[i], gpu_dir, &g, d);
    if (st == HD_OK && g.arch <= device->arch && (!found++ || is_nearer(&g, out, device))) *out = g;
  }
  hd_gpu_list_free(names, n);
  return st == HD_OK && !found ? hd_fail(d, HD_ERR_UNSUPPORTED, "no GPU file is like this device") : st;
}

const char *hd_tune_size(const hd_device_info *info) {
  return info->kind == HD_DEVICE_MODEL ? "small" : "gpu";
}
