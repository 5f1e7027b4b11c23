/* run/driver.h: the driver behind heddle: its entry points, and what stands in front of them. */
#ifndef HEDDLE_RUN_DRIVER_H
#define HEDDLE_RUN_DRIVER_H

#include <stdbool.h>

#include "abi/cuda.h"

/* A handle, whatever it is of. */
typedef void *run_handle;

/* The driver's own entry points. One that it does not have is NULL. */
typedef struct run_driver {
#define RUN_ENTRY(symbol, parameters, arguments) fn_##symbol *symbol;
#include "run/entries.def"
#define RUN_NEED(symbol) fn_##symbol *symbol;
#include "run/needs.def"
} run_driver;
extern run_driver run_real;

/* The handlers, called in place of the driver's entry points. */
#define RUN_ENTRY(symbol, parameters, arguments) fn_##symbol run_##symbol;
#include "run/entries.def"

/* Whether the driver has been found, through a name that the program looked up or is linked with. */
bool run_driver_found(void);
/* The driver's function of this name, for a program that is linked with it; NULL: it has none. */
void *run_driver_symbol(const char *name);
/* The C library's dlsym. */
typedef void *dlsym_function(void *handle, const char *name);
dlsym_function *run_real_dlsym(void);
/* Whether a function is the driver's. */
bool run_driver_has(const void *address);

#endif
