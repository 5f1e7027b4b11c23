/* Container files made in memory, byte by byte, so that every field can be wrong in every way, and read
 * there: a test's bytes lie directly before a page that may not be touched, so a read behind the end
 * crashes. */
#ifndef HEDDLE_TESTS_CONTAINER_FILES_H
#define HEDDLE_TESTS_CONTAINER_FILES_H

#include "check.h"

#include "heddle/container.h"

#include <ar.h>
#include <elf.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- Construction of files ---------------------------------------------- */

/* Offsets in a region header and an entry header, for poke(). */
enum { REGION_VERSION = 4, REGION_HEADER_SIZE = 6, REGION_SIZE = 8, REGION_HEADER = 16 };
enum {
  ENTRY_KIND = 0,
  ENTRY_HEADER_SIZE = 4,
  ENTRY_PAYLOAD_SIZE = 8,
  ENTRY_COMPRESSED_SIZE = 16,
  ENTRY_SM = 28,
  ENTRY_FLAGS = 40,
  ENTRY_DECOMPRESSED_SIZE = 56,
  ENTRY_HEADER = 64,
};
enum { KIND_PTX = 1, KIND_CUBIN = 2, KIND_LTO = 8 };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };

static inline void put_zeros(hd_buf *b, size_t n) {
  static const char zeros[4096];
  for (; n > sizeof zeros; n -= sizeof zeros) hd_buf_put(b, zeros, sizeof zeros);
  hd_buf_put(b, zeros, n);
}

static inline void pad_to(hd_buf *b, size_t to) { put_zeros(b, (to - b->len % to) % to); }

static inline void poke(hd_buf *b, size_t at, size_t bytes, uint64_t value) {
  assert_true(at + bytes <= b->len);
  memcpy(b->data + at, &value, bytes); /* little-endian, as the files are */
}

static inline uint64_t peek(const hd_buf *b, size_t at, size_t bytes) {
  uint64_t value = 0;
  memcpy(&value, b->data + at, bytes);
  return value;
}

static inline size_t begin_region(hd_buf *b) {
  size_t at = b->len;
  put_zeros(b, REGION_HEADER);
  poke(b, at, 4, 0xBA55ED50);
  poke(b, at + REGION_VERSION, 2, 1);
  poke(b, at + REGION_HEADER_SIZE, 2, REGION_HEADER);
  return at;
}

static inline void end_region(hd_buf *b, size_t at) {
  poke(b, at + REGION_SIZE, 8, b->len - at - REGION_HEADER);
}

/* An entry whose payload is ready; its header may carry `extra` bytes of options. */
static inline size_t add_payload(hd_buf *b, int kind, unsigned sm, const void *payload, size_t n,
                                 size_t extra) {
  size_t at = b->len;
  put_zeros(b, ENTRY_HEADER + extra);
  hd_buf_put(b, payload, n);
  put_zeros(b, (8 - n % 8) % 8);
  poke(b, at + ENTRY_KIND, 2, (uint64_t)kind);
  poke(b, at + 2, 2, 0x101);
  poke(b, at + ENTRY_HEADER_SIZE, 4, ENTRY_HEADER + extra);
  poke(b, at + ENTRY_PAYLOAD_SIZE, 8, b->len - at - ENTRY_HEADER - extra);
  poke(b, at + ENTRY_SM, 4, sm);
  poke(b, at + ENTRY_FLAGS, 8, 0x11);
  return at;
}

static inline size_t compress_text(hd_compression how, const char *text, size_t n, bool sized, char *out,
                                   size_t cap) {
  if (how == HD_COMP_LZ4) return (size_t)LZ4_compress_default(text, out, (int)n, (int)cap);
  ZSTD_CCtx *cctx = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(cctx, ZSTD_c_contentSizeFlag, sized);
  size_t got = ZSTD_compress2(cctx, out, cap, text, n);
  ZSTD_freeCCtx(cctx);
  assert_false(ZSTD_isError(got));
  return got;
}

static inline size_t add_compressed(hd_buf *b, int kind, unsigned sm, hd_compression how, const char *text,
                                    size_t n, bool sized) {
  size_t cap = ZSTD_compressBound(n) + (size_t)LZ4_compressBound((int)n);
  char *out = malloc(cap);
  size_t got = compress_text(how, text, n, sized, out, cap);
  size_t at = add_payload(b, kind, sm, out, got, 16);
  free(out);
  poke(b, at + ENTRY_COMPRESSED_SIZE, 4, got);
  poke(b, at + ENTRY_DECOMPRESSED_SIZE, 8, n);
  poke(b, at + ENTRY_FLAGS, 8, 0x11 | (how == HD_COMP_LZ4 ? FLAG_LZ4 : FLAG_ZSTD));
  return at;
}

/* A PTX entry as nvcc makes it: the text's NUL is compressed with it. */
static inline size_t add_ptx(hd_buf *b, unsigned sm, hd_compression how, const char *text) {
  if (how == HD_COMP_NONE) return add_payload(b, KIND_PTX, sm, text, strlen(text) + 1, 16);
  return add_compressed(b, KIND_PTX, sm, how, text, strlen(text) + 1, true);
}

typedef struct section {
  const char *name;
  uint32_t type;
  uint64_t flags;
  const hd_buf *data;
} section;

/* A 64-bit ELF file; the last section is the string table. Section i of the
 * list gets number i+1, and lies 64-aligned. */
static inline void put_elf(hd_buf *b, const section *sections, size_t n, uint16_t machine) {
  size_t base = b->len;
  Elf64_Ehdr h = {.e_type = ET_DYN, .e_machine = machine, .e_version = EV_CURRENT, .e_ehsize = sizeof h};
  memcpy(h.e_ident, ELFMAG, SELFMAG);
  h.e_ident[EI_CLASS] = ELFCLASS64;
  h.e_ident[EI_DATA] = ELFDATA2LSB;
  h.e_ident[EI_VERSION] = EV_CURRENT;
  Elf64_Shdr sh[16] = {0};
  hd_buf names = {0};
  hd_buf_putc(&names, 0);
  put_zeros(b, sizeof h);
  for (size_t i = 0; i < n; i++) {
    put_zeros(b, (64 - (b->len - base) % 64) % 64);
    sh[i + 1] = (Elf64_Shdr){.sh_name = (uint32_t)names.len,
                             .sh_type = sections[i].type,
                             .sh_flags = sections[i].flags,
                             .sh_offset = b->len - base,
                             .sh_size = sections[i].data->len,
                             .sh_addralign = 8};
    if (sections[i].type != SHT_NOBITS) hd_buf_put(b, sections[i].data->data, sections[i].data->len);
    hd_buf_put(&names, sections[i].name, strlen(sections[i].name) + 1);
  }
  sh[n + 1] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = b->len - base, .sh_size = names.len};
  hd_buf_put(b, names.data, names.len);
  put_zeros(b, (8 - (b->len - base) % 8) % 8);
  h.e_shoff = b->len - base;
  h.e_shentsize = sizeof *sh;
  h.e_shnum = (uint16_t)(n + 2);
  h.e_shstrndx = (uint16_t)(n + 1);
  hd_buf_put(b, (const char *)sh, (n + 2) * sizeof *sh);
  memcpy(b->data + base, &h, sizeof h);
  hd_buf_free(&names);
}

static inline void put_member(hd_buf *b, const char *name, const void *data, size_t n) {
  hd_buf_printf(b, "%-16s%-12d%-6d%-6d%-8o%-10zu%s", name, 0, 0, 0, 0644, n, ARFMAG);
  hd_buf_put(b, data, n);
  if (n % 2) hd_buf_putc(b, '\n');
}

/* One region with one plain text. */
static inline hd_buf fatbin_of(const char *text) {
  hd_buf b = {0};
  size_t region = begin_region(&b);
  add_ptx(&b, 80, HD_COMP_NONE, text);
  end_region(&b, region);
  return b;
}

/* ---- Reading them ------------------------------------------------------- */

typedef struct module {
  char *text;
  size_t len;
  uint32_t index;
  uint64_t offset;
  unsigned sm;
  hd_compression compression;
  char label[64];
} module;

typedef struct contents {
  hd_status opened;
  hd_container_kind kind;
  HD_VEC(module) modules;
  HD_VEC(hd_diag) errors;
} contents;

static inline void free_contents(contents *r) {
  for (size_t i = 0; i < r->modules.n; i++) free(r->modules.data[i].text);
  hd_vec_free(&r->modules);
  hd_vec_free(&r->errors);
}

/* Everything that comes out, errors included; closes the container. */
static inline void drain(contents *r, hd_container *c, size_t len) {
  hd_ptx_text t;
  hd_diag d = {0};
  bool more = true;
  r->kind = hd_container_get_kind(c);
  for (size_t calls = 0; more; calls++) {
    assert_true(calls <= len + 2);
    hd_status rc = hd_container_next(c, &t, &more, &d);
    if (rc) {
      assert_int_equal(rc, d.status);
      assert_false(more);
      assert_true(hd_vec_push(&r->errors, d));
      more = true;
    } else if (more) {
      assert_int_equal(t.data[t.len], 0);
      module m = {
          .len = t.len, .index = t.index, .offset = t.offset, .sm = t.sm, .compression = t.compression};
      m.text = memcpy(malloc(t.len + 1), t.data, t.len + 1);
      snprintf(m.label, sizeof m.label, "%s", t.label);
      assert_true(hd_vec_push(&r->modules, m));
    }
  }
  assert_int_equal(hd_container_next(c, &t, &more, &d), HD_OK);
  assert_false(more);
  hd_container_close(c);
}

static inline contents read_bytes(const void *data, size_t len) {
  contents r = {0};
  hd_diag d = {0};
  size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (len + page - 1) / page * page;
  char *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(map != MAP_FAILED);
  assert_int_equal(mprotect(map + room, page, PROT_NONE), 0);
  char *bytes = map + room - len;
  if (len) memcpy(bytes, data, len);
  hd_container *c;
  r.opened = hd_container_open_memory(bytes, len, "f", &c, &d);
  if (r.opened) {
    assert_null(c);
    assert_int_equal(r.opened, d.status);
    assert_true(hd_vec_push(&r.errors, d));
  } else {
    drain(&r, c, len);
  }
  munmap(map, room + page);
  return r;
}

static inline contents read_buf(const hd_buf *b) {
  assert_false(b->failed);
  return read_bytes(b->data, b->len);
}

/* The texts must be exactly these, and the errors' messages hold these words. */
static inline void expect(contents r, size_t modules, const char *const *texts, size_t errors,
                          const char *const *words) {
  assert_int_equal(r.errors.n, errors);
  for (size_t i = 0; i < errors; i++)
    if (!strstr(r.errors.data[i].message, words[i]))
      fail_msg("\"%s\" is not about \"%s\"", r.errors.data[i].message, words[i]);
  assert_int_equal(r.modules.n, modules);
  for (size_t i = 0; i < modules; i++) {
    assert_string_equal(r.modules.data[i].text, texts[i]);
    assert_int_equal(r.modules.data[i].len, strlen(texts[i]));
  }
  free_contents(&r);
}
#define TEXTS(...)                                                                                           \
  COUNT(((const char *const[]){__VA_ARGS__})), (const char *const[]) { __VA_ARGS__ }
#define ERRORS TEXTS
#define NONE 0, NULL

static inline void expect_refused(const void *data, size_t len, hd_status status, const char *words) {
  contents r = read_bytes(data, len);
  assert_int_equal(r.opened, status);
  expect(r, NONE, ERRORS(words));
}

static const char text_a[] = ".version 9.0\n.target sm_80\n.address_size 64\n";
static const char text_b[] = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n";
static const hd_compression ways[] = {HD_COMP_NONE, HD_COMP_LZ4, HD_COMP_ZSTD};

#endif
