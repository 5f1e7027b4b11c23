/* reduce.c: reduces a differing program to the operations that make it differ, and describes the
 * difference. */
#include "difftest/reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each program with one operation less is a candidate; a batch holds many. */
enum { CANDIDATES = 32 };

typedef struct reducer {
  dt_side *emulator, *other;
  const dt_program *p;
  unsigned sm;
  bool keep[DT_MAX_OPS];
  char *data[2]; /* of up to CANDIDATES copies */
  dt_difference differences[CANDIDATES];
  hd_diag why; /* the last candidate did not run: found, but nothing to compare */
} reducer;

/* Drop an operation and the rest of its branch. Dropping an ELSE alone gives its operations to the other
 * side. */
static void drop(const dt_program *p, uint32_t op, bool *keep) {
  keep[op] = false;
  if (p->ops[op].kind != DT_OP_IF) return;
  for (uint32_t k = 0; k < p->n_ops; k++)
    if (p->ops[k].pair == p->ops[op].pair) keep[k] = false;
}

/* Find the candidates that differ. If one does not run, each is tried alone. */
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
  if (st != HD_OK) {
    dt_batch_free(&b);
    return st;
  }
  for (uint32_t k = 0; k < n; k++) {
    dt_program_fill(r->p, r->data[0] + b.offsets[k]);
    dt_program_fill(r->p, r->data[1] + b.offsets[k]);
  }
  r->why = (hd_diag){0};
  st = dt_side_run(r->emulator, &b, r->data[0], &r->why);
  if (st == HD_OK) st = dt_side_run(r->other, &b, r->data[1], &r->why);
  const bool final = st == HD_ERR_NOMEM || st == HD_ERR_IO;
  if (final && d) *d = r->why;
  if (st != HD_OK && !final) {
    st = HD_OK;
    dt_batch_free(&b);
    if (n == 1) {
      r->differences[0] = (dt_difference){.found = true};
      return HD_OK;
    }
    for (uint32_t k = 0; k < n && st == HD_OK; k++) {
      st = try_all(r, &keeps[k], 1, d);
      const dt_difference one = r->differences[0];
      r->differences[0].found = false;
      r->differences[k] = one;
      if (one.found) return st;
    }
    return st;
  }
  for (uint32_t k = 0; k < n && st == HD_OK; k++)
    r->differences[k] = dt_compare(r->p, r->data[0] + b.offsets[k], r->data[1] + b.offsets[k]);
  dt_batch_free(&b);
  return st;
}

static bool is_candidate(const reducer *r, uint32_t op) {
  return r->keep[op] && r->p->ops[op].kind != DT_OP_END;
}

/* Candidate number c of a round, coarse ones first: in the first round every operation alone; then each half
 * dropped, each quarter, down to single operations. False: there are no more. */
static bool candidate(const reducer *r, uint32_t c, bool alone, bool *keep) {
  uint32_t kept[DT_MAX_OPS], n = 0;
  for (uint32_t k = 0; k < r->p->n_ops; k++)
    if (is_candidate(r, k)) kept[n++] = k;
  if (alone) {
    if (c >= n || n == 1) return false;
    memset(keep, 0, DT_MAX_OPS * sizeof *keep);
    keep[kept[n - 1 - c]] = r->p->ops[kept[n - 1 - c]].kind == DT_OP_INST;
    return true;
  }
  for (uint32_t size = (n + 1) / 2;; size = (size + 1) / 2) {
    const uint32_t pieces = n ? (n + size - 1) / size : 0;
    if (c < pieces && n > 1) {
      memcpy(keep, r->keep, DT_MAX_OPS * sizeof *keep);
      const uint32_t end = n - c * size, begin = end > size ? end - size : 0;
      for (uint32_t k = begin; k < end; k++) drop(r->p, kept[k], keep);
      return true;
    }
    if (size <= 1) return false;
    c -= pieces;
  }
}

/* One round; the first candidate that still differs is kept. */
static hd_status shrink(reducer *r, bool alone, bool *smaller, hd_diag *d) {
  bool keeps[CANDIDATES][DT_MAX_OPS];
  *smaller = false;
  for (uint32_t c = 0, more = 1; more;) {
    uint32_t n = 0;
    while (n < CANDIDATES && (more = candidate(r, c, alone, keeps[n]))) n++, c++;
    if (!n) return HD_OK;
    hd_status st = try_all(r, keeps, n, d);
    if (st != HD_OK) return st;
    for (uint32_t j = 0; j < n; j++) {
      if (!r->differences[j].found) continue;
      memcpy(r->keep, keeps[j], sizeof r->keep);
      *smaller = true;
      return HD_OK;
    }
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

/* The thread's bytes of memory as they were. */
static void put_scratch(const reducer *r, uint64_t thread, hd_buf *out) {
  static const char *const names[] = {"%gp", "%sp", "%sg", "%lp", "%wp", "%wg", "%gs"};
  bool used = false;
  for (uint32_t k = 0; k < r->p->n_ops; k++)
    for (size_t j = 0; j < sizeof names / sizeof names[0] && r->keep[k] && r->p->ops[k].len; j++)
      used |= memmem(r->p->text.data + r->p->ops[k].text, r->p->ops[k].len, names[j], 3) != NULL;
  char *before = used ? malloc(dt_program_bytes(r->p)) : NULL;
  if (!before) return;
  dt_program_fill(r->p, before);
  const uint32_t *words =
      (const uint32_t *)(before + dt_program_scratch(r->p)) + thread * (DT_SHARED_BYTES / 4);
  hd_buf_puts(out, "//   bytes ");
  for (unsigned k = 0; k < DT_SHARED_BYTES / 4; k++) hd_buf_printf(out, " %08x", (unsigned)words[k]);
  hd_buf_putc(out, '\n');
  free(before);
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
    put_value(out, name, dt_classes[dt_class_of(p->inputs[k])].bits,
              e[(p->results.n + 1 + k) * T + x->thread]);
  }
  put_scratch(r, x->thread, out);
  if (x->in_scratch) {
    hd_buf_printf(out, "// its scratch word %llu: emulator 0x%08x, device 0x%08x\n",
                  (unsigned long long)x->slot, (unsigned)x->emulator, (unsigned)x->device);
    return;
  }
  const dt_slot *s = x->slot < p->results.n ? &p->results.data[x->slot] : NULL;
  const unsigned bits = s && s->reg != UINT8_MAX          ? dt_classes[dt_class_of(s->reg)].bits
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

static bool starts_with_any(const char *text, const char *const *prefixes, size_t n) {
  for (size_t k = 0; k < n; k++)
    if (strncmp(text, prefixes[k], strlen(prefixes[k])) == 0) return true;
  return false;
}

/* The longest dotted word of an operation, leaving out the words that templates put around theirs, if
 * possible. */
static size_t longest_word(const char *text, size_t len, bool all, const char **word) {
  static const char *const around[] = {"st.",    "ld.",   "mov.",  "bar.",
                                       "fence.", "lop3.", "and.b", "cp.async.wait"};
  size_t best = 0;
  for (size_t at = 0; at < len;) {
    size_t n = strcspn(text + at, " ;,");
    if (n > len - at) n = len - at;
    const bool is_word = n > best && text[at] >= 'a' && text[at] <= 'z' && memchr(text + at, '.', n);
    if (is_word && (all || !starts_with_any(text + at, around, sizeof around / sizeof around[0]))) {
      *word = text + at;
      best = n;
    }
    at += n + 1;
  }
  return best;
}

/* Names the instruction of the last operation that the reduction kept. */
static void name_culprit(const reducer *r, char *out, size_t cap) {
  snprintf(out, cap, "control");
  for (uint32_t k = r->p->n_ops; k-- > 0;) {
    const dt_op *op = &r->p->ops[k];
    if (!r->keep[k] || op->kind != DT_OP_INST) continue;
    const char *text = r->p->text.data + op->text, *word = text;
    size_t n = longest_word(text, op->len, false, &word);
    if (!n) n = longest_word(text, op->len, true, &word);
    if (n) snprintf(out, cap, "%.*s", (int)n, word);
    return;
  }
}

hd_status dt_reduce(dt_side *emulator, dt_side *other, const dt_program *p, unsigned sm,
                    hd_difftest_report *out, hd_diag *d) {
  reducer r = {.emulator = emulator, .other = other, .p = p, .sm = sm};
  const uint64_t bytes = (dt_program_bytes(p) + 255) / 256 * 256;
  r.data[0] = calloc(2 * CANDIDATES, bytes);
  if (!r.data[0]) return hd_nomem(d);
  r.data[1] = r.data[0] + CANDIDATES * bytes;
  for (uint32_t k = 0; k < p->n_ops; k++) r.keep[k] = true;
  bool smaller = true;
  hd_status st = shrink(&r, true, &smaller, d);
  for (smaller = true; smaller && st == HD_OK;) st = shrink(&r, false, &smaller, d);
  bool last[1][DT_MAX_OPS];
  memcpy(last[0], r.keep, sizeof last[0]);
  if (st == HD_OK) st = try_all(&r, last, 1, d);
  if (st == HD_OK) {
    hd_buf text = {0};
    name_culprit(&r, out->culprit, sizeof out->culprit);
    dt_print_kernel(p, r.keep, p->number, &text);
    if (r.why.status != HD_OK)
      hd_buf_printf(&text, "// it does not run: %s\n", r.why.message);
    else if (r.differences[0].found)
      describe(&r, &r.differences[0], &text);
    else
      hd_buf_puts(&text, "// it differs only now and then\n");
    if (out->compiler) hd_buf_puts(&text, "// it agrees when the device's compiler does not optimize\n");
    if (text.failed) {
      hd_buf_free(&text);
      st = hd_nomem(d);
    }
    out->text = text.data;
  }
  free(r.data[0]);
  return st;
}
