/* What a workload's results follow from: other contents of a file that fills a buffer are another workload.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/predict.h"
#include "session.h"

static const char kernel[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                             ".visible .entry k(.param .u64 out)\n{\nret;\n}\n";

static void put(const char *name, const char *text) {
  FILE *f = fopen(name, "w");
  assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static hd_digest digest_of(const char *type, const char *fill) {
  char toml[512];
  hd_diag d = {0};
  snprintf(
      toml, sizeof toml,
      "title = \"t\"\nsource = \"k.ptx\"\n[sizes.small]\nn = 4\n[[buffer]]\nname = \"out\"\ntype = \"%s\"\n"
      "count = \"n\"\nfill = '%s'\n[[launch]]\nkernel = \"k\"\ngrid = [\"n\"]\nblock = [32]\nargs = "
      "[\"out\"]\n",
      type, fill);
  put("workload.toml", toml);
  hd_workload *w = open_workload(".", "small");
  hd_digest h = hd_digest_begin();
  if (hd_workload_digest(w, 0, &h, &d) != HD_OK) fail_msg("%s: %s", fill, d.message);
  hd_workload_close(w);
  return h;
}

static void every_file_that_fills_a_buffer_counts(void **state) {
  static const struct {
    const char *type, *fill;
  } cases[] = {{"u32", "file(\"data.csv\")"},
               {"u32", "column(\"data.csv\", 1)"},
               {"u64", "recorded(\"data.bin\")'\nat = '0x7f0000000000"}};
  char folder[] = "/tmp/heddle-digest-XXXXXX", back[4096];
  assert_true(getcwd(back, sizeof back) && mkdtemp(folder) && chdir(folder) == 0);
  put("k.ptx", kernel);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char a[HD_DIGEST_HEX], b[HD_DIGEST_HEX], c[HD_DIGEST_HEX];
    put("data.csv", "1,2\n3,4\n");
    put("data.bin", "0123456789abcdef");
    hd_digest_hex((hd_digest[]){digest_of(cases[i].type, cases[i].fill)}, a);
    hd_digest_hex((hd_digest[]){digest_of(cases[i].type, cases[i].fill)}, b);
    put("data.csv", "1,2\n3,5\n");
    put("data.bin", "0123456789abcdeF");
    hd_digest_hex((hd_digest[]){digest_of(cases[i].type, cases[i].fill)}, c);
    assert_string_equal(a, b);
    if (strcmp(a, c) == 0) fail_msg("%s: other data, the same digest", cases[i].fill);
  }
  assert_true(unlink("k.ptx") == 0 && unlink("data.csv") == 0 && unlink("data.bin") == 0 &&
              unlink("workload.toml") == 0 && chdir(back) == 0 && rmdir(folder) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_file_that_fills_a_buffer_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
