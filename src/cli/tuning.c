#include "tuning.h"

#include <unistd.h>

bool tuning_advisor(const hd_device *dev, hd_gpu *out) {
  const hd_gpu *own = hd_device_get_gpu(dev);
  hd_diag d = {0};
  char line[512];
  if (own) *out = *own;
  if (own || hd_tune_advisor(hd_device_get_info(dev)->arch, cli_gpus_dir(), out, &d) == HD_OK) return true;
  fprintf(stderr, "no advice: %s\n", hd_diag_line(&d, line, sizeof line));
  return false;
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
