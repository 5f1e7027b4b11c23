/* A workload.toml that is good, for tests to read and to damage. */
#ifndef HEDDLE_TESTS_WORKLOAD_GOOD_H
#define HEDDLE_TESTS_WORKLOAD_GOOD_H

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/workload.h"

static const char GOOD[] =
    "title = \"Good\"\n"                /*  1 */
    "paper = \"SCH 4.2\"\n"             /*  2 */
    "category = \"data+write\"\n"       /*  3 */
    "source = \"kernel.cu\"\n"          /*  4 */
    "reference = \"reference.c\"\n"     /*  5 */
    "registers = 32\n"                  /*  6 */
    "[sizes.small]\n"                   /*  7 */
    "n = 100\n"                         /*  8 */
    "[sizes.large]\n"                   /*  9 */
    "n = 1000\n"                        /* 10 */
    "[[buffer]]\n"                      /* 11 */
    "name = \"a\"\n"                    /* 12 */
    "type = \"f32\"\n"                  /* 13 */
    "count = \"n*n\"\n"                 /* 14 */
    "fill = \"uniform(-1, 1)\"\n"       /* 15 */
    "[[buffer]]\n"                      /* 16 */
    "name = \"c\"\n"                    /* 17 */
    "type = \"u16\"\n"                  /* 18 */
    "count = \"n + 1\"\n"               /* 19 */
    "seed = 99\n"                       /* 20 */
    "compare = \"exact\"\n"             /* 21 */
    "[[launch]]\n"                      /* 22 */
    "kernel = \"k\"\n"                  /* 23 */
    "grid = [\"ceil_div(n, 32)\", 2]\n" /* 24 */
    "block = [32, 8]\n"                 /* 25 */
    "shared = \"4*n\"\n"                /* 26 */
    "args = [\"c\", \"a\", { type = \"s32\", value = \"n - 200\" }, { type = \"f32\", value = 0.5 }]\n";

static inline hd_status read_text(const char *text, const char *size, hd_workload **w, hd_diag *d) {
  const wl_input in = {
      .text = text, .len = strlen(text), .path = "dir/workload.toml", .folder = "dir", .size = size};
  return wl_read(&in, w, d);
}

/* GOOD with the first `from` replaced by `to`. */
static inline char *changed(const char *from, const char *to) {
  const char *at = strstr(GOOD, from);
  if (!at) fail_msg("no '%s' in the good file", from);
  char *text = malloc(sizeof GOOD + strlen(to));
  sprintf(text, "%.*s%s%s", (int)(at - GOOD), GOOD, to, at + strlen(from));
  return text;
}

/* GOOD with another last argument. */
static inline hd_status read_with(const char *argument, hd_workload **w, hd_diag *d) {
  static const char before[] = "{ type = \"f32\", value = 0.5 }";
  char text[4096];
  const char *at = strstr(GOOD, before);
  snprintf(text, sizeof text, "%.*s%s%s", (int)(at - GOOD), GOOD, argument, at + strlen(before));
  return read_text(text, NULL, w, d);
}

#endif
