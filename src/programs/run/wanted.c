/* Which kernels are to be rewritten, and how. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "heddle/trusted.h"
#include "run/watch.h"

hd_steer_settings run_settings;

/* ---- The GPU ----------------------------------------------------------------------------------- */

bool run_gpu_of(run_gpu *out) {
  int version, sms, major, minor;
  const run_driver *d = &run_real;
  *out = (run_gpu){0};
  if (!d->cuDriverGetVersion || !d->cuDeviceGet || !d->cuDeviceGetName || !d->cuDeviceGetAttribute ||
      !d->cuCtxGetDevice)
    return false;
  if (d->cuCtxGetDevice(&out->device) != CU_SUCCESS && d->cuDeviceGet(&out->device, 0) != CU_SUCCESS)
    return false;
  if (d->cuDriverGetVersion(&version) != CU_SUCCESS ||
      d->cuDeviceGetName(out->name, sizeof out->name, out->device) != CU_SUCCESS ||
      d->cuDeviceGetAttribute(&sms, CU_ATTR_SMS, out->device) != CU_SUCCESS ||
      d->cuDeviceGetAttribute(&major, CU_ATTR_ARCH_MAJOR, out->device) != CU_SUCCESS ||
      d->cuDeviceGetAttribute(&minor, CU_ATTR_ARCH_MINOR, out->device) != CU_SUCCESS)
    return false;
  out->name[sizeof out->name - 1] = 0;
  out->n_sms = (unsigned)sms;
  out->arch = (unsigned)(10 * major + minor);
  out->isa = hd_ptx_isa_of_driver(version);
  snprintf(out->driver, sizeof out->driver, "%d.%d", version / 1000, version % 1000 / 10);
  return true;
}

/* ---- Verdicts ---------------------------------------------------------------------------------- */

static struct {
  bool read;
  bool forced;
  HD_VEC(hd_verdict) verdicts;
} wants;

static void read_verdicts(void) {
  hd_buf f = {0};
  hd_diag d = {0};
  if (hd_trusted_read(run_settings.verdicts, &f, &d) != HD_OK) {
    run_say("the verdicts cannot be read: %s", d.message);
    return;
  }
  for (size_t at = 0; at < f.len;) {
    const char *line = f.data + at, *end = memchr(line, '\n', f.len - at);
    const size_t n = end ? (size_t)(end - line) : f.len - at;
    hd_verdict v;
    if (hd_steer_verdict_parse(line, n, &v) && !hd_vec_push(&wants.verdicts, v)) break;
    at += n + 1;
  }
  hd_buf_free(&f);
}

/* Once, when the first module is loaded. */
static void read_all(void) {
  hd_plan plan;
  if (wants.read) return;
  wants.read = true;
  if (!run_settings.plan[0] && run_settings.verdicts[0]) read_verdicts();
  if (run_settings.plan[0] && hd_plan_parse(run_settings.plan, &plan, NULL) == HD_OK)
    wants.forced = !hd_plan_is_baseline(&plan);
  run_gates = run_watches || wants.forced || wants.verdicts.n;
}

static bool is_for(const hd_verdict *v, const run_gpu *gpu) {
  /* A prediction is of no one GPU; only a file that is pinned has it. */
  if (strcmp(v->key.gpu, HD_VERDICT_ANY) == 0) return true;
  return strcmp(v->key.gpu, gpu->name) == 0 && strcmp(v->key.driver, gpu->driver) == 0;
}

bool run_wants(const run_gpu *gpu) {
  read_all();
  if (wants.forced) return true;
  for (size_t k = 0; k < wants.verdicts.n; k++)
    if (is_for(&wants.verdicts.data[k], gpu)) return true;
  return false;
}

void run_each_verdict(const run_gpu *gpu, const char *(*name)(const hd_verdict *v),
                      void (*each)(const hd_verdict *v, const char *name)) {
  for (size_t k = 0; k < wants.verdicts.n; k++) {
    const hd_verdict *v = &wants.verdicts.data[k];
    const char *is = is_for(v, gpu) ? name(v) : NULL;
    if (is) each(v, is);
  }
}

bool run_has_verdict(const hd_verdict_key *key) {
  read_all();
  for (size_t k = 0; k < wants.verdicts.n; k++) {
    const hd_verdict_key *has = &wants.verdicts.data[k].key;
    if (strcmp(has->kernel, key->kernel) == 0 && strcmp(has->launch, key->launch) == 0 &&
        strcmp(has->gpu, key->gpu) == 0 && strcmp(has->driver, key->driver) == 0)
      return true;
  }
  return wants.forced;
}

void run_verdicts_of(const run_gpu *gpu, hd_digest module, const char *kernel,
                     void (*each)(void *ctx, const char *kernel, const hd_verdict *verdict), void *ctx) {
  char hex[HD_DIGEST_HEX];
  hd_digest_text(&module, kernel);
  hd_digest_hex(&module, hex);
  for (size_t k = 0; k < wants.verdicts.n; k++) {
    const hd_verdict *v = &wants.verdicts.data[k];
    if (strcmp(v->key.kernel, hex) == 0 && is_for(v, gpu)) each(ctx, kernel, v);
  }
}

/* ---- Kernels of a text ------------------------------------------------------------------------- */

/* The next kernel's name behind `at`; NULL: there is none. */
static const char *next_kernel(const char *at, const char *end, char name[1024]) {
  static const char word[] = ".entry";
  while ((at = memmem(at, (size_t)(end - at), word, sizeof word - 1))) {
    at += sizeof word - 1;
    const char *from = at;
    while (from < end && (*from == ' ' || *from == '\t' || *from == '\n' || *from == '\r')) from++;
    size_t n = 0;
    while (from + n < end && !strchr(" \t\r\n(,;{", from[n])) n++;
    if (from == at || !n || n >= 1024) continue;
    memcpy(name, from, n);
    name[n] = 0;
    return from + n;
  }
  return NULL;
}

void run_wanted(const run_gpu *gpu, const run_text *text,
                void (*each)(void *ctx, const char *kernel, const hd_verdict *verdict), void *ctx) {
  char name[1024];
  const char *at = text->data, *const end = at + text->len;
  hd_digest whole = hd_digest_begin();
  if (!wants.forced) hd_digest_bytes(&whole, text->data, text->len);
  while ((at = next_kernel(at, end, name))) {
    if (wants.forced) {
      each(ctx, name, NULL);
      continue;
    }
    run_verdicts_of(gpu, whole, name, each, ctx);
  }
}
