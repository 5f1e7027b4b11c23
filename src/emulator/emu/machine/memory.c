/* emu/machine/memory.c: device memory and its allocations. */
#include "emu/machine/grid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  ALLOC_ALIGN = 256,
  GUARD = 256, /* at least so many bytes between allocations are unused */
  MAX_SMS = 1 << 16,
  COMMIT_STEP = 1 << 20, /* memory is made accessible in steps of this */
};
/* The windows of the generic address space are 2^40 bytes apart; global memory may take the addresses behind
 * them. */
#define MAX_MEMORY (UINT64_C(1) << 46)

static uint64_t round_up(uint64_t v, uint64_t align) { return (v + align - 1) & ~(align - 1); }

/* ---- Creation ------------------------------------------------------------------ */

static hd_status resolve_options(const hd_emu_options *opt, hd_emu_options *o, hd_diag *d) {
  *o = opt ? *opt : (hd_emu_options){0};
  if (o->checks & ~(unsigned)HD_CHECK_ALL) return hd_fail(d, HD_ERR_USAGE, "unknown checks: %#x", o->checks);
  o->checks |= HD_CHECK_BOUNDS;
  if (!o->threads) o->threads = hd_cpu_count();
  if (!o->sm) o->sm = 90;
  if (!o->n_sms) o->n_sms = 132;
  if (o->n_sms > MAX_SMS) return hd_fail(d, HD_ERR_USAGE, "%u SMs are more than %d", o->n_sms, MAX_SMS);
  if (!o->memory) o->memory = UINT64_C(16) << 30;
  if (o->memory > MAX_MEMORY)
    return hd_fail(d, HD_ERR_USAGE, "%" PRIu64 " bytes of device memory are more than the largest, %" PRIu64,
                   o->memory, (uint64_t)MAX_MEMORY);
  o->memory = round_up(o->memory, COMMIT_STEP);
  if (!o->max_instructions) o->max_instructions = UINT64_C(1) << 36;
  if (!o->quiet_instructions) o->quiet_instructions = UINT64_C(1) << 30;
  hd_emu_isa best = emu_best_isa();
  if (o->isa == HD_ISA_AUTO) o->isa = best;
  if (o->isa > best)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "this processor lacks the instruction set asked for");
  return HD_OK;
}

static hd_status map_like(hd_emu *e, const hd_emu *like, hd_diag *d) {
  if (like->file < 0 || e->opt.shared || e->opt.memory < like->committed)
    return hd_fail(d, HD_ERR_USAGE, "this emulator's memory cannot begin as the other one's");
  if (like->committed && mmap(e->memory, like->committed, PROT_NONE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
                              like->file, 0) == MAP_FAILED)
    return hd_fail(d, HD_ERR_NOMEM, "cannot map %" PRIu64 " bytes of device memory", like->committed);
  return HD_OK;
}

/* The address space of device memory, which takes memory as it is touched. */
static hd_status reserve_memory(hd_emu *e, hd_diag *d) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (e->opt.shared) {
    flags = MAP_SHARED | MAP_NORESERVE;
    e->file = memfd_create("device memory", MFD_CLOEXEC);
    if (e->file < 0) return hd_fail(d, HD_ERR_IO, "cannot make a file for device memory");
  }
  void *memory = mmap(NULL, e->opt.memory, PROT_NONE, flags, e->file, 0);
  if (memory == MAP_FAILED)
    return hd_fail(d, HD_ERR_NOMEM, "cannot reserve %" PRIu64 " bytes of address space for device memory",
                   e->opt.memory);
  e->memory = memory;
  e->delta = (uint64_t)(uintptr_t)memory - EMU_GLOBAL_BASE;
  return e->opt.like ? map_like(e, e->opt.like, d) : HD_OK;
}

hd_status hd_emu_create(const hd_emu_options *opt, hd_emu **out, hd_diag *d) {
  *out = NULL;
  hd_emu_options o;
  hd_status st = resolve_options(opt, &o, d);
  if (st != HD_OK) return st;
  hd_emu *e = calloc(1, sizeof *e);
  if (!e) return hd_nomem(d);
  e->opt = o;
  e->file = -1;
  e->access = emu_access_for(o.isa);
  pthread_rwlock_init(&e->lock, NULL);
  st = reserve_memory(e, d);
  if (st == HD_OK) st = emu_shadow_create(e, d);
  if (st != HD_OK) {
    hd_emu_destroy(e);
    return st;
  }
  *out = e;
  return HD_OK;
}

void hd_emu_destroy(hd_emu *e) {
  if (!e) return;
  emu_shadow_destroy(e);
  if (e->memory) munmap(e->memory, e->opt.memory);
  if (e->file >= 0) close(e->file);
  pthread_rwlock_destroy(&e->lock);
  free(e->allocs);
  free(e->images.data);
  free(e);
}

void hd_emu_set_until(hd_emu *e, double at) { e->until = at; }
void hd_emu_set_work(hd_emu *e, uint64_t thread_instructions) { e->work = thread_instructions; }
bool hd_emu_is_spent(const hd_emu *e) { return e->work && atomic_load(&e->worked) >= e->work; }

hd_emu_isa hd_emu_isa_used(const hd_emu *e) { return e->opt.isa; }
void hd_emu_skip_products(hd_emu *e, bool skip) { e->skip_products = skip; }
bool emu_skips_products(const emu_warp *w) { return w->cta->emu->skip_products; }

/* ---- Allocations -------------------------------------------------------------------- */

/* Where an allocation may begin at the earliest when it follows allocs[k - 1]. */
static uint64_t after(const hd_emu *e, size_t k) {
  return k == 0 ? EMU_GLOBAL_BASE + ALLOC_ALIGN : round_up(e->allocs[k - 1].hi + GUARD, ALLOC_ALIGN);
}

size_t emu_upper_bound(const hd_emu *e, uint64_t address) {
  size_t lo = 0, hi = e->n_allocs;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (e->allocs[mid].lo <= address)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

emu_alloc *emu_find_alloc(hd_emu *e, uint64_t address) {
  size_t k = emu_upper_bound(e, address);
  return k && address < e->allocs[k - 1].hi ? &e->allocs[k - 1] : NULL;
}

/* The file grows with what is in use, and no further than it may. */
static bool grow_file(hd_emu *e, uint64_t end) {
  const uint64_t most = hd_file_limit();
  if (e->file < 0 || end <= e->file_bytes) return true;
  uint64_t bytes = 2 * e->file_bytes > end ? 2 * e->file_bytes : end;
  if (bytes > e->opt.memory) bytes = e->opt.memory;
  if (bytes > most) bytes = end;
  if (bytes > most || ftruncate(e->file, (off_t)bytes) != 0) return false;
  e->file_bytes = bytes;
  return true;
}

static bool commit(hd_emu *e, uint64_t end) {
  if (end <= e->committed) return true;
  end = round_up(end, COMMIT_STEP);
  if (!grow_file(e, end)) return false;
  if (mprotect(e->memory + e->committed, end - e->committed, PROT_READ | PROT_WRITE) != 0) return false;
  e->committed = end;
  return true;
}

bool emu_page_in_use(hd_emu *e, uint64_t address, uint64_t bytes) {
  const uint64_t page = address & ~(HD_EMU_PAGE - 1), end = page + HD_EMU_PAGE;
  if (address < EMU_GLOBAL_BASE || end - EMU_GLOBAL_BASE > e->opt.memory || bytes > end - address)
    return false;
  pthread_rwlock_wrlock(&e->lock);
  const size_t k = emu_upper_bound(e, end - 1);
  const bool used = k && e->allocs[k - 1].hi > page && commit(e, end - EMU_GLOBAL_BASE);
  pthread_rwlock_unlock(&e->lock);
  return used;
}

/* First fit, so that addresses depend on nothing but the sequence of calls. The caller holds the lock. */
static hd_status allocate(hd_emu *e, uint64_t bytes, uint64_t align, bool heap, uint64_t *address,
                          hd_diag *d) {
  const uint64_t end = EMU_GLOBAL_BASE + e->opt.memory;
  if (align < ALLOC_ALIGN) align = ALLOC_ALIGN;
  size_t k = e->packed;
  uint64_t lo;
  for (;; k++) {
    lo = round_up(after(e, k), align);
    uint64_t limit = k < e->n_allocs ? e->allocs[k].lo - GUARD : end;
    if (lo <= limit && bytes <= limit - lo) break;
    if (k == e->n_allocs)
      return hd_fail(d, HD_ERR_NOMEM, "no room for %" PRIu64 " bytes in %" PRIu64 " bytes of device memory",
                     bytes, e->opt.memory);
  }
  if (e->n_allocs == e->cap_allocs) {
    size_t cap = e->cap_allocs ? 2 * e->cap_allocs : 64;
    emu_alloc *grown = realloc(e->allocs, cap * sizeof *grown);
    if (!grown) return hd_nomem(d);
    e->allocs = grown;
    e->cap_allocs = cap;
  }
  if (e->file >= 0 && round_up(lo - EMU_GLOBAL_BASE + bytes, COMMIT_STEP) > hd_file_limit())
    return hd_fail(d, HD_ERR_NOMEM,
                   "device memory is a file, which may have at most %" PRIu64 " bytes here (ulimit -f)",
                   hd_file_limit());
  if (!commit(e, lo - EMU_GLOBAL_BASE + bytes))
    return hd_fail(d, HD_ERR_NOMEM, "the system refuses %" PRIu64 " more bytes of memory", bytes);
  memmove(&e->allocs[k + 1], &e->allocs[k], (e->n_allocs - k) * sizeof *e->allocs);
  e->allocs[k] = (emu_alloc){.lo = lo, .hi = lo + bytes, .heap = heap, .users = UINT64_MAX};
  e->n_allocs++;
  /* Where too little remains around it for even the smallest allocation, later searches skip it. */
  while (e->packed < e->n_allocs && after(e, e->packed) + GUARD + ALLOC_ALIGN > e->allocs[e->packed].lo)
    e->packed++;
  *address = lo;
  emu_layout_changes(e);
  return HD_OK;
}

void *emu_reserve(uint64_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

/* Zero n bytes, giving whole pages back by this advice when they are many; -1: by writing them. */
static void zero(void *p, size_t n, int advice) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  char *end = (char *)p + n;
  char *first = (char *)round_up((uintptr_t)p, page), *last = (char *)((uintptr_t)end & ~(page - 1));
  /* Giving back costs a system call: only for many pages. */
  if (advice >= 0 && first < last && (size_t)(last - first) >= 64 * page &&
      madvise(first, (size_t)(last - first), advice) == 0) {
    memset(p, 0, (size_t)(first - (char *)p));
    memset(last, 0, (size_t)(end - last));
  } else {
    memset(p, 0, n);
  }
}

void emu_zero(void *p, size_t n) { zero(p, n, MADV_DONTNEED); }

/* Memory outside of allocations is zero and counts as never touched. */
static void scrub(hd_emu *e, uint64_t lo, uint64_t hi) {
  const int advice = e->opt.like     ? -1 /* the other emulator's bytes would come back */
                     : e->opt.shared ? MADV_REMOVE
                                     : MADV_DONTNEED;
  zero((void *)(uintptr_t)(lo + e->delta), hi - lo, advice);
  emu_init_mark(e, lo, hi - lo, false);
  emu_race_forget(e, lo, hi - lo);
}

static bool release(hd_emu *e, uint64_t address, bool heap_only) {
  size_t k = emu_upper_bound(e, address);
  if (!k || e->allocs[k - 1].lo != address || (heap_only && !e->allocs[k - 1].heap)) return false;
  k--;
  scrub(e, e->allocs[k].lo, e->allocs[k].hi);
  e->freed[e->n_freed % EMU_FREED].lo = e->allocs[k].lo;
  e->freed[e->n_freed++ % EMU_FREED].hi = e->allocs[k].hi;
  memmove(&e->allocs[k], &e->allocs[k + 1], (e->n_allocs - k - 1) * sizeof *e->allocs);
  e->n_allocs--;
  if (k < e->packed) e->packed = k;
  atomic_fetch_add_explicit(&e->generation, 1, memory_order_relaxed);
  emu_layout_changes(e);
  return true;
}

hd_status hd_emu_alloc_aligned(hd_emu *e, uint64_t bytes, uint64_t align, uint64_t *address, hd_diag *d) {
  *address = 0;
  pthread_rwlock_wrlock(&e->lock);
  hd_status st = allocate(e, bytes, align, false, address, d);
  pthread_rwlock_unlock(&e->lock);
  return st;
}

hd_status hd_emu_alloc(hd_emu *e, uint64_t bytes, uint64_t *address, hd_diag *d) {
  return hd_emu_alloc_aligned(e, bytes, ALLOC_ALIGN, address, d);
}

hd_status hd_emu_free(hd_emu *e, uint64_t address, hd_diag *d) {
  pthread_rwlock_wrlock(&e->lock);
  bool ok = release(e, address, false);
  pthread_rwlock_unlock(&e->lock);
  return ok ? HD_OK : hd_fail(d, HD_ERR_USAGE, "no allocation begins at 0x%" PRIx64, address);
}

void emu_set_readonly(hd_emu *e, uint64_t address) {
  emu_alloc *a = emu_find_alloc(e, address);
  if (a) a->readonly = true;
}

hd_status hd_emu_set_users(hd_emu *e, uint64_t address, uint64_t users, hd_diag *d) {
  pthread_rwlock_wrlock(&e->lock);
  emu_alloc *a = emu_find_alloc(e, address);
  const bool ok = a && a->lo == address;
  if (ok) {
    a->users = users;
    atomic_fetch_add_explicit(&e->generation, 1, memory_order_relaxed);
    emu_layout_changes(e);
  }
  pthread_rwlock_unlock(&e->lock);
  return ok ? HD_OK : hd_fail(d, HD_ERR_USAGE, "no allocation begins at 0x%" PRIx64, address);
}

uint64_t emu_heap_alloc(emu_warp *w, uint64_t bytes) {
  hd_emu *e = w->cta->grid->emu;
  uint64_t address = 0;
  emu_quiet_changed(w->cta);
  pthread_rwlock_wrlock(&e->lock);
  allocate(e, bytes, ALLOC_ALIGN, true, &address, NULL);
  pthread_rwlock_unlock(&e->lock);
  return address;
}

bool emu_heap_free(emu_warp *w, uint64_t addr) {
  hd_emu *e = w->cta->grid->emu;
  emu_quiet_changed(w->cta);
  pthread_rwlock_wrlock(&e->lock);
  bool ok = release(e, addr, true);
  pthread_rwlock_unlock(&e->lock);
  return ok;
}

void hd_emu_range(const hd_emu *e, uint64_t *first, uint64_t *bytes) {
  *first = EMU_GLOBAL_BASE;
  *bytes = e->opt.memory;
}

hd_status hd_emu_show(hd_emu *e, uint64_t address, uint64_t bytes, void *at, hd_diag *d) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), past = address % page;
  if (e->file < 0 || (uintptr_t)at % page != past || !hd_emu_ptr(e, address, bytes))
    return hd_fail(d, HD_ERR_USAGE, "[0x%" PRIx64 ", +%" PRIu64 ") cannot be shown at %p", address, bytes,
                   at);
  const uint64_t offset = address - past - EMU_GLOBAL_BASE;
  emu_layout_changes(e);
  if (mmap((char *)at - past, round_up(past + bytes, page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
           e->file, (off_t)offset) == MAP_FAILED)
    return hd_fail(d, HD_ERR_IO, "the system refuses to map %" PRIu64 " bytes of device memory", bytes);
  return HD_OK;
}

/* ---- The host's accesses ---------------------------------------------------------------- */

void *hd_emu_ptr(hd_emu *e, uint64_t address, uint64_t bytes) {
  emu_changes(e);
  pthread_rwlock_rdlock(&e->lock);
  size_t k = emu_upper_bound(e, address);
  const emu_alloc *a = k ? &e->allocs[k - 1] : NULL;
  bool inside = a && address <= a->hi && bytes <= a->hi - address;
  pthread_rwlock_unlock(&e->lock);
  return inside ? (void *)(uintptr_t)(address + e->delta) : NULL;
}

static hd_status outside(hd_diag *d, uint64_t address, uint64_t bytes) {
  return hd_fail(d, HD_ERR_USAGE, "[0x%" PRIx64 ", +%" PRIu64 ") is not inside one allocation", address,
                 bytes);
}

hd_status hd_emu_write(hd_emu *e, uint64_t address, const void *src, uint64_t bytes, hd_diag *d) {
  void *p = hd_emu_ptr(e, address, bytes);
  if (!p) return outside(d, address, bytes);
  if (bytes) memcpy(p, src, bytes);
  hd_emu_mark_written(e, address, bytes);
  return HD_OK;
}

hd_status hd_emu_read(hd_emu *e, uint64_t address, void *dst, uint64_t bytes, hd_diag *d) {
  const void *p = hd_emu_ptr(e, address, bytes);
  if (!p) return outside(d, address, bytes);
  if (bytes) memcpy(dst, p, bytes);
  return HD_OK;
}

static void mark(hd_emu *e, uint64_t address, uint64_t bytes, bool written) {
  if (!e->init || !bytes || !hd_emu_ptr(e, address, bytes)) return;
  emu_alloc *a = emu_find_alloc(e, address);
  uint64_t at = address - a->lo;
  if (written && at <= a->written && at + bytes > a->written) a->written = at + bytes;
  if (!written && at < a->written) a->written = at;
  emu_init_mark(e, address, bytes, written);
}
void hd_emu_copy_written(hd_emu *e, uint64_t to, uint64_t from, uint64_t bytes) {
  if (!e->init || !bytes || !hd_emu_ptr(e, to, bytes) || !hd_emu_ptr(e, from, bytes)) return;
  const uint8_t *s = e->init + (from - EMU_GLOBAL_BASE);
  for (uint64_t at = 0, n; at < bytes; at += n) { /* runs of bytes that are alike */
    const bool written = s[at];
    for (n = 1; at + n < bytes && !s[at + n] == !written;) n++;
    mark(e, to + at, n, written);
  }
}

uint64_t hd_emu_written(hd_emu *e, uint64_t address, uint64_t bytes) {
  if (!e->init || !bytes || !hd_emu_ptr(e, address, bytes)) return bytes;
  const uint8_t *s = e->init + (address - EMU_GLOBAL_BASE), *hole = memchr(s, 0, bytes);
  return hole ? (uint64_t)(hole - s) : bytes;
}

void hd_emu_mark_written(hd_emu *e, uint64_t address, uint64_t bytes) { mark(e, address, bytes, true); }
void hd_emu_mark_unwritten(hd_emu *e, uint64_t address, uint64_t bytes) { mark(e, address, bytes, false); }
