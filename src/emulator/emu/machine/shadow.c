/* emu/machine/shadow.c: the history of every byte.
 *
 * CHECK_INIT: one byte a byte, 1 when it was written.
 *
 * CHECK_RACE: one 64-bit word for every four bytes (a granule). Its low half names the last writer, its high
 * half the last reader, both as tickets: numbers given to CTAs when they start, increasing over all launches
 * of the emulator, so that an earlier launch's entries have smaller tickets and nothing need be cleared. A
 * top bit says that all its accesses were strong towards other CTAs. Several tasks that store the same bytes,
 * as flags are set, are a writer of no ticket of its own: what they wrote can be stored again by all and read
 * by none. When the four bytes' histories differ, the low half is SPLIT and the high half an index into the
 * launch's splits, where every byte has a word of its own.
 *
 * CHECK_NC: one byte a byte, the tag of the last launch that wrote it and has non-coherent loads. Tags come
 * again after 255 launches, and begin on new shadow.
 *
 * The shadows are mappings that the system fills as they are touched. */
#include "emu/machine/shadow.h"

#include <stdlib.h>
#include <sys/mman.h>

#define STRONG_BIT 0x80000000u
#define MAX_TICKET 0x7ffffffeu
#define SPLIT 0xffffffffu
enum { GRANULE = 4 };

#define ALL_8 UINT64_C(0x0101010101010101) /* eight written bytes */

typedef uint64_t __attribute__((may_alias)) any_u64;
typedef uint32_t __attribute__((may_alias)) any_u32;

hd_status emu_shadow_create(hd_emu *e, hd_diag *d) {
  if (e->opt.checks & HD_CHECK_INIT && !(e->init = emu_reserve(e->opt.memory)))
    return hd_fail(d, HD_ERR_NOMEM, "cannot reserve address space for the check of unwritten memory");
  if (e->opt.checks & HD_CHECK_RACE && !(e->race = emu_reserve(e->opt.memory / GRANULE * sizeof *e->race)))
    return hd_fail(d, HD_ERR_NOMEM, "cannot reserve address space for the check of races");
  if (e->opt.checks & HD_CHECK_NC && !(e->nc = emu_reserve(e->opt.memory)))
    return hd_fail(d, HD_ERR_NOMEM, "cannot reserve address space for the check of non-coherent loads");
  e->next_ticket = 1; /* untouched words are 0 */
  return HD_OK;
}

void emu_shadow_destroy(hd_emu *e) {
  if (e->init) munmap(e->init, e->opt.memory);
  if (e->nc) munmap(e->nc, e->opt.memory);
  if (e->race) munmap(e->race, e->opt.memory / GRANULE * sizeof *e->race);
}

/* ---- CHECK_INIT ---------------------------------------------------------------- */

void emu_init_mark(hd_emu *e, uint64_t address, uint64_t bytes, bool written) {
  if (!e->init) return;
  uint8_t *s = e->init + (address - EMU_GLOBAL_BASE);
  if (written)
    memset(s, 1, bytes);
  else
    emu_zero(s, bytes);
}

void emu_init_settle(hd_emu *e) {
  if (!e->init) return;
  pthread_rwlock_wrlock(&e->lock);
  for (size_t k = 0; k < e->n_allocs; k++) {
    emu_alloc *a = &e->allocs[k];
    uint64_t left = a->hi - a->lo - a->written;
    const uint8_t *s = e->init + (a->lo - EMU_GLOBAL_BASE) + a->written;
    const uint8_t *hole = left ? memchr(s, 0, left) : NULL;
    a->written += hole ? (uint64_t)(hole - s) : left;
  }
  pthread_rwlock_unlock(&e->lock);
}

/* Two host threads may mark neighbouring bytes, or the same ones when a kernel races: relaxed atomics, which
 * cost nothing here. */
bool emu_init_check(const uint8_t *s, unsigned bytes) {
  while (bytes) {
    if (bytes >= 8 && (uintptr_t)s % 8 == 0) {
      if (__atomic_load_n((const any_u64 *)s, __ATOMIC_RELAXED) != ALL_8) return false;
      s += 8, bytes -= 8;
    } else if (bytes >= 4 && (uintptr_t)s % 4 == 0) {
      if (__atomic_load_n((const any_u32 *)s, __ATOMIC_RELAXED) != (uint32_t)ALL_8) return false;
      s += 4, bytes -= 4;
    } else {
      if (__atomic_load_n(s, __ATOMIC_RELAXED) != 1)
        return false; /* a copy in flight leaves others: bulk.c */
      s++, bytes--;
    }
  }
  return true;
}

unsigned emu_init_set(uint8_t *s, unsigned bytes) {
  unsigned already = 0, left = bytes;
  while (left) {
    if (left >= 8 && (uintptr_t)s % 8 == 0) {
      already += (unsigned)__builtin_popcountll(__atomic_load_n((any_u64 *)s, __ATOMIC_RELAXED));
      __atomic_store_n((any_u64 *)s, ALL_8, __ATOMIC_RELAXED);
      s += 8, left -= 8;
    } else if (left >= 4 && (uintptr_t)s % 4 == 0) {
      already += (unsigned)__builtin_popcount(__atomic_load_n((any_u32 *)s, __ATOMIC_RELAXED));
      __atomic_store_n((any_u32 *)s, (uint32_t)ALL_8, __ATOMIC_RELAXED);
      s += 4, left -= 4;
    } else {
      already += __atomic_load_n(s, __ATOMIC_RELAXED);
      __atomic_store_n(s, 1, __ATOMIC_RELAXED);
      s++, left--;
    }
  }
  return bytes - already;
}

/* ---- CHECK_NC ------------------------------------------------------------------- */

uint8_t emu_nc_tag(hd_emu *e, uint64_t launch) {
  enum { TAGS = UINT8_MAX };
  if (e->nc && launch % TAGS == 0) emu_zero(e->nc, e->opt.memory);
  return (uint8_t)(launch % TAGS + 1);
}

void emu_nc_mark(hd_emu *e, uint64_t address, unsigned bytes, uint8_t tag) {
  uint8_t *s = e->nc + (address - EMU_GLOBAL_BASE);
  for (unsigned k = 0; k < bytes; k++) __atomic_store_n(&s[k], tag, __ATOMIC_RELAXED);
}

bool emu_nc_wrote(const hd_emu *e, uint64_t address, unsigned bytes, uint8_t tag) {
  const uint8_t *s = e->nc + (address - EMU_GLOBAL_BASE);
  for (unsigned k = 0; k < bytes; k++)
    if (__atomic_load_n(&s[k], __ATOMIC_RELAXED) == tag) return true;
  return false;
}

/* ---- CHECK_RACE ------------------------------------------------------------------- */

void emu_race_begin(hd_emu *e, emu_race_log *log) {
  *log = (emu_race_log){0};
  if (!e->race) return;
  if (e->next_ticket > MAX_TICKET / 2) { /* one launch in 2^30 CTAs pays for new shadow */
    emu_zero(e->race, e->opt.memory / GRANULE * sizeof *e->race);
    e->next_ticket = 1;
  }
  emu_race_pass(e, log);
}

/* Another ticket for several tasks. */
static void renew_several(hd_emu *e, emu_race_log *log) {
  if (e->next_ticket > MAX_TICKET) return;
  const emu_race_task t = {.ticket = e->next_ticket++, .task = UINT64_MAX};
  if (!hd_vec_push(&log->tasks, t)) {
    log->failed = true;
    return;
  }
  log->several = t.ticket;
  log->several_used = false;
}

void emu_race_pass(hd_emu *e, emu_race_log *log) {
  if (e->next_ticket > MAX_TICKET) return;
  log->first = log->several = e->next_ticket++;
  log->tasks.n = 0; /* nobody asks for them any more */
  renew_several(e, log);
}

void emu_race_told(hd_emu *e, emu_race_log *log) {
  log->releases++;
  if (!log->several_used) return;
  emu_race_task *t = emu_race_find(log, log->several);
  if (t) t->released = log->releases;
  renew_several(e, log);
}

void emu_race_end(emu_race_log *log) {
  hd_vec_free(&log->tasks);
  hd_vec_free(&log->splits);
  free(log->flags);
}

uint32_t emu_race_ticket(hd_emu *e, emu_race_log *log, uint64_t task) {
  if (log->failed || e->next_ticket > MAX_TICKET) return 0;
  const emu_race_task t = {.ticket = e->next_ticket++, .task = task};
  return hd_vec_push(&log->tasks, t) ? t.ticket : 0;
}

emu_race_task *emu_race_find(emu_race_log *log, uint32_t ticket) {
  size_t lo = 0, hi = log->tasks.n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (log->tasks.data[mid].ticket < ticket)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < log->tasks.n && log->tasks.data[lo].ticket == ticket ? &log->tasks.data[lo] : NULL;
}

static uint32_t id_of(uint32_t word) { return word & ~STRONG_BIT; }

/* The word after one more access of its kind. */
static uint32_t join(uint32_t word, emu_race_log *log, uint32_t ticket, bool strong) {
  const bool still = strong && (!word || word & STRONG_BIT), other = word && id_of(word) != ticket;
  log->several_used |= other;
  return (other ? log->several : ticket) | (still ? STRONG_BIT : 0);
}

/* Whether the accesses of a word's tasks happened before the one by `by`: they are its own, or it was told.
 * `mine`: its own ticket for such accesses. */
static bool happened_before(uint32_t word, emu_race_log *log, const emu_race_by *by, uint32_t mine) {
  if (!word || id_of(word) == mine || !log->published) return false;
  const emu_race_task *t = emu_race_find(log, id_of(word));
  return t && (t->task == by->task || (t->released && t->released <= by->knows));
}

/* Whether a bulk copy reads what threads of this launch wrote, and none has fenced since it began. */
static bool lacks_fence(uint32_t writer, emu_race_log *log, const emu_race_by *by) {
  if (!by->async || by->kind != HD_ACCESS_LOAD || id_of(writer) < log->first ||
      __atomic_load_n(&log->proxy_fence, __ATOMIC_RELAXED))
    return false;
  const emu_race_task *t = emu_race_find(log, id_of(writer));
  return t && !t->async && t->task != UINT64_MAX;
}

/* One access to bytes of one history; `same`: a store of what is there already. False: it conflicts. */
static bool touch(uint64_t *state, emu_race_log *log, const emu_race_by *by, bool same, emu_conflict *why) {
  uint32_t writer = (uint32_t)*state, reader = (uint32_t)(*state >> 32);
  if (lacks_fence(writer, log, by)) {
    *why = (emu_conflict){id_of(writer), true, true, why->lane, why->address};
    return false;
  }
  if (id_of(writer) < log->first || happened_before(writer, log, by, by->writes)) writer = 0;
  if (id_of(reader) < log->first || happened_before(reader, log, by, by->reads)) reader = 0;
  const bool again = same && !(writer & STRONG_BIT);
  if (writer && id_of(writer) != by->writes && !again && !(by->strong && writer & STRONG_BIT)) {
    why->other = id_of(writer);
    why->wrote = true;
    return false;
  }
  if (by->kind != HD_ACCESS_LOAD && reader && id_of(reader) != by->reads &&
      !(by->strong && reader & STRONG_BIT)) {
    why->other = id_of(reader);
    why->wrote = false;
    return false;
  }
  if (by->kind == HD_ACCESS_LOAD)
    reader = join(reader, log, by->reads, by->strong);
  else
    writer = join(writer, log, by->writes, by->strong);
  *state = (uint64_t)reader << 32 | writer;
  return true;
}

/* The split of a granule; makes it when its bytes still have one history. NULL: out of memory. */
static emu_race_split *split_of(emu_race_log *log, uint64_t granule, uint64_t *word) {
  uint32_t at = (uint32_t)(*word >> 32);
  bool split = (uint32_t)*word == SPLIT;
  if (split && at < log->splits.n && log->splits.data[at].granule == granule) return &log->splits.data[at];
  uint64_t state = split ? 0 : *word; /* a split of an earlier launch holds nothing of this one */
  emu_race_split s = {granule, {state, state, state, state}};
  if (log->splits.n > UINT32_MAX || !hd_vec_push(&log->splits, s)) return NULL;
  at = (uint32_t)(log->splits.n - 1);
  *word = (uint64_t)at << 32 | SPLIT;
  return &log->splits.data[at];
}

/* One lane's access; `stored` are its bytes when it is a store and they are known. */
static bool touch_bytes(hd_emu *e, emu_race_log *log, const emu_race_by *by, uint64_t address, unsigned bytes,
                        const char *stored, emu_conflict *why) {
  const uint64_t first = address - EMU_GLOBAL_BASE, end = first + bytes;
  for (uint64_t g = first / GRANULE; g * GRANULE < end; g++) {
    uint64_t *word = &e->race[g];
    uint64_t lo = g * GRANULE > first ? g * GRANULE : first;
    uint64_t hi = (g + 1) * GRANULE < end ? (g + 1) * GRANULE : end;
    why->address = EMU_GLOBAL_BASE + lo;
    const char *there = (const char *)(uintptr_t)(EMU_GLOBAL_BASE + lo + e->delta);
    const bool same = stored && memcmp(stored + (lo - first), there, hi - lo) == 0;
    if (hi - lo == GRANULE && (uint32_t)*word != SPLIT) {
      if (!touch(word, log, by, same, why)) return false;
      continue;
    }
    emu_race_split *s = split_of(log, g, word);
    if (!s) return false;
    for (uint64_t b = lo; b < hi; b++) {
      why->address = EMU_GLOBAL_BASE + b;
      if (!touch(&s->state[b % GRANULE], log, by, same, why)) return false;
    }
  }
  return true;
}

/* Whether the access would leave all granules as they are. Most do: a task's second read of data that no task
 * writes, and its second write of its own data. */
static bool settled(const hd_emu *e, const emu_race_log *log, const emu_race_by *by, uint64_t address,
                    unsigned bytes) {
  const uint64_t first = address - EMU_GLOBAL_BASE;
  bool ok = first % GRANULE == 0 && bytes % GRANULE == 0 && !by->async;
  for (uint64_t g = first / GRANULE, end = (first + bytes) / GRANULE; ok && g < end; g++) {
    const uint32_t writer = (uint32_t)e->race[g], reader = (uint32_t)(e->race[g] >> 32);
    if (by->kind == HD_ACCESS_LOAD)
      ok = (reader == by->reads || reader == log->several) &&
           (id_of(writer) < log->first || writer == by->writes);
    else
      ok = by->kind == HD_ACCESS_STORE && writer == by->writes &&
           (id_of(reader) < log->first || reader == by->reads);
  }
  return ok;
}

bool emu_race_access(hd_emu *e, emu_race_log *log, const emu_race_by *by, uint32_t mask,
                     const uint64_t addr[32], unsigned bytes, const char *rows, emu_conflict *why) {
  *why = (emu_conflict){0};
  uint64_t last = 0;
  for (uint32_t left = mask; left; left &= left - 1) {
    why->lane = (unsigned)__builtin_ctz(left);
    const uint64_t address = addr[why->lane];
    if (address == last) continue; /* as the lane before */
    last = address;
    if (!settled(e, log, by, address, bytes) &&
        !touch_bytes(e, log, by, address, bytes, rows ? rows + (size_t)why->lane * bytes : NULL, why))
      return false;
  }
  return true;
}

void emu_race_forget(hd_emu *e, uint64_t address, uint64_t bytes) {
  if (!e->race || !bytes) return;
  uint64_t first = (address - EMU_GLOBAL_BASE) / GRANULE,
           end = (address - EMU_GLOBAL_BASE + bytes - 1) / GRANULE + 1;
  emu_zero(&e->race[first], (end - first) * sizeof *e->race);
}
