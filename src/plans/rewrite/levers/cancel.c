/* bind=cancel: CTAs that take over others which have not started (cluster launch control, from sm_100 on).
 *
 * The launch stays as it was. A CTA does its own task, then those of CTAs that the hardware gives up for it,
 * until it gives up none; the ones that are left start as ever. Each task is done once, because a CTA that is
 * given up never starts, and by whom does not matter to a kernel that may be reordered. What else a kernel
 * must be like to do one task after another, agents.c says.
 *
 * In the order of the text:
 *
 *             %~cx, %~cy, %~cz = %ctaid;  the first thread makes the mbarrier
 *             bra $~next
 *   $~end:                                               all ends of the kernel's body come here
 *             (attend.c)                                 where others may go on without this thread
 *             in a cluster: ret
 *   $~wait:   mbarrier.try_wait %~phase
 *             nobody was given up: ret
 *             %~cx, %~cy, %~cz = the CTA that was
 *   $~next:   bar.sync 0                                 all threads have read the answer
 *             the first thread asks for the next CTA
 *             (order.c) from %~cx, %~cy, %~cz to the registers that replace %ctaid
 *             the kernel's body, with bra $~end for ret
 *
 * The question is asked before the task is done, so that its way to the dispatcher and back is hidden. Nobody
 * asks again who was refused, which PTX leaves undefined.
 *
 * A launch may put any kernel into clusters, whatever its text says. There the answer would name a whole
 * cluster, so each CTA does its own task, and asks for none. */
#include <stdio.h>

#include "rewrite/levers/claim.h"

/* In one variable: the mbarrier, and from ANSWER on the answer's 16 bytes. */
enum { ANSWER = 16, BYTES = 32 };

static const char axes[] = "xyz";

hd_status rewrite_decide_cancel(rewrite_job *j, hd_diag *d) {
  const hd_ptx_module *m = j->m;
  if (m->sm < HD_CANCEL_ARCH)
    return hd_fail(d, HD_ERR_REFUSED,
                   "bind=cancel takes CTAs over by clusterlaunchcontrol.try_cancel, which needs sm_%d: the "
                   "module is for sm_%u",
                   HD_CANCEL_ARCH, m->sm);
  if (m->version_major < 8 || (m->version_major == 8 && m->version_minor < 6))
    return hd_fail(d, HD_ERR_REFUSED, "bind=cancel needs PTX ISA 8.6, and the module is written in %u.%u",
                   m->version_major, m->version_minor);
  if (!rewrite_find_traits(m, j->func, &j->traits)) return hd_nomem(d);
  if (j->traits.sees_shared_size)
    return hd_fail(d, HD_ERR_REFUSED,
                   "the kernel reads how much shared memory it has, which this plan changes");
  if (j->traits.shared_by_number) return hd_fail(d, HD_ERR_REFUSED, REWRITE_BY_NUMBER);
  j->recipe->shared_bytes = rewrite_spare_shared(j, BYTES);
  if (!j->recipe->shared_bytes)
    return hd_fail(d, HD_ERR_REFUSED, "the kernel's shared memory leaves no room for the hardware's answer");
  return HD_OK;
}

const char *rewrite_cancel_cell(const rewrite_job *j, unsigned k, char name[64]) {
  snprintf(name, 64, "%%%s_c%c", j->prefix, axes[k]);
  return name;
}

static void put_declarations(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t,
              "\t.reg .b32 %%~cx, %%~cy, %%~cz, %%~phase, %%~ctas;\n"
              "\t.reg .b128 %%~given;\n\t.reg .pred %%~ok, %%~first, %%~alone;\n");
}

static void put_begin(const rewrite_job *j, hd_buf *t) {
  for (unsigned k = 0; k < 3; k++) rewrite_put(j, t, "\tmov.u32 %%~c%c, %%ctaid.%c;\n", axes[k], axes[k]);
  rewrite_put_linear_thread(j, t);
  rewrite_put(j, t,
              "\tmov.u32 %%~phase, 0;\n\tmov.u32 %%~ctas, %%cluster_nctarank;\n"
              "\tsetp.eq.u32 %%~alone, %%~ctas, 1;\n\tsetp.eq.and.u32 %%~first, %%~linear, 0, %%~alone;\n"
              "\t@%%~first mbarrier.init.shared.b64 [~answer], 1;\n\tbra $~next;\n");
}

static void put_answer(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t,
              "\t@!%%~alone ret;\n$~wait:\n"
              "\tmbarrier.try_wait.parity.shared.b64 %%~ok, [~answer], %%~phase;\n\t@!%%~ok bra $~wait;\n"
              "\txor.b32 %%~phase, %%~phase, 1;\n\tld.shared.b128 %%~given, [~answer+%d];\n"
              "\tclusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %%~ok, %%~given;\n"
              "\t@!%%~ok ret;\n"
              "\tclusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%%~cx, %%~cy, %%~cz, _}, "
              "%%~given;\n",
              ANSWER);
}

/* The fence comes between what threads did to the variable, making it or reading from it, and what the
 * hardware will, which takes another way to memory. */
static void put_question(const rewrite_job *j, hd_buf *t) {
  rewrite_put(j, t,
              "$~next:\n\tbar.sync 0;\n\t@%%~first fence.proxy.async.shared::cta;\n"
              "\t@%%~first mbarrier.arrive.expect_tx.shared.b64 _, [~answer], %d;\n"
              "\t@%%~first clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
              ".b128 [~answer+%d], [~answer];\n",
              BYTES - ANSWER, ANSWER);
}

hd_status rewrite_put_cancel(const rewrite_job *j, hd_buf *t, hd_diag *d) {
  const hd_status st = rewrite_add_shared(j, "answer", j->recipe->shared_bytes, ANSWER, t, d);
  put_declarations(j, t);
  put_begin(j, t);
  rewrite_put(j, t, "$~end:\n");
  rewrite_put_task_end(j, t);
  put_answer(j, t);
  put_question(j, t);
  return st;
}
