/* Container files are made here in memory, byte by byte, so that every field
 * can be wrong in every way. What a test reads lies directly before a page
 * that may not be touched: a read behind the end crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

/* ---- Making files ------------------------------------------------------- */

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

static void put_zeros(hd_buf *b, size_t n) {
  static const char zeros[4096];
  for (; n > sizeof zeros; n -= sizeof zeros) hd_buf_put(b, zeros, sizeof zeros);
  hd_buf_put(b, zeros, n);
}

static void pad_to(hd_buf *b, size_t to) { put_zeros(b, (to - b->len % to) % to); }

static void poke(hd_buf *b, size_t at, size_t bytes, uint64_t value) {
  assert_true(at + bytes <= b->len);
  memcpy(b->data + at, &value, bytes); /* little-endian, as the files are */
}

static uint64_t peek(const hd_buf *b, size_t at, size_t bytes) {
  uint64_t value = 0;
  memcpy(&value, b->data + at, bytes);
  return value;
}

static size_t begin_region(hd_buf *b) {
  size_t at = b->len;
  put_zeros(b, REGION_HEADER);
  poke(b, at, 4, 0xBA55ED50);
  poke(b, at + REGION_VERSION, 2, 1);
  poke(b, at + REGION_HEADER_SIZE, 2, REGION_HEADER);
  return at;
}

static void end_region(hd_buf *b, size_t at) { poke(b, at + REGION_SIZE, 8, b->len - at - REGION_HEADER); }

/* An entry whose payload is ready; its header may carry `extra` bytes of options. */
static size_t add_payload(hd_buf *b, int kind, unsigned sm, const void *payload, size_t n, size_t extra) {
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

static size_t compress_text(hd_compression how, const char *text, size_t n, bool sized, char *out,
                            size_t cap) {
  if (how == HD_COMP_LZ4) return (size_t)LZ4_compress_default(text, out, (int)n, (int)cap);
  ZSTD_CCtx *cctx = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(cctx, ZSTD_c_contentSizeFlag, sized);
  size_t got = ZSTD_compress2(cctx, out, cap, text, n);
  ZSTD_freeCCtx(cctx);
  assert_false(ZSTD_isError(got));
  return got;
}

static size_t add_compressed(hd_buf *b, int kind, unsigned sm, hd_compression how, const char *text, size_t n,
                             bool sized) {
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

/* A PTX entry as nvcc makes it: the text's NUL is part of what is compressed. */
static size_t add_ptx(hd_buf *b, unsigned sm, hd_compression how, const char *text) {
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
static void put_elf(hd_buf *b, const section *sections, size_t n, uint16_t machine) {
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

static void put_member(hd_buf *b, const char *name, const void *data, size_t n) {
  hd_buf_printf(b, "%-16s%-12d%-6d%-6d%-8o%-10zu%s", name, 0, 0, 0, 0644, n, ARFMAG);
  hd_buf_put(b, data, n);
  if (n % 2) hd_buf_putc(b, '\n');
}

/* One region with one plain text. */
static hd_buf fatbin_of(const char *text) {
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

static void free_contents(contents *r) {
  for (size_t i = 0; i < r->modules.n; i++) free(r->modules.data[i].text);
  hd_vec_free(&r->modules);
  hd_vec_free(&r->errors);
}

/* Everything that comes out, errors included; closes the container. */
static void drain(contents *r, hd_container *c, size_t len) {
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

static contents read_bytes(const void *data, size_t len) {
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

static contents read_buf(const hd_buf *b) {
  assert_false(b->failed);
  return read_bytes(b->data, b->len);
}

/* The texts must be exactly these, and the errors' messages hold these words. */
static void expect(contents r, size_t modules, const char *const *texts, size_t errors,
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

static void expect_refused(const void *data, size_t len, hd_status status, const char *words) {
  contents r = read_bytes(data, len);
  assert_int_equal(r.opened, status);
  expect(r, NONE, ERRORS(words));
}

static const char text_a[] = ".version 9.0\n.target sm_80\n.address_size 64\n";
static const char text_b[] = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n";
static const hd_compression ways[] = {HD_COMP_NONE, HD_COMP_LZ4, HD_COMP_ZSTD};

/* ---- Texts and files of other kinds ------------------------------------- */

static void an_empty_file_is_refused(void **state) { expect_refused("", 0, HD_ERR_INPUT, "empty"); }

static void a_text_is_one_module(void **state) {
  contents r = read_bytes(text_a, strlen(text_a));
  assert_int_equal(r.kind, HD_CONTAINER_PTX);
  assert_string_equal(r.modules.data[0].label, "f");
  assert_int_equal(r.modules.data[0].sm, 0);
  expect(r, TEXTS(text_a), NONE);
  static const char utf8[] = "// \xC3\xA9t\xC3\xA9\n.version 9.0\n";
  expect(read_bytes(utf8, strlen(utf8)), TEXTS(utf8), NONE);
}

static void nuls_behind_a_text_are_not_text(void **state) {
  static const char padded[8192] = ".version 9.0\n";
  for (size_t n = 13; n <= sizeof padded; n = n * 2 + 1) expect(read_bytes(padded, n), TEXTS(padded), NONE);
}

static void a_binary_of_no_known_kind_is_refused(void **state) {
  static const char *const binaries[] = {"\x1F\x8B\x08", "BC\xC0\xDE\x35\x14", "PK\x03\x04", "ab\x01",
                                         "MZ\x7f"};
  for (size_t i = 0; i < COUNT(binaries); i++)
    expect_refused(binaries[i], strlen(binaries[i]), HD_ERR_INPUT, "not PTX, a fatbin, or an ELF file");
  expect_refused("a\0b", 3, HD_ERR_INPUT, "not PTX, a fatbin, or an ELF file");
  expect_refused("\0\0\0\0", 4, HD_ERR_INPUT, "not PTX, a fatbin, or an ELF file");
}

/* ---- Entries ------------------------------------------------------------ */

static void an_entry_gives_its_text_however_compressed(void **state) {
  hd_buf b = {0};
  size_t at[COUNT(ways)], region = begin_region(&b);
  for (size_t i = 0; i < COUNT(ways); i++) at[i] = add_ptx(&b, 80 + (unsigned)i, ways[i], text_b);
  end_region(&b, region);
  contents r = read_buf(&b);
  assert_int_equal(r.kind, HD_CONTAINER_FATBIN);
  for (size_t i = 0; i < COUNT(ways); i++) {
    const module *m = &r.modules.data[i];
    char label[16];
    snprintf(label, sizeof label, "f#%zu", i);
    assert_int_equal(m->compression, ways[i]);
    assert_int_equal(m->sm, 80 + i);
    assert_int_equal(m->offset, at[i]);
    assert_int_equal(m->index, i);
    assert_string_equal(m->label, label);
  }
  expect(r, TEXTS(text_b, text_b, text_b), NONE);
  hd_buf_free(&b);
}

static void a_zstd_frame_without_content_size_is_read(void **state) {
  hd_buf b = {0};
  size_t region = begin_region(&b);
  add_compressed(&b, KIND_PTX, 80, HD_COMP_ZSTD, text_b, strlen(text_b), false);
  end_region(&b, region);
  expect(read_buf(&b), TEXTS(text_b), NONE);
  hd_buf_free(&b);
}

static void a_plain_payload_without_padding_is_read_to_its_end(void **state) {
  static const char eight[] = "// 12345"; /* no room for a NUL */
  hd_buf b = {0};
  size_t region = begin_region(&b);
  add_payload(&b, KIND_PTX, 80, eight, 8, 0);
  end_region(&b, region);
  expect(read_buf(&b), TEXTS(eight), NONE);
  hd_buf_free(&b);
}

static void texts_of_all_sizes_end_in_a_nul(void **state) {
  /* No padding in the payloads; the buffer for one text is reused for the next. */
  hd_buf b = {0};
  HD_VEC(size_t) sizes = {0};
  size_t region = begin_region(&b);
  for (size_t n = 8; n <= 1 << 18; n *= 2) {
    char *text = malloc(n + 8);
    memset(text, ' ', n + 8);
    for (size_t len = n - 8; len <= n + 8; len += 8) {
      if (len == 0) continue;
      add_payload(&b, KIND_PTX, 80, text, len, 0);
      assert_true(hd_vec_push(&sizes, len));
    }
    free(text);
  }
  end_region(&b, region);
  contents r = read_buf(&b); /* asserts the NULs */
  assert_int_equal(r.modules.n, sizes.n);
  for (size_t i = 0; i < sizes.n; i++) assert_int_equal(r.modules.data[i].len, sizes.data[i]);
  free_contents(&r);
  hd_vec_free(&sizes);
  hd_buf_free(&b);
}

static void entries_of_other_kinds_are_skipped(void **state) {
  hd_buf b = {0};
  size_t region = begin_region(&b);
  add_payload(&b, KIND_CUBIN, 80, "\177ELF....", 8, 0);
  add_payload(&b, KIND_CUBIN, 80, "", 0, 0);
  add_compressed(&b, KIND_LTO, 80, HD_COMP_LZ4, text_a, strlen(text_a), true);
  add_payload(&b, 0xFFFF, 80, "x", 1, 48);
  add_ptx(&b, 80, HD_COMP_ZSTD, text_a);
  end_region(&b, region);
  contents r = read_buf(&b);
  assert_int_equal(r.modules.data[0].index, 0);
  expect(r, TEXTS(text_a), NONE);
  hd_buf_free(&b);
}

/* What is wrong in an entry's header, and the words that tell. */
static void a_wrong_entry_is_reported_and_the_next_one_read(void **state) {
  static const struct {
    hd_compression how;
    size_t field, bytes;
    int64_t add; /* to what the field holds */
    const char *words;
  } cases[] = {
      {HD_COMP_LZ4, ENTRY_DECOMPRESSED_SIZE, 8, -1, "does not decompress"},
      {HD_COMP_LZ4, ENTRY_DECOMPRESSED_SIZE, 8, +1, "does not decompress"},
      {HD_COMP_LZ4, ENTRY_COMPRESSED_SIZE, 4, -1, "does not decompress"},
      {HD_COMP_ZSTD, ENTRY_DECOMPRESSED_SIZE, 8, -1, "does not decompress"},
      {HD_COMP_ZSTD, ENTRY_DECOMPRESSED_SIZE, 8, +1, "does not decompress"},
      {HD_COMP_ZSTD, ENTRY_COMPRESSED_SIZE, 4, -1, "does not decompress"},
      {HD_COMP_LZ4, ENTRY_COMPRESSED_SIZE, 4, 1000, "compressed bytes in a payload"},
      {HD_COMP_ZSTD, ENTRY_COMPRESSED_SIZE, 4, 1000, "compressed bytes in a payload"},
      {HD_COMP_LZ4, ENTRY_FLAGS, 8, FLAG_ZSTD, "unknown way"},
      {HD_COMP_LZ4, ENTRY_FLAGS, 8, -FLAG_LZ4, "unknown way"},
      {HD_COMP_LZ4, ENTRY_FLAGS, 8, FLAG_ZSTD - FLAG_LZ4, "does not decompress"},
      {HD_COMP_ZSTD, ENTRY_FLAGS, 8, FLAG_LZ4 - FLAG_ZSTD, "does not decompress"},
      {HD_COMP_NONE, ENTRY_FLAGS, 8, FLAG_LZ4, "to nothing"},
      {HD_COMP_LZ4, ENTRY_DECOMPRESSED_SIZE, 8, 1 << 30, "the limit is 1 GB"},
      {HD_COMP_ZSTD, ENTRY_DECOMPRESSED_SIZE, 8, 1 << 30, "the limit is 1 GB"},
      {HD_COMP_ZSTD, ENTRY_DECOMPRESSED_SIZE, 8, INT64_MIN, "the limit is 1 GB"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    hd_buf b = {0};
    size_t region = begin_region(&b);
    size_t at = add_ptx(&b, 80, cases[i].how, text_b) + cases[i].field;
    add_ptx(&b, 90, HD_COMP_ZSTD, text_a);
    end_region(&b, region);
    poke(&b, at, cases[i].bytes, peek(&b, at, cases[i].bytes) + (uint64_t)cases[i].add);
    contents r = read_buf(&b);
    assert_int_equal(r.modules.n, 1);
    assert_int_equal(r.modules.data[0].index, 1); /* the corrupt one counts */
    expect(r, TEXTS(text_a), ERRORS(cases[i].words));
    hd_buf_free(&b);
  }
}

static void decompression_is_limited_to_4096_times(void **state) {
  enum { N = 1 << 24 };
  char *text = malloc(N);
  memset(text, ' ', N);
  hd_buf b = {0};
  size_t region = begin_region(&b);
  size_t at = add_compressed(&b, KIND_PTX, 80, HD_COMP_ZSTD, text, N, true);
  end_region(&b, region);
  free(text);
  size_t compressed = peek(&b, at + ENTRY_COMPRESSED_SIZE, 4);
  assert_true(compressed * 4096 < N);
  expect(read_buf(&b), NONE, ERRORS("the limit is 4096 times"));
  poke(&b, at + ENTRY_DECOMPRESSED_SIZE, 8, compressed * 4096);
  expect(read_buf(&b), NONE, ERRORS("does not decompress"));
  hd_buf_free(&b);
}

static void an_empty_ptx_entry_is_reported(void **state) {
  hd_buf b = {0};
  size_t region = begin_region(&b);
  add_payload(&b, KIND_PTX, 80, "", 0, 0);
  add_payload(&b, KIND_PTX, 80, "\0\0\0", 3, 0);
  add_ptx(&b, 80, HD_COMP_LZ4, "");
  add_ptx(&b, 80, HD_COMP_NONE, text_a);
  end_region(&b, region);
  expect(read_buf(&b), TEXTS(text_a), ERRORS("is empty", "is empty", "is empty"));
  hd_buf_free(&b);
}

static void behind_an_entry_without_a_known_end_the_next_region_is_read(void **state) {
  static const struct {
    size_t field, bytes;
    uint64_t value;
    const char *words;
  } cases[] = {
      {ENTRY_HEADER_SIZE, 4, 0, "header of 0 bytes"},
      {ENTRY_HEADER_SIZE, 4, ENTRY_HEADER - 1, "header of 63 bytes"},
      {ENTRY_HEADER_SIZE, 4, UINT32_MAX, "header of 4294967295 bytes"},
      {ENTRY_PAYLOAD_SIZE, 8, 1 << 16, "holds 65536 bytes"},
      {ENTRY_PAYLOAD_SIZE, 8, UINT64_MAX, "holds 18446744073709551615 bytes"},
      {ENTRY_PAYLOAD_SIZE, 8, UINT64_MAX - ENTRY_HEADER, "holds 18446744073709551551 bytes"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    hd_buf b = {0};
    size_t region = begin_region(&b);
    add_ptx(&b, 80, HD_COMP_LZ4, text_a);
    size_t at = add_ptx(&b, 80, HD_COMP_ZSTD, text_b);
    end_region(&b, region);
    poke(&b, at + cases[i].field, cases[i].bytes, cases[i].value);
    region = begin_region(&b);
    add_ptx(&b, 80, HD_COMP_ZSTD, text_b);
    end_region(&b, region);
    expect(read_buf(&b), TEXTS(text_a, text_b), ERRORS(cases[i].words));
    hd_buf_free(&b);
  }
}

/* ---- Regions ------------------------------------------------------------ */

static void regions_follow_each_other_with_padding(void **state) {
  static const size_t gaps[] = {0, 8, 24, 40, 4096, 3 << 20};
  for (size_t i = 0; i < COUNT(gaps); i++) {
    hd_buf b = fatbin_of(text_a), second = fatbin_of(text_b);
    put_zeros(&b, gaps[i]);
    end_region(&b, begin_region(&b)); /* one without entries */
    put_zeros(&b, gaps[i]);
    hd_buf_put(&b, second.data, second.len);
    put_zeros(&b, gaps[i]);
    expect(read_buf(&b), TEXTS(text_a, text_b), NONE);
    hd_buf_free(&b);
    hd_buf_free(&second);
  }
}

static void bytes_between_regions_are_reported_once(void **state) {
  hd_buf b = fatbin_of(text_a), second = fatbin_of(text_b);
  hd_buf_puts(&b, "junk that is 32 bytes long, yes.");
  hd_buf_put(&b, second.data, second.len);
  expect(read_buf(&b), TEXTS(text_a, text_b), ERRORS("no fatbin header"));
  hd_buf_free(&b);
  hd_buf_free(&second);
}

static void a_fatbin_of_another_version_is_refused(void **state) {
  hd_buf b = fatbin_of(text_a), second = fatbin_of(text_b);
  poke(&b, REGION_VERSION, 2, 2);
  hd_buf_put(&b, second.data, second.len);
  contents r = read_buf(&b);
  assert_int_equal(r.errors.data[0].status, HD_ERR_UNSUPPORTED);
  expect(r, TEXTS(text_b), ERRORS("version 2"));
  hd_buf_free(&b);
  hd_buf_free(&second);
}

static void a_region_that_claims_more_than_there_is_gives_what_is_there(void **state) {
  static const uint64_t claims[] = {1 << 20, INT64_MAX, UINT64_MAX, UINT64_MAX - REGION_HEADER + 1};
  for (size_t i = 0; i < COUNT(claims); i++) {
    hd_buf b = fatbin_of(text_a);
    poke(&b, REGION_SIZE, 8, claims[i]);
    expect(read_buf(&b), TEXTS(text_a), ERRORS("is cut short"));
    hd_buf_free(&b);
  }
}

/* ---- ELF ---------------------------------------------------------------- */

static void fatbins_are_found_in_all_sections_loaded_as_data(void **state) {
  hd_buf a = fatbin_of(text_a), b = fatbin_of(text_b), mixed = {0}, elf = {0};
  hd_buf_puts(&mixed, "words before");
  pad_to(&mixed, 8);
  hd_buf_put(&mixed, a.data, a.len);
  hd_buf_puts(&mixed, "words behind");
  const section sections[] = {
      {".nv_fatbin", SHT_PROGBITS, SHF_ALLOC, &b},
      {"__nv_relfatbin", SHT_PROGBITS, 0, &a},
      {".rodata", SHT_PROGBITS, SHF_ALLOC, &mixed},
      {".debug", SHT_PROGBITS, 0, &a},
      {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, &a},
      {".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, &a},
      {".note", SHT_NOTE, SHF_ALLOC, &a},
  };
  put_elf(&elf, sections, COUNT(sections), EM_X86_64);
  contents r = read_buf(&elf);
  assert_int_equal(r.kind, HD_CONTAINER_ELF);
  expect(r, TEXTS(text_b, text_a, text_a), NONE);
  hd_buf_free(&a);
  hd_buf_free(&b);
  hd_buf_free(&mixed);
  hd_buf_free(&elf);
}

/* A file with one fatbin section, to be damaged: the section headers are
 * number 0, the section and the string table. */
static hd_buf small_elf(const char *section_name) {
  hd_buf a = fatbin_of(text_a), elf = {0};
  put_elf(&elf, &(section){section_name, SHT_PROGBITS, SHF_ALLOC, &a}, 1, EM_X86_64);
  hd_buf_free(&a);
  return elf;
}

static size_t section_field(const hd_buf *elf, size_t i, size_t field) {
  return peek(elf, offsetof(Elf64_Ehdr, e_shoff), 8) + i * sizeof(Elf64_Shdr) + field;
}

static void what_only_resembles_a_fatbin_is_data(void **state) {
  static const struct {
    size_t field, bytes;
    uint64_t value;
  } cases[] = {{REGION_VERSION, 2, 2},
               {REGION_HEADER_SIZE, 2, 24},
               {REGION_SIZE, 8, 1 << 20},
               {REGION_SIZE, 8, UINT64_MAX}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    hd_buf elf = small_elf(".rodata"), strict = small_elf(".nv_fatbin");
    poke(&elf, 64 + cases[i].field, cases[i].bytes, cases[i].value);
    poke(&strict, 64 + cases[i].field, cases[i].bytes, cases[i].value);
    expect(read_buf(&elf), NONE, NONE);
    contents r = read_buf(&strict);
    assert_int_equal(r.errors.n, 1); /* where nothing else may be, it is damaged */
    free_contents(&r);
    hd_buf_free(&elf);
    hd_buf_free(&strict);
  }
}

static void regions_are_aligned_in_the_file_whatever_their_section_is(void **state) {
  hd_buf elf = small_elf(".ldata");
  size_t offset = section_field(&elf, 1, offsetof(Elf64_Shdr, sh_offset));
  size_t size = section_field(&elf, 1, offsetof(Elf64_Shdr, sh_size));
  poke(&elf, offset, 8, peek(&elf, offset, 8) - 4);
  poke(&elf, size, 8, peek(&elf, size, 8) + 4);
  expect(read_buf(&elf), TEXTS(text_a), NONE);
  hd_buf_free(&elf);
}

static void a_file_without_sections_is_searched_as_a_whole(void **state) {
  hd_buf elf = small_elf(".nv_fatbin");
  poke(&elf, offsetof(Elf64_Ehdr, e_shoff), 8, 0);
  poke(&elf, offsetof(Elf64_Ehdr, e_shnum), 2, 0);
  expect(read_buf(&elf), TEXTS(text_a), NONE);
  hd_buf_free(&elf);
}

static void a_cubin_has_no_modules(void **state) {
  hd_buf elf = small_elf(".nv_fatbin");
  poke(&elf, offsetof(Elf64_Ehdr, e_machine), 2, EM_CUDA);
  expect(read_buf(&elf), NONE, NONE);
  hd_buf_free(&elf);
}

static void elf_files_of_other_machines_are_refused_by_name(void **state) {
  hd_buf elf = small_elf(".nv_fatbin");
  poke(&elf, EI_CLASS, 1, ELFCLASS32);
  expect_refused(elf.data, elf.len, HD_ERR_UNSUPPORTED, "a 32-bit ELF file");
  expect_refused(elf.data, sizeof(Elf32_Ehdr), HD_ERR_UNSUPPORTED, "a 32-bit ELF file");
  poke(&elf, EI_CLASS, 1, ELFCLASS64);
  poke(&elf, EI_DATA, 1, ELFDATA2MSB);
  expect_refused(elf.data, elf.len, HD_ERR_UNSUPPORTED, "a big-endian ELF file");
  poke(&elf, EI_DATA, 1, 7);
  expect_refused(elf.data, elf.len, HD_ERR_INPUT, "no known word size or byte order");
  hd_buf_free(&elf);
}

static void section_headers_outside_the_file_are_refused(void **state) {
  static const struct {
    size_t field, bytes;
    uint64_t value;
  } cases[] = {
      {offsetof(Elf64_Ehdr, e_shoff), 8, UINT64_MAX}, {offsetof(Elf64_Ehdr, e_shoff), 8, UINT64_MAX - 63},
      {offsetof(Elf64_Ehdr, e_shnum), 2, 4},          {offsetof(Elf64_Ehdr, e_shnum), 2, UINT16_MAX},
      {offsetof(Elf64_Ehdr, e_shentsize), 2, 40},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    hd_buf elf = small_elf(".nv_fatbin");
    poke(&elf, cases[i].field, cases[i].bytes, cases[i].value);
    expect_refused(elf.data, elf.len, HD_ERR_INPUT, "section headers");
    hd_buf_free(&elf);
  }
}

static void section_counts_above_16_bits_are_read_from_section_0(void **state) {
  hd_buf elf = small_elf(".nv_fatbin");
  poke(&elf, offsetof(Elf64_Ehdr, e_shnum), 2, 0);
  poke(&elf, offsetof(Elf64_Ehdr, e_shstrndx), 2, SHN_XINDEX);
  poke(&elf, section_field(&elf, 0, offsetof(Elf64_Shdr, sh_size)), 8, 3);
  poke(&elf, section_field(&elf, 0, offsetof(Elf64_Shdr, sh_link)), 4, 2);
  poke(&elf, section_field(&elf, 1, offsetof(Elf64_Shdr, sh_flags)), 8, 0); /* found by its name only */
  expect(read_buf(&elf), TEXTS(text_a), NONE);
  static const uint64_t counts[] = {4, (uint64_t)1 << 32, (uint64_t)1 << 58, UINT64_MAX};
  for (size_t i = 0; i < COUNT(counts); i++) {
    poke(&elf, section_field(&elf, 0, offsetof(Elf64_Shdr, sh_size)), 8, counts[i]);
    expect_refused(elf.data, elf.len, HD_ERR_INPUT, "section headers");
  }
  hd_buf_free(&elf);
}

static void a_fatbin_section_outside_the_file_is_refused(void **state) {
  static const uint64_t sizes[] = {1 << 20, UINT64_MAX, UINT64_MAX - 63};
  for (size_t i = 0; i < COUNT(sizes); i++) {
    hd_buf elf = small_elf(".nv_fatbin"), data = small_elf(".data");
    poke(&elf, section_field(&elf, 1, offsetof(Elf64_Shdr, sh_size)), 8, sizes[i]);
    expect_refused(elf.data, elf.len, HD_ERR_INPUT, "fatbin section lies outside");
    poke(&data, section_field(&data, 1, offsetof(Elf64_Shdr, sh_size)), 8, sizes[i]);
    expect(read_buf(&data), NONE, NONE); /* a loader's problem, not a fatbin's */
    hd_buf_free(&elf);
    hd_buf_free(&data);
  }
}

static void bytes_in_many_sections_are_read_once(void **state) {
  hd_buf a = fatbin_of(text_a), elf = {0};
  section sections[14];
  for (size_t i = 0; i < COUNT(sections); i++)
    sections[i] = (section){i % 2 ? ".data" : ".nv_fatbin", SHT_PROGBITS, SHF_ALLOC, &a};
  put_elf(&elf, sections, COUNT(sections), EM_X86_64);
  uint64_t first = peek(&elf, section_field(&elf, 1, offsetof(Elf64_Shdr, sh_offset)), 8);
  for (size_t i = 1; i <= COUNT(sections); i++)
    poke(&elf, section_field(&elf, i, offsetof(Elf64_Shdr, sh_offset)), 8, first);
  expect(read_buf(&elf), TEXTS(text_a), NONE);
  hd_buf_free(&a);
  hd_buf_free(&elf);
}

static void damaged_section_names_do_not_hide_a_fatbin(void **state) {
  static const struct {
    size_t section, field, bytes;
    uint64_t value;
  } cases[] = {{1, offsetof(Elf64_Shdr, sh_name), 4, UINT32_MAX},
               {2, offsetof(Elf64_Shdr, sh_offset), 8, UINT64_MAX},
               {2, offsetof(Elf64_Shdr, sh_size), 8, 6},
               {2, offsetof(Elf64_Shdr, sh_size), 8, 0},
               {2, offsetof(Elf64_Shdr, sh_type), 4, SHT_NULL}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    hd_buf elf = small_elf(".nv_fatbin");
    poke(&elf, section_field(&elf, cases[i].section, cases[i].field), cases[i].bytes, cases[i].value);
    expect(read_buf(&elf), TEXTS(text_a), NONE);
    hd_buf_free(&elf);
  }
  hd_buf elf = small_elf(".nv_fatbin");
  static const char unterminated[] = ".nv_fatbin"; /* the last bytes of the file */
  poke(&elf, section_field(&elf, 1, offsetof(Elf64_Shdr, sh_name)), 4, 0);
  poke(&elf, section_field(&elf, 2, offsetof(Elf64_Shdr, sh_offset)), 8, elf.len);
  poke(&elf, section_field(&elf, 2, offsetof(Elf64_Shdr, sh_size)), 8, strlen(unterminated));
  hd_buf_puts(&elf, unterminated);
  expect(read_buf(&elf), TEXTS(text_a), NONE);
  hd_buf_free(&elf);
}

/* ---- Archives ----------------------------------------------------------- */

static void objects_in_an_archive_are_searched(void **state) {
  hd_buf a = small_elf(".nv_fatbin"), b = {0}, ar = {0}, bsd = {0};
  hd_buf bin = fatbin_of(text_b);
  put_elf(&b, &(section){"__nv_relfatbin", SHT_PROGBITS, SHF_ALLOC, &bin}, 1, EM_X86_64);
  hd_buf_puts(&ar, "!<arch>\n");
  put_member(&ar, "/", "\0\0\0\0", 4);
  put_member(&ar, "//", "a_very_long_member_name.o/\n", 27);
  put_member(&ar, "a.o/", a.data, a.len);
  put_member(&ar, "readme.txt/", "words", 5);
  put_member(&ar, "/0", b.data, b.len);
  put_member(&ar, "empty/", "", 0);
  hd_buf_puts(&bsd, "another_long_name.o");
  put_zeros(&bsd, 1);
  hd_buf_put(&bsd, a.data, a.len);
  put_member(&ar, "#1/20", bsd.data, bsd.len);
  put_member(&ar, "bare.fatbin/", bin.data, bin.len);
  contents r = read_buf(&ar);
  assert_int_equal(r.kind, HD_CONTAINER_ARCHIVE);
  for (size_t i = 0; i < r.modules.n; i++) assert_int_equal(peek(&ar, r.modules.data[i].offset, 2), KIND_PTX);
  expect(r, TEXTS(text_a, text_b, text_a, text_b), NONE);
  hd_buf_free(&a);
  hd_buf_free(&b);
  hd_buf_free(&ar);
  hd_buf_free(&bsd);
  hd_buf_free(&bin);
}

static void a_member_that_cannot_be_read_is_named_and_the_next_one_read(void **state) {
  hd_buf good = small_elf(".nv_fatbin"), bad = small_elf(".nv_fatbin"), ar = {0};
  poke(&bad, EI_CLASS, 1, ELFCLASS32);
  hd_buf_puts(&ar, "!<arch>\n");
  put_member(&ar, "//", "a_very_long_member_name.o/\n", 27);
  put_member(&ar, "/0", bad.data, bad.len);
  put_member(&ar, "/99", bad.data, 20);
  put_member(&ar, "inner.a/", "!<arch>\n", 8);
  put_member(&ar, "short.o/", good.data, 63);
  put_member(&ar, "good.o/", good.data, good.len);
  contents r = read_buf(&ar);
  assert_int_equal(r.errors.n, 4);
  assert_string_equal(r.errors.data[0].file, "f(a_very_long_member_name.o)");
  assert_string_equal(r.errors.data[1].file, "f(/99)");
  assert_string_equal(r.errors.data[2].file, "f(inner.a)");
  assert_string_equal(r.errors.data[3].file, "f(short.o)");
  expect(r, TEXTS(text_a),
         ERRORS("32-bit", "32-bit", "an archive inside an archive", "ends inside its header"));
  hd_buf_free(&good);
  hd_buf_free(&bad);
  hd_buf_free(&ar);
}

static void a_damaged_member_header_ends_an_archive(void **state) {
  static const struct {
    size_t field;
    const char *value, *words;
  } cases[] = {
      {offsetof(struct ar_hdr, ar_fmag), "xx", "no archive member header"},
      {offsetof(struct ar_hdr, ar_size), "          ", "no archive member header"},
      {offsetof(struct ar_hdr, ar_size), "-1        ", "no archive member header"},
      {offsetof(struct ar_hdr, ar_size), "0x10      ", "no archive member header"},
      {offsetof(struct ar_hdr, ar_size), "9999999999", "of which the file holds"},
  };
  hd_buf elf = small_elf(".nv_fatbin");
  for (size_t i = 0; i < COUNT(cases); i++) {
    hd_buf ar = {0};
    hd_buf_puts(&ar, "!<arch>\n");
    put_member(&ar, "a.o/", elf.data, elf.len);
    size_t at = ar.len;
    put_member(&ar, "b.o/", elf.data, elf.len);
    memcpy(ar.data + at + cases[i].field, cases[i].value, strlen(cases[i].value));
    contents r = read_buf(&ar);
    assert_int_equal(r.errors.n, 1);
    assert_string_equal(r.errors.data[0].file, "f");
    expect(r, TEXTS(text_a), ERRORS(cases[i].words));
    hd_buf_free(&ar);
  }
  hd_buf_free(&elf);
}

static void a_thin_archive_is_refused(void **state) {
  expect_refused("!<thin>\n", 8, HD_ERR_UNSUPPORTED, "a thin archive");
}

/* ---- Properties --------------------------------------------------------- */

static uint64_t pick(uint64_t seed, uint64_t *n, uint64_t below) {
  return hd_random_at(seed, (*n)++) % below;
}

/* What a generated file holds. */
typedef struct truth {
  HD_VEC(module) modules; /* len, sm and compression; text */
} truth;

static void free_truth(truth *t) {
  for (size_t i = 0; i < t->modules.n; i++) free(t->modules.data[i].text);
  hd_vec_free(&t->modules);
}

/* Regions of entries, with padding between them. */
static hd_buf random_regions(uint64_t seed, uint64_t *n, size_t regions, truth *t) {
  hd_buf b = {0};
  for (size_t i = 0; i < regions; i++) {
    size_t region = begin_region(&b);
    for (uint64_t k = pick(seed, n, 4); k > 0; k--) {
      hd_buf text = {0};
      hd_buf_printf(&text, ".version 8.%u\n", (unsigned)pick(seed, n, 9));
      for (uint64_t w = pick(seed, n, 40); w > 0; w--)
        hd_buf_printf(&text, "add.s32 %%r%u, %%r%u, 1;\n", (unsigned)pick(seed, n, 9),
                      (unsigned)pick(seed, n, 9));
      module m = {.sm = (unsigned)pick(seed, n, 130), .compression = ways[pick(seed, n, COUNT(ways))]};
      if (pick(seed, n, 4) == 0) {
        add_payload(&b, KIND_CUBIN, m.sm, text.data, text.len, 8 * pick(seed, n, 5));
        hd_buf_free(&text);
        continue;
      }
      add_ptx(&b, m.sm, m.compression, text.data);
      m.text = text.data;
      m.len = text.len;
      assert_true(hd_vec_push(&t->modules, m));
    }
    end_region(&b, region);
    put_zeros(&b, 8 * pick(seed, n, 4));
  }
  return b;
}

static void put_random_elf(hd_buf *out, uint64_t seed, uint64_t *n, truth *t) {
  static const char *const names[] = {".nv_fatbin", "__nv_relfatbin", ".ldata", ".rodata"};
  hd_buf bins[3];
  section sections[COUNT(bins)];
  for (size_t i = 0; i < COUNT(bins); i++) {
    bins[i] = random_regions(seed, n, 1 + pick(seed, n, 3), t);
    sections[i] = (section){names[pick(seed, n, COUNT(names))], SHT_PROGBITS, SHF_ALLOC, &bins[i]};
  }
  put_elf(out, sections, COUNT(bins), EM_AARCH64);
  for (size_t i = 0; i < COUNT(bins); i++) hd_buf_free(&bins[i]);
}

static hd_buf random_file(uint64_t seed, truth *t) {
  uint64_t n = 0;
  hd_buf b = {0};
  switch (pick(seed, &n, 3)) {
  case 0: return random_regions(seed, &n, 1 + pick(seed, &n, 4), t);
  case 1: put_random_elf(&b, seed, &n, t); return b;
  default:
    hd_buf_puts(&b, "!<arch>\n");
    for (uint64_t k = pick(seed, &n, 4); k > 0; k--) {
      hd_buf elf = {0};
      put_random_elf(&elf, seed, &n, t);
      put_member(&b, "x.o/", elf.data, elf.len);
      hd_buf_free(&elf);
    }
    return b;
  }
}

static bool same_module(const module *a, const module *b) {
  return a->len == b->len && memcmp(a->text, b->text, a->len) == 0 && a->sm == b->sm &&
         a->compression == b->compression;
}

static void all_modules_come_out_in_order(void **state) {
  for (uint64_t seed = 0; seed < 500; seed++) {
    truth t = {0};
    hd_buf b = random_file(seed, &t);
    contents r = read_buf(&b);
    assert_int_equal(r.opened, HD_OK);
    assert_int_equal(r.errors.n, 0);
    assert_int_equal(r.modules.n, t.modules.n);
    for (size_t i = 0; i < r.modules.n; i++) {
      assert_true(same_module(&r.modules.data[i], &t.modules.data[i]));
      assert_int_equal(r.modules.data[i].index, i);
      assert_int_equal(peek(&b, r.modules.data[i].offset + ENTRY_KIND, 2), KIND_PTX);
      assert_int_equal(peek(&b, r.modules.data[i].offset + ENTRY_SM, 4), r.modules.data[i].sm);
    }
    free_contents(&r);
    free_truth(&t);
    hd_buf_free(&b);
  }
}

static void a_fatbin_cut_anywhere_gives_the_modules_before_the_cut(void **state) {
  truth t = {0};
  uint64_t n = 0;
  hd_buf b = random_regions(7, &n, 4, &t);
  contents whole = read_buf(&b);
  for (size_t len = 4; len < b.len; len++) {
    contents r = read_bytes(b.data, len);
    size_t complete = 0;
    for (size_t i = 0; i < whole.modules.n; i++) {
      size_t at = whole.modules.data[i].offset;
      complete += at + peek(&b, at + ENTRY_HEADER_SIZE, 4) + peek(&b, at + ENTRY_PAYLOAD_SIZE, 8) <= len;
    }
    assert_int_equal(r.modules.n, complete);
    for (size_t i = 0; i < complete; i++)
      assert_true(same_module(&r.modules.data[i], &whole.modules.data[i]));
    assert_true(r.errors.n <= 1);
    assert_true(complete == whole.modules.n || r.errors.n == 1 ||
                len <= whole.modules.data[complete].offset - REGION_HEADER);
    free_contents(&r);
  }
  free_contents(&whole);
  free_truth(&t);
  hd_buf_free(&b);
}

static void damage_in_a_payload_harms_only_its_module(void **state) {
  truth t = {0};
  uint64_t n = 0;
  hd_buf b = random_regions(11, &n, 4, &t);
  contents whole = read_buf(&b);
  assert_true(whole.modules.n > 3);
  for (uint64_t round = 0; round < 2000; round++) {
    size_t hit = pick(round, &n, whole.modules.n), at = whole.modules.data[hit].offset;
    size_t payload = at + peek(&b, at + ENTRY_HEADER_SIZE, 4);
    size_t byte = payload + pick(round, &n, peek(&b, at + ENTRY_PAYLOAD_SIZE, 8));
    char old = b.data[byte];
    b.data[byte] = (char)(old ^ (1 + pick(round, &n, 255)));
    contents r = read_buf(&b);
    b.data[byte] = old;
    for (size_t i = 0, k = 0; i < whole.modules.n; i++) {
      bool out = k < r.modules.n && r.modules.data[k].index == i;
      assert_true(i == hit || (out && same_module(&r.modules.data[k], &whole.modules.data[i])));
      k += out;
    }
    assert_true(r.modules.n + r.errors.n == whole.modules.n);
    free_contents(&r);
  }
  free_contents(&whole);
  free_truth(&t);
  hd_buf_free(&b);
}

/* drain() checks what must hold of every outcome. */
static void damage_anywhere_is_survived(void **state) {
  for (uint64_t seed = 0; seed < 4000; seed++) {
    truth t = {0};
    uint64_t n = 1000;
    hd_buf b = random_file(seed % 40, &t);
    for (uint64_t k = 1 + pick(seed, &n, 4); k > 0; k--) {
      size_t at = pick(seed, &n, b.len), bytes = (size_t)1 << pick(seed, &n, 4);
      static const uint64_t values[] = {0, 1, 8, 0x40, 0xFFFF, UINT32_MAX, INT64_MAX, UINT64_MAX};
      if (at + bytes <= b.len) poke(&b, at & ~(bytes - 1), bytes, values[pick(seed, &n, COUNT(values))]);
    }
    contents r = read_bytes(b.data, b.len - pick(seed, &n, 2) * pick(seed, &n, b.len));
    assert_true(r.modules.n <= t.modules.n + 1);
    free_contents(&r);
    free_truth(&t);
    hd_buf_free(&b);
  }
}

/* ---- Files -------------------------------------------------------------- */

static contents read_path(const char *path) {
  contents r = {0};
  hd_diag d = {0};
  hd_container *c;
  r.opened = hd_container_open(path, &c, &d);
  if (r.opened)
    assert_true(hd_vec_push(&r.errors, d));
  else
    drain(&r, c, 1 << 20);
  return r;
}

static void files_are_read_as_bytes_are(void **state) {
  char path[] = "/tmp/test_container.XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  for (uint64_t seed = 0; seed < 12; seed++) {
    truth t = {0};
    hd_buf b = random_file(seed, &t);
    /* Large enough that pages are given back while it is read. */
    if (peek(&b, 0, 4) == 0xBA55ED50) put_zeros(&b, 5 << 20);
    hd_diag d;
    assert_int_equal(hd_file_write(path, b.data, b.len, &d), HD_OK);
    contents r = read_path(path), bytes = read_buf(&b);
    assert_int_equal(r.kind, bytes.kind);
    assert_int_equal(r.errors.n, 0);
    assert_int_equal(r.modules.n, bytes.modules.n);
    for (size_t i = 0; i < r.modules.n; i++) {
      assert_true(same_module(&r.modules.data[i], &bytes.modules.data[i]));
      assert_memory_equal(r.modules.data[i].label, path, strlen(path));
    }
    free_contents(&r);
    free_contents(&bytes);
    free_truth(&t);
    hd_buf_free(&b);
  }
  /* A text that fills its last page, so that no NUL follows it in the mapping. */
  char text[8192 + 1];
  memset(text, ' ', sizeof text - 1);
  text[sizeof text - 1] = 0;
  assert_int_equal(hd_file_write(path, text, strlen(text), NULL), HD_OK);
  expect(read_path(path), TEXTS(text), NONE);
  unlink(path);
}

static void a_path_that_cannot_be_read_is_an_io_error(void **state) {
  static const char *const paths[] = {"/nonexistent/file", "/tmp"};
  for (size_t i = 0; i < COUNT(paths); i++) {
    contents r = read_path(paths[i]);
    assert_int_equal(r.opened, HD_ERR_IO);
    assert_string_equal(r.errors.data[0].file, paths[i]);
    free_contents(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_empty_file_is_refused),
      cmocka_unit_test(a_text_is_one_module),
      cmocka_unit_test(nuls_behind_a_text_are_not_text),
      cmocka_unit_test(a_binary_of_no_known_kind_is_refused),
      cmocka_unit_test(an_entry_gives_its_text_however_compressed),
      cmocka_unit_test(a_zstd_frame_without_content_size_is_read),
      cmocka_unit_test(a_plain_payload_without_padding_is_read_to_its_end),
      cmocka_unit_test(texts_of_all_sizes_end_in_a_nul),
      cmocka_unit_test(entries_of_other_kinds_are_skipped),
      cmocka_unit_test(a_wrong_entry_is_reported_and_the_next_one_read),
      cmocka_unit_test(decompression_is_limited_to_4096_times),
      cmocka_unit_test(an_empty_ptx_entry_is_reported),
      cmocka_unit_test(behind_an_entry_without_a_known_end_the_next_region_is_read),
      cmocka_unit_test(regions_follow_each_other_with_padding),
      cmocka_unit_test(bytes_between_regions_are_reported_once),
      cmocka_unit_test(a_fatbin_of_another_version_is_refused),
      cmocka_unit_test(a_region_that_claims_more_than_there_is_gives_what_is_there),
      cmocka_unit_test(fatbins_are_found_in_all_sections_loaded_as_data),
      cmocka_unit_test(what_only_resembles_a_fatbin_is_data),
      cmocka_unit_test(regions_are_aligned_in_the_file_whatever_their_section_is),
      cmocka_unit_test(a_file_without_sections_is_searched_as_a_whole),
      cmocka_unit_test(a_cubin_has_no_modules),
      cmocka_unit_test(elf_files_of_other_machines_are_refused_by_name),
      cmocka_unit_test(section_headers_outside_the_file_are_refused),
      cmocka_unit_test(section_counts_above_16_bits_are_read_from_section_0),
      cmocka_unit_test(a_fatbin_section_outside_the_file_is_refused),
      cmocka_unit_test(bytes_in_many_sections_are_read_once),
      cmocka_unit_test(damaged_section_names_do_not_hide_a_fatbin),
      cmocka_unit_test(objects_in_an_archive_are_searched),
      cmocka_unit_test(a_member_that_cannot_be_read_is_named_and_the_next_one_read),
      cmocka_unit_test(a_damaged_member_header_ends_an_archive),
      cmocka_unit_test(a_thin_archive_is_refused),
      cmocka_unit_test(all_modules_come_out_in_order),
      cmocka_unit_test(a_fatbin_cut_anywhere_gives_the_modules_before_the_cut),
      cmocka_unit_test(damage_in_a_payload_harms_only_its_module),
      cmocka_unit_test(damage_anywhere_is_survived),
      cmocka_unit_test(files_are_read_as_bytes_are),
      cmocka_unit_test(a_path_that_cannot_be_read_is_an_io_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
