/* Launches that would change nothing.
 *
 * Benchmarks launch a kernel many times with the same parameters. Where a launch finds device memory in some
 * state and leaves it in that very state, another one would, too, and need not run. All of memory is copied
 * before such a run and compared behind it, byte by byte, so that nothing is assumed about the kernel. While
 * the emulator then counts no change, the state is known to be the same; otherwise memory is compared again.
 */
#include "cuda/core/repeat.h"

#include <stdlib.h>
#include <string.h>

enum { REPEATS = 64 };                 /* that are remembered */
#define MOST_BYTES (UINT64_C(1) << 30) /* of a copy of memory */
/* Bytes that may be copied or compared for each second that a launch has run: that takes less than a tenth of
 * that time. */
#define BYTES_A_SECOND 1e8
/* And for each second that is saved, to find that a launch need not run. */
#define BYTES_A_SECOND_SAVED 1e9

struct core_repeat {
  const core_function *function;
  hd_emu_launch_params params;
  char *args;
  uint64_t runs;
  double seconds;    /* of all runs */
  uint64_t idle;     /* the number of the state in which it changes nothing; 0: none is known */
  hd_emu_stats last; /* of the last run, without its time */
};

static struct {
  HD_VEC(core_repeat *) list;
  size_t oldest;             /* that is forgotten next */
  hd_emu_snapshot *snapshot; /* of the state; NULL: there is none */
  uint64_t number;           /* of the state */
  uint64_t changes;          /* the emulator's when memory was last known to be in that state */
  bool trying;               /* the launch that runs is compared */
} repeats;

/* ---- Which launch ------------------------------------------------------------------------------------- */

static bool is_same(const core_repeat *r, const core_function *f, const hd_emu_launch_params *p) {
  const hd_emu_launch_params *q = &r->params;
  return r->function == f && q->args_bytes == p->args_bytes && q->dynamic_shared == p->dynamic_shared &&
         q->cooperative == p->cooperative && memcmp(q->grid, p->grid, sizeof p->grid) == 0 &&
         memcmp(q->block, p->block, sizeof p->block) == 0 &&
         memcmp(q->cluster, p->cluster, sizeof p->cluster) == 0 &&
         memcmp(r->args, p->args, p->args_bytes) == 0;
}

static core_repeat *make(const core_function *f, const hd_emu_launch_params *p) {
  core_repeat *r = calloc(1, sizeof *r);
  char *args = malloc(p->args_bytes + 1);
  if (!r || !args) {
    free(r);
    free(args);
    return NULL;
  }
  *r = (core_repeat){.function = f, .params = *p, .args = memcpy(args, p->args, p->args_bytes)};
  return r;
}

static void drop(core_repeat *r) {
  free(r->args);
  free(r);
}

core_repeat *core_repeat_of(const core_function *f, const hd_emu_launch_params *p) {
  if (core.settings.checks) return NULL;
  for (size_t k = 0; k < repeats.list.n; k++)
    if (is_same(repeats.list.data[k], f, p)) return repeats.list.data[k];
  core_repeat *r = make(f, p);
  if (!r) return NULL;
  if (repeats.list.n == REPEATS) {
    const size_t k = repeats.oldest++ % REPEATS;
    drop(repeats.list.data[k]);
    return repeats.list.data[k] = r;
  }
  if (hd_vec_push(&repeats.list, r)) return r;
  drop(r);
  return NULL;
}

/* ---- The state of memory ------------------------------------------------------------------------------ */

static void forget_state(void) {
  hd_emu_snapshot_free(repeats.snapshot);
  repeats.snapshot = NULL;
}

static bool is_current(void) { return repeats.snapshot && hd_emu_changes(core.emu) == repeats.changes; }

/* The emulator does not see what the host stores in memory that it shares with the device. */
static bool host_changed(uint64_t most) {
  pthread_mutex_lock(&core.lock);
  const bool same = core_memory_shared_same(repeats.snapshot, most);
  pthread_mutex_unlock(&core.lock);
  return !same;
}

const hd_emu_stats *core_repeat_idle(core_repeat *r) {
  if (!repeats.snapshot || r->idle != repeats.number) return NULL;
  const uint64_t changes = hd_emu_changes(core.emu);
  const uint64_t most = (uint64_t)(r->seconds / (double)r->runs * BYTES_A_SECOND_SAVED);
  const bool idle = changes == repeats.changes ? !host_changed(most)
                                               : hd_emu_snapshot_bytes(repeats.snapshot) <= most &&
                                                     hd_emu_snapshot_same(repeats.snapshot);
  if (idle)
    repeats.changes = changes;
  else
    r->idle = 0;
  return idle ? &r->last : NULL;
}

/* ---- Runs --------------------------------------------------------------------------------------------- */

/* Whether memory is copied now. Runs that are compared in vain get rarer and rarer. */
static bool take(const core_repeat *r, uint64_t most) {
  hd_diag d;
  if (r->runs & (r->runs - 1)) return false;
  forget_state();
  repeats.number++;
  repeats.changes = hd_emu_changes(core.emu);
  return hd_emu_snapshot_take(core.emu, most, &repeats.snapshot, &d) == HD_OK;
}

void core_repeat_begin(core_repeat *r) {
  const double most = r->seconds * BYTES_A_SECOND;
  const uint64_t bytes = most < MOST_BYTES ? (uint64_t)most : MOST_BYTES;
  repeats.trying =
      r->runs && (is_current() && !host_changed(bytes) ? hd_emu_snapshot_bytes(repeats.snapshot) <= bytes
                                                       : take(r, bytes));
}

void core_repeat_end(core_repeat *r, bool silent, const hd_emu_stats *stats) {
  r->runs++;
  r->seconds += stats->seconds;
  r->last = *stats;
  r->last.seconds = 0;
  if (!repeats.trying) return;
  const uint64_t changes = hd_emu_changes(core.emu);
  if (silent && changes == repeats.changes + 1 && hd_emu_snapshot_same(repeats.snapshot)) {
    r->idle = repeats.number;
    repeats.changes = changes;
  } else {
    forget_state();
  }
}
