/* emu/machine/builtin.c: the functions that CUDA's device runtime provides: vprintf, __assertfail, malloc,
 * free, memcpy, memmove, memset. */
#include "emu/machine/grid.h"

#include <inttypes.h>
#include <stdio.h>

typedef enum builtin {
  B_NONE = 0,
  B_VPRINTF,
  B_ASSERTFAIL,
  B_MALLOC,
  B_FREE,
  B_MEMCPY,
  B_MEMMOVE,
  B_MEMSET,
  B_COUNT
} builtin;

enum { MAX_ARGS = 5 };
static const struct {
  const char *name;
  uint8_t n_args, args[MAX_ARGS]; /* bytes */
  uint8_t ret;                    /* bytes; 0: none, or not looked at */
} builtins[B_COUNT] = {
    [B_NONE] = {""},
    [B_VPRINTF] = {"vprintf", 2, {8, 8}, 4},
    [B_ASSERTFAIL] = {"__assertfail", 5, {8, 8, 4, 8, 8}, 0},
    [B_MALLOC] = {"malloc", 1, {8}, 8},
    [B_FREE] = {"free", 1, {8}, 0},
    [B_MEMCPY] = {"memcpy", 3, {8, 8, 8}, 8},
    [B_MEMMOVE] = {"memmove", 3, {8, 8, 8}, 8},
    [B_MEMSET] = {"memset", 3, {8, 4, 8}, 8},
};

int emu_find_builtin(const char *name) {
  for (int k = B_NONE + 1; k < B_COUNT; k++)
    if (strcmp(builtins[k].name, name) == 0) return k;
  return B_NONE;
}

bool emu_of_device_runtime(const char *name) {
  return strncmp(name, "__cuda", 6) == 0 || strncmp(name, "cuda", 4) == 0;
}

bool emu_builtin_fits(int b, const hd_ptx_module *m, const hd_ptx_func *f) {
  if (f->n_params != builtins[b].n_args || f->n_rets > 1) return false;
  for (uint32_t k = 0; k < f->n_params; k++)
    if (hd_ptx_var_size(m, &m->vars[f->first_param + k]) != builtins[b].args[k]) return false;
  return f->n_rets == 0 || builtins[b].ret == 0 ||
         hd_ptx_var_size(m, &m->vars[f->first_ret]) == builtins[b].ret;
}

/* ---- Arguments and results ------------------------------------------------------------------ */

/* Bytes of a place; `r` is the caller's frame. */
static char *place_ptr(emu_warp *w, const emu_place *p, char *r, unsigned lane) {
  if (p->in_local) return emu_local_ptr(w, lane, p->where);
  char *slot = r + (size_t)p->where * EMU_SLOT_BYTES;
  return slot + (size_t)lane * (p->bytes <= 4 ? 4 : 8);
}
static uint64_t argument(emu_warp *w, const emu_call *c, char *r, unsigned lane, unsigned k) {
  uint64_t v = 0;
  memcpy(&v, place_ptr(w, &c->args[k], r, lane), c->args[k].bytes < 8 ? c->args[k].bytes : 8);
  return v;
}
static void put_result(emu_warp *w, const emu_call *c, char *r, unsigned lane, uint64_t v) {
  if (c->n_rets) memcpy(place_ptr(w, &c->rets[0], r, lane), &v, c->rets[0].bytes < 8 ? c->rets[0].bytes : 8);
}

/* ---- Memory ------------------------------------------------------------------------------------ */

/* Check and find `n` bytes (1 to 16) of one lane's memory. */
static char *find(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t address, unsigned n,
                  hd_access_kind kind) {
  uint64_t addr[32] = {0};
  emu_view view;
  addr[lane] = address;
  if (!emu_access(w, i, 1u << lane, addr, n, 1, kind, HD_CACHE_L1, EMU_GENERIC, &view)) return NULL;
  return (char *)(uintptr_t)(address + view.delta + (uint64_t)((int64_t)lane * view.lane_stride));
}

/* As a kernel would: in pieces, from the front, or from the back when the target lies behind
 * the source and overlaps it. */
static bool copy(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t to, uint64_t from, uint64_t n) {
  enum { PIECE = 16 };
  const bool backwards = to > from && to - from < n;
  for (uint64_t done = 0; done < n;) {
    const unsigned piece = n - done < PIECE ? (unsigned)(n - done) : PIECE;
    const uint64_t at = backwards ? n - done - piece : done;
    char buffer[PIECE];
    const char *src = find(w, i, lane, from + at, piece, HD_ACCESS_LOAD);
    if (!src) return false;
    memcpy(buffer, src, piece);
    char *dst = find(w, i, lane, to + at, piece, HD_ACCESS_STORE);
    if (!dst) return false;
    memcpy(dst, buffer, piece);
    done += piece;
  }
  return true;
}

static bool fill(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t to, uint8_t value, uint64_t n) {
  enum { PIECE = 16 };
  for (uint64_t done = 0; done < n;) {
    const unsigned piece = n - done < PIECE ? (unsigned)(n - done) : PIECE;
    char *dst = find(w, i, lane, to + done, piece, HD_ACCESS_STORE);
    if (!dst) return false;
    memset(dst, value, piece);
    done += piece;
  }
  return true;
}

/* A C string into out, cut to `cap` - 1 bytes; false after a fault. */
static bool read_string(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t address, hd_buf *out,
                        size_t cap) {
  for (size_t n = 0; n + 1 < cap; n++) {
    char c;
    if (!emu_read_generic(w, i, lane, address + n, &c, 1)) return false;
    if (!c) break;
    hd_buf_putc(out, c);
  }
  return true;
}

/* ---- vprintf --------------------------------------------------------------------------------------- */

enum { MAX_FORMAT = 1 << 16, MAX_STRING = 1 << 16, MAX_WIDTH = 4096 };

/* The arguments lie one after the other, each aligned to its size. */
typedef struct arguments {
  emu_warp *w;
  const emu_inst *i;
  unsigned lane;
  uint64_t at;
  bool fault;
} arguments;

static uint64_t next(arguments *a, unsigned bytes) {
  uint64_t v = 0;
  a->at = (a->at + bytes - 1) / bytes * bytes;
  if (!a->fault && !emu_read_generic(a->w, a->i, a->lane, a->at, &v, bytes)) a->fault = true;
  a->at += bytes;
  return v;
}

/* %[flags][width][.precision][size]type, as printf has it; sizes are those of the device's C: long and
 * pointers have 64 bits. */
typedef struct conversion {
  char spec[64]; /* for the host's printf: %, flags, width, precision; then the type */
  size_t n;      /* bytes of spec so far */
  int precision; /* -1: none */
  unsigned longs, shorts;
} conversion;

/* A width or a precision, if one is here: digits, or * for the next argument. */
static const char *read_count(arguments *a, const char *p, int *count) {
  if (*p == '*') {
    *count = (int32_t)next(a, 4);
    return p + 1;
  }
  if (*p >= '0' && *p <= '9') *count = 0;
  for (; *p >= '0' && *p <= '9'; p++) *count = *count < MAX_WIDTH ? *count * 10 + (*p - '0') : MAX_WIDTH;
  return p;
}

static const char *read_sizes(const char *p, conversion *c) {
  for (;; p++) {
    if (*p == 'h')
      c->shorts++;
    else if (*p == 'l')
      c->longs++;
    else if (*p && strchr("jztqL", *p))
      c->longs = 1;
    else
      return p;
  }
}

/* All before the type, at which the result points. */
static const char *read_conversion(arguments *a, const char *p, conversion *c) {
  enum { MAX_FLAGS = 7 };
  int width = -1;
  *c = (conversion){.spec = "%", .n = 1, .precision = -1};
  for (; *p && strchr("-+ #0", *p); p++)
    if (c->n <= MAX_FLAGS) c->spec[c->n++] = *p;
  p = read_count(a, p, &width);
  if (*p == '.') {
    c->precision = 0;
    p = read_count(a, p + 1, &c->precision);
  }
  p = read_sizes(p, c);
  if (width < 0 && width != -1) { /* a negative * is the flag - */
    c->spec[c->n++] = '-';
    width = width > -MAX_WIDTH ? -width : MAX_WIDTH;
  }
  if (width > MAX_WIDTH) width = MAX_WIDTH;
  if (c->precision > MAX_WIDTH) c->precision = MAX_WIDTH;
  if (width >= 0) c->n += (size_t)snprintf(c->spec + c->n, sizeof c->spec - c->n, "%d", width);
  if (c->precision >= 0) c->n += (size_t)snprintf(c->spec + c->n, sizeof c->spec - c->n, ".%d", c->precision);
  return p;
}

/* The format for the host's printf: the text that was read, with this type. */
static const char *with_type(conversion *c, const char *type) {
  snprintf(c->spec + c->n, sizeof c->spec - c->n, "%s", type);
  return c->spec;
}

static void print_signed(arguments *a, conversion *c, hd_buf *out) {
  int64_t v = c->longs ? (int64_t)next(a, 8) : (int32_t)next(a, 4);
  if (!c->longs && c->shorts) v = c->shorts == 1 ? (int16_t)v : (int8_t)v;
  hd_buf_printf(out, with_type(c, PRId64), v);
}

static void print_unsigned(arguments *a, conversion *c, char type, hd_buf *out) {
  uint64_t v = c->longs ? next(a, 8) : next(a, 4);
  if (!c->longs && c->shorts) v = c->shorts == 1 ? (uint16_t)v : (uint8_t)v;
  hd_buf_printf(out,
                with_type(c, type == 'u'   ? PRIu64
                             : type == 'x' ? PRIx64
                             : type == 'X' ? PRIX64
                                           : PRIo64),
                v);
}

static void print_string(arguments *a, conversion *c, hd_buf *out) {
  hd_buf text = {0};
  const uint64_t address = next(a, 8);
  const size_t cap = c->precision >= 0 ? (size_t)c->precision + 1 : MAX_STRING;
  if (!a->fault && !read_string(a->w, a->i, a->lane, address, &text, cap)) a->fault = true;
  if (!a->fault) hd_buf_printf(out, with_type(c, "s"), text.data ? text.data : "");
  hd_buf_free(&text);
}

/* p: behind the %. Returns the text behind the conversion; NULL: no such conversion. */
static const char *convert(arguments *a, const char *p, hd_buf *out) {
  conversion c;
  p = read_conversion(a, p, &c);
  const char type[] = {*p++, 0};
  switch (*type) {
  case '%': hd_buf_putc(out, '%'); return p;
  case 'd':
  case 'i': print_signed(a, &c, out); return p;
  case 'u':
  case 'x':
  case 'X':
  case 'o': print_unsigned(a, &c, *type, out); return p;
  case 'c': hd_buf_printf(out, with_type(&c, type), (int)(unsigned char)next(a, 4)); return p;
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
  case 'a':
  case 'A': hd_buf_printf(out, with_type(&c, type), num_f64(next(a, 8))); return p;
  case 'p': hd_buf_printf(out, "0x%" PRIx64, next(a, 8)); return p;
  case 's': print_string(a, &c, out); return p;
  default: return NULL;
  }
}

/* Returns the number of arguments, as CUDA's printf does, or -1. */
static int print(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t format, uint64_t list) {
  hd_buf text = {0}, out = {0};
  arguments a = {w, i, lane, list, false};
  int count = 0;
  if (!read_string(w, i, lane, format, &text, MAX_FORMAT)) a.fault = true;
  for (const char *p = text.data ? text.data : ""; *p && !a.fault;) {
    if (*p != '%') {
      hd_buf_putc(&out, *p++);
      continue;
    }
    const char *after = convert(&a, p + 1, &out);
    if (after) {
      count += after[-1] != '%';
      p = after;
    } else {
      hd_buf_putc(&out, *p++); /* printed as it stands */
    }
  }
  const bool ok = !a.fault && !out.failed && !text.failed;
  if (ok && out.len) emu_print(w, out.data, out.len);
  hd_buf_free(&text);
  hd_buf_free(&out);
  return ok ? count : -1;
}

/* ---- __assertfail -------------------------------------------------------------------------------------- */

/* (message, file, line, function, character size) */
static void assertion(emu_warp *w, const emu_inst *i, const emu_call *c, char *r, unsigned lane) {
  hd_buf text[3] = {0};
  static const unsigned where[3] = {0, 1, 3};
  bool ok = true;
  for (unsigned k = 0; k < 3; k++) {
    const uint64_t at = argument(w, c, r, lane, where[k]);
    ok = ok && (!at || read_string(w, i, lane, at, &text[k], 256));
  }
  if (ok)
    emu_fault(w, i, 1u << lane, HD_FAULT_ASSERTION, "assertion `%s' failed in %s, %s:%u",
              text[0].data ? text[0].data : "", text[2].data ? text[2].data : "?",
              text[1].data ? text[1].data : "?", (unsigned)argument(w, c, r, lane, 2));
  for (unsigned k = 0; k < 3; k++) hd_buf_free(&text[k]);
}

/* ---- Calls ------------------------------------------------------------------------------------------ */

/* False after a fault. */
static bool run_lane(emu_warp *w, const emu_inst *i, const emu_call *c, char *r, unsigned lane) {
#define ARG(k) argument(w, c, r, lane, (k))
  switch ((builtin)c->builtin) {
  case B_VPRINTF: {
    const int count = print(w, i, lane, ARG(0), ARG(1));
    put_result(w, c, r, lane, (uint32_t)count);
    return count >= 0;
  }
  case B_ASSERTFAIL: assertion(w, i, c, r, lane); return false;
  case B_MALLOC: put_result(w, c, r, lane, emu_heap_alloc(w, ARG(0))); return true;
  case B_FREE: {
    const uint64_t at = ARG(0);
    if (!at || emu_heap_free(w, at)) return true;
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "free of 0x%" PRIx64 ", which malloc did not give", at);
    return false;
  }
  case B_MEMCPY:
  case B_MEMMOVE: {
    const uint64_t to = ARG(0);
    if (!copy(w, i, lane, to, ARG(1), ARG(2))) return false;
    put_result(w, c, r, lane, to);
    return true;
  }
  case B_MEMSET: {
    const uint64_t to = ARG(0);
    if (!fill(w, i, lane, to, (uint8_t)ARG(1), ARG(2))) return false;
    put_result(w, c, r, lane, to);
    return true;
  }
  case B_NONE:
  case B_COUNT: break;
  }
  return true;
#undef ARG
}

void emu_run_builtin(emu_warp *w, const emu_inst *i, const emu_call *c, char *r, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    if (!run_lane(w, i, c, r, (unsigned)__builtin_ctz(rest))) return;
}
