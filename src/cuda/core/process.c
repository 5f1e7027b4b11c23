/* The process's one state: settings, the emulator, devices. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/core/order.h"

core_state core = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Room for memory that host and device share, beside the devices' own. */
#define SHARED_MEMORY (UINT64_C(64) << 30)

void core_say(const char *fmt, ...) {
  hd_buf b = {0};
  char line[1024];
  va_list ap;
  va_start(ap, fmt);
  hd_fit_args(line, sizeof line, fmt, ap);
  va_end(ap);
  hd_buf_printf(&b, "heddle: %s\n", line);
  if (b.data) fwrite(b.data, 1, b.len, stderr);
  hd_buf_free(&b);
}

/* Reserves the addresses of device memory without access, so that the host faults where it touches them. */
static hd_status reserve_addresses(hd_diag *d) {
  uint64_t first, bytes;
  hd_emu_range(core.emu, &first, &bytes);
  void *at = (void *)(uintptr_t)first;
  void *got =
      mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == at) return HD_OK;
  if (got != MAP_FAILED) munmap(got, bytes);
  return hd_fail(d, HD_ERR_IO, "the addresses of device memory are taken");
}

static hd_status open_emulator(hd_diag *d) {
  const hd_program_settings *s = &core.settings;
  const hd_emu_options o = {
      .checks = (s->checks & HD_PROGRAM_CHECK_INIT ? HD_CHECK_INIT : 0u) |
                (s->checks & HD_PROGRAM_CHECK_RACE ? HD_CHECK_RACE : 0u),
      .threads =
          s->checks & HD_PROGRAM_CHECK_STREAMS ? 1 : (unsigned)s->threads, /* accesses go into one list */
      .sm = (unsigned)s->arch,
      .n_sms = (unsigned)s->n_sms,
      .memory = s->devices * s->memory + SHARED_MEMORY,
      .shared = true,
  };
  hd_status st = hd_emu_create(&o, &core.emu, d);
  if (st == HD_OK) st = reserve_addresses(d);
  if (st != HD_OK && core.emu) {
    hd_emu_destroy(core.emu);
    core.emu = NULL;
  }
  return st;
}

cu_result core_start(void) {
  if (core.initialised) return core_ready();
  core.pid = getpid();
  hd_diag d = {0};
  const char *text = getenv(HD_PROGRAM_VARIABLE);
  hd_status st =
      text ? hd_program_settings_parse(text, &core.settings, &d)
           : hd_fail(&d, HD_ERR_USAGE, "there are no settings: is this program run by `heddle emu`?");
  if (st == HD_OK && (!core.settings.devices || core.settings.devices > CORE_MAX_DEVICES))
    st = hd_fail(&d, HD_ERR_USAGE, "there are from 1 to %d devices", CORE_MAX_DEVICES);
  if (st == HD_OK) st = open_emulator(&d);
  if (st != HD_OK) {
    core_say("%s", d.message);
    return CU_NO_DEVICE;
  }
  for (int k = 0; k < CORE_MAX_DEVICES; k++) core.devices[k].ordinal = k;
  core_guard_install();
  core.initialised = true;
  return CU_SUCCESS;
}

cu_result core_ready(void) {
  if (core.ended) return CU_DEINITIALIZED;
  return core.initialised && core.pid == getpid() ? CU_SUCCESS : CU_NOT_INITIALIZED;
}
