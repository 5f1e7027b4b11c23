/* workload/workload.h: declarations shared by the files of this floor.
 *
 * description.c  workload.toml -> hd_workload,         size_expr.c  size expressions
 *             by the parts in reader.h              elem.c     element types
 * lookup.c    names and folders                     headers.c.in  kernels/include, as bytes
 * describe.c  words of a command line -> workload.toml, with describe_data.c
 * fill.c      buffers' first contents               elem_compare.c  results against references
 * whole.c     fills that make whole buffers         number_files.c  numbers in NumPy's files and in text
 * compile.c   kernel.cu -> PTX                      reference.c  reference.c, built and called
 * compiled.c  PTX -> kernels, kept with the workload
 * toolchain.c compilers on this machine             built.c    built files, kept by content
 */
#ifndef HEDDLE_WORKLOAD_WORKLOAD_H
#define HEDDLE_WORKLOAD_WORKLOAD_H

#include <pthread.h>

#include "heddle/workload.h"

__extension__ typedef unsigned __int128 wl_u128;

/* ---- Expressions -------------------------------------------------------- */

/* The names that an expression may use: the parameters of the chosen size, sorted. */
typedef struct wl_name {
  const char *name;
  int64_t value;
} wl_name;

typedef struct wl_names {
  const wl_name *data;
  size_t n;
} wl_names;

/* A mistake in a text, and the byte at which it is. */
typedef struct wl_error {
  size_t offset;
  char message[512];
} wl_error;
/* Fill *e; returns false. */
bool wl_error_set(wl_error *e, size_t offset, const char *fmt, ...) HD_PRINTF(3, 4);

/* A letter or '_', then letters, digits and '_'. */
bool wl_is_identifier(const char *s, size_t n);

/* Evaluate text[0..len): 64-bit integers, + - * / % ( ), division truncating as in C, and the
 * functions of wl_functions. Overflow, division by zero, unknown names and anything left
 * over are errors. */
bool wl_eval(const char *text, size_t len, wl_names names, int64_t *value, wl_error *e);
/* "ceil_div(a, b), min(a, b), ...": for messages and tests. */
const char *wl_functions(void);

/* ---- Elements ----------------------------------------------------------- */

typedef struct wl_elem_info {
  const char *name;
  uint8_t bytes;
  bool is_float, is_signed;
  uint8_t exponent, mantissa; /* bits of a float's fields */
} wl_elem_info;

/* NULL for a value that is no hd_elem. */
const wl_elem_info *wl_elem(hd_elem e);
bool wl_elem_parse(const char *name, hd_elem *out);
/* "u8, s8, ...": for messages. */
const char *wl_elem_list(void);

/* True when an integer type holds v; always for the float types. */
bool wl_elem_holds(hd_elem e, int64_t v);
/* Element i of an array, as a double: exact but for 64-bit integers beyond 2^53. */
double wl_elem_get(hd_elem e, const void *array, uint64_t i);
/* The low bytes of an element's bit pattern: v rounded to nearest even (float types), or
 * the integer v cut to the type. */
uint64_t wl_elem_from_double(hd_elem e, double v);
uint64_t wl_elem_from_int(hd_elem e, int64_t v);
/* The same for n elements of an array; doubles only for the float types. */
void wl_elem_put_doubles(hd_elem e, const double *v, unsigned n, void *out);
void wl_elem_put_ints(hd_elem e, const int64_t *v, unsigned n, void *out);

/* ---- Fills -------------------------------------------------------------- */

enum { WL_FILL_PARAMS = 4 };
typedef struct wl_fill_kind wl_fill_kind;
typedef struct wl_fill {
  const wl_fill_kind *kind;
  double number[WL_FILL_PARAMS]; /* by parameter; the fill's kind decides which of both holds */
  int64_t integer[WL_FILL_PARAMS];
  const char *file;   /* path below the workload's folder, or absolute */
  const char *text;   /* an expression of i */
  wl_names names;     /* of the expression; i is the first */
  const char *buffer; /* another one's name */
} wl_fill;

/* Parse "uniform(-1, 1)" for elements of `type`. Strings are copied into *arena. */
bool wl_fill_parse(const char *text, hd_elem type, wl_names names, hd_arena *arena, wl_fill *out,
                   wl_error *e);
/* A decimal number, with or without fraction and exponent, that fills s[0..n). */
bool wl_decimal(const char *s, size_t n, double *v);
/* The buffer that it is a copy of, or that its elements point to; NULL: it is none. */
const char *wl_fill_copies(const wl_fill *f);
const char *wl_fill_points_to(const wl_fill *f);
/* True for "recorded(...)": bytes of a file, some words of which are addresses. */
bool wl_fill_is_recorded(const wl_fill *f);
/* True for "generate". */
bool wl_fill_is_generated(const wl_fill *f);
/* Run heddle_generate of the workload's reference.c on buffers that are filled otherwise. */
hd_status wl_run_generator(const hd_workload *w, void *const *buffers, hd_diag *d);
/* The same, from a copy that is kept of the second run; filled[i]: buffer i was filled before. */
hd_status wl_generate(const hd_workload *w, void *const *buffers, const bool *filled, hd_diag *d);
void wl_generated_free(void **bytes, uint32_t n); /* NULL is fine */
/* Elements first .. first+n-1 of a buffer; dst is element `first`. False when the kind only
 * makes whole buffers or leaves them alone. */
bool wl_fill_range(const hd_workload *w, uint32_t buffer, uint64_t first, uint64_t n, void *dst);

/* ---- Files -------------------------------------------------------------- */

/* A workload.toml to be read. Zero is the default of each field but text, len, path and folder. */
typedef struct wl_input {
  const char *text;
  size_t len;
  const char *path, *folder; /* of the text, for messages; that its files are relative to */
  const char *name;          /* of the workload; NULL: the folder's */
  const char *source;        /* in place of the text's, whatever bytes the path has; NULL: the text's */
  const char *size;          /* NULL: `preferred`, if there is such a size, else "small" */
  const char *preferred;
  const char *const *set; /* as hd_workload_open_with has it */
  size_t n_set;
  bool check_files; /* do source and reference exist? No other file is looked at */
  bool keep;        /* the text is in no file: keep it for hd_workload_reopen */
} wl_input;

/* The texts that a workload was compiled to so far. */
typedef struct wl_compiled {
  struct wl_compiled *next;
  hd_arena arena; /* holds all that `of` points to */
  hd_buf text;
  unsigned arch; /* asked for */
  hd_compiled of;
} wl_compiled;

/* hd_workload.priv */
typedef struct wl_private {
  hd_arena arena;       /* holds the workload and everything it points to */
  wl_names sizes;       /* parameters of the chosen size */
  wl_fill *fills;       /* by buffer */
  wl_input kept;        /* text NULL: in a file of the folder */
  pthread_mutex_t lock; /* of the following; held while kernels are compiled and buffers generated */
  wl_compiled *compiled;
  unsigned generations; /* calls of heddle_generate */
  void **generated;     /* per buffer: a copy of what it holds behind them; NULL: none is kept */
} wl_private;
void wl_compiled_free(wl_compiled *c); /* the whole list */

hd_status wl_read(const wl_input *in, hd_workload **out, hd_diag *d);

/* The workload of a file with kernels. */
hd_status wl_describe(const hd_workload_request *q, hd_workload **out, hd_diag *d);

/* folder/name, or name itself when it is absolute. */
char *wl_join(hd_arena *a, const char *folder, const char *name);

/* True for regular files: a workload's files are read whole, and devices and pipes may have no end. */
bool wl_is_file(const char *path);

/* ---- Hashes and the cache ----------------------------------------------- */

/* A C or CUDA source and every file it reaches through #include "...": a superset of the
 * files that the compiler reads, since conditions are not evaluated. `anywhere`: files below the source's
 * folder count by their paths from there, so that the folder may move. */
hd_status wl_hash_source(hd_digest *h, const char *path, bool anywhere, hd_diag *d);

/* Its entry for a key; "" when there is no cache. */
void wl_cache_path(hd_digest key, const char *extension, char *out, size_t cap);
/* True when the entry is there and whole: *f is the mapped file (hd_file_close), and *len its length before
 * the seal. A damaged entry is removed. */
bool wl_cache_open(const char *path, hd_file *f, size_t *len);
/* Seal and store; failure leaves the cache as it was. */
bool wl_cache_store(const char *path, const void *data, size_t len);

/* ---- Compilers ---------------------------------------------------------- */

enum { WL_PATH = 4096 };

/* Path, size and time of a program: stands for its version in cache keys, at the price of a stat instead of a
 * process. Environment variables that compilers heed are added. */
void wl_hash_compiler(hd_digest *h, const char *path);

/* HD_ERR_INPUT with the first error of a compiler's output, its place where it has one. */
hd_status wl_compiler_error(const char *program, const char *output, int code, hd_diag *d);

typedef enum wl_toolchain { WL_NVCC = 0, WL_CLANG, WL_TOOLCHAINS } wl_toolchain;
const char *wl_toolchain_name(wl_toolchain t);
/* kernel.cu through one toolchain. HD_ERR_MISSING when it is not installed, HD_ERR_UNSUPPORTED when it has no
 * target at or below `arch`. */
hd_status wl_compile(const hd_workload *w, unsigned arch, wl_toolchain t, hd_buf *out, hd_diag *d);
/* The text that hd_workload_keep_ptx left, if the source is still the same; else HD_ERR_UNSUPPORTED. */
hd_status wl_kept_read(const hd_workload *w, unsigned arch, hd_buf *out, hd_diag *d);

/* The headers of kernels/include, part of the library so that it needs no installation path. */
typedef struct wl_header {
  const char *name, *text;
  size_t len;
} wl_header;
extern const wl_header wl_heddle_cuda_h, wl_heddle_reference_h, wl_heddle_inputs_h;
/* Write one into a folder. */
hd_status wl_header_write(const wl_header *h, const char *folder, hd_diag *d);

#endif
