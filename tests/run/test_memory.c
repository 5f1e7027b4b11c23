/* The program's allocations and streams, as its calls make and free them. */
#include "own_driver.h"

enum { KB = 1024 };

static void allocate(uint64_t at, uint64_t bytes) {
  cu_address out;
  own.address = at;
  assert_int_equal(run_cuMemAlloc_v2(&out, bytes), CU_SUCCESS);
  assert_int_equal(out, at);
}

static bool is_at(uint64_t address, uint64_t at, uint64_t bytes) {
  uint64_t found, of;
  return run_memory_find(address, &found, &of) && found == at && of == bytes;
}
static bool is_unknown(uint64_t address) {
  uint64_t at, bytes;
  return !run_memory_find(address, &at, &bytes);
}

/* Frees what a test has left. */
static void forget_all(void) {
  size_t n;
  run_range *all = run_memory_all(&n);
  assert_non_null(all);
  for (size_t k = 0; k < n; k++) run_cuMemUnmap(all[k].at, all[k].bytes);
  free(all);
}

static void an_allocation_is_known_from_its_first_byte_to_its_last(void **state) {
  allocate(4 * KB, KB);
  allocate(2 * KB, KB); /* below the first one */
  allocate(5 * KB, 8);  /* right behind it */
  assert_true(is_unknown(2 * KB - 1) && is_unknown(3 * KB) && is_unknown(4 * KB - 1));
  assert_true(is_at(2 * KB, 2 * KB, KB) && is_at(3 * KB - 1, 2 * KB, KB));
  assert_true(is_at(4 * KB, 4 * KB, KB) && is_at(5 * KB - 1, 4 * KB, KB));
  assert_true(is_at(5 * KB, 5 * KB, 8) && is_at(5 * KB + 7, 5 * KB, 8) && is_unknown(5 * KB + 8));
}

static void what_is_freed_is_not_known_any_more(void **state) {
  allocate(2 * KB, KB);
  allocate(4 * KB, KB);
  assert_int_equal(run_cuMemFree_v2(2 * KB), CU_SUCCESS);
  assert_true(is_unknown(2 * KB) && is_at(4 * KB, 4 * KB, KB));
  own.address = 8 * KB; /* all of a range of addresses at once */
  assert_int_equal(run_cuMemMap(8 * KB, KB, 0, 0, 0), CU_SUCCESS);
  assert_int_equal(run_cuMemMap(9 * KB, KB, 0, 0, 0), CU_SUCCESS);
  allocate(10 * KB, KB);
  assert_int_equal(run_cuMemUnmap(8 * KB, 2 * KB), CU_SUCCESS);
  size_t n;
  run_range *all = run_memory_all(&n);
  assert_int_equal(n, 2);
  assert_true(all[0].at == 4 * KB && all[1].at == 10 * KB);
  free(all);
}

static void a_call_that_fails_leaves_nothing(void **state) {
  cu_address out;
  own.address = 2 * KB;
  own.answer = OWN_REFUSES;
  assert_int_equal(run_cuMemAlloc_v2(&out, KB), OWN_REFUSES);
  assert_true(is_unknown(2 * KB));
}

/* A context that was destroyed has taken its memory with it unseen: what the driver gives then overlaps. */
static void what_the_driver_gives_again_replaces_what_was_there(void **state) {
  allocate(2 * KB, KB);
  allocate(3 * KB, KB);
  allocate(5 * KB, KB);
  own.context = 7;
  allocate(2 * KB + 512, KB);
  assert_true(is_unknown(2 * KB) && is_at(3 * KB, 2 * KB + 512, KB) && is_unknown(4 * KB - 1));
  assert_true(is_at(5 * KB, 5 * KB, KB));
  size_t n;
  run_range *all = run_memory_all(&n);
  assert_int_equal(n, 2);
  assert_true(all[0].context == 7 && all[1].context == 1);
  free(all);
}

/* Any allocations and frees of 64 places: what is known is what is there, in order. */
static void the_list_is_what_is_allocated_in_order(void **state) {
  enum { PLACES = 64, STEPS = 4000 };
  bool there[PLACES] = {false};
  uint32_t draw = 1;
  for (int step = 0; step < STEPS; step++) {
    draw = draw * 1664525 + 1013904223;
    const uint64_t place = draw >> 26, at = (1 + place) * KB;
    if (there[place])
      assert_int_equal(run_cuMemFree_v2(at), CU_SUCCESS);
    else
      allocate(at, KB - place);
    there[place] = !there[place];
    size_t n, k = 0;
    run_range *all = run_memory_all(&n);
    for (uint64_t i = 0; i < PLACES; i++) {
      if (there[i]) assert_true(k < n && all[k].at == (1 + i) * KB && all[k++].bytes == KB - i);
      if (there[i] == is_unknown((1 + i) * KB)) fail_msg("step %d: place %d", step, (int)i);
    }
    assert_int_equal(k, n);
    free(all);
  }
}

/* bypass=ro: what a kernel reads past the caches is in no allocation that it writes. */
static void memory_is_apart_only_where_every_address_is_known(void **state) {
  allocate(2 * KB, KB);
  allocate(4 * KB, KB);
  allocate(6 * KB, KB);
  const uint64_t a[] = {2 * KB, 4 * KB + 100}, b[] = {6 * KB + 1023}, within[] = {4 * KB + 8},
                 nowhere[] = {7 * KB};
  assert_true(run_memory_is_apart(a, 2, b, 1));
  assert_true(run_memory_is_apart(a, 2, NULL, 0));
  assert_false(run_memory_is_apart(a, 2, within, 1)); /* another address of the same allocation */
  assert_false(run_memory_is_apart(nowhere, 1, b, 1));
  assert_false(run_memory_is_apart(nowhere, 1, NULL, 0));
  assert_false(run_memory_is_apart(a, 2, nowhere, 1));
}

static int own_host(void *host, size_t bytes, unsigned flags) {
  (void)host, (void)bytes, (void)flags;
  return CU_SUCCESS;
}
static int own_managed(cu_address *address, size_t bytes, unsigned flags) {
  (void)flags;
  return own_cuMemAlloc(address, bytes);
}
static int own_map(cu_address at, size_t bytes, size_t offset, cu_physical memory, unsigned long long flags) {
  (void)at, (void)bytes, (void)offset, (void)memory, (void)flags;
  return CU_SUCCESS;
}
static int own_unmap(cu_address at, size_t bytes) {
  (void)at, (void)bytes;
  return CU_SUCCESS;
}

/* The host, or another address, may write the others meanwhile. */
static void memory_that_others_reach_is_never_apart(void **state) {
  cu_address managed;
  const uint64_t host = 16 * KB, mapped = 32 * KB, own_memory = 2 * KB;
  allocate(own_memory, KB);
  own.address = 8 * KB;
  assert_int_equal(run_cuMemAllocManaged(&managed, KB, 1), CU_SUCCESS);
  assert_int_equal(run_cuMemHostRegister_v2((void *)(uintptr_t)host, KB, 0), CU_SUCCESS);
  assert_int_equal(run_cuMemMap(mapped, KB, 0, 0, 0), CU_SUCCESS);
  const uint64_t others[] = {managed, host, mapped};
  for (int k = 0; k < 3; k++) {
    assert_false(run_memory_is_apart(&others[k], 1, &own_memory, 1));
    assert_false(run_memory_is_apart(&own_memory, 1, &others[k], 1));
    assert_true(is_unknown(others[k]));
  }
  size_t n; /* they are in the list, which says what they are */
  run_range *all = run_memory_all(&n);
  assert_int_equal(n, 4);
  assert_true(all[1].kind == RUN_MEMORY_MANAGED && all[2].kind == RUN_MEMORY_HOST && all[3].mapped);
  free(all);
}

static int own_pitch(cu_address *address, size_t *pitch, size_t width, size_t height, unsigned element) {
  (void)element;
  *pitch = (width + 511) / 512 * 512;
  return own_cuMemAlloc(address, *pitch * height);
}

static void rows_are_as_long_as_the_driver_made_them(void **state) {
  cu_address at;
  size_t pitch;
  own.address = 2 * KB;
  assert_int_equal(run_cuMemAllocPitch_v2(&at, &pitch, 100, 3, 4), CU_SUCCESS);
  assert_true(is_at(2 * KB, 2 * KB, 3 * 512));
}

static int own_async(cu_address *address, size_t bytes, cu_stream stream) {
  (void)stream;
  return own_cuMemAlloc(address, bytes);
}

/* Its graph allocates it, whenever that runs. */
static void what_a_capture_allocates_is_not_there(void **state) {
  cu_address at;
  const cu_stream stream = own_stream(0);
  own.address = 2 * KB;
  own.streams[own_number(stream)].status = CU_CAPTURE_STATUS_ACTIVE;
  assert_int_equal(run_cuMemAllocAsync(&at, KB, stream), CU_SUCCESS);
  assert_true(is_unknown(2 * KB));
  own.streams[own_number(stream)].status = CU_CAPTURE_STATUS_NONE;
  assert_int_equal(run_cuMemAllocAsync(&at, KB, stream), CU_SUCCESS);
  assert_true(is_at(2 * KB, 2 * KB, KB));
}

static void streams_are_listed_until_they_or_their_context_go(void **state) {
  const cu_stream first = own_stream(0), second = own_stream(CU_STREAM_NON_BLOCKING);
  own.context = 2;
  const cu_stream third = own_stream(0);
  assert_true(run_stream_of(first).blocks && run_stream_of(first).context == 1);
  assert_false(run_stream_of(second).blocks);
  assert_int_equal(run_stream_of(third).context, 2);
  const run_stream unknown = run_stream_of((cu_stream)(uintptr_t)50);
  assert_true(unknown.blocks && unknown.context == 0);
  size_t n;
  run_stream *all = run_streams_all(&n);
  assert_int_equal(n, 5); /* the two default streams are there before all */
  assert_true(all[0].handle == CU_STREAM_LEGACY && all[1].handle == CU_STREAM_PER_THREAD);
  free(all);
  run_stream_gone(first);
  run_streams_gone(2);
  all = run_streams_all(&n);
  assert_int_equal(n, 3);
  assert_true(all[2].handle == second);
  free(all);
}

static void a_program_that_is_not_watched_is_not_noted(void **state) {
  run_tracks = false;
  allocate(2 * KB, KB);
  own_stream(0);
  size_t n;
  run_range *all = run_memory_all(&n);
  assert_int_equal(n, 0);
  free(all);
  free(run_streams_all(&n));
  assert_int_equal(n, 2);
}

static int own_share(cu_ipc *handle, cu_address address) {
  (void)handle, (void)address;
  return own_call();
}

/* The last one: what another process has once it may have for good. */
static void memory_that_another_process_was_given_stays_shared(void **state) {
  cu_ipc handle;
  assert_false(run_memory_is_shared());
  own.answer = OWN_REFUSES;
  run_cuIpcGetMemHandle(&handle, 2 * KB);
  assert_false(run_memory_is_shared());
  own.answer = CU_SUCCESS;
  run_cuIpcGetMemHandle(&handle, 2 * KB);
  assert_true(run_memory_is_shared());
}

static int begin(void **state) {
  (void)state;
  own_begin();
  run_real.cuMemHostRegister_v2 = own_host;
  run_real.cuMemAllocManaged = own_managed;
  run_real.cuMemMap = own_map;
  run_real.cuMemUnmap = own_unmap;
  run_real.cuMemAllocPitch_v2 = own_pitch;
  run_real.cuMemAllocAsync = own_async;
  run_real.cuIpcGetMemHandle = own_share;
  forget_all();
  for (unsigned long long context = 1; context < 3; context++) run_streams_gone(context);
  return 0;
}

int main(void) {
#define OF(text, fn)                                                                                         \
  { text, fn, begin, NULL, NULL }
  const struct CMUnitTest tests[] = {
      OF("an allocation is known from its first byte to its last",
         an_allocation_is_known_from_its_first_byte_to_its_last),
      OF("what is freed is not known any more", what_is_freed_is_not_known_any_more),
      OF("a call that fails leaves nothing", a_call_that_fails_leaves_nothing),
      OF("what the driver gives again replaces what was there",
         what_the_driver_gives_again_replaces_what_was_there),
      OF("the list is what is allocated, in order", the_list_is_what_is_allocated_in_order),
      OF("memory is apart only where every address is known",
         memory_is_apart_only_where_every_address_is_known),
      OF("memory that others reach is never apart", memory_that_others_reach_is_never_apart),
      OF("rows are as long as the driver made them", rows_are_as_long_as_the_driver_made_them),
      OF("what a capture allocates is not there", what_a_capture_allocates_is_not_there),
      OF("streams are listed until they or their context go",
         streams_are_listed_until_they_or_their_context_go),
      OF("a program that is not watched is not noted", a_program_that_is_not_watched_is_not_noted),
      OF("memory that another process was given stays shared",
         memory_that_another_process_was_given_stays_shared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
