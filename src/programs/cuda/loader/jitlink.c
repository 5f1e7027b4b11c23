/* nvJitLink's functions: PTX is linked to PTX. NVIDIA's own linker makes PTX of LTO-IR before. */
#include "cuda/loader/jitlink.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/core.h"

enum { /* nvJitLinkResult */
       OK = 0,
       INVALID_INPUT = 3,
       PTX_COMPILE = 4,
       INTERNAL = 6,
       NULL_INPUT = 10,
       INCORRECT_TYPE = 12,
};
enum {
  CUBIN = 1,
  PTX = 2,
  LTO_IR = 3,
  FATBIN = 4,
  OBJECT = 5,
  LIBRARY = 6,
  ANY = 10
}; /* nvJitLinkInputType */

struct jitlink {
  core_image image;
  hd_buf text;
  hd_diag d; /* of the last failure */
  HD_VEC(char *) options;
  jitlink *real; /* NVIDIA's, with the inputs that are LTO-IR; NULL: there is none */
};

jitlink_functions jitlink_real;

static bool add_option(jitlink *link, const char *text) {
  char *copy = strdup(text);
  if (copy && hd_vec_push(&link->options, copy)) return true;
  free(copy);
  return false;
}

/* The program's options are for LTO-IR: what is linked as PTX takes none. */
int jitlink_Create(jitlink **link, uint32_t n, const char **options) {
  if (!link || (n && !options)) return NULL_INPUT;
  *link = calloc(1, sizeof **link);
  bool ok = *link != NULL;
  for (uint32_t k = 0; ok && k < n; k++) ok = add_option(*link, options[k]);
  if (ok) return OK;
  jitlink_Destroy(link);
  return INTERNAL;
}

int jitlink_Destroy(jitlink **link) {
  if (!link || !*link) return NULL_INPUT;
  if ((*link)->real) jitlink_real.Destroy(&(*link)->real);
  for (size_t k = 0; k < (*link)->options.n; k++) free((*link)->options.data[k]);
  hd_vec_free(&(*link)->options);
  core_image_free(&(*link)->image);
  hd_buf_free(&(*link)->text);
  free(*link);
  *link = NULL;
  return OK;
}

static int failed(const hd_diag *d, int result) {
  char line[1600];
  core_say("%s", hd_diag_line(d, line, sizeof line));
  return d->status == HD_ERR_NOMEM ? INTERNAL : result;
}

/* ---- LTO-IR -------------------------------------------------------------------------------------- */

static bool has_option(const jitlink *link, const char *text) {
  for (size_t k = 0; k < link->options.n; k++)
    if (strcmp(link->options.data[k], text) == 0) return true;
  return false;
}

static int refuse_lto(jitlink *link) {
  hd_fail(&link->d, HD_ERR_UNSUPPORTED,
          "the program links LTO-IR, which NVIDIA's linker does not turn to PTX here: have it make PTX");
  return failed(&link->d, INCORRECT_TYPE);
}

static int add_lto(jitlink *link, const void *data, size_t bytes, const char *name) {
  const jitlink_functions *real = &jitlink_real;
  if (!real->Create || !real->AddData || !real->Complete || !real->Destroy || !real->GetLinkedPtxSize ||
      !real->GetLinkedPtx)
    return refuse_lto(link);
  int r = OK;
  if (!link->real) {
    if (!(has_option(link, "-lto") || add_option(link, "-lto")) ||
        !(has_option(link, "-ptx") || add_option(link, "-ptx")))
      return INTERNAL;
    r = real->Create(&link->real, (uint32_t)link->options.n, (const char **)link->options.data);
  }
  return r == OK ? real->AddData(link->real, LTO_IR, data, bytes, name) : r;
}

/* Code that was LTO-IR becomes one of the texts. */
static int finish_lto(jitlink *link) {
  size_t bytes;
  int r = jitlink_real.Complete(link->real);
  if (r == OK) r = jitlink_real.GetLinkedPtxSize(link->real, &bytes);
  if (r != OK) return refuse_lto(link);
  char *text = malloc(bytes + 1);
  if (!text) return INTERNAL;
  text[bytes] = 0;
  r = jitlink_real.GetLinkedPtx(link->real, text);
  if (r == OK) r = jitlink_AddData(link, PTX, text, strlen(text), NULL);
  free(text);
  jitlink_real.Destroy(&link->real);
  return r;
}

/* ---- Inputs and outputs ---------------------------------------------------------------------- */

static hd_status add(jitlink *link, int type, const void *data, size_t bytes) {
  const unsigned arch = (unsigned)core.settings.arch;
  return type == OBJECT || type == LIBRARY ? core_image_add_archive(&link->image, data, bytes, arch, &link->d)
                                           : core_image_add_bytes(&link->image, data, bytes, arch, &link->d);
}

int jitlink_AddData(jitlink *link, int type, const void *data, size_t bytes, const char *name) {
  if (!link || !data) return NULL_INPUT;
  if (type == LTO_IR) return add_lto(link, data, bytes, name);
  if ((type < CUBIN || type > LIBRARY) && type != ANY) return INCORRECT_TYPE;
  pthread_mutex_lock(&core.lock);
  cu_result r = core_start();
  hd_status st =
      r == CU_SUCCESS ? add(link, type, data, bytes) : hd_fail(&link->d, HD_ERR_INPUT, "there is no device");
  pthread_mutex_unlock(&core.lock);
  return st == HD_OK ? OK : failed(&link->d, INVALID_INPUT);
}

int jitlink_AddFile(jitlink *link, int type, const char *path) {
  hd_file f;
  if (!link || !path) return NULL_INPUT;
  if (hd_file_open(path, &f, &link->d) != HD_OK) return INVALID_INPUT;
  const int r = jitlink_AddData(link, type, f.data, f.len, path);
  hd_file_close(&f);
  return r;
}

int jitlink_Complete(jitlink *link) {
  if (!link) return NULL_INPUT;
  const int r = link->real ? finish_lto(link) : OK;
  if (r != OK) return r;
  hd_buf_free(&link->text);
  const hd_status st = core_image_link(&link->image, &link->text, &link->d);
  return st == HD_OK ? OK : failed(&link->d, PTX_COMPILE);
}

/* The text with its zero, which tells where it ends when it is loaded. */
int jitlink_GetLinkedCubinSize(jitlink *link, size_t *bytes) {
  if (!link || !bytes) return NULL_INPUT;
  if (!link->text.data) return INVALID_INPUT;
  *bytes = link->text.len + 1;
  return OK;
}

int jitlink_GetLinkedCubin(jitlink *link, void *out) {
  if (!link || !out) return NULL_INPUT;
  if (!link->text.data) return INVALID_INPUT;
  memcpy(out, link->text.data, link->text.len + 1);
  return OK;
}

int jitlink_GetLinkedPtxSize(jitlink *link, size_t *bytes) { return jitlink_GetLinkedCubinSize(link, bytes); }
int jitlink_GetLinkedPtx(jitlink *link, void *out) { return jitlink_GetLinkedCubin(link, out); }

int jitlink_GetErrorLogSize(jitlink *link, size_t *bytes) {
  if (!link || !bytes) return NULL_INPUT;
  *bytes = strlen(link->d.message) + 1;
  return OK;
}

int jitlink_GetErrorLog(jitlink *link, char *out) {
  if (!link || !out) return NULL_INPUT;
  memcpy(out, link->d.message, strlen(link->d.message) + 1);
  return OK;
}

int jitlink_GetInfoLogSize(jitlink *link, size_t *bytes) {
  if (!link || !bytes) return NULL_INPUT;
  *bytes = 1;
  return OK;
}

int jitlink_GetInfoLog(jitlink *link, char *out) {
  if (!link || !out) return NULL_INPUT;
  *out = 0;
  return OK;
}
