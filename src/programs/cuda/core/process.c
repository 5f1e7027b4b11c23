/* The process's one state: settings, the emulator, devices. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/core/order.h"

_Thread_local core_call core_calling;
core_state core = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Room for memory that host and device share, beside the devices' own. */
#define SHARED_MEMORY (UINT64_C(64) << 30)

/* ---- Messages ----------------------------------------------------------------------------------------- */

enum { SAID = 1024 }; /* lines that are remembered: later ones come each time */

typedef struct said {
  char *line;
  uint64_t hash, times;
} said;

static struct {
  pthread_mutex_t lock; /* operations run without core.lock, and say what they find */
  said lines[SAID];
  size_t n;
} messages = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Into the log, which other processes of the program append to, too; where it takes nothing, as on a full
 * disk, to standard error. */
void core_write(const char *text, size_t len) {
  FILE *log = core.settings.log[0] ? fopen(core.settings.log, "ae") : NULL;
  const bool taken = log && fwrite(text, 1, len, log) == len;
  const bool kept = log && fclose(log) == 0 && taken;
  if (!kept) fwrite(text, 1, len, stderr);
  if (!kept && core.settings.log[0]) core.log_lost = true;
}

static void put(const char *line, uint64_t times) {
  hd_buf b = {0};
  hd_buf_puts(&b, "heddle: ");
  if (times) hd_buf_printf(&b, "%" PRIu64 " times: ", times);
  hd_buf_printf(&b, "%s\n", line);
  if (b.data) core_write(b.data, b.len);
  hd_buf_free(&b);
}

/* Whether the line is new. */
static bool remember(const char *line) {
  const uint64_t hash = hd_hash(line, strlen(line));
  for (size_t k = 0; k < messages.n; k++) {
    said *s = &messages.lines[k];
    if (s->hash != hash || strcmp(s->line, line) != 0) continue;
    s->times++;
    return false;
  }
  char *copy = messages.n < SAID ? strdup(line) : NULL;
  if (copy) messages.lines[messages.n++] = (said){copy, hash, 1};
  return true;
}

void core_say(const char *fmt, ...) {
  char line[1024];
  va_list ap;
  va_start(ap, fmt);
  hd_fit_args(line, sizeof line, fmt, ap);
  va_end(ap);
  /* Not waited for: a fault of the host's may come while the lock is held. */
  const bool held = pthread_mutex_trylock(&messages.lock) == 0;
  const bool fresh = !held || remember(line);
  if (held) pthread_mutex_unlock(&messages.lock);
  if (fresh) put(line, 0);
}

void core_say_counts(void) {
  if (pthread_mutex_trylock(&messages.lock) != 0) return;
  for (size_t k = 0; k < messages.n; k++) {
    if (messages.lines[k].times > 1) put(messages.lines[k].line, messages.lines[k].times);
    messages.lines[k].times = 1;
  }
  pthread_mutex_unlock(&messages.lock);
}

/* ---- The start ---------------------------------------------------------------------------------------- */

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
  if (st == HD_OK) hd_emu_set_work(core.emu, s->work);
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
