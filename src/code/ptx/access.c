/* How each form of an instruction accesses memory.
 *
 * A row stands for the forms of an opcode that have its words; the first row that fits counts. The form's
 * state spaces, in the order written, give the space of each place, destination before source. A row may give
 * the space for a form without such a word, or fix it.
 */
#include "heddle/ptx_facts.h"

enum {
  READ = HD_ACC_READ,
  WRITE = HD_ACC_WRITE,
  UPDATE = HD_ACC_READ | HD_ACC_WRITE, /* not in one step */
  ATOMIC = HD_ACC_READ | HD_ACC_WRITE | HD_ACC_ATOMIC,
  FETCH = HD_ACC_PREFETCH,
  LOSE = HD_ACC_WRITE | HD_ACC_DISCARD,
};

enum { /* beside HD_IN_... bits: the first and the second state space written */
       FIRST = 1 << 14,
       SECOND = 1 << 15,
};

typedef struct place {
  uint8_t kinds, operand;
  uint16_t space; /* FIRST or SECOND with the default where none is written, or a fixed one */
} place;

enum { BULK = 1, ASYNC = 2, NONCOHERENT = 4 };

typedef struct row {
  hd_ptx_op op;
  hd_mod with[2];
  uint8_t traits;
  uint8_t order, scope; /* where no word says */
  place places[HD_PTX_MAX_TOUCHES];
  uint8_t value; /* hd_ptx_access.value */
} row;

#define WEAK HD_ORDERED_WEAK, HD_SCOPE_NONE
#define RELAXED_GPU HD_ORDERED_RELAXED, HD_SCOPE_GPU
#define RELAXED_CTA HD_ORDERED_RELAXED, HD_SCOPE_CTA
#define RELAXED_CLUSTER HD_ORDERED_RELAXED, HD_SCOPE_CLUSTER
#define NO_ACCESS HD_ORDERED_NONE, HD_SCOPE_NONE
#define ANYWHERE (FIRST | HD_IN_GENERIC)
#define IN_SHARED (FIRST | HD_IN_SHARED)
#define COMPLETES HD_M_MBARRIER_COMPLETE_TX_BYTES

/* clang-format off */
static const row rows[] = {
    {HD_OP_LD, {0}, 0, WEAK, {{READ, 1, ANYWHERE}}},
    {HD_OP_LDU, {0}, NONCOHERENT, WEAK, {{READ, 1, ANYWHERE}}},
    {HD_OP_ST, {HD_M_ASYNC, COMPLETES}, ASYNC, WEAK,
     {{WRITE, 0, FIRST | HD_IN_CLUSTER}, {ATOMIC, 2, FIRST | HD_IN_CLUSTER}}, 1},
    {HD_OP_ST, {HD_M_ASYNC}, ASYNC, WEAK, {{WRITE, 0, ANYWHERE}}, 1},
    {HD_OP_ST, {HD_M_BULK}, BULK, WEAK, {{WRITE, 0, IN_SHARED}}},
    {HD_OP_ST, {0}, 0, WEAK, {{WRITE, 0, ANYWHERE}}, 1},
    {HD_OP_ATOM, {0}, 0, RELAXED_GPU, {{ATOMIC, 1, ANYWHERE}}, 2},
    {HD_OP_RED, {HD_M_ASYNC, COMPLETES}, ASYNC, RELAXED_CLUSTER,
     {{ATOMIC, 0, FIRST | HD_IN_CLUSTER}, {ATOMIC, 2, FIRST | HD_IN_CLUSTER}}, 1},
    {HD_OP_RED, {HD_M_ASYNC}, ASYNC, RELAXED_GPU, {{ATOMIC, 0, ANYWHERE}}, 1},
    {HD_OP_RED, {0}, 0, RELAXED_GPU, {{ATOMIC, 0, ANYWHERE}}, 1},
    {HD_OP_PREFETCH, {0}, 0, WEAK, {{FETCH, 0, ANYWHERE}}},
    {HD_OP_PREFETCHU, {0}, 0, WEAK, {{FETCH, 0, ANYWHERE}}},
    {HD_OP_APPLYPRIORITY, {0}, 0, WEAK, {{FETCH, 0, ANYWHERE}}},
    {HD_OP_DISCARD, {0}, 0, WEAK, {{LOSE, 0, ANYWHERE}}},

    /* cp.async, cp.async.bulk, cp.async.bulk.tensor, cp.reduce.async.bulk, and their waits */
    {HD_OP_CP, {HD_M_COMMIT_GROUP}, 0, NO_ACCESS, {{0}}},
    {HD_OP_CP, {HD_M_WAIT_GROUP}, 0, NO_ACCESS, {{0}}},
    {HD_OP_CP, {HD_M_WAIT_ALL}, 0, NO_ACCESS, {{0}}},
    {HD_OP_CP, {HD_M_MBARRIER, HD_M_ARRIVE}, ASYNC, HD_ORDERED_RELEASE, HD_SCOPE_CTA, {{ATOMIC, 0, IN_SHARED}}},
    {HD_OP_CP, {HD_M_PREFETCH, HD_M_TENSOR}, BULK | ASYNC, WEAK, {{FETCH, 0, HD_IN_TENSOR}}},
    {HD_OP_CP, {HD_M_PREFETCH}, BULK | ASYNC, WEAK, {{FETCH, 0, FIRST | HD_IN_GLOBAL}}},
    {HD_OP_CP, {HD_M_REDUCE, HD_M_TENSOR}, BULK | ASYNC, RELAXED_GPU,
     {{ATOMIC, 0, HD_IN_TENSOR}, {READ, 1, SECOND | HD_IN_SHARED}}},
    {HD_OP_CP, {HD_M_REDUCE, COMPLETES}, BULK | ASYNC, RELAXED_GPU,
     {{ATOMIC, 0, FIRST | HD_IN_CLUSTER}, {READ, 1, SECOND | HD_IN_SHARED}, {ATOMIC, 3, HD_IN_CLUSTER}}},
    {HD_OP_CP, {HD_M_REDUCE}, BULK | ASYNC, RELAXED_GPU,
     {{ATOMIC, 0, FIRST | HD_IN_GLOBAL}, {READ, 1, SECOND | HD_IN_SHARED}}},
    {HD_OP_CP, {HD_M_TENSOR, COMPLETES}, BULK | ASYNC, WEAK,
     {{WRITE, 0, FIRST | HD_IN_CLUSTER}, {READ, 1, HD_IN_TENSOR}, {ATOMIC, 2, HD_IN_CLUSTER}}},
    {HD_OP_CP, {HD_M_TENSOR}, BULK | ASYNC, WEAK,
     {{WRITE, 0, HD_IN_TENSOR}, {READ, 1, SECOND | HD_IN_SHARED}}},
    {HD_OP_CP, {HD_M_BULK, COMPLETES}, BULK | ASYNC, WEAK,
     {{WRITE, 0, FIRST | HD_IN_CLUSTER}, {READ, 1, SECOND | HD_IN_GLOBAL}, {ATOMIC, 3, HD_IN_CLUSTER}}},
    {HD_OP_CP, {HD_M_BULK}, BULK | ASYNC, WEAK,
     {{WRITE, 0, FIRST | HD_IN_GLOBAL}, {READ, 1, SECOND | HD_IN_SHARED}}},
    {HD_OP_CP, {HD_M_ASYNC}, ASYNC, WEAK,
     {{WRITE, 0, FIRST | HD_IN_SHARED}, {READ, 1, SECOND | HD_IN_GLOBAL}}},

    {HD_OP_MULTIMEM, {HD_M_CP, HD_M_REDUCE}, BULK | ASYNC, RELAXED_GPU,
     {{ATOMIC, 0, FIRST | HD_IN_GLOBAL}, {READ, 1, SECOND | HD_IN_SHARED}}},
    {HD_OP_MULTIMEM, {HD_M_CP}, BULK | ASYNC, WEAK,
     {{WRITE, 0, FIRST | HD_IN_GLOBAL}, {READ, 1, SECOND | HD_IN_SHARED}}},
    {HD_OP_MULTIMEM, {HD_M_LD_REDUCE}, 0, WEAK, {{READ, 1, ANYWHERE}}},
    {HD_OP_MULTIMEM, {HD_M_ST}, 0, WEAK, {{WRITE, 0, ANYWHERE}}},
    {HD_OP_MULTIMEM, {HD_M_RED}, 0, RELAXED_GPU, {{ATOMIC, 0, ANYWHERE}}},

    {HD_OP_TENSORMAP, {HD_M_REPLACE}, 0, WEAK, {{UPDATE, 0, ANYWHERE}}},
    {HD_OP_TENSORMAP, {HD_M_CP_FENCEPROXY}, BULK, HD_ORDERED_RELEASE, HD_SCOPE_GPU,
     {{WRITE, 0, FIRST | HD_IN_GLOBAL}, {READ, 1, SECOND | HD_IN_SHARED}}},

    {HD_OP_TEX, {0}, NONCOHERENT, WEAK, {{READ, 1, HD_IN_TEXTURE}}},
    {HD_OP_TLD4, {0}, NONCOHERENT, WEAK, {{READ, 1, HD_IN_TEXTURE}}},
    {HD_OP_SULD, {0}, 0, WEAK, {{READ, 1, HD_IN_SURFACE}}},
    {HD_OP_SUST, {0}, 0, WEAK, {{WRITE, 0, HD_IN_SURFACE}}},
    {HD_OP_SURED, {0}, 0, RELAXED_GPU, {{ATOMIC, 0, HD_IN_SURFACE}}},

    {HD_OP_LDMATRIX, {0}, BULK, WEAK, {{READ, 1, IN_SHARED}}},
    {HD_OP_STMATRIX, {0}, BULK, WEAK, {{WRITE, 0, IN_SHARED}}},
    {HD_OP_WMMA, {HD_M_LOAD}, BULK, WEAK, {{READ, 1, ANYWHERE}}},
    {HD_OP_WMMA, {HD_M_STORE}, BULK, WEAK, {{WRITE, 0, ANYWHERE}}},
    {HD_OP_WMMA, {HD_M_MMA}, 0, NO_ACCESS, {{0}}},
    /* a may be registers, b is a descriptor of shared memory */
    {HD_OP_WGMMA, {HD_M_MMA_ASYNC}, BULK | ASYNC, WEAK, {{READ, 1, HD_IN_SHARED}, {READ, 2, HD_IN_SHARED}}},
    {HD_OP_WGMMA, {HD_M_FENCE}, 0, NO_ACCESS, {{0}}},
    {HD_OP_WGMMA, {HD_M_COMMIT_GROUP}, 0, NO_ACCESS, {{0}}},
    {HD_OP_WGMMA, {HD_M_WAIT_GROUP}, 0, NO_ACCESS, {{0}}},

    {HD_OP_MBARRIER, {HD_M_INIT}, 0, WEAK, {{WRITE, 0, IN_SHARED}}},
    {HD_OP_MBARRIER, {HD_M_INVAL}, 0, WEAK, {{WRITE, 0, IN_SHARED}}},
    {HD_OP_MBARRIER, {HD_M_ARRIVE}, 0, HD_ORDERED_RELEASE, HD_SCOPE_CTA, {{ATOMIC, 1, IN_SHARED}}},
    {HD_OP_MBARRIER, {HD_M_ARRIVE_DROP}, 0, HD_ORDERED_RELEASE, HD_SCOPE_CTA, {{ATOMIC, 1, IN_SHARED}}},
    {HD_OP_MBARRIER, {HD_M_EXPECT_TX}, 0, RELAXED_CTA, {{ATOMIC, 0, IN_SHARED}}},
    {HD_OP_MBARRIER, {HD_M_COMPLETE_TX}, 0, RELAXED_CTA, {{ATOMIC, 0, IN_SHARED}}},
    {HD_OP_MBARRIER, {HD_M_TEST_WAIT}, 0, HD_ORDERED_ACQUIRE, HD_SCOPE_CTA, {{READ, 1, IN_SHARED}}},
    {HD_OP_MBARRIER, {HD_M_TRY_WAIT}, 0, HD_ORDERED_ACQUIRE, HD_SCOPE_CTA, {{READ, 1, IN_SHARED}}},
    {HD_OP_MBARRIER, {HD_M_PENDING_COUNT}, 0, NO_ACCESS, {{0}}},

    {HD_OP_TCGEN05, {HD_M_ALLOC}, 0, WEAK, {{WRITE, 0, IN_SHARED}}},
    {HD_OP_TCGEN05, {HD_M_LD}, BULK | ASYNC, WEAK, {{READ, 1, HD_IN_TMEM}}},
    {HD_OP_TCGEN05, {HD_M_ST}, BULK | ASYNC, WEAK, {{WRITE, 0, HD_IN_TMEM}}},
    {HD_OP_TCGEN05, {HD_M_CP}, BULK | ASYNC, WEAK, {{WRITE, 0, HD_IN_TMEM}, {READ, 1, HD_IN_SHARED}}},
    {HD_OP_TCGEN05, {HD_M_SHIFT}, BULK | ASYNC, WEAK, {{UPDATE, 0, HD_IN_TMEM}}},
    /* a is a descriptor of shared memory or an address in tensor memory */
    {HD_OP_TCGEN05, {HD_M_MMA}, BULK | ASYNC, WEAK,
     {{UPDATE, 0, HD_IN_TMEM}, {READ, 1, HD_IN_SHARED}, {READ, 2, HD_IN_SHARED}}},
    {HD_OP_TCGEN05, {HD_M_COMMIT}, ASYNC, HD_ORDERED_RELEASE, HD_SCOPE_CTA, {{ATOMIC, 0, FIRST | HD_IN_CLUSTER}}},
    {HD_OP_TCGEN05, {HD_M_DEALLOC}, 0, NO_ACCESS, {{0}}},
    {HD_OP_TCGEN05, {HD_M_RELINQUISH_ALLOC_PERMIT}, 0, NO_ACCESS, {{0}}},
    {HD_OP_TCGEN05, {HD_M_WAIT_LD}, 0, NO_ACCESS, {{0}}},
    {HD_OP_TCGEN05, {HD_M_WAIT_ST}, 0, NO_ACCESS, {{0}}},
    {HD_OP_TCGEN05, {HD_M_FENCE_BEFORE_THREAD_SYNC}, 0, NO_ACCESS, {{0}}},
    {HD_OP_TCGEN05, {HD_M_FENCE_AFTER_THREAD_SYNC}, 0, NO_ACCESS, {{0}}},

    {HD_OP_CLUSTERLAUNCHCONTROL, {HD_M_TRY_CANCEL}, ASYNC, WEAK,
     {{WRITE, 0, IN_SHARED}, {ATOMIC, 1, IN_SHARED}}},
    {HD_OP_CLUSTERLAUNCHCONTROL, {HD_M_QUERY_CANCEL}, 0, NO_ACCESS, {{0}}},

    {HD_OP_FENCE, {HD_M_PROXY, HD_M_TENSORMAP_GENERIC}, 0, HD_ORDERED_ACQ_REL, HD_SCOPE_GPU, {{0}}},
    {HD_OP_FENCE, {HD_M_PROXY}, 0, HD_ORDERED_ACQ_REL, HD_SCOPE_CTA, {{0}}},
    {HD_OP_FENCE, {0}, 0, HD_ORDERED_ACQ_REL, HD_SCOPE_SYS, {{0}}},
    {HD_OP_MEMBAR, {0}, 0, HD_ORDERED_SC, HD_SCOPE_SYS, {{0}}},
};
/* clang-format on */

static const row unknown_row = {
    .order = HD_ORDERED_MMIO, .scope = HD_SCOPE_SYS, .places = {{ATOMIC, 0, HD_IN_GENERIC}}};

static bool fits(const row *r, const hd_ptx_form *f) {
  if (r->op != f->op) return false;
  for (unsigned i = 0; i < 2; i++)
    if (r->with[i] && !hd_ptx_form_has(f, r->with[i])) return false;
  return true;
}

/* NULL: no access, and no fence. A form of an instruction on memory that no row knows counts as unknown. */
static const row *find_row(const hd_ptx_form *f) {
  hd_ptx_class class = hd_ptx_op_class(f->op);
  if (class == HD_OPC_UNKNOWN) return &unknown_row;
  if (class != HD_OPC_MEMORY && class != HD_OPC_SYNC) return NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (fits(&rows[i], f)) return &rows[i];
  return class == HD_OPC_MEMORY ? &unknown_row : NULL;
}

/* The access that a form's words describe. */
typedef struct said {
  unsigned order, scope, spaces[2], n_spaces, bytes, width;
} said;

static void read_word(hd_ptx_access *a, said *s, hd_mod mod) {
  unsigned value = hd_ptx_mod_value(mod);
  switch (hd_ptx_mod_kind(mod)) {
  case HD_MK_ORDER:
    if (value > s->order) s->order = value;
    break;
  case HD_MK_SCOPE: s->scope = value; break;
  case HD_MK_SPACE:
    if (s->n_spaces < 2) s->spaces[s->n_spaces++] = value;
    break;
  case HD_MK_WIDTH: s->width = value; break;
  case HD_MK_TYPE: {
    hd_ptx_type t = hd_ptx_type_of(mod);
    if (t.bits >= 8) s->bytes = t.bits / 8;
    break;
  }
  case HD_MK_CACHE: a->cache = mod; break;
  case HD_MK_L1_PRIORITY: a->l1_priority = mod; break;
  case HD_MK_L2_PRIORITY: a->l2_priority = mod; break;
  case HD_MK_OPERATION: a->operation = mod; break;
  case HD_MK_UNKNOWN: a->unknown = true; break;
  case HD_MK_L2_FETCH:
  case HD_MK_PLAIN: break;
  }
}

static uint16_t space_of(const place *p, const said *s) {
  unsigned nth = p->space & SECOND ? 1 : 0;
  if (p->space & (FIRST | SECOND) && s->n_spaces > nth) return (uint16_t)s->spaces[nth];
  return (uint16_t)(p->space & ~(unsigned)(FIRST | SECOND));
}

static void set_order(hd_ptx_access *a, const row *r, const said *s) {
  a->order = (uint8_t)(s->order ? s->order : r->order);
  a->scope = (uint8_t)(s->scope ? s->scope : r->scope);
  if (a->order >= HD_ORDERED_VOLATILE && !s->scope) a->scope = HD_SCOPE_SYS;
  if (a->order == HD_ORDERED_WEAK) a->scope = HD_SCOPE_NONE;
}

hd_ptx_access hd_ptx_access_of(const hd_ptx_form *f) {
  hd_ptx_access a = {0};
  const row *r = find_row(f);
  if (!r) return a;
  said s = {.width = 1};
  for (unsigned i = 0; i < f->n_mods; i++) read_word(&a, &s, f->mods[i]);
  for (const place *p = r->places; p < r->places + HD_PTX_MAX_TOUCHES && p->kinds; p++) {
    a.touches[a.n++] = (hd_ptx_touch){space_of(p, &s), p->kinds, p->operand};
    a.kinds |= p->kinds;
  }
  a.unknown |= r == &unknown_row;
  if (r->order == HD_ORDERED_NONE) return a;
  set_order(&a, r, &s);
  a.async = r->traits & ASYNC;
  a.bulk = r->traits & BULK;
  a.value = r->value;
  a.noncoherent = r->traits & NONCOHERENT || hd_ptx_form_has(f, HD_M_NC);
  a.policy = hd_ptx_form_has(f, HD_M_L2_CACHE_HINT);
  a.elements = (uint8_t)s.width;
  if (a.kinds && !a.bulk && !(a.kinds & HD_ACC_PREFETCH)) a.bytes = (uint16_t)(s.bytes * s.width);
  return a;
}

unsigned hd_ptx_access_in(const hd_ptx_access *a, unsigned spaces) {
  unsigned kinds = 0;
  for (unsigned i = 0; i < a->n; i++)
    if (a->touches[i].space & spaces) kinds |= a->touches[i].kinds;
  return kinds;
}
