/* Modules that are linked into one text. */
#include "ptx_test.h"

/* A function that one module calls and another defines is in one text a function like others: ptxas takes no
 * .extern declaration of what the text defines. */
static void declarations_agree_with_definitions(void **state) {
  static const char head[] = ".version 8.0\n.target sm_80\n.address_size 64\n";
  static const char *const linkages[] = {".visible", ".weak"};
  for (int turn = 0; turn < 4; turn++) {
    char user[512], definer[512], want[64];
    snprintf(user, sizeof user,
             "%s.extern .func twice(.param .b32 x);\n.visible .entry k() { .param .b32 x;\n"
             "st.param.b32 [x], 1; call twice, (x); ret; }\n",
             head);
    snprintf(definer, sizeof definer, "%s%s .func twice(.param .b32 x) { ret; }\n", head, linkages[turn / 2]);
    const char *const texts[] = {turn % 2 ? definer : user, turn % 2 ? user : definer};
    hd_buf out = {0};
    assert_int_equal(hd_ptx_link(texts, 2, &out, NULL), HD_OK);
    assert_null(strstr(out.data, ".extern"));
    snprintf(want, sizeof want, "%s .func", linkages[turn / 2]);
    assert_non_null(strstr(out.data, want));
    hd_arena a;
    hd_arena_init(&a);
    hd_ptx_module *m = parse(&a, out.data);
    assert_true(hd_ptx_find_kernel(m, "k") >= 0);
    hd_arena_free(&a);
    hd_buf_free(&out);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(declarations_agree_with_definitions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
