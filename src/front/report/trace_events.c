/* Timelines in the trace event format: text, because of tens of thousands of events a tree would take
 * hundreds of megabytes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "heddle/container.h"
#include "heddle/timelines.h"

/* Ten thousandths of a microsecond: starts and ends are rounded alike, so that CTAs of a place do not overlap
 * in the file either. */
static uint64_t ticks(const hd_timeline *t, uint64_t cycle) {
  return (uint64_t)((double)cycle / t->clock_mhz * 1e4 + 0.5);
}

static void put_us(const char *key, uint64_t ticks, hd_buf *out) {
  hd_buf_printf(out, ",\"%s\":%" PRIu64 ".%04" PRIu64, key, ticks / 10000, ticks % 10000);
}

/* Some viewers want a time of every event, and a thread's number to be of one process alone. */
static void put_meta(const char *what, uint32_t pid, uint64_t tid, const char *key, hd_buf *out) {
  hd_buf_printf(
      out, ",\n{\"ph\":\"M\",\"name\":\"%s\",\"ts\":0,\"pid\":%u,\"tid\":%" PRIu64 ",\"args\":{\"%s\":", what,
      pid, tid, key);
}

static void put_name(const char *what, uint32_t pid, uint64_t tid, const char *name, size_t len,
                     hd_buf *out) {
  put_meta(what, pid, tid, "name", out);
  hd_buf_quote(out, name, len);
  hd_buf_puts(out, "}}");
}

static uint64_t thread_of(const hd_timeline *t, uint32_t pid, uint32_t sm, uint32_t slot) {
  enum { APART = 1000000 };
  return (uint64_t)pid * APART + (uint64_t)sm * t->slots + slot;
}

static void put_threads(const hd_timeline *t, uint32_t pid, hd_buf *out) {
  for (uint32_t sm = 0; sm < t->n_sms; sm += t->sm_step)
    for (uint32_t slot = 0; slot < t->slots; slot++) {
      const uint64_t tid = thread_of(t, pid, sm, slot);
      char name[48];
      snprintf(name, sizeof name, "SM %u, place %u", sm, slot);
      put_name("thread_name", pid, tid, name, strlen(name), out);
      put_meta("thread_sort_index", pid, tid, "sort_index", out);
      hd_buf_printf(out, "%" PRIu64 "}}", tid);
    }
}

/* Viewers colour events by their names, without the digits in them: a group has a letter. They nest events
 * that touch, so that each ends a tick before its end. */
static void put_cta(const hd_timelines *all, const hd_timeline *t, const hd_timeline_cta *c, uint32_t pid,
                    hd_buf *out) {
  const uint32_t *g = all->workload->launches[all->launch].grid;
  const uint64_t x = c->task % g[0], y = c->task / g[0] % g[1], z = c->task / g[0] / g[1];
  const uint8_t group = hd_timelines_group(all, &all->colours[0], c->task);
  const uint64_t start = ticks(t, c->start), lasts = ticks(t, c->end) - start;
  hd_buf_puts(out, ",\n{\"ph\":\"X\",\"cat\":\"cta\",\"name\":\"");
  if (group != HD_NO_COLOUR) hd_buf_printf(out, "%c: ", 'A' + group);
  hd_buf_printf(out, "CTA %" PRIu64 ",%" PRIu64 ",%" PRIu64 "\",\"pid\":%u,\"tid\":%" PRIu64, x, y, z, pid,
                thread_of(t, pid, c->sm, c->slot));
  put_us("ts", start, out);
  put_us("dur", lasts ? lasts - 1 : 0, out);
  hd_buf_printf(out, ",\"args\":{\"task\":%" PRIu64 ",\"cycles\":%" PRIu64 "}}", c->task, c->end - c->start);
}

static void put_counter(const hd_timeline *t, const char *name, uint32_t pid, uint64_t cycle, double value,
                        hd_buf *out) {
  hd_buf_printf(out, ",\n{\"ph\":\"C\",\"name\":\"%s\",\"pid\":%u", name, pid);
  put_us("ts", ticks(t, cycle), out);
  hd_buf_printf(out, ",\"args\":{\"value\":%.4g}}", value);
}

/* Of the bin at a cycle. The last one ends with the replay, but its first epoch began before it. */
static uint64_t cycles_of(const hd_timeline *t, uint64_t at) {
  const uint64_t left = t->cycles > at + HD_TIMELINE_EPOCH ? t->cycles - at : HD_TIMELINE_EPOCH;
  return left < t->bin_cycles ? left : t->bin_cycles;
}

static void put_bins(const hd_timeline *t, uint32_t pid, hd_buf *out) {
  for (uint32_t i = 0; i < t->n_bins; i++) {
    const hd_timeline_bin *b = &t->bins[i];
    const uint64_t at = i * t->bin_cycles;
    const double ns = 1e3 * (double)cycles_of(t, at) / t->clock_mhz;
    /* A bin without requests has no rate; the one before it goes on. */
    if (b->l1_sectors)
      put_counter(t, "L1 hits, %", pid, at, 100 * (double)b->l1_hits / (double)b->l1_sectors, out);
    if (b->l2_sectors)
      put_counter(t, "L2 hits, %", pid, at, 100 * (double)b->l2_hits / (double)b->l2_sectors, out);
    put_counter(t, "DRAM, GB/s", pid, at, (double)b->dram_bytes / ns, out);
  }
}

static void put_plan(const hd_timelines *all, uint32_t i, hd_buf *out) {
  const hd_timeline *t = &all->at[i];
  hd_buf plan = {0};
  hd_plan_print(&all->plans[i], &plan);
  out->failed |= plan.failed;
  put_name("process_name", i + 1, i + 1, plan.data ? plan.data : "", plan.len, out);
  hd_buf_free(&plan);
  put_threads(t, i + 1, out);
  for (uint64_t k = 0; k < t->n; k++) put_cta(all, t, &t->ctas[k], i + 1, out);
  put_bins(t, i + 1, out);
}

/* What the file lacks of a plan, in words; "": nothing. */
static void put_lack(const hd_timeline *t, hd_buf *out) {
  if (t->sm_step > 1)
    hd_buf_printf(out, "one SM in %u is shown: %" PRIu64 " of %" PRIu64 " CTAs; ", t->sm_step, t->n, t->ran);
  if (t->kept_until)
    hd_buf_printf(out, "CTAs that start after cycle %" PRIu64 " are left out; ", t->kept_until);
  if (t->cut_after) hd_buf_printf(out, "warps end after %" PRIu64 " instructions; ", t->cut_after);
}

void hd_timelines_trace(const hd_timelines *t, hd_buf *out) {
  const uint32_t *g = t->workload->launches[t->launch].grid;
  hd_buf kernel = {0};
  hd_kernel_title(t->workload->launches[t->launch].kernel, false, &kernel);
  out->failed |= kernel.failed;
  hd_buf_puts(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"kernel\":");
  hd_buf_quote(out, kernel.data ? kernel.data : "", kernel.len);
  hd_buf_puts(out, ",\"gpu\":");
  hd_buf_quote(out, t->gpu->title, strlen(t->gpu->title));
  for (uint32_t i = 0; i < t->n; i++) {
    hd_buf lack = {0};
    put_lack(&t->at[i], &lack);
    hd_buf_printf(out,
                  ",\"plan %u\":\"CTAs at the places %" PRIu64 " to %" PRIu64 " of the order, of %" PRIu64
                  "; %s\"",
                  i + 1, t->at[i].first, t->at[i].first + t->at[i].tasks - 1, (uint64_t)g[0] * g[1] * g[2],
                  lack.data ? lack.data : "");
    out->failed |= lack.failed;
    hd_buf_free(&lack);
  }
  hd_buf_puts(out,
              "},\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_labels\",\"ts\":0,\"pid\":1,\"tid\":1,"
              "\"args\":{\"labels\":\"modelled\"}}");
  for (uint32_t i = 0; i < t->n; i++) put_plan(t, i, out);
  hd_buf_puts(out, "\n]}\n");
  hd_buf_free(&kernel);
}

hd_status hd_timelines_write(const hd_study *s, const hd_workload *w, const hd_gpu *g,
                             hd_dispatch_kind dispatch, uint64_t seed, const hd_plan *plans, uint32_t n,
                             const char *path, hd_diag *d) {
  hd_timelines t;
  hd_buf text = {0};
  hd_status st = hd_timelines_make(s, w, g, dispatch, seed, plans, n, HD_TIMELINES_FILE, &t, d);
  if (st != HD_OK) return st;
  hd_timelines_trace(&t, &text);
  hd_timelines_free(&t);
  st = text.failed ? hd_nomem(d) : hd_file_write(path, text.data, text.len, d);
  hd_buf_free(&text);
  return st;
}
