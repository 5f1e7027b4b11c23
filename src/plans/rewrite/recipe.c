/* The needs of a rewritten kernel's launch beyond the original's: parameters, memory, the grid. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_internal.h"

/* A kernel's parameters fill at most so many bytes before PTX ISA 8.1, and from then on sm_70. */
enum { MOST_PARAM_BYTES_OLD = 4096, MOST_PARAM_BYTES = 32764 };

void hd_recipe_grid(const hd_recipe *r, const uint32_t tasks[3], uint32_t n_sms, uint32_t resident,
                    uint32_t workers[3]) {
  uint64_t V;
  memcpy(workers, tasks, 3 * sizeof *tasks);
  if (!r->agents || !hd_grid_tasks(tasks, &V) || V > HD_MOST_CLAIMED) return;
  uint64_t places = (uint64_t)n_sms * resident;
  if (places == 0) places = 1;
  workers[0] = (uint32_t)(places < V || r->fills ? places : V);
  workers[1] = workers[2] = 1;
}

void hd_recipe_params(const hd_recipe *r, const uint32_t tasks[3], uint64_t state, uint64_t table,
                      void *params) {
  char *p = params;
  if (r->state_bytes) memcpy(p + r->state_offset, &state, sizeof state);
  if (r->table_bytes) memcpy(p + r->table_offset, &table, sizeof table);
  if (r->grid) memcpy(p + r->grid_offset, tasks, 3 * sizeof *tasks);
}

/* The parameters as text, "(.param .u64 ~state, ...)". */
static unsigned put_params(const rewrite_job *j, hd_buf *text) {
  const hd_recipe *r = j->recipe;
  unsigned n = 0;
  if (r->state_bytes) rewrite_put(j, text, "%s.param .u64 ~state", n++ ? ", " : "(");
  if (r->table_bytes) rewrite_put(j, text, "%s.param .u64 ~table", n++ ? ", " : "(");
  for (unsigned k = 0; r->grid && k < 3; k++)
    rewrite_put(j, text, "%s.param .u32 ~n%c", n++ ? ", " : "(", "xyz"[k]);
  rewrite_put(j, text, ")");
  return n;
}

static hd_status lay_out(rewrite_job *j, hd_diag *d) {
  hd_recipe *r = j->recipe;
  const hd_ptx_func *f = &j->m->funcs[j->func];
  uint64_t *offsets = calloc((size_t)f->n_params + 1, sizeof *offsets);
  if (!offsets) return hd_nomem(d);
  r->params_bytes = hd_ptx_param_layout(j->m, f, offsets);
  const uint64_t *at = offsets + r->n_params;
  if (r->state_bytes) r->state_offset = *at++;
  if (r->table_bytes) r->table_offset = *at++;
  if (r->grid) r->grid_offset = *at;
  free(offsets);
  bool old =
      j->m->sm < 70 || j->m->version_major < 8 || (j->m->version_major == 8 && j->m->version_minor < 1);
  uint64_t most = old ? MOST_PARAM_BYTES_OLD : MOST_PARAM_BYTES;
  if (r->params_bytes > most)
    return hd_fail(d, HD_ERR_REFUSED, "the kernel's parameters leave no room for those that this plan adds");
  return HD_OK;
}

/* A variable of the module that begins as zeros, before the kernel. */
static hd_status own_state(rewrite_job *j, hd_diag *d) {
  enum { ALIGN = 128 };
  hd_buf text = {0};
  uint32_t at = 0;
  rewrite_put(j, &text, ".global .align %u .b8 ~state[%" PRIu64 "];\n", ALIGN, j->recipe->state_bytes);
  while (at < j->m->n_items && !(j->m->items[at].kind == HD_I_FUNC && j->m->items[at].index == j->func)) at++;
  const hd_status st = text.failed ? hd_nomem(d) : hd_ptx_insert_items(j->m, at, text.data, d);
  hd_buf_free(&text);
  j->recipe->own_state = true;
  j->recipe->state_bytes = 0;
  return st;
}

void rewrite_put_state(const rewrite_job *j, hd_buf *text, const char *name) {
  if (j->recipe->own_state)
    rewrite_put(j, text, "\tmov.u64 %%~%s, ~state;\n", name);
  else
    rewrite_put(j, text, "\tld.param.u64 %%~%s, [~state];\n\tcvta.to.global.u64 %%~%s, %%~%s;\n", name, name,
                name);
}

hd_status rewrite_add_params(rewrite_job *j, hd_diag *d) {
  hd_ptx_module *m = j->m;
  if (j->opt->own_state && j->recipe->state_bytes) {
    const hd_status st = own_state(j, d);
    if (st != HD_OK) return st;
  }
  hd_buf text = {0};
  hd_sym kernel = m->funcs[j->func].sym;
  j->recipe->n_params = m->funcs[j->func].n_params;
  unsigned n = put_params(j, &text);
  hd_status st = text.failed ? hd_nomem(d) : HD_OK;
  if (st == HD_OK && n && m->address_size != 64)
    st = hd_fail(d, HD_ERR_UNSUPPORTED,
                 "this plan needs device memory, and the module's addresses have %u bits", m->address_size);
  /* Its declarations, too. */
  for (uint32_t i = 0; st == HD_OK && n && i < m->n_funcs; i++)
    if (m->funcs[i].sym == kernel) st = hd_ptx_add_params(m, i, text.data, d);
  hd_buf_free(&text);
  return st == HD_OK ? lay_out(j, d) : st;
}

void hd_recipe_print(const char *kernel, const hd_recipe *r, hd_buf *text) {
  if (r->no_dynamic_shared)
    hd_buf_printf(text, "// Launch %s without dynamic shared memory, as its text has none.\n", kernel);
  const bool has_params = r->state_bytes || r->table_bytes || r->grid;
  if (!has_params && !r->agents) return;
  hd_buf_printf(text, "// Launch %s as before, but%s\n", kernel,
                has_params ? " with these parameters behind its own:" : "");
  if (r->state_bytes && r->ballot && !r->ballot_offset)
    hd_buf_printf(
        text,
        "//   .u64 at %" PRIu64 ": the address of %" PRIu64
        " bytes of device memory, zero at first: a u32 for each SM's number, which counts its CTAs.\n",
        r->state_offset, r->state_bytes);
  else if (r->state_bytes)
    hd_buf_printf(text,
                  "//   .u64 at %" PRIu64 ": the address of %" PRIu64
                  " bytes of device memory, zero at first; each launch "
                  "leaves them zero.\n//     Launches that may run at once need one such buffer each.\n",
                  r->state_offset, r->state_bytes);
  if (r->state_bytes && r->ballot && r->ballot_offset)
    hd_buf_printf(text,
                  "//     But for those from byte %" PRIu64
                  " on: a u32 for each SM's queue, which counts the tasks that the SM does.\n",
                  r->ballot_offset);
  if (r->table_bytes)
    hd_buf_printf(text,
                  "//   .u64 at %" PRIu64
                  ": the address of the order's table in device memory, one u32 per position\n",
                  r->table_offset);
  if (r->grid)
    hd_buf_printf(
        text, "//   .u32 at %" PRIu64 ", twice more behind it: the dimensions of the grid it had before\n",
        r->grid_offset);
  if (r->agents)
    hd_buf_printf(text,
                  "// %sin a grid of one dimension: the number of SMs times the CTAs that fit on one%s.\n",
                  has_params ? "and " : "", r->fills ? "" : ", no more than tasks");
}

void hd_recipe_tell(const char *kernel, const hd_recipe *r, hd_buf *out) {
  const size_t before = out->len;
  hd_recipe_print(kernel, r, out);
  if (out->len == before) hd_buf_printf(out, "// Launch %s as before.\n", kernel);
}
