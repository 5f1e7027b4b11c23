/* A function as a graph, for the tests of this floor. */
#ifndef HEDDLE_TESTS_CFG_SUBJECT_H
#define HEDDLE_TESTS_CFG_SUBJECT_H

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/cfg.h"

typedef struct subject {
  hd_arena arena;
  jmp_buf out_of_memory;
  hd_ptx_module *m;
  hd_cfg g;
} subject;

/* `functions` stand in front of the kernel k, which has registers %p, %r and %l 0 to 8. */
static hd_status open_subject(subject *s, const char *functions, const char *body, uint32_t max_insts) {
  hd_buf text = {0};
  hd_diag d;
  char line[1024];
  hd_buf_printf(&text,
                ".version 8.0\n.target sm_80\n.address_size 64\n%s\n.visible .entry k(.param .u64 p, .param "
                ".u64 q)\n{\n"
                ".reg .pred %%p<9>;\n.reg .b32 %%r<9>;\n.reg .b64 %%l<9>;\n%s\n}\n",
                functions, body);
  hd_arena_init(&s->arena);
  s->arena.escape = &s->out_of_memory;
  if (setjmp(s->out_of_memory)) fail_msg("out of memory");
  hd_status st = hd_ptx_parse(text.data, text.len, "test", &s->arena, &s->m, &d);
  if (st != HD_OK) fail_msg("%s", hd_diag_line(&d, line, sizeof line));
  s->arena.escape = &s->out_of_memory;
  st = hd_cfg_build(s->m, (uint32_t)hd_ptx_find_kernel(s->m, "k"), max_insts, &s->arena, &s->g, &d);
  hd_buf_free(&text);
  return st;
}

static void close_subject(subject *s) { hd_arena_free(&s->arena); }

/* Numbers below a limit, one after the other. */
typedef struct draws {
  uint64_t seed, n;
} draws;
static inline uint32_t draw(draws *d, uint32_t limit) {
  return (uint32_t)(hd_random_at(d->seed, d->n++) >> 33) % limit;
}

/* The body of a random graph: mostly near and forward branches, as programs have; now and then anywhere. */
static inline void put_random_body(hd_buf *body, uint64_t seed, uint32_t max_nodes, uint32_t registers) {
  draws d = {.seed = seed};
  uint32_t nodes = 2 + draw(&d, max_nodes - 2);
  for (uint32_t i = 0; i < nodes; i++) {
    bool guarded = !draw(&d, 5);
    uint32_t a = draw(&d, registers), b = draw(&d, registers), c = draw(&d, registers);
    hd_buf_printf(body, "L%u: %sadd.u32 %%r%u, %%r%u, %%r%u;\n", i, guarded ? "@%p2 " : "", a, b, c);
    uint32_t any = draw(&d, nodes), to = draw(&d, 4) ? i + 1 + draw(&d, 4) : any;
    if (to >= nodes) to = nodes - 1;
    switch (draw(&d, 8)) {
    case 0: hd_buf_printf(body, "bra.uni L%u;\n", to); break;
    case 1: hd_buf_puts(body, "@%p1 exit;\n"); break;
    case 2:
      hd_buf_printf(body, "T%u: .branchtargets L%u, L%u, L%u;\nbrx.idx %%r1, T%u;\n", i, to, any, to, i);
      break;
    case 3: hd_buf_puts(body, draw(&d, 4) ? "" : "ret;\n"); break;
    default: hd_buf_printf(body, "@%%p1 bra L%u;\n", to); break;
    }
  }
  hd_buf_puts(body, "ret;\n");
}

#endif
