/* Which of a fatbin's images a driver takes. */
#include "container_files.h"

enum { FLAG_EXACT = 0x100000, FLAG_FAMILY = 0x200000, ENTRY_MINOR = 24, ENTRY_MAJOR = 26 };

/* An image in words: "c90a" is machine code for sm_90a, "p100f" PTX for sm_100f, "p80@84" PTX 8.4 for sm_80.
 * Its text are the words. */
static void add_image(hd_buf *b, const char *word, hd_compression how) {
  char *end;
  const unsigned sm = (unsigned)strtoul(word + 1, &end, 10);
  const size_t at =
      word[0] == 'c' ? add_payload(b, KIND_CUBIN, sm, "\177ELF....", 8, 0) : add_ptx(b, sm, how, word);
  uint64_t flags = peek(b, at + ENTRY_FLAGS, 8);
  flags |= *end == 'a' ? FLAG_EXACT : *end == 'f' ? FLAG_FAMILY : 0;
  poke(b, at + ENTRY_FLAGS, 8, flags);
  const char *isa = strchr(word, '@');
  if (isa) {
    poke(b, at + ENTRY_MAJOR, 2, (uint64_t)(isa[1] - '0'));
    poke(b, at + ENTRY_MINOR, 2, (uint64_t)(isa[2] - '0'));
  }
}

static void choose(const char *images, unsigned arch, unsigned isa, hd_compression how, bool backwards,
                   hd_chosen *out, char text[32]) {
  char words[8][16];
  size_t n = 0;
  hd_buf b = {0};
  hd_container *c;
  hd_diag d;
  for (const char *p = images; *p; p += strspn(p, " ")) {
    const size_t len = strcspn(p, " ");
    assert_true(n < COUNT(words) && len < sizeof *words);
    memcpy(words[n], p, len);
    words[n++][len] = 0;
    p += len;
  }
  const size_t region = begin_region(&b);
  for (size_t k = 0; k < n; k++) add_image(&b, words[backwards ? n - 1 - k : k], how);
  end_region(&b, region);
  assert_int_equal(hd_container_open_memory(b.data, b.len, "test", &c, &d), HD_OK);
  assert_int_equal(hd_container_choose(c, arch, isa, out, &d), HD_OK);
  snprintf(text, 32, "%s", out->found ? out->text.data : "");
  hd_container_close(c);
  hd_buf_free(&b);
}

static const struct {
  const char *images;
  unsigned arch, isa;
  const char *text; /* "": there is none */
  bool runs, has_code;
} cases[] = {
    /* The most special of what runs. */
    {"p90 p90a", 90, 0, "p90a", true, false},
    {"p80 p90a p90", 90, 0, "p90a", true, false},
    {"p100 p100f p100a", 100, 0, "p100a", true, false},
    {"p100 p100f", 100, 0, "p100f", true, false},
    {"p100f p103", 103, 0, "p103", true, false},
    {"p100f p90", 103, 0, "p100f", true, false},
    /* sm_90a runs on no other GPU, sm_100f on its family. */
    {"p90a p80", 100, 0, "p80", true, false},
    {"p90a p90", 89, 0, "p90", false, false},
    {"p90a", 100, 0, "p90a", false, false},
    {"p90a", 90, 0, "p90a", true, false},
    {"p100f p80", 120, 0, "p80", true, false},
    {"p100a p90", 103, 0, "p90", true, false},
    {"p120f p120", 121, 0, "p120f", true, false},
    {"p103f p100", 100, 0, "p100", true, false},
    /* Machine code says which text is meant. */
    {"c90 p90 c90a p90a", 90, 0, "p90a", true, true},
    {"c90 p90 p90a", 90, 0, "p90", true, true},
    {"c90a p90a p90", 90, 0, "p90a", true, true},
    {"c90 p90a p80", 90, 0, "p80", true, true},
    {"c90a p90 p80", 90, 0, "p90", true, true},
    {"c90 p90a", 90, 0, "p90a", true, true},
    {"c80 p80 p86", 89, 0, "p80", true, true},
    {"c80 c86 p80 p86", 89, 0, "p86", true, true},
    {"c80 p80 p90", 90, 0, "p90", true, false},
    {"c100f p100f p100", 103, 0, "p100f", true, true},
    {"c100f p100f p90", 120, 0, "p90", true, false},
    {"c90a c100a p90", 100, 0, "p90", true, true},
    /* For later GPUs alone; with code that the GPU runs, the nearest of them. */
    {"p100 p120", 90, 0, "p100", false, false},
    {"c90 p100 p120", 90, 0, "p100", false, true},
    {"c90 p120 p100a p100", 90, 0, "p100", false, true},
    {"c90 c100", 90, 0, "", false, true},
    {"c80", 90, 0, "", false, false},
    {"", 90, 0, "", false, false},
    /* A version of PTX that the driver does not read. */
    {"p90@90 p80@84", 90, 84, "p80@84", true, false},
    {"p90@90 p80@84", 90, 90, "p90@90", true, false},
    {"p90a@88 p90@84", 90, 84, "p90@84", true, false},
    {"p90@90", 90, 84, "p90@90", true, false},
    {"c90 p90@90 p80@84", 90, 84, "p90@90", true, true},
    /* Machine code of sm_80 runs on 8.x alone, of 12.0 on 12.x. */
    {"c80 p100", 79, 0, "p100", false, false},
    {"c80 p100", 80, 0, "p100", false, true},
    {"c80 p100", 89, 0, "p100", false, true},
    {"c80 p130", 90, 0, "p130", false, false},
    {"c120 p130", 121, 0, "p130", false, true},
};

static void the_image_is_the_drivers_in_every_order_and_compression(void **state) {
  static const hd_compression ways[] = {HD_COMP_NONE, HD_COMP_LZ4, HD_COMP_ZSTD};
  for (size_t k = 0; k < COUNT(cases); k++)
    for (unsigned way = 0; way < 2 * COUNT(ways); way++) {
      hd_chosen c;
      char text[32];
      choose(cases[k].images, cases[k].arch, cases[k].isa, ways[way / 2], way % 2, &c, text);
      if (strcmp(text, cases[k].text) != 0 || c.runs != cases[k].runs || c.has_code != cases[k].has_code)
        fail_msg("%s on sm_%u, PTX %u: '%s'%s%s", cases[k].images, cases[k].arch, cases[k].isa, text,
                 c.runs ? ", runs" : "", c.has_code ? ", has code" : "");
    }
}

static void a_text_alone_has_no_choice(void **state) {
  static const char text[] = ".version 8.0\n.target sm_120\n";
  hd_container *c;
  hd_chosen out;
  hd_diag d;
  assert_int_equal(hd_container_open_memory(text, sizeof text - 1, "test", &c, &d), HD_OK);
  assert_int_equal(hd_container_choose(c, 90, 84, &out, &d), HD_OK);
  assert_true(out.found && out.runs);
  assert_string_equal(out.text.data, text);
  hd_container_close(c);
}

static void the_number_of_the_chosen_text_is_its_place_among_texts(void **state) {
  hd_buf b = {0};
  hd_container *c;
  hd_chosen out;
  hd_diag d;
  const size_t region = begin_region(&b);
  add_image(&b, "c90a", HD_COMP_NONE);
  add_image(&b, "p80", HD_COMP_NONE);
  add_image(&b, "p90a", HD_COMP_NONE);
  end_region(&b, region);
  assert_int_equal(hd_container_open_memory(b.data, b.len, "test", &c, &d), HD_OK);
  assert_int_equal(hd_container_choose(c, 90, 0, &out, &d), HD_OK);
  assert_int_equal(out.text.index, 1);
  assert_string_equal(out.text.label, "test#1");
  hd_container_close(c);
  hd_buf_free(&b);
}

static void targets_are_read_as_modules_write_them(void **state) {
  static const struct {
    const char *text;
    hd_target t;
  } all[] = {{"sm_90", {90, HD_TARGET_PLAIN}},
             {"sm_90a, debug", {90, HD_TARGET_EXACT}},
             {"sm_100f", {100, HD_TARGET_FAMILY}},
             {"sm_90, texmode_independent", {90, HD_TARGET_PLAIN}},
             {"texmode_independent, sm_90", {90, HD_TARGET_PLAIN}},
             {"debug, sm_90a", {90, HD_TARGET_EXACT}},
             {"", {0, HD_TARGET_PLAIN}},
             {NULL, {0, HD_TARGET_PLAIN}}};
  for (size_t k = 0; k < COUNT(all); k++) {
    const hd_target t = hd_target_parse(all[k].text);
    assert_int_equal(t.sm, all[k].t.sm);
    assert_int_equal(t.kind, all[k].t.kind);
  }
}

static void the_ptx_of_a_driver_is_that_of_its_version(void **state) {
  assert_int_equal(hd_ptx_isa_of_driver(12040), 84);
  assert_int_equal(hd_ptx_isa_of_driver(13000), 90);
  assert_int_equal(hd_ptx_isa_of_driver(99990), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_image_is_the_drivers_in_every_order_and_compression),
      cmocka_unit_test(a_text_alone_has_no_choice),
      cmocka_unit_test(the_number_of_the_chosen_text_is_its_place_among_texts),
      cmocka_unit_test(targets_are_read_as_modules_write_them),
      cmocka_unit_test(the_ptx_of_a_driver_is_that_of_its_version),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
