/* heddle/container.h: reads PTX modules from files.
 *
 * It opens a .ptx text, a raw fatbin, or an ELF executable, shared library or relocatable object (or an ar
 * archive of those) whose sections hold fatbins, and hands out one PTX text at a time: memory is bounded by
 * the largest module, not by the file. Entries may be plain, LZ4- or zstd-compressed. Fatbins are found in
 * any section that a program loads as data, not only in those that nvcc makes for them; an ELF file without
 * fatbins has no modules. */
#ifndef HEDDLE_CONTAINER_H
#define HEDDLE_CONTAINER_H

#include "heddle/ptx.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hd_container_kind {
  HD_CONTAINER_PTX = 1,
  HD_CONTAINER_FATBIN,
  HD_CONTAINER_ELF,
  HD_CONTAINER_ARCHIVE,
} hd_container_kind;

typedef enum hd_compression { HD_COMP_NONE = 0, HD_COMP_LZ4, HD_COMP_ZSTD } hd_compression;

/* What code is for: sm_90, sm_100f and sm_90a. */
typedef enum hd_target_kind {
  HD_TARGET_PLAIN = 0, /* PTX: this GPU and all later ones; machine code: those of its major version */
  HD_TARGET_FAMILY,    /* this GPU and later ones of its major version */
  HD_TARGET_EXACT,     /* only this GPU */
} hd_target_kind;
typedef struct hd_target {
  unsigned sm;
  hd_target_kind kind;
} hd_target;

/* One PTX text. Pointers are valid until the next call on the container. */
typedef struct hd_ptx_text {
  const char *data; /* len bytes, followed by a NUL that len does not count */
  size_t len;
  uint32_t index;   /* number of this module in the file, from 0; corrupt ones count */
  uint64_t offset;  /* of the fatbin entry in the file */
  unsigned sm;      /* as the entry's header says; 0 for a plain .ptx */
  hd_target target; /* the same */
  hd_compression compression;
  const char *label; /* "FILE#index", or FILE for a plain .ptx: for diagnostics */
} hd_ptx_text;

typedef struct hd_container hd_container;

/* A module may be at most 1 GB, and 4096 times its compressed size. A file of
 * no known kind or an empty one is HD_ERR_INPUT; 32-bit and big-endian ELF
 * files are HD_ERR_UNSUPPORTED. */
HD_OWN hd_status hd_container_open(const char *path, hd_container **out, hd_diag *d);
/* The same over bytes in memory (not copied); `name` is for diagnostics. */
HD_OWN hd_status hd_container_open_memory(const void *data, size_t len, const char *name, hd_container **out,
                                          hd_diag *d);
HD_OWN hd_container_kind hd_container_get_kind(const hd_container *c);
/* The next module: HD_OK with *more true and *t filled; HD_OK with *more false
 * at the end; an error for a corrupt entry, section or archive member, after
 * which the next call goes on behind it when its extent is known, else where
 * the next fatbin begins. Every call moves forward, so a loop that carries on
 * after errors ends. */
HD_OWN hd_status hd_container_next(hd_container *c, hd_ptx_text *t, bool *more, hd_diag *d);
HD_OWN void hd_container_close(hd_container *c);
/* How many modules a file holds that can be read. */
HD_OWN hd_status hd_container_count(const char *path, uint64_t *n, hd_diag *d);
/* Whether module number i of n is one of `sample` modules that are spread evenly; sample 0: all are. */
HD_OWN bool hd_container_sampled(uint64_t i, uint64_t n, uint64_t sample);
/* How many pieces of code for GPUs hd_container_next passed over so far: modules assembled for one
 * architecture. */
HD_OWN uint64_t hd_container_assembled(const hd_container *c);
/* Fill *d for a file that holds no PTX: whether it holds only assembled code, and how PTX is kept. */
HD_OWN hd_status hd_container_no_ptx(const char *path, uint64_t assembled, hd_diag *d);

/* ---- The image that a driver takes ---------------------------------------------------------- */

/* Of a module's ".target sm_90a, debug", as it is written; sm 0: it names none. */
HD_OWN hd_target hd_target_parse(const char *target);
/* Whether PTX, or machine code, for this target runs on sm_`arch`. */
HD_OWN bool hd_target_runs(hd_target t, bool code, unsigned arch);
/* Whether a driver on sm_`arch` takes PTX for this target before PTX for another: targets that run come
 * first, the latest before others, and sm_90a before sm_90. Of targets that do not run, the earliest comes
 * first. `arch` 0: all run. */
HD_OWN bool hd_target_is_nearer(hd_target t, hd_target than, unsigned arch);
/* The latest version of PTX that a driver reads, 84 for 8.4, from the result of cuDriverGetVersion; 0: any.
 */
HD_OWN unsigned hd_ptx_isa_of_driver(int version);

typedef struct hd_chosen {
  bool found;    /* there is PTX */
  bool runs;     /* and it runs on the GPU; else it is for later GPUs */
  bool has_code; /* there is machine code that the GPU runs */
  hd_ptx_text text;
} hd_chosen;
/* The text of a fatbin that a driver on sm_`arch` runs, which reads PTX up to version `isa` (0: any): that of
 * the machine code that it takes, if there is some, which is the latest that runs, and of one architecture
 * that for sm_90a before that for sm_90. If that machine code has no text, it is the nearest
 * text. Without machine code: what the driver compiles. A container that is one text has no choice. The walk
 * begins where the container stands and ends at its end. An error: as hd_container_next. */
HD_OWN hd_status hd_container_choose(hd_container *c, unsigned arch, unsigned isa, hd_chosen *out,
                                     hd_diag *d);

/* Module number `index` of a file (UINT64_MAX: the only one), parsed into the arena. */
HD_OWN hd_status hd_module_load(const char *path, uint64_t index, hd_arena *arena, hd_ptx_module **m,
                                hd_diag *d);

/* ---- Kernels by name ---------------------------------------------------- */

/* A kernel's readable name, "scale<float, 4>" for "_Z5scaleIfLi4EEvPT_", without result and parameters; with
 * them if `whole`. A name that C++ did not mangle, or that would take too long to read, stays as it is. */
HD_OWN void hd_kernel_title(const char *symbol, bool whole, hd_buf *out);
/* The same, cut where it is longer, for a message: hd_kernel_called(symbol, (hd_called){""}). Returns `out`.
 */
enum { HD_CALLED = 160 };
typedef char hd_called[HD_CALLED];
HD_OWN const char *hd_kernel_called(const char *symbol, hd_called out);

/* Whether a kernel is one of those that a word means, of which there may be several: its symbol, its title
 * with or without parameters, template arguments and scopes, its beginning up to within these arguments,
 * "gemm<float", or a shell's pattern of one of these, "gemm*"; blanks do not count. */
HD_OWN bool hd_kernel_matches(const char *symbol, const char *word);

/* The kernel that `name` means, in the file's module `index` (UINT64_MAX: in any): its symbol, its title with
 * or without parameters, template arguments and scopes, a shell's pattern of one of these, or what only one
 * kernel's name begins or ends with; blanks do not count. NULL: the only kernel. A kernel that several
 * modules hold for different targets is that which is nearest to the latest GPU (hd_target_is_nearer).
 * HD_ERR_USAGE where no kernel or several are meant, naming those that come near. *at (may be NULL): the
 * module's number. */
HD_OWN hd_status hd_kernel_find(const char *path, uint64_t index, const char *name, hd_arena *arena,
                                hd_ptx_module **m, uint32_t *func, uint64_t *at, hd_diag *d);
/* The same in a parsed module. */
HD_OWN hd_status hd_kernel_find_in(const hd_ptx_module *m, const char *name, uint32_t *func, hd_diag *d);

/* ---- Images in memory ------------------------------------------------------------------------ */

/* Images as a program hands them to the driver: only by their address. */
typedef enum hd_module_image {
  HD_MODULE_TEXT = 0, /* or anything else */
  HD_MODULE_ELF,
  HD_MODULE_FATBIN,
  HD_MODULE_LINKED, /* a list of the fatbins that a device link joined, up to a NULL */
} hd_module_image;
/* The kind of an image of four bytes at least, and in *data the image itself, or the contents of the wrapper
 * that nvcc puts around fatbins for the runtime. */
HD_OWN hd_module_image hd_module_image_of(const void *image, const void **data);
/* Whether n bytes are PTX, as a driver takes text for it: .version comes first, behind blanks and comments.
 */
HD_OWN bool hd_ptx_is_text(const char *text, size_t n);

typedef struct hd_fatbin_span {
  const char *data;
  uint64_t header_bytes, bytes; /* bytes: with the header */
} hd_fatbin_span;
/* The length that a fatbin states. HD_ERR_INPUT unless it is a fatbin of at most 1 GB, all of whose pages are
 * mapped. */
HD_OWN hd_status hd_fatbin_find(const void *data, hd_fatbin_span *out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
