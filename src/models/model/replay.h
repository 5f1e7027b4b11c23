/* model/replay.h: a model's parts, which a replay of one launch and one of several at once (streams_replay.c)
 * share.
 */
#ifndef HEDDLE_MODEL_REPLAY_H
#define HEDDLE_MODEL_REPLAY_H

#include "model/clock.h"
#include "model/interleave.h"

/* Time goes in epochs: every SM runs one to its end, in turn, and L2 sees their requests in that order. An
 * epoch is as long as the way to L2 takes, so that within one the SMs can hardly affect each other. A place
 * that a CTA leaves is filled at the end of the epoch. */
enum { EPOCH_MIN = 16, EPOCH_MAX = 512 };

struct hd_model {
  hd_gpu gpu; /* with the scheduler of the replay under way */
  hd_gpu own;
  model_memory mem;
  model_sm *sms;     /* gpu.n_sms; NULL before the first replay */
  uint64_t l1_bytes; /* that their L1s were made with */
  /* The SMs' memory, each kind in one piece: thousands of small ones would cost TLB misses. */
  model_set *l1_store, *readonly_store;
  model_ranks *l1_ranks;
  model_stream_slot *slots;
  model_sm_retired *retired;
  model_ccws *ccws;    /* of the SMs; NULL before the first replay under that scheduler */
  uint8_t *l1_owners;  /* theirs: per SM and line of L1 */
  model_clock *clocks; /* of the SMs; NULL before the first replay that has one */
  bool timed;
  model_pace
      *pace; /* of the trace that was replayed last with a clock, for sweeps replay it again and again */
  const hd_trace *paced;
  double paced_born;
  hd_meter *meter; /* or NULL */
};

/* The cycle of the first step of any SM; SM_NEVER: there is none. */
uint64_t model_replay_wake(const hd_model *m);
/* The epoch after cycle *now that begins no earlier than `wake`; *now becomes its end. Returns how many CTAs
 * ended: those in m->retired. */
uint32_t model_replay_epoch(hd_model *m, uint64_t wake, uint64_t *now);
/* SMs with L1s of that size. False: out of memory. */
bool model_replay_make_sms(hd_model *m, uint64_t l1_bytes);
/* Their clocks; after the SMs. */
bool model_replay_make_clocks(hd_model *m);
/* The part of L1 that shared memory of that many CTAs on an SM leaves. */
uint64_t model_replay_l1_bytes(const hd_gpu *g, uint32_t resident, uint32_t shared_bytes);
/* The threshold register of an SM. */
hd_bypass model_replay_threshold(const hd_replay_options *o, uint32_t sm);
/* Checks the options against trace and GPU; *resident: CTAs on an SM. */
hd_status model_replay_check(const hd_model *m, const hd_trace *t, const hd_replay_options *o,
                             uint32_t *resident, hd_diag *d);
/* The warp schedulers' policy from here on. */
hd_status model_replay_set_scheduler(hd_model *m, const hd_replay_options *o, hd_diag *d);

#endif
