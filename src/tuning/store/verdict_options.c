/* From a verdict to the options of rewriting. As key.c, this file needs neither the data base nor JSON. */
#include <string.h>

#include "heddle/verdict_options.h"

hd_status hd_verdict_assume(const hd_verdict *v, unsigned *assume,
                            char unwritten[sizeof((hd_verdict *)0)->assume], hd_diag *d) {
  static const char key[] = HD_VERDICT_UNWRITTEN;
  const char *at = strstr(v->assume, key);
  char words[sizeof v->assume] = "";
  const size_t n = at ? (size_t)(at - v->assume) : strlen(v->assume);
  *assume = 0;
  unwritten[0] = 0;
  memcpy(words, v->assume, n);
  if (at && n && words[n - 1] == ',') words[n - 1] = 0;
  bool known = !words[0] || hd_assume_parse(words, assume);
  if (known && at) {
    at += sizeof key - 1;
    memcpy(unwritten, at, strlen(at) + 1);
    known = *at && at[strspn(at, "0123456789+")] == 0;
  }
  return known ? HD_OK
               : hd_fail(d, HD_ERR_INPUT, "the verdict rests on '%s', which this heddle does not know",
                         v->assume);
}

hd_status hd_verdict_read_options(const hd_verdict *v, const hd_plan *p, uint32_t n_sms,
                                  hd_table_source *tables, void *ctx, hd_verdict_options *out, hd_diag *d) {
  uint64_t tasks;
  hd_rewrite_options *o = &out->rewrite;
  *out = (hd_verdict_options){.rewrite = {.grid = {.known = true, .n_sms = n_sms}}};
  if (!hd_verdict_launch_parse(v->key.launch, o->grid.g, o->block, &out->shared) ||
      !hd_grid_tasks(o->grid.g, &tasks))
    return hd_fail(d, HD_ERR_INPUT, "the verdict's launch is not understood");
  o->dynamic_shared = out->shared != 0;
  hd_status st = hd_verdict_assume(v, &o->assume, out->unwritten, d);
  if (st != HD_OK || !hd_order_needs_table(p->order.kind)) return st;
  if (p->order.kind != HD_ORDER_TABLE)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "the order's table is not kept with the verdict");
  st = tables(ctx, p->table, tasks, &out->table, d);
  if (st == HD_OK) o->table = &out->table;
  return st;
}
