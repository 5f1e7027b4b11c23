/* heddle/pool.h: work that is done beside the caller, before it is asked for.
 *
 * Items are worked off by threads in the order in which they were put in, but the one that is waited for
 * comes first. An item is the caller's: a pointer, which the pool only hands to the caller's functions. An
 * item is in the pool until it is waited for or dropped, done or not. */
#ifndef HEDDLE_POOL_H
#define HEDDLE_POOL_H

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_pool hd_pool;

typedef struct hd_pool_options {
  void (*work)(void *ctx, void *item); /* on any of the threads, on several at a time */
  void (*drop)(void *ctx, void *item); /* an item that leaves the pool without having been waited for */
  void *ctx;
  unsigned threads; /* at most; 0: one less than there are processors, and one at least */
} hd_pool_options;

/* The threads take no signals, and let others of the process run first. HD_ERR_NOMEM: also if there is no
 * thread. */
HD_OWN hd_status hd_pool_open(const hd_pool_options *o, hd_pool **out, hd_diag *d);
/* Waits for the items that are being worked on, and drops all. NULL is allowed. */
HD_OWN void hd_pool_close(hd_pool *p);

/* False: no memory; the item is not in the pool. */
HD_OWN bool hd_pool_put(hd_pool *p, void *item);
/* The first item of which is(item, key) is true; it stays. NULL: none. */
HD_OWN void *hd_pool_find(hd_pool *p, bool (*is)(const void *item, const void *key), const void *key);
/* Until it has been worked on. It is in the pool no more. */
HD_OWN void hd_pool_wait(hd_pool *p, const void *item);
/* Drops all items but those that are being worked on. */
HD_OWN void hd_pool_forget(hd_pool *p);
HD_OWN size_t hd_pool_count(hd_pool *p);

#ifdef __cplusplus
}
#endif
#endif
