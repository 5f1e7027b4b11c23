/* Rewritten kernels in contexts: getting ready, their states, and what the program sees of their memory. */
#include "own_driver.h"

#include <stdio.h>

enum { STATE = 100, ROOM = 256 /* that a state takes */, TASKS = 6, SMS = 4, FUNCTION = 0x1000 };

static unsigned libraries; /* that are loaded */
static int set_of, set_to; /* the last attribute */

/* ---- The driver: kernels ------------------------------------------------------------------------- */

static int own_device(cu_device *device) {
  *device = 0;
  return own_call();
}
static int own_fill(cu_address to, uint8_t value, size_t n, cu_stream stream) {
  const int r = own_call();
  if (r == CU_SUCCESS) memset((void *)(uintptr_t)to, value, n);
  return r;
}
static int own_copy(cu_address to, const void *from, size_t n, cu_stream stream) {
  const int r = own_call();
  if (r == CU_SUCCESS) memcpy((void *)(uintptr_t)to, from, n);
  return r;
}
static int own_load(cu_library *library, const void *code, int *jit, void **jit_values, unsigned n_jit,
                    int *options, void **values, unsigned n) {
  const int r = own_call();
  libraries += r == CU_SUCCESS;
  *library = (cu_library)(uintptr_t)FUNCTION;
  return r;
}
static int own_unload(cu_library library) {
  assert_true(libraries > 0);
  libraries--;
  return CU_SUCCESS;
}
static int own_kernel(cu_function *kernel, cu_library library, const char *name) {
  *kernel = (cu_function)(uintptr_t)(FUNCTION + 1);
  return own_call();
}
static int own_function(cu_function *function, cu_function kernel) {
  *function = (cu_function)(uintptr_t)(FUNCTION + 2);
  return own_call();
}
static int own_original(cu_function *function, cu_module module, const char *name) {
  *function = (cu_function)(uintptr_t)(FUNCTION + 3);
  return own_call();
}
static int own_ask(int *value, int attribute, cu_function function) {
  *value = 32;
  return own_call();
}
static int own_set(cu_function function, int attribute, int value) {
  set_of = attribute;
  set_to = value;
  return own_call();
}
static int own_version(int *version) {
  *version = 12080;
  return own_call();
}
static int own_ordinal(cu_device *device, int ordinal) {
  *device = ordinal;
  return own_call();
}
static int own_name(char *name, int cap, cu_device device) {
  snprintf(name, (size_t)cap, "GPU");
  return own_call();
}
static int own_attribute(int *value, int attribute, cu_device device) {
  *value = attribute == CU_ATTR_SMS ? SMS : 9;
  return own_call();
}
static int own_wait(void) { return CU_SUCCESS; }
static int own_end(cu_context context) { return CU_SUCCESS; }
enum { LEFT = 1000, TOTAL = 100000 };
static int own_memory(size_t *left, size_t *total) {
  *left = LEFT;
  *total = TOTAL;
  return CU_SUCCESS;
}

/* ---- A kernel, and its variant ------------------------------------------------------------------- */

static uint32_t order[TASKS] = {3, 1, 0, 5, 4, 2};
static run_module module;
static run_kernel kernel;
static run_variant variant;

static int begin(void **state) {
  own_begin();
  run_real.cuCtxGetDevice = own_device;
  run_real.cuMemsetD8Async = own_fill;
  run_real.cuMemcpyHtoDAsync_v2 = own_copy;
  run_real.cuLibraryLoadData = own_load;
  run_real.cuLibraryUnload = own_unload;
  run_real.cuLibraryGetKernel = own_kernel;
  run_real.cuKernelGetFunction = own_function;
  run_real.cuModuleGetFunction = own_original;
  run_real.cuFuncGetAttribute = own_ask;
  run_real.cuFuncSetAttribute = own_set;
  run_real.cuDriverGetVersion = own_version;
  run_real.cuDeviceGet = own_ordinal;
  run_real.cuDeviceGetName = own_name;
  run_real.cuDeviceGetAttribute = own_attribute;
  run_real.cuCtxSynchronize = own_wait;
  run_real.cuCtxDestroy_v2 = own_end;
  run_real.cuMemGetInfo_v2 = own_memory;
  libraries = 0;
  set_of = set_to = -1;
  variant = (run_variant){.kernel = &kernel,
                          .text = (char *)(uintptr_t) "text",
                          .table = {order, TASKS},
                          .recipe = {.state_bytes = STATE, .table_bytes = sizeof order}};
  kernel = (run_kernel){.module = &module, .name = (char *)(uintptr_t) "k", .variants = &variant};
  module = (run_module){.kernels = &kernel};
  run_modules = &module;
  return 0;
}

static void free_places(void) {
  for (run_place *p = atomic_exchange(&variant.places, NULL), *next; p; p = next) {
    next = p->next;
    run_place_free_memory(p);
    run_place_free(p);
  }
}

static int end(void **state) {
  free_places();
  run_modules = NULL;
  return own.held != 0; /* all that was allocated is freed */
}

static run_place *ready(void) {
  run_place *p = run_place_try(&variant);
  assert_non_null(p);
  return p;
}

static cu_stream stream_of(unsigned number) { return (cu_stream)(uintptr_t)(1024 + 64 * number); }

/* ---- Getting ready -------------------------------------------------------------------------------- */

static void a_place_has_its_table_and_its_states_all_zero(void **state) {
  const run_place *p = ready();
  assert_memory_equal((const void *)(uintptr_t)p->table, order, sizeof order);
  assert_int_equal(p->state_bytes, ROOM);
  const unsigned char *states = (const unsigned char *)(uintptr_t)p->states;
  for (int k = 0; k < RUN_STATES * ROOM; k++) assert_int_equal(states[k], 0);
  assert_int_equal(p->bytes, sizeof order + RUN_STATES * ROOM);
  assert_int_equal(p->n_sms, SMS);
}

/* Whichever call of the driver's fails: the original is launched from then on, and nothing is left but the
 * library, which is the variant's. */
static void a_place_that_does_not_get_ready_leaves_nothing(void **state) {
  unsigned failed = 0;
  for (unsigned n = 1;; n++) {
    begin(state);
    own.left = n;
    const run_place *p = run_place_try(&variant);
    const bool all = own.left > 0;
    own.left = 0;
    if (p)
      free_places(); /* it can do without */
    else if (++failed && (own.held || !atomic_load(&variant.off)))
      fail_msg("call %u fails: %u allocations are left", n, own.held);
    assert_int_equal(own.held, 0);
    assert_int_equal(libraries, variant.library != NULL);
    if (all) break;
  }
  assert_true(failed > 10);
}

static void a_table_of_another_size_is_not_launched(void **state) {
  variant.table.n--;
  assert_null(run_place_try(&variant));
  assert_int_equal(own.held, 0);
}

static void a_place_is_of_the_context_that_it_was_made_in(void **state) {
  const run_place *first = ready();
  assert_ptr_equal(run_place_of(&variant), first);
  own.context = 2;
  assert_null(run_place_of(&variant));
  const run_place *second = ready();
  assert_ptr_equal(run_place_of(&variant), second);
  assert_int_equal(libraries, 1); /* a library is of all contexts */
  own.context = 1;
  assert_ptr_equal(run_place_of(&variant), first);
  assert_int_equal(run_cuCtxDestroy_v2((cu_context)(uintptr_t)1), CU_SUCCESS);
  assert_null(run_place_of(&variant));
  own.context = 2;
  assert_ptr_equal(run_place_of(&variant), second);
}

static void what_the_program_sets_holds_for_the_variant(void **state) {
  enum { SHARED = 8, BYTES = 65536 };
  run_place_set(&kernel, SHARED, BYTES); /* before it is ready, */
  ready();
  assert_true(set_of == SHARED && set_to == BYTES);
  run_place_set(&kernel, SHARED, BYTES / 2); /* and after */
  assert_true(set_of == SHARED && set_to == BYTES / 2);
  assert_false(atomic_load(&variant.off));
  own.answer = OWN_REFUSES;
  run_place_set(&kernel, SHARED, BYTES);
  assert_true(atomic_load(&variant.off));
}

/* ---- States --------------------------------------------------------------------------------------- */

static void each_stream_has_a_state_of_its_own(void **state) {
  run_place *p = ready();
  uint64_t has[RUN_STATES];
  has[0] = run_place_state(p, NULL, 0);
  has[1] = run_place_state(p, NULL, 5); /* a thread's own default stream, */
  has[2] = run_place_state(p, NULL, 6); /* and another thread's */
  for (unsigned k = 3; k < RUN_STATES; k++) has[k] = run_place_state(p, stream_of(k), 0);
  for (unsigned k = 0; k < RUN_STATES; k++) {
    assert_true(has[k] >= p->states && has[k] + ROOM <= p->states + RUN_STATES * ROOM);
    for (unsigned i = 0; i < k; i++) assert_true(has[i] + ROOM <= has[k] || has[k] + ROOM <= has[i]);
  }
  assert_int_equal(run_place_state(p, stream_of(RUN_STATES), 0), 0); /* there is none left */
  assert_int_equal(run_place_state(p, CU_STREAM_LEGACY, 0), has[0]);
  assert_int_equal(run_place_state(p, NULL, 6), has[2]);
  assert_int_equal(run_place_state(p, stream_of(7), 0), has[7]);
}

static void leave(cu_stream stream) { assert_int_equal(run_cuStreamDestroy_v2(stream), CU_SUCCESS); }
static int own_leave(cu_stream stream) { return CU_SUCCESS; }

/* Its last launch may go on when a stream is destroyed: the state is another's after a wait that began later,
 * for that context. */
static void a_state_is_another_streams_once_its_launches_are_over(void **state) {
  run_place *p = ready();
  run_real.cuStreamDestroy_v2 = own_leave;
  for (unsigned k = 0; k < RUN_STATES; k++) assert_true(run_place_state(p, stream_of(k), 0) != 0);
  const uint64_t was = run_place_state(p, stream_of(9), 0);
  leave(stream_of(9));
  assert_int_equal(run_place_state(p, stream_of(9), 0), 0); /* the same handle, of another stream */
  own.context = 2;
  assert_int_equal(run_cuCtxSynchronize(), CU_SUCCESS);
  assert_int_equal(run_place_state(p, stream_of(99), 0), 0);
  own.context = 1;
  assert_int_equal(run_cuCtxSynchronize(), CU_SUCCESS);
  assert_int_equal(run_place_state(p, stream_of(99), 0), was);
}

/* What goes while the program waits: a stream that another thread destroys, and a node's state. */
static cu_stream leaves;
static run_place *place;
static uint64_t node;
static int own_wait_meanwhile(void) {
  leave(leaves);
  run_place_take_back(place, node, false);
  return CU_SUCCESS;
}

static void a_wait_that_began_before_a_stream_went_says_nothing_of_it(void **state) {
  run_place *p = place = ready();
  run_real.cuStreamDestroy_v2 = own_leave;
  for (unsigned k = 0; k < RUN_STATES; k++) assert_true(run_place_state(p, stream_of(k), 0) != 0);
  for (unsigned k = 0; k < RUN_STATES; k++) node = run_place_lend(p);
  leaves = stream_of(3);
  run_real.cuCtxSynchronize = own_wait_meanwhile;
  assert_int_equal(run_cuCtxSynchronize(), CU_SUCCESS);
  assert_int_equal(run_place_state(p, stream_of(99), 0), 0);
  assert_true(run_place_lend(p) != node);
  run_real.cuCtxSynchronize = own_wait;
  assert_int_equal(run_cuCtxSynchronize(), CU_SUCCESS);
  assert_true(run_place_state(p, stream_of(99), 0) != 0);
  bool again = false;
  while (p->lots.idle.n) again = run_place_lend(p) == node || again;
  assert_true(again);
}

static void nodes_of_graphs_get_states_until_there_is_no_room(void **state) {
  enum { MOST = 32 * RUN_STATES };
  static uint64_t lent[MOST];
  run_place *p = ready();
  for (unsigned k = 0; k < MOST; k++) {
    lent[k] = run_place_lend(p);
    assert_true(lent[k] != 0);
    unsigned char *bytes = (unsigned char *)(uintptr_t)lent[k];
    for (int i = 0; i < ROOM; i++) assert_int_equal(bytes[i], 0); /* no one else's */
    memset(bytes, 1, ROOM);
  }
  assert_int_equal(run_place_lend(p), 0);
  run_place_take_back(p, lent[5], true);
  assert_int_equal(run_place_lend(p), lent[5]);
  run_place_take_back(p, lent[6], false); /* a launch that has it may go on */
  assert_int_equal(run_place_lend(p), 0);
  assert_int_equal(run_cuCtxSynchronize(), CU_SUCCESS);
  assert_int_equal(run_place_lend(p), lent[6]);
}

/* A GPU that works may wait for what the program does next. */
static void states_of_nodes_are_made_only_while_the_gpu_is_idle(void **state) {
  run_place *p = ready();
  const unsigned held = own.held;
  own.streams[(uintptr_t)CU_STREAM_LEGACY].busy = true;
  assert_int_equal(run_place_lend(p), 0);
  assert_int_equal(own.held, held);
  own.streams[(uintptr_t)CU_STREAM_LEGACY].busy = false;
  own.left = 3; /* a stream, memory, zeros */
  assert_int_equal(run_place_lend(p), 0);
  assert_int_equal(own.held, held);
  assert_true(run_place_lend(p) != 0);
  assert_int_equal(own.mode, CU_CAPTURE_MODE_GLOBAL); /* the thread's mode of captures is as it was */
}

/* ---- Memory --------------------------------------------------------------------------------------- */

static void memory_of_heddles_counts_as_free(void **state) {
  size_t left, total;
  const run_place *p = ready();
  assert_int_equal(run_cuMemGetInfo_v2(&left, &total), CU_SUCCESS);
  assert_int_equal(left, LEFT + p->bytes);
  own.context = 2;
  ready();
  run_cuMemGetInfo_v2(&left, &total);
  assert_int_equal(left, LEFT + 2 * p->bytes);
  run_cuCtxDestroy_v2((cu_context)(uintptr_t)1); /* which took its own with it */
  run_cuMemGetInfo_v2(&left, &total);
  assert_int_equal(left, LEFT + p->bytes);
  atomic_load(&variant.places)->bytes = 2 * TOTAL; /* never more than there is */
  run_cuMemGetInfo_v2(&left, &total);
  assert_int_equal(left, TOTAL);
}

int main(void) {
#define OF(text, fn)                                                                                         \
  { text, fn, begin, end, NULL }
  const struct CMUnitTest tests[] = {
      OF("a place has its table, and its states all zero", a_place_has_its_table_and_its_states_all_zero),
      OF("a place that does not get ready leaves nothing", a_place_that_does_not_get_ready_leaves_nothing),
      OF("a table of another size is not launched", a_table_of_another_size_is_not_launched),
      OF("a place is of the context that it was made in", a_place_is_of_the_context_that_it_was_made_in),
      OF("what the program sets holds for the variant", what_the_program_sets_holds_for_the_variant),
      OF("each stream has a state of its own", each_stream_has_a_state_of_its_own),
      OF("a state is another stream's once its launches are over",
         a_state_is_another_streams_once_its_launches_are_over),
      OF("a wait that began before a stream went says nothing of it",
         a_wait_that_began_before_a_stream_went_says_nothing_of_it),
      OF("nodes of graphs get states until there is no room",
         nodes_of_graphs_get_states_until_there_is_no_room),
      OF("states of nodes are made only while the GPU is idle",
         states_of_nodes_are_made_only_while_the_gpu_is_idle),
      OF("memory of heddle's counts as free", memory_of_heddles_counts_as_free),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
