/* Memory that runs out in text/, and while text/ works: jansson's allocations among them. */
#include "nomem.h"

#include "text/toml.h"

static const char text[] = "title = \"t\"\nlist = [1, 2.5, true]\n[table]\nkey = 'value'\n"
                           "[[rows]]\nname = \"a\"\n[[rows]]\nname = \"b\"\nof = { x = 1, y = -2 }\n";

/* tomlplusplus's own allocations are C++'s, and are not counted. */
static hd_status parse(void *ctx, hd_diag *d) {
  static const char *const known[] = {"title", "list", "table", "rows", NULL};
  json_t *tree;
  hd_status st = toml_parse(text, sizeof text - 1, "made-up.toml", &tree, d);
  if (st != HD_OK) return st;
  assert_int_equal(json_array_size(json_object_get(tree, "rows")), 2);
  assert_int_equal(toml_line(json_object_get(tree, "table"), "key"), 4);
  st = toml_only("made-up.toml", tree, known, d);
  json_decref(tree);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  json_set_alloc_funcs(malloc, free);
  nomem_expect(&(nomem_entry){"toml", parse, NULL, false});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
