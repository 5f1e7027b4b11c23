/* tests/check.h: cmocka with the headers that it needs, and a name for each behaviour. */
#ifndef HEDDLE_TESTS_CHECK_H
#define HEDDLE_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* { "behaviour", function }: the name ctest and the output show. */
#define BEHAVIOUR(text, fn)                                                                                  \
  { text, fn, NULL, NULL, NULL }

#endif
