/* The driver's interface as abi/ has it: its structures, when this is compiled, and what its table says of
 * the arguments that it lists. */
#include "check.h"

#include <string.h>

#include "abi/cuda.h"

#define SIZE(ours, theirs, bytes) _Static_assert(sizeof(ours) == (bytes), #ours);
#define FIELD(ours, field, theirs, their_field, bytes)                                                       \
  _Static_assert(offsetof(ours, field) == (bytes), #ours "." #field);
#include "layouts.def"

static const struct row {
  const char *symbol, *variant, *parameters; /* parameters: NULL: they are not known */
  int stream;
} rows[] = {
#define CU_NAME(symbol, version, variant, stream, run) {#symbol, #variant, NULL, stream},
#define CU_KNOWN(symbol, version, variant, stream, run, parameters, arguments)                               \
  {#symbol, #variant, #parameters, stream},
#include "abi/driver.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* The number of the first parameter that is a stream; -1: none is. */
static int stream_of(const char *parameters) {
  int n = 0, depth = 0;
  for (const char *at = parameters; *at; at++) {
    if (*at == '(') depth++;
    if (*at == ')') depth--;
    if (*at == ',' && depth == 1) n++;
    if (strncmp(at, "cu_stream ", 10) == 0 && at[10] != '*') return n;
  }
  return -1;
}

static void the_column_of_streams_is_the_number_of_a_parameter_that_is_one(void **state) {
  for (size_t k = 0; k < ROWS; k++)
    if (rows[k].parameters && stream_of(rows[k].parameters) != rows[k].stream)
      fail_msg("%s: the stream is %d, not %d", rows[k].symbol, stream_of(rows[k].parameters), rows[k].stream);
}

static void no_symbol_comes_twice(void **state) {
  for (size_t k = 0; k < ROWS; k++)
    for (size_t i = 0; i < k; i++)
      if (strcmp(rows[k].symbol, rows[i].symbol) == 0) fail_msg("%s comes twice", rows[k].symbol);
}

/* ptsz: of the stream that a call names; ptds: of the default stream, which it does not name. */
static void a_variant_is_of_the_stream_that_the_call_is_about(void **state) {
  for (size_t k = 0; k < ROWS; k++)
    if (strcmp(rows[k].variant, "ptds") == 0 && rows[k].stream >= 0)
      fail_msg("%s names a stream, and takes the default one", rows[k].symbol);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_column_of_streams_is_the_number_of_a_parameter_that_is_one),
      cmocka_unit_test(no_symbol_comes_twice),
      cmocka_unit_test(a_variant_is_of_the_stream_that_the_call_is_about),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
