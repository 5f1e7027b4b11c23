/* predict/launches.h: long rows of launches predicted from some of them.
 *
 * Launches of one kernel, grid and block are alike. Of a long row a few runs of consecutive launches are
 * replayed, from evenly spread places of the row, each so long that all that recur are in it twice: its first
 * half warms caches, its second half counts. Of a row in which no kind of launch comes back once another has
 * come, each kind's middle launch is, and the one before it. Launches that are left out take the mean of
 * those like them that count. */
#ifndef HEDDLE_PREDICT_LAUNCHES_H
#define HEDDLE_PREDICT_LAUNCHES_H

#include "heddle/model.h"

typedef enum launch_use {
  LAUNCH_LEFT_OUT,
  LAUNCH_WARMS,  /* replayed for what it leaves in caches */
  LAUNCH_ITSELF, /* replayed, and unlike the others: caches were cold */
  LAUNCH_COUNTS, /* replayed, and stands for those like it */
} launch_use;

typedef struct launch_row {
  uint32_t n;
  uint32_t known;        /* the first ones, which may be replayed */
  uint32_t whole;        /* rows of so many are replayed whole, where all of them are known */
  const uint32_t *group; /* per launch: the first one like it */
  const double *units;   /* per launch: of its replay */
} launch_row;

/* So many of the first ones should be known: all of a row too short to be sampled, and every kind of launch.
 */
uint32_t launches_least(const launch_row *row);
/* So many must be: every kind of launch. */
uint32_t launches_fewest(const launch_row *row);
/* Decides which launches are replayed where a replay may cost `affordable` units; use[] has room for all.
 * True: some are left out. */
bool launches_choose(const launch_row *row, double affordable, launch_use *use);

/* each[] has the counters of launches that were replayed; the others are filled in. Returns the standard
 * error of the sum of times, in us. A group of which one launch counts is taken to be off by all of it. */
double launches_fill(const launch_row *row, const launch_use *use, hd_counters *each);

#endif
