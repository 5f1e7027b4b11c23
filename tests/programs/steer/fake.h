/* The driver that does nothing (fake.c). */
#ifndef FAKE_H
#define FAKE_H

#include "run/driver.h"

int cuInit(unsigned flags);
#define RUN_ENTRY(symbol, parameters, arguments) int symbol parameters;
#include "run/entries.def"
#define RUN_NEED(symbol, parameters) int symbol parameters;
#include "run/needs.def"

/* Launches that succeeded, nodes included; calls. */
unsigned long fake_launches(void);
unsigned long fake_calls(void);
/* Libraries that are loaded, and memory that is allocated. */
long fake_held(void);

#endif
