#define EXPONENT 4
#define MANTISSA 3
#include "matmul-e5m2.c"
