/* Every byte string is a module or an error with a place; a module's print is a fixed
 * point, text inserted into it leaves it printable, and what ptxas would refuse of it
 * has a place. The input's part behind a '\1' is inserted into the first function with
 * a body. */
#include "heddle/ptx.h"
#include "heddle/ptx_valid.h"

#include <stdlib.h>
#include <string.h>

static void require(bool ok) {
  if (!ok) abort();
}

static hd_ptx_module *parse(const char *text, size_t len, hd_arena *arena) {
  hd_ptx_module *m;
  hd_diag d;
  memset(&d, 0, sizeof d);
  hd_status st = hd_ptx_parse(text, len, "fuzz", arena, &m, &d);
  if (st == HD_OK) return m;
  require(d.status == st && d.message[0] && (st == HD_ERR_INPUT || st == HD_ERR_NOMEM));
  require(st != HD_ERR_INPUT || d.line > 0);
  return NULL;
}

/* Print, parse and print again: the texts must be equal. */
static void check_fixed_point(const hd_ptx_module *m) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_buf once = {0}, twice = {0}, in_place = {0};
  require(hd_ptx_print(m, &once) == HD_OK);
  const hd_ptx_module *again = parse(once.data, once.len, &arena);
  require(again != NULL);
  require(hd_ptx_print(again, &twice) == HD_OK);
  require(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
  /* On its source lines, the module is the same one. */
  require(hd_ptx_print_in_place(m, &in_place) == HD_OK);
  again = parse(in_place.data, in_place.len, &arena);
  require(again != NULL);
  hd_buf_clear(&twice);
  require(hd_ptx_print(again, &twice) == HD_OK);
  require(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
  hd_buf_free(&once);
  hd_buf_free(&twice);
  hd_buf_free(&in_place);
  hd_arena_free(&arena);
}

static void check_validity(const hd_ptx_module *m) {
  hd_diag d;
  memset(&d, 0, sizeof d);
  const hd_status st = hd_ptx_validate(m, &d);
  require(st == HD_OK || st == HD_ERR_NOMEM || (st == HD_ERR_INPUT && d.line > 0 && d.message[0]));
}

static void insert(hd_ptx_module *m, const char *text) {
  hd_ptx_insert_items(m, m->n_items / 2, text, NULL);
  for (uint32_t i = 0; i < m->n_funcs; i++) {
    if (!m->funcs[i].has_body) continue;
    hd_ptx_insert(m, i, m->funcs[i].n_stmts / 2, text, NULL);
    break;
  }
  hd_ptx_fresh_prefix(m);
  hd_buf out = {0};
  require(hd_ptx_print(m, &out) == HD_OK);
  hd_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *split = size ? memchr(data, 1, size) : NULL;
  size_t len = split ? (size_t)(split - data) : size;
  hd_arena arena;
  hd_arena_init(&arena);
  arena.limit = 256u << 20;
  hd_ptx_module *m = parse((const char *)data, len, &arena);
  if (m) {
    check_fixed_point(m);
    check_validity(m);
    for (uint32_t i = 0; i < m->n_vars; i++) hd_ptx_var_size(m, &m->vars[i]);
    if (split) {
      char *text = strndup((const char *)split + 1, size - len - 1);
      require(text != NULL);
      insert(m, text);
      free(text);
    }
  }
  hd_arena_free(&arena);
  return 0;
}
