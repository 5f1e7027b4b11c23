#include "tuning.h"

#include <math.h>
#include <string.h>
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

void tuning_plan_cell(hd_text_table *t, const hd_plan *p) {
  hd_buf text = {0};
  hd_plan_print(p, &text);
  hd_text_table_cell(t, "%s", text.data ? text.data : "");
  hd_buf_free(&text);
}

json_t *tuning_plan_json(const hd_plan *p) {
  hd_buf text = {0};
  hd_plan_print(p, &text);
  json_t *j = json_string(text.data ? text.data : "");
  hd_buf_free(&text);
  return j;
}

json_t *tuning_number_json(double v) { return isfinite(v) ? json_real(v) : json_null(); }

json_t *tuning_speedup_json(const hd_speedup *s) {
  return json_pack("{s:o, s:o, s:o, s:f, s:I}", "median", tuning_number_json(s->median), "low",
                   tuning_number_json(s->low), "high", tuning_number_json(s->high), "confidence",
                   s->confidence, "pairs", (json_int_t)s->pairs);
}
