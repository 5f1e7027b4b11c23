#define CAUSAL 1
#define GROUP 4
#include "attention.c"
