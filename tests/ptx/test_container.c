/* Containers of every kind, damaged in every field. */
#include "container_files.h"

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

/* Damage to one field of an entry's header, and words of the message. */
static void a_wrong_entry_is_reported_and_the_next_one_read(void **state) {
  static const struct {
    hd_compression how;
    size_t field, bytes;
    int64_t add; /* to the field's value */
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
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
