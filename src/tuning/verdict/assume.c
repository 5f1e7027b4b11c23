/* The assumptions of a verdict, which the user stated to the tuner: printed and parsed. */
#include <stdio.h>
#include <string.h>

#include "verdict/assume.h"

static const char key[] = "unwritten=";

bool verdict_assume_print(const hd_workload *w, uint32_t launch, const hd_plan *p, unsigned assume, char *out,
                          size_t cap) {
  char params[64] = "";
  const char *words = hd_assume_text(assume);
  if (p->bypass.kind == HD_BYPASS_READONLY) hd_unwritten_params(w, launch, params, sizeof params);
  int n =
      snprintf(out, cap, "%s%s%s%s", words, words[0] && params[0] ? "," : "", params[0] ? key : "", params);
  return n >= 0 && (size_t)n < cap;
}

bool verdict_assume_parse(const char *text, unsigned *assume, char *unwritten) {
  const char *at = strstr(text, key);
  char words[sizeof((hd_verdict *)0)->assume] = "";
  *assume = 0;
  unwritten[0] = 0;
  const size_t n = at ? (size_t)(at - text) : strlen(text);
  if (n >= sizeof words) return false;
  memcpy(words, text, n);
  words[n] = 0;
  if (at && n && words[n - 1] == ',') words[n - 1] = 0;
  if (words[0] && !hd_assume_parse(words, assume)) return false;
  if (!at) return true;
  at += sizeof key - 1;
  memcpy(unwritten, at, strlen(at) + 1);
  return *at && at[strspn(at, "0123456789+")] == 0;
}
