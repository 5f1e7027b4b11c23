/* Uniformity by running: random programs, of whose threads some start alike. */
#include "cfg/subject.h"

enum { THREADS = 8, STEPS = 400, REGS = 9 };

/* A thread of a random body: each register and which blocks it ran, in order. Bodies only add registers. */
typedef struct thread {
  uint32_t reg[64];
  uint64_t path;
  unsigned blocks[STEPS], n;
  bool cut; /* it was stopped before its end */
} thread;

/* Interprets the code that put_comparing_body makes: add, mov of numbers, setp.lt, guarded branches. */
static void run(const subject *s, thread *t) {
  const hd_cfg *g = &s->g;
  const hd_ptx_module *m = s->m;
  t->cut = true;
  for (uint32_t pc = 0, steps = 0; steps < STEPS; steps++) {
    if (pc == g->blocks[g->insts[pc].block].first) t->blocks[t->n++] = g->insts[pc].block;
    const hd_ptx_stmt *st = hd_inst_stmt(g, pc);
    const hd_ptx_opnd *o = &m->opnds[st->first_opnd];
    bool runs = !st->guard || (t->reg[m->syms[st->guard].index] != 0) != st->guard_neg;
    pc++;
    if (!runs) continue;
    switch (hd_inst_form(g, pc - 1)->op) {
    case HD_OP_ADD:
      t->reg[m->syms[o[0].sym].index] = t->reg[m->syms[o[1].sym].index] + t->reg[m->syms[o[2].sym].index];
      break;
    case HD_OP_SETP:
      t->reg[m->syms[o[0].sym].index] = t->reg[m->syms[o[1].sym].index] < t->reg[m->syms[o[2].sym].index];
      break;
    case HD_OP_MOV:
      if (o[1].kind == HD_O_INT) t->reg[m->syms[o[0].sym].index] = (uint32_t)o[1].imm;
      break;
    case HD_OP_BRA: pc = g->calls[0].position[m->syms[o[0].sym].index]; break;
    default: t->cut = false; return;
    }
  }
}

/* Adds, numbers, comparisons and branches that depend on them. */
static void put_comparing_body(hd_buf *body, uint64_t seed) {
  draws d = {.seed = seed};
  hd_buf_puts(body, "mov.u32 %r0, %tid.x;\n");
  /* A register without a value may be taken to have any. */
  for (uint32_t r = 1; r < REGS; r++) hd_buf_printf(body, "mov.u32 %%r%u, %u;\n", r, r * 7 % 5);
  for (uint32_t p = 0; p < 4; p++) hd_buf_printf(body, "setp.lt.u32 %%p%u, %%r1, %%r1;\n", p);
  uint32_t nodes = 4 + draw(&d, 16);
  for (uint32_t i = 0; i < nodes; i++) {
    bool guarded = !draw(&d, 5), adds = draw(&d, 2), not = draw(&d, 2);
    uint32_t r[5] = {1 + draw(&d, 8), draw(&d, 9), draw(&d, 9), draw(&d, 9), draw(&d, 9)};
    uint32_t p = draw(&d, 4), q = draw(&d, 4), any = draw(&d, nodes);
    uint32_t to = draw(&d, 4) ? i + 1 + draw(&d, 3) : any;
    hd_buf_printf(body, "L%u: ", i);
    if (adds)
      hd_buf_printf(body, "%sadd.u32 %%r%u, %%r%u, %%r%u;\n", guarded ? "@%p2 " : "", r[0], r[1], r[2]);
    if (!draw(&d, 3))
      hd_buf_printf(body, "%smov.u32 %%r%u, %u;\n", guarded ? "@!%p1 " : "", r[2] ? r[2] : 1, i);
    hd_buf_printf(body, "setp.lt.u32 %%p%u, %%r%u, %%r%u;\n", p, r[3], r[4]);
    if (to < nodes) hd_buf_printf(body, "@%s%%p%u bra L%u;\n", not ? "!" : "", q, to);
  }
  hd_buf_puts(body, "ret;\n");
}

static void threads_that_start_alike_do_alike_what_is_said_to_be_the_same(void **state) {
  unsigned alike = 0, apart = 0;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    hd_buf body = {0};
    put_comparing_body(&body, seed);
    subject s;
    hd_uniformity u;
    assert_int_equal(open_subject(&s, "", body.data, 0), HD_OK);
    hd_uniformity_find(&s.g, (uint32_t[3]){0}, &s.arena, &u);
    static thread threads[THREADS];
    memset(threads, 0, sizeof threads);
    hd_sym id = 0;
    for (hd_sym y = 1; y < s.m->n_syms; y++)
      if (s.m->syms[y].kind == HD_SYM_REG && strcmp(s.m->syms[y].name, "%r0") == 0) id = y;
    for (unsigned t = 0; t < THREADS; t++) {
      threads[t].reg[s.m->syms[id].index] = t * 3;
      run(&s, &threads[t]);
    }
    /* Of the blocks that are the same for all, every thread runs the same ones in the same order. */
    for (unsigned t = 1; t < THREADS; t++) {
      unsigned x = 0, y = 0;
      for (;;) {
        while (x < threads[0].n && u.block[threads[0].blocks[x]] != HD_SAME_IN_CTA) x++, apart++;
        while (y < threads[t].n && u.block[threads[t].blocks[y]] != HD_SAME_IN_CTA) y++;
        if (x == threads[0].n || y == threads[t].n) break; /* both ended, or one was cut off */
        if (threads[0].blocks[x] != threads[t].blocks[y]) fail_msg("%s", body.data);
        x++, y++, alike++;
      }
      const bool cut = threads[0].cut || threads[t].cut;
      if (!cut && (x < threads[0].n || y < threads[t].n)) fail_msg("%s", body.data);
    }
    close_subject(&s);
    hd_buf_free(&body);
  }
  assert_true(alike > 1000);
  assert_true(apart > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("threads run the blocks that are the same for all in the same order, in random programs",
                threads_that_start_alike_do_alike_what_is_said_to_be_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
