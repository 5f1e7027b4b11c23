/* Every byte string is a module whose kernels run to their end, to a fault, or are refused; never
 * worse, and equally under every instruction set. */
#include "heddle/emu.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER = 4096, MAX_PARAMS = 16 };

static void require(bool ok) {
  if (!ok) abort();
}

/* Launch every kernel, all of whose 64-bit parameters point to one buffer; returns a hash of the results.
 */
static uint64_t run_all(const hd_ptx_module *m, hd_emu_isa isa, unsigned checks) {
  hd_diag d = {0};
  hd_emu *e;
  hd_emu_options o = {
      .checks = checks, .threads = 1, .n_sms = 3, .memory = 1 << 20, .max_instructions = 3000, .isa = isa};
  if (hd_emu_create(&o, &e, &d) != HD_OK) return 0; /* an instruction set that this processor lacks */
  hd_emu_program *p;
  uint64_t hash = 0, buffer;
  if (hd_emu_load(e, m, &p, &d) != HD_OK) {
    require(d.status != HD_OK && d.message[0]);
    hd_emu_destroy(e);
    return 1;
  }
  require(hd_emu_alloc(e, BUFFER, &buffer, &d) == HD_OK || d.message[0]);
  for (uint32_t k = 0; buffer && k < m->n_funcs; k++) {
    const hd_ptx_func *f = &m->funcs[k];
    if (!f->entry || !f->has_body || f->n_params > MAX_PARAMS) continue;
    uint64_t offsets[MAX_PARAMS + 1], bytes = hd_ptx_param_layout(m, f, offsets);
    if (bytes > 4096) continue;
    char *params = calloc(1, bytes + 8);
    for (uint32_t n = 0; n < f->n_params; n++) {
      uint64_t size = hd_ptx_var_size(m, &m->vars[f->first_param + n]), v = size == 8 ? buffer : 40;
      memcpy(params + offsets[n], &v, size < 8 ? size : 8);
    }
    memset(hd_emu_ptr(e, buffer, BUFFER), 1, BUFFER);
    hd_emu_mark_written(e, buffer, BUFFER);
    hd_emu_launch_params l = {.kernel = m->syms[f->sym].name,
                              .grid = {3, 1, 1},
                              .block = {40, 1, 1},
                              .dynamic_shared = 256,
                              .args = params,
                              .args_bytes = bytes};
    hd_dispatch how = {(hd_dispatch_kind)(k % HD_DISPATCH_COUNT), k, 2};
    hd_emu_stats s;
    hd_status st = hd_emu_launch(p, &l, &how, NULL, &s, &d);
    if (st == HD_OK) {
      hash = hash * 31 + hd_hash(hd_emu_ptr(e, buffer, BUFFER), BUFFER) + s.thread_instructions;
    } else {
      char line[2048];
      require(d.status == st && d.message[0]);
      hd_diag_line(&d, line, sizeof line);
      require(!strchr(line, '\n'));
      hash = hash * 31 + (uint64_t)st;
    }
    free(params);
  }
  hd_emu_unload(p);
  hd_emu_destroy(e);
  return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hd_arena arena;
  hd_arena_init(&arena);
  arena.limit = 64 << 20;
  hd_ptx_module *m;
  hd_diag d;
  if (hd_ptx_parse((const char *)data, size, "fuzz", &arena, &m, &d) == HD_OK) {
    const uint64_t portable = run_all(m, HD_ISA_PORTABLE, 0);
    for (hd_emu_isa isa = HD_ISA_AVX2; isa <= HD_ISA_AVX512; isa++) {
      uint64_t vector = run_all(m, isa, 0);
      require(!vector || vector == portable);
    }
    run_all(m, HD_ISA_AUTO, HD_CHECK_ALL);
  }
  hd_arena_free(&arena);
  return 0;
}
