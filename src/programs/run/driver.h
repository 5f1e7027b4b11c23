/* run/driver.h: the driver behind heddle: its entry points, and what stands in front of them.
 *
 * Handles are the driver's own, whatever they are of. Numbers and layouts are those of the driver's
 * documentation.
 */
#ifndef HEDDLE_RUN_DRIVER_H
#define HEDDLE_RUN_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *run_handle;

/* Default streams: the legacy one, and the thread's own. Where stream 0 is the legacy one, both have these
 * handles. */
#define RUN_LEGACY ((run_handle)1)
#define RUN_OWN ((run_handle)2)

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

/* CUlaunchAttribute */
typedef struct run_attribute {
  int id, pad;
  char value[64];
} run_attribute;
_Static_assert(sizeof(run_attribute) == 72, "CUlaunchAttribute");

/* CUlaunchConfig */
typedef struct run_config {
  uint32_t grid[3], block[3], shared;
  run_handle stream;
  run_attribute *attributes;
  unsigned n_attributes;
} run_config;
_Static_assert(sizeof(run_config) == 56, "CUlaunchConfig");

/* CUDA_KERNEL_NODE_PARAMS_v2; the first version ends with `extra` */
typedef struct run_node {
  run_handle function;
  uint32_t grid[3], block[3], shared;
  void **params, **extra;
  run_handle kernel, context;
} run_node;
_Static_assert(sizeof(run_node) == 72, "CUDA_KERNEL_NODE_PARAMS_v2");

/* CUgraphNodeParams: of a node of any type */
typedef struct run_any_node {
  int type, zero[3];
  union {
    run_node kernel;
    int64_t words[29];
  } of;
  int64_t end;
} run_any_node;
_Static_assert(sizeof(run_any_node) == 256, "CUgraphNodeParams");

/* CUipcMemHandle */
typedef struct run_ipc {
  char value[64];
} run_ipc;

/* The driver's own entry points. One that it does not have is NULL. */
typedef struct run_driver {
#define RUN_ENTRY(symbol, parameters, arguments) int(*symbol) parameters;
#include "run/entries.def"
#define RUN_NEED(symbol, parameters) int(*symbol) parameters;
#include "run/needs.def"
} run_driver;
extern run_driver run_real;

/* The handlers, called in place of the driver's entry points. */
#define RUN_ENTRY(symbol, parameters, arguments) int run_##symbol parameters;
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
