/* What calls answer while a stream is captured, and how the capture ends: as a driver of a GPU was measured
 * to do, in every mode, from the thread that captures and from another one. */
// check: none
#include "made.h"

static void host_function(void *data) { (void)data; }

static cu_address batch_to[1], batch_from[1];
static size_t batch_bytes[1] = {64}, batch_of[1];
static int batch_attributes[16] = {1}; /* in the stream's order */

#define MEASURED(beside, behind, ...)                                                                        \
  static cu_result JOIN(call_, __LINE__)(void) { return __VA_ARGS__; }
#include "measured_captures.def"
#undef MEASURED

static const struct {
  const char *answers[2], *text; /* beside streams that do not block, and ones that do */
  cu_result (*make)(void);
} calls[] = {
#define MEASURED(beside, behind, ...) {{beside, behind}, #__VA_ARGS__, JOIN(call_, __LINE__)},
#include "measured_captures.def"
#undef MEASURED
};

static const struct {
  char letter;
  cu_result result;
} results[] = {{'.', CU_SUCCESS},          {'U', CU_CAPTURE_UNSUPPORTED}, {'E', CU_CAPTURED_EVENT},
               {'M', CU_CAPTURE_IMPLICIT}, {'I', CU_CAPTURE_ISOLATION},   {'G', CU_CAPTURE_MERGE},
               {'S', CU_ILLEGAL_STATE},    {'V', CU_INVALID_VALUE}};

static void *make(void *arg) {
  static cu_result r;
  OK(cudaSetDevice(0));
  r = calls[*(const size_t *)arg].make();
  return &r;
}

static cu_result made_by(size_t call, bool other) {
  pthread_t t;
  void *r = NULL;
  if (other)
    require(!pthread_create(&t, NULL, make, &call) && !pthread_join(t, &r), "a thread");
  else
    r = make(&call);
  return *(const cu_result *)r;
}

static char letter_of(cu_result r) {
  for (size_t k = 0; k < LENGTH(results); k++)
    if (results[k].result == r) return results[k].letter;
  return '?';
}

enum { WAYS = 2 * MODES }; /* the modes, from the thread that captures, and then from another one */

/* The call's answer as the table writes it. */
static char answer(size_t call, int way, bool behind) {
  cu_graph graph = NULL;
  set_up(behind ? 0 : CU_STREAM_NON_BLOCKING);
  batch_to[0] = (cu_address)(uintptr_t)x.to;
  batch_from[0] = (cu_address)(uintptr_t)x.from;
  OK(cudaStreamBeginCapture(x.s, way % MODES));
  const char letter = letter_of(made_by(call, way >= MODES));
  const cu_result end = cudaStreamEndCapture(x.s, &graph);
  require(end == CU_SUCCESS || end == CU_CAPTURE_INVALIDATED, "the end of the capture");
  tear_down();
  return end == CU_SUCCESS && letter >= 'A' ? (char)(letter + 'a' - 'A') : letter;
}

int main(void) {
  int wrong = 0;
  register_code();
  for (size_t k = 0; k < LENGTH(calls); k++)
    for (int way = 0; way < 2 * WAYS; way++) {
      const char want = calls[k].answers[way / WAYS][way % WAYS];
      const char actual = want == '-' ? want : answer(k, way % WAYS, way >= WAYS);
      if (actual == want) continue;
      printf("%c, not %c, in mode %d, from %s thread, the default stream %s: %s\n", actual, want, way % MODES,
             way % WAYS < MODES ? "the same" : "another", way < WAYS ? "beside" : "behind", calls[k].text);
      wrong++;
    }
  if (!wrong) puts("captures: as measured");
  return wrong != 0;
}
