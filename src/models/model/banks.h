/* model/banks.h: conflicts of a load's lanes in an L1 that lies in one store with shared memory (Volta and
 * on). */
#ifndef HEDDLE_MODEL_BANKS_H
#define HEDDLE_MODEL_BANKS_H

#include "model/stream.h"

/* The cycles that a load takes of L1 when L1 has all of its `lines`, as measured on an H100 (gathers.txt): as
 * many as there are words that it wants of one of 32 banks, each word counted once, and as there are tags
 * that it looks up in one of four banks. `slot` is the event's: a shape's words are counted once, wherever it
 * lies. */
uint32_t model_bank_passes(model_stream_slot *slot, const model_stream_event *e, const model_lines *lines);

#endif
