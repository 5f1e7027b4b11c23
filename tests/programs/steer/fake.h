/* The driver that does nothing (fake.c). */
#ifndef FAKE_H
#define FAKE_H

#include "run/driver.h"

int cuInit(unsigned flags);
#define RUN_ENTRY(symbol, parameters, arguments) int symbol parameters;
#include "run/entries.def"
#define RUN_NEED(symbol, parameters) int symbol parameters;
#include "run/needs.def"
/* Sets the flag at the first argument to FAKE_WAITS, unless it is set, and waits until it is something else;
 * the other arguments are 1 to 7. It has no handler. */
enum { FAKE_WAITS = 1 };
int cuMemcpyBatchAsync(uint64_t flag, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
                       uint64_t g);

/* Launches of what was unloaded. */
enum { FAKE_GONE = 400 };

/* Launches that succeeded, nodes included; calls. */
unsigned long fake_launches(void);
unsigned long fake_calls(void);
/* Libraries that are loaded, and memory that is allocated. */
long fake_held(void);

#endif
