#include "heddle/base.h"

void hd_watch_tell(const hd_watch *w, const char *stage, size_t done, size_t n) {
  if (w && w->tell) w->tell(w->ctx, stage, done, n);
}

hd_meter hd_meter_begin(const hd_watch *w, const char *stage, uint64_t n) {
  if (n) hd_watch_tell(w, stage, 0, (size_t)n);
  return (hd_meter){.watch = w, .stage = stage, .n = n};
}

void hd_meter_add(hd_meter *m, uint64_t parts) {
  enum { STEPS = 100 };
  if (!m || !parts || !m->watch || !m->watch->tell) return;
  const uint64_t done = __atomic_add_fetch(&m->done, parts, __ATOMIC_RELAXED), step = m->n / STEPS + 1;
  if (done / step == (done - parts) / step && done < m->n) return;
  /* A thread that meets another here leaves the telling to the next step. The last part waits for its turn.
   */
  while (__atomic_exchange_n(&m->telling, true, __ATOMIC_ACQUIRE))
    if (done < m->n) return;
  if (done > m->told && done <= m->n)
    hd_watch_tell(m->watch, m->stage, (size_t)(m->told = done), (size_t)m->n);
  __atomic_store_n(&m->telling, false, __ATOMIC_RELEASE);
}

void hd_meter_end(const hd_meter *m) {
  if (m->told < m->n) hd_watch_tell(m->watch, m->stage, (size_t)m->n, (size_t)m->n);
}
