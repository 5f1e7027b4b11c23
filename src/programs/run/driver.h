/* run/driver.h: the driver behind heddle: its entry points, and what stands in front of them. */
#ifndef HEDDLE_RUN_DRIVER_H
#define HEDDLE_RUN_DRIVER_H

#include <stdbool.h>

#include "abi/cuda.h"

/* A handle, whatever it is of. */
typedef void *run_handle;

#define RUN_LEGACY CU_STREAM_LEGACY
#define RUN_OWN CU_STREAM_PER_THREAD

enum { RUN_SUCCESS = 0, RUN_NOT_READY = 600, RUN_NOT_SUPPORTED = 801 };
enum { RUN_CAPTURE_ERROR = 900, RUN_LAST_CAPTURE_ERROR = 908 }; /* CUDA_ERROR_STREAM_CAPTURE_... */
enum { RUN_CAPTURE_RELAXED = 2, RUN_NON_BLOCKING = 1 };         /* modes of capture, flags of streams */
enum { RUN_KERNEL_NODE = 0, RUN_GRAPH_NODE = 4 };               /* CUgraphNodeType */
enum {                                                          /* CUlaunchAttributeID */
       RUN_IGNORED = 0,
       RUN_WINDOW = 1,
       RUN_COOPERATIVE = 2,
       RUN_CLUSTER = 4,
       RUN_CLUSTER_SCHEDULING = 5,
       RUN_PRIORITY = 8,
       RUN_SYNC_DOMAIN_MAP = 9,
       RUN_SYNC_DOMAIN = 10,
       RUN_PREFERRED_CLUSTER = 11,
       RUN_UPDATABLE_NODE = 13,
       RUN_CARVEOUT = 14
};

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
