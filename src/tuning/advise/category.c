/* CLU's five categories (CLU 3.2) from measured facts, and CLU 4.4's experiments where these do not decide.
 *
 * The questions, in this order; each is CLU's own:
 *
 *   write       does the kernel read and write one array "with shifted or skewed references"?
 *   data        are accesses irregular: do CTAs not make the same accesses, moved?
 *   the rest    do CTAs share lines that not all of them share? (A line that every CTA uses is in every
 *               SM's L1, or in none's, under any order: there is nothing to cluster.)
 *     yes: cache-line    if a request brings more than twice what it asks for ("not perfectly coalesced"),
 *                        or if lines are shared far more than words
 *          algorithm     if words are shared
 *          by experiment if so little of the reuse crosses CTAs that counts mean nothing
 *     no:  cache-line    if L2 traffic halves with L1 off
 *          streaming     if it grows by half (reuse stays in the CTA), or stays and accesses are coalesced
 *          data          if it stays and accesses are not: "likely to be more random" */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advice.h"

/* ---- Thresholds ---------------------------------------------------------------------- */

static const double enough_skewed = 0.02;   /* of all reads: words of written arrays that others write */
static const double enough_irregular = 0.1; /* of all accesses go to an array ... */
static const double irregular = 0.5;        /* ... of whose accesses fewer than this are regular */
static const double enough_pairs = 0.2;     /* exploitable (CTA, line) pairs, of all */
static const double enough_lines = 0.1;     /* lines that several CTAs share, of all */
static const double poor_sectors = 0.5;     /* useful part of the sectors that requests touch */
static const double good_lines = 0.75;      /* useful part of the lines that requests touch */
static const double enough_inter = 0.1;     /* part of line reuse that crosses CTAs */
static const double changed = 0.1;          /* of L2 traffic, by clustering */

/* ---- Names ------------------------------------------------------------------------------ */

static const char *const names[HD_CATEGORIES] = {"algorithm", "cache-line", "data", "write", "streaming"};

void hd_category_print(unsigned categories, hd_buf *out) {
  bool first = true;
  for (unsigned i = 0; i < HD_CATEGORIES; i++) {
    if (!(categories >> i & 1)) continue;
    hd_buf_printf(out, "%s%s", first ? "" : "+", names[i]);
    first = false;
  }
}

unsigned hd_category_parse(const char *text) {
  unsigned all = 0;
  while (*text) {
    size_t n = strcspn(text, "+");
    unsigned one = 0;
    for (unsigned i = 0; i < HD_CATEGORIES; i++)
      if (strlen(names[i]) == n && memcmp(names[i], text, n) == 0) one = 1u << i;
    if (!one) return 0;
    all |= one;
    text += n + (text[n] == '+' && text[n + 1]);
    if (*text == '+') return 0;
  }
  return all;
}

/* ---- Facts in words ------------------------------------------------------------------------ */

static const char *array_name(const advising *a, uint32_t array) {
  return array < a->out->sum.reuse.n_arrays ? a->arrays[array].name : "(module variables)";
}

int64_t advice_irregular_array(const hd_advice *out, double *part) {
  const hd_facts *f = &out->sum;
  int64_t worst = -1;
  for (uint32_t i = 0; i <= f->pattern.n_arrays; i++) {
    const hd_pattern_row *r = &f->pattern.arrays[i];
    if ((double)r->accesses < enough_irregular * (double)f->pattern.all.accesses || !r->compared) continue;
    double regular = advice_part(r->followed, r->compared);
    if (regular >= irregular || (worst >= 0 && r->accesses <= f->pattern.arrays[worst].accesses)) continue;
    /* Irregular because of inactive threads, or of how far loops run; addresses are not random. */
    if (i < f->pattern.n_arrays && !out->unknown_sites && out->buffers[i].sites &&
        out->buffers[i].address <= HD_LEVEL_QUASI)
      continue;
    worst = i;
    *part = regular;
  }
  return worst;
}

/* ", line 93: loaded from memory": where the text says so too. */
static void tell_address(const hd_advice *out, uint32_t array, hd_buf *text) {
  if (array >= out->sum.pattern.n_arrays) return;
  const hd_text_facts *b = &out->buffers[array];
  if (b->sites && b->address > HD_LEVEL_QUASI)
    hd_buf_printf(text, "PTX line %u: an address is %s. ", b->line, hd_why_text(b->why));
}

/* The written array with most reads of words that their CTA does not write. */
static int64_t skewed_array(const hd_facts *sum) {
  int64_t most = -1;
  for (uint32_t i = 0; i <= sum->sharing.n_arrays; i++) {
    const hd_sharing_row *r = &sum->sharing.arrays[i];
    if (r->stores && r->skewed && (most < 0 || r->skewed > sum->sharing.arrays[most].skewed)) most = i;
  }
  return most;
}

/* ---- Experiments ------------------------------------------------------------------------------ */

static hd_status experiment(advising *a, hd_diag *d) {
  return a->experiment && !a->out->experiments.done ? a->experiment(a, d) : HD_OK;
}

static double l2_ratio(const hd_counters *c, const hd_counters *base) {
  return base->l2_read_sectors ? (double)c->l2_read_sectors / (double)base->l2_read_sectors : 1;
}

/* ---- Deciding ------------------------------------------------------------------------------------ */

static void tell_sharing(const advising *a, hd_buf *text) {
  const hd_facts *f = &a->out->sum;
  hd_buf_printf(
      text,
      "%.0f%% of line reuse and %.0f%% of word reuse cross CTAs. Of the lines that CTAs touch, %.0f%% are "
      "shared with some other CTAs and %.0f%% with all. ",
      100 * hd_reuse_inter(&f->reuse.all.lines), 100 * hd_reuse_inter(&f->reuse.all.words),
      100 * advice_part(advice_exploitable(&f->sharing.all), f->sharing.all.pairs),
      100 * advice_part(f->sharing.all.common, f->sharing.all.pairs));
}

static void tell_most_shared(const advising *a, hd_buf *text) {
  const hd_facts *f = &a->out->sum;
  uint32_t most = 0;
  for (uint32_t i = 1; i <= f->sharing.n_arrays; i++)
    if (advice_exploitable(&f->sharing.arrays[i]) > advice_exploitable(&f->sharing.arrays[most])) most = i;
  const hd_sharing_row *r = &f->sharing.arrays[most];
  if (advice_exploitable(r))
    hd_buf_printf(text, "Most of it is %s, %.0f%% of whose used words other CTAs use too. ",
                  array_name(a, most), 100 * advice_part(r->shared_words, r->words));
}

static unsigned decide_write_and_data(const advising *a, hd_buf *text) {
  const hd_facts *f = &a->out->sum;
  unsigned category = 0;
  double regular = 0;
  int64_t random = advice_irregular_array(a->out, &regular), skewed = skewed_array(f);
  if (random >= 0) {
    category |= HD_CATEGORY_DATA;
    hd_buf_printf(text,
                  "Only %.0f%% of the accesses to %s are those of the neighbouring CTA, moved: what is "
                  "accessed depends "
                  "on data. ",
                  100 * regular, array_name(a, (uint32_t)random));
    tell_address(a->out, (uint32_t)random, text);
  }
  if (skewed >= 0 && (double)f->skewed_reads >= enough_skewed * (double)f->array_loads) {
    const hd_sharing_row *r = &f->sharing.arrays[skewed];
    category |= HD_CATEGORY_WRITE;
    hd_buf_printf(text,
                  "%s is read and written by one kernel, and %.0f%% of the lines that a CTA reads of it hold "
                  "words that "
                  "it reads and does not write itself. ",
                  array_name(a, (uint32_t)skewed), 100 * advice_part(r->skewed, r->loads));
  }
  return category;
}

/* CTAs share lines that not all CTAs share. */
static hd_status decide_shared(advising *a, unsigned *category, hd_buf *text, hd_diag *d) {
  const hd_facts *f = &a->out->sum;
  double sectors = advice_sector_use(&f->pattern.all), lines = hd_reuse_inter(&f->reuse.all.lines),
         words = hd_reuse_inter(&f->reuse.all.words);
  if (sectors < poor_sectors) {
    hd_buf_printf(text, "Warps use %.0f%% of the sectors that they ask for: accesses are not coalesced. ",
                  100 * sectors);
    *category = HD_CATEGORY_CACHE_LINE;
    return HD_OK;
  }
  if (lines >= enough_inter) {
    *category = words < lines / 2 ? HD_CATEGORY_CACHE_LINE : HD_CATEGORY_ALGORITHM;
    hd_buf_puts(text, *category == HD_CATEGORY_ALGORITHM ? "CTAs use the same words. "
                                                         : "CTAs share lines rather than words. ");
    return HD_OK;
  }
  hd_status st = experiment(a, d);
  if (st != HD_OK) return st;
  const hd_experiments *e = &a->out->experiments;
  *category = words < lines / 2 ? HD_CATEGORY_CACHE_LINE : HD_CATEGORY_ALGORITHM;
  if (!e->done) return HD_OK;
  double x = l2_ratio(&e->along_x, &e->baseline), y = l2_ratio(&e->along_y, &e->baseline),
         off = l2_ratio(&e->no_l1, &e->baseline);
  hd_buf_printf(
      text,
      "L2 reads change by %+.0f%% and %+.0f%% with clusters along x and y, and by %+.0f%% with L1 off. ",
      100 * (x - 1), 100 * (y - 1), 100 * (off - 1));
  bool moves = fabs(x - 1) >= changed || fabs(y - 1) >= changed;
  if (off < 1 - changed)
    *category = HD_CATEGORY_CACHE_LINE;
  else if (moves)
    *category = HD_CATEGORY_ALGORITHM;
  return HD_OK;
}

/* Every CTA is alone with its data, or shares it with all. */
static hd_status decide_alone(advising *a, unsigned *category, hd_buf *text, hd_diag *d) {
  hd_status st = experiment(a, d);
  if (st != HD_OK) return st;
  const hd_experiments *e = &a->out->experiments;
  double lines = advice_line_use(&a->out->sum.pattern.all);
  *category = lines >= good_lines ? HD_CATEGORY_STREAMING : HD_CATEGORY_CACHE_LINE;
  if (!e->done) return HD_OK;
  double off = l2_ratio(&e->no_l1, &e->baseline);
  hd_buf_printf(text,
                "L2 reads change by %+.0f%% with L1 off. Warps use %.0f%% of the lines that they ask for. ",
                100 * (off - 1), 100 * lines);
  if (off <= 0.5)
    *category = HD_CATEGORY_CACHE_LINE;
  else if (off >= 1.5 || lines >= good_lines)
    *category = HD_CATEGORY_STREAMING;
  else
    *category = HD_CATEGORY_DATA;
  return HD_OK;
}

hd_status advice_category(advising *a, hd_diag *d) {
  const hd_facts *f = &a->out->sum;
  hd_buf text = {0};
  hd_status st = HD_OK;
  tell_sharing(a, &text);
  unsigned category = decide_write_and_data(a, &text);
  if (!category) {
    uint64_t lines = f->reuse.all.distinct_lines, shared = f->reuse.all.shared_lines;
    bool many = advice_part(advice_exploitable(&f->sharing.all), f->sharing.all.pairs) >= enough_pairs &&
                advice_part(shared, lines) >= enough_lines;
    if (many) tell_most_shared(a, &text);
    st = many ? decide_shared(a, &category, &text, d) : decide_alone(a, &category, &text, d);
  }
  a->out->category = category;
  if (st == HD_OK && text.failed) st = hd_nomem(d);
  if (st == HD_OK && text.len)
    snprintf(a->out->evidence, sizeof a->out->evidence, "%.*s", (int)text.len - 1, text.data);
  hd_buf_free(&text);
  return st;
}

hd_status hd_category_decide(const hd_category_case *c, unsigned *category, char evidence[HD_EVIDENCE],
                             hd_diag *d) {
  hd_advice *out = calloc(1, sizeof *out);
  if (!out) return hd_nomem(d);
  out->sum = *c->facts;
  out->buffers = c->buffers;
  out->unknown_sites = c->unknown_sites;
  advising a = {.arrays = c->arrays, .out = out};
  hd_status st = advice_category(&a, d);
  *category = out->category;
  memcpy(evidence, out->evidence, HD_EVIDENCE);
  free(out);
  return st;
}
