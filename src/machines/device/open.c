/* Opens a device by its name. */
#include <string.h>

#include "device/backend.h"

hd_status hd_device_open(const char *name, const hd_device_options *o, hd_device **out, hd_diag *d) {
  static const hd_device_options defaults;
  *out = NULL;
  if (!o) o = &defaults;
  if (strlen(name) >= sizeof((hd_device_info *)0)->name)
    return hd_fail(d, HD_ERR_USAGE, "a device's name is not that long: '%.60s...'", name);
  if (strcmp(name, "emu") == 0) return device_open_emulated(name, NULL, o, out, d);
  if (strncmp(name, "model:", 6) == 0 && name[6]) return device_open_emulated(name, name + 6, o, out, d);
  if (strcmp(name, "cuda") == 0) return device_open_cuda("cuda:0", "0", o, out, d);
  if (strncmp(name, "cuda:", 5) == 0) return device_open_cuda(name, name + 5, o, out, d);
  static const char known[] = "emu, model:NAME, cuda:N";
  char near[HD_NEAR];
  return hd_fail(d, HD_ERR_USAGE, "no device '%.60s' (known: %s)%s", name, known,
                 hd_near(known, name, strlen(name), near));
}
