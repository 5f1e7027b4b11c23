/* nvJitLink's functions: PTX is linked to PTX. NVIDIA's own linker makes PTX of LTO-IR before. */
#include "cuda/loader/jitlink.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/core.h"

struct jitlink_ {
  core_image image;
  hd_buf text;
  hd_diag d; /* of the last failure */
  HD_VEC(char *) options;
  jitlink_handle real; /* NVIDIA's, with the inputs that are LTO-IR; NULL: there is none */
};

jitlink_functions jitlink_real;

static bool add_option(jitlink_handle link, const char *text) {
  char *copy = strdup(text);
  if (copy && hd_vec_push(&link->options, copy)) return true;
  free(copy);
  return false;
}

/* The program's options are for LTO-IR: what is linked as PTX takes none. */
int jitlink_Create(jitlink_handle *link, uint32_t n, const char **options) {
  if (!link || (n && !options)) return JITLINK_NULL_INPUT;
  *link = calloc(1, sizeof **link);
  bool ok = *link != NULL;
  for (uint32_t k = 0; ok && k < n; k++) ok = add_option(*link, options[k]);
  if (ok) return JITLINK_SUCCESS;
  jitlink_Destroy(link);
  return JITLINK_INTERNAL;
}

int jitlink_Destroy(jitlink_handle *link) {
  if (!link || !*link) return JITLINK_NULL_INPUT;
  if ((*link)->real) jitlink_real.Destroy(&(*link)->real);
  for (size_t k = 0; k < (*link)->options.n; k++) free((*link)->options.data[k]);
  hd_vec_free(&(*link)->options);
  core_image_free(&(*link)->image);
  hd_buf_free(&(*link)->text);
  free(*link);
  *link = NULL;
  return JITLINK_SUCCESS;
}

static int failed(const hd_diag *d, int result) {
  char line[1600];
  core_say("%s", hd_diag_line(d, line, sizeof line));
  return d->status == HD_ERR_NOMEM ? JITLINK_INTERNAL : result;
}

/* ---- LTO-IR -------------------------------------------------------------------------------------- */

static bool has_option(const struct jitlink_ *link, const char *text) {
  for (size_t k = 0; k < link->options.n; k++)
    if (strcmp(link->options.data[k], text) == 0) return true;
  return false;
}

static int refuse_lto(jitlink_handle link) {
  hd_fail(&link->d, HD_ERR_UNSUPPORTED,
          "the program links LTO-IR, which NVIDIA's linker does not turn to PTX here: have it make PTX");
  return failed(&link->d, JITLINK_INCORRECT_TYPE);
}

static int add_lto(jitlink_handle link, const void *data, size_t bytes, const char *name) {
  const jitlink_functions *real = &jitlink_real;
  if (!real->Create || !real->AddData || !real->Complete || !real->Destroy || !real->GetLinkedPtxSize ||
      !real->GetLinkedPtx)
    return refuse_lto(link);
  int r = JITLINK_SUCCESS;
  if (!link->real) {
    if (!(has_option(link, "-lto") || add_option(link, "-lto")) ||
        !(has_option(link, "-ptx") || add_option(link, "-ptx")))
      return JITLINK_INTERNAL;
    r = real->Create(&link->real, (uint32_t)link->options.n, (const char **)link->options.data);
  }
  return r == JITLINK_SUCCESS ? real->AddData(link->real, JITLINK_LTO_IR, data, bytes, name) : r;
}

/* Code that was LTO-IR becomes one of the texts. */
static int finish_lto(jitlink_handle link) {
  size_t bytes;
  int r = jitlink_real.Complete(link->real);
  if (r == JITLINK_SUCCESS) r = jitlink_real.GetLinkedPtxSize(link->real, &bytes);
  if (r != JITLINK_SUCCESS) return refuse_lto(link);
  char *text = malloc(bytes + 1);
  if (!text) return JITLINK_INTERNAL;
  text[bytes] = 0;
  r = jitlink_real.GetLinkedPtx(link->real, text);
  if (r == JITLINK_SUCCESS) r = jitlink_AddData(link, JITLINK_PTX, text, strlen(text), NULL);
  free(text);
  jitlink_real.Destroy(&link->real);
  return r;
}

/* ---- Inputs and outputs ---------------------------------------------------------------------- */

static hd_status add(jitlink_handle link, int type, const void *data, size_t bytes) {
  const unsigned arch = (unsigned)core.settings.arch;
  return type == JITLINK_OBJECT || type == JITLINK_LIBRARY
             ? core_image_add_archive(&link->image, data, bytes, arch, &link->d)
             : core_image_add_bytes(&link->image, data, bytes, arch, &link->d);
}

int jitlink_AddData(jitlink_handle link, int type, const void *data, size_t bytes, const char *name) {
  if (!link || !data) return JITLINK_NULL_INPUT;
  if (type == JITLINK_LTO_IR) return add_lto(link, data, bytes, name);
  if ((type < JITLINK_CUBIN || type > JITLINK_LIBRARY) && type != JITLINK_ANY) return JITLINK_INCORRECT_TYPE;
  pthread_mutex_lock(&core.lock);
  cu_result r = core_start();
  hd_status st =
      r == CU_SUCCESS ? add(link, type, data, bytes) : hd_fail(&link->d, HD_ERR_INPUT, "there is no device");
  pthread_mutex_unlock(&core.lock);
  return st == HD_OK ? JITLINK_SUCCESS : failed(&link->d, JITLINK_INVALID_INPUT);
}

int jitlink_AddFile(jitlink_handle link, int type, const char *path) {
  hd_file f;
  if (!link || !path) return JITLINK_NULL_INPUT;
  if (hd_file_open(path, &f, &link->d) != HD_OK) return JITLINK_INVALID_INPUT;
  const int r = jitlink_AddData(link, type, f.data, f.len, path);
  hd_file_close(&f);
  return r;
}

int jitlink_Complete(jitlink_handle link) {
  if (!link) return JITLINK_NULL_INPUT;
  const int r = link->real ? finish_lto(link) : JITLINK_SUCCESS;
  if (r != JITLINK_SUCCESS) return r;
  hd_buf_free(&link->text);
  const hd_status st = core_image_link(&link->image, &link->text, &link->d);
  return st == HD_OK ? JITLINK_SUCCESS : failed(&link->d, JITLINK_PTX_COMPILE);
}

/* The text with its zero, which marks its end when it is loaded. */
int jitlink_GetLinkedCubinSize(jitlink_handle link, size_t *bytes) {
  if (!link || !bytes) return JITLINK_NULL_INPUT;
  if (!link->text.data) return JITLINK_INVALID_INPUT;
  *bytes = link->text.len + 1;
  return JITLINK_SUCCESS;
}

int jitlink_GetLinkedCubin(jitlink_handle link, void *out) {
  if (!link || !out) return JITLINK_NULL_INPUT;
  if (!link->text.data) return JITLINK_INVALID_INPUT;
  memcpy(out, link->text.data, link->text.len + 1);
  return JITLINK_SUCCESS;
}

int jitlink_GetLinkedPtxSize(jitlink_handle link, size_t *bytes) {
  return jitlink_GetLinkedCubinSize(link, bytes);
}
int jitlink_GetLinkedPtx(jitlink_handle link, void *out) { return jitlink_GetLinkedCubin(link, out); }

int jitlink_GetErrorLogSize(jitlink_handle link, size_t *bytes) {
  if (!link || !bytes) return JITLINK_NULL_INPUT;
  *bytes = strlen(link->d.message) + 1;
  return JITLINK_SUCCESS;
}

int jitlink_GetErrorLog(jitlink_handle link, char *out) {
  if (!link || !out) return JITLINK_NULL_INPUT;
  memcpy(out, link->d.message, strlen(link->d.message) + 1);
  return JITLINK_SUCCESS;
}

int jitlink_GetInfoLogSize(jitlink_handle link, size_t *bytes) {
  if (!link || !bytes) return JITLINK_NULL_INPUT;
  *bytes = 1;
  return JITLINK_SUCCESS;
}

int jitlink_GetInfoLog(jitlink_handle link, char *out) {
  if (!link || !out) return JITLINK_NULL_INPUT;
  *out = 0;
  return JITLINK_SUCCESS;
}
