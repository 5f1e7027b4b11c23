/* Streams under capture, as heddle sees captures begin, spread and end. */
#include "own_driver.h"

#define STREAM_OF(number) ((cu_stream)(uintptr_t)(number))

static int own_begin_capture(cu_stream stream) {
  const int r = own_call();
  if (r != CU_SUCCESS) return r;
  own.streams[own_number(stream)].status = CU_CAPTURE_STATUS_ACTIVE;
  own.streams[own_number(stream)].capture = ++own.captures;
  return r;
}

/* It ends the capture for all streams that are in it. */
static int own_end_capture(cu_stream stream, cu_graph *graph) {
  const int r = own_call();
  const uint64_t capture = own.streams[own_number(stream)].capture;
  if (r != CU_SUCCESS) return r;
  for (unsigned k = 0; k < OWN_STREAMS; k++)
    if (own.streams[k].capture == capture) own.streams[k].status = CU_CAPTURE_STATUS_NONE;
  *graph = NULL;
  return r;
}

static int own_wait(cu_stream stream, cu_event event, unsigned flags) {
  (void)flags;
  const unsigned from = own_number((cu_stream)(void *)event), to = own_number(stream);
  if (own.streams[from].status != CU_CAPTURE_STATUS_ACTIVE) return CU_SUCCESS;
  own.streams[to].status = CU_CAPTURE_STATUS_ACTIVE;
  own.streams[to].capture = own.streams[from].capture;
  return CU_SUCCESS;
}

static int begin(void **state) {
  (void)state;
  own_begin();
  run_real.cuStreamBeginCapture = own_begin_capture;
  run_real.cuStreamEndCapture = own_end_capture;
  run_real.cuStreamWaitEvent = own_wait;
  own.frozen = run_legacy_is_frozen;
  run_captures_forked(); /* which knows of no capture */
  for (unsigned long long context = 1; context < 3; context++) run_streams_gone(context);
  return 0;
}

/* What is asked of the legacy stream while that is frozen the driver answers with an error. */
static int end(void **state) {
  (void)state;
  return own.bad;
}

static void capture(cu_stream stream) { assert_int_equal(run_cuStreamBeginCapture(stream), CU_SUCCESS); }
static void stop(cu_stream stream) {
  cu_graph graph;
  assert_int_equal(run_cuStreamEndCapture(stream, &graph), CU_SUCCESS);
}
static void draw_in(cu_stream stream, cu_stream by) {
  assert_int_equal(run_cuStreamWaitEvent(stream, (cu_event)(void *)by, 0), CU_SUCCESS);
}

static void a_stream_that_was_idle_as_its_capture_began_still_is(void **state) {
  const cu_stream stream = own_stream(CU_STREAM_NON_BLOCKING);
  assert_false(run_capture_began_idle(stream, false));
  capture(stream);
  assert_true(run_capture_began_idle(stream, false));
  stop(stream);
  assert_false(run_capture_began_idle(stream, false));
}

static void a_stream_with_work_is_not_known_to_be_idle(void **state) {
  const cu_stream stream = own_stream(0);
  own.streams[own_number(stream)].busy = true;
  capture(stream);
  own.streams[own_number(stream)].busy = false; /* it may be: nobody can ask any more */
  assert_false(run_capture_began_idle(stream, false));
}

static void a_capture_that_the_driver_refuses_did_not_begin(void **state) {
  const cu_stream stream = own_stream(0);
  own.answer = OWN_REFUSES;
  assert_int_equal(run_cuStreamBeginCapture(stream), OWN_REFUSES);
  own.answer = CU_SUCCESS;
  own.streams[own_number(stream)].status = CU_CAPTURE_STATUS_ACTIVE; /* another one, unseen */
  assert_false(run_capture_began_idle(stream, false));
  assert_false(run_legacy_is_frozen());
}

/* The legacy stream was idle when a blocking one began; a stream that does not block it says nothing of it.
 */
static void the_legacy_stream_is_idle_if_it_was_as_a_blocking_capture_began(void **state) {
  const cu_stream blocks = own_stream(0), apart = own_stream(CU_STREAM_NON_BLOCKING);
  capture(apart);
  assert_false(run_capture_began_idle(apart, true));
  capture(blocks);
  assert_true(run_capture_began_idle(blocks, true));
  stop(blocks);
  own.streams[(uintptr_t)CU_STREAM_LEGACY].busy = true;
  capture(blocks);
  assert_true(run_capture_began_idle(blocks, false));
  assert_false(run_capture_began_idle(blocks, true));
}

static void the_legacy_stream_is_frozen_by_blocking_streams_of_its_context(void **state) {
  const cu_stream blocks = own_stream(0), apart = own_stream(CU_STREAM_NON_BLOCKING);
  capture(apart);
  assert_false(run_legacy_is_frozen());
  capture(blocks);
  assert_true(run_legacy_is_frozen());
  own.context = 2;
  capture(own_stream(CU_STREAM_NON_BLOCKING));
  assert_false(run_legacy_is_frozen());
  own.context = 0; /* not known: it may be that one */
  assert_true(run_legacy_is_frozen());
  own.context = 1;
  stop(blocks);
  assert_false(run_legacy_is_frozen());
  capture(STREAM_OF(50)); /* one that was made unseen: it may block any context's */
  own.context = 2;
  assert_true(run_legacy_is_frozen());
}

static void a_stream_that_an_event_draws_in_leaves_with_the_capture(void **state) {
  const cu_stream first = own_stream(CU_STREAM_NON_BLOCKING), second = own_stream(0),
                  third = own_stream(CU_STREAM_NON_BLOCKING);
  capture(first);
  draw_in(second, first);
  assert_true(run_capture_began_idle(second, true) && run_legacy_is_frozen());
  own.streams[own_number(third)].busy = true;
  draw_in(third, second);
  assert_false(run_capture_began_idle(third, false));
  stop(first);
  assert_false(run_legacy_is_frozen());
  for (unsigned k = own_number(first); k <= own_number(third); k++) { /* others begin, unseen */
    own.streams[k].status = CU_CAPTURE_STATUS_ACTIVE;
    assert_false(run_capture_began_idle(STREAM_OF(k), false));
  }
}

/* A second stream that blocks finds the legacy one frozen, and cannot ask; the first did. */
static void what_one_stream_knows_of_the_legacy_one_holds_for_its_capture(void **state) {
  const cu_stream first = own_stream(0), second = own_stream(0), other = own_stream(0);
  capture(first);
  draw_in(second, first);
  assert_true(run_capture_began_idle(second, true));
  capture(other);
  assert_true(run_capture_began_idle(other, false));
  assert_false(run_capture_began_idle(other, true));
  const cu_stream drawn = own_stream(0);
  draw_in(drawn, other);
  assert_true(run_capture_began_idle(drawn, false));
  assert_false(run_capture_began_idle(drawn, true));
}

/* The driver ended the first capture in a call that heddle does not see, and another stream's work began. */
static void a_capture_that_ended_unseen_says_nothing_of_the_next(void **state) {
  const cu_stream stream = own_stream(0);
  capture(stream);
  own.streams[own_number(stream)].capture = ++own.captures;
  assert_false(run_capture_began_idle(stream, false));
  own.streams[own_number(stream)].status = CU_CAPTURE_STATUS_NONE;
  own.streams[own_number(stream)].busy = true;
  capture(stream);
  assert_false(run_capture_began_idle(stream, false));
}

static void a_capture_that_cannot_be_ended_goes_on(void **state) {
  const cu_stream stream = own_stream(0);
  cu_graph graph;
  capture(stream);
  own.answer = OWN_REFUSES;
  assert_int_equal(run_cuStreamEndCapture(stream, &graph), OWN_REFUSES);
  own.answer = CU_SUCCESS;
  assert_true(run_capture_began_idle(stream, true) && run_legacy_is_frozen());
  stop(stream);
  assert_false(run_legacy_is_frozen());
}

static void streams_that_go_leave_their_captures(void **state) {
  const cu_stream first = own_stream(0), second = own_stream(0);
  capture(first);
  run_stream_gone(first);
  assert_false(run_legacy_is_frozen());
  capture(second);
  run_streams_gone(2);
  assert_true(run_legacy_is_frozen());
  run_streams_gone(1);
  assert_false(run_legacy_is_frozen());
}

static void a_threads_mode_is_what_it_was_before(void **state) {
  for (int mode = CU_CAPTURE_MODE_GLOBAL; mode <= CU_CAPTURE_MODE_RELAXED; mode++) {
    own.mode = mode;
    const int was = run_captures_relax();
    assert_int_equal(own.mode, CU_CAPTURE_MODE_RELAXED);
    run_captures_restore(was);
    assert_int_equal(own.mode, mode);
    capture(own_stream(0)); /* which asks in the relaxed mode */
    assert_int_equal(own.mode, mode);
  }
}

int main(void) {
#define OF(text, fn)                                                                                         \
  { text, fn, begin, end, NULL }
  const struct CMUnitTest tests[] = {
      OF("a stream that was idle as its capture began still is",
         a_stream_that_was_idle_as_its_capture_began_still_is),
      OF("a stream with work is not known to be idle", a_stream_with_work_is_not_known_to_be_idle),
      OF("a capture that the driver refuses did not begin", a_capture_that_the_driver_refuses_did_not_begin),
      OF("the legacy stream is idle if it was as a blocking capture began",
         the_legacy_stream_is_idle_if_it_was_as_a_blocking_capture_began),
      OF("the legacy stream is frozen by blocking streams of its context",
         the_legacy_stream_is_frozen_by_blocking_streams_of_its_context),
      OF("a stream that an event draws in leaves with the capture",
         a_stream_that_an_event_draws_in_leaves_with_the_capture),
      OF("what one stream knows of the legacy one holds for its capture",
         what_one_stream_knows_of_the_legacy_one_holds_for_its_capture),
      OF("a capture that ended unseen says nothing of the next",
         a_capture_that_ended_unseen_says_nothing_of_the_next),
      OF("a capture that cannot be ended goes on", a_capture_that_cannot_be_ended_goes_on),
      OF("streams that go leave their captures", streams_that_go_leave_their_captures),
      OF("a thread's mode is what it was before", a_threads_mode_is_what_it_was_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
