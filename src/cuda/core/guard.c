/* The host where it has no business: memory of the device, and memory that host and device share while an
 * operation that the host has not waited for may still be writing it.
 *
 * Addresses of device memory are mapped to nothing for the host. With HD_PROGRAM_CHECK_STREAMS the pages that
 * an operation wrote are hidden from the host, too, until it has waited: the first access is a finding, and
 * goes on.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "cuda/core/core.h"

typedef struct guard {
  uint64_t page;
  uint64_t lo, hi; /* that were written, on this page */
  uint64_t stream, tick;
  core_code at;
  char name[96];
} guard;
static HD_VEC(guard) guards;
static struct sigaction before;

static uint64_t page_bytes(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

static void protect(uint64_t page, int how) { mprotect((void *)(uintptr_t)page, page_bytes(), how); }

/* ---- Guards ---------------------------------------------------------------------------------- */

void core_guard_add(uint64_t lo, uint64_t hi, uint64_t stream, uint64_t tick, const char *name,
                    core_code at) {
  const core_memory *m = core_memory_find(lo);
  if (!m || (m->kind != CORE_MEMORY_PINNED && m->kind != CORE_MEMORY_MANAGED)) return;
  const uint64_t bytes = page_bytes();
  for (uint64_t page = lo & ~(bytes - 1); page < hi; page += bytes) {
    guard g = {page, lo > page ? lo : page, hi < page + bytes ? hi : page + bytes, stream, tick, at, ""};
    snprintf(g.name, sizeof g.name, "%s", name);
    guard *last = guards.n ? &guards.data[guards.n - 1] : NULL;
    if (last && last->page == page && last->stream == stream && last->tick == tick && last->hi >= g.lo &&
        last->lo <= g.lo) {
      if (last->hi < g.hi) last->hi = g.hi;
      continue;
    }
    if (!hd_vec_reserve(&guards, guards.n + 1) || !guards.data) return;
    guards.data[guards.n++] = g;
    protect(page, PROT_NONE);
  }
}

static bool guarded(uint64_t page) {
  for (size_t k = 0; k < guards.n; k++)
    if (guards.data[k].page == page) return true;
  return false;
}

static void drop(size_t k) {
  const uint64_t page = guards.data[k].page;
  guards.data[k] = guards.data[--guards.n];
  if (!guarded(page)) protect(page, PROT_READ | PROT_WRITE);
}

void core_guard_release(bool (*over)(uint64_t stream, uint64_t tick)) {
  for (size_t k = guards.n; k-- > 0;)
    if (k < guards.n && over(guards.data[k].stream, guards.data[k].tick)) drop(k);
}

void core_guard_forget(uint64_t lo, uint64_t hi) {
  for (size_t k = guards.n; k-- > 0;)
    if (k < guards.n && guards.data[k].lo >= lo && guards.data[k].hi <= hi) drop(k);
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

/* An access to a page that operations wrote: those that wrote this byte are named. */
static bool allow(uint64_t address, const char *where) {
  const uint64_t page = address & ~(page_bytes() - 1);
  if (!guarded(page)) return false;
  for (size_t k = guards.n; k-- > 0;) {
    const guard g = guards.data[k];
    if (g.page != page) continue;
    if (address >= g.lo && address < g.hi) {
      char line[256];
      core_code_text(g.at, line, sizeof line);
      core_found_at(CORE_FOUND_HOST, (core_code[2]){g.at},
                    "nothing orders %s in stream %llu%s%s and the host's access at %s: both touch 0x%llx",
                    g.name, (unsigned long long)g.stream, *line ? " at " : "", line, where,
                    (unsigned long long)address);
    }
    guards.data[k] = guards.data[--guards.n];
  }
  protect(page, PROT_READ | PROT_WRITE);
  return true;
}

static void on_fault(int number, siginfo_t *info, void *context) {
  const uint64_t address = (uintptr_t)info->si_addr;
  char where[300];
  if (core.emu && core_is_device(address)) {
    describe_place(context, where, sizeof where);
    if (allow(address, where)) return;
    const core_memory *m = core_memory_find(address);
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
  }
  sigaction(number, &before, NULL); /* the access is made again, and ends as it would without heddle */
}

void core_guard_install(void) {
  struct sigaction a = {.sa_flags = SA_SIGINFO | SA_NODEFER};
  a.sa_sigaction = on_fault;
  sigaction(SIGSEGV, &a, &before);
}
