/* heddle/model.h: a model of a GPU's caches, through which a launch's trace is replayed.
 *
 * A trace is taken once from the emulator (one stream of coalesced accesses per
 * warp of each task), and replayed through a model of a GPU's memory system
 * under any order and dispatcher: by a clock (depth "timing"), or without one, with
 * an interleaving of all resident CTAs that is driven by latencies (depth
 * "traffic"). Both count sectors and bytes; the clock alone has times. Caches heed
 * the eviction priorities that accesses carry (hd_access_cache).
 */
#ifndef HEDDLE_MODEL_H
#define HEDDLE_MODEL_H

#include "heddle/emu.h"
#include "heddle/plan.h"
#include "heddle/timeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- GPUs ----------------------------------------------------------------- */

typedef enum hd_l1_write { HD_L1_WRITE_EVICT = 0, HD_L1_WRITE_THROUGH, HD_L1_WRITE_NO_ALLOCATE } hd_l1_write;
/* How a warp scheduler chooses among its warps (src/models/model/warps.h). Those that say which warps may
 * load, and two-level, need a clock. */
typedef enum hd_warp_scheduler {
  HD_SCHED_LRR = 0,   /* loose round robin */
  HD_SCHED_GTO,       /* greedy, then the oldest */
  HD_SCHED_TWO_LEVEL, /* round robin inside a fetch group, until all of the group wait */
  HD_SCHED_CCWS,      /* cache-conscious wavefront scheduling */
  HD_SCHED_PRIORITY,  /* MAP's programmable one: only the oldest warps may load */
  HD_SCHED_OLDEST,    /* the oldest CTA's warps, these in turn: an H100's, as policy.cu measured */
  HD_SCHED_COUNT
} hd_warp_scheduler;
HD_OWN const char *hd_scheduler_name(hd_warp_scheduler s); /* "lrr", "gto", ... */

typedef struct hd_cache_config {
  uint64_t bytes;
  uint32_t line, sector; /* bytes; line: 128; sector: 32, 64 or 128, what one miss fetches */
  uint32_t ways;
  uint32_t latency;       /* cycles from issue to use on a hit */
  double bytes_per_cycle; /* L1: per SM; L2: all slices together */
  bool hashed;            /* set index by a hash of the address, else plain modulo */
} hd_cache_config;

/* Pipelines of an SM, for replays with a clock: lanes that they serve per cycle (CUDA C programming guide,
 * "Throughput of native arithmetic instructions"), and cycles from issue to when a dependent instruction may.
 */
typedef struct hd_units {
  double fma, alu, fp64, xu; /* single precision; integers and logic; double precision; special functions */
  double load_store;         /* lanes whose addresses go to L1 or shared memory */
  double tensor;             /* multiply-adds of f16; 0: no tensor cores */
  uint32_t alu_latency, fp64_latency, xu_latency, shared_latency, tensor_latency;
  double mma; /* as tensor, of instructions of one warp (mma.sync); 0: the same */
  double barrier,
      barrier_warp; /* cycles that a barrier takes from the last warp's arrival, and more for each warp */
  double
      constant; /* cycles of the SM for each word that a warp's load of constants by index names; 0: none */
  uint32_t constant_latency;    /* of such a load of one word; 0: as of shared memory */
  double constant_word_latency; /* and more for each other word */
  double fetch;                 /* cycles of the SM's load/store pipeline that a prefetch takes at least */
  uint32_t fetch_latency;       /* cycles for which the warp of a prefetch goes no further */
  uint32_t fence_latency;       /* of a fence for the GPU; 0: as L2's */
} hd_units;

/* The code that ptxas makes for the GPU, for replays with a clock; all 0 if it was not examined. */
typedef struct hd_ptxas {
  uint32_t registers;   /* that it gives a thread of itself so that loads are in flight together, and up to
                           .maxnreg if there is one; 0: as many as leave room for all of an SM's warps */
  bool pairs_guarded;   /* of two loads of a register under opposite guards, none waits for the other */
  uint32_t predicated;  /* instructions of PTX that it predicates rather than leave a branch over them */
  bool unrolls_no_join; /* loops that are entered from several places stay as they are */
} hd_ptxas;

/* How replays compare with measurements of such a GPU (docs/decisions/clock.md), as scripts/accuracy-table
 * puts it into the file; all 0 if they were not compared, or if the GPU was changed. The sign of an effect is
 * right if the measurement has the same. */
typedef struct hd_compared {
  uint32_t launches;             /* default launches by the clock */
  double time_error;             /* of their times: percent, the mean */
  uint32_t effects, right_signs; /* plans' effects by the clock (accuracy.h) */
  uint32_t sampled; /* predicted times from a part of the work that were compared with those from all of it */
  double sampled_error; /* percent, the mean */
} hd_compared;

/* How a clock compares with figures that others published of such a GPU (docs/gpus.md), as scripts/published
 * puts it into the file; all 0 if it was not compared, or if the GPU was changed. */
typedef struct hd_published {
  uint32_t figures, apart;   /* all; those on which no key of the file rests */
  double error, apart_error; /* percent, the means */
} hd_published;

/* The time that launches take beside their CTAs' work, for replays with a clock; all 0 if it is not known. */
typedef struct hd_launch_cost {
  double first_us,
      next_us;      /* of an empty kernel: alone, between events before and behind it; in a row of them */
  double second_us; /* of the second one; 0: as next_us */
  double
      host_us; /* from one launch of a long row to the next, as fast as the host makes them; 0: not known */
  double cta_cycles; /* from one CTA's start to the next one's, on the whole GPU */
} hd_launch_cost;

enum { HD_DRAM_MOST_CHANNELS = 64, HD_DRAM_MOST_BANKS = 64, HD_L2_MOST_PARTS = 2, HD_MOST_GPCS = 16 };

typedef struct hd_gpu {
  char name[32], title[96];
  unsigned arch; /* sm number: 20, 52, 61, 90 */
  uint32_t n_sms;
  uint32_t max_ctas, max_warps, max_threads; /* resident per SM */
  uint32_t schedulers;    /* warp schedulers per SM, each with an equal part of the registers */
  uint32_t registers;     /* 32-bit registers per SM */
  uint32_t register_unit; /* allocation granularity per warp */
  uint32_t shared_bytes;  /* per SM, for occupancy */
  uint32_t shared_unit;
  uint32_t shared_reserved; /* taken by the system from every CTA, before rounding to shared_unit */
  uint32_t issue_per_cycle; /* warp instructions per cycle and SM */
  hd_warp_scheduler scheduler;
  uint32_t scheduler_warps; /* two-level: of a fetch group, 0: 8; priority: that may load, 0: as many as the
                               launch's loads leave room for in L1 (hd_reuse_warp_group) */
  hd_dispatch_kind
      dispatch; /* how its CTAs are handed out when nothing else is asked for: round robin or demand */
  bool l1_fetches_pass;   /* a prefetch into L1 brings its line no nearer than L2 */
  bool l1_latency_to_use; /* the latencies of loads last until their results are used; else
                             units.shared_latency is added where a result is used at once, as in the clock
                             that was compared with an H100 */
  bool l1_global;         /* global loads are cached in L1 */
  bool l1_unified; /* l1.bytes is shared with shared memory: L1 loses the bytes that resident CTAs take */
  hd_l1_write l1_write;
  uint32_t l1_mshrs; /* lines that one SM's loads may have asked L2 for at once, through L1 or past it: a load
                        that finds none free waits, and others go on */
  hd_cache_config l1, l2;
  hd_cache_config
      readonly; /* a cache of its own for .nc loads, as Kepler's (BYP figure 2); bytes 0: they go through
                   L1, as on Maxwell and on. Never short of MSHRs: textures' queues hold its misses */
  /* Lines per cycle of loads that L1 does not have or that go past it, and of stores; 0: only its bytes limit
   * it. If it is given and L1 is unified, words that lanes want of one bank of the store take a cycle each,
   * too. */
  double l1_lines_per_cycle;
  double l1_stores_per_cycle;    /* lines, for stores; 0: as for loads */
  double l2_sm_bytes_per_cycle;  /* that one SM gets from L2; 0: no limit of its own */
  double l2_sms_bytes_per_cycle; /* that all SMs get together, whoever of them share a request; 0: no limit */
  uint32_t gpcs;     /* that get equal shares of L2's rate: SMs are dealt to them in pairs; 0: SMs do */
  uint32_t l2_parts; /* at most HD_L2_MOST_PARTS: an SM asks the near one, which keeps copies of the other's
                        lines; 0: one */
  uint32_t l2_far_latency; /* cycles more until data comes from the part that is not near */
  uint32_t
      l2_sms_together; /* SMs next to each other whose loads of a line at a time are one request; 0: none */
  /* The requests that L2 serves per cycle, all slices together; 0: only its bytes limit it. */
  double l2_requests_per_cycle; /* loads, a request a line */
  double l2_store_bytes_per_cycle, l2_stores_per_cycle;
  double l2_atomics_per_cycle;        /* sectors that it adds to */
  double l2_atomic_repeats_per_cycle; /* more lanes of a warp that add to one word; 0: they cost nothing */
  double l2_sm_store_bytes_per_cycle,
      l2_sm_stores_per_cycle;   /* that one SM sends, a store a line; 0: no limit */
  double l2_sm_loads_per_cycle; /* requests of one SM for a line each, on a way full of stores; 0: loads have
                                   a way of their own */
  uint32_t l2_atomic_latency;   /* cycles until an atomic's old value is there; 0: as a load's */
  uint32_t l2_look_cycles;      /* until a warp knows what 32 words of as many lines hold; 0: as a load's */
  double l2_line_atomics_per_cycle; /* of different warps, to one line; 0: they cost nothing */
  bool l2_first_with_l1;   /* a load with .L1::evict_first or .L1::no_allocate goes first in L2, too */
  uint64_t l2_dirty_bytes; /* of the data of others that L2 holds when a launch begins: what a flush leaves to
                              be written back */
  hd_launch_cost launch;
  hd_ptxas ptxas;
  uint32_t dram_latency;
  /* Of one request in a hundred at most, and of the slowest one in a hundred; dram_latency is the mean. 0:
   * all are alike */
  uint32_t dram_latency_least, dram_latency_most;
  double dram_bytes_per_cycle;
  double dram_write_bytes_per_cycle; /* 0: as it reads */
  /* For how many cycles a request keeps its slice of L2, or its bank of DRAM, busy; 0: it does not. */
  double l2_queue_cycles, dram_queue_cycles;
  /* DRAM's channels, which share its rate, and the bytes that go to one before the next one's; 0 channels:
   * one. Banks of a channel, and bytes of a row; 0 banks: rows are free. For how many cycles a row that a
   * bank does not hold open keeps it busy, and how far apart a channel opens rows. dram_latency is that of a
   * bank without an open row: a request whose row is open takes dram_row_latency less, one that finds
   * another open so much more. */
  uint32_t dram_channels, dram_interleave, dram_banks, dram_row_bytes, dram_row_latency;
  double dram_row_cycles, dram_activate_cycles;
  double clock_mhz;
  hd_units units;
  hd_compared compared;
  hd_published published;
} hd_gpu;

/* NAME of a file in the GPU folder (without .toml), or a path to one. The name may be spelled in other ways
 * ("H100", "RTX 4090"), or be one of those that the folder's published/known.toml has ("4090"); out->name is
 * the file's. HD_ERR_USAGE of another name: the message names the nearest GPU that has a file, and how it
 * differs if that is known. Every key is checked: unknown keys, missing keys and values out of range are
 * errors with a line. */
HD_API hd_status hd_gpu_load(const char *name_or_path, const char *gpu_dir, hd_gpu *out, hd_diag *d);
/* The same of a file's text; `file` is for messages. The GPU has no name. */
HD_OWN hd_status hd_gpu_read(const char *text, size_t len, const char *file, hd_gpu *out, hd_diag *d);
/* The text of a GPU file that hd_gpu_load reads as g, apart from its name. */
HD_OWN void hd_gpu_toml(const hd_gpu *g, hd_buf *out);
/* Whether the file has [units], which a clock needs. Without one there are no times: replays count traffic.
 */
HD_API bool hd_gpu_has_clock(const hd_gpu *g);
/* HD_ERR_UNSUPPORTED, with a message that says what to do, if it has none. */
HD_OWN hd_status hd_gpu_need_clock(const hd_gpu *g, hd_diag *d);
/* Whether the file has [launch], the time that launches take beside their CTAs' work, which a probe measures.
 * Without it, a clock counts that as nothing. */
HD_OWN bool hd_gpu_has_launches(const hd_gpu *g);
/* Give a GPU another warp scheduler. HD_ERR_USAGE for a number of warps that the scheduler does not take, or
 * beyond an SM's; HD_ERR_UNSUPPORTED for one that steers loads through L1 on a GPU whose global loads do not
 * use it. */
HD_OWN hd_status hd_gpu_set_scheduler(hd_gpu *g, hd_warp_scheduler s, uint32_t warps, hd_diag *d);
/* The same from its name: "gto", "priority:6". */
HD_OWN hd_status hd_gpu_parse_scheduler(hd_gpu *g, const char *text, hd_diag *d);
/* Another size of L1: Fermi and Kepler split 64 KB between L1 and shared memory, as the launch asks, and a
 * file has one of these splits; shared memory gets the rest. 0 leaves it as it is. HD_ERR_USAGE: no multiple
 * of line x ways. */
HD_OWN hd_status hd_gpu_set_l1(hd_gpu *g, uint64_t bytes, hd_diag *d);
/* Names found in the folder, sorted; freed by hd_gpu_list_free. */
HD_API hd_status hd_gpu_list(const char *gpu_dir, char ***names, size_t *n, hd_diag *d);
HD_API void hd_gpu_list_free(char **names, size_t n);
HD_OWN hd_status hd_gpu_names(const char *gpu_dir, hd_buf *out, hd_diag *d); /* the same, one a line */

/* CTAs of this shape that fit on one SM at once; 0: none fits. registers per thread 0:
 * not limiting. */
HD_OWN uint32_t hd_gpu_occupancy(const hd_gpu *g, uint32_t threads, uint32_t registers,
                                 uint32_t shared_bytes);

/* ---- Two GPUs' files side by side --------------------------------------------------- */

enum { HD_GPU_MOST_KEYS = 160 };
typedef struct hd_gpu_keys {
  bool has[HD_GPU_MOST_KEYS];
} hd_gpu_keys;
/* Those that the file of g has. */
HD_OWN hd_gpu_keys hd_gpu_keys_of(const hd_gpu *g);
/* Whether there is such a key, and what the set says of it; `table` NULL: above all tables. */
HD_OWN bool *hd_gpu_keys_find(hd_gpu_keys *keys, const char *table, const char *key);

typedef struct hd_gpu_difference {
  const char *table, *key;  /* table NULL: above all tables */
  char file[40], other[40]; /* as GPU files have them; "" if there is none */
  double percent;           /* of numbers: by how much the other's differs from the file's; else NaN */
  bool agrees;
} hd_gpu_difference;
typedef struct hd_gpu_comparison {
  hd_gpu_difference keys[HD_GPU_MOST_KEYS]; /* in the order of GPU files */
  uint32_t n;
  uint32_t agree, differ;
  uint32_t alone;    /* keys that only one of them has: they neither agree nor differ */
  uint32_t left_out; /* keys that either has beside those that are compared */
} hd_gpu_comparison;
/* The keys `of` two GPUs except the title: numbers agree if they differ by at most so much percent of the
 * file's, other values if they are equal. */
HD_OWN void hd_gpu_compare(const hd_gpu *file, const hd_gpu *other, const hd_gpu_keys *of, double percent,
                           hd_gpu_comparison *out);

/* ---- Traces ------------------------------------------------------------------- */

/* Global-memory accesses of one launch, coalesced into 32-byte sectors grouped by 128-byte
 * lines, per task and warp in program order, with barriers. Shared-memory accesses are
 * only counted; local memory is left out. Addresses are relative to the emulator's global
 * base, so that equal runs give equal traces; up to 128 GB of them. */
typedef struct hd_trace hd_trace;

/* For a launch of that grid and block; `limit` bounds its memory in bytes (0: 8 GB): a launch that
 * needs more ends with HD_ERR_BUDGET. */
HD_OWN hd_status hd_trace_create(const uint32_t grid[3], const uint32_t block[3], unsigned workers,
                                 uint64_t limit, hd_trace **out, hd_diag *d);
/* Before the launch: keep which instructions each warp runs, too, which replays with a clock need. m is the
 * module that the launch runs, and is not needed afterwards. Takes memory for each different way that warps
 * go. */
HD_OWN hd_status hd_trace_keep_paths(hd_trace *t, const hd_ptx_module *m, hd_diag *d);
/* If the launch has run more warp instructions and warps' accesses together, no further CTA starts, and it
 * ends with HD_ERR_BUDGET. Whether it does follows from the launch alone, not from the machine. 0: any. */
HD_OWN void hd_trace_set_most(hd_trace *t, uint64_t work);
/* Each task that ends adds a part to the meter; NULL: no more. */
HD_OWN void hd_trace_set_meter(hd_trace *t, hd_meter *m);
/* Hooks to pass to hd_emu_launch; they stay valid as long as the trace. A trace that has failed ends the
 * launch. */
HD_OWN const hd_emu_hooks *hd_trace_hooks(hd_trace *t);
/* After the launch: order, index, count. */
HD_OWN hd_status hd_trace_finish(hd_trace *t, hd_diag *d);
/* Before the launch: not all of its tasks will run, and some not to their ends. Such a trace serves the tasks
 * that ran; the others count as tasks that do nothing. */
HD_OWN void hd_trace_allow_gaps(hd_trace *t);
/* A finished trace that may have gaps takes more tasks, up to the next hd_trace_finish. Replays and walks may
 * go on meanwhile, with the tasks that it had before; if the further ones fail, it keeps the earlier ones and
 * takes no more. */
HD_OWN hd_status hd_trace_resume(hd_trace *t, hd_diag *d);
HD_OWN bool hd_trace_has(const hd_trace *t, uint64_t task); /* it ran, and the trace was finished then */
/* hd_trace_walk, hd_trace_task_instructions and hd_trace_get_info show the tasks that the finished trace has
 * now, but none that it takes later, so that results do not depend on which replays came first. */
HD_OWN void hd_trace_show_so_far(hd_trace *t);
HD_OWN void hd_trace_destroy(hd_trace *t);

typedef struct hd_trace_info {
  uint64_t tasks, warps_per_task;
  uint64_t recorded;        /* tasks that ran: all, unless the trace may have gaps. The rest is of these */
  uint64_t warp_accesses;   /* global memory instructions, per warp */
  uint64_t thread_accesses; /* the same, per active thread */
  uint64_t sectors;         /* 32-byte sectors requested */
  uint64_t shared_accesses; /* warp-level */
  uint64_t warp_instructions, thread_instructions;
  uint64_t read_bytes, written_bytes; /* distinct sectors read (before being written by the same
                                task) and written, times 32: the compulsory traffic */
  uint64_t memory;                    /* bytes the trace takes */
} hd_trace_info;
HD_OWN hd_trace_info hd_trace_get_info(const hd_trace *t);

#define HD_TRACE_CALLED (UINT32_C(1) << 31)

/* One warp's access: contiguous bytes, in the order in which its lanes name them first. */
typedef struct hd_trace_event {
  uint64_t task;
  uint32_t warp; /* in its task */
  hd_access_kind kind;
  uint8_t cache;         /* hd_access_cache bits */
  uint32_t inst;         /* hd_access.inst, with HD_TRACE_CALLED in it of a function that the kernel calls */
  uint32_t n;            /* runs, at most HD_WARP */
  const uint64_t *start; /* in the trace's addresses: below 2^37 */
  const uint32_t *bytes;
} hd_trace_event;
typedef void hd_trace_fn(void *ctx, const hd_trace_event *e);

/* The trace's address for an address of the emulator's device memory. */
HD_OWN uint64_t hd_trace_address(uint64_t device);

HD_OWN uint64_t hd_trace_tasks(const hd_trace *t);
HD_OWN uint64_t hd_trace_task_instructions(const hd_trace *t, uint64_t task); /* of all its warps */
/* Call fn for every access of tasks first .. first+n-1: task by task, the warps of a task one
 * after the other, each in program order. Several threads may walk one trace. */
HD_OWN hd_status hd_trace_walk(const hd_trace *t, uint64_t first, uint64_t n, hd_trace_fn *fn, void *ctx,
                               hd_diag *d);

/* ---- Replay --------------------------------------------------------------------- */

#define HD_COUNTER_OF_REAL double
#define HD_COUNTER_OF_COUNT uint64_t
#define HD_COUNTER_OF_LAST uint32_t
/* Each field is a row of heddle/counters.def. */
typedef struct hd_counters {
#define HD_COUNTER(kind, field, unit, decimals, uses, description) HD_COUNTER_OF_##kind field;
#include "heddle/counters.def"
#undef HD_COUNTER
} hd_counters;
/* Add the counters of one launch to those of others: everything is summed but `resident`, which is the last
 * one's. */
HD_OWN void hd_counters_add(hd_counters *sum, const hd_counters *c);
/* Add the counters of launch `number` of a row (0: the first), as a replay with a clock has them, to those of
 * the launches before it. Beside the times of single launches, the second of a row costs more than those
 * behind it, and none begins before the host has launched it, which has a start of so many microseconds. */
HD_OWN void hd_counters_add_launch(hd_counters *row, const hd_counters *c, const hd_gpu *g, uint32_t number,
                                   double head_start_us);
/* Bytes that DRAM reads and writes. */
static inline uint64_t hd_counters_dram(const hd_counters *c) {
  return c->dram_read_bytes + c->dram_write_bytes;
}
/* Bytes between the L1s and L2, and between L2 and DRAM. */
HD_OWN uint64_t hd_counters_traffic(const hd_counters *c);
/* What ranks plans, the least first: the time in us, or the traffic in bytes if no clock gave a time. 0 only
 * if nothing was counted. */
HD_OWN double hd_counters_cost(const hd_counters *c);
/* Whether they have a time, or cycles. Otherwise the counters that HD_COUNTER_IS_TIMED marks are absent. */
HD_OWN bool hd_counters_timed(const hd_counters *c);
/* Multiply everything but `resident`. */
HD_OWN void hd_counters_scale(hd_counters *c, double factor);

/* The fields of hd_counters by name, in the order in which everything prints them. */
typedef enum hd_counter_type {
  HD_COUNTER_REAL,  /* double */
  HD_COUNTER_COUNT, /* uint64_t */
  HD_COUNTER_LAST   /* uint32_t, of which hd_counters_add keeps the last */
} hd_counter_type;
enum {
  HD_COUNTER_IS_EVENT = 1,    /* counted, by the model and by GPUs: bench's results keep it */
  HD_COUNTER_IN_SWEEPS = 2,   /* a column of a sweep's CSV */
  HD_COUNTER_IN_VERDICTS = 4, /* kept with a verdict */
  HD_COUNTER_IS_TIMED = 8     /* a time, or of a clock: absent without one */
};
typedef struct hd_counter {
  const char *name, *unit, *description; /* name: as the field is called */
  hd_counter_type type;
  size_t offset; /* in hd_counters */
  int decimals;  /* of a real one, in CSV */
  unsigned uses; /* HD_COUNTER_IS_EVENT, ... */
} hd_counter;
enum {
#define HD_COUNTER(kind, field, unit, decimals, uses, description) HD_COUNTER_NUMBER_##field,
#include "heddle/counters.def"
#undef HD_COUNTER
  HD_COUNTER_FIELDS
};
HD_API extern const hd_counter hd_counter_table[HD_COUNTER_FIELDS];
HD_OWN double hd_counter_real(const hd_counter *f, const hd_counters *c);
/* 0 of a real one. */
HD_OWN uint64_t hd_counter_count(const hd_counter *f, const hd_counters *c);
HD_OWN void hd_counter_set_count(const hd_counter *f, hd_counters *c, uint64_t value);

/* Tasks that workers claim while they run, from a queue for each SM (bind=claim, bind=agents): a worker takes
 * the next task of its SM's queue, and of the next queue that has one when that is empty. */
typedef struct hd_replay_claims {
  uint32_t n_queues;        /* 0: nothing is claimed. Else the order holds the tasks of queue 0, then those of
                               queue 1, ...: queue i begins at hd_cluster_start(tasks, n_queues, i) */
  const uint32_t *queue_of; /* per SM: its queue; UINT32_MAX: no tasks run there */
  bool agents;      /* workers go on until all queues are empty, and claim ahead of time; else each takes
                       one task and waits for the claim, and the dispatcher says where they start */
  bool ahead;       /* agents: the next task is claimed while the present one is done */
  bool by_warp;     /* every warp of a worker claims for itself, from queues of its own beside those of the
                       others */
  uint32_t active;  /* agents: no more at once on an SM; 0: no such limit */
  bool vote;        /* agents: of those that fit, hd_agents_voted of the SM's queue at once */
  uint64_t segment; /* agents: tasks that one takes at once; 0: one; UINT64_MAX: as many as there are for
                       each worker */
  bool strides;     /* agents: each takes one of the strides of a queue, of which there are as many as workers
                       on an SM, and no other */
} hd_replay_claims;

/* A part of a launch: the places first .. first + n - 1 of the order, and of every queue the same part of its
 * tasks. */
typedef struct hd_replay_part {
  uint64_t first, n; /* n 0: the whole launch */
} hd_replay_part;

/* The progress of a replay by a clock, at the ends of some epochs. */
typedef struct hd_replay_mark {
  double cycle;
  double work;             /* cycles of schedulers used so far, of the whole GPU */
  uint64_t started, ended; /* tasks */
} hd_replay_mark;
enum { HD_REPLAY_MARKS = 512 };
typedef struct hd_replay_progress {
  uint64_t places; /* tasks that run at once, in the whole GPU */
  uint32_t n;
  hd_replay_mark marks[HD_REPLAY_MARKS]; /* in the order of time; the last one is the end */
} hd_replay_progress;

typedef struct hd_replay_options {
  const hd_table *order; /* task at worker u; NULL: u itself */
  hd_replay_claims claims;
  hd_dispatch dispatch;  /* round-robin or demand, as in hardware; others are refused with HD_ERR_UNSUPPORTED.
                            resident 0: from occupancy, else no more than that */
  uint32_t registers;    /* per thread; 0: not limiting */
  uint32_t loads_within; /* with a clock: registers per thread within which ptxas keeps loads in flight, as a
                            plan gives; 0: as many as leave room for all of an SM's warps */
  uint32_t shared_bytes; /* per CTA */
  uint32_t extra, extra_depth; /* instructions that a plan adds to each task, of each warp, and how many of
                                  them wait for each other: with a clock they take their time */
  bool timed; /* by a clock: time is when the last CTA ends. The trace keeps paths. Else nothing is timed */
  hd_bypass threshold; /* a register of the caches compares each load's warp with it (BYP 6.2); NONE: there is
                          none */
  bool vote;           /* each SM has a threshold of its own, hd_bypass_voted of threshold.warps: BYP 4.4.2 */
  uint32_t scheduler_warps; /* in place of the GPU's own number; 0: that one */
  hd_replay_part part;
  hd_replay_progress *progress; /* filled in, with a clock, unless NULL */
  hd_timeline *timeline;        /* filled in, with a clock, unless NULL */
  uint32_t *ctas;   /* filled in, unless NULL: per SM of the GPU, the tasks that began there (of the part) */
  double until;     /* hd_seconds at which the replay ends, done or not, with HD_ERR_BUDGET; 0: never */
  const bool *stop; /* it ends the same way once that is true (hd_is_over); NULL: never */
  bool keep_caches; /* start with L2 as the last replay left it; every launch finds its L1s empty */
} hd_replay_options;

/* At most 64 warps and CTAs per SM, caches of at most 64 ways, 1024 MSHRs: else HD_ERR_UNSUPPORTED. */
typedef struct hd_model hd_model;
HD_OWN hd_status hd_model_create(const hd_gpu *g, hd_model **out, hd_diag *d);
HD_OWN void hd_model_destroy(hd_model *m);
/* Each task of a replay adds a part to the meter, when it ends or, of agents, begins; NULL: no more. */
HD_OWN void hd_model_set_meter(hd_model *m, hd_meter *meter);
/* A trace is read-only here: several models may replay it at once. */
HD_OWN hd_status hd_model_replay(hd_model *m, const hd_trace *t, const hd_replay_options *o, hd_counters *out,
                                 hd_diag *d);
/* The tasks that the options' part of a launch of so many tasks needs: those that the trace must have. *out
 * is the caller's to free. */
HD_OWN hd_status hd_replay_tasks(const hd_replay_options *o, uint64_t tasks, uint64_t **out, uint64_t *n,
                                 hd_diag *d);

/* ---- Several streams at once ------------------------------------------------------ */

/* Launches that follow each other, again and again: one round of them is a turn. */
typedef struct hd_replay_launch {
  const hd_trace *trace;            /* that keeps paths */
  const hd_replay_options *options; /* of a whole launch: no part, no progress */
} hd_replay_launch;
typedef struct hd_replay_stream {
  const hd_replay_launch *launches;
  uint32_t n;
  /* Filled in: */
  uint32_t resident;            /* CTAs of its first launch that fit on an SM */
  uint32_t turns;               /* that ended, the first one not counted */
  double us;                    /* of one, on average, from the end of the one before */
  uint64_t l1_sectors, l1_hits; /* of all, as hd_counters has them */
} hd_replay_stream;
enum { HD_REPLAY_STREAMS = 4 };

/* Replay streams on one GPU with a clock, until each has ended at least `turns` of its own beside the
 * first, which finds caches empty and the others at their beginnings; a stream that is done sooner goes on,
 * so that no other is ever alone (SMC 6.1). Caches are the GPU's, L2 is shared, and streams share no data.
 * CTAs are handed out as hardware does: those of the launch that came first, and of the next one when all of
 * them have started. Where launches claim tasks, the options say on which SMs. An SM has CTAs of one launch
 * at a time: another one's come when the last has ended, whereas hardware may mix them. */
HD_OWN hd_status hd_model_replay_streams(hd_model *m, hd_replay_stream *streams, uint32_t n, uint32_t turns,
                                         hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
