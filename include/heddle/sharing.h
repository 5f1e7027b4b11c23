/* heddle/sharing.h: how a launch's CTAs share memory, and how regularly they access it, measured on traces.
 *
 * sharing    the CTAs that name the same lines: neighbours along x, y or z, all of them, or others; whether
 *            they use the same words of these lines, and whether one writes lines that another one reads
 * pattern    how well accesses coalesce, and whether CTAs make the same accesses, moved by a constant
 *
 * Like heddle/reuse.h these are properties of a launch and its data: no cache and no schedule enters.
 */
#ifndef HEDDLE_SHARING_H
#define HEDDLE_SHARING_H

#include "heddle/reuse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Sharing --------------------------------------------------------------------- */

/* Counts of pairs (CTA, line): a CTA names a line, however often. */
typedef struct hd_sharing_row {
  uint64_t pairs;
  uint64_t lines;
  uint64_t shared; /* pairs whose line other CTAs name too */
  uint64_t common; /* of these: at least half of the launch's CTAs name the line, so that no placement of CTAs
                      shares it better than another */
  uint64_t along[3];     /* of the others: the neighbour at x + 1, y + 1 or z + 1 names the line too */
  uint64_t apart;        /* of the others: no neighbour in any direction does */
  uint64_t words;        /* 4 bytes each, that shared but not common pairs use of their lines, */
  uint64_t common_words; /* and common ones */
  uint64_t shared_words, shared_common_words; /* of these: another CTA uses the word too */
  uint64_t loads, stores;                     /* pairs that read; that write */
  uint64_t fed;    /* pairs that read a line into which another CTA of the launch writes */
  uint64_t skewed; /* pairs that read words of the line which their CTA does not write */
} hd_sharing_row;

typedef struct hd_sharing {
  hd_sharing_row all;
  hd_sharing_row *arrays; /* per array, and one more for what lies in none */
  uint32_t n_arrays;      /* without that one */
  double sampled;         /* part of the lines that was followed: counts are of these, not scaled */
} hd_sharing;

typedef struct hd_sharing_options {
  uint32_t line;   /* bytes, 32, 64 or 128; 128 when 0 */
  uint64_t budget; /* pairs kept; 0: 8 million, some 100 MB. Beyond, a sample of the lines is followed */
} hd_sharing_options;

/* `grid` is the launch's; arrays as for hd_reuse_measure. *out is freed by hd_sharing_free; on failure it
 * needs no freeing. */
HD_OWN hd_status hd_sharing_measure(const hd_trace *t, const uint32_t grid[3], const hd_reuse_array *arrays,
                                    uint32_t n, const hd_sharing_options *o, hd_sharing *out, hd_diag *d);
HD_OWN void hd_sharing_free(hd_sharing *s);
HD_OWN void hd_sharing_add(hd_sharing_row *sum, const hd_sharing_row *r);

/* ---- One CTA's partners -------------------------------------------------------------- */

enum { HD_SHARING_TASKS = 8 };
/* share[k * V + t]: part of the lines that task tasks[k] names which task t names too, for n of them (at most
 * HD_SHARING_TASKS) and all V tasks of the trace. line as in hd_sharing_options. */
HD_OWN hd_status hd_sharing_with(const hd_trace *t, const uint64_t *tasks, uint32_t n, uint32_t line,
                                 float *share, hd_diag *d);

/* ---- Colours ------------------------------------------------------------------------ */

/* CTAs in groups by where in an array the lines lie that they share with others: those that share the same
 * lines are of one group, and neighbouring groups use neighbouring places. */
enum { HD_COLOURS = 12, HD_NO_COLOUR = 255 };
typedef struct hd_colouring {
  uint32_t array;    /* number; as many as there are: what lies in none */
  uint32_t n;        /* groups, at most HD_COLOURS; 0: no CTA shares a line of the array */
  uint8_t *of;       /* per task asked for: its group, by place; HD_NO_COLOUR: it shares nothing there */
  uint64_t uses;     /* (CTA, line) pairs of which another CTA has the line, too */
  uint64_t within;   /* of these: one of the same group has it */
  uint64_t requests; /* of warps' accesses: lines that CTAs share, as often as they are named */
} hd_colouring;

/* Groups of n different tasks, in ascending order; those that the trace does not have share nothing. Places
 * are means over their shared lines; where there are more than HD_COLOURS, neighbours are put together, as
 * many CTAs in each group. *out has an entry for each array and one more, that with the most pairs `within`
 * first, those of several groups before those of one; hd_colourings_free. line as in hd_sharing_options. */
HD_OWN hd_status hd_sharing_colour(const hd_trace *t, const uint64_t *tasks, uint32_t n,
                                   const hd_reuse_array *arrays, uint32_t n_arrays, uint32_t line,
                                   hd_colouring **out, hd_diag *d);
HD_OWN void hd_colourings_free(hd_colouring *c, uint32_t n_arrays);

/* ---- Patterns ---------------------------------------------------------------------- */

typedef struct hd_pattern_row {
  uint64_t accesses;               /* of warps */
  uint64_t bytes;                  /* distinct ones that they name, access by access */
  uint64_t sectors, least_sectors; /* of 32 bytes that they touch; that as many bytes need at least */
  uint64_t lines, least_lines;     /* of 128 bytes, likewise */
  /* Accesses of neighbouring CTAs along x, y or z, whichever direction has the most regular ones. An access,
   * the k-th of a warp to an array, is regular if the k-th one of the CTA before has the same shape, at a
   * distance that also occurs between that CTA and the one before it. */
  uint64_t compared; /* accesses that were compared so */
  uint64_t followed; /* of these: regular ones */
} hd_pattern_row;

typedef struct hd_pattern {
  hd_pattern_row all;
  hd_pattern_row *arrays; /* per array, and one more for what lies in none */
  uint32_t n_arrays;      /* without that one */
} hd_pattern;

/* `tasks` bounds the CTAs that are looked at, runs of neighbours spread over the launch; 0: 1024. Counts
 * other than compared and followed are of those CTAs along x. */
HD_OWN hd_status hd_pattern_measure(const hd_trace *t, const uint32_t grid[3], const hd_reuse_array *arrays,
                                    uint32_t n, uint64_t tasks, hd_pattern *out, hd_diag *d);
HD_OWN void hd_pattern_free(hd_pattern *p);
HD_OWN void hd_pattern_add(hd_pattern_row *sum, const hd_pattern_row *r);

#ifdef __cplusplus
}
#endif
#endif
