/* Allocations: their owners, their addresses on the host and the device, and those freed before. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/core/order.h"

enum { FREED = 256 }; /* freed allocations that reports remember */

static struct {
  HD_VEC(core_memory *) live; /* by address */
  struct {
    uint64_t address, bytes;
    char what[96];
  } freed[FREED];
  uint64_t n_freed;
  size_t n_registered;
} memory;

/* ---- Finding ------------------------------------------------------------------------------------------ */

/* Index of the first one that begins behind `address`. */
static size_t upper_bound(uint64_t address) {
  size_t lo = 0, hi = memory.live.n;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (memory.live.data[mid]->address <= address)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

core_memory *core_memory_find(uint64_t address) {
  const size_t k = upper_bound(address);
  core_memory *m = k ? memory.live.data[k - 1] : NULL;
  if (m && (address < m->address + m->bytes || address == m->address)) return m;
  return core_memory_find_host((const void *)(uintptr_t)address);
}

/* Registered memory is the only kind whose host address differs. */
core_memory *core_memory_find_host(const void *host) {
  const uintptr_t at = (uintptr_t)host;
  for (size_t k = 0; memory.n_registered && k < memory.live.n; k++) {
    core_memory *m = memory.live.data[k];
    if (m->kind == CORE_MEMORY_REGISTERED && at - (uintptr_t)m->host < m->bytes) return m;
  }
  return NULL;
}

const char *core_memory_was(uint64_t address) {
  const uint64_t n = memory.n_freed < FREED ? memory.n_freed : FREED;
  for (uint64_t k = 1; k <= n; k++) {
    const uint64_t slot = (memory.n_freed - k) % FREED;
    if (address - memory.freed[slot].address < memory.freed[slot].bytes) return memory.freed[slot].what;
  }
  return NULL;
}

bool core_memory_shared(void) {
  for (size_t k = 0; k < memory.live.n; k++)
    if (memory.live.data[k]->host) return true;
  return false;
}

bool core_memory_shared_same(const hd_emu_snapshot *s, uint64_t most) {
  uint64_t bytes = 0;
  for (size_t k = 0; k < memory.live.n; k++) {
    const core_memory *m = memory.live.data[k];
    if (!m->host) continue;
    bytes += m->bytes;
    if (bytes > most || !hd_emu_snapshot_same_at(s, m->address, m->bytes)) return false;
  }
  return true;
}

uint64_t core_memory_live(void (*each)(const core_memory *m, void *arg), void *arg) {
  uint64_t bytes = 0;
  for (size_t k = 0; k < memory.live.n; k++) {
    const core_memory *m = memory.live.data[k];
    if (m->kind == CORE_MEMORY_VARIABLE || (m->of && !core_alloc_lives(m->of))) continue;
    bytes += m->bytes;
    if (each) each(m, arg);
  }
  return bytes;
}

static cu_result refuse(const hd_diag *d) {
  if (d->status == HD_ERR_NOMEM && hd_file_limit() < core.settings.memory) core_say("%s", d->message);
  return d->status == HD_ERR_NOMEM ? CU_OUT_OF_MEMORY : CU_UNKNOWN;
}

/* ---- Allocation --------------------------------------------------------------------------------------- */

static cu_result insert(core_context *c, core_memory_kind kind, uint64_t address, uint64_t bytes,
                        const char *what, core_memory **out) {
  core_memory *m = calloc(1, sizeof *m);
  if (!m || !hd_vec_push(&memory.live, m)) {
    free(m);
    return CU_OUT_OF_MEMORY;
  }
  m->address = address;
  m->bytes = bytes;
  m->kind = kind;
  m->context = c;
  m->id = ++core.next_id;
  m->from = core_calling.from;
  snprintf(m->what, sizeof m->what, "%s", what);
  const size_t at = upper_bound(address - 1);
  memmove(&memory.live.data[at + 1], &memory.live.data[at],
          (memory.live.n - 1 - at) * sizeof *memory.live.data);
  memory.live.data[at] = m;
  *out = m;
  return CU_SUCCESS;
}

/* Once: programs may ask for less and less until they get it. */
static void say_full(const core_device *d, uint64_t bytes) {
  static bool said;
  if (!said && !core.settings.quiet)
    core_say("an allocation of %" PRIu64 " bytes: device %d has %" PRIu64 " bytes left of %" PRIu64
             " (--memory)",
             bytes, d->ordinal, core.settings.memory - d->used, core.settings.memory);
  said = true;
}

static uint64_t bit_of(const core_device *d) { return UINT64_C(1) << d->ordinal; }

/* Its own device, and those that it was opened to: memory of a pool by the pool, all other by the peers that
 * contexts have enabled. What the host sees is open to all. */
static uint64_t users_of(const core_memory *m) {
  const core_device *d = m->context->device;
  uint64_t users = bit_of(d);
  if (m->host) return UINT64_MAX;
  if (m->pool) return users | m->pool->users;
  for (size_t k = 0; k < core.contexts.n; k++)
    if (core.contexts.data[k]->peers & bit_of(d)) users |= bit_of(core.contexts.data[k]->device);
  return users;
}

void core_memory_reached(const core_memory *m) {
  if (core.settings.devices > 1) (void)hd_emu_set_users(core.emu, m->address, users_of(m), NULL);
}

void core_memory_reached_on(const core_device *device) {
  for (size_t k = 0; k < memory.live.n; k++)
    if ((!device || memory.live.data[k]->context->device == device) && !memory.live.data[k]->host)
      core_memory_reached(memory.live.data[k]);
}

cu_result core_memory_create(core_context *c, core_memory_kind kind, uint64_t bytes, unsigned flags,
                             const char *what, core_memory **out) {
  const bool shared = kind != CORE_MEMORY_DEVICE, counts = kind != CORE_MEMORY_PINNED;
  hd_diag d = {0};
  uint64_t address;
  if (!bytes) return CU_INVALID_VALUE;
  if (counts && bytes > core.settings.memory - c->device->used) {
    say_full(c->device, bytes);
    return CU_OUT_OF_MEMORY;
  }
  const uint64_t align = shared ? (uint64_t)sysconf(_SC_PAGESIZE) : 512;
  if (hd_emu_alloc_aligned(core.emu, bytes, align, &address, &d) != HD_OK) return refuse(&d);
  void *host = (void *)(uintptr_t)address;
  cu_result r = CU_SUCCESS;
  if (shared && hd_emu_show(core.emu, address, bytes, host, &d) != HD_OK) r = refuse(&d);
  if (r == CU_SUCCESS) r = insert(c, kind, address, bytes, what, out);
  if (r != CU_SUCCESS) {
    hd_emu_free(core.emu, address, NULL);
    return r;
  }
  (*out)->flags = flags;
  if (shared) {
    (*out)->host = host;
    hd_emu_mark_written(core.emu, address, bytes); /* the host's stores are not seen */
  }
  if (counts) c->device->used += bytes;
  core_memory_reached(*out);
  return CU_SUCCESS;
}

cu_result core_memory_adopt(core_context *c, uint64_t address, uint64_t bytes, bool managed,
                            const char *name) {
  core_memory *m;
  hd_diag d = {0};
  void *host = (void *)(uintptr_t)address;
  const core_memory *have = core_memory_find(address);
  if (have && have->address == address) return CU_SUCCESS;
  if (managed && hd_emu_show(core.emu, address, bytes, host, &d) != HD_OK) return refuse(&d);
  cu_result r = insert(c, CORE_MEMORY_VARIABLE, address, bytes ? bytes : 1, name, &m);
  if (r == CU_SUCCESS && managed) {
    m->host = host;
    hd_emu_mark_written(core.emu, address, bytes);
  }
  if (r == CU_SUCCESS) core_memory_reached(m);
  return r;
}

/* ---- The host's own pages -------------------------------------------------------------------- */

typedef struct pages {
  char *start;
  uint64_t bytes, past; /* of the memory itself, from the start */
} pages;

static pages pages_of(void *host, uint64_t bytes) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), past = (uintptr_t)host % page;
  return (pages){(char *)host - past, (past + bytes + page - 1) & ~(page - 1), past};
}

/* The pages' bytes go into device memory, which takes their place. */
cu_result core_memory_register(core_context *c, void *host, uint64_t bytes, unsigned flags,
                               core_memory **out) {
  const pages p = pages_of(host, bytes);
  hd_diag d = {0};
  uint64_t address;
  if (!host || !bytes) return CU_INVALID_VALUE;
  for (uint64_t at = 0; at<bytes; at += p.bytes> 4096 ? 4096 : p.bytes)
    if (core_memory_find((uintptr_t)host + at)) return CU_HOST_ALREADY_REGISTERED;
  if (hd_emu_alloc_aligned(core.emu, p.bytes, (uint64_t)sysconf(_SC_PAGESIZE), &address, &d) != HD_OK)
    return refuse(&d);
  memcpy(hd_emu_ptr(core.emu, address, p.bytes), p.start, p.bytes);
  hd_emu_mark_written(core.emu, address, p.bytes);
  cu_result r = CU_SUCCESS;
  if (hd_emu_show(core.emu, address, p.bytes, p.start, &d) != HD_OK) r = refuse(&d);
  if (r == CU_SUCCESS)
    r = insert(c, CORE_MEMORY_REGISTERED, address + p.past, bytes, "cuMemHostRegister", out);
  if (r != CU_SUCCESS) {
    hd_emu_free(core.emu, address, NULL);
    return r;
  }
  (*out)->host = host;
  (*out)->flags = flags;
  memory.n_registered++;
  return CU_SUCCESS;
}

/* Private pages with the same bytes in their place. */
static bool give_back(const core_memory *m) {
  const pages p = pages_of(m->host, m->bytes);
  char *copy = mmap(NULL, p.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return false;
  memcpy(copy, p.start, p.bytes);
  return mremap(copy, p.bytes, p.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, p.start) != MAP_FAILED;
}

cu_result core_memory_unregister(void *host) {
  core_memory *m = core_memory_find((uintptr_t)host);
  if (!host || (m && (m->kind != CORE_MEMORY_REGISTERED || m->host != host))) return CU_INVALID_VALUE;
  return m ? core_memory_free(m) : CU_HOST_NOT_REGISTERED;
}

/* ---- Release --------------------------------------------------------------------------------- */

static void take_out(core_memory *m) {
  const size_t k = upper_bound(m->address) - 1;
  memmove(&memory.live.data[k], &memory.live.data[k + 1], (memory.live.n - k - 1) * sizeof *memory.live.data);
  memory.live.n--;
}

void core_memory_forget(uint64_t address) {
  const size_t k = upper_bound(address);
  core_memory *m = k ? memory.live.data[k - 1] : NULL;
  if (!m || m->address != address || m->kind != CORE_MEMORY_VARIABLE) return;
  take_out(m);
  free(m);
}

static void hide(const core_memory *m) {
  const pages p = pages_of(m->host, m->bytes);
  /* If this fails, the host may read memory that is not allocated. */
  if (m->host)
    (void)mmap(p.start, p.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

cu_result core_memory_free(core_memory *m) {
  uint64_t address = m->address;
  if (m->of) {
    core_alloc_free(m->of);
    return CU_SUCCESS;
  }
  core_order_freed(address, address + m->bytes);
  if (m->kind == CORE_MEMORY_REGISTERED) {
    if (!give_back(m)) return CU_OUT_OF_MEMORY;
    address -= pages_of(m->host, m->bytes).past;
    memory.n_registered--;
  } else {
    hide(m);
  }
  hd_emu_free(core.emu, address, NULL);
  if (m->kind == CORE_MEMORY_DEVICE || m->kind == CORE_MEMORY_MANAGED) m->context->device->used -= m->bytes;
  if (m->pool) m->pool->used -= m->bytes;
  const uint64_t slot = memory.n_freed++ % FREED;
  memory.freed[slot].address = m->address;
  memory.freed[slot].bytes = m->bytes;
  memcpy(memory.freed[slot].what, m->what, sizeof m->what);
  take_out(m);
  free(m);
  return CU_SUCCESS;
}

void core_memory_free_all(core_context *c) {
  for (size_t k = memory.live.n; k-- > 0;)
    if (memory.live.data[k]->context == c) {
      core_memory *m = memory.live.data[k];
      if (m->of) core_alloc_lost(m->of);
      m->of = NULL;
      core_memory_free(m);
    }
}
