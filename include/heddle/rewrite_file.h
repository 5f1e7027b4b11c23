/* heddle/rewrite_file.h: whole files under one plan: every kernel of every module that is not refused. */
#ifndef HEDDLE_REWRITE_FILE_H
#define HEDDLE_REWRITE_FILE_H

#include "heddle/rewrite.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_rewrite_file_options {
  const char *path;
  const char *output; /* a file, "-", or an existing folder, which gets a file a module */
  uint64_t index;     /* of the module; UINT64_MAX: all */
  uint64_t sample;    /* so many modules, spread evenly; 0: all */
  const hd_plan *plan;
  const hd_rewrite_options *options;
  /* hd_rewrite_kernel: complete the options once the kernel is known; NULL: they are complete. */
  hd_status (*prepare)(void *ctx, const hd_ptx_module *m, uint32_t func, hd_rewrite_options *options,
                       hd_diag *d);
  void *ctx;
} hd_rewrite_file_options;

typedef struct hd_rewrite_reason {
  char text[128];
  uint64_t kernels;
} hd_rewrite_reason;

typedef struct hd_rewritten_module {
  const char *path, *target; /* the file written; as .target says */
  uint32_t module;           /* its number */
  uint64_t rewritten;        /* kernels */
} hd_rewritten_module;

typedef struct hd_rewritten_file {
  uint64_t modules, unread, kernels, rewritten; /* kernels: with a body; of modules that were chosen */
  HD_VEC(hd_rewrite_reason) reasons; /* of kernels that are as they were; the most frequent first */
  HD_VEC(hd_rewritten_module) files;
  hd_arena arena; /* holds their texts */
} hd_rewritten_file;

/* Kernels for which the plan is refused stay as they are. The launches of rewritten kernels are described at
 * the end of each module's text, by hd_recipe_print. */
HD_API hd_status hd_rewrite_file(const hd_rewrite_file_options *o, hd_rewritten_file *out, hd_diag *d);
HD_API void hd_rewritten_file_free(hd_rewritten_file *r);
/* One kernel, named as hd_kernel_find has it, and the whole module with it to a file. How it is launched
 * from now on is appended to *launch, which may be NULL, as lines for people. */
HD_API hd_status hd_rewrite_kernel(const hd_rewrite_file_options *o, const char *kernel, hd_buf *launch,
                                   hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
