#include "reuse/lines.h"

static bool grow(reuse_lines *m) {
  reuse_lines bigger = {.cap = m->cap ? m->cap * 2 : 1024, .n = m->n};
  bigger.key = calloc(bigger.cap, sizeof *bigger.key);
  bigger.number = malloc(bigger.cap * sizeof *bigger.number);
  if (!bigger.key || !bigger.number) {
    reuse_lines_free(&bigger);
    return false;
  }
  for (size_t i = 0; i < m->cap; i++)
    if (m->key[i]) {
      size_t at = reuse_lines_place(&bigger, m->key[i]);
      bigger.key[at] = m->key[i];
      bigger.number[at] = m->number[i];
    }
  free(m->key);
  free(m->number);
  m->key = bigger.key;
  m->number = bigger.number;
  m->cap = bigger.cap;
  return true;
}

uint32_t reuse_lines_number(reuse_lines *m, uint64_t line) {
  if (m->cap) {
    size_t at = reuse_lines_place(m, line + 1);
    if (m->key[at]) return m->number[at];
  }
  if (m->n >= UINT32_MAX - 1) return UINT32_MAX;
  if (3 * m->cap <= 4 * m->n && !grow(m)) return UINT32_MAX;
  size_t at = reuse_lines_place(m, line + 1);
  m->key[at] = line + 1;
  m->number[at] = (uint32_t)m->n;
  return (uint32_t)m->n++;
}

void reuse_lines_free(reuse_lines *m) {
  free(m->key);
  free(m->number);
  *m = (reuse_lines){0};
}
