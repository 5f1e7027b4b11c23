/* Generated containers: all of their modules come out, and cut or damaged ones never crash the reader. */
#include "container_files.h"

/* ---- Properties --------------------------------------------------------- */

static uint64_t pick(uint64_t seed, uint64_t *n, uint64_t below) {
  return hd_random_at(seed, (*n)++) % below;
}

/* The modules that a generated file holds. */
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

/* drain() checks the properties of every outcome. */
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
      cmocka_unit_test(all_modules_come_out_in_order),
      cmocka_unit_test(a_fatbin_cut_anywhere_gives_the_modules_before_the_cut),
      cmocka_unit_test(damage_in_a_payload_harms_only_its_module),
      cmocka_unit_test(damage_anywhere_is_survived),
      cmocka_unit_test(files_are_read_as_bytes_are),
      cmocka_unit_test(a_path_that_cannot_be_read_is_an_io_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
