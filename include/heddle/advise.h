/* heddle/advise.h: where a workload's reuse lies, whether an order can exploit it, and which plans are worth
 * trying.
 *
 * Everything follows from a study's traces: counts first (heddle/reuse.h, heddle/sharing.h), replays on a
 * modelled GPU if counts do not decide (CLU 4.4), and replays of the plans that are proposed. */
#ifndef HEDDLE_ADVISE_H
#define HEDDLE_ADVISE_H

#include "heddle/analysis.h"
#include "heddle/predict.h"
#include "heddle/sharing.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Category (CLU 3.2) ---------------------------------------------------------- */

/* Sources of inter-CTA locality, as bits: DATA and WRITE may come together. */
typedef enum hd_category {
  HD_CATEGORY_ALGORITHM = 1,  /* CTAs use the same words */
  HD_CATEGORY_CACHE_LINE = 2, /* CTAs, or a warp's threads, use different words of the same lines */
  HD_CATEGORY_DATA = 4,       /* addresses depend on the contents of memory */
  HD_CATEGORY_WRITE = 8,      /* CTAs write into arrays whose other parts they read */
  HD_CATEGORY_STREAMING = 16, /* CTAs share little */
} hd_category;
enum { HD_CATEGORIES = 5 };
/* "data+write", as workload.toml has it; "" for 0. */
HD_OWN void hd_category_print(unsigned categories, hd_buf *out);
/* 0: not a category. */
HD_OWN unsigned hd_category_parse(const char *text);
/* CLU 4.1: locality that an order of the CTAs can exploit. */
static inline bool hd_category_exploitable(unsigned categories) {
  return categories == HD_CATEGORY_ALGORITHM || categories == HD_CATEGORY_CACHE_LINE;
}

/* ---- Facts -------------------------------------------------------------------------- */

/* The counts of one launch, or the sum over several. There is a row for each of the workload's buffers, and
 * one for memory outside of them all. */
typedef struct hd_facts {
  hd_reuse reuse;
  hd_sharing sharing;
  hd_pattern pattern;
  uint64_t skewed_reads; /* (CTA, line) pairs that read words, of arrays that the same launch writes, which
                            their CTA does not write */
  uint64_t array_loads;  /* all pairs that read */
} hd_facts;

/* Of one launch: its trace, its grid, and the arrays as for hd_reuse_measure; line: of L1, in bytes. Freed by
 * hd_facts_free, after a failure too. */
HD_OWN hd_status hd_facts_measure(const hd_trace *t, const uint32_t grid[3], const hd_reuse_array *arrays,
                                  uint32_t n, uint32_t line, hd_facts *out, hd_diag *d);
HD_OWN void hd_facts_free(hd_facts *f);

/* What the kernels' text says about a buffer, over all accesses that are known to go to it. */
typedef struct hd_text_facts {
  uint32_t sites;   /* such accesses */
  hd_level address; /* the worst of their addresses */
  hd_level guard;   /* the worst of what decides whether they happen */
  hd_why why;       /* of the worst address */
  uint32_t line;    /* PTX line of that access */
} hd_text_facts;

/* The experiments of CLU 4.4 for cases that counts leave open: redirected clusters (CLU 4.2.4), and L1 off.
 * The model of the GPU caches global loads in L1 even if the GPU does not, because a category is a property
 * of the workload. */
typedef struct hd_experiments {
  bool done;
  hd_counters baseline, along_x, along_y, no_l1; /* along_x: CLU's Y-partitioning, CTAs of a row together */
} hd_experiments;

/* The grounds for a category without a workload to experiment with. */
typedef struct hd_category_case {
  const hd_facts *facts;
  const hd_reuse_array *arrays; /* those that the facts were measured with */
  hd_text_facts *buffers;       /* one for each of them */
  uint32_t unknown_sites;       /* accesses that may be to any of them */
} hd_category_case;
enum { HD_EVIDENCE = 1024 };
/* From counts alone: if replays would have to decide, the nearest category. */
HD_OWN hd_status hd_category_decide(const hd_category_case *c, unsigned *category, char evidence[HD_EVIDENCE],
                                    hd_diag *d);

/* ---- Proposals ------------------------------------------------------------------------ */

typedef struct hd_proposal {
  hd_plan plan;
  char reason[256];
  bool likeliest; /* the first of its lever */
  bool predicted; /* its counters come from a replay; else they are unknown */
  hd_counters counters;
  double speedup; /* over the baseline, when predicted by a clock; else 0 */
} hd_proposal;

typedef enum hd_order_free {
  HD_ORDER_FREE_CHECKED = 1, /* no refusal, and no race on this input */
  HD_ORDER_FREE_UNCHECKED,   /* no refusal; the race check was not asked for */
  HD_ORDER_FREE_NO,
} hd_order_free;

/* ---- Plans to try ------------------------------------------------------------------------ */

/* The plans that launch number `launch` leaves to try (hd_candidates), as far as the text alone tells:
 * n_sms, resident, vote and the facts from a trace are 0. */
HD_OWN hd_status hd_advise_space(const hd_workload *w, uint32_t launch, const hd_compile_options *o,
                                 hd_plan_space *out, hd_diag *d);

/* ---- Advice ------------------------------------------------------------------------------- */

typedef struct hd_advice {
  unsigned category; /* hd_category bits */
  char evidence[HD_EVIDENCE];
  char direction; /* 'x', 'y' or 'z': CTAs that are neighbours along it share most; 0: no direction stands out
                   */
  double along[3]; /* part of the exploitable (CTA, line) pairs shared with the next CTA along x, y, z */
  const char *partition; /* CLU's name for clusters along that direction: "Y-P" (rows), "X-P" (columns) */
  hd_facts sum, *launches;
  uint32_t n_launches;
  hd_text_facts *buffers; /* per buffer of the workload */
  uint32_t unknown_sites; /* accesses that may be to any buffer */
  hd_experiments experiments;
  hd_order_free order_free;
  char order_why[512];          /* why not */
  hd_refusal *refusals;         /* of all kernels launched */
  const char **refused_kernels; /* the kernel of each; the workload's */
  uint32_t n_refusals;
  hd_proposal *proposals; /* best first */
  uint32_t n_proposals;
  hd_counters baseline; /* on the GPU asked for */
} hd_advice;

typedef struct hd_advise_options {
  hd_run_options run;
  hd_dispatch_kind dispatch;
  uint64_t seed;
  bool no_race_check;
  bool no_proposals;
  bool no_experiments; /* a category from counts alone: the nearest one if replays would have to decide */
  bool no_predictions; /* proposals are all plans worth trying, the likeliest first: one of each lever that
                          the accesses ask for before the second of any */
  uint32_t launches;   /* facts are measured for so many launches of each kernel, evenly spread; 0: 16 */
  double seconds; /* of two idle cores, about, for predictions: so many of the likeliest plans are replayed,
                     and one of each lever at least; 10 when 0 */
  uint32_t proposals; /* at most; 8 when 0 */
} hd_advise_options;

/* The study is of workload w. *out is freed by hd_advice_free; on failure it needs no freeing. */
HD_API hd_status hd_advise(const hd_workload *w, hd_study *s, const hd_gpu *g, const hd_advise_options *o,
                           hd_advice *out, hd_diag *d);
HD_API void hd_advice_free(hd_advice *a);

/* ---- The list for a modelled GPU ------------------------------------------------------------ */

typedef struct hd_plan_list {
  hd_candidate *at; /* reasons are the list's own */
  size_t n;
  bool replayed; /* the original, for the proposals of its traces: */
  hd_counters original;
} hd_plan_list;

/* Zero is the default of each field. */
typedef struct hd_list_options {
  hd_run_options run;
  hd_dispatch_kind dispatch;
  uint64_t seed;
  bool facts; /* use the traces too: their proposals are listed, and orders that need a trace; one plan of
                 each lever that the accesses ask for comes before the second of any */
  bool keep_launch; /* only plans that change nothing but the kernel's text */
  size_t most;      /* candidates, beside the traces' proposals; 0: no limit */
} hd_list_options;

/* The plans to try for a workload on a modelled GPU, the most promising first: hd_candidates of the launch
 * with most CTAs, but for the least likely of those that cost a trace of their own. `s` may be NULL without
 * `facts`. *out is freed by hd_plan_list_free; on failure it needs no freeing. */
HD_OWN hd_status hd_advise_list(const hd_workload *w, hd_study *s, const hd_gpu *g, const hd_list_options *o,
                                hd_plan_list *out, hd_diag *d);
/* Add the plans of a text, between white space, or of a file that it names, @FILE, whose lines may hold
 * comments behind '#'. The baseline is left out. */
HD_API hd_status hd_plan_list_read(const char *plans, hd_plan_list *out, hd_diag *d);
/* Rows to sweep: the baseline, then the list's plans, which they borrow. `named`: the list is made; else it
 * is made here, of the plans that are tried by default, for the caller to free in any case. *rows is the
 * caller's to free. */
HD_API hd_status hd_advise_rows(const hd_workload *w, const hd_gpu *g, bool named, hd_plan_list *plans,
                                hd_sweep_row **rows, size_t *n, hd_diag *d);
/* Candidates whose gain the model does not see (hd_plan_is_unseen), the most promising first. The same rules.
 */
HD_OWN hd_status hd_advise_unseen(const hd_workload *w, const hd_gpu *g, const hd_compile_options *o,
                                  hd_plan_list *out, hd_diag *d);
HD_API void hd_plan_list_free(hd_plan_list *l);
/* Append a copy, unless the plan is listed. */
HD_OWN hd_status hd_plan_list_add(hd_plan_list *l, const hd_plan *p, double prior, const char *reason,
                                  hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
