/* Results for null pointers, sizes of 0, unknown numbers, memory of other kinds and handles that are gone: a
 * row of results.def each. */
// check: none
#include "made.h"

static const cu_location device = {ON_DEVICE, 0};
static const rt_dim3 one = {1, 1, 1};
static void *arguments[] = {&x.to};

#define RESULT(result, ...)                                                                                  \
  static cu_result JOIN(call_, __LINE__)(void) { return __VA_ARGS__; }
#include "results.def"
#undef RESULT

static const struct {
  int result;
  const char *text;
  cu_result (*make)(void);
} calls[] = {
#define RESULT(result, ...) {result, #__VA_ARGS__, JOIN(call_, __LINE__)},
#include "results.def"
#undef RESULT
};

int main(void) {
  int wrong = 0;
  register_code();
  for (size_t k = 0; k < LENGTH(calls); k++) {
    set_up(CU_STREAM_NON_BLOCKING);
    const cu_result actual = calls[k].make();
    tear_down();
    if (actual == calls[k].result) continue;
    printf("RESULT(%d, %s)\n", actual, calls[k].text);
    wrong++;
  }
  if (!wrong) puts("results: as the table says");
  return wrong != 0;
}
