/* The gate before the driver. While a launch is repeated, no other thread may be in a call of the driver's,
 * and none may begin one: what it enqueued, copied or freed would meet memory that is not as the program left
 * it. The thread that launches closes the gate when all others are out of the driver, and they wait at their
 * next call until it opens.
 *
 * All calls but those that only wait for the GPU pass it: a thread that waits there touches nothing, and it
 * may wait for what the closing thread does next. Threads that hold the program's locks may stand at the
 * gate: the closing thread calls the driver and nothing else until it opens the gate.
 *
 * Where nothing is repeated, launches alone pass it, for the moments in which a rewritten kernel is loaded
 * (run_hold).
 *
 * Entry points that heddle stands in front of pass by their C functions (driver.c). All others get a few
 * instructions of their own, whose number says where they lead: those of gated.def by their exported names,
 * and those that a program looks up when it does. They hand on whatever arguments there are. */
#include <dlfcn.h>
#include <string.h>
#include <time.h>

#include "run/watch.h"

enum {
  NAMED = 0
#define RUN_GATED(symbol, stream) +1
#include "run/gated.def"
  ,
  SPARE = 2048 /* entry points that may be looked up; drivers export some 700 */
};

static const struct {
  const char *symbol;
  int stream; /* the number of the argument that is one */
} named[NAMED] = {
#define RUN_GATED(symbol, stream) {#symbol, stream},
#include "run/gated.def"
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static atomic_uint inside; /* threads in calls */
static atomic_bool closed;
static RUN_OF_THREAD unsigned depth; /* of this thread's calls */

/* ---- Passing ----------------------------------------------------------------------------------- */

static void wait_open(void) {
  pthread_mutex_lock(&lock);
  while (atomic_load(&closed)) pthread_cond_wait(&opened, &lock);
  pthread_mutex_unlock(&lock);
}

void run_gate_enter(void) {
  if (depth++) return;
  atomic_fetch_add(&inside, 1);
  while (atomic_load(&closed)) {
    atomic_fetch_sub(&inside, 1);
    wait_open();
    atomic_fetch_add(&inside, 1);
  }
}

void run_gate_leave(void) {
  if (!--depth) atomic_fetch_sub(&inside, 1);
}

void run_gate_in(void) {
  if (run_watches) run_gate_enter();
}

void run_gate_out(void) {
  if (run_watches) run_gate_leave();
}

/* ---- Threads' own default streams -------------------------------------------------------------- */

/* Only the thread itself can ask whether its default stream is idle. */
static atomic_uint users;
static RUN_OF_THREAD bool uses_own;

static atomic_ulong own_launches;

void run_gate_own_stream(void) {
  if (run_tracks && !uses_own) {
    uses_own = true;
    atomic_fetch_add(&users, 1);
  }
}

void run_gate_own_launch(void) {
  run_gate_own_stream();
  atomic_fetch_add(&own_launches, 1);
}

unsigned long run_gate_own_launches(void) { return atomic_load(&own_launches); }

bool run_gate_others_own_streams(void) { return atomic_load(&users) > uses_own; }

bool run_gate_is_own(const char *symbol) {
  const size_t n = strlen(symbol);
  return n > 5 && (strcmp(symbol + n - 5, "_ptsz") == 0 || strcmp(symbol + n - 5, "_ptds") == 0);
}

/* ---- Closing ----------------------------------------------------------------------------------- */

const char *run_gate_close(double seconds) {
  const double until = hd_seconds() + seconds;
  if (depth != 1) return "it is launched by a callback of the driver's";
  if (atomic_exchange(&closed, true)) return "another launch was held back then";
  while (atomic_load(&inside) > 1) {
    if (hd_seconds() > until) {
      run_gate_open();
      return "other threads were in the driver at its launches";
    }
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
  }
  return NULL;
}

bool run_gate_try_close(void) {
  if (atomic_exchange(&closed, true)) return false;
  if (atomic_load(&inside) == (depth > 0)) return true;
  run_gate_open();
  return false;
}

void run_gate_open(void) {
  pthread_mutex_lock(&lock);
  atomic_store(&closed, false);
  pthread_cond_broadcast(&opened);
  pthread_mutex_unlock(&lock);
}

/* Of the threads, a process that was forked has the one that forked. */
void run_gate_forked(void) {
  pthread_mutex_init(&lock, NULL);
  pthread_cond_init(&opened, NULL);
  atomic_store(&closed, false);
  atomic_store(&inside, depth > 0);
  atomic_store(&users, uses_own);
}

/* ---- The instructions -------------------------------------------------------------------------- */

#if defined(__x86_64__)

enum { SIZE = 16, WORDS = 6, NO_STREAM = -1, ANY_STREAM = -2 };

/* Where a number leads. It is complete before `to` is set. */
static struct {
  _Atomic(void *) to;
  int stream; /* as in gated.def; ANY_STREAM: not known */
  bool own;   /* stream 0 is the thread's own */
} targets[NAMED + SPARE];
static size_t n_spare;
static atomic_bool full;

void *run_gate_pass(unsigned number, const uint64_t *words, const uint64_t *more);
extern const char run_gate_spare[];

/* Each is SIZE bytes long: its number, and a jump to what they share. That keeps the arguments, asks where to
 * go, copies the words that arguments on the stack may take, calls, and says when it has come back. */
__asm__(
    ".text\n"
    ".set run_gate_number, 0\n"
#define RUN_GATED(symbol, stream)                                                                            \
  ".globl " #symbol "\n.type " #symbol ", @function\n.balign 16\n" #symbol ":\n"                             \
  "  endbr64\n  movl $run_gate_number, %r11d\n  jmp run_gate_thunk\n"                                        \
  ".size " #symbol ", .-" #symbol "\n.set run_gate_number, run_gate_number + 1\n"
#include "run/gated.def"
    ".hidden run_gate_spare\n.globl run_gate_spare\n.balign 16\nrun_gate_spare:\n"
    ".rept 2048\n.balign 16\n"
    "  endbr64\n  movl $run_gate_number, %r11d\n  jmp run_gate_thunk\n"
    ".set run_gate_number, run_gate_number + 1\n"
    ".endr\n"
    ".type run_gate_thunk, @function\nrun_gate_thunk:\n"
    ".cfi_startproc\n"
    "  pushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\n"
    "  movq %rsp, %rbp\n.cfi_def_cfa_register 6\n"
    "  subq $176, %rsp\n"
    "  movq %rdi, (%rsp)\n  movq %rsi, 8(%rsp)\n  movq %rdx, 16(%rsp)\n"
    "  movq %rcx, 24(%rsp)\n  movq %r8, 32(%rsp)\n  movq %r9, 40(%rsp)\n"
    "  movups %xmm0, 48(%rsp)\n  movups %xmm1, 64(%rsp)\n  movups %xmm2, 80(%rsp)\n"
    "  movups %xmm3, 96(%rsp)\n  movups %xmm4, 112(%rsp)\n  movups %xmm5, 128(%rsp)\n"
    "  movups %xmm6, 144(%rsp)\n  movups %xmm7, 160(%rsp)\n"
    "  movl %r11d, %edi\n  movq %rsp, %rsi\n  leaq 16(%rbp), %rdx\n  call run_gate_pass\n  movq %rax, %r11\n"
    "  movq (%rsp), %rdi\n  movq 8(%rsp), %rsi\n  movq 16(%rsp), %rdx\n"
    "  movq 24(%rsp), %rcx\n  movq 32(%rsp), %r8\n  movq 40(%rsp), %r9\n"
    "  movups 48(%rsp), %xmm0\n  movups 64(%rsp), %xmm1\n  movups 80(%rsp), %xmm2\n"
    "  movups 96(%rsp), %xmm3\n  movups 112(%rsp), %xmm4\n  movups 128(%rsp), %xmm5\n"
    "  movups 144(%rsp), %xmm6\n  movups 160(%rsp), %xmm7\n"
    "  movq %rbp, %rsp\n"
    "  pushq 72(%rbp)\n  pushq 64(%rbp)\n  pushq 56(%rbp)\n  pushq 48(%rbp)\n"
    "  pushq 40(%rbp)\n  pushq 32(%rbp)\n  pushq 24(%rbp)\n  pushq 16(%rbp)\n"
    "  xorl %eax, %eax\n  call *%r11\n"
    "  movq %rax, (%rsp)\n  call run_gate_out\n  movq (%rsp), %rax\n"
    "  leave\n.cfi_def_cfa 7, 8\n  ret\n"
    ".cfi_endproc\n.size run_gate_thunk, .-run_gate_thunk\n");

static int absent(void) { return CU_NOT_SUPPORTED; }

/* CU_STREAM_PER_THREAD is 2. Arguments from WORDS on are on the stack. */
static bool is_own(unsigned number, const uint64_t *words, const uint64_t *more) {
  const int stream = targets[number].stream;
  bool any = targets[number].own;
  if (stream >= 0) return any || (stream < WORDS ? words[stream] : more[stream - WORDS]) == 2;
  for (int k = 0; stream == ANY_STREAM && k < WORDS; k++) any |= words[k] == 2;
  return any;
}

/* By its name; NULL: it has none. */
static int stream_of(const char *symbol) {
  for (size_t k = 0; symbol && k < NAMED; k++)
    if (strcmp(named[k].symbol, symbol) == 0) return named[k].stream;
  return !symbol || strstr(symbol, "Async") ? ANY_STREAM : NO_STREAM;
}

static void lead(unsigned number, void *to, const char *symbol) {
  targets[number].stream = stream_of(symbol);
  targets[number].own = !symbol || run_gate_is_own(symbol);
  atomic_store_explicit(&targets[number].to, to, memory_order_release);
}

void *run_gate_pass(unsigned number, const uint64_t *words, const uint64_t *more) {
  void *to = atomic_load_explicit(&targets[number].to, memory_order_acquire);
  if (!to && number < NAMED && (to = run_driver_symbol(named[number].symbol))) {
    pthread_mutex_lock(&lock);
    lead(number, to, named[number].symbol);
    pthread_mutex_unlock(&lock);
  }
  if (run_watches && to && is_own(number, words, more)) run_gate_own_stream();
  run_gate_in();
  int (*const none)(void) = absent;
  if (!to) memcpy(&to, &none, sizeof to);
  return to;
}

/* The number of what leads there; NAMED + SPARE: there is none left. */
static size_t number_of(void *to) {
  for (size_t k = 0; k < n_spare; k++)
    if (atomic_load_explicit(&targets[NAMED + k].to, memory_order_relaxed) == to) return NAMED + k;
  if (n_spare == SPARE) return NAMED + SPARE;
  Dl_info of;
  lead((unsigned)(NAMED + n_spare), to, dladdr(to, &of) && of.dli_saddr == to ? of.dli_sname : NULL);
  return NAMED + n_spare++;
}

void *run_gate_before(void *address) {
  if (!run_watches || !run_driver_has(address)) return address;
  pthread_mutex_lock(&lock);
  const size_t number = number_of(address);
  pthread_mutex_unlock(&lock);
  if (number == NAMED + SPARE) {
    atomic_store(&full, true);
    return address;
  }
  const char *const at = run_gate_spare + (number - NAMED) * SIZE;
  return (void *)(uintptr_t)at;
}

bool run_gate_is_whole(void) { return !atomic_load(&full); }

#else

void *run_gate_before(void *address) { return address; }
bool run_gate_is_whole(void) { return false; }

#endif
