/* The choice of how kernels with agents are rewritten, by ptxas's results. */
#include "launch/launch.h"

static bool go_on(agents_search *s, bool no_hoisting, hd_register_budget budget) {
  s->apply->no_hoisting = no_hoisting;
  s->apply->budget = budget;
  return true;
}

bool agents_try_next(agents_search *s, bool spills, int64_t added) {
  if (!s->begun) s->first = s->apply->budget;
  s->begun = true;
  if (s->settled) return false;
  if (spills && s->apply->budget < HD_BUDGET_NONE)
    return go_on(s, s->apply->no_hoisting, s->apply->budget + 1);
  if (!s->apply->no_hoisting) {
    if (added <= HD_AGENT_REGISTERS) return false;
    s->added = added;
    s->budget = s->apply->budget;
    return go_on(s, true, s->first);
  }
  s->settled = true;
  /* With hoisting forbidden the kernel takes no fewer registers: hoist again, which saves work, unless the
   * caller forbade it. */
  return s->added && added >= s->added ? go_on(s, false, s->budget) : false;
}
