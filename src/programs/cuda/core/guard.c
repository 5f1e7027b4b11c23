/* The host where it has no business: memory of the device, and memory that host and device share while an
 * operation that the host has not waited for may still be writing it.
 *
 * Addresses of device memory are mapped to nothing for the host. With HD_PROGRAM_CHECK_STREAMS the host
 * cannot access the pages that an operation wrote, nor write those that it read, until it has waited: the
 * first such access is a finding, and goes on. unordered.c holds the lock of the guards.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "cuda/core/order.h"

/* Whole pages that one operation touched. */
typedef struct guard {
  uint64_t lo, hi;
  uint64_t memory; /* address of the allocation */
  uint64_t record; /* of the operation (unordered.c) */
  bool hidden;     /* it wrote them; else the host may read them */
} guard;
enum { GUARDS = 4096, GAP = 16 }; /* pages between two guards that become one */
static HD_VEC(guard) guards;
static struct sigaction before;

static uint64_t page_bytes(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

static void protect(uint64_t lo, uint64_t hi, int how) {
  if (lo < hi) mprotect((void *)(uintptr_t)lo, hi - lo, how);
}

/* ---- Guards ---------------------------------------------------------------------------------- */

void core_guard_add(uint64_t lo, uint64_t hi, uint64_t record, bool hidden) {
  const core_memory *m = core_memory_find(lo);
  if (!m || !m->host || m->kind == CORE_MEMORY_REGISTERED || guards.n >= GUARDS) return;
  const uint64_t page = page_bytes(), end = m->address + m->bytes;
  guard g = {lo & ~(page - 1), ((hi < end ? hi : end) + page - 1) & ~(page - 1), m->address, record, hidden};
  guard *last = guards.n ? &guards.data[guards.n - 1] : NULL;
  if (last && last->record == record && last->hidden == hidden && last->memory == m->address &&
      g.lo >= last->lo && g.lo <= last->hi + GAP * page) {
    if (g.hi > last->hi) last->hi = g.hi;
    g = *last;
    /* There is room where it is put. NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
  } else if (!hd_vec_push(&guards, g)) {
    return;
  }
  protect(g.lo, g.hi, PROT_READ);
  for (size_t k = 0; k < guards.n; k++)
    if (guards.data[k].hidden && guards.data[k].lo < g.hi && guards.data[k].hi > g.lo)
      protect(guards.data[k].lo, guards.data[k].hi, PROT_NONE);
}

/* The protection that the guards left ask of these pages. */
static void settle(uint64_t lo, uint64_t hi) {
  protect(lo, hi, PROT_READ | PROT_WRITE);
  for (int hidden = 0; hidden < 2; hidden++)
    for (size_t k = 0; k < guards.n; k++) {
      const guard *g = &guards.data[k];
      if (g->hidden == hidden)
        protect(g->lo > lo ? g->lo : lo, g->hi < hi ? g->hi : hi, hidden ? PROT_NONE : PROT_READ);
    }
}

void core_guard_drop(uint64_t record) {
  for (size_t k = guards.n; k-- > 0;) {
    const guard g = guards.data[k];
    if (g.record != record) continue;
    guards.data[k] = guards.data[--guards.n];
    settle(g.lo, g.hi);
  }
}

/* Take these pages out of all guards. */
static void open_pages(uint64_t lo, uint64_t hi) {
  for (size_t k = guards.n; k-- > 0;) {
    const guard g = guards.data[k];
    if (g.lo >= hi || g.hi <= lo) continue;
    guards.data[k] = guards.data[--guards.n];
    if (g.lo < lo) (void)hd_vec_push(&guards, ((guard){g.lo, lo, g.memory, g.record, g.hidden}));
    if (g.hi > hi) (void)hd_vec_push(&guards, ((guard){hi, g.hi, g.memory, g.record, g.hidden}));
  }
  protect(lo, hi, PROT_READ | PROT_WRITE);
}

void core_guard_open(uint64_t address) {
  const uint64_t page = address & ~(page_bytes() - 1);
  open_pages(page, page + page_bytes());
}

void core_guard_forget(uint64_t lo, uint64_t hi) {
  const uint64_t page = page_bytes();
  if (guards.n) open_pages(lo & ~(page - 1), (hi + page - 1) & ~(page - 1));
}

bool core_guard_covers(uint64_t address, uint64_t record) {
  for (size_t k = 0; k < guards.n; k++) {
    const guard *g = &guards.data[k];
    if (address >= g->lo && address < g->hi && (!record || g->record == record)) return true;
  }
  return false;
}

/* Without the processor's word a fault in pages that may be read is a write. */
static bool is_write(const ucontext_t *u, uint64_t address) {
#if defined(__x86_64__)
  (void)address;
  return u->uc_mcontext.gregs[REG_ERR] & 2;
#else
  (void)u;
  for (size_t k = 0; k < guards.n; k++)
    if (guards.data[k].hidden && address >= guards.data[k].lo && address < guards.data[k].hi) return false;
  return true;
#endif
}

/* ---- Faults of the host ---------------------------------------------------------------------- */

/* "function+0x12 of ./program": where the program is. */
static void describe_place(const void *context, char *out, size_t cap) {
  const ucontext_t *u = context;
#if defined(__x86_64__)
  const uint64_t pc = (uint64_t)u->uc_mcontext.gregs[REG_RIP];
#else
  const uint64_t pc = u->uc_mcontext.pc;
#endif
  Dl_info i;
  if (!dladdr((void *)(uintptr_t)pc, &i) || !i.dli_fname)
    snprintf(out, cap, "0x%llx", (unsigned long long)pc);
  else if (i.dli_sname)
    snprintf(out, cap, "%s+0x%llx of %s", i.dli_sname, (unsigned long long)(pc - (uintptr_t)i.dli_saddr),
             i.dli_fname);
  else
    snprintf(out, cap, "%s+0x%llx", i.dli_fname, (unsigned long long)(pc - (uintptr_t)i.dli_fbase));
}

static void on_fault(int number, siginfo_t *info, void *context) {
  const uint64_t address = (uintptr_t)info->si_addr;
  char where[300];
  if (core.emu && core_is_device(address)) {
    describe_place(context, where, sizeof where);
    if (core_unordered_host(address, is_write(context, address), where)) return;
    const core_memory *m = core_memory_find(address);
    if (m && m->host) return; /* another thread has waited meanwhile */
    const char *was = m ? NULL : core_memory_was(address);
    core_found(CORE_FOUND_HOST, "the host accesses device memory at 0x%llx, %s%s, at %s",
               (unsigned long long)address,
               m     ? "of "
               : was ? "freed memory of "
                     : "where nothing is allocated",
               m     ? m->what
               : was ? was
                     : "",
               where);
    if (pthread_mutex_trylock(&core.lock) == 0) {
      core_report();
      pthread_mutex_unlock(&core.lock);
    }
  } else if (before.sa_handler == SIG_DFL && info->si_code > 0) { /* sent by no process */
    describe_place(context, where, sizeof where);
    core_say("the program itself fails: it accesses 0x%llx at %s", (unsigned long long)address, where);
  }
  sigaction(number, &before, NULL); /* the access is made again, and ends as it would without heddle */
  if (info->si_code <= 0) raise(number);
}

void core_guard_install(void) {
  struct sigaction a = {.sa_flags = SA_SIGINFO | SA_NODEFER}, now;
  if (sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault)
    return;
  a.sa_sigaction = on_fault;
  sigaction(SIGSEGV, &a, &before);
}
