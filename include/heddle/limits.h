/* heddle/limits.h: CUDA's limits on a launch (CUDA C++ Programming Guide, technical specifications). They are
 * the same for every compute capability from 5.0 on, but for shared memory. */
#ifndef HEDDLE_LIMITS_H
#define HEDDLE_LIMITS_H

#include <stdint.h>

enum {
  HD_MAX_THREADS = 1024,     /* of a CTA */
  HD_MAX_CLUSTER = 16,       /* CTAs of a cluster; beyond 8 a kernel must allow it */
  HD_MAX_SHARED = 227 << 10, /* bytes a CTA may ask for: of compute capability 9.0, the most there is */
  HD_MAX_PARAMS = 32764,     /* bytes of a kernel's parameters, from compute capability 7.0 on */
  HD_MAX_CONST = 64 << 10,   /* bytes of a module's .const variables, in each bank */
};

/* x, y, z; at least 1 each. */
static const uint32_t hd_max_grid[3] = {0x7fffffff, 65535, 65535}; /* CTAs */
static const uint32_t hd_max_block[3] = {1024, 1024, 64};          /* threads */

#endif
