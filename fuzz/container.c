/* Every byte string is a file that ends in modules and errors, never worse. */
#include "heddle/container.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hd_diag d;
  hd_container *c;
  if (hd_container_open_memory(data, size, "fuzz", &c, &d) != HD_OK) return 0;
  hd_ptx_text t;
  bool more;
  size_t calls = 0;
  do {
    hd_status rc = hd_container_next(c, &t, &more, &d);
    /* Each call consumes something: an entry, a region, a section or a member. */
    if (calls++ > size + 2) abort();
    if (rc) {
      if (more || d.status != rc || !d.message[0]) abort();
      more = true;
    } else if (more && (!t.len || t.data[t.len] || !t.data[t.len - 1] || t.offset >= size)) {
      abort();
    }
  } while (more);
  hd_container_close(c);
  return 0;
}
