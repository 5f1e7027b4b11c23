/* cli/tuning.h: declarations that the tuning commands share. */
#ifndef HEDDLE_CLI_TUNING_H
#define HEDDLE_CLI_TUNING_H

#include "cli.h"
#include "heddle/verdict.h"

/* The GPU file that is nearest to a device, for advice: the latest architecture that is no later than its
 * own. */
bool tuning_advisor(const hd_device *dev, hd_gpu *out);
/* A line on stderr that says how far it is, when that is a terminal; label is the workload's name. */
void tuning_progress(void *label, const char *stage, size_t done, size_t n);
void tuning_progress_end(void);
#endif
