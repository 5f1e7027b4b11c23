/* workload/describe.h: launches described in words, on their way to the text of a workload.toml. */
#ifndef HEDDLE_WORKLOAD_DESCRIBE_H
#define HEDDLE_WORKLOAD_DESCRIBE_H

#include "workload/workload.h"

/* Kernels are compiled for it where only their names, or a text to keep, are wanted. */
enum { DESCRIBE_ARCH = 80 };

/* Lines of TOML, and of each the number of the word that it comes from; SIZE_MAX: of none. */
typedef struct describe_piece {
  hd_buf text;
  HD_VEC(size_t) words;
  size_t read; /* bytes of the text whose lines are known */
} describe_piece;

typedef struct describing {
  const hd_workload_request *q;
  hd_arena *arena;
  size_t at;                  /* the word at hand */
  hd_ptx_module *module;      /* of the first kernel; NULL: not found yet */
  uint64_t index;             /* its number in the file; UINT64_MAX: not known, or CUDA C */
  hd_buf title;               /* of the kernels */
  HD_VEC(const char *) names; /* of buffers */
  describe_piece buffers, launches;
  /* The launch at hand. */
  bool has_kernel;
  const char *kernel; /* NULL: the only one */
  describe_piece grid, block, shared, args;
  size_t n_args; /* of all launches so far */
  /* Of all buffers of floats. */
  double near; /* 0: not given */
  bool atomics;
  bool cooperative;      /* every launch */
  unsigned depth;        /* of structs around the argument at hand */
  const char *unwritten; /* names, joined by commas; NULL: none */
  size_t unwritten_word;
} describing;

/* The lines that a piece got since the last call come from word number `word`. */
void describe_credit(describing *s, describe_piece *p, size_t word);
/* "--arg '...' `what`" */
hd_status describe_bad_word(const describing *s, hd_diag *d, const char *what);

/* A table [[buffer]] or [[variable]] of TYPE[COUNT]=FILL. */
bool describe_is_buffer(const char *text);
hd_status describe_memory(describing *s, const char *table, const char *name, const char *text, hd_diag *d);
/* The argument that is the name of something made for it; later ones may name it again. */
hd_status describe_name(describing *s, const char *name, hd_diag *d);
/* [NAME=]ARGUMENT, of which `unnamed` is the name where it has none. */
hd_status describe_arg(describing *s, const char *unnamed, const char *text, hd_diag *d);

/* parameters.c: the parameters with their types, and options to be filled in, on one line. */
hd_status describe_parameters(const hd_ptx_module *m, uint32_t func, hd_buf *out, hd_diag *d);

/* describe_data.c: structs, textures and surfaces, variables */
bool describe_is_struct(const char *text);
hd_status describe_put_struct(describing *s, const char *name, const char *text, hd_diag *d);
bool describe_is_image(const char *text);
hd_status describe_put_image(describing *s, const char *name, const char *text, hd_diag *d);
hd_status describe_set(describing *s, const char *text, hd_diag *d);

#endif
