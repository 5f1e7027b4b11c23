/* heddle/workload.h: launches that can be repeated.
 *
 * A workload is a folder with workload.toml, a kernel (CUDA C or PTX) and a
 * reference in C. See kernels/README.md for the file's format.
 */
#ifndef HEDDLE_WORKLOAD_H
#define HEDDLE_WORKLOAD_H

#include "heddle/emu.h"
#include "heddle/ptx.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hd_elem {
  HD_ELEM_U8,
  HD_ELEM_S8,
  HD_ELEM_U16,
  HD_ELEM_S16,
  HD_ELEM_U32,
  HD_ELEM_S32,
  HD_ELEM_U64,
  HD_ELEM_S64,
  HD_ELEM_F16,
  HD_ELEM_BF16,
  HD_ELEM_F32,
  HD_ELEM_F64,
} hd_elem;
HD_OWN unsigned hd_elem_bytes(hd_elem e);
HD_OWN const char *hd_elem_name(hd_elem e);

/* The usual bound, absolute and relative, by which sums of such elements differ if they are added up in
 * another order. 0: not a float. */
HD_OWN double hd_elem_sum_tolerance(hd_elem e);

typedef enum hd_compare_kind {
  HD_COMPARE_NONE = 0, /* not an output */
  HD_COMPARE_EXACT,    /* byte for byte */
  HD_COMPARE_NEAR,     /* |x - ref| <= abs + rel * |ref|; NaN equals NaN */
} hd_compare_kind;

typedef struct hd_wl_buffer {
  const char *name; /* of a variable: as PTX has it */
  bool variable; /* it is a .global or .const variable of the module, from its beginning on. Without a fill it
                    holds its initial value */
  hd_elem type;
  uint64_t count, bytes;
  const char *fill; /* as written: "uniform(-1, 1)", "zero", "none", "iota", ... */
  uint64_t seed;    /* by default the buffer's number in the file, from 1 */
  /* How the kernel's result is compared with reference.c. Original against rewritten
   * kernel is always byte for byte, unless `atomics` says that floating-point atomics
   * may reorder sums: then within abs, rel. */
  hd_compare_kind compare;
  double abs, rel;
  bool atomics;
  /* The caller's word that no launch writes it, whatever the text looks like: bypass=ro relies on that.
   * Refused if the text shows a write; checks compare its contents. */
  bool unwritten;
  /* Its address when it was recorded; 0: not known. */
  uint64_t at;
  /* Its elements are addresses in buffer number `pointed`, and what hd_workload_fill writes are zeros in
   * their place: hd_workload_point makes them when it is known where that buffer lies. In a recorded buffer,
   * whose `pointed` is itself, these are the elements that were addresses in any of the buffers;
   * hd_workload_fill writes them as they were recorded. */
  bool points;
  uint32_t pointed;
} hd_wl_buffer;

/* A texture or a surface over a buffer. */
typedef struct hd_wl_image {
  const char *name;
  const char *reference; /* the .texref or .surfref variable that stands for it; NULL: none */
  bool surface;          /* then only the texture's image counts */
  uint32_t buffer;       /* index into buffers */
  hd_texture texture;    /* checked, but for the address, which counts from the buffer's */
} hd_wl_image;

/* A buffer's address, a scalar, a tensor map, the handle of an image, or a struct of these. */
typedef struct hd_wl_arg {
  bool is_buffer;
  uint32_t buffer; /* index into buffers; of tensor maps too */
  uint64_t offset; /* bytes to add to the buffer's address */
  hd_elem type;    /* scalars */
  uint64_t bits;   /* scalar's value in its low bytes */
  /* Tensor maps, else NULL: checked, except the address, which counts from the buffer's. The launching code
   * adds the buffer's address and encodes the map: hd_emu_tensor_map, or the driver's function. */
  const hd_tensor *tensor;
  uint32_t image;                   /* 1 + index into images; 0: none */
  const struct hd_wl_field *fields; /* of a struct, with those of structs in it; else NULL */
  uint32_t n_fields;
  uint64_t bytes; /* of a struct */
} hd_wl_arg;

/* Part of a struct; its other bytes are 0. No struct itself. */
typedef struct hd_wl_field {
  uint64_t at; /* bytes from the struct's beginning */
  hd_wl_arg value;
} hd_wl_field;
/* Bytes that it takes of the parameter block. */
HD_OWN uint64_t hd_wl_arg_bytes(const hd_wl_arg *a);

typedef struct hd_wl_launch {
  const char *kernel;
  uint32_t grid[3], block[3];
  uint32_t dynamic_shared; /* bytes */
  bool cooperative;        /* all its CTAs are resident at once */
  hd_wl_arg *args;
  uint32_t n_args;
} hd_wl_launch;

typedef struct hd_wl_size {
  const char *name; /* "small", "paper", "gpu", ... */
} hd_wl_size;

/* A parameter of the size. The file may give the range for which the kernels are correct: least, least +
 * step, ..., at most `most`. The range may depend on the other parameters. step 0: the file gives none. */
typedef struct hd_wl_param {
  const char *name;
  int64_t value, least, most, step;
} hd_wl_param;

/* Registers that a thread takes on GPUs of one architecture. */
typedef struct hd_wl_registers {
  unsigned arch; /* sm number; 0: any, the only entry */
  uint32_t count;
} hd_wl_registers;

/* One workload at one size, everything evaluated. All memory belongs to it. */
typedef struct hd_workload {
  const char *name, *title, *paper, *category; /* "" when not given */
  const char *folder;                          /* path */
  const char *source;                          /* path of CUDA C, or of a file that holds PTX */
  const char *reference;                       /* path of reference.c, or NULL */
  const char *size;                            /* the size chosen */
  hd_wl_size *sizes;
  uint32_t n_sizes;
  hd_wl_param *params;
  uint32_t n_params;     /* by name */
  hd_wl_buffer *buffers; /* and variables */
  uint32_t n_buffers;
  hd_wl_image *images;
  uint32_t n_images;
  hd_wl_launch *launches;
  uint32_t n_launches;
  hd_wl_registers *registers; /* by architecture, the oldest first; see hd_workload_registers */
  uint32_t n_registers;
  uint64_t module; /* of the source, as hd_container_next counts; UINT64_MAX: the one with the kernels */
  void *priv;
} hd_workload;

/* Registers that a thread takes on a real GPU of that architecture (sm number), for occupancy: those of the
 * entry whose number is nearest, and of the newer of two equally near. 0: the newest entry. Returns 0 if the
 * file does not say. */
HD_OWN uint32_t hd_workload_registers(const hd_workload *w, unsigned arch);

/* `path_or_name`: a workload.toml, a folder that holds one, or the name of a folder under `kernels_dir`
 * (NULL: names are not looked up): its path below kernels_dir as hd_workload_list gives it, or the last part
 * of that path if it is the only one. size NULL: "small". Unknown keys, unknown names, overflow, zero or
 * oversized dimensions are errors with file, line and column. An unknown name or size is HD_ERR_USAGE, and
 * the message names the existing ones. */
HD_API hd_status hd_workload_open(const char *path_or_name, const char *kernels_dir, const char *size,
                                  hd_workload **out, hd_diag *d);
/* With other values for some of the size's parameters: set[i] is "NAME=NUMBER". HD_ERR_USAGE for an unknown
 * parameter, or a value outside its range. */
HD_OWN hd_status hd_workload_open_with(const char *path_or_name, const char *kernels_dir, const char *size,
                                       const char *const *set, size_t n_set, hd_workload **out, hd_diag *d);
HD_API void hd_workload_close(hd_workload *w);
/* The folders under kernels_dir that hold a workload.toml, as paths below it ("matmul-naive",
 * "graphs/bfs"), sorted. Eight folders deep; hidden folders and links are passed over. */
HD_API hd_status hd_workload_list(const char *kernels_dir, char ***names, size_t *n, hd_diag *d);
HD_API void hd_workload_list_free(char **names, size_t n);
/* The same, opened at the size "small"; (*out)[i] is the one of names[i]. Nothing of the working folder is
 * read.
 */
HD_OWN hd_status hd_workload_open_all(const char *kernels_dir, hd_workload ***out, char ***names, size_t *n,
                                      hd_diag *d);
HD_OWN void hd_workload_close_all(hd_workload **workloads, char **names, size_t n);
/* The workloads that are meant by these words, in their order: a folder that holds several stands for all of
 * them, any other word for itself (hd_workload_open judges it). No word: all under kernels_dir. Freed by
 * hd_workload_list_free. */
HD_OWN hd_status hd_workload_names(const char *kernels_dir, char *const *words, size_t n_words, char ***names,
                                   size_t *n, hd_diag *d);

/* The PTX text of the workload's kernel for `arch` (sm number, e.g. 80): read, or compiled with nvcc if it is
 * on the PATH, else with clang without any CUDA toolkit; kept in the cache folder by content. Without either
 * compiler, the text that hd_workload_keep_ptx left is read. The text is NUL-terminated and belongs to *out.
 * A compiler's message travels in the diagnostic. `compiler` (may be NULL) gets "nvcc", "clang" or "ptx". */
HD_OWN hd_status hd_workload_ptx(const hd_workload *w, unsigned arch, hd_buf *out, const char **compiler,
                                 hd_diag *d);

/* Keep that text beside the source, as SOURCE.sm_80.ptx, for machines without a compiler; it serves as long
 * as the source stays the same. Nothing to do for sources that are PTX. */
HD_OWN hd_status hd_workload_keep_ptx(const hd_workload *w, unsigned arch, hd_diag *d);

/* One of the kernels that a workload launches. */
typedef struct hd_wl_kernel {
  const char *name;
  uint32_t func;            /* in the module */
  uint32_t first;           /* its first launch */
  uint32_t n_launches;      /* of it */
  bool one_grid, one_block; /* all its launches have the same */
} hd_wl_kernel;

/* A workload's kernels as compiled for one architecture. */
typedef struct hd_compiled {
  const hd_workload *workload;
  unsigned arch;        /* 0: the source is PTX, one text for every architecture */
  const char *compiler; /* "nvcc", "clang" or "ptx" */
  const char *label;    /* of the text in messages: "NAME's PTX" */
  const char *text;     /* NUL-terminated */
  size_t len;
  const hd_ptx_module
      *module; /* the text, parsed; shared by all users and read-only, so a rewriter parses its own copy */
  hd_wl_kernel *kernels; /* in the order of their first launches */
  uint32_t n_kernels;
  uint32_t *kernel_of; /* per launch: index into kernels */
} hd_compiled;

/* The workload's kernels for `arch`. Compiled and parsed by the first call for an architecture and kept until
 * the workload is closed, so every user sees one text: its statements, its load numbers, its registers.
 * Several threads may call at once. HD_ERR_INPUT when a kernel that is launched is not in the module. */
HD_OWN hd_status hd_workload_compiled(const hd_workload *w, unsigned arch, const hd_compiled **out,
                                      hd_diag *d);

/* Fill a buffer's bytes as its workload says: the same on every machine and for every
 * number of threads. "none" leaves them alone (*written false); "generate" is
 * HD_ERR_USAGE, since those buffers are made together. */
HD_OWN hd_status hd_workload_fill(const hd_workload *w, uint32_t buffer, void *dst, bool *written,
                                  hd_diag *d);

/* The same for all buffers: buffers[i] has room for buffers[i].bytes; written[i] as above. Those
 * marked "generate" are zeroed, then heddle_generate of reference.c is called once with everything. */
HD_OWN hd_status hd_workload_fill_all(const hd_workload *w, void *const *buffers, bool *written, hd_diag *d);

/* Whether a buffer's bytes come from a file: its path, in room for `cap` bytes. HD_ERR_USAGE: it has no room.
 */
HD_OWN hd_status hd_workload_fill_path(const hd_workload *w, uint32_t buffer, char *path, size_t cap,
                                       bool *found, hd_diag *d);

/* The contents of a buffer that points, if buffer k lies at addresses[k]: dst has room for its bytes.
 * HD_ERR_INPUT: an element points outside the buffer that it names. */
HD_OWN hd_status hd_workload_point(const hd_workload *w, uint32_t buffer, const uint64_t *addresses,
                                   void *dst, hd_diag *d);

/* Run reference.c on host buffers: compiled with the system's C compiler, kept in the cache
 * folder by content. buffers[i] holds buffers[i].bytes, inputs filled; outputs are
 * overwritten. HD_ERR_UNSUPPORTED when the workload has none. */
HD_OWN hd_status hd_workload_reference(const hd_workload *w, void *const *buffers, hd_diag *d);

/* Compare as `how` says. On a difference returns false, with the element and both values. */
HD_OWN bool hd_elem_compare(hd_elem type, hd_compare_kind how, double abs, double rel, const void *got,
                            const void *want, uint64_t count, char *what, size_t cap);

/* ---- Launches in words -------------------------------------------------------------------------- */

/* A kind of word that describes launches of a file's kernels: a command line has it behind --NAME. */
typedef struct hd_launch_option {
  const char *name;
  char letter;          /* 0: none */
  const char *argument; /* "X[,Y[,Z]]" */
  const char *help;     /* lines */
} hd_launch_option;
/* Number i of them, in the order of a help text; NULL: there are no more. */
HD_OWN const hd_launch_option *hd_launch_option_at(size_t i);

/* A parameter of a kernel. */
typedef struct hd_parameter {
  const char *type; /* PTX's: "u64", "f32", "b8" of bytes */
  uint64_t bytes;
  char c[96];  /* as C++ writes its type: "float const*", where the kernel's name says it; else "" */
  bool points; /* that is a pointer */
  const char *elem, *fill; /* a type that arguments have, hd_elem_name's, of it or of where it points, and a
                              fill to suggest; NULL: another type, or not known */
} hd_parameter;
/* Those of function `func`, in order: at most cap are stored, their number is returned. Texts but c are the
 * module's or constants. */
HD_OWN size_t hd_kernel_parameters(const hd_ptx_module *m, uint32_t func, hd_parameter *out, size_t cap);

typedef struct hd_launch_word {
  const char *option; /* hd_launch_option.name */
  const char *text;
} hd_launch_word;

/* A workload as a command line names it. Zero is the default of each field but the name. */
typedef struct hd_workload_request {
  /* As hd_workload_open has it, or a file with kernels: CUDA C, or anything that hd_container_open takes. */
  const char *name;
  const char *kernels_dir, *size;
  const char *preferred;  /* the default size, if the workload has it */
  const char *const *set; /* as in hd_workload_open_with */
  size_t n_set;
  /* Of a file: its launches, in the order given. A kernel is named as people call it (hd_kernel_find). Grid,
   * block and shared memory hold for the launches behind them too; the second word "kernel" begins the second
   * launch, and so on. */
  const hd_launch_word *words;
  size_t n_words;
  const char *save; /* of a file: a folder, made if need be, to keep the workload in */
} hd_workload_request;

/* Whether a path names a file with kernels, not a workload. */
HD_OWN bool hd_workload_is_file(const char *path);
/* The workload of a file is named after the file and its kernels, has the size "small", and reads the files
 * that it names from the working folder. A wrong word is HD_ERR_USAGE, whose message names it. */
HD_API hd_status hd_workload_request_open(const hd_workload_request *q, hd_workload **out, hd_diag *d);
/* The same workload at another size. */
HD_OWN hd_status hd_workload_reopen(const hd_workload *w, const char *size, hd_workload **out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
