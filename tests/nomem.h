/* tests/nomem.h: memory that runs out at the N-th allocation.
 *
 * Included by tests/FLOOR/test_nomem.c, which is linked with -Wl,--wrap for the functions below: every
 * allocation of heddle's own code is counted, those of other libraries are not. A case runs one entry point
 * from its beginning to its cleanup. nomem_expect runs it once with all memory, then with the N-th allocation
 * failing, for N = 1, 2, 3, ... until none is left to fail (of more than NOMEM_RUNS a sample), once with
 * memory for later allocations and once without. Each time the case must fail with HD_ERR_NOMEM, or succeed
 * where it can do without. Under ASan this also finds leaks and uses of freed memory. */
#ifndef HEDDLE_TESTS_NOMEM_H
#define HEDDLE_TESTS_NOMEM_H

#include "check.h"

#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/base.h"

enum { NOMEM_RUNS = 300 };

static atomic_ulong nomem_count;     /* allocations so far */
static unsigned long nomem_fails_at; /* that one fails; 0: none */
static bool nomem_stays;             /* and all after it */

/* Where the first allocation failed: addr2line -fe PROGRAM names these places. */
enum { NOMEM_FRAMES = 8 };
static void *nomem_frames[NOMEM_FRAMES];
static int nomem_depth;

static bool nomem_now(void) {
  unsigned long n = atomic_fetch_add(&nomem_count, 1) + 1;
  bool fails = nomem_fails_at && (n == nomem_fails_at || (nomem_stays && n > nomem_fails_at));
  if (n == nomem_fails_at) nomem_depth = backtrace(nomem_frames, NOMEM_FRAMES);
  if (fails) errno = ENOMEM;
  return fails;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
int __real_posix_memalign(void **p, size_t align, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
int __wrap_posix_memalign(void **p, size_t align, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);

void *__wrap_malloc(size_t size) { return nomem_now() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return nomem_now() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t size) { return nomem_now() ? NULL : __real_realloc(p, size); }
void *__wrap_aligned_alloc(size_t align, size_t size) {
  return nomem_now() ? NULL : __real_aligned_alloc(align, size);
}
int __wrap_posix_memalign(void **p, size_t align, size_t size) {
  return nomem_now() ? ENOMEM : __real_posix_memalign(p, align, size);
}
char *__wrap_strdup(const char *s) { return nomem_now() ? NULL : __real_strdup(s); }
char *__wrap_strndup(const char *s, size_t n) { return nomem_now() ? NULL : __real_strndup(s, n); }

typedef hd_status nomem_case(void *ctx, hd_diag *d);

typedef struct nomem_entry {
  const char *name;
  nomem_case *run;
  void *ctx;
  bool spares; /* it may do without: words for a message that is not needed, threads that it can work without
                */
} nomem_entry;

/* The mistake of a run in which an allocation failed; NULL: none. */
static const char *nomem_wrong(hd_status st, const hd_diag *d, bool failed_one, bool spares) {
  if (st == HD_ERR_NOMEM && !failed_one) return "says that memory ran out, and it did not";
  if (st == HD_OK && failed_one && !spares) return "does not say that memory ran out";
  if (st != HD_OK && st != HD_ERR_NOMEM) return "says something else";
  if (st != HD_OK && (d->status != st || !d->message[0])) return "has no message";
  return NULL;
}

static unsigned nomem_run(const nomem_entry *e, unsigned long n, unsigned long all, bool stays) {
  extern char __executable_start;
  hd_diag d = {0};
  atomic_store(&nomem_count, 0);
  nomem_stays = stays;
  nomem_fails_at = n;
  hd_status st = e->run(e->ctx, &d);
  nomem_fails_at = 0;
  const char *wrong = nomem_wrong(st, &d, atomic_load(&nomem_count) >= n, e->spares);
  if (!wrong) return 0;
  print_message("%s: with allocation %lu of %lu failing it %s: (%d) %s\n  at", e->name, n, all, wrong, st,
                d.message);
  for (int i = 2; i < nomem_depth; i++) print_message(" %#tx", (char *)nomem_frames[i] - &__executable_start);
  print_message("\n");
  return 1;
}

static void nomem_expect(const nomem_entry *e) {
  hd_diag d = {0};
  atomic_store(&nomem_count, 0);
  if (e->run(e->ctx, &d) != HD_OK) fail_msg("%s, with all memory: %s", e->name, d.message);
  unsigned long all = atomic_load(&nomem_count), runs = all < NOMEM_RUNS ? all : NOMEM_RUNS;
  if (!all) fail_msg("%s allocates nothing", e->name);
  unsigned wrong = 0;
  for (int stays = 0; stays < 2; stays++)
    for (unsigned long k = 0; k < runs; k++) wrong += nomem_run(e, 1 + k * all / runs, all, stays);
  if (wrong) fail_msg("%s: %u runs", e->name, wrong);
}

#endif
