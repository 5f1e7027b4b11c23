/* Reads one module of a file. */
#include <inttypes.h>

#include "heddle/container.h"
#include "heddle/ptx_valid.h"

hd_status hd_module_load(const char *path, uint64_t index, hd_arena *arena, hd_ptx_module **m, hd_diag *d) {
  hd_container *c;
  hd_status st = hd_container_open(path, &c, d);
  if (st != HD_OK) return st;
  uint64_t seen = 0;
  bool found = false;
  for (;;) {
    hd_ptx_text t;
    bool more;
    st = hd_container_next(c, &t, &more, d);
    if (st != HD_OK || !more) break;
    if (index == UINT64_MAX && seen == 1) {
      st = hd_fail(d, HD_ERR_USAGE, "%s: holds several modules; choose one with --module (ls numbers them)",
                   path);
      break;
    }
    seen++;
    if (index != UINT64_MAX && t.index != index) continue;
    st = hd_ptx_parse_valid(t.data, t.len, t.label, arena, m, d);
    found = st == HD_OK;
    if (st != HD_OK || index != UINT64_MAX) break;
  }
  if (st == HD_OK && !found)
    st = index == UINT64_MAX ? hd_container_no_ptx(path, hd_container_assembled(c), d)
                             : hd_fail(d, HD_ERR_USAGE, "%s: no module %" PRIu64, path, index);
  hd_container_close(c);
  return st;
}
