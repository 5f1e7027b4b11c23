/* The time that tuning may take of the program's. */
#include "run/watch.h"

double run_began;
/* Seconds of all tuning, and those that launches in turns lost, or still may. Under run_lock. */
static double spent;

double run_budget_left(void) {
  if (run_settings.share <= 0) return run_settings.total - spent;
  const double share = run_settings.share * (hd_seconds() - run_began);
  return (share < run_settings.least ? run_settings.least : share) - spent;
}

/* Half of it: other searches may begin meanwhile. */
double run_budget_loss(void) {
  enum { LEAST_MS = 1 };
  const double half = run_budget_left() / 2;
  return half > LEAST_MS * 1e-3 ? half : LEAST_MS * 1e-3;
}

void run_budget_spend(double seconds) { spent += seconds; }
