/* emu/ops/memory.c: ld, st, prefetch, discard, createpolicy, cp.async.
 *
 * Every access goes through one form in the middle: the lanes' bytes packed one after the
 * other ("rows"). When the lanes' addresses are consecutive, that is the memory itself.
 */
#include "emu/machine/grid.h"
#include "emu/ops/address.h"

enum { ROW_MAX = 32 }; /* bytes per lane: .v8.b32, .v4.b64 */

/* How all lanes' bytes lie. */
typedef enum emu_rows {
  ROWS_UNKNOWN = 0,
  ROWS_APART, /* anyhow */
  ROWS_ALIKE, /* at one place: at[0], which alone is filled in */
  ROWS_NEXT,  /* one lane's behind the other's: from at[0] on, likewise */
} emu_rows;

/* ---- Rows ---------------------------------------------------------------------------- */

/* The common distance between neighbouring lanes' addresses; false when there is none. */
INLINE bool stride_of(const uint64_t at[32], uint64_t *stride) {
  const uint64_t first = at[0], step = at[1] - at[0];
  uint64_t differs = 0;
  LANE_LOOP differs |= at[l] ^ (first + l * step);
  *stride = step;
  return differs == 0;
}

/* Unaligned elements of rows. */
#define ELEMENT(T, rows, index)                                                                              \
  ({                                                                                                         \
    T v_;                                                                                                    \
    memcpy(&v_, (rows) + (size_t)(index) * sizeof(T), sizeof(T));                                            \
    v_;                                                                                                      \
  })

INLINE void copy_row(char *dst, const char *src, unsigned bytes) { memcpy(dst, src, bytes); }

#define GATHER_ROWS(N)                                                                                       \
  case N:                                                                                                    \
    if (same) {                                                                                              \
      char one[N];                                                                                           \
      memcpy(one, (const void *)(uintptr_t)h->at[0], N);                                                     \
      for (unsigned l = 0; l < 32; l++) copy_row(rows + (size_t)l * N, one, N);                              \
    } else {                                                                                                 \
      for (unsigned l = 0; l < 32; l++)                                                                      \
        copy_row(rows + (size_t)l * N, (const void *)(uintptr_t)h->at[l], N);                                \
    }                                                                                                        \
    break;
#define SCATTER_ROWS(N)                                                                                      \
  case N:                                                                                                    \
    FOR_LANES(l, mask) copy_row((void *)(uintptr_t)h->at[l], rows + (size_t)l * N, N);                       \
    break;
#define ROW_SIZES(X) X(1) X(2) X(4) X(8) X(16) X(32)

/* Rows of 4 bytes at any addresses, all lanes: by the processor's own gather, or in vector registers,
 * because single stores would keep the vector load of the rows waiting. */
INLINE void gather_4(const emu_hosts *h, char *rows) {
#if defined(__AVX512F__)
  for (unsigned k = 0; k < 2; k++) {
    const __m256i low = _mm512_i64gather_epi32(_mm512_load_si512(h->at + (size_t)16 * k), NULL, 1);
    const __m256i high = _mm512_i64gather_epi32(_mm512_load_si512(h->at + (size_t)16 * k + 8), NULL, 1);
    _mm512_store_si512(rows + (size_t)64 * k, _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
  }
#elif defined(__AVX2__)
#define AT(k) ELEMENT(int, (const char *)(uintptr_t)h->at[l + (k)], 0)
  for (unsigned l = 0; l < 32; l += 8)
    _mm256_store_si256((__m256i *)(rows + (size_t)l * 4),
                       _mm256_setr_epi32(AT(0), AT(1), AT(2), AT(3), AT(4), AT(5), AT(6), AT(7)));
#undef AT
#else
  for (unsigned l = 0; l < 32; l++) copy_row(rows + (size_t)l * 4, (const void *)(uintptr_t)h->at[l], 4);
#endif
}

/* The rows of all lanes: `rows`, filled, or the memory itself. */
INLINE const char *gather(const emu_hosts *h, unsigned bytes, char *rows) {
  bool same = h->rows == ROWS_ALIKE;
  if (h->rows == ROWS_NEXT) return (const char *)(uintptr_t)h->at[0];
  if (h->rows == ROWS_UNKNOWN) {
    uint64_t stride;
    if (stride_of(h->at, &stride)) {
      if (stride == bytes) return (const char *)(uintptr_t)h->at[0];
      same = stride == 0;
    }
  }
  if (bytes == 4 && !same) {
    gather_4(h, rows);
    return rows;
  }
  switch (bytes) { ROW_SIZES(GATHER_ROWS) }
  return rows;
}
INLINE const char *lane_bytes(const emu_hosts *h, unsigned lane) {
  return (const char *)(uintptr_t)h->at[lane];
}
INLINE void scatter(const emu_hosts *h, uint32_t mask, unsigned bytes, const char *rows) {
  uint64_t stride;
  if (h->rows == ROWS_NEXT ||
      (h->rows == ROWS_UNKNOWN && mask == ALL_LANES && stride_of(h->at, &stride) && stride == bytes)) {
    memcpy((void *)(uintptr_t)h->at[0], rows, 32 * (size_t)bytes);
    return;
  }
  if (h->rows == ROWS_ALIKE) { /* the last lane's stay */
    memcpy((void *)(uintptr_t)h->at[0], rows + 31 * (size_t)bytes, bytes);
    return;
  }
  switch (bytes) { ROW_SIZES(SCATTER_ROWS) }
}

/* ---- The common case ---------------------------------------------------------------------- */

/* Where all addresses must lie, [lo, last], and their bytes on the host: emu_view. */
typedef struct region {
  uint64_t lo, last, delta, lane_stride;
} region;

/* The memory in which the instruction's accesses are nothing special; false: machine/access.c decides. */
INLINE bool region_of(emu_warp *w, const emu_inst *i, unsigned bytes, hd_access_kind kind, region *out) {
  const emu_mwarp *m = (const emu_mwarp *)w;
  emu_cta *c = w->cta;
  switch (i->mem.space) {
  case HD_SPACE_GLOBAL:
  case HD_SPACE_CONST:
  case EMU_GENERIC: {
    const emu_bounds *b = emu_bounds_of(c, i);
    *out = (region){b->lo, b->hi - bytes, c->emu->delta, 0};
    return b->hi - b->lo >= bytes && !(b->readonly && kind != HD_ACCESS_LOAD) &&
           b->generation == atomic_load_explicit(&c->emu->generation, memory_order_relaxed);
  }
  case HD_SPACE_SHARED:
    *out = (region){0, c->shared_bytes - bytes, (uint64_t)(uintptr_t)c->shared, 0};
    return bytes <= c->shared_bytes;
  case HD_SPACE_LOCAL: {
    const emu_frame *f = w->current->frame;
    const uint64_t room = (uint64_t)f->local_base + f->code->local_bytes;
    *out = (region){0, room - bytes, (uint64_t)(uintptr_t)m->local, c->grid->stack_bytes};
    return bytes <= room;
  }
  default: return false;
  }
}

/* The top bit is set unless lo <= address <= last, which are below 2^63. */
INLINE uint64_t beyond(uint64_t address, const region *p) { return (address - p->lo) | (p->last - address); }

/* How numbers lie: alike, or each 1 << shift behind the one before. */
#define DEFINE_ROWS_OF(T)                                                                                    \
  INLINE emu_rows rows_of_##T(const T n[32], unsigned shift) {                                               \
    const T first = n[0], apart = n[1] - first;                                                              \
    T differs = 0;                                                                                           \
    if (apart == 0)                                                                                          \
      LANE_LOOP differs |= n[l] ^ first;                                                                     \
    else if (apart == (T)1 << shift)                                                                         \
      LANE_LOOP differs |= n[l] ^ (first + ((T)l << shift));                                                 \
    else                                                                                                     \
      return ROWS_APART;                                                                                     \
    return differs ? ROWS_APART : apart ? ROWS_NEXT : ROWS_ALIKE;                                            \
  }
DEFINE_ROWS_OF(uint64_t)
DEFINE_ROWS_OF(uint32_t)

/* How all lanes' bytes lie, a power of two; the first lane's address. */
INLINE emu_rows rows_of(char *r, const emu_inst *i, unsigned bytes, uint64_t *first) {
  const unsigned shift = (unsigned)__builtin_ctz(bytes);
  if (i->mem.mode == EMU_ADDR_64) {
    const uint64_t *base = slot(r, i->src[0]);
    *first = base[0] + (uint64_t)i->imm;
    return rows_of_uint64_t(base, shift);
  }
  if (i->mem.mode == EMU_ADDR_32) {
    const uint32_t *base = slot(r, i->src[0]);
    *first = base[0] + (uint32_t)i->imm;
    return rows_of_uint32_t(base, shift);
  }
  *first = (uint64_t)i->imm;
  return ROWS_ALIKE;
}

INLINE bool each_of(char *r, const emu_inst *i, uint32_t mask, unsigned bytes, const region *p,
                    emu_hosts *h) {
  const uint64_t align = bytes - 1, top = UINT64_C(1) << 63;
  uint64_t addr[32] __attribute__((aligned(64))), bad = 0;
  addresses_of(r, i->mem.mode, i->src[0], i->imm, addr);
  if (mask == ALL_LANES)
    LANE_LOOP bad |= (beyond(addr[l], p) & top) | (addr[l] & align);
  else
    LANE_LOOP bad |= ((beyond(addr[l], p) & top) | (addr[l] & align)) & -(uint64_t)(mask >> l & 1);
  LANE_LOOP h->at[l] = addr[l] + p->delta + l * p->lane_stride;
  return !bad;
}

/* As find below, for plain loads and stores: where nobody watches, and all is within the bounds that the
 * instruction met last. False: not so; nothing has happened. */
static __attribute__((noinline)) bool find_quickly(emu_warp *w, const emu_inst *i, char *r, uint32_t mask,
                                                   unsigned bytes, hd_access_kind kind, emu_hosts *h) {
  const unsigned space = i->mem.space;
  region p;
  if (w->cta->watch || !region_of(w, i, bytes, kind, &p)) return false;
  uint64_t first = 0;
  h->rows = (uint8_t)(mask == ALL_LANES && !p.lane_stride ? rows_of(r, i, bytes, &first) : ROWS_APART);
  if (h->rows == ROWS_APART) {
    if (!each_of(r, i, mask, bytes, &p, h)) return false;
  } else {
    const uint64_t end = h->rows == ROWS_NEXT ? first + 31 * (uint64_t)bytes : first;
    if ((beyond(first, &p) | beyond(end, &p)) >> 63 || first & (bytes - 1)) return false;
    h->at[0] = first + p.delta;
  }
  /* As access.c does. */
  w->cta->stores += kind == HD_ACCESS_STORE && space != HD_SPACE_LOCAL;
  if (kind == HD_ACCESS_LOAD && !(i->mem.cache & HD_CACHE_WAYS) &&
      (space == HD_SPACE_GLOBAL || space == EMU_GENERIC))
    ((emu_mwarp *)w)->synced = true;
  return true;
}

/* ---- Loads ----------------------------------------------------------------------------- */

INLINE bool find(emu_warp *w, const emu_inst *i, char *r, uint32_t mask, unsigned bytes, hd_access_kind kind,
                 emu_hosts *h) {
  uint64_t addr[32] __attribute__((aligned(64)));
  addresses_of(r, i->mem.mode, i->src[0], i->imm, addr);
  h->rows = ROWS_UNKNOWN;
  return locate(w, i, mask, addr, &(const emu_locate){i->mem.space, bytes, bytes, i->mem.cache, kind}, h);
}

INLINE bool find_load(emu_warp *w, const emu_inst *i, char *r, uint32_t mask, unsigned bytes, emu_hosts *h) {
  return find_quickly(w, i, r, mask, bytes, HD_ACCESS_LOAD, h) ||
         find(w, i, r, mask, bytes, HD_ACCESS_LOAD, h);
}

/* The same for a plain store of these rows: the race check compares them with the bytes that other tasks
 * stored. */
INLINE bool find_store(emu_warp *w, const emu_inst *i, char *r, uint32_t mask, unsigned bytes,
                       const char *rows, emu_hosts *h) {
  if (find_quickly(w, i, r, mask, bytes, HD_ACCESS_STORE, h)) return true;
  w->storing = rows;
  const bool ok = find(w, i, r, mask, bytes, HD_ACCESS_STORE, h);
  w->storing = NULL;
  return ok;
}

/* Where a kernel's parameter lies that the instruction names; NULL: it does something else, or wrong. */
INLINE const char *named_param(emu_warp *w, const emu_inst *i, unsigned bytes) {
  if (i->mem.space != HD_SPACE_PARAM || i->mem.mode != EMU_ADDR_ABS) return NULL;
  const emu_launch_view *v = emu_warp_launch(w);
  const uint64_t at = (uint64_t)i->imm;
  const bool ok = at <= v->params_bytes && v->params_bytes - at >= bytes && at % bytes == 0;
  return ok ? v->params + at : NULL;
}

/* The element type of memory, the value it becomes, the storage of the register. */
#define DEFINE_LD(id, name, M, V, D)                                                                         \
  HANDLER(ld_##id) {                                                                                         \
    const char *param = named_param(w, i, sizeof(M));                                                        \
    if (param) {                                                                                             \
      const T_##D v = (T_##D)(V)ELEMENT(M, param, 0);                                                        \
      T_##D *dst = slot(r, i->dst);                                                                          \
      if (mask == ALL_LANES)                                                                                 \
        LANE_LOOP dst[l] = v;                                                                                \
      else                                                                                                   \
        FOR_LANES(l, mask) dst[l] = v;                                                                       \
      return;                                                                                                \
    }                                                                                                        \
    emu_hosts h;                                                                                             \
    char buffer[32 * sizeof(M)] __attribute__((aligned(64)));                                                \
    if (!find_load(w, i, r, mask, sizeof(M), &h)) return;                                                    \
    T_##D *dst = slot(r, i->dst);                                                                            \
    if (mask != ALL_LANES) {                                                                                 \
      FOR_LANES(l, mask) dst[l] = (T_##D)(V)ELEMENT(M, lane_bytes(&h, l), 0);                                \
      return;                                                                                                \
    }                                                                                                        \
    const char *rows = gather(&h, sizeof(M), buffer);                                                        \
    LANE_LOOP dst[l] = (T_##D)(V)ELEMENT(M, rows, l);                                                        \
  }                                                                                                          \
  HANDLER(ld_##id##_v) {                                                                                     \
    const uint32_t *slots = i->extra;                                                                        \
    const unsigned n = i->mem.count;                                                                         \
    emu_hosts h;                                                                                             \
    char buffer[32 * ROW_MAX] __attribute__((aligned(64)));                                                  \
    if (!find_load(w, i, r, mask, n * (unsigned)sizeof(M), &h)) return;                                      \
    const char *rows = mask == ALL_LANES ? gather(&h, n * (unsigned)sizeof(M), buffer) : NULL;               \
    for (unsigned k = 0; k < n; k++) {                                                                       \
      if (slots[k] == EMU_NO_SLOT) continue;                                                                 \
      T_##D *dst = slot(r, slots[k]);                                                                        \
      if (rows)                                                                                              \
        LANE_LOOP dst[l] = (T_##D)(V)ELEMENT(M, rows, l * n + k);                                            \
      else                                                                                                   \
        FOR_LANES(l, mask) dst[l] = (T_##D)(V)ELEMENT(M, lane_bytes(&h, l), k);                              \
    }                                                                                                        \
  }
#define ROW_LD(id, name, M, V, D) {"ld." name, "", ld_##id}, {"ld.v." name, "", ld_##id##_v},

/* ld.MEMORY.REGISTER: bits of the destination register; signed ones fill it. */
#define LOADS(X)                                                                                             \
  X(b8_32, "b8.32", uint8_t, uint8_t, w)                                                                     \
  X(b16_32, "b16.32", uint16_t, uint16_t, w)                                                                 \
  X(b32_32, "b32.32", uint32_t, uint32_t, w)                                                                 \
  X(s8_16, "s8.16", int8_t, uint16_t, w)                                                                     \
  X(s8_32, "s8.32", int8_t, int32_t, w)                                                                      \
  X(s16_32, "s16.32", int16_t, int32_t, w)                                                                   \
  X(b8_64, "b8.64", uint8_t, uint8_t, d)                                                                     \
  X(b16_64, "b16.64", uint16_t, uint16_t, d)                                                                 \
  X(b32_64, "b32.64", uint32_t, uint32_t, d)                                                                 \
  X(s8_64, "s8.64", int8_t, int64_t, d)                                                                      \
  X(s16_64, "s16.64", int16_t, int64_t, d)                                                                   \
  X(s32_64, "s32.64", int32_t, int64_t, d)                                                                   \
  X(b64_64, "b64.64", uint64_t, uint64_t, d)
LOADS(DEFINE_LD)

HANDLER(ld_b128) {
  emu_hosts h;
  char buffer[32 * 16] __attribute__((aligned(64)));
  if (!find_load(w, i, r, mask, 16, &h)) return;
  const char *rows = mask == ALL_LANES ? gather(&h, 16, buffer) : NULL;
  for (unsigned k = 0; k < 2; k++) {
    uint64_t *dst = slot(r, i->dst + 2 * k);
    if (rows)
      LANE_LOOP dst[l] = ELEMENT(uint64_t, rows, 2 * l + k);
    else
      FOR_LANES(l, mask) dst[l] = ELEMENT(uint64_t, lane_bytes(&h, l), k);
  }
}

/* ---- Stores ------------------------------------------------------------------------------ */

#define DEFINE_ST(id, name, M, S)                                                                            \
  HANDLER(st_##id) {                                                                                         \
    emu_hosts h;                                                                                             \
    const T_##S *src = slot(r, i->src[1]);                                                                   \
    M narrow[32] __attribute__((aligned(64)));                                                               \
    if (sizeof(M) != sizeof(T_##S)) LANE_LOOP narrow[l] = (M)src[l];                                         \
    const char *rows = sizeof(M) == sizeof(T_##S) ? (const char *)src : (const char *)narrow;                \
    if (find_store(w, i, r, mask, sizeof(M), rows, &h)) scatter(&h, mask, sizeof(M), rows);                  \
  }                                                                                                          \
  HANDLER(st_##id##_v) {                                                                                     \
    const uint32_t *slots = i->extra;                                                                        \
    const unsigned n = i->mem.count, bytes = n * (unsigned)sizeof(M);                                        \
    emu_hosts h;                                                                                             \
    M rows[32 * ROW_MAX / sizeof(M)] __attribute__((aligned(64)));                                           \
    for (unsigned k = 0; k < n; k++) {                                                                       \
      const T_##S *src = slot(r, slots[k]);                                                                  \
      LANE_LOOP rows[l * n + k] = (M)src[l];                                                                 \
    }                                                                                                        \
    if (find_store(w, i, r, mask, bytes, (const char *)rows, &h))                                            \
      scatter(&h, mask, bytes, (const char *)rows);                                                          \
  }
#define ROW_ST(id, name, M, S) {"st." name, "", st_##id}, {"st.v." name, "", st_##id##_v},

/* st.MEMORY.REGISTER */
#define STORES(X)                                                                                            \
  X(b8_32, "b8.32", uint8_t, w)                                                                              \
  X(b16_32, "b16.32", uint16_t, w)                                                                           \
  X(b32_32, "b32.32", uint32_t, w)                                                                           \
  X(b8_64, "b8.64", uint8_t, d)                                                                              \
  X(b16_64, "b16.64", uint16_t, d)                                                                           \
  X(b32_64, "b32.64", uint32_t, d)                                                                           \
  X(b64_64, "b64.64", uint64_t, d)
STORES(DEFINE_ST)

HANDLER(st_b128) {
  emu_hosts h;
  const uint64_t *low = slot(r, i->src[1]), *high = slot(r, i->src[1] + 2);
  uint64_t rows[64] __attribute__((aligned(64)));
  LANE_LOOP {
    rows[2 * l] = low[l];
    rows[2 * l + 1] = high[l];
  }
  if (find_store(w, i, r, mask, 16, (const char *)rows, &h)) scatter(&h, mask, 16, (const char *)rows);
}

/* ---- Copies and prefetches ----------------------------------------------------------------- */

/* A prefetch is for the trace hooks alone. */
HANDLER(prefetch) {
  emu_hosts h;
  (void)find(w, i, r, mask, 1, HD_ACCESS_PREFETCH, &h);
}

/* A line's data are lost: they are NaN in every format. Stores of 16 bytes, as far as checks and hooks go. */
HANDLER(discard) {
  uint64_t addr[32] __attribute__((aligned(64)));
  char nan[16];
  memset(nan, 0xff, sizeof nan);
  addresses_of(r, i->mem.mode, i->src[0], i->imm, addr);
  for (unsigned done = 0; done < EMU_LINE_BYTES; done += sizeof nan) {
    const unsigned align = done ? sizeof nan : EMU_LINE_BYTES;
    emu_hosts h;
    if (!locate(w, i, mask, addr, &(const emu_locate){i->mem.space, sizeof nan, align, 0, HD_ACCESS_STORE},
                &h))
      return;
    FOR_LANES(l, mask) memcpy((void *)(uintptr_t)h.at[l], nan, sizeof nan);
    LANE_LOOP addr[l] += sizeof nan;
  }
}

/* createpolicy: src[0] is the fraction or the size; imm holds the rest. */
HANDLER(createpolicy) {
  const uint32_t *share = slot(r, i->src[0]);
  uint64_t part[32] __attribute__((aligned(64)));
  LANE_LOOP part[l] = (uint64_t)share[l] << 32 | (uint64_t)i->imm;
  blend64(slot(r, i->dst), part, mask);
}

/* cp.async reads its source when it is issued; copies.c keeps the bytes until they are waited for. mem.bytes
 * go to shared memory, of which the source gives the first size_slot. */
HANDLER(cp_async) {
  const emu_cp_async *c = i->extra;
  const unsigned bytes = i->mem.bytes;
  uint64_t from[32] __attribute__((aligned(64)));
  addresses_of(r, c->src_mode, c->src_slot, c->src_imm, from);
  char rows[32 * 16] __attribute__((aligned(64))) = {0};
  const uint32_t skip =
      c->skip_slot == EMU_NO_SLOT ? 0 : get_pred(r, c->skip_slot) ^ (c->skip_neg ? ALL_LANES : 0);
  const uint32_t *sizes = c->size_slot == EMU_NO_SLOT ? NULL : slot(r, c->size_slot);
  uint32_t todo = mask & ~skip;
  while (todo) { /* the lanes that read equally much */
    const unsigned lane = (unsigned)__builtin_ctz(todo);
    const uint32_t size = sizes ? sizes[lane] : bytes;
    uint32_t group = sizes ? 0 : todo;
    if (sizes) FOR_LANES(l, todo) group |= (uint32_t)(sizes[l] == size) << l;
    todo &= ~group;
    if (size > bytes) {
      emu_fault(w, i, group, HD_FAULT_OTHER, "cp.async reads %u bytes where it writes %u", size, bytes);
      return;
    }
    if (size == 0) continue;
    emu_hosts h;
    /* An address aligned to the whole copy, however little of it is read. */
    if (!locate(w, i, group, from,
                &(const emu_locate){c->src_space, size, bytes, i->mem.cache, HD_ACCESS_LOAD}, &h))
      return;
    FOR_LANES(l, group) memcpy(rows + (size_t)l * bytes, (const void *)(uintptr_t)h.at[l], size);
  }
  emu_hosts h;
  if (find(w, i, r, mask, bytes, HD_ACCESS_STORE, &h)) emu_copy_begin(w, i, mask, h.at, bytes, rows);
}
HANDLER(cp_async_commit) { emu_copy_commit(w, i, mask); }
HANDLER(cp_async_wait) { emu_copy_wait(w, mask, (uint32_t)i->imm); }
HANDLER(cp_async_wait_all) { emu_copy_wait_all(w, mask); }

const emu_op EMU_OPS(memory)[] = {LOADS(ROW_LD) STORES(ROW_ST){"ld.b128", "", ld_b128},
                                  {"st.b128", "", st_b128},
                                  {"prefetch", "", prefetch},
                                  {"discard", "", discard},
                                  {"createpolicy", "", createpolicy},
                                  {"cp.async", "", cp_async},
                                  {"cp.async.commit_group", "", cp_async_commit},
                                  {"cp.async.wait_group", "", cp_async_wait},
                                  {"cp.async.wait_all", "", cp_async_wait_all},
                                  {0}};
