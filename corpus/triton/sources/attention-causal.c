#define CAUSAL 1
#include "attention.c"
