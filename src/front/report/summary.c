/* The text of an optimization. */
#include <inttypes.h>

#include "report/stalls.h"
#include "report/summary.h"

/* The model's blind spots, and what to measure for their sake. */
static void put_unseen(const hd_report *r, hd_buf *out) {
  if (!r->unseen || !r->unseen->n) return;
  hd_buf_printf(out, "The model does not see %s. On a GPU, measure these, the most promising first:\n",
                hd_explain_unseen());
  for (size_t i = 0; i < r->unseen->n; i++) {
    hd_buf_puts(out, i ? " --plan " : "  heddle time ... --device cuda:0 --plan ");
    hd_plan_print(&r->unseen->at[i].plan, out);
  }
  hd_buf_putc(out, '\n');
}

/* Stages that add up to the whole. */
static void put_seconds(const hd_report *r, hd_buf *out) {
  const hd_optimize_seconds *s = &r->seconds;
  const double all = report_all_seconds(r);
  hd_buf_printf(out, "(%.1f s: traces %.1f, advice %.1f, replays %.1f, proof %.1f, all else %.1f)\n", all,
                s->trace, s->advice, s->replay, s->proof, all - report_stage_seconds(r));
}

/* Where the warps of the default and of the plan kept wait. */
static void put_waits(const hd_report *r, hd_buf *out) {
  if (!report_by_clock(r)) return;
  hd_buf_puts(out, "Where the default's warps spend their time: ");
  report_put_stalls(&r->rows[0].counters, out);
  if (r->best > 0) {
    hd_buf_puts(out, ";\nand the best plan's: ");
    report_put_stalls(&r->rows[r->best].counters, out);
  }
  hd_buf_puts(out, ".\n");
}

/* The size that was proved, and the one that was not. */
static void put_proof(const hd_report *r, hd_buf *out) {
  const hd_check_result *p = r->proof;
  if (report_proof_is_smaller(r)) {
    const double minutes = r->whole_proof_seconds / 60;
    hd_buf_printf(
        out, "Not proved at size %s: that would take about %.0f min (--exact does it). Proved at size %s",
        r->workload->size, minutes < 1 ? 1 : minutes, r->proof_size);
  } else {
    hd_buf_puts(out, "Proved");
  }
  hd_buf_printf(out, ": %" PRIu64 " bytes equal under %u dispatcher%s, %+.2f%% instructions.\n",
                p->bytes_compared, p->runs, p->runs == 1 ? "" : "s",
                100.0 * ((double)p->thread_instructions_rewritten / (double)p->thread_instructions - 1));
  if (p->no_reference[0])
    hd_buf_printf(out, "The original was not compared with its reference: %s.\n", p->no_reference);
  if (p->assume) hd_buf_printf(out, "Assumed: %s.\n", hd_assume_text(p->assume));
}

static void put_best(const hd_report *r, hd_buf *out) {
  hd_buf plan = {0};
  hd_plan_print(&r->rows[r->best].plan, &plan);
  hd_buf_printf(out, "\nBest%s: %s, predicted %.2fx as fast as the default.\n",
                report_has_answer(r) ? "" : " so far", plan.data ? plan.data : "",
                hd_report_speedup(r, (size_t)r->best));
  put_waits(r, out);
  if (r->second_speedup > 0)
    hd_buf_printf(out, "By a second replay of %.1f%% of the work: %.2fx.\n", 100 * r->second_part,
                  r->second_speedup);
  put_proof(r, out);
  hd_buf_printf(out, "Wrote %s%s%s and %s.\n", r->output, r->table ? ", " : "", r->table ? r->table : "",
                r->html);
  if (r->other_launch)
    hd_buf_puts(
        out, "Its launch differs from the original's: the comments at the file's end say how (--keep-launch "
             "leaves such plans out).\n");
  else
    hd_buf_puts(out, "Its launch is the original's: the same grid, block and arguments.\n");
  hd_buf_free(&plan);
}

static void put_default(const hd_report *r, hd_buf *out) {
  hd_buf_puts(out, "\nThe kernel is left as it is: ");
  report_put_nothing_helps(r, out);
  hd_buf_puts(out, ".\n");
  put_waits(r, out);
  put_unseen(r, out);
  if (r->html) hd_buf_printf(out, "Wrote %s.\n", r->html);
}

void hd_report_text(const hd_report *r, size_t limit, bool colour, hd_buf *out) {
  hd_buf_printf(out, "%s (%s) on %s, %s dispatch: ", r->workload->name, r->workload->size, r->gpu->title,
                r->dispatch);
  report_put_count(r->n_rows, "plan", out);
  hd_buf_puts(out, "\n\n");
  if (r->fixed && r->fixed[0])
    hd_buf_printf(out, "The order of the CTAs cannot be changed: %s.\n\n", r->fixed);
  report_put_tried(r, limit, colour, out);
  if (r->rows[0].status == HD_OK) report_put_own_confirmation(r, out);
  if (r->best > 0)
    put_best(r, out);
  else
    put_default(r, out);
  if (!report_has_answer(r)) {
    report_put_no_answer(r, out);
    hd_buf_puts(out, ".\n");
  }
  put_seconds(r, out);
}
