/* reduce.c: a differing program with as few operations as differ, and what it shows. */
#include "difftest/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every operation less is one candidate; a batch holds many. */
enum { CANDIDATES = 32 };

typedef struct reducer {
  dt_side *emulator, *other;
  const dt_program *p;
  unsigned sm;
  bool keep[DT_MAX_OPS];
  char *data[2]; /* of up to CANDIDATES copies */
  dt_difference differences[CANDIDATES];
} reducer;

/* Drop an operation and the rest of its branch. Dropping an ELSE alone gives its operations to the other side. */
static void drop(const dt_program *p, uint32_t op, bool *keep) {
  keep[op] = false;
  if (p->ops[op].kind != DT_OP_IF) return;
  for (uint32_t k = 0; k < p->n_ops; k++)
    if (p->ops[k].pair == p->ops[op].pair) keep[k] = false;
}

/* Which of these candidates differ. A candidate that one side does not run is none. */
static hd_status try_all(reducer *r, bool keeps[][DT_MAX_OPS], uint32_t n, hd_diag *d) {
  dt_program programs[CANDIDATES] = {0};
  const bool *lists[CANDIDATES] = {0};
  dt_batch b;
  for (uint32_t k = 0; k < n; k++) {
    programs[k] = *r->p;
    lists[k] = keeps[k];
    r->differences[k].found = false;
  }
  hd_status st = dt_batch_make(programs, lists, n, r->sm, &b, d);
  for (uint32_t k = 0; k < n && st == HD_OK; k++) {
    dt_program_fill(r->p, r->data[0] + b.offsets[k]);
    dt_program_fill(r->p, r->data[1] + b.offsets[k]);
  }
  if (st == HD_OK) st = dt_side_run(r->emulator, &b, r->data[0], d);
  if (st == HD_OK) st = dt_side_run(r->other, &b, r->data[1], d);
  for (uint32_t k = 0; k < n && st == HD_OK; k++)
    r->differences[k] = dt_compare(r->p, r->data[0] + b.offsets[k], r->data[1] + b.offsets[k]);
  dt_batch_free(&b);
  return st;
}

/* One round: the candidates that lack one more operation; keep the first that still differs. */
static hd_status shrink(reducer *r, bool *smaller, hd_diag *d) {
  bool keeps[CANDIDATES][DT_MAX_OPS];
  uint32_t n = 0;
  *smaller = false;
  for (uint32_t k = r->p->n_ops; k-- > 0;) {
    if (r->keep[k] && r->p->ops[k].kind != DT_OP_END) {
      memcpy(keeps[n], r->keep, sizeof keeps[n]);
      drop(r->p, k, keeps[n++]);
    }
    if (!n || (n < CANDIDATES && k)) continue;
    hd_status st = try_all(r, keeps, n, d);
    if (st != HD_OK) return st;
    for (uint32_t j = 0; j < n; j++) {
      if (!r->differences[j].found) continue;
      memcpy(r->keep, keeps[j], sizeof r->keep);
      *smaller = true;
      return HD_OK;
    }
    n = 0;
  }
  return HD_OK;
}

/* ---- The report ------------------------------------------------------------------------------- */

static void put_value(hd_buf *out, const char *name, unsigned bits, uint64_t v) {
  hd_buf_printf(out, "//   %-6s 0x%0*llx", name, bits == 1 ? 1 : (int)(bits / 4), (unsigned long long)v);
  float f;
  double g;
  const uint32_t low = (uint32_t)v;
  memcpy(&f, &low, 4);
  memcpy(&g, &v, 8);
  if (bits == 32) hd_buf_printf(out, "  %d  %a", (int)low, (double)f);
  if (bits == 64) hd_buf_printf(out, "  %lld  %a", (long long)v, g);
  hd_buf_putc(out, '\n');
}

static void register_name(unsigned reg, char name[8]) {
  const dt_class_info *c = &dt_classes[dt_class_of(reg)];
  snprintf(name, 8, "%%%c%u", c->letter, (reg - c->first) & 31);
}

static void describe(const reducer *r, const dt_difference *x, hd_buf *out) {
  const dt_program *p = r->p;
  const uint64_t *e = (const uint64_t *)r->data[0], *v = (const uint64_t *)r->data[1], T = p->threads;
  uint64_t mentions = 0;
  char name[8];
  for (uint32_t k = 0; k < p->n_ops; k++) mentions |= r->keep[k] ? p->ops[k].mentions : 0;
  hd_buf_printf(out, "// %u threads; thread %llu before:\n", p->threads, (unsigned long long)x->thread);
  for (uint32_t k = 0; k < p->n_inputs; k++) {
    if (!(mentions >> p->inputs[k] & 1)) continue;
    register_name(p->inputs[k], name);
    put_value(out, name, dt_classes[dt_class_of(p->inputs[k])].bits, e[(p->results.n + 1 + k) * T + x->thread]);
  }
  if (x->in_scratch) {
    hd_buf_printf(out, "// its scratch word %llu: emulator 0x%08x, device 0x%08x\n", (unsigned long long)x->slot,
                  (unsigned)x->emulator, (unsigned)x->device);
    return;
  }
  const dt_slot *s = x->slot < p->results.n ? &p->results.data[x->slot] : NULL;
  const unsigned bits = s && s->reg != UINT8_MAX ? dt_classes[dt_class_of(s->reg)].bits
                        : (x->emulator | x->device) >> 32 ? 64
                                                          : 32;
  if (s && s->reg != UINT8_MAX)
    register_name(s->reg, name);
  else
    snprintf(name, sizeof name, "%s", s ? "result" : "input");
  hd_buf_puts(out, "// emulator:\n");
  put_value(out, name, bits, x->emulator);
  hd_buf_puts(out, "// device:\n");
  put_value(out, name, bits, x->device);
  for (unsigned k = 1; s && k <= s->n_inputs; k++) {
    snprintf(name, sizeof name, "of %u", k & 7);
    put_value(out, name, bits, e[(x->slot + k) * T + x->thread]);
  }
  uint64_t n = 0;
  for (uint64_t t = 0; t < T; t++) n += e[x->slot * T + t] != v[x->slot * T + t];
  hd_buf_printf(out, "// in %llu threads\n", (unsigned long long)n);
}

/* The dotted word of the last instruction of the last operation that stands. */
static void name_culprit(const reducer *r, char *out, size_t cap) {
  for (uint32_t k = r->p->n_ops; k-- > 0;) {
    const dt_op *op = &r->p->ops[k];
    if (!r->keep[k] || op->kind != DT_OP_INST) continue;
    const char *text = r->p->text.data + op->text, *end = text + op->len, *best = text;
    size_t n_best = 0;
    for (const char *at = text; at < end;) {
      const size_t n = strcspn(at, " ;,\n"), room = (size_t)(end - at), len = n < room ? n : room;
      /* Not what surrounds it in a template: stores, masks and moves. */
      const bool plain = *at == 's' && len > 10 && memcmp(at, "st.global.", 10) == 0;
      const bool mask = len > 5 && (memcmp(at, "lop3.", 5) == 0 || memcmp(at, "and.b", 5) == 0);
      if (memchr(at, '.', len) && at[0] != '.' && at[0] != '%' && at[0] != '[' && !plain && !(mask && n_best)) {
        best = at;
        n_best = len;
      }
      at += len + 1;
    }
    snprintf(out, cap, "%.*s", (int)n_best, best);
    return;
  }
  snprintf(out, cap, "control");
}

hd_status dt_reduce(dt_side *emulator, dt_side *other, const dt_program *p, unsigned sm, hd_difftest_report *out,
                    hd_diag *d) {
  reducer r = {.emulator = emulator, .other = other, .p = p, .sm = sm};
  const uint64_t bytes = (dt_program_bytes(p) + 255) / 256 * 256;
  r.data[0] = calloc(2 * CANDIDATES, bytes);
  if (!r.data[0]) return hd_fail(d, HD_ERR_NOMEM, "out of memory");
  r.data[1] = r.data[0] + CANDIDATES * bytes;
  for (uint32_t k = 0; k < p->n_ops; k++) r.keep[k] = true;
  bool smaller = true;
  hd_status st = HD_OK;
  while (smaller && st == HD_OK) st = shrink(&r, &smaller, d);
  bool last[1][DT_MAX_OPS];
  memcpy(last[0], r.keep, sizeof last[0]);
  if (st == HD_OK) st = try_all(&r, last, 1, d);
  if (st == HD_OK) {
    hd_buf text = {0};
    name_culprit(&r, out->culprit, sizeof out->culprit);
    dt_print_kernel(p, r.keep, p->number, &text);
    if (r.differences[0].found)
      describe(&r, &r.differences[0], &text);
    else
      hd_buf_puts(&text, "// it differs only now and then\n");
    if (text.failed) {
      hd_buf_free(&text);
      st = hd_fail(d, HD_ERR_NOMEM, "out of memory");
    }
    out->text = text.data;
  }
  free(r.data[0]);
  return st;
}
