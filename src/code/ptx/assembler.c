#include "heddle/assembler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/process.h"

enum { VERSION_SECONDS = 10, COMPILE_SECONDS = 120, PATH_BYTES = 4096 };

static hd_status run(const hd_assembler *a, const char *const *argv, const char *folder, unsigned seconds,
                     hd_buf *output, int *code) {
  return (a->unseen ? hd_program_run_unseen : hd_program_run)(argv, folder, seconds, output, code, NULL);
}

/* Its release is the driver's, as in "Cuda compilation tools, release 13.0, V13.0.88". */
static bool is_of_release(const hd_assembler *a, unsigned version) {
  const char *argv[] = {a->path, "--version", NULL}, *release;
  char scratch[PATH_BYTES];
  hd_buf output = {0};
  unsigned major = 0, minor = 0;
  int code = 1;
  if (hd_scratch_make(scratch, sizeof scratch, NULL) != HD_OK) return false;
  const bool ran = run(a, argv, scratch, VERSION_SECONDS, &output, &code) == HD_OK && code == 0;
  if (ran && output.data && (release = strstr(output.data, "release ")) != NULL)
    sscanf(release, "release %u.%u", &major, &minor);
  hd_buf_free(&output);
  hd_scratch_remove(scratch);
  return version / 1000 == major && version % 1000 / 10 == minor;
}

bool hd_assembler_find(const char *wanted, unsigned version, hd_assembler *a) {
  static const char *const names[] = {"ptxas", NULL};
  if (!wanted) wanted = getenv("HEDDLE_PTXAS");
  if (wanted)
    snprintf(a->path, sizeof a->path, "%s", wanted);
  else if (!hd_program_find(names, a->path, sizeof a->path))
    snprintf(a->path, sizeof a->path, "/usr/local/cuda/bin/ptxas");
  return a->path[0] && is_of_release(a, version);
}

/* The architecture that the driver compiles for: the GPU's, with the letter of a text that is for it alone.
 */
static void arch_of(unsigned gpu, const char *text, char *out, size_t cap) {
  const char *target = strstr(text, ".target sm_");
  char letter = 0;
  unsigned arch = 0;
  if (target) sscanf(target, ".target sm_%u%c", &arch, &letter);
  const bool own = arch == gpu && (letter == 'a' || letter == 'f');
  snprintf(out, cap, own ? "-arch=sm_%u%c" : "-arch=sm_%u", gpu, letter);
}

/* A scratch file: it is of no use after a crash, so it need not reach the disk. */
static bool write_text(const char *path, const char *text, size_t len) {
  FILE *f = len <= hd_file_limit() ? fopen(path, "we") : NULL;
  if (!f) return false;
  const bool ok = fwrite(text, 1, len, f) == len;
  return fclose(f) == 0 && ok;
}

static hd_status read_image(const char *path, hd_buf *image, hd_diag *d) {
  hd_file f;
  const hd_status st = hd_file_open(path, &f, d);
  if (st != HD_OK) return st;
  hd_buf_put(image, f.data, f.len);
  hd_file_close(&f);
  return image->failed ? hd_nomem(d) : HD_OK;
}

hd_status hd_assemble(const hd_assembler *a, const char *text, size_t len, const hd_assembler_options *o,
                      const char *folder, hd_buf *image, hd_diag *d) {
  char from[PATH_BYTES], to[PATH_BYTES], arch[32], registers[32];
  const char *argv[10] = {a->path, arch, from, "-o", to};
  size_t n = 5;
  int code = 1;
  hd_buf output = {0};
  const int f = snprintf(from, sizeof from, "%s/kernel.ptx", folder);
  const int t = snprintf(to, sizeof to, "%s/kernel.cubin", folder);
  if (f < 0 || t < 0 || (size_t)t >= sizeof to) return hd_fail(d, HD_ERR_IO, "%s: too long a path", folder);
  if (o->max_registers) {
    snprintf(registers, sizeof registers, "-maxrregcount=%u", o->max_registers);
    argv[n++] = registers;
  }
  if (o->unoptimized) argv[n++] = "-O0";
  arch_of(a->arch, text, arch, sizeof arch);
  hd_status st = HD_ERR_IO;
  if (!write_text(from, text, len))
    hd_fail(d, HD_ERR_IO, "%s cannot be written", from);
  else if (run(a, argv, folder, COMPILE_SECONDS, &output, &code) != HD_OK || code)
    st = hd_fail(d, HD_ERR_UNSUPPORTED, "%s does not take the text", a->path);
  else
    st = read_image(to, image, d);
  hd_buf_free(&output);
  unlink(from);
  unlink(to);
  return st;
}
