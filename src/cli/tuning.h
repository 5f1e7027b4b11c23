/* cli/tuning.h: declarations that the tuning commands share. */
#ifndef HEDDLE_CLI_TUNING_H
#define HEDDLE_CLI_TUNING_H

#include "cli.h"
#include "heddle/verdict.h"

/* The GPU file that is nearest to a device, for advice: the latest architecture that is no later than its
 * own. */
bool tuning_advisor(const hd_device *dev, hd_gpu *out);
#endif
