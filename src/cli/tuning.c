#include "tuning.h"

#include <unistd.h>

hd_status tuning_advisor(const hd_device *dev, hd_gpu *out, hd_diag *d) {
  const hd_gpu *own = hd_device_get_gpu(dev);
  if (own) {
    *out = *own;
    return HD_OK;
  }
  return hd_tune_advisor(hd_device_get_info(dev)->arch, cli_gpus_dir(), out, d);
}

const char *tuning_size(const hd_device *dev) {
  return hd_device_get_info(dev)->kind == HD_DEVICE_MODEL ? "small" : "gpu";
}

void tuning_progress(void *label, const char *stage, size_t done, size_t n) {
  if (!isatty(STDERR_FILENO)) return;
  fprintf(stderr, "\r\033[K%s: %s", (const char *)label, stage);
  if (n > 1) fprintf(stderr, " %zu/%zu", done, n);
  fflush(stderr);
}

void tuning_progress_end(void) {
  if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}
