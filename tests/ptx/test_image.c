/* Images in a program's own memory. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heddle/container.h"

typedef struct fatbin_head {
  uint32_t magic;
  uint16_t version, header;
  uint64_t size;
} fatbin_head;

static void an_image_in_memory_is_told_by_its_first_bytes(void **state) {
  const fatbin_head fatbin = {0xBA55ED50u, 1, 16, 0};
  const void *const joined[] = {&fatbin, NULL}, *const none[] = {NULL}, *data;
  struct {
    uint32_t magic, version;
    const void *data, *more;
  } wrapped = {0x466243b1, 1, &fatbin, NULL};
  assert_int_equal(hd_module_image_of(".version 8.0", &data), HD_MODULE_TEXT);
  assert_int_equal(hd_module_image_of("\177ELF", &data), HD_MODULE_ELF);
  assert_int_equal(hd_module_image_of(&fatbin, &data), HD_MODULE_FATBIN);
  assert_ptr_equal(data, &fatbin);
  assert_int_equal(hd_module_image_of(&wrapped, &data), HD_MODULE_FATBIN);
  assert_ptr_equal(data, &fatbin);
  wrapped.version = 2;
  wrapped.more = none;
  assert_int_equal(hd_module_image_of(&wrapped, &data), HD_MODULE_FATBIN);
  wrapped.more = joined;
  assert_int_equal(hd_module_image_of(&wrapped, &data), HD_MODULE_LINKED);
  assert_ptr_equal(data, joined);
}

static void text_is_ptx_if_it_begins_with_its_version(void **state) {
  static const struct {
    const char *text;
    size_t n;
    bool is;
  } cases[] = {
#define CASE(text, is) {text, sizeof text - 1, is}
      CASE(".version 8.0\n", true),
      CASE(" \t\r\n\f.version 8.0", true),
      CASE("// a line\n/* .version\n */ // another\n.version 8.0", true),
      CASE("/**/.version 8.0", true),
      CASE("\0.version 8.0", false), /* a NUL is no blank */
      CASE("\n\0\n.version 8.0", false),
      CASE("/*/.version 8.0", false), /* the comment goes on */
      CASE("// .version 8.0", false),
      CASE("/ .version 8.0", false),
      CASE(".target sm_80\n.version 8.0", false),
      CASE("x .version 8.0", false),
      CASE(".version", false),
      CASE("/", false),
      CASE("", false),
#undef CASE
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char *exact = memcpy(malloc(cases[k].n + !cases[k].n), cases[k].text, cases[k].n); /* for ASan */
    assert_int_equal(hd_ptx_is_text(exact, cases[k].n), cases[k].is);
    free(exact);
  }
}

static void a_fatbin_in_memory_ends_where_it_says_if_that_is_there(void **state) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(at != MAP_FAILED);
  munmap(at + page, page);
  const struct {
    fatbin_head head;
    const char *why; /* NULL: none */
  } cases[] = {{{0xBA55ED50u, 1, 16, 0}, NULL},
               {{0xBA55ED50u, 1, 16, page - 16}, NULL},
               {{0xBA55ED50u, 1, 16, page - 15}, "not all there"},
               {{0xBA55ED50u, 1, 16, (1u << 30) + 1ull}, "no fatbin"},
               {{0xBA55ED50u, 1, 16, UINT64_MAX}, "no fatbin"},
               {{0xBA55ED51u, 1, 16, 0}, "no fatbin"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_fatbin_span f;
    hd_diag d = {0};
    memcpy(at, &cases[i].head, sizeof cases[i].head);
    hd_status st = hd_fatbin_find(at, &f, &d);
    assert_int_equal(st, cases[i].why ? HD_ERR_INPUT : HD_OK);
    if (cases[i].why) {
      assert_non_null(strstr(d.message, cases[i].why));
    } else {
      assert_ptr_equal(f.data, at);
      assert_int_equal(f.bytes, 16 + cases[i].head.size);
    }
  }
  munmap(at, page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("an image in memory is told by its first bytes",
                an_image_in_memory_is_told_by_its_first_bytes),
      BEHAVIOUR("text is PTX if it begins with its version", text_is_ptx_if_it_begins_with_its_version),
      BEHAVIOUR("a fatbin in memory ends where it says, if that is there",
                a_fatbin_in_memory_ends_where_it_says_if_that_is_there),
  };
  return cmocka_run_group_tests_name("ptx.image", tests, NULL, NULL);
}
