/* heddle/base.h: memory, text, diagnostics, files, threads.
 *
 * The ground floor. Everything above allocates from arenas, reports failure
 * through one hd_diag, and writes text into an hd_buf. Nothing here prints,
 * exits, or keeps state between calls.
 */
#ifndef HEDDLE_BASE_H
#define HEDDLE_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What libheddle.so exports. HD_API: for every program; heddle/heddle.h lists these functions. HD_OWN: for
 * heddle's own clients, which are built from the same tree with HEDDLE_OWN defined; the compiler refuses
 * other calls. */
#define HD_API __attribute__((visibility("default")))
#if defined(HEDDLE_OWN)
#define HD_OWN HD_API
#else
#define HD_OWN                                                                                               \
  HD_API __attribute__((error("this function is for heddle's own programs: see heddle/heddle.h")))
#endif
#define HD_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* ---- Status and diagnostics ------------------------------------------- */

typedef enum hd_status {
  HD_OK = 0,
  HD_ERR_INPUT,       /* the input is malformed: the diagnostic has a place */
  HD_ERR_IO,          /* the operating system said no */
  HD_ERR_NOMEM,       /* out of memory */
  HD_ERR_BUDGET,      /* over a budget of time or memory that the caller set */
  HD_ERR_REFUSED,     /* well-formed, but the request would not be sound */
  HD_ERR_UNSUPPORTED, /* well-formed, but heddle does not do this */
  HD_ERR_FAULT,       /* an emulated kernel did something wrong */
  HD_ERR_USAGE,       /* the caller's words are off */
  HD_ERR_MISSING,     /* a program that the work needs, such as a compiler, is not on this machine */
} hd_status;

/* True if the plan is to blame, so that other plans may still be tried. Every other failure comes from the
 * kernel, the machine or the caller. */
static inline bool hd_blames_plan(hd_status st) {
  return st == HD_ERR_REFUSED || st == HD_ERR_UNSUPPORTED || st == HD_ERR_USAGE;
}

/* What an emulated kernel did wrong, with HD_ERR_FAULT. */
typedef enum hd_fault {
  HD_FAULT_NONE = 0,
  HD_FAULT_OTHER, /* it breaks a rule of an instruction */
  HD_FAULT_BOUNDS,
  HD_FAULT_MISALIGNED,
  HD_FAULT_UNWRITTEN,        /* reads memory that was never written */
  HD_FAULT_UNWRITTEN_SHARED, /* the same in shared memory, which another warp may write later */
  HD_FAULT_RACE,             /* the result may depend on the schedule */
  HD_FAULT_BARRIER,          /* it is never complete */
  HD_FAULT_HANG, /* a deadlock, a livelock, no progress, or no end within the steps that are given */
  HD_FAULT_ASSERTION,
  HD_FAULT_TRAP,
  HD_FAULT_NOT_EMULATED, /* heddle's limit, met while the kernel ran */
} hd_fault;

/* What an HD_ERR_BUDGET ran into. */
typedef enum hd_bound {
  HD_BOUND_NONE,
  HD_BOUND_TIME,   /* a point of time */
  HD_BOUND_WORK,   /* a number of instructions and accesses, which follows from a budget in seconds */
  HD_BOUND_MEMORY, /* a trace's */
  HD_BOUND_PROOF,  /* none: the proof could not be made, for a reason that is no plan's */
} hd_bound;

/* One failure: what and where. Errors are values: a function that fails fills
 * the hd_diag it was given (which may be NULL) and returns its status.
 * `file` is "" when there is none; `line` and `column` count from 1, 0 when
 * there is none; `source` is the offending line's text, cut to fit, or "".
 * A refusal has the line of the kernel's PTX, which its message names, and no
 * column. */
typedef struct hd_diag {
  hd_status status;
  hd_fault fault;
  uint16_t reason; /* where in the message its reason begins, behind the instruction that it is about */
  hd_bound bound;  /* with HD_ERR_BUDGET, if it is known */
  bool unknown;    /* with HD_ERR_USAGE: a name is of nothing that there is */
  uint32_t line, column;
  char file[512];
  char message[768];
  char source[256];
} hd_diag;

static inline const char *hd_diag_reason(const hd_diag *d) { return d->message + d->reason; }

/* Fill *d (if not NULL) with a status and a message without a place. Returns st. */
HD_OWN hd_status hd_fail(hd_diag *d, hd_status st, const char *fmt, ...) HD_PRINTF(3, 4);

/* The same with the message "fmt: why", whose reason is `why`. */
HD_OWN hd_status hd_fail_because(hd_diag *d, hd_status st, const char *why, const char *fmt, ...)
    HD_PRINTF(4, 5);
/* The same for a bound that was reached. Returns HD_ERR_BUDGET. */
HD_OWN hd_status hd_fail_bound(hd_diag *d, hd_bound bound, const char *fmt, ...) HD_PRINTF(3, 4);

/* The same where a name is of nothing that there is. Returns HD_ERR_USAGE. */
HD_OWN hd_status hd_fail_unknown(hd_diag *d, const char *fmt, ...) HD_PRINTF(2, 3);

/* As hd_fail, with a place. `text`,`len` is the whole file's text (or NULL):
 * the line at `offset` is quoted and line/column are counted from it. */
HD_OWN hd_status hd_fail_at(hd_diag *d, hd_status st, const char *file, const char *text, size_t len,
                            size_t offset, const char *fmt, ...) HD_PRINTF(7, 8);
#ifdef __clang_analyzer__ /* which sees no function of another file: a failure is one */
#define hd_fail(d, st, ...) (hd_fail(d, st, __VA_ARGS__), (st))
#define hd_fail_bound(d, bound, ...) (hd_fail_bound(d, bound, __VA_ARGS__), HD_ERR_BUDGET)
#define hd_fail_unknown(d, ...) (hd_fail_unknown(d, __VA_ARGS__), HD_ERR_USAGE)
#define hd_fail_at(d, st, ...) (hd_fail_at(d, st, __VA_ARGS__), (st))
#define hd_fail_because(d, st, ...) (hd_fail_because(d, st, __VA_ARGS__), (st))
#endif

/* What `fmt` prints, in `cap` bytes. If that is too long, the longest words, which are mangled names, lose
 * their middles ("_Z6spars...P3_"), so that the text behind them stays. Returns out. */
HD_OWN const char *hd_fit(char *out, size_t cap, const char *fmt, ...) HD_PRINTF(3, 4);
HD_OWN const char *hd_fit_args(char *out, size_t cap, const char *fmt, va_list ap) HD_PRINTF(3, 0);

/* Fill *d with "out of memory", if there is nothing to add. Returns HD_ERR_NOMEM. */
static inline hd_status hd_nomem(hd_diag *d) { return hd_fail(d, HD_ERR_NOMEM, "out of memory"); }

/* "file:line:column: message" in one line, without a newline. Control bytes
 * are replaced. Returns out. */
HD_API const char *hd_diag_line(const hd_diag *d, char *out, size_t cap);

/* ---- Arenas ------------------------------------------------------------ */

/* A bump allocator. Everything allocated from it lives until hd_arena_reset
 * (keeps the largest block for reuse) or hd_arena_free.
 *
 * When memory runs out, or `limit` bytes (0: none) would be exceeded, an
 * allocation longjmps to *escape if that is set, else returns NULL. Parsers
 * set escape once at their entry and need no checks below it. */
typedef struct hd_arena_block hd_arena_block;
typedef struct hd_arena {
  hd_arena_block *head; /* newest block */
  char *cur, *end;      /* free part of the newest block */
  size_t used;          /* bytes handed out since init or reset */
  size_t limit;         /* budget in bytes; 0: none */
  jmp_buf *escape;
} hd_arena;

HD_OWN void hd_arena_init(hd_arena *a);
HD_OWN void hd_arena_free(hd_arena *a);
HD_OWN void hd_arena_reset(hd_arena *a);
/* `align` is a power of two, at most 64. Memory is not zeroed. */
HD_OWN void *hd_arena_alloc_slow(hd_arena *a, size_t size, size_t align);
static inline void *hd_arena_alloc(hd_arena *a, size_t size, size_t align) {
  uintptr_t p = ((uintptr_t)a->cur + (align - 1)) & ~(uintptr_t)(align - 1);
  if (a->cur && p <= (uintptr_t)a->end && size <= (uintptr_t)a->end - p && !a->limit) {
    a->cur = (char *)(p + size);
    a->used += size;
    return (void *)p;
  }
  return hd_arena_alloc_slow(a, size, align);
}
/* n objects of `size` bytes, zeroed; the product is checked for overflow. */
HD_OWN void *hd_arena_zalloc(hd_arena *a, size_t n, size_t size);
HD_OWN char *hd_arena_strndup(hd_arena *a, const char *s, size_t n);
HD_OWN char *hd_arena_printf(hd_arena *a, const char *fmt, ...) HD_PRINTF(2, 3);

#define HD_NEW(arena, type) ((type *)hd_arena_zalloc((arena), 1, sizeof(type)))
#define HD_NEW_N(arena, n, type) ((type *)hd_arena_zalloc((arena), (n), sizeof(type)))

/* ---- Growable arrays --------------------------------------------------- */

/* A heap array that grows by doubling. Declare `HD_VEC(T) v = {0}`, push with
 * hd_vec_push(&v, value) -> bool (false: out of memory), free with
 * hd_vec_free(&v). */
#define HD_VEC(T)                                                                                            \
  struct {                                                                                                   \
    T *data;                                                                                                 \
    size_t n, cap;                                                                                           \
  }
HD_OWN bool hd_vec_grow_(void **data, size_t *cap, size_t need, size_t elem);
#define hd_vec_reserve(v, need)                                                                              \
  ((need) <= (v)->cap || hd_vec_grow_((void **)&(v)->data, &(v)->cap, (need), sizeof *(v)->data))
#define hd_vec_push(v, x) (hd_vec_reserve((v), (v)->n + 1) && ((v)->data[(v)->n++] = (x), true))
#define hd_vec_free(v) (free((v)->data), (v)->data = NULL, (v)->n = (v)->cap = 0)

/* ---- Text buffers ------------------------------------------------------ */

/* Text under construction; always NUL-terminated once anything was put. Running out of memory sets `failed`
 * and drops all later text: check once at the end. */
typedef struct hd_buf {
  char *data;
  size_t len, cap;
  bool failed;
} hd_buf;
HD_API void hd_buf_free(hd_buf *b);
HD_OWN void hd_buf_clear(hd_buf *b);
HD_OWN bool hd_buf_reserve(hd_buf *b, size_t extra);
HD_OWN void hd_buf_put(hd_buf *b, const char *s, size_t n);
HD_OWN void hd_buf_puts(hd_buf *b, const char *s);
HD_OWN void hd_buf_html(hd_buf *b, const char *s); /* as text of a page, or of an attribute in quotes */
HD_OWN void hd_buf_quote(hd_buf *b, const char *s, size_t n); /* as a string of JSON and of TOML, in quotes */
HD_OWN void hd_buf_printf(hd_buf *b, const char *fmt, ...) HD_PRINTF(2, 3);
static inline void hd_buf_putc(hd_buf *b, char c) {
  if (b->len + 1 < b->cap || hd_buf_reserve(b, 1)) {
    b->data[b->len++] = c;
    b->data[b->len] = 0;
  }
}

/* How many letters to insert, drop or change to turn a into b, in their first 64 letters: for "did you mean".
 */
HD_OWN unsigned hd_edit_distance(const char *a, const char *b);
/* The number of a word among "first|second", from 1; 0: it is not there. hd_alternatives: the same words as
 * "first, second or third", or unchanged if memory runs out. */
HD_OWN unsigned hd_choose(const char *words, const char *text);
HD_OWN const char *hd_alternatives(const char *words, hd_arena *a);
/* "; did you mean hilbert or zigzag?": the words of a list ("row, col:N or hilbert", "row|hilbert") that are
 * spelt nearly as the first n letters of `wanted`, without numbers behind a colon; "" if there are none. */
enum { HD_NEAR = 96 };
HD_OWN const char *hd_near(const char *words, const char *wanted, size_t n, char out[HD_NEAR]);
enum { HD_FEW_NAMES = 12 }; /* names that a message can list */
/* Append, as "a, b", the names to suggest if `wanted` is not one of them: all if there are at most `few`,
 * else those that contain it or are spelt nearly like it. */
HD_OWN void hd_suggest(const char *const *names, size_t n, size_t few, const char *wanted, hd_buf *out);

/* ---- Numbers ----------------------------------------------------------- */

/* r = a op b; true when the true result fits. */
static inline bool hd_add_size(size_t a, size_t b, size_t *r) { return !__builtin_add_overflow(a, b, r); }
static inline bool hd_mul_size(size_t a, size_t b, size_t *r) { return !__builtin_mul_overflow(a, b, r); }

/* How many bits are set. The builtin is a call on processors without such an instruction, for which heddle is
 * built; masks of lanes, words and sectors are mostly empty or full. */
static inline unsigned hd_bits32(uint32_t x) { return x + 1 > 1 ? (unsigned)__builtin_popcount(x) : x & 32; }
static inline unsigned hd_bits64(uint64_t x) {
  return x + 1 > 1 ? (unsigned)__builtin_popcountll(x) : (unsigned)(x & 64);
}

/* An unsigned decimal number that fills all of [s, s+n) and is <= max. */
HD_OWN bool hd_parse_u64(const char *s, size_t n, uint64_t max, uint64_t *out);

/* 64-bit FNV-1a style mix of n bytes; stable over runs and machines. */
HD_OWN uint64_t hd_hash(const void *p, size_t n);

/* A hash for keys of caches and stores: FNV-1a, 128 bits, over pieces. The length of each is hashed with it,
 * so that pieces cannot run together. Stable over runs, machines and versions. */
typedef struct hd_digest {
  uint64_t high, low;
} hd_digest;
HD_OWN hd_digest hd_digest_begin(void);
HD_OWN void hd_digest_bytes(hd_digest *h, const void *p, size_t n);
HD_OWN void hd_digest_text(hd_digest *h, const char *s);
enum { HD_DIGEST_HEX = 33 };
HD_OWN const char *hd_digest_hex(const hd_digest *h, char out[HD_DIGEST_HEX]); /* 32 digits; returns out */

/* A small counter-based generator (SplitMix64): the n-th value of stream
 * `seed` does not depend on the others, so fills parallelise. */
static inline uint64_t hd_random_at(uint64_t seed, uint64_t n) {
  uint64_t z = seed + (n + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/* ---- Files ------------------------------------------------------------- */

/* A file's bytes, mapped read-only. data is never NULL after success (an
 * empty file gives a valid pointer and len 0). Directories and unreadable
 * paths fail with HD_ERR_IO. */
typedef struct hd_file {
  const char *data;
  size_t len;
  void *map; /* private */
} hd_file;
HD_OWN hd_status hd_file_open(const char *path, hd_file *f, hd_diag *d);
HD_OWN void hd_file_close(hd_file *f);

/* Write a whole file or nothing: into a temporary beside it, flushed and
 * renamed over `path`; on any failure (a full disk included) no file and no
 * temporary is left behind. "-" and existing non-regular files (pipes,
 * /dev/stdout) are written directly. */
HD_OWN hd_status hd_file_write(const char *path, const void *data, size_t len, hd_diag *d);
/* Append to a file, which is made if need be, and flush it. HD_ERR_IO: a part of it may be there. */
HD_OWN hd_status hd_file_append(const char *path, const void *data, size_t len, hd_diag *d);
/* How many bytes long a file may be here (ulimit -f); UINT64_MAX: there is no limit. Writing beyond it may
 * end the process by a signal: hd_file_write and hd_file_append do not begin to, and give HD_ERR_IO. */
HD_OWN uint64_t hd_file_limit(void);

/* $XDG_CACHE_HOME/heddle or ~/.cache/heddle, made if need be; "" when there is none that can be written. */
HD_OWN void hd_cache_folder(char *out, size_t cap);

/* Make a folder, unless it is there; it can be written to. HD_ERR_IO. */
HD_OWN hd_status hd_folder_make(const char *path, hd_diag *d);

/* ---- Time -------------------------------------------------------------- */

HD_OWN double hd_seconds(void); /* monotonic */

/* Whether work that may be cut short has to end: at `until` (hd_seconds; 0: never), or because another thread
 * has made *stop true (NULL: none does). */
static inline bool hd_is_over(double until, const bool *stop) {
  return (stop && __atomic_load_n(stop, __ATOMIC_RELAXED)) || (until > 0 && hd_seconds() >= until);
}

/* ---- Threads ----------------------------------------------------------- */

/* Number of processors that this process may run on, at least 1. */
HD_OWN unsigned hd_cpu_count(void);

/* Run fn(ctx, worker) for worker = 0..n-1, each on its own thread (worker 0 on the caller's), and join.
 * Returns false when a thread could not be started; then those that were started have finished. */
HD_OWN bool hd_parallel(unsigned n, void (*fn)(void *ctx, unsigned worker), void *ctx);

/* ---- How far work is ---------------------------------------------------- */

/* `tell` is called, by one thread at a time, when `done` of n parts of a stage are done; `stage` is a
 * constant. NULL: no calls. */
typedef struct hd_watch {
  void (*tell)(void *ctx, const char *stage, size_t done, size_t n);
  void *ctx;
} hd_watch;
HD_OWN void hd_watch_tell(const hd_watch *w, const char *stage, size_t done, size_t n); /* NULL is fine */

/* A stage of many small parts, done by many threads: its watch is called about a hundred times. */
typedef struct hd_meter {
  const hd_watch *watch;
  const char *stage;
  uint64_t n, done, told;
  bool telling;
} hd_meter;
HD_OWN hd_meter hd_meter_begin(const hd_watch *w, const char *stage, uint64_t n); /* w outlives the meter */
HD_OWN void hd_meter_add(hd_meter *m, uint64_t parts); /* from any thread; NULL is fine */
HD_OWN void hd_meter_end(const hd_meter *m);           /* also if parts are left */

#ifdef __cplusplus
}
#endif
#endif
