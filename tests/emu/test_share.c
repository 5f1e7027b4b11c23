/* Registers that share slots of a frame: decode/share.c. */
#include "emu/machine/program.h"
#include "emu/ops_run.h"

enum { LANES = 32 };

typedef struct run_of {
  uint32_t grid, words; /* words: of the result, a CTA */
  uint32_t slots;       /* of the kernel's frame */
} run_of;

/* Runs kernel k of `body`, whose %d0 is the place of its CTA's words; %r0 is the thread, %r1 the CTA. */
static void run(const char *functions, const char *body, run_of *how, uint32_t *out) {
  hd_buf text = {0};
  hd_diag d = {0};
  op_machine x;
  op_ptx_header(&text);
  hd_buf_printf(&text,
                "%s.visible .entry k(.param .u64 out)\n{\n.reg .b32 %%r<256>; .reg .b64 %%d<256>; .reg .pred "
                "%%p<64>;\nmov.u32 %%r0, %%tid.x;\nmov.u32 %%r1, %%ctaid.x;\nld.param.u64 %%d0, [out];\n"
                "mad.wide.u32 %%d0, %%r1, %u, %%d0;\n%s\nret;\n}\n",
                functions, 4 * how->words, body);
  op_load(&x, &text, HD_ISA_AUTO);
  const int64_t k = hd_ptx_find_kernel(x.m, "k");
  how->slots = x.p->codes[k]->n_slots - x.p->codes[k]->n_init;
  const size_t bytes = (size_t)how->grid * how->words * 4;
  const uint64_t to = op_alloc(&x, NULL, bytes);
  op_ok(op_launch(&x, "k", how->grid, LANES, &to, sizeof to, &d), &d);
  op_ok(hd_emu_read(x.e, to, out, bytes, &d), &d);
  op_unload(&x);
  hd_buf_free(&text);
}

#define STORE(word, reg) "mad.wide.u32 %d1, %r0, 4, %d0;\nst.global.u32 [%d1+" #word "*128], " reg ";\n"

static void a_chain_takes_few_slots(void **state) {
  hd_buf body = {0};
  uint32_t out[LANES];
  run_of how = {1, LANES, 0};
  hd_buf_puts(&body, "add.u32 %r2, %r0, 1;\ncvt.u64.u32 %d2, %r0;\n");
  for (unsigned k = 3; k < 200; k++)
    hd_buf_printf(&body, "add.u32 %%r%u, %%r%u, %u;\nadd.u64 %%d%u, %%d%u, 2;\n", k, k - 1, k, k, k - 1);
  hd_buf_puts(&body, "cvt.u32.u64 %r200, %d199;\nadd.u32 %r201, %r199, %r200;\n" STORE(0, "%r201"));
  run("", body.data, &how, out);
  for (uint32_t l = 0; l < LANES; l++) assert_int_equal(out[l], l + 1 + 199 * 200 / 2 - 3 + l + 2 * 197);
  assert_in_range(how.slots, 1, 40);
  hd_buf_free(&body);
}

/* Whatever earlier CTAs, whose frame it gets, left in the slot. */
static void a_register_read_first_is_zero(void **state) {
  enum { GRID = 5 };
  uint32_t out[GRID * LANES];
  run_of how = {GRID, LANES, 0};
  run("",
      "add.u32 %r10, %r0, 7;\nmul.lo.u32 %r11, %r10, 3;\nadd.u32 %r12, %r11, %r10;\n"
      "add.u32 %r13, %r12, %r99;\n" /* not written so far, and on one path only */
      "setp.gt.u32 %p1, %r0, 15;\n@%p1 mov.u32 %r98, 1000;\nadd.u32 %r13, %r13, %r98;\n"
      "add.u32 %r99, %r12, %r13;\nadd.u32 %r98, %r99, 5;\nadd.u32 %r14, %r99, %r98;\n"
      "sub.u32 %r14, %r14, %r98;\nsub.u32 %r14, %r14, %r99;\nadd.u32 %r13, %r13, %r14;\n" STORE(0, "%r13"),
      &how, out);
  for (uint32_t n = 0; n < GRID * LANES; n++)
    assert_int_equal(out[n], 4 * (n % LANES + 7) + (n % LANES > 15 ? 1000 : 0));
}

/* A value that is made before a loop and read behind it, or made in one turn and read in the next. */
static void values_live_through_loops(void **state) {
  uint32_t out[2 * LANES];
  run_of how = {1, 2 * LANES, 0};
  run("",
      "add.u32 %r2, %r0, 100;\nmov.u32 %r3, 0;\nmov.u32 %r4, 1;\nmov.u32 %r9, 0;\n"
      "L: add.u32 %r5, %r3, %r4;\nmul.lo.u32 %r6, %r5, 5;\nadd.u32 %r9, %r9, %r6;\n"
      "mov.u32 %r7, %r4;\nadd.u32 %r4, %r5, 1;\nmov.u32 %r3, %r7;\nadd.u32 %r8, %r8, 1;\n"
      "setp.le.u32 %p1, %r8, %r0;\n@%p1 bra L;\n"
      "add.u32 %r10, %r9, %r2;\n" STORE(0, "%r10") STORE(1, "%r2"),
      &how, out);
  for (uint32_t l = 0; l < LANES; l++) {
    uint32_t a = 0, b = 1, sum = 0;
    for (uint32_t k = 0; k <= l; k++) {
      const uint32_t next = a + b;
      sum += 5 * next;
      a = b;
      b = next + 1;
    }
    assert_int_equal(out[l], sum + l + 100);
    assert_int_equal(out[LANES + l], l + 100);
  }
}

/* Lanes at different places use one slot for different registers. */
static void sides_of_a_branch_share_slots(void **state) {
  uint32_t out[LANES];
  run_of how = {1, LANES, 0};
  run("",
      "and.b32 %r2, %r0, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra EVEN;\n"
      "mul.lo.u32 %r3, %r0, 3;\ncvt.u64.u32 %d3, %r3;\nadd.u64 %d4, %d3, 1;\ncvt.u32.u64 %r9, %d4;\nbra.uni "
      "END;\n"
      "EVEN: add.u32 %r5, %r0, 40;\nsetp.gt.u32 %p2, %r5, 50;\nselp.b32 %r6, 1, 2, %p2;\nmul.lo.u32 %r9, "
      "%r5, "
      "%r6;\nEND:\n" STORE(0, "%r9"),
      &how, out);
  for (uint32_t l = 0; l < LANES; l++)
    assert_int_equal(out[l], l % 2 ? 3 * l + 1 : (l + 40) * (l + 40 > 50 ? 1 : 2));
}

/* The lane has gone on to other registers, and shfl reads what it had. */
static void an_exchange_reads_lanes_that_are_away(void **state) {
  uint32_t out[LANES];
  run_of how = {1, LANES, 0};
  run("",
      "add.u32 %r2, %r0, 70;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 bra AWAY;\n"
      "barrier.sync 0;\nshfl.sync.idx.b32 %r3, %r2, 0, 31, 0xfffffffe;\n" STORE(
          0, "%r3") "bra.uni END;\n"
                    "AWAY: mov.u32 %r20, 1;\nadd.u32 %r21, %r20, 1;\nadd.u32 %r22, %r21, %r20;\nadd.u32 "
                    "%r23, %r22, %r21;\n" STORE(0, "%r23") "barrier.sync 0;\nEND:\n",
      &how, out);
  assert_int_equal(out[0], 5);
  for (uint32_t l = 1; l < LANES; l++) assert_int_equal(out[l], 70);
}

/* Registers of a function that callers write and read. */
static void parameters_in_registers_are_kept(void **state) {
  uint32_t out[LANES];
  run_of how = {1, LANES, 0};
  run(".func (.reg .b32 %z) f(.reg .b32 %a, .reg .b32 %b)\n{\n.reg .b32 %t<4>;\nadd.u32 %t0, %a, 1;\n"
      "mul.lo.u32 %t1, %t0, 2;\nmov.u32 %z, %t1;\nadd.u32 %t2, %t1, 9;\nadd.u32 %t3, %t2, %t2;\nret;\n}\n",
      "call (%r3), f, (%r0, %r1);\n" STORE(0, "%r3"), &how, out);
  for (uint32_t l = 0; l < LANES; l++) assert_int_equal(out[l], 2 * (l + 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a chain of values takes few slots", a_chain_takes_few_slots),
      BEHAVIOUR("a register that is read before it is written is zero in every CTA",
                a_register_read_first_is_zero),
      BEHAVIOUR("values live through loops", values_live_through_loops),
      BEHAVIOUR("lanes at different places share slots", sides_of_a_branch_share_slots),
      BEHAVIOUR("an exchange reads registers of lanes that take no part",
                an_exchange_reads_lanes_that_are_away),
      BEHAVIOUR("parameters and results in registers are kept", parameters_in_registers_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
