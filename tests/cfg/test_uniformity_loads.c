/* Uniformity: loads that bring all threads of a CTA, or of a warp, one value. */
#include "cfg/levels.h"

/* %l1 holds an address that is the same for all threads of the CTA, %l2 one for each thread. */
#define ADDRESSES                                                                                            \
  "ld.param.u64 %l1, [p];\nmov.u32 %r4, %tid.x;\nmul.wide.u32 %l5, %r4, 4;\nadd.s64 %l2, %l1, %l5;\n"

static const struct {
  const char *what, *body;
  hd_same level;
} loads[] = {
    {"from one address", "ld.global.u32 %r1, [%l1];\n", HD_SAME_IN_CTA},
    {"from one generic address", "ld.u32 %r1, [%l1+4];\n", HD_SAME_IN_CTA},
    {"from one address of shared memory", "ld.shared.u32 %r1, [s+4];\n", HD_SAME_IN_CTA},
    {"several at once", "ld.global.v2.u32 {%r3, %r1}, [%l1];\n", HD_SAME_IN_CTA},
    {"by ldu", "ldu.global.u32 %r1, [%l1];\n", HD_SAME_IN_CTA},
    {"from an address for each thread", "ld.global.u32 %r1, [%l2];\n", HD_SAME_NOWHERE},
    {"an address that was itself loaded", "ld.global.u64 %l3, [%l1];\nld.global.u32 %r1, [%l3];\n",
     HD_SAME_IN_CTA},
    {"by some threads only", "setp.eq.u32 %p3, %r4, 0;\nmov.u32 %r1, 0;\n@%p3 ld.global.u32 %r1, [%l1];\n",
     HD_SAME_NOWHERE},
    {"from local memory", "ld.local.u32 %r1, [%l1];\n", HD_SAME_NOWHERE},
    {"generic, where local memory has generic addresses", "cvta.local.u64 %l3, %l4;\nld.u32 %r1, [%l1];\n",
     HD_SAME_NOWHERE},
    {"global, where local memory has generic addresses",
     "cvta.local.u64 %l3, %l4;\nld.global.u32 %r1, [%l1];\n", HD_SAME_IN_CTA},
    {"volatile", "ld.volatile.global.u32 %r1, [%l1];\n", HD_SAME_NOWHERE},
    {"relaxed", "ld.relaxed.gpu.global.u32 %r1, [%l1];\n", HD_SAME_NOWHERE},
    {"fetched again", "ld.global.cv.u32 %r1, [%l1];\n", HD_SAME_NOWHERE},
    {"an atomic", "atom.global.add.u32 %r1, [%l1], 1;\n", HD_SAME_NOWHERE},
    {"behind a fence", "fence.acq_rel.cta;\nld.global.u32 %r1, [%l1];\n", HD_SAME_NOWHERE},
    {"behind membar", "membar.cta;\nld.shared.u32 %r1, [s];\n", HD_SAME_NOWHERE},
    {"behind an acquire", "ld.acquire.cta.global.u32 %r3, [%l2];\nld.global.u32 %r1, [%l1];\n",
     HD_SAME_NOWHERE},
    {"behind an atomic that orders nothing", "atom.shared.add.u32 %r3, [s], 1;\nld.global.u32 %r1, [%l1];\n",
     HD_SAME_IN_CTA},
    {"behind an mbarrier", "mbarrier.arrive.shared.b64 %l3, [s];\nld.shared.u32 %r1, [s+8];\n",
     HD_SAME_NOWHERE},
    {"behind a barrier for some warps", "bar.sync 1, 64;\nld.shared.u32 %r1, [s];\n", HD_SAME_NOWHERE},
    {"behind a barrier of the warp", "bar.warp.sync -1;\nld.shared.u32 %r1, [s];\n", HD_SAME_IN_CTA},
    {"behind a barrier of some lanes", "bar.warp.sync %r4;\nld.shared.u32 %r1, [s];\n", HD_SAME_NOWHERE},
    {"behind a fence and a barrier", "membar.gl;\nbar.sync 0;\nld.shared.u32 %r1, [s];\n", HD_SAME_IN_CTA},
    {"behind a fence on one of the ways",
     "setp.eq.u32 %p3, %r4, 0;\n@%p3 bra A;\nmembar.gl;\nA: ld.shared.u32 %r1, [s];\n", HD_SAME_NOWHERE},
    {"behind a fence of the round before",
     "A: ld.shared.u32 %r1, [s];\nmembar.gl;\nld.param.u32 %r3, [p];\nsetp.eq.u32 %p3, %r3, 0;\n@%p3 bra "
     "A;\n",
     HD_SAME_NOWHERE},
    {"of what the kernel writes, by the same pointer",
     "ld.global.u32 %r1, [%l1];\nst.global.u32 [%l2], %r4;\n", HD_SAME_NOWHERE},
    {"of what an atomic changes, by the same pointer",
     "ld.global.u32 %r1, [%l1];\natom.global.add.u32 %r3, [%l1+64], 1;\n", HD_SAME_NOWHERE},
    /* Another CTA may set a flag between two warps' loads. */
    {"while the kernel writes by another pointer",
     "ld.param.u64 %l3, [q];\nld.global.u32 %r1, [%l1];\nst.global.u32 [%l3], %r4;\n", HD_SAME_IN_WARP},
    {"while an atomic goes by another pointer",
     "ld.param.u64 %l3, [q];\nld.global.u32 %r1, [%l1];\nred.global.add.u32 [%l3], %r4;\n", HD_SAME_IN_WARP},
    {"while the kernel writes by a pointer that it loads",
     "ld.global.u64 %l3, [q];\nld.global.u32 %r1, [%l1];\nst.global.u32 [%l3], %r4;\n", HD_SAME_IN_WARP},
    {"while the kernel writes by a pointer that counts on",
     "ld.param.u64 %l3, [q];\nld.global.u32 %r1, [%l1];\nadd.u64 %l3, %l3, 4;\nst.global.u32 [%l3], "
     "%r4;\n",
     HD_SAME_IN_WARP},
    {"by a pointer that is loaded, while the kernel writes",
     "ld.const.u64 %l3, [%l4];\nld.global.u32 %r1, [%l3];\nst.global.u32 [%l2], %r4;\n", HD_SAME_IN_WARP},
    {"by a sum of two pointers, while the kernel writes by one of them",
     "ld.param.u64 %l3, [q];\nadd.u64 %l3, %l3, %l1;\nld.global.u32 %r1, [%l3];\nst.global.u32 [%l2], "
     "%r4;\n",
     HD_SAME_IN_WARP},
    {"by a parameter and a number that is loaded, while the kernel writes by another",
     "ld.param.u64 %l3, [q];\nld.global.u64 %l6, [%l3];\nadd.u64 %l6, %l1, %l6;\nld.global.u32 %r1, "
     "[%l6];\nst.global.u32 [%l2], %r4;\n",
     HD_SAME_IN_WARP},
    {"while a tensor is written",
     "ld.global.u32 %r1, [%l1];\ncp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%l3, {%r4}], "
     "[s];\n",
     HD_SAME_IN_WARP},
    {"read-only, while the kernel writes by another pointer",
     "ld.param.u64 %l3, [q];\nld.global.nc.u32 %r1, [%l1];\nst.global.u32 [%l3], %r4;\n", HD_SAME_IN_CTA},
    {"of a variable, while another one is written",
     "ld.global.u32 %r1, [here];\nst.global.u32 [there], %r4;\n", HD_SAME_IN_CTA},
    {"of a variable, while a pointer is written by",
     "ld.global.u32 %r1, [here];\nst.global.u32 [%l2], %r4;\n", HD_SAME_IN_WARP},
    {"of a variable that is written", "ld.global.u32 %r1, [here];\nst.global.u32 [here+4], %r4;\n",
     HD_SAME_NOWHERE},
    {"generic, of shared memory that is written without a barrier between",
     "mov.u32 %r5, s;\ncvt.u64.u32 %l3, %r5;\ncvta.shared.u64 %l3, %l3;\nst.shared.u32 [s], %r4;\nld.u32 "
     "%r1, [%l3];\n",
     HD_SAME_NOWHERE},
    {"generic, of shared memory that is written in front of a barrier",
     "mov.u64 %l3, s;\ncvta.shared.u64 %l3, %l3;\nst.shared.u32 [s], %r4;\nbar.sync 0;\nld.u32 %r1, "
     "[%l3];\n",
     HD_SAME_IN_CTA},
    {"generic, of memory that nobody knows, while shared memory is written",
     "ld.const.u64 %l3, [%l4];\nst.shared.u32 [s], %r4;\nld.u32 %r1, [%l3];\n", HD_SAME_NOWHERE},
    {"generic, by a parameter, while shared memory is written",
     "st.shared.u32 [s], %r4;\nld.u32 %r1, [%l1];\n", HD_SAME_IN_CTA},
    {"of open shared memory, while its other name is written",
     "bar.sync 0;\nst.shared.u32 [open], %r4;\nld.shared.u32 %r1, [same];\n", HD_SAME_NOWHERE},
    {"of open shared memory, while a variable is written",
     "bar.sync 0;\nst.shared.u32 [s], %r4;\nld.shared.u32 %r1, [same];\n", HD_SAME_IN_CTA},
    {"generic, where a function gives the address of its local memory",
     "call.uni (%l3), own;\nbar.sync 0;\nld.u32 %r1, [%l3];\n", HD_SAME_NOWHERE},
    {"of shared memory that is written in front of a barrier",
     "st.shared.u32 [s], %r4;\nbar.sync 0;\nld.shared.u32 %r1, [s];\n", HD_SAME_IN_CTA},
    {"of shared memory that is written without a barrier between",
     "st.shared.u32 [s], %r4;\nld.shared.u32 %r1, [s];\n", HD_SAME_NOWHERE},
    {"of shared memory that is written behind, without a barrier",
     "bar.sync 0;\nld.shared.u32 %r1, [s];\nst.shared.u32 [s+4], %r4;\nbar.sync 0;\n", HD_SAME_NOWHERE},
    {"of shared memory that is written behind a barrier",
     "bar.sync 0;\nld.shared.u32 %r1, [s];\nbar.sync 0;\nst.shared.u32 [s+4], %r4;\n", HD_SAME_IN_CTA},
    {"of shared memory, while another variable is written",
     "bar.sync 0;\nst.shared.u32 [t], %r4;\nld.shared.u32 %r1, [s];\n", HD_SAME_IN_CTA},
    {"of shared memory, while another variable is written at one of two places",
     "mov.u64 %l3, s;\nsetp.eq.u32 %p3, %r4, 0;\nselp.b64 %l4, 8, 0, %p3;\nadd.s64 %l3, %l3, %l4;\n"
     "st.shared.u32 [%l3], %r4;\nld.shared.u32 %r1, [t];\n",
     HD_SAME_IN_CTA},
    {"of shared memory that is written at one of two places",
     "mov.u64 %l3, s;\nsetp.eq.u32 %p3, %r4, 0;\nselp.b64 %l4, 8, 0, %p3;\nadd.s64 %l3, %l3, %l4;\n"
     "st.shared.u32 [%l3], %r4;\nld.shared.u32 %r1, [s];\n",
     HD_SAME_NOWHERE},
    {"of shared memory that is written by a quotient of its distance to another variable",
     "mov.u32 %r5, s;\nmov.u32 %r6, t;\nsub.u32 %r7, %r6, %r5;\nshr.u32 %r7, %r7, 2;\nmad.lo.u32 %r7, %r7, "
     "4, "
     "%r5;\nbar.sync 0;\nst.shared.u32 [%r7], %r4;\nld.shared.u32 %r1, [t];\n",
     HD_SAME_NOWHERE},
    {"by some bits of such a distance",
     "mov.u32 %r5, s;\nmov.u32 %r6, t;\nsub.u32 %r7, %r6, %r5;\nand.b32 %r7, %r7, 0xffff;\nadd.u32 %r7, %r7, "
     "%r5;\nbar.sync 0;\nst.shared.u32 [%r7], %r4;\nld.shared.u32 %r1, [t];\n",
     HD_SAME_NOWHERE},
    {"by such a distance, which is made longer",
     "mov.u32 %r5, s;\nmov.u32 %r6, t;\nsub.u32 %r7, %r6, %r5;\ncvt.u64.u32 %l3, %r7;\nmov.u64 %l4, "
     "s;\nadd.s64 "
     "%l4, %l4, %l3;\nbar.sync 0;\nst.shared.u32 [%l4], %r4;\nld.shared.u32 %r1, [t];\n",
     HD_SAME_NOWHERE},
    {"by a product of such a distance",
     "mov.u32 %r5, s;\nmov.u32 %r6, t;\nsub.u32 %r7, %r6, %r5;\nmad.lo.u32 %r7, %r7, 1, %r5;\nbar.sync 0;\n"
     "st.shared.u32 [%r7], %r4;\nld.shared.u32 %r1, [t];\n",
     HD_SAME_NOWHERE},
    {"behind the end of another variable",
     "bar.sync 0;\nst.shared.u32 [s+64], %r4;\nld.shared.u32 %r1, [t];\n", HD_SAME_NOWHERE},
    {"behind the end of another variable, by a sum",
     "mov.u32 %r5, s;\nadd.u32 %r7, %r5, 64;\nbar.sync 0;\nst.shared.u32 [%r7], %r4;\nld.shared.u32 %r1, "
     "[t];\n",
     HD_SAME_NOWHERE},
    {"behind the end of another variable, by a register",
     "mov.u32 %r5, s;\nbar.sync 0;\nst.shared.u32 [%r5+64], %r4;\nld.shared.u32 %r1, [t];\n",
     HD_SAME_NOWHERE},
    {"while another variable is written at a quotient of a number",
     "ld.global.u32 %r6, [%l1];\nshr.u32 %r7, %r6, 2;\nmov.u32 %r5, s;\nmad.lo.u32 %r8, %r7, 4, "
     "%r5;\nbar.sync "
     "0;\nst.shared.u32 [%r8], %r4;\nld.shared.u32 %r1, [t];\n",
     HD_SAME_IN_CTA},
    {"while another variable is written at the last of its places",
     "bar.sync 0;\nst.shared.u32 [s+60], %r4;\nld.shared.u32 %r1, [t];\n", HD_SAME_IN_CTA},
    {"of shared memory, while nobody knows which is written",
     "bar.sync 0;\nst.shared.u32 [%r4], %r4;\nld.shared.u32 %r1, [s];\n", HD_SAME_NOWHERE},
    {"of shared memory that the round before writes",
     "bar.sync 0;\nA: ld.shared.u32 %r1, [s];\nst.shared.u32 [s], %r4;\nld.param.u32 %r3, [p];\n"
     "setp.eq.u32 %p3, %r3, 0;\n@%p3 bra A;\n",
     HD_SAME_NOWHERE},
    {"of shared memory that is written between barriers of which others run one more",
     "setp.ge.u32 %p3, %r4, 32;\n@%p3 bra A;\nbar.sync 0;\nA: bar.sync 0;\nld.shared.u32 %r1, [s];\n",
     HD_SAME_NOWHERE},
    {"read-only, whatever barriers some run",
     "setp.ge.u32 %p3, %r4, 32;\n@%p3 bra A;\nbar.sync 0;\nA: bar.sync 0;\nld.global.nc.u32 %r1, [%l1];\n",
     HD_SAME_IN_CTA},
    {"a parameter by its address", "mov.b64 %l3, p;\nld.param.u32 %r1, [%l3+4];\n", HD_SAME_IN_CTA},
    {"a parameter by an address for each thread",
     "mov.b64 %l3, p;\ncvt.u64.u32 %l4, %r4;\nadd.s64 %l3, %l3, %l4;\nld.param.u8 %r1, [%l3];\n",
     HD_SAME_NOWHERE},
};

static void loads_have_levels(void **state) {
  for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
    hd_buf body = {0};
    hd_buf_puts(&body, ADDRESSES);
    hd_buf_puts(&body, loads[i].body);
    hd_buf_puts(&body, SKIP_UNLESS_ODD);
    if (level_of_barrier(body.data, (uint32_t[3]){0}) != loads[i].level) fail_msg("%s", loads[i].what);
    hd_buf_free(&body);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a load from one address brings all threads the same, unless something ordered them since",
                loads_have_levels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
