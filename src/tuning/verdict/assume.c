/* The assumptions of a verdict, which the user stated to the tuner, as text. */
#include <stdio.h>

#include "heddle/verdict_options.h"
#include "verdict/assume.h"

bool verdict_assume_print(const hd_workload *w, uint32_t launch, const hd_plan *p, unsigned assume, char *out,
                          size_t cap) {
  char params[64] = "";
  const char *words = hd_assume_text(assume);
  if (p->bypass.kind == HD_BYPASS_READONLY) hd_unwritten_params(w, launch, params, sizeof params);
  int n = snprintf(out, cap, "%s%s%s%s", words, words[0] && params[0] ? "," : "",
                   params[0] ? HD_VERDICT_UNWRITTEN : "", params);
  return n >= 0 && (size_t)n < cap;
}
