/* cmocka.h, and the headers that it wants included before it. */
#ifndef TESTS_PLAN_CMOCKA_ENV_H
#define TESTS_PLAN_CMOCKA_ENV_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "heddle/plan.h"

#endif
