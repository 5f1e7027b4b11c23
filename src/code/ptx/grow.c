/* Arrays of the module that grow while it is parsed. */
#include "ptx/lexer.h"

#include <stdlib.h>

void *ptx_grow(ptx_parser *ps, const void *data, uint32_t n, uint32_t *cap, size_t elem, const char *what) {
  if (n >= (uint32_t)INT32_MAX) {
    ps->status = hd_fail(ps->diag, HD_ERR_INPUT, "%s: more than 2^31 %s", ps->diag_name, what);
    longjmp(ps->escape, 1);
  }
  uint32_t want = *cap < 32 ? 64 : *cap > INT32_MAX / 2 ? INT32_MAX : *cap * 2;
  size_t bytes;
  if (!hd_mul_size(want, elem, &bytes)) ptx_out_of_memory(ps);
  void *p = hd_arena_alloc(ps->arena, bytes, 16);
  if (n) memcpy(p, data, n * elem);
  *cap = want;
  return p;
}
