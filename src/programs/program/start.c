/* Starts a program on heddle's CUDA libraries, which the environment names, with its settings. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/model.h"
#include "heddle/program.h"

#define DEFAULT_MEMORY (UINT64_C(80) << 30)
#define LIBRARY "libheddle-cuda.so"
/* The newest architecture of whose instructions some are emulated. */
#define NEWEST_EMULATED 120

/* "40G", "512M", "64K" or bytes. */
static bool parse_size(const char *text, uint64_t *out) {
  static const char units[] = "KMGT";
  size_t n = strlen(text);
  unsigned shift = 0;
  const char *unit = n ? strchr(units, text[n - 1]) : NULL;
  if (unit && *unit) {
    shift = 10 * (unsigned)(unit - units + 1);
    n--;
  }
  if (!hd_parse_u64(text, n, UINT64_MAX >> shift, out)) return false;
  *out <<= shift;
  return *out != 0;
}

static void describe(const hd_gpu *g, hd_program_settings *s) {
  memcpy(s->gpu, g->title, sizeof s->gpu);
  s->arch = g->arch;
  s->n_sms = g->n_sms;
  s->max_ctas = g->max_ctas;
  s->max_warps = g->max_warps;
  s->max_threads = g->max_threads;
  s->registers = g->registers;
  s->register_unit = g->register_unit;
  s->shared_bytes = g->shared_bytes;
  s->shared_unit = g->shared_unit;
  s->shared_reserved = g->shared_reserved;
  s->l2_bytes = g->l2.bytes;
  s->clock_khz = (uint64_t)(g->clock_mhz * 1000);
}

/* The report is written when the program ends: that its folder is there is seen before. */
static hd_status keep_report(const char *path, char *out, size_t cap, hd_diag *d) {
  char folder[HD_PROGRAM_PATH];
  hd_status st = hd_program_keep_path(path, out, cap, d);
  if (st != HD_OK) return st;
  snprintf(folder, sizeof folder, "%.*s/", (int)(strrchr(out, '/') - out), out);
  return access(folder, W_OK) == 0 ? HD_OK
                                   : hd_fail(d, HD_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
}

static hd_status make_settings(const hd_program_options *o, hd_program_settings *s, hd_diag *d) {
  hd_gpu g;
  unsigned checks = 0;
  if (!o->devices) return hd_fail(d, HD_ERR_USAGE, "--devices takes a number from 1 on");
  *s = (hd_program_settings){.memory = DEFAULT_MEMORY,
                             .devices = o->devices,
                             .threads = o->threads,
                             .seed = o->seed,
                             .quiet = o->quiet,
                             .analyze = o->analyze,
                             .work = o->work,
                             .alone = o->alone,
                             .error_code = o->error_code,
                             .pid = (uint64_t)getpid()};
  hd_status st = hd_gpu_load(o->gpu ? o->gpu : "h100", o->gpu_dir, &g, d);
  if (st != HD_OK) return st;
  describe(&g, s);
  /* The emulator runs any PTX that it understands: only a GPU that was asked for by name refuses newer PTX.
   */
  s->newest = o->gpu || g.arch > NEWEST_EMULATED ? g.arch : NEWEST_EMULATED;
  if (o->memory && !parse_size(o->memory, &s->memory))
    return hd_fail(d, HD_ERR_USAGE, "--memory takes a size such as 40G, not '%s'", o->memory);
  if (o->checks && !hd_program_check_parse(o->checks, &checks))
    return hd_fail(d, HD_ERR_USAGE, "--check takes all or a list of init, race, leak and streams, not '%s'",
                   o->checks);
  s->checks = checks;
  if (o->kernel && snprintf(s->kernel, sizeof s->kernel, "%s", o->kernel) >= (int)sizeof s->kernel)
    return hd_fail(d, HD_ERR_USAGE, "the kernel's name is too long");
  if (o->log) st = keep_report(o->log, s->log, sizeof s->log, d);
  if (st == HD_OK && o->log) st = hd_file_write(s->log, "", 0, d);
  if (st == HD_OK && o->findings) st = keep_report(o->findings, s->findings, sizeof s->findings, d);
  return st == HD_OK && o->report ? keep_report(o->report, s->report, sizeof s->report, d) : st;
}

/* ---- The environment ------------------------------------------------------------------------------ */

static hd_status put(const char *name, const char *value, const char *rest, hd_diag *d) {
  hd_buf b = {0};
  hd_buf_puts(&b, value);
  if (rest && *rest) hd_buf_printf(&b, ":%s", rest);
  hd_status st = b.failed || setenv(name, b.data, 1) != 0 ? hd_nomem(d) : HD_OK;
  hd_buf_free(&b);
  return st;
}

/* The folder of this program, or of the file that this code is from: heddle's own library, which other
 * programs may have loaded. */
static bool get_folder(bool of_library, char *out, size_t cap) {
  Dl_info from;
  char *name = of_library && dladdr((void *)get_folder, &from) ? realpath(from.dli_fname, NULL) : NULL;
  const ssize_t len = of_library ? -1 : readlink("/proc/self/exe", out, cap - 1);
  if (len > 0) out[len] = 0;
  const bool found = len > 0 || (name && snprintf(out, cap, "%s", name) < (int)cap);
  char *slash = found ? strrchr(out, '/') : NULL;
  if (slash) *slash = 0;
  free(name);
  return slash != NULL;
}

/* Beside it in a build, or in an installation. */
static bool find_beside(const char *own, const char *library, char folder[HD_PROGRAM_PATH]) {
  static const char *const beside[] = {"/emulated",      "/steered",         "/heddle",
                                       "/../lib/heddle", "/../lib64/heddle", NULL};
  char path[HD_PROGRAM_PATH + 64];
  for (const char *const *b = beside; *b; b++) {
    const int n = snprintf(folder, HD_PROGRAM_PATH, "%s%s", own, *b);
    snprintf(path, sizeof path, "%s/%s", folder, library);
    if (n < HD_PROGRAM_PATH && access(path, R_OK) == 0) return true;
  }
  return false;
}

static hd_status find_library(const char *library, const char *given, char folder[HD_PROGRAM_PATH],
                              hd_diag *d) {
  char own[HD_PROGRAM_PATH / 2], path[HD_PROGRAM_PATH + 64];
  for (int of_library = 0; !given && of_library < 2; of_library++)
    if (get_folder(of_library, own, sizeof own) && find_beside(own, library, folder)) return HD_OK;
  if (given && snprintf(folder, HD_PROGRAM_PATH, "%s", given) < HD_PROGRAM_PATH) {
    snprintf(path, sizeof path, "%s/%s", folder, library);
    if (access(path, R_OK) == 0) return HD_OK;
  }
  return hd_fail(d, HD_ERR_IO, "cannot find %s%s%s", library, given ? " in " : "", given ? given : "");
}

hd_status hd_program_preload(const char *library, const char *given, char folder[HD_PROGRAM_PATH],
                             hd_diag *d) {
  char path[HD_PROGRAM_PATH + 64];
  hd_status st = find_library(library, given, folder, d);
  if (st != HD_OK) return st;
  snprintf(path, sizeof path, "%s/%s", folder, library);
  return put("LD_PRELOAD", path, getenv("LD_PRELOAD"), d);
}

static hd_status set_environment(const hd_program_options *o, const hd_program_settings *s, hd_diag *d) {
  char folder[HD_PROGRAM_PATH];
  hd_buf text = {0};
  hd_status st = hd_program_preload(LIBRARY, o->folder, folder, d);
  if (st == HD_OK) st = hd_program_settings_print(s, &text, d);
  if (st == HD_OK) st = put(HD_PROGRAM_VARIABLE, text.data, NULL, d);
  if (st == HD_OK) st = put("HEDDLE_PTXAS", "", NULL, d); /* the emulator runs PTX */
  hd_buf_free(&text);
  /* Programs that open the driver, or need the shared runtime, find heddle's by their names. */
  return st == HD_OK ? put("LD_LIBRARY_PATH", folder, getenv("LD_LIBRARY_PATH"), d) : st;
}

hd_status hd_program_keep_path(const char *path, char *out, size_t cap, hd_diag *d) {
  char here[HD_PROGRAM_PATH] = "";
  if (path[0] != '/' && !getcwd(here, sizeof here)) here[0] = 0;
  const int n = snprintf(out, cap, "%s%s%s", here, here[0] ? "/" : "", path);
  return n >= 0 && (size_t)n < cap ? HD_OK : hd_fail(d, HD_ERR_USAGE, "the path '%s' is too long", path);
}

hd_status hd_program_become(char **argv, hd_diag *d) {
  execvp(argv[0], argv);
  return hd_fail(d, HD_ERR_IO, "cannot start '%s': %s", argv[0], strerror(errno));
}

hd_status hd_program_prepare(const hd_program_options *o, hd_diag *d) {
  hd_program_settings s;
  const hd_status st = make_settings(o, &s, d);
  return st == HD_OK ? set_environment(o, &s, d) : st;
}

hd_status hd_program_exec(const hd_program_options *o, char **argv, hd_diag *d) {
  const hd_status st = hd_program_prepare(o, d);
  return st == HD_OK ? hd_program_become(argv, d) : st;
}
